//! `codebase_search`: the parts of the code that are relevant to a question, without any model.

mod output;

use std::sync::Arc;

use moss_ranking::{CodeGathering, CodeQuestion, FileTypes, WrittenLocation};
use moss_sdk::code_search::{CodeSearch, CodeSearchFound, CodeSearchGoal};
use moss_sdk::context::Context;
use moss_sdk::file::Content;
use moss_sdk::{Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use self::output::{CodebaseSearchOutput, ResultBudget};

/// Most results of one call.
const LIMIT_MAX: u64 = 50;
/// Most results of one file.
const HITS_OF_FILE_MAX: usize = 3;

/// What to say of a question beside a place.
const UNASKED: &str = "`query` was not asked: `related_to` says what is searched for";

/// Whether a query says no more than `related_to` does.
fn is_same(query: &str, related_to: &str) -> bool {
    let query = query.trim();
    query.is_empty() || query == related_to.trim()
}

fn default_limit() -> u64 {
    10
}

/// Finds the parts of the code that are relevant to a question in plain words, English or Chinese: `where are
/// failed requests retried`. Returns functions, types and sections, best first, with their place, a
/// snippet and which words of the question they have where.
///
/// Names count most, then paths, documentation and text; word forms, `camelCase` and `snake_case` are
/// alike; tests, documents and vendored files come after source unless the question asks for them. A
/// name alone (`Store::open`) gives its declaration first; `path:line` (`src/store.rs:40`) gives what
/// belongs to that place: callers, what it uses, the like. Files are searched as they are now, unsaved
/// ones included. For every use of a name use find_code_location, for exact text grep_search.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CodebaseSearch {
    /// A question in plain words, a name, or `path:line` for what belongs to a place.
    query: String,
    /// Searches only files of this type: a type name (`rust`, `py`) or an extension (`.rs`), several
    /// separated by commas. Default: every text file.
    file_type: Option<String>,
    /// Most results to return, up to 50. Default: 10.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: u64,
    /// Finds what belongs to this place, a `path:line` such as `src/store.rs:40`, in place of searching for `query`, which
    /// may be empty then.
    #[serde(rename = "related_to")]
    #[schemars(extend("x-extra" = true))]
    related_to: Option<String>,
}

impl Tool for CodebaseSearch {
    const NAME: &'static str = "codebase_search";
    const TITLE: &'static str = "Search the codebase";
    const EFFECT: Effect = Effect::Read;
    type Output = CodebaseSearchOutput;

    async fn run(self, cx: Context) -> Result<CodebaseSearchOutput, ToolError> {
        let types = self.file_type.as_deref().map(FileTypes::parse).transpose()?;
        let related_to = self.related_to.filter(|place| !place.trim().is_empty());
        let goal = match &related_to {
            Some(related_to) => related(&cx, related_to).await?,
            None => match place(&cx, &self.query).await? {
                Some(goal) => goal,
                None => question(self.query.clone())?,
            },
        };
        let is_related = matches!(goal, CodeSearchGoal::RelatedTo { .. });
        let limit = usize::try_from(self.limit.min(LIMIT_MAX)).expect("the bound is small");
        let search = CodeSearch {
            goal,
            wants: Arc::new(move |path| types.as_ref().is_none_or(|types| types.admits(path))),
            hits_max: limit,
            hits_of_file_max: HITS_OF_FILE_MAX,
        };
        let (found, note) = match cx.search_code(search.clone()).await? {
            Some(found) => (found, None),
            None => gather(&cx, search).await?,
        };
        let mut budget = ResultBudget::new(is_related);
        let best = found.hits.first().map_or(1.0, |first| first.score);
        for hit in &found.hits {
            let Some(text) = read(&cx, &hit.path).await? else { continue };
            budget.take(hit, &text, best);
        }
        let unasked = related_to.is_some_and(|place| !is_same(&self.query, &place));
        let note = unasked.then(|| UNASKED.to_owned()).into_iter().chain(note);
        Ok(CodebaseSearchOutput::new(budget, &found, note.collect()))
    }
}

/// Reads the files and searches them; also says what was left out.
async fn gather(
    cx: &Context,
    search: CodeSearch,
) -> Result<(CodeSearchFound, Option<String>), ToolError> {
    let gathering = CodeGathering::new(&search);
    let (gathering, visited) = cx.visit(&RelPath::root(), CodeGathering::EXTENT, gathering).await?;
    let found = cx.compute(move || gathering.answer(&search));
    let note = visited.truncated.then(|| {
        let files = visited.files;
        format!("the search ended at a bound after {files} files: what is in the rest is unknown")
    });
    Ok((found.await?, note))
}

/// Reads a file that was found; none where it is gone by now or may not be read.
async fn read(cx: &Context, path: &RelPath) -> Result<Option<String>, ToolError> {
    match cx.read_unasked(path).await {
        Ok(Some(snapshot)) => match snapshot.content {
            Content::Text(text) => Ok(Some(text.text)),
            Content::Binary => Ok(None),
        },
        Ok(None) => Ok(None),
        Err(error) if error.code == ErrorCode::Cancelled => Err(error),
        Err(_) => Ok(None),
    }
}

fn question(query: String) -> Result<CodeSearchGoal, ToolError> {
    if CodeQuestion::parse(&query).is_empty() {
        let message = "`query` has no word that could be searched for";
        return Err(ToolError::new(ErrorCode::InvalidArguments, message)
            .hint("ask with words that the code may have, such as `retry failed requests`"));
    }
    Ok(CodeSearchGoal::Question(query))
}

/// Reads the place that `related_to` names.
///
/// # Errors
///
/// Where it names none, or no such text can be read.
async fn related(cx: &Context, related_to: &str) -> Result<CodeSearchGoal, ToolError> {
    if let Some(goal) = place(cx, related_to).await? {
        return Ok(goal);
    }
    let message = format!("`related_to` names no line of a file: {related_to}");
    Err(ToolError::new(ErrorCode::InvalidArguments, message)
        .hint("name a file from the workspace root and a line of it, such as `src/main.rs:40`"))
}

/// Reads a query of the form `path:line`, with or without a column; none where it is another.
///
/// # Errors
///
/// Where it can only be that and no such text can be read. Which of its reasons that has is not said: a file that
/// the policy keeps from the caller does not exist for it.
async fn place(cx: &Context, query: &str) -> Result<Option<CodeSearchGoal>, ToolError> {
    let Some(location) = WrittenLocation::parse(query) else { return Ok(None) };
    let (Ok(path), line) = (cx.path(&location.path), location.line) else { return Ok(None) };
    let Some(text) = read(cx, &path).await? else {
        return if location.is_path() { Err(no_such_text(&path, line)) } else { Ok(None) };
    };
    let lines = text.lines().count();
    if line == 0 || line as usize > lines {
        let message = format!("{path} has {lines} lines: there is no line {line}");
        return Err(ToolError::new(ErrorCode::InvalidArguments, message)
            .hint("name a line of the file, such as the one of a declaration"));
    }
    Ok(Some(CodeSearchGoal::RelatedTo { path, line, text: text.into() }))
}

fn no_such_text(path: &RelPath, line: u32) -> ToolError {
    let message =
        format!("{path} is no text file that can be read: nothing belongs to its line {line}");
    ToolError::new(ErrorCode::NotFound, message).hint(
        "name a file by its path from the workspace root, such as `src/main.rs:40` (file_search finds it by its \
         name), or ask in words, without a colon and a number",
    )
}

#[cfg(test)]
mod tests;
