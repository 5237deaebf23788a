//! Reading without waiting: files whose names and bytes the kernel has in memory.
//!
//! Most reads are of small files that were just looked at. Handing each to a thread that may wait
//! for a disk costs more than the read. What cannot be read at once is not read here.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, Result};

use crate::handle;
use crate::read::OpenedFile;
use crate::resolve::kernel;
use crate::root::{Resolver, Workspace};

/// Largest file that is read where others wait: its bytes must be worked on there as well.
pub(crate) const BYTES_MAX: u64 = 64 << 10;

/// File systems that keep what they are on a disk of this machine or in its memory: to ask them
/// for what the kernel has cached never means to ask a network.
const LOCAL: &[u64] = &[
    0x0000_ef53, // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0xf2f5_2010, // f2fs
    0x2fc1_2fc1, // zfs
    0x0102_1994, // tmpfs, where the kernel can
];

/// Whether reading without waiting works in a workspace.
#[derive(Debug)]
pub(crate) struct Cached(AtomicBool);

// === impl Cached ===

impl Cached {
    pub(crate) fn new(root: &OwnedFd, resolver: Resolver, same_filesystem_only: bool) -> Self {
        let is_local = || {
            rustix::fs::fstatfs(root).is_ok_and(|found| {
                u64::try_from(found.f_type).is_ok_and(|kind| LOCAL.contains(&kind))
            })
        };
        Self(AtomicBool::new(resolver == Resolver::Kernel && same_filesystem_only && is_local()))
    }

    /// Notes that the system or the file system cannot do it.
    pub(crate) fn give_up(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

// === impl Workspace ===

impl Workspace {
    /// Opens a small regular file for reading as [`Workspace::open_for_reading`] does, and keeps the
    /// same promises, but never waits for a disk; nor does reading it.
    ///
    /// None where it would have to wait, where there is no such file, and where anything else is
    /// not as usual: [`Workspace::open_for_reading`] says what. Reading what it returns may fail
    /// although reading that file would not.
    pub fn open_cached(&self, path: &RelPath) -> Option<OpenedFile<'_>> {
        if !self.cached.0.load(Ordering::Relaxed) || path.is_root() {
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
