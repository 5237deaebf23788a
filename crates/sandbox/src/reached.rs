//! Directories that are reached without following a link. Commands that run meanwhile may put a link wherever they
//! write: what moss itself does at a path of theirs is done in a directory that is open, and so stays where it was meant.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

#[cfg(target_os = "linux")]
use rustix::fs::ResolveFlags;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

/// How each directory on the way is opened.
#[cfg(target_os = "linux")]
const STEP: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How each directory on the way is opened.
#[cfg(not(target_os = "linux"))]
const STEP: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What the size of files on a disk is counted in.
pub(crate) const BLOCK_BYTES: u64 = 512;

/// A directory that no link led to.
#[derive(Debug)]
pub(crate) struct ReachedDirectory(OwnedFd);

/// An entry of a directory, as it is listed.
#[derive(Debug)]
pub(crate) struct ReachedName {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
}

/// What stands under a name in a directory.
#[derive(Debug)]
pub(crate) struct ReachedEntry {
    pub(crate) kind: FileType,
    pub(crate) mode: u32,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) links: u64,
    pub(crate) length: u64,
    /// What it takes of the disk.
    pub(crate) allocated_bytes: u64,
    pub(crate) changed_ns: i128,
}

/// Replaces the links before the last name of a path by what they lead to, as far as that is there.
pub(crate) fn real_of(path: &Path) -> PathBuf {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    match fs::canonicalize(parent) {
        Ok(real) => real.join(name),
        Err(_) => real_of(parent).join(name),
    }
}

// === impl ReachedDirectory ===

impl ReachedDirectory {
    /// Opens a directory by a path that is taken as it is, links included.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = STEP.difference(OFlags::NOFOLLOW);
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Reaches a directory in it, by a relative path.
    #[cfg(target_os = "linux")]
    pub(crate) fn within(&self, path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        Ok(Self(rustix::fs::openat2(&self.0, path, STEP, Mode::empty(), resolve)?))
    }

