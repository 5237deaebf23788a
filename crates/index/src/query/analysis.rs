//! From a regular expression to the trigrams that its matches hold.
//!
//! For each part of the expression: the strings that it matches, while they are few; otherwise how
//! its matches may begin and end, and what they hold. ASCII letters are in lower case throughout, as
//! in the index; other letters stand there as the expression's classes list them, so that `(?i)k`
//! asks for `k` or for the Kelvin sign.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::GramNeed;

/// Most strings that a part is taken apart into.
const EXACT_MAX: usize = 16;
/// Longest of those strings, in bytes.
const EXACT_BYTES_MAX: usize = 256;
/// Most characters of a class that is taken apart.
const CLASS_MAX: usize = 16;
/// Most ends of a part that are kept apart.
const ENDS_MAX: usize = 64;
/// Most strings over the border of two parts.
const BORDER_MAX: usize = 256;
/// So many repetitions are looked at as such.
const REPETITIONS_MAX: u32 = 3;
/// Bytes of an end: with one byte more it is a trigram.
const END_BYTES: usize = 2;

/// Strings, ASCII letters in lower case.
type LoweredStrings = BTreeSet<Vec<u8>>;

/// What is known of the matches of a part of an expression.
#[derive(Debug, Clone)]
enum MatchShape {
    /// Each match is one of these.
    Exact(LoweredStrings),
    /// Each match begins and ends with one of these, and meets the condition.
    Framed(FramedMatches),
}

/// What is known of matches that are too many to list.
#[derive(Debug, Clone)]
struct FramedMatches {
    /// Each match begins with one of these, of up to [`END_BYTES`] bytes.
    heads: LoweredStrings,
    /// Each match ends with one of these, of up to [`END_BYTES`] bytes.
    tails: LoweredStrings,
    /// Each text with a match meets this.
    need: GramNeed,
}

/// Returns what a text must have to hold a match.
pub(super) fn need(hir: &Hir) -> GramNeed {
    shape(hir).framed().need
}

fn shape(hir: &Hir) -> MatchShape {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => MatchShape::empty(),
        HirKind::Literal(literal) => literal_shape(&literal.0),
        HirKind::Class(class) => class_shape(class),
        HirKind::Repetition(repetition) => repetition_shape(repetition),
        HirKind::Capture(capture) => shape(&capture.sub),
        HirKind::Concat(parts) => {
            parts.iter().fold(MatchShape::empty(), |before, part| before.then(shape(part)))
        }
        HirKind::Alternation(parts) => {
            let none = MatchShape::Exact(LoweredStrings::new());
            parts.iter().fold(none, |before, part| before.or(shape(part)))
        }
    }
}

fn literal_shape(literal: &[u8]) -> MatchShape {
    let lowered = literal.to_ascii_lowercase();
    if lowered.len() <= EXACT_BYTES_MAX {
        return MatchShape::Exact(LoweredStrings::from([lowered]));
    }
    MatchShape::Framed(FramedMatches {
        heads: LoweredStrings::from([head(&lowered)]),
        tails: LoweredStrings::from([tail(&lowered)]),
        need: GramNeed::of_string(&lowered),
    })
}

fn class_shape(class: &Class) -> MatchShape {
    let mut strings = LoweredStrings::new();
    let characters: usize = match class {
        Class::Unicode(class) => class.ranges().iter().map(|range| range.len()).sum(),
        Class::Bytes(class) => class.ranges().iter().map(|range| range.len()).sum(),
    };
    // Upper and lower case are one.
    if characters > CLASS_MAX * 2 {
        return MatchShape::unknown();
    }
    match class {
        Class::Unicode(class) => {
            for character in class.ranges().iter().flat_map(|range| range.start()..=range.end()) {
                let lowered = character.to_ascii_lowercase();
                strings.insert(lowered.encode_utf8(&mut [0; 4]).as_bytes().to_vec());
            }
        }
        Class::Bytes(class) => {
            for byte in class.ranges().iter().flat_map(|range| range.start()..=range.end()) {
                strings.insert(vec![byte.to_ascii_lowercase()]);
            }
        }
    }
    if strings.len() > CLASS_MAX { MatchShape::unknown() } else { MatchShape::Exact(strings) }
}

