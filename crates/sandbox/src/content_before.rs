//! What a protected path held before a command: its content where that is small enough to be kept, otherwise
//! as much as shows whether it changed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::reached::{ReachedDirectory, ReachedEntry, real_of};
use crate::wire::{Decoder, Encoder};

/// Longest file whose content is kept, in bytes.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 20;
/// Deepest directory that is kept, and that is read of a record.
pub(crate) const DEPTH_MAX: usize = 256;
/// Most entries that are looked at where their contents are not kept.
const KNOWN_ENTRIES_MAX: usize = 1_000_000;
/// By which a directory can be entered, and what lies in it be changed without another change of it.
const SEARCHABLE: u32 = 0o111;
/// The permissions of a directory of which nobody knows more.
const DIRECTORY_MODE: u32 = 0o755;

/// How much may still be kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeepBudget {
    entries: usize,
    bytes: u64,
}

/// What a path held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ContentBefore {
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
    /// Too large to be kept, or none of these: only that it changed is known. Of a directory `length` is how many
    /// entries lie beneath it, and `changed_ns` the latest change among them.
    Known {
        inode: u64,
        length: u64,
        changed_ns: i128,
    },
}

// === impl KeepBudget ===

impl KeepBudget {
    /// What is kept for one command.
    pub(crate) const OF_COMMAND: Self = Self { entries: 20_000, bytes: 48 << 20 };
    /// What of that is kept of one path, so that one alone leaves room for others.
    const OF_PATH: Self = Self { entries: 2_000, bytes: 16 << 20 };
    /// The least of one part: more than the settings and hooks that git itself makes.
    const OF_PART_MIN: Self = Self { entries: 64, bytes: 256 << 10 };

    fn min(self, other: Self) -> Self {
        Self { entries: self.entries.min(other.entries), bytes: self.bytes.min(other.bytes) }
    }

    /// What one of so many parts has of it, where the others have as much: small ones have what they need as long
    /// as there is anything.
    pub(crate) fn share(self, parts: usize) -> Self {
        let Self { entries, bytes } = Self::OF_PART_MIN;
        let equal = self.entries / parts.max(1);
        let equal_bytes = self.bytes / parts.max(1) as u64;
        Self { entries: equal.max(entries), bytes: equal_bytes.max(bytes) }.min(self)
    }

    pub(crate) fn less(self, used: Self) -> Self {
        Self { entries: self.entries - used.entries, bytes: self.bytes - used.bytes }
    }
}

// === impl ContentBefore ===

impl ContentBefore {
    /// What is at a path without links. What is larger than may be kept is known, and takes nothing of that.
    pub(crate) fn at(real: &Path, left: &mut KeepBudget) -> Self {
        look(real, |directory, name| {
            let most = left.min(KeepBudget::OF_PATH);
            let mut rest = most;
            match keep(directory, name, &mut rest, DEPTH_MAX) {
                Some(kept) => {
                    *left = left.less(most.less(rest));
                    kept
                }
                None => known(directory, name),
            }
        })
    }

    /// The same without any content: as much as shows whether it changed.
    pub(crate) fn known_at(real: &Path) -> Self {
        look(real, known)
    }

    /// Whether a path holds it. What nobody can look at is nothing that was before.
    pub(crate) fn is_at(&self, real: &Path) -> bool {
        let now = match self {
            Self::Known { .. } => Self::known_at(real),
            // More than could have been kept is something else.
            _ => look(real, |directory, name| {
                keep(directory, name, &mut KeepBudget::OF_PATH.clone(), DEPTH_MAX)
                    .unwrap_or(Self::Unknown)
            }),
        };
        now == *self && now != Self::Unknown
    }

    pub(crate) fn can_be_restored(&self) -> bool {
        match self {
            Self::Known { .. } | Self::Unknown => false,
            Self::Directory { entries, .. } => entries.values().all(Self::can_be_restored),
            Self::Missing | Self::Link(_) | Self::File { .. } => true,
        }
    }

    /// What it held at a path beneath it.
    pub(crate) fn beneath(&self, inner: &Path) -> &Self {
        let mut found = self;
        for name in inner {
            found = match found {
                Self::Directory { entries, .. } => entries.get(name).unwrap_or(&Self::Missing),
                Self::Missing | Self::File { .. } => &Self::Missing,
                // What a link led to is nobody's to guess.
                Self::Link(_) | Self::Known { .. } | Self::Unknown => &Self::Unknown,
            };
        }
        found
    }

    /// Has it hold something else at a path beneath it. What is known alone stays: it is compared as a whole.
    pub(crate) fn put(&mut self, inner: &Path, kept: &Self) {
        let mut names = inner.iter();
        let Some(name) = names.next() else {
            *self = kept.clone();
            return;
        };
        match self {
            Self::Known { .. } | Self::Unknown => {}
            Self::Directory { entries, .. } => {
                let entry = entries.entry(name.to_owned()).or_insert(Self::Missing);
                entry.put(names.as_path(), kept);
                if *entry == Self::Missing {
                    entries.remove(name);
                }
            }
            Self::Missing | Self::Link(_) | Self::File { .. } if *kept == Self::Missing => {}
            Self::Missing | Self::Link(_) | Self::File { .. } => {
                *self = Self::Directory { entries: BTreeMap::new(), mode: DIRECTORY_MODE };
                self.put(inner, kept);
            }
        }
    }

