//! Requests of the suite that stand by themselves and need something of the client: each is answered with
//! what is needed, and comes again with it. States are sealed, looked at and used up by moss's own front.

use moss_mcp::{ScriptedError, ScriptedRequest};
use serde_json::{Value, json};

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

/// What an accepted form says.
fn accepted<'r>(responses: &'r Value, key: &str) -> Option<&'r Value> {
    let response = &responses[key];
    (response["action"] == "accept").then(|| &response["content"]).filter(|said| said.is_object())
}

/// Whether a response to such a request came.
fn has(responses: &Value, key: &str, request: &Value) -> bool {
    match request["method"].as_str() {
        Some("elicitation/create") => accepted(responses, key).is_some(),
        _ => responses[key].is_object(),
    }
}

/// Asks for these, by name, and ends once all have come.
fn once(
    request: &ScriptedRequest<'_>,
    requests: Value,
    ended: impl FnOnce(&Value) -> Value,
) -> Result<Value, ScriptedError> {
    let all = |responses: &Value| {
        let mut asked = requests.as_object().into_iter().flatten();
        asked.all(|(key, request)| has(responses, key, request))
    };
    match request.rounds.taken(|_, responses| all(responses))? {
        Some(round) if round.is_over => Ok(ended(&request.params["inputResponses"])),
        _ => request.rounds.asking(requests, 1),
    }
}

/// Asks for one field of a form, and ends once it has come.
pub(crate) fn form(
    request: &ScriptedRequest<'_>,
    key: &str,
    (message, field): (&str, &str),
    ended: impl FnOnce(&Value) -> Value,
) -> Result<Value, ScriptedError> {
    let asked = json!({ key: elicitation(message, field, "string") });
    once(request, asked, |responses| ended(&responses[key]["content"][field]))
}

/// Asks twice, one after the other.
fn twice(request: &ScriptedRequest<'_>) -> Result<Value, ScriptedError> {
    let steps = [
        json!({ "step1": elicitation("Step 1: What is your name?", "name", "string") }),
        json!({ "step2": elicitation("Step 2: What is your favorite color?", "color", "string") }),
    ];
    let taken = request
        .rounds
        .taken(|number, responses| accepted(responses, &format!("step{number}")).is_some())?;
    let over = taken.map_or(0, |round| usize::from(round.number) - usize::from(!round.is_over));
    match steps.into_iter().nth(over) {
        Some(step) => request.rounds.asking(step, if over == 0 { 1 } else { 2 }),
        None => Ok(said("both steps came")),
    }
}

/// Answers a call of one of the tools.
pub(crate) fn tool(
    name: &str,
    request: &ScriptedRequest<'_>,
) -> Option<Result<Value, ScriptedError>> {
    Some(match name {
        "test_input_required_result_elicitation" => {
            form(request, "user_name", ("What is your name?", "name"), |name| {
                said(&format!("Hello, {name}!"))
            })
        }
        "test_input_required_result_sampling" => {
            let question =
                json!({ "capital_question": sampling("What is the capital of France?") });
            once(request, question, |responses| {
                said(&format!("The model says: {}", responses["capital_question"]["content"]))
            })
        }
        "test_input_required_result_list_roots" => {
            once(request, json!({ "client_roots": roots() }), |responses| {
                said(&format!("The roots are {}", responses["client_roots"]["roots"]))
            })
        }
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => {
            let confirm = json!({ "confirm": elicitation("Please confirm", "ok", "boolean") });
            once(request, confirm, |_| said("state-ok"))
        }
        "test_input_required_result_multiple_inputs" => {
            let requests = json!({
                "user_name": elicitation("What is your name?", "name", "string"),
                "greeting": sampling("Generate a greeting"),
                "client_roots": roots(),
            });
            once(request, requests, |_| said("all three came"))
        }
        "test_input_required_result_multi_round" => twice(request),
        "test_input_required_result_capabilities" => {
            let has = &request.meta["io.modelcontextprotocol/clientCapabilities"];
            let mut requests = json!({});
            if has.get("sampling").is_some() {
                requests["greeting"] = sampling("Generate a greeting");
            }
            if has.get("elicitation").is_some() {
                requests["user_name"] = elicitation("What is your name?", "name", "string");
            }
            once(request, requests, |_| said("all came"))
        }
        _ => return None,
    })
}

/// Answers a request for the prompt that needs something.
pub(crate) fn prompt(
    name: &str,
    request: &ScriptedRequest<'_>,
) -> Option<Result<Value, ScriptedError>> {
    if name != "test_input_required_result_prompt" {
        return None;
    }
    let asked = ("What context should the prompt use?", "context");
    Some(form(request, "user_context", asked, |context| {
        let content = json!({ "type": "text", "text": format!("Use this context: {context}") });
        json!({ "messages": [{ "role": "user", "content": content }] })
    }))
}
