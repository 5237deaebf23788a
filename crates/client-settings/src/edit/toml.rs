//! TOML. The entry is a table of its own, at the end of the file; what is edited is read again, whole.

use std::ops::Range;

use serde_json::{Value, json};
use toml::Table;

use super::{NAME, NotEdited};

pub(super) fn entry(text: &str, key: &str) -> Result<Option<Value>, NotEdited> {
    let all = parse(text)?;
    let Some(entry) = all.get(key).and_then(|servers| servers.get(NAME)) else { return Ok(None) };
    Ok(Some(json!(entry)))
}

pub(super) fn with_entry(text: &str, key: &str, new: &Value) -> Result<String, NotEdited> {
    // Comments in the entry stay where its lines can be distinguished.
    if let Some(edited) = updated(text, key, new)?
        && entry(&edited, key)?.as_ref() == Some(new)
        && same_but_entry(text, &edited, key).is_ok()
    {
        return Ok(edited);
    }
    let mut edited = without_entry(text, key)?;
    if !edited.is_empty() && !edited.ends_with('\n') {
        edited.push('\n');
    }
    if !edited.is_empty() && !edited.ends_with("\n\n") {
        edited.push('\n');
    }
    edited.push_str(&format!("[{key}.{NAME}]\n"));
    for (name, value) in new.as_object().into_iter().flatten() {
        let value = toml::Value::try_from(value)
            .map_err(|error| NotEdited::new(format!("the entry has no form in TOML: {error}")))?;
        edited.push_str(&format!("{name} = {value}\n"));
    }
    same_but_entry(text, &edited, key)?;
    Ok(edited)
}

pub(super) fn without_entry(text: &str, key: &str) -> Result<String, NotEdited> {
    parse(text)?;
    let Some(range) = table(text, key) else { return Ok(text.to_owned()) };
    let edited = format!("{}{}", &text[..range.start], &text[range.end..]);
    same_but_entry(text, &edited, key)?;
    Ok(edited)
}

/// Makes the text with other values in the table that there is: each value whose text is another is written anew,
/// in its table or in one beneath it. None where there is no table.
fn updated(text: &str, key: &str, new: &Value) -> Result<Option<String>, NotEdited> {
    let (Some(old), Some(range)) = (entry(text, key)?, table(text, key)) else { return Ok(None) };
    let mut block = text[range.clone()].to_owned();
    let own = format!("{key}.{NAME}");
    for (name, value) in new.as_object().into_iter().flatten() {
        let known = old.get(name);
        match (known.and_then(Value::as_object), value.as_object()) {
            _ if known == Some(value) => {}
            (Some(inner), Some(members)) if header_of(&block, &format!("{own}.{name}")) => {
                for (member, value) in members.iter().filter(|(m, v)| inner.get(*m) != Some(v)) {
                    block = with_value(&block, &format!("{own}.{name}"), member, value)?;
                }
            }
            _ => block = with_value(&block, &own, name, value)?,
        }
    }
    Ok(Some(format!("{}{block}{}", &text[..range.start], &text[range.end..])))
}

fn header_of(block: &str, table: &str) -> bool {
    block.lines().any(|line| header(line).as_deref() == Some(table))
}

/// Sets a value in a table of the block, at its end where it has none.
fn with_value(block: &str, table: &str, name: &str, value: &Value) -> Result<String, NotEdited> {
    let written = toml::Value::try_from(value)
        .map_err(|error| NotEdited::new(format!("the entry has no form in TOML: {error}")))?;
    let written = format!("{name} = {written}");
    let lines: Vec<&str> = block.split_inclusive('\n').collect();
    let head = lines.iter().position(|line| header(line).as_deref() == Some(table));
    let Some(head) = head else { return Ok(block.to_owned()) };
    let next = lines[head + 1..].iter().position(|line| header(line).is_some());
    let end = next.map_or(lines.len(), |next| head + 1 + next);
    let is_of_name = |line: &&str| {
        let (key, _) = line.split_once('=')?;
        (key.trim().trim_matches('"') == name).then_some(())
    };
    let found = (head + 1..end).find(|&index| is_of_name(&lines[index]).is_some());
    let (from, to) = match found {
        // A list may go on over several lines: it ends where they can be read.
        Some(from) => {
            let whole = |to: &usize| lines[from..*to].concat().parse::<Table>().is_ok();
            (from, (from + 1..=end).find(whole).unwrap_or(end))
        }
        None => {
            let last = (head..end).rev().find(|&index| !lines[index].trim().is_empty());
            let after = last.map_or(end, |last| last + 1);
            (after, after)
        }
    };
    let (before, replaced) = (ended(lines[..from].concat()), lines[from..to].concat());
    let comment = comment_behind(&replaced);
    Ok(format!("{before}{written}{comment}\n{}", lines[to..].concat()))
}

