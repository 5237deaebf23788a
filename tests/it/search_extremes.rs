//! Searches of what workspaces should not hold: huge files and lines, times that go backwards, files that
//! shrink while they are read, links that loop, names that are no text, an index that is damaged or of a newer version.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::harness::{Client, Site};
use crate::text_index::ready;

/// How often a file is searched that changes all the time.
const SEARCHES: usize = 100;

async fn search(client: &Client, pattern: &str) -> Value {
    client.done("grep_search", json!({ "pattern": pattern })).await
}

#[tokio::test]
async fn a_file_of_a_gigabyte_is_left_out_and_a_line_of_50_megabytes_is_cut() {
    for config in ["", "[index]\nenabled = false\n"] {
        let site = Site::new();
        site.config(config);
        site.write("a.txt", "needle\n");
        site.write("huge.txt", "needle\n");
        File::options()
            .write(true)
            .open(site.workspace().join("huge.txt"))
            .and_then(|file| file.set_len(1 << 30))
            .unwrap();
        let half = "x".repeat(25_000_000);
        site.write("line.min.js", format!("{half}needle{half}\n"));
        let daemon = site.serve();
        let caller = daemon.caller().await;
        if config.is_empty() {
            ready(&caller).await;
        }
        let found = search(&caller, "needle").await;
        assert_eq!(found["total_matches"], 2, "{}", found["skipped"]);
        assert_eq!(found["skipped"]["too_large"], 1, "{}", found["skipped"]);
        let line = found["matches"].as_array().unwrap().iter();
        let line = line.clone().find(|hit| hit["path"] == "line.min.js").unwrap();
        let text = line["text"].as_str().unwrap();
        assert!(text.contains("needle") && text.len() < 1_000, "{} bytes", text.len());
        assert_eq!((&line["cut"], &line["column"]), (&json!(true), &json!(25_000_001)));
    }
}

/// Writes a text of the same size and gives the file the times that it had.
fn exchange(site: &Site, path: &str, text: &str, time: SystemTime) {
    let path = site.workspace().join(path);
    assert_eq!(fs::metadata(&path).unwrap().len(), text.len() as u64, "it proves nothing");
    fs::write(&path, text).unwrap();
    let times = FileTimes::new().set_modified(time).set_accessed(time);
    File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
}

#[tokio::test]
async fn what_changed_is_found_though_the_clock_was_set_back() {
    let site = Site::new();
    let early = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let late = SystemTime::now() + Duration::from_secs(1_000_000);
    for name in ["same.txt", "early.txt", "late.txt"] {
        site.write(name, "first text\n");
    }
    let now = fs::metadata(site.workspace().join("same.txt")).unwrap().modified().unwrap();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    for (round, texts) in
        [["second one\n", "first text"], ["third  one\n", "second one"]].into_iter().enumerate()
    {
        for (name, time) in [("same.txt", now), ("early.txt", early), ("late.txt", late)] {
            exchange(&site, name, texts[0], time);
        }
        assert_eq!(search(&caller, texts[0].trim()).await["files_matched"], 3, "round {round}");
        assert_eq!(search(&caller, texts[1]).await["files_matched"], 0, "round {round}");
        ready(&caller).await;
    }
    // The same while no daemon looks.
    daemon.stop();
    for (name, time) in [("same.txt", now), ("early.txt", early), ("late.txt", late)] {
        exchange(&site, name, "fourth one\n", time);
    }
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    assert_eq!(search(&caller, "fourth one").await["files_matched"], 3);
    assert_eq!(search(&caller, "third").await["files_matched"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_shrinks_and_grows_while_it_is_read_spoils_no_search() {
    let site = Site::new();
    site.write("steady.txt", "needle\n");
    site.write("moving.txt", "needle\n");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    let path = site.workspace().join("moving.txt");
    let is_over = AtomicBool::new(false);
    let long = "needle\n".repeat(100_000);
    let mut counts = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fs::write(&path, &long).unwrap();
                fs::write(&path, "needle\n").unwrap();
            }
        });
        let handle = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            for _ in 0..SEARCHES {
                counts.push(handle.block_on(search(&caller, "needle")));
            }
        });
        is_over.store(true, Ordering::Relaxed);
    });
    for found in counts {
        let total = found["total_matches"].as_u64().unwrap();
        assert!((1..=100_000).contains(&total), "{total}");
        assert!(found["files_searched"].as_u64().unwrap() >= 1, "{found}");
    }
    assert_eq!(search(&caller, "needle").await["files_matched"], 2);
}

