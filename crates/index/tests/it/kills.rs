//! A process that is killed while it writes: another one finds a whole index.

#![allow(clippy::disallowed_methods, reason = "the process that is killed is this test")]

use std::io::Read as _;
use std::process::{Command, Stdio};

use moss_index::{IndexBounds, TextIndex};
use moss_workspace::own::OwnDir;

use crate::folder::{Folder, never, small_bounds};

const KILLS: u32 = 100;
const DIRECTORY: &str = "MOSS_INDEX_TEST_DIRECTORY";

fn index(directory: &std::path::Path) -> TextIndex {
    let own = OwnDir::create(directory).expect("a directory");
    TextIndex::open(Box::new(own), IndexBounds { threads: 1, ..small_bounds() })
}

fn folder() -> Folder {
    let mut folder = Folder::default();
    for number in 0..60 {
        folder.write_text(&format!("file{number}"), &format!("text of number{number} shared"));
    }
    folder
}

/// Writes an index again and again where it is told so; says that it began.
#[test]
fn a_writer_that_is_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let index = index(directory.as_ref());
    let mut folder = folder();
    index.sync(folder.listing());
    let told = std::io::Write::write_all(&mut std::io::stdout(), b"begun\n");
    told.expect("it is read");
    loop {
        for number in 0..60 {
            let name = format!("file{number}");
            index.update([folder.write_text(&name, &format!("text of number{number} shared"))]);
            index.settle(&folder, &never);
            index.persist();
        }
        index.clear();
        index.sync(folder.listing());
    }
}

#[test]
fn an_index_is_whole_after_its_writer_was_killed() {
    let temp = tempfile::tempdir().expect("a directory");
    let directory = temp.path().join("index");
    let program = std::env::current_exe().expect("this test");
    for kill in 0..KILLS {
        let mut child = Command::new(&program)
            .args(["--exact", "kills::a_writer_that_is_killed", "--nocapture"])
            .env(DIRECTORY, &directory)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut output = child.stdout.take().expect("its output");
        let mut said = Vec::new();
        let mut byte = [0];
        while !said.ends_with(b"begun\n") && output.read(&mut byte).expect("it is read") == 1 {
            said.push(byte[0]);
        }
        assert!(said.ends_with(b"begun\n"), "{}", String::from_utf8_lossy(&said));
        // A while that differs from kill to kill, without a clock.
        (0..kill * 20_000).for_each(|count| assert!(std::hint::black_box(count) < u32::MAX));
        child.kill().expect("it is there to be killed");
        child.wait().expect("it ends");
        let index = index(&directory);
        assert_eq!(index.status().problem, None, "kill {kill}");
        let folder = folder();
        index.sync(folder.listing());
        assert!(index.settle(&folder, &never));
        for pattern in ["number7\\b", "shared", "nowhere"] {
            assert_eq!(folder.asked(&index, pattern), folder.expected(pattern), "kill {kill}");
        }
        index.persist();
    }
}
