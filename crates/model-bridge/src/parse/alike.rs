//! Text that looks like a call and is not one: calls without a mark, or with one of a form that nobody
//! reads here. It stays text; that it was there is reported, once in a reply.

mod before;
mod begins;
mod brackets;
mod label;
mod lines;
mod passing;

use std::collections::VecDeque;

use super::cue;
use crate::registry::Registry;
pub(super) use begins::PARAMETER_MARKS;
use begins::{begins_argument, begins_arguments, is_alike, is_marked};
use brackets::BracketPosition;

/// How far a look goes, in bytes.
const LOOK_BYTES_MAX: usize = 256;
/// Words of which a tag that marks calls has one.
pub(super) const WORDS: &[&str] = &["tool", "function", "call", "invoke", "action"];
/// What may begin something that looks like a call.
const BEGINS: &[char] = &['{', '[', '<'];

/// What begins a token of a model.
const TOKEN: &str = "<|";

/// The message of the diagnostic about such a text.
const UNMARKED: &str = "text looks like a call of a tool and has no mark of one";

/// Looks for the first text of a reply that looks like a call.
#[derive(Debug, Default)]
pub(super) struct Alike {
    state: AlikeState,
    /// What came since something began; its memory is kept for the next.
    begun: Begun,
    /// Whether one was found.
    is_found: bool,
    /// Whether the words before what begins like a call speak against it.
    is_forbidden: bool,
    /// Whether a block of code that is meant for tools continues.
    in_tool_fence: bool,
    /// In how many bytes of text lines were looked at.
    looked_at: usize,
}

#[derive(Debug, Default)]
enum AlikeState {
    #[default]
    Nothing,
    /// In what may begin one.
    Begun,
    /// In what begins like a call.
    Inside(BracketPosition),
    /// Right behind what looks like a call.
    Behind,
    /// In the sentence that continues behind it, which may speak against it.
    Spoken(String),
}

/// What came since something began that may look like a call.
#[derive(Debug, Default)]
struct Begun {
    text: String,
    /// The positions in it where something may begin, the first at its beginning.
    starts: VecDeque<Start>,
}

/// A position where something may begin.
#[derive(Debug, Default)]
struct Start {
    place: usize,
    begins_line: bool,
    /// The tool that the words before it name.
    tool: Option<String>,
    /// The words before it, in which a tool may be named.
    words: String,
}

// === impl Alike ===

