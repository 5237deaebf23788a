//! `moss doctor`: tries everything that moss stands on, and says what to do about it. Leaves nothing
//! behind.

mod daemon;
mod file_system;
mod language_servers;
mod limits;
mod own_files;
mod plugins;
mod sandbox;
mod writing;

use std::path::Path;

use moss_daemon::setup::{self, Setup};
use moss_daemon::start::{self, StartError};
use moss_workspace::{Resolver, Workspace, WorkspaceOptions};
use rustix::fs::Access;
use serde::Serialize;
use serde_json::json;

use super::error::CliError;
use super::ui::{bold, green, red, yellow};
use super::{Session, text};
use moss_dispatch::Outcome;

/// Check the installation and print what to fix
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {}

/// What was looked at and found.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: CheckStatus,
    detail: String,
    /// What to do about it.
    hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckStatus {
    /// As it should be.
    Ok,
    /// It works, and could be better.
    Warn,
    /// It does not work.
    Fail,
}

pub(super) async fn run(session: &Session) -> Result<Outcome, CliError> {
    let setup = session.setup()?;
    let mut checks = own_files::check(&setup.dirs, &setup.workspaces[0]);
    checks.extend(daemon::check(session, &setup).await);
    checks.extend(workspace(&setup));
    checks.push(configuration(&setup));
    checks.push(sandbox::check().await);
    checks.push(limits::check(&setup).await);
    checks.push(language_servers::check(&setup));
    checks.extend(plugins::check(session, &setup).await);
    session.ui.print_either(
        || json!({ "checks": checks }),
        || checks.iter().map(Check::to_text).collect::<String>(),
    )?;
    let failed = checks.iter().any(|check| check.state == CheckStatus::Fail);
    Ok(if failed { Outcome::Failed } else { Outcome::Ok })
}

/// The workspace, what its file system can do, and the policy in effect there.
fn workspace(setup: &Setup) -> Vec<Check> {
    let root = &setup.workspaces[0];
    let files = match Workspace::open(root, WorkspaceOptions::default()) {
        Ok(files) => files,
        Err(error) => {
            return vec![Check::fail(
                "workspace",
                error.to_string(),
                "name another with --workspace",
            )];
        }
    };
    let resolver = match files.resolver() {
        Resolver::Kernel => Check::ok("path resolution", "by the kernel (openat2)"),
        Resolver::Walk if cfg!(target_os = "linux") => Check::warn(
            "path resolution",
            "step by step: the kernel or a sandbox refuses openat2",
            "nothing to do: it is safe, but slower",
        ),
        Resolver::Walk => Check::ok("path resolution", "step by step"),
    };
    let opened = root_check(files.root());
    vec![
        opened,
        resolver,
        file_system::check(root),
        policy(setup, &files),
        standing_approvals(setup, &files),
    ]
}

/// Whether the workspace can be changed; nothing is written into a project to find out.
fn root_check(root: &Path) -> Check {
    let shown = root.display();
    match rustix::fs::access(root, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Check::ok("workspace", shown.to_string()),
        Err(errno) => {
            let detail = format!("{shown} cannot be changed ({errno}): reading works, edits fail");
            Check::warn("workspace", detail, format!("chmod u+wx {shown}"))
        }
    }
}

fn standing_approvals(setup: &Setup, files: &Workspace) -> Check {
    match moss_daemon::approvals::check(&setup.dirs.workspace_state(files.root())) {
        Ok(count) => Check::ok("standing approvals", count.to_string()),
        Err(problem) => Check::fail(
            "standing approvals",
            format!("{problem} (none of them is in effect)"),
            "fix or remove the file",
        ),
    }
}

fn policy(setup: &Setup, files: &Workspace) -> Check {
    let hint = "fix it, then run `moss policy check`";
    match start::load_policy(setup, files) {
        Ok(policy) => match policy.problems().next() {
            None => Check::ok("policy", format!("{} rules", policy.rules().count())),
            Some(problem) => Check::fail("policy", problem.one_line(), hint),
        },
        Err(StartError::AdminPolicy(problem)) => Check::fail("policy", problem.one_line(), hint),
        Err(error) => Check::fail("policy", error.to_string(), hint),
    }
}

fn configuration(setup: &Setup) -> Check {
    match setup::configuration(setup) {
        Ok(_) => Check::ok("configuration", "in order"),
        Err(error) => Check::fail("configuration", error.to_string(), "fix the file"),
    }
}

// === impl Check ===

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, state: CheckStatus::Ok, detail: detail.into(), hint: None }
    }

    fn warn(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, state: CheckStatus::Warn, detail: detail.into(), hint: Some(hint.into()) }
    }

    fn fail(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { state: CheckStatus::Fail, ..Self::warn(name, detail, hint) }
    }

    fn to_text(&self) -> String {
        let state = match self.state {
            CheckStatus::Ok => green("ok  "),
            CheckStatus::Warn => yellow("warn"),
            CheckStatus::Fail => red("fail"),
        };
        let mut shown = format!("{state}  {}: {}\n", bold(self.name), text::line(&self.detail));
        if let Some(hint) = &self.hint {
            shown.push_str(&format!("      hint: {}\n", text::line(hint)));
        }
        shown
    }
}
