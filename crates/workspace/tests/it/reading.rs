//! Reading whole files and windows of lines.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use moss_sdk::context::{TextFinding, TextScanner};
use moss_sdk::edit::{ChangeSet, Retention};
use moss_sdk::file::{Content, LineEnding, LineWindow, SkippedTexts, VisitedText};
use moss_sdk::{ErrorCode, ToolError};
use moss_workspace::{
    Error, FileLimits, NoBuffers, OpenedFile, Resolver, Uncleared, Workspace, WorkspaceOptions,
    hash,
};

use crate::fixture::{Fixture, create, delete, eventually, not_tested, origin, rel};

const WINDOW: LineWindow =
    LineWindow { start: 1, lines_max: 100, bytes_max: 1 << 20, line_bytes_max: 1 << 20 };

#[test]
fn windows_agree_with_the_whole_text_in_every_form() {
    let fixture = Fixture::new();
    let text = "erste\r\nzweite Zeile mit ß\n\ndritte, sehr länglich\r\nletzte";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let forms = [
        text.as_bytes().to_vec(),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        [&b"\xfe\xff"[..], &utf16].concat(),
        latin,
    ];
    for bytes in forms {
        fixture.put("x", &bytes);
        let snapshot = fixture.workspace.read(&rel("x")).unwrap();
        let Content::Text(whole) = snapshot.content else { panic!("{bytes:?}") };
        let window = LineWindow { start: 2, lines_max: 3, ..WINDOW };
        let lines = fixture.workspace.read_lines(&rel("x"), window).unwrap();
        assert_eq!(whole.text, text);
        assert_eq!((lines.hash, lines.size_bytes), (hash(&bytes), bytes.len() as u64));
        assert_eq!((&lines.form, lines.lines_total), (&whole.form, 5));
        assert_eq!(whole.form.line_ending, LineEnding::Mixed);
        let texts: Vec<&str> = lines.lines.iter().map(|line| line.text).collect();
        assert_eq!(texts, ["zweite Zeile mit ß", "", "dritte, sehr länglich"]);
    }
}

#[test]
fn what_is_not_text_is_reported() {
    let fixture = Fixture::new();
    for (bytes, code) in [
        (&b"a\0b"[..], ErrorCode::Binary),
        (b"\x7fELF\x02\x01\x01\0\xff\xfe", ErrorCode::Binary),
        (b"\xff\xfe\0\xd8a\0", ErrorCode::Encoding),
        (b"\xef\xbb\xbfok\xff\n", ErrorCode::Encoding),
    ] {
        fixture.put("x", bytes);
        let lines = fixture.workspace.read_lines(&rel("x"), WINDOW).unwrap_err();
        assert_eq!(lines.code(), code, "{bytes:?}");
        match fixture.workspace.read(&rel("x")) {
            Ok(snapshot) => assert_eq!(snapshot.content, Content::Binary),
            Err(error) => assert_eq!(error.code(), ErrorCode::Encoding),
        }
    }
}

/// Says how long a text is that has a word.
struct WordScanner(&'static str);

impl TextScanner for WordScanner {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        file.text.contains(self.0).then(|| Box::new(file.text.len()) as TextFinding)
    }
}

#[test]
fn one_file_is_searched_up_to_the_size_of_those_that_a_walk_comes_to() {
    let fixture = Fixture::new();
    let limits =
        FileLimits { edit_bytes_max: 1 << 10, search_bytes_max: 4 << 10, ..FileLimits::default() };
    let options = WorkspaceOptions { limits, ..WorkspaceOptions::default() };
    let workspace = Workspace::open(&fixture.root(), options).unwrap();
    let large = "Größe ".repeat(300);
    let search = |bytes: &[u8]| {
        fixture.put("x", bytes);
        let opened = workspace.open_for_reading(&rel("x")).unwrap();
        let (found, visited) = opened.scan_text(&mut WordScanner("Größe")).unwrap();
        let found = found.map(|found| *found.downcast::<usize>().unwrap());
        (found, visited.files, visited.skipped)
    };
    let none = SkippedTexts::default();
    assert_eq!(search(large.as_bytes()), (Some(large.len()), 1, none));
    assert_eq!(search(b"nothing"), (None, 1, none));
    let skipped = SkippedTexts { too_large: 1, ..none };
    assert_eq!(search(large.repeat(3).as_bytes()), (None, 0, skipped));
    assert_eq!(search(b"a\0b"), (None, 0, SkippedTexts { binary: 1, ..none }));
    // With a byte that is none in UTF-8.
    let damaged = [large.as_bytes(), b"\xff"].concat();
    assert_eq!(search(&damaged), (Some(large.len() + 3), 1, none));
    assert_eq!(workspace.read(&rel("x")).unwrap_err().code(), ErrorCode::TooLarge);
}

