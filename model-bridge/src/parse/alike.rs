//! Text that looks like a call and is none: calls without a mark, or with one of a form that nobody
//! reads here. It stays text; that it was there is told, once in a reply.

use super::Parser;
use super::calls::NAME_KEYS;
use super::sloppy;
use crate::event::Code;
use crate::registry::Registry;

/// How far a look goes, in bytes.
const LOOK_BYTES_MAX: usize = 256;
/// The most bytes of a tag.
const TAG_BYTES_MAX: usize = 64;
/// Words of which a tag that marks calls has one.
const WORDS: &[&str] = &["tool", "function", "call", "invoke", "action"];
/// What stands between a name and the arguments of a call.
const ARGUMENTS_MARK: &str = "[ARGS]{";
/// What begins an argument in a form that is read, where it begins a line.
const PARAMETER_MARKS: &[&str] = &["<arg_key>", "<parameter="];
/// What begins a token of a model that is no text.
const TOKENS: [&str; 2] = ["<|", "<｜"];
/// Words of the names of those that end something, or begin a result.
const ENDS: &[&str] = &["end", "result", "response", "output"];
/// What may begin something that looks like a call.
const BEGINS: &[char] = &['{', '[', '<'];

/// Said of it.
pub(super) const UNMARKED: &str = "text looks like a call of a tool and has no mark of one";

/// Looks for the first text of a reply that looks like a call.
#[derive(Debug, Default)]
pub(super) struct Alike {
    state: State,
    /// Whether one was found.
    is_found: bool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Nothing,
    /// What came since something began that may be one, and whether that begins a line.
    Begun(String, bool),
    /// In what begins like a call: it is one where its line or a sentence ends behind it. In a sentence
    /// that goes on it is spoken of.
    Inside(Brackets),
    /// Right behind it.
    Behind,
}

/// Where in brackets a place is.
#[derive(Debug, Default)]
struct Brackets {
    depth: usize,
    quote: Option<char>,
    is_escaped: bool,
}

// === impl Brackets ===

impl Brackets {
    /// Goes on to the bracket that ends them all. Returns what follows it, where it is there.
    fn end<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        for (place, c) in text.char_indices() {
            match (self.quote, c) {
                (Some(_), _) if self.is_escaped => self.is_escaped = false,
                (Some(_), '\\') => self.is_escaped = true,
                (Some(quote), c) if c == quote => self.quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => self.quote = Some(c),
                (None, '{' | '[' | '(') => self.depth += 1,
                (None, '}' | ']' | ')') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(&text[place + 1..]);
                    }
                }
                (None, _) => {}
            }
        }
        None
    }
}

// === impl Alike ===

impl Alike {
    /// Takes text; where nothing was begun, its first character may begin something. Returns how much
    /// of it was looked at: what follows may begin something again.
    fn take(&mut self, registry: &Registry, text: &str, begins_line: bool) -> usize {
        let mut at = 0;
        if matches!(self.state, State::Nothing) {
            self.state = State::Begun(String::new(), begins_line);
        }
        while at < text.len() {
            let rest = &text[at..];
            match &mut self.state {
                State::Nothing => break,
                State::Begun(begun, begins_line) => {
                    let room = LOOK_BYTES_MAX.saturating_sub(begun.len());
                    let taken = rest.floor_char_boundary(room);
                    begun.push_str(&rest[..taken]);
                    at += taken;
                    let is_long = taken < rest.len() || begun.len() >= LOOK_BYTES_MAX;
                    match first_alike(registry, begun, begins_line, is_long) {
                        None => self.state = State::Nothing,
                        Some(false) => {}
                        Some(true) if is_marked(begun) => {
                            self.is_found = true;
                            break;
                        }
                        Some(true) => {
                            let mut brackets = Brackets::default();
                            // It ends behind what made it certain, so in what came last.
                            let after = brackets.end(begun).map(str::len);
                            at -= after.unwrap_or(0).min(taken);
                            self.state = match after {
                                Some(_) => State::Behind,
                                None => State::Inside(brackets),
                            };
                        }
                    }
                }
                State::Inside(brackets) => match brackets.end(rest) {
                    None => at = text.len(),
                    Some(after) => {
                        at = text.len() - after.len();
                        self.state = State::Behind;
                    }
                },
                State::Behind => {
                    let after = rest.trim_start_matches([' ', '\t', '\r', ';', ',', '.', ']']);
                    at = text.len() - after.len();
                    if let Some(next) = after.chars().next() {
                        self.state = State::Nothing;
                        self.is_found = next.is_uppercase() || "\n{[".contains(next);
                        break;
                    }
                }
            }
        }
        at
    }

