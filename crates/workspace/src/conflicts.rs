//! The conflicts of an undo.

use std::fmt;
use std::ops::Range;
use std::time::SystemTime;

use moss_sdk::RelPath;

use crate::origin::Origin;

/// Most conflicts that an error lists.
const CONFLICTS_SHOWN_MAX: usize = 20;

/// A file in which an entry cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoConflict {
    /// Number in the history, from 1.
    pub number: u64,
    /// Path relative to the workspace root.
    pub path: RelPath,
    /// What became of it, with the lines of the present file where it is about lines.
    pub what: String,
    /// These lines, counted from 0, so many of them as are reported; an empty range is between two.
    pub lines: Vec<Range<usize>>,
    /// The later conflicting change; none where it was made outside of moss, or takes part
    /// in what was to be undone.
    pub later: Option<LaterChange>,
}

/// A change that was made after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaterChange {
    /// Its number in the history.
    pub number: u64,
    /// When it was begun.
    pub at: SystemTime,
    /// The tool, the call and the caller that made it.
    pub origin: Origin,
}

/// Everything that stands in the way of an undo, at least one conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoConflicts(pub Vec<UndoConflict>);

// === impl UndoConflicts ===

impl fmt::Display for UndoConflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was undone: ")?;
        for (position, conflict) in self.0.iter().take(CONFLICTS_SHOWN_MAX).enumerate() {
            let UndoConflict { number, path, what, later, .. } = conflict;
            let separator = if position > 0 { "; " } else { "" };
            write!(f, "{separator}{path} {what} since change {number}")?;
            if let Some(LaterChange { number, origin, .. }) = later {
                write!(f, ", by change {number} ({})", origin.tool)?;
            }
        }
        match self.0.len().saturating_sub(CONFLICTS_SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, "; and {more} more files"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reports_at_most_so_many_conflicts() {
        let path = RelPath::parse("a").unwrap();
        let conflict = |number| UndoConflict {
            number,
            path: path.clone(),
            what: "is gone".into(),
            lines: Vec::new(),
            later: None,
        };
        let told = UndoConflicts((0..25).map(conflict).collect()).to_string();
        assert!(told.starts_with("nothing was undone: a is gone since change 0; a is"), "{told}");
        assert!(told.ends_with("since change 19; and 5 more files"), "{told}");
    }
}
