//! From the values inside of a frame to calls: which keys name the tool, which hold the arguments.

use serde_json::{Map, Value};

use super::mend::{self, Keys};
use crate::event::{Change, Code, Diagnostic};
use crate::registry::{Registry, Tool};

/// Keys that name the tool, the likeliest first.
pub(super) const NAME_KEYS: &[&str] = &["tool", "name", "tool_name", "function"];
/// Keys that hold the arguments, the likeliest first.
pub(super) const ARGUMENT_KEYS: &[&str] = &["parameters", "arguments", "input", "args", "params"];
/// Keys that may stand beside them.
pub(super) const OTHER_KEYS: &[&str] = &["id", "call_id", "type", "index"];
/// The key of a list of calls.
pub(super) const LIST_KEY: &str = "tool_calls";
/// How many levels of JSON inside of strings are taken out where an object belongs.
const NESTED_JSON_MAX: usize = 2;
/// The most bytes of an id that is kept.
const ID_BYTES_MAX: usize = 64;

/// Said where quotes inside of strings leave open where the strings end.
pub(super) const UNESCAPED: &str = "quotes inside of a string are not escaped; write each as \\\"";

/// A call that can be made.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Made {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    /// The id that the model wrote.
    pub(super) id: Option<String>,
}

/// What stands inside of a frame.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Inside {
    pub(super) calls: Vec<Made>,
    /// How they were read, or why there is none.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// How many were meant that are none.
    pub(super) broken: usize,
}

/// A call as it was written.
struct Written {
    name: Option<String>,
    arguments: Option<Value>,
    id: Option<String>,
    /// What else stands beside the name.
    beside: Map<String, Value>,
    /// Other names of tools, and the two keys that hold different arguments.
    other_names: Vec<String>,
    clash: Option<[&'static str; 2]>,
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
        return inside.none(Code::EmptyAction, "there is nothing inside of the action block");
    }
    let blank = named.is_some() && text.trim().is_empty();
    let keys = match named {
        Some(name) => Keys::of_arguments(registry, registry.resolve(name)),
        None => Keys::of_calls(registry),
    };
    let Some(mended) = mend::values(if blank { "{}" } else { text }, closed, keys) else {
        return inside.none(
            Code::MalformedJson,
            "what stands inside is not JSON; write one JSON object, strings in double quotes",
        );
    };
    inside.note_changes(mended.changes);
    if let Some(name) = named {
        let Ok([arguments @ Value::Object(_)]) = <[Value; 1]>::try_from(mended.values) else {
            return inside.none(Code::MalformedJson, "the arguments are not one JSON object");
        };
        inside.add(registry, name, Some(arguments), None, explicit);
        if inside.is_guessed() && inside.has(Code::UnknownArgDropped) {
            return Inside::default().none(Code::MalformedJson, UNESCAPED);
        }
        return inside;
    }
    let mut written = Vec::new();
    for value in mended.values {
        gather(value, &mut written);
    }
    if written.is_empty() {
        return inside.none(Code::EmptyAction, "there is no call inside of the action block");
    }
    for one in written {
        inside.add_written(registry, one, explicit);
    }
    if inside.is_guessed() && inside.has(Code::UnknownArgDropped) {
        return Inside::default().none(Code::MalformedJson, UNESCAPED);
    }
    if !explicit && inside.has(Code::UnknownArgDropped) {
        // Data that looks like a call, for example the description of a tool.
        inside.broken += 1;
    }
    inside
}

/// Adds the calls that a value of a frame holds: one, a list, or an object with a list. Lists in
/// lists are none.
fn gather(value: Value, written: &mut Vec<Written>) {
    let listed = match value {
        Value::Object(mut fields) => match fields.get_mut(LIST_KEY) {
            Some(Value::Array(values)) => std::mem::take(values),
            _ => return written.extend(read(fields)),
        },
        Value::Array(values) => values,
        _ => return,
    };
    for value in listed {
        if let Value::Object(fields) = value {
            written.extend(read(fields));
        }
    }
}

