//! What is made of runs that went wrong in other ways than a test that fails: texts by the documents of the
//! tools, and by what they wrote where one was at hand.

use moss_checks::{
    FinishedRun, ReportFile, SourcePaths, TestFramework, TestResults, TestStatus, passed_tests,
    test_results,
};

struct Ended {
    framework: TestFramework,
    exit_code: Option<i32>,
    stdout: &'static str,
    stderr: &'static str,
    report: Option<(&'static str, &'static str)>,
}

fn read(ended: &Ended) -> TestResults {
    let file =
        |(name, text): (&str, &str)| ReportFile { name: name.to_owned(), text: text.to_owned() };
    let reports: Vec<ReportFile> = ended.report.into_iter().map(file).collect();
    let Ended { framework, exit_code, stdout, stderr, .. } = *ended;
    let finished = FinishedRun {
        exit_code,
        signal: None,
        stdout,
        stderr,
        reports: &reports,
        left_out: None,
        is_cut: false,
    };
    test_results(framework, &SourcePaths::new("/w", ""), &finished)
}

fn of(
    framework: TestFramework,
    exit_code: i32,
    stdout: &'static str,
    stderr: &'static str,
) -> Ended {
    Ended { framework, exit_code: Some(exit_code), stdout, stderr, report: None }
}

#[test]
fn what_could_not_be_loaded_is_located_by_what_is_said_of_it() {
    const PYTEST: &str = "<testsuites><testsuite><testcase classname=\"\" name=\"tests.test_late\" \
        file=\"tests/test_late.py\"><error message=\"collection failure\">.venv/lib/_pytest/python.py:493: in import\n\
        E     File &quot;/w/tests/test_late.py&quot;, line 8\nE       def x(:\nE             ^\n\
        E   SyntaxError: invalid syntax</error></testcase></testsuite></testsuites>";
    const JEST: &str = r#"{"numTotalTests": 0, "testResults": [{"name": "/w/a.test.js", "status": "failed",
        "message": "  ● Test suite failed to run\n\n    SyntaxError: /w/a.test.js: Unexpected token (3:0)\n\n      2 |\n",
        "assertionResults": []}]}"#;
    const BABEL: &str = r#"{"numTotalTests": 0, "testResults": [{"name": "/w/a.test.js", "status": "failed",
        "message": "Cannot find module './b'\n      at Object.require (a.test.js:4:11)\n", "assertionResults": []}]}"#;
    const UNPLACED: &str = r#"{"numTotalTests": 0, "testResults": [{"name": "/w/a.test.js", "status": "failed",
        "message": "it does not parse", "assertionResults": []}]}"#;
    let unittest = "======================================================================\n\
        ERROR: test_late (unittest.loader._FailedTest.test_late)\n\
        ----------------------------------------------------------------------\n\
        ImportError: Failed to import test module: test_late\nTraceback (most recent call last):\n\
        \x20 File \"/usr/lib/unittest/loader.py\", line 436, in _find_test_path\n    module = self.get(name)\n\
        \x20 File \"/w/tests/test_late.py\", line 2, in <module>\n    import nope\n\
        ModuleNotFoundError: No module named 'nope'\n\n\n\
        ----------------------------------------------------------------------\n\
        Ran 1 test in 0.000s\n\nFAILED (errors=1)\n";
    let maven = "[ERROR] COMPILATION ERROR : \n[ERROR] /w/src/A.java:[3,5] ';' expected\n";
    let gradle =
        "/w/src/A.java:3: error: ';' expected\nCompilation failed; see the compiler error output\n";
    for (framework, stdout, stderr, report, location) in [
        (TestFramework::Pytest, "", "", Some(("r.xml", PYTEST)), "tests/test_late.py:8"),
        (TestFramework::Unittest, "", unittest, None, "tests/test_late.py:2"),
        (TestFramework::Jest, "", "", Some(("r.json", JEST)), "a.test.js:3:1"),
        (TestFramework::Jest, "", "", Some(("r.json", BABEL)), "a.test.js:4:11"),
        (TestFramework::Jest, "", "", Some(("r.json", UNPLACED)), "a.test.js"),
        (TestFramework::Maven, maven, "", None, "src/A.java:3:5"),
        (TestFramework::Gradle, "", gradle, None, "src/A.java:3"),
    ] {
        let results = read(&Ended { report, ..of(framework, 1, stdout, stderr) });
        assert_eq!(results.status, TestStatus::BuildFailed, "{framework:?} {results:?}");
        assert_eq!(results.diagnostics[0].location(), location, "{framework:?}");
        let shown = serde_json::to_value(&results.diagnostics[0]).unwrap();
        let has_column = location.matches(':').count() == 2;
        assert_eq!(shown.get("column").is_some(), has_column, "{shown}");
    }
}

