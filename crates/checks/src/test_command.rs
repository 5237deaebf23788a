//! The command that runs tests, with a report that a program can read.
//!
//! Nothing is installed or downloaded, and no configuration of the project is changed.

use crate::bash_word::{joined, quoted};
use crate::framework::TestFramework;
use crate::project::ProjectDirectory;
use crate::run::CheckCommand;

/// Which tests are run, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestChoice {
    /// Only those of this file, relative to the directory of the project.
    pub file: Option<String>,
    /// Only those that the framework finds by this: a part of a name, an expression, an id that an earlier
    /// result had.
    pub pattern: Option<String>,
    /// Whether to measure which lines run.
    pub coverage: bool,
}

/// A command with what has to be known to read what it leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCommand {
    /// What is run.
    pub command: CheckCommand,
    /// What was asked for and is not done, one sentence each.
    pub notes: Vec<String>,
}

/// The words of one command, as they come to be.
struct Words<'a> {
    directory: &'a ProjectDirectory,
    choice: &'a TestChoice,
    /// The directory of reports.
    reports: &'a str,
}

// === impl TestFramework ===

impl TestFramework {
    /// Says how tests are run in a directory, with reports in an absolute one.
    pub fn command(
        self,
        directory: &ProjectDirectory,
        choice: &TestChoice,
        reports: &str,
    ) -> TestCommand {
        let words = Words { directory, choice, reports };
        let command = joined(match self {
            Self::Cargo | Self::Nextest => words.cargo(self),
            Self::Pytest => words.pytest(),
            Self::Unittest => words.unittest(),
            Self::Jest | Self::Vitest | Self::Mocha => words.javascript(self),
            Self::Node | Self::Bun | Self::Deno => words.runtime(self),
            Self::Go => words.go(),
            Self::Ctest => words.ctest(),
            Self::Rspec | Self::Phpunit | Self::Bats => words.script(self),
        });
        let mut notes = Vec::new();
        if choice.coverage && !self.measures(directory) {
            notes.push(format!("coverage of {} is not measured", self.name()));
        }
        if choice.file.is_some() && self == Self::Ctest {
            notes.push("ctest chooses tests by name, not by file: all were run".to_owned());
        }
        TestCommand { command: CheckCommand { command, directory: directory.path.clone() }, notes }
    }

    /// Whether coverage is measured in a directory: the tool for it is there.
    fn measures(self, directory: &ProjectDirectory) -> bool {
        let lists = |name: &str, text: &str| {
            directory
                .manifests
                .iter()
                .any(|(manifest, content)| manifest.starts_with(name) && content.contains(text))
        };
        match self {
            Self::Pytest => ["py", "setup", "req", "dev-req", "tox"]
                .iter()
                .any(|name| lists(name, "pytest-cov")),
            Self::Vitest => lists("package.json", "@vitest/coverage"),
            Self::Jest | Self::Node | Self::Go => true,
            _ => false,
        }
    }
}

// === impl Words ===

