//! The tests of what changed: from the history of the workspace, and from who uses the names of what changed.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use moss_checks::{TestChoice, TestFramework};
use moss_sdk::context::{Context, TextFinding, TextScanner, TextVisitor};
use moss_sdk::file::{Content, TextPattern, VisitOptions, VisitedText};
use moss_sdk::history::{PastAction, PastQuery};
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_symbols::{DeclarationKind, Language, Outliner};

use super::found::{ChosenTests, FoundProject, ProjectQuery, relative};
use crate::extent;

/// Most past changes that are looked at.
const CHANGES_MAX: usize = 500;
/// Most changed files that are looked at.
const FILES_MAX: usize = 100;
/// Most names of which tests are looked for.
const NAMES_MAX: usize = 300;
/// Shortest name that says something.
const NAME_CHARS_MIN: usize = 3;
/// Most test files of one run.
const TESTS_MAX: usize = 100;
/// Most projects whose tests one run has.
const PROJECTS_MAX: usize = 10;
/// Most files that a note names.
const NAMED_MAX: usize = 10;
/// How far tests are looked for.
const EXTENT: VisitOptions = VisitOptions { entries_max: extent::VISITED_MAX, bytes_max: 1 << 30 };

/// What changed, by the projects that test it.
#[derive(Debug, Default)]
struct ChangedProjects {
    /// In the order of what changed.
    projects: Vec<ChangedProject>,
    /// Files that no framework tests, or not the one that is asked for.
    others: Vec<RelPath>,
    /// Files of further projects.
    left_out: Vec<RelPath>,
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

/// The files that changed since a change, the latest first; none where nothing did.
pub(super) async fn since(
    cx: &Context,
    since: Option<u64>,
    beneath: Option<&RelPath>,
) -> Result<Vec<RelPath>, ToolError> {
    let query = PastQuery { path: None, changes_max: CHANGES_MAX, diff_bytes_max: 0 };
    let past = cx.past(query).await?;
    let newer =
        past.changes.iter().filter(|change| since.is_none_or(|since| change.number > since));
    let is_beneath = |path: &RelPath| {
        beneath.is_none_or(|directory| {
            directory.is_root()
                || path == directory
                || path
                    .as_str()
                    .strip_prefix(directory.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let mut files: Vec<RelPath> = Vec::new();
    let changed =
        newer.filter(|change| change.undone_by.is_empty()).flat_map(|change| &change.files);
    for file in changed.filter(|file| file.action != PastAction::Delete && is_beneath(&file.path)) {
        if !files.contains(&file.path) && files.len() < FILES_MAX {
            files.push(file.path.clone());
        }
    }
    if files.is_empty() {
        let message = match since {
            Some(_) => "nothing changed since all tests passed, as far as moss's history knows",
            None => "nothing changed, as far as moss's history knows",
        };
        return Err(ToolError::new(ErrorCode::NoTests, message)
            .hint("changes that moss did not make are not in it: run them with `scope` `all`"));
    }
    Ok(files)
}

/// The tests of some files, those of each of their projects, in the order of the files.
///
/// # Errors
///
/// `NoTests` where nothing tests any of them, and what reading the workspace may meet.
pub(super) async fn tests_of(
    cx: &Context,
    changed: Vec<RelPath>,
    framework: Option<TestFramework>,
) -> Result<Vec<ChosenTests>, ToolError> {
    let ChangedProjects { projects, others, left_out } =
        ChangedProjects::find(cx, &changed, framework).await?;
    if projects.is_empty() {
        let names = listed(&changed);
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
        (false, _) => format!("chosen for what changed: {}", choice.files.join(", ")),
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
            texts.push((path, text.text));
        }
    }
    let names = move || {
        let mut outliner = Outliner::default();
        let mut names = BTreeSet::new();
        for (path, text) in &texts {
            let stem = path.file_name().and_then(|name| name.split('.').next());
            names.extend(stem.map(str::to_owned));
            let Some(language) = Language::of_text(path.as_str(), text) else { continue };
            let Ok(outline) = outliner.outline(language, text) else { continue };
            let outer = outline.declarations.iter().filter(|declaration| {
                !matches!(
                    declaration.kind,
                    DeclarationKind::Field
                        | DeclarationKind::Variant
                        | DeclarationKind::Variable
                        | DeclarationKind::Heading
                        | DeclarationKind::Key
                )
            });
            names.extend(outer.filter_map(|declaration| {
                let range = declaration.name.start as usize..declaration.name.end as usize;
                text.get(range).map(str::to_owned)
            }));
        }
        let says_something = |name: &String| {
            let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            let is_common =
                ["index", "main", "mod", "new", "lib", "__init__"].contains(&name.as_str());
            is_word && !is_common && name.chars().count() >= NAME_CHARS_MIN
        };
        names.into_iter().filter(says_something).take(NAMES_MAX).collect()
    };
    cx.compute(names).await
}

// === impl ChangedProjects ===

impl ChangedProjects {
    async fn find(
        cx: &Context,
        changed: &[RelPath],
        framework: Option<TestFramework>,
    ) -> Result<Self, ToolError> {
        let mut found = Self::default();
        // Files of one directory that end alike have the same project.
        let mut known: BTreeMap<(Option<RelPath>, String), Option<FoundProject>> = BTreeMap::new();
        for path in changed {
            let name = path.file_name().unwrap_or_default();
            let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
            let key = (path.parent(), ending.to_owned());
            if !known.contains_key(&key) {
                known.insert(key.clone(), project_of(cx, path, framework).await?);
            }
            match known.get(&key).and_then(Option::as_ref) {
                Some(project) => found.add(project, path),
                None => found.others.push(path.clone()),
            }
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
