//! Texts that are escaped once too often: whole, or a replacement alone.

use std::borrow::Cow;

use super::likeness::dice;

/// Share of words in common from which on a line is taken for a changed form of another.
const SAME_LINE_MIN: f64 = 0.5;

/// How escape sequences are undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `\"` and `\'` alone.
    Quotes,
    /// Also `\n`, `\t`, `\r` and `\\`.
    All,
}

/// A replacement that has an escape sequence where the search has the character itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OverEscaped {
    /// It means this.
    Means(String),
    /// It may mean that, or what it says.
    Unclear,
}

/// A place in a line of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Code,
    /// A string or a pattern, up to this character.
    Quotes(char),
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

/// Reads a replacement that alone is escaped: the search has tabs or several lines, and the
/// replacement has none, but `\t` or `\n` where code has no escapes. Those in a string stay.
pub(super) fn over_escaped(search: &str, replace: &str) -> Option<OverEscaped> {
    let has_lines = search.trim_end_matches('\n').contains('\n');
    let is_one_line = !replace.trim_end_matches('\n').contains('\n');
    let tabs = search.contains('\t') && !replace.contains('\t');
    let line_ends = has_lines && is_one_line;
    let meant = |c: char| (c == 't' && tabs) || (c == 'n' && line_ends);
    if !(tabs || line_ends) || !replace.contains('\\') {
        return None;
    }
    let (outside, found, is_closed) = unescaped_outside(replace, meant);
    if found == 0 {
        return None;
    }
    if replace.contains("\\\"") && !replace.replace("\\\"", "").contains('"') {
        return unescaped(replace, Escapes::All).map(OverEscaped::Means);
    }
    let known: Vec<&str> = search.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_known = |line: &str| known.iter().any(|known| dice(known, line) >= SAME_LINE_MIN);
    let is_like_search = outside.lines().any(|line| is_known(line.trim()));
    let begins_lines = tabs && replace.lines().any(|line| line.starts_with("\\t"));
    let is_code = outside.lines().any(|line| {
        line.starts_with([' ', '\t'])
            || line.trim_end().ends_with([';', '{', '}', ':', ')', '(', ','])
    });
    match (is_closed && (is_like_search || begins_lines), is_code) {
        (true, _) => Some(OverEscaped::Means(outside)),
        (false, true) => Some(OverEscaped::Unclear),
        (false, false) => None,
    }
}

/// Undoes escape sequences outside of strings and patterns. Returns the text, how many there were,
/// and whether each string has an end.
fn unescaped_outside(text: &str, meant: impl Fn(char) -> bool) -> (String, usize, bool) {
    let mut result = String::with_capacity(text.len());
    let mut within = Within::Code;
    let mut found = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let last = result.chars().next_back();
        match (within, c) {
            (Within::Code, '\\') if chars.peek().is_some_and(|next| meant(*next)) => {
                result.push(if chars.next() == Some('t') { '\t' } else { '\n' });
                found += 1;
                continue;
            }
            (Within::Quotes(_), '\\') => {
                result.push(c);
                result.extend(chars.next());
                continue;
            }
            (Within::Quotes(end), c) if c == end => within = Within::Code,
            (Within::Code, '"' | '`') => within = Within::Quotes(c),
            // An apostrophe of a word begins no string, nor does the sign of a division a pattern.
            (Within::Code, '\'') if !last.is_some_and(char::is_alphanumeric) => {
                within = Within::Quotes(c);
            }
            (Within::Code, '/') if last.is_some_and(|last| "(=,:[ ".contains(last)) => {
                let rest: String = chars.clone().take_while(|c| *c != '\n').collect();
                if rest.contains('/') && !rest.starts_with(['/', '*', ' ']) {
                    within = Within::Quotes('/');
                }
            }
            _ => {}
        }
        result.push(c);
    }
    (result, found, within == Within::Code)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_replacement_that_alone_is_escaped_is_read_or_asked_about() {
        let means = |text: &str| Some(OverEscaped::Means(text.to_owned()));
        for (search, replace, read) in [
            ("\tprint(1)", "\\tprint(2)", means("\tprint(2)")),
            ("\ta()\n\tb()\n", "\\ta()\\n\\tc()\n", means("\ta()\n\tc()\n")),
            ("a()\nb()\n", "a()\\nc()\n", means("a()\nc()\n")),
            ("a(1)\nb()", "a(1)\\nc(\"x\\ny\")", means("a(1)\nc(\"x\\ny\")")),
            ("a(1)\nb()", "a(1)\\nc(\\\"x\\\")", means("a(1)\nc(\"x\")")),
            ("a()\nb()\n", "x;\\ny;\n", Some(OverEscaped::Unclear)),
            ("x = 1\ny = 2", "x = 3\\ny = 4", means("x = 3\ny = 4")),
            ("one\ntwo", "three\\nfour", None),
            ("a()\nb()\n", "x = \"a\\nb\"\n", None),
            ("a()\nb()\n", "x = 'it\\'s\\n'\n", None),
            ("a()\nb()\n", "x = s.split(/\\n/)\n", None),
            ("a()\nb()\n", "x = 1\n", None),
            ("a()\n", "x\\ny\n", None),
            ("\ta()\n", "\tb()\\t\n", None),
            ("a\tb\n", "x = \"\\t\"\n", None),
            ("if a\n\tb\n", "don't\\n\\tb\n", means("don't\n\tb\n")),
        ] {
            assert_eq!(over_escaped(search, replace), read, "{search:?} {replace:?}");
        }
    }
}
