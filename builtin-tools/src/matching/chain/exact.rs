//! The first level: the search stands in the file character for character.

use std::ops::Range;

use moss_sdk::edit::MatchLevel;

use super::applied::held_around;
use super::{Chain, located};
use crate::lines::split;
use crate::matching::find::Window;
use crate::matching::fold::Fold;
use crate::matching::write::{Texts, Written};
use crate::matching::{Located, Miss, Occurrence};
use crate::search::View;

// === impl Chain ===

impl Chain<'_> {
    /// Finds the search character for character. A last line without a line end counts as if it had
    /// one.
    pub(in crate::matching) fn exact(&self) -> Result<Option<Located>, Miss> {
        let Texts { text, search, replace, .. } = self.texts;
        let view = View::new(text);
        let mut places = self.exact_places(&view);
        let start = |place: &Range<usize>| view.original(place.clone()).start;
        let Some(first) = places.first().map(start) else { return Ok(None) };
        if self.occurrence != Occurrence::All && places.len() > 1 {
            return Err(self.several(MatchLevel::Exact, places.iter().map(start)));
        }
        places.retain(|place| held_around(&view, place.start, search, replace).is_none());
        if places.is_empty() {
            return Err(Miss::Applied(self.texts.lines.number_at(first)));
        }
        if places.iter().any(|place| joins_lines(&view, place, replace)) {
            return Ok(None);
        }
        if let [place] = &places[..]
            && let Some((level, written)) = self.beneath_indentation(&view, place)
        {
            let line = self.texts.lines.number_at(first);
            return located(level, vec![written]).map(Some).ok_or(Miss::Applied(line));
        }
        let written = places.into_iter().map(|place| self.exactly(&view, place));
        let line = self.texts.lines.number_at(first);
        located(MatchLevel::Exact, written.collect()).map(Some).ok_or(Miss::Nothing(line))
    }

    fn exact_places(&self, view: &View<'_>) -> Vec<Range<usize>> {
        let search = self.texts.search;
        let is_line = |at: usize| indentation(&view.text[..at]).is_some();
        let starts = match self.occurrence {
            Occurrence::Only => view.occurrences(search, |_| true),
            Occurrence::OnlyLines => view.occurrences(search, is_line),
            Occurrence::All => view.text.match_indices(search).map(|(at, _)| at).collect(),
        };
        let mut places: Vec<_> = starts.into_iter().map(|at| at..at + search.len()).collect();
        if places.is_empty() || self.occurrence == Occurrence::All {
            let end = places.last().map_or(0, |place| place.end);
            let is_wanted = |at: usize| self.occurrence != Occurrence::OnlyLines || is_line(at);
            let open = at_open_end(view, search);
            places.extend(open.filter(|at| at.start >= end && is_wanted(at.start)));
        }
        places
    }

    /// Writes an exact match; where both texts are whole lines, line by line.
    fn exactly(&self, view: &View<'_>, place: Range<usize>) -> Written {
        let Texts { lines, replace, .. } = self.texts;
        let is_open = place.len() < self.texts.search.len();
        let range = view.original(place);
        let first = lines.number_at(range.start);
        if self.is_whole_lines()
            && lines.start(first) == range.start
            && let Some(written) = self.written_lines(first)
        {
            return written;
        }
        let open = replace.strip_suffix('\n').filter(|_| is_open);
        self.texts.plain(range, open.unwrap_or(replace))
    }

    /// Writes an exact match of whole lines whose first one was sent without its indentation. Either
    /// the others have theirs, and then it is put back; or a single line was taken out of its place
    /// with what shall take its place, and then all of that is indented.
    fn beneath_indentation(
        &self,
        view: &View<'_>,
        place: &Range<usize>,
    ) -> Option<(MatchLevel, Written)> {
        let Texts { lines, search, replace, .. } = self.texts;
        let indent = indentation(&view.text[..place.start]).filter(|indent| !indent.is_empty())?;
        let range = view.original(place.clone());
        let first = lines.number_at(range.start);
        if !self.is_whole_lines() {
            // The new text brings the indentation that the search left out: it is not doubled.
            let own = &replace[..replace.len() - replace.trim_start_matches([' ', '\t']).len()];
            let whole = lines.start(first)..range.end;
            let is_brought = own == indent && place.len() == search.len();
            return is_brought.then(|| (MatchLevel::Exact, self.texts.plain(whole, replace)));
        }
        if split(search).len() == 1 && is_flush_left(indent, replace) {
            return Some((MatchLevel::LineTrimmed, self.written_lines(first)?));
        }
        let search = [indent, search].concat();
        let has_it = replace.is_empty() || replace.starts_with(indent);
        let replace = if has_it { replace.to_owned() } else { [indent, replace].concat() };
        Some((MatchLevel::Exact, self.with(&search, &replace).written_lines(first)?))
    }

    fn written_lines(&self, first: usize) -> Option<Written> {
        let count = split(self.texts.search).len();
        let align = (0..count).map(Some).collect();
        self.texts.lines(&Window { first, count, align }, Fold::Blanks, 1.0).ok()
    }

    fn is_whole_lines(&self) -> bool {
        let Texts { search, replace, .. } = self.texts;
        search.ends_with('\n') && (replace.is_empty() || replace.ends_with('\n'))
    }
}

/// Returns what stands before the end of a text on its line, if it is white space alone.
fn indentation(before: &str) -> Option<&str> {
    let indent = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    indent.trim().is_empty().then_some(indent)
}

/// The text ends with the search but for its line end.
fn at_open_end(view: &View<'_>, search: &str) -> Option<Range<usize>> {
    let open = search.strip_suffix('\n').filter(|open| !open.ends_with('\n'))?;
    view.text.ends_with(open).then(|| view.text.len() - open.len()..view.text.len())
}

/// Whether a search that begins with the end of another line would take that line end away.
fn joins_lines(view: &View<'_>, place: &Range<usize>, replace: &str) -> bool {
    let (before, after) = (&view.text[..place.start], &view.text[place.end..]);
    let ends_line =
        view.text[place.clone()].starts_with('\n') && !before.is_empty() && !before.ends_with('\n');
    ends_line
        && match replace.is_empty() {
            true => !after.is_empty() && !after.starts_with('\n'),
            false => !replace.starts_with('\n'),
        }
}

/// Whether several lines were written without the indentation of the place that they are for. Where
/// only the first of them lacks it, the others are as deep as it is, and deeper where it opens a
/// block.
fn is_flush_left(indent: &str, replace: &str) -> bool {
    let mut lines = replace.lines().filter(|line| !line.trim().is_empty());
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return false };
    let depth = second.len() - second.trim_start().len();
    let opens = first.trim_end().ends_with([':', '{', '(', '[', ',', '>', '=', '\\']);
    !second.starts_with(indent) || (opens && depth == indent.len())
}
