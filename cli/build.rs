//! Puts the SDKs and the templates of plugins into the daemon, so that `moss plugin new` makes what
//! builds without anything that is published.
#![expect(clippy::disallowed_methods, reason = "it reads sources and writes what cargo compiles")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What is put in: a name for it, and where it is, seen from this crate.
const TREES: &[(&str, &str)] = &[
    ("sdk/Cargo.toml", "../sdk/Cargo.toml"),
    ("sdk/src", "../sdk/src"),
    ("sdk/macros", "../sdk/macros"),
    ("sdk/wit", "../sdk/wit"),
    ("typescript", "../sdk/typescript"),
    ("python", "../sdk/python"),
    ("templates", "templates"),
    ("workspace.toml", "../Cargo.toml"),
    ("LICENSE-APACHE", "../LICENSE-APACHE"),
    ("LICENSE-MIT", "../LICENSE-MIT"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let mut table = String::from("&[\n");
    for (name, path) in TREES {
        println!("cargo::rerun-if-changed={path}");
        put_in(name, &root.join(path).canonicalize()?, &mut table)?;
    }
    table.push(']');
    fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("carried.rs"), table)?;
    Ok(())
}

/// Adds a file, or all files beneath a directory, in the order of names.
fn put_in(name: &str, path: &Path, table: &mut String) -> Result<(), Box<dyn Error>> {
    if !path.is_dir() {
        writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string())?;
        return Ok(());
    }
    let mut entries = fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let file = entry.file_name().into_string().map_err(|_| "a name that is not UTF-8")?;
        if !["__pycache__", "node_modules"].contains(&file.as_str()) {
            put_in(&format!("{name}/{file}"), &entry.path(), table)?;
        }
    }
    Ok(())
}
