//! Replies of models that call natively: messages of OpenAI, Anthropic and Ollama.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::call_keys::ARGUMENT_KEYS;
use super::calls::{self, Inside, NotArguments};
use super::repair::{KnownKeys, said_twice};
use super::{ParseOptions, Parser};
use crate::diagnostic::{DiagnosticCode, ReplyDiagnostic};
use crate::event::{Finish, Reply, ReplyEvent};
use crate::registry::Registry;

/// Reads an assistant's message with `tool_calls` (OpenAI, Ollama) or blocks of `content`
/// (Anthropic). Its text is read as a reply, too: models write calls there as well.
pub fn parse_message(registry: &Arc<Registry>, message: &Value, finish: Finish) -> Reply {
    let mut parser = Parser::new(
        Arc::clone(registry),
        ParseOptions { keeps_ids: true, ..ParseOptions::default() },
    );
    let mut events = Vec::new();
    let mut native = Vec::new();
    match message.get("content") {
        Some(Value::String(text)) => events.extend(parser.feed(text.as_bytes())),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                match (block.get("type").and_then(Value::as_str), block.get("text")) {
                    (Some("tool_use"), _) => native.push(block),
                    (Some("text" | "output_text"), Some(Value::String(text))) => {
                        events.extend(parser.feed(text.as_bytes()));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
    native.extend(message.get("tool_calls").and_then(Value::as_array).into_iter().flatten());
    native.extend(message.get("function_call").filter(|call| call.is_object()));
    parser.is_cut = finish != Finish::Stop;
    parser.run(true);
    for call in native {
        parser.native(call, finish);
    }
    events.extend(parser.finish(finish));
    Reply::collect(events)
}

impl Parser {
    fn native(&mut self, call: &Value, finish: Finish) {
        let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
        let Some(name) = function.get("name").and_then(Value::as_str) else {
            return self.note(DiagnosticCode::UnknownTool, "a native call names no tool");
        };
        let Some(tool) = self.registry.resolve(name) else {
            let diagnostic = calls::unknown(&self.registry, name);
            return self.events.push(ReplyEvent::Diagnostic(diagnostic));
        };
        let written = ARGUMENT_KEYS.iter().find_map(|key| function.get(*key)).cloned();
        let keys = KnownKeys::of_arguments(&self.registry, Some(tool));
        // As servers write arguments that are none.
        let written = written.filter(|value| value.as_str().map(str::trim) != Some("null"));
        let arguments: Map<String, Value> = match calls::arguments(written, keys) {
            Ok(arguments) => arguments,
            Err(_) if finish == Finish::Length => {
                let message = format!("{}: the reply ends inside of the arguments", tool.name());
                return self.note(DiagnosticCode::TruncatedCall, message);
            }
            Err(NotArguments::Twice(key)) => {
                let message = format!("{}: {}", tool.name(), said_twice(&key));
                return self.note(DiagnosticCode::MalformedJson, message);
            }
            Err(NotArguments::Bare(bare)) => match calls::scalar(tool, bare) {
                Ok((parameter, arguments)) => {
                    let message = format!("{}: a bare value became `{parameter}`", tool.name());
                    self.events.push(ReplyEvent::Diagnostic(ReplyDiagnostic::new(
                        DiagnosticCode::ScalarArgs,
                        message,
                    )));
                    arguments
                }
                Err(message) => return self.note(DiagnosticCode::MalformedJson, message),
            },
        };
        let id = call.get("id").and_then(Value::as_str).filter(|id| calls::is_id(id));
        let mut inside = Inside::default();
        inside.fit(tool, arguments, id.map(str::to_owned));
        let Inside { calls, diagnostics, .. } = inside;
        for made in calls {
            self.make(made, None);
        }
        let told = |diagnostic: ReplyDiagnostic| ReplyEvent::Diagnostic(diagnostic);
        self.events.extend(diagnostics.into_iter().map(told));
    }
}
