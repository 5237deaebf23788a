//! moss's own files: state, configuration and run-time directories outside of any workspace.
//!
//! Directories are private to the user (0700), files too (0600). A directory or file that belongs
//! to somebody else, or that others can write, is refused. Contents are replaced as a whole or
//! not at all. Names are single components; links are never followed at the end of a path.
//!
//! All goes through a held [`Dir`], but for what it cannot say: parents that are private from the first
//! instant and locks between processes. Versions of files are looked at in it by one call of ours.

#![cfg_attr(
    not(test),
    expect(
        clippy::disallowed_methods,
        reason = "moss's own directories are named by ambient paths"
    )
)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests look from outside"))]

mod by_path;
mod checked;
mod fresh;
mod left_over;
mod making;
mod pieces;
mod room;
mod scratch;
mod unlinked;

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use cap_fs_ext::{DirExt as _, SystemTimeSpec};
use cap_std::ambient_authority;
use cap_std::fs::{
    Dir, DirBuilder, DirBuilderExt as _, FileType, Metadata, MetadataExt as _, OpenOptions,
    Permissions, PermissionsExt as _,
};

use self::checked::{PRIVATE, check, check_file, failed, options, present, read_bounded, refused};
pub use self::checked::{read_secret, read_trusted};
pub use self::pieces::{OwnAppender, OwnDraft, OwnReader};
pub use self::room::{OwnBounds, OwnRoom, WriterRoom};
pub use self::scratch::ScratchTree;
use crate::error::Error;
use crate::handle::{self, Identity};
use crate::temp_name::temp_name;

const PRIVATE_DIRECTORY: u32 = 0o700;
/// How often a lock that somebody holds is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// A private directory of moss, held open.
#[derive(Debug)]
pub struct OwnDir {
    path: PathBuf,
    directory: Dir,
}

/// An exclusive lock between processes and threads; released when dropped or when the process
/// ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the lock lives as long as the descriptor")] File);

/// Which content of a file it is: another one after every replacement or change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileVersion {
    identity: Identity,
    size_bytes: u64,
    changed: (i64, i64),
}

/// One file of a directory, as its entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFile {
    /// The name in its directory.
    pub name: String,
    /// Size of its content, in bytes.
    pub size_bytes: u64,
    /// When it was last written or touched.
    pub modified: SystemTime,
}

// === impl OwnDir ===

impl OwnDir {
    /// Opens a directory, making it and its missing parents private (0700), durably.
    ///
    /// # Errors
    ///
    /// `Own` where it belongs to somebody else or others can write it; `Io`.
    pub fn create(path: &Path) -> Result<Self, Error> {
        making::make(path).map_err(failed(path, "create"))?;
        Self::open(path)
    }

