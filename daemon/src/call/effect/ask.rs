//! Getting a decision to one exact effect: from the digest that came along, from a person, or not
//! at all.

use std::sync::Arc;
use std::time::Duration;

use moss_sdk::ContentHash;

use super::{Effects, as_recorded};
use crate::call::held_records::OnRecord;
use crate::call::record;
use crate::call::weight::held_bytes;
use crate::caller::until_revoked;
use crate::confirm::{LeftKey, LeftQuestion, PendingConfirmation, WaitOutcome};
use moss_dispatch::{
    CallError, ConfirmMode, Confirmation, Event, Offer, Question, Unconfirmed, change::FileChange,
    command::CommandQuestion, confirmation::ConfirmationState, consent::Consent,
    embedding::EmbeddingQuestion,
};
use moss_journal::AskOutcome;
use moss_policy::Decision;

/// How long a call waits for a decision that then leaves its question open: shorter than the time that
/// clients of models give a tool.
const LEAVE_WAIT: Duration = Duration::from_secs(45);
/// Most of a part of a command that an error shows, in bytes.
const PART_BYTES_MAX: usize = 200;

/// What a person would be asked about.
pub(super) struct Ask<'a> {
    pub(super) digest: ContentHash,
    pub(super) decision: &'a Decision,
    pub(super) changes: Vec<FileChange>,
    pub(super) arguments: Option<String>,
    /// How much memory what is to be written takes, in bytes.
    pub(super) plan_bytes: usize,
    /// What becomes of a plugin list, or is fetched for one, where that is asked about; its JSON is
    /// the arguments.
    pub(super) consent: Option<Arc<Consent>>,
    /// The command that would run, where one is asked about; its JSON is the arguments.
    pub(super) command: Option<Arc<CommandQuestion>>,
    /// The endpoint that texts would be sent to, where that is asked about; its JSON is the arguments.
    pub(super) embedding: Option<Arc<EmbeddingQuestion>>,
    /// The standing approvals that may be given.
    pub(super) offers: Vec<Offer>,
}

/// Which part of a command asks first, and why: a model may do without it.
fn because_of_command(command: Option<&CommandQuestion>) -> String {
    let asking = command.and_then(|command| command.parts.iter().find(|part| part.asks));
    let Some(part) = asking else { return String::new() };
    let text = &part.text[..part.text.floor_char_boundary(PART_BYTES_MAX)];
    format!(" for `{text}` ({})", part.rule)
}

/// Says that lines are not as the edit says, where they are not: with a look at the file the caller
/// may find that another edit is meant.
fn because_of_drift(changes: &[FileChange]) -> String {
    let lines: u64 = changes.iter().map(FileChange::drift_lines).sum();
    let first = changes.iter().find_map(|change| change.drift.first());
    match (lines, first) {
        (1, Some(first)) => {
            format!(": line {} differs from what the edit expects, read it again", first.line)
        }
        (_, Some(first)) => format!(
            ": {lines} lines, the first of them line {}, differ from what the edit expects, read them again",
            first.line
        ),
        (_, None) => String::new(),
    }
}

// === impl Ask ===

impl<'a> Ask<'a> {
    /// Asks about an effect of which nothing is shown yet.
    pub(super) fn of(digest: ContentHash, decision: &'a Decision) -> Self {
        Self {
            digest,
            decision,
            changes: Vec::new(),
            arguments: None,
            plan_bytes: 0,
            consent: None,
            command: None,
            embedding: None,
            offers: Vec::new(),
        }
    }
}

// === impl Effects ===

impl Effects {
    /// Names an effect that is not a change of files.
    pub(super) fn digest_of(&self, kind: &str, what: &str) -> ContentHash {
        let mut hasher = blake3::Hasher::new();
        for part in [self.scope.workspace.name(), kind, self.scope.call.tool(), what] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        ContentHash::from_bytes(hasher.finalize().into())
    }

