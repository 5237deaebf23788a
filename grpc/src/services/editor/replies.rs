//! Reading the replies of editors and people.

use moss_proto::v1;
use moss_proto::v1::editor_answer::Answer as Wire;
use moss_sdk::ContentHash;
use moss_sdk::editor::Symbol;

use super::MessageProblem;
use super::messages::span;
use moss_daemon::confirm::{ConfirmationDecision, ResolveError};
use moss_editors::{EditorLocation, EditorReply};

/// Most symbols of a file that are taken.
const SYMBOLS_MAX: usize = 10_000;
/// Symbols that lie deeper inside of others are left out.
const SYMBOL_DEPTH_MAX: usize = 32;
/// Longest name of a symbol, in bytes; the rest is cut.
const SYMBOL_BYTES_MAX: usize = 256;
/// Most locations that are taken.
const PLACES_MAX: usize = 1_000;
/// Longest reply of a person, and longest reason, in bytes; the rest is cut.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// A reply to a question of a tool, or to a confirmation.
pub(super) enum IncomingReply {
    Question(EditorReply),
    Confirmation { digest: ContentHash, verdict: ConfirmationDecision },
}

pub(super) fn read(id: &str, answer: Option<Wire>) -> Result<IncomingReply, MessageProblem> {
    let malformed = |message: &str| MessageProblem {
        code: "malformed_answer",
        message: message.to_owned(),
        subject: id.to_owned(),
    };
    Ok(IncomingReply::Question(match answer {
        None => return Err(malformed("the reply is empty")),
        Some(Wire::DocumentSymbols(symbols)) => EditorReply::Symbols(flatten(symbols.symbols)),
        Some(Wire::Locations(locations)) => {
            let places =
                locations.locations.into_iter().take(PLACES_MAX).map(|location| EditorLocation {
                    span: location.range.as_ref().map(span).unwrap_or_default(),
                    path: location.path,
                });
            EditorReply::Places(places.collect())
        }
        Some(Wire::Clarification(text)) => EditorReply::Clarified(cut(text, TEXT_BYTES_MAX)),
        Some(Wire::EditApplied(applied)) => EditorReply::Applied { version: applied.version },
        Some(Wire::Failed(reason)) => EditorReply::Failed(cut(reason, TEXT_BYTES_MAX)),
        Some(Wire::Confirmation(answer)) => {
            let digest = answer.digest.parse().map_err(|_| malformed("not a valid digest"))?;
            let verdict = match (answer.verdict(), answer.remember.as_str()) {
                (v1::Verdict::Approve, "") => ConfirmationDecision::Approve,
                (v1::Verdict::Approve, offer) => ConfirmationDecision::Remember(
                    offer.parse().map_err(|_| malformed("`remember` is not a digest"))?,
                ),
                (v1::Verdict::Deny, "") => {
                    ConfirmationDecision::Deny(cut(answer.reason, TEXT_BYTES_MAX))
                }
                (v1::Verdict::Deny, _) => return Err(malformed("a denial cannot be stored")),
                (v1::Verdict::Unspecified, _) => {
                    return Err(malformed("expected APPROVE or DENY"));
                }
            };
            return Ok(IncomingReply::Confirmation { digest, verdict });
        }
    }))
}

/// Says why a reply to a confirmation has no effect.
pub(super) fn unresolved(refusal: &ResolveError, id: &str) -> MessageProblem {
    let code = match refusal {
        ResolveError::Unknown(_) => "unknown_question",
        ResolveError::Over { .. } => "question_over",
        ResolveError::OtherDigest(_) => "digest_changed",
        ResolveError::NotOffered(_) => "not_offered",
        ResolveError::NotShown(_) | ResolveError::NoPage(_) => "not_shown",
    };
    MessageProblem { code, message: refusal.to_string(), subject: id.to_owned() }
}

/// Brings symbols into a list, each followed by those inside of it.
fn flatten(symbols: Vec<v1::DocumentSymbol>) -> Vec<Symbol> {
    let mut flat = Vec::new();
    let mut waiting: Vec<_> = symbols.into_iter().rev().map(|symbol| (0, symbol)).collect();
    while let Some((depth, symbol)) = waiting.pop() {
        if flat.len() == SYMBOLS_MAX {
            break;
        }
        let all = symbol.range.as_ref().map(span).unwrap_or_default();
        flat.push(Symbol {
            name: cut(symbol.name, SYMBOL_BYTES_MAX),
            kind: cut(symbol.kind, SYMBOL_BYTES_MAX),
            span: all,
            name_span: symbol.name_range.as_ref().map_or(all, span),
            depth,
        });
        if depth < SYMBOL_DEPTH_MAX {
            waiting.extend(symbol.children.into_iter().rev().map(|child| (depth + 1, child)));
        }
    }
    flat
}

fn cut(mut text: String, bytes_max: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str, children: Vec<v1::DocumentSymbol>) -> v1::DocumentSymbol {
        v1::DocumentSymbol { name: name.into(), children, ..Default::default() }
    }

    #[test]
    fn symbols_come_in_the_order_of_the_text_with_their_depth() {
        let flat = flatten(vec![
            symbol("A", vec![symbol("a1", vec![symbol("x", vec![])]), symbol("a2", vec![])]),
            symbol("B", vec![]),
        ]);
        let shown: Vec<_> = flat.iter().map(|one| (one.name.as_str(), one.depth)).collect();
        assert_eq!(shown, [("A", 0), ("a1", 1), ("x", 2), ("a2", 1), ("B", 0)]);
    }

    #[test]
    fn what_is_too_much_is_left_out() {
        let many = flatten(vec![symbol("s", vec![]); SYMBOLS_MAX + 1]);
        assert_eq!(many.len(), SYMBOLS_MAX);
        let deep = (0..SYMBOL_DEPTH_MAX + 5).fold(symbol("x", vec![]), |s, _| symbol("s", vec![s]));
        assert_eq!(flatten(vec![deep]).len(), SYMBOL_DEPTH_MAX + 1);
        let long = flatten(vec![symbol(&"é".repeat(SYMBOL_BYTES_MAX), vec![])]);
        assert_eq!(long[0].name.len(), SYMBOL_BYTES_MAX);
    }
}
