//! Connections as clients see them: lines in, lines out, and a backend that only remembers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use moss_sdk::context::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

pub(crate) mod forms;

use crate::lines::LINE_BYTES_MAX;
use crate::{
    BackendOpener, CallFault, CallNote, ClientForm, CommandArtifact, FormReply, McpOptions,
    McpServer, ToolBackend, ToolSet, ToolUse, UseReply, clarify, serve_lines,
};

/// Longest wait for anything.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(20);

/// A backend with three tools: `echo` returns its arguments, `hang` waits for ever, `fail` fails. It does not
/// list `ask`, which returns what a form decided, and `clarify`, which nobody answers.
#[derive(Debug)]
pub(crate) struct Recorded {
    tools: Mutex<Vec<Value>>,
    pub(crate) uses: Mutex<Vec<ToolUse>>,
    roots: Mutex<Vec<Vec<String>>>,
    changes: watch::Sender<u64>,
    /// Is told when a call of `hang` is dropped.
    pub(crate) hung: Mutex<Option<oneshot::Sender<()>>>,
    /// Somebody else has decided about the first effect of `ask_two_doors`.
    other_door: Notify,
}

#[derive(Debug)]
pub(crate) struct Opener(pub(crate) Arc<Recorded>);

/// Opens nothing until that is allowed; `echo` is native.
#[derive(Debug)]
struct ClosedOpener(Arc<Recorded>, Mutex<bool>);

struct Client {
    input: Option<DuplexStream>,
    output: tokio::io::Lines<BufReader<DuplexStream>>,
    backend: Arc<Recorded>,
    served: JoinHandle<()>,
}

/// Tells when it is dropped.
struct Dropped(Option<oneshot::Sender<()>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(());
        }
    }
}

fn definition(name: &str, is_read_only: bool) -> Value {
    json!({
        "name": name, "title": name, "description": format!("Does {name}. And more."),
        "inputSchema": { "type": "object" }, "outputSchema": { "type": "object" },
        "annotations": {
            "title": name, "readOnlyHint": is_read_only, "destructiveHint": !is_read_only,
            "idempotentHint": is_read_only, "openWorldHint": false,
        },
    })
}

fn reply(result: Result<String, CallFault>) -> UseReply {
    let (call_id, digest) = ("c1".to_owned(), String::new());
    let (content, changes) = (Vec::new(), Vec::new());
    UseReply { call_id, result, content, changes, digest, history: 0 }
}

/// A question about an effect, and where its reply comes.
fn question(text: &str, rule: Option<&str>) -> (CallNote, oneshot::Receiver<FormReply>) {
    let (answer, answered) = oneshot::channel();
    let (text, session_rule) = (text.to_owned(), rule.map(str::to_owned));
    (CallNote::Form { form: ClientForm::Decision { text, session_rule }, answer }, answered)
}

impl Recorded {
    pub(crate) fn new() -> Self {
        let tools = [("echo", true), ("fail", false), ("hang", false), ("read_file", true)];
        Self {
            tools: Mutex::new(tools.map(|(name, is)| definition(name, is)).to_vec()),
            uses: Mutex::default(),
            roots: Mutex::default(),
            changes: watch::Sender::new(0),
            hung: Mutex::default(),
            other_door: Notify::new(),
        }
    }
}

impl ToolBackend for Recorded {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Value>, CallFault>> {
        Box::pin(async { Ok(self.tools.lock().unwrap().clone()) })
    }

