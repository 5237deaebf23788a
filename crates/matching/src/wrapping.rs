//! What models put around the text that they mean: line numbers, fences, blank lines.

use super::numbers::without_numbers;

/// Takes line numbers or a code fence off both texts of an edit; none where the search has neither.
pub(super) fn unwrapped(file: &[&str], search: &str, replace: &str) -> Option<(String, String)> {
    if let Some((search, replace)) = without_numbers(file, search, replace) {
        return Some((search, replace));
    }
    let search = without_fence(search)?;
    match without_fence(replace) {
        Some(replace) => Some((search.to_owned(), replace.to_owned())),
        None if replace.contains("```") => None,
        None => Some((search.to_owned(), replace.to_owned())),
    }
}

/// Takes off a code fence around a text.
fn without_fence(text: &str) -> Option<&str> {
    let (first, rest) = text.trim_start_matches('\n').split_once('\n')?;
    let body = rest.trim_end().strip_suffix("```")?;
    let is_fence = first.trim_end().strip_prefix("```").is_some_and(|tag| !tag.contains('`'));
    (is_fence && (body.is_empty() || body.ends_with('\n'))).then_some(body)
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
    fn fences_are_taken_off_whole_or_not_at_all() {
        assert_eq!(without_fence("```python\nb = 2\n```\n"), Some("b = 2\n"));
        assert_eq!(without_fence("```\n```"), Some(""));
        for text in ["b = 2\n", "```\na\n", "a\n```\n", "```a```"] {
            assert_eq!(without_fence(text), None, "{text:?}");
        }
    }
}
