//! Running a command: read, decided part by part, asked about whole, run in the sandbox, reported.
//!
//! What moss commits can be undone; what a command does cannot. So a command that may write is asked
//! about unless a rule allows each of its parts, and one that destroys is asked about in any case.

mod background;
mod checking;
mod commits;
mod contents;
mod files;
mod git_reads;
mod granted;
mod grants;
mod kinds;
mod made;
mod output;
mod own_programs;
mod parts;
mod proposed;
mod reporting;
mod running;
mod second_reading;
mod serving;

use std::sync::Arc;

use moss_sandbox::{Profile, Sandbox, SandboxError, SandboxedCommand, Tier};
use moss_sdk::command::{CommandReport, CommandRequest, ReportedSandbox};
use moss_sdk::file::EntryKind;
use moss_sdk::{ErrorCode, RelPath, ToolError};
use serde_json::json;

pub(crate) use self::contents::ContentMemory;
pub(crate) use self::git_reads::parts_in;
pub(crate) use self::made::{ProtectedBefore, made_since, set_aside_new};
pub(crate) use self::parts::{
    CommandSetting, ShellFile, files_of_parts, known_directory, without_own_scratch,
};
pub(super) use self::proposed::{PermittedLint, UnseenRun};
use self::running::{OutputWanted, not_started, tier_min};
pub(crate) use self::second_reading::reading_doubt;
pub(in crate::call) use self::serving::{PermittedServer, PriorDecisions, ServerRefusal};
use super::{Effects, FileNames, ToolFacts, ask::Ask, decide::ChangeFacts};
use crate::call::record;
use crate::call::stop::EffectStop;
use moss_dispatch::command::{AskedCommand, CommandQuestion};
use moss_policy::{CommandGrants, CommandPart, Decision, Policy, Verdict, strictest};
use moss_workspace::names_on_way;

/// A command that was read, with where and how it would run.
#[derive(Debug)]
pub(super) struct PlannedCommand {
    command: String,
    /// Its directory, after all links.
    directory: RelPath,
    pub(super) parts: Vec<CommandPart>,
    profile: Profile,
    /// What rules grant it beyond that.
    grants: CommandGrants,
    tier: Tier,
    is_background: bool,
    has_terminal: bool,
}

/// What policy and people made of a command.
#[derive(Debug)]
enum ConfirmedCommand {
    /// It may run, in a sandbox of at least this tier.
    Run(PlannedCommand, Tier),
    /// It is a dry run, or may not ask: what would be asked.
    DryRun(Box<CommandReport>),
}

/// What was decided about each part.
#[derive(Debug)]
pub(super) struct DecidedCommand {
    /// About the part with the files that the shell opens for it.
    pub(super) each: Vec<Decision>,
    /// The files that the shell writes for it.
    writes: Vec<Vec<String>>,
}

// === impl Effects ===

impl Effects {
    /// Decides about a command, asks where that is needed, and runs it or leaves it running as a
    /// job.
    pub(in crate::call) async fn run_command(
        self: &Arc<Self>,
        request: CommandRequest,
    ) -> Result<CommandReport, EffectStop> {
        let sandbox = self.sandbox().await?;
        if request.is_background {
            // Nobody is asked about what has no room.
            drop(self.scope.daemon.jobs.admit(self.scope.call.caller.name())?);
        }
        match self.confirm_command(request, sandbox, true).await? {
            ConfirmedCommand::DryRun(report) => Ok(*report),
            ConfirmedCommand::Run(planned, tier_min) if planned.is_background => {
                self.start_job(sandbox, &planned, tier_min).await
            }
            ConfirmedCommand::Run(planned, tier_min) => {
                Ok(self.run_planned(sandbox, &planned, tier_min, OutputWanted::Shown).await?.0)
            }
        }
    }

    async fn sandbox(&self) -> Result<&Sandbox, ToolError> {
        self.scope.daemon.sandbox().await.ok_or_else(|| {
            ToolError::new(ErrorCode::LimitExceeded, "this daemon cannot run commands")
                .hint("start it with `moss serve`")
        })
    }

