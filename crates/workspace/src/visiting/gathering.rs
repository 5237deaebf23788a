//! How threads share the files of a scan, and how what they find comes together in its order.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use moss_sdk::context::TextVisitor;
use moss_sdk::file::{SkippedTexts, VisitOptions, Visited};

use super::plan::{KnownRun, ReadingPlan};
use super::reading::{ReadOutcome, TextReading};
use crate::error::Error;
use crate::gate::VisitGate;
use crate::root::Workspace;
use crate::scan::ScannedTree;
use crate::threads;

/// Most files that are taken at once, and in how many turns the files are taken where they are fewer.
const BATCH_FILES_MAX: usize = 16;
const BATCHES: usize = 64;
/// So long one thread reads alone: others take about as long to start.
const ALONE: Duration = Duration::from_micros(100);
/// Most batches that are ahead of the one that is gathered next.
const AHEAD_MAX: usize = 256;

/// What became of a few files, each with those that were not read before it.
type BatchOutcomes = Vec<(KnownRun, ReadOutcome)>;

/// A walk over texts on its threads.
pub(super) struct TextGathering<'a> {
    workspace: &'a Workspace,
    gate: VisitGate<'a>,
    tree: &'a ScannedTree,
    plan: ReadingPlan,
    /// So many files are taken at once.
    batch_files: usize,
    bytes_max: u64,
    state: Mutex<GatheringState<'a>>,
    changed: Condvar,
    /// Nobody is to read another file.
    has_ended: AtomicBool,
}

/// What the threads share: the visitor, and how far it has come.
struct GatheringState<'a> {
    visitor: &'a mut dyn TextVisitor,
    /// How many of the files to read were taken.
    next: usize,
    /// How many batches were gathered.
    gathered: usize,
    /// The batches behind them, as far as they were read.
    ahead: VecDeque<Option<BatchOutcomes>>,
    /// How many findings are in them.
    findings: usize,
    bytes_read: u64,
    visited: Visited,
    is_cancelled: bool,
}

/// Ends the walk where its thread panics, so that no other waits for what does not come.
struct EndOnPanic<'a, 'b>(&'a TextGathering<'b>);

// === impl TextGathering ===

