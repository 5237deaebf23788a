//! A live tree: what is in a workspace, known without walking it, and never stale.
//!
//! It is built once, by a walk, and kept in memory. Before each result it takes in all that the
//! kernel reported until then ([`events`]), and looks again at what gives no events; what it then
//! says is what [`Workspace::list`] would. Where there are no events at all it sweeps: it looks at
//! everything again, which costs what a walk costs. Listings walk then; searches sweep, as what is known
//! of texts spares them reading.
//!
//! It says what there is, never what a file holds: files are opened through the same door as ever.
//! What the policy denies it does not know; each caller brings its own gate.

mod answer;
mod at_once;
mod changed;
mod entry;
mod events;
mod kept;
mod known;
mod listed;
mod listings;
mod mounts;
mod refresh;
mod scanned;
mod sighted;
mod store;
mod sweeping;
mod taken;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use moss_sdk::RelPath;
use moss_sdk::context::TextVisitor;
use moss_sdk::file::{ListOptions, Listing, VisitOptions, Visited};
use moss_sdk::tree_listing::TreeListing;

use self::answer::ListGate;
pub use self::changed::LiveChanges;
use self::entry::DirectoryNumber;
use self::kept::KeptTerms;
pub use self::kept::ScannedPaths;
use self::known::{Halt, KnownTree};
use self::sighted::TreeLook;
pub use self::sweeping::SweepPosition;
use crate::error::Error;
use crate::file_mark::FileMark;
use crate::gate::{ListingGate, VisitGate};
use crate::root::Workspace;
use crate::scan::ScanTerms;
use crate::visiting::KnownTexts;

/// Why there are no events where none are asked for.
const NO_EVENTS_WANTED: &str = "events are turned off";

/// Bounds of a live tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveOptions {
    /// Most entries that are kept; a tree with more is not kept at all.
    pub entries_max: usize,
    /// Most directories that are watched.
    pub watches_max: usize,
    /// Most changes that are remembered.
    pub changes_max: usize,
    /// Whether to use events where there are any.
    pub with_events: bool,
}

/// Says what is known of the texts of files, by their real paths and in their order.
pub type TextKnowledge<'a> = &'a dyn Fn(&ScannedPaths<'_>) -> KnownTexts;

/// What a live tree does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveState {
    /// It is walked for the first time.
    Building,
    /// It is kept up to date by events.
    Live,
    /// It is looked through each time, as there are no events.
    Sweeping,
    /// It is not kept.
    Off,
}

/// How a live tree is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveStatus {
    /// Whether it is being built, follows events, is looked through each time, or is off.
    pub state: LiveState,
    /// Why it does not live on events.
    pub reason: Option<String>,
    /// How many directories are watched.
    pub watched: usize,
    /// How many entries are known so far.
    pub entries: usize,
    /// Roughly how much memory they take.
    pub memory_bytes: usize,
}

/// The live tree of one workspace.
#[derive(Debug)]
pub struct LiveTree {
    workspace: Arc<Workspace>,
    options: LiveOptions,
    /// How many entries the first walk came to.
    found: AtomicUsize,
    knowledge: RwLock<Knowledge>,
}

#[derive(Debug)]
enum Knowledge {
    Building,
    Known(Box<KnownTree>),
    Off(String),
}

// === impl LiveOptions ===

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            entries_max: 2_000_000,
            watches_max: 1_000_000,
            changes_max: 65_536,
            with_events: true,
        }
    }
}

// === impl LiveTree ===

impl LiveTree {
    /// Makes one of which nothing is known yet.
    pub fn new(workspace: Arc<Workspace>, options: LiveOptions) -> Self {
        let knowledge = RwLock::new(Knowledge::Building);
        Self { workspace, options, found: AtomicUsize::new(0), knowledge }
    }

    /// Walks the workspace and keeps what is there from then on. Takes long; until it is done
    /// nothing is known.
    pub fn build(&self, cancelled: &dyn Fn() -> bool) {
        let built = self.built(cancelled);
        *self.write() = match built {
            Ok(tree) => Knowledge::Known(Box::new(tree)),
            Err(reason) => Knowledge::Off(reason),
        };
    }

