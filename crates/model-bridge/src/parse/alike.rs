//! Text that looks like a call and is none: calls without a mark, or with one of a form that nobody
//! reads here. It stays text; that it was there is told, once in a reply.

use std::collections::VecDeque;

use super::Parser;
use super::call_keys::{NAME_KEYS, begins_no_key};
use super::sloppy;
use crate::diagnostic::Code;
use crate::registry::Registry;

/// How far a look goes, in bytes.
const LOOK_BYTES_MAX: usize = 256;
/// The most bytes of a tag.
const TAG_BYTES_MAX: usize = 64;
/// Words of which a tag that marks calls has one.
pub(super) const WORDS: &[&str] = &["tool", "function", "call", "invoke", "action"];
/// What stands between a name and the arguments of a call.
const ARGUMENTS_MARK: &str = "[ARGS]{";
/// What begins an argument in a form that is read, where it begins a line.
pub(super) const PARAMETER_MARKS: &[&str] = &["<arg_key>", "<parameter="];
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
    /// What came since something began; its memory is kept for the next.
    begun: Begun,
    /// Whether one was found.
    is_found: bool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Nothing,
    /// In what may begin one.
    Begun,
    /// In what begins like a call: it is one where its line or a sentence ends behind it. In a sentence
    /// that goes on it is spoken of.
    Inside(Brackets),
    /// Right behind it.
    Behind,
}

/// What came since something began that may look like a call.
#[derive(Debug, Default)]
struct Begun {
    text: String,
    /// The places in it where something may begin, the first at its beginning, and whether they begin
    /// a line.
    starts: VecDeque<(usize, bool)>,
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
    /// Takes text, at whose first character something may begin where `start` says whether that begins a
    /// line. Returns how much of the text was looked at: what follows may begin something again.
    fn take(&mut self, registry: &Registry, text: &str, start: Option<bool>) -> usize {
        match (&mut self.state, start) {
            (State::Nothing, None) => return text.len(),
            (State::Nothing, Some(begins_line)) => {
                self.begun.clear();
                self.begun.starts.push_back((0, begins_line));
                self.state = State::Begun;
            }
            (State::Begun, Some(begins_line)) => {
                self.begun.starts.push_back((self.begun.text.len(), begins_line));
            }
            _ => {}
        }
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            match &mut self.state {
                State::Nothing => break,
                State::Begun => {
                    let begun = &mut self.begun;
                    let room = LOOK_BYTES_MAX.saturating_sub(begun.text.len());
                    let taken = rest.floor_char_boundary(room);
                    begun.text.push_str(&rest[..taken]);
                    at += taken;
                    let is_long = taken < rest.len() || begun.text.len() >= LOOK_BYTES_MAX;
                    let starts = begun.starts.len();
                    match begun.first_alike(registry, is_long) {
                        None => self.state = State::Nothing,
                        // What begins here is looked at in its place, as if nothing had been before.
                        Some(false) if begun.starts.len() < starts && begun.text == text => {
                            self.state = State::Nothing;
                            return 0;
                        }
                        Some(false) => {}
                        Some(true) if is_marked(&begun.text) => {
                            self.is_found = true;
                            break;
                        }
                        Some(true) => {
                            let mut brackets = Brackets::default();
                            // It ends behind what made it certain, so in what came last.
                            let after = brackets.end(&begun.text).map(str::len);
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

    /// Whether nothing began that may look like a call.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, State::Nothing)
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

// === impl Begun ===

impl Begun {
    fn clear(&mut self) {
        self.text.clear();
        self.starts.clear();
    }

    /// Goes on to the first thing that looks like a call. Returns whether it is certain to; none where
    /// there is none. `is_long` says that what comes later does not matter for the first one.
    fn first_alike(&mut self, registry: &Registry, mut is_long: bool) -> Option<bool> {
        loop {
            let (_, begins_line) = *self.starts.front()?;
            let known = is_alike(registry, &self.text);
            match begins_argument(&self.text).filter(|_| begins_line && known != Some(true)) {
                Some(true) => return Some(true),
                Some(false) if !is_long => return Some(false),
                _ => {}
            }
            match known {
                Some(true) => return Some(true),
                None if !is_long => return Some(false),
                Some(false) | None => {
                    self.starts.pop_front();
                    let (next, _) = *self.starts.front()?;
                    self.text.drain(..next);
                    self.starts.iter_mut().for_each(|(start, _)| *start -= next);
                    is_long = false;
                }
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

/// Whether a tag begins a text that has the name of a tool or a word for calls, and JSON follows. An
/// element with the name of a tool is one of HTML as well: it is not told.
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
    if !matches!(rest.chars().next()?, '{' | '[') {
        return Some(false);
    }
    // A key of a call, or a tool as one.
    let inner = rest.trim_start_matches(|c: char| "{[\"'".contains(c) || c.is_whitespace());
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
            if self.alike.is_idle() {
                let plain = self.plain(length, begins);
                self.pass(plain);
                length -= plain;
                begins &= plain == 0;
                if length == 0 {
                    return;
                }
            }
            let text = &self.rest()[..length];
            let may_begin = (begins && text.starts_with(BEGINS)) || text.starts_with('{');
            let is_shown = self.line.is_quoted() || self.line.in_code() || self.line.in_string();
            let start = (may_begin && !is_shown).then(|| self.line.is_blank());
            let next = memchr::memchr3(b'{', b'[', b'<', &text.as_bytes()[1..]);
            let piece = match self.alike.state {
                State::Nothing | State::Begun => next.map_or(length, |place| place + 1),
                State::Inside(_) | State::Behind => length,
            };
            let text = &self.text[self.at..self.at + piece];
            let taken = self.alike.take(&self.registry, text, start);
            if self.alike.is_found {
                self.tell(Code::UnmarkedCall, UNMARKED);
            }
            self.pass(taken);
            length -= taken;
            begins &= taken == 0;
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
        while let Some(place) = memchr::memchr(b'{', &rest.as_bytes()[at..length]) {
            // Of several in a row only the last one may begin an object with a key.
            let run = rest[at + place..length].bytes().take_while(|byte| *byte == b'{').count();
            at += place + run;
            if !is_plain(&self.registry, &rest[at - 1..]) {
                return at - 1;
            }
        }
        length
    }
}

/// Whether what may begin a call begins none, as far as the next place that may.
fn is_plain(registry: &Registry, text: &str) -> bool {
    if text.starts_with('{') && begins_no_key(&text.as_bytes()[1..]) {
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
            ("<read_file><path>", Some(false)),
            ("<read_file></read_file>", Some(false)),
            ("<p>{\"name\":", Some(false)),
            ("</tool>{\"name\":", Some(false)),
        ] {
            assert_eq!(is_alike(&registry, text), expected, "{text}");
        }
    }
}
