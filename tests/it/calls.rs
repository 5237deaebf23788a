//! Listing tools and calling them: unary and streamed, every tool once, deadlines, going away.

use std::time::Duration;

use moss_proto::v1;
use moss_proto::v1::stream_call_tool_response::Event;
use serde_json::{Value, json};
use tonic::{Code, Request};

use crate::harness::{
    Client, Site, Watcher, call, details, failure, output, reason, refusing, until, waiting, within,
};

/// The tools in the order of listings.
pub(crate) const TOOLS: &[&str] = &[
    "codebase_search",
    "read_file",
    "replace_lines",
    "insert_line",
    "delete_lines",
    "replace_text",
    "list_directory",
    "get_project_structure",
    "get_cursor_context",
    "create_file",
    "delete_file",
    "grep_search",
    "file_search",
    "find_code_location",
    "run_terminal_cmd",
    "reapply",
    "diff_history",
    "lint_check",
    "run_tests",
    "patch",
    "editTool",
    "clarify",
    "todo",
    "terminal_job",
    "moss_register_plugin_tool",
    "moss_update_asi_user_prompt",
];
/// The tools that ask whatever the rules say.
const ASKING: &[&str] = &["moss_register_plugin_tool"];
/// The tool that runs commands.
const RUNS: &str = "run_terminal_cmd";
/// The tool that follows commands in the background.
const JOBS: &str = "terminal_job";
/// The tool that runs tests.
const TESTS: &str = "run_tests";
/// A test that passes, without anything that has to be installed.
const PASSING: &str =
    "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n";
/// The tool that runs linters.
const LINTS: &str = "lint_check";
/// The file that the calls are about.
const FILE: &str = "a/b.txt";
/// The tools that only read.
const READS: &[&str] = &[
    "codebase_search",
    "read_file",
    "list_directory",
    "get_project_structure",
    "get_cursor_context",
    "grep_search",
    "file_search",
    "find_code_location",
    "diff_history",
    "clarify",
    "todo",
];
/// The tools that take no path.
const PATHLESS: &[&str] = &[
    "codebase_search",
    "get_project_structure",
    "get_cursor_context",
    "grep_search",
    "file_search",
    RUNS,
    JOBS,
    TESTS,
    "reapply",
    "clarify",
    "todo",
    "moss_register_plugin_tool",
    "moss_update_asi_user_prompt",
];

async fn list(client: &Client, request: v1::ListToolsRequest) -> v1::ListToolsResponse {
    client.tools().list_tools(request).await.unwrap().into_inner()
}

#[tokio::test]
async fn tools_are_listed_in_their_order_with_schemas() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let listed = list(&client, v1::ListToolsRequest::default()).await;
    let names: Vec<_> = listed.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, TOOLS);
    for tool in &listed.tools {
        let parameters: Value = serde_json::from_str(&tool.parameters_json).unwrap();
        assert_eq!(parameters["type"], "object", "{}", tool.name);
        let has_path =
            ["path", "filePath"].iter().any(|key| parameters["properties"][key].is_object());
        assert_ne!(has_path, PATHLESS.contains(&tool.name.as_str()), "{}", tool.name);
        let output: Value = serde_json::from_str(&tool.output_json).unwrap();
        assert_eq!(output["type"], "object", "{}", tool.name);
        let effect = match tool.name.as_str() {
            RUNS | JOBS | TESTS | LINTS => v1::Effect::Exec,
            name if READS.contains(&name) => v1::Effect::Read,
            _ => v1::Effect::Write,
        };
        assert_eq!(tool.effect(), effect, "{}", tool.name);
        assert_eq!(tool.plugin, "");
        assert!(!tool.title.is_empty() && !tool.description.is_empty());
    }
    let again = list(&client, v1::ListToolsRequest::default()).await;
    assert_eq!(again.catalog_digest, listed.catalog_digest);
}

#[tokio::test]
async fn tools_are_described_in_two_languages() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let language = v1::Language::Zh.into();
    let chinese = list(&client, v1::ListToolsRequest { language, ..Default::default() }).await;
    let english = list(&client, v1::ListToolsRequest::default()).await;
    for (zh, en) in chinese.tools.iter().zip(&english.tools) {
        assert_eq!(zh.name, en.name);
        let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        assert!(is_chinese(&zh.description), "{}", zh.description);
        assert!(!is_chinese(&en.description), "{}", en.description);
    }
    let request = v1::ListToolsRequest { language: 77, ..Default::default() };
    let status = client.tools().list_tools(request).await.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::InvalidArgument, "REQUEST_INVALID")
    );
}

