//! The tables of the history store and every statement that writes them, or that finishing and
//! rolling back reads.

mod left;

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use moss_sdk::edit::Retention;
use moss_sdk::{ContentHash, RelPath};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use rustix::io::Errno;

pub(crate) use self::left::{
    files_since_swept, is_anything_left, mark_swept, pending, swept, unswept,
};
use super::rows::{from_sql, now_ms, root_key, to_sql};
use crate::changes::{FileAction, Plan};
use crate::error::Error;
use crate::handle;
use crate::origin::Origin;
use crate::own::OwnDir;

/// The database of a history, in its state directory.
pub const FILE: &str = "history.sqlite";
/// Its write-ahead log. Locks lie on the other files of the database: this one may be opened beside
/// SQLite.
const LOG_FILE: &str = "history.sqlite-wal";
/// What makes each version of the tables out of the one before, from none on.
const SCHEMA: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];
const SCHEMA_VERSION: i64 = SCHEMA.len() as i64;
/// Marks databases of moss as such: its name in ASCII.
const APPLICATION_ID: i64 = 0x6d6f_7373;
/// More statements than there are in this crate: those of a commit are compiled once.
const STATEMENTS_MAX: usize = 64;
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A change set that was begun.
#[derive(Debug)]
pub(crate) struct Intent {
    pub(crate) number: u64,
    /// Directories that it makes, parents first.
    pub(crate) directories: Vec<RelPath>,
    pub(crate) files: Vec<IntentFile>,
}

/// One file of a change set, as far as finishing or rolling it back needs to know.
#[derive(Debug, Clone)]
pub(crate) struct IntentFile {
    pub(crate) real: RelPath,
    pub(crate) action: FileAction,
    pub(crate) before: Option<ContentHash>,
    pub(crate) after: Option<ContentHash>,
    /// The name under which the other version lies beside the file.
    pub(crate) temp: String,
}

/// Opens the database, making it where it is missing.
pub(super) fn open(directory: &OwnDir) -> Result<Connection, Error> {
    // Made here, so that it is private from its first instant.
    directory.make_file(FILE)?;
    let mut connection = Connection::open(directory.path().join(FILE))?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // What must be durable is synced by `log_sync`; SQLite syncs what it moves out of the log.
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL;
         PRAGMA fullfsync = ON;
         PRAGMA checkpoint_fullfsync = ON;
         PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA cell_size_check = ON;",
    )?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        let reason = format!("its file system permits no write-ahead log, only `{mode}`");
        return Err(Error::History { reason, damaged: false });
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    migrate(&transaction)?;
    transaction.commit()?;
    Ok(connection)
}

/// Returns what brings all written transactions to disk. The log is there while a connection is
/// open.
pub(super) fn log_sync(
    directory: &OwnDir,
) -> Result<impl FnMut() -> Result<(), Errno> + Send + 'static + use<>, Error> {
    let mut log = OwnedFd::from(directory.append(LOG_FILE)?);
    let directory = directory.readable()?;
    let mut is_name_durable = false;
    Ok(move || {
        if handle::stat(&log)?.names == 0 {
            // While this process opened its store anew another one closed it as the last, and took it for unused.
            log = handle::open_at(&directory, LOG_FILE, handle::READ)?;
            is_name_durable = false;
            return Err(Errno::STALE);
        }
        if !is_name_durable {
            handle::sync(directory.as_fd())?;
            is_name_durable = true;
        }
        handle::sync_log(log.as_fd())
    })
}

/// Brings what the log holds into the database, durably, and empties it. What a sync of the log may have lost is
/// in the database then, and nothing that it holds from now on was written before.
pub(super) fn renew_log(connection: &Connection) -> Result<(), Error> {
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let is_busy: bool = connection.query_row(sql, [], |row| row.get(0))?;
    if is_busy {
        let what = "the history store is in use by another process".to_owned();
        return Err(Error::Busy { what });
    }
    Ok(())
}

/// Keeps what the log holds out of the database until the store is opened again, which checks it: where a sync has
/// failed, it may not be what was written.
pub(super) fn distrust_log(connection: &Connection) -> Result<(), Error> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection.query_row("PRAGMA wal_autocheckpoint = 0", [], |_| Ok(()))?)
}

/// The version of the tables; none where there are none yet.
pub(super) fn version_of(connection: &Connection) -> Result<Option<i64>, Error> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let damaged = |reason: String| Error::History { reason, damaged: true };
    match (pragma("application_id")?, pragma("user_version")?) {
        (0, 0) => Ok(None),
        (APPLICATION_ID, version @ 1..=SCHEMA_VERSION) => Ok(Some(version)),
        (APPLICATION_ID, version) if version > SCHEMA_VERSION => {
            let reason = format!(
                "a newer moss wrote it (version {version} of its tables, this one knows {SCHEMA_VERSION}): use that one"
            );
            Err(Error::History { reason, damaged: false })
        }
        (APPLICATION_ID, version) => Err(damaged(format!("it has version {version}"))),
        (id, _) => Err(damaged(format!("it belongs to another application ({id:#x})"))),
    }
}

