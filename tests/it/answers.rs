//! Standing approvals: what is offered, what they cover, how they end, and who may give them.

use moss_proto::v1;
use moss_proto::v1::ApprovalScope::{self, Always, Session};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tonic::{Code, Status};

use crate::harness::guests::{install, spread};
use crate::harness::{Client, Daemon, Site, output, reason, refusing, waiting};
use crate::plugins::settled;
use crate::policy::{Fate, explained, fate};

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "oldText": old, "newText": new})
}

fn in_session(call: v1::Call, session_id: &str) -> v1::Call {
    v1::Call { session_id: session_id.to_owned(), ..call }
}

/// Makes a call that asks, and answers it for longer than once.
async fn remembered(
    daemon: &Daemon,
    call: v1::Call,
    scope: ApprovalScope,
) -> (v1::Confirmation, v1::ResolveConfirmationResponse) {
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut events = caller.stream(call).await.unwrap();
    let question = events.question().await;
    let offer = offer(&question, scope).digest.clone();
    let resolved = resolve(&approver, &question, &offer).await.unwrap();
    output(&events.end().await.unwrap());
    (question, resolved)
}

fn offer(question: &v1::Confirmation, scope: ApprovalScope) -> &v1::OfferedApproval {
    let found = question.offers.iter().find(|offer| offer.scope() == scope);
    found.unwrap_or_else(|| panic!("no offer for {scope:?}: {question:?}"))
}

async fn resolve(
    client: &Client,
    question: &v1::Confirmation,
    remember: &str,
) -> Result<v1::ResolveConfirmationResponse, Status> {
    let request = v1::ResolveConfirmationRequest {
        id: question.id.clone(),
        verdict: v1::Verdict::Approve.into(),
        digest: question.digest.clone(),
        remember: remember.to_owned(),
        ..Default::default()
    };
    Ok(client.confirmations().resolve_confirmation(request).await?.into_inner())
}

async fn answers(client: &Client) -> Vec<v1::StandingApproval> {
    let response =
        client.policy().list_standing_approvals(v1::ListStandingApprovalsRequest::default()).await;
    response.unwrap().into_inner().approvals
}

async fn revoke(client: &Client, id: &str) -> Result<v1::StandingApproval, Status> {
    let request = v1::RevokeStandingApprovalRequest { id: id.to_owned(), ..Default::default() };
    let response = client.policy().revoke_standing_approval(request).await?.into_inner();
    Ok(response.approval.unwrap())
}

/// What the journal says of answers, oldest first: kind and answer.
fn records(site: &Site) -> Vec<(String, String)> {
    let file = site.workspace_state().join("audit.db");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).unwrap();
    let mut statement = connection.prepare("SELECT record FROM audit ORDER BY seq").unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let records = rows.map(|row| serde_json::from_str::<Value>(&row.unwrap()).unwrap());
    let word = |record: &Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
    let of_answers = records.filter(|record| word(record, "kind").starts_with("approval_"));
    of_answers.map(|record| (word(&record, "kind"), word(&record, "approval"))).collect()
}

