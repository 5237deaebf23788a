//! What an index of texts says of a workspace that changes is what one says that is made anew, and a search through it
//! finds what one finds that reads everything.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use moss_index::{DocumentVerdict, GramQuery, IndexProblem};
use moss_policy::{Policy, Sources};
use moss_sdk::RelPath;
use moss_sdk::context::{PartScanner, PartVerdict, TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::{TextPattern, VisitOptions, VisitedText};
use moss_workspace::{
    LiveOptions, LiveTree, MayRead, NoBuffers, ScannedPaths, VisitGate, Workspace, WorkspaceOptions,
};
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::{IndexRules, IndexedTexts};

const ALL: VisitOptions = VisitOptions { entries_max: 100_000, bytes_max: u64::MAX };
const GATE: VisitGate<'_> = VisitGate {
    lists: &|_| true,
    reads: &|_, _| MayRead::Yes,
    one_name: false,
    is_apart: false,
    buffers: &NoBuffers,
    cancelled: &|| false,
    name: None,
};
const WORDS: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];

/// Rules that admit every file but some.
struct Rules(Arc<Policy>);

/// Finds the files with a word.
struct Finding {
    word: &'static str,
    /// Files that were shown to the scanner, and those of them with the word.
    read: usize,
    found: Vec<String>,
}

struct WordScanner(&'static str);

/// A workspace with its index.
struct Known {
    _temp: tempfile::TempDir,
    root: PathBuf,
    indexes: PathBuf,
    files: Arc<Workspace>,
    tree: LiveTree,
    texts: IndexedTexts,
    rules: Rules,
}

/// What happens to a workspace.
#[derive(Debug, Clone)]
enum Happening {
    Write(String, Vec<&'static str>),
    Rename(String, String),
    Remove(String),
    Ignore(String, &'static str),
    /// Other files take the place of those in a directory, as when a branch is switched.
    Switch(String, u8),
    /// The index reads what it does not know.
    Settle,
    /// Another process goes on with what is stored.
    Restart,
    Search(&'static str),
}

// === impl Rules ===

impl IndexRules for Rules {
    fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.0)
    }

    fn admits(&self, _: &Policy, path: &RelPath) -> bool {
        path.file_name() != Some("denied")
    }
}

// === impl Finding ===

impl Finding {
    fn new(word: &'static str) -> Self {
        Self { word, read: 0, found: Vec::new() }
    }
}

impl TextVisitor for Finding {
    fn wants(&self, _: &RelPath) -> bool {
        true
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(WordScanner(self.word))
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        let (path, has_word) = *finding.downcast::<(String, bool)>().unwrap();
        self.read += 1;
        self.found.extend(has_word.then_some(path));
        ControlFlow::Continue(())
    }
}

impl TextScanner for WordScanner {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        Some(Box::new((file.path.to_string(), file.text.contains(self.0))))
    }
}

// === impl Known ===

impl Known {
    fn new(with_events: bool) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (root, indexes) = (base.join("root"), base.join("indexes"));
        fs::create_dir(&root).unwrap();
        let files = Arc::new(Workspace::open(&root, WorkspaceOptions::default()).unwrap());
        let options = LiveOptions { with_events, ..LiveOptions::default() };
        let tree = LiveTree::new(Arc::clone(&files), options);
        tree.build(&|| false);
        let texts = IndexedTexts::open(indexes.join("kept"), u64::MAX).unwrap();
        let rules = Rules(Arc::new(Policy::load(Sources::default()).unwrap()));
        Self { _temp: temp, root, indexes, files, tree, texts, rules }
    }

    fn settle(&self, texts: &IndexedTexts) {
        assert!(texts.follow(&self.tree, &self.rules, &|| false));
        texts.settle(&self.files, &self.rules, &|| false);
    }

    /// What an index says of each file, with its path. Nothing is reported to it first.
    fn verdicts(&self, texts: &IndexedTexts, word: &str) -> Vec<(RelPath, DocumentVerdict)> {
        let mut paths = Vec::new();
        self.tree.files(&RelPath::root(), &mut |path, _| paths.push(path.clone()));
        let query = GramQuery::of_pattern(word, true);
        let verdicts = texts.index.load().verdicts(&query, paths.iter().cloned()).unwrap();
        paths.into_iter().zip(verdicts).collect()
    }

    /// Asserts that a search finds what one finds that reads everything; returns how many files were read, and how many
    /// there are.
    #[track_caller]
    fn search(&self, word: &'static str) -> (usize, usize) {
        let pattern =
            TextPattern { expression: word.to_owned(), case_sensitive: true, spans_lines: false };
        let known = |scanned: &ScannedPaths<'_>| {
            self.texts.known((&self.tree, &self.rules), &pattern, scanned, &|| false)
        };
        let (mut by_index, mut by_scan) = (Finding::new(word), Finding::new(word));
        let root = RelPath::root();
        let visited = self.tree.visit_texts(&root, ALL, GATE, &mut by_index, &known);
        let scanned = self.files.visit_texts(&root, ALL, GATE, &mut by_scan).unwrap();
        assert_eq!(by_index.found, by_scan.found, "{word}");
        assert_eq!(visited.unwrap().unwrap(), scanned, "{word}");
        (by_index.read, by_scan.read)
    }

    fn restart(&mut self) {
        self.texts.persist();
        let none = IndexedTexts::open(self.indexes.join("none"), u64::MAX).unwrap();
        drop(std::mem::replace(&mut self.texts, none));
        self.texts = IndexedTexts::open(self.indexes.join("kept"), u64::MAX).unwrap();
    }

    /// Asserts that the index says what one says that is made anew.
    #[track_caller]
    fn agrees_with_a_new_one(&self, number: usize) {
        let anew = IndexedTexts::open(self.indexes.join(number.to_string()), u64::MAX).unwrap();
        self.settle(&anew);
        self.settle(&self.texts);
        for word in WORDS {
            assert_eq!(self.verdicts(&self.texts, word), self.verdicts(&anew, word), "{word}");
        }
        let (kept, anew) = (self.texts.status().0, anew.status().0);
        assert_eq!((kept.documents, kept.indexed), (anew.documents, anew.indexed));
    }
}

