//! Asking people: who may answer, what a decision is bound to, and what ends a question.

use moss_proto::v1;
use moss_proto::v1::ConfirmationState as State;
use prost::Message as _;
use serde_json::json;
use tonic::{Code, Status};

use crate::harness::{
    Client, Daemon, Site, call, details, failure, output, reason, refusing, until, waiting,
};

fn edit(path: &str) -> v1::Call {
    waiting("create_file", json!({"path": path, "content": "new\n"}))
}

/// Starts a call that will wait, on a task of its own.
fn start(
    client: &Client,
    call: v1::Call,
) -> tokio::task::JoinHandle<Result<v1::CallResult, Status>> {
    let client = client.clone();
    tokio::spawn(async move { client.call(call).await })
}

async fn both(daemon: &Daemon) -> (Client, Client) {
    (daemon.caller().await, daemon.approver().await)
}

#[tokio::test]
async fn an_approved_change_is_written() {
    let site = Site::new();
    site.write("a.txt", "old\n");
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let mut watcher = approver.watch().await;
    let arguments = json!({"path": "a.txt", "oldText": "old", "newText": "new"});
    let waits = start(&caller, waiting("replace_text", arguments));
    let question = watcher.question().await;
    assert_eq!(question.tool, "replace_text");
    assert_eq!(question.caller, "caller");
    assert_eq!(question.workspace, site.workspace().display().to_string());
    assert_eq!(question.changes.len(), 1);
    assert_eq!(question.changes[0].path, "a.txt");
    assert_eq!(question.changes[0].hash_before, blake3::hash(b"old\n").to_hex().as_str());
    assert_eq!(question.changes[0].hash_after, blake3::hash(b"new\n").to_hex().as_str());
    assert_eq!((question.changes[0].lines_added, question.changes[0].lines_removed), (1, 1));
    assert!(question.changes[0].diff.contains("-old\n+new\n"));
    assert!(question.rule.contains("by default"), "{}", question.rule);
    let (created, expires) = (question.created_at.unwrap(), question.expires_at.unwrap());
    assert!(expires.seconds > created.seconds);
    assert_eq!(approver.pending().await, std::slice::from_ref(&question));
    assert_eq!(site.read("a.txt"), "old\n");
    let answered = approver.approve(&question).await.unwrap();
    assert_eq!(answered.state(), State::Approved);
    let result = waits.await.unwrap().unwrap();
    assert_eq!(output(&result)["applied"], true);
    assert_eq!(result.digest, question.digest);
    assert_eq!(result.changes[0].status(), v1::ChangeStatus::Committed);
    assert_eq!(site.read("a.txt"), "new\n");
    assert_eq!(watcher.reached(State::Approved).await.id, question.id);
    assert!(approver.pending().await.is_empty());
}

#[tokio::test]
async fn a_denial_reaches_the_caller_with_its_reason() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let mut watcher = approver.watch().await;
    let waits = start(&caller, edit("a.txt"));
    let question = watcher.question().await;
    let answered = approver.deny(&question, "use b.txt in its place").await.unwrap();
    assert_eq!(
        (answered.state(), answered.reason.as_str()),
        (State::Denied, "use b.txt in its place")
    );
    let status = waits.await.unwrap().unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);
    assert_eq!(reason(&status), "DENIED_BY_PERSON");
    assert!(status.message().contains("use b.txt in its place"), "{}", status.message());
    assert!(!site.has("a.txt"));
    let long = approver.deny(&question, &"x".repeat(100_000)).await.unwrap_err();
    assert_eq!(reason(&long), "REQUEST_INVALID");
}

