//! `run_terminal_cmd`: a command for bash, in the sandbox.

use moss_sdk::command::{CommandReport, CommandRequest};
use moss_sdk::context::Context;
use moss_sdk::{Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

/// Longest command, in bytes.
const COMMAND_BYTES_MAX: usize = 64 * 1024;

/// Runs a command with bash, in a sandbox without network that may write only in the workspace, and
/// waits for its end: at most 10 minutes. Standard input is closed: pass `-y` or the like where a program
/// would ask. With `is_background` it is left running as a job that `terminal_job` follows and stops: for
/// servers and watchers, not for what ends soon.
///
/// A command that only reads (`ls`, `rg`, `git diff` …) runs at once. Any other is shown to a person first,
/// and one that destroys (`rm`, `git checkout`, `>` on a file …) always is. Write plain commands: what cannot
/// be read with certainty (`$x` as the name of a program, `eval`) is asked about as well. An exit status other
/// than 0 is a result, not an error. What a command changes cannot be undone: edit files with the tools for that.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunTerminalCmd {
    /// The command, such as `git status`. At most 64 KiB.
    command: String,
    /// The directory to run it in, relative to the workspace root. Default: the root.
    #[serde(default)]
    cwd: Option<String>,
    /// Whether to leave it running as a job, whose id is in the result. Default: false.
    #[serde(default)]
    is_background: Option<bool>,
}

impl Tool for RunTerminalCmd {
    const NAME: &'static str = "run_terminal_cmd";
    const TITLE: &'static str = "Run terminal command";
    const EFFECT: Effect = Effect::Exec;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("command", &["cmd", "commandText", "text"]),
        ("cwd", &["workingDir", "workDir", "directory"]),
        ("is_background", &["isBackground", "background"]),
    ];
    type Output = CommandReport;

    async fn run(self, cx: Context) -> Result<CommandReport, ToolError> {
        if self.command.trim().is_empty() {
            let message = "the command is empty";
            return Err(ToolError::new(ErrorCode::InvalidArguments, message)
                .hint("give a command for bash, such as `git status`"));
        }
        if self.command.len() > COMMAND_BYTES_MAX || self.command.contains('\0') {
            let message = format!(
                "the command has {} bytes: at most {COMMAND_BYTES_MAX} can be run, and none that is NUL",
                self.command.len()
            );
            return Err(ToolError::new(ErrorCode::InvalidArguments, message)
                .hint("write a script with create_file and run that, or pass less"));
        }
        let directory = working_directory(&cx, self.cwd.as_deref())?;
        let Self { command, is_background, .. } = self;
        let is_background = is_background.unwrap_or_default();
        cx.run_command(CommandRequest { command, directory, is_background, has_terminal: false })
            .await
    }
}

/// The directory of a command; often it is written with a slash behind it.
pub(super) fn working_directory(cx: &Context, cwd: Option<&str>) -> Result<RelPath, ToolError> {
    match cwd.unwrap_or_default() {
        "" => Ok(RelPath::root()),
        cwd if cwd.bytes().all(|byte| byte == b'/') => cx.path(cwd),
        cwd => cx.path(cwd.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use moss_sdk::testing::MemoryHost;
    use moss_sdk::tool::erased;

    #[test]
    fn a_command_is_handed_to_the_host_with_its_directory() {
        let host = MemoryHost::default();
        let tool = erased::<RunTerminalCmd>();
        let output = host.call(&*tool, json!({"command": "ls", "cwd": "src"})).unwrap();
        assert_eq!(output["exit_code"], 0);
        let request = CommandRequest {
            command: "ls".to_owned(),
            directory: RelPath::parse("src").unwrap(),
            is_background: false,
            has_terminal: false,
        };
        assert_eq!(host.commands(), std::slice::from_ref(&request));
        let arguments = json!({"command": "ls", "cwd": "src/", "is_background": true});
        host.call(&*tool, arguments).unwrap();
        assert_eq!(host.commands()[1], CommandRequest { is_background: true, ..request });
    }

    #[test]
    fn what_cannot_run_is_refused_with_what_to_do() {
        let host = MemoryHost::default();
        let tool = erased::<RunTerminalCmd>();
        for command in ["ls \0".to_owned(), "x".repeat(COMMAND_BYTES_MAX + 1)] {
            let error = host.call(&*tool, json!({ "command": command })).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArguments);
        }
        let error = host.call(&*tool, json!({"command": " "})).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArguments);
        assert!(error.hint.is_some());
        assert!(host.commands().is_empty());
    }
}
