//! Which text files of a workspace may match a regular expression.
//!
//! [`GramQuery`] is what a regular expression requires of a text that matches it, in trigrams.
//!
//! Nothing here opens a file of the workspace, or decides who may read one.

mod grams;
mod query;

pub use crate::grams::{Gram, GramCollector};
pub use crate::query::GramQuery;
