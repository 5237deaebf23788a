//! What a reader of replies says: events as the reply comes, and the whole of them.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::conversation::ToolCall;

/// A part of a reply, in the order in which the model wrote it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", content = "value", rename_all = "snake_case")]
pub enum Event {
    /// Text for the user. Pieces follow each other without anything between them.
    Text(String),
    /// What the model thought aloud in `<think>` or `<thinking>`: for logs, not for the user.
    Reasoning(String),
    /// A call of a tool begins. Calls do not overlap; `index` counts from 0.
    CallStart {
        /// Which call of the reply.
        index: usize,
        /// Its id, of letters, digits and `_`, which its result repeats.
        id: String,
        /// The tool, as the registry has it.
        name: String,
    },
    /// More of the arguments' JSON text. All fragments of a call together are one JSON object, and
    /// whatever came so far is the beginning of one.
    ArgumentFragment {
        /// Which call of the reply.
        index: usize,
        /// The text.
        fragment: String,
    },
    /// The call is whole, and its arguments fit the tool.
    CallEnd {
        /// Which call of the reply.
        index: usize,
        /// What the fragments say.
        arguments: Map<String, Value>,
    },
    /// A call that had begun is none: the reply ended inside of it, or what came last is wrong.
    /// It must not run.
    CallAbandoned {
        /// Which call of the reply; the next one that begins has the next number.
        index: usize,
        /// What the model wrote for it, which is text where nothing was shown of it yet.
        text: String,
    },
    /// Something worth knowing about how the reply was read.
    Diagnostic(Diagnostic),
    /// The reply is over.
    Finish(Finish),
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It had nothing more to say, or a stop sequence came.
    #[default]
    Stop,
    /// It reached its limit of tokens.
    Length,
    /// Its provider withheld the rest.
    ContentFilter,
}

/// Something worth knowing about how a reply was read, by a stable code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// What it is.
    pub code: Code,
    /// What and where, so that a person or the model can mend it.
    pub message: String,
    /// The changes that made JSON of what was written, for [`Code::JsonRepaired`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// The codes of diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// A value in tags that is passed on as it is written may be meant otherwise: it has quotes around it,
    /// for example.
    AmbiguousValue,
    /// A call that was made already in this reply; it is made once.
    DuplicateCall,
    /// A frame for a call without one inside.
    EmptyAction,
    /// The model made up the result of its call; what followed is dropped.
    HallucinatedResult,
    /// JSON was mended.
    JsonRepaired,
    /// A frame for a call whose inside is no JSON, or has other tags than those of arguments, nor can
    /// be mended.
    MalformedJson,
    /// A frame for a call that is shown, not made.
    QuotedExample,
    /// The schema of a tool is none, and was read as what it means.
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
pub enum Change {
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

/// A reply as a whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Reply {
    /// The text for the user, calls taken out.
    pub text: String,
    /// What the model thought aloud.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The calls, in order.
    pub calls: Vec<ToolCall>,
    /// How it was read.
    pub diagnostics: Vec<Diagnostic>,
    /// Why it ended.
    pub finish: Finish,
}

// === impl Code ===

impl Code {
    /// Whether what it tells is no fault of the reply: all is read as it is written.
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

// === impl Diagnostic ===

impl Diagnostic {
    /// Makes one without changes.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), changes: Vec::new() }
    }
}

// === impl Reply ===

impl Reply {
    /// Makes of the text what a person reads: no blank lines where calls were, none around it.
    #[must_use]
    pub fn tidied(mut self) -> Self {
        let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
        let mut text = String::with_capacity(self.text.len());
        let mut blank = 0;
        for line in self.text.trim_matches(is_blank).split_inclusive('\n') {
            blank = if line.trim_end_matches(['\r', '\n']).is_empty() { blank + 1 } else { 0 };
            if blank < 2 {
                text.push_str(line);
            }
        }
        self.text = text;
        self
    }

    /// Puts a reply together from its events.
    pub fn collect(events: impl IntoIterator<Item = Event>) -> Self {
        let mut reply = Self::default();
        let mut begun: Option<(String, String)> = None;
        for event in events {
            match event {
                Event::Text(text) => reply.text.push_str(&text),
                Event::Reasoning(text) => reply.reasoning.push_str(&text),
                Event::CallStart { id, name, .. } => begun = Some((id, name)),
                Event::ArgumentFragment { .. } => {}
                Event::CallEnd { arguments, .. } => {
                    if let Some((id, name)) = begun.take() {
                        reply.calls.push(ToolCall { id, name, arguments });
                    }
                }
                Event::CallAbandoned { text, .. } => {
                    begun = None;
                    reply.text.push_str(&text);
                }
                Event::Diagnostic(diagnostic) => reply.diagnostics.push(diagnostic),
                Event::Finish(finish) => reply.finish = finish,
            }
        }
        reply
    }
}
