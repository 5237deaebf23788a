//! The official client for Node.js, the Inspector's command line and rmcp's client, as people have them: over HTTP and
//! over standard input and output, with forms that are accepted, declined and closed.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData,
};
use rmcp::service::{RequestContext, RoleClient, ServiceExt as _};
use serde_json::{Value, json};
use tokio::net::unix::pipe;

use crate::harness::{Ended, Site, binary};
use crate::mcp::over_http::port;
use crate::remote::Certificates;
use crate::tokens;

/// A person at rmcp's client who does the same with every form.
struct FormPerson {
    action: ElicitationAction,
    shown: Arc<Mutex<Vec<String>>>,
}

impl ClientHandler for FormPerson {
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
            self.shown.lock().unwrap().push(message);
        }
        let mut result = ElicitResult::new(self.action.clone());
        result.content =
            (self.action == ElicitationAction::Accept).then(|| json!({ "decision": "allow_once" }));
        Ok(result)
    }
}

/// An image of no more than its header.
const GIF: &[u8] = b"GIF89a\x01\0\x01\0\0\0\0";

fn modules() -> PathBuf {
    let modules = std::env::var_os("MOSS_TEST_MCP_MODULES").expect(
        "MOSS_TEST_MCP_MODULES is not set: it names the packages of tests/clients/mcp; run \
         `cargo xtask test`",
    );
    modules.into()
}

/// Runs a program of Node.js in the environment of the commands of a site.
fn node(site: &Site) -> Command {
    let mut node = Command::new("node");
    let environment = site.command::<&str>([]);
    node.env_clear()
        .envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    node
}

fn site() -> Site {
    let site = Site::new();
    site.write("a.txt", "one\ntwo\n");
    site.write("dot.png", GIF);
    site
}

/// The official client, about to start.
fn client(site: &Site, revision: &str, form: &str, server: &[&str]) -> Command {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/mcp/client.mjs");
    let mut node = node(site);
    node.arg(script).arg(modules()).args([revision, form]).args(server);
    node
}

