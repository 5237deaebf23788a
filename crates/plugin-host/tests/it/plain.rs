//! Components with ordinary functions: made for other hosts, run unchanged.

use moss_plugin_host::{
    CallRequest, LimitReached, LoadError, Plugin, PluginCallError, PluginOutcome,
};
use moss_sdk::{Effect, ErrorCode, ToolError};
use serde_json::{Value, json};

use crate::harness::{bounded, entry, fixture, load, request, zoo, zoo_entry};

async fn run(
    plugin: &Plugin,
    tool: &str,
    arguments: Value,
) -> Result<PluginOutcome, PluginCallError> {
    bounded(plugin.call(CallRequest { arguments, ..request(tool) })).await
}

async fn output(plugin: &Plugin, tool: &str, arguments: Value) -> Value {
    run(plugin, tool, arguments).await.unwrap().output
}

/// A value of each type of `plain_types`.
fn everything() -> Value {
    json!({
        "yes": true,
        "a": -128, "b": 255, "c": -32768, "d": 65535, "e": i32::MIN, "f": u32::MAX,
        "g": i64::MIN, "h": u64::MAX,
        "single": 0.1, "double": 1e300, "letter": "é", "text": "a \"b\"\n\u{1}",
        "bytes": [0, 127, 255], "words": ["", "one"],
        "color": "deep-green", "rights": ["read", "run"], "form": { "circle": 0.5 },
        "maybe": 7, "inner": { "deep": { "some": "x" } },
        "pair": [-1, "two"],
        "outcome": { "ok": 3 }, "bare": "ok", "half": { "error": "no" },
    })
}

#[tokio::test]
async fn a_component_made_for_another_host_is_a_plugin() {
    let plugin = load(&entry(json!({ "name": "my-web" })), fixture("plain_web")).await.unwrap();
    assert_eq!((plugin.name(), plugin.version()), ("my-web", "1.2.3"));
    assert_eq!(plugin.requests(), []);
    let [get_time, fetch] = plugin.specs() else { panic!("two tools") };
    assert_eq!((get_time.name.as_str(), get_time.effect), ("my_web_get_time", Effect::Read));
    assert_eq!(get_time.text.title, "Get time");
    assert_eq!(get_time.text.description, "Returns the time of day.\n\nHours and minutes.");
    assert_eq!(fetch.text.description, "Fetches a page.");
    assert_eq!(fetch.annotations.open_world, Some(false));
    assert_eq!(
        fetch.parameters,
        json!({
            "type": "object",
            "properties": { "url": { "type": "string" } },
            "required": ["url"],
            "additionalProperties": false,
        })
    );
    assert_eq!(fetch.output["properties"]["result"], json!({ "type": "string" }));

    assert_eq!(output(&plugin, "my_web_get_time", json!({})).await, json!({ "result": "12:30" }));
    let arguments = json!({ "url": "https://a.example/ü" });
    let fetched = output(&plugin, "my_web_fetch", arguments).await;
    assert_eq!(fetched, json!({ "result": "https://a.example/ü" }));
    let error = run(&plugin, "my_web_fetch", json!({ "url": "" })).await.unwrap_err();
    assert_eq!(error, PluginCallError::Failed(ToolError::new(ErrorCode::PluginFailed, "no url")));
}

#[tokio::test]
async fn values_of_every_type_go_in_and_come_out_the_same() {
    let plugin = zoo("plain_types").await;
    let mut other = everything();
    for (key, value) in [
        ("a", json!(127)),
        ("g", json!(i64::MAX)),
        ("h", json!(0)),
        ("form", json!("none")),
        ("maybe", json!(null)),
        ("inner", json!({ "deep": { "some": null } })),
        ("rights", json!([])),
        ("bytes", json!([])),
        ("outcome", json!({ "error": "" })),
        ("bare", json!("error")),
        ("half", json!("ok")),
    ] {
        other[key] = value;
    }
    for value in [everything(), other] {
        let same = output(&plugin, "zoo_same", json!({ "value": value })).await;
        assert_eq!(same, value);
    }
    let mut without = everything();
    without.as_object_mut().unwrap().shift_remove("maybe");
    without["inner"] = json!({});
    without["e"] = json!(3.0);
    let same = output(&plugin, "zoo_same", json!({ "value": without })).await;
    assert_eq!((&same["maybe"], &same["e"]), (&json!(null), &json!(3)));
    assert_eq!(same["inner"], json!({ "deep": null }));
}

