//! A call as a line of data has it, in `tool_calls` or in the text of a turn.

use std::borrow::Cow;

use moss_model_bridge::{Registry, ToolCall};
use serde_json::Value;

use crate::finding::{FindingCode, Findings};

/// A call of a tool in a sample.
#[derive(Debug)]
pub(crate) struct SampleCall<'v> {
    /// Its turn, in `Sample::turns`.
    pub(crate) turn: usize,
    /// Its position in `tool_calls` of the turn; none where it is written in the text.
    pub(crate) entry: Option<usize>,
    pub(crate) id: Option<&'v str>,
    pub(crate) name: Cow<'v, str>,
    /// The arguments, which must be a JSON object; else why they are none.
    pub(crate) arguments: Result<Cow<'v, Value>, NoObject>,
    /// The turn of its result.
    pub(crate) result: Option<usize>,
    /// Whether the result is an error.
    pub(crate) is_failed: bool,
}

/// Why arguments are no object.
#[derive(Debug)]
pub(crate) struct NoObject {
    pub(crate) message: Cow<'static, str>,
    pub(crate) fix: &'static str,
}

/// Reads an entry of `tool_calls`.
pub(crate) fn read<'v>(
    entry: &'v Value,
    pointer: &str,
    findings: &mut Findings,
) -> Option<SampleCall<'v>> {
    let code = FindingCode::CallShape;
    let form = "write {\"id\", \"name\", \"arguments\"}";
    let Some(fields) = entry.as_object() else {
        findings.add(code, pointer, "the call is no object", form);
        return None;
    };
    let id = fields.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    if id.is_none() {
        let fix = "give the call an id that its result repeats, such as `call_1`";
        findings.add(code, format!("{pointer}/id"), "the call has no id", fix);
    }
    let function = fields.get("function").and_then(Value::as_object);
    let inner = function.unwrap_or(fields);
    let Some(name) = inner.get("name").and_then(Value::as_str) else {
        findings.add(code, pointer, "the call names no tool", form);
        return None;
    };
    let written = inner.get("arguments").or_else(|| inner.get("parameters"));
    let arguments = match written {
        Some(value @ Value::Object(_)) => Ok(Cow::Borrowed(value)),
        Some(Value::String(json)) if function.is_some() => match serde_json::from_str(json) {
            Ok(value @ Value::Object(_)) => Ok(Cow::Owned(value)),
            Ok(_) => Err(NoObject::new("the text of the arguments is no JSON object")),
            Err(error) => {
                let message = format!("the text of the arguments is no JSON: {error}");
                Err(NoObject { message: message.into(), fix: "fix the JSON" })
            }
        },
        Some(Value::String(_)) => Err(NoObject {
            message: "the arguments are a text".into(),
            fix: "write the object itself, not its JSON text",
        }),
        Some(_) => Err(NoObject::new("the arguments are no object")),
        None => Err(NoObject {
            message: "the call has no arguments".into(),
            fix: "write `\"arguments\": {}` where there are no arguments",
        }),
    };
    Some(SampleCall {
        turn: 0,
        entry: None,
        id,
        name: name.into(),
        arguments,
        result: None,
        is_failed: false,
    })
}

// === impl NoObject ===

impl NoObject {
    fn new(message: &'static str) -> Self {
        Self { message: message.into(), fix: "write {\"key\": value}" }
    }
}

// === impl SampleCall ===

impl SampleCall<'_> {
    /// A call that the text of a turn makes. Its id was never written.
    pub(crate) fn of_text(call: ToolCall, turn: usize) -> Self {
        Self {
            turn,
            entry: None,
            id: None,
            name: Cow::Owned(call.name),
            arguments: Ok(Cow::Owned(Value::Object(call.arguments))),
            result: None,
            is_failed: false,
        }
    }

    /// Whether there is the tool and it takes the arguments.
    pub(crate) fn fits(&self, registry: &Registry) -> bool {
        match (registry.tool(&self.name), &self.arguments) {
            (Some(tool), Ok(arguments)) => tool.fits(arguments),
            _ => false,
        }
    }
}