impl<'a> TextGathering<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        gate: VisitGate<'a>,
        (tree, plan): (&'a ScannedTree, ReadingPlan),
        options: VisitOptions,
        visitor: &'a mut dyn TextVisitor,
    ) -> Self {
        let visited = Visited { files: 0, skipped: tree.skipped, truncated: tree.truncated };
        let state = GatheringState {
            visitor,
            next: 0,
            gathered: 0,
            ahead: VecDeque::new(),
            findings: 0,
            bytes_read: 0,
            visited,
            is_cancelled: false,
        };
        Self {
            workspace,
            gate,
            tree,
            batch_files: (plan.reads.len() / BATCHES).clamp(1, BATCH_FILES_MAX),
            plan,
            bytes_max: options.bytes_max,
            state: Mutex::new(state),
            changed: Condvar::new(),
            has_ended: AtomicBool::new(false),
        }
    }

    pub(super) fn run(self) -> Result<Visited, Error> {
        if (self.gate.cancelled)() && self.tree.len() > 0 {
            return Err(Error::Cancelled);
        }
        if !self.plan.reads.is_empty() {
            self.read_all();
        }
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if state.is_cancelled {
            return Err(Error::Cancelled);
        }
        if !self.has_ended.into_inner() {
            self.plan.rest.count(&mut state.visited);
        }
        Ok(state.visited)
    }

    /// Reads the files, with the help of other threads where that takes longer than a moment.
    fn read_all(&self) {
        let started = Instant::now();
        let mut reading = self.reading();
        self.read_files(&mut reading, &|| started.elapsed() > ALONE);
        if !self.is_all_taken(&self.lock()) {
            // One of the threads continues what this one has begun with.
            let begun = Mutex::new(Some(reading));
            threads::share(&|| {
                let begun = begun.lock().unwrap_or_else(PoisonError::into_inner).take();
                let mut reading = begun.unwrap_or_else(|| self.reading());
                self.read_files(&mut reading, &|| false);
            });
        }
    }

    fn reading(&self) -> TextReading<'a> {
        let scanner = self.lock().visitor.scanner();
        TextReading::new(self.workspace, self.gate, self.tree, scanner)
    }

    fn read_files(&self, reading: &mut TextReading<'_>, is_enough: &dyn Fn() -> bool) {
        let _end = EndOnPanic(self);
        while !is_enough()
            && let Some((number, reads)) = self.take()
        {
            let mut batch = Vec::with_capacity(reads.len());
            for at in reads {
                if self.has_ended.load(Ordering::Relaxed) {
                    return;
                }
                let (read, next) = (&self.plan.reads[at], &self.plan.reads[at + 1..]);
                let known = read.in_parts.map(|at| &self.plan.parts[at as usize]);
                batch.push((read.before, reading.read(read.file, known, next)));
            }
            self.give(number, batch);
        }
    }

    fn is_all_taken(&self, state: &GatheringState<'_>) -> bool {
        self.has_ended.load(Ordering::Relaxed) || state.next == self.plan.reads.len()
    }

    /// Takes the next batch of files to read: its number, and theirs among them.
    fn take(&self) -> Option<(usize, Range<usize>)> {
        let mut state = self.lock();
        loop {
            if self.is_all_taken(&state) {
                return None;
            }
            let number = state.next / self.batch_files;
            let ahead = number - state.gathered;
            let has_room = state.findings < state.visitor.findings_max();
            // Whoever reads the batch that is gathered next waits for nobody.
            if ahead < AHEAD_MAX && (has_room || ahead == 0) {
                let end = (state.next + self.batch_files).min(self.plan.reads.len());
                let reads = state.next..end;
                state.next = end;
                state.ahead.push_back(None);
                return Some((number, reads));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Hands in a batch that was read, and gathers what is next.
    fn give(&self, number: usize, batch: BatchOutcomes) {
        let mut state = self.lock();
        let is_finding = |(_, outcome): &&(KnownRun, ReadOutcome)| {
            matches!(outcome, ReadOutcome::Scanned(_, Some(_)))
        };
        state.findings += batch.iter().filter(is_finding).count();
        let at = number - state.gathered;
        state.ahead[at] = Some(batch);
        while let Some(batch) = state.ahead.front_mut().and_then(Option::take) {
            state.ahead.pop_front();
            state.gathered += 1;
            state.findings -= batch.iter().filter(is_finding).count();
            for (before, outcome) in batch {
                if self.has_ended.load(Ordering::Relaxed) {
                    break;
                }
                before.count(&mut state.visited);
                if !state.gather(outcome, self.bytes_max) {
                    self.has_ended.store(true, Ordering::Relaxed);
                }
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, GatheringState<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl GatheringState ===

impl GatheringState<'_> {
    /// Takes what became of the next file; returns whether the walk goes on.
    fn gather(&mut self, outcome: ReadOutcome, bytes_max: u64) -> bool {
        let SkippedTexts { binary, too_large, unreadable, .. } = &mut self.visited.skipped;
        match outcome {
            ReadOutcome::Scanned(size_bytes, finding) => {
                self.visited.files += 1;
                self.bytes_read += size_bytes;
                if finding.is_some_and(|finding| self.visitor.gather(finding).is_break()) {
                    return false;
                }
                let is_past = self.bytes_read > bytes_max;
                self.visited.truncated |= is_past;
                return !is_past;
            }
            ReadOutcome::Gone => {}
            ReadOutcome::Binary => *binary += 1,
            ReadOutcome::TooLarge => *too_large += 1,
            ReadOutcome::Unreadable => *unreadable += 1,
            ReadOutcome::Cancelled => {
                self.is_cancelled = true;
                return false;
            }
        }
        true
    }
}

// === impl EndOnPanic ===

impl Drop for EndOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.has_ended.store(true, Ordering::Relaxed);
            // Nobody checks and then waits meanwhile.
            drop(self.0.lock());
            self.0.changed.notify_all();
        }
    }
}