    fn call(
        &self,
        request: ToolUse,
        notes: mpsc::Sender<CallNote>,
    ) -> BoxFuture<'_, Result<UseReply, CallFault>> {
        self.uses.lock().unwrap().push(request.clone());
        Box::pin(async move {
            match request.name.as_str() {
                "echo" => {
                    for done in [1, 1, 2] {
                        let message = format!("step {done}");
                        let note = CallNote::Progress { message, done, total: Some(2) };
                        notes.send(note).await.unwrap();
                    }
                    Ok(reply(Ok(request.arguments_json)))
                }
                "fail" => {
                    let fault = CallFault::new("not_found", "there is no a.txt");
                    Ok(reply(Err(fault.hint("list_directory shows what there is"))))
                }
                "hang" => {
                    let _dropped = Dropped(self.hung.lock().unwrap().take());
                    std::future::pending().await
                }
                "ask" => {
                    let (asked, answered) = question("May it?", Some("ask"));
                    notes.send(asked).await.unwrap();
                    let decided = format!("{:?}", answered.await.ok());
                    Ok(reply(Ok(json!({ "decided": decided }).to_string())))
                }
                "ask_two_doors" => {
                    let (first, over) = question("May it?", None);
                    notes.send(first).await.unwrap();
                    self.other_door.notified().await;
                    drop(over);
                    let (second, answered) = question("And that?", None);
                    notes.send(second).await.unwrap();
                    let decided = format!("{:?}", answered.await.ok());
                    Ok(reply(Ok(json!({ "decided": decided }).to_string())))
                }
                "other_door" => {
                    self.other_door.notify_one();
                    Ok(reply(Ok("{}".to_owned())))
                }
                clarify::TOOL => Ok(reply(Ok(clarify::output(None)))),
                other => Err(CallFault::new("tool_unknown", format!("there is no tool `{other}`"))),
            }
        })
    }

    fn artifacts(&self) -> BoxFuture<'_, Result<Vec<CommandArtifact>, CallFault>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn notes(&self, tools: Vec<String>) -> BoxFuture<'_, Result<String, CallFault>> {
        let notes = tools.iter().map(|tool| format!("Use {tool}."));
        let notes = notes.collect::<Vec<_>>().join(" ");
        Box::pin(async { Ok(notes) })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

impl BackendOpener for Opener {
    fn wants_roots(&self) -> bool {
        true
    }

    fn open(&self, roots: Vec<String>) -> BoxFuture<'_, Result<Arc<dyn ToolBackend>, CallFault>> {
        self.0.roots.lock().unwrap().push(roots);
        Box::pin(async { Ok(Arc::clone(&self.0) as Arc<dyn ToolBackend>) })
    }
}

impl BackendOpener for ClosedOpener {
    fn wants_roots(&self) -> bool {
        false
    }

    fn native_tools(&self) -> Vec<Value> {
        vec![definition("echo", true)]
    }

    fn open(&self, _: Vec<String>) -> BoxFuture<'_, Result<Arc<dyn ToolBackend>, CallFault>> {
        let opened = Arc::clone(&self.0) as Arc<dyn ToolBackend>;
        let fault = CallFault::new("workspace_unusable", "no project is open");
        let may_open = *self.1.lock().unwrap();
        Box::pin(async move { may_open.then_some(opened).ok_or(fault) })
    }
}

impl Client {
    fn new(set: ToolSet) -> Self {
        Self::with(McpOptions::new(set).unwrap())
    }

    fn with(options: McpOptions) -> Self {
        let backend = Arc::new(Recorded::new());
        Self::of(Arc::clone(&backend), Arc::new(Opener(backend)), options)
    }

    fn of(backend: Arc<Recorded>, opener: Arc<dyn BackendOpener>, options: McpOptions) -> Self {
        let server = McpServer::new(opener, options);
        let (input, server_input) = tokio::io::duplex(1 << 16);
        let (server_output, output) = tokio::io::duplex(1 << 16);
        let served = tokio::spawn(serve_lines(server, server_input, server_output));
        let output = BufReader::new(output).lines();
        Self { input: Some(input), output, backend, served }
    }

    /// A client that has agreed on a revision.
    async fn initialized(set: ToolSet, revision: &str) -> Self {
        let mut client = Self::new(set);
        client.send(&initialize(revision)).await;
        let response = client.next().await;
        assert_eq!(response["result"]["protocolVersion"], revision, "{response}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    async fn send(&mut self, message: &Value) {
        self.line(message.to_string().as_bytes()).await;
    }

    async fn line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(WAIT_MAX, self.output.next_line()).await;
        let line = line.expect("a response in time").unwrap().expect("a response");
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request and returns the response to it, whatever comes before.
    async fn request(&mut self, id: Value, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message).await;
        loop {
            let response = self.next().await;
            if response["id"] == id && response.get("method").is_none() {
                return response;
            }
        }
    }

