//! Undo of several entries over the wire and from the command line: of a call, of everything since
//! an entry, with what stands in its way.

use moss_proto::v1;
use moss_proto::v1::undo_history_entry_request::Target;
use serde_json::{Value, json};
use tonic::Code;

use crate::harness::{Client, Ended, Site, failure, output, reason};

fn parsed(ended: &Ended) -> Value {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Replaces the content of a file and returns the name of the call.
async fn put(client: &Client, path: &str, content: &str) -> String {
    let arguments = json!({"path": path, "content": content, "overwrite": true});
    client.ran("create_file", arguments).await.call_id
}

async fn listed(client: &Client, request: v1::ListHistoryRequest) -> Vec<v1::HistoryEntry> {
    client.history().list_history(request).await.unwrap().into_inner().entries
}

#[tokio::test]
async fn everything_since_an_entry_is_one_change_that_goes_back_as_well() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (path, content) in [("a", "1\n"), ("a", "2\n"), ("b", "1\n"), ("a", "3\n")] {
        put(&client, path, content).await;
    }
    let result = client.undo_target(Target::Since(1)).await.unwrap();
    let told = output(&result);
    assert_eq!(
        (&told["undoes"], &told["history"], &told["undone"]),
        (&json!([4, 3, 2]), &json!(5), &Value::Null)
    );
    assert_eq!(result.changes.len(), 2);
    assert_eq!((site.read("a").as_str(), site.has("b")), ("1\n", false));
    let entries = listed(&client, v1::ListHistoryRequest::default()).await;
    assert_eq!((&entries[0].undoes[..], entries[0].undo_of), (&[4, 3, 2][..], 0));
    assert_eq!((entries[0].tool.as_str(), &entries[2].undone_by[..]), ("undo", &[5][..]));

    let again = client.undo_target(Target::Since(5)).await.unwrap();
    assert_eq!(failure(&again).code, "no_change");
    let told = output(&client.undo(5).await.unwrap());
    assert_eq!((&told["undoes"], &told["undone"]), (&json!([5]), &json!(5)));
    assert_eq!((site.read("a").as_str(), site.read("b").as_str()), ("3\n", "1\n"));
    let past = client.done("diff_history", json!({})).await;
    let [redo, undo, newest] = [0, 1, 2].map(|index| &past["changes"][index]);
    assert_eq!((&redo["undoes"], &redo["undo_of"]), (&json!([5]), &json!(5)));
    assert_eq!((&undo["undoes"], &undo["undone_by"]), (&json!([4, 3, 2]), &json!([6])));
    assert_eq!(newest["undone_by"], json!([5]));
}

#[tokio::test]
async fn undo_by_call_id_reverts_the_changes_of_the_call() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    put(&client, "a", "1\n").await;
    let call_id = put(&client, "a", "2\n").await;
    put(&client, "b", "1\n").await;
    let told = output(&client.undo_target(Target::CallId(call_id.clone())).await.unwrap());
    assert_eq!(told["undoes"], json!([2]));
    assert_eq!((site.read("a").as_str(), site.read("b").as_str()), ("1\n", "1\n"));
    let again = client.undo_target(Target::CallId(call_id)).await.unwrap();
    assert_eq!(failure(&again).code, "no_change");
}

#[tokio::test]
async fn entries_are_listed_by_what_made_them() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    put(&client, "a", "1\n").await;
    let call_id = put(&client, "a", "2\n").await;
    client.undo(2).await.unwrap();
    let all = v1::ListHistoryRequest::default;
    for (request, expected) in [
        (v1::ListHistoryRequest { tool: "undo".into(), ..all() }, &[3][..]),
        (v1::ListHistoryRequest { tool: "create_file".into(), ..all() }, &[2, 1]),
        (v1::ListHistoryRequest { call_id, ..all() }, &[2]),
        (v1::ListHistoryRequest { since: 1, ..all() }, &[3, 2]),
        (v1::ListHistoryRequest { since: u64::MAX, ..all() }, &[]),
        (v1::ListHistoryRequest { caller: "caller".into(), ..all() }, &[3, 2, 1]),
        (v1::ListHistoryRequest { caller: "approver".into(), ..all() }, &[]),
    ] {
        let numbers: Vec<_> = listed(&client, request.clone()).await;
        let numbers: Vec<_> = numbers.iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, expected, "{request:?}");
    }
    let long = v1::ListHistoryRequest { tool: "t".repeat(1_000), ..all() };
    let refused = client.history().list_history(long).await.unwrap_err();
    assert_eq!(reason(&refused), "REQUEST_INVALID");
}

