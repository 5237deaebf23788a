//! What a checker says of a line: stable codes, positions, what is wrong and what to write instead.

use serde::Serialize;

/// How many findings of one line are reported; further ones are counted.
pub const FINDINGS_PER_LINE_MAX: usize = 32;
/// The most characters of a name or value of the data that a finding repeats.
const SHOWN_CHARS_MAX: usize = 80;

/// Something that a checker found in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The line, from 1.
    pub line: u64,
    /// What kind of thing, for programs.
    pub code: FindingCode,
    /// Whether it is a defect.
    pub severity: FindingSeverity,
    /// Where in the line, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What is wrong there, in one sentence.
    pub message: String,
    /// What to write instead.
    pub fix: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// A model that learns from it learns something wrong, or a trainer cannot read it.
    Error,
    /// It may be meant so, and is worth a look.
    Warning,
}

/// What can be found. The codes are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingCode {
    /// The line is no UTF-8.
    InvalidUtf8,
    /// The line is longer than is read.
    LineTooLong,
    /// The file begins with a byte order mark.
    ByteOrderMark,
    /// The line is no JSON.
    InvalidJson,
    /// An object has a key twice, and readers take one or the other.
    DuplicateKey,
    /// The line is no object with a list of messages.
    SampleShape,
    /// A message is no message.
    MessageShape,
    /// A message stands where its role may not.
    RoleOrder,
    /// An assistant turn has no text and no call.
    EmptyTurn,
    /// A call is no `{id, name, arguments}`.
    CallShape,
    /// Two calls have one id.
    CallIdRepeated,
    /// No tool of the registry has the name.
    ToolUnknown,
    /// Arguments are no JSON object.
    ArgumentsNotObject,
    /// Arguments do not satisfy the schema of the tool.
    ArgumentsInvalid,
    /// A call that is wrong and whose result is an error: a sample of its correction.
    NegativeCall,
    /// A call has no result before the conversation continues.
    ResultMissing,
    /// A result belongs to no call.
    ResultOrphan,
    /// A call has two results.
    ResultTwice,
    /// A result names another tool than its call.
    ResultName,
    /// The conversation ends before a reply in text.
    NotClosed,
    /// A turn narrates a call in place of making it.
    NarratedCall,
    /// Text in the form of a call that cannot be read as one, or is another one than the turn makes.
    ActionText,
    /// A turn has text and calls.
    TextBesideCalls,
    /// A status line without a status, or stands where it may not.
    StatusLine,
    /// A deletion, a command or a request to the network without a word about permission.
    PermissionMissing,
    /// A change of files or of the configuration without a word about permission.
    WriteUnconfirmed,
    /// A tool failed, and the response reports success.
    IgnoredError,
    /// `tags` is missing or no list of words.
    Tags,
    /// `quality` is missing or has another form.
    QualityShape,
    /// `quality` says something else than what was found.
    QualityWrong,
    /// An earlier line has the same messages.
    Duplicate,
}

/// The findings of one line as they are made.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) line: u64,
    pub(crate) told: Vec<Finding>,
    /// Every finding, also those that are not reported.
    pub(crate) codes: Vec<FindingCode>,
}

/// A name or value of the data, cut for a message.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

// === impl FindingCode ===

impl FindingCode {
    /// Whether it is a defect or worth a look.
    pub const fn severity(self) -> FindingSeverity {
        match self {
            Self::ByteOrderMark
            | Self::NegativeCall
            | Self::TextBesideCalls
            | Self::WriteUnconfirmed
            | Self::Tags
            | Self::QualityShape
            | Self::Duplicate => FindingSeverity::Warning,
            _ => FindingSeverity::Error,
        }
    }

    /// Whether a conversation with it is not closed: calls and results are no pairs, turns are
    /// missing, or it cannot be read at all.
    pub(crate) const fn breaks_the_loop(self) -> bool {
        matches!(
            self,
            Self::InvalidUtf8
                | Self::LineTooLong
                | Self::InvalidJson
                | Self::SampleShape
                | Self::MessageShape
                | Self::RoleOrder
                | Self::EmptyTurn
                | Self::CallIdRepeated
                | Self::ResultMissing
                | Self::ResultOrphan
                | Self::ResultTwice
                | Self::ResultName
                | Self::NotClosed
        )
    }

    /// Whether a call with it cannot be run as it is written.
    pub(crate) const fn breaks_a_call(self) -> bool {
        matches!(
            self,
            Self::CallShape
                | Self::ToolUnknown
                | Self::ArgumentsNotObject
                | Self::ArgumentsInvalid
                | Self::ActionText
        )
    }
}

// === impl Findings ===

impl Findings {
    pub(crate) fn new(line: u64) -> Self {
        Self { line, ..Self::default() }
    }

    pub(crate) fn add(
        &mut self,
        code: FindingCode,
        pointer: impl Into<String>,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.codes.push(code);
        if self.told.len() < FINDINGS_PER_LINE_MAX {
            self.told.push(Finding {
                line: self.line,
                code,
                severity: code.severity(),
                pointer: pointer.into(),
                message: message.into(),
                fix: fix.into(),
            });
        }
    }

    pub(crate) fn has(&self, test: impl Fn(FindingCode) -> bool) -> bool {
        self.codes.iter().any(|code| test(*code))
    }
}
