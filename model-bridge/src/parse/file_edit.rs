//! `<file-edit filePath="…">…</file-edit>` (requirement E5): an edit that is written as it is, not as
//! JSON.

use serde_json::{Map, Value};

use super::calls::Inside;
use crate::event::{Code, Diagnostic};
use crate::registry::Registry;

/// What begins one.
pub(super) const OPEN: &str = "<file-edit";
/// What ends one.
pub(super) const CLOSE: &str = "</file-edit>";
/// The most bytes of the part between `<` and `>`.
pub(super) const TAG_BYTES_MAX: usize = 4096;

/// Names of what a call needs, each the likeliest first.
const PATH: &[&str] = &["path", "filePath"];
const CONTENT: &[&str] = &["content", "newText", "text"];
const START_LINE: &[&str] = &["start_line", "startLine"];
const END_LINE: &[&str] = &["end_line", "endLine"];
const OLD_TEXT: &[&str] = &["old_text", "oldText", "old_string"];
const NEW_TEXT: &[&str] = &["new_text", "newText", "new_string"];
const BLOCKS: &[&str] = &["diffContent", "diff_content", "diff"];

/// Makes calls of an edit. `tag` is what stands between `<file-edit` and `>`.
pub(super) fn inside(registry: &Registry, tag: &str, body: &str) -> Inside {
    let mut inside = Inside::default();
    let attributes = attributes(tag);
    let attribute = |names: &[&str]| {
        attributes.iter().find(|(key, _)| names.contains(key)).map(|(_, value)| value.clone())
    };
    let Some(path) = attribute(&["filePath", "path", "file", "file_path"]) else {
        return inside.none(Code::SchemaInvalid, "<file-edit> has no filePath=\"…\"");
    };
    let body = trimmed(body);
    if is_blocks(body) && registry.resolve("editTool").is_some() {
        inside.put(registry, "editTool", &[(PATH, path), (BLOCKS, body.to_owned())]);
    } else if is_blocks(body) {
        for (old, new) in blocks(body) {
            let edit = [(PATH, path.clone()), (OLD_TEXT, old), (NEW_TEXT, new)];
            inside.put(registry, "replace_text", &edit);
        }
    } else if let Some((old, new)) = search_and_replace(body) {
        let edit = [(PATH, path), (OLD_TEXT, old.to_owned()), (NEW_TEXT, new.to_owned())];
        inside.put(registry, "replace_text", &edit);
    } else if let Some(start) = attribute(&["startLine", "start_line"]) {
        let end = attribute(&["endLine", "end_line"]).unwrap_or_else(|| start.clone());
        let edit = [(PATH, path), (START_LINE, start), (END_LINE, end), (CONTENT, body.to_owned())];
        inside.put(registry, "replace_lines", &edit);
    } else {
        inside.put(registry, "create_file", &[(PATH, path), (CONTENT, body.to_owned())]);
    }
    inside
}

/// Leaves out the line ends after the tag and before the end mark.
fn trimmed(body: &str) -> &str {
    let body = body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n')).unwrap_or(body);
    body.strip_suffix("\r\n").or_else(|| body.strip_suffix('\n')).unwrap_or(body)
}

fn attributes(tag: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut rest = tag;
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.trim().trim_start_matches(|c: char| !c.is_alphanumeric());
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else { break };
        let Some((value, after)) = after[1..].split_once(quote) else { break };
        found.push((key, unescaped(value)));
        rest = after;
    }
    found
}

fn unescaped(value: &str) -> String {
    value
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// `<search>…</search>` and `<replace>…</replace>`.
fn search_and_replace(body: &str) -> Option<(&str, &str)> {
    let rest = body.trim_start().strip_prefix("<search>")?;
    let (old, rest) = rest.split_once("</search>")?;
    let new = rest.trim_start().strip_prefix("<replace>")?;
    let (new, _) = new.rsplit_once("</replace>")?;
    Some((trimmed(old), trimmed(new)))
}

fn is_blocks(body: &str) -> bool {
    body.lines().any(|line| is_mark(line, '-', " SEARCH"))
}

/// Whether a line is a mark of the SEARCH/REPLACE form (requirement E1): seven signs or more.
fn is_mark(line: &str, sign: char, word: &str) -> bool {
    line.trim_end()
        .strip_suffix(word)
        .is_some_and(|signs| signs.len() >= 7 && signs.chars().all(|c| c == sign))
}

/// The SEARCH/REPLACE blocks of a body, as pairs.
fn blocks(body: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut part = 0;
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for line in body.lines() {
        match part {
            0 if is_mark(line, '-', " SEARCH") => part = 1,
            1 if is_mark(line, '=', "") => part = 2,
            2 if is_mark(line, '+', " REPLACE") => {
                found.push((old.join("\n"), new.join("\n")));
                (old, new, part) = (Vec::new(), Vec::new(), 0);
            }
            1 => old.push(line),
            2 => new.push(line),
            _ => {}
        }
    }
    found
}

// === impl Inside ===

impl Inside {
    /// Adds a call of a tool, its parameters by whichever of their names the tool has.
    fn put(&mut self, registry: &Registry, name: &str, values: &[(&[&str], String)]) {
        let Some(tool) = registry.resolve(name) else {
            self.broken += 1;
            let message = format!("<file-edit> needs `{name}`, which is not there");
            self.diagnostics.push(Diagnostic::new(Code::UnknownTool, message));
            return;
        };
        let mut arguments = Map::new();
        for (names, value) in values {
            let key = names.iter().find_map(|name| tool.parameter(name)).unwrap_or(names[0]);
            arguments.insert(key.to_owned(), Value::String(value.clone()));
        }
        self.fit(tool, arguments, None);
    }
}
