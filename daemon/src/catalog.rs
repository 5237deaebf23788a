//! The immutable table of all tools of a workspace. A reload replaces it as a whole; a call keeps
//! the catalog that it started with.

mod render;

use std::collections::HashMap;
use std::sync::Arc;

use moss_plugin_host::Plugin;
use moss_sdk::ToolSpec;
use moss_sdk::tool::AnyTool;

pub use self::render::{Format, Language, View};
use crate::validate::{self, ArgumentValidator, SchemaError};

/// Most nearest names that an unknown name is answered with.
const NEAREST_MAX: usize = 3;
/// Longest name that is looked up, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// All tools of a workspace, in the order in which they are listed.
#[derive(Debug, Default)]
pub struct Catalog {
    entries: Vec<Arc<Entry>>,
    by_name: HashMap<String, usize>,
    digest: String,
}

/// One tool, ready to be called.
pub struct Entry {
    /// What it says about itself.
    pub spec: ToolSpec,
    /// Its compiled argument schema.
    pub arguments: ArgumentValidator,
    /// Its compiled output schema.
    pub output: jsonschema::Validator,
    /// What runs it.
    pub runner: Runner,
}

/// What runs a tool.
pub enum Runner {
    /// A native module.
    Native(Box<dyn AnyTool>),
    /// A component.
    Plugin(Arc<Plugin>),
}

/// Why a catalog cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// A schema cannot be compiled.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Two tools have one name.
    #[error("the tool name `{name}` is taken by {holder}")]
    NameTaken {
        /// The name.
        name: String,
        /// Who has it.
        holder: String,
    },
}

/// A name that no tool has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTool {
    /// The name, cut for display.
    pub name: String,
    /// Names that the caller may have meant, nearest first.
    pub nearest: Vec<String>,
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
            catalog.add(spec, Runner::Native(tool))?;
        }
        Ok(catalog)
    }

    /// Makes a copy with the tools of a plugin added: all of them, or none.
    ///
    /// # Errors
    ///
    /// Where a tool's name is taken or its schema cannot be compiled.
    pub fn with_plugin(&self, plugin: &Arc<Plugin>) -> Result<Self, CatalogError> {
        let mut catalog = Self {
            entries: self.entries.clone(),
            by_name: self.by_name.clone(),
            digest: String::new(),
        };
        for spec in plugin.specs() {
            catalog.add(spec.clone(), Runner::Plugin(Arc::clone(plugin)))?;
        }
        Ok(catalog)
    }

    fn add(&mut self, spec: ToolSpec, runner: Runner) -> Result<(), CatalogError> {
        if let Some(&taken) = self.by_name.get(&spec.name) {
            let holder = self.entries[taken].provider();
            return Err(CatalogError::NameTaken { name: spec.name, holder });
        }
        let arguments = ArgumentValidator::new(&spec)?;
        let output = validate::compile(&spec.name, &spec.output)?;
        self.by_name.insert(spec.name.clone(), self.entries.len());
        self.entries.push(Arc::new(Entry { spec, arguments, output, runner }));
        self.digest = self.compute_digest();
        Ok(())
    }

    fn compute_digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for entry in &self.entries {
            let spec = &entry.spec;
            for part in [&spec.name, &spec.text.description, &spec.parameters.to_string()] {
                hasher.update(part.as_bytes());
                hasher.update(&[0]);
            }
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// Finds a tool.
    ///
    /// # Errors
    ///
    /// Where there is none, with the nearest names.
    pub fn entry(&self, name: &str) -> Result<&Arc<Entry>, UnknownTool> {
        let shown = validate::cut(name, validate::SHOWN_KEY_CHARS_MAX);
        if name.len() > NAME_BYTES_MAX {
            return Err(UnknownTool { name: shown, nearest: Vec::new() });
        }
        self.by_name.get(name).map(|&index| &self.entries[index]).ok_or_else(|| {
            let mut names: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
            names.sort_unstable();
            let mut nearest = Vec::new();
            while nearest.len() < NEAREST_MAX
                && let Some(near) = validate::nearest(name, names.iter().copied())
            {
                names.retain(|candidate| *candidate != near);
                nearest.push(near.to_owned());
            }
            UnknownTool { name: shown, nearest }
        })
    }

    /// Returns the tools in their order.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Changes whenever a name, a description or a schema changes: 16 hexadecimal digits.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

// === impl Entry ===

impl Entry {
    /// The name of the plugin that provides the tool, if one does.
    pub fn plugin(&self) -> Option<&str> {
        match &self.runner {
            Runner::Native(_) => None,
            Runner::Plugin(plugin) => Some(plugin.name()),
        }
    }

    fn provider(&self) -> String {
        self.plugin()
            .map_or_else(|| "a built-in tool".to_owned(), |name| format!("plugin `{name}`"))
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

// === impl UnknownTool ===

impl std::fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no tool `{}`", self.name)?;
        if self.nearest.is_empty() {
            return f.write_str("; `moss tools` lists them");
        }
        write!(f, "; did you mean `{}`?", self.nearest.join("`, `"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_name_is_cut_for_display() {
        let unknown = Catalog::default().entry(&"é".repeat(10_000)).unwrap_err();
        assert_eq!(unknown.name, "é".repeat(validate::SHOWN_KEY_CHARS_MAX) + "…");
        assert_eq!(unknown.nearest, Vec::<String>::new());
    }
}
