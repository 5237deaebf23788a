//! What a binary holds: its largest sections and, of its code, the part of each crate. Both are read with
//! `size` and `nm`, which come with a C compiler.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use moss_xtask::rows::{Row, Unit};

use crate::parts::largest;

/// Sections and crates that have a row of their own.
const SECTIONS_MAX: usize = 5;
const CRATES_MAX: usize = 15;
/// What all grammars of a released binary may add to it.
const GRAMMARS_WANTED: &str = "≤ 45 MiB";
/// How the names of their tables and of what reads them begin.
const GRAMMAR_NAMES: [&str; 2] = ["ts_", "tree_sitter_"];
/// Code without a crate: that of C, and what the compiler adds.
const NO_CRATE: &str = "C and others";

/// Measures a binary as it is released, and the same with its symbols.
pub(crate) fn measure(binary: &Path, with_symbols: &Path) -> Result<Vec<Row>> {
    let bytes = fs::metadata(binary).with_context(|| format!("no {}", binary.display()))?.len();
    let mut rows = vec![Row::bytes("the binary", bytes)];
    let all_sections = sections(&printed("size", &["-A", "-d"], binary)?);
    rows.extend(largest("section", Unit::Bytes, all_sections, SECTIONS_MAX));
    let symbols = printed("nm", &["--print-size", "--demangle", "--radix=d"], with_symbols)?;
    let crates = crates(&symbols);
    if crates.is_empty() {
        bail!("{} has no symbols", with_symbols.display());
    }
    rows.extend(largest("code of", Unit::Bytes, crates, CRATES_MAX));
    rows.push(
        Row::bytes("tables and lexers of grammars", grammars(&symbols)).wanted(GRAMMARS_WANTED),
    );
    Ok(rows)
}

fn printed(program: &str, arguments: &[&str], file: &Path) -> Result<String> {
    let output = Command::new(program).args(arguments).arg(file).output();
    let output = output.with_context(|| format!("cannot start {program}; install binutils"))?;
    if !output.status.success() {
        bail!("{program} cannot read it: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The sections that `size -A` lists: name, bytes, address. Those without an address are no part of the
/// running program.
fn sections(listed: &str) -> BTreeMap<String, u64> {
    let lines = listed.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, bytes, address] = words.as_slice() else { return None };
        let (bytes, address): (u64, u64) = (bytes.parse().ok()?, address.parse().ok()?);
        // Nothing of it is in the file.
        (address > 0 && *name != ".bss" && *name != ".tbss").then(|| ((*name).to_owned(), bytes))
    });
    lines.collect()
}

/// How many bytes of functions each crate has, from what `nm` lists: address, bytes, kind, name.
fn crates(listed: &str) -> BTreeMap<String, u64> {
    let mut crates = BTreeMap::new();
    for line in listed.lines() {
        let mut words = line.splitn(4, ' ');
        let (Some(_), Some(bytes), Some(kind), Some(name)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        let Ok(bytes) = bytes.parse::<u64>() else { continue };
        if matches!(kind, "t" | "T" | "w" | "W") {
            *crates.entry(owner(name)).or_default() += bytes;
        }
    }
    crates
}

/// How many bytes grammars have, from what `nm` lists, with the library that runs them.
fn grammars(listed: &str) -> u64 {
    let of_grammar = |line: &str| {
        let mut words = line.splitn(4, ' ').skip(1);
        let (bytes, kind, name) = (words.next()?, words.next()?, words.next()?);
        let is_grammar = GRAMMAR_NAMES.iter().any(|begin| name.starts_with(begin));
        let is_in_file = !kind.eq_ignore_ascii_case("b");
        if is_grammar && is_in_file { bytes.parse::<u64>().ok() } else { None }
    };
    listed.lines().filter_map(of_grammar).sum()
}

/// The crate in a path like `<wasmtime::Engine as core::clone::Clone>::clone` or `serde::de::f`.
fn owner(name: &str) -> String {
    let path = name.trim_start_matches(['<', '&', '*', '[', '(']);
    let path = ["mut ", "const ", "dyn "]
        .iter()
        .fold(path, |path, word| path.strip_prefix(word).unwrap_or(path));
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    // With names as the compiler writes them since 2025, a crate has its hash behind it.
    let is_crate = path[end..].starts_with("::") || path[end..].starts_with('[');
    if is_crate && end > 0 { path[..end].to_owned() } else { NO_CRATE.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_belongs_to_the_crate_that_its_name_begins_with() {
        for (name, expected) in [
            ("wasmtime::engine::Engine::new", "wasmtime"),
            ("<regex_automata::meta::Regex as core::clone::Clone>::clone", "regex_automata"),
            ("<&mut tokio::sync::X as core::fmt::Debug>::fmt", "tokio"),
            ("core[1f0]::ptr::drop_in_place::<a::B>", "core"),
            ("sqlite3VdbeExec", NO_CRATE),
            ("<(A, B) as core::fmt::Debug>::fmt", NO_CRATE),
        ] {
            assert_eq!(owner(name), expected, "{name}");
        }
        let listed = "0001 0000000000000020 t a::f\n0002 0000000000000005 T main\n\
                      0003 0000000000000007 t a::g\n0004 0000000000000009 r a::TABLE\n U puts\n";
        let expected = [("a".to_owned(), 27), (NO_CRATE.to_owned(), 5)];
        assert_eq!(crates(listed), BTreeMap::from(expected));
        let listed = "0001 0000000000000020 r ts_parse_table\n0002 0000000000000005 T tree_sitter_c\n\
                      0003 0000000000000007 b ts_cache\n0004 0000000000000009 r TABLE\n U ts_puts\n";
        assert_eq!(grammars(listed), 25);
    }

    #[test]
    fn what_is_not_loaded_is_no_part() {
        let listed = "moss  :\nsection size addr\n.text 900 4096\n.rodata 300 8192\n.data 7 9000\n\
                      .comment 50 0\n.bss 4000 9999\nTotal 1257\n";
        let expected = [(".text", 900), (".rodata", 300), (".data", 7)];
        let expected = expected.map(|(name, bytes)| (name.to_owned(), bytes));
        assert_eq!(sections(listed), BTreeMap::from(expected));
    }
}
