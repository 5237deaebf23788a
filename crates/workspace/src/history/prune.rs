//! Keeps the history within its limits, the oldest entries first. An entry beside whose files something may still
//! lie stays: nothing else knows of it.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::HistoryLimits;
use super::query::bytes;
use super::rows::{from_sql, now_ms, to_sql};
use super::store::{remove_in, swept};
use crate::error::Error;

/// Most entries that one commit clears away, so that no commit waits long.
const ENTRIES_PER_COMMIT_MAX: usize = 64;

/// Removes entries that are too old or too many in bytes. The entry `newest` and intents stay, and so does what is
/// not known to be swept.
pub(super) fn prune(
    connection: &mut Connection,
    limits: &HistoryLimits,
    newest: u64,
) -> Result<(), Error> {
    let swept = swept(connection)?;
    for _ in 0..ENTRIES_PER_COMMIT_MAX {
        let Some(number) = next(connection, limits, newest, swept)? else { break };
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        remove_in(&transaction, number)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Whether an entry has to go and stays because it is not known to be swept.
pub(super) fn is_held_up(
    connection: &Connection,
    limits: &HistoryLimits,
    newest: u64,
) -> Result<bool, Error> {
    let swept = swept(connection)?;
    Ok(next(connection, limits, newest, u64::MAX)?.is_some_and(|oldest| oldest > swept))
}

/// The oldest entry that may go, where it has to: one that is swept, or beside whose files nothing ever lay, or that is
/// so old that nobody waits any more for a directory that cannot be reached.
fn next(
    connection: &Connection,
    limits: &HistoryLimits,
    newest: u64,
    swept: u64,
) -> Result<Option<u64>, Error> {
    let age_max = i64::try_from(limits.age_max.as_millis()).unwrap_or(i64::MAX);
    let values = [to_sql(newest), to_sql(swept), now_ms().saturating_sub(age_max)];
    let oldest: Option<(i64, i64)> = connection
        .prepare_cached(
            "SELECT number, at_ms FROM entries WHERE committed = 1 AND number < ?1
               AND (number <= ?2 OR at_ms < ?3
                    OR NOT EXISTS (SELECT 1 FROM files WHERE entry = number AND temp <> ''))
             ORDER BY number LIMIT 1",
        )?
        .query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((number, at_ms)) = oldest else { return Ok(None) };
    let is_old = now_ms().saturating_sub(at_ms) > age_max
        && has_newer(connection, number, limits.entries_min)?;
    let goes = is_old || bytes(connection)? > limits.bytes_max;
    Ok(goes.then(|| from_sql(number)))
}

/// Whether at least `entries_min` entries are newer.
fn has_newer(connection: &Connection, number: i64, entries_min: u64) -> Result<bool, Error> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM entries WHERE committed = 1 AND number > ?1
               LIMIT ?2)";
    let values = params![number, to_sql(entries_min)];
    let newer: i64 = connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
    Ok(from_sql(newer) >= entries_min)
}
