//! How long questions take over a large tree, and how much memory its words need.
#![allow(clippy::print_stdout, reason = "the output is for the person at the terminal")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use moss_ranking::{RankedIndex, TextAnalyzer, Weights};
use moss_sdk::RelPath;

use crate::chinese;
use crate::repository::ask;

/// Larger files are left out, as data.
const FILE_BYTES_MAX: u64 = 2 << 20;
/// Hits of one question, as the tool has them.
const HITS: usize = 10;
/// How often each question is asked.
const TURNS: usize = 3;

/// Indexes all texts beneath a directory and asks questions.
pub(crate) fn report(root: &Path, weights: &Weights) -> Result<()> {
    let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    let (mut lines, mut bytes) = (0_usize, 0_usize);
    let started = Instant::now();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for (path, text) in texts(&directory, &mut directories)? {
            let relative = path.strip_prefix(root).context("it lies beneath its root")?;
            let Some(Ok(relative)) = relative.to_str().map(RelPath::parse) else { continue };
            lines += text.lines().count();
            bytes += text.len();
            index.put(&analyzer.analyze(&relative, &text));
        }
    }
    index.settle();
    let took = started.elapsed().as_secs_f64();
    let size = index.size();
    println!(
        "{}: {} files, {lines} lines, {} chunks; {:.0} lines indexed per second on one core; {:.2} of the \
         text in memory ({:.0} MiB)",
        root.display(),
        size.texts,
        size.chunks,
        lines as f64 / took,
        size.memory_bytes as f64 / bytes.max(1) as f64,
        size.memory_bytes as f64 / f64::from(1 << 20),
    );
    let mut times = Vec::new();
    for question in chinese::english()? {
        for _ in 0..TURNS {
            let started = Instant::now();
            drop(ask(&index, &question, HITS, weights));
            times.push(started.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "a question takes {:.2} ms in the middle, {:.2} ms one in a hundred",
        at(0.5),
        at(0.99)
    );
    let started = Instant::now();
    let view = index.view(&Default::default(), &mut |_| true);
    let map = index.rank_files(&view).beneath(&RelPath::root());
    let took = started.elapsed().as_secs_f64() * 1e3;
    println!("the map of {} central files takes {took:.0} ms", map.files.len());
    Ok(())
}

/// The texts that lie in a directory; its directories are added to those to look into.
fn texts(directory: &Path, directories: &mut Vec<PathBuf>) -> Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && entry.file_name() != ".git" {
            directories.push(path);
        } else if kind.is_file() && entry.metadata()?.len() <= FILE_BYTES_MAX {
            // What is no text is left out.
            if let Ok(text) = fs::read_to_string(&path)
                && !text.contains('\0')
            {
                found.push((path, text));
            }
        }
    }
    Ok(found)
}
