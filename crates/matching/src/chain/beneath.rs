//! An exact match that begins within the indentation of its first line, or right after it: the search
//! left out how deep that line is. How deep other lines of the replacement are meant is then certain
//! only where they say so themselves.

use std::ops::Range;

use moss_sdk::edit::{Drift, MatchLevel};

use super::Chain;
use super::exact::indentation;
use crate::indent::{indent, opens_block};
use crate::lines::split;
use crate::search::LfView;
use crate::write::{EditTexts, SpanEdit};

/// How deep the lines of a replacement are that follow the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FollowingIndent {
    /// The replacement has one line.
    None,
    /// They have the indentation of the file.
    AsInFile,
    /// They are counted from the first one, or nobody knows.
    Open,
}

// === impl Chain ===

impl Chain<'_> {
    /// Writes such a match: the first line keeps its indentation, which is not doubled where the
    /// replacement brings it. What leaves open how deep a line is meant is drift.
    pub(super) fn beneath_indentation(
        &self,
        view: &LfView<'_>,
        place: &Range<usize>,
    ) -> Option<(MatchLevel, SpanEdit)> {
        let EditTexts { lines, search, replace, .. } = self.texts;
        let before = indentation(&view.text[..place.start]).filter(|indent| !indent.is_empty())?;
        if search.starts_with('\n') || replace.trim().is_empty() && !self.is_whole_lines() {
            return None;
        }
        let range = view.original(place.clone());
        let first = lines.number_at(range.start);
        let ends_line = place.end == view.text.len() || view.text[place.end..].starts_with('\n');
        let is_whole = self.is_whole_lines() || (ends_line && !ends_with_line_end(search, replace));
        let is_single = search.lines().filter(|line| !line.trim().is_empty()).nth(1).is_none();
        if is_whole && !is_single {
            return Some((MatchLevel::Exact, self.written_lines(first)?));
        }
        match following(indent(lines.line(first)), search, replace) {
            FollowingIndent::None | FollowingIndent::AsInFile => {
                self.first_line(before, first, range)
            }
            FollowingIndent::Open if is_whole => {
                let mut written = self.written_lines(first)?;
                if !self.is_whole_lines() || !is_closed(search, replace) {
                    self.note_depth(first, &mut written);
                }
                Some((MatchLevel::LineTrimmed, written))
            }
            FollowingIndent::Open => {
                let mut written = self.texts.plain(range, replace);
                self.note_depth(first, &mut written);
                Some((MatchLevel::Exact, written))
            }
        }
    }

    /// Writes a match whose first line alone leaves its indentation out.
    fn first_line(
        &self,
        before: &str,
        first: usize,
        range: Range<usize>,
    ) -> Option<(MatchLevel, SpanEdit)> {
        let EditTexts { lines, search, replace, .. } = self.texts;
        if self.is_whole_lines() {
            let found = indent(lines.line(first));
            let has_it = replace.is_empty() || replace.starts_with(found);
            let search = [before, search].concat();
            let replace = if has_it { replace.to_owned() } else { [before, replace].concat() };
            return Some((MatchLevel::Exact, self.with(&search, &replace).written_lines(first)?));
        }
        let found = indent(lines.line(first));
        let is_brought = indent(replace) == found && indent(search) != found;
        let whole = lines.start(first)..range.end;
        is_brought.then(|| (MatchLevel::Exact, self.texts.plain(whole, replace)))
    }

    /// Notes the first line, which is not as deep as the search has it.
    fn note_depth(&self, first: usize, written: &mut SpanEdit) {
        let expected = split(self.texts.search).first().copied().unwrap_or_default().to_owned();
        let found = self.texts.lines.line(first).to_owned();
        if written.drift.is_empty() && !written.splices.is_empty() {
            written.drift.push(Drift { line: first as u64, expected, found });
        }
    }
}

/// Reports how deep the lines after the first one are, by the indentation of the file there. A line
/// that follows one that opens a block is deeper than that, and none leaves the block in which the
/// search lies, unless the search does.
fn following(found: &str, search: &str, replace: &str) -> FollowingIndent {
    let filled = |line: &&str| !line.trim().is_empty();
    let mut lines = replace.lines().filter(filled);
    let Some(first) = lines.next() else { return FollowingIndent::None };
    let shown: Vec<&str> = search.lines().filter(filled).skip(1).map(indent).collect();
    let is_as_in_file = |line: &str| line.starts_with(found) || shown.contains(&indent(line));
    let rest: Vec<&str> = lines.collect();
    match rest.first() {
        None => FollowingIndent::None,
        Some(second) if opens_block(first) && indent(second).len() <= found.len() => {
            FollowingIndent::Open
        }
        Some(_) if rest.iter().copied().all(is_as_in_file) => FollowingIndent::AsInFile,
        Some(_) => FollowingIndent::Open,
    }
}

/// Whether one of two texts ends with a line end.
fn ends_with_line_end(search: &str, replace: &str) -> bool {
    search.ends_with('\n') || replace.ends_with('\n')
}

/// Whether no line of a replacement is less deep than its first one, and it has as many open
/// brackets as the search: then it stands by itself, as deep as its first line is.
fn is_closed(search: &str, replace: &str) -> bool {
    let balance = |text: &str| {
        text.chars().fold(0_isize, |open, c| match c {
            '(' | '[' | '{' => open + 1,
            ')' | ']' | '}' => open - 1,
            _ => open,
        })
    };
    let mut depths =
        replace.lines().filter(|line| !line.trim().is_empty()).map(|line| indent(line).len());
    let first = depths.next().unwrap_or_default();
    depths.all(|depth| depth >= first) && balance(search) == balance(replace)
}