#[tokio::test]
async fn one_tool_is_returned_and_an_unknown_one_gets_the_nearest_names() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let get = |name: &str| v1::GetToolRequest { name: name.to_owned(), ..Default::default() };
    let tool = client.tools().get_tool(get("read_file")).await.unwrap().into_inner().tool.unwrap();
    assert_eq!(tool.name, "read_file");
    let by_get = client.tools().get_tool(get("reed_file")).await.unwrap_err();
    let by_call = client.call(call("reed_file", json!({}))).await.unwrap_err();
    for status in [by_get, by_call] {
        assert_eq!(status.code(), Code::NotFound);
        assert_eq!(reason(&status), "TOOL_UNKNOWN");
        let facts = details(&status).error_info().unwrap().metadata.clone();
        assert!(facts["nearest"].split(',').any(|name| name == "read_file"), "{facts:?}");
        assert!(status.message().contains("`read_file`"), "{}", status.message());
    }
    let status = client.call(call("xyzzy", json!({}))).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
    let status = client.call(call(&"x".repeat(256), json!({}))).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound, "{status:?}");
    // As long as a request may be: it costs no more, and the status still fits into the trailers.
    let long = "ü".repeat(3_000_000);
    let status = client.call(call(&long, json!({}))).await.unwrap_err();
    assert_eq!(reason(&status), "REQUEST_INVALID", "{status:?}");
    let status = client.call(call("read_file", json!({"path": "a", long: 1}))).await.unwrap_err();
    assert_eq!(reason(&status), "ARGUMENTS_INVALID", "{status:?}");
}

#[tokio::test]
async fn a_workspace_that_is_not_served_is_named() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let root = site.workspace().display().to_string();
    let served =
        v1::Call { workspace: root.clone(), ..call("list_directory", json!({"path": "."})) };
    client.call(served.clone()).await.unwrap();
    let status =
        client.call(v1::Call { workspace: "/elsewhere".into(), ..served }).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::NotFound, "WORKSPACE_UNKNOWN"));
    assert!(status.message().contains(&root), "{}", status.message());
}

