//! Whether files of the workspace can be exchanged atomically. That is only certain after doing
//! it, and doctor writes nothing into a project: known file systems are recognized by their type.

use std::path::Path;

use super::Check;

const NAME: &str = "file system";

/// File systems of Linux that can exchange two names, by the numbers in `linux/magic.h`.
#[cfg(target_os = "linux")]
const EXCHANGING: &[(u64, &str)] = &[
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x0102_1994, "tmpfs"),
    (0x794c_7630, "overlayfs"),
    (0xf2f5_2010, "f2fs"),
    (0xca45_1a4e, "bcachefs"),
    (0x2fc1_2fc1, "zfs"),
];

/// Looks at the file system of a directory.
#[cfg(target_os = "linux")]
pub(super) fn check(root: &Path) -> Check {
    let kind = match rustix::fs::statfs(root) {
        // Sign-extended on some systems: the numbers have 32 bits.
        Ok(stat) => u64::try_from(stat.f_type & 0xffff_ffff).unwrap_or_default(),
        Err(errno) => return Check::fail(NAME, errno.to_string(), "look at the mount"),
    };
    match EXCHANGING.iter().find(|(number, _)| *number == kind) {
        Some((_, name)) => Check::ok(NAME, format!("{name}: files are exchanged atomically")),
        None => Check::warn(
            NAME,
            format!("type {kind:#x}: atomic exchange is not certain"),
            "nothing to do: files are replaced by renaming where they cannot be exchanged",
        ),
    }
}

/// Looks at nothing: there is no list of types.
#[cfg(not(target_os = "linux"))]
pub(super) fn check(_: &Path) -> Check {
    Check::ok(NAME, "files are exchanged where the file system can, else renamed")
}
