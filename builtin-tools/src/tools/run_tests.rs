//! `run_tests`: the tests of a project, by its own framework.

mod changed;
mod changed_lines;
mod choice;
mod failed;
mod found;
mod memory;
mod output;
mod projects;
mod run;

use moss_checks::TestFramework;
use moss_sdk::context::Context;
use moss_sdk::{Effect, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use self::changed_lines::ChangedLines;
use self::found::ChosenTests;
use self::memory::TestMemory;
use self::output::RunTestsOutput;

/// Runs tests of the workspace with the framework that its manifests name, and reads its report: totals,
/// and of each failure what runs it again, file, line, message, what was expected and what was there. cargo
/// test, nextest, pytest, unittest, jest, vitest, mocha, node, bun, deno, go, rspec, phpunit, ctest, bats,
/// maven, gradle, dotnet and swift; the project nearest to `testFile` or `path`. `scope` may be `all`, `file`,
/// `failed` (at your last run), `changed` (what concerns changes since all passed) or `cursor`; `framework` chooses
/// one of several.
///
/// Runs in a sandbox without network, for at most 10 minutes, and asks a person unless a rule or a standing
/// approval lets it run. Failing tests are a result with `status` `failed`. Where no test ran, something could
/// not be built, or report and exit status contradict each other, the call fails. Installs nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RunTests {
    /// The test file. Default: all tests of the project.
    test_file: Option<String>,
    /// Only tests that match it, as the framework understands it: a part of a name, or an `id` of a failure.
    test_pattern: Option<String>,
    /// Whether to measure which lines run, where a tool for that is installed. Default: false.
    #[serde(default)]
    coverage: bool,
    /// Which tests: `all` of the project, those of one `file`, those that `failed` at your last run, those of
    /// what `changed` since they passed, or the one at the `cursor` of the editor. Default: `file` with
    /// `testFile`, else `all`.
    #[schemars(extend("x-extra" = true))]
    scope: Option<TestScope>,
    /// The directory of the project, or one in it. Default: the workspace root.
    #[schemars(extend("x-extra" = true))]
    path: Option<String>,
    /// The framework, where the project has several.
    #[schemars(extend("x-extra" = true))]
    framework: Option<TestFramework>,
}

/// Which tests are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TestScope {
    /// All of the project.
    All,
    /// Those of one file.
    File,
    /// Those that failed at the last run.
    Failed,
    /// Those of what changed since they passed.
    Changed,
    /// The one at the cursor of the editor.
    Cursor,
}

impl Tool for RunTests {
    const NAME: &'static str = "run_tests";
    const TITLE: &'static str = "Run tests";
    const EFFECT: Effect = Effect::Exec;
    type Output = RunTestsOutput;

    async fn run(self, cx: Context) -> Result<RunTestsOutput, ToolError> {
        let memory = TestMemory::read(&cx).await;
        let chosen = choice::choose(self, &cx, &memory).await?;
        let passed = memory.passed();
        let passed_at =
            |one: &ChosenTests| passed.passed_at(one.framework, &one.files, one.directory);
        let passed_at = chosen.iter().map(passed_at).min().flatten();
        let (mut runs, stop) = projects::run(&cx, chosen).await;
        memory.after(&cx, &mut runs);
        if let Some(error) = stop {
            return Err(projects::stopped(error, &runs));
        }
        let mut output = RunTestsOutput::of(runs)?;
        if let Some(coverage) = output.coverage() {
            let changed = ChangedLines::find(&cx, passed_at).await?;
            coverage.compare(&changed.files, changed.since);
        }
        Ok(output)
    }
}

#[cfg(test)]
mod tests;
