//! Requests of the APIs of chat models, read over gRPC: one form for all of them, and refusals in the
//! words of each.

use moss_proto::v1;
use moss_proto::v1::ChatApi;
use moss_proto::v1::chat_part::Part;
use moss_proto::v1::chat_turn::Turn;
use moss_proto::v1::normalize_response::Result as Outcome;
use moss_proto::v1::tool_choice::Choice;
use serde_json::{Value, json};
use tonic::{Code, Status};

use crate::harness::{Client, Site, reason, within};

async fn normalize(
    client: &Client,
    api: ChatApi,
    body: impl Into<String>,
    remembered: &str,
) -> Result<Outcome, Status> {
    let request = v1::NormalizeRequest {
        api: api.into(),
        body_json: body.into(),
        remembered_tools_json: remembered.to_owned(),
    };
    let response = within("a request", client.bridge().normalize(request)).await?;
    Ok(response.into_inner().result.expect("an answer says something"))
}

async fn read(client: &Client, api: ChatApi, body: &Value) -> v1::NormalizedRequest {
    match normalize(client, api, body.to_string(), "").await.unwrap() {
        Outcome::Normalized(read) => read,
        Outcome::Refused(refusal) => panic!("refused: {refusal:?}"),
    }
}

async fn refused(client: &Client, api: ChatApi, body: impl Into<String>) -> v1::RefusedRequest {
    match normalize(client, api, body, "").await.unwrap() {
        Outcome::Refused(refusal) => refusal,
        Outcome::Normalized(read) => panic!("read: {read:?}"),
    }
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "path": { "type": "string" } } })
}

/// The same conversation by every API: a question, a call, its result.
fn same() -> [(ChatApi, Value); 4] {
    let (schema, arguments) = (schema(), json!({ "path": "a" }));
    let function = json!({ "name": "look", "description": "Looks.", "parameters": schema });
    [
        (
            ChatApi::OpenaiChat,
            json!({
                "model": "m", "temperature": 0.5,
                "tools": [{ "type": "function", "function": function }],
                "messages": [
                    { "role": "system", "content": "Be brief." },
                    { "role": "user", "content": "What is there?" },
                    { "role": "assistant", "tool_calls": [{ "id": "c1", "type": "function",
                        "function": { "name": "look", "arguments": arguments.to_string() } }] },
                    { "role": "tool", "tool_call_id": "c1", "content": "files" },
                ],
            }),
        ),
        (
            ChatApi::OpenaiResponses,
            json!({
                "model": "m", "temperature": 0.5, "instructions": "Be brief.",
                "tools": [{ "type": "function", "name": "look", "description": "Looks.",
                    "parameters": schema }],
                "input": [
                    { "role": "user", "content": "What is there?" },
                    { "type": "function_call", "call_id": "c1", "name": "look",
                        "arguments": arguments.to_string() },
                    { "type": "function_call_output", "call_id": "c1", "output": "files" },
                ],
            }),
        ),
        (
            ChatApi::AnthropicMessages,
            json!({
                "model": "m", "temperature": 0.5, "max_tokens": 100, "system": "Be brief.",
                "tools": [{ "name": "look", "description": "Looks.", "input_schema": schema }],
                "messages": [
                    { "role": "user", "content": "What is there?" },
                    { "role": "assistant", "content": [{ "type": "tool_use", "id": "c1",
                        "name": "look", "input": arguments }] },
                    { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1",
                        "content": "files" }] },
                ],
            }),
        ),
        (
            ChatApi::Ollama,
            json!({
                "model": "m", "options": { "temperature": 0.5 },
                "tools": [{ "type": "function", "function": function }],
                "messages": [
                    { "role": "system", "content": "Be brief." },
                    { "role": "user", "content": "What is there?" },
                    { "role": "assistant", "content": "",
                        "tool_calls": [{ "function": { "name": "look", "arguments": arguments } }] },
                    { "role": "tool", "tool_name": "look", "content": "files" },
                ],
            }),
        ),
    ]
}

