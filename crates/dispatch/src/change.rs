//! A change of one file as people, models and the journal see it.

use std::sync::Arc;

use moss_sdk::edit::{Drift, MatchLevel};
use moss_sdk::{ContentHash, RelPath};
use moss_workspace::{FileAction, PlannedFile};

/// Most lines with drift that a change set shows, over all of its files.
pub const DRIFT_LINES_MAX: usize = 100;
/// Most bytes of such a line that are shown, on either side.
pub const DRIFT_LINE_BYTES_MAX: usize = 400;
/// How much of a long line is shown before the location where it differs, in bytes.
const DRIFT_LEAD_BYTES: usize = 100;

/// A change of one file: proposed, committed or refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file, as the change named it.
    pub path: RelPath,
    /// Its real path, where links lead to another one.
    pub real: Option<RelPath>,
    /// What happens to it.
    pub action: FileAction,
    /// What became of the change.
    pub status: ChangeStatus,
    /// Unified diff, cut where it is long.
    pub diff: String,
    /// How many bytes of the diff were cut off.
    pub diff_omitted: u64,
    /// Number of added lines.
    pub lines_added: u64,
    /// Number of removed lines.
    pub lines_removed: u64,
    /// The content before; none where there was no file.
    pub before: Option<ContentHash>,
    /// The content after; none where there is no file.
    pub after: Option<ContentHash>,
    /// Whether it is a change of what an editor holds and has not saved.
    pub unsaved: bool,
    /// How the locations of an edit were found, where they were searched for.
    pub match_level: Option<MatchLevel>,
    /// Lines that an edit changes and that are not as it says, bounded.
    pub drift: Vec<Drift>,
    /// How many more such lines there are.
    pub drift_omitted: u64,
    /// What is wrong with the file after the change and was not before.
    pub diagnostics: Vec<ChangeDiagnostic>,
    /// Linters that were to check it and did not, each with the reason.
    pub unchecked: Vec<String>,
    /// All of it, where something was cut or left out.
    pub whole: Option<Whole>,
}

/// What is wrong with a file after a change. Lines and columns count from 1; columns are characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeDiagnostic {
    /// The line in the file after the change.
    pub line: u64,
    /// The character in the line, from 1.
    pub column: u64,
    /// What is wrong, in one sentence for people and models.
    pub message: String,
    /// What found it, such as `syntax`.
    pub source: String,
    /// How bad it is: `error`, `warning`, `info` or `hint`.
    pub severity: &'static str,
    /// The rule of a linter.
    pub code: Option<String>,
}

/// All that a change shows, uncut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// The lines that an edit changes and that are not as it says, in words; mostly empty.
    pub drift: Arc<str>,
    /// The unified diff of the file.
    pub diff: Arc<str>,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeStatus {
    /// It was shown, by a dry run or in a question, and nothing was written.
    Proposed,
    /// It was made, on disk or in the editor that has the file unsaved.
    Committed,
    /// Nobody could be asked, or nobody decided.
    Unconfirmed,
    /// The file changed meanwhile.
    Conflict,
}

/// Shows planned changes, with at most so many bytes of diff over all, and at most
/// [`DRIFT_LINES_MAX`] lines with drift.
pub fn proposed(files: &[PlannedFile], diff_bytes_max: usize) -> Vec<FileChange> {
    let mut changes = Vec::with_capacity(files.len());
    let mut drift_left = DRIFT_LINES_MAX;
    for file in files {
        let change = FileChange::proposed(file, drift_left);
        drift_left -= change.drift.len();
        changes.push(change);
    }
    let mut left = diff_bytes_max;
    for (change, file) in changes.iter_mut().zip(files) {
        change.diff_omitted = cut(&mut change.diff, left);
        left = left.saturating_sub(change.diff.len());
        change.keep_whole(file);
    }
    changes
}

/// Cuts diffs to at most so many bytes over all. One that is cut says so and by how much; digests
/// and line counts are those of the whole.
pub fn shorten<'a>(diffs: impl Iterator<Item = &'a mut String>, bytes_max: usize) {
    let mut left = bytes_max;
    for diff in diffs {
        cut(diff, left);
        left = left.saturating_sub(diff.len());
    }
}

