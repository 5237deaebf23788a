//! Committed changes over the wire: listing, showing, undoing, and undoing that.

use moss_proto::v1;
use moss_proto::v1::undo_history_entry_request::Target;
use serde_json::json;
use tonic::Code;

use crate::harness::{Client, Site, failure, output, reason};

async fn page(client: &Client, request: v1::ListHistoryRequest) -> v1::ListHistoryResponse {
    client.history().list_history(request).await.unwrap().into_inner()
}

async fn entry(client: &Client, number: u64) -> v1::HistoryEntry {
    let request = v1::GetHistoryEntryRequest { number, ..Default::default() };
    client.history().get_history_entry(request).await.unwrap().into_inner().entry.unwrap()
}

#[tokio::test]
async fn entries_are_listed_in_pages_newest_first() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for number in 0..7 {
        let path = format!("{}.txt", number % 2);
        let arguments = json!({"path": path, "content": format!("{number}\n"), "overwrite": true});
        client.done("create_file", arguments).await;
    }
    let mut numbers = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = v1::ListHistoryRequest { page_size: 3, page_token, ..Default::default() };
        let listed = page(&client, request).await;
        assert!(listed.entries.len() <= 3);
        numbers.extend(listed.entries.iter().map(|entry| entry.number));
        page_token = listed.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    assert_eq!(numbers, [7, 6, 5, 4, 3, 2, 1]);
    let request = v1::ListHistoryRequest { path: "1.txt".to_owned(), ..Default::default() };
    let of_file: Vec<_> = page(&client, request).await.entries.iter().map(|e| e.number).collect();
    assert_eq!(of_file, [6, 4, 2]);
    for (path, page_token) in [("../a", ""), ("", "x")] {
        let (path, page_token) = (path.to_owned(), page_token.to_owned());
        let request = v1::ListHistoryRequest { path, page_token, ..Default::default() };
        let status = client.history().list_history(request).await.unwrap_err();
        assert_eq!(reason(&status), "REQUEST_INVALID");
    }
}

#[tokio::test]
async fn an_entry_reports_who_did_what() {
    let site = Site::allowing();
    site.write("a.txt", "old\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let edit = json!({"path": "a.txt", "oldText": "old", "newText": "new"});
    let result = client.ran("replace_text", edit).await;
    let entry = entry(&client, 1).await;
    assert_eq!((entry.tool.as_str(), entry.caller.as_str()), ("replace_text", "caller"));
    assert_eq!(entry.call_id, result.call_id);
    assert_eq!(entry.undo_of, 0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let committed = u64::try_from(entry.committed_at.unwrap().seconds).unwrap();
    assert!(committed.abs_diff(now.as_secs()) < 600, "{committed}");
    assert_eq!(entry.changes.len(), 1);
    assert_eq!(entry.changes[0].action(), v1::ChangeAction::Modify);
    assert!(entry.changes[0].diff.contains("-old\n+new\n"), "{}", entry.changes[0].diff);
    assert_eq!(entry.changes[0].hash_after, blake3::hash(b"new\n").to_hex().as_str());
    for number in [0, 2, u64::MAX] {
        let request = v1::GetHistoryEntryRequest { number, ..Default::default() };
        let status = client.history().get_history_entry(request).await.unwrap_err();
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::NotFound, "HISTORY_ENTRY_UNKNOWN")
        );
    }
}

#[tokio::test]
async fn every_kind_of_change_is_undone_and_redone() {
    let site = Site::allowing();
    site.write("modified.txt", "a\r\nb\n");
    site.write("deleted.txt", "gone\n");
    let before = site.snapshot();
    let daemon = site.serve();
    let client = daemon.caller().await;
    client.done("create_file", json!({"path": "new/created.txt", "content": "x\n"})).await;
    let edit = json!({"path": "modified.txt", "startLine": 2, "endLine": 2, "newText": "B"});
    client.done("replace_lines", edit).await;
    client.done("delete_file", json!({"path": "deleted.txt"})).await;
    let after = site.snapshot();
    // Oldest last, each once; then the undos are undone.
    for number in [3, 2, 1] {
        let result = client.undo(number).await.unwrap();
        let told = output(&result);
        assert_eq!((&told["undone"], &told["applied"]), (&json!(number), &json!(true)));
    }
    let files = |snapshot: Vec<(std::path::PathBuf, Option<Vec<u8>>)>| -> Vec<_> {
        snapshot.into_iter().filter(|(_, content)| content.is_some()).collect()
    };
    assert_eq!(files(site.snapshot()), files(before));
    assert_eq!(client.numbers().await, [6, 5, 4, 3, 2, 1]);
    let undo = entry(&client, 4).await;
    assert_eq!((undo.undo_of, &undo.undoes[..], &undo.undone_by[..]), (3, &[3][..], &[][..]));
    assert_eq!(entry(&client, 3).await.undone_by, [4]);
    for number in [6, 5, 4] {
        client.undo(number).await.unwrap();
    }
    assert_eq!(files(site.snapshot()), files(after));
}

