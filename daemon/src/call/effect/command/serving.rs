//! Deciding whether a language server may be started: a command that runs for longer than the call, and that only
//! reads: read-only in the sandbox, without network. Its tool is `language_server`, whichever tool wants to know
//! something, so that one rule or one standing approval is for all of them.

use std::sync::Arc;
use std::time::Duration;

use moss_dispatch::command::CommandQuestion;
use moss_dispatch::{CallError, ConfirmMode};
use moss_policy::{CommandGrants, CommandPart, Decision, Policy, Verdict, strictest};
use moss_sandbox::{Profile, Sandbox, SandboxedCommand, Tier};
use moss_sdk::RelPath;
use moss_sdk::command::CommandRequest;

use super::running::tier_min;
use super::{DecidedCommand, PlannedCommand};
use crate::call::effect::ask::Ask;
use crate::call::effect::{Effects, ToolFacts};
use crate::call::held_records::OnRecord;
use crate::call::record;
use crate::call::stop::EffectStop;

/// How long a call waits for a person who may let a server run: it can do without.
const ASK_MAX: Duration = Duration::from_secs(60);

/// Why a language server is not started.
#[derive(Debug)]
pub(in crate::call) struct ServerRefusal {
    pub(in crate::call) why: String,
    /// Whether a person said so, or did not respond: nobody is asked again under the same policy.
    pub(in crate::call) is_answered: bool,
}

/// What a person decided before, of the same question.
#[derive(Debug, Default)]
pub(in crate::call) struct PriorDecisions {
    /// Why it is not to be started.
    pub(in crate::call) refused: Option<String>,
    /// What somebody approved to be run, word for word, whichever tool wanted it.
    pub(in crate::call) approved: Option<String>,
}

/// A language server that may be started, for a call that is on record.
#[derive(Debug)]
pub(in crate::call) struct PermittedServer {
    pub(in crate::call) command: SandboxedCommand,
    /// What a person approved, now or before; none where a rule allows it.
    pub(in crate::call) approved: Option<String>,
}

type ServerPermit<T> = Result<Result<T, ServerRefusal>, EffectStop>;

// === impl PermittedServer ===

impl PermittedServer {
    fn new(command: SandboxedCommand, approved: Option<String>, _: OnRecord) -> Self {
        Self { command, approved }
    }
}

// === impl Effects ===

