//! Which lines ran, in one shape whoever measured it.

mod reading;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::reading::{is_profile, read, source_names};

/// Most files of one result, those with the most lines that did not run first.
const FILES_MAX: usize = 50;
/// Most ranges of lines of one file.
const RANGES_MAX: usize = 40;

/// Which share of the lines ran, and in which files some did not.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestCoverage {
    /// Share of the lines that ran, in percent.
    pub lines_percent: f64,
    /// Share of the branches that were taken, in percent, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branches_percent: Option<f64>,
    /// The files, those with the most lines that did not run first, up to 50.
    pub files: Vec<FileCoverage>,
    /// Which of the lines that changed did not run; missing where nothing is known to have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<ChangedCoverage>,
    /// All that was measured.
    #[serde(skip)]
    counts: LineCounts,
}

/// Which lines of a file ran.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FileCoverage {
    /// The file, relative to the workspace root.
    pub path: String,
    /// Share of its lines that ran, in percent.
    pub lines_percent: f64,
    /// Share of its branches that were taken, in percent, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branches_percent: Option<f64>,
    /// Lines that did not run: `3`, `7-12`, up to 40 of them.
    pub missed: Vec<String>,
}

/// Which of the lines that changed ran. Only lines count that can run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedCoverage {
    /// What the files are compared with, in words.
    pub since: String,
    /// Share of them that ran, in percent.
    pub lines_percent: f64,
    /// How many of them did not run.
    pub missed_total: u64,
    /// The files with lines that changed and did not run, those with the most of them first, up to 50.
    pub files: Vec<ChangedFileCoverage>,
    /// Files of a measured language that changed and were not measured: nothing loaded them. Up to 50.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<String>,
}

/// Which lines of a file changed and did not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedFileCoverage {
    /// The file, relative to the workspace root.
    pub path: String,
    /// The lines: `3`, `7-12`, up to 40 of them.
    pub missed: Vec<String>,
}

/// How often each line of each file ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct LineCounts {
    files: BTreeMap<String, BTreeMap<u64, u64>>,
    /// How many branches each file has, and how many of them were taken.
    branches: BTreeMap<String, (u64, u64)>,
}

// === impl LineCounts ===

impl LineCounts {
    fn add(&mut self, file: Option<&String>, line: u64, count: u64) {
        let Some(file) = file else { return };
        let lines = self.files.entry(file.clone()).or_default();
        let known = lines.entry(line).or_default();
        *known = known.saturating_add(count);
    }

    fn merge(&mut self, other: Self) {
        for (file, lines) in &other.files {
            lines.iter().for_each(|(line, count)| self.add(Some(file), *line, *count));
        }
        for (file, (all, taken)) in other.branches {
            let known = self.branches.entry(file).or_default();
            *known = (known.0.saturating_add(all), known.1.saturating_add(taken));
        }
    }

    fn summary(self) -> TestCoverage {
        let all: usize = self.files.values().map(BTreeMap::len).sum();
        let all_ran: usize = self.files.values().map(ran).sum();
        let mut files: Vec<(usize, FileCoverage)> = self
            .files
            .iter()
            .map(|(path, lines)| {
                let file = FileCoverage {
                    path: path.clone(),
                    lines_percent: share(ran(lines), lines.len()),
                    branches_percent: self.branches.get(path).and_then(|of| taken(*of)),
                    missed: ranges(missed(lines)),
                };
                (lines.len() - ran(lines), file)
            })
            .collect();
        files.sort_by(|(one, _), (other, _)| other.cmp(one));
        let add = |sum: (u64, u64), of: &(u64, u64)| (sum.0 + of.0, sum.1 + of.1);
        TestCoverage {
            lines_percent: share(all_ran, all),
            branches_percent: taken(self.branches.values().fold((0, 0), add)),
            files: files.into_iter().take(FILES_MAX).map(|(_, file)| file).collect(),
            changed: None,
            counts: self,
        }
    }
}

// === impl TestCoverage ===

