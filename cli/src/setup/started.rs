//! What a client is set up to start: this program, wherever the client is started from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use moss_client_settings::ServerCommand;
use moss_dispatch::Outcome;

use super::configured::ConfiguredServer;
use super::shown;
use crate::Session;
use crate::error::CliError;

/// Variables that say where moss's files are, and where they are in the home directory without.
pub(super) const DIRECTORIES: [(&str, &str); 3] = [
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// The command for a client. A set of tools stays the one that was configured, where nobody names another.
pub(super) fn command(
    session: &Session,
    set: Option<&str>,
    decides_by_form: bool,
    now: Option<&ConfiguredServer>,
) -> Result<ServerCommand, CliError> {
    let program = as_text(std::env::current_exe()?)?;
    let mut args = vec!["mcp".to_owned()];
    let configured = now.map(ConfiguredServer::set).filter(|set| *set != ConfiguredServer::DEFAULT);
    if let Some(set) = set.or(configured) {
        args.extend(["--set".to_owned(), set.to_owned()]);
    }
    if decides_by_form {
        args.push("--elicit".to_owned());
    }
    args.extend(way_to_daemon(session)?);
    Ok(ServerCommand { command: program, args, environment: directories_elsewhere() })
}

/// The options by which the command here finds its workspace and its daemon, where somebody gave any.
fn way_to_daemon(session: &Session) -> Result<Vec<String>, CliError> {
    let mut args = Vec::new();
    if let Some(workspace) = &session.global.workspace {
        args.extend(["--workspace".to_owned(), as_text(std::path::absolute(workspace)?)?]);
    }
    for (option, value) in session.global.remote.of_a_caller()? {
        args.extend([option.to_owned(), as_text(value)?]);
    }
    Ok(args)
}

/// A path as a file of text has it.
fn as_text(path: impl Into<PathBuf>) -> Result<String, CliError> {
    path.into().into_os_string().into_string().map_err(|path| {
        let message = format!("a path is not UTF-8: {}", shown(Path::new(&path)));
        CliError::new(Outcome::Failed, "config_unusable", message)
            .hint("a client's file has texts alone: use a directory whose path is UTF-8")
    })
}

/// Variables that say where moss's files are, where they are not where they are without: a client may start
/// what it starts with few variables.
fn directories_elsewhere() -> BTreeMap<String, String> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let named = |(name, usual): &(&str, &str)| {
        let value = std::env::var(name).ok()?;
        let path = Path::new(&value);
        (path.is_absolute() && path != home.join(usual)).then(|| ((*name).to_owned(), value))
    };
    DIRECTORIES.iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn a_program_whose_path_no_configuration_can_have_is_refused() {
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        assert_eq!(as_text(path("/ö/moss".as_bytes())).unwrap(), "/ö/moss");
        let refused = as_text(path(b"/\xff/moss")).unwrap_err().error;
        assert!(refused.message.contains("is not UTF-8") && refused.hint.is_some(), "{refused:?}");
    }
}
