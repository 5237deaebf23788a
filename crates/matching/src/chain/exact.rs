//! The first level: the search stands in the file character for character.

use std::ops::Range;

use moss_sdk::edit::MatchLevel;

use super::applied::HeldReplacements;
use super::{Chain, located};
use crate::find::{Window, occurrences};
use crate::fold::Fold;
use crate::lines::split;
use crate::search::{LfView, OCCURRENCES_MAX};
use crate::write::{EditTexts, SpanEdit};
use crate::{Located, Miss, Occurrence};

// === impl Chain ===

impl Chain<'_> {
    /// Finds the search character for character. A last line without a line end counts as if it had
    /// one.
    pub(crate) fn exact(&self) -> Result<Option<Located>, Miss> {
        let EditTexts { text, search, replace, .. } = self.texts;
        let view = LfView::new(text);
        let mut places = self.exact_places(&view);
        let start = |place: &Range<usize>| view.original(place.clone()).start;
        let Some(first) = places.first().map(start) else { return Ok(None) };
        if self.occurrence != Occurrence::All && places.len() > 1 {
            return Err(self.several(MatchLevel::Exact, places.iter().map(start)));
        }
        self.check_written(places.len())?;
        let held = HeldReplacements::new(&view, search, replace);
        places.retain(|place| !held.surround(place.start));
        if places.is_empty() {
            return Err(Miss::Applied(self.texts.lines.number_at(first)));
        }
        let line = self.texts.lines.number_at(first);
        let mut level = MatchLevel::Exact;
        let written = places.into_iter().map(|place| {
            let (at, written) = self.written_at(&view, place);
            level = level.max(at);
            written
        });
        let written = written.collect();
        located(level, written).map(Some).ok_or(Miss::Nothing(line))
    }

    fn written_at(&self, view: &LfView<'_>, place: Range<usize>) -> (MatchLevel, SpanEdit) {
        // A line end that the search begins with is that of the line before: it stays.
        if joins_lines(view, &place, self.texts.replace)
            && let Some(search) = self.texts.search.strip_prefix('\n')
        {
            let chain = self.with(search, self.texts.replace);
            return chain.written_at(view, place.start + 1..place.end);
        }
        let beneath = self.beneath_indentation(view, &place);
        beneath.unwrap_or_else(|| (MatchLevel::Exact, self.exactly(view, place)))
    }

    fn exact_places(&self, view: &LfView<'_>) -> Vec<Range<usize>> {
        let search = self.texts.search;
        let is_line = |at: usize| indentation(&view.text[..at]).is_some();
        let starts = match self.occurrence {
            Occurrence::Only => view.occurrences(search),
            Occurrence::OnlyLines => {
                // Most may begin no line: none of the text is looked through again after each.
                let all = occurrences(view.text.as_bytes(), search.as_bytes(), usize::MAX);
                all.into_iter().filter(|at| is_line(*at)).take(OCCURRENCES_MAX).collect()
            }
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
    fn exactly(&self, view: &LfView<'_>, place: Range<usize>) -> SpanEdit {
        let EditTexts { lines, replace, .. } = self.texts;
        let is_open = place.len() < self.texts.search.len();
        let range = view.original(place);
        let first = lines.number_at(range.start);
        if self.is_whole_lines()
            && lines.start(first) == range.start
            && let Some(written) = self.written_lines(first)
        {
            return written;
        }
        if replace.is_empty()
            && let Some(whole) = self.whole_lines(&range)
        {
            return self.texts.plain(whole, "");
        }
        let open = replace.strip_suffix('\n').filter(|_| is_open);
        self.texts.plain(range, open.unwrap_or(replace))
    }

    /// The whole lines that a location has all the text of, with their indentation and their last
    /// line end; none where it has only parts, or a line end before them.
    fn whole_lines(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let EditTexts { text, lines, search, .. } = self.texts;
        if search.starts_with('\n') || search.ends_with('\n') || search.trim().is_empty() {
            return None;
        }
        let before = indentation(&text[..range.start])?;
        let end = lines.start(lines.number_at(range.end - 1) + 1);
        let has_all = text[range.end..end].trim_start().is_empty();
        has_all.then(|| range.start - before.len()..end)
    }

    pub(super) fn written_lines(&self, first: usize) -> Option<SpanEdit> {
        let count = split(self.texts.search).len();
        let align = (0..count).map(Some).collect();
        self.texts.lines(&Window { first, count, align }, Fold::Blanks, 1.0).ok()
    }

    pub(super) fn is_whole_lines(&self) -> bool {
        let EditTexts { search, replace, .. } = self.texts;
        search.ends_with('\n') && (replace.is_empty() || replace.ends_with('\n'))
    }
}

/// Returns what stands before the end of a text on its line, if it is white space alone. A line may be long:
/// only its white space is looked at.
pub(super) fn indentation(before: &str) -> Option<&str> {
    let rest = before.trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
    (rest.is_empty() || rest.ends_with('\n')).then(|| &before[rest.len()..])
}

/// The text ends with the search but for its line end.
fn at_open_end(view: &LfView<'_>, search: &str) -> Option<Range<usize>> {
    let open = search.strip_suffix('\n').filter(|open| !open.ends_with('\n'))?;
    view.text.ends_with(open).then(|| view.text.len() - open.len()..view.text.len())
}

/// Whether a search that begins with the end of another line would take that line end away.
fn joins_lines(view: &LfView<'_>, place: &Range<usize>, replace: &str) -> bool {
    let (before, after) = (&view.text[..place.start], &view.text[place.end..]);
    let ends_line =
        view.text[place.clone()].starts_with('\n') && !before.is_empty() && !before.ends_with('\n');
    ends_line
        && match replace.is_empty() {
            true => !after.is_empty() && !after.starts_with('\n'),
            false => !replace.starts_with('\n'),
        }
}
