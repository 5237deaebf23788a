//! What a merge is made of: the lines of an edit and those of the file that they stand for.

use super::fold::Fold;

/// The sides of a merge: search, replacement, and the file.
pub(super) struct MergeSides<'a> {
    /// The lines that were searched for.
    pub(super) search: &'a [&'a str],
    /// The lines that shall be there instead.
    pub(super) replace: &'a [&'a str],
    /// The lines of the file, without line ends.
    pub(super) found: &'a [&'a str],
    /// For every line of the search, which line of the file it stands for; ascending.
    pub(super) align: &'a [Option<usize>],
    /// Which differences do not count.
    pub(super) fold: Fold,
    /// The line before those of the file that says something.
    pub(super) before: Option<&'a str>,
    /// The lines of the file that follow.
    pub(super) after: &'a [&'a str],
    /// How alike a line must be to the one that the search had in its place, to be changed.
    pub(super) likeness_min: f64,
}
