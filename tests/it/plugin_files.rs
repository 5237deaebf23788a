//! What a plugin sees of the workspace: what was granted, as far as the policy lets it be read, and
//! no way out, whatever it tries. The attacker is a plugin that does what its arguments say.

use std::fs;
use std::os::unix::fs::symlink;

use moss_proto::v1::stream_call_tool_response::Event;
use serde_json::{Value, json};

use crate::harness::guests::{install, install_compiled};
use crate::harness::{Client, Site, call, failure, plugin, until, within};
use crate::plugins::settled;

/// Numbers of errors that the standard library of guests has.
const ACCESS: &[&str] = &["error 63"];
const MISSING: &[&str] = &["error 44"];
const READ_ONLY: &[&str] = &["error 69"];
const NO_DIRECTORY: &[&str] = &["error 54"];
const LOOP: &[&str] = &["error 32"];
const REFUSED: &[&str] = &["error 63", "error 44"];

fn granted(files: &Value) -> Value {
    json!({ "grant": { "fs": files }, "limits": { "timeout": "1m" } })
}

/// Puts the attacker into the user's list, with that grant.
fn attacked(site: &Site, files: &Value) {
    let probe = fs::read(plugin("file_probe")).unwrap();
    install_compiled(site, &[("file-probe", &probe, granted(files))]);
}

async fn probe(client: &Client, steps: &[String]) -> Vec<String> {
    let done = client.done("file_probe", json!({ "steps": steps })).await;
    serde_json::from_value(done["result"].clone()).unwrap()
}

/// Holds each step to what comes of it: exactly that text, or one of those errors.
async fn held(client: &Client, cases: &[(&str, &[&str])]) {
    let steps: Vec<String> = cases.iter().map(|(step, _)| (*step).to_owned()).collect();
    let told = probe(client, &steps).await;
    for ((step, expected), told) in cases.iter().zip(told) {
        assert!(expected.contains(&told.as_str()), "{step}: {told}, not one of {expected:?}");
    }
}

