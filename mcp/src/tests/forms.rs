//! Forms: answered, answered twice, late, never, and by somebody else; with a session and without.

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData,
};
use rmcp::service::{RequestContext, RoleClient, ServiceExt as _};

use super::*;

/// A client that has forms, which stay open for so long.
async fn with_forms(form_wait: Duration) -> Client {
    let options = McpOptions::new(ToolSet::All).unwrap().deciding_by_form(true);
    let mut client = Client::with(options.waiting_for_forms(form_wait));
    let mut hello = initialize("2025-11-25");
    hello["params"]["capabilities"] = json!({ "elicitation": {} });
    client.send(&hello).await;
    client.next().await;
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client
}

fn call(id: u64, name: &str) -> Value {
    let arguments = json!({ "question": "Tabs?", "choices": ["tabs", "spaces"] });
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn answer(form: &Value, content: Value) -> Value {
    let result = json!({ "action": "accept", "content": content });
    json!({ "jsonrpc": "2.0", "id": form["id"], "result": result })
}

impl Client {
    /// Calls a tool and returns the form that it shows.
    async fn asked(&mut self, id: u64, name: &str) -> Value {
        self.send(&call(id, name)).await;
        loop {
            let form = self.next().await;
            if form["method"] == "elicitation/create" {
                return form;
            }
            // The form before it may have been withdrawn.
            assert_eq!(form["method"], "notifications/cancelled", "{form}");
        }
    }

    /// What the tool returns.
    async fn output(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return message["result"]["structuredContent"].clone();
            }
        }
    }
}

