//! Cutting off the oldest rows, by size and by age, so that the journal does not fill the disk. A
//! cut is a record of its own: it carries the number and the hash of the last row that is gone, from
//! which the chain continues. The table `checkpoint` has the same, for whoever reads from the
//! front.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde::Serialize;
use serde_json::json;

use super::{ChainHead, Log, hex};
use crate::{Durability, JournalError};

/// Rows after which the size is looked at again.
const LOOK_ROWS: u64 = 1024;
/// What is left of the size after a cut, in sixteenths: not every record cuts.
const LEFT_SIXTEENTHS: i64 = 15;
/// Most rows that one cut takes; the next look takes more.
const CUT_ROWS_MAX: i64 = 65_536;

/// The second layout: rows may go once the checkpoint says so.
pub(super) const SCHEMA: &str = "
CREATE TABLE checkpoint (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq  INTEGER NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
DROP TRIGGER IF EXISTS audit_stay;
CREATE TRIGGER audit_stay BEFORE DELETE ON audit
    WHEN OLD.seq > (SELECT coalesce(max(seq), 0) FROM checkpoint)
    BEGIN SELECT RAISE(ABORT, 'audit rows are never removed, but cut off at the checkpoint'); END;
PRAGMA user_version = 2;
";

/// How much of the journal is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruningBounds {
    /// Largest database, in bytes; what is in use of it.
    pub bytes_max: u64,
    /// How long rows are kept, in days.
    pub days_max: u64,
    /// Rows that stay whatever their age: a clock that was set wrong erases none of them.
    pub rows_min: u64,
}

/// Where rows were cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// The number of the last row that is gone.
    pub through: u64,
    /// Its hash, in hexadecimal digits.
    pub hash: String,
}

/// When the writer looks next.
#[derive(Debug)]
pub(crate) struct Pruning {
    bounds: PruningBounds,
    rows: u64,
}

/// The last row that was cut off; none where nothing was.
pub(super) fn checkpoint(connection: &Connection) -> rusqlite::Result<Option<ChainHead>> {
    let exists = connection
        .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'checkpoint'")?
        .exists([])?;
    if !exists {
        return Ok(None);
    }
    connection
        .prepare("SELECT seq, hash FROM checkpoint")?
        .query_row([], |row| Ok(ChainHead { seq: row.get(0)?, hash: row.get(1)? }))
        .optional()
}

/// Reads the record of a cut; none where a record is another one.
pub(super) fn cut_of(record: &[u8]) -> Option<(i64, String)> {
    let record = std::str::from_utf8(record).ok()?;
    record.contains("\"kind\":\"pruned\"").then_some(())?;
    let record: serde_json::Value = serde_json::from_str(record).ok()?;
    (record["kind"] == "pruned").then_some(())?;
    Some((record["through"].as_i64()?, record["hash"].as_str()?.to_owned()))
}

/// The number of the last row that has to go; none where all may stay.
fn last_to_go(
    begun: &Transaction<'_>,
    bounds: PruningBounds,
    now: Timestamp,
) -> rusqlite::Result<Option<i64>> {
    let ends: (Option<i64>, Option<i64>) =
        begun.query_row("SELECT min(seq), max(seq) FROM audit", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let (Some(first), Some(last)) = ends else { return Ok(None) };
    let pragma = |name: &str| begun.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let used = (pragma("page_count")? - pragma("freelist_count")?) * pragma("page_size")?;
    let bytes_max = i64::try_from(bounds.bytes_max).unwrap_or(i64::MAX);
    let mut through = first - 1;
    if used > bytes_max {
        let left = (last - first + 1).saturating_mul(bytes_max / 16 * LEFT_SIXTEENTHS) / used;
        through = last - left;
    }
    let age = Duration::from_secs(bounds.days_max.saturating_mul(24 * 3600));
    if let Ok(oldest) = now.checked_sub(age) {
        let oldest = oldest.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
        let kept = i64::try_from(bounds.rows_min).unwrap_or(i64::MAX);
        let old = last_before(begun, first, last, &oldest)?;
        through = through.max(old.min(last.saturating_sub(kept)));
    }
    // The last row stays: the next is chained to it.
    let through = through.min(first - 1 + CUT_ROWS_MAX).min(last - 1);
    Ok(Some(through).filter(|through| *through >= first))
}

/// The last row from before a time; times rise with the numbers.
fn last_before(
    begun: &Transaction<'_>,
    first: i64,
    last: i64,
    time: &str,
) -> rusqlite::Result<i64> {
    let mut statement = begun.prepare(
        "SELECT CASE WHEN json_valid(record) THEN coalesce(record ->> '$.time', '') ELSE '' END
         FROM audit WHERE seq = ?1",
    )?;
    let (mut low, mut high) = (first - 1, last);
    while low < high {
        let middle = low + (high - low + 1) / 2;
        let found: Option<String> = statement.query_row([middle], |row| row.get(0)).optional()?;
        match found.is_none_or(|found| found.as_str() < time) {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    Ok(low)
}

// === impl PruningBounds ===

impl Default for PruningBounds {
    fn default() -> Self {
        Self { bytes_max: 256 << 20, days_max: 365, rows_min: 10_000 }
    }
}

// === impl Pruning ===

impl Pruning {
    /// Looks first before anything is written.
    pub(crate) const fn new(bounds: PruningBounds) -> Self {
        Self { bounds, rows: LOOK_ROWS }
    }

    /// Cuts off what is too much, now and then. `rows` were written since the last time.
    pub(crate) fn look(&mut self, log: &mut Log, rows: usize) {
        self.rows += rows as u64;
        if self.rows < LOOK_ROWS {
            return;
        }
        self.rows = 0;
        match log.prune(self.bounds, Timestamp::now()) {
            Ok(0) => {}
            Ok(rows) => {
                tracing::info!(rows, "the oldest audit records are cut off");
                // There may be more.
                self.rows = if rows < CUT_ROWS_MAX.unsigned_abs() { 0 } else { LOOK_ROWS };
            }
            Err(error) => tracing::warn!(%error, "audit records cannot be cut off"),
        }
    }
}

// === impl Log ===

impl Log {
    /// Cuts off the oldest rows where there are too many. Returns how many.
    pub(crate) fn prune(
        &mut self,
        bounds: PruningBounds,
        now: Timestamp,
    ) -> Result<u64, JournalError> {
        self.check_path()?;
        let mut cut = || -> rusqlite::Result<u64> {
            self.sync_as(Durability::Durable)?;
            let begun =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some(through) = last_to_go(&begun, bounds, now)? else { return Ok(0) };
            let gone: [u8; 32] =
                begun.query_row("SELECT hash FROM audit WHERE seq = ?1", [through], |row| {
                    row.get(0)
                })?;
            let record = json!({
                "time": now.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
                "kind": "pruned",
                "through": through,
                "hash": hex(&gone),
            });
            let record = record.to_string();
            let head = ChainHead::last(&begun)?.next(record.as_bytes());
            begun.execute(
                "INSERT INTO audit (seq, record, hash) VALUES (?1, ?2, ?3)",
                params![head.seq, record, head.hash],
            )?;
            begun.execute(
                "INSERT OR REPLACE INTO checkpoint (only, seq, hash) VALUES (1, ?1, ?2)",
                params![through, gone],
            )?;
            let rows = begun.execute("DELETE FROM audit WHERE seq <= ?1", [through])?;
            begun.commit()?;
            Ok(rows as u64)
        };
        cut().map_err(|error| JournalError::Write(error.to_string()))
    }
}