#[tokio::test]
async fn an_approval_for_always_covers_what_it_says_until_it_is_revoked() {
    let site = Site::new();
    site.write("a [1].txt", "one\n");
    site.write("b.txt", "one\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let call = waiting("replace_text", edit("a [1].txt", "one", "two"));
    let (question, resolved) = remembered(&daemon, call, Always).await;
    let answer = resolved.approval.unwrap();
    let offered = offer(&question, Always);
    assert_eq!(answer.rule_toml, offered.rule_toml);
    assert_eq!(answer.expires_at, offered.expires_at);
    let rule = "tools = [\"replace_text\"]\ncallers = [\"caller\"]\neffects = [\"modify\"]\n\
                paths = ['a \\[1\\].txt']\nsize_bytes_max = 65536\ndecision = \"allow\"\n";
    assert!(offered.rule_toml.ends_with(rule), "{}", offered.rule_toml);
    let file = std::fs::read_to_string(site.workspace_state().join("approvals.toml")).unwrap();
    assert!(file.contains(rule) && file.contains(&answer.id), "{file}");

    // The same again, with another text, is not asked about.
    let again = edit("a [1].txt", "two", "three");
    assert_eq!(fate(&caller, "replace_text", again).await, Fate::Allowed);
    // Another path, tool, effect, size or caller is.
    assert_eq!(fate(&caller, "replace_text", edit("b.txt", "one", "2")).await, Fate::Asked);
    let large = edit("a [1].txt", "three", &"x".repeat(70_000));
    assert_eq!(fate(&caller, "replace_text", large).await, Fate::Asked);
    let same_path = json!({"path": "a [1].txt"});
    assert_eq!(fate(&caller, "delete_file", same_path).await, Fate::Asked);
    let lines = json!({"path": "a [1].txt", "startLine": 1, "endLine": 1, "content": "four"});
    assert_eq!(fate(&caller, "replace_lines", lines).await, Fate::Asked);
    let third = edit("a [1].txt", "three", "four");
    assert_eq!(fate(&approver, "replace_text", third.clone()).await, Fate::Asked);

    let listed = answers(&caller).await;
    assert_eq!((listed.len(), listed[0].uses, &listed[0].id), (1, 1, &answer.id));
    assert!(listed[0].last_used_at.is_some());

    assert_eq!(revoke(&approver, &answer.id).await.unwrap().id, answer.id);
    assert_eq!(fate(&caller, "replace_text", third).await, Fate::Asked);
    assert!(answers(&caller).await.is_empty());
    let status = revoke(&approver, &answer.id).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::NotFound, "APPROVAL_UNKNOWN".to_owned()));
    daemon.stop();
    let expected = ["approval_stored", "approval_used", "approval_revoked"];
    assert_eq!(records(&site), expected.map(|kind| (kind.to_owned(), answer.id.clone())));
}

#[tokio::test]
async fn an_explanation_takes_approvals_of_edits_and_of_commands_in_directories_into_account() {
    let site = Site::new();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    site.write("a.txt", "one\n");
    site.write("sub/b.txt", "x\n");
    let edit = json!({"path": "a.txt", "oldText": "one", "newText": "two"});
    let command = json!({"command": "touch c.txt", "cwd": "sub"});
    for (tool, arguments) in [("replace_text", edit), ("run_terminal_cmd", command)] {
        let explain = async || explained(&caller, tool, arguments.clone()).await.decision();
        assert_eq!(explain().await, v1::Decision::Ask, "{tool}");
        remembered(&daemon, waiting(tool, arguments.clone()), Always).await;
        assert_eq!(explain().await, v1::Decision::Allow, "{tool}");
    }
    let elsewhere = json!({"command": "touch c.txt"});
    let elsewhere = explained(&caller, "run_terminal_cmd", elsewhere).await;
    assert_eq!(elsewhere.decision(), v1::Decision::Ask);
}

