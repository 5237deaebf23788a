//! Shows what is in the columns of a CSV file: types, empty values, distinct values, range, mean.
//!
//! Grant it the files it may read, in `moss-tools.json`:
//!
//! ```json
//! { "name": "csv-profile", "source": "csv_profile.wasm",
//!   "grant": { "fs": [{ "path": "data", "access": "read" }] },
//!   "limits": { "timeout": "30s" } }
//! ```
//!
//! Then: `moss call csv_profile path=data/orders.csv`.

mod column;
mod delimiter;

use std::fs::File;
use std::io::Read;

use csv::{ReaderBuilder, StringRecord};
use moss::guest::{io_error, is_cancelled, progress};
use moss::{Capability, ErrorCode, Example, ToolError, json};

use crate::column::{Column, Profile};

/// Most rows that are looked at.
const ROWS_MAX: u64 = 2_000_000;
/// Most columns.
const COLUMNS_MAX: usize = 200;
/// How much of a file is read to detect its delimiter, in bytes.
const SAMPLE_BYTES: u64 = 64 << 10;
/// Most bytes of a file that are looked at.
const FILE_BYTES_MAX: u64 = 512 << 20;
/// After how many rows to report progress.
const ROWS_PER_REPORT: u64 = 8192;

moss::export! {
    tools: [csv_profile],
    requests: [Capability::files(".", "reads the files that it profiles")],
}

/// What to profile.
#[moss::data]
struct CsvProfile {
    /// The file, relative to the workspace.
    path: String,
    /// What stands between two fields: one character, or `\t`; by default the one of `,`, `;`, tab and
    /// `|` that splits the first lines most evenly.
    delimiter: Option<String>,
    /// Whether the first row has the names of the columns; by default it has.
    #[serde(default = "yes")]
    header: bool,
}

/// What is in a table.
#[moss::data]
struct Table {
    /// What stands between two fields.
    delimiter: String,
    /// How many rows there are, without the header.
    rows: u64,
    /// How many rows have more or fewer fields than the first; missing ones count as empty.
    ragged_rows: u64,
    /// The columns, in their order.
    columns: Vec<Profile>,
    /// Whether the file has more than 2,000,000 rows or 512 MiB: the rest was not looked at.
    truncated: bool,
}

/// Profiles the columns of a CSV file. Reports of each its type (integer, number, boolean, date,
/// text), how many values are empty, how many distinct ones there are, the least, the greatest, the
/// mean of numbers, and three examples. Finds the delimiter by itself. UTF-8 files of any size; at
/// most 200 columns, the first 2,000,000 rows and 512 MiB. Empty are fields without text and `NA`,
/// `N/A`, `null`.
#[moss::tool(title = "Profile a CSV file", idempotent, examples = examples)]
fn csv_profile(parameters: CsvProfile) -> Result<Table, ToolError> {
    let path = parameters.path.as_str();
    let failed = |error| io_error(path, &error);
    let delimiter = match parameters.delimiter.as_deref() {
        Some(given) => delimiter::parse(given)?,
        None => {
            let mut sample = Vec::new();
            let file = File::open(path).map_err(failed)?;
            file.take(SAMPLE_BYTES).read_to_end(&mut sample).map_err(failed)?;
            delimiter::detect(&sample)
        }
    };
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut table = profile(path, file.take(FILE_BYTES_MAX), delimiter, parameters.header, size)?;
    table.truncated |= size > FILE_BYTES_MAX;
    Ok(table)
}

fn profile(
    path: &str,
    text: impl Read,
    delimiter: u8,
    has_header: bool,
    size: u64,
) -> Result<Table, ToolError> {
    let failed = |error: csv::Error| csv_error(path, error);
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(has_header)
        .flexible(true)
        .from_reader(text);
    let first = reader.headers().map_err(failed)?;
    if first.len() > COLUMNS_MAX {
        let message = format!("{path}: {} columns, at most {COLUMNS_MAX}", first.len());
        return Err(ToolError::new(ErrorCode::TooLarge, message)
            .hint("give `delimiter` if this is not how the file is to be split"));
    }
    let named = |(index, name): (usize, &str)| match name.trim() {
        name if has_header && !name.is_empty() => Column::new(name.to_owned()),
        _ => Column::new(format!("column {}", index + 1)),
    };
    let mut columns: Vec<Column> = first.iter().enumerate().map(named).collect();
    let mut table = Table {
        delimiter: char::from(delimiter).to_string(),
        rows: 0,
        ragged_rows: 0,
        columns: Vec::new(),
        truncated: false,
    };
    let mut row = StringRecord::new();
    while reader.read_record(&mut row).map_err(failed)? {
        if table.rows == ROWS_MAX {
            table.truncated = true;
            break;
        }
        if table.rows.is_multiple_of(ROWS_PER_REPORT) {
            if is_cancelled() {
                return Err(ToolError::new(ErrorCode::Cancelled, "cancelled"));
            }
            progress(format!("row {}", table.rows), reader.position().byte(), Some(size));
        }
        table.rows += 1;
        table.ragged_rows += u64::from(row.len() != columns.len());
        for (index, column) in columns.iter_mut().enumerate() {
            column.add(row.get(index).unwrap_or_default());
        }
    }
    table.columns = columns.into_iter().map(Column::finish).collect();
    Ok(table)
}

fn csv_error(path: &str, error: csv::Error) -> ToolError {
    let line = error.position().map_or(0, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(error) => io_error(path, &error),
        csv::ErrorKind::Utf8 { .. } => {
            ToolError::new(ErrorCode::Encoding, format!("{path}: not UTF-8 text in line {line}"))
        }
        other => ToolError::new(ErrorCode::InvalidArguments, format!("{path}: {other:?}")),
    }
}

fn yes() -> bool {
    true
}

fn examples() -> Vec<Example> {
    vec![
        Example::new("a small table", json!({ "path": "a.csv" }))
            .file("a.csv", "id;price\n1;2.5\n2;NA\n")
            .output(json!({
                "delimiter": ";",
                "rows": 2,
                "ragged_rows": 0,
                "columns": [
                    {
                        "name": "id", "type": "integer", "empty": 0, "distinct": 2,
                        "distinct_is_least": false, "min": "1", "max": "2", "mean": 1.5,
                        "examples": ["1", "2"]
                    },
                    {
                        "name": "price", "type": "number", "empty": 1, "distinct": 1,
                        "distinct_is_least": false, "min": "2.5", "max": "2.5", "mean": 2.5,
                        "examples": ["2.5"]
                    }
                ],
                "truncated": false
            })),
    ]
}

#[cfg(test)]
mod tests;
