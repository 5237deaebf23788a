//! What tools keep for their next call: one text for each tool and caller of a workspace, in memory.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most notes of a workspace; the ones that were kept least recently go.
const NOTES_MAX: usize = 64;
/// Longest note, in bytes.
const NOTE_BYTES_MAX: usize = 64 << 10;

/// The notes of a workspace.
#[derive(Debug, Default)]
pub struct ToolNotes(Mutex<VecDeque<ToolNote>>);

#[derive(Debug)]
struct ToolNote {
    tool: String,
    caller: String,
    text: String,
}

// === impl ToolNotes ===

impl ToolNotes {
    /// Returns what a tool kept for a caller.
    pub fn get(&self, tool: &str, caller: &str) -> Option<String> {
        let notes = self.lock();
        let note = notes.iter().find(|note| note.tool == tool && note.caller == caller)?;
        Some(note.text.clone())
    }

    /// Keeps a text in place of the one before; one that is too long only removes that.
    pub fn keep(&self, tool: &str, caller: &str, text: String) {
        let mut notes = self.lock();
        notes.retain(|note| note.tool != tool || note.caller != caller);
        if text.len() <= NOTE_BYTES_MAX {
            notes.push_back(ToolNote { tool: tool.to_owned(), caller: caller.to_owned(), text });
        }
        while notes.len() > NOTES_MAX {
            notes.pop_front();
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<ToolNote>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_that_of_its_tool_and_caller_and_the_oldest_go() {
        let notes = ToolNotes::default();
        notes.keep("run_tests", "a", "one".to_owned());
        notes.keep("run_tests", "b", "two".to_owned());
        notes.keep("run_tests", "a", "three".to_owned());
        assert_eq!(notes.get("run_tests", "a").as_deref(), Some("three"));
        assert_eq!(notes.get("run_tests", "b").as_deref(), Some("two"));
        assert_eq!(notes.get("other", "a"), None);
        notes.keep("run_tests", "a", "x".repeat(NOTE_BYTES_MAX + 1));
        assert_eq!(notes.get("run_tests", "a"), None);
        for caller in 0..NOTES_MAX {
            notes.keep("run_tests", &caller.to_string(), "later".to_owned());
        }
        assert_eq!(notes.get("run_tests", "b"), None);
    }
}
