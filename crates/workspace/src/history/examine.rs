//! A look at a store that changes nothing of it, beside those that write it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::rows::from_sql;
use super::store::{BUSY_TIMEOUT, FILE, version_of};
use super::{History, query};
use crate::error::Error;

// === impl History ===

impl History {
    /// Looks at the store in a state directory, where it is, without changing it or making anything: whether it is in
    /// order as a database. Returns how many changes it holds.
    ///
    /// # Errors
    ///
    /// `History`, `Busy`.
    pub fn examine(state_directory: &Path) -> Result<u64, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(state_directory.join(FILE), flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        if version_of(&connection)?.is_none() {
            return Ok(0);
        }
        query::check_integrity(&connection)?;
        let sql = "SELECT count(*) FROM entries WHERE committed = 1";
        Ok(from_sql(connection.query_row(sql, [], |row| row.get(0))?))
    }
}
