//! Running a command: what a tool asks for, and what comes of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::path::RelPath;
use crate::progress::Progress;

/// A command that a tool wants to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRequest {
    /// A text for bash.
    pub command: String,
    /// The directory in which it runs.
    pub directory: RelPath,
    /// Whether it is left running as a job.
    pub is_background: bool,
    /// Whether it has a terminal of its own.
    pub has_terminal: bool,
}

/// A command whose output a tool reads itself: tests and linters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRequest {
    /// A text for bash. The same words each time: a standing approval is given for them.
    pub command: String,
    /// The directory in which it runs.
    pub directory: RelPath,
}

/// A command that a plugin was granted by its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The directory in which it runs, as the plugin writes it; none for the root of the workspace.
    pub directory: Option<String>,
}

/// What came of a command of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedCommandReport {
    /// The exit status; none where a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it wrote to its standard output.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
    /// Whether some of either is left out.
    pub is_truncated: bool,
    /// Files of the workspace that changed meanwhile.
    pub changed: Vec<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// A check that a tool follows while it runs.
pub struct FollowedCheck {
    /// What is run, and where.
    pub request: CheckRequest,
    /// Files that lie in the directory of reports before it runs: settings of the tool that is run.
    pub inputs: Vec<CheckReportFile>,
    /// Whether a person may be asked about it. Otherwise it does not run where the policy would ask, and
    /// `ran` of its report is false.
    pub asks: bool,
    /// Sees what it writes as it comes.
    pub follower: Box<dyn CheckFollower>,
}

/// Sees what a check writes while it runs.
pub trait CheckFollower: Send {
    /// Takes what it wrote, in pieces of any size; says how far it is where that is another than before.
    fn follow(&mut self, stream: CheckStream, text: &str) -> Option<Progress>;
}

/// Where a check writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckStream {
    /// Descriptor 1, its standard output.
    Stdout,
    /// Descriptor 2, its standard error.
    Stderr,
}

/// What a check left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// What became of the command.
    pub command: CommandReport,
    /// What it wrote to its standard output, as it wrote it.
    pub stdout: String,
    /// What it wrote to its standard error, as it wrote it.
    pub stderr: String,
    /// The files that it wrote into [`crate::checks::Checks::report_directory`], by name.
    pub files: Vec<CheckReportFile>,
    /// What of those files was not read, and why; none where all of it was.
    pub left_out: Option<String>,
    /// Whether `stdout` or `stderr` is not whole, because it is longer than 16 MiB, or a file is missing.
    pub is_cut: bool,
    /// The workspace root, as the command knows it.
    pub root: String,
}

/// A file that a check wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReportFile {
    /// Its name, without a directory.
    pub name: String,
    /// Its text; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// A linter that the user configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredLinter {
    /// What results and messages call it.
    pub name: String,
    /// A text for bash; `{path}` stands for what is checked.
    pub command: String,
    /// How it writes what it finds.
    pub format: ConfiguredFormat,
    /// Names of the files that it reads, `*` only at their beginning; empty: of all.
    pub files: Vec<String>,
    /// Names of files whose directory uses it; empty: the workspace root does.
    pub when: Vec<String>,
    /// Exit statuses beside 0 with which it has checked everything.
    pub codes: Vec<i32>,
}

/// How a linter that the user configured writes what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConfiguredFormat {
    /// SARIF 2.1.0: JSON, with rules, columns and fixes.
    Sarif,
    /// The XML of Checkstyle, which many other linters write too.
    Checkstyle,
    /// Lines as compilers write them: `file:line:column: severity: message`.
    Gnu,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandReport {
    /// Whether it ran; false in a dry run.
    pub ran: bool,
    /// The id of a command in the background: `terminal_job` waits for it, reads what it writes, writes to
    /// it and stops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The exit status; null where a signal ended it, it still runs or did not run. Other than 0 is no error of the
    /// call: `stdout` and `stderr` say why.
    pub exit_code: Option<i32>,
    /// The signal that ended it; null where it exited by itself.
    pub signal: Option<i32>,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// What it wrote to its standard output: the beginning, lines that look like errors, and the end.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
    /// Whether something of `stdout` or `stderr` is left out.
    pub truncated: bool,
    /// The name of its whole output, where something is left out: read_file reads it by that path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    /// Processes that it left running when it ended. They were ended, too.
    pub left_running: Vec<LeftRunning>,
    /// How it was isolated.
    pub sandbox: ReportedSandbox,
    /// Files of the workspace that were created, modified or deleted while it ran, without those that
    /// ignore files name. `diff_history` does not know of them, and they cannot be undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<AlteredFile>,
    /// What else there is to say, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A process that outlived its command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftRunning {
    /// Its number, as the command saw it.
    pub pid: u32,
    /// Its command line, cut.
    pub command: String,
}

/// How a command was isolated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSandbox {
    /// How well: `full`, `landlock` or `none`.
    pub tier: String,
    /// What it could write: `read-only`, `workspace-write` or `danger-full`.
    pub profile: String,
    /// Whether it could reach other machines.
    pub network: bool,
    /// Names of variables of the environment that it was not given, as far as its text or output has them; in a dry run
    /// all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment_removed: Vec<String>,
    /// Names of variables that a rule of the policy gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment_granted: Vec<String>,
    /// Sockets that a rule of the policy let it connect to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sockets: Vec<String>,
    /// Protected files that it changed all the same, and that are as before now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restored: Vec<String>,
}

/// A file that is another one than before a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlteredFile {
    /// The file, relative to the workspace root.
    pub path: String,
    /// What happened to it.
    pub what: FileFate,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileFate {
    /// It was not there before.
    Created,
    /// It has another size, time or content.
    Modified,
    /// It is not there any more.
    Deleted,
}

// === impl FollowedCheck ===

impl std::fmt::Debug for FollowedCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { request, inputs, asks, follower: _ } = self;
        let mut shown = f.debug_struct("FollowedCheck");
        shown.field("request", request).field("inputs", inputs).field("asks", asks);
        shown.finish_non_exhaustive()
    }
}