    /// Whether a question gets to a person: the call waits, somebody is watching, or it stays open for a later
    /// call. So does one that is decided already.
    pub(super) fn can_ask(&self, digest: ContentHash) -> bool {
        let call = &self.scope.call;
        if self.scope.behalf.is_some() {
            return false;
        }
        if !call.approvals().is_empty() {
            return call.approvals().contains(&digest);
        }
        match call.confirm {
            ConfirmMode::Wait | ConfirmMode::Leave => true,
            ConfirmMode::Refuse => false,
            ConfirmMode::Auto => {
                self.scope.daemon.confirmations.is_watched(self.scope.workspace.name())
            }
        }
    }

    /// Gets a decision: from the digest that came along, from a person, or not at all.
    pub(super) async fn ask(&self, ask: Ask<'_>) -> Result<OnRecord, CallError> {
        self.ask_within(ask, Duration::MAX).await
    }

    /// As [`Effects::ask`], where a person has so long a time at most. Who bounds the wait from outside would lose the
    /// slot that the call gave away meanwhile, and a decision that comes while there is no slot.
    pub(super) async fn ask_within(
        &self,
        ask: Ask<'_>,
        wait_max: Duration,
    ) -> Result<OnRecord, CallError> {
        let call = &self.scope.call;
        let digest = ask.digest;
        if call.approvals().contains(&digest) {
            return record::confirmation_ended(&self.scope, digest, AskOutcome::Approved, None)
                .await;
        }
        let question = self.question(ask);
        if !call.approvals().is_empty() {
            let approved: Vec<_> = call.approvals().iter().map(ToString::to_string).collect();
            let message = format!(
                "the effect is not approved: approved {}, now {digest}; show it again, and approve each question of the call",
                approved.join(", ")
            );
            return Err(self.unconfirmed(question, message).await);
        }
        let waits = match call.confirm {
            ConfirmMode::Wait => true,
            ConfirmMode::Refuse => false,
            ConfirmMode::Leave => return self.ask_and_leave(question).await,
            ConfirmMode::Auto => {
                self.scope.daemon.confirmations.is_watched(self.scope.workspace.name())
            }
        };
        if !waits {
            let message = format!(
                "{} needs a confirmation{}{}; nothing was changed; the effect has the digest {digest}",
                call.tool(),
                because_of_drift(&question.changes),
                because_of_command(question.command.as_deref()),
            );
            return Err(self.unconfirmed(question, message).await);
        }
        let pending = self.put(question.clone()).await?;
        // A person may decide as soon as the question is put, also where nobody reads the events.
        self.lock().asking = Some((digest, pending.confirmation().id.clone()));
        let needed = Event::ConfirmationNeeded(Arc::clone(pending.confirmation()));
        self.scope.events.send(needed).await;
        let stops = self.scope.daemon.draining.cancelled();
        let decided = pending.outcome_within(wait_max);
        let answer = tokio::select! {
            answer = self.scope.held_by_question(self.scope.parked(decided)) => answer,
            () = stops => return Err(CallError::Cancelled),
        };
        self.lock().asking = None;
        self.conclude_question(question, answer).await
    }

