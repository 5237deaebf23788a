//! Putting the questions of a call to the policy. What rules say where no call asks is in `by_rules.rs`; nothing else
//! of the daemon calls [`moss_policy::decide`].

use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::edit::{MatchLevel, Retention};
use moss_workspace::{OpenedFile, Plan, PlannedFile, Protection};

use super::{Effects, ToolFacts};
use crate::call::record;
use crate::call::stop::EffectStop;
use moss_dispatch::{CallError, change::ChangeStatus};
use moss_policy::{Action, CommandGrants, CommandPart, Decision, Layer, Subject, Verdict};

/// The names of one file.
#[derive(Debug, Clone, Copy)]
pub(in crate::call) struct FileNames<'a> {
    /// Its real path, after all links.
    pub(in crate::call) real: &'a RelPath,
    /// The path that it was asked for under.
    pub(in crate::call) asked: &'a RelPath,
}

/// What is known of a change of a file beside its name; nothing of a read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChangeFacts {
    /// Why the file is protected beside its names.
    around: Option<moss_workspace::Protection>,
    /// Whether its content is known to be public.
    is_public: bool,
    size_bytes: Option<u64>,
    match_level: Option<MatchLevel>,
    drift: bool,
}

/// The policy's word for the workspace's.
pub(crate) fn protection(protection: moss_workspace::Protection) -> moss_policy::Protection {
    match protection {
        moss_workspace::Protection::Code => moss_policy::Protection::Code,
        moss_workspace::Protection::Metadata => moss_policy::Protection::Metadata,
        moss_workspace::Protection::Secret => moss_policy::Protection::Secret,
    }
}

pub(super) fn action_of(file: &PlannedFile) -> Action {
    match file.action {
        moss_workspace::FileAction::Create => Action::Create,
        moss_workspace::FileAction::Modify => Action::Modify,
        moss_workspace::FileAction::Delete => Action::Delete,
    }
}

// === impl ChangeFacts ===

impl ChangeFacts {
    fn of(file: &PlannedFile) -> Self {
        let matched = file.matched.as_ref();
        Self {
            around: file.around,
            is_public: false,
            size_bytes: Some(file.after_bytes),
            match_level: matched.map(|matched| matched.level),
            drift: matched.is_some_and(|matched| !matched.drift.is_empty()),
        }
    }
}

// === impl Effects ===

impl Effects {
    /// Decides about reading one file.
    pub(in crate::call) fn decide_read(
        &self,
        policy: &moss_policy::Policy,
        file: FileNames<'_>,
    ) -> Decision {
        self.decide_read_of(policy, file, ChangeFacts::default())
    }

    /// As [`Effects::decide_read`], about a file that is open: one with the name of a key may hold what
    /// is public.
    pub(in crate::call) fn decide_open(
        &self,
        policy: &moss_policy::Policy,
        file: FileNames<'_>,
        opened: &OpenedFile<'_>,
    ) -> Decision {
        let decision = self.decide_read(policy, file);
        let is_protected =
            decision.verdict == Verdict::Deny && decision.rule.layer == Layer::Protected;
        let files = &self.scope.workspace.files;
        let is_secret = |name| files.protection_of_public(name) == Some(Protection::Secret);
        if !is_protected || is_secret(file.real) || is_secret(file.asked) || !opened.is_public() {
            return decision;
        }
        self.decide_read_of(policy, file, ChangeFacts { is_public: true, ..ChangeFacts::default() })
    }

    fn decide_read_of(
        &self,
        policy: &moss_policy::Policy,
        file: FileNames<'_>,
        facts: ChangeFacts,
    ) -> Decision {
        let decision = self.decide_file(policy, &self.tool(), Action::Read, file, facts);
        self.with_approved(decision, file)
    }

    /// Decides about reading one of many files, for a tool whose facts are at hand.
    pub(in crate::call) fn decide_one_read(
        &self,
        (policy, tool): (&moss_policy::Policy, &ToolFacts),
        file: FileNames<'_>,
    ) -> Decision {
        let decision = self.decide_file(policy, tool, Action::Read, file, ChangeFacts::default());
        self.with_approved(decision, file)
    }

    /// Allows what somebody approved in this call, and notes the standing approval that allowed it.
    fn with_approved(&self, mut decision: Decision, file: FileNames<'_>) -> Decision {
        // Most files are read by rules alone, and many threads decide about them.
        if decision.verdict != Verdict::Ask && decision.rule.answer.is_none() {
            return decision;
        }
        let mut inner = self.lock();
        if decision.verdict == Verdict::Ask && inner.approved_reads.contains(file.real) {
            decision.verdict = Verdict::Allow;
        }
        inner.uses.note(&decision);
        decision
    }

