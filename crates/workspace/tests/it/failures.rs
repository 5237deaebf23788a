//! The system refuses: full disks, files that may not grow, read-only files and directories, other
//! mounts. Nothing changes, nothing is left behind, and the next change goes through.

use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use moss_sdk::edit::{ChangeSet, Retention};
use moss_sdk::file::ListOptions;
use moss_sdk::{ErrorCode, RelPath};
use moss_workspace::{
    Error, GateKey, History, HistoryLimits, ListingGate, LiveOptions, LiveTree, Resolver,
    UndoTarget, Workspace, WorkspaceOptions, recover,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::fixture::{
    Fixture, RESOLVERS, create, delete, history, memory, not_tested, open, origin, rel, tree, write,
};

/// Names the directory in which a test continues in another process.
const INSIDE: &str = "MOSS_TEST_INSIDE";

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn read_only_files_and_directories_are_refused_to_the_super_user_too() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        fixture.put("file", "1\n");
        fixture.put("dir/file", "1\n");
        set_mode(&fixture.root().join("file"), 0o444);
        set_mode(&fixture.root().join("dir"), 0o555);
        let before = tree(&fixture.root());
        for (change, path) in [
            (write("file", b"1\n", "2\n"), "file"),
            (delete("file", b"1\n", Retention::Recoverable), "file"),
            (write("dir/file", b"1\n", "2\n"), "dir"),
            (delete("dir/file", b"1\n", Retention::Permanent), "dir"),
            (create("dir/new", "2\n"), "dir"),
            (create("dir/deep/new", "2\n"), "dir"),
        ] {
            let error = fixture.commit(vec![create("other", "x\n"), change]).unwrap_err();
            assert_eq!(error.code(), ErrorCode::Io, "{error:?}");
            assert!(matches!(&error, Error::ReadOnly { path: p } if *p == rel(path)), "{error:?}");
        }
        // Made read-only between plan and commit.
        fixture.put("later", "1\n");
        let changes = vec![create("other", "x\n"), write("later", b"1\n", "2\n")];
        let plan = fixture.workspace.plan(&ChangeSet { changes }).unwrap();
        set_mode(&fixture.root().join("later"), 0o400);
        fixture.workspace.commit(&plan, &fixture.history, &origin("late")).unwrap_err();
        fs::remove_file(fixture.root().join("later")).unwrap();
        set_mode(&fixture.root().join("dir"), 0o755);
        assert_eq!(tree(&fixture.root()), before);
    }
}

/// What another program does between plan and commit.
type Spoiler = (&'static str, fn(&Path));

#[test]
fn a_stale_plan_changes_nothing() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        fixture.put("a", "1\n");
        fixture.put("b", "1\n");
        fixture.put("c", "1\n");
        let changes = || {
            vec![
                write("a", b"1\n", "2\n"),
                write("b", b"1\n", "2\n"),
                delete("c", b"1\n", Retention::Recoverable),
                create("d/e", "2\n"),
            ]
        };
        let spoilers: [Spoiler; 7] = [
            ("written", |root| fs::write(root.join("b"), "x\n").unwrap()),
            ("removed", |root| fs::remove_file(root.join("b")).unwrap()),
            ("made a directory", |root| {
                fs::remove_file(root.join("b")).unwrap();
                fs::create_dir(root.join("b")).unwrap();
            }),
            ("deleted file written", |root| fs::write(root.join("c"), "x\n").unwrap()),
            ("new file taken", |root| {
                fs::create_dir(root.join("d")).unwrap();
                fs::write(root.join("d/e"), "x\n").unwrap();
            }),
            ("directory taken by a file", |root| fs::write(root.join("d"), "x\n").unwrap()),
            ("mode changed", |root| set_mode(&root.join("a"), 0o600)),
        ];
        for (what, spoil) in spoilers {
            let _ = fs::remove_dir_all(fixture.root().join("d"));
            let _ = fs::remove_file(fixture.root().join("d"));
            let _ = fs::remove_dir(fixture.root().join("b"));
            for name in ["a", "b", "c"] {
                fixture.put(name, "1\n");
            }
            set_mode(&fixture.root().join("a"), 0o644);
            let plan = fixture.workspace.plan(&ChangeSet { changes: changes() }).unwrap();
            spoil(&fixture.root());
            let before = tree(&fixture.root());
            let refused = fixture.workspace.commit(&plan, &fixture.history, &origin("stale"));
            assert!(refused.is_err(), "{what}");
            assert_eq!(tree(&fixture.root()), before, "{what}");
        }
        assert_eq!(fixture.history.stats().unwrap().entries, 0);
        assert_eq!(fixture.history.stats().unwrap().bytes, 0);
    }
}

