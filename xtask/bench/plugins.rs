//! Plugins: calls in this process against the bare engine, many clients, a change of a component, a
//! start with many plugins, and what each of them holds.

mod copies;
mod in_process;
mod reload;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use prost::Message as _;
use serde_json::json;
use tokio::task::JoinSet;

use crate::bare::Answer;
use crate::caller::{Caller, done};
use crate::figures::ready;
use crate::place::{CLIENTS, Place};
use crate::process::Server;
use crate::report::{Figure, Value};

/// How long the clients call, on either side.
const LENGTH: Duration = Duration::from_secs(10);
/// Plugins at a start.
const PLUGINS: usize = 50;
const STARTS: usize = 10;
const TOOL: &str = "word_count";

/// Measures everything.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Figure>> {
    eprintln!("measuring; this takes about a minute");
    let mut figures = in_process::measure(place).await?;
    figures.push(many_clients(place).await?);
    figures.extend(reload::measure(place).await?);
    let one = with_plugins(place, 1, 1).await?;
    let many = with_plugins(place, PLUGINS, STARTS).await?;
    let each = many.resident_bytes.saturating_sub(one.resident_bytes) / (PLUGINS as u64 - 1);
    let first = Value::Durations(many.first.into());
    let cached = Value::Durations(many.cached.into());
    figures.extend([
        Figure {
            name: "start, 50 plugins to be compiled",
            value: first,
            baseline: None,
            target: None,
        },
        Figure {
            name: "start, 50 plugins kept",
            value: cached,
            baseline: None,
            target: Some("< 300 ms"),
        },
        Figure {
            name: "memory of each of 50 plugins",
            value: Value::Bytes(each),
            baseline: None,
            target: None,
        },
    ]);
    Ok(figures)
}

/// Many clients that only call a plugin: moss, then the bare server.
async fn many_clients(place: &Place) -> Result<Figure> {
    eprintln!("{CLIENTS} clients, {LENGTH:?} with moss and {LENGTH:?} without");
    place.list_copies(&place.copies(0)?)?;
    let (daemon, caller) = Server::daemon(place).await?;
    ready(&caller).await?;
    let answer = done(caller.call(TOOL, arguments()).await?)?;
    let answers = [Answer { tool: TOOL.to_owned(), bytes: answer.encoded_len() }];
    let moss = clients(place.daemon_socket(), place.caller_token()?).await?;
    drop(caller);
    daemon.stop().await?;
    let (server, caller) = Server::bare(place, &answers).await?;
    let bare = clients(place.bare_socket(), "none".to_owned()).await?;
    drop(caller);
    server.stop().await?;
    let seconds = LENGTH.as_secs();
    let (with, without) = (moss.len() as u64 / seconds, bare.len() as u64 / seconds);
    println!("\nplugin calls a second, {CLIENTS} clients: {with} with moss, {without} without");
    Ok(Figure {
        name: "plugin call, 64 clients at once",
        value: Value::Durations(moss.into()),
        baseline: Some(Value::Durations(bare.into())),
        target: None,
    })
}

async fn clients(socket: std::path::PathBuf, token: String) -> Result<Vec<Duration>> {
    let mut clients = JoinSet::new();
    let end = Instant::now() + LENGTH;
    for _ in 0..CLIENTS {
        let (socket, token) = (socket.clone(), token.clone());
        clients.spawn(async move {
            let caller = Caller::connect(&socket, || Ok(token.clone())).await?;
            client(&caller, end).await
        });
    }
    let mut all = Vec::new();
    while let Some(ended) = clients.join_next().await {
        all.extend(ended.context("a client broke")??);
    }
    Ok(all)
}

async fn client(caller: &Caller, end: Instant) -> Result<Vec<Duration>> {
    let mut durations = Vec::new();
    loop {
        let started = Instant::now();
        if started >= end {
            return Ok(durations);
        }
        done(caller.call(TOOL, arguments()).await.context(TOOL)?)?;
        durations.push(started.elapsed());
    }
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

async fn with_plugins(place: &Place, plugins: usize, starts: usize) -> Result<Starts> {
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
async fn start(place: &Place) -> Result<(Duration, u64)> {
    let started = Instant::now();
    let (daemon, caller) = Server::daemon(place).await?;
    ready(&caller).await?;
    let duration = started.elapsed();
    let bytes = daemon.resident_bytes()?;
    drop(caller);
    daemon.stop().await?;
    Ok((duration, bytes))
}
