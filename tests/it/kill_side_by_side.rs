//! The daemon is killed again and again while many clients edit files of their own at once: every
//! answered edit is in its file, in the history and in the audit journal, every file is whole, and
//! all three tell the same story.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Client, Daemon, Site, output, refusing};
use crate::journal::records;
use crate::kill::{entries_of, lines_of};

/// How often the daemon is killed, where nobody says so.
const KILLS: u64 = 20;
/// The variable that says so.
const KILLS_SAID: &str = "MOSS_TEST_KILLS";
/// Kills in one workspace: everything that was ever answered is looked at after each.
const KILLS_PER_SITE: u64 = 50;
/// Kills beyond those, until each client has had an edit answered.
const KILLS_MORE_MAX: u64 = 100;
/// Clients that edit at once.
const CLIENTS: usize = 8;
/// Longest time that a daemon gets from the first answer until it is killed.
const LIFE_MAX: Duration = Duration::from_millis(120);

fn log(client: usize) -> String {
    format!("logs/{client}.txt")
}

/// An edit that was answered as done.
struct Answered {
    call_id: String,
    history: u64,
}

/// What a client received.
#[derive(Default)]
struct Appended {
    lines: u64,
    edits: Vec<Answered>,
}

/// Appends lines to the log of a client until the daemon is gone.
async fn append_lines(client: Client, number: usize, first: u64) -> Appended {
    let mut appended = Appended { lines: first, edits: Vec::new() };
    loop {
        let (line, text) = (appended.lines + 1, format!("line {}", appended.lines));
        let append = json!({ "path": log(number), "line": line, "text": text });
        let Ok(result) = client.call(refusing("insert_line", append)).await else { break };
        output(&result);
        appended.edits.push(Answered { call_id: result.call_id, history: result.history });
        appended.lines += 1;
    }
    appended
}

/// Lets all clients append, and kills the daemon a random while later.
async fn killed(site: &Site, daemon: Daemon, lines: &[u64]) -> Vec<Appended> {
    let mut clients = Vec::new();
    for (number, first) in lines.iter().enumerate() {
        clients.push(tokio::spawn(append_lines(daemon.caller().await, number, *first)));
    }
    let life = LIFE_MAX.mul_f64(f64::from(getrandom::u32().unwrap()) / f64::from(u32::MAX));
    // Clients append as long as the daemon lives: this is a wait for the random instant.
    let ended = tokio::time::timeout(life, &mut clients[0]).await;
    assert!(ended.is_err(), "a client met an error before the daemon was killed");
    daemon.kill();
    assert!(site.socket().exists(), "it had no time to tidy up");
    let mut appended = Vec::new();
    for client in clients {
        appended.push(client.await.unwrap());
    }
    appended
}

/// The numbers in the history of what calls have changed, as the audit journal has them.
fn committed(site: &Site) -> BTreeMap<String, Value> {
    let records = records(site).into_iter().filter(|record| record["kind"] == "committed");
    records.map(|mut r| (r["call_id"].take().as_str().unwrap().to_owned(), r)).collect()
}

fn finished(site: &Site) -> BTreeSet<String> {
    let records = records(site).into_iter();
    let finished = records.filter(|r| r["kind"] == "call_finished" && r["outcome"] == "ok");
    finished.map(|record| record["call_id"].as_str().unwrap().to_owned()).collect()
}

/// Kills the daemon of a new workspace so often, and looks at everything after each time.
async fn keeps_its_promises(kills: u64) {
    let site = Site::allowing();
    for client in 0..CLIENTS {
        site.write(&log(client), "line 0\n");
    }
    let mut lines = [1; CLIENTS];
    let mut daemon = site.serve();
    for kill in 0..kills + KILLS_MORE_MAX {
        // On a busy machine somebody may never have had its turn so far.
        if kill >= kills && lines.iter().all(|lines| *lines > 1) {
            break;
        }
        let appended = killed(&site, daemon, &lines).await;
        // Recovery happens at the next start.
        daemon = site.serve();
        let entries = entries_of(&daemon.caller().await).await;
        let (committed, finished) = (committed(&site), finished(&site));
        for (client, appended) in appended.iter().enumerate() {
            let path = log(client);
            let (found, answered) = (lines_of(&site, &path), appended.lines);
            assert!(
                (answered..=answered + 1).contains(&found),
                "kill {kill}: {path}: answered {answered} lines, found {found}"
            );
            lines[client] = found;
            let newest = entries.iter().flat_map(|entry| &entry.changes).find(|c| c.path == path);
            let hash = blake3::hash(&site.bytes(&path)).to_hex();
            assert!(newest.is_none_or(|change| change.hash_after == hash.as_str()), "{path}");
            for edit in &appended.edits {
                let entry = entries.iter().find(|entry| entry.number == edit.history).unwrap();
                assert_eq!(entry.call_id, edit.call_id);
                assert_eq!(committed[&edit.call_id]["history"], edit.history);
                assert!(finished.contains(&edit.call_id), "kill {kill}: {}", edit.call_id);
            }
        }
        let expected = lines.iter().map(|lines| lines - 1).sum::<u64>();
        assert_eq!(entries.len() as u64, expected, "kill {kill}: entries of the history");
        // What is recorded as committed is in the history: nothing was rolled back after that.
        let numbers: BTreeSet<u64> = entries.iter().map(|entry| entry.number).collect();
        for record in committed.values() {
            assert!(numbers.contains(&record["history"].as_u64().unwrap()), "{record}");
        }
        let names = site.snapshot().into_iter().filter(|(_, content)| content.is_some());
        assert_eq!(names.count(), CLIENTS, "kill {kill}: something is left behind");
    }
    assert!(lines.iter().all(|lines| *lines > 1), "{lines:?}");
    daemon.stop();
    let verified = site.run(&["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_among_edits_of_many_clients_the_daemon_keeps_every_answered_edit() {
    let mut left = std::env::var(KILLS_SAID).map_or(KILLS, |said| said.parse().unwrap());
    while left > 0 {
        let kills = left.min(KILLS_PER_SITE);
        keeps_its_promises(kills).await;
        left -= kills;
    }
}