fn read(mut fields: Map<String, Value>) -> Option<Written> {
    if fields.is_empty() {
        return None;
    }
    let id = ["id", "call_id"].iter().find_map(|key| fields.get(*key)?.as_str());
    let id = id.filter(|id| is_id(id)).map(str::to_owned);
    let mut written = match fields.get_mut("function") {
        Some(Value::Object(function)) => {
            let said = said_in(function);
            fields.shift_remove("function");
            said
        }
        _ => said_in(&mut fields),
    };
    written.id = id;
    written.beside = fields;
    Some(written)
}

/// Takes the name of the tool and its arguments out of an object.
fn said_in(fields: &mut Map<String, Value>) -> Written {
    let mut names = NAME_KEYS.iter().filter_map(|key| fields.get(*key)?.as_str());
    let name = names.next().map(str::to_owned);
    let other_names = names.map(str::to_owned).collect();
    let mut given = ARGUMENT_KEYS.iter().filter(|key| fields.contains_key(**key));
    let mut key = given.next().copied();
    let mut clash = None;
    for other in given.copied() {
        let (first, second) = (key.and_then(|key| fields.get(key)), fields.get(other));
        if first == second || !second.is_some_and(says_something) {
            continue;
        }
        match key.filter(|_| first.is_some_and(says_something)) {
            Some(first) => clash = clash.or(Some([first, other])),
            None => key = Some(other),
        }
    }
    let arguments = key.and_then(|key| fields.get_mut(key)).map(Value::take);
    Written { name, arguments, id: None, beside: Map::new(), other_names, clash }
}

/// Whether a value of a key for arguments has any.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// Takes arguments out of what stands where they belong: an object, nothing, or JSON in strings.
/// Returns the bare value where it is none of them.
pub(super) fn arguments(value: Option<Value>, keys: Keys<'_>) -> Result<Map<String, Value>, Value> {
    let bare = match value {
        None => return Ok(Map::new()),
        Some(Value::Object(fields)) => return Ok(fields),
        Some(bare) => bare,
    };
    let mut inner = None;
    for level in 0..=NESTED_JSON_MAX {
        inner = match inner.as_ref().unwrap_or(&bare) {
            Value::Null => return Ok(Map::new()),
            Value::String(text) if text.trim().is_empty() => return Ok(Map::new()),
            Value::String(text) if level < NESTED_JSON_MAX => nested(text, keys),
            _ => None,
        };
        match inner {
            Some(Value::Object(fields)) => return Ok(fields),
            Some(_) => {}
            None => break,
        }
    }
    Err(bare)
}

fn nested(text: &str, keys: Keys<'_>) -> Option<Value> {
    let text = text.trim();
    if text.starts_with('"') {
        return serde_json::from_str(text).ok();
    }
    if !text.starts_with('{') {
        return None;
    }
    let mut mended = mend::values(text, false, keys)?;
    // Words of a shell may begin with a brace.
    let is_whole = !mended.changes.contains(&Change::SurroundingText) && mended.values.len() == 1;
    is_whole.then(|| mended.values.remove(0))
}

// === impl Inside ===

impl Inside {
    pub(super) fn none(mut self, code: Code, message: &str) -> Self {
        self.broken += 1;
        self.diagnostics.push(Diagnostic::new(code, message));
        self
    }

    fn has(&self, code: Code) -> bool {
        self.diagnostics.iter().any(|one| one.code == code)
    }

    /// Whether the end of a string was told by what follows it.
    fn is_guessed(&self) -> bool {
        let guessed = |one: &Diagnostic| one.changes.contains(&Change::InnerQuotes);
        self.diagnostics.iter().any(guessed)
    }

    pub(super) fn note_changes(&mut self, changes: Vec<Change>) {
        if !changes.is_empty() {
            let message = "the JSON was mended".to_owned();
            self.diagnostics.push(Diagnostic { code: Code::JsonRepaired, message, changes });
        }
    }

