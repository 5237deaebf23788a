//! `run_tests` on the real binary, with real frameworks: what a result says, what decides, and what is never
//! called passed.

use std::path::PathBuf;
use std::time::Duration;

use moss_proto::v1;
use moss_proto::v1::stream_call_tool_response::Event;
use serde_json::{Value, json};
use tonic::Request;

use crate::harness::{Client, Daemon, Editor, Site, failure, output, refusing, waiting};
use crate::run_terminal_cmd::ALLOWING;

const TESTS: &str = "run_tests";

/// A directory of toolchains, which a home directory of its own would hide.
pub(crate) fn toolchain(variable: &str, name: &str) -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(name);
    std::env::var_os(variable).map_or_else(home, PathBuf::from)
}

/// Starts a daemon whose commands find Rust.
fn serve_with_rust(site: &Site) -> Daemon {
    let mut command = site.serve_command();
    command.env("CARGO_HOME", toolchain("CARGO_HOME", ".cargo"));
    command.env("RUSTUP_HOME", toolchain("RUSTUP_HOME", ".rustup"));
    Daemon::start(command, &site.socket(), &site.state())
}

/// Starts a daemon whose `python3` has the packages of the client tests: pytest, ruff and mypy among them.
pub(crate) fn serve_with_pytest(site: &Site) -> Daemon {
    let python = std::env::var_os("MOSS_TEST_PYTHON").expect(crate::python::NO_PYTHON);
    let programs = PathBuf::from(python).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(programs).chain(std::env::split_paths(&path));
    let mut command = site.serve_command();
    command.env("PATH", std::env::join_paths(all).unwrap());
    Daemon::start(command, &site.socket(), &site.state())
}

/// The code and the message of a call that must fail.
async fn failed(client: &Client, arguments: Value) -> (String, String) {
    let result = client.ran(TESTS, arguments).await;
    let error = failure(&result);
    assert!(!error.hint.is_empty(), "{error:?}");
    (error.code.clone(), error.message.clone())
}

fn totals(found: &Value) -> Vec<u64> {
    ["passed", "failed", "skipped", "errored"]
        .iter()
        .map(|key| found["totals"][key].as_u64().unwrap_or_else(|| panic!("{found}")))
        .collect()
}

/// A test of the standard library of Python; `body` is what its test does.
fn unittest(body: &str) -> String {
    format!(
        "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        {body}\n"
    )
}