#[tokio::test]
async fn a_question_that_nobody_answers_expires() {
    let site = Site::new();
    site.config("[confirmations]\nexpiry_ms = 200\n");
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let mut watcher = approver.watch().await;
    let waits = start(&caller, edit("a.txt"));
    let question = watcher.question().await;
    watcher.reached(State::Expired).await;
    let status = waits.await.unwrap().unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert_eq!(reason(&status), "CONFIRMATION_REQUIRED");
    let late = approver.approve(&question).await.unwrap_err();
    assert_eq!(
        (late.code(), reason(&late).as_str()),
        (Code::FailedPrecondition, "CONFIRMATION_OVER")
    );
    assert!(late.message().contains("expired"), "{}", late.message());
    assert!(!site.has("a.txt"));
}

#[tokio::test]
async fn a_refused_call_shows_its_effect_and_its_digest() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let arguments = json!({"path": "a.txt", "content": "new\n"});
    let status = caller.call(refusing("create_file", arguments.clone())).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert_eq!(reason(&status), "CONFIRMATION_REQUIRED");
    let facts = details(&status).error_info().unwrap().metadata.clone();
    assert_eq!(facts["effect_attached"], "true");
    assert_eq!(facts["protected"], "false");
    let digest = facts["digest"].clone();
    assert!(status.message().contains(&digest), "{}", status.message());
    let rich = tonic_types::pb::Status::decode(status.details()).unwrap();
    let any = rich.details.iter().find(|any| any.type_url.ends_with("/moss.v1.Confirmation"));
    let attached = v1::Confirmation::decode(&*any.unwrap().value).unwrap();
    assert_eq!(attached.digest, digest);
    assert!(attached.changes[0].diff.contains("+new"));
    assert!(!site.has("a.txt"));

    // The digest is an approval: a caller cannot give it.
    let approved =
        v1::Call { approved_digests: vec![digest.clone()], ..call("create_file", arguments) };
    let refused = caller.call(approved.clone()).await.unwrap_err();
    assert_eq!(
        (refused.code(), reason(&refused).as_str()),
        (Code::PermissionDenied, "ROLE_MISSING")
    );
    assert!(!site.has("a.txt"));
    let result = approver.call(approved.clone()).await.unwrap();
    assert_eq!(
        (output(&result)["applied"].clone(), result.digest.as_str()),
        (json!(true), digest.as_str())
    );
    assert_eq!(site.read("a.txt"), "new\n");

    // It was for this effect; what would happen now is another one.
    let again = approver.call(approved).await.unwrap();
    assert_eq!(failure(&again).code, "no_change");
}

#[tokio::test]
async fn a_large_effect_is_not_attached_but_can_be_followed() {
    let site = Site::new();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let arguments = json!({"path": "a.txt", "content": "0123456789\n".repeat(20_000)});
    let mut events = caller.stream(refusing("create_file", arguments)).await.unwrap();
    let shown = events.question().await;
    assert!(shown.changes[0].diff.len() > 200_000);
    let status = events.end().await.unwrap_err();
    assert_eq!(reason(&status), "CONFIRMATION_REQUIRED");
    let facts = details(&status).error_info().unwrap().metadata.clone();
    assert_eq!((facts["effect_attached"].as_str(), &facts["digest"]), ("false", &shown.digest));
    // A question shown to a refused caller waits for nobody.
    assert!(daemon.approver().await.pending().await.is_empty());
}

#[tokio::test]
async fn an_approved_digest_does_not_cover_another_effect() {
    let site = Site::new();
    site.write("a.txt", "old\n");
    let daemon = site.serve();
    let approver = daemon.approver().await;
    let replace = |new: &str| {
        refusing("replace_text", json!({"path": "a.txt", "oldText": "old", "newText": new}))
    };
    let status = approver.call(replace("good")).await.unwrap_err();
    let digest = details(&status).error_info().unwrap().metadata["digest"].clone();
    let other = v1::Call { approved_digests: vec![digest.clone()], ..replace("bad") };
    let status = approver.call(other).await.unwrap_err();
    assert_eq!(reason(&status), "CONFIRMATION_REQUIRED");
    assert_ne!(details(&status).error_info().unwrap().metadata["digest"], digest);
    // Nor the same edit of a file that is another one now.
    site.write("a.txt", "old, changed by somebody\n");
    let same = v1::Call { approved_digests: vec![digest], ..replace("good") };
    assert_eq!(reason(&approver.call(same).await.unwrap_err()), "CONFIRMATION_REQUIRED");
    assert_eq!(site.read("a.txt"), "old, changed by somebody\n");
    let broken = v1::Call { approved_digests: vec!["abc".to_owned()], ..replace("good") };
    assert_eq!(reason(&approver.call(broken).await.unwrap_err()), "REQUEST_INVALID");
}