impl Alike {
    /// Takes text, at whose first character something may begin where there is a `start`. Returns how much
    /// of the text was looked at: what follows may begin something again.
    fn take(&mut self, registry: &Registry, text: &str, start: Option<Start>) -> usize {
        if let Some(start) = start {
            self.begin(start);
        } else if self.is_idle() {
            return text.len();
        }
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            match &mut self.state {
                AlikeState::Nothing => break,
                AlikeState::Begun => {
                    let begun = &mut self.begun;
                    let room = LOOK_BYTES_MAX.saturating_sub(begun.text.len());
                    let taken = rest.floor_char_boundary(room);
                    begun.text.push_str(&rest[..taken]);
                    at += taken;
                    let is_long = taken < rest.len() || begun.text.len() >= LOOK_BYTES_MAX;
                    let starts = begun.starts.len();
                    match begun.first_alike(registry, is_long) {
                        None => self.state = AlikeState::Nothing,
                        // What begins here is looked at in its place, as if nothing had been before.
                        Some(false) if begun.starts.len() < starts && begun.text == text => {
                            self.state = AlikeState::Nothing;
                            return 0;
                        }
                        Some(false) => {}
                        Some(true) if is_marked(&begun.text) => {
                            self.is_found = true;
                            break;
                        }
                        Some(true) => {
                            self.is_forbidden = begun
                                .starts
                                .front()
                                .is_some_and(|start| cue::forbids_anything(&start.words));
                            let mut brackets = BracketPosition::default();
                            // It ends behind what made it certain, so in what came last.
                            let after = brackets.end(&begun.text).map(str::len);
                            at -= after.unwrap_or(0).min(taken);
                            self.state = match after {
                                Some(_) => AlikeState::Behind,
                                None => AlikeState::Inside(brackets),
                            };
                        }
                    }
                }
                AlikeState::Inside(brackets) => match brackets.end(rest) {
                    None => at = text.len(),
                    Some(after) => {
                        at = text.len() - after.len();
                        self.state = AlikeState::Behind;
                    }
                },
                AlikeState::Behind => {
                    at = text.len() - self.behind(rest).len();
                    if self.is_found {
                        break;
                    }
                }
                AlikeState::Spoken(_) => {
                    at += self.speak(rest);
                    if self.is_idle() {
                        break;
                    }
                }
            }
        }
        at
    }

    /// Takes that something may begin here.
    fn begin(&mut self, start: Start) {
        match self.state {
            AlikeState::Nothing => {
                self.begun.clear();
                self.begun.starts.push_back(start);
                self.state = AlikeState::Begun;
            }
            AlikeState::Begun => {
                let place = self.begun.text.len();
                self.begun.starts.push_back(Start { place, ..start });
            }
            AlikeState::Inside(_) | AlikeState::Behind | AlikeState::Spoken(_) => {}
        }
    }

    /// Takes what follows that which begins like a call. Returns what of it was not looked at.
    fn behind<'t>(&mut self, text: &'t str) -> &'t str {
        let after = text.trim_start_matches([' ', '\t', '\r', ';', ',', '.', ']']);
        match after.chars().next() {
            Some(next) if next.is_uppercase() || "\n{[}".contains(next) => {
                self.state = AlikeState::Nothing;
                self.is_found = true;
            }
            Some(_) => self.state = AlikeState::Spoken(String::new()),
            None => {}
        }
        after
    }

    /// Takes more of the sentence that continues. Returns how much of it was looked at.
    fn speak(&mut self, text: &str) -> usize {
        let AlikeState::Spoken(words) = &mut self.state else { return 0 };
        let line = memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len());
        let room = LOOK_BYTES_MAX.saturating_sub(words.len());
        let taken = text.floor_char_boundary(line.min(room));
        words.push_str(&text[..taken]);
        if taken < text.len() {
            self.is_found = self.ends();
            self.state = AlikeState::Nothing;
        }
        taken
    }

    /// Whether nothing began that may look like a call.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, AlikeState::Nothing)
    }

    /// Takes that something else than text comes. Returns whether what began looks like a call for certain.
    fn leave(&mut self) -> bool {
        let is_certain = matches!(self.state, AlikeState::Inside(_) | AlikeState::Behind);
        if !matches!(self.state, AlikeState::Spoken(_)) {
            self.state = AlikeState::Nothing;
        }
        is_certain
    }

    /// Whether what looks like a call ends with the reply.
    fn ends(&self) -> bool {
        match &self.state {
            _ if self.is_found => false,
            AlikeState::Inside(_) | AlikeState::Behind => true,
            AlikeState::Spoken(words) => !self.is_forbidden && !cue::forbids_anything(words),
            AlikeState::Nothing | AlikeState::Begun => false,
        }
    }
}

// === impl Begun ===

impl Begun {
    fn clear(&mut self) {
        self.text.clear();
        self.starts.clear();
    }

    /// Continues to the first thing that looks like a call. Returns whether it is certain to; none
    /// if missing. `is_long` says that what comes later does not matter for the first one.
    fn first_alike(&mut self, registry: &Registry, mut is_long: bool) -> Option<bool> {
        loop {
            let start = self.starts.front()?;
            let known = start.is_alike(registry, &self.text);
            match known {
                Some(true) => return Some(true),
                None if !is_long => return Some(false),
                Some(false) | None => {
                    self.starts.pop_front();
                    let next = self.starts.front()?.place;
                    self.text.drain(..next);
                    self.starts.iter_mut().for_each(|start| start.place -= next);
                    is_long = false;
                }
            }
        }
    }
}

// === impl Start ===

impl Start {
    /// Whether a text that begins here begins like a call; none where more must come to know.
    fn is_alike(&self, registry: &Registry, text: &str) -> Option<bool> {
        let known = is_alike(registry, text, self.begins_line);
        let tool = self.tool.as_deref().and_then(|tool| registry.tool(tool));
        let others = [
            tool.map_or(Some(false), |tool| begins_arguments(tool, text)),
            if self.begins_line { begins_argument(text) } else { Some(false) },
        ];
        others.into_iter().fold(known, either)
    }
}

/// Whether one of two is so; none where that is not known of either.
fn either(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (None, _) | (_, None) => None,
        _ => Some(false),
    }
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
            ("<tool_call>read_fi", None),
            ("<tool_call>read_file(path=", Some(true)),
            ("<tool_call>nobody(path=", Some(false)),
            ("<actions>{\"k\": 1}", Some(false)),
            ("<read_file><path>", None),
            ("<read_file>a</read_file>", Some(true)),
            ("<read_file></read_file>", Some(true)),
            ("<p>{\"name\":", Some(false)),
            ("</tool>{\"name\":", Some(false)),
        ] {
            assert_eq!(is_alike(&registry, text, false), expected, "{text}");
        }
    }
}
