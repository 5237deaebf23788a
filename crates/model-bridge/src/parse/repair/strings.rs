//! Strings as models write them: where one ends is recognized by what follows.

use super::escapes::Backslashes;
use super::reader::Repairer;
use super::signs::{is_quote, skip_blanks};
use crate::diagnostic::RepairKind;

/// How far a key is looked for after a string, in bytes.
const KEY_BYTES_MAX: usize = 96;
/// How far what follows a quote is looked for, in bytes: whoever looks at the rest of a text from
/// every quote in it needs for ever.
const AHEAD_BYTES_MAX: usize = 1024;
/// What is open in a string that ends further than it seems: where that is JSON, it has keys.
#[derive(Default)]
struct TextInside {
    /// How many more braces opened than closed.
    braces: usize,
    /// Whether a quote opened and did not close.
    is_quoted: bool,
    /// Whether a key of it was taken for text.
    has_keys: bool,
}

/// What closes a bracket.
const CLOSERS: [char; 4] = ['}', '｝', ']', '］'];

impl Repairer<'_, '_> {
    /// Reads a string that begins here with `quote`, and writes it.
    pub(super) fn string(&mut self, quote: char, is_key: bool) -> Option<()> {
        match quote {
            '"' => {}
            '\'' => drop(self.changes.insert(RepairKind::SingleQuotes)),
            _ => drop(self.changes.insert(RepairKind::Quotes)),
        }
        self.bump();
        let rest = &self.text[self.at..];
        let backslashes = Backslashes::of(rest, |c| closes(quote, c));
        if backslashes == Backslashes::Path && rest.starts_with("\\\\") {
            // Two of a server's name, not one that is escaped.
            self.at += 2;
            self.changes.insert(RepairKind::BadEscape);
            self.out.push_str("\"\\\\\\\\");
        } else {
            self.out.push('"');
        }
        let mut inside = TextInside::default();
        loop {
            let c = self.bump()?;
            inside.pass(c);
            match c {
                '\\' => self.backslash(backslashes)?,
                c if closes(quote, c) => {
                    if self.ends(quote, is_key) {
                        self.out.push('"');
                        return inside.is_whole().then_some(());
                    }
                    if self.is_slip() || self.ends_call() || self.is_before_key(&mut inside) {
                        return None;
                    }
                    inside.is_quoted = !inside.is_quoted;
                    self.changes.insert(RepairKind::InnerQuotes);
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

    fn backslash(&mut self, backslashes: Backslashes) -> Option<()> {
        match (backslashes, self.peek()?) {
            (Backslashes::Path, '\\') | (Backslashes::Escapes, _) => self.escape(),
            (Backslashes::Path, _) | (Backslashes::Pattern, 'b' | 'f') => {
                self.literal_backslash();
                Some(())
            }
            (Backslashes::Pattern, _) => self.escape(),
        }
    }

    fn control(&mut self, escape: &str) {
        self.changes.insert(RepairKind::RawControl);
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
                self.changes.insert(RepairKind::BadEscape);
                self.bump();
                self.out.push('\'');
            }
            _ => self.literal_backslash(),
        }
        Some(())
    }

    fn literal_backslash(&mut self) {
        self.changes.insert(RepairKind::BadEscape);
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
        self.changes.insert(RepairKind::LoneSurrogate);
        self.out.push_str("\\ufffd");
    }

    /// Whether the quote before this position ends the string: what follows continues with the
    /// JSON, and could not stand in the string as well.
    fn ends(&self, quote: char, is_key: bool) -> bool {
        let text = &self.text[..self.text.floor_char_boundary(self.at + AHEAD_BYTES_MAX)];
        let (next, _) = skip_blanks(text, self.at, text.len());
        let Some(c) = text[next..].chars().next() else { return text.len() == self.text.len() };
        if is_key {
            return matches!(c, ':' | '：');
        }
        let in_object = self.stack.last().is_some_and(|open| open.is_object);
        match c {
            ',' | '，' => {
                let (after, _) = skip_blanks(text, next + c.len_utf8(), text.len());
                let goes_on =
                    if in_object { self.is_key_at(text, after) } else { is_value_at(text, after) };
                goes_on || (is_end(text, after) && self.closes_at(text, after, quote))
            }
            '}' | '｝' | ']' | '］' => self.closes_at(text, next, quote),
            _ if in_object => self.is_key_at(text, next),
            c => is_quote(c) && next > self.at,
        }
    }

    /// Whether what stands here closes brackets and continues as JSON.
    fn closes_at(&self, text: &str, mut at: usize, quote: char) -> bool {
        let mut open = self.stack.len();
        while let Some(c) = text[at..].chars().next().filter(|c| CLOSERS.contains(c)) {
            open = open.saturating_sub(1);
            (at, _) = skip_blanks(text, at + c.len_utf8(), text.len());
        }
        let Some(c) = text[at..].chars().next() else { return text.len() == self.text.len() };
        if open > 0 {
            return matches!(c, ',' | '，' | '{' | '[') || any_key_at(text, at).is_some();
        }
        // All is closed. Where a quote is still to come, this one may be inside of the string.
        matches!(c, ',' | '，' | '{' | '[') || !text[at..].contains(|c| closes(quote, c))
    }

    /// Whether a quote inside of a string would make a whole call where it ended the string, and
    /// another bracket follows: whether that belongs to the string, nobody knows.
    fn ends_call(&self) -> bool {
        let text = &self.text[..self.text.floor_char_boundary(self.at + AHEAD_BYTES_MAX)];
        let Some(call) = self.stack.iter().position(|open| open.role.is_known()) else {
            return false;
        };
        let (mut at, _) = skip_blanks(text, self.at, text.len());
        let mut closed = 0;
        while let Some(c) = text[at..].chars().next().filter(|c| CLOSERS.contains(c)) {
            closed += 1;
            (at, _) = skip_blanks(text, at + c.len_utf8(), text.len());
        }
        let rest = &text[at..];
        closed >= self.stack.len() - call
            && !rest.starts_with(is_quote)
            && rest.contains(['{', '['])
    }

    /// Whether a key and a colon stand here that may stand in the innermost bracket.
    fn is_key_at(&self, text: &str, at: usize) -> bool {
        let Some(open) = self.stack.last() else { return false };
        any_key_at(text, at).is_some_and(|key| {
            let is_new = !open.seen.contains(key);
            is_new && self.keys.may_stand(open.role, key)
        })
    }

    /// Whether a key follows a quote inside of a string that the object has already, or does not
    /// have: the quote ended the string, or is one of the text, and nobody knows. Only where an
    /// object and a quote are open in the text, it is one of the text.
    fn is_before_key(&mut self, inside: &mut TextInside) -> bool {
        let Some(open) = self.stack.last().filter(|open| open.is_object) else { return false };
        let text = &self.text[..self.text.floor_char_boundary(self.at + AHEAD_BYTES_MAX)];
        let (mut at, _) = skip_blanks(text, self.at, text.len());
        if let Some(c) = text[at..].chars().next().filter(|c| matches!(c, ',' | '，')) {
            (at, _) = skip_blanks(text, at + c.len_utf8(), text.len());
        }
        let Some(key) = any_key_at(text, at) else { return false };
        let is_twice = open.seen.contains(key);
        // A word with a colon is one of a text, as a rule.
        if !is_twice && !text[at..].starts_with(is_quote) {
            return false;
        }
        if inside.is_quoted && inside.braces > 0 {
            inside.has_keys = true;
            return false;
        }
        self.twice = is_twice.then(|| key.to_owned());
        true
    }

    /// Whether a quote inside of a string shows that the JSON continued there, with a slip: a key
    /// of the call follows, or another string. What it says is not guessed.
    fn is_slip(&self) -> bool {
        let text = &self.text[..self.text.floor_char_boundary(self.at + KEY_BYTES_MAX)];
        let rest = &text[self.at..];
        let after = rest.trim_start();
        let is_on_next_line = rest[..rest.len() - after.len()].contains('\n');
        if rest.starts_with("\"\"") || (is_on_next_line && after.starts_with(is_quote)) {
            return true;
        }
        if after.strip_prefix('+').is_some_and(|more| more.trim_start().starts_with(is_quote)) {
            return true;
        }
        let Some(open) = self.stack.last().filter(|open| open.role.is_known()) else {
            return false;
        };
        let noise = |c: char| c.is_whitespace() || is_quote(c) || ",，;；#()".contains(c);
        let word = rest.trim_start_matches(noise);
        // Two quotes are the end of this string and the beginning of the key: no slip.
        if rest[..rest.len() - word.len()].matches(is_quote).count() > 1 {
            return false;
        }
        let length = word.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(word.len());
        let (key, after) = word.split_at(length);
        let after = after.trim_start_matches(|c: char| c.is_whitespace() || is_quote(c));
        let is_key = !key.is_empty() && self.keys.may_stand(open.role, key);
        let follows = after.starts_with([':', '：', '=']) || word[length..].starts_with(['"', '”']);
        is_key && follows && !open.seen.contains(key)
    }
}

// === impl TextInside ===

impl TextInside {
    fn pass(&mut self, c: char) {
        match c {
            '{' => self.braces += 1,
            '}' => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
    }

    /// Whether what was taken for JSON in the text ends in it.
    fn is_whole(&self) -> bool {
        !self.has_keys || (self.braces == 0 && !self.is_quoted)
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

/// The key that stands here, with a colon after it.
fn any_key_at(text: &str, at: usize) -> Option<&str> {
    let rest = &text[at..];
    let rest = &rest[..rest.floor_char_boundary(KEY_BYTES_MAX)];
    let first = rest.chars().next()?;
    let (key, after) = if is_quote(first) {
        let inside = &rest[first.len_utf8()..];
        let (length, last) = inside.char_indices().find(|(_, c)| closes(first, *c))?;
        (&inside[..length], &inside[length + last.len_utf8()..])
    } else if first.is_alphabetic() || first == '_' {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        rest.split_at(rest.find(|c| !part(c)).unwrap_or(rest.len()))
    } else {
        return None;
    };
    after.trim_start().starts_with([':', '：']).then_some(key)
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
