//! A tool's arguments as they are typed: JSON, or `KEY=VALUE` read by the tool's schema.
//!
//! Only the form is checked here; whether the arguments fit is the daemon's to say.

use std::io::Read as _;

use crate::client::Client;
use moss_proto::v1;
use serde_json::{Map, Value};

use super::error::CliError;

/// Most bytes of arguments that are read from standard input.
const STDIN_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Taking changes back.
const UNDO: &str = "undo";
/// Most parts of a parameter's schema that are looked at.
const SCHEMA_PARTS_MAX: usize = 64;

/// What a tool is called with.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Arguments; use KEY:=JSON to give a value as JSON
    ///
    /// VALUE is text where the parameter is text, and JSON where it is a number, a boolean, a list
    /// or an object.
    #[arg(value_name = "KEY=VALUE")]
    pairs: Vec<String>,

    /// All arguments as a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON", conflicts_with = "pairs")]
    args: Option<String>,
}

// === impl Arguments ===

impl Arguments {
    /// Whether they come from standard input, so that nobody can be asked there.
    pub(super) fn is_stdin(&self) -> bool {
        self.args.as_deref() == Some("-")
    }

    /// Returns them as JSON. Asks for the tool's schema only where there is something to read by it.
    pub(super) async fn to_json(&self, client: &Client, tool: &str) -> Result<String, CliError> {
        match &self.args {
            Some(_) if self.is_stdin() => read_stdin(),
            Some(json) => Ok(json.clone()),
            None if self.pairs.is_empty() => Ok(String::new()),
            None => {
                let tool = match tool {
                    // It has a name for rules and is in no catalog.
                    UNDO => v1::Tool::default(),
                    tool => client.tool(tool).await?,
                };
                Ok(Value::Object(parse(&self.pairs, &tool)?).to_string())
            }
        }
    }
}

fn read_stdin() -> Result<String, CliError> {
    let mut json = String::new();
    let read = std::io::stdin().lock().take(STDIN_BYTES_MAX + 1).read_to_string(&mut json)?;
    if read as u64 > STDIN_BYTES_MAX {
        let message = format!("more than {STDIN_BYTES_MAX} bytes of arguments");
        return Err(CliError::invalid(message));
    }
    Ok(json)
}

/// Reads `KEY=VALUE` and `KEY:=JSON`.
fn parse(pairs: &[String], tool: &v1::Tool) -> Result<Map<String, Value>, CliError> {
    let schema: Value = serde_json::from_str(&tool.parameters_json).unwrap_or_default();
    let mut arguments = Map::new();
    for pair in pairs {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(CliError::invalid(format!("expected KEY=VALUE, got `{pair}`")));
        };
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => (key, json(key, value)?),
            None => (key, read(key, value, &Kinds::of_parameter(tool, &schema, key))?),
        };
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(CliError::invalid(format!("`{key}` is given twice")));
        }
    }
    Ok(arguments)
}

/// Reads one value as what the schema wants; text where it does not say.
fn read(key: &str, value: &str, kinds: &Kinds) -> Result<Value, CliError> {
    match (kinds.text, kinds.others.is_empty()) {
        (_, true) => Ok(Value::String(value.to_owned())),
        (false, false) => serde_json::from_str(value).map_err(|_| {
            let kinds = kinds.others.iter().map(|kind| in_words(kind, key, value));
            let expected = kinds.collect::<Vec<_>>().join(" or ");
            CliError::invalid(format!("`{key}`: expected {expected}, got `{value}`"))
        }),
        // Both are possible: what reads as one of the others is meant as that.
        (true, false) => Ok(serde_json::from_str(value)
            .ok()
            .filter(|read| kinds.accept(read))
            .unwrap_or_else(|| Value::String(value.to_owned()))),
    }
}

/// Reads what is said to be JSON.
fn json(key: &str, value: &str) -> Result<Value, CliError> {
    serde_json::from_str(value).map_err(|error| {
        CliError::invalid(format!("`{key}`: expected JSON, got `{value}`: {error}"))
    })
}

/// Says what to write for a type.
fn in_words(kind: &str, key: &str, value: &str) -> String {
    match kind {
        "boolean" => "true or false".to_owned(),
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        "array" => format!("a list such as {key}='[\"{value}\"]'"),
        "object" => format!("an object such as {key}='{{\"name\": \"{value}\"}}'"),
        other => other.to_owned(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The types that a schema accepts; none where it does not say.
#[derive(Debug, Default, PartialEq, Eq)]
struct Kinds {
    text: bool,
    others: Vec<String>,
}

// === impl Kinds ===

impl Kinds {
    /// Looks a parameter up, also by its other names.
    fn of_parameter(tool: &v1::Tool, schema: &Value, key: &str) -> Self {
        let main = tool
            .aliases
            .iter()
            .find(|alias| alias.aliases.iter().any(|name| name == key))
            .map_or(key, |alias| &alias.parameter);
        let mut kinds = Self::default();
        if let Some(property) = schema.get("properties").and_then(|all| all.get(main)) {
            kinds.collect(schema, property);
        }
        kinds
    }

    /// Collects the types that a part of a schema accepts, through references and alternatives.
    fn collect(&mut self, root: &Value, schema: &Value) {
        let mut waiting = vec![schema];
        for _ in 0..SCHEMA_PARTS_MAX {
            let Some(part) = waiting.pop() else { return };
            match part.get("type") {
                Some(Value::String(kind)) => self.add(kind),
                Some(Value::Array(kinds)) => {
                    kinds.iter().filter_map(Value::as_str).for_each(|kind| self.add(kind));
                }
                _ => {
                    let values = part.get("enum").and_then(Value::as_array).into_iter().flatten();
                    values.chain(part.get("const")).for_each(|value| self.add(kind_of(value)));
                }
            }
            let reference = part.get("$ref").and_then(Value::as_str);
            waiting.extend(reference.and_then(|path| root.pointer(path.strip_prefix('#')?)));
            for key in ["anyOf", "oneOf", "allOf"] {
                let parts = part.get(key).and_then(Value::as_array).into_iter().flatten();
                waiting.extend(parts.take(SCHEMA_PARTS_MAX));
            }
        }
    }

    fn accept(&self, value: &Value) -> bool {
        let kind = kind_of(value);
        // An integer is a number, too.
        self.others.iter().any(|known| known == kind || known == "number" && kind == "integer")
    }

    fn add(&mut self, kind: &str) {
        match kind {
            "string" => self.text = true,
            other if !self.others.iter().any(|known| known == other) => {
                self.others.push(other.to_owned());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
