//! Where the files of clients lie on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use moss_client_settings::{BaseDirectory, CLIENTS, ClientRow};
use moss_dispatch::Outcome;

use crate::error::CliError;

/// Where the user's files lie.
#[derive(Debug, Clone)]
pub(super) struct UserDirectories {
    home: PathBuf,
    /// `~/.config`, or what XDG_CONFIG_HOME names.
    config: PathBuf,
    /// Where editors made with Electron keep theirs.
    applications: PathBuf,
    /// What variables of clients name in their place.
    named: BTreeMap<&'static str, PathBuf>,
}

// === impl UserDirectories ===

impl UserDirectories {
    /// Those of the user who runs this process.
    pub(super) fn of_environment() -> Result<Self, CliError> {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| {
            CliError::new(Outcome::Failed, "no_home", "no home directory: set HOME to one")
        })?;
        let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let config =
            named.filter(|path| path.is_absolute()).unwrap_or_else(|| home.join(".config"));
        let applications = match cfg!(target_os = "macos") {
            true => home.join("Library/Application Support"),
            false => config.clone(),
        };
        let variables = CLIENTS.iter().flat_map(|client| client.variables);
        let named = variables.filter_map(|(name, _)| {
            let path = std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
            Some((*name, path?))
        });
        Ok(Self { home, config, applications, named: named.collect() })
    }

    /// The configuration file of a client, there or not.
    pub(super) fn file(&self, client: &ClientRow) -> PathBuf {
        if let Some(path) = self.named_file(client) {
            return path;
        }
        let found = self.usual_files(client).find(|path| path.exists());
        found.unwrap_or_else(|| self.usual_files(client).next().unwrap_or_default())
    }

    /// Every file that may be its configuration file: the one that a variable names, or all usual ones.
    pub(super) fn possible_files(&self, client: &ClientRow) -> Vec<PathBuf> {
        match self.named_file(client) {
            Some(path) => vec![path],
            None => self.usual_files(client).collect(),
        }
    }

    /// The file that a variable of the client names.
    fn named_file(&self, client: &ClientRow) -> Option<PathBuf> {
        client.variables.iter().find_map(|(variable, path)| {
            let named = self.named.get(variable)?;
            Some(if path.is_empty() { named.clone() } else { named.join(path) })
        })
    }

    fn usual_files(&self, client: &ClientRow) -> impl Iterator<Item = PathBuf> {
        client.files.iter().map(|(base, path)| self.at(*base).join(path))
    }

    /// The file that a client has its configuration in and would read no more, were the other made.
    pub(super) fn replaced_file(&self, client: &ClientRow) -> Option<PathBuf> {
        let path = self.home.join(client.replaced?);
        path.exists().then_some(path)
    }

    /// Whether there is anything of a client on this machine.
    pub(super) fn is_installed(&self, client: &ClientRow) -> bool {
        let is_own = |directory: &Path| {
            ![&self.home, &self.config, &self.applications].contains(&&directory.to_owned())
        };
        let is_there = |file: PathBuf| {
            file.exists()
                || file.parent().is_some_and(|directory| is_own(directory) && directory.exists())
        };
        is_there(self.file(client)) || self.usual_files(client).any(is_there)
    }

    fn at(&self, base: BaseDirectory) -> &Path {
        match base {
            BaseDirectory::Home => &self.home,
            BaseDirectory::Config => &self.config,
            BaseDirectory::Applications => &self.applications,
        }
    }
}
