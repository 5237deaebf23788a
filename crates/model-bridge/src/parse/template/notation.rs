//! Calls that are neither JSON nor tags: lists of calls as Python has them, and the braces of Gemma.

mod gemma;
mod python;
mod text;

use serde_json::{Map, Value};

use super::super::calls::Inside;
use super::super::end::FrameEnd;
use super::super::mark::{Not, after};
use super::super::repair::DEPTH_MAX;
use super::Template;
use crate::diagnostic::{DiagnosticCode, RepairKind, ReplyDiagnostic};
use crate::registry::Registry;
pub(super) use python::first_name;

/// How a call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// `[tool(key="value"), other()]`, or the same without brackets.
    Python,
    /// `{key:value}`, with a mark on both sides of a text.
    Gemma { quote: &'static str },
}

/// What was read, or why it is no call, for the message.
type NotationResult<T> = Result<T, &'static str>;

/// The name of a tool, and the arguments.
type NamedArguments = (String, Map<String, Value>);

/// Said where brackets do not fit, or something stands where nothing can.
const NO_CALL: &str = "what stands inside is no call with values that are written out";
/// Said where more follows a list of calls that has no mark.
const NOT_ALONE: &str = "a list of calls is one only where its line has nothing else";

/// Said where backslashes may be meant as they are.
const ESCAPES: &str =
    "backslashes in texts escape, as in Python; the model may mean them as they are";

/// Follows calls as they come, to their end.
#[derive(Debug, Default)]
pub(in crate::parse) struct CallScanner {
    at: usize,
    /// The brackets that are open, the innermost last.
    stack: Vec<u8>,
    string: Option<Quoted>,
    /// Where the last bracket closed that was open.
    whole: Option<usize>,
    /// Why it is no call.
    broken: Option<&'static str>,
}

/// A text that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    /// Up to so many of a quote.
    Python { quote: u8, is_long: bool },
    /// Up to its mark.
    Gemma(&'static str),
}

// === impl Notation ===

impl Notation {
    /// Whether calls begin here.
    pub(super) fn begins(self, text: &str) -> Result<(), Not> {
        match self {
            Self::Python => first_name(text).map(drop),
            Self::Gemma { .. } if text.starts_with('{') => Ok(()),
            Self::Gemma { .. } => Err(Not::Here),
        }
    }

    /// Whether a character may stand outside of texts and brackets.
    fn takes(self, c: char) -> bool {
        match self {
            Self::Python => c.is_alphanumeric() || c.is_whitespace() || "_.,=:+-".contains(c),
            Self::Gemma { .. } => !c.is_control() || c.is_whitespace(),
        }
    }

    /// The calls of a text, and what was changed to read them. `name` is the tool where a mark says it.
    fn calls(
        self,
        name: Option<&str>,
        text: &str,
    ) -> NotationResult<(Vec<NamedArguments>, Vec<RepairKind>)> {
        match (self, name) {
            (Self::Gemma { quote }, Some(name)) => {
                let (arguments, changes) = gemma::arguments(text, quote)?;
                Ok((vec![(name.to_owned(), arguments)], changes))
            }
            _ => Ok((python::calls(text)?, Vec::new())),
        }
    }
}

// === impl CallScanner ===

impl CallScanner {
    /// Looks for the end. `body` is the inside so far, and what follows it.
    pub(in crate::parse) fn end(
        &mut self,
        template: &Template,
        body: &str,
        is_last: bool,
    ) -> Option<FrameEnd> {
        let notation = template.notation?;
        while self.at < body.len() {
            let step = match self.string {
                Some(quoted) => self.inside(quoted, template, body, is_last),
                None if self.stack.is_empty() => {
                    match self.between(template, notation, body, is_last) {
                        Ok(Some(end)) => return Some(end),
                        Ok(None) => Ok(()),
                        Err(not) => Err(not),
                    }
                }
                None => self.outside(notation, body, is_last),
            };
            match step {
                Ok(()) => {}
                Err(Not::Yet) => return None,
                Err(Not::Here) => {
                    self.broken.get_or_insert(NO_CALL);
                    return Some(FrameEnd { body: self.at, frame: self.at, closed: false });
                }
            }
        }
        None
    }

    /// Where it ends when the reply does, if it is whole.
    pub(in crate::parse) fn last_end(&self, template: &Template) -> Option<FrameEnd> {
        let is_whole = self.stack.is_empty() && self.string.is_none();
        let place = self.whole.filter(|_| is_whole)?;
        Some(FrameEnd { body: place, frame: place, closed: template.end.is_empty() })
    }

    /// Looks at a position where no bracket is open: the end of the call, or another one.
    fn between(
        &mut self,
        template: &Template,
        notation: Notation,
        body: &str,
        is_last: bool,
    ) -> Result<Option<FrameEnd>, Not> {
        let rest = &body[self.at..];
        let c = rest.chars().next().ok_or(Not::Yet)?;
        if let (Some(place), true, '\n') = (self.whole, template.end.is_empty(), c) {
            return Ok(Some(FrameEnd { body: place, frame: place, closed: true }));
        }
        if c.is_whitespace() {
            self.at += c.len_utf8();
            return Ok(None);
        }
        if !template.end.is_empty() {
            match after(rest, template.end) {
                Ok(_) => {
                    let frame = self.at + template.end.len();
                    return Ok(Some(FrameEnd { body: self.at, frame, closed: true }));
                }
                Err(Not::Yet) if !is_last => return Err(Not::Yet),
                Err(_) => {}
            }
        }
        let is_one = notation != Notation::Python || body.starts_with('[');
        match self.whole.filter(|_| is_one || !(c == ',' || python::begins_name(c) || c == '(')) {
            Some(_) if template.end.is_empty() => {
                self.broken = Some(NOT_ALONE);
                Err(Not::Here)
            }
            Some(place) => Ok(Some(FrameEnd { body: place, frame: place, closed: false })),
            None => self.outside(notation, body, is_last).map(|()| None),
        }
    }

