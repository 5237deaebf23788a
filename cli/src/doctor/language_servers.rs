//! Which language servers could be asked: their programs are looked for, and none is started.

use moss_daemon::language_servers::{InstalledServer, installed};
use moss_daemon::setup::{self, Setup};

use super::Check;

const NAME: &str = "language servers";

pub(super) fn check(setup: &Setup) -> Check {
    // What is wrong with the configuration another check says.
    let config = setup::configuration(setup).unwrap_or_default();
    if !config.language_servers.enabled {
        return Check::ok(NAME, "turned off (language_servers.enabled)");
    }
    let (there, missing): (Vec<_>, Vec<_>) =
        installed(&config).into_iter().partition(|server| server.is_installed);
    let names = |servers: Vec<InstalledServer>| {
        servers.into_iter().map(|server| server.name).collect::<Vec<_>>().join(", ")
    };
    let detail = match (there.is_empty(), missing.is_empty()) {
        (true, _) => {
            "none is installed: code is found by grammars and by attached editors".to_owned()
        }
        (false, true) => format!("{} installed", names(there)),
        (false, false) => format!("{} installed; not {}", names(there), names(missing)),
    };
    Check::ok(NAME, detail)
}