#[test]
fn a_test_of_pytest_that_is_not_there_is_no_test() {
    let said = "ERROR: not found: /w/tests/test_calc.py::test_nope\n\
                (no match in any of [<Module test_calc.py>])\n\n";
    let file = "ERROR: file or directory not found: tests/nope.py\n\n";
    let stdout = "collected 0 items\n\n==== no tests ran in 0.01s ====\n";
    let empty = Some(("r.xml", "<testsuites><testsuite tests=\"0\"></testsuite></testsuites>"));
    for (stderr, says) in [(said, "no match in any of"), (file, "tests/nope.py")] {
        for report in [None, empty] {
            let ended = Ended { report, ..of(TestFramework::Pytest, 4, stdout, stderr) };
            let results = read(&ended);
            assert_eq!(results.status, TestStatus::NoTests, "{results:?}");
            let note = results.note.unwrap();
            assert!(note.starts_with("ERROR: ") && note.contains(says), "{note}");
        }
    }
    let usage = of(TestFramework::Pytest, 4, "", "ERROR: usage: pytest [options]\n");
    assert_eq!(read(&usage).status, TestStatus::Inconsistent);
}

#[test]
fn what_unittest_expects_to_fail_has_not_passed() {
    let stderr = "test_a (t.A.test_a) ... ok\ntest_b (t.A.test_b) ... expected failure\n\n\
        ----------------------------------------------------------------------\n\
        Ran 2 tests in 0.000s\n\nOK (expected failures=1)\n";
    let results = read(&of(TestFramework::Unittest, 0, "", stderr));
    assert_eq!(results.status, TestStatus::Passed, "{results:?}");
    assert_eq!((results.totals.passed, results.totals.skipped), (1, 1));
}

#[test]
fn what_is_missing_is_named_with_what_brings_it() {
    for (ended, says) in [
        (
            of(TestFramework::Pytest, 1, "", "/usr/bin/python3: No module named pytest\n"),
            "pip install pytest",
        ),
        (
            of(
                TestFramework::Pytest,
                4,
                "",
                "ERROR: usage: x\nx: error: unrecognized arguments: --cov --cov-branch\n",
            ),
            "pytest-cov",
        ),
        (
            of(TestFramework::Jest, 127, "", "bash: line 1: jest: command not found\n"),
            "npm install",
        ),
        (
            of(TestFramework::Nextest, 101, "", "error: no such command: `nextest`\n"),
            "cargo install cargo-nextest",
        ),
        (
            of(TestFramework::Cargo, 101, "", "error: no such command: `llvm-cov`\n"),
            "cargo-llvm-cov",
        ),
        (
            of(
                TestFramework::Cargo,
                101,
                "",
                "error: no matching package named `x` found\nyou may want to retry without --offline\n",
            ),
            "cargo fetch",
        ),
        (
            of(
                TestFramework::Maven,
                1,
                "[ERROR] Cannot access central (https://repo) in offline mode\n",
                "",
            ),
            "go-offline",
        ),
        (
            of(
                TestFramework::Rspec,
                7,
                "",
                "Could not find rspec in locally installed gems\nRun `bundle install`\n",
            ),
            "bundle install",
        ),
        (
            of(TestFramework::Ctest, 1, "", "Error: /w/build is not a directory\n"),
            "cmake -S . -B build",
        ),
    ] {
        let found = read(&ended);
        assert_eq!(
            found.status,
            TestStatus::NotInstalled,
            "{:?} {}",
            ended.framework,
            ended.stderr
        );
        assert!(found.note.as_ref().is_some_and(|note| note.contains(says)), "{says}: {found:?}");
    }
}

