//! A string among the arguments while it is being written, and the escapes in it.

use super::{JsonWatcher, Lex};

/// A string among the arguments that is being written.
#[derive(Debug, PartialEq)]
pub(in crate::parse) struct PendingString {
    /// Its key, as written.
    pub(in crate::parse) key: String,
    /// What it says so far.
    pub(in crate::parse) text: String,
    /// The first half of a pair of escapes.
    high: Option<u16>,
}

// === impl JsonWatcher ===

impl JsonWatcher {
    pub(super) fn escape(&mut self, is_key: bool, byte: u8) {
        self.at += 1;
        let c = match byte {
            b'u' => {
                self.lex = Lex::Unicode(is_key, 4, 0);
                return;
            }
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            _ => {
                self.is_strict = false;
                return;
            }
        };
        self.lex = Lex::String(is_key);
        if let Some(pending) = &mut self.pending {
            pending.unpaired();
            pending.text.push(c);
        }
    }

    pub(super) fn unicode(&mut self, is_key: bool, left: u8, unit: u16, byte: u8) {
        let Some(digit) = char::from(byte).to_digit(16) else {
            self.is_strict = false;
            return;
        };
        self.at += 1;
        let unit = unit << 4 | u16::try_from(digit).unwrap_or(0);
        if left > 1 {
            self.lex = Lex::Unicode(is_key, left - 1, unit);
            return;
        }
        self.lex = Lex::String(is_key);
        if let Some(pending) = &mut self.pending {
            self.is_strict &= pending.unit(unit);
        }
    }
}

// === impl PendingString ===

impl PendingString {
    pub(super) fn new(key: String) -> Self {
        Self { key, text: String::new(), high: None }
    }

    /// Takes `\uXXXX`. Returns whether it can be part of a string.
    fn unit(&mut self, unit: u16) -> bool {
        match (self.high.take(), unit) {
            (None, 0xd800..0xdc00) => {
                self.high = Some(unit);
                true
            }
            (Some(high), 0xdc00..0xe000) => {
                self.text.extend(char::decode_utf16([high, unit]).flatten());
                true
            }
            (None, unit) => match char::from_u32(u32::from(unit)) {
                Some(c) => {
                    self.text.push(c);
                    true
                }
                None => false,
            },
            (Some(_), _) => false,
        }
    }

    /// Something came that is not the second half of a pair. What has half of one is refused when
    /// the string ends: nothing of it is said meanwhile.
    pub(super) fn unpaired(&mut self) {
        if self.high.take().is_some() {
            self.text.push('\u{fffd}');
        }
    }
}