/// Brings the tables to the version that this program knows.
fn migrate(transaction: &Transaction<'_>) -> Result<(), Error> {
    let version = version_of(transaction)?.unwrap_or_default();
    if version == SCHEMA_VERSION {
        return Ok(());
    }
    for (step, sql) in (0..).zip(SCHEMA) {
        if step >= version {
            transaction.execute_batch(sql)?;
        }
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    Ok(transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?)
}

/// Writes an intent with all contents.
pub(crate) fn begin(
    connection: &mut Connection,
    plan: &Plan,
    origin: &Origin,
    directories: &[RelPath],
    temps: &[String],
) -> Result<u64, Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number = insert(&transaction, plan, origin, directories, temps)?;
    transaction.commit()?;
    Ok(from_sql(number))
}

/// Writes what has happened already.
pub(super) fn record(
    connection: &mut Connection,
    plan: &Plan,
    origin: &Origin,
) -> Result<u64, Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let temps = vec![String::new(); plan.files().len()];
    let number = insert(&transaction, plan, origin, &[], &temps)?;
    transaction.execute("UPDATE entries SET committed = 1 WHERE number = ?1", [number])?;
    transaction.commit()?;
    Ok(from_sql(number))
}

fn insert(
    transaction: &Transaction<'_>,
    plan: &Plan,
    origin: &Origin,
    directories: &[RelPath],
    temps: &[String],
) -> Result<i64, Error> {
    let directories: Vec<&str> = directories.iter().map(RelPath::as_str).collect();
    let mut statement = transaction.prepare_cached(
        "INSERT INTO entries (committed, root, at_ms, call_id, tool, caller, summary, directories)
         VALUES (0, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    statement.execute(params![
        root_key(plan.root()),
        now_ms(),
        origin.call_id,
        origin.tool,
        origin.caller,
        origin.summary,
        directories.join("\n"),
    ])?;
    let number = transaction.last_insert_rowid();
    for target in plan.undo_of() {
        let sql = "INSERT INTO undone (entry, target) VALUES (?1, ?2)";
        transaction.prepare_cached(sql)?.execute([number, to_sql(*target)])?;
    }
    for (position, (file, temp)) in plan.files().iter().zip(temps).enumerate() {
        for (hash, bytes) in [(file.before, &file.old), (file.after, &file.new)] {
            if let (Some(hash), Some(bytes)) = (hash, bytes) {
                put_blob(transaction, &hash, bytes)?;
            }
        }
        let mut statement = transaction.prepare_cached(
            "INSERT INTO files (entry, position, path, real, action, before, after, before_bytes,
                                after_bytes, mode, permanent, added, removed, temp, match_level)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?;
        statement.execute(params![
            number,
            to_sql(position as u64),
            file.path.as_str(),
            file.real.as_str(),
            file.action.as_str(),
            file.before.as_ref().map(ContentHash::as_bytes),
            file.after.as_ref().map(ContentHash::as_bytes),
            to_sql(file.before_bytes),
            to_sql(file.after_bytes),
            file.mode,
            file.retention == Retention::Permanent,
            to_sql(file.added as u64),
            to_sql(file.removed as u64),
            temp,
            file.matched.as_ref().map(|matched| matched.level.as_str()),
        ])?;
    }
    Ok(number)
}

/// Makes an intent history, and forgets what it deletes for good.
pub(crate) fn finish(connection: &mut Connection, number: u64) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = "UPDATE entries SET committed = 1 WHERE number = ?1";
    transaction.prepare_cached(sql)?.execute([to_sql(number)])?;
    let deleted: Vec<String> = transaction
        .prepare_cached("SELECT real FROM files WHERE entry = ?1 AND permanent = 1")?
        .query_map([to_sql(number)], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for path in &deleted {
        forget(&transaction, path)?;
    }
    transaction.commit()?;
    if !deleted.is_empty() {
        // What was erased may still stand in the log.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    }
    Ok(())
}

/// Erases every content that history holds of a file.
fn forget(transaction: &Transaction<'_>, real: &str) -> Result<(), Error> {
    let hashes = hashes_of(transaction, "real = ?1", &real)?;
    let kept: Vec<Vec<u8>> = transaction
        .prepare_cached("DELETE FROM kept WHERE path = ?1 RETURNING hash")?
        .query_map([real], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    transaction.execute("UPDATE files SET forgotten = 1 WHERE real = ?1", [real])?;
    drop_unused(transaction, &kept)?;
    drop_unused(transaction, &hashes)
}

/// Removes an intent that left no trace, or an entry that is too old.
pub(crate) fn remove(connection: &mut Connection, number: u64) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    remove_in(&transaction, number)?;
    Ok(transaction.commit()?)
}

pub(super) fn remove_in(transaction: &Transaction<'_>, number: u64) -> Result<(), Error> {
    let hashes = hashes_of(transaction, "entry = ?1", &to_sql(number))?;
    transaction.execute("DELETE FROM entries WHERE number = ?1", [to_sql(number)])?;
    drop_unused(transaction, &hashes)
}

fn hashes_of(
    transaction: &Transaction<'_>,
    condition: &str,
    value: &dyn rusqlite::ToSql,
) -> Result<Vec<Vec<u8>>, Error> {
    let sql = format!(
        "SELECT before FROM files WHERE before IS NOT NULL AND {condition}
         UNION SELECT after FROM files WHERE after IS NOT NULL AND {condition}"
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    let rows = statement.query_map([value], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Drops contents that nothing refers to any more.
fn drop_unused(transaction: &Transaction<'_>, hashes: &[Vec<u8>]) -> Result<(), Error> {
    let mut statement = transaction.prepare_cached(
        "DELETE FROM blobs WHERE hash = ?1
         AND NOT EXISTS (SELECT 1 FROM files WHERE before = ?1 AND forgotten = 0)
         AND NOT EXISTS (SELECT 1 FROM files WHERE after = ?1 AND forgotten = 0)
         AND NOT EXISTS (SELECT 1 FROM kept WHERE hash = ?1)",
    )?;
    for hash in hashes {
        statement.execute([hash])?;
    }
    Ok(())
}

/// Makes an entry an intent again, to be rolled back.
pub(crate) fn unmark(connection: &Connection, number: u64) -> Result<(), Error> {
    connection.execute("UPDATE entries SET committed = 0 WHERE number = ?1", [to_sql(number)])?;
    Ok(())
}

/// Whether an entry is history already.
pub(crate) fn is_committed(connection: &Connection, number: u64) -> Result<bool, Error> {
    let sql = "SELECT committed FROM entries WHERE number = ?1";
    let found = connection.query_row(sql, [to_sql(number)], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(false))
}

/// Keeps bytes of another program that could not be left in place.
pub(crate) fn keep(
    connection: &mut Connection,
    path: &RelPath,
    hash: &ContentHash,
    bytes: &[u8],
) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    put_blob(&transaction, hash, bytes)?;
    transaction.execute(
        "INSERT INTO kept (at_ms, path, hash) VALUES (?1, ?2, ?3)",
        params![now_ms(), path.as_str(), hash.as_bytes()],
    )?;
    Ok(transaction.commit()?)
}

/// Stores a content. One that is held is compared, and written anew where other bytes lie in its place: what
/// needs it can be undone again.
fn put_blob(transaction: &Transaction<'_>, hash: &ContentHash, bytes: &[u8]) -> Result<(), Error> {
    let is_held = transaction
        .prepare_cached("SELECT content FROM blobs WHERE hash = ?1")?
        .query_row([hash.as_bytes()], |row| {
            Ok(row.get_ref(0)?.as_blob().is_ok_and(|held| held == bytes))
        })
        .optional();
    let sql = match is_held {
        Ok(Some(true)) => return Ok(()),
        Ok(Some(false)) => "UPDATE blobs SET size = ?2, content = ?3 WHERE hash = ?1",
        Err(error) if error.sqlite_error_code() != Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
            return Err(error.into());
        }
        // What SQLite cannot read it cannot replace either: that stands in the way of an undo, not of a change.
        Ok(None) | Err(_) => {
            "INSERT OR IGNORE INTO blobs (hash, size, content) VALUES (?1, ?2, ?3)"
        }
    };
    let values = params![hash.as_bytes(), to_sql(bytes.len() as u64), bytes];
    transaction.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

pub(crate) fn blob(connection: &Connection, hash: &ContentHash) -> Result<Option<Vec<u8>>, Error> {
    let sql = "SELECT content FROM blobs WHERE hash = ?1";
    let found: Option<Vec<u8>> =
        connection.query_row(sql, [hash.as_bytes()], |row| row.get(0)).optional()?;
    // SQLite does not notice other bytes in the place of those that were written.
    if found.as_ref().is_some_and(|bytes| handle::hash(bytes) != *hash) {
        let reason = format!("the content {} in it is not what was written", hash.short());
        return Err(Error::History { reason, damaged: true });
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at files from outside")]
mod tests;
