//! Hostile plugins: each ends in its typed error and harms no other call.

use std::sync::Arc;
use std::time::Duration;

use moss_plugin_host::{
    Allocation, Engine, EngineOptions, LimitReached, LoadError, LogLevel, Plugin, PluginCallError,
    PluginEdit,
};
use moss_sdk::{ErrorCode, RelPath, ToolError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::disk::disk;
use crate::harness::{ENGINE, Heard, bounded, call, entry, fixture, load, request, zoo, zoo_entry};
use crate::hostile::{End, Member, ZOO};

const TIMEOUT: PluginCallError =
    PluginCallError::Limit(LimitReached::Timeout(Duration::from_millis(300)));

#[tokio::test]
async fn a_polite_plugin_returns_its_output() {
    let outcome = call(&zoo("polite").await).await.unwrap();
    assert_eq!(outcome.output, json!({}));
    assert_eq!(outcome.edits, []);
    assert_eq!(outcome.usage.peak_memory_bytes, 64 << 10);
}

#[tokio::test]
async fn edits_are_returned_in_order() {
    let outcome = call(&zoo("edits").await).await.unwrap();
    let path = |text| RelPath::parse(text).unwrap();
    assert_eq!(
        outcome.edits,
        [
            PluginEdit::ReplaceText {
                path: path("a.txt"),
                old_text: "old".to_owned(),
                new_text: "new".to_owned(),
            },
            PluginEdit::Delete { path: path("b.txt"), expected: None },
        ]
    );
}

#[tokio::test]
async fn an_error_of_the_tool_is_passed_on() {
    let error = call(&zoo("refuses").await).await.unwrap_err();
    let expected = ToolError::new(ErrorCode::NotFound, "no such").hint("look");
    assert_eq!(error, PluginCallError::Failed(expected));
}

#[tokio::test]
async fn every_member_of_the_zoo_ends_as_it_must() {
    let mut ended = tokio::task::JoinSet::new();
    for member in ZOO {
        let loaded = load(&zoo_entry(), member.component("zoo")).await;
        ended.spawn(async move { check(member, loaded).await });
    }
    let offences: Vec<String> = ended.join_all().await.into_iter().flatten().collect();
    assert!(offences.is_empty(), "{}", offences.join("\n"));
    assert!(ZOO.len() >= 30, "{}", ZOO.len());
}

/// Returns what is wrong with how a member ends.
async fn check(member: &Member, loaded: Result<Plugin, LoadError>) -> Option<String> {
    let outcome = match loaded {
        Err(error) => Err((String::new(), error.to_string())),
        Ok(plugin) => call_first(&plugin).await.map_err(|error| {
            let error = plugin.tool_error(error);
            (error.code.to_string(), error.message)
        }),
    };
    let is_as_expected = match (&member.end, &outcome) {
        (End::Refused(part), Err((code, message))) => code.is_empty() && message.contains(part),
        (End::Fails(expected, part), Err((code, message))) => {
            code == expected && message.contains(part)
        }
        (End::Polite, Ok(())) => true,
        _ => false,
    };
    (!is_as_expected).then(|| format!("{}: {outcome:?}, not {:?}", member.name, member.end))
}

/// Calls a plugin's first tool without arguments.
async fn call_first(plugin: &Plugin) -> Result<(), PluginCallError> {
    let tool = plugin.specs()[0].name.clone();
    bounded(plugin.call(request(&tool))).await.map(drop)
}

#[tokio::test]
async fn the_deadline_of_the_call_ends_it_before_the_limit_of_the_plugin() {
    let plugin = zoo("spin").await;
    let request = moss_plugin_host::CallRequest {
        timeout: Some(Duration::from_millis(20)),
        ..request("act")
    };
    assert_eq!(bounded(plugin.call(request)).await.unwrap_err(), PluginCallError::Deadline);
}

#[tokio::test]
async fn a_plugin_can_be_called_again_after_a_failure() {
    let plugin = zoo("trap").await;
    for _ in 0..3 {
        assert!(matches!(call(&plugin).await, Err(PluginCallError::Crashed(_))));
    }
    call(&zoo("polite").await).await.unwrap();
}

#[tokio::test]
async fn what_is_logged_beyond_the_limit_is_dropped_and_that_is_said() {
    let (plugin, heard) = (zoo("chatter").await, Arc::new(Heard::default()));
    let request = moss_plugin_host::CallRequest { events: heard.clone(), ..request("act") };
    assert_eq!(bounded(plugin.call(request)).await.unwrap_err(), TIMEOUT);
    let log = heard.log.lock().unwrap();
    let bytes: usize = log.iter().map(|(_, message)| message.len()).sum();
    assert!(bytes <= 256 << 10, "{bytes}");
    assert_eq!(log[0], (LogLevel::Info, "zoo1actActDoes it.".to_owned()));
    assert_eq!(log.last().unwrap().1, "the plugin logs too much; the rest is dropped");
}

#[tokio::test]
async fn cancelling_stops_a_spinning_and_a_sleeping_guest() {
    for name in ["spin", "sleeper"] {
        let (plugin, cancelled) = (zoo(name).await, CancellationToken::new());
        let request =
            moss_plugin_host::CallRequest { cancelled: cancelled.clone(), ..request("act") };
        let (result, ()) = bounded(async {
            tokio::join!(plugin.call(request), async {
                tokio::task::yield_now().await;
                cancelled.cancel();
            })
        })
        .await;
        assert_eq!(result.unwrap_err(), PluginCallError::Cancelled, "{name}");
    }
}

/// An entry of a plugin that is ended by its test.
fn patient_entry() -> moss_plugin_list::PluginEntry {
    entry(json!({ "name": "zoo", "limits": { "timeout": "5m" } }))
}

#[tokio::test]
async fn a_cancelled_guest_gets_no_more_than_the_turn_that_it_has() {
    let plugin = load(&patient_entry(), fixture("spin")).await.unwrap();
    let cancelled = CancellationToken::new();
    let request = moss_plugin_host::CallRequest { cancelled: cancelled.clone(), ..request("act") };
    let mut running = std::pin::pin!(plugin.call(request));
    let mut turn =
        async || std::future::poll_fn(|cx| std::task::Poll::Ready(running.as_mut().poll(cx))).await;
    // It spins; the ticker takes the thread away from it, and gives it back to the runtime.
    assert!(turn().await.is_pending());
    assert!(turn().await.is_pending());
    cancelled.cancel();
    assert_eq!(turn().await, std::task::Poll::Ready(Err(PluginCallError::Cancelled)));
}

#[tokio::test]
async fn a_guest_that_calls_the_host_for_ever_leaves_turns_to_others() {
    for name in ["spin", "host_calls", "chatter"] {
        let plugin = load(&patient_entry(), fixture(name)).await.unwrap();
        let others = async {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            ended = plugin.call(request("act")) => panic!("{name}: {ended:?}"),
            () = others => {}
        }
    }
}

#[tokio::test]
async fn a_plugin_that_keeps_crashing_is_paused_and_says_so() {
    let plugin = zoo("trap").await;
    for _ in 0..3 {
        assert_eq!(plugin.paused(), None);
        assert!(matches!(call(&plugin).await, Err(PluginCallError::Crashed(_))));
    }
    assert!(plugin.paused().is_some_and(|paused| paused.reason.contains("unreachable")));
    let error = plugin.tool_error(call(&plugin).await.unwrap_err());
    assert_eq!(error.code, ErrorCode::PluginFailed);
    assert!(error.message.contains("paused for another 1s"), "{error}");
    // Another entry is another try.
    let again = plugin.with_entry(&zoo_entry()).unwrap();
    assert!(matches!(call(&again).await, Err(PluginCallError::Crashed(_))));
}

#[tokio::test]
async fn calls_above_the_limit_of_the_plugin_wait_and_more_are_refused() {
    let entry = entry(json!({ "name": "zoo", "limits": { "timeout": "300ms", "calls": 1 } }));
    let plugin = Arc::new(load(&entry, fixture("spin")).await.unwrap());
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let plugin = Arc::clone(&plugin);
        let timeout = Some(Duration::from_millis(400));
        let request = moss_plugin_host::CallRequest { timeout, ..request("act") };
        calls.spawn(async move { plugin.call(request).await.unwrap_err() });
    }
    let mut ended = bounded(calls.join_all()).await;
    let refused = PluginCallError::Limit(LimitReached::Calls(1));
    assert_eq!(ended.extract_if(.., |error| *error == refused).count(), 1);
    assert_eq!(ended.iter().filter(|error| **error == TIMEOUT).count(), 1);
    // The second had a slot for what was left of its time; the others had none.
    assert_eq!(ended.iter().filter(|error| **error == PluginCallError::Deadline).count(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_neighbours_do_not_harm_a_call() {
    let polite = Arc::new(zoo("polite").await);
    let mut hostile = tokio::task::JoinSet::new();
    for name in ["spin", "trap", "memory_hog", "sleeper", "table_hog", "recursion"] {
        let plugin = zoo(name).await;
        hostile.spawn(async move { call(&plugin).await.is_err() });
    }
    for _ in 0..100 {
        call(&polite).await.unwrap();
    }
    assert!(bounded(hostile.join_all()).await.into_iter().all(|failed| failed));
}

#[tokio::test]
async fn an_unknown_tool_is_refused() {
    let plugin = zoo("polite").await;
    let error = bounded(plugin.call(request("nope"))).await.unwrap_err();
    assert_eq!(error, PluginCallError::UnknownTool("nope".to_owned()));
}

#[tokio::test]
async fn more_calls_than_the_pool_holds_are_refused_as_busy() {
    let options = EngineOptions { calls_max: 1, warm_max: 0, ..EngineOptions::default() };
    let engine = Engine::new(options).unwrap();
    if !engine.is_pooled() {
        panic!("the tests need address space for a pool of one call");
    }
    let spin = bounded(Plugin::load(&engine, &zoo_entry(), fixture("spin"))).await.unwrap();
    let polite = bounded(Plugin::load(&engine, &zoo_entry(), fixture("polite"))).await.unwrap();
    let (first, second) = bounded(async { tokio::join!(call(&spin), call(&polite)) }).await;
    assert_eq!(first.unwrap_err(), TIMEOUT);
    assert_eq!(second.unwrap_err(), PluginCallError::Busy);
}

#[tokio::test]
async fn without_a_pool_calls_work_the_same() {
    let options = EngineOptions { allocation: Allocation::OnDemand, ..EngineOptions::default() };
    let engine = Engine::new(options).unwrap();
    assert!(!engine.is_pooled() && ENGINE.is_pooled());
    for (name, expected) in [("polite", None), ("memory_hog", Some(LimitReached::Memory(64 << 20)))]
    {
        let plugin = bounded(Plugin::load(&engine, &zoo_entry(), fixture(name))).await.unwrap();
        assert_eq!(call(&plugin).await.err(), expected.map(PluginCallError::Limit), "{name}");
    }
}

#[tokio::test]
async fn a_tool_that_declares_to_read_cannot_propose_edits() {
    let mut bytes = fixture("edits");
    let write: &[u8] = b"\xba\x04\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00";
    let at = bytes.windows(write.len()).position(|window| window == write).unwrap();
    bytes[at + 8] = 0;
    let plugin = load(&zoo_entry(), bytes).await.unwrap();
    let error = call(&plugin).await.unwrap_err();
    assert!(
        matches!(&error, PluginCallError::Result(why) if why.contains("only reads")),
        "{error}"
    );
}

#[tokio::test]
async fn a_guest_cannot_change_what_it_may_read() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.txt"), "as it was").unwrap();
    let grant = json!({ "fs": [{ "path": ".", "access": "read" }] });
    let entry = entry(json!({ "name": "zoo", "grant": grant }));
    let plugin = load(&entry, fixture("writer")).await.unwrap();
    let request = moss_plugin_host::CallRequest { services: disk(root.path()), ..request("act") };
    bounded(plugin.call(request)).await.unwrap();
    let names: Vec<_> =
        std::fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.txt"]);
    assert_eq!(std::fs::read_to_string(root.path().join("a.txt")).unwrap(), "as it was");
}
