//! Searches through what a daemon knows of texts: never an answer from before, nothing that the policy
//! closes, and the same as without it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::{Client, Editor, Site, until};
use crate::listings::has;
use crate::live_tree;

/// How often something changes before a search. `MOSS_TEST_SEARCHES=10000` does more.
const SEARCHES: usize = 1_500;
/// Files that come and go at once, as when a branch is switched.
const BRANCH_FILES: usize = 3_000;
/// What is looked for.
pub(crate) const NEEDLE: &str = "needle_in_text";

async fn texts(client: &Client) -> v1::TextIndexStatus {
    client.load().await.workspaces[0].index.clone().unwrap().texts.unwrap_or_default()
}

/// Waits until searches need not read what does not match.
pub(crate) async fn ready(client: &Client) -> v1::TextIndexStatus {
    live_tree::ready(client).await;
    let is_ready = async || texts(client).await.state() == v1::IndexState::Ready;
    until("the texts are known", is_ready).await;
    texts(client).await
}

async fn search(client: &Client, pattern: &str) -> Value {
    client.done("grep_search", json!({"pattern": pattern, "limit": 1000})).await
}

fn paths(found: &Value) -> BTreeSet<String> {
    let hits = found["matches"].as_array().unwrap().iter();
    hits.map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

/// Files of a test and whether each holds the needle.
struct Haystack<'a> {
    root: &'a Path,
    holding: BTreeSet<String>,
    others: BTreeSet<String>,
}

// === impl Haystack ===

impl Haystack<'_> {
    fn write(&mut self, name: &str, holds: bool) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let needle = if holds { NEEDLE } else { "hay of no note" };
        fs::write(path, format!("some text\n{needle}\n")).unwrap();
        let [to, from] = match holds {
            true => [&mut self.holding, &mut self.others],
            false => [&mut self.others, &mut self.holding],
        };
        from.remove(name);
        to.insert(name.to_owned());
    }

    fn rename(&mut self, from: &str, to: &str) {
        let holds = self.holding.remove(from);
        self.others.remove(from);
        self.holding.remove(to);
        self.others.remove(to);
        fs::rename(self.root.join(from), self.root.join(to)).unwrap();
        if holds { &mut self.holding } else { &mut self.others }.insert(to.to_owned());
    }

    fn remove(&mut self, name: &str) {
        fs::remove_file(self.root.join(name)).unwrap();
        self.holding.remove(name);
        self.others.remove(name);
    }

    /// Does one thing from outside, another one in each round.
    fn change(&mut self, round: usize) {
        let name = |number: usize| format!("d{}/file{}.txt", number % 7, number % 50);
        let known = |all: &BTreeSet<String>| all.iter().nth(round % all.len().max(1)).cloned();
        match (round % 6, known(&self.holding), known(&self.others)) {
            // Of the same size and within one tick of the clock, as often as not.
            (0, Some(holding), _) => {
                let path = self.root.join(&holding);
                fs::write(path, format!("some text\n{}\n", "n".repeat(NEEDLE.len()))).unwrap();
                self.holding.remove(&holding);
                self.others.insert(holding);
            }
            (1, Some(holding), _) => self.rename(&holding, &format!("moved{}.txt", round % 40)),
            (2, _, Some(other)) => self.write(&other, true),
            (3, Some(holding), _) => self.remove(&holding),
            (4, _, Some(other)) => self.rename(&other, &format!("d0/other{}.txt", round % 40)),
            _ => self.write(&name(round), !round.is_multiple_of(3)),
        }
    }
}

#[tokio::test]
async fn searches_find_what_was_just_written() {
    let searches = std::env::var("MOSS_TEST_SEARCHES");
    let searches = searches.map_or(SEARCHES, |text| text.parse().expect("a number of searches"));
    let site = Site::allowing();
    let root = site.workspace();
    let mut haystack = Haystack { root: &root, holding: BTreeSet::new(), others: BTreeSet::new() };
    for number in 0..200 {
        haystack.write(&format!("d{}/file{number}.txt", number % 7), number % 5 == 0);
    }
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    let mut editor = Editor::attach(&daemon.approver().await, "Code").await;
    for round in 0..searches {
        if round % 50 == 25 {
            let other = haystack.others.iter().nth(round % haystack.others.len()).cloned().unwrap();
            let version = 2 * round as u64;
            editor.hold(&other, version, Some(&format!("{NEEDLE} not saved\n"))).await;
            let mut expected = haystack.holding.clone();
            expected.insert(other.clone());
            let found = search(&caller, NEEDLE).await;
            assert_eq!(paths(&found), expected, "round {round}, not saved");
            editor.hold(&other, version + 1, None).await;
        }
        if round % 40 == 39 {
            let name = format!("own/{}.txt", round % 9);
            let content = format!("{NEEDLE} of {round}\n");
            if root.join(&name).exists() {
                caller.done("delete_file", json!({"path": name})).await;
                haystack.holding.remove(&name);
                haystack.others.remove(&name);
            } else {
                caller.done("create_file", json!({"path": name, "content": content})).await;
                haystack.holding.insert(name);
            }
        } else {
            haystack.change(round);
        }
        let found = search(&caller, NEEDLE).await;
        assert_eq!(paths(&found), haystack.holding, "round {round}");
        let all = haystack.holding.len() + haystack.others.len();
        assert_eq!(found["files_searched"], all, "round {round}");
    }
    let settled = ready(&caller).await;
    assert_eq!((settled.reason.as_str(), settled.problem.as_str()), ("", ""));
}

