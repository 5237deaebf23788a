//! What a client is configured to start, as its file has it.

use std::path::PathBuf;

use moss_client_settings::{self as settings, ClientRow, NAME, ServerCommand};
use moss_dispatch::Outcome;

use super::directories::UserDirectories;
use super::{file, not_edited, shown};
use crate::error::CliError;

/// What a client is configured to start.
#[derive(Debug)]
pub(super) struct ConfiguredServer {
    pub(super) server: ServerCommand,
    /// The directory that it is started in, where its entry names one.
    pub(super) directory: Option<PathBuf>,
    /// What keeps the client from starting it, as its file has it.
    pub(super) switched_off: Option<String>,
}

/// What a client is configured to start; none where it is not set up.
pub(super) fn configured(
    client: &ClientRow,
    directories: &UserDirectories,
) -> Result<Option<ConfiguredServer>, CliError> {
    let path = directories.file(client);
    let Some(text) = file::read(&path)? else { return Ok(None) };
    let entry = settings::entry(client, &text).map_err(|error| not_edited(&path, &error))?;
    let Some(entry) = entry else { return Ok(None) };
    let server = client.command(&entry).ok_or_else(|| {
        let message = format!("the entry `{NAME}` in {} starts no command", shown(&path));
        CliError::new(Outcome::Failed, "not_set_up", message)
    })?;
    // What a client puts its own values into, as `${workspaceFolder}`, is known to the client alone.
    let directory = entry["cwd"].as_str().filter(|cwd| !cwd.contains("${")).map(PathBuf::from);
    Ok(Some(ConfiguredServer { server, directory, switched_off: client.switched_off(&entry) }))
}

pub(super) fn not_set_up(client: &ClientRow, directories: &UserDirectories) -> CliError {
    let path = shown(&directories.file(client));
    let message = format!("{} is not set up: {path} has no entry `{NAME}`", client.title);
    CliError::new(Outcome::Failed, "not_set_up", message).hint(format!("moss setup {}", client.id))
}

// === impl ConfiguredServer ===

impl ConfiguredServer {
    /// The set of tools where none is named.
    pub(super) const DEFAULT: &str = "default";

    /// What is started, as a person reads it.
    pub(super) fn command_line(&self) -> String {
        format!("{} {}", self.server.command, self.server.args.join(" "))
    }

    /// The set of tools that it is started with.
    pub(super) fn set(&self) -> &str {
        let mut args = self.server.args.iter();
        let named = args.by_ref().find_map(|arg| match arg.as_str() {
            "--set" => Some(None),
            arg => arg.strip_prefix("--set=").map(Some),
        });
        match named {
            Some(Some(set)) => set,
            Some(None) => args.next().map_or(Self::DEFAULT, String::as_str),
            None => Self::DEFAULT,
        }
    }

    /// Whether forms of the client decide about effects.
    pub(super) fn has_forms(&self) -> bool {
        self.server.args.iter().any(|arg| arg == "--elicit")
    }
}