    /// Whether a file could be read without asking; it is not read yet.
    pub(in crate::call) fn could_read(
        &self,
        policy: &moss_policy::Policy,
        file: FileNames<'_>,
    ) -> bool {
        let none = ChangeFacts::default();
        let decision = self.decide_file(policy, &self.tool(), Action::Read, file, none);
        decision.verdict == Verdict::Allow
    }

    /// Whether a name may be shown in a listing. A protected one may: its content is not shown.
    pub(in crate::call) fn may_list(
        &self,
        (policy, tool): (&moss_policy::Policy, &ToolFacts),
        path: &RelPath,
    ) -> bool {
        let file = Some((path, None, ChangeFacts::default()));
        self.decide_for(policy, tool, Action::Read, file).verdict != Verdict::Deny
    }

    /// Decides about one file by its real name, and by the name it was asked for under: a rule or a
    /// protection of either holds.
    pub(super) fn decide_file(
        &self,
        policy: &moss_policy::Policy,
        tool: &ToolFacts,
        action: Action,
        file: FileNames<'_>,
        change: ChangeFacts,
    ) -> Decision {
        let files = &self.scope.workspace.files;
        let decide = |name| {
            let named = match change.is_public {
                true => files.protection_of_public(name),
                false => files.protection(name),
            };
            let protection = named.max(change.around).map(protection);
            self.decide_for(policy, tool, action, Some((name, protection, change)))
        };
        let decision = decide(file.real);
        if file.asked == file.real {
            return decision;
        }
        let both = [decision, decide(file.asked)];
        moss_policy::strictest(&both).cloned().expect("there are two")
    }

    /// Decides about one of many files, whose names are one and whose protection is known.
    pub(super) fn decide_named(
        &self,
        (policy, tool): (&moss_policy::Policy, &ToolFacts),
        action: Action,
        (path, named): (&RelPath, Option<Protection>),
    ) -> Decision {
        let file = (path, named.map(protection), ChangeFacts::default());
        self.decide_for(policy, tool, action, Some(file))
    }

    /// Decides about every file of a plan, in its order; the strictest decision holds for all.
    pub(super) async fn decide_plan(
        &self,
        policy: &moss_policy::Policy,
        plan: &Plan,
    ) -> Result<Vec<Decision>, CallError> {
        let tool = self.tool();
        let mut decisions = Vec::with_capacity(plan.files().len());
        for file in plan.files() {
            let decision = self.decide_planned(policy, &tool, file);
            let action = action_of(file);
            let matched = file.matched.as_ref();
            record::decided(&self.scope, action, Some(&file.real), matched, &decision).await?;
            decisions.push(decision);
        }
        Ok(decisions)
    }

    pub(super) fn decide_planned(
        &self,
        policy: &moss_policy::Policy,
        tool: &ToolFacts,
        file: &PlannedFile,
    ) -> Decision {
        let names = FileNames { real: &file.real, asked: &file.path };
        // What cannot be undone is asked about each time.
        let for_good = ToolFacts { answers: Arc::default(), ..tool.clone() };
        let tool = if file.retention == Retention::Permanent { &for_good } else { tool };
        self.decide_file(policy, tool, action_of(file), names, ChangeFacts::of(file))
    }

    pub(super) fn decide(
        &self,
        policy: &moss_policy::Policy,
        action: Action,
        file: Option<(&RelPath, Option<moss_policy::Protection>, ChangeFacts)>,
    ) -> Decision {
        self.decide_for(policy, &self.tool(), action, file)
    }

    fn decide_for(
        &self,
        policy: &moss_policy::Policy,
        tool: &ToolFacts,
        action: Action,
        file: Option<(&RelPath, Option<moss_policy::Protection>, ChangeFacts)>,
    ) -> Decision {
        let change = file.map(|(.., change)| change).unwrap_or_default();
        let subject = Subject {
            path: file.map(|(path, ..)| path),
            protection: file.and_then(|(_, protection, _)| protection),
            size_bytes: change.size_bytes,
            match_level: change.match_level,
            drift: change.drift,
            ..self.subject(tool, action)
        };
        self.decide_subject(policy, subject)
    }

    /// What the tool does, to no file in particular.
    fn subject<'a>(&'a self, tool: &'a ToolFacts, action: Action) -> Subject<'a> {
        let named = (tool.name.unwrap_or(self.scope.call.tool()), tool.effect);
        Subject {
            plugin: tool.plugin.as_deref(),
            answers: &tool.answers,
            ..Subject::of(action, named, self.scope.call.caller.name())
        }
    }

