//! What grows, and what that costs: clients, plugins, files. Each step against the bare server.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use moss_xtask::rows::{Row, Spread, grouped};
use prost::Message as _;
use serde_json::json;

use crate::bare::ResponseSize;
use crate::caller::{BenchClient, done};
use crate::crowd::Crowd;
use crate::figures::{READ, ready_within};
use crate::plugins::copies::tool_of;
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// How many clients there are at once, for each point.
const CLIENTS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// How long so many clients read, on either side.
const READING: Duration = Duration::from_secs(3);
/// Plugins in the list, and the clients that call them in turns.
const PLUGINS: [usize; 3] = [1, 50, 500];
const PLUGIN_CLIENTS: usize = 16;
const CALLING: Duration = Duration::from_secs(5);
/// Longest wait for all plugins to be compiled.
const COMPILING_MAX: Duration = Duration::from_secs(600);
/// Files in the workspace, how large each is, and how often one is read.
const FILES: [usize; 3] = [100, 10_000, 100_000];
const FILE_BYTES: usize = 1 << 10;
const FILES_EACH: usize = 100;
const READS: usize = 2000;
/// Reads that are not measured.
const WARM_UP: usize = 100;
/// A step through the files that meets each of them.
const STRIDE: usize = 7919;
const TOOL: &str = "word_count";

/// Measures reads against clients and files, and calls of plugins against plugins.
pub(crate) async fn measure(place: &Testbed) -> Result<Vec<Row>> {
    eprintln!("measuring; this takes about four minutes");
    let mut rows = clients(place).await?;
    rows.extend(files(place).await?);
    rows.extend(plugins(place).await?);
    Ok(rows)
}

/// The latency of reads against the number of clients.
async fn clients(place: &Testbed) -> Result<Vec<Row>> {
    let (daemon, caller) = ServerProcess::daemon(place).await?;
    let (bare, bare_caller) =
        ServerProcess::bare(place, &[answer(&caller, READ.0, READ.1(0)).await?]).await?;
    let mut rows = Vec::with_capacity(CLIENTS.len());
    for clients in CLIENTS {
        let call = |_, number| (READ.0.to_owned(), READ.1(number));
        let crowd = Crowd { clients, length: READING, call: Arc::new(call) };
        let with = crowd.run(place.daemon_socket(), place.caller_token()?).await?;
        let without = crowd.run(place.bare_socket(), "none".to_owned()).await?;
        let plural = if clients == 1 { "" } else { "s" };
        let row = Row::timed(format!("read_file, {clients} client{plural}"), with);
        rows.push(row.against(Spread::of(without)).at("clients", clients as u64));
    }
    drop((caller, bare_caller));
    daemon.stop().await?;
    bare.stop().await?;
    Ok(rows)
}

/// The latency of reads against the number of files in the workspace.
async fn files(place: &Testbed) -> Result<Vec<Row>> {
    let mut rows = Vec::with_capacity(FILES.len());
    let mut written = 0;
    for files in FILES {
        for workspace in [place.workspace(), place.bare_workspace()] {
            (written..files).try_for_each(|number| write(&workspace, number))?;
        }
        written = files;
        let (daemon, caller) = ServerProcess::daemon(place).await?;
        let answers = [answer(&caller, READ.0, arguments(0)).await?];
        let (bare, bare_caller) = ServerProcess::bare(place, &answers).await?;
        let (mut with, mut without) = (Vec::with_capacity(READS), Vec::with_capacity(READS));
        for number in 0..WARM_UP + READS {
            let file = number * STRIDE % files;
            let (moss, bare) = (timed(&caller, file).await?, timed(&bare_caller, file).await?);
            if number >= WARM_UP {
                with.push(moss);
                without.push(bare);
            }
        }
        let row = Row::timed(format!("read_file among {} files", grouped(files as u64)), with);
        rows.push(row.against(Spread::of(without)).at("files", files as u64));
        drop((caller, bare_caller));
        daemon.stop().await?;
        bare.stop().await?;
    }
    Ok(rows)
}