// === impl Happening ===

impl Happening {
    fn happen(&self, known: &mut Known) {
        let root = known.root.clone();
        let at = |path: &str| root.join(path);
        // What cannot happen does not.
        match self {
            Self::Write(path, words) => write(&at(path), &words.join(" ")),
            Self::Rename(from, to) => drop(fs::rename(at(from), at(to))),
            Self::Remove(path) => remove(&at(path)),
            Self::Ignore(path, rules) => write(&at(path).join(".gitignore"), rules),
            Self::Switch(path, seed) => {
                remove(&at(path));
                for number in 0..usize::from(seed % 7) {
                    let word = WORDS[(usize::from(*seed) + number) % WORDS.len()];
                    write(&at(path).join(format!("f{number}")), word);
                }
            }
            Self::Settle => known.settle(&known.texts),
            Self::Restart => known.restart(),
            Self::Search(word) => {
                known.search(word);
            }
        }
    }
}

fn write(path: &Path, text: &str) {
    let _ = fs::create_dir_all(path.parent().unwrap());
    let _ = fs::write(path, text);
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir_all(path);
}

fn path() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["a", "b", "c.log", "d", "target", "denied"]);
    prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"))
}

fn happening() -> impl Strategy<Value = Happening> {
    let word = || prop::sample::select(WORDS.to_vec());
    let rules =
        prop::sample::select(vec!["*.log\n", "target/\n", "!c.log\n", "a\n", "*\n!*/\n", ""]);
    let places = prop_oneof![Just(".".to_owned()), path()];
    prop_oneof![
        6 => (path(), prop::collection::vec(word(), 0..4))
            .prop_map(|(path, words)| Happening::Write(path, words)),
        4 => (path(), path()).prop_map(|(from, to)| Happening::Rename(from, to)),
        2 => path().prop_map(Happening::Remove),
        3 => (places, rules).prop_map(|(path, rules)| Happening::Ignore(path, rules)),
        3 => (path(), any::<u8>()).prop_map(|(path, seed)| Happening::Switch(path, seed)),
        3 => Just(Happening::Settle),
        1 => Just(Happening::Restart),
        3 => word().prop_map(Happening::Search),
    ]
}

proptest! {
    #![proptest_config(Config { cases: 128, ..Config::default() })]

    #[test]
    fn whatever_happens_an_index_says_what_one_made_anew_says(
        happenings in prop::collection::vec(happening(), 1..40),
        with_events in any::<bool>(),
    ) {
        let mut known = Known::new(with_events);
        for (at, happening) in happenings.iter().enumerate() {
            happening.happen(&mut known);
            if at % 10 == 9 {
                known.agrees_with_a_new_one(at);
            }
        }
        for word in WORDS {
            known.search(word);
        }
        known.agrees_with_a_new_one(happenings.len());
        for word in WORDS {
            known.search(word);
        }
    }
}

