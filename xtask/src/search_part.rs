//! The parts of the measurement of searches, each of which can be measured without the others.

use anyhow::{Context, Result};

/// A part of what `bench search` measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPart {
    /// Patterns, with the index.
    Patterns,
    /// Files by their names.
    Listings,
    /// Patterns, without the index.
    NoIndex,
    /// A tree of four million lines.
    Lines,
    /// Trees of up to a million files.
    Growth,
}

// === impl SearchPart ===

impl SearchPart {
    /// All parts, in the order in which they are measured.
    pub const ALL: [Self; 5] =
        [Self::Patterns, Self::Listings, Self::NoIndex, Self::Lines, Self::Growth];

    /// What it is called at the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Patterns => "patterns",
            Self::Listings => "listings",
            Self::NoIndex => "no-index",
            Self::Lines => "lines",
            Self::Growth => "growth",
        }
    }

    /// Reads names with commas between them.
    ///
    /// # Errors
    ///
    /// Where one is the name of no part.
    pub fn parse_list(names: &str) -> Result<Vec<Self>> {
        let all = Self::ALL.map(Self::name).join(", ");
        let part = |name: &str| {
            let found = Self::ALL.into_iter().find(|part| part.name() == name);
            found.with_context(|| format!("there is no part `{name}`; there are: {all}"))
        };
        names.split(',').map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_by_their_names_and_others_are_refused() {
        let read = |names| SearchPart::parse_list(names).map_err(|error| error.to_string());
        assert_eq!(read("lines,patterns"), Ok(vec![SearchPart::Lines, SearchPart::Patterns]));
        let refused =
            "there is no part `line`; there are: patterns, listings, no-index, lines, growth";
        assert_eq!(read("growth,line"), Err(refused.to_owned()));
        assert!(read("").is_err());
    }
}
