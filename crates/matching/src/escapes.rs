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
    /// It means the character: this is the replacement with it.
    Means(String),
    /// It may mean that, or what it says.
    Unclear,
}

/// A location in a line of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Code,
    /// A comment, up to the end of the line.
    Comment,
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

/// Reads a replacement that alone is escaped: it has `\t` or `\n` where code has no escapes, and not
/// the characters themselves, though the search has tabs or several lines, or is one of its lines.
/// Escapes in a string stay.
pub(super) fn over_escaped(search: &str, replace: &str) -> Option<OverEscaped> {
    if !replace.contains('\\') || replace.trim_end_matches('\n').contains('\n') {
        return None;
    }
    let has_lines = search.trim_matches('\n').contains('\n');
    let tabs = search.contains('\t') && !replace.contains('\t');
    let meant = |c: char| c == 'n' || (c == 't' && tabs);
    let outside = unescaped_outside(replace, meant, Comments::AreOver);
    // A search that is escaped as well is looked for without its escapes, and they with it.
    let is_escaped = |text: &str| text.contains("\\\"") && !text.replace("\\\"", "").contains('"');
    let in_search = unescaped_outside(search, meant, Comments::AreOver).found;
    if outside.found == 0 || in_search > 0 || is_escaped(search) {
        return None;
    }
    if is_escaped(replace) {
        return unescaped(replace, Escapes::All).map(OverEscaped::Means);
    }
    let is_code = |line: &str| {
        line.starts_with([' ', '\t']) || line.ends_with([';', '{', '}', ':', ')', '(', ',', ']'])
    };
    let known: Vec<&str> = search.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_known = |line: &str| known.iter().any(|known| dice(known, line) >= SAME_LINE_MIN);
    let has_known = outside.text.lines().any(|line| is_known(line.trim()));
    let begins_lines = tabs && replace.starts_with("\\t");
    let has_code = outside.text.lines().any(|line| is_code(line.trim_end()));
    // What looked like strings was between them: indentation follows no escape in a string.
    let is_closed = outside.is_closed && !outside.text.contains("\\n  ");
    match (is_closed && (has_known || begins_lines), has_lines || has_known) {
        (true, true) => {
            let all = unescaped_outside(replace, meant, Comments::EndThere);
            Some(OverEscaped::Means(all.text))
        }
        (true, false) => Some(OverEscaped::Means(outside.text)),
        (false, true) if has_code => Some(OverEscaped::Unclear),
        (false, _) => None,
    }
}

/// What becomes of an escape sequence in a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comments {
    /// It stays as it is.
    AreOver,
    /// A line end ends the comment.
    EndThere,
}

/// A text without some of its escape sequences.
struct Outside {
    text: String,
    /// How many were undone.
    found: usize,
    /// Whether each string has an end.
    is_closed: bool,
}

/// Undoes escape sequences outside of strings and patterns.
fn unescaped_outside(text: &str, meant: impl Fn(char) -> bool, comments: Comments) -> Outside {
    let mut result = String::with_capacity(text.len());
    let mut within = Within::Code;
    let mut found = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let last = result.chars().next_back();
        let is_open =
            within == Within::Code || (within == Within::Comment && comments == Comments::EndThere);
        match (within, c) {
            (_, '\\') if is_open && chars.peek().is_some_and(|next| meant(*next)) => {
                let undone = if chars.next() == Some('t') { '\t' } else { '\n' };
                if undone == '\n' {
                    within = Within::Code;
                }
                result.push(undone);
                found += 1;
                continue;
            }
            (Within::Quotes(_), '\\') => {
                result.push(c);
                result.extend(chars.next());
                continue;
            }
            (Within::Comment, '\n') => within = Within::Code,
            (Within::Comment, _) => {}
            (Within::Quotes(end), c) if c == end => within = Within::Code,
            (Within::Code, '"' | '`') => within = Within::Quotes(c),
            // An apostrophe of a word begins no string.
            (Within::Code, '\'') if !ends_word(&result) => {
                within = Within::Quotes(c);
            }
            (Within::Code, '#') if last.is_none_or(char::is_whitespace) => within = Within::Comment,
            (Within::Code, '/') if chars.peek() == Some(&'/') => within = Within::Comment,
            // Nor does the sign of a division begin a pattern.
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
    Outside { text: result, found, is_closed: !matches!(within, Within::Quotes(_)) }
}

/// Whether a text ends with a word that is no mark of a string, as `r` is in Python.
fn ends_word(text: &str) -> bool {
    let rest = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    let word = &text[rest.len()..];
    let is_mark = word.len() <= 2 && word.chars().all(|c| "rbfuRBFU".contains(c));
    !is_mark
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
            ("    a(1)\n", "    a(2)\\n    a(3)\n", means("    a(2)\n    a(3)\n")),
            ("a = 1\n", "a = 2  # by \\n, not \\r\n", None),
            ("a = 1\n", "a = 2  # two\\nb = 3\\nc = 4\n", None),
            (
                "a = 1\nb = 2\n",
                "a = 2\\nb = 3  # by\\nc = 1\n",
                means("a = 2\nb = 3  # by\nc = 1\n"),
            ),
            ("a(1)\n", "a(r'\\s+')\\na(2)\n", means("a(r'\\s+')\na(2)\n")),
            ("a = 1\\nb = 2", "a = 1\\nb = 3", None),
            ("a(\\\"b\\\")", "if x:\\n    a(\\\"b\\\")", None),
            ("a\n\"\"\"\nb()\n", "a\n\"\"\"\\n  b()\\n\"\"\"c\\n", None),
            ("\ta()\n", "\tb()\\t\n", None),
            ("a\tb\n", "x = \"\\t\"\n", None),
            ("if a\n\tb\n", "don't\\n\\tb\n", means("don't\n\tb\n")),
        ] {
            assert_eq!(over_escaped(search, replace), read, "{search:?} {replace:?}");
        }
    }
}
