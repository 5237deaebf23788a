//! Suite F: the lines that grep_search finds, against those that ripgrep finds, pattern by pattern.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::patterns::{self, PatternKind, SuitePattern};
use super::within;
use crate::caller::{BenchClient, done};
use crate::search::rivals::{COUNTED_MAX, Ripgrep, Rivals};

/// Most matches that are compared by where they are; all are counted.
const LIMIT: u64 = 1_000;

/// Where matches are: by path and line.
type Places = BTreeSet<(String, u64)>;

/// What was found of a pattern.
struct FoundLines {
    total: u64,
    places: Places,
    took: Duration,
}

/// What became of the patterns of one kind.
#[derive(Default)]
struct KindScore {
    equal: usize,
    /// Those that have a match at all.
    matching: usize,
    own: Vec<Duration>,
    theirs: Vec<Duration>,
}

/// Compares so many patterns and prints a line for each kind, and one for each pattern that differs. Returns how many
/// differ.
pub(super) async fn measure(
    caller: &BenchClient,
    rivals: &Rivals,
    files: &[PathBuf],
    count: usize,
) -> Result<usize> {
    let ripgrep = &rivals.ripgreps[0];
    let mut scores: BTreeMap<PatternKind, KindScore> = BTreeMap::new();
    for pattern in patterns::patterns(files, count)? {
        let own = by_moss(caller, &pattern).await?;
        let other = by_ripgrep(ripgrep, &pattern)?;
        let score = scores.entry(pattern.kind).or_default();
        let is_equal = own.total == other.total.min(COUNTED_MAX) && are_equal(&own, &other);
        if !is_equal {
            let SuitePattern { text, case_sensitive, spans_lines, .. } = &pattern;
            println!(
                "differs: `{text}` (case {case_sensitive}, over lines {spans_lines}): {} lines, of ripgrep {}",
                own.total, other.total
            );
        }
        score.equal += usize::from(is_equal);
        score.matching += usize::from(other.total > 0);
        score.own.push(own.took);
        score.theirs.push(other.took);
    }
    print(&scores, &ripgrep.version);
    Ok(scores.values().map(|score| score.own.len() - score.equal).sum())
}

fn print(scores: &BTreeMap<PatternKind, KindScore>, version: &str) {
    println!(
        "{:<20} {:>8} {:>8} {:>8}   {:>26}   {version}, ms",
        "F: grep_search", "patterns", "matching", "equal", "p50, p95, p99 in ms"
    );
    let mut all = KindScore::default();
    let line = |title: &str, score: &mut KindScore| {
        let times = |durations: &mut Vec<Duration>| {
            durations.sort_unstable();
            let [median, late, last] = [50, 95, 99].map(|percent| within(durations, percent));
            format!("{median:>8.2} {late:>8.2} {last:>8.2}")
        };
        let (own, theirs) = (times(&mut score.own), times(&mut score.theirs));
        let count = score.own.len();
        println!(
            "{title:<20} {count:>8} {:>8} {:>8}   {own}   {theirs}",
            score.matching, score.equal
        );
    };
    for (kind, score) in scores {
        let KindScore { equal, matching, own, theirs } = score;
        all.equal += equal;
        all.matching += matching;
        all.own.extend(own);
        all.theirs.extend(theirs);
        let (own, theirs) = (own.clone(), theirs.clone());
        line(kind.title(), &mut KindScore { equal: *equal, matching: *matching, own, theirs });
    }
    line("all", &mut all);
}

/// Whether the same lines were found, as far as both show them.
fn are_equal(own: &FoundLines, other: &FoundLines) -> bool {
    match own.places.len() as u64 >= own.total.min(other.total) {
        true => own.places == other.places,
        // More than one result holds: those that it holds are among the others.
        false => own.places.is_subset(&other.places),
    }
}

async fn by_moss(caller: &BenchClient, pattern: &SuitePattern) -> Result<FoundLines> {
    let arguments = json!({
        "pattern": pattern.text,
        "caseSensitive": pattern.case_sensitive,
        "multiline": pattern.spans_lines,
        "limit": LIMIT,
        "context": 0,
    });
    let started = Instant::now();
    let response = caller.call("grep_search", arguments.to_string()).await?;
    let took = started.elapsed();
    let result = done(response).with_context(|| pattern.text.clone())?.result;
    let result = result.context("it is done")?;
    let found: Value = serde_json::from_str(&result.output_json)?;
    let total = found["total_matches"].as_u64().context("a search without a count")?;
    let matches = found["matches"].as_array().context("a search without matches")?;
    let places = matches
        .iter()
        .filter_map(|hit| Some((hit["path"].as_str()?.to_owned(), hit["line"].as_u64()?)));
    Ok(FoundLines { total, places: places.collect(), took })
}

/// What ripgrep finds, and how long it takes to count that.
fn by_ripgrep(ripgrep: &Ripgrep, pattern: &SuitePattern) -> Result<FoundLines> {
    let case = if pattern.case_sensitive { "--case-sensitive" } else { "--ignore-case" };
    let mut arguments = vec!["--crlf", case];
    if pattern.kind == PatternKind::Multiline {
        arguments.push("--multiline");
    }
    if pattern.spans_lines {
        arguments.push("--multiline-dotall");
    }
    arguments.extend(["-e", pattern.text.as_str()]);
    let started = Instant::now();
    ripgrep.run(&[&["--count"], arguments.as_slice()].concat())?;
    let took = started.elapsed();
    let printed = ripgrep.run(&[&["--json"], arguments.as_slice()].concat())?;
    let (mut total, mut places) = (0, Places::new());
    for line in printed.lines().filter(|line| line.starts_with(r#"{"type":"match","#)) {
        let event: Value = serde_json::from_str(line)?;
        total += 1;
        let (path, line) = (&event["data"]["path"]["text"], &event["data"]["line_number"]);
        if let (Some(path), Some(line)) = (path.as_str(), line.as_u64()) {
            places.insert((path.trim_start_matches("./").to_owned(), line));
        }
    }
    Ok(FoundLines { total, places, took })
}
