//! How much memory a call holds of what it came with.

use serde_json::Value;

use super::Work;

// === impl Work ===

impl Work {
    /// How long the texts are that it came with, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Tool { arguments: Ok(arguments), .. } => {
                arguments.iter().map(|(key, value)| key.len() + text_bytes(value)).sum()
            }
            Self::Tool { arguments: Err(unread), .. } => unread.text.len(),
            Self::Undo(_) | Self::UndoUserPrompt { .. } | Self::ChangePlugins(_) => 0,
        }
    }
}

/// How long the texts of a value are; each value takes some room beside them.
fn text_bytes(value: &Value) -> usize {
    let inner = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| key.len() + text_bytes(value)).sum()
        }
    };
    inner + size_of::<Value>()
}
