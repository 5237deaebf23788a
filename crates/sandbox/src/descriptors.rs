//! Messages on Unix sockets with which descriptors go to another process: they come with the first byte.

use std::io::IoSlice;
#[cfg(target_os = "linux")]
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;

use rustix::cmsg_space;
use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// Most descriptors of one message: the kernel takes 253.
pub(crate) const FDS_MAX: usize = 128;
/// An end that is gone is an error, and no signal.
#[cfg(target_os = "linux")]
const QUIET: SendFlags = SendFlags::NOSIGNAL;
/// An end that is gone is an error, since programs in Rust ignore the signal.
#[cfg(not(target_os = "linux"))]
const QUIET: SendFlags = SendFlags::empty();

/// Sends as much of a message as there is room for, and the descriptors with it. Returns how many bytes that is.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    message: &[u8],
    fds: &[BorrowedFd<'_>],
) -> Result<usize, Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FDS_MAX))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !rights.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(Errno::TOOBIG);
    }
    sendmsg(socket, &[IoSlice::new(message)], &mut rights, QUIET)
}

/// Receives as much of a message as is there, once there is some, and adds the descriptors that come with it. Returns how
/// many bytes that is: none where the other end is gone. `MSGSIZE` where not all descriptors could be received.
#[cfg(target_os = "linux")]
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    message: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> Result<usize, Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FDS_MAX))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(message)];
    let received = loop {
        match recvmsg(socket, &mut parts, &mut rights, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            received => break received?,
        }
    };
    for came in rights.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = came {
            fds.extend(more);
        }
    }
    if received.flags.contains(ReturnFlags::CTRUNC) {
        // Which of them are missing, nobody knows.
        return Err(Errno::MSGSIZE);
    }
    Ok(received.bytes)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn descriptors_come_with_the_first_byte_and_nothing_of_the_rest_is_lost() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        assert_eq!(send(ours.as_fd(), b"ab", &[writer.as_fd()]).unwrap(), 2);
        ours.write_all(b"cd").unwrap();
        drop((ours, writer));
        let (mut first, mut fds) = ([0], Vec::new());
        assert_eq!(receive(theirs.as_fd(), &mut first, &mut fds).unwrap(), 1);
        let mut rest = Vec::new();
        theirs.read_to_end(&mut rest).unwrap();
        assert_eq!((&first, &rest[..], fds.len()), (b"a", &b"bcd"[..], 1));
        File::from(fds.remove(0)).write_all(b"x").unwrap();
        let mut written = String::new();
        reader.read_to_string(&mut written).unwrap();
        assert_eq!(written, "x");
        assert_eq!(receive(theirs.as_fd(), &mut first, &mut fds).unwrap(), 0);
    }

    #[test]
    fn a_message_for_nobody_is_an_error() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        assert_eq!(send(ours.as_fd(), b"x", &[]), Err(Errno::PIPE));
    }
}
