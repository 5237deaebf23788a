//! One command in the background: what it wrote, what it is written, how it ends.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use moss_sandbox::{
    CommandEnd, CommandInput, EndCause, InputError, ProcessExit, RUNS_ON, Stopper, WholeInput,
};
use moss_sdk::command::ReportedSandbox;
use moss_sdk::job::{JobOutput, JobStatus};
use moss_sdk::{ErrorCode, RelPath, ToolError};
use tokio::sync::watch;

use super::log::JobLog;
use moss_dispatch::blocking::blocking;
use moss_dispatch::{Caller, Role};
use moss_sandbox::TextSearch;

/// Longest wait for a job that reads nothing of what is written to it.
const WRITE_MAX: Duration = Duration::from_secs(5);

/// What is known of a job when it starts.
#[derive(Debug)]
pub struct JobFacts {
    /// Its id, which names it alone.
    pub id: String,
    /// The call that started it.
    pub call_id: String,
    /// The tool of that call.
    pub tool: String,
    /// Root directory of its workspace.
    pub workspace: String,
    /// The text for the shell, as the caller gave it.
    pub command: String,
    /// The directory in which it runs.
    pub directory: RelPath,
    /// Who started it: the one caller, beside approvers, who may follow and stop it.
    pub caller: Caller,
    /// How it is isolated.
    pub sandbox: ReportedSandbox,
    /// Whether nobody could know what it does: then nobody knows what it makes of its input, either.
    pub is_unclear: bool,
    /// When the command was started.
    pub started_at: Timestamp,
}

/// What a result says of the output of one that has ended.
struct FoundInOutput {
    /// Names of variables that it was not given.
    environment_removed: Vec<String>,
    /// What its git did not find.
    what_git_misses: Option<String>,
}

/// One command in the background.
#[derive(Debug)]
pub struct BackgroundJob {
    /// What is known from the start and never changes.
    pub facts: JobFacts,
    started: Instant,
    state: Mutex<JobState>,
    /// Gets all that it writes, and its end.
    changed: watch::Sender<()>,
    stopper: Stopper,
    pub(crate) input: WholeInput,
}

#[derive(Debug, Default)]
struct JobState {
    log: JobLog,
    /// Names of variables that it was not given: those in its command, and from its end on in what it wrote.
    environment_removed: Vec<String>,
    artifact: Option<String>,
    notes: Vec<String>,
    ended_by: Option<String>,
    end: Option<JobEnd>,
}

/// How a job ended.
#[derive(Debug, Clone, Copy)]
struct JobEnd {
    exit_code: Option<i32>,
    signal: Option<i32>,
    duration: Duration,
}

// === impl BackgroundJob ===

impl BackgroundJob {
    /// Makes one of a command that runs.
    pub(crate) fn new(facts: JobFacts, stopper: Stopper, input: Option<CommandInput>) -> Self {
        let environment_removed = facts.sandbox.environment_removed.clone();
        let state = JobState { environment_removed, ..JobState::default() };
        Self {
            facts,
            started: Instant::now(),
            state: Mutex::new(state),
            changed: watch::Sender::new(()),
            stopper,
            input: WholeInput::new(input),
        }
    }