#[tokio::test]
async fn conflicts_name_entry_file_and_lines_and_nothing_is_written() {
    let site = Site::allowing();
    site.write("a.txt", "1\n2\n3\n4\n5\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let edit = json!({"path": "a.txt", "startLine": 4, "endLine": 4, "newText": "four"});
    client.done("replace_lines", edit).await;
    put(&client, "b.txt", "b\n").await;
    put(&client, "c.txt", "c\n").await;
    // What moss did not see.
    site.write("a.txt", "0\n1\n2\n3\nFOUR\n5\n");
    site.write("b.txt", "mine\n");
    let before = site.snapshot();
    let result = client.undo_target(Target::Since(0)).await.unwrap();
    let error = failure(&result);
    assert_eq!(error.code, "conflict");
    assert!(error.message.contains("b.txt was changed again since change 2"), "{error:?}");
    assert!(
        error.message.contains("a.txt was changed again at line 5 since change 1"),
        "{error:?}"
    );
    assert_eq!(site.snapshot(), before);
    std::fs::remove_file(site.workspace().join("a.txt")).unwrap();
    let result = client.undo(1).await.unwrap();
    assert!(failure(&result).message.contains("a.txt is gone since change 1"), "{result:?}");
    assert_eq!(client.numbers().await, [3, 2, 1]);
}

#[tokio::test]
async fn conflicts_name_the_later_change_to_programs() {
    let site = Site::allowing();
    site.write("a.txt", "1\n2\n3\n4\n5\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (old, new) in [("4\n", "four\n"), ("1\n", "one\n"), ("four\n", "FOUR\nand more\n")] {
        let edit = json!({ "path": "a.txt", "oldText": old, "newText": new });
        client.done("replace_text", edit).await;
    }
    let edit = json!({"path": "a.txt", "startLine": 2, "endLine": 2, "newText": "two"});
    client.done("replace_lines", edit).await;
    put(&client, "b.txt", "b\n").await;
    site.write("b.txt", "not through moss\n");
    let call_id = listed(&client, v1::ListHistoryRequest { since: 2, ..Default::default() }).await
        [2]
    .call_id
    .clone();

    let result = client.undo(1).await.unwrap();
    let message = &failure(&result).message;
    assert!(message.ends_with("since change 1, by change 3 (replace_text)"), "{message}");
    let [conflict] = &result.conflicts[..] else { panic!("{result:?}") };
    assert_eq!((conflict.number, conflict.path.as_str()), (1, "a.txt"));
    assert_eq!(conflict.lines, [v1::ConflictLines { first: 4, last: 5 }]);
    let later = conflict.later.as_ref().unwrap();
    assert_eq!((later.number, later.tool.as_str(), &later.call_id), (3, "replace_text", &call_id));
    assert!(later.committed_at.is_some());

    let before = site.snapshot();
    let mut daemon = Some(daemon);
    for _ in 0..2 {
        let ended = site.run(&["history", "undo", "1", "--json", "--confirm", "allow"]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let told: Value = serde_json::from_str(&ended.stdout).unwrap();
        let [conflict] = &told["conflicts"].as_array().unwrap()[..] else { panic!("{told}") };
        let time = conflict["later"]["committed_at"].as_str().unwrap();
        assert!(time.ends_with('Z') && told["error"]["code"] == "conflict", "{told}");
        let expected = json!({
            "number": 1, "path": "a.txt", "what": "was changed again at lines 4-5",
            "lines": [{ "first": 4, "last": 5 }],
            "later": { "number": 3, "tool": "replace_text", "committed_at": time,
                       "call_id": call_id, "caller": "caller" },
        });
        assert_eq!(*conflict, expected);
        let ended = site.run(&["history", "undo", "--since", "0", "--json", "--confirm", "allow"]);
        let told: Value = serde_json::from_str(&ended.stdout).unwrap();
        let expected = json!([{ "number": 5, "path": "b.txt", "what": "was changed again",
                                "lines": [], "later": null }]);
        assert_eq!(told["conflicts"], expected);
        // The same without a daemon.
        if let Some(daemon) = daemon.take() {
            daemon.stop();
        }
    }
    assert_eq!(site.snapshot(), before);
    let done = parsed(&site.run(&["history", "undo", "4", "--json", "--confirm", "allow"]));
    assert!(done.get("conflicts").is_none(), "{done}");
}

#[tokio::test]
async fn undo_of_a_missing_entry_fails() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let nothing = client.undo_target(Target::Since(0)).await.unwrap();
    assert_eq!(failure(&nothing).code, "no_change");
    put(&client, "a", "1\n").await;
    for (target, code) in [
        (Target::Number(0), "not_found"),
        (Target::Number(2), "not_found"),
        (Target::Since(2), "not_found"),
        (Target::Since(1), "no_change"),
        (Target::CallId("nobody".into()), "not_found"),
    ] {
        let result = client.undo_target(target.clone()).await.unwrap();
        assert_eq!(failure(&result).code, code, "{target:?}");
    }
    let long = Target::CallId("c".repeat(1_000));
    for target in [None, Some(Target::CallId(String::new())), Some(long)] {
        let request = v1::UndoHistoryEntryRequest { target, ..Default::default() };
        let refused = client.history().undo_history_entry(request).await.unwrap_err();
        assert_eq!(
            (refused.code(), reason(&refused).as_str()),
            (Code::InvalidArgument, "REQUEST_INVALID")
        );
    }
    assert_eq!(site.read("a"), "1\n");
}

#[tokio::test]
async fn a_file_that_may_not_be_read_keeps_the_whole_undo_back() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    put(&client, "a", "1\n").await;
    put(&client, "private/b", "canary\n").await;
    daemon.stop();
    site.workspace_policy(
        "version = 1\n[[rule]]\ndecision = \"deny\"\neffects = [\"read\"]\npaths = [\"private/**\"]\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    let refused = client.undo_target(Target::Since(0)).await.unwrap_err();
    assert_eq!(reason(&refused), "DENIED_BY_POLICY", "{refused:?}");
    assert!(!format!("{refused:?}").contains("canary"), "{refused:?}");
    assert!(site.has("a") && site.has("private/b"));
}

#[test]
fn undo_since_reverts_several_entries_from_the_command_line() {
    let site = Site::new();
    let create = |path: &str| {
        let path = format!("path={path}");
        let command = ["call", "create_file", &path, "content=x", "--confirm", "allow", "--json"];
        parsed(&site.run(&command))
    };
    create("a");
    let call_id = create("b")["call_id"].as_str().unwrap().to_owned();
    create("c");
    let shown = parsed(&site.run(&["history", "undo", "--since", "1", "--dry-run", "--json"]));
    let paths: Vec<_> =
        shown["changes"].as_array().unwrap().iter().map(|change| &change["path"]).collect();
    assert_eq!((paths.len(), &shown["output"]["undoes"]), (2, &json!([3, 2])));
    let asked = site.run(&["history", "undo", "--since", "1", "--json"]);
    assert_eq!(asked.code, Some(4), "{asked:?}");
    let digest = shown["digest"].as_str().unwrap();
    let undo = ["history", "undo", "--since", "1", "--confirm", digest, "--json"];
    let undone = parsed(&site.run(&undo));
    assert_eq!((&undone["output"]["undoes"], &undone["history"]), (&json!([3, 2]), &json!(4)));
    assert!(site.has("a") && !site.has("b") && !site.has("c"));

    let listed = site.run(&["history", "list", "--since", "1"]);
    let listed: Vec<_> = listed.stdout.lines().collect();
    assert!(listed[1].contains("undo of 3-2  "), "{listed:?}");
    assert!(listed[2].contains("create_file (undone by 4)  "), "{listed:?}");
    let shown = site.run(&["history", "show", "2"]);
    assert!(shown.stdout.contains("undone by 4\n"), "{shown:?}");
    let json = parsed(&site.run(&["history", "list", "--tool", "undo", "--json"]));
    assert_eq!(json["entries"].as_array().unwrap().len(), 1);
    assert_eq!(json["entries"][0]["undoes"], json!([3, 2]));

    parsed(&site.run(&["history", "undo", "4", "--confirm", "allow"]));
    parsed(&site.run(&["history", "undo", "--call", &call_id, "--confirm", "allow"]));
    assert!(site.has("a") && !site.has("b") && site.has("c"));
    let narrowed = site.run(&["history", "list", "--tool", "nobody"]);
    assert_eq!(narrowed.stdout, "no such change\n");
    for command in [&["history", "undo"][..], &["history", "undo", "1", "--since", "1"]] {
        assert_eq!(site.run(command).code, Some(2), "{command:?}");
    }
}

/// What an error says, without the number of the entry that was named.
fn told(status: &tonic::Status) -> String {
    format!("{} {}", status.message(), reason(status))
}

#[tokio::test]
async fn an_undo_of_a_file_that_is_denied_since_shows_nothing_of_it() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for path in ["same.txt", "moved.txt", "gone.txt", "shown.txt"] {
        put(&client, path, "1\n").await;
        put(&client, path, "2\n").await;
    }
    site.write("moved.txt", "another\nsecret\n");
    std::fs::remove_file(site.workspace().join("gone.txt")).unwrap();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"write\", \"delete\"]\ndecision = \"allow\"\n\
         [[rule]]\neffects = [\"read\"]\npaths = [\"same.txt\", \"moved.txt\", \"gone.txt\"]\n\
         decision = \"deny\"\n",
    );
    crate::harness::until("the rule is in effect", async || {
        client.call(crate::harness::call("read_file", json!({"path": "same.txt"}))).await.is_err()
    })
    .await;
    let mut refusals = Vec::new();
    for number in [2, 4, 6] {
        let status = client.undo(number).await.unwrap_err();
        assert_eq!(status.code(), Code::PermissionDenied, "{status:?}");
        refusals.push(told(&status));
    }
    assert!(refusals.iter().all(|refusal| *refusal == refusals[0]), "{refusals:?}");
    assert!(client.undo_target(Target::Since(0)).await.is_err());
    for (number, path) in [(2, "same.txt"), (4, "moved.txt"), (6, "gone.txt")] {
        let explained =
            crate::policy::explained(&client, "undo", json!({ "number": number })).await;
        let steps: Vec<_> = explained.steps.iter().map(|step| step.effect.as_str()).collect();
        assert_eq!(steps, [format!("read {path}")]);
    }
    output(&client.undo(8).await.unwrap());
    assert_eq!(site.read("shown.txt"), "1\n");
}

