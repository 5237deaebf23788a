//! Resolution component by component, for systems without `openat2`.
//!
//! Every directory on the way is held; links are read and expanded by hand; `..` in a link goes
//! back to the directory that was held before, so a directory that is moved meanwhile leads
//! to nothing else. The device and mount of each step are compared with the root's.
//!
//! cap-primitives has a walk too, but that goes through another mount and back, and finds the real
//! path of a file by opening it, which waits at a FIFO. With only the real path of the directory
//! from there, and each of its names checked, resolution takes 1.7 times as long, for as much code.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use moss_sdk::path::COMPONENTS_MAX;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{Gap, LINKS_MAX, Mount, PathTarget, ResolvedPath};
use crate::error::Error;
use crate::handle::{self, Stat};
use crate::root::Workspace;

struct PathWalk<'a> {
    workspace: &'a Workspace,
    path: &'a RelPath,
    /// The directories on the way, the root first, with their names.
    held: Vec<(OwnedFd, String)>,
    /// What is still to be walked.
    pending: VecDeque<PathComponent>,
    links: usize,
}

struct PathComponent {
    name: String,
    from_link: bool,
}

enum WalkStep {
    On,
    Changed,
    Found(PathTarget),
}

/// Follows a path; none where something on the way changed meanwhile.
pub(super) fn find(workspace: &Workspace, path: &RelPath) -> Result<Option<PathTarget>, Error> {
    let root = handle::open_at(&workspace.directory, ".", handle::DIRECTORY)
        .map_err(|errno| Error::io(path, "open", errno))?;
    let step = |name: &str| PathComponent { name: name.to_owned(), from_link: false };
    let mut walk = PathWalk {
        workspace,
        path,
        held: vec![(root, ".".to_owned())],
        pending: path.components().map(step).collect(),
        links: 0,
    };
    while let Some(step) = walk.pending.pop_front() {
        match walk.step(step)? {
            WalkStep::On => {}
            WalkStep::Changed => return Ok(None),
            WalkStep::Found(found) => return Ok(Some(found)),
        }
    }
    walk.into_directory().map(Some)
}

// === impl PathWalk ===

