//! From a location to the splices of an edit.

use std::ops::Range;

use moss_sdk::edit::{Drift, Splice};

use super::EditSpan;
use super::find::Window;
use super::fold::Fold;
use super::indent::IndentMap;
use super::merge::{MergeRefusal, Op, merge};
use super::sides::MergeSides;
use crate::lines::{LineIndex, LineSpan, split, without_line_end};
use crate::splices::splices;

/// Most lines around a location that are looked at.
const AFTER_LINES: usize = 200;

/// What an edit does at one location.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SpanEdit {
    pub(super) splices: Vec<Splice>,
    pub(super) drift: Vec<Drift>,
    pub(super) spot: EditSpan,
    /// Whether what the edit adds stands there already.
    pub(super) is_there: bool,
}

/// The texts of an edit and the file that it is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct EditTexts<'a> {
    pub(super) text: &'a str,
    pub(super) lines: &'a LineIndex<'a>,
    pub(super) search: &'a str,
    pub(super) replace: &'a str,
}

// === impl EditTexts ===

impl EditTexts<'_> {
    /// Puts the replacement in place of a span, as it is.
    pub(super) fn plain(&self, range: Range<usize>, replace: &str) -> SpanEdit {
        let (first, last) =
            (self.lines.number_at(range.start), self.lines.number_at(range.end - 1));
        let whole =
            self.lines.start(first) == range.start && self.lines.start(last + 1) == range.end;
        let count =
            if replace.is_empty() && whole { 0 } else { LineIndex::new(replace).count().max(1) };
        let spot = EditSpan {
            before: LineSpan::of(first, last - first + 1),
            after: LineSpan::of(first, count),
        };
        let splices = splices(self.text, range, replace);
        SpanEdit { splices, drift: Vec::new(), spot, is_there: false }
    }

    /// Merges the edit into whole lines.
    pub(super) fn lines(
        &self,
        window: &Window,
        fold: Fold,
        likeness_min: f64,
    ) -> Result<SpanEdit, MergeRefusal> {
        let (search, replace) = (split(self.search), split(self.replace));
        let Window { first, count, align } = window;
        let found: Vec<&str> = (*first..first + count).map(|n| self.lines.line(n)).collect();
        let end = (first + count + AFTER_LINES).min(self.lines.count() + 1);
        let after: Vec<&str> = (first + count..end).map(|n| self.lines.line(n)).collect();
        let before = (1..*first).rev().map(|n| self.lines.line(n));
        let before = before.take(AFTER_LINES).find(|line| !line.trim().is_empty());
        let (search, replace, found, after) = (&search[..], &replace[..], &found[..], &after[..]);
        let sides = MergeSides { search, replace, found, align, fold, before, after, likeness_min };
        let indents = IndentMap::new(&sides, self.lines, *first, 0);
        let mut merged = merge(&sides, &indents).map_err(|refused| refused.below(*first))?;
        merged.drift.iter_mut().for_each(|drift| drift.line += *first as u64);
        let left = merged.ops.iter().filter(|op| !matches!(op, Op::Delete(_))).count();
        let spot =
            EditSpan { before: LineSpan::of(*first, *count), after: LineSpan::of(*first, left) };
        if self.is_there(window, &merged.ops) {
            return Ok(SpanEdit { splices: Vec::new(), drift: Vec::new(), spot, is_there: true });
        }
        let splices = self.splices(*first, merged.ops);
        Ok(SpanEdit { splices, drift: merged.drift, spot, is_there: false })
    }

    /// Whether all that an edit does is to add lines before and after a window, and they stand
    /// there.
    fn is_there(&self, window: &Window, ops: &[Op]) -> bool {
        let added = |op: &Op| match op {
            Op::Insert(line) => Some(line.trim().to_owned()),
            _ => None,
        };
        let before: Vec<String> = ops.iter().map_while(added).collect();
        let rest = &ops[before.len()..];
        let mut after: Vec<String> = rest.iter().rev().map_while(added).collect();
        after.reverse();
        let kept = &rest[..rest.len() - after.len()];
        let adds = before.iter().chain(&after).any(|line| !line.is_empty());
        if !adds || kept.iter().any(|op| !matches!(op, Op::Keep(_))) {
            return false;
        }
        let end = window.first + window.count;
        let stand = |first: usize, lines: &[String]| {
            let numbered = (first..).zip(lines);
            numbered.into_iter().all(|(number, line)| {
                number <= self.lines.count() && self.lines.line(number).trim() == *line
            })
        };
        window
            .first
            .checked_sub(before.len())
            .is_some_and(|first| first > 0 && stand(first, &before) && stand(end, &after))
    }

    /// Merges the edit into a span that starts or ends within a line.
    pub(super) fn part(&self, range: Range<usize>, fold: Fold) -> Result<SpanEdit, MergeRefusal> {
        let inner = self.search.trim_matches([' ', '\t']);
        let at = self.search.find(inner).unwrap_or(0);
        let (before, after) = (&self.search[..at], &self.search[at + inner.len()..]);
        let replace = self.replace.strip_prefix(before).unwrap_or(self.replace);
        let replace = replace.strip_suffix(after).unwrap_or(replace);
        let (search, replace): (Vec<&str>, Vec<&str>) =
            (inner.split('\n').collect(), replace.split('\n').collect());
        let found: Vec<&str> = self.text[range.clone()].split('\n').collect();
        let found: Vec<&str> =
            found.iter().map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
        let align: Vec<Option<usize>> = (0..search.len()).map(Some).collect();
        let (search, replace, align) = (&search[..], &replace[..], &align[..]);
        let (found, before, after): (&[&str], _, _) = (&found, None, &[][..]);
        let sides =
            MergeSides { search, replace, found, align, fold, before, after, likeness_min: 1.0 };
        let first = self.lines.number_at(range.start);
        let indents = IndentMap::new(&sides, self.lines, first, 1);
        let merged = merge(&sides, &indents)?;
        let lines: Vec<String> = merged
            .ops
            .into_iter()
            .filter_map(|op| match op {
                Op::Keep(at) => Some(found[at].to_owned()),
                Op::Change(_, line) | Op::Insert(line) => Some(line),
                Op::Delete(_) => None,
            })
            .collect();
        Ok(self.plain(range, &lines.join("\n")))
    }

    /// Turns what happens to lines into splices. What comes and goes at one location is one of
    /// them, so that new lines end as those did that they replace.
    fn splices(&self, first: usize, ops: Vec<Op>) -> Vec<Splice> {
        let mut splices = Vec::new();
        let mut run: Option<(Range<usize>, String)> = None;
        let mut number = first;
        for op in ops {
            let start = self.lines.start(number);
            match op {
                Op::Delete(_) => {
                    let (range, _) = run.get_or_insert_with(|| (start..start, String::new()));
                    range.end = self.lines.start(number + 1);
                    number += 1;
                }
                Op::Insert(line) => {
                    let (_, text) = run.get_or_insert_with(|| (start..start, String::new()));
                    text.extend([line.as_str(), "\n"]);
                }
                Op::Keep(_) | Op::Change(..) => {
                    splices.extend(run.take().map(|run| self.ended(run)));
                    if let Op::Change(_, text) = op {
                        let range = start..start + self.lines.line(number).len();
                        splices.push(Splice { range, text });
                    }
                    number += 1;
                }
            }
        }
        splices.extend(run.take().map(|run| self.ended(run)));
        splices
    }

    /// A last line that has no line end gets none.
    fn ended(&self, (range, mut text): (Range<usize>, String)) -> Splice {
        let is_open = !self.text.is_empty() && !self.text.ends_with('\n');
        if is_open && range.end == self.text.len() {
            text.truncate(without_line_end(&text).len());
            if range.is_empty() {
                text.insert(0, '\n');
            }
        }
        Splice { range, text }
    }
}
