//! The live tree: its answers are those of a walk, whatever happens to the files, and never old.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::file::{ListOptions, Listing};
use moss_workspace::{
    Error, LiveChanges, LiveOptions, LiveState, LiveTree, Resolver, Workspace, WorkspaceOptions,
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::fixture::{RESOLVERS, memory, open, rel};
use crate::live_trees::{size_in_tree, trees_agree};
use crate::live_visits::visits_agree;

const ALL: ListOptions = ListOptions { recursive: true, entries_max: 100_000 };
const WITH_EVENTS: LiveOptions = LiveOptions {
    entries_max: 100_000,
    watches_max: 10_000,
    changes_max: 10_000,
    with_events: true,
};
const SWEEPING: LiveOptions = LiveOptions { with_events: false, ..WITH_EVENTS };

/// A workspace with its live tree.
struct Watched {
    temp: TempDir,
    workspace: Arc<Workspace>,
    tree: LiveTree,
}

/// A listing without what no event reports: a further name of a file, elsewhere, changes when it changed.
fn as_known(mut listing: Listing) -> Listing {
    listing.entries.iter_mut().for_each(|entry| entry.changed = None);
    listing
}

// === impl Watched ===

impl Watched {
    fn new(resolver: Resolver, options: LiveOptions, lay_out: impl FnOnce(&Path)) -> Self {
        Self::beneath(memory(), resolver, options, lay_out)
    }

    fn beneath(
        temp: TempDir,
        resolver: Resolver,
        options: LiveOptions,
        lay_out: impl FnOnce(&Path),
    ) -> Self {
        let root = temp.path().join("root");
        fs::create_dir(&root).unwrap();
        lay_out(&root);
        let workspace = Arc::new(open(&root, resolver));
        let tree = LiveTree::new(Arc::clone(&workspace), options);
        tree.build(&|| false);
        Self { temp, workspace, tree }
    }

    fn put(&self, path: &str, content: &str) {
        let path = self.temp.path().join("root").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.temp.path().join("root").join(path)
    }

    fn walked(&self, path: &str, options: ListOptions) -> Result<Listing, Error> {
        self.workspace.list(&rel(path), options, &|_| true, &|| false)
    }

    fn listed(&self, path: &str, options: ListOptions) -> Result<Option<Listing>, Error> {
        self.tree.list(&rel(path), options, &|_| true, &|| false)
    }

    /// Asserts that the tree lists a directory as a walk does; returns whether it knew it.
    #[track_caller]
    fn agrees(&self, path: &str) -> bool {
        let mut is_known = false;
        for recursive in [true, false] {
            for entries_max in [3, 100_000] {
                let options = ListOptions { recursive, entries_max };
                match (self.listed(path, options), self.walked(path, options)) {
                    (Ok(Some(listed)), walked) => {
                        let (listed, walked) = (as_known(listed), as_known(walked.unwrap()));
                        assert_eq!(listed, walked, "{path} {options:?}");
                        is_known = true;
                    }
                    (Ok(None), _) => {}
                    (Err(listed), walked) => {
                        assert_eq!(listed.to_string(), walked.unwrap_err().to_string(), "{path}");
                    }
                }
            }
        }
        let lists = trees_agree(&self.workspace, &self.tree, path);
        // Without events listings walk.
        let is_live = self.tree.status().state == LiveState::Live;
        assert!(lists == is_known || !is_live, "{path}");
        visits_agree(&self.workspace, &self.tree, path) && is_known
    }

    fn changes(&self, since: u64) -> LiveChanges {
        self.tree.changes_since(since, &|| false).unwrap().unwrap()
    }
}

fn lay_out(root: &Path) {
    for path in ["a/b/c.rs", "a/d.log", "e/f", "e/g/h/i", "ignored/x", ".git/config", "z"] {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), "1").unwrap();
    }
    fs::write(root.join(".gitignore"), "ignored\n*.log\n").unwrap();
}

