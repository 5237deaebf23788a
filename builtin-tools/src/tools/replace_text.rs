//! `replace_text`: new text in the place of a text that occurs exactly once.

use moss_sdk::context::Context;
use moss_sdk::{Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::closest::{closest, same_but_for_white_space};
use crate::edit::{Edit, EditOutput, Target};
use crate::lines::{LineSpan, Lines, has_gutter, refuse_gutter};
use crate::search::{OCCURRENCES_MAX, View, with_plain_line_ends};

/// Most places named where a text occurs several times.
const PLACES_MAX: usize = 10;
/// A new text with fewer characters says nothing by being in the file already.
const APPLIED_CHARS_MIN: usize = 8;

/// Replaces a text that occurs exactly once in a text file.
///
/// The match is exact: every blank, tab and letter counts; only `\n` also matches `\r\n`. If the
/// text does not occur, or occurs several times, nothing is written and the answer shows the
/// closest lines or all the places. Both texts are taken literally: there are no patterns and no
/// escapes. The file's encoding and line ends stay as they are. Use replace_lines when you know
/// the line numbers.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReplaceText {
    /// Path of the file, relative to the workspace root.
    path: String,
    /// The text to find, copied from the file without line numbers, with enough lines around it
    /// to occur only once. It must hold more than white space.
    old_text: String,
    /// The text to put in its place. The empty text removes the old one.
    new_text: String,
}

impl Tool for ReplaceText {
    const NAME: &'static str = "replace_text";
    const TITLE: &'static str = "Replace text";
    const EFFECT: Effect = Effect::Write;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("path", &["filePath", "file_path", "file"]),
        ("oldText", &["oldString", "search", "searchValue", "find"]),
        ("newText", &["newString", "replace", "replaceValue", "replacement"]),
    ];
    type Output = EditOutput;

    async fn run(self, cx: Context) -> Result<EditOutput, ToolError> {
        let old = with_plain_line_ends(&self.old_text);
        let new = with_plain_line_ends(&self.new_text);
        check_texts(&old, &new)?;
        let target = Target::open(&cx, &self.path).await?;
        let edit = find(&target.text, &old, &new).map_err(|miss| miss.error(&target, &old))?;
        target.propose(&cx, edit).await
    }
}

/// Why a text cannot be replaced.
#[derive(Debug, PartialEq, Eq)]
enum Miss {
    /// It does not occur.
    None,
    /// It occurs at these offsets of the text.
    Several(Vec<usize>),
    /// The new text is there already, at this offset of the text.
    Applied(usize),
}

fn check_texts(old: &str, new: &str) -> Result<(), ToolError> {
    if old.trim().is_empty() {
        let message = "`oldText` holds nothing but white space";
        return Err(ToolError::new(ErrorCode::InvalidArguments, message)
            .hint("give text that occurs once in the file; use create_file for a whole file"));
    }
    if old == new {
        return Err(ToolError::new(ErrorCode::NoChange, "`oldText` and `newText` are the same"));
    }
    refuse_gutter(new, "newText")
}

/// Finds the one place.
fn find(text: &str, old: &str, new: &str) -> Result<Edit, Miss> {
    let view = View::new(text);
    let original = |at| view.original(at..at).start;
    let places = view.occurrences(old);
    let (places, old, new) = match at_open_end(&view, old).filter(|_| places.is_empty()) {
        Some((at, old)) => (vec![at], old, new.strip_suffix('\n').unwrap_or(new)),
        None => (places, old, new),
    };
    match places[..] {
        [] => Err(applied(&view, new).map_or(Miss::None, |at| Miss::Applied(original(at)))),
        [at] => match new
            .match_indices(old)
            .filter_map(|(before, _)| at.checked_sub(before))
            .find(|start| view.text[*start..].starts_with(new))
        {
            Some(start) => Err(Miss::Applied(original(start))),
            None => Ok(edit(text, &view, at, old, new)),
        },
        _ => Err(Miss::Several(places.into_iter().map(original).collect())),
    }
}

