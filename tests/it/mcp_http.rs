//! `moss serve --mcp`: who gets in over HTTP, sessions and none, confirmations, tokens that are revoked.

use std::io::Read as _;

use serde_json::json;

use crate::harness::{Daemon, Site, until};
use crate::journal::records;
use crate::mcp::client::text;
use crate::mcp::over_http::{HttpClient, NEWEST, port};
use crate::remote::Certificates;
use crate::tokens;

/// A machine whose daemon speaks MCP on a free port, with a token for it.
fn speaking() -> (Site, String) {
    let mut site = Site::new();
    site.write("a.txt", "one\ntwo\n");
    site.argument("--mcp").argument("127.0.0.1:0");
    let token = tokens::create(&site, "editor");
    (site, token)
}

#[test]
fn sessions_list_call_and_end() {
    let (site, token) = speaking();
    let daemon = site.serve();
    for revision in ["2025-06-18", "2025-11-25"] {
        let mut client = HttpClient::session(&daemon, &token, revision);
        let listed = client.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert!(tools.iter().any(|tool| tool["name"] == "read_file"), "{listed}");
        let read = client.call("read_file", json!({ "path": "a.txt" }));
        assert!(text(&read).contains("two"), "{read}");
        assert_eq!(client.send("DELETE", "", &[]).status, 204);
        assert_eq!(client.ask("tools/list", json!({})).status, 404);
    }
    daemon.stop();
    let callers: Vec<_> =
        records(&site).into_iter().filter_map(|record| record.get("caller").cloned()).collect();
    assert!(!callers.is_empty());
    assert!(callers.iter().all(|caller| caller == "editor"), "{callers:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_that_rests_takes_little_memory() {
    const SESSIONS: u64 = 150;
    /// What each may take at most, in KiB. The list of the tools that it sees has some 400.
    const SESSION_KIB_MAX: u64 = 200;
    let (site, token) = speaking();
    let daemon = site.serve();
    // Without pages of the program's file, which come and go.
    let resident_kib = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let open = || {
        let mut client = HttpClient::session(&daemon, &token, "2025-06-18");
        // By then it follows the list.
        client.request("tools/list", json!({}));
    };
    (0..10).for_each(|_| open());
    let before = resident_kib();
    (0..SESSIONS).for_each(|_| open());
    let each = resident_kib().saturating_sub(before) / SESSIONS;
    assert!(each < SESSION_KIB_MAX, "{each} KiB each, after {before}");
    daemon.stop();
}

#[test]
fn requests_need_no_session_in_the_newest_revision() {
    let (site, token) = speaking();
    let daemon = site.serve();
    let mut client = HttpClient::alone(&daemon, &token);
    let found = client.request("server/discover", json!({}));
    assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&NEWEST.into()));
    let read = client.call("read_file", json!({ "path": "a.txt", "startLine": 2 }));
    assert_eq!(read["resultType"], "complete", "{read}");
    let mut reviewer = HttpClient::alone(&daemon, &token).of_set("read-only");
    let refused = reviewer.request("tools/call", json!({ "name": "create_file" }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("read-only"), "{refused}");
}