#[test]
fn a_small_directory_is_listed_at_once_until_something_changes() {
    const SHALLOW: ListOptions = ListOptions { recursive: false, entries_max: 100_000 };
    let watched = Watched::new(Resolver::Kernel, WITH_EVENTS, |root| {
        lay_out(root);
        symlink("a", root.join("link")).unwrap();
        fs::create_dir(root.join("large")).unwrap();
        (0..257).for_each(|n| fs::write(root.join(format!("large/{n}")), "").unwrap());
    });
    let at_once = |path: &str| watched.tree.list_at_once(&rel(path), SHALLOW, &|_| true);
    // What is mounted or renamed elsewhere meanwhile makes the tree look again, and the kernel, too.
    let soon = |list: &dyn Fn() -> Option<Listing>| {
        (0..1_000).find_map(|_| {
            list().or_else(|| {
                watched.listed(".", SHALLOW).unwrap();
                None
            })
        })
    };
    let agrees = |path: &str| {
        let listed = soon(&|| at_once(path)).unwrap_or_else(|| panic!("{path}"));
        let walked = watched.walked(path, SHALLOW).unwrap();
        assert_eq!(as_known(listed), as_known(walked), "{path}");
    };
    for path in [".", "a", "a/b", "e/g"] {
        agrees(path);
    }
    let keep = |path: &RelPath| path.as_str() != "a/b";
    let kept = soon(&|| watched.tree.list_at_once(&rel("a"), SHALLOW, &keep));
    assert_eq!(kept.unwrap().skipped.denied, 1);
    // What takes longer, what has another real name, and what there is not.
    for path in ["large", "link", "ignored", "a/b/c.rs", "missing", ".git"] {
        assert_eq!(at_once(path), None, "{path}");
    }
    assert_eq!(watched.tree.list_at_once(&rel("a"), ALL, &|_| true), None);
    // Each change is looked at first, by who may wait.
    let changes: [(&str, &dyn Fn()); 5] = [
        ("a new file", &|| watched.put("a/new", "1")),
        ("another content", &|| watched.put("a/new", "12")),
        ("an ignore file", &|| watched.put("a/.gitignore", "new\n")),
        ("rules of a repository", &|| watched.put(".git/info/exclude", "b\n")),
        ("a directory that is gone", &|| fs::remove_dir_all(watched.at("e/g")).unwrap()),
    ];
    for (what, change) in changes {
        change();
        assert_eq!(at_once("a"), None, "{what}");
        watched.listed("a", SHALLOW).unwrap();
        agrees("a");
    }
    assert_eq!(at_once("e/g"), None);
    let sweeping = Watched::new(Resolver::Kernel, SWEEPING, lay_out);
    assert_eq!(sweeping.tree.list_at_once(&rel("a"), SHALLOW, &|_| true), None);
}

#[test]
fn answers_are_those_of_a_walk() {
    for resolver in RESOLVERS {
        let watched = Watched::new(resolver, WITH_EVENTS, lay_out);
        let status = watched.tree.status();
        assert_eq!((status.state, status.reason), (LiveState::Live, None));
        for known in [".", "a", "a/b", "e", "e/g/h"] {
            assert!(watched.agrees(known), "{known}");
        }
        symlink("e/g", watched.at("link")).unwrap();
        assert!(watched.agrees("link"));
        // A walk has to show what is ignored, and says what is wrong.
        for unknown in ["ignored", "z", "missing", ".git"] {
            assert!(!watched.agrees(unknown), "{unknown}");
        }
    }
}

