//! Plugins: calls in this process against the bare engine, many clients, a change of a component, a
//! start with many plugins, and what each of them holds.

pub(crate) mod copies;
mod in_process;
mod reload;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use moss_xtask::rows::{Row, Spread};
use prost::Message as _;
use serde_json::json;

use crate::bare::ResponseSize;
use crate::caller::done;
use crate::crowd::Crowd;
use crate::figures::ready;
use crate::process::ServerProcess;
use crate::testbed::{CLIENTS, Testbed};

/// How long the clients call, on either side.
const LENGTH: Duration = Duration::from_secs(10);
/// Plugins at a start.
const PLUGINS: usize = 50;
const STARTS: usize = 10;
const TOOL: &str = "word_count";

/// Measures plugins in process, at a daemon, when a file changes and at the start.
pub(crate) async fn measure(place: &Testbed) -> Result<Vec<Row>> {
    eprintln!("measuring; this takes about a minute");
    let mut rows = in_process::measure(place).await?;
    rows.extend(many_clients(place).await?);
    rows.extend(reload::measure(place).await?);
    let one = with_plugins(place, 1, 1).await?;
    let many = with_plugins(place, PLUGINS, STARTS).await?;
    let each = many.resident_bytes.saturating_sub(one.resident_bytes) / (PLUGINS as u64 - 1);
    rows.extend([
        Row::timed("start, 50 plugins to be compiled", many.first),
        Row::timed("start, 50 plugins kept", many.cached).wanted("< 300 ms"),
        Row::bytes("memory of each of 50 plugins", each),
    ]);
    Ok(rows)
}

/// Many clients that only call a plugin: moss, then the bare server.
async fn many_clients(place: &Testbed) -> Result<[Row; 2]> {
    eprintln!("{CLIENTS} clients, {LENGTH:?} with moss and {LENGTH:?} without");
    place.list_copies(&place.copies(0)?)?;
    let (daemon, caller) = ServerProcess::daemon(place).await?;
    ready(&caller).await?;
    let answer = done(caller.call(TOOL, arguments()).await?)?;
    let answers = [ResponseSize { tool: TOOL.to_owned(), bytes: answer.encoded_len() }];
    let call = Arc::new(|_, _| (TOOL.to_owned(), arguments()));
    let crowd = Crowd { clients: CLIENTS, length: LENGTH, call };
    let moss = crowd.run(place.daemon_socket(), place.caller_token()?).await?;
    drop(caller);
    daemon.stop().await?;
    let (server, caller) = ServerProcess::bare(place, &answers).await?;
    let bare = crowd.run(place.bare_socket(), "none".to_owned()).await?;
    drop(caller);
    server.stop().await?;
    let (with, without) = (crowd.per_second(moss.len()), crowd.per_second(bare.len()));
    Ok([
        Row::per_second("plugin calls, 64 clients at once", with).against(Spread::single(without)),
        Row::timed("plugin call, 64 clients at once", moss).against(Spread::of(bare)),
    ])
}

fn arguments() -> String {
    json!({ "path": "docs" }).to_string()
}

/// What a daemon with so many plugins takes.
struct Starts {
    /// From the start of the process to the last plugin, with everything to compile.
    first: Vec<Duration>,
    /// The same with what was kept.
    cached: Vec<Duration>,
    resident_bytes: u64,
}

async fn with_plugins(place: &Testbed, plugins: usize, starts: usize) -> Result<Starts> {
    place.list_copies(&place.copies(plugins)?)?;
    let (first, _) = start(place).await?;
    let (mut cached, mut resident_bytes) = (Vec::with_capacity(starts), 0);
    for _ in 0..starts {
        let (duration, bytes) = start(place).await?;
        cached.push(duration);
        resident_bytes = bytes;
    }
    Ok(Starts { first: vec![first], cached, resident_bytes })
}

/// Starts a daemon until every plugin is ready. Returns how long that took and what it holds then.
async fn start(place: &Testbed) -> Result<(Duration, u64)> {
    let started = Instant::now();
    let (daemon, caller) = ServerProcess::daemon(place).await?;
    ready(&caller).await?;
    let duration = started.elapsed();
    let bytes = daemon.resident_bytes()?;
    drop(caller);
    daemon.stop().await?;
    Ok((duration, bytes))
}
