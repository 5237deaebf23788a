//! When everything in a workspace was looked at last, for what no event reports: writes through a mapping or
//! another name. As long as somebody asks now and then, it is looked at in the background; who asks after a
//! longer pause looks first, so that nothing old is found.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use moss_workspace::{Error, SweepPosition};

/// How long nobody looks while somebody asks.
const SWEEP_EVERY: Duration = Duration::from_secs(50);
/// Sweeping takes at most this part of the time: one in so many.
const SWEEP_SHARE: u32 = 100;
/// So long after the last question it is still looked at in the background.
const IN_USE_FOR: Duration = Duration::from_secs(15 * 60);
/// How often a call looks whether another one has looked at everything.
const TURN_PAUSE: Duration = Duration::from_millis(1);

/// When everything was looked at, and when somebody asked.
#[derive(Debug)]
pub(crate) struct SweepClock {
    times: Mutex<SweepTimes>,
    /// Held by the call that looks at everything; with what an earlier one began that was cancelled.
    turn: Mutex<Option<BegunLook>>,
}

/// A look at everything that is not at its end.
#[derive(Debug, Clone, Copy)]
struct BegunLook {
    started: Instant,
    position: SweepPosition,
    took: Duration,
}

#[derive(Debug, Clone, Copy)]
struct SweepTimes {
    /// When the last look began.
    swept_at: Instant,
    took: Duration,
    asked_at: Option<Instant>,
}

// === impl SweepClock ===

impl SweepClock {
    pub(crate) fn new() -> Self {
        let times = SweepTimes { swept_at: Instant::now(), took: Duration::ZERO, asked_at: None };
        Self { times: Mutex::new(times), turn: Mutex::default() }
    }

    /// How long the background waits between two looks.
    pub(crate) fn pause(&self) -> Duration {
        self.times().pause()
    }

    /// Whether somebody asked lately.
    pub(crate) fn is_in_use(&self, now: Instant) -> bool {
        let asked_at = self.times().asked_at;
        asked_at.is_some_and(|asked_at| now.saturating_duration_since(asked_at) < IN_USE_FOR)
    }

    /// Takes in that somebody asks. Returns whether everything has to be looked at first.
    pub(crate) fn ask(&self, now: Instant) -> bool {
        let mut times = self.times();
        times.asked_at = Some(now);
        times.is_due(now)
    }

    /// Takes in that everything was looked at from a moment on, until now.
    pub(crate) fn note(&self, swept_at: Instant) {
        self.note_all(swept_at, swept_at.elapsed());
    }

    fn note_all(&self, swept_at: Instant, took: Duration) {
        let mut times = self.times();
        times.swept_at = swept_at;
        times.took = took;
    }

    /// Looks at everything for a call, unless another one has done so meanwhile. What one began that was cancelled is
    /// resumed, as long as what it has looked at need not be looked at again: else calls that have less time than a look
    /// takes would begin it without end.
    ///
    /// # Errors
    ///
    /// `Cancelled`, and as `look` fails.
    pub(crate) fn look_first(
        &self,
        look: &dyn Fn(&mut SweepPosition) -> Result<(), Error>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let mut turn = loop {
            match self.turn.try_lock() {
                Ok(turn) => break turn,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if cancelled() => return Err(Error::Cancelled),
                Err(TryLockError::WouldBlock) => std::thread::sleep(TURN_PAUSE),
            }
        };
        let (now, times) = (Instant::now(), *self.times());
        if !times.is_due(now) {
            return Ok(());
        }
        let counts =
            |begun: &BegunLook| !SweepTimes { swept_at: begun.started, ..times }.is_due(now);
        let mut begun = turn.take().filter(counts).unwrap_or_else(|| BegunLook {
            started: now,
            position: SweepPosition::default(),
            took: Duration::ZERO,
        });
        let looked = look(&mut begun.position);
        begun.took += now.elapsed();
        match looked {
            Ok(()) => self.note_all(begun.started, begun.took),
            Err(_) => *turn = Some(begun),
        }
        looked
    }

    /// Makes the last look one of so long ago, which took no time, and one that was begun, too.
    #[cfg(test)]
    pub(crate) fn age(&self, by: Duration) {
        let earlier = |at: Instant| at.checked_sub(by).expect("the machine runs for longer");
        let mut times = self.times();
        times.swept_at = earlier(times.swept_at);
        times.took = Duration::ZERO;
        if let Some(begun) = self.turn.lock().expect("nobody looks").as_mut() {
            begun.started = earlier(begun.started);
        }
    }

    fn times(&self) -> MutexGuard<'_, SweepTimes> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl SweepTimes ===

impl SweepTimes {
    fn pause(self) -> Duration {
        SWEEP_EVERY.max(self.took * SWEEP_SHARE)
    }

    /// Whether the last look is too long ago: a fifth longer than it is where the background looks.
    fn is_due(self, now: Instant) -> bool {
        let pause = self.pause();
        now.saturating_duration_since(self.swept_at) > pause + pause / 5
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn who_asks_after_a_pause_looks_first_and_the_background_while_somebody_asks() {
        let clock = SweepClock::new();
        let seconds = |seconds| Instant::now() + Duration::from_secs(seconds);
        assert!(!clock.is_in_use(seconds(0)), "nobody has asked");
        assert!(!clock.ask(seconds(55)) && clock.ask(seconds(65)));
        assert!(clock.is_in_use(seconds(600)) && !clock.is_in_use(seconds(1_000)));
        clock.times().took = Duration::from_secs(2);
        assert_eq!(clock.pause(), Duration::from_secs(200));
        assert!(!clock.ask(seconds(235)) && clock.ask(seconds(245)));
    }

    #[test]
    fn of_calls_after_a_pause_one_looks() {
        let (clock, looks) = (SweepClock::new(), Cell::new(0));
        let look = |_: &mut SweepPosition| {
            looks.set(looks.get() + 1);
            if looks.get() == 1 { Err(Error::Cancelled) } else { Ok(()) }
        };
        let first = || clock.look_first(&look, &|| false);
        first().unwrap();
        assert_eq!(looks.get(), 0, "it is not due");
        clock.age(Duration::from_secs(61));
        first().unwrap_err();
        assert!(clock.ask(Instant::now()), "it was not looked at to the end");
        first().unwrap();
        first().unwrap();
        assert_eq!(looks.get(), 2);
        clock.age(Duration::from_secs(61));
        let _turn = clock.turn.lock().unwrap();
        assert!(matches!(clock.look_first(&look, &|| true), Err(Error::Cancelled)));
    }
}
