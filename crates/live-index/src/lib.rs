//! What is in a workspace, always as it is now: its tree, the trigrams of its texts, their words and
//! vectors for questions, each brought up to date before it is used.
//!
//! Fed with what the live tree of the workspace reports; knows only what the policy lets every caller
//! read. Decides nothing: a search shows what its own call may see. Read [`live_tree`] first.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

pub mod embeddings;
pub mod live_tree;
pub mod ranked_texts;
mod sweep_clock;
pub mod text_index;
