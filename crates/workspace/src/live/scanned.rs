//! Which texts there are beneath a directory, from what is known of it, exactly as a walk would say.

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use moss_sdk::ranking::PathRank;

use super::answer::CANCEL_STEP;
use super::entry::{DirectoryNumber, EntryState, LiveEntry};
use super::kept::{KeptTerms, NumberedScan, ScanKey};
use super::known::KnownTree;
use super::store::LiveDirectory;
use crate::error::Error;
use crate::gate::{MayRead, VisitGate};
use crate::scan::{ScanTerms, ScannedTree, TreeDraft, rank_beneath};

/// A directory whose texts are being gathered.
struct ScannedLevel<'a> {
    directory: &'a LiveDirectory,
    /// How many entries are done.
    done: usize,
    /// Its number in the draft.
    number: u32,
    real: RelPath,
    /// Its path as the caller named it; none where that is the real one.
    shown: Option<RelPath>,
    /// What the names of the directories say of the files in it.
    rank: PathRank,
}

/// A scan of what is known in the making.
struct LiveScan<'a> {
    tree: &'a KnownTree,
    terms: ScanTerms<'a>,
    draft: TreeDraft,
    open: Vec<ScannedLevel<'a>>,
}

// === impl KnownTree ===

impl KnownTree {
    /// Finds the files beneath a directory that is known that are wanted and may be read.
    pub(super) fn scan(
        &self,
        number: DirectoryNumber,
        (real, shown): (&RelPath, &RelPath),
        terms: ScanTerms<'_>,
    ) -> Result<ScannedTree, Error> {
        let draft = TreeDraft::default();
        let mut scan = LiveScan { tree: self, terms, draft, open: Vec::new() };
        let named = (shown != real).then(|| shown.clone());
        scan.enter(number, (real.clone(), named), rank_beneath(shown));
        scan.run()?;
        Ok(scan.draft.finish())
    }

    /// As [`KnownTree::scan`], or a scan that was kept by the same terms.
    pub(super) fn scan_kept(
        &self,
        directory: DirectoryNumber,
        (real, shown): (&RelPath, &RelPath),
        terms: ScanTerms<'_>,
        kept: Option<KeptTerms>,
    ) -> Result<NumberedScan, Error> {
        let scan = || self.scan(directory, (real, shown), terms);
        let Some(kept) = kept else { return Ok(NumberedScan::once(scan()?)) };
        let (structure, real) = (self.store.structure, real.clone());
        let key = ScanKey { directory, real, structure };
        match self.kept.find(&kept, &key) {
            Some(found) => Ok(found),
            None => Ok(self.kept.add(kept, key, scan()?)),
        }
    }
}

// === impl LiveScan ===

impl LiveScan<'_> {
    fn enter(
        &mut self,
        number: DirectoryNumber,
        (real, shown): (RelPath, Option<RelPath>),
        rank: PathRank,
    ) {
        let Some(directory) = self.tree.store.get(number) else {
            self.draft.skipped.unreadable += 1;
            return;
        };
        self.draft.skipped.unreadable += directory.unnamed;
        self.draft.truncated |= directory.is_cut;
        let named = (shown.as_ref().unwrap_or(&real).clone(), real.clone());
        let number = self.draft.add_directory(named, directory.identity);
        self.open.push(ScannedLevel { directory, done: 0, number, real, shown, rank });
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut looked_at = 0_usize;
        while let Some(level) = self.open.last_mut() {
            let Some(entry) = level.directory.entries.get(level.done) else {
                self.open.pop();
                continue;
            };
            level.done += 1;
            if looked_at.is_multiple_of(CANCEL_STEP) && (self.terms.gate.cancelled)() {
                return Err(Error::Cancelled);
            }
            if looked_at == self.terms.entries_max {
                self.draft.truncated = true;
                return Ok(());
            }
            looked_at += 1;
            self.visit(*entry);
        }
        Ok(())
    }

    fn visit(&mut self, entry: LiveEntry) {
        let skipped = &mut self.draft.skipped;
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
        let Some(level) = self.open.last() else { return };
        let name = level.directory.name_of(&entry);
        let shown = level.shown.as_ref().map(|shown| shown.join(name)).transpose();
        let (Ok(real), Ok(shown)) = (level.real.join(name), shown) else {
            skipped.unreadable += 1;
            return;
        };
        let VisitGate { lists, reads, .. } = self.terms.gate;
        let asked = shown.as_ref().unwrap_or(&real);
        match kind {
            EntryKind::Directory => {
                if !lists(&real) || shown.as_ref().is_some_and(|shown| !lists(shown)) {
                    skipped.denied += 1;
                } else if entry.state == EntryState::Closed {
                    skipped.unreadable += 1;
                } else {
                    let rank = level.rank.max(PathRank::of_directory(name));
                    self.enter(entry.child, (real, shown), rank);
                }
            }
            EntryKind::File if (self.terms.wants)(asked) => match reads(&real, asked) {
                MayRead::Yes => {
                    let rank = level.rank.max(PathRank::of_name(name));
                    self.draft.add_file(level.number, name, rank);
                }
                MayRead::Unapproved => skipped.unapproved += 1,
                MayRead::No => skipped.denied += 1,
            },
            EntryKind::File | EntryKind::Symlink | EntryKind::Other => {}
        }
    }
}
