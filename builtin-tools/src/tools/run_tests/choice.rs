//! Which tests are run: the project, its framework, the files and names of them.

use moss_checks::{TestChoice, TestFramework, TestSelection};
use moss_sdk::context::Context;
use moss_sdk::editor::Position;
use moss_sdk::file::Content;
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_symbols::Outliner;

use super::failed::FailedTests;
use super::found::{ChosenTests, FoundProject, ProjectQuery, relative};
use super::memory::TestMemory;
use super::{RunTests, TestScope, changed};
use crate::project::{self, Named};

/// Longest pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 4_096;

/// Finds what a call asks for: at least one project, several where what failed or changed lies in several.
pub(super) async fn choose(
    tests: RunTests,
    cx: &Context,
    memory: &TestMemory,
) -> Result<Vec<ChosenTests>, ToolError> {
    let RunTests { test_file, test_pattern, coverage, scope, path, framework } = tests;
    let pattern = test_pattern.filter(|pattern| !pattern.is_empty());
    if let Some(pattern) = &pattern {
        check_pattern(pattern)?;
    }
    let test_file = test_file.filter(|file| !file.trim_end_matches('/').is_empty());
    let scope = scope.unwrap_or(if test_file.is_some() { TestScope::File } else { TestScope::All });
    let mut chosen = match scope {
        TestScope::All | TestScope::File => {
            let named = test_file.as_deref().or(path.as_deref());
            let named = named.map(|path| cx.path(path_of(path))).transpose()?;
            let path = match (named, scope) {
                // `path` may be a directory, which is no file whose tests are meant.
                (Some(path), TestScope::File) if test_file.is_none() => {
                    match project::named(cx, &path).await? {
                        Named::File => path,
                        Named::Directory => focus(cx)?.0,
                    }
                }
                (Some(path), _) => path,
                (None, TestScope::File) => focus(cx)?.0,
                (None, _) => RelPath::root(),
            };
            vec![named_tests(cx, path, scope == TestScope::All, framework).await?]
        }
        TestScope::Failed => failed_tests(cx, memory, framework).await?,
        TestScope::Changed => {
            let beneath = path.as_deref().map(|path| cx.path(path_of(path))).transpose()?;
            let changed = changed::files(cx, beneath.as_ref()).await?;
            changed::tests_of(cx, changed, framework, memory.passed()).await?
        }
        TestScope::Cursor => tests_at_cursor(cx, memory, framework).await?,
    };
    for chosen in &mut chosen {
        chosen.choice.coverage = coverage;
        let Some(pattern) = &pattern else { continue };
        if chosen.choice.selection != TestSelection::All {
            return Err(ToolError::new(
                ErrorCode::InvalidArguments,
                "`testPattern` goes with the scopes `all`, `file` and `changed` only",
            )
            .hint("leave out `testPattern`, or `scope`"));
        }
        chosen.choice.selection = TestSelection::Pattern(pattern.clone());
        chosen.is_all = false;
    }
    Ok(chosen)
}

fn path_of(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" => ".",
        bare => bare,
    }
}

/// The tests of a file, or of the project of a directory.
async fn named_tests(
    cx: &Context,
    path: RelPath,
    is_all: bool,
    framework: Option<TestFramework>,
) -> Result<ChosenTests, ToolError> {
    let is_file = project::named(cx, &path).await? == Named::File;
    let query = ProjectQuery { path: path.clone(), is_file, framework };
    let found = FoundProject::find(cx, query).await?;
    let relative = relative(path.as_str(), found.path());
    let takes_it = is_file || found.framework.takes_directories();
    let mut notes = Vec::new();
    let files = match (is_file, relative.as_str()) {
        (true, _) if is_all => Vec::new(),
        (_, "") => Vec::new(),
        (_, file) if takes_it => vec![file.to_owned()],
        (_, directory) => {
            notes.push(format!(
                "{} runs no directory alone: all tests of the project were run, not only those in {directory}",
                found.framework.name()
            ));
            Vec::new()
        }
    };
    let is_all = files.is_empty();
    Ok(found.chosen(TestChoice { files, ..TestChoice::default() }, is_all, notes))
}

