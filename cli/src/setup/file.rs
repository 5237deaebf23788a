//! The configuration file of another program: read and replaced as a whole, with the permission bits that
//! it has. It is neither a workspace's nor moss's own, so no other door leads to it.
#![expect(
    clippy::disallowed_methods,
    reason = "the door to files of clients, which lie where the clients want them"
)]

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use moss_dispatch::Outcome;
use rustix::fs::OFlags;

use super::shown;
use crate::error::CliError;

/// Largest configuration file that is edited, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Permission bits of a file that is new.
const NEW_MODE: u32 = 0o600;
/// What stands behind the name of a file while it is written.
const DRAFT: &str = "moss-draft";
/// Most links that are followed, one after another.
const LINKS_MAX: usize = 40;
/// A FIFO that nobody writes does not block, a terminal does not become ours.
const READ_FLAGS: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// Reads a file; `None` if it does not exist.
///
/// # Errors
///
/// Where it is no regular file, too large or not UTF-8, or cannot be read.
pub(super) fn read(path: &Path) -> Result<Option<String>, CliError> {
    let failed = |why: &dyn std::fmt::Display| unusable(path, why);
    let mut options = fs::OpenOptions::new();
    options.read(true).custom_flags(READ_FLAGS.bits().cast_signed());
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error)),
    };
    if !file.metadata().map_err(|error| failed(&error))?.is_file() {
        return Err(failed(&"not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(failed(&format!("larger than {FILE_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| failed(&"not UTF-8"))
}

/// Where a file is written: what the links of its name lead to, there or not.
///
/// # Errors
///
/// Where they lead into a directory that does not exist.
pub(super) fn target(path: &Path) -> Result<PathBuf, CliError> {
    if let Ok(real) = path.canonicalize() {
        return Ok(real);
    }
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = fs::read_link(&target) else {
            return match target == path || target.parent().is_some_and(Path::is_dir) {
                true => Ok(target),
                false => Err(unusable(
                    path,
                    &format!(
                        "its link leads to {}, whose directory does not exist",
                        shown(&target)
                    ),
                )),
            };
        };
        target = target.parent().unwrap_or(&target).join(next);
    }
    Err(unusable(path, &"too many links"))
}

/// Replaces a file as a whole, and makes its directory where that is missing; none removes the file. What
/// a link leads to is written or removed, and the link stays.
///
/// # Errors
///
/// Where it cannot be written.
pub(super) fn write(path: &Path, text: Option<&str>) -> Result<(), CliError> {
    let real = target(path)?;
    let written = match text {
        Some(text) => replace(&real, text),
        None => fs::remove_file(&real),
    };
    written.map_err(|error| unusable(path, &error))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(directory)?;
    let mode = fs::metadata(path).map_or(NEW_MODE, |known| known.permissions().mode() & 0o777);
    let draft = draft(path);
    let written = (|| {
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(NEW_MODE).open(&draft)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()?;
        fs::rename(&draft, path)?;
        fs::File::open(directory)?.sync_all()
    })();
    if written.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::AlreadyExists) {
        // What is half written is of no use; the error says what went wrong.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn draft(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{DRAFT}", std::process::id()));
    path.with_file_name(name)
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> CliError {
    CliError::new(Outcome::Failed, "config_unusable", format!("{}: {why}", shown(path)))
}
