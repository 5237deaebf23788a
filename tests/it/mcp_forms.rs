//! Confirmations of clients that speak MCP: by approvers of moss, and by forms where the person enabled
//! them.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::harness::{Daemon, Site, until};
use crate::journal::records;
use crate::mcp::client::{McpClient, text};

/// A client that has forms.
fn with_forms(site: &Site, arguments: &[&str]) -> McpClient {
    let mut client = McpClient::start(site, arguments);
    client.initialize("2025-11-25", json!({ "elicitation": {} }));
    client
}

fn create(path: &str) -> Value {
    json!({ "name": "create_file", "arguments": { "path": path, "content": "x\n" } })
}

/// Sends a call and returns the form that it shows.
fn asked(client: &mut McpClient, params: Value) -> (u64, Value) {
    let id = client.send("tools/call", params);
    let form = client.next();
    assert_eq!(form["method"], "elicitation/create", "{form}");
    (id, form)
}

fn answer(client: &mut McpClient, form: &Value, result: Value) {
    client.line(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": result }).to_string());
}

fn decide(decision: &str) -> Value {
    json!({ "action": "accept", "content": { "decision": decision } })
}

/// Whether a form says what is allowed for the session: this tool and this file.
fn shows_rule(message: &str, path: &str) -> bool {
    let (_, rule) = message.split_once("This rule can be allowed for this session").unwrap();
    rule.contains("[[approval.rule]]") && rule.contains("create_file") && rule.contains(path)
}

#[test]
fn an_unconfirmed_call_shows_its_effect_and_goes_through_once_it_is_approved() {
    let site = Site::new();
    let daemon = site.serve();
    let mut client = McpClient::connect(&site, &[]);
    let call =
        |client: &mut McpClient| client.request("tools/call", create("a.txt"))["result"].clone();
    let first = call(&mut client);
    assert_eq!(first["isError"], true);
    let told = text(&first);
    assert!(told.contains("+x") && told.contains("send exactly the same call again"), "{told}");
    assert!(told.contains("ask the person to approve it in moss"), "{told}");
    let digest = first["_meta"]["moss/call"]["digest"].as_str().unwrap();
    assert!(told.contains(digest), "{told}");
    assert!(!site.has("a.txt"));
    // Asked again before anybody decided, it is the same question.
    assert_eq!(call(&mut client)["isError"], true);
    Runtime::new().unwrap().block_on(async {
        let approver = daemon.approver().await;
        let waiting = approver.pending().await;
        assert_eq!(waiting.len(), 1);
        assert!(!told.contains(&waiting[0].id), "a model is not told how to approve");
        assert!(daemon.log().contains(&format!("moss confirm approve {}", waiting[0].id)));
        approver.approve(&waiting[0]).await.unwrap();
    });
    let mut third = call(&mut client);
    if third["isError"] == true {
        // The decision is on its way to where the call looks.
        third = call(&mut client);
    }
    assert_ne!(third["isError"], true, "{third}");
    assert_eq!(site.read("a.txt"), "x\n");
    // The approval was for that one effect.
    let other = client.request("tools/call", create("b.txt"))["result"].clone();
    assert_eq!(other["isError"], true);
    daemon.stop();
}

#[test]
fn a_denial_reaches_the_model_with_its_reason() {
    let site = Site::new();
    let daemon = site.serve();
    let mut client = McpClient::connect(&site, &[]);
    client.request("tools/call", create("a.txt"));
    Runtime::new().unwrap().block_on(async {
        let approver = daemon.approver().await;
        let waiting = approver.pending().await;
        approver.deny(&waiting[0], "not in this directory").await.unwrap();
        until("the denial is heard", async || {
            let result = client.request("tools/call", create("a.txt"))["result"].clone();
            text(&result).contains("not in this directory")
        })
        .await;
    });
    assert!(!site.has("a.txt"));
    daemon.stop();
}

#[test]
fn forms_decide_where_the_person_enabled_them() {
    for has_daemon in [false, true] {
        let site = Site::new();
        let daemon = has_daemon.then(|| site.serve());
        let mut client = with_forms(&site, &["--elicit"]);
        let (id, form) = asked(&mut client, create("a.txt"));
        let message = form["params"]["message"].as_str().unwrap();
        assert!(message.contains("+x") && message.contains("a.txt"), "{message}");
        assert!(shows_rule(message, "a.txt"), "{message}");
        let decision = &form["params"]["requestedSchema"]["properties"]["decision"];
        assert_eq!(decision["enum"], json!(["allow_once", "allow_session", "deny"]), "{form}");
        answer(&mut client, &form, decide("allow_once"));
        assert_ne!(client.response(id)["result"]["isError"], true);
        assert_eq!(site.read("a.txt"), "x\n");

        let (id, form) = asked(&mut client, create("b.txt"));
        answer(
            &mut client,
            &form,
            json!({
                "action": "accept", "content": { "decision": "deny", "reason": "not now" },
            }),
        );
        assert!(text(&client.response(id)["result"]).contains("not now"));
        let (id, form) = asked(&mut client, create("b.txt"));
        answer(&mut client, &form, json!({ "action": "decline" }));
        assert!(text(&client.response(id)["result"]).starts_with("denied_by_person"));
        let (id, form) = asked(&mut client, create("b.txt"));
        answer(&mut client, &form, json!({ "action": "cancel" }));
        assert!(text(&client.response(id)["result"]).contains("without a decision"));
        let (id, mut form) = asked(&mut client, create("b.txt"));
        // A decision that was not offered is none: the form is shown anew, and not for ever.
        for shown in 1..=3 {
            answer(&mut client, &form, decide("allow_always"));
            if shown < 3 {
                form = client.next();
                assert_eq!(form["method"], "elicitation/create", "{form}");
            }
        }
        assert!(text(&client.response(id)["result"]).contains("without a decision"));
        assert!(!site.has("b.txt"));

        let (id, form) = asked(&mut client, create("c.txt"));
        answer(&mut client, &form, decide("allow_session"));
        // An answer counts once.
        answer(&mut client, &form, decide("deny"));
        assert_ne!(client.response(id)["result"]["isError"], true);
        // The same again needs no form in this session.
        std::fs::remove_file(site.workspace().join("c.txt")).unwrap();
        let again = client.request("tools/call", create("c.txt"));
        assert_ne!(again["result"]["isError"], true, "{again}");
        assert_eq!(client.close().code(), Some(0));
        if let Some(daemon) = daemon {
            daemon.stop();
        }
    }
}

/// Passes connections on to a daemon. Once `cut` is set, each ends with the next that its client sends, which gets
/// no response.
fn relay(from: &Path, to: PathBuf, cut: &Arc<AtomicBool>) {
    let listener = UnixListener::bind(from).unwrap();
    let cut = Arc::clone(cut);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut daemon) = (client.unwrap(), UnixStream::connect(&to).unwrap());
            let (mut back, mut responses) =
                (client.try_clone().unwrap(), daemon.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut responses, &mut back));
            let cut = Arc::clone(&cut);
            std::thread::spawn(move || {
                let mut piece = [0; 1 << 16];
                while let Ok(count @ 1..) = client.read(&mut piece) {
                    if cut.load(Ordering::SeqCst) || daemon.write_all(&piece[..count]).is_err() {
                        break;
                    }
                }
                let _ = client.shutdown(Shutdown::Both);
                let _ = daemon.shutdown(Shutdown::Both);
            });
        }
    });
}

