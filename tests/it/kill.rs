//! The daemon is killed again and again in the midst of confirmed edits, and started again: every
//! file is whole, every change set is whole or absent, and the history tells the same story.

use std::time::Duration;

use moss_proto::v1;
use serde_json::json;
use tokio::sync::oneshot;

use crate::harness::guests::{install, spread};
use crate::harness::{Client, Daemon, Site, Watcher, failure, output, until, waiting, within};

/// How often the daemon is killed at least.
const KILLS_MIN: u64 = 50;
/// How many edits there are at least: without edits nothing is tested.
const EDITS_MIN: usize = 60;
/// How often it is killed at most to come to so many.
const KILLS_MAX: u64 = 300;
/// Longest time that a daemon gets from the first question until it is killed.
const LIFE_MAX: Duration = Duration::from_millis(120);
/// The files of the change set.
const FILES: [&str; 3] = ["f0.txt", "f1.txt", "f2.txt"];
/// The largest file of another program that recovery keeps, in bytes.
const KEPT_BYTES_MAX: u64 = 256 << 20;
/// Makes contents larger than one block.
const PADDING: usize = 6000;

/// What the plugin is told to write, and so the content of each file.
fn content(number: u64) -> String {
    json!({ "number": number, "padding": "x".repeat(PADDING) }).to_string()
}

/// The number that stands in all files of the change set.
fn number_in_files(site: &Site) -> u64 {
    let texts = FILES.map(|file| site.read(file));
    let number = texts[0].trim_start_matches("{\"number\":").split(',').next().unwrap();
    let number = number.parse().unwrap_or_else(|_| panic!("torn: {:.80}", texts[0]));
    for (file, text) in FILES.iter().zip(&texts) {
        assert_eq!(*text, content(number), "{file} is torn, or of another change set");
    }
    number
}

/// How many lines a log has.
pub(crate) fn lines_of(site: &Site, path: &str) -> u64 {
    let text = site.read(path);
    let lines: Vec<_> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(*line, format!("line {index}"), "{path} is torn");
    }
    assert!(text.ends_with('\n'));
    lines.len() as u64
}

/// Approves everything until the daemon is gone. Reports when there is something to approve.
async fn approve_all(approver: Client, mut watcher: Watcher, begun: oneshot::Sender<()>) {
    let mut begun = Some(begun);
    while let Some(question) = watcher.next_or_gone().await {
        if let Some(begun) = begun.take() {
            begun.send(()).unwrap();
        }
        if question.state() == v1::ConfirmationState::Pending {
            // The daemon may be gone by now.
            let _ = approver.approve(&question).await;
        }
    }
}

/// Writes change sets with rising numbers until the daemon is gone; returns the last answered one.
async fn write_sets(client: Client, first: u64) -> Option<u64> {
    let mut answered = None;
    for number in first.. {
        let arguments = serde_json::from_str(&content(number)).unwrap();
        let Ok(result) = client.call(waiting("spread", arguments)).await else { break };
        output(&result);
        answered = Some(number);
    }
    answered
}

/// Appends lines until the daemon is gone; returns how many lines were answered as written.
async fn append_lines(client: Client, first: u64) -> u64 {
    let mut lines = first;
    loop {
        let append = json!({"path": "log.txt", "line": lines + 1, "text": format!("line {lines}")});
        let Ok(result) = client.call(waiting("insert_line", append)).await else { break };
        output(&result);
        lines += 1;
    }
    lines
}

/// Reads the whole history, newest first.
pub(crate) async fn entries_of(client: &Client) -> Vec<v1::HistoryEntry> {
    let mut entries = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = v1::ListHistoryRequest { page_size: 500, page_token, ..Default::default() };
        let page = client.history().list_history(request).await.unwrap().into_inner();
        entries.extend(page.entries);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            return entries;
        }
    }
}

/// Holds the history to the files: the newest entry of each file has its content.
async fn assert_history(site: &Site, client: &Client) -> usize {
    let entries = entries_of(client).await;
    for path in FILES.iter().chain(&["log.txt"]) {
        let hash = blake3::hash(&site.bytes(path)).to_hex();
        let changes = entries.iter().flat_map(|entry| &entry.changes);
        if let Some(newest) = changes.into_iter().find(|change| change.path == *path) {
            assert_eq!(newest.hash_after, hash.as_str(), "the newest entry of {path}");
        }
    }
    for entry in &entries {
        let files = if entry.tool == "spread" { 3 } else { 1 };
        assert_eq!(entry.changes.len(), files, "{entry:?}");
    }
    entries.len()
}

fn assert_nothing_left_over(site: &Site) {
    let mut names: Vec<_> = site.snapshot().into_iter().map(|(path, _)| path).collect();
    names.retain(|path| {
        !path.ends_with("log.txt") && !FILES.iter().any(|file| path.ends_with(file))
    });
    assert!(names.is_empty(), "left behind: {names:?}");
}

