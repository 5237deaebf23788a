//! Arguments that are passed on while the model writes them.

use serde_json::{Map, Value};

use super::repeats;
use super::watch::JsonWatcher;
use crate::registry::RegisteredTool;

/// How long a string among the arguments is when its call begins to be passed on, in bytes. A call
/// without such a string is passed on when all of it is known to be right.
pub(super) const BEGIN_BYTES: usize = 256;

/// A call that is passed on while it is written.
#[derive(Debug)]
pub(super) struct LiveCall {
    pub(super) index: usize,
    tool: String,
    /// The arguments' JSON, as far as it was passed on.
    shown: String,
    /// How many arguments are in it.
    entries: usize,
    /// How many bytes of the string that is being written are in it, where one is.
    pending: Option<usize>,
}

/// Whether a string that is being written may be passed on: its key is a parameter, and nothing but
/// a string fits it.
pub(super) fn takes_strings(tool: &RegisteredTool, key: &str) -> bool {
    let types = tool.parameter(key).and_then(|parameter| tool.types_of(parameter));
    types.is_some_and(|types| types.is_string_only())
}

/// Whether what is known of arguments may become some of these.
pub(super) fn is_beginning<'m>(
    tool: &RegisteredTool,
    watch: &JsonWatcher,
    mut made: impl Iterator<Item = (&'m Map<String, Value>, &'m [u64])>,
) -> bool {
    let fit = |(key, value): &(String, Value)| tool.fit_one(key, value.clone());
    let known: Vec<(String, Value)> = watch.entries().iter().filter_map(fit).collect();
    let pending = watch.pending();
    let name = pending.and_then(|pending| tool.parameter(&pending.key));
    let entry = |(name, value): &(String, Value)| repeats::of_entry(name, value);
    let known_numbers: Vec<u64> = known.iter().map(entry).collect();
    made.any(|(arguments, numbers)| {
        if !known_numbers.iter().all(|number| numbers.binary_search(number).is_ok()) {
            return false;
        }
        let begins = match (pending, name) {
            (Some(pending), Some(name)) => arguments
                .get(name)
                .and_then(Value::as_str)
                .is_some_and(|text| text.starts_with(&pending.text)),
            (pending, _) => pending.is_none(),
        };
        begins && known.iter().all(|(name, value)| arguments.get(name) == Some(value))
    })
}

// === impl LiveCall ===

impl LiveCall {
    pub(super) fn new(index: usize, tool: String) -> Self {
        Self { index, tool, shown: "{".to_owned(), entries: 0, pending: None }
    }

    /// The name of the tool.
    pub(super) fn tool(&self) -> &str {
        &self.tool
    }

    /// All that was passed on.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Takes what is known by now. Returns how long the JSON was before, in bytes.
    pub(super) fn advance(&mut self, tool: &RegisteredTool, watch: &JsonWatcher) -> usize {
        let before = if self.shown.len() == 1 { 0 } else { self.shown.len() };
        for (key, value) in &watch.entries()[self.entries..] {
            match (self.pending.take(), value) {
                (Some(sent), Value::String(text)) => {
                    self.shown.push_str(&escaped(text.get(sent..).unwrap_or_default()));
                    self.shown.push('"');
                }
                _ => {
                    if let Some((name, value)) = tool.fit_one(key, value.clone()) {
                        self.key(&name);
                        self.shown.push_str(&value.to_string());
                    }
                }
            }
        }
        self.entries = watch.entries().len();
        if let Some(pending) = watch.pending().filter(|pending| takes_strings(tool, &pending.key)) {
            let sent = match self.pending {
                Some(sent) => sent,
                None => {
                    self.key(tool.parameter(&pending.key).unwrap_or(&pending.key));
                    self.shown.push('"');
                    0
                }
            };
            self.shown.push_str(&escaped(&pending.text[sent..]));
            self.pending = Some(pending.text.len());
        }
        before
    }

    fn key(&mut self, name: &str) {
        if self.shown.len() > 1 {
            self.shown.push(',');
        }
        self.shown.push('"');
        self.shown.push_str(&escaped(name));
        self.shown.push_str("\":");
    }
}

/// The inside of a JSON string that says a text.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