    async fn tool_names(&mut self) -> Vec<String> {
        let listed = self.request(json!("names"), "tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    fn uses(&self) -> Vec<(String, String)> {
        let uses = self.backend.uses.lock().unwrap();
        uses.iter().map(|one| (one.name.clone(), one.arguments_json.clone())).collect()
    }
}

pub(crate) fn initialize(revision: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision, "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    }})
}

/// The metadata of a request that belongs to no session.
pub(crate) fn stateless(params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

#[tokio::test]
async fn every_revision_with_a_session_is_answered_with_itself() {
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::initialized(ToolSet::All, revision).await;
        let names = client.tool_names().await;
        assert_eq!(names, ["echo", "fail", "hang", "read_file"], "{revision}");
    }
}

#[tokio::test]
async fn revisions_of_past_and_future_are_answered_with_the_newest_that_has_sessions() {
    for revision in ["2024-11-05", "2031-01-01", "2026-07-28", "x"] {
        let mut client = Client::new(ToolSet::All);
        client.send(&initialize(revision)).await;
        assert_eq!(client.next().await["result"]["protocolVersion"], "2025-11-25", "{revision}");
    }
}

#[tokio::test]
async fn requests_without_a_session_name_their_revision_themselves() {
    let mut client = Client::new(ToolSet::All);
    let discovered = client.request(json!(1), "server/discover", stateless(json!({}))).await;
    let versions = &discovered["result"]["supportedVersions"];
    let expected = json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(*versions, expected, "{discovered}");
    let listed = client.request(json!(2), "tools/list", stateless(json!({}))).await;
    let result = &listed["result"];
    assert_eq!(result["tools"].as_array().unwrap().len(), 4);
    assert_eq!((&result["resultType"], &result["ttlMs"]), (&json!("complete"), &json!(60_000)));
    let call = stateless(json!({ "name": "echo", "arguments": { "a": 1 } }));
    let called = client.request(json!(3), "tools/call", call).await;
    assert_eq!(called["result"]["structuredContent"], json!({ "a": 1 }), "{called}");
    let mut future = stateless(json!({}));
    future["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let refused = client.request(json!(4), "tools/list", future).await;
    assert_eq!(refused["error"]["code"], -32022, "{refused}");
}

#[tokio::test]
async fn what_the_newest_revision_has_no_more_is_told_with_what_it_has() {
    let mut client = Client::new(ToolSet::All);
    // Before anything else a ping is only a probe.
    client.request(json!(0), "tools/list", stateless(json!({}))).await;
    for method in ["ping", "resources/subscribe", "no/such"] {
        let params = stateless(json!({ "uri": "moss://files/a" }));
        let refused = client.request(json!(1), method, params).await;
        assert_eq!(refused["error"]["code"], -32601, "{method}: {refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        let expected =
            format!("there is no method `{method}` here: this server has server/discover,");
        assert!(message.starts_with(&expected), "{message}");
        assert!(!message.contains("initialize"), "{message}");
    }
}

#[tokio::test]
async fn tools_have_a_picture_of_what_they_do_where_the_revision_has_them() {
    for (revision, has_icons) in [("2025-06-18", false), ("2025-11-25", true)] {
        let mut client = Client::initialized(ToolSet::Default, revision).await;
        let listed = client.request(json!(1), "tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        for tool in tools {
            let source = tool["icons"][0]["src"].as_str().unwrap_or_default();
            assert_eq!(source.starts_with("data:image/svg+xml,"), has_icons, "{tool}");
        }
    }
    let mut client = Client::new(ToolSet::All);
    let listed = client.request(json!(2), "tools/list", stateless(json!({}))).await;
    let icon = |name: &str| {
        let mut tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["name"] == name).unwrap()["icons"][0].clone()
    };
    assert_ne!(icon("echo"), icon("fail"), "one reads, one changes");
    assert_eq!(icon("echo")["mimeType"], "image/svg+xml");
}

#[tokio::test]
async fn a_probe_may_be_followed_by_a_session() {
    let mut client = Client::new(ToolSet::All);
    client.request(json!(1), "server/discover", stateless(json!({}))).await;
    client.send(&initialize("2025-11-25")).await;
    assert_eq!(client.next().await["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn a_result_is_structured_and_the_same_as_text() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let params = json!({ "name": "echo", "arguments": { "b": [1, 2.5, null], "a": "ü" } });
    let called = client.request(json!(7), "tools/call", params).await;
    let result = &called["result"];
    assert_eq!(result["structuredContent"], json!({ "b": [1, 2.5, null], "a": "ü" }));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    assert_eq!(result["_meta"]["moss/call"]["id"], "c1");
    assert!(result.get("resultType").is_none(), "{result}");
}

#[tokio::test]
async fn a_failed_tool_is_a_result_that_says_what_to_do() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let called = client.request(json!(1), "tools/call", json!({ "name": "fail" })).await;
    let result = &called["result"];
    assert_eq!(result["isError"], true);
    assert_eq!(
        result["content"][0]["text"],
        "not_found: there is no a.txt\nhint: list_directory shows what there is"
    );
    assert_eq!(result["_meta"]["moss/call"]["error"]["code"], "not_found");
    let unknown = client.request(json!(2), "tools/call", json!({ "name": "nope" })).await;
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("there is no tool `nope`"));
}

#[tokio::test]
async fn a_name_that_no_tool_has_is_an_error_that_says_where_the_names_are() {
    let named = ToolSet::Named { name: "mine".into(), tools: vec!["read_file".into()] };
    for (set, tool, hint) in [
        (ToolSet::Default, "nope", "find_tools without arguments the others"),
        (ToolSet::All, "nope", "the tools that there are here"),
        (named, "echo", "the tools that there are here"),
    ] {
        let mut client = Client::initialized(set, "2025-06-18").await;
        let unknown = client.request(json!(1), "tools/call", json!({ "name": tool })).await;
        let message = unknown["error"]["message"].as_str().unwrap();
        assert!(message.contains("\nhint: tools/list has") && message.contains(hint), "{message}");
    }
}

#[tokio::test]
async fn what_a_set_cannot_read_is_no_resource_of_it() {
    let set = |tools: &[&str]| ToolSet::Named {
        name: "mine".into(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
    };
    for (tools, templates) in [
        (&["fail"][..], &[][..]),
        (&["list_directory"], &[]),
        (&["read_file"], &["moss://files/{+path}"]),
        (&["diff_history"], &["moss://history/{number}"]),
    ] {
        let mut client = Client::initialized(set(tools), "2025-06-18").await;
        let listed = client.request(json!(1), "resources/list", json!({})).await;
        assert_eq!(listed["result"]["resources"], json!([]), "{tools:?}: {listed}");
        let listed = client.request(json!(2), "resources/templates/list", json!({})).await;
        let all = listed["result"]["resourceTemplates"].as_array().unwrap();
        let all: Vec<_> = all.iter().map(|one| one["uriTemplate"].as_str().unwrap()).collect();
        assert_eq!(all, templates, "{tools:?}");
        let params = json!({
            "ref": { "type": "ref/resource", "uri": "moss://files/{+path}" },
            "argument": { "name": "path", "value": "" },
        });
        let completed = client.request(json!(3), "completion/complete", params).await;
        assert_eq!(completed["result"]["completion"]["values"], json!([]), "{completed}");
        assert_eq!(client.uses(), []);
    }
}

#[tokio::test]
async fn notes_are_those_on_the_tools_that_the_client_sees() {
    let named = ToolSet::Named { name: "mine".into(), tools: vec!["gone".into()] };
    for (set, notes) in [
        (ToolSet::Default, "Use read_file."),
        (ToolSet::ReadOnly, "Use echo. Use read_file."),
        (ToolSet::All, "Use echo. Use fail. Use hang. Use read_file."),
        (named, "There are no notes on the tools of the set `mine`"),
    ] {
        let mut client = Client::initialized(set, "2025-06-18").await;
        let prompt = client.request(json!(1), "prompts/get", json!({ "name": "moss_notes" })).await;
        let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.starts_with(notes) && (text == notes || text.ends_with("used.")), "{text}");
    }
}

#[tokio::test]
async fn only_arguments_that_there_are_are_completed() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let tool = json!({ "type": "ref/prompt", "name": "moss_tool" });
    let mut complete = async |reference: &Value, name: &str| {
        let argument = json!({ "name": name, "value": "ec" });
        let params = json!({ "ref": reference, "argument": argument });
        client.request(json!(1), "completion/complete", params).await
    };
    let completed = complete(&tool, "name").await;
    assert_eq!(completed["result"]["completion"]["values"], json!(["echo"]), "{completed}");
    let notes = json!({ "type": "ref/prompt", "name": "moss_notes" });
    let change = json!({ "type": "ref/resource", "uri": "moss://history/{number}" });
    for (reference, why) in [
        (&tool, "moss_tool has no argument `tool`: it has `name`"),
        (&change, "moss://history/{number} has no argument `tool`: it has `number`"),
        (&notes, "moss_notes has no arguments"),
    ] {
        let refused = complete(reference, "tool").await;
        assert_eq!(refused["error"]["message"], why, "{refused}");
        assert_eq!(refused["error"]["code"], -32602);
    }
}

#[tokio::test]
async fn progress_is_sent_to_who_asks_for_it_and_only_grows() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let params = json!({ "name": "echo", "_meta": { "progressToken": "p" } });
    client
        .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
        .await;
    let mut seen = Vec::new();
    loop {
        let message = client.next().await;
        if message["id"] == 1 {
            break;
        }
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "p");
        seen.push((
            message["params"]["progress"].as_f64().unwrap(),
            message["params"]["message"].clone(),
        ));
    }
    assert_eq!(seen, [(1.0, json!("step 1")), (2.0, json!("step 2"))]);
    client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "echo" } })).await;
    assert_eq!(client.next().await["id"], 2, "nobody asked for progress");
}