#[tokio::test]
async fn an_argument_that_does_not_fit_is_named_by_its_location() {
    let plugin = zoo("plain_types").await;
    for (key, value, expected) in [
        ("b", json!(256), "at `/value/b`: expected an integer from 0 to 255"),
        ("h", json!(-1), "at `/value/h`: expected an integer from 0 to 18446744073709551615"),
        ("e", json!(1.5), "at `/value/e`: expected an integer from"),
        ("single", json!(1e300), "at `/value/single`: expected a number that 32 bits can hold"),
        ("letter", json!("ab"), "at `/value/letter`: expected a string of one character"),
        ("words", json!(["a", 1]), "at `/value/words/1`: expected a string"),
        ("color", json!("blue"), "at `/value/color`: expected one of red, deep-green"),
        ("rights", json!(["run", "run"]), "at `/value/rights/1`: expected each name once"),
        ("form", json!({ "none": 1 }), "expected one of \"none\", {\"circle\": …}"),
        ("pair", json!([1]), "at `/value/pair`: expected an array of 2 items"),
        ("inner", json!({ "deep": "x" }), "at `/value/inner/deep`: expected null or {\"some\""),
        ("inner", json!({ "a/b": 1 }), "at `/value/inner/a~1b`: expected no such key"),
    ] {
        let mut arguments = json!({ "value": everything() });
        arguments["value"][key] = value;
        let error = plugin.tool_error(run(&plugin, "zoo_same", arguments).await.unwrap_err());
        assert_eq!(error.code, ErrorCode::InvalidArguments, "{key}");
        assert!(error.message.contains(expected), "{key}: {error}");
    }
}

#[tokio::test]
async fn documented_types_have_their_texts_in_the_schema() {
    let plugin = zoo("plain_types").await;
    let same = plugin.specs().iter().find(|spec| spec.name == "zoo_same").unwrap();
    let value = &same.parameters["properties"]["value"];
    assert_eq!(value["description"], "One of each.");
    assert_eq!(value["properties"]["letter"]["description"], "One letter.");
    assert_eq!(value["properties"]["color"]["description"], "A colour.\n* `red`: As blood.");
    assert_eq!(value["properties"]["h"]["maximum"], json!(u64::MAX));
    let missing: Vec<_> = ["maybe", "inner"]
        .into_iter()
        .filter(|key| !value["required"].as_array().unwrap().contains(&json!(key)))
        .collect();
    assert_eq!(missing, ["maybe"]);
    assert!(
        same.text.description.starts_with("Calls `same: func(value: record { yes: bool, a: s8")
    );
    assert!(same.text.description.ends_with("of the component. It came without documentation."));
}

