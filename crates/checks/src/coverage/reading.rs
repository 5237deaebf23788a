//! The profiles that tools write: LCOV, that of Go, the XML of JaCoCo and Clover, the JSON of SimpleCov.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::{LineCounts, TestCoverage};
use crate::report::xml::{self, XmlElement, XmlPart};
use crate::run::FinishedRun;
use crate::source_paths::SourcePaths;

/// What a profile is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProfileFormat {
    Go,
    Lcov,
    Clover,
    Jacoco,
    Simplecov,
}

/// The profile of one command in the result set of SimpleCov.
#[derive(Debug, Deserialize)]
struct SimplecovRun {
    coverage: BTreeMap<String, SimplecovFile>,
    #[serde(default)]
    timestamp: u64,
}

/// Each line with how often it ran, null where it cannot; branches by what they branch on.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SimplecovFile {
    Lines {
        lines: Vec<Value>,
        #[serde(default)]
        branches: BTreeMap<String, BTreeMap<String, u64>>,
    },
    Bare(Vec<Value>),
}

/// Reads what was measured; none where nothing was.
pub(crate) fn read(finished: &FinishedRun<'_>, paths: &SourcePaths) -> Option<TestCoverage> {
    let mut counts = LineCounts::default();
    for file in finished.reports {
        match ProfileFormat::of(&file.name) {
            Some(ProfileFormat::Go) => counts.read_go(&file.text, paths),
            Some(ProfileFormat::Lcov) => counts.read_lcov(&file.text, paths),
            Some(ProfileFormat::Clover) => counts.read_clover(&file.text, paths),
            Some(ProfileFormat::Jacoco) => counts.read_jacoco(&file.text, paths),
            Some(ProfileFormat::Simplecov) => counts.read_simplecov(&file.text, paths),
            None => {}
        }
    }
    (!counts.files.is_empty()).then(|| counts.summary())
}

/// Whether a report is one of what ran, and not of tests.
pub(crate) fn is_profile(name: &str) -> bool {
    ProfileFormat::of(name).is_some()
}

/// The sources that profiles of JaCoCo name, by package and name.
pub(crate) fn source_names(finished: &FinishedRun<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let is_it = |name: &str| ProfileFormat::of(name) == Some(ProfileFormat::Jacoco);
    for file in finished.reports.iter().filter(|file| is_it(&file.name)) {
        each_of_jacoco(&file.text, |name, _| {
            names.insert(name.to_owned());
        });
    }
    names
}

