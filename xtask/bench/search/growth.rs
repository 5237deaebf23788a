//! Searches of trees that grow: 10,000, 100,000 and a million files, made for it and removed afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use moss_xtask::rows::{Row, Spread};
use serde_json::json;

use super::rivals::Rivals;
use super::{check_equal, ready, search};
use crate::caller::{BenchClient, done};
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
/// A file, and letters of its path as somebody remembers it.
const NAME: &str = "file7.txt";
const LETTERS: &str = "dir7fle77";
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
    let x = files as u64;
    let build = Row::timed(format!("index built, {files} files"), vec![built]);
    let mut rows = vec![build.at("index-builds", x)];
    let (mut own, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (found, duration) = search(&caller, NEEDLE).await?;
        let (lines, other) = ripgrep.search(NEEDLE)?;
        check_equal(NEEDLE, found, lines)?;
        if round > 0 {
            own.push(duration);
            theirs.push(other);
        }
    }
    let search = Row::timed(format!("grep_search, {files} files, {}", ripgrep.version), own);
    rows.push(search.against(Spread::of(theirs)).at("searches", x));
    rows.extend(listings(&caller, &rivals, x).await?);
    let disk_bytes = caller.texts().await?.disk_bytes;
    rows.push(Row::bytes(format!("index on disk, {files} files"), disk_bytes).at("index-sizes", x));
    let memory = Row::bytes(format!("memory, {files} files"), daemon.resident_bytes()?);
    rows.push(memory.at("index-memory", x));
    drop(caller);
    daemon.stop().await?;
    Ok(rows)
}

/// Asks for files as they are called, and by letters of a name.
async fn listings(caller: &BenchClient, rivals: &Rivals, files: u64) -> Result<Vec<Row>> {
    let Some(fd) = rivals.fds.first() else { return Ok(Vec::new()) };
    let [mut named, mut of_fd, mut fuzzy, mut of_fzf] = [const { Vec::new() }; 4];
    for round in 0..=ROUNDS {
        let own = [asked(caller, NAME).await?, asked(caller, LETTERS).await?];
        let listed = fd.list(&[NAME])?;
        let filtered = fd.fzf.as_ref().map(|fzf| fd.filtered(fzf, LETTERS)).transpose()?;
        if round > 0 {
            named.push(own[0]);
            fuzzy.push(own[1]);
            of_fd.push(listed);
            of_fzf.extend(filtered);
        }
    }
    let row = Row::timed(format!("file_search, {files} files, {}", fd.version), named);
    let mut rows = vec![row.against(Spread::of(of_fd)).at("file-searches", files)];
    if let Some(fzf) = &fd.fzf {
        let row =
            Row::timed(format!("file_search, letters, {files} files, {}", fzf.version), fuzzy);
        rows.push(row.against(Spread::of(of_fzf)).at("fuzzy-searches", files));
    }
    Ok(rows)
}

/// Asks for files once; returns how long that took.
async fn asked(caller: &BenchClient, pattern: &str) -> Result<Duration> {
    let started = Instant::now();
    done(caller.call("file_search", json!({ "pattern": pattern }).to_string()).await?)?;
    Ok(started.elapsed())
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