    /// Reads a command, decides about it and asks where that is needed. Where it may not ask, what would need
    /// it is not run.
    async fn confirm_command(
        self: &Arc<Self>,
        request: CommandRequest,
        sandbox: &Sandbox,
        may_ask: bool,
    ) -> Result<ConfirmedCommand, EffectStop> {
        let mut planned = self.plan_command(request, sandbox).await?;
        self.look_for_approvals().await;
        let (policy, tool) = (self.scope.workspace.policy.load_full(), self.tool());
        self.doubt_unasked((&policy, &tool), &mut planned, sandbox).await;
        let decided = self.decide_command(&policy, &tool, &planned).await?;
        let decision = decided.strictest();
        if decision.verdict == Verdict::Deny {
            return Err(self.denied(decision).into());
        }
        let question = Arc::new(planned.question(&decided));
        let arguments = planned.to_json();
        let digest = self.digest_of("exec", &arguments);
        if may_ask {
            self.lock().digest = Some(digest);
        }
        let would_ask = decision.verdict == Verdict::Ask && !may_ask;
        if self.scope.call.dry_run || would_ask {
            return Ok(ConfirmedCommand::DryRun(Box::new(planned.not_run(&question))));
        }
        let tier_min = planned.tier_min(&policy);
        if planned.tier < tier_min {
            let (found, report) = (planned.tier, Box::new(sandbox.report().clone()));
            let error = SandboxError::Tier { found, needed: tier_min, report };
            return Err(not_started(error).into());
        }
        if decision.verdict == Verdict::Ask {
            let offers = self.offers_to_run(&policy, &self.tool(), (&planned, &decided), digest);
            let ask = Ask {
                digest,
                decision,
                changes: Vec::new(),
                arguments: Some(arguments),
                plan_bytes: planned.command.len(),
                consent: None,
                command: Some(question),
                embedding: None,
                offers,
            };
            self.ask(ask).await?;
            let policy = self.scope.workspace.policy.load_full();
            let again = self.decide_command(&policy, &self.tool(), &planned).await?;
            let decision = again.strictest();
            if decision.verdict == Verdict::Deny {
                return Err(self.denied(decision).into());
            }
            // What was shown was granted then: it is given as far as it still is.
            planned.grant(planned.grants.common(&self.grants_of(&planned)));
        }
        self.note_uses(&decided.each);
        Ok(ConfirmedCommand::Run(planned, tier_min))
    }

    /// Reads a command and finds out where it would run.
    async fn plan_command(
        &self,
        request: CommandRequest,
        sandbox: &Sandbox,
    ) -> Result<PlannedCommand, EffectStop> {
        let CommandRequest { command, directory, is_background, has_terminal } = request;
        let (workspace, asked) = (Arc::clone(&self.scope.workspace), directory.clone());
        let find = move || {
            let found = workspace.files.resolve(&asked);
            let is_there = found.as_ref().is_ok_and(|found| found.kind.is_some());
            (found, if is_there { Vec::new() } else { names_on_way(&workspace.files, &asked) })
        };
        let (found, on_way) = self.scope.blocking(find).await?;
        let real = found.as_ref().map_or(&directory, |found| &found.path);
        let policy = self.scope.workspace.policy.load_full();
        let names = FileNames { real, asked: &directory };
        for names in on_way.iter().map(|name| FileNames { real: name, asked: name }).chain([names])
        {
            if let Some(decision) = self.hides((&policy, &self.tool()), names) {
                return Err(self.deny_read(names.real, &decision).await);
            }
        }
        let resolved = found.map_err(ToolError::from)?;
        match resolved.kind {
            Some(EntryKind::Directory) => {}
            None => {
                let message = format!("{directory}: there is no such directory");
                return Err(ToolError::new(ErrorCode::NotFound, message)
                    .hint("leave out `cwd` to run in the workspace root")
                    .into());
            }
            Some(_) => {
                let message = format!("{directory} is not a directory");
                return Err(ToolError::new(ErrorCode::NotADirectory, message).into());
            }
        }
        let tier = sandbox.tier();
        let directory = resolved.path;
        let setting = CommandSetting { is_isolated: tier == Tier::Full, has_terminal };
        let (workspace, text, within) =
            (Arc::clone(&self.scope.workspace), command.clone(), directory.clone());
        let read = move || parts_in(&workspace.files, &text, &within, setting);
        let mut parts = self.scope.blocking(read).await?;
        if is_background {
            parts = parts.into_iter().map(CommandPart::left_running).collect();
        }
        let mut planned = PlannedCommand {
            command,
            directory,
            parts,
            profile: Profile::ReadOnly,
            grants: CommandGrants::default(),
            tier,
            is_background,
            has_terminal,
        };
        planned.grant(self.grants_of(&planned));
        if planned.profile == Profile::DangerFull {
            let files = &self.scope.workspace.files;
            let parts = planned.parts.into_iter();
            planned.parts = parts.map(|part| without_own_scratch(files, part)).collect();
        }
        Ok(planned)
    }

    /// Decides about every part, and records what asks or denies.
    async fn decide_command(
        &self,
        policy: &Policy,
        tool: &ToolFacts,
        planned: &PlannedCommand,
    ) -> Result<DecidedCommand, EffectStop> {
        let writes = |part: &CommandPart| {
            let writes = part.command.iter().flat_map(|command| command.writes());
            writes.map(|written| written.target.shown()).collect()
        };
        let each = self.decide_parts(policy, tool, planned);
        let writes = planned.parts.iter().map(writes).collect();
        let decided = DecidedCommand { each, writes };
        let (directory, command) = (&planned.directory, planned.command.as_str());
        record::decided_command(&self.scope, directory, command, decided.strictest()).await?;
        Ok(decided)
    }

