//! Files that stay open after the look at their names: read in parts, without their names.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use moss_sdk::RelPath;
use rustix::io::Errno;

use crate::error::Error;
use crate::handle::{self, Patience};
use crate::look::PathInfo;
use crate::read::{OpenedFile, check_size};

/// Largest file that is read when it is opened, in bytes: reading it later would cost more than it
/// takes in memory.
const BYTES_MAX: u64 = 64 << 10;

/// A regular file that is held open. It stays the very file that was opened, whatever becomes of
/// its name; a small one also keeps the content that it had.
#[derive(Debug)]
pub struct HeldFile {
    path: RelPath,
    looked: PathInfo,
    content: HeldContent,
}

#[derive(Debug)]
enum HeldContent {
    Text(Arc<str>),
    Bytes(Vec<u8>),
    File(OwnedFd),
}

// === impl OpenedFile ===

impl OpenedFile<'_> {
    /// Holds the file open, up to [`Limits::read_bytes_max`](crate::FileLimits). What an editor has not
    /// saved of it is its content as it is now.
    ///
    /// # Errors
    ///
    /// `TooLarge`; what the system refuses.
    pub fn hold(self) -> Result<HeldFile, Error> {
        let Self { workspace, path, real, fd, stat, patience, unsaved, .. } = self;
        let mut looked = PathInfo::new(real, &stat);
        let content = if let Some(text) = unsaved {
            HeldContent::Text(text)
        } else {
            check_size(&path, stat.size_bytes, workspace.limits().read())?;
            HeldContent::read(fd, stat.size_bytes, patience)
                .map_err(|errno| workspace.unread(&path, errno))?
        };
        if let Some(bytes) = content.in_memory() {
            looked.size_bytes = bytes.len() as u64;
        }
        Ok(HeldFile { path, looked, content })
    }
}

// === impl HeldContent ===

impl HeldContent {
    fn read(fd: OwnedFd, size_bytes: u64, patience: Patience) -> Result<Self, Errno> {
        if size_bytes <= BYTES_MAX {
            let bytes = handle::read_to(&fd, BYTES_MAX, patience)?;
            // Otherwise it has grown since.
            if bytes.len() as u64 <= BYTES_MAX {
                return Ok(Self::Bytes(bytes));
            }
        }
        Ok(Self::File(fd))
    }

    fn in_memory(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) => Some(text.as_bytes()),
            Self::Bytes(bytes) => Some(bytes),
            Self::File(_) => None,
        }
    }
}

// === impl HeldFile ===

impl HeldFile {
    /// Returns what it was when it was opened.
    pub fn looked(&self) -> &PathInfo {
        &self.looked
    }

    /// As [`HeldFile::read_at`], without waiting; none where the content is not held in memory.
    pub fn part_in_memory(&self, offset: u64, bytes_max: usize) -> Option<&[u8]> {
        let bytes = self.content.in_memory()?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let end = start.saturating_add(bytes_max).min(bytes.len());
        Some(&bytes[start..end])
    }

    /// Reads at most so many bytes from an offset; fewer only at the end. May wait for a disk.
    ///
    /// # Errors
    ///
    /// What the system refuses.
    pub fn read_at(&self, offset: u64, bytes_max: usize) -> Result<Vec<u8>, Error> {
        let HeldContent::File(fd) = &self.content else {
            return Ok(self.part_in_memory(offset, bytes_max).unwrap_or_default().to_vec());
        };
        let mut bytes = vec![0; bytes_max];
        let mut filled = 0;
        while filled < bytes_max {
            match rustix::io::pread(fd, &mut bytes[filled..], offset.saturating_add(filled as u64))
            {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(Errno::INTR) => {}
                // Further than any file reaches.
                Err(Errno::INVAL | Errno::OVERFLOW) if i64::try_from(offset).is_err() => break,
                Err(errno) => return Err(Error::io(&self.path, "read", errno)),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}
