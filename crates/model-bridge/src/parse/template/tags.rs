//! Arguments in tags: where each ends, and where the call does.
//!
//! Values are written as they are. An end mark inside of one is distinguished from its own by what
//! follows: another parameter, or the end of the call.

use std::ops::Range;

use super::super::calls::Inside;
use super::super::end::FrameEnd;
use super::super::mark::{Not, after, after_blanks, find, until};
use super::values::{self, Argument, Manner};
use super::{ATTRIBUTES_BYTES_MAX, ParameterForm, Template};
use crate::diagnostic::DiagnosticCode;
use crate::registry::{RegisteredTool, Registry};

/// The most bytes of a key.
const KEY_BYTES_MAX: usize = 160;

/// Follows arguments in tags as they come.
#[derive(Debug, Default)]
pub(in crate::parse) struct Tags {
    at: usize,
    phase: Phase,
    key: Range<usize>,
    attributes: Range<usize>,
    /// Where the value that is being read begins.
    value: usize,
    /// Whether the end tag of a value stands in it that does not end it.
    passed_close: bool,
    entries: Vec<TaggedArgument>,
    /// What is wrong, or was repaired, in the order in which it was found.
    slips: Vec<Slip>,
}

/// An argument: where its parts stand.
#[derive(Debug)]
struct TaggedArgument {
    key: Range<usize>,
    attributes: Range<usize>,
    value: Range<usize>,
}

/// A mistake in the tags.
#[derive(Debug)]
enum Slip {
    /// Something else stands between parameters.
    Between,
    /// The value of a key does not end where the call does, and nothing else says that it does.
    Endless(Range<usize>),
    /// The value of a key ends with the call and its group.
    EndsWithCall(Range<usize>),
    /// The value of a key has no tag that begins it.
    Unopened(Range<usize>),
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
    pub(in crate::parse) fn end(&mut self, template: &Template, body: &str) -> Option<FrameEnd> {
        // A call without arguments needs none of the marks below.
        let parameters = template.parameters.as_ref()?;
        loop {
            match self.step(template, parameters, body) {
                Ok(None) => {}
                Ok(Some(end)) => return Some(end),
                Err(Not::Yet) => return None,
                Err(Not::Here) => {
                    self.slips.push(Slip::Between);
                    return Some(FrameEnd { body: self.at, frame: self.at, closed: false });
                }
            }
        }
    }

