//! Protected paths that nothing keeps from being changed while a command runs: what they held is
//! kept before, compared afterwards and restored. Nothing is lost: what a command made in their
//! stead is set aside under another name.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::wire::{Decoder, Encoder};

/// Longest file whose content is kept, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Most bytes that are kept for a command.
const BYTES_MAX: u64 = 16 << 20;
/// Most files and directories that are kept for a command.
const ENTRIES_MAX: usize = 2_000;
/// Deepest directory of a record that is read.
const DEPTH_MAX: usize = 256;
/// What is added to the name of what was set aside.
const ASIDE: &str = ".set-aside-by-moss";

/// What protected paths held before a command ran.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    kept: Vec<(PathBuf, ContentBefore)>,
    bytes: u64,
    entries: usize,
}

/// What became of protected paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ComparedPaths {
    /// Those that were changed, and are as before.
    pub restored: Vec<PathBuf>,
    /// Those that were changed and could not be restored.
    pub changed: Vec<PathBuf>,
}

/// What a path held.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ContentBefore {
    Missing,
    /// Nobody could look at it.
    Unknown,
    Link(PathBuf),
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    Directory {
        entries: BTreeMap<OsString, Self>,
        mode: u32,
    },
    /// Too large to be kept, or none of these: only that it changed is known.
    Known {
        inode: u64,
        length: u64,
        changed_ns: i128,
    },
}

// === impl Snapshot ===

impl Snapshot {
    /// Keeps what the paths hold.
    pub(crate) fn take(paths: &[PathBuf]) -> Self {
        let mut snapshot = Self::default();
        for path in paths {
            let kept = snapshot.keep(path);
            snapshot.kept.push((path.clone(), kept));
        }
        snapshot
    }

    /// Compares, and restores what is not as it was.
    pub(crate) fn restore(&self) -> ComparedPaths {
        let mut compared = ComparedPaths::default();
        for (path, before) in &self.kept {
            let mut now = Self::default();
            if now.keep(path) == *before {
                continue;
            }
            let is_aside = before.can_be_restored() && set_aside(path).is_ok();
            if is_aside && before.write(path).is_ok() {
                compared.restored.push(path.clone());
                continue;
            }
            if is_aside {
                // On a full disk: half of it would be taken for the whole.
                remove(path);
            }
            compared.changed.push(path.clone());
        }
        compared
    }

    /// The paths at which nothing was.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &Path> {
        let missing = self.kept.iter().filter(|(_, before)| *before == ContentBefore::Missing);
        missing.map(|(path, _)| path.as_path())
    }

    pub(crate) fn encode(&self, message: &mut Encoder) {
        message.number(self.kept.len() as u64);
        for (path, before) in &self.kept {
            message.text(path);
            before.encode(message);
        }
    }

    pub(crate) fn decode(message: &mut Decoder<'_>) -> io::Result<Self> {
        let count = message.number()?;
        let mut kept = || Ok((message.text()?.into(), ContentBefore::decode(message, 0)?));
        let kept = (0..count).map(|_| kept()).collect::<io::Result<_>>()?;
        Ok(Self { kept, ..Self::default() })
    }

    fn keep(&mut self, path: &Path) -> ContentBefore {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if is_missing(&error) => return ContentBefore::Missing,
            Err(_) => return ContentBefore::Unknown,
        };
        let known = || ContentBefore::Known {
            inode: found.ino(),
            length: found.len(),
            changed_ns: i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec()),
        };
        self.entries += 1;
        if self.entries > ENTRIES_MAX {
            return known();
        }
        let kind = found.file_type();
        let mode = found.mode();
        if kind.is_symlink() {
            return fs::read_link(path).map_or_else(|_| known(), ContentBefore::Link);
        }
        if kind.is_dir() {
            let Ok(listed) = fs::read_dir(path) else { return known() };
            let names: Vec<_> = listed.flatten().map(|entry| entry.file_name()).collect();
            let kept = names.into_iter().map(|name| (name.clone(), self.keep(&path.join(name))));
            return ContentBefore::Directory { entries: kept.collect(), mode };
        }
        let is_small = found.len() <= FILE_BYTES_MAX && self.bytes + found.len() <= BYTES_MAX;
        if !kind.is_file() || !is_small {
            return known();
        }
        self.bytes += found.len();
        fs::read(path).map_or_else(|_| known(), |bytes| ContentBefore::File { bytes, mode })
    }
}

