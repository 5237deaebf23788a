//! The table, on the terminal and as a file.

use std::path::Path;

use anyhow::{Context, Result};
use moss_xtask::rows::{Row, Spread};
use moss_xtask::targets::{TargetVerdict, verdict};

/// Prints the rows and, where a file is named, writes them into it.
pub(crate) fn publish(rows: &[Row], json: Option<&Path>) -> Result<()> {
    print(rows);
    let Some(file) = json else { return Ok(()) };
    moss_xtask::rows::write(file, rows).with_context(|| format!("cannot write {}", file.display()))
}

fn print(rows: &[Row]) {
    println!(
        "\n{:<42} {:>10} {:>10} {:>10} {:>10} {:>7}  target",
        "", "median", "p99", "bare", "bare p99", "ratio"
    );
    for row in rows {
        let columns = |spread: &Spread| {
            let p99 = spread.p99.map(|p99| row.unit.shown(p99));
            (row.unit.shown(spread.median), p99.unwrap_or_default())
        };
        let (median, p99) = columns(&row.value);
        let (bare, bare_p99) = row.baseline.as_ref().map_or_else(Default::default, columns);
        let ratio = row.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        let target = row.target.as_deref().unwrap_or("—");
        let mark = if verdict(row) == Some(TargetVerdict::Missed) { ", missed" } else { "" };
        println!(
            "{:<42} {median:>10} {p99:>10} {bare:>10} {bare_p99:>10} {ratio:>7}  {target}{mark}",
            row.name
        );
    }
}
