//! The plugin lists, and what they name.

use moss_daemon::setup::{self, Setup};
use moss_plugins::check::{self, TrustedList};
use moss_proto::v1;
use moss_workspace::{Workspace, WorkspaceOptions};

use super::{Check, Session};

/// Looks at every list; what a daemon says of its plugins counts more than their files.
pub(super) async fn check(session: &Session, setup: &Setup) -> Vec<Check> {
    let served = session.with_daemon(async |client| Ok(client.plugins().await?.plugins)).await;
    let mut checks = lists(setup, served.is_err());
    for plugin in served.unwrap_or_default() {
        // A list that is broken has its own check.
        if plugin.list != plugin.source {
            checks.extend(broken(&plugin));
        }
    }
    checks
}

fn broken(plugin: &v1::Plugin) -> Option<Check> {
    let hint = format!("`moss plugin show {}`", plugin.name);
    match (plugin.error.as_str(), plugin.notice.as_str()) {
        ("", "") => None,
        ("", notice) => Some(Check::warn("plugin", format!("{}: {notice}", plugin.name), hint)),
        (error, _) => Some(Check::fail("plugin", format!("{}: {error}", plugin.name), hint)),
    }
}

fn lists(setup: &Setup, looks_at_files: bool) -> Vec<Check> {
    // What is wrong with the configuration has its own check.
    let config = setup::configuration(setup).unwrap_or_default();
    let own = setup::plugin_lists(setup);
    let mut checks = Vec::new();
    if own.is_empty() {
        let file = setup::user_plugin_list(setup);
        checks.push(Check::ok("plugin list", format!("none at {}", file.display())));
    }
    let mut looked: Vec<_> = own.into_iter().map(|list| (check::read_list(&list), list)).collect();
    if let Ok(files) = Workspace::open(&setup.workspaces[0], WorkspaceOptions::default())
        && let Some(read) = check::workspace_list(&setup.dirs, &files)
    {
        let list = files.root().join(check::WORKSPACE_LIST);
        match read {
            Ok(TrustedList::Yes(read)) => looked.push((Ok(read), list)),
            Ok(TrustedList::No) => checks.push(Check::warn(
                "plugin list",
                format!("{} is not trusted, and loads nothing", list.display()),
                "`moss plugin trust` shows what it would load and allow",
            )),
            Err(problem) => looked.push((Err(problem), list)),
        }
    }
    for (read, list) in looked {
        checks.push(match read {
            Err(error) => {
                Check::fail("plugin list", error, "fix the file, then `moss plugin list`")
            }
            Ok(read) => {
                let count = read.plugins.len();
                let problems = match looks_at_files {
                    true => check::problems(&list, read, &setup.dirs, &config.plugin_settings()),
                    false => Vec::new(),
                };
                let plugins = if count == 1 { "plugin" } else { "plugins" };
                let detail = format!("{}: {count} {plugins}", list.display());
                match problems.as_slice() {
                    [] => Check::ok("plugin list", detail),
                    problems => Check::fail(
                        "plugin list",
                        format!("{detail}; {}", problems.join("; ")),
                        "build or fetch them again, or fix the list",
                    ),
                }
            }
        });
    }
    checks
}
