//! Opening again what was found earlier, by its real path: without links and on the same mount.

use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::handle::{self, Stat};
use crate::mount::Mount;
use crate::options::Resolver;
use crate::root::Workspace;

/// Why a file that was found earlier cannot be read now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotReopened {
    Gone,
    Unreadable,
}

// === impl Workspace ===

impl Workspace {
    /// Opens the directory at a real path.
    pub(crate) fn reopen_directory(&self, real: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        #[cfg(target_os = "linux")]
        if self.resolver == Resolver::Kernel {
            match crate::resolve::kernel::open_at(self, &self.directory, real.as_str(), flags) {
                // It has to be asked for in parts.
                Err(Errno::NAMETOOLONG) => {}
                opened => return opened,
            }
        }
        let mut held = handle::open_at(&self.directory, ".", flags)?;
        for name in real.components() {
            held = handle::open_at(&held, name, flags)?;
            if !self.reaches(Mount::of(&held)?) {
                return Err(Errno::XDEV);
            }
        }
        Ok(held)
    }

    /// Opens a file in its directory and looks at it. It was chosen by its path, and its path leads to
    /// it: another file that has taken the name since is the one to read, unless it is a secret.
    pub(crate) fn reopen_file(
        &self,
        directory: &OwnedFd,
        name: &str,
    ) -> Result<(OwnedFd, Stat), NotReopened> {
        self.reopened(self.open_file_at(directory, name))
    }

    /// As [`Workspace::reopen_file`], by its real path: quicker where its directory is not held.
    pub(crate) fn reopen_file_by_path(
        &self,
        real: &RelPath,
    ) -> Result<(OwnedFd, Stat), NotReopened> {
        #[cfg(target_os = "linux")]
        if self.resolver == Resolver::Kernel {
            let path = real.as_str();
            match crate::resolve::kernel::open_at(self, &self.directory, path, handle::READ) {
                // It has to be asked for in parts.
                Err(Errno::NAMETOOLONG) => {}
                opened => return self.reopened(opened),
            }
        }
        let (Some(above), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(NotReopened::Unreadable);
        };
        self.reopen_file(&self.reopen_directory(&above, handle::DIRECTORY)?, name)
    }

    fn reopened(&self, opened: Result<OwnedFd, Errno>) -> Result<(OwnedFd, Stat), NotReopened> {
        let fd = opened?;
        let stat = handle::stat(&fd).map_err(|_| NotReopened::Unreadable)?;
        if stat.kind != EntryKind::File || self.secrets.contains(stat.identity) {
            return Err(NotReopened::Unreadable);
        }
        Ok((fd, stat))
    }

    fn open_file_at(&self, directory: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
        #[cfg(target_os = "linux")]
        if self.resolver == Resolver::Kernel {
            return crate::resolve::kernel::open_at(self, directory, name, handle::READ);
        }
        let fd = handle::open_at(directory, name, handle::READ)?;
        if self.reaches(Mount::of(&fd)?) { Ok(fd) } else { Err(Errno::XDEV) }
    }
}

// === impl NotReopened ===

impl From<Errno> for NotReopened {
    fn from(errno: Errno) -> Self {
        if errno == Errno::NOENT { Self::Gone } else { Self::Unreadable }
    }
}
