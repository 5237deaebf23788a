//! From the values inside of a frame to calls: which keys name the tool, which hold the arguments.

mod arguments;
mod written;

use moss_schema::json::JsonFault;
use serde_json::{Map, Value};

use super::call_keys::{NAME_KEYS, OTHER_KEYS};
use super::repair::{self, KnownKeys, said_twice};
use crate::diagnostic::{DiagnosticCode, RepairKind, ReplyDiagnostic};
use crate::registry::{RegisteredTool, Registry};
pub(super) use arguments::{NotArguments, arguments, scalar};
use written::{WrittenCall, contradiction, gather};

/// For how many calls that cannot be made in a frame it is said which tool is meant perhaps: all names are
/// compared for that.
const PROPOSALS_MAX: usize = 32;
/// The most bytes of an id that is kept.
const ID_BYTES_MAX: usize = 64;

/// How much of a name that no tool has is shown, in characters.
const NAME_CHARS_MAX: usize = 80;

/// Said where quotes inside of strings leave open where the strings end.
pub(super) const UNESCAPED: &str = "quotes inside of a string are not escaped; write each as \\\"";

/// Said of what is not JSON and cannot be repaired.
const NOT_JSON: &str =
    "what stands inside is not JSON; write one JSON object, strings in double quotes";

/// A call that can be made.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReadyCall {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    /// The id that the model wrote.
    pub(super) id: Option<String>,
}

/// What stands inside of a frame.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Inside {
    pub(super) calls: Vec<ReadyCall>,
    /// How they were read, or why it was not read.
    pub(super) diagnostics: Vec<ReplyDiagnostic>,
    /// What is reported as well where the form is one of a chat template: what was made of the call
    /// that its JSON does not say.
    pub(super) typed: Vec<ReplyDiagnostic>,
    /// How many values of JSON it has.
    pub(super) values: usize,
    /// How many were meant that are none.
    pub(super) broken: usize,
}

/// Reads the JSON of a frame. `named` is the tool where the frame itself says it: its JSON is then
/// the arguments. `closed` says whether the frame has its end mark.
pub(super) fn inside(
    registry: &Registry,
    named: Option<&str>,
    text: &str,
    closed: bool,
    explicit: bool,
) -> Inside {
    let mut inside = Inside::default();
    if text.trim().is_empty() && named.is_none() {
        return inside
            .none(DiagnosticCode::EmptyAction, "there is nothing inside of the action block");
    }
    let blank = named.is_some() && text.trim().is_empty();
    let keys = match named {
        Some(name) => KnownKeys::of_arguments(registry, registry.resolve(name)),
        None => KnownKeys::of_calls(registry),
    };
    let text = if blank { "{}" } else { text };
    let repaired = match repair::values(text, closed, keys) {
        Err(fault) => repair::rounded(text).ok_or(fault),
        repaired => repaired,
    };
    let repaired = match repaired {
        Ok(repaired) => repaired,
        Err(fault) => return inside.unread(&fault, NOT_JSON),
    };
    // Only what is marked as a call may have words and brackets around it.
    let is_loose = !explicit
        && [RepairKind::SurroundingText, RepairKind::ExtraBracket]
            .iter()
            .any(|change| repaired.changes.contains(change));
    inside.note_changes(repaired.changes);
    if let Some(name) = named {
        let Ok([arguments @ Value::Object(_)]) = <[Value; 1]>::try_from(repaired.values) else {
            return inside
                .none(DiagnosticCode::MalformedJson, "the arguments are not one JSON object");
        };
        inside.add(registry, name, Some(arguments), None, explicit);
        if inside.is_guessed() && inside.has(DiagnosticCode::UnknownArgDropped) {
            return Inside::default().none(DiagnosticCode::MalformedJson, UNESCAPED);
        }
        return inside;
    }
    let mut written = Vec::new();
    let mut others = 0;
    inside.values = repaired.values.len();
    for value in repaired.values {
        others += gather(value, &mut written);
    }
    if written.is_empty() {
        return inside
            .none(DiagnosticCode::EmptyAction, "there is no call inside of the action block");
    }
    for one in written {
        inside.add_written(registry, one, explicit);
    }
    if inside.is_guessed() && inside.has(DiagnosticCode::UnknownArgDropped) {
        return Inside::default().none(DiagnosticCode::MalformedJson, UNESCAPED);
    }
    if !explicit && (inside.has(DiagnosticCode::UnknownArgDropped) || is_loose || others > 0) {
        // Data that looks like a call, for example the description of a tool.
        inside.broken += 1;
    }
    inside
}

