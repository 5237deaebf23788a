//! The tools that the suite calls, as far as tools of moss can be like them.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use moss_mcp::{
    BackendOpener, CallFault, CallNote, ClientForm, CommandArtifact, DeniedEffect, FormReply,
    ToolBackend, ToolUse, UseReply,
};
use moss_sdk::content::{ContentImage, ContentPart};
use moss_sdk::context::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::{rounds, script};

/// A workspace of nothing but the suite's tools.
#[derive(Debug)]
struct SuiteBackend {
    /// How often the suite had the list of tools changed.
    changes: watch::Sender<u64>,
}

/// Opens a handle to the one backend for each session.
#[derive(Debug, Clone)]
pub(crate) struct SuiteOpener(Arc<SuiteBackend>);

impl Default for SuiteOpener {
    fn default() -> Self {
        Self(Arc::new(SuiteBackend { changes: watch::Sender::new(0) }))
    }
}

impl BackendOpener for SuiteOpener {
    fn wants_roots(&self) -> bool {
        false
    }

    fn open(&self, _: Vec<String>) -> BoxFuture<'_, Result<Arc<dyn ToolBackend>, CallFault>> {
        let backend = Arc::clone(&self.0) as Arc<dyn ToolBackend>;
        Box::pin(async move { Ok(backend) })
    }
}

fn definition(name: &str, input: Value) -> Value {
    json!({ "name": name, "description": format!("{name} of the suite."), "inputSchema": input })
}

fn plain(name: &str) -> Value {
    definition(name, json!({ "type": "object", "properties": {} }))
}

/// A tool whose schema has every keyword that must arrive as it is.
fn with_schema() -> Value {
    let input = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    definition("json_schema_2020_12_tool", input)
}

fn reply(text: String) -> UseReply {
    UseReply::of("suite", Ok(text))
}

/// Puts the question of a call to the person.
async fn asked(arguments_json: &str, notes: &mpsc::Sender<CallNote>) -> String {
    let arguments: Value = serde_json::from_str(arguments_json).unwrap_or_default();
    let text = arguments["message"].as_str().unwrap_or("What is it?").to_owned();
    let (answer, answered) = oneshot::channel();
    let form = ClientForm::Question { text, choices: Vec::new() };
    let is_sent = notes.send(CallNote::Form { form, answer }).await.is_ok();
    match if is_sent { answered.await.ok() } else { None } {
        Some(FormReply::Said(said)) => format!("User response: {said}"),
        _ => "User response: none".to_owned(),
    }
}

impl ToolBackend for SuiteBackend {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Value>, CallFault>> {
        let elicit = json!({
            "type": "object",
            "properties": { "message": { "type": "string" } },
            "required": ["message"],
        });
        let names = ["test_simple_text", "test_error_handling", "test_tool_with_progress"];
        let mut tools = names.map(plain).to_vec();
        tools.extend([definition("test_elicitation", elicit), with_schema()]);
        tools.extend([plain("test_trigger_tool_change"), plain("test_image_content")]);
        tools.extend(script::TOOLS.into_iter().chain(rounds::TOOLS).map(plain));
        let changed = *self.changes.borrow();
        tools.extend((changed > 0).then(|| plain(&format!("test_changed_{changed}"))));
        Box::pin(async move { Ok(tools) })
    }

    fn call(
        &self,
        request: ToolUse,
        notes: mpsc::Sender<CallNote>,
    ) -> BoxFuture<'_, Result<UseReply, CallFault>> {
        Box::pin(async move {
            match request.name.as_str() {
                "test_simple_text" => {
                    Ok(reply("This is a simple text response for testing.".to_owned()))
                }
                "test_trigger_tool_change" => {
                    self.changes.send_modify(|count| *count += 1);
                    Ok(reply("changed".to_owned()))
                }
                "test_image_content" => {
                    let data = BASE64_STANDARD.decode(script::PNG).expect("it is base64");
                    let image = ContentImage::new(data).expect("it is an image");
                    let content = vec![ContentPart::Image(image)];
                    Ok(UseReply { content, ..reply("{}".to_owned()) })
                }
                "json_schema_2020_12_tool" => Ok(reply("ok".to_owned())),
                "test_error_handling" => {
                    let message = "This tool intentionally returns an error for testing";
                    Err(CallFault::new("internal", message))
                }
                "test_tool_with_progress" => {
                    for done in [0, 50, 100] {
                        let message = format!("{done} of 100");
                        // Who does not listen misses it.
                        let note = CallNote::Progress { message, done, total: Some(100) };
                        let _ = notes.send(note).await;
                    }
                    Ok(reply("done".to_owned()))
                }
                "test_elicitation" => Ok(reply(asked(&request.arguments_json, &notes).await)),
                // What resources are made of.
                "list_directory" => {
                    let entry = json!({ "path": "a.txt", "kind": "file", "size_bytes": 2 });
                    Ok(reply(json!({ "entries": [entry], "total": 1 }).to_string()))
                }
                "read_file" => {
                    let read = json!({
                        "content": "     1\ta", "start_line": 1, "final_newline": true,
                    });
                    Ok(reply(read.to_string()))
                }
                other => Err(CallFault::new("tool_unknown", format!("there is no tool `{other}`"))),
            }
        })
    }

    fn deny(&self, _: ToolUse, _: DeniedEffect) -> BoxFuture<'_, CallFault> {
        Box::pin(async { CallFault::new("denied_by_person", "a person said no") })
    }

    fn artifacts(&self) -> BoxFuture<'_, Result<Vec<CommandArtifact>, CallFault>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn refused(&self, _: Vec<String>) -> BoxFuture<'_, Result<Vec<String>, CallFault>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn notes(&self, _: Vec<String>) -> BoxFuture<'_, Result<String, CallFault>> {
        Box::pin(async { Ok("Notes of the suite.".to_owned()) })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