#[test]
fn a_no_that_cannot_be_recorded_is_a_no_all_the_same() {
    let site = Site::new();
    let behind = site.outside("behind.sock");
    let mut command = site.command(["serve", "--listen", &format!("unix:{}", behind.display())]);
    command.arg("--workspace").arg(site.workspace());
    let daemon = Daemon::start(command, &behind, &site.state());
    let cut = Arc::new(AtomicBool::new(false));
    std::fs::create_dir_all(site.socket().parent().unwrap()).unwrap();
    relay(&site.socket(), behind, &cut);
    let mut client = with_forms(&site, &["--elicit"]);
    let (id, form) = asked(&mut client, create("a.txt"));
    cut.store(true, Ordering::SeqCst);
    answer(&mut client, &form, json!({ "action": "decline" }));
    let result = client.response(id)["result"].clone();
    assert!(text(&result).starts_with("denied_by_person: the person denied it"), "{result}");
    assert!(text(&result).contains("whether it is recorded is not known"), "{result}");
    assert!(!text(&result).contains("send the call again"), "{result}");
    // The connection that is gone is not used once more.
    cut.store(false, Ordering::SeqCst);
    let (id, form) = asked(&mut client, create("b.txt"));
    answer(&mut client, &form, decide("allow_once"));
    assert_ne!(client.response(id)["result"]["isError"], true);
    assert!(site.has("b.txt") && !site.has("a.txt"));
    daemon.stop();
}

