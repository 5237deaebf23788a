//! `run_terminal_cmd` on the real binary: what runs unasked, what asks and shows what, what a result says.

use moss_proto::v1;
use moss_proto::v1::stream_call_tool_response::Event;
use serde_json::{Value, json};
use tonic::Code;

use std::os::unix::fs::PermissionsExt as _;

use crate::harness::{Client, Daemon, Site, failure, output, reason, refusing, until, waiting};
use crate::policy::{Fate, explained, fate};

fn command(text: &str) -> Value {
    json!({ "command": text })
}

async fn ran(client: &Client, text: &str) -> Value {
    client.done("run_terminal_cmd", command(text)).await
}

/// Lets anything run that does not destroy.
pub(crate) const ALLOWING: &str =
    "version = 1\n[[rule]]\neffects = [\"exec\"]\ndecision = \"allow\"\n";

#[tokio::test]
async fn a_command_that_only_reads_runs_unasked_and_cannot_write() {
    let site = Site::new();
    site.write("a.txt", "one\ntwo\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = ran(&client, "cat a.txt | wc -l; ls missing").await;
    assert_eq!(found["stdout"].as_str().unwrap().trim(), "2");
    assert!(found["stderr"].as_str().unwrap().contains("missing"), "{found}");
    assert_eq!(found["exit_code"], 2, "{found}");
    assert_eq!((&found["ran"], &found["signal"]), (&json!(true), &Value::Null));
    assert_eq!(found["sandbox"]["tier"], "full", "{found}");
    assert_eq!(found["sandbox"]["profile"], "read-only");
    assert_eq!(found["sandbox"]["network"], false);
    assert_eq!(found["left_running"], json!([]));
    assert_eq!(found["truncated"], false);
    let elsewhere = client.done("run_terminal_cmd", json!({"command": "pwd", "cwd": "."})).await;
    let root = site.workspace().canonicalize().unwrap();
    assert_eq!(elsewhere["stdout"].as_str().unwrap().trim(), root.to_str().unwrap());
}

#[tokio::test]
async fn a_command_that_may_write_asks_with_every_part_of_it() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let text = "ls && env A=1 touch made.txt";
    let mut events = client.stream(waiting("run_terminal_cmd", command(text))).await.unwrap();
    let question = events.question().await;
    let asked = question.command.clone().unwrap();
    assert_eq!((asked.command.as_str(), asked.directory.as_str()), (text, "."));
    assert_eq!((asked.profile.as_str(), asked.network), ("workspace-write", false));
    let parts: Vec<_> = asked
        .parts
        .iter()
        .map(|part| (part.text.as_str(), part.asks, part.via.join(" ")))
        .collect();
    let expected = [
        ("ls", false, String::new()),
        ("env A=1 touch made.txt", false, String::new()),
        ("touch made.txt", true, "env".to_owned()),
    ];
    assert_eq!(parts, expected);
    assert!(!site.has("made.txt"));
    approver.approve(&question).await.unwrap();
    let found = output(&events.end().await.unwrap());
    assert_eq!(found["exit_code"], 0, "{found}");
    assert!(site.has("made.txt"));
    assert_eq!(found["changed"], json!([{"path": "made.txt", "what": "created"}]));
    assert!(found["notes"].to_string().contains("cannot be undone"), "{found}");
}

#[tokio::test]
async fn an_explanation_names_each_part_and_says_where_the_command_is_not_known() {
    let site = Site::new();
    site.write("Cargo.toml", "[package]\nname = \"a\"\n");
    site.write("docs/a.txt", "a\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = json!({ "command": "ls | head -1; touch b", "cwd": "docs" });
    let steps = explained(&client, "run_terminal_cmd", text).await.steps;
    let steps: Vec<_> = steps.iter().map(|s| (s.effect.as_str(), s.command_unknown)).collect();
    let parts = ["exec ls in docs", "exec head -1 in docs", "exec touch b in docs"];
    assert!(parts.iter().all(|part| steps.contains(&(part, false))), "{steps:?}");
    let shown = site.run(&["policy", "explain", "run_tests"]);
    let known = "known when it runs: `moss call run_tests --dry-run` shows it";
    assert!(shown.stdout.contains(known), "{shown:?}");
    let shown = site.run(&["policy", "explain", "run_terminal_cmd", "command=ls"]);
    assert!(!shown.stdout.contains("known when it runs"), "{shown:?}");
    daemon.stop();
}

#[tokio::test]
async fn certificates_that_packages_ship_are_read_and_removed_and_keys_are_not() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let block = |label: &str| format!("-----BEGIN {label}-----\nMIIB0zCC\n-----END {label}-----\n");
    site.write("site-packages/certifi/cacert.pem", block("CERTIFICATE"));
    site.write("node_modules/a/server.pem", block("CERTIFICATE") + &block("PRIVATE KEY"));
    site.write("ca.pem", block("CERTIFICATE"));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let read = ran(&client, "cat site-packages/certifi/cacert.pem; echo read").await;
    assert!(read["stdout"].as_str().unwrap().contains("MIIB0zCC"), "{read}");
    // One that is no package's may get a key while a job runs.
    for path in ["node_modules/a/server.pem", "ca.pem"] {
        let kept = ran(&client, &format!("cat {path}; echo end")).await;
        assert_eq!(kept["stdout"], "end\n", "{kept}");
    }
    let moved = ran(&client, "mv -n site-packages moved").await;
    assert_eq!(moved["exit_code"], 0, "{moved}");
    assert!(site.has("moved/certifi/cacert.pem"), "{moved}");
    daemon.stop();
}

