//! What is run for which arguments, and what is made of what it leaves behind: on a host that runs nothing.

use moss_sdk::command::{
    CheckReport, CheckReportFile, CommandReport, CommandRequest, ReportedSandbox,
};
use moss_sdk::editor::{EditorState, Focus, OpenFile, Position, Span};
use moss_sdk::history::{
    PastAction, PastChange, PastDiff, PastFile, Recalled, RecalledContent, RecalledFile,
};
use moss_sdk::testing::MemoryHost;
use moss_sdk::{ErrorCode, RelPath};
use serde_json::{Value, json};

use crate::check::call;

const CARGO: &str = "[package]\nname = \"a\"\n";

fn host() -> MemoryHost {
    MemoryHost::new([
        ("Cargo.toml", CARGO),
        ("src/lib.rs", "fn a() {}\n"),
        ("src/deep/part.rs", "fn b() {}\n"),
        ("tests/api.rs", "#[test]\nfn api() {}\n"),
        ("py/pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("py/tests/test_a.py", "def test_a(): pass\n"),
        ("web/package.json", "{\"devDependencies\": {\"jest\": \"30\"}}"),
        ("web/src/it's a.test.ts", "test('a', () => {})\n"),
        ("notes.txt", ""),
    ])
}

fn report(exit_code: i32, stdout: &str, stderr: &str, files: &[(&str, &str)]) -> CheckReport {
    let file = |(name, text): &(&str, &str)| CheckReportFile {
        name: (*name).to_owned(),
        text: (*text).to_owned(),
    };
    CheckReport {
        command: CommandReport {
            ran: true,
            job: None,
            exit_code: Some(exit_code),
            signal: None,
            duration_ms: 12,
            stdout: String::new(),
            stderr: String::new(),
            truncated: false,
            artifact: None,
            left_running: Vec::new(),
            sandbox: ReportedSandbox {
                tier: "full".to_owned(),
                profile: "workspace-write".to_owned(),
                ..ReportedSandbox::default()
            },
            changed: Vec::new(),
            notes: Vec::new(),
        },
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
        files: files.iter().map(file).collect(),
        left_out: None,
        is_cut: false,
        root: "/work".to_owned(),
    }
}

/// The command and the directory of a call, as the host was asked to run it.
fn ran(arguments: Value) -> (String, String) {
    let host = host();
    host.answer_checks([report(
        0,
        "running 1 test\ntest a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n",
        "",
        &[],
    )]);
    // What other frameworks write is missing here: only the command counts.
    let _ = call(&host, "run_tests", arguments);
    let commands = host.commands();
    let [CommandRequest { command, directory, is_background: false, .. }] = commands.as_slice()
    else {
        panic!("{commands:?}");
    };
    (command.clone(), directory.to_string())
}

#[test]
fn the_nearest_project_runs_its_own_framework() {
    let cargo = "cargo test --offline --no-fail-fast --color never";
    for (arguments, command, directory) in [
        (json!({}), cargo.to_owned(), "."),
        (json!({"testFile": "tests/api.rs"}), format!("{cargo} --test api"), "."),
        (json!({"testFile": "src/deep/part.rs"}), format!("{cargo} -- deep::part::"), "."),
        (json!({"testPattern": "a b"}), format!("{cargo} -- 'a b'"), "."),
        (
            json!({"testFile": "py/tests/test_a.py", "testPattern": "a or b"}),
            "python3 -m pytest -v --color=no -o console_output_style=classic -o junit_family=xunit1 \
             -o junit_logging=all -o junit_log_passing_tests=false --junitxml=/reports/pytest.xml \
             -k 'a or b' tests/test_a.py"
                .to_owned(),
            "py",
        ),
        (
            json!({"testFile": "web/src/it's a.test.ts"}),
            "jest --ci --json --testLocationInResults --outputFile=/reports/jest.json \
             --runTestsByPath 'src/it'\\''s a.test.ts'"
                .to_owned(),
            "web",
        ),
    ] {
        assert_eq!(ran(arguments.clone()), (command, directory.to_owned()), "{arguments}");
    }
}

#[test]
fn programs_of_the_project_go_before_those_of_the_machine() {
    for (files, command) in [
        // A configuration that is no manifest says as much.
        (&["app/pytest.ini", "app/.venv/bin/pytest"][..], ".venv/bin/pytest -v"),
        (&["app/conftest.py", "app/venv/bin/python"], "venv/bin/python -m pytest"),
        (&["app/jest.config.js", "node_modules/.bin/jest"], "../node_modules/.bin/jest --ci"),
        (&["app/phpunit.xml", "app/vendor/bin/phpunit"], "vendor/bin/phpunit --colors"),
        (&["app/.rspec", "app/bin/rspec"], "bin/rspec --no-color"),
        (&["app/a.bats", "node_modules/.bin/bats"], "../node_modules/.bin/bats --report"),
        (&["app/build.gradle", "gradlew"], "../gradlew --offline"),
        (&["app/pom.xml", "app/mvnw"], "./mvnw -o"),
    ] {
        let host = MemoryHost::new(files.iter().map(|file| (*file, "")));
        host.answer_checks([report(0, "", "", &[])]);
        let _ = call(&host, "run_tests", json!({"path": "app"}));
        let [ran] = &host.commands()[..] else { panic!("{files:?}: {:?}", host.commands()) };
        assert!(ran.command.starts_with(command), "{files:?}: {ran:?}");
        assert_eq!(ran.directory.to_string(), "app", "{files:?}");
    }
}

#[test]
fn failing_tests_are_a_result_and_each_says_where_and_why() {
    let host = host();
    let stdout = "\nrunning 2 tests\ntest tests::fine ... ok\ntest tests::wrong ... FAILED\n\nfailures:\n\n\
        ---- tests::wrong stdout ----\n\nthread 'tests::wrong' (7) panicked at src/lib.rs:12:9:\n\
        assertion `left == right` failed: sums\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1`\n\n\n\
        failures:\n    tests::wrong\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    host.answer_checks([report(101, stdout, "error: test failed, to rerun pass `--lib`\n", &[])]);
    let output = call(&host, "run_tests", json!({})).unwrap();
    assert_eq!(output["status"], "failed");
    assert_eq!(output["totals"], json!({"passed": 1, "failed": 1, "skipped": 0, "errored": 0}));
    let failure = &output["failures"][0];
    assert_eq!(failure["id"], "tests::wrong");
    assert_eq!((&failure["file"], &failure["line"]), (&json!("src/lib.rs"), &json!(12)));
    assert_eq!((&failure["expected"], &failure["actual"]), (&json!("4"), &json!("3")));
    assert!(failure["message"].as_str().unwrap().contains("sums"));
    assert_eq!(output["framework"], "cargo");
    assert_eq!(output["duration_ms"], 12);
}

#[test]
fn nothing_is_called_passed_that_did_not_run() {
    let none = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out\n";
    let broken = "error[E0308]: mismatched types\n --> src/lib.rs:3:5\n  |\nerror: could not compile `a` (lib test)\n";
    let dead = "running 3 tests\ntest a ... ok\n";
    let fine = "running 1 test\ntest a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n";
    for (ended, code, says) in [
        (report(0, none, "", &[]), ErrorCode::NoTests, "no test ran"),
        (
            report(101, "", broken, &[]),
            ErrorCode::BuildFailed,
            "src/lib.rs:3:5: error[E0308]: mismatched types",
        ),
        (report(101, dead, "signal: 11", &[]), ErrorCode::Inconsistent, "did not end"),
        (report(101, fine, "error: no", &[]), ErrorCode::Inconsistent, "exit status is 101"),
        (report(127, "", "bash: cargo: command not found", &[]), ErrorCode::NotInstalled, "rustup"),
    ] {
        let host = host();
        host.answer_checks([ended]);
        let error = call(&host, "run_tests", json!({})).unwrap_err();
        assert_eq!(error.code, code, "{error:?}");
        assert!(error.message.contains(says), "{error:?}");
        assert!(error.hint.is_some());
    }
}

#[test]
fn a_run_of_which_reports_were_not_read_did_not_pass() {
    let host = host();
    let fine = "running 1 test\ntest a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n";
    let whole = report(0, fine, "", &[]);
    let left_out = Some("2 of 3 report files were not read".to_owned());
    host.answer_checks([whole.clone(), CheckReport { left_out, ..whole }]);
    assert!(call(&host, "run_tests", json!({})).is_ok());
    let error = call(&host, "run_tests", json!({})).unwrap_err();
    assert_eq!(error.code, ErrorCode::Inconsistent);
    assert!(error.to_string().contains("2 of 3 report files were not read"), "{error}");
}

#[test]
fn a_run_with_more_reports_than_are_looked_at_did_not_pass() {
    // The second one is of a module that another module names.
    for directory in ["target/surefire-reports", "a/b/target/surefire-reports"] {
        let names: Vec<_> =
            (0..=20_000).map(|number| format!("{directory}/{number}.txt")).collect();
        let sources = [("pom.xml", ""), ("a/b/pom.xml", ""), ("src/test/java/a/CalcTest.java", "")];
        let surefire = "<testsuite name=\"a.CalcTest\" tests=\"1\"><testcase name=\"right\" \
                        classname=\"a.CalcTest\"/></testsuite>";
        let ended = report(0, "", "", &[("TEST-a.CalcTest.xml", surefire)]);
        for (files, is_fine) in [(20_000, true), (20_001, false)] {
            let files = names[..files].iter().map(|name| (name.as_str(), ""));
            let host = MemoryHost::new(files.chain(sources));
            host.answer_checks([ended.clone()]);
            let called = call(&host, "run_tests", json!({}));
            assert_eq!(called.is_ok(), is_fine, "{called:?}");
            let Err(error) = called else { continue };
            assert_eq!(error.code, ErrorCode::Inconsistent);
            assert!(error.to_string().contains(&format!("{directory} has more")), "{error}");
        }
    }
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is() {
    let host = host();
    for (arguments, code) in [
        (json!({"testFile": "notes.txt"}), ErrorCode::NoTests),
        (json!({"testFile": "missing"}), ErrorCode::NotFound),
        // No editor is attached, and a directory is no file.
        (json!({"scope": "file"}), ErrorCode::NotFound),
        (json!({"scope": "file", "path": "py"}), ErrorCode::NotFound),
        (json!({"testFile": "../x"}), ErrorCode::OutsideWorkspace),
        (json!({"testPattern": "--help"}), ErrorCode::InvalidArguments),
        (json!({"testPattern": "a\0"}), ErrorCode::InvalidArguments),
    ] {
        let error = call(&host, "run_tests", arguments.clone()).unwrap_err();
        assert_eq!(error.code, code, "{arguments}: {error:?}");
        assert!(error.hint.is_some() || error.code == ErrorCode::NotFound, "{error:?}");
    }
    assert!(host.commands().is_empty());
}

#[test]
fn where_the_root_is_no_project_those_in_it_are_found_and_the_others_named() {
    let host = MemoryHost::new([
        ("api/go.mod", "module example.com/api\n"),
        ("web/package.json", "{\"devDependencies\": {\"vitest\": \"4\"}}"),
    ]);
    let stdout = "{\"Action\":\"run\",\"Package\":\"example.com/api/p\",\"Test\":\"TestA\"}\n\
        {\"Action\":\"output\",\"Package\":\"example.com/api/p\",\"Test\":\"TestA\",\"Output\":\"    a_test.go:5: got 1\\n\"}\n\
        {\"Action\":\"fail\",\"Package\":\"example.com/api/p\",\"Test\":\"TestA\",\"Elapsed\":0.01}\n\
        {\"Action\":\"fail\",\"Package\":\"example.com/api/p\",\"Elapsed\":0.02}\n";
    host.answer_checks([report(1, stdout, "", &[])]);
    let output = call(&host, "run_tests", json!({})).unwrap();
    assert_eq!((&output["framework"], &output["status"]), (&json!("go"), &json!("failed")));
    assert_eq!(output["failures"][0]["file"], "api/p/a_test.go");
    assert_eq!(output["failures"][0]["message"], "got 1");
    assert!(output["notes"][0].as_str().unwrap().contains("vitest in web"), "{output}");
}

/// A run of pytest that passes, with what it covers.
fn covered() -> CheckReport {
    let junit = "<testsuites><testsuite name=\"pytest\" errors=\"0\" failures=\"0\" skipped=\"0\" tests=\"1\">\
                 <testcase classname=\"test_a\" name=\"test_a\" file=\"test_a.py\" line=\"0\" time=\"0.1\"/>\
                 </testsuite></testsuites>";
    let lcov = "SF:calc.py\nDA:1,1\nDA:2,1\nDA:3,0\nDA:4,0\nDA:5,0\nend_of_record\n";
    let files = [("pytest.xml", junit), ("coverage.lcov", lcov)];
    report(0, "collected 1 item\n\ntest_a.py::test_a PASSED [1/1]\n", "", &files)
}

/// A change of the whole file `calc.py`, whose content before is this.
fn change(number: u64, before: &str) -> (PastChange, Recalled) {
    let path = RelPath::parse("calc.py").unwrap();
    let (tool, at) = ("replace_text".to_owned(), std::time::SystemTime::UNIX_EPOCH);
    let hash = moss_sdk::testing::hash(before.as_bytes());
    let content = Some(moss_sdk::testing::decode(before.as_bytes()));
    let file = PastFile {
        path: path.clone(),
        action: PastAction::Modify,
        before: Some(hash),
        after: Some(hash),
        lines_added: 1,
        lines_removed: 1,
        match_level: None,
        diff: PastDiff::TooLong,
    };
    let recalled = RecalledFile {
        path,
        action: PastAction::Modify,
        before: Some(RecalledContent { hash, content }),
        after: None,
    };
    let (undo_of, undone_by, caller) = (Vec::new(), Vec::new(), "caller".to_owned());
    let past = PastChange {
        number,
        at,
        tool: tool.clone(),
        caller,
        undo_of: undo_of.clone(),
        undone_by,
        files: vec![file],
    };
    (past, Recalled { number, tool, undo_of, files: vec![recalled] })
}

#[test]
fn coverage_names_the_changed_lines_that_did_not_run() {
    let host = MemoryHost::new([
        ("pytest.ini", "[pytest]\n"),
        ("test_a.py", "def test_a(): pass\n"),
        ("calc.py", "1\n2\nthree\nfour\n5\n"),
        ("new.py", "1\n"),
    ]);
    for (number, before) in [(3, "1\n2\n3\n4\n5\n"), (4, "1\n2\nthree\n4\n5\n")] {
        let (past, recalled) = change(number, before);
        host.add_past(past);
        host.add_recalled(recalled);
    }
    let measure =
        || call(&host, "run_tests", json!({"coverage": true})).unwrap()["coverage"].clone();
    // Without git all that the history knows.
    host.answer_checks([covered(), report(128, "", "fatal: not a git repository", &[])]);
    let coverage = measure();
    let changed = &coverage["changed"];
    assert_eq!(changed["since"], "the oldest change that the history knows", "{coverage}");
    assert_eq!(changed["files"], json!([{"path": "calc.py", "missed": ["3-4"]}]), "{coverage}");
    assert_eq!((&changed["missed_total"], &changed["lines_percent"]), (&json!(2), &json!(0.0)));
    // All passed: since then nothing changed, but for what is not committed.
    let diff = "new.py\ndiff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -5 +5 @@\n-4\n+5\n";
    host.answer_checks([covered(), report(0, diff, "", &[])]);
    let changed = measure()["changed"].clone();
    let since = "the last commit, and change 4 of the history: all tests passed";
    assert_eq!(changed["since"], since, "{changed}");
    assert_eq!(changed["files"], json!([{"path": "calc.py", "missed": ["5"]}]), "{changed}");
    assert_eq!(changed["unmeasured"], json!(["new.py"]), "{changed}");
    // Nobody is asked about git: where the policy would, history alone counts.
    let command = host.commands().pop().unwrap().command;
    assert!(command.starts_with("git ls-files"), "{command}");
    host.answer_checks([covered(), report(0, "", "", &[])]);
    assert_eq!(measure()["changed"], Value::Null);
}

const FAILED: &str = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nno\n\n\n\
    failures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
const PASSED: &str = "running 1 test\ntest b ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out\n";

#[test]
fn what_failed_is_run_once_more_where_nobody_is_asked() {
    let host = host();
    host.answer_checks([report(101, FAILED, "", &[]), report(0, PASSED, "", &[])]);
    let output = call(&host, "run_tests", json!({})).unwrap();
    assert_eq!(
        (&output["status"], &output["failures"][0]["flaky"]),
        (&json!("failed"), &json!(true))
    );
    let commands = host.commands();
    assert!(commands[1].command.ends_with("-- --exact b"), "{commands:?}");
    assert_eq!(host.check_progress()[0], "2 of 2, 1 failed");

    let host = self::host();
    host.ask_about_checks();
    host.answer_checks([report(101, FAILED, "", &[])]);
    let output = call(&host, "run_tests", json!({})).unwrap();
    assert_eq!(output["failures"][0]["flaky"], Value::Null);
    assert!(output["notes"].to_string().contains("no rule lets"), "{output}");
    assert_eq!(host.commands().len(), 1);
}

#[test]
fn what_failed_last_is_chosen_by_its_ids_until_it_passes() {
    let host = host();
    host.answer_checks([
        report(101, FAILED, "", &[]),
        report(101, FAILED, "", &[]),
        report(0, PASSED, "", &[]),
    ]);
    let failed = json!({"scope": "failed"});
    assert_eq!(call(&host, "run_tests", failed.clone()).unwrap_err().code, ErrorCode::NoTests);
    call(&host, "run_tests", json!({})).unwrap();
    let output = call(&host, "run_tests", failed.clone()).unwrap();
    assert_eq!(output["status"], "passed");
    assert!(output["command"].as_str().unwrap().ends_with("-- --exact b"), "{output}");
    assert_eq!(call(&host, "run_tests", failed.clone()).unwrap_err().code, ErrorCode::NoTests);
    let both = json!({"scope": "failed", "testPattern": "x"});
    assert_eq!(call(&host, "run_tests", both).unwrap_err().code, ErrorCode::NoTests);
}

#[test]
fn a_framework_can_be_named_and_a_directory_chosen() {
    for (arguments, command, directory) in [
        (json!({"path": "web"}), "jest --ci", "web"),
        (
            json!({"path": "web/src"}),
            "jest --ci --json --testLocationInResults --outputFile=/reports/jest.json src",
            "web",
        ),
        (json!({"path": "py", "framework": "unittest"}), "python3 -m unittest", "py"),
        (json!({"framework": "nextest"}), "cargo nextest run", "."),
        (json!({"testFile": "py/tests/test_a.py", "scope": "all"}), "python3 -m pytest", "py"),
    ] {
        let found = ran(arguments.clone());
        assert!(found.0.starts_with(command), "{arguments}: {found:?}");
        assert_eq!(found.1, directory, "{arguments}");
    }
    let host = host();
    let _ = call(&host, "run_tests", json!({"framework": "nextest"}));
    assert!(host.check_inputs()[0].text.contains("/reports/nextest.xml"));
}

#[test]
fn the_test_at_the_cursor_is_chosen() {
    let host = host();
    host.write("src/deep/part.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n}\n");
    let cursor = |path: &str, line| EditorState {
        editor: "test".to_owned(),
        focus: Some(Focus {
            path: RelPath::parse(path).unwrap(),
            cursor: Position { line, character: 0 },
            selection: Span::default(),
            visible: None,
            diagnostics: Vec::new(),
        }),
        open: vec![OpenFile { path: RelPath::parse(path).unwrap(), unsaved: true }],
    };
    let at_cursor = json!({"scope": "cursor"});
    assert_eq!(call(&host, "run_tests", at_cursor.clone()).unwrap_err().code, ErrorCode::NotFound);
    host.attach(cursor("src/deep/part.rs", 3));
    host.answer_checks([report(0, PASSED, "", &[])]);
    let output = call(&host, "run_tests", at_cursor.clone()).unwrap();
    assert!(
        output["command"].as_str().unwrap().ends_with(" -- --exact deep::part::tests::adds"),
        "{output}"
    );
    assert!(output["notes"].to_string().contains("not saved"), "{output}");
    host.attach(cursor("tests/api.rs", 0));
    host.answer_checks([report(0, PASSED, "", &[])]);
    let output = call(&host, "run_tests", at_cursor).unwrap();
    assert!(output["command"].as_str().unwrap().ends_with(" --test api"), "{output}");
    assert!(output["notes"].to_string().contains("no test is known at line 1"), "{output}");
}

/// What cargo writes of tests of which some fail.
fn cargo_failed(failed: &[String], passed: &[String]) -> String {
    let lines = |names: &[String], how: &str| -> String {
        names.iter().map(|name| format!("test {name} ... {how}\n")).collect()
    };
    let all = failed.len() + passed.len();
    let said: String =
        failed.iter().map(|name| format!("---- {name} stdout ----\nno\n\n")).collect();
    let names: String = failed.iter().map(|name| format!("    {name}\n")).collect();
    let failures = match failed.is_empty() {
        true => String::new(),
        false => format!("\nfailures:\n\n{said}\nfailures:\n{names}"),
    };
    let verdict = if failed.is_empty() { "ok" } else { "FAILED" };
    format!(
        "running {all} tests\n{}{}{failures}\ntest result: {verdict}. {} passed; {} failed; 0 ignored; \
         0 measured; 0 filtered out\n",
        lines(failed, "FAILED"),
        lines(passed, "ok"),
        passed.len(),
        failed.len(),
    )
}

#[test]
fn what_failed_and_did_not_run_again_is_not_fixed() {
    let names: Vec<String> = (0..60).map(|number| format!("t{number:02}")).collect();
    let host = host();
    host.answer_checks([
        report(101, &cargo_failed(&names, &[]), "", &[]),
        report(0, &cargo_failed(&[], &names[..50]), "", &[]),
    ]);
    call(&host, "run_tests", json!({})).unwrap();
    let failed = json!({"scope": "failed"});
    let output = call(&host, "run_tests", failed.clone()).unwrap();
    assert_eq!(output["status"], "passed");
    assert!(output["notes"].to_string().contains("10 more failed"), "{output}");
    let error = call(&host, "run_tests", failed.clone()).unwrap_err();
    assert_eq!(error.code, ErrorCode::NoTests);
    assert!(error.message.contains("10 tests failed"), "{error:?}");

    // Two failed, one ran again, then a file without either: the other one is still known.
    let host = self::host();
    host.answer_checks([
        report(101, &cargo_failed(&names[..2], &[]), "", &[]),
        report(101, &cargo_failed(&names[..2], &[]), "", &[]),
        report(0, &cargo_failed(&[], &names[..1]), "", &[]),
        report(0, &cargo_failed(&[], &names[5..6]), "", &[]),
        report(0, &cargo_failed(&[], &names[1..2]), "", &[]),
    ]);
    call(&host, "run_tests", json!({})).unwrap();
    let error = call(&host, "run_tests", failed.clone()).unwrap_err();
    assert_eq!(error.code, ErrorCode::Inconsistent);
    let says = "1 of the 2 tests that failed did not run (`t01`)";
    assert!(error.message.contains(says), "{error:?}");
    call(&host, "run_tests", json!({"testFile": "tests/api.rs"})).unwrap();
    let output = call(&host, "run_tests", failed.clone()).unwrap();
    assert!(output["command"].as_str().unwrap().ends_with("-- --exact t01"), "{output}");
    assert_eq!(call(&host, "run_tests", failed).unwrap_err().code, ErrorCode::NoTests);
}

#[test]
fn a_failed_test_in_documentation_is_run_again() {
    let (unit, failed) = ("tests::adds".to_owned(), json!({"scope": "failed"}));
    let documented = |line: u64| format!("src/lib.rs - add (line {line})");
    let ended = |failed: &[String], passed: &[String]| -> String {
        let programs = [&unit, &documented(3), &documented(4)].map(|name| {
            let chosen = |names: &[String]| -> Vec<String> {
                names.iter().filter(|one| *one == name).cloned().collect()
            };
            cargo_failed(&chosen(failed), &chosen(passed))
        });
        programs.concat()
    };
    let both = [unit.clone(), documented(3)];
    let host = host();
    host.ask_about_checks();
    host.answer_checks([
        report(101, &ended(&both, &[]), "", &[]),
        // An edit moved it by a line.
        report(0, &ended(&[], &[unit.clone(), documented(4)]), "", &[]),
        report(101, &ended(&both, &[]), "", &[]),
        report(0, &ended(&[], std::slice::from_ref(&unit)), "", &[]),
        report(0, &ended(&[], &[documented(3)]), "", &[]),
    ]);
    call(&host, "run_tests", json!({})).unwrap();
    let output = call(&host, "run_tests", failed.clone()).unwrap();
    let command = output["command"].as_str().unwrap();
    assert!(command.contains("-- --exact tests::adds; then cargo test"), "{command}");
    assert!(command.contains("--doc -- add"), "{command}");
    assert_eq!(output["status"], "passed");
    assert_eq!(call(&host, "run_tests", failed.clone()).unwrap_err().code, ErrorCode::NoTests);

    call(&host, "run_tests", json!({})).unwrap();
    let error = call(&host, "run_tests", failed.clone()).unwrap_err();
    assert_eq!(error.code, ErrorCode::Inconsistent);
    assert!(error.message.contains("(`src/lib.rs - add (line 3)`)"), "{error:?}");
    let output = call(&host, "run_tests", failed.clone()).unwrap();
    assert!(output["command"].as_str().unwrap().ends_with(" never --doc -- add"), "{output}");
    assert_eq!(call(&host, "run_tests", failed).unwrap_err().code, ErrorCode::NoTests);
}

#[test]
fn what_failed_and_did_not_run_is_kept_where_others_fail_again() {
    let names: Vec<String> = ["a", "b"].map(str::to_owned).to_vec();
    let host = host();
    host.ask_about_checks();
    host.answer_checks([
        report(101, &cargo_failed(&names, &[]), "", &[]),
        report(101, &cargo_failed(&names[..1], &[]), "", &[]),
        report(0, &cargo_failed(&[], &names), "", &[]),
    ]);
    let failed = json!({"scope": "failed"});
    call(&host, "run_tests", json!({})).unwrap();
    assert_eq!(call(&host, "run_tests", failed.clone()).unwrap()["status"], "failed");
    let output = call(&host, "run_tests", failed.clone()).unwrap();
    assert!(output["command"].as_str().unwrap().ends_with("-- --exact a b"), "{output}");
    assert_eq!(call(&host, "run_tests", failed).unwrap_err().code, ErrorCode::NoTests);
}

#[test]
fn locations_of_a_member_are_in_the_workspace_of_cargo() {
    let workspace = "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"fuzz\"]\n";
    for (directory, at, expected) in [
        ("crates/foo", "crates/foo/src/lib.rs", "crates/foo/src/lib.rs"),
        ("fuzz", "src/lib.rs", "fuzz/src/lib.rs"),
    ] {
        let host = MemoryHost::new([("Cargo.toml", workspace)]);
        host.write(&format!("{directory}/Cargo.toml"), CARGO);
        host.write(&format!("{directory}/src/lib.rs"), "");
        let stdout =
            FAILED.replace("\nno\n", &format!("\nthread 'b' (7) panicked at {at}:3:5:\nno\n"));
        let broken = format!(
            "error[E0308]: mismatched types\n --> {at}:3:5\n  |\nerror: could not compile `a` (lib test)\n"
        );
        host.ask_about_checks();
        host.answer_checks([report(101, &stdout, "", &[]), report(101, "", &broken, &[])]);
        let output = call(&host, "run_tests", json!({"path": directory})).unwrap();
        assert_eq!(output["failures"][0]["file"], expected, "{output}");
        let error = call(&host, "run_tests", json!({"path": directory})).unwrap_err();
        assert_eq!(error.code, ErrorCode::BuildFailed);
        assert!(error.message.contains(&format!("{expected}:3:5")), "{error:?}");
        assert!(!error.message.contains(&format!("{directory}/{directory}")), "{error:?}");
    }
}

#[test]
fn what_changed_in_a_project_of_ctest_is_tested_by_all_of_it() {
    let host = MemoryHost::new([("CMakeLists.txt", "enable_testing()\n"), ("a.c", "int a;\n")]);
    let (mut past, _) = change(1, "");
    past.files[0].path = RelPath::parse("a.c").unwrap();
    host.add_past(past);
    let junit = "<testsuite name=\"c\" tests=\"1\"><testcase name=\"a\" classname=\"a\" status=\"run\"/></testsuite>";
    host.answer_checks([report(0, "", "", &[("ctest.xml", junit)])]);
    let output = call(&host, "run_tests", json!({"scope": "changed"})).unwrap();
    assert_eq!((&output["status"], &output["framework"]), (&json!("passed"), &json!("ctest")));
    assert!(output["notes"].to_string().contains("all of the project"), "{output}");
}

/// A host with two projects, in each of which something changed, and a file that nothing tests.
fn two_projects() -> MemoryHost {
    let host = MemoryHost::new([
        ("api/Cargo.toml", CARGO),
        ("api/src/lib.rs", "fn a() {}\n"),
        ("py/pytest.ini", "[pytest]\n"),
        ("py/calc.py", "def adds(): pass\n"),
        ("py/test_calc.py", "from calc import adds\n"),
        ("notes.txt", ""),
    ]);
    let (mut past, _) = change(1, "");
    let file = past.files.remove(0);
    for path in ["py/calc.py", "api/src/lib.rs", "notes.txt"] {
        past.files.push(PastFile { path: RelPath::parse(path).unwrap(), ..file.clone() });
    }
    host.add_past(past);
    host
}

/// What pytest leaves behind of two tests.
fn pytest_ended(exit_code: i32, second: &str) -> CheckReport {
    let junit = format!(
        "<testsuites><testsuite name=\"pytest\" tests=\"2\">\
         <testcase classname=\"test_calc\" name=\"test_a\" file=\"test_calc.py\" line=\"0\" time=\"0.1\"/>\
         <testcase classname=\"test_calc\" name=\"test_b\" file=\"test_calc.py\" line=\"3\" time=\"0.1\">{second}</testcase>\
         </testsuite></testsuites>"
    );
    report(exit_code, "", "", &[("pytest.xml", &junit)])
}

#[test]
fn what_changed_in_several_projects_is_tested_in_each() {
    let host = two_projects();
    host.ask_about_checks();
    let failure = "<failure message=\"assert 1 == 2\">test_calc.py:5: AssertionError</failure>";
    host.answer_checks([pytest_ended(1, failure), report(0, PASSED, "", &[])]);
    let changed = json!({"scope": "changed"});
    let output = call(&host, "run_tests", changed.clone()).unwrap();
    assert_eq!(output["status"], "failed");
    assert_eq!(output["totals"], json!({"passed": 2, "failed": 1, "skipped": 0, "errored": 0}));
    let projects = output["projects"].as_array().unwrap();
    let named: Vec<_> = projects
        .iter()
        .map(|one| (one["framework"].as_str(), one["path"].as_str(), one["status"].as_str()))
        .collect();
    let expected = [
        (Some("pytest"), Some("py"), Some("failed")),
        (Some("cargo"), Some("api"), Some("passed")),
    ];
    assert_eq!(named, expected, "{output}");
    let failure = &output["failures"][0];
    assert_eq!((&failure["file"], &failure["project"]), (&json!("py/test_calc.py"), &json!("py")));
    let command = output["command"].as_str().unwrap();
    assert!(command.contains("pytest") && command.contains("\ncargo test"), "{command}");
    let notes = output["notes"].to_string();
    assert!(notes.contains("not looked at: notes.txt"), "{notes}");
    assert!(notes.contains("pytest in py: chosen for what changed: test_calc.py"), "{notes}");
    assert_eq!(host.commands().len(), 2);
    // One of them is chosen by the path, or by the framework.
    host.answer_checks([report(0, PASSED, "", &[])]);
    let output = call(&host, "run_tests", json!({"scope": "changed", "path": "api"})).unwrap();
    assert_eq!((&output["framework"], &output["projects"]), (&json!("cargo"), &Value::Null));
    host.answer_checks([pytest_ended(0, "")]);
    let output =
        call(&host, "run_tests", json!({"scope": "changed", "framework": "pytest"})).unwrap();
    assert_eq!((&output["framework"], &output["projects"]), (&json!("pytest"), &Value::Null));
}

#[test]
fn several_projects_passed_only_where_each_is_known_to() {
    let broken = "error[E0308]: mismatched types\n --> src/lib.rs:3:5\n  |\nerror: could not compile `a` (lib test)\n";
    let changed = json!({"scope": "changed"});
    let host = two_projects();
    host.ask_about_checks();
    host.answer_checks([pytest_ended(0, ""), report(101, "", broken, &[])]);
    let error = call(&host, "run_tests", changed.clone()).unwrap_err();
    assert_eq!(error.code, ErrorCode::BuildFailed);
    assert!(error.message.contains("api/src/lib.rs:3:5"), "{error:?}");
    assert!(error.message.contains("pytest in py: 2 passed, 0 failed"), "{error:?}");
    // A failure is a result all the same, and what is not known of the other one is said.
    let failure = "<failure message=\"assert 1 == 2\">test_calc.py:5: AssertionError</failure>";
    host.answer_checks([pytest_ended(1, failure), report(101, "", broken, &[])]);
    let output = call(&host, "run_tests", changed).unwrap();
    assert_eq!(output["status"], "failed");
    assert_eq!(output["projects"][1]["status"], "build_failed", "{output}");
    assert!(output["notes"].to_string().contains("could not be built"), "{output}");
}

#[test]
fn what_failed_in_several_projects_is_run_again_in_each() {
    let host = two_projects();
    host.ask_about_checks();
    let failure = "<failure message=\"assert 1 == 2\">test_calc.py:5: AssertionError</failure>";
    host.answer_checks([
        pytest_ended(1, failure),
        report(101, FAILED, "", &[]),
        pytest_ended(0, ""),
        report(101, FAILED, "", &[]),
    ]);
    call(&host, "run_tests", json!({"scope": "changed"})).unwrap();
    let failed = json!({"scope": "failed"});
    let output = call(&host, "run_tests", failed.clone()).unwrap();
    let commands: Vec<String> = host.commands().into_iter().map(|ran| ran.command).collect();
    assert!(commands[2].ends_with("test_calc.py::test_b"), "{commands:?}");
    assert!(commands[3].ends_with("-- --exact b"), "{commands:?}");
    assert_eq!(output["projects"][0]["status"], "passed", "{output}");
    // What passed is known to be fixed, what did not is not.
    host.answer_checks([report(0, PASSED, "", &[])]);
    let output = call(&host, "run_tests", failed).unwrap();
    assert_eq!((&output["framework"], &output["projects"]), (&json!("cargo"), &Value::Null));
}

#[test]
fn more_projects_than_one_run_has_are_named() {
    let host = MemoryHost::new([("notes.txt", "")]);
    let (mut past, _) = change(1, "");
    let file = past.files.remove(0);
    for number in 0..12 {
        host.write(&format!("p{number}/pytest.ini"), "[pytest]\n");
        host.write(&format!("p{number}/test_a.py"), "def test_a(): pass\n");
        let path = RelPath::parse(&format!("p{number}/test_a.py")).unwrap();
        past.files.push(PastFile { path, ..file.clone() });
    }
    host.add_past(past);
    host.answer_checks((0..10).map(|_| pytest_ended(0, "")));
    let output = call(&host, "run_tests", json!({"scope": "changed"})).unwrap();
    assert_eq!(output["projects"].as_array().unwrap().len(), 10, "{output}");
    let notes = output["notes"].to_string();
    assert!(notes.contains("the 10 of one run: p10/test_a.py, p11/test_a.py"), "{notes}");
}

#[test]
fn failures_of_a_class_of_java_are_in_its_file() {
    let surefire = "<testsuite name=\"a.CalcTest\" tests=\"1\"><testcase name=\"wrong\" classname=\"a.CalcTest\">\
        <failure message=\"no\" type=\"AssertionError\"><![CDATA[java.lang.AssertionError: no\n\
        \tat org.junit.Assert.fail(Assert.java:89)\n\tat a.CalcTest.check(CalcTest.java:7)\n\
        \tat a.CalcTest.wrong(CalcTest.java:12)\n]]></failure></testcase></testsuite>";
    for (manifest, source) in [
        ("pom.xml", "app/src/test/java/a/CalcTest.java"),
        ("build.gradle", "src/test/java/a/CalcTest.java"),
    ] {
        let host = MemoryHost::new([(manifest, ""), (source, "class CalcTest {}\n")]);
        host.ask_about_checks();
        host.answer_checks([report(1, "", "", &[("TEST-a.CalcTest.xml", surefire)])]);
        let failure = call(&host, "run_tests", json!({})).unwrap()["failures"][0].clone();
        assert_eq!((&failure["file"], &failure["line"]), (&json!(source), &json!(7)), "{failure}");
        let stack = failure["stack"].to_string();
        assert!(stack.contains("CalcTest.java:12") && !stack.contains("Assert.java"), "{stack}");
    }
}

#[test]
fn where_what_measures_is_missing_the_tests_run_without_it() {
    let host = host();
    let missing =
        "error: no such command: `llvm-cov`\n\nhelp: a command with a similar name exists\n";
    host.answer_checks([report(101, "", missing, &[]), report(0, PASSED, "", &[])]);
    let output = call(&host, "run_tests", json!({"coverage": true})).unwrap();
    assert_eq!((&output["status"], &output["coverage"]), (&json!("passed"), &Value::Null));
    assert!(output["command"].as_str().unwrap().starts_with("cargo test"), "{output}");
    assert!(output["notes"].to_string().contains("cargo install cargo-llvm-cov"), "{output}");
}

#[test]
fn a_run_that_measured_nothing_says_what_would() {
    for (manifest, stdout, next) in [
        (("phpunit.xml", ""), "Warning:       No code coverage driver available\n", "php-pcov"),
        (("a.csproj", ""), "", "coverlet.collector"),
        (("build.gradle", ""), "", "plugins { id 'jacoco' }"),
        (("Gemfile", "gem 'rspec'\n"), "", "bundle add simplecov"),
        (("pom.xml", ""), "", "jacoco-maven-plugin"),
        (("requirements.txt", "pytest\n"), "", "pip install pytest-cov"),
        (("deno.json", ""), "", "wrote no profile"),
    ] {
        let host = MemoryHost::new([manifest]);
        host.answer_checks([report(0, stdout, "", &[("a.xml", "<testsuite><testcase classname=\"a\" name=\"a\"/></testsuite>"),
            ("a.trx", "<TestRun><Results><UnitTestResult testName=\"A\" outcome=\"Passed\"/></Results></TestRun>"),
            ("a.json", "{\"examples\": [{\"id\": \"a\", \"full_description\": \"a\", \"status\": \"passed\", \
             \"file_path\": \"a.rb\", \"line_number\": 1}], \"summary\": {\"example_count\": 1}}")])]);
        let output = call(&host, "run_tests", json!({"coverage": true})).unwrap();
        assert!(output["notes"].to_string().contains(next), "{manifest:?}: {output}");
    }
}

#[test]
fn a_threshold_that_is_not_met_is_no_test_that_failed() {
    let host =
        MemoryHost::new([("pytest.ini", "[pytest]\n"), ("test_a.py", "def test_a(): pass\n")]);
    let unmet = || {
        let mut ended = covered();
        ended.command.exit_code = Some(1);
        ended
            .stdout
            .push_str("FAIL Required test coverage of 90% not reached. Total coverage: 40.00%\n");
        ended
    };
    host.answer_checks([unmet(), report(0, "", "", &[])]);
    let output = call(&host, "run_tests", json!({})).unwrap();
    assert_eq!((&output["status"], &output["failures"]), (&json!("failed"), &json!([])));
    assert!(output.to_string().contains("90% not reached"), "{output}");
    // Nothing is run again: the other command is that of git.
    assert!(host.commands()[1..].iter().all(|ran| ran.command.starts_with("git ")), "{output}");
    let error = call(&host, "run_tests", json!({"scope": "failed"})).unwrap_err();
    assert_eq!(error.code, ErrorCode::NoTests);
}

/// A change of some files.
fn changed(number: u64, paths: &[&str]) -> PastChange {
    let (mut past, _) = change(number, "");
    let file = past.files.remove(0);
    let of = |path: &&str| PastFile { path: RelPath::parse(path).unwrap(), ..file.clone() };
    past.files.extend(paths.iter().map(of));
    past
}

#[test]
fn a_change_is_tested_only_once_all_of_its_own_project_passed() {
    let host = MemoryHost::new([("notes.txt", "")]);
    for project in ["a", "b"] {
        host.write(&format!("{project}/pytest.ini"), "[pytest]\n");
        host.write(&format!("{project}/calc.py"), "def adds(): pass\n");
        host.write(&format!("{project}/test_calc.py"), "from calc import adds\n");
    }
    host.add_past(changed(1, &["a/calc.py", "b/calc.py"]));
    let scope = json!({"scope": "changed"});
    let ran = || host.commands().pop().unwrap().directory.to_string();
    host.answer_checks([pytest_ended(0, ""), pytest_ended(0, "")]);
    call(&host, "run_tests", json!({"path": "a"})).unwrap();
    let output = call(&host, "run_tests", scope.clone()).unwrap();
    assert_eq!((output["projects"].clone(), ran()), (Value::Null, "b".to_owned()), "{output}");
    // Only all tests of a project say that its changes are tested.
    host.answer_checks([pytest_ended(0, ""), pytest_ended(0, "")]);
    call(&host, "run_tests", scope.clone()).unwrap();
    call(&host, "run_tests", json!({"path": "b"})).unwrap();
    let error = call(&host, "run_tests", scope.clone()).unwrap_err();
    assert_eq!(error.code, ErrorCode::NoTests);
    assert!(error.message.contains("since all tests of its project passed"), "{error:?}");
    host.add_past(changed(2, &["a/calc.py"]));
    host.answer_checks([pytest_ended(0, "")]);
    call(&host, "run_tests", scope).unwrap();
    assert_eq!(ran(), "a");
}

#[test]
fn all_of_one_framework_says_nothing_of_another_in_the_same_directory() {
    let host = MemoryHost::new([
        ("pytest.ini", "[pytest]\n"),
        ("test_calc.py", "from calc import adds\n"),
        ("package.json", "{\"devDependencies\": {\"jest\": \"30\"}}"),
        ("a.test.js", ""),
    ]);
    host.add_past(changed(1, &["test_calc.py", "a.test.js"]));
    host.answer_checks([pytest_ended(0, "")]);
    call(&host, "run_tests", json!({"framework": "pytest"})).unwrap();
    let jest = r#"{"numTotalTests": 1, "testResults": [{"name": "/work/a.test.js", "status": "passed",
                  "assertionResults": [{"fullName": "a", "status": "passed"}]}]}"#;
    host.answer_checks([report(0, "", "", &[("jest.json", jest)])]);
    let output = call(&host, "run_tests", json!({"scope": "changed"})).unwrap();
    assert_eq!((&output["framework"], &output["projects"]), (&json!("jest"), &Value::Null));
    assert!(output["notes"].to_string().contains("chosen for what changed: a.test.js"), "{output}");
}