#[tokio::test]
async fn a_failing_test_of_cargo_is_a_result_and_its_id_runs_it_again() {
    let site = Site::new();
    site.write(
        "Cargo.toml",
        "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    site.write(".gitignore", "target\nCargo.lock\n");
    let code = "pub fn add(a: u32, b: u32) -> u32 {\n    a + b + 1\n}\n\n#[cfg(test)]\nmod tests {\n    \
        #[test]\n    fn adds() {\n        assert_eq!(super::add(1, 2), 3, \"sums\");\n    }\n\n    \
        #[test]\n    fn is_here() {}\n}\n";
    site.write("src/lib.rs", code);
    let daemon = serve_with_rust(&site);
    let (client, approver) = (daemon.caller().await, daemon.approver().await);

    let dry = v1::Call { dry_run: true, ..refusing(TESTS, json!({})) };
    let shown = output(&approver.call(dry).await.unwrap());
    assert_eq!((&shown["ran"], &shown["framework"]), (&json!(false), &json!("cargo")), "{shown}");
    let command = "cargo test --offline --no-fail-fast --color never";
    assert_eq!(shown["command"], command);
    assert!(shown["notes"].to_string().contains("asks: cargo test"), "{shown}");

    let mut events = client.stream(waiting(TESTS, json!({}))).await.unwrap();
    let question = events.question().await;
    assert_eq!(question.command.as_ref().unwrap().command, command);
    assert!(!question.offers.is_empty(), "its words are the same each time: {question:?}");
    approver.approve(&question).await.unwrap();
    let found = output(&events.end().await.unwrap());
    assert_eq!((&found["status"], totals(&found)), (&json!("failed"), vec![1, 1, 0, 0]), "{found}");
    let failure = &found["failures"][0];
    assert_eq!((&failure["id"], &failure["file"]), (&json!("tests::adds"), &json!("src/lib.rs")));
    assert_eq!((&failure["line"], &failure["expected"]), (&json!(9), &json!("3")), "{failure}");
    assert!(failure["message"].as_str().unwrap().contains("sums"), "{failure}");
    assert!(found["notes"].to_string().contains("was not run again"), "{found}");
    drop(daemon);

    site.user_policy(
        "version = 1\n[[rule]]\ntools = [\"run_tests\"]\nargv = [\"cargo\", \"test\"]\n\
         decision = \"allow\"\n[[rule]]\neffects = [\"write\"]\ndecision = \"allow\"\n",
    );
    let daemon = serve_with_rust(&site);
    let client = daemon.caller().await;
    let one = client.done(TESTS, json!({"testPattern": failure["id"]})).await;
    assert_eq!((&one["status"], totals(&one)), (&json!("failed"), vec![0, 1, 0, 0]), "{one}");
    let edit = json!({"path": "src/lib.rs", "oldText": "a + b + 1", "newText": "a + b"});
    client.done("replace_text", edit).await;
    let again = client.done(TESTS, json!({"scope": "failed"})).await;
    assert_eq!((&again["status"], totals(&again)), (&json!("passed"), vec![1, 0, 0, 0]), "{again}");
    let all = client.done(TESTS, json!({})).await;
    assert_eq!((&all["status"], totals(&all)), (&json!("passed"), vec![2, 0, 0, 0]), "{all}");

    let edit = json!({"path": "src/lib.rs", "oldText": "a + b\n", "newText": "\"no\"\n"});
    client.done("replace_text", edit).await;
    let (code, message) = failed(&client, json!({})).await;
    assert_eq!(code, "build_failed");
    assert!(message.contains("src/lib.rs:2:5: error[E0308]"), "{message}");
    let (code, _) = failed(&client, json!({"testFile": "notes.txt"})).await;
    assert_eq!(code, "not_found");
}

#[tokio::test]
async fn progress_failures_and_selectors_of_pytest() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write("app/pytest.ini", "[pytest]\n");
    let tests = "import pytest\n\n\n@pytest.mark.parametrize('name', ['a b', \"it's\", 'x[1]'])\n\
        def test_names(name):\n    print('about to fail')\n    assert name == 'a b'\n\n\n\
        def test_raises():\n    raise ValueError('no <way>')\n\n\n@pytest.mark.skip\ndef test_later():\n    pass\n";
    site.write("app/tests/test_it's a.py", tests);
    let daemon = serve_with_pytest(&site);
    let client = daemon.caller().await;
    let mut events = client.stream(refusing(TESTS, json!({}))).await.unwrap();
    let mut progress = Vec::new();
    let result = loop {
        match events.next().await.unwrap().expect("an end") {
            Event::Progress(told) => progress.push(told.message),
            Event::Result(result) => break result,
            _ => {}
        }
    };
    assert!(progress.iter().any(|told| told.contains(" of 5")), "{progress:?}");
    let found = output(&result);
    assert_eq!((&found["status"], totals(&found)), (&json!("failed"), vec![1, 3, 1, 0]), "{found}");
    let failures = found["failures"].as_array().unwrap();
    assert_eq!(failures[0]["id"], "tests/test_it's a.py::test_names[it's]");
    assert_eq!(
        (&failures[0]["file"], &failures[0]["line"]),
        (&json!("app/tests/test_it's a.py"), &json!(7))
    );
    assert_eq!(failures[0]["expected"], "'a b'");
    assert!(failures[0]["output_tail"].as_str().unwrap().contains("about to fail"), "{found}");
    for failure in failures {
        let again = json!({"path": "app", "testPattern": failure["id"]});
        let again = client.done(TESTS, again).await;
        assert_eq!(totals(&again), [0, 1, 0, 0], "{failure}: {again}");
    }
    site.write("app/tests/test_broken.py", "import missing_module\n");
    let (code, message) = failed(&client, json!({})).await;
    assert_eq!(code, "build_failed");
    assert!(message.contains("app/tests/test_broken.py:1: error"), "{message}");
}