impl Words<'_> {
    /// The program of the project, or that of the machine.
    fn program(&self, name: &str) -> String {
        self.directory.program(name).map_or_else(|| name.to_owned(), |own| quoted(&own))
    }

    fn report(&self, name: &str) -> String {
        quoted(&format!("{}/{name}", self.reports))
    }

    /// An option with the pattern, where there is one.
    fn pattern(&self, option: &str) -> String {
        let pattern = self.choice.pattern.as_deref();
        pattern.map_or_else(String::new, |pattern| format!("{option}{}", quoted(pattern)))
    }

    fn file(&self) -> String {
        let file = self.choice.file.as_deref();
        file.map_or_else(String::new, |file| match file.starts_with('-') {
            true => quoted(&format!("./{file}")),
            false => quoted(file),
        })
    }

    fn measures(&self, framework: TestFramework) -> bool {
        self.choice.coverage && framework.measures(self.directory)
    }

    fn cargo(&self, framework: TestFramework) -> Vec<String> {
        let start = match framework {
            TestFramework::Nextest => "cargo nextest run --no-fail-fast --color never",
            _ => "cargo test --no-fail-fast --color never",
        };
        let file = self.choice.file.as_deref().unwrap_or_default();
        let (target, filter) = cargo_target(file);
        let pattern =
            self.choice.pattern.as_deref().map(quoted).or(filter.map(|name| quoted(&name)));
        let mut words = vec![start.to_owned(), target];
        words.extend(pattern.map(|pattern| format!("-- {pattern}")));
        words
    }

    fn pytest(&self) -> Vec<String> {
        let program = match self.directory.program("pytest") {
            Some(own) => quoted(&own),
            None => format!("{} -m pytest", self.python()),
        };
        let is_id = |pattern: &&String| pattern.contains("::");
        let (ids, keyword) = match self.choice.pattern.as_ref().filter(is_id) {
            Some(ids) => (ids.split('\n').map(quoted).collect(), String::new()),
            None => (vec![self.file()], self.pattern("-k ")),
        };
        let mut words = vec![
            program,
            "-p no:cacheprovider --color=no -o junit_family=xunit2".to_owned(),
            format!("--junitxml={}", self.report("pytest.xml")),
            keyword,
        ];
        if self.measures(TestFramework::Pytest) {
            words.push(format!("--cov --cov-report=lcov:{}", self.report("coverage.lcov")));
        }
        words.extend(ids);
        words
    }

    fn unittest(&self) -> Vec<String> {
        let python = self.python();
        match self.choice.file {
            Some(_) => vec![python, "-m unittest -v".to_owned(), self.pattern("-k "), self.file()],
            None => {
                let found = ["tests", "test"]
                    .into_iter()
                    .find(|name| self.directory.directories.contains(*name));
                let start = found.map_or_else(String::new, |name| format!("-s {name} -t ."));
                let top = self.directory.files.iter().any(|name| name.starts_with("test_"));
                let start = if top { String::new() } else { start };
                vec![python, "-m unittest discover -v".to_owned(), start, self.pattern("-k ")]
            }
        }
    }

    fn python(&self) -> String {
        let own = ["python", "python3"].iter().find_map(|name| self.directory.program(name));
        own.map_or_else(|| "python3".to_owned(), |own| quoted(&own))
    }

    fn javascript(&self, framework: TestFramework) -> Vec<String> {
        let program = self.program(framework.name());
        match framework {
            TestFramework::Jest => vec![
                program,
                "--ci --json --testLocationInResults".to_owned(),
                format!("--outputFile={}", self.report("jest.json")),
                match self.measures(framework) {
                    true => format!(
                        "--coverage --coverageReporters=lcovonly --coverageDirectory={}",
                        quoted(self.reports)
                    ),
                    false => String::new(),
                },
                self.pattern("-t "),
                match self.file() {
                    file if file.is_empty() => file,
                    file => format!("--runTestsByPath {file}"),
                },
            ],
            TestFramework::Vitest => vec![
                program,
                "run --reporter=default --reporter=json".to_owned(),
                format!("--outputFile.json={}", self.report("vitest.json")),
                match self.measures(framework) {
                    true => format!(
                        "--coverage.enabled --coverage.reporter=lcovonly --coverage.reportsDirectory={}",
                        quoted(self.reports)
                    ),
                    false => String::new(),
                },
                self.pattern("-t "),
                self.file(),
            ],
            _ => vec![
                program,
                "--reporter json".to_owned(),
                format!("--reporter-option output={}", self.report("mocha.json")),
                self.pattern("--grep "),
                self.file(),
            ],
        }
    }

    fn runtime(&self, framework: TestFramework) -> Vec<String> {
        let program = self.program(framework.name());
        match framework {
            TestFramework::Node => vec![
                program,
                "--test --test-reporter=spec --test-reporter-destination=stdout".to_owned(),
                format!(
                    "--test-reporter=junit --test-reporter-destination={}",
                    self.report("node.xml")
                ),
                match self.choice.coverage {
                    true => format!(
                        "--experimental-test-coverage --test-reporter=lcov --test-reporter-destination={}",
                        self.report("coverage.lcov")
                    ),
                    false => String::new(),
                },
                self.pattern("--test-name-pattern="),
                self.file(),
            ],
            TestFramework::Bun => vec![
                program,
                "test --reporter=junit".to_owned(),
                format!("--reporter-outfile={}", self.report("bun.xml")),
                self.pattern("-t "),
                self.file(),
            ],
            _ => vec![
                program,
                "test --cached-only".to_owned(),
                format!("--junit-path={}", self.report("deno.xml")),
                self.pattern("--filter "),
                self.file(),
            ],
        }
    }

    fn go(&self) -> Vec<String> {
        let file = self.choice.file.as_deref().unwrap_or_default();
        let package = match (file.is_empty(), file.rsplit_once('/')) {
            (true, _) => "./...".to_owned(),
            (false, None) => ".".to_owned(),
            (false, Some((directory, _))) => format!("./{directory}"),
        };
        let mut words = vec!["go test -json".to_owned(), self.pattern("-run ")];
        if self.choice.coverage {
            words.push(format!("-coverprofile={}", self.report("cover.out")));
        }
        words.push(quoted(&package));
        words
    }

    fn ctest(&self) -> Vec<String> {
        let build = if self.directory.has_file(&["CTestTestfile.cmake"]) { "." } else { "build" };
        vec![
            format!("ctest --test-dir {build} --output-on-failure --no-tests=error"),
            format!("--output-junit {}", self.report("ctest.xml")),
            self.pattern("-R "),
        ]
    }

    fn script(&self, framework: TestFramework) -> Vec<String> {
        match framework {
            TestFramework::Rspec => vec![
                match self.directory.files.contains("Gemfile.lock") {
                    true => "bundle exec rspec".to_owned(),
                    false => self.program("rspec"),
                },
                format!(
                    "--no-color --format progress --format json --out {}",
                    self.report("rspec.json")
                ),
                self.pattern("-e "),
                self.file(),
            ],
            TestFramework::Phpunit => vec![
                self.program("phpunit"),
                format!("--colors=never --log-junit {}", self.report("phpunit.xml")),
                self.pattern("--filter "),
                self.file(),
            ],
            _ => vec![
                self.program("bats"),
                format!("--report-formatter junit --output {}", quoted(self.reports)),
                self.pattern("--filter "),
                match self.file() {
                    file if file.is_empty() => ".".to_owned(),
                    file => file,
                },
            ],
        }
    }
}

/// The target of cargo that a file belongs to, and the part of the names of its tests.
fn cargo_target(file: &str) -> (String, Option<String>) {
    let Some(path) = file.strip_suffix(".rs") else { return (String::new(), None) };
    if let Some(name) = path.strip_prefix("tests/") {
        let name = name.split('/').next().unwrap_or(name);
        return (format!("--test {}", quoted(name)), None);
    }
    let Some(module) = path.strip_prefix("src/") else { return (String::new(), None) };
    let module = module.strip_suffix("/mod").unwrap_or(module);
    match module {
        "lib" | "main" => (String::new(), None),
        _ => (String::new(), Some(format!("{}::", module.replace('/', "::")))),
    }
}
