//! Arguments in elements that have the names of the parameters: `<path>a.rs</path>`.
//!
//! Values are written as they are, and may have such tags in them: what ends one is its end tag where
//! another parameter or the end of the call follows.

use std::ops::Range;

use serde_json::{Map, Value};

use super::super::calls::Inside;
use super::super::end::FrameEnd;
use super::super::mark::{NAME_BYTES_MAX, Not, after, after_blanks, find, of_name};
use super::super::repair::DEPTH_MAX;
use super::Template;
use super::values::{self, Argument, Manner};
use crate::diagnostic::DiagnosticCode;
use crate::registry::{RegisteredTool, Registry};

/// The key of what an element for a list holds.
const ITEM: &str = "item";

/// Follows arguments in elements as they come.
#[derive(Debug, Default)]
pub(in crate::parse) struct Elements {
    at: usize,
    key: Range<usize>,
    /// Where the value that is being read begins; none where a parameter or the end must come.
    value: Option<usize>,
    /// Keys and values that are whole, by where they lie in the text.
    entries: Vec<(Range<usize>, Range<usize>)>,
    is_malformed: bool,
}

// === impl Elements ===

impl Elements {
    /// Looks for the end. `body` is the inside so far, and what follows it.
    pub(in crate::parse) fn end(
        &mut self,
        template: &Template,
        tool: Option<&RegisteredTool>,
        body: &str,
    ) -> Option<FrameEnd> {
        let end = end_mark(template, tool);
        loop {
            let step = match self.value {
                Some(value) => self.value(value, template, tool, &end, body),
                None => self.between(template, tool, &end, body),
            };
            match step {
                Ok(None) => {}
                Ok(Some(end)) => return Some(end),
                Err(Not::Yet) => return None,
                Err(Not::Here) => {
                    self.is_malformed = true;
                    return Some(FrameEnd { body: self.at, frame: self.at, closed: false });
                }
            }
        }
    }

    fn between(
        &mut self,
        template: &Template,
        tool: Option<&RegisteredTool>,
        end: &str,
        body: &str,
    ) -> Result<Option<FrameEnd>, Not> {
        let rest = after_blanks(&body[self.at..])?;
        let place = body.len() - rest.len();
        match after(rest, end) {
            Ok(_) => {
                let frame = place + end.len();
                return Ok(Some(FrameEnd { body: place, frame, closed: true }));
            }
            Err(Not::Yet) => return Err(Not::Yet),
            Err(Not::Here) => {}
        }
        let (key, inner) = open_tag(template, tool, rest)?;
        let begin = body.len() - inner.len() - 1 - key.len();
        self.key = begin..begin + key.len();
        self.at = body.len() - inner.len();
        self.value = Some(self.at);
        Ok(None)
    }

