//! Edits of lines that are not what they say they are: found all the same, always asked about, and
//! never let through unseen.

use moss_proto::v1;
use moss_proto::v1::editor_answer::Answer;
use moss_proto::v1::editor_question::Question;
use prost::Message as _;
use serde_json::{Value, json};
use tonic::{Code, Status};

use crate::harness::{
    Client, Editor, Ended, Site, call, details, output, reason, refusing, until, waiting,
};
use crate::policy::{Fate, fate};

/// What the file holds.
const FILE: &str = "func a() {\n\tx := 1\n\ty := 2\n\tz := 3\n\treturn\n}\n";
/// What the edit says it holds, and what it makes of that.
const EXPECTED: &str = "func a() {\n\tx := 1\n\ty := 99\n\tz := 3\n\treturn\n}\n";
const WANTED: &str = "func a() {\n\tx := 1\n\ty := 100\n\tz := 3\n\treturn\n}\n";

fn patch(old: &str, new: &str) -> Value {
    json!({"path": "a.go", "old_string": old, "new_string": new})
}

/// The edit of a line that is another one by now.
fn drifted() -> Value {
    patch(EXPECTED, WANTED)
}

/// Runs the edit as a command.
fn run(site: &Site, options: &[&str]) -> Ended {
    let arguments = drifted().to_string();
    let words = ["call", "patch", "--args", &arguments];
    site.run(&[&words, options].concat())
}

fn parsed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Lays the file where nothing is asked about.
fn site() -> Site {
    let site = Site::allowing();
    site.write("a.go", FILE);
    site
}

fn check_change(change: &v1::FileChange) {
    assert_eq!(change.match_level, "block_anchor");
    let drift =
        v1::Drift { line: 3, expected: "\ty := 99".to_owned(), found: "\ty := 2".to_owned() };
    assert_eq!((&change.drift, change.drift_omitted), (&vec![drift], 0));
}

fn check_json(report: &Value) {
    let change = &report["changes"][0];
    assert_eq!(change["match_level"], "block_anchor");
    let drift = json!([{"line": 3, "expected": "\ty := 99", "found": "\ty := 2"}]);
    assert_eq!(change["drift"], drift);
}

/// The effect that a refusal carries.
fn attached(status: &Status) -> v1::Confirmation {
    let rich = tonic_types::pb::Status::decode(status.details()).unwrap();
    let any = rich.details.iter().find(|any| any.type_url.ends_with("/moss.v1.Confirmation"));
    v1::Confirmation::decode(&*any.expect("the effect is attached").value).unwrap()
}

async fn refused(client: &Client) -> Status {
    let status = client.call(refusing("patch", drifted())).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition, "{status:?}");
    assert_eq!(reason(&status), "CONFIRMATION_REQUIRED");
    status
}

#[tokio::test]
async fn drift_is_asked_about_although_a_rule_allows_the_edit() {
    let site = site();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut events = caller.stream(waiting("patch", drifted())).await.unwrap();
    let question = events.question().await;
    assert!(question.drift && !question.protected);
    assert!(question.rule.contains("because the file differs"), "{}", question.rule);
    assert_eq!(question.offers, []);
    check_change(&question.changes[0]);
    assert_eq!(approver.pending().await, std::slice::from_ref(&question));
    assert_eq!(site.read("a.go"), FILE);
    approver.approve(&question).await.unwrap();
    let result = events.end().await.unwrap();
    assert_eq!(output(&result)["applied"], true);
    check_change(&result.changes[0]);
    assert_eq!(site.read("a.go"), WANTED);

    // An edit of the lines as they are needs nobody.
    let exact = caller.call(refusing("patch", patch("\tx := 1\n", "\tx := 7\n"))).await.unwrap();
    assert_eq!((&*exact.changes[0].match_level, exact.changes[0].drift.len()), ("exact", 0));
    assert_eq!(site.read("a.go"), WANTED.replace("x := 1", "x := 7"));
}

#[tokio::test]
async fn drift_is_refused_where_nobody_can_be_asked_and_its_digest_approves_it() {
    let site = site();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let status = refused(&caller).await;
    assert!(
        status.message().contains("line 3 differs from what the edit expects"),
        "{}",
        status.message()
    );
    let facts = details(&status).error_info().unwrap().metadata.clone();
    assert_eq!((&*facts["drift"], &*facts["protected"]), ("true", "false"));
    let effect = attached(&status);
    assert!(effect.drift);
    check_change(&effect.changes[0]);
    assert_eq!(site.read("a.go"), FILE);

    let dry = v1::Call { dry_run: true, ..refusing("patch", drifted()) };
    let shown = caller.call(dry).await.unwrap();
    assert_eq!(shown.digest, facts["digest"]);
    check_change(&shown.changes[0]);
    let approved =
        v1::Call { approved_digests: vec![shown.digest], ..refusing("patch", drifted()) };
    assert_eq!(output(&approver.call(approved).await.unwrap())["applied"], true);
    assert_eq!(site.read("a.go"), WANTED);
}

