//! The tolerant reader: what it reads it writes again as strict JSON.

use std::collections::{BTreeSet, HashSet};

use moss_schema::json::JsonFault;

use super::super::call_keys::NAME_KEYS;
use super::DEPTH_MAX;
use super::keys::{JsonRole, KnownKeys};
use super::signs::{is_quote, skip_blanks};
use crate::diagnostic::RepairKind;

/// Words that mean a value of JSON, and the value.
const LITERALS: &[(&str, &str)] = &[
    ("true", "true"),
    ("false", "false"),
    ("null", "null"),
    ("True", "true"),
    ("False", "false"),
    ("None", "null"),
    ("TRUE", "true"),
    ("FALSE", "false"),
    ("NULL", "null"),
    ("undefined", "null"),
];

/// What begins another frame: where one stands, a string did not end.
const FRAMES: &[&str] = &["\n```", "\n~~~", "[TOOL", "<tool_call>", "<file-edit"];

/// Reads a text and writes it again.
pub(super) struct Repairer<'t, 'c> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) out: String,
    pub(super) changes: &'c mut BTreeSet<RepairKind>,
    pub(super) stack: Vec<Bracket>,
    pub(super) keys: KnownKeys<'t>,
    closed: bool,
    /// The key that an object has twice, where that is seen.
    pub(super) twice: Option<String>,
    /// How many calls were read.
    calls: usize,
    /// Where the last comment of several lines may end.
    comments_end: usize,
}

/// An open bracket, and what may come next inside of it.
pub(super) struct Bracket {
    pub(super) is_object: bool,
    next: Expected,
    pub(super) role: JsonRole,
    /// The keys so far, where they are known.
    pub(super) seen: HashSet<String>,
    /// The key that was read last.
    key: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// A key or a value, or the end: nothing came yet.
    First,
    /// A key or a value; a comma was read and not yet written.
    AfterComma,
    Colon,
    Value,
    /// A comma or the end.
    Separator,
}

// === impl Repairer ===

impl<'t, 'c> Repairer<'t, 'c> {
    pub(super) fn new(
        text: &'t str,
        closed: bool,
        keys: KnownKeys<'t>,
        changes: &'c mut BTreeSet<RepairKind>,
    ) -> Self {
        let out = String::with_capacity(text.len() + 16);
        let comments_end = memchr::memmem::rfind(text.as_bytes(), b"*/").unwrap_or(0);
        Self {
            text,
            at: 0,
            out,
            changes,
            stack: Vec::new(),
            keys,
            closed,
            twice: None,
            calls: 0,
            comments_end,
        }
    }

    /// Makes strict JSON of the text, and says why that is not possible.
    pub(super) fn read(mut self) -> Result<String, JsonFault> {
        match self.values() {
            Some(()) => Ok(self.out),
            None => Err(self.twice.map_or(JsonFault::Malformed, JsonFault::Twice)),
        }
    }

    fn values(&mut self) -> Option<()> {
        let mut values = 0;
        loop {
            self.skip_blanks();
            match self.peek() {
                None => break,
                Some(',' | '，') if values > 0 => {
                    self.bump();
                }
                Some('{' | '｛' | '[' | '［') => {
                    if values > 0 {
                        self.out.push('\n');
                    }
                    self.value()?;
                    values += 1;
                }
                Some('}' | ']' | '｝' | '］') => {
                    self.changes.insert(RepairKind::ExtraBracket);
                    self.bump();
                }
                Some(_) => {
                    self.changes.insert(RepairKind::SurroundingText);
                    let rest = &self.text[self.at..];
                    let length = rest.find(['{', '｛', '[', '［']).unwrap_or(rest.len());
                    // The rest of a string, perhaps, that seemed to end before.
                    if rest[..length].contains(['"', '“', '”']) {
                        return None;
                    }
                    self.at += length;
                }
            }
        }
        // Where the end of a string was recognized by what follows, nothing else may be doubtful.
        let is_guessed = self.changes.contains(&RepairKind::InnerQuotes);
        let is_doubtful = FRAMES.iter().any(|mark| self.text.contains(mark))
            || names_of_calls(self.text) > self.calls
            || [RepairKind::SurroundingText, RepairKind::ExtraBracket, RepairKind::MissingBracket]
                .iter()
                .any(|change| self.changes.contains(change));
        (values > 0 && !(is_guessed && is_doubtful)).then_some(())
    }

    /// Reads a value that begins with a bracket.
    fn value(&mut self) -> Option<()> {
        self.open()?;
        while let Some(open) = self.stack.last() {
            let (is_object, next) = (open.is_object, open.next);
            self.skip_blanks();
            match self.peek() {
                Some(c) => self.step(is_object, next, c)?,
                None => self.end_early()?,
            }
        }
        Some(())
    }

    /// Puts in the brackets that are missing at the end, where somebody marked the end.
    fn end_early(&mut self) -> Option<()> {
        if !self.closed {
            return None;
        }
        while let Some(open) = self.stack.last() {
            if matches!(open.next, Expected::Colon | Expected::Value) {
                return None;
            }
            self.close();
        }
        self.changes.insert(RepairKind::MissingBracket);
        Some(())
    }

