//! A conversation as a line of data has it: turns, calls, and which result belongs to which call.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use moss_model_bridge::Registry;
use serde_json::{Map, Value};

use crate::call::SampleCall;
use crate::finding::{FindingCode, Findings, shown};
use crate::{action, call, outcome};

/// The most messages of a sample.
pub const MESSAGES_MAX: usize = 16_384;
/// The most calls of a sample.
pub const CALLS_MAX: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnRole {
    System,
    User,
    Assistant,
    Tool,
}

/// A message of a sample, with the calls in it.
#[derive(Debug)]
pub(crate) struct SampleTurn<'v> {
    /// Its position in `messages`.
    pub(crate) place: usize,
    pub(crate) role: TurnRole,
    pub(crate) fields: &'v Map<String, Value>,
    pub(crate) text: Cow<'v, str>,
    /// Its calls, in [`Sample::calls`].
    pub(crate) calls: Range<usize>,
}

/// One line of training data: a conversation, read but not judged.
#[derive(Debug, Default)]
pub(crate) struct Sample<'v> {
    pub(crate) turns: Vec<SampleTurn<'v>>,
    pub(crate) calls: Vec<SampleCall<'v>>,
}

/// Reads the messages of a line. What cannot be read is reported and left out.
pub(crate) fn read<'v>(
    registry: &Arc<Registry>,
    messages: &'v [Value],
    findings: &mut Findings,
) -> Sample<'v> {
    let mut sample =
        Sample { turns: Vec::with_capacity(messages.len()), calls: Vec::with_capacity(4) };
    if messages.len() > MESSAGES_MAX {
        let message = format!("a sample has at most {MESSAGES_MAX} messages");
        findings.add(FindingCode::SampleShape, "/messages", message, "split the conversation");
        return sample;
    }
    for (place, message) in messages.iter().enumerate() {
        let Some(fields) = message.as_object() else {
            let fix = "write an object with `role` and `content`";
            let code = FindingCode::MessageShape;
            findings.add(code, at(place), "the message is no object", fix);
            continue;
        };
        if let Some(role) = role(fields, place, findings) {
            sample.add(registry, place, role, fields, findings);
        }
    }
    if sample.calls.len() > CALLS_MAX {
        let message = format!("a sample has at most {CALLS_MAX} calls");
        findings.add(FindingCode::SampleShape, "/messages", message, "split the conversation");
        return Sample::default();
    }
    sample.link(findings);
    sample
}

/// The pointer to a message.
pub(crate) fn at(place: usize) -> String {
    format!("/messages/{place}")
}

fn role(fields: &Map<String, Value>, place: usize, findings: &mut Findings) -> Option<TurnRole> {
    let role = match fields.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => TurnRole::System,
        Some("user") => TurnRole::User,
        Some("assistant") => TurnRole::Assistant,
        Some("tool") => TurnRole::Tool,
        other => {
            let message = match other {
                Some(word) => format!("there is no role `{}`", shown(word)),
                None => "the message has no role".to_owned(),
            };
            let fix = "write `system`, `user`, `assistant` or `tool`";
            findings.add(FindingCode::MessageShape, at(place) + "/role", message, fix);
            return None;
        }
    };
    Some(role)
}

/// The text of a message: a string, or the text parts of a list.
fn text<'v>(fields: &'v Map<String, Value>, place: usize, findings: &mut Findings) -> Cow<'v, str> {
    match fields.get("content") {
        None | Some(Value::Null | Value::Object(_)) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
        }
        Some(_) => {
            let fix = "write a text, or `null` beside calls";
            let message = "the content is neither text nor a list of parts";
            findings.add(FindingCode::MessageShape, at(place) + "/content", message, fix);
            Cow::Borrowed("")
        }
    }
}

// === impl Sample ===

impl<'v> Sample<'v> {
    fn add(
        &mut self,
        registry: &Arc<Registry>,
        place: usize,
        role: TurnRole,
        fields: &'v Map<String, Value>,
        findings: &mut Findings,
    ) {
        let first = self.calls.len();
        match fields.get("tool_calls") {
            None | Some(Value::Null) => {}
            Some(Value::Array(entries)) if role == TurnRole::Assistant => {
                for (entry, written) in entries.iter().enumerate() {
                    let pointer = format!("/messages/{place}/tool_calls/{entry}");
                    if let Some(call) = call::read(written, &pointer, findings) {
                        self.calls.push(SampleCall {
                            turn: self.turns.len(),
                            entry: Some(entry),
                            ..call
                        });
                    }
                }
            }
            Some(_) => {
                let message = "`tool_calls` is a list in a message of the assistant";
                let fix = "write a list of calls there, or leave the key out";
                let pointer = at(place) + "/tool_calls";
                findings.add(FindingCode::MessageShape, pointer, message, fix);
            }
        }
        let mut text = text(fields, place, findings);
        if role == TurnRole::Assistant && action::may_be_in(&text) {
            let written = action::read(registry, &text, &self.calls[first..], place, findings);
            if self.calls.len() == first {
                let turn = self.turns.len();
                self.calls
                    .extend(written.calls.into_iter().map(|call| SampleCall::of_text(call, turn)));
            }
            text = Cow::Owned(written.text);
        }
        self.turns.push(SampleTurn { place, role, fields, text, calls: first..self.calls.len() });
    }

    /// The pointer to a call.
    pub(crate) fn pointer(&self, call: &SampleCall<'_>) -> String {
        let place = self.turns[call.turn].place;
        match call.entry {
            Some(entry) => format!("/messages/{place}/tool_calls/{entry}"),
            None => format!("/messages/{place}/content"),
        }
    }

