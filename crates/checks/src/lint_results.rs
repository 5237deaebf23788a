//! What came of a run of a linter: the report held against the exit status. A linter that fails finds
//! nothing, and is never called clean.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::diagnostic::{CheckDiagnostic, CheckSeverity};
use crate::lint_output::LintFormat;
use crate::lint_output::column::ColumnUnit;
use crate::lint_plan::PlannedLint;
use crate::parsed_files::parsed_files;
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
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintResults {
    /// Whether what it found is all there is to find.
    pub status: LintStatus,
    /// What it found in the workspace; columns in [`LintResults::unit`].
    pub found: Vec<CheckDiagnostic>,
    /// The files that it surely parsed: what a grammar says against their syntax is an error of the grammar.
    pub parsed: BTreeSet<String>,
    /// In which unit its columns count.
    pub unit: ColumnUnit,
    /// How many findings are in files outside of the workspace: they are left out.
    pub outside: u64,
    /// How many findings are beyond what is kept.
    pub left_out: u64,
    /// Whether it checked anything: its configuration may leave out all that it was given.
    pub has_checked: bool,
    /// What its configuration leaves out.
    pub note: Option<String>,
    /// Why it did not check everything.
    pub message: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What to do about a program that crashed.
const CRASHED: &str = "it crashed, so nobody knows what it would find: check smaller paths to see which file makes it \
                       crash, or have a person install another version";
/// What cargo says of a compiler that a signal ended.
const COMPILER_SIGNAL: &str = "(signal: ";
/// The signals that end programs, by their names on Linux and macOS alike.
const SIGNALS: [(i32, &str); 9] = [
    (2, "SIGINT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (15, "SIGTERM"),
];

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
        let has_error = report.found.iter().any(|found| found.severity == CheckSeverity::Error);
        let outside = self.settle(&mut report.found, &paths);
        if finished.is_cut {
            let cut = "its output is longer than 16 MiB and not whole: check a smaller path";
            report.problem = Some(cut.to_owned());
        }
        let has_found = !report.found.is_empty() || outside > 0;
        let is_usual = self.is_usual(finished, has_error);
        let (status, message) = self.status(finished, report.problem, has_found, is_usual);
        let (status, message) = match (&self.partial, status) {
            // What it was not given it did not check.
            (Some(partial), LintStatus::Ran) => (LintStatus::Incomplete, Some(partial.clone())),
            _ => (status, message),
        };
        let parsed = match (status, report.left_out) {
            (LintStatus::Ran, 0) => {
                let checked = report.checked.iter();
                let listed = checked.filter_map(|path| paths.of_workspace(path)).collect();
                parsed_files(self.format, &report.found, listed)
            }
            _ => BTreeSet::new(),
        };
        let hint = message.as_ref().and_then(|_| self.hint(status, finished));
        let has_checked = report.excluded.is_empty() || !report.checked.is_empty();
        LintResults {
            status,
            found: report.found,
            parsed,
            unit: report.unit,
            outside,
            left_out: report.left_out,
            has_checked,
            note: self.excluded(&report.excluded, &paths),
            message,
            hint,
        }
    }

    /// Says which files its configuration leaves out: they are not its to check.
    fn excluded(&self, excluded: &[(String, String)], paths: &SourcePaths) -> Option<String> {
        let (path, why) = excluded.first()?;
        let path = paths.of_workspace(path).unwrap_or_else(|| path.clone());
        // What stands behind the first sentence is about options.
        let why = why.split(". ").next().unwrap_or(why).trim_end_matches('.');
        let more = match excluded.len() - 1 {
            0 => String::new(),
            more => format!(", nor {more} more files"),
        };
        Some(format!("{} does not check {path}{more}: {why}", self.name))
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
        is_usual: bool,
    ) -> (LintStatus, Option<String>) {
        let because = |why: String| match tail(finished) {
            tail if tail.is_empty() => why,
            tail => format!("{why}; it wrote at its end:\n{tail}"),
        };
        let signal = ended_by(finished);
        let Some(code) = finished.exit_code.filter(|_| signal.is_none()) else {
            let why = signal.map_or_else(String::new, |signal| format!(", by {}", named(signal)));
            let why = format!("it was ended before its end{why}");
            return (LintStatus::Interrupted, Some(because(why)));
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

    /// Whether its exit status is one with which it checked everything. cargo has the same one for errors in the code and
    /// for a compiler that did not come to its end.
    fn is_usual(&self, finished: &FinishedRun<'_>, has_error: bool) -> bool {
        let is_whole = self.format != LintFormat::Cargo
            || (has_error && !finished.stderr.contains(COMPILER_SIGNAL));
        match finished.exit_code {
            Some(0) => true,
            Some(code) => self.finding_codes.contains(&code) && is_whole,
            None => false,
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
            LintStatus::NotInstalled if self.unseen.is_some() && finished.exit_code == Some(127) => {
                self.unseen.clone()?
            }
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
            LintStatus::Interrupted => interrupted(ended_by(finished)).to_owned(),
            LintStatus::Incomplete if finished.stderr.contains(COMPILER_SIGNAL) => {
                CRASHED.to_owned()
            }
            _ => return None,
        })
    }
}

/// The signal that ended a linter, or a program that its shell ran.
fn ended_by(finished: &FinishedRun<'_>) -> Option<i32> {
    let by_shell = || finished.exit_code.filter(|code| (129..=192).contains(code));
    finished.signal.or_else(|| by_shell().map(|code| code - 128))
}

fn named(signal: i32) -> String {
    match SIGNALS.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}

/// What to do about a linter that a signal ended.
fn interrupted(signal: Option<i32>) -> &'static str {
    match signal {
        // SIGBUS is 7 on Linux and 10 on macOS.
        Some(4..=8 | 10 | 11) => CRASHED,
        Some(9) => {
            "it was killed: it took too long, or too much memory. Check a smaller path, or give the call more time"
        }
        _ => "check a smaller path, or give the call more time",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::CheckCommand;

    #[test]
    fn what_eslint_is_not_configured_for_is_not_its_to_check() {
        let lint = planned(LintFormat::Eslint, &[1]);
        let of = |said: &str| {
            let stdout = serde_json::json!([
                { "filePath": "/w/a.ts", "messages": [{ "ruleId": null, "severity": 1, "message": said }] },
            ]);
            let finished = FinishedRun {
                exit_code: Some(0),
                signal: None,
                stdout: &stdout.to_string(),
                stderr: "",
                reports: &[],
                left_out: None,
                is_cut: false,
            };
            lint.results(&finished, "/w")
        };
        for said in [
            "File ignored because no matching configuration was supplied.",
            "File ignored because of a matching ignore pattern. Use \"--no-ignore\" to override.",
            "File ignored by default because it is located under the node_modules directory.",
        ] {
            let results = of(said);
            assert_eq!((results.status, results.has_checked), (LintStatus::Ran, false), "{said}");
            assert!(results.found.is_empty() && results.parsed.is_empty(), "{results:?}");
            let note = results.note.unwrap_or_default();
            assert!(note.starts_with("x does not check a.ts: File ignored b"), "{note}");
            assert!(!note.contains("--no-ignore"), "{note}");
        }
        let outside = of("File ignored because outside of base path.");
        assert_eq!((outside.status, outside.note), (LintStatus::Failed, None));
    }

    const WARNING: &str = r#"{"reason":"compiler-message","message":{"level":"warning","message":"unused","code":{"code":"unused"},"spans":[{"is_primary":true,"file_name":"src/a.rs","line_start":1,"column_start":1,"line_end":1,"column_end":2}],"children":[]}}"#;
    const CRASH: &str = "error: could not compile `a` (lib)\n\nCaused by:\n  process didn't exit successfully: `rustc a` \
                         (signal: 11, SIGSEGV: invalid memory reference)\n";

    fn planned(format: LintFormat, finding_codes: &[i32]) -> PlannedLint {
        PlannedLint {
            name: "x".to_owned(),
            reason: String::new(),
            command: CheckCommand { command: "x .".to_owned(), directory: String::new() },
            notes: Vec::new(),
            partial: None,
            base: String::new(),
            format,
            finding_codes: finding_codes.to_vec(),
            program: "x".to_owned(),
            install: "`install x`".to_owned(),
            unseen: None,
        }
    }

    /// What came of a run: its status, how much it found, its message and its hint.
    fn came_of(
        lint: &PlannedLint,
        ended: (Option<i32>, Option<i32>),
        stdout: &str,
        stderr: &str,
    ) -> (LintStatus, usize, String, String) {
        let (exit_code, signal) = ended;
        let (reports, left_out) = (&[][..], None);
        let finished =
            FinishedRun { exit_code, signal, stdout, stderr, reports, left_out, is_cut: false };
        let LintResults { status, found, message, hint, .. } = lint.results(&finished, "/w");
        (status, found.len(), message.unwrap_or_default(), hint.unwrap_or_default())
    }

    #[test]
    fn a_program_behind_a_link_that_commands_do_not_see_is_not_to_be_installed() {
        let mut lint = planned(LintFormat::Gnu, &[1]);
        let not_found = "bash: line 1: .venv/bin/x: No such file or directory";
        let hint = |lint: &PlannedLint| came_of(lint, (Some(127), None), "", not_found).3;
        assert!(hint(&lint).contains("`install x`"));
        lint.unseen = Some("`.venv` is a link".to_owned());
        assert_eq!(hint(&lint), "`.venv` is a link");
    }

    #[test]
    fn what_a_signal_ended_is_interrupted_whatever_it_found() {
        let lint = planned(LintFormat::Gnu, &[1]);
        for (ended, says, hint) in [
            ((None, Some(11)), "by signal 11 (SIGSEGV)", "it crashed"),
            ((Some(139), None), "by signal 11 (SIGSEGV)", "it crashed"),
            ((Some(134), None), "by signal 6 (SIGABRT)", "it crashed"),
            ((None, Some(9)), "by signal 9 (SIGKILL)", "it was killed"),
            ((None, Some(15)), "by signal 15 (SIGTERM)", "more time"),
            ((None, Some(42)), "by signal 42", "a smaller path"),
            ((None, None), "before its end", "a smaller path"),
        ] {
            for (stdout, count) in [("", 0), ("a.c:1:1: error: no\n", 1)] {
                let (status, found, message, hinted) = came_of(&lint, ended, stdout, "core dumped");
                assert_eq!((status, found), (LintStatus::Interrupted, count), "{ended:?}");
                assert!(message.contains(says) && message.contains("core dumped"), "{message}");
                assert!(hinted.contains(hint), "{ended:?}: {hinted}");
            }
        }
        for code in [0, 1] {
            let (status, ..) = came_of(&lint, (Some(code), None), "a.c:1:1: error: no\n", "");
            assert_eq!(status, LintStatus::Ran);
        }
    }

    #[test]
    fn what_cargo_could_not_compile_without_an_error_in_the_code_is_not_all_checked() {
        let lint = planned(LintFormat::Cargo, &[101]);
        let error = WARNING.replace("\"level\":\"warning\"", "\"level\":\"error\"");
        let error = error.replace("\"unused\",\"code\"", "\"broken\",\"code\"");
        let both = format!("{WARNING}\n{error}\n");
        let of = |stdout: &str, stderr: &str| came_of(&lint, (Some(101), None), stdout, stderr);
        assert_eq!(of(&both, "error: could not compile `a` (lib)").0, LintStatus::Ran);
        for (stdout, count) in [(WARNING, 1), (both.as_str(), 2)] {
            let (status, found, message, hint) = of(stdout, CRASH);
            assert_eq!((status, found), (LintStatus::Incomplete, count), "{message}");
            assert!(message.contains("SIGSEGV") && hint.contains("it crashed"), "{message} {hint}");
        }
        let failed = "error: failed to run custom build command for `b v0.1.0`\n";
        let (status, _, message, _) = of(WARNING, failed);
        assert_eq!(status, LintStatus::Incomplete);
        assert!(message.contains("custom build command"), "{message}");
        assert_eq!(of("", failed).0, LintStatus::Failed);
    }
}
