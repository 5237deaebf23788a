//! Wire messages of the editor channel to ours and back, but for replies.

use std::time::Duration;

use moss_proto::v1;
use moss_proto::v1::attach_response::Message as Said;
use moss_proto::v1::editor_question::Question as Wire;
use moss_sdk::RelPath;
use moss_sdk::editor::{DefinitionKind, Diagnostic, Position, Severity, Span, TextEdit};
use tonic::Status;

use super::super::{error, to_proto};
use moss_dispatch::{Confirmation, confirmation::ConfirmationState};
use moss_editors::{EditorCapability, EditorQuestion, EditorView, Hello, QuestionEnd};

/// Longest name of an editor, its version or its instance, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Longest message of a diagnostic that is kept, in bytes.
const DIAGNOSTIC_BYTES_MAX: usize = 4 * 1024;

pub(super) fn hello(hello: v1::EditorHello) -> Result<Hello, Status> {
    let v1::EditorHello { name, version, instance, .. } = &hello;
    for (field, text) in
        [("hello.name", name), ("hello.version", version), ("hello.instance", instance)]
    {
        if text.len() > NAME_BYTES_MAX {
            let message = format!("longer than {NAME_BYTES_MAX} bytes");
            return Err(error::invalid_field(field, &message));
        }
    }
    if name.trim().is_empty() {
        return Err(error::invalid_field("hello.name", "missing"));
    }
    let capabilities = hello.capabilities().map(capability).collect::<Option<_>>();
    let capabilities = capabilities
        .filter(|known: &Vec<_>| known.len() == hello.capabilities.len())
        .ok_or_else(|| error::invalid_field("hello.capabilities", "no such value"))?;
    Ok(Hello {
        capabilities,
        instance: Some(hello.instance).filter(|instance| !instance.is_empty()),
        name: hello.name,
        version: hello.version,
    })
}

fn capability(capability: v1::EditorCapability) -> Option<EditorCapability> {
    use v1::EditorCapability as Wire;
    match capability {
        Wire::Unspecified => None,
        Wire::DocumentSymbols => Some(EditorCapability::DocumentSymbols),
        Wire::Definitions => Some(EditorCapability::Definitions),
        Wire::TypeDefinitions => Some(EditorCapability::TypeDefinitions),
        Wire::Clarify => Some(EditorCapability::Clarify),
        Wire::Confirm => Some(EditorCapability::Confirm),
        Wire::ApplyEdit => Some(EditorCapability::ApplyEdit),
    }
}

pub(super) fn view(path: RelPath, view: &v1::EditorView) -> EditorView {
    let cursor = position(view.cursor.as_ref());
    let at_cursor = Span { start: cursor, end: cursor };
    EditorView {
        path,
        cursor,
        selection: view.selection.as_ref().map_or(at_cursor, span),
        visible: view.visible.as_ref().map(span),
    }
}

pub(super) fn diagnostics(said: Vec<v1::Diagnostic>) -> Vec<Diagnostic> {
    said.into_iter()
        .map(|mut one| {
            for text in [&mut one.message, &mut one.source, &mut one.code] {
                text.truncate(text.floor_char_boundary(DIAGNOSTIC_BYTES_MAX));
                // What is cut off must not stay in memory.
                text.shrink_to_fit();
            }
            Diagnostic {
                span: one.range.as_ref().map(span).unwrap_or_default(),
                severity: match one.severity() {
                    v1::Severity::Unspecified | v1::Severity::Error => Severity::Error,
                    v1::Severity::Warning => Severity::Warning,
                    v1::Severity::Information => Severity::Information,
                    v1::Severity::Hint => Severity::Hint,
                },
                message: one.message,
                source: one.source,
                code: one.code,
            }
        })
        .collect()
}

pub(super) fn position(position: Option<&v1::Position>) -> Position {
    position.map_or_else(Position::default, |place| Position {
        line: place.line,
        character: place.character,
    })
}

/// Reads a range. Some editors give a selection from where the person began, which may be its end.
pub(super) fn span(range: &v1::Range) -> Span {
    let (one, other) = (position(range.start.as_ref()), position(range.end.as_ref()));
    Span { start: one.min(other), end: one.max(other) }
}

pub(super) fn question(id: String, question: &EditorQuestion, timeout: Duration) -> Said {
    let question = match question {
        EditorQuestion::Symbols { path } => {
            Wire::DocumentSymbols(v1::DocumentSymbolsQuestion { path: path.to_string() })
        }
        EditorQuestion::Definitions { path, position, kind } => {
            let path = path.to_string();
            let asked = v1::DefinitionsQuestion { path, position: Some(place(*position)) };
            match kind {
                DefinitionKind::Symbol => Wire::Definitions(asked),
                DefinitionKind::Type => Wire::TypeDefinitions(asked),
            }
        }
        EditorQuestion::Clarify(query) => Wire::Clarify(v1::ClarifyQuestion {
            question: query.question.clone(),
            choices: query.choices.clone(),
        }),
        EditorQuestion::Apply { path, version, edits, call_id, tool } => {
            Wire::ApplyEdit(v1::ApplyEditQuestion {
                path: path.to_string(),
                version: *version,
                edits: edits.iter().map(edit).collect(),
                call_id: call_id.clone(),
                tool: tool.clone(),
            })
        }
    };
    let timeout = prost_types::Duration::try_from(timeout).ok();
    Said::Question(v1::EditorQuestion { id, timeout, question: Some(question) })
}

pub(super) fn confirmation(confirmation: &Confirmation) -> Said {
    let question = Some(Wire::Confirmation(to_proto::confirmation(confirmation)));
    Said::Question(v1::EditorQuestion { id: confirmation.id.clone(), timeout: None, question })
}

pub(super) fn over(question_id: String, end: QuestionEnd) -> Said {
    let end = match end {
        QuestionEnd::Answered => v1::QuestionEnd::Answered,
        QuestionEnd::Expired => v1::QuestionEnd::Expired,
        QuestionEnd::Withdrawn => v1::QuestionEnd::Withdrawn,
    };
    Said::Over(v1::QuestionOver { question_id, end: end.into() })
}

/// Why a confirmation that does not wait any more is over.
pub(super) fn end_of(state: &ConfirmationState) -> QuestionEnd {
    match state {
        ConfirmationState::Pending | ConfirmationState::Approved | ConfirmationState::Denied(_) => {
            QuestionEnd::Answered
        }
        ConfirmationState::Expired => QuestionEnd::Expired,
        ConfirmationState::Withdrawn => QuestionEnd::Withdrawn,
    }
}

fn edit(edit: &TextEdit) -> v1::TextEdit {
    let Span { start, end } = edit.span;
    let range = v1::Range { start: Some(place(start)), end: Some(place(end)) };
    v1::TextEdit { range: Some(range), new_text: edit.text.clone() }
}

fn place(position: Position) -> v1::Position {
    v1::Position { line: position.line, character: position.character }
}
