//! What a result shows beside its output: an image that `read_file` finds, and all that a plugin shows, on
//! every front.

use moss_proto::v1::{self, content_part::Part};
use serde_json::{Value, json};

use crate::harness::{Client, Site, call, failure, output};
use crate::mcp::client::{McpClient, text};
use crate::plugin_services::{install_probe, probed};

/// An image of one pixel.
const PNG: &[u8] =
    b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\
    \x00\x00\x1f\x15\xc4\x89\x00\x00\x00\x0dIDATx\xdacd\xf8\xcfP\x0f\x00\x03\x86\x01\x80Z4}k\
    \x00\x00\x00\x00IEND\xaeB`\x82";
/// The same, as text.
const PNG_BASE64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\
                          +M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn site() -> Site {
    let site = Site::new();
    site.write("dot.png", PNG);
    site.write("no.png", b"\x89PNG\0\0");
    site
}

fn parts(result: v1::CallResult) -> Vec<Part> {
    result.content.into_iter().map(|part| part.part.unwrap()).collect()
}

fn png() -> Part {
    let (media_type, data) = ("image/png".to_owned(), PNG.to_vec());
    Part::Image(v1::ContentImage { media_type, width: 1, height: 1, data })
}

#[tokio::test]
async fn an_image_is_read_over_grpc() {
    let site = site();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let read = |path: &str| call("read_file", json!({ "path": path }));
    let result = caller.call(read("dot.png")).await.unwrap();
    assert_eq!(output(&result)["media_type"], "image/png");
    assert_eq!(parts(result), [png()]);
    let refused = caller.call(read("no.png")).await.unwrap();
    assert_eq!(failure(&refused).code, "binary");
    assert_eq!(parts(refused), []);
    daemon.stop();
}

#[test]
fn an_image_is_shown_on_the_command_line() {
    let site = site();
    let shown = site.run(&["call", "read_file", "path=dot.png"]);
    let output: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(output["media_type"], "image/png", "{shown:?}");
    assert!(shown.stderr.contains("shows an image: image/png, 1 × 1, "), "{shown:?}");
    let printed = site.run(&["call", "read_file", "path=dot.png", "--json"]);
    let report: Value = serde_json::from_str(&printed.stdout).unwrap();
    let image = json!({
        "kind": "image", "media_type": "image/png", "width": 1, "height": 1, "data": PNG_BASE64,
    });
    assert_eq!(report["content"], json!([image]), "{printed:?}");
}

#[test]
fn an_image_is_a_block_of_content_and_a_resource_in_clients() {
    let site = site();
    let mut client = McpClient::connect(&site, &[]);
    let result = client.call("read_file", json!({ "path": "dot.png" }));
    let block = json!({ "type": "image", "data": PNG_BASE64, "mimeType": "image/png" });
    assert_eq!(result["content"][1], block, "{result}");
    assert_eq!(result["structuredContent"]["media_type"], "image/png", "{result}");
    let uri = "moss://files/dot.png";
    let read = client.request("resources/read", json!({ "uri": uri }));
    let contents = json!([{ "uri": uri, "mimeType": "image/png", "blob": PNG_BASE64 }]);
    assert_eq!(read["result"]["contents"], contents, "{read}");
    assert_eq!(client.close().code(), Some(0));
}

/// Steps that show one thing of each kind.
fn each_kind() -> Value {
    json!([
        { "do": "show", "kind": "text", "text": "a text" },
        { "do": "show", "kind": "json", "value": { "n": 1 } },
        { "do": "show", "kind": "image", "image": PNG },
        { "do": "show", "kind": "link", "uri": "https://a.example/", "name": "a page" },
    ])
}

async fn shown(caller: &Client, steps: Value) -> v1::CallResult {
    caller.call(call("probe", json!({ "steps": steps, "fail": true }))).await.unwrap()
}

#[tokio::test]
async fn a_plugin_shows_every_kind_in_its_order() {
    let site = Site::new();
    let (daemon, caller) = probed(&site, json!({})).await;
    let link = v1::ContentLink { uri: "https://a.example/".into(), name: "a page".into() };
    let all =
        [Part::Text("a text".into()), Part::Json("{\"n\":1}".into()), png(), Part::Link(link)];
    assert_eq!(parts(shown(&caller, each_kind()).await), all);
    // The next call begins with nothing.
    assert_eq!(parts(shown(&caller, json!([])).await), []);
    daemon.stop();
}

#[tokio::test]
async fn a_plugin_that_fails_shows_nothing() {
    let site = Site::new();
    let (daemon, caller) = probed(&site, json!({})).await;
    let steps = json!([{ "do": "show", "kind": "text", "text": "a" }, { "do": "nothing" }]);
    let result = shown(&caller, steps).await;
    assert_eq!(failure(&result).code, "invalid_arguments");
    assert_eq!(parts(result), []);
    daemon.stop();
}

#[tokio::test]
async fn what_cannot_be_shown_is_the_plugin_s_to_correct() {
    let site = Site::new();
    let (daemon, caller) = probed(&site, json!({})).await;
    let link =
        |uri: &str, name: &str| json!({ "do": "show", "kind": "link", "uri": uri, "name": name });
    for (step, code, part) in [
        (json!({ "do": "show", "image": [1, 2, 3] }), "invalid_arguments", "PNG, JPEG, GIF"),
        (link("javascript:alert(1)", "a page"), "invalid_arguments", "address"),
        (link("https://a.example/", "a\u{202e}b"), "invalid_arguments", "U+202E"),
        (json!({ "do": "show", "kind": "text", "text": "x".repeat(1 << 20) }), "too_large", "1MiB"),
    ] {
        // Together they are more than `limits.output`.
        let first = json!({ "do": "show", "kind": "text", "text": "x" });
        let result = shown(&caller, json!([first, step])).await;
        let failure = failure(&result);
        assert_eq!(failure.code, code, "{failure:?}");
        assert!(failure.message.contains(part), "{failure:?}");
    }
    let many = vec![json!({ "do": "show", "kind": "text", "text": "x" }); 17];
    let result = shown(&caller, json!(many)).await;
    let failure = failure(&result);
    assert_eq!(failure.code, "limit_exceeded", "{failure:?}");
    assert!(failure.message.contains("at most 16 parts"), "{failure:?}");
    daemon.stop();
}

#[tokio::test]
async fn what_a_called_tool_shows_is_not_what_the_plugin_shows() {
    let site = site();
    let (daemon, caller) = probed(&site, json!({ "tools": ["read_file"] })).await;
    let steps = json!([{ "do": "call", "tool": "read_file", "arguments": { "path": "dot.png" } }]);
    let result = shown(&caller, steps).await;
    assert_eq!(output(&result)["result"][0]["media_type"], "image/png");
    assert_eq!(parts(result), []);
    daemon.stop();
}

#[test]
fn what_a_plugin_shows_reaches_clients_as_their_revision_has_it() {
    let site = Site::new();
    install_probe(&site, json!({}), json!({}));
    let image = json!({ "type": "image", "data": PNG_BASE64, "mimeType": "image/png" });
    for (revision, link) in [
        ("2025-03-26", json!({ "type": "text", "text": "a page: https://a.example/" })),
        (
            "2025-06-18",
            json!({ "type": "resource_link", "uri": "https://a.example/", "name": "a page" }),
        ),
    ] {
        let mut client = McpClient::start(&site, &["--set", "all"]);
        client.initialize(revision, json!({}));
        let result = client.call("probe", json!({ "steps": each_kind(), "fail": true }));
        assert_eq!(text(&result), "{\"result\":[null,null,null,null]}", "{result}");
        let beside = json!([
            { "type": "text", "text": "a text" },
            { "type": "text", "text": "{\"n\":1}" },
            image,
            link,
        ]);
        assert_eq!(json!(result["content"].as_array().unwrap()[1..]), beside, "{result}");
        assert_eq!(client.close().code(), Some(0));
    }
}

#[test]
fn what_a_plugin_shows_is_told_on_the_command_line() {
    let site = Site::new();
    install_probe(&site, json!({}), json!({}));
    let arguments = json!({ "steps": each_kind() }).to_string();
    let shown = site.run(&["call", "probe", "--args", &arguments]);
    let output: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(output["result"], json!([null, null, null, null]), "{shown:?}");
    for line in ["a text", "\"n\": 1", "image/png, 1 × 1", "a page: https://a.example/"] {
        assert!(shown.stderr.contains(line), "{line}: {shown:?}");
    }
}
