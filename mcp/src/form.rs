//! What is put to the person at a client: a decision about an effect, or a question of a tool.

use moss_sdk::deceptive::escaped;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};

use crate::deceiving::shown;

/// Longest text of a form, in bytes: more than a person reads in a dialog. What is longer is decided
/// elsewhere, where it can be paged through.
pub const FORM_BYTES_MAX: usize = 16 * 1024;
/// Why a call did not happen whose form was closed, or came back as nothing that it offers too often.
pub const FORM_CLOSED: &str =
    "the form was closed without a decision that it offers; nothing was changed";
/// Comes before the rule that may be allowed for the session.
const SESSION_RULE: &str = "This rule can be allowed for this session, without further questions:";
/// Longest reason and longest reply of a person that is taken, in bytes: no longer reason is recorded.
const ANSWER_BYTES_MAX: usize = 4 * 1024;

/// What is put to the person at a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientForm {
    /// May this exact effect happen?
    Decision {
        /// All of the effect, and the rule that asks.
        text: String,
        /// The rule that may be allowed for the rest of the session, where one may.
        session_rule: Option<String>,
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

/// What came back from a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FormOutcome {
    /// The person decided, or replied to the question.
    Replied(FormReply),
    /// The person closed it.
    Closed,
    /// Nothing that it offers: it is shown anew.
    Unread,
}

// === impl ClientForm ===

impl ClientForm {
    /// The form as the protocol has it, with escapes in the place of what deceives a reader.
    pub(crate) fn request(&self) -> Option<ElicitRequestParams> {
        let (message, schema) = match self {
            Self::Decision { text, session_rule } => {
                let text = match session_rule {
                    Some(rule) => format!("{}\n\n{SESSION_RULE}\n{rule}", text.trim_end()),
                    None => text.clone(),
                };
                (shown(&text), decision_schema(session_rule.is_some()))
            }
            Self::Question { text, choices } => (shown(text), question_schema(&names(choices))),
        };
        let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
        Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
    }

    /// Reads what came back. Nothing but an accepted form with a decision that was offered allows
    /// anything; who closes the form has not decided.
    pub(crate) fn outcome(&self, result: &ElicitResult) -> FormOutcome {
        let field = |key: &str| Some(result.content.as_ref()?.get(key)?.as_str()?.trim());
        let cut = |text: &str| text[..text.floor_char_boundary(ANSWER_BYTES_MAX)].to_owned();
        let reply = match (self, &result.action) {
            (Self::Decision { session_rule, .. }, ElicitationAction::Accept) => {
                match field("decision") {
                    Some("allow_once") => FormReply::AllowOnce,
                    Some("allow_session") if session_rule.is_some() => FormReply::AllowSession,
                    Some("deny") => FormReply::Deny(cut(field("reason").unwrap_or_default())),
                    _ => return FormOutcome::Unread,
                }
            }
            (Self::Decision { .. }, ElicitationAction::Decline) => FormReply::Deny(String::new()),
            (Self::Question { choices, .. }, ElicitationAction::Accept) => match field("answer") {
                None => return FormOutcome::Unread,
                // Who leaves it empty does not reply.
                Some("") => return FormOutcome::Closed,
                Some(said) => {
                    let chosen = names(choices).iter().position(|name| name.trim() == said);
                    let choice = chosen.and_then(|at| choices.get(at).cloned());
                    FormReply::Said(choice.unwrap_or_else(|| cut(said)))
                }
            },
            (Self::Question { .. }, ElicitationAction::Decline)
            | (_, ElicitationAction::Cancel) => {
                return FormOutcome::Closed;
            }
            // An action of a later revision.
            _ => return FormOutcome::Unread,
        };
        FormOutcome::Replied(reply)
    }
}

/// The names under which choices are shown. One that would read like one before it has a number.
fn names(choices: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(choices.len());
    for choice in choices {
        let shown = escaped(choice);
        let numbered = (2..).map(|number| format!("{shown} ({number})"));
        let free = std::iter::once(shown.clone()).chain(numbered).find(|one| !names.contains(one));
        names.extend(free);
    }
    names
}

