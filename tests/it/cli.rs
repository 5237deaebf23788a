//! `moss call` from a shell: exit codes, the JSON object, dry runs and `--confirm`, and that a
//! daemon makes no difference.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::guests::{install, zoo};
use crate::harness::{Daemon, Ended, Site};

/// Reads what a command printed as JSON.
fn parsed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Takes out what differs from call to call.
fn without_ids(mut report: Value) -> Value {
    if let Some(id) = report.get_mut("call_id").filter(|id| id.is_string()) {
        *id = json!("an id");
    }
    report
}

/// A machine on which calls can end in every way.
fn site() -> Site {
    let site = Site::new();
    site.user_policy(
        "version = 1\n\
         [[rule]]\nname = \"no\"\neffects = [\"write\"]\npaths = [\"denied/**\"]\ndecision = \"deny\"\n\
         [[rule]]\npaths = [\".env\"]\nprotected = true\ndecision = \"ask\"\n\
         [[rule]]\neffects = [\"write\"]\npaths = [\"free/**\"]\ndecision = \"allow\"\n",
    );
    site.write("a.txt", "one\ntwo\n");
    site.write(".env", "A=1\n");
    install(&site, &[("zoo", &zoo("spin"), json!({ "limits": { "timeout": "10m" } }))]);
    site
}

/// Arguments of `moss`, the exit code, the outcome and the code of the error.
type Case = (&'static [&'static str], i32, &'static str, &'static str);

const CASES: &[Case] = &[
    (&["call", "read_file", "path=a.txt"], 0, "ok", ""),
    (&["call", "create_file", "path=free/x.txt", "content=x", "--dry-run"], 0, "ok", ""),
    (&["call", "create_file", "path=b.txt", "content=x", "--dry-run"], 0, "ok", ""),
    (&["call", "read_file", "path=missing"], 1, "failed", "not_found"),
    (&["call", "read_file", "path=../x"], 1, "failed", "outside_workspace"),
    (&["call", "replace_text", "path=a.txt", "oldText=x1", "newText=y"], 1, "failed", "no_match"),
    (&["call", "reed_file"], 2, "invalid", "tool_unknown"),
    (&["call", "read_file"], 2, "invalid", "arguments_invalid"),
    (&["call", "read_file", "path=a.txt", "startLine=0"], 2, "invalid", "arguments_invalid"),
    (
        &["call", "read_file", "path=a.txt", "startLine=2", "endLine=1"],
        2,
        "invalid",
        "invalid_arguments",
    ),
    (&["call", "read_file", "--args", "[1]"], 2, "invalid", "arguments_invalid"),
    (&["call", "create_file", "path=denied/x", "content=x"], 3, "denied", "denied_by_policy"),
    (
        &["call", "create_file", "path=denied/x", "content=x", "--confirm", "allow"],
        3,
        "denied",
        "denied_by_policy",
    ),
    (
        &["call", "create_file", "path=.git/x", "content=x", "--confirm", "allow"],
        3,
        "denied",
        "denied_by_policy",
    ),
    (
        &["call", "create_file", "path=b.txt", "content=x", "--confirm", "deny"],
        3,
        "denied",
        "denied_by_person",
    ),
    (
        &["call", "create_file", "path=b.txt", "content=x"],
        4,
        "unconfirmed",
        "confirmation_required",
    ),
    (
        &["call", "read_file", "path=.env", "--confirm", "allow"],
        4,
        "unconfirmed",
        "confirmation_required",
    ),
    (&["call", "act", "--timeout", "300ms"], 124, "timeout", "call_timeout"),
];

/// Runs every case, and returns the objects without what differs from call to call.
fn run_cases(site: &Site) -> Vec<Value> {
    let mut reports = Vec::new();
    for (arguments, code, outcome, error_code) in CASES {
        let ended = site.run(&[arguments, ["--json"].as_slice()].concat());
        assert_eq!(ended.code, Some(*code), "{arguments:?}: {ended:?}");
        let report = parsed(&ended);
        let keys: Vec<_> = report.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = ["call_id", "tool", "outcome", "output", "error", "changes", "digest"];
        let committed = report["changes"].as_array().unwrap();
        let committed = committed.iter().any(|change| change["status"] == "committed");
        let expected = expected.into_iter().chain(committed.then_some("history"));
        assert_eq!(keys, expected.collect::<Vec<_>>(), "{arguments:?}");
        assert_eq!(report["outcome"], *outcome, "{arguments:?}: {report}");
        assert_eq!(report["tool"], arguments[1]);
        match *error_code {
            "" => assert_eq!(report["error"], Value::Null, "{arguments:?}"),
            code => {
                assert_eq!(report["error"]["code"], code, "{arguments:?}: {report}");
                assert!(report["error"]["message"].as_str().is_some_and(|text| !text.is_empty()));
            }
        }
        let mut report = without_ids(report);
        // How much was left of its deadline differs from run to run.
        if *error_code == "call_timeout" {
            let message = report["error"]["message"].as_str().unwrap_or_default();
            report["error"]["message"] = message.replace(|c: char| c.is_ascii_digit(), "").into();
        }
        reports.push(report);
    }
    reports
}