#[test]
fn every_change_shows_in_the_next_answer() {
    let watched = Watched::new(Resolver::Kernel, WITH_EVENTS, lay_out);
    let step = |what: &str, change: &dyn Fn()| {
        change();
        assert!(watched.agrees("."), "{what}");
    };
    let at = |path: &str| watched.at(path);
    step("a new file", &|| watched.put("a/new", "1"));
    step("a longer file", &|| watched.put("a/new", "12"));
    step("new directories", &|| watched.put("n/o/p/q", "1"));
    step("a file in one", &|| watched.put("n/o/r", "1"));
    step("a directory that moves", &|| fs::rename(at("n"), at("e/n")).unwrap());
    step("a file where it is now", &|| watched.put("e/n/o/s", "1"));
    step("one that leaves", &|| fs::rename(at("e/n"), watched.temp.path().join("n")).unwrap());
    step("one that comes back", &|| fs::rename(watched.temp.path().join("n"), at("n")).unwrap());
    step("a file in it", &|| watched.put("n/o/t", "1"));
    step("one in place of another", &|| {
        fs::rename(at("n"), at("m")).unwrap();
        fs::rename(at("e"), at("n")).unwrap();
        fs::rename(at("m"), at("e")).unwrap();
    });
    step("files in both", &|| {
        watched.put("n/u", "1");
        watched.put("e/o/u", "1");
    });
    step("an ignore file", &|| watched.put(".ignore", "*.rs\n!*.log\n"));
    step("one beneath", &|| watched.put("a/b/.gitignore", "!c.rs\n"));
    step("a rule that is dropped", &|| watched.put(".gitignore", "*.log\n"));
    step("a file in what was ignored", &|| watched.put("ignored/y", "1"));
    step("an unshared rule", &|| watched.put(".git/info/exclude", "y\n"));
    step("another", &|| watched.put(".git/info/exclude", "z\n"));
    step("none", &|| fs::remove_file(at(".git/info/exclude")).unwrap());
    step("a repository", &|| watched.put("n/.git/info/exclude", "u\n"));
    step("none any more", &|| fs::remove_dir_all(at("n/.git")).unwrap());
    step("no ignore file", &|| fs::remove_file(at(".ignore")).unwrap());
    step("a directory that becomes a file", &|| {
        fs::remove_dir_all(at("n")).unwrap();
        watched.put("n", "1");
    });
    step("a link", &|| symlink("a", at("l")).unwrap());
    step("times", &|| {
        let file = fs::File::open(at("z")).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    });
    step("odd names", &|| {
        fs::write(at("a").join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
        fs::write(at("a/new\nline"), "").unwrap();
    });
    step("nothing", &|| fs::remove_dir_all(at("a")).unwrap());
}

#[test]
fn a_write_through_another_name_shows() {
    let watched = Watched::new(Resolver::Kernel, WITH_EVENTS, lay_out);
    // One name in the tree, the other where nothing is watched.
    fs::hard_link(watched.at("ignored/x"), watched.at("e/x")).unwrap();
    assert!(watched.agrees("."));
    watched.put("ignored/x", "longer");
    assert!(watched.agrees("."));
    // The first name was known when the file had no other.
    fs::hard_link(watched.at("z"), watched.at("e/z")).unwrap();
    assert!(watched.agrees("."));
    let before = watched.changes(0).generation;
    watched.put("e/z", "longer");
    assert!(watched.agrees("."));
    assert!(watched.changes(before).files.contains(&rel("z")));
}

#[test]
fn changes_name_what_is_to_be_looked_at_again() {
    for options in [WITH_EVENTS, SWEEPING] {
        let watched = Watched::new(Resolver::Kernel, options, lay_out);
        let start = watched.changes(0);
        assert!(start.is_everything);
        let rels = |paths: &[&str]| paths.iter().map(|path| rel(path)).collect();
        watched.put("a/b/c.rs", "1");
        watched.put("new/x", "1");
        fs::rename(watched.at("e/g"), watched.at("g")).unwrap();
        fs::remove_file(watched.at("e/f")).unwrap();
        let changes = watched.changes(start.generation);
        assert!(!changes.is_everything && changes.generation > start.generation);
        let files: std::collections::BTreeSet<RelPath> = rels(&["a/b/c.rs", "e/f"]);
        assert!(files.is_subset(&changes.files), "{changes:?}");
        assert!(watched.tree.file(&rel("e/f")).is_none());
        let mark = watched.tree.file(&rel("a/b/c.rs")).unwrap();
        assert_eq!((mark.size_bytes, mark.is_sure), (1, false));
        let mut expected: std::collections::BTreeSet<RelPath> = rels(&["e/g", "g", "g/h", "new"]);
        // What is beneath a new one may be named too.
        expected.retain(|path| path != &rel("g/h") || changes.subtrees.contains(path));
        let named: std::collections::BTreeSet<_> =
            changes.subtrees.iter().filter(|path| path != &&rel("e/g/h")).cloned().collect();
        assert_eq!(named, expected);
        let mut files = Vec::new();
        assert!(watched.tree.files(&rel("."), &mut |path, _| files.push(path.to_string())));
        assert_eq!(files, [".gitignore", "a/b/c.rs", "g/h/i", "new/x", "z"]);
    }
}

fn queue_max() -> usize {
    let text = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    text.trim().parse().unwrap()
}

#[test]
fn directory_that_came_back_while_events_were_lost_is_watched_again() {
    // On a disk: there a directory may come back under the number that it had.
    let temp = TempDir::new().unwrap();
    let watched = Watched::beneath(temp, Resolver::Kernel, WITH_EVENTS, |root| {
        fs::create_dir_all(root.join("d")).unwrap();
        fs::create_dir_all(root.join("burst")).unwrap();
    });
    for _ in 0..queue_max() / 2 + 10 {
        fs::write(watched.at("burst/y"), "").unwrap();
        fs::remove_file(watched.at("burst/y")).unwrap();
    }
    fs::remove_dir(watched.at("d")).unwrap();
    fs::create_dir(watched.at("d")).unwrap();
    assert!(watched.agrees("."));
    for name in ["d/new", "d/.gitignore", "d/deep/new"] {
        watched.put(name, "1");
        assert!(watched.agrees("."), "{name}");
    }
    fs::remove_file(watched.at("d/new")).unwrap();
    assert!(watched.agrees("."));
}

#[test]
fn lost_events_are_made_up_for() {
    let queue_max = queue_max();
    let watched = Watched::new(Resolver::Kernel, WITH_EVENTS, lay_out);
    for at in 0..queue_max / 2 + 10 {
        // Two events each, and never the same twice in a row.
        let path = watched.at(if at % 2 == 0 { "a/even" } else { "e/odd" });
        fs::write(path, "1").unwrap();
    }
    watched.put("after/the/overflow", "1");
    fs::remove_file(watched.at("z")).unwrap();
    assert!(watched.agrees("."));
    watched.put("after/it", "1");
    assert!(watched.agrees("."));
    assert_eq!(watched.tree.status().state, LiveState::Live);
}

#[test]
fn too_few_watches_mean_sweeping_and_too_many_entries_none_of_it() {
    let few = LiveOptions { watches_max: 3, ..WITH_EVENTS };
    let watched = Watched::new(Resolver::Kernel, few, lay_out);
    let status = watched.tree.status();
    assert_eq!((status.state, status.watched), (LiveState::Sweeping, 0));
    assert!(status.reason.unwrap().contains("max_user_watches"));
    assert!(!watched.agrees("."), "a walk costs as much");
    let start = watched.changes(0).generation;
    watched.put("a/b/new", "1");
    assert!(watched.changes(start).files.contains(&rel("a/b/new")));

    // The limit is reached later.
    let few = LiveOptions { watches_max: 8, ..WITH_EVENTS };
    let watched = Watched::new(Resolver::Kernel, few, lay_out);
    assert_eq!(watched.tree.status().state, LiveState::Live);
    watched.put("n/o/p/q", "1");
    let _ = watched.agrees(".");
    assert_eq!(watched.tree.status().state, LiveState::Sweeping);

    // What was in the way is gone: it is seen once it is tried again.
    assert!(watched.tree.sweep(&|| false).is_ok());
    assert_eq!(watched.tree.status().state, LiveState::Sweeping);
    watched.tree.watch_again(&|| false).unwrap();
    assert_eq!(watched.tree.status().state, LiveState::Sweeping);
    fs::remove_dir_all(watched.at("n")).unwrap();
    watched.tree.watch_again(&|| false).unwrap();
    let status = watched.tree.status();
    assert_eq!((status.state, status.reason), (LiveState::Live, None));
    watched.put("a/b/late", "1");
    assert!(watched.agrees("."));

    let few = LiveOptions { entries_max: 3, ..WITH_EVENTS };
    let watched = Watched::new(Resolver::Kernel, few, lay_out);
    let status = watched.tree.status();
    assert_eq!((status.state, status.watched), (LiveState::Off, 0));
    assert!(!watched.agrees("."));
    assert!(watched.tree.changes_since(0, &|| false).unwrap().is_none());
}

#[test]
fn the_gate_of_the_caller_decides_and_cancelling_ends_it() {
    let watched = Watched::new(Resolver::Kernel, WITH_EVENTS, lay_out);
    symlink("e", watched.at("link")).unwrap();
    let keep = |path: &RelPath| path.file_name() != Some("g") && path.as_str() != "link/f";
    for path in [".", "e", "link"] {
        let listed = watched.tree.list(&rel(path), ALL, &keep, &|| false).unwrap().unwrap();
        let walked = watched.workspace.list(&rel(path), ALL, &keep, &|| false).unwrap();
        assert_eq!(listed, walked);
        assert!(walked.skipped.denied > 0);
    }
    let cancelled = watched.tree.list(&rel("."), ALL, &|_| true, &|| true);
    assert!(matches!(cancelled, Err(Error::Cancelled)));
    assert!(watched.agrees("."));
    let tree = LiveTree::new(Arc::clone(&watched.workspace), WITH_EVENTS);
    assert_eq!(tree.status().state, LiveState::Building);
    assert!(tree.list(&rel("."), ALL, &|_| true, &|| false).unwrap().is_none());
    tree.build(&|| true);
    assert_eq!(tree.status().state, LiveState::Off);
}

#[test]
fn own_directories_are_not_shown() {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir_all(root.join("state/inner")).unwrap();
    fs::create_dir_all(root.join("a/own")).unwrap();
    let own = vec![root.join("state"), root.join("a/own")];
    let options = WorkspaceOptions { own, ..WorkspaceOptions::default() };
    let workspace = Arc::new(Workspace::open(&root, options).unwrap());
    let tree = LiveTree::new(Arc::clone(&workspace), WITH_EVENTS);
    tree.build(&|| false);
    let watched = Watched { temp, workspace, tree };
    assert!(watched.agrees("."));
    watched.put("state/x", "1");
    watched.put("a/own/y", "1");
    fs::set_permissions(watched.at("state"), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(watched.agrees("."));
    assert!(!watched.agrees("state"));
}

#[test]
fn ten_thousand_writes_are_never_answered_from_before() {
    let watched = Watched::new(Resolver::Kernel, WITH_EVENTS, lay_out);
    let flat = ListOptions { recursive: false, ..ALL };
    let path = watched.at("e/g/h/i");
    let mut generation = watched.changes(0).generation;
    for round in 1..=10_000_usize {
        let size = round % 97;
        fs::write(&path, &[b'x'; 97][..size]).unwrap();
        if round % 2 == 0 {
            let changes = watched.changes(generation);
            assert!(changes.files.contains(&rel("e/g/h/i")), "round {round}");
            generation = changes.generation;
            continue;
        }
        let listed = watched.listed("e/g/h", flat).unwrap().unwrap();
        assert_eq!(listed.entries[0].size_bytes, Some(size as u64), "round {round}");
        fs::write(&path, &[b'y'; 98][..=size]).unwrap();
        let in_tree = size_in_tree(&watched.tree, "e/g/h/i");
        assert_eq!(in_tree, Some(size as u64 + 1), "round {round}");
        generation = watched.changes(generation).generation;
    }
}

/// What happens to the files of a tree.
#[derive(Debug, Clone)]
enum Happening {
    Write(String, u8),
    Directory(String),
    Rename(String, String),
    Remove(String),
    Ignore(String, &'static str, &'static str),
    Symlink(String, String),
    HardLink(String, String),
    Mode(String, bool),
}

fn path() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["a", "b", "c.log", "d", "target"]);
    prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"))
}

