//! The other commands: the same with a daemon and without one, and confirmations from a second
//! shell.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::calls::TOOLS;
use crate::harness::guests::{install, zoo};
use crate::harness::{Client, Ended, Site, until};

fn parsed(ended: &Ended) -> Value {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

fn spawn(site: &Site, arguments: &[&str]) -> Child {
    let mut command = site.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

async fn waits(client: &Client, count: u32) {
    until("questions wait", async || client.load().await.confirmations_pending == count).await;
}

#[tokio::test]
async fn commands_say_the_same_with_and_without_a_daemon() {
    let site = Site::allowing();
    site.write("a.txt", "one\n");
    install(&site, &[("zoo", &zoo("polite"), json!({}))]);
    let edit = ["call", "replace_text", "path=a.txt", "oldText=one", "newText=1"];
    parsed(&site.run(&edit));
    let commands: &[&[&str]] = &[
        &["tools"],
        &["tools", "--json"],
        &["tools", "--format", "openai"],
        &["tools", "--format", "anthropic", "--lang", "zh"],
        &["tools", "--format", "mcp", "--toolset", "base"],
        &["policy", "show"],
        &["policy", "show", "--json"],
        &["policy", "explain", "replace_text", "path=a.txt", "oldText=x", "newText=y"],
        &["policy", "explain", "read_file", "path=.env", "--json"],
        &["policy", "explain", "reed_file"],
        &["policy", "explain", "read_file"],
        &["history", "list"],
        &["history", "list", "a.txt", "--json"],
        &["history", "show", "1"],
        &["history", "show", "1", "--json"],
        &["history", "show", "9"],
        &["history", "undo", "1", "--dry-run"],
        &["history", "undo", "9"],
        &["history", "undo", "--since", "0", "--dry-run"],
        &["history", "undo", "--call", "nobody"],
        &["history", "list", "--tool", "replace_text", "--since", "0"],
        &["history", "list", "--call", "nobody"],
        &["plugin", "list"],
        &["plugin", "list", "--json"],
        &["call", "act"],
    ];
    // What is compiled is reported where it is compiled first.
    site.run(&["tools"]);
    let alone: Vec<_> = commands.iter().map(|command| site.run(command)).collect();
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("the plugin is there", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    for (command, alone) in commands.iter().zip(&alone) {
        let served = site.run(command);
        assert_eq!(served.stdout, alone.stdout, "{command:?}");
        assert_eq!((served.code, &served.stderr), (alone.code, &alone.stderr), "{command:?}");
    }
    let codes: Vec<_> = alone.iter().filter_map(|ended| ended.code).collect();
    assert_eq!(codes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0]);
}

#[test]
fn tools_are_rendered_for_each_kind_of_client() {
    let site = Site::new();
    let plain = parsed(&site.run(&["tools", "--json"]));
    let plain = plain.as_array().unwrap();
    assert_eq!(plain.len(), TOOLS.len());
    let keys: Vec<_> = plain[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["name", "title", "description", "effect", "toolset", "plugin", "parameters", "output"]
    );
    for (format, name, schema) in [
        ("openai", "/function/name", "/function/parameters/properties"),
        ("anthropic", "/name", "/input_schema/properties"),
        ("mcp", "/name", "/inputSchema/properties"),
    ] {
        let tools = parsed(&site.run(&["tools", "--format", format]));
        for (tool, plain) in tools.as_array().unwrap().iter().zip(plain) {
            assert_eq!(tool.pointer(name), Some(&plain["name"]), "{format}");
            let properties = plain.pointer("/parameters/properties");
            assert!(properties.is_some_and(Value::is_object), "{plain}");
            assert_eq!(tool.pointer(schema), properties, "{format}: {tool}");
        }
    }
}

#[test]
fn the_workspace_is_the_nearest_root_above() {
    let site = Site::new();
    site.write("project/.git/HEAD", "ref\n");
    site.write("project/src/a.txt", "one\n");
    let mut command = site.command(["call", "read_file", "path=src/a.txt", "--json"]);
    command.current_dir(site.workspace().join("project/src"));
    let ended = Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_eq!(parsed(&ended)["output"]["path"], "src/a.txt");
    let other = site.workspace().join("project/src").display().to_string();
    let named = site.run(&["call", "read_file", "path=a.txt", "--workspace", &other, "--json"]);
    assert_eq!(parsed(&named)["output"]["path"], "a.txt");
}

#[test]
fn history_is_undone_from_the_command_line() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let edit =
        ["call", "replace_text", "path=a.txt", "oldText=one", "newText=1", "--confirm", "allow"];
    parsed(&site.run(&edit));
    for (more, code) in [(&[][..], 4), (&["--confirm", "deny"], 3)] {
        let ended = site.run(&[&["history", "undo", "1", "--json"], more].concat());
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert_eq!(site.read("a.txt"), "1\n");
    }
    let shown = parsed(&site.run(&["history", "undo", "1", "--dry-run", "--json"]));
    assert!(shown["changes"][0]["diff"].as_str().unwrap().contains("-1\n+one\n"), "{shown}");
    let digest = shown["digest"].as_str().unwrap();
    let undone = parsed(&site.run(&["history", "undo", "1", "--confirm", digest, "--json"]));
    assert_eq!((&undone["outcome"], &undone["output"]["undone"]), (&json!("ok"), &json!(1)));
    assert_eq!(site.read("a.txt"), "one\n");
    let listed = parsed(&site.run(&["history", "list", "--json"]));
    assert_eq!(
        (&listed["entries"][0]["number"], &listed["entries"][0]["undo_of"]),
        (&json!(2), &json!(1))
    );
    parsed(&site.run(&["history", "undo", "2", "--confirm", "allow"]));
    assert_eq!(site.read("a.txt"), "1\n");
}

#[tokio::test]
async fn another_shell_answers() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let create = |path: &str| {
        let path = format!("path={path}");
        spawn(&site, &["call", "create_file", &path, "content=x", "--wait", "--json"])
    };
    let approved = create("approved.txt");
    waits(&client, 1).await;
    let listed = parsed(&site.run(&["confirm", "list", "--json"]));
    let waiting = &listed["confirmations"][0];
    assert_eq!(
        (&waiting["state"], &waiting["changes"][0]["path"]),
        (&json!("pending"), &json!("approved.txt"))
    );
    let id = waiting["id"].as_str().unwrap();
    assert!(site.run(&["confirm", "list"]).stdout.contains(id));
    let shown = site.run(&["confirm", "show", &id[..6]]);
    assert!(
        shown.stdout.contains("+x") && shown.stdout.contains(waiting["digest"].as_str().unwrap())
    );
    let answered = parsed(&site.run(&["confirm", "approve", &id[..6], "--json"]));
    assert_eq!(answered["state"], "approved");
    let approved = ended(approved);
    assert_eq!(parsed(&approved)["changes"][0]["status"], "committed");
    assert_eq!(site.run(&["confirm", "approve", id]).code, Some(1));

    let denied = create("denied.txt");
    waits(&client, 1).await;
    let listed = parsed(&site.run(&["confirm", "list", "--json"]));
    let id = listed["confirmations"][0]["id"].as_str().unwrap();
    let answered = site.run(&["confirm", "deny", id, "--reason", "not now", "--json"]);
    assert_eq!(parsed(&answered)["reason"], "not now");
    let denied = ended(denied);
    assert_eq!(denied.code, Some(3));
    assert!(denied.stdout.contains("not now"), "{denied:?}");
    assert!(site.has("approved.txt") && !site.has("denied.txt"));
    assert_eq!(site.run(&["confirm", "list"]).stdout, "nothing waits\n");
}

