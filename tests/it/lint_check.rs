//! `lint_check` on the real binary: what is checked unasked, what asks, what a linter that fails is, what is
//! new since the last check.

use std::time::Duration;

use moss_proto::v1;
use serde_json::{Value, json};
use tonic::{Code, Request};

use crate::harness::{Client, Daemon, Site, call, failure, output, reason, refusing, waiting};
use crate::run_tests::serve_with_pytest;

/// A linter that needs nothing but a shell: it complains about each line with TODO.
const TODOS: &str =
    "[linters]\ntodos = { command = \"sh lint.sh\", format = \"gnu\", files = [\"*.py\"] }\n";
const SCRIPT: &str = "grep -n TODO src/*.py /dev/null | sed 's/^\\([^:]*:[0-9]*\\):.*/\\1:1: warning: a thing to do [todo]/'\n";
/// Lets the linter run.
const ALLOWING: &str = "version = 1\n[[rule]]\ntools = [\"lint_check\"]\nargv = [\"sh\", \"lint.sh\"]\ndecision = \"allow\"\n";

fn path(path: &str) -> Value {
    json!({ "path": path })
}

fn site() -> Site {
    let site = Site::new();
    site.config(TODOS);
    site.write("lint.sh", SCRIPT);
    site.write("src/a.py", "x = 1\n# TODO one\ny = 2\n");
    site
}

async fn lint(client: &Client, of: &str) -> Value {
    client.done("lint_check", path(of)).await
}

/// Line, whether it is new, and rule of each diagnostic.
fn found(output: &Value) -> Vec<(u64, Option<bool>, String)> {
    let all = output["diagnostics"].as_array().unwrap().iter();
    let one = |one: &Value| {
        let code = one["code"].as_str().unwrap_or_default().to_owned();
        (one["line"].as_u64().unwrap(), one.get("new").and_then(Value::as_bool), code)
    };
    all.map(one).collect()
}

#[tokio::test]
async fn syntax_is_checked_unasked_and_each_linter_asks() {
    let site = site();
    site.write("src/broken.py", "def f(:\n    pass\n");
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let broken = v1::Call { dry_run: true, ..call("lint_check", path("src/broken.py")) };
    let broken = output(&client.call(broken).await.unwrap());
    assert_eq!(
        (&broken["status"], &broken["tools"][0]["status"]),
        (&json!("findings"), &json!("not_run"))
    );
    assert_eq!(broken["diagnostics"][0]["source"], "syntax");
    let refused = client.call(refusing("lint_check", path("src/a.py"))).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert!(refused.message().contains("sh lint.sh"), "{refused:?}");
    let mut events = client.stream(waiting("lint_check", path("src/a.py"))).await.unwrap();
    let question = events.question().await;
    let asked = question.command.clone().unwrap();
    assert_eq!(
        (asked.command.as_str(), asked.directory.as_str(), asked.network),
        ("sh lint.sh", ".", false)
    );
    let offers = &question.offers;
    assert!(!offers.is_empty(), "its words are the same each time: {question:?}");
    approver.approve(&question).await.unwrap();
    let checked = output(&events.end().await.unwrap());
    assert_eq!(found(&checked), [(2, None, "todo".to_owned())], "{checked}");
    // A person who denies it does not keep the call from what is known already.
    let mut events = client.stream(waiting("lint_check", path("src/a.py"))).await.unwrap();
    let question = events.question().await;
    approver.deny(&question, "not now").await.unwrap();
    let denied = output(&events.end().await.unwrap());
    assert_eq!(
        (&denied["status"], &denied["tools"][0]["status"]),
        (&json!("incomplete"), &json!("denied"))
    );
    assert!(denied["tools"][0]["message"].as_str().unwrap().contains("not now"), "{denied}");
}

