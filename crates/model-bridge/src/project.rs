//! History as plain chat messages: calls become action blocks again, results become turns of the
//! user (requirement B3).
//!
//! What an assistant's turn called reads back as it was: ids, names, arguments. Where its text would
//! hide its blocks, the blocks come first or the text is quoted.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::block::action_block;
use crate::continuation::continuation;
use crate::conversation::{Conversation, Message, MessagePart, ToolCall, ToolResult};
use crate::diagnostic::DiagnosticCode;
use crate::event::{Finish, Reply};
use crate::language::Language;
use crate::parse::{CALLS_MAX, ParseOptions, Parser};
use crate::registry::{Registry, ToolDefinition};

/// How many words in quotes of a text are taken for names of tools.
const QUOTED_WORDS_MAX: usize = 64;

/// A message for a chat model that knows no tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatMessage {
    /// Whose message it is.
    pub role: ChatRole,
    /// What is said and shown.
    pub content: Vec<MessagePart>,
}

/// Who speaks in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatRole {
    /// Whoever set the model up.
    System,
    /// The user, and what tools gave.
    User,
    /// The model itself, with its calls as text.
    Assistant,
}

/// Makes plain messages of a conversation. `contract` is what [`crate::render_prompt`] gives; it
/// ends the first system message.
///
/// Results that follow each other become one message, in the order of the calls; what the user
/// says right after them joins it. The last results ask the model to continue.
pub fn project(
    conversation: &Conversation,
    contract: &str,
    language: Language,
) -> Vec<ChatMessage> {
    let mut projected = vec![opening(conversation, contract)];
    if projected[0].content.is_empty() {
        projected.clear();
    }
    let start = leading(conversation);
    let mut calls: &[ToolCall] = &[];
    // Of calls with one id the last.
    let all = conversation.messages.iter().flat_map(calls_of);
    let all: HashMap<&str, &ToolCall> = all.map(|call| (call.id.as_str(), call)).collect();
    let mut rest = &conversation.messages[start..];
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        match message {
            Message::System(text) => push(&mut projected, ChatRole::System, text_part(text)),
            Message::User(parts) => push(&mut projected, ChatRole::User, parts.clone()),
            Message::Assistant { text, calls: made } => {
                calls = made;
                push(&mut projected, ChatRole::Assistant, text_part(&assistant_text(text, made)));
            }
            Message::Result(first) => {
                let mut results = vec![named(first, &all)];
                while let Some((Message::Result(next), after)) = rest.split_first() {
                    results.push(named(next, &all));
                    rest = after;
                }
                let results: Vec<&ToolResult> = results.iter().map(AsRef::as_ref).collect();
                rest = append_results(&mut projected, calls, &results, rest, language);
                calls = &[];
            }
        }
    }
    projected
}

/// Writes a turn of the assistant: its text, then its calls as action blocks with their ids.
///
/// The blocks read back as the calls whatever the text is: where it ends in words that make a block
/// an example, or leaves a fence open, the blocks come first, and where that does not help, the
/// text is quoted.
fn assistant_text(text: &str, calls: &[ToolCall]) -> String {
    if calls.is_empty() {
        return text.to_owned();
    }
    let blocks = calls.iter().map(|call| action_block(&call.name, &call.arguments, Some(&call.id)));
    let blocks = blocks.collect::<Vec<_>>().join("\n");
    let text = text.trim_end();
    if text.trim().is_empty() {
        return blocks;
    }
    let quoted = || text.lines().map(|line| format!("> {line}\n")).collect::<String>();
    let in_order = format!("{text}\n\n{blocks}");
    if reads_back(&in_order, calls, true) {
        return in_order;
    }
    let turned = format!("{blocks}\n\n{text}");
    if reads_back(&turned, calls, false) { turned } else { format!("{}\n{blocks}", quoted()) }
}

/// Reads what [`assistant_text`] wrote: its calls keep their ids.
fn read_projected(registry: &Arc<Registry>, text: &str) -> Reply {
    let options = ParseOptions { keeps_ids: true, ..ParseOptions::default() };
    let mut parser = Parser::new(Arc::clone(registry), options);
    let mut events = parser.feed(text.as_bytes());
    events.extend(parser.finish(Finish::Stop));
    Reply::collect(events)
}

