//! Looking at single names: what a path leads to, what a directory holds, where a link points.
//! Nothing is left out here but moss's own directories and what cannot be named as text.

use std::collections::BTreeSet;
use std::time::SystemTime;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use rustix::fs::Dir;
use rustix::io::Errno;

use crate::error::Error;
use crate::file_look::FileLook;
use crate::handle::{self, Identity, Stat};
use crate::names::kind_of;
use crate::root::Workspace;

/// What to do with a symbolic link at the end of a path; those on the way are always followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLink {
    /// Look at what it leads to.
    Follow,
    /// Look at the link.
    Keep,
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathInfo {
    /// Its real path beneath the root.
    pub real: RelPath,
    /// A file, a directory, a link or something else.
    pub kind: EntryKind,
    /// Which file it is.
    pub identity: Identity,
    /// Its size; that of a link is the length of its text.
    pub size_bytes: u64,
    /// How many names it has.
    pub names: u64,
    /// When its content changed last.
    pub modified: SystemTime,
    /// How it looks from outside.
    pub look: FileLook,
}

/// The names in one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryNames {
    /// The directory's real path beneath the root.
    pub real: RelPath,
    /// The names, in bytewise order, each with what it is.
    pub names: Vec<(String, EntryKind)>,
    /// Those of files that have other names besides, here or elsewhere.
    pub hard_linked: BTreeSet<String>,
}

// === impl Workspace ===

impl Workspace {
    /// Says what a path leads to.
    ///
    /// # Errors
    ///
    /// As [`Workspace::resolve`]; `NotFound`.
    pub fn look(&self, path: &RelPath, last: LastLink) -> Result<PathInfo, Error> {
        if let (LastLink::Keep, Some(directory), Some(name)) =
            (last, path.parent(), path.file_name())
        {
            let (place, held) = self.open_directory(&directory)?;
            let found = handle::find_at(&held, name)
                .map_err(|errno| Error::io(path, "look at", errno))?
                .ok_or_else(|| Error::NotFound { path: path.clone() })?;
            if found.kind == EntryKind::Symlink {
                let name = self.listed_name(&held, name, found.identity.inode, path)?;
                return Ok(PathInfo::new(place.path.join(&name)?, &found));
            }
        }
        let place = self.existing(path)?;
        Ok(PathInfo::new(place.path, &place.stat))
    }

    /// Returns the names in a directory, whatever ignore files say of them.
    ///
    /// # Errors
    ///
    /// As [`Workspace::resolve`]; `NotFound`, `NotADirectory`; `Protected` for one of moss's own
    /// directories; `Limit` where there are more than
    /// [`Limits::directory_names_max`](crate::FileLimits).
    pub fn names(&self, directory: &RelPath) -> Result<DirectoryNames, Error> {
        let (place, fd) = self.open_directory(directory)?;
        self.check_not_own(directory, &place.path)?;
        let failed = |errno| Error::io(directory, "list", errno);
        let names_max = self.limits().directory_names_max;
        let mut names = Vec::new();
        let mut hard_linked = BTreeSet::new();
        for entry in Dir::read_from(&fd).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            let Ok(real) = place.path.join(name) else { continue };
            if name == "." || self.is_own(&real) {
                continue;
            }
            let kind = match kind_of(entry.file_type()) {
                Some(kind) if kind != EntryKind::File => kind,
                // The file system does not report all; gone since, it is no name any more.
                _ => match handle::find_at(&fd, name).map_err(failed)? {
                    Some(stat) => {
                        if stat.kind == EntryKind::File && stat.names > 1 {
                            hard_linked.insert(name.to_owned());
                        }
                        stat.kind
                    }
                    None => continue,
                },
            };
            if names.len() == names_max {
                let what = "names in one directory";
                return Err(Error::Limit { what, max: names_max as u64 });
            }
            names.push((name.to_owned(), kind));
        }
        names.sort_unstable();
        Ok(DirectoryNames { real: place.path, names, hard_linked })
    }

    /// Returns the text of a symbolic link.
    ///
    /// # Errors
    ///
    /// As [`Workspace::resolve`] for its directory; `NotFound`; `Io` for what is no link;
    /// `Unnameable` where it is not text.
    pub fn link_target(&self, path: &RelPath) -> Result<String, Error> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::io(path, "read the link", Errno::INVAL));
        };
        let (_, held) = self.open_directory(&directory)?;
        match rustix::fs::readlinkat(&held, name, Vec::new()) {
            Ok(target) => {
                target.into_string().map_err(|_| Error::Unnameable { path: path.to_string() })
            }
            Err(Errno::NOENT) => Err(Error::NotFound { path: path.clone() }),
            Err(errno) => Err(Error::io(path, "read the link", errno)),
        }
    }
}

// === impl PathInfo ===

impl PathInfo {
    pub(crate) fn new(real: RelPath, stat: &Stat) -> Self {
        Self {
            real,
            kind: stat.kind,
            identity: stat.identity,
            size_bytes: stat.size_bytes,
            names: stat.names,
            modified: stat.modified,
            look: FileLook::of(stat),
        }
    }
}
