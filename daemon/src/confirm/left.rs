//! Questions that stay open when their call is over, and what became of them: who sends the same call
//! again hears it, once.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use moss_sdk::ContentHash;

use super::WaitOutcome;

/// Decisions that are kept for callers who have not come back; the oldest is forgotten first. Questions
/// that wait are bounded where they are asked.
const DECIDED_MAX: usize = 256;

/// The same call of the same caller: it has the same effect on files that are as they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftKey {
    /// Root directory of the workspace.
    pub workspace: String,
    /// Name of the credential.
    pub caller: String,
    /// Which token of that name, where it is one: the next of the name did not ask.
    pub token: Option<ContentHash>,
    /// Digest of the effect.
    pub digest: ContentHash,
}

/// A question whose call is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftQuestion {
    /// Nobody has decided yet.
    Waits,
    /// An approver decided: the next call that is the same takes this, once.
    Decided(WaitOutcome),
}

/// The questions whose calls are over.
#[derive(Debug)]
pub struct LeftQuestions {
    all: Mutex<Vec<(LeftKey, LeftQuestion, Instant)>>,
    /// How long a decision waits for its caller.
    kept: Duration,
}

// === impl LeftQuestions ===

impl LeftQuestions {
    /// Makes an empty registry, in which a decision is kept for so long.
    pub fn new(kept: Duration) -> Self {
        Self { all: Mutex::default(), kept }
    }

    /// Returns what became of a question, once; one that waits stays.
    pub fn take(&self, key: &LeftKey) -> Option<LeftQuestion> {
        let mut all = self.lock();
        let is_old = |(_, left, since): &(LeftKey, LeftQuestion, Instant)| {
            *left != LeftQuestion::Waits && since.elapsed() > self.kept
        };
        all.retain(|one| !is_old(one));
        let index = all.iter().position(|(known, ..)| known == key)?;
        match all[index].1 {
            LeftQuestion::Waits => Some(LeftQuestion::Waits),
            LeftQuestion::Decided(_) => Some(all.remove(index).1),
        }
    }

    /// Keeps a question that waits; `false` where the same call has left one meanwhile: that one counts.
    pub fn leave(&self, key: LeftKey) -> bool {
        let mut all = self.lock();
        let is_first = all.iter().all(|(known, ..)| *known != key);
        if is_first {
            all.push((key, LeftQuestion::Waits, Instant::now()));
        }
        is_first
    }

    /// Keeps a decision for who comes back. A question that expired is asked again.
    pub fn settle(&self, key: &LeftKey, answer: WaitOutcome) {
        let mut all = self.lock();
        all.retain(|(known, ..)| known != key);
        if answer == WaitOutcome::Expired {
            return;
        }
        let is_decided = |left: &LeftQuestion| *left != LeftQuestion::Waits;
        if all.iter().filter(|(_, left, _)| is_decided(left)).count() >= DECIDED_MAX
            && let Some(oldest) = all.iter().position(|(_, left, _)| is_decided(left))
        {
            all.remove(oldest);
        }
        all.push((key.clone(), LeftQuestion::Decided(answer), Instant::now()));
    }

    /// Forgets a question that nobody will come back for.
    pub fn withdraw(&self, key: &LeftKey) {
        self.lock().retain(|(known, ..)| known != key);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(LeftKey, LeftQuestion, Instant)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(caller: &str, effect: u8) -> LeftKey {
        let (workspace, caller) = ("/w".to_owned(), caller.to_owned());
        LeftKey { workspace, caller, token: None, digest: ContentHash::from_bytes([effect; 32]) }
    }

    #[test]
    fn a_decision_is_heard_once_by_who_left_the_question() {
        let left = LeftQuestions::new(Duration::from_secs(600));
        let mine = key("me", 1);
        assert_eq!(left.take(&mine), None);
        assert!(left.leave(mine.clone()));
        for _ in 0..2 {
            assert_eq!(left.take(&mine), Some(LeftQuestion::Waits));
        }
        for other in
            [key("you", 1), key("me", 2), LeftKey { workspace: "/v".into(), ..key("me", 1) }]
        {
            assert_eq!(left.take(&other), None);
        }
        let no = WaitOutcome::Denied("not now".to_owned());
        for answer in [WaitOutcome::Approved, no] {
            left.settle(&mine, answer.clone());
            assert_eq!(left.take(&key("you", 1)), None);
            assert_eq!(left.take(&mine), Some(LeftQuestion::Decided(answer)));
            assert_eq!(left.take(&mine), None);
        }
        assert!(left.leave(mine.clone()));
        left.settle(&mine, WaitOutcome::Expired);
        assert_eq!(left.take(&mine), None);
    }

    #[test]
    fn the_same_call_leaves_one_question() {
        let left = LeftQuestions::new(Duration::from_secs(600));
        let mine = key("me", 1);
        assert!(left.leave(mine.clone()) && !left.leave(mine.clone()));
        assert!(left.leave(key("you", 1)));
        left.settle(&mine, WaitOutcome::Approved);
        assert!(!left.leave(mine.clone()), "what was decided of it is heard first");
        assert_eq!(left.take(&mine), Some(LeftQuestion::Decided(WaitOutcome::Approved)));
        assert!(left.leave(mine.clone()));
        left.settle(&mine, WaitOutcome::Expired);
        assert_eq!(left.take(&mine), None);
    }

    #[test]
    fn a_later_token_of_the_name_hears_nothing_of_the_questions_of_an_earlier_one() {
        let left = LeftQuestions::new(Duration::from_secs(600));
        let of = |token: u8| LeftKey {
            token: Some(ContentHash::from_bytes([token; 32])),
            ..key("ci", 1)
        };
        assert!(left.leave(of(1)));
        assert_eq!(left.take(&of(2)), None);
        left.settle(&of(1), WaitOutcome::Approved);
        assert_eq!(left.take(&of(2)), None);
        assert!(left.leave(of(2)));
        left.withdraw(&of(2));
        assert_eq!(left.take(&of(2)), None);
        assert_eq!(left.take(&of(1)), Some(LeftQuestion::Decided(WaitOutcome::Approved)));
    }

    #[test]
    fn decisions_are_forgotten_with_time_and_the_oldest_first() {
        let left = LeftQuestions::new(Duration::ZERO);
        left.settle(&key("me", 1), WaitOutcome::Approved);
        assert_eq!(left.take(&key("me", 1)), None);
        let left = LeftQuestions::new(Duration::from_secs(600));
        let callers: Vec<String> = (0..=DECIDED_MAX).map(|n| n.to_string()).collect();
        assert!(left.leave(key("waits", 1)));
        callers.iter().for_each(|caller| left.settle(&key(caller, 1), WaitOutcome::Approved));
        assert_eq!(left.take(&key("0", 1)), None);
        assert_eq!(left.take(&key("1", 1)), Some(LeftQuestion::Decided(WaitOutcome::Approved)));
        assert_eq!(left.take(&key("waits", 1)), Some(LeftQuestion::Waits));
    }
}
