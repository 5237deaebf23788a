//! The immutable table of all tools of a workspace. A reload replaces it as a whole; a call keeps
//! the catalog that it started with.

use moss_dispatch::{UnknownTool, operations};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use moss_model_bridge::RegisteredTool;
use moss_plugin_host::Plugin;
use moss_sdk::ToolSpec;
use moss_sdk::deceptive::escaped;
use moss_sdk::tool::AnyTool;

use moss_schema::{ArgumentValidator, Schema, SchemaError};

/// Most nearest names that are suggested for an unknown name.
const NEAREST_MAX: usize = 3;
/// Longest name that is looked up, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// All tools of a workspace, in the order in which they are listed.
#[derive(Debug, Default)]
pub struct Catalog {
    entries: Vec<Arc<CatalogEntry>>,
    by_name: HashMap<String, usize>,
    /// The same by folded names: two that differ in case, `-` and `_` alone are taken for one another.
    by_folded: HashMap<String, usize>,
    digest: String,
}

/// One tool, ready to be called.
pub struct CatalogEntry {
    /// What it says about itself.
    pub spec: ToolSpec,
    /// Its compiled argument schema.
    pub arguments: ArgumentValidator,
    /// Its compiled output schema.
    pub output: Schema,
    /// What runs it: a native tool or the plugin that provides it.
    pub runner: Runner,
    /// Names all that is shown of the tool, and the component that runs it.
    fingerprint: blake3::Hash,
    /// The tool as models see it: with either schema, in either language, each compiled once.
    registered: [OnceLock<Arc<RegisteredTool>>; 4],
}

/// A plugin with its tools, ready to be called.
#[derive(Debug)]
pub struct PluginTools {
    plugin: Arc<Plugin>,
    entries: Vec<Arc<CatalogEntry>>,
}

/// The tools in which two catalogs differ, by name, in the order of the listings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CatalogChanges {
    /// Only the newer one has them.
    pub added: Vec<String>,
    /// Only the older one has them.
    pub removed: Vec<String>,
    /// Both have them; what is shown of them differs, or the component that runs them.
    pub changed: Vec<String>,
}

/// What runs a tool.
pub enum Runner {
    /// A tool that was built in.
    Native(Box<dyn AnyTool>),
    /// The plugin that provides the tool.
    Plugin(Arc<Plugin>),
}

/// Why a catalog cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// A schema cannot be compiled.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Two tools have one name.
    #[error("the tool name `{name}` is used by {holder}{remedy}", remedy = remedy(.own))]
    NameTaken {
        /// The name that both want.
        name: String,
        /// Who has it, in words: moss, or a plugin.
        holder: String,
        /// What the plugin calls the tool that does not get it, where a plugin has it.
        own: Option<String>,
    },
}

// === impl Catalog ===

impl Catalog {
    /// Makes the catalog of the native tools.
    ///
    /// # Errors
    ///
    /// Where a native tool's schema does not compile: a defect.
    pub fn native(tools: Vec<(ToolSpec, Box<dyn AnyTool>)>) -> Result<Self, CatalogError> {
        let mut catalog = Self::default();
        for (spec, tool) in tools {
            catalog.add(Arc::new(CatalogEntry::new(spec, Runner::Native(tool))?))?;
        }
        catalog.digest = catalog.compute_digest();
        Ok(catalog)
    }

