//! Searches and listings of a large tree, in turns with ripgrep and fd, as a person has them.
//!
//! What is searched for is taken from the tree itself, the same on each run: words that its files have,
//! and patterns made of them. How many lines match is compared, with the index and without it; where that differs from
//! ripgrep there are no figures.

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
use moss_xtask::search_part::SearchPart;
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
const COMPARED: usize = 2_000;
/// Fewest files of text of a tree that figures are taken of, unless `MOSS_BENCH_FILES` says otherwise.
const FILES_MIN: usize = 15_000;
/// Longest wait for all texts or all words to be known, and how often the former is looked at.
const BUILDING_MAX: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(5);
/// How long after the last call memory is looked at: what calls needed is given back some seconds later.
const SETTLING: Duration = Duration::from_secs(15);
/// What an index may take of the size of the texts, in bytes on disk.
const SIZE_WANTED: &str = "ratio ≤ 0.3";
const WITHOUT_INDEX: &str = "[index]\nenabled = false\n";
/// What the rows without one are called.
const NO_INDEX: &str = ", no index";

/// What a search without an index may take of ripgrep's time.
const SCAN_WANTED: &str = "ratio ≤ 1.1";

/// How long searches took, and how long each ripgrep took for the same.
struct SearchTimes {
    own: Vec<Duration>,
    others: Vec<Vec<Duration>>,
}

/// A tree that is measured: with the daemon that serves it, and what it is measured against.
struct SearchBench<'a> {
    place: &'a Testbed,
    rivals: Rivals,
    words: Vec<String>,
    /// Patterns that are compared alone, each with how many lines match of ripgrep.
    compared: Vec<(String, u64)>,
    parts: &'a [SearchPart],
}

/// Measures searches of a tree, or parts of that.
pub(crate) async fn measure(
    moss: PathBuf,
    directory: &Path,
    tree: &Path,
    parts: &[SearchPart],
) -> Result<Vec<Row>> {
    let place = Testbed::of_tree(moss.clone(), directory, tree)?;
    let rivals = Rivals::find(&place.workspace())?;
    let size = rivals.tree_size()?;
    eprintln!("{}: {size}; {rivals}", tree.display());
    let files_min = number_of("MOSS_BENCH_FILES", FILES_MIN)?;
    if size.files.len() < files_min {
        bail!("{} has {size}: figures are of at least {files_min} files", tree.display());
    }
    let words = words::words(&size.files)?;
    let mut bench = SearchBench { place: &place, rivals, words, compared: Vec::new(), parts };
    if bench.has(SearchPart::Patterns) || bench.has(SearchPart::NoIndex) {
        bench.compared = bench.counted_by_ripgrep()?;
    }
    let mut rows = of_tree(tree, &size);
    if bench.has(SearchPart::Patterns) || bench.has(SearchPart::Listings) {
        rows.extend(bench.indexed(&size).await?);
    }
    if bench.has(SearchPart::NoIndex) {
        rows.extend(bench.without_index().await?);
    }
    if bench.has(SearchPart::Lines) {
        rows.extend(lines::measure(&moss, directory, &size.files).await?);
    }
    if bench.has(SearchPart::Growth) {
        rows.extend(growth::measure(&moss, directory).await?);
    }
    Ok(rows)
}

/// What the tree is whose figures follow.
fn of_tree(tree: &Path, size: &TreeSize) -> Vec<Row> {
    let name = tree.file_name().unwrap_or(tree.as_os_str()).to_string_lossy();
    vec![
        Row::count(format!("files of text in the tree, {name}"), size.files.len() as u64),
        Row::count("lines in it", size.lines),
        Row::bytes("texts in it", size.bytes),
    ]
}

/// A number that a variable of the environment gives, or the usual one.
fn number_of(variable: &str, usual: usize) -> Result<usize> {
    std::env::var(variable).map_or(Ok(usual), |text| Ok(text.parse()?))
}

// === impl SearchTimes ===

impl SearchTimes {
    fn of(rivals: &Rivals) -> Self {
        Self { own: Vec::new(), others: vec![Vec::new(); rivals.ripgreps.len()] }
    }

    fn extend(&mut self, more: Self) {
        self.own.extend(more.own);
        for (others, more) in self.others.iter_mut().zip(more.others) {
            others.extend(more);
        }
    }
}

