//! What models put around the text that they mean: line numbers, fences, blank lines, escapes.

use std::borrow::Cow;

/// How escape sequences are undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `\"` and `\'` alone.
    Quotes,
    /// Also `\n`, `\t`, `\r` and `\\`.
    All,
}

/// Takes line numbers or a code fence off both texts of an edit; none where the search has neither.
pub(super) fn unwrapped(search: &str, replace: &str) -> Option<(String, String)> {
    if let Some(search) = without_numbers(search) {
        // Lines that come or go break the numbering of the replacement.
        let lines = replace.split_inclusive('\n');
        let replace = lines.map(|line| without_number(line, true).map_or(line, |(_, text)| text));
        return Some((search, replace.collect()));
    }
    let search = without_fence(search)?;
    match without_fence(replace) {
        Some(replace) => Some((search.to_owned(), replace.to_owned())),
        None if replace.contains("```") => None,
        None => Some((search.to_owned(), replace.to_owned())),
    }
}

/// Takes off the line numbers that a listing puts before lines: every line has one, and they rise
/// by one. A single line is only taken for one of a listing where its number is padded.
fn without_numbers(text: &str) -> Option<String> {
    let mut next = None;
    let mut lines = String::with_capacity(text.len());
    let several = text.trim_end().contains('\n');
    if !several && !text.starts_with(' ') {
        return None;
    }
    for line in text.split_inclusive('\n') {
        let (number, text) = without_number(line, several)?;
        if next.is_some_and(|next| next != number) {
            return None;
        }
        next = number.checked_add(1);
        lines.push_str(text);
    }
    next.map(|_| lines)
}

/// Splits the number off a line of a listing.
fn without_number(line: &str, several: bool) -> Option<(u64, &str)> {
    let (digits, rest) = split_number(line.trim_start_matches(' '))?;
    let number = digits.parse().ok()?;
    let bar = rest.trim_start_matches(' ');
    let text = match (rest.chars().next()?, bar.chars().next()?) {
        ('\t', _) => &rest[1..],
        (':', _) if several => &rest[1..],
        (_, mark @ ('|' | '\u{2192}' | '\u{2502}')) => &bar[mark.len_utf8()..],
        _ => return None,
    };
    Some((number, text))
}

fn split_number(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|c: char| !c.is_ascii_digit())?;
    (end > 0).then(|| line.split_at(end))
}

/// Takes off a code fence around a text.
fn without_fence(text: &str) -> Option<&str> {
    let (first, rest) = text.trim_start_matches('\n').split_once('\n')?;
    let body = rest.trim_end().strip_suffix("```")?;
    let is_fence = first.trim_end().strip_prefix("```").is_some_and(|tag| !tag.contains('`'));
    (is_fence && (body.is_empty() || body.ends_with('\n'))).then_some(body)
}

/// Undoes escape sequences in one pass from left to right; none where there are none.
pub(super) fn unescaped(text: &str, escapes: Escapes) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut found = false;
    while let Some(c) = chars.next() {
        let undone = match (c, chars.peek(), escapes) {
            ('\\', Some(quote @ ('"' | '\'')), _) => Some(*quote),
            ('\\', Some('n'), Escapes::All) => Some('\n'),
            ('\\', Some('t'), Escapes::All) => Some('\t'),
            ('\\', Some('r'), Escapes::All) => Some('\r'),
            ('\\', Some('\\'), Escapes::All) => Some('\\'),
            _ => None,
        };
        match undone {
            Some(undone) => {
                result.push(undone);
                chars.next();
                found = true;
            }
            None => result.push(c),
        }
    }
    found.then_some(result)
}

/// Undoes escape sequences where there are some.
pub(super) fn unescaped_or_same(text: &str, escapes: Escapes) -> Cow<'_, str> {
    unescaped(text, escapes).map_or(text.into(), Cow::Owned)
}

/// Takes blank lines off both ends of the search, and off the replacement where it has as many; none
/// where there are none, or the edit changes how many there are.
pub(super) fn without_outer_blank_lines<'a>(
    search: &'a str,
    replace: &'a str,
) -> Option<(&'a str, &'a str)> {
    let (old, new) = (Blanks::around(search), Blanks::around(replace));
    let is_kept = |old: usize, new: usize| new == 0 || new == old;
    let is_blank = old.before + old.after == 0 || old.inner.is_empty();
    if is_blank || !is_kept(old.before, new.before) || !is_kept(old.after, new.after) {
        return None;
    }
    Some((old.inner, new.inner))
}

/// A text and the blank lines around it.
struct Blanks<'a> {
    before: usize,
    inner: &'a str,
    after: usize,
}

impl<'a> Blanks<'a> {
    /// A text of blank lines alone has all of them before it.
    fn around(text: &'a str) -> Self {
        let is_blank = |line: &&str| line.trim().is_empty();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let before = lines.iter().copied().take_while(is_blank).count();
        let rest = &lines[before..];
        let after = rest.iter().rev().copied().take_while(is_blank).count();
        let length = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
        let start = length(&lines[..before]);
        let end = start + length(&rest[..rest.len() - after]);
        Self { before, inner: &text[start..end], after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappings_are_taken_off_whole_or_not_at_all() {
        assert_eq!(without_numbers("  9\ta\n 10\t b\n").as_deref(), Some("a\n b\n"));
        assert_eq!(without_numbers("1: a\n2: b").as_deref(), Some(" a\n b"));
        assert_eq!(without_numbers("1 | a\n2 | b").as_deref(), Some(" a\n b"));
        for text in [
            "1: a",
            "1\ta",
            "3|foo\n",
            "1\ta\n3\tb\n",
            "a\n",
            "",
            "1\ta\nb\n",
            "12\n13\n",
            "8080:80\n8081:81",
        ] {
            assert_eq!(without_numbers(text).is_some(), text.starts_with("8080"), "{text:?}");
        }
        assert_eq!(without_fence("```python\nb = 2\n```\n"), Some("b = 2\n"));
        assert_eq!(without_fence("```\n```"), Some(""));
        for text in ["b = 2\n", "```\na\n", "a\n```\n", "```a```"] {
            assert_eq!(without_fence(text), None, "{text:?}");
        }
    }

    #[test]
    fn escapes_are_undone_once() {
        let all = |text| unescaped(text, Escapes::All);
        assert_eq!(all(r"a\nb").as_deref(), Some("a\nb"));
        assert_eq!(all(r#"print(\"a\\n\")"#).as_deref(), Some(r#"print("a\n")"#));
        assert_eq!(all(r"\\d+").as_deref(), Some(r"\d+"));
        assert_eq!(all("a"), None);
        assert_eq!(all("\\"), None);
        assert_eq!(unescaped(r#"\"\n\""#, Escapes::Quotes).as_deref(), Some(r#""\n""#));
    }
}