#[tokio::test]
async fn an_approval_of_a_command_covers_a_compound_only_where_each_part_is_covered() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let command = |text: &str| json!({ "command": text });
    let call = waiting("run_terminal_cmd", command("ls && touch c.txt"));
    let (question, _) = remembered(&daemon, call, Always).await;
    let rule = &offer(&question, Always).rule_toml;
    // What only reads needs no approval.
    assert_eq!(rule.matches("argv").count(), 1, "{rule}");
    assert!(rule.contains(r#"exact_argv = ["touch", "c.txt"]"#), "{rule}");
    for (text, expected) in [
        ("touch c.txt", Fate::Allowed),
        ("ls && touch c.txt", Fate::Allowed),
        ("touch c.txt && ls -l | wc -l", Fate::Allowed),
        ("touch c.txt; touch c.txt", Fate::Allowed),
        ("touch d.txt", Fate::Asked),
        ("touch c.txt d.txt", Fate::Asked),
        ("touch c.txt; touch d.txt", Fate::Asked),
        ("touch c.txt; rm a.txt", Fate::Asked),
        ("touch c.txt $(rm a.txt)", Fate::Asked),
        ("touch c.txt > a.txt", Fate::Asked),
        ("X=1 touch c.txt", Fate::Asked),
        ("cd sub; touch c.txt", Fate::Asked),
        ("sudo touch c.txt", Fate::Asked),
    ] {
        assert_eq!(fate(&caller, "run_terminal_cmd", command(text)).await, expected, "{text}");
    }
    assert_eq!(site.read("a.txt"), "one\n");
    // What always asks is offered to nobody, nor is what stands beside it.
    for text in ["rm a.txt", "touch d.txt; rm a.txt", "touch $x", "git status && rm *"] {
        let mut events = caller.stream(waiting("run_terminal_cmd", command(text))).await.unwrap();
        let question = events.question().await;
        assert!(question.offers.is_empty(), "{text}: {question:?}");
    }
}

#[tokio::test]
async fn an_approval_of_a_command_does_not_let_it_stay_as_a_job() {
    let site = Site::new();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let awaited = json!({"command": "touch c.txt"});
    let job = json!({"command": "touch c.txt", "is_background": true});
    remembered(&daemon, waiting("run_terminal_cmd", awaited.clone()), Always).await;
    assert_eq!(fate(&caller, "run_terminal_cmd", awaited).await, Fate::Allowed);
    let found = explained(&caller, "run_terminal_cmd", job.clone()).await;
    assert_eq!(found.decision(), v1::Decision::Ask);
    assert_eq!(fate(&caller, "run_terminal_cmd", job.clone()).await, Fate::Asked);
    let (question, _) = remembered(&daemon, waiting("run_terminal_cmd", job.clone()), Always).await;
    let rule = &offer(&question, Always).rule_toml;
    assert!(rule.contains("is_job = true"), "{rule}");
    let found = explained(&caller, "run_terminal_cmd", job.clone()).await;
    assert_eq!(found.decision(), v1::Decision::Allow);
    assert_eq!(fate(&caller, "run_terminal_cmd", job).await, Fate::Allowed);
}

#[tokio::test]
async fn an_approval_of_tests_or_of_a_linter_covers_their_next_run_and_no_other() {
    let site = Site::new();
    site.config(
        "[linters]\ntodos = { command = \"sh lint.sh\", format = \"gnu\", files = [\"*.py\"] }\n",
    );
    site.write("lint.sh", "exit 0\n");
    let test =
        "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n";
    site.write("test_a.py", test);
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let path = json!({"path": "."});
    for (tool, words, status) in [
        ("run_tests", r#"["python3", "-m", "unittest", "discover", "-v"]"#, "passed"),
        ("lint_check", r#"["sh", "lint.sh"]"#, "clean"),
    ] {
        let refused = caller.call(refusing(tool, path.clone())).await.unwrap_err();
        assert_eq!(refused.code(), Code::FailedPrecondition, "{tool}: {refused:?}");
        let (question, _) = remembered(&daemon, waiting(tool, path.clone()), Always).await;
        let rule = &offer(&question, Always).rule_toml;
        assert!(rule.contains(&format!("tools = [\"{tool}\"]")), "{rule}");
        assert!(rule.contains(&format!("exact_argv = {words}")), "{rule}");
        let again = output(&caller.call(refusing(tool, path.clone())).await.unwrap());
        assert_eq!(again["status"], status, "{again}");
    }
    // Other words are another command, and so is another tool.
    let one = refusing("run_tests", json!({"testPattern": "test_a"}));
    assert_eq!(caller.call(one).await.unwrap_err().code(), Code::FailedPrecondition);
    let plain = json!({"command": "sh lint.sh"});
    assert_eq!(fate(&caller, "run_terminal_cmd", plain).await, Fate::Asked);
}

#[tokio::test]
async fn an_approval_for_a_session_applies_to_it_while_the_daemon_runs() {
    let site = Site::new();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let create = |path: &str| json!({"path": path, "content": "x\n"});
    let call = in_session(waiting("create_file", create("a.txt")), "one");
    let (_, resolved) = remembered(&daemon, call, Session).await;
    let answer = resolved.approval.unwrap();
    assert_eq!((answer.scope(), answer.session_id.as_str()), (Session, "one"));
    let again = async |session_id: &str| {
        std::fs::remove_file(site.workspace().join("a.txt")).unwrap_or_default();
        let call = in_session(refusing("create_file", create("a.txt")), session_id);
        caller.call(call).await.map_err(|status| reason(&status))
    };
    output(&again("one").await.unwrap());
    for other in ["two", ""] {
        assert_eq!(again(other).await.unwrap_err(), "CONFIRMATION_REQUIRED", "{other}");
    }
    let other_path = in_session(refusing("create_file", create("b.txt")), "one");
    assert_eq!(reason(&caller.call(other_path).await.unwrap_err()), "CONFIRMATION_REQUIRED");
    assert!(!site.workspace_state().join("approvals.toml").exists());
    site.write("c.txt", "x\n");
    let delete = json!({"path": "c.txt"});
    let call = in_session(waiting("delete_file", delete.clone()), "one");
    remembered(&daemon, call, Session).await;
    site.write("c.txt", "x\n");
    let explain = async |session_id: &str| {
        let request = v1::ExplainPolicyRequest {
            tool: "delete_file".to_owned(),
            arguments_json: delete.to_string(),
            session_id: session_id.to_owned(),
            ..Default::default()
        };
        caller.policy().explain_policy(request).await.unwrap().into_inner().decision()
    };
    assert_eq!(explain("one").await, v1::Decision::Allow);
    assert_eq!(explain("two").await, v1::Decision::Ask);
    let unnamed = explained(&caller, "delete_file", delete.clone()).await;
    assert_eq!(unnamed.decision(), v1::Decision::Ask);
    assert_eq!(unnamed.allowing_sessions, ["one"]);
    let permanent = json!({"path": "c.txt", "permanent": true});
    assert!(explained(&caller, "delete_file", permanent).await.allowing_sessions.is_empty());
    drop(caller);
    daemon.stop();

    let daemon = site.serve();
    let caller = daemon.caller().await;
    assert!(answers(&caller).await.is_empty());
    let call = in_session(refusing("create_file", create("b.txt")), "one");
    assert_eq!(reason(&caller.call(call).await.unwrap_err()), "CONFIRMATION_REQUIRED");
}

#[tokio::test]
async fn a_stored_approval_survives_a_restart_and_counts_its_uses() {
    let site = Site::new();
    site.write("a.txt", "0\n");
    let daemon = site.serve();
    let call = waiting("replace_text", edit("a.txt", "0", "1"));
    let (_, resolved) = remembered(&daemon, call, Always).await;
    daemon.stop();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    for number in 1..4 {
        let next = edit("a.txt", &number.to_string(), &(number + 1).to_string());
        assert_eq!(fate(&caller, "replace_text", next).await, Fate::Allowed);
    }
    drop(caller);
    daemon.stop();
    // Also without a daemon; and what is revoked there is revoked.
    let listed = site.run(&["approvals", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["approvals"][0]["uses"], 3, "{listed}");
    let id = resolved.approval.unwrap().id;
    let edited = site.run(&["call", "replace_text", "path=a.txt", "oldText=4", "newText=5"]);
    assert_eq!(edited.code, Some(0), "{}", edited.stderr);
    let revoked = site.run(&["approvals", "revoke", &id[..6]]);
    assert_eq!((revoked.code, revoked.stdout), (Some(0), format!("revoked {id}\n")));
    let edited = site.run(&["call", "replace_text", "path=a.txt", "oldText=5", "newText=6"]);
    assert_eq!(edited.code, Some(4), "{}", edited.stderr);
    assert_eq!(site.run(&["approvals", "revoke", &id]).code, Some(1));
    assert_eq!(site.read("a.txt"), "5\n");
}

#[tokio::test]
async fn a_daemon_sees_what_another_process_revokes() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let daemon = site.serve();
    let call = waiting("replace_text", edit("a.txt", "one", "two"));
    remembered(&daemon, call, Always).await;
    // Another socket directory: the command finds no daemon and works by itself.
    let mut command = site.command(["approvals", "revoke", "--all"]);
    command.env("XDG_RUNTIME_DIR", site.outside("elsewhere"));
    assert!(command.output().unwrap().status.success());
    let caller = daemon.caller().await;
    assert_eq!(fate(&caller, "replace_text", edit("a.txt", "two", "3")).await, Fate::Asked);
}

#[tokio::test]
async fn a_caller_can_neither_give_nor_revoke_an_approval() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let call = waiting("replace_text", edit("a.txt", "one", "two"));
    let mut events = caller.stream(call).await.unwrap();
    let question = events.question().await;
    let digest = &offer(&question, Always).digest;
    let status = resolve(&caller, &question, digest).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::PermissionDenied, "ROLE_MISSING".into()));
    // Only what this question offers can be accepted, and only with a yes.
    for (remember, why) in [
        ("0".repeat(64), "APPROVAL_NOT_OFFERED"),
        (question.digest.clone(), "APPROVAL_NOT_OFFERED"),
        ("always".to_owned(), "REQUEST_INVALID"),
    ] {
        let status = resolve(&approver, &question, &remember).await.unwrap_err();
        assert_eq!(reason(&status), why, "{remember}");
    }
    let no = v1::ResolveConfirmationRequest {
        id: question.id.clone(),
        verdict: v1::Verdict::Deny.into(),
        digest: question.digest.clone(),
        remember: digest.clone(),
        ..Default::default()
    };
    let status = approver.confirmations().resolve_confirmation(no).await.unwrap_err();
    assert_eq!(reason(&status), "REQUEST_INVALID");
    assert!(answers(&caller).await.is_empty());
    let answer = resolve(&approver, &question, digest).await.unwrap().approval.unwrap();
    output(&events.end().await.unwrap());
    let status = revoke(&caller, &answer.id).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::PermissionDenied, "ROLE_MISSING".into()));
    assert_eq!(answers(&caller).await.len(), 1);
    // An approver's own calls are another caller's.
    let other = edit("a.txt", "two", "three");
    assert_eq!(fate(&approver, "replace_text", other).await, Fate::Asked);
}

