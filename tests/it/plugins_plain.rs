//! Components with ordinary functions in the real daemon: listed, shown and called as they are.

use serde_json::{Value, json};

use crate::harness::guests::{install, zoo};
use crate::harness::{Site, until};
use crate::plugins::settled;

#[tokio::test]
async fn a_component_made_for_another_host_is_listed_and_called_unchanged() {
    let site = Site::new();
    install(
        &site,
        &[("web", &zoo("plain_web"), json!({})), ("steps", &zoo("plain_interfaces"), json!({}))],
    );
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let plugins = settled(&caller).await;
    let errors: Vec<_> = plugins.iter().map(|plugin| plugin.error.as_str()).collect();
    assert_eq!(errors, ["", ""]);
    until("what is no tool is logged", async || {
        daemon.log().contains("`look`: its `it` has a resource")
    })
    .await;

    let parsed = |arguments: &[&str]| -> (Option<i32>, Value) {
        let ended = site.run(arguments);
        let json = serde_json::from_str(&ended.stdout);
        (ended.code, json.unwrap_or_else(|error| panic!("{error}: {ended:?}")))
    };
    let (_, shown) = parsed(&["plugin", "show", "steps", "--json"]);
    let left_out = shown["plugins"][0]["left_out"].to_string();
    assert!(left_out.contains("`look`: its `it` has a resource"), "{shown}");
    let shown = site.run(&["plugin", "show", "steps"]).stdout;
    for told in ["functions that are not tools:\n", "\n  `look`: its `it` has a resource"] {
        assert!(shown.contains(told), "{shown}");
    }
    let file = site.write("steps.wasm", zoo("plain_interfaces"));
    let (_, checked) = parsed(&["plugin", "check", file.to_str().unwrap(), "--json"]);
    let findings = checked["findings"].as_array().unwrap();
    let is_meant = |finding: &&Value| finding["message"].to_string().contains("`look`: its `it`");
    let finding = findings.iter().find(is_meant).unwrap();
    assert_eq!(finding["code"], "function-left-out");
    assert_eq!(finding["severity"], "warning");

    let (_, tools) = parsed(&["tools", "--json"]);
    let tool = |name: &str| tools.as_array().unwrap().iter().find(|tool| tool["name"] == name);
    let fetch = tool("web_fetch").unwrap();
    assert_eq!(fetch["description"], "Fetches a page.");
    assert_eq!((&fetch["effect"], &fetch["plugin"]), (&json!("read"), &json!("web")));
    assert!(tool("steps_second_run").is_some() && tool("steps_run").is_none());

    let (code, report) = parsed(&["call", "web_fetch", "url=https://a.example", "--json"]);
    assert_eq!((code, &report["output"]), (Some(0), &json!({ "result": "https://a.example" })));
    let (code, report) = parsed(&["call", "web_fetch", "url=", "--json"]);
    assert_eq!((code, &report["error"]["message"]), (Some(1), &json!("no url")));
    let (code, report) = parsed(&["call", "web_fetch", "url=a", "depth=2", "--json"]);
    assert_eq!((code, &report["error"]["code"]), (Some(2), &json!("arguments_invalid")));
    let (code, report) = parsed(&["call", "web_get_time", "--json"]);
    assert_eq!((code, &report["output"]), (Some(0), &json!({ "result": "12:30" })));
}
