//! Suite G: files that are asked for as people remember them, and wildcards against those of fd.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::remembered::{self, RememberedFile, Remembering};
use super::within;
use crate::caller::{BenchClient, done};
use crate::search::rivals::Rivals;

/// How many of the first files are looked at.
const DEPTH: usize = 5;
/// So many misses are shown of each kind, with `MOSS_BENCH_MISSES=1`.
const SHOWN: usize = 25;
/// Most files that one result has: of more, the number is compared.
const FILES_MAX: usize = 100;

/// What became of one kind.
#[derive(Default)]
struct KindHits {
    asked: usize,
    first: usize,
    among_five: usize,
    /// The same of fzf, where there is one.
    first_of_fzf: usize,
    among_five_of_fzf: usize,
    took: Vec<Duration>,
    misses: Vec<String>,
}

/// The best files that moss finds for a pattern, and how many there are.
struct FoundPaths {
    total: usize,
    paths: Vec<String>,
    took: Duration,
}

/// Asks for so many files and prints a line for each kind.
pub(super) async fn measure(
    caller: &BenchClient,
    rivals: &Rivals,
    tree: &Path,
    count: usize,
) -> Result<()> {
    let paths = rivals.ripgreps[0].files()?;
    let fd = rivals.fds.first();
    let fzf = fd.and_then(|fd| fd.fzf.as_ref());
    let list = paths.join("\n");
    let (mut hits, mut globs) = (BTreeMap::<Remembering, KindHits>::new(), (0, 0));
    let (mut glob_times, mut differing) = (Vec::new(), Vec::new());
    for file in remembered::files(&paths, count) {
        let own = found(caller, &file.typed).await?;
        if file.how == Remembering::Glob {
            let Some(fd) = fd else { continue };
            glob_times.push(own.took);
            let others = fd.matching(&file.typed, tree)?;
            let is_equal = own.total == others.len()
                && (own.total > FILES_MAX || own.paths.iter().all(|path| others.contains(path)));
            globs = (globs.0 + 1, globs.1 + usize::from(is_equal));
            if !is_equal {
                let (total, others) = (own.total, others.len());
                differing.push(format!("differs: `{}`: {total} files, of fd {others}", file.typed));
            }
            continue;
        }
        let of_fzf = fzf.map(|fzf| fzf.ranked(&list, &file.typed, DEPTH)).transpose()?;
        hits.entry(file.how).or_default().take(&file, own, of_fzf.unwrap_or_default());
    }
    let of_fzf = fzf.map_or("", |fzf| fzf.version.as_str());
    println!(
        "{:<20} {:>8} {:>7} {:>7}   {:>26}   {of_fzf}: hit@1, hit@5",
        "G: file_search", "queries", "hit@1", "hit@5", "p50, p95, p99 in ms"
    );
    let mut all = KindHits::default();
    for (how, kind) in &mut hits {
        kind.print(how.title());
        all.add(kind);
    }
    all.print("all");
    if let Some(fd) = fd {
        glob_times.sort_unstable();
        let [median, late, last] = [50, 95, 99].map(|percent| within(&glob_times, percent));
        println!(
            "{:<20} {:>8} {:>7} equal to {}   {median:.2}, {late:.2}, {last:.2} ms",
            Remembering::Glob.title(),
            globs.0,
            globs.1,
            fd.version
        );
    }
    differing.iter().for_each(|line| println!("{line}"));
    if std::env::var_os("MOSS_BENCH_MISSES").is_some() {
        for (how, kind) in &hits {
            println!("{}:", how.title());
            kind.misses.iter().take(SHOWN).for_each(|miss| println!("  {miss}"));
        }
    }
    Ok(())
}

async fn found(caller: &BenchClient, typed: &str) -> Result<FoundPaths> {
    let started = Instant::now();
    let response = caller.call("file_search", json!({ "pattern": typed }).to_string()).await?;
    let took = started.elapsed();
    let result = done(response).with_context(|| typed.to_owned())?.result;
    let output: Value = serde_json::from_str(&result.context("it is done")?.output_json)?;
    let files = output["files"].as_array().context("a search without files")?;
    let paths = files.iter().filter_map(|file| Some(file["path"].as_str()?.to_owned())).collect();
    let total = output["total"].as_u64().context("a search without a count")?;
    Ok(FoundPaths { total: usize::try_from(total)?, paths, took })
}

// === impl KindHits ===

impl KindHits {
    fn take(&mut self, file: &RememberedFile, own: FoundPaths, of_fzf: Vec<String>) {
        let among = |paths: &[String], depth: usize| {
            usize::from(paths.iter().take(depth).any(|path| *path == file.path))
        };
        self.asked += 1;
        self.first += among(&own.paths, 1);
        self.among_five += among(&own.paths, DEPTH);
        self.first_of_fzf += among(&of_fzf, 1);
        self.among_five_of_fzf += among(&of_fzf, DEPTH);
        self.took.push(own.took);
        if among(&own.paths, 1) == 0 {
            let place = own.paths.iter().position(|path| *path == file.path);
            let first = own.paths.iter().take(2).cloned().collect::<Vec<_>>().join(", ");
            let place = place.map_or("none".to_owned(), |at| (at + 1).to_string());
            self.misses.push(format!(
                "`{}` is {} ({place} of {}), found {first}",
                file.typed, file.path, own.total
            ));
        }
    }

    fn add(&mut self, other: &Self) {
        self.asked += other.asked;
        self.first += other.first;
        self.among_five += other.among_five;
        self.first_of_fzf += other.first_of_fzf;
        self.among_five_of_fzf += other.among_five_of_fzf;
        self.took.extend(&other.took);
    }

    fn print(&mut self, title: &str) {
        self.took.sort_unstable();
        let [median, late, last] = [50, 95, 99].map(|percent| within(&self.took, percent));
        let share = |count: usize| count as f64 / self.asked.max(1) as f64;
        println!(
            "{title:<20} {:>8} {:>7.3} {:>7.3}   {median:>8.2} {late:>8.2} {last:>8.2}   {:.3} {:.3}",
            self.asked,
            share(self.first),
            share(self.among_five),
            share(self.first_of_fzf),
            share(self.among_five_of_fzf)
        );
    }
}
