//! The channel to editors: what they tell, what they are asked, and edits of what is not saved.

mod bad;
mod buffers;

use moss_proto::v1;
use moss_proto::v1::attach_request::Message as EditorMessage;
use moss_proto::v1::editor_answer::Answer;
use moss_proto::v1::editor_question::Question;
use serde_json::{Value, json};
use tonic::Status;

use crate::harness::{Client, Daemon, Editor, Site, call, output, range, until};

/// What gives editors of tests the time that a busy machine takes; tests of silence say otherwise.
pub(crate) const PATIENT: &str = "[editors]\nresponse_ms = 60000\nclarify_ms = 60000\n";

/// A workspace with a file, a daemon that serves it, and a caller.
async fn served(site: &Site) -> (Daemon, Client, Client) {
    if !site.outside("config/moss/config.toml").exists() {
        site.config(PATIENT);
    }
    site.write("a.rs", "fn one() {}\nfn two() { one(); }\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    (daemon, caller, approver)
}

/// Starts a call that asks something on its way.
fn start(
    client: &Client,
    tool: &str,
    arguments: Value,
) -> tokio::task::JoinHandle<Result<v1::CallResult, Status>> {
    let (client, call) = (client.clone(), call(tool, arguments));
    tokio::spawn(async move { client.call(call).await })
}

/// Waits until so many editors are attached.
async fn attached(client: &Client, count: usize) {
    until("editors come and go", async || client.load().await.workspaces[0].editors.len() == count)
        .await;
}

#[tokio::test]
async fn cursor_is_where_the_editor_says() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    assert_eq!(caller.done("get_cursor_context", json!({})).await["attached"], false);
    let mut editor = Editor::attach(&approver, "Code").await;
    let absolute = site.workspace().join("a.rs");
    editor.hold(absolute.to_str().unwrap(), 1, None).await;
    editor.look("a.rs", 1, 12).await;
    let said = v1::Diagnostic {
        range: Some(range((1, 11), (1, 14))),
        severity: v1::Severity::Warning.into(),
        message: "unused".into(),
        source: "rustc".into(),
        code: "W1".into(),
    };
    let diagnostics = v1::FileDiagnostics { path: "a.rs".into(), diagnostics: vec![said] };
    editor.told(EditorMessage::Diagnostics(diagnostics)).await;

    let asked = start(&caller, "get_cursor_context", json!({"linesBefore": 0}));
    let (id, question) = editor.question().await;
    assert_eq!(
        question,
        Question::DocumentSymbols(v1::DocumentSymbolsQuestion { path: "a.rs".into() })
    );
    let symbol = |name: &str, line| v1::DocumentSymbol {
        name: name.into(),
        kind: "function".into(),
        range: Some(range((line, 0), (line, 19))),
        name_range: Some(range((line, 3), (line, 6))),
        children: Vec::new(),
    };
    let symbols = vec![symbol("one", 0), symbol("two", 1)];
    editor.answer(&id, Answer::DocumentSymbols(v1::DocumentSymbols { symbols })).await;
    let (id, question) = editor.question().await;
    let position = Some(v1::Position { line: 1, character: 12 });
    let wanted = v1::DefinitionsQuestion { path: "a.rs".into(), position };
    assert_eq!(question, Question::Definitions(wanted));
    let location =
        |path: &str| v1::Location { path: path.into(), range: Some(range((0, 3), (0, 6))) };
    let locations = vec![location(absolute.to_str().unwrap()), location("/usr/include/stdio.h")];
    editor.answer(&id, Answer::Locations(v1::Locations { locations })).await;

    let output = output(&asked.await.unwrap().unwrap());
    let focus = &output["focus"];
    assert_eq!((&output["editor"], &focus["path"]), (&json!("Code"), &json!("a.rs")));
    assert_eq!((&focus["line"], &focus["column"]), (&json!(2), &json!(13)));
    assert_eq!(focus["content"], "     2\tfn two() { one(); }");
    assert_eq!(focus["symbols"][0]["name"], "two");
    assert_eq!(focus["definitions"], json!([{"path": "a.rs", "line": 1, "column": 4}]));
    assert_eq!(focus["diagnostics"][0]["message"], "unused");
    assert_eq!(output["open_files"], json!([{"path": "a.rs", "unsaved": false}]));

    let status = caller.load().await;
    let shown = &status.workspaces[0].editors[0];
    assert_eq!((shown.name.as_str(), shown.open, shown.unsaved), ("Code", 1, 0));
    let told = site.run(&["status"]).stdout;
    assert!(told.contains("editor: Code 1, 1 files open, 0 not saved"), "{told}");
    drop(editor);
    attached(&caller, 0).await;
    assert_eq!(caller.done("get_cursor_context", json!({})).await["attached"], false);
}

