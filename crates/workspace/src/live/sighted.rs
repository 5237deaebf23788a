//! Looking at directories: opened by their paths without links, their names read, each name looked at.

use std::os::fd::OwnedFd;
use std::time::SystemTime;

use moss_sdk::RelPath;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::entry::{EntryState, LiveEntry};
use crate::handle::{self, Stat};
use crate::ignoring::GIT;
use crate::root::Workspace;

const LIST: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// It is somewhere else by now.
const MOVED: [Errno; 5] = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::AGAIN, Errno::STALE];
/// The system lacks something just now.
pub(super) const LACKS: [Errno; 4] = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::INTR];

/// Whether an error says that a directory cannot be entered.
pub(super) fn closes(errno: Errno) -> bool {
    !MOVED.contains(&errno) && !LACKS.contains(&errno)
}

/// One look at what is in doubt.
pub(super) struct TreeLook<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) cancelled: &'a dyn Fn() -> bool,
    /// Is given how many entries are known so far.
    pub(super) progress: &'a dyn Fn(usize),
    /// When the look began.
    pub(super) now: SystemTime,
    /// How often something was not where it was known.
    pub(super) attempts: usize,
}

/// What is at a name.
#[derive(Clone, Copy)]
pub(super) enum Sighting {
    Gone,
    Unreadable,
    Seen(Stat),
}

/// The names in a directory.
#[derive(Default)]
pub(super) struct NamesRead {
    names: Vec<String>,
    /// How many are not text.
    pub(super) unnamed: u64,
    /// Whether there are more than are read.
    pub(super) is_cut: bool,
    /// Whether they are all that there are.
    pub(super) is_all: bool,
}

/// Opens the directory at a real path, to be listed.
pub(super) fn open_live(workspace: &Workspace, path: &RelPath) -> Result<OwnedFd, Errno> {
    workspace.reopen_directory(path, LIST)
}

/// What the unshared rules of a repository are.
pub(super) fn exclude_hash(workspace: &Workspace, root: &OwnedFd) -> Option<blake3::Hash> {
    workspace.read_exclude_file(root).map(|text| blake3::hash(text.as_bytes()))
}

// === impl Sighting ===

impl Sighting {
    fn of(directory: &OwnedFd, name: &str, asks_server: bool) -> Self {
        if asks_server {
            handle::ask_server_at(directory, name);
        }
        match handle::find_at(directory, name) {
            Ok(Some(stat)) => Self::Seen(stat),
            Ok(None) => Self::Gone,
            Err(_) => Self::Unreadable,
        }
    }

    /// Whether a file with rules, or the root of a repository, may be another than it was.
    pub(super) fn differs(self, before: Option<&LiveEntry>, name: &str) -> bool {
        match (before, self) {
            (None, Self::Gone) => false,
            (Some(before), Self::Seen(stat)) if name == GIT => stat.identity != before.identity,
            (Some(before), Self::Seen(stat)) => {
                let is_ignored = before.state == EntryState::Ignored;
                !LiveEntry::new(&stat, is_ignored, SystemTime::UNIX_EPOCH).is_as(before)
            }
            _ => true,
        }
    }
}

// === impl NamesRead ===

impl NamesRead {
    /// Reads the names that a walk would come to.
    pub(super) fn of(
        workspace: &Workspace,
        directory: &OwnedFd,
        path: &RelPath,
    ) -> Result<Self, Errno> {
        let found = workspace.found_names(directory, path)?;
        Ok(Self {
            names: found.names.into_iter().map(|(name, _)| name).collect(),
            unnamed: found.odd.len() as u64,
            is_cut: found.truncated,
            is_all: true,
        })
    }

    /// The names of a directory that are in doubt.
    pub(super) fn in_doubt<'a>(
        workspace: &Workspace,
        names: impl Iterator<Item = &'a String>,
        path: &RelPath,
    ) -> Self {
        let is_own = |name: &str| path.join(name).is_ok_and(|at| workspace.own.contains(&at));
        let names = names.filter(|name| !is_own(name)).cloned().collect();
        Self { names, ..Self::default() }
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, String> {
        self.names.iter()
    }

    /// Looks at what is there; the server of a network file system is asked where that is wanted.
    pub(super) fn sight(
        &mut self,
        directory: &OwnedFd,
        asks_server: bool,
    ) -> Vec<(String, Sighting)> {
        let names = std::mem::take(&mut self.names).into_iter();
        names
            .map(|name| (Sighting::of(directory, &name, asks_server), name))
            .map(|(at, name)| (name, at))
            .collect()
    }
}

// === impl TreeLook ===

impl<'a> TreeLook<'a> {
    pub(super) fn new(workspace: &'a Workspace, cancelled: &'a dyn Fn() -> bool) -> Self {
        Self { workspace, cancelled, progress: &|_| {}, now: SystemTime::now(), attempts: 0 }
    }
}
