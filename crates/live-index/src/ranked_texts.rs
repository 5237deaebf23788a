//! What searches of the code of a workspace use: the words of its texts, read in the
//! background, and before a search as far as something has changed.
//!
//! It knows what the policy lets every caller read and nothing else, in memory alone; what a single
//! caller may see is decided again for each of its calls, and nothing else changes a score. What editors
//! hold unsaved stands for the files.

mod commits;
mod gate;
mod kept_ranks;
mod reading;
mod saved;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use moss_policy::Policy;
use moss_ranking::{Meaning, RankedIndex, RankedSize, RankedView};
use moss_sdk::RelPath;
use moss_sdk::code_map::CodeMap;
use moss_sdk::code_search::{CodeSearch, CodeSearchFound};
use moss_workspace::{Buffers, FileMark, GateKey, LiveChanges, LiveTree, Workspace};

use self::commits::AskedCommits;
pub use self::commits::{CommitsTurn, HeadStamp};
pub use self::gate::{NearVectors, RankedGate};
use self::kept_ranks::KeptRanks;
use self::reading::ReadStamp;
use crate::text_index::IndexRules;

/// How long a question waits for texts that are not read yet.
const WAIT_MAX: Duration = Duration::from_secs(20);
/// How long a map waits for them: it only adds to what is known without.
const MAP_WAIT_MAX: Duration = Duration::from_secs(2);
/// Where more texts are not read yet, a map is not waited for at all: that time would not suffice.
const MAP_TEXTS_MAX: usize = 2_000;
/// How often a wait looks whether the caller has gone.
const WAIT_STEP: Duration = Duration::from_millis(50);
/// Most bytes of texts that are known; the words of further ones are not. They take about a third of
/// that in memory.
const TEXT_BYTES_MAX: u64 = 512 << 20;
/// Most callers of whom it is kept which texts they may see.
const VIEWS_MAX: usize = 4;

/// The words of the texts of one workspace.
#[derive(Debug, Default)]
pub(crate) struct RankedTexts {
    index: RwLock<RankedIndex>,
    work: Mutex<RankedWork>,
    /// Somebody has finished reading.
    done: Condvar,
    views: Mutex<VecDeque<(GateKey, RankedView)>>,
    ranks: KeptRanks,
    /// Whether anybody has asked.
    was_asked: AtomicBool,
    asked_commits: Mutex<AskedCommits>,
}

/// What is known of which texts, and what is to be read.
#[derive(Debug, Default)]
struct RankedWork {
    /// Up to which change of the tree.
    generation: u64,
    /// The policy by which files were kept or left out.
    policy: Option<Arc<Policy>>,
    known: HashMap<RelPath, KnownFile>,
    /// What is to be read, with the stamp of the last time that it was asked for.
    pending: BTreeMap<RelPath, ReadStamp>,
    /// How many texts are being read.
    reading: usize,
    next: u64,
    bytes: u64,
}

/// A file that may be read.
#[derive(Debug)]
struct KnownFile {
    /// When it was last asked for: what is read for an earlier stamp is old.
    stamp: ReadStamp,
    /// The mark of what was read; none where nothing was.
    mark: Option<FileMark>,
    unsaved: Option<Arc<str>>,
    bytes: u64,
}

/// Everything that a question is put to.
#[derive(Clone, Copy)]
pub(crate) struct RankedSources<'a> {
    pub tree: &'a LiveTree,
    pub files: &'a Workspace,
    pub rules: &'a dyn IndexRules,
    pub buffers: &'a dyn Buffers,
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// How the words of a workspace are doing.
#[derive(Debug, Clone, Copy, Default)]
pub struct RankedStatus {
    /// How large they are.
    pub size: RankedSize,
    /// How many texts are to be read.
    pub pending: usize,
}

// === impl RankedTexts ===

impl RankedTexts {
    /// Searches in what the files hold now. None where it cannot be known which there are.
    pub(crate) fn search(
        &self,
        sources: RankedSources<'_>,
        gate: RankedGate<'_>,
        search: &CodeSearch,
    ) -> Option<CodeSearchFound> {
        self.was_asked.store(true, Ordering::Relaxed);
        if !self.follow(sources) {
            return None;
        }
        self.take_in(sources, Instant::now() + WAIT_MAX);
        let pending = self.lock().unread() as u64;
        let index = self.frozen();
        let (sees_commits, near, shown) = (gate.sees_commits, gate.near, gate.shown(search));
        let view = self.view(&index, gate);
        let held =
            near.map(|near| (near, near.vectors.read().unwrap_or_else(PoisonError::into_inner)));
        let meaning =
            held.as_ref().map(|(near, vectors)| Meaning { question: near.question, vectors });
        let hits = index.answer_with(&shown, &view, sees_commits, meaning);
        let files = index.count(&view, &*search.wants) as u64;
        let incomplete = index.count_incomplete(&view, &*search.wants) as u64;
        Some(CodeSearchFound { hits, files, pending, incomplete, ranking: None })
    }

