//! Whether what a tool gave back is an error.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde_json::{Map, Value};

/// The most bytes of a result that are read to decide whether it is an error.
const RESULT_BYTES_MAX: usize = 64 * 1024;
/// What a text that is an error starts with, lowercase.
const STARTS: &[&str] =
    &["error:", "error ", "error[", "[error]", "failed:", "错误:", "错误:", "失败:", "失败:"];
/// Words of which an error in JSON has one.
const WORDS: &[&str] = &["error", "\"ok\"", "\"success\"", "\"status\"", "\"outcome\""];

static FINDERS: LazyLock<Vec<Finder<'static>>> =
    LazyLock::new(|| WORDS.iter().map(|word| Finder::new(word.as_bytes())).collect());

/// Whether the message of a tool reports an error: by its own `is_error`, by fields of an object
/// that say so, by the first word of a text.
pub(crate) fn is_error(message: &Map<String, Value>) -> bool {
    if let Some(Value::Bool(is_error)) = message.get("is_error") {
        return *is_error;
    }
    match message.get("content") {
        Some(Value::Object(fields)) => says_error(fields),
        Some(Value::String(text)) => text_is_error(text),
        Some(Value::Array(parts)) => parts
            .first()
            .and_then(|part| part.get("text"))
            .and_then(Value::as_str)
            .is_some_and(text_is_error),
        _ => false,
    }
}

/// The code of the error, where the result has one.
pub(crate) fn error_code(message: &Map<String, Value>) -> Option<String> {
    let parsed = match message.get("content")? {
        Value::Object(fields) => fields.clone(),
        Value::String(text) => serde_json::from_str(text).ok()?,
        _ => return None,
    };
    let code = match parsed.get("error") {
        Some(Value::Object(error)) => error.get("code")?,
        _ => parsed.get("code").or_else(|| parsed.get("error"))?,
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let code = code.as_str()?;
    (!code.is_empty() && code.len() <= 64 && code.chars().all(is_word)).then(|| code.to_owned())
}

fn text_is_error(text: &str) -> bool {
    let text = text.trim_start();
    if !text.starts_with('{') {
        return STARTS.iter().any(|start| {
            text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
        });
    }
    let bytes = text.as_bytes();
    if bytes.len() > RESULT_BYTES_MAX || !FINDERS.iter().any(|finder| finder.find(bytes).is_some())
    {
        return false;
    }
    serde_json::from_str::<Map<String, Value>>(text).is_ok_and(|fields| says_error(&fields))
}

fn says_error(fields: &Map<String, Value>) -> bool {
    let is_false = |key: &str| fields.get(key) == Some(&Value::Bool(false));
    let has_error = match fields.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    };
    let says = |key: &str| {
        fields.get(key).and_then(Value::as_str).is_some_and(|word| {
            matches!(word, "error" | "failed" | "denied" | "invalid" | "timeout" | "cancelled")
        })
    };
    has_error
        || fields.get("is_error") == Some(&Value::Bool(true))
        || is_false("ok")
        || is_false("success")
        || says("status")
        || says("outcome")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_are_distinguished_from_results_that_talk_about_errors() {
        for (message, expected) in [
            (json!({"content": "{\"error\":{\"code\":\"not_found\"}}"}), true),
            (json!({"content": "{\"error\":\"invalid_arguments\"}"}), true),
            (json!({"content": {"ok": false}}), true),
            (json!({"content": "{\"outcome\":\"denied\"}"}), true),
            (json!({"content": "Error: no such file"}), true),
            (json!({"content": "错误:没有权限"}), true),
            (json!({"content": [{"type": "text", "text": "error: x"}]}), true),
            (json!({"content": "fine", "is_error": true}), true),
            (json!({"content": "error: as asked", "is_error": false}), false),
            (json!({"content": "{\"error\":null,\"n\":1}"}), false),
            (json!({"content": "{\"matches\":[{\"text\":\"error: x\"}]}"}), false),
            (json!({"content": "errors.rs has 3 lines"}), false),
            (json!({"content": "{\"errors\": 0, \"status\": \"ok\"}"}), false),
            (json!({"content": null}), false),
        ] {
            assert_eq!(is_error(message.as_object().unwrap()), expected, "{message}");
        }
    }

    #[test]
    fn codes_of_errors_are_words() {
        for (content, code) in [
            (json!("{\"error\":{\"code\":\"no_match\"}}"), Some("no_match")),
            (json!({"error": "timeout"}), Some("timeout")),
            (json!({"error": "it failed"}), None),
            (json!("Error: x"), None),
        ] {
            let message = json!({ "content": content });
            assert_eq!(error_code(message.as_object().unwrap()).as_deref(), code, "{message}");
        }
    }
}