/// A call, and what must be in the workspace after it.
type Step = (&'static str, Value, &'static str, Option<&'static str>);

/// Every tool once, in an order in which each finds what it needs.
fn steps() -> Vec<Step> {
    let test = json!({"path": "test_a.py", "content": PASSING});
    let mut steps = vec![
        ("create_file", test, "test_a.py", Some(PASSING)),
        (TESTS, json!({}), "test_a.py", Some(PASSING)),
    ];
    steps.extend(steps_with_files());
    steps
}

fn steps_with_files() -> Vec<Step> {
    vec![
        ("create_file", json!({"path": FILE, "content": "one\ntwo\n"}), FILE, Some("one\ntwo\n")),
        ("read_file", json!({"path": FILE}), FILE, Some("one\ntwo\n")),
        (
            "insert_line",
            json!({"path": FILE, "line": 3, "text": "three"}),
            FILE,
            Some("one\ntwo\nthree\n"),
        ),
        (
            "replace_lines",
            json!({"path": FILE, "startLine": 1, "endLine": 2, "newText": "1\n2"}),
            FILE,
            Some("1\n2\nthree\n"),
        ),
        (
            "delete_lines",
            json!({"path": FILE, "startLine": 2, "endLine": 2}),
            FILE,
            Some("1\nthree\n"),
        ),
        (
            "replace_text",
            json!({"path": FILE, "oldText": "three", "newText": "drei"}),
            FILE,
            Some("1\ndrei\n"),
        ),
        (
            "patch",
            json!({"path": FILE, "old_string": "  drei\n", "new_string": "  vier\n"}),
            FILE,
            Some("1\nvier\n"),
        ),
        (
            "editTool",
            json!({
                "filePath": FILE,
                "diffContent": "------- SEARCH\nvier\n=======\ndrei\n+++++++ REPLACE\n",
            }),
            FILE,
            Some("1\ndrei\n"),
        ),
        ("list_directory", json!({"path": "a"}), FILE, Some("1\ndrei\n")),
        ("get_cursor_context", json!({}), FILE, Some("1\ndrei\n")),
        ("clarify", json!({"question": "Which?"}), FILE, Some("1\ndrei\n")),
        ("todo", json!({"items": [{"id": "1", "content": "look"}]}), FILE, Some("1\ndrei\n")),
        (
            "moss_update_asi_user_prompt",
            json!({"content": "Use tabs.", "mode": "append"}),
            FILE,
            Some("1\ndrei\n"),
        ),
        ("get_project_structure", json!({}), FILE, Some("1\ndrei\n")),
        ("grep_search", json!({"pattern": "d.ei"}), FILE, Some("1\ndrei\n")),
        ("file_search", json!({"pattern": "b.txt"}), FILE, Some("1\ndrei\n")),
        ("codebase_search", json!({"query": "drei"}), FILE, Some("1\ndrei\n")),
        ("find_code_location", json!({"search": "drei"}), FILE, Some("1\ndrei\n")),
        (RUNS, json!({"command": "cat a/b.txt"}), FILE, Some("1\ndrei\n")),
        (JOBS, json!({"action": "list"}), FILE, Some("1\ndrei\n")),
        (LINTS, json!({"path": FILE}), FILE, Some("1\ndrei\n")),
        ("diff_history", json!({"limit": 1}), FILE, Some("1\ndrei\n")),
        ("delete_file", json!({"path": FILE}), FILE, None),
        ("reapply", json!({"index": 7}), FILE, Some("one\ntwo\n")),
    ]
}

#[tokio::test]
async fn every_tool_works_unary_and_streamed_with_the_same_result() {
    let mut outputs: Vec<Vec<Value>> = Vec::new();
    for streamed in [false, true] {
        let site = Site::new();
        site.user_policy("version = 1\n[[rule]]\ndecision = \"allow\"\n");
        let daemon = site.serve();
        let client = daemon.caller().await;
        let mut of_run = Vec::new();
        for (tool, arguments, path, expected) in steps() {
            let call = call(tool, arguments);
            let result = if streamed {
                client.stream(call).await.unwrap().end().await.unwrap()
            } else {
                client.call(call).await.unwrap()
            };
            assert_eq!(result.tool, tool);
            let mut output = output(&result);
            let content = site.has(path).then(|| site.read(path));
            assert_eq!(content.as_deref(), expected, "after {tool}");
            if tool == "list_directory" {
                assert_eq!(output["entries"][0]["path"], "a/b.txt");
                output["entries"][0]["modified"].take();
            }
            if tool == "diff_history" {
                assert_eq!(output["changes"][0]["tool"], "editTool");
                output["changes"][0]["time"].take();
            }
            if tool == RUNS {
                assert_eq!(output["stdout"], "1\ndrei\n");
                output["duration_ms"].take();
            }
            if tool == TESTS {
                assert_eq!(output["totals"]["passed"], 1, "{output}");
                output["duration_ms"].take();
            }
            // Nothing is configured here: no linter runs.
            let has_effect = !READS.contains(&tool) && tool != JOBS && tool != LINTS;
            let writes = has_effect && tool != RUNS && tool != TESTS;
            let committed =
                result.changes.iter().all(|c| c.status() == v1::ChangeStatus::Committed);
            assert_eq!(result.changes.len(), usize::from(writes), "{tool}");
            assert!(committed, "{:?}", result.changes);
            assert_eq!(!result.digest.is_empty(), has_effect, "{tool}");
            of_run.push(output);
        }
        let names: std::collections::BTreeSet<_> = steps().iter().map(|step| step.0).collect();
        assert_eq!(names.len() + ASKING.len(), TOOLS.len());
        outputs.push(of_run);
    }
    assert_eq!(outputs[0], outputs[1]);
}

#[tokio::test]
async fn a_stream_starts_with_the_call_and_ends_with_its_result() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let edit = waiting("create_file", json!({"path": "a.txt", "content": "new\n"}));
    let mut events = caller.stream(edit).await.unwrap();
    let Some(Event::Started(started)) = events.next().await.unwrap() else { panic!("no start") };
    let question = events.question().await;
    assert_eq!(question.call_id, started.call_id);
    assert_eq!(question.state(), v1::ConfirmationState::Pending);
    approver.approve(&question).await.unwrap();
    let result = events.end().await.unwrap();
    assert_eq!(result.call_id, started.call_id);
    assert!(result.duration.is_some());
    assert_eq!(site.read("a.txt"), "new\n");
}

