//! What was written into a client's configuration, and what was there before: enough to restore it byte
//! for byte. It lies among moss's own files, of each configuration file by itself, with copies of what moss replaced.

use std::path::{Path, PathBuf};

use moss_client_settings::{self as settings, ClientRow};
use moss_dispatch::Outcome;
use moss_workspace::dirs::Dirs;
use moss_workspace::own::OwnDir;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::unusable;
use crate::error::CliError;

/// The directory of all records.
const DIRECTORY: &str = "setup";
/// Largest record, in bytes: a configuration file, with its escapes.
const RECORD_BYTES_MAX: u64 = 256 << 20;
/// Most copies that are kept of one configuration file: the oldest goes first.
const COPIES_MAX: usize = 10;
/// How the name of a copy ends.
const COPY: &str = ".before";

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
    /// Makes the record of a setup that makes `after` of `before`. One that is known goes on where its entry still
    /// stands there.
    pub(super) fn of_setup(
        known: Option<&Self>,
        client: &ClientRow,
        path: &Path,
        before: Option<&str>,
        after: &str,
    ) -> Self {
        let first =
            known.filter(|known| before.is_some_and(|text| known.stands_in(client, text))).cloned();
        let mut record = first.unwrap_or_else(|| Self {
            path: path.to_owned(),
            before: before.map(ToOwned::to_owned),
            after: before.unwrap_or_default().to_owned(),
            changed: false,
            undone: false,
        });
        record.changed |= before.is_some_and(|text| record.after != text);
        after.clone_into(&mut record.after);
        record
    }

    /// Reads the record of a file, where there is one. Older versions of moss had one of each client.
    pub(super) fn load(
        dirs: &Dirs,
        client: &ClientRow,
        path: &Path,
    ) -> Result<Option<Self>, CliError> {
        let directory = directory(dirs)?;
        match Self::read(&directory, &file(client, path))? {
            Some(record) => Ok(Some(record)),
            None => Self::older(&directory, client, path),
        }
    }

    pub(super) fn save(&self, dirs: &Dirs, client: &ClientRow) -> Result<(), CliError> {
        let directory = directory(dirs)?;
        self.write(&directory, &file(client, &self.path))?;
        Self::end_older(&directory, client, &self.path)
    }

    /// Removes the record of a file, where there is one.
    pub(super) fn remove(dirs: &Dirs, client: &ClientRow, path: &Path) -> Result<(), CliError> {
        let directory = directory(dirs)?;
        directory.remove(&file(client, path)).map_err(unusable)?;
        Self::end_older(&directory, client, path)
    }

    /// Ends a setup that was undone. What was there before stays in the record where the file is not that again.
    pub(super) fn end(
        mut self,
        dirs: &Dirs,
        client: &ClientRow,
        is_whole: bool,
    ) -> Result<(), CliError> {
        if is_whole || self.before.is_none() {
            return Self::remove(dirs, client, &self.path);
        }
        self.undone = true;
        self.save(dirs, client)
    }

    /// Whether a text is what was written, and nobody else wrote since the first time.
    pub(super) fn wrote(&self, text: &str) -> bool {
        !self.changed && !self.undone && self.after == text
    }

    /// The entry that a person had in the place of moss's.
    pub(super) fn entry_before(&self, client: &ClientRow) -> Option<Value> {
        settings::entry(client, self.before.as_deref()?).ok().flatten()
    }

    /// Whether a text still has the entry that moss wrote, whoever has written since. What somebody restored by
    /// hand is a text from before the first time.
    fn stands_in(&self, client: &ClientRow, text: &str) -> bool {
        let now = settings::entry(client, text).ok().flatten();
        let is_of_moss = || now.is_some() && now != self.entry_before(client);
        !self.undone && (self.after == text || is_of_moss())
    }

    /// The record of an older version, where it is of this file.
    fn older(
        directory: &OwnDir,
        client: &ClientRow,
        path: &Path,
    ) -> Result<Option<Self>, CliError> {
        let record = Self::read(directory, &older_file(client))?;
        Ok(record.filter(|record| record.path == path))
    }

    /// Makes the record of an older version say that its setup is over. What was there before stays in it: the
    /// command named it to a person.
    fn end_older(directory: &OwnDir, client: &ClientRow, path: &Path) -> Result<(), CliError> {
        match Self::older(directory, client, path)? {
            Some(older) if !older.undone => {
                Self { undone: true, ..older }.write(directory, &older_file(client))
            }
            _ => Ok(()),
        }
    }

    fn read(directory: &OwnDir, name: &str) -> Result<Option<Self>, CliError> {
        let bytes = directory.read(name, RECORD_BYTES_MAX).map_err(unusable)?;
        bytes
            .map(|bytes| serde_json::from_slice(&bytes))
            .transpose()
            .map_err(|error| broken(&error))
    }

    fn write(&self, directory: &OwnDir, name: &str) -> Result<(), CliError> {
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| broken(&error))?;
        directory.write(name, &bytes).map_err(unusable)
    }
}

/// Keeps a copy of what a file holds before it is replaced. Returns where. One that the command named stays until
/// [`COPIES_MAX`] newer ones have come.
pub(super) fn keep_text(
    dirs: &Dirs,
    client: &ClientRow,
    path: &Path,
    text: &str,
) -> Result<PathBuf, CliError> {
    let (directory, stem) = (directory(dirs)?, stem(client, path));
    let name = format!("{stem}-{}{COPY}", moss_workspace::hash(text.as_bytes()).short());
    // The same text again is the newest one from now on.
    directory.write(&name, text.as_bytes()).map_err(unusable)?;
    let mut others = directory.files().map_err(unusable)?;
    others.retain(|file| {
        file.name.starts_with(&stem) && file.name.ends_with(COPY) && file.name != name
    });
    others.sort_by_key(|file| std::cmp::Reverse(file.modified));
    for old in others.iter().skip(COPIES_MAX - 1) {
        directory.remove(&old.name).map_err(unusable)?;
    }
    Ok(directory.path().join(name))
}

fn broken(error: &serde_json::Error) -> CliError {
    CliError::new(Outcome::Failed, "state_unusable", format!("the record of the setup: {error}"))
}

fn directory(dirs: &Dirs) -> Result<OwnDir, CliError> {
    OwnDir::create(&dirs.state).and_then(|state| state.subdirectory(DIRECTORY)).map_err(unusable)
}

fn file(client: &ClientRow, path: &Path) -> String {
    format!("{}.json", stem(client, path))
}

fn older_file(client: &ClientRow) -> String {
    format!("{}.json", client.id)
}

/// What the names begin with of all that is kept of a configuration file.
fn stem(client: &ClientRow, path: &Path) -> String {
    // A path is one in each spelling of it: with a slash at its end, too.
    let path: PathBuf = path.components().collect();
    format!("{}-{}", client.id, moss_workspace::hash(path.as_os_str().as_encoded_bytes()).short())
}