/// The scopes that a question about an edit of a file offers.
async fn offered(daemon: &Daemon, tool: &str, arguments: Value) -> Vec<ApprovalScope> {
    let caller = daemon.caller().await;
    let call = in_session(waiting(tool, arguments), "s");
    let mut events = caller.stream(call).await.unwrap();
    events.question().await.offers.iter().map(v1::OfferedApproval::scope).collect()
}

#[tokio::test]
async fn what_others_ask_and_protected_names_are_never_offered() {
    let mut site = Site::new();
    site.write("user.txt", "x\n");
    site.write("admin.txt", "x\n");
    site.write("workspace.txt", "x\n");
    site.write(".env", "x\n");
    let rule = |path: &str, more: &str| {
        format!("[[rule]]\npaths = [\"{path}\"]\neffects = [\"write\", \"read\"]\n{more}\n")
    };
    let ask = "decision = \"ask\"";
    site.user_policy(&format!(
        "version = 1\n{}{}[[rule]]\ntools = [\"list_directory\"]\ndecision = \"ask\"\n",
        rule("user.txt", ask),
        rule(".env", "protected = true\ndecision = \"ask\""),
    ));
    site.admin_policy(&format!("version = 1\n{}", rule("admin.txt", ask)));
    site.workspace_policy(&format!("version = 1\n{}", rule("workspace.txt", ask)));
    let daemon = site.serve();
    let read = |path: &str| json!({"path": path});
    assert_eq!(offered(&daemon, "read_file", read("user.txt")).await, [Session, Always]);
    for path in ["admin.txt", "workspace.txt", ".env"] {
        assert_eq!(offered(&daemon, "read_file", read(path)).await, [], "{path}");
    }
    // A question about a call as such does not show what the call will do.
    assert_eq!(offered(&daemon, "list_directory", read(".")).await, []);
    let create = |path: &str| json!({"path": path, "content": "x\n"});
    assert_eq!(offered(&daemon, "create_file", create("new.txt")).await, [Session, Always]);
    // What cannot be undone is asked about each time.
    site.write("old.txt", "x\n");
    assert_eq!(offered(&daemon, "delete_file", read("old.txt")).await, [Session, Always]);
    let for_good = json!({"path": "old.txt", "permanent": true});
    assert_eq!(offered(&daemon, "delete_file", for_good.clone()).await, []);
    let (_, resolved) = remembered(&daemon, waiting("delete_file", read("old.txt")), Always).await;
    site.write("old.txt", "x\n");
    let caller = daemon.caller().await;
    assert_eq!(fate(&caller, "delete_file", for_good).await, Fate::Asked);
    let explanation = explained(&caller, "delete_file", read("old.txt")).await;
    let step = explanation.steps.iter().find(|step| step.effect == "delete old.txt").unwrap();
    let deciding = step.deciding.as_ref().unwrap();
    assert_eq!((deciding.layer.as_str(), deciding.line), ("user", 0));
    assert!(deciding.file.ends_with("approvals.toml"), "{deciding:?}");
    assert_eq!(deciding.name, format!("always approval {}", resolved.approval.unwrap().id));
    assert_eq!(fate(&caller, "delete_file", read("old.txt")).await, Fate::Allowed);
}

