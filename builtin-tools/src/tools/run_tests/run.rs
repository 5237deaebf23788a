//! Running the chosen tests, and those that failed once more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime};

use moss_checks::{
    FinishedRun, NamedSources, ReportFile, SourcePaths, TestChoice, TestCommand, TestFramework,
    TestProgress, TestResults, TestSelection, TestStatus, named_sources, passed_tests,
    source_names, test_results,
};
use moss_sdk::command::{
    CheckFollower, CheckReport, CheckReportFile, CheckRequest, CheckStream, CommandReport,
    FollowedCheck,
};
use moss_sdk::context::{Context, Progress};
use moss_sdk::file::{Content, ListOptions};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::failed::FailedTests;
use super::found::ChosenTests;

/// How often it is reported how far a run is.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// Most failures that are run again: where more fail, the code is broken and not the tests are flaky.
const AGAIN_MAX: usize = 10;
/// Longest first run after which failures are run again.
const AGAIN_AFTER_MS_MAX: u64 = 300_000;
/// How a directory of reports is looked at.
const LOOK: ListOptions = ListOptions { recursive: false, entries_max: 20_000 };
/// How far sources are looked for that a report names by their packages or modules.
const WALK: ListOptions = ListOptions { recursive: true, entries_max: 100_000 };
/// Most directories of reports in modules that no manifest of the project itself names.
const MODULE_REPORTS_MAX: usize = 2_000;
/// Most bytes of the reports in such directories.
const REPORTS_BYTES_MAX: usize = 64 << 20;

/// What came of a run.
#[derive(Debug)]
pub(super) struct TestRun {
    pub(super) framework: TestFramework,
    pub(super) command: String,
    pub(super) report: CommandReport,
    /// None in a dry run.
    pub(super) results: Option<TestResults>,
    /// Ids of tests that passed, where not all were chosen.
    pub(super) passed: BTreeSet<String>,
    pub(super) notes: Vec<String>,
}

/// Counts tests as they end.
struct ProgressFollower {
    progress: TestProgress,
    last: Option<Instant>,
}

/// What a run left behind, with where it ran.
struct LeftBehind {
    report: CheckReport,
    reports: Vec<ReportFile>,
    paths: SourcePaths,
}

/// When reports in the workspace were written.
type ReportTimes = BTreeMap<RelPath, (Option<SystemTime>, Option<u64>)>;

/// Runs what was chosen.
pub(super) async fn run(cx: &Context, chosen: &ChosenTests) -> Result<TestRun, ToolError> {
    let framework = chosen.framework;
    let mut choice = chosen.choice.clone();
    let mut notes = chosen.notes.clone();
    let (command, left, results) = loop {
        let planned = planned(cx, chosen, &choice);
        let command = planned.command.command.clone();
        let of_plan = planned.notes.clone();
        let left = run_planned(cx, chosen, planned, true).await?;
        let mut results = left.report.command.ran.then(|| left.results(framework));
        let missing = results.as_mut().filter(|one| one.status == TestStatus::NotInstalled);
        if let Some(missing) = missing
            && left.report.command.exit_code == Some(127)
            && let Some(unseen) = chosen.files.unseen_link(chosen.directory, &command)
        {
            // Without coverage it would not be found either.
            missing.note = Some(unseen);
            break (command, left, results);
        }
        let missing = results.as_ref().filter(|one| one.status == TestStatus::NotInstalled);
        match missing.filter(|_| choice.coverage).and_then(|missing| missing.note.clone()) {
            // Tests need no more than their framework.
            Some(missing) => {
                notes.push(format!("the tests ran without coverage: {missing}"));
                choice.coverage = false;
            }
            None => {
                notes.extend(of_plan);
                break (command, left, results);
            }
        }
    };
    let has_run = |results: &TestResults| results.status != TestStatus::NotInstalled;
    let is_unmeasured =
        results.as_ref().is_some_and(|results| results.coverage.is_none() && has_run(results));
    if choice.coverage && is_unmeasured && !notes.iter().any(|note| note.contains("coverage of ")) {
        notes.push(framework.nothing_measured(&left.finished()));
    }
    let passed = match chosen.is_all || results.is_none() {
        true => BTreeSet::new(),
        false => passed_tests(framework, &left.finished()),
    };
    Ok(TestRun { framework, command, report: left.report.command, results, passed, notes })
}

