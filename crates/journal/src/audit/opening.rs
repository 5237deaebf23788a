//! Opening the audit database to write to it: its layout, how it is logged, and what shows that it
//! is damaged.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};

use super::{BUSY_TIMEOUT, ChainHead, pruning};

/// Attempts to switch a new database to write-ahead logging beside another process.
const WAL_ATTEMPTS_MAX: u32 = 100;
/// Pause between these attempts.
const WAL_PAUSE: Duration = Duration::from_millis(20);
/// Largest database, in bytes, that is checked as a whole when it is opened; of a larger one only
/// the end is.
const CHECK_BYTES_MAX: i64 = 64 * 1024 * 1024;
/// The layout of the database. Before, no row could go.
pub(super) const SCHEMA_VERSION: i64 = 2;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS audit (
    seq    INTEGER PRIMARY KEY,
    record TEXT NOT NULL,
    hash   BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE TRIGGER IF NOT EXISTS audit_next BEFORE INSERT ON audit
    WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit)
    BEGIN SELECT RAISE(ABORT, 'audit rows are only appended'); END;
CREATE TRIGGER IF NOT EXISTS audit_keep BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;
CREATE TRIGGER IF NOT EXISTS audit_stay BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit rows are never removed'); END;
";

/// Only the end of the database is read while rows are appended; SQLite counts kibibytes down from 0.
const CACHE_KIBIBYTES: i32 = -256;

/// Opens the database and brings it into its layout.
pub(super) fn set_up(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    write_ahead(&connection)?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "cache_size", CACHE_KIBIBYTES)?;
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = begun.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match version {
        0 => {
            begun.execute_batch(SCHEMA)?;
            begun.execute_batch(pruning::SCHEMA)?;
        }
        1 => begun.execute_batch(pruning::SCHEMA)?,
        SCHEMA_VERSION => {}
        _ => return Err(rusqlite::Error::InvalidQuery),
    }
    begun.commit()?;
    check(&mut connection)?;
    Ok(connection)
}

/// Checks the database, and that its last row is one that the next can be chained to.
fn check(connection: &mut Connection) -> rusqlite::Result<()> {
    // Everything is read in one state of the database, beside others that write.
    let begun = connection.transaction()?;
    let pages: i64 = begun.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let page_bytes: i64 = begun.pragma_query_value(None, "page_size", |row| row.get(0))?;
    if pages.saturating_mul(page_bytes) <= CHECK_BYTES_MAX {
        let found: String = begun.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if found != "ok" {
            return Err(damage(found));
        }
    }
    let head = ChainHead::last(&begun)?;
    let last: Option<Vec<u8>> = begun
        .prepare("SELECT CAST(record AS BLOB) FROM audit WHERE seq = ?1")?
        .query_row([head.seq], |row| row.get(0))
        .optional()?;
    match last.map(|record| serde_json::from_slice::<serde::de::IgnoredAny>(&record)) {
        Some(Err(error)) => Err(damage(format!("the last row is no record: {error}"))),
        Some(Ok(_)) | None => Ok(()),
    }
}

fn damage(reason: String) -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(code, Some(reason))
}

/// Whether an error means that the file is not what was written, rather than that it cannot be
/// read now. A generic error is one of a table that is not there.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, Unknown};
    error
        .sqlite_error_code()
        .is_none_or(|code| matches!(code, DatabaseCorrupt | NotADatabase | Unknown))
}

/// Switches to write-ahead logging. Beside another process that does the same SQLite reports a
/// lock at once instead of waiting for it.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let mut attempts = 0;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(rusqlite::Error::SqliteFailure(error, _))
                if error.code == rusqlite::ErrorCode::DatabaseBusy
                    && attempts < WAL_ATTEMPTS_MAX =>
            {
                attempts += 1;
                std::thread::sleep(WAL_PAUSE);
            }
            result => return result,
        }
    }
}
