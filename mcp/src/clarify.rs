//! What the tool `clarify` asked without a reply, put to the person at the client.
//!
//! It decides about no effect: who calls may pass on the words of its person. So it needs no leave, and
//! works wherever the client has forms.

use serde_json::{Value, json};

use crate::backend::{ToolUse, UseReply};
use crate::form::ClientForm;

/// The tool that asks.
pub(crate) const TOOL: &str = "clarify";
/// Where results say that a person replied.
const ANSWERED_IN: &str = "MCP client";
/// What a model reads where the person closed the form.
const UNANSWERED: &str = "the user did not reply: decide with what you know, and continue";

/// The question of a call that ended without a reply; `None` for another call, or where somebody replied.
pub(crate) fn open_question(call: &ToolUse, reply: &UseReply) -> Option<ClientForm> {
    if call.name != TOOL {
        return None;
    }
    let output: Value = serde_json::from_str(reply.result.as_ref().ok()?).ok()?;
    (output["answered"] == false).then(|| question(&call.arguments_json)).flatten()
}

/// The question that a call has in its arguments.
pub(crate) fn question(arguments_json: &str) -> Option<ClientForm> {
    let arguments: Value = serde_json::from_str(arguments_json).ok()?;
    let text = arguments["question"].as_str()?.to_owned();
    let choices = arguments["choices"].as_array().into_iter().flatten();
    let choices = choices.filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    Some(ClientForm::Question { text, choices })
}

/// What the tool returns for the words of the person; none for a form that was closed.
pub(crate) fn output(said: Option<&str>) -> String {
    match said {
        Some(said) => json!({ "answered": true, "answer": said, "editor": ANSWERED_IN }),
        None => json!({ "answered": false, "note": UNANSWERED }),
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::CallFault;

    fn open(name: &str, arguments: &str, result: Result<&str, &str>) -> Option<ClientForm> {
        let call = ToolUse {
            name: name.to_owned(),
            arguments_json: arguments.to_owned(),
            session_id: String::new(),
            has_forms: true,
            decides_by_form: false,
            in_rounds: None,
            trace_parent: None,
        };
        let result = result.map(ToOwned::to_owned).map_err(|code| CallFault::new(code, ""));
        open_question(&call, &UseReply::of("", result))
    }

    #[test]
    fn only_a_question_without_an_answer_is_open() {
        let asked = r#"{"question":"Tabs?","choices":["yes","no"]}"#;
        let form = ClientForm::Question {
            text: "Tabs?".to_owned(),
            choices: vec!["yes".to_owned(), "no".to_owned()],
        };
        assert_eq!(open(TOOL, asked, Ok(&output(None))), Some(form));
        assert_eq!(open(TOOL, asked, Ok(&output(Some("yes")))), None);
        assert_eq!(open(TOOL, asked, Ok("{}")), None);
        assert_eq!(open(TOOL, asked, Err("invalid_arguments")), None);
        assert_eq!(open(TOOL, "{}", Ok(&output(None))), None);
        assert_eq!(open("echo", asked, Ok(&output(None))), None);
    }
}