#[test]
fn a_closed_form_about_a_language_server_leaves_the_call_its_answer() {
    let site = Site::new();
    site.write("reader.py", "class Reader:\n    def load(self):\n        return 1\n");
    let arguments = json!({ "search": "Reader.load", "findReferences": true });
    let find = || json!({ "name": "find_code_location", "arguments": arguments.clone() });
    let serve = || crate::language_servers::serve(&site);
    let note_of = |result: &Value| {
        assert_ne!(result["isError"], true, "{result}");
        let found = &result["structuredContent"];
        assert_eq!(found["source"], "files", "{found}");
        assert_eq!(found["locations"][0]["path"], "reader.py", "{found}");
        found["note"].as_str().unwrap().to_owned()
    };
    let daemon = serve();
    let mut client = with_forms(&site, &["--elicit"]);
    // Asked again each time: closing a form is no decision.
    for _ in 0..2 {
        let (id, form) = asked(&mut client, find());
        assert!(form["params"]["message"].as_str().unwrap().contains("pyright"), "{form}");
        answer(&mut client, &form, json!({ "action": "cancel" }));
        let note = note_of(&client.response(id)["result"]);
        assert!(note.contains("was not started"), "{note}");
    }
    // A call that stands by itself is not held up for what it can do without.
    let mut single = McpClient::start(&site, &["--elicit"]);
    let note = note_of(&single.request("tools/call", alone(find()))["result"]);
    assert!(note.contains("was not started"), "{note}");
    let (id, form) = asked(&mut client, find());
    answer(&mut client, &form, json!({ "action": "decline" }));
    let note = note_of(&client.response(id)["result"]);
    assert!(note.contains("a person denied"), "{note}");
    daemon.stop();
}

#[test]
fn a_form_that_nobody_enabled_decides_nothing() {
    let site = Site::new();
    let daemon = site.serve();
    let mut client = with_forms(&site, &[]);
    let result = client.request("tools/call", create("a.txt"))["result"].clone();
    assert!(text(&result).starts_with("confirmation_required"), "{result}");
    // And a client without forms is shown none, whatever was enabled.
    let mut client = McpClient::connect(&site, &["--elicit"]);
    let result = client.request("tools/call", create("b.txt"))["result"].clone();
    assert!(text(&result).starts_with("confirmation_required"), "{result}");
    daemon.stop();
}

#[test]
fn no_form_decides_about_protected_names_and_long_changes() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\npaths = [\".env\"]\nprotected = true\ndecision = \"ask\"\n",
    );
    let daemon = site.serve();
    let mut client = with_forms(&site, &["--elicit"]);
    let long = "a line of a text that nobody reads in a dialog\n".repeat(2_000);
    for params in [
        create(".env"),
        json!({ "name": "create_file", "arguments": { "path": "long.txt", "content": long } }),
    ] {
        let result = client.request("tools/call", params)["result"].clone();
        assert!(text(&result).starts_with("confirmation_required"), "{result}");
        assert!(text(&result).contains("send exactly the same call again"), "{result}");
    }
    Runtime::new().unwrap().block_on(async {
        let approver = daemon.approver().await;
        assert_eq!(approver.pending().await.len(), 2);
    });
    daemon.stop();
}