#[test]
fn a_set_of_the_configuration_is_a_path() {
    let (site, token) = speaking();
    site.config("[tool_sets]\nreview = [\"read_file\", \"diff_history\"]\n");
    let daemon = site.serve();
    let names = |client: &mut HttpClient| {
        let listed = client.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut review = HttpClient::alone(&daemon, &token).of_set("review");
    assert_eq!(names(&mut review), ["read_file", "diff_history"]);
    assert!(text(&review.call("read_file", json!({ "path": "a.txt" }))).contains("two"));
    let refused = review.request("tools/call", json!({ "name": "list_directory" }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("`review`"), "{refused}");
    let mut missing = HttpClient::alone(&daemon, &token).of_set("none");
    assert_eq!(missing.ask("tools/list", json!({})).status, 404);
}

#[test]
fn a_client_works_in_the_first_workspace_or_in_the_one_that_its_header_names() {
    let (mut site, token) = speaking();
    let other = site.outside("other project");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("b.txt"), "three\n").unwrap();
    let other = other.canonicalize().unwrap().display().to_string();
    site.argument("--also").argument(&other);
    let daemon = site.serve();
    let first = site.workspace().display().to_string();
    let read = |client: &mut HttpClient, path: &str| {
        text(&client.call("read_file", json!({ "path": path }))).to_owned()
    };
    for revision in ["2025-06-18", NEWEST] {
        let of = |workspace: Option<&str>| match revision {
            NEWEST => HttpClient::alone(&daemon, &token).in_workspace(workspace),
            _ => HttpClient::session_in(&daemon, &token, revision, workspace),
        };
        let mut unnamed = of(None);
        assert!(read(&mut unnamed, "a.txt").contains("two"));
        assert!(read(&mut unnamed, "b.txt").starts_with("not_found"));
        assert!(read(&mut of(Some(&first)), "a.txt").contains("two"));
        let mut named = of(Some(&other));
        assert!(read(&mut named, "b.txt").contains("three"));
        assert!(read(&mut named, "a.txt").starts_with("not_found"));
        let unserved = HttpClient::alone(&daemon, &token).in_workspace(Some("/no/such"));
        let refused = { unserved }.ask("tools/list", json!({}));
        assert_eq!(refused.status, 400);
        assert!(refused.error().contains("does not serve the workspace /no/such"), "{refused:?}");
    }
    // A session stays where it was opened.
    let session = HttpClient::session_in(&daemon, &token, "2025-06-18", Some(&other));
    let moved = { session }.in_workspace(Some(&first)).ask("tools/list", json!({}));
    assert_eq!(moved.status, 404);
    daemon.stop();
}

#[test]
fn nobody_gets_in_without_a_callers_credential_or_from_elsewhere() {
    let (site, token) = speaking();
    let daemon = site.serve();
    let hello = |token: &str, headers: &[(&str, &str)]| {
        let client = HttpClient::alone(&daemon, token);
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                             "clientInfo": { "name": "test", "version": "1" } });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let revision = [("MCP-Protocol-Version", "2025-06-18")];
        client.post(&message.to_string(), &[headers, &revision].concat())
    };
    let local = daemon.token("caller");
    for (token, part) in [("guess", "is not known"), (local.as_str(), "is not known")] {
        let refused = hello(token, &[]);
        assert_eq!(refused.status, 401);
        assert!(refused.error().contains(part), "{refused:?}");
    }
    let none = hello(&token, &[("Authorization", "Basic eDp5")]);
    assert_eq!(none.status, 401);
    assert!(none.error().contains("`moss token create NAME`"), "{none:?}");
    assert!(none.header("www-authenticate").unwrap().starts_with("Bearer"));
    for header in [("Host", "evil.example"), ("Origin", "https://evil.example"), ("Origin", "null")]
    {
        let refused = hello(&token, &[header]);
        assert_eq!(refused.status, 403, "{header:?}");
        assert!(refused.error().contains("--mcp-host"), "{refused:?}");
    }
    let page = ("Origin", "http://localhost:6274");
    assert_eq!(hello(&token, &[page]).status, 200);
}

#[test]
fn approvers_credential_is_not_for_clients() {
    let (mut site, _) = speaking();
    let secret = |name: &str, text: &str| {
        let path = site.outside(name);
        std::fs::write(&path, text).unwrap();
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, private).unwrap();
        path.display().to_string()
    };
    let approver = "deadbeef1234567890deadbeef123456";
    let files =
        [secret("caller", "c0ffee1234567890c0ffee1234567890"), secret("approver", approver)];
    site.argument("--token-file").argument(&files[0]);
    site.argument("--approver-token-file").argument(&files[1]);
    let daemon = site.serve();
    let refused = HttpClient::alone(&daemon, approver).ask("tools/list", json!({}));
    assert_eq!(refused.status, 401);
    assert!(refused.error().contains("approver's credential"), "{refused:?}");
}

