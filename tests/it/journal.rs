//! The audit journal: every call leaves its start and its end, whatever becomes of it, and no
//! secret is ever in it.

use std::collections::BTreeMap;

use moss_proto::v1;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::harness::guests::{install, zoo};
use crate::harness::{Client, Site, call, failure, reason, refusing, until, waiting};

/// Reads every record of the workspace, in order.
pub(crate) fn records(site: &Site) -> Vec<Value> {
    let file = site.workspace_state().join("audit.db");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).unwrap();
    let mut statement = connection.prepare("SELECT record FROM audit ORDER BY seq").unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|row| serde_json::from_str(&row.unwrap()).unwrap()).collect()
}

/// Puts records together by call, each in order.
fn by_call(records: Vec<Value>) -> BTreeMap<String, Vec<Value>> {
    let mut calls: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for record in records {
        calls.entry(record["call_id"].as_str().unwrap().to_owned()).or_default().push(record);
    }
    calls
}

fn kinds(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["kind"].as_str().unwrap()).collect()
}

/// Calls that end in every way there is; returns the outcomes that the journal must have.
async fn calls_of_every_end(
    site: &Site,
    caller: &Client,
    approver: &Client,
) -> Vec<(&'static str, &'static str)> {
    let edit = |path: &str| json!({"path": path, "content": "x\n"});
    caller.done("list_directory", json!({"path": "."})).await;
    caller.ran("read_file", json!({"path": "missing"})).await;
    caller.call(call("reed_file", json!({}))).await.unwrap_err();
    caller.call(call("read_file", json!({}))).await.unwrap_err();
    caller.call(call("delete_file", json!({"path": "a"}))).await.unwrap_err();
    caller.call(refusing("create_file", edit("b"))).await.unwrap_err();
    let broken = v1::Call { arguments_json: "{".to_owned(), ..call("read_file", json!({})) };
    caller.call(broken).await.unwrap_err();

    let mut watcher = approver.watch().await;
    let mut ends = Vec::new();
    for path in ["approved", "denied"] {
        let mut events = caller.stream(waiting("create_file", edit(path))).await.unwrap();
        let question = events.question().await;
        match path {
            "approved" => approver.approve(&question).await.unwrap(),
            _ => approver.deny(&question, "because of the reason").await.unwrap(),
        };
        ends.push(events.end().await.is_ok());
    }
    assert_eq!(ends, [true, false]);
    assert!(site.has("approved"));
    let mut events = caller.stream(waiting("create_file", edit("withdrawn"))).await.unwrap();
    events.question().await;
    drop(events);
    watcher.reached(v1::ConfirmationState::Withdrawn).await;
    vec![
        ("list_directory", "ok"),
        ("read_file", "failed"),
        ("reed_file", "invalid"),
        ("read_file", "invalid"),
        ("delete_file", "denied"),
        ("create_file", "unconfirmed"),
        ("read_file", "invalid"),
        ("create_file", "ok"),
        ("create_file", "denied"),
        ("create_file", "cancelled"),
        ("create_file", "unconfirmed"),
    ]
}

