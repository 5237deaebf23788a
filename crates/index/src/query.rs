//! What a text must have to match a regular expression: trigrams, joined by *and* and *or*.
//!
//! A query never refuses a text that matches; it may accept one that does not. `analysis` derives it
//! from the expression.

mod analysis;

use std::collections::BTreeSet;

use crate::grams::{Gram, gram};

/// Most conditions on one level of a query; a longer *or* is given up, a longer *and* is shortened.
const PARTS_MAX: usize = 64;
/// Most trigrams of a whole query.
const GRAMS_MAX: usize = 512;

/// What a text must have to match a regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GramQuery {
    pub(crate) need: GramNeed,
    /// Whether all that a match needs is in one line.
    pub(crate) is_within_lines: bool,
}

/// A condition on the trigrams of a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GramNeed {
    /// Every text fulfils it.
    Anything,
    /// No text fulfils it.
    Nothing,
    /// The text has the trigram.
    Has(Gram),
    /// The text fulfils every part: at least two.
    All(Vec<Self>),
    /// The text fulfils some part: at least two.
    Any(Vec<Self>),
}

// === impl GramQuery ===

impl GramQuery {
    /// Derives the query of a regular expression. `^` and `$` match at line ends, which may be CRLF,
    /// as in a search over lines. One that is no regular expression accepts every text.
    pub fn of_pattern(pattern: &str, case_sensitive: bool) -> Self {
        let mut parser = regex_syntax::ParserBuilder::new();
        parser.utf8(false).multi_line(true).crlf(true).case_insensitive(!case_sensitive);
        let parsed = parser.build().parse(pattern);
        let need = parsed.map_or(GramNeed::Anything, |hir| analysis::need(&hir));
        Self { need: need.bounded(), is_within_lines: false }
    }

    /// The same query for matches that hold no line end: they need all of it in one place of a text.
    #[must_use]
    pub fn within_lines(self) -> Self {
        Self { is_within_lines: true, ..self }
    }

    /// Whether it accepts every text, so that there is nothing to look up.
    pub fn accepts_every_text(&self) -> bool {
        self.need == GramNeed::Anything
    }

    /// Whether it accepts a text that has certain trigrams.
    pub fn accepts(&self, has: &dyn Fn(Gram) -> bool) -> bool {
        self.need.is_met(has)
    }

    /// Whether it accepts a text whose parts have certain trigrams, those of each sorted.
    pub(crate) fn accepts_parts(&self, parts: &[Box<[Gram]>]) -> bool {
        let has = |part: &[Gram], gram: Gram| part.binary_search(&gram).is_ok();
        if self.is_within_lines {
            return parts.iter().any(|part| self.need.is_met(&|gram| has(part, gram)));
        }
        self.need.is_met(&|gram| parts.iter().any(|part| has(part, gram)))
    }
}

// === impl GramNeed ===

impl GramNeed {
    /// The text has a string, ASCII letters in either case.
    pub(crate) fn of_string(string: &[u8]) -> Self {
        let grams = string.windows(3).filter_map(|bytes| gram([bytes[0], bytes[1], bytes[2]]));
        Self::all(grams.map(Self::Has))
    }

    /// The text has one of some strings.
    pub(crate) fn of_strings<'a>(strings: impl IntoIterator<Item = &'a Vec<u8>>) -> Self {
        Self::any(strings.into_iter().map(|string| Self::of_string(string)))
    }

    /// The text fulfils every part.
    pub(crate) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = BTreeSet::new();
        for part in parts {
            match part {
                Self::Anything => {}
                Self::Nothing => return Self::Nothing,
                Self::All(inner) => flat.extend(inner),
                part => drop(flat.insert(part)),
            }
        }
        // Trigrams sort before what is joined: those stay.
        let mut parts: Vec<Self> = flat.into_iter().take(PARTS_MAX).collect();
        match parts.len() {
            0 => Self::Anything,
            1 => parts.remove(0),
            _ => Self::All(parts),
        }
    }

    /// The text fulfils some part. What all parts share is a condition of its own.
    pub(crate) fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = BTreeSet::new();
        for part in parts {
            match part {
                Self::Anything => return Self::Anything,
                Self::Nothing => {}
                Self::Any(inner) => flat.extend(inner),
                part => drop(flat.insert(part)),
            }
        }
        let mut parts: Vec<Self> = flat.into_iter().collect();
        match parts.len() {
            0 => Self::Nothing,
            1 => parts.remove(0),
            _ => {
                let shared = take_shared(&mut parts);
                let is_given_up = parts.len() > PARTS_MAX || parts.contains(&Self::Anything);
                let rest = if is_given_up { Self::Anything } else { Self::Any(parts) };
                if shared.is_empty() { rest } else { Self::all(shared.into_iter().chain([rest])) }
            }
        }
    }

    fn is_met(&self, has: &dyn Fn(Gram) -> bool) -> bool {
        match self {
            Self::Anything => true,
            Self::Nothing => false,
            Self::Has(gram) => has(*gram),
            Self::All(parts) => parts.iter().all(|part| part.is_met(has)),
            Self::Any(parts) => parts.iter().any(|part| part.is_met(has)),
        }
    }

    fn grams(&self) -> usize {
        match self {
            Self::Anything | Self::Nothing => 0,
            Self::Has(_) => 1,
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::grams).sum(),
        }
    }

    /// The condition with at most [`GRAMS_MAX`] trigrams: parts of an *and* may go, an *or* goes whole.
    pub(crate) fn bounded(self) -> Self {
        self.with_at_most(&mut { GRAMS_MAX })
    }

    fn with_at_most(self, left: &mut usize) -> Self {
        match self {
            Self::All(parts) => Self::all(parts.into_iter().map(|part| part.with_at_most(left))),
            part => {
                let grams = part.grams();
                if grams > *left {
                    return Self::Anything;
                }
                *left -= grams;
                part
            }
        }
    }
}

/// Takes from each of several alternatives what all of them require.
fn take_shared(parts: &mut [GramNeed]) -> Vec<GramNeed> {
    let required = |part: &GramNeed| -> BTreeSet<GramNeed> {
        match part {
            GramNeed::All(inner) => inner.iter().cloned().collect(),
            other => BTreeSet::from([other.clone()]),
        }
    };
    let mut all = parts.iter().map(required);
    let first = all.next().unwrap_or_default();
    let shared = all.fold(first, |shared, part| shared.intersection(&part).cloned().collect());
    if !shared.is_empty() {
        for part in parts.iter_mut() {
            let rest = required(part);
            *part = GramNeed::all(rest.difference(&shared).cloned());
        }
    }
    shared.into_iter().collect()
}

#[cfg(test)]
mod tests;
