//! What is checked of a file before it is believed: whose it is, who else can write it, how large
//! it is.
//!
//! The flags of opening and the number of the user are rustix's: `cap_std` has no words for them.

use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{File, FileType, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

use crate::error::Error;

pub(super) const PRIVATE: u32 = 0o600;
/// A FIFO does not block, a terminal does not become ours.
const FLAGS: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// Reads a configuration file that only its owner may write: the user, or the super-user. None
/// where there is no such file.
///
/// # Errors
///
/// `Own` where it is not a regular file, is larger than `bytes_max`, or could have been written by
/// somebody else; `Io`.
pub fn read_trusted(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
    let file = present(open(path)).map_err(failed(path, "open"))?;
    file.map(|file| read_bounded(path, file, bytes_max)).transpose()
}

/// Reads a secret that a person names, a credential or a private key: a file that nobody else may
/// even read.
///
/// # Errors
///
/// `Own` where it is not a regular file of the user's or the super-user's, is larger than
/// `bytes_max`, or could have been read by somebody else; `Io`.
pub fn read_secret(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Error> {
    let file = open(path).map_err(failed(path, "open"))?;
    let metadata = file.metadata().map_err(failed(path, "look at"))?;
    if metadata.is_file() && metadata.mode() & 0o077 != 0 {
        let reason = format!("can be read by other users: run `chmod 600 {}`", path.display());
        return Err(refused(path, reason));
    }
    read_bounded(path, file, bytes_max)
}

pub(super) fn refused(path: &Path, reason: impl Into<String>) -> Error {
    Error::Own { path: path.display().to_string(), reason: reason.into() }
}

pub(super) fn failed(path: &Path, action: &'static str) -> impl Fn(io::Error) -> Error {
    move |error| Error::std_io(&path.display(), action, error)
}

/// What was found; none where there is nothing.
pub(super) fn present<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// How a file is opened: never through a link at the end; private where it is made.
pub(super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.follow(FollowSymlinks::No).custom_flags(FLAGS.bits().cast_signed()).mode(PRIVATE);
    options
}

/// Opens a file that a person names, also through a link.
fn open(path: &Path) -> io::Result<File> {
    let mut options = options();
    options.follow(FollowSymlinks::Yes).read(true);
    File::open_ambient_with(path, &options, ambient_authority())
}

/// Refuses what belongs to somebody else or can be written by others.
pub(super) fn check(path: &Path, metadata: &Metadata, expected: FileType) -> Result<(), Error> {
    if metadata.file_type() != expected {
        let what = if expected.is_dir() { "a directory" } else { "a regular file" };
        return Err(refused(path, format!("is not {what}")));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() && metadata.uid() != 0 {
        return Err(refused(path, "belongs to another user"));
    }
    if metadata.mode() & 0o022 != 0 {
        let reason = format!("can be written by other users: run `chmod go-w {}`", path.display());
        return Err(refused(path, reason));
    }
    Ok(())
}

pub(super) fn check_file(path: &Path, file: &File) -> Result<(), Error> {
    let metadata = file.metadata().map_err(failed(path, "look at"))?;
    check(path, &metadata, FileType::file())
}

/// Reads a file that is as it should be.
pub(super) fn read_bounded(path: &Path, file: File, bytes_max: u64) -> Result<Vec<u8>, Error> {
    check_file(path, &file)?;
    let mut bytes = Vec::new();
    let mut bounded = file.take(bytes_max.saturating_add(1));
    bounded.read_to_end(&mut bytes).map_err(failed(path, "read"))?;
    if bytes.len() as u64 <= bytes_max {
        return Ok(bytes);
    }
    Err(refused(path, format!("is larger than {bytes_max} bytes")))
}

/// Whether a name is that of an entry of a directory, and no path.
pub(super) fn is_single(name: &str) -> bool {
    !(name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']))
}
