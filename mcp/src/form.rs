//! What is put to the person at a client: a decision about an effect, or a question of a tool.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};

/// Longest text of a form, in bytes: more than a person reads in a dialog. What is longer is decided
/// elsewhere, where it can be paged through.
pub const FORM_BYTES_MAX: usize = 16 * 1024;
/// Why a call did not happen whose form was closed.
pub const FORM_CLOSED: &str = "the person closed the form without a decision; nothing was changed";
/// Longest reason and longest reply of a person that is taken, in characters.
const ANSWER_CHARS_MAX: usize = 2_000;

/// What is put to the person at a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientForm {
    /// May this exact effect happen?
    Decision {
        /// All of the effect, and the rule that asks.
        text: String,
        /// Whether it may be allowed for the rest of the session.
        offers_session: bool,
    },
    /// A question of a tool.
    Question {
        /// As the tool worded it.
        text: String,
        /// Choices; none for own words.
        choices: Vec<String>,
    },
}

/// What the person says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormReply {
    /// It may happen, this once.
    AllowOnce,
    /// It may happen, and the like of it for the rest of the session.
    AllowSession,
    /// It may not, and why; empty where that was not said.
    Deny(String),
    /// The reply to a question.
    Said(String),
}

// === impl ClientForm ===

impl ClientForm {
    /// The form as the protocol has it.
    pub(crate) fn request(&self) -> Option<ElicitRequestParams> {
        let (message, schema) = match self {
            Self::Decision { text, offers_session } => (text, decision_schema(*offers_session)),
            Self::Question { text, choices } => (text, question_schema(choices)),
        };
        let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
        let message = message.clone();
        Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
    }

    /// Reads what came back. Nothing but an accepted form with a decision that was offered allows
    /// anything; who closes the form has not decided.
    pub(crate) fn answer(&self, result: &ElicitResult) -> Option<FormReply> {
        let field = |key: &str| {
            let text = result.content.as_ref()?.get(key)?.as_str()?;
            Some(text.trim().chars().take(ANSWER_CHARS_MAX).collect::<String>())
        };
        match (self, &result.action) {
            (Self::Decision { offers_session, .. }, ElicitationAction::Accept) => {
                match field("decision").as_deref() {
                    Some("allow_once") => Some(FormReply::AllowOnce),
                    Some("allow_session") if *offers_session => Some(FormReply::AllowSession),
                    Some("deny") => Some(FormReply::Deny(field("reason").unwrap_or_default())),
                    _ => None,
                }
            }
            (Self::Decision { .. }, ElicitationAction::Decline) => {
                Some(FormReply::Deny(String::new()))
            }
            (Self::Question { .. }, ElicitationAction::Accept) => {
                field("answer").filter(|answer| !answer.is_empty()).map(FormReply::Said)
            }
            _ => None,
        }
    }
}

fn decision_schema(offers_session: bool) -> Value {
    let mut values = vec!["allow_once", "allow_session", "deny"];
    let mut names = vec!["Allow once", "Allow for this session", "Deny"];
    if !offers_session {
        values.remove(1);
        names.remove(1);
    }
    json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string", "title": "Decision", "enum": values, "enumNames": names,
            },
            "reason": {
                "type": "string", "title": "Reason",
                "description": "Why not, for the model; may stay empty.",
            },
        },
        "required": ["decision"],
    })
}

fn question_schema(choices: &[String]) -> Value {
    let answer = match choices {
        [] => json!({ "type": "string", "title": "Reply" }),
        choices => json!({ "type": "string", "title": "Reply", "enum": choices }),
    };
    json!({ "type": "object", "properties": { "answer": answer }, "required": ["answer"] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(action: &str, content: Value) -> ElicitResult {
        serde_json::from_value(json!({ "action": action, "content": content })).unwrap()
    }

    #[test]
    fn only_an_accepted_decision_that_was_offered_allows_anything() {
        let form = |offers_session| ClientForm::Decision { text: String::new(), offers_session };
        for (offers_session, action, content, answer) in [
            (true, "accept", json!({ "decision": "allow_once" }), Some(FormReply::AllowOnce)),
            (true, "accept", json!({ "decision": "allow_session" }), Some(FormReply::AllowSession)),
            (false, "accept", json!({ "decision": "allow_session" }), None),
            (true, "accept", json!({ "decision": "always" }), None),
            (true, "accept", json!({ "decision": true }), None),
            (true, "accept", json!({}), None),
            (true, "accept", Value::Null, None),
            (
                true,
                "accept",
                json!({ "decision": "deny", "reason": " no " }),
                Some(FormReply::Deny("no".to_owned())),
            ),
            (
                true,
                "decline",
                json!({ "decision": "allow_once" }),
                Some(FormReply::Deny(String::new())),
            ),
            (true, "cancel", json!({ "decision": "allow_once" }), None),
        ] {
            let seen = form(offers_session).answer(&result(action, content.clone()));
            assert_eq!(seen, answer, "{action} {content}");
        }
    }

    #[test]
    fn questions_are_answered_with_words_or_not_at_all() {
        let form = ClientForm::Question { text: "Which?".into(), choices: vec!["a".into()] };
        let said = |action, content| form.answer(&result(action, content));
        assert_eq!(said("accept", json!({ "answer": "a" })), Some(FormReply::Said("a".to_owned())));
        assert_eq!(said("accept", json!({ "answer": " " })), None);
        assert_eq!(said("decline", json!({ "answer": "a" })), None);
    }

    #[test]
    fn every_form_is_one_of_the_protocol() {
        for form in [
            ClientForm::Decision { text: "x".into(), offers_session: true },
            ClientForm::Decision { text: "x".into(), offers_session: false },
            ClientForm::Question { text: "x".into(), choices: Vec::new() },
            ClientForm::Question { text: "x".into(), choices: vec!["a".into(), "b".into()] },
        ] {
            let shown = serde_json::to_value(form.request().unwrap()).unwrap();
            assert_eq!(shown["mode"], "form");
            let schema = &shown["requestedSchema"];
            assert_eq!(schema["type"], "object");
            assert_eq!(schema["required"].as_array().unwrap().len(), 1, "{schema}");
        }
    }
}
