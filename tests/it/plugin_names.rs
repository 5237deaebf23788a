//! Names that a list gives to tools of plugins, so that two that collide can both be used.

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::guests::{install, zoo, zoo_named};
use crate::harness::{Client, Site, call, output, until};
use crate::plugins::settled;

/// The plugin `two`, whose tool is called `act` like that of the plugin `zoo`.
fn clash() -> Vec<u8> {
    let mut bytes = zoo_named("polite", "two");
    let at = bytes.windows(7).position(|bytes| bytes == b"two1two").unwrap();
    bytes[at + 4..at + 7].copy_from_slice(b"act");
    bytes
}

fn list(site: &Site, tools: &Value) {
    install(
        site,
        &[("zoo", &zoo("polite"), json!({})), ("two", &clash(), json!({ "tools": tools }))],
    );
}

async fn second(client: &Client, is_meant: impl Fn(&v1::Plugin) -> bool) -> v1::Plugin {
    let mut found = None;
    until("the plugin is as it is listed", async || {
        found = client.plugin_list().await.into_iter().find(|plugin| plugin.name == "two");
        found.as_ref().is_some_and(&is_meant)
    })
    .await;
    found.unwrap()
}

#[tokio::test]
async fn two_plugins_with_one_name_for_a_tool_can_both_be_used() {
    let site = Site::new();
    list(&site, &json!({}));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let taken = &settled(&client).await[1];
    let remedy = "is used by plugin `zoo`; its list gives it another name with \
                  \"tools\": {\"act\": \"OTHER\"}";
    assert!(taken.error.contains(remedy), "{}", taken.error);

    list(&site, &json!({ "act": "play" }));
    let renamed = second(&client, |plugin| plugin.state() == v1::PluginState::Ready).await;
    assert_eq!(
        (&renamed.tools[..], &renamed.own_tool_names["play"]),
        (&["play".to_owned()][..], &"act".to_owned())
    );
    for name in ["act", "play"] {
        output(&client.call(call(name, json!({}))).await.unwrap());
    }
    // The names of policies are those of the list.
    site.user_policy("version = 1\n[[rule]]\ntools = [\"play\"]\ndecision = \"deny\"\n");
    until("the rule is about the name of the list", async || {
        let refused = client.call(call("play", json!({}))).await;
        refused.is_err_and(|status| status.code() == tonic::Code::PermissionDenied)
    })
    .await;
    output(&client.call(call("act", json!({}))).await.unwrap());

    // A name that is not free is not given, and the old one stays.
    list(&site, &json!({ "act": "read_file" }));
    let kept = second(&client, |plugin| !plugin.notice.is_empty()).await;
    assert!(kept.notice.contains("`read_file` is used by a built-in tool"), "{}", kept.notice);
    assert_eq!(kept.tools, ["play"]);
    list(&site, &json!({ "acts": "x" }));
    let kept = second(&client, |plugin| plugin.notice.contains("acts")).await;
    let told = "`tools` of the entry in line 1 of its list: it has no tool `acts` to be renamed; \
                it has: act";
    assert!(kept.notice.contains(told), "{}", kept.notice);
    list(&site, &json!({ "act": "third" }));
    let other = second(&client, |plugin| plugin.tools == ["third"]).await;
    assert_eq!(other.notice, "");
    let gone = client.call(call("play", json!({}))).await.unwrap_err();
    assert_eq!(gone.code(), tonic::Code::NotFound);
}

#[test]
fn a_plugin_is_added_with_other_names_and_keeps_them_when_it_is_replaced() {
    let site = Site::new();
    install(&site, &[("zoo", &zoo("polite"), json!({}))]);
    let file = site.write("two.wasm", clash());
    let add = ["plugin", "add", file.to_str().unwrap(), "--yes"];
    let refused = site.run(&add);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("--rename OWN=OTHER"), "{refused:?}");
    for (rename, told) in [
        (&["--rename", "act"][..], "expected OWN=NAME"),
        (&["--rename", "act=a", "--rename", "act=b"], "gives a tool two names"),
        (&["--rename", "act=a b"], "`a b` cannot name a tool"),
        (&["--rename", "acts=a"], "it has no tool `acts` to be renamed; it has: act"),
    ] {
        let refused = site.run(&[&add[..], rename].concat());
        assert!(refused.stderr.contains(told), "{told}: {refused:?}");
    }
    let added = site.run(&[&add[..], &["--rename", "act=play"]].concat());
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(added.stderr.contains("play [write, `act` in the plugin]"), "{added:?}");
    let called = site.run(&["call", "play", "--json"]);
    assert_eq!(called.code, Some(0), "{called:?}");
    let shown = site.run(&["plugin", "show", "two"]).stdout;
    assert!(shown.contains("`act` in the plugin") && shown.contains("play("), "{shown}");
    let shown = site.run(&["plugin", "show", "two", "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["plugins"][0]["own_tool_names"], json!({ "play": "act" }));

    let replaced = site.run(&[&add[..], &["--replace"]].concat());
    assert_eq!(replaced.code, Some(0), "{replaced:?}");
    let text = std::fs::read_to_string(site.outside("config/moss/moss-tools.json")).unwrap();
    assert!(text.contains("\"act\": \"play\""), "{text}");
}

/// Names under which policy and journal know what is no tool, in the cases that a reader may miss.
const OPERATIONS: &[&str] = &[
    "undo",
    "Undo",
    "undo_user_prompt",
    "history",
    "HISTORY",
    "add_plugin",
    "Accept_Plugin",
    "remove_plugin",
    "trust_plugin_list",
    "untrust_plugin_list",
];

#[test]
fn no_tool_of_a_plugin_has_the_name_of_an_operation_or_of_another_tool_in_any_case() {
    let site = Site::new();
    let file = site.write("zoo.wasm", zoo("polite"));
    let add = ["plugin", "add", file.to_str().unwrap(), "--yes"];
    for name in OPERATIONS {
        let refused = site.run(&[&add[..], &["--rename", &format!("act={name}")]].concat());
        assert_eq!(refused.code, Some(1), "{name}: {refused:?}");
        let told = format!("the tool name `{name}` is used by an operation of moss");
        assert!(refused.stderr.contains(&told), "{name}: {refused:?}");
    }
    for (name, spelt) in
        [("Read_File", "read_file"), ("EDITTOOL", "editTool"), ("read-file", "read_file")]
    {
        let refused = site.run(&[&add[..], &["--rename", &format!("act={name}")]].concat());
        assert_eq!(refused.code, Some(1), "{name}: {refused:?}");
        let told = format!("`{name}` is used by a built-in tool, as `{spelt}`");
        assert!(refused.stderr.contains(&told), "{name}: {refused:?}");
    }
}

#[tokio::test]
async fn a_rule_for_an_operation_covers_no_tool_that_a_list_gives_its_name() {
    let site = Site::new();
    site.user_policy("version = 1\n[[rule]]\ntools = [\"undo\"]\ndecision = \"allow\"\n");
    for name in ["undo", "UNDO", "history", "read_File"] {
        install(&site, &[("zoo", &zoo("polite"), json!({ "tools": { "act": name } }))]);
        let daemon = site.serve();
        let client = daemon.caller().await;
        let plugin = &settled(&client).await[0];
        assert_eq!(plugin.state(), v1::PluginState::Failed, "{name}");
        assert!(plugin.error.contains(&format!("`{name}` is used by")), "{}", plugin.error);
        let status = client.call(call(name, json!({}))).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::NotFound, "{name}");
    }
}
