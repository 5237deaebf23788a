//! The plugins that the user's lists name: read, compiled off the hot path, put into the catalog of
//! every workspace when they are ready, and all of that again when a file changes ([`Plugins`]); added,
//! pinned and taken out ([`registration`]); what they keep ([`store`]).
//!
//! Nothing here knows the daemon: all that is needed of it is an [`Environment`].

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

mod agreed;
mod bounds;
mod changes;
pub mod check;
mod code_cache;
pub mod compiler;
pub mod compiling;
mod component;
mod downloads;
mod environment;
mod examining;
pub mod inspect;
mod list_file;
mod lists;
mod oci;
mod plugins;
pub mod registration;
mod registry;
mod serving;
mod settings;
mod signatures;
mod slot;
mod status;
pub mod store;
mod trust;

pub use crate::changes::Changes;
pub use crate::environment::{Environment, Installed, ListFiles};
pub use crate::list_file::read_list;
pub use crate::plugins::Plugins;
pub use crate::settings::{Maximum, Settings};
pub use crate::status::{PluginState, PluginStatus};
pub use crate::trust::WORKSPACE_LIST;
