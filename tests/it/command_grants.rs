//! What rules grant commands: the profile *danger-full*, variables, sockets of agents, caches. Each is shown in the
//! question, bound by its digest and in the result; none goes to a text with another command.

use std::os::unix::net::UnixListener;

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::{Client, Daemon, Site, output, refusing, until, waiting};
use crate::policy::{Fate, explained, fate};

const SECRET: &str = "value-of-the-token";
const PROGRAM: &str = "python3 deploy.py";

fn command(text: &str) -> Value {
    json!({ "command": text })
}

/// A site whose program does something, under a rule with these keys, and its daemon with a secret.
fn site(program: &str, keys: &str) -> (Site, Daemon) {
    let site = Site::new();
    site.write("deploy.py", program);
    rule(&site, keys);
    let mut serve = site.serve_command();
    serve.env("DEPLOY_TOKEN", SECRET).env("OTHER_TOKEN", SECRET);
    serve.env("PROBE_SOCK", site.outside("probe.sock"));
    let daemon = Daemon::start(serve, &site.socket(), &site.state());
    (site, daemon)
}

fn rule(site: &Site, keys: &str) {
    site.user_policy(&format!(
        "version = 1\n[[rule]]\nargv = [\"python3\", \"deploy.py\"]\ndecision = \"ask\"\n{keys}\n"
    ));
}

async fn question(client: &Client, text: &str) -> v1::Confirmation {
    let mut events = client.stream(waiting("run_terminal_cmd", command(text))).await.unwrap();
    events.question().await
}

/// Lets a text run and returns what was asked and what came of it.
async fn approved(daemon: &Daemon, text: &str) -> (v1::Confirmation, Value) {
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let mut events = client.stream(waiting("run_terminal_cmd", command(text))).await.unwrap();
    let question = events.question().await;
    approver.approve(&question).await.unwrap();
    (question, output(&events.end().await.unwrap()))
}

async fn digest(client: &Client) -> String {
    let dry = v1::Call { dry_run: true, ..refusing("run_terminal_cmd", command(PROGRAM)) };
    client.call(dry).await.unwrap().digest
}

#[tokio::test]
async fn a_variable_is_given_by_name_to_the_command_that_a_rule_names() {
    let print = "import os\nprint(os.environ.get('DEPLOY_TOKEN'), os.environ.get('OTHER_TOKEN'))\n";
    let (site, daemon) = site(print, "environment = [\"DEPLOY_TOKEN\"]");
    let (asked, found) = approved(&daemon, PROGRAM).await;
    assert_eq!(asked.command.as_ref().unwrap().environment, ["DEPLOY_TOKEN"]);
    assert!(!format!("{asked:?}").contains(SECRET), "{asked:?}");
    assert_eq!(found["stdout"], format!("{SECRET} None\n"), "{found}");
    assert_eq!(found["sandbox"]["environment_granted"], json!(["DEPLOY_TOKEN"]), "{found}");
    let client = daemon.caller().await;
    for text in ["python3 deploy.py && touch x", "env; python3 deploy.py", "X=1 python3 deploy.py"]
    {
        let asked = question(&client, text).await;
        assert!(asked.command.as_ref().unwrap().environment.is_empty(), "{text}: {asked:?}");
    }
    let with = digest(&client).await;
    rule(&site, "");
    until("the digest is another without the grant", async || digest(&client).await != with).await;
}

#[tokio::test]
async fn a_variable_that_is_not_given_is_named_where_the_output_has_it_and_in_a_dry_run() {
    let (_site, daemon) = site("import os\nprint(os.environ['OTHER_TOKEN'])\n", "");
    let (_, found) = approved(&daemon, PROGRAM).await;
    assert_eq!(found["exit_code"], 1, "{found}");
    assert_eq!(found["sandbox"]["environment_removed"], json!(["OTHER_TOKEN"]), "{found}");
    let client = daemon.caller().await;
    let found = client.done("run_terminal_cmd", command("ls")).await;
    assert_eq!(found["sandbox"].get("environment_removed"), None, "{found}");
    let dry = v1::Call { dry_run: true, ..refusing("run_terminal_cmd", command("ls")) };
    let found = output(&client.call(dry).await.unwrap());
    let removed = found["sandbox"]["environment_removed"].as_array().unwrap();
    for name in ["DEPLOY_TOKEN", "OTHER_TOKEN"] {
        assert!(removed.contains(&json!(name)), "{found}");
    }
}

