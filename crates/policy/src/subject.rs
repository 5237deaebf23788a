//! What a decision is about: the facts that conditions look at. What a new condition needs and no field has
//! begins here.

use std::sync::Arc;

use moss_sdk::edit::MatchLevel;
use moss_sdk::{Effect, RelPath};

use crate::standing::StandingApproval;
use crate::{Action, CommandPart, Protection};

/// What somebody wants to do, as far as the policy looks at it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The kind of effect.
    pub action: Action,
    /// The tool that is called.
    pub tool: &'a str,
    /// What the tool may do at all.
    pub tool_effect: Effect,
    /// The plugin that the tool belongs to; none for a built-in tool.
    pub plugin: Option<&'a str>,
    /// The credential or role in whose name the call runs.
    pub caller: &'a str,
    /// The file, as the workspace resolved it, or the directory of a command; none where none is known.
    pub path: Option<&'a RelPath>,
    /// Whether the file has a protected name, as the workspace says.
    pub protection: Option<Protection>,
    /// The size of the new content in bytes, for `Create` and `Modify`.
    pub size_bytes: Option<u64>,
    /// How the locations of an edit were found; none where nothing was searched for.
    pub match_level: Option<MatchLevel>,
    /// Whether an edit changes lines that are not as it says.
    pub drift: bool,
    /// The command, for `Exec`; none where none is known.
    pub command: Option<&'a CommandPart>,
    /// The standing approvals in effect for who calls.
    pub answers: &'a [Arc<StandingApproval>],
}

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