#[tokio::test]
async fn policy_decides_what_of_the_editor_is_shown() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"secret/**\"]\ndecision = \"deny\"\n",
    );
    site.write("secret/a.txt", "x\n");
    site.write(".env", "KEY=1\n");
    let (_daemon, caller, approver) = served(&site).await;
    let mut editor = Editor::attach(&approver, "Code").await;
    editor.hold("secret/a.txt", 1, Some("unsaved secret\n")).await;
    editor.hold("a.rs", 1, None).await;
    editor.look("secret/a.txt", 0, 0).await;
    let output = caller.done("get_cursor_context", json!({})).await;
    assert_eq!(output.get("focus"), None, "{output}");
    assert_eq!(output["open_files"], json!([{"path": "a.rs", "unsaved": false}]));
    assert!(!output.to_string().contains("secret"), "{output}");
    let read = call("read_file", json!({"path": "secret/a.txt"}));
    assert!(caller.call(read).await.is_err());
    // What may be listed but not read has no content and no diagnostics.
    editor.hold(".env", 1, Some("KEY=2\n")).await;
    editor.look(".env", 0, 0).await;
    let refusal = caller.call(call("get_cursor_context", json!({}))).await.unwrap_err();
    assert_eq!(refusal.code(), tonic::Code::PermissionDenied);
    assert!(!refusal.message().contains("KEY"), "{refusal}");
    let found = caller.done("grep_search", json!({"pattern": "KEY|secret"})).await;
    assert_eq!(found["total_matches"], 0, "{found}");
}

#[tokio::test]
async fn person_answers_a_question_in_any_editor() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let question = json!({"question": "Tabs?", "choices": ["yes", "no"]});
    let alone = caller.done("clarify", question.clone()).await;
    assert_eq!(alone, json!({"answered": false, "note": "[clarify] Tabs?\n1. yes\n2. no"}));

    let mut one = Editor::attach(&approver, "one").await;
    let mut two = Editor::attach(&approver, "two").await;
    let asked = start(&caller, "clarify", question);
    let (id, shown) = one.question().await;
    let choices = vec!["yes".to_owned(), "no".to_owned()];
    assert_eq!(shown, Question::Clarify(v1::ClarifyQuestion { question: "Tabs?".into(), choices }));
    assert_eq!(two.question().await.0, id);
    // Closing it in one editor leaves it open in the other.
    let closed = Some(Answer::Clarification(String::new()));
    one.told(EditorMessage::Answer(v1::EditorAnswer { question_id: id.clone(), answer: closed }))
        .await;
    two.answer(&id, Answer::Clarification("no".into())).await;
    let result = output(&asked.await.unwrap().unwrap());
    assert_eq!(result, json!({"answered": true, "answer": "no", "editor": "two"}));
    let late = EditorMessage::Answer(v1::EditorAnswer {
        question_id: id.clone(),
        answer: Some(Answer::Clarification("yes".into())),
    });
    assert_eq!(two.refused(late).await.code, "question_over");

    let asked = start(&caller, "clarify", json!({"question": "Why?"}));
    let (id, _) = one.question().await;
    two.question().await;
    one.answer(&id, Answer::Clarification("because".into())).await;
    assert_eq!(two.over().await, (id, v1::QuestionEnd::Answered));
    assert_eq!(output(&asked.await.unwrap().unwrap())["answer"], "because");
}

