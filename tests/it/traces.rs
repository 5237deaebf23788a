//! Spans of calls, as a collector receives them.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use moss_proto::v1;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

use crate::harness::{Daemon, Ended, Site, call, output, within};
use crate::mcp::client::McpClient;
use crate::mcp::over_http::HttpClient;

/// A collector that keeps what it gets.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.lock().unwrap().push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    /// Starts it. Returns its address, too.
    async fn start() -> (Self, String) {
        let collector = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let service = TraceServiceServer::new(collector.clone());
        let server = tonic::transport::Server::builder().add_service(service);
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        (collector, address)
    }

    fn spans(&self) -> Vec<Span> {
        let received = self.0.lock().unwrap();
        let resources = received.iter().flat_map(|request| &request.resource_spans);
        resources
            .flat_map(|spans| &spans.scope_spans)
            .flat_map(|spans| spans.spans.clone())
            .collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attribute(span: &Span, name: &str) -> Option<String> {
    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        other => panic!("{other:?}"),
    }
}

/// The collector continues while the end of the daemon is awaited.
#[tokio::test(flavor = "multi_thread")]
async fn every_call_is_a_span_of_the_request_that_it_belongs_to() {
    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";
    let (collector, address) = Collector::start().await;
    let mut site = Site::new();
    site.write("canary.txt", "canary\n");
    site.argument("--traces").argument(&address);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let read = v1::CallToolRequest { call: Some(call("read_file", json!({"path": "canary.txt"}))) };
    let mut request = Request::new(read);
    let parent = format!("00-{TRACE}-{SPAN}-01");
    request.metadata_mut().insert("traceparent", parent.parse().unwrap());
    request.metadata_mut().insert("tracestate", "canary=canary".parse().unwrap());
    let response = within("a call", client.tools().call_tool(request)).await.unwrap();
    let result = response.into_inner().result.unwrap();
    output(&result);
    client.ran("read_file", json!({"path": "canary2.txt"})).await;
    client.call(call("canary_tool", json!({}))).await.unwrap_err();
    drop(client);
    // What is left is sent at the end.
    daemon.stop();

    let spans = collector.spans();
    assert_eq!(spans.len(), 3, "{spans:?}");
    let part = spans.iter().find(|span| hex(&span.trace_id) == TRACE).expect("its parent is known");
    assert_eq!(hex(&part.parent_span_id), SPAN);
    assert_eq!((part.name.as_str(), part.kind()), ("execute_tool read_file", SpanKind::Server));
    assert_eq!(attribute(part, "gen_ai.tool.name").as_deref(), Some("read_file"));
    assert_eq!(attribute(part, "moss.call_id"), Some(result.call_id));
    assert_eq!(attribute(part, "moss.outcome").as_deref(), Some("ok"));
    assert!(part.start_time_unix_nano < part.end_time_unix_nano);
    for (tool, outcome) in [("read_file", "failed"), ("unknown", "invalid")] {
        let span =
            spans.iter().find(|span| attribute(span, "error.type").as_deref() == Some(outcome));
        let span = span.unwrap_or_else(|| panic!("no {outcome} in {spans:?}"));
        assert_eq!(span.name, format!("execute_tool {tool}"));
        assert_eq!(span.status.as_ref().unwrap().code(), StatusCode::Error);
        assert!(span.parent_span_id.is_empty());
    }
    let all = format!("{:?}", collector.0.lock().unwrap());
    assert!(!all.contains("canary"), "{all}");
    assert!(all.contains("service.name"), "{all}");
}

/// The collector continues while a client that blocks is served.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_mcp_names_the_span_of_a_call_in_its_metadata() {
    let (collector, address) = Collector::start().await;
    let mut site = Site::new();
    site.write("a.txt", "x\n");
    site.argument("--traces").argument(&address);
    let daemon = site.serve();
    let mut client = McpClient::connect(&site, &[]);
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for parent in [parent, "no parent", "é\n"] {
        let params = json!({
            "name": "read_file", "arguments": { "path": "a.txt" },
            "_meta": { "traceparent": parent },
        });
        let called = client.request("tools/call", params);
        assert_ne!(called["result"]["isError"], true, "{called}");
    }
    drop(client);
    daemon.stop();
    let spans = collector.spans();
    let parents: Vec<_> = spans.iter().map(|span| hex(&span.parent_span_id)).collect();
    assert_eq!(
        parents.iter().filter(|parent| *parent == "b7ad6b7169203331").count(),
        1,
        "{spans:?}"
    );
    assert_eq!(parents.iter().filter(|parent| parent.is_empty()).count(), 2, "{spans:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_over_http_names_the_span_with_a_session_and_without() {
    let (collector, address) = Collector::start().await;
    let mut site = Site::new();
    site.write("a.txt", "x\n");
    site.argument("--traces").argument(&address).argument("--mcp").argument("127.0.0.1:0");
    let token = crate::tokens::create(&site, "editor");
    let daemon = site.serve();
    let span = |number: u64| format!("{number:016x}");
    let clients =
        [HttpClient::session(&daemon, &token, "2025-11-25"), HttpClient::alone(&daemon, &token)];
    for (number, mut client) in (1..).zip(clients) {
        let parent = format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", span(number));
        let params = json!({
            "name": "read_file", "arguments": { "path": "a.txt" },
            "_meta": { "traceparent": parent },
        });
        let called = client.request("tools/call", params);
        assert_ne!(called["result"]["isError"], true, "{called}");
    }
    daemon.stop();
    let spans = collector.spans();
    let parents: Vec<_> = spans.iter().map(|span| hex(&span.parent_span_id)).collect();
    for number in [1, 2] {
        let count = parents.iter().filter(|parent| **parent == span(number)).count();
        assert_eq!(count, 1, "{number}: {spans:?}");
    }
}

#[tokio::test]
async fn a_collector_that_is_not_there_does_no_harm() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let site = Site::new();
    site.write("a.txt", "x\n");
    let mut command = site.serve_command();
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{closed}"));
    let daemon = Daemon::start(command, &site.socket(), &site.state());
    let client = daemon.caller().await;
    for _ in 0..5 {
        client.done("read_file", json!({"path": "a.txt"})).await;
    }
    daemon.stop();
}

#[test]
fn a_collector_is_an_address_over_http() {
    let site = Site::new();
    for wrong in ["https://collector.example:4317", "127.0.0.1:4317", "nonsense"] {
        let mut command = site.serve_command();
        command.args(["--traces", wrong]).stdout(Stdio::null()).stderr(Stdio::piped());
        let ended = Ended::of(&mut command);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("http://HOST:PORT"), "{}", ended.stderr);
    }
    // The standard takes an empty variable for none.
    let mut command = site.serve_command();
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "");
    Daemon::start(command, &site.socket(), &site.state()).stop();
}
