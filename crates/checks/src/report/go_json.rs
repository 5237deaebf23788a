//! The events of `go test -json`, and the text of packages that do not build.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{CaseOutcome, TestCase, TestReport, escaped, milliseconds};
use crate::lint_output::gnu;

/// Most bytes of output that are kept of one test.
const OUTPUT_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent {
    #[serde(default)]
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
    elapsed: Option<f64>,
}

/// What is known of a run, event by event.
#[derive(Debug, Default)]
struct GoReading {
    report: TestReport,
    /// What tests and packages wrote, by package and test.
    outputs: BTreeMap<(String, String), String>,
    running: Vec<(String, String)>,
    /// What the compiler wrote.
    build: String,
    /// Packages that failed, with what they wrote.
    failed: Vec<(String, String)>,
}

/// Reads the standard output and error of a run.
pub(crate) fn read(stdout: &str, stderr: &str) -> TestReport {
    let mut reading = GoReading::default();
    for line in stdout.lines() {
        match serde_json::from_str::<GoEvent>(line) {
            Ok(event) => reading.add(event),
            // What does not build is said in plain text by older versions.
            Err(_) => {
                reading.build.push_str(line);
                reading.build.push('\n');
            }
        }
    }
    reading.build.push_str(stderr);
    reading.ended()
}

// === impl GoReading ===

impl GoReading {
    fn add(&mut self, event: GoEvent) {
        let key = (event.package.clone(), event.test.clone());
        match event.action.as_str() {
            "output" => {
                let output = self.outputs.entry(key).or_default();
                if output.len() < OUTPUT_BYTES_MAX {
                    output.push_str(&event.output);
                }
            }
            "build-output" => self.build.push_str(&event.output),
            "build-fail" => self.report.is_build_failed = true,
            "run" if !event.test.is_empty() => self.running.push(key),
            "pass" | "fail" | "skip" if !event.test.is_empty() => {
                self.running.retain(|one| *one != key);
                let output = self.outputs.remove(&key).unwrap_or_default();
                self.report.push(case(&event, &output));
            }
            "fail" => {
                let output = self.outputs.remove(&key).unwrap_or_default();
                match is_not_built(&output) {
                    true => self.report.is_build_failed = true,
                    false => self.failed.push((event.package, output)),
                }
            }
            _ => {}
        }
    }

    fn ended(self) -> TestReport {
        let Self { mut report, mut outputs, running, build, failed } = self;
        // A panic or `os.Exit` ends a package with the test still open.
        for key in running {
            let output = outputs.remove(&key).unwrap_or_default();
            let event = GoEvent {
                action: "fail".to_owned(),
                package: key.0,
                test: key.1,
                output: String::new(),
                elapsed: None,
            };
            report.push(TestCase { outcome: CaseOutcome::Errored, ..case(&event, &output) });
        }
        report.is_build_failed |= is_not_built(&build);
        if report.is_build_failed {
            report.build = gnu::read(&build, "go");
        }
        without_parents(&mut report);
        for (package, output) in failed {
            let heading = format!("{package}\n");
            let explains = |case: &TestCase| case.is_bad() && case.details.starts_with(&heading);
            if !report.cases.iter().any(explains) {
                // `os.Exit` in a test or in `TestMain`, a panic while it starts.
                report.push(TestCase {
                    outcome: CaseOutcome::Errored,
                    message: format!("{package} failed as a whole: {}", output.trim()),
                    file: Some(package),
                    ..TestCase::default()
                });
            }
        }
        report
    }
}

fn is_not_built(text: &str) -> bool {
    text.contains("[build failed]") || text.contains("[setup failed]")
}

/// A test fails where a part of it does: the parts are enough. Packages may have tests of the same name.
fn without_parents(report: &mut TestReport) {
    let key = |case: &TestCase| {
        let package = case.details.lines().next().unwrap_or_default();
        format!("{package}\n{}/", case.id)
    };
    let bad = report.cases.iter().filter(|case| case.is_bad());
    let failed: BTreeSet<String> = bad.map(key).collect();
    report.cases.retain(|case| {
        let key = key(case);
        // What begins with it stands right behind it.
        let mut parts = failed.range(key.clone()..).filter(|other| **other != key);
        !case.is_bad() || !parts.next().is_some_and(|other| other.starts_with(&key))
    });
}

fn case(event: &GoEvent, output: &str) -> TestCase {
    let outcome = match event.action.as_str() {
        "pass" => CaseOutcome::Passed,
        "skip" => CaseOutcome::Skipped,
        _ if output.contains("\npanic: ") || output.starts_with("panic: ") => CaseOutcome::Errored,
        _ => CaseOutcome::Failed,
    };
    let mut case = TestCase {
        // Its parts are expressions of their own.
        id: event.test.split('/').map(escaped).collect::<Vec<_>>().join("/"),
        outcome,
        duration_ms: event.elapsed.and_then(milliseconds),
        ..TestCase::default()
    };
    if case.is_bad() {
        let own = output.lines().filter(|line| {
            let line = line.trim_start();
            !line.starts_with("=== ") && !line.starts_with("--- ")
        });
        let own: Vec<&str> = own.collect();
        case.output = own.join("\n");
        // The first line says which package it is, for who looks whether its failure is explained.
        case.details = format!("{}\n{}", event.package, case.output);
        // What it logged before stands in the same form: what it says last is why it failed.
        let last = own.iter().rposition(|line| location(line).is_some());
        if let Some(at) = last
            && let Some((file, number, message)) = location(own[at])
        {
            case.file = Some(in_package(&event.package, file));
            case.line = Some(number);
            let more = own[at + 1..].iter().take_while(|line| line.starts_with("        "));
            let lines: Vec<&str> =
                std::iter::once(message).chain(more.map(|line| line.trim_end())).collect();
            case.message = lines.join("\n").trim().to_owned();
        }
        let panic = own.iter().find(|line| line.trim_start().starts_with("panic: "));
        if let Some(panic) = panic {
            case.message = panic.trim().to_owned();
        } else if case.message.is_empty() {
            case.message = own.first().map_or("", |line| line.trim()).to_owned();
        }
    }
    case
}

/// Takes `    a_test.go:12: message` apart: file, line, message.
fn location(line: &str) -> Option<(&str, u64, &str)> {
    let (file, rest) = line.trim().split_once(".go:")?;
    let (number, message) = rest.split_once(':')?;
    let end = line.trim().len() - rest.len() - 1;
    (!file.contains(' ')).then_some((&line.trim()[..end], number.parse().ok()?, message.trim()))
}

/// A file of a package by its import path: the tool resolves the module's own prefix.
fn in_package(package: &str, file: &str) -> String {
    if file.contains('/') { file.to_owned() } else { format!("{package}/{file}") }
}
