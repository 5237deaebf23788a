//! The configuration file of another program: read and replaced as a whole, with the permission bits that
//! it has. It is neither a workspace's nor moss's own, so no other door leads to it.
#![expect(
    clippy::disallowed_methods,
    reason = "the door to files of clients, which lie where the clients want them"
)]

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use moss_dispatch::Outcome;
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::{changed_meanwhile, shown};
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

/// Replaces a file as a whole, and makes its directory where that is missing; no `text` removes the file. What
/// a link leads to is written or removed, and the link stays. `before` is what the file has to hold until then:
/// what another program writes meanwhile stays.
///
/// # Errors
///
/// Where it cannot be written, and where it holds something else by now.
pub(super) fn write(path: &Path, before: Option<&str>, text: Option<&str>) -> Result<(), CliError> {
    let real = target(path)?;
    let written = match text {
        Some(text) => replace(&real, before, text),
        None if !holds(&real, before) => Ok(false),
        None => fs::remove_file(&real).map(|()| true),
    };
    match written.map_err(|error| unusable(path, &error))? {
        true => Ok(()),
        false => Err(changed_meanwhile(path)),
    }
}

/// Whether a file has other names, which lead to what it was before once it is replaced.
pub(super) fn has_other_names(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| known.nlink() > 1)
}

/// Replaces a file that still holds what it has to. Returns whether it did.
fn replace(path: &Path, before: Option<&str>, text: &str) -> io::Result<bool> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(directory)?;
    let mode = fs::metadata(path).map_or(NEW_MODE, |known| known.permissions().mode() & 0o777);
    let draft = draft(path);
    let drafted = write_draft(&draft, text, mode);
    if drafted.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
        return drafted.map(|()| false);
    }
    let is_put = drafted.and_then(|()| put(&draft, path, before));
    // Where it is still there it holds half a text, or what was replaced.
    let _ = fs::remove_file(&draft);
    let is_put = is_put?;
    fs::File::open(directory)?.sync_all()?;
    Ok(is_put)
}

fn write_draft(draft: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut file =
        fs::OpenOptions::new().write(true).create_new(true).mode(NEW_MODE).open(draft)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.sync_all()
}

/// Puts a draft in the place of a file that still holds what it has to. Returns whether it did. The file is compared
/// once more when it is out of its place: another program may write between a comparison and what follows it.
fn put(draft: &Path, path: &Path, before: Option<&str>) -> io::Result<bool> {
    if !holds(path, before) {
        return Ok(false);
    }
    let flags = if before.is_some() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
    match renameat_with(CWD, draft, CWD, path, flags) {
        Ok(()) if before.is_none() || holds(draft, before) => Ok(true),
        Ok(()) => {
            renameat_with(CWD, draft, CWD, path, flags)?;
            Ok(false)
        }
        // It came meanwhile, or went.
        Err(Errno::EXIST | Errno::NOENT) => Ok(false),
        // Not every file system can do that.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => fs::rename(draft, path).map(|()| true),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether a file holds a text. What cannot be read is another one.
fn holds(path: &Path, text: Option<&str>) -> bool {
    read(path).is_ok_and(|now| now.as_deref() == text)
}

fn draft(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{DRAFT}", std::process::id()));
    path.with_file_name(name)
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> CliError {
    CliError::new(Outcome::Failed, "config_unusable", format!("{}: {why}", shown(path)))
}
