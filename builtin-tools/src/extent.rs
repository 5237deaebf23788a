//! How far the tools go that walk over a workspace.

/// Most entries that one call looks at: a million files and their directories, and as much again.
pub(crate) const VISITED_MAX: usize = 2_000_000;

/// Drops the slash that people like to put after a directory.
pub(crate) fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// Says how to see what comes after a page.
pub(crate) fn continued(offset: usize) -> String {
    format!(": continue with `offset` {offset}")
}

/// Says that a walk ended there.
pub(crate) fn ended() -> String {
    format!("only the first {VISITED_MAX} entries were looked at")
}
