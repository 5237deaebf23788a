//! Searches of trees that grow: 10,000, 100,000 and a million files, made for it and removed afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use moss_xtask::rows::{Row, Spread};
use serde_json::json;

use super::rivals::Rivals;
use super::{ready, search, tell_difference};
use crate::caller::done;
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// How many files the trees have.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
/// Files of one directory.
const DIRECTORY_FILES: usize = 100;
/// Every so many files hold what is searched for.
const NEEDLE_INTERVAL: usize = 1_000;
/// What is searched for.
const NEEDLE: &str = "needle_in_text";
/// How often each is measured, and once before that.
const ROUNDS: usize = 10;

/// Measures each of them.
pub(super) async fn measure(moss: &Path, directory: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for files in SIZES {
        rows.extend(of_size(moss.to_owned(), directory, files).await?);
    }
    Ok(rows)
}

async fn of_size(moss: PathBuf, directory: &Path, files: usize) -> Result<Vec<Row>> {
    let tree = tempfile::Builder::new().prefix("bench-tree-").tempdir_in(directory)?;
    let root = tree.path().canonicalize()?;
    fill(&root, files).with_context(|| format!("cannot make {files} files"))?;
    let place = Testbed::of_tree(moss, directory, &root)?;
    // Directories count, too.
    place.configure(&format!("[index]\nentries_max = {}\n", files * 2))?;
    let rivals = Rivals::find(&root)?;
    let ripgrep = &rivals.ripgreps[0];
    let (daemon, caller) = ServerProcess::daemon(&place).await?;
    let built = ready(&caller).await?;
    eprintln!("{files} files: all texts known after {built:?}");
    let (mut own, mut theirs) = (Vec::new(), Vec::new());
    let (mut listed, mut of_fd) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (found, duration) = search(&caller, NEEDLE).await?;
        let (lines, other) = ripgrep.search(NEEDLE)?;
        tell_difference(NEEDLE, found, lines);
        let started = std::time::Instant::now();
        done(caller.call("file_search", json!({ "pattern": "file7.txt" }).to_string()).await?)?;
        let listing = started.elapsed();
        let finding = rivals.fd.as_ref().map(|fd| fd.list(&["file7.txt"])).transpose()?;
        if round > 0 {
            own.push(duration);
            theirs.push(other);
            listed.push(listing);
            of_fd.extend(finding);
        }
    }
    let memory = daemon.resident_bytes()?;
    drop(caller);
    daemon.stop().await?;
    let x = files as u64;
    let search = Row::timed(format!("grep_search, {files} files, {}", ripgrep.version), own);
    let mut rows = vec![search.against(Spread::of(theirs)).at("searches", x)];
    if let Some(fd) = &rivals.fd {
        let row = Row::timed(format!("file_search, {files} files, {}", fd.version), listed);
        rows.push(row.against(Spread::of(of_fd)));
    }
    rows.push(Row::bytes(format!("memory, {files} files"), memory));
    Ok(rows)
}

/// Makes a tree of short sources, of which few hold what is searched for.
fn fill(root: &Path, files: usize) -> Result<()> {
    for number in 0..files {
        let directory = root.join(format!("directory{}", number / DIRECTORY_FILES));
        if number % DIRECTORY_FILES == 0 {
            fs::create_dir(&directory)?;
        }
        let needle = if number % NEEDLE_INTERVAL == 0 { NEEDLE } else { "nothing of note" };
        let text = format!(
            "//! What number {number} is about.\n\nfn name_{number}() {{\n    // {needle}\n}}\n"
        );
        fs::write(directory.join(format!("file{number}.txt")), text)?;
    }
    Ok(())
}
