//! Ways out of the workspace, each tried by every operation on both resolvers, and a race between
//! a directory and a link.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use moss_sdk::ErrorCode;
use moss_sdk::edit::{Change, ChangeSet, Retention, Splice};
use moss_sdk::file::{Content, EntryKind, LineWindow, ListOptions, Skipped};
use moss_workspace::{
    Error, LastLink, OpenedFile, Protection, Resolver, Workspace, WorkspaceOptions, hash,
    protection,
};
use rustix::fs::{CWD, FileType, Mode, RenameFlags};

use crate::fixture::{
    Fixture, RESOLVERS, SetOnDrop, create, delete, edit, eventually, open, rel, tree, write,
};

const SECRET: &[u8] = b"secret\n";

/// Each way: its name, the path that is tried, how it is laid, which refusals are right.
struct Way {
    path: String,
    lay: fn(&Path, &Path),
    codes: &'static [ErrorCode],
}

fn way(path: impl Into<String>, codes: &'static [ErrorCode], lay: fn(&Path, &Path)) -> Way {
    Way { path: path.into(), lay, codes }
}

fn nothing(_: &Path, _: &Path) {}

fn link(root: &Path, name: &str, target: impl AsRef<Path>) {
    symlink(target, root.join(name)).unwrap();
}

const OUTSIDE: &[ErrorCode] = &[ErrorCode::OutsideWorkspace];
const INVALID: &[ErrorCode] = &[ErrorCode::InvalidPath];
const MISSING: &[ErrorCode] = &[ErrorCode::NotFound];
const NOT_DIRECTORY: &[ErrorCode] = &[ErrorCode::NotADirectory];

/// Refused by their text alone, before anything is looked at.
fn lexical() -> Vec<Way> {
    let mut ways = Vec::new();
    for path in [
        "..",
        "../outside",
        "../outside/secret",
        "a/../../outside/secret",
        "./../outside/secret",
        "a/b/../../../outside/secret",
        "in/..",
        "/etc/passwd",
        "/",
        "//etc/passwd",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
    ] {
        ways.push(way(path, OUTSIDE, nothing));
    }
    for path in [
        "",
        "in/",
        "in//file",
        "in/file/",
        "a\0b",
        "in/file\0",
        "a\nb",
        "a\u{7f}",
        "\u{1b}[2J",
        "in\r",
        "//",
    ] {
        let codes = if path.starts_with('/') { OUTSIDE } else { INVALID };
        ways.push(way(path, codes, nothing));
    }
    ways.push(way("n".repeat(256), INVALID, nothing));
    ways.push(way("d/".repeat(128) + "x", INVALID, nothing));
    ways.push(way("n/".repeat(2048) + "x", INVALID, nothing));
    ways
}

