//! Indentation: how that of a search relates to that of the file, and what a new line gets.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::sides::MergeSides;
use crate::lines::LineIndex;

/// Lines of the file that are looked at on each side to learn how it indents.
const SAMPLE_LINES: usize = 200;
/// Columns that a level is taken to have where nothing shows it.
const UNIT_DEFAULT: isize = 4;
/// A level is not wider than this; wider steps are several levels or an alignment.
const UNIT_MAX: usize = 4;

/// How a text indents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style {
    /// By tabs; then `unit` is 1.
    tabs: bool,
    /// Characters of a level.
    unit: isize,
}

/// What the indentation of a replacement counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndentBase {
    /// Search and file indent alike.
    Same,
    /// The file: the replacement has its indentation already, unlike the search.
    File,
    /// The file, but for the first line: search and replacement left its indentation out.
    FileButFirst,
    /// The search: the replacement is as deep in relation to it.
    Search {
        /// Whether the search never shows lines of different depths as lines of one depth.
        is_clear: bool,
        /// Whether each step of the search is as wide in the file, or all in one ratio.
        is_even: bool,
    },
}

/// The position of a line of the search, its indentation, and that of the line in the file that it stands for.
type IndentPair<'a> = (usize, &'a str, &'a str);

/// Carries indentation of the search and its replacement over to the file. What is asked for each line of a
/// replacement is not looked for in all of them.
#[derive(Debug)]
pub(super) struct IndentMap<'a> {
    /// All of them, ordered by position.
    pairs: Vec<IndentPair<'a>>,
    /// Those with each indentation of the search.
    alike: HashMap<&'a str, Vec<IndentPair<'a>>>,
    /// How many columns of the edit are how many of the file, where that is known.
    scale: Option<(isize, isize)>,
    frame: IndentBase,
    from: Style,
    to: Style,
}

/// The indentation that a line gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) indent: String,
    /// Whether search and file leave no other one open.
    pub(super) is_certain: bool,
}

/// Returns the white space that a line starts with.
pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Returns the first line that is not blank, by its position.
pub(super) fn head(lines: &[&str]) -> Option<usize> {
    lines.iter().position(|line| !line.trim().is_empty())
}

/// Whether what follows a line is usually deeper.
pub(super) fn opens_block(line: &str) -> bool {
    line.trim_end().ends_with([':', '{', '(', '[', ',', '>', '=', '\\'])
}

// === impl IndentMap ===

impl<'a> IndentMap<'a> {
    /// Learns from the lines of an edit and of the file that stand for each other, but for the
    /// first few of them, and from the file around a line.
    pub(super) fn new(
        sides: &MergeSides<'a>,
        file: &LineIndex<'_>,
        around: usize,
        skipped: usize,
    ) -> Self {
        let aligned = sides.search.iter().zip(sides.align).enumerate().skip(skipped);
        let pairs: Vec<_> = aligned
            .filter_map(|(at, (search, found))| Some((at, *search, sides.found[(*found)?])))
            .filter(|(_, search, found)| !search.trim().is_empty() && !found.trim().is_empty())
            .map(|(at, search, found)| (at, indent(search), indent(found)))
            .collect();
        if pairs.iter().all(|(_, search, found)| search == found) {
            // Nothing is carried over: how the file indents does not matter.
            let style = Style { tabs: false, unit: UNIT_DEFAULT };
            let (alike, frame) = (HashMap::new(), IndentBase::Same);
            return Self { pairs, alike, scale: None, frame, from: style, to: style };
        }
        let edit = sides.search.iter().chain(sides.replace).copied();
        let first = around.saturating_sub(SAMPLE_LINES).max(1);
        let last = around.saturating_add(SAMPLE_LINES).min(file.count());
        let nearby = (first..=last).map(|number| file.line(number));
        let first = head(sides.replace).filter(|_| skipped == 0).map(|at| sides.replace[at]);
        Self::of(pairs, first.map(indent), edit, nearby)
    }

