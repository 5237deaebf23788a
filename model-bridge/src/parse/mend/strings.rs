//! Strings as models write them: where one ends is told by what follows.

use super::reader::{Reader, is_quote, skip_blanks};
use crate::event::Change;

/// How far a key is looked for after a string, in bytes.
const KEY_BYTES_MAX: usize = 96;
/// How far what follows a quote is looked for, in bytes: whoever looks at the rest of a text from
/// every quote in it needs for ever.
const AHEAD_BYTES_MAX: usize = 1024;

impl Reader<'_, '_> {
    /// Reads a string that begins here with `quote`, and writes it.
    pub(super) fn string(&mut self, quote: char, is_key: bool, in_object: bool) -> Option<()> {
        match quote {
            '"' => {}
            '\'' => drop(self.changes.insert(Change::SingleQuotes)),
            _ => drop(self.changes.insert(Change::Quotes)),
        }
        self.bump();
        let literal_backslashes = is_windows_path(&self.text[self.at..]);
        self.out.push('"');
        loop {
            let c = self.bump()?;
            match c {
                '\\' if literal_backslashes => self.literal_backslash(),
                '\\' => self.escape()?,
                c if closes(quote, c) => {
                    if self.ends(is_key, in_object) {
                        self.out.push('"');
                        return Some(());
                    }
                    self.changes.insert(Change::InnerQuotes);
                    if c == '"' {
                        self.out.push('\\');
                    }
                    self.out.push(c);
                }
                '"' => self.out.push_str("\\\""),
                '\n' => self.control("\\n"),
                '\r' => self.control("\\r"),
                '\t' => self.control("\\t"),
                c if c < ' ' => self.control(&format!("\\u{:04x}", u32::from(c))),
                c => self.out.push(c),
            }
        }
    }

    fn control(&mut self, escape: &str) {
        self.changes.insert(Change::RawControl);
        self.out.push_str(escape);
    }

    /// Writes what a backslash escapes, or a backslash where it escapes nothing.
    fn escape(&mut self) -> Option<()> {
        let c = self.peek()?;
        match c {
            '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {
                self.bump();
                self.out.push('\\');
                self.out.push(c);
            }
            'u' => match hex(&self.text[self.at + 1..]) {
                Some(unit) => self.unicode(unit),
                None => self.literal_backslash(),
            },
            // A quote of another kind needs no escape in JSON.
            '\'' => {
                self.changes.insert(Change::BadEscape);
                self.bump();
                self.out.push('\'');
            }
            _ => self.literal_backslash(),
        }
        Some(())
    }

    fn literal_backslash(&mut self) {
        self.changes.insert(Change::BadEscape);
        self.out.push_str("\\\\");
    }

    /// Writes `\uXXXX`, with the second half of a pair where it is the first one.
    fn unicode(&mut self, unit: u16) {
        let escape = &self.text[self.at..self.at + 5];
        self.at += 5;
        let is_second = |unit: &u16| (0xdc00..0xe000).contains(unit);
        match unit {
            0xd800..0xdc00 => {
                let rest = &self.text[self.at..];
                if rest.strip_prefix("\\u").and_then(hex).filter(is_second).is_some() {
                    self.out.push('\\');
                    self.out.push_str(escape);
                    self.out.push_str(&rest[..6]);
                    self.at += 6;
                } else {
                    self.lone_surrogate();
                }
            }
            0xdc00..0xe000 => self.lone_surrogate(),
            _ => {
                self.out.push('\\');
                self.out.push_str(escape);
            }
        }
    }

    fn lone_surrogate(&mut self) {
        self.changes.insert(Change::LoneSurrogate);
        self.out.push_str("\\ufffd");
    }

    /// Whether the quote before this place ends the string.
    fn ends(&self, is_key: bool, in_object: bool) -> bool {
        let text = &self.text[..self.text.floor_char_boundary(self.at + AHEAD_BYTES_MAX)];
        let (next, _) = skip_blanks(text, self.at);
        let Some(c) = text[next..].chars().next() else { return text.len() == self.text.len() };
        if is_key {
            return matches!(c, ':' | '：');
        }
        let after = || skip_blanks(text, next + c.len_utf8()).0;
        match (c, in_object) {
            (',' | '，', true) => {
                let after = after();
                is_end(text, after) || is_key_at(text, after)
            }
            (',' | '，', false) => {
                let after = after();
                is_end(text, after) || is_value_at(text, after)
            }
            ('}' | '｝', true) | (']' | '］', false) => {
                let after = after();
                is_end(text, after)
                    || text[after..].starts_with([',', '，', '{', '['])
                    || is_key_at(text, after)
            }
            // The bracket of this one may be missing.
            (']' | '］', true) | ('}' | '｝', false) => is_end(text, after()),
            (_, true) => is_key_at(text, next),
            (c, false) => is_quote(c) && text[self.at..next].contains('\n'),
        }
    }
}

/// Whether a character may end a string that `quote` began.
fn closes(quote: char, c: char) -> bool {
    match quote {
        '"' => c == '"',
        '\'' => c == '\'',
        '‘' | '’' => matches!(c, '‘' | '’' | '\''),
        _ => matches!(c, '“' | '”' | '„' | '＂' | '"'),
    }
}

/// Whether nothing follows, or a closing bracket.
fn is_end(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_none_or(|c| matches!(c, '}' | ']' | '｝' | '］'))
}

/// Whether a key and a colon stand here.
fn is_key_at(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    let rest = &rest[..rest.floor_char_boundary(KEY_BYTES_MAX)];
    let Some(first) = rest.chars().next() else { return false };
    let end = if is_quote(first) {
        let inside = &rest[first.len_utf8()..];
        let Some((length, last)) = inside.char_indices().find(|(_, c)| closes(first, *c)) else {
            return false;
        };
        first.len_utf8() + length + last.len_utf8()
    } else if first.is_alphabetic() || first == '_' {
        rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(rest.len())
    } else {
        return false;
    };
    rest[end..].trim_start().starts_with([':', '：'])
}

fn is_value_at(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_some_and(|c| {
        is_quote(c) || matches!(c, '{' | '[' | '｛' | '［' | '-' | '0'..='9' | 't' | 'f' | 'n')
    })
}

/// The UTF-16 unit of four hexadecimal digits.
fn hex(text: &str) -> Option<u16> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

/// Whether a path of Windows stands here whose backslashes are meant: none of them is doubled, and
/// one of them escapes nothing.
fn is_windows_path(text: &str) -> bool {
    let mut chars = text.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    if !drive || chars.next() != Some(':') || chars.next() != Some('\\') {
        return false;
    }
    let path = text.split(['"', '\n', '”', '\'']).next().unwrap_or(text);
    let mut lone = false;
    let mut rest = path;
    while let Some(place) = rest.find('\\') {
        rest = &rest[place + 1..];
        match rest.chars().next() {
            Some('\\') => return false,
            Some('b' | 'f' | 'n' | 'r' | 't' | 'u' | '/') | None => {}
            Some(_) => lone = true,
        }
    }
    lone
}
