//! Copies of a component that differ in their names only: so many plugins as one wants.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::place::Place;

/// A plugin of the list: its name and its component.
type Listed = (String, PathBuf);

impl Place {
    /// Makes so many copies of the component that counts words, each with names of its own. The
    /// component as it is stands first.
    pub(super) fn copies(&self, count: usize) -> Result<Vec<Listed>> {
        let mut all = vec![("word-count".to_owned(), self.component.clone())];
        let bytes = fs::read(&self.component)?;
        for number in 1..count {
            // As long as the names in whose place they stand.
            let (plugin, tool) = (format!("word-{number:05}"), format!("word_{number:05}"));
            let copy = replaced(bytes.clone(), "word-count", &plugin)
                .and_then(|bytes| replaced(bytes, "word_count", &tool))
                .context("the component does not name itself")?;
            let file = self.directory().join(format!("{tool}.wasm"));
            fs::write(&file, copy)?;
            all.push((plugin, file));
        }
        Ok(all)
    }

    /// Writes the list of plugins.
    pub(super) fn list_copies(&self, plugins: &[Listed]) -> Result<()> {
        let entry = |(name, source): &Listed| {
            json!({
                "name": name,
                "source": source,
                "grant": { "fs": [{ "path": "docs", "access": "read" }] },
                "limits": { "calls": 64 },
            })
        };
        let entries: Vec<_> = plugins.iter().map(entry).collect();
        let list = json!({ "version": 1, "plugins": entries });
        Ok(fs::write(self.plugin_list(), list.to_string())?)
    }
}

fn replaced(mut bytes: Vec<u8>, old: &str, new: &str) -> Result<Vec<u8>> {
    let places = bytes.windows(old.len()).enumerate().filter(|(_, here)| *here == old.as_bytes());
    let places: Vec<usize> = places.map(|(at, _)| at).collect();
    if places.is_empty() || old.len() != new.len() {
        bail!("`{old}` cannot become `{new}`");
    }
    for at in places {
        bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
    }
    Ok(bytes)
}
