//! Finds the lines of a text that look most like a text that does not occur in it. The result is
//! shown to whoever searched; nothing is ever written on its word.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use moss_matching::lines::LineIndex;

/// Most lines of the text that are looked at.
const LINES_MAX: usize = 100_000;
/// Most lines of the wanted text that are looked at.
const WANTED_LINES_MAX: usize = 400;
/// Most locations of one line within the wanted text.
const PLACES_MAX: usize = 8;
/// Share of the runs of three characters of a line that another must have to be close.
const SHARED_PERCENT_MIN: usize = 40;
/// Most bytes of a line that are compared by characters.
const LINE_BYTES_MAX: usize = 500;
/// A line counts by its length up to this, so that `}` counts little.
const WEIGHT_MAX: usize = 40;

/// A text with fewer characters is not looked for without its white space.
const CONDENSED_CHARS_MIN: usize = 4;

/// Returns the closest lines, if any are close: all those that differ in white space alone, however
/// the text is divided into lines.
pub(crate) fn closest(lines: &LineIndex<'_>, wanted: &str) -> Option<RangeInclusive<usize>> {
    if let Some(range) = but_for_white_space(lines, wanted) {
        return Some(range);
    }
    let wanted: Vec<&str> = wanted.lines().take(WANTED_LINES_MAX).map(str::trim).collect();
    let start = by_equal_lines(lines, &wanted).or_else(|| by_characters(lines, &wanted))?;
    Some(start..=(start + wanted.len() - 1).min(lines.count()))
}

/// Whether two texts differ in white space alone.
pub(crate) fn same_but_for_white_space(a: &str, b: &str) -> bool {
    condensed(a) == condensed(b)
}

fn condensed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Finds the lines that hold a text where white space does not count.
fn but_for_white_space(lines: &LineIndex<'_>, wanted: &str) -> Option<RangeInclusive<usize>> {
    let wanted = condensed(wanted);
    if wanted.chars().count() < CONDENSED_CHARS_MIN {
        return None;
    }
    let (mut text, mut ends) = (String::new(), Vec::new());
    for line in lines.iter().take(LINES_MAX) {
        text.push_str(&condensed(line));
        ends.push(text.len());
    }
    let start = text.find(&wanted)?;
    let line_of = |at: usize| ends.partition_point(|end| *end <= at) + 1;
    Some(line_of(start)..=line_of(start + wanted.len() - 1))
}

/// Every wanted line that occurs votes for the location where the wanted text would then start. The
/// winner must hold a third of the wanted text.
fn by_equal_lines(lines: &LineIndex<'_>, wanted: &[&str]) -> Option<usize> {
    let weight = |line: &str| line.len().min(WEIGHT_MAX);
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let places = places.entry(line).or_default();
        if places.len() < PLACES_MAX {
            places.push(index);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (index, line) in lines.iter().take(LINES_MAX).enumerate() {
        let line = line.trim();
        for place in places.get(line).into_iter().flatten().filter(|place| **place <= index) {
            *votes.entry(index - place).or_default() += weight(line);
        }
    }
    let all: usize = wanted.iter().map(|line| weight(line)).sum();
    let (start, votes) =
        votes.into_iter().max_by_key(|(start, votes)| (*votes, usize::MAX - start))?;
    (votes * 3 >= all).then_some(start + 1)
}

/// Looks for the wanted line that says most: the line is the closest that holds most of its runs of
/// three characters, and of such the shortest.
fn by_characters(lines: &LineIndex<'_>, wanted: &[&str]) -> Option<usize> {
    let (place, line) =
        wanted.iter().enumerate().max_by_key(|(place, line)| (line.len(), usize::MAX - place))?;
    let mut runs: HashMap<[char; 3], usize> = HashMap::new();
    for run in runs_of(line) {
        let next = runs.len();
        runs.entry(run).or_insert(next);
    }
    let mut best = None;
    for (index, line) in lines.iter().take(LINES_MAX).enumerate() {
        let mut found = vec![false; runs.len()];
        runs_of(line).filter_map(|run| runs.get(&run)).for_each(|at| found[*at] = true);
        let shared = found.iter().filter(|found| **found).count();
        let rank = (shared, usize::MAX - line.len());
        if shared * 100 >= runs.len().max(1) * SHARED_PERCENT_MIN
            && best.is_none_or(|(most, _)| rank > most)
        {
            best = Some((rank, index));
        }
    }
    best.map(|(_, index)| index.saturating_sub(place) + 1)
}

fn runs_of(line: &str) -> impl Iterator<Item = [char; 3]> {
    let line = &line[..line.floor_char_boundary(LINE_BYTES_MAX)];
    let chars = line.chars();
    let next = chars.clone().skip(1);
    let last = chars.clone().skip(2);
    chars.zip(next).zip(last).map(|((a, b), c)| [a, b, c])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_lines_are_found_or_none() {
        let text = "fn a() {\n    let x = 1;\n}\n\nfn b() {\n    let y = 2;\n}\n";
        let cases = [
            ("fn b() {\n  let z = 3;\n}\n", Some(5..=7)),
            ("fn b() {\n    let y = 2;\n}\n", Some(5..=7)),
            ("fn b() { let y = 2; }", Some(5..=7)),
            ("let\n  y\n  = 2;", Some(6..=6)),
            ("let y = 20;", Some(6..=6)),
            ("fn b() -> u8 {", Some(5..=5)),
            ("lett y", Some(6..=6)),
            ("let yy = 2", Some(6..=6)),
            ("}\nentirely different and long enough\n", None),
            ("nothing like it", None),
            ("", None),
        ];
        for (wanted, range) in cases {
            assert_eq!(closest(&LineIndex::new(text), wanted), range, "{wanted:?}");
        }
        assert_eq!(closest(&LineIndex::new(""), "a"), None);
    }
}