impl PathWalk<'_> {
    fn step(&mut self, step: PathComponent) -> Result<WalkStep, Error> {
        match step.name.as_str() {
            "" | "." => return Ok(WalkStep::On),
            ".." if self.held.len() == 1 => return Err(self.outside()),
            ".." => {
                self.held.pop();
                return Ok(WalkStep::On);
            }
            _ => {}
        }
        let stat = match handle::find_at(self.top(), &step.name) {
            Ok(Some(stat)) => stat,
            Ok(None) => return self.missing(step),
            Err(Errno::NAMETOOLONG) => return Err(Error::NotFound { path: self.path.clone() }),
            Err(errno) => return Err(Error::io(self.path, "look at", errno)),
        };
        let listed = |name: &str| {
            self.workspace.listed_name(self.top(), name, stat.identity.inode, self.path)
        };
        match stat.kind {
            EntryKind::Symlink => self.expand(&step.name),
            EntryKind::Directory => self.enter(listed(&step.name)?, &stat),
            EntryKind::File | EntryKind::Other => self.leaf(listed(&step.name)?, stat),
        }
    }

    fn top(&self) -> &OwnedFd {
        &self.held.last().expect("the root is never popped").0
    }

    fn outside(&self) -> Error {
        Error::Outside { path: self.path.to_string() }
    }

    /// The real path of the directory on top.
    fn real(&self) -> Result<RelPath, Error> {
        self.held.iter().skip(1).try_fold(RelPath::root(), |path, (_, name)| {
            path.join(name).map_err(|_| Error::Unnameable { path: self.path.to_string() })
        })
    }

    fn missing(&mut self, step: PathComponent) -> Result<WalkStep, Error> {
        if step.from_link {
            return Err(Error::Dangling { path: self.path.to_string() });
        }
        let path = self.real()?;
        let rest = self.pending.drain(..).map(|step| step.name);
        let missing = std::iter::once(step.name).chain(rest).collect();
        let (directory, _) = self.held.pop().expect("the root is never popped");
        Ok(WalkStep::Found(PathTarget::Missing(Gap { directory, path, missing })))
    }

    fn expand(&mut self, name: &str) -> Result<WalkStep, Error> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(Error::LinkLoop { path: self.path.to_string() });
        }
        let target = match rustix::fs::readlinkat(self.top(), name, Vec::new()) {
            Ok(target) => target,
            Err(Errno::INVAL | Errno::NOENT) => return Ok(WalkStep::Changed),
            Err(errno) => return Err(Error::io(self.path, "read the link", errno)),
        };
        let target =
            target.into_string().map_err(|_| Error::Unnameable { path: self.path.to_string() })?;
        if target.starts_with('/') {
            return Err(self.outside());
        }
        for name in target.rsplit('/') {
            self.pending.push_front(PathComponent { name: name.to_owned(), from_link: true });
        }
        Ok(WalkStep::On)
    }

    fn enter(&mut self, name: String, stat: &Stat) -> Result<WalkStep, Error> {
        if self.held.len() > COMPONENTS_MAX {
            return Err(Error::Limit {
                what: "directories on one path",
                max: COMPONENTS_MAX as u64,
            });
        }
        let fd = match handle::open_at(self.top(), &name, handle::DIRECTORY) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(WalkStep::Changed),
            Err(errno) => return Err(Error::io(self.path, "open", errno)),
        };
        if !self.is_same(&fd, stat)? {
            return Ok(WalkStep::Changed);
        }
        self.held.push((fd, name));
        Ok(WalkStep::On)
    }

    fn leaf(&mut self, name: String, stat: Stat) -> Result<WalkStep, Error> {
        if !self.pending.is_empty() {
            return Err(Error::NotADirectory { path: self.path.clone() });
        }
        if stat.kind == EntryKind::File && !self.leaf_is_reached(&name, &stat)? {
            return Ok(WalkStep::Changed);
        }
        let directory = self.real()?;
        let path =
            directory.join(&name).map_err(|_| Error::Unnameable { path: self.path.to_string() })?;
        let (parent, _) = self.held.pop().expect("the root is never popped");
        Ok(WalkStep::Found(PathTarget::Existing(ResolvedPath { parent, name, path, stat })))
    }

    /// Checks the mount of a file. Where a file cannot be held without reading it, only its
    /// device can be compared.
    fn leaf_is_reached(&self, name: &str, stat: &Stat) -> Result<bool, Error> {
        #[cfg(target_os = "linux")]
        {
            match handle::open_at(self.top(), name, OFlags::PATH) {
                Ok(fd) => self.is_same(&fd, stat),
                Err(Errno::NOENT) => Ok(false),
                Err(errno) => Err(Error::io(self.path, "open", errno)),
            }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (name, OFlags::empty());
            let device = self.workspace.identity.device;
            if self.workspace.options.same_filesystem_only && stat.identity.device != device {
                return Err(Error::OtherFilesystem { path: self.path.to_string() });
            }
            Ok(true)
        }
    }

    /// Whether an opened file is the one that was looked at; an error where it is out of reach.
    fn is_same(&self, fd: &OwnedFd, stat: &Stat) -> Result<bool, Error> {
        let failed = |errno| Error::io(self.path, "look at", errno);
        if handle::stat(fd).map_err(failed)?.identity != stat.identity {
            return Ok(false);
        }
        if self.workspace.reaches(Mount::of(fd).map_err(failed)?) {
            return Ok(true);
        }
        Err(Error::OtherFilesystem { path: self.path.to_string() })
    }

    /// The way ended on a directory.
    fn into_directory(mut self) -> Result<PathTarget, Error> {
        let path = self.real()?;
        let (top, name) = self.held.pop().expect("the root is never popped");
        let stat = handle::stat(&top).map_err(|errno| Error::io(self.path, "look at", errno))?;
        let parent = self.held.pop().map_or(top, |(parent, _)| parent);
        Ok(PathTarget::Existing(ResolvedPath { parent, name, path, stat }))
    }
}
