//! What linters of the project find in a change before anybody agrees to it: on a copy, in the sandbox, where the
//! user's configuration names them and the policy lets them run unasked. They inform who decides; nothing depends
//! on them.

mod copy;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_checks::{
    CheckDiagnostic, CheckedText, FinishedRun, LintMemory, LintResults, LintStatus, PlannedLint,
    SYNTAX_SOURCE, line_hashes,
};
use moss_dispatch::change::FileChange;
use moss_sandbox::FileView;
use moss_sdk::context::BoxFuture;
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_workspace::Plan;

use self::copy::{ChangeSide, ChangedText, LintCopy};
use super::Effects;
use super::command::{PermittedLint, UnseenRun};
use super::syntax::shown;
use crate::call::stop::EffectStop;

/// Most findings of one linter that stand with a change of one file.
const FOUND_MAX: usize = 20;
/// Most bytes of a reason why a linter did not check.
const REASON_BYTES_MAX: usize = 600;

/// A linter that is for files of a change.
#[derive(Debug)]
pub(in crate::call) struct ProposedLint {
    pub(in crate::call) lint: PlannedLint,
    pub(in crate::call) paths: Vec<RelPath>,
}

/// The linters that are for a change.
#[derive(Debug, Default)]
pub(in crate::call) struct ProposedLints {
    pub(in crate::call) lints: Vec<ProposedLint>,
    /// Files whose linters could not be found, each with the reason.
    pub(in crate::call) problems: Vec<(RelPath, String)>,
}

/// Finds the linters that are for a change, where somebody is going to see it.
pub(in crate::call) type LintsOfChange<'a> = BoxFuture<'a, Result<ProposedLints, ToolError>>;

/// One linter that may run.
struct LintRun {
    proposed: ProposedLint,
    permitted: PermittedLint,
}

/// What a linter said of the files of a change.
#[derive(Debug, Default)]
struct LintOutcome {
    found: Vec<CheckDiagnostic>,
    /// Those of the files that it surely parsed.
    parsed: Vec<RelPath>,
    /// Why it did not check, or not everything.
    problem: Option<String>,
}

/// The texts of a change, and until when linters may look at them.
struct LintedTexts {
    texts: Arc<Vec<ChangedText>>,
    /// When they began, and when they end.
    started: Instant,
    end: Instant,
}

// === impl Effects ===

impl Effects {
    /// Adds to each change what linters find in it that was not there before.
    pub(super) async fn lint_changes(
        self: &Arc<Self>,
        plan: &Plan,
        proposed: ProposedLints,
        changes: &mut [FileChange],
    ) -> Result<(), EffectStop> {
        let ProposedLints { lints, problems } = proposed;
        for (path, problem) in problems {
            note(changes, &[path], &problem);
        }
        let mut runs = Vec::new();
        for proposed in lints {
            match self.permit_lint(&proposed.lint).await? {
                Ok(permitted) => runs.push(LintRun { proposed, permitted }),
                Err(why) => note(changes, &proposed.paths, &of_linter(&proposed.lint, &why)),
            }
        }
        if runs.is_empty() {
            return Ok(());
        }
        match self.lint_on_copy(plan, &runs).await {
            Ok(outcomes) => {
                for (run, outcome) in runs.iter().zip(outcomes) {
                    outcome.show(&run.proposed, changes);
                }
            }
            Err(error) if error.code == ErrorCode::Cancelled => return Err(error.into()),
            Err(error) => {
                for LintRun { proposed, .. } in &runs {
                    note(changes, &proposed.paths, &of_linter(&proposed.lint, &error.message));
                }
            }
        }
        Ok(())
    }

    /// Runs linters on a copy with the change, and those that find something on one without it.
    async fn lint_on_copy(
        self: &Arc<Self>,
        plan: &Plan,
        runs: &[LintRun],
    ) -> Result<Vec<LintOutcome>, ToolError> {
        let linted = LintedTexts::new(plan, self.time_to_lint());
        let lints = runs.iter().map(|run| &run.proposed.lint);
        let copy = self.copied(lints, &linted.texts, linted.end).await?;
        let outcomes = self.lint_both_sides(runs, &linted, &copy).await;
        copy.remove().await;
        outcomes
    }

    /// Runs linters on a copy as it is, and again without the change those that find something.
    async fn lint_both_sides(
        self: &Arc<Self>,
        runs: &[LintRun],
        linted: &LintedTexts,
        copy: &LintCopy,
    ) -> Result<Vec<LintOutcome>, ToolError> {
        let view = self.view_of_copy(copy.path().to_owned()).await?;
        let mut outcomes = Vec::new();
        for run in runs {
            outcomes.push(self.linted(run, &view, linted, ChangeSide::After).await?);
        }
        let is_doubtful =
            |outcome: &LintOutcome| outcome.found.iter().any(|found| linted.was_there(&found.path));
        if outcomes.iter().any(is_doubtful) {
            self.show_side(copy, &linted.texts, ChangeSide::Before).await?;
            for (run, outcome) in runs.iter().zip(&mut outcomes) {
                if is_doubtful(outcome) {
                    let before = self.linted(run, &view, linted, ChangeSide::Before).await?;
                    outcome.leave_new(before, &linted.texts);
                }
            }
        }
        Ok(outcomes)
    }