#[tokio::test]
async fn a_cancelled_call_ends_and_frees_its_id() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let (sender, dropped) = oneshot::channel();
    *client.backend.hung.lock().unwrap() = Some(sender);
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "hang" } })).await;
    // It has begun once a second request with its id is refused.
    let refused = client.request(json!(5), "ping", json!({})).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("still runs"), "{refused}");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5, "reason": "no" } })).await;
    tokio::time::timeout(WAIT_MAX, dropped).await.unwrap().unwrap();
    let again = client.request(json!(5), "ping", json!({})).await;
    assert_eq!(again["result"], json!({}));
}

#[tokio::test]
async fn a_client_that_vanishes_cancels_its_calls() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let (sender, dropped) = oneshot::channel();
    *client.backend.hung.lock().unwrap() = Some(sender);
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "hang" } })).await;
    drop(client.input.take());
    tokio::time::timeout(WAIT_MAX, dropped).await.unwrap().unwrap();
    tokio::time::timeout(WAIT_MAX, client.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_list_is_announced_when_it_changed_and_only_then() {
    let mut client = Client::initialized(ToolSet::Default, "2025-06-18").await;
    assert_eq!(client.tool_names().await, ["read_file", "find_tools"]);
    while client.backend.changes.receiver_count() == 0 {
        tokio::task::yield_now().await;
    }
    // A tool that the set does not list changes nothing for this client.
    client.backend.tools.lock().unwrap().push(definition("other", true));
    client.backend.changes.send_modify(|count| *count += 1);
    while client.request(json!("p"), "ping", json!({})).await["result"] != json!({}) {}
    client.backend.tools.lock().unwrap().push(definition("patch", false));
    client.backend.changes.send_modify(|count| *count += 1);
    let announced = client.next().await;
    assert_eq!(announced["method"], "notifications/tools/list_changed");
    assert_eq!(client.tool_names().await, ["read_file", "patch", "find_tools"]);
}

#[tokio::test]
async fn subscriptions_hear_of_changes_without_a_session() {
    let mut client = Client::new(ToolSet::All);
    let params = stateless(json!({ "notifications": { "toolsListChanged": true } }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": params })).await;
    let acknowledged = client.next().await;
    assert_eq!(
        acknowledged["method"], "notifications/subscriptions/acknowledged",
        "{acknowledged}"
    );
    while client.backend.changes.receiver_count() == 0 {
        tokio::task::yield_now().await;
    }
    // The first list was made after the receiver.
    client.request(json!(1), "tools/list", stateless(json!({}))).await;
    client.backend.tools.lock().unwrap().clear();
    client.backend.changes.send_modify(|count| *count += 1);
    assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn native_tools_are_listed_while_no_workspace_can_be_opened_and_calls_say_why() {
    let backend = Arc::new(Recorded::new());
    let opener = Arc::new(ClosedOpener(Arc::clone(&backend), Mutex::new(false)));
    let options = McpOptions::new(ToolSet::All).unwrap();
    let mut client = Client::of(backend, Arc::clone(&opener) as _, options);
    client.send(&initialize("2025-06-18")).await;
    client.next().await;
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    assert_eq!(client.tool_names().await, ["echo"]);
    let called = client.request(json!(1), "tools/call", json!({ "name": "echo" })).await;
    assert_eq!(called["result"]["isError"], true, "{called}");
    let said = called["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(said, "workspace_unusable: no project is open");
    let params = json!({ "name": "moss_tool", "arguments": { "name": "echo" } });
    let prompt = client.request(json!(2), "prompts/get", params).await;
    assert!(prompt.get("error").is_none(), "{prompt}");
    *opener.1.lock().unwrap() = true;
    let params = json!({ "name": "fail" });
    client
        .send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params }))
        .await;
    // The list is another one now; what comes first is left open.
    let methods = [client.next().await, client.next().await].map(|seen| seen["method"].clone());
    assert!(methods.contains(&json!("notifications/tools/list_changed")), "{methods:?}");
    assert_eq!(client.tool_names().await, ["echo", "fail", "hang", "read_file"]);
}

#[tokio::test]
async fn sets_bound_what_is_seen_and_what_is_called() {
    let mut client = Client::initialized(ToolSet::ReadOnly, "2025-06-18").await;
    assert_eq!(client.tool_names().await, ["echo", "read_file"]);
    let refused = client.request(json!(1), "tools/call", json!({ "name": "fail" })).await;
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("the tool set `read-only` has no tool `fail`"), "{message}");
    assert_eq!(client.uses(), []);
    let named = ToolSet::Named { name: "mine".into(), tools: vec!["fail".into(), "gone".into()] };
    let mut client = Client::initialized(named, "2025-06-18").await;
    assert_eq!(client.tool_names().await, ["fail"]);
}

#[tokio::test]
async fn tools_that_are_not_listed_are_found_and_called() {
    let mut client = Client::initialized(ToolSet::Default, "2025-06-18").await;
    let find = async |client: &mut Client, arguments: Value| {
        let params = json!({ "name": "find_tools", "arguments": arguments });
        client.request(json!(1), "tools/call", params).await["result"].clone()
    };
    let all = find(&mut client, json!({})).await;
    assert_eq!(
        all["structuredContent"],
        json!({ "omitted": 0, "tools": [
            { "name": "echo", "description": "Does echo" },
            { "name": "fail", "description": "Does fail" },
            { "name": "hang", "description": "Does hang" },
        ]})
    );
    let found = find(&mut client, json!({ "query": "DOES hang" })).await;
    assert_eq!(found["structuredContent"]["tools"][0]["name"], "hang");
    assert_eq!(found["structuredContent"]["note"], Value::Null);
    for (query, name, note) in [
        ("hang for the languages", "hang", json!("no tool has most of these words: ")),
        ("echoes", "echo", Value::Null),
        ("language server", "", json!("no tool has any of these words: ")),
    ] {
        let found = find(&mut client, json!({ "query": query })).await["structuredContent"].clone();
        assert_eq!(found["tools"][0]["name"].as_str().unwrap_or_default(), name, "{found}");
        let noted = found["note"].as_str().unwrap_or_default();
        assert!(noted.starts_with(note.as_str().unwrap_or_default()), "{found}");
        assert_eq!(noted.contains("without `query` all are returned"), note != Value::Null);
    }
    let all_again = find(&mut client, json!({ "query": "the" })).await;
    assert_eq!(all_again["structuredContent"], all["structuredContent"]);
    let one = find(&mut client, json!({ "name": "echo" })).await;
    assert_eq!(one["structuredContent"]["tools"][0]["inputSchema"], json!({ "type": "object" }));
    for (wrong, why) in [
        (json!({ "name": "nope" }), "there is no tool `nope`"),
        (json!({ "name": 1 }), "/name: expected a text"),
        (json!({ "nane": "echo" }), "there is no parameter `nane`"),
        (json!([1]), "not an object"),
    ] {
        let result = find(&mut client, wrong).await;
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains(why), "{result}");
    }
    let called = client.request(json!(2), "tools/call", json!({ "name": "echo" })).await;
    assert_eq!(called["result"]["structuredContent"], json!({}));
}

