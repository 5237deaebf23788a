//! The same calls over gRPC, the command line and both transports of MCP, each on a machine of its own: the same content,
//! the same changes, the same files, the same records in the journal.

use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use moss_proto::v1::{self, content_part::Part};
use serde_json::{Value, json};
use tonic::Status;

use super::client::McpClient;
use super::over_http::HttpClient;
use crate::harness::{Client, Daemon, Site, call, reason, waiting};
use crate::journal::records;

/// Tools with the arguments of their calls.
type Calls = Vec<(&'static str, Value)>;

/// What differs from machine to machine, or from moment to moment.
const UNSTABLE: [&str; 10] = [
    "call_id",
    "callId",
    "time",
    "at",
    "timestamp",
    "committedAt",
    "modified",
    "session",
    "seq",
    "duration_ms",
];
/// Errors whose text says what a caller of that front can do.
const WORDED_BY_FRONTS: [&str; 2] = ["confirmation_required", "tool_unknown"];

/// What opens the port.
const TOKEN: &str = "c0ffee1234567890c0ffee1234567890";

/// Tools of which a call has to work.
const WORKS: [&str; 16] = [
    "codebase_search",
    "create_file",
    "delete_file",
    "delete_lines",
    "file_search",
    "find_code_location",
    "get_project_structure",
    "grep_search",
    "insert_line",
    "lint_check",
    "list_directory",
    "patch",
    "read_file",
    "replace_lines",
    "run_terminal_cmd",
    "todo",
];

/// How a call ended, as a front shows it.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    call: String,
    /// The result; null where there is none.
    output: Value,
    /// The code of why there is none; empty where there is one.
    error: String,
    /// What that says, where it does not depend on the front.
    message: String,
    /// What is shown beside the result, as MCP has it.
    content: Vec<Value>,
    /// Each changed file with its state and diff.
    changes: Vec<(String, String, String)>,
}

fn site() -> Site {
    let site = Site::new();
    site.user_policy(
        "version = 1\n\
         [[rule]]\nname = \"no\"\neffects = [\"write\"]\npaths = [\"denied/**\"]\ndecision = \"deny\"\n\
         [[rule]]\nname = \"yes\"\neffects = [\"write\", \"delete\"]\npaths = [\"free/**\"]\ndecision = \"allow\"\n",
    );
    site.write("a.txt", "one\ntwo\nthree\n");
    site.write("empty.txt", "");
    site.write("dot.gif", b"GIF89a\x01\0\x01\0\0\0\0");
    site.write("latin.txt", b"caf\xe9\n");
    site.write("src/main.rs", "fn main() {\n    let total = 1;\n}\n");
    site.write("src/lib.rs", "pub fn total() -> u32 {\n    2\n}\n");
    site.write("free/b.txt", "alpha\nbeta\ngamma\n");
    site.write("free/c.txt", "x = 1\ny = 2\n");
    site.write("broken.py", "def total(:\n");
    site.write("Cargo.toml", "[package]\nname = \"demo\"\n");
    // More than one page holds.
    for number in 0..700 {
        site.write(&format!("wide/{number:03}.log"), "a line of a log\n");
    }
    site
}

/// Calls that end in every way a call of one front can.
fn golden() -> Calls {
    [reads(), searches_and_plans(), edits()].concat()
}

