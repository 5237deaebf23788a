//! What is in a workspace, known without walking and mostly without reading it: asked by every listing
//! and search of a daemon.
//!
//! Commands without a daemon walk: they end before a tree would be of use.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use moss_index::{IndexProblem, IndexStatus};
use moss_sdk::RelPath;
use moss_sdk::code_map::CodeMap;
use moss_sdk::code_search::{CodeSearch, CodeSearchFound};
use moss_sdk::context::TextVisitor;
use moss_sdk::file::{ListOptions, Listing, VisitOptions, Visited};
use moss_sdk::tree_listing::TreeListing;
use moss_workspace::{
    Buffers, Error, FileMark, KnownTexts, ListingGate, LiveChanges, LiveOptions, LiveState,
    LiveStatus, LiveTree, ScannedPaths, SweepPosition, VisitGate, Workspace,
};

use crate::ranked_texts::{
    CommitsTurn, HeadStamp, RankedGate, RankedSources, RankedStatus, RankedTexts,
};
use crate::sweep_clock::SweepClock;
use crate::text_index::{IndexRules, IndexedTexts};
use moss_config::ExcludedPaths;

/// The words of a tree of more entries are only read once somebody asks a question.
const UNASKED_ENTRIES_MAX: usize = 50_000;

/// The tree of a workspace with the index of its texts, and whether anybody asks it.
#[derive(Debug)]
pub struct KeptTree {
    tree: LiveTree,
    files: Arc<Workspace>,
    texts: OnceLock<IndexedTexts>,
    /// Where it is stored, and most bytes that it takes there.
    stored: (PathBuf, u64),
    /// Why it is missing, where it could not even be opened.
    missing: String,
    ranked: RankedTexts,
    excluded: ExcludedPaths,
    sweeps: SweepClock,
}

/// What an index of texts may know and take.
#[derive(Debug)]
pub struct TextSettings {
    /// Where it is stored.
    pub directory: PathBuf,
    /// Which files it leaves out.
    pub excluded: ExcludedPaths,
    /// Most bytes that it takes on disk.
    pub disk_bytes_max: u64,
}

// === impl KeptTree ===

impl KeptTree {
    /// Makes one of which nothing is known yet but what a directory of moss's own keeps of texts.
    pub fn new(files: Arc<Workspace>, options: LiveOptions, settings: TextSettings) -> Self {
        let TextSettings { directory, excluded, disk_bytes_max } = settings;
        let opened = IndexedTexts::open(directory.clone(), disk_bytes_max);
        opened.iter().for_each(IndexedTexts::make_room);
        let missing = opened.as_ref().map_or_else(ToString::to_string, |_| String::new());
        Self {
            tree: LiveTree::new(Arc::clone(&files), options),
            files,
            texts: opened.map_or_else(|_| OnceLock::new(), OnceLock::from),
            stored: (directory, disk_bytes_max),
            missing,
            ranked: RankedTexts::default(),
            excluded,
            sweeps: SweepClock::new(),
        }
    }

    /// Walks the workspace; from then on it is known.
    pub fn build(&self, cancelled: &dyn Fn() -> bool) {
        let started = Instant::now();
        self.tree.build(cancelled);
        self.sweeps.note(started);
    }

    /// Looks at everything again, for what no event reports, where it knows from events; else has events reported
    /// again, where what was in the way has gone.
    pub fn sweep(&self, cancelled: &dyn Fn() -> bool) {
        let started = Instant::now();
        let swept = match self.tree.status().state {
            LiveState::Live => self.tree.sweep(cancelled),
            LiveState::Sweeping => self.tree.watch_again(cancelled),
            LiveState::Building | LiveState::Off => Ok(()),
        };
        // Cancelled: the daemon ends.
        if swept.is_ok() {
            self.sweeps.note(started);
        }
    }

    /// How long the background waits until everything is looked at again.
    pub fn sweep_pause(&self) -> Duration {
        self.sweeps.pause()
    }

    /// Whether somebody asked lately: else the background looks at nothing, and who asks looks first.
    pub fn is_in_use(&self) -> bool {
        self.sweeps.is_in_use(Instant::now())
    }