    /// The pointer to a part of a call; to the text, where the call is written there.
    pub(crate) fn pointer_to(&self, call: &SampleCall<'_>, part: &str) -> String {
        let whole = self.pointer(call);
        if call.entry.is_some() { whole + part } else { whole }
    }

    /// Pairs results with calls, and holds turns to their order.
    fn link(&mut self, findings: &mut Findings) {
        let mut open: Vec<usize> = Vec::new();
        let mut before = None;
        for at_turn in 0..self.turns.len() {
            let role = self.turns[at_turn].role;
            if role == TurnRole::Tool {
                self.pair_result(at_turn, &mut open, findings);
            } else {
                for call in open.drain(..) {
                    let call = &self.calls[call];
                    let message = format!("the call of `{}` has no result", shown(&call.name));
                    let fix = "add a message of role `tool` before the conversation continues";
                    findings.add(FindingCode::ResultMissing, self.pointer(call), message, fix);
                }
                self.hold_order(at_turn, before, findings);
                open.extend(self.turns[at_turn].calls.clone());
            }
            before = Some(role);
        }
        self.hold_ids(findings);
        self.hold_end(findings);
    }

    /// Finds the call that a result belongs to: by its id, else by the tool's name and the order.
    fn pair_result(&mut self, at_turn: usize, open: &mut Vec<usize>, findings: &mut Findings) {
        let turn = &self.turns[at_turn];
        let word = |key: &str| turn.fields.get(key).and_then(Value::as_str);
        let id = word("tool_call_id").or_else(|| word("id"));
        let name = word("name");
        let place = open.iter().position(|call| {
            let call = &self.calls[*call];
            match (id, name) {
                (Some(id), _) => call.id == Some(id),
                (None, Some(name)) => call.name == name,
                (None, None) => open.len() == 1,
            }
        });
        let Some(place) = place else {
            self.report_orphan(at_turn, id, name, findings);
            return;
        };
        let call = &mut self.calls[open.remove(place)];
        call.result = Some(at_turn);
        call.is_failed = outcome::is_error(turn.fields);
        if let Some(name) = name.filter(|name| *name != call.name) {
            let message =
                format!("the result names `{}`, its call `{}`", shown(name), shown(&call.name));
            let fix = format!("write \"name\": \"{}\"", shown(&call.name));
            findings.add(FindingCode::ResultName, at(turn.place) + "/name", message, fix);
        }
    }

    fn report_orphan(
        &self,
        at_turn: usize,
        id: Option<&str>,
        name: Option<&str>,
        findings: &mut Findings,
    ) {
        let pointer = at(self.turns[at_turn].place);
        let answered = |call: &SampleCall<'_>| call.result.is_some() && call.id == id;
        if let Some(id) = id.filter(|_| self.calls.iter().any(answered)) {
            let message = format!("the call `{}` has a result already", shown(id));
            findings.add(FindingCode::ResultTwice, pointer, message, "keep one result of a call");
            return;
        }
        let message = match (id, name) {
            (Some(id), _) => format!("no open call has the id `{}`", shown(id)),
            (None, Some(name)) => format!("no call of `{}` waits for a result", shown(name)),
            (None, None) => "the result does not say which call it belongs to".to_owned(),
        };
        let fix = "give it the id of a call of the assistant's turn before it, as `tool_call_id`";
        findings.add(FindingCode::ResultOrphan, pointer, message, fix);
    }

    fn hold_order(&self, at_turn: usize, before: Option<TurnRole>, findings: &mut Findings) {
        let turn = &self.turns[at_turn];
        let (message, fix) = match (turn.role, before) {
            (TurnRole::System, None | Some(TurnRole::System))
            | (TurnRole::User, None | Some(TurnRole::System)) => {
                return;
            }
            (TurnRole::System, Some(_)) => {
                ("instructions stand inside of the conversation", "move them to its beginning")
            }
            (TurnRole::User, Some(TurnRole::User)) => {
                ("the user speaks twice in a row", "join the two messages, or reply to the first")
            }
            (TurnRole::User, Some(TurnRole::Tool)) => {
                ("the assistant does not continue after a result", "add its turn before the user's")
            }
            (TurnRole::Assistant, None | Some(TurnRole::System)) => {
                ("the assistant speaks first", "begin with a message of the user")
            }
            (TurnRole::Assistant, Some(TurnRole::Assistant)) => {
                ("the assistant speaks twice in a row", "join the two messages")
            }
            _ => return,
        };
        findings.add(FindingCode::RoleOrder, at(turn.place), message, fix);
    }

    fn hold_ids(&self, findings: &mut Findings) {
        if self.calls.len() < 2 {
            return;
        }
        let mut first: HashMap<&str, &SampleCall<'_>> = HashMap::new();
        for call in &self.calls {
            let Some(id) = call.id else { continue };
            if let Some(other) = first.insert(id, call) {
                let id = shown(id);
                let message = format!("{} has the id `{id}` already", self.pointer(other));
                let pointer = self.pointer(call) + "/id";
                let fix = "give every call of a conversation its own id";
                findings.add(FindingCode::CallIdRepeated, pointer, message, fix);
            }
        }
    }

    fn hold_end(&self, findings: &mut Findings) {
        let Some(last) = self.turns.last() else { return };
        let message = match last.role {
            TurnRole::Assistant if !last.calls.is_empty() => {
                "it ends with calls that have no result"
            }
            TurnRole::Assistant => return,
            TurnRole::Tool => "it ends with a result that the assistant does not use",
            TurnRole::User => "it ends with the user",
            TurnRole::System => "it has instructions only",
        };
        let fix = "end with a reply of the assistant in text";
        findings.add(FindingCode::NotClosed, at(last.place), message, fix);
    }
}
