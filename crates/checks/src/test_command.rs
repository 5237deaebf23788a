//! The command that runs tests, with a report that a program can read.
//!
//! Nothing is installed or downloaded, and no configuration of the project is changed.

mod compiled;
mod coverage;
mod doc_tests;
mod javascript;
mod jvm;
mod python;
mod script;
mod scripted;

pub(crate) use self::compiled::rust_module;
use crate::bash_word::{joined, quoted};
use crate::framework::TestFramework;
use crate::project::{ProjectDirectory, ProjectFiles};
use crate::run::{CheckCommand, ReportFile};

/// The name of the reporter of Mocha, which lies where reports do.
const MOCHA_REPORTER: &str = "mocha.cjs";
/// The name of the reporter of Node.js, which lies there, too.
const NODE_REPORTER: &str = "node.mjs";

/// Which tests are run, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestChoice {
    /// Only those of these files or directories, relative to the directory of the project.
    pub files: Vec<String>,
    /// Only those that concern these source files, relative to the directory of the project, where
    /// [`TestFramework::finds_related`].
    pub related: Vec<String>,
    /// Which tests of those files.
    pub selection: TestSelection,
    /// Whether to measure which lines run.
    pub coverage: bool,
}

/// Which tests of the chosen files are run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TestSelection {
    /// All tests of the chosen files.
    #[default]
    All,
    /// Those that the framework finds by this: a part of a name, an expression, an id that an earlier result
    /// had.
    Pattern(String),
    /// Exactly these, by the ids of an earlier result.
    Ids(Vec<String>),
}

/// A command with what has to be known to read what it leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCommand {
    /// The text for bash, and the directory in which it runs.
    pub command: CheckCommand,
    /// Files that have to lie in the directory of reports before it runs.
    pub inputs: Vec<ReportFile>,
    /// Directories, relative to the workspace root, in which the tool writes reports where it cannot be asked
    /// to write them elsewhere.
    pub report_directories: Vec<String>,
    /// What was asked for and is not done, one sentence each.
    pub notes: Vec<String>,
}

/// The words of one command, as they come to be.
pub(crate) struct Words<'a> {
    files: &'a ProjectFiles,
    place: usize,
    choice: &'a TestChoice,
    /// The directory of reports.
    reports: &'a str,
}

// === impl TestFramework ===

impl TestFramework {
    /// Says how tests are run in one of the directories, with reports in an absolute one.
    pub fn command(
        self,
        files: &ProjectFiles,
        directory: usize,
        choice: &TestChoice,
        reports: &str,
    ) -> TestCommand {
        let words = Words { files, place: directory, choice, reports };
        let command = joined(match self {
            Self::Cargo => words.cargo(),
            Self::Nextest => words.nextest(),
            Self::Go => words.go(),
            Self::Ctest => words.ctest(),
            Self::Maven => words.maven(),
            Self::Gradle => words.gradle(),
            Self::Dotnet => words.dotnet(),
            Self::Swift => words.swift(),
            Self::Pytest => words.pytest(),
            Self::Unittest => words.unittest(),
            Self::Jest => words.jest(),
            Self::Vitest => words.vitest(),
            Self::Mocha => words.mocha(),
            Self::Node => words.node(),
            Self::Bun => words.bun(),
            Self::Deno => words.deno(),
            Self::Rspec => words.rspec(),
            Self::Phpunit => words.phpunit(),
            Self::Bats => words.bats(),
        });
        let own = words.directory();
        let mut notes = Vec::new();
        if choice.coverage && !self.measures_in(files, directory) {
            notes.push(Some(self.unmeasured()));
        }
        notes.push(self.widened(choice, own));
        TestCommand {
            command: CheckCommand { command, directory: own.path.clone() },
            inputs: self.inputs(reports, choice.coverage),
            report_directories: self.report_directories(own, choice.coverage),
            notes: notes.into_iter().flatten().collect(),
        }
    }

    /// What more is run than the files that were chosen.
    fn widened(self, choice: &TestChoice, project: &ProjectDirectory) -> Option<String> {
        let is_all = choice.selection == TestSelection::All;
        match self {
            _ if choice.files.is_empty() => None,
            Self::Ctest | Self::Dotnet | Self::Swift if is_all => Some(format!(
                "{} chooses tests by name, not by file: all of the project were run",
                self.name()
            )),
            Self::Go if is_all && choice.files.iter().any(|file| file.ends_with(".go")) => Some(
                "Go runs packages, not files: all tests of the package of a file were run"
                    .to_owned(),
            ),
            Self::Cargo | Self::Nextest => compiled::widened_by_cargo(self, choice, project),
            _ => None,
        }
    }

    /// What the tool reads from a file.
    fn inputs(self, reports: &str, coverage: bool) -> Vec<ReportFile> {
        let (name, text) = match self {
            Self::Nextest => ("nextest.toml", compiled::nextest_configuration(reports)),
            Self::Gradle => ("reports.gradle", jvm::gradle_script(reports, coverage)),
            Self::Mocha => (MOCHA_REPORTER, include_str!("test_command/mocha.cjs").to_owned()),
            Self::Node => (NODE_REPORTER, include_str!("test_command/node.mjs").to_owned()),
            _ => return Vec::new(),
        };
        vec![ReportFile { name: name.to_owned(), text }]
    }
}

// === impl Words ===

impl Words<'_> {
    fn directory(&self) -> &ProjectDirectory {
        &self.files.directories[self.place]
    }

    /// The program of the project, or that of the machine.
    fn program(&self, name: &str) -> String {
        self.own_program(name).unwrap_or_else(|| name.to_owned())
    }

    fn own_program(&self, name: &str) -> Option<String> {
        self.files.program(self.place, name).map(|own| quoted(&own))
    }

    fn report(&self, name: &str) -> String {
        quoted(&format!("{}/{name}", self.reports))
    }

    fn pattern(&self) -> Option<&str> {
        match &self.choice.selection {
            TestSelection::Pattern(pattern) => Some(pattern),
            _ => None,
        }
    }

    fn ids(&self) -> Option<&[String]> {
        match &self.choice.selection {
            TestSelection::Ids(ids) => Some(ids),
            _ => None,
        }
    }

    /// An option whose value is an expression that ids and patterns are, too: one of several ids.
    fn expression(&self, option: &str) -> String {
        let expression = match &self.choice.selection {
            TestSelection::All => return String::new(),
            TestSelection::Pattern(pattern) => pattern.clone(),
            TestSelection::Ids(ids) => ids.join("|"),
        };
        format!("{option}{}", quoted(&expression))
    }

    /// An option, once for each pattern or id.
    fn each(&self, option: &str) -> String {
        let each = |value: &String| format!("{option}{}", quoted(value));
        match &self.choice.selection {
            TestSelection::All => String::new(),
            TestSelection::Pattern(pattern) => each(pattern),
            TestSelection::Ids(ids) => joined(ids.iter().map(each)),
        }
    }

    /// The files, none of which is taken for an option.
    fn paths(&self) -> String {
        joined(self.choice.files.iter().map(|file| path(file)))
    }

    fn measures(&self, framework: TestFramework) -> bool {
        self.choice.coverage && framework.measures_in(self.files, self.place)
    }
}

/// A path that is not taken for an option.
fn path(file: &str) -> String {
    match file {
        "" => ".".to_owned(),
        file if file.starts_with('-') => quoted(&format!("./{file}")),
        file => quoted(file),
    }
}

#[cfg(test)]
mod tests;