#[tokio::test]
async fn a_conversation_is_one_whatever_api_it_comes_by() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let mut keys = Vec::new();
    for (api, body) in same() {
        let read = read(&client, api, &body).await;
        assert_eq!(read.model, "m", "{api:?}");
        assert_eq!(read.state(), v1::ChatState::ResultReceived, "{api:?}");
        assert_eq!(read.sampling.as_ref().unwrap().temperature, Some(0.5), "{api:?}");
        let auto = Some(Choice::Auto(v1::ChoiceAuto {}));
        assert_eq!(read.choice.clone().unwrap().choice, auto, "{api:?}");
        let tools: Value = serde_json::from_str(&read.tools_json).unwrap();
        let tool = json!([{ "name": "look", "description": "Looks.", "parameters": schema() }]);
        assert_eq!(tools, tool, "{api:?}");
        let turns: Vec<_> = read.turns.iter().map(|turn| turn.turn.clone().unwrap()).collect();
        let [Turn::System(system), Turn::User(user), Turn::Assistant(made), Turn::Result(result)] =
            turns.as_slice()
        else {
            panic!("{api:?}: {turns:?}")
        };
        let text = |text: &str| vec![v1::ChatPart { part: Some(Part::Text(text.to_owned())) }];
        assert_eq!((system.as_str(), &user.parts), ("Be brief.", &text("What is there?")));
        let [call] = made.calls.as_slice() else { panic!("{api:?}: {made:?}") };
        assert_eq!(
            (call.name.as_str(), call.arguments_json.as_str()),
            ("look", "{\"path\":\"a\"}")
        );
        assert_eq!((&result.call_id, &result.parts), (&call.id, &text("files")), "{api:?}");
        assert!(!result.is_error);
        assert_eq!(read.conversation_key.len(), 32);
        keys.push(read.conversation_key);
        // What was read is what the other calls take.
        let own = v1::BridgeTools { tools_json: read.tools_json, ..Default::default() };
        let request =
            v1::RenderPromptRequest { tools: Some(own), choice: read.choice, ..Default::default() };
        let prompt = client.bridge().render_prompt(request).await.unwrap().into_inner();
        assert!(prompt.text.contains("look"), "{}", prompt.text);
    }
    keys.dedup();
    assert_eq!(keys.len(), 1, "{keys:?}");
    daemon.stop();
}

#[tokio::test]
async fn tools_that_a_turn_does_not_repeat_are_remembered_and_sloppy_ones_opened() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let [(api, mut body), ..] = same();
    let first = read(&client, api, &body).await;
    body.as_object_mut().unwrap().remove("tools");
    let outcome = normalize(&client, api, body.to_string(), &first.tools_json).await.unwrap();
    let Outcome::Normalized(second) = outcome else { panic!("{outcome:?}") };
    assert_eq!(second.tools_json, first.tools_json);
    assert_eq!(second.conversation_key, first.conversation_key);
    let codes = |read: &v1::NormalizedRequest| -> Vec<String> {
        read.notes.iter().map(|note| note.code.clone()).collect()
    };
    assert_eq!(codes(&second), ["tools_remembered"]);

    body["tools"] = json!([{ "type": "function", "function": { "name": "look",
        "parameters": { "type": "object", "properties": { "path": { "type": "none" } } } } }]);
    let sloppy = read(&client, api, &body).await;
    assert!(codes(&sloppy).contains(&"schema_ignored".to_owned()), "{:?}", sloppy.notes);
    let tools = Some(v1::BridgeTools { tools_json: sloppy.tools_json, ..Default::default() });
    let request = v1::RenderPromptRequest { tools, ..Default::default() };
    assert!(client.bridge().render_prompt(request).await.is_ok());

    let broken = normalize(&client, api, body.to_string(), "[{}]").await.unwrap_err();
    assert_eq!(reason(&broken), "TOOLS_INVALID");
    let large = normalize(&client, api, body.to_string(), &" ".repeat(2 << 20)).await.unwrap_err();
    assert_eq!(reason(&large), "REQUEST_INVALID");
    daemon.stop();
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_refused_in_the_words_of_their_api() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (api, _) in same() {
        for body in ["", "nothing", "[]", "{\"messages\": 7, \"input\": 7}", &deep] {
            let refusal = refused(&client, api, body).await;
            assert_eq!(refusal.http_status, 400, "{api:?} {refusal:?}");
            assert!(!refusal.code.is_empty() && !refusal.message.is_empty());
            let said: Value = serde_json::from_str(&refusal.body_json).unwrap();
            let message = match api {
                ChatApi::Ollama => &said["error"],
                _ => &said["error"]["message"],
            };
            let message = message.as_str().unwrap_or_else(|| panic!("{api:?}: {said}"));
            assert!(message.contains(&refusal.message), "{said}");
        }
    }
    let [(api, mut body), ..] = same();
    body["messages"][1]["content"] = json!(7);
    let refusal = refused(&client, api, body.to_string()).await;
    assert_eq!(refusal.param, "messages[1].content", "{refusal:?}");
    let patterns: Vec<_> = (0..513).map(|n| json!({ "pattern": format!("{n}") })).collect();
    let [(api, mut body), ..] = same();
    body["tools"][0]["function"]["parameters"]["anyOf"] = json!(patterns);
    let refusal = refused(&client, api, body.to_string()).await;
    assert_eq!((refusal.code.as_str(), refusal.http_status), ("too_large", 413), "{refusal:?}");
    for api in [0, 9] {
        let request = v1::NormalizeRequest { api, ..Default::default() };
        let status = client.bridge().normalize(request).await.unwrap_err();
        assert_eq!((status.code(), reason(&status)), {
            (Code::InvalidArgument, "REQUEST_INVALID".to_owned())
        });
    }
    let nobody = daemon.connect(None).await;
    let status = normalize(&nobody, ChatApi::Ollama, "{}", "").await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
    daemon.stop();
}