fn repetition_shape(repetition: &Repetition) -> MatchShape {
    let once = shape(&repetition.sub);
    match (repetition.min, repetition.max) {
        (_, Some(0)) => MatchShape::empty(),
        (0, Some(1)) => once.or(MatchShape::empty()),
        (0, _) => MatchShape::unknown(),
        (min, max) => {
            let looked_at = min.min(REPETITIONS_MAX);
            let repeated = (1..looked_at).fold(once.clone(), |all, _| all.then(once.clone()));
            if max == Some(looked_at) {
                return repeated;
            }
            // More of it begins and ends as this does, and holds what this holds.
            MatchShape::Framed(repeated.framed())
        }
    }
}

fn head(string: &[u8]) -> Vec<u8> {
    string[..string.len().min(END_BYTES)].to_vec()
}

fn tail(string: &[u8]) -> Vec<u8> {
    string[string.len().saturating_sub(END_BYTES)..].to_vec()
}

/// Every string of the one, followed by every one of the other.
fn joined(first: &LoweredStrings, second: &LoweredStrings) -> LoweredStrings {
    let joined = first.iter().flat_map(|one| second.iter().map(move |two| [&**one, two].concat()));
    joined.collect()
}

/// The ends, or one that fits every text where they are too many.
fn bounded_ends(ends: LoweredStrings) -> LoweredStrings {
    if ends.len() > ENDS_MAX { LoweredStrings::from([Vec::new()]) } else { ends }
}

// === impl MatchShape ===

impl MatchShape {
    /// Only the empty match.
    fn empty() -> Self {
        Self::Exact(LoweredStrings::from([Vec::new()]))
    }

    /// Nothing is known of the matches: any text may have one.
    fn unknown() -> Self {
        let nothing = LoweredStrings::from([Vec::new()]);
        let (heads, tails) = (nothing.clone(), nothing);
        Self::Framed(FramedMatches { heads, tails, need: GramNeed::Anything })
    }

    fn framed(self) -> FramedMatches {
        match self {
            Self::Exact(strings) => FramedMatches {
                heads: bounded_ends(strings.iter().map(|string| head(string)).collect()),
                tails: bounded_ends(strings.iter().map(|string| tail(string)).collect()),
                need: GramNeed::of_strings(&strings),
            },
            Self::Framed(framed) => framed,
        }
    }

    /// A match of this, followed by one of the other.
    fn then(self, next: Self) -> Self {
        if let (Self::Exact(first), Self::Exact(second)) = (&self, &next)
            && first.len() * second.len() <= EXACT_MAX
            && longest(first) + longest(second) <= EXACT_BYTES_MAX
        {
            return Self::Exact(joined(first, second));
        }
        let (whole, next_whole) = (self.short(), next.short());
        let (first, second) = (self.framed(), next.framed());
        let can_join = first.tails.len() * second.heads.len() <= BORDER_MAX;
        let border = if can_join {
            GramNeed::of_strings(&joined(&first.tails, &second.heads))
        } else {
            GramNeed::Anything
        };
        // A short part that is known whole does not hide what lies beyond it.
        let heads = match &whole {
            Some(whole) if whole.len() * second.heads.len() <= BORDER_MAX => {
                joined(whole, &second.heads).iter().map(|string| head(string)).collect()
            }
            _ => first.heads,
        };
        let tails = match &next_whole {
            Some(whole) if whole.len() * first.tails.len() <= BORDER_MAX => {
                joined(&first.tails, whole).iter().map(|string| tail(string)).collect()
            }
            _ => second.tails,
        };
        let need = GramNeed::all([first.need, border, second.need]).bounded();
        Self::Framed(FramedMatches { heads: bounded_ends(heads), tails: bounded_ends(tails), need })
    }

    /// A match of this, or one of the other.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exact(mut first), Self::Exact(second))
                if first.len() + second.len() <= EXACT_MAX =>
            {
                first.extend(second);
                Self::Exact(first)
            }
            (first, second) => {
                let (mut first, second) = (first.framed(), second.framed());
                first.heads.extend(second.heads);
                first.tails.extend(second.tails);
                Self::Framed(FramedMatches {
                    heads: bounded_ends(first.heads),
                    tails: bounded_ends(first.tails),
                    need: GramNeed::any([first.need, second.need]).bounded(),
                })
            }
        }
    }

    /// The strings of a part that is known whole and so short that its ends are all of it.
    fn short(&self) -> Option<LoweredStrings> {
        match self {
            Self::Exact(strings) if longest(strings) <= END_BYTES => Some(strings.clone()),
            _ => None,
        }
    }
}

fn longest(strings: &LoweredStrings) -> usize {
    strings.iter().map(Vec::len).max().unwrap_or_default()
}
