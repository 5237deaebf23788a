//! Requests of the APIs of chat models, each as one form: a [`Conversation`].
//!
//! What a client writes is taken as it is meant wherever that is clear, and what was left out, made
//! up or changed on the way is reported in notes. What a plain chat model cannot be asked for, or
//! what would be something else than the client thinks, is an error that says what to write
//! instead. Fields that are not known are never an error.
//!
//! Sources of the shapes: the OpenAPI descriptions and client libraries of OpenAI, the client
//! libraries and gateway notes of Anthropic, the API page of Ollama.

mod anthropic;
mod arguments;
mod calls;
mod choice;
mod compiled;
mod draft;
mod error;
mod fields;
mod history;
mod key;
mod limits;
mod note;
mod ollama;
mod openai_chat;
mod openai_responses;
mod parts;
mod path;
mod tools;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use error::{RequestCode, RequestError};
pub use key::conversation_key;
pub use note::{Note, NoteCode};

use crate::api::Api;
use crate::call_form::NamespacedName;
use crate::conversation::Conversation;
use crate::registry::ToolDefinition;

use self::fields::Fields;
use self::path::Path;

/// The body as a position.
static ROOT: Path<'static> = Path::Root;

/// A request in its one form.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Normalized {
    /// What it asks for.
    pub conversation: Conversation,
    /// The names of tools that take free text instead of JSON: here they have one parameter,
    /// `input`, and a client expects the text of it back as a call of a custom tool.
    pub free_form: BTreeSet<String>,
    /// The tools of namespaces, and those that were called earlier, by the one name that a model
    /// gets for them: a client expects both names in two fields.
    pub namespaced: BTreeMap<String, NamespacedName>,
    /// What was left out, made up or changed.
    pub notes: Vec<Note>,
}

/// Reads the body of a request.
///
/// # Errors
///
/// Where the body is none of its API, asks for what cannot be done without native tools or without
/// state, or is too large.
pub fn normalize(api: Api, body: Value) -> Result<Normalized, RequestError> {
    normalize_with(api, body, &[])
}

/// Reads the body of a request of which the tools of an earlier turn are known: where it has calls
/// in its history but does not say its tools (an empty list says that there are none), these are
/// the tools, and what else was called is inferred from the calls. [`conversation_key`] is what to
/// remember them by.
///
/// # Errors
///
/// As [`normalize`].
pub fn normalize_with(
    api: Api,
    body: Value,
    remembered: &[ToolDefinition],
) -> Result<Normalized, RequestError> {
    limits::check(&body)?;
    let mut body = Fields::of(body, &ROOT)?;
    let mut draft = match api {
        Api::OpenAiChat => openai_chat::read(&mut body),
        Api::OpenAiResponses => openai_responses::read(&mut body),
        Api::AnthropicMessages => anthropic::read(&mut body),
        Api::Ollama => ollama::read(&mut body),
    }?;
    body.ignore_rest(&mut draft.notes);
    draft.finish(remembered)
}

#[cfg(test)]
mod tests;
