//! A workspace of very many files: every tool that walks through it answers, bounded and counted.

use std::time::Instant;

use serde_json::{Value, json};

use crate::harness::{Client, Site};

/// Files of the workspace, where [`ASKED`] does not say otherwise.
const FILES: u64 = 20_000;
/// The variable that says so.
const ASKED: &str = "MOSS_TEST_FILES";
/// Every so many files there is a manifest, in a directory of its own.
const MANIFEST_INTERVAL: u64 = 100;
/// Most entries that a call looks at: a million files and their directories, and as much again.
const LOOKED_AT_MAX: u64 = 2_000_000;

/// What is in the workspace.
struct Huge {
    files: u64,
    manifests: u64,
    directories: u64,
}

fn fill(site: &Site) -> Huge {
    let files = match std::env::var(ASKED) {
        Ok(asked) => asked.parse().unwrap_or_else(|_| panic!("{ASKED}={asked} is no number")),
        Err(_) => FILES,
    };
    let mut manifests = 0;
    let mut directories = std::collections::BTreeSet::new();
    for number in 0..files {
        let above = [
            format!("part{}", number % 9),
            "src".to_owned(),
            format!("m{}", number % 50),
            format!("n{}", number % 7),
        ];
        for depth in 1..=above.len() {
            directories.insert(above[..depth].join("/"));
        }
        let directory = above.join("/");
        if number % MANIFEST_INTERVAL == 0 {
            manifests += 1;
            directories.insert(format!("{directory}/p{number}"));
            let manifest = format!("[package]\nname = \"p{number}\"\n");
            site.write(&format!("{directory}/p{number}/Cargo.toml"), manifest);
        } else {
            site.write(&format!("{directory}/f{number}.rs"), "fn f() {}\n");
        }
    }
    Huge { files, manifests, directories: directories.len() as u64 }
}

/// Calls a tool, and says how long it took and how much it printed.
async fn timed(client: &Client, tool: &str, arguments: Value) -> Value {
    let started = Instant::now();
    let output = client.done(tool, arguments.clone()).await;
    let (taken, bytes) = (started.elapsed(), output.to_string().len());
    eprintln!("{tool} {arguments}: {taken:.1?}, {bytes} bytes");
    assert!(bytes < 512 << 10, "{tool} {arguments}: {bytes} bytes");
    output
}

#[tokio::test]
async fn a_huge_workspace_is_walked_within_bounds() {
    let site = Site::new();
    let huge = fill(&site);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let entries = huge.files + huge.directories;
    let is_cut = entries > LOOKED_AT_MAX;
    eprintln!("{} files in {} directories", huge.files, huge.directories);

    let structure = timed(&client, "get_project_structure", json!({})).await;
    let top = structure["tree"].as_str().unwrap().lines().filter(|line| !line.starts_with(' '));
    assert_eq!(top.count(), 9, "{}", structure["tree"]);
    // As many of the first 50 as there is room for.
    let manifests = structure["manifests"].as_array().unwrap().len();
    assert!((10..=50).contains(&manifests), "{manifests}");
    assert_eq!(structure["truncated"], is_cut);
    if !is_cut {
        assert_eq!(structure["files"], huge.files);
        assert_eq!(structure["directories"], huge.directories);
        assert_eq!(structure["manifests_total"], huge.manifests);
        let rust = huge.files - huge.manifests;
        let counted = json!({ "language": "Rust", "files": rust, "bytes": rust * 10 });
        assert_eq!(structure["languages"][0], counted);
    }
    assert_eq!(client.done("get_project_structure", json!({})).await, structure);

    let recursive = json!({
        "path": ".", "recursive": true, "sortBy": "size", "sortOrder": "desc", "limit": 1_000,
    });
    let listing = timed(&client, "list_directory", recursive).await;
    assert_eq!(listing["entries"].as_array().unwrap().len(), 1_000);
    assert_eq!(listing["total"], entries.min(LOOKED_AT_MAX));
    assert_eq!(listing["note"].as_str().unwrap().contains("were looked at"), is_cut, "{listing}");

    for pattern in ["**", "f", "*.rs", "zzqqzzqq", "part1/**/n?/*"] {
        let found = timed(&client, "file_search", json!({"pattern": pattern})).await;
        assert!(found["files"].as_array().unwrap().len() <= 100);
        assert_eq!(found["files_searched"] == huge.files, !is_cut, "{pattern}");
    }
    for pattern in [".", "nothing here", r"\}\n", "^name = "] {
        let found =
            timed(&client, "grep_search", json!({"pattern": pattern, "limit": 1_000})).await;
        assert!(found["matches"].as_array().unwrap().len() <= 1_000);
        // Some of these end early because they find so much.
        let is_whole = found["files_searched"] == huge.files;
        assert!(is_whole || found["truncated"] == true, "{pattern}");
        assert!(is_whole || is_cut || pattern != "nothing here", "{pattern}");
    }
}
