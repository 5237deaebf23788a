//! Questions to a person and their answers. A question is bound to the digest of its effect,
//! answered once, and withdrawn when its caller goes. Who may answer is decided by the fronts.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use moss_sdk::ContentHash;
use tokio::sync::{broadcast, oneshot};

use crate::change::FileChange;

/// Answered questions that are remembered, so that a late answer is told why it is refused.
const ANSWERED_MAX: usize = 256;
/// Changes that a slow watcher may lag behind before it has to list anew.
const LAG_MAX: usize = 32;

/// What a person is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The call that asks.
    pub call_id: String,
    /// Root directory of its workspace.
    pub workspace: String,
    /// The tool.
    pub tool: String,
    /// The plugin that provides it, if one does.
    pub plugin: Option<String>,
    /// The credential that called.
    pub caller: String,
    /// The proposed file changes; none where the call itself is asked about.
    pub changes: Vec<FileChange>,
    /// The arguments, secrets redacted, where the call itself is asked about.
    pub arguments: Option<String>,
    /// What an answer is bound to.
    pub digest: ContentHash,
    /// The rule that asks.
    pub rule: String,
    /// Whether a protected name is touched: a blanket answer does not cover it.
    pub protected: bool,
}

/// A question with its state.
#[derive(Debug, Clone)]
pub struct Confirmation {
    /// Names it; not guessable.
    pub id: String,
    /// What is asked.
    pub question: Question,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it stops waiting.
    pub expires_at: Timestamp,
    /// Whether and how it was answered.
    pub state: State,
}

/// Whether and how a question was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It waits.
    Pending,
    /// Somebody said yes.
    Approved,
    /// Somebody said no, and why.
    Denied(String),
    /// Nobody answered in time.
    Expired,
    /// The caller went away.
    Withdrawn,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Let exactly this happen.
    Approve,
    /// Do not, and why.
    Deny(String),
}

/// How waiting for an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It may happen.
    Approved,
    /// It may not, and why.
    Denied(String),
    /// Nobody answered in time.
    Expired,
}

/// An answer that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// There is no such question, or it is long over.
    #[error("there is no confirmation `{0}`")]
    Unknown(String),
    /// It does not wait any more.
    #[error("the confirmation `{id}` is over: it was {state}")]
    Over {
        /// The question.
        id: String,
        /// What became of it.
        state: &'static str,
    },
    /// The answer is for another effect.
    #[error("the digest is not that of the confirmation `{0}`; look at it again")]
    OtherDigest(String),
}

/// More questions wait than a limit allows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} confirmations wait already (confirmations.pending_max)")]
pub struct TooMany(usize);

/// The questions of a daemon.
#[derive(Debug)]
pub struct Confirmations {
    inner: Mutex<Inner>,
    changes: broadcast::Sender<Arc<Confirmation>>,
    pending_max: usize,
    expiry: Duration,
}

#[derive(Debug, Default)]
struct Inner {
    pending: Vec<(Arc<Confirmation>, oneshot::Sender<Answer>)>,
    /// The newest questions that are over: id and what became of them.
    answered: VecDeque<(String, &'static str)>,
    watchers: Vec<Scope>,
}

/// Which questions a watcher follows: those of one workspace, by its root directory, or all.
pub type Scope = Option<String>;

/// A question that waits. Dropping it withdraws the question.
#[derive(Debug)]
pub struct Pending {
    confirmations: Arc<Confirmations>,
    confirmation: Arc<Confirmation>,
    answer: oneshot::Receiver<Answer>,
}

/// Follows questions while it lives.
#[derive(Debug)]
pub struct Watch {
    confirmations: Arc<Confirmations>,
    scope: Scope,
    changes: broadcast::Receiver<Arc<Confirmation>>,
    backlog: VecDeque<Arc<Confirmation>>,
}

// === impl Confirmations ===

impl Confirmations {
    /// Makes an empty registry.
    pub fn new(pending_max: usize, expiry: Duration) -> Self {
        let (changes, _) = broadcast::channel(LAG_MAX);
        Self { inner: Mutex::default(), changes, pending_max, expiry }
    }

    /// Asks.
    ///
    /// # Errors
    ///
    /// Where too many questions wait already.
    pub fn ask(self: &Arc<Self>, question: Question) -> Result<Pending, TooMany> {
        let created_at = Timestamp::now();
        let confirmation = Arc::new(Confirmation {
            id: crate::ids::random(),
            question,
            created_at,
            expires_at: created_at + self.expiry,
            state: State::Pending,
        });
        let (sender, answer) = oneshot::channel();
        let mut inner = self.lock();
        if inner.pending.len() >= self.pending_max {
            return Err(TooMany(self.pending_max));
        }
        inner.pending.push((Arc::clone(&confirmation), sender));
        // Sent under the lock, so that a watcher sees changes in the order in which they happen.
        let _ = self.changes.send(Arc::clone(&confirmation));
        drop(inner);
        Ok(Pending { confirmations: Arc::clone(self), confirmation, answer })
    }

