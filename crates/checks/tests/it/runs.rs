//! Runs of real frameworks, recorded with the commands that moss runs: what is read of each is in
//! `expected.txt` beside it. The directories of the recordings name the versions. Only the last lines of long
//! outputs were not kept apart, nor what reports of Maven say of the machine: texts are as they came, with other paths.
//!
//! `UPDATE_EXPECTED=1` writes these files anew; then look at every line that changed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use moss_checks::{
    FinishedRun, ReportFile, SourcePaths, TestFramework, TestResults, named_sources, source_names,
    test_results,
};

/// Every recording, with the totals that the tool itself wrote: passed, failed, skipped, errored.
const RUNS: &[(&str, [u64; 4])] = &[
    ("cargo-1.95.0/mixed", [3, 5, 1, 0]),
    ("cargo-1.95.0/broken", [0, 0, 0, 0]),
    ("cargo-1.95.0/empty", [0, 0, 0, 0]),
    ("cargo-1.95.0/abort", [0, 0, 0, 0]),
    ("nextest-0.9.143/mixed", [2, 4, 0, 0]),
    ("nextest-0.9.143/broken", [0, 0, 0, 0]),
    ("nextest-0.9.143/empty", [0, 0, 0, 0]),
    ("nextest-0.9.143/abort", [2, 1, 0, 0]),
    ("pytest-9.2.0/mixed", [4, 4, 1, 1]),
    ("pytest-9.2.0/broken", [0, 0, 0, 0]),
    ("pytest-9.2.0/empty", [0, 0, 0, 0]),
    // Parts of a test are one, and what is run again, too.
    ("pytest-9.2.0/nodes", [1, 14, 1, 2]),
    ("unittest-python-3.11.7/mixed", [1, 3, 1, 2]),
    ("unittest-python-3.11.7/broken", [1, 3, 1, 2]),
    ("unittest-python-3.11.7/empty", [0, 0, 0, 0]),
    ("unittest-python-3.11.7/skipped", [0, 0, 2, 0]),
    // What is expected to fail and does counts as skipped.
    ("unittest-python-3.11.7/parts", [3, 4, 6, 1]),
    ("unittest-python-3.9.18/skipped", [0, 0, 2, 0]),
    ("unittest-python-3.9.18/parts", [3, 4, 6, 1]),
    ("unittest-python-3.12.1/skipped", [0, 0, 2, 0]),
    ("unittest-python-3.12.1/parts", [3, 4, 6, 1]),
    ("unittest-python-3.13.0/skipped", [0, 0, 2, 0]),
    ("unittest-python-3.13.0/parts", [3, 4, 6, 1]),
    ("jest-30.5.2/mixed", [1, 2, 2, 0]),
    ("jest-30.5.2/broken", [1, 2, 2, 0]),
    ("jest-30.5.2/empty", [0, 0, 0, 0]),
    ("vitest-4.1.12/mixed", [1, 2, 2, 0]),
    ("vitest-4.1.12/broken", [1, 2, 2, 0]),
    ("vitest-4.1.12/empty", [0, 0, 0, 0]),
    ("mocha-12.0.3/mixed", [1, 2, 2, 1]),
    ("mocha-12.0.3/broken", [0, 0, 0, 0]),
    ("mocha-12.0.3/empty", [0, 0, 0, 0]),
    ("mocha-12.0.3/twins", [1, 1, 3, 1]),
    ("node-20.20.2/mixed", [2, 3, 2, 0]),
    ("node-20.20.2/broken", [2, 3, 2, 0]),
    ("node-20.20.2/empty", [0, 0, 0, 0]),
    // The tool counts a file without tests and tests of which parts failed, too, and calls a hook no test.
    ("node-20.20.2/parts", [5, 6, 1, 1]),
    // The tool calls a test skipped whose hook fails, and ends with 1.
    ("node-20.20.2/skipped", [0, 1, 1, 0]),
    // What fails for tests that were not chosen is no failure of this run. The tool calls them skipped.
    ("node-20.20.2/chosen", [1, 0, 0, 0]),
    ("node-20.20.2/unchosen", [0, 0, 0, 0]),
    ("bun-1.4.5/mixed", [1, 2, 2, 0]),
    ("bun-1.4.5/broken", [1, 2, 2, 0]),
    ("bun-1.4.5/empty", [0, 0, 0, 0]),
    ("deno-2.9.6/mixed", [2, 2, 1, 0]),
    ("deno-2.9.6/broken", [0, 0, 0, 0]),
    ("deno-2.9.6/empty", [0, 0, 0, 0]),
    ("go-1.19.8/mixed", [3, 2, 1, 1]),
    ("go-1.19.8/broken", [1, 0, 0, 0]),
    ("go-1.19.8/empty", [0, 0, 0, 0]),
    ("go-1.19.8/twins", [0, 2, 0, 0]),
    ("rspec-3.12.0/mixed", [1, 2, 2, 0]),
    ("rspec-3.12.0/broken", [0, 0, 0, 0]),
    ("rspec-3.12.0/empty", [0, 0, 0, 0]),
    ("rspec-3.12.0/nameless", [2, 3, 0, 0]),
    ("phpunit-9.6.7/mixed", [2, 2, 1, 1]),
    ("phpunit-9.6.7/broken", [0, 0, 0, 0]),
    ("phpunit-9.6.7/empty", [0, 0, 0, 0]),
    ("phpunit-9.6.7/namespaced", [0, 6, 0, 0]),
    ("bats-1.8.2/mixed", [1, 2, 1, 0]),
    ("bats-1.8.2/broken", [1, 2, 1, 0]),
    ("bats-1.8.2/empty", [0, 0, 0, 0]),
    ("ctest-3.25.1/mixed", [1, 3, 1, 1]),
    ("maven-3.8.7/mixed", [1, 1, 1, 1]),
    ("maven-3.8.7/broken", [0, 0, 0, 0]),
    ("maven-3.8.7/empty", [0, 0, 0, 0]),
    // Cases of JUnit 5 and rows of JUnit 4.
    ("maven-3.8.7/cases", [6, 9, 0, 0]),
    ("maven-3.8.7/rows", [3, 1, 0, 0]),
];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs")
}

