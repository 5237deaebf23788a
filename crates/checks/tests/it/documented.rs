//! Reports of tools that no registry in reach brings. The texts are written by hand, after the programs that write such
//! reports: each test says which version of which that is, and where it is defined.

use moss_checks::{
    FinishedRun, ReportFile, SourcePaths, TestFailure, TestFramework, TestResults, TestStatus,
    Unselectable, named_sources, source_names, test_results,
};

fn read(
    framework: TestFramework,
    exit_code: i32,
    stdout: &str,
    reports: &[(&str, &str)],
) -> TestResults {
    read_in(framework, exit_code, stdout, reports, &[])
}

/// Reads what a run left behind in a project that has these files.
fn read_in(
    framework: TestFramework,
    exit_code: i32,
    stdout: &str,
    reports: &[(&str, &str)],
    files: &[&str],
) -> TestResults {
    let file = |(name, text): &(&str, &str)| ReportFile {
        name: (*name).to_owned(),
        text: (*text).to_owned(),
    };
    let reports: Vec<ReportFile> = reports.iter().map(file).collect();
    let exit_code = Some(exit_code);
    let finished = FinishedRun {
        exit_code,
        signal: None,
        stdout,
        stderr: "",
        reports: &reports,
        left_out: None,
        is_cut: false,
    };
    let sources = named_sources(&source_names(framework, &finished), files.iter().copied());
    test_results(framework, &SourcePaths::new("/w", "").with_sources(sources), &finished)
}

fn totals(found: &TestResults) -> [u64; 4] {
    [found.totals.passed, found.totals.failed, found.totals.skipped, found.totals.errored]
}

fn location(failure: &TestFailure) -> (Option<&str>, Option<u64>) {
    (failure.file.as_deref(), failure.line)
}

fn compared(failure: &TestFailure) -> (Option<&str>, Option<&str>) {
    (failure.expected.as_deref(), failure.actual.as_deref())
}

/// As Gradle 8 writes JUnit XML: `JUnitXmlResultWriter` in `org.gradle.api.internal.tasks.testing.junit.result`. The
/// suite has a host and a time, each test a class, and a failure its message and type besides the stack.
#[test]
fn reports_of_gradle() {
    let report = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <testsuite name=\"a.CalcTest\" tests=\"3\" skipped=\"1\" failures=\"1\" errors=\"0\" \
        timestamp=\"2026-11-26T20:00:00\" hostname=\"host\" time=\"0.021\">\n  <properties/>\n  \
        <testcase name=\"adds()\" classname=\"a.CalcTest\" time=\"0.011\"/>\n  \
        <testcase name=\"wrong()\" classname=\"a.CalcTest\" time=\"0.009\">\n    <failure \
        message=\"org.opentest4j.AssertionFailedError: expected: &lt;4&gt; but was: &lt;3&gt;\" \
        type=\"org.opentest4j.AssertionFailedError\">org.opentest4j.AssertionFailedError: expected: &lt;4&gt; but was: \
        &lt;3&gt;\n\tat app//a.CalcTest.wrong(CalcTest.java:12)\n</failure>\n  </testcase>\n  \
        <testcase name=\"later()\" classname=\"a.CalcTest\" time=\"0.0\">\n    <skipped/>\n  </testcase>\n  \
        <system-out><![CDATA[about to fail\n]]></system-out>\n  <system-err><![CDATA[]]></system-err>\n</testsuite>\n";
    let found = read(TestFramework::Gradle, 1, "", &[("TEST-a.CalcTest.xml", report)]);
    assert_eq!((found.status, totals(&found)), (TestStatus::Failed, [1, 1, 1, 0]), "{found:?}");
    let failure = &found.failures[0];
    assert_eq!((failure.id.as_str(), location(failure)), ("a.CalcTest.wrong", (None, Some(12))));
    assert_eq!(compared(failure), (Some("4"), Some("3")));
}