impl Effects {
    /// Decides about starting a language server in a directory, and asks where that is needed and possible. What
    /// somebody approved before is not asked about again, and denied where a policy denies it by now.
    pub(in crate::call) async fn permit_server(
        self: &Arc<Self>,
        words: &[String],
        directory: RelPath,
        policy: &Arc<Policy>,
        before: &PriorDecisions,
    ) -> ServerPermit<PermittedServer> {
        let sandbox = match self.sandbox().await {
            Ok(sandbox) => sandbox,
            Err(error) => return Ok(Err(ServerRefusal::passing(error.message))),
        };
        let mut planned = match self.plan_server(words, directory, sandbox).await {
            Ok(planned) => planned,
            Err(EffectStop::Tool(error)) => return Ok(Err(ServerRefusal::passing(error.message))),
            Err(stop) => return Err(stop),
        };
        planned.doubt(sandbox).await;
        planned.grant(CommandGrants::default());
        planned.profile = Profile::ReadOnly;
        let least = tier_min(policy.sandbox_min()).max(Tier::Landlock);
        if planned.tier < least {
            let why = format!("this machine isolates too little: `{}`", planned.tier);
            return Ok(Err(ServerRefusal::passing(why)));
        }
        match self.confirm_server(&planned, policy, before).await? {
            Ok((approved, on_record)) => {
                let command = self.sandboxed(&planned, least).await?;
                Ok(Ok(PermittedServer::new(command, approved, on_record)))
            }
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    async fn plan_server(
        &self,
        words: &[String],
        directory: RelPath,
        sandbox: &Sandbox,
    ) -> Result<PlannedCommand, EffectStop> {
        let command =
            words.iter().map(|word| moss_commands::quote(word)).collect::<Vec<_>>().join(" ");
        let request =
            CommandRequest { command, directory, is_background: false, has_terminal: false };
        self.plan_command(request, sandbox).await
    }

    async fn confirm_server(
        self: &Arc<Self>,
        planned: &PlannedCommand,
        policy: &Arc<Policy>,
        before: &PriorDecisions,
    ) -> ServerPermit<(Option<String>, OnRecord)> {
        let tool = self.server_tool();
        let decision = self.glance(policy, &tool, planned);
        let arguments = planned.to_json();
        let digest = self.digest_of("exec", &arguments);
        let was_approved = before.approved.as_ref() == Some(&arguments);
        match decision.verdict {
            Verdict::Deny => {
                let decided = self.decide_command(policy, &tool, planned).await?;
                let decision = decided.strictest();
                let why = format!("starting `{}` is {decision}", planned.command);
                return Ok(Err(ServerRefusal::passing(why)));
            }
            Verdict::Ask if was_approved => {}
            Verdict::Ask if self.scope.call.dry_run || !self.can_ask(digest) => {
                return Ok(Err(ServerRefusal::unasked(planned)));
            }
            Verdict::Ask => {
                if let Some(why) = &before.refused {
                    return Ok(Err(ServerRefusal::passing(why.clone())));
                }
            }
            Verdict::Allow => {}
        }
        if self.scope.call.dry_run {
            return Ok(Err(ServerRefusal::passing("a dry run starts nothing".to_owned())));
        }
        let decided = self.decide_command(policy, &tool, planned).await?;
        let is_by_person = decided.strictest().verdict == Verdict::Ask;
        if is_by_person && !was_approved {
            if let Err(refusal) = self.ask_for_server(planned, policy, &tool, &decided).await? {
                return Ok(Err(refusal));
            }
            let now = self.scope.workspace.policy.load_full();
            let again = self.decide_command(&now, &self.server_tool(), planned).await?;
            if again.strictest().verdict == Verdict::Deny {
                let why = format!("starting `{}` is {}", planned.command, again.strictest());
                return Ok(Err(ServerRefusal::passing(why)));
            }
        }
        self.note_uses(&decided.each);
        let on_record = record::release(&self.scope).await?;
        Ok(Ok((is_by_person.then_some(arguments), on_record)))
    }

    /// Decides and records nothing.
    fn glance(&self, policy: &Policy, tool: &ToolFacts, planned: &PlannedCommand) -> Decision {
        let directory = planned.known_directory();
        let decide = |part: &CommandPart| self.decide_part(policy, tool, directory, part);
        let each: Vec<_> = planned.parts.iter().map(decide).collect();
        strictest(&each).cloned().expect("a command has at least one part")
    }

    /// Asks a person, in bounded time.
    async fn ask_for_server(
        self: &Arc<Self>,
        planned: &PlannedCommand,
        policy: &Policy,
        tool: &ToolFacts,
        decided: &DecidedCommand,
    ) -> ServerPermit<()> {
        let arguments = planned.to_json();
        let digest = self.digest_of("exec", &arguments);
        let offers = self.offers_to_run(policy, tool, (planned, decided), digest);
        let ask = Ask {
            digest,
            decision: decided.strictest(),
            changes: Vec::new(),
            arguments: Some(arguments),
            plan_bytes: planned.command.len(),
            consent: None,
            command: Some(Arc::new(CommandQuestion {
                is_optional: true,
                ..planned.question(decided)
            })),
            embedding: None,
            offers,
        };
        let name = &planned.command;
        match self.ask_within(ask, ASK_MAX).await {
            Ok(_) => Ok(Ok(())),
            Err(CallError::Denied { .. }) => {
                let why = format!("a person denied starting `{name}`");
                Ok(Err(ServerRefusal { why, is_answered: true }))
            }
            // The question stays open: a later call learns what came of it.
            Err(CallError::Unconfirmed(_)) if self.scope.call.confirm == ConfirmMode::Leave => {
                let why = format!("whether `{name}` may be started waits in moss for a person");
                Ok(Err(ServerRefusal::passing(why)))
            }
            Err(CallError::Unconfirmed(_) | CallError::TooManyConfirmations(_)) => {
                let why = format!("nobody decided in time whether `{name}` may be started");
                Ok(Err(ServerRefusal { why, is_answered: true }))
            }
            Err(error) => Err(error.into()),
        }
    }
}

// === impl ServerRefusal ===

impl ServerRefusal {
    fn passing(why: String) -> Self {
        Self { why, is_answered: false }
    }

    fn unasked(planned: &PlannedCommand) -> Self {
        Self::passing(format!(
            "`{}` was not started: that needs a confirmation, and nobody gave one; a rule of the policy for the \
             tool `language_server` allows it",
            planned.command
        ))
    }
}