#[tokio::test]
async fn no_standing_approval_covers_drift() {
    let site = Site::new();
    site.write("a.go", FILE);
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let edit = waiting("patch", patch("\tx := 1\n", "\tx := 1 // one\n"));
    let mut events = caller.stream(edit).await.unwrap();
    let question = events.question().await;
    let request = v1::ResolveConfirmationRequest {
        id: question.id.clone(),
        verdict: v1::Verdict::Approve.into(),
        digest: question.digest.clone(),
        remember: question.offers.last().expect("an exact edit has offers").digest.clone(),
        ..Default::default()
    };
    approver.confirmations().resolve_confirmation(request).await.unwrap();
    output(&events.end().await.unwrap());
    let back = patch("\tx := 1 // one\n", "\tx := 1\n");
    assert_eq!(fate(&caller, "patch", back).await, Fate::Allowed);
    assert_eq!(site.read("a.go"), FILE);

    let status = refused(&caller).await;
    assert!(attached(&status).rule.contains("no standing approval"), "{status:?}");
    let mut events = caller.stream(waiting("patch", drifted())).await.unwrap();
    let question = events.question().await;
    assert_eq!(question.offers, []);
    approver.deny(&question, "no").await.unwrap();
    assert_eq!(reason(&events.end().await.unwrap_err()), "DENIED_BY_PERSON");
    assert_eq!(site.read("a.go"), FILE);
}

#[tokio::test]
async fn rules_about_levels_hold_for_drift_too() {
    let site = site();
    site.workspace_policy(
        "version = 1\n[[rule]]\nmatch_levels = [\"block_anchor\"]\ndecision = \"deny\"\n",
    );
    let daemon = site.serve();
    let caller = daemon.caller().await;
    assert_eq!(fate(&caller, "patch", drifted()).await, Fate::Denied);
    assert_eq!(site.read("a.go"), FILE);
    let exact = patch("\ty := 2\n", "\ty := 3\n");
    assert_eq!(fate(&caller, "patch", exact).await, Fate::Allowed);
}

#[test]
fn a_blanket_yes_does_not_cover_drift() {
    for served in [false, true] {
        let site = site();
        let _daemon = served.then(|| site.serve());
        let refused = run(&site, &["--confirm", "allow"]);
        assert_eq!(refused.code, Some(4), "{refused:?}");
        assert!(refused.stderr.contains("`--confirm allow` does not cover"), "{refused:?}");
        let lines = refused.stderr.find("expected: \\ty := 99").expect("the line is shown");
        let diff = refused.stderr.find("--- a/a.go").expect("the diff is shown");
        assert!(lines < diff && refused.stderr.contains("found:    \\ty := 2"));
        let report = parsed(&run(&site, &["--confirm", "allow", "--json"]));
        assert_eq!((&report["outcome"], &report["history"]), (&json!("unconfirmed"), &json!(null)));
        check_json(&report);
        assert_eq!(site.read("a.go"), FILE);

        let shown = run(&site, &["--dry-run", "--json"]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        let shown = parsed(&shown);
        check_json(&shown);
        assert_eq!(report["digest"], shown["digest"]);
        let digest = shown["digest"].as_str().unwrap();
        let done = run(&site, &["--confirm", digest, "--json"]);
        assert_eq!(done.code, Some(0), "{done:?}");
        check_json(&parsed(&done));
        assert_eq!(site.read("a.go"), WANTED);
    }
}

#[tokio::test]
async fn drift_is_shown_to_who_looks_at_the_question_and_recorded() {
    let site = site();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut events = caller.stream(waiting("patch", drifted())).await.unwrap();
    let question = events.question().await;
    until("it waits", async || !approver.pending().await.is_empty()).await;
    let shown = site.run(&["confirm", "show", &question.id]).stdout;
    for text in [
        "a.go: the edit changes 1 line that differs from what it expects",
        "line 3",
        "expected: \\ty := 99",
        "found:    \\ty := 2",
        "the text was found by its first and last line",
    ] {
        assert!(shown.contains(text), "{text} is not in {shown}");
    }
    let listed: Value =
        serde_json::from_str(&site.run(&["confirm", "list", "--json"]).stdout).unwrap();
    assert_eq!(listed["confirmations"][0]["drift"], true);
    check_json(&listed["confirmations"][0]);
    approver.approve(&question).await.unwrap();
    output(&events.end().await.unwrap());
    daemon.stop();
    let entry = site.run(&["history", "show", "1", "--json"]);
    assert_eq!(parsed(&entry)["changes"][0]["match_level"], "block_anchor");
    let audit = site.run(&["audit", "tail"]).stdout;
    let decision = audit.lines().find(|line| line.contains("block_anchor")).expect("a record");
    assert!(decision.contains("drift_lines=1") && decision.contains("verdict=ask"), "{decision}");
    assert!(!audit.contains("y := 99") && !audit.contains("y := 2"), "{audit}");
}

#[tokio::test]
async fn drift_in_an_unsaved_buffer_is_asked_about_in_its_editor() {
    let site = site();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut editor = Editor::attach(&approver, "Code").await;
    // The file holds what the edit says, the screen does not.
    site.write("a.go", EXPECTED);
    editor.hold("a.go", 7, Some(FILE)).await;
    let mut events = caller.stream(call("patch", drifted())).await.unwrap();
    let (_, question) = editor.question().await;
    let Question::Confirmation(asked) = question else { panic!("{question:?}") };
    assert!(asked.drift && asked.changes[0].unsaved);
    check_change(&asked.changes[0]);
    assert_eq!(events.question().await.digest, asked.digest);
    editor.resolve(&asked, v1::Verdict::Approve).await;
    assert_eq!(editor.over().await, (asked.id, v1::QuestionEnd::Answered));
    let (id, question) = editor.question().await;
    let Question::ApplyEdit(edit) = question else { panic!("{question:?}") };
    assert_eq!((edit.version, edit.edits.len()), (7, 1));
    editor.answer(&id, Answer::EditApplied(v1::EditApplied { version: 8 })).await;
    assert_eq!(output(&events.end().await.unwrap())["applied"], true);
    assert_eq!(site.read("a.go"), EXPECTED);
}
