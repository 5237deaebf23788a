//! Where the lines of a search occur in a file, compared as a level compares them.

use std::ops::Range;
use std::rc::Rc;

use super::fold::{Fold, key, tokens};
use crate::lines::LineIndex;

/// Most lines that the windows of one search stand for where each has to say so of its own: of a search that is
/// long and occurs often, so many locations are looked at that it is known to be several.
const ALIGNED_LINES_MAX: usize = 1 << 22;

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
    /// For every line of the search, the line that it stands for, counted from 0 in the window. Windows in which
    /// that is the same share it: there may be as many as the file has lines.
    pub(super) align: Rc<[Option<usize>]>,
}

// === impl Window ===

impl Window {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.first < other.first + other.count && other.first < self.first + self.count
    }
}

/// Returns where a sequence occurs in another, overlaps included, up to a number. Linear (Knuth, Morris and
/// Pratt).
pub(super) fn occurrences<T: PartialEq>(text: &[T], wanted: &[T], max: usize) -> Vec<usize> {
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
            found.push(at + 1 - wanted.len());
            if found.len() == max {
                break;
            }
        }
    }
    found
}

/// Returns where whole lines occur that are equal in some form of them, up to a number: linear, whatever the form.
fn same_lines<'t, T: PartialEq>(
    file: &[&'t str],
    search: &[&'t str],
    max: usize,
    form: impl Fn(&'t str) -> T,
) -> Vec<usize> {
    let formed = |lines: &[&'t str]| -> Vec<T> { lines.iter().copied().map(&form).collect() };
    occurrences(&formed(file), &formed(search), max)
}

/// Finds whole lines that are equal without the white space around them; those that are equal but
/// for white space at their ends win over the others.
pub(super) fn trimmed(file: &[&str], search: &[&str], max: usize) -> Vec<Window> {
    let found = same_lines(file, search, max, str::trim);
    if found.is_empty() {
        return Vec::new();
    }
    let precise = same_lines(file, search, max, str::trim_end);
    windows(if precise.is_empty() { found } else { precise }, search.len())
}

/// Finds whole lines whose words are the same.
pub(super) fn same_words(file: &[&str], search: &[&str], fold: Fold, max: usize) -> Vec<Window> {
    let found = lines_of_words(file, search, fold, max);
    if found.is_empty() {
        return Vec::new();
    }
    let precise = same_lines(file, search, max, |line| (key(line, fold), without_runs(line)));
    windows(if precise.is_empty() { found } else { precise }, search.len())
}

/// Returns where whole lines of the same words occur, up to a number.
fn lines_of_words(file: &[&str], search: &[&str], fold: Fold, max: usize) -> Vec<usize> {
    // Where there are none, as mostly, the cheap form shows it.
    if same_lines(file, search, 1, |line| condensed(line, fold)).is_empty() {
        return Vec::new();
    }
    same_lines(file, search, max, |line| key(line, fold))
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
    let last = search.len() - 1;
    let is_blank = |at: usize| key(search[at], fold).is_empty();
    if is_blank(0) || is_blank(last) {
        return Vec::new();
    }
    let between = search.get(1..last).filter(|between| !between.is_empty());
    let between = between.map(|between| lines_of_words(file, between, fold, usize::MAX));
    let follows = |at: usize| match &between {
        Some(starts) => starts.binary_search(&(at + 1)).is_ok(),
        None => true,
    };
    let hint = condensed(search[0], fold);
    let mut found = Vec::new();
    for at in 0..file.len().saturating_sub(last) {
        if !follows(at) || !condensed(file[at], fold).contains(&hint) {
            continue;
        }
        let start = lines.start(at + 1);
        if last == 0 {
            found.extend(
                within(file[at], search[0], fold)
                    .into_iter()
                    .map(|r| start + r.start..start + r.end),
            );
        } else if let Some(span) =
            across([file[at], file[at + last]], [search[0], search[last]], fold)
        {
            found.push(start + span.start..lines.start(at + last + 1) + span.end);
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

/// A text where every run of white space is one blank.
fn without_runs(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Finds the words of a search within one line.
fn within(line: &str, search: &str, fold: Fold) -> Vec<Range<usize>> {
    let (line, search) = (tokens(line, fold), tokens(search, fold));
    let words = |tokens: &[super::fold::FoldedToken<'_>]| -> Vec<String> {
        tokens.iter().map(|token| token.folded.clone().into_owned()).collect()
    };
    let found = occurrences(&words(&line), &words(&search), usize::MAX);
    let span = |at: usize| line[at].range.start..line[at + search.len() - 1].range.end;
    found.into_iter().map(span).collect()
}

/// Where a line ends with the words of a search and a later one starts with those of its last line: the start
/// within the one and the end within the other.
fn across(file: [&str; 2], search: [&str; 2], fold: Fold) -> Option<Range<usize>> {
    let ends = |tokens: &[super::fold::FoldedToken<'_>],
                wanted: &[super::fold::FoldedToken<'_>]| {
        tokens.iter().map(|t| &t.folded).eq(wanted.iter().map(|t| &t.folded))
    };
    let ([head, tail], [head_wanted, tail_wanted]) =
        (file.map(|line| tokens(line, fold)), search.map(|line| tokens(line, fold)));
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
    let mut found = occurrences(&text, &wanted, max);
    match max {
        // Of those that overlap, all that is wanted is the first.
        usize::MAX => retain_apart(&mut found, wanted.len()),
        _ => found.truncate((ALIGNED_LINES_MAX / search.len()).max(2)),
    }
    if found.len() > 2 && found.len().saturating_mul(search.len()) > ALIGNED_LINES_MAX {
        // Each of them has all lines of the search, blank ones too.
        return Vec::new();
    }
    let window = |start: usize| {
        let lines = &places[start..start + wanted.len()];
        let (first, last) = (lines[0], lines[wanted.len() - 1]);
        let mut align = vec![None; search.len()];
        for (place, line) in places_wanted.iter().zip(lines) {
            align[*place] = Some(line - first);
        }
        align_blank(&mut align);
        Window { first: first + 1, count: last - first + 1, align: align.into() }
    };
    found.into_iter().map(window).collect()
}

/// Drops what begins before the one that is kept before it ends, each being so long.
fn retain_apart(starts: &mut Vec<usize>, count: usize) {
    let mut end = 0;
    starts.retain(|start| {
        let is_apart = *start >= end;
        if is_apart {
            end = start + count;
        }
        is_apart
    });
}

/// Lets blank lines of the search stand for blank lines of the file, from above, as far as there
/// are any.
fn align_blank(align: &mut [Option<usize>]) {
    // By the first line below that stands for one, each of a run of blank ones.
    let mut after = None;
    let below: Vec<Option<usize>> = align
        .iter()
        .rev()
        .map(|at| {
            after = at.or(after);
            after
        })
        .collect();
    for (at, after) in below.into_iter().rev().enumerate().skip(1) {
        if align[at].is_none() {
            let next = align[at - 1].map(|before| before + 1);
            align[at] = next.filter(|next| after.is_some_and(|after| *next < after));
        }
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
    let align: Rc<[Option<usize>]> = (0..count).map(Some).collect();
    starts
        .into_iter()
        .map(|start| Window { first: start + 1, count, align: Rc::clone(&align) })
        .collect()
}
