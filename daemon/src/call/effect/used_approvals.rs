//! Standing approvals in a call: which are in effect, which are offered with a question, and what
//! is left of those that were used.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use moss_sdk::ContentHash;
use moss_workspace::Plan;

use super::command::{DecidedCommand, PlannedCommand};
use super::decide::{ChangeFacts, action_of};
use super::{Effects, FileNames, ToolFacts};
use crate::approvals::Situation;
use crate::call::record;
use moss_dispatch::{CallError, Offer, Work, operations};
use moss_policy::standing::{
    AskedEffect, Asker, Permission, StandingApproval, narrowest, narrowest_commands,
};
use moss_policy::{Action, Decision, Policy, Verdict};

/// The tool in whose name linters run before an edit.
const LINTING_TOOL: &str = "lint_check";

/// The standing approvals that let something happen in a call.
#[derive(Debug, Default)]
pub(super) struct UsedApprovals(BTreeSet<String>);

// === impl UsedApprovals ===

impl UsedApprovals {
    /// Notes the approval by which something was allowed, if it was by one.
    pub(super) fn note(&mut self, decision: &Decision) {
        let allowed = Some(&decision.rule).filter(|_| decision.verdict == Verdict::Allow);
        if let Some(id) = allowed.and_then(|rule| rule.answer.as_ref())
            && !self.0.contains(id)
        {
            self.0.insert(id.clone());
        }
    }
}

// === impl Effects ===

impl Effects {
    /// Finds the approvals in effect now. What another process stored or revoked counts.
    pub(super) async fn look_for_approvals(&self) {
        // What a person lets the caller do is not what a plugin may do in its name.
        if self.scope.behalf.is_some() {
            return;
        }
        let workspace = &self.scope.workspace;
        if workspace.answers.is_outdated() {
            let workspace = Arc::clone(workspace);
            let reload = move || workspace.answers.reload();
            // Only a defect breaks it, which is logged: then what was read before stays.
            let _ = self.scope.blocking(reload).await;
        }
        let answers = self.situated(&self.tool(), |situation| {
            workspace.answers.in_effect(situation, Timestamp::now())
        });
        self.lock().tool.answers = Arc::new(answers);
    }

    /// What the policy looks at in a linter that runs before an edit: it is one of `lint_check`, and what a
    /// person lets that tool run applies.
    pub(super) fn linting_tool(&self) -> ToolFacts {
        self.standing_in(LINTING_TOOL)
    }

    /// The same of a language server that is to be started.
    pub(super) fn server_tool(&self) -> ToolFacts {
        self.standing_in(operations::LANGUAGE_SERVER)
    }

    /// A tool in whose name a command runs, with the approvals that are in effect for it.
    fn standing_in(&self, tool: &'static str) -> ToolFacts {
        let (name, effect) = (Some(tool), moss_sdk::Effect::Exec);
        let none = Arc::default();
        let tool = ToolFacts { name, effect, plugin: None, component: None, answers: none };
        let answers = &self.scope.workspace.answers;
        let found =
            self.situated(&tool, |situation| answers.in_effect(situation, Timestamp::now()));
        ToolFacts { answers: Arc::new(found), ..tool }
    }

    /// What may be offered with the question about changes: the narrowest approvals that would have
    /// made it needless.
    pub(super) fn offers_to_change(
        &self,
        policy: &Policy,
        plan: &Plan,
        each: &[Decision],
        question: ContentHash,
    ) -> Vec<Offer> {
        let files = plan.files().iter().zip(each);
        let asked = files.filter(|(_, decision)| decision.verdict == Verdict::Ask);
        let effects: Vec<_> = asked
            .flat_map(|(file, _)| {
                let size_bytes = Some(file.after_bytes);
                [&file.real, &file.path].map(|path| AskedEffect {
                    action: action_of(file),
                    path,
                    size_bytes,
                })
            })
            .collect();
        self.offers(&effects, question, |tool| {
            let verdict = |file| self.decide_planned(policy, tool, file).verdict;
            plan.files().iter().all(|file| verdict(file) == Verdict::Allow)
        })
    }

