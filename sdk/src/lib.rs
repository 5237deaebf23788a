//! The tool contract of moss.
//!
//! Everything a tool says about itself and everything it may ask for is defined here, once, for
//! native tools and for plugins:
//!
//! * [`spec`]: what a tool is called, what it does, which arguments it takes;
//! * [`schema`]: one typed parameter struct gives both the published and the strict JSON schema;
//! * [`error`]: how a tool says what went wrong and what to do next;
//! * [`edit`]: how a tool proposes file changes;
//! * [`path`] and [`hash`]: names of files inside a workspace, names of file contents.
//!
//! With the feature `host` also the side that the daemon implements: [`mod@tool`] and [`context`].
//! Without it the crate builds for `wasm32-wasip2`. With the feature `testing` also an in-memory
//! host for the tests of tools.
//!
//! This crate never starts a process and never waits, and only the module `guest`, inside a
//! plugin's sandbox, opens a file: for the rest it only has words.

pub mod edit;
pub mod error;
#[cfg(feature = "guest")]
pub mod guest;
pub mod hash;
#[cfg(feature = "host")]
mod pace;
pub mod path;
pub mod schema;
pub mod spec;

#[cfg(feature = "host")]
pub mod checks;
#[cfg(feature = "host")]
pub mod code_map;
#[cfg(feature = "host")]
pub mod code_search;
#[cfg(feature = "host")]
pub mod command;
#[cfg(feature = "host")]
pub mod content;
#[cfg(feature = "host")]
pub mod context;
#[cfg(feature = "host")]
pub mod deceptive;
#[cfg(feature = "host")]
pub mod editor;
#[cfg(feature = "host")]
pub mod editor_lines;
#[cfg(feature = "host")]
pub mod file;
#[cfg(feature = "host")]
pub mod glob;
#[cfg(feature = "host")]
pub mod history;
#[cfg(feature = "host")]
pub mod job;
#[cfg(feature = "host")]
pub mod language_server;
#[cfg(feature = "host")]
pub mod plugin;
#[cfg(feature = "host")]
mod progress;
#[cfg(feature = "host")]
pub mod prompt;
#[cfg(feature = "host")]
mod proposal;
#[cfg(feature = "host")]
pub mod ranking;
#[cfg(feature = "host")]
pub mod search;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "host")]
pub mod todo;
#[cfg(feature = "host")]
pub mod tool;
#[cfg(feature = "host")]
pub mod tree_listing;
#[cfg(feature = "host")]
mod visitor;

pub use crate::error::{ErrorCode, ErrorMark, ToolError};
pub use crate::hash::ContentHash;
pub use crate::path::RelPath;
pub use crate::spec::{Effect, ToolSpec, Toolset};

#[cfg(feature = "guest")]
pub use crate::guest::{Capability, Edit, Example, Proposed};
#[cfg(feature = "guest")]
pub use moss_sdk_macros::{data, tool};
#[cfg(feature = "guest")]
pub use serde_json::json;

#[cfg(feature = "host")]
pub use crate::context::Context;
#[cfg(feature = "host")]
pub use crate::tool::Tool;
