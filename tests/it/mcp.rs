//! `moss mcp` on standard input and output: what clients send as they open, sessions and none, a daemon
//! and none, workspaces, and that a call is the same call on every front.

pub(crate) mod client;
pub(crate) mod over_http;
mod same_everywhere;

use std::os::unix::process::ExitStatusExt as _;

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use self::client::{McpClient, text};
use crate::harness::guests::{install, zoo, zoo_named};
use crate::harness::{Site, until};
use crate::journal::records;
use crate::plugins::settled;

/// What Codex opens with.
const CODEX: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"codex-mcp-client","title":"Codex","version":"0.165.0"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
];
/// What Claude Code opens with: a probe, and a session where that fails.
const CLAUDE_CODE: [&str; 4] = [
    r#"{"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1.317"},"io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{}}}},"jsonrpc":"2.0","id":0}"#,
    r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"elicitation":{}},"clientInfo":{"name":"claude-code","version":"2.1.317"}},"jsonrpc":"2.0","id":1}"#,
    r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#,
    r#"{"method":"tools/list","jsonrpc":"2.0","id":2}"#,
];

#[test]
fn codex_finds_its_revision_and_the_tools() {
    let site = Site::new();
    site.write("a.txt", "one\ntwo\n");
    let mut client = McpClient::start(&site, &[]);
    CODEX.iter().for_each(|line| client.line(line));
    let hello = client.next();
    assert_eq!(hello["id"], 0);
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    let capabilities = json!({
        "tools": { "listChanged": true }, "resources": {}, "prompts": {}, "completions": {},
    });
    assert_eq!(hello["result"]["capabilities"], capabilities);
    let listed = client.response(1);
    let tools = listed["result"]["tools"].as_array().unwrap();
    let read = tools.iter().find(|tool| tool["name"] == "read_file").unwrap();
    assert_eq!(
        read["annotations"],
        json!({
            "title": read["title"], "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false,
        })
    );
    for tool in tools {
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool}");
        }
        let hints = tool["annotations"].as_object().unwrap();
        assert_eq!(hints.values().filter(|hint| hint.is_boolean()).count(), 4, "{tool}");
    }
    client.line(
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"progressToken":2},"name":"read_file","arguments":{"path":"a.txt"}}}"#,
    );
    let result = client.response(2)["result"].clone();
    let same: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(result["structuredContent"], same);
    assert!(text(&result).contains("two"), "{result}");
    assert_eq!(client.close().code(), Some(0));
}

#[test]
fn claude_code_may_probe_before_it_opens_a_session() {
    let site = Site::new();
    let mut client = McpClient::start(&site, &[]);
    CLAUDE_CODE.iter().for_each(|line| client.line(line));
    let probe = client.response(0);
    let versions = probe["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{probe}");
    let hello = client.response(1);
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    // It has roots, and is asked for them.
    let asked = client.next();
    assert_eq!(asked["method"], "roots/list", "{asked}");
    let root = format!("file://{}", site.workspace().display());
    let answer =
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [{ "uri": root }] } });
    client.line(&answer.to_string());
    assert!(!client.response(2)["result"]["tools"].as_array().unwrap().is_empty());
}

#[test]
fn requests_stand_by_themselves_where_the_revision_says_so() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let mut client = McpClient::start(&site, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta, "name": "read_file", "arguments": { "path": "a.txt" } });
    let called = client.request("tools/call", params);
    assert_eq!(called["result"]["resultType"], "complete", "{called}");
    assert!(text(&called["result"]).contains("one"), "{called}");
}

#[test]
fn arguments_that_do_not_fit_say_how_they_would() {
    let site = Site::new();
    let mut client = McpClient::connect(&site, &[]);
    let result = client.call("read_file", json!({ "paht": "a.txt", "startLine": "x" }));
    assert_eq!(result["isError"], true);
    let told = text(&result);
    assert!(told.starts_with("arguments_invalid: "), "{told}");
    assert!(told.contains("path") && told.contains("/startLine"), "{told}");
    client.line(r#"{"jsonrpc":"2.0","id":"twice","method":"tools/call","params":{"name":"read_file","arguments":{"path":"a","path":"b"}}}"#);
    let twice = client.next();
    assert!(text(&twice["result"]).contains("the key `path` twice"), "{twice}");
    let unknown = client.request("tools/call", json!({ "name": "reed_file" }));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("`read_file`"), "{unknown}");
}

