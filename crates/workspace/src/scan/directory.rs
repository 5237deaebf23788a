//! One directory of a scan: which of its entries are files that may be read, which are directories
//! to continue with, and why the others are neither.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use moss_sdk::ranking::PathRank;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{DirectoryTask, ScanTerms, TaskStart};
use crate::gate::{MayRead, VisitGate};
use crate::handle::{self, Identity};
use crate::ignoring::{GIT, IgnoreRules};
use crate::mount::Mount;
use crate::options::Resolver;
use crate::root::Workspace;

/// A directory that was read.
#[derive(Debug)]
pub(crate) struct ScannedDirectory {
    /// Its path as the caller named it, and after all links.
    pub(crate) shown: RelPath,
    pub(crate) real: RelPath,
    pub(crate) identity: Identity,
    /// Names, one behind the other.
    names: String,
    /// In bytewise order of their names.
    pub(super) entries: Vec<ScannedEntry>,
    /// Names that are no UTF-8 text.
    pub(super) unnameable: u64,
    /// Whether some names were not read.
    pub(super) truncated: bool,
    /// The number of the first directory beneath it, of those that are gone on with.
    pub(super) beneath: u32,
}

/// An entry: where its name ends, and what it is to a scan.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScannedEntry {
    end: u32,
    pub(super) role: EntryRole,
}

/// What an entry is to a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryRole {
    /// A file that may be read.
    File(PathRank),
    /// A directory that is gone on with, numbered among those of its directory.
    Directory(u32),
    /// Left out by an ignore file.
    Ignored,
    /// Left out by the policy.
    Denied,
    /// The policy would ask first.
    Unapproved,
    /// Cannot be looked at or named.
    Unreadable,
    /// Neither a file that is wanted nor a directory.
    Passed,
}

/// What is known of a directory while its entries are looked at.
struct EntryJudging<'a> {
    terms: ScanTerms<'a>,
    fd: Arc<OwnedFd>,
    shown: RelPath,
    real: RelPath,
    rank: PathRank,
    rules: Arc<IgnoreRules>,
    beneath: Vec<DirectoryTask>,
}

/// Makes room for more directories; returns the number of the first of them.
pub(super) fn add(directories: &mut Vec<Option<ScannedDirectory>>, count: usize) -> u32 {
    let first = u32::try_from(directories.len()).expect("the entries of a scan are bounded");
    directories.extend(std::iter::repeat_with(|| None).take(count));
    first
}

// === impl Workspace ===

impl Workspace {
    /// Reads a directory; returns what it holds and the directories beneath it.
    pub(super) fn scan_directory(
        &self,
        task: DirectoryTask,
        terms: ScanTerms<'_>,
    ) -> Result<(ScannedDirectory, Vec<DirectoryTask>), Errno> {
        let DirectoryTask { at, shown, real, rank, above } = task;
        let fd = match at {
            TaskStart::Open(fd) => fd,
            TaskStart::Beneath(parent, name) => self.open_beneath(&parent, &name)?,
        };
        let identity = handle::stat(&fd)?.identity;
        let found = self.found_names(&fd, &real)?;
        let rules = self.rules_of(&fd, &real, found.ignore_names, &above);
        let fd = Arc::new(fd);
        let mut judging = EntryJudging { terms, fd, shown, real, rank, rules, beneath: Vec::new() };
        let mut names = String::with_capacity(found.names.iter().map(|(name, _)| name.len()).sum());
        let mut entries = Vec::with_capacity(found.names.len());
        for (name, kind) in found.names {
            if (terms.gate.cancelled)() {
                return Err(Errno::CANCELED);
            }
            names.push_str(&name);
            let role = judging.role(name, kind);
            entries.push(ScannedEntry { end: offset(names.len()), role });
        }
        let EntryJudging { shown, real, beneath, .. } = judging;
        let directory = ScannedDirectory {
            shown,
            real,
            identity,
            names,
            entries,
            unnameable: found.odd.len() as u64,
            truncated: found.truncated,
            beneath: 0,
        };
        Ok((directory, beneath))
    }