#[tokio::test]
async fn an_edit_waits_for_the_approver_and_goes_through_then() {
    let (site, token) = speaking();
    let daemon = site.serve();
    let mut client = HttpClient::session(&daemon, &token, "2025-06-18");
    let edit = json!({ "path": "new.txt", "content": "new\n" });
    let asked = client.call("create_file", edit.clone());
    assert_eq!(asked["isError"], true);
    assert!(text(&asked).contains("confirmation_required"), "{asked}");
    assert!(text(&asked).contains("+new"), "{asked}");
    assert!(!site.has("new.txt"));
    let approver = daemon.approver().await;
    let pending = approver.pending().await;
    approver.approve(&pending[0]).await.unwrap();
    let done = client.call("create_file", edit);
    assert_ne!(done["isError"], true, "{done}");
    assert_eq!(site.read("new.txt"), "new\n");
}

#[tokio::test]
async fn what_is_open_ends_when_its_token_is_revoked() {
    let (site, token) = speaking();
    let daemon = site.serve();
    let mut client = HttpClient::session(&daemon, &token, "2025-11-25");
    let mut events = client.begin("GET", "", &[]);
    // It is open once its head is there.
    let mut text = vec![0; b"HTTP/1.1 200".len()];
    events.read_exact(&mut text).unwrap();
    assert_eq!(site.run(&["token", "revoke", "editor"]).code, Some(0));
    // The stream of events would stay open for ever.
    events.read_to_end(&mut text).unwrap();
    assert!(text.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&text));
    let refused = client.ask("tools/list", json!({}));
    assert_eq!(refused.status, 401, "{refused:?}");
}

#[tokio::test]
async fn a_command_ends_when_its_client_is_gone() {
    let (site, token) = speaking();
    site.user_policy("version = 1\n[[rule]]\neffects = [\"exec\"]\ndecision = \"allow\"\n");
    let daemon = site.serve();
    let client = HttpClient::alone(&daemon, &token);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let arguments = json!({ "command": "sleep 600" });
    let params = json!({ "name": "run_terminal_cmd", "arguments": arguments, "_meta": meta });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = [("Mcp-Method", "tools/call"), ("Mcp-Name", "run_terminal_cmd")];
    let stream = client.begin("POST", &message.to_string(), &headers);
    let caller = daemon.caller().await;
    until("the command runs", async || caller.load().await.calls_running == 1).await;
    drop(stream);
    until("the call ends", async || caller.load().await.calls_running == 0).await;
}

#[test]
fn running_responses_are_passed_on_before_the_end() {
    let (site, token) = speaking();
    let daemon = site.serve();
    let mut client = HttpClient::session(&daemon, &token, "2025-06-18");
    let events = client.begin("GET", "", &[]);
    assert!(text(&client.call("read_file", json!({ "path": "a.txt" }))).contains("one"));
    // A stream that is open for ever holds nothing up.
    daemon.stop();
    drop(events);
}

#[test]
fn a_port_that_others_reach_is_encrypted() {
    let (mut site, token) = speaking();
    let exposed = |site: &Site| site.serve_refused();
    let mut open = Site::new();
    open.argument("--mcp").argument("0.0.0.0:0");
    tokens::create(&open, "editor");
    let refused = exposed(&open);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("--tls-cert"), "{refused:?}");
    let mut bare = Site::new();
    bare.argument("--mcp").argument("127.0.0.1:0");
    let refused = exposed(&bare);
    assert!(refused.stderr.contains("moss token create"), "{refused:?}");
    let certificates = Certificates::new(&site, "certificates", &[]);
    for (option, file) in [("--tls-cert", "server.crt"), ("--tls-key", "server.key")] {
        site.argument(option).argument(&certificates.path(file));
    }
    let daemon = site.serve();
    assert!(daemon.log().contains("MCP on https://127.0.0.1:"), "{}", daemon.log());
    drop(token);
}

#[test]
fn every_client_of_a_token_has_its_own_session_and_others_none_of_it() {
    let (site, token) = speaking();
    let other = tokens::create(&site, "other");
    let daemon: Daemon = site.serve();
    let mut first = HttpClient::session(&daemon, &token, "2025-06-18");
    let mut stranger = HttpClient::session(&daemon, &other, "2025-06-18");
    stranger.take_session_of(&first);
    assert_eq!(stranger.ask("tools/list", json!({})).status, 404);
    assert_eq!(first.ask("tools/list", json!({})).status, 200);
    assert_ne!(port(&daemon), 0);
}
