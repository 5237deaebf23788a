//! The standard input of a command that has one, or its terminal, from moss's side.

use std::io::{self, PipeWriter};
use std::os::fd::OwnedFd;

use rustix::termios::{LocalModes, Termios, tcgetattr};
use tokio::net::unix::pipe;

use crate::terminal::END_OF_INPUT;

/// What is written here a command reads from its standard input, which ends when this is dropped; with a
/// terminal, it is typed there.
#[derive(Debug)]
pub struct CommandInput {
    sender: pipe::Sender,
    is_terminal: bool,
}

// === impl CommandInput ===

impl CommandInput {
    pub(crate) fn new(pipe: PipeWriter) -> io::Result<Self> {
        let sender = pipe::Sender::from_owned_fd(OwnedFd::from(pipe))?;
        Ok(Self { sender, is_terminal: false })
    }

    /// Types at moss's end of a terminal.
    pub(crate) fn of_terminal(ours: OwnedFd) -> io::Result<Self> {
        let sender = pipe::Sender::from_owned_fd_unchecked(ours)?;
        Ok(Self { sender, is_terminal: true })
    }

    /// Whether a long line that is written now loses a part: a terminal whose program reads line by line.
    pub(crate) fn cuts_lines(&self) -> bool {
        let reads_lines = |modes: Termios| modes.local_modes.contains(LocalModes::ICANON);
        self.is_terminal && tcgetattr(&self.sender).map_or(true, reads_lines)
    }

    /// Writes a part of what is left, as much as there is room for, and takes it off; waits for room.
    /// Nothing is lost where the future is dropped.
    ///
    /// # Errors
    ///
    /// `BrokenPipe` where the command reads no more.
    pub async fn write_some(&self, left: &mut &[u8]) -> io::Result<()> {
        loop {
            self.sender.writable().await?;
            match self.sender.try_write(left) {
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

impl Drop for CommandInput {
    fn drop(&mut self) {
        if self.is_terminal {
            // The program that reads gets an end of input; the terminal itself stays, for its output.
            let _ = self.sender.try_write(&[END_OF_INPUT]);
        }
    }
}