/// How many calls of plugins a second are made, against how many plugins there are. Each call is one of
/// the next plugin; the bare server has one component, and all calls are of that.
async fn plugins(place: &Testbed) -> Result<Vec<Row>> {
    let most = PLUGINS[PLUGINS.len() - 1];
    place.configure(&format!("[plugins]\nplugins_max = {most}\n"))?;
    let mut bare_times = None;
    let mut rows = Vec::with_capacity(PLUGINS.len());
    for plugins in PLUGINS {
        eprintln!("{plugins} plugins");
        let copies = place.copies(plugins)?;
        place.list_copies(&copies)?;
        let (daemon, caller) = ServerProcess::daemon(place).await?;
        ready_within(&caller, COMPILING_MAX).await?;
        let tools: Vec<String> = copies.into_iter().map(|(plugin, _)| tool_of(&plugin)).collect();
        for tool in &tools {
            // The first call of each is not measured.
            done(caller.call(tool, count()).await?)?;
        }
        let call = move |client: usize, number: usize| {
            let tool = tools[(client + number) % tools.len()].clone();
            (tool, count())
        };
        let crowd = Crowd { clients: PLUGIN_CLIENTS, length: CALLING, call: Arc::new(call) };
        let calls = crowd.run(place.daemon_socket(), place.caller_token()?).await?.len();
        let answers = [answer(&caller, TOOL, count()).await?];
        drop(caller);
        daemon.stop().await?;
        let bare = match bare_times {
            Some(times) => times,
            None => without_plugins(place, &answers).await?,
        };
        bare_times = Some(bare);
        let plural = if plugins == 1 { "" } else { "s" };
        let row =
            Row::per_second(format!("calls, {plugins} plugin{plural}"), crowd.per_second(calls));
        rows.push(row.against(Spread::single(bare)).at("plugins", plugins as u64));
    }
    Ok(rows)
}

/// The same calls of the bare server.
async fn without_plugins(place: &Testbed, answers: &[ResponseSize]) -> Result<u64> {
    let (bare, caller) = ServerProcess::bare(place, answers).await?;
    let call = Arc::new(|_, _| (TOOL.to_owned(), count()));
    let crowd = Crowd { clients: PLUGIN_CLIENTS, length: CALLING, call };
    let calls = crowd.run(place.bare_socket(), "none".to_owned()).await?.len();
    drop(caller);
    bare.stop().await?;
    Ok(crowd.per_second(calls))
}

/// How long the daemon's answer to a call is.
async fn answer(caller: &BenchClient, tool: &str, arguments: String) -> Result<ResponseSize> {
    let bytes = done(caller.call(tool, arguments).await?)?.encoded_len();
    Ok(ResponseSize { tool: tool.to_owned(), bytes })
}

async fn timed(caller: &BenchClient, file: usize) -> Result<Duration> {
    let arguments = arguments(file);
    let started = Instant::now();
    let response = caller.call(READ.0, arguments).await?;
    let duration = started.elapsed();
    done(response)?;
    Ok(duration)
}

fn arguments(file: usize) -> String {
    json!({ "path": path(file) }).to_string()
}

fn count() -> String {
    json!({ "path": "docs" }).to_string()
}

fn path(file: usize) -> String {
    format!("many/{}/{file}.txt", file / FILES_EACH)
}

fn write(workspace: &Path, file: usize) -> Result<()> {
    let path = workspace.join(path(file));
    let directory = path.parent().context("it lies in a directory")?;
    if file.is_multiple_of(FILES_EACH) {
        fs::create_dir_all(directory)?;
    }
    let line = format!("line of file {file:06}\n");
    Ok(fs::write(&path, line.repeat(FILE_BYTES / line.len()))?)
}
