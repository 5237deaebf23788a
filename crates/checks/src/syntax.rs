//! Whether a text parses, by the grammar of its language.

mod dialects;

use moss_symbols::{Language, OutlineProblem, Outliner, RecentTrees, SyntaxError};

use self::dialects::{is_template, without_last_commas};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};
use crate::line_map::LineMap;

/// Most errors that are reported of one text: behind the first ones a grammar guesses.
const ERRORS_MAX: usize = 20;
/// Most characters of a text that an error quotes.
const QUOTED_CHARS_MAX: usize = 40;
/// What these diagnostics name as their source.
pub const SYNTAX_SOURCE: &str = "syntax";

/// Finds where a text does not parse, or may not. Returns none where no grammar is known for the path, and where what
/// does not parse is a template of something else.
///
/// # Errors
///
/// Where the text passes a bound of the parser.
pub fn syntax_diagnostics(
    outliner: &mut Outliner,
    path: &str,
    text: &str,
) -> Result<Option<Vec<CheckDiagnostic>>, OutlineProblem> {
    diagnostics(path, text, |language, text| outliner.syntax_errors(language, text))
}

/// Finds where a new text does not parse although the old one did there, or was not there at all. Of large
/// texts only what differs from the version that was parsed last is parsed, where both parse.
///
/// # Errors
///
/// Where a text passes a bound of the parser.
pub fn new_syntax_errors(
    outliner: &mut Outliner,
    trees: &RecentTrees,
    path: &str,
    old: Option<&str>,
    new: &str,
) -> Result<Vec<CheckDiagnostic>, OutlineProblem> {
    let mut errors = |text: &str| {
        let found = diagnostics(path, text, |language, text| {
            trees.syntax_errors(outliner, path, language, text)
        });
        found.map(Option::unwrap_or_default)
    };
    let mut found = errors(new)?;
    let Some(old) = old.filter(|_| !found.is_empty()) else { return Ok(found) };
    let before = errors(old)?;
    if !before.is_empty() {
        let lines = LineMap::new(old, new);
        found.retain(|error| !before.iter().any(|was| is_same(was, error, &lines)));
    }
    Ok(found)
}

/// Whether a grammar is known for what a file of this name holds.
pub fn is_parsed(path: &str) -> bool {
    language(path).is_some()
}

fn language(path: &str) -> Option<Language> {
    Language::of_path(path).filter(|language| language.is_checked())
}

fn diagnostics(
    path: &str,
    text: &str,
    mut errors: impl FnMut(Language, &str) -> Result<Vec<SyntaxError>, OutlineProblem>,
) -> Result<Option<Vec<CheckDiagnostic>>, OutlineProblem> {
    let language = Language::of_text(path, text).filter(|language| language.is_checked());
    let Some(language) = language else { return Ok(None) };
    let mut found = errors(language, text)?;
    if !found.is_empty() && is_template(language, text) {
        return Ok(None);
    }
    if found.is_empty() {
        return Ok(Some(Vec::new()));
    }
    if let Some(plain) = without_last_commas(language, path, text) {
        found = errors(language, &plain)?;
    }
    let starts = line_starts(text);
    let told = found.iter().take(ERRORS_MAX);
    Ok(Some(told.map(|error| diagnostic(language, path, text, &starts, error)).collect()))
}

/// Whether a diagnostic of a new text is one of the old text that only moved.
pub fn is_same(was: &CheckDiagnostic, now: &CheckDiagnostic, lines: &LineMap) -> bool {
    was.path == now.path
        && was.source == now.source
        && was.code == now.code
        && was.message == now.message
        && lines.new_line(was.line) == Some(now.line)
}

fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

fn diagnostic(
    language: Language,
    path: &str,
    text: &str,
    starts: &[usize],
    error: &SyntaxError,
) -> CheckDiagnostic {
    let position = |at: usize| {
        let line = starts.partition_point(|start| *start <= at).max(1);
        let column = text[starts[line - 1]..at].chars().count() + 1;
        (line as u64, column as u64)
    };
    let (start, end) = (error.range.start as usize, error.range.end as usize);
    let ((line, column), (end_line, end_column)) = (position(start), position(end));
    let severity = match error.is_sure {
        true => CheckSeverity::Error,
        false => CheckSeverity::Warning,
    };
    let found = &text[start..end];
    let message = match error.is_sure {
        true => message(found, error.missing.as_deref()),
        false => doubtful_message(language, found, error.missing.as_deref()),
    };
    CheckDiagnostic::at(path, line, column, severity, SYNTAX_SOURCE, message)
        .until(end_line, end_column)
}

/// What is wrong for sure.
fn message(found: &str, missing: Option<&str>) -> String {
    match missing {
        Some(missing) if !found.is_empty() => {
            format!("`{missing}` is missing: nothing closes `{found}`")
        }
        Some(missing) => format!("`{missing}` is missing"),
        None => match quoted(found) {
            quoted if quoted.is_empty() => "does not parse".to_owned(),
            quoted => format!("does not parse at `{quoted}`"),
        },
    }
}

/// What a grammar does not know: that it is wrong nobody can say by that alone.
fn doubtful_message(language: Language, found: &str, missing: Option<&str>) -> String {
    let of = format!("the grammar of {}", language.name());
    match missing {
        Some(missing) if !found.is_empty() => {
            format!("may not parse: {of} finds no `{missing}` for this `{found}`")
        }
        Some(missing) => format!("may not parse: {of} expects `{missing}` here"),
        None => match quoted(found) {
            quoted if quoted.is_empty() => format!("may not parse: {of} does not know this"),
            quoted => format!("may not parse: {of} does not know `{quoted}` here"),
        },
    }
}

/// The beginning of a part of a text, on one line.
fn quoted(found: &str) -> String {
    let words: Vec<&str> = found.split_whitespace().collect();
    words.join(" ").chars().take(QUOTED_CHARS_MAX).collect()
}
