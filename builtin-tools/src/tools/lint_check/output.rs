//! What the tool returns.

use std::collections::BTreeMap;

use moss_checks::{LintStatus, PastDiagnostic};
use moss_sdk::command::AlteredFile;
use schemars::JsonSchema;
use serde::Serialize;

use super::asked::AskedPath;
use super::findings::{CheckFindings, SeverityTotals, ShownDiagnostic};
use super::running::LinterReport;

/// What is wrong in a file or a directory.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LintCheckOutput {
    /// What came of it.
    status: LintVerdict,
    /// What was found, up to 100: errors first, new ones before old ones, then by path and line. Of files
    /// that were not asked about only errors and what is new, at the end.
    diagnostics: Vec<ShownDiagnostic>,
    /// How many were found in what was asked about, shown or not.
    totals: SeverityTotals,
    /// How many each source found there.
    sources: BTreeMap<String, u64>,
    /// How many more there are that are not shown: `artifact` of a tool has the whole, where it is long.
    not_shown: u64,
    /// How many were found in files that were not asked about.
    elsewhere: u64,
    /// How many are new since the last check of the session; missing where nothing could be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_total: Option<u64>,
    /// What went away since then, up to 50; lines are those of then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resolved: Vec<PastDiagnostic>,
    /// How many went away.
    resolved_total: u64,
    /// How many files were parsed by a grammar.
    files_parsed: u64,
    /// The linters, and how their runs ended.
    tools: Vec<LinterReport>,
    /// Files of the workspace that they created, modified or deleted, without those that ignore files name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<AlteredFile>,
    /// What else there is to say, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LintVerdict {
    /// Everything was checked, and nothing found.
    Clean,
    /// Something was found; whether everything was checked, `tools` say.
    Findings,
    /// Nothing was found, but not everything was checked: `tools` and `notes` say what was not.
    Incomplete,
    /// Nothing could be checked: no grammar and no linter is for it.
    Unchecked,
}

// === impl LintCheckOutput ===

impl LintCheckOutput {
    pub(super) fn new(asked: &AskedPath, findings: CheckFindings) -> Self {
        let status = verdict(&findings);
        let CheckFindings {
            shown,
            totals,
            sources,
            not_shown,
            elsewhere,
            new,
            resolved,
            resolved_total,
            reports,
            changed,
            notes,
            files_parsed,
            has_linted: _,
            is_incomplete: _,
        } = findings;
        let mut notes: Vec<String> = asked.notes.iter().cloned().chain(notes).collect();
        if status == LintVerdict::Unchecked {
            notes.push(
                "no grammar and no configured linter is for it: run another one with run_terminal_cmd, or add \
                 it under `[linters]` in the configuration of moss"
                    .to_owned(),
            );
        }
        Self {
            status,
            diagnostics: shown,
            totals,
            sources,
            not_shown,
            elsewhere,
            new_total: new,
            resolved,
            resolved_total,
            files_parsed,
            tools: reports,
            changed,
            notes,
        }
    }
}

fn verdict(findings: &CheckFindings) -> LintVerdict {
    let has_found =
        findings.totals.all() > 0 || !findings.shown.is_empty() || findings.not_shown > 0;
    let all_ran = findings.reports.iter().all(|report| report.status == LintStatus::Ran);
    match (has_found, all_ran) {
        (true, _) => LintVerdict::Findings,
        (false, false) => LintVerdict::Incomplete,
        (false, true) if findings.is_incomplete => LintVerdict::Incomplete,
        (false, true) if findings.files_parsed == 0 && !findings.has_linted => {
            LintVerdict::Unchecked
        }
        (false, true) => LintVerdict::Clean,
    }
}