    /// As [`Effects::offers_to_change`], for one file that is read.
    pub(super) fn offers_to_read(&self, file: FileNames<'_>, question: ContentHash) -> Vec<Offer> {
        let policy = self.scope.workspace.policy.load_full();
        let read = |path| AskedEffect { action: Action::Read, path, size_bytes: None };
        self.offers(&[read(file.real), read(file.asked)], question, |tool| {
            self.decide_file(&policy, tool, Action::Read, file, ChangeFacts::default()).verdict
                == Verdict::Allow
        })
    }

    /// As [`Effects::offers_to_change`], for a command: for each of its parts that asks, all of its words.
    pub(super) fn offers_to_run(
        &self,
        policy: &Policy,
        tool: &ToolFacts,
        (planned, decided): (&PlannedCommand, &DecidedCommand),
        question: ContentHash,
    ) -> Vec<Offer> {
        let Some(directory) = planned.known_directory() else { return Vec::new() };
        let all = planned.parts.iter().zip(&decided.each);
        let asked: Vec<_> = all
            .filter(|(_, decision)| decision.verdict == Verdict::Ask)
            .map(|(part, _)| part)
            .collect();
        let permissions =
            self.situated(tool, |situation| narrowest_commands(situation.asker, directory, &asked));
        self.offered(tool, permissions, question, |tool| {
            let verdict = |part| self.decide_part(policy, tool, Some(directory), part).verdict;
            asked.iter().all(|part| verdict(part) == Verdict::Allow)
        })
    }

    fn offers(
        &self,
        effects: &[AskedEffect<'_>],
        question: ContentHash,
        would_do: impl Fn(&ToolFacts) -> bool,
    ) -> Vec<Offer> {
        if matches!(self.scope.call.work, Work::Undo(_)) {
            return Vec::new();
        }
        let tool = self.tool();
        let permissions = self.situated(&tool, |situation| narrowest(situation.asker, effects));
        self.offered(&tool, permissions, question, would_do)
    }

    /// The offers of permissions that would have made the question needless.
    fn offered(
        &self,
        tool: &ToolFacts,
        permissions: Option<Vec<Permission>>,
        question: ContentHash,
        would_do: impl Fn(&ToolFacts) -> bool,
    ) -> Vec<Offer> {
        let would = |permissions: &Vec<Permission>| {
            let mut answers = tool.answers.as_ref().clone();
            answers.push(Arc::new(StandingApproval::imagined(permissions.clone())));
            would_do(&ToolFacts { answers: Arc::new(answers), ..tool.clone() })
        };
        let Some(permissions) = permissions.filter(would) else { return Vec::new() };
        let answers = &self.scope.workspace.answers;
        self.situated(tool, |situation| {
            answers.offers(situation, &permissions, question, Timestamp::now())
        })
    }

    /// Says who asks, as approvals are bound to it.
    fn situated<T>(&self, tool: &ToolFacts, then: impl FnOnce(Situation<'_>) -> T) -> T {
        let call = &self.scope.call;
        let session = call.session();
        let name = tool.name.unwrap_or(call.tool());
        let asker =
            Asker { tool: name, plugin: tool.plugin.as_deref(), caller: call.caller.name() };
        let component = tool.component.as_deref();
        then(Situation { asker, component, session: session.as_ref() })
    }

    /// Notes the approvals by which changes are allowed that are about to be written.
    pub(super) fn note_uses(&self, each: &[Decision]) {
        let mut inner = self.lock();
        each.iter().for_each(|decision| inner.uses.note(decision));
    }

    /// Records the approvals that were used, each once for the call.
    pub(super) async fn record_uses(&self) -> Result<(), CallError> {
        let uses = std::mem::take(&mut self.lock().uses);
        for id in uses.0 {
            record::approval_used(&self.scope, id).await?;
        }
        Ok(())
    }
}
