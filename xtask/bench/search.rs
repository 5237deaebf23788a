//! Searches and listings of a large tree, in turns with ripgrep and fd, as a person has them.
//!
//! What is searched for is taken from the tree itself, the same on each run: words that its files have,
//! and patterns made of them. How many lines match is compared on the way; a difference is printed.

mod growth;
mod lines;
mod rivals;
pub(crate) mod suites;
mod words;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use moss_proto::v1;
use moss_xtask::rows::{Row, Spread};
use serde_json::{Value, json};

use self::rivals::{FdFinder, Rivals, TreeSize};
use self::words::SearchKind;
use crate::caller::{BenchClient, done};
use crate::figures::memory;
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// How many patterns of each kind are searched for, and how often each.
const PATTERNS_EACH: usize = 15;
const ROUNDS: usize = 3;
/// How often each listing is asked for.
const LISTINGS: usize = 20;
/// How many patterns are compared alone, unless `MOSS_BENCH_PATTERNS` says otherwise.
const COMPARED: usize = 100;
/// Longest wait for all texts to be known, and how often that is looked at.
const BUILDING_MAX: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(5);
/// How long after the last call memory is looked at: what calls needed is given back some seconds later.
const SETTLING: Duration = Duration::from_secs(15);
/// What an index may take of the size of the texts, in bytes on disk.
const SIZE_WANTED: &str = "ratio ≤ 0.3";
const WITHOUT_INDEX: &str = "[index]\nenabled = false\n";

/// A tree that is measured: with the daemon that serves it, and what it is measured against.
struct SearchBench<'a> {
    place: &'a Testbed,
    rivals: Rivals,
    words: Vec<String>,
}

/// Measures searches of a tree.
pub(crate) async fn measure(moss: PathBuf, directory: &Path, tree: &Path) -> Result<Vec<Row>> {
    let place = Testbed::of_tree(moss.clone(), directory, tree)?;
    let rivals = Rivals::find(&place.workspace())?;
    let size = rivals.tree_size()?;
    eprintln!("{}: {size}; {rivals}", tree.display());
    let words = words::words(&size.files)?;
    let bench = SearchBench { place: &place, rivals, words };
    let mut rows = bench.indexed(&size).await?;
    rows.extend(bench.without_index().await?);
    rows.push(lines::measure(&moss, directory, &size.files).await?);
    rows.extend(growth::measure(&moss, directory).await?);
    Ok(rows)
}

// === impl SearchBench ===

