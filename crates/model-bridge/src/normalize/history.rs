//! The messages of a conversation as they come together: turns, calls, and the results that belong
//! to them.

mod open;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use self::open::OpenCalls;
use super::arguments::{ArgumentRepair, NormalizedArguments};
use super::note::{NoteCode, Notes};
use super::path::Path;
use crate::call_form::NamespacedName;
use crate::conversation::{Message, MessagePart, ToolCall, ToolResult};

/// A call as a history has it.
pub(super) struct GivenCall {
    pub(super) id: Option<String>,
    /// The tool, by the name that a model gets.
    pub(super) name: String,
    /// Its namespace, where it has one.
    pub(super) namespaced: Option<NamespacedName>,
    pub(super) arguments: NormalizedArguments,
    /// Whether the tool takes free text.
    pub(super) is_free_form: bool,
}

/// A result as a history has it.
#[derive(Default)]
pub(super) struct GivenResult {
    /// The id of its call.
    pub(super) id: Option<String>,
    /// The name of the tool, where the result repeats it.
    pub(super) name: Option<String>,
    pub(super) content: Vec<MessagePart>,
    pub(super) is_error: bool,
}

/// What is known of a call besides what its message says.
struct Issued {
    id: String,
    name: String,
    is_answered: bool,
    is_wrapped: bool,
    is_free_form: bool,
}

/// The messages so far.
#[derive(Default)]
pub(super) struct ConversationHistory {
    messages: Vec<Message>,
    /// All calls, in the order of the messages.
    calls: Vec<Issued>,
    /// Ids that are in use.
    ids: HashSet<String>,
    /// How many calls came with an id that was in use.
    clashes: HashMap<String, usize>,
    /// The latest call by the id that the client gave it, or else by the one that was made.
    latest: HashMap<String, usize>,
    /// The names of tools of namespaces, by the names that a model gets.
    namespaced: BTreeMap<String, NamespacedName>,
    open_by_id: HashMap<String, OpenCalls>,
    open_by_name: HashMap<String, OpenCalls>,
    open: OpenCalls,
    turn: usize,
    orphans: usize,
    /// Whether the API writes a turn of the model as several items.
    is_itemized: bool,
}

/// A call of the history, for whoever works out what tools there must be.
pub(super) struct HistoryCall<'a> {
    pub(super) name: &'a str,
    /// What it was called with; none where that is not what the model meant.
    pub(super) arguments: Option<&'a Map<String, Value>>,
    pub(super) is_free_form: bool,
}

// === impl ConversationHistory ===

impl ConversationHistory {
    /// An empty one of an API that writes a turn of the model as several items.
    pub(super) fn itemized() -> Self {
        Self { is_itemized: true, ..Self::default() }
    }

    pub(super) fn system(&mut self, text: String) {
        if !text.is_empty() {
            self.messages.push(Message::System(text));
        }
    }

    pub(super) fn user(&mut self, parts: Vec<MessagePart>, path: &Path<'_>, notes: &mut Notes) {
        if parts.is_empty() {
            notes.add(NoteCode::EmptyTurnDropped, path, "user");
            return;
        }
        self.messages.push(Message::User(parts));
    }

    /// Adds a turn of the model, or adds to one that is the last message.
    pub(super) fn assistant(
        &mut self,
        text: String,
        given: Vec<GivenCall>,
        path: &Path<'_>,
        notes: &mut Notes,
    ) {
        if text.is_empty() && given.is_empty() {
            if !self.is_itemized {
                notes.add(NoteCode::EmptyTurnDropped, path, "assistant");
            }
            return;
        }
        let is_merged = matches!(self.messages.last(), Some(Message::Assistant { .. }));
        if !is_merged {
            self.turn += 1;
        } else if !self.is_itemized {
            notes.add(NoteCode::TurnsMerged, path, "");
        }
        let new: Vec<ToolCall> =
            given.into_iter().map(|call| self.issue(call, path, notes)).collect();
        match self.messages.last_mut() {
            Some(Message::Assistant { text: before, calls }) => {
                if !before.is_empty() && !text.is_empty() {
                    before.push_str("\n\n");
                }
                before.push_str(&text);
                calls.extend(new);
            }
            _ => self.messages.push(Message::Assistant { text, calls: new }),
        }
    }