// === impl SearchBench ===

impl SearchBench<'_> {
    fn has(&self, part: SearchPart) -> bool {
        self.parts.contains(&part)
    }

    /// Everything beside a daemon that has an index.
    async fn indexed(&self, size: &TreeSize) -> Result<Vec<Row>> {
        let started = Instant::now();
        let (daemon, caller) = ServerProcess::daemon(self.place).await?;
        let idle = daemon.resident_bytes()?;
        let built = ready(&caller).await?;
        // Words are read long after the texts are known: what is measured meanwhile, whoever does it, has one
        // processor less.
        all_known(&caller).await?;
        let per_second = |took: Duration| (size.lines as f64 / took.as_secs_f64()) as u64;
        let parsed = per_second(started.elapsed());
        let mut rows = vec![
            Row::per_second("lines indexed", per_second(built)).wanted("≥ 150,000/s"),
            Row::per_second("lines indexed, with symbols and words", parsed).wanted("≥ 60,000/s"),
        ];
        let disk_bytes = caller.texts().await?.disk_bytes;
        let on_disk = Row::bytes("index on disk, against the texts", disk_bytes);
        rows.push(on_disk.against(Spread::single(size.bytes)).wanted(SIZE_WANTED));
        let has_patterns = self.has(SearchPart::Patterns);
        if has_patterns {
            rows.extend(self.searches_of_all_kinds(&caller, "").await?);
        }
        if self.has(SearchPart::Listings) {
            rows.extend(self.listings(&caller).await?);
        }
        if has_patterns {
            rows.push(self.compare(&caller, "").await?);
        }
        rows.push(memory("memory at the start", idle));
        if has_patterns && self.has(SearchPart::Listings) {
            rows.push(Row::bytes("memory after all of it", settled_bytes(&daemon).await?));
        }
        drop(caller);
        daemon.stop().await?;
        Ok(rows)
    }

    /// Searches that read every file.
    async fn without_index(&self) -> Result<Vec<Row>> {
        self.place.configure(WITHOUT_INDEX)?;
        let (daemon, caller) = ServerProcess::daemon(self.place).await?;
        let mut rows = self.searches_of_all_kinds(&caller, NO_INDEX).await?;
        rows.push(self.compare(&caller, NO_INDEX).await?);
        drop(caller);
        daemon.stop().await?;
        Ok(rows)
    }

    /// Searches of each kind, and what they take together that an index can help.
    async fn searches_of_all_kinds(&self, caller: &BenchClient, how: &str) -> Result<Vec<Row>> {
        let (mut rows, mut together) = (Vec::new(), SearchTimes::of(&self.rivals));
        for kind in SearchKind::ALL {
            let times = self.searches(caller, kind).await?;
            let wanted = if how.is_empty() { kind.wanted() } else { SCAN_WANTED };
            rows.extend(self.rows_of(&times, &format!("{}{how}", kind.title()), wanted));
            if kind.has_literal() {
                together.extend(times);
            }
        }
        let wanted = if how.is_empty() { SearchKind::Word.wanted() } else { SCAN_WANTED };
        rows.extend(self.rows_of(&together, &format!("all with a literal{how}"), wanted));
        Ok(rows)
    }

    /// One row against each ripgrep.
    fn rows_of(&self, times: &SearchTimes, what: &str, wanted: &'static str) -> Vec<Row> {
        let row = |(ripgrep, theirs): (&rivals::Ripgrep, &Vec<Duration>)| {
            let name = format!("grep_search, {what}, {}", ripgrep.version);
            let theirs = Spread::of(theirs.clone());
            Row::timed(name, times.own.clone()).against(theirs).wanted(wanted)
        };
        self.rivals.ripgreps.iter().zip(&times.others).map(row).collect()
    }

    /// Searches of one kind, in turns with each ripgrep there is.
    async fn searches(&self, caller: &BenchClient, kind: SearchKind) -> Result<SearchTimes> {
        let patterns: Vec<String> =
            self.words.iter().map(|word| kind.pattern(word)).take(PATTERNS_EACH).collect();
        let mut times = SearchTimes::of(&self.rivals);
        for round in 0..=ROUNDS {
            for pattern in &patterns {
                let (found, duration) = search(caller, pattern).await?;
                for (at, ripgrep) in self.rivals.ripgreps.iter().enumerate() {
                    let (lines, theirs) = ripgrep.search(pattern)?;
                    if round > 0 {
                        times.others[at].push(theirs);
                    }
                    check_equal(pattern, found, lines)?;
                }
                // The first round is not measured: it brings the files into memory for both.
                if round > 0 {
                    times.own.push(duration);
                }
            }
        }
        Ok(times)
    }

    /// More patterns than are timed, each with how many lines match of ripgrep.
    fn counted_by_ripgrep(&self) -> Result<Vec<(String, u64)>> {
        let wanted = number_of("MOSS_BENCH_PATTERNS", COMPARED)?;
        let words = self.words.iter().cycle().take(wanted).enumerate();
        let patterns = words.map(|(at, word)| words::varied(at, word));
        let counted = patterns.map(|pattern| {
            let (lines, _) = self.rivals.ripgreps[0].search(&pattern)?;
            Ok((pattern, lines))
        });
        counted.collect()
    }

    /// Compares how many lines match of those.
    async fn compare(&self, caller: &BenchClient, how: &str) -> Result<Row> {
        let (mut equal, wanted) = (0, self.compared.len() as u64);
        for (pattern, lines) in &self.compared {
            let (found, _) = search(caller, pattern).await?;
            equal += u64::from(tell_difference(pattern, found, *lines));
        }
        if equal < wanted {
            bail!("{} of {wanted} patterns match other lines than of ripgrep", wanted - equal);
        }
        let row = Row::count(format!("patterns that match the lines of ripgrep{how}"), equal);
        Ok(row.against(Spread::single(wanted)).wanted("all"))
    }

    async fn listings(&self, caller: &BenchClient) -> Result<Vec<Row>> {
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
            let mut own = Vec::new();
            let mut theirs = vec![Vec::new(); self.rivals.fds.len()];
            for number in 0..=LISTINGS {
                let arguments = arguments.to_string();
                let started = Instant::now();
                let answer = caller.call(tool, arguments).await?;
                let duration = started.elapsed();
                done(answer)?;
                for (theirs, fd) in theirs.iter_mut().zip(&self.rivals.fds) {
                    let of_fd = fd.list(&fd_arguments)?;
                    theirs.extend((number > 0).then_some(of_fd));
                }
                own.extend((number > 0).then_some(duration));
            }
            let what = fd_arguments.last().map_or(String::new(), |word| format!(" `{word}`"));
            for (fd, theirs) in self.rivals.fds.iter().zip(theirs) {
                let row = Row::timed(format!("{tool}{what}, {}", fd.version), own.clone());
                rows.push(row.against(Spread::of(theirs)).wanted("ratio ≤ 0.1"));
            }
        }
        for fd in &self.rivals.fds {
            rows.extend(self.fuzzy(caller, fd).await?);
        }
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
        let name = format!("file_search, letters of a name, {} into {}", fd.version, fzf.version);
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

/// Ends the measurement where other lines match than ripgrep's.
fn check_equal(pattern: &str, found: u64, lines: u64) -> Result<()> {
    if !tell_difference(pattern, found, lines) {
        bail!("`{pattern}` matches {found} lines, of ripgrep {lines}: there are no figures");
    }
    Ok(())
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

/// Waits until all texts are known, and their words.
async fn all_known(caller: &BenchClient) -> Result<()> {
    ready(caller).await?;
    let started = Instant::now();
    // A question waits for the words of all texts, some time at most.
    loop {
        match pending(caller).await? {
            0 => return Ok(()),
            left if started.elapsed() > BUILDING_MAX => {
                bail!("the words of {left} texts are not known after {BUILDING_MAX:?}")
            }
            _ => {}
        }
    }
}

/// Asks a question; returns how many texts it was answered without.
async fn pending(caller: &BenchClient) -> Result<u64> {
    let question = json!({ "query": "how are values serialized" });
    let answer = done(caller.call("codebase_search", question.to_string()).await?)?;
    let output = answer.result.context("it is done")?.output_json;
    let output: Value = serde_json::from_str(&output)?;
    output["files_pending"].as_u64().context("an answer that does not say what is pending")
}