fn reads() -> Calls {
    vec![
        ("read_file", json!({ "path": "a.txt" })),
        ("read_file", json!({ "path": "a.txt", "startLine": 2, "endLine": 2 })),
        ("read_file", json!({ "path": "a.txt", "startLine": 3, "endLine": 99 })),
        ("read_file", json!({ "path": "a.txt", "startLine": 3.0 })),
        ("read_file", json!({ "path": "empty.txt" })),
        ("read_file", json!({ "path": "dot.gif" })),
        ("read_file", json!({ "path": "latin.txt" })),
        ("read_file", json!({ "path": "missing.txt" })),
        ("read_file", json!({ "path": "../outside.txt" })),
        ("read_file", json!({ "path": "src" })),
        ("read_file", json!({ "path": "a.txt", "startLine": 3, "endLine": 1 })),
        ("read_file", json!({ "path": "a.txt", "startLine": 0 })),
        ("read_file", json!({ "path": "a.txt", "startLine": 1.5 })),
        ("read_file", json!({ "path": 5 })),
        ("read_file", json!({})),
        ("read_file", json!({ "path": "a.txt", "colour": "red" })),
        ("read_file", json!({ "path": "a\u{0}.txt" })),
        ("list_directory", json!({})),
        ("list_directory", json!({ "path": "." })),
        ("list_directory", json!({ "path": "src" })),
        ("list_directory", json!({ "path": "wide" })),
        ("list_directory", json!({ "path": "wide", "offset": 550 })),
        ("list_directory", json!({ "path": "wide", "limit": 1000 })),
        ("list_directory", json!({ "path": "missing" })),
        ("list_directory", json!({ "path": "a.txt" })),
        ("get_project_structure", json!({})),
    ]
}

fn searches_and_plans() -> Calls {
    vec![
        ("file_search", json!({ "pattern": "*.rs" })),
        ("file_search", json!({ "pattern": "*.log", "offset": 90 })),
        ("file_search", json!({ "pattern": "main" })),
        ("file_search", json!({ "pattern": "nothing-of-that-name" })),
        ("grep_search", json!({ "pattern": "total" })),
        ("grep_search", json!({ "pattern": "TOTAL" })),
        ("grep_search", json!({ "pattern": "line of", "context": 10 })),
        ("grep_search", json!({ "pattern": "line of", "limit": 1000 })),
        ("grep_search", json!({ "pattern": "(" })),
        ("grep_search", json!({ "pattern": "nothing-like-that" })),
        ("find_code_location", json!({ "search": "total" })),
        ("find_code_location", json!({ "search": "nothing_of_that_name" })),
        ("codebase_search", json!({ "query": "where is the total" })),
        ("codebase_search", json!({ "query": "" })),
        ("run_terminal_cmd", json!({ "command": "cat a.txt" })),
        ("run_terminal_cmd", json!({ "command": "cat missing.txt" })),
        ("run_terminal_cmd", json!({ "command": "touch made.txt" })),
        ("run_terminal_cmd", json!({ "command": "" })),
        ("lint_check", json!({ "path": "broken.py" })),
        ("lint_check", json!({ "path": "missing.py" })),
        ("diff_history", json!({ "path": "a.txt" })),
        ("diff_history", json!({ "history": 1 })),
        ("todo", json!({})),
        ("todo", json!({ "items": [{ "id": "1", "content": "look", "status": "pending" }] })),
        ("todo", json!({ "items": [{ "id": "1", "content": "look", "status": "soon" }] })),
        ("get_cursor_context", json!({})),
        ("clarify", json!({ "question": "Which one?", "choices": ["a", "b"] })),
        ("clarify", json!({ "question": "" })),
    ]
}