#[tokio::test]
async fn what_is_new_is_known_until_the_daemon_ends() {
    let site = site();
    site.user_policy(&format!("{ALLOWING}[[rule]]\neffects = [\"write\"]\ndecision = \"allow\"\n"));
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(found(&lint(&client, "src/a.py").await), [(2, None, "todo".to_owned())]);
    let edit = json!({"path": "src/a.py", "oldText": "x = 1\n", "newText": "a = 0\n\n\nx = 1  # TODO two\n"});
    client.done("replace_text", edit).await;
    let after = lint(&client, "src/a.py").await;
    let expected = [(4, Some(true), "todo".to_owned()), (5, Some(false), "todo".to_owned())];
    assert_eq!(found(&after), expected, "{after}");
    assert_eq!((&after["new_total"], &after["resolved_total"]), (&json!(1), &json!(0)));
    // Another session knows nothing of it.
    let other =
        v1::Call { session_id: "other".to_owned(), ..refusing("lint_check", path("src/a.py")) };
    assert_eq!(output(&client.call(other).await.unwrap())["tools"][0]["compared"], false);
    site.write("src/a.py", "x = 1\n");
    let clean = lint(&client, "src/a.py").await;
    assert_eq!(
        (&clean["status"], &clean["resolved_total"]),
        (&json!("clean"), &json!(2)),
        "{clean}"
    );
    daemon.stop();
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(lint(&client, "src/a.py").await["tools"][0]["compared"], false);
}

#[tokio::test]
async fn a_linter_that_fails_or_is_missing_is_no_finding() {
    let site = site();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (script, status, says, hint) in [
        ("echo 'it broke' >&2; exit 3\n", "failed", "it broke", "run_terminal_cmd"),
        ("exec no-such-linter\n", "not_installed", "not installed", "moss installs nothing"),
        ("exit 1\n", "failed", "it found nothing", "run_terminal_cmd"),
        ("yes 'plain text' | head -c 18000000\nexit 1\n", "failed", "16 MiB", "run_terminal_cmd"),
        ("echo 'so far' >&2; kill -SEGV $$\n", "interrupted", "so far", "it crashed"),
        ("sh -c 'kill -ABRT $$'; exit $?\n", "interrupted", "(SIGABRT)", "it crashed"),
        ("kill -KILL $$\n", "interrupted", "signal 9 (SIGKILL)", "it was killed"),
    ] {
        site.write("lint.sh", script);
        let checked = lint(&client, "src/a.py").await;
        let tool = &checked["tools"][0];
        assert_eq!(
            (&checked["status"], &tool["status"]),
            (&json!("incomplete"), &json!(status)),
            "{checked}"
        );
        assert!(tool["message"].as_str().unwrap().contains(says), "{checked}");
        assert!(tool["hint"].as_str().unwrap().contains(hint), "{checked}");
        assert_eq!(found(&checked), [], "{checked}");
    }
    // One that hangs is ended before the time of the call is over, to report.
    site.write("lint.sh", "sleep 1000\n");
    let call = v1::CallToolRequest { call: Some(refusing("lint_check", path("src/a.py"))) };
    let mut request = Request::new(call);
    request.set_timeout(Duration::from_secs(8));
    let response = client.tools().call_tool(request).await.unwrap().into_inner();
    let hung = output(&response.result.unwrap());
    let tool = &hung["tools"][0];
    let statuses = (&hung["status"], &tool["status"]);
    assert_eq!(statuses, (&json!("incomplete"), &json!("interrupted")), "{hung}");
    assert!(tool["hint"].as_str().unwrap().contains("more time"), "{hung}");
    assert!(hung["notes"].to_string().contains("was ended"), "{hung}");
}

#[tokio::test]
async fn a_linter_that_needs_a_network_has_none_and_finds_nothing() {
    let site = site();
    site.user_policy(ALLOWING);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let fetch = format!(
        "import urllib.request\ntry:\n    urllib.request.urlopen('http://127.0.0.1:{port}/rules')\n\
         except OSError:\n    urllib.request.urlopen('http://rules.example/')\n"
    );
    site.write("fetch.py", fetch);
    site.write("lint.sh", "exec python3 fetch.py\n");
    let daemon = site.serve();
    let checked = lint(&daemon.caller().await, "src/a.py").await;
    let tool = &checked["tools"][0];
    assert_eq!((&checked["status"], &tool["status"]), (&json!("incomplete"), &json!("failed")));
    assert!(tool["message"].as_str().unwrap().contains("URLError"), "{checked}");
    assert!(tool["hint"].as_str().unwrap().contains("network"), "{checked}");
    let reached = listener.accept().map(drop).map_err(|error| error.kind());
    assert_eq!(reached, Err(std::io::ErrorKind::WouldBlock));
}

