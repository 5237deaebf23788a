//! When git is asked what was committed: once somebody asks a question, and again after its `HEAD` moved.

use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use moss_ranking::CommitSubjects;

use super::RankedTexts;

/// How long nobody asks again, however often `HEAD` moves.
const PAUSE: Duration = Duration::from_secs(10);
/// How long nobody asks again where nothing says that it moved.
const PAUSE_UNTOLD: Duration = Duration::from_secs(600);

/// When git was asked last, and how its `HEAD` was then.
#[derive(Debug, Default)]
pub(super) struct AskedCommits(Option<(Instant, HeadStamp)>);

/// What shows that `HEAD` moved: how long its file and its log are, and when they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadStamp {
    head: Option<(u64, Option<SystemTime>)>,
    /// None in a linked worktree, and where git keeps no log.
    log: Option<(u64, Option<SystemTime>)>,
}

/// The turn of one who asks git. Given back unused where it ends early.
#[derive(Debug)]
pub struct CommitsTurn<'a>(Option<&'a RankedTexts>);

// === impl HeadStamp ===

impl HeadStamp {
    /// Looks at the repository of a directory; none where it is not the root of one.
    pub fn of(root: &Path) -> Option<Self> {
        let dot_git = root.join(".git");
        dot_git.symlink_metadata().ok()?;
        let stamp = |name: &str| {
            let metadata = dot_git.join(name).symlink_metadata().ok()?;
            Some((metadata.len(), metadata.modified().ok()))
        };
        Some(Self { head: stamp("HEAD"), log: stamp("logs/HEAD") })
    }
}

// === impl RankedTexts ===

impl RankedTexts {
    /// Whether somebody has to ask git what was committed: who gets the turn. None where what is known is
    /// new enough.
    pub(crate) fn commits_turn(&self, stamp: HeadStamp) -> Option<CommitsTurn<'_>> {
        let mut asked = self.asked_commits();
        let is_due = asked.0.is_none_or(|(when, known)| {
            let has_moved = known != stamp && when.elapsed() >= PAUSE;
            has_moved || stamp.log.is_none() && when.elapsed() >= PAUSE_UNTOLD
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
    /// Takes what git said; where it said nothing, what it said before stays.
    pub fn finish(mut self, subjects: Option<CommitSubjects>) {
        let Some(texts) = self.0.take() else { return };
        if let Some(subjects) = subjects.filter(|subjects| !subjects.is_empty()) {
            let mut index = texts.index.write().unwrap_or_else(PoisonError::into_inner);
            index.set_commits(Some(Arc::new(subjects)));
        }
    }
}

impl Drop for CommitsTurn<'_> {
    fn drop(&mut self) {
        if let Some(texts) = self.0 {
            *texts.asked_commits() = AskedCommits::default();
        }
    }
}
