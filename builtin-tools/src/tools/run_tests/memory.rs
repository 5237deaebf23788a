//! What is kept of a run for the next one: which tests failed, and up to where in the history they passed.

use moss_checks::{PassedProjects, TestStatus, TestTotals};
use moss_sdk::context::Context;
use moss_sdk::history::PastQuery;
use serde::{Deserialize, Serialize};

use super::failed::FailedTests;
use super::found::ChosenTests;
use super::run::TestRun;

/// The name under which it is kept.
const NAME: &str = "runs";

/// What later runs of a caller start from: what failed, and which changes passed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TestMemory {
    /// What failed at the last run, by its projects.
    #[serde(default)]
    failed: Vec<FailedTests>,
    /// Projects whose tests all passed.
    #[serde(default)]
    passed: PassedProjects,
    /// The newest change before what runs now.
    #[serde(skip)]
    newest: u64,
}

// === impl TestMemory ===

impl TestMemory {
    /// What the last run of the session kept, for one that begins now.
    pub(super) async fn read(cx: &Context) -> Self {
        let kept = cx.remembered(NAME);
        let kept: Option<Self> = kept.and_then(|kept| serde_json::from_slice(&kept).ok());
        // What changes while the tests run may have come too late for them.
        let newest = PastQuery::newest(1);
        let past = cx.past(newest).await.unwrap_or_default();
        let newest = past.changes.first().map_or(0, |change| change.number);
        Self { newest, ..kept.unwrap_or_default() }
    }

    pub(super) fn failed(&self) -> &[FailedTests] {
        &self.failed
    }

    pub(super) fn passed(&self) -> &PassedProjects {
        &self.passed
    }

    /// Keeps what came of the runs of a call. Adds to their notes what is to be said of what failed before and did
    /// not run: with that a run has not passed.
    pub(super) fn after(mut self, cx: &Context, runs: &mut [(ChosenTests, TestRun)]) {
        let (mut failed, mut left, mut is_known) = (Vec::new(), Vec::new(), false);
        for (chosen, run) in runs.iter_mut() {
            let before = self.failed.iter().position(|before| before.is_of(chosen));
            let before = before.map(|at| self.failed.remove(at));
            let Some(results) = &mut run.results else {
                left.extend(before);
                continue;
            };
            let TestTotals { failed: of_assertions, errored, .. } = results.totals;
            // What else a run requires, and is not met, is no test.
            let all_passed = of_assertions + errored == 0 && results.diagnostics.is_empty();
            match results.status {
                TestStatus::Failed if !all_passed => {
                    is_known = true;
                    let mut now = FailedTests::of(chosen, results);
                    if let Some(before) = before.as_ref().filter(|one| one.is_chosen(chosen)) {
                        now.add_missed(before, &run.passed);
                    }
                    match now.ids.is_empty() && now.more == 0 {
                        true => left.extend(before),
                        false => failed.push(now),
                    }
                }
                TestStatus::Passed | TestStatus::Failed => {
                    is_known = true;
                    if chosen.is_all && results.status == TestStatus::Passed {
                        self.passed.pass(chosen.framework, chosen.path(), self.newest);
                    }
                    let Some(before) = before else { continue };
                    let (rest, missed) = before.after_passing(chosen, &run.passed);
                    left.extend(rest);
                    let Some(missed) = missed else { continue };
                    // Of what was asked for and is not in the report nobody knows.
                    if missed.count() > results.totals.skipped {
                        results.status = TestStatus::Inconsistent;
                    }
                    run.notes.push(missed.note());
                }
                _ => left.extend(before),
            }
        }
        // What failed before in other projects is that of an earlier run.
        if !failed.is_empty() {
            self.failed.clear();
        }
        self.failed.extend(failed.into_iter().chain(left));
        if let (true, Ok(value)) = (is_known, serde_json::to_vec(&self)) {
            cx.remember(NAME, value);
        }
    }
}
