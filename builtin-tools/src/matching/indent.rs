//! Indentation: how that of a search relates to that of the file, and what a new line gets.

use std::collections::BTreeSet;

use super::merge::Sides;
use crate::lines::Lines;

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

/// Carries indentation of the search and its replacement over to the file.
#[derive(Debug)]
pub(super) struct IndentMap<'a> {
    /// Lines of the search by position, their indentation, and that of the lines in the file that
    /// they stand for.
    pairs: Vec<(usize, &'a str, &'a str)>,
    from: Style,
    to: Style,
}

/// Returns the white space that a line starts with.
pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

// === impl IndentMap ===

impl<'a> IndentMap<'a> {
    /// Learns from the lines of an edit and of the file that stand for each other, but for the
    /// first few of them, and from the file around a line.
    pub(super) fn new(sides: &Sides<'a>, file: &Lines<'_>, around: usize, skipped: usize) -> Self {
        let aligned = sides.search.iter().zip(sides.align).enumerate().skip(skipped);
        let pairs: Vec<_> = aligned
            .filter_map(|(at, (search, found))| Some((at, *search, sides.found[(*found)?])))
            .filter(|(_, search, found)| !search.trim().is_empty() && !found.trim().is_empty())
            .map(|(at, search, found)| (at, indent(search), indent(found)))
            .collect();
        if pairs.iter().all(|(_, search, found)| search == found) {
            // Nothing is carried over: how the file indents does not matter.
            let style = Style { tabs: false, unit: UNIT_DEFAULT };
            return Self { pairs, from: style, to: style };
        }
        let edit = sides.search.iter().chain(sides.replace).copied();
        let first = around.saturating_sub(SAMPLE_LINES).max(1);
        let last = around.saturating_add(SAMPLE_LINES).min(file.count());
        let nearby = (first..=last).map(|number| file.line(number));
        Self::of(pairs, edit, nearby)
    }

    fn of<'b>(
        pairs: Vec<(usize, &'a str, &'a str)>,
        edit: impl Iterator<Item = &'a str>,
        nearby: impl Iterator<Item = &'b str>,
    ) -> Self {
        let to = Style::of(nearby).with_tabs(pairs.iter().map(|(_, _, found)| *found));
        Self { pairs, from: Style::of(edit), to }
    }

    /// Returns the indentation that a line of the replacement gets in the file. `near` is the
    /// position of the line of the search that stands closest to it.
    pub(super) fn map(&self, wanted: &str, near: usize) -> String {
        if self.pairs.iter().all(|(_, search, found)| search == found) {
            return wanted.to_owned();
        }
        let nearest = |only: Option<&str>| {
            let pairs =
                self.pairs.iter().filter(|(_, search, _)| only.is_none_or(|o| o == *search));
            pairs.min_by_key(|(position, ..)| position.abs_diff(near))
        };
        match (nearest(Some(wanted)), nearest(None)) {
            (Some((.., found)), _) => (*found).to_owned(),
            (None, Some((_, search, found))) => self.shifted(wanted, search, found),
            (None, None) => wanted.to_owned(),
        }
    }

    /// Moves an indentation as far from that of a line in the file as it is from that of the line
    /// of the search.
    fn shifted(&self, wanted: &str, search: &str, found: &str) -> String {
        let steps = columns(wanted) - columns(search);
        let target = match self.scale() {
            Some((from, to)) if steps % from == 0 => columns(found) + steps / from * to,
            _ => columns(found) + steps,
        };
        let target = usize::try_from(target).unwrap_or(0);
        let mut indent: String = found.chars().take(target).collect();
        let missing = target - indent.chars().count();
        indent.extend(std::iter::repeat_n(if self.to.tabs { '\t' } else { ' ' }, missing));
        indent
    }

    /// How many columns of the edit are how many of the file: as its lines show, or else as both
    /// usually indent.
    fn scale(&self) -> Option<(isize, isize)> {
        let columns = |(_, search, found): &(usize, &str, &str)| (columns(search), columns(found));
        let shown: BTreeSet<_> = self.pairs.iter().map(columns).collect();
        let mut steps = shown.iter().zip(shown.iter().skip(1)).filter(|(a, b)| a.0 != b.0);
        match steps.next() {
            Some((a, b)) => Some((b.0 - a.0, b.1 - a.1)).filter(|(_, to)| *to > 0).map(reduced),
            None => Some((self.from.unit, self.to.unit)),
        }
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
            let map = IndentMap::of(pairs.collect(), edit, file.lines());
            assert_eq!(map.map(wanted, 0), becomes, "{others:?} {wanted:?}");
        }
    }
}
