//! Visiting texts: what is handed over, in which order, and what is left out and counted.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicUsize, Ordering};

use moss_sdk::context::{
    PartScanner, PartVerdict, ScanPace, TextFinding, TextScanner, TextVisitor,
};
use moss_sdk::file::{SkippedTexts, VisitOptions, Visited, VisitedText};
use moss_sdk::{ErrorCode, RelPath};
use moss_workspace::{
    Error, FileLimits, MayRead, NoBuffers, VisitGate, Workspace, WorkspaceOptions,
};

use crate::fixture::{Fixture, RESOLVERS, rel};

const ALL: VisitOptions = VisitOptions { entries_max: 10_000, bytes_max: u64::MAX };
const OPEN: VisitGate<'_> = VisitGate {
    lists: &|_| true,
    reads: &|_, _| MayRead::Yes,
    one_name: false,
    is_apart: false,
    buffers: &NoBuffers,
    cancelled: &|| false,
    name: None,
};

/// Keeps what it is given.
#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) texts: Vec<(String, String)>,
    pub(crate) files_max: Option<usize>,
    pub(crate) unwanted: Option<&'static str>,
}

/// Finds the whole text.
struct WholeText;

impl TextScanner for WholeText {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        Some(Box::new((file.path.to_string(), file.text.to_owned())))
    }
}

impl TextVisitor for Texts {
    fn wants(&self, path: &RelPath) -> bool {
        self.unwanted.is_none_or(|ending| !path.as_str().ends_with(ending))
    }

    fn choice(&self) -> Option<String> {
        Some(self.unwanted.unwrap_or_default().to_owned())
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(WholeText)
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        self.texts.push(*finding.downcast().unwrap());
        if self.files_max == Some(self.texts.len()) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Texts {
    pub(crate) fn paths(&self) -> Vec<&str> {
        self.texts.iter().map(|(path, _)| path.as_str()).collect()
    }
}

fn visit(workspace: &Workspace, path: &str, gate: VisitGate<'_>) -> (Texts, Visited) {
    let mut texts = Texts::default();
    let visited = workspace.visit_texts(&rel(path), ALL, gate, &mut texts).unwrap();
    (texts, visited)
}

#[test]
fn texts_come_decoded_and_in_order_and_the_rest_is_counted() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        let utf_16: Vec<u8> = std::iter::once(0xfeff)
            .chain("é\r\n".encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        for (path, bytes) in [
            ("b/x", b"inner\n".to_vec()),
            ("b.txt", b"\xef\xbb\xbfmarked".to_vec()),
            ("a/wide", utf_16),
            ("a/legacy", b"caf\xe9 au lait\n".to_vec()),
            ("a/binary", b"a\0b".to_vec()),
            ("a/late", [&b"x".repeat(100_000)[..], b"\0"].concat()),
            ("empty", Vec::new()),
            ("large", b"y".repeat(200_000)),
            ("out/never", b"never".to_vec()),
            (".gitignore", b"out/\n".to_vec()),
        ] {
            let file = fixture.root().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        symlink("b.txt", fixture.root().join("link")).unwrap();
        let (texts, visited) = visit(&fixture.workspace, ".", OPEN);
        let expected = [".gitignore", "a/legacy", "a/wide", "b/x", "empty", "large", "b.txt"];
        assert_eq!(texts.paths(), expected);
        let text = |path: &str| &texts.texts.iter().find(|(name, _)| name == path).unwrap().1;
        assert_eq!(text("a/legacy"), "café au lait\n");
        assert_eq!(text("a/wide"), "é\r\n");
        assert_eq!(text("b.txt"), "marked");
        assert_eq!(text("empty"), "");
        assert_eq!(*text("large"), "y".repeat(200_000));
        let skipped = SkippedTexts { ignored: 1, binary: 2, ..SkippedTexts::default() };
        assert_eq!(visited, Visited { files: 7, skipped, truncated: false });
    }
}

#[test]
fn what_the_gate_does_not_open_is_counted_and_not_read() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        for path in ["open/a", "open/asked", "open/secret", "sealed/b"] {
            fixture.put(path, path);
        }
        symlink("open", fixture.root().join("door")).unwrap();
        let reads = |real: &RelPath, shown: &RelPath| {
            assert!(shown == real || shown.as_str().starts_with("door/"), "{shown}");
            match real.file_name() {
                Some("asked") => MayRead::Unapproved,
                Some("secret") => MayRead::No,
                _ => MayRead::Yes,
            }
        };
        let lists = |path: &RelPath| path.as_str() != "sealed";
        let gate = VisitGate { lists: &lists, reads: &reads, ..OPEN };
        let (texts, visited) = visit(&fixture.workspace, ".", gate);
        assert_eq!(texts.paths(), ["open/a"]);
        let skipped = SkippedTexts { denied: 2, unapproved: 1, ..SkippedTexts::default() };
        assert_eq!(visited.skipped, skipped);
        let (through, visited) = visit(&fixture.workspace, "door", gate);
        assert_eq!(through.paths(), ["door/a"]);
        assert_eq!((visited.skipped.denied, visited.skipped.unapproved), (1, 1));
    }
}

