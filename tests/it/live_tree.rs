//! Listings from what a daemon keeps of the workspace: the very next answer has what just happened,
//! whoever did it, and nothing that the policy closes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::{Client, Site, until};

/// How often the workspace changes before each question.
const ROUNDS: usize = 400;
/// Files that come and go at once, as when a branch is switched.
const BRANCH_FILES: usize = 3_000;

/// Waits until listings need no walk.
pub(crate) async fn ready(client: &Client) -> v1::IndexStatus {
    let index = async || client.load().await.workspaces[0].index.clone().unwrap();
    until("the files are known", async || index().await.state() == v1::IndexState::Ready).await;
    index().await
}

fn paths(listing: &Value) -> BTreeSet<String> {
    let entries = listing["entries"].as_array().unwrap().iter();
    entries.map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
}

/// What is there by the system's own account: no file of these tests is ignored.
fn on_disk(directory: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![directory.to_owned()];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            found.insert(path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned());
            if entry.file_type().unwrap().is_dir() {
                left.push(path);
            }
        }
    }
    found
}

/// Does one thing to the workspace from outside, another one in each round.
fn change(root: &Path, round: usize) {
    let at = |name: String| root.join(name);
    match round % 8 {
        0 => fs::write(at(format!("file{round}.txt")), "x").unwrap(),
        1 => fs::create_dir_all(at(format!("deep{round}/er"))).unwrap(),
        2 => fs::write(at(format!("deep{}/er/new.txt", round - 1)), "x").unwrap(),
        3 => fs::rename(at(format!("deep{}", round - 2)), at(format!("moved{round}"))).unwrap(),
        4 => fs::write(at(format!("moved{}/er/late.txt", round - 1)), "x").unwrap(),
        5 => fs::rename(at(format!("file{}.txt", round - 5)), at(format!("f{round}"))).unwrap(),
        6 => fs::remove_dir_all(at(format!("moved{}", round - 3))).unwrap(),
        _ => fs::remove_file(at(format!("f{}", round - 2))).unwrap(),
    }
}

#[tokio::test]
async fn the_next_listing_has_what_just_happened() {
    let site = Site::allowing();
    site.write("src/a.txt", "x\n");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let known = ready(&caller).await;
    assert_eq!((known.entries, known.directories_watched), (2, 2), "{known:?}");
    let whole = json!({"path": ".", "recursive": true, "limit": 1_000});
    let list = async || caller.done("list_directory", whole.clone()).await;
    for round in 0..ROUNDS {
        change(&site.workspace(), round);
        if round % 50 == 0 {
            let edit = json!({"path": format!("own/{round}.txt"), "content": "x\n"});
            caller.done("create_file", edit).await;
        }
        assert_eq!(paths(&list().await), on_disk(&site.workspace()), "round {round}");
    }
    let size = |listing: &Value| listing["entries"].as_array().unwrap().last().unwrap().clone();
    site.write("zz.txt", "one");
    assert_eq!(size(&list().await)["size_bytes"], 3);
    site.write("zz.txt", "longer");
    assert_eq!(size(&list().await)["size_bytes"], 6);
    assert_eq!(ready(&caller).await.reason, "");
}

#[tokio::test]
async fn thousands_of_files_come_and_go_at_once() {
    let site = Site::new();
    site.write("a.txt", "x\n");
    let branch = site.outside("branch");
    for number in 0..BRANCH_FILES {
        let directory = branch.join(format!("d{}", number % 60));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("on_branch_{number}.txt")), "x").unwrap();
    }
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    let search = async || {
        let found = caller.done("file_search", json!({"pattern": "on_branch_"})).await;
        found["total"].as_u64().unwrap()
    };
    let here = site.workspace().join("branch");
    for _ in 0..5 {
        fs::rename(&branch, &here).unwrap();
        assert_eq!(search().await, BRANCH_FILES as u64);
        site.write(".gitignore", "d1/\n");
        assert_eq!(search().await, (BRANCH_FILES - BRANCH_FILES / 60) as u64);
        fs::remove_file(site.workspace().join(".gitignore")).unwrap();
        assert_eq!(search().await, BRANCH_FILES as u64);
        fs::rename(&here, &branch).unwrap();
        assert_eq!(search().await, 0);
    }
}

