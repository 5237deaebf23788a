//! SEARCH/REPLACE blocks: the edit format of the specification.
//!
//! ```text
//! ------- SEARCH
//! the lines as they are
//! =======
//! the lines as they shall be
//! +++++++ REPLACE
//! ```
//!
//! Each marker is a line of its own: seven or more hyphens, equals signs or plus signs. Text around
//! blocks is nobody's. A line of seven equals signs may also be content; then the texts decide
//! where the block is split, see [`EditBlock::splits`].

/// The fewest signs of a marker.
const SIGNS_MIN: usize = 7;

/// One block: the lines between its outer markers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditBlock<'a> {
    /// The line of the text on which the block starts, from 1.
    pub line: usize,
    /// Its lines, with their line ends.
    lines: Vec<&'a str>,
    /// Which of them may be the separator, ascending; at least one.
    separators: Vec<usize>,
}

/// A way to read a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// What is searched for; empty for the whole file.
    pub search: String,
    /// What replaces it; empty to delete it.
    pub replace: String,
}

/// Why a text is not a sequence of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// There is no block at all.
    #[error("there is no block: no line is `------- SEARCH`")]
    None,
    /// A block starts within another.
    #[error(
        "the block at line {line} has no `+++++++ REPLACE` before line {next}, where another block starts"
    )]
    Unfinished {
        /// The line of its `SEARCH`, from 1.
        line: usize,
        /// Where the next one starts.
        next: usize,
    },
    /// A block has no end.
    #[error("the block at line {line} has no `+++++++ REPLACE`: it may have been cut off")]
    Unclosed {
        /// The line of its `SEARCH`, from 1.
        line: usize,
    },
    /// A block has no separator.
    #[error(
        "the block at line {line} has no line `=======` between what is searched for and its replacement"
    )]
    Undivided {
        /// The line of its `SEARCH`, from 1.
        line: usize,
    },
    /// A line is the marker of another format.
    #[error(
        "line {line} is a marker of another format: a block starts with `------- SEARCH` and ends with `+++++++ REPLACE`"
    )]
    Foreign {
        /// Its number, from 1.
        line: usize,
    },
    /// A line is nearly a marker.
    #[error(
        "line {line} is nearly a marker, but too short: `------- SEARCH`, `=======` and `+++++++ REPLACE` have seven signs or more"
    )]
    Short {
        /// Its number, from 1.
        line: usize,
    },
    /// A block ends twice: its content holds a marker.
    #[error(
        "line {line} is `+++++++ REPLACE`, but no block is open there: content that holds such a line cannot be distinguished from the end of a block"
    )]
    Unopened {
        /// Its number, from 1.
        line: usize,
    },
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Search,
    Separator,
    Replace,
    /// Of a format with angle brackets.
    Foreign,
}

/// Reads the blocks of a text.
///
/// # Errors
///
/// The first thing that makes it uncertain what is meant; where a marker is missing, the line that
/// is nearly one.
pub fn parse(text: &str) -> Result<Vec<EditBlock<'_>>, BlockError> {
    read(text).map_err(|error| match (error, short(text, &error)) {
        (BlockError::Foreign { .. }, _) | (_, None) => error,
        (_, Some(line)) => BlockError::Short { line },
    })
}

/// Finds the line, counted from 1, that would be the marker that is missing if it were longer.
fn short(text: &str, error: &BlockError) -> Option<usize> {
    let is_missing = |line: &str| {
        let signs = |c: char| {
            let rest = line.trim_start_matches(c);
            let count = line.len() - rest.len();
            (count > 1 && count < SIGNS_MIN).then_some(rest)
        };
        match error {
            BlockError::None | BlockError::Unopened { .. } => {
                matches!(signs('-'), Some(" SEARCH" | " SEARCH>"))
            }
            BlockError::Undivided { .. } => signs('=') == Some(""),
            BlockError::Unclosed { .. } | BlockError::Unfinished { .. } => {
                matches!(signs('+'), Some(" REPLACE" | " REPLACE>"))
            }
            BlockError::Foreign { .. } | BlockError::Short { .. } => false,
        }
    };
    text.lines().position(|line| is_missing(line.trim_end())).map(|at| at + 1)
}

fn read(text: &str) -> Result<Vec<EditBlock<'_>>, BlockError> {
    let mut blocks = Vec::new();
    let mut open: Option<EditBlock<'_>> = None;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        match (Marker::of(line), &mut open) {
            (Some(Marker::Foreign), _) => return Err(BlockError::Foreign { line: number }),
            (Some(Marker::Search), None) => {
                open = Some(EditBlock { line: number, lines: Vec::new(), separators: Vec::new() });
            }
            (Some(Marker::Search), Some(block)) => {
                return Err(BlockError::Unfinished { line: block.line, next: number });
            }
            (Some(Marker::Replace), None) => return Err(BlockError::Unopened { line: number }),
            (Some(Marker::Replace), Some(block)) if block.separators.is_empty() => {
                return Err(BlockError::Undivided { line: block.line });
            }
            (Some(Marker::Replace), Some(_)) => blocks.extend(open.take()),
            (marker, Some(block)) => {
                if marker == Some(Marker::Separator) {
                    block.separators.push(block.lines.len());
                }
                block.lines.push(line);
            }
            (_, None) => {}
        }
    }
    match open {
        Some(block) if block.separators.is_empty() => {
            Err(BlockError::Undivided { line: block.line })
        }
        Some(block) => Err(BlockError::Unclosed { line: block.line }),
        None if blocks.is_empty() => Err(BlockError::None),
        None => Ok(blocks),
    }
}

