//! Turns at files: commits that touch the same file, or a directory that one of them makes, go one
//! after the other, first come, first served; all others go side by side.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use moss_sdk::RelPath;

/// Real paths that a commit changes: files, and directories that it makes.
pub(crate) type Touched = BTreeSet<RelPath>;

/// The commits of a workspace that have or want a turn, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Claims {
    line: Mutex<ClaimQueue>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct ClaimQueue {
    newest: u64,
    claims: Vec<(u64, Touched)>,
}

/// A turn at files, given up when dropped.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    claims: &'a Claims,
    number: u64,
}

/// Whether two commits have to go one after the other: one changes what the other changes, or what
/// lies beneath it.
fn touch(a: &Touched, b: &Touched) -> bool {
    lies_within(a, b) || lies_within(b, a)
}

/// Whether one of the paths, or a directory above it, is among the others.
fn lies_within(paths: &Touched, others: &Touched) -> bool {
    let with_parents = |path: &RelPath| std::iter::successors(Some(path.clone()), RelPath::parent);
    paths.iter().any(|path| with_parents(path).any(|path| others.contains(&path)))
}

// === impl Claims ===

impl Claims {
    /// Waits for a turn; none where it takes longer.
    pub(super) fn take(&self, touched: Touched, wait: Duration) -> Option<Claim<'_>> {
        let mut line = self.lock();
        line.newest += 1;
        let number = line.newest;
        line.claims.push((number, touched));
        // From here on the claim leaves the line when it is dropped.
        let claim = Claim { claims: self, number };
        let waited = self.moved.wait_timeout_while(line, wait, |line| line.must_wait(number));
        let (line, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let has_turn = !line.must_wait(number);
        drop(line);
        has_turn.then_some(claim)
    }

    fn lock(&self) -> MutexGuard<'_, ClaimQueue> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl ClaimQueue ===

impl ClaimQueue {
    /// Whether somebody who came before touches the same files.
    fn must_wait(&self, number: u64) -> bool {
        let Some(at) = self.claims.iter().position(|(other, _)| *other == number) else {
            return false;
        };
        let (before, rest) = self.claims.split_at(at);
        before.iter().any(|(_, others)| touch(others, &rest[0].1))
    }
}

// === impl Claim ===

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.claims.lock().claims.retain(|(number, _)| *number != self.number);
        self.claims.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(paths: &[&str]) -> Touched {
        paths.iter().map(|path| RelPath::parse(path).unwrap()).collect()
    }

    #[test]
    fn only_commits_of_the_same_paths_touch() {
        for (a, b, expected) in [
            (&["a"][..], &["a"][..], true),
            (&["a"], &["b"], false),
            (&["d/a"], &["d/b"], false),
            (&["x", "d/a"], &["d/a", "y"], true),
            // One makes the directory that the other needs.
            (&["d", "d/a"], &["d/b"], true),
            (&["d/e/f"], &["d/e"], true),
            (&["d"], &["da", "e/d"], false),
            (&["d-a"], &["d/a"], false),
            (&[], &["a"], false),
        ] {
            let (a, b) = (touched(a), touched(b));
            assert_eq!((touch(&a, &b), touch(&b, &a)), (expected, expected), "{a:?} {b:?}");
        }
    }

    #[test]
    fn turns_go_by_arrival_and_others_pass() {
        let claims = Claims::default();
        let take = |paths| claims.take(touched(paths), Duration::ZERO);
        let first = take(&["a", "b"]).unwrap();
        let second = take(&["c"]).unwrap();
        assert!(take(&["b"]).is_none() && take(&["c", "d"]).is_none());
        // Who gave up stands in nobody's way.
        let third = take(&["d"]).unwrap();
        drop(first);
        let fourth = take(&["a", "b"]).unwrap();
        drop((second, third, fourth));
        assert!(claims.lock().claims.is_empty());
    }

    #[test]
    fn one_that_waits_for_several_files_is_not_passed_by_later_ones() {
        let claims = Claims::default();
        let first = claims.take(touched(&["a"]), Duration::ZERO).unwrap();
        std::thread::scope(|scope| {
            let large = scope.spawn(|| {
                let claim = claims.take(touched(&["a", "b"]), Duration::from_secs(60));
                claim.is_some()
            });
            while claims.lock().claims.len() < 2 {
                std::thread::yield_now();
            }
            assert!(claims.take(touched(&["b"]), Duration::ZERO).is_none());
            drop(first);
            assert!(large.join().unwrap());
        });
    }
}
