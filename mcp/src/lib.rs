//! moss as a server of the Model Context Protocol, for every client that speaks it.
//!
//! The protocol itself is rmcp's. This crate owns what rmcp leaves open: which tools a client sees
//! ([`ToolSet`]), how the end of a call reads (`reply`), and what happens to lines that are no
//! messages (`line`). Calls go to a [`ToolBackend`], of which it knows neither transport nor daemon.

mod backend;
mod fault;
mod find_tools;
mod following;
mod form;
mod in_flight;
mod line;
mod lines;
mod listing;
mod reply;
mod revisions;
mod server;
mod set;
mod stdio;
#[cfg(test)]
mod tests;

pub use self::backend::{BackendOpener, CallNote, ReplyChange, ToolBackend, ToolUse, UseReply};
pub use self::fault::{CallFault, QuestionShown};
pub use self::form::{ClientForm, FORM_BYTES_MAX, FormAnswer};
pub use self::server::{McpOptions, McpServer};
pub use self::set::ToolSet;
pub use self::stdio::serve_lines;