    /// Takes in that somebody asks. What no event reports is looked at first where that was long ago.
    fn ask(&self, cancelled: &dyn Fn() -> bool) -> Result<(), Error> {
        if self.sweeps.ask(Instant::now()) && self.tree.status().state == LiveState::Live {
            let look = |from: &mut SweepPosition| self.tree.sweep_from(from, cancelled);
            self.sweeps.look_first(&look, cancelled)?;
        }
        Ok(())
    }

    /// Why the index of texts is off or could not be opened, where that may pass.
    pub fn passing_problem(&self) -> Option<IndexProblem> {
        match self.texts.get() {
            Some(texts) => texts.passing_problem(),
            None => Some(IndexProblem::Unusable { reason: self.missing.clone() }),
        }
    }

    /// Opens the index of texts again where it is off. May wait for disks.
    pub fn reopen_texts(&self) {
        if let Some(texts) = self.texts.get() {
            return texts.reopen(&|| self.text_bytes());
        }
        let (directory, disk_bytes_max) = self.stored.clone();
        if let Ok(opened) = IndexedTexts::open(directory, disk_bytes_max) {
            self.texts.get_or_init(|| opened).note_work();
        }
    }

    /// The size of all files that an index of texts may read.
    fn text_bytes(&self) -> u64 {
        let (mut text_bytes, bytes_max) = (0, self.files.limits().search_bytes_max);
        self.tree.files(&RelPath::root(), &mut |_, found| {
            text_bytes += if found.size_bytes <= bytes_max { found.size_bytes } else { 0 };
        });
        text_bytes
    }

    /// Reads the texts that the index does not know yet. May take long.
    pub fn read_texts(
        &self,
        files: &Workspace,
        rules: &dyn IndexRules,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) {
        if let Some(texts) = self.texts.get()
            && texts.follow(&self.tree, rules, cancelled)
        {
            texts.settle(files, rules, cancelled);
            texts.note_refused(&|| self.text_bytes());
        }
    }

    /// Reads the words of texts that are not known yet, where somebody will ask for them. May take long.
    pub fn read_words(
        &self,
        files: &Workspace,
        (rules, buffers): (&dyn IndexRules, &dyn Buffers),
        cancelled: &(dyn Fn() -> bool + Sync),
    ) {
        let status = self.tree.status();
        let is_live = status.state == LiveState::Live;
        if is_live && (status.entries <= UNASKED_ENTRIES_MAX || self.ranked.was_asked()) {
            let tree = &self.tree;
            self.ranked.settle(RankedSources { tree, files, rules, buffers, cancelled });
        }
    }

    /// Searches code in what files hold now. None where a walk has to.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    pub fn search_code(
        &self,
        files: &Workspace,
        (rules, buffers): (&dyn IndexRules, &dyn Buffers),
        gate: RankedGate<'_>,
        search: &CodeSearch,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<CodeSearchFound>, Error> {
        self.ask(cancelled)?;
        match self.tree.status().state {
            LiveState::Live => {}
            // No event says what has changed.
            LiveState::Sweeping => self.tree.sweep(cancelled)?,
            LiveState::Building | LiveState::Off => return Ok(None),
        }
        let sources = RankedSources { tree: &self.tree, files, rules, buffers, cancelled };
        let known = self.ranked.generation();
        let found = self.ranked.search(sources, gate, search);
        // What keeps up in the background, vectors among it, hears of changes from whoever asks.
        if let Some(texts) = self.texts.get().filter(|_| self.ranked.generation() != known) {
            texts.note_work();
        }
        if cancelled() { Err(Error::Cancelled) } else { Ok(found) }
    }

