//! Edits of a client's configuration that change one entry and leave every other byte as it is.

mod json;
mod toml;
mod yaml;

use serde_json::{Value, json};

use self::yaml::YamlServers;
use crate::clients::{ClientRow, EntryForm, FileFormat, NAME, ServerCommand};

/// What may stand before a text in UTF-8. It stays where it is.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// The key of OpenCode's second version that has all servers.
const SERVERS: &str = "servers";

/// Why a file is not edited, in words that say what a person can do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotEdited(String);

// === impl NotEdited ===

impl NotEdited {
    fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// Returns the entry of moss; `None` if moss has no entry.
///
/// # Errors
///
/// Where the text cannot be read in the client's format, or is written in a way that is not edited.
pub fn entry(client: &ClientRow, text: &str) -> Result<Option<Value>, NotEdited> {
    let text = without_mark(text);
    match client.format {
        FileFormat::Json => json::entry(text, &keys(client, text)),
        FileFormat::Toml => toml::entry(text, client.key),
        FileFormat::YamlMap | FileFormat::YamlList => yaml_of(client).entry(text),
    }
}

/// Makes an entry for a command where one is missing, in the form that the file takes.
pub fn new_entry(client: &ClientRow, text: Option<&str>, server: &ServerCommand) -> Value {
    let mut entry = client.entry(server);
    let text = without_mark(text.unwrap_or_default());
    if client.form == EntryForm::OneList && !keys(client, text).contains(&SERVERS) {
        // So the first version of OpenCode has it; the second has no such key where its own form is used.
        entry["enabled"] = json!(true);
    }
    entry
}

/// Makes the text with an entry of moss; none stands for a file that does not exist.
///
/// # Errors
///
/// Where the text cannot be read in the client's format, or is written in a way that is not edited.
pub fn with_entry(
    client: &ClientRow,
    text: Option<&str>,
    new: &Value,
) -> Result<String, NotEdited> {
    let edit = |text: &str| {
        let text = if text.trim().is_empty() { client.preamble } else { text };
        let edited = match client.format {
            FileFormat::Json => json::with_entry(text, &keys(client, text), new),
            FileFormat::Toml => in_lines(text, |text| toml::with_entry(text, client.key, new)),
            FileFormat::YamlMap | FileFormat::YamlList => {
                in_lines(text, |text| yaml_of(client).with_entry(text, new))
            }
        }?;
        checked(client, text, edited, Some(new))
    };
    behind_mark(text.unwrap_or_default(), edit)
}

/// Makes the text without the entry of moss.
///
/// # Errors
///
/// Where the text cannot be read in the client's format, or is written in a way that is not edited.
pub fn without_entry(client: &ClientRow, text: &str) -> Result<String, NotEdited> {
    behind_mark(text, |text| {
        let edited = match client.format {
            FileFormat::Json => json::without_entry(text, &keys(client, text)),
            FileFormat::Toml => toml::without_entry(text, client.key),
            FileFormat::YamlMap | FileFormat::YamlList => {
                in_lines(text, |text| yaml_of(client).without_entry(text))
            }
        }?;
        checked(client, text, edited, None)
    })
}

/// Makes the text without the keys around all servers that have nothing in them and were not there `before`:
/// they were made to hold the entry of moss. In TOML there is nothing left of a table once its last entry is
/// gone. One of YAML that was there has the value again that it had.
///
/// # Errors
///
/// Where the text cannot be read in the client's format, or is written in a way that is not edited.
pub fn without_empty_keys(
    client: &ClientRow,
    text: &str,
    before: &str,
) -> Result<String, NotEdited> {
    let before = without_mark(before);
    behind_mark(text, |text| {
        let edited = match client.format {
            FileFormat::Json => {
                let keys = keys(client, text);
                let made =
                    (1..=keys.len()).rev().filter(|&depth| !json::has(before, &keys[..depth]));
                made.map(|depth| &keys[..depth])
                    .try_fold(text.to_owned(), |text, keys| json::without_empty_key(&text, keys))
            }
            FileFormat::Toml => Ok(text.to_owned()),
            FileFormat::YamlMap | FileFormat::YamlList => match yaml_of(client).has_key(before) {
                true => in_lines(text, |text| yaml_of(client).with_empty_value(text, before)),
                false => in_lines(text, |text| yaml_of(client).without_empty_key(text)),
            },
        }?;
        checked(client, text, edited, None)
    })
}

fn yaml_of(client: &ClientRow) -> YamlServers {
    YamlServers { key: client.key, format: client.format }
}

/// The keys that lead to all servers. OpenCode has them one deeper from its second version on, which reads both
/// forms; the first takes nothing but servers where it has them. So the deeper form is only for a file that has
/// something else there.
fn keys(client: &ClientRow, text: &str) -> Vec<&'static str> {
    let key = client.key;
    if client.form != EntryForm::OneList {
        return vec![key];
    }
    let all = json::value(text).ok().flatten().and_then(|mut all| Some(all.get_mut(key)?.take()));
    let is_server = |one: &Value| one["type"].is_string() || one["enabled"].is_boolean();
    match all {
        Some(Value::Object(all)) if !all.values().all(is_server) => vec![key, SERVERS],
        _ => vec![key],
    }
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Edits a text behind the mark that it may begin with.
fn behind_mark(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, NotEdited>,
) -> Result<String, NotEdited> {
    let rest = without_mark(text);
    let edited = edit(rest)?;
    Ok(format!("{}{edited}", &text[..text.len() - rest.len()]))
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

/// Holds an edited text to what it was meant to be: another entry, and everything else as it was.
fn checked(
    client: &ClientRow,
    before: &str,
    edited: String,
    meant: Option<&Value>,
) -> Result<String, NotEdited> {
    // What cannot be read after the edit was written in a way that the edit does not know.
    match is_meant(client, before, &edited, meant) {
        Ok(true) => Ok(edited),
        _ => Err(NotEdited::new(format!(
            "the file is written in a way that moss does not edit: change the entry `{NAME}` of `{}` by hand",
            client.key
        ))),
    }
}

fn is_meant(
    client: &ClientRow,
    before: &str,
    edited: &str,
    meant: Option<&Value>,
) -> Result<bool, NotEdited> {
    let is_entry = entry(client, edited)?.as_ref() == meant;
    Ok(is_entry && others(client, before)? == others(client, edited)?)
}

/// Everything that a file says but the entry, and but keys that would hold that alone.
fn others(client: &ClientRow, text: &str) -> Result<Value, NotEdited> {
    match client.format {
        FileFormat::Json => json::others(text, &keys(client, text)),
        FileFormat::Toml => toml::others(text, client.key),
        FileFormat::YamlMap | FileFormat::YamlList => yaml_of(client).others(text),
    }
}

#[cfg(test)]
mod tests;