#[tokio::test]
async fn a_stream_that_cannot_run_ends_with_the_status() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let edit = refusing("create_file", json!({"path": "a.txt", "content": "new\n"}));
    let mut events = client.stream(edit).await.unwrap();
    assert!(matches!(events.next().await.unwrap(), Some(Event::Started(_))));
    let shown = events.question().await;
    assert!(shown.changes[0].diff.contains("+new"), "{}", shown.changes[0].diff);
    let status = events.end().await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert!(!site.has("a.txt"));
}

#[tokio::test]
async fn a_dry_run_shows_the_effect_and_does_nothing() {
    let site = Site::new();
    site.write("a.txt", "old\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let arguments = json!({"path": "a.txt", "oldText": "old", "newText": "new"});
    let dry = v1::Call { dry_run: true, ..call("replace_text", arguments) };
    let result = client.call(dry).await.unwrap();
    assert_eq!(output(&result)["applied"], false);
    assert_eq!(result.changes[0].status(), v1::ChangeStatus::Proposed);
    assert_eq!(result.changes[0].action(), v1::ChangeAction::Modify);
    assert!(result.changes[0].diff.contains("-old\n+new\n"), "{}", result.changes[0].diff);
    assert_eq!(result.digest.len(), 64);
    assert_eq!(site.read("a.txt"), "old\n");
    assert!(client.numbers().await.is_empty());
}

#[tokio::test]
async fn expected_hashes_hold_files_to_what_the_caller_saw() {
    let site = Site::allowing();
    site.write("a.txt", "old\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let hash = client.done("read_file", json!({"path": "a.txt"})).await["hash"].clone();
    let hash = hash.as_str().unwrap().to_owned();
    assert_eq!(hash, blake3::hash(b"old\n").to_hex().as_str());
    let edit = |old: &str, new: &str| {
        let arguments = json!({"path": "a.txt", "oldText": old, "newText": new});
        let expected_hashes = [("a.txt".to_owned(), hash.clone())].into();
        v1::Call { expected_hashes, ..call("replace_text", arguments) }
    };
    output(&client.call(edit("old", "new")).await.unwrap());
    let result = client.call(edit("new", "newer")).await.unwrap();
    assert_eq!(failure(&result).code, "conflict");
    assert_eq!(site.read("a.txt"), "new\n");
    let broken = v1::Call {
        expected_hashes: [("a.txt".to_owned(), "12".to_owned())].into(),
        ..edit("new", "newer")
    };
    let status = client.call(broken).await.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::InvalidArgument, "REQUEST_INVALID")
    );
}

#[tokio::test]
async fn a_session_notices_that_a_file_changed_since_it_was_read() {
    let site = Site::allowing();
    site.write("a.txt", "one\ntwo\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let in_session = |session: &str, tool: &str, arguments: Value| v1::Call {
        session_id: session.to_owned(),
        ..call(tool, arguments)
    };
    let edit = json!({"path": "a.txt", "startLine": 2, "endLine": 2, "newText": "2"});
    let read = in_session("s", "read_file", json!({"path": "a.txt"}));
    output(&client.call(read).await.unwrap());
    site.write("a.txt", "zero\none\ntwo\n");
    let stale = client.call(in_session("s", "replace_lines", edit.clone())).await.unwrap();
    assert_eq!(failure(&stale).code, "conflict");
    assert!(failure(&stale).message.contains("one"), "{:?}", stale.error);
    assert_eq!(site.read("a.txt"), "zero\none\ntwo\n");
    std::fs::remove_file(site.workspace().join("a.txt")).unwrap();
    let gone = client.call(in_session("s", "replace_lines", edit.clone())).await.unwrap();
    assert_eq!(failure(&gone).code, "not_found");
    assert!(!site.has("a.txt"));
    site.write("a.txt", "zero\none\ntwo\n");
    // Somebody else's reads are not this session's.
    output(&client.call(in_session("other", "replace_lines", edit)).await.unwrap());
    assert_eq!(site.read("a.txt"), "zero\n2\ntwo\n");
}

/// Times for a call that waits: the first one that is enough for the question to be asked.
const DEADLINES: [Duration; 3] =
    [Duration::from_millis(300), Duration::from_secs(3), Duration::from_secs(30)];