    /// Opens an existing directory.
    ///
    /// # Errors
    ///
    /// As [`OwnDir::create`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let opened = Dir::open_ambient_dir(path, ambient_authority());
        Self::checked(path.to_owned(), opened.map_err(failed(path, "open"))?)
    }

    /// Opens a directory in this one, making it private (0700) where it is missing.
    ///
    /// # Errors
    ///
    /// As [`OwnDir::create`].
    pub fn subdirectory(&self, name: &str) -> Result<Self, Error> {
        let path = self.named(name)?;
        match self.directory.create_dir_with(name, DirBuilder::new().mode(PRIVATE_DIRECTORY)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made.and_then(|()| self.sync()),
        }
        .and_then(|()| self.directory.open_dir_nofollow(name))
        .map_err(failed(&path, "create"))
        .and_then(|directory| Self::checked(path, directory))
    }

    /// Returns the path, for display and for libraries that open files by themselves.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// `Own` where it is not a regular file of the user, or larger than `bytes_max`; `Io`.
    pub fn read(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        let path = self.named(name)?;
        let opened = present(self.directory.open_with(name, options().read(true)));
        let file = opened.map_err(failed(&path, "open"))?;
        file.map(|file| read_bounded(&path, file, bytes_max)).transpose()
    }

    /// Looks which version of a file there is, without opening it; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn version(&self, name: &str) -> Result<Option<FileVersion>, Error> {
        if !checked::is_single(name) {
            self.named(name)?;
        }
        // Each call of a tool looks at names: this is one system call, and cap-std needs three for it.
        let found = handle::find_at(&self.directory, name)
            .map_err(|errno| failed(&self.path.join(name), "look at")(errno.into()))?;
        Ok(found.map(|stat| FileVersion {
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
        let mode = self.find(name)?.map_or(PRIVATE, |metadata| metadata.mode() & 0o777);
        self.write_with(name, bytes, mode)
    }

    fn write_with(&self, name: &str, bytes: &[u8], mode: u32) -> Result<(), Error> {
        let path = self.named(name)?;
        let temp = self.write_temp(&path, bytes, mode)?;
        let renamed = self.directory.rename(&temp, &self.directory, name);
        renamed.and_then(|()| self.sync()).map_err(|error| {
            let _ = self.directory.remove_file(&temp);
            failed(&path, "replace")(error)
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
        let linked = self.directory.hard_link(&temp, &self.directory, name);
        let unlinked = self.directory.remove_file(&temp);
        match linked {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            other => other.and(unlinked),
        }
        .and_then(|()| self.sync())
        .map_err(failed(&path, "create"))?;
        Ok(true)
    }

    /// Opens a file for appending, making it where it is missing.
    ///
    /// # Errors
    ///
    /// `Own` where it is not a regular file of the user; `Io`.
    pub fn append(&self, name: &str) -> Result<File, Error> {
        self.open_or_create(name, options().append(true))
    }

    /// Removes a file; a missing one is fine.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.named(name)?;
        let removed = present(self.directory.remove_file(name));
        let durable = removed.and_then(|removed| removed.map_or(Ok(()), |()| self.sync()));
        durable.map_err(failed(&path, "remove"))
    }

    /// Puts a link there, in the place of one or of a file that was.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn link(&self, name: &str, target: &Path) -> Result<(), Error> {
        let path = self.named(name)?;
        let temp = temp_name()?;
        let made = self.directory.symlink_contents(target, &temp);
        let renamed = made.and_then(|()| self.directory.rename(&temp, &self.directory, name));
        renamed.map_err(|error| {
            let _ = self.directory.remove_file(&temp);
            failed(&path, "link")(error)
        })
    }

    /// Where a link leads.
    ///
    /// # Errors
    ///
    /// `Io`, also where it is not a link.
    pub fn link_target(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.named(name)?;
        self.directory.read_link_contents(name).map_err(failed(&path, "read"))
    }

    /// Returns its regular files, in no order. One that comes or goes meanwhile may be missing.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn files(&self) -> Result<Vec<OwnFile>, Error> {
        let failed = failed(&self.path, "list");
        let mut files = Vec::new();
        for entry in self.directory.entries().map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let metadata = present(entry.metadata()).map_err(&failed)?;
            let Some(metadata) = metadata.filter(Metadata::is_file) else { continue };
            let modified = metadata.modified().map_err(&failed)?.into_std();
            files.push(OwnFile { name, size_bytes: metadata.len(), modified });
        }
        Ok(files)
    }

    /// Returns the names of the directories in it, in no order.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn subdirectories(&self) -> Result<Vec<String>, Error> {
        let failed = failed(&self.path, "list");
        let mut names = Vec::new();
        for entry in self.directory.entries().map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            if entry.file_type().map_err(&failed)?.is_dir() {
                names.extend(entry.file_name().into_string());
            }
        }
        Ok(names)
    }

    /// Removes all that is in it, whatever it is. Links are not followed.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn clear(&self) -> Result<(), Error> {
        moss_removal::clear(&self.directory).map_err(failed(&self.path, "clear"))
    }

    /// Makes a file count as modified just now.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn touch(&self, name: &str) -> Result<(), Error> {
        let path = self.named(name)?;
        let now = || Some(SystemTimeSpec::SymbolicNow);
        let touched = self.directory.set_symlink_times(name, now(), now());
        touched.map_err(failed(&path, "touch"))
    }

    /// Takes the lock of a name, waiting for at most `wait`.
    ///
    /// # Errors
    ///
    /// `Busy` where somebody else holds it all the time; `Own`, `Io`.
    pub fn lock(&self, name: &str, wait: Duration) -> Result<Lock, Error> {
        let file = self.open_or_create(name, options().read(true).write(true))?;
        let path = self.path.join(name);
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock(file)),
                Err(TryLockError::WouldBlock) if start.elapsed() < wait => {
                    std::thread::sleep(LOCK_PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    let what = format!("{} is locked by another process", path.display());
                    return Err(Error::Busy { what });
                }
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
                Err(TryLockError::Error(error)) => return Err(failed(&path, "lock")(error)),
            }
        }
    }

    /// Opens it again, to make the names in it durable.
    pub(crate) fn readable(&self) -> Result<OwnedFd, Error> {
        let opened = self.directory.open(".").map_err(failed(&self.path, "open"))?;
        Ok(opened.into_std().into())
    }

    /// Makes the names in it durable.
    fn sync(&self) -> io::Result<()> {
        self.directory.open(".")?.sync_all()
    }

    fn checked(path: PathBuf, directory: Dir) -> Result<Self, Error> {
        let metadata = directory.dir_metadata().map_err(failed(&path, "look at"))?;
        check(&path, &metadata, FileType::dir())?;
        Ok(Self { path, directory })
    }

    fn open_or_create(&self, name: &str, options: &mut OpenOptions) -> Result<File, Error> {
        let path = self.named(name)?;
        let opened = self.directory.open_with(name, options.create(true));
        let file = opened.map_err(failed(&path, "open"))?;
        check_file(&path, &file)?;
        Ok(file.into_std())
    }

    fn write_temp(&self, path: &Path, bytes: &[u8], mode: u32) -> Result<String, Error> {
        let temp = temp_name()?;
        let opened = self.directory.open_with(&temp, options().write(true).create_new(true));
        let mut file = opened.map_err(failed(path, "write"))?;
        let written = file.set_permissions(Permissions::from_mode(mode));
        let written = written.and_then(|()| file.write_all(bytes));
        written.and_then(|()| file.sync_all()).map_err(|error| {
            let _ = self.directory.remove_file(&temp);
            failed(path, "write")(error)
        })?;
        Ok(temp)
    }

    fn find(&self, name: &str) -> Result<Option<Metadata>, Error> {
        let path = self.named(name)?;
        present(self.directory.symlink_metadata(name)).map_err(failed(&path, "look at"))
    }

    fn named(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        if !checked::is_single(name) {
            return Err(refused(&path, "is not a single name"));
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests;
