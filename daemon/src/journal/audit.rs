//! The audit database: append-only rows, each chained to the one before by a BLAKE3 hash.
//!
//! The hash of a row covers the hash before it, the row's number and the exact bytes of the record,
//! so an edited, removed, moved or inserted row breaks the chain. Cutting rows off the end is found
//! only by comparing with a head noted elsewhere, and whoever may write the file can make a new
//! chain: see `docs/security.md`.

pub mod pruning;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use rustix::fs::{Mode, OFlags, Stat};
use serde::Serialize;
use serde_json::Value;

pub use self::pruning::Pruned;
use super::record::Record;
use super::{Durability, JournalError};

/// The name of the database in the state directory.
pub const FILE_NAME: &str = "audit.db";
/// Most rows that one reading returns.
pub const TAIL_ROWS_MAX: usize = 10_000;

/// Longest wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Attempts to switch a new database to write-ahead logging beside another process.
const WAL_ATTEMPTS_MAX: u32 = 100;
/// Pause between these attempts.
const WAL_PAUSE: Duration = Duration::from_millis(20);
/// Largest database, in bytes, that is checked as a whole when it is opened; of a larger one only
/// the end is.
const CHECK_BYTES_MAX: i64 = 64 * 1024 * 1024;
/// The layout of the database. Before, no row could go.
const SCHEMA_VERSION: i64 = 2;

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

/// Which rows to read back. The default is the newest hundred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Only rows after this number, the oldest first; without it the newest rows.
    pub since: Option<u64>,
    /// Most rows, capped by [`TAIL_ROWS_MAX`].
    pub limit: usize,
    /// Only this tool.
    pub tool: Option<String>,
    /// Only this outcome, which only the end of a call has.
    pub outcome: Option<String>,
}

/// A row read back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// The row's number, from 1.
    pub seq: u64,
    /// What was recorded; a string where a damaged row is no JSON any more.
    pub record: Value,
    /// The hash of the row, in hexadecimal digits.
    pub hash: String,
}

/// What a check of the chain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// How many rows are in order.
    pub rows: u64,
    /// The hash of the last row in order, in hexadecimal digits; note it elsewhere to find later
    /// that rows were cut off. None for an empty journal.
    pub head: Option<String>,
    /// The number of the first row that is missing or not what was written.
    pub broken_at: Option<u64>,
    /// The number of the last row that moss cut off, with its hash, from which the chain goes on;
    /// none where all rows are there.
    pub pruned: Option<Pruned>,
}

/// The writing side.
pub(super) struct Log {
    connection: Connection,
    /// How appends go to disk now; empty before the first.
    synchronous: &'static str,
    path: PathBuf,
    /// The file that was opened under the path.
    file: Stat,
}

/// Writes a record as the line of JSON that is stored and hashed.
pub(super) fn line(time: Timestamp, record: &Record) -> Result<String, JournalError> {
    #[derive(Serialize)]
    struct Line<'a> {
        time: String,
        #[serde(flatten)]
        record: &'a Record,
    }
    let time = time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
    serde_json::to_string(&Line { time, record })
        .map_err(|error| JournalError::Write(error.to_string()))
}

/// Reads rows back without a writer, in ascending order.
///
/// # Errors
///
/// [`JournalError::Read`].
pub fn tail(dir: &Path, filter: &Filter) -> Result<Vec<Entry>, JournalError> {
    let read = || -> rusqlite::Result<Vec<Entry>> {
        let Some(connection) = open_for_reading(dir)? else { return Ok(Vec::new()) };
        let order = if filter.since.is_some() { "ASC" } else { "DESC" };
        let mut statement = connection.prepare(&format!(
            "SELECT seq, record, hash FROM audit WHERE seq > ?1
             AND (?2 IS NULL OR json_valid(record) AND record ->> '$.tool' = ?2)
             AND (?3 IS NULL OR json_valid(record) AND record ->> '$.outcome' = ?3)
             ORDER BY seq {order} LIMIT ?4"
        ))?;
        let limit = filter.limit.min(TAIL_ROWS_MAX) as i64;
        let since = i64::try_from(filter.since.unwrap_or(0)).unwrap_or(i64::MAX);
        let parameters = params![since, filter.tool, filter.outcome, limit];
        let mut entries =
            statement.query_map(parameters, Entry::read)?.collect::<Result<Vec<_>, _>>()?;
        if filter.since.is_none() {
            entries.reverse();
        }
        Ok(entries)
    };
    read().map_err(|error| JournalError::Read(error.to_string()))
}