#[test]
fn what_builds_of_java_miss_is_named_with_what_brings_it() {
    for (ended, says) in [
        (
            of(
                TestFramework::Gradle,
                1,
                "Downloading https://wrapper.example/gradle-4.3-all.zip\n",
                "Exception in thread \"main\" java.net.UnknownHostException: wrapper.example\n",
            ),
            "./gradlew --version",
        ),
        (
            of(
                TestFramework::Maven,
                1,
                "",
                "curl: Failed to fetch https://repo/org/apache/maven/apache-maven-3.9.9-bin.zip\n",
            ),
            "./mvnw --version",
        ),
        (
            of(
                TestFramework::Gradle,
                1,
                "",
                "ERROR: JAVA_HOME is not set and no 'java' command could be found in your PATH.\n",
            ),
            "default-jdk",
        ),
    ] {
        let found = read(&ended);
        assert_eq!(
            found.status,
            TestStatus::NotInstalled,
            "{:?} {}",
            ended.framework,
            ended.stderr
        );
        assert!(found.note.as_ref().is_some_and(|note| note.contains(says)), "{says}: {found:?}");
    }
}

#[test]
fn a_report_is_held_against_the_exit_status() {
    let passed = "<testsuites><testsuite name=\"a\"><testcase classname=\"a\" name=\"b\"/></testsuite></testsuites>";
    let failed = "<testsuites><testsuite name=\"a\"><testcase classname=\"a\" name=\"b\"><failure/></testcase>\
                  </testsuite></testsuites>";
    // What a test wrote declares nothing.
    let writes_entity = "<testsuite name=\"a\"><testcase classname=\"a\" name=\"b\"><system-out><![CDATA[<!ENTITY a>]]>\
                         </system-out></testcase></testsuite>";
    let with = |exit_code: Option<i32>, report: Option<&'static str>| Ended {
        framework: TestFramework::Pytest,
        exit_code,
        stdout: "",
        stderr: "",
        report: report.map(|text| ("pytest.xml", text)),
    };
    for (ended, expected) in [
        (with(Some(0), Some(passed)), TestStatus::Passed),
        (with(Some(1), Some(failed)), TestStatus::Failed),
        (with(Some(0), Some(failed)), TestStatus::Inconsistent),
        (with(Some(1), Some(passed)), TestStatus::Inconsistent),
        (with(Some(0), None), TestStatus::Inconsistent),
        (with(Some(3), None), TestStatus::Inconsistent),
        (with(Some(0), Some("")), TestStatus::Inconsistent),
        (with(Some(0), Some("<html><body>no report</body></html>")), TestStatus::Inconsistent),
        (
            with(Some(0), Some("<!DOCTYPE x [<!ENTITY a \"b\">]><testsuites/>")),
            TestStatus::Inconsistent,
        ),
        (with(Some(0), Some(writes_entity)), TestStatus::Passed),
        (with(None, Some(passed)), TestStatus::Interrupted),
    ] {
        let found = read(&ended);
        assert_eq!(found.status, expected, "{:?} {:?}", ended.exit_code, ended.report);
    }
}