fn decision_schema(offers_session: bool) -> Value {
    let mut values = vec!["allow_once", "allow_session", "deny"];
    let mut names = vec!["Allow once", "Allow this rule for this session", "Deny"];
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
        let form = |offers_session: bool| ClientForm::Decision {
            text: String::new(),
            session_rule: offers_session.then(String::new),
        };
        let replied = FormOutcome::Replied;
        for (offers_session, action, content, outcome) in [
            (true, "accept", json!({ "decision": "allow_once" }), replied(FormReply::AllowOnce)),
            (
                true,
                "accept",
                json!({ "decision": "allow_session" }),
                replied(FormReply::AllowSession),
            ),
            (false, "accept", json!({ "decision": "allow_session" }), FormOutcome::Unread),
            (true, "accept", json!({ "decision": "always" }), FormOutcome::Unread),
            (true, "accept", json!({ "decision": true }), FormOutcome::Unread),
            (true, "accept", json!({}), FormOutcome::Unread),
            (true, "accept", Value::Null, FormOutcome::Unread),
            (
                true,
                "accept",
                json!({ "decision": "deny", "reason": " no " }),
                replied(FormReply::Deny("no".to_owned())),
            ),
            (
                true,
                "decline",
                json!({ "decision": "allow_once" }),
                replied(FormReply::Deny(String::new())),
            ),
            (true, "cancel", json!({ "decision": "allow_once" }), FormOutcome::Closed),
        ] {
            let seen = form(offers_session).outcome(&result(action, content.clone()));
            assert_eq!(seen, outcome, "{action} {content}");
        }
    }

    #[test]
    fn a_long_reason_is_cut_and_still_denies() {
        let form = ClientForm::Decision { text: String::new(), session_rule: None };
        let said = json!({ "decision": "deny", "reason": "不".repeat(1_500) });
        let denied = FormReply::Deny("不".repeat(ANSWER_BYTES_MAX / "不".len()));
        assert_eq!(form.outcome(&result("accept", said)), FormOutcome::Replied(denied));
    }

    #[test]
    fn questions_are_answered_with_words_or_not_at_all() {
        let form = ClientForm::Question { text: "Which?".into(), choices: vec!["a".into()] };
        let outcome = |action, content| form.outcome(&result(action, content));
        let said = |text: &str| FormOutcome::Replied(FormReply::Said(text.to_owned()));
        assert_eq!(outcome("accept", json!({ "answer": "a" })), said("a"));
        assert_eq!(outcome("accept", json!({ "answer": " " })), FormOutcome::Closed);
        assert_eq!(outcome("accept", json!({ "answer": 5 })), FormOutcome::Unread);
        assert_eq!(outcome("accept", json!({})), FormOutcome::Unread);
        assert_eq!(outcome("decline", json!({ "answer": "a" })), FormOutcome::Closed);
    }

    #[test]
    fn what_deceives_is_shown_as_an_escape_and_means_the_choice_that_it_was() {
        let choices = ["yes", "no\u{202e}on", "no\\u{202e}on", "a\nb", "yes"].map(str::to_owned);
        let text = "a\u{1b}[2J\u{200b}b\n\tc\u{202e}".to_owned();
        let form = ClientForm::Question { text, choices: choices.to_vec() };
        let shown = serde_json::to_value(form.request().unwrap()).unwrap();
        assert_eq!(shown["message"], "a\\u{1b}[2J\\u{200b}b\n\tc\\u{202e}");
        let names = &shown["requestedSchema"]["properties"]["answer"]["enum"];
        assert_eq!(
            *names,
            json!(["yes", "no\\u{202e}on", "no\\u{202e}on (2)", "a\\nb", "yes (2)"])
        );
        for (name, choice) in names.as_array().unwrap().iter().zip(choices) {
            let said = form.outcome(&result("accept", json!({ "answer": name })));
            assert_eq!(said, FormOutcome::Replied(FormReply::Said(choice)));
        }
        let own = form.outcome(&result("accept", json!({ "answer": "neither" })));
        assert_eq!(own, FormOutcome::Replied(FormReply::Said("neither".to_owned())));
        let form = ClientForm::Decision { text: "x\u{7}\u{2066}".into(), session_rule: None };
        let shown = serde_json::to_value(form.request().unwrap()).unwrap();
        assert_eq!(shown["message"], "x\\u{7}\\u{2066}");
    }

    #[test]
    fn a_form_shows_the_rule_that_it_offers_for_the_session() {
        let rule = "[[approval.rule]]\npaths = [\"a\u{200b}\"]\n".to_owned();
        let (text, session_rule) = ("May it?\n".to_owned(), Some(rule));
        let form = ClientForm::Decision { text, session_rule };
        let shown = serde_json::to_value(form.request().unwrap()).unwrap();
        let rule = "[[approval.rule]]\npaths = [\"a\\u{200b}\"]\n";
        assert_eq!(shown["message"], format!("May it?\n\n{SESSION_RULE}\n{rule}"));
        let names = &shown["requestedSchema"]["properties"]["decision"]["enumNames"];
        assert_eq!(*names, json!(["Allow once", "Allow this rule for this session", "Deny"]));
    }

    #[test]
    fn every_form_is_one_of_the_protocol() {
        for form in [
            ClientForm::Decision { text: "x".into(), session_rule: Some("y".into()) },
            ClientForm::Decision { text: "x".into(), session_rule: None },
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
