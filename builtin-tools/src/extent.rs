//! How far the tools go that walk over a workspace.

/// Most entries that one call looks at: 200,000 files and their directories.
pub(crate) const VISITED_MAX: usize = 300_000;

/// Says that a walk ended there.
pub(crate) fn ended() -> String {
    format!("only the first {VISITED_MAX} entries were looked at")
}
