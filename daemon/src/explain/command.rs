//! The command of a call that is explained: its parts, as a call would decide about them.

use moss_sdk::RelPath;
use moss_sdk::spec::Effect;
use moss_workspace::Workspace;
use serde_json::{Map, Value};

use crate::call::{CommandSetting, parts_in, reading_doubt, without_own_scratch};
use crate::state::Daemon;
use moss_catalog::CatalogEntry;
use moss_policy::{Action, CommandPart, Policy, ReadingDoubt, Subject, Verdict, command_grants};

/// The tool whose commands are left running in a terminal.
const TERMINAL_TOOL: &str = "terminal_job";
/// Tools of moss that run a command.
const COMMAND_TOOLS: &[&str] = &["run_terminal_cmd", TERMINAL_TOOL];

/// Why bash may read the command of a call otherwise than moss, where a call would ask it: of what would run unasked, and
/// of what is left running.
pub async fn doubt(
    daemon: &Daemon,
    tool: &str,
    arguments: &Map<String, Value>,
    verdict: Option<Verdict>,
) -> Option<ReadingDoubt> {
    let command = arguments.get("command").and_then(Value::as_str);
    let command = command.filter(|_| COMMAND_TOOLS.contains(&tool))?;
    let is_left = is_left_running(tool, |key| arguments.get(key));
    let is_asked = match verdict? {
        Verdict::Allow => true,
        Verdict::Ask => is_left,
        Verdict::Deny => false,
    };
    if !is_asked || moss_commands::is_plain(command) {
        return None;
    }
    reading_doubt(daemon.sandbox().await?, command).await
}

/// Whether a call leaves its command running as a job.
fn is_left_running<'v>(tool: &str, argument: impl FnOnce(&str) -> Option<&'v Value>) -> bool {
    tool == TERMINAL_TOOL || argument("is_background") == Some(&Value::Bool(true))
}

/// The simple commands of a tool that runs one, as the full tier of the sandbox would have them.
pub(super) fn parts(
    files: &Workspace,
    entry: &CatalogEntry,
    arguments: &Value,
    directory: &RelPath,
    doubt: Option<&ReadingDoubt>,
) -> Vec<CommandPart> {
    let is_own = entry.plugin().is_none() && entry.spec.effect == Effect::Exec;
    let command = arguments.get("command").and_then(Value::as_str).filter(|_| is_own);
    let has_terminal = entry.spec.name == TERMINAL_TOOL;
    let setting = CommandSetting { is_isolated: true, has_terminal };
    let parts = command.map(|command| parts_in(files, command, directory, setting));
    let parts = parts.unwrap_or_default().into_iter();
    let is_left = is_left_running(&entry.spec.name, |key| arguments.get(key));
    let parts = parts.map(|part| if is_left { part.left_running() } else { part });
    parts.map(|part| doubt.into_iter().fold(part, CommandPart::doubted)).collect()
}

/// The parts as they are decided about with what rules grant the whole text: where nothing keeps it from anything, `/tmp`
/// is not its own.
pub(super) fn with_grants(
    files: &Workspace,
    policy: &Policy,
    subject: &Subject<'_>,
    parts: Vec<CommandPart>,
    known: Option<&RelPath>,
) -> Vec<CommandPart> {
    let is_free = |part: &CommandPart| {
        let subject =
            Subject { action: Action::Exec, path: known, command: Some(part), ..*subject };
        command_grants(policy, &subject).danger_full
    };
    if parts.iter().all(|part| part.only_reads) || !parts.iter().all(is_free) {
        return parts;
    }
    parts.into_iter().map(|part| without_own_scratch(files, part)).collect()
}
