//! A plugin of moss with one tool.

use moss::{Example, ToolError, json};

moss::export! { tools: [{{tool}}] }

/// What to shout.
#[moss::data]
struct Parameters {
    /// The text.
    text: String,
}

/// Returns a text in capitals.
#[moss::tool(idempotent, examples = examples)]
fn {{tool}}(parameters: Parameters) -> Result<String, ToolError> {
    Ok(parameters.text.to_uppercase())
}

fn examples() -> Vec<Example> {
    vec![Example::new("a word", json!({ "text": "ho" })).output(json!("HO"))]
}
