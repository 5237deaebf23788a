//! What a daemon takes that knows a repository of four million lines: a part of the tree that is measured.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use moss_xtask::rows::Row;
use serde_json::{Value, json};

use super::{ready, search, settled_bytes};
use crate::caller::{BenchClient, done};
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// So many lines are copied, if the tree has them.
const LINES: usize = 4_000_000;
/// What is searched for.
const PATTERNS: [&str; 2] = ["serialize", ".{5}x.z"];

/// Measures it: with all texts and words known, searched, asked a question and mapped.
pub(super) async fn measure(moss: &Path, directory: &Path, files: &[PathBuf]) -> Result<Row> {
    let tree = tempfile::Builder::new().prefix("bench-tree-").tempdir_in(directory)?;
    let root = tree.path().canonicalize()?;
    let lines = copy(files, &root).context("cannot copy a part of the tree")?;
    let place = Testbed::of_tree(moss.to_owned(), directory, &root)?;
    let (daemon, caller) = ServerProcess::daemon(&place).await?;
    ready(&caller).await?;
    // A question waits for the words of all texts, some time at most.
    while pending(&caller).await? > 0 {}
    for pattern in PATTERNS {
        search(&caller, pattern).await?;
    }
    done(caller.call("get_project_structure", "{}".to_owned()).await?)?;
    let bytes = settled_bytes(&daemon).await?;
    drop(caller);
    daemon.stop().await?;
    let million = lines as f64 / 1e6;
    Ok(Row::bytes(format!("memory, {million:.1} million lines"), bytes).wanted("< 120 MiB"))
}

/// Asks a question; returns how many texts it was answered without.
async fn pending(caller: &BenchClient) -> Result<u64> {
    let question = json!({ "query": "how are values serialized" });
    let answer = done(caller.call("codebase_search", question.to_string()).await?)?;
    let output = answer.result.context("it is done")?.output_json;
    let output: Value = serde_json::from_str(&output)?;
    output["files_pending"].as_u64().context("an answer that does not say what is pending")
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