/// Shows each line of a profile of JaCoCo, with its source by package and name.
fn each_of_jacoco(text: &str, mut show: impl FnMut(&str, &XmlElement<'_>)) {
    let (mut package, mut source) = (String::new(), String::new());
    // What of it is not whole has no lines that count.
    let _ = xml::read(text, |part| {
        let XmlPart::Start(element) = part else { return };
        let name = || element.attribute("name").unwrap_or_default();
        match element.name().as_str() {
            "package" => package = name(),
            "sourcefile" if package.is_empty() => source = name(),
            "sourcefile" => source = format!("{package}/{}", name()),
            "line" => show(&source, element),
            _ => {}
        }
    });
}

fn number(element: &XmlElement<'_>, name: &str) -> Option<u64> {
    element.attribute(name)?.parse().ok()
}

// === impl ProfileFormat ===

impl ProfileFormat {
    fn of(name: &str) -> Option<Self> {
        match name {
            "cover.out" => Some(Self::Go),
            "lcov.info" | "coverage.info" | "coverage.lcov" => Some(Self::Lcov),
            "clover.xml" => Some(Self::Clover),
            ".resultset.json" => Some(Self::Simplecov),
            name if name.starts_with("jacoco") && name.ends_with(".xml") => Some(Self::Jacoco),
            _ => None,
        }
    }
}

// === impl LineCounts ===

impl LineCounts {
    fn read_lcov(&mut self, text: &str, paths: &SourcePaths) {
        let mut file = None;
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else { continue };
            match key {
                "SF" => file = paths.of_workspace(value),
                "DA" => {
                    let mut parts = value.split(',').map(str::parse::<u64>);
                    let (Some(Ok(line)), Some(Ok(count))) = (parts.next(), parts.next()) else {
                        continue;
                    };
                    self.add(file.as_ref(), line, count);
                }
                "BRF" | "BRH" => {
                    let Some(file) = &file else { continue };
                    let (all, taken) = self.branches.entry(file.clone()).or_default();
                    let count = if key == "BRF" { all } else { taken };
                    *count = count.saturating_add(value.parse().unwrap_or(0));
                }
                _ => {}
            }
        }
    }

    /// `example.com/m/a.go:3.14,5.2 2 1`: from line and column to line and column, statements, count.
    fn read_go(&mut self, text: &str, paths: &SourcePaths) {
        for line in text.lines() {
            let Some((name, rest)) = line.rsplit_once(':') else { continue };
            let mut parts = rest.split([',', ' ', '.']).map(str::parse::<u64>);
            let mut next = || parts.next()?.ok();
            let (Some(from), Some(_), Some(to), Some(_), Some(_), Some(count)) =
                (next(), next(), next(), next(), next(), next())
            else {
                continue;
            };
            let file = paths.of_workspace(name);
            (from..=to.min(from + 100_000)).for_each(|line| self.add(file.as_ref(), line, count));
        }
    }

    /// `<file name="/w/a.php"><line num="4" type="stmt" count="2"/>`. Of branches it has no more than sums.
    fn read_clover(&mut self, text: &str, paths: &SourcePaths) {
        let mut file = None;
        let _ = xml::read(text, |part| {
            let XmlPart::Start(element) = part else { return };
            match element.name().as_str() {
                "file" => {
                    let name = element.attribute("path").or_else(|| element.attribute("name"));
                    file = name.and_then(|name| paths.of_workspace(&name));
                }
                // The line of a method counts its calls.
                "line" if element.attribute("type").as_deref() != Some("method") => {
                    if let (Some(line), Some(count)) =
                        (number(element, "num"), number(element, "count"))
                    {
                        self.add(file.as_ref(), line, count);
                    }
                }
                _ => {}
            }
        });
    }

    /// `<line nr="5" mi="0" ci="3" mb="1" cb="1"/>`: instructions and branches, missed and covered.
    fn read_jacoco(&mut self, text: &str, paths: &SourcePaths) {
        each_of_jacoco(text, |source, element| {
            let count = |name| number(element, name).unwrap_or_default();
            let (Some(file), Some(line)) = (paths.source(source), number(element, "nr")) else {
                return;
            };
            self.add(Some(file), line, count("ci"));
            self.add_branches(file, count("mb").saturating_add(count("cb")), count("cb"));
        });
    }

    /// What the command that ended last has in a result set: others are from earlier runs.
    fn read_simplecov(&mut self, text: &str, paths: &SourcePaths) {
        let Ok(runs) = serde_json::from_str::<BTreeMap<String, SimplecovRun>>(text) else { return };
        let Some(run) = runs.into_values().max_by_key(|run| run.timestamp) else { return };
        for (path, found) in run.coverage {
            let Some(file) = paths.of_workspace(&path) else { continue };
            let (lines, branches) = match found {
                SimplecovFile::Lines { lines, branches } => (lines, branches),
                SimplecovFile::Bare(lines) => (lines, BTreeMap::new()),
            };
            for (line, count) in (1..).zip(&lines) {
                if let Some(count) = count.as_u64() {
                    self.add(Some(&file), line, count);
                }
            }
            for counts in branches.values().flat_map(BTreeMap::values) {
                self.add_branches(&file, 1, u64::from(*counts > 0));
            }
        }
    }

    fn add_branches(&mut self, file: &str, all: u64, taken: u64) {
        if all > 0 {
            let known = self.branches.entry(file.to_owned()).or_default();
            *known = (known.0.saturating_add(all), known.1.saturating_add(taken));
        }
    }
}
