//! Commands in the background on the real binary: whose they are, how they are followed, written to and
//! ended.

use moss_proto::v1;
use serde_json::{Value, json};
use tonic::Code;

use crate::harness::{Client, Daemon, Site, failure, output, reason, refusing, until, waiting};
use crate::run_terminal_cmd::{ALLOWING, is_running};
use crate::tokens;

fn background(text: &str) -> Value {
    json!({ "command": text, "is_background": true })
}

/// Starts a job and returns its id.
async fn started(client: &Client, text: &str) -> String {
    let found = client.done("run_terminal_cmd", background(text)).await;
    found["job"].as_str().unwrap_or_else(|| panic!("no job: {found}")).to_owned()
}

async fn job(client: &Client, arguments: Value) -> Value {
    client.done("terminal_job", arguments).await
}

#[tokio::test]
async fn a_job_is_followed_by_its_output_and_its_end() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = "echo begun; while [ ! -f go ]; do sleep 0.05; done; echo ended >&2; exit 3";
    let found = client.done("run_terminal_cmd", background(text)).await;
    assert_eq!((&found["ran"], &found["exit_code"]), (&json!(true), &Value::Null), "{found}");
    assert_eq!(found["sandbox"]["tier"], "full", "{found}");
    assert!(found["notes"].to_string().contains("terminal_job"), "{found}");
    let id = found["job"].as_str().unwrap();
    let waited = job(&client, json!({"action": "wait", "job": id, "text": "begun"})).await;
    assert_eq!(waited["found"], true, "{waited}");
    assert_eq!(waited["output"]["text"], "begun\n", "{waited}");
    assert_eq!(waited["jobs"][0]["running"], true);
    let listed = job(&client, json!({"action": "list"})).await;
    assert_eq!(listed["jobs"][0]["job"], id, "{listed}");
    assert_eq!(listed["jobs"][0]["command"], text);
    let sandbox = &listed["jobs"][0]["sandbox"];
    assert_eq!(
        (&sandbox["tier"], &sandbox["profile"]),
        (&json!("full"), &json!("read-only")),
        "{listed}"
    );
    let late =
        job(&client, json!({"action": "wait", "job": id, "text": "never", "timeout_ms": 50})).await;
    assert_eq!(late["found"], false, "{late}");
    site.write("go", "");
    let ended = job(&client, json!({"action": "wait", "job": id, "since": 6})).await;
    assert_eq!(ended["output"]["text"], "ended\n", "{ended}");
    assert_eq!(
        (&ended["jobs"][0]["running"], &ended["jobs"][0]["exit_code"]),
        (&json!(false), &json!(3))
    );
    let whole = job(&client, json!({"action": "output", "job": id})).await;
    assert_eq!(
        whole["output"],
        json!({"text": "begun\nended\n", "since": 0, "next": 12, "more": false})
    );
    drop(client);
    daemon.stop();
    let audit = site.run(&["audit", "tail", "-n", "100", "--json"]).stdout;
    assert!(audit.contains("job_started") && audit.contains("job_ended"), "{audit}");
}

#[tokio::test]
async fn a_command_that_ends_at_once_says_so() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = client.done("run_terminal_cmd", background("no-such-program")).await;
    assert_eq!(found["exit_code"], 127, "{found}");
    assert!(found["stdout"].as_str().unwrap().contains("not found"), "{found}");
}

#[tokio::test]
async fn a_job_that_has_ended_names_variables_that_it_wrote_and_was_not_given() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let mut serve = site.serve_command();
    serve.env("OTHER_TOKEN", "value");
    let daemon = Daemon::start(serve, &site.socket(), &site.state());
    let client = daemon.caller().await;
    let id = started(&client, "printf OTHER; printf _TOKEN").await;
    let ended = job(&client, json!({"action": "wait", "job": id})).await;
    let removed = &ended["jobs"][0]["sandbox"]["environment_removed"];
    assert_eq!(*removed, json!(["OTHER_TOKEN"]), "{ended}");
}

