//! Which parts of source files are relevant to a question: chunks by what they declare, their words weighed by field, ranked
//! by what files are for. It needs no model; where somebody brings the vectors of one, both rankings are fused.
//!
//! Text in, places out: nothing here opens a file. Who feeds it is `crates/live-index/src/ranked_texts.rs`, and the
//! tool itself where no daemon does.

mod analysis;
mod answer;
mod chunk;
mod commits;
mod declaring;
mod file_types;
mod forms;
mod gathering;
mod glossary;
mod map;
mod names;
mod passages;
pub mod path_letters;
mod postings;
mod qualified;
mod question;
mod ranked;
mod related;
mod search;
mod segment;
mod shape;
mod shown;
mod stem;
pub mod typo;
mod used_names;
mod vectors;
mod weights;
mod words;
mod written_location;

pub use crate::analysis::{AnalyzedText, TextAnalyzer};
pub use crate::commits::{COMMIT_LOG, CommitSubjects};
pub use crate::file_types::FileTypes;
pub use crate::gathering::CodeGathering;
pub use crate::map::FileRanks;
pub use crate::passages::Passage;
pub use crate::qualified::{DeclaredPlace, NameFit, NameTier, QualifiedName};
pub use crate::question::CodeQuestion;
pub use crate::ranked::{MergedSegment, RankedIndex, RankedMerge, RankedSize, RankedView};
pub use crate::search::RankedSearch;
pub use crate::shown::ShownHit;
pub use crate::used_names::{expression_within, find_words, is_name_part, is_strange_name};
pub use crate::vectors::{DIMENSIONS_MAX, Meaning, MeaningVector, PassageKey, VectorTable};
pub use crate::weights::Weights;
pub use crate::written_location::WrittenLocation;