/// The comment behind a value, with the blanks before it.
fn comment_behind(lines: &str) -> &str {
    let lines = lines.trim_end();
    let Ok(whole) = lines.parse::<Table>() else { return "" };
    let last = lines.rfind('\n').map_or(0, |at| at + 1);
    let is_value = |end: &usize| lines[..*end].parse::<Table>().is_ok_and(|value| value == whole);
    // Within a text it ends no value.
    let marks = lines[last..].match_indices('#').map(|(at, _)| last + at);
    let comment = marks.into_iter().find(is_value);
    comment.map_or("", |at| &lines[lines[..at].trim_end().len()..])
}

fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn parse(text: &str) -> Result<Table, NotEdited> {
    text.parse().map_err(|error: toml::de::Error| {
        NotEdited::new(format!("the file is not TOML: {}", error.message()))
    })
}

/// The table that a line begins; none where it begins none.
fn header(line: &str) -> Option<String> {
    let inner = line.trim().strip_prefix('[')?;
    let (name, rest) = inner.trim_start_matches('[').split_once(']')?;
    let rest = rest.trim_start_matches(']').trim();
    (rest.is_empty() || rest.starts_with('#'))
        .then(|| name.chars().filter(|c| !c.is_whitespace() && *c != '"').collect())
}

/// The lines of the entry's table: from its header to the next one that is not beneath it. Comments behind its last
/// value are a person's: moss writes none.
fn table(text: &str, key: &str) -> Option<Range<usize>> {
    let own = format!("{key}.{NAME}");
    let is_own = |name: &str| name == own || name.starts_with(&format!("{own}."));
    let (mut start, mut end, mut at) = (None, text.len(), 0);
    for line in text.split_inclusive('\n') {
        match header(line) {
            Some(name) if start.is_none() && is_own(&name) => start = Some(at),
            Some(name) if start.is_some() && !is_own(&name) => {
                end = at;
                break;
            }
            _ => {}
        }
        at += line.len();
    }
    let start = start?;
    let block: Vec<&str> = text[start..end].split_inclusive('\n').collect();
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let is_rest = |line: &&&str| is_comment(line) || line.trim().is_empty();
    let rest = block.len() - block.iter().rev().take_while(is_rest).count();
    let comment = block[rest..].iter().position(is_comment);
    let kept = comment.map_or(&[][..], |first| &block[rest + first..]);
    Some(start..end - kept.iter().map(|line| line.len()).sum::<usize>())
}

/// Everything in a file but the entry, and but a key that would hold that alone.
pub(super) fn others(text: &str, key: &str) -> Result<Value, NotEdited> {
    let mut all = parse(text)?;
    if let Some(toml::Value::Table(servers)) = all.get_mut(key) {
        servers.remove(NAME);
        if servers.is_empty() {
            all.remove(key);
        }
    }
    Ok(json!(all))
}

/// Makes sure that nothing but the entry is another.
fn same_but_entry(before: &str, after: &str, key: &str) -> Result<(), NotEdited> {
    // What cannot be read after the edit is no TOML because of it.
    if others(after, key).is_ok_and(|after| others(before, key).is_ok_and(|before| before == after))
    {
        return Ok(());
    }
    Err(NotEdited::new(format!(
        "`{key}` is written in a way that moss does not edit: add [{key}.{NAME}] by hand"
    )))
}