#[tokio::test]
async fn watching_shows_what_comes_and_goes_and_lets_calls_wait() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let watch = spawn(&site, &["confirm", "watch", "--json"]);
    let approver = daemon.approver().await;
    let question = loop {
        // Nobody may be watching yet: then the call is refused.
        let arguments = json!({"path": "a.txt", "content": "x"});
        let mut events =
            client.stream(crate::harness::call("create_file", arguments)).await.unwrap();
        let question = events.question().await;
        if !question.id.is_empty() {
            approver.approve(&question).await.unwrap();
            events.end().await.unwrap();
            break question;
        }
    };
    daemon.stop();
    let watched = ended(watch);
    assert_eq!(watched.code, Some(0), "{watched:?}");
    let lines: Vec<Value> =
        watched.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let states: Vec<_> = lines.iter().map(|line| line["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["pending", "approved"]);
    assert_eq!(lines[0]["id"], *question.id);
}

#[tokio::test]
async fn an_interrupted_call_is_cancelled_and_its_question_withdrawn() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let call =
        spawn(&site, &["call", "create_file", "path=a.txt", "content=x", "--wait", "--json"]);
    waits(&client, 1).await;
    kill_process(Pid::from_child(&call), Signal::INT).unwrap();
    let call = ended(call);
    assert_eq!(call.code, Some(130), "{call:?}");
    let report: Value = serde_json::from_str(&call.stdout).unwrap();
    assert_eq!(report["outcome"], "cancelled");
    waits(&client, 0).await;
    // One that nobody answers in time.
    let late = ["call", "create_file", "path=a.txt", "content=x", "--wait", "--timeout", "300ms"];
    assert_eq!(site.run(&late).code, Some(124));
    waits(&client, 0).await;
    assert!(!site.has("a.txt"));
}