#[tokio::test]
async fn what_a_function_returns_is_its_output_or_its_error() {
    let plugin = zoo("plain_types").await;
    assert_eq!(output(&plugin, "zoo_nothing", json!({})).await, json!({ "result": null }));
    assert_eq!(
        output(&plugin, "zoo_check", json!({ "ok": true })).await,
        json!({ "result": null })
    );
    for (tool, arguments, expected) in [
        ("zoo_check", json!({ "ok": false }), "the function failed without a reason"),
        ("zoo_refuse", json!({}), r#"{"busy":7}"#),
        ("zoo_nan", json!({}), "the output at `/` is NaN, which JSON cannot hold"),
    ] {
        let error = run(&plugin, tool, arguments).await.unwrap_err();
        let expected = ToolError::new(ErrorCode::PluginFailed, expected);
        assert_eq!(error, PluginCallError::Failed(expected), "{tool}");
    }
}

#[tokio::test]
async fn an_output_beyond_the_limit_ends_the_call() {
    for (limit, bytes) in [("100KiB", 100 << 10), ("500KiB", 500 << 10)] {
        let entry = entry(json!({ "name": "zoo", "limits": { "output": limit } }));
        let plugin = load(&entry, fixture("plain_types")).await.unwrap();
        let error = run(&plugin, "zoo_flood", json!({})).await.unwrap_err();
        assert_eq!(error, PluginCallError::Limit(LimitReached::Output(bytes)));
    }
    let plugin = zoo("plain_types").await;
    let flooded = output(&plugin, "zoo_flood", json!({})).await;
    assert_eq!(flooded["result"].as_array().unwrap().len(), 300_000);
}

#[tokio::test]
async fn functions_of_interfaces_are_tools_and_the_rest_is_left_out_with_the_reason() {
    let plugin = zoo("plain_interfaces").await;
    assert_eq!(plugin.version(), "0.0.0");
    let mut tools: Vec<_> = plugin
        .specs()
        .iter()
        .map(|spec| (spec.name.as_str(), spec.text.description.as_str()))
        .collect();
    tools.sort_unstable();
    assert_eq!(
        tools,
        [
            ("zoo_first_steps_run", "Runs first."),
            ("zoo_second_run", "Runs second."),
            (
                "zoo_stop_all_now",
                "Calls `stop-ALL-now: func()` of local:one/first-steps@1.0.0. It came without \
                 documentation."
            ),
        ]
    );
    let mut left_out = plugin.left_out().to_vec();
    left_out.sort_unstable();
    assert_eq!(
        left_out,
        [
            "`[method]thing.clean`: it belongs to a resource, which no call can hold",
            "`look`: its `it` has a resource, which JSON cannot hold",
            "`wasi:cli/run@0.2.0`: an interface of WASI is for the host that it is made for",
        ]
    );
    assert_eq!(output(&plugin, "zoo_second_run", json!({})).await, json!({ "result": null }));
}

#[tokio::test]
async fn a_component_without_a_function_that_can_be_a_tool_is_refused() {
    for (name, expected) in [
        ("no_plugin", "and it exports no functions at all"),
        ("plain_resources", "none of its functions can be a tool: "),
        ("plain_resources", "`look`: its `it` has a resource, which JSON cannot hold"),
        (
            "plain_collision",
            "`local:one/same#run` and `local:two/same#run` would both be the tool `zoo_same_run`",
        ),
    ] {
        let error = load(&zoo_entry(), fixture(name)).await.unwrap_err();
        let LoadError::Export(why) = &error else { panic!("{name}: {error:?}") };
        assert!(why.contains(expected), "{name}: {why}");
    }
}

/// A component with so many functions that do nothing.
fn with_functions(names: impl Iterator<Item = String>) -> Vec<u8> {
    let exports = names.map(|name| format!("(export \"{name}\" (func $f))")).collect::<String>();
    wat::parse_str(format!(
        "(component (core module $m (func (export \"f\"))) (core instance $i (instantiate $m))
         (func $f (canon lift (core func $i \"f\"))) {exports})"
    ))
    .unwrap()
}

#[tokio::test]
async fn exports_beyond_what_is_served_are_refused_or_left_out() {
    let many = with_functions((0..500).map(|index| format!("f{index}")));
    let error = load(&zoo_entry(), many).await.unwrap_err().to_string();
    assert_eq!(error, "it exports 500 functions; at most 64 are tools");
    let more = with_functions((0..5000).map(|index| format!("f{index}")));
    let error = load(&zoo_entry(), more).await.unwrap_err().to_string();
    assert_eq!(error, "it has more than 4096 exports");
    let long = with_functions(["short".to_owned(), "l".repeat(64)].into_iter());
    let plugin = load(&zoo_entry(), long).await.unwrap();
    assert_eq!(plugin.specs().len(), 1);
    assert!(plugin.left_out()[0].contains("which is not a name of a tool"));
}

#[tokio::test]
async fn functions_that_do_harm_end_like_those_of_any_plugin() {
    for (tool, code, expected) in [
        ("zoo_spin", ErrorCode::Timeout, "ran longer than 300ms"),
        ("zoo_trap", ErrorCode::PluginFailed, "unreachable"),
        ("zoo_garbage", ErrorCode::PluginFailed, "utf-8"),
        ("zoo_outside", ErrorCode::PluginFailed, "out of bounds"),
        ("zoo_letter", ErrorCode::PluginFailed, "crashed"),
    ] {
        // One that keeps failing would be paused.
        let plugin = zoo("plain_hostile").await;
        let error = plugin.tool_error(run(&plugin, tool, json!({})).await.unwrap_err());
        assert_eq!(error.code, code, "{tool}: {error}");
        assert!(error.message.contains(expected), "{tool}: {error}");
    }
}
