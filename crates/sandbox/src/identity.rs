//! Which file a mount is to show, by its number: what is mounted by its name may be another one by then.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{fstat, lstat};

use crate::wire::{Decoder, Encoder};

/// What was opened before it was mounted, and where it is to be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MountIdentity {
    pub(crate) at: PathBuf,
    device: u64,
    inode: u64,
}

// === impl MountIdentity ===

impl MountIdentity {
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    pub(crate) fn of(at: &Path, opened: &OwnedFd) -> io::Result<Self> {
        let found = fstat(opened)?;
        Ok(Self { at: at.to_owned(), device: found.st_dev as u64, inode: found.st_ino as u64 })
    }

    /// Whether that very file is seen there.
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    pub(crate) fn is_seen(&self) -> bool {
        lstat(&self.at).is_ok_and(|found| {
            (found.st_dev as u64, found.st_ino as u64) == (self.device, self.inode)
        })
    }

    pub(crate) fn encode(&self, message: &mut Encoder) {
        message.text(&self.at).number(self.device).number(self.inode);
    }

    pub(crate) fn decode(message: &mut Decoder<'_>) -> io::Result<Self> {
        let at = message.text()?.into();
        Ok(Self { at, device: message.number()?, inode: message.number()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_has_taken_a_name_since_is_not_what_was_opened() {
        let root = tempfile::tempdir().unwrap();
        let (path, other) = (root.path().join("file"), root.path().join("other"));
        fs::write(&path, "x").unwrap();
        let opened = fs::File::open(&path).unwrap().into();
        let identity = MountIdentity::of(&path, &opened).unwrap();
        assert!(identity.is_seen());
        fs::rename(&path, &other).unwrap();
        assert!(!identity.is_seen(), "it is gone");
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(!identity.is_seen(), "a link leads to it");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "x").unwrap();
        assert!(!identity.is_seen(), "it is another one");
        fs::rename(&other, &path).unwrap();
        assert!(identity.is_seen());
    }
}
