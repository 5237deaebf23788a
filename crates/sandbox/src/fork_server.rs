//! The fork server: one process of moss's own program for each sandbox, of which every keeper is forked.
//! A command waits neither for a copy of the daemon nor for the start of a large program.
//!
//! This side starts it when the first command does, and again where it is gone, and sends it the
//! descriptors of each new process; `fork_server/server.rs` is the other side. What a process is to do
//! it learns on its own socket: the server never sees an order, and so has nothing that a later keeper
//! could inherit.

pub(crate) mod server;

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
};

use crate::start::StartKind;

/// The argument by which moss's program knows that it is a fork server.
pub(crate) const FORK_SERVER: &str = "fork-keepers";

/// Most descriptors of one message: the kernel takes 253.
const FDS_MAX: usize = 128;
/// The message that brings descriptors of a process that a later one is about.
const MORE: u8 = b'+';

/// Starts processes by way of a server.
#[derive(Debug)]
pub(crate) struct ForkServer {
    /// The program of moss, which is started as the server.
    program: PathBuf,
    running: Mutex<Option<ForkServerProcess>>,
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
        Self { program, running: Mutex::new(None) }
    }

    /// Starts a process, whose descriptors these are, from 0 on.
    pub(crate) fn start(&self, kind: StartKind, fds: &[OwnedFd]) -> io::Result<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = &*running {
            match server.request(kind, fds) {
                // Somebody ended it: another one does as well.
                Err(Errno::PIPE | Errno::CONNRESET) => {}
                requested => return Ok(requested?),
            }
        }
        *running = None;
        let server = ForkServerProcess::start(&self.program)?;
        Ok(running.insert(server).request(kind, fds)?)
    }
}

// === impl ForkServerProcess ===

impl ForkServerProcess {
    fn start(program: &PathBuf) -> io::Result<Self> {
        let (requests, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let mut server = Command::new(program);
        // Nothing is done between fork and exec, so that the library need not copy the memory of moss.
        server
            .arg(FORK_SERVER)
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
            let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FDS_MAX))];
            let mut rights = SendAncillaryBuffer::new(&mut space);
            rights.push(SendAncillaryMessage::ScmRights(&part));
            let word = [word];
            sendmsg(&self.requests, &[IoSlice::new(&word)], &mut rights, SendFlags::NOSIGNAL)?;
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
