//! The Unix socket: in a directory of mode 0700, itself 0600, and only processes of the same user
//! get a connection.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use moss_workspace::own::{Lock, OwnDir};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::{UnixListener, UnixStream};

use super::BindError;

/// A bound Unix socket. Dropping it removes the socket file, if it made it.
#[derive(Debug)]
pub struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Removed with the socket.
    _file: Option<SocketFile>,
}

/// The file of a socket that was made here.
#[derive(Debug)]
struct SocketFile {
    directory: OwnDir,
    name: String,
    /// Held while the socket is: a second daemon on the same path is refused.
    _lock: Lock,
}

/// Binds a socket, making its directory where it is missing and removing what a dead daemon left.
///
/// # Errors
///
/// Where a living daemon has it, something else lies there, its directory is open to others, or
/// the system refuses.
pub(super) fn bind(path: &Path) -> Result<UnixSocket, BindError> {
    if !fits(path) {
        return Err(BindError::TooLong(path.to_owned()));
    }
    let io = |source| BindError::Io { address: format!("unix:{}", path.display()), source };
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| BindError::Name(path.to_owned()))?.to_owned();
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = OwnDir::create(parent.unwrap_or(Path::new(".")))?;
    let lock = match directory.lock(&format!("{name}.lock"), Duration::ZERO) {
        Ok(lock) => lock,
        Err(moss_workspace::Error::Busy { .. }) => return Err(BindError::Taken(path.to_owned())),
        Err(error) => return Err(error.into()),
    };
    match is_socket(path) {
        // No daemon of ours, which would hold the lock: a supervisor that starts one on demand.
        Ok(true) if is_listened_on(path) => return Err(BindError::Taken(path.to_owned())),
        Ok(true) => directory.remove(&name)?,
        Ok(false) => return Err(BindError::InTheWay(path.to_owned())),
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(io(errno.into())),
    }
    let listener = UnixListener::bind(path).map_err(io)?;
    // The directory keeps others out from the first instant; this is the second fence.
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::chmod(path, mode).map_err(|errno| io(errno.into()))?;
    let file = Some(SocketFile { directory, name, _lock: lock });
    Ok(UnixSocket { listener, path: path.to_owned(), _file: file })
}

/// Whether the system takes a path for that of a socket: it allows about a hundred bytes.
pub fn fits(path: &Path) -> bool {
    SocketAddrUnix::new(path).is_ok()
}

/// Whether a socket lies there, or a link to one or to none any more: see `link.rs`.
fn is_socket(path: &Path) -> rustix::io::Result<bool> {
    let kind = |stat: rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode);
    match kind(rustix::fs::lstat(path)?) {
        FileType::Symlink => match rustix::fs::stat(path) {
            Err(Errno::NOENT) => Ok(true),
            found => Ok(kind(found?) == FileType::Socket),
        },
        found => Ok(found == FileType::Socket),
    }
}

/// Whether somebody would accept a connection. Does not wait for it.
pub(super) fn is_listened_on(path: &Path) -> bool {
    let connect = || {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        net::connect(&socket, &SocketAddrUnix::new(path)?)
    };
    // Where the queue is full, somebody keeps it.
    matches!(connect(), Ok(()) | Err(Errno::AGAIN))
}

/// Whether the other end is a process of the same user.
pub(super) fn is_of_same_user(stream: &UnixStream) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    let peer = stream.peer_cred().map(|peer| peer.uid());
    let same = peer.as_ref().ok() == Some(&ours);
    if !same {
        tracing::warn!(?peer, "refused a connection of another user");
    }
    same
}

// === impl UnixSocket ===

impl UnixSocket {
    /// Takes a socket that somebody else bound, and continues owning the file.
    pub(super) fn adopt(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = UnixListener::from_std(listener)?;
        let path = listener.local_addr()?.as_pathname().map(Path::to_owned).unwrap_or_default();
        Ok(Self { listener, path, _file: None })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept().await?.0)
    }
}

// === impl SocketFile ===

impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Err(error) = self.directory.remove(&self.name) {
            tracing::warn!(%error, "cannot remove the socket");
        }
    }
}
