//! Looks at the JSON of a frame while it is written: whether it can still be a call, and how far its
//! arguments are known.
//!
//! Only strict JSON is followed. From the first byte that is not JSON nothing is said any more: the
//! whole frame is read at its end.

mod pending;

use serde_json::Value;

use super::call_keys::{ARGUMENT_KEYS, LIST_KEY, NAME_KEYS, OTHER_KEYS};
use super::repair::DEPTH_MAX;
use pending::PendingString;

/// What the JSON is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonShape {
    /// A call, a list of calls, or something else.
    Call,
    /// The arguments of a call.
    Arguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lex {
    /// A value must come.
    Value,
    /// A value or the end of a list must come.
    FirstItem,
    /// A key must come.
    Key,
    /// A key or the end of an object must come.
    FirstKey,
    Colon,
    /// A comma or an end must come.
    Separator,
    /// A string: whether it is a key.
    String(bool),
    Escape(bool),
    /// Digits of `\uXXXX` that are still to come, and those there are.
    Unicode(bool, u8, u16),
    /// A number or a word.
    Word,
}

/// Follows JSON as it is written.
#[derive(Debug)]
pub(super) struct JsonWatcher {
    shape: JsonShape,
    /// How far it looked, from the beginning of the JSON.
    at: usize,
    lex: Lex,
    stack: Vec<u8>,
    /// Where the key or the value that is being read begins.
    begin: usize,
    is_strict: bool,
    is_done: bool,
    is_viable: bool,
    /// The key of the outermost object that is being read.
    key: String,
    /// The name of the tool, as written.
    name: Option<String>,
    /// Whether the arguments are being read, or were.
    arguments_seen: bool,
    in_arguments: bool,
    /// The key of the argument that is being read, and where its value begins.
    argument: String,
    argument_begin: usize,
    entries: Vec<(String, Value)>,
    pending: Option<PendingString>,
}

// === impl JsonWatcher ===

impl JsonWatcher {
    pub(super) fn new(shape: JsonShape) -> Self {
        Self {
            shape,
            at: 0,
            lex: Lex::Value,
            stack: Vec::new(),
            begin: 0,
            is_strict: true,
            is_done: false,
            is_viable: true,
            key: String::new(),
            name: None,
            arguments_seen: false,
            in_arguments: false,
            argument: String::new(),
            argument_begin: 0,
            entries: Vec::new(),
            pending: None,
        }
    }

    /// Whether it can still be nothing but calls, judged by keys.
    pub(super) fn is_viable(&self) -> bool {
        self.is_viable
    }

    /// Whether all so far is strict JSON.
    pub(super) fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// The name of the tool, as written.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether there are arguments.
    pub(super) fn has_arguments(&self) -> bool {
        self.arguments_seen
    }

    /// The arguments that are whole, in the order in which they were written, their keys as written.
    pub(super) fn entries(&self) -> &[(String, Value)] {
        &self.entries
    }

    /// The string among the arguments that is being written.
    pub(super) fn pending(&self) -> Option<&PendingString> {
        self.pending.as_ref()
    }

    /// Looks at what came: `text` is the JSON from its beginning. Stops early, to be called again,
    /// where something is decided: the name is known, it can be no call, or `until` bytes of a
    /// pending string are known. What is done then does not depend on what comes after.
    /// Returns whether it is the last of these.
    pub(super) fn look(&mut self, text: &str, until: usize) -> bool {
        let bytes = text.as_bytes();
        let was = (self.name.is_some(), self.is_viable);
        while self.at < bytes.len() && self.is_strict && !self.is_done {
            let before = self.pending_bytes();
            match self.lex {
                Lex::String(is_key) => self.string(text, is_key, until),
                _ => self.byte(text, bytes[self.at]),
            }
            if before < until && self.pending_bytes() >= until {
                return true;
            }
            if (self.name.is_some(), self.is_viable) != was {
                break;
            }
        }
        false
    }

    /// Whether it looked at all there is, as far as it looks.
    pub(super) fn is_behind(&self, text: &str) -> bool {
        self.at < text.len() && self.is_strict && !self.is_done
    }

    /// Whether it reads something after the first value: what comes later is read at the end.
    pub(super) fn is_late(&self) -> bool {
        self.is_done || !self.is_strict || self.stack.first() != Some(&b'{')
    }

    fn pending_bytes(&self) -> usize {
        self.pending.as_ref().map_or(0, |pending| pending.text.len())
    }

    /// Takes the inside of a string, up to what needs a closer look.
    fn string(&mut self, text: &str, is_key: bool, until: usize) {
        let rest = &text.as_bytes()[self.at..];
        // As little as decides something, so that pieces do not matter.
        let room = until.saturating_sub(self.pending_bytes());
        let plain = |byte: &u8| *byte != b'"' && *byte != b'\\' && *byte >= b' ';
        let mut length = rest.iter().take_while(|byte| plain(byte)).count();
        if self.pending.is_some() && room > 0 && length > room {
            length = text[self.at..].ceil_char_boundary(room);
        }
        if let Some(pending) = self.pending.as_mut().filter(|_| length > 0) {
            pending.unpaired();
            pending.text.push_str(&text[self.at..self.at + length]);
        }
        self.at += length;
        if self.pending.is_some() && room > 0 && length >= room {
            return;
        }
        match rest.get(length) {
            None => {}
            Some(b'\\') => {
                self.at += 1;
                self.lex = Lex::Escape(is_key);
            }
            Some(b'"') => {
                self.at += 1;
                self.string_ends(text, is_key);
            }
            // A control character: no JSON.
            Some(_) => self.is_strict = false,
        }
    }