/// Checks the chain of hashes over all rows without a writer.
///
/// # Errors
///
/// [`JournalError::Read`].
pub fn verify(dir: &Path) -> Result<Verification, JournalError> {
    let read = || -> rusqlite::Result<Verification> {
        let mut verified = Verification { rows: 0, head: None, broken_at: None, pruned: None };
        let Some(connection) = open_for_reading(dir)? else { return Ok(verified) };
        let checkpoint = pruning::checkpoint(&connection)?;
        let start = checkpoint.unwrap_or(Head::EMPTY);
        let mut statement =
            connection.prepare("SELECT seq, record, hash FROM audit ORDER BY seq")?;
        let mut rows = statement.query([])?;
        let (mut head, mut cut) = (start, None);
        while let Some(row) = rows.next()? {
            let record = row.get_ref(1)?.as_bytes()?;
            cut = pruning::cut_of(record).or(cut);
            let next = head.next(record);
            if row.get::<_, i64>(0)? != next.seq || row.get_ref(2)?.as_bytes()? != next.hash {
                verified.broken_at = Some(next.seq.unsigned_abs());
                break;
            }
            head = next;
        }
        verified.rows = (head.seq - start.seq).unsigned_abs();
        verified.head = (head.seq > 0).then(|| hex(&head.hash));
        let gone = checkpoint.map(|gone| (gone.seq, hex(&gone.hash)));
        // The chain itself has to say that moss cut it there.
        if verified.broken_at.is_none() && cut != gone {
            verified.broken_at = Some(start.seq.unsigned_abs() + 1);
        }
        verified.pruned =
            gone.map(|(through, hash)| Pruned { through: through.unsigned_abs(), hash });
        Ok(verified)
    };
    read().map_err(|error| JournalError::Read(error.to_string()))
}

/// The end of the chain.
#[derive(Debug, Clone, Copy)]
struct Head {
    seq: i64,
    hash: [u8; 32],
}

fn open_for_reading(dir: &Path) -> rusqlite::Result<Option<Connection>> {
    let path = dir.join(FILE_NAME);
    if !path.exists() {
        return Ok(None);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(Some(connection))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

// === impl Log ===

impl Log {
    pub(super) fn open(dir: &Path) -> Result<Self, JournalError> {
        let path = dir.join(FILE_NAME);
        let failed = |reason: String| JournalError::Open { path: path.clone(), reason };
        // SQLite gives its side files the mode of the database.
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[expect(clippy::disallowed_methods, reason = "SQLite opens it again, by name")]
        let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)
            .and_then(rustix::fs::fstat)
            .map_err(|error| failed(error.to_string()))?;
        match set_up(&path) {
            Ok(connection) => Ok(Self { connection, synchronous: "", path, file }),
            Err(rusqlite::Error::InvalidQuery) => {
                Err(failed("it was written by a newer moss".to_owned()))
            }
            Err(error) if is_damage(&error) => {
                Err(JournalError::Damaged { path, reason: error.to_string() })
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Appends all lines or none. Another process may append as well: the end of the chain is read
    /// under the write lock.
    pub(super) fn append<'a>(
        &mut self,
        lines: impl Iterator<Item = &'a str>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        self.check_path()?;
        let write = || -> rusqlite::Result<()> {
            let synchronous = match durability {
                Durability::Durable => "FULL",
                Durability::Batched => "NORMAL",
            };
            if self.synchronous != synchronous {
                self.connection.pragma_update(None, "synchronous", synchronous)?;
                self.synchronous = synchronous;
            }
            let begun =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut head = Head::last(&begun)?;
            {
                let sql = "INSERT INTO audit (seq, record, hash) VALUES (?1, ?2, ?3)";
                let mut insert = begun.prepare_cached(sql)?;
                for line in lines {
                    head = head.next(line.as_bytes());
                    insert.execute(params![head.seq, line, head.hash])?;
                }
            }
            begun.commit()
        };
        write().map_err(|error| JournalError::Write(error.to_string()))
    }

    /// Rows in a file that has lost its name would be gone with this process.
    fn check_path(&self) -> Result<(), JournalError> {
        match rustix::fs::lstat(&self.path) {
            Ok(found) if (found.st_dev, found.st_ino) == (self.file.st_dev, self.file.st_ino) => {
                Ok(())
            }
            Ok(_) | Err(rustix::io::Errno::NOENT) => {
                Err(JournalError::Replaced { path: self.path.clone() })
            }
            Err(error) => Err(JournalError::Write(error.to_string())),
        }
    }
}

/// Opens the database and brings it into its layout.
fn set_up(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    write_ahead(&connection)?;
    connection.pragma_update(None, "fullfsync", true)?;
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
    let head = Head::last(&begun)?;
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
fn is_damage(error: &rusqlite::Error) -> bool {
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

// === impl Head ===

impl Head {
    const EMPTY: Self = Self { seq: 0, hash: [0; 32] };

    fn last(begun: &Transaction<'_>) -> rusqlite::Result<Self> {
        let last = begun
            .prepare_cached("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1")?
            .query_row([], |row| Ok(Self { seq: row.get(0)?, hash: row.get(1)? }))
            .optional()?;
        Ok(last.unwrap_or(Self::EMPTY))
    }

    fn next(&self, record: &[u8]) -> Self {
        let seq = self.seq + 1;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.hash).update(&seq.to_le_bytes()).update(record);
        Self { seq, hash: *hasher.finalize().as_bytes() }
    }
}

// === impl Filter ===

impl Default for Filter {
    fn default() -> Self {
        Self { since: None, limit: 100, tool: None, outcome: None }
    }
}

// === impl Entry ===

impl Entry {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let bytes = row.get_ref(1)?.as_bytes()?;
        let record = serde_json::from_slice(bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()));
        Ok(Self {
            seq: row.get::<_, i64>(0)?.unsigned_abs(),
            record,
            hash: hex(row.get_ref(2)?.as_bytes()?),
        })
    }
}

#[cfg(test)]
mod tests;