#[tokio::test]
async fn a_form_that_nobody_answers_decides_nothing_and_a_late_answer_is_for_nobody() {
    let mut client = with_forms(Duration::from_millis(1)).await;
    let form = client.asked(1, "ask").await;
    assert_eq!(client.output(1).await["decided"], "None");
    // The person is quicker with the next one than it takes to expire, and the late answer is no answer to it.
    client.send(&answer(&form, json!({ "decision": "allow_once" }))).await;
    client.asked(2, "ask").await;
    client.send(&answer(&form, json!({ "decision": "allow_once" }))).await;
    assert_eq!(client.output(2).await["decided"], "None");
    assert_eq!(client.request(json!(3), "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn an_answer_counts_once_and_for_its_own_form() {
    let mut client = with_forms(WAIT_MAX).await;
    let first = client.asked(1, "ask").await;
    let mut foreign = first.clone();
    for id in [json!(4_711), json!("x"), json!(null)] {
        foreign["id"] = id;
        client.send(&answer(&foreign, json!({ "decision": "allow_once" }))).await;
    }
    client.send(&answer(&first, json!({ "decision": "deny", "reason": "no" }))).await;
    client.send(&answer(&first, json!({ "decision": "allow_once" }))).await;
    assert_eq!(client.output(1).await["decided"], "Some(Deny(\"no\"))");
    let second = client.asked(2, "ask").await;
    assert_ne!(first["id"], second["id"]);
    client.send(&answer(&first, json!({ "decision": "allow_session" }))).await;
    client.send(&answer(&second, json!({ "decision": "allow_once" }))).await;
    assert_eq!(client.output(2).await["decided"], "Some(AllowOnce)");
}

#[tokio::test]
async fn a_form_is_shown_anew_where_nothing_comes_back_that_it_offers() {
    let mut client = with_forms(WAIT_MAX).await;
    for (id, unread) in [
        (1, json!({ "action": "accept", "content": { "decision": "zz" } })),
        (2, json!({ "action": "accept", "content": {} })),
        (3, json!({ "action": "accept" })),
        (4, json!({ "action": "foo" })),
        (5, json!({ "content": { "decision": "allow_once" } })),
        (6, json!({})),
    ] {
        let form = client.asked(id, "ask").await;
        client.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": unread })).await;
        let anew = client.next().await;
        assert_eq!(anew["params"]["message"], form["params"]["message"], "{unread}: {anew}");
        client.send(&answer(&anew, json!({ "decision": "allow_once" }))).await;
        assert_eq!(client.output(id).await["decided"], "Some(AllowOnce)", "{unread}");
    }
    // A client that never returns anything else is not asked for ever.
    client.send(&call(7, "ask")).await;
    let mut shown = 0;
    loop {
        let message = client.next().await;
        if message["id"] == 7 && message.get("method").is_none() {
            assert_eq!(message["result"]["structuredContent"]["decided"], "None", "{message}");
            break;
        }
        shown += 1;
        client.send(&answer(&message, json!({ "decision": "zz" }))).await;
    }
    assert_eq!(shown, 3);
}

#[tokio::test]
async fn a_form_is_withdrawn_where_somebody_else_was_faster_and_the_next_one_is_shown() {
    let mut client = with_forms(WAIT_MAX).await;
    let first = client.asked(1, "ask_two_doors").await;
    client.send(&call(2, "other_door")).await;
    let mut withdrawn = false;
    let second = loop {
        let message = client.next().await;
        match message["method"].as_str() {
            Some("elicitation/create") => break message,
            Some("notifications/cancelled") => {
                assert_eq!(message["params"]["requestId"], first["id"]);
                withdrawn = true;
            }
            _ => assert_eq!(message["id"], 2, "{message}"),
        }
    };
    assert_eq!(second["params"]["message"], "And that?");
    // What the person says to the first one is for nobody.
    client.send(&answer(&first, json!({ "decision": "allow_once" }))).await;
    client.send(&answer(&second, json!({ "decision": "deny" }))).await;
    loop {
        let message = client.next().await;
        withdrawn |= message["method"] == "notifications/cancelled";
        if message["id"] == 1 && message.get("method").is_none() {
            let decided = &message["result"]["structuredContent"]["decided"];
            assert_eq!(decided, "Some(Deny(\"\"))", "{message}");
            break;
        }
    }
    while !withdrawn {
        withdrawn = client.next().await["method"] == "notifications/cancelled";
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_its_form_is_open_ends() {
    let mut client = with_forms(WAIT_MAX).await;
    for (id, name) in [(1, "ask"), (2, clarify::TOOL)] {
        let form = client.asked(id, name).await;
        let params = json!({ "requestId": id });
        client
            .send(
                &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
            )
            .await;
        let withdrawn = client.next().await;
        assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
        assert_eq!(withdrawn["params"]["requestId"], form["id"]);
        client.send(&answer(&form, json!({ "decision": "allow_once", "answer": "x" }))).await;
        assert_eq!(client.request(json!("after"), "ping", json!({})).await["result"], json!({}));
    }
}

#[tokio::test(start_paused = true)]
async fn forms_and_subscriptions_end_with_the_input() {
    let mut client = with_forms(WAIT_MAX * 60).await;
    client.asked(1, "ask").await;
    client.asked(2, clarify::TOOL).await;
    let listen = stateless(json!({ "notifications": { "toolsListChanged": true } }));
    let message =
        json!({ "jsonrpc": "2.0", "id": 3, "method": "subscriptions/listen", "params": listen });
    client.send(&message).await;
    let acknowledged = client.next().await["method"].clone();
    assert_eq!(acknowledged, "notifications/subscriptions/acknowledged");
    let begun = tokio::time::Instant::now();
    drop(client.input.take());
    let decided = client.output(1).await["decided"].clone();
    assert_eq!(decided, "None");
    tokio::time::timeout(WAIT_MAX, client.served).await.unwrap().unwrap();
    // The clock stands still: nothing waited for a timer.
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn a_question_that_nobody_answered_is_a_form_of_the_client() {
    let mut client = with_forms(WAIT_MAX).await;
    let form = client.asked(1, clarify::TOOL).await;
    assert_eq!(form["params"]["message"], "Tabs?");
    let schema = &form["params"]["requestedSchema"]["properties"]["answer"];
    assert_eq!(schema["enum"], json!(["tabs", "spaces"]));
    client.send(&answer(&form, json!({ "answer": "spaces" }))).await;
    let said = client.output(1).await;
    assert_eq!((&said["answered"], &said["answer"]), (&json!(true), &json!("spaces")), "{said}");
    let form = client.asked(2, clarify::TOOL).await;
    client
        .send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": { "action": "cancel" } }))
        .await;
    assert_eq!(client.output(2).await["answered"], false);
    // A client without forms has the question as its result, and nothing is asked.
    let mut client = Client::initialized(ToolSet::All, "2025-11-25").await;
    client.send(&call(1, clarify::TOOL)).await;
    assert_eq!(client.next().await["result"]["structuredContent"]["answered"], false);
}

/// The parameters of a call that stands by itself, of a client that has forms.
pub(crate) fn alone() -> Value {
    let mut params = stateless(call(0, clarify::TOOL)["params"].clone());
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "elicitation": { "form": {} } });
    params
}

/// The same call with the state that it was answered with, and what the person says.
pub(crate) fn again(asked: &Value, action: &str) -> Value {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let mut params = alone();
    params["requestState"] = asked["requestState"].clone();
    let said = json!({ "action": action, "content": { "answer": "spaces" } });
    params["inputResponses"] = json!({ "answer": said });
    params
}

#[tokio::test]
async fn a_choice_is_shown_without_what_deceives_and_comes_back_as_it_was() {
    let arguments = json!({ "question": "Which\u{202e}?", "choices": ["a\u{1b}b", "c"] });
    let mut params = alone();
    params["arguments"] = arguments.clone();
    let mut client = with_forms(WAIT_MAX).await;
    client
        .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": clarify::TOOL, "arguments": arguments,
        }}))
        .await;
    let with_session = client.next().await;
    client.send(&answer(&with_session, json!({ "answer": "a\\u{1b}b" }))).await;
    assert_eq!(client.output(1).await["answer"], "a\u{1b}b");
    let mut client = Client::new(ToolSet::All);
    let asked = client.request(json!(1), "tools/call", params.clone()).await["result"].clone();
    for form in [&with_session["params"], &asked["inputRequests"]["answer"]["params"]] {
        assert_eq!(form["message"], "Which\\u{202e}?");
        let names = &form["requestedSchema"]["properties"]["answer"]["enum"];
        assert_eq!(*names, json!(["a\\u{1b}b", "c"]));
    }
    let mut said = again(&asked, "accept");
    said["arguments"] = params["arguments"].clone();
    said["inputResponses"]["answer"]["content"]["answer"] = json!("a\\u{1b}b");
    let said = client.request(json!(2), "tools/call", said).await;
    assert_eq!(said["result"]["structuredContent"]["answer"], "a\u{1b}b", "{said}");
}

