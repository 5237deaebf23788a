//! All that was found, put together: what may be shown, in characters, held against the last check, in
//! order and within bounds.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use moss_checks::{
    CheckDiagnostic, CheckSeverity, CheckedText, ColumnUnit, LintChange, LintMemory, LintStatus,
    PastDiagnostic, drop_unplaced_fixes,
};
use moss_sdk::ToolError;
use moss_sdk::command::AlteredFile;
use moss_sdk::context::Context;
use schemars::JsonSchema;
use serde::Serialize;

use super::asked::AskedPath;
use super::reading::ReadFiles;
use super::running::{LinterReport, LinterRun};
use super::syntax::SyntaxFindings;

/// Most diagnostics that are shown.
const SHOWN_MAX: usize = 100;
/// Most bytes of the messages and fixes of all of them.
const SHOWN_BYTES_MAX: usize = 64 << 10;
/// Most diagnostics that went away and are listed.
const RESOLVED_MAX: usize = 50;

/// A diagnostic as it is shown.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownDiagnostic {
    #[serde(flatten)]
    pub(super) diagnostic: CheckDiagnostic,
    /// Whether it was not there at the last check of the session; missing at the first check.
    #[serde(rename = "new", skip_serializing_if = "Option::is_none")]
    pub(super) is_new: Option<bool>,
}

/// How many there are of each severity.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct SeverityTotals {
    /// What does not work.
    pub(super) error: u64,
    /// What is probably wrong.
    pub(super) warning: u64,
    /// What is worth knowing.
    pub(super) info: u64,
    /// What might be nicer.
    pub(super) hint: u64,
}

/// All that was found.
#[derive(Debug, Default)]
pub(super) struct CheckFindings {
    pub(super) shown: Vec<ShownDiagnostic>,
    pub(super) totals: SeverityTotals,
    pub(super) sources: BTreeMap<String, u64>,
    pub(super) not_shown: u64,
    pub(super) elsewhere: u64,
    pub(super) new: Option<u64>,
    pub(super) resolved: Vec<PastDiagnostic>,
    pub(super) resolved_total: u64,
    pub(super) reports: Vec<LinterReport>,
    pub(super) changed: Vec<AlteredFile>,
    pub(super) notes: Vec<String>,
    pub(super) files_parsed: u64,
    /// Whether a linter checked anything.
    pub(super) has_linted: bool,
    /// Whether something was not checked that no linter reports.
    pub(super) is_incomplete: bool,
}

/// What one source found.
struct FoundGroup {
    found: Vec<CheckDiagnostic>,
    unit: ColumnUnit,
    /// The name under which it is remembered; none where it is not whole.
    key: Option<String>,
}

/// What two diagnostics have in common that say the same: line, column, path, source, rule and message.
type DiagnosticIdentity = (u64, u64, String, String, Option<String>, String);

/// The files that something was found in, those that were asked about first.
fn paths(groups: &[FoundGroup], asked: &AskedPath) -> Vec<String> {
    let all = groups.iter().flat_map(|group| &group.found).map(|found| &found.path);
    let unique: BTreeSet<&String> = all.collect();
    let (own, others): (Vec<String>, Vec<String>) =
        unique.into_iter().cloned().partition(|path| asked.holds(path));
    own.into_iter().chain(others).collect()
}

// === impl CheckFindings ===

