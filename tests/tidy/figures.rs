//! What the READMEs quote of the page of figures is what stands there, and rows that miss their targets are listed.

use moss_xtask::missed::{MISSED, key};
use moss_xtask::rows::Row;
use moss_xtask::targets::{TargetVerdict, verdict};
use serde_json::Value;

use crate::tree::{FILES, file};
use crate::{hold, hold_but};

const PAGE: &str = "docs/performance.md";
/// The directory of the results.
const RESULTS: &str = "docs/performance/";

/// The rows of all tables with a target, by their names in the lists, and how they do.
fn verdicts() -> Vec<(String, TargetVerdict)> {
    let tables = FILES.iter().filter_map(|file| {
        let name = file.path.strip_prefix(RESULTS)?.strip_suffix(".json")?;
        let results: Value = serde_json::from_str(&file.text).expect("results are JSON");
        let rows: Vec<Row> = serde_json::from_value(results["rows"].clone()).expect("rows");
        Some((name, rows))
    });
    let verdicts = tables.flat_map(|(table, rows)| {
        rows.into_iter().filter_map(move |row| Some((key(table, &row.name), verdict(&row)?)))
    });
    verdicts.collect()
}

#[test]
fn rows_that_miss_their_targets_are_listed_with_the_reason() {
    let verdicts = verdicts();
    assert!(verdicts.len() > 50, "{} rows have a target", verdicts.len());
    let of = |wanted: TargetVerdict, what: &'static str| {
        let rows = verdicts.iter().filter(move |(_, verdict)| *verdict == wanted);
        rows.map(move |(row, _)| (row.clone(), what.to_owned()))
    };
    let missed = of(TargetVerdict::Missed, "misses its target: list it in xtask/src/missed.rs");
    hold_but("meets its target, or has a reason", missed, MISSED);
    let unreadable =
        of(TargetVerdict::Unreadable, "no number of it can be held against its target");
    hold("has a target that can be read", unreadable.map(|(row, what)| format!("{row}: {what}")));
}

#[test]
fn the_readmes_quote_the_figures_of_the_page() {
    let page = &file(PAGE).text;
    let (_, short) = page.split_once("## In short\n\n").expect("the page begins with the figures");
    let table = short.split("\n\n").next().unwrap_or_default();
    let quoted: Vec<&str> = table.lines().skip(2).collect();
    assert_eq!(quoted.len(), 3, "{PAGE} has other figures than three:\n{table}");
    let english = &file("README.md").text;
    let missing = quoted.iter().filter(|line| !english.lines().any(|other| other == **line));
    let missing = missing.map(|line| format!("README.md has not: {line}"));
    // What is measured has another name there, the numbers are the same.
    let chinese = &file("README.zh.md").text;
    let numbers = |line: &str| line.splitn(3, '|').nth(2).unwrap_or_default().to_owned();
    let other = quoted.iter().filter(|line| {
        !chinese.lines().any(|other| other.starts_with("| ") && numbers(other) == numbers(line))
    });
    let other = other.map(|line| format!("README.zh.md has not: …{}", numbers(line)));
    hold("quotes docs/performance.md", missing.chain(other));
}