#[test]
fn a_root_that_was_replaced_is_noticed() {
    let fixture = Fixture::new();
    let plan = fixture.workspace.plan(&ChangeSet { changes: vec![create("a", "1\n")] }).unwrap();
    fs::rename(fixture.root(), fixture.temp.path().join("moved")).unwrap();
    fs::create_dir(fixture.root()).unwrap();
    let refused = fixture.workspace.commit(&plan, &fixture.history, &origin("moved"));
    assert!(matches!(refused, Err(Error::RootReplaced { .. })), "{refused:?}");
    assert_eq!(tree(fixture.temp.path()).iter().filter(|(p, _)| p.ends_with("a")).count(), 0);
}

#[test]
fn a_history_that_lost_its_name_takes_no_change() {
    let fixture = Fixture::new();
    fixture.commit(vec![create("a", "1\n")]).unwrap();
    let state = fixture.temp.path().join("state");
    let (file, moved) = (state.join("history.sqlite"), state.join("moved"));
    let before = tree(&fixture.root());
    fs::rename(&file, &moved).unwrap();
    for is_replaced in [false, true] {
        if is_replaced {
            fs::copy(&moved, &file).unwrap();
        }
        let error = fixture.commit(vec![write("a", b"1\n", "2\n")]).unwrap_err();
        assert!(error.to_string().contains("restart the daemon"), "{error}");
        assert_eq!(tree(&fixture.root()), before);
    }
    fs::rename(&moved, &file).unwrap();
    fixture.commit(vec![write("a", b"1\n", "2\n")]).unwrap();
}

#[test]
fn a_history_that_is_opened_twice_keeps_its_log_from_other_processes() {
    if let Some(directory) = env::var_os(INSIDE) {
        // Whoever is the last to close a database removes its log.
        drop(history(&Path::new(&directory).join("state")));
        return;
    }
    let fixture = Fixture::new();
    fixture.commit(vec![create("a", "1\n")]).unwrap();
    let state = fixture.temp.path().join("state");
    drop(history(&state));
    let log = || fs::metadata(state.join("history.sqlite-wal")).map(|log| log.ino()).unwrap();
    let before = log();
    let test = "failures::a_history_that_is_opened_twice_keeps_its_log_from_other_processes";
    go_on(test, fixture.temp.path(), &["env"], "exec \"$@\"");
    assert_eq!(log(), before);
    fixture.commit(vec![create("b", "1\n")]).unwrap();
    assert_eq!(fixture.history.stats().unwrap().entries, 2);
}

/// A change set of which every part can run out of room.
fn grow(workspace: &Workspace, history: &History) -> Result<(), Error> {
    let large = "0123456789\n".repeat(8_000);
    let changes = vec![
        write("a", b"1\n", &large),
        create("new/dir/b", &large),
        write("c", b"1\n", &large.replace('0', "x")),
        delete("d", b"1\n", Retention::Recoverable),
    ];
    let plan = workspace.plan(&ChangeSet { changes })?;
    workspace.commit(&plan, history, &origin("grow")).map(drop)
}

