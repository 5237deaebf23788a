//! A look at a component before it is used: read, checked, compiled, and asked what it is in an
//! instance that can do nothing, in an engine of its own.

use std::path::Path;
use std::sync::Arc;

use moss_plugin_host::{Allocation, Engine, EngineOptions, LoadError, Plugin};
use moss_plugin_list::{Grant, PluginEntry, PluginList, limits::MEMORY_BYTES_MAX};
use moss_sdk::{ErrorCode, ToolError};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::compiler;
use crate::compiling::OnCompile;
use crate::component::{self, ComponentSource};
use crate::environment::Environment;
use moss_dispatch::consent;

/// Name of a plugin whose name is not known yet, where its file's says none.
const UNNAMED: &str = "plugin";

/// Reads a component.
///
/// # Errors
///
/// Why it cannot be read.
pub(super) async fn read(source: ComponentSource, bytes_max: u64) -> Result<Vec<u8>, ToolError> {
    let read = spawn_blocking(move || component::read(&source, bytes_max, None));
    let read = read.await.unwrap_or_else(|error| Err(error.to_string()));
    let read = read.map_err(|reason| ToolError::new(ErrorCode::Io, reason))?;
    Ok(read.bytes.unwrap_or_default())
}

/// Makes a plugin of a component, with the limits and the settings of an entry but without any
/// grant. Where no name is demanded it has the one that it gives itself.
///
/// # Errors
///
/// What it is refused for.
pub(super) async fn plugin(
    environment: &Arc<Environment>,
    source: &Path,
    entry: &PluginEntry,
    is_named: bool,
    bytes: Vec<u8>,
    on_compile: &OnCompile,
) -> Result<Plugin, ToolError> {
    let engine = engine(environment, Some(Arc::clone(on_compile))).await;
    let engine = engine.map_err(|error| broken(&error))?;
    let name = if is_named { entry.name.clone() } else { guess(source) };
    let bare = |name| PluginEntry { name, sha256: None, grant: Grant::default(), ..entry.clone() };
    let loaded = match Plugin::load(&engine, &bare(name), bytes.clone()).await {
        Err(LoadError::Name { told, .. }) if !is_named => {
            Plugin::load(&engine, &bare(checked(&told)?), bytes).await
        }
        loaded => loaded,
    };
    loaded.map_err(|error| {
        let hint = match &error {
            LoadError::Settings(problem) if entry.config.is_empty() => {
                format!("give them, such as `moss plugin add {}`", problem.option())
            }
            LoadError::Settings(problem) => {
                format!("fix them, such as `{}`, or `config` in the list", problem.option())
            }
            _ => "nothing was changed".to_owned(),
        };
        let message = format!("{}: {error}", source.display());
        ToolError::new(ErrorCode::PluginFailed, message).hint(hint)
    })
}

/// Makes a plugin of a component, under its entry, in an engine of its own.
///
/// # Errors
///
/// What it is refused for.
pub async fn load(
    environment: &Arc<Environment>,
    entry: &PluginEntry,
    bytes: Vec<u8>,
    on_compile: Option<OnCompile>,
) -> Result<Plugin, LoadError> {
    let engine = engine(environment, on_compile).await.map_err(LoadError::Compiler)?;
    Plugin::load(&engine, entry, bytes).await
}

/// An engine for one look.
async fn engine(
    environment: &Arc<Environment>,
    on_compile: Option<OnCompile>,
) -> Result<Engine, String> {
    let options = EngineOptions {
        calls_max: 1,
        warm_max: 0,
        memory_bytes_max: MEMORY_BYTES_MAX,
        allocation: Allocation::OnDemand,
    };
    compiler::engine(environment, options, on_compile).await
}

fn broken(reason: &str) -> ToolError {
    ToolError::new(ErrorCode::Internal, format!("no plugin can be looked at here: {reason}"))
}

/// Refuses what cannot name a plugin.
fn checked(name: &str) -> Result<String, ToolError> {
    let list = json!({ "version": 1, "plugins": [{ "name": name, "source": UNNAMED }] });
    match PluginList::parse("the plugin", &list.to_string()) {
        Ok(_) => Ok(name.to_owned()),
        Err(_) => {
            let message = format!("`{name}` cannot name a plugin");
            Err(ToolError::new(ErrorCode::InvalidArguments, message).hint(
                "a name is a lowercase letter, then up to 63 lowercase letters, digits or `-`",
            ))
        }
    }
}

/// The name that a file seems to have.
fn guess(source: &Path) -> String {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = stem.replace(['_', '.', ' '], "-");
    checked(&name).unwrap_or_else(|_| UNNAMED.to_owned())
}

/// What people are shown of a plugin.
pub(super) fn component(plugin: &Plugin) -> consent::Component {
    let own_name = |called: &str| {
        let mut renamed = plugin.renamed();
        renamed.find(|(name, _)| *name == called).map(|(_, own)| own.to_owned())
    };
    let tools = plugin.specs().iter().map(|spec| consent::ToolDescription {
        name: spec.name.clone(),
        own_name: own_name(&spec.name),
        title: spec.text.title.clone(),
        description: spec.text.description.clone(),
        effect: spec.effect,
        parameters: spec.parameters.clone(),
        output: spec.output.clone(),
    });
    let requested = plugin.requests().iter().map(|request| consent::CapabilityRequest {
        capability: request.capability.to_string(),
        reason: request.reason.clone(),
    });
    consent::Component {
        version: plugin.version().to_owned(),
        sha256: plugin.digest().to_string(),
        tools: tools.collect(),
        left_out: plugin.left_out().to_vec(),
        requested: requested.collect(),
    }
}

/// What models read of a plugin's tools, line by line, to be compared with that of another version.
pub(super) fn texts(plugin: &Plugin) -> String {
    let mut texts = String::new();
    for spec in plugin.specs() {
        let (effect, text) = (json!(spec.effect), &spec.text);
        let effect = effect.as_str().unwrap_or_default();
        let json = |schema: &Value| serde_json::to_string_pretty(schema).unwrap_or_default();
        let (parameters, output) = (json(&spec.parameters), json(&spec.output));
        texts += &format!(
            "{} [{effect}] {}\n{}\nparameters: {parameters}\noutput: {output}\n",
            spec.name, text.title, text.description
        );
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_guessed_from_the_file() {
        for (file, name) in [
            ("a/word_count.wasm", "word-count"),
            ("Word.Count.wasm", "word-count"),
            ("9.wasm", UNNAMED),
            ("é.wasm", UNNAMED),
            ("", UNNAMED),
        ] {
            assert_eq!(guess(Path::new(file)), name);
        }
    }
}
