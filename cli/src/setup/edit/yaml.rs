//! YAML in block style, line by line. What is written in another way is left to the person: nothing is
//! guessed.

mod members;

use std::ops::Range;

use serde_json::{Map, Value};

use super::super::clients::FileFormat;
use super::{NAME, NotEdited};

/// Where the servers of a file are.
enum ServersBlock<'a> {
    /// There is no such key.
    Absent,
    /// The key has an empty value on its line.
    Empty(Range<usize>),
    /// The key is followed by lines.
    Lines {
        /// The byte at which the first line begins.
        start: usize,
        lines: Vec<&'a str>,
        /// How far the servers stand in.
        indent: usize,
    },
}

pub(super) fn entry(text: &str, key: &str, format: FileFormat) -> Result<Option<Value>, NotEdited> {
    let ServersBlock::Lines { lines, indent, .. } = block(text, key)? else { return Ok(None) };
    let Some(range) = own(&lines, indent, format) else { return Ok(None) };
    let members = members::members(&lines, range, format);
    let read = members.into_iter().filter(|member| !member.value.is_null());
    let mut entry: Map<String, Value> = read.map(|member| (member.name, member.value)).collect();
    if format == FileFormat::YamlList {
        entry.remove("name");
    }
    Ok(Some(Value::Object(entry)))
}

pub(super) fn with_entry(
    text: &str,
    key: &str,
    format: FileFormat,
    new: &Value,
) -> Result<String, NotEdited> {
    if let Some(edited) = updated(text, key, format, new)? {
        return Ok(edited);
    }
    let text = without_entry(text, key, format)?;
    let written = |indent: usize| written(new, indent, format);
    Ok(match block(&text, key)? {
        ServersBlock::Absent => {
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{end}{key}:\n{}", written(2))
        }
        ServersBlock::Empty(value) => {
            format!("{}\n{}{}", &text[..value.start], written(2), rest(&text[value.end..]))
        }
        ServersBlock::Lines { start, indent, .. } => {
            format!("{}{}{}", &text[..start], written(indent), &text[start..])
        }
    })
}

/// Makes the text with other values in the entry that there is; `None` without an entry, or where members of it go.
fn updated(
    text: &str,
    key: &str,
    format: FileFormat,
    new: &Value,
) -> Result<Option<String>, NotEdited> {
    let ServersBlock::Lines { start, lines, indent } = block(text, key)? else { return Ok(None) };
    let (Some(range), Some(new)) = (own(&lines, indent, format), new.as_object()) else {
        return Ok(None);
    };
    let members = members::members(&lines, range, format);
    let edited = members::with_values(&lines, &members, new);
    let end = start + lines.iter().map(|line| line.len()).sum::<usize>();
    Ok(edited.map(|edited| format!("{}{edited}{}", &text[..start], &text[end..])))
}

pub(super) fn without_entry(
    text: &str,
    key: &str,
    format: FileFormat,
) -> Result<String, NotEdited> {
    let ServersBlock::Lines { start, lines, indent } = block(text, key)? else {
        return Ok(text.to_owned());
    };
    let Some(range) = own(&lines, indent, format) else { return Ok(text.to_owned()) };
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let from = start + bytes(&lines[..range.start]);
    let to = from + bytes(&lines[range]);
    Ok(format!("{}{}", &text[..from], &text[to..]))
}

pub(super) fn without_empty_key(text: &str, key: &str) -> Result<String, NotEdited> {
    let ServersBlock::Lines { start, lines, .. } = block(text, key)? else {
        return Ok(text.to_owned());
    };
    let key_start = text[..start].trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
    let is_empty = lines.iter().all(|line| line.trim().is_empty());
    if !is_empty || text[key_start..start].contains('#') {
        return Ok(text.to_owned());
    }
    Ok(format!("{}{}", &text[..key_start], &text[start..]))
}

pub(super) fn has_key(text: &str, key: &str) -> bool {
    !matches!(block(text, key), Ok(ServersBlock::Absent))
}

