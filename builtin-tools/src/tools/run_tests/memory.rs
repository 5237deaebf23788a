//! What is kept of a run for the next one: which tests failed, and up to where in the history they passed.

use moss_checks::{TestFramework, TestResults, TestStatus};
use moss_sdk::context::Context;
use moss_sdk::history::PastQuery;
use serde::{Deserialize, Serialize};

use super::found::{ChosenTests, relative};

/// Most tests that are kept.
const IDS_MAX: usize = 50;

/// The name under which it is kept.
const NAME: &str = "runs";

/// What is kept.
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

    /// Keeps what came of a run.
    pub(super) async fn after(mut self, cx: &Context, chosen: &ChosenTests, results: &TestResults) {
        match results.status {
            TestStatus::Failed => self.failed = Some(FailedTests::of(chosen, results)),
            TestStatus::Passed => {
                let directory = chosen.path();
                let is_same = |failed: &FailedTests| {
                    failed.framework == chosen.framework && failed.directory == directory
                };
                self.failed = self.failed.take().filter(|failed| !is_same(failed));
                if chosen.is_all {
                    let newest = PastQuery { path: None, changes_max: 1, diff_bytes_max: 0 };
                    let past = cx.past(newest).await.unwrap_or_default();
                    self.passed_at = past.changes.first().map(|change| change.number);
                }
            }
            _ => return,
        }
        if let Ok(value) = serde_json::to_vec(&self) {
            cx.remember(NAME, value);
        }
    }
}

// === impl FailedTests ===

impl FailedTests {
    pub(super) fn of(chosen: &ChosenTests, results: &TestResults) -> Self {
        let directory = chosen.path().to_owned();
        let failures = || results.failures.iter().filter(|failure| !failure.id.is_empty());
        let mut ids: Vec<String> = failures().map(|failure| failure.id.clone()).collect();
        ids.dedup();
        ids.truncate(IDS_MAX);
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
        Self { framework, directory, ids, files }
    }
}