impl SearchBench<'_> {
    /// Everything beside a daemon that has an index.
    async fn indexed(&self, size: &TreeSize) -> Result<Vec<Row>> {
        let (daemon, caller) = ServerProcess::daemon(self.place).await?;
        let idle = daemon.resident_bytes()?;
        let built = ready(&caller).await?;
        let per_second = size.lines as f64 / built.as_secs_f64();
        let mut rows =
            vec![Row::per_second("lines indexed", per_second as u64).wanted("≥ 150,000/s")];
        let disk_bytes = caller.texts().await?.disk_bytes;
        let on_disk = Row::bytes("index on disk, against the texts", disk_bytes);
        rows.push(on_disk.against(Spread::single(size.bytes)).wanted(SIZE_WANTED));
        for kind in SearchKind::ALL {
            rows.extend(self.searches(&caller, kind, "").await?);
        }
        rows.extend(self.listings(&caller).await?);
        self.compare(&caller).await?;
        rows.push(memory("memory at the start", idle));
        rows.push(Row::bytes("memory after all of it", settled_bytes(&daemon).await?));
        drop(caller);
        daemon.stop().await?;
        Ok(rows)
    }

    /// Searches that read every file.
    async fn without_index(&self) -> Result<Vec<Row>> {
        self.place.configure(WITHOUT_INDEX)?;
        let (daemon, caller) = ServerProcess::daemon(self.place).await?;
        let rows = self.searches(&caller, SearchKind::Word, ", no index").await?;
        drop(caller);
        daemon.stop().await?;
        Ok(rows)
    }

    /// Searches of one kind, in turns with each ripgrep there is.
    async fn searches(
        &self,
        caller: &BenchClient,
        kind: SearchKind,
        how: &str,
    ) -> Result<Vec<Row>> {
        let patterns: Vec<String> =
            self.words.iter().map(|word| kind.pattern(word)).take(PATTERNS_EACH).collect();
        let mut own = Vec::new();
        let mut others = vec![Vec::new(); self.rivals.ripgreps.len()];
        for round in 0..=ROUNDS {
            for pattern in &patterns {
                let (found, duration) = search(caller, pattern).await?;
                for (at, ripgrep) in self.rivals.ripgreps.iter().enumerate() {
                    let (lines, theirs) = ripgrep.search(pattern)?;
                    if round > 0 {
                        others[at].push(theirs);
                    }
                    tell_difference(pattern, found, lines);
                }
                // The first round is not measured: it brings the files into memory for both.
                if round > 0 {
                    own.push(duration);
                }
            }
        }
        let row = |(ripgrep, theirs): (&rivals::Ripgrep, Vec<Duration>)| {
            let name = format!("grep_search, {}{how}, {}", kind.title(), ripgrep.version);
            let wanted = if how.is_empty() { kind.wanted() } else { "ratio ≤ 1.1" };
            Row::timed(name, own.clone()).against(Spread::of(theirs)).wanted(wanted)
        };
        Ok(self.rivals.ripgreps.iter().zip(others).map(row).collect())
    }

    /// Compares how many lines match, for more patterns than are timed.
    async fn compare(&self, caller: &BenchClient) -> Result<()> {
        let wanted = std::env::var("MOSS_BENCH_PATTERNS");
        let wanted = wanted.map_or(Ok(COMPARED), |text| text.parse())?;
        let words = self.words.iter().cycle().take(wanted).enumerate();
        let patterns = words.map(|(at, word)| words::varied(at, word));
        let mut equal = 0;
        for pattern in patterns {
            let (found, _) = search(caller, &pattern).await?;
            let (lines, _) = self.rivals.ripgreps[0].search(&pattern)?;
            equal += usize::from(tell_difference(&pattern, found, lines));
        }
        eprintln!("{equal} of {wanted} patterns match as many lines as of ripgrep");
        Ok(())
    }

    async fn listings(&self, caller: &BenchClient) -> Result<Vec<Row>> {
        let Some(fd) = &self.rivals.fd else { return Ok(Vec::new()) };
        let word = self.words.first().map_or("lib", String::as_str);
        let name = word.get(..4).unwrap_or(word).to_lowercase();
        let calls = [
            ("list_directory", json!({ "path": ".", "recursive": true }), Vec::new()),
            ("get_project_structure", json!({}), Vec::new()),
            ("file_search", json!({ "pattern": "*.toml" }), vec!["--glob", "*.toml"]),
            ("file_search", json!({ "pattern": name }), vec![name.as_str()]),
        ];
        let mut rows = Vec::new();
        for (tool, arguments, fd_arguments) in calls {
            let (mut own, mut theirs) = (Vec::new(), Vec::new());
            for number in 0..=LISTINGS {
                let arguments = arguments.to_string();
                let started = Instant::now();
                let answer = caller.call(tool, arguments).await?;
                let duration = started.elapsed();
                done(answer)?;
                let of_fd = fd.list(&fd_arguments)?;
                if number > 0 {
                    own.push(duration);
                    theirs.push(of_fd);
                }
            }
            let what = fd_arguments.last().map_or(String::new(), |word| format!(" `{word}`"));
            let row = Row::timed(format!("{tool}{what}, {}", fd.version), own);
            rows.push(row.against(Spread::of(theirs)).wanted("ratio ≤ 0.1"));
        }
        rows.extend(self.fuzzy(caller, fd).await?);
        Ok(rows)
    }

    /// What somebody remembers of a name, letter by letter, against a list of all names that fzf filters.
    async fn fuzzy(&self, caller: &BenchClient, fd: &FdFinder) -> Result<Option<Row>> {
        let Some(fzf) = &fd.fzf else { return Ok(None) };
        let words = self.words.iter().filter(|word| word.len() >= 6).take(PATTERNS_EACH);
        let letters = |word: &String| word.to_lowercase().chars().step_by(2).collect::<String>();
        let (mut own, mut theirs) = (Vec::new(), Vec::new());
        for (at, pattern) in words.map(letters).enumerate() {
            let started = Instant::now();
            done(caller.call("file_search", json!({ "pattern": pattern }).to_string()).await?)?;
            let duration = started.elapsed();
            let filtered = fd.filtered(fzf, &pattern)?;
            if at > 0 {
                own.push(duration);
                theirs.push(filtered);
            }
        }
        let name = format!("file_search, letters of a name, fd into {}", fzf.version);
        let row = Row::timed(name, own).against(Spread::of(theirs));
        Ok(Some(row.wanted("ratio ≤ 0.1")))
    }
}

/// Says where other lines match than ripgrep's; returns whether none do.
fn tell_difference(pattern: &str, found: u64, lines: u64) -> bool {
    let is_same = found == lines.min(rivals::COUNTED_MAX);
    if !is_same {
        eprintln!("`{pattern}`: {found} lines, of ripgrep {lines}");
    }
    is_same
}

/// Searches once: how many lines match, and how long that took.
async fn search(caller: &BenchClient, pattern: &str) -> Result<(u64, Duration)> {
    let arguments = json!({ "pattern": pattern }).to_string();
    let started = Instant::now();
    let answer = caller.call("grep_search", arguments).await?;
    let duration = started.elapsed();
    let result = done(answer)?.result.context("it is done")?;
    let found: Value = serde_json::from_str(&result.output_json)?;
    let lines = found["total_matches"].as_u64().context("a search without a count")?;
    Ok((lines, duration))
}

/// The memory of a daemon that has come to rest, in bytes.
async fn settled_bytes(daemon: &ServerProcess) -> Result<u64> {
    tokio::time::sleep(SETTLING).await;
    daemon.resident_bytes()
}

/// Waits until all texts are known; returns how long that took.
async fn ready(caller: &BenchClient) -> Result<Duration> {
    let started = Instant::now();
    loop {
        let texts = caller.texts().await?;
        match texts.state() {
            v1::IndexState::Ready => return Ok(started.elapsed()),
            v1::IndexState::Off => bail!("there is no index: {}", texts.reason),
            v1::IndexState::Building | v1::IndexState::Unspecified => {}
        }
        if started.elapsed() > BUILDING_MAX {
            bail!("the texts are not known after {BUILDING_MAX:?}");
        }
        tokio::time::sleep(POLL).await;
    }
}