#[tokio::test]
async fn an_editor_that_does_not_respond_is_a_timeout() {
    let site = Site::new();
    site.config("[editors]\nresponse_ms = 100\nclarify_ms = 100\n");
    let (_daemon, caller, approver) = served(&site).await;
    let mut editor = Editor::attach(&approver, "mute").await;
    let asked = start(&caller, "clarify", json!({"question": "Why?"}));
    let (id, _) = editor.question().await;
    assert_eq!(editor.over().await, (id, v1::QuestionEnd::Expired));
    let output = output(&asked.await.unwrap().unwrap());
    assert_eq!(output["answered"], false);
    assert!(output["note"].as_str().unwrap().contains("continue"), "{output}");
    // A tool continues without what the editor does not say.
    editor.look("a.rs", 0, 4).await;
    let output = caller.done("get_cursor_context", json!({})).await;
    let focus = &output["focus"];
    assert_eq!((&focus["line"], &focus["symbols"][0]["name"]), (&json!(1), &json!("one")));
}

#[tokio::test]
async fn what_no_editor_knows_of_code_the_index_does() {
    let site = Site::new();
    site.write("src/store.rs", "/// Opens it.\npub fn open_store() {}\npub struct StoreOptions;\n");
    site.write(
        "src/main.rs",
        "use crate::store::open_store;\n\n/// Begins.\nfn begin(all: bool) {\n    open_store();\n}\n\nfn main() {\n    begin(true);\n}\n",
    );
    site.write("other.py", "def open_store():\n    pass\n");
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"closed/**\"]\ndecision = \"deny\"\n",
    );
    site.write("closed/store.rs", "pub fn open_store() {}\nfn go() { begin(false); }\n");
    let (_daemon, caller, approver) = served(&site).await;
    crate::live_tree::ready(&caller).await;
    let hello = v1::EditorHello { capabilities: Vec::new(), ..Editor::hello("plain") };
    let mut editor = Editor::attach_as(&approver, hello).await.unwrap();
    editor.look("src/main.rs", 4, 8).await;
    let arguments = json!({"includeCallers": true, "includeCallees": true});
    let output = caller.done("get_cursor_context", arguments).await;
    let focus = &output["focus"];
    let declared = json!([{"path": "src/store.rs", "line": 2, "column": 8}]);
    assert_eq!(focus["enclosing"]["signature"], "fn begin(all: bool)", "{focus}");
    assert_eq!(focus["imports"], json!([{"line": 1, "text": "use crate::store::open_store;"}]));
    assert_eq!(focus["definitions"], declared, "{focus}");
    assert_eq!(
        focus["callees"],
        json!([{"name": "open_store", "line": 5, "definitions": declared}])
    );
    let callers = json!([
        {"path": "src/main.rs", "line": 9, "container": "main", "text": "begin(true);"}
    ]);
    assert_eq!(focus["callers"], callers);
    // The same names say which files are central.
    let structure = caller.done("get_project_structure", json!({})).await;
    let central = json!([{"path": "src/store.rs", "used_by": 1, "names": ["open_store"]}]);
    assert_eq!(structure["central_files"], central, "{structure}");
}

#[tokio::test]
async fn editor_is_asked_what_it_can_whatever_it_cannot() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let capabilities = vec![v1::EditorCapability::Definitions.into()];
    let hello = v1::EditorHello { capabilities, ..Editor::hello("Code") };
    let mut editor = Editor::attach_as(&approver, hello).await.unwrap();
    editor.look("a.rs", 1, 12).await;
    let asked = start(&caller, "get_cursor_context", json!({}));
    let (id, question) = editor.question().await;
    assert!(matches!(question, Question::Definitions(_)), "{question:?}");
    let location = v1::Location { path: "a.rs".into(), range: Some(range((0, 3), (0, 6))) };
    let locations = vec![location];
    editor.answer(&id, Answer::Locations(v1::Locations { locations })).await;
    let output = output(&asked.await.unwrap().unwrap());
    assert_eq!(output["focus"]["definitions"][0]["line"], 1, "{output}");
}

#[tokio::test]
async fn question_ends_with_whoever_asked_or_was_asked() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let mut editor = Editor::attach(&approver, "Code").await;
    let asked = start(&caller, "clarify", json!({"question": "Why?"}));
    let (id, _) = editor.question().await;
    asked.abort();
    assert_eq!(editor.over().await, (id, v1::QuestionEnd::Withdrawn));

    let asked = start(&caller, "clarify", json!({"question": "Why?"}));
    editor.question().await;
    drop(editor);
    assert_eq!(output(&asked.await.unwrap().unwrap())["answered"], false);
}