    /// Looks for the end of a value, from where it was looked for before.
    fn value(
        &mut self,
        value: usize,
        template: &Template,
        tool: Option<&RegisteredTool>,
        end: &str,
        body: &str,
    ) -> Result<Option<FrameEnd>, Not> {
        let close = format!("{}</{}>", template.tag_mark, &body[self.key.clone()]);
        let place = find(body, &close, &mut self.at)?;
        let goes_on = after_blanks(&body[place + close.len()..]).and_then(|rest| {
            let ends = after(rest, end).map(drop);
            let opens = open_tag(template, tool, rest).map(drop);
            match (ends, opens) {
                (Ok(()), _) | (_, Ok(())) => Ok(()),
                (Err(Not::Yet), _) | (_, Err(Not::Yet)) => Err(Not::Yet),
                _ => Err(Not::Here),
            }
        });
        self.at = place;
        match goes_on {
            Ok(()) => {
                self.entries.push((self.key.clone(), value..place));
                self.at += close.len();
                self.value = None;
            }
            Err(Not::Yet) => return Err(Not::Yet),
            Err(Not::Here) => self.at += close.len(),
        }
        Ok(None)
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
        // Without a mark, a name alone is no call.
        if self.is_malformed || (template.is_weak && self.entries.is_empty()) {
            let message = "between its tags there is something else than parameters of the tool";
            return inside.none(DiagnosticCode::MalformedJson, message);
        }
        let Some(tool) = registry.resolve(name) else {
            inside.refuse_unknown(registry, name);
            return inside;
        };
        let mut nested = Map::new();
        let mut plain = Vec::new();
        for (key, value) in &self.entries {
            let (key, value) = (&body[key.clone()], &body[value.clone()]);
            let read = match template.tag_mark {
                "" => Some(Value::Null),
                mark => tree(mark, value, DEPTH_MAX),
            };
            match read {
                Some(read @ (Value::Object(_) | Value::Array(_))) => {
                    nested.insert(key.to_owned(), read);
                }
                Some(_) => plain.push(Argument { key, text: value, is_string: None }),
                None => {
                    let message = format!("{}: the value of `{key}` has no end", tool.name());
                    return inside.none(DiagnosticCode::MalformedJson, &message);
                }
            }
        }
        let written = self.entries.len();
        match values::arguments(tool, plain.into_iter(), Manner::default()) {
            Ok(mut arguments) => {
                arguments.map.extend(nested);
                if arguments.map.len() < written {
                    let message = format!("{}: a parameter is there twice", tool.name());
                    return inside.none(DiagnosticCode::MalformedJson, &message);
                }
                arguments.into_call(tool, inside)
            }
            Err(message) => inside.none(DiagnosticCode::MalformedJson, &message),
        }
    }
}

/// What ends a call.
fn end_mark(template: &Template, tool: Option<&RegisteredTool>) -> String {
    match tool {
        Some(tool) if template.end.is_empty() => format!("</{}>", tool.name()),
        _ => template.end.to_owned(),
    }
}

/// The key of the tag that begins a text, and what follows it. Where the tags have no mark of their
/// own, only a parameter of the tool is one.
fn open_tag<'t>(
    template: &Template,
    tool: Option<&RegisteredTool>,
    text: &'t str,
) -> Result<(&'t str, &'t str), Not> {
    let inner = after(after(text, template.tag_mark)?, "<")?;
    let near = &inner[..inner.floor_char_boundary(NAME_BYTES_MAX)];
    let Some(length) = near.find(|c| !of_name(c) || matches!(c, '/' | ' ')) else {
        return Err(if near.len() < inner.len() { Not::Here } else { Not::Yet });
    };
    let key = &near[..length];
    let is_parameter = tool.is_some_and(|tool| tool.parameter(key) == Some(key));
    match near[length..].starts_with('>') && (is_parameter || !template.tag_mark.is_empty()) {
        true if length > 0 => Ok((key, &inner[length + 1..])),
        _ => Err(Not::Here),
    }
}

/// The value of an element: a text, an object of elements, or a list of them. None where its tags
/// do not fit.
fn tree(mark: &str, text: &str, depth: usize) -> Option<Value> {
    if !text.contains(mark) || depth == 0 {
        return (depth > 0).then(|| Value::from(text));
    }
    let mut rest = text.trim();
    let mut fields = Map::new();
    let mut items = Vec::new();
    while !rest.is_empty() {
        let inner = rest.strip_prefix(mark)?.strip_prefix('<')?;
        let key = &inner[..inner.find('>')?];
        let inner = &inner[key.len() + 1..];
        let close = format!("{mark}</{key}>");
        let length = inner.find(&close)?;
        let value = tree(mark, &inner[..length], depth - 1)?;
        rest = inner[length + close.len()..].trim_start();
        if key == ITEM {
            items.push(value);
        } else if fields.insert(key.to_owned(), value).is_some() {
            return None;
        }
    }
    match (fields.is_empty(), items.is_empty()) {
        (false, true) => Some(Value::Object(fields)),
        (true, false) => Some(Value::Array(items)),
        _ => None,
    }
}
