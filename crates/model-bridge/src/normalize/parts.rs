//! Content: a text, or a list of parts of many kinds.

use serde_json::Value;

use super::error::RequestError;
use super::fields::Fields;
use super::note::{NoteCode, Notes};
use super::path::Path;
use crate::conversation::MessagePart;

/// Parts that a client shows and that go on as they are.
const SHOWN: &[&str] = &[
    "audio",
    "document",
    "file",
    "image",
    "image_url",
    "input_audio",
    "input_file",
    "input_image",
    "input_video",
    "search_result",
    "tool_reference",
    "video",
    "video_url",
];
/// Parts in which a model thinks.
const THOUGHT: &[&str] = &["reasoning", "reasoning_text", "redacted_thinking", "thinking"];
/// What content may be, for errors.
const WANTED: &str = "a string or an array of parts such as {\"type\": \"text\", \"text\": …}";

/// What a part is, before anyone says what becomes of it.
pub(super) enum PartKind {
    /// Text to be read, perhaps empty.
    Text(String),
    /// A file or something else to be shown, untouched.
    Shown(Value),
    /// What a model thought.
    Thought,
    /// A part of a type that is not known here.
    Other {
        /// What the part calls its type.
        kind: String,
        /// The part as it came.
        value: Value,
    },
}

/// Puts the text of a turn together. Texts that touch are one; between texts with something else
/// between them, an empty line is put.
#[derive(Debug, Default)]
pub(super) struct Joined {
    text: String,
    is_parted: bool,
}

/// Takes content apart, without judging its parts: each with where it stands.
pub(super) fn pieces<'a>(
    content: Option<Value>,
    path: &'a Path<'a>,
) -> Result<Vec<(PartKind, Path<'a>)>, RequestError> {
    match content {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![(PartKind::Text(text), path.item(0))]),
        Some(Value::Array(items)) => {
            let items = items.into_iter().enumerate().map(|(index, item)| {
                let path = path.item(index);
                Ok((piece(item, &path)?, path))
            });
            items.collect()
        }
        Some(other) => Err(RequestError::kind(path, WANTED, &other)),
    }
}

/// What a user or a tool shows: texts and files.
pub(super) fn shown(
    content: Option<Value>,
    path: &Path<'_>,
    notes: &mut Notes,
) -> Result<Vec<MessagePart>, RequestError> {
    let mut parts = Vec::new();
    for (piece, path) in pieces(content, path)? {
        parts.extend(part(piece, &path, notes));
    }
    Ok(parts)
}

/// A piece of what a user or a tool shows; what is neither is noted.
pub(super) fn part(piece: PartKind, path: &Path<'_>, notes: &mut Notes) -> Option<MessagePart> {
    match piece {
        PartKind::Text(text) => (!text.is_empty()).then_some(MessagePart::Text(text)),
        PartKind::Shown(value) => Some(MessagePart::Opaque(value)),
        other => {
            drop_piece(&other, path, notes);
            None
        }
    }
}

/// What came out of a tool: like what a user shows, but an object is its own JSON text.
pub(super) fn output(
    content: Option<Value>,
    path: &Path<'_>,
    notes: &mut Notes,
) -> Result<Vec<MessagePart>, RequestError> {
    match content {
        Some(value @ (Value::Object(_) | Value::Number(_) | Value::Bool(_))) => {
            notes.add(NoteCode::ContentRepaired, path, "JSON as text");
            Ok(vec![MessagePart::Text(value.to_string())])
        }
        other => shown(other, path, notes),
    }
}

/// The text of instructions; its parts are paragraphs.
pub(super) fn instructions(
    content: Option<Value>,
    path: &Path<'_>,
    notes: &mut Notes,
) -> Result<String, RequestError> {
    joined(content, path, notes, Joined::part)
}

/// The text of a turn of the model.
pub(super) fn said(
    content: Option<Value>,
    path: &Path<'_>,
    notes: &mut Notes,
) -> Result<String, RequestError> {
    joined(content, path, notes, |_| {})
}

/// Puts the text of content together; `then` says what stands behind each part.
fn joined(
    content: Option<Value>,
    path: &Path<'_>,
    notes: &mut Notes,
    then: fn(&mut Joined),
) -> Result<String, RequestError> {
    let mut joined = Joined::default();
    for (piece, path) in pieces(content, path)? {
        joined.add(piece, &path, notes);
        then(&mut joined);
    }
    Ok(joined.into_text())
}

/// Notes a piece that is left out.
pub(super) fn drop_piece(piece: &PartKind, path: &Path<'_>, notes: &mut Notes) {
    match piece {
        PartKind::Text(_) => {}
        PartKind::Thought => notes.add(NoteCode::ThinkingDropped, path, ""),
        PartKind::Shown(value) => {
            let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
            notes.add(NoteCode::PartDropped, path, kind);
        }
        PartKind::Other { kind, .. } => notes.add(NoteCode::PartDropped, path, kind),
    }
}

/// Notes fields of a message in which a model thought, and leaves them out.
pub(super) fn drop_thoughts(message: &mut Fields<'_>, keys: &[&str], notes: &mut Notes) {
    for key in keys {
        if message.take(key).is_some_and(|thought| thought.as_str() != Some("")) {
            notes.add(NoteCode::ThinkingDropped, &message.path().key(key), "");
        }
    }
}

fn piece(item: Value, path: &Path<'_>) -> Result<PartKind, RequestError> {
    let kind = match &item {
        Value::String(_) => "text",
        Value::Object(fields) => match fields.get("type") {
            Some(Value::String(kind)) => kind,
            _ if fields.contains_key("text") => "text",
            _ => "",
        },
        other => return Err(RequestError::kind(path, "a part: a string or an object", other)),
    };
    if SHOWN.contains(&kind) {
        return Ok(PartKind::Shown(item));
    }
    if THOUGHT.contains(&kind) {
        return Ok(PartKind::Thought);
    }
    let key = match kind {
        "text" | "input_text" | "output_text" => "text",
        "refusal" => "refusal",
        other => return Ok(PartKind::Other { kind: other.to_owned(), value: item }),
    };
    match item {
        Value::String(text) => Ok(PartKind::Text(text)),
        item => Ok(PartKind::Text(Fields::of(item, path)?.string(key)?.unwrap_or_default())),
    }
}

// === impl Joined ===

impl Joined {
    /// Adds a piece: its text, or a note that it is left out.
    pub(super) fn add(&mut self, piece: PartKind, path: &Path<'_>, notes: &mut Notes) {
        match piece {
            PartKind::Text(text) => self.push(&text),
            other => {
                drop_piece(&other, path, notes);
                self.part();
            }
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.is_parted && !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.is_parted = false;
        self.text.push_str(text);
    }

    /// Says that something else stands here.
    pub(super) fn part(&mut self) {
        self.is_parted = true;
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}
