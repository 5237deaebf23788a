//! The names in git's own directories of what commands may not change.

use std::path::Path;

/// In every directory of git's: what decides about code that git runs.
pub(crate) const PROTECTED: &[&str] = &["config", "config.worktree", "hooks", "info/attributes"];
/// In the directory that a linked worktree has for itself: where it leads.
pub(crate) const LINKS: &[&str] = &["commondir", "config.worktree", "gitdir"];
/// In the common directory, while a linked worktree works with it: what is the main worktree's, and what git rewrites there
/// all the time.
pub(crate) const OF_MAIN: &[&str] = &["HEAD", "index"];

/// The directory of git's that a protected path belongs to; a path that is none of these is for itself.
pub(crate) fn place_of(path: &Path) -> &Path {
    let names = PROTECTED.iter().chain(LINKS).map(Path::new);
    let found = names.filter(|name| path.ends_with(name)).map(|name| name.iter().count()).max();
    found.and_then(|depth| path.ancestors().nth(depth)).unwrap_or(path)
}
