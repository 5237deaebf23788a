//! The tests of a project that failed in a run, as far as they can be run again.

use std::collections::BTreeSet;

use moss_checks::{MissedTests, TestFramework, TestResults, TestSelection, TestTotals};
use serde::{Deserialize, Serialize};

use super::found::{ChosenTests, relative};

/// Most tests that are kept.
const IDS_MAX: usize = 50;

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

// === impl FailedTests ===

impl FailedTests {
    /// Whether it is just these that were chosen.
    pub(super) fn is_chosen(&self, chosen: &ChosenTests) -> bool {
        self.is_of(chosen) && chosen.choice.selection == TestSelection::Ids(self.ids.clone())
    }

    /// Whether they are of the same project and framework.
    pub(super) fn is_of(&self, chosen: &ChosenTests) -> bool {
        self.framework == chosen.framework && self.directory == chosen.path()
    }

    /// What is left of them after a run of their project in which all passed: what did not run is not fixed. Says so
    /// where it was asked for.
    pub(super) fn after_passing(
        mut self,
        chosen: &ChosenTests,
        passed: &BTreeSet<String>,
    ) -> (Option<Self>, Option<MissedTests>) {
        if chosen.is_all {
            return (None, None);
        }
        let is_asked = self.is_chosen(chosen);
        let missed = MissedTests::of(self.framework, &self.ids, passed);
        self.ids = missed.ids.clone();
        let missed = Some(missed).filter(|missed| is_asked && !missed.ids.is_empty());
        let is_fixed = self.ids.is_empty() && self.more == 0;
        ((!is_fixed).then_some(self), missed)
    }

    /// Adds what failed before, was asked for and did not pass, in a run in which others failed.
    pub(super) fn add_missed(&mut self, before: &Self, passed: &BTreeSet<String>) {
        self.more += before.more;
        for id in MissedTests::of(self.framework, &before.ids, passed).ids {
            match self.ids.len() < IDS_MAX {
                _ if self.ids.contains(&id) => {}
                true => self.ids.push(id),
                false => self.more += 1,
            }
        }
        // Where files of some are not known, none are named.
        match self.files.is_empty() || before.files.is_empty() {
            true => self.files.clear(),
            false => self.files.extend(before.files.iter().cloned()),
        }
        self.files.sort();
        self.files.dedup();
    }

    /// What failed in a run.
    pub(super) fn of(chosen: &ChosenTests, results: &TestResults) -> Self {
        let directory = chosen.path().to_owned();
        let failures = || results.failures.iter().filter(|failure| !failure.id.is_empty());
        let mut ids: Vec<String> = Vec::new();
        for failure in failures() {
            // What is chosen by one id may have failed at several places.
            if !ids.contains(&failure.id) && ids.len() < IDS_MAX {
                ids.push(failure.id.clone());
            }
        }
        let TestTotals { failed, errored, .. } = results.totals;
        // Those without a name cannot be chosen, nor those that were not even loaded.
        let shown = failures().take(IDS_MAX).count() as u64;
        let more = (failed + errored).saturating_sub(shown) + results.diagnostics.len() as u64;
        // Where a failure is located does not show the test's own file unless that is what it names.
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