    /// Opens a directory in a held one, without links and on the same mount.
    fn open_beneath(&self, directory: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        #[cfg(target_os = "linux")]
        if self.resolver == Resolver::Kernel {
            return crate::resolve::kernel::open_at(self, directory, name, flags);
        }
        let fd = handle::open_at(directory, name, flags)?;
        if self.reaches(Mount::of(&fd)?) { Ok(fd) } else { Err(Errno::XDEV) }
    }
}

/// A name has at most 255 bytes, and a directory has a bounded number of them.
fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("the names of a directory are bounded")
}

// === impl EntryJudging ===

impl EntryJudging<'_> {
    fn role(&mut self, name: String, kind: Option<EntryKind>) -> EntryRole {
        let Ok(real) = self.real.join(&name) else { return EntryRole::Unreadable };
        let shown = if self.shown == self.real { Ok(real.clone()) } else { self.shown.join(&name) };
        let Ok(shown) = shown else { return EntryRole::Unreadable };
        let kind = match kind.map_or_else(|| self.look(&name), |kind| Ok(Some(kind))) {
            Ok(Some(kind)) => kind,
            // Gone since the names were read.
            Ok(None) => return EntryRole::Passed,
            Err(_) => return EntryRole::Unreadable,
        };
        if name == GIT || self.rules.is_ignored(&real, kind == EntryKind::Directory) {
            return EntryRole::Ignored;
        }
        match kind {
            EntryKind::Directory => self.directory(name, shown, real),
            EntryKind::File if (self.terms.wants)(&shown) => self.file(&name, &shown, &real),
            EntryKind::File | EntryKind::Symlink | EntryKind::Other => EntryRole::Passed,
        }
    }

    /// What an entry is of which the file system does not say it at once.
    fn look(&self, name: &str) -> Result<Option<EntryKind>, Errno> {
        Ok(handle::find_at(&*self.fd, name)?.map(|stat| stat.kind))
    }

    fn directory(&mut self, name: String, shown: RelPath, real: RelPath) -> EntryRole {
        let VisitGate { lists, .. } = self.terms.gate;
        if !lists(&real) || (shown != real && !lists(&shown)) {
            return EntryRole::Denied;
        }
        let number = offset(self.beneath.len());
        let rank = self.rank.max(PathRank::of_directory(&name));
        let at = TaskStart::Beneath(Arc::clone(&self.fd), name);
        let above = Arc::clone(&self.rules);
        self.beneath.push(DirectoryTask { at, shown, real, rank, above });
        EntryRole::Directory(number)
    }

    fn file(&self, name: &str, shown: &RelPath, real: &RelPath) -> EntryRole {
        match (self.terms.gate.reads)(real, shown) {
            MayRead::Yes => EntryRole::File(self.rank.max(PathRank::of_name(name))),
            MayRead::Unapproved => EntryRole::Unapproved,
            MayRead::No => EntryRole::Denied,
        }
    }
}

// === impl ScannedDirectory ===

impl ScannedDirectory {
    pub(super) fn without_entries(shown: RelPath, real: RelPath, identity: Identity) -> Self {
        let (names, entries) = (String::new(), Vec::new());
        Self { shown, real, identity, names, entries, unnameable: 0, truncated: false, beneath: 0 }
    }

    /// Adds a file that may be read behind the others; returns which entry it is.
    pub(super) fn push_file(&mut self, name: &str, rank: PathRank) -> u32 {
        self.names.push_str(name);
        self.entries
            .push(ScannedEntry { end: offset(self.names.len()), role: EntryRole::File(rank) });
        offset(self.entries.len() - 1)
    }

    /// Returns the name of an entry.
    pub(crate) fn name(&self, entry: u32) -> &str {
        let entry = entry as usize;
        let start = entry.checked_sub(1).map_or(0, |before| self.entries[before].end);
        &self.names[start as usize..self.entries[entry].end as usize]
    }
}
