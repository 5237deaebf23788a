//! What plugins keep from call to call: a few values under keys, a store for each plugin and
//! workspace, in `plugins.sqlite` in the state directory.
//!
//! A store belongs to a plugin by its name and its source together. A plugin of the same name from
//! elsewhere gets a store of its own and does not see this one. Several processes may use the file
//! at once. A broken file is left alone: nothing is written over it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moss_sdk::{ErrorCode, ToolError};
use moss_workspace::own::OwnDir;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const FILE_NAME: &str = "plugins.sqlite";
const SCHEMA: &str = "
CREATE TABLE stores (
    id INTEGER PRIMARY KEY,
    plugin TEXT NOT NULL,
    origin TEXT NOT NULL,
    UNIQUE (plugin, origin)
) STRICT;
CREATE TABLE entries (
    store INTEGER NOT NULL REFERENCES stores ON DELETE CASCADE,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    UNIQUE (store, key)
) STRICT;
";
const SCHEMA_VERSION: i64 = 1;
/// Longest wait for others that change the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Most keys of a store, so that empty values are bounded too.
pub const KEYS_MAX: u64 = 10_000;
/// Most stores of a workspace.
const STORES_MAX: i64 = 256;

/// The stores of a workspace's plugins.
#[derive(Debug)]
pub struct PluginStores {
    directory: OwnDir,
    /// Opened when a plugin needs it first.
    connection: Mutex<Option<Connection>>,
    /// One that reads or writes at a time, in the order in which they came…
    queue: Arc<Semaphore>,
    /// … and of each plugin one that waits for that, so that no plugin waits for all calls of another.
    turns: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A plugin's turn, until it is dropped.
#[derive(Debug)]
pub struct StoreTurn {
    _queue: OwnedSemaphorePermit,
    _plugin: OwnedSemaphorePermit,
}

/// Whose store it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOwner {
    /// The name of the plugin.
    pub plugin: String,
    /// Where its component comes from.
    pub origin: String,
}

/// Refuses what is more than a store may hold.
///
/// # Errors
///
/// `TooLarge` for the bytes of keys and values, `LimitExceeded` for the number of keys.
pub fn check_room(keys: u64, bytes: u64, bytes_max: u64) -> Result<(), ToolError> {
    if bytes > bytes_max {
        let message = format!("the store would have {bytes} bytes; {bytes_max} were granted");
        return Err(ToolError::new(ErrorCode::TooLarge, message).hint("delete keys"));
    }
    if keys > KEYS_MAX {
        let message = format!("the store would have more than {KEYS_MAX} keys");
        return Err(ToolError::new(ErrorCode::LimitExceeded, message).hint("delete some"));
    }
    Ok(())
}

// === impl PluginStores ===

impl PluginStores {
    /// Finds the stores in a state directory, which must exist.
    ///
    /// # Errors
    ///
    /// Where the directory is not the user's own.
    pub fn open(state: &Path) -> Result<Self, moss_workspace::Error> {
        Ok(Self {
            directory: OwnDir::open(state)?,
            connection: Mutex::default(),
            queue: Arc::new(Semaphore::new(1)),
            turns: Mutex::default(),
        })
    }

    /// Waits until it is a plugin's turn.
    pub async fn turn(&self, owner: &StoreOwner) -> StoreTurn {
        let turns = {
            let mut all = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            let turns = all.entry(owner.plugin.clone());
            Arc::clone(turns.or_insert_with(|| Arc::new(Semaphore::new(1))))
        };
        let plugin = turns.acquire_owned().await.expect("nobody closes it");
        let queue = Arc::clone(&self.queue).acquire_owned().await.expect("nobody closes it");
        StoreTurn { _queue: queue, _plugin: plugin }
    }

