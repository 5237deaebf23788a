//! The tests of what changed: from the history of the workspace, and from who uses the names of what changed.

use std::any::Any;
use std::collections::BTreeSet;
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
/// How far tests are looked for.
const EXTENT: VisitOptions = VisitOptions { entries_max: extent::VISITED_MAX, bytes_max: 1 << 30 };

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

/// The tests of some files of one project: that of the first of which there is a framework.
pub(super) async fn tests_of(
    cx: &Context,
    changed: Vec<RelPath>,
    framework: Option<TestFramework>,
) -> Result<ChosenTests, ToolError> {
    let mut project = None;
    for path in &changed {
        let query = ProjectQuery { path: path.clone(), is_file: true, framework: None };
        match FoundProject::find(cx, query).await {
            Ok(found) if framework.is_none_or(|one| one == found.framework) => {
                project = Some(found);
                break;
            }
            Ok(_) => {}
            Err(error) if error.code == ErrorCode::NoTests => {}
            Err(error) => return Err(error),
        }
    }
    let Some(project) = project else {
        let names: Vec<&str> = changed.iter().take(10).map(RelPath::as_str).collect();
        let message =
            format!("no test framework was found that tests what changed: {}", names.join(", "));
        return Err(ToolError::new(ErrorCode::NoTests, message)
            .hint("run all tests with `scope` `all`, and name the `framework`"));
    };
    let framework = project.framework;
    let directory = project.path().to_owned();
    let is_inside = |path: &&RelPath| {
        let is_beneath = directory.is_empty()
            || path.as_str().strip_prefix(&directory).is_some_and(|rest| rest.starts_with('/'));
        is_beneath && framework.runs_file(path.file_name().unwrap_or_default())
    };
    let (own, others): (Vec<&RelPath>, Vec<&RelPath>) = changed.iter().partition(is_inside);
    let mut notes = Vec::new();
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().take(10).map(|path| path.as_str()).collect();
        notes.push(format!("changed, too, and not looked at: {}", names.join(", ")));
    }
    let choice = related(cx, framework, &directory, &own).await?;
    if choice.files.is_empty() && choice.related.is_empty() {
        let names: Vec<&str> = own.iter().take(10).map(|path| path.as_str()).collect();
        let message = format!("no test names anything of what changed: {}", names.join(", "));
        return Err(
            ToolError::new(ErrorCode::NoTests, message).hint("run all tests with `scope` `all`")
        );
    }
    notes.push(format!("chosen for what changed: {}", choice.files.join(", ")));
    Ok(project.chosen(choice, false, notes))
}

/// Which tests concern some files.
async fn related(
    cx: &Context,
    framework: TestFramework,
    directory: &str,
    changed: &[&RelPath],
) -> Result<TestChoice, ToolError> {
    let inside = |path: &RelPath| relative(path.as_str(), directory);
    if framework.finds_related() {
        let related = changed.iter().map(|path| inside(path)).collect();
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
            sources.push((*path).clone());
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
        Some(TextPattern { expression: self.expression.clone(), case_sensitive: true })
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
