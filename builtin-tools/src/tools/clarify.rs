//! `clarify`: a question to the person.

use moss_sdk::context::Context;
use moss_sdk::editor::{UserQuestion, UserReply};
use moss_sdk::spec::Toolset;
use moss_sdk::{Effect, ErrorCode, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest question and longest choice, in bytes: a person has to read them.
const TEXT_BYTES_MAX: usize = 2_000;
/// What a model reads where nobody replies.
const UNANSWERED: &str = "the user did not reply: decide with what you know, and continue";

/// Asks the user a question, and waits for the reply if an attached editor can show it: 20 seconds
/// unless configured otherwise. If nobody replies, the result says so: continue with what you know.
/// If no editor is attached, the question itself is the result: show it to the user and end your
/// turn.
///
/// Ask only what you cannot find out yourself and what affects what you do. Ask one thing at
/// a time, and offer choices where there are few.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Clarify {
    /// The question, in the language of the user.
    question: String,
    /// Up to 4 choices. The user may always reply in own words. Default: none.
    #[schemars(length(max = 4))]
    choices: Option<Vec<String>>,
}

/// What became of the question.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClarifyOutput {
    /// Whether the user replied.
    answered: bool,
    /// What the user says: one of the choices, or own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// The editor in which it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    editor: Option<String>,
    /// What to do where there is no reply; the question, where nobody could be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for Clarify {
    const NAME: &'static str = "clarify";
    const TITLE: &'static str = "Ask the user";
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: Toolset = Toolset::Interaction;
    type Output = ClarifyOutput;

    async fn run(self, cx: Context) -> Result<ClarifyOutput, ToolError> {
        let query = self.query()?;
        let nothing = ClarifyOutput { answered: false, answer: None, editor: None, note: None };
        Ok(match cx.editors().clarify(query.clone()).await {
            UserReply::Answered { answer, editor } => ClarifyOutput {
                answered: true,
                answer: Some(answer),
                editor: Some(editor),
                note: None,
            },
            UserReply::Busy => {
                let message = "too many questions wait for the user already";
                return Err(ToolError::new(ErrorCode::LimitExceeded, message)
                    .hint("continue with what you know, or ask again later"));
            }
            UserReply::Unanswered => ClarifyOutput { note: Some(UNANSWERED.to_owned()), ..nothing },
            UserReply::NobodyThere => ClarifyOutput { note: Some(as_text(&query)), ..nothing },
        })
    }
}

// === impl Clarify ===

impl Clarify {
    fn query(self) -> Result<UserQuestion, ToolError> {
        let choices = self.choices.unwrap_or_default();
        let refused = |message: String| ToolError::new(ErrorCode::InvalidArguments, message);
        for (name, text) in std::iter::once(("question", &self.question))
            .chain(choices.iter().map(|c| ("choices", c)))
        {
            if text.trim().is_empty() {
                return Err(refused(format!("`{name}` has an empty text"))
                    .hint("ask a question that a person can decide"));
            }
            if text.len() > TEXT_BYTES_MAX {
                let size = text.len();
                return Err(refused(format!(
                    "a text in `{name}` has {size} bytes; the limit is {TEXT_BYTES_MAX}"
                ))
                .hint("ask shorter: a person has to read it"));
            }
        }
        Ok(UserQuestion { question: self.question, choices })
    }
}

/// The question as a text that ends a turn.
fn as_text(query: &UserQuestion) -> String {
    let mut text = format!("[clarify] {}", query.question);
    for (number, choice) in (1..).zip(&query.choices) {
        text.push_str(&format!("\n{number}. {choice}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use moss_sdk::testing::MemoryHost;
    use serde_json::json;

    use super::*;
    use crate::check::{call, refused};

    #[test]
    fn reply_of_the_person_is_the_result() {
        let host = MemoryHost::default();
        host.set_reply(UserReply::Answered { answer: "tabs".into(), editor: "Code".into() });
        let arguments = json!({ "question": "Tabs or spaces?", "choices": ["tabs", "spaces"] });
        let output = call(&host, "clarify", arguments).unwrap();
        assert_eq!(output, json!({ "answered": true, "answer": "tabs", "editor": "Code" }));
        let choices = vec!["tabs".to_owned(), "spaces".to_owned()];
        assert_eq!(host.asked(), [UserQuestion { question: "Tabs or spaces?".into(), choices }]);
    }

    #[test]
    fn without_a_reply_the_result_says_how_to_continue() {
        let host = MemoryHost::default();
        host.set_reply(UserReply::Unanswered);
        let output = call(&host, "clarify", json!({ "question": "Why?" })).unwrap();
        assert_eq!(output, json!({ "answered": false, "note": UNANSWERED }));
    }

    #[test]
    fn without_anybody_there_the_question_is_the_result() {
        let arguments = json!({ "question": "Which?", "choices": ["a", "b"] });
        let output = call(&MemoryHost::default(), "clarify", arguments).unwrap();
        assert_eq!(output, json!({ "answered": false, "note": "[clarify] Which?\n1. a\n2. b" }));
    }

    #[test]
    fn questions_that_nobody_can_read_are_refused() {
        let host = MemoryHost::default();
        for arguments in [
            json!({ "question": " \n" }),
            json!({ "question": "q".repeat(TEXT_BYTES_MAX + 1) }),
            json!({ "question": "Which?", "choices": ["a", ""] }),
        ] {
            assert_eq!(refused(&host, "clarify", arguments).code, ErrorCode::InvalidArguments);
        }
        assert_eq!(host.asked(), []);
    }
}