    fn add_written(&mut self, registry: &Registry, written: Written, explicit: bool) {
        let Some(name) = written.name else {
            self.broken += 1;
            let message = format!("no tool is named; say it as \"{}\"", NAME_KEYS[0]);
            self.diagnostics.push(Diagnostic::new(Code::UnknownTool, message));
            return;
        };
        if let Some(message) = contradiction(registry, &name, &written.other_names, written.clash) {
            self.broken += 1;
            self.diagnostics.push(Diagnostic::new(Code::SchemaInvalid, message));
            return;
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
        self.add(registry, &name, Some(Value::Object(beside)), written.id, explicit);
    }

    fn add(
        &mut self,
        registry: &Registry,
        name: &str,
        value: Option<Value>,
        id: Option<String>,
        explicit: bool,
    ) {
        let Some(tool) = registry.resolve(name) else {
            self.broken += 1;
            self.diagnostics.push(unknown(registry, name));
            return;
        };
        if value.is_none() && !explicit {
            self.broken += 1;
            let message = format!("{}: there are no arguments", tool.name());
            self.diagnostics.push(Diagnostic::new(Code::SchemaInvalid, message));
            return;
        }
        let arguments = match arguments(value, Keys::of_arguments(registry, Some(tool))) {
            Ok(arguments) => arguments,
            Err(bare) => match scalar(tool, bare) {
                Ok((parameter, arguments)) => {
                    let message = format!("{}: a bare value became `{parameter}`", tool.name());
                    self.diagnostics.push(Diagnostic::new(Code::ScalarArgs, message));
                    arguments
                }
                Err(message) => {
                    self.broken += 1;
                    self.diagnostics.push(Diagnostic::new(Code::SchemaInvalid, message));
                    return;
                }
            },
        };
        self.fit(tool, arguments, id);
    }

    pub(super) fn fit(&mut self, tool: &Tool, arguments: Map<String, Value>, id: Option<String>) {
        let fitted = tool.fit(arguments);
        if !fitted.violations.is_empty() {
            self.broken += 1;
            let mut told: Vec<String> = fitted.violations.iter().map(|one| one.told()).collect();
            told.extend(fitted.dropped.iter().map(|key| format!("there is no parameter `{key}`")));
            let message = format!("{}: {}", tool.name(), told.join("; "));
            self.diagnostics.push(Diagnostic::new(Code::SchemaInvalid, message));
            return;
        }
        if !fitted.dropped.is_empty() {
            let message = format!(
                "{} has no parameter `{}`; it was left out",
                tool.name(),
                fitted.dropped.join("`, `")
            );
            self.diagnostics.push(Diagnostic::new(Code::UnknownArgDropped, message));
        }
        self.calls.push(Made { name: tool.name().to_owned(), arguments: fitted.arguments, id });
    }
}

/// Says that no tool has a name, and which one is meant perhaps.
pub(super) fn unknown(registry: &Registry, name: &str) -> Diagnostic {
    let shown: String = name.chars().take(80).collect();
    let message = match registry.closest(&shown) {
        Some(close) => format!("there is no tool `{shown}`; did you mean `{close}`?"),
        None => format!("there is no tool `{shown}`"),
    };
    Diagnostic::new(Code::UnknownTool, message)
}

/// Makes arguments of a bare value where only one can be meant.
fn scalar(tool: &Tool, value: Value) -> Result<(&str, Map<String, Value>), String> {
    match tool.only_required_string() {
        Some(parameter) if !value.is_array() => {
            Ok((parameter, Map::from_iter([(parameter.to_owned(), value)])))
        }
        _ => Err(format!("{}: the arguments are not an object", tool.name())),
    }
}

/// Says what two keys of a call say differently: which of them is meant, nobody knows.
fn contradiction(
    registry: &Registry,
    name: &str,
    other_names: &[String],
    clash: Option<[&str; 2]>,
) -> Option<String> {
    if let Some([first, other]) = clash {
        return Some(format!("`{first}` and `{other}` hold different arguments; write one"));
    }
    if other_names.is_empty() {
        return None;
    }
    let first = registry.resolve(name)?.name();
    let mut others = other_names.iter().filter_map(|other| registry.resolve(other));
    let other = others.find(|other| other.name() != first)?.name();
    Some(format!("both `{first}` and `{other}` are named; write one call for each"))
}

/// Whether an id can be repeated to every client.
pub(super) fn is_id(id: &str) -> bool {
    let byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !id.is_empty() && id.len() <= ID_BYTES_MAX && id.bytes().all(byte)
}
