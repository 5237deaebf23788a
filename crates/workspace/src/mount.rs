//! Which mount a file lies on.

use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::handle;

/// The mount that a file lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mount {
    device: u64,
    /// Reports bind mounts of one device apart, where the system can.
    id: Option<u64>,
}

// === impl Mount ===

impl Mount {
    pub(crate) fn of(fd: impl AsFd) -> Result<Self, Errno> {
        let device = handle::stat(&fd)?.identity.device;
        Ok(Self { device, id: mount_id(fd)? })
    }
}

#[cfg(target_os = "linux")]
fn mount_id(fd: impl AsFd) -> Result<Option<u64>, Errno> {
    use rustix::fs::{AtFlags, StatxFlags};
    match rustix::fs::statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID) {
        Ok(found) if found.stx_mask & StatxFlags::MNT_ID.bits() != 0 => Ok(Some(found.stx_mnt_id)),
        Ok(_) | Err(Errno::NOSYS | Errno::PERM) => Ok(None),
        Err(errno) => Err(errno),
    }
}

#[cfg(not(target_os = "linux"))]
fn mount_id(_: impl AsFd) -> Result<Option<u64>, Errno> {
    Ok(None)
}