impl CheckFindings {
    /// Puts together what was found.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    pub(super) async fn gather(
        cx: &Context,
        asked: &AskedPath,
        syntax: SyntaxFindings,
        runs: Vec<LinterRun>,
    ) -> Result<Self, ToolError> {
        let mut findings = Self { files_parsed: syntax.files, ..Self::default() };
        findings.note_syntax(&syntax);
        findings.is_incomplete = asked.is_cut || syntax.is_cut || syntax.unparsed > 0;
        let mut groups = vec![FoundGroup::of_syntax(syntax, asked)];
        for run in runs {
            let LinterRun { report, found, unit, left_out, has_checked, changed, notes, .. } = run;
            let key = (report.status == LintStatus::Ran && left_out == 0)
                .then(|| format!("{}\n{}", report.directory, report.command));
            groups.push(FoundGroup { found, unit, key });
            findings.not_shown += left_out;
            findings.has_linted |= has_checked;
            findings.changed.extend(changed.into_iter().filter(|one| !one.path.is_empty()));
            findings.notes.extend(notes);
            findings.reports.push(report);
        }
        let looked = ReadFiles::at(cx, paths(&groups, asked)).await?;
        if looked.is_cut {
            findings.notes.push(
                "findings are in so many files that those of the last ones are only counted"
                    .to_owned(),
            );
        }
        let mut shown = Vec::new();
        let mut known = HashSet::new();
        for (at, mut group) in groups.into_iter().enumerate() {
            let withheld = group.withhold(&looked);
            group.convert(&looked);
            group.drop_known(&mut known);
            let (found, change) = group.compare(cx, &looked).await?;
            if let Some(report) = at.checked_sub(1).and_then(|at| findings.reports.get_mut(at)) {
                report.findings -= withheld;
                report.compared = change.is_some();
            }
            findings.add_withheld(withheld);
            findings.take(asked, &looked, found, change, &mut shown);
        }
        findings.show(asked, shown);
        Ok(findings)
    }

    fn note_syntax(&mut self, syntax: &SyntaxFindings) {
        if syntax.unparsed > 0 {
            let unparsed = syntax.unparsed;
            self.notes.push(format!(
                "{unparsed} files are too large, or took too long or too much memory to parse"
            ));
        }
        if syntax.is_cut {
            self.notes.push("not every file was parsed: check a smaller directory".to_owned());
        }
    }

    fn add_withheld(&mut self, withheld: u64) {
        if withheld > 0 {
            self.notes.push(format!(
                "{withheld} findings are in files that may not be read, and left out"
            ));
        }
    }

    /// Counts what one source found, and adds what may be shown of it.
    fn take(
        &mut self,
        asked: &AskedPath,
        looked: &ReadFiles,
        found: Vec<CheckDiagnostic>,
        change: Option<LintChange>,
        shown: &mut Vec<ShownDiagnostic>,
    ) {
        if let Some(change) = &change {
            let new = change.is_new.iter().filter(|is_new| **is_new).count() as u64;
            self.new = Some(self.new.unwrap_or(0) + new);
            self.resolved_total += change.resolved.len() as u64;
            let room = RESOLVED_MAX.saturating_sub(self.resolved.len());
            self.resolved.extend(change.resolved.iter().take(room).cloned());
        }
        for (at, diagnostic) in found.into_iter().enumerate() {
            let is_new = change.as_ref().and_then(|change| change.is_new.get(at).copied());
            let is_own = asked.holds(&diagnostic.path);
            match is_own {
                true => {
                    self.totals.count(diagnostic.severity);
                    *self.sources.entry(diagnostic.source.clone()).or_default() += 1;
                }
                false => self.elsewhere += 1,
            }
            let matters = diagnostic.severity == CheckSeverity::Error || is_new == Some(true);
            if !is_own && !matters {
                continue;
            }
            match looked.seen.contains(&diagnostic.path) {
                true => shown.push(ShownDiagnostic { diagnostic, is_new }),
                false => self.not_shown += 1,
            }
        }
    }

    /// Chooses what is shown: what was asked about first, errors first, what is new first, then by place.
    fn show(&mut self, asked: &AskedPath, mut all: Vec<ShownDiagnostic>) {
        all.sort_by(|one, other| {
            let key = |shown: &ShownDiagnostic| {
                let found = &shown.diagnostic;
                (!asked.holds(&found.path), found.severity, shown.is_new != Some(true))
            };
            let place = |shown: &ShownDiagnostic| (shown.diagnostic.line, shown.diagnostic.column);
            key(one)
                .cmp(&key(other))
                .then_with(|| one.diagnostic.path.cmp(&other.diagnostic.path))
                .then_with(|| place(one).cmp(&place(other)))
        });
        let mut room = SHOWN_BYTES_MAX;
        let total = all.len();
        for shown in all.into_iter().take(SHOWN_MAX) {
            let bytes = shown.bytes();
            if bytes > room {
                break;
            }
            room -= bytes;
            self.shown.push(shown);
        }
        self.not_shown += (total - self.shown.len()) as u64;
    }
}

