//! What a reader of replies says, as messages and back: none grows with the reply but the whole of a
//! call.

use moss_model_bridge::{Finish, RepairKind, ReplyDiagnostic, ReplyEvent};
use moss_proto::v1;
use moss_proto::v1::reply_event::Event as Wire;
use serde_json::Value;
use tonic::Status;

use super::super::error::invalid_field;
use moss_schema::arguments;

/// Longest piece of text in a message, in bytes.
const PIECE_BYTES_MAX: usize = 256 << 10;

/// Makes messages of an event: one, or several where it has much text.
pub(super) fn to_wire(event: ReplyEvent) -> Vec<Wire> {
    match event {
        ReplyEvent::Text(text) => pieces(text, Wire::Text),
        ReplyEvent::Reasoning(text) => pieces(text, Wire::Reasoning),
        ReplyEvent::CallStart { index, id, name } => {
            vec![Wire::CallStart(v1::ReplyCallStart { index: count(index), id, name })]
        }
        ReplyEvent::ArgumentFragment { index, fragment } => pieces(fragment, |fragment| {
            Wire::ArgumentFragment(v1::ReplyArgumentFragment { index: count(index), fragment })
        }),
        ReplyEvent::CallEnd { index, arguments } => {
            let arguments_json = Value::Object(arguments).to_string();
            vec![Wire::CallEnd(v1::ReplyCallEnd { index: count(index), arguments_json })]
        }
        ReplyEvent::CallAbandoned { index, text } => {
            vec![Wire::CallAbandoned(v1::ReplyCallAbandoned { index: count(index), text })]
        }
        ReplyEvent::Diagnostic(told) => vec![Wire::Diagnostic(diagnostic(told))],
        ReplyEvent::Finish(finish) => vec![Wire::Finish(finished(finish).into())],
    }
}

/// Reads an event that was reported. One without a meaning for the clients of models is left out.
pub(super) fn from_wire(event: Wire) -> Result<Option<ReplyEvent>, Status> {
    let place = |index: u32| usize::try_from(index).unwrap_or(usize::MAX);
    Ok(Some(match event {
        Wire::Text(text) => ReplyEvent::Text(text),
        Wire::Reasoning(_) | Wire::Diagnostic(_) => return Ok(None),
        Wire::CallStart(v1::ReplyCallStart { index, id, name }) => {
            ReplyEvent::CallStart { index: place(index), id, name }
        }
        Wire::ArgumentFragment(v1::ReplyArgumentFragment { index, fragment }) => {
            ReplyEvent::ArgumentFragment { index: place(index), fragment }
        }
        Wire::CallEnd(v1::ReplyCallEnd { index, arguments_json }) => {
            let arguments = arguments::parse(&arguments_json).map_err(|violation| {
                invalid_field("event.call_end.arguments_json", &violation.to_string())
            })?;
            ReplyEvent::CallEnd { index: place(index), arguments }
        }
        Wire::CallAbandoned(v1::ReplyCallAbandoned { index, text }) => {
            ReplyEvent::CallAbandoned { index: place(index), text }
        }
        Wire::Finish(finish) => ReplyEvent::Finish(self::finish("event.finish", finish)?),
    }))
}

/// Reads why a model stopped.
pub(super) fn finish(field: &str, finish: i32) -> Result<Finish, Status> {
    match v1::ReplyFinish::try_from(finish) {
        Ok(v1::ReplyFinish::Unspecified | v1::ReplyFinish::Stop) => Ok(Finish::Stop),
        Ok(v1::ReplyFinish::Length) => Ok(Finish::Length),
        Ok(v1::ReplyFinish::ContentFilter) => Ok(Finish::ContentFilter),
        Err(_) => Err(invalid_field(field, "no such value")),
    }
}

fn finished(finish: Finish) -> v1::ReplyFinish {
    match finish {
        Finish::Stop => v1::ReplyFinish::Stop,
        Finish::Length => v1::ReplyFinish::Length,
        Finish::ContentFilter => v1::ReplyFinish::ContentFilter,
    }
}

fn diagnostic(told: ReplyDiagnostic) -> v1::ReplyDiagnostic {
    v1::ReplyDiagnostic {
        code: told.code.as_str().to_owned(),
        message: told.message,
        changes: told.changes.into_iter().filter_map(name_of).collect(),
    }
}

/// The stable name of a change: that of its JSON.
fn name_of(change: RepairKind) -> Option<String> {
    match serde_json::to_value(change) {
        Ok(Value::String(name)) => Some(name),
        _ => None,
    }
}

fn pieces(text: String, message: impl Fn(String) -> Wire) -> Vec<Wire> {
    if text.len() <= PIECE_BYTES_MAX {
        return vec![message(text)];
    }
    let (mut all, mut rest) = (Vec::new(), text.as_str());
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES_MAX));
        all.push(message(piece.to_owned()));
        rest = after;
    }
    all
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_come_in_pieces_that_lose_nothing() {
        for length in [1, PIECE_BYTES_MAX, PIECE_BYTES_MAX + 1, 3 * PIECE_BYTES_MAX] {
            let text = "é".repeat(length);
            let mut joined = String::new();
            for piece in to_wire(ReplyEvent::Text(text.clone())) {
                let Wire::Text(piece) = piece else { panic!("no text: {piece:?}") };
                assert!(piece.len() <= PIECE_BYTES_MAX && !piece.is_empty());
                joined.push_str(&piece);
            }
            assert!(joined == text, "{length}");
        }
    }

    #[test]
    fn changes_have_stable_names() {
        assert_eq!(name_of(RepairKind::TrailingComma).as_deref(), Some("trailing_comma"));
    }

    #[test]
    fn ways_to_finish_read_back() {
        for way in [Finish::Stop, Finish::Length, Finish::ContentFilter] {
            assert_eq!(finish("finish", finished(way).into()).unwrap(), way);
        }
        assert_eq!(finish("finish", 0).unwrap(), Finish::Stop);
        assert!(finish("finish", 99).is_err());
    }
}