/// A client that says that it has roots.
async fn with_roots() -> Client {
    let mut client = Client::new(ToolSet::All);
    let mut hello = initialize("2025-06-18");
    hello["params"]["capabilities"] = json!({ "roots": {} });
    client.send(&hello).await;
    client.next().await;
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client
}

#[tokio::test]
async fn the_roots_of_a_client_are_asked_for_once() {
    let mut client = with_roots().await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "roots/list");
    let roots = json!({ "roots": [{ "uri": "file:///a" }, { "uri": "file:///b", "name": "b" }] });
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots })).await;
    client.tool_names().await;
    client.tool_names().await;
    let seen = client.backend.roots.lock().unwrap().clone();
    assert_eq!(seen, [["file:///a".to_owned(), "file:///b".to_owned()]]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_names_its_roots_too_late_gets_no_other_directory() {
    let mut client = with_roots().await;
    let call = |id: u64| {
        let params = json!({ "name": "echo" });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    client.send(&call(1)).await;
    let refused = loop {
        let message = client.next().await;
        if message["method"] != "roots/list" {
            break message;
        }
    };
    let text = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("roots_missing: ") && text.contains("send the call again"), "{text}");
    client.send(&call(2)).await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "roots/list");
    let roots = json!({ "roots": [{ "uri": "file:///a" }] });
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots })).await;
    // That there are tools now may be announced before it.
    let called = loop {
        let message = client.next().await;
        if message["id"] == 2 && message.get("method").is_none() {
            break message;
        }
    };
    assert_eq!(called["result"]["structuredContent"], json!({}), "{called}");
    assert_eq!(*client.backend.roots.lock().unwrap(), [["file:///a".to_owned()]]);
}