#[test]
fn control_characters_of_names_are_shown_as_escapes() {
    let site = Site::new();
    let mut client = McpClient::connect(&site, &[]);
    let deceptive = "a\u{1b}[2K\u{202e}b";
    let is_harmless = |shown: &str| !shown.contains(['\u{1b}', '\u{202e}']);
    let unknown = client.request("tools/call", json!({ "name": deceptive }));
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(is_harmless(message), "{message:?}");
    let missing = client.call("read_file", json!({ "path": deceptive }));
    assert!(is_harmless(text(&missing)), "{missing}");
}

#[test]
fn sets_differ_in_what_they_list() {
    let site = Site::new();
    let all = McpClient::connect(&site, &["--set", "all"]).tools();
    let default = McpClient::connect(&site, &[]).tools();
    let reads = McpClient::connect(&site, &["--set", "read-only"]).tools();
    assert_eq!(
        default,
        [
            "codebase_search",
            "read_file",
            "replace_lines",
            "replace_text",
            "list_directory",
            "get_project_structure",
            "create_file",
            "delete_file",
            "grep_search",
            "file_search",
            "find_code_location",
            "run_terminal_cmd",
            "diff_history",
            "run_tests",
            "patch",
            "clarify",
            "find_tools",
        ]
    );
    assert!(all.len() > default.len() && all.contains(&"todo".to_owned()), "{all:?}");
    assert!(reads.contains(&"read_file".to_owned()) && !reads.contains(&"patch".to_owned()));
    let refused = site.run(&["mcp", "--set", "nope"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("default, read-only, all"), "{refused:?}");
}

#[test]
fn tools_that_the_default_set_leaves_out_are_found_and_called() {
    let site = Site::allowing();
    site.write("a.txt", "one\ntwo\n");
    let mut client = McpClient::connect(&site, &[]);
    let found = client.call("find_tools", json!({ "query": "insert" }));
    assert_eq!(found["structuredContent"]["tools"][0]["name"], "insert_line", "{found}");
    let schema = client.call("find_tools", json!({ "name": "insert_line" }));
    let schema = &schema["structuredContent"]["tools"][0]["inputSchema"];
    assert!(schema["properties"]["path"].is_object(), "{schema}");
    let edit = json!({ "path": "a.txt", "line": 1, "content": "zero" });
    let edited = client.call("insert_line", edit);
    assert_ne!(edited["isError"], true, "{edited}");
    assert_eq!(site.read("a.txt"), "zero\none\ntwo\n");
    let edit = json!({ "path": "a.txt", "line": 1, "content": "minus one" });
    let through = json!({ "name": "insert_line", "arguments": edit });
    let edited = client.call("find_tools", through);
    assert_ne!(edited["isError"], true, "{edited}");
    assert_eq!(site.read("a.txt"), "minus one\nzero\none\ntwo\n");
    drop(client);
    // The journal has the tool that was called.
    assert!(records(&site).iter().all(|record| record["tool"] != "find_tools"));
}

#[test]
fn a_file_of_the_largest_size_is_written_and_what_is_larger_is_refused_with_what_to_do() {
    for has_daemon in [false, true] {
        let site = Site::allowing();
        let daemon = has_daemon.then(|| site.serve());
        let mut client = McpClient::connect(&site, &[]);
        let create = |bytes: usize| {
            let content = "a \"line\" of text\n".repeat(bytes / 17);
            json!({ "path": format!("{bytes}.txt"), "content": content })
        };
        let written = client.call("create_file", create(10_000_000));
        assert_ne!(written["isError"], true, "{}", text(&written));
        let refused = client.call("create_file", create(20_000_000));
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(text(&refused).starts_with("request_too_large: "), "{refused}");
        assert!(text(&refused).contains("grpc.request_bytes_max"), "{refused}");
        assert!(text(&refused).contains("hint: send less at once"), "{refused}");
        assert!(site.has("10000000.txt") && !site.has("20000000.txt"));
        drop(daemon);
    }
}

#[test]
fn home_and_root_are_no_workspace_unless_named() {
    let site = Site::new();
    let mut command = site.command(["mcp"]);
    command.current_dir(site.outside("home"));
    let mut client = McpClient::spawn(command);
    client.initialize("2025-06-18", json!({}));
    // The list is that of a workspace, with texts and schemas; a call says what to do.
    let listed = |client: &mut McpClient| client.request("tools/list", json!({}))["result"].clone();
    let without = listed(&mut client);
    let with = listed(&mut McpClient::connect(&site, &[]));
    assert!(!with["tools"].as_array().unwrap().is_empty());
    assert_eq!(without["tools"], with["tools"]);
    let result = client.call("read_file", json!({ "path": "a" }));
    assert_eq!(result["isError"], true, "{result}");
    assert!(text(&result).contains("a home directory is no project"), "{result}");
    assert!(text(&result).contains("moss mcp --workspace DIR"), "{result}");

    let mut command = site.command(["mcp"]);
    command.current_dir("/").env("CLAUDE_PROJECT_DIR", site.workspace());
    site.write("here.txt", "x\n");
    let mut client = McpClient::spawn(command);
    client.initialize("2025-06-18", json!({}));
    assert!(text(&client.call("list_directory", json!({ "path": "." }))).contains("here.txt"));
}

#[test]
fn a_cancelled_call_is_in_the_journal_as_one() {
    let site = Site::new();
    let daemon = site.serve();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let approver = daemon.approver().await;
        let mut watcher = approver.watch().await;
        let mut client = McpClient::connect(&site, &[]);
        let id = client.send(
            "tools/call",
            json!({ "name": "create_file", "arguments": { "path": "a.txt", "content": "x" } }),
        );
        // It waits: somebody watches.
        watcher.next().await;
        let cancel = json!({ "requestId": id, "reason": "changed my mind" });
        let message =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
        client.line(&message.to_string());
        until("the call is cancelled", async || {
            records(&site).iter().any(|record| record["outcome"] == "cancelled")
        })
        .await;
        assert!(!site.has("a.txt"));
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));

        client.send(
            "tools/call",
            json!({ "name": "create_file", "arguments": { "path": "b.txt", "content": "x" } }),
        );
        until("the second question", async || approver.pending().await.len() == 1).await;
        // A client that is gone has cancelled it, too.
        drop(client);
        until("the question is withdrawn", async || approver.pending().await.is_empty()).await;
        assert!(!site.has("b.txt"));
    });
    daemon.stop();
}

