//! What has to stay as it is while a command runs: the mounts that cover something, and names that nobody may make.
//!
//! The kernel takes a mount away, from all namespaces, where somebody outside removes or replaces what it lies on:
//! `git config` and most editors write a new file and give it the old one's name.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Access, AtFlags, CWD, StatxFlags, statx};

use crate::ending::{CoverChange, Disturbance};
use crate::order::CoverOrder;

/// Most paths that are looked at each time that nothing says that one of them changed.
const LOOKED_MAX: usize = 256;
/// How long after the first look at what has changed the second one follows.
const SECOND_LOOK: Duration = Duration::from_millis(1);

/// What is looked after.
pub(super) struct CoverWatch {
    /// Says when there are other mounts.
    mounts: Option<File>,
    paths: Vec<WatchedPath>,
    next: usize,
}

struct WatchedPath {
    path: PathBuf,
    kept: CoverState,
}

/// How a path has to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CoverState {
    /// Hidden by a mount of this number. Where nothing is there any more, nothing is read.
    Masked(u64),
    /// Read-only by a mount of this number.
    Protected(u64),
    Missing,
}

/// By which mount a path is seen; none where nothing is there.
fn mount_of(path: &Path) -> io::Result<Option<u64>> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    match statx(CWD, path, flags, StatxFlags::MNT_ID) {
        Ok(found) if StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID) => {
            Ok(Some(found.stx_mnt_id))
        }
        Ok(_) => Err(io::Error::other("kernels distinguish mounts from Linux 5.8 on")),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

// === impl CoverWatch ===

impl CoverWatch {
    /// Begins before there is a command.
    pub(super) fn begin(order: &CoverOrder) -> io::Result<Self> {
        let mut paths = Vec::new();
        // What is no mount of its own was replaced before anybody looked.
        let mounted = |path: &PathBuf| -> io::Result<u64> {
            let around = path.parent().map(mount_of).transpose()?.flatten();
            Ok(mount_of(path)?.filter(|mount| Some(*mount) != around).unwrap_or_default())
        };
        for path in &order.masked {
            paths
                .push(WatchedPath { path: path.clone(), kept: CoverState::Masked(mounted(path)?) });
        }
        for path in &order.protected {
            paths.push(WatchedPath {
                path: path.clone(),
                kept: CoverState::Protected(mounted(path)?),
            });
        }
        let missing = order.missing.iter().cloned();
        paths.extend(missing.map(|path| WatchedPath { path, kept: CoverState::Missing }));
        let mounts = if paths.is_empty() { None } else { File::open("/proc/self/mountinfo").ok() };
        Ok(Self { mounts, paths, next: 0 })
    }

    /// What says that there are other mounts.
    pub(super) fn mounts(&self) -> Option<BorrowedFd<'_>> {
        self.mounts.as_ref().map(|mounts| mounts.as_fd())
    }

    /// Finds what is not as it has to stay: among all, or among the next of them.
    pub(super) fn look(&mut self, is_all: bool) -> Vec<Disturbance> {
        let count = if is_all { self.paths.len() } else { self.paths.len().min(LOOKED_MAX) };
        let first = self.next;
        self.next = (first + count) % self.paths.len().max(1);
        let looked = self.paths.iter().cycle().skip(first).take(count);
        let changed: Vec<_> = looked.filter(|path| path.changed().is_some()).collect();
        if !changed.is_empty() {
            // What covers a file that is removed is gone a moment before the file is.
            std::thread::sleep(SECOND_LOOK);
        }
        changed.into_iter().filter_map(WatchedPath::changed).collect()
    }
}

/// Whether a file can be read by nobody here: another user's, such as passwords of the system.
fn is_out_of_reach(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    let is_own = found.is_ok_and(|found| found.uid() == rustix::process::getuid().as_raw());
    !is_own && rustix::fs::access(path, Access::READ_OK).is_err()
}

/// What is asked about other mounts.
pub(super) fn poll_of(mounts: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(mounts, PollFlags::PRI)
}

// === impl WatchedPath ===

impl WatchedPath {
    fn changed(&self) -> Option<Disturbance> {
        // What cannot be looked at now can later.
        let now = mount_of(&self.path).ok()?;
        let change = match (self.kept, now) {
            (CoverState::Missing, None) | (CoverState::Masked(_), None) => return None,
            (CoverState::Masked(was) | CoverState::Protected(was), Some(now)) if was == now => {
                return None;
            }
            (CoverState::Missing, Some(_)) => CoverChange::Made,
            (CoverState::Masked(_), Some(_)) if is_out_of_reach(&self.path) => return None,
            (CoverState::Masked(_), Some(_)) => CoverChange::Unmasked,
            (CoverState::Protected(_), _) => CoverChange::Unprotected,
        };
        Some(Disturbance { path: self.path.clone(), change })
    }
}