/// Cuts a diff at the end of a line. Returns how much was cut off.
pub fn cut(diff: &mut String, bytes_max: usize) -> u64 {
    if diff.len() <= bytes_max {
        return 0;
    }
    let end = diff.floor_char_boundary(bytes_max);
    let end = diff[..end].rfind('\n').map_or(0, |newline| newline + 1);
    let more = diff.len() - end;
    diff.truncate(end);
    diff.push_str(&format!("\\ the diff continues for {more} bytes (calls.diff_bytes_max)\n"));
    more as u64
}

/// Puts all drift of a change into words.
fn in_words(path: &RelPath, drift: &[Drift]) -> String {
    let line = |Drift { line, expected, found }: &Drift| {
        format!("{path}, line {line}\n  expected: {expected}\n  found:    {found}\n")
    };
    drift.iter().map(line).collect()
}

/// Cuts the two sides of a line with drift to the same location, around where they begin to differ.
fn shown(drift: &Drift) -> Drift {
    let Drift { line, expected, found } = drift;
    let pairs = expected.char_indices().zip(found.chars());
    let same = pairs.take_while(|((_, a), b)| a == b).last();
    let differs_at = same.map_or(0, |((at, c), _)| at + c.len_utf8());
    let is_long = expected.len().max(found.len()) > DRIFT_LINE_BYTES_MAX;
    let start = if is_long { differs_at.saturating_sub(DRIFT_LEAD_BYTES) } else { 0 };
    Drift { line: *line, expected: window(expected, start), found: window(found, start) }
}

/// Cuts a line at both ends and says by how much.
fn window(line: &str, start: usize) -> String {
    let start = line.floor_char_boundary(start);
    let end = line.floor_char_boundary(start.saturating_add(DRIFT_LINE_BYTES_MAX));
    let before = if start > 0 { format!("({start} bytes)…") } else { String::new() };
    let after = line.len() - end;
    let after = if after > 0 { format!("…({after} bytes)") } else { String::new() };
    format!("{before}{}{after}", &line[start..end])
}

// === impl FileChange ===

impl FileChange {
    /// Returns how many lines an edit changes that are not as it says.
    pub fn drift_lines(&self) -> u64 {
        self.drift.len() as u64 + self.drift_omitted
    }

    /// Whether something of it was cut or left out.
    pub fn is_cut(&self) -> bool {
        self.whole.is_some()
    }

    /// How much memory what is shown of it takes, in bytes.
    pub fn shown_bytes(&self) -> usize {
        let drift = self.drift.iter().map(|drift| drift.expected.len() + drift.found.len());
        let whole = self.whole.as_ref().map_or(0, |whole| whole.drift.len());
        let diagnostics: usize = self.diagnostics.iter().map(|found| found.message.len()).sum();
        let unchecked: usize = self.unchecked.iter().map(String::len).sum();
        self.diff.len() + drift.sum::<usize>() + diagnostics + unchecked + whole
    }

    /// Keeps all that the change shows where its diff or its drift was cut.
    fn keep_whole(&mut self, file: &PlannedFile) {
        let drift = file.matched.as_ref().map_or(&[][..], |matched| &matched.drift);
        let is_drift_cut = self.drift != drift;
        if self.diff_omitted > 0 || is_drift_cut {
            let words = if is_drift_cut { in_words(&self.path, drift) } else { String::new() };
            self.whole = Some(Whole { drift: words.into(), diff: Arc::clone(&file.diff) });
        }
    }

