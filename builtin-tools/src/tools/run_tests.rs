//! `run_tests`: the tests of a project, by its own framework.

mod output;

use moss_checks::{
    FinishedRun, FoundFramework, ProjectDirectory, ProjectFiles, ReportFile, SourcePaths,
    TestChoice, TestFramework, test_frameworks, test_results,
};
use moss_sdk::command::{CheckReport, CheckRequest};
use moss_sdk::context::Context;
use moss_sdk::{Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use self::output::RunTestsOutput;
use crate::project::{self, Named};

/// Longest pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 4_096;

/// Runs tests of the workspace with the framework that its manifests name, and reads its report: totals,
/// each failure with what runs it again, file, line, message, what was expected and what was there. cargo test,
/// nextest, pytest, unittest, jest, vitest, mocha, node, bun, deno, go, rspec, phpunit, ctest and bats; the
/// project nearest to `testFile`.
///
/// Runs in a sandbox without network, for at most 10 minutes, and asks a person unless a rule or a standing
/// approval lets it run. Failing tests are a result with `status` `failed`. Where no test ran, something could not be
/// built, or report and exit status contradict each other, the call fails. Installs nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RunTests {
    /// The test file, or the directory of a project. Default: all tests of the project in the workspace root.
    test_file: Option<String>,
    /// Only tests that match it, as the framework understands it: a part of a name, or an `id` of a failure.
    test_pattern: Option<String>,
    /// Whether to measure which lines run, where the framework can. Default: false.
    #[serde(default)]
    coverage: bool,
}

/// What is run, and where.
#[derive(Debug)]
struct ChosenTests {
    framework: TestFramework,
    directory: ProjectDirectory,
    choice: TestChoice,
    /// The other frameworks that were found, each with its directory.
    others: Vec<String>,
}

impl Tool for RunTests {
    const NAME: &'static str = "run_tests";
    const TITLE: &'static str = "Run tests";
    const EFFECT: Effect = Effect::Exec;
    type Output = RunTestsOutput;

    async fn run(self, cx: Context) -> Result<RunTestsOutput, ToolError> {
        let chosen = self.choose(&cx).await?;
        let reports = cx.report_directory();
        let planned = chosen.framework.command(&chosen.directory, &chosen.choice, &reports);
        let directory = match chosen.directory.path.as_str() {
            "" => RelPath::root(),
            path => RelPath::parse(path)?,
        };
        let command = planned.command.command;
        let request = CheckRequest { command: command.clone(), directory };
        let ended = cx.run_check(request).await?;
        let mut notes = planned.notes;
        if !chosen.others.is_empty() {
            notes.push(format!(
                "not run: {}; give its directory as `testFile`",
                chosen.others.join(", ")
            ));
        }
        if !ended.command.ran {
            return Ok(RunTestsOutput::not_run(chosen.framework, command, ended.command, notes));
        }
        let prefix = chosen.framework.prefix(&chosen.directory);
        let paths = SourcePaths::new(&ended.root, &chosen.directory.path).with_prefix(prefix);
        let reports: Vec<ReportFile> = reports_of(&ended);
        let finished = FinishedRun {
            exit_code: ended.command.exit_code,
            stdout: &ended.stdout,
            stderr: &ended.stderr,
            reports: &reports,
            is_cut: ended.is_cut,
        };
        let results = test_results(chosen.framework, &paths, &finished);
        if ended.is_cut {
            notes.push(
                "its output or report is longer than 16 MiB: counts may be too low".to_owned(),
            );
        }
        RunTestsOutput::new(chosen.framework, command, results, ended.command, notes)
    }
}

fn reports_of(ended: &CheckReport) -> Vec<ReportFile> {
    let file = |file: &moss_sdk::command::CheckReportFile| ReportFile {
        name: file.name.clone(),
        text: file.text.clone(),
    };
    ended.files.iter().map(file).collect()
}

// === impl RunTests ===

impl RunTests {
    /// Finds the project and its framework.
    async fn choose(self, cx: &Context) -> Result<ChosenTests, ToolError> {
        let pattern = self.test_pattern.filter(|pattern| !pattern.is_empty());
        if let Some(pattern) = &pattern {
            check_pattern(pattern)?;
        }
        let path = match self.test_file.as_deref().map(|path| path.trim_end_matches('/')) {
            None | Some("") => RelPath::root(),
            Some(path) => cx.path(path)?,
        };
        let is_file = project::named(cx, &path).await? == Named::File;
        let start =
            if is_file { path.parent().unwrap_or_else(RelPath::root) } else { path.clone() };
        let mut files = project::around(cx, &start).await?;
        let runs_it = |found: &FoundFramework| {
            !is_file || found.framework.runs_file(path.file_name().unwrap_or_default())
        };
        let mut found: Vec<_> = test_frameworks(&files).into_iter().filter(runs_it).collect();
        if found.is_empty() && start.is_root() && !is_file {
            files = project::beneath_root(cx).await?;
            found = test_frameworks(&files);
        }
        let others = found.iter().skip(1).map(|other| named(other, &files)).collect();
        let Some(first) = found.first() else { return Err(unknown(&path, is_file)) };
        let directory = files.directories[first.directory].clone();
        let choice = TestChoice {
            file: is_file.then(|| relative(path.as_str(), &directory.path)),
            pattern,
            coverage: self.coverage,
        };
        Ok(ChosenTests { framework: first.framework, directory, choice, others })
    }
}

fn named(found: &FoundFramework, files: &ProjectFiles) -> String {
    match files.directories[found.directory].path.as_str() {
        "" => found.framework.name().to_owned(),
        path => format!("{} in {path}", found.framework.name()),
    }
}

/// A path in a directory, relative to that.
fn relative(path: &str, directory: &str) -> String {
    let inside = path.strip_prefix(directory).map(|rest| rest.trim_start_matches('/'));
    inside.unwrap_or(path).to_owned()
}

fn check_pattern(pattern: &str) -> Result<(), ToolError> {
    let is_option = pattern.starts_with('-');
    if !is_option && pattern.len() <= PATTERN_BYTES_MAX && !pattern.contains('\0') {
        return Ok(());
    }
    let message = match is_option {
        true => "a pattern that begins with `-` would be an option of the framework".to_owned(),
        false => format!("the pattern has more than {PATTERN_BYTES_MAX} bytes, or a NUL"),
    };
    Err(ToolError::new(ErrorCode::InvalidArguments, message)
        .hint("give a part of the name of a test"))
}

fn unknown(path: &RelPath, is_file: bool) -> ToolError {
    let names: Vec<&str> = TestFramework::all().map(TestFramework::name).collect();
    let what = match is_file {
        true => format!("no test framework is known that runs {path}"),
        false if path.is_root() => "no test framework was found in the workspace".to_owned(),
        false => format!("no test framework was found in {path} and the directories around it"),
    };
    ToolError::new(ErrorCode::NoTests, what).hint(format!(
        "looked for {} in manifests, configuration and names of files; others run with run_terminal_cmd",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests;
