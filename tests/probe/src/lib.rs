//! Does what a test tells it, through everything that a plugin may ask of moss.

use moss::guest::serde_json::Value;
use moss::guest::{commands, content, editor, http, index, store, toolbox};
use moss::{Capability, ErrorCode, ToolError, json};

moss::export! {
    tools: [probe],
    requests: [
        Capability::http("*", "to be tested"),
        Capability::env("*", "to be tested"),
        Capability::store("1MiB", "to be tested"),
        Capability::tool("*", "to be tested"),
        Capability::editor("to be tested"),
        Capability::index("to be tested"),
        Capability::command("*", "to be tested"),
    ],
}

/// What to do.
#[moss::data]
struct Probe {
    /// One after the other: objects with `do` and what that needs.
    steps: Vec<Value>,
    /// Whether the first error is the tool's own; by default it is an output like others.
    #[serde(default)]
    fail: bool,
}

/// Does one thing after the other and returns what came of each.
#[moss::tool]
fn probe(parameters: Probe) -> Result<Vec<Value>, ToolError> {
    let mut outputs = Vec::new();
    for step in &parameters.steps {
        match take(step) {
            Ok(output) => outputs.push(output),
            Err(error) if parameters.fail => return Err(error),
            Err(error) => outputs.push(json!({
                "error": error.code, "message": error.message, "hint": error.hint,
            })),
        }
    }
    Ok(outputs)
}

fn take(step: &Value) -> Result<Value, ToolError> {
    let text = |key: &str| step[key].as_str().unwrap_or_default();
    match text("do") {
        "get" => {
            let request =
                http::Request::get(text("url")).redirects_max(5 * usize::from(follows(step)));
            let response = request.body_bytes_max(64 << 20).send()?;
            let body = String::from_utf8_lossy(&response.body).into_owned();
            Ok(json!({ "status": response.status, "body": body }))
        }
        "env" => Ok(json!(std::env::vars().collect::<Vec<_>>())),
        "set" => Ok(json!(store::set(text("key"), text("value").as_bytes())?)),
        "load" => {
            let value = store::get(text("key"))?;
            Ok(json!(value.map(|value| String::from_utf8_lossy(&value).into_owned())))
        }
        "delete" => Ok(json!(store::delete(text("key"))?)),
        "keys" => Ok(json!(store::keys(text("prefix"))?)),
        "call" => toolbox::call(text("tool"), &step["arguments"]),
        "symbols" => {
            let symbols = editor::symbols(text("path"))?;
            Ok(json!(symbols.map(|all| all.into_iter().map(|one| one.name).collect::<Vec<_>>())))
        }
        "search" => {
            let lines_max = step["lines"].as_u64().map_or(100, |lines| lines as u32);
            let file_types = step["types"].as_str().map(str::to_owned);
            let query =
                index::Query { lines_max, file_types, ..index::Query::new(text("pattern")) };
            let found = index::search(&query)?;
            let line = |line: index::Line| {
                format!("{}:{}:{}: {}", line.path, line.number, line.column, line.text)
            };
            Ok(json!({
                "lines": found.lines.into_iter().map(line).collect::<Vec<_>>(),
                "total": found.total,
                "files": [found.files_matched, found.files_searched],
                "truncated": found.truncated,
            }))
        }
        "declared" => declared(step),
        "run" => {
            let words = step["words"].as_array().into_iter().flatten();
            let words = words.filter_map(|word| word.as_str().map(str::to_owned)).collect();
            let directory = step["directory"].as_str().map(str::to_owned);
            let ended = commands::run_in(&commands::Command { words, directory })?;
            Ok(json!({
                "exit_code": ended.exit_code,
                "stdout": ended.stdout,
                "stderr": ended.stderr,
                "truncated": ended.truncated,
                "changed": ended.changed,
            }))
        }
        "show" => {
            let bytes = step["image"].as_array().into_iter().flatten();
            let bytes: Vec<u8> =
                bytes.filter_map(|byte| byte.as_u64()).map(|byte| byte as u8).collect();
            Ok(json!(match text("kind") {
                "text" => content::text(text("text"))?,
                "json" => content::json(&step["value"])?,
                "link" => content::link(text("uri"), text("name"))?,
                _ => content::image(bytes)?,
            }))
        }
        "panic" => panic!("as told"),
        other => Err(ToolError::new(ErrorCode::InvalidArguments, format!("no step `{other}`"))),
    }
}

/// What declares names, each as `path:first-last kind container.name`.
fn declared(step: &Value) -> Result<Value, ToolError> {
    let names = step["names"].as_array().into_iter().flatten();
    let found = index::symbols(names.filter_map(|name| name.as_str()))?;
    let one = |found: index::Declaration| {
        let container = found.container.unwrap_or_default();
        format!(
            "{}:{}-{} {} {container}.{}",
            found.path, found.line, found.end_line, found.kind, found.name
        )
    };
    Ok(json!(found.into_iter().map(one).collect::<Vec<_>>()))
}

fn follows(step: &Value) -> bool {
    step["follow"].as_bool().unwrap_or(false)
}
