//! How one call ended, as people and programs see it.

use moss_dispatch::{Outcome, outcome_of};
use moss_proto::v1;
use moss_sdk::content::ContentPart;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::error::{self, CliError, ErrorView};
use super::ui::{Ui, dim};
use super::views::content;
use super::{effect, views};

/// How one call ended: the object that `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct CallReport {
    call_id: Option<String>,
    tool: String,
    pub(super) outcome: Outcome,
    output: Option<Value>,
    /// What is shown beside the output; only where anything is.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "content_views")]
    content: Vec<ContentPart>,
    error: Option<ErrorView>,
    changes: Vec<ChangeView>,
    digest: Option<String>,
    /// The number in the history; only where anything was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<u64>,
    /// The conflicts of an undo; only where anything does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<Value>,
    /// What a person is shown.
    #[serde(skip)]
    shown: ReportView,
}

#[derive(Debug, Serialize)]
struct ChangeView {
    path: String,
    /// The real path, where links lead to another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    real_path: Option<String>,
    diff: String,
    /// How many bytes of the diff are left out; only where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff_omitted_bytes: Option<u64>,
    status: String,
    /// How the locations of an edit were found, where they were searched for.
    match_level: Option<String>,
    /// Lines that an edit changes and that are not as it says.
    drift: Value,
    /// How many more such lines there are; only where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    drift_omitted: Option<u64>,
    /// What is wrong after the change and was not before; only where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Value>,
    /// Linters that did not check it, with their reasons; only where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchecked: Vec<String>,
}

#[derive(Debug)]
enum ReportView {
    /// The output; what was changed beside it.
    Output(Vec<v1::FileChange>),
    /// The effect of a dry run.
    Effect(Vec<v1::FileChange>),
    /// What a dry run would do that is no change of a file: its output says it.
    Planned,
    /// An error, after the effect that waits for a decision.
    Error(Option<Box<v1::Confirmation>>),
}

fn change_view(change: &v1::FileChange, status: Option<v1::ChangeStatus>) -> ChangeView {
    ChangeView {
        path: change.path.clone(),
        real_path: non_empty(change.real_path.clone()),
        diff: change.diff.clone(),
        diff_omitted_bytes: Some(change.diff_omitted_bytes).filter(|bytes| *bytes > 0),
        status: views::change_status(status.unwrap_or(change.status())),
        match_level: non_empty(change.match_level.clone()),
        drift: views::drift(change),
        drift_omitted: Some(change.drift_omitted).filter(|lines| *lines > 0),
        diagnostics: Some(views::diagnostics(change)).filter(|_| !change.diagnostics.is_empty()),
        unchecked: change.unchecked.clone(),
    }
}

fn content_views<S: Serializer>(content: &[ContentPart], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(content.iter().map(content::view))
}

fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

// === impl CallReport ===

impl CallReport {
    /// Reports a call that ran.
    pub(super) fn of_result(result: v1::CallResult, dry_run: bool) -> Self {
        let views = result.changes.iter().map(|change| change_view(change, None)).collect();
        let error = result.error.map(|error| ErrorView {
            code: error.code,
            message: error.message,
            hint: non_empty(error.hint),
            violations: Vec::new(),
        });
        let shown = match &error {
            Some(_) => ReportView::Error(None),
            None if dry_run && !result.changes.is_empty() => ReportView::Effect(result.changes),
            None if dry_run && !result.digest.is_empty() => ReportView::Planned,
            None => ReportView::Output(result.changes),
        };
        Self {
            call_id: non_empty(result.call_id),
            tool: result.tool,
            outcome: error.as_ref().map_or(Outcome::Ok, |error| outcome_of(&error.code)),
            output: serde_json::from_str(&result.output_json).ok(),
            content: result.content.into_iter().map(content::of_proto).collect(),
            error,
            changes: views,
            digest: non_empty(result.digest),
            history: Some(result.history).filter(|number| *number > 0),
            conflicts: result.conflicts.iter().map(views::undo_conflict).collect(),
            shown,
        }
    }

    /// Reports a call that could not run, with the effect that stopped it.
    pub(super) fn of_error(tool: &str, call_id: Option<String>, error: CliError) -> Self {
        let unconfirmed =
            (error.outcome == Outcome::Unconfirmed).then_some(v1::ChangeStatus::Unconfirmed);
        let confirmation = error.confirmation;
        let changes = confirmation.iter().flat_map(|asked| &asked.changes);
        Self {
            call_id,
            tool: tool.to_owned(),
            outcome: error.outcome,
            output: None,
            content: Vec::new(),
            changes: changes.map(|change| change_view(change, unconfirmed)).collect(),
            digest: confirmation.as_ref().map(|asked| asked.digest.clone()),
            history: None,
            conflicts: Vec::new(),
            error: Some(error.error),
            shown: ReportView::Error(confirmation),
        }
    }

    /// Adds what was found out before it ended.
    pub(super) fn with_output(self, output: Value) -> Self {
        Self { output: Some(output), ..self }
    }