// === impl FoundGroup ===

impl FoundGroup {
    fn of_syntax(syntax: SyntaxFindings, asked: &AskedPath) -> Self {
        let key = (!syntax.is_cut).then(|| format!("syntax {}", asked.target.path));
        Self { found: syntax.found, unit: ColumnUnit::Characters, key }
    }

    /// Drops what is in files that may not be read; returns how many.
    fn withhold(&mut self, looked: &ReadFiles) -> u64 {
        let before = self.found.len();
        self.found.retain(|found| !looked.withheld.contains(&found.path));
        (before - self.found.len()) as u64
    }

    /// Drops what runs before found, too: projects of one linter may have files in common.
    fn drop_known(&mut self, known: &mut HashSet<DiagnosticIdentity>) {
        let identity = |found: &CheckDiagnostic| {
            let CheckDiagnostic { path, line, column, source, code, message, .. } = found;
            (*line, *column, path.clone(), source.clone(), code.clone(), message.clone())
        };
        let own: Vec<DiagnosticIdentity> = self.found.iter().map(identity).collect();
        self.found.retain(|found| !known.contains(&identity(found)));
        known.extend(own);
    }

    /// Turns columns in other units into characters, which `line` and `column` of results count in.
    fn convert(&mut self, looked: &ReadFiles) {
        let mut lined: BTreeMap<&str, CheckedText<'_>> = BTreeMap::new();
        for found in &mut self.found {
            let known = looked.texts.get_key_value(&found.path);
            // What counts bytes of the file counts those of its byte-order mark.
            if known.is_none() || looked.marked.contains(&found.path) {
                drop_unplaced_fixes(found);
            }
            let Some((path, text)) = known else { continue };
            let text = lined.entry(path).or_insert_with(|| CheckedText::new(text));
            self.unit.to_characters(found, text);
        }
    }

    /// Holds it against the last check, and remembers it for the next one.
    async fn compare(
        self,
        cx: &Context,
        looked: &ReadFiles,
    ) -> Result<(Vec<CheckDiagnostic>, Option<LintChange>), ToolError> {
        let Some(key) = self.key else { return Ok((self.found, None)) };
        let memory = LintMemory::of(&self.found, &looked.hashes);
        let value = memory.as_ref().and_then(|memory| serde_json::to_vec(memory).ok());
        let before = cx.remember(&key, value.unwrap_or_default());
        let before: Option<LintMemory> =
            before.and_then(|before| serde_json::from_slice(&before).ok());
        let Some(before) = before.filter(|_| memory.is_some()) else {
            return Ok((self.found, None));
        };
        let (found, hashes) = (self.found, looked.hashes.clone());
        cx.compute(move || {
            let change = before.change(&found, &hashes);
            (found, Some(change))
        })
        .await
    }
}

// === impl ShownDiagnostic ===

impl ShownDiagnostic {
    /// What its texts take in a result.
    fn bytes(&self) -> usize {
        let found = &self.diagnostic;
        let edits = found.fixes.iter().flat_map(|fix| &fix.edits);
        let edits: usize = edits.map(|edit| edit.path.len() + edit.new_text.len()).sum();
        let descriptions: usize = found.fixes.iter().map(|fix| fix.description.len()).sum();
        found.path.len() + found.message.len() + edits + descriptions
    }
}

// === impl SeverityTotals ===

impl SeverityTotals {
    fn count(&mut self, severity: CheckSeverity) {
        let count = match severity {
            CheckSeverity::Error => &mut self.error,
            CheckSeverity::Warning => &mut self.warning,
            CheckSeverity::Info => &mut self.info,
            CheckSeverity::Hint => &mut self.hint,
        };
        *count += 1;
    }

    pub(super) fn all(&self) -> u64 {
        self.error + self.warning + self.info + self.hint
    }
}
