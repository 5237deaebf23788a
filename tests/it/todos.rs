//! Task lists: apart by session, kept over restarts and in process, no update lost.

use std::time::{Duration, SystemTime};

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::{Client, Ended, Site, call, failure, output};

async fn todo(client: &Client, session: &str, arguments: Value) -> Value {
    let call = v1::Call { session_id: session.to_owned(), ..call("todo", arguments) };
    output(&client.call(call).await.unwrap())
}

fn ids(output: &Value) -> Vec<&str> {
    output["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

fn printed(ended: &Ended) -> Value {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap()
}

#[tokio::test]
async fn a_list_belongs_to_its_session_and_outlives_the_daemon() {
    let site = Site::new();
    let before = site.snapshot();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let items = |id: &str| json!({"items": [{"id": id, "content": "x", "status": "in_progress"}]});
    todo(&client, "s", items("a")).await;
    todo(&client, "", items("b")).await;
    assert_eq!(ids(&todo(&client, "s", json!({})).await), ["a"]);
    assert_eq!(ids(&todo(&client, "other", json!({})).await), [""; 0]);
    // Another credential has lists of its own.
    assert_eq!(ids(&todo(&daemon.approver().await, "s", json!({})).await), [""; 0]);
    let second = json!({"merge": true, "items": items("c")["items"]});
    let refused = v1::Call { session_id: "s".into(), ..call("todo", second) };
    let refused = client.call(refused).await.unwrap();
    assert_eq!(failure(&refused).code, "invalid_arguments");
    assert!(failure(&refused).message.contains("`a` and `c`"), "{:?}", refused.error);
    drop(daemon);

    let daemon = site.serve();
    let client = daemon.caller().await;
    let output = todo(&client, "s", json!({})).await;
    assert_eq!((ids(&output), &output["counts"]["in_progress"]), (vec!["a"], &json!(1)));
    assert_eq!(ids(&todo(&client, "", json!({})).await), ["b"]);
    assert_eq!(site.snapshot(), before, "nothing of it is in the workspace");
}

#[tokio::test]
async fn changes_at_once_are_all_kept() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let calls: Vec<_> = (0..20)
        .map(|index| {
            let client = client.clone();
            tokio::spawn(async move {
                let items = json!([{"id": index.to_string(), "content": "x"}]);
                todo(&client, "s", json!({"merge": true, "items": items})).await;
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(todo(&client, "s", json!({})).await["counts"]["total"], 20);
}

#[tokio::test]
async fn without_a_daemon_the_list_is_the_same() {
    let site = Site::new();
    let run = |arguments: &str| {
        printed(&site.run(&["call", "todo", "--session", "s", "--args", arguments]))
    };
    run(r#"{"items": [{"id": "a", "content": "x"}]}"#);
    let daemon = site.serve();
    assert_eq!(ids(&run("{}")), ["a"]);
    run(r#"{"merge": true, "items": [{"id": "b", "content": "y"}]}"#);
    drop(daemon);
    let dry = r#"{"items": []}"#;
    let shown = site.run(&["call", "todo", "--session", "s", "--args", dry, "--dry-run"]);
    assert_eq!(ids(&printed(&shown)), [""; 0]);
    let output = run("{}");
    assert_eq!(ids(&output), ["a", "b"]);
    assert_eq!(output["note"], "mark `a` in_progress when you begin with it");
}

#[tokio::test]
async fn what_a_killed_moss_was_writing_of_a_list_is_removed_at_a_later_start() {
    let site = Site::new();
    let daemon = site.serve();
    todo(&daemon.caller().await, "s", json!({"items": [{"id": "a", "content": "x"}]})).await;
    drop(daemon);
    let states = std::fs::read_dir(site.state().join("workspaces")).unwrap();
    let state = states.last().unwrap().unwrap().path();
    let put = |name: String, hours: u64| {
        let path = state.join(name);
        std::fs::write(&path, "{}").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(hours)).unwrap();
        path
    };
    let left = put(format!(".moss-{:032x}.tmp", 1), 2);
    let young = put(format!(".moss-{:032x}.tmp", 2), 0);
    let other = put(".moss-notes.tmp".to_owned(), 2);
    let daemon = site.serve();
    assert_eq!(ids(&todo(&daemon.caller().await, "s", json!({})).await), ["a"]);
    assert!(!left.exists() && young.exists() && other.exists());
}