    /// Refuses a change of what is moss's own where a rule denies it; what else is decided waits.
    pub(super) async fn refuse_denied(&self, action: Action) -> Result<(), EffectStop> {
        let policy = self.scope.workspace.policy.load_full();
        match self.decide(&policy, action, None).verdict {
            Verdict::Deny => self.decide_own(action).await.map(drop),
            Verdict::Allow | Verdict::Ask => Ok(()),
        }
    }

    /// Decides about a change of what is moss's own, and records that: refuses what is denied; returns what else is
    /// decided.
    pub(super) async fn decide_own(&self, action: Action) -> Result<Decision, EffectStop> {
        let policy = self.scope.workspace.policy.load_full();
        let decision = self.decide(&policy, action, None);
        record::decided(&self.scope, action, None, None, &decision).await?;
        if decision.verdict == Verdict::Deny {
            self.mark(ChangeStatus::Unconfirmed);
            return Err(self.denied(&decision).into());
        }
        Ok(decision)
    }

    /// Decides about reading all files at once that are protected alike, as [`Effects::decide_alike`].
    pub(in crate::call) fn decide_all_reads(
        &self,
        rules: (&moss_policy::Policy, &ToolFacts),
        protected: Option<Protection>,
    ) -> Option<Verdict> {
        self.decide_alike(rules, Action::Read, protected)
    }

    /// Decides about what is done to all files at once that are protected alike. None where rules or standing
    /// approvals distinguish paths.
    pub(super) fn decide_alike(
        &self,
        (policy, tool): (&moss_policy::Policy, &ToolFacts),
        action: Action,
        protected: Option<Protection>,
    ) -> Option<Verdict> {
        let subject = self.subject(tool, action);
        let subject = Subject { protection: protected.map(protection), ..subject };
        let behalf = self.scope.behalf.iter().flat_map(|behalf| behalf.plugins().map(Some));
        let plugins = behalf.chain([subject.plugin]);
        let decide = |plugin| {
            let decision =
                moss_policy::decide_for_all_paths(policy, &Subject { plugin, ..subject });
            decision.map(|decision| decision.verdict)
        };
        plugins.map(decide).reduce(|a, b| Some(a?.max(b?))).flatten()
    }

    /// Says what decides about reads on a walk beside the rules. None where somebody approved one, and
    /// where a plugin has them done: then each walk is decided for itself.
    pub(in crate::call) fn walk_facts(&self, tool: &ToolFacts) -> Option<String> {
        let is_approved = tool.answers.iter().any(|answer| answer.is_of(Action::Read))
            || !self.lock().approved_reads.is_empty();
        if is_approved || self.scope.behalf.is_some() {
            return None;
        }
        let call = &self.scope.call;
        Some(format!("{:?}", (call.tool(), tool.effect, &tool.plugin, call.caller.name())))
    }

    /// Decides about one part of a command.
    pub(super) fn decide_part(
        &self,
        policy: &moss_policy::Policy,
        tool: &ToolFacts,
        directory: Option<&RelPath>,
        part: &CommandPart,
    ) -> Decision {
        self.decide_subject(policy, self.part_subject(tool, directory, part))
    }

    /// Returns what rules grant one part of a command.
    pub(super) fn part_grants(
        &self,
        policy: &moss_policy::Policy,
        tool: &ToolFacts,
        directory: Option<&RelPath>,
        part: &CommandPart,
    ) -> CommandGrants {
        moss_policy::command_grants(policy, &self.part_subject(tool, directory, part))
    }

    fn part_subject<'a>(
        &'a self,
        tool: &'a ToolFacts,
        directory: Option<&'a RelPath>,
        part: &'a CommandPart,
    ) -> Subject<'a> {
        let subject = self.subject(tool, Action::Exec);
        Subject { path: directory, command: Some(part), ..subject }
    }

    fn decide_subject(&self, policy: &moss_policy::Policy, subject: Subject<'_>) -> Decision {
        let decision = moss_policy::decide(policy, &subject);
        let Some(behalf) = &self.scope.behalf else { return decision };
        // What a plugin has done for it is held to the rules for the plugin as well.
        let for_plugin =
            |plugin| moss_policy::decide(policy, &Subject { plugin: Some(plugin), ..subject });
        let all: Vec<_> = behalf.plugins().map(for_plugin).chain([decision]).collect();
        moss_policy::strictest(&all).cloned().expect("there is one")
    }

    /// Returns what the policy looks at in the tool, as of now.
    pub(in crate::call) fn tool(&self) -> ToolFacts {
        self.lock().tool.clone()
    }
}
