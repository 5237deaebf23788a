//! Names with a typo: how many characters what was typed is away from a stretch of a path. Pure.

/// One wrong character is forgiven for so many of a part of a name.
const PART_CHARS_PER_ERROR: usize = 5;
/// Longest text that is looked for with typos, in characters.
const TYPED_CHARS_MAX: usize = 100;

/// How many wrong characters are forgiven in a part of a name or path; none where it is too short, or
/// so long that the comparison would take long.
pub fn part_errors_max(typed: &[char]) -> Option<usize> {
    if typed.len() > TYPED_CHARS_MAX {
        return None;
    }
    Some(typed.len() / PART_CHARS_PER_ERROR).filter(|errors| *errors > 0)
}

/// How many characters are wrong, missing, too many or in turned order in the stretch of a text that
/// fits best; none where that are more than `errors_max`.
pub fn errors_in_stretch(text: &[char], typed: &[char], errors_max: usize) -> Option<usize> {
    // One column for each character of the text: the errors of what was typed up to a row, in a stretch
    // that ends there. A stretch may start anywhere: the first row is 0.
    let rows = typed.len() + 1;
    let mut now: Vec<usize> = (0..rows).collect();
    let (mut before, mut earlier) = (now.clone(), now.clone());
    let mut least = now[rows - 1];
    for (at, c) in text.iter().enumerate() {
        std::mem::swap(&mut earlier, &mut before);
        std::mem::swap(&mut before, &mut now);
        now[0] = 0;
        for row in 1..rows {
            let is_wrong = usize::from(typed[row - 1] != *c);
            let mut errors =
                (before[row - 1] + is_wrong).min(before[row] + 1).min(now[row - 1] + 1);
            let is_turned = row > 1
                && at > 0
                && typed[row - 1] == text[at - 1]
                && typed[row - 2] == *c
                && is_wrong == 1;
            if is_turned {
                errors = errors.min(earlier[row - 2] + 1);
            }
            now[row] = errors;
        }
        least = least.min(now[rows - 1]);
    }
    (least <= errors_max).then_some(least)
}

/// The characters of ASCII in a text, a bit for each.
pub fn ascii_set(text: &[char]) -> u128 {
    let ascii = text.iter().filter(|c| c.is_ascii());
    ascii.fold(0, |set, c| set | 1 << u32::from(c.to_ascii_lowercase()))
}

/// Whether a text may hold what was typed with so many errors: surely not where this says no, since each
/// character that it lacks is an error.
pub fn may_resemble(text: &str, typed: u128, errors_max: usize) -> bool {
    if !text.is_ascii() {
        // Characters that are not ASCII may have a lower case that is.
        return true;
    }
    let set = text.bytes().fold(0_u128, |set, byte| set | 1 << byte.to_ascii_lowercase());
    (typed & !set).count_ones() as usize <= errors_max
}

/// Whether a name may have about so many characters, with its extension or without: surely not where
/// this says no.
pub fn may_be_as_long(name: &str, chars: usize, errors_max: usize) -> bool {
    if !name.is_ascii() {
        return true;
    }
    let stem = name.rfind('.').filter(|at| *at > 0).unwrap_or(name.len());
    name.len().abs_diff(chars) <= errors_max || stem.abs_diff(chars) <= errors_max
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chars(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn the_best_stretch_counts() {
        for (text, typed, errors) in [
            ("src/parser/lexer.rs", "lexer", 0),
            ("src/parser/lexer.rs", "lexr", 1),
            ("src/parser/lexer.rs", "lexser", 1),
            ("src/parser/lexer.rs", "lxeer", 1),
            ("src/parser/lexer.rs", "parsre/lexer", 1),
            ("src/parser/lexer.rs", "lixar", 2),
            ("", "abc", 3),
            ("abc", "", 0),
        ] {
            let found = errors_in_stretch(&chars(text), &chars(typed), 9);
            assert_eq!(found, Some(errors), "{text} {typed}");
            assert_eq!(
                errors_in_stretch(&chars(text), &chars(typed), errors.wrapping_sub(1)).is_none(),
                errors > 0
            );
        }
    }

    proptest! {
        /// As many errors as the best of all stretches has, compared one after the other.
        #[test]
        fn no_stretch_is_better(text in "[abc/]{0,12}", typed in "[abc/]{1,6}") {
            let (all, wanted) = (chars(&text), chars(&typed));
            let stretches = (0..=all.len())
                .flat_map(|from| (from..=all.len()).map(move |to| from..to));
            let distance = |range: std::ops::Range<usize>| {
                let stretch: String = all[range].iter().collect();
                strsim::osa_distance(&typed, &stretch)
            };
            let best = stretches.map(distance).min().unwrap();
            prop_assert_eq!(errors_in_stretch(&all, &wanted, usize::MAX), Some(best));
            // What is passed by at a glance is surely further away.
            if !may_resemble(&text, ascii_set(&wanted), 1) {
                prop_assert!(best > 1);
            }
        }
    }
}