    /// Decides about every part with the files that the shell opens for it, and records nothing.
    fn decide_parts(
        &self,
        policy: &Policy,
        tool: &ToolFacts,
        planned: &PlannedCommand,
    ) -> Vec<Decision> {
        let directory = planned.known_directory();
        let decide = |part: &CommandPart| {
            let decision = self.decide_part(policy, tool, directory, part);
            let files = self.decide_redirections(policy, tool, directory, part);
            let decisions: Vec<_> = [decision].into_iter().chain(files).collect();
            strictest(&decisions).cloned().expect("there is one")
        };
        planned.parts.iter().map(decide).collect()
    }

    /// Decides about the files that the shell opens for a part, as far as their names are known.
    fn decide_redirections(
        &self,
        policy: &Policy,
        tool: &ToolFacts,
        directory: Option<&RelPath>,
        part: &CommandPart,
    ) -> Vec<Decision> {
        let opened = parts::opened_files(&self.scope.workspace.files, directory, part);
        let decide = |file: ShellFile| {
            let names = FileNames { real: &file.real, asked: &file.asked };
            self.decide_file(policy, tool, file.action, names, ChangeFacts::default())
        };
        opened.into_iter().map(decide).collect()
    }
}

// === impl DecidedCommand ===

impl DecidedCommand {
    /// The decision that holds for all parts.
    fn strictest(&self) -> &Decision {
        strictest(&self.each).expect("a command has at least one part")
    }
}

// === impl PlannedCommand ===

impl PlannedCommand {
    /// The directory in which every part runs; none where one may change it.
    pub(super) fn known_directory(&self) -> Option<&RelPath> {
        parts::known_directory(&self.parts, &self.directory)
    }

    /// The least tier that a policy accepts for it.
    pub(super) fn tier_min(&self, policy: &Policy) -> Tier {
        tier_min(match self.profile {
            Profile::ReadOnly => policy.sandbox_min_to_read(),
            Profile::WorkspaceWrite | Profile::DangerFull => policy.sandbox_min(),
        })
    }

    /// What a decision is bound to.
    fn to_json(&self) -> String {
        json!({
            "command": self.command,
            "directory": self.directory,
            "profile": self.profile.to_string(),
            "network": self.grants.network,
            "environment": self.grants.environment,
            "sockets": self.grants.sockets,
            "tier": self.tier.to_string(),
            "background": self.is_background,
            "terminal": self.has_terminal,
        })
        .to_string()
    }

    fn question(&self, decided: &DecidedCommand) -> CommandQuestion {
        let all = self.parts.iter().zip(decided.each.iter().zip(&decided.writes));
        let part =
            |(part, (decision, writes)): (&CommandPart, (&Decision, &Vec<String>))| AskedCommand {
                text: part.text.clone(),
                via: part.command.iter().flat_map(|command| command.via.clone()).collect(),
                asks: decision.verdict != Verdict::Allow,
                rule: decision.rule.to_string(),
                writes: writes.clone(),
            };
        CommandQuestion {
            command: self.command.clone(),
            directory: self.directory.to_string(),
            profile: self.profile.to_string(),
            network: self.grants.network,
            environment: self.grants.environment.iter().cloned().collect(),
            sockets: self.grants.sockets.iter().cloned().collect(),
            tier: self.tier.to_string(),
            parts: all.map(part).collect(),
            is_background: self.is_background,
            is_input: false,
            is_optional: false,
        }
    }

    fn sandbox(&self) -> ReportedSandbox {
        let mut command = SandboxedCommand::shell("", self.command.as_str());
        self.give(&mut command);
        ReportedSandbox {
            tier: self.tier.to_string(),
            profile: self.profile.to_string(),
            network: self.grants.network,
            environment_removed: command.environment.removed(command.network),
            environment_granted: self.grants.environment.iter().cloned().collect(),
            sockets: self.grants.sockets.iter().cloned().collect(),
            ..ReportedSandbox::default()
        }
    }

    /// The report of a dry run: what would be asked.
    fn not_run(&self, question: &CommandQuestion) -> CommandReport {
        let note = |part: &AskedCommand| {
            let verb = if part.asks { "asks" } else { "runs unasked" };
            format!("{verb}: {}: {}", part.text, part.rule)
        };
        CommandReport {
            ran: false,
            job: None,
            exit_code: None,
            signal: None,
            duration_ms: 0,
            stdout: String::new(),
            stderr: String::new(),
            truncated: false,
            artifact: None,
            left_running: Vec::new(),
            sandbox: self.sandbox(),
            changed: Vec::new(),
            notes: question.parts.iter().map(note).collect(),
        }
    }
}
