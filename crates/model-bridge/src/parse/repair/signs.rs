//! Signs of JSON as models write it: quotes, and what stands between values and means nothing.

/// Whether a character may begin a string.
pub(in crate::parse) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '＂' | '\'' | '‘' | '’')
}

/// The position after white space and comments, and whether there was a comment.
///
/// No comment of several lines ends after `comments_end`: whoever looks for its end from every `/*`
/// needs for ever.
pub(super) fn skip_blanks(text: &str, mut at: usize, comments_end: usize) -> (usize, bool) {
    let mut commented = false;
    loop {
        let rest = &text[at..];
        let blank = rest.find(|c: char| !c.is_whitespace() && c != '\u{feff}');
        at += blank.unwrap_or(rest.len());
        let rest = &text[at..];
        let begins_line = || text[..at].trim_end_matches([' ', '\t']).ends_with('\n');
        let length = if rest.starts_with("//") || (rest.starts_with('#') && begins_line()) {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*").filter(|_| at < comments_end) {
            match inside.find("*/") {
                Some(end) => end + 4,
                None => return (at, commented),
            }
        } else {
            return (at, commented);
        };
        commented = true;
        at += length;
    }
}