/// Reads a list of objects that each have the name of a tool as their only key.
pub(super) fn keyed(registry: &Registry, text: &str, closed: bool) -> Inside {
    let mut inside = Inside::default();
    let message = "what stands inside is no list of objects with the name of a tool as their key";
    let repaired = match repair::values(text, closed, KnownKeys::default()) {
        Ok(repaired) => repaired,
        Err(fault) => return inside.unread(&fault, message),
    };
    inside.note_changes(repaired.changes);
    let values = repaired.values.into_iter().flat_map(|value| match value {
        Value::Array(values) => values,
        value => vec![value],
    });
    for value in values {
        match value {
            Value::Object(fields) if fields.len() == 1 => {
                for (name, arguments) in fields {
                    inside.add(registry, &name, Some(arguments), None, true);
                }
            }
            _ => inside = inside.none(DiagnosticCode::MalformedJson, message),
        }
    }
    inside
}

// === impl Inside ===

impl Inside {
    pub(super) fn none(mut self, code: DiagnosticCode, message: &str) -> Self {
        self.refuse(code, message.to_owned());
        self
    }

    /// Reports why its JSON is not read; where it is not JSON, with these words.
    fn unread(self, fault: &JsonFault, message: &str) -> Self {
        match fault {
            JsonFault::Malformed => self.none(DiagnosticCode::MalformedJson, message),
            JsonFault::Twice(key) => self.none(DiagnosticCode::MalformedJson, &said_twice(key)),
        }
    }

    /// Reports why something that was meant as a call is not one.
    pub(super) fn refuse(&mut self, code: DiagnosticCode, message: String) {
        self.broken += 1;
        self.note(code, message);
    }

    /// Reports that a call is not made because no tool has its name.
    pub(super) fn refuse_unknown(&mut self, registry: &Registry, name: &str) {
        self.broken += 1;
        let proposes = self.broken <= PROPOSALS_MAX;
        let close = if proposes { closest(registry, name) } else { None };
        self.diagnostics.push(no_tool(name, close));
    }

    /// Takes what stands beside it.
    pub(super) fn append(&mut self, mut other: Self) {
        self.calls.append(&mut other.calls);
        self.diagnostics.append(&mut other.diagnostics);
        self.typed.append(&mut other.typed);
        self.values += other.values;
        self.broken += other.broken;
    }

    pub(super) fn note(&mut self, code: DiagnosticCode, message: String) {
        self.diagnostics.push(ReplyDiagnostic::new(code, message));
    }

    /// Reports what is worth it only where the form is one of a chat template.
    fn report_typed(&mut self, message: String, change: RepairKind) {
        let changes = vec![change];
        self.typed.push(ReplyDiagnostic { code: DiagnosticCode::JsonRepaired, message, changes });
    }

    pub(super) fn has(&self, code: DiagnosticCode) -> bool {
        self.diagnostics.iter().any(|one| one.code == code)
    }

    /// Whether the end of a string was recognized by what follows it.
    fn is_guessed(&self) -> bool {
        self.has_change(RepairKind::InnerQuotes)
    }

    fn has_change(&self, change: RepairKind) -> bool {
        self.diagnostics.iter().any(|one| one.changes.contains(&change))
    }

    pub(super) fn note_changes(&mut self, changes: Vec<RepairKind>) {
        if !changes.is_empty() {
            let message = "the JSON was repaired".to_owned();
            self.diagnostics.push(ReplyDiagnostic {
                code: DiagnosticCode::JsonRepaired,
                message,
                changes,
            });
        }
    }

    fn add_written(&mut self, registry: &Registry, written: WrittenCall, explicit: bool) {
        let Some(name) = written.name else {
            let message = format!("no tool is named; say it as \"{}\"", NAME_KEYS[0]);
            return self.refuse(DiagnosticCode::UnknownTool, message);
        };
        if let Some(message) = contradiction(registry, &name, &written.other_names, written.clash) {
            return self.refuse(DiagnosticCode::SchemaInvalid, message);
        }
        if written.arguments.is_some() || !explicit {
            return self.add(registry, &name, written.arguments, written.id, explicit);
        }
        // The arguments stand beside the name.
        let mut beside = written.beside;
        beside.retain(|key, value| {
            let is_name = NAME_KEYS.contains(&key.as_str()) && value.as_str() == Some(&name);
            !is_name && !OTHER_KEYS.contains(&key.as_str())
        });
        let (has_none, before) = (beside.is_empty(), self.calls.len());
        self.add(registry, &name, Some(Value::Object(beside)), written.id, explicit);
        if has_none && self.calls.len() > before {
            let message = format!("{name}: no key holds arguments; it is called without any");
            self.report_typed(message, RepairKind::NoArguments);
        }
    }

