//! `moss policy`.

mod check;

use std::fmt::Write as _;

use crate::client::NeededTools;
use moss_proto::v1;
use serde_json::{Value, json};

use super::arguments::ToolArguments;
use super::error::CliError;
use super::ui::{bold, green, red, yellow};
use super::{Session, example, table, text, views};
use moss_dispatch::Outcome;

/// Show, check and explain policy rules
#[derive(Debug, clap::Subcommand)]
pub(super) enum PolicyCommand {
    /// List the rules in effect with their locations
    Show,
    /// Check policy files: the ones in effect, or FILE
    Check(check::PolicyCheckArgs),
    /// Explain the decision for a call, without running it
    Explain(ExplainArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// Name of the tool
    tool: String,

    #[command(flatten)]
    arguments: ToolArguments,

    /// Include the standing approvals of this session
    #[arg(long, value_name = "ID", default_value = "")]
    session: String,

    /// Explain the call of another caller, such as a token of `moss token`
    #[arg(long, value_name = "NAME", default_value = "")]
    caller: String,
}

pub(super) async fn run(command: PolicyCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        PolicyCommand::Show => show(session).await,
        PolicyCommand::Check(args) => check::run(&args, session),
        PolicyCommand::Explain(args) => explain(&args, session).await,
    }
}

async fn show(session: &Session) -> Result<Outcome, CliError> {
    let listed = session
        .with_client(NeededTools::Native, async |client| Ok(client.policy_rules().await?))
        .await?;
    session.ui.print_either(
        || {
            let rules: Vec<Value> = listed.rules.iter().map(views::policy_rule).collect();
            json!({ "rules": rules, "problems": listed.problems })
        },
        || {
            if listed.rules.is_empty() {
                return "no rules: the defaults decide".to_owned();
            }
            let rows: Vec<_> = listed.rules.iter().map(row).collect();
            table::render(["LAYER", "DECISION", "APPROVER", "LOCATION", "NAME", "REASON"], &rows)
        },
    )?;
    note_problems(&listed.problems, session);
    Ok(Outcome::Ok)
}

/// Reports what is wrong with files: what was shown is not what they say now.
fn note_problems(problems: &[String], session: &Session) {
    for problem in problems {
        session.ui.note(&format!("{} {}", yellow("broken:"), text::line(problem)));
    }
}

fn row(rule: &v1::PolicyRule) -> [String; 6] {
    [
        rule.layer.clone(),
        views::decision(rule.decision()),
        rule.approver.clone(),
        file_line(rule),
        rule.name.clone(),
        rule.reason.clone(),
    ]
}

async fn explain(args: &ExplainArgs, session: &Session) -> Result<Outcome, CliError> {
    let (explanation, is_daemon) = session
        .with_client(NeededTools::Tool(&args.tool), async |client| {
            let arguments = args.arguments.to_json(client, &args.tool, session).await?;
            let (session, caller) = (args.session.clone(), args.caller.clone());
            let explanation = client.explain(&args.tool, arguments, session, caller).await?;
            Ok((explanation, !client.is_alone()))
        })
        .await?;
    let dry_run = || {
        let command = args.arguments.command("moss call", &args.tool);
        session.elsewhere(&format!("{command} --dry-run"))
    };
    session.ui.print_either(
        || views::explanation(&explanation),
        || explained(&explanation, &dry_run()),
    )?;
    note_problems(&explanation.problems, session);
    if !is_daemon && !args.session.is_empty() {
        session
            .ui
            .note("note: no daemon is running here, and only a daemon knows approvals of sessions");
    }
    Ok(Outcome::Ok)
}

