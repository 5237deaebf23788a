//! A change of one file as people, models and the journal see it.

use moss_sdk::{ContentHash, RelPath};
use moss_workspace::{Action, PlannedFile};

/// A change of one file: proposed, committed or refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: RelPath,
    /// What happens to it.
    pub action: Action,
    /// What became of the change.
    pub status: Status,
    /// Unified diff.
    pub diff: String,
    /// Lines that come.
    pub lines_added: u64,
    /// Lines that go.
    pub lines_removed: u64,
    /// The content before; none where there was no file.
    pub before: Option<ContentHash>,
    /// The content after; none where there is no file.
    pub after: Option<ContentHash>,
    /// Whether it is a change of what an editor holds and has not saved.
    pub unsaved: bool,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Shown, not done.
    Proposed,
    /// Done.
    Committed,
    /// Nobody could be asked, or nobody answered.
    Unconfirmed,
    /// The file changed meanwhile.
    Conflict,
}

/// Shows planned changes, with at most so many bytes of diff over all.
pub fn proposed(files: &[PlannedFile], diff_bytes_max: usize) -> Vec<FileChange> {
    let mut changes: Vec<_> = files.iter().map(FileChange::proposed).collect();
    shorten(changes.iter_mut().map(|change| &mut change.diff), diff_bytes_max);
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

/// Cuts a diff at the end of a line.
fn cut(diff: &mut String, bytes_max: usize) {
    if diff.len() <= bytes_max {
        return;
    }
    let end = diff.floor_char_boundary(bytes_max);
    let end = diff[..end].rfind('\n').map_or(0, |newline| newline + 1);
    let more = diff.len() - end;
    diff.truncate(end);
    diff.push_str(&format!("\\ the diff goes on for {more} bytes (calls.diff_bytes_max)\n"));
}

// === impl FileChange ===

impl FileChange {
    fn proposed(file: &PlannedFile) -> Self {
        Self {
            path: file.path.clone(),
            action: file.action,
            status: Status::Proposed,
            diff: file.diff.clone(),
            lines_added: file.added as u64,
            lines_removed: file.removed as u64,
            before: file.before,
            after: file.after,
            unsaved: file.unsaved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diff_is_cut_at_a_line_and_says_so() {
        let mut diff = "-a\n+bé\n+c\n".to_owned();
        cut(&mut diff, 11);
        assert_eq!(diff, "-a\n+bé\n+c\n");
        cut(&mut diff, 6);
        assert_eq!(diff, "-a\n\\ the diff goes on for 8 bytes (calls.diff_bytes_max)\n");
    }
}
