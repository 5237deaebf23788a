//! Whether reading without waiting works in a workspace, and how large a file is read so.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::options::Resolver;

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

    pub(crate) fn works(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Notes that the system or the file system cannot do it.
    pub(crate) fn give_up(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
