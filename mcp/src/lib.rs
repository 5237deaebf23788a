//! moss as a server of the Model Context Protocol, for every client that speaks it.
//!
//! The protocol itself is rmcp's. This crate owns what rmcp leaves open: which tools a client sees
//! ([`ToolSet`]), how the end of a call reads (`reply`), and what happens to lines that are no
//! messages (`line`). Calls go to a [`ToolBackend`], of which it knows neither transport nor daemon.

mod backend;
mod calling;
mod clarify;
mod deceiving;
mod excerpt;
mod fault;
mod find_tools;
#[cfg(feature = "fixtures")]
mod fixtures;
mod following;
mod form;
mod http;
mod icons;
mod in_flight;
mod line;
mod lines;
mod listeners;
mod listing;
mod methods;
mod offers;
mod overlong;
mod param_members;
mod prompts;
mod reply;
mod resources;
mod result_line;
mod revisions;
mod roots;
mod rounds;
#[cfg(feature = "fixtures")]
mod scripted_rounds;
mod seal;
mod server;
mod set;
mod shown_form;
mod stdio;
#[cfg(test)]
mod tests;
mod tool_search;

pub use self::backend::{
    ApprovedEffects, BackendOpener, CallNote, CommandArtifact, DeniedEffect, ReplyChange,
    ToolBackend, ToolUse, UseReply,
};
pub use self::fault::{CallFault, QuestionShown};
#[cfg(feature = "fixtures")]
pub use self::fixtures::{ProtocolFixtures, ProtocolScript, ScriptedClient, ScriptedRequest};
pub use self::form::{ClientForm, FORM_BYTES_MAX, FORM_CLOSED, FormReply};
pub use self::http::{HttpCaller, HttpDoor, HttpFront, NotAdmitted, ReachableNames};
#[cfg(feature = "fixtures")]
pub use self::scripted_rounds::{ScriptedError, ScriptedRound, ScriptedRounds};
pub use self::server::{McpOptions, McpServer};
pub use self::set::ToolSet;
pub use self::stdio::serve_lines;
