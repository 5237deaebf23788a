//! The effects of one call, each in one place: render it exactly, decide, ask if need be, carry
//! it out, journal it.

mod ask;
mod by_rules;
mod command;
mod commit;
mod decide;
mod embedding;
mod fetch;
mod job;
mod linting;
mod network;
mod propose;
mod reading;
mod register;
mod syntax;
mod tool_facts;
mod undo;
mod used_approvals;
mod user_prompt;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moss_sdk::context::Applied;
use moss_sdk::{ContentHash, ErrorCode, RelPath, ToolError};
use moss_workspace::{Plan, UndoConflict};
use serde_json::Value;

use self::ask::Ask;
pub use self::by_rules::may_show;
pub(crate) use self::by_rules::{CommandRules, EmbeddingRules, ReadableByAll};
pub(crate) use self::command::{
    CommandSetting, ContentMemory, ProtectedBefore, ShellFile, files_of_parts, known_directory,
    made_since, parts_in, reading_doubt, set_aside_new, without_own_scratch,
};
pub(super) use self::command::{PermittedServer, PriorDecisions, ServerRefusal};
use self::commit::applied;
pub(super) use self::decide::FileNames;
pub(crate) use self::decide::protection;
pub(super) use self::linting::{LintsOfChange, ProposedLint, ProposedLints};
pub(in crate::call) use self::tool_facts::ToolFacts;
use self::used_approvals::UsedApprovals;
use super::stop::{EffectStop, EffectStops};
use super::{CallScope, record};
use crate::turns::FileTurn;
use moss_catalog::CatalogEntry;
use moss_dispatch::{
    CallError,
    change::{self, ChangeStatus, FileChange},
    confirmation::ConfirmationState,
    consent::PluginsChanged,
};
use moss_journal::AskOutcome;
use moss_journal::room::Room;
use moss_policy::{Action, Decision, Policy, Verdict, strictest};

/// The effects of one call and what became of them.
#[derive(Debug)]
pub(super) struct Effects {
    scope: Arc<CallScope>,
    inner: Mutex<EffectsState>,
    /// Held while changes are being written, which is never interrupted.
    committing: Arc<tokio::sync::Mutex<()>>,
    /// Held until what came out of changed files is removed.
    clearing: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct EffectsState {
    /// What the tool may do and who provides it, once it is found.
    tool: ToolFacts,
    changes: Vec<FileChange>,
    history: Option<u64>,
    /// The number in the history of the user's prompt, where that was changed.
    prompt_version: Option<u64>,
    digest: Option<ContentHash>,
    /// The conflicts of an undo.
    conflicts: Vec<UndoConflict>,
    /// What became of a plugin list.
    plugins: Option<Box<PluginsChanged>>,
    /// Room in the journal for what was changed, until that is recorded.
    rooms: Vec<Room>,
    /// The turn at a file that is being changed, as long as nobody was asked about the change.
    turn: Option<FileTurn>,
    /// Why effects were stopped, which the tool only sees as errors of its own.
    stops: EffectStops,
    /// The effect whose question waits for a decision, with the id of that.
    asking: Option<(ContentHash, String)>,
    /// Files that somebody allowed this call to read.
    approved_reads: Vec<RelPath>,
    /// Whether a command was started that may write.
    ran_command: bool,
    /// Standing approvals that let something happen.
    uses: UsedApprovals,
}

/// What a call changed, or would have.
#[derive(Debug)]
pub(super) struct EffectSummary {
    pub(super) changes: Vec<FileChange>,
    /// The number in the history, where anything was written.
    pub(super) history: Option<u64>,
    pub(super) digest: Option<ContentHash>,
    /// The conflicts of an undo.
    pub(super) conflicts: Vec<UndoConflict>,
    /// What became of a plugin list.
    pub(super) plugins: Option<Box<PluginsChanged>>,
    /// Room in the journal for the records of it.
    pub(super) rooms: Vec<Room>,
}

/// The decision that holds for a whole plan.
fn together(each: &[Decision]) -> &Decision {
    strictest(each).expect("a plan changes at least one file")
}

/// How a question ended, and why, as the journal has it.
fn as_recorded(state: Option<ConfirmationState>) -> (AskOutcome, Option<String>) {
    match state {
        Some(ConfirmationState::Approved) => (AskOutcome::Approved, None),
        Some(ConfirmationState::Denied(reason)) => (AskOutcome::Denied, Some(reason)),
        Some(ConfirmationState::Expired) => (AskOutcome::Expired, None),
        Some(ConfirmationState::Pending | ConfirmationState::Withdrawn) | None => {
            (AskOutcome::Withdrawn, None)
        }
    }
}

// === impl EffectsState ===

impl EffectsState {
    /// What is not undone by an error that comes after it, as a clause of that error.
    fn stays(&self) -> Option<String> {
        let in_history = self.history.map(|number| format!("history {number}"));
        let committed = in_history.or_else(|| {
            self.prompt_version.map(|number| format!("version {number} of the user's prompt"))
        });
        let change =
            committed.map(|what| format!("its change was committed before that, as {what}"));
        let command = self
            .ran_command
            .then(|| "a command of it ran, and what that changed in files stays".to_owned());
        change.into_iter().chain(command).reduce(|all, clause| format!("{all}, and {clause}"))
    }
}

// === impl Effects ===

impl Effects {
    pub(super) fn new(scope: Arc<CallScope>) -> Self {
        let (committing, clearing) = (Arc::default(), Arc::default());
        Self { scope, inner: Mutex::default(), committing, clearing }
    }

