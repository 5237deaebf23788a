//! The tests of what changed: from the history of the workspace, and from who uses the names of what changed.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use moss_checks::{PassedProjects, TestChoice, TestFramework};
use moss_sdk::context::{Context, TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::{Content, TextPattern, VisitOptions, VisitedText};
use moss_sdk::history::{PastAction, PastQuery};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::found::{ChosenTests, FoundProject, ProjectQuery, relative};
use crate::extent;

/// Most past changes that are looked at.
const CHANGES_MAX: usize = 500;
/// Most changed files that are looked at.
const FILES_MAX: usize = 100;
/// Most test files of one run.
const TESTS_MAX: usize = 100;
/// Most projects whose tests one run has.
const PROJECTS_MAX: usize = 10;
/// Most files that a note names.
const NAMED_MAX: usize = 10;
/// How far tests are looked for.
const EXTENT: VisitOptions = VisitOptions { entries_max: extent::VISITED_MAX, bytes_max: 1 << 30 };

/// A file, and the number of its latest change.
pub(super) type LatestFileChange = (RelPath, u64);

/// What changed, by the projects that test it.
#[derive(Debug, Default)]
struct ChangedProjects {
    /// In the order of what changed.
    projects: Vec<ChangedProject>,
    /// Files that no framework tests, or not the one that is asked for.
    others: Vec<RelPath>,
    /// Files of further projects.
    left_out: Vec<RelPath>,
    /// Whether a file changed before all tests of its project passed.
    has_passed: bool,
}

/// A project with what changed in it.
#[derive(Debug)]
struct ChangedProject {
    project: FoundProject,
    files: Vec<RelPath>,
}

/// Finds test files that use one of some names.
struct NamingTests {
    framework: TestFramework,
    /// The directory of the project, empty for the workspace root.
    directory: String,
    expression: String,
    found: Vec<String>,
}

/// Every text that has a match is of interest: the host has looked for one.
struct NamingScanner(regex::Regex);

/// The files that changed, each with its latest change, the latest first; none is an error.
pub(super) async fn files(
    cx: &Context,
    beneath: Option<&RelPath>,
) -> Result<Vec<LatestFileChange>, ToolError> {
    let query = PastQuery::newest(CHANGES_MAX);
    let past = cx.past(query).await?;
    let is_beneath =
        |path: &RelPath| beneath.is_none_or(|directory| path.beneath(directory).is_some());
    let (mut files, mut known) = (Vec::new(), BTreeSet::new());
    for change in past.changes.iter().filter(|change| change.undone_by.is_empty()) {
        for file in change.files.iter().filter(|file| file.action != PastAction::Delete) {
            if is_beneath(&file.path) && known.insert(&file.path) {
                files.push((file.path.clone(), change.number));
            }
        }
    }
    if files.is_empty() {
        return Err(nothing_changed("nothing changed, as far as moss's history knows"));
    }
    Ok(files)
}

fn nothing_changed(message: &str) -> ToolError {
    ToolError::new(ErrorCode::NoTests, message)
        .hint("changes that moss did not make are not in it: run them with `scope` `all`")
}

/// The tests of some files, those of each of their projects, in the order of the files. What its project has passed
/// since is left out.
///
/// # Errors
///
/// `NoTests` where nothing tests any of them, and what reading the workspace may meet.
pub(super) async fn tests_of(
    cx: &Context,
    changed: Vec<LatestFileChange>,
    framework: Option<TestFramework>,
    passed: &PassedProjects,
) -> Result<Vec<ChosenTests>, ToolError> {
    let ChangedProjects { projects, others, left_out, has_passed } =
        ChangedProjects::find(cx, &changed, framework, passed).await?;
    if projects.is_empty() && has_passed {
        let message = "nothing that is tested changed since all tests of its project passed, as far as moss's \
                       history knows";
        return Err(nothing_changed(message));
    }
    if projects.is_empty() {
        let names = listed(&others);
        let message = format!("no test framework was found that tests what changed: {names}");
        return Err(ToolError::new(ErrorCode::NoTests, message)
            .hint("run all tests with `scope` `all`, and name the `framework`"));
    }
    let (mut chosen, mut untested) = (Vec::new(), Vec::new());
    for ChangedProject { project, files } in projects {
        match tests_in(cx, project, &files).await? {
            Some(tests) => chosen.push(tests),
            None => untested.extend(files),
        }
    }
    let Some(first) = chosen.first_mut() else {
        let message = format!("no test names anything of what changed: {}", listed(&untested));
        return Err(
            ToolError::new(ErrorCode::NoTests, message).hint("run all tests with `scope` `all`")
        );
    };
    if !untested.is_empty() {
        first.notes.push(format!("no test names anything of: {}", listed(&untested)));
    }
    if !others.is_empty() {
        first.notes.push(format!("changed, too, and not looked at: {}", listed(&others)));
    }
    if !left_out.is_empty() {
        first.notes.push(format!(
            "changed, too, in further projects than the {PROJECTS_MAX} of one run: {}; `path` chooses another project",
            listed(&left_out)
        ));
    }
    Ok(chosen)
}

/// The first of some paths, in words.
fn listed(paths: &[RelPath]) -> String {
    let names: Vec<&str> = paths.iter().take(NAMED_MAX).map(RelPath::as_str).collect();
    let more = paths.len().saturating_sub(NAMED_MAX);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The tests of one project that concern files of it; none where no test does.
async fn tests_in(
    cx: &Context,
    project: FoundProject,
    files: &[RelPath],
) -> Result<Option<ChosenTests>, ToolError> {
    let choice = related(cx, project.framework, project.path(), files).await?;
    let has_none = choice.files.is_empty() && choice.related.is_empty();
    let note = match (has_none, project.framework) {
        (true, TestFramework::Ctest) => {
            "CTest does not say which tests concern a file: all of the project were run".to_owned()
        }
        (true, _) => return Ok(None),
        (false, _) => {
            let chosen = choice.files.iter().chain(&choice.related);
            format!("chosen for what changed: {}", chosen.cloned().collect::<Vec<_>>().join(", "))
        }
    };
    Ok(Some(project.chosen(choice, false, vec![note])))
}

/// Which tests concern some files.
async fn related(
    cx: &Context,
    framework: TestFramework,
    directory: &str,
    changed: &[RelPath],
) -> Result<TestChoice, ToolError> {
    let inside = |path: &RelPath| relative(path.as_str(), directory);
    if framework.finds_related() {
        let related = changed.iter().map(inside).collect();
        return Ok(TestChoice { related, ..TestChoice::default() });
    }
    let mut files: BTreeSet<String> = BTreeSet::new();
    let mut sources = Vec::new();
    for path in changed {
        let file = inside(path);
        let is_package_tested = matches!(framework, TestFramework::Cargo | TestFramework::Nextest);
        if framework.is_test_file(&file) {
            files.insert(file);
        } else if is_package_tested {
            // Tests of a module stand in it and in others that use it: those of its package.
            files.insert("src/lib.rs".to_owned());
        } else {
            if framework == TestFramework::Go {
                // Its package is tested whole.
                files.insert(file);
            }
            sources.push(path.clone());
        }
    }
    let names = declared_names(cx, sources).await?;
    if !names.is_empty() {
        let root = if directory.is_empty() { RelPath::root() } else { RelPath::parse(directory)? };
        let visitor = NamingTests::new(framework, directory, &names);
        let (visitor, _) = cx.visit(&root, EXTENT, visitor).await?;
        files.extend(visitor.found);
    }
    let files = files.into_iter().take(TESTS_MAX).collect();
    Ok(TestChoice { files, ..TestChoice::default() })
}

/// The names that files declare, and those of their modules.
async fn declared_names(
    cx: &Context,
    sources: Vec<RelPath>,
) -> Result<BTreeSet<String>, ToolError> {
    let mut texts = Vec::new();
    for path in sources {
        if let Ok(Some(snapshot)) = cx.read_unasked(&path).await
            && let Content::Text(text) = snapshot.content
        {
            texts.push((path.to_string(), text.text));
        }
    }
    cx.compute(move || moss_checks::declared_names(&texts)).await
}

// === impl ChangedProjects ===

impl ChangedProjects {
    async fn find(
        cx: &Context,
        changed: &[LatestFileChange],
        framework: Option<TestFramework>,
        passed: &PassedProjects,
    ) -> Result<Self, ToolError> {
        let mut found = Self::default();
        // Files of one directory that end alike have the same project.
        let mut known: BTreeMap<(Option<RelPath>, String), Option<FoundProject>> = BTreeMap::new();
        let mut files = 0;
        for (path, number) in changed {
            if files == FILES_MAX {
                break;
            }
            let name = path.file_name().unwrap_or_default();
            let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
            let key = (path.parent(), ending.to_owned());
            if !known.contains_key(&key) {
                known.insert(key.clone(), project_of(cx, path, framework).await?);
            }
            let project = known.get(&key).and_then(Option::as_ref);
            let passed_at = project.map_or(passed.last(), |found| {
                passed.passed_at(found.framework, &found.files, found.directory)
            });
            match project {
                _ if passed_at.is_some_and(|passed_at| *number <= passed_at) => {
                    found.has_passed = true;
                    continue;
                }
                Some(project) => found.add(project, path),
                None => found.others.push(path.clone()),
            }
            files += 1;
        }
        Ok(found)
    }

    fn add(&mut self, project: &FoundProject, path: &RelPath) {
        let is_it = |known: &ChangedProject| known.project.is_same(project);
        match self.projects.iter().position(is_it) {
            Some(at) => self.projects[at].files.push(path.clone()),
            None if self.projects.len() == PROJECTS_MAX => self.left_out.push(path.clone()),
            None => {
                let (project, files) = (project.clone(), vec![path.clone()]);
                self.projects.push(ChangedProject { project, files });
            }
        }
    }
}

/// The project of a file, where there is one and it has the framework that is asked for.
async fn project_of(
    cx: &Context,
    path: &RelPath,
    framework: Option<TestFramework>,
) -> Result<Option<FoundProject>, ToolError> {
    let name = path.file_name().unwrap_or_default();
    if framework.is_some_and(|framework| !framework.runs_file(name)) {
        return Ok(None);
    }
    let query = ProjectQuery { path: path.clone(), is_file: true, framework };
    match FoundProject::find(cx, query).await {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.code == ErrorCode::NoTests => Ok(None),
        Err(error) => Err(error),
    }
}

// === impl NamingTests ===

impl NamingTests {
    fn new(framework: TestFramework, directory: &str, names: &BTreeSet<String>) -> Self {
        let names: Vec<String> = names.iter().map(|name| regex::escape(name)).collect();
        let expression = format!(r"\b(?:{})\b", names.join("|"));
        Self { framework, directory: directory.to_owned(), expression, found: Vec::new() }
    }
}

impl TextVisitor for NamingTests {
    fn wants(&self, path: &RelPath) -> bool {
        self.framework.is_test_file(&relative(path.as_str(), &self.directory))
    }

    fn pattern(&self) -> Option<TextPattern> {
        let expression = self.expression.clone();
        Some(TextPattern { expression, case_sensitive: true, spans_lines: false })
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        // Escaped words joined by bars: at most 300 of them.
        let expression = regex::Regex::new(&self.expression);
        Box::new(NamingScanner(expression.expect("escaped words are an expression")))
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        let finding: Box<dyn Any + Send> = finding;
        let path: RelPath = *finding.downcast().expect("a naming scanner found it");
        self.found.push(relative(path.as_str(), &self.directory));
        match self.found.len() < TESTS_MAX {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

// === impl NamingScanner ===

impl TextScanner for NamingScanner {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        let is_named = self.0.is_match(file.text);
        is_named.then(|| -> TextFinding { Box::new(file.path.clone()) })
    }
}
