//! How a scan of a text looks, now and then, whether anybody still waits for it: in steps, or, where nothing can end it
//! in one, in windows.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Shortest and longest step between two looks.
const STEP_BYTES_MIN: usize = 4 << 10;
const STEP_BYTES_MAX: usize = 64 << 10;
/// The next step is longer where one took less.
const STEP_TIME: Duration = Duration::from_millis(1);
/// Shortest window, in bytes.
const WINDOW_BYTES_MIN: usize = 64 << 10;
/// Most bytes that windows share, so that what stands at the end of one is found in the next.
const OVERLAP_BYTES_MAX: usize = 256 << 10;
/// A window is so many times as long as what it shares with the next one.
const OVERLAPS: usize = 4;

/// Paces what looks at texts on one thread: in steps that are the shorter the more they cost, between which it learns
/// whether its walk was cancelled.
pub struct ScanPace<'a> {
    cancelled: &'a (dyn Fn() -> bool + Sync),
    /// How long the step is, and how much of it is left, in bytes.
    step: Cell<usize>,
    left: Cell<usize>,
    began: Cell<Instant>,
    is_stopped: Cell<bool>,
}

/// The windows in which a long text is searched for what has a longest length, in one of them at a time.
#[derive(Debug, Clone, Copy)]
pub struct ScanWindows {
    /// How much they share; none where all of a text is one.
    overlap: Option<usize>,
}

// === impl ScanPace ===

impl<'a> ScanPace<'a> {
    /// Makes the pace of a scan whose walk is over once the function says so.
    pub fn new(cancelled: &'a (dyn Fn() -> bool + Sync)) -> Self {
        let [step, left] = [STEP_BYTES_MIN; 2].map(Cell::new);
        let (began, is_stopped) = (Cell::new(Instant::now()), Cell::new(false));
        Self { cancelled, step, left, began, is_stopped }
    }

    /// The pace of a scan that nobody cancels.
    pub fn free() -> Self {
        Self::new(&|| false)
    }

    /// How many bytes to look at before the next look: at least one.
    pub fn step_bytes(&self) -> usize {
        self.left.get()
    }

    /// Takes note that so many bytes were looked at; returns whether to continue.
    pub fn passed(&self, bytes: usize) -> bool {
        if bytes < self.left.get() {
            self.left.set(self.left.get() - bytes);
            return !self.is_stopped();
        }
        let now = Instant::now();
        let was_short = now.duration_since(self.began.replace(now)) < STEP_TIME;
        let longer = (self.step.get() * 2).min(STEP_BYTES_MAX);
        self.step.set(if was_short { longer } else { STEP_BYTES_MIN });
        self.left.set(self.step.get());
        self.is_stopped.set(self.is_stopped() || (self.cancelled)());
        !self.is_stopped()
    }

    /// Whether it was found to be cancelled: what the scan returns then is of no use.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }
}

// === impl ScanWindows ===

impl ScanWindows {
    /// How far behind a match an expression looks: a character, or a line end.
    pub const BEHIND_BYTES: usize = 4;

    /// Windows that share as much as the longest match takes. Where that is not known, or more than 256 KiB, a part of
    /// a text does not show what is in all of it: it is one window.
    pub fn of(longest: Option<usize>) -> Self {
        let overlap = longest.map(|longest| longest.saturating_add(Self::BEHIND_BYTES));
        Self { overlap: overlap.filter(|overlap| *overlap <= OVERLAP_BYTES_MAX) }
    }

    /// How long a window is, in bytes. A shorter text has one.
    pub fn bytes(self) -> usize {
        self.overlap.map_or(usize::MAX, |overlap| WINDOW_BYTES_MIN.max(OVERLAPS * overlap))
    }

    /// Looks for something in a text from a position on. `look` gets the text up to the end of a window, and where that
    /// begins; `is_sure` what it found, where the next window begins and where this one ends. Returns what was found,
    /// nothing once the pace is stopped, and where the last window begins.
    pub fn find<T>(
        self,
        (text, at): (&[u8], usize),
        pace: &ScanPace<'_>,
        look: impl Fn(&[u8], usize) -> Option<T>,
        is_sure: impl Fn(&T, usize, usize) -> bool,
    ) -> (Option<T>, usize) {
        let (mut start, bytes) = (at, self.bytes());
        while let Some(overlap) = self.overlap.filter(|_| text.len() - start > bytes) {
            let (end, next) = (start + bytes, start + bytes - overlap);
            let found = look(&text[..end], start).filter(|found| is_sure(found, next, end));
            if found.is_some() || !pace.passed(next - start) {
                return (found, start);
            }
            start = next;
        }
        (look(text, start), start)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_scan_looks_once_in_each_step_and_stays_stopped() {
        let looks = AtomicUsize::new(0);
        let cancelled = || looks.fetch_add(1, Ordering::Relaxed) == 2;
        let pace = ScanPace::new(&cancelled);
        assert!(pace.passed(STEP_BYTES_MIN - 1));
        assert_eq!((pace.step_bytes(), looks.load(Ordering::Relaxed)), (1, 0));
        assert!(pace.passed(1) && (STEP_BYTES_MIN..=STEP_BYTES_MAX).contains(&pace.step_bytes()));
        assert!(pace.passed(STEP_BYTES_MAX) && !pace.is_stopped());
        assert!(!pace.passed(STEP_BYTES_MAX) && pace.is_stopped());
        assert!(!pace.passed(1) && !pace.passed(STEP_BYTES_MAX));
        assert_eq!(looks.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn steps_grow_to_a_bound() {
        let pace = ScanPace::free();
        for _ in 0..100 {
            pace.began.set(Instant::now());
            pace.passed(STEP_BYTES_MAX);
        }
        assert!(pace.step_bytes() <= STEP_BYTES_MAX);
        pace.began.set(Instant::now().checked_sub(2 * STEP_TIME).unwrap());
        pace.passed(STEP_BYTES_MAX);
        assert_eq!(pace.step_bytes(), STEP_BYTES_MIN);
    }
}
