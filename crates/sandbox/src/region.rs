//! Where moss looks at protected names, or restores and moves them: whoever comes later, and works in the same
//! directories, waits until that is over. Work that lies apart waits for nobody.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

static WORK: Mutex<RegionWork> = Mutex::new(RegionWork { last: 0, all: Vec::new() });
/// Says that some of it is over.
static OVER: Condvar = Condvar::new();

/// All that goes on, or waits: in the order in which it came.
#[derive(Debug)]
struct RegionWork {
    last: u64,
    all: Vec<(u64, Vec<PathBuf>)>,
}

/// Directories, with all beneath them, in which nobody else works until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldRegion {
    number: u64,
}

/// Whether one of some directories is, holds or lies in one of others.
pub(crate) fn overlap(some: &[PathBuf], others: &[PathBuf]) -> bool {
    let touch = |one: &Path, other: &Path| one.starts_with(other) || other.starts_with(one);
    some.iter().any(|one| others.iter().any(|other| touch(one, other)))
}

fn lock() -> MutexGuard<'static, RegionWork> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

// === impl HeldRegion ===

impl HeldRegion {
    /// Waits until nobody who came earlier works there.
    pub(crate) fn enter(directories: Vec<PathBuf>) -> Self {
        let mut work = lock();
        work.last += 1;
        let number = work.last;
        work.all.push((number, directories));
        while work.has_earlier(number) {
            work = OVER.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
        Self { number }
    }

    /// Lets others work there for a while, and all those who wait by then.
    pub(crate) fn pause(&mut self, pause: Duration) {
        let directories = self.leave();
        std::thread::sleep(pause);
        if let Some(directories) = directories {
            *self = Self::enter(directories);
        }
    }

    fn leave(&self) -> Option<Vec<PathBuf>> {
        let mut work = lock();
        let at = work.all.iter().position(|(number, _)| *number == self.number)?;
        let (_, directories) = work.all.remove(at);
        OVER.notify_all();
        Some(directories)
    }
}

impl Drop for HeldRegion {
    fn drop(&mut self) {
        drop(self.leave());
    }
}

// === impl RegionWork ===

impl RegionWork {
    fn has_earlier(&self, number: u64) -> bool {
        let mut before = self.all.iter().take_while(|(one, _)| *one != number);
        let own = self.all.iter().find(|(one, _)| *one == number);
        own.is_some_and(|(_, own)| before.any(|(_, other)| overlap(own, other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_for_what_came_earlier_in_the_same_directories_alone() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let all = [
            (1, paths(&["/w/one"])),
            (2, paths(&["/w/two"])),
            (3, paths(&["/w/one/inner"])),
            (4, paths(&["/w/one-more", "/w/other"])),
            (5, paths(&["/w"])),
            (6, paths(&["/w/other/x"])),
        ];
        let work = RegionWork { last: 6, all: all.to_vec() };
        let waits = [1, 2, 3, 4, 5, 6].map(|number| work.has_earlier(number));
        assert_eq!(waits, [false, false, true, false, true, true]);
    }

    #[test]
    fn who_pauses_comes_after_those_who_wait() {
        let directories = vec![PathBuf::from("/region/of/this/test")];
        let all = || lock().all.iter().filter(|(_, all)| *all == directories).count();
        let mut held = HeldRegion::enter(directories.clone());
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _region = HeldRegion::enter(directories.clone());
                sender.send(()).unwrap();
            });
            while all() < 2 {
                std::thread::yield_now();
            }
            assert!(receiver.try_recv().is_err(), "it waits");
            held.pause(Duration::ZERO);
            receiver.try_recv().unwrap();
            assert_eq!(all(), 1);
        });
    }
}