/// Starts editing, and kills the daemon a random while later; returns what was answered.
async fn killed(site: &Site, daemon: Daemon, set: u64, lines: u64) -> (Option<u64>, u64) {
    let client = daemon.caller().await;
    let approver = daemon.approver().await;
    let (begun, begins) = oneshot::channel();
    let approving = tokio::spawn(approve_all(approver.clone(), approver.watch().await, begun));
    until("the plugin is there", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    let sets = tokio::spawn(write_sets(client.clone(), set));
    let log = tokio::spawn(append_lines(daemon.caller().await, lines));
    let life = LIFE_MAX.mul_f64(f64::from(getrandom::u32().unwrap()) / f64::from(u32::MAX));
    within("the first question", begins).await.unwrap();
    // The approver lives as long as the daemon: this is a wait for the random instant.
    let _ = tokio::time::timeout(life, approving).await;
    daemon.kill();
    assert!(site.socket().exists(), "it had no time to tidy up");
    (sets.await.unwrap(), log.await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_among_edits_the_daemon_leaves_whole_files_and_a_true_history() {
    let site = Site::new();
    for file in FILES {
        site.write(file, content(0));
    }
    site.write("log.txt", "line 0\n");
    install(&site, &[("spread", &spread(), json!({}))]);
    let (mut set, mut lines) = (0, 1);
    let (mut kill, mut entries) = (0, 0);
    let mut daemon = site.serve();
    while kill < KILLS_MIN || entries < EDITS_MIN {
        assert!(kill < KILLS_MAX, "only {entries} edits in {kill} lives");
        let (answered_set, answered_lines) = killed(&site, daemon, set + 1, lines).await;
        // Recovery happens at the next start.
        daemon = site.serve();
        let client = daemon.caller().await;
        let found = number_in_files(&site);
        let least = answered_set.unwrap_or(set);
        assert!(
            (least..=least + 1).contains(&found),
            "kill {kill}: answered {least}, found {found}"
        );
        let found_lines = lines_of(&site, "log.txt");
        assert!(
            (answered_lines..=answered_lines + 1).contains(&found_lines),
            "kill {kill}: answered {answered_lines} lines, found {found_lines}"
        );
        let count = assert_history(&site, &client).await;
        assert_eq!(count as u64, found + found_lines - 1, "kill {kill}: entries of the history");
        assert_nothing_left_over(&site);
        (set, lines, entries) = (found, found_lines, count);
        kill += 1;
    }
    daemon.stop();
    let verified = site.run(&["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    // Everything can still be undone.
    site.user_policy("version = 1\n[[rule]]\neffects = [\"write\"]\ndecision = \"allow\"\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    for entry in entries_of(&client).await {
        output(&client.undo(entry.number).await.unwrap());
    }
    assert_eq!(number_in_files(&site), 0);
    assert_eq!(site.read("log.txt"), "line 0\n");
}

/// Leaves the newest change as a kill does among its exchanges; returns the name of what lies beside its file.
fn interrupt(site: &Site) -> String {
    let store = rusqlite::Connection::open(site.workspace_state().join("history.sqlite")).unwrap();
    let sql = "UPDATE entries SET committed = 0 WHERE number = (SELECT max(number) FROM entries)";
    assert_eq!(store.execute(sql, []).unwrap(), 1);
    let sql = "SELECT temp FROM files ORDER BY entry DESC LIMIT 1";
    store.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn a_file_that_recovery_cannot_keep_is_named_and_the_daemon_reads_meanwhile() {
    let site = Site::allowing();
    let daemon = site.serve();
    let edit = |path: &str| json!({"path": path, "content": "new\n"});
    daemon.caller().await.done("create_file", edit("a.txt")).await;
    daemon.kill();
    let beside = interrupt(&site);
    // Another program has written both names meanwhile.
    site.write("a.txt", "another program's\n");
    let large = std::fs::File::create(site.workspace().join(&beside)).unwrap();
    large.set_len(KEPT_BYTES_MAX + 1).unwrap();

    for _ in 0..2 {
        let daemon = site.serve();
        assert!(daemon.log().contains(&beside), "{}", daemon.log());
        let client = daemon.caller().await;
        let read = client.done("read_file", json!({"path": "a.txt"})).await;
        assert!(read.to_string().contains("another program's"), "{read}");
        let refused = client.ran("create_file", edit("b.txt")).await;
        let error = failure(&refused);
        assert_eq!(error.code, "too_large", "{error:?}");
        assert!(error.message.contains(&beside), "{error:?}");
        assert!(error.hint.contains("move it away"), "{error:?}");
        assert!(!site.has("b.txt"));
        daemon.kill();
    }
    assert_eq!(large.metadata().unwrap().len(), KEPT_BYTES_MAX + 1);
    assert!(site.has(&beside));

    let daemon = site.serve();
    let client = daemon.caller().await;
    let away = site.outside("away");
    std::fs::rename(site.workspace().join(&beside), away).unwrap();
    client.done("create_file", edit("b.txt")).await;
    assert_eq!(
        (site.read("a.txt").as_str(), site.read("b.txt").as_str()),
        ("another program's\n", "new\n")
    );
    let entries = entries_of(&client).await;
    let changed: Vec<_> = entries.iter().flat_map(|entry| &entry.changes).collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert_eq!(changed[0].path, "b.txt");
}
