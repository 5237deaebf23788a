//! The list of plugins, `moss-tools.json`, as plain values.
//!
//! * [`PluginList`]: which plugins there are and what each may do; [`ListEdit`] changes its text;
//! * [`Grant`]: what a plugin asks for, is granted, may have at most, and therefore has;
//! * [`PluginLimits`]: what one call of it may use;
//! * [`units`]: durations and sizes as people write them.
//!
//! Nothing here reads a file or knows the WASM engine: whoever speaks of plugins needs only this.

pub mod grants;
pub mod limits;
mod list;
pub mod tool_names;
pub mod units;

pub use crate::grants::{Capability, Grant, RequestedCapability};
pub use crate::limits::{Lowered, PluginLimits, WarmLimits};
pub use crate::list::{ListEdit, ListError, OciReference, PluginEntry, PluginList, Sha256Digest};
