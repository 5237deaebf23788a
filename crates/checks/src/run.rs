//! A run of a tool of the project: the command, where it reports, what it left behind.

/// How a tool is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckCommand {
    /// A text for bash, the same each time it is asked for the same: a standing approval names its words.
    pub command: String,
    /// The directory in which it runs, relative to the workspace root; empty for the root itself.
    pub directory: String,
}

/// What a run left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishedRun<'a> {
    /// The exit status; `None` where a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, where that is known.
    pub signal: Option<i32>,
    /// What it wrote to its standard output.
    pub stdout: &'a str,
    /// What it wrote to its standard error.
    pub stderr: &'a str,
    /// Files in its report directory, by name.
    pub reports: &'a [ReportFile],
    /// What of those files was not read, and why; none where all of it was.
    pub left_out: Option<&'a str>,
    /// Whether `stdout` or `stderr` is not whole.
    pub is_cut: bool,
}

/// A file in the directory of reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFile {
    /// Its name, without the directory.
    pub name: String,
    /// Its text; bytes that are not UTF-8 are replaced.
    pub text: String,
}