/// Links and special files.
fn laid() -> Vec<Way> {
    vec![
        way("l", OUTSIDE, |r, o| link(r, "l", o.join("secret"))),
        way("l", OUTSIDE, |r, _| link(r, "l", "../outside/secret")),
        way("l", OUTSIDE, |r, o| link(r, "l", o)),
        way("l/secret", OUTSIDE, |r, o| link(r, "l", o)),
        way("l/secret", OUTSIDE, |r, _| link(r, "l", "../outside")),
        way("l/new", OUTSIDE, |r, o| link(r, "l", o)),
        way("l/new/deep/file", OUTSIDE, |r, _| link(r, "l", "../outside")),
        way("l", OUTSIDE, |r, _| link(r, "l", "..")),
        way("l/outside/secret", OUTSIDE, |r, _| link(r, "l", "..")),
        way("l", OUTSIDE, |r, _| link(r, "l", "in/../../outside/secret")),
        // Out and back in again is out.
        way("l", OUTSIDE, |r, _| link(r, "l", "../root/in/file")),
        way("l/in/file", OUTSIDE, |r, _| link(r, "l", "../root")),
        // Absolute links are refused even where they point inside.
        way("l", OUTSIDE, |r, _| link(r, "l", r.join("in/file"))),
        way("a", OUTSIDE, |r, _| {
            link(r, "a", "b");
            link(r, "b", "c");
            link(r, "c", "../outside/secret");
        }),
        way("in/up/outside/secret", OUTSIDE, |r, _| link(r, "in/up", "../..")),
        way("in/up/secret", OUTSIDE, |r, _| {
            link(r, "in/up", "../mid");
            link(r, "mid", "../outside");
        }),
        way("l", OUTSIDE, |r, _| link(r, "l", "/proc/self/environ")),
        way("l/environ", OUTSIDE, |r, _| link(r, "l", "/proc/self")),
        way("l/etc/passwd", OUTSIDE, |r, _| link(r, "l", "/proc/self/root")),
        way("l/secret", OUTSIDE, |r, _| link(r, "l", "/proc/self/cwd")),
        way("l", OUTSIDE, |r, _| link(r, "l", "/proc/self/fd/0")),
        way("l", OUTSIDE, |r, _| link(r, "l", "/dev/fd/0")),
        way("l", OUTSIDE, |r, _| link(r, "l", "/dev/zero")),
        way("l", OUTSIDE, |r, _| link(r, "l", "/no/such/file")),
        way("l", OUTSIDE, |r, o| link(r, "l", o.join("not/there"))),
        way("l", OUTSIDE, |r, _| link(r, "l", "//")),
        way("l", OUTSIDE, |r, _| link(r, "l", "../outside/secret/")),
        way("l", OUTSIDE, |r, _| link(r, "l", "./.././outside//secret")),
        way("l", INVALID, |r, _| link(r, "l", "l")),
        way("a", INVALID, |r, _| {
            link(r, "a", "b");
            link(r, "b", "a");
        }),
        way("a/x", INVALID, |r, _| {
            link(r, "a", "b/x");
            link(r, "b", "a");
        }),
        way("l0", INVALID, |r, _| {
            (0..41).for_each(|n| link(r, &format!("l{n}"), format!("l{}", n + 1)));
            fs::write(r.join("l41"), SECRET).unwrap();
        }),
        way("l", MISSING, |r, _| link(r, "l", "none")),
        way("l/new", MISSING, |r, _| link(r, "l", "none/deep")),
        way("l", MISSING, |r, _| link(r, "l", "in/none/../file")),
        way("in/file/x", NOT_DIRECTORY, nothing),
        way("l/x", NOT_DIRECTORY, |r, _| link(r, "l", "in/file")),
        way("l", NOT_DIRECTORY, |r, _| link(r, "l", "in/file/")),
        way("l", NOT_DIRECTORY, |r, _| link(r, "l", "in/file/.")),
        way("l", NOT_DIRECTORY, |r, _| link(r, "l", "in/file/../file")),
    ]
}