#[tokio::test]
async fn packages_are_removed_whatever_they_ship_but_for_repositories_and_what_a_rule_denies() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\npaths = [\"vendor/kept/**\"]\neffects = [\"write\"]\ndecision = \"deny\"\n",
    );
    for path in [
        "node_modules/concat-map/.travis.yml",
        "node_modules/a/.github/workflows/ci.yml",
        "node_modules/a/.vscode/settings.json",
        ".venv/lib/python3/site-packages/b/.gitlab-ci.yml",
        "vendor/c/.gitmodules",
        "vendor/kept/.travis.yml",
        "target/package/d/.cargo/config.toml",
    ] {
        site.write(path, "shipped\n");
    }
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let text = "rm -rf node_modules .venv vendor/c target; rm -rf vendor/kept; ls -A";
    let mut events = client.stream(waiting("run_terminal_cmd", command(text))).await.unwrap();
    approver.approve(&events.question().await).await.unwrap();
    let found = output(&events.end().await.unwrap());
    assert_eq!(found["stdout"], "vendor\n", "{found}");
    assert!(site.has("vendor/kept/.travis.yml"), "{found}");
}

/// Bash may read such a text otherwise than moss: what only reads in it is no harmless part then.
#[tokio::test]
async fn beside_a_write_what_only_reads_asks_in_a_text_that_is_not_plain() {
    let site = Site::new();
    site.user_policy("version = 1\n[[rule]]\nargv = [\"touch\"]\ndecision = \"allow\"\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (text, expected) in [
        ("echo $(ls)", Fate::Allowed),
        ("touch a; echo b | cat", Fate::Allowed),
        ("touch a; echo $(ls)", Fate::Asked),
        ("touch a; cat <<'E'\nb\nE", Fate::Asked),
        ("touch $(echo a)", Fate::Asked),
        ("touch \"$(cat <<'EOF'\nb\nEOF\n)\"", Fate::Allowed),
        // Where rules allow all parts, bash is asked what it reads: the same.
        ("touch \"a$(touch b)\"", Fate::Allowed),
        ("f() { touch a; }; f=(1 2) touch b", Fate::Asked),
        ("if [[ -n $x ]]; then touch a; fi", Fate::Asked),
    ] {
        assert_eq!(fate(&client, "run_terminal_cmd", command(text)).await, expected, "{text}");
    }
}