#[test]
fn a_daemon_that_comes_and_goes_is_used_while_it_is_there() {
    let site = Site::new();
    let mut client = McpClient::connect(&site, &[]);
    let create = |path: &str| json!({ "path": path, "content": "x\n" });
    let alone = client.call("create_file", create("a.txt"));
    assert!(text(&alone).contains("moss serve"), "{alone}");
    let daemon = site.serve();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let approver = daemon.approver().await;
        let mut watcher = approver.watch().await;
        let arguments = json!({ "name": "create_file", "arguments": create("a.txt") });
        let id = client.send("tools/call", arguments);
        // Only a daemon that others reach has somebody who watches.
        let question = watcher.question().await;
        approver.approve(&question).await.unwrap();
        let created = client.response(id);
        assert_ne!(created["result"]["isError"], true, "{created}");
    });
    assert_eq!(site.read("a.txt"), "x\n");
    daemon.stop();
    // The first call may find that the daemon is gone; it says what to do, and that helps.
    let read = json!({ "path": "a.txt" });
    let result = client.call("read_file", read.clone());
    if result["isError"] == true {
        assert!(text(&result).contains("send the call again"), "{result}");
    }
    let result = client.call("read_file", read);
    assert_ne!(result["isError"], true, "{result}");
    assert_eq!(client.close().code(), Some(0));
}

#[test]
fn signals_end_it_cleanly() {
    let site = Site::new();
    for signal in [Signal::TERM, Signal::INT] {
        let mut client = McpClient::connect(&site, &[]);
        client.tools();
        rustix::process::kill_process(Pid::from_child(client.child()), signal).unwrap();
        let status = client.wait();
        assert_eq!(status.code(), Some(0), "ended by signal {:?}", status.signal());
    }
}

