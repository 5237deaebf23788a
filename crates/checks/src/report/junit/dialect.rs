//! What each tool means by its JUnit XML: ids that run a test again, files, what is no test but a file that
//! could not be loaded.

use super::{CaseOutcome, JunitCase, TestCase, TestReport};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};
use crate::framework::TestFramework;
use crate::named_sources;
use crate::report::{escaped, libtest, line_in};

/// What is said of a file that the report does not name.
pub(crate) const FAILED_AS_A_WHOLE: &str =
    "the file failed as a whole: it could not be loaded, or ended its process";

/// Adds a test to the report.
pub(super) fn finish(case: JunitCase, framework: TestFramework, report: &mut TestReport) {
    let finish = match framework {
        TestFramework::Pytest => pytest,
        TestFramework::Node => node,
        TestFramework::Deno => deno,
        TestFramework::Phpunit => phpunit,
        TestFramework::Ctest => ctest,
        TestFramework::Bats => bats,
        TestFramework::Maven => maven,
        TestFramework::Gradle | TestFramework::Swift => dotted,
        TestFramework::Nextest => nextest,
        _ => named,
    };
    match finish(case) {
        Finished::Test(case) => report.push(case),
        Finished::WithoutTests => report.files_without_tests += 1,
        Finished::NotLoaded(problem) => {
            report.is_build_failed = true;
            report.build.push(problem);
        }
    }
}

/// Finishes the whole report.
pub(super) fn tidied(mut report: TestReport, framework: TestFramework) -> TestReport {
    if framework == TestFramework::Deno {
        // A test fails where a step of it does: the step is enough.
        let failed: Vec<String> =
            report.cases.iter().filter(|case| case.is_bad()).map(|case| case.id.clone()).collect();
        report.cases.retain(|case| {
            let steps = format!("{} > ", case.id);
            !case.is_bad() || !failed.iter().any(|other| other.starts_with(&steps))
        });
        for case in &mut report.cases {
            // Only whole tests can be chosen.
            let test = case.id.split(" > ").next().unwrap_or_default().to_owned();
            if test != case.id && case.is_bad() {
                case.message = format!("{}: {}", case.id, case.message);
            }
            case.id = test;
        }
    }
    report
}

/// What an element of a report is.
enum Finished {
    Test(TestCase),
    /// A file that ended well and declares no test.
    WithoutTests,
    NotLoaded(CheckDiagnostic),
}

fn not_loaded(file: &str, line: Option<u64>, message: &str) -> Finished {
    let line = line.unwrap_or(1).max(1);
    let severity = CheckSeverity::Error;
    Finished::NotLoaded(CheckDiagnostic::at(file, line, 1, severity, "load", message.trim()))
}

fn named(JunitCase { name, mut case, .. }: JunitCase) -> Finished {
    case.id = escaped(&name);
    Finished::Test(case)
}

fn pytest(found: JunitCase) -> Finished {
    let JunitCase { class, name, mut case, .. } = found;
    if case.message == "collection failure" || class.is_empty() {
        let file = case.file.unwrap_or_else(|| format!("{}.py", name.replace('.', "/")));
        let said: Vec<&str> =
            case.details.lines().filter_map(|line| line.strip_prefix("E ")).collect();
        let line = line_in(&file, &case.details);
        return match said.is_empty() {
            true => not_loaded(&file, line, &case.details),
            false => not_loaded(&file, line, &said.join("\n")),
        };
    }
    case.id = pytest_id(&class, &name, case.file.as_deref());
    let is_heading = |line: &&str| line.starts_with("---") && line.contains(" Captured ");
    let output: Vec<&str> = case.output.lines().filter(|line| !is_heading(line)).collect();
    case.output = output.join("\n").trim().to_owned();
    // Where it begins, from 0; the details say where it failed.
    case.line = case.line.map(|line| line + 1);
    let compared = case.message.lines().next().and_then(asserted);
    (case.actual, case.expected) = compared.unzip();
    Finished::Test(case)
}

