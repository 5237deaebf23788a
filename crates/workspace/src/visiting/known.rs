//! What is known of the texts of files without reading them.

use std::fmt;

use crate::file_mark::FileMark;

/// What is known of the text of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownText {
    /// Nothing: it has to be read.
    Unknown,
    /// It is a text that is of interest to the visitor in some parts alone: the next of [`KnownTexts::parts`].
    InParts,
    /// It is a text that is of no interest to the visitor.
    Uninteresting,
    /// It is no text.
    Binary,
}

/// What is known of the first files of a walk, in its order.
#[derive(Debug, Default)]
pub struct KnownTexts {
    /// One for each file.
    pub files: Vec<KnownText>,
    /// Of those that are of interest in some parts alone, in the same order.
    pub parts: Vec<KnownParts>,
}

/// Which parts of a text are of interest. The text is what its file holds, byte by byte.
pub struct KnownParts {
    /// How many parts it has. Of its bytes in so many equal steps, each part begins with the first line that begins
    /// behind its step, and ends where the next one begins.
    pub count: u32,
    /// The numbers of those that are of interest, ascending.
    pub numbers: Box<[u32]>,
    /// Whether that is still so, by what an open file is like.
    pub are_of: Box<dyn Fn(&FileMark) -> bool + Send + Sync>,
}

// === impl KnownTexts ===

impl From<Vec<KnownText>> for KnownTexts {
    /// Of files none of which is of interest in parts.
    fn from(files: Vec<KnownText>) -> Self {
        Self { files, parts: Vec::new() }
    }
}

// === impl KnownParts ===

impl fmt::Debug for KnownParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, numbers, .. } = self;
        let mut shown = f.debug_struct("KnownParts");
        shown.field("count", count).field("numbers", numbers).finish_non_exhaustive()
    }
}