    /// Makes a copy with the tools of plugins added, in their order.
    ///
    /// # Errors
    ///
    /// Where a tool's name is taken.
    pub fn with_plugins<'a>(
        &self,
        plugins: impl IntoIterator<Item = &'a PluginTools>,
    ) -> Result<Self, CatalogError> {
        let mut catalog = Self {
            entries: self.entries.clone(),
            by_name: self.by_name.clone(),
            by_folded: self.by_folded.clone(),
            digest: String::new(),
        };
        for tools in plugins {
            tools.entries.iter().try_for_each(|entry| catalog.add(Arc::clone(entry)))?;
        }
        catalog.digest = catalog.compute_digest();
        Ok(catalog)
    }

    fn add(&mut self, entry: Arc<CatalogEntry>) -> Result<(), CatalogError> {
        let name = entry.spec.name.clone();
        if let Some(holder) = self.holder(&name, None) {
            let own = entry.own_name().map(ToOwned::to_owned);
            return Err(CatalogError::NameTaken { name, holder, own });
        }
        self.by_folded.insert(operations::folded(&name), self.entries.len());
        self.by_name.insert(name, self.entries.len());
        self.entries.push(entry);
        Ok(())
    }

    fn compute_digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for entry in &self.entries {
            hasher.update(entry.fingerprint.as_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// Returns in which tools this differs from an older one.
    pub fn changes_since(&self, older: &Self) -> CatalogChanges {
        let mut changes = CatalogChanges::default();
        for entry in &self.entries {
            let name = &entry.spec.name;
            match older.by_name.get(name).map(|&index| older.entries[index].fingerprint) {
                None => changes.added.push(name.clone()),
                Some(known) if known != entry.fingerprint => changes.changed.push(name.clone()),
                Some(_) => {}
            }
        }
        let gone =
            older.entries.iter().filter(|entry| !self.by_name.contains_key(&entry.spec.name));
        changes.removed.extend(gone.map(|entry| entry.spec.name.clone()));
        changes
    }

    /// Finds a tool.
    ///
    /// # Errors
    ///
    /// Where no tool has that name, with the nearest names.
    pub fn entry(&self, name: &str) -> Result<&Arc<CatalogEntry>, UnknownTool> {
        let shown = || escaped(&moss_schema::cut(name, moss_schema::SHOWN_KEY_CHARS_MAX));
        if name.len() > NAME_BYTES_MAX {
            return Err(UnknownTool { name: shown(), ..UnknownTool::default() });
        }
        self.by_name.get(name).map(|&index| &self.entries[index]).ok_or_else(|| {
            let mut names: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
            names.sort_unstable();
            let mut nearest = Vec::new();
            while nearest.len() < NEAREST_MAX
                && let Some(near) = moss_schema::nearest(name, names.iter().copied())
            {
                names.retain(|candidate| *candidate != near);
                nearest.push(near.to_owned());
            }
            UnknownTool { name: shown(), nearest, ..UnknownTool::default() }
        })
    }

    /// Says who has a name, or one that differs in case, `-` and `_` alone: an operation of moss, or a tool that is not one of
    /// `plugin`. None where it is free.
    pub fn holder(&self, name: &str, plugin: Option<&str>) -> Option<String> {
        if operations::is_reserved(name) {
            return Some("an operation of moss".to_owned());
        }
        let taken = self.by_folded.get(&operations::folded(name))?;
        let taken = &self.entries[*taken];
        if plugin.is_some() && taken.plugin() == plugin {
            return None;
        }
        let spelt = match taken.spec.name == name {
            true => String::new(),
            false => format!(", as `{}`", taken.spec.name),
        };
        Some(format!("{}{spelt}", taken.provider()))
    }

    /// Whether there is a tool of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns the tools in their order.
    pub fn entries(&self) -> &[Arc<CatalogEntry>] {
        &self.entries
    }

    /// Changes whenever a tool comes, goes, changes in what is shown of it, or is run by another
    /// component: 16 hexadecimal digits.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

// === impl PluginTools ===

impl PluginTools {
    /// Compiles the schemas of a plugin's tools.
    ///
    /// # Errors
    ///
    /// Where one cannot be compiled.
    pub fn new(plugin: Arc<Plugin>) -> Result<Self, CatalogError> {
        let entry = |spec: &ToolSpec| {
            CatalogEntry::new(spec.clone(), Runner::Plugin(Arc::clone(&plugin))).map(Arc::new)
        };
        let entries = plugin.specs().iter().map(entry).collect::<Result<_, _>>()?;
        Ok(Self { plugin, entries })
    }

    /// Returns the plugin that provides the tools.
    pub fn plugin(&self) -> &Arc<Plugin> {
        &self.plugin
    }
}

// === impl CatalogEntry ===

impl CatalogEntry {
    fn new(spec: ToolSpec, runner: Runner) -> Result<Self, CatalogError> {
        let arguments = ArgumentValidator::new(&spec.name, &spec.parameters_strict, &spec.aliases)?;
        let output = Schema::new(&spec.name, &spec.output)?;
        let fingerprint = fingerprint(&spec, &runner);
        Ok(Self { spec, arguments, output, runner, fingerprint, registered: Default::default() })
    }

    /// Returns the tool as models see it in one of its forms, which `make` makes where nobody
    /// asked for it yet.
    ///
    /// # Errors
    ///
    /// Where it cannot be made.
    pub fn registered<E>(
        &self,
        form: usize,
        make: impl FnOnce() -> Result<RegisteredTool, E>,
    ) -> Result<Arc<RegisteredTool>, E> {
        let kept = &self.registered[form];
        if let Some(tool) = kept.get() {
            return Ok(Arc::clone(tool));
        }
        let made = Arc::new(make()?);
        Ok(Arc::clone(kept.get_or_init(|| made)))
    }

    /// The name of the plugin that provides the tool, if one does.
    pub fn plugin(&self) -> Option<&str> {
        match &self.runner {
            Runner::Native(_) => None,
            Runner::Plugin(plugin) => Some(plugin.name()),
        }
    }

    /// What the plugin that provides the tool calls it, if one does.
    fn own_name(&self) -> Option<&str> {
        let Runner::Plugin(plugin) = &self.runner else { return None };
        let name = self.spec.name.as_str();
        Some(plugin.renamed().find(|(here, _)| *here == name).map_or(name, |(_, own)| own))
    }

    /// The digest of the component that runs the tool, if one does.
    pub fn component(&self) -> Option<String> {
        match &self.runner {
            Runner::Native(_) => None,
            Runner::Plugin(plugin) => Some(plugin.digest().to_string()),
        }
    }

    /// Who provides the tool, for people.
    pub fn provider(&self) -> String {
        self.plugin()
            .map_or_else(|| "a built-in tool".to_owned(), |name| format!("plugin `{name}`"))
    }
}

impl std::fmt::Debug for CatalogEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

/// Hashes all that is shown of a tool, and the digest of the component that runs it.
fn fingerprint(spec: &ToolSpec, runner: &Runner) -> blake3::Hash {
    let provider = match runner {
        Runner::Native(_) => String::new(),
        Runner::Plugin(plugin) => format!("{} {}", plugin.name(), plugin.digest()),
    };
    let shown = serde_json::json!([
        spec.name,
        spec.effect,
        spec.toolset,
        spec.text,
        spec.text_zh,
        spec.text_brief,
        spec.parameters,
        spec.extras,
        spec.output,
        spec.aliases,
        provider,
    ]);
    blake3::hash(shown.to_string().as_bytes())
}

/// What makes room for a tool whose name is taken.
fn remedy(own: &Option<String>) -> String {
    own.as_ref().map_or_else(String::new, |own| {
        format!("; its list gives it another name with \"tools\": {{\"{own}\": \"OTHER\"}}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_name_is_cut_for_display() {
        let unknown = Catalog::default().entry(&"é".repeat(10_000)).unwrap_err();
        assert_eq!(unknown.name, "é".repeat(moss_schema::SHOWN_KEY_CHARS_MAX) + "…");
        assert_eq!(unknown.nearest, Vec::<String>::new());
        let unknown = Catalog::default().entry("a\u{1b}[31m\u{202e}b").unwrap_err();
        assert_eq!(unknown.name, r"a\u{1b}[31m\u{202e}b");
    }
}
