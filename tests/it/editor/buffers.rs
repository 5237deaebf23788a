//! Reading and changing what an editor holds and has not saved.

use moss_proto::v1;
use moss_proto::v1::editor_answer::Answer;
use moss_proto::v1::editor_question::Question;
use serde_json::json;

use super::{served, start};
use crate::harness::{Client, Editor, Site, call, failure, output, range};

const TEXT: &str = "fn one() {}\nfn two() { one() }\nfn three() {}\n";

/// The edit that an editor is asked for; it must be the next thing.
async fn edit_of(editor: &mut Editor) -> (String, v1::ApplyEditQuestion) {
    match editor.question().await {
        (id, Question::ApplyEdit(edit)) => (id, edit),
        other => panic!("expected an edit, got {other:?}"),
    }
}

/// A site where edits need no answer, with an editor that holds other text than the file.
async fn dirty(site: &Site) -> (crate::harness::Daemon, Client, Editor) {
    let (daemon, caller, approver) = served(site).await;
    let mut editor = Editor::attach(&approver, "Code").await;
    editor.hold("a.rs", 7, Some(TEXT)).await;
    (daemon, caller, editor)
}

#[tokio::test]
async fn unsaved_text_is_what_tools_read() {
    let site = Site::allowing();
    let (_daemon, caller, mut editor) = dirty(&site).await;
    let read = caller.done("read_file", json!({"path": "a.rs"})).await;
    assert_eq!((&read["total_lines"], &read["unsaved"]), (&json!(3), &json!(true)));
    assert_eq!(read["hash"], blake3::hash(TEXT.as_bytes()).to_hex().as_str());
    let found = caller.done("grep_search", json!({"pattern": "three"})).await;
    assert_eq!(found["matches"][0]["line"], 3);
    // Saved: what is on disk holds again.
    editor.hold("a.rs", 8, None).await;
    let read = caller.done("read_file", json!({"path": "a.rs"})).await;
    assert_eq!((&read["total_lines"], read.get("unsaved")), (&json!(2), None));
}

#[tokio::test]
async fn edit_of_an_unsaved_file_goes_to_the_editor() {
    let site = Site::allowing();
    let (_daemon, caller, mut editor) = dirty(&site).await;
    let on_disk = site.read("a.rs");
    let arguments = json!({"path": "a.rs", "oldText": "two() { one() }", "newText": "zwei() {}"});
    let edits = start(&caller, "replace_text", arguments);
    let (id, edit) = edit_of(&mut editor).await;
    assert_eq!((edit.path.as_str(), edit.version, edit.tool.as_str()), ("a.rs", 7, "replace_text"));
    let text_edit =
        v1::TextEdit { range: Some(range((1, 0), (2, 0))), new_text: "fn zwei() {}\n".into() };
    assert_eq!(edit.edits, [text_edit]);
    editor.answer(&id, Answer::EditApplied(v1::EditApplied { version: 8 })).await;
    let result = edits.await.unwrap().unwrap();
    assert_eq!(output(&result)["applied"], true);
    assert_eq!(result.changes[0].status(), v1::ChangeStatus::Committed);
    assert_eq!(site.read("a.rs"), on_disk, "the file is the editor's to save");
    // The next call builds on it, before the editor has told of its new text.
    let read =
        caller.done("read_file", json!({"path": "a.rs", "startLine": 2, "endLine": 2})).await;
    assert_eq!(read["content"], "     2\tfn zwei() {}");

    // It is history like any other, and the way back goes to the editor too.
    let past = caller.done("diff_history", json!({})).await;
    assert_eq!(past["changes"][0]["history"], result.history);
    let listed = caller.history().list_history(v1::ListHistoryRequest::default()).await.unwrap();
    assert!(listed.into_inner().entries[0].changes[0].unsaved);
    let undo = tokio::spawn({
        let caller = caller.clone();
        async move { caller.undo(result.history).await }
    });
    let (id, edit) = edit_of(&mut editor).await;
    assert_eq!((edit.version, edit.edits.len()), (8, 1));
    assert_eq!(edit.edits[0].new_text, "fn two() { one() }\n");
    editor.answer(&id, Answer::EditApplied(v1::EditApplied { version: 9 })).await;
    undo.await.unwrap().unwrap();
    let read = caller.done("read_file", json!({"path": "a.rs"})).await;
    assert_eq!(read["hash"], blake3::hash(TEXT.as_bytes()).to_hex().as_str());
    assert_eq!(site.read("a.rs"), on_disk);

    // What was undone is made again there.
    let again = start(&caller, "reapply", json!({"index": 1}));
    let (id, edit) = edit_of(&mut editor).await;
    assert_eq!((edit.version, edit.tool.as_str()), (9, "reapply"));
    assert_eq!(edit.edits[0].new_text, "fn zwei() {}\n");
    editor.answer(&id, Answer::EditApplied(v1::EditApplied { version: 10 })).await;
    assert_eq!(output(&again.await.unwrap().unwrap())["files"][0]["how"], "exact");
    assert_eq!(site.read("a.rs"), on_disk);
}