#[tokio::test]
async fn what_an_undo_would_meet_is_explained() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    put(&client, "a.txt", "1\n").await;
    put(&client, "a.txt", "2\n").await;
    put(&client, "b.txt", "1\n").await;
    client.done("delete_file", json!({"path": "b.txt"})).await;
    let before = client.numbers().await;
    for (number, effects) in [
        (1, &["read a.txt", "delete a.txt"]),
        (2, &["read a.txt", "modify a.txt"]),
        (4, &["read b.txt", "create b.txt"]),
    ] {
        let explained =
            crate::policy::explained(&client, "undo", json!({ "number": number })).await;
        let steps: Vec<_> = explained.steps.iter().map(|step| step.effect.as_str()).collect();
        assert_eq!(steps, effects, "{number}");
        assert_eq!(explained.decision(), v1::Decision::Allow);
    }
    assert_eq!(client.numbers().await, before);
    daemon.stop();
    site.user_policy("version = 1\n[[rule]]\ntools = [\"undo\"]\ndecision = \"deny\"\n");
    for words in [&["undo"][..], &["undo", "number=2"], &["undo", "since=1"]] {
        let ended = site.run(&[&["policy", "explain"], words].concat());
        assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.stderr);
        assert!(ended.stdout.contains("together: deny"), "{}", ended.stdout);
    }
    let unknown = site.run(&["policy", "explain", "undo", "number=99"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    let prompt = site.run(&["policy", "explain", "undo_user_prompt"]);
    assert!(prompt.stdout.contains("configure"), "{prompt:?}");
}

/// Contents that are merged count against the memory of calls, as what a call came with does.
#[tokio::test]
async fn what_is_merged_or_recalled_has_its_share_of_the_memory_of_calls() {
    let site = Site::allowing();
    site.config("[calls]\ncaller_bytes_max = 400000\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = |word: &str| format!("{word}\n{}", "a line of the text\n".repeat(300));
    for (path, lines) in [("small", ""), ("large", "x\n")] {
        let lines = lines.repeat(4_000);
        site.write(path, text("one") + &lines);
        for word in ["two", "three"] {
            put(&client, path, &(text(word) + &lines)).await;
        }
        site.write(path, text("three") + &lines + "more\n");
    }
    // The first changes, since which the same line was changed: that is found out by merging.
    let conflict = client.undo(1).await.unwrap();
    assert_eq!(failure(&conflict).code, "conflict");
    let full = client.undo(3).await.unwrap();
    assert_eq!(failure(&full).code, "limit_exceeded");
    assert!(failure(&full).message.contains("(calls.caller_bytes_max)"), "{full:?}");
    let recalled = client.ran("reapply", json!({})).await;
    assert_eq!(failure(&recalled).code, "limit_exceeded");
    // All of it is given back.
    put(&client, "other", &"x".repeat(100_000)).await;
    let approver = daemon.approver().await;
    assert_eq!(failure(&approver.undo(3).await.unwrap()).code, "limit_exceeded");
}
