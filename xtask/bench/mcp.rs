//! What a client of the Model Context Protocol waits for: the official client for Node.js calls `moss mcp`, in
//! one process and through a daemon, in turns with the reference server for files and with a bare server that
//! returns what it is given. That one also returns the very results of moss: what the client and the pipe take
//! for them, whoever sends them. Reads and lists are measured without that client as well.

mod echo;
mod pipe;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use moss_xtask::rows::{Row, Spread};
use serde_json::{Value, json};

pub(crate) use self::echo::serve;
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// How often each call is made.
const ROUNDS: usize = 2_000;
/// How often each is made before that, unmeasured.
const WARM: usize = 200;
/// How often each server is started.
const STARTS: usize = 20;
/// Files of the directory that is listed.
const FILES: usize = 100;
/// Size of the large file, in bytes.
const FILE_BYTES: usize = 16 << 10;
/// The calls that are made without a client, too, by their names in the plan.
const BY_HAND: [&str; 5] = ["read moss", "read files", "list moss", "list files", "sizes files"];
/// The script that calls and takes the times.
const SCRIPT: &str = include_str!("mcp/measure.mjs");
/// The server for files, among the packages.
const FILESYSTEM: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";

/// What was measured, by the names of the plan.
#[derive(Debug)]
struct ClientTimes(BTreeMap<String, Vec<u64>>);

/// Measures servers with the packages of a directory of Node.js.
pub(crate) async fn measure(moss: PathBuf, directory: &Path, modules: &Path) -> Result<Vec<Row>> {
    let tree = tempfile::Builder::new().prefix("bench-tree-").tempdir_in(directory)?;
    let workspace = tree.path().canonicalize()?;
    fill(&workspace).context("cannot lay out the files to read")?;
    let alone = Testbed::of_tree(moss.clone(), directory, &workspace)?;
    let served = Testbed::of_tree(moss, directory, &workspace)?;
    let (daemon, caller) = ServerProcess::daemon(&served).await?;
    let files = Command::new("node");
    let echo = Command::new(crate::this_program()?);
    let servers = json!({
        "process": started(&alone.moss(), &["mcp", "--workspace", text(&workspace)?])?,
        "daemon": started(&served.moss(), &["mcp", "--workspace", text(&workspace)?])?,
        "files": started(&files, &[text(&modules.join(FILESYSTEM))?, text(&workspace)?])?,
        "echo": started(&echo, &["mcp-echo"])?,
    });
    let plan = json!({
        "rounds": ROUNDS, "warm": WARM, "starts": STARTS,
        "servers": servers, "calls": calls(&workspace)?,
    });
    let mut times = run(&alone, modules, &plan)?;
    let by_hand = pipe::measure(&plan, &BY_HAND)?;
    times.0.extend(by_hand.into_iter().map(|(name, taken)| (format!("bare {name}"), taken)));
    drop(caller);
    daemon.stop().await?;
    times.rows()
}

fn fill(workspace: &Path) -> Result<()> {
    std::fs::create_dir(workspace.join("listed"))?;
    for number in 0..FILES {
        std::fs::write(workspace.join(format!("listed/{number}.txt")), "some text\n")?;
    }
    let line = "    let value = compute(value, 1);\n";
    let large = line.repeat(FILE_BYTES / line.len());
    std::fs::write(workspace.join("large.rs"), format!("// The first line.\n{large}"))?;
    std::fs::write(workspace.join("small.txt"), "one line\n")?;
    Ok(())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is no UTF-8", path.display()))
}

/// A server as the script starts it.
fn started(command: &Command, arguments: &[&str]) -> Result<Value> {
    let program = command.get_program().to_str().context("a program whose name is no UTF-8")?;
    // Relative to here, where the script runs elsewhere.
    let program = match Path::new(program).components().count() {
        1 => program.to_owned(),
        _ => text(&Path::new(program).canonicalize()?)?.to_owned(),
    };
    let variable = |(name, value): (&std::ffi::OsStr, Option<&std::ffi::OsStr>)| {
        Some((name.to_str()?.to_owned(), value?.to_str()?.into()))
    };
    let environment: serde_json::Map<String, Value> =
        command.get_envs().filter_map(variable).collect();
    let mut server = json!({ "command": program, "args": arguments });
    if !environment.is_empty() {
        server["env"] = environment.into();
    }
    Ok(server)
}