#[test]
fn without_events_as_little_is_read_as_with_them() {
    for with_events in [true, false] {
        let known = Known::new(with_events);
        for number in 0..40 {
            write(
                &known.root.join(format!("f{number}")),
                if number == 7 { "alpha" } else { "beta" },
            );
        }
        // Times that are not too new to be relied on.
        let early = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        for number in 0..40 {
            let file = fs::File::options().write(true).open(known.root.join(format!("f{number}")));
            file.unwrap().set_times(fs::FileTimes::new().set_modified(early)).unwrap();
        }
        known.settle(&known.texts);
        let settled = || {
            known.settle(&known.texts);
            known.search("alpha").0 == 1
        };
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !settled() {
            assert!(std::time::Instant::now() < end, "events {with_events}: too much is read");
        }
        write(&known.root.join("f8"), "alpha");
        assert!(known.search("alpha").0 <= 3, "events {with_events}");
        assert_eq!(known.search("beta").1, 40);
    }
}

/// Counts the lines with a word, and how much text it was shown.
struct Counting {
    word: &'static str,
    shown_bytes: Arc<AtomicUsize>,
    lines: usize,
}

struct LineCounter(&'static str, Arc<AtomicUsize>);

struct CountedLines<'a>(&'a LineCounter, usize);

impl Counting {
    fn new(word: &'static str) -> Self {
        Self { word, shown_bytes: Arc::default(), lines: 0 }
    }
}

impl TextVisitor for Counting {
    fn wants(&self, _: &RelPath) -> bool {
        true
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(LineCounter(self.word, Arc::clone(&self.shown_bytes)))
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        self.lines += *finding.downcast::<usize>().unwrap();
        ControlFlow::Continue(())
    }
}

impl LineCounter {
    fn count(&self, text: &str) -> usize {
        self.1.fetch_add(text.len(), Ordering::Relaxed);
        text.lines().filter(|line| line.contains(self.0)).count()
    }
}

impl TextScanner for LineCounter {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        Some(Box::new(self.count(file.text)))
    }

    fn parts(&mut self) -> Option<Box<dyn PartScanner + '_>> {
        Some(Box::new(CountedLines(self, 0)))
    }
}

impl PartScanner for CountedLines<'_> {
    fn scan(&mut self, part: &str) -> PartVerdict {
        self.1 += self.0.count(part);
        PartVerdict::More
    }

    fn finish(self: Box<Self>, _: &RelPath) -> Option<TextFinding> {
        Some(Box::new(self.1))
    }
}

#[test]
fn of_a_long_text_the_parts_with_a_word_are_read_and_all_of_it_once_it_changed() {
    const LINES: usize = 20_000;
    let known = Known::new(true);
    let text = |with: &[usize]| -> String {
        let word = |line| if with.contains(&line) { "alpha" } else { "omega" };
        (0..LINES).map(|line| format!("{line:06} {}\n", word(line))).collect()
    };
    let file = known.root.join("long");
    // Finds as many lines as one who reads everything, and says how much text it was shown.
    let count = |before_reading: &dyn Fn()| {
        let pattern = TextPattern {
            expression: "alpha".to_owned(),
            case_sensitive: true,
            spans_lines: false,
        };
        let asked = |scanned: &ScannedPaths<'_>| {
            let texts =
                known.texts.known((&known.tree, &known.rules), &pattern, scanned, &|| false);
            before_reading();
            texts
        };
        let (mut by_index, mut by_scan) = (Counting::new("alpha"), Counting::new("alpha"));
        let root = RelPath::root();
        known.tree.visit_texts(&root, ALL, GATE, &mut by_index, &asked).unwrap().unwrap();
        known.files.visit_texts(&root, ALL, GATE, &mut by_scan).unwrap();
        assert_eq!(by_index.lines, by_scan.lines);
        (by_index.lines, by_index.shown_bytes.load(Ordering::Relaxed))
    };
    write(&file, &text(&[0, 7_777, LINES - 1]));
    let size = text(&[]).len();
    assert_eq!(count(&|| {}), (3, size), "it is not known yet");
    known.settle(&known.texts);
    known.texts.persist();
    let (lines, shown_bytes) = count(&|| {});
    assert_eq!(lines, 3);
    assert!(shown_bytes < size / 4, "{shown_bytes} of {size}");
    // The same size, and a line elsewhere: right before it is read, and before it is known.
    assert_eq!(count(&|| write(&file, &text(&[1, 12_345, 12_346, 19_000]))), (4, size));
    assert_eq!(count(&|| {}), (4, size));
    known.settle(&known.texts);
    known.texts.persist();
    let (lines, shown_bytes) = count(&|| {});
    assert_eq!(lines, 4);
    assert!(shown_bytes < size / 4, "{shown_bytes} of {size}");
}