/// Checks that a refused change left nothing, and that the same change goes through with room.
fn check_refusals(
    root: &Path,
    state: &Path,
    limit: &mut dyn FnMut(u64),
    rooms: impl Iterator<Item = u64>,
) {
    for name in ["a", "c", "d"] {
        fs::write(root.join(name), "1\n").unwrap();
    }
    let workspace = open(root, Resolver::Kernel);
    let history = history(state);
    let before = tree(root);
    let (mut refused, mut committed) = (0, 0);
    for room in rooms {
        limit(room);
        let outcome = grow(&workspace, &history);
        limit(u64::MAX);
        recover(&workspace, &history).unwrap();
        match outcome {
            Err(error) => {
                assert!(matches!(error.code(), ErrorCode::Io), "{error:?}");
                assert_eq!(tree(root), before, "room {room}: {error}");
                refused += 1;
            }
            Ok(()) => {
                let newest = history.list(&Default::default()).unwrap()[0].number;
                let plan = history.plan_undo(&workspace, &UndoTarget::Entry(newest)).unwrap();
                workspace.commit(&plan, &history, &origin("again")).unwrap();
                let _ = fs::remove_dir_all(root.join("new"));
                assert_eq!(tree(root), before, "room {room}");
                committed += 1;
            }
        }
        history.check_integrity().unwrap();
    }
    grow(&workspace, &history).unwrap();
    assert!(refused > 3, "{refused} refused, {committed} committed");
}

/// Continues in another process, started by a shell script that ends in `exec "$@"`.
fn go_on(test: &str, directory: &Path, launcher: &[&str], script: &str) {
    let exe = env::current_exe().unwrap();
    let (program, arguments) = launcher.split_first().unwrap();
    let output = Command::new(program)
        .args(arguments)
        .args(["sh", "-c", script, "sh"])
        .arg(exe)
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, directory)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{errors}");
}

#[test]
fn files_that_may_not_grow_stay_as_they_are() {
    let Some(directory) = env::var_os(INSIDE) else {
        let temp = memory();
        // A process that ignores the signal gets an error instead.
        let test = "failures::files_that_may_not_grow_stay_as_they_are";
        return go_on(test, temp.path(), &["env"], "trap '' XFSZ; exec \"$@\"");
    };
    let directory = Path::new(&directory);
    let root = directory.join("root");
    fs::create_dir(&root).unwrap();
    let hard = getrlimit(Resource::Fsize).maximum;
    let mut limit = |bytes: u64| {
        let current = (bytes != u64::MAX).then_some(bytes).or(hard);
        setrlimit(Resource::Fsize, Rlimit { current, maximum: hard }).unwrap();
    };
    let rooms = (0..40).map(|step| step * 16 * 1024);
    check_refusals(&root, &directory.join("state"), &mut limit, rooms);
}

/// How to start a process with mounts of its own; none, told loudly, where this is not permitted.
fn mounts() -> Option<&'static [&'static str]> {
    let launchers: [&[&str]; 2] = [&["unshare", "-m"], &["unshare", "-rm"]];
    let works = |launcher: &&&[&str]| {
        let mut command = Command::new(launcher[0]);
        let script = "mount -t tmpfs none /mnt";
        command.args(&launcher[1..]).args(["sh", "-c", script]);
        command.output().is_ok_and(|output| output.status.success())
    };
    let found = launchers.iter().find(works).copied();
    if found.is_none() {
        not_tested("full disks and other mounts: this system permits no mounts");
    }
    found
}