#[test]
fn what_needs_a_daemon_says_that_there_is_none() {
    let site = Site::new();
    for arguments in
        [&["status"][..], &["confirm", "list"], &["confirm", "watch"], &["confirm", "approve", "x"]]
    {
        let ended = site.run(&[arguments, ["--json"].as_slice()].concat());
        assert_eq!(ended.code, Some(5), "{arguments:?}: {ended:?}");
        let error: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(error["outcome"], "unavailable");
        let ended = site.run(arguments);
        assert!(ended.stderr.contains("moss serve"), "{ended:?}");
    }
}

#[test]
fn status_and_doctor_report_what_is() {
    let site = Site::new();
    let daemon = site.serve();
    let status = parsed(&site.run(&["status", "--json"]));
    assert_eq!(status["pid"], daemon.pid());
    assert_eq!(status["workspaces"][0]["root"], site.workspace().display().to_string());
    assert_eq!(
        (&status["workspaces"][0]["tools"], &status["confirmations_pending"]),
        (&json!(TOOLS.len()), &json!(0))
    );
    assert!(site.run(&["status"]).stdout.contains(&format!("{} tools", TOOLS.len())));
    let doctor = parsed(&site.run(&["doctor", "--json"]));
    let states: Vec<_> =
        doctor["checks"].as_array().unwrap().iter().map(|check| &check["state"]).collect();
    assert!(states.iter().all(|state| **state != "fail"), "{doctor}");
    let mut checks = doctor["checks"].as_array().unwrap().iter();
    let sandbox = checks.find(|check| check["name"] == "command sandbox").unwrap();
    let is_full = sandbox["detail"].as_str().unwrap().starts_with("tier full (");
    assert!(sandbox["state"] == "ok" && is_full, "this machine isolates no commands: {sandbox}");
    daemon.stop();
    site.user_policy("version = 1\n[[rule]]\n");
    let sick = site.run(&["doctor"]);
    assert_eq!(sick.code, Some(1), "{sick:?}");
    assert!(sick.stdout.contains("policy.toml:2") && sick.stdout.contains("hint:"), "{sick:?}");
}