    /// Runs one linter; why it did not check is no error.
    async fn linted(
        &self,
        run: &LintRun,
        view: &FileView,
        linted: &LintedTexts,
        side: ChangeSide,
    ) -> Result<LintOutcome, ToolError> {
        let left = linted.end.saturating_duration_since(Instant::now());
        let late = || {
            let seconds = (linted.end - linted.started).as_secs_f64();
            format!("it did not end within {seconds:.1} s (checks.before_edit_ms)")
        };
        if left.is_zero() {
            return Ok(LintOutcome::without(late()));
        }
        let ended = match self.run_on_copy(&run.permitted, view, left).await {
            Ok(ended) if ended.is_late => return Ok(LintOutcome::without(late())),
            Ok(ended) => ended,
            Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
            Err(error) => return Ok(LintOutcome::without(error.message)),
        };
        let (lint, root) = (run.proposed.lint.clone(), view.workspace.clone());
        let texts = Arc::clone(&linted.texts);
        let read = move || LintOutcome::read(&lint, &ended, &root, &texts, side);
        Ok(self.scope.blocking(read).await?)
    }

    /// How long linters may take: what is configured, and at most half of what is left of the call.
    fn time_to_lint(&self) -> Duration {
        let configured = Duration::from_millis(self.scope.daemon.config().checks.before_edit_ms);
        let left =
            self.scope.call.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        left.map_or(configured, |left| configured.min(left / 2))
    }
}

fn of_linter(lint: &PlannedLint, why: &str) -> String {
    format!("{}: {why}", lint.name)
}

/// Says of files why a linter did not check them.
fn note(changes: &mut [FileChange], paths: &[RelPath], why: &str) {
    let mut why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    if why.len() > REASON_BYTES_MAX {
        why.truncate(why.floor_char_boundary(REASON_BYTES_MAX));
        why.push('…');
    }
    for change in changes.iter_mut().filter(|change| paths.contains(&change.path)) {
        change.unchecked.push(why.clone());
    }
}

// === impl LintedTexts ===

impl LintedTexts {
    fn new(plan: &Plan, time: Duration) -> Self {
        let started = Instant::now();
        let texts = Arc::new(plan.files().iter().map(ChangedText::of).collect());
        Self { texts, started, end: started + time }
    }

    /// Whether a file was there before the change.
    fn was_there(&self, path: &str) -> bool {
        self.texts.iter().any(|text| text.path.as_str() == path && text.before.is_some())
    }
}

// === impl LintOutcome ===

impl LintOutcome {
    fn without(problem: String) -> Self {
        Self { found: Vec::new(), parsed: Vec::new(), problem: Some(problem) }
    }

    /// Reads what a linter says of the files of the change, in characters.
    fn read(
        lint: &PlannedLint,
        ended: &UnseenRun,
        root: &Path,
        texts: &[ChangedText],
        side: ChangeSide,
    ) -> Self {
        let UnseenRun { stdout, stderr, .. } = ended;
        let finished = FinishedRun {
            exit_code: ended.exit_code,
            signal: ended.signal,
            stdout,
            stderr,
            reports: &[],
            left_out: None,
            is_cut: ended.is_cut,
        };
        let results = lint.results(&finished, &root.display().to_string());
        let LintResults { status, found: all, parsed, unit, left_out, message, .. } = results;
        let is_parsed = |text: &&ChangedText| parsed.iter().any(|path| text.is_of(path));
        let parsed = texts.iter().filter(is_parsed).map(|text| text.path.clone()).collect();
        let mut found = Vec::new();
        for mut one in all {
            let Some(text) = texts.iter().find(|text| text.is_of(&one.path)) else { continue };
            one.path = text.path.to_string();
            unit.to_characters(&mut one, &CheckedText::new(text.on(side).unwrap_or_default()));
            found.push(one);
        }
        let problem = match status {
            LintStatus::Ran if left_out > 0 => Some("it finds too much to compare".to_owned()),
            LintStatus::Ran => None,
            _ => Some(message.unwrap_or_else(|| "it could not check".to_owned())),
        };
        Self { found, parsed, problem }
    }

    /// Leaves what it does not find without the change.
    fn leave_new(&mut self, before: Self, texts: &[ChangedText]) {
        let lines = |side| -> BTreeMap<String, Vec<u32>> {
            let all = texts.iter().filter_map(|text| Some((text, text.on(side)?)));
            all.map(|(text, lines)| (text.path.to_string(), line_hashes(lines))).collect()
        };
        let memory = match before.problem {
            Some(problem) => Err(problem),
            None => LintMemory::of(&before.found, &lines(ChangeSide::Before))
                .ok_or_else(|| "there are too many".to_owned()),
        };
        match memory {
            Ok(memory) => {
                let change = memory.change(&self.found, &lines(ChangeSide::After));
                let mut is_new = change.is_new.into_iter();
                self.found.retain(|_| is_new.next().unwrap_or(true));
            }
            Err(why) => {
                let count = std::mem::take(&mut self.found).len();
                self.problem =
                    Some(format!("which of its {count} findings are new is unknown: {why}"));
            }
        }
    }

    /// Puts it with the changes.
    fn show(self, proposed: &ProposedLint, changes: &mut [FileChange]) {
        let Self { found, parsed, problem } = self;
        if let Some(problem) = problem {
            note(changes, &proposed.paths, &of_linter(&proposed.lint, &problem));
        }
        for change in changes {
            if parsed.contains(&change.path) {
                change.diagnostics.retain(|known| known.source != SYNTAX_SOURCE);
            }
            let own = || found.iter().filter(|found| found.path == change.path.as_str());
            let all = own().count();
            change.diagnostics.extend(own().take(FOUND_MAX).cloned().map(shown));
            if all > FOUND_MAX {
                let more = all - FOUND_MAX;
                change.unchecked.push(of_linter(
                    &proposed.lint,
                    &format!("{more} more findings are not shown"),
                ));
            }
        }
    }
}
