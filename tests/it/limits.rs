//! Every limit that a client can run into answers clearly, and is gone when the load is.

use moss_proto::v1;
use moss_proto::v1::stream_call_tool_response::Event;
use serde_json::json;
use tokio::task::JoinSet;
use tonic::Code;

use crate::harness::guests::{install, zoo};
use crate::harness::{Events, Site, call, details, failure, reason, until, waiting};
use crate::plugins::settled;

/// Calls that are answered while plugins keep every processor busy. A daemon that hears of nothing then
/// answers a handful.
const HEARD_MIN: usize = 20;

#[tokio::test]
async fn an_oversized_request_is_refused_and_the_connection_lives() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let big = "x".repeat(17 << 20);
    let status = client
        .call(call("create_file", json!({"path": "a.txt", "content": big})))
        .await
        .unwrap_err();
    assert!(
        matches!(status.code(), Code::OutOfRange | Code::ResourceExhausted),
        "{:?} {}",
        status.code(),
        status.message()
    );
    assert_eq!(reason(&status), "REQUEST_TOO_LARGE");
    assert!(status.message().contains("may have 16777216 (grpc.request_bytes_max)"), "{status:?}");
    client.done("list_directory", json!({"path": "."})).await;
    assert!(!site.has("a.txt"));
}

#[tokio::test]
async fn a_request_just_below_the_limit_is_taken() {
    let site = Site::allowing();
    site.config("[grpc]\nrequest_bytes_max = 100000\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let fits = json!({"path": "a.txt", "content": "x".repeat(90_000)});
    client.done("create_file", fits).await;
    let over = json!({"path": "b.txt", "content": "x".repeat(110_000)});
    client.call(call("create_file", over)).await.unwrap_err();
    assert!(site.has("a.txt") && !site.has("b.txt"));
}

#[tokio::test]
async fn an_output_above_the_limit_is_an_error_of_the_call() {
    let site = Site::new();
    site.config("[calls]\noutput_bytes_max = 2000\n");
    site.write("a.txt", "0123456789\n".repeat(1000));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let result = client.ran("read_file", json!({"path": "a.txt"})).await;
    assert_eq!(failure(&result).code, "too_large");
    assert!(failure(&result).message.contains("calls.output_bytes_max"), "{result:?}");
    client.done("read_file", json!({"path": "a.txt", "endLine": 10})).await;
}

#[tokio::test]
async fn files_above_the_limits_are_refused() {
    let site = Site::allowing();
    site.config("[files]\nedit_bytes_max = 1000\nread_bytes_max = 5000\n");
    site.write("edit.txt", "0123456789\n".repeat(100));
    site.write("read.txt", "0123456789\n".repeat(500));
    let daemon = site.serve();
    let client = daemon.caller().await;
    client.done("read_file", json!({"path": "edit.txt"})).await;
    let edit = json!({"path": "edit.txt", "startLine": 1, "endLine": 1, "newText": "x"});
    let edited = client.ran("replace_lines", edit).await;
    assert_eq!(failure(&edited).code, "too_large");
    assert!(failure(&edited).message.contains("(files.edit_bytes_max)"), "{edited:?}");
    let read = client.ran("read_file", json!({"path": "read.txt"})).await;
    assert_eq!(failure(&read).code, "too_large");
    assert!(failure(&read).message.contains("(files.read_bytes_max)"), "{read:?}");
    let create = json!({"path": "new.txt", "content": "x".repeat(1001)});
    assert_eq!(failure(&client.ran("create_file", create).await).code, "too_large");
    assert!(!site.has("new.txt"));
}

#[tokio::test]
async fn too_many_questions_are_refused_with_a_time_to_try_again() {
    let site = Site::new();
    site.config("[confirmations]\npending_max = 2\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut open: Vec<(Events, v1::Confirmation)> = Vec::new();
    let edit = |path: &str| waiting("create_file", json!({"path": path, "content": "x\n"}));
    for path in ["a.txt", "b.txt"] {
        let mut events = caller.stream(edit(path)).await.unwrap();
        let question = events.question().await;
        open.push((events, question));
    }
    let status = caller.call(edit("c.txt")).await.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::ResourceExhausted, "CONFIRMATIONS_FULL")
    );
    assert!(details(&status).retry_info().unwrap().retry_delay.is_some());
    assert!(status.message().contains("confirmations.pending_max"), "{}", status.message());
    let (events, question) = open.pop().unwrap();
    approver.approve(&question).await.unwrap();
    events.end().await.unwrap();
    let mut events = caller.stream(edit("c.txt")).await.unwrap();
    approver.approve(&events.question().await).await.unwrap();
    events.end().await.unwrap();
    assert!(site.has("b.txt") && site.has("c.txt") && !site.has("a.txt"));
}