#[tokio::test]
async fn what_bash_writes_down_otherwise_asks_whatever_allows_its_parts() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\nargv = [[\"touch\", \"cat\", \"cd\", \"[[\"]]\ndecision = \"allow\"\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    // Bash writes the here-document down behind `touch`.
    let otherwise = "cd . && if cat <<E; then touch a; fi\nb\nE";
    for (text, expected) in [
        ("if cat <<E; then touch a; fi\nb\nE", Fate::Allowed),
        ("cd . && if [[ -d . ]]; then touch \"a$(cat a)\"; fi", Fate::Allowed),
        ("bash -c 'if cat <<E; then touch a; fi\nb\nE'", Fate::Asked),
        (otherwise, Fate::Asked),
    ] {
        assert_eq!(fate(&client, "run_terminal_cmd", command(text)).await, expected, "{text}");
    }
    let job = json!({"action": "start", "command": otherwise});
    for (tool, arguments) in [("run_terminal_cmd", command(otherwise)), ("terminal_job", job)] {
        let explained = explained(&client, tool, arguments).await;
        assert_eq!(explained.decision(), v1::Decision::Ask, "{tool}");
        assert!(format!("{explained:?}").contains("read-otherwise"), "{tool}: {explained:?}");
    }
    let background = json!({"command": otherwise, "is_background": true});
    assert_eq!(fate(&client, "run_terminal_cmd", background).await, Fate::Asked);
}

#[tokio::test]
async fn bash_is_asked_only_about_what_would_run_unasked() {
    let site = Site::new();
    let daemon = site.serve();
    let (client, session) = (daemon.caller().await, daemon.caller().await);
    // Bash writes the here-document down behind `touch`.
    let otherwise = "cd . && if cat <<E; then touch a; fi\nb\nE";
    let rules = async |client: &Client, arguments: Value| {
        let mut events = client.stream(waiting("run_terminal_cmd", arguments)).await.unwrap();
        let asked = events.question().await.command.unwrap();
        asked.parts.iter().map(|part| part.rule.clone()).collect::<Vec<_>>().join("; ")
    };
    let by_default = rules(&client, command(otherwise)).await;
    assert!(!by_default.contains("read-otherwise"), "{by_default}");
    let shown = explained(&client, "run_terminal_cmd", command(otherwise)).await;
    assert_eq!(shown.decision(), v1::Decision::Ask);
    assert!(!format!("{shown:?}").contains("read-otherwise"), "{shown:?}");
    // Of what is left running it is asked in any case: what is written to it is decided about as well.
    let background = json!({"command": otherwise, "is_background": true});
    assert!(rules(&session, background.clone()).await.contains("read-otherwise"));
    let shown = explained(&client, "run_terminal_cmd", background).await;
    assert!(format!("{shown:?}").contains("read-otherwise"), "{shown:?}");
    site.user_policy("version = 1\n[[rule]]\nargv = [\"touch\"]\ndecision = \"deny\"\n");
    until("the rule denies it", async || {
        fate(&client, "run_terminal_cmd", command(otherwise)).await == Fate::Denied
    })
    .await;
}

#[tokio::test]
async fn texts_in_backticks_and_here_documents_are_read_by_bash_as_well() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\nargv = [[\"touch\", \"cat\", \"cd\", \"echo\"]]\ndecision = \"allow\"\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (text, expected) in [
        ("touch `cat a || echo b`", Fate::Allowed),
        ("cat <<E; touch a\n$(cat \"a\" || echo \"b\") \"c\"\nE", Fate::Allowed),
        // Bash writes the here-document down behind `touch`.
        ("touch `cd . && if cat <<E; then touch a; fi\nb\nE\n`", Fate::Asked),
    ] {
        assert_eq!(fate(&client, "run_terminal_cmd", command(text)).await, expected, "{text}");
    }
}

/// As in an environment of Python that is activated, or with `node_modules/.bin`.
#[tokio::test]
async fn a_program_of_the_workspace_is_not_the_one_that_its_name_is_known_for() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    site.write("own/bin/cat", "#!/bin/sh\necho own\n");
    let (own, cat) = (site.workspace().join("own/bin"), site.workspace().join("own/bin/cat"));
    std::fs::set_permissions(&cat, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::iter::once(own).chain(std::env::split_paths(&path));
    let mut serving = site.serve_command();
    serving.env("PATH", std::env::join_paths(path).unwrap());
    let daemon = Daemon::start(serving, &site.socket(), &site.state());
    let client = daemon.caller().await;
    for (text, expected) in [
        ("cat a.txt", Fate::Asked),
        ("ls | xargs cat", Fate::Asked),
        // Scripts find it, too.
        ("ls", Fate::Asked),
        ("echo a; [ -f a.txt ]", Fate::Allowed),
    ] {
        assert_eq!(fate(&client, "run_terminal_cmd", command(text)).await, expected, "{text}");
    }
    assert_eq!(ran(&client, "echo a").await["sandbox"]["tier"], "full");
}

#[tokio::test]
async fn a_dry_run_shows_the_digest_that_lets_it_run() {
    let site = Site::new();
    let daemon = site.serve();
    let approver = daemon.approver().await;
    let dry = v1::Call { dry_run: true, ..refusing("run_terminal_cmd", command("touch x")) };
    let shown = approver.call(dry).await.unwrap();
    assert_eq!(output(&shown)["ran"], false);
    assert!(output(&shown)["notes"].to_string().contains("asks: touch x"), "{shown:?}");
    assert!(!site.has("x") && !shown.digest.is_empty());
    let with = |digest: &str, text: &str| v1::Call {
        approved_digests: vec![digest.to_owned()],
        ..refusing("run_terminal_cmd", command(text))
    };
    let other = approver.call(with(&shown.digest, "touch y")).await.unwrap_err();
    assert_eq!(other.code(), Code::FailedPrecondition);
    assert!(!site.has("y"));
    output(&approver.call(with(&shown.digest, "touch x")).await.unwrap());
    assert!(site.has("x"));
}

#[tokio::test]
async fn what_destroys_asks_whatever_allows_it_and_confirm_allow_answers() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write("a.txt", "one\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(fate(&client, "run_terminal_cmd", command("touch b.txt")).await, Fate::Allowed);
    for text in [
        "rm a.txt",
        "ls; rm a.txt",
        "sh -c 'rm a.txt'",
        "echo x > a.txt",
        "git checkout .",
        "$(echo rm) a.txt",
    ] {
        assert_eq!(fate(&client, "run_terminal_cmd", command(text)).await, Fate::Asked, "{text}");
    }
    assert_eq!(site.read("a.txt"), "one\n");
    drop(daemon);
    let arguments = "command=rm a.txt";
    let ended = site.run(&["call", "run_terminal_cmd", arguments]);
    assert!(ended.code != Some(0) && site.has("a.txt"), "{}", ended.stderr);
    let ended = site.run(&["call", "run_terminal_cmd", arguments, "--confirm", "allow"]);
    assert!(ended.code == Some(0) && !site.has("a.txt"), "{}", ended.stderr);
}

#[tokio::test]
async fn rules_about_words_decide_and_explain() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\nname = \"touching\"\nargv = [\"touch\"]\ndecision = \"allow\"\n\
         [[rule]]\nargv = [\"curl\"]\ndecision = \"deny\"\n\
         [[rule]]\neffects = [\"write\"]\npaths = [\"kept/**\"]\ndecision = \"deny\"\n",
    );
    site.write("a.txt", "one\n");
    site.write("kept/b.txt", "one\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (text, expected) in [
        ("touch x", Fate::Allowed),
        ("ls && touch y", Fate::Allowed),
        ("touch x; mkdir z", Fate::Asked),
        ("ls; env curl x", Fate::Denied),
        // The files that the shell opens are decided about, too.
        ("touch x >> out.txt", Fate::Asked),
        ("touch x 2>> kept/out.txt", Fate::Denied),
        ("flock kept/lock touch x", Fate::Denied),
        ("touch x < a.txt", Fate::Allowed),
    ] {
        assert_eq!(fate(&client, "run_terminal_cmd", command(text)).await, expected, "{text}");
        let explained = explained(&client, "run_terminal_cmd", command(text)).await;
        let decision = match expected {
            Fate::Allowed => v1::Decision::Allow,
            Fate::Asked => v1::Decision::Ask,
            Fate::Denied => v1::Decision::Deny,
        };
        assert_eq!(explained.decision(), decision, "{text}");
    }
}