#[tokio::test]
async fn edit_that_the_editor_refuses_is_a_conflict() {
    let site = Site::allowing();
    let (_daemon, caller, mut editor) = dirty(&site).await;
    let arguments = json!({"path": "a.rs", "oldText": "three", "newText": "drei"});
    let edits = start(&caller, "replace_text", arguments);
    let (id, _) = edit_of(&mut editor).await;
    editor.answer(&id, Answer::Failed("the person typed on".into())).await;
    let result = edits.await.unwrap().unwrap();
    let error = failure(&result);
    assert_eq!(error.code, "conflict");
    assert!(error.message.contains("the person typed on"), "{}", error.message);
    assert_eq!(result.changes[0].status(), v1::ChangeStatus::Conflict);
    assert_eq!(caller.numbers().await, [0; 0]);
}

#[tokio::test]
async fn edit_that_the_editor_ignores_is_a_conflict() {
    let site = Site::allowing();
    site.config("[editors]\nresponse_ms = 100\n");
    let (_daemon, caller, mut editor) = dirty(&site).await;
    let arguments = json!({"path": "a.rs", "oldText": "three", "newText": "drei"});
    let edits = start(&caller, "replace_text", arguments);
    let (id, _) = edit_of(&mut editor).await;
    assert_eq!(editor.over().await, (id, v1::QuestionEnd::Expired));
    let result = edits.await.unwrap().unwrap();
    assert!(failure(&result).message.contains("did not respond"), "{result:?}");
    assert_eq!(caller.numbers().await, [0; 0]);
}

#[tokio::test]
async fn answer_to_a_confirmation_applies_only_to_the_text_that_was_shown() {
    let site = Site::new();
    let (_daemon, caller, mut editor) = dirty(&site).await;
    let arguments = json!({"path": "a.rs", "oldText": "three", "newText": "drei"});
    let edits = start(&caller, "replace_text", arguments);
    let (_, question) = editor.question().await;
    let Question::Confirmation(asked) = question else { panic!("{question:?}") };
    assert!(asked.changes[0].diff.contains("-fn three() {}\n+fn drei() {}"), "{asked:?}");
    assert!(asked.changes[0].unsaved);
    // The person types on while being asked.
    editor.tell(Editor::buffer("a.rs", 8, Some("fn three() {} // mine\n"))).await;
    editor.resolve(&asked, v1::Verdict::Approve).await;
    let result = edits.await.unwrap().unwrap();
    assert_eq!(failure(&result).code, "conflict");
    assert_eq!(editor.over().await.1, v1::QuestionEnd::Answered);
}

#[tokio::test]
async fn typing_into_a_saved_file_while_being_asked_is_a_conflict() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let mut editor = Editor::attach(&approver, "Code").await;
    editor.hold("a.rs", 1, None).await;
    let arguments = json!({"path": "a.rs", "oldText": "two", "newText": "zwei"});
    let edits = start(&caller, "replace_text", arguments);
    let (_, question) = editor.question().await;
    let Question::Confirmation(asked) = question else { panic!("{question:?}") };
    let before = site.read("a.rs");
    editor.tell(Editor::buffer("a.rs", 2, Some("mine\n"))).await;
    editor.resolve(&asked, v1::Verdict::Approve).await;
    assert_eq!(failure(&edits.await.unwrap().unwrap()).code, "conflict");
    assert_eq!(site.read("a.rs"), before);
}

#[tokio::test]
async fn what_no_editor_can_carry_out_is_refused_before_anybody_is_asked() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let mut one = Editor::attach(&approver, "one").await;
    let reader = v1::EditorHello { capabilities: Vec::new(), ..Editor::hello("reader") };
    let mut two = Editor::attach_as(&approver, reader).await.unwrap();
    let edit = json!({"path": "a.rs", "oldText": "one", "newText": "eins"});
    let refused = async |tool, arguments, what: &str| {
        let result = caller.call(call(tool, arguments)).await.unwrap();
        let error = failure(&result);
        assert_eq!(error.code, "conflict");
        assert!(error.message.contains(what), "{}", error.message);
        assert!(!error.hint.is_empty());
    };
    one.hold("a.rs", 1, Some("one\n")).await;
    two.hold("a.rs", 1, Some("one two\n")).await;
    refused("replace_text", edit.clone(), "two editors, reader and one").await;
    one.hold("a.rs", 2, None).await;
    refused("replace_text", edit, "in reader, which takes no edits").await;
    refused("delete_file", json!({"path": "a.rs"}), "deleting").await;
    two.hold("b.rs", 1, Some("new\n")).await;
    refused("create_file", json!({"path": "b.rs", "content": "x"}), "about to be made").await;
    assert_eq!(site.read("a.rs"), "fn one() {}\nfn two() { one(); }\n");
    assert!(!site.has("b.rs"));
}

#[tokio::test]
async fn buffer_is_the_file_that_its_path_leads_to() {
    let site = Site::allowing();
    let (_daemon, caller, approver) = served(&site).await;
    std::os::unix::fs::symlink("a.rs", site.workspace().join("link.rs")).unwrap();
    let mut editor = Editor::attach(&approver, "Code").await;
    editor.hold("link.rs", 1, Some("through the link\n")).await;
    let read = caller.done("read_file", json!({"path": "a.rs"})).await;
    assert_eq!(read["content"], "     1\tthrough the link");
    let arguments = json!({"path": "a.rs", "oldText": "through", "newText": "by"});
    let edits = start(&caller, "replace_text", arguments);
    let (id, edit) = edit_of(&mut editor).await;
    assert_eq!(edit.path, "link.rs", "the editor knows it by this path");
    editor.answer(&id, Answer::EditApplied(v1::EditApplied { version: 2 })).await;
    assert_eq!(output(&edits.await.unwrap().unwrap())["applied"], true);
}
