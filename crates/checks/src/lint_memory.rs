//! What a linter found the last time, and what of it is new or gone since. Lines of the old files are
//! followed through the edits, so that what stands below an insertion is not new.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{CheckDiagnostic, CheckSeverity};
use crate::line_map::LineMap;

/// Most diagnostics of one run that are remembered.
const FOUND_MAX: usize = 5_000;
/// Most lines of all files of one run that are remembered.
const LINES_MAX: usize = 400_000;

/// Longest time that files are compared; the lines of others count as changed.
const COMPARE_TIME_MAX: Duration = Duration::from_secs(2);

/// What a run found, and the files as they were then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LintMemory {
    /// Hashes of the lines of the files that had diagnostics.
    files: BTreeMap<String, Vec<u32>>,
    found: Vec<PastDiagnostic>,
}

/// A diagnostic of an earlier run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastDiagnostic {
    /// The file, relative to the workspace root.
    pub path: String,
    /// The line that it had then.
    pub line: u64,
    /// How bad it was.
    pub severity: CheckSeverity,
    /// The rule that it broke; none where the linter names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Who said it: `clippy`, `ruff`, `syntax`.
    pub source: String,
    /// In the words of the linter.
    pub message: String,
}

/// What happened since an earlier run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintChange {
    /// Of each diagnostic of now, whether it is new.
    pub is_new: Vec<bool>,
    /// Diagnostics that were there at the last run and are not any more.
    pub resolved: Vec<PastDiagnostic>,
}

/// What two diagnostics of the same thing have in common wherever they stand: path, source, rule and message.
type LintIdentity<'a> = (&'a str, &'a str, Option<&'a str>, String);

/// Diagnostics of an earlier run and of now, some of them joined already.
struct LintPairs<'a> {
    past: &'a [PastDiagnostic],
    now: &'a [CheckDiagnostic],
    is_gone: Vec<bool>,
    is_new: Vec<bool>,
}

/// Hashes the lines of a text.
pub fn line_hashes(text: &str) -> Vec<u32> {
    let hash = |line: &str| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        // Half of it is enough to distinguish the lines of one file.
        (hasher.finish() >> 32) as u32
    };
    text.lines().map(hash).collect()
}

// === impl LintMemory ===

impl LintMemory {
    /// Remembers diagnostics with the lines of their files; none where they are too many to be compared.
    pub fn of(found: &[CheckDiagnostic], lines: &BTreeMap<String, Vec<u32>>) -> Option<Self> {
        let paths: HashSet<&str> = found.iter().map(|found| found.path.as_str()).collect();
        let mut files = BTreeMap::new();
        for path in paths {
            files.insert(path.to_owned(), lines.get(path)?.clone());
        }
        let all: usize = files.values().map(Vec::len).sum();
        let fits = found.len() <= FOUND_MAX && all <= LINES_MAX;
        fits.then(|| Self { files, found: found.iter().map(PastDiagnostic::of).collect() })
    }

    /// Compares with diagnostics of now. `lines` are those of the files of now; one that is not there is gone.
    pub fn change(
        &self,
        now: &[CheckDiagnostic],
        lines: &BTreeMap<String, Vec<u32>>,
    ) -> LintChange {
        let maps = self.maps(lines);
        let moved = |past: &PastDiagnostic| maps.get(past.path.as_str())?.new_line(past.line);
        let was = |now: &CheckDiagnostic| maps.get(now.path.as_str())?.old_line(now.line);
        let hash = |lines: Option<&Vec<u32>>, line: u64| {
            let at = usize::try_from(line).ok()?.checked_sub(1)?;
            lines?.get(at).copied()
        };
        let mut pairs = LintPairs::new(&self.found, now);
        // What stands on the same line, wherever that is now.
        pairs.join(
            |past| Some((moved(past)?, past.identity())),
            |now| Some((now.line, identity_of(now))),
        );
        // What stands on a line with the same text: which of several is the old one, nobody knows.
        pairs.join(
            |past| Some((hash(self.files.get(&past.path), past.line)?, past.identity())),
            |now| Some((hash(lines.get(&now.path), now.line)?, identity_of(now))),
        );
        // What stands on lines that were edited: the same words there are the same thing.
        pairs.join(
            |past| moved(past).is_none().then(|| past.identity()),
            |now| was(now).is_none().then(|| identity_of(now)),
        );
        pairs.change()
    }

    /// Which lines of the files are which of now.
    fn maps(&self, lines: &BTreeMap<String, Vec<u32>>) -> BTreeMap<&str, LineMap> {
        let started = Instant::now();
        let map = |(path, old): (&'_ String, &'_ Vec<u32>)| {
            let new = lines.get(path)?;
            Some(match started.elapsed() < COMPARE_TIME_MAX {
                true => LineMap::of_lines(old, new),
                false => LineMap::default(),
            })
        };
        let all = self.files.iter();
        all.filter_map(|file| Some((file.0.as_str(), map(file)?))).collect()
    }
}

// === impl LintPairs ===

impl<'a> LintPairs<'a> {
    fn new(past: &'a [PastDiagnostic], now: &'a [CheckDiagnostic]) -> Self {
        Self { past, now, is_gone: vec![true; past.len()], is_new: vec![true; now.len()] }
    }

    /// Joins what has no partner yet and the same key, each in order.
    fn join<K: Hash + Eq>(
        &mut self,
        past_key: impl Fn(&'a PastDiagnostic) -> Option<K>,
        now_key: impl Fn(&'a CheckDiagnostic) -> Option<K>,
    ) {
        let mut free: HashMap<K, Vec<usize>> = HashMap::new();
        for (at, now) in self.now.iter().enumerate().rev().filter(|(at, _)| self.is_new[*at]) {
            if let Some(key) = now_key(now) {
                free.entry(key).or_default().push(at);
            }
        }
        for (at, past) in self.past.iter().enumerate() {
            if !self.is_gone[at] {
                continue;
            }
            let partners = past_key(past).and_then(|key| free.get_mut(&key));
            if let Some(partner) = partners.and_then(Vec::pop) {
                (self.is_new[partner], self.is_gone[at]) = (false, false);
            }
        }
    }

    fn change(self) -> LintChange {
        let gone = self.past.iter().zip(self.is_gone).filter(|(_, is_gone)| *is_gone);
        LintChange { is_new: self.is_new, resolved: gone.map(|(past, _)| past.clone()).collect() }
    }
}

fn identity_of(found: &CheckDiagnostic) -> LintIdentity<'_> {
    (&found.path, &found.source, found.code.as_deref(), without_numbers(&found.message))
}

/// A message without its numbers: many name a line, which moves.
fn without_numbers(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    for c in message.chars() {
        match c.is_ascii_digit() {
            true if text.ends_with('#') => {}
            true => text.push('#'),
            false => text.push(c),
        }
    }
    text
}

// === impl PastDiagnostic ===

impl PastDiagnostic {
    fn of(found: &CheckDiagnostic) -> Self {
        let CheckDiagnostic { path, line, severity, code, source, message, .. } = found.clone();
        Self { path, line, severity, code, source, message }
    }

    fn identity(&self) -> LintIdentity<'_> {
        (&self.path, &self.source, self.code.as_deref(), without_numbers(&self.message))
    }
}