#[test]
fn calls_end_with_the_codes_of_the_table_with_and_without_a_daemon() {
    let site = site();
    let before = site.snapshot();
    let alone = run_cases(&site);
    let daemon = site.serve();
    wait_for_plugin(&site);
    let served = run_cases(&site);
    for ((alone, served), (arguments, ..)) in alone.iter().zip(&served).zip(CASES) {
        assert_eq!(alone, served, "{arguments:?}");
    }
    assert_eq!(site.snapshot(), before);
    daemon.stop();
}

fn wait_for_plugin(site: &Site) {
    for _ in 0..1000 {
        let listed = parsed(&site.run(&["plugin", "list", "--json"]));
        if listed["plugins"][0]["state"] == "ready" {
            return;
        }
    }
    panic!("the plugin is not ready");
}

#[test]
fn hint_of_a_denial_is_the_command_that_explains_this_call() {
    let site = site();
    let directory = site.workspace().display().to_string();
    let call = ["create_file", "path=denied/a b", "content=x", "--workspace", &directory];
    let denied = site.run(&[["call"].as_slice(), &call].concat());
    assert_eq!(denied.code, Some(3), "{denied:?}");
    let command = "moss policy explain create_file path='denied/a b' content=…";
    let hint = format!("hint: see the rules with `{command} --workspace {directory}`\n");
    assert!(denied.stderr.ends_with(&hint), "{denied:?}");
    let explained = site.run(&[["policy", "explain"].as_slice(), &call].concat());
    assert!(explained.stdout.contains("together: deny"), "{explained:?}");
}

