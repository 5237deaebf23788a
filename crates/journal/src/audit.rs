//! The audit database: append-only rows, each chained to the one before by a BLAKE3 hash.
//!
//! The hash of a row covers the hash before it, the row's number and the exact bytes of the record,
//! so an edited, removed, moved or inserted row breaks the chain. Cutting rows off the end is found
//! only by comparing with a head noted elsewhere, and anyone who may write the file can make a new
//! chain: see `docs/security.md`.

mod opening;
pub mod pruning;
pub mod uses;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use rustix::fs::{FileType, Mode, OFlags, Stat};
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

/// Which rows to read back. The default is the newest hundred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only rows after this number, the oldest first; without it the newest rows.
    pub since: Option<u64>,
    /// Most rows, capped by [`TAIL_ROWS_MAX`].
    pub limit: usize,
    /// Only rows of calls of this tool.
    pub tool: Option<String>,
    /// Only this outcome, which only the end of a call has.
    pub outcome: Option<String>,
}

/// A row read back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditEntry {
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
    /// The number of the last row that moss cut off, with its hash, from which the chain continues;
    /// none where all rows are there.
    pub pruned: Option<Pruned>,
}

/// The open database, as the writing thread has it.
pub(super) struct Log {
    connection: Connection,
    /// How transactions go to disk now; empty before the first.
    synchronous: &'static str,
    path: PathBuf,
    /// The file that was opened under the path.
    file: Stat,
}

/// Writes a record as the line of JSON that is stored and hashed.
pub(super) fn line(time: Timestamp, record: &Record) -> Result<String, JournalError> {
    #[derive(Serialize)]
    struct AuditLine<'a> {
        time: String,
        #[serde(flatten)]
        record: &'a Record,
    }
    let time = time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
    serde_json::to_string(&AuditLine { time, record })
        .map_err(|error| JournalError::Write(error.to_string()))
}

/// Reads rows back without a writer, in ascending order.
///
/// # Errors
///
/// [`JournalError::Read`].
pub fn tail(dir: &Path, filter: &AuditFilter) -> Result<Vec<AuditEntry>, JournalError> {
    let read = || -> rusqlite::Result<Vec<AuditEntry>> {
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
            statement.query_map(parameters, AuditEntry::read)?.collect::<Result<Vec<_>, _>>()?;
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
        let Some(mut connection) = open_for_reading(dir)? else { return Ok(verified) };
        // The checkpoint and the rows are those of one state, beside a daemon that cuts rows off.
        let begun = connection.transaction()?;
        let checkpoint = pruning::checkpoint(&begun)?;
        let start = checkpoint.unwrap_or(ChainHead::EMPTY);
        let mut statement = begun.prepare("SELECT seq, record, hash FROM audit ORDER BY seq")?;
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
struct ChainHead {
    seq: i64,
    hash: [u8; 32],
}

fn open_for_reading(dir: &Path) -> rusqlite::Result<Option<Connection>> {
    let path = dir.join(FILE_NAME);
    match rustix::fs::stat(&path) {
        // To open a pipe would wait for whoever writes to it.
        Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile => {
            return Err(rusqlite::Error::InvalidPath(path));
        }
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        _ => {}
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
        match opening::set_up(&path) {
            Ok(connection) => Ok(Self { connection, synchronous: "", path, file }),
            Err(rusqlite::Error::InvalidQuery) => {
                Err(failed("it was written by a newer moss".to_owned()))
            }
            Err(error) if opening::is_damage(&error) => {
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
            self.sync_as(durability)?;
            let begun =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut head = ChainHead::last(&begun)?;
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

    /// Sets how the next transactions go to disk, where that changes.
    fn sync_as(&mut self, durability: Durability) -> rusqlite::Result<()> {
        let synchronous = match durability {
            Durability::Durable => "FULL",
            Durability::Batched => "NORMAL",
        };
        if self.synchronous != synchronous {
            self.connection.pragma_update(None, "synchronous", synchronous)?;
            self.synchronous = synchronous;
        }
        Ok(())
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

// === impl ChainHead ===

impl ChainHead {
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

// === impl AuditFilter ===

impl Default for AuditFilter {
    fn default() -> Self {
        Self { since: None, limit: 100, tool: None, outcome: None }
    }
}

// === impl AuditEntry ===

impl AuditEntry {
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