    pub(crate) fn write(&self, directory: &ReachedDirectory, name: &OsStr) -> io::Result<()> {
        match self {
            Self::Missing => Ok(()),
            Self::Link(target) => directory.make_link(target, name),
            Self::File { bytes, mode } => {
                let mut file = directory.create(name)?;
                file.write_all(bytes)?;
                file.set_permissions(std::fs::Permissions::from_mode(*mode))?;
                Ok(())
            }
            Self::Directory { entries, mode } => {
                let child = directory.make_child(name)?;
                for (name, kept) in entries {
                    kept.write(&child, name)?;
                }
                child.set_mode(*mode)
            }
            Self::Known { .. } | Self::Unknown => Err(io::Error::other("its content was not kept")),
        }
    }

    pub(crate) fn encode(&self, message: &mut Encoder) {
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

    pub(crate) fn decode(message: &mut Decoder<'_>, depth: usize) -> io::Result<Self> {
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

    fn of(found: &ReachedEntry) -> Self {
        let &ReachedEntry { inode, length, changed_ns, .. } = found;
        Self::Known { inode, length, changed_ns }
    }
}

/// Looks at what has a name in the directory above a path.
fn look(real: &Path, at: impl FnOnce(&ReachedDirectory, &OsStr) -> ContentBefore) -> ContentBefore {
    match ReachedDirectory::above(real) {
        Ok((directory, name)) => at(&directory, name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => ContentBefore::Missing,
        // A link that leads to nothing of this name.
        Err(_) if real_of(real).symlink_metadata().is_err_and(|error| is_missing(&error)) => {
            ContentBefore::Missing
        }
        Err(_) => ContentBefore::Unknown,
    }
}

/// Whether there is nothing: links that lead in a circle lead to nothing, too.
fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// What stands under a name, and why nothing is known of that.
fn stat(directory: &ReachedDirectory, name: &OsStr) -> Result<ReachedEntry, ContentBefore> {
    directory.stat(name).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ContentBefore::Missing,
        _ => ContentBefore::Unknown,
    })
}

/// Keeps what stands under a name; none where that is more than may be kept.
fn keep(
    directory: &ReachedDirectory,
    name: &OsStr,
    left: &mut KeepBudget,
    depth_left: usize,
) -> Option<ContentBefore> {
    let found = match stat(directory, name) {
        Ok(found) => found,
        Err(content) => return Some(content),
    };
    left.entries = left.entries.checked_sub(1)?;
    let mode = found.mode;
    Some(match found.kind {
        FileType::Symlink => directory
            .read_link(name)
            .map_or_else(|_| ContentBefore::of(&found), ContentBefore::Link),
        FileType::Directory if depth_left > 0 => {
            // One more is too many.
            let listed = directory.child(name).and_then(|child| child.with_names(left.entries + 1));
            let Ok((child, names)) = listed else { return Some(closed(&found)) };
            let mut entries = BTreeMap::new();
            for name in names {
                match keep(&child, &name, left, depth_left - 1)? {
                    ContentBefore::Unknown => return Some(closed(&found)),
                    ContentBefore::Missing => {}
                    content => drop(entries.insert(name, content)),
                }
            }
            ContentBefore::Directory { entries, mode }
        }
        FileType::RegularFile if found.length <= FILE_BYTES_MAX => {
            left.bytes = left.bytes.checked_sub(found.length)?;
            let mut bytes = Vec::new();
            let read = directory.open_file(name).and_then(|file| {
                // It may grow meanwhile.
                file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)
            });
            match read {
                Ok(_) => ContentBefore::File { bytes, mode },
                Err(_) => ContentBefore::of(&found),
            }
        }
        _ => ContentBefore::of(&found),
    })
}

/// What is known of a directory that nobody can look into: where nobody can enter it either, nothing in it changes
/// without a change of its permissions.
fn closed(found: &ReachedEntry) -> ContentBefore {
    if found.mode & SEARCHABLE == 0 { ContentBefore::of(found) } else { ContentBefore::Unknown }
}

/// As much of what stands under a name as shows whether it changed.
fn known(directory: &ReachedDirectory, name: &OsStr) -> ContentBefore {
    let found = match stat(directory, name) {
        Ok(found) => found,
        Err(content) => return content,
    };
    if found.kind != FileType::Directory {
        return ContentBefore::of(&found);
    }
    let mut count = 0;
    match latest_beneath(directory, name, &mut count, DEPTH_MAX) {
        Ok(latest) => ContentBefore::Known {
            inode: found.inode,
            length: count as u64,
            changed_ns: latest.max(found.changed_ns),
        },
        Err(_) => closed(&found),
    }
}

/// Finds the latest change of what lies in a directory, and counts that.
fn latest_beneath(
    directory: &ReachedDirectory,
    name: &OsStr,
    count: &mut usize,
    depth_left: usize,
) -> io::Result<i128> {
    let (child, names) = directory.child(name)?.with_names(KNOWN_ENTRIES_MAX + 1)?;
    let mut latest = i128::MIN;
    for name in names {
        let found = match child.stat(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found?,
        };
        *count += 1;
        if *count > KNOWN_ENTRIES_MAX {
            return Err(io::Error::other("it has too many entries"));
        }
        latest = latest.max(found.changed_ns);
        if found.kind == FileType::Directory && depth_left > 1 {
            match latest_beneath(&child, &name, count, depth_left - 1) {
                Ok(inner) => latest = latest.max(inner),
                Err(_) if found.mode & SEARCHABLE == 0 => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(latest)
}