    /// Adds a result and joins it to its call: by the id, else by the name, else by its position.
    pub(super) fn result(&mut self, given: GivenResult, path: &Path<'_>, notes: &mut Notes) {
        let GivenResult { id, name, content, is_error } = given;
        let found = self.find(id.as_deref(), name.as_deref());
        if found.is_some() && id.is_none() {
            notes.add(NoteCode::ResultMatched, path, if name.is_some() { "name" } else { "order" });
        }
        let repeated = || id.as_deref().and_then(|id| self.latest.get(id).copied());
        let (call_id, name) = match found.or_else(repeated) {
            Some(index) => {
                let call = &mut self.calls[index];
                if call.is_answered {
                    notes.add(NoteCode::ResultRepeated, path, &call.name);
                }
                call.is_answered = true;
                (call.id.clone(), Some(call.name.clone()))
            }
            None => {
                notes.add(NoteCode::ResultOrphaned, path, id.as_deref().unwrap_or_default());
                self.orphans += 1;
                let wanted = id.unwrap_or_else(|| format!("result_{}", self.orphans));
                (self.unused(wanted), name)
            }
        };
        self.messages.push(Message::Result(ToolResult { call_id, name, content, is_error }));
    }

    /// What was called so far.
    pub(super) fn seen(&self) -> impl Iterator<Item = HistoryCall<'_>> {
        let calls = self.messages.iter().flat_map(|message| match message {
            Message::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        calls.zip(&self.calls).map(|(call, issued)| HistoryCall {
            name: &call.name,
            arguments: (!issued.is_wrapped).then_some(&call.arguments),
            is_free_form: issued.is_free_form,
        })
    }

    /// The names of tools of namespaces that were called.
    pub(super) fn take_namespaced(&mut self) -> BTreeMap<String, NamespacedName> {
        std::mem::take(&mut self.namespaced)
    }

    pub(super) fn into_messages(self, notes: &mut Notes) -> Vec<Message> {
        for call in self.calls.iter().filter(|call| !call.is_answered) {
            notes.add(NoteCode::CallUnanswered, &Path::Root, &call.name);
        }
        self.messages
    }

    fn issue(&mut self, given: GivenCall, path: &Path<'_>, notes: &mut Notes) -> ToolCall {
        let GivenCall { id: given_id, name, namespaced, arguments, is_free_form } = given;
        if let Some(namespaced) = namespaced {
            self.namespaced.insert(name.clone(), namespaced);
        }
        if let Some(repaired) = arguments.repaired {
            notes.add(NoteCode::ArgumentsRepaired, path, repaired.as_str());
        }
        let index = self.calls.len();
        let wanted = match &given_id {
            Some(id) => id.clone(),
            None => {
                notes.add(NoteCode::IdMade, path, "");
                format!("call_{}", index + 1)
            }
        };
        let id = self.unused(wanted);
        if given_id.as_ref().is_some_and(|given| *given != id) {
            notes.add(NoteCode::IdRepaired, path, &id);
        }
        let known_as = given_id.unwrap_or_else(|| id.clone());
        self.latest.insert(known_as.clone(), index);
        self.open_by_id.entry(known_as).or_default().push(self.turn, index);
        self.open_by_name.entry(name.clone()).or_default().push(self.turn, index);
        self.open.push(self.turn, index);
        self.calls.push(Issued {
            id: id.clone(),
            name: name.clone(),
            is_answered: false,
            is_wrapped: arguments.repaired == Some(ArgumentRepair::Wrapped),
            is_free_form,
        });
        ToolCall { id, name, arguments: arguments.map }
    }

    /// An id that no other call has: the one that is wanted, or with a number after it.
    fn unused(&mut self, wanted: String) -> String {
        if self.ids.insert(wanted.clone()) {
            return wanted;
        }
        let clashes = self.clashes.entry(wanted.clone()).or_insert(1);
        loop {
            *clashes += 1;
            let id = format!("{wanted}_{clashes}");
            if self.ids.insert(id.clone()) {
                return id;
            }
        }
    }

    /// The call without a result that a result is for.
    fn find(&mut self, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let open = match (id, name) {
            (Some(id), _) => self.open_by_id.get_mut(id)?,
            (None, Some(name)) => self.open_by_name.get_mut(name)?,
            (None, None) => &mut self.open,
        };
        open.take(|index| !self.calls[index].is_answered)
    }
}