/// Lines that are no messages, each with the code of its error and what that says.
const REFUSED: &[(&str, i32, &str)] = &[
    ("{", -32700, "not JSON"),
    ("hello", -32700, "not JSON"),
    ("1", -32600, "not a JSON-RPC message: invalid type: integer `1`, expected an object"),
    ("null", -32600, "not a JSON-RPC message: invalid type: null, expected an object"),
    ("[]", -32600, "batches"),
    ("[1]", -32600, "send each message by itself, on a line of its own"),
    (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, "batches"),
    ("{}", -32600, "`jsonrpc`"),
    (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, "`jsonrpc`"),
    (r#"{"jsonrpc":"2.0"}"#, -32600, "a `method`, a `result`"),
    (r#"{"jsonrpc":"2.0","id":1}"#, -32600, "a `method`, a `result`"),
    (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600, "duplicate field `id`"),
    (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600, "not a JSON-RPC message"),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}"#,
        -32602,
        "`params` of tools/list",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":1,"a":2}}"#,
        -32602,
        "the key `a` twice",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}"#,
        -32602,
        "`params` of tools/list",
    ),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, -32602, "`name` must be"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602, "`name` must be"),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#,
        -32602,
        "`name` must be",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":5}}"#,
        -32602,
        "`params` of tools/call",
    ),
    (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32601, "there is no method `no/such`"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe"}"#, -32601, "there is no method"),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"moss://files/a"}}"#,
        -32601,
        "there is no method `resources/subscribe` here: this server has initialize, ping, tools/list",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}"#,
        -32601,
        "there is no method `logging/setLevel`",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"1"}}"#,
        -32601,
        "there is no method `tasks/get`",
    ),
];

