//! The levels, one after the other.

mod applied;
mod beneath;
mod exact;
mod nearby;
mod segments;

use moss_sdk::edit::MatchLevel;

use super::elision;
use super::escapes::{self, Escapes};
use super::find::{self, MatchLocation, Window};
use super::fold::Fold;
use super::merge::MergeRefusal;
use super::wrapping;
use super::write::{EditTexts, SpanEdit};
use super::{Located, Miss, Occurrence};
use crate::lines::{LineIndex, split};
use crate::search::OCCURRENCES_MAX;

/// Most bytes that all locations of an edit may take, each with its replacement.
const WRITTEN_BYTES_MAX: usize = 256 << 20;
/// What a location takes beside its replacement, in bytes.
const PLACE_BYTES: usize = 256;

/// One search in one file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain<'a> {
    texts: EditTexts<'a>,
    occurrence: Occurrence,
}

// === impl Chain ===

impl<'a> Chain<'a> {
    pub(super) fn new(
        text: &'a str,
        lines: &'a LineIndex<'a>,
        search: &'a str,
        replace: &'a str,
        occurrence: Occurrence,
    ) -> Self {
        Self { texts: EditTexts { text, lines, search, replace }, occurrence }
    }

    fn with<'b>(&self, search: &'b str, replace: &'b str) -> Chain<'b>
    where
        'a: 'b,
    {
        Chain { texts: EditTexts { search, replace, ..self.texts }, ..*self }
    }

    /// Where no level finds the search as it is: says that the edit was made already, puts together
    /// what leaves lines out, goes by likeness, or says why there is no location.
    pub(super) fn last_resorts(&self, file: &[&str]) -> Result<Located, Miss> {
        if let Some(line) = self.applied(file, None) {
            return Err(Miss::Applied(line));
        }
        let EditTexts { search, replace, .. } = self.texts;
        match (elision::segments(search), elision::segments(replace)) {
            (None, None) => {}
            (Some(old), Some(new)) if old.len() == new.len() => {
                return self.in_segments(file, &old, &new);
            }
            _ => return Err(Miss::Elision),
        }
        match self.occurrence {
            Occurrence::Only | Occurrence::OnlyLines => self.similar(file),
            Occurrence::All => Err(Miss::None),
        }
    }

    /// The levels from the second to the seventh: what differs does not change the meaning.
    pub(super) fn levels(&self, file: &[&str]) -> Result<Option<Located>, Miss> {
        if let Some(located) = self.blanks(file)? {
            return Ok(Some(located));
        }
        let EditTexts { search, replace, .. } = self.texts;
        let given = search;
        for escapes in [Escapes::Quotes, Escapes::All] {
            let Some(search) = escapes::unescaped(search, escapes) else { continue };
            let is_same = escapes::unescaped(given, Escapes::All).as_ref() == Some(&search);
            // The search does not report progress escaped: the replacement may.
            let escapes = if is_same { Escapes::All } else { escapes };
            let replace = escapes::unescaped_or_same(replace, escapes);
            if search.trim().is_empty() || search == replace || search.contains('\0') {
                continue;
            }
            let chain = self.with(&search, &replace);
            let located = chain.exact()?.map_or_else(|| chain.blanks(file), |l| Ok(Some(l)))?;
            if let Some(located) = located {
                return Ok(Some(Located { level: MatchLevel::EscapeNormalized, ..located }));
            }
        }
        if let Some((search, replace)) = wrapping::without_outer_blank_lines(search, replace) {
            let places = find::trimmed(file, &split(search), self.occurrences_max());
            let chain = self.with(search, replace);
            let located =
                chain.settled(MatchLevel::TrimmedBoundary, Fold::Blanks, whole(places), file)?;
            if located.is_some() {
                return Ok(located);
            }
        }
        if self.texts.text.is_ascii() && search.is_ascii() {
            return Ok(None);
        }
        for fold in [Fold::Unicode, Fold::UnicodeShort] {
            let places = self.same_words(file, fold);
            let located = self.settled(MatchLevel::UnicodeNormalized, fold, places, file)?;
            if located.is_some() {
                return Ok(located);
            }
        }
        Ok(None)
    }

    /// The levels from the second to the fourth: only white space differs.
    fn blanks(&self, file: &[&str]) -> Result<Option<Located>, Miss> {
        let search = split(self.texts.search);
        let max = self.occurrences_max();
        let fold = Fold::Blanks;
        let trimmed = whole(find::trimmed(file, &search, max));
        let trimmed = self.settled(MatchLevel::LineTrimmed, fold, trimmed, file)?;
        if trimmed.is_some() {
            return Ok(trimmed);
        }
        let words = self.same_words(file, fold);
        let words = self.settled(MatchLevel::WhitespaceNormalized, fold, words, file)?;
        if words.is_some() {
            return Ok(words);
        }
        let loose = whole(find::without_blank_lines(file, &search, max));
        self.settled(MatchLevel::IndentFlexible, fold, loose, file)
    }

