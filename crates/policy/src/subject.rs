//! Subjects: as they are made before more is known of them than who does what, and what they say by themselves.

use moss_sdk::Effect;

use crate::{Action, Protection, Subject};

// === impl Subject ===

impl<'a> Subject<'a> {
    /// What a caller does with a tool of moss's own, to nothing in particular.
    pub fn of(action: Action, (tool, tool_effect): (&'a str, Effect), caller: &'a str) -> Self {
        Self {
            action,
            tool,
            tool_effect,
            plugin: None,
            caller,
            path: None,
            protection: None,
            size_bytes: None,
            match_level: None,
            drift: false,
            command: None,
            answers: &[],
        }
    }

    /// Whether this is a read or the call of a tool that only reads.
    pub(crate) fn only_reads(&self) -> bool {
        match self.action {
            Action::Read => true,
            Action::Call => self.tool_effect == Effect::Read,
            Action::Create
            | Action::Modify
            | Action::Delete
            | Action::Exec
            | Action::Network
            | Action::Register
            | Action::Configure => false,
        }
    }

    /// Whether the protection of the name holds against this action.
    pub fn is_guarded(&self) -> bool {
        match self.protection {
            None => false,
            Some(Protection::Code | Protection::Metadata) => self.action.is_write(),
            Some(Protection::Secret) => self.action.is_write() || self.action == Action::Read,
        }
    }
}