#[tokio::test]
async fn what_is_hidden_behind_something_harmless_asks() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\nargv = [[\"touch\", \"ln\", \"[\"]]\ndecision = \"allow\"\n\
         [[rule]]\neffects = [\"write\"]\npaths = [\"secrets/**\"]\ndecision = \"deny\"\n",
    );
    site.write("a.txt", "one\n");
    site.write("secrets/a", "one\n");
    site.write("src/b.txt", "one\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    for text in [
        "touch b; flock /tmp/l rm -- a.txt -c ls",
        "touch b; sh -c '[[ x || rm a.txt ]]'",
        "touch b; sh -c '[[ a > a.txt ]]'",
        "touch b; exec -a git-clean git grep -f a.txt",
        "touch b; echo rm a.txt | xargs -I x -L 1 env",
        "touch b; echo a.txt | xargs cat",
        "cd . && touch b >> secrets/n1",
        "x=secrets/n2; touch b >> $x",
        "touch b >> /opt/x",
        "env -C src touch c",
        "ln -s \"$PWD/a.txt\" /tmp/l; touch b > /tmp/l",
        "x='-v a[$(touch${IFS}c)]'; [ $x ]",
        "x=-v y='a[$(touch c)]'; [ \"$x\" \"$y\" ]",
        "cat < /dev/tcp/localhost/1",
    ] {
        assert_eq!(fate(&client, "run_terminal_cmd", command(text)).await, Fate::Asked, "{text}");
    }
    for text in ["touch b >> secrets/n1", "touch b >> ./secrets/n1", "touch b >> src/../secrets/n1"]
    {
        assert_eq!(fate(&client, "run_terminal_cmd", command(text)).await, Fate::Denied, "{text}");
    }
    let job = json!({ "action": "start", "command": "nohup touch b", "cwd": "secrets" });
    assert_eq!(fate(&client, "terminal_job", job).await, Fate::Denied, "it writes nohup.out");
    assert_eq!(site.read("a.txt"), "one\n");
    assert!(!site.has("secrets/n1") && !site.has("secrets/n2") && !site.has("src/c"));
    assert!(!site.has("c") && !site.has("secrets/nohup.out"));
    // Why it asks is in the error.
    let call = refusing("run_terminal_cmd", command("rm a.txt"));
    let refused = client.call(call).await.unwrap_err();
    assert!(refused.message().contains("removes files for good"), "{refused:?}");
}