/// Runs what failed once more, where nobody has to be asked about it, and marks what passes then.
pub(super) async fn find_flaky(
    cx: &Context,
    chosen: &ChosenTests,
    run: &mut TestRun,
) -> Result<(), ToolError> {
    let TestRun { report, results: Some(results), notes, .. } = run else { return Ok(()) };
    let is_short = report.duration_ms <= AGAIN_AFTER_MS_MAX;
    let FailedTests { ids, files, .. } = FailedTests::of(chosen, results);
    if ids.is_empty() || results.failures.len() > AGAIN_MAX || !is_short {
        return Ok(());
    }
    let choice = TestChoice { files, selection: TestSelection::Ids(ids), ..TestChoice::default() };
    let planned = planned(cx, chosen, &choice);
    let command = planned.command.command.clone();
    let left = run_planned(cx, chosen, planned, false).await?;
    if !left.report.command.ran {
        notes.push(format!(
            "what failed was not run again to find flaky tests: no rule lets `{command}` run unasked"
        ));
        return Ok(());
    }
    let passed = passed_tests(chosen.framework, &left.finished());
    for failure in &mut results.failures {
        failure.flaky = passed.contains(&failure.id);
    }
    Ok(())
}

fn planned(cx: &Context, chosen: &ChosenTests, choice: &TestChoice) -> TestCommand {
    chosen.framework.command(&chosen.files, chosen.directory, choice, &cx.report_directory())
}

async fn run_planned(
    cx: &Context,
    chosen: &ChosenTests,
    planned: TestCommand,
    asks: bool,
) -> Result<LeftBehind, ToolError> {
    let TestCommand { command, inputs, mut report_directories, notes: _ } = planned;
    let of_modules = module_reports(cx, chosen.path(), &report_directories).await?;
    report_directories.extend(of_modules);
    let directory = match command.directory.as_str() {
        "" => RelPath::root(),
        path => RelPath::parse(path)?,
    };
    let (before, _) = report_times(cx, &report_directories).await?;
    let input = |file: ReportFile| CheckReportFile { name: file.name, text: file.text };
    let check = FollowedCheck {
        request: CheckRequest { command: command.command, directory },
        inputs: inputs.into_iter().map(input).collect(),
        asks,
        follower: Box::new(ProgressFollower {
            progress: TestProgress::new(chosen.framework),
            last: None,
        }),
    };
    let mut report = cx.follow_check(check).await?;
    let prefix = chosen.framework.prefix(&chosen.files.directories[chosen.directory]);
    let base = chosen.framework.base(&chosen.files, chosen.directory);
    let written = std::mem::take(&mut report.files).into_iter();
    let mut reports: Vec<ReportFile> =
        written.map(|file| ReportFile { name: file.name, text: file.text }).collect();
    let (newer, left_out) = newer_reports(cx, &report_directories, &before).await?;
    reports.extend(newer);
    report.left_out = report.left_out.or(left_out);
    let paths = SourcePaths::new(&report.root, base).with_prefix(prefix);
    let mut left = LeftBehind { report, reports, paths };
    let names = source_names(chosen.framework, &left.finished());
    if !names.is_empty() {
        let sources = sources(cx, chosen.path(), &names).await?;
        left.paths = left.paths.with_sources(sources);
    }
    Ok(left)
}

/// Finds the sources in a project that a run names by their packages or modules.
async fn sources(
    cx: &Context,
    project: &str,
    names: &BTreeSet<String>,
) -> Result<NamedSources, ToolError> {
    let project = if project.is_empty() { RelPath::root() } else { RelPath::parse(project)? };
    let listing = match cx.list(&project, WALK).await {
        Ok(listing) => listing,
        Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
        // Without it a failure has no file, as a class of a library.
        Err(_) => return Ok(NamedSources::new()),
    };
    Ok(named_sources(names, listing.entries.iter().map(|entry| entry.path.as_str())))
}

