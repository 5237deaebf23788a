//! Keeps the history within its limits, the oldest entries first.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::HistoryLimits;
use super::query::bytes;
use super::rows::{from_sql, now_ms, to_sql};
use super::store::remove_in;
use crate::error::Error;

/// Most entries that one commit clears away, so that no commit waits long.
const ENTRIES_PER_COMMIT_MAX: usize = 64;

/// Removes entries that are too old or too many in bytes. The entry `newest` and intents stay.
pub(super) fn prune(
    connection: &mut Connection,
    limits: &HistoryLimits,
    newest: u64,
) -> Result<(), Error> {
    for _ in 0..ENTRIES_PER_COMMIT_MAX {
        let Some(number) = next(connection, limits, newest)? else { break };
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        remove_in(&transaction, number)?;
        transaction.commit()?;
    }
    Ok(())
}

/// The oldest entry, where it has to go.
fn next(
    connection: &Connection,
    limits: &HistoryLimits,
    newest: u64,
) -> Result<Option<u64>, Error> {
    let oldest: Option<(i64, i64)> = connection
        .prepare_cached(
            "SELECT number, at_ms FROM entries WHERE committed = 1 AND number < ?1
             ORDER BY number LIMIT 1",
        )?
        .query_row([to_sql(newest)], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((number, at_ms)) = oldest else { return Ok(None) };
    let age_max = i64::try_from(limits.age_max.as_millis()).unwrap_or(i64::MAX);
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
