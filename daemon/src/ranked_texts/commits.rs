//! When git is asked what was committed: once somebody asks a question, and again after its `HEAD` moved.

use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use moss_ranking::CommitSubjects;

use super::RankedTexts;

/// How long nobody asks again, however often `HEAD` moves.
const PAUSE: Duration = Duration::from_secs(10);
/// How long nobody asks again where nothing says that it moved: in a linked worktree.
const PAUSE_UNTOLD: Duration = Duration::from_secs(600);

/// When git was asked last, and how its `HEAD` was then.
#[derive(Debug, Default)]
pub(super) struct AskedCommits(Option<(Instant, HeadStamp)>);

/// What tells that `HEAD` moved: when and how long its files were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HeadStamp([Option<(u64, Option<SystemTime>)>; 2]);

/// The turn of one who asks git. Given back unused where it ends early.
#[derive(Debug)]
pub(crate) struct CommitsTurn<'a>(Option<&'a RankedTexts>);

// === impl HeadStamp ===

impl HeadStamp {
    fn of(dot_git: &Path) -> Self {
        Self(["HEAD", "logs/HEAD"].map(|name| {
            let metadata = dot_git.join(name).symlink_metadata().ok()?;
            Some((metadata.len(), metadata.modified().ok()))
        }))
    }

    fn tells_nothing(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

// === impl RankedTexts ===

impl RankedTexts {
    /// Whether somebody has to ask git what was committed: who gets the turn. None where there is no
    /// git, and where what is known is new enough.
    pub(crate) fn commits_turn(&self, root: &Path) -> Option<CommitsTurn<'_>> {
        let dot_git = root.join(".git");
        dot_git.symlink_metadata().ok()?;
        let stamp = HeadStamp::of(&dot_git);
        let mut asked = self.asked_commits();
        let is_due = asked.0.is_none_or(|(when, known)| match stamp.tells_nothing() {
            true => when.elapsed() >= PAUSE_UNTOLD,
            false => known != stamp && when.elapsed() >= PAUSE,
        });
        if !is_due {
            return None;
        }
        asked.0 = Some((Instant::now(), stamp));
        Some(CommitsTurn(Some(self)))
    }

    pub(super) fn asked_commits(&self) -> MutexGuard<'_, AskedCommits> {
        self.asked_commits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl CommitsTurn ===

impl CommitsTurn<'_> {
    /// Takes what git said; none where it said nothing.
    pub(crate) fn finish(mut self, subjects: Option<CommitSubjects>) {
        let Some(texts) = self.0.take() else { return };
        let subjects = subjects.filter(|subjects| !subjects.is_empty()).map(Arc::new);
        texts.index.write().unwrap_or_else(PoisonError::into_inner).set_commits(subjects);
    }
}

impl Drop for CommitsTurn<'_> {
    fn drop(&mut self) {
        if let Some(texts) = self.0 {
            *texts.asked_commits() = AskedCommits::default();
        }
    }
}