fn happening() -> impl Strategy<Value = Happening> {
    let rules = || {
        let rules = ["*.log\n", "target/\n", "!c.log\n", "a\n", "/b/d\n", "*\n!*/\n", ""];
        prop::sample::select(rules.to_vec())
    };
    let files = || prop::sample::select(vec![".gitignore", ".ignore", ".git/info/exclude", ".git"]);
    prop_oneof![
        6 => (path(), any::<u8>()).prop_map(|(path, size)| Happening::Write(path, size)),
        3 => path().prop_map(Happening::Directory),
        5 => (path(), path()).prop_map(|(from, to)| Happening::Rename(from, to)),
        3 => path().prop_map(Happening::Remove),
        2 => (path(), files(), rules())
            .prop_map(|(at, file, rules)| Happening::Ignore(at, file, rules)),
        1 => (files(), rules())
            .prop_map(|(file, rules)| Happening::Ignore(".".to_owned(), file, rules)),
        1 => (path(), path()).prop_map(|(target, at)| Happening::Symlink(target, at)),
        2 => (path(), path()).prop_map(|(of, at)| Happening::HardLink(of, at)),
        1 => (path(), any::<bool>()).prop_map(|(at, is_open)| Happening::Mode(at, is_open)),
    ]
}

impl Happening {
    /// Lets it happen where it can.
    fn happen(&self, root: &Path) {
        let at = |path: &str| root.join(path);
        let _ = match self {
            Self::Write(path, size) => {
                if let Some(parent) = at(path).parent() {
                    let _ = fs::create_dir_all(parent);
                }
                fs::write(at(path), vec![b'x'; usize::from(*size)])
            }
            Self::Directory(path) => fs::create_dir_all(at(path)),
            Self::Rename(from, to) => fs::rename(at(from), at(to)),
            Self::Remove(path) => match at(path).is_dir() && !at(path).is_symlink() {
                true => fs::remove_dir_all(at(path)),
                false => fs::remove_file(at(path)),
            },
            Self::Ignore(path, file, rules) => {
                let file = at(path).join(file);
                match file.is_dir() {
                    true => fs::remove_dir_all(&file),
                    false => {
                        if let Some(parent) = file.parent() {
                            let _ = fs::create_dir_all(parent);
                        }
                        fs::write(&file, rules)
                    }
                }
            }
            Self::Symlink(target, path) => symlink(at(target), at(path)),
            Self::HardLink(of, path) => fs::hard_link(at(of), at(path)),
            Self::Mode(path, is_open) => {
                let mode = if *is_open { 0o755 } else { 0o311 };
                fs::set_permissions(at(path), fs::Permissions::from_mode(mode))
            }
        };
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_answers_are_those_of_a_walk(
        happenings in prop::collection::vec(happening(), 1..40),
        asked in prop::collection::vec(path(), 40),
        is_kernel in any::<bool>(),
    ) {
        let resolver = if is_kernel { Resolver::Kernel } else { Resolver::Walk };
        let watched = Watched::new(resolver, WITH_EVENTS, |_| {});
        for (at, happening) in happenings.iter().enumerate() {
            happening.happen(&watched.at(""));
            prop_assert!(watched.agrees("."), "{at}: {happening:?}");
            watched.agrees(&asked[at]);
        }
        // Changes that nobody asked about in between.
        for happening in happenings.iter().rev() {
            happening.happen(&watched.at(""));
        }
        prop_assert!(watched.agrees("."));
        prop_assert_eq!(watched.tree.status().state, LiveState::Live);
    }

    #[test]
    fn whatever_happens_a_sweep_finds_it(
        happenings in prop::collection::vec(happening(), 1..40),
    ) {
        let watched = Watched::new(Resolver::Kernel, SWEEPING, lay_out);
        let mut generation = watched.changes(0).generation;
        for happening in &happenings {
            let before = files(&watched);
            happening.happen(&watched.at(""));
            let changes = watched.changes(generation);
            generation = changes.generation;
            let now = files(&watched);
            // Texts are found by a sweep of their own; listings walk.
            prop_assert!(visits_agree(&watched.workspace, &watched.tree, "."));
            prop_assert!(!watched.agrees("."));
            // The walk is right, and so are the changes from one state to the next.
            let walked = watched.walked(".", ALL).unwrap();
            let walked: Vec<_> =
                walked.entries.iter().filter(|entry| entry.size_bytes.is_some()).collect();
            prop_assert_eq!(walked.len(), now.len(), "{:?}", happening);
            for (entry, (path, mark)) in walked.iter().zip(&now) {
                prop_assert_eq!((&entry.path, entry.size_bytes), (path, Some(mark.size_bytes)));
            }
            for (path, mark) in &now {
                let is_named = changes.files.contains(path)
                    || changes.subtrees.iter().any(|tree| path.as_str().starts_with(tree.as_str()));
                let is_same = before.contains(&(path.clone(), *mark));
                prop_assert!(is_named || is_same, "{path}: {happening:?}");
            }
        }
    }
}

fn files(watched: &Watched) -> Vec<(RelPath, moss_workspace::FileMark)> {
    let mut files = Vec::new();
    watched.tree.files(&rel("."), &mut |path, mark| files.push((path.clone(), mark)));
    files
}
