//! Results as files: one for each table, `calls.json` and so on, a row on a line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use moss_xtask::rows::Row;
use serde::{Deserialize, Serialize};

use crate::run::BenchRun;
use crate::tables::TABLES;

/// The results of one table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Results {
    /// Where and when it was measured.
    pub(crate) run: BenchRun,
    /// The lines of the table.
    pub(crate) rows: Vec<Row>,
}

/// The results of all tables that were measured, by name.
pub(crate) type All = BTreeMap<&'static str, Results>;

/// Reads all results in a directory.
pub(crate) fn read(directory: &Path) -> Result<All> {
    let mut all = All::new();
    for table in TABLES {
        let file = directory.join(format!("{}.json", table.name));
        if file.exists() {
            let text = fs::read_to_string(&file)?;
            let results = serde_json::from_str(&text);
            let results = results.with_context(|| format!("no results in {}", file.display()))?;
            all.insert(table.name, results);
        }
    }
    Ok(all)
}

// === impl Results ===

impl Results {
    pub(crate) fn write(&self, directory: &Path, table: &str) -> Result<()> {
        let run = serde_json::to_string_pretty(&self.run)?.replace('\n', "\n  ");
        let mut text = format!("{{\n  \"run\": {run},\n  \"rows\": [");
        for (at, row) in self.rows.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(text, "{comma}\n    {}", serde_json::to_string(row)?)?;
        }
        text.push_str("\n  ]\n}\n");
        let file = directory.join(format!("{table}.json"));
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    }
}