#[tokio::test]
async fn a_job_asks_before_it_starts_and_before_it_is_written_to() {
    let site = Site::new();
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let text = "touch begun; read line; echo got $line; read line; echo end";
    let mut events = client.stream(waiting("run_terminal_cmd", background(text))).await.unwrap();
    let question = events.question().await;
    assert!(question.command.as_ref().unwrap().background, "{question:?}");
    approver.approve(&question).await.unwrap();
    let id = output(&events.end().await.unwrap())["job"].as_str().unwrap().to_owned();
    let write = json!({"action": "write", "job": id, "text": "one\n"});
    let refused = client.call(refusing("terminal_job", write.clone())).await.unwrap_err();
    assert_eq!(reason(&refused), "CONFIRMATION_REQUIRED");
    let mut events = client.stream(waiting("terminal_job", write)).await.unwrap();
    let question = events.question().await;
    let asked = question.command.clone().unwrap();
    assert!(asked.input, "{asked:?}");
    assert_eq!((asked.command.as_str(), asked.parts[0].via[0].as_str()), ("one\n", text));
    approver.approve(&question).await.unwrap();
    output(&events.end().await.unwrap());
    let waited = job(&client, json!({"action": "wait", "job": id, "text": "got one"})).await;
    assert_eq!(waited["found"], true, "{waited}");
    // The end of its input needs no question.
    job(&client, json!({"action": "write", "job": id, "close": true})).await;
    let ended = job(&client, json!({"action": "wait", "job": id})).await;
    assert_eq!(ended["jobs"][0]["running"], false, "{ended}");
    let late =
        client.ran("terminal_job", json!({"action": "write", "job": id, "close": true})).await;
    assert_eq!(failure(&late).code, "conflict");
}

#[tokio::test]
async fn a_rule_lets_a_job_be_written_to_but_no_shell() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let id = started(&client, "read line; echo got $line").await;
    job(&client, json!({"action": "write", "job": id, "text": "one\n"})).await;
    let ended = job(&client, json!({"action": "wait", "job": id})).await;
    assert_eq!(ended["output"]["text"], "got one\n", "{ended}");
    let approver = daemon.approver().await;
    let mut events = client.stream(waiting("run_terminal_cmd", background("bash"))).await.unwrap();
    approver.approve(&events.question().await).await.unwrap();
    let shell = output(&events.end().await.unwrap())["job"].as_str().unwrap().to_owned();
    let write = json!({"action": "write", "job": shell, "text": "ls\n"});
    let refused = client.call(refusing("terminal_job", write)).await.unwrap_err();
    assert_eq!(reason(&refused), "CONFIRMATION_REQUIRED");
}

#[tokio::test]
async fn a_job_belongs_to_its_caller_and_approvers_see_all() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let own = started(&client, "sleep 985").await;
    let theirs = started(&approver, "sleep 985").await;
    let ids = |listed: &Value| {
        let jobs = listed["jobs"].as_array().unwrap().iter();
        jobs.map(|job| job["job"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&job(&client, json!({"action": "list"})).await), std::slice::from_ref(&own));
    assert_eq!(ids(&job(&approver, json!({"action": "list"})).await), [own, theirs.clone()]);
    for arguments in [
        json!({"action": "output", "job": theirs}),
        json!({"action": "wait", "job": theirs}),
        json!({"action": "write", "job": theirs, "text": "x"}),
        json!({"action": "stop", "job": theirs}),
    ] {
        let refused = client.ran("terminal_job", arguments.clone()).await;
        assert_eq!(failure(&refused).code, "not_found", "{arguments}");
    }
    let request = v1::StopJobRequest { job: theirs };
    let refused = client.jobs().stop_job(request.clone()).await.unwrap_err();
    assert_eq!((refused.code(), reason(&refused).as_str()), (Code::NotFound, "JOB_UNKNOWN"));
    let stopped = approver.jobs().stop_job(request).await.unwrap().into_inner().job.unwrap();
    assert!(!stopped.running && stopped.ended_by.contains("approver"), "{stopped:?}");
}