/// A workspace with all that an attack may aim at.
fn laid() -> Site {
    let site = Site::new();
    for (path, text) in [
        ("docs/a.md", "alpha"),
        ("docs/sub/b.md", "beta"),
        ("docs/ignored.log", "noise"),
        ("docs/.gitignore", "*.log\n"),
        ("docs/private/p.md", "private"),
        ("docs/drafts/d.md", "draft"),
        ("docs/deny/n.md", "denied"),
        ("docs/ask/q.md", "asked"),
        ("docs/.env", "SECRET=1"),
        ("docs/server.pem", "SECRET"),
        ("docs/.ssh/config", "SECRET"),
        ("docs/.git/config", "[core]"),
        ("docs/moss-tools.json", "{}"),
        ("src/main.rs", "fn main() {}"),
        ("README.md", "readme"),
        ("LICENSE", "licence"),
    ] {
        site.write(path, text);
    }
    let outside = site.outside("secret.txt");
    fs::write(&outside, "outside").unwrap();
    let root = site.workspace();
    let link = |name: &str, target: &str| symlink(target, root.join(name)).unwrap();
    link("docs/out", "../../secret.txt");
    link("docs/absolute", outside.to_str().unwrap());
    link("docs/proc", "/proc/self/environ");
    link("docs/sideways", "../src/main.rs");
    link("docs/chain", "sideways");
    link("docs/loop", "loop");
    link("docs/dangling", "nowhere");
    link("docs/inside", "sub/b.md");
    link("docs/up", "..");
    link("docs/directory", "sub");
    link("docs/env-link", ".env");
    link("docs/denied-link", "deny/n.md");
    fs::hard_link(&outside, root.join("docs/hard")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("docs/fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    site.user_policy(
        "version = 1\n\
         [[rule]]\neffects = [\"read\"]\npaths = [\"docs/deny/**\"]\ndecision = \"deny\"\n\
         [[rule]]\neffects = [\"read\"]\npaths = [\"docs/ask/**\"]\ndecision = \"ask\"\n",
    );
    let files = json!([
        { "path": "docs", "access": "read", "except": ["docs/private/**", "**/Drafts"] },
        { "path": "README.md", "access": "read" },
    ]);
    attacked(&site, &files);
    site
}

/// What was granted, by all its names, and that nothing stands beside a single file.
const GRANTED: &[(&str, &[&str])] = &[
    ("read docs/a.md", &["ok alpha"]),
    ("read ./docs//sub/./b.md", &["ok beta"]),
    ("read /docs/a.md", &["ok alpha"]),
    ("read docs/sub/../a.md", &["ok alpha"]),
    ("read docs/inside", &["ok beta"]),
    ("read docs/directory/b.md", &["ok beta"]),
    ("read docs/ignored.log", &["ok noise"]),
    ("tail docs/a.md", &["ok lpha"]),
    ("size docs/a.md", &["ok 5"]),
    ("kind docs/inside", &["ok link"]),
    ("kind docs", &["ok directory"]),
    ("target docs/inside", &["ok sub/b.md"]),
    // A single file: nothing stands beside it.
    ("read README.md", &["ok readme"]),
    ("list .", &["ok README.md docs"]),
    ("read LICENSE", MISSING),
    ("size LICENSE", MISSING),
    ("read src/main.rs", MISSING),
    ("list src", MISSING),
    ("read README.md/x", NO_DIRECTORY),
    ("read README.md/", NO_DIRECTORY),
    ("read docs/a.md/", NO_DIRECTORY),
    ("read readme.md", MISSING),
    ("read Docs/a.md", MISSING),
];

/// Names that lead, or seem to lead, out of what was granted.
const WAYS_OUT: &[(&str, &[&str])] = &[
    ("read ../secret.txt", ACCESS),
    ("read docs/../../secret.txt", ACCESS),
    ("read docs/../LICENSE", MISSING),
    ("read docs/up/LICENSE", REFUSED),
    ("read docs/up/../LICENSE", REFUSED),
    ("list docs/up", &["ok README.md docs", "error 63"]),
    ("read docs/directory/../a.md", ACCESS),
    ("read /etc/passwd", MISSING),
    ("read //etc/passwd", MISSING),
    ("read /proc/self/environ", MISSING),
    ("read docs/out", ACCESS),
    ("read docs/absolute", ACCESS),
    ("read docs/proc", ACCESS),
    ("target docs/absolute", ACCESS),
    ("size docs/out", ACCESS),
    ("read docs/sideways", ACCESS),
    ("read docs/chain", ACCESS),
    ("read docs/loop", LOOP),
    ("read docs/dangling", MISSING),
    ("read docs/fifo", ACCESS),
    ("kind docs/fifo", ACCESS),
    ("read docs/a.md\u{7}", &["error 28"]),
    ("read docs/..\\..\\secret.txt", MISSING),
];

/// What is left out, protected, denied or would be asked about.
const WITHHELD: &[(&str, &[&str])] = &[
    ("list docs/private", &["ok"]),
    ("read docs/private/p.md", MISSING),
    ("read docs/drafts/d.md", MISSING),
    ("read docs/.env", ACCESS),
    ("size docs/.env", ACCESS),
    ("read docs/env-link", ACCESS),
    ("read docs/server.pem", ACCESS),
    // Its other name was not granted.
    ("read docs/hard", ACCESS),
    ("size docs/hard", ACCESS),
    ("read docs/.ssh/config", ACCESS),
    ("list docs/.ssh", ACCESS),
    ("read docs/.git/config", ACCESS),
    ("list docs/.git", ACCESS),
    ("read docs/moss-tools.json", ACCESS),
    ("read docs/deny/n.md", ACCESS),
    ("size docs/deny/n.md", ACCESS),
    ("read docs/denied-link", ACCESS),
    ("list docs/deny", &["ok"]),
    ("read docs/ask/q.md", ACCESS),
    ("list docs/ask", &["ok"]),
    (
        "list docs",
        &["ok .gitignore a.md absolute ask chain dangling denied-link deny directory \
           env-link ignored.log inside loop out private proc sideways sub up"],
    ),
];

#[tokio::test]
async fn a_plugin_sees_what_was_granted_and_finds_no_way_out() {
    let site = laid();
    let before = site.snapshot();
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    for cases in [GRANTED, WAYS_OUT, WITHHELD] {
        held(&client, cases).await;
    }
    drop(client);
    daemon.stop();
    assert_eq!(site.snapshot(), before);
}

#[tokio::test]
async fn a_plugin_changes_nothing_by_itself() {
    let site = laid();
    let before = site.snapshot();
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    let steps = [
        "write docs/a.md",
        "write docs/new.md",
        "append docs/a.md",
        "update docs/a.md",
        "create docs/new.md",
        "truncate docs/a.md",
        "shrink docs/a.md",
        "touch docs/a.md",
        "mkdir docs/new",
        "unlink docs/a.md",
        "rmdir docs/sub",
        "rename docs/a.md to docs/b.md",
        "rename docs/a.md to ../b.md",
        "hardlink docs/a.md to docs/b.md",
        "hardlink docs/out to docs/b.md",
        "write ../escaped",
        "create LICENSE2",
    ];
    let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
    for (step, told) in steps.iter().zip(probe(&client, &steps).await) {
        assert!(READ_ONLY.contains(&told.as_str()), "{step}: {told}");
    }
    drop(client);
    daemon.stop();
    assert_eq!(site.snapshot(), before);
}

#[tokio::test]
async fn a_name_that_is_protected_is_read_where_the_grant_names_it() {
    let site = laid();
    attacked(&site, &json!([{ "path": "docs/.git", "access": "read" }]));
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    held(
        &client,
        &[
            ("read docs/.git/config", &["ok [core]"]),
            ("list docs", &["ok .git"]),
            ("list .", &["ok docs"]),
            ("read docs/a.md", MISSING),
        ],
    )
    .await;
}

#[tokio::test]
async fn too_many_open_files_end_the_call_and_a_huge_directory_does_not() {
    let site = laid();
    for number in 0..20_000 {
        site.write(&format!("docs/huge/{number}"), "");
    }
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    held(&client, &[("count docs/huge", &["ok 20000"])]).await;
    let result = client.ran("file_probe", json!({ "steps": ["hold docs/a.md"] })).await;
    let error = failure(&result);
    assert_eq!(error.code, "limit_exceeded", "{error:?}");
    assert!(error.message.contains("more than 128 files open"), "{}", error.message);
    held(&client, &[("read docs/a.md", &["ok alpha"])]).await;
}

/// Starts a call and waits until the plugin says that it waits.
async fn waiting(client: &Client, steps: Value) -> crate::harness::Events {
    let mut events = client.stream(call("file_probe", json!({ "steps": steps }))).await.unwrap();
    within("the plugin waits", async {
        loop {
            match events.next().await.unwrap().unwrap() {
                Event::Progress(progress) if progress.message == "waiting" => break,
                _ => {}
            }
        }
    })
    .await;
    events
}

fn told(result: &moss_proto::v1::CallResult) -> Vec<String> {
    serde_json::from_value(crate::harness::output(result)["result"].clone()).unwrap()
}

#[tokio::test]
async fn an_open_file_stays_the_one_that_was_opened() {
    let site = Site::new();
    attacked(&site, &json!([{ "path": ".", "access": "read" }]));
    for size in [10, 1 << 20] {
        site.write("big.txt", "o".repeat(size));
        let _ = fs::remove_file(site.workspace().join("go"));
        let daemon = site.serve();
        let client = daemon.caller().await;
        settled(&client).await;
        let events = waiting(&client, json!(["replaced big.txt"])).await;
        site.write("new.txt", "n".repeat(size));
        fs::rename(site.workspace().join("new.txt"), site.workspace().join("big.txt")).unwrap();
        site.write("go", "");
        assert_eq!(told(&events.end().await.unwrap()), ["ok oooo…oooo"]);
        drop(client);
        daemon.stop();
    }
}

#[tokio::test]
async fn a_policy_that_changes_applies_to_a_running_call() {
    let site = Site::new();
    site.write("docs/a.md", "alpha");
    attacked(&site, &json!([{ "path": ".", "access": "read" }]));
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    let steps = json!(["read docs/a.md", "wait go", "read docs/a.md", "list docs"]);
    let events = waiting(&client, steps).await;
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"docs/**\"]\ndecision = \"deny\"\n",
    );
    until("the policy holds", async || {
        let answer = client.call(call("read_file", json!({ "path": "docs/a.md" }))).await;
        answer.is_err()
    })
    .await;
    site.write("go", "");
    let told = told(&events.end().await.unwrap());
    assert_eq!(told, ["ok alpha", "ok", "error 63", "ok"]);
}

