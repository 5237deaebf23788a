//! Ending the daemon: what runs may finish, what waits is withdrawn, nothing is half done.

use std::time::Instant;

use moss_proto::v1;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tonic::Code;

use crate::harness::guests::{install, zoo};
use crate::harness::{Daemon, Site, call, until, waiting};

#[tokio::test]
async fn an_idle_daemon_ends_at_once_on_either_signal() {
    for signal in [Signal::TERM, Signal::INT] {
        let site = Site::new();
        let daemon = site.serve();
        // A connection without requests holds nothing up.
        let client = daemon.caller().await;
        client.load().await;
        let asked = Instant::now();
        kill_process(Pid::from_raw(daemon.pid().try_into().unwrap()).unwrap(), signal).unwrap();
        assert_eq!(daemon.wait().code(), Some(0), "{signal:?}");
        assert!(!site.socket().exists());
        // The grace time for calls is 10 s; there is none to wait for.
        assert!(asked.elapsed().as_secs() < 9, "{:?}", asked.elapsed());
    }
}

#[tokio::test]
async fn daemon_ends_with_the_program_that_holds_its_input() {
    let site = Site::new();
    let (input, held) = std::io::pipe().unwrap();
    let mut command = site.serve_command();
    command.arg("--stop-with-stdin").stdin(input);
    let daemon = Daemon::start(command, &site.socket(), &site.state());
    daemon.caller().await.load().await;
    drop(held);
    assert_eq!(daemon.wait().code(), Some(0));
    assert!(!site.socket().exists());
}

#[tokio::test]
async fn questions_are_withdrawn_when_the_daemon_ends() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut watcher = approver.watch().await;
    let edit = |path: &str| waiting("create_file", json!({"path": path, "content": "x\n"}));
    let mut events = caller.stream(edit("a.txt")).await.unwrap();
    events.question().await;
    let unary = tokio::spawn({
        let caller = caller.clone();
        async move { caller.call(edit("b.txt")).await }
    });
    watcher.question().await;
    watcher.question().await;
    daemon.terminate();
    assert_eq!(events.end().await.unwrap_err().code(), Code::Cancelled);
    assert_eq!(unary.await.unwrap().unwrap_err().code(), Code::Cancelled);
    // The watch ends, it does not break.
    while let Some(change) = watcher.next().await {
        assert_eq!(change.state(), v1::ConfirmationState::Withdrawn);
    }
    assert_eq!(daemon.wait().code(), Some(0));
    assert!(!site.has("a.txt") && !site.has("b.txt"));
}

#[tokio::test]
async fn a_running_call_gets_time_and_is_then_cancelled() {
    let site = Site::new();
    site.config("[shutdown]\ngrace_ms = 300\n");
    install(&site, &[("zoo", &zoo("spin"), json!({ "limits": { "timeout": "10m" } }))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("the plugin is there", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    let events = client.stream(call("act", json!({}))).await.unwrap();
    until("it runs", async || client.load().await.calls_running == 1).await;
    daemon.terminate();
    assert_eq!(events.end().await.unwrap_err().code(), Code::Cancelled);
    assert_eq!(daemon.wait().code(), Some(0));
}

#[tokio::test]
async fn a_call_that_ends_within_the_grace_time_is_answered() {
    let site = Site::new();
    install(&site, &[("zoo", &zoo("spin"), json!({ "limits": { "timeout": "1500ms" } }))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("the plugin is there", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    let events = client.stream(call("act", json!({}))).await.unwrap();
    until("it runs", async || client.load().await.calls_running == 1).await;
    daemon.terminate();
    let result = events.end().await.unwrap();
    assert_eq!(crate::harness::failure(&result).code, "timeout");
    assert_eq!(daemon.wait().code(), Some(0));
}

// Elsewhere `stop` waits until nobody has the number, and this process keeps that of its own child.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_lets_a_running_call_end_and_then_finds_no_daemon() {
    let site = Site::new();
    install(&site, &[("zoo", &zoo("spin"), json!({ "limits": { "timeout": "5s" } }))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("the plugin is there", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    let events = client.stream(call("act", json!({}))).await.unwrap();
    until("it runs", async || client.load().await.calls_running == 1).await;
    let stopped = site.run(&["stop", "--json"]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    let said: Value = serde_json::from_str(&stopped.stdout).unwrap();
    assert_eq!(said, json!({ "outcome": "ok", "pid": daemon.pid() }));
    let result = events.end().await.unwrap();
    assert_eq!(crate::harness::failure(&result).code, "timeout");
    assert_eq!(daemon.wait().code(), Some(0));
    let again = site.run(&["stop"]);
    assert_eq!(again.code, Some(5), "{again:?}");
    assert!(again.stderr.contains("no daemon listens on"), "{again:?}");
    // What other commands are advised to do would be the contrary.
    assert!(!again.stderr.contains("moss serve"), "{again:?}");
}

/// Edits without end until the daemon goes; returns the numbers that were answered as written.
async fn edit_until_the_end(client: crate::harness::Client, path: String) -> Vec<u64> {
    let mut written = Vec::new();
    for number in 0.. {
        let content = format!("{number}\n").repeat(2000);
        let edit = json!({"path": path, "content": content, "overwrite": true});
        match client.call(call("create_file", edit)).await {
            Ok(result) => {
                crate::harness::output(&result);
                written.push(number);
            }
            Err(status) => {
                let codes = [Code::Cancelled, Code::Unavailable, Code::Unknown];
                // The connection itself may go away in the middle of a call.
                let is_cut = std::error::Error::source(&status).is_some();
                assert!(is_cut || codes.contains(&status.code()), "{status:?}");
                break;
            }
        }
    }
    written
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_are_whole_and_in_the_history_when_the_daemon_ends_among_them() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let editors: Vec<_> = (0..4)
        .map(|n| tokio::spawn(edit_until_the_end(client.clone(), format!("{n}.txt"))))
        .collect();
    until("much is written", async || client.numbers().await.len() >= 20).await;
    daemon.terminate();
    let mut answered = 0;
    for (n, editor) in editors.into_iter().enumerate() {
        let written = editor.await.unwrap();
        let text = site.read(&format!("{n}.txt"));
        let number: u64 = text.lines().next().unwrap().parse().unwrap();
        assert_eq!(text, format!("{number}\n").repeat(2000), "{n}.txt is torn");
        // What was answered is there; at most one more was written and its answer lost.
        let last = *written.last().unwrap();
        assert!((last..=last + 1).contains(&number), "{n}.txt: answered {last}, found {number}");
        answered += written.len();
    }
    assert_eq!(daemon.wait().code(), Some(0));
    let leftovers: Vec<_> = site.snapshot().into_iter().map(|(path, _)| path).collect();
    assert_eq!(leftovers.len(), 4, "{leftovers:?}");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let request = v1::ListHistoryRequest { page_size: 500, ..Default::default() };
    let entries = client.history().list_history(request).await.unwrap().into_inner().entries;
    assert!((answered..=answered + 4).contains(&entries.len()), "{answered} {}", entries.len());
    for n in 0..4 {
        let path = format!("{n}.txt");
        let newest = entries.iter().find(|entry| entry.changes[0].path == path).unwrap();
        let hash = blake3::hash(&site.bytes(&path)).to_hex();
        assert_eq!(newest.changes[0].hash_after, hash.as_str(), "the history knows {path}");
    }
}
