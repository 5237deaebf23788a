//! The plugins that the user's lists name: read, compiled off the hot path, added to the catalog
//! of every workspace when they are ready. A plugin that fails says why and leaves the rest alone.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use moss_plugin_host::{Allocation, Engine, EngineOptions, Plugin, PluginEntry, PluginList};
use moss_workspace::own;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::config::Config;
use crate::state::Daemon;

/// Largest plugin list, in bytes.
const LIST_BYTES_MAX: u64 = 1 << 20;
/// Upper bound on `limits.memory` of any plugin, in bytes.
const MEMORY_BYTES_MAX: usize = 1 << 30;

/// A plugin that a list names, and what became of it.
#[derive(Debug, Clone)]
pub struct PluginStatus {
    /// Its name in the list; the list's file name where the list itself is broken.
    pub name: String,
    /// The list.
    pub listed_in: String,
    /// The component's file.
    pub source: PathBuf,
    /// Whether it can be used.
    pub state: PluginState,
}

/// Whether a plugin can be used.
#[derive(Debug, Clone)]
pub enum PluginState {
    /// It is being compiled.
    Loading,
    /// Its tools are in the catalog.
    Ready(Arc<Plugin>),
    /// It cannot be used, and why.
    Failed(String),
}

/// An entry of a list with the file that it leads to.
struct Listed {
    entry: PluginEntry,
    source: PathBuf,
}

/// Loads the plugins of all lists. Compiles side by side, adds in the order of the lists.
pub async fn load(daemon: Arc<Daemon>) {
    let lists = daemon.plugin_lists.clone();
    if lists.is_empty() {
        return;
    }
    let plugins_max = daemon.config.plugins.plugins_max;
    let Ok((mut statuses, listed)) = spawn_blocking(move || read_lists(&lists, plugins_max)).await
    else {
        return;
    };
    let first = statuses.len();
    statuses.extend(listed.iter().map(|(list, listed)| PluginStatus {
        name: listed.entry.name.clone(),
        listed_in: list.clone(),
        source: listed.source.clone(),
        state: PluginState::Loading,
    }));
    publish(&daemon, &statuses);
    let loading: Vec<_> = compile(&daemon.config, listed).await;
    for (index, task) in loading.into_iter().enumerate() {
        let status = &mut statuses[first + index];
        let loaded = task.await.unwrap_or_else(|error| Err(error.to_string()));
        status.state = match loaded.and_then(|installed| install(&daemon, installed)) {
            Ok(installed) => PluginState::Ready(installed),
            Err(reason) => {
                tracing::warn!(plugin = status.name, reason, "a plugin cannot be used");
                PluginState::Failed(reason)
            }
        };
        publish(&daemon, &statuses);
    }
}

/// Reads one list, which only its owner may write.
///
/// # Errors
///
/// What is wrong with it, with its place.
pub fn read_list(list: &Path) -> Result<PluginList, String> {
    let name = list.display().to_string();
    let bytes = own::read_trusted(list, LIST_BYTES_MAX).map_err(|error| error.to_string())?;
    let bytes = bytes.ok_or_else(|| format!("{name}: there is no such file"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{name}: not UTF-8 text"))?;
    PluginList::parse(&name, &text).map_err(|error| error.to_string())
}

/// Reads every list. A broken one becomes a status of its own.
fn read_lists(lists: &[PathBuf], plugins_max: usize) -> (Vec<PluginStatus>, Vec<(String, Listed)>) {
    let mut broken = Vec::new();
    let mut all = Vec::new();
    for list in lists {
        let name = list.display().to_string();
        match read_list(list) {
            Ok(parsed) => all.extend(parsed.plugins.into_iter().map(|entry| {
                let source = list.parent().unwrap_or(Path::new(".")).join(&entry.source);
                (name.clone(), Listed { entry, source })
            })),
            Err(reason) => {
                tracing::warn!(list = name, reason, "a plugin list is broken");
                broken.push(PluginStatus {
                    name: list.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                    listed_in: name,
                    source: list.clone(),
                    state: PluginState::Failed(reason),
                });
            }
        }
    }
    if all.len() > plugins_max {
        tracing::warn!(listed = all.len(), plugins_max, "too many plugins: the last are left out");
        all.truncate(plugins_max);
    }
    (broken, all)
}

type Loading = JoinHandle<Result<Plugin, String>>;

/// Starts compiling, one task a plugin.
async fn compile(config: &Config, listed: Vec<(String, Listed)>) -> Vec<Loading> {
    if listed.is_empty() {
        return Vec::new();
    }
    let options = EngineOptions {
        calls_max: u32::try_from(config.calls.running_max).unwrap_or(u32::MAX),
        memory_bytes_max: MEMORY_BYTES_MAX,
        allocation: Allocation::Auto,
    };
    let engine = spawn_blocking(move || Engine::new(options).map_err(|error| error.to_string()));
    let engine = engine.await.unwrap_or_else(|error| Err(error.to_string()));
    let bytes_max = config.plugins.component_bytes_max;
    let start =
        |(_, listed): (String, Listed)| tokio::spawn(load_one(engine.clone(), listed, bytes_max));
    listed.into_iter().map(start).collect()
}

async fn load_one(
    engine: Result<Engine, String>,
    listed: Listed,
    bytes_max: u64,
) -> Result<Plugin, String> {
    let engine = engine.map_err(|reason| format!("no plugin can run here: {reason}"))?;
    let source = listed.source.clone();
    let bytes = spawn_blocking(move || read_bounded(&source, bytes_max));
    let bytes = bytes.await.map_err(|error| error.to_string())??;
    let plugin = Plugin::load(&engine, &listed.entry, bytes).await;
    plugin.map_err(|error| format!("{}: {error}", listed.source.display()))
}

/// Adds a plugin's tools to every catalog, or to none.
fn install(daemon: &Daemon, installed: Plugin) -> Result<Arc<Plugin>, String> {
    let installed = Arc::new(installed);
    let mut catalogs = Vec::new();
    for workspace in daemon.workspaces() {
        let catalog = workspace.catalog.load().with_plugin(&installed);
        catalogs.push((workspace, catalog.map_err(|error| error.to_string())?));
    }
    for (workspace, catalog) in catalogs {
        workspace.catalog.store(Arc::new(catalog));
    }
    Ok(installed)
}

fn publish(daemon: &Daemon, statuses: &[PluginStatus]) {
    for workspace in daemon.workspaces() {
        workspace.plugins.store(Arc::new(statuses.to_vec()));
    }
}

/// Reads a whole file that is not larger than a bound.
fn read_bounded(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut bytes = Vec::new();
    #[expect(clippy::disallowed_methods, reason = "components lie in no workspace")]
    let file = std::fs::File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(format!("{}: not a regular file", path.display()));
    }
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("{}: larger than {bytes_max} bytes", path.display()));
    }
    Ok(bytes)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look from outside")]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn list_that_others_may_write_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let list = temp.path().join("moss-tools.json");
        assert!(read_list(&list).unwrap_err().contains("there is no such file"));
        fs::write(&list, r#"{"plugins": []}"#).unwrap();
        fs::set_permissions(&list, Permissions::from_mode(0o666)).unwrap();
        let reason = read_list(&list).unwrap_err();
        assert!(reason.contains("can be written by other users"), "{reason}");
    }
}
