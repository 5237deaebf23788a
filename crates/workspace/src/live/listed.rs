//! Everything beneath a directory that is known, exactly as a walk would list it.

use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::file::{EntryKind, Skipped};
use moss_sdk::tree_listing::{EntryNumber, TreeListing, TreeNamesDraft};

use super::answer::CANCEL_STEP;
use super::entry::{DirectoryNumber, EntryState, LiveEntry, NONE};
use super::kept::ScanKey;
use super::known::KnownTree;
use super::listings::{ListedTree, ListingTerms};
use super::store::TreeStore;
use crate::error::Error;
use crate::gate::ListingGate;

/// How many of the files that changed last a listing names.
const CHANGED_LAST_MAX: usize = 30;

/// A listing in the making.
struct ListedDraft<'a> {
    store: &'a TreeStore,
    gate: ListingGate<'a>,
    draft: TreeNamesDraft,
    directories: Vec<DirectoryNumber>,
    positions: Vec<u32>,
    skipped: Skipped,
    truncated: bool,
    looked_at: usize,
    open: Vec<EnteredDirectory>,
}

/// A directory whose entries are come to.
struct EnteredDirectory {
    number: DirectoryNumber,
    /// The entries that are left.
    left: std::ops::Range<EntryNumber>,
    real: RelPath,
    /// Its path as the caller named it; none where that is the real one.
    shown: Option<RelPath>,
}

// === impl KnownTree ===

impl KnownTree {
    /// Lists all that is beneath a directory that is known. None where that may be more than wanted.
    pub(super) fn list_tree(
        &self,
        directory: DirectoryNumber,
        (real, shown): (&RelPath, &RelPath),
        entries_max: usize,
        gate: ListingGate<'_>,
    ) -> Result<Option<TreeListing>, Error> {
        if self.store.entries > entries_max {
            return Ok(None);
        }
        let list = || ListedDraft::of(&self.store, directory, (real, shown), gate);
        let tree = match gate.name.cloned() {
            None => Arc::new(list()?),
            Some(name) => {
                let terms = ListingTerms { gate: name, shown: shown.clone() };
                let (structure, real) = (self.store.structure, real.clone());
                let key = ScanKey { directory, real, structure };
                match self.listings.find(&terms, &key) {
                    Some(found) => found,
                    None => self.listings.add(terms, key, list()?),
                }
            }
        };
        let listing = tree.listing(&self.store);
        if real != shown {
            return Ok(Some(listing));
        }
        let latest = self.log.latest(CHANGED_LAST_MAX).into_iter();
        let files = latest.filter_map(|path| tree.names.find(path)).collect::<Vec<_>>();
        Ok(Some(listing.with_changed_last(files)))
    }
}

// === impl ListedDraft ===

impl<'a> ListedDraft<'a> {
    fn of(
        store: &'a TreeStore,
        directory: DirectoryNumber,
        (real, shown): (&RelPath, &RelPath),
        gate: ListingGate<'a>,
    ) -> Result<ListedTree, Error> {
        let mut listed = Self {
            store,
            gate,
            draft: TreeNamesDraft::default(),
            directories: Vec::new(),
            positions: Vec::new(),
            skipped: Skipped::default(),
            truncated: false,
            looked_at: 0,
            open: Vec::new(),
        };
        let named = (shown != real).then(|| shown.clone());
        listed.enter(directory, (real.clone(), named), None)?;
        listed.run()?;
        Ok(ListedTree {
            names: Arc::new(listed.draft.finish(listed.skipped, listed.truncated)),
            directories: listed.directories.into(),
            positions: listed.positions.into(),
        })
    }

    /// Comes to the entries in path order, and to those of a directory right behind it.
    fn run(&mut self) -> Result<(), Error> {
        while let Some(level) = self.open.last_mut() {
            let Some(next) = level.left.next() else {
                self.open.pop();
                continue;
            };
            self.draft.come_to(next);
            let (name, kind) = self.draft.entry(next);
            if kind != EntryKind::Directory {
                continue;
            }
            let shown = level.shown.as_ref().map(|shown| shown.join(name)).transpose();
            // Both were joined before, when it was looked at.
            let (Ok(real), Ok(shown)) = (level.real.join(name), shown) else { continue };
            let position = self.positions[next as usize] as usize;
            let known = self.store.get(level.number).and_then(|known| known.entries.get(position));
            let child = match known {
                Some(entry) if entry.state != EntryState::Closed => entry.child,
                _ => NONE,
            };
            self.enter(child, (real, shown), Some(next))?;
        }
        Ok(())
    }

    /// Takes in the entries of a directory.
    fn enter(
        &mut self,
        number: DirectoryNumber,
        (real, shown): (RelPath, Option<RelPath>),
        itself: Option<EntryNumber>,
    ) -> Result<(), Error> {
        self.draft.add_directory(shown.as_ref().unwrap_or(&real).clone(), itself);
        self.directories.push(number);
        let Some(directory) = self.store.get(number) else {
            self.skipped.unreadable += 1;
            return Ok(());
        };
        self.skipped.unreadable += directory.unnamed;
        self.truncated |= directory.is_cut;
        for (position, entry) in (0..).zip(&directory.entries) {
            if self.looked_at.is_multiple_of(CANCEL_STEP) && (self.gate.cancelled)() {
                return Err(Error::Cancelled);
            }
            self.looked_at += 1;
            let name = directory.name_of(entry);
            if let Some(kind) = self.judge(entry, name, (&real, shown.as_ref())) {
                self.draft.add(name, kind);
                self.positions.push(position);
            }
        }
        let left = self.draft.last_entries();
        self.open.push(EnteredDirectory { number, left, real, shown });
        Ok(())
    }

    /// What an entry is listed as, if it is; else counts it.
    fn judge(
        &mut self,
        entry: &LiveEntry,
        name: &str,
        (real, shown): (&RelPath, Option<&RelPath>),
    ) -> Option<EntryKind> {
        let kind = match entry.state {
            EntryState::Listed(kind) => kind,
            EntryState::Closed => EntryKind::Directory,
            EntryState::Ignored => {
                self.skipped.ignored += 1;
                return None;
            }
            EntryState::Unreadable => {
                self.skipped.unreadable += 1;
                return None;
            }
        };
        // What is listed by its real path has one that can be named.
        if self.gate.lists_all && shown.is_none() {
            return Some(kind);
        }
        let shown = shown.map(|shown| shown.join(name)).transpose();
        let (Ok(real), Ok(shown)) = (real.join(name), shown) else {
            self.skipped.unreadable += 1;
            return None;
        };
        let lists = |path| self.gate.lists_all || (self.gate.lists)(path);
        if !lists(&real) || shown.as_ref().is_some_and(|shown| !lists(shown)) {
            self.skipped.denied += 1;
            return None;
        }
        Some(kind)
    }
}