#[test]
fn builds_that_fail_are_located() {
    for (ended, expected) in [
        (
            of(
                TestFramework::Maven,
                1,
                "[ERROR] COMPILATION ERROR : \n[ERROR] /w/src/test/java/ATest.java:[3,5] cannot find symbol\n",
                "",
            ),
            "src/test/java/ATest.java:3",
        ),
        (
            of(
                TestFramework::Gradle,
                1,
                "",
                "/w/src/A.java:7: error: ';' expected\n> Compilation failed; see the compiler error output\n",
            ),
            "src/A.java:7",
        ),
        (
            of(
                TestFramework::Gradle,
                1,
                "",
                "e: file:///w/src/A.kt:3:5 Unresolved reference: x\n> Compilation error. See log\n",
            ),
            "src/A.kt:3",
        ),
        (
            of(
                TestFramework::Dotnet,
                1,
                "/w/A.cs(4,9): error CS1002: ; expected [/w/A.csproj]\nBuild FAILED.\n",
                "",
            ),
            "A.cs:4",
        ),
        (
            of(
                TestFramework::Swift,
                1,
                "",
                "/w/Tests/ATests.swift:5:9: error: cannot find 'x' in scope\n",
            ),
            "Tests/ATests.swift:5",
        ),
        (
            of(
                TestFramework::Ctest,
                2,
                "/w/t.c:3:1: error: expected ';'\nmake: *** [Makefile:2: t] Error 1\n",
                "",
            ),
            "t.c:3",
        ),
    ] {
        let found = read(&ended);
        assert_eq!(found.status, TestStatus::BuildFailed, "{:?}: {found:?}", ended.framework);
        let first = &found.diagnostics[0];
        assert_eq!(format!("{}:{}", first.path, first.line), expected);
    }
}

#[test]
fn libtest_counts_what_tests_wrote_into_its_lines() {
    let stdout = "\nrunning 3 tests\ntest a ... written by a test\nok\ntest b ... ok\ntest x ... ok\ntest y ... FAILED\n\
        test c ... FAILED\n\nfailures:\n\n---- c stdout ----\nboom\n\n\nfailures:\n    c\n\n\
        test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let found = read(&of(TestFramework::Cargo, 101, stdout, ""));
    assert_eq!((found.totals.passed, found.totals.failed), (2, 1), "{found:?}");
    assert_eq!(found.failures[0].id, "c");
    let dead = "\nrunning 3 tests\ntest a ... ok\n\nrunning 1 test\ntest z ... ok\n\n\
        test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let found = read(&of(TestFramework::Cargo, 101, dead, "error: test failed\n"));
    assert_eq!((found.status, found.totals.passed), (TestStatus::Inconsistent, 2), "{found:?}");
    assert!(found.note.unwrap().contains("2 of 3 tests did not end"));
}

#[test]
fn the_text_of_unittest_is_held_to_its_verdict() {
    let rule = "----------------------------------------------------------------------";
    let (passed, skipped) =
        ("test_a (t.A.test_a) ... ok", "test_b (t.A.test_b) ... skipped 'later'");
    let ran = |lines: &str, end: &str| format!("{lines}\n\n{rule}\n{end}\nat the end of Python\n");
    for (lines, end, status, totals) in [
        (passed, "Ran 1 test in 0.001s\n\nOK", TestStatus::Passed, (1, 0)),
        (skipped, "Ran 1 test in 0.001s\n\nOK (skipped=1)", TestStatus::NoTests, (0, 1)),
        // A verdict that is missing, or says something else than the lines.
        (passed, "Ran 1 test in 0.001s", TestStatus::Inconsistent, (0, 0)),
        (passed, "Ran 2 tests in 0.001s\n\nOK", TestStatus::Inconsistent, (1, 0)),
        (passed, "Ran 1 test in 0.001s\n\nOK (skipped=1)", TestStatus::Inconsistent, (1, 0)),
        (skipped, "Ran 1 test in 0.001s\n\nOK", TestStatus::Inconsistent, (0, 1)),
        (
            "test_a (t.A.test_a) ... ",
            "Ran 1 test in 0.001s\n\nOK",
            TestStatus::Inconsistent,
            (0, 0),
        ),
        // A name of its own says no class.
        ("adds 1 and 2 ... ok", "Ran 1 test in 0.001s\n\nOK", TestStatus::Passed, (1, 0)),
    ] {
        let text: &'static str = ran(lines, end).leak();
        let found = read(&of(TestFramework::Unittest, 0, "", text));
        assert_eq!(found.status, status, "{text}: {found:?}");
        assert_eq!((found.totals.passed, found.totals.skipped), totals, "{text}");
    }
}

