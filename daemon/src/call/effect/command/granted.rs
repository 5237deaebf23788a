//! Running a command that a plugin was granted by its words: nobody is asked on its behalf. The grant alone
//! lets run what only reads; a command that may write needs a rule of the policy as well.

use std::sync::Arc;

use moss_sdk::command::{CommandRequest, GrantedCommand, GrantedCommandReport};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::PlannedCommand;
use super::running::{OutputWanted, not_started};
use crate::call::effect::Effects;
use crate::call::record;
use moss_policy::{Decision, Verdict, granted_command, strictest};
use moss_sandbox::{Profile, SandboxError};

/// Most bytes of a stream that a plugin is given.
const STREAM_BYTES_MAX: usize = 1 << 20;

// === impl Effects ===

impl Effects {
    /// Runs a command for the plugin whose call this is.
    pub(in crate::call) async fn run_granted(
        self: &Arc<Self>,
        command: GrantedCommand,
    ) -> Result<GrantedCommandReport, ToolError> {
        let sandbox = self.sandbox().await?;
        let directory = match &command.directory {
            Some(directory) => self.scope.workspace.files.path(directory)?,
            None => RelPath::root(),
        };
        let request = CommandRequest {
            command: text(&command.words),
            directory,
            is_background: false,
            has_terminal: false,
        };
        let mut planned =
            self.plan_command(request, sandbox).await.map_err(|stop| self.pass_on(stop))?;
        planned.doubt(sandbox).await;
        planned.grant_network_alone();
        if !is_of(&planned, &command.words) {
            let message = "the words are no command that can be read";
            return Err(ToolError::new(ErrorCode::InvalidArguments, message));
        }
        self.permit_granted(&planned).await?;
        if self.scope.call.dry_run && planned.profile != Profile::ReadOnly {
            let message = "in a dry run no command runs that may write";
            return Err(ToolError::new(ErrorCode::Denied, message));
        }
        let tier_min = planned.tier_min(&self.scope.workspace.policy.load());
        if planned.tier < tier_min {
            let (found, report) = (planned.tier, Box::new(sandbox.report().clone()));
            return Err(not_started(SandboxError::Tier { found, needed: tier_min, report }));
        }
        let wanted = OutputWanted::Whole { reports: None, follower: None };
        let (report, output) = self.run_planned(sandbox, &planned, tier_min, wanted).await?;
        let isolation = format!("isolation: {}, {}", report.sandbox.tier, report.sandbox.profile);
        let (stdout, is_stdout_cut) = shortened(output.stdout.whole());
        let (stderr, is_stderr_cut) = shortened(output.stderr.whole());
        Ok(GrantedCommandReport {
            exit_code: report.exit_code,
            signal: report.signal,
            stdout,
            stderr,
            is_truncated: is_stdout_cut || is_stderr_cut,
            changed: report.changed.into_iter().map(|altered| altered.path).collect(),
            notes: [isolation].into_iter().chain(report.notes).collect(),
        })
    }

    /// Holds a command to the policy of this moment, and records what was decided.
    async fn permit_granted(&self, planned: &PlannedCommand) -> Result<(), ToolError> {
        let policy = self.scope.workspace.policy.load_full();
        let (tool, directory) = (self.tool(), planned.known_directory());
        let decide =
            |part| granted_command(self.decide_part(&policy, &tool, directory, part), part);
        let each: Vec<Decision> = planned.parts.iter().map(decide).collect();
        let decision = strictest(&each).expect("a command has at least one part");
        let command = planned.command.as_str();
        let recorded =
            record::decided_command(&self.scope, &planned.directory, command, decision).await;
        recorded.map_err(|error| self.pass_on(error.into()))?;
        match decision.verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask | Verdict::Deny => {
                let message = format!("running `{command}` is {decision}");
                let error = ToolError::new(ErrorCode::Denied, message);
                Err(error.hint(
                    "nobody is asked on behalf of a plugin; of what only asks because no rule allows it, a rule with \
                     `exact_argv` and `decision = \"allow\"` in the user's policy lets it run",
                ))
            }
        }
    }
}

/// The text that bash reads as exactly these words.
fn text(words: &[String]) -> String {
    let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

/// Whether a command that was read is one simple command of these words; what that runs is read as well.
fn is_of(planned: &PlannedCommand, words: &[String]) -> bool {
    let commands = planned.parts.iter().map(|part| part.command.as_ref());
    let Some(commands) = commands.collect::<Option<Vec<_>>>() else { return false };
    let mut own = commands.into_iter().filter(|command| command.via.is_empty());
    let (first, second) = (own.next(), own.next());
    second.is_none()
        && first.is_some_and(|command| command.fixed_words().is_some_and(|read| read == *words))
}

fn shortened((mut text, is_cut): (String, bool)) -> (String, bool) {
    let end = text.floor_char_boundary(STREAM_BYTES_MAX);
    let is_longer = end < text.len();
    text.truncate(end);
    (text, is_cut || is_longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are() {
        let words = ["a b", "it's", "$x", "`y`", "", "*", "\\", "\n", "~", "!!", "ä"];
        let words = words.map(str::to_owned);
        let script = moss_commands::read(&text(&words)).unwrap();
        let [command] = script.commands.as_slice() else { panic!("{script:?}") };
        assert_eq!(command.fixed_words().unwrap(), words);
    }
}
