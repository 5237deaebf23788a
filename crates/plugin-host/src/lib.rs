//! Loads WASM components and calls their tools.
//!
//! * [`Engine`]: compiles and runs; one for the process;
//! * [`Plugin`]: a loaded component; [`Plugin::call`] runs one of its tools in an instance of its
//!   own, within the limits and with no more than the grant of its entry;
//! * [`code`]: who compiles, and the form in which compiled code is kept;
//! * [`services`]: what the daemon does for a guest that was granted it.
//!
//! A guest reads what it was granted and returns the edits that it proposes. It cannot write or
//! start a process: nothing of that is linked.
//!
//! This is the only crate that names the WASM engine. It opens no workspace file by name and starts
//! no process. Calls run on the caller's tokio runtime, which must have its timer enabled.

mod bindings;
mod call_slots;
pub mod code;
mod description;
mod engine;
mod engine_config;
mod error;
mod face;
mod guest_json;
mod imported_names;
mod imports;
mod instance;
pub mod limits;
mod linking;
mod outcome;
mod pause;
mod plain;
mod plugin;
mod renaming;
mod revocation;
mod rights;
pub mod services;
mod surface;
mod warm;

pub use crate::call_slots::CallSlot;
pub use crate::description::Example;
pub use crate::engine::{Allocation, Engine, EngineError, EngineOptions};
pub use crate::error::{LoadError, Paused, PluginCallError, SettingsProblem};
pub use crate::imported_names::imported_names;
pub use crate::imports::context::{GuestEvents, LogLevel};
pub use crate::limits::LimitReached;
pub use crate::outcome::{CallUsage, PluginEdit, PluginOutcome};
pub use crate::plugin::{CallRequest, Plugin};
pub use crate::surface::Surface;
