//! What was written into a client's configuration, and what was there before: enough to restore it byte
//! for byte. It lies among moss's own files.

use std::path::{Path, PathBuf};

use moss_dispatch::Outcome;
use moss_workspace::dirs::Dirs;
use moss_workspace::own::OwnDir;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clients::ClientRow;
use super::{edit, unusable};
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
    /// Somebody else wrote between the first time and the last.
    #[serde(default)]
    changed: bool,
    /// The setup was undone in a file that had changed: `before` is kept as a backup alone.
    #[serde(default)]
    pub(super) undone: bool,
}

// === impl SetupRecord ===

impl SetupRecord {
    /// Keeps what a file holds before it is written. Returns where.
    pub(super) fn keep(
        dirs: &Dirs,
        client: &ClientRow,
        path: &Path,
        before: Option<&str>,
        after: &str,
    ) -> Result<PathBuf, CliError> {
        let first = Self::load(dirs, client.id)?
            .filter(|known| known.path == path)
            .filter(|known| before.is_some_and(|text| known.stands_in(client, text)));
        let mut record = first.unwrap_or_else(|| Self {
            path: path.to_owned(),
            before: before.map(ToOwned::to_owned),
            after: before.unwrap_or_default().to_owned(),
            changed: false,
            undone: false,
        });
        record.changed |= before.is_some_and(|text| record.after != text);
        after.clone_into(&mut record.after);
        record.save(dirs, client)
    }

    /// Reads the record of a client, where there is one.
    pub(super) fn load(dirs: &Dirs, client: &str) -> Result<Option<Self>, CliError> {
        let bytes = directory(dirs)?.read(&file(client), RECORD_BYTES_MAX).map_err(unusable)?;
        bytes
            .map(|bytes| serde_json::from_slice(&bytes))
            .transpose()
            .map_err(|error| broken(&error))
    }

    /// Ends a setup that was undone. What was there before stays kept where the file is not that again: returns
    /// where.
    pub(super) fn end(
        mut self,
        dirs: &Dirs,
        client: &ClientRow,
        is_whole: bool,
    ) -> Result<Option<PathBuf>, CliError> {
        if is_whole || self.before.is_none() {
            directory(dirs)?.remove(&file(client.id)).map_err(unusable)?;
            return Ok(None);
        }
        self.undone = true;
        self.save(dirs, client).map(Some)
    }

    /// Whether a text is what was written, and nobody else wrote since the first time.
    pub(super) fn wrote(&self, text: &str) -> bool {
        !self.changed && !self.undone && self.after == text
    }

    /// The entry that a person had in the place of moss's.
    pub(super) fn entry_before(&self, client: &ClientRow) -> Option<Value> {
        edit::entry(client, self.before.as_deref()?).ok().flatten()
    }

    /// Whether a text still has the entry that moss wrote, whoever has written since. What somebody restored by
    /// hand is a text from before the first time.
    fn stands_in(&self, client: &ClientRow, text: &str) -> bool {
        let now = edit::entry(client, text).ok().flatten();
        let is_of_moss = || now.is_some() && now != self.entry_before(client);
        !self.undone && (self.after == text || is_of_moss())
    }

    fn save(&self, dirs: &Dirs, client: &ClientRow) -> Result<PathBuf, CliError> {
        let directory = directory(dirs)?;
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| broken(&error))?;
        directory.write(&file(client.id), &bytes).map_err(unusable)?;
        Ok(directory.path().join(file(client.id)))
    }
}

/// Keeps a text that no record has before the entry is removed from it. Returns where.
pub(super) fn keep_text(dirs: &Dirs, client: &ClientRow, text: &str) -> Result<PathBuf, CliError> {
    let (directory, name) = (directory(dirs)?, format!("{}.before", client.id));
    directory.write(&name, text.as_bytes()).map_err(unusable)?;
    Ok(directory.path().join(name))
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