#[tokio::test]
async fn fifty_thousand_findings_of_a_linter_are_counted_and_few_are_shown() {
    let site = site();
    site.user_policy(ALLOWING);
    let script = "seq -f 'src/a.py:%g:1: warning: this is too much [much]' 1 50000\nexit 1\n";
    site.write("lint.sh", script);
    let daemon = site.serve();
    let checked = lint(&daemon.caller().await, "src/a.py").await;
    assert_eq!(
        (&checked["status"], &checked["totals"]["warning"]),
        (&json!("findings"), &json!(50_000))
    );
    assert_eq!((found(&checked).len(), &checked["not_shown"]), (100, &json!(49_900)));
    assert!(checked.to_string().len() < 100_000, "{} bytes", checked.to_string().len());
    assert!(checked["tools"][0]["artifact"].is_string(), "{}", checked["tools"][0]);
}

#[tokio::test]
async fn policy_decides_about_linters_and_about_what_is_shown() {
    let site = site();
    site.write("src/secret.py", "# TODO hide\n");
    site.user_policy(&format!("{ALLOWING}[[rule]]\neffects = [\"read\"]\npaths = [\"src/secret.py\"]\ndecision = \"deny\"\n"));
    // What a linter says of a file that it cannot have read is not shown either.
    site.write("lint.sh", "echo 'src/secret.py:1:1: error: quoted secret [x]'; echo 'src/a.py:1:1: error: fine [y]'; exit 1\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let checked = lint(&client, "src").await;
    assert_eq!(found(&checked), [(1, None, "y".to_owned())], "{checked}");
    assert!(!checked.to_string().contains("quoted secret"), "{checked}");
    let refused = client.call(refusing("lint_check", path("src/secret.py"))).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{}", reason(&refused));
    drop(daemon);
    site.user_policy("version = 1\n[[rule]]\nargv = [\"sh\"]\ndecision = \"deny\"\n");
    let daemon = site.serve();
    let denied = lint(&daemon.caller().await, "src/a.py").await;
    assert_eq!(
        (&denied["status"], &denied["tools"][0]["status"]),
        (&json!("incomplete"), &json!("denied"))
    );
}

#[tokio::test]
async fn what_fails_after_a_linter_was_denied_is_not_that_denial() {
    let site = site();
    site.config(&format!("{TODOS}again = {{ command = \"sh -e lint.sh\", format = \"gnu\" }}\n"));
    site.user_policy(
        "version = 1\n[[rule]]\nargv = [\"sh\", \"-e\"]\ndecision = \"deny\"\n\
         [[rule]]\nargv = [\"sh\", \"lint.sh\"]\ndecision = \"allow\"\n",
    );
    // There is no directory of reports for the second one.
    std::fs::create_dir_all(site.outside("cache/moss")).unwrap();
    std::fs::write(site.outside("cache/moss/reports"), "").unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let failed = client.call(refusing("lint_check", path("src/a.py"))).await.unwrap();
    let error = failure(&failed);
    assert_eq!(error.code, "io", "{error:?}");
    assert!(error.message.contains("directory of reports"), "{error:?}");
}

/// A daemon whose commands find the toolchains of this machine.
fn serve_with_toolchains(site: &Site) -> Daemon {
    let mut command = site.serve_command();
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    Daemon::start(command, &site.socket(), &site.state())
}

#[tokio::test]
async fn clippy_checks_a_crate_before_and_after_its_fix() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\nargv = [\"cargo\", \"clippy\"]\ndecision = \"allow\"\n",
    );
    site.write(
        "tiny/Cargo.toml",
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lints.clippy]\nall = \"warn\"\n",
    );
    site.write(
        "tiny/src/lib.rs",
        "//! Tiny.\n\n/// Says so.\npub fn empty(v: &[u8]) -> bool {\n    v.len() == 0\n}\n",
    );
    site.write(".gitignore", "target\n");
    let daemon = serve_with_toolchains(&site);
    let client = daemon.caller().await;
    let checked = lint(&client, "tiny/src/lib.rs").await;
    assert_eq!(checked["tools"][0]["status"], "ran", "{checked}");
    let diagnostic = &checked["diagnostics"][0];
    assert_eq!(
        (&diagnostic["code"], &diagnostic["path"]),
        (&json!("clippy::len_zero"), &json!("tiny/src/lib.rs"))
    );
    assert_eq!((&diagnostic["line"], &diagnostic["column"]), (&json!(5), &json!(5)));
    let fix = &diagnostic["fixes"][0];
    assert_eq!(
        (&fix["safety"], &fix["edits"][0]["new_text"]),
        (&json!("safe"), &json!("v.is_empty()"))
    );
    site.write(
        "tiny/src/lib.rs",
        "//! Tiny.\n\n/// Says so.\npub fn empty(v: &[u8]) -> bool {\n    v.is_empty()\n}\n",
    );
    let clean = lint(&client, "tiny").await;
    assert_eq!(
        (&clean["status"], &clean["resolved_total"]),
        (&json!("clean"), &json!(1)),
        "{clean}"
    );
    site.write(
        "tiny/src/lib.rs",
        "//! Tiny.\n\n/// Says so.\npub fn empty(v: &[u8]) -> bool {\n    v\n}\n",
    );
    let broken = lint(&client, "tiny").await;
    assert_eq!(broken["diagnostics"][0]["code"], "E0308", "{broken}");
    assert_eq!(broken["diagnostics"][0]["new"], true);
}