/// Starts a unary call with a deadline; returns whether it came to ask before its time was over.
async fn asked_in_time(caller: &Client, watcher: &mut Watcher, time: Duration) -> bool {
    let call = waiting("create_file", json!({"path": "a.txt", "content": "new\n"}));
    let mut request = Request::new(v1::CallToolRequest { call: Some(call) });
    request.set_timeout(time);
    let mut tools = caller.tools();
    let ends = async {
        // This client gives up by itself; its own status is not what is tested.
        within("the deadline", tools.call_tool(request)).await.unwrap_err();
    };
    tokio::pin!(ends);
    tokio::select! {
        biased;
        _ = watcher.question() => {
            ends.await;
            true
        }
        () = &mut ends => false,
    }
}

#[tokio::test]
async fn a_deadline_ends_a_call_that_waits() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut watcher = approver.watch().await;
    let mut asked = false;
    for time in DEADLINES {
        asked = asked || asked_in_time(&caller, &mut watcher, time).await;
    }
    assert!(asked, "the call never came to ask");
    assert_eq!(watcher.reached(v1::ConfirmationState::Withdrawn).await.tool, "create_file");
    until("nothing waits", async || approver.pending().await.is_empty()).await;
    assert!(!site.has("a.txt"));
}

#[tokio::test]
async fn a_deadline_ends_a_stream_with_its_status() {
    let site = Site::new();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let call = waiting("create_file", json!({"path": "a.txt", "content": "new\n"}));
    let mut request = Request::new(v1::StreamCallToolRequest { call: Some(call) });
    request.set_timeout(Duration::from_secs(5));
    let mut events = caller.tools().stream_call_tool(request).await.unwrap().into_inner();
    let end = within("the deadline", async {
        loop {
            match events.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the stream ends without a status"),
                Err(status) => return status,
            }
        }
    });
    let status = end.await;
    assert_eq!((status.code(), reason(&status).as_str()), (Code::DeadlineExceeded, "CALL_TIMEOUT"));
    assert!(!site.has("a.txt"));
}

#[tokio::test]
async fn a_call_has_a_longest_life_of_its_own() {
    let site = Site::new();
    site.config("[calls]\ntimeout_ms = 300\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let edit = waiting("create_file", json!({"path": "a.txt", "content": "new\n"}));
    let status = client.call(edit).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert_eq!(reason(&status), "CALL_TIMEOUT");
    assert!(!site.has("a.txt"));
}

#[tokio::test]
async fn a_client_that_goes_cancels_its_call() {
    let site = Site::new();
    let daemon = site.serve();
    let approver = daemon.approver().await;
    let mut watcher = approver.watch().await;
    let edit = || waiting("create_file", json!({"path": "a.txt", "content": "new\n"}));

    // The stream is dropped.
    let caller = daemon.caller().await;
    let mut events = caller.stream(edit()).await.unwrap();
    events.question().await;
    drop(events);
    watcher.reached(v1::ConfirmationState::Withdrawn).await;

    // A unary request is dropped.
    let waits = tokio::spawn(async move { caller.call(edit()).await });
    watcher.question().await;
    waits.abort();
    let over = watcher.reached(v1::ConfirmationState::Withdrawn).await;

    // The whole connection is gone.
    let caller = daemon.caller().await;
    let mut events = caller.stream(edit()).await.unwrap();
    events.question().await;
    drop((events, caller));
    watcher.reached(v1::ConfirmationState::Withdrawn).await;

    assert!(approver.pending().await.is_empty());
    let status = approver.approve(&over).await.unwrap_err();
    assert_eq!(reason(&status), "CONFIRMATION_OVER");
    until("the slots are free", async || approver.load().await.calls_running == 0).await;
    assert!(!site.has("a.txt"));
}

#[tokio::test]
async fn many_calls_at_once_get_their_own_results() {
    let site = Site::new();
    for index in 0..40 {
        site.write(&format!("{index}.txt"), format!("content {index}\n"));
    }
    let daemon = site.serve();
    let client = daemon.caller().await;
    let calls: Vec<_> = (0..40)
        .map(|index| {
            let client = client.clone();
            tokio::spawn(async move {
                client.done("read_file", json!({"path": format!("{index}.txt")})).await
            })
        })
        .collect();
    for (index, call) in calls.into_iter().enumerate() {
        let content = call.await.unwrap()["content"].as_str().unwrap().to_owned();
        assert!(content.ends_with(&format!("content {index}")), "{content}");
    }
}
