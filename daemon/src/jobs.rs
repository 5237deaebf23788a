//! Commands that run in the background: whose they are, what they wrote, how they ended.
//!
//! A job belongs to the caller that started it; others learn nothing of it, approvers see all. It ends with
//! the daemon. How many run and how many that ended are kept is bounded.

mod job;
mod log;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moss_sdk::{ErrorCode, ToolError};

pub use self::job::{BackgroundJob, JobFacts};
use moss_dispatch::Caller;

/// Most jobs of one caller that run at once.
pub const CALLER_RUNNING_MAX: usize = 16;
/// Most jobs that run at once.
pub const RUNNING_MAX: usize = 64;
/// Most jobs that ended and are still listed, of each caller; the oldest go first.
const CALLER_ENDED_MAX: usize = 16;
/// Most of all callers.
const ENDED_MAX: usize = 128;
/// Digits of an id.
const ID_DIGITS: usize = 8;

/// The jobs of a daemon.
#[derive(Debug, Default)]
pub struct Jobs {
    is_open: AtomicBool,
    table: Mutex<JobTable>,
}

#[derive(Debug, Default)]
struct JobTable {
    /// By the order in which they were started.
    jobs: BTreeMap<u64, Arc<BackgroundJob>>,
    started: u64,
    /// How many jobs run or are being started, by caller.
    running: BTreeMap<String, usize>,
}

/// Room for one running job of a caller, given back when this is dropped.
#[derive(Debug)]
pub struct JobRoom {
    jobs: Arc<Jobs>,
    caller: String,
}

/// Makes the error for a job that is not there, or is somebody else's.
pub fn unknown(id: &str) -> ToolError {
    let message = format!("there is no job `{id}`");
    ToolError::new(ErrorCode::NotFound, message)
        .hint("`list` shows your jobs; they end with the daemon, and those that ended go in time")
}

// === impl Jobs ===

impl Jobs {
    /// Lets jobs be started: this daemon lives on after the call.
    pub fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }

    /// Whether this process lives on after a call.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Takes room for a job.
    ///
    /// # Errors
    ///
    /// `LimitExceeded` where no slot is free, or this process ends with the call.
    pub fn admit(self: &Arc<Self>, caller: &str) -> Result<JobRoom, ToolError> {
        if !self.is_open() {
            let message = "jobs belong to a daemon, and none serves this workspace";
            return Err(ToolError::new(ErrorCode::LimitExceeded, message)
                .hint("start `moss serve`, or leave out `is_background`"));
        }
        let mut table = self.lock();
        let all: usize = table.running.values().sum();
        let own = table.running.get(caller).copied().unwrap_or_default();
        if own >= CALLER_RUNNING_MAX || all >= RUNNING_MAX {
            let message = format!(
                "{own} of your jobs run, {all} in all; the limits are {CALLER_RUNNING_MAX} and {RUNNING_MAX}"
            );
            return Err(ToolError::new(ErrorCode::LimitExceeded, message)
                .hint("stop one with `terminal_job`, action `stop`"));
        }
        table.running.insert(caller.to_owned(), own + 1);
        Ok(JobRoom { jobs: Arc::clone(self), caller: caller.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, JobTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the id of a new job: short enough to be typed.
    pub fn id() -> String {
        let mut id = crate::ids::random();
        id.truncate(ID_DIGITS);
        id
    }

    /// Lists a job from now on.
    pub(crate) fn add(&self, job: &Arc<BackgroundJob>) {
        let mut table = self.lock();
        table.started += 1;
        let number = table.started;
        table.jobs.insert(number, Arc::clone(job));
        let of_caller = |job: &Arc<BackgroundJob>, caller: &str| job.facts.caller.name() == caller;
        let caller = job.facts.caller.name();
        table.forget(CALLER_ENDED_MAX, |job| of_caller(job, caller));
        table.forget(ENDED_MAX, |_| true);
    }

    /// The jobs that a caller sees, in one workspace or in all, in the order of their start.
    pub fn list(&self, caller: &Caller, workspace: Option<&str>) -> Vec<Arc<BackgroundJob>> {
        let table = self.lock();
        let seen = table.jobs.values().filter(|job| {
            job.is_seen_by(caller) && workspace.is_none_or(|root| root == job.facts.workspace)
        });
        seen.cloned().collect()
    }

    /// Finds a job that a caller sees.
    ///
    /// # Errors
    ///
    /// `NotFound` also where it is somebody else's.
    pub fn find(
        &self,
        id: &str,
        caller: &Caller,
        workspace: Option<&str>,
    ) -> Result<Arc<BackgroundJob>, ToolError> {
        let found = self.list(caller, workspace).into_iter().find(|job| job.facts.id == id);
        found.ok_or_else(|| unknown(id))
    }
}

// === impl JobTable ===

impl JobTable {
    /// Removes the oldest of some jobs that ended, until so many are left.
    fn forget(&mut self, ended_max: usize, is_meant: impl Fn(&Arc<BackgroundJob>) -> bool) {
        let ended = self.jobs.iter().filter(|(_, job)| is_meant(job) && job.has_ended());
        let mut ended: Vec<u64> = ended.map(|(number, _)| *number).collect();
        ended.truncate(ended.len().saturating_sub(ended_max));
        ended.iter().for_each(|number| drop(self.jobs.remove(number)));
    }
}

// === impl JobRoom ===

impl Drop for JobRoom {
    fn drop(&mut self) {
        let mut table = self.jobs.lock();
        if let Some(running) = table.running.get_mut(&self.caller) {
            *running = running.saturating_sub(1);
            if *running == 0 {
                table.running.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_started_where_a_daemon_lives_on_and_in_bounds() {
        let jobs = Arc::new(Jobs::default());
        assert_eq!(jobs.admit("a").unwrap_err().code, ErrorCode::LimitExceeded);
        jobs.open();
        let mut rooms: Vec<_> = (0..CALLER_RUNNING_MAX).map(|_| jobs.admit("a").unwrap()).collect();
        assert_eq!(jobs.admit("a").unwrap_err().code, ErrorCode::LimitExceeded);
        rooms.push(jobs.admit("b").unwrap());
        rooms.remove(0);
        rooms.push(jobs.admit("a").unwrap());
        for caller in ["c", "d", "e", "f"] {
            rooms.extend((0..CALLER_RUNNING_MAX).map_while(|_| jobs.admit(caller).ok()));
        }
        assert_eq!(rooms.len(), RUNNING_MAX);
        drop(rooms);
        assert!(jobs.lock().running.is_empty());
    }
}