    /// Finds the words of the search: as whole lines, or within lines where the search does not end
    /// with a line end.
    fn same_words(&self, file: &[&str], fold: Fold) -> Vec<MatchLocation> {
        let EditTexts { search, lines, .. } = self.texts;
        let max = self.occurrences_max();
        let found = find::same_words(file, &split(search), fold, max);
        if !found.is_empty() || search.ends_with('\n') {
            return whole(found);
        }
        find::part_words(lines, file, search, fold, max)
            .into_iter()
            .map(MatchLocation::Part)
            .collect()
    }

    fn occurrences_max(&self) -> usize {
        match self.occurrence {
            Occurrence::Only | Occurrence::OnlyLines => OCCURRENCES_MAX,
            Occurrence::All => usize::MAX,
        }
    }

    /// Settles on the one location of a level, or on all of them.
    fn settled(
        &self,
        level: MatchLevel,
        fold: Fold,
        places: Vec<MatchLocation>,
        file: &[&str],
    ) -> Result<Option<Located>, Miss> {
        let start = |place: &MatchLocation| match place {
            MatchLocation::Lines(window) => self.texts.lines.start(window.first),
            MatchLocation::Part(range) => range.start,
        };
        if self.occurrence != Occurrence::All {
            if places.len() > 1 {
                return Err(self.several(level, places.iter().map(start)));
            }
            if let Some(line) = places.first().and_then(|place| self.applied_elsewhere(file, place))
            {
                return Err(Miss::Applied(line));
            }
        }
        let mut done = 0;
        // Places may overlap, as `aa` does twice in `aaa`.
        let follows = |place: &&MatchLocation| {
            let place: &MatchLocation = place;
            let is_apart = start(place) >= done;
            if is_apart {
                done = self.end(place);
            }
            is_apart
        };
        let apart: Vec<&MatchLocation> = places.iter().filter(follows).collect();
        self.check_written(apart.len())?;
        let mut written: Vec<SpanEdit> = Vec::with_capacity(apart.len());
        for place in apart {
            let at = self.written(place, fold, 1.0);
            written.push(at.map_err(|MergeRefusal(lines)| Miss::Drift { level, lines })?);
        }
        let first = places.first().map(|place| self.texts.lines.number_at(start(place)));
        let is_there = written.iter().any(|written| written.is_there);
        match (located(level, written), first) {
            (None, Some(line)) if is_there => Err(Miss::Applied(line)),
            (None, Some(line)) => Err(Miss::Nothing(line)),
            (located, _) => Ok(located),
        }
    }

    fn written(
        &self,
        place: &MatchLocation,
        fold: Fold,
        likeness_min: f64,
    ) -> Result<SpanEdit, MergeRefusal> {
        match place {
            MatchLocation::Lines(window) => self.texts.lines(window, fold, likeness_min),
            MatchLocation::Part(range) => self.texts.part(range.clone(), fold),
        }
    }

    fn end(&self, place: &MatchLocation) -> usize {
        match place {
            MatchLocation::Lines(window) => self.texts.lines.start(window.first + window.count),
            MatchLocation::Part(range) => range.end,
        }
    }

    /// Refuses to write at so many locations what takes more memory than an edit may.
    fn check_written(&self, places: usize) -> Result<(), Miss> {
        let each = self.texts.replace.len().saturating_add(PLACE_BYTES);
        match places.saturating_mul(each) > WRITTEN_BYTES_MAX {
            true => Err(Miss::TooMuch(places)),
            false => Ok(()),
        }
    }

    fn several(&self, level: MatchLevel, starts: impl Iterator<Item = usize>) -> Miss {
        let lines: Vec<usize> = starts.map(|start| self.texts.lines.number_at(start)).collect();
        let more = lines.len() >= OCCURRENCES_MAX;
        Miss::Several { level, lines, more }
    }
}

/// Puts together what is written at each location; none where nothing is.
fn located(level: MatchLevel, written: Vec<SpanEdit>) -> Option<Located> {
    let mut located = Located { level, splices: Vec::new(), drift: Vec::new(), places: Vec::new() };
    for SpanEdit { splices, drift, spot, .. } in written {
        located.splices.extend(splices);
        located.drift.extend(drift);
        located.places.push(spot);
    }
    (!located.splices.is_empty()).then_some(located)
}

fn whole(windows: Vec<Window>) -> Vec<MatchLocation> {
    windows.into_iter().map(MatchLocation::Lines).collect()
}
