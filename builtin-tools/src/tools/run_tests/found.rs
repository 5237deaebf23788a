//! The project of a file or a directory, its framework, and what was chosen of its tests.

use moss_checks::{
    FoundFramework, ProjectDirectory, ProjectFiles, TestChoice, TestFramework, test_frameworks,
};
use moss_sdk::context::Context;
use moss_sdk::{ErrorCode, RelPath, ToolError};

use crate::project;

/// What is run, and where.
#[derive(Debug)]
pub(super) struct ChosenTests {
    pub(super) framework: TestFramework,
    pub(super) files: ProjectFiles,
    /// The index of the directory of the project in these.
    pub(super) directory: usize,
    pub(super) choice: TestChoice,
    /// Whether they are all that the project has, as far as the framework knows.
    pub(super) is_all: bool,
    pub(super) notes: Vec<String>,
}

/// A project and its framework.
#[derive(Debug, Clone)]
pub(super) struct FoundProject {
    pub(super) framework: TestFramework,
    pub(super) files: ProjectFiles,
    pub(super) directory: usize,
    /// The other frameworks that were found, each with its directory.
    others: Vec<String>,
}

/// What is looked for: the project of a file, or of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProjectQuery {
    pub(super) path: RelPath,
    pub(super) is_file: bool,
    pub(super) framework: Option<TestFramework>,
}

// === impl FoundProject ===

impl FoundProject {
    /// Finds the project of a file or a directory, and its framework.
    pub(super) async fn find(cx: &Context, query: ProjectQuery) -> Result<Self, ToolError> {
        let ProjectQuery { path, is_file, framework } = query;
        let start =
            if is_file { path.parent().unwrap_or_else(RelPath::root) } else { path.clone() };
        let name = path.file_name().unwrap_or_default();
        let mut files = project::around(cx, &start).await?;
        let is_it = |found: &FoundFramework| {
            (!is_file || found.framework.runs_file(name))
                && framework.is_none_or(|one| one == found.framework)
        };
        let mut found: Vec<_> = test_frameworks(&files).into_iter().filter(is_it).collect();
        if found.is_empty() && start.is_root() && !is_file {
            let mut beneath = project::beneath_root(cx).await?;
            beneath.directories.extend(files.directories.iter().cloned());
            found = test_frameworks(&beneath).into_iter().filter(is_it).collect();
            if !found.is_empty() {
                files = beneath;
            }
        }
        if let (true, Some(framework)) = (found.is_empty(), framework) {
            // It was named: manifests need not say so.
            let has_manifest = |one: &ProjectDirectory| !one.manifests.is_empty();
            let last = files.directories.len().saturating_sub(1);
            let directory = files.directories.iter().position(has_manifest).unwrap_or(last);
            let reason = "it was named".to_owned();
            found.push(FoundFramework { framework, directory, reason });
        }
        let Some(first) = found.first() else { return Err(unknown(&path, is_file)) };
        // A path chooses: what lies above it was not meant.
        let is_open =
            |other: &&FoundFramework| start.is_root() || other.directory == first.directory;
        let others =
            found.iter().skip(1).filter(is_open).map(|other| place(other, &files)).collect();
        Ok(Self { framework: first.framework, directory: first.directory, others, files })
    }

    /// The directory of the project, empty for the workspace root.
    pub(super) fn path(&self) -> &str {
        &self.files.directories[self.directory].path
    }

    /// Whether both are the same tests.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.framework == other.framework && self.path() == other.path()
    }

    pub(super) fn chosen(
        self,
        choice: TestChoice,
        is_all: bool,
        mut notes: Vec<String>,
    ) -> ChosenTests {
        let Self { framework, files, directory, others } = self;
        if !others.is_empty() {
            notes.push(format!(
                "found, too, and not run: {}; `framework` and `path` choose",
                others.join(", ")
            ));
        }
        ChosenTests { framework, files, directory, choice, is_all, notes }
    }
}

// === impl ChosenTests ===

impl ChosenTests {
    /// The directory of the project, empty for the workspace root.
    pub(super) fn path(&self) -> &str {
        &self.files.directories[self.directory].path
    }

    /// What it is called where there are several: `pytest in tools`.
    pub(super) fn name(&self) -> String {
        named(self.framework, self.path())
    }
}

fn place(found: &FoundFramework, files: &ProjectFiles) -> String {
    named(found.framework, &files.directories[found.directory].path)
}

fn named(framework: TestFramework, directory: &str) -> String {
    match directory {
        "" => framework.name().to_owned(),
        path => format!("{} in {path}", framework.name()),
    }
}

fn unknown(path: &RelPath, is_file: bool) -> ToolError {
    let names: Vec<&str> = TestFramework::all().map(TestFramework::name).collect();
    let what = match is_file {
        true => format!("no test framework was found that runs {path}"),
        false if path.is_root() => {
            "no test framework was found in the workspace root and the directories in it".to_owned()
        }
        false => format!("no test framework was found in {path} and the directories around it"),
    };
    ToolError::new(ErrorCode::NoTests, what).hint(format!(
        "looked for {} in manifests, configuration and names of files: `path` names a directory further below, such as a \
         package, `framework` names one, others run with run_terminal_cmd",
        names.join(", ")
    ))
}

/// A path in a directory, relative to that.
pub(super) fn relative(path: &str, directory: &str) -> String {
    let path = if path == "." { "" } else { path };
    let inside = path.strip_prefix(directory).map(|rest| rest.trim_start_matches('/'));
    inside.unwrap_or(path).to_owned()
}