#[tokio::test]
async fn protected_names_that_a_command_makes_are_moved_aside() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = "mkdir -p .vscode .moss d/.github/workflows node_modules/x/.vscode && touch .vscode/settings.json \
                .moss/policy.toml d/.github/workflows/a.yml node_modules/x/.vscode/a.json d/plain";
    let found = ran(&client, text).await;
    assert_eq!(found["exit_code"], 0, "{found}");
    for made in [".vscode/settings.json", ".moss/policy.toml", "d/.github/workflows/a.yml"] {
        assert!(!site.has(made), "{made}: {found}");
        assert!(found["sandbox"]["restored"].to_string().contains(made.split('/').next().unwrap()));
    }
    assert!(site.has("node_modules/x/.vscode/a.json") && site.has("d/plain"));
    assert!(found["notes"].to_string().contains("moved aside"), "{found}");
    assert_eq!(ran(&client, "ls d/plain").await["stdout"], "d/plain\n");
}

#[tokio::test]
async fn only_a_rule_opens_the_network_and_the_question_says_so() {
    let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listening.local_addr().unwrap().port();
    let text =
        format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'");
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let found = ran(&client, &text).await;
    assert_eq!(found["sandbox"]["network"], false, "{found}");
    assert!(found["stderr"].as_str().unwrap().contains("ConnectionRefusedError"), "{found}");
    site.user_policy(
        "version = 1\n[[rule]]\nargv = [\"python3\"]\ndecision = \"ask\"\nnetwork = true\n",
    );
    until("the rule is read", async || {
        fate(&client, "run_terminal_cmd", command(&text)).await == Fate::Asked
    })
    .await;
    let mut events = client.stream(waiting("run_terminal_cmd", command(&text))).await.unwrap();
    let question = events.question().await;
    assert!(question.command.as_ref().unwrap().network, "{question:?}");
    approver.approve(&question).await.unwrap();
    let found = output(&events.end().await.unwrap());
    assert_eq!(
        (&found["exit_code"], &found["sandbox"]["network"]),
        (&json!(0), &json!(true)),
        "{found}"
    );
    let both = format!("touch x && {text}");
    let mut events = client.stream(waiting("run_terminal_cmd", command(&both))).await.unwrap();
    let question = events.question().await;
    assert!(!question.command.as_ref().unwrap().network, "{question:?}");
}

