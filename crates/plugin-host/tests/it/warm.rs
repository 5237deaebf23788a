//! Instances that are kept between calls.

use std::time::Duration;

use moss_plugin_host::{CallRequest, LimitReached, Plugin, PluginCallError};
use moss_plugin_list::PluginEntry;
use serde_json::{Value, json};

use crate::harness::{bounded, entry, fixture, load, request};

fn warm(limits: Value) -> PluginEntry {
    entry(json!({ "name": "zoo", "limits": { "timeout": "300ms" }, "warm": limits }))
}

async fn counted(plugin: &Plugin, whom: Option<&str>) -> u64 {
    let request = CallRequest { whom: whom.map(ToOwned::to_owned), ..request("act") };
    bounded(plugin.call(request)).await.unwrap().output["n"].as_u64().unwrap()
}

#[tokio::test]
async fn an_instance_serves_the_same_again_and_nobody_else() {
    let limits = json!({ "instances": 2 });
    let plugin = load(&warm(limits.clone()), fixture("counter")).await.unwrap();
    for (whom, expected) in [
        (Some("a"), 1),
        (Some("a"), 2),
        (Some("b"), 1),
        (None, 1),
        (Some("a"), 3),
        (Some("b"), 2),
        (None, 1),
    ] {
        assert_eq!(counted(&plugin, whom).await, expected, "{whom:?}");
    }
    // A third makes the one go that waited longest; another entry makes all go.
    assert_eq!(counted(&plugin, Some("c")).await, 1);
    assert_eq!(counted(&plugin, Some("a")).await, 1);
    assert_eq!(counted(&plugin.with_entry(&warm(limits)).unwrap(), Some("c")).await, 1);
}

#[tokio::test]
async fn without_being_asked_for_no_instance_is_kept() {
    let plugin = load(&entry(json!({ "name": "zoo" })), fixture("counter")).await.unwrap();
    for _ in 0..3 {
        assert_eq!(counted(&plugin, Some("a")).await, 1);
    }
}

#[tokio::test]
async fn an_instance_has_so_many_calls_and_so_long_to_wait() {
    let plugin = load(&warm(json!({ "calls": 2 })), fixture("counter")).await.unwrap();
    let mut counts = Vec::new();
    for _ in 0..5 {
        counts.push(counted(&plugin, Some("a")).await);
    }
    assert_eq!(counts, [1, 2, 1, 2, 1]);
    let mut limits = *plugin.limits();
    limits.warm.as_mut().unwrap().idle = Duration::ZERO;
    let entry = PluginEntry { limits, ..warm(json!({})) };
    let plugin = plugin.with_entry(&entry).unwrap();
    for _ in 0..3 {
        assert_eq!(counted(&plugin, Some("a")).await, 1);
    }
}

#[tokio::test]
async fn what_holds_something_of_its_call_is_not_kept() {
    let plugin = load(&warm(json!({})), fixture("hoarder")).await.unwrap();
    for _ in 0..3 {
        assert_eq!(counted(&plugin, Some("a")).await, 1);
    }
}

#[tokio::test]
async fn what_was_stopped_is_not_kept() {
    let plugin = load(&warm(json!({})), fixture("tires")).await.unwrap();
    for _ in 0..2 {
        assert_eq!(counted(&plugin, Some("a")).await, 1);
        let again = CallRequest { whom: Some("a".to_owned()), ..request("act") };
        let error = bounded(plugin.call(again)).await.unwrap_err();
        let expected = LimitReached::Timeout(Duration::from_millis(300));
        assert_eq!(error, PluginCallError::Limit(expected));
    }
}
