//! The index of a workspace: what is reported to it, what it finds, and how it is kept.
//!
//! `reading` reads documents that have changed, `merging` makes one segment of several. Only one
//! thread at a time does either; others may search and report meanwhile.

mod merging;
mod opening;
mod reading;

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use moss_sdk::RelPath;

use crate::cache::BlockCache;
use crate::candidates::{DocumentVerdict, LocatedDocuments, LocatedVerdicts, answer};
use crate::core::IndexCore;
use crate::document::{DocumentChange, DocumentMark, DocumentSource};
use crate::manifest::IndexManifest;
use crate::problem::IndexProblem;
use crate::query::GramQuery;
use crate::status::{IndexState, IndexStatus};
use crate::store::IndexStore;

/// How much an index may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexBounds {
    /// How many threads read documents.
    pub threads: usize,
    /// How many trigrams of documents are held while they are read, over all threads: 8 bytes each.
    pub reading_grams: usize,
    /// How many trigrams of changed documents are held before they are written: 4 bytes each.
    pub overlay_grams: usize,
    /// About how long the parts are into which a long text is cut.
    pub part_bytes: usize,
    /// Most trigrams of a part; a text with one that has more is looked at whatever is searched for.
    pub part_grams: usize,
    /// Most trigrams of all parts of a text, 8 bytes each while it is read; one that has more is looked at as well.
    pub document_grams: usize,
    /// Most memory for pieces of files that were read lately.
    pub cache_bytes: usize,
    /// Most segments; more are made one.
    pub segments: usize,
    /// Most bytes of all segments; an index that would take more is not kept. While segments are made one, both
    /// are there.
    pub disk_bytes: u64,
}

/// An index over the text files of a workspace.
pub struct TextIndex {
    store: Box<dyn IndexStore>,
    bounds: IndexBounds,
    core: RwLock<IndexCore>,
    cache: BlockCache,
    /// Held by whoever writes segments.
    settling: Mutex<()>,
    /// Held by whoever writes the manifest.
    saving: Mutex<()>,
    /// The directory is ours as long as this lives.
    lock: Mutex<Option<Box<dyn Any + Send + Sync>>>,
}

impl fmt::Debug for TextIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextIndex").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

// === impl IndexBounds ===

impl Default for IndexBounds {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, NonZero::get).min(8),
            reading_grams: 3 << 20,
            overlay_grams: 1 << 20,
            part_bytes: 2 << 10,
            part_grams: 200_000,
            document_grams: 3 << 20,
            cache_bytes: 4 << 20,
            segments: 6,
            disk_bytes: 2 << 30,
        }
    }
}

// === impl TextIndex ===

impl TextIndex {
    /// Opens the index of a directory. It is off where the directory cannot be used or another
    /// process has it; what is damaged is going to be read again.
    ///
    /// It knows nothing for sure before a listing of all documents: see [`Self::sync`].
    pub fn open(store: Box<dyn IndexStore>, bounds: IndexBounds) -> Self {
        let (core, lock) = opening::open(&*store);
        Self {
            store,
            bounds,
            core: RwLock::new(core),
            cache: BlockCache::new(bounds.cache_bytes),
            settling: Mutex::default(),
            saving: Mutex::default(),
            lock: Mutex::new(lock),
        }
    }

    /// Takes in the documents that there are, and that there are no others. Those with the mark of
    /// before are known already. Of those that are gone nothing stays in files once the index is
    /// settled.
    pub fn sync(&self, listing: impl IntoIterator<Item = (RelPath, DocumentMark)>) {
        let mut core = self.write();
        if core.off.is_none() {
            core.sync(listing);
        }
    }

    /// Takes in the documents that there are beneath some directories, and that there are no others
    /// beneath those. Where some of these may be denied by now, nothing of them stays in files once the index is
    /// settled.
    pub fn sync_beneath(
        &self,
        directories: &BTreeSet<RelPath>,
        listing: impl IntoIterator<Item = (RelPath, DocumentMark)>,
        are_denied: bool,
    ) {
        let mut core = self.write();
        if core.off.is_none() {
            core.sync_beneath(directories, listing, are_denied);
        }
    }

    /// Takes in changes of documents, in the order in which they happened.
    pub fn update(&self, changes: impl IntoIterator<Item = DocumentChange>) {
        let mut core = self.write();
        if core.off.is_none() {
            core.update(changes);
        }
    }

    /// Returns which of some documents may match a query, in their order. Every document that does is
    /// among those that may, as far as it was reported to the index.
    ///
    /// None where everything has to be searched: the index is off, or it was not reported yet
    /// which documents there are, or the query accepts every text.
    pub fn verdicts(
        &self,
        query: &GramQuery,
        paths: impl IntoIterator<Item = RelPath>,
    ) -> Option<Vec<DocumentVerdict>> {
        self.verdicts_located(query, None, || paths).map(|found| found.verdicts)
    }