/// What is called, in turns. What would change a file is shown and not done: without anybody to ask, moss
/// refuses it with the change that it would be.
fn calls(workspace: &Path) -> Result<Value> {
    let call = |name: &str, server: &str, tool: &str, given: Value| json!({ "name": name, "server": server, "tool": tool, "given": given, "fails": false });
    let at = |path: &str| json!({ "path": path });
    let (large, listed) = (workspace.join("large.rs"), workspace.join("listed"));
    let (large, listed) = (text(&large)?, text(&listed)?);
    let (old, new) = ("// The first line.", "// Another first line.");
    let edit = json!({ "path": "large.rs", "oldText": old, "newText": new });
    let shown =
        json!({ "path": large, "edits": [{ "oldText": old, "newText": new }], "dryRun": true });
    let mut edited = call("edit moss", "process", "replace_text", edit);
    edited["fails"] = true.into();
    let kept = |name: &str| json!({ "name": name });
    let keeping = |name: &str, mut call: Value| {
        call["keeps"] = name.into();
        call
    };
    Ok(json!([
        keeping("read", call("read moss", "process", "read_file", at("large.rs"))),
        call("read files", "files", "read_text_file", at(large)),
        call("read echo", "echo", "kept", kept("read")),
        keeping("list", call("list moss", "process", "list_directory", at("listed"))),
        call("list files", "files", "list_directory", at(listed)),
        call("sizes files", "files", "list_directory_with_sizes", at(listed)),
        call("list echo", "echo", "kept", kept("list")),
        edited,
        call("edit files", "files", "edit_file", shown),
        call("small process", "process", "read_file", at("small.txt")),
        call("small daemon", "daemon", "read_file", at("small.txt")),
        call("small echo", "echo", "echo", json!({ "text": "one line\n" })),
    ]))
}

/// Has Node.js carry a plan out; returns how long each call of it took.
fn run(place: &Testbed, modules: &Path, plan: &Value) -> Result<ClientTimes> {
    let (script, file) =
        (place.directory().join("measure.mjs"), place.directory().join("plan.json"));
    std::fs::write(&script, SCRIPT)?;
    std::fs::write(&file, plan.to_string())?;
    let mut node = Command::new("node");
    node.arg(&script).arg(modules).arg(&file).stdin(Stdio::null()).stderr(Stdio::inherit());
    let ended = node.output().context("cannot start `node`")?;
    if !ended.status.success() {
        bail!("the client failed: {}", ended.status);
    }
    Ok(ClientTimes(serde_json::from_slice(&ended.stdout).context("the client wrote no times")?))
}

// === impl ClientTimes ===

impl ClientTimes {
    fn of(&self, name: &str) -> Result<Vec<Duration>> {
        let times = self.0.get(name).with_context(|| format!("`{name}` was not measured"))?;
        Ok(times.iter().copied().map(Duration::from_nanos).collect())
    }

    fn rows(&self) -> Result<Vec<Row>> {
        let row = |name: &str, own: &str, other: &str, target: &str| {
            let row = Row::timed(name, self.of(own)?).against(Spread::of(self.of(other)?));
            Ok::<_, anyhow::Error>(if target.is_empty() { row } else { row.wanted(target) })
        };
        Ok(vec![
            row("read_file, 16 KiB, against files", "read moss", "read files", "ratio ≤ 0.5")?,
            row(
                "list_directory, 100 files, against files",
                "list moss",
                "list files",
                "ratio ≤ 0.5",
            )?,
            row(
                "list_directory, 100 files, against files with sizes",
                "list moss",
                "sizes files",
                "ratio ≤ 0.5",
            )?,
            row("read_file, 16 KiB, against its result alone", "read moss", "read echo", "")?,
            row(
                "list_directory, 100 files, against its result alone",
                "list moss",
                "list echo",
                "",
            )?,
            row("the result of read_file alone, against files", "read echo", "read files", "")?,
            row(
                "the result of list_directory alone, against files",
                "list echo",
                "list files",
                "",
            )?,
            row(
                "read_file, 16 KiB, over a bare pipe, against files",
                "bare read moss",
                "bare read files",
                "ratio ≤ 0.5",
            )?,
            row(
                "list_directory, 100 files, over a bare pipe, against files",
                "bare list moss",
                "bare list files",
                "",
            )?,
            row(
                "list_directory, 100 files, over a bare pipe, against files with sizes",
                "bare list moss",
                "bare sizes files",
                "ratio ≤ 0.5",
            )?,
            row("an edit, shown, against files", "edit moss", "edit files", "")?,
            row("start to first response, against files", "start process", "start files", "")?,
            row(
                "read_file, one line, against echo",
                "small process",
                "small echo",
                "≤ 150 µs more",
            )?,
            row("the same, through a daemon", "small daemon", "small echo", "≤ 450 µs more")?,
        ])
    }
}