/// What the official client saw.
fn seen(site: &Site, revision: &str, form: &str, server: &[&str]) -> Value {
    let ended = Ended::of(&mut client(site, revision, form, server));
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Holds what every client sees alike.
fn check(seen: &Value, revision: &str) {
    assert_eq!(seen["revision"], revision, "{seen}");
    let tools = seen["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("read_file")) && tools.contains(&json!("find_tools")), "{seen}");
    assert_eq!(seen["read"]["structuredContent"]["total_lines"], 2, "{seen}");
    let image = &seen["image"]["content"][1];
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/gif")));
    assert_eq!(seen["missing"]["isError"], true, "{seen}");
    assert!(seen["unknown"].to_string().contains("no_such_tool"), "{seen}");
    assert!(!tools.contains(&json!("todo")), "{seen}");
    assert!(seen["through"]["structuredContent"]["items"].is_array(), "{seen}");
    assert_eq!(seen["resource"]["contents"][0]["text"], "one\ntwo\n", "{seen}");
}

#[test]
fn the_official_client_in_node_works_over_http_with_a_session_and_without() {
    let mut site = site();
    site.argument("--mcp").argument("127.0.0.1:0");
    let token = tokens::create(&site, "editor");
    let daemon = site.serve();
    let url = format!("http://127.0.0.1:{}/mcp", port(&daemon));
    for (mode, revision) in
        [("session", "2025-11-25"), ("newest", "2026-07-28"), ("older", "2025-11-25")]
    {
        for form in ["accept", "decline", "cancel"] {
            let seen = seen(&site, mode, form, &["http", &url, &token]);
            check(&seen, revision);
            // Over HTTP no form of a client decides about an effect; a question of a tool is one.
            assert_eq!(seen["forms"], json!(["Tabs?"]), "{mode} {form}: {seen}");
            let clarified = &seen["clarified"]["structuredContent"];
            assert_eq!(clarified["answered"], form == "accept", "{mode} {form}: {seen}");
            let said = if form == "accept" { json!("tabs") } else { Value::Null };
            assert_eq!(clarified["answer"], said, "{mode} {form}: {seen}");
            let created = seen["created"].to_string();
            assert!(created.contains("confirmation_required"), "{mode} {form}: {seen}");
            assert!(!site.has("new.txt"));
        }
    }
    daemon.stop();
}

#[test]
fn a_form_of_an_official_client_that_nobody_replies_to_ends_with_its_question() {
    for mode in ["session", "older"] {
        let site = site();
        site.config("[confirmations]\nexpiry_ms = 3000\n");
        let daemon = site.serve();
        let (moss, workspace) = (binary(), site.workspace());
        let (moss, workspace) = (moss.to_str().unwrap(), workspace.to_str().unwrap());
        let seen = seen(&site, mode, "silent", &["stdio", moss, workspace, "--elicit"]);
        check(&seen, "2025-11-25");
        assert_eq!(seen["forms"].as_array().unwrap().len(), 2, "{mode}: {seen}");
        assert_eq!(seen["created"]["isError"], true, "{mode}: {seen}");
        let created = seen["created"].to_string();
        assert!(created.contains("nobody decided the confirmation in time"), "{mode}: {seen}");
        assert!(!site.has("new.txt"));
        daemon.stop();
    }
}

#[test]
fn a_client_gets_in_over_tls_where_it_trusts_the_authority() {
    let mut site = site();
    site.argument("--mcp").argument("127.0.0.1:0");
    let token = tokens::create(&site, "editor");
    let certificates = Certificates::new(&site, "certificates", &[]);
    for (option, file) in [("--tls-cert", "server.crt"), ("--tls-key", "server.key")] {
        site.argument(option).argument(&certificates.path(file));
    }
    let daemon = site.serve();
    let log = daemon.log();
    let (_, rest) = log.split_once("MCP on https://127.0.0.1:").unwrap();
    let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let url = format!("https://localhost:{port}/mcp");
    for (mode, revision) in [("session", "2025-11-25"), ("newest", "2026-07-28")] {
        let mut node = client(&site, mode, "accept", &["http", &url, &token]);
        node.env("NODE_EXTRA_CA_CERTS", certificates.path("ca.crt"));
        let ended = Ended::of(&mut node);
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        check(&serde_json::from_str(&ended.stdout).unwrap(), revision);
    }
    let ended = Ended::of(&mut client(&site, "session", "accept", &["http", &url, &token]));
    assert_ne!(ended.code, Some(0), "nobody vouches for the server: {ended:?}");
    daemon.stop();
}

#[test]
fn the_older_sdk_works_over_standard_input_with_every_answer() {
    for (form, is_enabled, is_created, forms) in [
        ("accept", true, true, 2),
        ("decline", true, false, 2),
        ("cancel", true, false, 2),
        ("accept", false, false, 1),
        ("none", true, false, 0),
    ] {
        let site = self::site();
        let (moss, workspace) = (binary(), site.workspace());
        let (moss, workspace) = (moss.to_str().unwrap(), workspace.to_str().unwrap());
        let elicit: &[&str] = if is_enabled { &["--elicit"] } else { &[] };
        let server = [&["stdio", moss, workspace][..], elicit].concat();
        let seen = seen(&site, "older", form, &server);
        check(&seen, "2025-11-25");
        assert_eq!(seen["forms"].as_array().unwrap().len(), forms, "{form}: {seen}");
        assert_eq!(site.has("new.txt"), is_created, "{form}: {seen}");
    }
}

#[test]
fn the_official_client_in_node_works_over_standard_input_with_every_answer() {
    for (form, is_enabled, is_created, part) in [
        ("accept", true, true, ""),
        ("decline", true, false, "denied"),
        ("cancel", true, false, "without a decision"),
        ("accept", false, false, "confirmation_required"),
        ("none", true, false, "confirmation_required"),
    ] {
        let site = site();
        let (moss, workspace) = (binary(), site.workspace());
        let (moss, workspace) = (moss.to_str().unwrap(), workspace.to_str().unwrap());
        let elicit: &[&str] = if is_enabled { &["--elicit"] } else { &[] };
        let server = [&["stdio", moss, workspace][..], elicit].concat();
        for (mode, revision) in [("session", "2025-11-25"), ("newest", "2026-07-28")] {
            let seen = seen(&site, mode, form, &server);
            check(&seen, revision);
            let forms = if form == "none" { 0 } else { 1 + usize::from(is_enabled) };
            assert_eq!(seen["forms"].as_array().unwrap().len(), forms, "{seen}");
            let answered = &seen["clarified"]["structuredContent"]["answered"];
            assert_eq!(*answered, form == "accept", "{seen}");
            assert_eq!(site.has("new.txt"), is_created, "{form}: {seen}");
            assert!(seen["created"].to_string().contains(part), "{form}: {seen}");
            if is_created {
                std::fs::remove_file(site.workspace().join("new.txt")).unwrap();
            }
        }
    }
}

#[test]
fn the_inspector_lists_and_calls_over_http_and_standard_input() {
    let mut site = site();
    site.argument("--mcp").argument("127.0.0.1:0");
    let token = tokens::create(&site, "editor");
    let daemon = site.serve();
    let url = format!("http://127.0.0.1:{}/mcp", port(&daemon));
    let header = format!("Authorization: Bearer {token}");
    let over_http = [url.as_str(), "--transport", "http", "--header", header.as_str()];
    let moss = binary();
    let over_pipe = [moss.to_str().unwrap(), "mcp"];
    for server in [&over_http[..], &over_pipe[..]] {
        let inspect = |words: &[&str]| {
            let program = modules().join("@modelcontextprotocol/inspector/cli/build/index.js");
            let mut node = node(&site);
            node.arg(program).args(server).args(words).current_dir(site.workspace());
            let ended = Ended::of(&mut node);
            assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
            serde_json::from_str::<Value>(&ended.stdout).unwrap()
        };
        let listed = inspect(&["--method", "tools/list"]);
        assert_eq!(listed["tools"].as_array().unwrap().len(), 17, "{listed}");
        let call =
            ["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=a.txt"];
        let read = inspect(&call);
        assert_eq!(read["structuredContent"]["total_lines"], 2, "{read}");
        let resources = inspect(&["--method", "resources/list"]);
        assert!(resources.to_string().contains("moss://files/a.txt"), "{resources}");
        let prompts = inspect(&["--method", "prompts/list"]);
        assert!(prompts.to_string().contains("moss_notes"), "{prompts}");
    }
    daemon.stop();
}

#[tokio::test]
async fn the_client_of_rmcp_works_over_standard_input_with_every_answer() {
    for (action, part) in [
        (ElicitationAction::Accept, ""),
        (ElicitationAction::Decline, "denied_by_person"),
        (ElicitationAction::Cancel, "without a decision"),
    ] {
        let site = site();
        let mut command = site.command(["mcp", "--elicit"]);
        let mut moss = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = pipe::Receiver::from_owned_fd(moss.stdout.take().unwrap().into()).unwrap();
        let input = pipe::Sender::from_owned_fd(moss.stdin.take().unwrap().into()).unwrap();
        let shown = Arc::new(Mutex::default());
        let person = FormPerson { action: action.clone(), shown: Arc::clone(&shown) };
        let client = person.serve((output, input)).await.unwrap();
        assert_eq!(client.list_all_tools().await.unwrap().len(), 17);
        let call = async |name: &'static str, arguments: Value| {
            let arguments = arguments.as_object().cloned().unwrap();
            let call = CallToolRequestParams::new(name).with_arguments(arguments);
            client.call_tool(call).await.unwrap()
        };
        let read = call("read_file", json!({ "path": "a.txt" })).await;
        assert_eq!(read.structured_content.unwrap()["total_lines"], 2);
        let created = call("create_file", json!({ "path": "new.txt", "content": "new\n" })).await;
        let is_created = action == ElicitationAction::Accept;
        assert_eq!(created.is_error, Some(!is_created), "{created:?}");
        assert!(serde_json::to_string(&created.content).unwrap().contains(part), "{created:?}");
        assert_eq!(site.has("new.txt"), is_created);
        assert_eq!(shown.lock().unwrap().len(), 1);
        client.cancel().await.unwrap();
        // Its input has ended.
        assert_eq!(moss.wait().unwrap().code(), Some(0));
    }
}