#[test]
fn a_rule_that_wants_a_person_is_no_form_with_a_session_and_without() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\npaths = [\"release/**\"]\ndecision = \"ask\"\napprover = \"person\"\n",
    );
    let mut alone_in_process = with_forms(&site, &["--elicit"]);
    let result = alone_in_process.request("tools/call", create("release/a"))["result"].clone();
    assert!(text(&result).contains("ask the person to approve it in moss"), "{result}");
    assert!(text(&result).contains("moss serve"), "{result}");
    // No caller of MCP can wait for it, or decide by a digest.
    assert!(!text(&result).contains("wait for a confirmation"), "{result}");
    assert!(!text(&result).contains("have an approver"), "{result}");
    let daemon = site.serve();
    let mut client = with_forms(&site, &["--elicit"]);
    let mut single = McpClient::start(&site, &["--elicit"]);
    let check = |first: Value, second: Value| {
        for result in [first, second] {
            assert_eq!(result["isError"], true, "{result}");
            let told = text(&result);
            assert!(told.starts_with("confirmation_required"), "{told}");
            assert!(told.contains("ask the person to approve it in moss"), "{told}");
            assert!(told.contains("a rule wants a person to decide in moss"), "{told}");
            assert!(told.contains("+x"), "{told}");
        }
    };
    let forms_of = |result: &Value| result.get("inputRequests").cloned();
    let first = client.request("tools/call", create("release/a"))["result"].clone();
    let second = single.request("tools/call", alone(create("release/a")))["result"].clone();
    assert_eq!(forms_of(&second), None);
    check(first, second);
    Runtime::new().unwrap().block_on(async {
        let approver = daemon.approver().await;
        let pending = approver.pending().await;
        assert!(pending.iter().all(|asked| asked.for_person && asked.offers.is_empty()));
        approver.approve(&pending[0]).await.unwrap();
        until("the approval is heard", async || {
            let result = client.request("tools/call", create("release/a"))["result"].clone();
            result["isError"] != true
        })
        .await;
    });
    assert_eq!(site.read("release/a"), "x\n");
    // Other files are asked about in a form.
    let (id, form) = asked(&mut client, create("other.txt"));
    answer(&mut client, &form, decide("allow_once"));
    assert_ne!(client.response(id)["result"]["isError"], true);
    // Nor does a blanket yes of the command line cover it.
    let call = ["call", "create_file", "path=release/b", "content=x", "--confirm", "allow"];
    let refused = site.run(&call);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(!site.has("release/b"));
    daemon.stop();
}

#[test]
fn a_question_of_a_tool_is_a_form_for_who_has_forms() {
    let site = Site::new();
    let mut client = with_forms(&site, &[]);
    let params = json!({
        "name": "clarify", "arguments": { "question": "Tabs?", "choices": ["tabs", "spaces"] },
    });
    let (id, form) = asked(&mut client, params.clone());
    assert_eq!(form["params"]["message"], "Tabs?");
    let schema = &form["params"]["requestedSchema"]["properties"]["answer"];
    assert_eq!(schema["enum"], json!(["tabs", "spaces"]));
    answer(&mut client, &form, json!({ "action": "accept", "content": { "answer": "spaces" } }));
    let result = client.response(id)["result"]["structuredContent"].clone();
    assert_eq!(
        (&result["answered"], &result["answer"]),
        (&json!(true), &json!("spaces")),
        "{result}"
    );
    let (id, form) = asked(&mut client, params);
    answer(&mut client, &form, json!({ "action": "cancel" }));
    assert_eq!(client.response(id)["result"]["structuredContent"]["answered"], false);
}

#[test]
fn a_question_of_a_tool_is_part_of_the_result_of_a_call_that_stands_by_itself() {
    let site = Site::new();
    let mut client = McpClient::start(&site, &[]);
    let params = json!({
        "name": "clarify", "arguments": { "question": "Tabs?", "choices": ["tabs", "spaces"] },
    });
    let mut call = |params: Value| client.request("tools/call", alone(params))["result"].clone();
    let asked = call(params.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["answer"]["params"]["message"], "Tabs?", "{asked}");
    let mut said = params;
    said["requestState"] = asked["requestState"].clone();
    said["inputResponses"] =
        json!({ "answer": { "action": "accept", "content": { "answer": "tabs" } } });
    let result = call(said.clone())["structuredContent"].clone();
    assert_eq!((&result["answered"], &result["answer"]), (&json!(true), &json!("tabs")));
    assert!(text(&call(said)).contains("used before"));
}

/// The parameters of a call that stands by itself, of a client that has forms.
fn alone(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    params
}

/// The same call with the state that it was answered with, and what the person said.
fn again(mut params: Value, asked: &Value, said: Value) -> Value {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({ "decision": said });
    params
}

/// How a call ended: its result, or the error of the protocol.
fn ended(response: Value) -> Value {
    response.get("result").or(response.get("error")).unwrap_or_else(|| panic!("{response}")).clone()
}

