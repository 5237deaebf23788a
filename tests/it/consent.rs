//! What is approved was seen: the text beside bytes that are no text, both names of a link, arguments
//! as they came, and all of what is too long for one look.

use moss_proto::v1;
use serde_json::{Value, json};
use tonic::{Code, Status};

use crate::harness::{Client, Events, Site, output, reason, waiting};

/// Lines whose diff is longer than what is shown at once.
const LINES: usize = 100_000;

pub(crate) fn long() -> Value {
    json!({ "path": "long.txt", "content": "0123456789\n".repeat(LINES) + "the end\n" })
}

pub(crate) async fn asked(
    caller: &Client,
    tool: &str,
    arguments: Value,
) -> (Events, v1::Confirmation) {
    let mut events = caller.stream(waiting(tool, arguments)).await.unwrap();
    let question = events.question().await;
    (events, question)
}

async fn page(
    client: &Client,
    id: &str,
    page_token: &str,
) -> Result<v1::ShowConfirmationResponse, Status> {
    let (id, page_token) = (id.to_owned(), page_token.to_owned());
    let request = v1::ShowConfirmationRequest { id, page_token, preview: false };
    Ok(client.confirmations().show_confirmation(request).await?.into_inner())
}

#[tokio::test]
async fn text_that_replaces_other_bytes_is_shown() {
    let site = Site::new();
    site.write("run", b"#!\0");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let script = json!({ "path": "run", "content": "#!/bin/sh\nrm -rf ~\n", "overwrite": true });
    let (events, question) = asked(&caller, "create_file", script).await;
    let diff = &question.changes[0].diff;
    assert!(diff.contains("+rm -rf ~\n") && diff.contains("is not text: 3 bytes"), "{diff}");
    approver.approve(&question).await.unwrap();
    output(&events.end().await.unwrap());
    // The way back shows the text that goes.
    let back = site.run(&["history", "undo", "1", "--dry-run"]);
    assert!(format!("{back:?}").contains("-rm -rf ~"), "{back:?}");
}

#[tokio::test]
async fn both_names_of_a_link_are_shown() {
    let site = Site::new();
    site.write("src/m.rs", "fn one() {}\n");
    std::os::unix::fs::symlink("src/m.rs", site.workspace().join("notes.md")).unwrap();
    std::os::unix::fs::symlink("src", site.workspace().join("docs")).unwrap();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    for path in ["notes.md", "docs/m.rs"] {
        let edit = json!({ "path": path, "oldText": "one", "newText": "two" });
        let (_events, question) = asked(&caller, "replace_text", edit).await;
        let change = &question.changes[0];
        assert_eq!((change.path.as_str(), change.real_path.as_str()), (path, "src/m.rs"));
        let shown = site.run(&["confirm", "show", &question.id]);
        let told = format!("{path} is a link: the file is src/m.rs");
        assert!(shown.stdout.contains(&told), "{shown:?}");
    }
    let plain = json!({ "path": "src/m.rs", "oldText": "one", "newText": "two" });
    let (_events, question) = asked(&caller, "replace_text", plain).await;
    assert_eq!(question.changes[0].real_path, "");
}

#[tokio::test]
async fn reading_through_a_link_is_asked_with_both_names() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"src/**\"]\ndecision = \"ask\"\n",
    );
    site.write("src/m.rs", "fn one() {}\n");
    std::os::unix::fs::symlink("src/m.rs", site.workspace().join("notes.md")).unwrap();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let (_events, question) = asked(&caller, "read_file", json!({ "path": "notes.md" })).await;
    let shown: Value = serde_json::from_str(&question.arguments_json).unwrap();
    assert_eq!(shown, json!({ "read": "src/m.rs", "asked_for": "notes.md" }));
}

#[tokio::test]
async fn arguments_are_masked_in_the_journal_and_not_for_who_approves() {
    let site = Site::new();
    site.user_policy("version = 1\n[[rule]]\ntools = [\"grep_search\"]\ndecision = \"ask\"\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let search = json!({ "pattern": "token=canary-of-the-person" });
    let (events, question) = asked(&caller, "grep_search", search).await;
    assert!(question.arguments_json.contains("token=canary-of-the-person"), "{question:?}");
    approver.approve(&question).await.unwrap();
    output(&events.end().await.unwrap());
    let tail = site.run(&["audit", "tail", "--json"]);
    assert!(tail.stdout.contains("grep_search") && !tail.stdout.contains("canary"), "{tail:?}");
}

#[tokio::test]
async fn what_is_cut_is_approved_once_all_of_it_was_shown() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let (events, question) = asked(&caller, "create_file", long()).await;
    let change = &question.changes[0];
    assert!(question.truncated && question.offers.is_empty(), "nothing that lasts is offered");
    assert!(change.diff_omitted_bytes > 0 && !change.diff.contains("+the end"));
    let unseen = async || {
        let status = approver.approve(&question).await.unwrap_err();
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::FailedPrecondition, "CONFIRMATION_NOT_SHOWN")
        );
    };
    unseen().await;
    // The end alone is not all of it.
    let first = page(&approver, &question.id, "").await.unwrap();
    let end = (first.bytes_total - 10).to_string();
    assert_eq!(page(&approver, &question.id, &end).await.unwrap().next_page_token, "");
    unseen().await;
    let (mut text, mut token) = (String::new(), String::new());
    loop {
        let shown = page(&approver, &question.id, &token).await.unwrap();
        text.extend(shown.parts.into_iter().map(|part| part.text));
        token = shown.next_page_token;
        if token.is_empty() {
            break;
        }
        unseen().await;
    }
    assert_eq!(text.len() as u64, first.bytes_total);
    assert!(text.ends_with("+the end\n"));
    assert_eq!(text.matches("\n+0123456789").count(), LINES);
    for token in ["x", "-1", "99999999"] {
        let status = page(&approver, &question.id, token).await.unwrap_err();
        assert_eq!(reason(&status), "REQUEST_INVALID", "{token}");
    }
    assert_eq!(page(&caller, &question.id, "").await.unwrap_err().code(), Code::PermissionDenied);
    approver.approve(&question).await.unwrap();
    output(&events.end().await.unwrap());
    let status = page(&approver, &question.id, "").await.unwrap_err();
    assert_eq!(reason(&status), "CONFIRMATION_OVER");
}

