//! The table of all tools of a workspace: native ones and those of plugins, each with its compiled
//! schemas ([`Catalog`], [`CatalogEntry`]); in the forms that models and clients take ([`ToolView`], [`told()`]).

mod catalog;
mod render;
mod told;

pub use crate::catalog::{
    Catalog, CatalogChanges, CatalogEntry, CatalogError, PluginTools, Runner,
};
pub use crate::render::{Format, Language, ListedSchema, ToolView};
pub use crate::told::{SchemaForm, definition, told};