/// What an error of the protocol says.
fn refusal(ended: &Value) -> &str {
    assert_eq!(ended["code"], -32602, "{ended}");
    ended["message"].as_str().unwrap()
}

#[test]
fn a_call_that_stands_by_itself_is_answered_with_a_form_and_comes_again() {
    for has_daemon in [false, true] {
        let site = Site::new();
        let daemon = has_daemon.then(|| site.serve());
        let mut client = McpClient::start(&site, &["--elicit"]);
        let mut call = |params: Value| ended(client.request("tools/call", alone(params)));
        let asked = call(create("a.txt"));
        let form = &asked["inputRequests"]["decision"];
        assert_eq!(form["method"], "elicitation/create", "{asked}");
        let message = form["params"]["message"].as_str().unwrap();
        assert!(message.contains("+x") && shows_rule(message, "a.txt"), "{message}");
        let decision = &form["params"]["requestedSchema"]["properties"]["decision"];
        assert_eq!(decision["enum"], json!(["allow_once", "allow_session", "deny"]), "{form}");
        assert!(!site.has("a.txt"));
        // A state is for its own call, once, and none that was made up.
        let yes = || decide("allow_once");
        let other = call(again(create("b.txt"), &asked, yes()));
        assert!(refusal(&other).starts_with("request_state_invalid"), "{other}");
        let mut forged = asked.clone();
        forged["requestState"] = json!(asked["requestState"].as_str().unwrap().replace('.', ".0"));
        let forged = call(again(create("a.txt"), &forged, yes()));
        assert!(refusal(&forged).starts_with("request_state_invalid"), "{forged}");
        assert!(!site.has("a.txt") && !site.has("b.txt"));
        let done = call(again(create("a.txt"), &asked, yes()));
        assert_ne!(done["isError"], true, "{done}");
        assert_eq!(site.read("a.txt"), "x\n");
        let replayed = call(again(create("a.txt"), &asked, yes()));
        assert!(text(&replayed).contains("used before"), "{replayed}");

        let asked = call(create("c.txt"));
        let said = json!({
            "action": "accept", "content": { "decision": "deny", "reason": "not now" },
        });
        assert!(text(&call(again(create("c.txt"), &asked, said))).contains("not now"));
        let asked = call(create("c.txt"));
        // A response that is missing, or nothing that was offered, is asked for anew, and the same state takes
        // another one.
        for missing in [
            json!({}),
            json!({ "Decision": yes() }),
            json!({ "decision": decide("zz") }),
            json!({ "decision": { "action": "accept", "content": {} } }),
            json!({ "decision": { "action": "foo" } }),
        ] {
            let mut unread = again(create("c.txt"), &asked, yes());
            unread["inputResponses"] = missing;
            let anew = call(unread);
            assert_eq!(anew["inputRequests"]["decision"]["method"], "elicitation/create", "{anew}");
        }
        let closed = call(again(create("c.txt"), &asked, json!({ "action": "cancel" })));
        assert_eq!(closed["isError"], true, "{closed}");
        assert!(
            text(&closed).starts_with("confirmation_required: the form was closed"),
            "{closed}"
        );
        assert!(!site.has("c.txt"));
        // What forms never decide about waits for an approver.
        let protected = json!({
            "name": "create_file", "arguments": { "path": ".env", "content": "x" },
        });
        let waiting = call(protected);
        assert_eq!(waiting["isError"], true, "{waiting}");
        drop(daemon);
    }
}

/// What the journal says of questions that a person decided, but for what differs from call to call.
fn decisions(site: &Site) -> Vec<Value> {
    let confirmations = records(site).into_iter().filter(|record| record["kind"] == "confirmation");
    let fields = |record: Value| {
        let fields = ["tool", "digest", "decision", "decided_by", "reason"];
        Value::from_iter(fields.map(|key| (key, record[key].clone())))
    };
    confirmations.map(fields).collect()
}