/// The tests that failed at the last run, of each of its projects.
async fn failed_tests(
    cx: &Context,
    memory: &TestMemory,
    framework: Option<TestFramework>,
) -> Result<Vec<ChosenTests>, ToolError> {
    let is_asked = |failed: &&FailedTests| framework.is_none_or(|one| one == failed.framework);
    let failed: Vec<&FailedTests> = memory.failed().iter().filter(is_asked).collect();
    if failed.is_empty() {
        let message = "no test is known to have failed at your last run";
        return Err(ToolError::new(ErrorCode::NoTests, message).hint(
            "run them with `scope` `all` first; what failed is forgotten when the daemon ends",
        ));
    }
    let (named, nameless): (Vec<&FailedTests>, Vec<_>) =
        failed.into_iter().partition(|failed| !failed.ids.is_empty());
    let more: u64 = nameless.iter().map(|failed| failed.more).sum();
    if named.is_empty() {
        let message = format!("{more} tests failed at an earlier run, and no name of them is kept");
        return Err(ToolError::new(ErrorCode::NoTests, message).hint("run them with `scope` `all`"));
    }
    let mut chosen = Vec::new();
    for failed in named {
        chosen.push(failed_in(cx, failed).await?);
    }
    if let (Some(first), true) = (chosen.first_mut(), more > 0) {
        first.notes.push(unnamed(more));
    }
    Ok(chosen)
}

/// The tests of one project that failed.
async fn failed_in(cx: &Context, failed: &FailedTests) -> Result<ChosenTests, ToolError> {
    let notes = if failed.more > 0 { vec![unnamed(failed.more)] } else { Vec::new() };
    let path = match failed.directory.as_str() {
        "" => RelPath::root(),
        path => RelPath::parse(path)?,
    };
    let query = ProjectQuery { path, is_file: false, framework: Some(failed.framework) };
    let found = FoundProject::find(cx, query).await?;
    let selection = TestSelection::Ids(failed.ids.clone());
    let choice = TestChoice { files: failed.files.clone(), selection, ..TestChoice::default() };
    Ok(found.chosen(choice, false, notes))
}

fn unnamed(more: u64) -> String {
    format!(
        "{more} more failed at an earlier run and are not run, because no name of them is kept: `scope` `all` \
         runs them"
    )
}

/// The file that has the focus in the editor, and where its cursor is.
fn focus(cx: &Context) -> Result<(RelPath, Position), ToolError> {
    let state = cx.editors().state();
    let Some(focus) = state.as_ref().and_then(|state| state.focus.as_ref()) else {
        let message = match state {
            None => "no editor is attached",
            Some(_) => "no file of the workspace has the focus in the editor",
        };
        return Err(ToolError::new(ErrorCode::NotFound, message)
            .hint("name the file in `testFile`, and the test in `testPattern`"));
    };
    Ok((focus.path.clone(), focus.cursor))
}

/// The test at the cursor, or those of the file that has the focus.
async fn tests_at_cursor(
    cx: &Context,
    memory: &TestMemory,
    framework: Option<TestFramework>,
) -> Result<Vec<ChosenTests>, ToolError> {
    let (path, cursor) = focus(cx)?;
    let query = ProjectQuery { path: path.clone(), is_file: true, framework };
    let found = FoundProject::find(cx, query).await?;
    let Content::Text(text) = cx.read(&path).await?.content else {
        return Err(ToolError::new(ErrorCode::Binary, format!("{path} is no text")));
    };
    let state = cx.editors().state();
    let is_unsaved =
        state.iter().flat_map(|state| &state.open).any(|open| open.path == path && open.unsaved);
    let mut notes = Vec::new();
    if is_unsaved {
        notes.push(format!(
            "{path} has changes in the editor that are not saved: they were not tested"
        ));
    }
    let file = relative(path.as_str(), found.path());
    let framework = found.framework;
    let asked = file.clone();
    let line = usize::try_from(cursor.line).unwrap_or(usize::MAX).saturating_add(1);
    let at = cx
        .compute(move || framework.test_at(&mut Outliner::default(), &asked, &text.text, line))
        .await?;
    if at.is_none() && !framework.is_test_file(&file) {
        let asked = vec![(path, u64::MAX)];
        let mut chosen = changed::tests_of(cx, asked, Some(framework), memory.passed()).await?;
        if let Some(first) = chosen.first_mut() {
            first.notes.extend(notes);
        }
        return Ok(chosen);
    }
    if at.is_none() {
        notes.push(format!(
            "no test is known at line {line} of {path}: all tests of the file were run"
        ));
    }
    let selection = at.unwrap_or_default();
    let choice = TestChoice { files: vec![file], selection, ..TestChoice::default() };
    Ok(vec![found.chosen(choice, false, notes)])
}

fn check_pattern(pattern: &str) -> Result<(), ToolError> {
    let is_option = pattern.starts_with('-');
    if !is_option && pattern.len() <= PATTERN_BYTES_MAX && !pattern.contains('\0') {
        return Ok(());
    }
    let message = match is_option {
        true => "a pattern that begins with `-` would be an option of the framework".to_owned(),
        false => format!("the pattern has more than {PATTERN_BYTES_MAX} bytes, or a NUL"),
    };
    Err(ToolError::new(ErrorCode::InvalidArguments, message)
        .hint("give a part of the name of a test"))
}
