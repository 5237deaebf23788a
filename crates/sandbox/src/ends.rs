//! The descriptors of a keeper, and moss's ends of them.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use tokio::net::unix::pipe;

use crate::command::SandboxedCommand;
#[cfg(not(target_os = "linux"))]
use crate::elsewhere::CommandGroup;
#[cfg(target_os = "linux")]
use crate::groups::CommandGroup;
use crate::input::CommandInput;
use crate::running::Kept;
use crate::terminal;

/// The descriptor that is the command's standard input, in a keeper: the first that is none of its own
/// standard streams.
pub(crate) const INPUT: u32 = 3;

/// Both ends, before a keeper has those that are its own.
#[derive(Debug)]
pub(crate) struct KeeperEnds {
    control: UnixStream,
    stdout: PipeReader,
    stderr: PipeReader,
    input: Option<OwnInput>,
    theirs: Vec<OwnedFd>,
}

/// moss's end of a standard input.
#[derive(Debug)]
enum OwnInput {
    Pipe(PipeWriter),
    Terminal(OwnedFd),
}

/// Both ends of a standard input, where a command has one.
fn input(command: &SandboxedCommand) -> io::Result<Option<(OwnInput, OwnedFd)>> {
    if command.has_terminal {
        let (ours, theirs) = terminal::open()?;
        return Ok(Some((OwnInput::Terminal(ours), theirs)));
    }
    if !command.has_input {
        return Ok(None);
    }
    let (reader, writer) = io::pipe()?;
    Ok(Some((OwnInput::Pipe(writer), reader.into())))
}

// === impl KeeperEnds ===

impl KeeperEnds {
    /// Opens those of a command's keeper.
    pub(crate) fn open(command: &SandboxedCommand) -> io::Result<Self> {
        let (control, keeper) = UnixStream::pair()?;
        control.set_nonblocking(true)?;
        let ((stdout, written), (stderr, complained)) = (io::pipe()?, io::pipe()?);
        let mut theirs = vec![keeper.into(), written.into(), complained.into()];
        let input = input(command)?.map(|(ours, input)| {
            theirs.push(input);
            ours
        });
        Ok(Self { control, stdout, stderr, input, theirs })
    }

    /// The number of the standard input in the keeper, where there is one.
    pub(crate) fn input(&self) -> Option<u32> {
        self.input.as_ref().map(|_| INPUT)
    }

    /// Has the keeper inherit one more descriptor. Returns the number that it will have there.
    pub(crate) fn add(&mut self, fd: OwnedFd) -> io::Result<RawFd> {
        let number = RawFd::try_from(self.theirs.len()).map_err(io::Error::other)?;
        self.theirs.push(fd);
        Ok(number)
    }

    /// Has the keeper inherit what is open of its command's group. Returns the number of the first there.
    pub(crate) fn add_group(&mut self, group: &CommandGroup) -> io::Result<u32> {
        let [first, rest @ ..] = group.open()?;
        let first = self.add(first)?;
        for fd in rest {
            self.add(fd)?;
        }
        u32::try_from(first).map_err(io::Error::other)
    }

    /// Takes those that are the keeper's, in the order of their numbers.
    pub(crate) fn take_theirs(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.theirs)
    }

    /// Makes moss's ends what a keeper is watched over by, which these orders are for, and what comes with them.
    pub(crate) fn keep(self, orders: Vec<u8>, enclosed: Option<OwnedFd>) -> io::Result<Kept> {
        let control = tokio::net::UnixStream::from_std(self.control)?;
        let stdout = pipe::Receiver::from_owned_fd(self.stdout.into())?;
        let stderr = pipe::Receiver::from_owned_fd(self.stderr.into())?;
        let (input, terminal) = match self.input {
            None => (None, None),
            Some(OwnInput::Pipe(pipe)) => (Some(CommandInput::new(pipe)?), None),
            Some(OwnInput::Terminal(ours)) => {
                let output = pipe::Receiver::from_owned_fd_unchecked(ours.try_clone()?)?;
                (Some(CommandInput::of_terminal(ours)?), Some(output))
            }
        };
        Ok(Kept { control, stdout, stderr, input, terminal, orders, enclosed })
    }
}
