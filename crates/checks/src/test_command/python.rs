//! pytest and unittest.

use super::{TestSelection, Words};
use crate::bash_word::{joined, quoted};
use crate::framework::TestFramework;

// === impl Words ===

impl Words<'_> {
    pub(super) fn pytest(&self) -> Vec<String> {
        let program = match self.own_program("pytest") {
            Some(own) => own,
            None => format!("{} -m pytest", self.python()),
        };
        let is_id = |pattern: &&str| pattern.contains("::");
        let (ids, keyword) = match (self.ids(), self.pattern()) {
            (Some(ids), _) => (joined(ids.iter().map(|id| quoted(id))), String::new()),
            (_, Some(id)) if is_id(&id) => (self.nodes(id), String::new()),
            (_, Some(pattern)) => (self.paths(), format!("-k {}", quoted(pattern))),
            (None, None) => (self.paths(), String::new()),
        };
        let coverage = match self.measures(TestFramework::Pytest) {
            true => {
                format!("--cov --cov-branch --cov-report=lcov:{}", self.report("coverage.lcov"))
            }
            false => String::new(),
        };
        vec![
            program,
            // What the project writes less of itself is only for people. How many tests of all have ended need not
            // stand behind each: to write that takes a third of what a line takes.
            "-v --color=no -o console_output_style=classic".to_owned(),
            "-o junit_family=xunit1 -o junit_logging=all -o junit_log_passing_tests=false"
                .to_owned(),
            format!("--junitxml={}", self.report("pytest.xml")),
            self.pytest_root().to_owned(),
            coverage,
            self.pytest_threshold().to_owned(),
            keyword,
            ids,
        ]
    }

    /// What an id names, which may leave out the file that was chosen: `TestA::test_b`.
    fn nodes(&self, id: &str) -> String {
        let file = id.split("::").next().unwrap_or_default();
        match self.choice.files.is_empty() || file.ends_with(".py") || file.contains('/') {
            true => quoted(id),
            false => {
                let files = self.choice.files.iter();
                joined(
                    files.map(|file| quoted(&format!("{file}::{}", id.trim_start_matches("::")))),
                )
            }
        }
    }

    /// Where nothing in the directory says that the project begins there, a directory around it may, and pytest names
    /// files from that one.
    fn pytest_root(&self) -> &'static str {
        let sections = [
            ("pyproject.toml", "[tool.pytest"),
            ("setup.cfg", "[tool:pytest]"),
            ("tox.ini", "[pytest]"),
        ];
        let directory = self.directory();
        let says = |(name, section): &(&str, &str)| {
            directory.manifest(name).is_some_and(|text| text.contains(section))
        };
        match directory.has_file(&["pytest.ini", ".pytest.ini"]) || sections.iter().any(says) {
            true => "",
            false => "--rootdir=.",
        }
    }

    /// How much of the code has to run the project says of all of its tests: a part of them would always fail.
    fn pytest_threshold(&self) -> &'static str {
        let is_part = !self.choice.files.is_empty() || self.choice.selection != TestSelection::All;
        let manifests = ["pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini"];
        let measures = |name: &&str| {
            self.directory().manifest(name).is_some_and(|text| text.contains("--cov"))
        };
        match is_part && manifests.iter().any(measures) {
            true => "--cov-fail-under=0",
            false => "",
        }
    }

    pub(super) fn unittest(&self) -> Vec<String> {
        let python = self.python();
        let modules: Vec<String> = self.choice.files.iter().map(|file| module_of(file)).collect();
        match self.ids() {
            // What was run by its file is named from the directory of the project on.
            Some(ids)
                if ids.iter().all(|id| modules.iter().any(|module| id.starts_with(module))) =>
            {
                let ids = joined(ids.iter().map(|id| quoted(id)));
                return vec![python, "-m unittest -v".to_owned(), ids];
            }
            None if !self.choice.files.is_empty() => {
                return vec![python, "-m unittest -v".to_owned(), self.each("-k "), self.paths()];
            }
            _ => {}
        }
        let directory = self.directory();
        let found = ["tests", "test"]
            .into_iter()
            .find(|name| directory.directories.contains(*name))
            .filter(|_| !directory.files.iter().any(|name| name.starts_with("test_")));
        let start = found.map_or_else(String::new, |name| {
            // What is no package is its own top.
            match directory.probed.contains(&format!("{name}/__init__.py")) {
                true => format!("-s {name} -t ."),
                false => format!("-s {name}"),
            }
        });
        vec![python, "-m unittest discover -v".to_owned(), start, self.each("-k ")]
    }

    fn python(&self) -> String {
        let own = ["python", "python3"].iter().find_map(|name| self.own_program(name));
        own.unwrap_or_else(|| "python3".to_owned())
    }
}

/// The name of the module in a file, with a dot behind it: `tests.test_a.`.
fn module_of(file: &str) -> String {
    format!("{}.", file.trim_end_matches(".py").replace('/', "."))
}