    /// Asks, and leaves the question open for a later call that is the same, once it took longer than a
    /// caller waits who cannot wait for people.
    async fn ask_and_leave(&self, question: Question) -> Result<OnRecord, CallError> {
        let daemon = &self.scope.daemon;
        let key = LeftKey {
            workspace: question.workspace.clone(),
            caller: question.caller.clone(),
            token: self.scope.call.caller.token_id(),
            digest: question.digest,
        };
        match daemon.left_questions.take(&key) {
            Some(LeftQuestion::Decided(answer)) => {
                return self.conclude_question(question, answer).await;
            }
            Some(LeftQuestion::Waits) => return Err(self.left(question).await),
            None => {}
        }
        let pending = self.put(question.clone()).await?;
        let id = pending.confirmation().id.clone();
        let mut answer = Box::pin(pending.outcome());
        if daemon.confirmations.is_watched(self.scope.workspace.name()) {
            self.lock().asking = Some((key.digest, id.clone()));
            let wait = tokio::time::timeout(LEAVE_WAIT, &mut answer);
            let answered = tokio::select! {
                answered = self.scope.held_by_question(self.scope.parked(wait)) => answered.ok(),
                () = daemon.draining.cancelled() => return Err(CallError::Cancelled),
            };
            self.lock().asking = None;
            if let Some(answered) = answered {
                return self.conclude_question(question, answered).await;
            }
        }
        if !daemon.left_questions.leave(key.clone()) {
            return Err(self.left(question).await);
        }
        let tool = self.scope.call.tool();
        tracing::info!(
            tool,
            "a question waits: `moss confirm show {id}`, `moss confirm approve {id}`"
        );
        let (left, draining) = (Arc::clone(&daemon.left_questions), daemon.draining.clone());
        let (confirmations, caller) =
            (Arc::clone(&daemon.confirmations), self.scope.call.caller.clone());
        let question_left = record::OutlivingQuestion::of(&self.scope, key.digest);
        daemon.tasks.spawn(async move {
            let answer = tokio::select! {
                answer = answer => Some(answer),
                // Nobody comes back then for what it asked.
                () = until_revoked(&caller) => None,
                () = draining.cancelled() => None,
            };
            // First: the same call may come at once.
            match answer {
                Some(answer) => left.settle(&key, answer),
                None => left.withdraw(&key),
            }
            let (outcome, reason) = as_recorded(confirmations.end_of(&id));
            question_left.ended(outcome, reason.as_deref()).await;
        });
        Err(self.left(question).await)
    }

    /// Puts a question to people: the call is recorded then, however it ends.
    async fn put(&self, question: Question) -> Result<PendingConfirmation, CallError> {
        record::release(&self.scope).await?;
        let confirmations = &self.scope.daemon.confirmations;
        confirmations.ask(question).map_err(CallError::TooManyConfirmations)
    }

    /// Makes the error of an effect whose question stays open.
    async fn left(&self, question: Question) -> CallError {
        let message = format!(
            "{} needs the decision of a person{}; nothing was changed, and the question waits in moss: \
             once a person has approved it there, send exactly the same call again",
            self.scope.call.tool(),
            because_of_drift(&question.changes),
        );
        self.unconfirmed(question, message).await
    }

    /// Does with a decision what it says.
    async fn conclude_question(
        &self,
        question: Question,
        answer: WaitOutcome,
    ) -> Result<OnRecord, CallError> {
        let (call, digest) = (&self.scope.call, question.digest);
        match answer {
            WaitOutcome::Approved => {
                let approved = AskOutcome::Approved;
                let on_record =
                    record::confirmation_ended(&self.scope, digest, approved, None).await?;
                if call.caller.is_revoked() {
                    let message = format!("{}; nothing was changed", call.caller.revoked());
                    return Err(CallError::Denied { message, rule: None });
                }
                Ok(on_record)
            }
            WaitOutcome::Denied(reason) => Err(self.denied_by_person(digest, &reason).await),
            WaitOutcome::Expired => {
                record::confirmation_ended(&self.scope, digest, AskOutcome::Expired, None).await?;
                let message = "nobody decided the confirmation in time; nothing was changed";
                Err(self.unconfirmed(question, message.to_owned()).await)
            }
        }
    }

    /// Records that a person said no, and makes the error of that.
    pub(in crate::call) async fn denied_by_person(
        &self,
        digest: ContentHash,
        reason: &str,
    ) -> CallError {
        let denied = AskOutcome::Denied;
        let recorded = record::confirmation_ended(&self.scope, digest, denied, Some(reason)).await;
        if let Err(error) = recorded {
            return error;
        }
        let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let message = format!("denied by a person{why}; nothing was changed");
        CallError::Denied { message, rule: None }
    }