#[tokio::test]
async fn what_policy_denies_reading_is_not_there() {
    let site = Site::new();
    site.user_policy("version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"hidden/**\"]\ndecision = \"deny\"\n");
    site.write(".env", "TOKEN=canary\n");
    site.write("hidden/a.txt", "canary\n");
    site.write("plain.txt", "seen\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = ran(&client, "cat plain.txt .env hidden/a.txt; grep -r canary .").await;
    assert_eq!(found["stdout"], "seen\n", "{found}");
    assert!(!found.to_string().contains("TOKEN"), "{found}");
    assert_eq!(fate(&client, "run_terminal_cmd", command("cat < .env")).await, Fate::Denied);
}

#[tokio::test]
async fn long_output_is_cut_in_the_result_and_whole_in_the_artifact() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = ran(&client, "seq 1 20000").await;
    assert_eq!(found["truncated"], true);
    let stdout = found["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("1\n2\n") && stdout.ends_with("20000\n"), "{stdout}");
    assert!(stdout.len() < 30_000 && stdout.contains("bytes left out"));
    let artifact = found["artifact"].as_str().unwrap();
    let arguments = json!({"path": artifact, "startLine": 12_345, "endLine": 12_346});
    let read = client.done("read_file", arguments.clone()).await;
    assert_eq!(read["content"], " 12345\t12345\n 12346\t12346", "{read}");
    assert_eq!(read["total_lines"], 20_000);
    let missing = json!({"path": format!("artifact:{}", "0".repeat(32))});
    let refused = client.ran("read_file", missing).await;
    assert_eq!(failure(&refused).code, "not_found");
}

#[tokio::test]
async fn output_is_shown_while_the_command_runs() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = "echo begun; while [ ! -f go ]; do sleep 0.05; done; echo ended";
    let mut events = client.stream(refusing("run_terminal_cmd", command(text))).await.unwrap();
    loop {
        if let Some(Event::Output(shown)) = events.next().await.unwrap() {
            assert_eq!((shown.stream.as_str(), shown.text.as_str()), ("stdout", "begun\n"));
            break;
        }
    }
    site.write("go", "");
    let found = output(&events.end().await.unwrap());
    assert_eq!(found["stdout"], "begun\nended\n");
}

#[tokio::test]
async fn a_call_ends_with_its_leader_and_nothing_outlives_it() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let server = "python3 -c 'import os, time\n\
                  if os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n\
                  for stream in range(3): os.close(stream)\nos.execlp(\"sleep\", \"sleep\", \"987\")'; \
                  sleep 0.05; echo ok";
    for text in [
        "sleep 987 & echo ok",
        "setsid sleep 987 & echo ok",
        "(sleep 987 &) ; echo ok",
        "nohup sleep 987 >/dev/null 2>&1 & echo ok",
        "setsid sleep 987 <&- >&- 2>&- & echo ok",
        server,
    ] {
        let found = ran(&client, text).await;
        assert_eq!((&found["exit_code"], &found["stdout"]), (&json!(0), &json!("ok\n")), "{found}");
        let left = found["left_running"].to_string();
        assert!(left.contains("sleep 987"), "{text}: {found}");
    }
    until("nothing is left", async || !is_running("sleep\u{0}987")).await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_or_out_of_time_ends_its_command() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let call = refusing("run_terminal_cmd", command("touch begun; sleep 986"));
    let events = client.stream(call).await.unwrap();
    until("it runs", async || site.has("begun")).await;
    drop(events);
    until("it ended", async || !is_running("sleep\u{0}986")).await;

    // It has time to end by itself, then it is killed: early enough for a short call to report it.
    site.write("deaf.sh", "trap 'echo asked' TERM\necho begun\nwhile :; do sleep 986; done\n");
    let call = refusing("run_terminal_cmd", command("bash deaf.sh"));
    let call = v1::CallToolRequest { call: Some(call) };
    let mut request = tonic::Request::new(call);
    request.set_timeout(std::time::Duration::from_secs(7));
    let response = client.tools().call_tool(request).await.unwrap().into_inner();
    let found = output(&response.result.unwrap());
    assert_eq!((&found["exit_code"], &found["signal"]), (&Value::Null, &json!(9)), "{found}");
    assert_eq!(found["stdout"], "begun\nasked\n", "{found}");
    assert!(found["notes"].to_string().contains("it ran for"), "{found}");
    until("nothing is left", async || !is_running("sleep\u{0}986")).await;
}

#[tokio::test]
async fn what_changed_is_listed_without_the_names_that_the_policy_hides() {
    let site = Site::new();
    let hiding = "[[rule]]\neffects = [\"read\"]\npaths = [\"private/**\"]\ndecision = \"deny\"\n";
    site.user_policy(&format!("{ALLOWING}{hiding}"));
    site.write("private/known.txt", "one\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = "touch begun; until [ -e go ]; do sleep 0.02; done; touch made.txt";
    let events = client.stream(refusing("run_terminal_cmd", command(text))).await.unwrap();
    until("it runs", async || site.has("begun")).await;
    site.write("private/known.txt", "two two\n");
    site.write("private/new.txt", "new\n");
    site.write("go", "");
    let found = output(&events.end().await.unwrap());
    let created = |path| json!({"path": path, "what": "created"});
    let expected = json!([created("begun"), created("go"), created("made.txt")]);
    assert_eq!(found["changed"], expected, "{found}");
    assert!(found["notes"].to_string().contains("2 more files changed meanwhile"), "{found}");
    assert!(!found.to_string().contains("private"), "{found}");
}

#[tokio::test]
async fn no_command_reaches_the_socket_of_moss() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert!(std::os::unix::net::UnixStream::connect(site.socket()).is_ok());
    let text = format!(
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{}\"); print(\"reached\")'",
        site.socket().display()
    );
    let found = ran(&client, &text).await;
    assert_eq!((&found["exit_code"], &found["stdout"]), (&json!(1), &json!("")), "{found}");
    assert!(found["stderr"].as_str().unwrap().contains("FileNotFoundError"), "{found}");
}

#[tokio::test]
async fn a_command_of_two_megabytes_is_refused_and_the_daemon_lives() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let long = format!("echo {}", "x ".repeat(1 << 20));
    let refused = client.ran("run_terminal_cmd", command(&long)).await;
    assert_eq!(failure(&refused).code, "invalid_arguments", "{:?}", failure(&refused).hint);
    assert_eq!(ran(&client, "echo on").await["stdout"], "on\n");
}

#[tokio::test]
async fn what_a_cancelled_command_made_under_protected_names_is_moved_aside() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write(".git/HEAD", "ref: refs/heads/main\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    // Each alone: one of git's ends its command by itself.
    for made in [".git/commondir", ".vscode/tasks.json"] {
        let text = format!("mkdir -p .vscode; touch {made} begun; sleep 985");
        let events = client.stream(refusing("run_terminal_cmd", command(&text))).await.unwrap();
        until("it runs", async || site.has("begun")).await;
        drop(events);
        until("it is moved aside", async || !site.has(made)).await;
        until("it ended", async || !is_running("sleep\u{0}985")).await;
        std::fs::remove_file(site.workspace().join("begun")).unwrap();
    }
}

#[tokio::test]
async fn what_a_command_made_with_which_the_daemon_was_killed_is_moved_aside_by_the_next() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write(".git/HEAD", "ref: refs/heads/main\n");
    site.write("kept/.vscode/tasks.json", "{}\n");
    for is_started in [true, false] {
        let daemon = site.serve();
        let client = daemon.caller().await;
        let text = "mkdir -p .vscode a/.idea; touch .vscode/tasks.json a/.idea/x begun; sleep 980";
        let call = refusing("run_terminal_cmd", command(text));
        let events = client.stream(call).await.unwrap();
        until("it runs", async || site.has("begun")).await;
        daemon.kill();
        drop((events, client));
        until("it ended", async || !is_running("sleep\u{0}980")).await;
        std::fs::remove_file(site.workspace().join("begun")).unwrap();
        if is_started {
            let _daemon = site.serve();
        } else {
            site.run(&["call", "run_terminal_cmd", "command=ls"]);
        }
        for made in [".vscode/tasks.json", "a/.idea"] {
            assert!(!site.has(made), "{made}");
        }
        assert!(site.has("kept/.vscode/tasks.json"));
    }
}

#[tokio::test]
async fn secrets_in_protected_directories_and_under_odd_names_are_not_there() {
    use std::os::unix::ffi::OsStrExt as _;
    let site = Site::new();
    site.write(".git/HEAD", "ref: refs/heads/main\n");
    let odd = [&b".devcontainer"[..], b".claude", b".git", b".github/actions", b"n\xff", b"a\nb"];
    for directory in odd {
        let directory = site.workspace().join(std::ffi::OsStr::from_bytes(directory));
        std::fs::create_dir_all(&directory).unwrap();
        for name in [".env", "id_rsa"] {
            std::fs::write(directory.join(name), "canary\n").unwrap();
        }
        std::fs::write(directory.join("plain"), "seen\n").unwrap();
    }
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = ran(&client, "grep -r -h -a -e canary -e seen .").await;
    assert_eq!(found["stdout"], "seen\n".repeat(odd.len()), "{found}");
}

#[tokio::test]
async fn what_cannot_run_says_what_to_do() {
    let site = Site::new();
    site.write("file.txt", "x\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (arguments, code, hint) in [
        (json!({"command": "ls", "cwd": "missing"}), "not_found", "cwd"),
        (json!({"command": "ls", "cwd": "file.txt"}), "not_a_directory", ""),
        (json!({"command": "ls", "cwd": ".."}), "outside_workspace", ""),
        (json!({"command": "  "}), "invalid_arguments", "git status"),
    ] {
        let refused = client.ran("run_terminal_cmd", arguments.clone()).await;
        let error = failure(&refused);
        assert_eq!(error.code, code, "{arguments}");
        assert!(error.hint.contains(hint), "{arguments}: {error:?}");
    }
    let unread = client.call(refusing("run_terminal_cmd", command("if ls"))).await.unwrap_err();
    assert_eq!(reason(&unread), "CONFIRMATION_REQUIRED");
}

#[tokio::test]
async fn a_command_that_waits_for_a_reply_is_ended_with_an_error_that_says_what_it_asked() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = "touch made.txt; echo before; echo aside >&2; python3 -c 'import pty, sys
pty.spawn([\"sh\", \"-c\", sys.argv[1]])' \"printf 'Overwrite it? [y/N] '; sleep 978\"";
    let failed = client.ran("run_terminal_cmd", command(text)).await;
    let error = failure(&failed);
    assert_eq!(error.code, "needs_input", "{error:?}");
    for part in ["asked `Overwrite it? [y/N]`", "before", "aside", "made.txt"] {
        assert!(error.message.contains(part), "{part}: {error:?}");
    }
    assert!(!error.message.contains("was stopped") && error.hint.contains("--yes"), "{error:?}");
    until("nothing is left", async || !is_running("sleep\u{0}978")).await;
}

#[tokio::test]
async fn what_only_looks_like_a_question_ends_no_command_without_a_terminal() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = ran(&client, "printf 'Rotating token: '; sleep 3; touch state").await;
    assert_eq!(found["exit_code"], 0, "{found}");
    assert_eq!(site.read("state"), "");
    let notes = found["notes"].to_string();
    assert!(notes.contains("looked like a question"), "{found}");
}

#[tokio::test]
async fn a_file_with_its_old_size_and_time_is_listed_as_changed() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write("a.txt", "one\n");
    site.write("b.txt", "two\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = "touch -r a.txt $TMPDIR/time; python3 -c 'open(\"a.txt\", \"r+\").write(\"six\")'; \
                touch -r $TMPDIR/time a.txt; touch c.txt";
    let found = ran(&client, text).await;
    assert_eq!(found["exit_code"], 0, "{found}");
    assert_eq!(site.read("a.txt"), "six\n");
    let changed =
        json!([{"path": "a.txt", "what": "modified"}, {"path": "c.txt", "what": "created"}]);
    assert_eq!(found["changed"], changed, "{found}");
}

#[tokio::test]
async fn a_file_that_is_written_as_it_was_is_not_listed_as_changed() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    for name in ["same.txt", "touched.txt", "made-executable.txt", "other.txt"] {
        site.write(name, "one\n");
    }
    let daemon = site.serve();
    let client = daemon.caller().await;
    let write = "import os, time\n\
                 while time.time() < os.stat('same.txt').st_mtime + 0.02: pass\n\
                 open('same.txt', 'w').write('one\\n')\n\
                 open('other.txt', 'w').write('six\\n')\n\
                 os.utime('touched.txt'); os.utime('made-executable.txt')\n\
                 os.chmod('made-executable.txt', 0o755)\n";
    site.write("write.py", write);
    let listed = json!([{"path": "made-executable.txt", "what": "modified"},
        {"path": "other.txt", "what": "modified"}]);
    let found = ran(&client, "python3 write.py").await;
    assert_eq!((&found["exit_code"], &found["changed"]), (&json!(0), &listed), "{found}");
    // The second time nothing is another one.
    let found = ran(&client, "python3 write.py").await;
    assert_eq!((&found["exit_code"], found.get("changed")), (&json!(0), None), "{found}");
}

/// Whether a process has words one after the other in its command line.
pub(crate) fn is_running(words: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.map(|process| std::fs::read(process.path().join("cmdline")));
    lines.flatten().any(|line| String::from_utf8_lossy(&line).contains(words))
}

#[tokio::test]
async fn what_git_wants_outside_of_the_workspace_is_named_in_the_notes() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    std::fs::create_dir(site.outside(".git")).unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let notes = async |text: &str| ran(&client, text).await["notes"].to_string();
    let around = notes("git status").await;
    assert!(around.contains("around the workspace"), "{around}");
    let git = |arguments: &[&str]| crate::listings::printed(&site, "git", arguments);
    git(&["init", "-q"]);
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    git(&[&author[..], &["commit", "-q", "--allow-empty", "-m", "first"]].concat());
    let remote = notes("git fetch ../remote").await;
    assert!(remote.contains("`../remote` lies outside of the workspace"), "{remote}");
    let worktree = notes("git worktree add ../beside").await;
    assert!(worktree.contains("/beside) outside of what commands write"), "{worktree}");
}

#[tokio::test]
async fn git_that_writes_leaves_alone_what_commands_may_not_read_and_the_result_names_it() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write(".npmrc", "token=one\n");
    site.write("a.txt", "one\n");
    let git = |arguments: &[&str]| crate::listings::printed(&site, "git", arguments);
    git(&["init", "-q"]);
    for (key, value) in [("user.name", "a"), ("user.email", "a@example.org")] {
        git(&["config", key, value]);
    }
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    site.write(".npmrc", "token=two\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    site.write("a.txt", "two\n");
    assert_eq!(ran(&client, "git add -A && git commit -q -m second").await["exit_code"], 0);
    site.write("a.txt", "three\n");
    let text = "git commit -q -a -m third && git stash && git rebase HEAD~1 && git log --format=%s";
    let found = ran(&client, text).await;
    assert!(found["stdout"].as_str().unwrap().ends_with("third\nsecond\nfirst\n"), "{found}");
    let notes = found["notes"].to_string();
    assert!(notes.contains("git left files alone") && notes.contains(".npmrc"), "{notes}");
    assert_eq!(site.read(".npmrc"), "token=two\n");
    let status = ran(&client, "git diff --stat; git ls-files -v").await;
    assert_eq!(status["stdout"], "S .npmrc\nH a.txt\n", "a copy says so: {status}");
    let own = git(&["ls-files", "-v"]);
    let own: Vec<_> = own.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    assert!(own.concat().contains("H .npmrc"), "{own:?}");
    // What a script runs is not seen before.
    site.write("step.sh", "git add -A\n");
    let found = ran(&client, "sh step.sh").await;
    assert_ne!(found["exit_code"], 0, "{found}");
    assert!(found["notes"].to_string().contains("another program ran git"), "{found}");
}