#[tokio::test]
async fn damage_of_the_index_is_told_and_changes_no_answer() {
    let site = Site::new();
    for number in 0..200 {
        site.write(&format!("f{number}.txt"), format!("word{number} of many\n"));
    }
    let daemon = site.serve();
    ready(&daemon.caller().await).await;
    daemon.stop();
    let mut damaged = 0;
    let mut left = vec![site.outside("cache/moss/index")];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            if let Some(byte) = bytes.first_mut() {
                *byte ^= 1;
                fs::write(&path, bytes).unwrap();
                damaged += 1;
            }
        }
    }
    assert!(damaged > 0, "it proves nothing");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    assert_eq!(search(&caller, "word7\\b").await["files_matched"], 1);
    let known = ready(&caller).await;
    assert!(known.problem.contains("is damaged"), "{known:?}");
    assert_eq!(known.files_indexed, 200);
    let shown = site.run(&["index", "status"]).stdout;
    assert!(shown.contains("is damaged"), "{shown}");
    assert_eq!(search(&caller, "word7\\b").await["files_matched"], 1);
}

#[tokio::test]
async fn an_index_of_a_newer_version_is_left_alone_and_the_status_says_so() {
    let site = Site::new();
    site.write("a.txt", "some text\n");
    let daemon = site.serve();
    ready(&daemon.caller().await).await;
    daemon.stop();
    let mut indexes = fs::read_dir(site.outside("cache/moss/index")).unwrap();
    let newer = indexes.next().unwrap().unwrap().path().join("manifest-900");
    fs::write(&newer, "of another time").unwrap();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let known = ready(&caller).await;
    assert!(known.problem.contains("newer version (manifest-900)"), "{known:?}");
    let shown = site.run(&["index", "status"]).stdout;
    assert!(shown.contains("newer version"), "{shown}");
    assert_eq!(search(&caller, "some text").await["files_matched"], 1);
    daemon.stop();
    assert_eq!(fs::read(newer).unwrap(), b"of another time");
}

#[tokio::test]
async fn loops_odd_names_and_closed_directories_are_counted_the_same_in_both_ways() {
    for config in ["", "[index]\nenabled = false\n"] {
        let site = Site::new();
        site.config(config);
        let root = site.workspace();
        site.write("dir/a.txt", "needle\n");
        site.write("closed/b.txt", "needle\n");
        symlink(".", root.join("dir/loop")).unwrap();
        symlink("../dir", root.join("dir/up")).unwrap();
        symlink("self", root.join("self")).unwrap();
        fs::write(root.join(OsStr::from_bytes(b"dir/\xff.txt")), "needle\n").unwrap();
        fs::create_dir(root.join(OsStr::from_bytes(b"\xfe"))).unwrap();
        fs::write(root.join(OsStr::from_bytes(b"\xfe/c.txt")), "needle\n").unwrap();
        fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
        // Root may read it nevertheless.
        let is_closed = fs::read_dir(root.join("closed")).is_err();
        let daemon = site.serve();
        let caller = daemon.caller().await;
        if config.is_empty() {
            ready(&caller).await;
        }
        for _ in 0..2 {
            let found = search(&caller, "needle").await;
            let (readable, unreadable) = if is_closed { (1, 3) } else { (2, 2) };
            assert_eq!(found["files_matched"], readable, "{config:?}: {found}");
            assert_eq!(found["skipped"]["unreadable"], unreadable, "{config:?}: {found}");
            let files = caller.done("file_search", json!({ "pattern": "*.txt" })).await;
            assert_eq!(files["total"], readable, "{config:?}: {files}");
        }
        fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    }
}
