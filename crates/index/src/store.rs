//! Where the index keeps its files: a directory of moss's own.

use std::any::Any;
use std::time::Duration;

use moss_workspace::Error;
use moss_workspace::own::{OwnDir, OwnDraft, OwnReader};

/// The file that whoever has the directory has locked.
pub(crate) const LOCK: &str = "index.lock";

/// A directory for the files of an index.
pub trait IndexStore: Send + Sync {
    /// Takes the directory for this process; it is free again when the value is dropped.
    ///
    /// # Errors
    ///
    /// `Busy` where another process has it.
    fn lock(&self) -> Result<Box<dyn Any + Send + Sync>, Error>;

    /// Returns the names of its files.
    ///
    /// # Errors
    ///
    /// As those of the directory.
    fn names(&self) -> Result<Vec<String>, Error>;

    /// Reads a file of up to `bytes_max`; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// As those of the directory.
    fn read(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, Error>;

    /// Replaces a file as a whole, durably.
    ///
    /// # Errors
    ///
    /// As those of the directory.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error>;

    /// Opens a file to read pieces of it; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// As those of the directory.
    fn reader(&self, name: &str) -> Result<Option<Box<dyn StoredPieces>>, Error>;

    /// Begins a file that has its name once it is whole.
    ///
    /// # Errors
    ///
    /// As those of the directory.
    fn draft(&self, name: &str) -> Result<Box<dyn StoredDraft>, Error>;

    /// Removes a file; a missing one is fine.
    ///
    /// # Errors
    ///
    /// As those of the directory.
    fn remove(&self, name: &str) -> Result<(), Error>;
}

/// A file that is read at positions.
pub trait StoredPieces: Send + Sync {
    /// Returns its size as of when it was opened.
    fn size_bytes(&self) -> u64;

    /// Fills a buffer with what lies at a position.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or ends before.
    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> Result<(), Error>;
}

/// A file that is being written. Dropped before it is finished, it is gone.
pub trait StoredDraft: Send {
    /// Writes after what is written already.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error>;

    /// Gives it its name, durably.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    fn finish(self: Box<Self>) -> Result<(), Error>;
}

impl IndexStore for OwnDir {
    fn lock(&self) -> Result<Box<dyn Any + Send + Sync>, Error> {
        let lock = self.lock(LOCK, Duration::ZERO)?;
        // The time of the lock is when the index was used last.
        self.touch(LOCK)?;
        Ok(Box::new(lock))
    }

    fn names(&self) -> Result<Vec<String>, Error> {
        let names = self.files()?.into_iter().map(|file| file.name);
        Ok(names.filter(|name| name != LOCK).collect())
    }

    fn read(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        self.read(name, bytes_max)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.write(name, bytes)
    }

    fn reader(&self, name: &str) -> Result<Option<Box<dyn StoredPieces>>, Error> {
        let reader = self.reader(name)?;
        Ok(reader.map(|reader| Box::new(reader) as Box<dyn StoredPieces>))
    }

    fn draft(&self, name: &str) -> Result<Box<dyn StoredDraft>, Error> {
        Ok(Box::new(self.draft(name)?))
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        self.remove(name)
    }
}

impl StoredPieces for OwnReader {
    fn size_bytes(&self) -> u64 {
        self.size_bytes()
    }

    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> Result<(), Error> {
        self.read_exact_at(buffer, position)
    }
}

impl StoredDraft for OwnDraft {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write(bytes)
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        (*self).finish()
    }
}
