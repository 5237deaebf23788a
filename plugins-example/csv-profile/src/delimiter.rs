//! What stands between the fields of a file. Pure.

use csv::{ByteRecord, ReaderBuilder};
use moss::{ErrorCode, ToolError};

/// In the order in which they are preferred.
const CANDIDATES: &[u8] = b",;\t|";
/// How many rows are looked at.
const ROWS_MAX: usize = 100;

/// Reads what a call gives.
pub(crate) fn parse(given: &str) -> Result<u8, ToolError> {
    match given.as_bytes() {
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        _ => Err(ToolError::new(
            ErrorCode::InvalidArguments,
            format!("`{given}` is not a delimiter: it is one ASCII character, or `\\t`"),
        )),
    }
}

/// Finds the delimiter that splits the rows of a sample into the most fields, alike in most rows.
pub(crate) fn detect(sample: &[u8]) -> u8 {
    let mut best = (0, CANDIDATES[0]);
    for candidate in CANDIDATES {
        let score = score(sample, *candidate);
        if score > best.0 {
            best = (score, *candidate);
        }
    }
    best.1
}

/// How many rows have as many fields as the first, times the fields beyond one.
fn score(sample: &[u8], delimiter: u8) -> usize {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(sample);
    let mut row = ByteRecord::new();
    let (mut fields, mut alike, mut rows) = (0, 0, 0);
    while rows < ROWS_MAX && reader.read_byte_record(&mut row).unwrap_or(false) {
        if rows == 0 {
            fields = row.len();
        }
        alike += usize::from(row.len() == fields);
        rows += 1;
    }
    // Rows that are split unevenly by chance weigh less than rows that agree.
    fields.saturating_sub(1) * alike * alike / rows.max(1)
}
