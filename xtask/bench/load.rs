//! Many clients at once, each on a connection of its own: reads, durable edits of a file of its own,
//! and calls of a plugin. First moss, then the bare server, for as long.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use moss_xtask::rows::{Row, Spread};
use prost::Message as _;
use serde_json::json;
use tokio::task::JoinSet;

use crate::bare::ResponseSize;
use crate::caller::{BenchClient, done};
use crate::figures::{memory, ready};
use crate::process::ServerProcess;
use crate::testbed::{CLIENTS, Testbed};

/// Out of so many calls of a client …
const ROUND: usize = 20;
/// … so many are edits, so many call the plugin, and the others read.
const EDITS: usize = 3;
const COUNTS: usize = 3;

/// How long the calls of one kind took.
type KindDurations = BTreeMap<&'static str, Vec<Duration>>;

/// Puts the load on both servers and measures.
pub(crate) async fn measure(place: &Testbed, seconds: u64) -> Result<Vec<Row>> {
    eprintln!("{CLIENTS} clients, {seconds} s with moss and {seconds} s without");
    let length = Duration::from_secs(seconds);
    let (daemon, caller) = ServerProcess::daemon(place).await?;
    ready(&caller).await?;
    let before = daemon.resident_bytes()?;
    let mut answers = Vec::new();
    for kind in ["read_file", "replace_lines", "word_count"] {
        let answer = caller.call(kind, arguments(kind, 0, usize::MAX)).await.context(kind)?;
        answers.push(ResponseSize { tool: kind.to_owned(), bytes: done(answer)?.encoded_len() });
    }
    let token = place.caller_token()?;
    let moss = run(place.daemon_socket(), token, length).await?;
    let after = daemon.resident_bytes()?;
    drop(caller);
    daemon.stop().await?;

    let (server, caller) = ServerProcess::bare(place, &answers).await?;
    let bare = run(place.bare_socket(), "none".to_owned(), length).await?;
    drop(caller);
    server.stop().await?;
    let total =
        |kinds: &KindDurations| kinds.values().map(Vec::len).sum::<usize>() as u64 / seconds;
    let calls = Row::per_second("calls of every kind", total(&moss));
    let mut rows = vec![calls.against(Spread::single(total(&bare))).wanted("ratio ≥ 0.8")];
    rows.extend(moss.into_iter().map(|(kind, durations)| {
        let bare = Spread::of(bare.get(kind).cloned().unwrap_or_default());
        let row = Row::timed(kind, durations).against(bare);
        if kind == "replace_lines" { row.wanted("ratio ≤ 4") } else { row }
    }));
    rows.push(memory("memory before", before));
    rows.push(memory("memory after", after));
    Ok(rows)
}

/// Lets all clients call until the time is over; a call that fails ends the measuring.
async fn run(socket: std::path::PathBuf, token: String, length: Duration) -> Result<KindDurations> {
    let mut clients = JoinSet::new();
    let end = Instant::now() + length;
    for number in 0..CLIENTS {
        let (socket, token) = (socket.clone(), token.clone());
        clients.spawn(async move {
            let caller = BenchClient::connect(&socket, || Ok(token.clone())).await?;
            client(&caller, number, end).await
        });
    }
    let mut all = KindDurations::new();
    while let Some(ended) = clients.join_next().await {
        for (kind, durations) in ended.context("a client failed")?? {
            all.entry(kind).or_default().extend(durations);
        }
    }
    Ok(all)
}

async fn client(caller: &BenchClient, number: usize, end: Instant) -> Result<KindDurations> {
    let mut kinds = KindDurations::new();
    for count in 0.. {
        // Clients begin at different positions of the round.
        let kind = match (count + number) % ROUND {
            place if place < EDITS => "replace_lines",
            place if place < EDITS + COUNTS => "word_count",
            _ => "read_file",
        };
        let arguments = arguments(kind, number, count);
        let started = Instant::now();
        if started >= end {
            break;
        }
        done(caller.call(kind, arguments).await.context(kind)?)?;
        kinds.entry(kind).or_default().push(started.elapsed());
    }
    Ok(kinds)
}

fn arguments(kind: &str, client: usize, count: usize) -> String {
    let arguments = match kind {
        "read_file" => json!({ "path": "src/read.rs" }),
        "word_count" => json!({ "path": "docs" }),
        _ => {
            let (path, text) = (Testbed::edited(client), format!("// edit {client} {count}"));
            json!({ "path": path, "startLine": 1, "endLine": 1, "newText": text })
        }
    };
    arguments.to_string()
}
