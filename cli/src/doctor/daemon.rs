//! Whether commands get at a daemon, and what the one that runs makes of the files that it was started with.

use moss_daemon::setup::Setup;
use moss_proto::v1;
use moss_workspace::name_of_root;

use super::Check;
use crate::client::Client;
use crate::next_step::next_step;
use crate::{Session, remote};

const NAME: &str = "daemon";

/// Looks at the daemon that was named, or at the one on the default socket.
pub(super) async fn check(session: &Session, setup: &Setup) -> Vec<Check> {
    match session.global.remote.server {
        Some(_) => named(session).await,
        None => usual(setup).await,
    }
}

async fn usual(setup: &Setup) -> Vec<Check> {
    let socket = setup.dirs.socket().display().to_string();
    let status = match Client::connect(&setup.dirs).await {
        Ok(None) => {
            return vec![match remote::hindrance(&setup.dirs) {
                Some(why) => Check::warn(NAME, why, "shorten the path of the socket"),
                None => {
                    let what = "commands run in their own process";
                    Check::ok(NAME, format!("none listens on {socket}; {what}"))
                }
            }];
        }
        Ok(Some(client)) => client.status().await,
        Err(failure) => Err(failure),
    };
    let status = match status {
        Ok(status) => status,
        Err(failure) => {
            let hint = "stop what listens there, then `moss serve`";
            return vec![Check::fail(NAME, failure.message, hint)];
        }
    };
    let root = name_of_root(&setup.workspaces[0]);
    if status.version != env!("CARGO_PKG_VERSION") {
        let detail = format!("version {} listens on {socket}", status.version);
        return vec![Check::warn(NAME, detail, "restart it with this version")];
    }
    let Some(workspace) = status.workspaces.iter().find(|workspace| workspace.root == root) else {
        let detail = format!("pid {} serves other workspaces on {socket}", status.pid);
        let hint = format!("for this one: `moss serve --workspace {root}`");
        return vec![Check::warn(NAME, detail, hint)];
    };
    let mut checks = vec![Check::ok(NAME, format!("pid {} serves {root} on {socket}", status.pid))];
    checks.extend(of_files(&status, workspace));
    checks
}

async fn named(session: &Session) -> Vec<Check> {
    let status = session.with_daemon(async |client| Ok(client.status().await?)).await;
    let status = match status {
        Ok(status) if status.version != env!("CARGO_PKG_VERSION") => {
            let detail = format!("version {} responds", status.version);
            return vec![Check::warn(NAME, detail, "use the same version on both sides")];
        }
        Ok(status) => status,
        Err(error) => {
            let hint = next_step(&error.error.code).unwrap_or("fix it and try again");
            return vec![Check::fail(NAME, error.error.message, hint)];
        }
    };
    let mut checks = vec![Check::ok(NAME, format!("pid {} responds", status.pid))];
    let root = session.named_root().ok().flatten().map(|root| name_of_root(&root));
    let workspace = match (root, &status.workspaces[..]) {
        (Some(root), all) => all.iter().find(|one| one.root == root),
        // Where none is named, requests go to its only one.
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    if let Some(workspace) = workspace {
        checks.extend(of_files(&status, workspace));
    }
    checks
}

/// What the daemon says of its own files: options of `moss serve` name some that no command knows of.
fn of_files(status: &v1::GetStatusResponse, workspace: &v1::WorkspaceStatus) -> [Check; 2] {
    const CONFIGURATION: &str = "configuration of the daemon";
    const POLICY: &str = "policy of the daemon";
    let in_order = "in order, as it has read its files";
    let configuration = match status.config_problem.as_str() {
        "" => Check::ok(CONFIGURATION, in_order),
        problem => Check::warn(CONFIGURATION, problem, "fix the file, or restart the daemon"),
    };
    let policy = match workspace.policy_problem.as_str() {
        "" => Check::ok(POLICY, in_order),
        problem => {
            Check::fail(POLICY, problem, "fix the file: the daemon reads it again by itself")
        }
    };
    [configuration, policy]
}
