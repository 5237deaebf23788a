//! The levels, one after the other.

use std::cmp::Ordering;
use std::ops::Range;

use moss_sdk::edit::MatchLevel;

use super::find::{self, Place, Window};
use super::fold::{Fold, key};
use super::likeness::{Budget, Exhausted};
use super::merge::Refused;
use super::similar_lines::{BLOCK_ANCHOR_MIN, CONTEXT_LINE_MIN, Candidate, Compared};
use super::wrapping::{self, Escapes};
use super::write::{Texts, Written};
use super::{Located, Miss, Occurrence};
use crate::lines::{Lines, split};
use crate::search::{OCCURRENCES_MAX, View};

/// By how much the best of several similar places must be better than the others.
const MARGIN_MIN: f64 = 0.1;
/// Most similar places that are compared with the best.
const RIVALS_MAX: usize = 20;
/// A replacement with fewer characters says nothing by being in the file already.
const APPLIED_CHARS_MIN: usize = 8;
/// Files with more lines are not matched by likeness.
const SIMILAR_LINES_MAX: usize = 20_000;
/// Files with more bytes are not matched by likeness.
const SIMILAR_BYTES_MAX: usize = 4 << 20;
/// Searches with more lines are not matched by likeness.
const SIMILAR_SEARCH_LINES_MAX: usize = 1_000;

/// One search in one file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain<'a> {
    texts: Texts<'a>,
    occurrence: Occurrence,
}

// === impl Chain ===

impl<'a> Chain<'a> {
    pub(super) fn new(
        text: &'a str,
        lines: &'a Lines<'a>,
        search: &'a str,
        replace: &'a str,
        occurrence: Occurrence,
    ) -> Self {
        Self { texts: Texts { text, lines, search, replace }, occurrence }
    }

    fn with<'b>(&self, search: &'b str, replace: &'b str) -> Chain<'b>
    where
        'a: 'b,
    {
        Chain { texts: Texts { search, replace, ..self.texts }, ..*self }
    }

    /// Finds the search character for character. A last line without a line end counts as if it had
    /// one.
    pub(super) fn exact(&self) -> Result<Option<Located>, Miss> {
        let Texts { text, search, replace, .. } = self.texts;
        let view = View::new(text);
        let mut places: Vec<Range<usize>> = match self.occurrence {
            Occurrence::Only => view.occurrences(search),
            Occurrence::All => view.text.match_indices(search).map(|(at, _)| at).collect(),
        }
        .into_iter()
        .map(|at| at..at + search.len())
        .collect();
        if places.is_empty() || self.occurrence == Occurrence::All {
            places.extend(at_open_end(&view, search));
        }
        if self.occurrence == Occurrence::Only {
            if let [_, _, ..] = places[..] {
                let starts = places.iter().map(|place| view.original(place.clone()).start);
                return Err(self.several(MatchLevel::Exact, starts));
            }
            if let [place] = &places[..] {
                if let Some(at) = held_around(&view, place.start, search, replace) {
                    let start = view.original(at..at).start;
                    return Err(Miss::Applied(self.texts.lines.number_at(start)));
                }
                if is_without_indentation(&view.text[..place.start], search, replace) {
                    return Ok(None);
                }
            }
        }
        let written = places.into_iter().map(|place| self.exactly(&view, place));
        Ok(located(MatchLevel::Exact, written.collect()))
    }

    /// Writes an exact match; where both texts are whole lines, line by line.
    fn exactly(&self, view: &View<'_>, place: Range<usize>) -> Written {
        let Texts { lines, search, replace, .. } = self.texts;
        let is_open = place.len() < search.len();
        let range = view.original(place);
        let first = lines.number_at(range.start);
        let whole = search.ends_with('\n') && (replace.is_empty() || replace.ends_with('\n'));
        if whole && lines.start(first) == range.start {
            let count = split(search).len();
            let align = (0..count).map(Some).collect();
            let window = Window { first, count, align };
            if let Ok(written) = self.texts.lines(&window, Fold::Blanks, 1.0) {
                return written;
            }
        }
        let open = replace.strip_suffix('\n').filter(|_| is_open);
        self.texts.plain(range, open.unwrap_or(replace))
    }

