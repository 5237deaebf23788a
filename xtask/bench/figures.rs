//! What is measured, and how often.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use moss_xtask::rows::{Row, Spread};
use prost::Message as _;
use serde_json::json;

use crate::bare::ResponseSize;
use crate::caller::{BenchClient, done};
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// Connections of each side, one after the other: which threads serve a connection moves all its figures together.
const CONNECTIONS: usize = 10;
/// Calls of each connection before any is measured.
const WARM_UP: usize = 50;
const READS: usize = 6000;
const REFUSALS: usize = 6000;
const EDITS: usize = 600;
const PLUGIN_CALLS: usize = 500;
/// Calls between the two measurements of memory.
const MEMORY_CALLS: usize = 1000;
const STARTS: usize = 20;
const COMMANDS: usize = 50;
/// Of so many refused calls each is recorded in full, more than are made.
const RECORD_ALL: &str = "[journal]\nrefusals_burst = 1_000_000\nrefusals_per_second = 1_000_000\n";
/// The row of refused calls, most of which are counted together.
const REFUSED: &str = "call refused by policy";
/// Longest wait for plugins to be compiled.
const PLUGINS_WAIT_MAX: Duration = Duration::from_secs(60);

/// What to call: the tool and the arguments of the n-th call.
pub(crate) type BenchCall = (&'static str, fn(usize) -> String);

pub(crate) const READ: BenchCall = ("read_file", |_| json!({ "path": "src/read.rs" }).to_string());
const EDIT: BenchCall = ("replace_lines", |number| {
    let line = format!("// edit {number:06}");
    json!({ "path": "src/edited.rs", "startLine": 1, "endLine": 1, "newText": line }).to_string()
});
const COUNT: BenchCall = ("word_count", |_| json!({ "path": "docs" }).to_string());
const DELETE: BenchCall = ("delete_file", |_| json!({ "path": "src/read.rs" }).to_string());

/// Measures single calls, memory and the start.
pub(crate) async fn measure(place: &Testbed) -> Result<Vec<Row>> {
    eprintln!("measuring; this takes about a minute");
    let (daemon, caller) = ServerProcess::daemon(place).await?;
    ready(&caller).await?;
    let idle = daemon.resident_bytes()?;
    for number in 0..MEMORY_CALLS {
        one(&caller, READ, number).await?;
    }
    let used = daemon.resident_bytes()?;
    let mut figures = calls(place, &caller).await?;
    figures.extend([
        memory("memory, idle, one plugin loaded", idle),
        memory("memory after 1,000 calls", used),
    ]);
    figures.push(command(place, "`moss call read_file`, with a daemon")?);
    drop(caller);
    daemon.stop().await?;
    figures.push(command(place, "`moss call read_file`, without")?);
    let after = figures.iter().position(|row| row.name == REFUSED).map_or(0, |index| index + 1);
    figures.insert(after, recorded_refusals(place).await?);
    figures.push(start(place).await?);
    Ok(figures)
}

/// Calls over gRPC, in pairs with the bare server.
async fn calls(place: &Testbed, caller: &BenchClient) -> Result<Vec<Row>> {
    let mut answers = Vec::new();
    for call in [READ, EDIT, COUNT] {
        let bytes = done(one(caller, call, 0).await?)?.encoded_len();
        answers.push(ResponseSize { tool: call.0.to_owned(), bytes });
    }
    answers.push(refusal(caller).await?);
    let (bare, bare_caller) = ServerProcess::bare(place, &answers).await?;
    drop(bare_caller);
    let figures = vec![
        paired("read_file, 16 KiB", place, READ, READS).await?.wanted("ratio ≤ 1.12"),
        paired("plugin call, 8 small files", place, COUNT, PLUGIN_CALLS)
            .await?
            .wanted("ratio ≤ 1.3"),
        paired(REFUSED, place, DELETE, REFUSALS).await?.wanted("ratio ≤ 1.3"),
        paired("edit, durable", place, EDIT, EDITS).await?.wanted("ratio ≤ 2.0"),
    ];
    bare.stop().await?;
    Ok(figures)
}

/// Calls that are refused, by a daemon that records each of them.
async fn recorded_refusals(place: &Testbed) -> Result<Row> {
    place.configure(RECORD_ALL)?;
    let (daemon, caller) = ServerProcess::daemon(place).await?;
    let (bare, bare_caller) = ServerProcess::bare(place, &[refusal(&caller).await?]).await?;
    drop((caller, bare_caller));
    let row = paired("call refused by policy, each recorded", place, DELETE, REFUSALS).await?;
    bare.stop().await?;
    daemon.stop().await?;
    place.configure("")?;
    Ok(row)
}

/// How long the response to a refused call is.
async fn refusal(caller: &BenchClient) -> Result<ResponseSize> {
    let Err(refusal) = caller.call(DELETE.0, DELETE.1(0)).await else {
        bail!("a deletion is not refused");
    };
    let bytes = refusal.message().len() + refusal.details().len();
    Ok(ResponseSize { tool: DELETE.0.to_owned(), bytes })
}

/// Measures both sides in turns: whatever else the machine does meets both.
async fn paired(name: &'static str, place: &Testbed, call: BenchCall, count: usize) -> Result<Row> {
    let (mut with, mut without) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut numbers = 1..;
    let mut next = || numbers.next().context("numbers end");
    for _ in 0..CONNECTIONS {
        let moss = BenchClient::connect(&place.daemon_socket(), || place.caller_token()).await?;
        let bare = BenchClient::connect(&place.bare_socket(), || Ok("none".to_owned())).await?;
        for _ in 0..WARM_UP {
            timed(&moss, call, next()?).await?;
            timed(&bare, call, next()?).await?;
        }
        for turn in 0..count / CONNECTIONS {
            // Who is first takes turns.
            if turn % 2 == 0 {
                with.push(timed(&moss, call, next()?).await?);
                without.push(timed(&bare, call, next()?).await?);
            } else {
                without.push(timed(&bare, call, next()?).await?);
                with.push(timed(&moss, call, next()?).await?);
            }
        }
    }
    Ok(Row::timed(name, with).against(Spread::of(without)))
}

async fn timed(caller: &BenchClient, call: BenchCall, number: usize) -> Result<Duration> {
    let arguments = call.1(number);
    let started = Instant::now();
    let response = caller.call(call.0, arguments).await;
    let duration = started.elapsed();
    match response {
        Err(status) if call.0 == DELETE.0 && status.code() == tonic::Code::PermissionDenied => {}
        response => {
            done(response.with_context(|| call.0)?)?;
        }
    }
    Ok(duration)
}

async fn one(
    caller: &BenchClient,
    call: BenchCall,
    number: usize,
) -> Result<moss_proto::v1::CallToolResponse> {
    caller.call(call.0, call.1(number)).await.with_context(|| call.0)
}

/// Waits until every plugin is ready.
pub(crate) async fn ready(caller: &BenchClient) -> Result<()> {
    ready_within(caller, PLUGINS_WAIT_MAX).await
}

/// Waits so long until every plugin is ready.
pub(crate) async fn ready_within(caller: &BenchClient, longest: Duration) -> Result<()> {
    let started = Instant::now();
    while !caller.plugins_are_ready().await? {
        if started.elapsed() > longest {
            bail!("the plugins are not ready after {longest:?}");
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// Whole processes of the command line.
fn command(place: &Testbed, name: &'static str) -> Result<Row> {
    let mut durations = Vec::with_capacity(COMMANDS);
    for _ in 0..COMMANDS {
        let mut command = place.moss();
        command.args(["call", "read_file", "path=src/read.rs", "--json"]).stdin(Stdio::null());
        let started = Instant::now();
        let output = command.output().context("cannot start moss")?;
        durations.push(started.elapsed());
        if !output.status.success() {
            bail!("`moss call` failed: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    Ok(Row::timed(name, durations).wanted("< 50 ms"))
}

/// From the start of the process to its first answer.
async fn start(place: &Testbed) -> Result<Row> {
    let mut durations = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let (daemon, caller) = ServerProcess::daemon(place).await?;
        durations.push(daemon.start);
        drop(caller);
        daemon.stop().await?;
    }
    Ok(Row::timed("start to first response", durations).wanted("< 100 ms"))
}

/// What a daemon holds.
pub(crate) fn memory(name: &str, bytes: u64) -> Row {
    Row::bytes(name, bytes).wanted("< 60 MiB")
}
