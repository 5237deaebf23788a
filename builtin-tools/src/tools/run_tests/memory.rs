//! What is kept of a run for the next one: which tests failed, and up to where in the history they passed.

use std::collections::BTreeSet;

use moss_checks::{TestFramework, TestResults, TestSelection, TestStatus, TestTotals};
use moss_sdk::context::Context;
use moss_sdk::history::PastQuery;
use serde::{Deserialize, Serialize};

use super::found::{ChosenTests, relative};

/// Most tests that are kept.
const IDS_MAX: usize = 50;

/// The name under which it is kept.
const NAME: &str = "runs";

/// What later runs of a caller start from: `failed_only` and the newest change that passed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TestMemory {
    failed: Option<FailedTests>,
    /// The newest change when all tests passed last.
    passed_at: Option<u64>,
}

/// The tests that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FailedTests {
    pub(super) framework: TestFramework,
    /// The directory of the project.
    pub(super) directory: String,
    pub(super) ids: Vec<String>,
    /// Their files, relative to the directory of the project.
    pub(super) files: Vec<String>,
    /// How many more failed that nothing is kept of.
    #[serde(default)]
    pub(super) more: u64,
}

// === impl TestMemory ===

impl TestMemory {
    /// What the last run of the session kept.
    pub(super) fn read(cx: &Context) -> Self {
        let kept = cx.remembered(NAME);
        kept.and_then(|kept| serde_json::from_slice(&kept).ok()).unwrap_or_default()
    }

    pub(super) fn failed(&self) -> Option<&FailedTests> {
        self.failed.as_ref()
    }

    pub(super) fn passed_at(&self) -> Option<u64> {
        self.passed_at
    }

    /// Keeps what came of a run, in which these passed where not all were chosen. Returns what is to be noted: that of
    /// what failed before something did not run.
    pub(super) async fn after(
        mut self,
        cx: &Context,
        chosen: &ChosenTests,
        (results, passed): (&TestResults, &BTreeSet<String>),
    ) -> Option<String> {
        let mut note = None;
        let TestTotals { failed, errored, .. } = results.totals;
        // What else a run requires, and is not met, is no test.
        let all_passed = failed + errored == 0 && results.diagnostics.is_empty();
        match results.status {
            TestStatus::Failed if !all_passed => {
                let mut failed = FailedTests::of(chosen, results);
                if let Some(before) = self.failed.as_ref().filter(|before| before.is_chosen(chosen))
                {
                    failed.more += before.more;
                }
                if !failed.ids.is_empty() || failed.more > 0 {
                    self.failed = Some(failed);
                }
            }
            TestStatus::Passed | TestStatus::Failed => {
                if let Some(failed) = self.failed.take() {
                    (self.failed, note) = failed.after_passing(chosen, passed, results);
                }
                if chosen.is_all && results.status == TestStatus::Passed {
                    let newest = PastQuery { path: None, changes_max: 1, diff_bytes_max: 0 };
                    let past = cx.past(newest).await.unwrap_or_default();
                    self.passed_at = past.changes.first().map(|change| change.number);
                }
            }
            _ => return None,
        }
        if let Ok(value) = serde_json::to_vec(&self) {
            cx.remember(NAME, value);
        }
        note
    }
}

// === impl FailedTests ===

impl FailedTests {
    /// Whether it is just these that were chosen.
    fn is_chosen(&self, chosen: &ChosenTests) -> bool {
        self.is_of(chosen) && chosen.choice.selection == TestSelection::Ids(self.ids.clone())
    }

    fn is_of(&self, chosen: &ChosenTests) -> bool {
        self.framework == chosen.framework && self.directory == chosen.path()
    }

    /// What is left of them after a run in which all passed: what did not run is not fixed. Says so where it was
    /// asked for.
    fn after_passing(
        mut self,
        chosen: &ChosenTests,
        passed: &BTreeSet<String>,
        results: &TestResults,
    ) -> (Option<Self>, Option<String>) {
        if !self.is_of(chosen) {
            return (Some(self), None);
        }
        if chosen.is_all {
            return (None, None);
        }
        let asked = self.is_chosen(chosen).then_some(self.ids.len() as u64);
        self.ids.retain(|id| !passed.contains(id));
        // Some frameworks call a test that passes by another name than one that fails.
        if asked.is_some_and(|asked| results.totals.passed >= asked) {
            self.ids.clear();
        }
        let missed = self.ids.len();
        let note = asked.filter(|_| missed > 0).map(|asked| {
            format!(
                "{missed} of the {asked} tests that failed did not run: `scope` `all` runs them"
            )
        });
        let is_fixed = self.ids.is_empty() && self.more == 0;
        ((!is_fixed).then_some(self), note)
    }

    pub(super) fn of(chosen: &ChosenTests, results: &TestResults) -> Self {
        let directory = chosen.path().to_owned();
        let failures = || results.failures.iter().filter(|failure| !failure.id.is_empty());
        let mut ids: Vec<String> = failures().map(|failure| failure.id.clone()).collect();
        ids.dedup();
        ids.truncate(IDS_MAX);
        let TestTotals { failed, errored, .. } = results.totals;
        // Those without a name cannot be chosen, nor those that were not even loaded.
        let shown = failures().take(IDS_MAX).count() as u64;
        let more = (failed + errored).saturating_sub(shown) + results.diagnostics.len() as u64;
        // Where a failure is located says nothing of the test's own file unless that is what it names.
        let framework = chosen.framework;
        let file = |file: &String| {
            let file = relative(file, &directory);
            framework.is_test_file(&file).then_some(file)
        };
        let files: Option<Vec<String>> =
            failures().map(|failure| failure.file.as_ref().and_then(file)).collect();
        let mut files = files.unwrap_or_default();
        files.sort();
        files.dedup();
        let takes_files = !matches!(framework, TestFramework::Cargo | TestFramework::Nextest);
        if !takes_files {
            files.clear();
        }
        Self { framework, directory, ids, files, more }
    }
}
