//! Tool calls in and out of what chat models write, and of the wire forms of their APIs.
//!
//! Everything here is a function of its input: no files, no network, no clock, no tasks. A reader
//! of replies ([`Parser`]) takes bytes as they come and gives events; whoever owns a connection
//! feeds one and encodes what the other says.

mod api;
mod block;
mod continuation;
mod conversation;
mod decision;
pub mod encode;
mod event;
mod language;
mod normalize;
mod parse;
mod profile;
mod project;
mod prompt;
mod refusal;
mod registry;
mod retry;

pub use api::Api;
pub use continuation::{RESULT_CHARS_MAX, continuation};
pub use conversation::{
    Conversation, HistoryState, Message, Part, Sampling, ToolCall, ToolChoice, ToolResult,
};
pub use decision::{Decision, Decisions, PassReason, WithholdReason};
pub use event::{Change, Code, Diagnostic, Event, Finish, Reply};
pub use language::Language;
pub use normalize::{
    NamespacedName, Normalized, Note, NoteCode, RequestCode, RequestError, conversation_key,
    normalize, normalize_with,
};
pub use parse::{CALL_BYTES_MAX, CALLS_MAX, Forms, Options, Parser, parse, parse_message};
pub use profile::{ModelProfile, TEMPERATURE_RECOMMENDED, forms, profile};
pub use project::{ChatMessage, ChatRole, assistant_text, project, read_projected};
pub use prompt::{AgentStatus, Form, PromptRequest, Step, agent_status, render as render_prompt};
pub use refusal::{Class, LastRole, RefusalContext, Verdict, classify, language_between};
pub use registry::{Fitted, Registry, RegistryError, Tool, ToolDefinition, Violation};
pub use retry::{Outcome, RETRIES_MAX, Retry, RetryReason, RetryState, next as next_retry};