#[test]
fn the_official_client_in_python_works_with_a_session_and_without() {
    let python = std::env::var_os("MOSS_TEST_PYTHON").expect(crate::python::NO_PYTHON);
    let site = Site::new();
    site.write("a.txt", "one\ntwo\n");
    let mut remote = Site::new();
    remote.write("a.txt", "one\ntwo\n");
    remote.argument("--mcp").argument("127.0.0.1:0");
    let token = crate::tokens::create(&remote, "editor");
    let daemon = remote.serve();
    let environment = site.command::<&str>([]);
    let mut command = std::process::Command::new(python);
    command
        .env_clear()
        .envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .arg("-B")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/clients/python/mcp_client.py"))
        .arg("--moss")
        .arg(crate::harness::binary())
        .arg("--workspace")
        .arg(site.workspace())
        .arg(format!("--url=http://127.0.0.1:{}/mcp", over_http::port(&daemon)))
        .arg(format!("--token={token}"))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let ended = crate::harness::Ended::of(&mut command);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let session = &report["session"];
    assert_eq!(session["revision"], "2025-11-25", "{report}");
    assert_eq!(session["tools"].as_array().unwrap().len(), 17, "{report}");
    assert!(session["read"].to_string().contains("two"), "{report}");
    assert_eq!(session["created"], true, "{report}");
    assert!(session["forms"][0].as_str().unwrap().contains("+new"), "{report}");
    assert_eq!(site.read("b.txt"), "new\n");
    assert!(session["failed"].as_str().unwrap().starts_with("not_found: "), "{report}");
    assert!(session["unknown"].as_str().unwrap().contains("no_such_tool"), "{report}");
    let stateless = &report["stateless"];
    assert_eq!(stateless["revision"], "2026-07-28", "{report}");
    assert_eq!(stateless["read"], session["read"], "{report}");
    for (way, answered, part) in [
        ("decline", false, "denied_by_person"),
        ("cancel", false, "without a decision"),
        // Over HTTP no form decides about an effect.
        ("http", true, "confirmation_required"),
        ("http_decline", false, "confirmation_required"),
        ("http_cancel", false, "confirmation_required"),
    ] {
        let seen = &report[way];
        assert_eq!(seen["read"], session["read"], "{report}");
        assert_eq!(seen["answered"], answered, "{way}: {report}");
        assert!(seen["edited"].as_str().unwrap().contains(part), "{way}: {report}");
        let forms = if way.starts_with("http") { 1 } else { 2 };
        assert_eq!(seen["forms"], forms, "{way}: {report}");
    }
    assert!(!site.has("c.txt") && !remote.has("c.txt"));
    daemon.stop();
}

#[test]
fn a_list_of_folders_in_a_variable_names_the_project() {
    let site = Site::new();
    site.write("here.txt", "x\n");
    let workspace = site.workspace();
    for folders in [
        workspace.display().to_string(),
        format!("/no/such/place,{}", workspace.display()),
        format!("{}:{}", workspace.display(), site.outside("home").display()),
        format!("{};/", workspace.display()),
    ] {
        let mut command = site.command(["mcp"]);
        command.current_dir("/").env("WORKSPACE_FOLDER_PATHS", &folders);
        let mut client = McpClient::spawn(command);
        client.initialize("2025-06-18", json!({}));
        let listed = client.call("list_directory", json!({ "path": "." }));
        assert!(text(&listed).contains("here.txt"), "{folders}: {listed}");
    }
    // One that names no project is none.
    let mut command = site.command(["mcp"]);
    command.current_dir("/").env("WORKSPACE_FOLDER_PATHS", "${workspaceFolder},/");
    let mut client = McpClient::spawn(command);
    client.initialize("2025-06-18", json!({}));
    let refused = client.call("list_directory", json!({ "path": "." }));
    assert_eq!(refused["isError"], true, "{refused}");
}

