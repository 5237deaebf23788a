//! Whether the kernel itself bounds the memory and the processes of commands.

use std::path::Path;

use moss_daemon::setup::Setup;
use moss_sandbox::group_hindrance;

use super::Check;
use crate::client::Client;

const NAME: &str = "limits of commands";
/// What is there where systemd runs the machine.
const SYSTEMD: &str = "/run/systemd/system";

pub(super) async fn check(setup: &Setup) -> Check {
    // Commands run in the daemon, where there is one.
    let client = Client::connect(&setup.dirs).await.ok().flatten();
    let status = match client {
        Some(client) => client.status().await.ok(),
        None => None,
    };
    let process = status.map_or_else(std::process::id, |status| status.pid);
    let Some(why) = group_hindrance(process) else {
        return Check::ok(NAME, "memory and processes by the kernel (control groups)");
    };
    let detail = format!("memory and processes counted five times a second, since {why}");
    let hint = Path::new(SYSTEMD).exists().then(|| {
        let root = setup.workspaces[0].display();
        format!(
            "the kernel bounds them where the daemon is a service with `Delegate=yes`, as the unit that comes with moss, \
             or is started by `systemd-run --user --scope -p Delegate=yes moss serve --workspace {root}`"
        )
    });
    Check { hint, ..Check::ok(NAME, detail) }
}
