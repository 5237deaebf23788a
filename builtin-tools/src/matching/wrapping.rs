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
        let replace = without_numbers(replace).unwrap_or_else(|| replace.to_owned());
        return Some((search, replace));
    }
    let search = without_fence(search)?;
    Some((search.to_owned(), without_fence(replace).unwrap_or(replace).to_owned()))
}

/// Takes off the line numbers that a listing puts before lines: every line has one, and they rise
/// by one.
pub(super) fn without_numbers(text: &str) -> Option<String> {
    let mut next = None;
    let mut lines = String::with_capacity(text.len());
    let several = text.trim_end().contains('\n');
    for line in text.split_inclusive('\n') {
        let (digits, rest) = split_number(line.trim_start())?;
        let number: u64 = digits.parse().ok()?;
        if next.is_some_and(|next| next != number) {
            return None;
        }
        next = number.checked_add(1);
        let text = match rest.chars().next()? {
            '\t' | '\u{2192}' | '|' => rest.get(rest.chars().next()?.len_utf8()..)?,
            ':' if several => &rest[1..],
            ' ' if rest.trim_start().starts_with(['|', '\u{2192}', '\u{2502}']) => {
                let rest = rest.trim_start();
                &rest[rest.chars().next()?.len_utf8()..]
            }
            _ => return None,
        };
        lines.push_str(text);
    }
    next.map(|_| lines)
}

fn split_number(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|c: char| !c.is_ascii_digit())?;
    (end > 0).then(|| line.split_at(end))
}

/// Takes off a code fence around a text.
pub(super) fn without_fence(text: &str) -> Option<&str> {
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
        for text in ["1: a", "1\ta\n3\tb\n", "a\n", "", "1\ta\nb\n", "12\n13\n", "8080:80\n8081:81"]
        {
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