    fn step(&mut self, is_object: bool, next: Expected, c: char) -> Option<()> {
        let end = if is_object { ['}', '｝'] } else { [']', '］'] };
        if end.contains(&c) && !matches!(next, Expected::Colon | Expected::Value) {
            self.note_full_width(c);
            self.bump();
            self.close();
            return Some(());
        }
        // Between values something may be missing.
        if next == Expected::AfterComma && matches!(c, ',' | '，') {
            let is_comma = |c: char| matches!(c, ',' | '，') || c.is_whitespace();
            let rest = self.text[self.at..].trim_start_matches(is_comma);
            if rest.starts_with(end) {
                // All at once: whoever looks behind each of many needs for ever.
                self.at = self.text.len() - rest.len();
                self.changes.insert(RepairKind::TrailingComma);
                return Some(());
            }
        }
        match next {
            Expected::Separator => self.separator(is_object, c),
            Expected::Colon => {
                if !matches!(c, ':' | '：') {
                    return None;
                }
                self.note_full_width(c);
                self.bump();
                self.out.push(':');
                self.set(Expected::Value);
                Some(())
            }
            Expected::First | Expected::AfterComma => {
                if next == Expected::AfterComma {
                    self.out.push(',');
                }
                if is_object { self.key(c) } else { self.item(c) }
            }
            Expected::Value => self.item(c),
        }
    }

    fn separator(&mut self, is_object: bool, c: char) -> Option<()> {
        match c {
            ',' | '，' => {
                self.note_full_width(c);
                self.bump();
                self.set(Expected::AfterComma);
            }
            // The end of what is around: this one's own is missing.
            '}' | ']' | '｝' | '］' => {
                let around = self.stack.len().checked_sub(2).map(|place| &self.stack[place])?;
                if around.is_object == is_object {
                    return None;
                }
                self.changes.insert(RepairKind::MissingBracket);
                self.close();
            }
            _ => {
                self.changes.insert(RepairKind::MissingComma);
                self.set(Expected::AfterComma);
            }
        }
        Some(())
    }

    fn key(&mut self, c: char) -> Option<()> {
        let begin = self.out.len() + 1;
        if is_quote(c) {
            self.string(c, true)?;
        } else if c.is_alphabetic() || c == '_' || c == '$' {
            let rest = &self.text[self.at..];
            let key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
            let length = rest.find(|c| !key(c)).unwrap_or(rest.len());
            self.changes.insert(RepairKind::BareKey);
            self.out.push('"');
            self.out.push_str(&rest[..length]);
            self.out.push('"');
            self.at += length;
        } else {
            return None;
        }
        let key = self.out[begin..self.out.len() - 1].to_owned();
        let open = self.stack.last_mut()?;
        if open.role.is_known() && !open.seen.insert(key.clone()) {
            self.twice = Some(key);
            return None;
        }
        open.key = key;
        open.next = Expected::Colon;
        Some(())
    }

    fn item(&mut self, c: char) -> Option<()> {
        self.set(Expected::Separator);
        match c {
            '{' | '｛' | '[' | '［' => self.open(),
            c if is_quote(c) => {
                let begin = self.out.len() + 1;
                self.string(c, false)?;
                let names = |open: &Bracket| open.role == JsonRole::Call && is_name_key(&open.key);
                if self.stack.last().is_some_and(names) {
                    self.keys.named(&self.out[begin..self.out.len() - 1]);
                }
                Some(())
            }
            '-' | '0'..='9' => self.number(),
            _ => self.literal(),
        }
    }

    fn number(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let part = |c: char| matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E');
        let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
        self.out.push_str(&rest[..length]);
        self.at += length;
        Some(())
    }

    fn literal(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (word, value) = LITERALS.iter().find(|(word, _)| *word == &rest[..length])?;
        if word != value {
            self.changes.insert(RepairKind::Literal);
        }
        self.out.push_str(value);
        self.at += length;
        Some(())
    }

    fn open(&mut self) -> Option<()> {
        if self.stack.len() == DEPTH_MAX {
            return None;
        }
        let c = self.bump()?;
        self.note_full_width(c);
        let is_object = matches!(c, '{' | '｛');
        self.out.push(if is_object { '{' } else { '[' });
        let role = match self.stack.last() {
            Some(around) => around.role.inside(&around.key, is_object),
            None => self.keys.outermost(is_object),
        };
        self.calls += usize::from(role == JsonRole::Call);
        let (seen, key) = (HashSet::new(), String::new());
        self.stack.push(Bracket { is_object, next: Expected::First, role, seen, key });
        Some(())
    }

    fn close(&mut self) {
        let Some(open) = self.stack.pop() else { return };
        if open.next == Expected::AfterComma {
            self.changes.insert(RepairKind::TrailingComma);
        }
        self.out.push(if open.is_object { '}' } else { ']' });
    }

    fn set(&mut self, next: Expected) {
        if let Some(open) = self.stack.last_mut() {
            open.next = next;
        }
    }

    fn note_full_width(&mut self, c: char) {
        if !c.is_ascii() {
            self.changes.insert(RepairKind::FullWidth);
        }
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) {
        let (at, commented) = skip_blanks(self.text, self.at, self.comments_end);
        self.at = at;
        if commented {
            self.changes.insert(RepairKind::Comment);
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }
}

/// How many objects of a text, also in what may be its strings, begin with the name of a tool.
fn names_of_calls(text: &str) -> usize {
    let begins = |place: usize| {
        let rest = text[place + 1..].trim_start();
        let key = rest.strip_prefix(is_quote).unwrap_or(rest);
        let mut after = NAME_KEYS.iter().filter_map(|name| key.strip_prefix(*name));
        after.any(|rest| rest.trim_start_matches(is_quote).trim_start().starts_with([':', '：']))
    };
    memchr::memchr_iter(b'{', text.as_bytes()).filter(|place| begins(*place)).count()
}

fn is_name_key(key: &str) -> bool {
    NAME_KEYS.contains(&key)
}