#[tokio::test]
async fn a_program_behind_a_link_that_commands_do_not_see_is_not_said_to_be_missing() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write("pytest.ini", "[pytest]\n");
    let elsewhere = site.outside("venv");
    std::fs::create_dir_all(elsewhere.join("bin")).unwrap();
    std::fs::write(elsewhere.join("bin/pytest"), "").unwrap();
    std::os::unix::fs::symlink(&elsewhere, site.workspace().join(".venv")).unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let (code, message) = failed(&client, json!({"coverage": true})).await;
    assert_eq!(code, "not_installed");
    let says = "`.venv` is a link that leads out of the workspace";
    assert!(message.contains(says) && !message.contains("pip install"), "{message}");
}

#[tokio::test]
async fn what_node_says_is_held_against_its_exit_status() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write("package.json", r#"{"scripts": {"test": "node --test"}}"#);
    let tests = "import { test } from 'node:test';\nimport assert from 'node:assert';\n\
        test('adds (1)', () => { assert.strictEqual(1 + 2, 4); });\ntest('fine', () => {});\n";
    site.write("calc.test.mjs", tests);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = client.done(TESTS, json!({})).await;
    assert_eq!((&found["status"], totals(&found)), (&json!("failed"), vec![1, 1, 0, 0]), "{found}");
    let failure = &found["failures"][0];
    assert_eq!((&failure["id"], &failure["line"]), (&json!("adds \\(1\\)"), &json!(3)), "{found}");
    assert_eq!((&failure["expected"], &failure["actual"]), (&json!("4"), &json!("3")), "{found}");
    let one = client.done(TESTS, json!({"testPattern": failure["id"]})).await;
    assert_eq!(one["totals"]["failed"], 1, "{one}");
    // Versions of Node.js differ in whether they run what is prepared for tests that are not chosen.
    let hooks = "import { before, describe, it, test } from 'node:test';\ntest('alone', () => {});\n\
        describe('broken', () => {\n  before(() => { throw new Error('no'); });\n  it('adds', () => {});\n});\n";
    site.write("calc.test.mjs", hooks);
    let one = client.done(TESTS, json!({"testPattern": "^alone$"})).await;
    assert_eq!((&one["status"], totals(&one)), (&json!("passed"), vec![1, 0, 0, 0]), "{one}");
    site.write("calc.test.mjs", "import './missing.mjs';\n");
    assert_eq!(failed(&client, json!({})).await.0, "build_failed");
    site.write("calc.test.mjs", "");
    std::fs::remove_file(site.workspace().join("calc.test.mjs")).unwrap();
    assert_eq!(failed(&client, json!({})).await.0, "no_tests");
}

#[tokio::test]
async fn nothing_that_misbehaves_is_called_passed() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let ends = "import os, unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        os._exit(0)\n";
    let prints = "for _ in range(1 << 17): print('x' * 800)";
    let fake = "print('Ran 99 tests in 0.1s\\n\\nOK'); self.fail('no')";
    for (what, tests, expected) in [
        ("ends the program well", ends.to_owned(), "inconsistent"),
        ("does not parse", "def (\n".to_owned(), "build_failed"),
        ("has no test", "x = 1\n".to_owned(), "no_tests"),
        ("skips all", unittest("self.skipTest('later')"), "no_tests"),
    ] {
        site.write("test_a.py", tests);
        let (code, message) = failed(&client, json!({})).await;
        assert_eq!(code, expected, "{what}: {message}");
    }
    site.write("test_a.py", unittest(prints));
    let found = client.done(TESTS, json!({})).await;
    assert_eq!((&found["status"], totals(&found)), (&json!("passed"), vec![1, 0, 0, 0]), "{found}");
    assert!(found["artifact"].is_string(), "100 MiB are no part of a result: {found}");
    site.write("test_a.py", unittest(fake));
    let found = client.done(TESTS, json!({})).await;
    assert_eq!((&found["status"], totals(&found)), (&json!("failed"), vec![0, 1, 0, 0]), "{found}");
}

