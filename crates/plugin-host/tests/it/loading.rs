//! What is refused before it is called.

use moss_plugin_host::LoadError;
use moss_sdk::{Effect, Toolset};
use serde_json::json;

use crate::harness::{entry, fixture, load, zoo, zoo_entry};

#[tokio::test]
async fn a_plugin_has_the_tools_that_it_describes() {
    let plugin = zoo("polite").await;
    assert_eq!((plugin.name(), plugin.version()), ("zoo", "1"));
    let [spec] = plugin.specs() else { panic!("one tool") };
    assert_eq!(
        (spec.name.as_str(), spec.effect, spec.toolset),
        ("act", Effect::Write, Toolset::Plugin)
    );
    assert_eq!(spec.parameters, json!({ "type": "object" }));
    assert_eq!(spec.parameters_strict["additionalProperties"], json!(false));
}

#[tokio::test]
async fn what_is_no_plugin_is_refused_with_the_reason() {
    let huge = moss_plugin_host::limits::COMPONENT_BYTES_MAX + 1;
    let mut truncated = fixture("polite");
    truncated.truncate(truncated.len() / 2);
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", Vec::new(), "not WebAssembly"),
        ("text", b"hello".to_vec(), "not WebAssembly"),
        ("too large", vec![0; huge], "at most 64MiB are loaded"),
        ("truncated", truncated, "the component is not valid: "),
        ("module", fixture("module"), "a core WebAssembly module, not a component"),
        ("no plugin", fixture("no_plugin"), "does not export `moss:plugin/tools@0.2.0`"),
        ("old", fixture("old_plugin"), "exports `moss:plugin/tools@0.0.9`"),
        ("wrong shape", fixture("wrong_shape"), "call"),
        ("network", fixture("network"), "wasi:sockets"),
        ("start loop", fixture("spin_in_start"), "while describing itself: the plugin ran longer"),
        ("memory", fixture("memory_hogs"), "needs more than 64MiB of memory"),
        ("instances", fixture("instance_hog"), "instances"),
    ];
    for (name, bytes, expected) in cases {
        let error = load(&zoo_entry(), bytes).await.expect_err(name).to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[tokio::test]
async fn other_bytes_than_the_pinned_ones_are_refused() {
    let bytes = fixture("polite");
    let digest = load(&zoo_entry(), bytes.clone()).await.unwrap().digest().to_string();
    let pinned = entry(json!({ "name": "zoo", "sha256": digest }));
    load(&pinned, bytes).await.unwrap();
    let error = load(&pinned, fixture("trap")).await.unwrap_err();
    assert!(matches!(error, LoadError::Digest { pinned, .. } if pinned == digest));
}

#[tokio::test]
async fn a_plugin_must_have_the_name_of_its_entry() {
    let error = load(&entry(json!({ "name": "other" })), fixture("polite")).await.unwrap_err();
    assert!(error.to_string().contains("it is called `zoo`, but the list calls it `other`"));
}

#[tokio::test]
async fn a_memory_limit_above_the_engine_is_refused() {
    let entry = entry(json!({ "name": "zoo", "limits": { "memory": "1GiB" } }));
    let error = load(&entry, fixture("polite")).await.unwrap_err();
    assert_eq!(error, LoadError::MemoryLimit(512 << 20));
}
