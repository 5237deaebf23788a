//! What a reader of replies says: events as the reply comes, and the whole of them.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::conversation::ToolCall;
use crate::diagnostic::ReplyDiagnostic;

/// A part of a reply, in the order in which the model wrote it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", content = "value", rename_all = "snake_case")]
pub enum ReplyEvent {
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
        /// The next piece of JSON text; it may end anywhere.
        fragment: String,
    },
    /// The call is whole, and its arguments fit the tool.
    CallEnd {
        /// Which call of the reply.
        index: usize,
        /// What the fragments say.
        arguments: Map<String, Value>,
    },
    /// A call that had begun is abandoned: the reply ended inside of it, or what came last is wrong.
    /// It must not run.
    CallAbandoned {
        /// Which call of the reply; the next one that begins has the next number.
        index: usize,
        /// What the model wrote for it, which is text where nothing was shown of it yet.
        text: String,
    },
    /// Something worth knowing about how the reply was read.
    Diagnostic(ReplyDiagnostic),
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
    pub diagnostics: Vec<ReplyDiagnostic>,
    /// Whether it came to its end, and what cut it off otherwise.
    pub finish: Finish,
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
    pub fn collect(events: impl IntoIterator<Item = ReplyEvent>) -> Self {
        let mut reply = Self::default();
        let mut begun: Option<(String, String)> = None;
        for event in events {
            match event {
                ReplyEvent::Text(text) => reply.text.push_str(&text),
                ReplyEvent::Reasoning(text) => reply.reasoning.push_str(&text),
                ReplyEvent::CallStart { id, name, .. } => begun = Some((id, name)),
                ReplyEvent::ArgumentFragment { .. } => {}
                ReplyEvent::CallEnd { arguments, .. } => {
                    if let Some((id, name)) = begun.take() {
                        reply.calls.push(ToolCall { id, name, arguments });
                    }
                }
                ReplyEvent::CallAbandoned { text, .. } => {
                    begun = None;
                    reply.text.push_str(&text);
                }
                ReplyEvent::Diagnostic(diagnostic) => reply.diagnostics.push(diagnostic),
                ReplyEvent::Finish(finish) => reply.finish = finish,
            }
        }
        reply
    }
}
