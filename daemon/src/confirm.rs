//! Questions to a person and the decisions. A question is bound to the digest of its effect,
//! decided once, and withdrawn when its caller goes. Who may decide is up to the fronts.

mod left;
mod limits;
mod shown;
mod watch;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use moss_dispatch::{
    Offer, TooManyConfirmations,
    confirmation::{Confirmation, ConfirmationState, Question},
};
use moss_sdk::ContentHash;
use tokio::sync::{broadcast, oneshot};

pub use self::left::{LeftKey, LeftQuestion, LeftQuestions};
pub use self::limits::ConfirmationLimits;
pub use self::watch::{ConfirmationWatch, WatchScope};

/// Decided questions that are remembered, so that a late decision is refused with the reason.
const DECIDED_MAX: usize = 256;
/// Changes that a slow watcher may lag behind before it has to list anew.
const LAG_MAX: usize = 32;

/// What an approver says to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmationDecision {
    /// Let exactly this happen.
    Approve,
    /// As [`ConfirmationDecision::Approve`], by somebody who knows the effect by its digest, shown or not.
    ApproveByDigest,
    /// Let this happen, and remember the decision as the offer with this digest says.
    Remember(ContentHash),
    /// Do not, and why.
    Deny(String),
}

/// How waiting for a decision ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitOutcome {
    /// The effect may happen, exactly as it was shown.
    Approved,
    /// It may not, and why.
    Denied(String),
    /// Nobody decided in time.
    Expired,
}

/// A decision that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// There is no such question, or it is long over.
    #[error("there is no confirmation `{0}`")]
    Unknown(String),
    /// It does not wait any more.
    #[error("the confirmation `{id}` is over: it was {state}")]
    Over {
        /// The id of the question.
        id: String,
        /// What became of it.
        state: &'static str,
    },
    /// The decision is for another effect.
    #[error("the digest is not that of the confirmation `{0}`; show it again")]
    OtherDigest(String),
    /// It is too long to be shown at once, and nobody was shown all of it.
    #[error(
        "not all of the confirmation `{0}` was shown: `moss confirm show {0} --full` shows it, and \
         `moss confirm approve {0} --digest DIGEST` approves it by its digest"
    )]
    NotShown(String),
    /// Nothing of it begins there.
    #[error("the confirmation `{0}` has no such page")]
    NoPage(String),
    /// The standing approval was not offered.
    #[error("the confirmation `{0}` does not offer that standing approval; show it again")]
    NotOffered(String),
}

/// The questions of a daemon.
#[derive(Debug)]
pub struct Confirmations {
    inner: Mutex<ConfirmationsState>,
    changes: broadcast::Sender<Arc<Confirmation>>,
    limits: ConfirmationLimits,
    expiry: Duration,
}

/// A question that waits, as the registry holds it.
#[derive(Debug)]
struct WaitingQuestion {
    confirmation: Arc<Confirmation>,
    sender: oneshot::Sender<WaitOutcome>,
    /// How much of all that it is about an approver was shown.
    shown_bytes: usize,
}

#[derive(Debug, Default)]
struct ConfirmationsState {
    pending: Vec<WaitingQuestion>,
    /// The newest questions that are over: id and what became of them.
    answered: VecDeque<(String, ConfirmationState)>,
    watchers: Vec<WatchScope>,
}

/// A question that nobody can decide any more, whose caller does not know the decision yet.
/// Dropping it leaves the caller without one.
#[derive(Debug)]
pub struct SettledConfirmation {
    /// The question as it was resolved.
    pub confirmation: Arc<Confirmation>,
    /// What is to be remembered of it.
    pub remember: Option<Offer>,
    answer: WaitOutcome,
    sender: oneshot::Sender<WaitOutcome>,
}

/// A question that waits. Dropping it withdraws the question.
#[derive(Debug)]
pub struct PendingConfirmation {
    confirmations: Arc<Confirmations>,
    confirmation: Arc<Confirmation>,
    answer: oneshot::Receiver<WaitOutcome>,
}

// === impl Confirmations ===

impl Confirmations {
    /// Makes an empty registry.
    pub fn new(limits: ConfirmationLimits, expiry: Duration) -> Self {
        let (changes, _) = broadcast::channel(LAG_MAX);
        Self { inner: Mutex::default(), changes, limits, expiry }
    }

    /// Asks.
    ///
    /// # Errors
    ///
    /// Where too many questions wait already, or they hold too much memory.
    pub fn ask(
        self: &Arc<Self>,
        question: Question,
    ) -> Result<PendingConfirmation, TooManyConfirmations> {
        let created_at = Timestamp::now();
        let confirmation = Arc::new(Confirmation {
            id: crate::ids::random(),
            question,
            created_at,
            expires_at: created_at + self.expiry,
            state: ConfirmationState::Pending,
        });
        let (sender, answer) = oneshot::channel();
        let mut inner = self.lock();
        let waiting = inner.pending.iter().map(|waiting| &waiting.confirmation.question);
        self.limits.admit(&confirmation.question, waiting)?;
        let waiting = Arc::clone(&confirmation);
        inner.pending.push(WaitingQuestion { confirmation: waiting, sender, shown_bytes: 0 });
        // Sent under the lock, so that a watcher sees changes in the order in which they happen.
        let _ = self.changes.send(Arc::clone(&confirmation));
        drop(inner);
        Ok(PendingConfirmation { confirmations: Arc::clone(self), confirmation, answer })
    }

    /// Decides, once.
    ///
    /// # Errors
    ///
    /// As [`Confirmations::take`].
    pub fn resolve(
        &self,
        id: &str,
        digest: ContentHash,
        verdict: ConfirmationDecision,
    ) -> Result<Arc<Confirmation>, ResolveError> {
        self.take(id, digest, verdict).map(SettledConfirmation::deliver)
    }

