//! The standard input of a command that has one, from moss's side.

use std::io::{self, PipeWriter};
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe;

/// What is written here a command reads from its standard input, which ends when this is dropped.
#[derive(Debug)]
pub struct CommandInput(pipe::Sender);

// === impl CommandInput ===

impl CommandInput {
    pub(crate) fn new(pipe: PipeWriter) -> io::Result<Self> {
        pipe::Sender::from_owned_fd(OwnedFd::from(pipe)).map(Self)
    }

    /// Writes a part of what is left, as much as there is room for, and takes it off; waits for room.
    /// Nothing is lost where the future is dropped.
    ///
    /// # Errors
    ///
    /// `BrokenPipe` where the command reads no more.
    pub async fn write_some(&self, left: &mut &[u8]) -> io::Result<()> {
        loop {
            self.0.writable().await?;
            match self.0.try_write(left) {
                Ok(count) => {
                    *left = &left[count..];
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}