    fn lock(&self) -> MutexGuard<'_, JobState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_seen_by(&self, caller: &Caller) -> bool {
        self.facts.caller.is_same(caller) || caller.role() == Role::Approver
    }

    /// Whether it runs no more.
    pub fn has_ended(&self) -> bool {
        self.lock().end.is_some()
    }

    /// How it is doing.
    pub fn status(&self) -> JobStatus {
        let state = self.lock();
        let facts = &self.facts;
        let duration = state.end.map_or_else(|| self.started.elapsed(), |end| end.duration);
        JobStatus {
            job: facts.id.clone(),
            command: facts.command.clone(),
            cwd: facts.directory.to_string(),
            caller: facts.caller.name().to_owned(),
            running: state.end.is_none(),
            exit_code: state.end.and_then(|end| end.exit_code),
            signal: state.end.and_then(|end| end.signal),
            started_at: facts.started_at.to_string(),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            output_bytes: state.log.total(),
            asks: state.log.prompt().filter(|_| state.end.is_none()),
            sandbox: ReportedSandbox {
                environment_removed: state.environment_removed.clone(),
                ..facts.sandbox.clone()
            },
            ended_by: state.ended_by.clone().filter(|_| state.end.is_some()),
            artifact: state.artifact.clone(),
            notes: state.notes.clone(),
        }
    }

    /// What it wrote from a byte on, or the end of it, with what there is to say about that.
    pub fn output(&self, since: Option<u64>) -> (JobOutput, Option<String>) {
        let state = self.lock();
        let held_from = state.log.held_from();
        let is_gone = since.is_some_and(|since| since < held_from);
        let note = is_gone.then(|| {
            let all = state.artifact.as_ref();
            let all = all.map(|path| format!(": read_file reads all of it as {path}"));
            format!(
                "what it wrote before byte {held_from} is not in memory{}",
                all.unwrap_or_default()
            )
        });
        (state.log.read(since, state.end.is_some()), note)
    }

    /// Waits until it wrote a text from a byte on, or has ended. Returns whether the text came.
    pub async fn wait_for(&self, text: Option<&str>, since: u64) -> bool {
        let mut changed = self.changed.subscribe();
        let mut search = text.map(|text| TextSearch::new(text, since));
        loop {
            changed.mark_unchanged();
            let (has_ended, new) = {
                let state = self.lock();
                let new = search.as_ref().map(|search| state.log.rest(search.next()));
                (state.end.is_some(), new)
            };
            if let Some((mut searching, (from, bytes))) = search.take().zip(new) {
                // Others wait for neither the lock nor this thread meanwhile.
                let look = move || (searching.has_come(from, &bytes), searching);
                match blocking(look).await {
                    Ok((false, searching)) => search = Some(searching),
                    found => return found.is_ok(),
                }
            }
            if has_ended || changed.changed().await.is_err() {
                return false;
            }
        }
    }

    /// Waits until it wrote more than so many bytes, or has ended.
    pub async fn wait_beyond(&self, bytes: u64) {
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            {
                let state = self.lock();
                if state.end.is_some() || state.log.total() > bytes {
                    return;
                }
            }
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    /// Ends it with all that it started, and remembers why. The first reason stays.
    pub fn stop(&self, why: &str) {
        {
            let mut state = self.lock();
            if state.end.is_none() {
                state.ended_by.get_or_insert_with(|| why.to_owned());
            }
        }
        self.stopper.terminate();
    }

    /// Writes a text to its standard input, whole and after all texts before it, and closes that where it is to be closed.
    ///
    /// # Errors
    ///
    /// `Conflict` where it has ended or reads no more; `Timeout` where it reads nothing; `InvalidArguments` where its
    /// terminal would cut a line.
    pub async fn write(&self, text: &str, close: bool) -> Result<(), ToolError> {
        let written = self.input.write(text, close, WRITE_MAX).await;
        written.map_err(|error| self.not_written(&error))
    }

    /// The error of a text that was not written.
    pub(crate) fn not_written(&self, error: &InputError) -> ToolError {
        let (code, hint) = match error {
            InputError::Closed => {
                (ErrorCode::Conflict, "`output` shows what it wrote last, and how it ended")
            }
            InputError::Unread => {
                (ErrorCode::Timeout, "wait for what it does to end, then write the text again")
            }
            InputError::Late { .. } => (ErrorCode::Timeout, "do not write the rest again"),
            InputError::LongLine(_) => (
                ErrorCode::InvalidArguments,
                "write it to a file with create_file and type what reads that, or use several lines",
            ),
        };
        ToolError::new(code, format!("the job {} {error}", self.facts.id)).hint(hint)
    }

    /// Takes what it wrote. Returns what is to be written to the artifact.
    pub(crate) fn push(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let spilled = self.lock().log.push(bytes);
        self.changed.send_replace(());
        spilled
    }

    pub(crate) fn note(&self, note: String) {
        self.lock().notes.push(note);
    }

    pub(crate) fn keep_in(&self, artifact: &str) {
        self.lock().artifact = Some(artifact.to_owned());
    }

    /// Closes its standard input and keeps how it ended, or why that cannot be known.
    pub(crate) async fn end(&self, end: Result<CommandEnd, String>) {
        self.input.close().await;
        let found = match &end {
            Ok(end) => self.find_in_output(end).await,
            Err(_) => None,
        };
        {
            let mut state = self.lock();
            let duration = self.started.elapsed();
            let (exit_code, signal) = match end.as_ref().map(|end| end.exit) {
                Ok(ProcessExit::Exited(code)) => (Some(code), None),
                Ok(ProcessExit::Killed(signal)) => (None, Some(signal)),
                Err(_) => (None, None),
            };
            match end {
                Ok(end) => state.note_end(&end, found),
                Err(problem) => {
                    state.ended_by.get_or_insert(problem);
                }
            }
            state.end = Some(JobEnd { exit_code, signal, duration });
        }
        self.changed.send_replace(());
    }

    /// Looks through what it wrote. Others wait for neither the lock nor this thread meanwhile.
    async fn find_in_output(&self, end: &CommandEnd) -> Option<FoundInOutput> {
        let (_, written) = self.lock().log.rest(0);
        let (facts, command) = (end.facts.clone(), self.facts.command.clone());
        let look = move || {
            let written = String::from_utf8_lossy(&written);
            FoundInOutput {
                environment_removed: facts.removed_in(&[&command, &written]),
                what_git_misses: facts.what_git_misses([&written, ""]),
            }
        };
        blocking(look).await.ok()
    }
}

// === impl JobState ===

impl JobState {
    fn note_end(&mut self, end: &CommandEnd, found: Option<FoundInOutput>) {
        if let Some(found) = found {
            self.environment_removed = found.environment_removed;
            self.notes.extend(found.what_git_misses);
        }
        match end.cause {
            EndCause::Limit(limit) => {
                self.ended_by.get_or_insert_with(|| format!("a limit: {limit}"));
            }
            EndCause::Ended => self.ended_by = None,
            EndCause::Stopped | EndCause::Timeout | EndCause::Disturbed => {}
        }
        if let Some(disturbance) = &end.disturbance {
            self.ended_by.get_or_insert_with(|| disturbance.to_string());
        }
        let names = |paths: &[PathBuf]| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        };
        if end.left_running_count > 0 {
            let count = end.left_running_count;
            self.notes.push(format!("{count} processes were left running, and ended"));
        }
        if end.may_run_on {
            self.notes.push(RUNS_ON.to_owned());
        }
        self.notes.extend(end.facts.what_git_left([""; 2]));
        self.notes.extend(end.what_git_still_leaves());
        self.notes.extend(end.what_git_lost());
        self.notes.extend(end.what_changed_elsewhere());
        if !end.restored.is_empty() {
            let restored = names(&end.restored);
            self.notes.push(format!("protected files that it changed are as before: {restored}"));
        }
        if !end.changed.is_empty() {
            let changed = names(&end.changed);
            self.notes
                .push(format!("protected files that it changed could not be restored: {changed}"));
        }
    }
}
