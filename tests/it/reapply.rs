//! `reapply` on real history: after an undo, on files that moved on, within the policy.

use moss_proto::v1;
use serde_json::json;

use crate::harness::{Client, Site, failure, output, reason, refusing, waiting};

async fn edit(client: &Client, path: &str, old: &str, new: &str) {
    let edit = json!({"path": path, "oldText": old, "newText": new});
    client.done("replace_text", edit).await;
}

fn lines() -> String {
    (1..=20).map(|number| format!("the line {number}\n")).collect()
}

#[tokio::test]
async fn what_was_undone_is_made_again_on_what_the_file_is_now() {
    let site = Site::allowing();
    site.write("a.txt", lines());
    let daemon = site.serve();
    let client = daemon.caller().await;
    edit(&client, "a.txt", "line 5\n", "line five\n").await;
    client.undo(1).await.unwrap();
    let there = client.ran("reapply", json!({})).await;
    assert_eq!(failure(&there).code, "no_change");
    let hint = "change 2 is an undo; it undid change 1 with the index 1";
    assert_eq!(failure(&there).hint, hint);
    // Something else comes in between, past moss.
    let moved =
        lines().replace("line 15\n", "line fifteen\n").replace("the line 6", "\tthe line 6");
    let moved = format!("// new\n{moved}");
    site.write("a.txt", &moved);
    let result = client.ran("reapply", json!({"index": 1})).await;
    let told = output(&result);
    assert_eq!((&told["reapplied"], &told["history"]), (&json!(1), &json!(3)));
    assert_eq!(
        (&told["files"][0]["how"], &told["files"][0]["match_level"]),
        (&json!("matched"), &json!("line_trimmed"))
    );
    assert_eq!(result.changes[0].match_level, "line_trimmed");
    assert_eq!(site.read("a.txt"), moved.replace("line 5\n", "line five\n"));
    let past = client.done("diff_history", json!({"limit": 1})).await;
    assert_eq!(past["changes"][0]["tool"], "reapply");
    assert_eq!(past["changes"][0]["files"][0]["match_level"], "line_trimmed");
    let listed = client.history().list_history(v1::ListHistoryRequest::default()).await.unwrap();
    assert_eq!(listed.into_inner().entries[0].changes[0].match_level, "line_trimmed");
    let table = site.run(&["history", "list", "-n", "1"]).stdout;
    assert!(table.contains("a.txt +1 -1 (line_trimmed)"), "{table}");
    // It is a change like any other.
    client.undo(3).await.unwrap();
    assert_eq!(site.read("a.txt"), moved);
}

#[tokio::test]
async fn what_cannot_be_made_again_is_named_and_nothing_is_written() {
    let site = Site::allowing();
    site.write("a.txt", lines());
    let daemon = site.serve();
    let client = daemon.caller().await;
    let nothing = client.ran("reapply", json!({})).await;
    assert_eq!(failure(&nothing).code, "not_found");
    edit(&client, "a.txt", "line 5\n", "line five\n").await;
    client.undo(1).await.unwrap();
    site.write("a.txt", "something\nelse\n");
    let result = client.ran("reapply", json!({"index": 1})).await;
    let error = failure(&result);
    assert_eq!(error.code, "conflict");
    assert!(error.message.contains("a.txt: hunk 1 of 1 (lines 2-8 then): "), "{error:?}");
    std::fs::remove_file(site.workspace().join("a.txt")).unwrap();
    let result = client.ran("reapply", json!({"index": 1})).await;
    assert!(failure(&result).message.contains("is gone today"), "{result:?}");
    assert!(!site.has("a.txt"));
    assert_eq!(client.numbers().await, [2, 1]);
    let beyond = client.ran("reapply", json!({"index": 2})).await;
    let message = &failure(&beyond).message;
    assert!(message.contains("the history has 2, the newest is 0"), "{message}");
    // Contents that were to be forgotten are.
    site.write("a.txt", lines());
    client.done("delete_file", json!({"path": "a.txt", "permanent": true})).await;
    site.write("a.txt", "something\nelse\n");
    let result = client.ran("reapply", json!({"index": 2})).await;
    assert!(failure(&result).message.contains("the history no longer has"), "{result:?}");
}

#[tokio::test]
async fn a_change_of_a_file_that_may_not_be_read_is_not_made_again() {
    let site = Site::allowing();
    site.write("a.txt", "one\n");
    site.write("private/b.txt", "canary\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    edit(&client, "private/b.txt", "canary", "dog").await;
    client.undo(1).await.unwrap();
    daemon.stop();
    site.workspace_policy(
        "version = 1\n[[rule]]\ndecision = \"deny\"\neffects = [\"read\"]\npaths = [\"private/**\"]\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    let result = client.ran("reapply", json!({"index": 1})).await;
    let error = failure(&result);
    assert_eq!(error.code, "denied");
    assert!(error.message.contains("change 1 changed private/b.txt"), "{error:?}");
    assert!(!format!("{result:?}").contains("dog"), "{result:?}");
    assert_eq!(site.read("private/b.txt"), "canary\n");
}

#[tokio::test]
async fn lines_that_are_not_what_they_were_are_asked_about_whatever_allows_the_change() {
    let site = Site::allowing();
    let then = "fn two() {\n    let one = first();\n    let result = compute(one, 2);\n    \
                result + one\n}\n";
    site.write("a.rs", then);
    let daemon = site.serve();
    let client = daemon.caller().await;
    edit(&client, "a.rs", "compute(one", "calculate(one").await;
    client.undo(1).await.unwrap();
    let today = format!("// new\n{}", then.replace("one, 2", "one, 3"));
    site.write("a.rs", &today);
    let status = client.call(refusing("reapply", json!({"index": 1}))).await.unwrap_err();
    assert_eq!(reason(&status), "CONFIRMATION_REQUIRED");
    assert_eq!(site.read("a.rs"), today);
    let mut shown = waiting("reapply", json!({"index": 1}));
    shown.dry_run = true;
    let shown = client.call(shown).await.unwrap();
    let drift = &shown.changes[0].drift;
    assert_eq!((drift.len(), drift[0].line), (1, 4));
    assert_eq!(drift[0].found, "    let result = compute(one, 3);");
    let approver = daemon.approver().await;
    let approved = v1::Call {
        approved_digests: vec![shown.digest],
        ..refusing("reapply", json!({"index": 1}))
    };
    output(&approver.call(approved).await.unwrap());
    assert_eq!(site.read("a.rs"), today.replace("compute", "calculate"));
}