fn edits() -> Calls {
    vec![
        ("create_file", json!({ "path": "free/new.txt", "content": "new\n" })),
        ("create_file", json!({ "path": "free/new.txt", "content": "again\n" })),
        ("create_file", json!({ "path": "free/deep/er/new.txt", "content": "" })),
        ("create_file", json!({ "path": "denied/x.txt", "content": "x" })),
        ("create_file", json!({ "path": "asked.txt", "content": "x\n" })),
        ("create_file", json!({ "path": ".git/config", "content": "x" })),
        ("create_file", json!({ "path": "free/long.txt", "content": "z".repeat(40_000) })),
        ("replace_text", json!({ "path": "free/b.txt", "oldText": "beta", "newText": "BETA" })),
        ("replace_text", json!({ "path": "free/b.txt", "oldText": "nope", "newText": "x" })),
        ("replace_text", json!({ "path": "a.txt", "oldText": "two", "newText": "2" })),
        (
            "replace_lines",
            json!({ "path": "free/b.txt", "startLine": 1, "endLine": 1, "newText": "ALPHA" }),
        ),
        (
            "replace_lines",
            json!({ "path": "free/b.txt", "startLine": 9, "endLine": 9, "newText": "x" }),
        ),
        ("insert_line", json!({ "path": "free/b.txt", "line": 1, "content": "zero" })),
        ("delete_lines", json!({ "path": "free/b.txt", "startLine": 1, "endLine": 1 })),
        ("patch", json!({ "path": "free/c.txt", "old_string": "y = 2", "new_string": "y = 3" })),
        ("patch", json!({ "path": "free/c.txt", "old_string": "q", "new_string": "r" })),
        ("patch", json!({ "path": "free/c.txt", "old_string": "x = 1", "new_string": "x = 1" })),
        ("delete_file", json!({ "path": "free/new.txt" })),
        ("delete_file", json!({ "path": "free/new.txt" })),
        ("delete_file", json!({ "path": "a.txt" })),
        ("moss_update_asi_user_prompt", json!({ "content": "Be brief.", "mode": "replace" })),
        ("reapply", json!({ "index": 99 })),
        ("read_file", json!({ "path": "free/b.txt" })),
        ("reed_file", json!({ "path": "a.txt" })),
    ]
}

/// A part of a result as MCP has it: the calls show images alone.
fn block(part: v1::ContentPart) -> Value {
    let Some(Part::Image(image)) = part.part else { panic!("{part:?}") };
    let data = BASE64_STANDARD.encode(image.data);
    json!({ "type": "image", "mimeType": image.media_type, "data": data })
}

async fn over_grpc(client: &Client, calls: Calls, call: fn(&str, Value) -> v1::Call) -> Vec<Seen> {
    let mut all = Vec::new();
    for (tool, arguments) in calls {
        let shown = format!("{tool} {arguments:.80}");
        let ended = client.call(call(tool, arguments)).await;
        let code = |status: &Status| reason(status).to_ascii_lowercase();
        all.push(match ended {
            Ok(result) => Seen {
                call: shown,
                output: serde_json::from_str(&result.output_json).unwrap_or_default(),
                message: result.error.as_ref().map_or("", |error| &error.message).to_owned(),
                error: result.error.map(|error| error.code).unwrap_or_default(),
                content: result.content.into_iter().map(block).collect(),
                changes: result
                    .changes
                    .iter()
                    .map(|one| {
                        let status =
                            one.status().as_str_name().trim_start_matches("CHANGE_STATUS_");
                        (one.path.clone(), status.to_lowercase(), one.diff.clone())
                    })
                    .collect(),
            },
            Err(status) => {
                let message = status.message().to_owned();
                Seen { call: shown, error: code(&status), message, ..Seen::default() }
            }
        });
    }
    all
}

fn changes(of: &Value) -> Vec<(String, String, String)> {
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let all = of.as_array().into_iter().flatten();
    all.map(|one| (text(one, "path"), text(one, "status"), text(one, "diff"))).collect()
}

fn over_command_line(site: &Site, calls: Calls, options: &[&str]) -> Vec<Seen> {
    let run = |(tool, arguments): (&str, Value)| {
        let shown = format!("{tool} {arguments:.80}");
        let arguments = arguments.to_string();
        let ended = site.run(&[&["call", tool, "--args", &arguments, "--json"], options].concat());
        let report: Value =
            serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
        let error = report["error"]["code"].as_str().unwrap_or_default().to_owned();
        // It shows what was refused; the other fronts show that as a question.
        let is_refused = report["output"].is_null() && report["outcome"] != "failed";
        let changes = if is_refused { Vec::new() } else { changes(&report["changes"]) };
        let content = report["content"].as_array().into_iter().flatten().map(|part| {
            assert_eq!(part["kind"], "image", "{part}");
            json!({ "type": "image", "mimeType": part["media_type"], "data": part["data"] })
        });
        let (content, output) = (content.collect(), report["output"].clone());
        let message = report["error"]["message"].as_str().unwrap_or_default().to_owned();
        Seen { call: shown, output, error, message, content, changes }
    };
    calls.into_iter().map(run).collect()
}

