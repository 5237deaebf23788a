//! The table of all tools of a workspace: native ones and those of plugins, each with its compiled
//! schemas ([`Catalog`], [`CatalogEntry`]); in the forms that models and clients take ([`ToolView`], [`registered()`]).

mod catalog;
mod registered;
mod render;

pub use crate::catalog::{
    Catalog, CatalogChanges, CatalogEntry, CatalogError, PluginTools, Runner,
};
pub use crate::registered::{SchemaForm, definition, registered};
pub use crate::render::{Format, Language, ListedSchema, ToolView};