#[tokio::test]
async fn lines_that_are_no_messages_get_an_error_and_the_connection_stays() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    for (line, code, why) in REFUSED {
        client.line(line.as_bytes()).await;
        let response = client.next().await;
        assert_eq!(response["error"]["code"], *code, "{line}: {response}");
        let message = response["error"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{line}: {message}");
    }
    client.line(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}").await;
    let response = client.next().await;
    assert_eq!(response["error"]["code"], -32700);
    assert!(response["error"]["message"].as_str().unwrap().contains("not UTF-8: byte 23"));
    for nothing in ["", "   ", "\r", r#"{"jsonrpc":"2.0","id":77,"result":{}}"#] {
        client.line(nothing.as_bytes()).await;
    }
    assert_eq!(client.request(json!(1), "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_cursor_that_no_list_gave_is_refused_by_every_list() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        for (cursor, why) in
            [(json!(5), "`cursor` must be a text"), (json!("x"), "leave `cursor` out")]
        {
            let refused = client.request(json!(1), method, json!({ "cursor": cursor })).await;
            assert_eq!(refused["error"]["code"], -32602, "{method} {cursor}: {refused}");
            let message = refused["error"]["message"].as_str().unwrap();
            assert!(message.contains(why), "{method} {cursor}: {message}");
        }
    }
}

#[tokio::test]
async fn names_with_control_characters_come_back_as_escapes_and_short() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let deceptive = format!("a\u{1b}[31m\u{202e}\u{7}{}", "x".repeat(5_000));
    for (method, params) in [
        (deceptive.as_str(), json!({})),
        ("tools/list", json!({ &deceptive: 1, "cursor": 5 })),
        (
            "tools/call",
            json!({ "name": "find_tools", "_meta": { "progressToken": &deceptive, "x": [] }, "arguments": {} }),
        ),
        ("prompts/get", json!({ "name": &deceptive })),
        ("prompts/get", json!({ "name": "moss_tool", "arguments": { "name": &deceptive } })),
        ("resources/read", json!({ "uri": &deceptive })),
        ("resources/read", json!({ "uri": format!("moss://files/{deceptive}") })),
    ] {
        let response = client.request(json!(1), method, params).await;
        let message = response["error"]["message"].as_str().unwrap_or_default();
        assert!(!message.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{method}: {message:?}");
        assert!(message.len() < 5_000, "{method}: {}", message.len());
    }
}

#[tokio::test]
async fn deep_nesting_is_an_error_wherever_it_is() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"x":{deep}}}}}"#);
    client.line(line.as_bytes()).await;
    assert_eq!(client.next().await["error"]["code"], -32602);
    // The arguments of a call are for the daemon to read.
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"fail","arguments":{deep}}}}}"#
    );
    client.line(line.as_bytes()).await;
    assert_eq!(client.next().await["result"]["isError"], true);
    assert_eq!(client.uses(), [("fail".to_owned(), deep)]);
}

#[tokio::test]
async fn arguments_reach_the_daemon_as_they_came() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    for text in [r#"{"a":1,"a":2}"#, r#"{ "n" : 1.0e2 , "b":9007199254740993 }"#, "[1]", r#""x""#] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"arguments":{text},"name":"fail"}}}}"#
        );
        client.line(line.as_bytes()).await;
        client.next().await;
        assert_eq!(client.uses().last().unwrap().1, text);
    }
    for none in [r#"{"name":"fail","arguments":null}"#, r#"{"name":"fail"}"#] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{none}}}"#);
        client.line(line.as_bytes()).await;
        client.next().await;
        assert_eq!(client.uses().last().unwrap().1, "{}");
    }
}

