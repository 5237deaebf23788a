//! What is read of texts in each language, and what no text can do.

mod bounds;
mod calls;
mod code;
mod entries;
#[cfg(feature = "lang-extra")]
mod extra;
mod lost;
mod names;
mod reading;
mod recent_trees;
mod syntax_tree;