/// Whoever keeps what failed finds it among what passed, also where it was prepared for tests: a class, a suite.
#[test]
fn what_was_prepared_for_tests_that_passed_is_named_as_where_it_fails() {
    let rule = "----------------------------------------------------------------------";
    let stderr = format!("test_a (t.A.test_a) ... ok\n\n{rule}\nRan 1 test in 0.001s\n\nOK\n");
    let mocha = r#"{"tests": [{"fullTitle": "calc deep adds", "err": {}}], "failures": []}"#;
    let left_out = r#"{"tests": [{"fullTitle": "calc deep adds", "pending": true, "err": {}}], "failures": []}"#;
    let libtest = "running 1 test\ntest src/lib.rs - f (line 3) - compile ... ok\n\n\
                   test result: ok. 1 passed; 0 failed; 0 ignored;\n";
    for (framework, stdout, stderr, report, expected) in [
        (TestFramework::Unittest, "", stderr.as_str(), None, &["t", "t.A", "t.A.test_a"][..]),
        (TestFramework::Mocha, "", "", Some(mocha), &["^calc ", "^calc deep ", "calc deep adds"]),
        (TestFramework::Mocha, "", "", Some(left_out), &[]),
        (TestFramework::Cargo, libtest, "", None, &["src/lib.rs - f", "src/lib.rs - f (line 3)"]),
    ] {
        let file = |text: &str| ReportFile { name: "mocha.json".to_owned(), text: text.to_owned() };
        let reports: Vec<ReportFile> = report.into_iter().map(file).collect();
        let exit_code = Some(0);
        let finished = FinishedRun {
            exit_code,
            signal: None,
            stdout,
            stderr,
            reports: &reports,
            left_out: None,
            is_cut: false,
        };
        let passed: Vec<String> = passed_tests(framework, &finished).into_iter().collect();
        assert_eq!(passed, expected, "{framework:?}");
    }
}

#[test]
fn tests_that_take_long_are_named_slowest_first() {
    let report = "<testsuites><testsuite name=\"a\">\
        <testcase classname=\"t\" name=\"quick\" file=\"t.py\" time=\"0.9994\"/>\
        <testcase classname=\"t\" name=\"long\" file=\"t.py\" time=\"1.25\"/>\
        <testcase classname=\"t\" name=\"longest\" file=\"t.py\" time=\"61.5\"><failure message=\"no\"/></testcase>\
        <testcase classname=\"t\" name=\"odd\" file=\"t.py\" time=\"NaN\"/>\
        </testsuite></testsuites>";
    let found = read(&Ended {
        framework: TestFramework::Pytest,
        exit_code: Some(1),
        stdout: "",
        stderr: "",
        report: Some(("pytest.xml", report)),
    });
    let slowest = found.slowest.iter().map(|slow| (slow.id.as_str(), slow.duration_ms));
    assert_eq!(slowest.collect::<Vec<_>>(), [("t.py::longest", 61_500), ("t.py::long", 1_250)]);
    assert_eq!(found.failures[0].duration_ms, Some(61_500));
}

/// A program that is missing is named with a command that brings it, whichever framework needs it.
#[test]
fn every_missing_program_has_a_command_that_brings_it() {
    for framework in TestFramework::all() {
        let found = read(&of(framework, 127, "", "bash: line 1: x: command not found\n"));
        assert_eq!(found.status, TestStatus::NotInstalled, "{framework:?}");
        let note = found.note.expect("it says what brings it");
        let (_, brings) = note.split_once("is not installed: ").expect("it says what is missing");
        let is_command = brings.starts_with('`') || brings.contains("rustup.rs");
        assert!(is_command, "{framework:?}: {note}");
    }
}

