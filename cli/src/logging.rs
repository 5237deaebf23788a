//! Diagnostics on standard error: for people on a terminal, JSON lines otherwise. `MOSS_LOG` says
//! how much, for example `debug` or `moss_daemon=trace`.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// Starts it. A daemon logs what it does, a command only what goes wrong; not what is the matter with plugins
/// where it names those itself.
pub(super) fn start(is_daemon: bool, names_plugins: bool) {
    // rmcp warns of every request that was refused: its client hears of that.
    let level = match (is_daemon, names_plugins) {
        (true, _) => "info,rmcp=error",
        (false, false) => "warn,rmcp=error",
        (false, true) => "warn,rmcp=error,moss_plugins::slot=error",
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
