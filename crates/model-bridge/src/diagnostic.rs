//! What is worth knowing about how something was read: codes that stay, and the changes that were made.

use serde::Serialize;

/// Something worth knowing about how a reply was read, by a stable code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplyDiagnostic {
    /// What kind of thing, for programs.
    pub code: DiagnosticCode,
    /// What and where, so that a person or the model can fix it.
    pub message: String,
    /// The changes that made JSON of what was written, for [`DiagnosticCode::JsonRepaired`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<RepairKind>,
}

/// The codes of diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticCode {
    /// A value in tags that is passed on as it is written may be meant otherwise: it has quotes around it,
    /// for example.
    AmbiguousValue,
    /// A call that was made already in this reply; it is made once.
    DuplicateCall,
    /// A frame for a call without one inside.
    EmptyAction,
    /// The model made up the result of its call; what followed is dropped.
    HallucinatedResult,
    /// What was written is no JSON and could be made JSON: see `changes`.
    JsonRepaired,
    /// A frame for a call whose inside is no JSON, or has other tags than those of arguments, nor can
    /// be repaired.
    MalformedJson,
    /// A frame for a call that is shown, not made.
    QuotedExample,
    /// The schema of a tool is not valid, and was read as what it means.
    SchemaRepaired,
    /// A tool was left out, since what is said of it cannot be read.
    ToolLeftOut,
    /// A bare value stood where an object of arguments belongs.
    ScalarArgs,
    /// The arguments do not fit the tool, or two keys of the call say different things.
    SchemaInvalid,
    /// The reply ended inside of a call; it is not made.
    TruncatedCall,
    /// The end mark of a frame is missing, its inside is whole.
    UnclosedFrame,
    /// An argument that the tool does not have was left out.
    UnknownArgDropped,
    /// No tool has the name.
    UnknownTool,
    /// Text looks like a call of a tool and has no mark of one that is read.
    UnmarkedCall,
}

/// How text was changed so that it became JSON, or arguments so that they fit a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairKind {
    /// Typographic or full-width quotes became `"`.
    Quotes,
    /// Full-width punctuation became ASCII.
    FullWidth,
    /// A comma before a closing bracket was left out.
    TrailingComma,
    /// A missing comma was put in.
    MissingComma,
    /// A line end or another control character inside a string was escaped.
    RawControl,
    /// A backslash that escapes nothing was doubled.
    BadEscape,
    /// A comment was left out.
    Comment,
    /// A key without quotes got them.
    BareKey,
    /// Single quotes became double ones.
    SingleQuotes,
    /// `True`, `False`, `None` and the like became JSON.
    Literal,
    /// Quotes inside a string were escaped.
    InnerQuotes,
    /// Missing closing brackets were put in.
    MissingBracket,
    /// Closing brackets too many were left out.
    ExtraBracket,
    /// Half of a surrogate pair became U+FFFD.
    LoneSurrogate,
    /// Text around the JSON was left out.
    SurroundingText,
    /// Entities of XML (`&lt;`) became what they mean.
    Entities,
    /// Words with commas between them became a list.
    CommaList,
    /// An integer beyond 64 bits became the nearest number.
    Rounded,
    /// A call whose JSON has no key for arguments became one without any.
    NoArguments,
    /// A value of one type became one of the type that the schema asks for: a number in quotes a number.
    Coerced,
}

// === impl DiagnosticCode ===

impl DiagnosticCode {
    /// Whether it reports no fault of the reply: all is read as it is written.
    pub const fn is_remark(self) -> bool {
        matches!(self, Self::AmbiguousValue | Self::QuotedExample)
    }

    /// Returns the stable code, for example `unknown_tool`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AmbiguousValue => "ambiguous_value",
            Self::DuplicateCall => "duplicate_call",
            Self::EmptyAction => "empty_action",
            Self::HallucinatedResult => "hallucinated_result",
            Self::JsonRepaired => "json_repaired",
            Self::MalformedJson => "malformed_json",
            Self::QuotedExample => "quoted_example",
            Self::SchemaRepaired => "schema_repaired",
            Self::ToolLeftOut => "tool_left_out",
            Self::ScalarArgs => "scalar_args",
            Self::SchemaInvalid => "schema_invalid",
            Self::TruncatedCall => "truncated_call",
            Self::UnclosedFrame => "unclosed_frame",
            Self::UnknownArgDropped => "unknown_arg_dropped",
            Self::UnknownTool => "unknown_tool",
            Self::UnmarkedCall => "unmarked_call",
        }
    }
}

// === impl ReplyDiagnostic ===

impl ReplyDiagnostic {
    /// Makes one without changes.
    pub(crate) fn new(code: DiagnosticCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), changes: Vec::new() }
    }
}