#[tokio::test]
async fn doctor_shows_what_a_daemon_makes_of_the_files_that_it_was_started_with() {
    let mut site = Site::new();
    let admin = site.admin_policy("version = 1\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let check = |name: &str| {
        let doctor = site.run(&["doctor", "--json"]);
        let doctor: Value = serde_json::from_str(&doctor.stdout).unwrap();
        let mut checks = doctor["checks"].as_array().unwrap().iter();
        checks.find(|check| check["name"] == name).unwrap().clone()
    };
    for name in ["policy of the daemon", "configuration of the daemon"] {
        assert_eq!(check(name)["state"], "ok", "{name}");
    }
    std::fs::write(&admin, "version = 1\n[[rule]]\n").unwrap();
    until("the file was read", async || {
        !client.load().await.workspaces[0].policy_problem.is_empty()
    })
    .await;
    let policy = check("policy of the daemon");
    assert_eq!(policy["state"], "fail", "{policy}");
    assert!(policy["detail"].as_str().unwrap().contains("admin.toml:2"), "{policy}");
    // Commands without a daemon know of no such file.
    assert_eq!(check("policy")["state"], "ok");
    daemon.stop();
}

#[test]
fn policies_are_checked_before_they_are_in_effect() {
    let site = Site::new();
    let file = site.outside("new.toml").display().to_string();
    std::fs::write(&file, "version = 1\n[[rule]]\ndecision = \"allow\"\n").unwrap();
    assert_eq!(site.run(&["policy", "check", &file]).code, Some(0));
    let ended = site.run(&["policy", "check", &file, "--layer", "workspace", "--json"]);
    assert_eq!(ended.code, Some(2));
    let checked: Value = serde_json::from_str(&ended.stdout).unwrap();
    let problem = &checked["problems"][0];
    assert_eq!((&problem["line"], &problem["file"]), (&json!(3), &json!(file)));
    site.user_policy("version = 1\n[[rule]]\ndecision = \"alow\"\n");
    let ended = site.run(&["policy", "check"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("alow") && ended.stderr.contains("policy.toml"), "{ended:?}");
}

#[test]
fn admin_policies_beside_the_usual_one_are_checked_with_the_option_of_serve() {
    let site = Site::new();
    let sound = site.outside("sound.toml").display().to_string();
    let broken = site.outside("broken.toml").display().to_string();
    let missing = site.outside("missing.toml").display().to_string();
    std::fs::write(&sound, "version = 1\n[[rule]]\ndecision = \"deny\"\n").unwrap();
    std::fs::write(&broken, "version = 1\n[[rule]]\n\ndecision = \"denied\"\n").unwrap();
    let checked = site.run(&["policy", "check", "--admin-policy", &sound]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), "in order, rules: 1\n"));
    for (file, line) in [(&broken, 4), (&missing, 1)] {
        let checked = site.run(&[
            "policy",
            "check",
            "--json",
            "--admin-policy",
            &sound,
            "--admin-policy",
            file,
        ]);
        assert_eq!(checked.code, Some(2), "{checked:?}");
        let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
        let problem = &checked["problems"][0];
        assert_eq!((&problem["file"], &problem["line"]), (&json!(file), &json!(line)));
    }
    // A file by itself is checked with --layer.
    let both = site.run(&["policy", "check", &sound, "--admin-policy", &sound]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    let site = Site::new();
    for (command, expected) in
        [(&[][..], "moss\\-call"), (&["call"], "dry\\-run"), (&["history", "undo"], "history undo")]
    {
        let ended = site.run(&[&["man"], command].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains(".TH") && ended.stdout.contains(expected), "{ended:?}");
    }
    let unknown = site.run(&["man", "history", "redo"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("undo"), "{unknown:?}");
}

#[test]
fn completions_are_printed_for_every_shell() {
    let site = Site::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = site.run(&["completions", shell]);
        assert_eq!(ended.code, Some(0), "{shell}");
        assert!(ended.stdout.contains("moss") && ended.stdout.contains("dry-run"), "{shell}");
        // Other shells complete options alone. The commands are `call`, `tools` and `policy explain`.
        for tool in TOOLS.iter().filter(|_| matches!(shell, "bash" | "zsh")) {
            let words = ended.stdout.split(|c: char| !c.is_alphanumeric() && c != '_');
            assert!(words.filter(|word| word == tool).count() >= 3, "{shell}: {tool}");
        }
    }
}

