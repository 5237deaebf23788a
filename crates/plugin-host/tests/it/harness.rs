//! What the tests share: assembling fixtures, loading, calling with a bound on the wait.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use moss_plugin_host::services::NoServices;
use moss_plugin_host::{
    CallRequest, Engine, EngineOptions, GuestEvents, LoadError, LogLevel, Plugin, PluginCallError,
    PluginOutcome,
};
use moss_plugin_list::{PluginEntry, PluginList};
use moss_sdk::context::Progress;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::hostile;

/// No test waits longer for anything.
const WAIT_MAX: Duration = Duration::from_secs(60);

pub(crate) static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(EngineOptions::default()).unwrap());

/// Keeps what a plugin says.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) log: Mutex<Vec<(LogLevel, String)>>,
    pub(crate) progress: Mutex<Vec<Progress>>,
}

impl GuestEvents for Heard {
    fn log(&self, level: LogLevel, message: &str) {
        self.log.lock().unwrap().push((level, message.to_owned()));
    }

    fn progress(&self, progress: Progress) {
        self.progress.lock().unwrap().push(progress);
    }
}

/// Assembles the component `fixtures/<name>.wat`.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    hostile::assemble(name)
}

/// Returns the bytes of an example plugin.
pub(crate) fn example(file: &str) -> Vec<u8> {
    let folder = std::env::var_os("MOSS_TEST_PLUGINS").map(PathBuf::from).expect(
        "MOSS_TEST_PLUGINS must name the folder with the built example plugins; \
         `cargo xtask test` builds them and sets it",
    );
    let path = folder.join(file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Makes the entry of a plugin list.
pub(crate) fn entry(entry: Value) -> PluginEntry {
    let mut entry = entry;
    entry["source"] = json!("here.wasm");
    let list = json!({ "version": 1, "plugins": [entry] }).to_string();
    PluginList::parse("moss-tools.json", &list).unwrap().plugins.remove(0)
}

/// The entry of the zoo's plugins: a short time, so that the tests are quick.
pub(crate) fn zoo_entry() -> PluginEntry {
    entry(json!({ "name": "zoo", "limits": { "timeout": "300ms" } }))
}

pub(crate) async fn load(entry: &PluginEntry, bytes: Vec<u8>) -> Result<Plugin, LoadError> {
    bounded(Plugin::load(&ENGINE, entry, bytes)).await
}

pub(crate) async fn zoo(name: &str) -> Plugin {
    load(&zoo_entry(), fixture(name)).await.unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(crate) async fn call(plugin: &Plugin) -> Result<PluginOutcome, PluginCallError> {
    bounded(plugin.call(request("act"))).await
}

pub(crate) fn request(tool: &str) -> CallRequest {
    CallRequest {
        tool: tool.to_owned(),
        arguments: json!({}),
        timeout: None,
        cancelled: CancellationToken::new(),
        events: Arc::new(Heard::default()),
        services: Arc::new(NoServices),
        whom: None,
    }
}

pub(crate) async fn bounded<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(WAIT_MAX, future).await.expect("done within the bound")
}
