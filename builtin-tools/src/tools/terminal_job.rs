//! `terminal_job`: commands that `run_terminal_cmd` left running.

use std::time::Duration;

use moss_sdk::context::Context;
use moss_sdk::job::{JobReport, JobRequest};
use moss_sdk::{Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::run_terminal_cmd::working_directory;

/// How long is waited where the call does not say.
const WAIT_DEFAULT: Duration = Duration::from_secs(30);
/// Longest wait of one call.
const WAIT_MAX: Duration = Duration::from_secs(600);
/// Longest text that is written or waited for, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Follows commands that `run_terminal_cmd` started with `is_background`. You see your own jobs; they end
/// with moss.
///
/// `start` starts one in a terminal of its own, for programs that want one: prompts, REPLs, progress bars.
/// `list` shows them. `output` shows what one wrote, standard output and standard error together: the end of
/// it, or from the byte `since` on. `wait` waits until the job writes `text`, or has ended. `write` writes
/// `text` to its standard input, or types it in its terminal, which is shown to a person first. `stop` ends it with all that it started:
/// SIGTERM, two seconds later SIGKILL.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TerminalJob {
    /// What to do.
    action: JobAction,
    /// The id of the job, as `run_terminal_cmd`, `start` or `list` returns it. Needed for all but these.
    #[serde(default)]
    job: Option<String>,
    /// With `start`: the command for bash, such as `python3`. At most 64 KiB.
    #[serde(default)]
    command: Option<String>,
    /// With `start`: the directory to run it in, relative to the workspace root. Default: the root.
    #[serde(default)]
    cwd: Option<String>,
    /// With `output` and `wait`: the byte of the output to begin at, such as `next` of the call before.
    /// Default: for `output` the last 24 KiB, for `wait` the beginning.
    #[serde(default)]
    since: Option<u64>,
    /// With `wait`: the text to wait for, as it is written; without one, the end is waited for. With `write`:
    /// what to write, with its line break. At most 64 KiB.
    #[serde(default)]
    text: Option<String>,
    /// With `write`: whether to close standard input afterwards. Default: false.
    #[serde(default)]
    close: bool,
    /// With `wait`: the longest wait, in milliseconds. At most 600000. Default: 30000.
    #[serde(default)]
    timeout_ms: Option<u64>,
}

/// What is done with jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum JobAction {
    Start,
    List,
    Output,
    Wait,
    Write,
    Stop,
}

impl Tool for TerminalJob {
    const NAME: &'static str = "terminal_job";
    const TITLE: &'static str = "Follow a background command";
    const EFFECT: Effect = Effect::Exec;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] =
        &[("job", &["id", "job_id", "jobId"]), ("timeout_ms", &["timeoutMs"])];
    type Output = JobReport;

    async fn run(self, cx: Context) -> Result<JobReport, ToolError> {
        let directory = working_directory(&cx, self.cwd.as_deref())?;
        cx.job(self.request(directory)?).await
    }
}

fn refused(message: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}

// === impl TerminalJob ===

impl TerminalJob {
    fn request(self, directory: RelPath) -> Result<JobRequest, ToolError> {
        let Self { action, job, command, cwd: _, since, text, close, timeout_ms } = self;
        if action == JobAction::Start {
            let command =
                command.filter(|command| !command.trim().is_empty()).ok_or_else(|| {
                    refused("`command` is missing".to_owned())
                        .hint("give a command for bash, such as `python3`")
                })?;
            if command.len() > TEXT_BYTES_MAX || command.contains('\0') {
                let message = format!("`command` has a NUL, or more than {TEXT_BYTES_MAX} bytes");
                return Err(refused(message).hint("write a script with create_file and run that"));
            }
            return Ok(JobRequest::Start { command, directory });
        }
        if action == JobAction::List {
            return Ok(JobRequest::List);
        }
        let job = job.filter(|job| !job.is_empty()).ok_or_else(|| {
            refused("`job` is missing".to_owned()).hint("`list` shows the ids of your jobs")
        })?;
        let text = text.filter(|text| !text.is_empty());
        if let Some(bytes) = text.as_ref().map(String::len).filter(|bytes| *bytes > TEXT_BYTES_MAX)
        {
            let message = format!("`text` has {bytes} bytes; the limit is {TEXT_BYTES_MAX}");
            return Err(refused(message).hint("use several calls"));
        }
        Ok(match action {
            JobAction::Start | JobAction::List => JobRequest::List,
            JobAction::Output => JobRequest::Output { job, since },
            JobAction::Wait => {
                let timeout = timeout_ms.map_or(WAIT_DEFAULT, Duration::from_millis);
                JobRequest::Wait { job, since, text, timeout: timeout.min(WAIT_MAX) }
            }
            JobAction::Write if text.is_none() && !close => {
                return Err(refused("there is nothing to write".to_owned())
                    .hint("give `text`, with its line break, or set `close`"));
            }
            JobAction::Write => JobRequest::Write { job, text: text.unwrap_or_default(), close },
            JobAction::Stop => JobRequest::Stop { job },
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use moss_sdk::testing::MemoryHost;
    use moss_sdk::tool::erased;

    #[test]
    fn every_action_is_one_request() {
        let host = MemoryHost::default();
        let tool = erased::<TerminalJob>();
        let job = || "a1".to_owned();
        for (arguments, expected) in [
            (json!({"action": "list"}), JobRequest::List),
            (
                json!({"action": "start", "command": "python3", "cwd": "src/"}),
                JobRequest::Start {
                    command: "python3".to_owned(),
                    directory: RelPath::parse("src").unwrap(),
                },
            ),
            (
                json!({"action": "output", "job": "a1", "since": 7}),
                JobRequest::Output { job: job(), since: Some(7) },
            ),
            (
                json!({"action": "wait", "job": "a1", "text": "ready", "timeout_ms": 9_000_000}),
                JobRequest::Wait {
                    job: job(),
                    since: None,
                    text: Some("ready".to_owned()),
                    timeout: WAIT_MAX,
                },
            ),
            (
                json!({"action": "wait", "job": "a1", "text": ""}),
                JobRequest::Wait { job: job(), since: None, text: None, timeout: WAIT_DEFAULT },
            ),
            (
                json!({"action": "write", "job": "a1", "text": "y\n"}),
                JobRequest::Write { job: job(), text: "y\n".to_owned(), close: false },
            ),
            (
                json!({"action": "write", "job": "a1", "close": true}),
                JobRequest::Write { job: job(), text: String::new(), close: true },
            ),
            (json!({"action": "stop", "job": "a1"}), JobRequest::Stop { job: job() }),
        ] {
            host.call(&*tool, arguments.clone()).unwrap();
            assert_eq!(host.job_requests().last(), Some(&expected), "{arguments}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_to_do() {
        let host = MemoryHost::default();
        let tool = erased::<TerminalJob>();
        for arguments in [
            json!({"action": "start"}),
            json!({"action": "start", "command": " "}),
            json!({"action": "output"}),
            json!({"action": "stop", "job": ""}),
            json!({"action": "write", "job": "a1"}),
            json!({"action": "write", "job": "a1", "text": "x".repeat(TEXT_BYTES_MAX + 1)}),
        ] {
            let error = host.call(&*tool, arguments).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArguments);
            assert!(error.hint.is_some(), "{error}");
        }
        assert!(host.job_requests().is_empty());
    }
}