/// What follows an empty value on its line, without the end of that line.
fn rest(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}

fn block<'a>(text: &'a str, key: &str) -> Result<ServersBlock<'a>, NotEdited> {
    let by_hand =
        |why: &str| NotEdited::new(format!("{why}: add the entry `{NAME}` to `{key}` by hand"));
    let documents = text.lines().skip(1).filter(|line| matches!(line.trim_end(), "---" | "..."));
    if documents.count() > 0 {
        return Err(by_hand("the file has several documents"));
    }
    let mut at = 0;
    let mut found = None;
    for line in text.split_inclusive('\n') {
        if let Some(value) = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':')) {
            found = Some((at, line, value));
            break;
        }
        at += line.len();
    }
    let Some((at, line, value)) = found else { return Ok(ServersBlock::Absent) };
    let plain = value.split(" #").next().unwrap_or_default().trim();
    let start = at + line.len();
    match plain {
        "" => {}
        "{}" | "[]" | "null" | "~" => {
            let from = at + key.len() + 1;
            return Ok(ServersBlock::Empty(from..from + value.trim_end().len()));
        }
        _ => return Err(by_hand("the value is not in block style")),
    }
    let is_outside = |line: &&str| {
        !line.trim().is_empty() && !line.starts_with([' ', '\t', '#']) && !line.starts_with("- ")
    };
    let lines: Vec<&str> =
        text[start..].split_inclusive('\n').take_while(|line| !is_outside(line)).collect();
    if lines.iter().any(|line| line.trim_start_matches(' ').starts_with('\t')) {
        return Err(by_hand("lines stand in by tabs"));
    }
    let first = lines.iter().find(|line| is_content(line));
    let indent = first.map_or(2, |line| indent_of(line));
    Ok(ServersBlock::Lines { start, lines, indent })
}

fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The lines of the entry.
fn own(lines: &[&str], indent: usize, format: FileFormat) -> Option<Range<usize>> {
    let is_first = |line: &str| match format {
        FileFormat::YamlList => indent_of(line) == indent && line.trim_start().starts_with("- "),
        _ => indent_of(line) == indent && is_content(line),
    };
    let heads: Vec<usize> = (0..lines.len())
        .filter(|&index| is_content(lines[index]) && is_first(lines[index]))
        .collect();
    let end_after = |head: usize| {
        let next = heads.iter().copied().find(|other| *other > head).unwrap_or(lines.len());
        // Empty lines and comments before the next entry are not of this one.
        let last = (head..next).rev().find(|&index| {
            is_content(lines[index])
                || (index > head && indent_of(lines[index]) > indent)
                    && !lines[index].trim().is_empty()
        });
        last.map_or(head + 1, |last| last + 1)
    };
    let is_own = |range: Range<usize>| match format {
        FileFormat::YamlList => lines[range].iter().any(|line| {
            let member = line.trim().trim_start_matches("- ");
            member.strip_prefix("name:").is_some_and(|name| {
                let name = name.split(" #").next().unwrap_or_default();
                name.trim().trim_matches(['"', '\'']) == NAME
            })
        }),
        _ => lines[range.start].trim().split(" #").next() == Some(&format!("{NAME}:")),
    };
    heads.iter().map(|&head| head..end_after(head)).find(|range| is_own(range.clone()))
}

fn written(entry: &Value, indent: usize, format: FileFormat) -> String {
    let pad = " ".repeat(indent);
    let mut lines = String::new();
    let mut members: Vec<(String, String)> = entry
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), value.to_string()))
        .collect();
    if format == FileFormat::YamlList {
        members.retain(|(key, _)| key != "name");
        members.insert(0, ("name".to_owned(), NAME.to_owned()));
    } else {
        lines.push_str(&format!("{pad}{NAME}:\n"));
    }
    for (index, (key, value)) in members.iter().enumerate() {
        let lead = match (format, index) {
            (FileFormat::YamlList, 0) => "- ",
            _ => "  ",
        };
        lines.push_str(&format!("{pad}{lead}{key}: {value}\n"));
    }
    lines
}