#[test]
fn bounds_and_the_visitor_end_the_walk() {
    let fixture = Fixture::new();
    for name in ["a", "b", "c", "d"] {
        fixture.put(name, "1234567890");
    }
    let run = |options: VisitOptions, texts: &mut Texts| {
        fixture.workspace.visit_texts(&rel("."), options, OPEN, texts).unwrap()
    };
    let mut texts = Texts::default();
    let visited = run(VisitOptions { bytes_max: 15, ..ALL }, &mut texts);
    assert_eq!((texts.paths(), visited.truncated), (vec!["a", "b"], true));
    let mut texts = Texts::default();
    let visited = run(VisitOptions { entries_max: 3, ..ALL }, &mut texts);
    assert_eq!((texts.paths(), visited.truncated), (vec!["a", "b", "c"], true));
    let mut texts = Texts { files_max: Some(1), ..Texts::default() };
    let visited = run(ALL, &mut texts);
    assert_eq!((texts.paths(), visited.truncated), (vec!["a"], false));
    let mut texts = Texts { unwanted: Some("b"), ..Texts::default() };
    let visited = run(ALL, &mut texts);
    assert_eq!((texts.paths(), visited.files), (vec!["a", "c", "d"], 3));
    assert_eq!(visited.skipped, SkippedTexts::default());
    let cancelled = VisitGate { cancelled: &|| true, ..OPEN };
    let ended = fixture.workspace.visit_texts(&rel("."), ALL, cancelled, &mut Texts::default());
    assert!(matches!(ended, Err(Error::Cancelled)));
}

/// Counts the letters `x` of a text, in parts where they come so; a text that says so it wants whole.
struct LetterCounter;

/// How many of them were in the parts so far.
struct CountedLetters(usize);

impl TextScanner for LetterCounter {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        let letters = file.text.matches('x').count();
        Some(Box::new((file.path.to_string(), format!("{letters} at once"))))
    }

    fn parts(&mut self) -> Option<Box<dyn PartScanner + '_>> {
        Some(Box::new(CountedLetters(0)))
    }
}

impl PartScanner for CountedLetters {
    fn scan(&mut self, part: &str) -> PartVerdict {
        self.0 += part.matches('x').count();
        match part {
            part if part.contains("whole") => PartVerdict::WantsWhole,
            part if part.contains("enough") => PartVerdict::Settled,
            _ => PartVerdict::More,
        }
    }

    fn finish(self: Box<Self>, path: &RelPath) -> Option<TextFinding> {
        Some(Box::new((path.to_string(), format!("{} in parts", self.0))))
    }
}

/// Gathers what it finds.
#[derive(Default)]
pub(crate) struct Letters(pub(crate) Texts);

impl TextVisitor for Letters {
    fn wants(&self, _: &RelPath) -> bool {
        true
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(LetterCounter)
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        self.0.gather(finding)
    }
}