#[tokio::test]
async fn what_is_cut_is_approved_by_its_digest() {
    let site = Site::new();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let (events, question) = asked(&caller, "create_file", long()).await;
    let refused = site.run(&["confirm", "approve", &question.id]);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(refused.stderr.contains("--full"), "{refused:?}");
    let other = "0".repeat(64);
    let refused = site.run(&["confirm", "approve", &question.id, "--digest", &other]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let approved = site.run(&["confirm", "approve", &question.id, "--digest", &question.digest]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    output(&events.end().await.unwrap());
    assert!(site.read("long.txt").ends_with("the end\n"));
}

#[tokio::test]
async fn the_command_line_shows_all_of_it() {
    let site = Site::new();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let (events, question) = asked(&caller, "create_file", long()).await;
    let shown = site.run(&["confirm", "show", &question.id]);
    assert!(shown.stdout.contains("not all of it is shown"), "{:.300}", shown.stdout);
    let json = site.run(&["confirm", "show", &question.id, "--full", "--json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(json["changes"][0]["diff"].as_str().unwrap().ends_with("+the end\n"));
    let full = site.run(&["confirm", "show", &question.id, "--full"]);
    assert_eq!(full.code, Some(0));
    assert!(full.stdout.trim_end().ends_with("+the end"), "it ends somewhere else");
    let approved = site.run(&["confirm", "approve", &question.id]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    output(&events.end().await.unwrap());
}

#[tokio::test]
async fn drift_that_is_too_long_to_be_shown_is_part_of_all() {
    let site = Site::new();
    let (found, expected) = ("x".repeat(3_000), "x".repeat(2_999) + "y");
    site.write("a.txt", format!("first\n{found}\nlast\n"));
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let edit = json!({
        "path": "a.txt", "old_string": format!("first\n{expected}\nlast\n"), "new_string": "none\n",
    });
    let mut events = caller.stream(waiting("patch", edit)).await.unwrap();
    let question = events.question().await;
    assert!(question.drift && question.truncated, "{:?}", question.changes[0].match_level);
    let all = page(&approver, &question.id, "").await.unwrap();
    let text: String = all.parts.into_iter().map(|part| part.text).collect();
    assert!(text.contains(&expected) && text.contains(&found) && all.next_page_token.is_empty());
    approver.approve(&question).await.unwrap();
    output(&events.end().await.unwrap());
}

#[tokio::test]
async fn questions_of_one_session_or_caller_keep_neither_others_nor_the_person_out() {
    let site = Site::new();
    site.config(
        "[confirmations]\nsession_pending_max = 2\ncaller_pending_max = 3\npending_max = 9\n",
    );
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let edit = |path: &str, session: &str| v1::Call {
        session_id: session.to_owned(),
        ..waiting("create_file", json!({ "path": path, "content": "x\n" }))
    };
    let mut open = Vec::new();
    for (path, session) in [("a", "one"), ("b", "one"), ("c", "two")] {
        let mut events = caller.stream(edit(path, session)).await.unwrap();
        let question = events.question().await;
        open.push((events, question));
    }
    for (session, limit) in [("one", "session_pending_max"), ("three", "caller_pending_max")] {
        let status = caller.call(edit("d", session)).await.unwrap_err();
        assert_eq!(reason(&status), "CONFIRMATIONS_FULL");
        assert!(status.message().contains(limit), "{}", status.message());
    }
    // Whoever answers is not kept out, whatever waits.
    for path in ["e", "f", "g", "h"] {
        let mut events = approver.stream(edit(path, "one")).await.unwrap();
        let question = events.question().await;
        open.push((events, question));
    }
    let own = ["call", "create_file", "path=i", "content=x", "--confirm", "allow"];
    let own = site.run(&own);
    assert_eq!(own.code, Some(0), "{own:?}");
    let (events, question) = open.remove(0);
    approver.approve(&question).await.unwrap();
    output(&events.end().await.unwrap());
    let mut events = caller.stream(edit("d", "one")).await.unwrap();
    events.question().await;
}

#[tokio::test]
async fn questions_hold_so_much_memory_and_give_it_back() {
    let site = Site::new();
    site.config("[confirmations]\ncaller_bytes_max = 1500000\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let edit = |path: &str| json!({ "path": path, "content": "0123456789\n".repeat(15_000) });
    let (events, question) = asked(&caller, "create_file", edit("a.txt")).await;
    let status = caller.call(waiting("create_file", edit("b.txt"))).await.unwrap_err();
    assert_eq!(reason(&status), "CONFIRMATIONS_FULL");
    assert!(status.message().contains("confirmations.caller_bytes_max"), "{}", status.message());
    // Small ones have room.
    let small = json!({ "path": "c.txt", "content": "x\n" });
    let (_small, _) = asked(&caller, "create_file", small).await;
    approver.approve(&question).await.unwrap();
    output(&events.end().await.unwrap());
    asked(&caller, "create_file", edit("b.txt")).await;
}
