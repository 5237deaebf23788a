//! Arguments in tags: where each ends, and where the call does.
//!
//! Values are written as they are. An end mark inside of one is told from its own by what follows:
//! another parameter, or the end of the call.

use std::ops::Range;

use super::super::calls::{self, Inside};
use super::super::frame::End;
use super::{ATTRIBUTES_BYTES_MAX, Not, Parameters, Template, after, after_blanks, values};
use crate::event::Code;
use crate::registry::{Registry, Tool};

/// The most bytes of a key.
const KEY_BYTES_MAX: usize = 160;

/// Follows arguments in tags as they come.
#[derive(Debug, Default)]
pub(in crate::parse) struct Tags {
    at: usize,
    phase: Phase,
    key: Range<usize>,
    /// Where the value that is being read begins.
    value: usize,
    /// Keys and values.
    entries: Vec<(Range<usize>, Range<usize>)>,
    is_malformed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    /// A parameter or the end must come.
    #[default]
    Between,
    Key,
    /// What stands between a key and its value.
    Opening,
    Value,
}

// === impl Tags ===

impl Tags {
    /// Looks for the end. `body` is the inside so far, and what follows it.
    pub(in crate::parse) fn end(&mut self, template: &Template, body: &str) -> Option<End> {
        // A call without arguments needs none of the marks below.
        let parameters = template.parameters.as_ref()?;
        loop {
            match self.step(template, parameters, body) {
                Ok(None) => {}
                Ok(Some(end)) => return Some(end),
                Err(Not::Yet) => return None,
                Err(Not::Here) => {
                    self.is_malformed = true;
                    return Some(End { body: self.at, frame: self.at, closed: false });
                }
            }
        }
    }

    fn step(
        &mut self,
        template: &Template,
        parameters: &Parameters,
        body: &str,
    ) -> Result<Option<End>, Not> {
        let rest = &body[self.at..];
        match self.phase {
            Phase::Between => {
                self.at += rest.len() - rest.trim_start().len();
                let rest = after_blanks(rest.trim_start())?;
                let (mark, closed) = next_mark(template, parameters, rest)?;
                if mark != parameters.open {
                    let frame = self.at + if closed { mark.len() } else { 0 };
                    return Ok(Some(End { body: self.at, frame, closed }));
                }
                self.at += mark.len();
                self.phase = Phase::Key;
            }
            Phase::Key => {
                let length = until(rest, parameters.key_end, KEY_BYTES_MAX)?;
                self.key = self.at..self.at + length;
                self.at += length + parameters.key_end.len();
                self.phase = Phase::Opening;
            }
            Phase::Opening => {
                let mut inner = rest;
                if parameters.has_attributes {
                    inner = &inner[until(inner, ">", ATTRIBUTES_BYTES_MAX)? + 1..];
                }
                if !parameters.value_open.is_empty() {
                    inner = after(after_blanks(inner)?, parameters.value_open)?;
                }
                self.at += rest.len() - inner.len();
                self.value = self.at;
                self.phase = Phase::Value;
            }
            Phase::Value => self.value(template, parameters, body)?,
        }
        Ok(None)
    }

    /// Looks for the end of a value, from where it was looked for before.
    fn value(
        &mut self,
        template: &Template,
        parameters: &Parameters,
        body: &str,
    ) -> Result<(), Not> {
        let close = parameters.close;
        let Some(length) = memchr::memmem::find(&body.as_bytes()[self.at..], close.as_bytes())
        else {
            let seen = body.floor_char_boundary((body.len() + 1).saturating_sub(close.len()));
            self.at = seen.max(self.at);
            return Err(Not::Yet);
        };
        let place = self.at + length;
        let follows = &body[place + close.len()..];
        match after_blanks(follows).and_then(|rest| next_mark(template, parameters, rest)) {
            Ok(_) => {
                self.entries.push((self.key.clone(), self.value..place));
                self.at = place + close.len();
                self.phase = Phase::Between;
            }
            Err(Not::Yet) => {
                self.at = place;
                return Err(Not::Yet);
            }
            Err(Not::Here) => self.at = place + close.len(),
        }
        Ok(())
    }

    /// Makes the call. `body` is its inside.
    pub(in crate::parse) fn inside(
        &self,
        template: &Template,
        registry: &Registry,
        name: &str,
        body: &str,
    ) -> Inside {
        let mut inside = Inside::default();
        if self.is_malformed {
            let message = "between the tags of parameters there is something else";
            return inside.none(Code::MalformedJson, message);
        }
        let Some(tool) = registry.resolve(name) else {
            inside.broken += 1;
            inside.diagnostics.push(calls::unknown(registry, name));
            return inside;
        };
        for (key, value) in &self.entries {
            if is_swallowed(template, tool, &body[value.clone()]) {
                let message = format!("the value of `{}` has no end tag", body[key.clone()].trim());
                return inside.none(Code::MalformedJson, &message);
            }
        }
        let entries = self.entries.iter();
        let entries = entries.map(|(key, value)| (body[key.clone()].trim(), &body[value.clone()]));
        match values::arguments(tool, entries) {
            Ok((arguments, changes)) => {
                inside.note_changes(changes);
                inside.fit(tool, arguments, None);
                inside
            }
            Err(message) => inside.none(Code::MalformedJson, &message),
        }
    }
}

/// Whether another parameter of the tool or another call stands in a value: its end tag is missing.
fn is_swallowed(template: &Template, tool: &Tool, value: &str) -> bool {
    let Some(parameters) = &template.parameters else { return false };
    let is_call = value.find(template.end).is_some_and(|end| value[end..].contains(template.call));
    is_call
        || value.match_indices(parameters.open).any(|(place, mark)| {
            let line = value[..place].rfind('\n').map(|end| &value[end + 1..place]);
            let key = value[place + mark.len()..].split(parameters.key_end).next();
            line.is_some_and(|line| line.trim().is_empty())
                && key.is_some_and(|key| tool.parameter(key.trim()).is_some())
        })
}

/// The mark that begins a text, and whether it ends the call: one for a parameter, the end mark of the
/// call, or one that can only come after that.
fn next_mark<'m>(
    template: &'m Template,
    parameters: &'m Parameters,
    text: &str,
) -> Result<(&'m str, bool), Not> {
    let after_it = template.after.iter().map(|mark| (*mark, false));
    let marks = [(parameters.open, false), (template.end, true)];
    let mut not = Not::Here;
    for (mark, closed) in marks.into_iter().chain(after_it) {
        match after(text, mark) {
            Ok(_) => return Ok((mark, closed)),
            Err(Not::Yet) => not = Not::Yet,
            Err(Not::Here) => {}
        }
    }
    Err(not)
}

/// How long a text is up to a mark on the same line, in bytes.
pub(super) fn until(text: &str, mark: &str, most: usize) -> Result<usize, Not> {
    let near = &text[..text.floor_char_boundary(most + mark.len())];
    let line = &near[..near.find('\n').unwrap_or(near.len())];
    match line.find(mark) {
        Some(length) => Ok(length),
        None if line.len() < near.len() || near.len() >= most => Err(Not::Here),
        None => Err(Not::Yet),
    }
}
