//! A request while it is read: what every API fills in, and what is worked out once all is there.

use serde_json::Value;

use super::choice::{self, Chosen};
use super::error::{RequestCode, RequestError};
use super::fields::Fields;
use super::history::{ConversationHistory, GivenResult};
use super::limits::{MESSAGES_MAX, check_count};
use super::note::Notes;
use super::path::Path;
use super::tools::{self, RequestTools};
use super::{Normalized, ROOT, parts};
use crate::conversation::{Conversation, Sampling};
use crate::registry::ToolDefinition;

/// What was read so far.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) notes: Notes,
    pub(super) history: ConversationHistory,
    pub(super) model: String,
    /// None where the request does not say.
    pub(super) tools: Option<RequestTools>,
    pub(super) chosen: Chosen,
    pub(super) parallel: Option<bool>,
    pub(super) sampling: Sampling,
    pub(super) stream: bool,
    pub(super) stream_usage: bool,
}

// === impl Draft ===

impl Draft {
    /// Reads what all APIs write alike.
    pub(super) fn read_shared(&mut self, body: &mut Fields<'_>) -> Result<(), RequestError> {
        self.model = body.string("model")?.unwrap_or_default();
        let stream = body.flag("stream")?;
        self.stream = stream.unwrap_or(self.stream);
        let path = ROOT.key("tools");
        if let Some(items) = body.list("tools")? {
            self.tools = Some(tools::read(items, &path, &mut self.notes)?);
        }
        Ok(())
    }

    /// Reads what all APIs but Ollama write alike.
    pub(super) fn read_head(&mut self, body: &mut Fields<'_>) -> Result<(), RequestError> {
        self.read_shared(body)?;
        self.chosen = choice::read(body.take("tool_choice"), &ROOT.key("tool_choice"))?;
        self.read_sampling(body)
    }

    /// Reads temperature and `top_p`, where they stand beside each other.
    pub(super) fn read_sampling(&mut self, fields: &mut Fields<'_>) -> Result<(), RequestError> {
        self.sampling.temperature = fields.number("temperature", f64::INFINITY)?;
        self.sampling.top_p = fields.number("top_p", 1.0)?;
        Ok(())
    }

    /// Reads each message of the list at a key of the body.
    pub(super) fn read_each(
        &mut self,
        items: Option<Vec<Value>>,
        key: &str,
        read: fn(&mut Self, Fields<'_>) -> Result<(), RequestError>,
    ) -> Result<(), RequestError> {
        let path = ROOT.key(key);
        for (index, item) in messages(items, &path)?.into_iter().enumerate() {
            let path = path.item(index);
            read(self, Fields::of(item, &path)?)?;
        }
        Ok(())
    }

    /// Reads instructions, which stand at `path`.
    pub(super) fn read_system(
        &mut self,
        content: Option<Value>,
        path: &Path<'_>,
    ) -> Result<(), RequestError> {
        let text = parts::instructions(content, path, &mut self.notes)?;
        self.history.system(text);
        Ok(())
    }

    /// Reads what the message of a user at `path` shows.
    pub(super) fn read_user(
        &mut self,
        content: Option<Value>,
        path: &Path<'_>,
    ) -> Result<(), RequestError> {
        let parts = parts::shown(content, &path.key("content"), &mut self.notes)?;
        self.history.user(parts, path, &mut self.notes);
        Ok(())
    }

    /// Reads what the model said in its message at `path`.
    pub(super) fn read_said(
        &mut self,
        content: Option<Value>,
        path: &Path<'_>,
    ) -> Result<String, RequestError> {
        parts::said(content, &path.key("content"), &mut self.notes)
    }

    /// Reads what came out of a tool, which stands at `output_path` of the message at `path`. What
    /// the result holds already comes behind it.
    pub(super) fn read_result(
        &mut self,
        mut result: GivenResult,
        output: Option<Value>,
        output_path: &Path<'_>,
        path: &Path<'_>,
    ) -> Result<(), RequestError> {
        let output = parts::output(output, output_path, &mut self.notes)?;
        result.content.splice(..0, output);
        self.history.result(result, path, &mut self.notes);
        Ok(())
    }

    pub(super) fn finish(self, remembered: &[ToolDefinition]) -> Result<Normalized, RequestError> {
        let Self { mut notes, mut history, model, tools, chosen, parallel, sampling, .. } = self;
        let mut tools = match tools {
            Some(tools) => tools,
            None if history.seen().next().is_none() => RequestTools::default(),
            None => tools::of_history(history.seen(), remembered, &mut notes),
        };
        for (name, namespaced) in history.take_namespaced() {
            tools.namespaced.entry(name).or_insert(namespaced);
        }
        let parallel = chosen.parallel.or(parallel).unwrap_or(true);
        let choice = choice::settle(chosen, &mut tools, &ROOT.key("tool_choice"), &mut notes)?;
        let conversation = Conversation {
            model,
            tools: tools.list,
            choice,
            parallel,
            messages: history.into_messages(&mut notes),
            sampling,
            stream: self.stream,
            stream_usage: self.stream_usage,
        };
        let RequestTools { free_form, namespaced, .. } = tools;
        Ok(Normalized { conversation, free_form, namespaced, notes: notes.into_vec() })
    }
}

/// Takes the list of messages, which must be there and not empty.
fn messages(items: Option<Vec<Value>>, path: &Path<'_>) -> Result<Vec<Value>, RequestError> {
    let wanted = "an array of messages such as {\"role\": \"user\", \"content\": …}";
    let Some(items) = items else { return Err(RequestError::missing(path, wanted)) };
    if items.is_empty() {
        let rest = format!("is empty: it must be {wanted}");
        return Err(RequestError::at(RequestCode::InvalidValue, path, rest));
    }
    check_count(items.len(), MESSAGES_MAX, path, "messages")?;
    Ok(items)
}

/// Takes the role of a message, which must be there, and its content.
pub(super) fn role_and_content(
    message: &mut Fields<'_>,
    roles: &str,
) -> Result<(String, Option<Value>), RequestError> {
    let role = message.string("role")?;
    let role = role.ok_or_else(|| RequestError::missing(&message.path().key("role"), roles))?;
    Ok((role, message.take("content")))
}
