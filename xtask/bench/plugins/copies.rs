//! Copies of a component that differ in their names only: as many plugins as one wants.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::testbed::Testbed;

/// The names of the plugin and of its tool.
const NAME: &str = "word-count";
const TOOL: &str = "word_count";

/// Most plugins of one list.
const LIST_MAX: usize = 250;

/// A plugin of the list: its name and its component.
type BenchPlugin = (String, PathBuf);

impl Testbed {
    /// Makes so many copies of the component that counts words, each with names of its own. The
    /// component as it is stands first.
    pub(crate) fn copies(&self, count: usize) -> Result<Vec<BenchPlugin>> {
        let mut all = vec![(NAME.to_owned(), self.component.clone())];
        let bytes = fs::read(&self.component)?;
        for number in 1..count {
            // As long as the name that it replaces.
            let plugin = format!("word-{number:05}");
            let copy = replaced(bytes.clone(), NAME, &plugin)
                .context("the component does not name itself")?;
            let file = self.directory().join(format!("{plugin}.wasm"));
            fs::write(&file, copy)?;
            all.push((plugin, file));
        }
        Ok(all)
    }

    /// Writes the lists of plugins: one, and what is too much for it into that of the user.
    pub(crate) fn list_copies(&self, plugins: &[BenchPlugin]) -> Result<()> {
        let entry = |(name, source): &BenchPlugin| {
            // The tool is known by its own name inside of the component only.
            let tools = if name == NAME { json!({}) } else { json!({ TOOL: tool_of(name) }) };
            json!({
                "name": name,
                "source": source,
                "tools": tools,
                "grant": { "fs": [{ "path": "docs", "access": "read" }] },
                "limits": { "calls": 64 },
            })
        };
        let (first, others) = plugins.split_at(plugins.len().min(LIST_MAX));
        for (file, plugins) in [(self.plugin_list(), first), (self.user_list(), others)] {
            let entries: Vec<_> = plugins.iter().map(entry).collect();
            fs::write(file, json!({ "version": 1, "plugins": entries }).to_string())?;
        }
        Ok(())
    }
}

/// The tool of a plugin.
pub(crate) fn tool_of(plugin: &str) -> String {
    plugin.replace('-', "_")
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