#[tokio::test]
async fn rules_of_others_that_come_later_apply_against_an_approval() {
    const NOTHING: &str = "version = 1\n";
    let mut site = Site::new();
    site.write("a.txt", "one\n");
    let file = site.admin_policy(NOTHING);
    let daemon = site.serve();
    remembered(&daemon, waiting("replace_text", edit("a.txt", "one", "two")), Always).await;
    daemon.stop();
    for (decision, expected) in [("ask", Fate::Asked), ("deny", Fate::Denied)] {
        site.write("a.txt", "two\n");
        let rule = format!(
            "version = 1\n[[rule]]\npaths = [\"a.txt\"]\neffects = [\"write\"]\ndecision = \"{decision}\"\n"
        );
        for (admin, workspace) in [(rule.as_str(), NOTHING), (NOTHING, rule.as_str())] {
            std::fs::write(&file, admin).unwrap();
            site.workspace_policy(workspace);
            let daemon = site.serve();
            let caller = daemon.caller().await;
            let fate = fate(&caller, "replace_text", edit("a.txt", "two", "3")).await;
            assert_eq!(fate, expected, "{admin} {workspace}");
        }
        std::fs::write(&file, NOTHING).unwrap();
        site.workspace_policy(NOTHING);
        site.user_policy(&rule);
        let daemon = site.serve();
        let caller = daemon.caller().await;
        let same = edit("a.txt", "two", "3");
        let expected = if decision == "ask" { Fate::Allowed } else { Fate::Denied };
        assert_eq!(fate(&caller, "replace_text", same).await, expected, "user {decision}");
    }
}