    fn proposed(file: &PlannedFile, drift_lines_max: usize) -> Self {
        let matched = file.matched.as_ref();
        let drift = matched.map_or(&[][..], |matched| &matched.drift);
        let listed = &drift[..drift.len().min(drift_lines_max)];
        Self {
            path: file.path.clone(),
            real: Some(&file.real).filter(|real| **real != file.path).cloned(),
            action: file.action,
            status: ChangeStatus::Proposed,
            diff: file.diff.as_ref().to_owned(),
            diff_omitted: 0,
            lines_added: file.added as u64,
            lines_removed: file.removed as u64,
            before: file.before,
            after: file.after,
            unsaved: file.unsaved,
            match_level: matched.map(|matched| matched.level),
            drift: listed.iter().map(shown).collect(),
            drift_omitted: (drift.len() - listed.len()) as u64,
            diagnostics: Vec::new(),
            unchecked: Vec::new(),
            whole: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use moss_sdk::edit::{Change, ChangeKind, ChangeSet, Matched};
    use moss_workspace::{Workspace, WorkspaceOptions};
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn diff_is_cut_at_a_line_and_says_so() {
        let mut diff = "-a\n+bé\n+c\n".to_owned();
        cut(&mut diff, 11);
        assert_eq!(diff, "-a\n+bé\n+c\n");
        cut(&mut diff, 6);
        assert_eq!(diff, "-a\n\\ the diff continues for 8 bytes (calls.diff_bytes_max)\n");
    }

    /// Plans an edit of each file, with so many lines of drift.
    fn planned(drift_lines: &[usize]) -> Vec<FileChange> {
        let root = TempDir::new().unwrap();
        let changes = drift_lines.iter().enumerate().map(|(number, lines)| {
            std::fs::write(root.path().join(number.to_string()), "old\n").unwrap();
            let kind = ChangeKind::Write {
                base: ContentHash::from_bytes(blake3::hash(b"old\n").into()),
                content: "new\n".to_owned(),
            };
            let drift = (1..=*lines).map(|line| drift(line as u64, "odd", "old")).collect();
            let matched = Some(Matched { level: MatchLevel::ContextAware, drift });
            Change { matched, ..Change::new(RelPath::parse(&number.to_string()).unwrap(), kind) }
        });
        let changes = ChangeSet { changes: changes.collect() };
        let workspace = Workspace::open(root.path(), WorkspaceOptions::default()).unwrap();
        proposed(workspace.plan(&changes).unwrap().files(), usize::MAX)
    }

    #[test]
    fn drift_is_counted_where_it_is_not_shown() {
        let counts = |changes: Vec<FileChange>| -> Vec<_> {
            changes.iter().map(|change| (change.drift.len(), change.drift_omitted)).collect()
        };
        assert_eq!(counts(planned(&[0, 2])), [(0, 0), (2, 0)]);
        let most = DRIFT_LINES_MAX;
        assert_eq!(counts(planned(&[most - 1, 3, 5])), [(most - 1, 0), (1, 2), (0, 5)]);
        let change = planned(&[most + 7]).remove(0);
        assert_eq!(change.match_level, Some(MatchLevel::ContextAware));
        assert_eq!(change.drift_lines(), most as u64 + 7);
        assert_eq!(change.drift[0], drift(1, "odd", "old"));
    }

    fn drift(line: u64, expected: &str, found: &str) -> Drift {
        Drift { line, expected: expected.to_owned(), found: found.to_owned() }
    }

    #[test]
    fn long_lines_with_drift_are_cut_around_where_they_differ() {
        let short = drift(3, "\ty := 99", "\ty := 2");
        assert_eq!(shown(&short), short);
        assert_eq!(shown(&drift(1, "", "x")), drift(1, "", "x"));

        let (before, after) = ("é".repeat(500), "z".repeat(1000));
        let long = shown(&drift(7, &format!("{before}99{after}"), &format!("{before}2")));
        let lead = "é".repeat(DRIFT_LEAD_BYTES / 2);
        assert_eq!(long.found, format!("(900 bytes)…{lead}2"));
        let rest = DRIFT_LINE_BYTES_MAX - DRIFT_LEAD_BYTES - 2;
        assert_eq!(
            long.expected,
            format!("(900 bytes)…{lead}99{}…({} bytes)", "z".repeat(rest), 1000 - rest)
        );
        // One side ends where the other continues.
        let ends = shown(&drift(7, &before, &format!("{before}{after}")));
        assert_eq!(ends.expected, format!("(900 bytes)…{lead}"));
        assert!(ends.found.starts_with(&format!("(900 bytes)…{lead}zz")), "{}", ends.found);
    }
}
