//! How text begins that looks like a call: JSON and Python calls with the name of a tool, tags and
//! tokens for calls.

use super::super::call_keys::{ARGUMENT_KEYS, NAME_KEYS, OTHER_KEYS, RESULT_KEY};
use super::super::sloppy;
use super::brackets::BracketPosition;
use super::{LOOK_BYTES_MAX, WORDS};
use crate::registry::{RegisteredTool, Registry};

/// The most bytes of a tag.
const TAG_BYTES_MAX: usize = 64;
/// What stands between a name and the arguments of a call.
pub(super) const ARGUMENTS_MARK: &str = "[ARGS]{";
/// What begins a call on a line.
const LINE_MARKS: &[&str] = &["[TOOL_CALLS]", "[TOOL_CALL]"];
/// What begins an argument in a form that is read, where it begins a line.
pub(in super::super) const PARAMETER_MARKS: &[&str] = &["<arg_key>", "<parameter="];
/// What begins a token of a model that is no text, and what ends it.
const TOKENS: [(&str, &str); 2] = [("<|", "|>"), ("<｜", "｜>")];
/// Words of the names of those that end something, or begin a result.
const ENDS: &[&str] = &["end", "result", "response", "output"];
/// Names of those that begin calls and have no word for them.
const OTHER_TOKENS: &[&str] = &["python_tag", "plugin"];
/// That of Kimi K3, which begins anything.
const OPEN: &str = "open";
/// What stands between the name of a tag for calls and that of its tool.
const NAMES_TOOL: &[&str] = &["=\"", "=", " name=\"", " tool=\"", "call tool=\"", "call:"];

/// Whether what begins an argument in tags begins a text; none where more must come to know.
pub(super) fn begins_argument(text: &str) -> Option<bool> {
    let mut known = Some(false);
    for mark in PARAMETER_MARKS {
        if text.len() > mark.len() && text.starts_with(mark) {
            return Some(true);
        }
        if text.len() <= mark.len() && mark.starts_with(text) {
            known = None;
        }
    }
    known
}

/// Whether a mark begins what looks like a call: no sentence continues behind it.
pub(super) fn is_marked(text: &str) -> bool {
    text.starts_with('<')
        || text.starts_with(ARGUMENTS_MARK)
        || LINE_MARKS.iter().any(|mark| text.starts_with(mark))
}

/// Whether a text begins like a call; none where more must come to know. `begins_line` says whether it
/// begins a line.
pub(super) fn is_alike(registry: &Registry, text: &str, begins_line: bool) -> Option<bool> {
    if text.starts_with('<') {
        return tag(registry, text, begins_line);
    }
    // What stands between a name and its arguments is a mark only after another one.
    if text.starts_with(ARGUMENTS_MARK) {
        return Some(true);
    }
    match (names_tool(registry, text), text.starts_with('[')) {
        (Some(false), true) if ARGUMENTS_MARK.starts_with(text) => None,
        (Some(false), true) => match on_line(registry, text) {
            Some(false) => python(registry, &text[1..]),
            known => known,
        },
        (known, _) => known,
    }
}

/// Whether an object begins a text, or a list of them, that names a tool: in its first key, or behind
/// keys that stand beside it in a call.
fn names_tool(registry: &Registry, text: &str) -> Option<bool> {
    let near = &text[..text.floor_char_boundary(LOOK_BYTES_MAX)];
    let inner = near.strip_prefix('[').unwrap_or(near).trim_start();
    let Some(mut rest) = inner.strip_prefix('{').map(str::trim_start) else {
        return sloppy::names_tool(registry, text);
    };
    while let Some((key, value)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        let length = match key {
            _ if ARGUMENT_KEYS.contains(&key) => value_end(value),
            _ if OTHER_KEYS.contains(&key) || key == RESULT_KEY => scalar_end(value),
            _ => break,
        };
        rest = match value[length?..].strip_prefix(',') {
            Some(rest) => rest.trim_start(),
            None => return Some(false),
        };
    }
    sloppy::names_tool_at_key(registry, rest)
}

