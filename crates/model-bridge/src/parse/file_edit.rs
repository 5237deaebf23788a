//! `<file-edit filePath="…">…</file-edit>` (requirement E5): an edit that is written as it is, not as
//! JSON.

use serde_json::{Map, Value};

use super::calls::Inside;
use crate::diagnostic::DiagnosticCode;
use crate::registry::{Registry, fold};

/// What begins an edit of a file.
pub(super) const OPEN: &str = "<file-edit";
/// What ends an edit of a file.
pub(super) const CLOSE: &str = "</file-edit>";
/// The most bytes of the part between `<` and `>`.
pub(super) const TAG_BYTES_MAX: usize = 4096;
/// The most bytes before the `=` of its first attribute.
const ATTRIBUTE_BYTES_MAX: usize = 40;

/// Names of what a call needs, each the likeliest first.
const PATH: &[&str] = &["path", "filePath"];
const CONTENT: &[&str] = &["content", "newText", "text"];
const START_LINE: &[&str] = &["start_line", "startLine"];
const END_LINE: &[&str] = &["end_line", "endLine"];
const OLD_TEXT: &[&str] = &["old_text", "oldText", "old_string"];
const NEW_TEXT: &[&str] = &["new_text", "newText", "new_string"];
const BLOCKS: &[&str] = &["diffContent", "diff_content", "diff"];

/// What stands after `<file-edit`.
pub(super) enum Tag {
    /// Text that only begins like a tag.
    None,
    /// More has to come before that is known.
    MayBegin,
    /// A tag whose `>` has not come.
    Begun,
    /// A tag of so many bytes before its `>`.
    Whole(usize),
}

/// Looks at what stands after `<file-edit`: a tag has an attribute.
pub(super) fn tag(after: &str) -> Tag {
    let near = &after[..after.floor_char_boundary(TAG_BYTES_MAX + 1)];
    let Some(first) = near.chars().next() else { return Tag::MayBegin };
    let inner = near.trim_start();
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let rest = inner.trim_start_matches(name);
    if !first.is_whitespace() || near.len() - rest.len() > ATTRIBUTE_BYTES_MAX {
        return Tag::None;
    }
    match rest.chars().next() {
        None => Tag::MayBegin,
        Some('=') if rest.len() < inner.len() => match near.find('>') {
            Some(length) => Tag::Whole(length),
            None if near.len() > TAG_BYTES_MAX => Tag::None,
            None => Tag::Begun,
        },
        Some(_) => Tag::None,
    }
}