    /// `first` is the indentation of the replacement's first line.
    fn of<'b>(
        pairs: Vec<IndentPair<'a>>,
        first: Option<&str>,
        edit: impl Iterator<Item = &'a str>,
        nearby: impl Iterator<Item = &'b str>,
    ) -> Self {
        let to = Style::of(nearby).with_tabs(pairs.iter().map(|(_, _, found)| *found));
        let from = Style::of(edit);
        let scale = scale(&pairs, from, to);
        let mut alike: HashMap<&str, Vec<IndentPair<'a>>> = HashMap::new();
        for pair in &pairs {
            alike.entry(pair.1).or_default().push(*pair);
        }
        let frame = IndentBase::Search { is_clear: true, is_even: true };
        let mut map = Self { pairs, alike, scale, frame, from, to };
        map.frame = map.frame(first);
        map
    }

    fn frame(&self, first: Option<&str>) -> IndentBase {
        let is_same = |(_, search, found): &(usize, &str, &str)| search == found;
        if let (Some(first), Some((_, search, found))) = (first, self.pairs.first()) {
            let has_files = first == *found || self.in_file_style(first).as_deref() == Some(found);
            if has_files && first != *search {
                return IndentBase::File;
            }
            let lost = found.len() > search.len() && found.ends_with(search);
            if lost && self.pairs.len() > 1 && self.pairs[1..].iter().all(is_same) {
                return IndentBase::FileButFirst;
            }
        }
        let mut points: BTreeMap<isize, BTreeSet<&str>> = BTreeMap::new();
        for (_, search, found) in &self.pairs {
            points.entry(columns(search)).or_default().insert(found);
        }
        let is_clear = points.values().all(|found| found.len() == 1);
        IndentBase::Search { is_clear, is_even: is_clear && self.is_even() }
    }

    /// Whether all lines were found at the depth that one ratio gives them.
    fn is_even(&self) -> bool {
        let Some((_, search, found)) = self.pairs.first() else { return true };
        self.pairs.iter().all(|(_, other, at)| {
            let steps = columns(other) - columns(search);
            match self.scale {
                Some((from, to)) => steps * to == (columns(at) - columns(found)) * from,
                None => steps == columns(at) - columns(found),
            }
        })
    }

    /// Whether the replacement has the file's indentation, though the search has another.
    pub(super) fn has_files(&self) -> bool {
        self.frame == IndentBase::File
    }

    /// Whether the first line alone came without its indentation.
    pub(super) fn lacks_first(&self) -> bool {
        self.frame == IndentBase::FileButFirst
    }

    /// Whether the search shows lines of different depths as lines of one depth.
    pub(super) fn is_flat(&self) -> bool {
        matches!(self.frame, IndentBase::Search { is_clear: false, .. })
    }

    /// Whether search and file indent alike.
    pub(super) fn is_same(&self) -> bool {
        self.frame == IndentBase::Same
    }

    /// Returns the indentation that the first line of the replacement gets in the file: it is
    /// counted from the first line that was found, and certain where it is as deep as that.
    pub(super) fn map_first(&self, wanted: &str) -> Mapped {
        match self.pairs.first() {
            Some((_, search, found)) if *search == wanted => Mapped::certain(found),
            Some((near, search, found)) if matches!(self.frame, IndentBase::Search { .. }) => {
                let is_known = self.alike.contains_key(wanted);
                let mapped = match is_known {
                    true => self.map(wanted, *near),
                    false => self.shifted(wanted, search, found),
                };
                Mapped { is_certain: false, ..mapped }
            }
            Some((near, ..)) => self.map(wanted, *near),
            None => Mapped::certain(wanted),
        }
    }

    /// Returns the indentation that a line of the replacement gets in the file. `near` is the
    /// position of the line of the search that stands closest to it.
    pub(super) fn map(&self, wanted: &str, near: usize) -> Mapped {
        let alike = self.alike.get(wanted).map(Vec::as_slice).unwrap_or_default();
        match (self.frame, nearest(alike, near), nearest(&self.pairs, near)) {
            (IndentBase::Same, ..) | (_, _, None) => Mapped::certain(wanted),
            (IndentBase::File, ..) => {
                Mapped::certain(&self.in_file_style(wanted).unwrap_or_else(|| wanted.to_owned()))
            }
            (IndentBase::FileButFirst, ..) => self.below_first(wanted),
            (IndentBase::Search { is_clear, .. }, Some((.., found)), _) => {
                Mapped { indent: (*found).to_owned(), is_certain: is_clear }
            }
            (IndentBase::Search { is_even, .. }, None, Some((_, search, found))) => {
                let mapped = self.shifted(wanted, search, found);
                Mapped { is_certain: mapped.is_certain && is_even, ..mapped }
            }
        }
    }

    /// A line below the first, which alone lost its indentation, is as deep as it says: unless it is
    /// shallower than the first line is in the file, and no line that was found is so too.
    fn below_first(&self, wanted: &str) -> Mapped {
        let (_, lost, first) = self.pairs[0];
        let is_known = self.pairs[1..].iter().any(|(_, _, found)| *found == wanted);
        if is_known || (wanted != lost && wanted.starts_with(first)) {
            return Mapped::certain(wanted);
        }
        let indent = if wanted == lost { first } else { wanted };
        Mapped { indent: indent.to_owned(), is_certain: false }
    }

    /// Writes an indentation of the edit as the file writes that depth; none where they differ in
    /// more than the characters of a level.
    fn in_file_style(&self, indent: &str) -> Option<String> {
        let is_of = |style: Style| match style.tabs {
            true => indent.chars().all(|c| c == '\t'),
            false => indent.chars().all(|c| c == ' '),
        };
        if self.from.tabs == self.to.tabs || is_of(self.to) {
            return Some(indent.to_owned());
        }
        let levels = Some(columns(indent)).filter(|n| is_of(self.from) && n % self.from.unit == 0);
        let target = usize::try_from(levels? / self.from.unit * self.to.unit).ok()?;
        Some(if self.to.tabs { "\t" } else { " " }.repeat(target))
    }

    /// Moves an indentation as far from that of a line in the file as it is from that of the line
    /// of the search.
    fn shifted(&self, wanted: &str, search: &str, found: &str) -> Mapped {
        let steps = columns(wanted) - columns(search);
        let (from, to) = self.scale.unwrap_or((1, 1));
        let is_whole = steps % from == 0;
        let steps = if is_whole { steps / from * to } else { steps };
        let target = usize::try_from(columns(found) + steps);
        let is_certain = target.is_ok() && (is_whole || from == to);
        let target = target.unwrap_or(0);
        let mut indent: String = found.chars().take(target).collect();
        let missing = target - indent.chars().count();
        indent.extend(std::iter::repeat_n(if self.to.tabs { '\t' } else { ' ' }, missing));
        Mapped { indent, is_certain }
    }
}

