//! The location of one file of a commit: a held directory and a name in it.

use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use crate::error::Error;
use crate::handle;
use crate::resolve::{Gap, PathTarget, ResolvedPath};
use crate::root::Workspace;

/// A name in a held directory. For a file whose directories are still missing, the nearest
/// existing one, until they are made.
#[derive(Debug)]
pub(crate) struct Spot {
    pub(crate) parent: OwnedFd,
    pub(crate) name: String,
    /// The real path of the file, for messages and for asking again where it leads.
    pub(crate) path: RelPath,
    /// Directories that are still to be made, the first one last.
    missing: Vec<String>,
}

// === impl Spot ===

impl Spot {
    pub(crate) fn of_place(place: ResolvedPath) -> Self {
        Self { parent: place.parent, name: place.name, path: place.path, missing: Vec::new() }
    }

    pub(crate) fn of_gap(mut gap: Gap) -> Result<Self, Error> {
        let path = gap.real()?;
        let name = gap.missing.pop().expect("a gap misses at least one name");
        gap.missing.reverse();
        Ok(Self { parent: gap.directory, name, path, missing: gap.missing })
    }

    /// The spot of a real path, as far as its directory exists; none where that is missing too.
    pub(crate) fn of_path(workspace: &Workspace, path: &RelPath) -> Result<Option<Self>, Error> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::NotAFile { path: path.clone(), kind: EntryKind::Directory });
        };
        let place = match workspace.find(&directory) {
            Ok(PathTarget::Existing(place)) => place,
            Ok(PathTarget::Missing(_))
            | Err(Error::Dangling { .. } | Error::NotADirectory { .. }) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        // A link that took the directory's place since leads to other files.
        if place.path != directory || place.stat.kind != EntryKind::Directory {
            return Ok(None);
        }
        let parent = workspace.open_place(&place, handle::DIRECTORY)?;
        let (name, path) = (name.to_owned(), path.clone());
        Ok(Some(Self { parent, name, path, missing: Vec::new() }))
    }

    /// Whether the directory that will hold the file is held.
    pub(crate) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    pub(super) fn take_missing(&mut self) -> Option<String> {
        self.missing.pop()
    }

    /// A spot for another name in the same directory.
    pub(super) fn sibling(&self, name: &str) -> Result<Self, Error> {
        let parent = handle::open_at(&self.parent, ".", handle::DIRECTORY)
            .map_err(|errno| Error::io(&self.path, "hold the directory of", errno))?;
        let (name, path) = (name.to_owned(), self.path.clone());
        Ok(Self { parent, name, path, missing: Vec::new() })
    }

    /// Makes the directory of this name. Returns `false` where somebody else has just made it.
    pub(super) fn make_directory(&self) -> Result<bool, Error> {
        match rustix::fs::mkdirat(&self.parent, &self.name, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(Error::io(&self.path, "create the directory of", errno)),
        }
    }

    /// Goes down into a directory that was just made, once its name is durable.
    pub(super) fn enter(&mut self, name: &str) -> Result<(), Error> {
        self.parent = handle::sync_directory(&self.parent)
            .and_then(|()| handle::open_at(&self.parent, name, handle::DIRECTORY))
            .map_err(|errno| Error::io(&self.path, "create the directory of", errno))?;
        Ok(())
    }

    /// Removes the directory of this name where it is empty.
    pub(crate) fn remove_directory(&self) -> Result<(), Error> {
        match rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR) {
            Ok(()) => handle::sync_directory(&self.parent),
            Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(()),
            Err(errno) => Err(errno),
        }
        .map_err(|errno| Error::io(&self.path, "remove the directory of", errno))
    }

    /// Fails where the directory is no longer where it was: its path leads elsewhere.
    pub(super) fn check(&self, workspace: &Workspace) -> Result<(), Error> {
        let moved = || Error::Changed {
            path: self.path.clone(),
            expected: "its directory in place".to_owned(),
            found: "another directory or none".to_owned(),
        };
        let now = Self::of_path(workspace, &self.path)?.ok_or_else(moved)?;
        let identity = |fd: &OwnedFd| {
            handle::stat(fd)
                .map(|stat| stat.identity)
                .map_err(|errno| Error::io(&self.path, "look at the directory of", errno))
        };
        if identity(&now.parent)? == identity(&self.parent)? { Ok(()) } else { Err(moved()) }
    }
}
