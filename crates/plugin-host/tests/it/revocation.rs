//! What was granted is revoked while calls run.

use std::sync::Arc;

use moss_plugin_host::{Plugin, PluginCallError};
use moss_plugin_list::PluginEntry;
use moss_sdk::ErrorCode;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::harness::{bounded, entry, fixture, load, request};

fn granted(paths: &[&str]) -> PluginEntry {
    let grant = |path: &&str| json!({ "path": path, "access": "read" });
    let files: Vec<Value> = paths.iter().map(grant).collect();
    entry(json!({ "name": "zoo", "grant": { "fs": files }, "limits": { "timeout": "10m" } }))
}

/// Starts a call that ends only when it is stopped.
fn start(plugin: &Arc<Plugin>) -> JoinHandle<Option<PluginCallError>> {
    let plugin = Arc::clone(plugin);
    tokio::spawn(async move { plugin.call(request("act")).await.err() })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_call_is_stopped_in_the_guest_and_in_the_host() {
    for name in ["sleeper", "spin"] {
        let plugin = Arc::new(load(&granted(&["docs", "src"]), fixture(name)).await.unwrap());
        let running = start(&plugin);
        // All that it has stays granted.
        for kept in [granted(&["docs", "src"]), granted(&["."]), granted(&["src", "x", "docs"])] {
            assert!(!plugin.revoke_unless_granted(&kept) && !plugin.is_revoked());
        }
        assert!(!running.is_finished(), "{name}");
        assert!(plugin.revoke_unless_granted(&granted(&["docs/a", "src"])), "{name}");
        let error = bounded(running).await.unwrap().unwrap();
        let lost = "a capability of the plugin was revoked: read docs".to_owned();
        assert_eq!(error, PluginCallError::Revoked(lost), "{name}");
        let error = plugin.tool_error(error);
        assert_eq!(error.code, ErrorCode::Denied);
        assert!(error.message.contains("while it ran"), "{error}");
        // One that comes too late has nothing either.
        let late = bounded(start(&plugin)).await.unwrap();
        assert!(matches!(late, Some(PluginCallError::Revoked(_))), "{name}: {late:?}");
        // The next version has what is granted now.
        let next = plugin.with_entry(&granted(&["docs/a", "src"])).unwrap();
        assert!(!next.is_revoked());
    }
}

#[tokio::test]
async fn a_plugin_that_has_nothing_loses_nothing_until_it_is_gone() {
    let plugin = Arc::new(load(&granted(&[]), fixture("sleeper")).await.unwrap());
    let running = start(&plugin);
    assert!(!plugin.revoke_unless_granted(&granted(&[])));
    plugin.revoke("the plugin was removed from its list");
    let error = bounded(running).await.unwrap().unwrap();
    assert_eq!(error.to_string(), "stopped while it ran: the plugin was removed from its list");
}