#[tokio::test]
async fn a_stopped_job_ends_with_all_that_it_started() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    site.write("deaf.sh", "trap '' TERM\nsetsid sleep 984 &\nsleep 984\n");
    let id = started(&client, "bash deaf.sh").await;
    let approver = daemon.approver().await;
    let dry = v1::Call {
        dry_run: true,
        ..refusing("terminal_job", json!({"action": "stop", "job": id}))
    };
    assert_eq!(output(&approver.call(dry).await.unwrap())["jobs"][0]["running"], true);
    let stopped = job(&client, json!({"action": "stop", "job": id})).await;
    assert_eq!(stopped["jobs"][0]["running"], false, "{stopped}");
    assert_eq!(stopped["jobs"][0]["ended_by"], "stopped by caller", "{stopped}");
    until("nothing is left", async || !is_running("sleep\u{0}984")).await;
    let again = job(&client, json!({"action": "stop", "job": id})).await;
    assert!(again["notes"].to_string().contains("ended before"), "{again}");
}

#[tokio::test]
async fn jobs_end_with_the_daemon_also_where_it_is_killed() {
    for kill in [false, true] {
        let site = Site::new();
        site.user_policy(ALLOWING);
        let daemon = site.serve();
        let client = daemon.caller().await;
        let text = if kill { "sleep 983" } else { "sleep 982" };
        for _ in 0..3 {
            started(&client, text).await;
        }
        assert!(is_running(&text.replace(' ', "\0")));
        drop(client);
        if kill {
            daemon.kill();
        } else {
            daemon.stop();
        }
        until("nothing is left", async || !is_running(&text.replace(' ', "\0"))).await;
    }
}

#[tokio::test]
async fn no_command_of_twenty_survives_a_daemon_that_is_killed() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    for _ in 0..16 {
        started(&client, "setsid sleep 980 & sleep 980").await;
    }
    let mut calls = Vec::new();
    for place in 0..4 {
        let text =
            json!({ "command": format!("touch begun{place}; setsid sleep 980 & sleep 980") });
        calls.push(client.stream(refusing("run_terminal_cmd", text)).await.unwrap());
    }
    until("all run", async || (0..4).all(|place| site.has(&format!("begun{place}")))).await;
    assert!(is_running("sleep\0980"));
    daemon.kill();
    until("nothing is left", async || !is_running("sleep\0980")).await;
}

#[tokio::test]
async fn a_job_ends_when_a_secret_is_replaced_from_outside_and_says_so() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write(".env", "TOKEN=old\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let id = started(&client, "touch begun; sleep 979").await;
    until("it runs", async || site.has("begun")).await;
    site.write("new", "TOKEN=new\n");
    std::fs::rename(site.workspace().join("new"), site.workspace().join(".env")).unwrap();
    let ended = job(&client, json!({"action": "wait", "job": id})).await;
    let by = ended["jobs"][0]["ended_by"].as_str().unwrap_or_default();
    assert!(by.contains(".env") && by.contains("from outside"), "{ended}");
}

#[tokio::test]
async fn a_job_ends_when_the_token_of_its_caller_is_revoked() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let secret = tokens::create(&site, "ci");
    let daemon = site.serve();
    let client = daemon.connect(Some(&secret)).await;
    let id = started(&client, "sleep 977").await;
    assert_eq!(tokens::revoke(&site, "ci").code, Some(0));
    until("it ended", async || !is_running("sleep\u{0}977")).await;
    let shown = site.run(&["jobs", "show", &id]).stdout;
    assert!(shown.contains("`ci` was revoked"), "{shown}");
}

#[tokio::test]
async fn a_call_and_its_command_end_when_the_token_of_its_caller_is_revoked() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let secret = tokens::create(&site, "ci");
    let daemon = site.serve();
    let client = daemon.connect(Some(&secret)).await;
    let command = json!({"command": "touch begun; sleep 976"});
    let revoked = async {
        until("it runs", async || site.has("begun")).await;
        assert_eq!(tokens::revoke(&site, "ci").code, Some(0));
    };
    let (ended, ()) = tokio::join!(client.call(refusing("run_terminal_cmd", command)), revoked);
    let status = ended.unwrap_err();
    assert!(status.message().contains("the token `ci` was revoked"), "{status:?}");
    until("its command ended", async || !is_running("sleep\u{0}976")).await;
}

#[tokio::test]
async fn how_many_jobs_run_is_bounded() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    for _ in 0..16 {
        started(&client, "sleep 981").await;
    }
    let refused = client.ran("run_terminal_cmd", background("sleep 981")).await;
    let error = failure(&refused);
    assert_eq!(error.code, "limit_exceeded");
    assert!(error.hint.contains("stop"), "{error:?}");
}

