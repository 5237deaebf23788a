//! Values as the history store holds them, and back.

use std::path::Path;
use std::time::{Duration, SystemTime};

use moss_sdk::edit::MatchLevel;
use moss_sdk::{ContentHash, RelPath};
use rusqlite::Row;
use rusqlite::types::Type;

use crate::changes::FileAction;
use crate::error::Error;

pub(super) fn path(row: &Row<'_>, column: usize) -> rusqlite::Result<RelPath> {
    parse_path(column, row.get_ref(column)?.as_str()?)
}

pub(super) fn parse_path(column: usize, text: &str) -> rusqlite::Result<RelPath> {
    RelPath::parse(text).map_err(|error| malformed(column, error))
}

pub(super) fn action(row: &Row<'_>, column: usize) -> rusqlite::Result<FileAction> {
    let text = row.get_ref(column)?.as_str()?;
    [FileAction::Create, FileAction::Modify, FileAction::Delete]
        .into_iter()
        .find(|action| action.as_str() == text)
        .ok_or_else(|| unknown(column, text))
}

/// A level at which a searched text was found; null where nothing was searched for.
pub(super) fn match_level(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<MatchLevel>> {
    let text = row.get_ref(column)?.as_str_or_null()?;
    text.map(|text| MatchLevel::parse(text).ok_or_else(|| unknown(column, text))).transpose()
}

fn unknown(column: usize, text: &str) -> rusqlite::Error {
    malformed(column, Error::History { reason: text.to_owned(), damaged: true })
}

pub(super) fn hash(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<ContentHash>> {
    Ok(row.get::<_, Option<[u8; 32]>>(column)?.map(ContentHash::from_bytes))
}

pub(super) fn malformed(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

pub(super) fn root_key(root: &Path) -> &[u8] {
    root.as_os_str().as_encoded_bytes()
}

pub(super) fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn time(at_ms: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(at_ms).unwrap_or(0))
}

/// SQLite's integers are signed; ours never reach their top bit.
pub(super) fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
