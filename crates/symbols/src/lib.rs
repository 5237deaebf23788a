//! What source files declare and use: their [`Outline`], read by tree-sitter grammars.
//!
//! Text in, byte ranges out: nothing here opens a file or starts a process.

mod allocation;
mod called;
mod errors;
mod family;
mod gaps;
mod grammar;
mod imported;
mod language;
mod macros;
mod outline;
mod outliner;
mod recent_trees;
mod rules;
mod shortened;
mod syntax_tree;
mod walk;
mod written_calls;

pub use crate::family::language_family;
pub use crate::language::Language;
pub use crate::outline::{
    Declaration, DeclarationKind, Import, NameUse, Outline, SyntaxError, TextRange, UseKind,
};
pub use crate::outliner::{OutlineProblem, Outliner};
pub use crate::recent_trees::RecentTrees;
pub use crate::shortened::{one_line, plain_documentation};
pub use crate::syntax_tree::{SyntaxNode, SyntaxTree};
pub use crate::written_calls::written_calls;
