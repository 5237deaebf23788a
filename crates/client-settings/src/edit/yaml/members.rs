//! The members of one entry: what is another is written anew where it stands, and everything beside it stays.

use std::ops::Range;

use serde_json::{Map, Value};

use super::document::{YamlContent, YamlNode, YamlPair};
use super::{line_end, scalar};

/// Reads a value; none where it has an anchor, an alias or a tag, or versions of YAML differ about it.
pub(super) fn json(node: &YamlNode, text: &str) -> Option<Value> {
    if !node.mark.is_empty() {
        return None;
    }
    match &node.content {
        YamlContent::Empty => Some(Value::Null),
        YamlContent::Alias => None,
        YamlContent::Scalar => scalar::value(&text[node.range.clone()]),
        YamlContent::Sequence { items, .. } => {
            items.iter().map(|item| json(item, text)).collect::<Option<Vec<_>>>().map(Value::from)
        }
        YamlContent::Mapping { pairs, .. } => {
            let member = |pair: &YamlPair| {
                let name = pair.name(text).filter(|name| name != "<<")?;
                Some((name, json(&pair.value, text)?))
            };
            pairs.iter().map(member).collect::<Option<Map<_, _>>>().map(Value::from)
        }
    }
}

/// Writes an entry with other values into a text; none where members of it have gone, or it has none yet.
pub(super) fn with_values(
    text: &str,
    entry: &YamlNode,
    kept: Option<&str>,
    new: &Map<String, Value>,
) -> Option<String> {
    let YamlContent::Mapping { pairs, is_block: true } = &entry.content else { return None };
    let column = entry.range.start - super::line_start(text, entry.range.start);
    let after = line_end(text, pairs.last()?.range.end);
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut names = Vec::new();
    for pair in pairs {
        let (name, old) = (pair.name(text)?, json(&pair.value, text)?);
        match new.get(&name) {
            Some(value) if *value != old => edits.push(replaced(text, pair, value)),
            None if !old.is_null() && kept != Some(name.as_str()) => return None,
            _ => {}
        }
        names.push(name);
    }
    let mut added = if text[..after].ends_with('\n') { String::new() } else { "\n".to_owned() };
    for (name, value) in new.iter().filter(|(name, _)| !names.contains(name)) {
        let pad = " ".repeat(column);
        added.push_str(&format!("{pad}{}: {}\n", scalar::key(name), scalar::written(value)));
    }
    if added.trim().is_empty() {
        added.clear();
    }
    edits.push((after..after, added));
    let mut edited = text.to_owned();
    for (range, written) in edits.into_iter().rev() {
        edited.replace_range(range, &written);
    }
    Some(edited)
}

/// What takes the place of a value. A comment between the key and lines beneath it stays.
fn replaced(text: &str, pair: &YamlPair, value: &Value) -> (Range<usize>, String) {
    let written = scalar::written(value);
    let end = pair.value.range.end.max(pair.colon_end);
    let first = &text[pair.colon_end..line_end(text, pair.colon_end).min(end)];
    match first.trim() {
        comment if comment.starts_with('#') => {
            (pair.colon_end..end, format!(" {written} {comment}"))
        }
        _ => (pair.colon_end..end, format!(" {written}")),
    }
}