#[tokio::test]
async fn what_is_taken_away_is_taken_from_running_calls() {
    let site = Site::new();
    site.write("docs/a.md", "alpha");
    attacked(&site, &json!([{ "path": ".", "access": "read" }]));
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    // More than it had, then something else: a call that has what it had continues.
    let kept = waiting(&client, json!(["wait go", "read docs/a.md"])).await;
    let wider = json!([{ "path": ".", "access": "read" }, { "path": "docs", "access": "read" }]);
    attacked(&site, &wider);
    let readable = async |paths: &[&str]| {
        until("the list holds", async || client.plugin_list().await[0].readable_paths == paths)
            .await;
    };
    site.write("go", "");
    assert_eq!(told(&kept.end().await.unwrap()), ["ok", "ok alpha"]);

    fs::remove_file(site.workspace().join("go")).unwrap();
    let lost = waiting(&client, json!(["wait go"])).await;
    attacked(&site, &json!([{ "path": "docs", "access": "read" }]));
    let result = within("the call is stopped", lost.end()).await.unwrap();
    let error = failure(&result);
    assert_eq!(error.code, "denied", "{error:?}");
    assert!(error.message.contains("was revoked: read the workspace"), "{}", error.message);
    readable(&["docs"]).await;
    held(&client, &[("read docs/a.md", &["ok alpha"])]).await;

    // No list names it any more.
    let gone = waiting(&client, json!(["wait docs/go"])).await;
    install(&site, &[]);
    let result = within("the call is stopped", gone.end()).await.unwrap();
    let message = &failure(&result).message;
    assert!(message.contains("removed from its list"), "{message}");
}