/// Whether a text has these calls and no others, for tools that take anything. Of twins the reader
/// makes one. `is_in_order` says whether the text stands before its calls.
fn reads_back(text: &str, calls: &[ToolCall], is_in_order: bool) -> bool {
    // The reader makes no more of them, and twins are looked for in all of them.
    if calls.len() > CALLS_MAX {
        return false;
    }
    // What is in quotes may be another tool of whoever reads it.
    let names = calls.iter().map(|call| call.name.as_str()).chain(quoted_words(text));
    let names: BTreeSet<&str> = names.collect();
    let tools = names.into_iter().map(|name| ToolDefinition {
        name: name.to_owned(),
        parameters: Value::Object(serde_json::Map::new()),
        ..ToolDefinition::default()
    });
    let Ok(registry) = Registry::new(tools) else { return false };
    let Reply { calls: read, diagnostics, .. } = read_projected(&Arc::new(registry), text);
    // What marks no call here may be one for other tools.
    if is_in_order && diagnostics.iter().any(|one| one.code != DiagnosticCode::DuplicateCall) {
        return false;
    }
    let same = |(one, other): (&ToolCall, &ToolCall)| {
        one.name == other.name && one.arguments == other.arguments
    };
    let is_first = |(place, call): &(usize, &ToolCall)| {
        !calls[..*place].iter().any(|other| same((other, call)))
    };
    let unique = calls.iter().enumerate().filter(is_first).map(|(_, call)| call);
    let unique: Vec<&ToolCall> = unique.collect();
    read.len() == unique.len() && read.iter().zip(unique).all(same)
}

/// The first words of a text that stand in quotes as names do.
fn quoted_words(text: &str) -> impl Iterator<Item = &str> {
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let words = text.split(['"', '\'', '“', '”']);
    words.filter(move |word| !word.is_empty() && word.chars().all(of_name)).take(QUOTED_WORDS_MAX)
}

fn opening(conversation: &Conversation, contract: &str) -> ChatMessage {
    let own = conversation.messages[..leading(conversation)].iter();
    let own = own.filter_map(|message| match message {
        Message::System(text) => Some(text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = own.chain([contract]).filter(|text| !text.trim().is_empty()).collect();
    ChatMessage { role: ChatRole::System, content: text_part(&texts.join("\n\n")) }
}

fn calls_of(message: &Message) -> &[ToolCall] {
    match message {
        Message::Assistant { calls, .. } => calls,
        Message::System(_) | Message::User(_) | Message::Result(_) => &[],
    }
}

/// A result with the name of its tool, where any turn has its call.
fn named<'r>(result: &'r ToolResult, calls: &HashMap<&str, &ToolCall>) -> Cow<'r, ToolResult> {
    match (&result.name, calls.get(result.call_id.as_str())) {
        (None, Some(call)) => {
            Cow::Owned(ToolResult { name: Some(call.name.clone()), ..result.clone() })
        }
        _ => Cow::Borrowed(result),
    }
}

/// How many system messages begin a conversation.
fn leading(conversation: &Conversation) -> usize {
    let is_system = |message: &&Message| matches!(message, Message::System(_));
    conversation.messages.iter().take_while(is_system).count()
}

/// Reports results, and what the user says right after them. Returns what is left.
fn append_results<'m>(
    projected: &mut Vec<ChatMessage>,
    calls: &[ToolCall],
    results: &[&ToolResult],
    rest: &'m [Message],
    language: Language,
) -> &'m [Message] {
    let mut parts = continuation(calls, results, language, rest.is_empty());
    let rest = match rest.split_first() {
        Some((Message::User(said), rest)) => {
            parts.push(MessagePart::Text("\n\n".to_owned()));
            parts.extend(said.iter().cloned());
            rest
        }
        _ => rest,
    };
    push(projected, ChatRole::User, parts);
    rest
}

fn push(projected: &mut Vec<ChatMessage>, role: ChatRole, content: Vec<MessagePart>) {
    if !content.is_empty() {
        projected.push(ChatMessage { role, content });
    }
}

fn text_part(text: &str) -> Vec<MessagePart> {
    if text.is_empty() { Vec::new() } else { vec![MessagePart::Text(text.to_owned())] }
}

#[cfg(test)]
mod tests;
