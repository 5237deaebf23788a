//! What the history store returns: entries, diffs, sizes.

use moss_sdk::edit::Retention;
use moss_sdk::{ContentHash, RelPath};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::rows::{action, from_sql, hash, match_level, parse_path, path, time, to_sql};
use super::store::blob;
use super::{HistoryEntry, HistoryFile, HistoryFilter, HistoryStats, KeptContent};
use crate::error::Error;
use crate::origin::Origin;

/// Two contents; none stands for no file.
type ContentPair = (Option<Vec<u8>>, Option<Vec<u8>>);

/// The columns of an entry, as [`entry`] reads them.
const COLUMNS: &str = "number, at_ms, call_id, tool, caller, summary";

/// What holds for the entries that a filter lets through, on whichever page.
const MATCHING: &str = "committed = 1 AND number > ?1
    AND (?2 IS NULL OR number IN (
        SELECT entry FROM files WHERE path = ?2 UNION SELECT entry FROM files WHERE real = ?2))
    AND (?3 IS NULL OR number IN (SELECT number FROM entries WHERE call_id = ?3))
    AND (?4 IS NULL OR tool = ?4) AND (?5 IS NULL OR caller = ?5)";

pub(super) fn list(
    connection: &Connection,
    filter: &HistoryFilter,
) -> Result<Vec<HistoryEntry>, Error> {
    let before = filter.before.map_or(i64::MAX, to_sql);
    let since = filter.since.map_or(-1, to_sql);
    let skip = to_sql(filter.skip as u64);
    let entries_max = to_sql(filter.entries_max as u64);
    let path = filter.path.as_ref().map(RelPath::as_str);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM entries
         WHERE {MATCHING} AND number < ?6
         ORDER BY number DESC LIMIT ?7 OFFSET ?8"
    ))?;
    let HistoryFilter { call_id, tool, caller, .. } = filter;
    let values = params![since, path, call_id, tool, caller, before, entries_max, skip];
    let rows = statement.query_map(values, entry)?;
    let entries: Vec<HistoryEntry> = rows.collect::<Result<_, _>>()?;
    entries.into_iter().map(|entry| complete(connection, entry)).collect()
}

/// Counts the entries that a filter lets through, of all pages.
pub(super) fn count(connection: &Connection, filter: &HistoryFilter) -> Result<u64, Error> {
    let since = filter.since.map_or(-1, to_sql);
    let path = filter.path.as_ref().map(RelPath::as_str);
    let HistoryFilter { call_id, tool, caller, .. } = filter;
    let sql = format!("SELECT count(*) FROM entries WHERE {MATCHING}");
    let mut statement = connection.prepare_cached(&sql)?;
    let values = params![since, path, call_id, tool, caller];
    Ok(from_sql(statement.query_row(values, |row| row.get(0))?))
}

pub(super) fn get(connection: &Connection, number: u64) -> Result<HistoryEntry, Error> {
    let sql = format!("SELECT {COLUMNS} FROM entries WHERE committed = 1 AND number = ?1");
    let found = connection.query_row(&sql, [to_sql(number)], entry).optional()?;
    complete(connection, found.ok_or(Error::NoEntry { number })?)
}

fn complete(connection: &Connection, mut entry: HistoryEntry) -> Result<HistoryEntry, Error> {
    entry.files = files(connection, entry.number)?;
    let undo_of = "SELECT target FROM undone WHERE entry = ?1 ORDER BY target DESC";
    entry.undo_of = numbers(connection, undo_of, entry.number)?;
    let undone_by = "SELECT entry FROM undone JOIN entries ON number = entry AND committed = 1
                     WHERE target = ?1 ORDER BY entry DESC";
    entry.undone_by = numbers(connection, undone_by, entry.number)?;
    Ok(entry)
}

fn numbers(connection: &Connection, sql: &str, of: u64) -> Result<Vec<u64>, Error> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([to_sql(of)], |row| row.get(0).map(from_sql))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn files(connection: &Connection, entry: u64) -> Result<Vec<HistoryFile>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT path, real, action, before, after, before_bytes, after_bytes, mode, permanent,
                added, removed, forgotten, temp, match_level
         FROM files WHERE entry = ?1 ORDER BY position",
    )?;
    let rows = statement.query_map([to_sql(entry)], |row| {
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
            match_level: match_level(row, 13)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The contents of a file before and after; none where one of them is no longer held.
pub(super) fn sides(
    connection: &Connection,
    file: &HistoryFile,
) -> Result<Option<ContentPair>, Error> {
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
        bytes: bytes(connection)?,
        kept: from_sql(count("SELECT count(*) FROM kept")?),
    })
}

/// The directories that entries made, parents first.
pub(super) fn directories_of(
    connection: &Connection,
    numbers: &[u64],
) -> Result<Vec<RelPath>, Error> {
    let sql = "SELECT directories FROM entries WHERE number = ?1 AND directories <> ''";
    let mut statement = connection.prepare_cached(sql)?;
    let mut directories = Vec::new();
    for number in numbers {
        let made: Option<String> =
            statement.query_row([to_sql(*number)], |row| row.get(0)).optional()?;
        for text in made.iter().flat_map(|made| made.lines()) {
            directories.push(parse_path(0, text)?);
        }
    }
    directories.sort_by_key(|path| path.components().count());
    Ok(directories)
}

/// The bytes of all contents.
pub(super) fn bytes(connection: &Connection) -> Result<u64, Error> {
    let sql = "SELECT value FROM marks WHERE name = 'bytes'";
    Ok(from_sql(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?))
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
        },
        files: Vec::new(),
        undo_of: Vec::new(),
        undone_by: Vec::new(),
    })
}
