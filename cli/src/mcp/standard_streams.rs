//! Standard input and output as streams. Sockets and pipes, which clients mostly give what they start, are
//! waited for by the runtime itself: a thread between would be woken for every message. They stay as
//! they are for other processes that have them, too.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

use super::standard_input;

/// A standard stream that the runtime waits for.
#[derive(Debug)]
struct ReadyStream {
    end: AsyncFd<OwnedFd>,
    is_socket: bool,
}

/// Begins to read. Belongs into a runtime.
///
/// # Errors
///
/// Where it takes a thread, and the system has no more.
pub(super) fn input() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    match ReadyStream::open(io::stdin().as_fd(), Interest::READABLE) {
        Some(stream) => Ok(Box::new(stream)),
        None => Ok(Box::new(standard_input::open()?)),
    }
}

/// Makes the stream to write to. Belongs into a runtime.
pub(super) fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    match ReadyStream::open(io::stdout().as_fd(), Interest::WRITABLE) {
        Some(stream) => Box::new(stream),
        None => Box::new(tokio::io::stdout()),
    }
}

/// Opens a pipe once more, so that it is this one alone that never waits; none where the system cannot.
fn reopened(pipe: BorrowedFd<'_>, interest: Interest) -> Option<OwnedFd> {
    let access = if interest.is_readable() { OFlags::RDONLY } else { OFlags::WRONLY };
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    #[expect(clippy::disallowed_methods, reason = "a stream that is open already")]
    rustix::fs::open(path, access | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).ok()
}

// === impl ReadyStream ===

impl ReadyStream {
    /// Opens what the runtime can wait for; none for files and terminals.
    fn open(standard: BorrowedFd<'_>, interest: Interest) -> Option<Self> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(standard).ok()?.st_mode);
        let end = match kind {
            FileType::Socket => standard.try_clone_to_owned().ok()?,
            FileType::Fifo => reopened(standard, interest)?,
            _ => return None,
        };
        #[expect(
            deprecated,
            reason = "it is sound for what owns one descriptor as long as it lives"
        )]
        let end = AsyncFd::with_interest(end, interest).ok()?;
        Some(Self { end, is_socket: kind == FileType::Socket })
    }
}

impl AsyncRead for ReadyStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.end.poll_read_ready(cx))?;
            let room = buffer.initialize_unfilled();
            let read = ready.try_io(|end| {
                let read = match self.is_socket {
                    true => rustix::net::recv(end, room, RecvFlags::DONTWAIT).map(|(_, n)| n),
                    false => rustix::io::read(end, room),
                };
                Ok(read?)
            });
            match read {
                Ok(Ok(count)) => {
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) if error.kind() != io::ErrorKind::Interrupted => {
                    return Poll::Ready(Err(error));
                }
                Ok(Err(_)) | Err(_) => {}
            }
        }
    }
}

impl AsyncWrite for ReadyStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.end.poll_write_ready(cx))?;
            let written = ready.try_io(|end| {
                let written = match self.is_socket {
                    true => rustix::net::send(end, bytes, SendFlags::DONTWAIT),
                    false => rustix::io::write(end, bytes),
                };
                Ok(written?)
            });
            match written {
                Ok(Ok(count)) => return Poll::Ready(Ok(count)),
                Ok(Err(error)) if error.kind() != io::ErrorKind::Interrupted => {
                    return Poll::Ready(Err(error));
                }
                Ok(Err(_)) | Err(_) => {}
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// More than the system holds between two ends.
    const LARGE_BYTES: usize = 4 << 20;

    async fn passes(reader: OwnedFd, writer: OwnedFd) {
        let mut input = ReadyStream::open(reader.as_fd(), Interest::READABLE).unwrap();
        let mut output = ReadyStream::open(writer.as_fd(), Interest::WRITABLE).unwrap();
        for end in [&reader, &writer] {
            let flags = rustix::fs::fcntl_getfl(end).unwrap();
            assert!(!flags.contains(OFlags::NONBLOCK), "others wait as before");
        }
        let text: Vec<u8> = (0..=250).cycle().take(LARGE_BYTES).collect();
        let written = async {
            output.write_all(&text).await.unwrap();
            // Both are of the same end.
            drop((output, writer));
        };
        let mut read = Vec::new();
        let (count, ()) = tokio::join!(input.read_to_end(&mut read), written);
        assert_eq!(count.unwrap(), LARGE_BYTES);
        assert!(read == text);
    }

    #[tokio::test]
    async fn sockets_and_pipes_pass_everything_and_stay_as_they_are() {
        let (reader, writer) = UnixStream::pair().unwrap();
        passes(reader.into(), writer.into()).await;
        if cfg!(target_os = "linux") {
            let (reader, writer) = io::pipe().unwrap();
            passes(reader.into(), writer.into()).await;
        }
    }

    #[tokio::test]
    async fn files_are_left_to_a_thread() {
        let file = tempfile::tempfile().unwrap();
        assert!(ReadyStream::open(file.as_fd(), Interest::READABLE).is_none());
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_is_an_error() {
        let (reader, writer) = UnixStream::pair().unwrap();
        let mut output = ReadyStream::open(writer.as_fd(), Interest::WRITABLE).unwrap();
        drop(reader);
        output.write_all(b"x").await.unwrap_err();
    }
}