/// What Node 20.20.2 reports of a file that has only `export const x = 1;`.
#[test]
fn a_file_that_declares_no_test_is_not_called_passed() {
    let empty = r#"{"tests":[{"name":"/w/a.test.mjs","isSuite":false,"isFile":true,"file":"/w/a.test.mjs","line":1,
                   "duration":94.1,"isLeftOut":false,"within":[]}]}"#;
    let mixed = r#"{"tests":[{"name":"/w/a.test.mjs","isSuite":false,"isFile":true,"file":"/w/a.test.mjs","line":1,
                   "duration":94.1,"isLeftOut":false,"within":[]},{"name":"/w/b.test.mjs","isSuite":false,
                   "isFile":false,"file":"/w/c.test.mjs","line":1,"duration":4.1,"isLeftOut":false,"within":[]}]}"#;
    for (report, status, passed) in
        [(empty, TestStatus::NoTests, 0), (mixed, TestStatus::Passed, 1)]
    {
        let found = read(&Ended {
            framework: TestFramework::Node,
            exit_code: Some(0),
            stdout: "",
            stderr: "",
            report: Some(("node.json", report)),
        });
        assert_eq!((found.status, found.totals.passed), (status, passed), "{found:?}");
        assert!(found.note.unwrap().contains("1 files ended well and declare no test"));
    }
}

/// What Node 20.20.2 reports of a pattern that chooses one test, or none.
#[test]
fn tests_that_a_pattern_did_not_choose_are_not_counted() {
    let one = r#"{"tests":[{"name":"a","isSuite":false,"isFile":false,"file":"/w/a.test.mjs","line":1,"duration":0.1,
                 "isNotChosen":false,"isLeftOut":false,"within":[]},{"name":"b","isSuite":false,"isFile":false,
                 "file":"/w/a.test.mjs","line":2,"duration":0.1,"isNotChosen":true,"isLeftOut":true,"within":[]},
                 {"name":"later","isSuite":false,"isFile":false,"file":"/w/a.test.mjs","line":3,"duration":0.1,
                 "isNotChosen":false,"isLeftOut":true,"within":[]}]}"#;
    let none = r#"{"tests":[{"name":"b","isSuite":false,"isFile":false,"file":"/w/a.test.mjs","line":2,"duration":0.1,
                  "isNotChosen":true,"isLeftOut":true,"within":[]}]}"#;
    for (report, status, passed, skipped) in
        [(one, TestStatus::Passed, 1, 1), (none, TestStatus::NoTests, 0, 0)]
    {
        let found = read(&Ended {
            framework: TestFramework::Node,
            exit_code: Some(0),
            stdout: "",
            stderr: "",
            report: Some(("node.json", report)),
        });
        let totals = found.totals;
        assert_eq!((totals.passed, totals.skipped), (passed, skipped), "{found:?}");
        assert_eq!(found.status, status, "{found:?}");
    }
}

#[test]
fn what_a_run_requires_beside_its_tests_is_said_where_it_is_not_met() {
    let pytest = "<testsuites><testsuite name=\"pytest\" errors=\"0\" failures=\"0\" skipped=\"0\" tests=\"1\">\
                  <testcase classname=\"test_a\" name=\"test_a\" file=\"test_a.py\" line=\"0\" time=\"0.1\"/>\
                  </testsuite></testsuites>";
    let phpunit = "<testsuites><testsuite name=\"a\" tests=\"1\"><testcase name=\"testA\" class=\"ATest\" \
                   classname=\"ATest\" file=\"/w/ATest.php\" line=\"3\" time=\"0.1\"/></testsuite></testsuites>";
    let cov = "FAIL Required test coverage of 90% not reached. Total coverage: 50.00%\n";
    let risky = "OK, but there were issues!\nTests: 1, Assertions: 0, Risky: 1.\n";
    for (framework, name, report, stdout, status, says) in [
        (TestFramework::Pytest, "p.xml", pytest, cov, TestStatus::Failed, "90% not reached"),
        (TestFramework::Phpunit, "p.xml", phpunit, risky, TestStatus::Failed, "there were issues"),
        (
            TestFramework::Pytest,
            "p.xml",
            pytest,
            "Required test coverage of 40% reached. Total coverage: 50.00%\n",
            TestStatus::Inconsistent,
            "exit status is 1",
        ),
    ] {
        let mut ended = of(framework, 1, stdout, "");
        ended.report = Some((name, report));
        let results = read(&ended);
        assert_eq!(results.status, status, "{results:?}");
        assert!(results.note.as_deref().unwrap_or_default().contains(says), "{results:?}");
        assert_eq!((results.totals.passed, results.failures.len()), (1, 0));
    }
}