#[tokio::test]
async fn a_report_that_contradicts_its_framework_or_is_not_whole_is_inconsistent() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write("pytest.ini", "[pytest]\n");
    let fails = "def test_a():\n    assert False\n";
    let passes = "def test_a():\n    pass\n";
    let at_end =
        |body: &str| format!("import atexit, os\n\n\ndef pytest_configure(config):\n    {body}\n");
    let when_over = |body: &str| {
        at_end(&format!("path = config.option.xmlpath\n    atexit.register(lambda: {body})"))
    };
    let well = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n";
    let badly = "def pytest_sessionfinish(session):\n    session.exitstatus = 1\n";
    let daemon = serve_with_pytest(&site);
    let client = daemon.caller().await;
    for (what, plugin, tests) in [
        ("exits with 0 although tests fail", well.to_owned(), fails),
        ("exits with 1 although none fails", badly.to_owned(), passes),
        ("writes no report", when_over("os.remove(path)"), passes),
        ("writes half a report", when_over("os.truncate(path, 90)"), passes),
        ("writes something else", when_over("open(path, 'w').write('<html/>')"), passes),
    ] {
        site.write("conftest.py", plugin);
        site.write("test_a.py", tests);
        let (code, message) = failed(&client, json!({})).await;
        assert_eq!(code, "inconsistent", "{what}: {message}");
    }
    // What is printed is no report, whatever it looks like; names may be anything.
    site.write("conftest.py", "");
    std::fs::remove_file(site.workspace().join("test_a.py")).unwrap();
    let name = "test_new\nline \"and\" 'quotes' & <more>.py";
    let prints = "print('<testsuites><testsuite name=\"x\"><testcase name=\"a\"/></testsuite></testsuites>')";
    site.write(name, format!("def test_a():\n    {prints}\n    assert 1 == 2\n"));
    let found = client.done(TESTS, json!({})).await;
    assert_eq!((&found["status"], totals(&found)), (&json!("failed"), vec![0, 1, 0, 0]), "{found}");
    assert_eq!(found["failures"][0]["file"], name, "{found}");
    // No tool takes a path with a line break; its id runs it again.
    assert_eq!(failed(&client, json!({"testFile": name})).await.0, "invalid_path");
    let again = client.done(TESTS, json!({"scope": "failed"})).await;
    assert_eq!(totals(&again), [0, 1, 0, 0], "{again}");
}

#[tokio::test]
async fn what_tests_leave_behind_is_ended_and_listed() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let leaves = "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True); \
                  open('made.txt', 'w').close(); open('data.txt', 'a').write('more'); os.remove('old.txt')";
    site.write("test_a.py", format!("import os\n{}", unittest(leaves)));
    site.write("data.txt", "some");
    site.write("old.txt", "");
    site.write("same.txt", "");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = client.done(TESTS, json!({})).await;
    assert_eq!(found["status"], "passed", "{found}");
    assert!(found["left_running"][0]["command"].as_str().unwrap().contains("sleep"), "{found}");
    let mut changed = found["changed"].as_array().unwrap().clone();
    changed.retain(|one| !one["path"].as_str().unwrap().contains("__pycache__"));
    let expected = [("data.txt", "modified"), ("made.txt", "created"), ("old.txt", "deleted")];
    let expected = expected.map(|(path, what)| json!({"path": path, "what": what}));
    assert_eq!(changed, expected, "{found}");

    site.write("test_a.py", unittest("import time; time.sleep(1000)"));
    let call = v1::CallToolRequest { call: Some(refusing(TESTS, json!({}))) };
    let mut request = Request::new(call);
    // The command is ended a while before, to report.
    request.set_timeout(Duration::from_secs(15));
    let response = client.tools().call_tool(request).await.unwrap().into_inner();
    let result = response.result.unwrap();
    let error = failure(&result);
    assert_eq!(error.code, "timeout", "{error:?}");
    assert!(error.message.contains("was ended"), "{error:?}");
}

#[tokio::test]
async fn a_flaky_test_is_found_by_a_second_run() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let flaky = "import os\n        first = not os.path.exists('seen')\n        open('seen', 'w').close()\n        \
                 self.assertFalse(first)";
    site.write("test_a.py", unittest(flaky));
    let daemon = site.serve();
    let found = daemon.caller().await.done(TESTS, json!({})).await;
    assert_eq!(
        (&found["status"], &found["failures"][0]["flaky"]),
        (&json!("failed"), &json!(true)),
        "{found}"
    );
}