    pub(super) fn add(
        &mut self,
        registry: &Registry,
        name: &str,
        value: Option<Value>,
        id: Option<String>,
        explicit: bool,
    ) {
        let Some(tool) = registry.resolve(name) else {
            return self.refuse_unknown(registry, name);
        };
        if value.is_none() && !explicit {
            let message = format!("{}: there are no arguments", tool.name());
            return self.refuse(DiagnosticCode::SchemaInvalid, message);
        }
        let arguments = match arguments(value, KnownKeys::of_arguments(registry, Some(tool))) {
            Ok(arguments) => arguments,
            Err(NotArguments::Twice(key)) => {
                let message = format!("{}: {}", tool.name(), said_twice(&key));
                return self.refuse(DiagnosticCode::MalformedJson, message);
            }
            Err(NotArguments::Bare(bare)) => match scalar(tool, bare) {
                Ok((parameter, arguments)) => {
                    let message = format!("{}: a bare value became `{parameter}`", tool.name());
                    self.note(DiagnosticCode::ScalarArgs, message);
                    arguments
                }
                Err(message) => return self.refuse(DiagnosticCode::SchemaInvalid, message),
            },
        };
        self.fit(tool, arguments, id);
    }

    pub(super) fn fit(
        &mut self,
        tool: &RegisteredTool,
        arguments: Map<String, Value>,
        id: Option<String>,
    ) {
        let rounded = self.has_change(RepairKind::Rounded).then(|| tool.rounded(&arguments));
        if let Some(key) = rounded.flatten() {
            self.diagnostics.retain(|one| !one.changes.contains(&RepairKind::Rounded));
            let message =
                format!("{}: /{key}: an integer has more digits than can be kept", tool.name());
            return self.refuse(DiagnosticCode::MalformedJson, message);
        }
        let fitted = tool.fit(arguments);
        if !fitted.violations.is_empty() {
            let mut told: Vec<String> = fitted.violations.iter().map(ToString::to_string).collect();
            told.extend(fitted.dropped.iter().map(|key| format!("there is no parameter `{key}`")));
            let message = format!("{}: {}", tool.name(), told.join("; "));
            return self.refuse(DiagnosticCode::SchemaInvalid, message);
        }
        if !fitted.dropped.is_empty() {
            let message = format!(
                "{} has no parameter `{}`; it was left out",
                tool.name(),
                fitted.dropped.join("`, `")
            );
            self.note(DiagnosticCode::UnknownArgDropped, message);
        }
        if !fitted.changes.is_empty() {
            let message = format!("{}: words with commas between them became a list", tool.name());
            let changes = fitted.changes;
            self.diagnostics.push(ReplyDiagnostic {
                code: DiagnosticCode::JsonRepaired,
                message,
                changes,
            });
        }
        if !fitted.coerced.is_empty() {
            let keys = fitted.coerced.join("`, `");
            let message = format!("{}: `{keys}` became what the schema asks for", tool.name());
            self.report_typed(message, RepairKind::Coerced);
        }
        self.calls.push(ReadyCall {
            name: tool.name().to_owned(),
            arguments: fitted.arguments,
            id,
        });
    }
}

/// Says that no tool has a name, and which one is meant perhaps.
pub(super) fn unknown(registry: &Registry, name: &str) -> ReplyDiagnostic {
    no_tool(name, closest(registry, name))
}

fn closest<'r>(registry: &'r Registry, name: &str) -> Option<&'r str> {
    registry.closest(shown(name))
}

fn no_tool(name: &str, close: Option<&str>) -> ReplyDiagnostic {
    let shown = shown(name);
    let message = match close {
        Some(close) => format!("there is no tool `{shown}`; did you mean `{close}`?"),
        None => format!("there is no tool `{shown}`"),
    };
    ReplyDiagnostic::new(DiagnosticCode::UnknownTool, message)
}

/// The part of a name that is shown.
fn shown(name: &str) -> &str {
    let end = name.char_indices().nth(NAME_CHARS_MAX).map_or(name.len(), |(end, _)| end);
    &name[..end]
}

/// Whether an id can be repeated to every client.
pub(super) fn is_id(id: &str) -> bool {
    let byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !id.is_empty() && id.len() <= ID_BYTES_MAX && id.bytes().all(byte)
}
