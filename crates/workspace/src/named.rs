//! Files that a person names on the command line: read as they come, of any size, and written as a
//! whole. Nothing here is a workspace: no tool can reach it.

#![cfg_attr(
    not(test),
    expect(clippy::disallowed_methods, reason = "the person at the terminal names the file")
)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests look from outside"))]

use std::fs;
use std::io;
use std::path::Path;

use crate::error::Error;

/// A file that is read.
#[derive(Debug)]
pub struct NamedFile {
    file: fs::File,
    size_bytes: Option<u64>,
}

/// Opens a file to read it. A pipe is read as well.
///
/// # Errors
///
/// Where there is no such file, it cannot be read, or it is a directory.
pub fn open(file: &Path) -> Result<NamedFile, Error> {
    let failed = |error| Error::std_io(&file.display(), "open", error);
    let opened = fs::File::open(file).map_err(failed)?;
    let metadata = opened.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    let size_bytes = metadata.is_file().then_some(metadata.len());
    Ok(NamedFile { file: opened, size_bytes })
}

/// Writes a file, in place of what it held.
///
/// # Errors
///
/// Where it cannot be written.
pub fn write(file: &Path, content: &[u8]) -> Result<(), Error> {
    fs::write(file, content).map_err(|error| Error::std_io(&file.display(), "write", error))
}

// === impl NamedFile ===

impl NamedFile {
    /// Its size, where it is a regular file.
    pub fn size_bytes(&self) -> Option<u64> {
        self.size_bytes
    }
}

impl io::Read for NamedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn files_are_read_and_written_and_directories_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a");
        assert!(open(&file).is_err());
        write(&file, b"one").unwrap();
        write(&file, b"2").unwrap();
        let mut opened = open(&file).unwrap();
        let mut text = String::new();
        opened.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), opened.size_bytes()), ("2", Some(1)));
        assert!(open(directory.path()).is_err());
        assert!(write(directory.path(), b"").is_err());
    }
}
