//! The entry of a plugin that is tried, in a list of its own.

use std::path::Path;

use moss_plugin_host::Plugin;
use moss_plugin_list::{Capability, PluginEntry, PluginList};
use moss_workspace::own::OwnDir;
use serde_json::{Map, Value, json};

use super::BenchError;

/// The file name of a list.
pub(crate) const LIST: &str = "moss-tools.json";

/// A component that is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BenchComponent<'a> {
    /// What it calls itself.
    pub(crate) name: &'a str,
    /// The file of the component.
    pub(crate) file: &'a Path,
    /// Its digest: the author is who accepts it.
    pub(crate) sha256: &'a str,
}

/// What a plugin is given while it is tried, beside what it requests.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Given {
    /// Whether it may reach the hosts that it requests.
    pub(crate) http: bool,
    /// The settings that a list would give it.
    pub(crate) config: Map<String, Value>,
}

// === impl BenchComponent ===

impl BenchComponent<'_> {
    pub(super) fn entry(self, grant: Value, given: &Given) -> Value {
        let Self { name, file, sha256 } = self;
        let config = &given.config;
        json!({
            "name": name, "source": file, "sha256": sha256, "grant": grant, "config": config,
        })
    }
}

/// Writes a list of plugins of this name, as moss reads them.
///
/// # Errors
///
/// Where it cannot be written.
pub(crate) fn write_list(list: &Path, entries: &[Value]) -> Result<(), BenchError> {
    let text = json!({ "version": 1, "plugins": entries }).to_string();
    let directory = OwnDir::open(list.parent().unwrap_or(list))?;
    Ok(directory.write(LIST, text.as_bytes())?)
}

/// Makes the entry of a plugin in a list that grants all that it requests, as far as it is given.
pub(crate) fn entry(candidate: BenchComponent<'_>, plugin: &Plugin, given: &Given) -> Value {
    candidate.entry(granted(plugin, given), given)
}

/// Reads an entry as a list has it.
pub(super) fn parsed(entry: &Value) -> Result<PluginEntry, BenchError> {
    let text = json!({ "version": 1, "plugins": [entry] }).to_string();
    let list = PluginList::parse(LIST, &text);
    let list = list.map_err(|error| BenchError::Refused(error.to_string()))?;
    list.plugins.into_iter().next().ok_or_else(|| BenchError::Refused("no entry".to_owned()))
}

/// All that a plugin requests; no variables, whose values an example cannot know.
fn granted(plugin: &Plugin, given: &Given) -> Value {
    let mut files = Vec::new();
    let (mut http, mut tools) = (Vec::new(), Vec::new());
    let mut grant = Map::new();
    for request in plugin.requests() {
        match &request.capability {
            Capability::Files(path) => {
                files.push(json!({ "path": path.to_string(), "access": "read" }));
            }
            Capability::Http(host) if given.http => http.push(host.to_string()),
            // `*` asks for whatever is granted: nobody says what that is.
            Capability::Tool(name) if name.to_string() != "*" => tools.push(name.to_string()),
            Capability::Store(bytes) => {
                grant.insert("store".to_owned(), json!(format!("{bytes}B")));
            }
            Capability::Editor => {
                grant.insert("editor".to_owned(), json!(true));
            }
            Capability::Http(_) | Capability::Env(_) | Capability::Tool(_) => {}
        }
    }
    grant.insert("fs".to_owned(), json!(files));
    grant.insert("http".to_owned(), json!(http));
    grant.insert("tools".to_owned(), json!(tools));
    Value::Object(grant)
}