#[test]
fn large_texts_come_in_parts_unless_they_have_to_be_whole() {
    let fixture = Fixture::new();
    let lines = "x and some more\n".repeat(40_000);
    let with = |before: &str, after: &[u8]| [before.as_bytes(), lines.as_bytes(), after].concat();
    for (path, bytes) in [
        ("a-small", b"x\n".to_vec()),
        ("b-large", with("", b"x")),
        ("c-marked", with("\u{feff}", b"")),
        ("d-legacy", with("", b"caf\xe9 au lait\n")),
        ("e-whole", with("", b"whole\n")),
        ("f-enough", with("enough", b"xxx\n")),
        ("g-one-line", b"x".repeat(300_000)),
        ("h-late", with("", b"\0")),
        ("i-early", with("enough", b"\0")),
    ] {
        fs::write(fixture.root().join(path), bytes).unwrap();
    }
    let mut letters = Letters::default();
    let visited = fixture.workspace.visit_texts(&rel("."), ALL, OPEN, &mut letters).unwrap();
    let Letters(Texts { texts, .. }) = letters;
    let found: Vec<_> = texts.iter().map(|(path, found)| (path.as_str(), found.as_str())).collect();
    let (_, enough) = found[5];
    assert!(enough.ends_with(" in parts") && enough < "40003", "{enough}");
    let expected = [
        ("a-small", "1 at once"),
        ("b-large", "40001 in parts"),
        ("c-marked", "40000 at once"),
        ("d-legacy", "40000 at once"),
        ("e-whole", "40000 at once"),
        ("f-enough", enough),
        ("g-one-line", "300000 in parts"),
    ];
    assert_eq!(found, expected);
    let skipped = SkippedTexts { binary: 2, ..SkippedTexts::default() };
    assert_eq!(visited, Visited { files: 7, skipped, truncated: false });
    let small = VisitOptions { bytes_max: 600_000, ..ALL };
    let mut letters = Letters::default();
    let visited = fixture.workspace.visit_texts(&rel("."), small, OPEN, &mut letters).unwrap();
    assert_eq!((visited.files, visited.truncated), (2, true));
}

