//! `moss policy`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::client::NeededTools;
use moss_daemon::setup::WORKSPACE_POLICY;
use moss_daemon::start::{self, StartError};
use moss_policy::format::FILE_BYTES_MAX;
use moss_policy::{Policy, PolicyError, PolicyFile, Sources};
use moss_proto::v1;
use moss_workspace::{Workspace, WorkspaceOptions};
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
    Check(PolicyCheckArgs),
    /// Explain the decision for a call, without running it
    Explain(ExplainArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct PolicyCheckArgs {
    /// The policy file to check; by default all that are in effect
    file: Option<PathBuf>,

    /// Layer of FILE, which determines what it may contain
    ///
    /// By default inferred from its location: what lies in the administrator's directory, a
    /// `policy.toml` in a directory `.moss`, anything else as the user's.
    #[arg(long, value_enum, requires = "file")]
    layer: Option<CheckedLayer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CheckedLayer {
    /// Of the administrator: no other layer allows what it denies
    Admin,
    /// Of the user: may allow, ask and deny
    User,
    /// Of a workspace: may ask and deny, not allow
    Workspace,
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

/// What a check found.
struct PolicyCheckReport {
    rules: usize,
    problems: Vec<PolicyError>,
    /// The layer that a file was checked for.
    layer: Option<CheckedLayer>,
}

pub(super) async fn run(command: PolicyCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        PolicyCommand::Show => show(session).await,
        PolicyCommand::Check(args) => check(&args, session),
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
    session.ui.print_either(|| views::explanation(&explanation), || explained(&explanation))?;
    note_problems(&explanation.problems, session);
    if !is_daemon && !args.session.is_empty() {
        session
            .ui
            .note("note: no daemon is running here, and only a daemon knows approvals of sessions");
    }
    Ok(Outcome::Ok)
}

fn explained(explanation: &v1::ExplainPolicyResponse) -> String {
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
        shown.push_str(
            "which command it runs is known when it runs: `moss call TOOL --dry-run` shows it, and what decides about it\n",
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

fn check(args: &PolicyCheckArgs, session: &Session) -> Result<Outcome, CliError> {
    let checked = match &args.file {
        Some(file) => {
            let admin = session.dirs()?.admin;
            check_file(file, args.layer.unwrap_or_else(|| layer_of(file, &admin)))?
        }
        None => check_in_effect(session)?,
    };
    let assumed = checked.layer.filter(|_| args.layer.is_none());
    for problem in &checked.problems {
        if !session.ui.json() {
            session.ui.note(&diagnostic(problem));
        }
    }
    session.ui.print_either(
        || {
            let problems: Vec<_> = checked.problems.iter().map(problem_view).collect();
            let layer = checked.layer.map(CheckedLayer::word);
            json!({ "rules": checked.rules, "problems": problems, "layer": layer })
        },
        || {
            let found = match checked.problems.len() {
                0 => format!("in order, rules: {}", checked.rules),
                count => format!("broken files: {count}"),
            };
            match assumed {
                Some(layer) => format!("{found} (as {}; --layer overrides this)", layer.word()),
                None => found,
            }
        },
    )?;
    Ok(if checked.problems.is_empty() { Outcome::Ok } else { Outcome::Invalid })
}

fn check_in_effect(session: &Session) -> Result<PolicyCheckReport, CliError> {
    let setup = session.setup()?;
    let files = Workspace::open(&setup.workspaces[0], WorkspaceOptions::default())
        .map_err(StartError::Workspace)?;
    match start::load_policy(&setup, &files) {
        Ok(policy) => Ok(PolicyCheckReport::of(&policy)),
        Err(StartError::AdminPolicy(problem)) => Ok(PolicyCheckReport::broken(*problem)),
        Err(error) => Err(error.into()),
    }
}

/// Infers from its location which layer a file is for.
fn layer_of(file: &Path, admin: &Path) -> CheckedLayer {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let is_in = |directory: &Path| {
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        file.starts_with(directory)
    };
    if is_in(admin) {
        CheckedLayer::Admin
    } else if file.ends_with(WORKSPACE_POLICY) {
        CheckedLayer::Workspace
    } else {
        CheckedLayer::User
    }
}

/// Checks a file as if it were the file of a layer.
fn check_file(file: &Path, layer: CheckedLayer) -> Result<PolicyCheckReport, CliError> {
    let text = read(file).map_err(|error| {
        CliError::invalid(format!("{}: {error}", text::line(&file.display().to_string())))
    })?;
    let source = PolicyFile { file: text::line(&file.display().to_string()), text: Ok(Some(text)) };
    let mut sources = Sources::default();
    match layer {
        CheckedLayer::Admin => sources.admin.push(source),
        CheckedLayer::User => sources.user = Some(source),
        CheckedLayer::Workspace => sources.workspace = Some(source),
    }
    let checked = match Policy::load(sources) {
        Ok(policy) => PolicyCheckReport::of(&policy),
        Err(problem) => PolicyCheckReport::broken(*problem),
    };
    Ok(PolicyCheckReport { layer: Some(layer), ..checked })
}

/// Reads at most a byte more than a policy file may have: the reader refuses that then.
fn read(file: &Path) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    #[expect(clippy::disallowed_methods, reason = "the person at the terminal names the file")]
    std::fs::File::open(file)?.take(FILE_BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

fn problem_view(problem: &PolicyError) -> Value {
    json!({
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "message": problem.message,
        "help": problem.help,
    })
}

/// Draws the location in the file. The streams take colours out where they are not wanted.
fn diagnostic(problem: &PolicyError) -> String {
    let mut drawn = String::new();
    let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode());
    match handler.with_links(false).render_report(&mut drawn, problem) {
        Ok(()) => drawn,
        Err(_) => problem.one_line(),
    }
}

// === impl CheckedLayer ===

impl CheckedLayer {
    fn word(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
            Self::Workspace => "workspace",
        }
    }
}

// === impl PolicyCheckReport ===

impl PolicyCheckReport {
    fn of(policy: &Policy) -> Self {
        Self {
            rules: policy.rules().count(),
            problems: policy.problems().map(|problem| problem.error.clone()).collect(),
            layer: None,
        }
    }

    fn broken(problem: PolicyError) -> Self {
        Self { rules: 0, problems: vec![problem], layer: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_checked_by_the_grammar_of_its_layer() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("policy.toml");
        std::fs::write(&file, "version = 1\n[[rule]]\ndecision = \"allow\"\n").unwrap();
        assert!(check_file(&file, CheckedLayer::Admin).unwrap().problems.is_empty());
        let checked = check_file(&file, CheckedLayer::User).unwrap();
        assert_eq!((checked.rules, checked.problems.len()), (1, 0));
        let problems = check_file(&file, CheckedLayer::Workspace).unwrap().problems;
        assert_eq!(problems[0].line, 3);
        let drawn = anstream::adapter::strip_str(&diagnostic(&problems[0])).to_string();
        assert!(
            drawn.contains("policy.toml:3:") && drawn.contains("decision = \"allow\""),
            "{drawn}"
        );
    }

    #[test]
    fn layer_follows_from_the_location_of_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let admin = dir.path().join("etc/moss");
        std::fs::create_dir_all(&admin).unwrap();
        std::fs::create_dir_all(dir.path().join("work/.moss")).unwrap();
        std::os::unix::fs::symlink(&admin, dir.path().join("link")).unwrap();
        for (file, layer) in [
            ("etc/moss/policy.toml", CheckedLayer::Admin),
            ("etc/moss/more/extra.toml", CheckedLayer::Admin),
            ("link/policy.toml", CheckedLayer::Admin),
            ("work/.moss/policy.toml", CheckedLayer::Workspace),
            ("work/.moss/other.toml", CheckedLayer::User),
            ("work/x.moss/policy.toml", CheckedLayer::User),
            ("work/policy.toml", CheckedLayer::User),
            ("work/missing.toml", CheckedLayer::User),
        ] {
            let file = dir.path().join(file);
            if !file.ends_with("missing.toml") {
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(&file, "version = 1\n").unwrap();
            }
            assert_eq!(layer_of(&file, &admin), layer, "{}", file.display());
        }
    }

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
