//! How threads share the directories of a scan.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use super::directory::add;
use super::order::ScanOrdering;
use super::{DirectoryTask, ScanTerms, ScannedDirectory, ScannedTree};
use crate::error::Error;
use crate::root::Workspace;
use crate::threads;

/// Other threads help where so many directories are waiting: for a few they take longer to start.
const SHARED_FROM: usize = 8;

/// A scan on its threads.
pub(super) struct ScanSharing<'a> {
    workspace: &'a Workspace,
    terms: ScanTerms<'a>,
    state: Mutex<ScanState>,
    changed: Condvar,
}

/// How far a scan is.
struct ScanState {
    /// Directories that nobody has taken yet, each with its number.
    waiting: Vec<(u32, DirectoryTask)>,
    /// By their numbers; none for those that are not read yet or cannot be.
    directories: Vec<Option<ScannedDirectory>>,
    /// How many threads are reading directories.
    at_work: usize,
    /// How many entries were come to.
    entries: usize,
    /// Nobody is to take another directory.
    has_ended: bool,
    is_cancelled: bool,
}

/// A thread is reading a directory; that it does no longer is noted however it ends.
struct AtWork<'a>(&'a ScanSharing<'a>);

// === impl ScanSharing ===

impl<'a> ScanSharing<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        terms: ScanTerms<'a>,
        first: ScannedDirectory,
        beneath: Vec<DirectoryTask>,
    ) -> Self {
        let mut state = ScanState {
            waiting: Vec::new(),
            directories: vec![None],
            at_work: 0,
            entries: 0,
            has_ended: false,
            is_cancelled: false,
        };
        state.note(0, first, beneath, terms.entries_max);
        Self { workspace, terms, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Reads the directories, until no directory is left or more entries than wanted.
    pub(super) fn run(&self) -> Result<(), Error> {
        self.read_until(|state| state.waiting.len() >= SHARED_FROM);
        let is_shared = !self.lock().waiting.is_empty();
        if is_shared {
            threads::share(&|| self.read_until(|_| false));
        }
        if self.lock().is_cancelled { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Puts what was found into order. Directories that an ended scan did not come to and that are
    /// before its end in that order are read now.
    pub(super) fn into_tree(self) -> Result<ScannedTree, Error> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let waiting: HashMap<u32, DirectoryTask> = state.waiting.into_iter().collect();
        ScanOrdering::new(self.workspace, self.terms, state.directories, waiting).run()
    }

    fn read_until(&self, is_enough: impl Fn(&ScanState) -> bool) {
        let mut state = self.lock();
        loop {
            if state.has_ended || is_enough(&state) {
                return;
            }
            let Some((number, task)) = state.waiting.pop() else {
                if state.at_work == 0 {
                    return;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.at_work += 1;
            drop(state);
            let at_work = AtWork(self);
            let read = self.workspace.scan_directory(task, self.terms);
            state = self.lock();
            match read {
                Ok((found, beneath)) => {
                    state.note(number, found, beneath, self.terms.entries_max);
                }
                Err(Errno::CANCELED) => {
                    state.is_cancelled = true;
                    state.has_ended = true;
                }
                // What is missing is counted with the directory that holds it.
                Err(_) => {}
            }
            drop(state);
            drop(at_work);
            state = self.lock();
        }
    }

    fn lock(&self) -> MutexGuard<'_, ScanState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl ScanState ===

impl ScanState {
    fn note(
        &mut self,
        number: u32,
        mut found: ScannedDirectory,
        beneath: Vec<DirectoryTask>,
        entries_max: usize,
    ) {
        self.entries += found.entries.len();
        self.has_ended |= self.entries > entries_max;
        found.beneath = add(&mut self.directories, beneath.len());
        // The one that is taken next is the last.
        let waits_from = self.waiting.len();
        self.waiting.extend((found.beneath..).zip(beneath));
        self.waiting[waits_from..].reverse();
        self.directories[number as usize] = Some(found);
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.at_work -= 1;
        // The others are not to wait for what does not come.
        state.has_ended |= std::thread::panicking();
        self.0.changed.notify_all();
    }
}