    /// Continues with what is no text.
    fn outside(&mut self, notation: Notation, body: &str, is_last: bool) -> Result<(), Not> {
        let rest = &body[self.at..];
        let c = rest.chars().next().ok_or(Not::Yet)?;
        if let Some((quoted, length)) = begins_text(notation, rest, is_last)? {
            self.string = Some(quoted);
            self.at += length;
            return Ok(());
        }
        match (c, u8::try_from(c)) {
            ('(' | '[' | '{', Ok(open)) if self.stack.len() < DEPTH_MAX => self.stack.push(open),
            (')' | ']' | '}', Ok(close)) if self.stack.last() == Some(&opposite(close)) => {
                self.stack.pop();
                if self.stack.is_empty() {
                    self.whole = Some(self.at + 1);
                }
            }
            _ if "()[]{}<".contains(c) || !notation.takes(c) => return Err(Not::Here),
            _ => {}
        }
        self.at += c.len_utf8();
        Ok(())
    }

    /// Continues with a text.
    fn inside(
        &mut self,
        quoted: Quoted,
        template: &Template,
        body: &str,
        is_last: bool,
    ) -> Result<(), Not> {
        let rest = &body.as_bytes()[self.at..];
        let Quoted::Python { quote, is_long } = quoted else {
            let Quoted::Gemma(mark) = quoted else { return Err(Not::Here) };
            return self.up_to_mark(mark, body);
        };
        let Some(length) = memchr::memchr3(quote, b'\\', b'\n', rest) else {
            self.at = body.len();
            return Err(Not::Yet);
        };
        let found = &rest[length..];
        let long = [quote; 3];
        match found[0] {
            // In code such a text does not go over the end of its line.
            b'\n' if template.is_weak && !is_long => {
                self.at += length;
                return Err(Not::Here);
            }
            b'\\' if found.len() == 1 => {
                self.at += length;
                return Err(Not::Yet);
            }
            b'\\' => {
                let next = body[self.at + length + 1..].chars().next();
                self.at += length + 1 + next.map_or(0, char::len_utf8);
            }
            b'\n' => self.at += length + 1,
            _ if !is_long => {
                self.at += length + 1;
                self.string = None;
            }
            _ if found.starts_with(&long) => {
                self.at += length + long.len();
                self.string = None;
            }
            _ if long.starts_with(found) && !is_last => {
                self.at += length;
                return Err(Not::Yet);
            }
            _ => self.at += length + 1,
        }
        Ok(())
    }

    /// Continues to the mark that ends a text.
    fn up_to_mark(&mut self, mark: &str, body: &str) -> Result<(), Not> {
        match memchr::memmem::find(&body.as_bytes()[self.at..], mark.as_bytes()) {
            Some(length) => {
                self.at += length + mark.len();
                self.string = None;
                Ok(())
            }
            None => {
                let seen = body.floor_char_boundary((body.len() + 1).saturating_sub(mark.len()));
                self.at = seen.max(self.at);
                Err(Not::Yet)
            }
        }
    }

    /// Makes the calls. `body` is their inside, `name` the tool where a mark says it.
    pub(in crate::parse) fn calls(
        &self,
        template: &Template,
        registry: &Registry,
        name: Option<&str>,
        body: &str,
    ) -> Inside {
        let mut inside = Inside::default();
        let read = match (self.broken, template.notation) {
            (None, Some(notation)) => notation.calls(name, body),
            (broken, _) => Err(broken.unwrap_or(NO_CALL)),
        };
        let (calls, changes) = match read {
            Ok(read) => read,
            Err(message) => return inside.none(DiagnosticCode::MalformedJson, message),
        };
        inside.note_changes(changes);
        if template.has_plain_texts && python::has_escapes(body) {
            inside.diagnostics.push(ReplyDiagnostic::new(DiagnosticCode::AmbiguousValue, ESCAPES));
        }
        for (name, arguments) in calls {
            // Without a mark, what a name is like is no tool.
            let is_tool = !template.is_weak || registry.tool(&name).is_some();
            inside.add(
                registry,
                if is_tool { &name } else { "" },
                Some(Value::Object(arguments)),
                None,
                true,
            );
        }
        if template.is_weak && inside.has(DiagnosticCode::UnknownArgDropped) {
            inside.broken += 1;
        }
        inside
    }
}

/// What begins a text here, and how long it is.
fn begins_text(
    notation: Notation,
    rest: &str,
    is_last: bool,
) -> Result<Option<(Quoted, usize)>, Not> {
    let bytes = rest.as_bytes();
    match (notation, bytes[0]) {
        (Notation::Gemma { quote }, _) => match after(rest, quote) {
            Ok(_) => Ok(Some((Quoted::Gemma(quote), quote.len()))),
            Err(Not::Yet) if !is_last => Err(Not::Yet),
            Err(_) => Ok(None),
        },
        (Notation::Python, quote @ (b'"' | b'\'')) => {
            let long = [quote; 3];
            let is_long = bytes.starts_with(&long);
            if !is_long && long.starts_with(bytes) && !is_last {
                return Err(Not::Yet);
            }
            let length = if is_long { long.len() } else { 1 };
            Ok(Some((Quoted::Python { quote, is_long }, length)))
        }
        (Notation::Python, _) => Ok(None),
    }
}

fn opposite(close: u8) -> u8 {
    match close {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}

#[cfg(test)]
mod tests;
