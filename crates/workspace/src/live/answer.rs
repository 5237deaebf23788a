//! Listing a directory from what is known of it, exactly as a walk would.

use moss_sdk::RelPath;
use moss_sdk::file::{Entry, EntryKind, ListOptions, Listing};

use super::FileMark;
use super::entry::{DirectoryNumber, EntryState, LiveEntry};
use super::known::KnownTree;
use super::store::LiveDirectory;
use crate::error::Error;

/// Whether somebody still waits is looked at once for so many entries.
pub(super) const CANCEL_STEP: usize = 64;

/// What decides about the entries of a listing.
pub(super) struct ListGate<'a> {
    pub(super) keep: &'a dyn Fn(&RelPath) -> bool,
    pub(super) cancelled: &'a dyn Fn() -> bool,
}

/// A directory that is being listed.
struct ListedLevel<'a> {
    directory: &'a LiveDirectory,
    /// How many entries are done.
    done: usize,
    real: RelPath,
    /// Its path as the caller named it; none where that is the real one.
    shown: Option<RelPath>,
}

/// A listing in the making.
struct LiveListing<'a> {
    tree: &'a KnownTree,
    options: ListOptions,
    gate: ListGate<'a>,
    listing: Listing,
    open: Vec<ListedLevel<'a>>,
}

// === impl KnownTree ===

impl KnownTree {
    /// Lists a directory that is known.
    pub(super) fn list(
        &self,
        number: DirectoryNumber,
        (real, shown): (&RelPath, &RelPath),
        options: ListOptions,
        gate: ListGate<'_>,
    ) -> Result<Listing, Error> {
        let mut listing = LiveListing {
            tree: self,
            options,
            gate,
            listing: Listing::default(),
            open: Vec::new(),
        };
        listing.enter(number, real.clone(), (shown != real).then(|| shown.clone()));
        listing.run()?;
        Ok(listing.listing)
    }
}

impl KnownTree {
    /// Comes to every regular file beneath a directory that is known; returns whether it is.
    pub(super) fn files(&self, at: &RelPath, visit: &mut dyn FnMut(&RelPath, FileMark)) -> bool {
        let Some(number) = self.store.find(at) else { return false };
        self.files_in(number, at, visit);
        true
    }

    /// As deep as a path may have components.
    fn files_in(
        &self,
        number: DirectoryNumber,
        at: &RelPath,
        visit: &mut dyn FnMut(&RelPath, FileMark),
    ) {
        let Some(directory) = self.store.get(number) else { return };
        for entry in &directory.entries {
            let Ok(path) = at.join(directory.name_of(entry)) else { continue };
            match entry.is_file() {
                true => visit(&path, entry.mark()),
                false => self.files_in(entry.child, &path, visit),
            }
        }
    }

    pub(super) fn file(&self, path: &RelPath) -> Option<FileMark> {
        let directory = self.store.get(self.store.find(&path.parent()?)?)?;
        let entry = directory.entry(path.file_name()?)?;
        entry.is_file().then(|| entry.mark())
    }
}

// === impl LiveListing ===

impl LiveListing<'_> {
    fn enter(&mut self, number: DirectoryNumber, real: RelPath, shown: Option<RelPath>) {
        let Some(directory) = self.tree.store.get(number) else {
            self.listing.skipped.unreadable += 1;
            return;
        };
        self.listing.skipped.unreadable += directory.unnamed;
        self.listing.truncated |= directory.is_cut;
        self.open.push(ListedLevel { directory, done: 0, real, shown });
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut visited = 0_usize;
        while let Some(level) = self.open.last_mut() {
            let Some(entry) = level.directory.entries.get(level.done) else {
                self.open.pop();
                continue;
            };
            level.done += 1;
            if visited.is_multiple_of(CANCEL_STEP) && (self.gate.cancelled)() {
                return Err(Error::Cancelled);
            }
            if visited == self.options.entries_max {
                self.listing.truncated = true;
                return Ok(());
            }
            visited += 1;
            self.visit(*entry);
        }
        Ok(())
    }

    fn visit(&mut self, entry: LiveEntry) {
        let skipped = &mut self.listing.skipped;
        let Some(level) = self.open.last() else { return };
        let name = level.directory.name_of(&entry);
        let shown = level.shown.as_ref().map(|shown| shown.join(name)).transpose();
        let (Ok(real), Ok(shown)) = (level.real.join(name), shown) else {
            skipped.unreadable += 1;
            return;
        };
        let kind = match entry.state {
            EntryState::Listed(kind) => kind,
            EntryState::Closed => EntryKind::Directory,
            EntryState::Ignored => {
                skipped.ignored += 1;
                return;
            }
            EntryState::Unreadable => {
                skipped.unreadable += 1;
                return;
            }
        };
        let keep = self.gate.keep;
        if !keep(&real) || shown.as_ref().is_some_and(|shown| !keep(shown)) {
            skipped.denied += 1;
            return;
        }
        let listed = |path| Entry {
            path,
            kind,
            size_bytes: (kind == EntryKind::File).then_some(entry.size_bytes),
            modified: Some(entry.modified),
            changed: Some(entry.changed_time()),
        };
        if kind != EntryKind::Directory || !self.options.recursive {
            self.listing.entries.push(listed(shown.unwrap_or(real)));
            return;
        }
        self.listing.entries.push(listed(shown.as_ref().unwrap_or(&real).clone()));
        match entry.state {
            EntryState::Closed => self.listing.skipped.unreadable += 1,
            _ => self.enter(entry.child, real, shown),
        }
    }
}