    /// Decides about the call as such. Tools that write are only ever denied here: what they want
    /// to do is asked about when it is known exactly.
    pub(super) async fn permit_call(
        &self,
        entry: &CatalogEntry,
        arguments: &Value,
    ) -> Result<(), CallError> {
        self.lock().tool = ToolFacts::of(entry);
        let policy = self.scope.workspace.policy.load_full();
        let mut decision = self.decide(&policy, Action::Call, None);
        // No decision overrules a denial: what is refused needs no look at the file that keeps
        // them.
        if decision.verdict != Verdict::Deny {
            self.look_for_approvals().await;
        }
        if decision.verdict == Verdict::Ask {
            decision = self.decide(&policy, Action::Call, None);
        }
        if decision.verdict != Verdict::Allow {
            record::decided(&self.scope, Action::Call, None, None, &decision).await?;
        }
        match decision.verdict {
            Verdict::Allow => Ok(()),
            Verdict::Deny => Err(self.denied(&decision)),
            Verdict::Ask if entry.spec.effect != moss_sdk::Effect::Read => Ok(()),
            Verdict::Ask => {
                let arguments = arguments.to_string();
                let digest = self.digest_of("call", &arguments);
                let ask = Ask { arguments: Some(arguments), ..Ask::of(digest, &decision) };
                Box::pin(self.ask(ask)).await?;
                let policy = self.scope.workspace.policy.load_full();
                let decision = self.decide(&policy, Action::Call, None);
                if decision.verdict == Verdict::Deny {
                    record::decided(&self.scope, Action::Call, None, None, &decision).await?;
                    return Err(self.denied(&decision));
                }
                Ok(())
            }
        }
    }

    async fn settle(
        self: &Arc<Self>,
        plan: Plan,
        lints: LintsOfChange<'_>,
    ) -> Result<Applied, EffectStop> {
        // What the caller expects does not come true by trying again.
        self.check_expected(&plan).inspect_err(|_| self.leave_turn())?;
        self.check_buffers(&plan)?;
        let diff_bytes_max = self.scope.daemon.config().calls.diff_bytes_max;
        let mut changes = change::proposed(plan.files(), diff_bytes_max);
        let digest = plan.digest();
        {
            let mut inner = self.lock();
            inner.digest = Some(digest);
            inner.changes.clone_from(&changes);
        }
        self.look_for_approvals().await;
        let policy = self.scope.workspace.policy.load_full();
        let each = self.decide_plan(&policy, &plan).await?;
        let decision = together(&each);
        if decision.verdict == Verdict::Deny {
            return Err(self.denied(decision).into());
        }
        if self.scope.call.dry_run || decision.verdict == Verdict::Ask {
            self.check_syntax(&plan, &mut changes).await?;
            if !self.scope.call.approvals().contains(&digest) {
                // Others need not wait for what linters say.
                self.leave_turn();
                self.lint_changes(&plan, lints.await?, &mut changes).await?;
            }
            self.lock().changes.clone_from(&changes);
        }
        if self.scope.call.dry_run {
            return Ok(applied(&plan, None));
        }
        if decision.verdict == Verdict::Ask {
            // What nobody sees whole is not allowed for longer than once.
            let offers = match changes.iter().any(FileChange::is_cut) {
                true => Vec::new(),
                false => self.offers_to_change(&policy, &plan, &each, digest),
            };
            let plan_bytes = plan.held_bytes();
            let ask = Ask { changes, plan_bytes, offers, ..Ask::of(digest, decision) };
            self.leave_turn();
            if let Err(error) = self.ask(ask).await {
                self.mark(ChangeStatus::Unconfirmed);
                return Err(error.into());
            }
            self.permit_still(&policy, &plan).await?;
        }
        self.note_uses(&each);
        self.commit(plan).await
    }