    /// Goes through the levels that tolerate something, and says why none finds the place.
    pub(super) fn tolerant(&self, file: &[&str]) -> Result<Located, Miss> {
        if let Some(located) = self.levels(file)? {
            return Ok(located);
        }
        if let Some(line) = self.applied(file, None) {
            return Err(Miss::Applied(line));
        }
        let Texts { search, replace, .. } = self.texts;
        match (wrapping::segments(search), wrapping::segments(replace)) {
            (None, None) => {}
            (Some(old), Some(new)) if old.len() == new.len() => {
                return self.in_segments(file, &old, &new);
            }
            _ => return Err(Miss::Elision),
        }
        match self.occurrence {
            Occurrence::Only => self.similar(file),
            Occurrence::All => Err(Miss::None),
        }
    }

    /// The levels from the second to the seventh: what differs does not change the meaning.
    fn levels(&self, file: &[&str]) -> Result<Option<Located>, Miss> {
        if let Some(located) = self.blanks(file)? {
            return Ok(Some(located));
        }
        let Texts { search, replace, .. } = self.texts;
        for escapes in [Escapes::Quotes, Escapes::All] {
            let Some(search) = wrapping::unescaped(search, escapes) else { continue };
            let replace = wrapping::unescaped_or_same(replace, escapes);
            if search.trim().is_empty() || search == replace || search.contains('\0') {
                continue;
            }
            let chain = self.with(&search, &replace);
            let located = chain.exact()?.map_or_else(|| chain.blanks(file), |l| Ok(Some(l)))?;
            if let Some(located) = located {
                return Ok(Some(Located { level: MatchLevel::EscapeNormalized, ..located }));
            }
        }
        if let Some((search, replace)) = without_outer_blank_lines(search, replace) {
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
    fn same_words(&self, file: &[&str], fold: Fold) -> Vec<Place> {
        let Texts { search, lines, .. } = self.texts;
        let max = self.occurrences_max();
        let found = find::same_words(file, &split(search), fold, max);
        if !found.is_empty() || search.ends_with('\n') {
            return whole(found);
        }
        find::part_words(lines, file, search, fold, max).into_iter().map(Place::Part).collect()
    }

    fn occurrences_max(&self) -> usize {
        match self.occurrence {
            Occurrence::Only => OCCURRENCES_MAX,
            Occurrence::All => usize::MAX,
        }
    }

    /// Settles on the one place of a level, or on all of them.
    fn settled(
        &self,
        level: MatchLevel,
        fold: Fold,
        places: Vec<Place>,
        file: &[&str],
    ) -> Result<Option<Located>, Miss> {
        let start = |place: &Place| match place {
            Place::Lines(window) => self.texts.lines.start(window.first),
            Place::Part(range) => range.start,
        };
        if self.occurrence == Occurrence::Only {
            if places.len() > 1 {
                return Err(self.several(level, places.iter().map(start)));
            }
            if let Some(line) = places.first().and_then(|place| self.applied_at(file, place, fold))
            {
                return Err(Miss::Applied(line));
            }
        }
        let mut written: Vec<Written> = Vec::with_capacity(places.len());
        let mut done = 0;
        for place in &places {
            // Places may overlap, as `aa` does twice in `aaa`.
            if start(place) < done {
                continue;
            }
            let at = self.written(place, fold, 1.0);
            let at = at.map_err(|Refused(lines)| Miss::Drift { level, lines })?;
            done = self.end(place);
            written.push(at);
        }
        let first = places.first().map(|place| self.texts.lines.number_at(start(place)));
        match (located(level, written), first) {
            (None, Some(line)) => Err(Miss::Applied(line)),
            (located, _) => Ok(located),
        }
    }

    fn written(&self, place: &Place, fold: Fold, likeness_min: f64) -> Result<Written, Refused> {
        match place {
            Place::Lines(window) => self.texts.lines(window, fold, likeness_min),
            Place::Part(range) => self.texts.part(range.clone(), fold),
        }
    }

    fn end(&self, place: &Place) -> usize {
        match place {
            Place::Lines(window) => self.texts.lines.start(window.first + window.count),
            Place::Part(range) => range.end,
        }
    }

    fn several(&self, level: MatchLevel, starts: impl Iterator<Item = usize>) -> Miss {
        let lines: Vec<usize> = starts.map(|start| self.texts.lines.number_at(start)).collect();
        let more = lines.len() >= OCCURRENCES_MAX;
        Miss::Several { level, lines, more }
    }

    /// Whether the edit was made already at the place that it means: around what was found stands
    /// what it adds, or else its several lines stand elsewhere.
    fn applied_at(&self, file: &[&str], place: &Place, fold: Fold) -> Option<usize> {
        let Place::Lines(window) = place else { return None };
        let (search, replace) =
            (keys(split(self.texts.search), fold), keys(split(self.texts.replace), fold));
        let around = replace.len().checked_sub(search.len()).filter(|more| *more > 0);
        for before in 0..=around.unwrap_or(0) {
            let Some(start) = (window.first - 1).checked_sub(before) else { break };
            let holds = around.is_some()
                && replace[before..].starts_with(&search)
                && file
                    .get(start..start + replace.len())
                    .is_some_and(|lines| keys(lines.to_vec(), fold) == replace);
            if holds {
                return Some(start + 1);
            }
        }
        let has_several = replace.iter().filter(|line| !line.is_empty()).count() > 1;
        let elsewhere = self.applied(file, Some(window)).filter(|_| has_several);
        elsewhere.filter(|_| replace.iter().any(|line| !search.contains(line)))
    }

    /// Returns the line where the replacement stands already, if it does so once and says
    /// something; not within a window.
    fn applied(&self, file: &[&str], except: Option<&Window>) -> Option<usize> {
        let Texts { text, replace, lines, .. } = self.texts;
        let chars = replace.chars().filter(|c| !c.is_whitespace()).count();
        if chars < APPLIED_CHARS_MIN {
            return None;
        }
        let wanted = split(replace);
        if replace.ends_with('\n') || wanted.len() > 1 {
            let found = find::trimmed(file, &wanted, OCCURRENCES_MAX);
            let apart = |at: &Window| except.is_none_or(|window| !at.overlaps(window));
            return match &found[..] {
                [at] if apart(at) => Some(at.first),
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
        let first = found.next()?;
        found.next().is_none().then(|| lines.number_at(first))
    }

    /// Makes an edit whose texts leave lines out, part by part: each part that changes has its own
    /// place, and all parts stand in their order.
    fn in_segments(&self, file: &[&str], old: &[String], new: &[String]) -> Result<Located, Miss> {
        let mut all: Option<Located> = None;
        let mut next = 0;
        for (search, replace) in old.iter().zip(new) {
            let chain = Chain { occurrence: Occurrence::Only, ..self.with(search, replace) };
            match (search.trim().is_empty(), search == replace) {
                (true, true) => continue,
                (true, false) => return Err(Miss::Elision),
                (false, true) => {
                    let found = find::trimmed(file, &split(search), usize::MAX);
                    let found = found.iter().find(|window| window.first > next);
                    next = found.map(|window| window.first + window.count - 1).ok_or(Miss::None)?;
                    continue;
                }
                (false, false) => {}
            }
            let located = chain.exact()?.map_or_else(|| chain.levels(file), |l| Ok(Some(l)))?;
            let located = located.ok_or(Miss::None)?;
            let span = located.places.first().and_then(|spot| spot.before).ok_or(Miss::None)?;
            if span.start_line <= next {
                return Err(Miss::None);
            }
            next = span.end_line;
            all = Some(match all {
                None => located,
                Some(mut all) => {
                    all.level = all.level.max(located.level);
                    all.splices.extend(located.splices);
                    all.places.extend(located.places);
                    all
                }
            });
        }
        all.ok_or(Miss::Elision)
    }

    /// The two levels that go by likeness.
    fn similar(&self, file: &[&str]) -> Result<Located, Miss> {
        let Texts { text, search, replace, .. } = self.texts;
        let (search, replace) =
            without_outer_blank_lines(search, replace).unwrap_or((search, replace));
        let wanted = split(search);
        let is_small = file.len() <= SIMILAR_LINES_MAX
            && text.len() <= SIMILAR_BYTES_MAX
            && wanted.len() <= SIMILAR_SEARCH_LINES_MAX;
        if wanted.len() < 2 || file.is_empty() {
            return Err(Miss::None);
        }
        if !is_small {
            return Err(Miss::TooLarge);
        }
        let chain = self.with(search, replace);
        let compared = Compared::new(file, &wanted);
        let mut budget = Budget::new();
        let too_large = |Exhausted| Miss::TooLarge;
        let anchored = compared.anchored(&mut budget).map_err(too_large)?;
        if !anchored.is_empty() {
            return chain.best(MatchLevel::BlockAnchor, anchored, BLOCK_ANCHOR_MIN);
        }
        let in_context = compared.in_context(&mut budget).map_err(too_large)?;
        chain.best(MatchLevel::ContextAware, in_context, CONTEXT_LINE_MIN)
    }

    /// Settles on the best place. Others that are nearly as good must mean the same edit.
    fn best(
        &self,
        level: MatchLevel,
        mut candidates: Vec<Candidate>,
        likeness_min: f64,
    ) -> Result<Located, Miss> {
        candidates.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
        let Some((best, others)) = candidates.split_first() else { return Err(Miss::None) };
        let near = |other: &&Candidate| best.score - other.score < MARGIN_MIN;
        let rivals: Vec<&Candidate> = others.iter().take_while(near).collect();
        let written = |candidate: &Candidate| {
            self.texts.lines(&candidate.window, Fold::Unicode, likeness_min)
        };
        let first = written(best);
        let agrees = |rival: &&Candidate| match (&first, written(rival)) {
            (Ok(first), Ok(rival)) => first.splices == rival.splices,
            _ => false,
        };
        if rivals.len() > RIVALS_MAX || !rivals.iter().all(agrees) {
            let mut lines: Vec<usize> =
                [best].into_iter().chain(rivals).map(|candidate| candidate.window.first).collect();
            lines.sort_unstable();
            lines.dedup();
            return Err(Miss::Several { level, lines, more: false });
        }
        let first = first.map_err(|Refused(lines)| Miss::Drift { level, lines })?;
        located(level, vec![first]).ok_or(Miss::Applied(best.window.first))
    }
}

/// Puts together what is written at each place; none where nothing is.
fn located(level: MatchLevel, written: Vec<Written>) -> Option<Located> {
    let mut located = Located { level, splices: Vec::new(), drift: Vec::new(), places: Vec::new() };
    for Written { splices, drift, spot } in written {
        located.splices.extend(splices);
        located.drift.extend(drift);
        located.places.push(spot);
    }
    (!located.splices.is_empty()).then_some(located)
}

fn whole(windows: Vec<Window>) -> Vec<Place> {
    windows.into_iter().map(Place::Lines).collect()
}

fn keys(lines: Vec<&str>, fold: Fold) -> Vec<String> {
    lines.into_iter().map(|line| key(line, fold)).collect()
}

/// The text ends with the search but for its line end.
fn at_open_end(view: &View<'_>, search: &str) -> Option<Range<usize>> {
    let open = search.strip_suffix('\n').filter(|open| !open.ends_with('\n'))?;
    view.text.ends_with(open).then(|| view.text.len() - open.len()..view.text.len())
}

/// Whether whole lines were searched for and written without the indentation that the file has
/// there: then they are not to be taken as they are. The first line may also have been left without
/// on purpose, with the others as the file has them; that they are deeper where nothing opens a
/// block gives it away.
fn is_without_indentation(before: &str, search: &str, replace: &str) -> bool {
    let indent = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    if indent.is_empty() || !indent.trim().is_empty() || !search.ends_with('\n') {
        return false;
    }
    let mut lines = replace.lines().filter(|line| !line.trim().is_empty());
    let Some(mut above) = lines.next() else { return false };
    let mut several = false;
    for line in lines {
        if line.starts_with(indent) {
            return above.trim_end().ends_with([':', '{', '(', '[', ',', '>', '=', '\\']);
        }
        (above, several) = (line, true);
    }
    several
}

/// Returns where the replacement, which contains the search, stands around what was found.
fn held_around(view: &View<'_>, at: usize, search: &str, replace: &str) -> Option<usize> {
    let starts = replace.match_indices(search).filter_map(|(before, _)| at.checked_sub(before));
    starts
        .into_iter()
        .find(|start| view.text.get(*start..).is_some_and(|text| text.starts_with(replace)))
}

/// Takes blank lines off both ends of the search, and as many off the replacement; none where there
/// are none.
fn without_outer_blank_lines<'a>(search: &'a str, replace: &'a str) -> Option<(&'a str, &'a str)> {
    let is_blank = |line: &str| line.trim().is_empty();
    let (mut old, mut new) = (search, replace);
    while let Some(rest) = first_line(old).filter(|(line, _)| is_blank(line)).map(|(_, rest)| rest)
    {
        old = rest;
        new = first_line(new).filter(|(line, _)| is_blank(line)).map_or(new, |(_, rest)| rest);
    }
    while let Some(rest) = last_line(old).filter(|(_, line)| is_blank(line)).map(|(rest, _)| rest) {
        old = rest;
        new = last_line(new).filter(|(_, line)| is_blank(line)).map_or(new, |(rest, _)| rest);
    }
    (old.len() < search.len() && !is_blank(old)).then_some((old, new))
}

fn first_line(text: &str) -> Option<(&str, &str)> {
    text.split_once('\n')
}

/// Splits the last line off a text of several.
fn last_line(text: &str) -> Option<(&str, &str)> {
    let start = text.strip_suffix('\n').unwrap_or(text).rfind('\n')? + 1;
    Some(text.split_at(start))
}
