//! `moss plugin check`: what is wrong with a plugin, or could be better.

use crate::develop::bench::{Bench, BenchError, Given};
use crate::develop::lint::{self, LintFinding};
use moss_plugin_host::LoadError;
use serde_json::json;

use super::super::super::error::CliError;
use super::super::super::ui::{red, yellow};
use super::super::super::{Session, interruptible, text};
use super::{BuiltComponent, PluginCheckArgs, built};
use moss_dispatch::Outcome;

pub(super) async fn run(args: &PluginCheckArgs, session: &Session) -> Result<Outcome, CliError> {
    let component = BuiltComponent::of(&args.component, session).await?;
    let given = args.given.read(false)?;
    let bench = interruptible(open(&component, &given, session)).await?;
    let found = findings(&bench, &component);
    bench.close().await;
    let errors = found.iter().filter(|finding| finding.is_error).count();
    let warnings = found.len() - errors;
    session.ui.print_either(
        || {
            let mut shown = built(&component);
            shown["findings"] = found.iter().map(json_of).collect();
            shown["errors"] = json!(errors);
            shown["warnings"] = json!(warnings);
            shown
        },
        || {
            let mut lines: Vec<_> = found.iter().map(line).collect();
            let count = |count: usize, what: &str| {
                format!("{count} {what}{}", if count == 1 { "" } else { "s" })
            };
            lines.push(format!("{}, {}", count(errors, "error"), count(warnings, "warning")));
            lines.join("\n")
        },
    )?;
    Ok(if errors == 0 { Outcome::Ok } else { Outcome::Failed })
}

/// Loads a component into a directory of its own.
pub(super) async fn open(
    component: &BuiltComponent,
    given: &Given,
    session: &Session,
) -> Result<Bench, CliError> {
    let own = session.setup()?;
    let sha256 = component.digest();
    let opened = Bench::open(&own, component.candidate(&sha256), &component.bytes, given).await;
    let refused = |message: String| CliError::new(Outcome::Failed, "plugin_refused", message);
    opened.map_err(|error| match error {
        BenchError::Load(LoadError::Settings(problem)) => {
            let hint = format!("give its settings, such as {}", problem.option());
            refused(format!("the settings do not match the schema of the plugin: {problem}"))
                .hint(hint)
        }
        BenchError::Load(error) => refused(format!("{}: {error}", component.file.display())),
        error => refused(error.to_string()),
    })
}

pub(super) fn findings(bench: &Bench, component: &BuiltComponent) -> Vec<LintFinding> {
    let imports = moss_plugin_host::imported_names(&component.bytes).unwrap_or_default();
    lint::check(bench.plugin(), &imports, component.bytes.len() as u64)
}

pub(super) fn line(finding: &LintFinding) -> String {
    let kind = if finding.is_error { red("error") } else { yellow("warning") };
    let (at, message) = (text::line(&finding.at), text::lines(&finding.message));
    format!("{kind} [{}] {at}: {message}", finding.code)
}

pub(super) fn json_of(finding: &LintFinding) -> serde_json::Value {
    json!({
        "severity": if finding.is_error { "error" } else { "warning" },
        "code": finding.code,
        "at": finding.at,
        "message": finding.message,
    })
}
