//! Editors that are wrong, lie, flood or vanish.

use moss_proto::v1;
use moss_proto::v1::attach_request::Message as EditorMessage;
use moss_proto::v1::attach_response::Message as Said;
use moss_proto::v1::editor_answer::Answer;
use moss_proto::v1::editor_question::Question;
use serde_json::json;
use tonic::Code;

use super::{attached, served, start};
use crate::harness::{Editor, Site, failure, output, reason, refusing};

#[tokio::test]
async fn only_approvers_attach_and_only_with_a_hello() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let refused = Editor::attach_as(&caller, Editor::hello("Code")).await.err().unwrap();
    assert_eq!((refused.code(), reason(&refused)), (Code::PermissionDenied, "ROLE_MISSING".into()));
    for (first, code) in [
        (EditorMessage::Sync(v1::EditorSync { id: 1 }), Code::InvalidArgument),
        (EditorMessage::Hello(v1::EditorHello::default()), Code::InvalidArgument),
        (EditorMessage::Hello(Editor::hello(&"x".repeat(65))), Code::InvalidArgument),
        (
            EditorMessage::Hello(v1::EditorHello { capabilities: vec![99], ..Editor::hello("x") }),
            Code::InvalidArgument,
        ),
        (
            EditorMessage::Hello(v1::EditorHello {
                workspace: "/nowhere".into(),
                ..Editor::hello("x")
            }),
            Code::NotFound,
        ),
    ] {
        let refused = Editor::open(&approver, first).await.err().unwrap();
        assert_eq!(refused.code(), code, "{refused}");
    }
    let mut editor = Editor::attach(&approver, "Code").await;
    editor.tell(EditorMessage::Hello(Editor::hello("Code"))).await;
    assert_eq!(editor.next().await.unwrap_err().code(), Code::InvalidArgument);
    attached(&caller, 0).await;
}

#[tokio::test]
async fn too_many_editors_are_refused() {
    let site = Site::new();
    site.config("[editors]\nattached_max = 2\n");
    let (_daemon, _, approver) = served(&site).await;
    let _one = Editor::attach(&approver, "one").await;
    let _two = Editor::attach(&approver, "two").await;
    let refused = Editor::attach_as(&approver, Editor::hello("three")).await.err().unwrap();
    assert_eq!(
        (refused.code(), reason(&refused)),
        (Code::ResourceExhausted, "EDITORS_FULL".into())
    );
    assert!(refused.message().contains("editors.attached_max"), "{refused}");
}

#[tokio::test]
async fn messages_that_cannot_be_used_are_answered_and_change_nothing() {
    let site = Site::new();
    site.config(
        "[editors]\nbuffers_max = 2\nunsaved_bytes_max = 20\ndiagnostics_max = 1\n\
         [files]\nedit_bytes_max = 15\n",
    );
    let outside = site.outside("outside.txt");
    std::fs::write(&outside, "secret\n").unwrap();
    std::os::unix::fs::symlink(&outside, site.workspace().join("out")).unwrap();
    let daemon = {
        site.write("a.rs", "short\n");
        site.serve()
    };
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut editor = Editor::attach(&approver, "Code").await;
    let view = |path: &str| {
        EditorMessage::View(v1::EditorView { path: path.into(), ..Default::default() })
    };
    let said = |count| v1::FileDiagnostics {
        path: "a.rs".into(),
        diagnostics: vec![v1::Diagnostic::default(); count],
    };
    for (message, code) in [
        (Editor::buffer("../outside.txt", 1, Some("x")), "outside_workspace"),
        (Editor::buffer(outside.to_str().unwrap(), 1, Some("x")), "outside_workspace"),
        (Editor::buffer("out", 1, Some("x")), "outside_workspace"),
        (Editor::buffer("", 1, Some("x")), "invalid_path"),
        (Editor::buffer("a.rs", 1, Some("a\0b")), "binary"),
        (Editor::buffer("a.rs", 1, Some(&"x".repeat(16))), "too_large"),
        (view("/etc/passwd"), "outside_workspace"),
        (EditorMessage::Closed(v1::BufferClosed { path: "a\0".into() }), "invalid_path"),
        (EditorMessage::Diagnostics(said(2)), "limit_exceeded"),
        (
            EditorMessage::Answer(v1::EditorAnswer { question_id: "x".into(), answer: None }),
            "malformed_answer",
        ),
        (
            EditorMessage::Answer(v1::EditorAnswer {
                question_id: "x".into(),
                answer: Some(Answer::Clarification("yes".into())),
            }),
            "unknown_question",
        ),
    ] {
        let problem = editor.refused(message.clone()).await;
        assert_eq!(problem.code, code, "{message:?}: {}", problem.message);
        assert!(!problem.message.is_empty());
    }
    editor.hold("a.rs", 5, Some("twelve bytes")).await;
    let old = editor.refused(Editor::buffer("a.rs", 4, Some("older"))).await;
    assert_eq!(old.code, "old_version");
    editor.hold("a.rs", 5, Some("twelve bytes")).await;
    let much = editor.refused(Editor::buffer("b.rs", 1, Some("twelve more "))).await;
    assert!(much.message.contains("editors.unsaved_bytes_max"), "{}", much.message);
    editor.hold("b.rs", 1, None).await;
    let many = editor.refused(Editor::buffer("c.rs", 1, None)).await;
    assert!(many.message.contains("editors.buffers_max"), "{}", many.message);
    let read = caller.done("read_file", json!({"path": "a.rs"})).await;
    assert_eq!(read["content"], "     1\ttwelve bytes");
    assert_eq!(site.read("a.rs"), "short\n");
}

