//! What the history store answers: entries, diffs, sizes.

use moss_sdk::edit::Retention;
use moss_sdk::{ContentHash, RelPath};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::rows::{action, from_sql, hash, path, time, to_sql};
use super::store::blob;
use super::{HistoryEntry, HistoryFile, HistoryFilter, HistoryStats, KeptContent, Origin};
use crate::error::Error;

/// Two contents; none stands for no file.
type Sides = (Option<Vec<u8>>, Option<Vec<u8>>);

pub(super) fn list(
    connection: &Connection,
    filter: &HistoryFilter,
) -> Result<Vec<HistoryEntry>, Error> {
    let before = filter.before.map_or(i64::MAX, to_sql);
    let entries_max = to_sql(filter.entries_max as u64);
    let path = filter.path.as_ref().map(RelPath::as_str);
    let mut statement = connection.prepare_cached(
        "SELECT number, at_ms, call_id, tool, caller, summary, undo_of FROM entries
         WHERE committed = 1 AND number < ?1 AND (?2 IS NULL OR number IN (
             SELECT entry FROM files WHERE path = ?2 UNION SELECT entry FROM files WHERE real = ?2))
         ORDER BY number DESC LIMIT ?3",
    )?;
    let rows = statement.query_map(params![before, path, entries_max], entry)?;
    let entries: Vec<HistoryEntry> = rows.collect::<Result<_, _>>()?;
    entries.into_iter().map(|entry| with_files(connection, entry)).collect()
}

pub(super) fn get(connection: &Connection, number: u64) -> Result<HistoryEntry, Error> {
    let found = connection
        .query_row(
            "SELECT number, at_ms, call_id, tool, caller, summary, undo_of FROM entries
             WHERE committed = 1 AND number = ?1",
            [to_sql(number)],
            entry,
        )
        .optional()?;
    with_files(connection, found.ok_or(Error::NoEntry { number })?)
}

fn with_files(connection: &Connection, mut entry: HistoryEntry) -> Result<HistoryEntry, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT path, real, action, before, after, before_bytes, after_bytes, mode, permanent,
                added, removed, forgotten, temp
         FROM files WHERE entry = ?1 ORDER BY position",
    )?;
    let rows = statement.query_map([to_sql(entry.number)], |row| {
        let permanent: bool = row.get(8)?;
        let retention = if permanent { Retention::Permanent } else { Retention::Recoverable };
        Ok(HistoryFile {
            path: path(row, 0)?,
            real: path(row, 1)?,
            action: action(row, 2)?,
            before: hash(row, 3)?,
            after: hash(row, 4)?,
            before_bytes: from_sql(row.get(5)?),
            after_bytes: from_sql(row.get(6)?),
            mode: row.get(7)?,
            retention,
            added: usize::try_from(row.get::<_, i64>(9)?).unwrap_or(0),
            removed: usize::try_from(row.get::<_, i64>(10)?).unwrap_or(0),
            forgotten: row.get(11)?,
            // No other version ever lay beside the file.
            unsaved: row.get::<_, String>(12)?.is_empty(),
        })
    })?;
    entry.files = rows.collect::<Result<_, _>>()?;
    Ok(entry)
}

/// The contents of a file before and after; none where one of them is no longer held.
pub(super) fn sides(connection: &Connection, file: &HistoryFile) -> Result<Option<Sides>, Error> {
    if file.forgotten {
        return Ok(None);
    }
    let mut sides = [None, None];
    for (side, hash) in sides.iter_mut().zip([&file.before, &file.after]) {
        let Some(hash) = hash else { continue };
        let Some(bytes) = blob(connection, hash)? else { return Ok(None) };
        *side = Some(bytes);
    }
    Ok(Some(sides.into()))
}

pub(super) fn stats(connection: &Connection) -> Result<HistoryStats, Error> {
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    Ok(HistoryStats {
        entries: from_sql(count("SELECT count(*) FROM entries WHERE committed = 1")?),
        bytes: from_sql(count("SELECT coalesce(sum(size), 0) FROM blobs")?),
        kept: from_sql(count("SELECT count(*) FROM kept")?),
    })
}

pub(super) fn kept(connection: &Connection) -> Result<Vec<KeptContent>, Error> {
    let sql = "SELECT number, at_ms, path, hash FROM kept ORDER BY number DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(KeptContent {
            number: from_sql(row.get(0)?),
            at: time(row.get(1)?),
            path: row.get(2)?,
            hash: ContentHash::from_bytes(row.get(3)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn check_integrity(connection: &Connection) -> Result<(), Error> {
    let sql = "PRAGMA integrity_check";
    let verdict: String = connection.query_row(sql, [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(Error::History { reason: verdict, damaged: true }) }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<HistoryEntry> {
    Ok(HistoryEntry {
        number: from_sql(row.get(0)?),
        at: time(row.get(1)?),
        origin: Origin {
            call_id: row.get(2)?,
            tool: row.get(3)?,
            caller: row.get(4)?,
            summary: row.get(5)?,
            undo_of: row.get::<_, Option<i64>>(6)?.map(from_sql),
        },
        files: Vec::new(),
    })
}