#[tokio::test]
async fn a_broken_file_of_approvals_is_reported_and_gives_nothing() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let daemon = site.serve();
    remembered(&daemon, waiting("replace_text", edit("a.txt", "one", "two")), Always).await;
    let file = site.workspace_state().join("approvals.toml");
    let whole = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, whole.replace("\"a.txt\"", "\"**\"")).unwrap();
    let caller = daemon.caller().await;
    let next = || edit("a.txt", "two", "three");
    assert_eq!(fate(&caller, "replace_text", next()).await, Fate::Asked);
    assert_eq!(offered(&daemon, "replace_text", next()).await, [Session]);
    let problem = caller.load().await.workspaces[0].approvals_problem.clone();
    assert!(problem.contains("approvals.toml:"), "{problem}");
    let explanation = explained(&caller, "replace_text", next()).await;
    assert_eq!(explanation.problems, [problem]);
    let doctor = site.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{}", doctor.stdout);
    let line = doctor.stdout.lines().find(|line| line.contains("standing approvals")).unwrap();
    assert!(line.starts_with("fail") && line.contains("more than one name"), "{line}");
    assert!(site.run(&["status"]).stdout.contains("approvals.toml:"));
    // It is the person's to fix: what cannot be read cannot be revoked.
    let revoked = site.run(&["approvals", "revoke", "--all"]);
    assert_eq!(revoked.code, Some(1), "{}", revoked.stdout);
    assert!(revoked.stderr.contains("none can be revoked"), "{}", revoked.stderr);
    std::fs::write(&file, whole).unwrap();
    assert_eq!(fate(&caller, "replace_text", next()).await, Fate::Allowed);
    assert!(site.run(&["doctor"]).stdout.contains("standing approvals: 1"));
}