#[test]
fn a_no_is_in_the_journal_with_a_session_and_without() {
    let said = || {
        json!({
            "action": "accept", "content": { "decision": "deny", "reason": "not now" },
        })
    };
    for has_daemon in [false, true] {
        let site = Site::new();
        let daemon = has_daemon.then(|| site.serve());
        let mut session = with_forms(&site, &["--elicit"]);
        let (id, form) = asked(&mut session, create("a.txt"));
        answer(&mut session, &form, said());
        let in_session = text(&session.response(id)["result"]).to_owned();
        assert_eq!(session.close().code(), Some(0));
        let denied = decisions(&site);
        assert_eq!((denied.len(), &denied[0]["decision"]), (1, &json!("denied")), "{denied:?}");

        let mut client = McpClient::start(&site, &["--elicit"]);
        let mut call = |params: Value| ended(client.request("tools/call", alone(params)));
        let shown = call(create("a.txt"));
        // Neither a state that was made up nor one of another call says anything about this one.
        let mut forged = shown.clone();
        forged["requestState"] = json!(shown["requestState"].as_str().unwrap().replace('.', ".0"));
        for broken in
            [again(create("a.txt"), &forged, said()), again(create("b.txt"), &shown, said())]
        {
            let refused = call(broken);
            assert!(refusal(&refused).starts_with("request_state_invalid"), "{refused}");
        }
        // By now nobody would be asked: what was denied is not carried out for that.
        site.user_policy("version = 1\n[[rule]]\ndecision = \"allow\"\n");
        Runtime::new().unwrap().block_on(until("the rule is in effect", async || {
            call(create("c.txt"));
            site.has("c.txt")
        }));
        let once = call(again(create("a.txt"), &shown, said()));
        assert_eq!(text(&once), in_session);
        let replayed = call(again(create("a.txt"), &shown, said()));
        assert!(text(&replayed).contains("used before"), "{replayed}");
        assert_eq!(client.close().code(), Some(0));
        assert!(!site.has("a.txt") && !site.has("b.txt"));
        // The same effect has the same digest.
        assert_eq!(decisions(&site), [denied.clone(), denied].concat());
        if let Some(daemon) = daemon {
            daemon.stop();
        }
    }
}

#[test]
fn what_is_allowed_for_the_session_is_asked_about_in_others_alone() {
    for has_daemon in [false, true] {
        let site = Site::new();
        // What the workspace asks about, no standing approval covers.
        let rule = "[[rule]]\neffects = [\"write\"]\npaths = [\"asked/**\"]\ndecision = \"ask\"\n";
        site.write(".moss/policy.toml", format!("version = 1\n{rule}"));
        let daemon = has_daemon.then(|| site.serve());
        let mut client = McpClient::start(&site, &["--elicit"]);
        let mut call = |params: Value| ended(client.request("tools/call", alone(params)));
        let asked = call(create("asked/c.txt"));
        let decision = &asked["inputRequests"]["decision"]["params"]["requestedSchema"];
        assert_eq!(decision["properties"]["decision"]["enum"], json!(["allow_once", "deny"]));
        let longer = call(again(create("asked/c.txt"), &asked, decide("allow_session")));
        assert_eq!(longer["resultType"], "input_required", "{longer}");
        assert!(!site.has("c.txt") && !site.has("asked/c.txt"));
        let asked = call(create("c.txt"));
        let done = call(again(create("c.txt"), &asked, decide("allow_session")));
        assert_ne!(done["isError"], true, "{done}");
        std::fs::remove_file(site.workspace().join("c.txt")).unwrap();
        let unasked = call(create("c.txt"));
        assert_eq!((&unasked["isError"], site.read("c.txt").as_str()), (&json!(false), "x\n"));
        std::fs::remove_file(site.workspace().join("c.txt")).unwrap();
        let mut other = McpClient::start(&site, &["--elicit"]);
        let asked = other.request("tools/call", alone(create("c.txt")))["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        assert!(!site.has("c.txt"));
        drop(daemon);
    }
}

#[test]
fn no_form_is_a_result_where_the_person_did_not_enable_them() {
    let site = Site::new();
    let mut client = McpClient::start(&site, &[]);
    let result = client.request("tools/call", alone(create("a.txt")))["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.get("inputRequests").is_none(), "{result}");
    let answered = json!({ "resultType": "input_required", "requestState": "moss1.1.1.1.1" });
    let guessed = again(create("a.txt"), &answered, decide("allow_once"));
    let result = client.request("tools/call", alone(guessed))["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    assert!(!site.has("a.txt"));
}
