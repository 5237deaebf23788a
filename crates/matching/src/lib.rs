//! Where an edit belongs: the nine levels of the specification, from character for character to
//! similar, and the merge that writes it.
//!
//! A level only *locates*. What is written is a three-way merge: base is the text that was searched
//! for, theirs is the replacement, ours is what the file has at that location. So a line that the
//! edit leaves alone keeps the file's own bytes, a line that it changes keeps what the edit does
//! not mean, and a new line gets the file's indentation.
//!
//! All locations of a level count: where there are several, nothing weaker is tried. A line that
//! the edit replaces although it is not the line that was searched for is [`Drift`]: whoever
//! proposes the edit must show it to a person.
//!
//! Everything here is pure, and its cost is bounded. Beside it, [`mod@lines`] has what tools know of the
//! lines of a text: their numbers, ranges and spans.

mod chain;
mod elision;
mod escapes;
mod find;
mod fold;
mod indent;
mod likeness;
pub mod lines;
mod merge;
mod numbers;
mod search;
mod sides;
mod similar_lines;
mod splices;
mod words;
mod wrapping;
mod write;

use moss_sdk::edit::{Drift, MatchLevel, Splice};

pub use self::elision::placeholder;
pub use self::search::with_plain_line_ends;
pub use self::splices::splices;

use self::chain::Chain;
use self::escapes::OverEscaped;
use self::lines::{LineIndex, LineSpan};

/// How often a text is to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// Once: it must not occur again.
    Only,
    /// Once, as whole lines: that it also ends other lines does not count.
    OnlyLines,
    /// Everywhere. No location is found by likeness then.
    All,
}

/// Where an edit belongs, and what it does there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The level at which the search was found.
    pub level: MatchLevel,
    /// What the edit replaces, in ascending order; never empty.
    pub splices: Vec<Splice>,
    /// Lines that are replaced, or that alone determine the location, and were not as the search
    /// claimed.
    pub drift: Vec<Drift>,
    /// The locations, from the first on.
    pub places: Vec<EditSpan>,
}

/// One location of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditSpan {
    /// The lines that were searched for, as they are numbered before; never none.
    pub before: Option<LineSpan>,
    /// The replacement lines, as they would be numbered if nothing else changed; none where
    /// lines are only removed.
    pub after: Option<LineSpan>,
}

/// Why an edit is not made. Nothing is guessed: a location that is not certain is a miss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// The search is the empty text.
    Empty,
    /// The search is nothing but white space.
    Blank,
    /// Search or replacement holds a NUL character, which no text does.
    Nul,
    /// The lines of the replacement start with the numbers of a listing, those of the search do not.
    Numbers,
    /// Search and replacement are the same.
    Same,
    /// The search text is not found at any level.
    None,
    /// The search occurs several times.
    Several {
        /// The level at which it occurs; deeper ones were not tried.
        level: MatchLevel,
        /// The lines where it starts, ascending.
        lines: Vec<usize>,
        /// Whether there are more than those.
        more: bool,
    },
    /// The file has the replacement already, from this line on.
    Applied(usize),
    /// The search was found at this line, but what the edit changes is not there to be changed.
    Nothing(usize),
    /// The replacement has a line that stands for lines left out.
    Placeholder(String),
    /// The replacement has escape sequences where the search has line ends or tabs, and may mean
    /// either.
    Escaped,
    /// The search leaves lines out, and the replacement does not leave out the same.
    Elision,
    /// The search was found by likeness, but what the edit would replace is not what it says, or
    /// holds lines that it does not show.
    Drift {
        /// The level at which it was found.
        level: MatchLevel,
        /// Those that differ, ascending.
        lines: Vec<Drift>,
    },
    /// The search text occurs so often that its replacements together are more than an edit may write.
    TooMuch(usize),
    /// The search text is not found verbatim, and the file or the search is too large to look for
    /// something similar.
    TooLarge,
}

/// Finds the location of an edit in a text and computes what the edit does there. Line ends count
/// as equal.
///
/// # Errors
///
/// Why the edit cannot be made: see [`Miss`].
pub fn locate(
    text: &str,
    search: &str,
    replace: &str,
    occurrence: Occurrence,
) -> Result<Located, Miss> {
    let (search, replace) = (with_plain_line_ends(search), with_plain_line_ends(replace));
    check(&search, &replace)?;
    match escapes::over_escaped(&search, &replace) {
        None => located(text, &search, &replace, occurrence),
        Some(OverEscaped::Unclear) => Err(Miss::Escaped),
        Some(OverEscaped::Means(replace)) => {
            check(&search, &replace)?;
            let located = located(text, &search, &replace, occurrence)?;
            let level = located.level.max(MatchLevel::EscapeNormalized);
            Ok(Located { level, ..located })
        }
    }
}

fn located(
    text: &str,
    search: &str,
    replace: &str,
    occurrence: Occurrence,
) -> Result<Located, Miss> {
    let lines = LineIndex::new(text);
    let chain = Chain::new(text, &lines, search, replace, occurrence);
    if let Some(located) = chain.exact()? {
        return Ok(located);
    }
    let file: Vec<&str> = lines.iter().collect();
    if let Some(located) = chain.levels(&file)? {
        return Ok(located);
    }
    let Some((search, replace)) = wrapping::unwrapped(&file, search, replace) else {
        return chain.last_resorts(&file);
    };
    check(&search, &replace)?;
    let chain = Chain::new(text, &lines, &search, &replace, occurrence);
    if let Some(located) = chain.exact()? {
        return Ok(located);
    }
    match chain.levels(&file)? {
        Some(located) => Ok(located),
        None => chain.last_resorts(&file),
    }
}

fn check(search: &str, replace: &str) -> Result<(), Miss> {
    if search.is_empty() {
        return Err(Miss::Empty);
    }
    if search.trim().is_empty() {
        return Err(Miss::Blank);
    }
    if search.contains('\0') || replace.contains('\0') {
        return Err(Miss::Nul);
    }
    if search == replace {
        return Err(Miss::Same);
    }
    match placeholder(search, replace) {
        Some(line) => Err(Miss::Placeholder(line.to_owned())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