    fn byte(&mut self, text: &str, byte: u8) {
        match self.lex {
            Lex::Escape(is_key) => return self.escape(is_key, byte),
            Lex::Unicode(is_key, left, unit) => return self.unicode(is_key, left, unit, byte),
            Lex::Word => {
                if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.') {
                    self.at += 1;
                } else {
                    // Looked at again as what comes after.
                    self.lex = Lex::Separator;
                    self.value_ends(text);
                }
                return;
            }
            _ => {}
        }
        if matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
            return;
        }
        match (self.lex, byte) {
            (Lex::Value | Lex::FirstItem, b'{' | b'[') => self.open(byte),
            (Lex::Value | Lex::FirstItem, b'"') if !self.stack.is_empty() => {
                self.scalar_begins();
                self.begin_string(false);
                if self.is_argument() {
                    let key = self.argument.clone();
                    self.pending = Some(PendingString::new(key));
                }
            }
            (Lex::Value | Lex::FirstItem, b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
                if !self.stack.is_empty() =>
            {
                self.scalar_begins();
                self.lex = Lex::Word;
                self.at += 1;
            }
            (Lex::FirstItem, b']') | (Lex::FirstKey, b'}') => self.close(text, byte),
            (Lex::Key | Lex::FirstKey, b'"') => self.begin_string(true),
            (Lex::Colon, b':') => {
                self.lex = Lex::Value;
                self.at += 1;
            }
            (Lex::Separator, b',') => {
                self.lex = if self.stack.last() == Some(&b'{') { Lex::Key } else { Lex::Value };
                self.at += 1;
            }
            (Lex::Separator, b'}' | b']') => self.close(text, byte),
            _ => {
                // What does not even begin as JSON is no call.
                self.is_viable &= !self.stack.is_empty();
                self.is_strict = false;
            }
        }
    }

    fn begin_string(&mut self, is_key: bool) {
        self.at += 1;
        self.begin = self.at;
        self.lex = Lex::String(is_key);
    }

    fn open(&mut self, byte: u8) {
        self.value_begins();
        if self.stack.len() == DEPTH_MAX {
            self.is_strict = false;
            return;
        }
        let level = self.stack.len();
        if level == 1 && self.stack[0] == b'[' && byte == b'[' {
            self.is_viable = false;
        }
        if level == 1 && self.stack[0] == b'{' && self.shape == JsonShape::Call && byte == b'{' {
            self.in_arguments = ARGUMENT_KEYS.contains(&self.key.as_str()) && !self.arguments_seen;
            self.arguments_seen |= self.in_arguments;
        }
        if level == 0 && self.shape == JsonShape::Arguments {
            self.in_arguments = true;
            self.arguments_seen = true;
        }
        self.stack.push(byte);
        self.lex = if byte == b'{' { Lex::FirstKey } else { Lex::FirstItem };
        self.at += 1;
    }

    fn close(&mut self, text: &str, byte: u8) {
        let open = if byte == b'}' { b'{' } else { b'[' };
        if self.stack.pop() != Some(open) {
            self.is_strict = false;
            return;
        }
        self.at += 1;
        self.lex = Lex::Separator;
        if self.in_arguments && self.stack.len() + 1 == self.arguments_level() {
            self.in_arguments = false;
        }
        if self.stack.is_empty() {
            self.is_done = true;
        } else {
            self.value_ends(text);
        }
    }

    /// The number of brackets around the keys of arguments.
    fn arguments_level(&self) -> usize {
        if self.shape == JsonShape::Arguments { 1 } else { 2 }
    }

    fn is_argument(&self) -> bool {
        self.in_arguments && self.stack.len() == self.arguments_level()
    }

    /// A value begins that is no object and no list: a list of calls has none.
    fn scalar_begins(&mut self) {
        self.is_viable &= self.stack != [b'['] || self.shape == JsonShape::Arguments;
        self.value_begins();
    }

    fn value_begins(&mut self) {
        if self.is_argument() {
            self.argument_begin = self.at;
        }
    }

    /// A value ended right before this position.
    fn value_ends(&mut self, text: &str) {
        if self.is_argument() {
            match serde_json::from_str(&text[self.argument_begin..self.at]) {
                Ok(value) => self.entries.push((std::mem::take(&mut self.argument), value)),
                Err(_) => self.is_strict = false,
            }
            self.pending = None;
        }
    }

    fn string_ends(&mut self, text: &str, is_key: bool) {
        if is_key {
            let Ok(key) = serde_json::from_str::<String>(&text[self.begin - 1..self.at]) else {
                self.is_strict = false;
                return;
            };
            self.key_ends(key);
            self.lex = Lex::Colon;
            return;
        }
        if self.stack.len() == 1 && self.shape == JsonShape::Call && self.stack[0] == b'{' {
            let names = NAME_KEYS.contains(&self.key.as_str());
            if names && self.name.is_none() {
                self.name = serde_json::from_str(&text[self.begin - 1..self.at]).ok();
            }
        }
        if let Some(pending) = &mut self.pending {
            pending.unpaired();
        }
        self.lex = Lex::Separator;
        self.value_ends(text);
    }

    fn key_ends(&mut self, key: String) {
        let level = self.stack.len();
        if self.is_argument() {
            self.pending = None;
            self.argument = key;
            return;
        }
        let of_call = level == 1 || (level == 2 && self.stack[0] == b'[');
        if of_call && self.shape == JsonShape::Call {
            let known = |keys: &[&str]| keys.contains(&key.as_str());
            self.is_viable &=
                known(NAME_KEYS) || known(ARGUMENT_KEYS) || known(OTHER_KEYS) || key == LIST_KEY;
        }
        if level == 1 {
            self.key = key;
        }
    }
}
