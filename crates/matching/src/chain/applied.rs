//! Whether an edit was made already: then it is not made again.

use super::Chain;
use crate::find::{self, MatchLocation, Window, occurrences};
use crate::fold::Fold;
use crate::lines::split;
use crate::search::{LfView, OCCURRENCES_MAX};
use crate::write::EditTexts;

/// A replacement with fewer characters is no sign of an edit that was made already.
const APPLIED_CHARS_MIN: usize = 8;

// === impl Chain ===

impl Chain<'_> {
    /// Whether the several lines of the replacement, some of which are new, stand elsewhere than at
    /// the location that was found: then the edit was made there. What stands around the location
    /// itself is seen when the edit is written.
    pub(super) fn applied_elsewhere(&self, file: &[&str], place: &MatchLocation) -> Option<usize> {
        let MatchLocation::Lines(window) = place else { return None };
        let lines = split(self.texts.replace);
        let has_several = lines.iter().filter(|line| !line.trim().is_empty()).count() > 1;
        self.applied(file, Some(window)).filter(|_| has_several)
    }

    /// Returns the line where the replacement stands already, if it does so once and says
    /// something; not within a window.
    pub(super) fn applied(&self, file: &[&str], except: Option<&Window>) -> Option<usize> {
        let EditTexts { text, replace, lines, .. } = self.texts;
        let chars = replace.chars().filter(|c| !c.is_whitespace()).count();
        if chars < APPLIED_CHARS_MIN {
            return None;
        }
        let wanted = split(replace);
        // What the edit only leaves over was there before.
        let had: Vec<&str> = split(self.texts.search).into_iter().map(str::trim).collect();
        if wanted.iter().all(|line| had.contains(&line.trim()))
            || self.texts.search.contains(replace.trim())
        {
            return None;
        }
        if replace.ends_with('\n') || wanted.len() > 1 {
            let found = find::trimmed(file, &wanted, OCCURRENCES_MAX);
            let apart = |at: &Window| except.is_none_or(|window| !at.overlaps(window));
            return match &found[..] {
                [at] if apart(at) => Some(at.first),
                [] if except.is_none() => self.applied_in_words(file),
                _ => None,
            };
        }
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let bounded = |at: usize| {
            let end = at + replace.len();
            !(is_word(text[..at].chars().next_back()) && is_word(replace.chars().next())
                || is_word(text[end..].chars().next()) && is_word(replace.chars().next_back()))
        };
        let mut found = text.match_indices(replace).map(|(at, _)| at).filter(|at| bounded(*at));
        match (found.next(), found.next()) {
            (Some(first), None) => Some(lines.number_at(first)),
            (None, _) if except.is_none() => self.applied_in_words(file),
            _ => None,
        }
    }

    /// Returns the line where the words of the replacement stand, whatever white space is between them: an
    /// edit that was found so was written so.
    fn applied_in_words(&self, file: &[&str]) -> Option<usize> {
        let replace = self.texts.replace;
        match &self.with(replace, replace).same_words(file, Fold::Blanks)[..] {
            [MatchLocation::Lines(window)] => Some(window.first),
            [MatchLocation::Part(range)] => Some(self.texts.lines.number_at(range.start)),
            _ => None,
        }
    }
}

/// Where the replacement, which contains the search, stands in a text: what of the search is found within it was
/// replaced already.
pub(super) struct HeldReplacements {
    /// Where it begins, ascending.
    starts: Vec<usize>,
    /// How long it is.
    length: usize,
    /// Where the search stands in it, ascending.
    searches: Vec<usize>,
}

// === impl HeldReplacements ===

impl HeldReplacements {
    /// Finds them, where the replacement contains the search.
    pub(super) fn new(view: &LfView<'_>, search: &str, replace: &str) -> Self {
        let searches: Vec<usize> = replace.match_indices(search).map(|(at, _)| at).collect();
        let starts = match searches.is_empty() {
            true => Vec::new(),
            false => occurrences(view.text.as_bytes(), replace.as_bytes(), usize::MAX),
        };
        Self { starts, length: replace.len(), searches }
    }

    /// Whether one stands around a location where the search was found.
    pub(super) fn surround(&self, at: usize) -> bool {
        let first = self.starts.partition_point(|start| start + self.length <= at);
        // More of them overlap only in texts of one repeated line.
        let around = self.starts[first..].iter().take_while(|start| **start <= at);
        let mut around = around.take(OCCURRENCES_MAX);
        around.any(|start| self.searches.binary_search(&(at - start)).is_ok())
    }
}