/// Shows what would be decided; `dry_run` is the command that shows the effect of the call.
fn explained(explanation: &v1::ExplainPolicyResponse, dry_run: &str) -> String {
    let mut shown = String::new();
    for step in &explanation.steps {
        let _ = writeln!(shown, "{}: {}", bold(text::line(&step.effect)), colored(step.decision()));
        for rule in &step.matching {
            let mark = if step.deciding.as_ref() == Some(rule) { ">" } else { " " };
            let _ =
                writeln!(shown, "  {mark} {:5} {}", views::decision(rule.decision()), place(rule));
        }
        shown.push_str(&sizes(&step.by_size));
        shown.push_str(&levels(&step.by_level));
    }
    let _ = writeln!(shown, "{} {}", bold("together:"), colored(explanation.decision()));
    if explanation.steps.iter().any(|step| step.command_unknown) {
        let dry_run = text::line(dry_run);
        let _ = writeln!(
            shown,
            "which command it runs is known when it runs: `{dry_run}` shows it, and what decides about it"
        );
    }
    for id in &explanation.allowing_sessions {
        let option = example::quoted(&text::line(id));
        let _ = writeln!(shown, "a standing approval of a session allows it: `--session {option}`");
    }
    shown
}

/// Shows what an unknown size would decide.
fn sizes(by_size: &[v1::SizedDecision]) -> String {
    let mut shown = String::new();
    for (at, sized) in by_size.iter().enumerate() {
        let range = match by_size.get(at + 1) {
            Some(next) => format!("{} to {}", sized.from_bytes, next.from_bytes - 1),
            None => format!("from {}", sized.from_bytes),
        };
        let decision = views::decision(sized.decision());
        let rule = sized.deciding.as_ref().map(place).unwrap_or_default();
        let _ = writeln!(shown, "    depends on the size: {range} bytes: {decision} {rule}");
    }
    shown
}

/// Shows what would be decided by how the location of an edit is found.
fn levels(by_level: &[v1::FoundDecision]) -> String {
    let mut shown = String::new();
    for found in by_level {
        let levels = text::line(&found.match_levels.join(", "));
        let when = if found.drift {
            "where lines differ from what the edit expects".to_owned()
        } else {
            format!("depends on how the text is found: {levels}")
        };
        let decision = views::decision(found.decision());
        let rule = found.deciding.as_ref().map(place).unwrap_or_default();
        let _ = writeln!(shown, "    {when}: {decision} {rule}");
    }
    shown
}

fn colored(decision: v1::Decision) -> String {
    let word = views::decision(decision);
    match decision {
        v1::Decision::Allow => green(word),
        v1::Decision::Deny => red(word),
        v1::Decision::Ask | v1::Decision::Unspecified => yellow(word),
    }
}

fn place(rule: &v1::PolicyRule) -> String {
    let mut shown = text::line(&rule.layer);
    if !rule.file.is_empty() {
        let _ = write!(shown, " {}", text::line(&file_line(rule)));
    }
    if !rule.name.is_empty() {
        let _ = write!(shown, " ({})", text::line(&rule.name));
    }
    if !rule.approver.is_empty() {
        let _ = write!(shown, ", approver {}", text::line(&rule.approver));
    }
    if !rule.reason.is_empty() {
        let _ = write!(shown, ": {}", text::line(&rule.reason));
    }
    shown
}

/// A stored approval has a file and no line.
fn file_line(rule: &v1::PolicyRule) -> String {
    match rule.line {
        0 => rule.file.clone(),
        line => format!("{}:{line}", rule.file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_is_shown_with_its_location() {
        let rule = v1::PolicyRule {
            layer: "user".into(),
            file: "/p.toml".into(),
            line: 4,
            name: "n".into(),
            reason: "because\u{1b}".into(),
            ..Default::default()
        };
        assert_eq!(place(&rule), "user /p.toml:4 (n): because\\u{1b}");
        let rule = v1::PolicyRule { approver: "person".into(), ..rule };
        assert_eq!(place(&rule), "user /p.toml:4 (n), approver person: because\\u{1b}");
        let row = row(&rule);
        assert_eq!(row[2], "person");
        let built_in = v1::PolicyRule { layer: "default".into(), ..Default::default() };
        assert_eq!(place(&built_in), "default");
    }
}
