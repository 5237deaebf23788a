//! Which file systems take names besides those that they list, recognized by their types.

use std::os::fd::{AsFd, OwnedFd};

#[cfg(target_os = "linux")]
use rustix::{fs::IFlags, io::Errno};

#[cfg(target_os = "linux")]
use crate::handle;

/// Where a file system can have names besides those that it lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aliases {
    /// In no directory, or it reports the listed name by itself.
    #[cfg(target_os = "linux")]
    None,
    /// In directories that are marked to ignore letter case.
    #[cfg(target_os = "linux")]
    InFoldedDirectories,
    /// In any directory: the file system as a whole ignores letter case, or may.
    Everywhere,
}

// === impl Aliases ===

impl Aliases {
    /// Reports by the type of the file system that a directory lies on.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(directory: impl AsFd) -> Self {
        let kind =
            rustix::fs::fstatfs(directory).ok().and_then(|found| u64::try_from(found.f_type).ok());
        Self::of_kind(kind.unwrap_or_default(), |feature| {
            // No file of a workspace: what the kernel says of itself.
            rustix::fs::access(feature, rustix::fs::Access::EXISTS).is_ok()
        })
    }

    /// See the Linux version: file systems of other systems ignore case by default.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(_directory: impl AsFd) -> Self {
        Self::Everywhere
    }

    /// A type that is not known here may have aliases: those of FAT, NTFS, SMB, WSL and FUSE do.
    #[cfg(target_os = "linux")]
    fn of_kind(kind: u64, exists: impl Fn(&str) -> bool) -> Self {
        let folds = |feature: Option<&str>| {
            // Where the kernel does not say what it can, it may be able to.
            let can = match feature {
                Some(feature) => exists(feature) || !exists("/sys/fs/ext4/features"),
                None => true,
            };
            if can { Self::InFoldedDirectories } else { Self::None }
        };
        match kind {
            // ext2, ext3, ext4
            0x0000_ef53 => folds(Some("/sys/fs/ext4/features/casefold")),
            // tmpfs
            0x0102_1994 => folds(Some("/sys/fs/tmpfs/features/casefold")),
            // f2fs, overlayfs, bcachefs
            0xf2f5_2010 | 0x794c_7630 | 0xca45_1a4e => folds(None),
            // xfs, btrfs, ramfs, squashfs, erofs; and zfs, which reports the listed name.
            0x5846_5342 | 0x9123_683e | 0x8584_58f6 | 0x7371_7368 | 0xe0f5_e1e2 | 0x2fc1_2fc1 => {
                Self::None
            }
            _ => Self::Everywhere,
        }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn are_in(self, directory: &OwnedFd) -> bool {
        match self {
            Self::None => false,
            Self::InFoldedDirectories => is_folded(directory),
            Self::Everywhere => true,
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn are_in(self, _directory: &OwnedFd) -> bool {
        true
    }
}

/// Whether a directory is marked to ignore letter case, or may be.
#[cfg(target_os = "linux")]
fn is_folded(directory: &OwnedFd) -> bool {
    may_fold(handle::readable(directory).and_then(rustix::fs::ioctl_getflags))
}

/// What the flags of a directory say. One that cannot be read cannot be asked: it may be marked. One whose file system
/// has no flags is not, and nothing is in one that was removed.
#[cfg(target_os = "linux")]
fn may_fold(flags: rustix::io::Result<IFlags>) -> bool {
    /// The flag of the system that is called `FS_CASEFOLD_FL`.
    const CASEFOLD: u32 = 0x4000_0000;
    match flags {
        Ok(flags) => flags.bits() & CASEFOLD != 0,
        Err(Errno::NOTTY | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::NOENT) => false,
        Err(_) => true,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_cannot_be_asked_may_ignore_letter_case() {
        for (flags, folds) in [
            (Ok(IFlags::from_bits_retain(0x4000_0000)), true),
            (Ok(IFlags::empty()), false),
            (Err(Errno::NOTTY), false),
            (Err(Errno::OPNOTSUPP), false),
            (Err(Errno::ACCESS), true),
            (Err(Errno::MFILE), true),
        ] {
            assert_eq!(may_fold(flags), folds, "{flags:?}");
        }
    }

    #[test]
    fn only_file_systems_that_can_have_aliases_are_asked() {
        let of =
            |kind, features: &[&str]| Aliases::of_kind(kind, |feature| features.contains(&feature));
        let features = ["/sys/fs/ext4/features", "/sys/fs/ext4/features/casefold"];
        // msdos and vfat, exfat, ntfs3, cifs, smb2, 9p, FUSE, NFS, hfsplus, something new.
        for kind in [
            0x4d44,
            0x2011_bab0,
            0x7366_746e,
            0xff53_4d42,
            0xfe53_4d42,
            0x0102_1997,
            0x6573_5546,
            0x6969,
            0x482b,
            0x1234_5678,
        ] {
            assert_eq!(of(kind, &features), Aliases::Everywhere, "{kind:x}");
        }
        for kind in [0x5846_5342, 0x9123_683e] {
            assert_eq!(of(kind, &features), Aliases::None, "{kind:x}");
        }
        assert_eq!(of(0xef53, &features), Aliases::InFoldedDirectories);
        assert_eq!(of(0xef53, &features[..1]), Aliases::None);
        assert_eq!(of(0x0102_1994, &features), Aliases::None);
        // Nobody says what the kernel can.
        assert_eq!(of(0xef53, &[]), Aliases::InFoldedDirectories);
    }
}
