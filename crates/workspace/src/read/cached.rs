//! Reading without waiting: files whose names and bytes the kernel has in memory.
//!
//! Most reads are of small files that were just looked at. Handing each to a thread that may wait
//! for a disk costs more than the read. What cannot be read at once is not read here.

use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, Result};

use super::OpenedFile;
use crate::cached::BYTES_MAX;
use crate::handle::{self, Identity};
use crate::resolve::kernel;
use crate::root::Workspace;

// === impl Workspace ===

impl Workspace {
    /// Opens a small regular file for reading as [`Workspace::open_for_reading`] does, and keeps the
    /// same promises, but never waits for a disk; nor does reading it.
    ///
    /// None where it would have to wait, where there is no such file, and where anything else is
    /// not as usual: [`Workspace::open_for_reading`] says what. Reading what it returns may fail
    /// although reading that file would not.
    pub fn open_cached(&self, path: &RelPath) -> Option<OpenedFile<'_>> {
        if !self.cached.works() || path.is_root() {
            return None;
        }
        match self.open_at_once(path) {
            Ok(opened) => opened,
            Err(errno) => {
                // Kernels before 5.12 do not know how to resolve without waiting.
                if errno == Errno::INVAL {
                    self.cached.give_up();
                }
                None
            }
        }
    }

    /// Says which directory a path leads to, where it is its own real path and nobody has to wait for a
    /// disk to say so.
    pub(crate) fn directory_cached(&self, path: &RelPath) -> Option<Identity> {
        if !self.cached.works() {
            return None;
        }
        let hold = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let held = self.open_if_cached(path, hold, ResolveFlags::NO_SYMLINKS).ok()?;
        let stat = handle::stat(&held).ok()?;
        let is_sure = self.is_surely_listed(path).ok()? && !self.secrets.contains(stat.identity);
        is_sure.then_some(stat.identity)
    }

    fn open_at_once(&self, path: &RelPath) -> Result<Option<OpenedFile<'_>>> {
        let hold = OFlags::PATH | OFlags::CLOEXEC;
        // Where no link is on the way, the way is the real path, and nobody has to be asked for it.
        let (held, is_real) = match self.open_if_cached(path, hold, ResolveFlags::NO_SYMLINKS) {
            Ok(held) => (held, true),
            Err(Errno::LOOP) => (self.open_if_cached(path, hold, ResolveFlags::empty())?, false),
            Err(errno) => return Err(errno),
        };
        let stat = handle::stat(&held)?;
        if stat.kind != EntryKind::File || stat.size_bytes > BYTES_MAX {
            return Ok(None);
        }
        let real = match is_real {
            true => path.clone(),
            false => match kernel::real_path(self, &held, path) {
                Ok(Some(real)) => real,
                _ => return Ok(None),
            },
        };
        if !self.is_surely_listed(&real)? {
            return Ok(None);
        }
        let fd = self.open_if_cached(&real, handle::READ, ResolveFlags::NO_SYMLINKS)?;
        // As everywhere, a real name is believed only where it leads to the same file.
        let opened = handle::stat(&fd)?;
        let is_same = opened.identity == stat.identity && !self.secrets.contains(stat.identity);
        Ok(is_same.then(|| OpenedFile::cached(self, path.clone(), real, fd, opened)))
    }

    fn open_if_cached(&self, path: &RelPath, flags: OFlags, more: ResolveFlags) -> Result<OwnedFd> {
        let resolve = kernel::beneath(self) | ResolveFlags::CACHED | more;
        rustix::fs::openat2(&self.directory, path.as_str(), flags, Mode::empty(), resolve)
    }
}
