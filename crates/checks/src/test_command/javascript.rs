//! Jest, Vitest, Mocha, and the test runners of Node, Bun and Deno.

use super::{TestSelection, Words, path};
use crate::bash_word::{joined, quoted};
use crate::framework::TestFramework;
use crate::report::escaped;

// === impl Words ===

impl Words<'_> {
    pub(super) fn jest(&self) -> Vec<String> {
        let coverage = match self.measures(TestFramework::Jest) {
            true => format!(
                "--coverage --coverageReporters=lcovonly --coverageDirectory={}",
                quoted(self.reports)
            ),
            false => String::new(),
        };
        let is_directory = |file: &String| !TestFramework::Jest.runs_file(file);
        let files = match (&self.choice.related, &self.choice.files) {
            (related, _) if !related.is_empty() => {
                format!("--findRelatedTests {}", joined(related.iter().map(|file| path(file))))
            }
            (_, files) if files.is_empty() => String::new(),
            // Of directories it only knows patterns of paths.
            (_, files) if files.iter().any(is_directory) => self.paths(),
            _ => format!("--runTestsByPath {}", self.paths()),
        };
        let script = self.scripted("jest");
        vec![
            script.start,
            script.options,
            "--ci --json --testLocationInResults".to_owned(),
            format!("--outputFile={}", self.report("jest.json")),
            coverage,
            self.expression("-t "),
            script.files,
            files,
        ]
    }

    pub(super) fn vitest(&self) -> Vec<String> {
        let coverage = match self.measures(TestFramework::Vitest) {
            true => format!(
                "--coverage.enabled --coverage.reporter=lcovonly --coverage.clean=false \
                 --coverage.reportsDirectory={}",
                quoted(self.reports)
            ),
            false => String::new(),
        };
        let (verb, files) = match self.choice.related.is_empty() {
            true => ("run", self.paths()),
            false => ("related --run", joined(self.choice.related.iter().map(|file| path(file)))),
        };
        let script = self.scripted("vitest");
        vec![
            script.start,
            verb.to_owned(),
            script.options,
            format!("--reporter=default --reporter=json"),
            format!("--outputFile.json={}", self.report("vitest.json")),
            coverage,
            self.expression("-t "),
            script.files,
            files,
        ]
    }

    pub(super) fn mocha(&self) -> Vec<String> {
        let script = self.scripted("mocha");
        vec![
            script.start,
            script.options,
            format!("--reporter {}", self.report(super::MOCHA_REPORTER)),
            self.expression("--grep "),
            script.files,
            self.paths(),
        ]
    }

    pub(super) fn node(&self) -> Vec<String> {
        let coverage = match self.choice.coverage {
            true => format!(
                "--experimental-test-coverage --test-reporter=lcov --test-reporter-destination={}",
                self.report("coverage.lcov")
            ),
            false => String::new(),
        };
        let script = self.scripted("node");
        vec![
            script.start,
            // First: rules name it so.
            "--test".to_owned(),
            script.options,
            "--test-reporter=spec --test-reporter-destination=stdout".to_owned(),
            format!(
                "--test-reporter={} --test-reporter-destination={}",
                self.report(super::NODE_REPORTER),
                self.report("node.json")
            ),
            coverage,
            self.each("--test-name-pattern="),
            script.files,
            self.paths(),
        ]
    }

    pub(super) fn bun(&self) -> Vec<String> {
        let coverage = match self.choice.coverage {
            true => format!(
                "--coverage --coverage-reporter=lcov --coverage-dir={}",
                quoted(self.reports)
            ),
            false => String::new(),
        };
        // A word without a dot or a slash at its beginning is a part of a path.
        let files = self.choice.files.iter().map(|file| quoted(&format!("./{file}")));
        vec![
            self.program("bun"),
            "test --no-install --reporter=junit".to_owned(),
            format!("--reporter-outfile={}", self.report("bun.xml")),
            coverage,
            self.expression("-t "),
            joined(files),
        ]
    }

    pub(super) fn deno(&self) -> Vec<String> {
        let filter = match &self.choice.selection {
            TestSelection::Ids(ids) => {
                let ids: Vec<String> = ids.iter().map(|id| escaped(id)).collect();
                format!("--filter {}", quoted(&format!("/^(?:{})$/", ids.join("|"))))
            }
            _ => self.each("--filter "),
        };
        vec![
            self.program("deno"),
            "test --cached-only".to_owned(),
            format!("--junit-path={}", self.report("deno.xml")),
            match self.choice.coverage {
                // Beside what counts it writes a file for each module.
                true => format!("--coverage={}", self.report("profile")),
                false => String::new(),
            },
            filter,
            self.paths(),
        ]
    }
}
