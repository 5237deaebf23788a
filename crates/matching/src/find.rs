//! Where the lines of a search occur in a file, compared as a level compares them.

use std::ops::Range;

use super::fold::{Fold, key, tokens};
use crate::lines::LineIndex;

/// A location in the file that the search may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MatchLocation {
    /// Whole lines, from the first to the last character of them.
    Lines(Window),
    /// A part of a line, or of several; the span is in bytes.
    Part(Range<usize>),
}

/// Lines of the file, and which of them stand for which lines of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Window {
    /// The number of the first line, from 1.
    pub(super) first: usize,
    /// Lines of the file; it may have more or fewer than the search.
    pub(super) count: usize,
    /// For every line of the search, the line that it stands for, counted from 0 in the window.
    pub(super) align: Vec<Option<usize>>,
}

// === impl Window ===

impl Window {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.first < other.first + other.count && other.first < self.first + self.count
    }
}

/// Returns where a sequence occurs in another, overlaps included, up to a number of those that hold
/// what is asked of them. Linear (Knuth, Morris and Pratt).
fn occurrences<T: PartialEq>(
    text: &[T],
    wanted: &[T],
    max: usize,
    holds: impl Fn(usize) -> bool,
) -> Vec<usize> {
    if wanted.is_empty() || wanted.len() > text.len() {
        return Vec::new();
    }
    let mut borders = vec![0; wanted.len()];
    let mut length = 0;
    for at in 1..wanted.len() {
        while length > 0 && wanted[at] != wanted[length] {
            length = borders[length - 1];
        }
        length += usize::from(wanted[at] == wanted[length]);
        borders[at] = length;
    }
    let mut found = Vec::new();
    let mut length = 0;
    for (at, item) in text.iter().enumerate() {
        while length > 0 && *item != wanted[length] {
            length = borders[length - 1];
        }
        length += usize::from(*item == wanted[length]);
        if length == wanted.len() {
            length = borders[length - 1];
            let start = at + 1 - wanted.len();
            if holds(start) {
                found.push(start);
            }
            if found.len() == max {
                break;
            }
        }
    }
    found
}

/// Finds whole lines that are equal without the white space around them; those that are equal but
/// for white space at their ends win over the others.
pub(super) fn trimmed(file: &[&str], search: &[&str], max: usize) -> Vec<Window> {
    let trim = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| line.trim().to_owned()).collect()
    };
    let (text, wanted) = (trim(file), trim(search));
    let found = occurrences(&text, &wanted, max, |_| true);
    let same_start = |start: &usize| {
        file[*start..].iter().zip(search).all(|(a, b)| a.trim_end() == b.trim_end())
    };
    let precise: Vec<usize> = found.iter().copied().filter(same_start).collect();
    windows(if precise.is_empty() { found } else { precise }, search.len())
}

/// Finds whole lines whose words are the same.
pub(super) fn same_words(file: &[&str], search: &[&str], fold: Fold, max: usize) -> Vec<Window> {
    let condensed = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| condensed(line, fold)).collect()
    };
    let wanted: Vec<String> = search.iter().map(|line| key(line, fold)).collect();
    let holds = |start: usize| {
        file[start..].iter().zip(&wanted).all(|(line, wanted)| key(line, fold) == *wanted)
    };
    let found = occurrences(&condensed(file), &condensed(search), max, holds);
    let is_precise = |start: &usize| {
        file[*start..].iter().zip(search).all(|(line, wanted)| same_but_for_runs(line, wanted))
    };
    let precise: Vec<usize> = found.iter().copied().filter(is_precise).collect();
    windows(if precise.is_empty() { found } else { precise }, search.len())
}

/// Finds the words of a search that starts or ends within a line.
pub(super) fn part_words(
    lines: &LineIndex<'_>,
    file: &[&str],
    search: &str,
    fold: Fold,
    max: usize,
) -> Vec<Range<usize>> {
    let whole = search;
    let search: Vec<&str> = search.split('\n').collect();
    let wanted: Vec<String> = search.iter().map(|line| key(line, fold)).collect();
    let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { return Vec::new() };
    if first.is_empty() || last.is_empty() {
        return Vec::new();
    }
    let hint = condensed(search[0], fold);
    let mut found = Vec::new();
    for at in 0..file.len().saturating_sub(search.len() - 1) {
        if !condensed(file[at], fold).contains(&hint) {
            continue;
        }
        let start = lines.start(at + 1);
        if let [_] = search[..] {
            found.extend(
                within(file[at], search[0], fold)
                    .into_iter()
                    .map(|r| start + r.start..start + r.end),
            );
        } else if let Some(span) = across(&file[at..at + search.len()], &search, &wanted, fold) {
            found.push(start + span.start..lines.start(at + search.len()) + span.end);
        }
        if found.len() >= max {
            break;
        }
    }
    let is_precise = |range: &Range<usize>| same_but_for_runs(lines.slice(range), whole);
    let precise: Vec<Range<usize>> = found.iter().filter(|r| is_precise(r)).cloned().collect();
    if precise.is_empty() { found } else { precise }
}