/// `assert 3 == 4`: what was there and what was expected.
fn asserted(message: &str) -> Option<(String, String)> {
    let message = message.strip_prefix("AssertionError: ").unwrap_or(message);
    let (left, right) = message.strip_prefix("assert ")?.split_once(" == ")?;
    let is_clear =
        !right.contains(" == ") && ![left, right].iter().any(|side| side.contains("..."));
    is_clear.then(|| (left.to_owned(), right.to_owned()))
}

/// The node id of pytest, from what its reports keep of it.
fn pytest_id(class: &str, name: &str, file: Option<&str>) -> String {
    let parts: Vec<&str> = class.split('.').collect();
    let module = match file {
        Some(file) => file.to_owned(),
        None => {
            // Classes begin with a capital letter, modules do not.
            let is_class = |part: &&str| part.starts_with(char::is_uppercase);
            let modules = parts.iter().position(is_class).unwrap_or(parts.len());
            format!("{}.py", parts[..modules].join("/"))
        }
    };
    let modules = module.trim_end_matches(".py").split('/').count();
    let classes = parts.get(modules..).unwrap_or_default();
    let all = std::iter::once(module.as_str()).chain(classes.iter().copied());
    all.chain([name]).collect::<Vec<_>>().join("::")
}

fn node(found: JunitCase) -> Finished {
    let JunitCase { name, suite, mut case, .. } = found;
    // It escapes quotes twice.
    let once = |name: &str| name.replace("&quot;", "\"").replace("&lt;", "<").replace("&amp;", "&");
    let (name, suite) = (once(&name), once(&suite));
    let is_file =
        [".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"].iter().any(|end| name.ends_with(end));
    if is_file && case.is_bad() && case.details.contains("'test failed'") {
        return not_loaded(&name, None, FAILED_AS_A_WHOLE);
    }
    // Node calls a file a test that passed where nothing in it is one.
    if is_file && name.starts_with('/') && case.outcome == CaseOutcome::Passed {
        return Finished::WithoutTests;
    }
    case.id = escaped(&name);
    if case.details.contains("at TestContext.test (") && !suite.is_empty() {
        // A part of a test runs only where that is chosen, too.
        case.id = format!("{}|{}", case.id, escaped(&suite));
    }
    if case.is_bad() {
        let value = |key: &str| {
            let mut lines = case.details.lines().rev();
            let line = lines.find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": "))?;
            Some(line.trim_end_matches(',').to_owned())
        };
        let (expected, actual) = (value("expected"), value("actual"));
        (case.expected, case.actual) = (expected, actual);
        // The report joins the lines of messages: those of the cause are whole.
        if let Some(cause) = cause(&case.details) {
            case.message = cause;
        }
    }
    Finished::Test(case)
}

/// The message of the error that a failure of Node names as its cause.
fn cause(details: &str) -> Option<String> {
    let (_, cause) = details.split_once("  cause: ")?;
    let lines = cause.lines().take_while(|line| !line.trim_start().starts_with("at "));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    let message = lines.join("\n").trim().to_owned();
    (!message.is_empty()).then_some(message)
}

fn deno(found: JunitCase) -> Finished {
    let JunitCase { class, name, mut case, .. } = found;
    case.id = name;
    case.file = Some(class.trim_start_matches("./").to_owned()).filter(|file| !file.is_empty());
    Finished::Test(case)
}

fn phpunit(found: JunitCase) -> Finished {
    let JunitCase { class, name, mut case, .. } = found;
    let (class, name) = (class.as_str(), name.as_str());
    let id = if class.is_empty() { name.to_owned() } else { format!("{class}::{name}") };
    // The first line of what it says is the test itself.
    let rest = case.details.lines().skip_while(|line| line.is_empty() || line.starts_with(&id));
    let said: Vec<&str> = rest.take_while(|line| !is_location(line)).collect();
    if case.is_bad() {
        case.message = said.join("\n").trim().to_owned();
    }
    case.id = escaped(&id);
    let compared = case.message.lines().find_map(|line| {
        let said = line.strip_prefix("Failed asserting that ")?.strip_suffix('.')?;
        let words = [" is identical to ", " matches expected ", " is equal to "];
        words.iter().find_map(|word| said.split_once(*word))
    });
    let compared = compared.map(|(actual, expected)| (actual.to_owned(), expected.to_owned()));
    (case.actual, case.expected) = compared.unzip();
    Finished::Test(case)
}

