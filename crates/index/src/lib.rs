//! Which text files of a workspace may match a regular expression.
//!
//! * [`GramQuery`] is what a regular expression requires of a text that matches it, in trigrams.
//! * [`TextIndex`] knows the trigrams of documents, those of a long text part by part: it is given a list of them
//!   and what changes, reads them through a [`DocumentSource`], and says which of them may match: never too few. A
//!   document that it does not know yet always may.
//! * Its files lie in an [`IndexStore`], a directory of moss's own. They hold paths, hashes and
//!   trigrams, and never a text. What is damaged in them is noticed and read again.
//!
//! Nothing here opens a file of the workspace, or decides who may read one.

mod cache;
mod candidates;
mod coding;
mod core;
mod document;
mod file_names;
mod grams;
mod index;
mod manifest;
mod matching;
mod numbers;
mod parts;
mod postings;
mod problem;
mod query;
mod segment;
mod status;
mod store;
mod table;

pub use crate::candidates::{DocumentParts, DocumentVerdict, LocatedDocuments, LocatedVerdicts};
pub use crate::document::{
    DocumentChange, DocumentContent, DocumentMark, DocumentSource, ReadDocument,
};
pub use crate::file_names::{is_index_file, marks_index};
pub use crate::grams::{Gram, GramCollector};
pub use crate::index::{IndexBounds, TextIndex};
pub use crate::problem::IndexProblem;
pub use crate::query::GramQuery;
pub use crate::status::{IndexState, IndexStatus};
pub use crate::store::{IndexStore, StoredDraft, StoredPieces};