    /// Reaches a directory in it, by a relative path.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn within(&self, path: &Path) -> io::Result<Self> {
        let here = Self(self.0.try_clone()?);
        path.iter().try_fold(here, |reached, name| reached.child(name))
    }

    /// Reaches the directory above an absolute path, and says by which name that is in it.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] where there is no such directory, another kind where a link stands in the way.
    pub(crate) fn above(path: &Path) -> io::Result<(Self, &OsStr)> {
        Self::walk(path, |directory, name| directory.child(name))
    }

    /// As [`Self::above`], and makes the directories that are missing.
    pub(crate) fn made_above(path: &Path) -> io::Result<(Self, &OsStr)> {
        Self::walk(path, |directory, name| match directory.child(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => directory.make_child(name),
            reached => reached,
        })
    }

    fn walk(
        path: &Path,
        step: impl Fn(&Self, &OsStr) -> io::Result<Self>,
    ) -> io::Result<(Self, &OsStr)> {
        let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "no absolute path of a file");
        let (parent, name) = path.parent().zip(path.file_name()).ok_or_else(invalid)?;
        let mut reached = Self(rustix::fs::openat(CWD, "/", STEP, Mode::empty())?);
        for component in parent.components() {
            match component {
                Component::RootDir => {}
                Component::Normal(name) => reached = step(&reached, name)?,
                _ => return Err(invalid()),
            }
        }
        if parent.is_absolute() { Ok((reached, name)) } else { Err(invalid()) }
    }

    /// Reaches a directory in it.
    pub(crate) fn child(&self, name: &OsStr) -> io::Result<Self> {
        match rustix::fs::openat(&self.0, name, STEP, Mode::empty()) {
            Ok(child) => Ok(Self(child)),
            // Beneath a file nothing is, beneath a link something may be.
            Err(Errno::NOTDIR | Errno::LOOP) => Err(match self.stat(name) {
                Ok(found) if found.kind != FileType::Symlink => Errno::NOENT.into(),
                _ => Errno::LOOP.into(),
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a directory in it.
    pub(crate) fn make_child(&self, name: &OsStr) -> io::Result<Self> {
        rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?;
        self.child(name)
    }

    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<ReachedEntry> {
        let found = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        ReachedEntry::of(&found)
    }

    pub(crate) fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        let target = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    /// Opens a file in it to read, never to wait for one.
    pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// Makes a file in it that was not there.
    pub(crate) fn create(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o600))?.into())
    }

    pub(crate) fn make_link(&self, target: &Path, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.0, name)?)
    }

    /// Gives a file in it a second name, which nothing has.
    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::linkat(&self.0, from, &self.0, to, AtFlags::empty())?)
    }

    /// Waits until its names are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(self.readable()?)?)
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// The directory with the names in it, at most so many. Nothing else of it stays open.
    pub(crate) fn with_names(self, names_max: usize) -> io::Result<(Self, Vec<OsString>)> {
        let names = self.list()?.take(names_max).map(|entry| Ok(entry?.name));
        let names = names.collect::<io::Result<_>>()?;
        Ok((self, names))
    }

    /// Its entries, one by one.
    pub(crate) fn list(&self) -> io::Result<impl Iterator<Item = io::Result<ReachedName>> + use<>> {
        let directory = Self(self.0.try_clone()?);
        let entries = Dir::new(self.readable()?)?.filter_map(move |entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error.into())),
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                return None;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => directory.stat(name).map(|found| found.kind),
                kind => Ok(kind),
            };
            Some(kind.map(|kind| ReachedName { name: name.to_owned(), kind }))
        });
        Ok(entries)
    }

    /// Removes what is under a name, with all that lies in it; nothing where nothing is.
    ///
    /// # Errors
    ///
    /// Where it cannot be removed.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        moss_removal::remove(&self.0, name)
    }

    /// Sets the permissions of the directory itself.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(self.readable()?, Mode::from_raw_mode(mode))?)
    }

    /// Sets the permissions of a directory in it, which nobody need be able to enter.
    pub(crate) fn set_mode_of(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode);
        #[cfg(target_os = "linux")]
        {
            // By its descriptor, as before Linux 6.6 no call takes a name and follows no link.
            let child = self.child(name)?;
            let path = format!("/proc/self/fd/{}", child.0.as_raw_fd());
            Ok(rustix::fs::chmod(path, mode)?)
        }
        #[cfg(not(target_os = "linux"))]
        Ok(rustix::fs::chmodat(&self.0, name, mode, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// The same directory, open to be read: it was reached without the right to.
    fn readable(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, ".", flags, Mode::empty())?)
    }
}

// === impl ReachedEntry ===

impl ReachedEntry {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "systems differ in these types, and nothing is counted with them"
    )]
    fn of(found: &rustix::fs::Stat) -> io::Result<Self> {
        Ok(Self {
            kind: FileType::from_raw_mode(found.st_mode),
            mode: Mode::from_raw_mode(found.st_mode).bits() as u32,
            device: found.st_dev as u64,
            inode: found.st_ino as u64,
            links: found.st_nlink as u64,
            length: found.st_size as u64,
            allocated_bytes: found.st_blocks as u64 * BLOCK_BYTES,
            changed_ns: i128::from(found.st_ctime) * 1_000_000_000
                + i128::from(found.st_ctime_nsec),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_is_followed_on_the_way_or_at_the_end() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("away/inner")).unwrap();
        std::os::unix::fs::symlink("away", root.join("link")).unwrap();
        let error = ReachedDirectory::above(&root.join("link/inner/file")).unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::NotFound);
        let error = ReachedDirectory::made_above(&root.join("link/new/file")).unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::NotFound);
        assert!(!root.join("away/new").exists());
        let (directory, _) = ReachedDirectory::above(&root.join("x")).unwrap();
        assert!(directory.create(OsStr::new("link")).is_err());
        directory.remove(OsStr::new("link")).unwrap();
        assert!(root.join("away/inner").exists(), "the link alone is removed");
        assert_eq!(real_of(&root.join("not/there")), root.join("not/there"));
        let beneath_file = root.join("file/inner");
        fs::write(root.join("file"), "").unwrap();
        let error = ReachedDirectory::above(&beneath_file.join("x")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(ReachedDirectory::above(Path::new("relative/x")).is_err());
    }
}
