//! The members of one entry, each with its lines: what is another is written anew, and every other line stays.

use std::ops::Range;

use serde_json::{Map, Value};

use super::super::super::clients::FileFormat;
use super::{indent_of, is_content};

/// A member of the entry.
pub(super) struct EntryMember {
    pub(super) name: String,
    pub(super) value: Value,
    /// Its lines, without comments that follow.
    pub(super) lines: Range<usize>,
    /// What stands before its name.
    lead: String,
}

/// Reads the members of the entry that has these lines.
pub(super) fn members(lines: &[&str], own: Range<usize>, format: FileFormat) -> Vec<EntryMember> {
    let is_list = format == FileFormat::YamlList;
    let start = if is_list { own.start } else { own.start + 1 };
    let column_of = |index: usize| match is_list && index == own.start {
        true => lines[index].len() - lines[index].trim_start_matches([' ', '-']).len(),
        false => indent_of(lines[index]),
    };
    let Some(column) = (start..own.end).find(|&index| is_content(lines[index])).map(column_of)
    else {
        return Vec::new();
    };
    let is_head = |&index: &usize| {
        let is_item = lines[index].trim_start().starts_with('-') && index != own.start;
        is_content(lines[index]) && column_of(index) == column && !is_item
    };
    let heads: Vec<usize> = (start..own.end).filter(is_head).collect();
    let member = |(at, &head): (usize, &usize)| {
        let next = heads.get(at + 1).copied().unwrap_or(own.end);
        let end =
            (head..next).rev().find(|&index| is_content(lines[index])).map_or(next, |i| i + 1);
        let (name, _) = lines[head][column..].split_once(':')?;
        Some(EntryMember {
            name: name.trim().trim_matches(['"', '\'']).to_owned(),
            value: value(&lines[head..end], column),
            lines: head..end,
            lead: lines[head][..column].to_owned(),
        })
    };
    heads.iter().enumerate().filter_map(member).collect()
}

/// Writes an entry with other values into its lines; none where members of it have gone.
pub(super) fn with_values(
    lines: &[&str],
    all: &[EntryMember],
    new: &Map<String, Value>,
) -> Option<String> {
    let last = all.last()?;
    let is_kept = |member: &&EntryMember| member.name == "name" || new.contains_key(&member.name);
    if !all.iter().all(|member| is_kept(&member)) {
        return None;
    }
    let mut edited = String::new();
    for (index, line) in lines.iter().enumerate() {
        let changed = all.iter().find_map(|member| {
            let value = new.get(&member.name).filter(|value| **value != member.value)?;
            member.lines.contains(&index).then_some((member, value))
        });
        match changed {
            Some((member, value)) if index == member.lines.start => {
                edited.push_str(&format!("{}{}: {value}\n", member.lead, member.name));
            }
            Some(_) => {}
            None => edited.push_str(line),
        }
        if index + 1 == last.lines.end {
            if !edited.ends_with('\n') {
                edited.push('\n');
            }
            let pad = " ".repeat(last.lead.len());
            for (name, value) in new {
                if !all.iter().any(|member| member.name == *name) {
                    edited.push_str(&format!("{pad}{name}: {value}\n"));
                }
            }
        }
    }
    Some(edited)
}

/// Reads a value: a scalar, a list or a mapping of scalars. Of everything else, its text.
fn value(lines: &[&str], column: usize) -> Value {
    let first = lines[0][column..].split_once(':').map_or("", |(_, rest)| rest);
    let beneath: Vec<&str> =
        lines[1..].iter().filter(|line| is_content(line)).map(|line| line.trim()).collect();
    if beneath.is_empty() {
        return scalar(first);
    }
    if !without_comment(first).is_empty() {
        return Value::from(lines.concat());
    }
    let item = |line: &&str| {
        let item = line.strip_prefix("- ").filter(|item| is_plain(item))?;
        Some(scalar(item))
    };
    let pair = |line: &&str| {
        let (name, value) = line.split_once(':')?;
        let is_scalar = !value.trim().is_empty() && !line.starts_with("- ");
        is_scalar.then(|| (name.trim_matches(['"', '\'']).to_owned(), scalar(value)))
    };
    let items: Option<Vec<Value>> = beneath.iter().map(item).collect();
    let pairs = || beneath.iter().map(pair).collect::<Option<Map<String, Value>>>();
    let depths = lines[1..].iter().filter(|line| is_content(line)).map(|line| indent_of(line));
    let is_flat = depths.collect::<std::collections::BTreeSet<_>>().len() == 1;
    let read = items.map(Value::Array).or_else(|| pairs().map(Value::Object));
    read.filter(|_| is_flat).unwrap_or_else(|| Value::from(lines.concat()))
}

/// Whether an item of a list is no mapping.
fn is_plain(item: &str) -> bool {
    item.starts_with(['"', '\'']) || !item.contains(": ") && !item.ends_with(':')
}

/// Reads a scalar, or what is written as JSON is.
fn scalar(text: &str) -> Value {
    let whole = text.trim();
    let bare = without_comment(text);
    if let Ok(value) = serde_json::from_str(whole).or_else(|_| serde_json::from_str(bare)) {
        return value;
    }
    if let Some(quoted) = bare.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Value::from(quoted.replace("''", "'"));
    }
    let list = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(list) = list.filter(|list| !list.contains(['"', '[', '{'])) {
        return list.split(',').map(str::trim).filter(|one| !one.is_empty()).map(scalar).collect();
    }
    if matches!(bare, "" | "~") { Value::Null } else { Value::from(bare) }
}

fn without_comment(text: &str) -> &str {
    let text = text.trim();
    if text.starts_with('#') { "" } else { text.split(" #").next().unwrap_or_default().trim() }
}
