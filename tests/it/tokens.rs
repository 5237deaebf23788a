//! Named tokens: what rules, records and people see of who shows one, and that a revoked one opens
//! nothing.

use std::os::unix::fs::PermissionsExt as _;

use moss_proto::v1;
use serde_json::{Value, json};
use tonic::Code;

use crate::harness::{Daemon, Ended, Site, call, failure, reason, until, waiting};

/// Rules that tell callers apart: one may write, some may do nothing.
const POLICY: &str = r#"version = 1

[[rule]]
effects = ["write"]
callers = ["ci"]
decision = "allow"
match = [{ tool = "create_file", path = "a.txt", caller = "ci" }]
not_match = [{ tool = "create_file", path = "a.txt" }]

[[rule]]
callers = ["guest-*"]
decision = "deny"
"#;

/// Makes a token and returns its secret.
pub(crate) fn create(site: &Site, name: &str) -> String {
    let ended = site.run(&["token", "create", name, "--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let made: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&made["token"]["name"], &made["token"]["role"]), (&json!(name), &json!("caller")));
    made["secret"].as_str().unwrap().to_owned()
}

/// A daemon with a port that only named tokens open.
pub(crate) fn serve(site: &mut Site) -> Daemon {
    site.write("a.txt", "x\n");
    site.argument("--listen").argument("tcp:127.0.0.1:0");
    site.serve()
}

pub(crate) fn revoke(site: &Site, name: &str) -> Ended {
    site.run(&["token", "revoke", name])
}

#[tokio::test]
async fn callers_are_distinguished_by_the_names_of_their_tokens() {
    let mut site = Site::new();
    site.user_policy(POLICY);
    let (ci, guest) = (create(&site, "ci"), create(&site, "guest-1"));
    let daemon = serve(&mut site);
    let create = |path: &str| call("create_file", json!({"path": path, "content": "x\n"}));
    // On the port and on the socket alike.
    daemon.dial(Some(&ci)).await.call(create("b.txt")).await.unwrap();
    daemon.connect(Some(&ci)).await.call(create("c.txt")).await.unwrap();
    let read = call("read_file", json!({"path": "a.txt"}));
    let denied = daemon.dial(Some(&guest)).await.call(read.clone()).await.unwrap_err();
    assert_eq!(denied.code(), Code::PermissionDenied, "{denied:?}");
    let caller = daemon.caller().await;
    caller.call(read).await.unwrap();
    let asked = caller.call(create("d.txt")).await.unwrap_err();
    assert_eq!(asked.code(), Code::FailedPrecondition, "{asked:?}");
    // A token of a name approves nothing.
    let request = v1::ListConfirmationsRequest::default();
    let named = daemon.dial(Some(&ci)).await;
    let refused = named.confirmations().list_confirmations(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);

    for (name, decision) in [("ci", "allow"), ("guest-1", "deny"), ("caller", "ask")] {
        let words = ["policy", "explain", "create_file", "path=e.txt", "content=x", "--json"];
        let ended = site.run(&[words.as_slice(), &["--caller", name]].concat());
        let explained: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(explained["decision"], decision, "{name}: {ended:?}");
    }
    let history = site.run(&["history", "list", "--caller", "ci", "--json"]);
    let history: Value = serde_json::from_str(&history.stdout).unwrap();
    assert_eq!(history["entries"].as_array().unwrap().len(), 2, "{history}");
    daemon.stop();
    let audit = site.run(&["audit", "tail", "-n", "100", "--json"]);
    let audit: Value = serde_json::from_str(&audit.stdout).unwrap();
    let records = audit["records"].as_array().unwrap();
    for name in ["ci", "guest-1", "caller"] {
        let is_of = |entry: &&Value| {
            entry["record"]["caller"] == name && entry["record"]["role"] == "caller"
        };
        assert!(records.iter().any(|entry| is_of(&entry)), "{name}: {audit}");
    }
}

#[tokio::test]
async fn what_is_revoked_is_refused_at_once_also_on_open_connections() {
    let mut site = Site::new();
    let (ci, other) = (create(&site, "ci"), create(&site, "other"));
    let daemon = serve(&mut site);
    let (client, stays) = (daemon.dial(Some(&ci)).await, daemon.dial(Some(&other)).await);
    client.done("read_file", json!({"path": "a.txt"})).await;
    let create = json!({"path": "b.txt", "content": "x\n"});
    let mut events = client.stream(waiting("create_file", create)).await.unwrap();
    let question = events.question().await;
    assert_eq!(question.caller, "ci");
    let mut rests = daemon.dial(Some(&ci)).await.watch_tools().await;
    assert!(rests.next().await.is_some());

    assert_eq!(revoke(&site, "ci").code, Some(0));
    let read = call("read_file", json!({"path": "a.txt"}));
    for client in [&client, &daemon.dial(Some(&ci)).await, &daemon.connect(Some(&ci)).await] {
        let status = client.call(read.clone()).await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
        assert_eq!(reason(&status), "CREDENTIAL_INVALID");
    }
    // What it had begun comes to nothing, also where a person says yes to it.
    let _ = daemon.approver().await.approve(&question).await;
    let status = events.end().await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
    assert!(status.message().contains("the token `ci` was revoked"), "{status:?}");
    // Nothing comes on this one.
    let status = rests.end().await;
    assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
    assert!(status.message().contains("the token `ci` was revoked"), "{status:?}");
    stays.done("read_file", json!({"path": "a.txt"})).await;
    // A token of the same name is another one.
    let again = self::create(&site, "ci");
    let client = daemon.dial(Some(&ci)).await;
    assert_eq!(client.call(read.clone()).await.unwrap_err().code(), Code::Unauthenticated);
    daemon.dial(Some(&again)).await.call(read).await.unwrap();
    daemon.stop();
    assert!(!site.has("b.txt"), "a revoked token wrote");
}

#[tokio::test]
async fn a_later_token_of_a_name_sees_nothing_that_commands_of_an_earlier_one_wrote() {
    let mut site = Site::new();
    let earlier = create(&site, "ci");
    let daemon = serve(&mut site);
    let client = daemon.dial(Some(&earlier)).await;
    let found = client.done("run_terminal_cmd", json!({"command": "seq 1 20000"})).await;
    let read = json!({"path": found["artifact"]});
    client.done("read_file", read.clone()).await;
    let job = json!({"command": "echo canary", "is_background": true});
    let job = client.done("run_terminal_cmd", job).await["job"].clone();
    let wait = json!({"action": "wait", "job": job});
    assert!(client.done("terminal_job", wait.clone()).await.to_string().contains("canary"));

    assert_eq!(revoke(&site, "ci").code, Some(0));
    let later = create(&site, "ci");
    let client = daemon.dial(Some(&later)).await;
    assert_eq!(failure(&client.ran("read_file", read.clone()).await).code, "not_found");
    assert_eq!(failure(&client.ran("terminal_job", wait).await).code, "not_found");
    let listed = client.done("terminal_job", json!({"action": "list"})).await;
    assert!(!listed.to_string().contains("canary"), "{listed}");
    daemon.approver().await.done("read_file", read).await;
}

/// Writes a file that only its owner may read.
fn secret(site: &Site, text: &str) -> String {
    let path = site.outside("secret");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path.display().to_string()
}

#[tokio::test]
async fn a_port_without_a_token_file_takes_answers_by_the_approvers_alone() {
    let mut site = Site::new();
    let ci = create(&site, "ci");
    let approver = "deadbeef12345678".repeat(2);
    let file = secret(&site, &approver);
    site.argument("--approver-token-file").argument(&file);
    let daemon = serve(&mut site);
    let write = json!({"path": "b.txt", "content": "x\n"});
    let client = daemon.dial(Some(&ci)).await;
    let mut events = client.stream(waiting("create_file", write)).await.unwrap();
    let question = events.question().await;
    daemon.dial(Some(&approver)).await.approve(&question).await.unwrap();
    events.end().await.unwrap();
    assert!(site.has("b.txt"));
    daemon.stop();
    // When the last token is revoked the daemon still starts, for those on the socket.
    assert_eq!(revoke(&site, "ci").code, Some(0));
    let daemon = site.serve();
    assert!(daemon.log().contains("nobody can use the port"), "{}", daemon.log());
    let read = call("read_file", json!({"path": "a.txt"}));
    let status = daemon.dial(Some(&ci)).await.call(read.clone()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
    daemon.caller().await.call(read).await.unwrap();
    daemon.stop();
}

#[test]
fn the_secret_of_a_named_token_is_refused_as_a_token_file() {
    let mut site = Site::new();
    let file = secret(&site, &create(&site, "ci"));
    site.argument("--listen").argument("tcp:127.0.0.1:0").argument("--token-file").argument(&file);
    let ended = site.serve_refused();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("`ci`") && ended.stderr.contains("leave the option out"));
}

#[test]
fn the_secret_is_shown_once_and_not_stored() {
    let site = Site::new();
    let made = site.run(&["token", "create", "ci"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let secret = made.stdout.trim();
    assert_eq!(secret.len(), 64, "{made:?}");
    assert!(!made.stderr.contains(secret) && made.stderr.contains("not shown again"), "{made:?}");
    for command in [&["token", "list"][..], &["token", "list", "--json"], &["doctor"]] {
        let ended = site.run(command);
        assert!(!ended.stdout.contains(secret), "{ended:?}");
    }
    let listed = site.run(&["token", "list"]).stdout;
    assert!(listed.contains("ci") && listed.contains("caller"), "{listed}");
    let file = site.state().join("tokens.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!std::fs::read_to_string(file).unwrap().contains(secret));
}

#[test]
fn what_cannot_be_done_with_tokens_is_said_with_what_to_do() {
    let site = Site::new();
    create(&site, "ci");
    for (command, code, word) in [
        (["token", "create", "Ci Runner"], 2, "lowercase letters"),
        (["token", "create", "approver"], 2, "choose another name"),
        (["token", "create", "ci"], 1, "revoke it first"),
        (["token", "revoke", "none"], 1, "moss token list"),
    ] {
        let ended = site.run(&command);
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert!(ended.stderr.contains(word), "`{word}` is not in {}", ended.stderr);
    }
    let elsewhere = ["--server", "tcp:127.0.0.1:1", "token", "list"];
    assert!(site.run(&elsewhere).stderr.contains("daemon's machine"));
    assert_eq!(revoke(&site, "ci").code, Some(0));
    assert!(site.run(&["token", "list"]).stdout.contains("moss token create"));
    std::fs::write(site.state().join("tokens.json"), "{").unwrap();
    let broken = site.run(&["token", "create", "ci"]);
    assert_eq!(broken.code, Some(1), "{broken:?}");
    assert!(broken.stderr.contains("tokens.json") && broken.stderr.contains("fixed"));
}

#[tokio::test]
async fn a_command_shows_its_token_to_the_daemon_on_the_default_socket() {
    let mut site = Site::new();
    let secret = create(&site, "ci");
    let file = site.outside("ci.token");
    std::fs::write(&file, &secret).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let read = ["call", "read_file", "path=a.txt", "--token-file", file.to_str().unwrap()];
    // Nobody could tell whose it is.
    let alone = site.run(&read);
    assert_eq!(alone.code, Some(5), "{alone:?}");
    let daemon = serve(&mut site);
    let shown = site.run(&read);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert_eq!(revoke(&site, "ci").code, Some(0));
    let revoked = site.run(&read);
    assert_eq!(revoked.code, Some(5), "{revoked:?}");
    assert!(revoked.stderr.contains("credential"), "{revoked:?}");
    daemon.stop();
    let audit = site.run(&["audit", "tail", "--json"]);
    assert!(
        audit.stdout.contains(r#""caller":"ci""#) || audit.stdout.contains(r#""caller": "ci""#)
    );
}

/// A question that is left open for whoever sends the same call again is for the token that asked.
#[tokio::test]
async fn what_a_revoked_token_left_open_is_withdrawn_and_not_for_the_next_of_its_name() {
    let mut site = Site::new();
    let first = create(&site, "ci");
    let daemon = serve(&mut site);
    let leave = v1::Call {
        confirm: v1::ConfirmMode::Leave.into(),
        ..call("create_file", json!({"path": "left.txt", "content": "x\n"}))
    };
    let approver = daemon.approver().await;
    let listed = async || {
        let request = v1::ListConfirmationsRequest::default();
        let listed = approver.confirmations().list_confirmations(request).await;
        listed.unwrap().into_inner().confirmations
    };
    let client = daemon.dial(Some(&first)).await;
    assert_eq!(client.call(leave.clone()).await.unwrap_err().code(), Code::FailedPrecondition);
    let [left] = &listed().await[..] else { panic!("one question waits") };
    // The same token hears of its own decision.
    approver.approve(left).await.unwrap();
    client.call(leave.clone()).await.unwrap();
    assert!(site.has("left.txt"));
    std::fs::remove_file(site.workspace().join("left.txt")).unwrap();

    assert_eq!(client.call(leave.clone()).await.unwrap_err().code(), Code::FailedPrecondition);
    let [left] = &listed().await[..] else { panic!("one question waits") };
    approver.approve(left).await.unwrap();
    assert_eq!(revoke(&site, "ci").code, Some(0));
    let client = daemon.dial(Some(&create(&site, "ci"))).await;
    let asked = client.call(leave.clone()).await.unwrap_err();
    assert_eq!(asked.code(), Code::FailedPrecondition, "a decision of another: {asked:?}");
    assert!(!site.has("left.txt"));

    assert_eq!(listed().await.len(), 1);
    assert_eq!(revoke(&site, "ci").code, Some(0));
    until("the question is withdrawn", async || listed().await.is_empty()).await;
}
