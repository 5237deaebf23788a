//! Results of several runs as those of one.

use super::{BUILD_ERRORS_MAX, FAILURES_MAX, SLOWEST_MAX, TestResults, TestStatus, TestTotals};

// === impl TestResults ===

impl TestResults {
    /// Adds those of another run: failed where either is, passed where either is and the other is silent about tests
    /// that failed.
    pub fn add(&mut self, other: Self) {
        let is_either = |status| self.status == status || other.status == status;
        self.status = match (is_either(TestStatus::Failed), is_either(TestStatus::Passed)) {
            (true, _) => TestStatus::Failed,
            (false, true) => TestStatus::Passed,
            (false, false) => self.status,
        };
        self.totals.add(other.totals);
        self.failures.extend(other.failures);
        let more = self.failures.len().saturating_sub(FAILURES_MAX);
        self.failures.truncate(FAILURES_MAX);
        self.diagnostics.extend(other.diagnostics);
        self.diagnostics.truncate(BUILD_ERRORS_MAX);
        self.slowest.extend(other.slowest);
        self.slowest.sort_by_key(|slow| std::cmp::Reverse(slow.duration_ms));
        self.slowest.truncate(SLOWEST_MAX);
        self.coverage = match (self.coverage.take(), other.coverage) {
            (Some(mut coverage), Some(others)) => {
                coverage.add(others);
                Some(coverage)
            }
            (one, others) => one.or(others),
        };
        let more = (more > 0).then(|| format!("{more} more failures are not shown"));
        let notes: Vec<String> =
            self.note.take().into_iter().chain(other.note).chain(more).collect();
        self.note = (!notes.is_empty()).then(|| notes.join("; "));
    }
}

// === impl TestTotals ===

impl TestTotals {
    fn add(&mut self, other: Self) {
        let Self { passed, failed, skipped, errored } = other;
        self.passed += passed;
        self.failed += failed;
        self.skipped += skipped;
        self.errored += errored;
    }
}