#[tokio::test]
async fn forbidden_approvals_are_neither_offered_nor_in_effect() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let daemon = site.serve();
    remembered(&daemon, waiting("replace_text", edit("a.txt", "one", "two")), Always).await;
    daemon.stop();
    site.config("[answers]\nalways = false\n");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let next = edit("a.txt", "two", "three");
    assert_eq!(fate(&caller, "replace_text", next.clone()).await, Fate::Asked);
    assert_eq!(offered(&daemon, "replace_text", next).await, [Session]);
    assert!(answers(&caller).await.is_empty());
}

#[tokio::test]
async fn the_command_line_remembers_an_approval_for_somebody_elses_call() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let call = waiting("replace_text", edit("a.txt", "one", "two"));
    let mut events = caller.stream(call).await.unwrap();
    let id = events.question().await.id;
    let shown = site.run(&["confirm", "show", &id]).stdout;
    assert!(
        shown.contains("--remember always") && shown.contains("paths = [\"a.txt\"]"),
        "{shown}"
    );
    // The call names no session.
    let refused = site.run(&["confirm", "approve", &id, "--remember", "session"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let approved = site.run(&["confirm", "approve", &id, "--remember", "always"]);
    assert_eq!(approved.code, Some(0), "{}", approved.stderr);
    assert!(approved.stdout.contains("moss approvals revoke"), "{}", approved.stdout);
    output(&events.end().await.unwrap());
    assert_eq!(fate(&caller, "replace_text", edit("a.txt", "two", "3")).await, Fate::Allowed);
    let rules = site.run(&["policy", "show"]).stdout;
    assert!(rules.contains("approvals.toml") && rules.contains("always approval"), "{rules}");
}

#[tokio::test]
async fn an_approval_for_a_plugin_ends_with_its_component() {
    let site = Site::new();
    for file in ["f0.txt", "f1.txt", "f2.txt"] {
        site.write(file, "old\n");
    }
    install(&site, &[("spread", &spread(), json!({}))]);
    let daemon = site.serve();
    let caller = daemon.caller().await;
    settled(&caller).await;
    let (question, _) = remembered(&daemon, waiting("spread", json!({"n": 1})), Always).await;
    let rule = &offer(&question, Always).rule_toml;
    for part in ["component = \"", "plugins = [\"spread\"]", "\"f0.txt\",\n", "\"f2.txt\",\n"] {
        assert!(rule.contains(part), "{part} is not in {rule}");
    }
    assert_eq!(fate(&caller, "spread", json!({"n": 2})).await, Fate::Allowed);
    drop(caller);
    daemon.stop();

    // Another component of the same name and behaviour: it has one more, empty section.
    let other = [spread(), vec![0, 2, 1, b'x']].concat();
    install(&site, &[("spread", &other, json!({}))]);
    let daemon = site.serve();
    let caller = daemon.caller().await;
    settled(&caller).await;
    assert_eq!(fate(&caller, "spread", json!({"n": 3})).await, Fate::Asked);
}