    fn step(
        &mut self,
        template: &Template,
        parameters: &ParameterForm,
        body: &str,
    ) -> Result<Option<FrameEnd>, Not> {
        let rest = &body[self.at..];
        match self.phase {
            Phase::Between => {
                self.at += rest.len() - rest.trim_start().len();
                let rest = after_blanks(rest.trim_start())?;
                let (mark, closed) = next_mark(template, parameters, rest)?;
                if mark != parameters.open {
                    let frame = self.at + if closed { mark.len() } else { 0 };
                    return Ok(Some(FrameEnd { body: self.at, frame, closed }));
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
                self.attributes = self.at..self.at;
                if parameters.has_attributes {
                    let length = until(inner, ">", ATTRIBUTES_BYTES_MAX)?;
                    self.attributes.end += length;
                    inner = &inner[length + 1..];
                }
                if !parameters.value_open.is_empty() {
                    let text = after_blanks(inner)?;
                    match after(text, parameters.value_open) {
                        Ok(value) => inner = value,
                        // Words where the tag belongs: it is missing.
                        Err(Not::Here) if !text.starts_with('<') => {
                            self.slips.push(Slip::Unopened(self.key.clone()));
                        }
                        Err(not) => return Err(not),
                    }
                }
                self.at += rest.len() - inner.len();
                self.value = self.at;
                self.passed_close = false;
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
        parameters: &ParameterForm,
        body: &str,
    ) -> Result<(), Not> {
        let close = parameters.close;
        let place = find(body, close, &mut self.at)?;
        let follows = &body[place + close.len()..];
        match after_blanks(follows).and_then(|rest| next_mark(template, parameters, rest)) {
            Ok(_) => {
                self.push(place);
                self.at = place + close.len();
                self.phase = Phase::Between;
            }
            Err(Not::Yet) => {
                self.at = place;
                return Err(Not::Yet);
            }
            Err(Not::Here) => {
                self.passed_close = true;
                self.at = place + close.len();
            }
        }
        Ok(())
    }

    fn push(&mut self, end: usize) {
        let (key, attributes) = (self.key.clone(), self.attributes.clone());
        self.entries.push(TaggedArgument { key, attributes, value: self.value..end });
    }

    /// Looks for the end of a call in whose last value the reply ends: its end mark stands there, the
    /// end tag of the value is missing.
    pub(in crate::parse) fn last_end(
        &mut self,
        template: &Template,
        body: &str,
    ) -> Option<FrameEnd> {
        let parameters = template.parameters.as_ref()?;
        if self.phase != Phase::Value || self.passed_close {
            return None;
        }
        let place = self.value + body[self.value..].find(template.end)?;
        let frame = place + template.end.len();
        let rest = body[frame..].trim_start();
        let ends_group = template.after.iter().any(|mark| rest.starts_with(mark));
        let is_known = parameters.may_end_with_call && ends_group;
        let slip = if is_known { Slip::EndsWithCall } else { Slip::Endless };
        self.slips.push(slip(self.key.clone()));
        // The line end before the end mark is not part of the value.
        let value = &body[..place];
        let value = value.strip_suffix('\n').unwrap_or(value);
        self.push(value.strip_suffix('\r').unwrap_or(value).len().max(self.value));
        Some(FrameEnd { body: place, frame, closed: true })
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
        let key_of = |key: &Range<usize>| body[key.clone()].trim();
        for slip in &self.slips {
            match slip {
                Slip::Between => {
                    let message = "between the tags of parameters there is something else";
                    return inside.none(DiagnosticCode::MalformedJson, message);
                }
                Slip::Endless(key) => {
                    return inside.none(DiagnosticCode::MalformedJson, &endless(key_of(key)));
                }
                Slip::EndsWithCall(key) => {
                    inside.note(DiagnosticCode::UnclosedFrame, endless(key_of(key)));
                }
                Slip::Unopened(key) => {
                    let message = format!("the value of `{}` has no tag before it", key_of(key));
                    inside.note(DiagnosticCode::UnclosedFrame, message);
                }
            }
        }
        let Some(tool) = registry.resolve(name) else {
            inside.refuse_unknown(registry, name);
            return inside;
        };
        let Some(parameters) = &template.parameters else { return inside };
        for entry in &self.entries {
            if is_swallowed(template, parameters, tool, &body[entry.value.clone()]) {
                return inside.none(DiagnosticCode::MalformedJson, &endless(key_of(&entry.key)));
            }
        }
        let entries = self.entries.iter().map(|entry| Argument {
            key: key_of(&entry.key),
            text: &body[entry.value.clone()],
            is_string: is_string(&body[entry.attributes.clone()]),
        });
        match values::arguments(tool, entries, Manner::of(parameters)) {
            Ok(arguments) => arguments.into_call(tool, inside),
            Err(message) => inside.none(DiagnosticCode::MalformedJson, &message),
        }
    }
}

fn endless(key: &str) -> String {
    format!("the value of `{key}` has no end tag")
}

/// Whether the attributes of a parameter say that its value is text, or that it is JSON.
fn is_string(attributes: &str) -> Option<bool> {
    if let Some((_, of_type)) = attributes.split_once("type=\"") {
        return Some(of_type.starts_with("string\""));
    }
    let value = attributes.split_once("string=\"")?.1;
    if value.starts_with("true\"") {
        return Some(true);
    }
    value.starts_with("false\"").then_some(false)
}

/// Whether another parameter or another call stands in a value: its end tag is missing.
fn is_swallowed(
    template: &Template,
    parameters: &ParameterForm,
    tool: &RegisteredTool,
    value: &str,
) -> bool {
    let is_call = value.find(template.end).is_some_and(|end| value[end..].contains(template.call));
    is_call || has_parameter(parameters, tool, value)
}

/// Whether a value has the tag of another parameter: one of the tool that begins a line, or one that
/// is not closed again and of which it does not merely speak.
fn has_parameter(parameters: &ParameterForm, tool: &RegisteredTool, value: &str) -> bool {
    let (mut from, mut line_begin) = (0, 0);
    let mut open = 0_usize;
    for (place, mark) in value.match_indices(parameters.open) {
        let between = &value[from..place];
        open = open.saturating_sub(between.matches(parameters.close).count());
        // A line may have very many of them: only what is behind the last one is looked at.
        let begun = between.rfind('\n').map(|end| from + end + 1);
        let is_first = begun.is_some() || from == 0;
        line_begin = begun.unwrap_or(line_begin);
        from = place;
        let rest = &value[place + mark.len()..];
        let Some((key, after)) = key_of_tag(parameters, rest) else { continue };
        let line = &value[line_begin..place];
        let begins_line = is_first && line.trim().is_empty();
        let is_of_tool = || tool.parameter(key.trim()).is_some();
        if begins_line && line.len() < place && is_of_tool() {
            return true;
        }
        if begins_line || !is_spoken(line, after) {
            open += 1;
        }
    }
    open > value[from..].matches(parameters.close).count()
}

/// The key of a tag whose mark was read, where it is a whole one, and what follows it.
fn key_of_tag<'t>(parameters: &ParameterForm, rest: &'t str) -> Option<(&'t str, &'t str)> {
    let (key, mut rest) = rest.split_at(until(rest, parameters.key_end, KEY_BYTES_MAX).ok()?);
    rest = &rest[parameters.key_end.len()..];
    if parameters.has_attributes {
        rest = &rest[until(rest, ">", ATTRIBUTES_BYTES_MAX).ok()? + 1..];
    }
    let has_value = rest.trim_start().starts_with(parameters.value_open);
    (has_value && !key.trim().is_empty()).then_some((key, rest))
}

/// Whether a tag inside of a line is only spoken of: it stands in quotes, or as a word between words.
fn is_spoken(before: &str, after: &str) -> bool {
    let is_quote = |c: char| "\"'`([{“‘«|/\\".contains(c);
    before.ends_with(is_quote)
        || (before.ends_with(char::is_whitespace)
            && after.starts_with(|c: char| c.is_whitespace() && c != '\n' || ".,;:)".contains(c)))
}

/// The mark that begins a text, and whether it ends the call: one for a parameter, the end mark of the
/// call, or one that can only come after that.
fn next_mark<'m>(
    template: &'m Template,
    parameters: &'m ParameterForm,
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

#[cfg(test)]
mod tests {
    use super::super::table::TEMPLATES;
    use super::*;

    #[test]
    fn a_line_of_very_many_tags_is_gone_through_once() {
        let form = TEMPLATES.iter().find(|template| template.form == "qwen3_coder").unwrap();
        let parameters = form.parameters.as_ref().unwrap();
        let tools = r#"[{"name":"t","parameters":{"properties":{"a":{}}}}]"#;
        let registry = Registry::from_json(tools).unwrap();
        let tool = registry.tool("t").unwrap();
        let spoken_of = "`<parameter=a>` ".repeat(200_000);
        for (value, expected) in [
            (spoken_of.clone(), false),
            (format!("{spoken_of}\n {spoken_of}"), false),
            (format!("{spoken_of}\n  <parameter=a>"), true),
            (format!("{}{spoken_of}", " ".repeat(200_000)), false),
            ("x\n  <parameter=a>".to_owned(), true),
            ("  <parameter=a>".to_owned(), true),
            ("x <parameter=a>1</parameter>".to_owned(), false),
        ] {
            assert_eq!(has_parameter(parameters, tool, &value), expected, "{} bytes", value.len());
        }
    }
}