    /// Refuses what a policy denies that came while somebody was being asked. A decision to one
    /// question does not overrule a rule that the asked person may not have known.
    async fn permit_still(&self, asked: &Arc<Policy>, plan: &Plan) -> Result<(), EffectStop> {
        let policy = self.scope.workspace.policy.load_full();
        if Arc::ptr_eq(asked, &policy) {
            return Ok(());
        }
        let each = self.decide_plan(&policy, plan).await?;
        let decision = together(&each);
        if decision.verdict == Verdict::Deny {
            self.mark(ChangeStatus::Unconfirmed);
            return Err(self.denied(decision).into());
        }
        Ok(())
    }

    /// Holds the files to what the caller said they are.
    fn check_expected(&self, plan: &Plan) -> Result<(), ToolError> {
        let is_changed = |path: &RelPath| plan.files().iter().any(|file| file.path == *path);
        let mut expected = self.scope.call.expected_hashes.keys();
        if let Some(path) = expected.find(|path| !is_changed(path)) {
            let message =
                format!("a content hash is given for {path}, which the call does not change");
            return Err(ToolError::new(ErrorCode::Conflict, message)
                .hint("name the file as the call does, relative to the workspace root"));
        }
        for file in plan.files() {
            let Some(expected) = self.scope.call.expected_hashes.get(&file.path) else { continue };
            if file.before != Some(*expected) {
                let found = file.before.map_or_else(|| "no file".to_owned(), |hash| hash.short());
                let expected = expected.short();
                return Err(ToolError::new(
                    ErrorCode::Conflict,
                    format!("{}: expected the content {expected}, found {found}", file.path),
                )
                .hint("read it again, then retry with the current content"));
            }
        }
        Ok(())
    }

    fn denied(&self, decision: &Decision) -> CallError {
        let rule = decision.rule.to_string();
        let message = format!("{} is {} {rule}", self.scope.call.tool(), decision.verb());
        CallError::Denied { message, rule: Some(rule) }
    }

    /// Makes the error that a tool in between gets, and remembers what ends the call.
    pub(super) fn pass_on(&self, stop: EffectStop) -> ToolError {
        match stop {
            EffectStop::Tool(error) => error,
            EffectStop::Call(error) => self.lock().stops.pass_on(error),
        }
    }

    /// What a tool's error stands for: why an effect was stopped, where the tool passes that on. A tool that
    /// went on without the effect may fail later for another reason.
    pub(super) fn meant_by(&self, error: ToolError, is_from_guest: bool) -> EffectStop {
        match self.lock().stops.meant_by(&error, is_from_guest) {
            Some(stop) => EffectStop::Call(stop.clone()),
            None => EffectStop::Tool(error),
        }
    }

    /// Waits for a write that is under way, and records what is left of the call.
    pub(super) async fn conclude(
        &self,
        result: Result<Result<String, ToolError>, CallError>,
    ) -> Result<Result<String, ToolError>, CallError> {
        drop(self.committing.lock().await);
        self.leave_turn();
        let (left, stays) = {
            let mut inner = self.lock();
            (inner.asking.take(), inner.stays())
        };
        if let Some((digest, id)) = left {
            self.record_left_question(digest, &id).await?;
        }
        self.record_uses().await?;
        match result {
            Err(CallError::Timeout { after, .. }) => Err(CallError::Timeout { after, stays }),
            result => result,
        }
    }

    /// Records how a question ended whose call did not wait for that. A person may have decided before the call went:
    /// that counts, whoever heard of it.
    async fn record_left_question(&self, digest: ContentHash, id: &str) -> Result<(), CallError> {
        let (outcome, reason) = as_recorded(self.scope.daemon.confirmations.end_of(id));
        let (scope, reason) = (&self.scope, reason.as_deref());
        record::confirmation_ended(scope, digest, outcome, reason).await.map(drop)
    }

    /// Takes what was changed, or would have been.
    pub(super) fn take(&self) -> EffectSummary {
        let mut inner = self.lock();
        EffectSummary {
            changes: std::mem::take(&mut inner.changes),
            history: inner.history.take(),
            digest: inner.digest.take(),
            conflicts: std::mem::take(&mut inner.conflicts),
            plugins: inner.plugins.take(),
            rooms: std::mem::take(&mut inner.rooms),
        }
    }

    pub(super) fn scope(&self) -> &CallScope {
        &self.scope
    }

    pub(super) fn mark(&self, status: ChangeStatus) {
        self.lock().changes.iter_mut().for_each(|change| change.status = status);
    }

    fn lock(&self) -> MutexGuard<'_, EffectsState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_stays() {
        let mut state = EffectsState::default();
        assert_eq!(state.stays(), None);
        state.ran_command = true;
        let ran = "a command of it ran, and what that changed in files stays";
        assert_eq!(state.stays().as_deref(), Some(ran));
        state.history = Some(3);
        let both = format!("its change was committed before that, as history 3, and {ran}");
        assert_eq!(state.stays(), Some(both));
    }
}