#[tokio::test]
async fn what_the_policy_closes_is_counted_and_not_named() {
    let site = Site::new();
    for path in ["open.txt", "secret/name.txt", "secret/deeper/name.txt"] {
        site.write(path, "x\n");
    }
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"secret/**\", \"secret\"]\n\
         decision = \"deny\"\n",
    );
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    let listing = caller.done("list_directory", json!({"path": ".", "recursive": true})).await;
    let walked: Value = serde_json::from_str(
        &site.run(&["call", "list_directory", "path=.", "recursive=true", "--json"]).stdout,
    )
    .unwrap();
    assert_eq!(paths(&listing), ["open.txt".to_owned()].into());
    assert_eq!(listing["skipped"]["denied"], 1, "{listing}");
    assert_eq!(walked["output"], listing);
    let found = caller.done("file_search", json!({"pattern": "name.txt"})).await;
    assert_eq!(found["total"], 0, "{found}");
}

#[tokio::test]
async fn of_files_that_fit_equally_well_those_come_first_that_any_program_changed_last() {
    let site = Site::new();
    for path in ["a/mod.rs", "b/mod.rs", "c/mod.rs"] {
        site.write(path, "1\n");
    }
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    let found = async || {
        let found = caller.done("file_search", json!({"pattern": "mod.rs"})).await;
        let files = found["files"].as_array().unwrap().iter();
        files.map(|file| file["path"].as_str().unwrap()[..1].to_owned()).collect::<String>()
    };
    assert_eq!(found().await, "abc");
    site.write("c/mod.rs", "22\n");
    assert_eq!(found().await, "cab");
    site.write("b/mod.rs", "333\n");
    assert_eq!(found().await, "bca");
}

#[tokio::test]
async fn rules_that_change_apply_to_the_next_listing_of_every_tool() {
    let site = Site::new();
    for path in ["open/name.txt", "late/name.txt"] {
        site.write(path, "x\n");
    }
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    let listed = async || {
        let all = json!({"path": ".", "recursive": true});
        let listing = caller.done("list_directory", all).await;
        let found = caller.done("file_search", json!({"pattern": "name.txt"})).await;
        let structure = caller.done("get_project_structure", json!({})).await;
        let is_drawn = structure["tree"].as_str().unwrap().contains("late/");
        (
            paths(&listing).len(),
            found["total"].as_u64().unwrap(),
            structure["files"].clone(),
            is_drawn,
        )
    };
    for _ in 0..2 {
        assert_eq!(listed().await, (4, 2, json!(2), true));
    }
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"late/**\", \"late\"]\n\
         decision = \"deny\"\n",
    );
    until("the rules are read", async || listed().await.0 == 2).await;
    assert_eq!(listed().await, (2, 1, json!(1), false));
    site.user_policy("version = 1\n");
    until("the rules are read", async || listed().await.0 == 4).await;
    assert_eq!(listed().await, (4, 2, json!(2), true));
}

#[tokio::test]
async fn without_it_listings_walk_and_the_status_says_why() {
    let site = Site::new();
    site.config("[index]\nenabled = false\n");
    site.write("a.txt", "x\n");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let index = caller.load().await.workspaces[0].index.clone().unwrap();
    assert_eq!(index.state(), v1::IndexState::Off);
    assert!(index.reason.contains("index.enabled"), "{index:?}");
    let listing = caller.done("list_directory", json!({"path": "."})).await;
    assert_eq!(paths(&listing), ["a.txt".to_owned()].into());
    let shown = site.run(&["status"]).stdout;
    assert!(shown.contains("index: off, `index.enabled` in config.toml is false"), "{shown}");
    drop(daemon);

    let site = Site::new();
    site.config("[index]\nentries_max = 3\n");
    (0..4).for_each(|number| drop(site.write(&format!("{number}.txt"), "x\n")));
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let index = async || caller.load().await.workspaces[0].index.clone().unwrap();
    until("it is too large", async || index().await.state() == v1::IndexState::Off).await;
    let reason = index().await.reason;
    assert!(reason.contains("more than 3 entries"), "{reason}");
    let listing = caller.done("list_directory", json!({"path": "."})).await;
    assert_eq!(listing["total"], 4);
}