#[test]
fn what_cargo_cannot_even_begin_to_build_is_a_failed_build() {
    for error in [
        "error: failed to run custom build command for `a v0.1.0 (/w)`\n",
        "error: failed to load manifest for workspace member `/w/b`\n",
        "error: failed to select a version for the requirement `b = \"^2\"`\n",
        "error: package `a v0.1.0` cannot be built because it requires rustc 1.99 or newer\n",
        "error: rustc 1.80.0 is not supported by the following package:\n  a@0.1.0 requires rustc 1.99\n",
    ] {
        let results = read(&of(TestFramework::Cargo, 101, "", error));
        assert_eq!(results.status, TestStatus::BuildFailed, "{error}");
        assert!(results.note.is_some_and(|note| note.contains(error.trim())), "{error}");
    }
    // Where it is a test that says so, its program ran.
    let stdout = "running 1 test\ntest a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n";
    let said = "tool: error: failed to load manifest\n";
    assert_eq!(read(&of(TestFramework::Cargo, 0, stdout, said)).status, TestStatus::Passed);
}

#[test]
fn a_module_that_is_not_built_is_not_hidden_by_the_reports_of_others() {
    let junit = "<testsuite name=\"a.ATest\" tests=\"1\"><testcase name=\"adds\" classname=\"a.ATest\" time=\"0.1\"/>\
                 </testsuite>";
    let error =
        "[ERROR] COMPILATION ERROR : \n[ERROR] /w/b/src/main/java/B.java:[3,5] ';' expected\n";
    let mut ended = of(TestFramework::Maven, 1, error, "");
    ended.report = Some(("TEST-a.ATest.xml", junit));
    let results = read(&ended);
    assert_eq!(results.status, TestStatus::Failed, "{results:?}");
    assert_eq!(results.diagnostics[0].path, "b/src/main/java/B.java");
    assert_eq!((results.totals.passed, results.diagnostics[0].line), (1, 3));
    ended.exit_code = Some(0);
    assert_eq!(read(&ended).status, TestStatus::Passed);
}

#[test]
fn an_id_of_several_tests_passed_only_where_each_of_them_ran() {
    let passed = |cases: &str| {
        let report = format!("<testsuite name=\"a.B\">{cases}</testsuite>");
        let reports = [ReportFile { name: "TEST-a.B.xml".to_owned(), text: report }];
        let finished = FinishedRun {
            exit_code: Some(0),
            signal: None,
            stdout: "",
            stderr: "",
            reports: &reports,
            left_out: None,
            is_cut: false,
        };
        let names = passed_tests(TestFramework::Gradle, &finished);
        ["a.B", "a.B.adds", "a.B.adds two"].map(|id| names.contains(id))
    };
    let case = |name: &str, inside: &str| {
        format!("<testcase classname=\"a.B\" name=\"{name}\">{inside}</testcase>")
    };
    let (fine, skipped) = ("", "<skipped/>");
    for (cases, expected) in [
        ([case("[1] 2", fine), case("[2] 3", fine)], [true, false, false]),
        ([case("[1] 2", fine), case("[2] 3", skipped)], [false, false, false]),
        ([case("[1] 2", fine), case("[2] 3", "<failure/>")], [false, false, false]),
        ([case("adds()", fine), case("adds two [x: 1]", fine)], [true, true, true]),
        ([case("adds(int)[1]", fine), case("adds(int)[2]", skipped)], [false, false, false]),
        ([case("adds()", fine), case("adds two()", skipped)], [false, true, false]),
    ] {
        assert_eq!(passed(&cases.concat()), expected, "{cases:?}");
    }
}