impl TestCoverage {
    /// Adds what another run measured.
    pub fn add(&mut self, other: Self) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.merge(other.counts);
        *self = counts.summary();
    }

    /// Says which of the lines that changed did not run. `since` says in words since when they did.
    pub fn compare(&mut self, changed: &BTreeMap<String, BTreeSet<u64>>, since: String) {
        let extension = |path: &str| path.rsplit_once('.').map(|(_, end)| end.to_owned());
        let measured: BTreeSet<_> = self.counts.files.keys().map(|path| extension(path)).collect();
        let (mut all, mut files, mut unmeasured) = (0, Vec::new(), Vec::new());
        for (path, changed) in changed.iter().filter(|(_, lines)| !lines.is_empty()) {
            let Some(lines) = self.counts.files.get(path) else {
                if measured.contains(&extension(path)) {
                    unmeasured.push(path.clone());
                }
                continue;
            };
            all += lines.keys().filter(|line| changed.contains(line)).count();
            let missed: Vec<u64> = missed(lines).filter(|line| changed.contains(line)).collect();
            if !missed.is_empty() {
                files.push((missed.len(), path.clone(), ranges(missed.into_iter())));
            }
        }
        if all == 0 && unmeasured.is_empty() {
            return;
        }
        files.sort_by(|(one, ..), (other, ..)| other.cmp(one));
        unmeasured.truncate(FILES_MAX);
        let missed: usize = files.iter().map(|(missed, ..)| missed).sum();
        let shown = |(_, path, missed)| ChangedFileCoverage { path, missed };
        self.changed = Some(ChangedCoverage {
            since,
            lines_percent: share(all - missed, all),
            missed_total: missed as u64,
            files: files.into_iter().take(FILES_MAX).map(shown).collect(),
            unmeasured,
        });
    }
}

fn share(part: usize, all: usize) -> f64 {
    match all {
        0 => 100.0,
        #[expect(clippy::cast_precision_loss, reason = "lines of files are few")]
        all => (part as f64 / all as f64 * 1000.0).round() / 10.0,
    }
}

/// The share of branches that were taken; none where there are none.
fn taken((all, taken): (u64, u64)) -> Option<f64> {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    (all > 0).then(|| share(number(taken.min(all)), number(all)))
}

fn ran(lines: &BTreeMap<u64, u64>) -> usize {
    lines.values().filter(|count| **count > 0).count()
}

/// The lines that did not run.
fn missed(lines: &BTreeMap<u64, u64>) -> impl Iterator<Item = u64> {
    lines.iter().filter(|(_, count)| **count == 0).map(|(line, _)| *line)
}

