//! One configuration file: its values, each put in its place, and what is wrong with them, where.

use std::ops::{Range, RangeInclusive};

use serde::Deserialize as _;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Table, Value};

use super::{
    ConfigError, ConfigSource, LiveKeys, Override, embeddings, language_servers, linters, lists,
    tool_sets,
};
use moss_policy::standing::file::DAYS_MAX;

/// Longest time that linters may take before an edit.
const BEFORE_EDIT_MS_MAX: i64 = 600_000;

/// Something wrong at a byte range of a file.
struct ConfigFault {
    span: Range<usize>,
    message: String,
}

/// Puts the values of a file into `table`, section by section.
///
/// # Errors
///
/// The first thing that is wrong with it, with line and column.
pub(super) fn merge(
    table: &mut Table,
    source: ConfigSource<'_>,
    take: Override,
) -> Result<(), ConfigError> {
    let changes = DeTable::parse(source.text).map_err(|error| ConfigFault {
        span: error.span().unwrap_or_default(),
        message: error.message().replace('\n', "; "),
    });
    let merged = changes.and_then(|changes| sections(table, changes.into_inner(), take));
    merged.map_err(|fault| fault.located(source))
}

fn sections(table: &mut Table, changes: DeTable<'_>, take: Override) -> Result<(), ConfigFault> {
    for (section, values) in changes {
        let (at, written) = (section.span(), section.into_inner());
        let section = current_section(&written);
        let fault = |message| ConfigFault { span: at.clone(), message };
        let DeValue::Table(values) = values.into_inner() else {
            return Err(fault(format!("`{section}` is not a section: write [{section}]")));
        };
        let Some(Value::Table(known)) = table.get_mut(section) else {
            let near = did_you_mean(section, table);
            return Err(fault(format!("no section [{section}]{near}")));
        };
        keys(section, known, values, take)?;
    }
    Ok(())
}

fn keys(
    section: &str,
    known: &mut Table,
    values: DeTable<'_>,
    take: Override,
) -> Result<(), ConfigFault> {
    let is_open = LiveKeys::of(section) == LiveKeys::Open;
    for (key, value) in values {
        let (at, written) = (key.span(), key.into_inner());
        let key = current_key(section, &written);
        if !is_open && !known.contains_key(key) {
            let message = format!("no key `{key}` in [{section}]{}", did_you_mean(key, known));
            return Err(ConfigFault { span: at, message });
        }
        let span = value.span();
        let fault = |why: String| ConfigFault {
            span: span.clone(),
            message: format!("`{key}` in [{section}]: {why}"),
        };
        let value = Value::deserialize(ValueDeserializer::from(value))
            .map_err(|error| fault(error.message().to_owned()))?;
        if section == tool_sets::SECTION {
            tool_sets::put(known, key, &value, take).map_err(fault)?;
            continue;
        }
        if section == linters::SECTION {
            linters::put(known, key, value).map_err(fault)?;
            continue;
        }
        if section == language_servers::SECTION {
            language_servers::put(known, key, value).map_err(fault)?;
            continue;
        }
        let old = known.get_mut(key).expect("it was found just now");
        put(section, key, old, &value, take).map_err(fault)?;
    }
    Ok(())
}

/// Returns today's name of a section; files written for 0.1 stay valid.
fn current_section(written: &str) -> &str {
    match written {
        "answers" => "approvals",
        other => other,
    }
}

/// Returns today's name of a key; files written for 0.1 stay valid.
fn current_key<'a>(section: &str, written: &'a str) -> &'a str {
    match (section, written) {
        ("approvals", "answers_max") => "approvals_max",
        ("editors", "answer_ms") => "response_ms",
        ("network", "silence_ms") => "read_timeout_ms",
        _ => written,
    }
}

/// Puts one value in its place, or says what is wrong with it.
fn put(
    section: &str,
    key: &str,
    old: &mut Value,
    new: &Value,
    take: Override,
) -> Result<(), String> {
    let range = range(section, key);
    let expected = match (old, new) {
        (Value::Integer(old), Value::Integer(new)) if range.contains(new) => {
            *old = if take == Override::Bound { *new.min(old) } else { *new };
            return Ok(());
        }
        (Value::Boolean(old), Value::Boolean(new)) => {
            *old = if take == Override::Bound { *new && *old } else { *new };
            return Ok(());
        }
        (Value::Array(old), Value::Array(new)) => return lists::put(section, key, old, new, take),
        (Value::String(old), Value::String(new)) => {
            embeddings::check(key, new)?;
            // What the administrator says is not the user's to change; an empty text sets nothing.
            if take == Override::Replace || !new.is_empty() {
                old.clone_from(new);
            }
            return Ok(());
        }
        (Value::String(_), _) => "a text".to_owned(),
        (Value::Array(_), _) => "a list of texts".to_owned(),
        (Value::Boolean(_), _) => "true or false".to_owned(),
        _ => format!("an integer from {} to {}", range.start(), range.end()),
    };
    Err(format!("expected {expected}, got {}", shown(new)))
}

/// The numbers that make sense somewhere.
fn range(section: &str, key: &str) -> RangeInclusive<i64> {
    match (section, key) {
        // Nothing at all is a bound that makes sense.
        ("plugin_maximum", "store_bytes") => 0..=u32::MAX.into(),
        ("embeddings", "dimensions") => 0..=embeddings::DIMENSIONS_MAX,
        ("embeddings", "query_ms") => 1..=embeddings::QUERY_MS_MAX,
        ("checks", "before_edit_ms") => 1..=BEFORE_EDIT_MS_MAX,
        ("approvals", "always_days") => 1..=i64::try_from(DAYS_MAX).unwrap_or(i64::MAX),
        _ => 1..=u32::MAX.into(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
        plain => plain.to_string(),
    }
}

fn did_you_mean(word: &str, known: &Table) -> String {
    moss_schema::nearest(word, known.keys().map(String::as_str))
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

// === impl ConfigFault ===

impl ConfigFault {
    fn located(self, source: ConfigSource<'_>) -> ConfigError {
        let start = source.text.floor_char_boundary(self.span.start);
        let before = &source.text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ConfigError::Wrong {
            file: source.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: self.message,
        }
    }
}