#[tokio::test]
async fn every_call_leaves_its_start_and_its_end() {
    let site = Site::new();
    site.user_policy("version = 1\n[[rule]]\ntools = [\"delete_*\"]\ndecision = \"deny\"\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let expected = calls_of_every_end(&site, &caller, &approver).await;
    drop((caller, approver));
    daemon.stop();
    // The last end is an expiry.
    site.config("[confirmations]\nexpiry_ms = 100\n");
    let daemon = site.serve();
    let edit = json!({"path": "expired", "content": "x\n"});
    let status = daemon.caller().await.call(waiting("create_file", edit)).await.unwrap_err();
    assert_eq!(reason(&status), "CONFIRMATION_REQUIRED");
    daemon.stop();

    let records = records(&site);
    let mut order: Vec<&str> = Vec::new();
    for record in &records {
        let id = record["call_id"].as_str().unwrap();
        if !order.contains(&id) {
            order.push(id);
        }
    }
    let calls = by_call(records.clone());
    assert_eq!(calls.len(), expected.len(), "{calls:#?}");
    for (id, (tool, outcome)) in order.iter().zip(&expected) {
        let of_call = &calls[*id];
        let kinds = kinds(of_call);
        let (first, last) = (of_call.first().unwrap(), of_call.last().unwrap());
        assert_eq!(kinds.iter().filter(|kind| **kind == "call_started").count(), 1);
        assert_eq!(kinds.iter().filter(|kind| **kind == "call_finished").count(), 1);
        assert_eq!(
            (first["kind"].as_str(), last["kind"].as_str()),
            (Some("call_started"), Some("call_finished"))
        );
        assert_eq!(
            (last["tool"].as_str(), last["outcome"].as_str()),
            (Some(*tool), Some(*outcome)),
            "{of_call:#?}"
        );
        assert_eq!(first["caller"], "caller");
        assert_eq!(first["workspace"], site.workspace().display().to_string());
    }
    let answers: Vec<_> = records
        .iter()
        .filter(|record| record["kind"] == "confirmation")
        .map(|record| record["decision"].as_str().unwrap())
        .collect();
    assert_eq!(answers, ["approved", "denied", "withdrawn", "expired"]);
    let denied = records.iter().find(|record| record["decision"] == "denied").unwrap();
    assert_eq!(
        (denied["decided_by"].as_str(), denied["reason"].as_str()),
        (Some("approver"), Some("because of the reason"))
    );
    let committed: Vec<_> = records.iter().filter(|record| record["kind"] == "committed").collect();
    assert_eq!(committed.len(), 1);
    assert_eq!(
        (&committed[0]["history"], &committed[0]["changes"][0]["path"]),
        (&json!(1), &json!("approved"))
    );
    let by_rule =
        records.iter().find(|r| r["kind"] == "decision" && r["verdict"] == "deny").unwrap();
    assert_eq!((&by_rule["rule"]["layer"], &by_rule["rule"]["line"]), (&json!("user"), &json!(2)));
}

#[tokio::test]
async fn a_call_of_a_plugin_names_the_component() {
    let site = Site::new();
    install(&site, &[("zoo", &zoo("polite"), json!({}))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("the plugin is there", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    client.done("act", json!({})).await;
    let listed = client.plugins().list_plugins(v1::ListPluginsRequest::default()).await.unwrap();
    let sha256 = listed.into_inner().plugins[0].sha256.clone();
    drop(client);
    daemon.stop();
    let records = records(&site);
    assert_eq!(records[0]["plugin"], json!({ "name": "zoo", "digest": sha256 }));
}

#[tokio::test]
async fn secrets_and_contents_are_never_written_down() {
    let site = Site::allowing();
    let secrets = [
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-1234567890-abcdefghij",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "hunter2-of-the-user",
        "the plain content of the file",
    ];
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let text = format!("password = \"{}\"\n{}\n", secrets[4], secrets.join("\n"));
    caller.done("create_file", json!({"path": "a.txt", "content": text})).await;
    let edit = json!({"path": "a.txt", "oldText": secrets[0], "newText": secrets[1]});
    caller.ran("replace_text", edit).await;
    // An error that shows the lines around.
    let missed =
        json!({"path": "a.txt", "oldText": "the plain contents of the file", "newText": ""});
    let missed = caller.ran("replace_text", missed).await;
    assert!(failure(&missed).message.contains(secrets[5]), "{missed:?}");
    for secret in secrets {
        // In names, in keys, in values, in what is no JSON, in errors.
        caller.ran("read_file", json!({"path": format!("{}.txt", secret.replace(' ', "-"))})).await;
        let odd = json!({"path": "a.txt", "password": secret, "token": {"deep": secret}});
        caller.call(call("read_file", odd)).await.unwrap_err();
        let broken = format!("{{\"path\": \"a.txt\", \"apiKey\": \"{secret}\"");
        let broken = v1::Call { arguments_json: broken, ..call("read_file", json!({})) };
        caller.call(broken).await.unwrap_err();
    }
    let session = v1::Call {
        session_id: format!("session-{}", secrets[0]),
        ..call("list_directory", json!({"path": "."}))
    };
    caller.call(session).await.unwrap();
    caller.undo(1).await.unwrap();
    let tokens = [daemon.token("caller"), daemon.token("approver")];
    let log = daemon.log();
    drop((caller, approver));
    daemon.stop();
    let directory = site.workspace_state();
    let files = ["audit.db", "audit.db-wal"].map(|name| directory.join(name));
    let mut bytes = Vec::new();
    for file in files.iter().filter(|file| file.exists()) {
        bytes.extend(std::fs::read(file).unwrap());
    }
    let written = String::from_utf8_lossy(&bytes);
    assert!(written.contains("call_started"));
    for secret in &secrets[..5] {
        // A secret without a known form is one only under a key that says so.
        let tolerated = if *secret == secrets[4] { "hunter2-of-the-user.txt" } else { "\0" };
        let found = written.replace(tolerated, "");
        assert!(!found.contains(secret), "{secret} is in the journal");
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    assert!(!written.contains(secrets[5]), "the content is in the journal");
    for token in tokens {
        assert!(!written.contains(&token) && !log.contains(&token), "a credential is written down");
    }
}

#[tokio::test]
async fn what_was_done_is_on_disk_before_it_is_answered() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    client.done("create_file", json!({"path": "a.txt", "content": "x\n"})).await;
    daemon.kill();
    let calls = by_call(records(&site));
    let of_call = calls.values().next().unwrap();
    assert_eq!(kinds(of_call).last(), Some(&"call_finished"), "{of_call:#?}");
    assert!(kinds(of_call).contains(&"committed"), "{of_call:#?}");
    // The chain continues where it was cut off.
    let daemon = site.serve();
    let client = daemon.caller().await;
    client.done("create_file", json!({"path": "b.txt", "content": "x\n"})).await;
    drop(client);
    daemon.stop();
    assert_eq!(site.run(&["audit", "verify"]).code, Some(0));
}

#[tokio::test]
async fn the_command_line_reads_and_checks_the_journal() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for path in ["a.txt", "b.txt"] {
        client.done("create_file", json!({"path": path, "content": "x\n"})).await;
    }
    let status = client.call(call("reed_file", json!({}))).await.unwrap_err();
    assert_eq!(reason(&status), "TOOL_UNKNOWN");
    drop(client);
    daemon.stop();
    let tail = site.run(&["audit", "tail", "-n", "3", "--json"]);
    let tail: Value = serde_json::from_str(&tail.stdout).unwrap();
    let shown = tail["records"].as_array().unwrap();
    assert_eq!(shown.len(), 3);
    assert_eq!(shown[2]["record"]["kind"], "call_finished");
    assert_eq!(shown[2]["record"]["tool"], "reed_file");
    let of_tool = site.run(&["audit", "tail", "--tool", "create_file"]);
    assert!(
        of_tool.stdout.contains("a.txt") && !of_tool.stdout.contains("reed_file"),
        "{of_tool:?}"
    );

    let verified = site.run(&["audit", "verify", "--json"]);
    assert_eq!(verified.code, Some(0));
    let verified: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!(verified["rows"], records(&site).len());
    assert_eq!(verified["broken_at"], Value::Null);

    // Somebody who may write the file changes a record.
    let connection = Connection::open(site.workspace_state().join("audit.db")).unwrap();
    connection
        .execute_batch("UPDATE audit SET record = replace(record, 'a.txt', 'c.txt')")
        .unwrap_err();
    connection
        .execute_batch(
            "DROP TRIGGER audit_keep;
             UPDATE audit SET record = replace(record, 'b.txt', 'c.txt')",
        )
        .unwrap();
    drop(connection);
    let broken = site.run(&["audit", "verify", "--json"]);
    assert_eq!(broken.code, Some(1));
    let broken: Value = serde_json::from_str(&broken.stdout).unwrap();
    assert!(broken["broken_at"].as_u64().is_some(), "{broken}");
}

#[tokio::test]
async fn refused_calls_that_repeat_are_counted_and_not_recorded_one_by_one() {
    const CALLS: usize = 400;
    let site = Site::new();
    site.config(
        "[journal]\nrefusals_burst = 10\nrefusals_per_second = 1\nrefusals_folded_ms = 600000\n",
    );
    site.user_policy(
        "version = 1\n[[rule]]\npaths = [\"secret.txt\"]\neffects = [\"read\"]\ndecision = \"deny\"\n",
    );
    site.write("secret.txt", "x\n");
    site.write("a.txt", "x\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    for number in 0..CALLS {
        let tool = if number % 2 == 0 { "read_file" } else { "no_such_tool" };
        caller.call(call(tool, json!({ "path": "secret.txt" }))).await.unwrap_err();
    }
    approver.call(call("read_file", json!({ "path": "secret.txt" }))).await.unwrap_err();
    caller.done("read_file", json!({ "path": "a.txt" })).await;
    daemon.stop();
    let records = records(&site);
    let of_kind = |kind: &'static str| records.iter().filter(move |record| record["kind"] == kind);
    let started = of_kind("call_started").count();
    let folded: u64 =
        of_kind("calls_refused").map(|record| record["calls"].as_u64().unwrap()).sum();
    assert_eq!(started as u64 + folded, CALLS as u64 + 2, "none is lost");
    assert!(records.len() < CALLS / 2, "{} records", records.len());
    assert_eq!(of_kind("call_finished").count(), started, "each is there from start to end");
    assert_eq!(site.run(&["audit", "verify"]).code, Some(0));
}

#[tokio::test]
async fn failed_calls_that_repeat_are_counted_and_effects_are_recorded() {
    const CALLS: usize = 300;
    let site = Site::allowing();
    site.config(
        "[journal]\nrefusals_burst = 10\nrefusals_per_second = 1\nrefusals_folded_ms = 600000\n",
    );
    site.write("a.txt", "x\n");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    for number in 0..CALLS {
        let (tool, arguments) = match number % 3 {
            0 => ("read_file", json!({ "path": "nope" })),
            1 => ("read_file", json!({ "path": "../x" })),
            _ => ("replace_text", json!({ "path": "a.txt", "oldText": "none", "newText": "" })),
        };
        let result = caller.call(call(tool, arguments)).await;
        assert!(result.is_ok_and(|result| result.error.is_some()), "{tool}");
    }
    caller.done("create_file", json!({ "path": "b.txt", "content": "x\n" })).await;
    caller.done("read_file", json!({ "path": "a.txt" })).await;
    daemon.stop();
    let records = records(&site);
    let of_kind = |kind: &'static str| records.iter().filter(move |record| record["kind"] == kind);
    let folded: u64 =
        of_kind("calls_refused").map(|record| record["calls"].as_u64().unwrap()).sum();
    let started = of_kind("call_started").count();
    assert_eq!(started as u64 + folded, CALLS as u64 + 2, "none is lost");
    assert!(started < CALLS / 2, "{started} in full");
    assert_eq!(of_kind("call_finished").count(), started, "each is there from start to end");
    assert_eq!(of_kind("committed").count(), 1);
    assert!(of_kind("calls_refused").all(|record| record["outcome"] == "failed"));
}
