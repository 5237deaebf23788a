//! Edits of a client's configuration that change one entry and leave every other byte as it is.

mod json;
mod toml;
mod yaml;

use serde_json::Value;

use super::clients::{ClientRow, FileFormat, NAME};

/// Why a file is not edited, in words that say what a person can do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotEdited(String);

// === impl NotEdited ===

impl NotEdited {
    fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// Returns the entry of moss; `None` if moss has no entry.
pub(super) fn entry(client: &ClientRow, text: &str) -> Result<Option<Value>, NotEdited> {
    match client.format {
        FileFormat::Json => json::entry(text, client.key),
        FileFormat::Toml => toml::entry(text, client.key),
        FileFormat::YamlMap | FileFormat::YamlList => yaml::entry(text, client.key, client.format),
    }
}

/// Makes the text with an entry of moss; none stands for a file that does not exist.
pub(super) fn with_entry(
    client: &ClientRow,
    text: Option<&str>,
    new: &Value,
) -> Result<String, NotEdited> {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or(client.preamble);
    let edited = match client.format {
        FileFormat::Json => json::with_entry(text, client.key, new),
        FileFormat::Toml => toml::with_entry(text, client.key, new),
        FileFormat::YamlMap | FileFormat::YamlList => {
            yaml::with_entry(text, client.key, client.format, new)
        }
    }?;
    checked(client, edited, Some(new))
}

/// Makes the text without the entry of moss.
pub(super) fn without_entry(client: &ClientRow, text: &str) -> Result<String, NotEdited> {
    let edited = match client.format {
        FileFormat::Json => json::without_entry(text, client.key),
        FileFormat::Toml => toml::without_entry(text, client.key),
        FileFormat::YamlMap | FileFormat::YamlList => {
            yaml::without_entry(text, client.key, client.format)
        }
    }?;
    checked(client, edited, None)
}

/// Makes the text without the key of all servers, where it has none: what held the entry of moss was made for
/// it. In TOML there is nothing left of a table once its last entry is gone.
pub(super) fn without_empty_key(client: &ClientRow, text: &str) -> Result<String, NotEdited> {
    let edited = match client.format {
        FileFormat::Json => json::without_empty_key(text, client.key),
        FileFormat::Toml => Ok(text.to_owned()),
        FileFormat::YamlMap | FileFormat::YamlList => yaml::without_empty_key(text, client.key),
    }?;
    checked(client, edited, None)
}

/// Whether a text has the key of all servers. One that cannot be read may have it.
pub(super) fn has_key(client: &ClientRow, text: &str) -> bool {
    match client.format {
        FileFormat::Json => json::has_key(text, client.key),
        FileFormat::Toml => true,
        FileFormat::YamlMap | FileFormat::YamlList => yaml::has_key(text, client.key),
    }
}

/// Holds an edited text to what it was meant to be.
fn checked(client: &ClientRow, edited: String, meant: Option<&Value>) -> Result<String, NotEdited> {
    if entry(client, &edited)?.as_ref() == meant {
        return Ok(edited);
    }
    Err(NotEdited::new(format!(
        "the file is written in a way that moss does not edit: change the entry `{NAME}` of `{}` by hand",
        client.key
    )))
}

#[cfg(test)]
mod tests;
