//! Tool calls in and out of what chat models write, and of the wire forms of their APIs.
//!
//! Everything here is a function of its input: no files, no network, no clock, no tasks. A reader
//! of replies ([`Parser`]) takes bytes as they come and gives events; whoever owns a connection
//! feeds one and encodes what the other says.

mod api;
mod block;
mod call_form;
mod continuation;
mod conversation;
pub mod decision;
mod diagnostic;
pub mod encode;
mod event;
mod language;
mod normalize;
mod parse;
mod profile;
mod project;
mod prompt;
pub mod refusal;
mod registry;
pub mod retry;

pub use api::Api;
pub use call_form::NamespacedName;
pub use conversation::{
    Conversation, HistoryState, Message, MessagePart, Sampling, ToolCall, ToolChoice, ToolResult,
};
pub use diagnostic::{DiagnosticCode, RepairKind, ReplyDiagnostic};
pub use event::{Finish, Reply, ReplyEvent};
pub use language::Language;
pub use normalize::{
    Normalized, Note, NoteCode, RequestCode, RequestError, conversation_key, normalize,
    normalize_with,
};
pub use parse::{CALLS_MAX, ParseOptions, Parser, parse, parse_message};
pub use profile::{forms, profile};
pub use project::{ChatMessage, project};
pub use prompt::{
    PromptDetail, PromptRequest, ReplyPurpose, behaviour_notes, render as render_prompt,
};
pub use registry::{RegisteredTool, Registry, RegistryError, ToolDefinition};