/// Where the value behind a key ends that is no object and no list, or more than a key may hold there.
fn scalar_end(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    text.find(|c| {
        is_quoted ^= c == '"';
        !is_quoted && ",{[}]\n".contains(c)
    })
}

/// Where the value behind a key ends.
fn value_end(text: &str) -> Option<usize> {
    let begin = text.find(['{', '[', '"', ','])?;
    if !text[begin..].starts_with(['{', '[']) {
        return scalar_end(text);
    }
    let after = BracketPosition::default().end(&text[begin..])?;
    let after = after.trim_start();
    (!after.is_empty()).then(|| text.len() - after.len())
}

/// Whether an object begins a text that holds arguments of a tool: its first key is that of a parameter,
/// or it is empty. None where more must come to know.
pub(super) fn begins_arguments(tool: &RegisteredTool, text: &str) -> Option<bool> {
    let inner = text.strip_prefix('{')?.trim_start();
    let Some(rest) = inner.strip_prefix(['"', '\'']) else {
        return inner.chars().next().map(|c| c == '}');
    };
    let length = rest.find(['"', '\'', '\n'])?;
    let after = rest[length + 1..].trim_start();
    let is_parameter = tool.parameter(&rest[..length]).is_some();
    let takes_any = tool.definition().parameters.get("properties").is_none();
    after.chars().next().map(|c| c == ':' && (is_parameter || takes_any))
}

/// Whether the mark of a call on a line begins a text, and the name of a tool follows it.
fn on_line(registry: &Registry, text: &str) -> Option<bool> {
    if LINE_MARKS.iter().any(|mark| mark.len() > text.len() && mark.starts_with(text)) {
        return None;
    }
    let Some(rest) = LINE_MARKS.iter().find_map(|mark| text.strip_prefix(mark)) else {
        return Some(false);
    };
    let rest = rest.trim_start();
    if rest.is_empty() { None } else { names(registry, rest) }
}

/// Whether the name of a tool begins a text; none where more must come to know.
fn names(registry: &Registry, text: &str) -> Option<bool> {
    let of_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let length = text.find(|c| !of_name(c))?;
    Some(registry.resolve(&text[..length]).is_some())
}

/// Whether a name of a tool and the key of an argument begin a text: `tool(key=`.
fn python(registry: &Registry, text: &str) -> Option<bool> {
    let of_name = |c: char| !(c.is_alphanumeric() || "_-.".contains(c));
    let length = text.find(of_name)?;
    let Some(rest) = text[length..].strip_prefix('(') else { return Some(false) };
    if registry.tool(&text[..length]).is_none() {
        return Some(false);
    }
    let rest = rest.trim_start();
    let key = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    let after = rest[key..].trim_start();
    if after.is_empty() { None } else { Some(key > 0 && after.starts_with('=')) }
}

/// Whether a tag begins a text that marks a call: a token of a model, an element that has the name of a
/// tool, a word for calls with such a name or with JSON behind it.
fn tag(registry: &Registry, text: &str, begins_line: bool) -> Option<bool> {
    let of_tag = |c: char| c.is_ascii_alphanumeric() || "<|:_-./｜▁".contains(c);
    let Some(end) = text.find(|c| !of_tag(c)) else {
        return (text.len() > TAG_BYTES_MAX).then_some(false);
    };
    if end > TAG_BYTES_MAX || text.starts_with("</") {
        return Some(false);
    }
    let name = text[..end].trim_matches(['<', '|', '｜']).to_lowercase();
    let is_of_calls = WORDS.iter().any(|word| name.contains(word));
    let Some(rest) = text[end..].strip_prefix('>') else {
        return if is_of_calls { tool_in_tag(registry, &text[end..]) } else { Some(false) };
    };
    let is_element = text[1..end].len() == name.len();
    if let Some(tool) = registry.tool(&name).filter(|_| is_element) {
        return element(registry, tool, &text[1..end], rest);
    }
    match token(&text[..=end], &name, is_of_calls, rest, begins_line) {
        Some(false) => {}
        known => return known,
    }
    if !is_of_calls && name != OPEN {
        return Some(false);
    }
    match tool_in_tag(registry, rest) {
        Some(false) if is_of_calls => with_json(registry, rest),
        known => known,
    }
}

