//! A definition as another program names it: what moss's outlines are measured against.

/// A definition of another program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ForeignTag {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) kind: String,
    /// Counts from 1.
    pub(crate) line: u32,
    /// Whether it may be local to a function, which the program does not know: nobody asks for it, and it is not wrong.
    pub(crate) is_unsure: bool,
}