/// Moves away what is at a path, without a link being followed: to the same name with
/// `.set-aside-by-moss` behind it, in the place of what was there.
///
/// # Errors
///
/// Where it cannot be renamed.
pub fn set_aside(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let mut aside = path.as_os_str().to_owned();
    aside.push(ASIDE);
    let aside = PathBuf::from(aside);
    match fs::symlink_metadata(&aside) {
        Ok(old) if old.is_dir() => fs::remove_dir_all(&aside)?,
        Ok(_) => fs::remove_file(&aside)?,
        Err(_) => {}
    }
    fs::rename(path, aside)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Removes what was written of a path.
fn remove(path: &Path) {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    // What cannot be removed stays as what could not be restored.
    let _ = if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

// === impl ContentBefore ===

impl ContentBefore {
    fn can_be_restored(&self) -> bool {
        match self {
            Self::Known { .. } | Self::Unknown => false,
            Self::Directory { entries, .. } => entries.values().all(Self::can_be_restored),
            Self::Missing | Self::Link(_) | Self::File { .. } => true,
        }
    }

    fn encode(&self, message: &mut Encoder) {
        match self {
            Self::Missing => {
                message.number(0);
            }
            Self::Unknown => {
                message.number(1);
            }
            Self::Link(target) => {
                message.number(2).text(target);
            }
            Self::File { bytes, mode } => {
                message.number(3).text(OsStr::from_bytes(bytes)).number((*mode).into());
            }
            Self::Directory { entries, mode } => {
                message.number(4).number((*mode).into()).number(entries.len() as u64);
                for (name, kept) in entries {
                    message.text(name);
                    kept.encode(message);
                }
            }
            Self::Known { inode, length, changed_ns } => {
                let changed = changed_ns.to_le_bytes();
                message.number(5).number(*inode).number(*length).text(OsStr::from_bytes(&changed));
            }
        }
    }

    fn decode(message: &mut Decoder<'_>, depth: usize) -> io::Result<Self> {
        let invalid = || io::Error::other("the record is of another version of moss");
        let mode = |number: u64| u32::try_from(number).map_err(|_| invalid());
        Ok(match message.number()? {
            0 => Self::Missing,
            1 => Self::Unknown,
            2 => Self::Link(message.text()?.into()),
            3 => {
                let bytes = message.text()?.into_vec();
                Self::File { bytes, mode: mode(message.number()?)? }
            }
            4 if depth < DEPTH_MAX => {
                let mode = mode(message.number()?)?;
                let count = message.number()?;
                let mut entry = || Ok((message.text()?, Self::decode(message, depth + 1)?));
                let entries = (0..count).map(|_| entry()).collect::<io::Result<_>>()?;
                Self::Directory { entries, mode }
            }
            5 => {
                let (inode, length) = (message.number()?, message.number()?);
                let changed = message.text()?.into_vec().try_into().map_err(|_| invalid())?;
                Self::Known { inode, length, changed_ns: i128::from_le_bytes(changed) }
            }
            _ => return Err(invalid()),
        })
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        if let (Some(above), true) = (path.parent(), *self != Self::Missing) {
            fs::create_dir_all(above)?;
        }
        match self {
            Self::Missing => Ok(()),
            Self::Link(target) => std::os::unix::fs::symlink(target, path),
            Self::File { bytes, mode } => {
                fs::write(path, bytes)?;
                fs::set_permissions(path, fs::Permissions::from_mode(*mode))
            }
            Self::Directory { entries, mode } => {
                fs::create_dir(path)?;
                for (name, kept) in entries {
                    kept.write(&path.join(name))?;
                }
                fs::set_permissions(path, fs::Permissions::from_mode(*mode))
            }
            Self::Known { .. } | Self::Unknown => Err(io::Error::other("its content was not kept")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_made_or_removed_is_restored_and_set_aside() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("hooks")).unwrap();
        fs::write(path("hooks/old"), "old").unwrap();
        fs::write(path("config"), "before").unwrap();
        fs::write(path("removed"), "there").unwrap();
        fs::write(path("same"), "same").unwrap();
        std::os::unix::fs::symlink("same", path("link")).unwrap();
        let names = ["hooks", "config", "removed", "same", "link", "missing"];
        let snapshot = Snapshot::take(&names.map(path));
        let mut message = Encoder::default();
        snapshot.encode(&mut message);
        let written = message.into_bytes();
        let read = Snapshot::decode(&mut Decoder::new(&written)).unwrap();
        assert_eq!(read.kept, snapshot.kept);
        assert_eq!(read.missing().collect::<Vec<_>>(), [path("missing")]);

        fs::write(path("hooks/pre-commit"), "evil").unwrap();
        fs::write(path("config"), "evil").unwrap();
        fs::remove_file(path("removed")).unwrap();
        fs::remove_file(path("link")).unwrap();
        fs::write(path("link"), "no link").unwrap();
        fs::create_dir(path("missing")).unwrap();

        let compared = snapshot.restore();
        let changed = ["hooks", "config", "removed", "link", "missing"];
        assert_eq!(compared.restored, changed.map(path));
        assert!(compared.changed.is_empty());
        assert_eq!(fs::read_dir(path("hooks")).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(path("config")).unwrap(), "before");
        assert_eq!(fs::read_to_string(path("removed")).unwrap(), "there");
        assert_eq!(fs::read_link(path("link")).unwrap(), Path::new("same"));
        assert!(!path("missing").exists());
        assert_eq!(fs::read_to_string(path(&format!("config{ASIDE}"))).unwrap(), "evil");
        assert_eq!(snapshot.restore(), ComparedPaths::default());
    }

    #[test]
    fn a_change_of_what_is_too_large_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("large");
        fs::File::create(&path).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
        let snapshot = Snapshot::take(std::slice::from_ref(&path));
        fs::write(&path, "small").unwrap();
        assert_eq!(snapshot.restore().changed, [path]);
    }
}
