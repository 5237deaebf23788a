//! Programs of the workspace that are found by the names of those that only read.
//!
//! The table of commands that only read knows programs by their names. Where `PATH` leads into the workspace, as in an
//! environment of Python that is activated, what has such a name may be anything.

use std::cell::OnceCell;

use moss_policy::CommandPart;
use moss_sandbox::{find_program_beneath, find_replacing_beneath};
use moss_workspace::Workspace;

/// Builtins of the shell, which finds no program by their names.
const BUILTINS: [&str; 12] =
    ["[", "[[", "cd", "echo", "export", "false", "local", "printf", "pwd", "read", "test", "true"];
/// How names begin of what an activated environment has in place of the system's, which nothing that only reads runs.
const OF_ENVIRONMENTS: [&str; 2] = ["pip", "python"];

/// Marks the parts that only read by their names alone: a rule has to allow them.
pub(super) fn hold_own(files: &Workspace, parts: Vec<CommandPart>) -> Vec<CommandPart> {
    let root = files.root();
    // What only reads may be a script, which finds others by their names, as `egrep` and a part of git do.
    let helper = OnceCell::new();
    let of_environments =
        |name: &str| OF_ENVIRONMENTS.iter().any(|environment| name.starts_with(environment));
    let find_helper = || find_replacing_beneath(root, &of_environments);
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
