//! JSON that is no call and began the reply: what stands in its strings is no call, either. Whether an object
//! in it has the name of a tool and arguments is reported.

use super::call_keys::{ARGUMENT_KEYS, NAME_KEYS};
use super::mark::NAME_BYTES_MAX;
use crate::registry::Registry;

/// Other keys that name a tool, or hold its arguments, in forms that are not read.
const FOREIGN_NAME_KEYS: &[&str] = &["action", "recipient_name"];
const FOREIGN_ARGUMENT_KEYS: &[&str] = &["action_input", "tool_input"];

/// Follows JSON from its first bracket to the one that closes it, or to what is no JSON.
#[derive(Debug, Default)]
pub(super) struct DataBlock {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    is_over: bool,
    keys: EnclosingKeys,
}

/// What the keys of the objects around a position say.
#[derive(Debug, Default)]
struct EnclosingKeys {
    /// The last string, as far as it may be a key or a name.
    word: String,
    /// The key whose value is next; empty where none is.
    key: String,
    /// In which of the objects around the name of a tool is, and in which arguments are: a bit for each.
    named: u64,
    argued: u64,
    /// The tool that an object names, by its key or by a key in it, and how deep the object's keys are.
    tool: Option<(String, usize)>,
    is_call: bool,
}

// === impl DataBlock ===

impl DataBlock {
    /// Takes the next piece. Returns how much of it belongs to the JSON.
    pub(super) fn take(&mut self, registry: &Registry, piece: &str) -> usize {
        let mut begin = 0;
        for (place, byte) in piece.bytes().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => {
                        self.in_string = false;
                        self.keys.extend(&piece[begin..place]);
                        self.keys.string_ends(registry, self.depth);
                    }
                    // A line end: this is no string of JSON.
                    b'\n' => return self.over(place),
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    begin = place + 1;
                    self.keys.word.clear();
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    self.keys.opens(registry, self.depth, byte == b'{');
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return self.over(place + 1);
                    }
                }
                b':' => self.keys.key_ends(registry, self.depth),
                b',' => self.keys.key.clear(),
                b'-' | b'+' | b'.' => {}
                byte if byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() => {}
                _ => return self.over(place),
            }
        }
        if self.in_string {
            self.keys.extend(&piece[begin..]);
        }
        piece.len()
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether an object in it so far has the name of a tool and arguments.
    pub(super) fn is_alike(&self) -> bool {
        self.keys.is_call
    }

    fn over(&mut self, place: usize) -> usize {
        self.is_over = true;
        place
    }
}

// === impl EnclosingKeys ===

impl EnclosingKeys {
    /// Takes a part of a string.
    fn extend(&mut self, part: &str) {
        if self.word.len() <= NAME_BYTES_MAX {
            let room = (NAME_BYTES_MAX + 1).saturating_sub(self.word.len());
            self.word.push_str(&part[..part.ceil_char_boundary(room)]);
        }
    }

    fn string_ends(&mut self, registry: &Registry, depth: usize) {
        let key = self.key.as_str();
        if !NAME_KEYS.contains(&key) && !FOREIGN_NAME_KEYS.contains(&key) {
            return;
        }
        if let Some(tool) = registry.resolve(&self.word) {
            self.tool = Some((tool.name().to_owned(), depth));
            self.named |= bit(depth);
            self.look(depth);
        }
    }

    fn key_ends(&mut self, registry: &Registry, depth: usize) {
        std::mem::swap(&mut self.key, &mut self.word);
        self.word.clear();
        let key = self.key.as_str();
        if ARGUMENT_KEYS.contains(&key) || FOREIGN_ARGUMENT_KEYS.contains(&key) {
            self.argued |= bit(depth);
            self.look(depth);
        }
        if let Some((name, of)) = &self.tool {
            let tool = registry.tool(name).filter(|_| *of == depth);
            self.is_call |= tool.is_some_and(|tool| tool.parameter(&self.key).is_some());
        }
    }

    /// Takes that an object or a list begins, inside of which is so deep.
    fn opens(&mut self, registry: &Registry, depth: usize, is_object: bool) {
        self.named &= !bit(depth);
        self.argued &= !bit(depth);
        let is_tool = is_object && !self.key.is_empty() && registry.tool(&self.key).is_some();
        match (is_tool, &self.tool) {
            (true, _) => self.tool = Some((std::mem::take(&mut self.key), depth)),
            // What is deeper leaves an object's own tool alone.
            (false, Some((_, of))) if *of < depth => {}
            (false, _) => self.tool = None,
        }
        self.key.clear();
    }

    fn look(&mut self, depth: usize) {
        self.is_call |= self.named & self.argued & bit(depth) != 0;
    }
}

/// The bit of a depth; none for what is too deep for a call.
fn bit(depth: usize) -> u64 {
    u32::try_from(depth).ok().and_then(|depth| 1_u64.checked_shl(depth)).unwrap_or(0)
}