/// Whether two texts are equal where every run of white space is one blank.
fn same_but_for_runs(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// Finds the words of a search within one line.
fn within(line: &str, search: &str, fold: Fold) -> Vec<Range<usize>> {
    let (line, search) = (tokens(line, fold), tokens(search, fold));
    let words = |tokens: &[super::fold::FoldedToken<'_>]| -> Vec<String> {
        tokens.iter().map(|token| token.folded.clone().into_owned()).collect()
    };
    let found = occurrences(&words(&line), &words(&search), usize::MAX, |_| true);
    let span = |at: usize| line[at].range.start..line[at + search.len() - 1].range.end;
    found.into_iter().map(span).collect()
}

/// Where several lines end with, are, and start with the words of a search: the start within the
/// first line and the end within the last.
fn across(file: &[&str], search: &[&str], wanted: &[String], fold: Fold) -> Option<Range<usize>> {
    let last = file.len() - 1;
    let is_same = |at: usize| key(file[at], fold) == wanted[at];
    if !(1..last).all(is_same) {
        return None;
    }
    let ends = |tokens: &[super::fold::FoldedToken<'_>],
                wanted: &[super::fold::FoldedToken<'_>]| {
        tokens.iter().map(|t| &t.folded).eq(wanted.iter().map(|t| &t.folded))
    };
    let (head, head_wanted) = (tokens(file[0], fold), tokens(search[0], fold));
    let (tail, tail_wanted) = (tokens(file[last], fold), tokens(search[last], fold));
    let from = head.len().checked_sub(head_wanted.len())?;
    let to = Some(tail_wanted.len()).filter(|to| *to <= tail.len())?;
    if !ends(&head[from..], &head_wanted) || !ends(&tail[..to], &tail_wanted) {
        return None;
    }
    Some(head[from].range.start..tail[to - 1].range.end)
}

/// Finds whole lines that are equal without the white space around them where blank lines do not
/// count.
pub(super) fn without_blank_lines(file: &[&str], search: &[&str], max: usize) -> Vec<Window> {
    let filled = |lines: &[&str]| -> (Vec<String>, Vec<usize>) {
        let filled = lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty());
        filled.map(|(at, line)| (line.trim().to_owned(), at)).unzip()
    };
    let ((text, places), (wanted, places_wanted)) = (filled(file), filled(search));
    let is_bounded = [search.first(), search.last()]
        .iter()
        .all(|line| line.is_some_and(|line| !line.trim().is_empty()));
    if wanted.len() < 2 || !is_bounded {
        return Vec::new();
    }
    let found = occurrences(&text, &wanted, max, |_| true);
    let window = |start: usize| {
        let lines = &places[start..start + wanted.len()];
        let (first, last) = (lines[0], lines[wanted.len() - 1]);
        let mut align = vec![None; search.len()];
        for (place, line) in places_wanted.iter().zip(lines) {
            align[*place] = Some(line - first);
        }
        align_blank(&mut align);
        Window { first: first + 1, count: last - first + 1, align }
    };
    found.into_iter().map(window).collect()
}

/// Lets blank lines of the search stand for blank lines of the file, from above, as far as there
/// are any.
fn align_blank(align: &mut [Option<usize>]) {
    for at in 1..align.len() {
        if align[at].is_some() {
            continue;
        }
        let after = align[at..].iter().flatten().next().copied();
        let next = align[at - 1].map(|before| before + 1);
        align[at] = next.filter(|next| after.is_some_and(|after| *next < after));
    }
}

/// A form of a line that is equal for lines of equal words, and cheap.
fn condensed(line: &str, fold: Fold) -> String {
    if fold != Fold::Blanks && !line.is_ascii() {
        return key(line, fold).replace('\n', "");
    }
    line.chars().filter(|c| !matches!(c, ' ' | '\t')).collect()
}

fn windows(starts: Vec<usize>, count: usize) -> Vec<Window> {
    let align: Vec<Option<usize>> = (0..count).map(Some).collect();
    starts
        .into_iter()
        .map(|start| Window { first: start + 1, count, align: align.clone() })
        .collect()
}
