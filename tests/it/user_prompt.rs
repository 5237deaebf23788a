//! The user's own prompt: asked about whatever writes are allowed, by no answer for longer,
//! forbidden by rules, undone.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use moss_proto::v1;
use serde_json::{Value, json};
use tonic::Code;

use crate::harness::{Ended, Site, call, output, reason, refusing, waiting};

const TOOL: &str = "moss_update_asi_user_prompt";

fn file(site: &Site) -> PathBuf {
    site.outside("config/moss/asi-user-prompt.md")
}

fn prompt(site: &Site) -> Option<String> {
    std::fs::read_to_string(file(site)).ok()
}

fn append(text: &str) -> Value {
    json!({ "content": text, "mode": "append" })
}

fn parsed(ended: &Ended) -> Value {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// What every layer and every standing approval says of writes does not speak of the prompt.
#[tokio::test]
async fn a_person_is_asked_even_where_writes_are_allowed() {
    let site = Site::allowing();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let status = caller.call(refusing(TOOL, append("Use tabs."))).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert_eq!(prompt(&site), None);

    let mut watcher = approver.watch().await;
    let edit = v1::Call { session_id: "s".into(), ..waiting(TOOL, append("Use tabs.")) };
    let waits = {
        let caller = caller.clone();
        tokio::spawn(async move { caller.call(edit).await })
    };
    let question = watcher.question().await;
    assert_eq!(question.tool, TOOL);
    assert!(question.changes[0].diff.contains("+Use tabs.\n"), "{}", question.changes[0].diff);
    assert!(question.arguments_json.contains("asi-user-prompt.md"), "{question:?}");
    assert_eq!(question.offers, [], "it is asked about each time");
    approver.approve(&question).await.unwrap();
    let result = waits.await.unwrap().unwrap();
    assert_eq!(output(&result)["applied"], true);
    assert_eq!(result.changes[0].status(), v1::ChangeStatus::Committed);
    assert_eq!(result.history, 0, "it is not in the history of the workspace");
    assert_eq!(prompt(&site).as_deref(), Some("Use tabs.\n"));
    let mode = std::fs::metadata(file(&site)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(caller.numbers().await.is_empty());
}

#[tokio::test]
async fn an_answer_is_bound_to_the_change_that_was_shown() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let dry = v1::Call { dry_run: true, ..call(TOOL, append("a")) };
    let shown = caller.call(dry).await.unwrap();
    assert_eq!((&output(&shown)["applied"], prompt(&site)), (&json!(false), None));
    let approved = |text: &str, digest: &str| v1::Call {
        approved_digests: vec![digest.to_owned()],
        ..refusing(TOOL, append(text))
    };
    // Another text, another effect.
    let status = approver.call(approved("b", &shown.digest)).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    // The same text on another prompt, too.
    std::fs::write(file(&site), "by hand\n").unwrap();
    let status = approver.call(approved("a", &shown.digest)).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    std::fs::remove_file(file(&site)).unwrap();
    output(&approver.call(approved("a", &shown.digest)).await.unwrap());
    assert_eq!(prompt(&site).as_deref(), Some("a\n"));
}

#[tokio::test]
async fn rules_of_every_layer_forbid_it() {
    let rule = |condition: &str, decision: &str| {
        format!("version = 1\n[[rule]]\n{condition}\ndecision = \"{decision}\"\n")
    };
    let by_tool = "tools = [\"moss_update_asi_user_prompt\"]";
    let by_effect = "effects = [\"configure\"]";
    for condition in [by_tool, by_effect] {
        let mut admin = Site::new();
        admin.admin_policy(&rule(condition, "deny"));
        let user = Site::new();
        user.user_policy(&rule(condition, "deny"));
        let workspace = Site::new();
        workspace.workspace_policy(&rule(condition, "deny"));
        // What the user allows, a workspace can still forbid.
        workspace.user_policy(&rule(by_effect, "allow"));
        for site in [admin, user, workspace] {
            let daemon = site.serve();
            let status = daemon.caller().await.call(call(TOOL, append("x"))).await.unwrap_err();
            assert_eq!(
                (status.code(), reason(&status).as_str()),
                (Code::PermissionDenied, "DENIED_BY_POLICY"),
                "{condition}: {status:?}"
            );
            assert_eq!(prompt(&site), None);
        }
    }
    let site = Site::new();
    site.user_policy(&rule(by_effect, "allow"));
    output(&site.serve().caller().await.call(call(TOOL, append("x"))).await.unwrap());
    assert_eq!(prompt(&site).as_deref(), Some("x\n"), "who says so allows it");
}

#[test]
fn the_prompt_is_shown_and_undone_on_the_command_line() {
    let site = Site::new();
    let json = |arguments: &[&str]| parsed(&site.run(&[arguments, &["--json"]].concat()));
    let shown = json(&["prompt", "show"]);
    assert_eq!((&shown["exists"], &shown["text"]), (&json!(false), &json!("")));
    assert_eq!(json(&["prompt", "history"]), json!({ "entries": [] }));
    for text in ["content=one", "content=two"] {
        parsed(&site.run(&["call", TOOL, text, "mode=append", "--confirm", "allow"]));
    }
    assert_eq!(site.run(&["prompt", "show"]).stdout, "one\ntwo\n");

    let refused = site.run(&["prompt", "undo"]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    let dry = json(&["prompt", "undo", "--dry-run"]);
    let digest = dry["digest"].as_str().unwrap();
    let undone = json(&["prompt", "undo", "--confirm", digest]);
    assert_eq!(undone["changes"][0]["status"], "committed", "{undone}");
    assert_eq!(prompt(&site).as_deref(), Some("one\n"));
    parsed(&site.run(&["prompt", "undo", "1", "--confirm", "allow"]));
    assert_eq!(prompt(&site), None);

    let listed = json(&["prompt", "history"]);
    let entries = listed["entries"].as_array().unwrap();
    let undone: Vec<_> = entries.iter().map(|entry| entry["undo_of"].as_u64().unwrap()).collect();
    assert_eq!((entries.len(), undone[0] > 0, undone[3]), (4, true, 0), "{listed}");
    let diffs = site.run(&["prompt", "history", "--diffs", "-n", "1"]);
    assert!(diffs.stdout.contains("-one"), "{diffs:?}");
    let unknown = site.run(&["prompt", "undo", "99", "--confirm", "allow"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
}

#[tokio::test]
async fn the_journal_reports_what_was_decided_and_done() {
    let site = Site::new();
    let daemon = site.serve();
    let approver = daemon.approver().await;
    let client = daemon.caller().await;
    let mut watcher = approver.watch().await;
    let waits = tokio::spawn(async move { client.call(waiting(TOOL, append("x"))).await });
    approver.approve(&watcher.question().await).await.unwrap();
    output(&waits.await.unwrap().unwrap());
    let told = site.run(&["audit", "tail", "--tool", TOOL, "--json"]).stdout;
    for word in ["\"configure\"", "\"approved\"", "asi-user-prompt.md"] {
        assert!(told.contains(word), "{word}: {told}");
    }
}

#[test]
fn a_change_that_a_crash_interrupted_is_rolled_back_before_models_get_it() {
    let site = Site::allowing();
    for content in ["Use tabs.", "Use blanks."] {
        let content = format!("content={content}");
        let change = site.run(&["call", TOOL, &content, "mode=replace", "--confirm", "allow"]);
        assert_eq!(change.code, Some(0), "{change:?}");
    }
    // As it is between the exchange of the files and the mark.
    let store =
        rusqlite::Connection::open(site.state().join("user-prompt/history.sqlite")).unwrap();
    store.execute("UPDATE entries SET committed = 0 WHERE number = 2", []).unwrap();
    let temp: String =
        store.query_row("SELECT temp FROM files WHERE entry = 2", [], |row| row.get(0)).unwrap();
    drop(store);
    std::fs::write(file(&site).with_file_name(temp), "Use tabs.\n").unwrap();
    assert_eq!(prompt(&site).as_deref(), Some("Use blanks.\n"));
    assert_eq!(site.run(&["call", "list_directory", "path=."]).code, Some(0));
    assert_eq!(prompt(&site).as_deref(), Some("Use tabs.\n"));
}
