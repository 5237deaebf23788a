//! What came of a run of a linter: the report held against the exit status. A linter that fails finds
//! nothing, and is never called clean.

use schemars::JsonSchema;
use serde::Serialize;

use crate::diagnostic::CheckDiagnostic;
use crate::lint_output::column::ColumnUnit;
use crate::lint_plan::PlannedLint;
use crate::report::without_colours;
use crate::run::FinishedRun;
use crate::shortening::{ended, shortened};
use crate::source_paths::SourcePaths;

/// Most bytes of the end of what a linter wrote that failed.
const TAIL_BYTES_MAX: usize = 2_000;
/// Most bytes of a message.
const MESSAGE_BYTES_MAX: usize = 2_000;
/// Most fixes of a diagnostic, and most bytes of what one inserts; a longer one is left out.
const FIXES_MAX: usize = 5;
const FIX_BYTES_MAX: usize = 2_000;

/// How a run of a linter ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LintStatus {
    /// It ended as it does when everything was checked, with findings or without.
    Ran,
    /// It did not check everything: what it found is true, and there may be more.
    Incomplete,
    /// It could not check.
    Failed,
    /// Its program is missing.
    NotInstalled,
    /// It was ended before its end.
    Interrupted,
    /// Policy or a person did not let it run.
    Denied,
    /// A dry run: nothing ran.
    NotRun,
    /// It was not run: the file does not even parse.
    Skipped,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintResults {
    /// Whether what it found is all there is to find.
    pub status: LintStatus,
    /// What it found in the workspace; columns in [`LintResults::unit`].
    pub found: Vec<CheckDiagnostic>,
    /// In which unit its columns count.
    pub unit: ColumnUnit,
    /// How many findings are in files outside of the workspace: they are left out.
    pub outside: u64,
    /// How many findings are beyond what is kept.
    pub left_out: u64,
    /// Why it did not check everything.
    pub message: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What programs write that miss the network.
const NETWORK_SIGNS: &[&str] = &[
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "getaddrinfo",
    "ENOTFOUND",
    "EAI_AGAIN",
    "dial tcp",
    "no such host",
    "--offline was specified",
    "failed to download",
    "Name or service not known",
];

// === impl PlannedLint ===

impl PlannedLint {
    /// Reads what its run left behind. `root` is the workspace root, as the run knew it.
    pub fn results(&self, finished: &FinishedRun<'_>, root: &str) -> LintResults {
        let paths = SourcePaths::new(root, &self.base);
        let mut report = self.format.read(&self.name, finished);
        let outside = self.settle(&mut report.found, &paths);
        if finished.is_cut {
            let cut = "its output is longer than 16 MiB and not whole: check a smaller path";
            report.problem = Some(cut.to_owned());
        }
        let has_found = !report.found.is_empty() || outside > 0;
        let (status, message) = self.status(finished, report.problem, has_found);
        let (status, message) = match (&self.partial, status) {
            // What it was not given it did not check.
            (Some(partial), LintStatus::Ran) => (LintStatus::Incomplete, Some(partial.clone())),
            _ => (status, message),
        };
        let hint = message.as_ref().and_then(|_| self.hint(status, finished));
        LintResults {
            status,
            found: report.found,
            unit: report.unit,
            outside,
            left_out: report.left_out,
            message,
            hint,
        }
    }

    /// Makes paths those of the workspace and texts short; returns how many findings lie outside.
    fn settle(&self, found: &mut Vec<CheckDiagnostic>, paths: &SourcePaths) -> u64 {
        let before = found.len();
        found.retain_mut(|one| {
            let Some(path) = paths.of_workspace(&one.path).filter(|path| !path.is_empty()) else {
                return false;
            };
            one.path = path;
            one.message = shortened(one.message.trim(), MESSAGE_BYTES_MAX);
            one.fixes.retain_mut(|fix| {
                fix.description = shortened(&fix.description, MESSAGE_BYTES_MAX);
                fix.edits.iter_mut().all(|edit| {
                    let path = paths.of_workspace(&edit.path);
                    edit.path = path.unwrap_or_default();
                    !edit.path.is_empty() && edit.new_text.len() <= FIX_BYTES_MAX
                }) && !fix.edits.is_empty()
            });
            one.fixes.truncate(FIXES_MAX);
            true
        });
        (before - found.len()) as u64
    }

    fn status(
        &self,
        finished: &FinishedRun<'_>,
        problem: Option<String>,
        has_found: bool,
    ) -> (LintStatus, Option<String>) {
        let Some(code) = finished.exit_code else {
            return (LintStatus::Interrupted, Some("it was ended before its end".to_owned()));
        };
        let is_usual = code == 0 || self.finding_codes.contains(&code);
        let because = |why: String| match tail(finished) {
            tail if tail.is_empty() => why,
            tail => format!("{why}; it wrote at its end:\n{tail}"),
        };
        if self.is_missing(finished) {
            let missing = format!("`{}` is not installed", self.program);
            return (LintStatus::NotInstalled, Some(because(missing)));
        }
        match (problem, has_found, is_usual) {
            (Some(problem), false, _) => (LintStatus::Failed, Some(because(problem))),
            (Some(problem), true, _) => (LintStatus::Incomplete, Some(problem)),
            (None, true, false) => {
                let why = format!("its exit status is {code}: it did not check everything");
                (LintStatus::Incomplete, Some(because(why)))
            }
            (None, false, _) if code != 0 => {
                let why = format!("its exit status is {code}, and it found nothing");
                (LintStatus::Failed, Some(because(why)))
            }
            (None, _, _) => (LintStatus::Ran, None),
        }
    }

    fn is_missing(&self, finished: &FinishedRun<'_>) -> bool {
        let stderr = finished.stderr;
        let is_not_found = finished.exit_code == Some(127);
        let is_component = stderr.contains(&format!("'{}' is not installed", self.program))
            || stderr.contains("no such command: `clippy`");
        let is_module = stderr.contains(&format!("No module named {}", self.program));
        let is_gem = stderr.contains("bundler: command not found")
            || (stderr.contains("Could not find") && stderr.contains("bundle install"));
        is_not_found || is_component || is_module || is_gem
    }

    fn hint(&self, status: LintStatus, finished: &FinishedRun<'_>) -> Option<String> {
        let all = [finished.stderr, finished.stdout];
        let misses_network =
            NETWORK_SIGNS.iter().any(|sign| all.iter().any(|text| text.contains(sign)));
        Some(match status {
            LintStatus::NotInstalled => {
                format!("moss installs nothing; a person may: {}", self.install)
            }
            LintStatus::Failed | LintStatus::Incomplete if misses_network => {
                "it wants the network, which commands do not have: a person may fetch what it needs \
                 before, or open the network for it by a rule"
                    .to_owned()
            }
            LintStatus::Failed => {
                "run the command with run_terminal_cmd and read what it writes".to_owned()
            }
            LintStatus::Interrupted => "check a smaller path".to_owned(),
            _ => return None,
        })
    }
}

/// The end of what it wrote, without colours.
fn tail(finished: &FinishedRun<'_>) -> String {
    let text = match finished.stderr.trim() {
        "" => finished.stdout,
        stderr => stderr,
    };
    // What is further from the end is not shown, however much of it are colours.
    let start = text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES_MAX * 8));
    ended(without_colours(&text[start..]).trim(), TAIL_BYTES_MAX)
}