    /// Takes that something else than text comes.
    pub(super) fn leave(&mut self) {
        self.state = State::Nothing;
    }

    /// Whether what looks like a call ends with the reply.
    pub(super) fn ends(&self) -> bool {
        !self.is_found && matches!(self.state, State::Inside(_) | State::Behind)
    }
}

/// Goes on to the first thing that looks like a call. Returns whether it is certain to; none where there
/// is none. `is_long` says that what comes later does not matter for what begins the text.
fn first_alike(
    registry: &Registry,
    begun: &mut String,
    begins_line: &mut bool,
    mut is_long: bool,
) -> Option<bool> {
    loop {
        let known = is_alike(registry, begun);
        match begins_argument(begun).filter(|_| *begins_line && known != Some(true)) {
            Some(true) => return Some(true),
            Some(false) if !is_long => return Some(false),
            _ => {}
        }
        match known {
            Some(true) => return Some(true),
            None if !is_long => return Some(false),
            Some(false) | None => {
                let next = begun[1..].find(BEGINS)? + 1;
                *begins_line = begun[..next].trim_end_matches([' ', '\t']).ends_with('\n');
                begun.drain(..next);
                is_long = false;
            }
        }
    }
}

/// Whether what begins an argument in tags begins a text, or may; none where neither does.
fn begins_argument(text: &str) -> Option<bool> {
    let mut known = None;
    for mark in PARAMETER_MARKS {
        if text.len() > mark.len() && text.starts_with(mark) {
            return Some(true);
        }
        if text.len() <= mark.len() && mark.starts_with(text) {
            known = Some(false);
        }
    }
    known
}

/// Whether a mark begins what looks like a call: no sentence goes on behind it.
fn is_marked(text: &str) -> bool {
    text.starts_with('<') || text.starts_with(ARGUMENTS_MARK)
}

