//! What is wrong with a policy file, and where.

use miette::{Diagnostic, NamedSource, SourceSpan};

use moss_sdk::deceptive::{self, is_deceptive};

/// How much of a text is shown at most, in characters.
const SHOWN_CHARS_MAX: usize = 400;

/// Words of the TOML reader, and what people call it.
const WORDING: &[(&str, &str)] = &[
    ("\n", "; "),
    ("a sequence", "a list"),
    ("expected i64", "expected a whole number"),
    ("expected u64", "expected a whole number from 0"),
];

/// A policy file that cannot be used: names the location and what to write instead.
///
/// As a [`Diagnostic`] it shows the lines of the file; as text it is one line.
#[derive(Debug, Clone, thiserror::Error, Diagnostic)]
#[error("{file}:{line}:{column}: {message}")]
#[diagnostic(code(moss::policy))]
pub struct PolicyError {
    /// The path of the policy file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there, in one sentence.
    pub message: String,
    /// What to write instead.
    #[help]
    pub help: Option<String>,
    #[source_code]
    source_code: NamedSource<String>,
    #[label("here")]
    span: SourceSpan,
}

/// Something wrong at a byte range of a file that its finder knows only the text of.
#[derive(Debug)]
pub(super) struct PolicyFault {
    pub(super) span: std::ops::Range<usize>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// Returns the nearest of the words, if one is near enough to be meant.
pub(super) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance_max = (word.chars().count() / 3).max(1);
    words
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= distance_max)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Quotes a text from a file, bounded and with control characters escaped.
pub(super) fn shown(text: &str) -> String {
    format!("`{}`", escaped(text))
}

fn escaped(text: &str) -> String {
    let end = text.char_indices().nth(SHOWN_CHARS_MAX).map(|(end, _)| end);
    let mut shown = deceptive::escaped(&text[..end.unwrap_or(text.len())]);
    if end.is_some() {
        shown.push('…');
    }
    shown
}

// === impl PolicyError ===

impl PolicyError {
    /// Says that a file cannot be used at all.
    pub(super) fn unusable(file: &str, reason: String, help: &str) -> Box<Self> {
        let fault =
            PolicyFault { span: 0..0, message: escaped(&reason), help: Some(help.to_owned()) };
        Self::locate(file, "", fault)
    }

    /// Places a fault in its file.
    pub(super) fn locate(file: &str, text: &str, fault: PolicyFault) -> Box<Self> {
        let start = text.floor_char_boundary(fault.span.start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        // Bytes keep their locations, so the span still fits, but no escape sequence gets through.
        let harmless: String = text
            .chars()
            .flat_map(|c| {
                let visible = !is_deceptive(c) || matches!(c, '\n' | '\t');
                let (c, n) = if visible { (c, 1) } else { ('?', c.len_utf8()) };
                std::iter::repeat_n(c, n)
            })
            .collect();
        let end = text.floor_char_boundary(fault.span.end).max(start);
        Box::new(Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: fault.message,
            help: fault.help,
            source_code: NamedSource::new(file, harmless),
            span: (start..end).into(),
        })
    }

    /// Returns place, message and help in one line.
    pub fn one_line(&self) -> String {
        match &self.help {
            Some(help) => format!("{self}; {help}"),
            None => self.to_string(),
        }
    }
}

// === impl PolicyFault ===

impl PolicyFault {
    pub(super) fn new(span: std::ops::Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Takes over what the TOML reader says, and finds the nearest of the words it expected.
    pub(super) fn of_toml(error: &toml::de::Error) -> Self {
        let message = error.message();
        let mut quoted = message.split('`').skip(1).step_by(2);
        let wrong = quoted.next().filter(|_| message.starts_with("unknown "));
        let meant = wrong.and_then(|word| nearest(word, quoted));
        let help = match meant {
            Some(word) => Some(format!("did you mean `{word}`?")),
            None if message == "missing field `version`" => {
                Some("start the file with `version = 1`".to_owned())
            }
            None => None,
        };
        let plain =
            WORDING.iter().fold(message.to_owned(), |text, (from, to)| text.replace(from, to));
        Self { span: error.span().unwrap_or(0..0), message: escaped(&plain), help }
    }
}
