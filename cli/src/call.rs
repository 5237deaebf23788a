//! `moss call`.

mod output_lines;

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use crate::client::{self, Calling, Client, NeededTools};
use moss_proto::v1;
use moss_proto::v1::stream_call_tool_response::Event;
use moss_sdk::ContentHash;

use self::output_lines::OutputLines;
use super::arguments::ToolArguments;
use super::confirming::{self, ConfirmAction, DecisionMode};
use super::error::CliError;
use super::progress::Meter;
use super::prompt::{self, PersonsDecision};
use super::remote::Remote;
use super::report::CallReport;
use super::ui::Ui;
use super::{Session, clarifying, effect, text, whole};
use moss_dispatch::{Outcome, Reason};

/// How long a line of a command's output waits for its end before it is shown as it is.
const LINE_WAIT_MAX: Duration = Duration::from_millis(100);
/// The code of arguments that do not fit the schema of a tool.
const ARGUMENTS_INVALID: &str = "arguments_invalid";

/// Call a tool
///
/// `moss call TOOL --help` shows the parameters of one tool. Prints the result of the tool. Effects
/// that need a confirmation are shown as a diff and asked about on the terminal; with a caller's token
/// alone it waits for an approver elsewhere. Without a terminal the call exits with code 4 and prints
/// the digest for `--confirm`.
#[derive(Debug, clap::Args)]
pub(super) struct CallArgs {
    /// Name of the tool
    pub(super) tool: String,

    #[command(flatten)]
    arguments: ToolArguments,

    /// Show the effect and its digest, do nothing
    #[arg(long)]
    dry_run: bool,

    /// Wait for an approver elsewhere if nobody can be asked here
    #[arg(long)]
    wait: bool,

    /// Search all workspaces that the daemon serves as one: for grep_search and file_search
    #[arg(long)]
    all_workspaces: bool,

    /// Session ID; calls with the same ID belong together
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Refuse to change PATH unless its content has this hash
    #[arg(long = "expect", value_name = "PATH=HASH")]
    expected: Vec<ExpectedContent>,

    /// Timeout of the call, for example 30s or 5m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
}

/// What the terminal calls itself: the result of a call says where it was decided.
const TERMINAL: &str = "terminal";
/// Stands for every workspace that is served.
const EVERY_WORKSPACE: &str = "*";

/// A file and the content that it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExpectedContent {
    path: String,
    hash: ContentHash,
}

/// One call that is followed to its end.
struct FollowedCall<'a> {
    client: &'a Client,
    ui: &'a Ui,
    remote: &'a Remote,
    meter: Meter<'a>,
    output: OutputLines,
    mode: DecisionMode,
    call_id: Option<String>,
    /// The latest effect that was asked about.
    asked: Option<v1::Confirmation>,
    /// Whether the person has seen it.
    is_shown: bool,
}

// === impl CallArgs ===

impl CallArgs {
    /// The workspaces that are searched as one with this one.
    fn further_workspaces(&self) -> Vec<String> {
        if self.all_workspaces { vec![EVERY_WORKSPACE.to_owned()] } else { Vec::new() }
    }
}

pub(super) async fn run(args: CallArgs, session: &Session) -> Result<Outcome, CliError> {
    let report = match session.open(NeededTools::Tool(&args.tool)).await {
        Ok(client) => {
            let report = attempt(&args, session, &client).await;
            client.close().await;
            report
        }
        Err(error) => CallReport::of_error(&args.tool, None, error),
    };
    report.show(&session.ui)
}

async fn attempt(args: &CallArgs, session: &Session, client: &Client) -> CallReport {
    let interactive = session.ui.interactive() && !args.arguments.is_stdin();
    let confirm = &session.global.confirm;
    let mut following = FollowedCall {
        client,
        ui: &session.ui,
        remote: &session.global.remote,
        meter: Meter::new(&session.ui),
        output: OutputLines::default(),
        mode: confirming::decision_mode(confirm, args.wait, interactive, client.is_alone()),
        call_id: None,
        asked: None,
        is_shown: false,
    };
    if args.session.is_some() && client.is_alone() {
        let what = "what a session has read is remembered by a daemon; none serves this workspace, so \
                    changes since then are not noticed";
        session.ui.note(&format!("note: {what}"));
    }
    let attached = match args.tool == clarifying::TOOL && interactive {
        // Who may not decide questions is not asked: the result says so.
        true => client.attach(TERMINAL).await.ok(),
        false => None,
    };
    let result = super::interruptible(async {
        let is_attended = following.mode.is_here();
        let call = v1::Call {
            workspace: String::new(),
            further_workspaces: args.further_workspaces(),
            tool: args.tool.clone(),
            arguments_json: args.arguments.to_json(client, &args.tool, session).await?,
            confirm: following.mode.mode().into(),
            approved_digests: confirming::approved_digests(confirm),
            denial: None,
            dry_run: args.dry_run,
            session_id: args.session.clone().unwrap_or_default(),
            expected_hashes: expected_hashes(&args.expected),
        };
        let calling = client.call(call, args.timeout, is_attended).await?;
        let followed = tokio::select! {
            followed = following.follow(calling) => followed,
            never = clarifying::reply(attached, &session.ui) => match never {},
        };
        match followed {
            Err(error) if error.error.code == ARGUMENTS_INVALID => {
                Err(args.arguments.explain(error, client, &args.tool).await)
            }
            result => result,
        }
    })
    .await;
    let result = match result {
        Ok(result) => Ok(with_path_from_root(result, args, session)),
        Err(error) => Err(with_explanation(error, args, session)),
    };
    following.report(args, result)
}

