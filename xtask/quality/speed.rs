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
const TURNS: usize = 10;

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
    let (mut times, mut processor) = (Vec::new(), Vec::new());
    for question in chinese::english()? {
        for _ in 0..TURNS {
            let (started, before) = (Instant::now(), processor_ms());
            drop(ask(&index, &question, HITS, weights));
            times.push(started.elapsed().as_secs_f64() * 1e3);
            processor.extend(processor_ms().zip(before).map(|(after, before)| after - before));
        }
    }
    let (middle, late) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
    println!("a question takes {middle:.2} ms in the middle, {late:.2} ms one in a hundred");
    if !processor.is_empty() {
        // What others do on the machine counts in the first, not in these.
        let (middle, late) = (quantile(&mut processor, 0.5), quantile(&mut processor, 0.99));
        println!("of the processor, {middle:.2} ms and {late:.2} ms");
    }
    let started = Instant::now();
    let view = index.view(&Default::default(), &mut |_| true);
    let map = index.rank_files(&view).beneath(&RelPath::root());
    let took = started.elapsed().as_secs_f64() * 1e3;
    println!("the map of {} central files takes {took:.0} ms", map.files.len());
    Ok(())
}

fn quantile(times: &mut [f64], share: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    times[((times.len() - 1) as f64 * share) as usize]
}

/// How long this thread has run on a processor, where the system says that.
fn processor_ms() -> Option<f64> {
    let spent = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(spent.split_whitespace().next()?.parse::<f64>().ok()? / 1e6)
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
