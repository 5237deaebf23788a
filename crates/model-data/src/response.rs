//! What a model responded, as moss reads it: calls out of `tool_calls` or out of the text, names and
//! arguments made to fit where nothing is lost by it.

use std::sync::Arc;

use moss_model_bridge::{DiagnosticCode, Finish, Registry, parse};
use serde_json::{Map, Value};

use crate::finding::shown;

/// The most characters of arguments that are reported.
const ARGUMENTS_CHARS_MAX: usize = 200;

/// A response, of one turn or several.
#[derive(Debug, Default)]
pub(crate) struct ModelResponse {
    /// The text of the last turn.
    pub(crate) text: String,
    /// The calls of all turns, tried ones too.
    pub(crate) calls: Vec<Called>,
    /// What is wrong with how they are written.
    pub(crate) problems: Vec<String>,
}

/// A call that a model made or tried to make.
#[derive(Debug)]
pub(crate) struct Called {
    /// The tool; empty where it cannot be determined.
    pub(crate) name: String,
    pub(crate) arguments: Map<String, Value>,
    /// Whether the tool exists and the arguments satisfy its schema.
    pub(crate) is_valid: bool,
    /// Whether it had to be changed for that.
    pub(crate) is_repaired: bool,
}

/// Reads a response: `{"content", "tool_calls", "finish"}`, or `{"messages": […]}`.
pub(crate) fn read(registry: &Arc<Registry>, value: &Value) -> ModelResponse {
    let mut answer = ModelResponse::default();
    let turns = match value.get("messages").and_then(Value::as_array) {
        Some(turns) => turns.as_slice(),
        None => std::slice::from_ref(value),
    };
    for turn in turns {
        let role = turn.get("role").and_then(Value::as_str).unwrap_or("assistant");
        if role == "assistant" {
            answer.add(registry, turn);
        }
    }
    answer
}

/// Whether a diagnostic reports a call that was tried and not made.
fn is_tried(code: DiagnosticCode) -> bool {
    matches!(
        code,
        DiagnosticCode::EmptyAction
            | DiagnosticCode::MalformedJson
            | DiagnosticCode::ScalarArgs
            | DiagnosticCode::SchemaInvalid
            | DiagnosticCode::TruncatedCall
            | DiagnosticCode::UnknownTool
    )
}

fn native(registry: &Registry, entry: &Value) -> (Called, Option<String>) {
    let inner = entry.get("function").unwrap_or(entry);
    let name = inner.get("name").and_then(Value::as_str).unwrap_or_default();
    let written = inner.get("arguments").or_else(|| inner.get("parameters"));
    let parsed = match written {
        Some(Value::String(json)) => serde_json::from_str(json).ok(),
        Some(value) => Some(value.clone()),
        None => Some(Value::Object(Map::new())),
    };
    let mut called = Called {
        name: name.to_owned(),
        arguments: Map::new(),
        is_valid: false,
        is_repaired: false,
    };
    let Some(Value::Object(arguments)) = parsed else {
        return (called, Some(format!("the arguments of `{}` are no JSON object", shown(name))));
    };
    let Some(tool) = registry.resolve(name) else {
        called.arguments = arguments;
        return (called, Some(format!("there is no tool `{}`", shown(name))));
    };
    let fitted = tool.fit(arguments.clone());
    called.is_valid = fitted.violations.is_empty();
    called.is_repaired = called.is_valid && (tool.name() != name || fitted.arguments != arguments);
    called.name = tool.name().to_owned();
    called.arguments = if called.is_valid { fitted.arguments } else { arguments };
    let problem = fitted
        .violations
        .first()
        .map(|violation| format!("the arguments of `{}` do not fit: {violation}", tool.name()));
    (called, problem)
}

// === impl ModelResponse ===

impl ModelResponse {
    fn add(&mut self, registry: &Arc<Registry>, turn: &Value) {
        let text = match turn.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        };
        let entries = turn.get("tool_calls").and_then(Value::as_array);
        if let Some(entries) = entries.filter(|entries| !entries.is_empty()) {
            for entry in entries {
                let (called, problem) = native(registry, entry);
                self.calls.push(called);
                self.problems.extend(problem);
            }
            self.text = text;
            return;
        }
        let finish = match turn.get("finish").and_then(Value::as_str) {
            Some("length") => Finish::Length,
            Some("content_filter") => Finish::ContentFilter,
            _ => Finish::Stop,
        };
        let reply = parse(registry, &text, finish);
        let mut repaired = 0;
        for diagnostic in reply.diagnostics {
            if is_tried(diagnostic.code) {
                self.calls.push(Called {
                    name: String::new(),
                    arguments: Map::new(),
                    is_valid: false,
                    is_repaired: false,
                });
            }
            repaired += usize::from(matches!(
                diagnostic.code,
                DiagnosticCode::JsonRepaired
                    | DiagnosticCode::UnknownArgDropped
                    | DiagnosticCode::UnclosedFrame
            ));
            if !diagnostic.code.is_remark() {
                self.problems.push(format!("{}: {}", diagnostic.code.as_str(), diagnostic.message));
            }
        }
        for (place, call) in reply.calls.into_iter().enumerate() {
            self.calls.push(Called {
                name: call.name,
                arguments: call.arguments,
                is_valid: true,
                is_repaired: place < repaired,
            });
        }
        self.text = reply.text;
    }
}

// === impl Called ===

impl Called {
    /// Says it in a line.
    pub(crate) fn described(&self) -> String {
        let arguments = Value::Object(self.arguments.clone()).to_string();
        let cut = arguments.char_indices().nth(ARGUMENTS_CHARS_MAX).map(|(end, _)| end);
        let arguments = match cut {
            Some(end) => format!("{}…", &arguments[..end]),
            None => arguments,
        };
        format!("{} {arguments}", shown(&self.name))
    }
}