#[tokio::test]
async fn a_question_of_a_call_that_stands_by_itself_is_part_of_its_result() {
    // Whatever the person enabled: it decides about no effect.
    for decides in [false, true] {
        let options = McpOptions::new(ToolSet::All).unwrap().deciding_by_form(decides);
        let mut client = Client::with(options);
        let asked = client.request(json!(1), "tools/call", alone()).await["result"].clone();
        let form = &asked["inputRequests"]["answer"];
        assert_eq!(form["method"], "elicitation/create", "{asked}");
        assert_eq!(form["params"]["message"], "Tabs?");
        let mut other = again(&asked, "accept");
        other["arguments"]["question"] = json!("Spaces?");
        // The client is at fault, not the model.
        let foreign = client.request(json!(2), "tools/call", other).await["error"].clone();
        assert_eq!(foreign["code"], -32602, "{foreign}");
        assert!(foreign.to_string().contains("request_state_invalid"), "{foreign}");
        // A response that is missing is asked for anew.
        let mut unread = again(&asked, "accept");
        unread["inputResponses"] = json!({ "Answer": {} });
        let anew = client.request(json!(2), "tools/call", unread).await["result"].clone();
        assert_eq!(anew["inputRequests"]["answer"]["params"]["message"], "Tabs?", "{anew}");
        // So is one that is no reply.
        let mut unread = again(&asked, "accept");
        unread["inputResponses"]["answer"]["content"] = json!({});
        let anew = client.request(json!(2), "tools/call", unread).await["result"].clone();
        assert_eq!(anew["inputRequests"]["answer"]["params"]["message"], "Tabs?", "{anew}");
        let said = client.request(json!(3), "tools/call", again(&asked, "accept")).await;
        let said = &said["result"]["structuredContent"];
        assert_eq!((&said["answered"], &said["answer"]), (&json!(true), &json!("spaces")));
        let replayed = client.request(json!(4), "tools/call", again(&asked, "accept")).await;
        assert!(replayed.to_string().contains("used before"), "{replayed}");
        let asked = client.request(json!(5), "tools/call", alone()).await["result"].clone();
        let closed = client.request(json!(6), "tools/call", again(&asked, "cancel")).await;
        assert_eq!(closed["result"]["structuredContent"]["answered"], false, "{closed}");
        // It was asked once each time: the answers are the client's.
        assert_eq!(client.uses().len(), 4);
    }
}