#[tokio::test]
async fn a_full_queue_of_calls_is_refused_and_drains() {
    let site = Site::new();
    site.config("[calls]\nrunning_max = 1\nqueued_max = 1\n");
    install(&site, &[("zoo", &zoo("spin"), json!({ "limits": { "timeout": "10m" } }))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("the plugin is there", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    let runs = client.stream(call("act", json!({}))).await.unwrap();
    until("it runs", async || client.load().await.calls_running == 1).await;
    let waits = tokio::spawn({
        let client = client.clone();
        async move { client.done("list_directory", json!({"path": "."})).await }
    });
    until("another waits", async || client.load().await.calls_queued == 1).await;
    let status = client.call(call("list_directory", json!({"path": "."}))).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::ResourceExhausted, "QUEUE_FULL"));
    assert!(details(&status).retry_info().is_some());
    // A person is not kept out.
    daemon.approver().await.done("list_directory", json!({"path": "."})).await;
    drop(runs);
    assert_eq!(waits.await.unwrap()["truncated"], false);
}

#[tokio::test]
async fn calls_that_run_or_wait_hold_a_bounded_part_of_the_memory() {
    let site = Site::allowing();
    site.config("[calls]\nrunning_max = 1\ncaller_bytes_max = 1_000_000\n");
    install(&site, &[("zoo", &zoo("spin"), json!({ "limits": { "timeout": "10m" } }))]);
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    until("the plugin is there", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    let runs = client.stream(call("act", json!({}))).await.unwrap();
    until("it runs", async || client.load().await.calls_running == 1).await;
    let content = "x".repeat(200_000);
    let create = |path: &str| call("create_file", json!({ "path": path, "content": content }));
    let mut waiting = vec![client.stream(create("a")).await.unwrap()];
    until("it waits", async || client.load().await.calls_queued == 1).await;
    // A person has a slot, and a part of the memory, in any case.
    approver.call(create("b")).await.unwrap();
    for path in ["c", "d", "e"] {
        let status = client.call(create(path)).await.unwrap_err();
        let found = (status.code(), reason(&status));
        assert_eq!(found, (Code::ResourceExhausted, "CALLS_TOO_LARGE".to_owned()));
        assert!(details(&status).retry_info().is_some());
        assert!(status.message().contains("calls.caller_bytes_max"), "{}", status.message());
    }
    // A small one waits like any other.
    waiting.push(client.stream(call("list_directory", json!({ "path": "." }))).await.unwrap());
    until("it waits", async || client.load().await.calls_queued == 2).await;
    drop(runs);
    for events in waiting {
        events.end().await.unwrap();
    }
    client.call(create("c")).await.unwrap();
    assert!(["a", "b", "c"].iter().all(|path| site.has(path)) && !site.has("d"));
    let large = call("create_file", json!({ "path": "d", "content": "x".repeat(400_000) }));
    let status = client.call(large).await.unwrap_err();
    assert_eq!(reason(&status), "CALLS_TOO_LARGE");
}

#[tokio::test]
async fn a_named_token_holds_half_of_what_all_callers_may() {
    let mut site = Site::allowing();
    site.config("[calls]\ncaller_bytes_max = 1_000_000\n");
    let ci = crate::tokens::create(&site, "ci");
    let daemon = crate::tokens::serve(&mut site);
    let (named, client) = (daemon.dial(Some(&ci)).await, daemon.caller().await);
    let create = |path: &str, bytes: usize| {
        call("create_file", json!({ "path": path, "content": "x".repeat(bytes) }))
    };
    let status = named.call(create("a", 200_000)).await.unwrap_err();
    assert_eq!(reason(&status), "CALLS_TOO_LARGE");
    assert!(status.message().contains(": 500000 bytes"), "{}", status.message());
    named.call(create("a", 150_000)).await.unwrap();
    client.call(create("b", 200_000)).await.unwrap();
}

#[tokio::test]
async fn a_call_that_is_asked_about_holds_no_part_of_what_running_calls_hold() {
    let site = Site::new();
    site.config("[calls]\ncaller_bytes_max = 1_000_000\n");
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let create = |path: &str| {
        waiting("create_file", json!({ "path": path, "content": "x".repeat(200_000) }))
    };
    let mut asked = Vec::new();
    for path in ["a", "b", "c"] {
        let mut events = client.stream(create(path)).await.unwrap();
        let question = events.question().await;
        asked.push((events, question));
    }
    for (events, question) in asked {
        approver.approve(&question).await.unwrap();
        events.end().await.unwrap();
    }
    assert!(["a", "b", "c"].iter().all(|path| site.has(path)));
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_takes_no_slot() {
    let site = Site::new();
    site.config("[calls]\nrunning_max = 1\nqueued_max = 1\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut open = Vec::new();
    for path in ["a.txt", "b.txt", "c.txt"] {
        let edit = waiting("create_file", json!({"path": path, "content": "x\n"}));
        let mut events = caller.stream(edit).await.unwrap();
        let question = events.question().await;
        open.push((events, question));
    }
    caller.done("list_directory", json!({"path": "."})).await;
    for (events, question) in open {
        approver.approve(&question).await.unwrap();
        events.end().await.unwrap();
    }
    assert!(site.has("a.txt") && site.has("b.txt") && site.has("c.txt"));
}

#[tokio::test]
async fn more_requests_than_a_connection_carries_wait_for_their_turn() {
    let site = Site::new();
    site.config("[grpc]\nstreams_max = 2\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let edit = |path: &str| waiting("create_file", json!({"path": path, "content": "x\n"}));
    let mut open = Vec::new();
    for path in ["a.txt", "b.txt"] {
        let mut events = caller.stream(edit(path)).await.unwrap();
        let question = events.question().await;
        open.push((events, question));
    }
    let third = tokio::spawn({
        let caller = caller.clone();
        async move { caller.call(call("list_directory", json!({"path": "."}))).await }
    });
    // Another connection is not concerned.
    approver.done("list_directory", json!({"path": "."})).await;
    for (events, question) in open {
        approver.approve(&question).await.unwrap();
        events.end().await.unwrap();
    }
    third.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_broken_configuration_stops_the_daemon_with_its_location() {
    for (text, word) in [
        ("[call]\nrunning_max = 1\n", "calls"),
        ("[calls]\nruning_max = 1\n", "running_max"),
        ("[calls]\nrunning_max = \"many\"\n", "integer"),
        ("[calls]\nrunning_max = 0\n", "integer from 1"),
        ("[calls\n", "config.toml:1:7: unclosed table"),
    ] {
        let site = Site::new();
        site.config(text);
        let ended = site.serve_refused();
        assert_eq!(ended.code, Some(2), "{text}: {ended:?}");
        assert!(ended.stderr.contains("config.toml"), "{text}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{text}: `{word}` is not in {}", ended.stderr);
    }
}

#[tokio::test]
async fn a_huge_effect_is_shown_in_part_and_harms_no_stream() {
    let site = Site::new();
    site.write("a.txt", "0123456789abcdef\n".repeat(550_000));
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut watcher = approver.watch().await;
    let content = "fedcba9876543210\n".repeat(450_000);
    let edit = json!({"path": "a.txt", "content": content, "overwrite": true});
    let mut events = caller.stream(waiting("create_file", edit)).await.unwrap();
    let asked = events.question().await;
    // A client with the usual limit on messages follows the confirmations, too.
    let seen = watcher.question().await;
    assert_eq!((&seen.id, &seen.changes[0].diff), (&asked.id, &asked.changes[0].diff));
    let shown = &seen.changes[0];
    assert_eq!((shown.lines_added, shown.lines_removed), (450_000, 550_000));
    assert!(shown.diff.len() < 4 << 20, "{}", shown.diff.len());
    let end = shown.diff.lines().last().unwrap();
    assert!(end.contains("calls.diff_bytes_max"), "it does not say that it is cut: {end}");
    assert!(seen.truncated && shown.diff_omitted_bytes > 0);
    approver.approve_by_digest(&seen).await.unwrap();
    let result = events.end().await.unwrap();
    assert_eq!(result.changes[0].status(), v1::ChangeStatus::Committed);
    assert_eq!(site.bytes("a.txt").len(), content.len());
    let request = v1::GetHistoryEntryRequest { number: 1, ..Default::default() };
    let entry = caller.history().get_history_entry(request).await.unwrap().into_inner();
    assert_eq!(entry.entry.unwrap().changes[0].lines_added, 450_000);
    caller.history().list_history(v1::ListHistoryRequest::default()).await.unwrap();
}

#[tokio::test]
async fn calls_that_wait_for_a_plugin_keep_nobody_from_other_tools() {
    let site = Site::new();
    site.config("[calls]\nrunning_max = 2\n");
    let slow = json!({ "limits": { "calls": 1, "timeout": "10m" } });
    install(&site, &[("zoo", &zoo("spin"), slow)]);
    site.write("a.txt", "a\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    let mut slow = Vec::new();
    for _ in 0..3 {
        let mut events = client.stream(call("act", json!({}))).await.unwrap();
        assert!(matches!(events.next().await.unwrap(), Some(Event::Started(_))));
        slow.push(events);
    }
    for _ in 0..5 {
        client.done("read_file", json!({ "path": "a.txt" })).await;
    }
}

#[tokio::test]
async fn plugins_that_take_every_processor_keep_nobody_from_being_heard() {
    let site = Site::new();
    let calls = std::thread::available_parallelism().unwrap().get().min(16) * 2;
    let limits = json!({ "limits": { "timeout": "2s", "calls": calls } });
    install(&site, &[("zoo", &zoo("spin"), limits)]);
    site.write("a.txt", "a\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    let mut spinning = JoinSet::new();
    for _ in 0..calls {
        let client = client.clone();
        spinning.spawn(async move { client.ran("act", json!({})).await });
    }
    let running = async || client.load().await.calls_running as usize;
    until("all of them run", async || running().await == calls).await;
    let mut heard = 0;
    while running().await == calls {
        client.done("read_file", json!({ "path": "a.txt" })).await;
        heard += 1;
    }
    assert!(heard >= HEARD_MIN, "{heard} calls were answered");
    for result in spinning.join_all().await {
        assert_eq!(failure(&result).code, "timeout");
    }
}