#[test]
fn doctor_names_the_components_that_are_not_there() {
    let site = Site::new();
    site.plugin_list(
        r#"{"version": 1, "plugins": [{"name": "here", "source": "here.wasm"},
            {"name": "gone", "source": "plugins/gone.wasm"}]}"#,
    );
    std::fs::write(site.outside("config/moss/here.wasm"), "").unwrap();
    let doctor = site.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{}", doctor.stdout);
    let line = doctor.stdout.lines().find(|line| line.contains("plugin list")).unwrap();
    assert!(line.starts_with("fail"), "{line}");
    assert!(
        line.contains("gone: ") && line.contains("plugins/gone.wasm") && !line.contains("here: "),
        "{line}"
    );
}

#[test]
fn doctor_finds_what_is_not_pinned_and_what_is_not_trusted() {
    let site = Site::new();
    let pin = "0".repeat(64);
    site.plugin_list(&format!(
        r#"{{"version": 1, "plugins": [{{"name": "a", "source": "a.wasm", "sha256": "{pin}"}}]}}"#
    ));
    std::fs::write(site.outside("config/moss/a.wasm"), "").unwrap();
    site.write("moss-tools.json", r#"{"version": 1, "plugins": []}"#);
    let doctor = site.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{}", doctor.stdout);
    for (state, what) in [("fail", "a: the file has the sha256 "), ("warn", "is not trusted")] {
        let line = doctor.stdout.lines().find(|line| line.contains(what)).unwrap();
        assert!(line.starts_with(state), "{line}");
    }
}

#[test]
fn a_plugin_that_does_not_match_its_pin_is_mentioned_by_what_needs_it_alone() {
    let site = Site::new();
    let pin = "0".repeat(64);
    install(&site, &[("zoo", &zoo("polite"), json!({ "sha256": &pin }))]);
    site.write("a.txt", "x\n");
    for command in [
        &["call", "read_file", "path=a.txt"][..],
        &["history", "list"],
        &["audit", "tail"],
        &["tools", "read_file"],
    ] {
        let ended = site.run(command);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command:?}");
    }
    let tools = site.run(&["tools"]);
    assert_eq!((tools.code, tools.stderr.lines().count()), (Some(0), 1), "{tools:?}");
    assert!(tools.stderr.contains("cannot be used") && tools.stderr.contains("zoo"), "{tools:?}");
    let call = site.run(&["call", "act"]);
    assert!(call.stderr.contains("there is no tool `act`"), "{call:?}");
    // It needs the plugin, so it says what is the matter with it.
    assert!(call.stderr.contains("zoo"), "{call:?}");
    assert!(call.stderr.contains("does not match the pin"), "{call:?}");
    let listed = site.run(&["plugin", "list"]);
    assert!(listed.stdout.contains("does not match the pin"), "{listed:?}");
}

#[test]
fn a_checked_policy_says_for_which_layer_it_was_taken() {
    let site = Site::new();
    let allow = "version = 1\n[[rule]]\ndecision = \"allow\"\n";
    site.write("mine.toml", allow);
    let checked = site.run(&["policy", "check", "mine.toml"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    assert!(checked.stdout.contains("(as user; --layer overrides this)"), "{}", checked.stdout);
    site.workspace_policy(allow);
    let checked = site.run(&["policy", "check", ".moss/policy.toml"]);
    assert_eq!(checked.code, Some(2), "{}", checked.stdout);
    assert!(checked.stdout.contains("as workspace"), "{}", checked.stdout);
    let named = site.run(&["policy", "check", ".moss/policy.toml", "--layer", "admin"]);
    assert_eq!((named.code, named.stdout.as_str()), (Some(0), "in order, rules: 1\n"));
}