#[tokio::test]
async fn switched_branch_is_searched_as_it_is_now() {
    let site = Site::new();
    site.write("a.txt", "no more than this\n");
    let branch = site.outside("branch");
    for number in 0..BRANCH_FILES {
        let directory = branch.join(format!("d{}", number % 60));
        fs::create_dir_all(&directory).unwrap();
        let text = format!("number{number} {}\n", if number % 3 == 0 { NEEDLE } else { "hay" });
        fs::write(directory.join(format!("f{number}.txt")), text).unwrap();
    }
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    let counts = async |pattern: &str| {
        let found = search(&caller, pattern).await;
        (found["files_matched"].clone(), found["files_searched"].clone())
    };
    let here = site.workspace().join("branch");
    for round in 0..4 {
        fs::rename(&branch, &here).unwrap();
        let all = (json!(BRANCH_FILES / 3), json!(BRANCH_FILES + 1));
        assert_eq!(counts(NEEDLE).await, all);
        if round % 2 == 0 {
            // What was not known at first is by now.
            ready(&caller).await;
            assert_eq!(counts(NEEDLE).await, all);
            assert_eq!(counts("number77\\b").await, (json!(1), json!(BRANCH_FILES + 1)));
        }
        fs::rename(&here, &branch).unwrap();
        assert_eq!(counts(NEEDLE).await, (json!(0), json!(1)));
    }
}

fn git(site: &Site, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=x", "-c", "user.email=x@example.org"]).args(arguments);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", site.outside("home"));
    let ended = command.current_dir(site.workspace()).output().unwrap();
    assert!(ended.status.success(), "{arguments:?}: {ended:?}");
}

#[tokio::test]
async fn checkouts_of_git_are_searched_as_they_are_at_once() {
    if !has("git") {
        return;
    }
    let searches = std::env::var("MOSS_TEST_SEARCHES");
    let searches = searches.map_or(SEARCHES, |text| text.parse().expect("a number of searches"));
    let site = Site::new();
    let write = |number: usize, every: usize| {
        let hay = if number.is_multiple_of(every) { NEEDLE } else { "hay" };
        site.write(&format!("d{}/f{number}.txt", number % 60), format!("{number} {hay}\n"));
    };
    git(&site, &["init", "--quiet", "--initial-branch=one"]);
    site.write(".gitignore", "build/\n");
    (0..BRANCH_FILES).for_each(|number| write(number, 3));
    git(&site, &["add", "."]);
    git(&site, &["commit", "--quiet", "--message=one"]);
    git(&site, &["checkout", "--quiet", "-b", "two"]);
    site.write(".gitignore", "other/\n");
    (0..BRANCH_FILES / 2).for_each(|number| write(number, 5));
    for number in BRANCH_FILES / 2..BRANCH_FILES {
        fs::remove_file(site.workspace().join(format!("d{}/f{number}.txt", number % 60))).unwrap();
    }
    git(&site, &["add", "."]);
    git(&site, &["commit", "--quiet", "--message=two"]);
    // Ignored by one of them alone.
    site.write("build/made.txt", format!("{NEEDLE}\n"));
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    for round in 0..(searches / 200).max(4) {
        git(&site, &["checkout", "--quiet", "one"]);
        let found = search(&caller, NEEDLE).await;
        let counts = (&found["files_matched"], &found["files_searched"]);
        assert_eq!(counts, (&json!(BRANCH_FILES / 3), &json!(BRANCH_FILES + 1)), "round {round}");
        if round == 0 {
            // From here on it also knows those of this branch.
            ready(&caller).await;
        }
        git(&site, &["checkout", "--quiet", "two"]);
        let found = search(&caller, NEEDLE).await;
        let counts = (&found["files_matched"], &found["files_searched"]);
        let expected = (json!(BRANCH_FILES / 10 + 1), json!(BRANCH_FILES / 2 + 2));
        assert_eq!(counts, (&expected.0, &expected.1), "round {round}");
    }
}

/// Everything that the index keeps on disk.
pub(crate) fn stored(site: &Site) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut left = vec![site.outside("cache")];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false => bytes.extend(fs::read(path).unwrap()),
            }
        }
    }
    bytes
}

pub(crate) fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

