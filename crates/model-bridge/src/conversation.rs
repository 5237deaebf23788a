//! One form for a request to a chat model, whatever API it came by.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::registry::ToolDefinition;

/// A request to a chat model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    /// The model, as the client names it.
    pub model: String,
    /// What the model may call. Where the request has none but its history has calls, those that
    /// the history shows.
    pub tools: Vec<ToolDefinition>,
    /// What it must call.
    pub choice: ToolChoice,
    /// Whether several calls in one turn are welcome.
    pub parallel: bool,
    /// What was said, oldest first. System text stands where it stood.
    pub messages: Vec<Message>,
    /// How to choose words.
    pub sampling: Sampling,
    /// Whether the client wants the reply as it is written.
    pub stream: bool,
    /// Whether a streamed reply ends with the counts of tokens, where the API leaves that open.
    pub stream_usage: bool,
}

/// A turn, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Instructions, from any position where an API takes them.
    System(String),
    /// What the user says and shows.
    User(Vec<MessagePart>),
    /// What the model said and called.
    Assistant {
        /// Its text; empty where it only called.
        text: String,
        /// Its calls, in order.
        calls: Vec<ToolCall>,
    },
    /// What a call gave.
    Result(ToolResult),
}

/// A piece of what is said.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePart {
    /// Text that the model reads.
    Text(String),
    /// An image or another file, as the client wrote it: a content part of its API, untouched.
    Opaque(Value),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCall {
    /// What its result repeats. Never empty: where an API has none, one is made from its position.
    #[serde(skip)]
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// What it is called with.
    pub arguments: Map<String, Value>,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The tool, where the API or the history says it.
    pub name: Option<String>,
    /// What came back, in order.
    pub content: Vec<MessagePart>,
    /// Whether the call failed.
    pub is_error: bool,
}

/// What the model must call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// What it likes, or nothing.
    #[default]
    Auto,
    /// No tool: it replies in words.
    None,
    /// At least one tool, whichever it likes.
    Any,
    /// The tool with this name.
    Tool(String),
}

/// How a model chooses words. What is not said is the model's own default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sampling {
    /// The most tokens of the reply.
    pub output_tokens_max: Option<u64>,
    /// From 0, always the likeliest, upwards.
    pub temperature: Option<f64>,
    /// The share of likeliest words to choose from.
    pub top_p: Option<f64>,
    /// Texts that end the reply.
    pub stop: Vec<String>,
}

/// Where a conversation stands, by its messages alone (requirement B10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryState {
    /// The user spoke last: the model decides for the first time.
    AwaitingDecision,
    /// The model's last turn has calls, none of them with a result.
    CallIssued,
    /// Some of the calls have results, others have not.
    AwaitingResult,
    /// Every call has its result: the model decides again.
    ResultReceived,
    /// The model replied in text.
    Finished,
}

// === impl Conversation ===

impl Conversation {
    /// Says where the conversation stands: by what came since the user or the model last spoke.
    /// Earlier calls do not matter, and results count for the calls whose ids they repeat.
    pub fn state(&self) -> HistoryState {
        let mut answered = BTreeSet::new();
        for message in self.messages.iter().rev() {
            match message {
                Message::System(_) => {}
                Message::Result(result) => {
                    answered.insert(result.call_id.as_str());
                }
                Message::User(_) => break,
                Message::Assistant { calls, .. } => {
                    let is_open = |call: &&ToolCall| !answered.contains(call.id.as_str());
                    return match calls.iter().filter(is_open).count() {
                        0 if calls.is_empty() && answered.is_empty() => HistoryState::Finished,
                        0 => HistoryState::ResultReceived,
                        open if open == calls.len() => HistoryState::CallIssued,
                        _ => HistoryState::AwaitingResult,
                    };
                }
            }
        }
        match answered.is_empty() {
            true => HistoryState::AwaitingDecision,
            // Who sent it left the call out.
            false => HistoryState::ResultReceived,
        }
    }
}

#[cfg(test)]
mod tests;
