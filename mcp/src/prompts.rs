//! Texts that a person puts into a conversation: how the tools are best used, and what one of them does.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role, Tool,
};
use serde_json::json;

use crate::set::ToolSet;

/// How the tools are best used.
pub(crate) const NOTES: &str = "moss_notes";
/// What one tool does.
pub(crate) const TOOL: &str = "moss_tool";
/// The parameter of that: its name.
pub(crate) const NAME: &str = "name";

/// Lists both prompts with their parameters.
pub(crate) fn list() -> ListPromptsResult {
    let notes = Prompt::new(NOTES, Some("How to work with the tools of moss."), None)
        .with_title("How to work with moss");
    let name = PromptArgument::new(NAME).with_description("Name of the tool.").with_required(true);
    let tool =
        Prompt::new(TOOL, Some("What one tool does, with its parameters."), Some(vec![name]))
            .with_title("Explain a tool of moss");
    ListPromptsResult::with_all_items(vec![notes, tool])
}

/// Makes the prompt with the notes on the tools of a set.
pub(crate) fn notes(text: String, set: &ToolSet) -> GetPromptResult {
    let text = match text.is_empty() {
        true => format!(
            "There are no notes on the tools of the set `{}`: the description of each says how it is \
             used.",
            set.name()
        ),
        false => text,
    };
    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
        .with_description("How to work with the tools of moss.")
}

/// Makes the prompt about a tool.
pub(crate) fn tool(
    request: &GetPromptRequestParams,
    tools: &[Tool],
) -> Result<GetPromptResult, ErrorData> {
    let arguments = request.arguments.as_ref();
    let name = arguments.and_then(|arguments| arguments.get(NAME)?.as_str());
    let name = name.ok_or_else(|| {
        let message = format!("`arguments` of {TOOL} have no `{NAME}`: give the name of a tool");
        ErrorData::invalid_params(message, None)
    })?;
    let tool = tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let known: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let message = format!("there is no such tool; there are {}", known.join(", "));
        ErrorData::invalid_params(message, None)
    })?;
    let description = tool.description.as_deref().unwrap_or_default();
    let schema = json!(tool.input_schema);
    let text =
        format!("The tool `{name}`: {description}\n\nIts parameters, as JSON schema:\n{schema:#}");
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

/// Says that there is no such prompt.
pub(crate) fn unknown() -> ErrorData {
    ErrorData::invalid_params(format!("there is no such prompt; there are {NOTES}, {TOOL}"), None)
}