#[test]
fn the_newest_revision_says_how_long_lists_may_be_kept() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let mut client = McpClient::start(&site, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let read = json!({ "uri": "moss://files/a.txt" });
    let kept = [
        ("tools/list", json!({}), 60_000),
        ("resources/list", json!({}), 0),
        ("resources/templates/list", json!({}), 3_600_000),
        ("resources/read", read, 0),
        ("prompts/list", json!({}), 3_600_000),
    ];
    for (method, mut params, ttl_ms) in kept.clone() {
        params["_meta"] = meta.clone();
        let result = client.request(method, params)["result"].clone();
        assert_eq!(result["ttlMs"], ttl_ms, "{method}: {result}");
        assert_eq!(result["cacheScope"], "private", "{method}: {result}");
    }
    let mut client = McpClient::connect(&site, &[]);
    for (method, params, _) in kept {
        let result = client.request(method, params)["result"].clone();
        assert!(result.get("ttlMs").is_none(), "{method}: {result}");
    }
}

#[test]
fn a_change_of_the_tools_is_announced_to_who_sees_it_alone() {
    let site = Site::new();
    site.config("[tool_sets]\nreview = [\"read_file\", \"act\"]\nother = [\"read_file\"]\n");
    let polite = zoo_named("polite", "two");
    install(&site, &[("two", &polite, json!({}))]);
    let daemon = site.serve();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let caller = runtime.block_on(daemon.caller());
    runtime.block_on(settled(&caller));
    let of_set = |set: &str| {
        let mut client = McpClient::connect(&site, &["--set", set]);
        // Whatever was announced meanwhile comes before a later response.
        let before = client.tools();
        client.request("ping", json!({}));
        (client, before)
    };
    let mut clients = ["all", "review", "default", "other", "read-only"].map(of_set);
    let counter = zoo("counter");
    install(&site, &[("two", &polite, json!({})), ("zoo", &counter, json!({}))]);
    runtime.block_on(until("the list is read", async || settled(&caller).await.len() == 2));
    // Who sees all knows first that there is something new.
    for (client, before) in &mut clients[..2] {
        let announced = client.next();
        assert_eq!(announced["method"], "notifications/tools/list_changed", "{announced}");
        let now = client.tools();
        assert!(now.len() > before.len() && now.contains(&"act".to_owned()), "{now:?}");
    }
    for (client, before) in &mut clients[2..] {
        let id = client.send("tools/list", json!({}));
        let first = client.next();
        assert_eq!(first["id"], id, "nothing that it sees has changed: {first}");
        let now = first["result"]["tools"].as_array().unwrap();
        assert_eq!(now.len(), before.len());
    }
    drop(clients);
    daemon.stop();
}

#[test]
fn a_long_check_reports_its_progress_to_who_asks_for_it() {
    let site = Site::new();
    site.config(
        "[linters]\nnothing = { command = \"true\", format = \"gnu\", files = [\"*.py\"] }\n",
    );
    site.user_policy("version = 1\n[[rule]]\nargv = [\"true\"]\ndecision = \"allow\"\n");
    site.write("a.py", "x = 1\n");
    let mut client = McpClient::connect(&site, &["--set", "all"]);
    let params = json!({
        "name": "lint_check", "arguments": { "path": "a.py" }, "_meta": { "progressToken": "p" },
    });
    let id = client.send("tools/call", params);
    let mut reported = Vec::new();
    let ended = loop {
        let message = client.next();
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], "p", "{message}");
            reported.push(message["params"]["progress"].as_f64().unwrap());
        } else if message["id"] == id && message.get("method").is_none() {
            break message;
        }
    };
    assert!(!reported.is_empty(), "{ended}");
    assert!(reported.is_sorted_by(|one, next| one < next), "it only grows: {reported:?}");
}

#[test]
fn the_page_states_what_each_set_costs() {
    let site = Site::new();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/mcp.md"));
    let page = page.unwrap();
    for set in ["default", "read-only", "all"] {
        let mut client = McpClient::connect(&site, &["--set", set]);
        let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let for_models = |tool: &Value| {
            json!({
                "name": tool["name"], "description": tool["description"],
                "input_schema": tool["inputSchema"],
            })
        };
        let tools: Vec<Value> = listed.as_array().unwrap().iter().map(for_models).collect();
        let tokens = json!(tools).to_string().len() / 4;
        assert!(set != "default" || tokens < 4_000, "the default set is small: {tokens} tokens");
        let row = format!("| `{set}` | {} | {} |", tools.len(), (tokens + 50) / 100 * 100);
        assert!(page.contains(&row), "{row} ({tokens} tokens)");
    }
}
