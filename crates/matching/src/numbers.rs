//! Line numbers that models copy from a listing in front of the lines.

/// What stands between the number and the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberMark {
    /// A tab, as `read_file` lists.
    Tab,
    /// As compilers and `grep -n` list.
    Colon,
    /// As many editors and tools list; blanks may stand before it.
    Bar(char),
}

/// A line of a listing.
struct Numbered<'a> {
    number: u64,
    mark: NumberMark,
    /// Whether blanks stand before the number, or around the mark: no data is written so.
    is_listed: bool,
    line: &'a str,
}

/// Takes the numbers off the lines of a search, and off those of the replacement that have one; none
/// where not every line of the search has one, they do not rise by one, or the file itself has such
/// lines. A single line is one of a listing where its number stands as in a listing, or is the number
/// of just this line.
pub(super) fn without_numbers(
    file: &[&str],
    search: &str,
    replace: &str,
) -> Option<(String, String)> {
    let lines: Vec<Numbered<'_>> =
        search.split_inclusive('\n').map(Numbered::of).collect::<Option<_>>()?;
    let first = lines.first()?;
    let rises = lines.windows(2).all(|two| two[0].number.checked_add(1) == Some(two[1].number));
    let is_one_kind = lines.iter().all(|line| line.mark == first.mark);
    let has_such = |line: &&str| Numbered::of(line).is_some_and(|line| line.mark == first.mark);
    let is_single = lines.len() == 1;
    if !rises || !is_one_kind || file.iter().any(has_such) {
        return None;
    }
    if is_single && !first.is_listed && !first.is_line_of(file) {
        return None;
    }
    let blank = common_blank(&lines);
    let search = lines.iter().map(|line| line.without(blank)).collect();
    // Lines that come or go break the numbering of the replacement.
    let new: Vec<(&str, Option<Numbered<'_>>)> = replace
        .split_inclusive('\n')
        .map(|line| (line, Numbered::of(line).filter(|numbered| numbered.mark == first.mark)))
        .collect();
    let new = new.iter().map(|(line, numbered)| match numbered {
        Some(numbered) => numbered.without(blank),
        None => line,
    });
    Some((search, new.collect()))
}

/// The blank behind a mark, where each line has it that says something.
fn common_blank(lines: &[Numbered<'_>]) -> &'static str {
    if lines.iter().all(|line| line.mark != NumberMark::Tab && line.has(" ")) { " " } else { "" }
}

// === impl Numbered ===

impl<'a> Numbered<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let line = text.trim_start_matches(' ');
        let (digits, rest) = line.split_at(line.find(|c: char| !c.is_ascii_digit())?);
        let number = digits.parse().ok()?;
        let bar = rest.trim_start_matches(' ');
        let mark = match (rest.chars().next()?, bar.chars().next()?) {
            ('\t', _) => NumberMark::Tab,
            (':', _) => NumberMark::Colon,
            (_, bar @ ('|' | '\u{2192}' | '\u{2502}')) => NumberMark::Bar(bar),
            _ => return None,
        };
        let behind = match mark {
            NumberMark::Tab | NumberMark::Colon => &rest[1..],
            NumberMark::Bar(mark) => &bar[mark.len_utf8()..],
        };
        let is_spaced =
            bar.len() < rest.len() && (behind.starts_with(' ') || behind.trim().is_empty());
        let is_listed = line.len() < text.len() || is_spaced;
        Some(Self { number, mark, is_listed, line: behind })
    }

    /// Whether the file has this very line under this number.
    fn is_line_of(&self, file: &[&str]) -> bool {
        let index = usize::try_from(self.number).ok().and_then(|number| number.checked_sub(1));
        let line = index.and_then(|index| file.get(index));
        !self.line.trim().is_empty() && line.is_some_and(|line| line.trim() == self.line.trim())
    }

    /// Whether the line begins with a blank, as far as it says something.
    fn has(&self, blank: &str) -> bool {
        self.line.trim().is_empty() || self.line.starts_with(blank)
    }

    fn without(&self, blank: &str) -> &'a str {
        self.line.strip_prefix(blank).unwrap_or(self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(file: &[&str], text: &str) -> Option<String> {
        without_numbers(file, text, "").map(|(search, _)| search)
    }

    #[test]
    fn numbers_are_taken_off_all_lines_or_none() {
        for (text, without) in [
            ("  9\ta\n 10\t b\n", Some("a\n b\n")),
            ("1: a\n2: b", Some("a\nb")),
            ("1:a\n2:  b", Some("a\n  b")),
            ("1 | a\n2 |     b\n3 |\n4 | c\n", Some("a\n    b\n\nc\n")),
            ("7|a\n8| b", Some("a\n b")),
            ("8080:80\n8081:81", Some("80\n81")),
            ("2 | a", Some("a")),
            ("  2\ta", Some("a")),
            ("1\ta\n3\tb\n", None),
            ("1: a\n2| b\n", None),
            ("a\n", None),
            ("", None),
            ("1\ta\nb\n", None),
            ("12\n13\n", None),
        ] {
            assert_eq!(search(&["x"], text).as_deref(), without, "{text:?}");
        }
    }

    #[test]
    fn a_single_number_must_be_that_of_the_line_or_padded() {
        let file = ["a", "  b = 1", "c"];
        for (text, without) in [
            ("2:   b = 1\n", Some("  b = 1\n")),
            ("2:b = 1", Some("b = 1")),
            ("2\tb = 1", Some("b = 1")),
            ("3: b = 1", None),
            ("3|b = 1", None),
            ("3 | b = 1", Some("b = 1")),
            ("9: c", None),
        ] {
            assert_eq!(search(&file, text).as_deref(), without, "{text:?}");
        }
    }

    #[test]
    fn numbers_that_are_data_stay() {
        let file = ["map = {", "  1: \"a\",", "  2: \"b\",", "}", "3|foo"];
        for text in ["1: \"c\",", "1: \"c\",\n2: \"d\",", "5|foo", "5 | foo\n6 | bar\n"] {
            assert_eq!(search(&file, text), None, "{text:?}");
        }
    }

    #[test]
    fn the_replacement_loses_its_numbers_too() {
        let both = |search, replace| without_numbers(&["x"], search, replace).unwrap();
        let (old, new) = ("a\n  b\n".to_owned(), "a\n  c\nd\n".to_owned());
        assert_eq!(both("1 | a\n2 |   b\n", "1 | a\n2 |   c\nd\n"), (old.clone(), new.clone()));
        assert_eq!(both("1 | a\n2 |   b\n", "a\n  c\nd\n"), (old, new));
        assert_eq!(both("1: a\n2: b\n", "1: a\n2:b\n").1, "a\nb\n");
    }
}
