//! Visiting texts on several threads: the same result every time, wherever a walk ends and however.

use std::fs;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use moss_sdk::RelPath;
use moss_sdk::context::{TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::{SkippedTexts, VisitOptions, Visited, VisitedText};
use moss_sdk::ranking;
use moss_workspace::{Error, MayRead, NoBuffers, VisitGate, Workspace};

use crate::fixture::{Fixture, RESOLVERS, rel};

const ALL: VisitOptions = VisitOptions { entries_max: 100_000, bytes_max: u64::MAX };
const GATE: VisitGate<'_> = VisitGate {
    lists: &lists,
    reads: &reads,
    one_name: false,
    is_apart: false,
    buffers: &NoBuffers,
    cancelled: &|| false,
    name: None,
};
/// Directories, and files in each.
const DIRECTORIES: usize = 60;
const FILES: usize = 20;

/// Gathers the paths of files up to a number, and may panic at one.
#[derive(Default)]
struct Paths {
    paths: Vec<String>,
    files_max: Option<usize>,
    panics_at: Option<&'static str>,
}

struct PathScanner {
    panics_at: Option<&'static str>,
}

impl TextScanner for PathScanner {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        assert_ne!(Some(file.path.as_str()), self.panics_at, "of the test");
        // Some find nothing.
        (!file.text.contains("nothing")).then(|| Box::new(file.path.to_string()) as TextFinding)
    }
}

impl TextVisitor for Paths {
    fn wants(&self, path: &RelPath) -> bool {
        !path.as_str().ends_with("unwanted")
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(PathScanner { panics_at: self.panics_at })
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        self.paths.push(*finding.downcast().unwrap());
        match self.files_max == Some(self.paths.len()) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

fn lists(path: &RelPath) -> bool {
    !path.as_str().ends_with("sealed")
}

fn reads(real: &RelPath, _: &RelPath) -> MayRead {
    match real.file_name() {
        Some("denied") => MayRead::No,
        Some("asked") => MayRead::Unapproved,
        _ => MayRead::Yes,
    }
}

/// A tree that is large enough for several threads, deep in part, with something of all kinds.
fn tree(fixture: &Fixture) {
    for number in 0..DIRECTORIES {
        let name = ["src", "tests", "docs", "vendor"][number % 4];
        let directory = format!("d{}/e{}/{name}{number}/{name}", number % 7, number % 3);
        for file in 0..FILES {
            let text = if file % 5 == 4 { "nothing" } else { "some text" };
            fixture.put(&format!("{directory}/f{file:02}"), text);
        }
        for name in ["denied", "asked", "unwanted", "ignored.log", "sealed/inner"] {
            fixture.put(&format!("{directory}/{name}"), "text");
        }
        let blob = fixture.root().join(format!("{directory}/blob"));
        fs::write(blob, b"\0").unwrap();
    }
    fixture.put(".gitignore", "*.log\n");
}

fn visit(workspace: &Workspace, options: VisitOptions, mut paths: Paths) -> (Vec<String>, Visited) {
    let visited = workspace.visit_texts(&rel("."), options, GATE, &mut paths).unwrap();
    (paths.paths, visited)
}

#[test]
fn every_walk_of_a_tree_finds_the_same() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        tree(&fixture);
        let (paths, visited) = visit(&fixture.workspace, ALL, Paths::default());
        let found = DIRECTORIES * FILES * 4 / 5 + 1;
        assert_eq!(paths.len(), found);
        let parsed: Vec<RelPath> = paths.iter().map(|path| rel(path)).collect();
        assert!(parsed.is_sorted_by(|a, b| ranking::compare(a, b).is_lt()));
        let each = DIRECTORIES as u64;
        let skipped = SkippedTexts {
            ignored: each,
            denied: 2 * each,
            unapproved: each,
            binary: each,
            ..SkippedTexts::default()
        };
        let files = each * FILES as u64 + 1;
        assert_eq!(visited, Visited { files, skipped, truncated: false });
        for _ in 0..10 {
            assert_eq!(visit(&fixture.workspace, ALL, Paths::default()), (paths.clone(), visited));
        }
    }
}

