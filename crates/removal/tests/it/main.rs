//! Trees as commands leave them are removed. Each test has a process with few descriptors and threads with a small
//! stack.

#![allow(clippy::disallowed_methods, reason = "tests look from outside")]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;

use moss_removal::{clear, remove};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Fewer than a removal with one descriptor for each level would need.
const DESCRIPTORS_MAX: u64 = 128;
const STACK_BYTES: usize = 128 << 10;
/// A user who may not do whatever they want.
const NOBODY: u32 = 65_534;

/// Runs a test with few descriptors, on a small stack.
fn narrowly(test: impl FnOnce() + Send + 'static) {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(DESCRIPTORS_MAX), ..limit }).unwrap();
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap().join().unwrap();
}

/// Opens a directory of a test.
fn opened(path: &Path) -> OwnedFd {
    File::open(path).unwrap().into()
}

/// Makes directories in each other, with a file in each.
fn nest(path: &Path, depth: usize) {
    let mut here = opened(path);
    for _ in 0..depth {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        rustix::fs::openat(&here, "moved-1", flags, Mode::RUSR).unwrap();
        rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        here = rustix::fs::openat(&here, "d", flags, Mode::empty()).unwrap();
    }
}

#[test]
fn a_tree_of_any_depth_is_removed() {
    narrowly(|| {
        let temp = tempfile::tempdir().unwrap();
        let tree = temp.path().join("tree");
        fs::create_dir(&tree).unwrap();
        nest(&tree, 30_000);
        remove(opened(temp.path()), OsStr::new("tree")).unwrap();
        assert!(!tree.exists());
        remove(opened(temp.path()), OsStr::new("tree")).unwrap();
    });
}

#[test]
fn a_directory_is_cleared_of_wide_and_deep_trees_and_stays() {
    narrowly(|| {
        let temp = tempfile::tempdir().unwrap();
        for number in 0..40 {
            let tree = temp.path().join(format!("moved-{number}"));
            fs::create_dir(&tree).unwrap();
            nest(&tree, 100);
        }
        clear(opened(temp.path())).unwrap();
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    });
}

#[test]
fn no_link_is_followed() {
    narrowly(|| {
        let temp = tempfile::tempdir().unwrap();
        let (kept, tree) = (temp.path().join("kept"), temp.path().join("tree"));
        fs::create_dir_all(&kept).unwrap();
        fs::create_dir_all(&tree).unwrap();
        fs::write(kept.join("file"), "kept").unwrap();
        symlink(&kept, tree.join("link")).unwrap();
        symlink(&kept, temp.path().join("other")).unwrap();
        nest(&tree, 40);
        symlink(&kept, tree.join("d/d/d/link")).unwrap();
        let directory = opened(temp.path());
        remove(&directory, OsStr::new("tree")).unwrap();
        remove(&directory, OsStr::new("other")).unwrap();
        assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "kept");
        assert!(!tree.exists() && !temp.path().join("other").exists());
    });
}

#[test]
fn directories_that_their_owner_closed_are_removed() {
    narrowly(|| {
        let temp = tempfile::tempdir().unwrap();
        let tree = temp.path().join("tree");
        fs::create_dir(&tree).unwrap();
        nest(&tree, 40);
        for depth in [0, 3, 14, 15, 16, 17, 39] {
            let path = tree.join(vec!["d"; depth].join("/"));
            for mode in ["none", "read", "write"] {
                fs::create_dir(path.join(mode)).unwrap();
                fs::write(path.join(mode).join("file"), "").unwrap();
            }
            for (name, mode) in [("none", 0o000), ("read", 0o500), ("write", 0o300)] {
                fs::set_permissions(path.join(name), Permissions::from_mode(mode)).unwrap();
            }
        }
        let deepest_first = (0..=40).rev().map(|depth| tree.join(vec!["d"; depth].join("/")));
        for path in deepest_first {
            fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
            give_to_nobody(&path);
        }
        give_to_nobody(temp.path());
        if rustix::process::geteuid().is_root() {
            let nobody = rustix::fs::Uid::from_raw(NOBODY);
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        }
        remove(opened(temp.path()), OsStr::new("tree")).unwrap();
        assert!(!tree.exists());
    });
}

/// Makes a directory and what lies in it another user's, where this is root: that one is permitted everything.
fn give_to_nobody(path: &Path) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    chown(path, Some(NOBODY), None).unwrap();
    for entry in fs::read_dir(path).unwrap() {
        std::os::unix::fs::lchown(entry.unwrap().path(), Some(NOBODY), None).unwrap();
    }
}

#[test]
fn only_single_names_are_removed() {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir(temp.path().join("tree")).unwrap();
    fs::write(temp.path().join("tree/file"), "").unwrap();
    let tree = opened(&temp.path().join("tree"));
    for name in [".", "..", "../tree", "tree/file", "/tmp", ""] {
        assert!(remove(&tree, OsStr::new(name)).is_err(), "{name}");
    }
    assert!(temp.path().join("tree/file").exists());
}
