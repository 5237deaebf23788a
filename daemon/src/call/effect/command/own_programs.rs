//! Programs of the workspace that are found by the names of those that only read.
//!
//! The table of commands that only read knows programs by their names. Where `PATH` leads into the workspace, as in an
//! environment of Python that is activated, what has such a name may be anything.

use std::cell::OnceCell;
use std::path::PathBuf;

use moss_policy::CommandPart;
use moss_sandbox::{find_program_beneath, looks_up_beneath};
use moss_workspace::Workspace;

/// Builtins of the shell, which finds no program by their names.
const BUILTINS: [&str; 12] =
    ["[", "[[", "cd", "echo", "export", "false", "local", "printf", "pwd", "read", "test", "true"];
/// What programs that only read start themselves, as scripts do: `egrep` is one, as is a part of git.
const HELPERS: [&str; 22] = [
    "awk", "basename", "bash", "cat", "cut", "dash", "dirname", "env", "expr", "find", "git",
    "grep", "head", "ls", "node", "sed", "sh", "sort", "tr", "uname", "wc", "xargs",
];

/// Marks the parts that only read by their names alone: a rule has to allow them.
pub(super) fn hold_own(files: &Workspace, parts: Vec<CommandPart>) -> Vec<CommandPart> {
    let root = files.root();
    let helper = OnceCell::new();
    let find_helper = || -> Option<PathBuf> {
        looks_up_beneath(root)
            .then(|| HELPERS.iter().find_map(|name| find_program_beneath(name, root)))
            .flatten()
    };
    let hold = |part: CommandPart| {
        let command = part.command.as_ref().filter(|_| part.only_reads);
        let name = command.and_then(|command| command.words.first()?.fixed());
        let Some(name) = name.filter(|name| !BUILTINS.contains(name)) else { return part };
        let own = find_program_beneath(name, root);
        match own.as_ref().or_else(|| helper.get_or_init(find_helper).as_ref()) {
            Some(found) => {
                let shown = found.strip_prefix(root).unwrap_or(found).display();
                let why = format!(
                    "by the name of one of the system {shown} runs, a program of the workspace"
                );
                part.running_configured(&why)
            }
            None => part,
        }
    };
    parts.into_iter().map(hold).collect()
}