    fn built(&self, cancelled: &dyn Fn() -> bool) -> Result<KnownTree, String> {
        let mut tree = KnownTree::new(&self.workspace, self.options)
            .map_err(|errno| format!("the root cannot be opened: {errno}"))?;
        let progress = |entries| self.found.store(entries, Ordering::Relaxed);
        let mut look = TreeLook::new(&self.workspace, cancelled);
        look.progress = &progress;
        match tree.settle_doubts(&mut look) {
            // What is in doubt is looked at before the first result.
            Ok(()) | Err(Halt::Unsteady) => {}
            Err(Halt::Cancelled) => return Err("the walk was cancelled".to_owned()),
            Err(Halt::TooLarge) => return Err(self.too_large()),
        }
        tree.log.clear();
        Ok(tree)
    }

    /// Lists a directory as [`Workspace::list`] does. None where a walk has to: it is not known yet or
    /// at all, or there are no events, or it is a directory that an ignore file names.
    ///
    /// # Errors
    ///
    /// As [`Workspace::list`].
    pub fn list(
        &self,
        directory: &RelPath,
        options: ListOptions,
        keep: &dyn Fn(&RelPath) -> bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Listing>, Error> {
        let list = |tree: &KnownTree, number, real: &RelPath| {
            tree.list(number, (real, directory), options, ListGate { keep, cancelled })
        };
        if self.has_events() == Some(false) {
            return Ok(None);
        }
        self.ask(directory, cancelled, &list)
    }

    /// Lists all that is beneath a directory, as [`LiveTree::list`] does. None also where that may be more
    /// entries than so many.
    ///
    /// # Errors
    ///
    /// As [`Workspace::list`].
    pub fn list_tree(
        &self,
        directory: &RelPath,
        entries_max: usize,
        gate: ListingGate<'_>,
    ) -> Result<Option<TreeListing>, Error> {
        let list = |tree: &KnownTree, number, real: &RelPath| {
            tree.list_tree(number, (real, directory), entries_max, gate)
        };
        if self.has_events() == Some(false) {
            return Ok(None);
        }
        self.ask(directory, gate.cancelled, &list).map(Option::flatten)
    }

    /// Has scanners of a visitor look at texts as [`Workspace::visit_texts`] does. `known` is asked
    /// once what is known of them by their real paths, in the order of the walk; what it does not
    /// speak of is read. Without events the sizes and times of all files are looked at first. None where
    /// a walk has to: it is not known yet or at all, or it is a directory that an ignore file names.
    ///
    /// # Errors
    ///
    /// As [`Workspace::visit_texts`].
    pub fn visit_texts(
        &self,
        directory: &RelPath,
        options: VisitOptions,
        gate: VisitGate<'_>,
        visitor: &mut dyn TextVisitor,
        known: TextKnowledge<'_>,
    ) -> Result<Option<Visited>, Error> {
        let entries_max = options.entries_max;
        let terms = ScanTerms { gate, wants: &|path| visitor.wants(path), entries_max };
        let scan = |tree: &KnownTree, number, real: &RelPath| {
            let named = gate.name.cloned().zip(visitor.choice());
            let shown = directory.clone();
            let kept = named.map(|(gate, choice)| KeptTerms { gate, choice, shown, entries_max });
            tree.scan_kept(number, (real, directory), terms, kept)
        };
        let Some(scanned) = self.ask(directory, gate.cancelled, &scan)? else { return Ok(None) };
        let known = known(&scanned.paths());
        self.workspace.visit_scanned(&scanned.tree, known, options, gate, visitor).map(Some)
    }

    /// Asks what is known of a directory, brought up to date. None where nothing is, or not enough.
    fn ask<T>(
        &self,
        directory: &RelPath,
        cancelled: &dyn Fn() -> bool,
        answer: &dyn Fn(&KnownTree, DirectoryNumber, &RelPath) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let Some(knowledge) = self.refreshed(self.write(), cancelled)? else { return Ok(None) };
        let Knowledge::Known(tree) = &*knowledge else { return Ok(None) };
        let (place, _) = self.workspace.open_directory(directory)?;
        self.workspace.check_not_own(directory, &place.path)?;
        let number = tree.store.find(&place.path);
        let is_known = |number: &u32| {
            tree.store.get(*number).is_some_and(|known| known.identity == place.stat.identity)
        };
        let Some(number) = number.filter(is_known) else { return Ok(None) };
        answer(tree, number, &place.path).map(Some)
    }

    /// Returns what is to be looked at again since a generation that an earlier call returned; with 0,
    /// everything. None where the tree is not known.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    pub fn changes_since(
        &self,
        generation: u64,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<LiveChanges>, Error> {
        let Some(knowledge) = self.refreshed(self.write(), cancelled)? else { return Ok(None) };
        let Knowledge::Known(tree) = &*knowledge else { return Ok(None) };
        Ok(Some(tree.log.since(generation)))
    }

    /// As [`LiveTree::changes_since`], as of the last look: for those who have just had one.
    pub fn changes_seen(&self, generation: u64) -> Option<LiveChanges> {
        match &*self.read() {
            Knowledge::Known(tree) => Some(tree.log.since(generation)),
            Knowledge::Building | Knowledge::Off(_) => None,
        }
    }

    /// Comes to every regular file beneath a directory that a walk would come to, in path order, as
    /// of the last look. Returns whether the directory is known.
    pub fn files(&self, directory: &RelPath, visit: &mut dyn FnMut(&RelPath, FileMark)) -> bool {
        match &*self.read() {
            Knowledge::Known(tree) => tree.files(directory, visit),
            Knowledge::Building | Knowledge::Off(_) => false,
        }
    }

    /// Returns what is known of one regular file, as of the last look.
    pub fn file(&self, path: &RelPath) -> Option<FileMark> {
        match &*self.read() {
            Knowledge::Known(tree) => tree.file(path),
            Knowledge::Building | Knowledge::Off(_) => None,
        }
    }

    /// Returns how it is doing.
    pub fn status(&self) -> LiveStatus {
        let knowledge = self.read();
        let mut status = LiveStatus {
            state: LiveState::Building,
            reason: None,
            watched: 0,
            entries: self.found.load(Ordering::Relaxed),
            memory_bytes: 0,
        };
        match &*knowledge {
            Knowledge::Building => {}
            Knowledge::Off(reason) => {
                status.state = LiveState::Off;
                status.reason = Some(reason.clone());
            }
            Knowledge::Known(tree) => {
                let is_live = tree.events.is_some();
                status.state = if is_live { LiveState::Live } else { LiveState::Sweeping };
                status.reason = tree.reason.clone();
                status.watched = tree.store.watched();
                status.entries = tree.store.entries;
                status.memory_bytes = tree.store.bytes() + tree.listings.bytes();
            }
        }
        status
    }

    /// Whether events say what changes; none where nothing is known.
    fn has_events(&self) -> Option<bool> {
        match &*self.read() {
            Knowledge::Known(tree) => Some(tree.events.is_some()),
            Knowledge::Building | Knowledge::Off(_) => None,
        }
    }

    /// Brings what is known up to date. None where that cannot be done.
    fn refreshed<'a>(
        &self,
        mut knowledge: RwLockWriteGuard<'a, Knowledge>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<RwLockReadGuard<'a, Knowledge>>, Error> {
        let Knowledge::Known(tree) = &mut *knowledge else { return Ok(None) };
        let settled = tree.refresh(&mut TreeLook::new(&self.workspace, cancelled));
        self.settled(knowledge, settled)
    }

    fn settled<'a>(
        &self,
        mut knowledge: RwLockWriteGuard<'a, Knowledge>,
        settled: Result<(), Halt>,
    ) -> Result<Option<RwLockReadGuard<'a, Knowledge>>, Error> {
        match settled {
            Ok(()) => Ok(Some(RwLockWriteGuard::downgrade(knowledge))),
            Err(Halt::Cancelled) => Err(Error::Cancelled),
            Err(Halt::Unsteady) => Ok(None),
            Err(Halt::TooLarge) => {
                *knowledge = Knowledge::Off(self.too_large());
                Ok(None)
            }
        }
    }

    fn too_large(&self) -> String {
        format!("there are more than {} entries", self.options.entries_max)
    }

    fn read(&self) -> RwLockReadGuard<'_, Knowledge> {
        self.knowledge.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What somebody left in the midst of a change is not relied on.
    fn write(&self) -> RwLockWriteGuard<'_, Knowledge> {
        self.knowledge.write().unwrap_or_else(|poisoned| {
            let mut knowledge = poisoned.into_inner();
            *knowledge = Knowledge::Off("an internal error".to_owned());
            self.knowledge.clear_poison();
            knowledge
        })
    }
}