/// The bytes of a recording, as UTF-8; empty where the tool wrote nothing.
fn recorded(run: &str, name: &str) -> String {
    fs::read_to_string(directory().join(run).join(name)).unwrap_or_default()
}

/// What is read of a recording.
fn read(run: &str) -> TestResults {
    let name = run.split('-').next().unwrap();
    let framework = TestFramework::all().find(|framework| framework.name() == name).unwrap();
    let reports: Vec<ReportFile> = ["xml", "json"]
        .into_iter()
        .map(|end| ReportFile {
            name: format!("report.{end}"),
            text: recorded(run, &format!("report.{end}")),
        })
        .filter(|file| !file.text.is_empty())
        .collect();
    let (stdout, stderr) = (recorded(run, "stdout"), recorded(run, "stderr"));
    let exit_code = Some(recorded(run, "exit").trim().parse().expect("an exit status"));
    let prefix = (framework == TestFramework::Go).then(|| "example.com/m".to_owned());
    let paths = SourcePaths::new("/project", "").with_prefix(prefix);
    let finished = FinishedRun {
        exit_code,
        signal: None,
        stdout: &stdout,
        stderr: &stderr,
        reports: &reports,
        left_out: None,
        is_cut: false,
    };
    let tests = ["CalcTest", "CasesTest", "NamedRowsTest"];
    let tests = tests.map(|test| format!("src/test/java/com/example/{test}.java"));
    let files = tests.iter().map(String::as_str).chain(["src/main/java/com/example/Calc.java"]);
    let sources = named_sources(&source_names(framework, &finished), files);
    test_results(framework, &paths.with_sources(sources), &finished)
}

/// Results as a person reads them.
fn shown(results: &TestResults) -> String {
    let mut text = format!("{:?}\n", results.status);
    for failure in &results.failures {
        let place = failure.file.as_deref().unwrap_or("-");
        let line = failure.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
        writeln!(text, "{}\n  at {place}:{line}\n  {:?}", failure.id, failure.message).unwrap();
        if let (Some(expected), Some(actual)) = (&failure.expected, &failure.actual) {
            writeln!(text, "  expected {expected:?}, got {actual:?}").unwrap();
        }
        for frame in &failure.stack {
            writeln!(text, "  stack {frame}").unwrap();
        }
        if !failure.output_tail.is_empty() {
            writeln!(text, "  wrote {:?}", failure.output_tail).unwrap();
        }
    }
    for found in &results.diagnostics {
        let code = found.code.as_deref().unwrap_or("-");
        writeln!(text, "{} {code} {:?}", found.location(), found.message).unwrap();
    }
    if let Some(note) = &results.note {
        writeln!(text, "note {note:?}").unwrap();
    }
    text
}

#[test]
fn recorded_runs_are_read_as_their_tools_count_them() {
    let mut wrong = Vec::new();
    for (run, totals) in RUNS {
        let results = read(run);
        let found = results.totals;
        let counted = [found.passed, found.failed, found.skipped, found.errored];
        if counted != *totals {
            wrong.push(format!("{run}: {counted:?}, but the tool counts {totals:?}"));
        }
        let path = directory().join(run).join("expected.txt");
        let (shown, expected) = (shown(&results), fs::read_to_string(&path).unwrap_or_default());
        if shown == expected {
            continue;
        }
        match std::env::var_os("UPDATE_EXPECTED") {
            Some(_) => fs::write(&path, shown).unwrap(),
            None => wrong.push(format!("{run}: is read as\n{shown}but expected\n{expected}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_recording_is_read() {
    let mut found = Vec::new();
    for framework in fs::read_dir(directory()).unwrap() {
        let framework = framework.unwrap();
        for variant in fs::read_dir(framework.path()).unwrap() {
            let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
            found.push(format!("{}/{}", name(&framework), name(&variant.unwrap())));
        }
    }
    found.retain(|run| !RUNS.iter().any(|(known, _)| known == run));
    assert_eq!(found, Vec::<String>::new());
}

/// A report that is cut anywhere is never called passed.
#[test]
fn a_report_that_is_not_whole_is_never_called_passed() {
    for (run, _) in RUNS.iter().filter(|(run, _)| run.ends_with("/mixed")) {
        let name = run.split('-').next().unwrap();
        let framework = TestFramework::all().find(|framework| framework.name() == name).unwrap();
        let paths = SourcePaths::new("/project", "");
        for end in ["xml", "json"] {
            let report = recorded(run, &format!("report.{end}"));
            let cuts = (0..report.len()).step_by(report.len() / 40 + 1);
            for cut in cuts.filter(|cut| report.is_char_boundary(*cut)) {
                let reports =
                    [ReportFile { name: format!("report.{end}"), text: report[..cut].to_owned() }];
                // Even where the tool exits as if all were well.
                for exit_code in [Some(0), Some(1), None] {
                    let finished = FinishedRun {
                        exit_code,
                        signal: None,
                        stdout: "",
                        stderr: "",
                        reports: &reports,
                        left_out: None,
                        is_cut: false,
                    };
                    let status = test_results(framework, &paths, &finished).status;
                    assert_ne!(format!("{status:?}"), "Passed", "{run} cut at {cut}");
                }
            }
        }
    }
}
