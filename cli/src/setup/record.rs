//! What was written into a client's configuration, and what was there before: enough to restore it byte
//! for byte. It lies among moss's own files.

use std::path::{Path, PathBuf};

use moss_dispatch::Outcome;
use moss_workspace::dirs::Dirs;
use moss_workspace::own::OwnDir;
use serde::{Deserialize, Serialize};

use super::unusable;
use crate::error::CliError;

/// The directory of all records.
const DIRECTORY: &str = "setup";
/// Largest record, in bytes: a configuration file, with its escapes.
const RECORD_BYTES_MAX: u64 = 256 << 20;

/// What was written into one client's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SetupRecord {
    /// The configuration file of the client.
    pub(super) path: PathBuf,
    /// What it held before the first time; `None` if it did not exist.
    pub(super) before: Option<String>,
    /// What was written last.
    after: String,
}

// === impl SetupRecord ===

impl SetupRecord {
    /// Keeps what a file holds before it is written. Returns where.
    pub(super) fn keep(
        dirs: &Dirs,
        client: &str,
        path: &Path,
        before: Option<&str>,
        after: &str,
    ) -> Result<PathBuf, CliError> {
        // A second time keeps what was there before the first one, as long as nobody else wrote.
        let first = Self::load(dirs, client)?
            .filter(|known| known.path == path && before.is_some_and(|text| known.wrote(text)));
        let before = match first {
            Some(known) => known.before,
            None => before.map(ToOwned::to_owned),
        };
        let record = Self { path: path.to_owned(), before, after: after.to_owned() };
        let directory = directory(dirs)?;
        directory
            .write(
                &file(client),
                &serde_json::to_vec_pretty(&record).map_err(|error| broken(&error))?,
            )
            .map_err(unusable)?;
        Ok(directory.path().join(file(client)))
    }

    /// Reads the record of a client, where there is one.
    pub(super) fn load(dirs: &Dirs, client: &str) -> Result<Option<Self>, CliError> {
        let bytes = directory(dirs)?.read(&file(client), RECORD_BYTES_MAX).map_err(unusable)?;
        bytes
            .map(|bytes| serde_json::from_slice(&bytes))
            .transpose()
            .map_err(|error| broken(&error))
    }

    pub(super) fn forget(dirs: &Dirs, client: &str) -> Result<(), CliError> {
        directory(dirs)?.remove(&file(client)).map_err(unusable)
    }

    /// Whether a text is what was written.
    pub(super) fn wrote(&self, text: &str) -> bool {
        self.after == text
    }
}

fn broken(error: &serde_json::Error) -> CliError {
    CliError::new(Outcome::Failed, "state_unusable", format!("the record of the setup: {error}"))
}

fn directory(dirs: &Dirs) -> Result<OwnDir, CliError> {
    OwnDir::create(&dirs.state).and_then(|state| state.subdirectory(DIRECTORY)).map_err(unusable)
}

fn file(client: &str) -> String {
    format!("{client}.json")
}