#[tokio::test]
async fn file_is_not_written_beneath_a_text_that_could_not_be_taken() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let mut editor = Editor::attach(&approver, "Code").await;
    site.write("b.rs", "on disk\n");
    editor.hold("b.rs", 1, Some("mine\n")).await;
    let unknown = editor.refused(Editor::buffer("b.rs", 2, Some("a\0b"))).await;
    assert_eq!(unknown.code, "binary");
    let edit = json!({"path": "b.rs", "oldText": "disk", "newText": "x"});
    let result = caller.ran("replace_text", edit.clone()).await;
    let error = failure(&result);
    assert!(error.message.contains("that moss could not take"), "{}", error.message);
    editor.hold("b.rs", 3, None).await;
    let asked = caller.call(refusing("replace_text", edit)).await.unwrap_err();
    assert_eq!(reason(&asked), "CONFIRMATION_REQUIRED");
}

#[tokio::test]
async fn answers_of_the_wrong_kind_or_from_the_wrong_editor_leave_the_question_open() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let mut one = Editor::attach(&approver, "one").await;
    let asked = start(&caller, "clarify", json!({"question": "Why?"}));
    let (id, _) = one.question().await;
    let answer =
        |answer| EditorMessage::Answer(v1::EditorAnswer { question_id: id.clone(), answer });
    let applied = Some(Answer::EditApplied(v1::EditApplied { version: 1 }));
    assert_eq!(one.refused(answer(applied)).await.code, "wrong_answer");
    let mut two = Editor::attach(&approver, "two").await;
    let stolen = Some(Answer::Clarification("mine".into()));
    assert_eq!(two.refused(answer(stolen)).await.code, "unknown_question");
    one.answer(&id, Answer::Clarification("truth".into())).await;
    assert_eq!(output(&asked.await.unwrap().unwrap())["answer"], "truth");
}

#[tokio::test]
async fn editor_that_reads_nothing_does_not_hold_calls_up() {
    let site = Site::allowing();
    site.config("[editors]\nresponse_ms = 100\nclarify_ms = 100\n");
    let (_daemon, caller, approver) = served(&site).await;
    let mut editor = Editor::attach(&approver, "deaf").await;
    editor.look("a.rs", 0, 3).await;
    // Far more questions than wait for the transport.
    for _ in 0..100 {
        assert_eq!(caller.done("clarify", json!({"question": "?"})).await["answered"], false);
    }
    caller.done("create_file", json!({"path": "b.txt", "content": "x"})).await;
    drop(editor);
    attached(&caller, 0).await;
}

#[tokio::test]
async fn flood_of_messages_ends_nothing_but_the_flooding_editor() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let mut flooding = Editor::attach(&approver, "flood").await;
    for version in 0..2_000 {
        flooding.tell(Editor::buffer("a.rs", version, Some("text\n"))).await;
    }
    flooding.hold("a.rs", 2_000, Some("the last\n")).await;
    let read = caller.done("read_file", json!({"path": "a.rs"})).await;
    assert_eq!(read["content"], "     1\tthe last");
}

#[tokio::test]
async fn editor_is_notified_that_the_daemon_stops() {
    let site = Site::new();
    let (daemon, caller, approver) = served(&site).await;
    let mut editor = Editor::attach(&approver, "Code").await;
    let asked = start(&caller, "clarify", json!({"question": "Why?"}));
    let (_, question) = editor.question().await;
    assert!(matches!(question, Question::Clarify(_)));
    daemon.terminate();
    loop {
        match editor.next().await {
            Ok(Some(Said::Over(_))) => {}
            Err(status) => break assert_eq!(status.code(), Code::Unavailable, "{status}"),
            other => panic!("{other:?}"),
        }
    }
    // What was asked is not answered; the call ends all the same.
    let ended = asked.await.unwrap();
    assert!(ended.is_err() || ended.is_ok_and(|result| output(&result)["answered"] == false));
    drop((editor, caller, approver));
    assert_eq!(daemon.wait().code(), Some(0));
}