/// Adds to a denial by a rule the command that shows the rules about this very call.
fn with_explanation(error: CliError, args: &CallArgs, session: &Session) -> CliError {
    if error.error.code != Reason::DeniedByPolicy.code() {
        return error;
    }
    let command = args.arguments.command("moss policy explain", &args.tool);
    error.hint(format!("see the rules with `{}`", session.elsewhere(&command)))
}

/// Adds to the failure of a path that is right from the current directory the one from the root.
fn with_path_from_root(
    mut result: v1::CallResult,
    args: &CallArgs,
    session: &Session,
) -> v1::CallResult {
    let is_about_a_path = |error: &&mut v1::ToolError| {
        matches!(error.code.as_str(), "not_found" | "outside_workspace" | "not_a_directory")
    };
    if let Some(error) = result.error.as_mut().filter(is_about_a_path)
        && let Some((directory, root)) = session.here()
        && let Some(meant) = args.arguments.path_from_root(&directory, &root)
    {
        error.hint = format!("paths begin at the root of the workspace: did you mean {meant}?");
    }
    result
}

fn expected_hashes(expected: &[ExpectedContent]) -> HashMap<String, String> {
    expected.iter().map(|file| (file.path.clone(), file.hash.to_string())).collect()
}

/// Reads a duration such as `30s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<jiff::SignedDuration>().ok();
    parsed
        .and_then(|duration| Duration::try_from(duration).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "expected a duration such as 500ms, 30s or 5m".to_owned())
}

// === impl FollowedCall ===