/// Whether a line is no more than a location, as `/w/tests/CalcTest.php:5`.
fn is_location(line: &str) -> bool {
    let number = line.rsplit_once(".php:").map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

fn ctest(found: JunitCase) -> Finished {
    let JunitCase { name, status, skipped, mut case, .. } = found;
    case.id = format!("^{}$", escaped(&name));
    match status.as_str() {
        "disabled" => case.outcome = CaseOutcome::Skipped,
        // What it skips by itself says so; all else did not run and counts as failed.
        "notrun" if !skipped.starts_with("SKIP_") && !skipped.starts_with("Disabled") => {
            case.outcome = CaseOutcome::Errored;
            case.message = skipped;
        }
        _ => {}
    }
    if case.is_bad() && case.message.is_empty() {
        let last = case.output.lines().rev().find(|line| !line.trim().is_empty());
        let said =
            last.unwrap_or("it failed and wrote nothing: it was ended, or exited with an error");
        case.message = said.to_owned();
    }
    Finished::Test(case)
}

fn bats(found: JunitCase) -> Finished {
    let JunitCase { class, name, mut case, .. } = found;
    let file = class.trim_start_matches("./").to_owned();
    if name.is_empty() {
        let line = case
            .details
            .split_once("line ")
            .and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
        return not_loaded(&file, line, &case.details);
    }
    // Where a file cannot be loaded, other names have their number before them.
    let name = match name.strip_prefix("begin ").and_then(|rest| rest.split_once(' ')) {
        Some((number, rest)) if number.chars().all(|c| c.is_ascii_digit()) => rest.to_owned(),
        _ => name,
    };
    case.id = format!("^{}$", escaped(&name));
    if case.is_bad() {
        case.line = case
            .details
            .split_once(", line ")
            .and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
        let rest: Vec<&str> = case.details.lines().skip(1).map(str::trim).collect();
        case.message = rest.first().map_or_else(String::new, |line| (*line).to_owned());
        case.output = rest.get(1..).unwrap_or_default().join("\n");
    }
    case.file = Some(file);
    Finished::Test(case)
}

fn maven(found: JunitCase) -> Finished {
    let JunitCase { class, name, mut case, .. } = found;
    let method = name.split(['(', '[', '{']).next().unwrap_or(&name).to_owned();
    case.id = format!("{class}#{method}");
    in_class(&class, &mut case);
    Finished::Test(case)
}

fn dotted(found: JunitCase) -> Finished {
    let JunitCase { class, name, mut case, .. } = found;
    let method = name.split(['(', '[']).next().unwrap_or(&name);
    case.id = match class.is_empty() {
        true => method.to_owned(),
        false => format!("{class}.{method}"),
    };
    in_class(&class, &mut case);
    Finished::Test(case)
}

/// Finds the line of a failure in the stack of a Java class, and what its assertion compared.
fn in_class(class: &str, case: &mut TestCase) {
    if !class.is_empty() {
        case.sources = named_sources::names_of_class(class);
    }
    let simple = class.rsplit('.').next().unwrap_or(class).split('$').next().unwrap_or(class);
    for end in ["java", "kt", "groovy", "scala"] {
        case.line = case.line.or_else(|| line_in(&format!("{simple}.{end}"), &case.details));
    }
    let Some((_, said)) = case.message.split_once("expected:") else { return };
    let Some((expected, actual)) = said.split_once("but was:") else { return };
    let bare = |text: &str| text.trim().trim_start_matches('<').trim_end_matches('>').to_owned();
    (case.expected, case.actual) = (Some(bare(expected)), Some(bare(actual)));
}

fn nextest(found: JunitCase) -> Finished {
    let JunitCase { name, mut case, .. } = found;
    case.id = name;
    if case.is_bad() {
        let said = std::mem::take(&mut case.output);
        let said = if said.trim().is_empty() { case.details.clone() } else { said };
        let lines: Vec<&str> = said.lines().collect();
        let short = std::mem::take(&mut case.message);
        libtest::explain(&mut case, &lines);
        // What it says in short is where it panicked, or all that is known.
        if !short.is_empty() && !short.contains(" panicked at ") {
            case.message = short;
        }
    }
    Finished::Test(case)
}