/// Ascending lines, neighbours together.
fn ranges(lines: impl Iterator<Item = u64>) -> Vec<String> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == line => *end = line,
            _ => ranges.push((line, line)),
        }
    }
    let shown = |(start, end): (u64, u64)| match start == end {
        true => start.to_string(),
        false => format!("{start}-{end}"),
    };
    ranges.into_iter().take(RANGES_MAX).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{FinishedRun, ReportFile};
    use crate::source_paths::SourcePaths;

    /// Reads one report of a run in `/w`, as pytest-cov 7.1.0 and Go 1.19 write them.
    fn measured(name: &str, text: &str) -> Option<TestCoverage> {
        let reports = [ReportFile { name: name.to_owned(), text: text.to_owned() }];
        let finished = FinishedRun {
            exit_code: Some(0),
            signal: None,
            stdout: "",
            stderr: "",
            reports: &reports,
            left_out: None,
            is_cut: false,
        };
        let paths = SourcePaths::new("/w", "app").with_prefix(Some("example.com/m".to_owned()));
        read(&finished, &paths)
    }

    #[test]
    fn lines_that_did_not_run_are_named_in_ranges() {
        let lcov = "SF:calc.py\nDA:1,1\nDA:2,1\nDA:3,0\nDA:4,0\nDA:6,0\nBRF:2\nBRH:1\nend_of_record\n\
                    SF:/elsewhere/x.py\nDA:1,0\nend_of_record\nSF:/w/app/b.py\nDA:1,1\nend_of_record\n";
        let found = measured("coverage.lcov", lcov).unwrap();
        assert_eq!((found.lines_percent, found.branches_percent), (50.0, Some(50.0)));
        assert_eq!(found.files[0].path, "app/calc.py");
        assert_eq!(found.files[0].missed, ["3-4", "6"]);
        assert_eq!((found.files[1].path.as_str(), found.files.len()), ("app/b.py", 2));
        let branches: Vec<_> = found.files.iter().map(|file| file.branches_percent).collect();
        assert_eq!(branches, [Some(50.0), None]);
    }

    #[test]
    fn changed_lines_that_did_not_run_are_named_and_only_lines_count_that_can_run() {
        let lcov = "SF:calc.py\nDA:1,1\nDA:2,1\nDA:3,0\nDA:4,0\nDA:6,0\nend_of_record\n\
                    SF:b.py\nDA:1,1\nend_of_record\n";
        let changed = |files: &[(&str, &[u64])]| {
            let lines = files.iter();
            lines
                .map(|(path, lines)| ((*path).to_owned(), lines.iter().copied().collect()))
                .collect()
        };
        let mut found = measured("coverage.lcov", lcov).unwrap();
        found.compare(
            &changed(&[
                ("app/calc.py", &[2, 3, 4, 5, 7]),
                ("app/b.py", &[1]),
                ("app/new.py", &[1, 2]),
                ("app/README.md", &[1]),
                ("app/same.py", &[]),
            ]),
            "then".to_owned(),
        );
        let of = found.changed.clone().unwrap();
        assert_eq!((of.since.as_str(), of.lines_percent, of.missed_total), ("then", 50.0, 2));
        let missed = ChangedFileCoverage { path: "app/calc.py".into(), missed: vec!["3-4".into()] };
        assert_eq!(of.files, [missed]);
        assert_eq!(of.unmeasured, ["app/new.py"]);
        let mut other = measured("coverage.lcov", lcov).unwrap();
        other.compare(
            &changed(&[("app/README.md", &[1]), ("app/calc.py", &[5])]),
            "then".to_owned(),
        );
        assert_eq!(other.changed, None);
    }

    #[test]
    fn the_profile_of_go_is_one_of_blocks() {
        let profile = "mode: set\nexample.com/m/calc/calc.go:3.24,4.11 1 1\n\
                       example.com/m/calc/calc.go:7.2,7.14 1 1\nexample.com/m/calc/calc.go:4.11,6.3 1 0\n";
        let found = measured("cover.out", profile).unwrap();
        assert_eq!(found.files[0].path, "app/calc/calc.go");
        assert_eq!(
            (found.files[0].lines_percent, &*found.files[0].missed),
            (60.0, &["5-6".to_owned()][..])
        );
    }

    /// The share of lines and branches, and the lines of each file that did not run.
    fn shown(found: &TestCoverage) -> (f64, Option<f64>, Vec<(&str, String)>) {
        let missed = |file: &FileCoverage| file.missed.join(",");
        let files = found.files.iter().map(|file| (file.path.as_str(), missed(file))).collect();
        (found.lines_percent, found.branches_percent, files)
    }

    #[test]
    fn clover_of_phpunit_and_the_result_set_of_simplecov_are_read() {
        // PHPUnit 9.6.7 with pcov 1.0.11.
        let clover = include_str!("../tests/fixtures/coverage/clover.xml");
        let found = measured("clover.xml", clover).unwrap();
        assert_eq!(shown(&found), (66.7, None, vec![("src/Calc.php", "5".to_owned())]));
        // SimpleCov 0.22.0; an earlier run of another command does not count.
        let set = include_str!("../tests/fixtures/coverage/resultset.json");
        let found = measured(".resultset.json", set).unwrap();
        assert_eq!(shown(&found), (80.0, Some(50.0), vec![("lib/calc.rb", "4".to_owned())]));
        let bare = r#"{"RSpec":{"coverage":{"/w/a.rb":[1,null,0]},"timestamp":1}}"#;
        let found = measured(".resultset.json", bare).unwrap();
        assert_eq!(shown(&found), (50.0, None, vec![("a.rb", "3".to_owned())]));
    }

    #[test]
    fn deno_writes_lcov() {
        // Deno 2.9.6.
        let lcov = include_str!("../tests/fixtures/coverage/deno.info");
        let found = measured("lcov.info", lcov).unwrap();
        assert_eq!(shown(&found), (66.7, Some(50.0), vec![("calc.ts", "3-4".to_owned())]));
    }

    #[test]
    fn jacoco_names_packages_whose_sources_are_found() {
        let text = r#"<?xml version="1.0"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">
            <report name="calc"><package name="com/example"><class name="com/example/Calc"><method name="add" line="5"/>
            </class><sourcefile name="Calc.java"><line nr="5" mi="0" ci="3" mb="1" cb="1"/><line nr="6" mi="5" ci="0"
            mb="0" cb="0"/><line nr="8" mi="0" ci="4" mb="0" cb="0"/></sourcefile></package></report>"#;
        let reports = [ReportFile { name: "jacoco-app.xml".to_owned(), text: text.to_owned() }];
        let finished = FinishedRun {
            exit_code: Some(0),
            signal: None,
            stdout: "",
            stderr: "",
            reports: &reports,
            left_out: None,
            is_cut: false,
        };
        let names = source_names(&finished);
        assert_eq!(names.iter().collect::<Vec<_>>(), ["com/example/Calc.java"]);
        let files = ["app/src/main/java/com/example/Calc.java"];
        let sources = crate::named_sources::named_sources(&names, files.into_iter());
        let paths = SourcePaths::new("/w", "app").with_sources(sources);
        let found = read(&finished, &paths).unwrap();
        let missed = vec![("app/src/main/java/com/example/Calc.java", "6".to_owned())];
        assert_eq!(shown(&found), (66.7, Some(50.0), missed));
    }

    #[test]
    fn what_is_no_profile_is_none() {
        for text in ["", "nonsense\nDA:x,y\nSF", "SF:a.py\nDA:1", "a.go:1.1,2 x"] {
            assert_eq!(measured("coverage.lcov", text), None, "{text}");
            assert_eq!(measured("cover.out", text), None, "{text}");
        }
    }
}