/// Over either transport of MCP: `request` makes a request of it.
fn over_mcp(calls: Calls, mut request: impl FnMut(&str, Value) -> Value) -> Vec<Seen> {
    let mut run = |(tool, arguments): (&str, Value)| {
        let call = format!("{tool} {arguments:.80}");
        let response = request("tools/call", json!({ "name": tool, "arguments": arguments }));
        if response["error"]["code"] == -32602 {
            let error = "tool_unknown".to_owned();
            return Seen { call, error, ..Seen::default() };
        }
        let result = &response["result"];
        let facts = &result["_meta"]["moss/call"];
        let error = facts["error"]["code"].as_str().unwrap_or_default().to_owned();
        let message = facts["error"]["message"].as_str().unwrap_or_default().to_owned();
        let output = result.get("structuredContent").cloned().unwrap_or_default();
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
        if error.is_empty() {
            let same: Value = serde_json::from_str(text).unwrap();
            assert_eq!(same, output, "{call}: the text is what is structured");
        } else if !message.contains(char::is_control) {
            assert!(text.starts_with(&format!("{error}: {message}")), "{call}: {text}");
        }
        // Before it is the output as text, or what went wrong and what was to change.
        let blocks = result["content"].as_array().into_iter().flatten().skip(1);
        let content = blocks.filter(|block| block["type"] != "text").cloned().collect();
        Seen { call, output, error, message, content, changes: changes(&facts["changes"]) }
    };
    calls.into_iter().map(&mut run).collect()
}

/// The records of a machine without what makes each of them different.
fn journal(site: &Site) -> Vec<Value> {
    let mut all = records(site);
    // A question that stays open is over when its daemon ends: of MCP alone there are such.
    all.retain(|one| one["kind"] != "confirmation" || one["decision"] != "withdrawn");
    all.iter_mut().for_each(|record| settle(record, site));
    // What a caller can do where nobody confirms is another thing on every front.
    for record in all.iter_mut().filter(|record| record["outcome"] == "unconfirmed") {
        record.as_object_mut().unwrap().remove("message");
    }
    all
}

