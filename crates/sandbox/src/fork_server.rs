//! The fork server: a process of moss's own program for each sandbox, of which every keeper is forked.
//! A command waits neither for a copy of the daemon nor for the start of a large program.
//!
//! This side starts it when the first command does, and again where it is gone, and sends it the
//! descriptors of each new process; `fork_server/server.rs` is the other side. What a process is to do
//! it learns on its own socket: the server never sees an order, and so has nothing that a later keeper
//! could inherit.
//!
//! What all commands of a kind have to give up, and their keepers do not need, a server gives up once,
//! before it forks the first of them. So there is one for each way of that, as commands need it.

pub(crate) mod server;

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::descriptors::{self, FDS_MAX};
use crate::start::{ForkBounds, StartKind};

/// The argument by which moss's program knows that it is a fork server.
pub(crate) const FORK_SERVER: &str = "fork-keepers";

/// The message that brings descriptors of a process that a later one is about.
const MORE: u8 = b'+';

/// Starts processes by way of servers.
#[derive(Debug)]
pub(crate) struct ForkServer {
    /// The program of moss, which is started as a server.
    program: PathBuf,
    /// Those that run, each at the place of its bounds.
    running: [Mutex<Option<ForkServerProcess>>; ForkBounds::COUNT],
}

/// A server that was started.
#[derive(Debug)]
struct ForkServerProcess {
    requests: OwnedFd,
    child: Child,
}

// === impl ForkServer ===

impl ForkServer {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program, running: Default::default() }
    }

    /// Starts a process within bounds, whose descriptors these are, from 0 on.
    pub(crate) fn start(
        &self,
        (kind, bounds): (StartKind, ForkBounds),
        fds: &[OwnedFd],
    ) -> io::Result<()> {
        let running = &self.running[bounds.place()];
        let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = &*running {
            match server.request(kind, fds) {
                Ok(()) => return Ok(()),
                // Somebody ended it: another one does as well.
                Err(Errno::PIPE | Errno::CONNRESET) => {}
                Err(error) => {
                    // It may have some of these descriptors, and would take them for those of the next process.
                    *running = None;
                    return Err(error.into());
                }
            }
        }
        *running = None;
        let server = ForkServerProcess::start(&self.program, bounds)?;
        server.request(kind, fds)?;
        *running = Some(server);
        Ok(())
    }
}

// === impl ForkServerProcess ===

impl ForkServerProcess {
    fn start(program: &PathBuf, bounds: ForkBounds) -> io::Result<Self> {
        let (requests, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let mut server = Command::new(program);
        // Nothing is done between fork and exec, so that the library need not copy the memory of moss.
        server
            .args([FORK_SERVER, bounds.word()])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(Self { requests, child: server.spawn()? })
    }

    fn request(&self, kind: StartKind, fds: &[OwnedFd]) -> Result<(), Errno> {
        let mut parts = fds.chunks(FDS_MAX).peekable();
        while let Some(part) = parts.next() {
            let word = if parts.peek().is_some() { MORE } else { kind.word() };
            let part: Vec<BorrowedFd<'_>> = part.iter().map(|fd| fd.as_fd()).collect();
            descriptors::send(self.requests.as_fd(), &[word], &part)?;
        }
        Ok(())
    }
}

impl Drop for ForkServerProcess {
    fn drop(&mut self) {
        // What it forked goes on: that ends with the socket of its own.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use rustix::fs::{OFlags, fcntl_setfl};
    use rustix::net::{RecvFlags, SendFlags, recv, send};

    use super::*;

    #[test]
    fn a_server_that_got_a_part_of_a_request_gets_no_other_one() {
        let (requests, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .unwrap();
        fcntl_setfl(&requests, OFlags::NONBLOCK).unwrap();
        // There is room for messages, and then for exactly one.
        while send(&requests, &[MORE], SendFlags::NOSIGNAL).is_ok() {}
        recv(&theirs, &mut [0_u8; 1][..], RecvFlags::empty()).unwrap();
        let child = Command::new("true").spawn().unwrap();
        let server = ForkServer::new("/nowhere".into());
        let (kind, bounds) = (StartKind::Keeper, ForkBounds::Unbounded);
        *server.running[bounds.place()].lock().unwrap() =
            Some(ForkServerProcess { requests, child });
        let null = File::open("/dev/null").unwrap();
        let fds: Vec<OwnedFd> = (0..=FDS_MAX).map(|_| null.try_clone().unwrap().into()).collect();
        server.start((kind, bounds), &fds).unwrap_err();
        let running = server.running[bounds.place()].lock().unwrap();
        assert!(running.is_none(), "it would take what it has for the next");
    }
}