#[tokio::test]
async fn a_question_is_answered_once() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let mut watcher = approver.watch().await;
    let waits = start(&caller, edit("a.txt"));
    let question = watcher.question().await;
    let answers = (0..8).map(|_| {
        let (approver, question) = (approver.clone(), question.clone());
        tokio::spawn(async move { approver.approve(&question).await })
    });
    let mut taken = 0;
    for answer in answers.collect::<Vec<_>>() {
        match answer.await.unwrap() {
            Ok(_) => taken += 1,
            Err(status) => {
                assert_eq!(status.code(), Code::FailedPrecondition);
                assert_eq!(reason(&status), "CONFIRMATION_OVER");
                assert!(status.message().contains("approved"), "{}", status.message());
            }
        }
    }
    assert_eq!(taken, 1);
    waits.await.unwrap().unwrap();
    let late = approver.deny(&question, "no").await.unwrap_err();
    assert_eq!(reason(&late), "CONFIRMATION_OVER");
    assert_eq!(site.read("a.txt"), "new\n");
    assert_eq!(caller.numbers().await, [1]);
}

#[tokio::test]
async fn a_caller_cannot_answer_list_or_watch() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let mut watcher = approver.watch().await;
    let _waits = start(&caller, edit("a.txt"));
    let question = watcher.question().await;
    let resolve = caller.approve(&question).await.unwrap_err();
    let mut confirmations = caller.confirmations();
    let list = confirmations.list_confirmations(v1::ListConfirmationsRequest::default()).await;
    let watch = confirmations.watch_confirmations(v1::WatchConfirmationsRequest::default()).await;
    for status in [resolve, list.unwrap_err(), watch.unwrap_err()] {
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::PermissionDenied, "ROLE_MISSING")
        );
        assert!(status.message().contains("approver"), "{}", status.message());
    }
    assert_eq!(approver.pending().await.len(), 1);
    assert!(!site.has("a.txt"));
}

#[tokio::test]
async fn an_answer_needs_the_digest_that_was_shown() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let mut watcher = approver.watch().await;
    let waits = start(&caller, edit("a.txt"));
    let question = watcher.question().await;
    for (digest, code, why) in [
        ("0".repeat(64), Code::Aborted, "DIGEST_CHANGED"),
        ("0".repeat(63), Code::InvalidArgument, "REQUEST_INVALID"),
        (String::new(), Code::InvalidArgument, "REQUEST_INVALID"),
    ] {
        let other = v1::Confirmation { digest, ..question.clone() };
        let status = approver.approve(&other).await.unwrap_err();
        assert_eq!((status.code(), reason(&status).as_str()), (code, why));
    }
    let unknown = v1::Confirmation { id: "f".repeat(32), ..question.clone() };
    let status = approver.approve(&unknown).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::NotFound, "CONFIRMATION_UNKNOWN"));
    let request = v1::ResolveConfirmationRequest {
        id: question.id.clone(),
        digest: question.digest.clone(),
        ..Default::default()
    };
    let status = approver.confirmations().resolve_confirmation(request).await.unwrap_err();
    assert_eq!(reason(&status), "REQUEST_INVALID");
    // None of this was a decision.
    approver.approve(&question).await.unwrap();
    waits.await.unwrap().unwrap();
}