    /// Decides, once; the caller hears of it when the decision is delivered.
    ///
    /// # Errors
    ///
    /// Where the question is unknown or over, the digest is another one, not all of it was shown, or
    /// a standing approval was not offered.
    pub fn take(
        &self,
        id: &str,
        digest: ContentHash,
        verdict: ConfirmationDecision,
    ) -> Result<SettledConfirmation, ResolveError> {
        let mut inner = self.lock();
        let index = inner.find(id)?;
        let WaitingQuestion { confirmation, shown_bytes, .. } = &inner.pending[index];
        let question = &confirmation.question;
        if digest != question.digest {
            return Err(ResolveError::OtherDigest(id.to_owned()));
        }
        let (state, answer, remember) = match verdict {
            ConfirmationDecision::Approve
                if question.is_cut() && *shown_bytes < question.text_bytes() =>
            {
                return Err(ResolveError::NotShown(id.to_owned()));
            }
            ConfirmationDecision::Approve | ConfirmationDecision::ApproveByDigest => {
                (ConfirmationState::Approved, WaitOutcome::Approved, None)
            }
            ConfirmationDecision::Deny(reason) => {
                (ConfirmationState::Denied(reason.clone()), WaitOutcome::Denied(reason), None)
            }
            ConfirmationDecision::Remember(offered) => {
                let offer = question.offers.iter().find(|offer| offer.digest == offered).cloned();
                let offer = offer.ok_or_else(|| ResolveError::NotOffered(id.to_owned()))?;
                (ConfirmationState::Approved, WaitOutcome::Approved, Some(offer))
            }
        };
        let (confirmation, sender) = inner.close(index, state);
        let _ = self.changes.send(Arc::clone(&confirmation));
        Ok(SettledConfirmation { confirmation, remember, answer, sender })
    }

    /// Returns the questions that wait, oldest first.
    pub fn pending(&self) -> Vec<Arc<Confirmation>> {
        self.lock().pending.iter().map(|waiting| Arc::clone(&waiting.confirmation)).collect()
    }

    /// What became of a question that is over; none of one that waits, or is long over.
    pub fn end_of(&self, id: &str) -> Option<ConfirmationState> {
        let inner = self.lock();
        let found = inner.answered.iter().find(|(over, _)| over == id);
        found.map(|(_, state)| state.clone())
    }

    /// Ends a question; `false` where it was over.
    fn end(&self, id: &str, state: ConfirmationState) -> bool {
        let mut inner = self.lock();
        let Ok(index) = inner.find(id) else { return false };
        let (confirmation, _) = inner.close(index, state);
        let _ = self.changes.send(confirmation);
        true
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ConfirmationsState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl ConfirmationsState ===

impl ConfirmationsState {
    /// Finds a question that waits.
    fn find(&self, id: &str) -> Result<usize, ResolveError> {
        let found = self.pending.iter().position(|waiting| waiting.confirmation.id == id);
        found.ok_or_else(|| match self.answered.iter().find(|(over, _)| over == id) {
            Some((_, state)) => ResolveError::Over { id: id.to_owned(), state: state.as_str() },
            None => ResolveError::Unknown(id.to_owned()),
        })
    }

    /// Ends a question. What is shown of it from now on does without the diffs.
    fn close(
        &mut self,
        index: usize,
        state: ConfirmationState,
    ) -> (Arc<Confirmation>, oneshot::Sender<WaitOutcome>) {
        let WaitingQuestion { confirmation: asked, sender, .. } = self.pending.remove(index);
        self.answered.push_back((asked.id.clone(), state.clone()));
        if self.answered.len() > DECIDED_MAX {
            self.answered.pop_front();
        }
        let question =
            Question { changes: Vec::new(), offers: Vec::new(), ..asked.question.clone() };
        let confirmation = Confirmation { question, state, ..asked.as_ref().clone() };
        (Arc::new(confirmation), sender)
    }
}

// === impl SettledConfirmation ===

impl SettledConfirmation {
    /// Hands the decision to the caller. One that is gone in this instant gets nothing of it, but the decision stands.
    pub fn deliver(self) -> Arc<Confirmation> {
        let _ = self.sender.send(self.answer);
        self.confirmation
    }
}

// === impl PendingConfirmation ===

impl PendingConfirmation {
    /// What is asked, as watchers see it.
    pub fn confirmation(&self) -> &Arc<Confirmation> {
        &self.confirmation
    }

    /// Waits for the decision or the expiry.
    pub async fn outcome(self) -> WaitOutcome {
        self.outcome_within(Duration::MAX).await
    }

    /// As [`PendingConfirmation::outcome`], of a question that expires after so long a time at most.
    pub async fn outcome_within(mut self, wait_max: Duration) -> WaitOutcome {
        let expiry = self.confirmations.expiry.min(wait_max);
        match tokio::time::timeout(expiry, &mut self.answer).await {
            Ok(answer) => answer.unwrap_or(WaitOutcome::Expired),
            Err(_) if self.confirmations.end(&self.confirmation.id, ConfirmationState::Expired) => {
                WaitOutcome::Expired
            }
            // A decision came before the expiry and counts, also while it is being stored.
            Err(_) => (&mut self.answer).await.unwrap_or(WaitOutcome::Expired),
        }
    }
}

impl Drop for PendingConfirmation {
    fn drop(&mut self) {
        let _ = self.confirmations.end(&self.confirmation.id, ConfirmationState::Withdrawn);
    }
}

#[cfg(test)]
mod tests;
