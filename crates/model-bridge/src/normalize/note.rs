//! What a reader of requests left out, made up or changed: for logs and for who looks for a fault.

use serde::Serialize;

use super::error::clipped;
use super::path::Path;

/// How many notes of different words there are; more of a kind are counted only.
const NOTES_MAX: usize = 64;
/// The most bytes of a path and of a detail.
pub(super) const DETAIL_BYTES_MAX: usize = 256;

/// Something that was left out, made up or changed when a request was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What kind of thing happened, for programs.
    pub code: NoteCode,
    /// Where it happened first, for example `messages[2].content[0]`; empty for the whole.
    pub path: String,
    /// The subject: a name, a type, or a few words.
    pub detail: String,
    /// How often it happened.
    pub count: usize,
}

/// What can happen to a request when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteCode {
    /// The arguments of an earlier call are no JSON object; what could be kept was.
    ArgumentsRepaired,
    /// An earlier call has no result.
    CallUnanswered,
    /// Text was made of content that is neither text nor parts.
    ContentRepaired,
    /// A turn without any content was left out.
    EmptyTurnDropped,
    /// A field that has no meaning here was ignored.
    FieldIgnored,
    /// A call without an id got one from its position.
    IdMade,
    /// A call got another id, for an earlier one has it.
    IdRepaired,
    /// An item of the history that no plain chat model understands was left out.
    ItemDropped,
    /// A content part that no plain chat model understands was left out.
    PartDropped,
    /// A result without an id was joined to a call by its name or its position.
    ResultMatched,
    /// A result belongs to no call of the history.
    ResultOrphaned,
    /// A call has more than one result.
    ResultRepeated,
    /// The schema of a tool cannot be compiled; its arguments are not held to it.
    SchemaIgnored,
    /// What a model thought in an earlier turn was left out.
    ThinkingDropped,
    /// A tool that only a provider can run was left out.
    ToolDropped,
    /// A tool is listed twice in the same words.
    ToolRepeated,
    /// The request does not repeat its tools; these were worked out from the calls in its history.
    ToolsInferred,
    /// Only some of the tools are allowed; the others were left out.
    ToolsNarrowed,
    /// The request does not repeat its tools; those of an earlier turn were taken.
    ToolsRemembered,
    /// Turns of the model that follow each other became one.
    TurnsMerged,
}

/// Collects notes, a bounded number of them.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Note>);

// === impl Notes ===

impl Notes {
    pub(super) fn add(&mut self, code: NoteCode, path: &Path<'_>, detail: &str) {
        let detail = clipped(detail, DETAIL_BYTES_MAX);
        let is_full = self.0.len() >= NOTES_MAX;
        let like = |note: &&mut Note| note.code == code && (is_full || note.detail == detail);
        match self.0.iter_mut().rev().find(like) {
            Some(note) => note.count += 1,
            None => {
                let path = clipped(&path.to_string(), DETAIL_BYTES_MAX).to_owned();
                let detail = detail.to_owned();
                self.0.push(Note { code, path, detail, count: 1 });
            }
        }
    }

    pub(super) fn into_vec(self) -> Vec<Note> {
        self.0
    }
}

// === impl NoteCode ===

impl NoteCode {
    /// Returns the stable code, for example `tools_inferred`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ArgumentsRepaired => "arguments_repaired",
            Self::CallUnanswered => "call_unanswered",
            Self::ContentRepaired => "content_repaired",
            Self::EmptyTurnDropped => "empty_turn_dropped",
            Self::FieldIgnored => "field_ignored",
            Self::IdMade => "id_made",
            Self::IdRepaired => "id_repaired",
            Self::ItemDropped => "item_dropped",
            Self::PartDropped => "part_dropped",
            Self::ResultMatched => "result_matched",
            Self::ResultOrphaned => "result_orphaned",
            Self::ResultRepeated => "result_repeated",
            Self::SchemaIgnored => "schema_ignored",
            Self::ThinkingDropped => "thinking_dropped",
            Self::ToolDropped => "tool_dropped",
            Self::ToolRepeated => "tool_repeated",
            Self::ToolsInferred => "tools_inferred",
            Self::ToolsNarrowed => "tools_narrowed",
            Self::ToolsRemembered => "tools_remembered",
            Self::TurnsMerged => "turns_merged",
        }
    }
}