/// Whether a text begins like a call; none where more must come to know.
fn is_alike(registry: &Registry, text: &str) -> Option<bool> {
    if text.starts_with('<') {
        return tag(registry, text);
    }
    // What stands between a name and its arguments is a mark only after another one.
    if text.starts_with(ARGUMENTS_MARK) {
        return Some(true);
    }
    match (sloppy::names_tool(registry, text), text.starts_with('[')) {
        (Some(false), true) if ARGUMENTS_MARK.starts_with(text) => None,
        (Some(false), true) => python(registry, &text[1..]),
        (known, _) => known,
    }
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

/// Whether a tag begins a text that has the name of a tool or a word for calls, and JSON or another
/// tag follows.
fn tag(registry: &Registry, text: &str) -> Option<bool> {
    let of_tag = |c: char| c.is_ascii_alphanumeric() || "<|:_-./｜▁".contains(c);
    let Some(end) = text.find(|c| !of_tag(c)) else {
        return (text.len() > TAG_BYTES_MAX).then_some(false);
    };
    let Some(rest) = text[end..].strip_prefix('>').filter(|_| end <= TAG_BYTES_MAX) else {
        return Some(false);
    };
    let name = text[..end].trim_matches(['<', '|', '｜']).to_lowercase();
    let is_tool = registry.tool(&name).is_some();
    if name.starts_with('/') || !(is_tool || WORDS.iter().any(|word| name.contains(word))) {
        return Some(false);
    }
    // Tokens of a model, one right behind the other.
    let is_token = |text: &str| TOKENS.iter().any(|token| text.starts_with(token));
    if is_token(text) && !ENDS.iter().any(|end| name.contains(end)) {
        if is_token(rest) {
            return Some(true);
        }
        if TOKENS.iter().any(|token| token.starts_with(rest)) {
            return None;
        }
    }
    let rest = rest.trim_start();
    let first = rest.chars().next()?;
    if is_tool && first == '<' {
        return Some(!rest.starts_with("</") && rest.len() > 1);
    }
    // A key of a call, or a tool as one.
    let inner = rest.trim_start_matches(|c: char| "{[\"'".contains(c) || c.is_whitespace());
    if !matches!(first, '{' | '[') {
        return Some(false);
    }
    let key = inner.find(['"', '\''])?;
    let (key, after) = inner.split_at(key);
    let is_key = NAME_KEYS.contains(&key) || registry.tool(key).is_some();
    let after = after[1..].trim_start();
    if after.is_empty() { None } else { Some(is_key && after.starts_with(':')) }
}

// === impl Parser ===

impl Parser {
    /// Passes on so many bytes as text, and looks whether they look like a call. `begins` says whether
    /// the first one may begin what does.
    pub(super) fn pass_prose(&mut self, mut length: usize, mut begins: bool) {
        while !self.alike.is_found && length > 0 {
            if matches!(self.alike.state, State::Nothing) {
                let plain = self.plain(length, begins);
                self.pass(plain);
                length -= plain;
                if length == 0 {
                    return;
                }
                if self.line.is_quoted() || self.line.in_code() || self.line.in_string() {
                    self.pass(1);
                    length -= 1;
                    begins = false;
                    continue;
                }
            }
            let begins_line = self.line.is_blank();
            let text = &self.text[self.at..self.at + length];
            let taken = self.alike.take(&self.registry, text, begins_line);
            if self.alike.is_found {
                self.tell(Code::UnmarkedCall, UNMARKED);
            }
            self.pass(taken);
            length -= taken;
            begins = false;
        }
        self.pass(length);
    }

    /// How many of so many bytes come before what may look like a call, by what is there already: the
    /// most part of a text is passed on in one piece, and none of it is kept.
    fn plain(&self, length: usize, begins: bool) -> usize {
        let rest = self.rest();
        let mut at = 0;
        if begins && rest.starts_with(BEGINS) {
            if !is_plain(&self.registry, rest) {
                return 0;
            }
            at = 1;
        }
        for place in memchr::memchr_iter(b'{', &rest.as_bytes()[at..length]) {
            if !is_plain(&self.registry, &rest[at + place..]) {
                return at + place;
            }
        }
        length
    }
}

/// Whether what may begin a call begins none, as far as the next place that may.
fn is_plain(registry: &Registry, text: &str) -> bool {
    // Most of it is seen at once: an object begins with a key, a list with an object or a name.
    let first = text[1..].trim_start_matches([' ', '\n']).bytes().next();
    let is_seen = |first: u8| match text.as_bytes()[0] {
        b'{' => first.is_ascii() && !(first.is_ascii_alphabetic() || b"\"'`_\t\r".contains(&first)),
        b'<' => first == b' ' || text.starts_with("< "),
        _ => false,
    };
    if first.is_some_and(is_seen) {
        return true;
    }
    let near = &text[..text.floor_char_boundary(LOOK_BYTES_MAX)];
    let next = memchr::memchr3(b'{', b'[', b'<', &near.as_bytes()[1..]);
    let near = next.map_or(near, |place| &near[..place + 2]);
    is_alike(registry, near) == Some(false) && begins_argument(near).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_call_is_known_by_its_beginning() {
        let registry = Registry::from_json(r#"[{"name":"read_file"},{"name":"look"}]"#).unwrap();
        for (text, expected) in [
            ("{\"name\": \"read_file\", ", Some(true)),
            ("[{\"tool\":\"look\"", Some(true)),
            ("{\"name\": \"nobody\"", Some(false)),
            ("{\"name\": \"re", None),
            ("[read_file(path=", Some(true)),
            ("[read_file](a)", Some(false)),
            ("[read_file(path)]", Some(false)),
            ("[read_fi", None),
            ("[1]", Some(false)),
            ("<tools_prefix>[{\"look\": {", Some(true)),
            ("<|tool_call|> {\"name\": \"any\"", Some(true)),
            ("<longcat_tool_call>{\"na", None),
            ("<tool_call> tags", Some(false)),
            ("<actions>{\"k\": 1}", Some(false)),
            ("<read_file><path>", Some(true)),
            ("<read_file></read_file>", Some(false)),
            ("<p>{\"name\":", Some(false)),
            ("</tool>{\"name\":", Some(false)),
        ] {
            assert_eq!(is_alike(&registry, text), expected, "{text}");
        }
    }
}
