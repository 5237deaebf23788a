//! Whether a text parses, by the grammar of its language.

use moss_symbols::{Language, OutlineProblem, Outliner, RecentTrees, SyntaxError};

use crate::diagnostic::{CheckDiagnostic, CheckSeverity};
use crate::line_map::LineMap;

/// Most errors that are reported of one text: behind the first ones a grammar guesses.
const ERRORS_MAX: usize = 20;
/// Most characters of a text that an error quotes.
const QUOTED_CHARS_MAX: usize = 40;
/// What these diagnostics name as their source.
pub const SYNTAX_SOURCE: &str = "syntax";

/// Finds where a text does not parse. Returns none where no grammar is known for the path, or where what
/// a file of this name holds is often a template of something else.
///
/// # Errors
///
/// Where the text passes a bound of the parser.
pub fn syntax_diagnostics(
    outliner: &mut Outliner,
    path: &str,
    text: &str,
) -> Result<Option<Vec<CheckDiagnostic>>, OutlineProblem> {
    diagnostics(path, text, |language| outliner.syntax_errors(language, text))
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
        let found =
            diagnostics(path, text, |language| trees.syntax_errors(outliner, path, language, text));
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
    Language::of_path(path).filter(|language| language.is_read_whole())
}

fn diagnostics(
    path: &str,
    text: &str,
    errors: impl FnOnce(Language) -> Result<Vec<SyntaxError>, OutlineProblem>,
) -> Result<Option<Vec<CheckDiagnostic>>, OutlineProblem> {
    let language = Language::of_text(path, text).filter(|language| language.is_read_whole());
    let Some(language) = language else { return Ok(None) };
    let errors = errors(language)?;
    if errors.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let starts = line_starts(text);
    let told = errors.iter().take(ERRORS_MAX);
    Ok(Some(told.map(|error| diagnostic(path, text, &starts, error)).collect()))
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

fn diagnostic(path: &str, text: &str, starts: &[usize], error: &SyntaxError) -> CheckDiagnostic {
    let position = |at: usize| {
        let line = starts.partition_point(|start| *start <= at).max(1);
        let column = text[starts[line - 1]..at].chars().count() + 1;
        (line as u64, column as u64)
    };
    let (start, end) = (error.range.start as usize, error.range.end as usize);
    let ((line, column), (end_line, end_column)) = (position(start), position(end));
    let message = match &error.missing {
        Some(missing) if start < end => {
            format!("`{missing}` is missing: nothing closes `{}`", &text[start..end])
        }
        Some(missing) => format!("`{missing}` is missing"),
        None => {
            let words: Vec<&str> = text[start..end].split_whitespace().collect();
            let quoted: String = words.join(" ").chars().take(QUOTED_CHARS_MAX).collect();
            match quoted.is_empty() {
                true => "does not parse".to_owned(),
                false => format!("does not parse at `{quoted}`"),
            }
        }
    };
    CheckDiagnostic {
        path: path.to_owned(),
        line,
        column,
        end_line,
        end_column,
        severity: CheckSeverity::Error,
        code: None,
        source: SYNTAX_SOURCE.to_owned(),
        message,
        fixes: Vec::new(),
    }
}
