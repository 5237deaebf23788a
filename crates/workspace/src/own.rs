//! moss's own files: state, configuration and run-time directories outside of any workspace.
//!
//! Directories are private to the user (0700), files too (0600). A directory or file that belongs
//! to somebody else, or that others can write, is refused. Contents are replaced as a whole or
//! not at all. Names are single components; links are never followed at the end of a path.

#![cfg_attr(
    not(test),
    expect(
        clippy::disallowed_methods,
        reason = "moss's own directories are named by ambient paths"
    )
)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests look from outside"))]

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use moss_sdk::file::EntryKind;
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;

use crate::error::Error;
use crate::handle::{self, Patience, Stat};
use crate::temp_name::temp_name;

const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);
/// How often a lock that somebody holds is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// A private directory of moss, held open.
#[derive(Debug)]
pub struct OwnDir {
    path: PathBuf,
    directory: OwnedFd,
}

/// An exclusive lock between processes and threads; released when dropped or when the process
/// ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the lock lives as long as the descriptor")] OwnedFd);

/// Which content of a file it is: another one after every replacement or change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileVersion {
    identity: handle::Identity,
    size_bytes: u64,
    changed: (i64, i64),
}

/// One file of a directory, as its entry tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFile {
    /// Its name.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    /// When it was last written or touched.
    pub modified: SystemTime,
}

/// Reads a configuration file that only its owner may write: the user, or the super-user. None
/// where there is no such file.
///
/// # Errors
///
/// `Own` where it is not a regular file, is larger than `bytes_max`, or could have been written by
/// somebody else; `Io`.
pub fn read_trusted(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
    let flags = handle::READ.difference(OFlags::NOFOLLOW);
    let fd = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(Error::io(&path.display(), "open", errno)),
    };
    let stat = handle::stat(&fd).map_err(|errno| Error::io(&path.display(), "look at", errno))?;
    check(path, &stat, EntryKind::File)?;
    read_bounded(path, &fd, bytes_max).map(Some)
}

/// Reads a secret that a person names, a credential or a private key: a file that nobody else may
/// even read.
///
/// # Errors
///
/// `Own` where it is not a regular file of the user's or the super-user's, is larger than
/// `bytes_max`, or could have been read by somebody else; `Io`.
pub fn read_secret(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Error> {
    let flags = handle::READ.difference(OFlags::NOFOLLOW);
    let fd = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno| Error::io(&path.display(), "open", errno))?;
    let stat = handle::stat(&fd).map_err(|errno| Error::io(&path.display(), "look at", errno))?;
    if stat.kind == EntryKind::File && stat.mode & 0o077 != 0 {
        let reason = format!("can be read by other users: run `chmod 600 {}`", path.display());
        return Err(Error::Own { path: path.display().to_string(), reason });
    }
    check(path, &stat, EntryKind::File)?;
    read_bounded(path, &fd, bytes_max)
}

/// Refuses what belongs to somebody else or can be written by others.
fn check(path: &Path, stat: &Stat, kind: EntryKind) -> Result<(), Error> {
    let unsafe_because =
        |reason: &str| Error::Own { path: path.display().to_string(), reason: reason.to_owned() };
    if stat.kind != kind {
        return Err(unsafe_because(match kind {
            EntryKind::Directory => "is not a directory",
            _ => "is not a regular file",
        }));
    }
    if stat.uid != rustix::process::geteuid().as_raw() && stat.uid != 0 {
        return Err(unsafe_because("belongs to another user"));
    }
    if stat.mode & 0o022 != 0 {
        let reason = format!("can be written by other users: run `chmod go-w {}`", path.display());
        return Err(unsafe_because(&reason));
    }
    Ok(())
}

fn read_bounded(path: &Path, fd: &OwnedFd, bytes_max: u64) -> Result<Vec<u8>, Error> {
    let bytes = handle::read_to(fd, bytes_max, Patience::Wait)
        .map_err(|errno| Error::io(&path.display(), "read", errno))?;
    if bytes.len() as u64 <= bytes_max {
        return Ok(bytes);
    }
    let reason = format!("is larger than {bytes_max} bytes");
    Err(Error::Own { path: path.display().to_string(), reason })
}

// === impl OwnDir ===

