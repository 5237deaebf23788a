//! The table of all tools of a workspace: native ones and those of plugins, each with its compiled
//! schemas ([`Catalog`], [`Entry`]); in the forms that models and clients take ([`View`], [`told()`]).

mod catalog;
mod render;
mod told;

pub use crate::catalog::{Catalog, CatalogChanges, CatalogError, Entry, PluginTools, Runner};
pub use crate::render::{Format, Language, View};
pub use crate::told::{Form, definition, told};
