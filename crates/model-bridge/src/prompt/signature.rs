//! A tool in a line, or on a page.

use std::collections::HashSet;

use serde_json::Value;

use crate::language::is_han;
use crate::parse::template_marks;
use crate::registry::RegisteredTool;

/// As how many letters a Chinese character counts.
const LETTERS_PER_HAN: usize = 4;
/// The most letters of all descriptions in lines together.
const LINES_LETTERS_MAX: usize = 600;
/// The most letters of a description in a line, where there are few tools.
const LINE_LETTERS_MAX: usize = 80;
/// The same where there are many.
const LINE_LETTERS_MIN: usize = 20;
/// Words that no description ends in.
const LOOSE: &[&str] = &[
    "a", "an", "the", "of", "in", "on", "or", "and", "for", "by", "to", "at", "with", "from",
    "that", "what", "which", "how", "where", "is", "are", "its", "was",
];
/// The most characters of a description on a page.
const PAGE_CHARS_MAX: usize = 1_500;
/// The most characters of a parameter's description.
const PARAMETER_CHARS_MAX: usize = 400;
/// The most values of an enumeration that are reported.
const VALUES_MAX: usize = 12;
/// How deep types are reported.
const DEPTH_MAX: usize = 4;
/// About how long the types of a tool are together, in bytes; what comes behind is only named. References can make
/// them many times as long as the schema is.
const TYPES_BYTES_MAX: usize = 64 << 10;

/// `name(path!: string, line?: integer): a few words`, fewer where there are many tools.
pub(super) fn line(tool: &RegisteredTool, tools: usize) -> String {
    let share = LINES_LETTERS_MAX / tools.max(1);
    let letters_max = share.clamp(LINE_LETTERS_MIN, LINE_LETTERS_MAX);
    let words = first_words(tool, letters_max);
    let colon = if words.is_empty() { "" } else { ": " };
    format!("{}{colon}{words}", signature(tool))
}

/// The signature, the description and a line for each parameter that has one. `words` are those
/// for required, optional and default.
pub(super) fn page(tool: &RegisteredTool, words: [&str; 3]) -> String {
    let [required, optional, default] = words;
    let mut lines = vec![format!("### {}", signature(tool))];
    let description = shown(&tool.definition().description, PAGE_CHARS_MAX);
    if !description.is_empty() {
        lines.push(description);
    }
    let must = needed(tool);
    for (name, schema) in properties(tool) {
        let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let text = shown(text, PARAMETER_CHARS_MAX);
        let whether = if must.contains(name.as_str()) { required } else { optional };
        let otherwise = schema.get("default").map(|value| format!(", {default} {value}"));
        let otherwise = otherwise.unwrap_or_default();
        let colon = if text.is_empty() { "" } else { ": " };
        lines.push(format!("- {name} ({whether}{otherwise}){colon}{text}"));
    }
    lines.join("\n")
}

fn signature(tool: &RegisteredTool) -> String {
    let root = &tool.definition().parameters;
    let must = needed(tool);
    let mut left = TYPES_BYTES_MAX;
    let parameters = properties(tool).map(|(name, schema)| {
        let mark = if must.contains(name.as_str()) { '!' } else { '?' };
        format!("{name}{mark}: {}", type_of(schema, root, DEPTH_MAX, &mut left))
    });
    let parameters: Vec<String> = parameters.collect();
    format!("{}({})", tool.name(), parameters.join(", "))
}

