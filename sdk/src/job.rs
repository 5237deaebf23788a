//! Commands that run in the background: what a tool asks about them, and what it learns.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command::ReportedSandbox;
use crate::path::RelPath;

/// What a tool wants of the jobs of its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobRequest {
    /// The jobs of the caller, ended ones included.
    List,
    /// To start one with a terminal of its own.
    Start {
        /// A text for bash.
        command: String,
        /// The directory in which it runs.
        directory: RelPath,
    },
    /// What one has written so far.
    Output {
        /// As the call that started it returned it.
        job: String,
        /// From this byte on; the end of it where none is given.
        since: Option<u64>,
    },
    /// To wait until one writes a text, or has ended.
    Wait {
        /// As the call that started it returned it.
        job: String,
        /// From this byte on.
        since: Option<u64>,
        /// The text; none to wait for the end alone.
        text: Option<String>,
        /// After this time the job goes on and the call ends.
        timeout: Duration,
    },
    /// To write to the standard input of one.
    Write {
        /// As the call that started it returned it.
        job: String,
        /// Sent as it is: a line end is part of it.
        text: String,
        /// Whether the input is closed after it.
        close: bool,
    },
    /// To end one, with every process that it started.
    Stop {
        /// As the call that started it returned it.
        job: String,
    },
}

/// What a tool learns of jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobReport {
    /// The job; with `list` all that run, and those that ended last.
    pub jobs: Vec<JobStatus>,
    /// What it wrote, standard output and standard error in the order in which they came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<JobOutput>,
    /// With `wait` and a `text`: whether it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<bool>,
    /// What else there is to say, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A command that runs in the background, or did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobStatus {
    /// Names it in later calls, such as `output` and `stop`.
    pub job: String,
    /// The text for bash that it runs.
    pub command: String,
    /// The directory in which it runs, relative to the workspace root.
    pub cwd: String,
    /// Who started it: others do not learn of it.
    pub caller: String,
    /// Whether it still runs.
    pub running: bool,
    /// The exit status; null while it runs, and where a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it; null while it runs, and where it exited by itself.
    pub signal: Option<i32>,
    /// When it was started, in RFC 3339.
    pub started_at: String,
    /// How long it ran, or has been running, in milliseconds.
    pub duration_ms: u64,
    /// How many bytes it wrote.
    pub output_bytes: u64,
    /// What it seems to wait for: its last line, where that looks like a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// How it is isolated.
    #[serde(default)]
    pub sandbox: ReportedSandbox,
    /// Why it ended, where it did not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
    /// The name of its whole output, where that is more than is held in memory: read_file reads it by that
    /// path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    /// What else there is to say, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A part of what a job wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobOutput {
    /// From `since` up to `next`.
    pub text: String,
    /// The byte at which it begins.
    pub since: u64,
    /// The byte behind it: `since` of the next call reads on.
    pub next: u64,
    /// Whether there is more already.
    pub more: bool,
}