/// Makes calls of an edit. `tag` is what stands between `<file-edit` and `>`. What is not of the form
/// is refused: written as it is, it would become the file.
pub(super) fn inside(registry: &Registry, tag: &str, body: &str) -> Inside {
    let refused = |message: &str| Inside::default().none(DiagnosticCode::SchemaInvalid, message);
    let Some(attributes) = attributes(tag) else {
        return refused("<file-edit> takes filePath=\"…\", startLine=\"…\" and endLine=\"…\" only");
    };
    let Some(path) = attributes.path else {
        return refused("<file-edit> has no filePath=\"…\"");
    };
    let body = trimmed(body);
    let mut inside = Inside::default();
    if let Some((form, blocks)) = blocks(body) {
        if blocks.is_empty() || attributes.lines.is_some() {
            return refused("the SEARCH/REPLACE blocks of <file-edit> are not whole");
        }
        if registry.resolve("editTool").is_some() {
            let body = if form == MarkerStyle::Own { body.to_owned() } else { own(&blocks) };
            inside.put(registry, "editTool", &[(PATH, path), (BLOCKS, body)]);
            return inside;
        }
        for (old, new) in blocks {
            let edit = [(PATH, path.clone()), (OLD_TEXT, old), (NEW_TEXT, new)];
            inside.put(registry, "replace_text", &edit);
        }
        return inside;
    }
    if let Some(pairs) = search_and_replace(body) {
        if attributes.lines.is_some() {
            return refused("<file-edit> has lines, or <search> and <replace>, not both");
        }
        for (old, new) in pairs {
            let path = (PATH, path.clone());
            let edit = [path, (OLD_TEXT, old.to_owned()), (NEW_TEXT, new.to_owned())];
            inside.put(registry, "replace_text", &edit);
        }
    } else if has_marks(body) {
        return refused("in <file-edit> each <search> is followed by its <replace>, both whole");
    } else if let Some((start, end)) = attributes.lines {
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

/// What a tag says.
struct Attributes {
    path: Option<String>,
    /// The first and the last line.
    lines: Option<(String, String)>,
}

/// Reads the attributes of a tag; none where one is unknown, there twice, or makes no sense.
fn attributes(tag: &str) -> Option<Attributes> {
    let (mut path, mut start, mut end) = (None, None, None);
    let mut rest = tag.trim();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let first = after.chars().next()?;
        let (value, after) = match first {
            '"' | '\'' => after[1..].split_once(first)?,
            '“' | '”' => after[first.len_utf8()..].split_once('”')?,
            _ => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
        };
        let place = match fold(key.trim()).as_str() {
            "filepath" | "path" | "file" => &mut path,
            "startline" => &mut start,
            "endline" => &mut end,
            _ => return None,
        };
        if place.replace(unescaped(value)).is_some() {
            return None;
        }
        rest = after.trim_start();
    }
    let lines = match (start, end) {
        (None, None) => None,
        (Some(start), end) => {
            let end = end.unwrap_or_else(|| start.clone());
            let number = |line: &String| line.parse::<u64>().ok().filter(|line| *line > 0);
            (number(&start)? <= number(&end)?).then_some(())?;
            Some((start, end))
        }
        (None, Some(_)) => return None,
    };
    Some(Attributes { path, lines })
}

fn unescaped(value: &str) -> String {
    value
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// `<search>…</search>` and `<replace>…</replace>`, once or several times.
fn search_and_replace(body: &str) -> Option<Vec<(&str, &str)>> {
    let mut pairs = Vec::new();
    let mut rest = body.trim();
    while !rest.is_empty() {
        let (old, after) = rest.strip_prefix("<search>")?.split_once("</search>")?;
        let after = after.trim_start().strip_prefix("<replace>")?;
        let (new, after) = after.split_once("</replace>")?;
        let is_whole = ![old, new].iter().any(|part| {
            ["<search>", "<replace>", "</search>"].iter().any(|mark| part.contains(mark))
        });
        is_whole.then(|| pairs.push((trimmed(old), trimmed(new))))?;
        rest = after.trim_start();
    }
    (!pairs.is_empty()).then_some(pairs)
}

/// Whether lines of another way to write edits are in a body.
fn has_marks(body: &str) -> bool {
    const MARKS: &[&str] = &[
        "<search>",
        "</search>",
        "<replace>",
        "</replace>",
        "<<<<<<< ",
        ">>>>>>> ",
        "*** begin patch",
    ];
    body.lines().any(|line| {
        let line = line.trim().to_ascii_lowercase();
        MARKS.iter().any(|mark| line.starts_with(mark))
    })
}

/// Whether a line is a mark of the SEARCH/REPLACE form (requirement E1): seven signs or more.
fn is_mark(line: &str, sign: char, word: &str) -> bool {
    line.trim_end()
        .strip_suffix(word)
        .is_some_and(|signs| signs.len() >= 7 && signs.chars().all(|c| c == sign))
}

/// Which marks blocks have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkerStyle {
    /// Those of requirement E1.
    Own,
    /// Those that version control writes around conflicts.
    Conflict,
}

/// Writes blocks with the marks of requirement E1.
fn own(blocks: &[(String, String)]) -> String {
    let block = |(old, new): &(String, String)| {
        let part = |text: &str| if text.is_empty() { String::new() } else { format!("{text}\n") };
        format!("------- SEARCH\n{}=======\n{}+++++++ REPLACE", part(old), part(new))
    };
    blocks.iter().map(block).collect::<Vec<_>>().join("\n")
}

/// The SEARCH/REPLACE blocks of a body, as pairs: none where it has no mark of them, an empty list
/// where one is not whole.
fn blocks(body: &str) -> Option<(MarkerStyle, Vec<(String, String)>)> {
    let signs = |form| if form == MarkerStyle::Own { ['-', '+'] } else { ['<', '>'] };
    let is_form = |form: &MarkerStyle| {
        let [open, close] = signs(*form);
        body.lines().any(|line| is_mark(line, open, " SEARCH") || is_mark(line, close, " REPLACE"))
    };
    let form = [MarkerStyle::Own, MarkerStyle::Conflict].into_iter().find(is_form)?;
    let [open, close] = signs(form);
    let opens = |line: &str| is_mark(line, open, " SEARCH");
    let closes = |line: &str| is_mark(line, close, " REPLACE");
    Some((form, pairs(body, opens, closes)))
}

fn pairs(
    body: &str,
    opens: impl Fn(&str) -> bool,
    closes: impl Fn(&str) -> bool,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut part = 0;
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for line in body.split('\n') {
        match part {
            0 if opens(line) => part = 1,
            1 if is_mark(line, '=', "") => part = 2,
            2 if closes(line) => {
                found.push((old.join("\n"), new.join("\n")));
                (old, new, part) = (Vec::new(), Vec::new(), 0);
            }
            _ if opens(line) || closes(line) => return Vec::new(),
            1 => old.push(line),
            2 => new.push(line),
            _ => {}
        }
    }
    if part == 0 { found } else { Vec::new() }
}

// === impl Inside ===

impl Inside {
    /// Adds a call of a tool, its parameters by whichever of their names the tool has.
    fn put(&mut self, registry: &Registry, name: &str, values: &[(&[&str], String)]) {
        let Some(tool) = registry.resolve(name) else {
            let message = format!("<file-edit> needs `{name}`, which is not there");
            return self.refuse(DiagnosticCode::UnknownTool, message);
        };
        let mut arguments = Map::new();
        for (names, value) in values {
            let key = names.iter().find_map(|name| tool.parameter(name)).unwrap_or(names[0]);
            arguments.insert(key.to_owned(), Value::String(value.clone()));
        }
        self.fit(tool, arguments, None);
    }
}