    /// As [`TextIndex::verdicts`], of documents that were located for an earlier query: they are
    /// looked up by their paths only where the index has other documents since. Returns where they
    /// are, too.
    pub fn verdicts_located<P: IntoIterator<Item = RelPath>>(
        &self,
        query: &GramQuery,
        located: Option<Arc<LocatedDocuments>>,
        paths: impl FnOnce() -> P,
    ) -> Option<LocatedVerdicts> {
        let (found, damaged) = {
            let core = self.read();
            if core.off.is_some() || !core.has_listing || query.accepts_every_text() {
                return None;
            }
            let current = located.filter(|located| located.is_current(&core));
            let find = || Arc::new(LocatedDocuments::find(&core, paths()));
            let located = current.unwrap_or_else(find);
            answer(&core, &self.cache, query, located)
        };
        if !damaged.is_empty() {
            let mut core = self.write();
            for (number, problem) in damaged {
                core.drop_segment(number, problem);
            }
        }
        Some(found)
    }

    /// Whether documents wait to be read, such as those of a segment that a search found to be damaged.
    pub fn has_pending(&self) -> bool {
        let core = self.read();
        core.off.is_none() && core.pending > 0
    }

    /// Reads what has changed, and writes and merges segments where that is worth the while. Returns
    /// whether all documents were read: not where it was cancelled or the index is off.
    ///
    /// May take long; documents that it has read are known at once.
    pub fn settle(
        &self,
        source: &dyn DocumentSource,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> bool {
        let _settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        let is_off_or_unlisted = {
            let core = self.read();
            core.off.is_some() || !core.has_listing
        };
        if is_off_or_unlisted {
            return false;
        }
        let settled = self.read_pending(source, cancelled);
        let settled = settled.and_then(|()| self.merge_stale(cancelled));
        self.or_off(settled.and_then(|()| self.sweep()));
        let core = self.read();
        core.off.is_none() && core.pending == 0
    }

    /// Writes what is only in memory, so that it need not be read again by the next process.
    pub fn persist(&self) {
        let _settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.read().off.is_none() {
            self.or_off(self.write_overlay().and_then(|()| self.sweep()));
        }
    }

    /// Forgets everything, on disk as well. What there is has to be reported anew.
    pub fn clear(&self) {
        let _settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.read().off.is_some() {
            return;
        }
        let next = self.read().manifest().next;
        *self.write() = IndexCore::empty(next);
        self.cache.clear();
        self.or_off(self.save().and_then(|()| self.sweep()));
    }

    /// Why it is off. None also while somebody changes what it knows: nobody is waited for.
    pub fn off_problem(&self) -> Option<IndexProblem> {
        self.core.try_read().ok()?.off.clone()
    }

    /// Says what the index can do at the moment.
    pub fn status(&self) -> IndexStatus {
        let core = self.read();
        let documents = core.documents.len() as u64;
        let state = match &core.off {
            Some(problem) => IndexState::Off(problem.clone()),
            None if core.has_listing && core.pending == 0 => IndexState::Ready,
            None => IndexState::Building,
        };
        IndexStatus {
            state,
            documents,
            indexed: documents - core.pending as u64,
            binary: core.binary as u64,
            disk_bytes: core.disk_bytes(),
            memory_bytes: (core.memory_bytes() + self.cache.bytes()) as u64,
            segments: core.segments.len() as u64,
            generation: core.generation,
            problem: core.problem.clone(),
        }
    }

    /// Writes the manifest; one writer at a time.
    fn save(&self) -> Result<(), IndexProblem> {
        let _saving = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        let manifest = self.read().manifest();
        manifest.save(&*self.store)
    }

    /// Removes the files that the saved manifest does not name. Only where no segment is being
    /// written: it would go as well. A manifest that somebody damaged or removed is written anew: what is in
    /// memory was read from files that were whole.
    fn sweep(&self) -> Result<(), IndexProblem> {
        let known = self.read().manifest();
        let has_all = |saved: &IndexManifest| {
            known.segments.iter().all(|segment| saved.segments.contains(segment))
        };
        let manifest = match IndexManifest::load(&*self.store).ok().filter(has_all) {
            Some(saved) => saved,
            None => {
                self.save()?;
                known
            }
        };
        opening::remove_outlived(&*self.store, &manifest, false)
    }

    /// Turns the index off where something cannot be written.
    fn or_off(&self, done: Result<(), IndexProblem>) {
        let Err(problem) = done else { return };
        let mut core = IndexCore::empty(0);
        core.off = Some(problem);
        *self.write() = core;
        self.cache.clear();
        // What was written takes space, and nobody reads it again before it is checked.
        let _ = opening::remove_outlived(&*self.store, &IndexManifest::default(), true);
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn read(&self) -> RwLockReadGuard<'_, IndexCore> {
        self.core.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, IndexCore> {
        self.core.write().unwrap_or_else(PoisonError::into_inner)
    }
}