    /// Returns the value of a key. Waits for the disk, as all of these do.
    ///
    /// # Errors
    ///
    /// Where the file is broken or cannot be read.
    pub fn get(&self, owner: &StoreOwner, key: &str) -> Result<Option<Vec<u8>>, ToolError> {
        self.with(|begun| {
            let sql = "SELECT value FROM entries JOIN stores ON stores.id = store
                       WHERE plugin = ?1 AND origin = ?2 AND key = ?3";
            let mut statement = begun.prepare_cached(sql)?;
            let found =
                statement.query_row(params![owner.plugin, owner.origin, key], |row| row.get(0));
            Ok(found.optional()?)
        })
    }

    /// Keeps a value, durably, if all keys and values together then have at most so many bytes.
    ///
    /// # Errors
    ///
    /// As [`check_room`]; `LimitExceeded` for too many stores; where the file is broken or cannot be
    /// written. The store is as it was.
    pub fn set(
        &self,
        owner: &StoreOwner,
        key: &str,
        value: &[u8],
        bytes_max: u64,
    ) -> Result<(), ToolError> {
        self.with(|begun| {
            let store = store_of(begun, owner)?;
            let sql = "SELECT count(*), coalesce(sum(octet_length(key) + octet_length(value)), 0)
                       FROM entries WHERE store = ?1 AND key <> ?2";
            let (keys, bytes) = begun
                .query_row(sql, params![store, key], |row| Ok((count(row, 0)?, count(row, 1)?)))?;
            check_room(keys + 1, bytes + (key.len() + value.len()) as u64, bytes_max)?;
            let sql = "INSERT INTO entries (store, key, value) VALUES (?1, ?2, ?3)
                       ON CONFLICT (store, key) DO UPDATE SET value = excluded.value";
            begun.prepare_cached(sql)?.execute(params![store, key, value])?;
            Ok(())
        })
    }

    /// Forgets a key, durably. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// Where the file is broken or cannot be written.
    pub fn delete(&self, owner: &StoreOwner, key: &str) -> Result<bool, ToolError> {
        self.with(|begun| {
            let sql = "DELETE FROM entries WHERE key = ?3 AND store =
                       (SELECT id FROM stores WHERE plugin = ?1 AND origin = ?2)";
            let deleted =
                begun.prepare_cached(sql)?.execute(params![owner.plugin, owner.origin, key])?;
            Ok(deleted > 0)
        })
    }

    /// Returns the keys that start with a text, in bytewise order.
    ///
    /// # Errors
    ///
    /// Where the file is broken or cannot be read.
    pub fn keys(&self, owner: &StoreOwner, prefix: &str) -> Result<Vec<String>, ToolError> {
        let keys = self.sizes(owner)?.into_keys();
        Ok(keys.filter(|key| key.starts_with(prefix)).collect())
    }

    /// Returns every key with the bytes of its value.
    ///
    /// # Errors
    ///
    /// Where the file is broken or cannot be read.
    pub fn sizes(&self, owner: &StoreOwner) -> Result<BTreeMap<String, u64>, ToolError> {
        self.with(|begun| {
            let sql =
                "SELECT key, octet_length(value) FROM entries JOIN stores ON stores.id = store
                       WHERE plugin = ?1 AND origin = ?2";
            let mut statement = begun.prepare_cached(sql)?;
            let rows = statement.query_map(params![owner.plugin, owner.origin], |row| {
                Ok((row.get(0)?, count(row, 1)?))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns how many keys plugins of a name keep in the workspace, wherever they come from.
    ///
    /// # Errors
    ///
    /// Where the file is broken or cannot be read.
    pub fn count(&self, plugin: &str) -> Result<u64, ToolError> {
        self.with(|begun| keys_of(begun, plugin))
    }

    /// Forgets all that plugins of a name keep in the workspace, wherever they come from. Returns
    /// how many keys there were.
    ///
    /// # Errors
    ///
    /// Where the file is broken or cannot be written.
    pub fn forget(&self, plugin: &str) -> Result<u64, ToolError> {
        self.with(|begun| {
            let keys = keys_of(begun, plugin)?;
            begun.execute("DELETE FROM stores WHERE plugin = ?1", [plugin])?;
            Ok(keys)
        })
    }

    /// Does something in a transaction of its own, which others that write wait for.
    fn with<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreFailure>,
    ) -> Result<T, ToolError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.connected(&mut connection).and_then(|connection| {
            let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&begun)?;
            begun.commit()?;
            Ok(value)
        });
        done.map_err(|failure| match failure {
            StoreFailure::Refused(error) => error,
            StoreFailure::Broken(reason) => {
                let file = self.directory.path().join(FILE_NAME);
                let message =
                    format!("the stores of plugins in {} cannot be used: {reason}", file.display());
                ToolError::new(ErrorCode::Io, message)
                    .hint("if the file is invalid, remove it: the stores of plugins are lost then")
            }
        })
    }

    fn connected<'a>(
        &self,
        connection: &'a mut Option<Connection>,
    ) -> Result<&'a mut Connection, StoreFailure> {
        if let Some(connection) = connection {
            return Ok(connection);
        }
        // Made here, so that it is private from its first instant.
        let made = self.directory.append(FILE_NAME).map(drop);
        made.map_err(|error| StoreFailure::Broken(error.to_string()))?;
        Ok(connection.insert(set_up(&self.directory.path().join(FILE_NAME))?))
    }
}

