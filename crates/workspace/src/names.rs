//! The names in a held directory, with what the system says of them at once.

use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::ignoring::IgnoreNames;
use crate::root::Workspace;

/// So much of a directory is read at once.
#[cfg(target_os = "linux")]
const BUFFER_BYTES: usize = 32 << 10;

/// What a walk finds in one directory.
#[derive(Debug, Default)]
pub(crate) struct ScannedNames {
    /// In bytewise order; of some nothing is known but the name.
    pub(crate) names: Vec<(String, Option<EntryKind>)>,
    /// Those that are no UTF-8 text.
    pub(crate) odd: Vec<Vec<u8>>,
    /// Whether there are more than are read.
    pub(crate) truncated: bool,
    pub(crate) ignore_names: IgnoreNames,
}

/// What an entry of a directory is; none where the file system does not say.
pub(crate) fn kind_of(kind: FileType) -> Option<EntryKind> {
    match kind {
        FileType::RegularFile => Some(EntryKind::File),
        FileType::Directory => Some(EntryKind::Directory),
        FileType::Symlink => Some(EntryKind::Symlink),
        FileType::Unknown => None,
        _ => Some(EntryKind::Other),
    }
}

// === impl Workspace ===

impl Workspace {
    /// Reads the names in a directory that was opened just now, without moss's own directories.
    pub(crate) fn found_names(&self, fd: &OwnedFd, real: &RelPath) -> Result<ScannedNames, Errno> {
        let own = self.own.iter().filter(|own| own.parent().as_ref() == Some(real));
        let own: Vec<&str> = own.filter_map(RelPath::file_name).collect();
        let names_max = self.limits().directory_names_max;
        let mut found = ScannedNames::default();
        each_name(fd, |name, kind| {
            match std::str::from_utf8(name) {
                Ok("." | "..") => {}
                Ok(name) if own.contains(&name) => {}
                _ if found.names.len() + found.odd.len() == names_max => {
                    found.truncated = true;
                    // The rest may hold any.
                    found.ignore_names = IgnoreNames::ALL;
                    return false;
                }
                Ok(name) => {
                    found.ignore_names.note(name);
                    found.names.push((name.to_owned(), kind));
                }
                Err(_) => found.odd.push(name.to_owned()),
            }
            true
        })?;
        found.names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }
}

/// Comes to the names in a directory until it is asked to end.
#[cfg(target_os = "linux")]
pub(crate) fn each_name(
    fd: &OwnedFd,
    mut take: impl FnMut(&[u8], Option<EntryKind>) -> bool,
) -> Result<(), Errno> {
    let mut buffer = Vec::with_capacity(BUFFER_BYTES);
    let mut entries = rustix::fs::RawDir::new(fd, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if !take(entry.file_name().to_bytes(), kind_of(entry.file_type())) {
            break;
        }
    }
    Ok(())
}

/// Comes to the names in a directory until it is asked to end.
#[cfg(not(target_os = "linux"))]
pub(crate) fn each_name(
    fd: &OwnedFd,
    mut take: impl FnMut(&[u8], Option<EntryKind>) -> bool,
) -> Result<(), Errno> {
    for entry in rustix::fs::Dir::read_from(fd)? {
        let entry = entry?;
        if !take(entry.file_name().to_bytes(), kind_of(entry.file_type())) {
            break;
        }
    }
    Ok(())
}