    /// Says which files beneath a directory are central. None where too little is known.
    pub fn map_code(
        &self,
        files: &Workspace,
        (rules, buffers): (&dyn IndexRules, &dyn Buffers),
        gate: RankedGate<'_>,
        beneath: &RelPath,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<CodeMap> {
        let status = self.tree.status();
        let is_asked = status.entries <= UNASKED_ENTRIES_MAX || self.ranked.was_asked();
        if status.state != LiveState::Live || !is_asked {
            return None;
        }
        let tree = &self.tree;
        let sources = RankedSources { tree, files, rules, buffers, cancelled };
        self.ranked.map(sources, gate, beneath)
    }

    /// The files whose texts are known as they are on the disk, and whether those are all. None where too little is
    /// known.
    pub fn saved_files(
        &self,
        files: &Workspace,
        (rules, buffers): (&dyn IndexRules, &dyn Buffers),
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<(Vec<(RelPath, FileMark)>, bool)> {
        let tree = self.live_tree()?;
        self.ranked.saved(RankedSources { tree, files, rules, buffers, cancelled })
    }

    /// Which of these files are among them.
    pub fn saved_among(
        &self,
        files: &Workspace,
        (rules, buffers): (&dyn IndexRules, &dyn Buffers),
        paths: &[RelPath],
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<RelPath>> {
        let tree = self.live_tree()?;
        self.ranked.saved_among(RankedSources { tree, files, rules, buffers, cancelled }, paths)
    }

    /// What is to be looked at again since a generation, as [`LiveTree::changes_since`]. None where no event says so.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    pub fn changes_since(
        &self,
        generation: u64,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<LiveChanges>, Error> {
        self.ask(cancelled)?;
        match self.live_tree() {
            Some(tree) => tree.changes_since(generation, cancelled),
            None => Ok(None),
        }
    }

    /// Comes to every file beneath a directory, as [`LiveTree::files`].
    pub fn files(&self, directory: &RelPath, visit: &mut dyn FnMut(&RelPath, FileMark)) -> bool {
        self.tree.files(directory, visit)
    }

    /// Returns what is known of one file, as [`LiveTree::file`].
    pub fn file(&self, path: &RelPath) -> Option<FileMark> {
        self.tree.file(path)
    }

    /// The tree, where events say what changes in it.
    fn live_tree(&self) -> Option<&LiveTree> {
        (self.tree.status().state == LiveState::Live).then_some(&self.tree)
    }

    /// How `HEAD` of the workspace is, where its words are known. May wait for disks, and for who looks at the tree.
    pub fn head(&self, root: &Path) -> Option<HeadStamp> {
        let is_asked = matches!(self.tree.status().state, LiveState::Live | LiveState::Sweeping);
        if is_asked { HeadStamp::of(root) } else { None }
    }

    /// The turn of who has to ask git what was committed, as the words of the workspace give it.
    pub fn commits_turn(&self, head: HeadStamp) -> Option<CommitsTurn<'_>> {
        self.ranked.commits_turn(head)
    }

    /// Returns how the words of its texts are doing.
    pub fn word_status(&self) -> RankedStatus {
        self.ranked.status()
    }

    /// Whether a person wants a file in no index.
    pub fn excludes(&self, path: &RelPath) -> bool {
        self.excluded.contains(path)
    }

    /// Keeps for the next daemon what is only in memory.
    pub fn persist(&self) {
        if let Some(texts) = self.texts.get() {
            texts.persist();
        }
    }

    /// The index of its texts, where there is one.
    pub fn texts(&self) -> Option<&IndexedTexts> {
        self.texts.get()
    }

    /// Returns how it is doing.
    pub fn status(&self) -> LiveStatus {
        self.tree.status()
    }

    /// Returns how the index of its texts is doing, and when it knew all of them last.
    ///
    /// # Errors
    ///
    /// Why it is missing.
    pub fn text_status(&self) -> Result<(IndexStatus, Option<Timestamp>), &str> {
        self.texts.get().map(IndexedTexts::status).ok_or(&self.missing)
    }

    /// Forgets what is known of texts and begins anew.
    ///
    /// # Errors
    ///
    /// Why there is no index.
    pub fn rebuild_texts(&self) -> Result<(), String> {
        self.ranked.clear();
        let texts = self.texts.get().ok_or_else(|| self.missing.clone())?;
        texts.rebuild().map_err(|error| error.to_string())
    }

    /// Lists a directory from what is known, as [`moss_workspace::LiveTree::list`] does; none where
    /// it has to be read.
    pub fn list(
        &self,
        directory: &RelPath,
        options: ListOptions,
        keep: &dyn Fn(&RelPath) -> bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Listing>, Error> {
        self.ask(cancelled)?;
        self.tree.list(directory, options, keep, cancelled)
    }

    /// As [`LiveTree::list_tree`].
    pub fn list_tree(
        &self,
        directory: &RelPath,
        entries_max: usize,
        gate: ListingGate<'_>,
    ) -> Result<Option<TreeListing>, Error> {
        self.ask(gate.cancelled)?;
        self.tree.list_tree(directory, entries_max, gate)
    }

    /// Lists a small directory where others wait, as [`LiveTree::list_at_once`] does.
    pub fn list_at_once(
        &self,
        directory: &RelPath,
        options: ListOptions,
        keep: &dyn Fn(&RelPath) -> bool,
    ) -> Option<Listing> {
        if self.sweeps.ask(Instant::now()) {
            return None;
        }
        self.tree.list_at_once(directory, options, keep)
    }

    /// As [`LiveTree::visit_texts`], with what the index knows.
    pub fn visit_texts(
        &self,
        directory: &RelPath,
        options: VisitOptions,
        gate: VisitGate<'_>,
        visitor: &mut dyn TextVisitor,
        rules: &dyn IndexRules,
    ) -> Result<Option<Visited>, Error> {
        self.ask(gate.cancelled)?;
        let pattern = visitor.pattern();
        let known = |scanned: &ScannedPaths<'_>| match (&pattern, self.texts.get()) {
            (Some(pattern), Some(texts)) => {
                texts.known((&self.tree, rules), pattern, scanned, gate.cancelled)
            }
            _ => KnownTexts::default(),
        };
        self.tree.visit_texts(directory, options, gate, visitor, &known)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use moss_policy::{Policy, Sources};
    use moss_sdk::code_search::{CodeSearchGoal, FileChoice};
    use moss_workspace::{NoBuffers, WorkspaceOptions};

    use super::*;

    /// The tree of a directory, whose index is in another one.
    fn kept(root: &Path, directory: PathBuf) -> KeptTree {
        let files = Arc::new(Workspace::open(root, WorkspaceOptions::default()).unwrap());
        let excluded = ExcludedPaths::default();
        let settings = TextSettings { directory, excluded, disk_bytes_max: u64::MAX };
        KeptTree::new(files, LiveOptions::default(), settings)
    }

    #[test]
    fn who_asks_after_a_pause_finds_what_no_event_reported() {
        let temp = tempfile::tempdir().unwrap();
        let [root, outside] = ["root", "outside"].map(|name| temp.path().join(name));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "1").unwrap();
        let kept = kept(&root, temp.path().join("kept"));
        kept.build(&|| false);
        let options = ListOptions { recursive: false, entries_max: 10 };
        let size = || {
            let listed = kept.list(&RelPath::root(), options, &|_| true, &|| false).unwrap();
            listed.unwrap().entries[0].size_bytes
        };
        assert!(!kept.is_in_use());
        assert_eq!(size(), Some(1));
        // The name has no other yet: nobody looks out for writes through one.
        fs::hard_link(root.join("a"), &outside).unwrap();
        fs::write(&outside, "12345").unwrap();
        assert_eq!(size(), Some(1), "something reported it: this proves nothing");
        kept.sweeps.age(Duration::from_secs(61));
        assert_eq!(kept.list_at_once(&RelPath::root(), options, &|_| true), None);
        assert_eq!((size(), kept.text_bytes()), (Some(5), 5));
        assert!(kept.is_in_use());
    }

    #[test]
    fn a_look_that_was_cancelled_is_resumed_as_long_as_it_counts() {
        const DIRECTORIES: usize = 3_000;
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        (0..DIRECTORIES)
            .for_each(|number| fs::create_dir_all(root.join(number.to_string())).unwrap());
        let kept = kept(&root, temp.path().join("kept"));
        kept.build(&|| false);
        let looks = Cell::new(0);
        let ask = |looks_max: usize| {
            looks.set(0);
            let cancelled = || looks.replace(looks.get() + 1) >= looks_max;
            kept.ask(&cancelled)
        };
        kept.sweeps.age(Duration::from_secs(61));
        assert!(matches!(ask(DIRECTORIES - 500), Err(Error::Cancelled)));
        ask(usize::MAX).unwrap();
        assert!((500..DIRECTORIES - 500).contains(&looks.get()), "{}", looks.get());
        ask(usize::MAX).unwrap();
        assert_eq!(looks.get(), 0, "all was looked at");
        // What was looked at so long ago has to be looked at again.
        kept.sweeps.age(Duration::from_secs(61));
        ask(DIRECTORIES - 500).unwrap_err();
        kept.sweeps.age(Duration::from_secs(61));
        ask(usize::MAX).unwrap();
        assert!(looks.get() > DIRECTORIES, "{}", looks.get());
    }

    /// Rules that admit every file.
    struct AllAdmitted(Arc<Policy>);

    impl IndexRules for AllAdmitted {
        fn policy(&self) -> Arc<Policy> {
            Arc::clone(&self.0)
        }

        fn admits(&self, _: &Policy, _: &RelPath) -> bool {
            true
        }
    }

    #[test]
    fn what_is_not_shown_takes_no_room_from_others() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        fs::create_dir(&root).unwrap();
        for (name, count) in [("a.py", 5), ("b.py", 1), ("c.py", 3)] {
            fs::write(root.join(name), "def wanted(): pass\n".repeat(count)).unwrap();
        }
        let kept = kept(&root, temp.path().join("kept"));
        kept.build(&|| false);
        let names = vec!["wanted".to_owned()];
        let search = CodeSearch {
            goal: CodeSearchGoal::Declared { names, near: None },
            wants: Arc::new(|path| path.as_str() != "c.py"),
            hits_max: 2,
            hits_of_file_max: 2,
        };
        let rules = AllAdmitted(Arc::new(Policy::load(Sources::default()).unwrap()));
        let found = |shows: Option<FileChoice>| {
            let sees = &mut |_: &RelPath| true;
            let gate = RankedGate { name: None, sees, shows, sees_commits: false, near: None };
            let sources = (&rules as &dyn IndexRules, &NoBuffers as &dyn Buffers);
            let found = kept.search_code(&kept.files, sources, gate, &search, &|| false);
            let found = found.unwrap().unwrap();
            let hits: Vec<_> = found.hits.iter().map(|hit| hit.path.to_string()).collect();
            (hits, found.files)
        };
        assert_eq!(found(None), (vec!["a.py".to_owned(), "a.py".to_owned()], 2));
        let shows: FileChoice = Arc::new(|path| path.as_str() != "a.py");
        assert_eq!(found(Some(shows)), (vec!["b.py".to_owned()], 2));
    }

    /// An editor that holds a file, with its text as long as it can report it.
    struct Editing(RelPath, Option<Arc<str>>);

    impl Buffers for Editing {
        fn unsaved(&self, real: &RelPath) -> Option<Arc<str>> {
            self.1.clone().filter(|_| *real == self.0)
        }

        fn unsaved_paths(&self) -> Vec<RelPath> {
            vec![self.0.clone()]
        }
    }

    #[test]
    fn what_an_editor_held_and_reports_no_more_is_not_found() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.py"), "def saved(): pass\n").unwrap();
        let kept = kept(&root, temp.path().join("kept"));
        kept.build(&|| false);
        let rules = AllAdmitted(Arc::new(Policy::load(Sources::default()).unwrap()));
        let declares = |buffers: &dyn Buffers, name: &str| {
            let search = CodeSearch {
                goal: CodeSearchGoal::Declared { names: vec![name.to_owned()], near: None },
                wants: Arc::new(|_| true),
                hits_max: 2,
                hits_of_file_max: 2,
            };
            let sees = &mut |_: &RelPath| true;
            let gate =
                RankedGate { name: None, sees, shows: None, sees_commits: false, near: None };
            let sources = (&rules as &dyn IndexRules, buffers);
            let found = kept.search_code(&kept.files, sources, gate, &search, &|| false);
            !found.unwrap().unwrap().hits.is_empty()
        };
        let path = RelPath::parse("a.py").unwrap();
        let held = Editing(path.clone(), Some("def unsaved(): pass\n".into()));
        assert!(declares(&held, "unsaved") && !declares(&held, "saved"));
        // It is too large by now, say: what is read of it is the file.
        let lost = Editing(path, None);
        assert!(declares(&lost, "saved") && !declares(&lost, "unsaved"));
    }

    #[test]
    fn texts_that_could_not_be_opened_are_opened_once_that_has_passed() {
        let temp = tempfile::tempdir().unwrap();
        let [root, indexes] = ["root", "indexes"].map(|name| temp.path().join(name));
        fs::create_dir(&root).unwrap();
        fs::write(&indexes, "in the way").unwrap();
        let kept = kept(&root, indexes.join("kept"));
        assert!(kept.texts().is_none() && kept.text_status().is_err());
        kept.reopen_texts();
        assert!(kept.passing_problem().is_some());
        fs::remove_file(&indexes).unwrap();
        kept.reopen_texts();
        assert_eq!(kept.passing_problem(), None);
        assert!(kept.texts().is_some() && kept.text_status().is_ok());
    }
}
