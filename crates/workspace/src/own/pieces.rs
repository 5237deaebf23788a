//! Large files of moss's own: written and read piece by piece, never held in memory as a whole.

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use cap_std::fs::{Dir, File};
use moss_sdk::file::{FileLines, LineWindow};

use super::OwnDir;
use super::checked::{check_file, failed, options, present};
use crate::error::Error;
use crate::lines::ReplacingLines;
use crate::temp_name::temp_name;

/// Bytes that are read at once where a whole file is gone through.
const PIECE_BYTES: u64 = 64 << 10;

/// A file that lies under another name until it is whole. Dropped before, it is removed.
#[derive(Debug)]
pub struct OwnDraft {
    /// What the file is going to be called.
    path: PathBuf,
    name: String,
    temp: String,
    directory: Dir,
    file: File,
    is_kept: bool,
}

/// A file that grows: what is written goes to its end.
#[derive(Debug)]
pub struct OwnAppender(std::fs::File);

/// A file that is read at positions. It stays the same one when its name is given to another.
#[derive(Debug)]
pub struct OwnReader {
    path: PathBuf,
    file: std::fs::File,
    size_bytes: u64,
}

// === impl OwnDir ===

impl OwnDir {
    /// Begins a file that replaces the one of this name once it is whole.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn draft(&self, name: &str) -> Result<OwnDraft, Error> {
        let path = self.named(name)?;
        let temp = temp_name()?;
        let directory = self.directory.try_clone().map_err(failed(&self.path, "open"))?;
        let opened = directory.open_with(&temp, options().write(true).create_new(true));
        let file = opened.map_err(failed(&path, "write"))?;
        Ok(OwnDraft { path, name: name.to_owned(), temp, directory, file, is_kept: false })
    }

    /// Opens a file to write to its end, making it where it is missing.
    ///
    /// # Errors
    ///
    /// As [`OwnDir::append`].
    pub fn appender(&self, name: &str) -> Result<OwnAppender, Error> {
        Ok(OwnAppender(self.append(name)?))
    }

    /// Opens a file to read pieces of it; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// `Own` where it is not a regular file of the user; `Io`.
    pub fn reader(&self, name: &str) -> Result<Option<OwnReader>, Error> {
        let path = self.named(name)?;
        let opened = present(self.directory.open_with(name, options().read(true)));
        let Some(file) = opened.map_err(failed(&path, "open"))? else { return Ok(None) };
        check_file(&path, &file)?;
        let size_bytes = file.metadata().map_err(failed(&path, "look at"))?.len();
        Ok(Some(OwnReader { path, file: file.into_std(), size_bytes }))
    }
}

// === impl OwnAppender ===

impl OwnAppender {
    /// Returns how much of its disk is left to the user; none where the system does not say.
    pub fn free_bytes(&self) -> Option<u64> {
        let disk = rustix::fs::fstatvfs(&self.0).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

impl std::io::Write for OwnAppender {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

// === impl OwnDraft ===

impl OwnDraft {
    /// Writes after what is written already.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(failed(&self.path, "write"))
    }

    /// Gives the file its name, durably; readers see the old or the new content.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn finish(mut self) -> Result<(), Error> {
        let synced = self.file.sync_all();
        let renamed =
            synced.and_then(|()| self.directory.rename(&self.temp, &self.directory, &self.name));
        renamed.map_err(failed(&self.path, "replace"))?;
        self.is_kept = true;
        let directory = self.directory.open(".").and_then(|directory| directory.sync_all());
        directory.map_err(failed(&self.path, "replace"))
    }
}

impl Drop for OwnDraft {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = self.directory.remove_file(&self.temp);
        }
    }
}

// === impl OwnReader ===

impl OwnReader {
    /// Most bytes of memory that reading a window of lines takes, beside the window itself.
    pub const READING_BYTES: u64 = 4 * PIECE_BYTES;

    /// Returns the size that the file had when it was opened.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Reads a window of its lines, in constant memory: less than [`OwnReader::READING_BYTES`] beside the window. The
    /// hash is over the whole file, and U+FFFD stands for what is no UTF-8.
    ///
    /// # Errors
    ///
    /// `Io`; `Cancelled` where nobody waits for it any more.
    pub fn read_lines(
        &self,
        window: LineWindow,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<FileLines, Error> {
        let mut lines = ReplacingLines::new(window, self.size_bytes);
        let mut buffer = Vec::new();
        let mut position = 0;
        while position < self.size_bytes {
            if cancelled() {
                return Err(Error::Cancelled);
            }
            let bytes = PIECE_BYTES.min(self.size_bytes - position);
            buffer.resize(usize::try_from(bytes).unwrap_or_default(), 0);
            self.read_exact_at(&mut buffer, position)?;
            lines.push(&buffer);
            position += bytes;
        }
        Ok(lines.finish())
    }

    /// Fills a buffer with what lies at a position.
    ///
    /// # Errors
    ///
    /// `Io`, also where the file ends before.
    pub fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> Result<(), Error> {
        self.file.read_exact_at(buffer, position).map_err(failed(&self.path, "read"))
    }
}