impl OwnDir {
    /// Opens a directory, making it and its missing parents private (0700).
    ///
    /// # Errors
    ///
    /// `Own` where it belongs to somebody else or others can write it; `Io`.
    pub fn create(path: &Path) -> Result<Self, Error> {
        use std::os::unix::fs::DirBuilderExt;
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| Error::std_io(&path.display(), "create", error))?;
        Self::open(path)
    }

    /// Opens an existing directory.
    ///
    /// # Errors
    ///
    /// As [`OwnDir::create`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed = |errno| Error::io(&path.display(), "open", errno);
        let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
        check(path, &handle::stat(&directory).map_err(failed)?, EntryKind::Directory)?;
        Ok(Self { path: path.to_owned(), directory })
    }

    /// Opens a directory in this one, making it private (0700) where it is missing.
    ///
    /// # Errors
    ///
    /// As [`OwnDir::create`].
    pub fn subdirectory(&self, name: &str) -> Result<Self, Error> {
        let path = self.named(name)?;
        let failed = |errno| Error::io(&path.display(), "create", errno);
        match rustix::fs::mkdirat(&self.directory, name, Mode::RWXU) {
            Ok(()) => handle::sync_directory(&self.directory).map_err(failed)?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = handle::open_at(&self.directory, name, flags).map_err(failed)?;
        check(&path, &handle::stat(&directory).map_err(failed)?, EntryKind::Directory)?;
        Ok(Self { path, directory })
    }

    /// Returns the path, for display and for libraries that open files by themselves.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file; none where there is none.
    ///
    /// # Errors
    ///
    /// `Own` where it is not a regular file of the user, or larger than `bytes_max`; `Io`.
    pub fn read(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        let path = self.named(name)?;
        let fd = match handle::open_at(&self.directory, name, handle::READ) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(Error::io(&path.display(), "open", errno)),
        };
        self.check_file(&path, &fd)?;
        read_bounded(&path, &fd, bytes_max).map(Some)
    }

    /// Looks which version of a file there is, without opening it; none where there is none.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn version(&self, name: &str) -> Result<Option<FileVersion>, Error> {
        Ok(self.find(name)?.map(|stat| FileVersion {
            identity: stat.identity,
            size_bytes: stat.size_bytes,
            changed: stat.changed,
        }))
    }

    /// Replaces a file as a whole, durably; readers see the old or the new content.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.write_with(name, bytes, PRIVATE)
    }

    /// As [`OwnDir::write`], for a file that the user keeps as well: its permission bits stay.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn rewrite(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let stat = self.find(name)?;
        let mode = stat.map_or(PRIVATE, |stat| Mode::from_raw_mode(stat.mode & 0o777));
        self.write_with(name, bytes, mode)
    }

    fn write_with(&self, name: &str, bytes: &[u8], mode: Mode) -> Result<(), Error> {
        let path = self.named(name)?;
        let temp = self.write_temp(&path, bytes, mode)?;
        let renamed = rustix::fs::renameat(&self.directory, &temp, &self.directory, name)
            .and_then(|()| handle::sync_directory(&self.directory));
        renamed.map_err(|errno| {
            let _ = rustix::fs::unlinkat(&self.directory, &temp, AtFlags::empty());
            Error::io(&path.display(), "replace", errno)
        })
    }

    /// Makes a new file, whole and durably. Returns `false` where the name is taken.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn create_new(&self, name: &str, bytes: &[u8]) -> Result<bool, Error> {
        let path = self.named(name)?;
        let temp = self.write_temp(&path, bytes, PRIVATE)?;
        let (old, flags) = (&temp, AtFlags::empty());
        let linked = rustix::fs::linkat(&self.directory, old, &self.directory, name, flags);
        let unlinked = rustix::fs::unlinkat(&self.directory, &temp, AtFlags::empty());
        match linked {
            Err(Errno::EXIST) => return Ok(false),
            other => other.and(unlinked),
        }
        .and_then(|()| handle::sync_directory(&self.directory))
        .map_err(|errno| Error::io(&path.display(), "create", errno))?;
        Ok(true)
    }

    /// Opens a file for appending, making it where it is missing.
    ///
    /// # Errors
    ///
    /// `Own` where it is not a regular file of the user; `Io`.
    pub fn append(&self, name: &str) -> Result<File, Error> {
        let path = self.named(name)?;
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK;
        let fd = self.open_or_create(&path, name, flags)?;
        Ok(File::from(fd))
    }

    /// Removes a file; a missing one is fine.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.named(name)?;
        match rustix::fs::unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) => handle::sync_directory(&self.directory),
            Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno),
        }
        .map_err(|errno| Error::io(&path.display(), "remove", errno))
    }

    /// Returns its regular files, in no order. One that comes or goes meanwhile may be missing.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn files(&self) -> Result<Vec<OwnFile>, Error> {
        let failed = |errno| Error::io(&self.path.display(), "list", errno);
        let mut files = Vec::new();
        for entry in Dir::read_from(&self.directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            let stat = handle::find_at(&self.directory, name).map_err(failed)?;
            let Some(stat) = stat.filter(|stat| stat.kind == EntryKind::File) else { continue };
            let Stat { size_bytes, modified, .. } = stat;
            files.push(OwnFile { name: name.to_owned(), size_bytes, modified });
        }
        Ok(files)
    }

    /// Makes a file count as modified just now.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn touch(&self, name: &str) -> Result<(), Error> {
        let path = self.named(name)?;
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        rustix::fs::utimensat(&self.directory, name, &times, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| Error::io(&path.display(), "touch", errno))
    }

    /// Takes the lock of a name, waiting for at most `wait`.
    ///
    /// # Errors
    ///
    /// `Busy` where somebody else holds it all the time; `Own`, `Io`.
    pub fn lock(&self, name: &str, wait: Duration) -> Result<Lock, Error> {
        let path = self.named(name)?;
        let fd = self.open_or_create(&path, name, OFlags::RDWR | OFlags::NONBLOCK)?;
        let start = Instant::now();
        loop {
            match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock(fd)),
                Err(Errno::WOULDBLOCK) if start.elapsed() < wait => std::thread::sleep(LOCK_PAUSE),
                Err(Errno::WOULDBLOCK) => {
                    let what = format!("{} is locked by another process", path.display());
                    return Err(Error::Busy { what });
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::io(&path.display(), "lock", errno)),
            }
        }
    }

    /// Opens it again, to make the names in it durable.
    pub(crate) fn readable(&self) -> Result<OwnedFd, Error> {
        handle::readable(&self.directory)
            .map_err(|errno| Error::io(&self.path.display(), "open", errno))
    }

    fn open_or_create(&self, path: &Path, name: &str, flags: OFlags) -> Result<OwnedFd, Error> {
        let flags = flags | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.directory, name, flags, PRIVATE)
            .map_err(|errno| Error::io(&path.display(), "open", errno))?;
        self.check_file(path, &fd)?;
        Ok(fd)
    }

    fn check_file(&self, path: &Path, fd: &OwnedFd) -> Result<(), Error> {
        let stat = handle::stat(fd).map_err(|e| Error::io(&path.display(), "look at", e))?;
        check(path, &stat, EntryKind::File)
    }

    fn write_temp(&self, path: &Path, bytes: &[u8], mode: Mode) -> Result<String, Error> {
        let temp = temp_name()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let failed = |error| Error::std_io(&path.display(), "write", error);
        let fd = rustix::fs::openat(&self.directory, &temp, flags, PRIVATE)
            .map_err(|errno| failed(errno.into()))?;
        let mut file = File::from(fd);
        let written = rustix::fs::fchmod(&file, mode).map_err(Into::into);
        let written = written.and_then(|()| file.write_all(bytes));
        written.and_then(|()| file.sync_all()).map_err(|error| {
            let _ = rustix::fs::unlinkat(&self.directory, &temp, AtFlags::empty());
            failed(error)
        })?;
        Ok(temp)
    }

    fn find(&self, name: &str) -> Result<Option<Stat>, Error> {
        let path = self.named(name)?;
        let found = handle::find_at(&self.directory, name);
        found.map_err(|errno| Error::io(&path.display(), "look at", errno))
    }

    fn named(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
            let reason = "is not a single name".to_owned();
            return Err(Error::Own { path: path.display().to_string(), reason });
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests;