/// A last line without a line end matches as if it had one.
fn at_open_end<'a>(view: &View<'_>, old: &'a str) -> Option<(usize, &'a str)> {
    let old = old.strip_suffix('\n').filter(|old| !old.ends_with('\n'))?;
    view.text.ends_with(old).then(|| (view.text.len() - old.len(), old))
}

/// Returns where a new text of some length stands, if it does so once.
fn applied(view: &View<'_>, new: &str) -> Option<usize> {
    let chars = new.chars().filter(|c| !c.is_whitespace()).count();
    match view.occurrences(new)[..] {
        [at] if chars >= APPLIED_CHARS_MIN => Some(at),
        _ => None,
    }
}

fn edit(text: &str, view: &View<'_>, at: usize, old: &str, new: &str) -> Edit {
    let lines = Lines::new(text);
    let range = view.original(at..at + old.len());
    let first = lines.number_at(range.start);
    let last = lines.number_at(range.end - 1);
    let whole = lines.start(first) == range.start && lines.start(last + 1) == range.end;
    let count = if new.is_empty() && whole { 0 } else { Lines::new(new).count().max(1) };
    Edit {
        range,
        text: new.to_owned(),
        before: LineSpan::of(first, last - first + 1),
        after: LineSpan::of(first, count),
    }
}

// === impl Miss ===

impl Miss {
    fn error(self, target: &Target, old: &str) -> ToolError {
        let (path, lines) = (&target.path, Lines::new(&target.text));
        match self {
            Self::None => no_match(path, &lines, old),
            Self::Several(places) => ambiguous(path, &lines, &places),
            Self::Applied(at) => {
                let line = lines.number_at(at);
                let message = format!("already applied: {path} holds `newText` at line {line}");
                ToolError::new(ErrorCode::NoChange, message)
                    .hint("if it must be there twice, put more of the lines around into `oldText`")
            }
        }
    }
}

fn no_match(path: &RelPath, lines: &Lines<'_>, old: &str) -> ToolError {
    let error = |message: String| ToolError::new(ErrorCode::NoMatch, message);
    if lines.count() == 0 {
        return error(format!("`oldText` does not occur in {path}: the file is empty"));
    }
    if has_gutter(old) {
        return error(format!("`oldText` does not occur in {path}"))
            .hint("leave out the line numbers and the tabs after them");
    }
    let Some(range) = closest(lines, old) else {
        return error(format!("`oldText` does not occur in {path}, nor anything like it"))
            .hint("read the file and copy the text from it");
    };
    let (first, last) = (*range.start(), *range.end());
    let text: Vec<&str> = range.clone().map(|number| lines.line(number)).collect();
    let why = if same_but_for_white_space(&text.join("\n"), old) {
        "only the white space differs at"
    } else {
        "the closest are"
    };
    let excerpt = lines.excerpt(range).text;
    error(format!("`oldText` does not occur in {path}; {why} lines {first}-{last}:{excerpt}"))
        .hint("copy the text from there exactly, without the line numbers")
}

fn ambiguous(path: &RelPath, lines: &Lines<'_>, places: &[usize]) -> ToolError {
    let at_least = if places.len() == OCCURRENCES_MAX { "at least " } else { "" };
    let count = places.len();
    let shown: Vec<String> = places
        .iter()
        .take(PLACES_MAX)
        .map(|at| lines.number_at(*at))
        .map(|line| format!("\nline {line}:{}", lines.excerpt(line..=line).text))
        .collect();
    let more = if count > shown.len() { "\n…" } else { "" };
    let message =
        format!("`oldText` occurs {at_least}{count} times in {path}:{}{more}", shown.concat());
    ToolError::new(ErrorCode::Ambiguous, message)
        .hint("add lines before or after it until it occurs once, or use replace_lines")
}

#[cfg(test)]
mod tests;
