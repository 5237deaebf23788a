//! What interrupted commits left: intents that were not finished, and entries beside whose files something may
//! still lie.

use std::path::Path;

use moss_sdk::RelPath;
use rusqlite::{Connection, OptionalExtension, params};

use super::{Intent, IntentFile};
use crate::error::Error;
use crate::history::rows::{action, from_sql, hash, parse_path, path, root_key, to_sql};

/// Most entries that are looked through at once for temporary files.
const UNSWEPT_MAX: i64 = 256;
/// The newest entry whose temporary files are known to be gone.
const SWEPT: &str = "swept";

/// Whether [`pending`] or [`unswept`] finds anything.
pub(crate) fn is_anything_left(
    connection: &Connection,
    root: &Path,
    after: u64,
) -> Result<bool, Error> {
    let sql = "SELECT (SELECT number FROM entries
                       WHERE committed = 0 AND root = ?1 ORDER BY number DESC LIMIT 1) IS NOT NULL
                   OR (SELECT number FROM entries
                       WHERE committed = 1 AND root = ?1
                         AND max(?2, coalesce((SELECT value FROM marks WHERE name = ?3), 0)) < number
                       ORDER BY number LIMIT 1) IS NOT NULL";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row(params![root_key(root), to_sql(after), SWEPT], |row| row.get(0))?)
}

/// The intents of a workspace that were neither finished nor rolled back, the newest first.
pub(crate) fn pending(connection: &Connection, root: &Path) -> Result<Vec<Intent>, Error> {
    let sql = "SELECT number, directories FROM entries
               WHERE committed = 0 AND root = ?1 AND ?2 < number ORDER BY number DESC LIMIT ?3";
    intents(connection, root, sql, 0, i64::MAX)
}

/// Some committed entries whose temporary files may still lie about, the oldest first: those after
/// an entry and after what is known to be swept.
pub(crate) fn unswept(
    connection: &Connection,
    root: &Path,
    after: u64,
) -> Result<Vec<Intent>, Error> {
    let after = to_sql(swept(connection)?.max(after));
    let sql = "SELECT number, directories FROM entries
               WHERE committed = 1 AND root = ?1 AND ?2 < number ORDER BY number LIMIT ?3";
    intents(connection, root, sql, after, UNSWEPT_MAX)
}

fn intents(
    connection: &Connection,
    root: &Path,
    sql: &str,
    after: i64,
    intents_max: i64,
) -> Result<Vec<Intent>, Error> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![root_key(root), after, intents_max], |row| {
        let directories: String = row.get(1)?;
        let directories =
            directories.lines().map(|text| parse_path(1, text)).collect::<Result<_, _>>()?;
        Ok(Intent { number: from_sql(row.get(0)?), directories, files: Vec::new() })
    })?;
    let mut intents: Vec<Intent> = rows.collect::<Result<_, _>>()?;
    let mut statement = connection.prepare_cached(
        "SELECT real, action, before, after, temp FROM files WHERE entry = ?1 ORDER BY position",
    )?;
    for intent in &mut intents {
        let rows = statement.query_map([to_sql(intent.number)], |row| {
            Ok(IntentFile {
                real: path(row, 0)?,
                action: action(row, 1)?,
                before: hash(row, 2)?,
                after: hash(row, 3)?,
                temp: row.get(4)?,
            })
        })?;
        intent.files = rows.collect::<Result<_, _>>()?;
    }
    Ok(intents)
}

/// Up to which entry temporary files are known to be gone, also after a power cut.
pub(crate) fn swept(connection: &Connection) -> Result<u64, Error> {
    let sql = "SELECT value FROM marks WHERE name = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let swept: Option<i64> = statement.query_row([SWEPT], |row| row.get(0)).optional()?;
    Ok(from_sql(swept.unwrap_or(0)))
}

/// The files of the committed entries after what is known to be swept, up to an entry, each with the number of
/// its entry, the oldest first.
pub(crate) fn files_since_swept(
    connection: &Connection,
    root: &Path,
    up_to: u64,
) -> Result<Vec<(u64, RelPath)>, Error> {
    let sql = "SELECT number, real FROM entries JOIN files ON entry = number
               WHERE committed = 1 AND root = ?1 AND ?2 < number AND number <= ?3 AND temp <> ''
               ORDER BY number, position";
    let swept = to_sql(swept(connection)?);
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![root_key(root), swept, to_sql(up_to)], |row| {
        Ok((from_sql(row.get(0)?), path(row, 1)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Remembers up to which entry temporary files are known to be gone. Their removal is durable by then.
pub(crate) fn mark_swept(connection: &Connection, number: u64) -> Result<(), Error> {
    connection.execute(
        "INSERT INTO marks (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
        params![SWEPT, to_sql(number)],
    )?;
    Ok(())
}