#[test]
fn a_full_disk_leaves_files_as_they_are() {
    let Some(directory) = env::var_os(INSIDE) else {
        let temp = tempfile::tempdir().unwrap();
        let Some(launcher) = mounts() else { return };
        let script = format!(
            "mount -t tmpfs -o size=600k none {0} && mkdir {0}/root {0}/state && \
             chmod 700 {0}/state && exec \"$@\"",
            temp.path().display()
        );
        let test = "failures::a_full_disk_leaves_files_as_they_are";
        return go_on(test, temp.path(), launcher, &script);
    };
    let directory = Path::new(&directory);
    let ballast = directory.join("ballast");
    let mut limit = |room: u64| {
        let _ = fs::remove_file(&ballast);
        if room == u64::MAX {
            return;
        }
        let free = rustix::fs::statvfs(directory).map(|s| s.f_bavail * s.f_bsize).unwrap();
        fs::write(&ballast, vec![0; free.saturating_sub(room) as usize]).unwrap();
    };
    let rooms = (0..40).map(|step| step * 12 * 1024);
    // Files on the full disk, then the state too.
    let elsewhere = memory();
    let (root, state) = (directory.join("root"), directory.join("state"));
    check_refusals(&root, elsewhere.path(), &mut limit, rooms.clone());
    fs::remove_dir_all(&root).unwrap();
    fs::create_dir(&root).unwrap();
    let small = HistoryLimits { bytes_max: 1, ..HistoryLimits::default() };
    drop(History::open(&state, small).unwrap());
    for name in ["a", "c", "d"] {
        fs::write(root.join(name), "1\n").unwrap();
    }
    let workspace = open(&root, Resolver::Kernel);
    let history = History::open(&state, small).unwrap();
    let before = tree(&root);
    for room in rooms {
        limit(room);
        let outcome = grow(&workspace, &history);
        limit(u64::MAX);
        recover(&workspace, &history).unwrap();
        if outcome.is_ok() {
            break;
        }
        assert_eq!(tree(&root), before, "room {room}: {outcome:?}");
    }
}

#[test]
fn a_mount_over_a_changed_directory_does_not_stop_other_changes() {
    let Some(directory) = env::var_os(INSIDE) else {
        let temp = tempfile::tempdir().unwrap();
        let Some(launcher) = mounts() else { return };
        let test = "failures::a_mount_over_a_changed_directory_does_not_stop_other_changes";
        return go_on(test, temp.path(), launcher, "exec \"$@\"");
    };
    let directory = Path::new(&directory);
    let (root, state) = (directory.join("root"), directory.join("state"));
    fs::create_dir(&root).unwrap();
    // As a process that begins anew.
    let commit = |change| -> Result<(), Error> {
        let (workspace, history) = (open(&root, Resolver::Kernel), history(&state));
        recover(&workspace, &history)?;
        let plan = workspace.plan(&ChangeSet { changes: vec![change] })?;
        workspace.commit(&plan, &history, &origin("mount")).map(drop)
    };
    let run = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).arg(root.join("d")).status();
        assert!(status.unwrap().success(), "{program}");
    };
    commit(create("d/x", "1\n")).unwrap();
    run("mount", &["-t", "tmpfs", "none"]);
    commit(create("a", "1\n")).unwrap();
    run("umount", &[]);
    commit(write("d/x", b"1\n", "2\n")).unwrap();
}

