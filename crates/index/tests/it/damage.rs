//! Files of an index that are damaged, cut off, lost or of another version: read again, never believed.

use std::sync::Arc;

use moss_index::{IndexProblem, IndexState};

use crate::folder::{Content, Folder, never, open};
use crate::shelf::MemoryShelf;

/// Files of a version of the format that is not there yet.
const NEWER: &str = "manifest-1000";
const NEWER_SEGMENT: &str = "1000-00000001.segment";

const PATTERNS: [&str; 4] = ["number7\\b", "shared", "text of", "nowhere"];

/// A folder and the files of its index, in several segments.
fn indexed() -> (Folder, MemoryShelf) {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    for number in 0..24 {
        folder.write_text(&format!("file{number}"), &format!("text of number{number} shared"));
    }
    folder.write("image", Content::Bytes);
    let index = open(&shelf);
    index.sync(folder.listing());
    assert!(index.settle(&folder, &never));
    index.persist();
    index.update([folder.write_text("late", "text of a later one")]);
    assert!(index.settle(&folder, &never));
    index.persist();
    assert!(index.status().segments > 1);
    (folder, shelf)
}

/// Opens what may be damaged and asks at once, then again when it is settled; returns the problem.
fn check(folder: &Folder, shelf: &MemoryShelf) -> Option<IndexProblem> {
    let index = open(shelf);
    index.sync(folder.listing());
    for pattern in PATTERNS {
        let asked = folder.asked(&index, pattern);
        for name in folder.expected(pattern) {
            assert!(asked.contains(&name), "{pattern} finds {name}");
        }
    }
    let problem = index.status().problem;
    assert!(index.settle(folder, &never));
    for pattern in PATTERNS {
        assert_eq!(folder.asked(&index, pattern), folder.expected(pattern), "{pattern}");
    }
    assert_eq!(index.status().state, IndexState::Ready);
    problem.or(index.status().problem)
}

#[test]
fn a_changed_byte_is_noticed_wherever_it_is() {
    let (folder, shelf) = indexed();
    assert_eq!(check(&folder, &shelf.copy()), None);
    for (name, bytes) in shelf.files() {
        for at in 0..bytes.len() {
            let damaged = shelf.copy();
            let mut bytes = Vec::clone(&bytes);
            bytes[at] ^= 1 << (at % 8);
            damaged.put(&name, bytes);
            let problem = check(&folder, &damaged);
            // A block that nobody asked for is not read.
            let is_unread = problem.is_none() && name.ends_with(".segment");
            let is_said = matches!(problem, Some(IndexProblem::Damaged { .. }));
            assert!(is_said || is_unread, "{name} at {at}: {problem:?}");
        }
    }
}

#[test]
fn a_file_that_is_cut_off_is_noticed() {
    let (folder, shelf) = indexed();
    for (name, bytes) in shelf.files() {
        for length in 0..bytes.len() {
            let damaged = shelf.copy();
            damaged.put(&name, bytes[..length].to_vec());
            let problem = check(&folder, &damaged);
            let is_said = matches!(problem, Some(IndexProblem::Damaged { .. }));
            assert!(is_said, "{name} of {length}: {problem:?}");
        }
        let damaged = shelf.copy();
        damaged.put(&name, [&**bytes, b"more"].concat());
        assert!(matches!(check(&folder, &damaged), Some(IndexProblem::Damaged { .. })), "{name}");
    }
}

#[test]
fn files_that_are_lost_or_exchanged_are_noticed() {
    let (folder, shelf) = indexed();
    let files = shelf.files();
    let segments: Vec<(&String, &Arc<Vec<u8>>)> =
        files.iter().filter(|(name, _)| name.ends_with(".segment")).collect();
    let exchanged = shelf.copy();
    exchanged.put(segments[0].0, segments[1].1.to_vec());
    exchanged.put(segments[1].0, segments[0].1.to_vec());
    assert!(matches!(check(&folder, &exchanged), Some(IndexProblem::Damaged { .. })));
    for name in files.keys() {
        let lost = MemoryShelf::default();
        files.iter().filter(|(other, _)| *other != name).for_each(|(other, bytes)| {
            lost.put(other, bytes.to_vec());
        });
        let problem = check(&folder, &lost);
        assert_eq!(problem.is_some(), name.ends_with(".segment"), "{name}");
    }
}

#[test]
fn an_index_of_a_newer_version_is_left_alone() {
    let (folder, shelf) = indexed();
    for (name, bytes) in [(NEWER, "two"), (NEWER_SEGMENT, "newer")] {
        shelf.put(name, bytes.into());
    }
    shelf.put("manifest-0", "older".into());
    shelf.put("0-00000001.segment", "older".into());
    shelf.put(".moss-00.tmp", "unfinished".into());
    let problem = check(&folder, &shelf);
    assert_eq!(problem, Some(IndexProblem::Newer { file: NEWER.to_owned() }));
    let files = shelf.files();
    assert!(files.contains_key(NEWER) && files.contains_key(NEWER_SEGMENT));
    assert!(!files.keys().any(|name| name.starts_with('0') || name.ends_with(".tmp")));
    assert!(!files.contains_key("manifest-0"));
}

#[test]
fn a_manifest_that_is_damaged_or_lost_meanwhile_is_written_anew() {
    for damage in [Some("no manifest"), None] {
        let (mut folder, shelf) = indexed();
        let index = open(&shelf);
        index.sync(folder.listing());
        assert!(index.settle(&folder, &never));
        let name = shelf.files().into_keys().find(|name| name.starts_with("manifest-")).unwrap();
        match damage {
            Some(text) => shelf.put(&name, text.into()),
            None => moss_index::IndexStore::remove(&shelf, &name).unwrap(),
        }
        index.update([folder.write_text("later", "text of the last one")]);
        assert!(index.settle(&folder, &never));
        index.persist();
        assert_eq!(index.status().state, IndexState::Ready);
        drop(index);
        let reads = folder.reads();
        assert_eq!(check(&folder, &shelf), None);
        assert_eq!(folder.reads(), reads, "nothing of it was lost");
    }
}
