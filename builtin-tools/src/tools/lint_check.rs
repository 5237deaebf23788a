//! `lint_check`: what is wrong in a file or a directory, by grammars and by the linters of the project.

pub(crate) mod asked;
mod findings;
mod output;
mod reading;
mod running;
mod syntax;

use moss_sdk::context::{Context, Progress};
use moss_sdk::{Effect, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use self::asked::AskedPath;
use self::findings::CheckFindings;
use self::output::LintCheckOutput;
use self::running::LinterRun;

/// Checks a file or a directory: whether it parses, by the grammars of 15 languages, and what the linters say
/// that the project configures, the nearest configuration to the path. clippy or cargo check, ruff, mypy,
/// pyright, eslint, tsc, biome, oxlint, golangci-lint or go vet, shellcheck, yamllint, rubocop, phpstan,
/// cppcheck, clang-tidy, markdownlint, hadolint, and those of `[linters]` in the configuration of moss.
///
/// Each linter is a command in a sandbox without network and asks a person unless a rule or a standing
/// approval lets it run; none fixes, installs or downloads anything. `status` is `clean` only where every one
/// of them ran; one that fails stands in `tools` with its reason. Since the last check of the session by the
/// same command, `new` marks diagnostics that were not there, and `resolved` lists those that went away, lines
/// followed through the edits. What a grammar alone does not know is a
/// warning that a file may not parse, and left out where a linter parsed the file. Up to 100 diagnostics, errors first,
/// new ones before old ones, then by path and line; columns are characters from 1.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LintCheck {
    /// Path of the file or directory to check, relative to the workspace root, such as `src/main.rs`; `.` is the
    /// whole workspace.
    path: String,
}

impl Tool for LintCheck {
    const NAME: &'static str = "lint_check";
    const TITLE: &'static str = "Check for errors";
    const EFFECT: Effect = Effect::Exec;
    type Output = LintCheckOutput;

    async fn run(self, cx: Context) -> Result<LintCheckOutput, ToolError> {
        let mut asked = AskedPath::find(&cx, &self.path).await?;
        let mut syntax = syntax::check(&cx, &asked).await?;
        let planned = asked.plan(&cx).await?;
        let mut runs = Vec::new();
        let total = Some(planned.len() as u64);
        for (done, planned) in (0..).zip(planned) {
            cx.progress(Progress { message: planned.name.clone(), done, total });
            let run = LinterRun::of(&cx, planned).await?;
            syntax.found.retain(|found| asked.is_unsaved || !run.parsed.contains(&found.path));
            runs.push(run);
        }
        let findings = CheckFindings::gather(&cx, &asked, syntax, runs).await?;
        Ok(LintCheckOutput::new(&asked, findings))
    }
}

#[cfg(test)]
mod tests;
