//! How often standing approvals were used, from the journal.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;

use super::open_for_reading;
use crate::JournalError;

/// How often a standing approval was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ApprovalUses {
    /// So many times, in the time that the journal reaches back.
    pub count: u64,
    /// The last time; none if never.
    pub last_at: Option<Timestamp>,
}

/// Counts the uses of each standing approval, by its ID. Reads every row.
///
/// # Errors
///
/// [`JournalError::Read`].
pub fn approval_uses(dir: &Path) -> Result<HashMap<String, ApprovalUses>, JournalError> {
    let read = || -> rusqlite::Result<HashMap<String, ApprovalUses>> {
        let Some(connection) = open_for_reading(dir)? else { return Ok(HashMap::new()) };
        // The first condition is a cheap look at the text. 0.1 wrote `answer_used` with `answer`.
        let mut statement = connection.prepare(
            "SELECT coalesce(record ->> '$.approval', record ->> '$.answer') AS id, count(*),
             max(record ->> '$.time') FROM audit
             WHERE (instr(record, '\"approval_used\"') > 0 OR instr(record, '\"answer_used\"') > 0)
             AND json_valid(record)
             AND record ->> '$.kind' IN ('approval_used', 'answer_used') AND id IS NOT NULL
             GROUP BY id",
        )?;
        let uses = statement.query_map([], |row| {
            let (count, last): (i64, String) = (row.get(1)?, row.get(2)?);
            Ok((
                row.get(0)?,
                ApprovalUses { count: count.unsigned_abs(), last_at: last.parse().ok() },
            ))
        })?;
        uses.collect()
    };
    read().map_err(|error| JournalError::Read(error.to_string()))
}