#[tokio::test]
async fn an_undo_merges_with_later_changes_or_is_a_conflict() {
    let site = Site::allowing();
    let lines: Vec<_> = (1..=20).map(|number| format!("line {number}")).collect();
    site.write("a.txt", lines.join("\n") + "\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let edit = |line: u64, text: &str| json!({"path": "a.txt", "startLine": line, "endLine": line, "newText": text});
    client.done("replace_lines", edit(3, "three")).await;
    // Another location of the file changes: the undo leaves it alone.
    client.done("replace_lines", edit(15, "fifteen")).await;
    client.undo(1).await.unwrap();
    let text = site.read("a.txt");
    assert!(text.contains("line 3\n") && text.contains("fifteen\n"), "{text}");
    // The same location changed again.
    client.done("replace_lines", edit(15, "XV")).await;
    let before = site.read("a.txt");
    let result = client.undo(2).await.unwrap();
    assert_eq!(failure(&result).code, "conflict");
    assert!(!failure(&result).hint.is_empty());
    assert_eq!(site.read("a.txt"), before);
}

#[tokio::test]
async fn an_undo_of_what_is_not_there_fails() {
    let site = Site::allowing();
    site.write("a.txt", "secret of old\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let result = client.undo(1).await.unwrap();
    assert_eq!(failure(&result).code, "not_found");
    client.done("delete_file", json!({"path": "a.txt", "permanent": true})).await;
    let result = client.undo(1).await.unwrap();
    assert_eq!(failure(&result).code, "conflict");
    assert!(failure(&result).hint.contains("permanently"), "{result:?}");
    assert!(!site.has("a.txt"));
}

#[tokio::test]
async fn an_undo_is_confirmed_like_any_change() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut watcher = approver.watch().await;
    let create = crate::harness::waiting("create_file", json!({"path": "a.txt", "content": "x\n"}));
    let waits = tokio::spawn({
        let caller = caller.clone();
        async move { caller.call(create).await }
    });
    approver.approve(&watcher.question().await).await.unwrap();
    waits.await.unwrap().unwrap();
    drop(watcher);

    let request = |dry_run, approved_digests: &[&str]| v1::UndoHistoryEntryRequest {
        target: Some(Target::Number(1)),
        confirm: v1::ConfirmMode::Refuse.into(),
        approved_digests: approved_digests.iter().map(|&digest| digest.to_owned()).collect(),
        dry_run,
        ..Default::default()
    };
    let shown = caller.history().undo_history_entry(request(true, &[])).await.unwrap();
    let shown = shown.into_inner().result.unwrap();
    assert_eq!(shown.changes[0].action(), v1::ChangeAction::Delete);
    assert_eq!(shown.changes[0].status(), v1::ChangeStatus::Proposed);
    let refused = caller.history().undo_history_entry(request(false, &[])).await.unwrap_err();
    assert_eq!(reason(&refused), "CONFIRMATION_REQUIRED");
    let digest = shown.digest;
    let by_caller =
        caller.history().undo_history_entry(request(false, &[&digest])).await.unwrap_err();
    assert_eq!(reason(&by_caller), "ROLE_MISSING");
    assert!(site.has("a.txt"));
    let done = approver.history().undo_history_entry(request(false, &[&digest])).await.unwrap();
    assert_eq!(output(&done.into_inner().result.unwrap())["undone"], 1);
    assert!(!site.has("a.txt"));
}

#[tokio::test]
async fn history_is_kept_outside_of_the_workspace_and_over_restarts() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    client.done("create_file", json!({"path": "a.txt", "content": "x\n"})).await;
    drop(client);
    daemon.stop();
    let names: Vec<_> = site.snapshot().into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, [site.workspace().join("a.txt")]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(client.numbers().await, [1]);
    client.undo(1).await.unwrap();
    assert!(!site.has("a.txt"));
    assert_eq!(client.numbers().await, [2, 1]);
}

