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
struct Written<'v> {
    name: Option<&'v str>,
    arguments: Option<&'v Value>,
    /// Where both stand.
    inner: &'v Map<String, Value>,
    whole: &'v Map<String, Value>,
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
        let [Value::Object(arguments)] = mended.values.as_slice() else {
            return inside.none(Code::MalformedJson, "the arguments are not one JSON object");
        };
        let arguments = Value::Object(arguments.clone());
        inside.add(registry, name, Some(&arguments), None, explicit);
        if inside.is_guessed() && inside.has(Code::UnknownArgDropped) {
            return Inside::default().none(Code::MalformedJson, UNESCAPED);
        }
        return inside;
    }
    let mut written = Vec::new();
    for value in &mended.values {
        gather(value, &mut written);
    }
    if written.is_empty() {
        return inside.none(Code::EmptyAction, "there is no call inside of the action block");
    }
    for one in written {
        inside.add_written(registry, &one, explicit);
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
fn gather<'v>(value: &'v Value, written: &mut Vec<Written<'v>>) {
    let listed = match value {
        Value::Object(fields) => match fields.get(LIST_KEY) {
            Some(Value::Array(values)) => values,
            _ => return written.extend(read(fields)),
        },
        Value::Array(values) => values,
        _ => return,
    };
    written.extend(listed.iter().filter_map(Value::as_object).filter_map(read));
}

fn read(fields: &Map<String, Value>) -> Option<Written<'_>> {
    if fields.is_empty() {
        return None;
    }
    if let Some(Value::Object(function)) = fields.get("function") {
        return Some(Written { whole: fields, ..fields_of(function) });
    }
    Some(fields_of(fields))
}

fn fields_of(fields: &Map<String, Value>) -> Written<'_> {
    let mut arguments = ARGUMENT_KEYS.iter().filter_map(|key| fields.get(*key));
    let first = arguments.clone().next();
    Written {
        name: NAME_KEYS.iter().find_map(|key| fields.get(*key)?.as_str()),
        arguments: arguments.find(|value| says_something(value)).or(first),
        inner: fields,
        whole: fields,
    }
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
pub(super) fn arguments(
    value: Option<&Value>,
    keys: Keys<'_>,
) -> Result<Map<String, Value>, Value> {
    let Some(bare) = value else { return Ok(Map::new()) };
    let mut inner = None;
    for _ in 0..=NESTED_JSON_MAX {
        inner = match inner.as_ref().unwrap_or(bare) {
            Value::Null => return Ok(Map::new()),
            Value::Object(fields) => return Ok(fields.clone()),
            Value::String(text) if text.trim().is_empty() => return Ok(Map::new()),
            Value::String(text) => nested(text, keys),
            _ => None,
        };
        if inner.is_none() {
            break;
        }
    }
    Err(bare.clone())
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

// === impl Written ===

impl Written<'_> {
    /// What two of its keys say differently: which is meant, nobody knows.
    fn contradiction(&self, registry: &Registry) -> Option<String> {
        let given = |key: &&'static str| {
            let value = self.inner.get(*key).filter(|value| says_something(value))?;
            Some((*key, value))
        };
        let mut given = ARGUMENT_KEYS.iter().filter_map(given);
        if let Some((first, value)) = given.next()
            && let Some((other, _)) = given.find(|(_, other)| *other != value)
        {
            return Some(format!("`{first}` and `{other}` say different arguments; write one"));
        }
        let tool = |key: &&str| registry.resolve(self.inner.get(*key)?.as_str()?);
        let mut named = NAME_KEYS.iter().filter_map(tool).map(Tool::name);
        let first = named.next()?;
        let other = named.find(|other| *other != first)?;
        Some(format!("both `{first}` and `{other}` are named; write one call for each"))
    }
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

    fn add_written(&mut self, registry: &Registry, written: &Written<'_>, explicit: bool) {
        let Some(name) = written.name else {
            self.broken += 1;
            let message = format!("no tool is named; say it as \"{}\"", NAME_KEYS[0]);
            self.diagnostics.push(Diagnostic::new(Code::UnknownTool, message));
            return;
        };
        if let Some(message) = written.contradiction(registry) {
            self.broken += 1;
            self.diagnostics.push(Diagnostic::new(Code::SchemaInvalid, message));
            return;
        }
        let id = ["id", "call_id"].iter().find_map(|key| written.whole.get(*key)?.as_str());
        let id = id.filter(|id| is_id(id)).map(str::to_owned);
        if written.arguments.is_some() || !explicit {
            return self.add(registry, name, written.arguments, id, explicit);
        }
        // The arguments stand beside the name.
        let beside = written.whole.iter().filter(|(key, value)| {
            let is_name = NAME_KEYS.contains(&key.as_str()) && value.as_str() == Some(name);
            !is_name && !OTHER_KEYS.contains(&key.as_str()) && !value_is_function(key, value)
        });
        let beside =
            Value::Object(beside.map(|(key, value)| (key.clone(), value.clone())).collect());
        self.add(registry, name, Some(&beside), id, explicit);
    }

    fn add(
        &mut self,
        registry: &Registry,
        name: &str,
        value: Option<&Value>,
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

fn value_is_function(key: &str, value: &Value) -> bool {
    key == "function" && value.is_object()
}

/// Whether an id can be repeated to every client.
pub(super) fn is_id(id: &str) -> bool {
    let byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !id.is_empty() && id.len() <= ID_BYTES_MAX && id.bytes().all(byte)
}