#[tokio::test]
async fn people_list_show_and_stop_jobs() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    assert_eq!(site.run(&["jobs", "list"]).stdout, "no jobs\n");
    let client = daemon.caller().await;
    let id =
        started(&client, "echo begun; while [ ! -f go ]; do sleep 0.05; done; echo ended").await;
    job(&client, json!({"action": "wait", "job": id, "text": "begun"})).await;
    let listed = site.run(&["jobs", "list", "--json"]).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (&listed["jobs"][0]["id"], &listed["jobs"][0]["running"]),
        (&json!(id), &json!(true))
    );
    let shown = site.run(&["jobs", "show", &id[..6]]);
    assert!(shown.stdout.ends_with("\n\nbegun\n") && shown.stdout.contains("running"), "{shown:?}");
    site.write("go", "");
    let followed = site.run(&["jobs", "show", &id, "--follow"]);
    assert_eq!(followed.stdout, "begun\nended\n", "{followed:?}");
    assert!(followed.stderr.contains("exited with 0"), "{followed:?}");
    let id = started(&client, "sleep 980").await;
    let stopped = site.run(&["jobs", "stop", &id]);
    assert_eq!(stopped.stdout, format!("stopped {id}\n"), "{stopped:?}");
    let unknown = site.run(&["jobs", "show", "nope"]);
    assert!(unknown.code == Some(1) && unknown.stderr.contains("moss jobs list"), "{unknown:?}");
}

#[test]
fn without_a_daemon_nothing_is_left_running() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let words = ["call", "run_terminal_cmd", "command=sleep 979", "is_background=true"];
    let refused = site.run(&words);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("moss serve"), "{refused:?}");
    assert_eq!(site.run(&["jobs", "list"]).code, Some(5));
}

#[tokio::test]
async fn a_command_is_started_in_a_terminal_where_that_is_wanted() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text =
        "test -t 0 && test -t 1 && printf 'name? '; read name; echo \"hello $name\"; stty size";
    let begun = job(&client, json!({"action": "start", "command": text})).await;
    let id = begun["jobs"][0]["job"].as_str().unwrap().to_owned();
    let waited =
        job(&client, json!({"action": "wait", "job": id, "text": "name? ", "timeout_ms": 20_000}))
            .await;
    assert_eq!(waited["found"], true, "{waited}");
    job(&client, json!({"action": "write", "job": id, "text": "you\n"})).await;
    let ended = job(&client, json!({"action": "wait", "job": id, "timeout_ms": 20_000})).await;
    assert_eq!(ended["jobs"][0]["exit_code"], 0, "{ended}");
    let shown = ended["output"]["text"].as_str().unwrap();
    assert!(shown.contains("hello you") && shown.contains("24 80"), "{shown:?}");
}

#[tokio::test]
async fn a_line_that_a_terminal_would_cut_is_refused_before_anybody_is_asked() {
    let site = Site::new();
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let start = json!({"action": "start", "command": "stty -echo; echo ready; read line; echo got ${#line}"});
    let mut events = client.stream(waiting("terminal_job", start)).await.unwrap();
    approver.approve(&events.question().await).await.unwrap();
    let begun = output(&events.end().await.unwrap());
    let id = begun["jobs"][0]["job"].as_str().unwrap().to_owned();
    let waited = job(&client, json!({"action": "wait", "job": id, "text": "ready"})).await;
    assert_eq!(waited["found"], true, "{waited}");
    let write = |bytes: usize| {
        let text = format!("{}\n", "x".repeat(bytes));
        json!({"action": "write", "job": id, "text": text})
    };
    let refused = client.ran("terminal_job", write(4_096)).await;
    let error = failure(&refused);
    assert_eq!(error.code, "invalid_arguments", "{error:?}");
    assert!(error.hint.contains("create_file"), "{error:?}");
    let mut events = client.stream(waiting("terminal_job", write(4_095))).await.unwrap();
    approver.approve(&events.question().await).await.unwrap();
    output(&events.end().await.unwrap());
    let ended = job(&client, json!({"action": "wait", "job": id})).await;
    assert!(ended["output"]["text"].as_str().unwrap().contains("got 4095"), "{ended}");
}