    /// Says which files beneath a directory are central. None where it is not known what they hold.
    pub(crate) fn map(
        &self,
        sources: RankedSources<'_>,
        gate: RankedGate<'_>,
        beneath: &RelPath,
    ) -> Option<CodeMap> {
        if !self.follow(sources) {
            return None;
        }
        if self.lock().unread() > MAP_TEXTS_MAX {
            return None;
        }
        self.take_in(sources, Instant::now() + MAP_WAIT_MAX);
        if self.lock().unread() > 0 {
            return None;
        }
        let index = self.frozen();
        let (name, changes) = (gate.name.clone(), index.changes());
        let ranks = self.ranks.of(name, changes, || index.rank_files(&self.view(&index, gate)));
        Some(ranks.beneath(beneath))
    }

    /// The index, with all that was put into it ready to be found.
    fn frozen(&self) -> RwLockReadGuard<'_, RankedIndex> {
        let is_frozen = self.index.read().unwrap_or_else(PoisonError::into_inner).is_frozen();
        if !is_frozen {
            self.index.write().unwrap_or_else(PoisonError::into_inner).freeze();
        }
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a caller may see, as far as possible from what was decided before.
    fn view(&self, index: &RankedIndex, gate: RankedGate<'_>) -> RankedView {
        let Some(name) = gate.name else {
            return index.view(&RankedView::default(), gate.sees);
        };
        let known = {
            let views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
            views.iter().find(|(known, _)| *known == name).map(|(_, view)| view.clone())
        };
        let view = index.view(&known.unwrap_or_default(), gate.sees);
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        views.retain(|(known, _)| *known != name);
        views.push_back((name, view.clone()));
        if views.len() > VIEWS_MAX {
            views.pop_front();
        }
        view
    }

    /// Up to which change of the tree it knows what has changed.
    pub(crate) fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// Whether anybody has asked since the daemon started.
    pub(crate) fn was_asked(&self) -> bool {
        self.was_asked.load(Ordering::Relaxed)
    }

    /// Reads all that is not known yet and puts the index in order. May take long.
    pub(crate) fn settle(&self, sources: RankedSources<'_>) {
        if !self.follow(sources) {
            return;
        }
        self.read_all(sources, None);
        self.index.write().unwrap_or_else(PoisonError::into_inner).freeze();
        while !(sources.cancelled)() {
            let plan = self.index.read().unwrap_or_else(PoisonError::into_inner).plan_merge();
            let Some(plan) = plan else { return };
            let merged = plan.run();
            self.index.write().unwrap_or_else(PoisonError::into_inner).install(merged);
        }
    }

    /// How it is doing.
    pub(crate) fn status(&self) -> RankedStatus {
        let size = self.index.read().unwrap_or_else(PoisonError::into_inner).size();
        RankedStatus { size, pending: self.lock().unread() }
    }

    /// Drops the index and the work; all texts are read anew.
    pub(crate) fn clear(&self) {
        let mut work = self.lock();
        // Whoever reads gives back what it took only later, and its stamps stay those of before.
        let (next, reading) = (work.next, work.reading);
        *work = RankedWork { next, reading, ..RankedWork::default() };
        self.index.write().unwrap_or_else(PoisonError::into_inner).clear();
        self.views.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.ranks.clear();
        *self.asked_commits() = AskedCommits::default();
    }

