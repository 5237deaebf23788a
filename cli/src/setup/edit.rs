//! Edits of a client's configuration that change one entry and leave every other byte as it is.

mod json;
mod toml;
mod yaml;

use serde_json::Value;

use super::clients::{ClientRow, EntryForm, FileFormat, NAME};

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
        FileFormat::Json => json::entry(text, &keys(client, text)),
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
        FileFormat::Json => json::with_entry(text, &keys(client, text), new),
        FileFormat::Toml => in_lines(text, |text| toml::with_entry(text, client.key, new)),
        FileFormat::YamlMap | FileFormat::YamlList => {
            in_lines(text, |text| yaml::with_entry(text, client.key, client.format, new))
        }
    }?;
    checked(client, edited, Some(new))
}

/// Makes the text without the entry of moss.
pub(super) fn without_entry(client: &ClientRow, text: &str) -> Result<String, NotEdited> {
    let edited = match client.format {
        FileFormat::Json => json::without_entry(text, &keys(client, text)),
        FileFormat::Toml => toml::without_entry(text, client.key),
        FileFormat::YamlMap | FileFormat::YamlList => {
            in_lines(text, |text| yaml::without_entry(text, client.key, client.format))
        }
    }?;
    checked(client, edited, None)
}

/// Makes the text without the keys around all servers that have nothing in them and were not there `before`:
/// they were made to hold the entry of moss. In TOML there is nothing left of a table once its last entry is
/// gone.
pub(super) fn without_empty_keys(
    client: &ClientRow,
    text: &str,
    before: &str,
) -> Result<String, NotEdited> {
    let edited = match client.format {
        FileFormat::Json => {
            let keys = keys(client, text);
            let made = (1..=keys.len()).rev().filter(|&depth| !json::has(before, &keys[..depth]));
            made.map(|depth| &keys[..depth])
                .try_fold(text.to_owned(), |text, keys| json::without_empty_key(&text, keys))
        }
        FileFormat::Toml => Ok(text.to_owned()),
        FileFormat::YamlMap | FileFormat::YamlList => match yaml::has_key(before, client.key) {
            true => Ok(text.to_owned()),
            false => in_lines(text, |text| yaml::without_empty_key(text, client.key)),
        },
    }?;
    checked(client, edited, None)
}

/// The keys that lead to all servers. OpenCode has them one deeper from its second version on, which reads both;
/// a file that has servers as before keeps them there.
fn keys(client: &ClientRow, text: &str) -> Vec<&'static str> {
    const SERVERS: &str = "servers";
    let key = client.key;
    if client.form != EntryForm::OneList {
        return vec![key];
    }
    let all = json::value(text).ok().flatten().and_then(|mut all| Some(all.get_mut(key)?.take()));
    let Some(Value::Object(all)) = all else { return vec![key, SERVERS] };
    // A server has a type, or is a switch; all servers are neither.
    let is_server = |one: &Value| one.get("type").is_some() || one.get("enabled").is_some();
    match all.get(SERVERS).is_some_and(|one| !is_server(one)) || !all.values().any(is_server) {
        true => vec![key, SERVERS],
        false => vec![key],
    }
}

/// Edits a text whose lines may end as on Windows: all of them do so afterwards, too.
fn in_lines(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, NotEdited>,
) -> Result<String, NotEdited> {
    let plain = text.replace("\r\n", "\n");
    if plain.len() == text.len() || plain.replace('\n', "\r\n") != text {
        return edit(text);
    }
    Ok(edit(&plain)?.replace('\n', "\r\n"))
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