#[tokio::test]
async fn ruff_and_mypy_find_what_they_find_also_before_an_edit() {
    let site = Site::new();
    site.config("[checks]\nbefore_edit = [\"ruff\", \"mypy\"]\nbefore_edit_ms = 60_000\n");
    site.user_policy("version = 1\n[[rule]]\ntools = [\"lint_check\"]\nargv = [[\"ruff\", \"mypy\"]]\ndecision = \"allow\"\n");
    site.write(
        "pyproject.toml",
        "[tool.ruff]\nlint.select = [\"F\"]\n[tool.mypy]\nstrict = true\n",
    );
    site.write("a.py", "import os\n\n\ndef double(number: int) -> str:\n    return number * 2\n");
    site.write("b.py", "# \u{4e2d}\u{6587}\nx: int = 1\n");
    let daemon = serve_with_pytest(&site);
    let client = daemon.caller().await;
    let checked = lint(&client, ".").await;
    let mut found = found(&checked);
    found.sort_unstable();
    let expected = [(1, None, "F401".to_owned()), (5, None, "return-value".to_owned())];
    assert_eq!(found, expected, "{checked}");
    assert_eq!(checked["sources"], json!({"mypy": 1, "ruff": 1}));
    let statuses = [&checked["tools"][0]["status"], &checked["tools"][1]["status"]];
    assert_eq!(statuses, [&json!("ran"), &json!("ran")], "{checked}");
    let other = lint(&client, "b.py").await;
    assert_eq!((&other["totals"]["error"], &other["elsewhere"]), (&json!(0), &json!(2)), "{other}");
    let edit =
        json!({"path": "b.py", "oldText": "x: int = 1", "newText": "import sys\nx: int = \"1\""});
    let dry = v1::Call { dry_run: true, ..refusing("replace_text", edit) };
    let change = client.call(dry).await.unwrap().changes.remove(0);
    let mut codes: Vec<_> =
        change.diagnostics.iter().map(|found| (found.line, found.code.as_str())).collect();
    codes.sort_unstable();
    assert_eq!(codes, [(2, "F401"), (3, "assignment")], "{change:?}");
    assert_eq!(change.unchecked, Vec::<String>::new());
}

#[tokio::test]
async fn an_edit_of_the_same_size_in_the_same_second_is_seen_by_mypy() {
    let site = Site::new();
    site.user_policy("version = 1\n[[rule]]\ntools = [\"lint_check\"]\nargv = [[\"mypy\"]]\ndecision = \"allow\"\n");
    site.write("mypy.ini", "[mypy]\nstrict = true\n");
    let daemon = serve_with_pytest(&site);
    let client = daemon.caller().await;
    // Its cache compares sizes and seconds. The first run takes longer than the others.
    for (returned, errors) in [("int", 0), ("str", 1), ("int", 0), ("str", 1), ("int", 0)] {
        site.write("a.py", format!("def f(x: int) -> {returned}:\n    return x\n"));
        let checked = lint(&client, "a.py").await;
        assert_eq!(checked["totals"]["error"], errors, "{checked}");
        assert_eq!(checked["tools"][0]["status"], "ran", "{checked}");
    }
}
