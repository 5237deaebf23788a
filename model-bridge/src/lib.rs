//! Tool calls in and out of what chat models write, and of the wire forms of their APIs.
//!
//! Everything here is a function of its input: no files, no network, no clock, no tasks. A reader
//! of replies ([`Parser`]) takes bytes as they come and gives events; whoever owns a connection
//! feeds one and encodes what the other says.

mod block;
mod conversation;
mod event;
mod language;
mod parse;
mod prompt;
mod refusal;
mod registry;

pub use conversation::{
    Conversation, HistoryState, Message, Part, Sampling, ToolCall, ToolChoice, ToolResult,
};
pub use event::{Change, Code, Diagnostic, Event, Finish, Reply};
pub use language::Language;
pub use parse::{CALL_BYTES_MAX, CALLS_MAX, Options, Parser, parse};
pub use prompt::{AgentStatus, Form, PromptRequest, Step, agent_status, render};
pub use refusal::{Class, LastRole, RefusalContext, Verdict, classify, language_between};
pub use registry::{Fitted, Registry, RegistryError, Tool, ToolDefinition, Violation};