/// rmcp's client, whose person does the same with every form.
pub(crate) struct RmcpClient(pub(crate) ElicitationAction, pub(crate) Arc<Mutex<Vec<String>>>);

impl ClientHandler for RmcpClient {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.capabilities = ClientCapabilities::builder().enable_elicitation().build();
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if let ElicitRequestParams::FormElicitationParams { message, .. } = request {
            self.1.lock().unwrap().push(message);
        }
        let mut result = ElicitResult::new(self.0.clone());
        result.content = (self.0 == ElicitationAction::Accept)
            .then(|| json!({ "decision": "allow_once", "answer": "tabs" }));
        Ok(result)
    }
}

#[tokio::test]
async fn the_client_of_rmcp_lists_calls_and_answers_forms_in_every_way() {
    for (action, decided, answered) in [
        (ElicitationAction::Accept, "Some(AllowOnce)", true),
        (ElicitationAction::Decline, "Some(Deny(\"\"))", false),
        (ElicitationAction::Cancel, "None", false),
    ] {
        let backend = Arc::new(Recorded::new());
        let options = McpOptions::new(ToolSet::All).unwrap().deciding_by_form(true);
        let server = McpServer::new(Arc::new(Opener(backend)), options);
        let (input, server_input) = tokio::io::duplex(1 << 16);
        let (server_output, output) = tokio::io::duplex(1 << 16);
        tokio::spawn(serve_lines(server, server_input, server_output));
        let shown = Arc::new(Mutex::default());
        let client = RmcpClient(action.clone(), Arc::clone(&shown)).serve((output, input)).await;
        let client = client.unwrap();
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools.len(), 4);
        let output = async |name: &'static str| {
            let arguments = json!({ "question": "Tabs?" }).as_object().cloned().unwrap();
            let call = CallToolRequestParams::new(name).with_arguments(arguments);
            client.call_tool(call).await.unwrap().structured_content.unwrap()
        };
        assert_eq!(output("ask").await["decided"], decided, "{action:?}");
        assert_eq!(output(clarify::TOOL).await["answered"], answered, "{action:?}");
        let shown = shown.lock().unwrap().clone();
        assert!(shown[0].starts_with("May it?\n") && shown[0].ends_with(":\nask"), "{shown:?}");
        assert_eq!(shown[1..], ["Tabs?"]);
        client.cancel().await.unwrap();
    }
}