    /// Learns what has changed: forgets what is gone or closed, notes what is to be read. Returns whether
    /// that is known.
    fn follow(&self, sources: RankedSources<'_>) -> bool {
        let RankedSources { tree, rules, cancelled, .. } = sources;
        let mut work = self.lock();
        let Ok(Some(changes)) = tree.changes_since(work.generation, cancelled) else {
            return false;
        };
        let policy = rules.policy();
        let is_same = work.policy.as_ref().is_some_and(|known| Arc::ptr_eq(known, &policy));
        let admits = |path: &RelPath| rules.admits(&policy, path);
        let mut gone = Vec::new();
        if changes.is_everything || !is_same {
            work.sync(tree, &RelPath::root(), &admits, &mut gone);
        } else {
            work.tell(tree, &changes, &admits, &mut gone);
        }
        work.generation = changes.generation;
        work.policy = Some(policy);
        work.follow_buffers(sources.buffers);
        if !gone.is_empty() {
            let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
            for path in &gone {
                index.remove(path);
            }
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, RankedWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has all that is to be read read, here and by whoever does so already, up to an instant.
    fn take_in(&self, sources: RankedSources<'_>, until: Instant) {
        self.read_all(sources, Some(until));
        let mut work = self.lock();
        while work.reading > 0 && Instant::now() < until && !(sources.cancelled)() {
            let waited = self.done.wait_timeout(work, WAIT_STEP);
            work = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

// === impl RankedWork ===

impl RankedWork {
    fn unread(&self) -> usize {
        self.pending.len() + self.reading
    }

    /// Has a file read, whatever is known of it.
    fn ask(&mut self, path: &RelPath, unsaved: Option<Arc<str>>) {
        self.next += 1;
        let stamp = ReadStamp(self.next);
        match self.known.get_mut(path) {
            Some(known) => {
                known.stamp = stamp;
                known.unsaved = unsaved;
            }
            None => {
                let known = KnownFile { stamp, mark: None, unsaved, bytes: 0 };
                self.known.insert(path.clone(), known);
            }
        }
        self.pending.insert(path.clone(), stamp);
    }

    fn forget(&mut self, path: &RelPath, gone: &mut Vec<RelPath>) {
        self.pending.remove(path);
        if let Some(known) = self.known.remove(path) {
            self.bytes -= known.bytes;
            gone.push(path.clone());
        }
    }

    /// Compares all that lies beneath a directory.
    fn sync(
        &mut self,
        tree: &LiveTree,
        directory: &RelPath,
        admits: &dyn Fn(&RelPath) -> bool,
        gone: &mut Vec<RelPath>,
    ) {
        let mut present: BTreeMap<RelPath, FileMark> = BTreeMap::new();
        tree.files(directory, &mut |path, mark| {
            if admits(path) {
                present.insert(path.clone(), mark);
            }
        });
        let is_beneath = |path: &RelPath| match path.as_str().strip_prefix(directory.as_str()) {
            Some(rest) => directory.is_root() || rest.is_empty() || rest.starts_with('/'),
            None => false,
        };
        let missing: Vec<RelPath> = self
            .known
            .keys()
            .filter(|path| is_beneath(path) && !present.contains_key(*path))
            .cloned()
            .collect();
        missing.iter().for_each(|path| self.forget(path, gone));
        for (path, mark) in present {
            let is_read = self.known.get(&path).is_some_and(|known| {
                known.unsaved.is_none() && mark.is_sure && known.mark == Some(mark)
            });
            if !is_read && !self.pending.contains_key(&path) {
                let unsaved = self.known.get(&path).and_then(|known| known.unsaved.clone());
                self.ask(&path, unsaved);
            }
        }
    }

    fn tell(
        &mut self,
        tree: &LiveTree,
        changes: &LiveChanges,
        admits: &dyn Fn(&RelPath) -> bool,
        gone: &mut Vec<RelPath>,
    ) {
        for directory in &changes.subtrees {
            self.sync(tree, directory, admits, gone);
        }
        for path in &changes.files {
            match tree.file(path) {
                Some(_) if admits(path) => {
                    let unsaved = self.known.get(path).and_then(|known| known.unsaved.clone());
                    self.ask(path, unsaved);
                }
                _ => self.forget(path, gone),
            }
        }
    }

    /// Notes what editors hold by now, of files that may be read. Of what they hold and could not report the file
    /// counts, as it does where it is read.
    fn follow_buffers(&mut self, buffers: &dyn Buffers) {
        let held = buffers.unsaved_paths().into_iter().filter_map(|path| {
            let text = buffers.unsaved(&path)?;
            Some((path, text))
        });
        let unsaved: BTreeMap<RelPath, Arc<str>> = held.collect();
        let held: Vec<RelPath> = self
            .known
            .iter()
            .filter(|(path, known)| known.unsaved.is_some() && !unsaved.contains_key(*path))
            .map(|(path, _)| path.clone())
            .collect();
        held.iter().for_each(|path| self.ask(path, None));
        for (path, text) in unsaved {
            let is_new = self.known.get(&path).is_some_and(|known| {
                known
                    .unsaved
                    .as_ref()
                    .is_none_or(|held| !Arc::ptr_eq(held, &text) && **held != *text)
            });
            if is_new {
                self.ask(&path, Some(text));
            }
        }
    }
}
