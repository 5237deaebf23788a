//! Calls to show: real ones, of tools that are there, with arguments that fit.

use serde_json::{Map, Value, json};

use crate::block::action_block;
use crate::registry::{RegisteredTool, Registry};

/// How deep made-up arguments go.
const DEPTH_MAX: usize = 4;
/// Tools that make good first calls, the best first.
const FIRST: &[&str] =
    &["grep_search", "list_directory", "list_dir", "codebase_search", "file_search"];
/// Tools that make good second calls.
const SECOND: &[&str] = &["read_file", "patch", "replace_text", "create_file", "run_terminal_cmd"];
/// Tools whose path is that of a directory.
const LISTING: &[&str] = &["list_directory", "list_dir"];
/// Values by the names of parameters.
const VALUES: &[(&str, &str)] = &[
    ("path", "src/app.py"),
    ("filepath", "src/app.py"),
    ("file", "src/app.py"),
    ("testfile", "tests/test_app.py"),
    ("cwd", "."),
    ("command", "ls"),
    ("cmd", "ls"),
    ("pattern", "retries"),
    ("query", "retries"),
    ("search", "retries"),
    ("oldtext", "retries = 1"),
    ("old_text", "retries = 1"),
    ("old_string", "retries = 1"),
    ("newtext", "retries = 3"),
    ("new_text", "retries = 3"),
    ("new_string", "retries = 3"),
    ("content", "retries = 3\n"),
    ("text", "retries = 3"),
    ("diffcontent", "------- SEARCH\nretries = 1\n=======\nretries = 3\n+++++++ REPLACE"),
    ("question", "Which file?"),
];

/// Two tools to show, the named one first. They are the same where there is only one.
pub(super) fn pair<'r>(
    registry: &'r Registry,
    named: Option<&'r RegisteredTool>,
) -> (&'r RegisteredTool, &'r RegisteredTool) {
    let pick = |names: &[&str], but: Option<&str>| {
        let preferred = names.iter().filter_map(|name| registry.tool(name));
        let fits = |tool: &&'r RegisteredTool| Some(tool.name()) != but && is_sound(tool);
        preferred.chain(registry.tools()).find(fits)
    };
    let any = || registry.tools().next().expect("a prompt of calls has a tool");
    let first = named.or_else(|| pick(FIRST, None)).unwrap_or_else(any);
    let second = pick(SECOND, Some(first.name())).unwrap_or(first);
    (first, second)
}

/// A call of a tool, as a block.
pub(super) fn block(tool: &RegisteredTool) -> String {
    action_block(tool.name(), &sample(tool), None)
}

/// Arguments for a tool: what it requires and nothing else.
pub(crate) fn sample(tool: &RegisteredTool) -> Map<String, Value> {
    match object(&tool.definition().parameters, DEPTH_MAX) {
        Value::Object(mut fields) => {
            if LISTING.contains(&tool.name()) && fields.contains_key("path") {
                fields.insert("path".to_owned(), json!("src"));
            }
            fields
        }
        _ => Map::new(),
    }
}

fn is_sound(tool: &RegisteredTool) -> bool {
    tool.fit(sample(tool)).violations.is_empty()
}

fn object(schema: &Value, depth: usize) -> Value {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let fields = names.map(|name| {
        let property = schema.pointer("/properties").and_then(|all| all.get(name));
        (name.to_owned(), value(name, property.unwrap_or(&Value::Null), depth))
    });
    Value::Object(fields.collect())
}

fn value(name: &str, schema: &Value, depth: usize) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.first()) {
        return first.clone();
    }
    let listed = schema.get("type").and_then(Value::as_array).and_then(|all| all.first());
    let kind = listed.or_else(|| schema.get("type")).and_then(Value::as_str);
    match kind {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array")
            if depth > 0 && schema.get("minItems").is_some_and(|min| *min != json!(0)) =>
        {
            json!([value(name, schema.get("items").unwrap_or(&Value::Null), depth - 1)])
        }
        Some("array") => json!([]),
        Some("object") if depth > 0 => object(schema, depth - 1),
        Some("object") => json!({}),
        _ => {
            let key = name.to_ascii_lowercase();
            let known = VALUES.iter().find(|(known, _)| *known == key);
            json!(known.map_or("text", |(_, value)| value))
        }
    }
}