/// Where Maven writes reports in modules that only another module names, or a profile: beneath each directory with
/// a `pom.xml` it is as beneath the project.
async fn module_reports(
    cx: &Context,
    project: &str,
    known: &[String],
) -> Result<Vec<String>, ToolError> {
    let root = if project.is_empty() { RelPath::root() } else { RelPath::parse(project)? };
    let own = if root.is_root() { "target/".to_owned() } else { format!("{root}/target/") };
    let written: Vec<&str> = known.iter().filter_map(|path| path.strip_prefix(&own)).collect();
    if written.is_empty() {
        return Ok(Vec::new());
    }
    let listing = match cx.list(&root, WALK).await {
        Ok(listing) => listing,
        Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
        Err(_) => return Ok(Vec::new()),
    };
    let manifests = listing.entries.iter().map(|entry| entry.path.as_str());
    let modules = manifests.filter_map(|path| path.strip_suffix("/pom.xml"));
    let all = modules
        .flat_map(|module| written.iter().map(move |name| format!("{module}/target/{name}")));
    Ok(all.filter(|path| !known.contains(path)).take(MODULE_REPORTS_MAX).collect())
}

/// When the reports were written that lie where the tool writes its own, and a directory of which not all were
/// looked at.
async fn report_times(
    cx: &Context,
    directories: &[String],
) -> Result<(ReportTimes, Option<String>), ToolError> {
    let (mut times, mut crowded) = (ReportTimes::new(), None);
    for directory in directories {
        // It is there only where there was a run before.
        let Ok(listing) = cx.list(&RelPath::parse(directory)?, LOOK).await else { continue };
        if listing.truncated {
            crowded = Some(directory.clone());
        }
        let is_report = |path: &RelPath| {
            [".xml", ".resultset.json"].iter().any(|end| path.as_str().ends_with(end))
        };
        for entry in listing.entries.into_iter().filter(|entry| is_report(&entry.path)) {
            times.insert(entry.path, (entry.modified, entry.size_bytes));
        }
    }
    Ok((times, crowded))
}

/// Reads the reports that were written since, and says what it left out.
async fn newer_reports(
    cx: &Context,
    directories: &[String],
    before: &ReportTimes,
) -> Result<(Vec<ReportFile>, Option<String>), ToolError> {
    let (mut reports, mut room, mut left_out) = (Vec::new(), REPORTS_BYTES_MAX, 0);
    let (times, crowded) = report_times(cx, directories).await?;
    for (path, time) in times {
        if before.get(&path) == Some(&time) {
            continue;
        }
        if time.1.is_some_and(|bytes| bytes > room as u64) {
            left_out += 1;
            continue;
        }
        if let Ok(Some(snapshot)) = cx.read_unasked(&path).await
            && let Content::Text(text) = snapshot.content
        {
            let name = path.file_name().unwrap_or_default().to_owned();
            room = room.saturating_sub(text.text.len());
            reports.push(ReportFile { name, text: text.text });
        }
    }
    let crowded = crowded.map(|directory| {
        let looked_at = LOOK.entries_max;
        format!("{directory} has more than {looked_at} files: not all reports in it were read")
    });
    let too_large = (left_out > 0).then(|| {
        let mib_max = REPORTS_BYTES_MAX >> 20;
        format!("{left_out} report files were not read: at most {mib_max} MiB together are")
    });
    Ok((reports, too_large.or(crowded)))
}

// === impl LeftBehind ===

impl LeftBehind {
    fn finished(&self) -> FinishedRun<'_> {
        FinishedRun {
            exit_code: self.report.command.exit_code,
            signal: self.report.command.signal,
            stdout: &self.report.stdout,
            stderr: &self.report.stderr,
            reports: &self.reports,
            left_out: self.report.left_out.as_deref(),
            is_cut: self.report.is_cut,
        }
    }

    fn results(&self, framework: TestFramework) -> TestResults {
        test_results(framework, &self.paths, &self.finished())
    }
}

// === impl ProgressFollower ===

impl CheckFollower for ProgressFollower {
    fn follow(&mut self, stream: CheckStream, text: &str) -> Option<Progress> {
        let counts = match stream {
            CheckStream::Stdout => self.progress.read_stdout(text),
            CheckStream::Stderr => self.progress.read_stderr(text),
        }?;
        if self.last.is_some_and(|last| last.elapsed() < PROGRESS_EVERY) {
            return None;
        }
        self.last = Some(Instant::now());
        let total = counts.total.filter(|total| *total >= counts.done);
        Some(Progress { message: counts.text(), done: counts.done, total })
    }
}