/// Gradle 8 calls a test as the test calls itself, with a class of its binary name: of a method without another name that is its
/// name with `()`, of cases what their pattern says. Spock and Kotlin have names with blanks, which stacks have, too.
#[test]
fn names_of_gradle_that_are_shown_choose_methods_only_where_the_stack_has_them() {
    let case = |class: &str, name: &str, frame: &str| {
        format!(
            "  <testcase name=\"{name}\" classname=\"{class}\" time=\"0.011\">\n    <failure message=\"no\" type=\"E\">E: no\n\t\
             at org.junit.Fail.fail(Fail.java:1)\n\tat {frame}\n</failure>\n  </testcase>\n"
        )
    };
    let report = format!(
        "<testsuite name=\"a.B\" tests=\"6\">\n{}{}{}{}{}{}</testsuite>\n",
        case("a.B", "[1] 2 + 3", "app//a.B.sums(B.java:12)"),
        case("a.B", "adds()", "app//a.B.adds(B.java:12)"),
        case("a.B$Inner", "adds two()", "app//a.B$Inner.adds two(B.kt:12)"),
        case(
            "a.Spec",
            "name with spaces [x: 1, #0]",
            "app//a.Spec.name with spaces(Spec.groovy:5)"
        ),
        case("a.Spec", "1 + 2 = 3", "app//a.Spec.#a + #b = #c(Spec.groovy:9)"),
        case("a calculator", "adds()", "app//a.B.adds(B.java:12)"),
    );
    let found = read(TestFramework::Gradle, 1, "", &[("TEST-a.B.xml", &report)]);
    let said: Vec<[&str; 2]> =
        found.failures.iter().map(|failure| [&*failure.id, &*failure.message]).collect();
    assert_eq!(
        said,
        [
            ["a.B", "[1] 2 + 3: no"],
            ["a.B.adds", "no"],
            ["a.B$Inner.adds two", "no"],
            ["a.Spec.name with spaces", "name with spaces [x: 1, #0]: no"],
            ["a.Spec", "1 + 2 = 3: no"],
            ["", "adds(): no"],
        ]
    );
    let unselectable = found.failures.iter().map(|failure| failure.unselectable);
    let of_no_class = Some(Unselectable::NoSelector);
    assert_eq!(unselectable.collect::<Vec<_>>(), [None, None, None, None, None, of_no_class]);
    let json = serde_json::to_value(&found.failures[5]).unwrap();
    assert_eq!(json["unselectable"], "no_selector");
}

