//! Requests of the suite that stand by themselves and need something of the client: each is answered with
//! what is needed, and comes again with it.

use moss_mcp::{ScriptedError, ScriptedRequest};
use serde_json::{Map, Value, json};

use super::script::said;

/// The tools that are answered here.
pub(crate) const TOOLS: [&str; 8] = [
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

/// A result that asks for these, with a state to bring back.
fn required(requests: Value, state: Option<String>) -> Value {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    result
}

fn elicitation(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({
        "type": "object", "properties": { field: { "type": kind } }, "required": [field],
    });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

fn sampling(text: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    let params = json!({ "messages": [message], "maxTokens": 100 });
    json!({ "method": "sampling/createMessage", "params": params })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// A result that asks for a form of one field.
pub(crate) fn form(key: &str, message: &str, field: &str, state: Option<String>) -> Value {
    let mut requests = Map::new();
    requests.insert(key.to_owned(), elicitation(message, field, "string"));
    required(requests.into(), state)
}

/// What an accepted form says.
fn accepted<'r>(request: &'r ScriptedRequest<'_>, key: &str) -> Option<&'r Value> {
    let response = &request.params["inputResponses"][key];
    (response["action"] == "accept").then(|| &response["content"])
}

/// Answers a call of one of the tools.
pub(crate) fn tool(
    name: &str,
    request: &ScriptedRequest<'_>,
) -> Option<Result<Value, ScriptedError>> {
    let responses = &request.params["inputResponses"];
    Some(Ok(match name {
        "test_input_required_result_elicitation" => match accepted(request, "user_name") {
            Some(content) => said(&format!("Hello, {}!", content["name"])),
            None => form("user_name", "What is your name?", "name", None),
        },
        "test_input_required_result_sampling" => match &responses["capital_question"] {
            Value::Object(answer) => said(&format!("The model says: {:?}", answer.get("content"))),
            _ => {
                let question = sampling("What is the capital of France?");
                required(json!({ "capital_question": question }), None)
            }
        },
        "test_input_required_result_list_roots" => match &responses["client_roots"] {
            Value::Object(answer) => said(&format!("The roots are {:?}", answer.get("roots"))),
            _ => required(json!({ "client_roots": roots() }), None),
        },
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => {
            return Some(confirmed(name, request));
        }
        "test_input_required_result_multiple_inputs" => match opened(name, request) {
            Some(Ok(_)) => said("all three came"),
            Some(Err(error)) => return Some(Err(error)),
            None => {
                let requests = json!({
                    "user_name": elicitation("What is your name?", "name", "string"),
                    "greeting": sampling("Generate a greeting"),
                    "client_roots": roots(),
                });
                required(requests, request.client.sealed("1", name))
            }
        },
        "test_input_required_result_multi_round" => {
            let state = |round: &str| request.client.sealed(round, name);
            match opened(name, request) {
                None => form("step1", "Step 1: What is your name?", "name", state("1")),
                Some(Ok(round)) if round == "1" => {
                    form("step2", "Step 2: What is your favorite color?", "color", state("2"))
                }
                Some(Ok(_)) => said("both steps came"),
                Some(Err(error)) => return Some(Err(error)),
            }
        }
        "test_input_required_result_capabilities" => {
            let has = &request.meta["io.modelcontextprotocol/clientCapabilities"];
            let mut requests = Map::new();
            if has.get("sampling").is_some() {
                requests.insert("greeting".to_owned(), sampling("Generate a greeting"));
            }
            if has.get("elicitation").is_some() {
                let asked = elicitation("What is your name?", "name", "string");
                requests.insert("user_name".to_owned(), asked);
            }
            required(requests.into(), None)
        }
        _ => return None,
    }))
}

/// Asks once, and holds what comes back to the state that went out.
fn confirmed(name: &str, request: &ScriptedRequest<'_>) -> Result<Value, ScriptedError> {
    match opened(name, request) {
        Some(state) => state.map(|_| said("state-ok")),
        None => {
            let confirm = elicitation("Please confirm", "ok", "boolean");
            Ok(required(json!({ "confirm": confirm }), request.client.sealed("1", name)))
        }
    }
}

/// The state that came with a request; none where there is none.
fn opened(name: &str, request: &ScriptedRequest<'_>) -> Option<Result<String, ScriptedError>> {
    let state = request.params["requestState"].as_str()?;
    Some(request.client.opened(state, name).ok_or_else(|| ScriptedError {
        code: -32602,
        message: "`requestState` is not one that was made for this call".to_owned(),
        data: None,
    }))
}

/// Answers a request for the prompt that needs something.
pub(crate) fn prompt(name: &str, request: &ScriptedRequest<'_>) -> Option<Value> {
    if name != "test_input_required_result_prompt" {
        return None;
    }
    Some(match accepted(request, "user_context") {
        Some(content) => {
            let text = format!("Use this context: {}", content["context"]);
            let content = json!({ "type": "text", "text": text });
            json!({ "messages": [{ "role": "user", "content": content }] })
        }
        None => form("user_context", "What context should the prompt use?", "context", None),
    })
}