    fn question(&self, ask: Ask<'_>) -> Question {
        let call = &self.scope.call;
        Question {
            call_id: self.scope.call_id.clone(),
            workspace: self.scope.workspace.name().to_owned(),
            tool: call.tool().to_owned(),
            plugin: self.lock().tool.plugin.clone(),
            caller: call.caller.name().to_owned(),
            session: call.session_id.clone(),
            is_attended: call.is_attended,
            held_bytes: self.held_bytes(&ask),
            drift: ask.changes.iter().any(|change| change.drift_lines() > 0),
            changes: ask.changes,
            arguments: ask.arguments,
            digest: ask.digest,
            rule: ask.decision.rule.to_string(),
            protected: ask.decision.protected,
            for_person: ask.decision.for_person,
            consent: ask.consent,
            command: ask.command,
            embedding: ask.embedding,
            offers: ask.offers,
        }
    }

    /// How much memory waits with the question: what the call came with, as it arrived, bound and
    /// read by its tool; what is to be written; what is shown of it.
    fn held_bytes(&self, ask: &Ask<'_>) -> usize {
        let shown = ask.changes.iter().map(FileChange::shown_bytes).sum::<usize>();
        // What a consent says, its JSON says as well.
        let forms = if ask.consent.is_some() || ask.command.is_some() { 2 } else { 1 };
        let arguments = ask.arguments.as_ref().map_or(0, String::len).saturating_mul(forms);
        let came_with = held_bytes(&self.scope.call.work);
        [came_with, arguments, ask.plan_bytes, shown].into_iter().fold(0, usize::saturating_add)
    }

    /// Makes the error of an effect that nobody confirmed, and sends to who follows the call what
    /// the effect was: a status has no room for a long diff.
    async fn unconfirmed(&self, question: Question, message: String) -> CallError {
        // Nothing waits, and nothing can be accepted; but who decides about the call where it is made learns what
        // the same call, made again to wait, will offer.
        let call = &self.scope.call;
        let comes_again = call.is_attended && call.confirm == ConfirmMode::Refuse;
        let offers = if comes_again { question.offers } else { Vec::new() };
        let question = Question { offers, ..question };
        let now = jiff::Timestamp::now();
        let confirmation = Arc::new(Confirmation {
            id: String::new(),
            question,
            created_at: now,
            expires_at: now,
            state: ConfirmationState::Expired,
        });
        let shown = Event::ConfirmationNeeded(Arc::clone(&confirmation));
        self.scope.events.send(shown).await;
        CallError::Unconfirmed(Box::new(Unconfirmed { message, confirmation }))
    }
}

#[cfg(test)]
mod tests {
    use moss_policy::Action;

    use super::*;
    use crate::call::tests::TestDaemon;

    #[tokio::test]
    async fn a_call_that_goes_on_without_a_decision_has_its_slot_again_and_no_question() {
        let site = TestDaemon::new(&[""]);
        let mut scope = site.scope("find_code_location");
        scope.call.confirm = ConfirmMode::Wait;
        let scope = Arc::new(scope);
        record::started(&scope).await.unwrap();
        scope.take_permit().await.unwrap();
        let effects = Effects::new(Arc::clone(&scope));
        let decision = effects.decide(&scope.workspace.policy.load(), Action::Register, None);
        let ask = Ask::of(ContentHash::from_bytes([7; 32]), &decision);
        let asked = effects.ask_within(ask, Duration::ZERO).await;
        assert!(matches!(asked, Err(CallError::Unconfirmed(_))), "{asked:?}");
        assert!(effects.lock().asking.is_none(), "how it ended is recorded");
        assert!(site.daemon.confirmations.pending().is_empty());
        assert_eq!(site.daemon.permits.running(), 1);
        assert!(scope.leave_permit().is_some());
    }
}