#[tokio::test]
async fn danger_full_is_for_the_command_that_a_rule_names_and_the_question_says_so() {
    let (site, daemon) = site("", "profile = \"danger-full\"");
    let (outside, tasks) = (site.outside("made.txt"), ".vscode/tasks.json");
    let write = format!(
        "import os\nos.makedirs('.vscode', exist_ok=True)\nopen('{tasks}', 'w').write('x')\nopen({:?}, 'w').write('x')\n",
        outside.display().to_string()
    );
    site.write("deploy.py", &write);
    let client = daemon.caller().await;
    for text in ["python3 deploy.py; touch x", "ls && python3 deploy.py"] {
        let asked = question(&client, text).await;
        assert_eq!(asked.command.as_ref().unwrap().profile, "workspace-write", "{text}");
    }
    let (asked, found) = approved(&daemon, PROGRAM).await;
    let shown = asked.command.as_ref().unwrap();
    assert_eq!((shown.profile.as_str(), shown.network), ("danger-full", false), "{asked:?}");
    assert_eq!(
        (&found["exit_code"], &found["sandbox"]["profile"]),
        (&json!(0), &json!("danger-full"))
    );
    assert!(outside.exists() && site.has(tasks), "{found}");
    let with = digest(&client).await;
    rule(&site, "");
    until("the digest is another without the grant", async || digest(&client).await != with).await;
    std::fs::remove_file(&outside).unwrap();
    let (_, found) = approved(&daemon, PROGRAM).await;
    assert_eq!(found["sandbox"]["profile"], "workspace-write", "{found}");
    assert!(!outside.exists(), "{found}");
}

/// With that profile `/tmp` is the machine's.
#[tokio::test]
async fn explanation_knows_of_temporary_files_what_the_call_does() {
    let site = Site::new();
    let rules = |profile: &str| {
        site.user_policy(&format!(
            "version = 1\n[[rule]]\neffects = [\"write\"]\ndecision = \"allow\"\n\
             [[rule]]\nargv = [\"echo\"]\ndecision = \"allow\"\n{profile}\n"
        ));
    };
    rules("profile = \"danger-full\"");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let write = command("echo x >> /tmp/moss-grants.txt");
    let own = command(&format!("echo x >> {}/a.txt", site.workspace().display()));
    let decided = async |arguments: &Value| {
        explained(&client, "run_terminal_cmd", arguments.clone()).await.decision()
    };
    assert_eq!(fate(&client, "run_terminal_cmd", write.clone()).await, Fate::Asked);
    let found = explained(&client, "run_terminal_cmd", write.clone()).await;
    assert!(format!("{found:?}").contains("unknown-file"), "{found:?}");
    assert_eq!(found.decision(), v1::Decision::Ask);
    assert_eq!(decided(&own).await, v1::Decision::Allow);
    assert_eq!(fate(&client, "run_terminal_cmd", own.clone()).await, Fate::Allowed);
    rules("");
    let is_allowed = async || decided(&write).await == v1::Decision::Allow;
    until("its own directory is as it was", is_allowed).await;
}

#[tokio::test]
async fn a_socket_is_reached_by_the_command_that_a_rule_names() {
    let connect = "import os, socket\nsocket.socket(socket.AF_UNIX).connect(os.environ['PROBE_SOCK'])\nprint('reached')\n";
    let (site, daemon) = site(connect, "sockets = [\"PROBE_SOCK\"]");
    let path = site.outside("probe.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    let (asked, found) = approved(&daemon, PROGRAM).await;
    assert_eq!(asked.command.as_ref().unwrap().sockets, ["PROBE_SOCK"], "{asked:?}");
    assert_eq!(found["stdout"], "reached\n", "{found}");
    assert_eq!(found["sandbox"]["sockets"], json!([path]), "{found}");
    let client = daemon.caller().await;
    let asked = question(&client, "python3 deploy.py; touch x").await;
    assert!(asked.command.as_ref().unwrap().sockets.is_empty(), "{asked:?}");
    let with = digest(&client).await;
    rule(&site, "");
    until("the digest is another without the grant", async || digest(&client).await != with).await;
    let (_, found) = approved(&daemon, PROGRAM).await;
    assert!(found["stderr"].as_str().unwrap().contains("KeyError"), "{found}");
}

#[tokio::test]
async fn a_cache_that_the_policy_names_is_written() {
    let site = Site::new();
    let (cache, other) = (site.outside("cache-of-a-tool"), site.outside("other"));
    for directory in [&cache, &other] {
        std::fs::create_dir(directory).unwrap();
    }
    site.user_policy(&format!(
        "version = 1\ncaches = [\"{}\"]\n[[rule]]\nargv = [\"touch\"]\ndecision = \"allow\"\n",
        cache.display()
    ));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = format!("touch {}/new {}/new", cache.display(), other.display());
    let found = client.done("run_terminal_cmd", command(&text)).await;
    assert!(cache.join("new").exists() && !other.join("new").exists(), "{found}");
}

#[tokio::test]
async fn a_named_cache_that_a_link_leads_to_or_that_holds_moss_s_own_is_left_out() {
    let site = Site::new();
    let (cache, link, target) = (site.outside("sound"), site.outside("link"), site.outside("far"));
    for directory in [&cache, &target] {
        std::fs::create_dir(directory).unwrap();
    }
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let own = site.outside("cache");
    std::fs::create_dir_all(&own).unwrap();
    let named = [&cache, &link, &own].map(|path| format!("\"{}\"", path.display())).join(", ");
    site.user_policy(&format!(
        "version = 1\ncaches = [{named}]\n[[rule]]\nargv = [\"touch\"]\ndecision = \"allow\"\n"
    ));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let names = [&cache, &link, &own].map(|path| format!("{}/new", path.display()));
    let found =
        client.done("run_terminal_cmd", command(&format!("touch {}", names.join(" ")))).await;
    assert!(cache.join("new").exists(), "{found}");
    assert!(!target.join("new").exists() && !own.join("new").exists(), "{found}");
}