/// Whether what follows the name of a tag, or all of it, names a tool.
fn tool_in_tag(registry: &Registry, rest: &str) -> Option<bool> {
    if NAMES_TOOL.iter().any(|mark| mark.len() > rest.len() && mark.starts_with(rest)) {
        return None;
    }
    let inner = NAMES_TOOL.iter().find_map(|mark| rest.strip_prefix(mark));
    inner.map_or(Some(false), |inner| names(registry, inner))
}

/// Whether a token of a model begins a call that nobody reads: another token, or what it calls, follows
/// it at once.
fn token(tag: &str, name: &str, is_of_calls: bool, rest: &str, begins_line: bool) -> Option<bool> {
    let of_tokens = |text: &str| TOKENS.iter().any(|(open, _)| text.starts_with(open));
    let begins = is_of_calls || OTHER_TOKENS.contains(&name);
    if !begins || !of_tokens(tag) || ENDS.iter().any(|end| name.contains(end)) {
        return Some(false);
    }
    if is_of_calls && of_tokens(rest) {
        return Some(true);
    }
    if TOKENS.iter().any(|(open, _)| open.starts_with(rest)) {
        return None;
    }
    let is_whole = TOKENS.iter().any(|(_, close)| tag.ends_with(close));
    let next = rest.chars().next()?;
    let is_content = match next {
        '\n' if begins_line => true,
        _ if next.is_ascii() => next.is_ascii_alphanumeric() || "[(/\"".contains(next),
        _ => begins_line && next.is_alphanumeric(),
    };
    Some(is_whole && is_content)
}

/// Whether an element with the name of a tool has its end, or begins with an argument. `name` is as its
/// tag writes it.
fn element(registry: &Registry, tool: &RegisteredTool, name: &str, rest: &str) -> Option<bool> {
    let inner = rest.trim_start();
    if inner.starts_with('{') {
        match (begins_arguments(tool, inner), with_json(registry, inner)) {
            (Some(false), Some(false)) => {}
            (Some(true), _) | (_, Some(true)) => return Some(true),
            _ => return None,
        }
    }
    let argument = inner.strip_prefix('<').and_then(|tag| tag.split_once('>'));
    let begins_argument = argument.is_some_and(|(key, _)| tool.parameter(key) == Some(key));
    // Its end may be further away than is looked.
    (begins_argument || rest.contains(&format!("</{name}>"))).then_some(true)
}

/// Whether JSON begins a text that has a key of a call, or a tool as one.
fn with_json(registry: &Registry, rest: &str) -> Option<bool> {
    let rest = rest.trim_start();
    if !matches!(rest.chars().next()?, '{' | '[') {
        return called(registry, rest);
    }
    let inner = rest.trim_start_matches(|c: char| "{[\"'".contains(c) || c.is_whitespace());
    let key = inner.find(['"', '\''])?;
    let (key, after) = inner.split_at(key);
    let is_key = NAME_KEYS.contains(&key) || registry.tool(key).is_some();
    let after = after[1..].trim_start();
    if after.is_empty() { None } else { Some(is_key && after.starts_with(':')) }
}

/// Whether the call of a tool begins a text as code writes it: `tool(`. None where more must come to know.
fn called(registry: &Registry, text: &str) -> Option<bool> {
    let of_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    match text.find(|c| !of_name(c)) {
        Some(length) => {
            Some(text[length..].starts_with('(') && registry.tool(&text[..length]).is_some())
        }
        None if registry.tools().any(|tool| tool.name().starts_with(text)) => None,
        None => Some(false),
    }
}
