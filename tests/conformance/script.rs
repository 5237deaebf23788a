//! What the suite wants by name and no tool of moss is like: kinds of content that moss does not have,
//! questions to the model of a client, forms with several fields, resources and prompts of its own.

use moss_mcp::{ProtocolScript, ScriptedClient, ScriptedError, ScriptedRequest};
use moss_sdk::context::BoxFuture;
use serde_json::{Value, json};

use super::rounds;

/// An image of one pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9\
                              awAAAABJRU5ErkJggg==";
/// A sound of no length.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// The tools that are answered here.
pub(crate) const TOOLS: [&str; 10] = [
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_sampling",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
];

/// The answers of the suite's own server, as far as its requirements name them.
#[derive(Debug)]
pub(crate) struct SuiteScript;

impl ProtocolScript for SuiteScript {
    fn answer<'a>(
        &'a self,
        request: ScriptedRequest<'a>,
    ) -> BoxFuture<'a, Option<Result<Value, ScriptedError>>> {
        Box::pin(async move {
            let name = request.params["name"].as_str().unwrap_or_default().to_owned();
            let uri = request.params["uri"].as_str().unwrap_or_default().to_owned();
            match request.method {
                "tools/call" => match rounds::tool(&name, &request) {
                    Some(answer) => Some(answer),
                    None => tool(&name, &request).await,
                },
                "resources/read" => resource(&uri).map(Ok),
                "prompts/get" => match rounds::prompt(&name, &request) {
                    Some(answer) => Some(answer),
                    None => prompt(&name, &request.params["arguments"]).map(Ok),
                },
                "completion/complete" => completion(&request.params["ref"]).map(Ok),
                // Nothing changes, and everything is logged.
                "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                    Some(Ok(json!({})))
                }
                _ => None,
            }
        })
    }
}

/// A result of text.
pub(crate) fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn embedded(uri: &str, media_type: &str, text: &str) -> Value {
    let resource = json!({ "uri": uri, "mimeType": media_type, "text": text });
    json!({ "type": "resource", "resource": resource })
}

fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

async fn tool(name: &str, request: &ScriptedRequest<'_>) -> Option<Result<Value, ScriptedError>> {
    let client = request.client;
    let capabilities = &request.meta["io.modelcontextprotocol/clientCapabilities"];
    Some(Ok(match name {
        "test_audio_content" => {
            json!({ "content": [{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }] })
        }
        "test_embedded_resource" => {
            let text = "This is an embedded resource content.";
            json!({ "content": [embedded("test://embedded-resource", "text/plain", text)] })
        }
        "test_multiple_content_types" => {
            let text = json!({ "type": "text", "text": "Multiple content types test:" });
            let data = json!({ "test": "data", "value": 123 }).to_string();
            let uri = "test://mixed-content-resource";
            json!({ "content": [text, image(), embedded(uri, "application/json", &data)] })
        }
        "test_tool_with_logging" => {
            let steps =
                ["Tool execution started", "Tool processing data", "Tool execution completed"];
            for step in steps {
                client.log(step).await;
            }
            said("logged")
        }
        "test_logging_tool" => said("nothing is logged that was not asked for"),
        "test_sampling" => sampled(client, &request.params["arguments"]["prompt"]).await,
        "test_elicitation_sep1034_defaults" => elicited(client, with_defaults()).await,
        "test_elicitation_sep1330_enums" => elicited(client, with_choices()).await,
        "test_missing_capability" if capabilities.get("sampling").is_none() => {
            return Some(Err(ScriptedError {
                code: -32021,
                message: "the client has no model to ask".to_owned(),
                data: Some(json!({ "requiredCapabilities": { "sampling": {} } })),
            }));
        }
        "test_missing_capability" => said("the client has a model"),
        "test_streaming_elicitation" => {
            return Some(rounds::form(request, "answer", ("What is it?", "answer"), |answer| {
                said(&format!("It is {answer}"))
            }));
        }
        _ => return None,
    }))
}

async fn sampled(client: ScriptedClient<'_>, prompt: &Value) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    let asked = json!({ "messages": [message], "maxTokens": 100 });
    match client.ask("sampling/createMessage", asked).await {
        Ok(result) => said(&format!("LLM response: {}", result["content"]["text"])),
        Err(why) => json!({ "content": [{ "type": "text", "text": why }], "isError": true }),
    }
}

async fn elicited(client: ScriptedClient<'_>, properties: Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties });
    let asked = json!({ "message": "Please answer", "requestedSchema": schema });
    match client.ask("elicitation/create", asked).await {
        Ok(result) => said(&format!(
            "Elicitation completed: action={}, content={}",
            result["action"], result["content"]
        )),
        Err(why) => json!({ "content": [{ "type": "text", "text": why }], "isError": true }),
    }
}

fn with_defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": {
            "type": "string", "enum": ["active", "inactive", "pending"], "default": "active",
        },
        "verified": { "type": "boolean", "default": true },
    })
}

fn with_choices() -> Value {
    let options = json!(["option1", "option2", "option3"]);
    let titled = |of: &str| {
        let one = |number: usize, name: &str| json!({ "const": format!("value{number}"), "title": format!("{name} {of}") });
        json!([one(1, "First"), one(2, "Second"), one(3, "Third")])
    };
    json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    })
}

fn resource(uri: &str) -> Option<Value> {
    let content = match uri {
        "test://static-text" => {
            let text = "This is the content of the static text resource.";
            json!({ "uri": uri, "mimeType": "text/plain", "text": text })
        }
        "test://static-binary" => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
        }
    };
    Some(json!({ "contents": [content] }))
}

fn prompt(name: &str, arguments: &Value) -> Option<Value> {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let contents = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let argument = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
            let (first, second) = (argument("arg1"), argument("arg2"));
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let uri = arguments["resourceUri"].as_str().unwrap_or_default();
            let resource = embedded(uri, "text/plain", "Embedded resource content for testing.");
            vec![resource, text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
        _ => return None,
    };
    let message = |content| json!({ "role": "user", "content": content });
    let messages: Vec<Value> = contents.into_iter().map(message).collect();
    Some(json!({ "messages": messages }))
}

fn completion(of: &Value) -> Option<Value> {
    let values = json!({ "values": ["test one", "test two"], "total": 2, "hasMore": false });
    (of["name"] == "test_prompt_with_arguments").then(|| json!({ "completion": values }))
}