/// Returns the pair that stands closest to a position, of two the first. They are ordered by theirs.
fn nearest<'p, 'a>(pairs: &'p [IndentPair<'a>], near: usize) -> Option<&'p IndentPair<'a>> {
    let after = pairs.partition_point(|(position, ..)| *position < near);
    let around = &pairs[after.saturating_sub(1)..(after + 1).min(pairs.len())];
    around.iter().min_by_key(|(position, ..)| position.abs_diff(near))
}

/// How many columns of the edit are how many of the file: as its lines show, or else as both
/// usually indent.
fn scale(pairs: &[IndentPair<'_>], from: Style, to: Style) -> Option<(isize, isize)> {
    let columns = |(_, search, found): &IndentPair<'_>| (columns(search), columns(found));
    let shown: BTreeSet<_> = pairs.iter().map(columns).collect();
    let mut steps = shown.iter().zip(shown.iter().skip(1)).filter(|(a, b)| a.0 != b.0);
    match steps.next() {
        Some((a, b)) => Some((b.0 - a.0, b.1 - a.1)).filter(|(_, to)| *to > 0).map(reduced),
        None => Some((from.unit, to.unit)),
    }
}

// === impl Mapped ===

impl Mapped {
    pub(super) fn certain(indent: &str) -> Self {
        Self { indent: indent.to_owned(), is_certain: true }
    }
}

// === impl Style ===

impl Style {
    fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut counts = [0_usize; UNIT_MAX + 1];
        let (mut tabbed, mut spaced, mut before) = (0, 0, 0_usize);
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let indent = indent(line);
            tabbed += usize::from(indent.starts_with('\t'));
            spaced += usize::from(indent.starts_with(' '));
            let columns = indent.chars().count();
            match columns.abs_diff(before) {
                step @ 2..=UNIT_MAX => counts[step] += 1,
                // Twice the widest level is two of them.
                step if step > 0 && step.is_multiple_of(UNIT_MAX) => counts[UNIT_MAX] += 1,
                _ => {}
            }
            before = columns;
        }
        if tabbed > spaced {
            return Self { tabs: true, unit: 1 };
        }
        let most = (2..=UNIT_MAX).max_by_key(|step| (counts[*step], UNIT_MAX - step));
        let unit = most.filter(|step| counts[*step] > 0);
        let unit = unit.and_then(|unit| isize::try_from(unit).ok()).unwrap_or(UNIT_DEFAULT);
        Self { tabs: false, unit }
    }

    /// The lines of the edit itself say more than those around them.
    fn with_tabs<'a>(self, indents: impl Iterator<Item = &'a str> + Clone) -> Self {
        if indents.clone().any(|indent| indent.starts_with('\t')) {
            return Self { tabs: true, unit: 1 };
        }
        if self.tabs && indents.into_iter().any(|indent| indent.starts_with(' ')) {
            return Self { tabs: false, unit: UNIT_DEFAULT };
        }
        self
    }
}