/// The logger `trx` of vstest 17 and 18: its elements and attributes by `TestResult.Save`, `TestResultAggregation.Save`,
/// `UnitTestElement.Save` and `TestMethod.Save` of `Microsoft.TestPlatform.Extensions.TrxLogger/ObjectModel`, outcomes by
/// `Converter.ToOutcome`, what is counted by `TrxLogger.TestResultHandler`. A file begins with the mark of UTF-8; the
/// outcome of a test that ended with an error is the default, which is not written. Its namespace is another one here.
#[test]
fn reports_of_dotnet() {
    let result = |id: &str, name: &str, attributes: &str, inside: &str| {
        format!(
            "    <UnitTestResult executionId=\"e-{id}\" testId=\"{id}\" testName=\"{name}\" computerName=\"host\" \
             duration=\"00:00:00.0120000\" startTime=\"2026-11-26T20:00:00.0000000+00:00\" \
             endTime=\"2026-11-26T20:00:00.0120000+00:00\" testType=\"13cdc9d9-ddb5-4fa4-a97d-d965ccfc6d4b\" {attributes} \
             testListId=\"8c84fa94-04c1-424b-9868-57a2d4851a1d\" relativeResultsDirectory=\"e-{id}\">{inside}</UnitTestResult>\n"
        )
    };
    let definition = |id: &str, class: &str, name: &str| {
        format!(
            "    <UnitTest name=\"{name}\" storage=\"/w/bin/calc.tests.dll\" id=\"{id}\">\n      <Execution id=\"e-{id}\" />\n      \
             <TestMethod codeBase=\"/w/bin/Calc.Tests.dll\" adapterTypeName=\"executor://x\" className=\"{class}\" \
             name=\"{name}\" />\n    </UnitTest>\n"
        )
    };
    let failure = "\n      <Output>\n        <StdOut>about to fail</StdOut>\n        <ErrorInfo>\n          \
        <Message>Assert.Equal() Failure: Values differ&#xD;\nExpected: 4&#xD;\nActual:   3</Message>\n          \
        <StackTrace>   at Calc.Tests.Wrong(Int32 x) in /w/tests/CalcTests.cs:line 12&#xD;\n   at \
        System.Reflection.MethodBaseInvoker.InvokeWithNoArgs()</StackTrace>\n        </ErrorInfo>\n        \
        <TextMessages>\n          <Message>more</Message>\n        </TextMessages>\n      </Output>\n    ";
    let rows = format!(
        "\n      <InnerResults>\n{}{}      </InnerResults>\n    ",
        result(
            "rows",
            "Rows (1)",
            "outcome=\"Passed\" dataRowInfo=\"1\" resultType=\"DataDrivenDataRow\"",
            ""
        ),
        result(
            "rows",
            "Rows (2)",
            "outcome=\"Failed\" dataRowInfo=\"2\" resultType=\"DataDrivenDataRow\"",
            failure
        ),
    );
    let report = format!(
        "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <TestRun id=\"r\" name=\"user@host 2026-11-26 20:00:00\" runUser=\"user\" \
         xmlns=\"urn:TeamTest\">\n  <Times creation=\"2026-11-26T20:00:00\" />\n  \
         <TestSettings name=\"default\" id=\"s\">\n    <Deployment runDeploymentRoot=\"user_host\" />\n  </TestSettings>\n  \
         <Results>\n{}{}{}{}{}  </Results>\n  <TestDefinitions>\n{}{}{}{}{}  </TestDefinitions>\n  <TestEntries>\n    \
         <TestEntry testId=\"adds\" executionId=\"e-adds\" testListId=\"l\" />\n  </TestEntries>\n  <TestLists>\n    \
         <TestList name=\"Results Not in a List\" id=\"l\" />\n  </TestLists>\n  <ResultSummary outcome=\"Failed\">\n    \
         <Counters total=\"7\" executed=\"5\" passed=\"2\" failed=\"3\" error=\"0\" timeout=\"0\" aborted=\"0\" />\n    \
         <Output>\n      <StdOut>Standard Output Messages:</StdOut>\n    </Output>\n  </ResultSummary>\n</TestRun>",
        result("adds", "Calc.Tests.Adds", "outcome=\"Passed\"", ""),
        result("wrong", "Wrong(x: 1)", "outcome=\"Failed\"", failure),
        result("later", "Calc.Tests.Later", "outcome=\"NotExecuted\"", ""),
        result("crash", "Calc.Tests.Crash", "", ""),
        result("rows", "Rows", "outcome=\"Failed\" resultType=\"DataDrivenTest\"", &rows),
        definition("adds", "Calc.Tests", "Adds"),
        definition("wrong", "Calc.Tests, Calc, Version=1.0", "Wrong(1)"),
        definition("later", "Calc.Tests", "Calc.Tests.Later"),
        definition("crash", "Calc.Tests", "Crash"),
        definition("rows", "Calc.Tests", "Rows"),
    );
    let found = read(TestFramework::Dotnet, 1, "", &[("host.trx", &report)]);
    // A test with data is counted beside its rows, as the tool does.
    assert_eq!((found.status, totals(&found)), (TestStatus::Failed, [2, 3, 1, 1]), "{found:?}");
    let ids: Vec<&str> = found.failures.iter().map(|failure| failure.id.as_str()).collect();
    assert_eq!(ids, ["Calc.Tests.Wrong", "Calc.Tests.Crash", "Calc.Tests.Rows", "Calc.Tests.Rows"]);
    let wrong = &found.failures[0];
    assert_eq!(location(wrong), (Some("tests/CalcTests.cs"), Some(12)), "{wrong:?}");
    assert_eq!(compared(wrong), (Some("4"), Some("3")));
    assert!(wrong.message.starts_with("Assert.Equal() Failure") && !wrong.message.contains("more"));
    assert_eq!((wrong.output_tail.as_str(), wrong.duration_ms), ("about to fail", Some(12)));
    assert_eq!(found.failures[3].message, "a row of its data failed");
}

#[test]
fn a_report_of_dotnet_without_tests() {
    let without = "<TestRun xmlns=\"urn:TeamTest\"><Results /></TestRun>";
    let found = read(TestFramework::Dotnet, 0, "", &[("host.trx", without)]);
    assert_eq!(found.status, TestStatus::NoTests, "{found:?}");
}