/// Why nothing was done.
enum StoreFailure {
    /// It may not be.
    Refused(ToolError),
    /// It could not be.
    Broken(String),
}

impl From<rusqlite::Error> for StoreFailure {
    fn from(error: rusqlite::Error) -> Self {
        if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) {
            let message = "the stores of plugins cannot be written: the disk is full";
            let error = ToolError::new(ErrorCode::Io, message);
            return Self::Refused(error.hint("free space and try again; the stores are unchanged"));
        }
        Self::Broken(error.to_string())
    }
}

impl From<ToolError> for StoreFailure {
    fn from(error: ToolError) -> Self {
        Self::Refused(error)
    }
}

/// Opens the database and brings it into its layout.
fn set_up(path: &Path) -> Result<Connection, StoreFailure> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // A rollback journal: one writer at a time is enough, and nothing lies beside the file.
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA fullfsync = ON;
         PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA cell_size_check = ON;",
    )?;
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match begun.pragma_query_value(None, "user_version", |row| row.get(0))? {
        0 => {
            begun.execute_batch(SCHEMA)?;
            begun.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        }
        SCHEMA_VERSION => {}
        _ => return Err(StoreFailure::Broken("it was written by a newer moss".to_owned())),
    }
    begun.commit()?;
    Ok(connection)
}

/// Reads a number that counts.
fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.unsigned_abs())
}

/// Counts the keys of all stores of a name.
fn keys_of(begun: &Transaction<'_>, plugin: &str) -> Result<u64, StoreFailure> {
    let sql = "SELECT count(*) FROM entries JOIN stores ON stores.id = store WHERE plugin = ?1";
    Ok(begun.query_row(sql, [plugin], |row| count(row, 0))?)
}

/// Returns the number of a store, which is made where it is missing.
fn store_of(begun: &Transaction<'_>, owner: &StoreOwner) -> Result<i64, StoreFailure> {
    let parameters = params![owner.plugin, owner.origin];
    let sql = "SELECT id FROM stores WHERE plugin = ?1 AND origin = ?2";
    if let Some(store) = begun.query_row(sql, parameters, |row| row.get(0)).optional()? {
        return Ok(store);
    }
    let stores: i64 = begun.query_row("SELECT count(*) FROM stores", [], |row| row.get(0))?;
    if stores >= STORES_MAX {
        let message = format!("{STORES_MAX} plugins keep something in this workspace already");
        let error = ToolError::new(ErrorCode::LimitExceeded, message);
        return Err(error.hint("delete the stores of plugins that are no longer used").into());
    }
    begun.execute("INSERT INTO stores (plugin, origin) VALUES (?1, ?2)", parameters)?;
    Ok(begun.last_insert_rowid())
}

#[cfg(test)]
mod tests;