pub(crate) const DENY: &str = "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"secret/**\"]\n\
                    decision = \"deny\"\n";

#[tokio::test]
async fn what_the_policy_denies_is_in_no_answer_and_not_in_the_files_of_the_index() {
    let site = Site::new();
    site.user_policy(DENY);
    site.write("open/plain_name.txt", format!("{NEEDLE}\n"));
    site.write("secret/hidden_name.txt", format!("{NEEDLE}\n"));
    site.write(".env", format!("KEY={NEEDLE}\n"));
    site.write("late/closed_later.txt", format!("{NEEDLE}\n"));
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let known = ready(&caller).await;
    assert_eq!((known.files, known.files_indexed), (2, 2), "{known:?}");
    let found = search(&caller, NEEDLE).await;
    let open: BTreeSet<_> =
        ["late/closed_later.txt", "open/plain_name.txt"].map(str::to_owned).into();
    assert_eq!((paths(&found), &found["skipped"]["denied"]), (open, &json!(2)), "{found}");

    // Rules of later apply to the next search, and to what is stored without one.
    site.user_policy(&DENY.replace("\"secret/**\"", "\"secret/**\", \"late/**\""));
    until("the rules are read", async || texts(&caller).await.files == 1).await;
    let found = search(&caller, NEEDLE).await;
    assert_eq!(paths(&found), ["open/plain_name.txt".to_owned()].into());
    ready(&caller).await;
    daemon.stop();
    let stored = stored(&site);
    assert!(holds(&stored, "plain_name"), "it proves nothing");
    for closed in ["hidden_name", "closed_later", ".env", NEEDLE] {
        assert!(!holds(&stored, closed), "{closed}");
    }
}

#[tokio::test]
async fn index_outlives_its_daemon_and_a_changed_file_is_read_again() {
    let site = Site::new();
    (0..300).for_each(|number| {
        site.write(&format!("f{number}.txt"), format!("word{number} of many\n"));
    });
    let daemon = site.serve();
    let known = ready(&daemon.caller().await).await;
    assert_eq!(known.files_indexed, 300);
    daemon.stop();
    site.write("f7.txt", "another text by now\n");
    fs::remove_file(site.workspace().join("f8.txt")).unwrap();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let known = ready(&caller).await;
    assert!(known.files == 299 && known.disk_bytes > 0, "{known:?}");
    for (pattern, files) in [("word7\\b", 0), ("another text", 1), ("word8\\b", 0), ("word9\\b", 1)]
    {
        assert_eq!(search(&caller, pattern).await["files_matched"], files, "{pattern}");
    }
}

#[tokio::test]
async fn unsaved_text_is_searched_in_place_of_the_file() {
    let site = Site::new();
    site.write("a.txt", "text on disk\n");
    site.write("b.txt", "nothing of note\n");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    let mut editor = Editor::attach(&daemon.approver().await, "Code").await;
    editor.hold("a.txt", 7, Some("text that nobody saved\n")).await;
    assert_eq!(search(&caller, "nobody saved").await["files_matched"], 1);
    assert_eq!(search(&caller, "text on disk").await["files_matched"], 0);
    editor.hold("a.txt", 8, None).await;
    assert_eq!(search(&caller, "nobody saved").await["files_matched"], 0);
    assert_eq!(search(&caller, "text on disk").await["files_matched"], 1);
}

#[tokio::test]
async fn person_sees_rebuilds_and_clears_it() {
    let site = Site::new();
    site.write("a.txt", "some text\n");
    let ended = site.run(&["index", "status"]);
    assert_eq!(ended.code, Some(5), "{ended:?}");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    let shown = site.run(&["index", "status"]).stdout;
    assert!(shown.contains("texts: ready, 1 files"), "{shown}");
    let ended = site.run(&["index", "clear"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("moss index rebuild"), "{ended:?}");
    let rebuilt = site.run(&["index", "rebuild", "--wait"]);
    assert!(rebuilt.stdout.contains("texts: ready, 1 files"), "{rebuilt:?}");
    assert!(rebuilt.stderr.contains("texts: building, 0 of "), "{rebuilt:?}");
    let shown = site.run(&["index", "status", "--wait", "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["texts"]["state"], "ready", "{shown}");
    assert!(shown["texts"]["age_s"].is_u64(), "{shown}");
    assert_eq!(search(&caller, "some text").await["files_matched"], 1);
    let shown = site.run(&["index", "status", "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(
        (&shown["texts"]["files_indexed"], &shown["texts"]["problem"]),
        (&json!(1), &json!(""))
    );
    daemon.stop();
    assert!(holds(&stored(&site), "a.txt"), "it proves nothing");
    let ended = site.run(&["index", "clear"]);
    assert!(ended.code == Some(0) && ended.stdout.starts_with("removed "), "{ended:?}");
    assert!(!holds(&stored(&site), "a.txt"));
}