#[tokio::test]
async fn of_several_frameworks_one_runs_and_the_others_are_named() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write("Cargo.toml", "this is no manifest");
    site.write(
        "package.json",
        r#"{"devDependencies": {"jest": "30"}, "scripts": {"test": "node --test"}}"#,
    );
    site.write("go.mod", "module example.com/m\n");
    site.write("phpunit.xml", "<phpunit/>");
    site.write("test_a.py", unittest("pass"));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = client.done(TESTS, json!({"framework": "unittest"})).await;
    assert_eq!((&found["status"], totals(&found)), (&json!("passed"), vec![1, 0, 0, 0]), "{found}");
    let found = client.done(TESTS, json!({"testFile": "test_a.py"})).await;
    assert_eq!(found["framework"], "unittest", "{found}");
    let dry = v1::Call { dry_run: true, ..refusing(TESTS, json!({})) };
    let shown = output(&client.call(dry).await.unwrap());
    for name in ["unittest", "jest", "node", "go", "phpunit"] {
        assert!(shown["notes"].to_string().contains(name), "{name}: {shown}");
    }
    let (code, message) = failed(&client, json!({"framework": "jest"})).await;
    assert_eq!(code, "not_installed");
    assert!(message.contains("npm install"), "{message}");
}

#[tokio::test]
async fn the_tests_of_what_changed_are_those_that_name_it() {
    let site = Site::new();
    site.user_policy("version = 1\n[[rule]]\ndecision = \"allow\"\n");
    site.write("calc.py", "def add_numbers(a, b):\n    return a + b\n");
    site.write("other.py", "def other_thing():\n    return 1\n");
    let uses = |module: &str, call: &str| {
        format!(
            "import unittest\nfrom {module} import *\n\n\nclass A(unittest.TestCase):\n    \
                 def test_a(self):\n        self.assertTrue({call})\n"
        )
    };
    site.write("test_calc.py", uses("calc", "add_numbers(1, 2)"));
    site.write("test_other.py", uses("other", "other_thing()"));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let (code, _) = failed(&client, json!({"scope": "changed"})).await;
    assert_eq!(code, "no_tests");
    let edit = json!({"path": "calc.py", "oldText": "a + b", "newText": "b + a"});
    client.done("replace_text", edit).await;
    let found = client.done(TESTS, json!({"scope": "changed"})).await;
    assert_eq!((&found["status"], totals(&found)), (&json!("passed"), vec![1, 0, 0, 0]), "{found}");
    assert!(found["notes"].to_string().contains("test_calc.py"), "{found}");
    assert_eq!(totals(&client.done(TESTS, json!({})).await), [2, 0, 0, 0]);
    let (code, message) = failed(&client, json!({"scope": "changed"})).await;
    assert_eq!(
        (code.as_str(), message.contains("all tests of its project passed")),
        ("no_tests", true),
        "{message}"
    );
    assert_eq!(failed(&client, json!({"scope": "cursor"})).await.0, "not_found");
    assert_eq!(failed(&client, json!({"scope": "failed"})).await.0, "no_tests");
}

#[tokio::test]
async fn the_test_at_the_cursor_of_an_attached_editor_runs_alone() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write("calc.py", "def add_numbers(a, b):\n    return a + b\n");
    let tests = "import unittest\nfrom calc import *\n\n\nclass A(unittest.TestCase):\n    \
        def test_one(self):\n        self.assertEqual(add_numbers(1, 2), 4)\n\n    \
        def test_two(self):\n        self.assertTrue(True)\n";
    site.write("test_calc.py", tests);
    site.write("test_other.py", unittest("pass"));
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let mut editor = Editor::attach(&approver, "Code").await;
    let mut at = async |path: &str, line| {
        editor.hold(path, 1, None).await;
        editor.look(path, line, 8).await;
        client.done(TESTS, json!({"scope": "cursor"})).await
    };
    let one = at("test_calc.py", 6).await;
    assert_eq!((&one["status"], totals(&one)), (&json!("failed"), vec![0, 1, 0, 0]), "{one}");
    assert_eq!(one["failures"][0]["line"], 7, "{one}");
    let two = at("test_calc.py", 9).await;
    assert_eq!((&two["status"], totals(&two)), (&json!("passed"), vec![1, 0, 0, 0]), "{two}");
    // In other code: the tests that name what stands there.
    let named = at("calc.py", 1).await;
    assert_eq!(totals(&named), [1, 1, 0, 0], "{named}");
    assert!(named["notes"].to_string().contains("test_calc.py"), "{named}");
}