#[tokio::test]
async fn two_questions_at_once_have_answers_of_their_own() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let mut watcher = approver.watch().await;
    let (first, second) = (start(&caller, edit("a.txt")), start(&caller, edit("b.txt")));
    let questions = [watcher.question().await, watcher.question().await];
    assert_ne!(questions[0].id, questions[1].id);
    assert_ne!(questions[0].digest, questions[1].digest);
    let of = |path: &str| questions.iter().find(|q| q.changes[0].path == path).unwrap();
    approver.approve(of("b.txt")).await.unwrap();
    approver.deny(of("a.txt"), "").await.unwrap();
    assert_eq!(first.await.unwrap().unwrap_err().code(), Code::PermissionDenied);
    second.await.unwrap().unwrap();
    assert!(!site.has("a.txt") && site.has("b.txt"));
}

#[tokio::test]
async fn a_file_that_changed_before_the_answer_is_left_alone() {
    let site = Site::new();
    site.write("a.txt", "old\n");
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let mut watcher = approver.watch().await;
    let arguments = json!({"path": "a.txt", "oldText": "old", "newText": "new"});

    // Changed.
    let waits = start(&caller, waiting("replace_text", arguments.clone()));
    let question = watcher.question().await;
    site.write("a.txt", "old, and what somebody wrote meanwhile\n");
    approver.approve(&question).await.unwrap();
    let result = waits.await.unwrap().unwrap();
    assert_eq!(failure(&result).code, "conflict");
    assert_eq!(result.changes[0].status(), v1::ChangeStatus::Conflict);
    assert_eq!(site.read("a.txt"), "old, and what somebody wrote meanwhile\n");

    // Removed.
    let waits = start(&caller, waiting("replace_text", arguments));
    let question = watcher.question().await;
    std::fs::remove_file(site.workspace().join("a.txt")).unwrap();
    approver.approve(&question).await.unwrap();
    assert_eq!(failure(&waits.await.unwrap().unwrap()).code, "conflict");
    assert!(!site.has("a.txt"));

    // Made by somebody else.
    let waits = start(&caller, edit("b.txt"));
    let question = watcher.question().await;
    site.write("b.txt", "somebody's\n");
    approver.approve(&question).await.unwrap();
    let result = waits.await.unwrap().unwrap();
    assert!(["conflict", "already_exists"].contains(&failure(&result).code.as_str()), "{result:?}");
    assert_eq!(site.read("b.txt"), "somebody's\n");
    assert!(caller.numbers().await.is_empty());
}

#[tokio::test]
async fn without_a_word_a_call_waits_only_where_somebody_watches() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let unspecified = || call("create_file", json!({"path": "a.txt", "content": "new\n"}));
    let status = caller.call(unspecified()).await.unwrap_err();
    assert_eq!(reason(&status), "CONFIRMATION_REQUIRED");
    let mut watcher = approver.watch().await;
    let waits = start(&caller, unspecified());
    let question = watcher.question().await;
    approver.approve(&question).await.unwrap();
    waits.await.unwrap().unwrap();
    drop(watcher);
    until("nobody watches", async || {
        let arguments = json!({"path": "b.txt", "content": "new\n"});
        let short = v1::CallToolRequest { call: Some(call("create_file", arguments)) };
        let mut request = tonic::Request::new(short);
        request.set_timeout(std::time::Duration::from_millis(500));
        let status = caller.tools().call_tool(request).await.unwrap_err();
        status.code() == Code::FailedPrecondition
    })
    .await;
}

#[tokio::test]
async fn a_watcher_sees_first_what_waits_already() {
    let site = Site::new();
    let daemon = site.serve();
    let (caller, approver) = both(&daemon).await;
    let mut events = caller.stream(edit("a.txt")).await.unwrap();
    let question = events.question().await;
    let request = v1::WatchConfirmationsRequest { workspace: "/elsewhere".to_owned() };
    let status = approver.confirmations().watch_confirmations(request).await.unwrap_err();
    assert_eq!(reason(&status), "WORKSPACE_UNKNOWN");
    let mut watcher = approver.watch().await;
    assert_eq!(watcher.question().await.id, question.id);
}
