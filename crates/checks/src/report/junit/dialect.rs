//! What each tool means by its JUnit XML: ids that run a test again, files, what is no test but a file that
//! could not be loaded.

use super::{CaseOutcome, JunitCase, PytestNodes, TestCase, TestReport};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};
use crate::framework::TestFramework;
use crate::jvm_names;
use crate::named_sources;
use crate::report::{escaped, libtest, line_in};

/// Adds a test to the report.
pub(super) fn finish(
    case: JunitCase,
    framework: TestFramework,
    nodes: &PytestNodes,
    report: &mut TestReport,
) {
    let finish = match framework {
        TestFramework::Pytest => return add(pytest(case, nodes), report),
        TestFramework::Deno => deno,
        TestFramework::Phpunit => phpunit,
        TestFramework::Ctest => ctest,
        TestFramework::Bats => bats,
        TestFramework::Maven | TestFramework::Gradle => return add(jvm(case, framework), report),
        TestFramework::Swift => dotted,
        TestFramework::Nextest => nextest,
        _ => named,
    };
    add(finish(case), report);
}

fn add(finished: Finished, report: &mut TestReport) {
    match finished {
        Finished::Test(case) => report.push(case),
        Finished::NotLoaded(problem) => {
            report.is_build_failed = true;
            report.build.push(problem);
        }
    }
}

/// Finishes the whole report.
pub(super) fn tidied(
    mut report: TestReport,
    framework: TestFramework,
    nodes: &PytestNodes,
) -> TestReport {
    if framework == TestFramework::Pytest {
        // Each attempt but the last is a test that passed, whatever came of it.
        let mut again = nodes.run_again().clone();
        report.cases.retain(|case| match again.get_mut(&case.id) {
            Some(left) if *left > 0 && !case.is_bad() => {
                *left -= 1;
                false
            }
            _ => true,
        });
    }
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
    NotLoaded(CheckDiagnostic),
}

fn not_loaded(file: &str, line: Option<u64>, message: &str) -> Finished {
    let (line, severity) = (line.unwrap_or(0), CheckSeverity::Error);
    Finished::NotLoaded(CheckDiagnostic::at(file, line, 0, severity, "load", message.trim()))
}

fn named(JunitCase { name, mut case, .. }: JunitCase) -> Finished {
    case.id = escaped(&name);
    Finished::Test(case)
}

fn pytest(found: JunitCase, nodes: &PytestNodes) -> Finished {
    let JunitCase { class, name, mut case, .. } = found;
    if case.message == "collection failure" || class.is_empty() {
        let file = case.file.unwrap_or_else(|| format!("{}.py", name.replace('.', "/")));
        let said: Vec<&str> =
            case.details.lines().filter_map(|line| line.strip_prefix("E ")).collect();
        // What does not parse is named as Python names it, what is not found in the stack of its import.
        let line = python_line(&file, &said).or_else(|| line_in(&file, &case.details));
        return match said.is_empty() {
            true => not_loaded(&file, line, &case.details),
            false => not_loaded(&file, line, &said.join("\n")),
        };
    }
    // The file is that in which the function stands, which is another one of what a class inherits.
    let known = nodes.find(&class, &name).map(str::to_owned);
    case.id = known.unwrap_or_else(|| pytest_id(&class, &name, case.file.as_deref()));
    let is_heading = |line: &&str| line.starts_with("---") && line.contains(" Captured ");
    let output: Vec<&str> = case.output.lines().filter(|line| !is_heading(line)).collect();
    case.output = output.join("\n").trim().to_owned();
    // Where it begins, from 0; the details say where it failed.
    case.line = case.line.map(|line| line + 1);
    let compared = case.message.lines().next().and_then(asserted);
    (case.actual, case.expected) = compared.unzip();
    Finished::Test(case)
}

/// The line of a file that does not parse: `  File "/w/tests/test_a.py", line 8`.
fn python_line(file: &str, said: &[&str]) -> Option<u64> {
    said.iter().find_map(|said| {
        let (named, rest) = said.trim().strip_prefix("File \"")?.split_once('"')?;
        let line = rest.strip_prefix(", line ")?.split(',').next()?.parse().ok()?;
        named.ends_with(file).then_some(line)
    })
}

/// `assert 3 == 4`: what was there and what was expected.
fn asserted(message: &str) -> Option<(String, String)> {
    let message = message.strip_prefix("AssertionError: ").unwrap_or(message);
    let (left, right) = message.strip_prefix("assert ")?.split_once(" == ")?;
    let is_clear =
        !right.contains(" == ") && ![left, right].iter().any(|side| side.contains("..."));
    is_clear.then(|| (left.to_owned(), right.to_owned()))
}

/// The node id of pytest, from what its reports keep of it, where its output does not have it.
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
    // With delimiters of its own: otherwise some names are shorthands, and slashes are escaped once more.
    case.id = format!("/^{}$/", escaped(&id));
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

fn jvm(found: JunitCase, framework: TestFramework) -> Finished {
    let JunitCase { class, name, mut case, .. } = found;
    let stack = case.is_bad().then_some(case.details.as_str());
    case.id = jvm_names::id(framework, &class, &name, stack).unwrap_or_default();
    in_class(&class, &mut case);
    // What chooses it may choose others, too.
    let is_named = case.id.ends_with(name.strip_suffix("()").unwrap_or(&name));
    if case.is_bad() && !is_named {
        case.message = match case.message.as_str() {
            "" => name,
            message => format!("{name}: {message}"),
        };
    }
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