#[tokio::test]
async fn large_arguments_are_taken_and_larger_lines_refused() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let large = "x".repeat(10 << 20);
    let params = json!({ "name": "fail", "arguments": { "a": large } });
    let called = client.request(json!(1), "tools/call", params).await;
    assert_eq!(called["result"]["isError"], true);
    assert_eq!(client.uses()[0].1.len(), large.len() + r#"{"a":""}"#.len());
    client.line(&vec![b'x'; LINE_BYTES_MAX + 1]).await;
    let refused = client.next().await;
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &Value::Null));
    // Who waits for the response to a request hears of it, wherever its id is.
    let large = "x".repeat(LINE_BYTES_MAX);
    let params = format!(r#""method":"tools/call","params":{{"a":"{large}"}}"#);
    for line in [
        format!(r#"{{"jsonrpc":"2.0","id":"a",{params}}}"#),
        format!(r#"{{{params},"jsonrpc":"2.0","id":"a"}}"#),
    ] {
        client.line(line.as_bytes()).await;
        let refused = client.next().await;
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!("a")));
    }
    assert_eq!(client.request(json!(2), "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn nothing_but_the_arguments_of_a_call_is_long() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let long = format!("[{}0]", "0,".repeat(150_000));
    for message in [
        format!(r#"{{"jsonrpc":"2.0","id":"a","method":"x","params":{{"a":{long}}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"a","method":"x","params":{{"arguments":{long}}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"a","method":"x","params":{long}}}"#),
        format!(
            r#"{{"id":"a","jsonrpc":"2.0","method":"tools/call","params":{{"name":"echo","_meta":{long}}}}}"#
        ),
    ] {
        client.line(message.as_bytes()).await;
        let refused = client.next().await;
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!("a")));
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("beside the `arguments` of a call"), "{message}");
    }
    client.line(format!(r#"{{"jsonrpc":"2.0","id":{long},"method":"ping"}}"#).as_bytes()).await;
    assert_eq!(client.next().await["id"], Value::Null);
    // Nobody waits for a response to a response.
    client.line(format!(r#"{{"jsonrpc":"2.0","id":0,"result":{long}}}"#).as_bytes()).await;
    assert_eq!(client.request(json!(2), "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_session_begins_once_and_before_anything_else() {
    let mut client = Client::new(ToolSet::All);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} })).await;
    assert_eq!(client.request(json!("é"), "ping", json!({})).await["result"], json!({}));
    for method in ["tools/list", "tools/call", "no/such"] {
        let refused = client.request(json!(1), method, json!({ "name": "echo" })).await;
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("comes before `initialize`"), "{message}");
    }
    for broken in
        [json!({}), json!({ "protocolVersion": 5 }), json!({ "protocolVersion": "2025-06-18" })]
    {
        let refused = client.request(json!(2), "initialize", broken).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    client.send(&initialize("2025-06-18")).await;
    assert_eq!(client.next().await["result"]["serverInfo"]["name"], "moss");
    client.send(&initialize("2025-06-18")).await;
    let second = client.next().await;
    assert!(
        second["error"]["message"].as_str().unwrap().contains("initialized already"),
        "{second}"
    );
    assert_eq!(client.tool_names().await.len(), 4);
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let long = "x".repeat(256);
    for id in
        [json!(0), json!(-1), json!(i64::MAX), json!(""), json!("1"), json!("\u{0}\n"), json!(long)]
    {
        assert_eq!(client.request(id.clone(), "ping", json!({})).await["id"], id);
    }
}

#[tokio::test]
async fn so_many_requests_run_at_once_and_no_more() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    for id in 0..crate::in_flight::REQUESTS_MAX {
        let params = json!({ "name": "hang" });
        client
            .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
            .await;
    }
    let refused = client.request(json!("one more"), "ping", json!({})).await;
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("requests run already"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_client_that_reads_nothing_holds_nothing_up_but_itself() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let mut input = client.input.take().unwrap();
    // Both pipes are full long before that: nothing more is taken, and nothing grows.
    let lines = vec![b'\n'; 1 << 20].into_iter().flat_map(|end| [b'x', end]).collect::<Vec<u8>>();
    let stuck = tokio::time::timeout(Duration::from_secs(2), input.write_all(&lines)).await;
    assert!(stuck.is_err(), "a million lines were taken, and their errors read by nobody");
    drop(input);
    drop(client.output);
    tokio::time::timeout(WAIT_MAX, client.served).await.unwrap().unwrap();
}