#[test]
fn all_of_a_workspace_of_cargo_tests_its_members() {
    let host = MemoryHost::new([
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
        ("crates/foo/Cargo.toml", CARGO),
        ("crates/foo/src/lib.rs", ""),
    ]);
    host.add_past(changed(1, &["crates/foo/src/lib.rs"]));
    host.answer_checks([report(0, PASSED, "", &[])]);
    call(&host, "run_tests", json!({})).unwrap();
    let error = call(&host, "run_tests", json!({"scope": "changed"})).unwrap_err();
    assert_eq!(error.code, ErrorCode::NoTests, "{error:?}");
}

#[test]
fn a_failed_test_that_is_skipped_is_not_fixed() {
    let host = MemoryHost::new([("package.json", "{\"devDependencies\": {\"jest\": \"30\"}}")]);
    let jest = |adds: &str| {
        format!(
            r#"{{"numTotalTests": 2, "testResults": [{{"name": "/work/a.test.js", "status": "{adds}",
               "assertionResults": [{{"fullName": "adds", "status": "{adds}"}},
               {{"fullName": "adds more", "status": "passed"}}]}}]}}"#
        )
    };
    host.ask_about_checks();
    host.answer_checks([
        report(1, "", "", &[("jest.json", &jest("failed"))]),
        report(0, "", "", &[("jest.json", &jest("pending"))]),
        report(0, "", "", &[("jest.json", &jest("passed"))]),
    ]);
    call(&host, "run_tests", json!({})).unwrap();
    let failed = json!({"scope": "failed"});
    let output = call(&host, "run_tests", failed.clone()).unwrap();
    assert_eq!(output["status"], "passed");
    assert!(output["notes"].to_string().contains("1 of the 1 tests that failed did not run"));
    call(&host, "run_tests", failed.clone()).unwrap();
    assert_eq!(call(&host, "run_tests", failed).unwrap_err().code, ErrorCode::NoTests);
}
