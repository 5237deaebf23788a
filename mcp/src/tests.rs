//! Connections as clients see them: lines in, lines out, and a backend that only remembers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use moss_sdk::context::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

mod calls;
pub(crate) mod forms;
mod hostile;
mod lists;
mod roots;
mod sessions;

use crate::lines::LINE_BYTES_MAX;
use crate::{
    BackendOpener, CallFault, CallNote, ClientForm, CommandArtifact, DeniedEffect, FormReply,
    McpOptions, McpServer, ToolBackend, ToolSet, ToolUse, UseReply, clarify, serve_lines,
};

/// Longest wait for anything.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(20);

/// A backend with three tools: `echo` returns its arguments, `hang` waits for ever, `fail` fails. It does not
/// list `ask`, which returns what a form decided, and `clarify`, which nobody answers.
#[derive(Debug)]
pub(crate) struct Recorded {
    tools: Mutex<Vec<Value>>,
    pub(crate) uses: Mutex<Vec<ToolUse>>,
    pub(crate) denials: Mutex<Vec<(ToolUse, DeniedEffect)>>,
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
    UseReply::of("c1", result)
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
            denials: Mutex::default(),
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

    fn deny(&self, request: ToolUse, denied: DeniedEffect) -> BoxFuture<'_, CallFault> {
        self.denials.lock().unwrap().push((request, denied));
        Box::pin(async { CallFault::new("denied_by_person", "a person said no") })
    }

    fn artifacts(&self) -> BoxFuture<'_, Result<Vec<CommandArtifact>, CallFault>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn refused(&self, _: Vec<String>) -> BoxFuture<'_, Result<Vec<String>, CallFault>> {
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
