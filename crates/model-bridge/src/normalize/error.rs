//! Why a request cannot be read.

use serde_json::Value;

use super::path::Path;

/// The most bytes of a word of the client that an error repeats.
const WORD_BYTES_MAX: usize = 64;

/// A request that cannot be read: a fault of the client, to which an API responds with status 400 (413
/// where it is [`RequestCode::TooLarge`]).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RequestError {
    /// What kind of fault it is.
    pub code: RequestCode,
    /// What is wrong, where, and what to write instead.
    pub message: String,
    /// The field, for example `messages[2].content`; none where it is the whole body.
    pub param: Option<String>,
}

/// The kinds of faults of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestCode {
    /// A value is of another JSON type.
    InvalidType,
    /// A value is none of those that are allowed.
    InvalidValue,
    /// A field is missing.
    Missing,
    /// A tool is named that the request does not have.
    UnknownTool,
    /// Something that the API has cannot be done here.
    Unsupported,
    /// A limit is exceeded.
    TooLarge,
}

// === impl RequestError ===

impl RequestError {
    /// Makes one about a position; `rest` continues where the name of the position ends.
    pub(super) fn at(code: RequestCode, path: &Path<'_>, rest: impl AsRef<str>) -> Self {
        let param = (!path.is_root()).then(|| path.to_string());
        let place = param.as_deref().unwrap_or("the body");
        Self { code, message: format!("{place} {}", rest.as_ref()), param }
    }

    /// A value of another type; `wanted` says what to write, for example `a string`.
    pub(super) fn kind(path: &Path<'_>, wanted: &str, found: &Value) -> Self {
        let found = kind(found);
        Self::at(RequestCode::InvalidType, path, format!("must be {wanted}, not {found}"))
    }

    /// A word that is none of those that are allowed.
    pub(super) fn unknown(path: &Path<'_>, word: &str, wanted: &str) -> Self {
        let rest = format!("is `{}`: it must be {wanted}", shown(word));
        Self::at(RequestCode::InvalidValue, path, rest)
    }

    /// A field that must be there.
    pub(super) fn missing(path: &Path<'_>, wanted: &str) -> Self {
        Self::at(RequestCode::Missing, path, format!("is missing: it must be {wanted}"))
    }
}

// === impl RequestCode ===

impl RequestCode {
    /// Returns the stable code, for example `invalid_type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidType => "invalid_type",
            Self::InvalidValue => "invalid_value",
            Self::Missing => "missing_required_parameter",
            Self::UnknownTool => "unknown_tool",
            Self::Unsupported => "unsupported_parameter",
            Self::TooLarge => "too_large",
        }
    }
}

/// As much of a word as an error repeats.
pub(super) fn shown(word: &str) -> &str {
    clipped(word, WORD_BYTES_MAX)
}

/// The beginning of a text, at a character.
pub(super) fn clipped(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
