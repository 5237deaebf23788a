//! The tests of several projects as one run: one after the other, and one result of all.

use moss_checks::{TestFramework, TestResults, TestStatus, TestTotals};
use moss_sdk::context::Context;
use moss_sdk::{ErrorCode, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

use super::found::ChosenTests;
use super::run::{self, TestRun};

/// How the tests of one of several projects ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProjectTests {
    /// The framework that ran them or would run them.
    framework: TestFramework,
    /// The directory of the project, `.` for the workspace root: `path` of a call that runs it alone.
    path: String,
    /// How they ended; missing in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<TestStatus>,
    /// How many tests ended how; missing in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<TestTotals>,
    /// The command that ran them.
    command: String,
    /// How long it took, in milliseconds.
    duration_ms: u64,
    /// The name of the whole output, where it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<String>,
}

/// Runs the tests of each project, in turns, up to the first that cannot be run: its error is returned, too.
pub(super) async fn run(
    cx: &Context,
    chosen: Vec<ChosenTests>,
) -> (Vec<(ChosenTests, TestRun)>, Option<ToolError>) {
    let mut runs = Vec::new();
    for chosen in chosen {
        match run_one(cx, &chosen).await {
            Ok(run) => runs.push((chosen, run)),
            Err(error) => return (runs, Some(error)),
        }
    }
    (runs, None)
}

async fn run_one(cx: &Context, chosen: &ChosenTests) -> Result<TestRun, ToolError> {
    let mut run = run::run(cx, chosen).await?;
    if run.results.as_ref().is_some_and(|results| results.status == TestStatus::Failed) {
        run::find_flaky(cx, chosen, &mut run).await?;
    }
    Ok(run)
}

/// The error that ended a call before all of its projects had run, with what came of those before.
pub(super) fn stopped(mut error: ToolError, runs: &[(ChosenTests, TestRun)]) -> ToolError {
    if !runs.is_empty() && error.code != ErrorCode::Cancelled {
        error.message.push_str(&format!("\nbefore that: {}", ended(runs)));
    }
    error
}

/// How each project ended, in one line.
pub(super) fn ended(runs: &[(ChosenTests, TestRun)]) -> String {
    let one = |(chosen, run): &(ChosenTests, TestRun)| {
        let totals = run.results.as_ref().map(|results| results.totals).unwrap_or_default();
        let TestTotals { passed, failed, errored, .. } = totals;
        format!("{}: {passed} passed, {} failed", chosen.name(), failed + errored)
    };
    runs.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// One run of several, with how each of them ended. What is said of one names its project.
pub(super) fn merged(runs: Vec<(ChosenTests, TestRun)>) -> Option<(TestRun, Vec<ProjectTests>)> {
    let mut projects = Vec::new();
    let mut all: Option<TestRun> = None;
    for (chosen, mut run) in runs {
        projects.push(ProjectTests::of(&chosen, &run));
        let name = chosen.name();
        for note in run.notes.iter_mut().chain(&mut run.report.notes) {
            *note = format!("{name}: {note}");
        }
        if let Some(results) = &mut run.results {
            named_results(results, &chosen);
        }
        match &mut all {
            None => all = Some(run),
            Some(all) => add(all, run),
        }
    }
    Some((all?, projects))
}

fn named_results(results: &mut TestResults, chosen: &ChosenTests) {
    for failure in &mut results.failures {
        failure.project = Some(directory(chosen));
    }
    results.note = results.note.take().map(|note| format!("{}: {note}", chosen.name()));
}

fn add(all: &mut TestRun, run: TestRun) {
    match (&mut all.results, run.results) {
        (Some(results), Some(others)) => results.add(others),
        (results @ None, others) => *results = others,
        (Some(_), None) => {}
    }
    all.command.push_str(&format!("\n{}", run.command));
    all.notes.extend(run.notes);
    all.report.ran |= run.report.ran;
    all.report.duration_ms = all.report.duration_ms.saturating_add(run.report.duration_ms);
    all.report.left_running.extend(run.report.left_running);
    all.report.notes.extend(run.report.notes);
    for changed in run.report.changed {
        if !all.report.changed.contains(&changed) {
            all.report.changed.push(changed);
        }
    }
    // The whole output of each stands with its project.
    all.report.artifact = None;
}

fn directory(chosen: &ChosenTests) -> String {
    match chosen.path() {
        "" => ".".to_owned(),
        path => path.to_owned(),
    }
}

// === impl ProjectTests ===

impl ProjectTests {
    fn of(chosen: &ChosenTests, run: &TestRun) -> Self {
        let results = run.results.as_ref();
        Self {
            framework: run.framework,
            path: directory(chosen),
            status: results.map(|results| results.status),
            totals: results.map(|results| results.totals),
            command: run.command.clone(),
            duration_ms: run.report.duration_ms,
            artifact: run.report.artifact.clone(),
        }
    }
}