/// Whether a line may separate the parts of a block.
pub(crate) fn is_separator(line: &str) -> bool {
    Marker::is_separator(line)
}

// === impl EditBlock ===

impl EditBlock<'_> {
    /// Returns every way to read the block, that with the longest search first: one for each line
    /// that may be the separator.
    pub fn splits(&self) -> impl Iterator<Item = Split> {
        self.separators.iter().rev().map(|at| Split {
            search: self.lines[..*at].concat(),
            replace: self.lines[at + 1..].concat(),
        })
    }

    /// Returns how many ways there are to read the block.
    pub fn splits_count(&self) -> usize {
        self.separators.len()
    }
}

// === impl Marker ===

impl Marker {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let rest = |c: char| {
            let rest = line.trim_start_matches(c);
            (line.len() - rest.len() >= SIGNS_MIN).then_some(rest)
        };
        if matches!(rest('-'), Some(" SEARCH" | " SEARCH>")) {
            Some(Self::Search)
        } else if rest('=') == Some("") {
            Some(Self::Separator)
        } else if matches!(rest('+'), Some(" REPLACE" | " REPLACE>")) {
            Some(Self::Replace)
        } else if rest('<') == Some(" SEARCH") || rest('>') == Some(" REPLACE") {
            Some(Self::Foreign)
        } else {
            None
        }
    }

    fn is_separator(line: &str) -> bool {
        Self::of(line) == Some(Self::Separator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splits(text: &str) -> Result<Vec<Vec<(String, String)>>, BlockError> {
        let texts = |block: &EditBlock<'_>| {
            block.splits().map(|split| (split.search, split.replace)).collect()
        };
        parse(text).map(|blocks| blocks.iter().map(texts).collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn blocks_are_read_with_what_is_around_them_left_out() {
        let text = "Sure:\n------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n\n---------- SEARCH\r\nc\r\n========\r\n+++++++ REPLACE  ";
        assert_eq!(splits(text), Ok(vec![pairs(&[("a\n", "b\n")]), pairs(&[("c\r\n", "")])]));
        let text = "------- SEARCH\n=======\n+++++++ REPLACE";
        assert_eq!(splits(text), Ok(vec![pairs(&[("", "")])]));
        assert_eq!(parse(text).unwrap()[0].line, 1);
    }

    #[test]
    fn separators_in_the_content_give_several_readings() {
        let text = "------- SEARCH\nTitle\n=======\n=======\nOther\n=======\n+++++++ REPLACE\n";
        let expected = pairs(&[
            ("Title\n=======\n=======\nOther\n", ""),
            ("Title\n=======\n", "Other\n=======\n"),
            ("Title\n", "=======\nOther\n=======\n"),
        ]);
        assert_eq!(splits(text), Ok(vec![expected]));
    }

    #[test]
    fn what_is_not_certain_is_refused_with_its_line() {
        let cases = [
            ("", BlockError::None),
            ("prose\n<<<<<<< SEARCH\na\n", BlockError::Foreign { line: 2 }),
            ("------- SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", BlockError::Foreign { line: 5 }),
            ("------ SEARCH\n", BlockError::Short { line: 1 }),
            ("x\n----- SEARCH\na\n=======\nb\n+++++++ REPLACE\n", BlockError::Short { line: 2 }),
            ("------- SEARCH\na\n=====\nb\n+++++++ REPLACE\n", BlockError::Short { line: 3 }),
            ("------- SEARCH\na\n=======\nb\n+++ REPLACE\n", BlockError::Short { line: 5 }),
            ("- SEARCH\n", BlockError::None),
            ("------- SEARCH\na\n=======\nb\n", BlockError::Unclosed { line: 1 }),
            ("x\n------- SEARCH\na\n", BlockError::Undivided { line: 2 }),
            ("------- SEARCH\na\n+++++++ REPLACE\n", BlockError::Undivided { line: 1 }),
            (
                "------- SEARCH\na\n=======\nb\n------- SEARCH\n",
                BlockError::Unfinished { line: 1, next: 5 },
            ),
            (
                "------- SEARCH\na\n=======\n+++++++ REPLACE\nb\n+++++++ REPLACE\n",
                BlockError::Unopened { line: 6 },
            ),
        ];
        for (text, error) in cases {
            assert_eq!(splits(text), Err(error), "{text:?}");
        }
    }
}