#[test]
fn usage_is_an_error_of_its_own() {
    let site = Site::new();
    for arguments in [
        &["call"][..],
        &["cal", "read_file"],
        &["call", "read_file", "--dryrun"],
        &["call", "read_file", "path=a", "--args", "{}"],
        &["call", "read_file", "path"],
        &["call", "read_file", "path=a", "path=b"],
        &["call", "read_file", "path=a", "startLine=x"],
        &["call", "read_file", "path=a", "--timeout", "soon"],
        &["call", "read_file", "path=a", "--expect", "a.txt"],
        &["call", "read_file", "path=a", "--confirm", "yes"],
        &["tools", "--workspace", "missing"],
        &[],
    ] {
        let ended = site.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {ended:?}");
        assert_eq!(ended.stdout, "", "{arguments:?}");
        assert!(!ended.stderr.is_empty(), "{arguments:?}");
        let as_json = site.run(&[arguments, ["--json"].as_slice()].concat());
        assert_eq!(as_json.code, Some(2), "{arguments:?}: {as_json:?}");
        assert_eq!(parsed(&as_json)["outcome"], "invalid", "{arguments:?}");
    }
    for arguments in [["--help"], ["--version"]] {
        let ended = site.run(&arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        assert!(ended.stdout.contains("moss"));
    }
}

#[test]
fn violations_come_in_parts() {
    let site = Site::new();
    let ended = site.run(&["call", "list_directory", "path=.", "sortBy=nmae", "--json"]);
    let violations = parsed(&ended)["error"]["violations"].clone();
    assert_eq!(violations[0]["pointer"], "/sortBy");
    assert_eq!(violations[0]["suggestion"], "name");
    let keys: Vec<_> = violations[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["pointer", "expected", "got", "suggestion"]);
    let ended = site.run(&["call", "list_directory", "path=.", "sortBy=nmae"]);
    assert!(ended.stderr.contains("/sortBy") && ended.stderr.contains("name"), "{ended:?}");
}

/// Runs the way from a dry run over its digest to the change.
fn approve_by_digest(site: &Site) {
    let edit = ["call", "replace_text", "path=a.txt", "oldText=one", "newText=1"];
    let shown = site.run(&[&edit[..], &["--dry-run", "--json"]].concat());
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let shown = parsed(&shown);
    assert_eq!(shown["changes"][0]["status"], "proposed");
    assert!(shown["changes"][0]["diff"].as_str().unwrap().contains("-one\n+1\n"));
    let digest = shown["digest"].as_str().unwrap().to_owned();
    assert_eq!(site.read("a.txt"), "one\ntwo\n");

    let wrong = "0".repeat(64);
    let refused = site.run(&[&edit[..], &["--confirm", &wrong, "--json"]].concat());
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert_eq!(parsed(&refused)["digest"], *digest);
    assert_eq!(parsed(&refused)["changes"][0]["status"], "unconfirmed");
    // The digest is that of an effect: on another file it is another one.
    site.write("a.txt", "one\nand more\n");
    assert_eq!(site.run(&[&edit[..], &["--confirm", &digest]].concat()).code, Some(4));
    site.write("a.txt", "one\ntwo\n");
    let done = site.run(&[&edit[..], &["--confirm", &digest, "--json"]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(parsed(&done)["changes"][0]["status"], "committed");
    assert_eq!(site.read("a.txt"), "1\ntwo\n");
}

#[test]
fn a_digest_approves_exactly_its_effect() {
    let site = Site::new();
    site.write("a.txt", "one\ntwo\n");
    approve_by_digest(&site);
    let site = Site::new();
    site.write("a.txt", "one\ntwo\n");
    let _daemon: Daemon = site.serve();
    approve_by_digest(&site);
}

#[test]
fn a_blanket_yes_covers_ordinary_questions() {
    let site = site();
    let done = site.run(&["call", "create_file", "path=b.txt", "content=x", "--confirm", "allow"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(site.read("b.txt"), "x");
    let edit = ["call", "create_file", "path=.env", "content=x", "overwrite=true"];
    let protected = site.run(&[&edit[..], &["--confirm", "allow"]].concat());
    assert_eq!(protected.code, Some(4), "{protected:?}");
    assert_eq!(site.read(".env"), "A=1\n");
}

#[test]
fn arguments_come_as_pairs_as_json_and_on_standard_input() {
    let site = Site::allowing();
    site.write("a.txt", "1\n2\n3\n");
    let pairs =
        site.run(&["call", "read_file", "path=a.txt", "startLine=2", "endLine:=2", "--json"]);
    let as_json = r#"{"path":"a.txt","startLine":2,"endLine":2}"#;
    let whole = site.run(&["call", "read_file", "--args", as_json, "--json"]);
    let mut command = site.command(["call", "read_file", "--args", "-", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(as_json.as_bytes()).unwrap();
    let piped = child.wait_with_output().unwrap();
    assert_eq!(piped.status.code(), Some(0));
    let piped: Value = serde_json::from_slice(&piped.stdout).unwrap();
    for report in [parsed(&pairs), parsed(&whole), piped] {
        assert_eq!(report["output"]["content"], "     2\t2", "{report}");
    }
    // Text stays text, whatever it looks like.
    for (text, pair) in
        [("5", "content=5"), ("a=b", "content=a=b"), ("", "content="), ("[1]", "content=[1]")]
    {
        let ended = site.run(&["call", "create_file", "path=t.txt", pair, "overwrite=true"]);
        assert_eq!(ended.code, Some(0), "{pair}: {ended:?}");
        assert_eq!(site.read("t.txt"), text, "{pair}");
    }
}

#[test]
fn a_session_and_expected_hashes_are_passed_on() {
    let site = Site::allowing();
    site.write("a.txt", "1\n2\n");
    let _daemon = site.serve();
    let read = parsed(&site.run(&["call", "read_file", "path=a.txt", "--session", "s", "--json"]));
    let hash = format!("a.txt={}", read["output"]["hash"].as_str().unwrap());
    site.write("a.txt", "0\n1\n2\n");
    let edit = ["call", "delete_lines", "path=a.txt", "startLine=1", "endLine=1", "--json"];
    for more in [["--session", "s"], ["--expect", &hash]] {
        let stale = site.run(&[&edit[..], &more].concat());
        assert_eq!((stale.code, &parsed(&stale)["error"]["code"]), (Some(1), &json!("conflict")));
    }
    assert_eq!(site.read("a.txt"), "0\n1\n2\n");
}

#[test]
fn standard_output_is_the_result_and_nothing_else() {
    let site = Site::allowing();
    site.write("a.txt", "one\n");
    let read = site.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(parsed(&read)["content"], "     1\tone");
    assert_eq!(read.stderr, "");
    let edit = site.run(&["call", "replace_text", "path=a.txt", "oldText=one", "newText=1"]);
    assert_eq!(parsed(&edit)["applied"], true);
    assert!(edit.stderr.contains("modified a.txt (+1 -1)"), "{edit:?}");
    let failed = site.run(&["call", "read_file", "path=missing"]);
    assert_eq!(failed.stdout, "");
    assert!(failed.stderr.starts_with("error: missing does not exist"), "{failed:?}");
    assert!(failed.stderr.contains("hint:"), "{failed:?}");
    for ended in [read, edit, failed] {
        assert!(!format!("{ended:?}").contains("\\u{1b}"), "colours without a terminal: {ended:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let site = Site::new();
    let mut command = site.command(["tools", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}
