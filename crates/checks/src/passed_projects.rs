//! Up to which change of the history all tests of a project passed.

use serde::{Deserialize, Serialize};

use crate::framework::TestFramework;
use crate::project::ProjectFiles;

/// Projects whose tests all passed, each by itself: what passed in one is not known of another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedProjects(Vec<PassedProject>);

/// A project whose tests all passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PassedProject {
    framework: TestFramework,
    directory: String,
    /// The newest change before they ran last.
    at: u64,
}

// === impl PassedProjects ===

impl PassedProjects {
    /// Keeps that all tests of the project in a directory passed, which began to run after a change.
    pub fn pass(&mut self, framework: TestFramework, directory: &str, at: u64) {
        self.0.retain(|one| one.framework != framework || one.directory != directory);
        self.0.push(PassedProject { framework, directory: directory.to_owned(), at });
    }

    /// The newest change that all tests of a project passed with, by themselves or with all of its workspace.
    pub fn passed_at(
        &self,
        framework: TestFramework,
        files: &ProjectFiles,
        directory: usize,
    ) -> Option<u64> {
        let own = files.directories[directory].path.as_str();
        let covering = [own, framework.base(files, directory)];
        let covers = |passed: &&PassedProject| {
            passed.framework == framework && covering.contains(&passed.directory.as_str())
        };
        self.0.iter().filter(covers).map(|passed| passed.at).max()
    }

    /// The newest change that all tests of any project passed with.
    pub fn last(&self) -> Option<u64> {
        self.0.iter().map(|passed| passed.at).max()
    }
}