    /// Forgets the effect, which the person has seen already.
    pub(super) fn without_effect(mut self) -> Self {
        if let ReportView::Error(confirmation) = &mut self.shown {
            confirmation.take();
        }
        self
    }

    /// Writes it and returns the outcome.
    pub(super) fn show(&self, ui: &Ui) -> Result<Outcome, CliError> {
        if ui.json() {
            ui.print_json(self)?;
            return Ok(self.outcome);
        }
        match &self.shown {
            ReportView::Output(changes) => {
                if let Some(output) = &self.output {
                    ui.print_json(output)?;
                }
                self.content.iter().for_each(|part| content::note(ui, part));
                changes
                    .iter()
                    .for_each(|change| ui.note(&dim(effect::summary(ui.wording(), change))));
                // The tools of moss say so themselves; plugins do not know.
                let is_told = self.output.as_ref().is_some_and(|o| o.get("history").is_some());
                if let Some(number) = self.history.filter(|_| !is_told) {
                    ui.note(&dim((ui.wording().effect.undo_with)(number)));
                }
            }
            ReportView::Effect(changes) => {
                ui.print(&effect::changes(ui.wording(), changes))?;
                let digest = self.digest.as_deref().unwrap_or_default();
                ui.print(&effect::digest(ui.wording(), digest))?;
                ui.note(&dim(ui.wording().effect.nothing_changed));
            }
            ReportView::Planned => {
                if let Some(output) = &self.output {
                    ui.print_json(output)?;
                }
                let digest = self.digest.as_deref().unwrap_or_default();
                ui.note(&effect::digest(ui.wording(), digest));
                ui.note(&dim(ui.wording().effect.nothing_changed));
            }
            ReportView::Error(confirmation) => {
                if let Some(confirmation) = confirmation {
                    ui.note(&effect::confirmation(ui.wording(), confirmation));
                }
                if let Some(error) = &self.error {
                    error::print(ui, error);
                }
            }
        }
        Ok(self.outcome)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change() -> v1::FileChange {
        let drift = v1::Drift { line: 3, expected: "x".into(), found: "y".into() };
        let mut change = v1::FileChange {
            path: "a".into(),
            diff: "d".into(),
            match_level: "block_anchor".into(),
            drift: vec![drift],
            ..Default::default()
        };
        change.set_status(v1::ChangeStatus::Committed);
        change
    }

    #[test]
    fn call_that_ran_has_output_and_changes() {
        let report = CallReport::of_result(
            v1::CallResult {
                call_id: "c".into(),
                tool: "t".into(),
                outcome: v1::Outcome::Ok.into(),
                output_json: "{\"n\":1}".into(),
                changes: vec![change()],
                digest: "ab".into(),
                history: 7,
                ..Default::default()
            },
            false,
        );
        assert_eq!(
            serde_json::to_value(&report).unwrap(),
            json!({
                "call_id": "c", "tool": "t", "outcome": "ok", "output": {"n": 1}, "error": null,
                "changes": [{
                    "path": "a", "diff": "d", "status": "committed", "match_level": "block_anchor",
                    "drift": [{"line": 3, "expected": "x", "found": "y"}],
                }],
                "digest": "ab", "history": 7,
            })
        );
    }

    #[test]
    fn change_of_which_nothing_was_searched_for_has_no_level_and_no_drift() {
        let plain = v1::FileChange { match_level: String::new(), drift: Vec::new(), ..change() };
        let view = serde_json::to_value(change_view(&plain, None)).unwrap();
        assert_eq!(
            view,
            json!({"path": "a", "diff": "d", "status": "committed", "match_level": null, "drift": []})
        );
        let cut = v1::FileChange { drift_omitted: 9, ..change() };
        assert_eq!(serde_json::to_value(change_view(&cut, None)).unwrap()["drift_omitted"], 9);
    }

    #[test]
    fn failure_of_a_tool_keeps_its_code_and_hint() {
        let error = v1::ToolError {
            code: "conflict".into(),
            message: "it changed".into(),
            hint: "read it again".into(),
        };
        let result = v1::CallResult { error: Some(error), ..Default::default() };
        let report = serde_json::to_value(CallReport::of_result(result, false)).unwrap();
        assert_eq!(report["outcome"], "failed");
        assert_eq!(
            report["error"],
            json!({"code": "conflict", "message": "it changed", "hint": "read it again",
                   "violations": []})
        );
        assert_eq!(report["output"], Value::Null);
    }

    #[test]
    fn unconfirmed_effect_is_shown_with_its_digest() {
        let asked =
            v1::Confirmation { changes: vec![change()], digest: "cd".into(), ..Default::default() };
        let error = CliError::unconfirmed("no", &asked);
        let report =
            serde_json::to_value(CallReport::of_error("t", Some("c".into()), error)).unwrap();
        assert_eq!(report["outcome"], "unconfirmed");
        assert_eq!(report["digest"], "cd");
        assert_eq!(report["changes"][0]["status"], "unconfirmed");
    }
}
