//! A recorded conversation, and its messages as samples have them.

use std::sync::Arc;

use moss_model_bridge::Registry;
use moss_schema::json;
use serde_json::{Map, Value, json};

use crate::checker::{CheckOptions, Checker};
use crate::finding::{FindingCode, Findings};
use crate::report::SampleClass;
use crate::sample::{self, Sample, SampleTurn};

/// What a sample keeps of a message.
const KEYS: &[&str] = &["role", "content", "tool_call_id", "name", "is_error"];

/// The keys of a line that hold messages: of samples, and of pairs.
const LISTS: &[&str] = &["messages", "prompt", "chosen", "rejected"];

/// Why nothing, or less, was made of a recorded conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// It is no JSON, or has no messages.
    NoConversation,
    /// Its calls and results are no pairs, or its turns are out of order.
    Disordered,
    /// Nothing in it shows what is looked for.
    NothingToLearn,
    /// A failed call that nothing corrects.
    NotRepaired,
    /// The record ends before a reply in text.
    NotAnswered,
    /// What was made of it does not pass the checker: its arguments do not fit any more where
    /// secrets were taken out, for example.
    NotValid,
}

/// What was made of a recorded conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Converted {
    /// Lines for training: an object each.
    pub lines: Vec<Value>,
    /// Why something was left out.
    pub left_out: Vec<SkipReason>,
}

/// Reads a recorded conversation and lets a function make something of it.
pub(crate) fn convert(
    registry: &Arc<Registry>,
    line: &str,
    make: impl FnOnce(&Sample<'_>, &mut Converted),
) -> Converted {
    let mut converted = Converted::default();
    let value = json::read_lenient(line).map(|(value, _)| value).unwrap_or_default();
    let messages = value.get("messages").and_then(Value::as_array);
    let Some(messages) = messages.filter(|messages| !messages.is_empty()) else {
        converted.left_out.push(SkipReason::NoConversation);
        return converted;
    };
    let mut findings = Findings::new(1);
    let sample = sample::read(registry, messages, &mut findings);
    if findings.has(|code| code.breaks_the_loop() && code != FindingCode::NotClosed) {
        converted.left_out.push(SkipReason::Disordered);
        return converted;
    }
    make(&sample, &mut converted);
    if converted.lines.is_empty() && converted.left_out.is_empty() {
        converted.left_out.push(SkipReason::NothingToLearn);
    }
    converted
}

/// A message as samples have it: calls as `{id, name, arguments}`, and nothing of the record beside
/// them.
pub(crate) fn message(sample: &Sample<'_>, turn: &SampleTurn<'_>) -> Value {
    let mut message = Map::new();
    for key in KEYS {
        if let Some(value) = turn.fields.get(*key) {
            message.insert((*key).to_owned(), value.clone());
        }
    }
    if let Some(written) = turn.fields.get("tool_calls").and_then(Value::as_array) {
        let calls = sample.calls[turn.calls.clone()].iter().filter_map(|call| {
            let entry = written.get(call.entry?)?;
            Some(match &call.arguments {
                Ok(arguments) => {
                    json!({ "id": call.id, "name": call.name, "arguments": arguments })
                }
                Err(_) => entry.clone(),
            })
        });
        message.insert("tool_calls".to_owned(), calls.collect());
    }
    Value::Object(message)
}

/// Whether a sample can be learned from, as the checker sees it; none where it cannot.
pub(crate) fn checked(registry: &Arc<Registry>, line: &Value) -> Option<SampleClass> {
    let verdict = Checker::new(registry, CheckOptions::default()).line(&line.to_string());
    let is_bad = |code: FindingCode| {
        code.breaks_the_loop() || code.breaks_a_call() || code == FindingCode::PermissionMissing
    };
    verdict.class.filter(|_| !verdict.findings.iter().any(|finding| is_bad(finding.code)))
}

/// Takes secrets out of the messages of a line.
pub(crate) fn redacted(mut line: Value, redact: impl Fn(Value) -> Value) -> Value {
    for key in LISTS {
        if let Some(messages) = line.get_mut(*key) {
            *messages = redact(messages.take());
        }
    }
    line
}