#[test]
fn other_mounts_are_out_of_reach() {
    let Some(directory) = env::var_os(INSIDE) else {
        let temp = tempfile::tempdir().unwrap();
        let Some(launcher) = mounts() else { return };
        // Another file system, and a bind mount of the same one, of a directory and of a file.
        let script = format!(
            "cd {} && mkdir -p root/other root/bound outside && echo secret > outside/secret && \
             touch root/file && mount -t tmpfs none root/other && echo secret > root/other/secret \
             && mount --bind outside root/bound && mount --bind outside/secret root/file && \
             cd / && exec \"$@\"",
            temp.path().display()
        );
        return go_on("failures::other_mounts_are_out_of_reach", temp.path(), launcher, &script);
    };
    let root = Path::new(&directory).join("root");
    let history = history(&Path::new(&directory).join("state"));
    let all = ListOptions { recursive: true, entries_max: 100 };
    for resolver in RESOLVERS {
        let workspace = open(&root, resolver);
        std::os::unix::fs::symlink("other/secret", root.join("link")).unwrap();
        // Through another mount and back again.
        std::os::unix::fs::symlink("bound/../plain", root.join("back")).unwrap();
        fs::write(root.join("plain"), "plain\n").unwrap();
        for path in
            ["other/secret", "bound/secret", "file", "link", "other/none/new", "bound", "back"]
        {
            let what = format!("{resolver:?} {path}");
            let resolved = workspace.resolve(&rel(path)).expect_err(&what);
            assert!(matches!(resolved, Error::OtherFilesystem { .. }), "{what}: {resolved:?}");
            assert_eq!(workspace.read(&rel(path)).unwrap_err().code(), ErrorCode::OutsideWorkspace);
            for change in [create(path, "new\n"), write(path, b"secret\n", "new\n")] {
                let refused = workspace.plan(&ChangeSet { changes: vec![change] }).unwrap_err();
                assert_eq!(refused.code(), ErrorCode::OutsideWorkspace, "{what}");
            }
        }
        let listing = workspace.list(&rel("."), all, &|_| true, &|| false).unwrap();
        let names: Vec<&str> = listing.entries.iter().map(|e| e.path.as_str()).collect();
        assert_eq!(names, ["back", "bound", "file", "link", "other", "plain"]);
        assert_eq!(listing.skipped.unreadable, 2);

        let options = WorkspaceOptions {
            resolver: Some(resolver),
            same_filesystem_only: false,
            ..WorkspaceOptions::default()
        };
        let open = Workspace::open(&root, options).unwrap();
        for path in ["other/secret", "bound/secret", "file", "link"] {
            open.read(&rel(path)).unwrap_or_else(|error| panic!("{resolver:?} {path}: {error}"));
        }
        // A file that is a mount itself cannot be exchanged; it stays as it is.
        let changes = vec![create("a", "1\n"), write("file", b"secret\n", "new\n")];
        let plan = open.plan(&ChangeSet { changes }).unwrap();
        open.commit(&plan, &history, &origin("mount")).unwrap_err();
        assert!(!root.join("a").exists());
        let changes = vec![write("other/secret", b"secret\n", "secret \n")];
        let plan = open.plan(&ChangeSet { changes }).unwrap();
        let committed = open.commit(&plan, &history, &origin("mount")).unwrap();
        let plan = history.plan_undo(&open, &UndoTarget::Entry(committed.number)).unwrap();
        open.commit(&plan, &history, &origin("mount")).unwrap();
        for name in ["link", "back"] {
            fs::remove_file(root.join(name)).unwrap();
        }
    }
}

#[test]
fn what_is_kept_of_a_tree_is_used_again_beside_a_directory_that_cannot_be_entered() {
    let Some(directory) = env::var_os(INSIDE) else {
        let temp = memory();
        let Some(launcher) = mounts() else { return };
        let script = format!(
            "cd {} && mkdir -p root/other root/src && touch root/src/a && \
             mount -t tmpfs none root/other && exec \"$@\"",
            temp.path().display(),
        );
        let test = "failures::what_is_kept_of_a_tree_is_used_again_beside_a_directory_that_cannot_be_entered";
        return go_on(test, temp.path(), launcher, &script);
    };
    let root = Path::new(&directory).join("root");
    let workspace = Arc::new(open(&root, Resolver::Kernel));
    let tree = LiveTree::new(Arc::clone(&workspace), LiveOptions::default());
    tree.build(&|| false);
    let name = GateKey { rules: Arc::new(()), facts: String::new() };
    let asked = AtomicUsize::new(0);
    let list = || {
        asked.store(0, Ordering::Relaxed);
        let lists = |_: &RelPath| {
            asked.fetch_add(1, Ordering::Relaxed);
            true
        };
        let (lists_all, name) = (false, Some(&name));
        let gate = ListingGate { lists: &lists, lists_all, cancelled: &|| false, name };
        let listed = tree.list_tree(&RelPath::root(), 1_000, gate).unwrap().unwrap();
        (listed.names().len(), asked.load(Ordering::Relaxed))
    };
    assert_eq!(list(), (3, 3));
    assert_eq!(list(), (3, 0));
    // It can be entered from then on.
    assert!(Command::new("umount").arg(root.join("other")).status().unwrap().success());
    set_mode(&root.join("src"), 0o700);
    fs::write(root.join("other/b"), "").unwrap();
    assert_eq!(list(), (4, 4));
    assert_eq!(list(), (4, 0));
}
