//! Finds the lines of a text that look most like a text that does not occur in it. The result is
//! shown to whoever searched; nothing is ever written on its word.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use crate::lines::Lines;

/// Most lines of the text that are looked at.
const LINES_MAX: usize = 100_000;
/// Most lines of the wanted text that are looked at.
const WANTED_LINES_MAX: usize = 400;
/// Most places of one line within the wanted text.
const PLACES_MAX: usize = 8;
/// Most bytes of a line that are compared by words.
const LINE_BYTES_MAX: usize = 500;
/// A line counts by its length up to this, so that `}` counts little.
const WEIGHT_MAX: usize = 40;

/// Returns the closest lines, if any are close.
pub(crate) fn closest(lines: &Lines<'_>, wanted: &str) -> Option<RangeInclusive<usize>> {
    let wanted: Vec<&str> = wanted.lines().take(WANTED_LINES_MAX).map(str::trim).collect();
    let start = by_equal_lines(lines, &wanted).or_else(|| by_words(lines, &wanted))?;
    Some(start..=(start + wanted.len() - 1).min(lines.count()))
}

/// Whether two texts differ in white space alone.
pub(crate) fn same_but_for_white_space(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// Every wanted line that occurs votes for the place where the wanted text would then start. The
/// winner must hold a third of the wanted text.
fn by_equal_lines(lines: &Lines<'_>, wanted: &[&str]) -> Option<usize> {
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

/// Looks for the wanted line with the most words; half of the words must be shared.
fn by_words(lines: &Lines<'_>, wanted: &[&str]) -> Option<usize> {
    let (place, words_wanted) = wanted
        .iter()
        .map(|line| words(line))
        .enumerate()
        .max_by_key(|(place, words)| (words.len(), usize::MAX - place))?;
    let mut best = None;
    for (index, line) in lines.iter().take(LINES_MAX).enumerate() {
        let words = words(line);
        let shared = words.intersection(&words_wanted).count();
        // Dice's coefficient, in thousandths.
        let likeness = 2000 * shared / (words.len() + words_wanted.len()).max(1);
        if likeness >= 500 && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, index));
        }
    }
    best.map(|(_, index)| index.saturating_sub(place) + 1)
}

fn words(line: &str) -> HashSet<&str> {
    line[..line.floor_char_boundary(LINE_BYTES_MAX)]
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect()
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
            ("let y = 20;", Some(6..=6)),
            ("fn b() -> u8 {", Some(5..=5)),
            ("}\nentirely different and long enough\n", None),
            ("nothing like it", None),
            ("", None),
        ];
        for (wanted, range) in cases {
            assert_eq!(closest(&Lines::new(text), wanted), range, "{wanted:?}");
        }
        assert_eq!(closest(&Lines::new(""), "a"), None);
    }
}
