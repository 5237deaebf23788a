//! Tests that were asked for by their ids and did not pass, in a run in which others may have.

use std::collections::BTreeSet;

use crate::framework::TestFramework;

/// Most tests that a note names.
const NAMED_MAX: usize = 5;

/// Tests that were asked for and did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedTests {
    /// How many were asked for.
    asked: usize,
    /// The ids of those that did not pass.
    pub ids: Vec<String>,
}

// === impl MissedTests ===

impl MissedTests {
    /// Those of some tests that are not among what passed. One in documentation has another line after an edit.
    pub fn of(framework: TestFramework, asked: &[String], passed: &BTreeSet<String>) -> Self {
        let has_passed = |id: &&String| {
            let unnumbered = framework.unnumbered_id(id);
            passed.contains(*id) || unnumbered.is_some_and(|name| passed.contains(name))
        };
        let ids = asked.iter().filter(|id| !has_passed(id)).cloned().collect();
        Self { asked: asked.len(), ids }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.ids.len() as u64
    }

    /// What is to be said of them where all that ran passed.
    pub fn note(&self) -> String {
        let named: Vec<String> =
            self.ids.iter().take(NAMED_MAX).map(|id| format!("`{id}`")).collect();
        let more = match self.ids.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "{} of the {} tests that failed did not run ({}{more}): `scope` `all` runs them",
            self.ids.len(),
            self.asked,
            named.join(", "),
        )
    }
}