#[tokio::test]
async fn confirmations_are_answered_in_the_editor() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let mut editor = Editor::attach(&approver, "Code").await;
    let create = |path: &str| json!({"path": path, "content": "new\n"});
    // With such an editor, a call waits where nobody said whether it should.
    let waits = start(&caller, "create_file", create("b.txt"));
    let (id, question) = editor.question().await;
    let Question::Confirmation(asked) = question else { panic!("{question:?}") };
    assert_eq!((asked.id.as_str(), asked.changes[0].path.as_str()), (id.as_str(), "b.txt"));
    let wrong = v1::Confirmation { digest: "0".repeat(64), ..asked.clone() };
    editor.resolve(&wrong, v1::Verdict::Approve).await;
    let Some(v1::attach_response::Message::Problem(problem)) = editor.next().await.unwrap() else {
        panic!("no problem")
    };
    assert_eq!((problem.code.as_str(), problem.subject.as_str()), ("digest_changed", id.as_str()));
    editor.resolve(&asked, v1::Verdict::Approve).await;
    assert_eq!(editor.over().await, (id, v1::QuestionEnd::Answered));
    assert_eq!(output(&waits.await.unwrap().unwrap())["applied"], true);
    assert_eq!(site.read("b.txt"), "new\n");

    // One that is answered elsewhere disappears.
    let waits = start(&caller, "create_file", create("c.txt"));
    let (id, _) = editor.question().await;
    let pending = approver.pending().await;
    approver.deny(&pending[0], "no").await.unwrap();
    assert_eq!(editor.over().await, (id, v1::QuestionEnd::Answered));
    assert!(waits.await.unwrap().is_err());
    assert!(!site.has("c.txt"));
}

#[tokio::test]
async fn standing_approval_is_given_in_the_editor() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let mut editor = Editor::attach(&approver, "Code").await;
    let asked = async |editor: &mut Editor| match editor.question().await {
        (_, Question::Confirmation(asked)) => asked,
        other => panic!("{other:?}"),
    };
    let edit = |old: &str, new: &str| json!({"path": "a.rs", "oldText": old, "newText": new});
    let waits = start(&caller, "replace_text", edit("two", "zwei"));
    let question = asked(&mut editor).await;
    let always = v1::ApprovalScope::Always;
    let offer = question.offers.iter().find(|offer| offer.scope() == always).unwrap();
    assert!(offer.rule_toml.contains("a.rs"), "{}", offer.rule_toml);
    // What was not offered is not remembered, and the question stays open.
    editor.resolve_as(&question, v1::Verdict::Approve, &"0".repeat(64)).await;
    let Some(v1::attach_response::Message::Problem(problem)) = editor.next().await.unwrap() else {
        panic!("no problem")
    };
    assert_eq!(problem.code, "not_offered");
    editor.resolve_as(&question, v1::Verdict::Approve, &offer.digest).await;
    assert_eq!(editor.over().await.1, v1::QuestionEnd::Answered);
    waits.await.unwrap().unwrap();
    // The same tool on the same file asks no more; another file still does.
    let again = caller.done("replace_text", edit("zwei", "drei")).await;
    assert_eq!(again["applied"], true);
    let create = json!({"path": "b.rs", "content": "new"});
    let waits = start(&caller, "create_file", create);
    let question = asked(&mut editor).await;
    editor.resolve(&question, v1::Verdict::Deny).await;
    assert!(waits.await.unwrap().is_err());
}

#[tokio::test]
async fn same_window_may_attach_again() {
    let site = Site::new();
    let (_daemon, caller, approver) = served(&site).await;
    let hello = v1::EditorHello { instance: "window 1".into(), ..Editor::hello("Code") };
    let mut before = Editor::attach_as(&approver, hello.clone()).await.unwrap();
    before.hold("a.rs", 9, Some("old\n")).await;
    let mut after = Editor::attach_as(&approver, hello).await.unwrap();
    let ended = before.next().await.unwrap_err();
    assert_eq!(ended.code(), tonic::Code::Aborted);
    attached(&caller, 1).await;
    assert_eq!(caller.load().await.workspaces[0].editors[0].open, 0);
    after.hold("a.rs", 1, Some("new\n")).await;
    let read = caller.done("read_file", json!({"path": "a.rs"})).await;
    assert_eq!(read["content"], "     1\tnew");
}
