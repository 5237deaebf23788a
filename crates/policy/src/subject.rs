//! Subjects as they are made before more is known of them than who does what.

use moss_sdk::Effect;

use crate::{Action, Subject};

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
}