#[tokio::test]
async fn a_tool_shows_the_past_as_far_as_the_caller_may_read() {
    let site = Site::allowing();
    site.write("a.txt", "old\n");
    site.write("private/b.txt", "canary\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let edit = |path: &str, old: &str| json!({"path": path, "oldText": old, "newText": "new"});
    client.done("replace_text", edit("a.txt", "old")).await;
    client.done("replace_text", edit("private/b.txt", "canary")).await;
    let past = output(&client.ran("diff_history", json!({"path": "a.txt"})).await);
    let file = &past["changes"][0]["files"][0];
    assert_eq!((&past["changes"][0]["history"], &file["action"]), (&json!(1), &json!("modify")));
    assert!(file["diff"].as_str().unwrap().contains("-old\n+new\n"), "{file}");
    daemon.stop();

    site.workspace_policy(
        "version = 1\n[[rule]]\ndecision = \"deny\"\neffects = [\"read\"]\npaths = [\"private/**\"]\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    let past = output(&client.ran("diff_history", json!({})).await);
    assert_eq!(past["changes"].as_array().unwrap().len(), 2);
    assert_eq!(past["changes"][0]["files"][0]["diff_missing"], "denied");
    assert!(past["changes"][0]["files"][0].get("hash_after").is_none(), "{past}");
    assert!(past["changes"][1]["files"][0]["diff"].is_string());
    assert!(!past.to_string().contains("canary"), "{past}");
    let shown = entry(&client, 2).await;
    assert!(!format!("{shown:?}").contains("canary"), "{shown:?}");
    assert_eq!(shown.changes[0].hash_after, "");
}

#[tokio::test]
async fn diffs_that_do_not_fit_are_not_made() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for path in ["older.txt", "newer.txt"] {
        let content = "line\n".repeat(20_000);
        client.done("create_file", json!({"path": path, "content": content})).await;
    }
    let past = output(&client.ran("diff_history", json!({})).await);
    let [newer, older] = [0, 1].map(|n| &past["changes"][n]["files"][0]);
    assert!(newer["diff"].as_str().unwrap().contains("the diff continues"), "{newer}");
    assert_eq!((older.get("diff"), &older["diff_missing"]), (None, &json!("too_long")));
}

#[test]
fn a_damaged_store_is_found_and_writes_nothing() {
    let site = Site::allowing();
    site.write("a.txt", "ORIGINAL\n");
    let edit = ["call", "replace_text", "path=a.txt", "oldText=ORIGINAL", "newText=later"];
    assert_eq!(site.run(&edit).code, Some(0));
    let states = std::fs::read_dir(site.state().join("workspaces")).unwrap();
    let state = states.last().unwrap().unwrap().path();
    let (store, journal) = (state.join("history.sqlite"), state.join("audit.db"));
    let whole = std::fs::read(&store).unwrap();
    let line = |ended: &crate::harness::Ended, name: &str| {
        let found = ended.stdout.lines().find(|line| line.contains(name));
        found.unwrap_or_else(|| panic!("{ended:?}")).to_owned()
    };
    let sound = site.run(&["doctor"]);
    assert!(line(&sound, "history").contains("1 changes"), "{sound:?}");

    // One byte of a content.
    let at = whole.windows(8).position(|bytes| bytes == b"ORIGINAL").unwrap();
    let mut other = whole.clone();
    other[at] = b'X';
    std::fs::write(&store, &other).unwrap();
    let undo = site.run(&["history", "undo", "1"]);
    assert_ne!(undo.code, Some(0), "{undo:?}");
    assert!(undo.stderr.contains("is not what was written"), "{undo:?}");
    assert_eq!(std::fs::read_to_string(site.workspace().join("a.txt")).unwrap(), "later\n");

    // No database any more.
    std::fs::write(&store, [b'x'; 4096]).unwrap();
    let read = site.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(read.code, Some(1), "{read:?}");
    assert!(read.stderr.contains(store.to_str().unwrap()), "{read:?}");
    assert!(read.stderr.contains("a new one is made"), "{read:?}");
    let doctor = site.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(line(&doctor, "history").contains(store.to_str().unwrap()), "{doctor:?}");
    std::fs::write(&store, &whole).unwrap();
    assert_eq!(site.run(&["history", "undo", "1"]).code, Some(0));

    std::fs::write(&journal, [b'x'; 4096]).unwrap();
    let doctor = site.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(doctor.stdout.contains("audit.db"), "{doctor:?}");
}