fn needed(tool: &RegisteredTool) -> HashSet<&str> {
    let must = tool.definition().parameters.get("required").and_then(Value::as_array);
    must.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn properties(tool: &RegisteredTool) -> impl Iterator<Item = (&String, &Value)> {
    let properties = tool.definition().parameters.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

/// The type that a schema asks for: `string`, `a|b`, `string[]`, `integer|null`. `left` is how many bytes of types
/// there is room for.
fn type_of(schema: &Value, root: &Value, depth: usize, left: &mut usize) -> String {
    let depth = depth.checked_sub(1).filter(|_| *left > 0);
    let told = depth.map_or_else(|| "any".to_owned(), |depth| described(schema, root, depth, left));
    *left = left.saturating_sub(told.len());
    told
}

fn described(schema: &Value, root: &Value, depth: usize, left: &mut usize) -> String {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        let told = target.map(|schema| type_of(schema, root, depth, left));
        return told.unwrap_or_else(|| "any".to_owned());
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let told = values.iter().take(VALUES_MAX).map(word);
        return told.collect::<Vec<_>>().join("|");
    }
    if let Some(value) = schema.get("const") {
        return word(value);
    }
    let any_of = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    if let Some(options) = any_of {
        let mut told: Vec<String> = Vec::new();
        for option in options.iter().take(VALUES_MAX) {
            let option = type_of(option, root, depth, left);
            if !told.contains(&option) {
                told.push(option);
            }
        }
        return told.join("|");
    }
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "array" => {
            let item = schema.get("items").map(|items| type_of(items, root, depth, left));
            match item.as_deref() {
                Some(item) if item.contains('|') => format!("({item})[]"),
                Some(item) => format!("{item}[]"),
                None => "any[]".to_owned(),
            }
        }
        Some(Value::String(kind)) if kind == "object" => fields(schema, root, depth, left),
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().map(word).collect::<Vec<_>>().join("|"),
        _ if schema.get("properties").is_some() => fields(schema, root, depth, left),
        _ => "any".to_owned(),
    }
}

fn fields(schema: &Value, root: &Value, depth: usize, left: &mut usize) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let must = schema.get("required").and_then(Value::as_array);
    let told = properties.into_iter().flatten().take(VALUES_MAX).map(|(name, schema)| {
        let is_must = must.is_some_and(|must| must.iter().any(|one| one == name));
        let mark = if is_must { '!' } else { '?' };
        format!("{name}{mark}: {}", type_of(schema, root, depth, left))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { "object".to_owned() } else { format!("{{{}}}", told.join(", ")) }
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The first clause of the description, without what it ends in; where it is too long the title, or
/// as much of the clause as there is room for.
fn first_words(tool: &RegisteredTool, letters_max: usize) -> String {
    let definition = tool.definition();
    let text = shown(&definition.description, usize::MAX);
    let end =
        text.char_indices().zip(text.chars().skip(1).chain([' '])).find_map(|((at, c), next)| {
            match c {
                '。' | '；' | '：' | '，' | '（' => Some(at),
                '.' | ',' | ';' | ':' if next.is_whitespace() => Some(at),
                '(' => Some(at),
                _ => None,
            }
        });
    let clause = text[..end.unwrap_or(text.len())].trim();
    let mut letters = 0;
    let end = clause.char_indices().find_map(|(at, c)| {
        letters += if is_han(c) { LETTERS_PER_HAN } else { 1 };
        (letters > letters_max).then_some(at)
    });
    let Some(end) = end else { return clause.to_owned() };
    let title = shown(&definition.title, letters_max);
    if !title.is_empty() {
        return title;
    }
    let cut = &clause[..end];
    let Some((mut words, _)) = cut.rsplit_once(' ') else { return cut.to_owned() };
    while let Some((before, last)) = words.rsplit_once(' ') {
        if !LOOSE.contains(&last) {
            break;
        }
        words = before;
    }
    words.to_owned()
}

/// A text of others on one line, without what could be read as a frame of a call.
fn shown(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.replace("```", "").replace("~~~", "").replace("[TOOL", "[ TOOL");
    let line = line.replace("<file-edit", "< file-edit").replace("<tool_call", "< tool_call");
    let broken = |line: String, mark: &str| line.replace(mark, &format!("< {}", &mark[1..]));
    let line = template_marks().fold(line, broken);
    if line.chars().count() <= chars_max {
        return line;
    }
    line.chars().take(chars_max).chain(['…']).collect()
}
