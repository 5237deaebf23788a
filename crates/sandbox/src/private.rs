//! Temporary directories of commands, where these have no `/tmp` of their own. Whoever makes one holds a lock on it: one
//! that nobody holds was left by a moss that was killed, and is removed.
//!
//! They lie where the system has such directories, so that their paths are short: programs make sockets in them, whose
//! paths have at most 108 bytes.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// How the names of such directories begin.
const PREFIX: &str = "moss-tmp-";
/// How often one is made, where another moss takes it for one that was left.
const TRIES_MAX: usize = 10;

/// The temporary directory of a command; removed with all that lies in it when dropped.
#[derive(Debug)]
pub(crate) struct PrivateDirectory {
    path: PathBuf,
    name: OsString,
    parent: OwnedFd,
    /// Missing on file systems that have none: there nobody takes it for one that was left.
    _lock: Option<OwnedFd>,
}

/// Removes what killed processes left of this user's.
pub(crate) fn remove_left() {
    // What cannot be removed now is found the next time.
    let _ = remove_left_in(&std::env::temp_dir());
}

fn remove_left_in(parent: &Path) -> io::Result<()> {
    let parent = open(parent)?;
    let user = rustix::process::geteuid().as_raw();
    for entry in Dir::read_from(&parent)?.flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if !name.as_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        if let Ok(Some(lock)) = hold(&parent, name)
            && rustix::fs::fstat(&lock).is_ok_and(|found| found.st_uid == user)
        {
            let _ = moss_removal::remove(&parent, name);
        }
    }
    Ok(())
}

fn open(directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(directory, flags, Mode::empty())?)
}

/// Opens a directory and locks it. None where somebody else holds it, or it is gone.
fn hold(parent: &OwnedFd, name: &OsStr) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let lock = match rustix::fs::openat(parent, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened?,
    };
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(None),
        locked => locked?,
    }
    // Who held it before may have removed it.
    let (held, there) =
        (rustix::fs::fstat(&lock)?, rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW));
    let is_there =
        there.is_ok_and(|there| (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino));
    Ok(is_there.then_some(lock))
}

// === impl PrivateDirectory ===

impl PrivateDirectory {
    /// Makes an empty one that its user alone can look into.
    pub(crate) fn new() -> io::Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    fn within(directory: &Path) -> io::Result<Self> {
        let parent = open(directory)?;
        for _ in 0..TRIES_MAX {
            let path = tempfile::Builder::new().prefix(PREFIX).tempdir_in(directory)?.keep();
            let name = path.file_name().unwrap_or_default().to_owned();
            match hold(&parent, &name) {
                Ok(None) => {}
                lock => return Ok(Self { path, name, parent, _lock: lock.ok().flatten() }),
            }
        }
        Err(io::Error::other("a temporary directory is removed as soon as it is made"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // What stays is found by the next moss, once nobody holds it.
        let _ = moss_removal::remove(&self.parent, &self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_a_killed_moss_left_is_removed_and_what_another_holds_stays() {
        let temp = tempfile::tempdir().unwrap();
        let held = PrivateDirectory::within(temp.path()).unwrap();
        fs::write(held.path().join("file"), "").unwrap();
        let left = temp.path().join("moss-tmp-left");
        fs::create_dir_all(left.join("a/b")).unwrap();
        let other = temp.path().join("moss-other");
        fs::create_dir(&other).unwrap();
        let link = temp.path().join("moss-tmp-link");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        remove_left_in(temp.path()).unwrap();
        assert!(!left.exists() && other.exists() && link.exists());
        assert!(held.path().join("file").exists());
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }
}
