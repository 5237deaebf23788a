//! `moss plugin test`: the examples of a plugin's tools, run in the sandbox.

use crate::develop::bench::{Bench, Difference, Tried};
use moss_sdk::RelPath;
use serde_json::json;

use super::super::super::error::CliError;
use super::super::super::ui::{dim, green, red};
use super::super::super::{Session, diff, interruptible, text};
use super::{BuiltComponent, TestArgs, built, check};
use moss_dispatch::Outcome;

/// Most messages of a plugin that are shown beside an example that fails.
const LOG_SHOWN: usize = 20;

pub(super) async fn run(args: &TestArgs, session: &Session) -> Result<Outcome, CliError> {
    let component = BuiltComponent::of(&args.component, session).await?;
    let given = args.given.read(args.allow_http)?;
    let bench = interruptible(check::open(&component, &given, session)).await?;
    let tried = interruptible(examples(&bench)).await;
    bench.close().await;
    let tried = tried?;
    let failed = count(&tried, ExampleResult::Failed);
    session.ui.print_either(
        || {
            let mut shown = built(&component);
            shown["examples"] = tried.iter().map(json_of).collect();
            shown["passed"] = json!(count(&tried, ExampleResult::Passed));
            shown["skipped"] = json!(count(&tried, ExampleResult::Skipped));
            shown["failed"] = json!(failed);
            shown
        },
        || report(&tried),
    )?;
    if tried.is_empty() {
        session.ui.note("no tool has an example: nothing was tried");
    }
    Ok(if failed == 0 { Outcome::Ok } else { Outcome::Failed })
}

/// How an example ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExampleResult {
    Passed,
    Failed,
    /// It is inconclusive without the hosts that the plugin requests.
    Skipped,
}

/// Runs every example of every tool.
pub(super) async fn examples(bench: &Bench) -> Result<Vec<Tried>, CliError> {
    let plugin = bench.plugin();
    let mut tried = Vec::new();
    for spec in plugin.specs() {
        for example in plugin.examples(&spec.name) {
            let run = bench.try_example(&spec.name, example).await;
            tried.push(run.map_err(|error| {
                CliError::new(Outcome::Failed, "test_failed", error.to_string())
            })?);
        }
    }
    Ok(tried)
}

/// All examples and what fails, for people.
pub(super) fn report(tried: &[Tried]) -> String {
    let mut shown = String::new();
    for tried in tried {
        let (tool, title) = (text::line(&tried.tool), text::line(&tried.title));
        let took = dim(format!("{} ms", tried.duration_ms));
        match end(tried) {
            ExampleResult::Passed => {
                shown.push_str(&format!("{} {tool}: {title} {took}\n", green("ok    ")));
                continue;
            }
            ExampleResult::Skipped => {
                let why = "it needs hosts: try it with --allow-http";
                shown.push_str(&format!("{} {tool}: {title}: {why}\n", dim("skipped")));
                continue;
            }
            ExampleResult::Failed => {}
        }
        shown.push_str(&format!("{} {tool}: {title} {took}\n", red("failed")));
        for difference in &tried.differences {
            shown.push_str(&difference_text(difference));
        }
        for message in tried.log.iter().take(LOG_SHOWN) {
            shown.push_str(&format!("  {} {}\n", dim("it says:"), text::lines(message)));
        }
    }
    let of = |end| count(tried, end);
    let skipped = match of(ExampleResult::Skipped) {
        0 => String::new(),
        skipped => format!(", {skipped} skipped"),
    };
    shown
        + &format!(
            "{} passed, {} failed{skipped}\n",
            of(ExampleResult::Passed),
            of(ExampleResult::Failed)
        )
}

fn end(tried: &Tried) -> ExampleResult {
    match (tried.differences.is_empty(), tried.lacks_hosts) {
        (true, _) => ExampleResult::Passed,
        (false, true) => ExampleResult::Skipped,
        (false, false) => ExampleResult::Failed,
    }
}

fn count(tried: &[Tried], ended: ExampleResult) -> usize {
    tried.iter().filter(|tried| end(tried) == ended).count()
}

fn difference_text(difference: &Difference) -> String {
    match difference {
        Difference::Failed(why) => format!("  it failed: {}\n", text::lines(why)),
        Difference::Output { expected, actual } => {
            format!(
                "  the output is not as the example says:\n{}",
                between("output", expected, actual)
            )
        }
        Difference::File { path, expected, actual } => {
            let path = text::line(path);
            match (expected, actual) {
                (_, None) => format!("  {path} is not there\n"),
                (None, Some(actual)) => {
                    format!(
                        "  {path} is there, and the example does not say so:\n{}",
                        between(&path, "", actual)
                    )
                }
                (Some(expected), Some(actual)) => {
                    format!(
                        "  {path} is not as the example says:\n{}",
                        between(&path, expected, actual)
                    )
                }
            }
        }
    }
}

/// What is expected, as removed lines, and what is there, as added ones.
fn between(name: &str, expected: &str, actual: &str) -> String {
    let path = RelPath::parse(name).unwrap_or_else(|_| RelPath::root());
    let line_end =
        |text: &str| if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let (expected, actual) = (line_end(expected), line_end(actual));
    let found = moss_workspace::between(&path, Some(expected.as_bytes()), Some(actual.as_bytes()));
    diff::colored(&found.text)
}

pub(super) fn json_of(tried: &Tried) -> serde_json::Value {
    let differences = tried.differences.iter().map(|difference| match difference {
        Difference::Failed(why) => json!({ "kind": "failed", "message": why }),
        Difference::Output { expected, actual } => {
            json!({ "kind": "output", "expected": expected, "actual": actual })
        }
        Difference::File { path, expected, actual } => {
            json!({ "kind": "file", "path": path, "expected": expected, "actual": actual })
        }
    });
    json!({
        "tool": tried.tool,
        "title": tried.title,
        "passed": end(tried) == ExampleResult::Passed,
        "skipped": end(tried) == ExampleResult::Skipped,
        "differences": differences.collect::<Vec<_>>(),
        "log": tried.log,
        "duration_ms": tried.duration_ms,
    })
}
