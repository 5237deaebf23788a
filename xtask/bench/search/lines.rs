//! A daemon of a repository of four million lines, a part of the tree that is measured: how soon it can search,
//! how soon it finds an edit, and what it takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use moss_xtask::rows::Row;
use serde_json::json;

use super::rivals::Rivals;
use super::{all_known, search, settled_bytes, tell_difference};
use crate::caller::{BenchClient, done};
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// So many lines are copied, if the tree has them.
const LINES: usize = 4_000_000;
/// What is searched for.
const PATTERNS: [&str; 2] = ["serialize", ".{5}x.z"];
/// What is asked, in words that such a tree has often and seldom.
const QUESTIONS: [&str; 10] = [
    "where are failed requests retried",
    "how is a value serialized into a string",
    "parse the arguments of the command line",
    "fix the overflow when a duration is added",
    "add support for big endian targets",
    "returns the number of bytes that were read",
    "an iterator over the entries of a map",
    "close the connection once the timer expires",
    "which errors can a lock return",
    "convert a path to a C string",
];
/// How often each is asked.
const TURNS: usize = 20;
/// What is written, to be found at once, and in which file.
const WRITTEN: &str = "needle_of_an_edit";
const WRITTEN_FILE: &str = "moss-bench-edit.txt";
/// How often something is written and searched for.
const EDITS: u64 = 50;
/// Lets the caller write without a question.
const POLICY: &str = "version = 1\n[[rule]]\neffects = [\"write\"]\ndecision = \"allow\"\n";

/// Measures it: with all texts and words known, searched, asked a question and mapped.
pub(super) async fn measure(moss: &Path, directory: &Path, files: &[PathBuf]) -> Result<Vec<Row>> {
    let tree = tempfile::Builder::new().prefix("bench-tree-").tempdir_in(directory)?;
    let root = tree.path().canonicalize()?;
    let lines = copy(files, &root).context("cannot copy a part of the tree")?;
    let place = Testbed::of_tree(moss.to_owned(), directory, &root)?;
    place.configure_policy(POLICY)?;
    let million = lines as f64 / 1e6;
    let rivals = Rivals::find(&root)?;
    let (expected, _) = rivals.ripgreps[0].search(PATTERNS[0])?;
    let started = Instant::now();
    let (daemon, caller) = ServerProcess::daemon(&place).await?;
    let (found, _) = search(&caller, PATTERNS[0]).await?;
    let first = started.elapsed();
    if !tell_difference(PATTERNS[0], found, expected) {
        bail!("the first search finds other lines than ripgrep");
    }
    let first =
        Row::timed(format!("start to first search, {million:.1} million lines"), vec![first]);
    let mut rows = vec![first.wanted("< 2 s")];
    all_known(&caller).await?;
    for pattern in PATTERNS {
        search(&caller, pattern).await?;
    }
    let name = format!("codebase_search, {million:.1} million lines");
    rows.push(Row::timed(name, questions(&caller).await?).wanted("< 5 ms"));
    done(caller.call("get_project_structure", "{}".to_owned()).await?)?;
    let bytes = settled_bytes(&daemon).await?;
    rows.push(Row::bytes(format!("memory, {million:.1} million lines"), bytes).wanted("< 120 MiB"));
    rows.extend(edits(&caller, &root).await?);
    drop(caller);
    daemon.stop().await?;
    Ok(rows)
}

/// How long questions take, each asked often. That a question waits for what changed is part of it.
async fn questions(caller: &BenchClient) -> Result<Vec<Duration>> {
    let mut durations = Vec::new();
    for _ in 0..TURNS {
        for question in QUESTIONS {
            let arguments = json!({ "query": question }).to_string();
            let started = Instant::now();
            let answer = caller.call("codebase_search", arguments).await?;
            durations.push(started.elapsed());
            done(answer)?;
        }
    }
    Ok(durations)
}

/// Searches for what was just written: by moss, and by another.
async fn edits(caller: &BenchClient, root: &Path) -> Result<[Row; 2]> {
    let (mut by_moss, mut by_other) = (Vec::new(), Vec::new());
    for round in 0..EDITS {
        let text = |who: &str| format!("{WRITTEN} by_{who} {round}\n");
        let write = json!({ "path": WRITTEN_FILE, "content": text("moss"), "overwrite": true });
        done(caller.call("create_file", write.to_string()).await?)?;
        by_moss.push(at_once(caller, &text("moss")).await?);
        fs::write(root.join(WRITTEN_FILE), text("other"))?;
        by_other.push(at_once(caller, &text("other")).await?);
    }
    let row = |who: &str, durations| {
        Row::timed(format!("grep_search right after an edit {who}"), durations)
    };
    Ok([row("by moss", by_moss), row("by another", by_other)])
}

/// Searches for a line that was written just now; it is an error where that is not found.
async fn at_once(caller: &BenchClient, line: &str) -> Result<Duration> {
    let (found, duration) = search(caller, &format!("{}$", line.trim_end())).await?;
    if found != 1 {
        bail!("{found} lines are `{}`, which was just written", line.trim_end());
    }
    Ok(duration)
}

/// Copies files in their order until there are enough lines; returns how many there are.
fn copy(files: &[PathBuf], root: &Path) -> Result<usize> {
    let holder = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    let mut base = files.first().map(|file| holder(file)).unwrap_or_default();
    while !files.iter().all(|file| file.starts_with(&base)) {
        base = holder(&base);
    }
    let mut lines = 0;
    for file in files {
        let bytes = fs::read(file)?;
        let target = root.join(file.strip_prefix(&base)?);
        fs::create_dir_all(holder(&target))?;
        fs::write(target, &bytes)?;
        lines += bytes.iter().filter(|byte| **byte == b'\n').count();
        if lines >= LINES {
            break;
        }
    }
    Ok(lines)
}
