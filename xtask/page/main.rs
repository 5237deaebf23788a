//! Keeps the results of measuring, and makes the page of figures from them.
//!
//! `builds` and `sizes` measure what needs no running moss. `take` puts one table beside the page, with the machine it was measured on; `write` makes the page
//! and its plots and puts three figures into the READMEs. The page is a function of the results: nothing on it comes from elsewhere.
#![allow(
    clippy::print_stdout,
    reason = "the output of this program is for the person at the terminal"
)]

mod builds;
mod markdown;
mod parts;
mod plot;
mod results;
mod run;
mod sizes;
mod tables;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use moss_xtask::rows::Row;

use self::results::Results;
use self::run::BenchRun;

const USAGE: &str = "\
usage: bench-page take TABLE ROWS MOSS DOCS, or bench-page write DOCS,
       or bench-page builds ROOT PACKAGE TARGET ROWS, or bench-page sizes BINARY WITH_SYMBOLS ROWS;
see `cargo xtask bench all`";
/// The page, in the directory of documents.
const PAGE: &str = "performance.md";
/// Who quotes it, from there, in English and in Chinese.
const READMES: [&str; 2] = ["../README.md", "../README.zh.md"];
/// The directory beside it.
const BESIDE: &str = "performance";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["take", table, rows, moss, docs] => {
            if !tables::TABLES.iter().any(|known| known.name == *table) {
                bail!("there is no table `{table}`");
            }
            let rows = moss_xtask::rows::read(rows.as_ref());
            let rows = rows.with_context(|| format!("no rows for `{table}`"))?;
            let beside = Path::new(docs).join(BESIDE);
            fs::create_dir_all(&beside)?;
            Results { run: BenchRun::here(moss.as_ref(), docs.as_ref()), rows }
                .write(&beside, table)
        }
        ["write", docs] => write(docs.as_ref()),
        ["builds", root, package, target, rows] => {
            publish(&builds::measure(root.as_ref(), package, target.as_ref())?, rows)
        }
        ["sizes", binary, with_symbols, rows] => {
            publish(&sizes::measure(binary.as_ref(), with_symbols.as_ref())?, rows)
        }
        _ => bail!(USAGE),
    }
}

/// Prints rows and writes them into a file.
fn publish(rows: &[Row], file: &str) -> Result<()> {
    for row in rows {
        println!("{:<48} {:>12}", row.name, row.unit.shown(row.value.median));
    }
    moss_xtask::rows::write(file.as_ref(), rows).with_context(|| format!("cannot write {file}"))
}

/// Makes the page and its plots, and puts the figures into the READMEs.
fn write(docs: &Path) -> Result<()> {
    let results = results::read(&docs.join(BESIDE))?;
    for (language, readme) in READMES.iter().enumerate() {
        let file = docs.join(readme);
        let text = fs::read_to_string(&file);
        let text = text.with_context(|| format!("cannot read {}", file.display()))?;
        fs::write(&file, markdown::quoted(&text, &results, language))?;
    }
    for (file, text) in made(docs)? {
        let file = docs.join(file);
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        println!("wrote {}", file.display());
    }
    Ok(())
}

/// The files that belong to the results, by their paths in the directory of documents.
fn made(docs: &Path) -> Result<Vec<(String, String)>> {
    let results = results::read(&docs.join(BESIDE))?;
    let mut files = vec![(PAGE.to_owned(), markdown::page(&results))];
    for plot in tables::PLOTS {
        if let Some(picture) = plot::drawn(plot, &results) {
            files.push((format!("{BESIDE}/{}.svg", plot.name), picture));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_what_the_results_say() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        for (file, text) in made(&docs).expect("the results can be read") {
            let there = fs::read_to_string(docs.join(&file)).unwrap_or_default();
            assert!(there == text, "{file} is old: run `cargo xtask bench page`");
        }
    }
}