impl FollowedCall<'_> {
    /// Follows the events up to the result.
    async fn follow(&mut self, mut calling: Calling) -> Result<v1::CallResult, CliError> {
        loop {
            let event = self.next(&mut calling).await;
            let event = event.inspect_err(|_| self.show_rest())?;
            if let Some(result) = self.take(event, &mut calling).await? {
                return Ok(result);
            }
        }
    }

    /// Waits for the next event. What a command wrote last is shown meanwhile, whole line or not.
    async fn next(&mut self, calling: &mut Calling) -> Result<Event, CliError> {
        let mut next = std::pin::pin!(calling.next());
        if self.output.is_waiting() {
            match tokio::time::timeout(LINE_WAIT_MAX, &mut next).await {
                Ok(event) => return Ok(event?),
                Err(_) => self.show_rest(),
            }
        }
        Ok(next.await?)
    }

    fn show_rest(&mut self) {
        self.output.flush().for_each(|rest| self.ui.note(&text::quoted(&rest)));
    }

    async fn take(
        &mut self,
        event: Event,
        calling: &mut Calling,
    ) -> Result<Option<v1::CallResult>, CliError> {
        if !matches!(event, Event::Progress(_)) {
            self.meter.clear();
        }
        if !matches!(event, Event::Progress(_) | Event::Output(_)) {
            self.show_rest();
        }
        match event {
            Event::Started(started) => self.call_id = Some(started.call_id),
            Event::Progress(progress) => self.meter.show(&progress),
            Event::Output(output) => {
                if let Some(lines) = self.output.take(output) {
                    self.ui.note(&text::quoted(&lines));
                }
            }
            Event::ConfirmationNeeded(confirmation) => {
                self.is_shown = false;
                self.asked = Some(confirmation.clone());
                // One without a name says what was refused: there is nothing to decide.
                if !confirmation.id.is_empty() {
                    return self.decide(&confirmation, calling).await;
                }
            }
            Event::Result(result) => return Ok(Some(result)),
        }
        Ok(None)
    }

    /// Resolves a question. What happens to the call meanwhile comes first.
    async fn decide(
        &mut self,
        confirmation: &v1::Confirmation,
        calling: &mut Calling,
    ) -> Result<Option<v1::CallResult>, CliError> {
        if self.mode == DecisionMode::Prompt && !self.client.may_decide().await? {
            self.mode = DecisionMode::Elsewhere;
            self.ui.note(self.ui.wording().prompt.cannot_decide);
        }
        match confirming::reply(self.mode, confirmation) {
            // Whoever says it says it of whatever the call does.
            ConfirmAction::Approve => {
                self.resolve(confirmation, client::OneTimeDecision::YesByDigest).await
            }
            ConfirmAction::Deny(reason) => {
                self.resolve(confirmation, client::OneTimeDecision::No(reason)).await
            }
            ConfirmAction::GiveUp(why) => Err(CliError::unconfirmed(why, confirmation)),
            ConfirmAction::Wait => {
                self.show(confirmation);
                let id = text::line(&confirmation.id);
                let command = self.remote.elsewhere(&format!("moss confirm approve {id}"));
                self.ui.note(&(self.ui.wording().prompt.waiting_for)(&command));
                Ok(None)
            }
            ConfirmAction::Ask => {
                self.show(confirmation);
                let offers = confirming::offers(confirmation, self.client.is_alone());
                let asked = async {
                    if confirmation.truncated
                        && !whole::show(self.ui, self.client, confirmation).await?
                    {
                        return Ok(Err("not all of it was shown"));
                    }
                    let decision =
                        prompt::ask(self.ui, self.ui.wording().prompt.apply, &offers).await?;
                    Ok::<_, CliError>(decision.ok_or("nobody decided"))
                };
                tokio::select! {
                    decision = asked => match decision? {
                        Ok(PersonsDecision::Yes) => {
                            self.resolve(confirmation, client::OneTimeDecision::Yes).await
                        }
                        Ok(PersonsDecision::Standing(offer)) => self.remember(confirmation, &offer).await,
                        Ok(PersonsDecision::No(reason)) => {
                            self.resolve(confirmation, client::OneTimeDecision::No(reason)).await
                        }
                        Err(why) => Err(CliError::unconfirmed(why, confirmation)),
                    },
                    event = calling.next() => {
                        self.ui.note(&format!("\n{}", self.ui.wording().prompt.decided_elsewhere));
                        Box::pin(self.take(event?, calling)).await
                    }
                }
            }
        }
    }

    fn show(&mut self, confirmation: &v1::Confirmation) {
        self.ui.note(&effect::confirmation(self.ui.wording(), confirmation));
        self.is_shown = true;
    }

    /// Sends a decision. That somebody was faster is not an error: the call reports how it
    /// continued.
    async fn resolve(
        &self,
        confirmation: &v1::Confirmation,
        decision: client::OneTimeDecision,
    ) -> Result<Option<v1::CallResult>, CliError> {
        match self.client.resolve(confirmation, decision).await {
            Ok(_) => Ok(None),
            Err(failure) if failure.is(Reason::ConfirmationOver) => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    /// As [`FollowedCall::resolve`], with a standing approval.
    async fn remember(
        &self,
        confirmation: &v1::Confirmation,
        offer: &v1::OfferedApproval,
    ) -> Result<Option<v1::CallResult>, CliError> {
        match self.client.remember(confirmation, offer).await {
            Ok(remembered) => {
                self.ui.note(&confirming::remembered(&self.ui.wording().prompt, &remembered));
                Ok(None)
            }
            Err(failure) if failure.is(Reason::ConfirmationOver) => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    fn report(mut self, args: &CallArgs, result: Result<v1::CallResult, CliError>) -> CallReport {
        self.meter.clear();
        let mut error = match result {
            Ok(result) => return CallReport::of_result(result, args.dry_run),
            Err(error) => error,
        };
        if matches!(error.outcome, Outcome::Unconfirmed | Outcome::Denied) && self.asked.is_some() {
            error.confirmation = self.asked.map(Box::new);
        }
        let report = CallReport::of_error(&args.tool, self.call_id, error);
        if self.is_shown { report.without_effect() } else { report }
    }
}

// === impl ExpectedContent ===

impl FromStr for ExpectedContent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A path may hold `=`; a hash does not.
        let (path, hash) = text.rsplit_once('=').ok_or("expected PATH=HASH")?;
        let hash = hash.parse().map_err(|_| "expected a hash of 64 hexadecimal digits")?;
        Ok(Self { path: path.to_owned(), hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_and_are_not_nothing() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        for wrong in ["", "10", "0s", "-1s", "soon"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn expected_content_is_a_path_and_a_hash() {
        let hash = "0a".repeat(32);
        let expected: ExpectedContent = format!("a=b.txt={hash}").parse().unwrap();
        assert_eq!((expected.path.as_str(), expected.hash.to_string()), ("a=b.txt", hash));
        assert!("a.txt".parse::<ExpectedContent>().is_err());
        assert!("a.txt=12".parse::<ExpectedContent>().is_err());
    }
}