/// Takes out what differs from machine to machine, or from moment to moment.
fn settle(value: &mut Value, site: &Site) {
    match value {
        Value::Object(object) => {
            object.retain(|key, _| !UNSTABLE.contains(&key.as_str()) && !key.ends_with("_us"));
            object.values_mut().for_each(|value| settle(value, site));
        }
        Value::Array(array) => array.iter_mut().for_each(|value| settle(value, site)),
        Value::String(text) => {
            *text = text.replace(site.outside("").to_str().unwrap(), "MACHINE/");
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn settled(mut all: Vec<Seen>, site: &Site) -> Vec<Seen> {
    for seen in &mut all {
        settle(&mut seen.output, site);
        seen.message = match WORDED_BY_FRONTS.contains(&seen.error.as_str()) {
            true => String::new(),
            false => seen.message.replace(site.outside("").to_str().unwrap(), "MACHINE/"),
        };
    }
    all
}

/// Four machines, and a daemon on each. The last speaks MCP over HTTP.
fn machines() -> ([Site; 4], [Daemon; 4]) {
    let mut sites = [site(), site(), site(), site()];
    let token = sites[3].outside("token");
    std::fs::write(&token, TOKEN).unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let arguments = ["--mcp", "127.0.0.1:0", "--token-file", token.to_str().unwrap()];
    for argument in arguments {
        sites[3].argument(argument);
    }
    let daemons = sites.each_ref().map(Site::serve);
    (sites, daemons)
}

/// Makes calls on the front of a machine, with an own way of waiting for confirmations or without one.
fn over(front: usize, site: &Site, daemon: &Daemon, calls: Calls, waits: bool) -> Vec<Seen> {
    match front {
        0 => tokio::runtime::Runtime::new().unwrap().block_on(async {
            let client = daemon.caller().await;
            over_grpc(&client, calls, if waits { waiting } else { call }).await
        }),
        1 => over_command_line(site, calls, if waits { &["--wait"] } else { &[] }),
        2 => {
            let mut client = McpClient::connect(site, &["--set", "all"]);
            let seen = over_mcp(calls, |method, params| client.request(method, params));
            assert_eq!(client.close().code(), Some(0));
            seen
        }
        _ => {
            let mut client = HttpClient::session(daemon, TOKEN, "2025-11-25");
            over_mcp(calls, |method, params| client.request(method, params))
        }
    }
}

#[test]
fn a_call_is_the_same_call_on_every_front() {
    assert!(golden().len() >= 60, "{} calls", golden().len());
    let (sites, daemons) = machines();
    let all = [0, 1, 2, 3].map(|front| {
        let seen = over(front, &sites[front], &daemons[front], golden(), false);
        settled(seen, &sites[front])
    });
    daemons.into_iter().for_each(Daemon::stop);
    let [grpc, others @ ..] = all;
    // What fails everywhere is the same without being worth anything.
    for tool in WORKS {
        let works =
            |seen: &Seen| seen.call.split(' ').next() == Some(tool) && seen.error.is_empty();
        assert!(grpc.iter().any(works), "no call of {tool} works: {grpc:#?}");
    }
    for other in &others {
        for (grpc, other) in grpc.iter().zip(other) {
            assert_eq!(grpc, other);
        }
    }
    let [first, others @ ..] = sites.each_ref().map(|site| {
        let root = site.workspace();
        let all = site.snapshot().into_iter();
        all.map(|(path, text)| (path.strip_prefix(&root).unwrap().to_owned(), text))
            .collect::<Vec<_>>()
    });
    for other in &others {
        assert_eq!(first, *other);
    }
    let [first, others @ ..] = sites.each_ref().map(journal);
    for other in &others {
        for (first, other) in first.iter().zip(other) {
            assert_eq!(first, other);
        }
        assert_eq!(first.len(), other.len());
    }
}

#[test]
fn a_call_that_a_person_approves_is_done_alike_on_every_front() {
    let (sites, daemons) = machines();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let edit = || vec![("create_file", json!({ "path": "asked.txt", "content": "x\n" }))];
    let all = [0, 1, 2, 3].map(|front| {
        let (site, daemon) = (&sites[front], &daemons[front]);
        let approver = runtime.block_on(daemon.approver());
        // Where somebody watches, a call waits on every front.
        let mut watcher = runtime.block_on(approver.watch());
        let (seen, digest) = std::thread::scope(|scope| {
            let called = scope.spawn(|| over(front, site, daemon, edit(), true));
            let question = runtime.block_on(watcher.question());
            runtime.block_on(approver.approve(&question)).unwrap();
            (called.join().unwrap(), question.digest)
        });
        assert_eq!(site.read("asked.txt"), "x\n");
        let mut records = journal(site);
        let confirmed = records.iter_mut().find(|record| record["kind"] == "confirmation").unwrap();
        // The root of the workspace is a part of it.
        assert_eq!(confirmed["digest"].take(), digest);
        (settled(seen, site), records)
    });
    daemons.into_iter().for_each(Daemon::stop);
    let [(seen, records), others @ ..] = &all;
    assert_eq!((seen[0].error.as_str(), seen[0].changes[0].1.as_str()), ("", "committed"));
    assert!(records.iter().any(|record| record["kind"] == "committed"), "{records:#?}");
    for other in others {
        assert_eq!((seen, records), (&other.0, &other.1));
    }
}