fn columns(indent: &str) -> isize {
    isize::try_from(indent.chars().count()).unwrap_or(isize::MAX)
}

fn reduced((from, to): (isize, isize)) -> (isize, isize) {
    let (mut a, mut b) = (from, to);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (from / a, to / a)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of lines, other lines of the edit, the file, what is wanted, what it becomes.
    type Case = (
        &'static [(&'static str, &'static str)],
        &'static [&'static str],
        &'static str,
        &'static str,
        &'static str,
    );

    #[test]
    fn new_lines_take_the_indentation_of_the_file() {
        let cases: [Case; 9] = [
            (&[("a", "    a")], &["    b"], "x:\n    a\n", "    ", "        "),
            (&[("a", "    a")], &["  b"], "x:\n    a\n", "  ", "        "),
            (&[("a", "\ta")], &["    b"], "x:\n\ta\n", "    ", "\t\t"),
            (&[("\ta", "    a")], &["\t\tb"], "x:\n    a\n", "\t\t", "        "),
            (&[("    a", "        a"), ("        b", "            b")], &[], "", "", "    "),
            (&[("  a", "    a"), ("    b", "        b")], &[], "", "      ", "            "),
            (&[("a", "a")], &[], "", "   ", "   "),
            (&[("    a", "a")], &[], "a\n", "", ""),
            (&[("a", "  a")], &["    b"], "x:\n  a\n    b\n", "    ", "    "),
        ];
        for (pairs, others, file, wanted, becomes) in cases {
            let edit = pairs.iter().map(|(search, _)| *search).chain(others.iter().copied());
            let pairs = pairs.iter().enumerate();
            let pairs = pairs.map(|(at, (search, found))| (at, indent(search), indent(found)));
            let map = IndentMap::of(pairs.collect(), None, edit, file.lines());
            assert_eq!(map.map(wanted, 0).indent, becomes, "{others:?} {wanted:?}");
        }
    }
}
