//! Several writers at once: some through moss, some that know nothing of it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use moss_sdk::RelPath;
use moss_sdk::edit::{ChangeSet, Splice};
use moss_sdk::file::Content;
use moss_workspace::{Error, History, HistoryFilter, HistoryLimits, Resolver, Workspace};

use crate::fixture::{
    Fixture, RESOLVERS, SetOnDrop, edit, eventually, history, open, origin, rel, tree, write,
};

/// Appends a line through moss; `false` where somebody else was faster.
fn append(workspace: &Workspace, history: &History, path: &RelPath, line: &str) -> bool {
    let snapshot = match workspace.read(path) {
        Ok(snapshot) => snapshot,
        Err(Error::NotFound { .. } | Error::Busy { .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    let Content::Text(text) = snapshot.content else { panic!("not text") };
    let end = text.text.len();
    let splices = vec![Splice { range: end..end, text: format!("{line}\n") }];
    let changes = ChangeSet { changes: vec![edit(path.as_str(), snapshot.hash, splices)] };
    let outcome =
        workspace.plan(&changes).and_then(|plan| workspace.commit(&plan, history, &origin(line)));
    match outcome {
        Ok(_) => true,
        Err(Error::Changed { .. } | Error::NotFound { .. } | Error::Busy { .. }) => false,
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn two_writers_lose_nothing_that_was_acknowledged() {
    const LINES: usize = 60;
    let fixture = Fixture::with(Resolver::Kernel);
    fixture.put("x", "");
    let (root, state) = (fixture.root(), fixture.state());
    std::thread::scope(|scope| {
        for (name, resolver) in [("a", Resolver::Kernel), ("b", Resolver::Walk)] {
            let (root, state) = (&root, &state);
            scope.spawn(move || {
                let (workspace, history) = (open(root, resolver), history(state));
                for line in 0..LINES {
                    while !append(&workspace, &history, &rel("x"), &format!("{name} {line}")) {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    let text = String::from_utf8(fixture.get("x")).unwrap();
    for name in ["a", "b"] {
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(name)).collect();
        let expected: Vec<String> = (0..LINES).map(|line| format!("{name} {line}")).collect();
        assert_eq!(lines, expected);
    }
    assert_eq!(fixture.history.stats().unwrap().entries, 2 * LINES as u64);
    assert_eq!(tree(&root).len(), 1);
}

/// How a program saves that knows nothing of moss.
type Save = fn(&Path, &str) -> fs::File;

/// As many editors do: a new file takes the name. The old one is not touched.
fn save_by_rename(path: &Path, text: &str) -> fs::File {
    let temp = path.with_extension("swp");
    let mut file = fs::File::create(&temp).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    fs::rename(&temp, path).unwrap();
    file
}

/// As other programs do: the same file gets another content, in one write.
fn save_in_place(path: &Path, text: &str) -> fs::File {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// Runs a moss writer against a foreign one. The foreign writer looks before each save whether the
/// line of its last one is still there: moss only adds lines.
fn race(save: Save) {
    const SAVES: usize = 150;
    let fixture = Fixture::with(Resolver::Kernel);
    fixture.put("x", "foreign 0\n");
    let (root, state) = (fixture.root(), fixture.state());
    let path = root.join("x");
    let done = AtomicBool::new(false);
    let attempts = AtomicUsize::new(0);
    let acknowledged = std::thread::scope(|scope| {
        let _end = SetOnDrop(&done);
        let moss = scope.spawn(|| {
            let (workspace, history) = (open(&root, Resolver::Kernel), history(&state));
            let mut acknowledged = Vec::new();
            for number in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                attempts.store(number, Ordering::Relaxed);
                let line = format!("moss {number}");
                if append(&workspace, &history, &rel("x"), &line) {
                    acknowledged.push(line);
                }
            }
            acknowledged
        });
        let mut last = "foreign 0\n".to_owned();
        let mut displaced = 0;
        for number in 1..=SAVES {
            // Sometimes moss gets through, sometimes it is interrupted, each time elsewhere.
            let attempt = attempts.load(Ordering::Relaxed) + number % 3;
            while attempts.load(Ordering::Relaxed) < attempt && !moss.is_finished() {
                std::thread::yield_now();
            }
            (0..number * 37 % 300).for_each(|_| std::thread::yield_now());
            if displaced != number - 1 {
                expect_safe(&path, &last, &fixture.history);
            }
            let line = format!("foreign {number}\n");
            let file = save(&path, &line);
            // A program that had opened the file before the exchange may write to the old one
            // after moss has looked at it for the last time.
            let lives =
                fs::metadata(&path).is_ok_and(|m| m.ino() == file.metadata().unwrap().ino());
            if !lives {
                displaced = number;
            }
            last = line;
        }
        done.store(true, Ordering::Relaxed);
        moss.join().unwrap()
    });
    assert!(!acknowledged.is_empty());
    // What moss acknowledged is in the history, with what it was made from, whole.
    let filter = HistoryFilter { entries_max: 100_000, ..HistoryFilter::default() };
    let entries = fixture.history.list(&filter).unwrap();
    let summaries: Vec<&str> =
        entries.iter().rev().map(|entry| entry.origin.summary.as_str()).collect();
    assert_eq!(summaries, acknowledged);
    for entry in &entries {
        let content = |hash: &Option<moss_sdk::ContentHash>| {
            fixture.history.content(&hash.unwrap()).unwrap().unwrap()
        };
        let (before, after) = (content(&entry.files[0].before), content(&entry.files[0].after));
        let line = format!("{}\n", entry.origin.summary);
        assert_eq!(after, [before, line.into_bytes()].concat());
    }
    let names: Vec<_> = tree(&root).into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, [Path::new("x")]);
}

/// Waits until a line is in the file, or in bytes that history kept. While moss finds out that it
/// came too late, its own version is in the file for an instant.
fn expect_safe(path: &Path, line: &str, history: &History) {
    let has_line = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(line);
    let is_kept = || {
        let kept = history.kept().unwrap();
        kept.iter().any(|kept| has_line(&history.content(&kept.hash).unwrap().unwrap()))
    };
    eventually(line, || (has_line(&read(path)) || is_kept()).then_some(()));
}

/// Between a rename away and back there may be no file for an instant.
fn read(path: &Path) -> Vec<u8> {
    eventually("the file is there", || fs::read(path).ok())
}

#[test]
fn saves_by_rename_are_never_lost() {
    race(save_by_rename);
}

#[test]
fn saves_in_place_are_never_lost() {
    race(save_in_place);
}

#[test]
fn damaged_and_strange_histories_are_refused() {
    let fixture = Fixture::new();
    let state = fixture.temp.path().join("broken");
    let limits = HistoryLimits::default();
    fs::create_dir(&state).unwrap();
    fs::write(state.join("history.sqlite"), "not a database, but long enough to be read".repeat(9))
        .unwrap();
    fs::set_permissions(
        state.join("history.sqlite"),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    let refused = History::open(&state, limits);
    assert!(matches!(refused, Err(Error::History { damaged: true, .. })), "{refused:?}");
}

#[test]
fn many_can_open_a_new_history_at_once() {
    for _ in 0..20 {
        let fixture = Fixture::with(Resolver::Kernel);
        let state = fixture.temp.path().join("fresh");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| history(&state).stats().unwrap());
            }
        });
    }
}

/// What another program does to the planned file.
type Meddle = fn(&Path);

#[test]
fn a_refused_commit_says_what_it_found() {
    let meddles: [(Meddle, &str); 5] = [
        (
            |x| fs::set_permissions(x, fs::Permissions::from_mode(0o600)).unwrap(),
            "expected mode 644, found mode 600",
        ),
        (|x| fs::remove_file(x).unwrap(), "found nothing there"),
        (
            |x| {
                fs::remove_file(x).unwrap();
                fs::create_dir(x).unwrap();
            },
            "expected a file, found a directory",
        ),
        (
            |x| {
                fs::rename(x, x.with_file_name("y")).unwrap();
                symlink("y", x).unwrap();
            },
            "expected no link on the way, found a link to y",
        ),
        (|x| fs::write(x, "other\n").unwrap(), "found content "),
    ];
    for resolver in RESOLVERS {
        for (meddle, expected) in meddles {
            let fixture = Fixture::with(resolver);
            fixture.put("x", "old\n");
            let path = fixture.root().join("x");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            let changes = ChangeSet { changes: vec![write("x", b"old\n", "new\n")] };
            let plan = fixture.workspace.plan(&changes).unwrap();
            meddle(&path);
            let before = tree(&fixture.root());
            let error =
                fixture.workspace.commit(&plan, &fixture.history, &origin("late")).unwrap_err();
            assert!(matches!(error, Error::Changed { .. }), "{error:?}");
            let message = error.to_string();
            assert!(message.starts_with("x has changed: expected "), "{message}");
            assert!(message.contains(expected), "{message}");
            assert_eq!(tree(&fixture.root()), before);
        }
    }
}
