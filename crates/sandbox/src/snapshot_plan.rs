//! What is kept from a command, and where it writes, as it was planned.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a command may not change, by the rules of when it was planned.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotPlan {
    pub(crate) workspace: PathBuf,
    /// All that is protected, by a mount or by none.
    pub(crate) protected: BTreeSet<PathBuf>,
    /// All that is masked.
    pub(crate) masked: BTreeSet<PathBuf>,
    /// What is compared afterwards.
    pub(crate) compared: Vec<PathBuf>,
    /// What of that git rewrites in other worktrees: it is not restored.
    pub(crate) of_others: BTreeSet<PathBuf>,
    /// Where the command writes: nothing elsewhere is compared or restored.
    pub(crate) written: Vec<PathBuf>,
    /// When the workspace was looked at for it.
    pub(crate) looked: Instant,
    /// What other commands had moved away when it was looked at, and what of that is there again.
    pub(crate) moved: BTreeSet<PathBuf>,
}

// === impl SnapshotPlan ===

impl SnapshotPlan {
    /// The directories in which it compares something, as far as no link leads there.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        let has_compared = |root: &&PathBuf| self.compared.iter().any(|one| one.starts_with(root));
        let written = self.written.iter().filter(has_compared);
        [&self.workspace].into_iter().chain(written).cloned().collect()
    }

    /// Whether a path is masked, or lies in what is.
    pub(crate) fn is_masked(&self, path: &Path) -> bool {
        path.ancestors().any(|around| self.masked.contains(around))
    }

    /// Whether a path is protected in it, or lies in what is.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let is_in = |around: &Path| self.protected.contains(around);
        path.ancestors().any(is_in) || self.compared.iter().any(|one| path.starts_with(one))
    }
}
