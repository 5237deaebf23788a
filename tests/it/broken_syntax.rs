//! A change after which a file does not parse: said before anybody agrees to it.

use moss_proto::v1;
use moss_proto::v1::editor_question::Question;
use serde_json::{Value, json};

use crate::editor::PATIENT;
use crate::harness::{Editor, Site, call, waiting};

const FILE: &str = "fn one() -> u32 {\n    1\n}\n\nfn two() -> u32 {\n    2\n}\n";

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "src/a.rs", "oldText": old, "newText": new})
}

/// What a dry run of an edit finds, as line and message.
async fn found(
    site: &Site,
    client: &crate::harness::Client,
    old: &str,
    new: &str,
) -> Vec<(u64, String)> {
    let dry = v1::Call { dry_run: true, ..call("replace_text", edit(old, new)) };
    let result = client.call(dry).await.unwrap();
    assert_eq!(result.outcome(), v1::Outcome::Ok, "{result:?}");
    assert_eq!(site.read("src/a.rs"), FILE);
    let diagnostics = &result.changes[0].diagnostics;
    diagnostics.iter().map(|found| (found.line, found.message.clone())).collect()
}

#[tokio::test]
async fn a_dry_run_says_what_a_change_breaks_and_nothing_of_one_that_parses() {
    let site = Site::new();
    site.write("src/a.rs", FILE);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let broken = found(&site, &client, "    2\n}", "    2\n").await;
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert_eq!(broken[0], (5, "`}` is missing: nothing closes `{`".to_owned()));
    assert_eq!(found(&site, &client, "    2\n", "    3\n").await, []);

    drop(daemon);
    let arguments = edit("    2\n}", "    2\n").to_string();
    let words = ["call", "replace_text", "--args", &arguments, "--dry-run"];
    let ended = site.run(&words);
    assert!(ended.stdout.contains("src/a.rs does not parse after this change:"), "{ended:?}");
    assert!(ended.stdout.contains("`}` is missing"), "{ended:?}");
    let ended = site.run(&[&words[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let diagnostic = &report["changes"][0]["diagnostics"][0];
    assert_eq!(
        (&diagnostic["source"], &diagnostic["message"]),
        (&json!("syntax"), &json!("`}` is missing: nothing closes `{`"))
    );
}

#[tokio::test]
async fn who_is_asked_sees_what_does_not_parse_and_what_was_broken_before_is_not_new() {
    let site = Site::new();
    site.write("src/a.rs", FILE);
    site.write("b.py", "def f(:\n    pass\n\nx = 1\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut watcher = approver.watch().await;
    let asked = |tool: &'static str, arguments: Value| {
        let caller = caller.clone();
        tokio::spawn(async move { caller.call(waiting(tool, arguments)).await })
    };
    let call = asked("replace_text", edit("fn two() -> u32 {", "fn two( -> u32 {"));
    let question = watcher.question().await;
    let diagnostics = &question.changes[0].diagnostics;
    assert_eq!(
        (diagnostics[0].line, diagnostics[0].source.as_str()),
        (5, "syntax"),
        "{question:?}"
    );
    approver.deny(&question, "it does not parse").await.unwrap();
    call.await.unwrap().unwrap_err();
    assert_eq!(site.read("src/a.rs"), FILE);

    let arguments = json!({"path": "b.py", "oldText": "x = 1", "newText": "# longer\nx = 2"});
    let call = asked("replace_text", arguments);
    let question = watcher.question().await;
    assert_eq!(question.changes[0].diagnostics, [], "it did not parse before either");
    approver.approve(&question).await.unwrap();
    call.await.unwrap().unwrap();
}

#[tokio::test]
async fn of_a_large_file_each_change_is_judged_by_itself_whatever_was_proposed_before() {
    let site = Site::new();
    let large = FILE.repeat(200);
    site.write("large.rs", format!("{large}const LAST: u32 = 1;\n"));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = async |old: &str, new: &str| {
        let edit = json!({"path": "large.rs", "oldText": old, "newText": new});
        let dry = v1::Call { dry_run: true, ..call("replace_text", edit) };
        let result = client.call(dry).await.unwrap();
        let diagnostics = &result.changes[0].diagnostics;
        diagnostics.iter().map(|found| found.line).collect::<Vec<_>>()
    };
    let last = 200 * 7 + 1;
    for _ in 0..2 {
        assert!(found("LAST: u32 = 1;", "LAST: u32 = 2;").await.is_empty());
        assert_eq!(found("LAST: u32 = 1;", "LAST: u32 = (2;").await, [last]);
        // What another version was is no part of this one.
        assert_eq!(found("LAST: u32 = 1;", "LAST: u32 = ;").await, [last]);
    }
    // By another hand it is broken now: that is not new, and what it was before counts no more.
    site.write("large.rs", format!("fn broken( {{}}\n{large}const LAST: u32 = 1;\n"));
    assert!(found("LAST: u32 = 1;", "LAST: u32 = 3;").await.is_empty());
    site.write("large.rs", format!("{large}const LAST: u32 = 1;\n"));
    assert_eq!(found("LAST: u32 = 1;", "LAST: u32 = (2;").await, [last]);
}

#[tokio::test]
async fn an_attached_editor_shows_what_does_not_parse() {
    let site = Site::new();
    site.config(PATIENT);
    site.write("src/a.rs", FILE);
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut editor = Editor::attach(&approver, "Code").await;
    let broken = call("replace_text", edit("    2\n}", "    2\n"));
    let waits = tokio::spawn(async move { caller.call(broken).await });
    let (_, Question::Confirmation(asked)) = editor.question().await else {
        panic!("no confirmation")
    };
    let [diagnostic] = &asked.changes[0].diagnostics[..] else { panic!("{asked:?}") };
    assert_eq!((diagnostic.line, diagnostic.source.as_str()), (5, "syntax"));
    assert_eq!(diagnostic.message, "`}` is missing: nothing closes `{`");
    editor.resolve(&asked, v1::Verdict::Deny).await;
    waits.await.unwrap().unwrap_err();
    assert_eq!(site.read("src/a.rs"), FILE);
}