#[test]
fn a_bound_ends_every_walk_at_the_same_file() {
    let fixture = Fixture::new();
    tree(&fixture);
    let (all, whole) = visit(&fixture.workspace, ALL, Paths::default());
    for bytes_max in [0, 100, 1_000, 5_000] {
        let options = VisitOptions { bytes_max, ..ALL };
        let (paths, visited) = visit(&fixture.workspace, options, Paths::default());
        assert!(visited.truncated && paths == all[..paths.len()], "{bytes_max} bytes");
        for _ in 0..5 {
            let again = visit(&fixture.workspace, options, Paths::default());
            assert_eq!(again, (paths.clone(), visited), "{bytes_max} bytes");
        }
    }
    for files_max in [1, 17, 300] {
        let ending = || Paths { files_max: Some(files_max), ..Paths::default() };
        let (paths, visited) = visit(&fixture.workspace, ALL, ending());
        assert_eq!(paths, all[..files_max]);
        assert_eq!((visited.truncated, visited.skipped.denied), (false, whole.skipped.denied));
        for _ in 0..5 {
            assert_eq!(visit(&fixture.workspace, ALL, ending()), (paths.clone(), visited));
        }
    }
}

#[test]
fn a_bound_on_entries_takes_the_first_ones_in_path_order() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        tree(&fixture);
        let (all, _) = visit(&fixture.workspace, ALL, Paths::default());
        let mut in_path_order = all.clone();
        in_path_order.sort_by(|a, b| a.split('/').cmp(b.split('/')));
        let mut before = 0;
        for entries_max in [0, 1, 10, 100, 500, 1_000, 1_500] {
            let options = VisitOptions { entries_max, ..ALL };
            let (mut paths, visited) = visit(&fixture.workspace, options, Paths::default());
            assert!(visited.truncated, "{entries_max}");
            let again = visit(&fixture.workspace, options, Paths::default());
            assert_eq!(again, (paths.clone(), visited), "{entries_max}");
            paths.sort_by(|a, b| a.split('/').cmp(b.split('/')));
            assert_eq!(paths, in_path_order[..paths.len()], "{entries_max}");
            assert!(paths.len() >= before, "{entries_max}");
            before = paths.len();
        }
        assert!(before > 100);
    }
}

#[test]
fn a_panic_of_a_scanner_ends_the_walk() {
    let fixture = Fixture::new();
    tree(&fixture);
    let (all, _) = visit(&fixture.workspace, ALL, Paths::default());
    for at in [0, all.len() / 2, all.len() - 1] {
        let panics_at: &'static str = all[at].clone().leak();
        let panicking = || Paths { panics_at: Some(panics_at), ..Paths::default() };
        let walk = || visit(&fixture.workspace, ALL, panicking());
        assert!(catch_unwind(AssertUnwindSafe(walk)).is_err(), "{panics_at}");
    }
    assert_eq!(visit(&fixture.workspace, ALL, Paths::default()).0, all);
}

#[test]
fn a_walk_is_cancelled_wherever_it_is() {
    let fixture = Fixture::new();
    tree(&fixture);
    for after in [0, 1, 50, 500, 1_500, 2_500] {
        let asked = AtomicUsize::new(0);
        let cancelled = || asked.fetch_add(1, Ordering::Relaxed) >= after;
        let gate = VisitGate { cancelled: &cancelled, ..GATE };
        let ended = fixture.workspace.visit_texts(&rel("."), ALL, gate, &mut Paths::default());
        assert!(matches!(ended, Err(Error::Cancelled)), "{after}");
    }
}

#[test]
fn reading_a_large_file_is_cancelled_on_the_way() {
    let fixture = Fixture::new();
    fixture.put("large", "x".repeat(8 << 20));
    let asked = AtomicUsize::new(0);
    // Once for each entry and for each file, and then for each piece of it.
    let cancelled = || asked.fetch_add(1, Ordering::Relaxed) >= 4;
    let gate = VisitGate { cancelled: &cancelled, ..GATE };
    let ended = fixture.workspace.visit_texts(&rel("."), ALL, gate, &mut Paths::default());
    assert!(matches!(ended, Err(Error::Cancelled)));
}

#[test]
fn many_walks_at_once_find_the_same() {
    let fixture = Fixture::new();
    tree(&fixture);
    let expected = visit(&fixture.workspace, ALL, Paths::default());
    std::thread::scope(|scope| {
        let walk = || visit(&fixture.workspace, ALL, Paths::default());
        let walks: Vec<_> = (0..16).map(|_| scope.spawn(walk)).collect();
        for walk in walks {
            assert_eq!(walk.join().unwrap(), expected);
        }
    });
}
