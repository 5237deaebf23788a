//! The events of `go test -json`, and the text of packages that do not build.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{CaseOutcome, TestCase, TestReport, milliseconds};
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

/// Reads the standard output and error of a run.
pub(crate) fn read(stdout: &str, stderr: &str) -> TestReport {
    let mut report = TestReport::default();
    let mut outputs: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut running: Vec<(String, String)> = Vec::new();
    let mut build = String::new();
    for line in stdout.lines() {
        let Ok(event) = serde_json::from_str::<GoEvent>(line) else {
            // What does not build is said in plain text by older versions.
            build.push_str(line);
            build.push('\n');
            continue;
        };
        let key = (event.package.clone(), event.test.clone());
        match event.action.as_str() {
            "output" => {
                let output = outputs.entry(key).or_default();
                if output.len() < OUTPUT_BYTES_MAX {
                    output.push_str(&event.output);
                }
            }
            "build-output" => build.push_str(&event.output),
            "build-fail" => report.is_build_failed = true,
            "run" if !event.test.is_empty() => running.push(key),
            "pass" | "fail" | "skip" if !event.test.is_empty() => {
                running.retain(|one| *one != key);
                let output = outputs.remove(&key).unwrap_or_default();
                report.push(case(&event, &output));
            }
            "fail" => {
                let output = outputs.get(&key).map(String::as_str).unwrap_or_default();
                report.is_build_failed |=
                    output.contains("[build failed]") || output.contains("[setup failed]");
            }
            _ => {}
        }
    }
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
    build.push_str(stderr);
    report.is_build_failed |= build.contains("[build failed]") || build.contains("[setup failed]");
    if report.is_build_failed {
        report.build = gnu::read(&build, "go");
    }
    without_parents(&mut report);
    report
}

/// A test fails where a part of it does: the parts are enough.
fn without_parents(report: &mut TestReport) {
    let failed: Vec<String> =
        report.cases.iter().filter(|case| case.is_bad()).map(|case| case.id.clone()).collect();
    report.cases.retain(|case| {
        let prefix = format!("{}/", case.id);
        !case.is_bad() || !failed.iter().any(|other| other.starts_with(&prefix))
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
        id: event.test.clone(),
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
        case.details = own.join("\n");
        for line in &own {
            let Some((file, number, message)) = location(line) else { continue };
            case.file = Some(in_package(&event.package, file));
            case.line = Some(number);
            case.message = message.to_owned();
            break;
        }
        if case.message.is_empty() {
            let panic = own.iter().find(|line| line.trim_start().starts_with("panic: "));
            case.message = panic.or(own.first()).map_or("", |line| line.trim()).to_owned();
        }
    }
    case
}

/// `    a_test.go:12: message`.
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