/// An operation; `None` where it went through.
type Operation = (&'static str, fn(&Fixture, &str) -> Option<Error>);

fn planned(fixture: &Fixture, change: Change) -> Option<Error> {
    fixture.commit(vec![change]).err()
}

const WINDOW: LineWindow =
    LineWindow { start: 1, lines_max: 10, bytes_max: 1 << 10, line_bytes_max: 1 << 10 };
const EVERYTHING: ListOptions = ListOptions { recursive: true, entries_max: 1_000 };

const OPERATIONS: [Operation; 13] = [
    ("path", |f, p| f.workspace.path(p).err()),
    ("resolve", |f, p| f.workspace.resolve(&rel(p)).err()),
    ("protection", |f, p| f.workspace.protection_resolved(&rel(p)).err()),
    ("read", |f, p| f.workspace.read(&rel(p)).err()),
    ("read_lines", |f, p| f.workspace.read_lines(&rel(p), WINDOW).err()),
    ("open_cached", |f, p| match f.workspace.open_cached(&rel(p)) {
        None => f.workspace.open_for_reading(&rel(p)).err(),
        Some(_) => None,
    }),
    ("list", |f, p| f.workspace.list(&rel(p), EVERYTHING, &|_| true, &|| false).err()),
    ("look", |f, p| f.workspace.look(&rel(p), LastLink::Follow).err()),
    ("names", |f, p| f.workspace.names(&rel(p)).err()),
    ("hold", |f, p| f.workspace.open_for_reading(&rel(p)).and_then(OpenedFile::hold).err()),
    ("create", |f, p| planned(f, create(p, "new\n"))),
    ("write", |f, p| planned(f, write(p, SECRET, "new\n"))),
    ("delete", |f, p| planned(f, delete(p, SECRET, Retention::Permanent))),
];

fn fixture(resolver: Resolver) -> Fixture {
    let fixture = Fixture::with(resolver);
    fs::create_dir(fixture.temp.path().join("outside")).unwrap();
    fs::write(fixture.temp.path().join("outside/secret"), SECRET).unwrap();
    fixture.put("in/file", SECRET);
    fixture
}

#[test]
fn every_way_out_is_refused_by_every_operation_on_both_resolvers() {
    let mut cases = 0;
    for resolver in RESOLVERS {
        for way in lexical() {
            let fixture = fixture(resolver);
            let error = fixture.workspace.path(&way.path).expect_err(&way.path);
            assert!(way.codes.contains(&error.code()), "{:?}: {error:?}", way.path);
            cases += 1;
        }
        for (number, way) in laid().iter().enumerate() {
            let fixture = fixture(resolver);
            (way.lay)(&fixture.root(), &fixture.temp.path().join("outside"));
            let before = tree(fixture.temp.path());
            for (name, operation) in &OPERATIONS[1..] {
                let what = format!("{resolver:?} {name} way {number} `{}`", way.path);
                let error = operation(&fixture, &way.path).expect(&what);
                assert!(way.codes.contains(&error.code()), "{what}: {error:?}");
                cases += 1;
            }
            let after = tree(fixture.temp.path());
            let outside = |tree: &[(std::path::PathBuf, Option<Vec<u8>>)]| {
                tree.iter().filter(|(path, _)| !path.starts_with("state")).cloned().collect()
            };
            let (before, after): (Vec<_>, Vec<_>) = (outside(&before), outside(&after));
            assert_eq!(before, after, "{resolver:?} way {number}");
        }
    }
    println!("{cases} cases");
    assert!(cases > 700, "{cases}");
}

#[test]
fn special_files_are_refused_without_waiting() {
    let mut cases = 0;
    for resolver in RESOLVERS {
        for kind in ["fifo", "socket", "device", "directory", "link to fifo"] {
            let fixture = fixture(resolver);
            let path = fixture.root().join("x");
            let mode = Mode::RUSR | Mode::WUSR;
            match kind {
                "fifo" => rustix::fs::mknodat(CWD, &path, FileType::Fifo, mode, 0).unwrap(),
                "socket" => drop(UnixListener::bind(&path).unwrap()),
                "device" => {
                    let zero = rustix::fs::makedev(1, 5);
                    let made =
                        rustix::fs::mknodat(CWD, &path, FileType::CharacterDevice, mode, zero);
                    // Only the super-user can make one.
                    assert_eq!(made.is_ok(), rustix::process::geteuid().is_root());
                    if made.is_err() {
                        continue;
                    }
                }
                "directory" => fs::create_dir(&path).unwrap(),
                _ => {
                    let fifo = fixture.root().join("fifo");
                    rustix::fs::mknodat(CWD, fifo, FileType::Fifo, mode, 0).unwrap();
                    link(&fixture.root(), "x", "fifo");
                }
            }
            for (name, operation) in &OPERATIONS[3..] {
                let is_listing = matches!(*name, "list" | "names");
                let expected = match *name {
                    // It says what is there, and opens nothing.
                    "look" => None,
                    "create" => Some(ErrorCode::AlreadyExists),
                    _ if is_listing && kind == "directory" => None,
                    _ if is_listing => Some(ErrorCode::NotADirectory),
                    _ => Some(ErrorCode::NotAFile),
                };
                let outcome = operation(&fixture, "x").map(|error| error.code());
                assert_eq!(outcome, expected, "{resolver:?} {kind} {name}");
                cases += 1;
            }
        }
    }
    assert!(cases >= 56, "{cases}");
}

#[test]
fn links_inside_are_followed() {
    for resolver in RESOLVERS {
        let fixture = fixture(resolver);
        fixture.put("deep/er/file", "deep\n");
        let root = fixture.root();
        link(&root, "file", "in/file");
        link(&root, "directory", "deep/er");
        link(&root, "deep/up", "../in");
        link(&root, "deep/er/back", "../up/../deep/er/file");
        (0..39).for_each(|n| link(&root, &format!("l{n}"), format!("l{}", n + 1)));
        link(&root, "l39", "in//./file");
        for (path, real) in [
            ("file", "in/file"),
            ("directory/file", "deep/er/file"),
            ("deep/up/file", "in/file"),
            ("directory/back", "deep/er/file"),
            ("l0", "in/file"),
            ("directory", "deep/er"),
            ("directory/none/new", "deep/er/none/new"),
            (".", "."),
        ] {
            let resolved = fixture.workspace.resolve(&rel(path)).unwrap();
            assert_eq!(resolved.path, rel(real), "{resolver:?} {path}");
        }
        fixture.commit(vec![create("directory/none/new", "x\n")]).unwrap();
        assert_eq!(fixture.get("deep/er/none/new"), b"x\n");
    }
}

#[test]
fn a_link_that_is_looked_at_itself_is_not_followed() {
    for resolver in RESOLVERS {
        let fixture = fixture(resolver);
        let root = fixture.root();
        link(&root, "l", "/etc/passwd");
        link(&root, "in/up", "..");
        link(&root, "out", "../outside");
        let look = |path: &str| fixture.workspace.look(&rel(path), LastLink::Keep);
        let looked = look("in/up/l").unwrap();
        assert_eq!((looked.real, looked.kind), (rel("l"), EntryKind::Symlink), "{resolver:?}");
        assert_eq!(look("in/file").unwrap().size_bytes, SECRET.len() as u64);
        assert_eq!(look(".").unwrap().kind, EntryKind::Directory);
        assert_eq!(fixture.workspace.link_target(&rel("in/up/l")).unwrap(), "/etc/passwd");
        for path in ["out/secret", "l/x", "none", "in/none"] {
            assert!(look(path).is_err(), "{resolver:?} {path}");
            assert!(fixture.workspace.link_target(&rel(path)).is_err(), "{resolver:?} {path}");
        }
        for path in [".", "in", "in/file"] {
            let target = fixture.workspace.link_target(&rel(path));
            assert!(matches!(target, Err(Error::Io { .. })), "{resolver:?} {path}");
        }
    }
}

#[test]
fn absolute_paths_beneath_the_root_are_made_relative() {
    let fixture = fixture(Resolver::Kernel);
    let root = fixture.workspace.root().display().to_string();
    let path = |text: &str| fixture.workspace.path(text);
    assert_eq!(path(&format!("{root}/in/file")).unwrap(), rel("in/file"));
    assert_eq!(path(&root).unwrap(), rel("."));
    for text in
        [format!("{root}-evil/x"), format!("{root}/../outside/secret"), format!("{root}//x")]
    {
        assert!(path(&text).is_err(), "{text}");
    }
}

#[test]
fn hard_linked_files_can_be_read_and_not_written() {
    for resolver in RESOLVERS {
        let fixture = fixture(resolver);
        let outside = fixture.temp.path().join("outside/secret");
        fs::hard_link(&outside, fixture.root().join("x")).unwrap();
        assert_eq!(fixture.workspace.read(&rel("x")).unwrap().hash, hash(SECRET));
        let written = fixture.commit(vec![write("x", SECRET, "new\n")]);
        assert!(matches!(written, Err(Error::HardLinked { names: 2, .. })), "{written:?}");
        let splices = vec![Splice { range: 0..0, text: "new\n".to_owned() }];
        let edited = fixture.commit(vec![edit("x", hash(SECRET), splices)]);
        assert!(matches!(edited, Err(Error::HardLinked { .. })), "{edited:?}");
        // Removing one name leaves the other.
        fixture.commit(vec![delete("x", SECRET, Retention::Recoverable)]).unwrap();
        assert_eq!(fs::read(outside).unwrap(), SECRET);
    }
}

#[test]
fn protection_is_decided_on_the_name_after_links_too() {
    for resolver in RESOLVERS {
        let fixture = fixture(resolver);
        fixture.put(".git/config", "[core]\n");
        fixture.put(".env", "KEY=1\n");
        link(&fixture.root(), "x", ".git/config");
        link(&fixture.root(), "y", ".git");
        link(&fixture.root(), "z", ".env");
        for (path, expected) in [
            ("x", Some(Protection::Metadata)),
            ("y/hooks/new", Some(Protection::Metadata)),
            ("z", Some(Protection::Secret)),
            (".GIT/config", Some(Protection::Metadata)),
            ("in/file", None),
        ] {
            let found = fixture.workspace.protection_resolved(&rel(path)).unwrap();
            assert_eq!(found, expected, "{path}");
        }
        assert_eq!(protection(&rel("x")), None);
        assert_eq!(fixture.workspace.resolve(&rel("x")).unwrap().kind, Some(EntryKind::File));
    }
}

#[test]
fn the_directories_of_moss_itself_are_protected() {
    let fixture = fixture(Resolver::Kernel);
    let own = fixture.root().join("state/moss");
    fs::create_dir_all(&own).unwrap();
    link(&fixture.root(), "x", "state/moss");
    let options = WorkspaceOptions { own: vec![own], ..WorkspaceOptions::default() };
    let workspace = Workspace::open(&fixture.root(), options).unwrap();
    let found = |path: &str| workspace.protection_resolved(&rel(path)).unwrap();
    for path in ["state/moss", "state/moss/history.sqlite", "x/caller.token"] {
        assert_eq!(found(path), Some(Protection::Secret), "{path}");
    }
    assert_eq!((found("state"), found("state/mossy")), (None, None));
}

#[test]
fn what_belongs_to_moss_is_not_listed() {
    for resolver in RESOLVERS {
        let fixture = fixture(resolver);
        let root = fixture.root();
        for path in ["state/moss/x", ".ssh/keys/x", ".env/lib/x", ".git/x", "state/mossy/x"] {
            fixture.put(path, "");
        }
        for (name, target) in [("own", "state/moss"), ("above", "state"), ("keys", ".ssh/keys")] {
            link(&root, name, target);
        }
        let own = vec![root.join("state/moss")];
        let options =
            WorkspaceOptions { resolver: Some(resolver), own, ..WorkspaceOptions::default() };
        let workspace = Workspace::open(&root, options).unwrap();
        let names = |path: &str| -> Vec<String> {
            let found = workspace.names(&rel(path)).unwrap();
            found.names.into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names("state"), ["mossy"]);
        assert_eq!(names("above"), ["mossy"]);
        assert!(names(".").contains(&".git".to_owned()));
        let list = |path: &str| workspace.list(&rel(path), EVERYTHING, &|_| true, &|| false);
        for (path, expected) in [
            ("state", ["state/mossy", "state/mossy/x"]),
            ("above", ["above/mossy", "above/mossy/x"]),
        ] {
            let listing = list(path).unwrap();
            let paths: Vec<_> = listing.entries.iter().map(|entry| entry.path.as_str()).collect();
            assert_eq!((paths, listing.skipped), (expected.to_vec(), Skipped::default()));
        }
        let all = list(".").unwrap();
        assert!(all.entries.iter().all(|entry| !entry.path.as_str().starts_with("state/moss/")));
        assert!(all.entries.iter().all(|entry| entry.path != rel("state/moss")));
        for path in ["state/moss", "own"] {
            assert!(matches!(list(path), Err(Error::Protected { .. })), "{path}");
            let names = workspace.names(&rel(path));
            assert!(matches!(names, Err(Error::Protected { .. })), "{path}");
        }
    }
}

#[test]
fn a_secret_of_moss_is_not_opened_under_any_name() {
    for resolver in RESOLVERS {
        let fixture = fixture(resolver);
        let root = fixture.root();
        let (outside, moved) = (fixture.temp.path().join("token"), root.join("moved"));
        std::fs::write(&outside, "secret\n").unwrap();
        std::fs::hard_link(&outside, root.join("linked")).unwrap();
        link(&root, "to-linked", "linked");
        fixture.put("ordinary", "text\n");
        let secrets = vec![outside.clone(), fixture.temp.path().join("missing")];
        let options =
            WorkspaceOptions { resolver: Some(resolver), secrets, ..WorkspaceOptions::default() };
        let workspace = Workspace::open(&root, options).unwrap();
        std::fs::rename(&outside, &moved).unwrap();
        // Another file at its path is another file.
        std::fs::write(&outside, "other\n").unwrap();
        std::fs::hard_link(&outside, root.join("other")).unwrap();
        for name in ["linked", "to-linked", "moved"] {
            let path = rel(name);
            assert!(workspace.open_cached(&path).is_none(), "{name}");
            assert!(matches!(workspace.read(&path), Err(Error::Secret { .. })), "{name}");
            let protection = workspace.protection_resolved(&path).unwrap();
            assert_eq!(protection, Some(Protection::Secret), "{name}");
        }
        for name in ["ordinary", "other"] {
            workspace.read(&rel(name)).unwrap();
        }
    }
}

/// A thread exchanges a directory with a link that leads out, as fast as it can; whatever is read
/// and written meanwhile stays inside.
#[test]
fn a_race_between_a_directory_and_a_link_never_leads_out() {
    const READS: usize = 5_000;
    const WRITES: usize = 200;
    for resolver in RESOLVERS {
        let fixture = fixture(resolver);
        let root = fixture.root();
        fixture.put("d/file", "inside\n");
        fs::write(fixture.temp.path().join("outside/file"), SECRET).unwrap();
        link(&root, "l", "../outside");
        let second = open(&root, resolver);
        // Once there are writes, the swapper exchanges to and fro in the midst of each.
        let (done, writes) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (mut inside, mut at_once, mut written, mut swaps) = (0, 0, 0, 0_u64);
        std::thread::scope(|scope| {
            let swapper = scope.spawn(|| {
                let (d, l) = (root.join("d"), root.join("l"));
                let swap = || {
                    rustix::fs::renameat_with(CWD, &d, CWD, &l, RenameFlags::EXCHANGE).unwrap();
                };
                let mut swaps = 0;
                while !done.load(Ordering::Relaxed) {
                    let write = writes.load(Ordering::Relaxed);
                    (0..write * 131 % 5_000).for_each(|_| std::thread::yield_now());
                    swap();
                    (0..write * 17 % 100).for_each(|_| std::thread::yield_now());
                    swap();
                    swaps += 2;
                    while write > 0
                        && write == writes.load(Ordering::Relaxed)
                        && !done.load(Ordering::Relaxed)
                    {
                        std::thread::yield_now();
                    }
                }
                swaps
            });
            let _end = SetOnDrop(&done);
            for _ in 0..READS {
                if let Ok(found) = second.read(&rel("d/file")) {
                    let Content::Text(text) = found.content else { panic!("not text") };
                    assert_eq!(text.text, "inside\n");
                    inside += 1;
                }
                if let Some(opened) = second.open_cached(&rel("d/file"))
                    && let Ok(found) = opened.read_lines(WINDOW)
                {
                    assert_eq!(found.lines.iter().next().unwrap().text, "inside");
                    at_once += 1;
                }
                if let Ok(found) = second.list(&rel("d"), EVERYTHING, &|_| true, &|| false) {
                    assert!(found.entries.iter().all(|entry| entry.path != rel("d/secret")));
                }
            }
            for number in 0..WRITES {
                let changes =
                    ChangeSet { changes: vec![create(&format!("d/new-{number}"), "x\n")] };
                let plan = eventually("a plan", || fixture.workspace.plan(&changes).ok());
                writes.store(number + 1, Ordering::Relaxed);
                let origin = crate::fixture::origin("race");
                written +=
                    usize::from(fixture.workspace.commit(&plan, &fixture.history, &origin).is_ok());
            }
            done.store(true, Ordering::Relaxed);
            swaps = swapper.join().unwrap();
        });
        println!(
            "{resolver:?}: {inside} of {READS} reads, {at_once} at once, and {written} of {WRITES} writes went \
                  through, {swaps} exchanges"
        );
        assert!(inside > 0 && written > 0 && swaps > 100);
        let outside = tree(&fixture.temp.path().join("outside"));
        assert_eq!(outside.len(), 2, "{outside:?}");
        let news =
            tree(&root).into_iter().filter(|(path, _)| path.display().to_string().contains("new-"));
        assert_eq!(news.count(), written);
    }
}
