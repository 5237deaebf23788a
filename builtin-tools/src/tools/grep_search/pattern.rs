//! What is searched for: a regular expression that compiles, or an error that says where it does
//! not and how to fix it.

use grep_matcher::LineTerminator;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use moss_sdk::context::{ScanPace, ScanWindows};
use moss_sdk::file::TextPattern;
use moss_sdk::{ErrorCode, ToolError};
use regex_syntax::ast;
use regex_syntax::hir::{Hir, Look};

use super::required::{LineMatcher, RequiredText};

/// Longest pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 4_096;
/// Most memory of a compiled pattern, and of its tables while it runs.
const COMPILED_BYTES_MAX: usize = 10 << 20;
/// Most characters of the pattern that a message repeats.
const SHOWN_CHARS_MAX: usize = 40;

/// A compiled pattern. A clone shares what is compiled and has tables of its own to run with.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) matcher: RegexMatcher,
    /// Whether a match may hold line ends.
    pub(super) spans_lines: bool,
    /// Whether it says where a text starts or ends (`\A`, `\z`), which a part of it does not show.
    pub(super) is_anchored: bool,
    /// What it was compiled from.
    pub(super) source: TextPattern,
    /// What is looked for first, where that is quicker than the expression.
    required: Option<RequiredText>,
    windows: ScanWindows,
}

/// Parses an expression as it is searched for in lines.
fn syntax_of(expression: &str, case_sensitive: bool) -> Option<Hir> {
    let mut parser = regex_syntax::ParserBuilder::new();
    parser.utf8(false).multi_line(true).crlf(true).case_insensitive(!case_sensitive);
    parser.build().parse(expression).ok()
}

// === impl Pattern ===

impl Pattern {
    /// Compiles a pattern. One that says `\n` is matched over lines, any other within them, unless it is
    /// `multiline`: then `.` is a line end, too.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for what is empty, too long or too large, or no regular expression.
    pub(super) fn compile(
        pattern: &str,
        case_sensitive: bool,
        multiline: bool,
    ) -> Result<Self, ToolError> {
        if pattern.is_empty() {
            return Err(invalid("`pattern` is empty".to_owned())
                .hint("say what to search for; to find files by name, use file_search"));
        }
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(invalid(format!("`pattern` is longer than {PATTERN_BYTES_MAX} bytes"))
                .hint("search for a shorter part of it"));
        }
        let parsed = regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern);
        parsed.map_err(|error| refusal(pattern, &error))?;
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(!case_sensitive)
            .multi_line(true)
            .crlf(true)
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(COMPILED_BYTES_MAX);
        let expression = if multiline { format!("(?s){pattern}") } else { pattern.to_owned() };
        let over_lines = |builder: &mut RegexMatcherBuilder| {
            builder.line_terminator(None).build(&expression).map(|matcher| (matcher, true))
        };
        let built = if multiline {
            over_lines(&mut builder)
        } else {
            match builder.build(&expression) {
                Ok(matcher) => Ok((matcher, false)),
                Err(error) if matches!(error.kind(), ErrorKind::NotAllowed(_)) => {
                    over_lines(&mut builder)
                }
                Err(error) => Err(error),
            }
        };
        let built = built.map(|(matcher, spans_lines)| {
            let hir = syntax_of(&expression, case_sensitive);
            let looks = hir.as_ref().map(|hir| hir.properties().look_set());
            let is_anchored =
                looks.is_some_and(|looks| looks.contains(Look::Start) || looks.contains(Look::End));
            // In one case alone, the expression is as quick.
            let is_of_use = !spans_lines && !case_sensitive;
            let required = hir.as_ref().filter(|_| is_of_use).and_then(RequiredText::of);
            let longest = hir.as_ref().and_then(|hir| hir.properties().maximum_len());
            let windows = ScanWindows::of(longest);
            let source = TextPattern { expression, case_sensitive, spans_lines };
            Self { matcher, spans_lines, is_anchored, source, required, windows }
        });
        built.map_err(|error| {
            invalid(format!("`pattern` cannot be compiled: {error}"))
                .hint("make it smaller: large counts such as `{1000}` cost most")
        })
    }

    /// Returns what finds its lines in a text, by the quickest way that there is.
    pub(super) fn in_lines<'a>(&'a self, text: &str, pace: &'a ScanPace<'_>) -> LineMatcher<'a> {
        let required = self.required.as_ref().filter(|required| required.fits(text));
        let Self { matcher, is_anchored, windows, .. } = self;
        LineMatcher { matcher, is_anchored: *is_anchored, required, windows: *windows, pace }
    }

    /// Makes what searches texts for it: with lines of context, or, where there are none, only to count.
    pub(super) fn searcher(&self, shown_context: Option<usize>) -> Searcher {
        let context_lines = shown_context.unwrap_or_default();
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::none())
            .bom_sniffing(false)
            .line_terminator(LineTerminator::crlf())
            .line_number(shown_context.is_some())
            .multi_line(self.spans_lines)
            .before_context(context_lines)
            .after_context(context_lines)
            .build()
    }
}

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}

/// Says where a pattern breaks, and how to search for its text as it stands.
fn refusal(pattern: &str, error: &regex_syntax::Error) -> ToolError {
    let (what, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), *error.span()),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), *error.span()),
        other => {
            let what = format!("`pattern` is not a regular expression: {other}");
            return invalid(what);
        }
    };
    let at = span.start.offset.min(pattern.len());
    let number = pattern[..at].chars().count() + 1;
    let rest: String = pattern[at..].chars().take(SHOWN_CHARS_MAX).collect();
    let place = if rest.is_empty() { "the end".to_owned() } else { format!("`{rest}`") };
    let message =
        format!("`pattern` is not a regular expression: {what}, at character {number}: {place}");
    invalid(message).hint(hint(pattern, error))
}

fn hint(pattern: &str, error: &regex_syntax::Error) -> String {
    use ast::ErrorKind::{UnsupportedBackreference, UnsupportedLookAround};
    if let regex_syntax::Error::Parse(error) = error
        && matches!(error.kind(), UnsupportedBackreference | UnsupportedLookAround)
    {
        return "search for the part that needs neither, and pick from the matches".to_owned();
    }
    let escaped = regex_syntax::escape(pattern);
    if escaped.chars().count() > 2 * SHOWN_CHARS_MAX {
        return "put a backslash before special characters that stand for themselves".to_owned();
    }
    format!("to search for the text as it stands, escape it: `{escaped}`")
}