#[test]
fn a_walk_ends_where_it_is_cancelled() {
    struct Cancelling(&'static AtomicUsize);
    impl TextScanner for Cancelling {
        fn scan(&mut self, _: VisitedText<'_>) -> Option<TextFinding> {
            self.0.fetch_add(1, Ordering::Relaxed);
            None
        }
    }
    impl TextVisitor for Cancelling {
        fn wants(&self, _: &RelPath) -> bool {
            true
        }

        fn scanner(&self) -> Box<dyn TextScanner> {
            Box::new(Self(self.0))
        }

        fn gather(&mut self, _: TextFinding) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let fixture = Fixture::new();
    for name in ["a", "b/c", "d"] {
        fixture.put(name, "text");
    }
    let cancelled = || SEEN.load(Ordering::Relaxed) == 2;
    let gate = VisitGate { cancelled: &cancelled, ..OPEN };
    let ended = fixture.workspace.visit_texts(&rel("."), ALL, gate, &mut Cancelling(&SEEN));
    assert!(matches!(ended, Err(Error::Cancelled)));
    assert_eq!(SEEN.load(Ordering::Relaxed), 2);
}

/// Works through texts in steps until it is stopped.
struct Endless;

impl TextScanner for Endless {
    fn scan(&mut self, _: VisitedText<'_>) -> Option<TextFinding> {
        unreachable!("it is paced")
    }

    fn scan_paced(&mut self, _: VisitedText<'_>, pace: &ScanPace<'_>) -> Option<TextFinding> {
        while pace.passed(1 << 10) {}
        None
    }

    fn parts(&mut self) -> Option<Box<dyn PartScanner + '_>> {
        Some(Box::new(Self))
    }
}

impl PartScanner for Endless {
    fn scan(&mut self, _: &str) -> PartVerdict {
        unreachable!("it is paced")
    }

    fn scan_paced(&mut self, _: &str, pace: &ScanPace<'_>) -> PartVerdict {
        while pace.passed(1 << 10) {}
        PartVerdict::More
    }

    fn finish(self: Box<Self>, _: &RelPath) -> Option<TextFinding> {
        None
    }
}

impl TextVisitor for Endless {
    fn wants(&self, _: &RelPath) -> bool {
        true
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(Self)
    }

    fn gather(&mut self, _: TextFinding) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[test]
fn a_scan_ends_within_a_text_where_its_walk_is_cancelled() {
    for text in ["small".to_owned(), "some line\n".repeat(100_000)] {
        let fixture = Fixture::new();
        fixture.put("a", text);
        let looks = AtomicUsize::new(0);
        let cancelled = || looks.fetch_add(1, Ordering::Relaxed) > 20;
        let gate = VisitGate { cancelled: &cancelled, ..OPEN };
        let ended = fixture.workspace.visit_texts(&rel("."), ALL, gate, &mut Endless);
        assert!(matches!(ended, Err(Error::Cancelled)));
        let opened = fixture.workspace.open_for_reading(&rel("a")).unwrap().unless(&cancelled);
        assert!(matches!(opened.scan_text(&mut Endless), Err(Error::Cancelled)));
    }
}

/// Has another search look while it looks itself at a large text.
struct Meanwhile(&'static Workspace, bool);

impl TextScanner for Meanwhile {
    fn scan(&mut self, _: VisitedText<'_>) -> Option<TextFinding> {
        let looks = AtomicUsize::new(0);
        let cancelled = || looks.fetch_add(1, Ordering::Relaxed) > 20;
        let opened = self.0.open_for_reading(&rel("large")).unwrap();
        let other = opened.unless(&cancelled).apart(self.1);
        let found = other.scan_text(&mut WholeText).map(|(found, _)| found.is_some());
        Some(Box::new(found.map_err(|error| error.code())))
    }
}

#[test]
fn who_waits_for_a_large_text_may_leave_and_who_reads_apart_does_not_wait() {
    let fixture = Fixture::new();
    fixture.put("large", "some line\n".repeat(1_100_000));
    let workspace: &'static Workspace =
        Box::leak(Box::new(Workspace::open(&fixture.root(), WorkspaceOptions::default()).unwrap()));
    for (is_apart, expected) in [(false, Err(ErrorCode::Cancelled)), (true, Ok(true))] {
        let opened = workspace.open_for_reading(&rel("large")).unwrap();
        let (found, _) = opened.scan_text(&mut Meanwhile(workspace, is_apart)).unwrap();
        let found = found.unwrap().downcast::<Result<bool, ErrorCode>>().unwrap();
        assert_eq!(*found, expected);
    }
}

#[test]
fn files_past_the_bound_on_searches_are_too_large() {
    let fixture = Fixture::new();
    fixture.put("fits", "1234");
    fixture.put("large", "12345");
    let limits = FileLimits { search_bytes_max: 4, ..FileLimits::default() };
    let workspace = Workspace::open(
        &fixture.root(),
        WorkspaceOptions { limits, ..WorkspaceOptions::default() },
    )
    .unwrap();
    let (texts, visited) = visit(&workspace, ".", OPEN);
    assert_eq!((texts.paths(), visited.skipped.too_large), (vec!["fits"], 1));
}

#[test]
fn files_with_other_names_are_left_out_where_the_gate_says_so() {
    let fixture = Fixture::new();
    fixture.put("one", "1");
    fixture.put("two", "2");
    fs::hard_link(fixture.root().join("two"), fixture.root().join("other")).unwrap();
    let gate = VisitGate { one_name: true, ..OPEN };
    let (texts, visited) = visit(&fixture.workspace, ".", gate);
    assert_eq!((texts.paths(), visited.skipped.unreadable), (vec!["one"], 2));
    let (texts, _) = visit(&fixture.workspace, ".", OPEN);
    assert_eq!(texts.paths(), ["one", "other", "two"]);
}

#[test]
fn unreadable_files_are_counted() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = Fixture::new();
    fixture.put("shut", "1234");
    let shut = fixture.root().join("shut");
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    let (texts, visited) = visit(&fixture.workspace, ".", OPEN);
    // The super-user reads it all the same.
    let readable = fs::read(&shut).is_ok();
    assert_eq!(texts.paths().len(), usize::from(readable));
    assert_eq!(visited.skipped.unreadable, u64::from(!readable));
}
