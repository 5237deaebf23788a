//! Programs of the workspace that are found by the names of those that only read.
//!
//! The table of commands that only read knows programs by their names. Where `PATH` leads into the workspace, as in an
//! environment of Python that is activated, what has such a name may be anything.

use moss_policy::CommandPart;
use moss_sandbox::find_program_beneath;
use moss_workspace::Workspace;

/// Marks the parts that only read by their names alone: a rule has to allow them.
pub(super) fn hold_own(files: &Workspace, parts: Vec<CommandPart>) -> Vec<CommandPart> {
    let hold = |part: CommandPart| {
        let command = part.command.as_ref().filter(|_| part.only_reads);
        let name = command.and_then(|command| command.words.first()?.fixed());
        let found = name.and_then(|name| find_program_beneath(name, files.root()));
        match found {
            Some(found) => {
                let shown = found.strip_prefix(files.root()).unwrap_or(&found);
                let why =
                    format!("by its name {} runs, a program of the workspace", shown.display());
                part.running_configured(&why)
            }
            None => part,
        }
    };
    parts.into_iter().map(hold).collect()
}
