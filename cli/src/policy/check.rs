//! `moss policy check`: reads policy files as a daemon would, and shows where they are wrong.

use std::path::{Path, PathBuf};

use moss_daemon::setup::{Setup, WORKSPACE_POLICY};
use moss_daemon::start::{self, StartError};
use moss_policy::format::FILE_BYTES_MAX;
use moss_policy::{Policy, PolicyError, PolicyFile, Sources};
use moss_workspace::{Workspace, WorkspaceOptions};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::{Session, text};
use moss_dispatch::Outcome;

#[derive(Debug, clap::Args)]
pub(crate) struct PolicyCheckArgs {
    /// The policy file to check; by default all that a new daemon would read
    file: Option<PathBuf>,

    /// Layer of FILE, which determines what it may contain
    ///
    /// By default inferred from its location: what lies in the administrator's directory, a
    /// `policy.toml` in a directory `.moss`, anything else as the user's.
    #[arg(long, value_enum, requires = "file")]
    layer: Option<CheckedLayer>,

    /// Check another admin policy as well, as `moss serve` is given it; repeatable
    ///
    /// It is read together with the files in effect. What a running daemon has made of its own is shown by
    /// `moss policy show` and `moss doctor`.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    admin_policy: Vec<PathBuf>,
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

/// What a check found.
struct PolicyCheckReport {
    rules: usize,
    problems: Vec<PolicyError>,
    /// The layer that a file was checked for.
    layer: Option<CheckedLayer>,
}

pub(super) fn run(args: &PolicyCheckArgs, session: &Session) -> Result<Outcome, CliError> {
    let checked = match &args.file {
        Some(file) => {
            let admin = session.dirs()?.admin;
            check_file(file, args.layer.unwrap_or_else(|| layer_of(file, &admin)))?
        }
        None => check_in_effect(&args.admin_policy, session)?,
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

/// Checks what a daemon would start with for this workspace.
fn check_in_effect(
    admin_policies: &[PathBuf],
    session: &Session,
) -> Result<PolicyCheckReport, CliError> {
    let setup = Setup { admin_policies: admin_policies.to_vec(), ..session.setup()? };
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
}