#[test]
fn a_large_text_is_known_as_others_are() {
    let known = Known::new(true);
    let line = "beta ".repeat(200) + "\n";
    write(&known.root.join("large"), &line.repeat(11_000));
    write(&known.root.join("small"), "gamma");
    known.settle(&known.texts);
    for (word, expected) in
        [("alpha", DocumentVerdict::CannotMatch), ("beta", DocumentVerdict::MayMatch)]
    {
        let verdicts = known.verdicts(&known.texts, word);
        let large = verdicts.iter().find(|(path, _)| path.as_str() == "large").unwrap();
        assert_eq!(large.1, expected, "{word}");
    }
}

#[test]
fn an_index_whose_directory_is_lost_is_there_again_once_it_is_opened_again() {
    let known = Known::new(true);
    write(&known.root.join("a"), "alpha");
    known.settle(&known.texts);
    fs::remove_dir_all(known.indexes.join("kept")).unwrap();
    write(&known.root.join("b"), "alpha");
    known.settle(&known.texts);
    known.texts.persist();
    let problem = known.texts.passing_problem();
    assert!(matches!(problem, Some(IndexProblem::Unusable { .. })), "{problem:?}");
    known.search("alpha");
    known.texts.reopen(&|| 0);
    assert_eq!(known.texts.passing_problem(), None);
    known.settle(&known.texts);
    known.texts.persist();
    known.agrees_with_a_new_one(0);
}

#[test]
fn a_search_waits_for_nobody_who_reports_for_long() {
    let known = Known::new(true);
    (0..40).for_each(|number| write(&known.root.join(format!("f{number}")), "beta"));
    known.settle(&known.texts);
    let _reporting = known.texts.reported();
    assert_eq!(known.search("alpha"), (40, 40), "all is read");
    let (tree, rules) = (&known.tree, &known.rules);
    assert!(!known.texts.follow_search(tree, rules, &|| true), "who cancels does not wait");
}

#[test]
fn an_index_without_room_is_made_again_once_there_is_less_text() {
    let known = Known::new(true);
    let name = |number: usize| known.root.join(format!("f{number}"));
    (0..200).for_each(|number| write(&name(number), &format!("{} {number}", WORDS[number % 5])));
    let texts = IndexedTexts::open(known.indexes.join("small"), 4_000).unwrap();
    known.settle(&texts);
    texts.persist();
    let is_refused =
        || matches!(texts.passing_problem(), Some(IndexProblem::TooLarge { bytes_max: 4_000 }));
    assert!(is_refused());
    texts.note_refused(&|| 1_000);
    texts.note_refused(&|| 10_000);
    for text_bytes in [2_000, 1_000, 951] {
        texts.reopen(&|| text_bytes);
        assert!(is_refused(), "{text_bytes}");
    }
    (2..200).for_each(|number| remove(&name(number)));
    texts.reopen(&|| 949);
    known.settle(&texts);
    texts.persist();
    assert_eq!(texts.passing_problem(), None);
    assert_eq!(texts.status().0.indexed, 2);
}

#[test]
fn of_what_takes_a_denied_name_nothing_stays_in_files() {
    let known = Known::new(true);
    (0..100).for_each(|number| write(&known.root.join(format!("f{number}")), "beta"));
    write(&known.root.join("plain-notes"), "alpha");
    write(&known.root.join("letters/plain-letter"), "alpha");
    write(&known.root.join("letters/denied"), "alpha");
    let settle = || {
        known.settle(&known.texts);
        known.texts.persist();
    };
    let has = |part: &str| {
        let files = fs::read_dir(known.indexes.join("kept")).unwrap();
        let mut texts = files.map(|file| fs::read(file.unwrap().path()).unwrap());
        texts.any(|bytes| bytes.windows(part.len()).any(|some| some == part.as_bytes()))
    };
    settle();
    assert!(has("plain-notes") && has("letters"));
    fs::rename(known.root.join("plain-notes"), known.root.join("denied")).unwrap();
    settle();
    assert!(!has("plain-notes"));
    fs::rename(known.root.join("letters"), known.root.join("papers")).unwrap();
    settle();
    assert!(!has("letters") && has("papers"));
}