#[test]
fn large_files_are_read_in_windows_only() {
    let fixture = Fixture::new();
    let limits =
        FileLimits { edit_bytes_max: 1 << 20, read_bytes_max: 4 << 20, ..FileLimits::default() };
    let options = WorkspaceOptions { limits, ..WorkspaceOptions::default() };
    let workspace = Workspace::open(&fixture.root(), options).unwrap();
    let text: String = (1..=200_000).map(|number| format!("line {number}\n")).collect();
    assert!(text.len() > 2 << 20);
    fixture.put("x", &text);
    assert!(matches!(workspace.read(&rel("x")), Err(Error::TooLarge { .. })));
    let window = LineWindow { start: 199_999, lines_max: 5, ..WINDOW };
    let lines = workspace.read_lines(&rel("x"), window).unwrap();
    assert_eq!((lines.lines_total, lines.hash), (200_000, hash(text.as_bytes())));
    assert_eq!(lines.lines.len(), 2);
    assert_eq!(lines.lines.iter().last().unwrap().text, "line 200000");

    let sparse = fs::File::create(fixture.root().join("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    for error in [
        workspace.read(&rel("sparse")).unwrap_err(),
        workspace.read_lines(&rel("sparse"), WINDOW).unwrap_err(),
    ] {
        assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    }
}

#[test]
fn who_would_write_too_much_is_not_told_to_read_it() {
    let fixture = Fixture::new();
    let limits = FileLimits { edit_bytes_max: 4, read_bytes_max: 8, ..FileLimits::default() };
    let options = WorkspaceOptions { limits, ..WorkspaceOptions::default() };
    let workspace = Workspace::open(&fixture.root(), options).unwrap();
    let hint = |error: Error| {
        let told = ToolError::from(error);
        assert_eq!(told.code, ErrorCode::TooLarge);
        told.hint.unwrap()
    };
    let created = workspace.plan(&ChangeSet { changes: vec![create("new", "12345")] });
    assert!(hint(created.unwrap_err()).contains("several files"));
    fixture.put("x", "12345");
    assert!(hint(workspace.read(&rel("x")).unwrap_err()).contains("windows of lines"));
}

#[test]
fn a_file_too_large_to_keep_can_be_deleted_for_good() {
    let fixture = Fixture::new();
    let limits = FileLimits { edit_bytes_max: 4, read_bytes_max: 8, ..FileLimits::default() };
    let options = WorkspaceOptions { limits, ..WorkspaceOptions::default() };
    let workspace = Workspace::open(&fixture.root(), options).unwrap();
    let plan = |content: &[u8], retention| {
        fixture.put("x", content);
        workspace.plan(&ChangeSet { changes: vec![delete("x", content, retention)] })
    };
    let error = plan(b"123456", Retention::Recoverable).unwrap_err();
    assert!(matches!(error, Error::TooLargeToKeep { size_bytes: 6, bytes_max: 4, .. }));
    let told = ToolError::from(error);
    assert_eq!(told.code, ErrorCode::TooLarge);
    assert!(told.hint.unwrap().contains("`permanent: true`"));
    // Beyond the larger limit that would not help either.
    for retention in [Retention::Recoverable, Retention::Permanent] {
        let error = plan(b"123456789", retention).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    }
    let permanent = plan(b"123456", Retention::Permanent).unwrap();
    workspace.commit(&permanent, &fixture.history, &origin("for good")).unwrap();
    assert!(!fixture.root().join("x").exists());
}

#[test]
fn roots_that_are_no_projects_are_refused() {
    let fixture = Fixture::new();
    fixture.put("file", "");
    for path in ["/", "/proc", "/sys", "/dev", "/proc/self", "/no/such"] {
        let opened = Workspace::open(path.as_ref(), WorkspaceOptions::default());
        assert!(matches!(opened, Err(Error::Root { .. })), "{path}");
    }
    let home = std::env::home_dir().unwrap();
    assert!(matches!(Workspace::open(&home, WorkspaceOptions::default()), Err(Error::Root { .. })));
    let file = fixture.root().join("file");
    assert!(matches!(Workspace::open(&file, WorkspaceOptions::default()), Err(Error::Root { .. })));
}

/// A name is not found at once, now and then, while others rename files on the same system.
const TRIES: usize = 1_000;

#[test]
fn what_is_in_memory_is_read_without_waiting() {
    let fixture = Fixture::on_disk(Resolver::Kernel);
    let at_once = |path: &str| {
        let path = rel(path);
        (0..TRIES).find_map(|_| fixture.workspace.open_cached(&path))
    };
    fixture.put("a/small", "one\ntwo\r\n");
    std::os::unix::fs::symlink("a/small", fixture.root().join("link")).unwrap();
    let can = |opened: &OpenedFile<'_>| (0..TRIES).any(|_| opened.read().is_ok());
    if !at_once("a/small").as_ref().is_some_and(can) {
        not_tested("what is in memory: this system cannot read here without waiting");
        return;
    }
    for path in ["a/small", "link"] {
        // A link that was never followed is not followed at once: its time of access is due.
        let follow = || fixture.workspace.read(&rel(path)).ok();
        let opened = eventually(path, || at_once(path).or_else(|| follow().and(None)));
        assert_eq!(opened.real(), &rel("a/small"));
        let lines = eventually("lines", || opened.read_lines(WINDOW).ok());
        assert_eq!(lines, fixture.workspace.read_lines(&rel(path), WINDOW).unwrap());
        let whole = eventually("the file", || opened.read().ok());
        assert_eq!(whole, fixture.workspace.read(&rel(path)).unwrap());
    }
    fixture.put("large", vec![b'x'; 1 << 20]);
    for path in ["large", "a", ".", "none", "a/none/x"] {
        assert!(at_once(path).is_none(), "{path}");
    }
    // It grows after it was opened: more than can be read at once is not read in part.
    let opened = eventually("a/small", || at_once("a/small"));
    fixture.put("a/small", vec![b'x'; 1 << 20]);
    assert!(opened.read_lines(WINDOW).is_err());
    assert!(opened.read().is_err());
}

#[test]
fn read_that_nobody_waits_for_stops_at_its_next_piece() {
    let fixture = Fixture::new();
    // Neither UTF-8 nor marked: such a file is read whole, the others piece by piece.
    for content in [vec![b'x'; 1 << 20], vec![0xe9; 1 << 20]] {
        fixture.put("x", &content);
        let asked = AtomicUsize::new(0);
        let cancelled = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
        let opened = fixture.workspace.open_for_reading(&rel("x")).unwrap().unless(&cancelled);
        assert!(matches!(opened.read_lines(WINDOW), Err(Error::Cancelled)));
        assert!(asked.load(Ordering::Relaxed) < 8, "{asked:?}");
        let gone = || true;
        let opened = fixture.workspace.open_for_reading(&rel("x")).unwrap().unless(&gone);
        assert!(matches!(opened.read(), Err(Error::Cancelled)));
    }
}

#[test]
fn planning_to_delete_a_large_file_for_good_ends_when_nobody_waits() {
    let fixture = Fixture::new();
    let content = vec![b'x'; 4 << 20];
    fixture.put("x", &content);
    let changes = ChangeSet { changes: vec![delete("x", &content, Retention::Permanent)] };
    let asked = AtomicUsize::new(0);
    let cancelled = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
    let plan = fixture.workspace.plan_over(&changes, &NoBuffers, &cancelled);
    assert!(matches!(plan, Err(Error::Cancelled)), "{plan:?}");
    // It is not hashed to its end first.
    assert!(asked.load(Ordering::Relaxed) < 8, "{asked:?}");
}

#[test]
fn committing_the_deletion_of_a_large_file_for_good_ends_when_nobody_waits() {
    let fixture = Fixture::new();
    let content = vec![b'x'; 4 << 20];
    fixture.put("x", &content);
    let changes = ChangeSet { changes: vec![delete("x", &content, Retention::Permanent)] };
    let plan = fixture.workspace.plan(&changes).unwrap();
    let asked = AtomicUsize::new(0);
    let cancelled = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
    let commit = |cancelled: &(dyn Fn() -> bool + Sync)| {
        let Fixture { workspace, history, .. } = &fixture;
        let durable = workspace.make_durable(&plan, history, &origin("x"), &NoBuffers, cancelled);
        durable.map(Uncleared::clear)
    };
    let ended = commit(&cancelled);
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    // It is not hashed to its end first, and nothing is left of the attempt.
    assert!(asked.load(Ordering::Relaxed) < 8, "{asked:?}");
    assert_eq!(fixture.get("x"), content);
    assert_eq!(fixture.history.stats().unwrap().entries, 0);
    commit(&|| false).unwrap();
    assert!(fixture.workspace.read(&rel("x")).is_err());
}
