//! The side of the fork server that forks. It has one thread, keeps no memory of moss's, as it was
//! started anew, and ends when moss is gone. It receives nothing but which descriptors a process gets.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, IntoRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, PidfdFlags, WaitId, WaitIdOptions};

use super::MORE;
use crate::descriptors;
use crate::keeper::{self, GivenUp};
use crate::order::KeeperReport;
use crate::start::{ForkBounds, StartKind};
use crate::system;

/// What there is of the processes that have not ended.
struct Forked(Vec<OwnedFd>);

/// A process that is wanted.
struct ForkRequest {
    kind: StartKind,
    fds: Vec<OwnedFd>,
}

/// Forks what is asked for until moss is gone, within the bounds that a word says. Returns in each child, too: with what
/// it is and what it has given up, once its descriptors are where they belong.
pub(crate) fn serve(bounds: &OsStr) -> io::Result<Option<(StartKind, Option<GivenUp>)>> {
    let bounds = ForkBounds::of(bounds).ok_or_else(unknown)?;
    system::close_inherited()?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    // What a terminal sends to moss is not meant for it.
    let _ = rustix::process::setsid();
    let given_up = keeper::prepare(bounds);
    let requests = io::stdin().as_fd().try_clone_to_owned()?;
    let mut forked = Forked(Vec::new());
    let mut collected = Vec::new();
    loop {
        if !forked.wait(&requests)? {
            continue;
        }
        let Some(kind) = receive(&requests, &mut collected)? else { return Ok(None) };
        let Some(kind) = kind else { continue };
        let request = ForkRequest { kind, fds: std::mem::take(&mut collected) };
        match system::fork() {
            Ok(Some(child)) => {
                forked.0.push(rustix::process::pidfd_open(child, PidfdFlags::empty())?);
            }
            Ok(None) => {
                drop((requests, forked));
                return request.become_it().map(|kind| Some((kind, given_up)));
            }
            Err(error) => request.refuse(&error),
        }
    }
}

/// Receives one message: none where moss is gone, and no kind where more of them belong together.
fn receive(
    requests: &OwnedFd,
    collected: &mut Vec<OwnedFd>,
) -> io::Result<Option<Option<StartKind>>> {
    let mut word = [0];
    if descriptors::receive(requests.as_fd(), &mut word, collected)? == 0 {
        return Ok(None);
    }
    if word[0] == MORE {
        return Ok(Some(None));
    }
    StartKind::of(word[0]).map(|kind| Some(Some(kind))).ok_or_else(unknown)
}

fn unknown() -> io::Error {
    io::Error::other("the message is of another version of moss")
}

// === impl Forked ===

impl Forked {
    /// Waits for a request, or the end of a child. Returns whether there is a request.
    fn wait(&mut self, requests: &OwnedFd) -> io::Result<bool> {
        let all = std::iter::once(requests).chain(&self.0);
        let mut fds: Vec<_> = all.map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        match poll(&mut fds, None) {
            Err(Errno::INTR) => return Ok(false),
            polled => polled?,
        };
        let is_ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let mut has_ended = is_ready.iter().skip(1);
        self.0.retain(|child| {
            let has_ended = has_ended.next().is_some_and(|ended| *ended);
            if has_ended {
                // Whoever waits for it looks at its socket.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
                let _ = rustix::process::waitid(WaitId::PidFd(child.as_fd()), options);
            }
            !has_ended
        });
        Ok(is_ready.first().is_some_and(|ready| *ready))
    }
}

// === impl ForkRequest ===

impl ForkRequest {
    /// Makes this process the one that is wanted.
    fn become_it(self) -> io::Result<StartKind> {
        let Some(control) = self.fds.first() else { return Ok(self.kind) };
        let above = self.fds.len().try_into().map_err(io::Error::other)?;
        let spare = match rustix::io::fcntl_dupfd_cloexec(control, above) {
            Ok(spare) => UnixStream::from(spare),
            Err(error) => {
                self.refuse(&error.into());
                return Err(error.into());
            }
        };
        match system::place(self.fds) {
            Ok(()) => {
                // It is closed: nothing but what was placed is open.
                let _ = spare.into_raw_fd();
                Ok(self.kind)
            }
            Err(error) => {
                refuse(spare, &error);
                Err(error)
            }
        }
    }

    fn refuse(self, error: &io::Error) {
        if let Some(control) = self.fds.into_iter().next() {
            refuse(control.into(), error);
        }
    }
}

/// Has moss hear why there is no process.
fn refuse(mut control: UnixStream, error: &io::Error) {
    let why = format!("no process can be made: {error}");
    let _ = keeper::send(&mut control, &KeeperReport::Failed(why));
}