#[tokio::test]
async fn coverage_says_which_of_what_changed_did_not_run() {
    let site = Site::new();
    site.user_policy("version = 1\n[[rule]]\ndecision = \"allow\"\n");
    site.write("pytest.ini", "[pytest]\n");
    site.write("requirements-dev.txt", "pytest-cov\n");
    site.write(".gitignore", "__pycache__\n.pytest_cache\n.coverage\n");
    let sign = "def sign(number):\n    if number < 0:\n        return -1\n    return 1\n";
    site.write("calc.py", sign);
    site.write("test_calc.py", "import calc\n\n\ndef test_sign():\n    assert calc.sign(3) == 1\n");
    let daemon = serve_with_pytest(&site);
    let client = daemon.caller().await;
    let measured = async || {
        let found = client.done(TESTS, json!({"coverage": true})).await;
        assert_eq!(found["status"], "passed", "{found}");
        found["coverage"].clone()
    };
    let coverage = measured().await;
    let of = |coverage: &Value, path: &str| {
        let files = coverage["files"].as_array().unwrap().iter();
        files.clone().find(|file| file["path"] == path).cloned().unwrap_or_default()
    };
    let calc = of(&coverage, "calc.py");
    assert_eq!((&calc["missed"], &calc["branches_percent"]), (&json!(["3"]), &json!(50.0)));
    assert_eq!(coverage["changed"], Value::Null, "{coverage}");
    // By the history alone: since all passed.
    let edit =
        json!({"path": "calc.py", "oldText": "        return -1", "newText": "        return -2"});
    client.done("replace_text", edit).await;
    let changed = measured().await["changed"].clone();
    assert_eq!(changed["files"], json!([{"path": "calc.py", "missed": ["3"]}]), "{changed}");
    assert!(changed["since"].as_str().unwrap().contains("the history"), "{changed}");
    // By git: what is not committed, whoever wrote it.
    for words in [
        &["init", "-q"][..],
        &["add", "."],
        &["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "all"],
    ] {
        let mut git = std::process::Command::new("git");
        let ended = git.args(words).current_dir(site.workspace()).env("HOME", site.outside("home"));
        assert!(ended.status().unwrap().success(), "git {words:?}");
    }
    site.write("calc.py", sign.replace("return -1", "number = 1\n        return -1"));
    site.write("unused.py", "x = 1\n");
    let changed = measured().await["changed"].clone();
    assert_eq!(changed["files"], json!([{"path": "calc.py", "missed": ["3-4"]}]), "{changed}");
    assert_eq!(changed["unmeasured"], json!(["unused.py"]), "{changed}");
    assert!(changed["since"].as_str().unwrap().starts_with("the last commit"), "{changed}");
}

#[tokio::test]
async fn what_a_test_makes_of_the_directory_of_reports_is_gone_with_the_next_run() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let reports = site.outside("cache/moss/reports");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let closes =
        "import os, glob\n        [os.chmod(path, 0o777) for path in glob.glob('REPORTS/*')]";
    let nests = "import os, glob\n        os.chdir(glob.glob('REPORTS/*')[0])\n        \
                 for _ in range(5000): os.mkdir('d'); os.chdir('d')";
    for body in ["pass", closes, nests, "pass"] {
        let body = body.replace("REPORTS", reports.to_str().unwrap());
        site.write("test_a.py", unittest(&body));
        let found = client.done(TESTS, json!({})).await;
        assert_eq!(found["status"], "passed", "{body}: {found}");
    }
    let left = std::fs::read_dir(&reports).unwrap().count();
    assert_eq!(left, 1, "the directory of this workspace alone");
}