/// As swift-package-manager 6 runs tests side by side: of XCTest `XUnitGenerator` of
/// `Sources/Commands/SwiftTestCommand.swift` says no more than which failed, and after all of them comes what those wrote,
/// by `PrintObserver.swift` of swift-corelibs-xctest. Swift Testing writes a report of its own,
/// `Sources/Testing/Events/Recorder/Event.JUnitXMLRecorder.swift`, and lines by `Event.HumanReadableOutputRecorder.swift`.
#[test]
fn reports_of_swift() {
    let xctest = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\n<testsuites>\n\
        <testsuite name=\"TestResults\" errors=\"0\" tests=\"2\" failures=\"1\" time=\"0.02\">\n\
        <testcase classname=\"CalcTests.CalcTests\" name=\"testAdds\" time=\"0.01\">\n</testcase>\n\
        <testcase classname=\"CalcTests.CalcTests\" name=\"testWrong\" time=\"0.01\">\n\
        <failure message=\"failed\"></failure>\n</testcase>\n</testsuite>\n</testsuites>\n";
    let testing = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  \
        <testsuite name=\"TestResults\" errors=\"0\" tests=\"3\" failures=\"1\" skipped=\"1\" time=\"0.01\">\n    \
        <testcase classname=\"CalcTests.Sums\" name=\"adds()\" time=\"0.001\" />\n    \
        <testcase classname=\"CalcTests\" name=\"wrong()\" time=\"0.001\" >\n      \
        <failure message=\"Expectation failed: (1 + 2 &#8594; 3) == 4\" />\n    </testcase>\n    \
        <testcase classname=\"CalcTests\" name=\"later()\" >\n      <skipped>not now</skipped>\n    </testcase>\n  \
        </testsuite>\n</testsuites>\n";
    let stdout = "[1/2] Testing CalcTests.CalcTests/testAdds\n[2/2] Testing CalcTests.CalcTests/testWrong\n\
        Test Suite 'Selected tests' started at 2026-11-26 20:00:00.000\n\
        Test Case 'CalcTests.testWrong' started at 2026-11-26 20:00:00.001\n\
        /w/Tests/CalcTests/CalcTests.swift:8: error: CalcTests.testWrong : XCTAssertEqual failed: (\"3\") is not equal to (\"4\") - sums\n\
        Test Case 'CalcTests.testWrong' failed (0.001 seconds)\n\
        ◇ Test run started.\n◇ Test adds() started.\n✔ Test adds() passed after 0.001 seconds.\n\
        ✘ Test wrong() recorded an issue at Sums.swift:12:5: Expectation failed: (1 + 2 → 3) == 4\n\
        ✘ Test wrong() failed after 0.001 seconds with 1 issue.\n➜ Test later() skipped: \"not now\"\n\
        ✘ Test run with 3 tests in 1 suite failed after 0.001 seconds with 1 issue.\n";
    let reports = [("swift.xml", xctest), ("swift-swift-testing.xml", testing)];
    let found = read(TestFramework::Swift, 1, stdout, &reports);
    assert_eq!((found.status, totals(&found)), (TestStatus::Failed, [2, 2, 1, 0]), "{found:?}");
    let (old, new) = (&found.failures[0], &found.failures[1]);
    assert_eq!(old.id, "CalcTests.CalcTests.testWrong");
    assert_eq!(location(old), (Some("Tests/CalcTests/CalcTests.swift"), Some(8)), "{old:?}");
    assert!(old.message.contains("is not equal to") && old.message.contains("sums"), "{old:?}");
    assert_eq!(compared(old), (Some("4"), Some("3")));
    assert_eq!((new.id.as_str(), location(new)), ("CalcTests.wrong", (None, Some(12))));
    assert_eq!(new.message, "Expectation failed: (1 + 2 → 3) == 4 (Sums.swift:12)");
    // Of a file it says the name: which one that is says the module, or that only one has the name.
    for (files, file) in [
        (["Tests/CalcTests/deep/Sums.swift", "Tests/OtherTests/Sums.swift"], 0),
        (["Sources/Calc/Calc.swift", "checks/Sums.swift"], 1),
    ] {
        let found = read_in(TestFramework::Swift, 1, stdout, &reports, &files);
        assert_eq!(location(&found.failures[1]), (Some(files[file]), Some(12)), "{found:?}");
    }
    // On macOS XCTest names methods as Objective-C does.
    let apple =
        stdout.replace("error: CalcTests.testWrong", "error: -[CalcTests.CalcTests testWrong]");
    let found = read(TestFramework::Swift, 1, &apple, &reports);
    assert_eq!(found.failures[0].line, Some(8), "{found:?}");
    let none = "error: no tests found; create a target in the 'Tests' directory\n";
    assert_eq!(read(TestFramework::Swift, 1, none, &[]).status, TestStatus::NoTests);
}
