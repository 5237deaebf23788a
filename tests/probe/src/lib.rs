//! Does what a test tells it, through everything that a plugin may ask of moss.

use moss::guest::serde_json::Value;
use moss::guest::{editor, http, store, toolbox};
use moss::{Capability, ErrorCode, ToolError, json};

moss::export! {
    tools: [probe],
    requests: [
        Capability::http("*", "to be tested"),
        Capability::env("*", "to be tested"),
        Capability::store("1MiB", "to be tested"),
        Capability::tool("*", "to be tested"),
        Capability::editor("to be tested"),
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
        "panic" => panic!("as told"),
        other => Err(ToolError::new(ErrorCode::InvalidArguments, format!("no step `{other}`"))),
    }
}

fn follows(step: &Value) -> bool {
    step["follow"].as_bool().unwrap_or(false)
}