    /// Answers, once.
    ///
    /// # Errors
    ///
    /// Where the question is unknown or over, or the digest is another one.
    pub fn resolve(
        &self,
        id: &str,
        digest: ContentHash,
        verdict: Verdict,
    ) -> Result<Arc<Confirmation>, ResolveError> {
        let mut inner = self.lock();
        let Some(index) = inner.pending.iter().position(|(asked, _)| asked.id == id) else {
            return Err(match inner.answered.iter().find(|(over, _)| over == id) {
                Some((_, state)) => ResolveError::Over { id: id.to_owned(), state },
                None => ResolveError::Unknown(id.to_owned()),
            });
        };
        if digest != inner.pending[index].0.question.digest {
            return Err(ResolveError::OtherDigest(id.to_owned()));
        }
        let (state, answer) = match verdict {
            Verdict::Approve => (State::Approved, Answer::Approved),
            Verdict::Deny(reason) => (State::Denied(reason.clone()), Answer::Denied(reason)),
        };
        let (confirmation, sender) = inner.close(index, state);
        let _ = self.changes.send(Arc::clone(&confirmation));
        // A caller that is gone in this instant has withdrawn the question.
        let _ = sender.send(answer);
        Ok(confirmation)
    }

    /// Returns the questions that wait, oldest first.
    pub fn pending(&self) -> Vec<Arc<Confirmation>> {
        self.lock().pending.iter().map(|(confirmation, _)| Arc::clone(confirmation)).collect()
    }

    /// Starts to follow: first what waits, then every change.
    pub fn watch(self: &Arc<Self>, scope: Scope) -> Watch {
        let mut inner = self.lock();
        let changes = self.changes.subscribe();
        let backlog =
            inner.pending.iter().map(|(confirmation, _)| Arc::clone(confirmation)).collect();
        inner.watchers.push(scope.clone());
        drop(inner);
        Watch { confirmations: Arc::clone(self), scope, changes, backlog }
    }

    /// Whether somebody follows the questions of a workspace and could answer.
    pub fn is_watched(&self, workspace: &str) -> bool {
        self.lock()
            .watchers
            .iter()
            .any(|scope| scope.as_deref().is_none_or(|watched| watched == workspace))
    }

    fn end(&self, id: &str, state: State) {
        let mut inner = self.lock();
        if let Some(index) = inner.pending.iter().position(|(asked, _)| asked.id == id) {
            let (confirmation, _) = inner.close(index, state);
            let _ = self.changes.send(confirmation);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Inner ===

impl Inner {
    /// Ends a question. What is told of it from now on does without the diffs.
    fn close(
        &mut self,
        index: usize,
        state: State,
    ) -> (Arc<Confirmation>, oneshot::Sender<Answer>) {
        let (asked, sender) = self.pending.remove(index);
        self.answered.push_back((asked.id.clone(), state.as_str()));
        if self.answered.len() > ANSWERED_MAX {
            self.answered.pop_front();
        }
        let question = Question { changes: Vec::new(), ..asked.question.clone() };
        let confirmation = Confirmation { question, state, ..asked.as_ref().clone() };
        (Arc::new(confirmation), sender)
    }
}

// === impl Pending ===

impl Pending {
    /// What is asked, as watchers see it.
    pub fn confirmation(&self) -> &Arc<Confirmation> {
        &self.confirmation
    }

    /// Waits for the answer or the expiry.
    pub async fn answer(mut self) -> Answer {
        let expiry = self.confirmations.expiry;
        match tokio::time::timeout(expiry, &mut self.answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => {
                self.confirmations.end(&self.confirmation.id, State::Expired);
                // An answer may have come in the very instant of the expiry: it counts.
                self.answer.try_recv().unwrap_or(Answer::Expired)
            }
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.confirmations.end(&self.confirmation.id, State::Withdrawn);
    }
}

// === impl Watch ===

impl Watch {
    /// Returns the next change; after a lag, what waits now.
    pub async fn next(&mut self) -> Arc<Confirmation> {
        loop {
            let confirmation = self.next_of_all().await;
            let workspace = &confirmation.question.workspace;
            if self.scope.as_ref().is_none_or(|watched| watched == workspace) {
                return confirmation;
            }
        }
    }

    async fn next_of_all(&mut self) -> Arc<Confirmation> {
        loop {
            if let Some(confirmation) = self.backlog.pop_front() {
                return confirmation;
            }
            match self.changes.recv().await {
                Ok(confirmation) => return confirmation,
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.backlog = self.confirmations.pending().into();
                }
                // The registry holds the sender for as long as this watch holds the registry.
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut inner = self.confirmations.lock();
        if let Some(index) = inner.watchers.iter().position(|scope| *scope == self.scope) {
            inner.watchers.swap_remove(index);
        }
    }
}

// === impl State ===

impl State {
    /// Returns the state as a word, for example `approved`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied(_) => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

#[cfg(test)]
mod tests;
