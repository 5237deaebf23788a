//! Diagnostics on standard error: for people on a terminal, JSON lines otherwise. `MOSS_LOG` says
//! how much, for example `debug` or `moss_daemon=trace`.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// Starts it. A daemon logs what it does, a command only what goes wrong.
pub(super) fn start(is_daemon: bool) {
    // rmcp warns of every request that was refused: its client hears of that. What is the matter with a plugin is
    // said by the commands that are about plugins or need it.
    let level = match is_daemon {
        true => "info,rmcp=error",
        false => "warn,rmcp=error,moss_plugins::slot=error",
    };
    let filter = EnvFilter::try_from_env("MOSS_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let terminal = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if is_daemon && !terminal {
        lines.json().flatten_event(true).init();
    } else {
        let color = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        lines.with_ansi(color).with_target(false).init();
    }
}
