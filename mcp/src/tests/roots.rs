//! Which project a connection is about.

use super::*;

#[tokio::test]
async fn native_tools_are_listed_while_no_workspace_can_be_opened_and_calls_say_why() {
    let backend = Arc::new(Recorded::new());
    let opener = Arc::new(ClosedOpener(Arc::clone(&backend), Mutex::new(false)));
    let options = McpOptions::new(ToolSet::All).unwrap();
    let mut client = Client::of(backend, Arc::clone(&opener) as _, options);
    client.send(&initialize("2025-06-18")).await;
    client.next().await;
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    assert_eq!(client.tool_names().await, ["echo"]);
    let called = client.request(json!(1), "tools/call", json!({ "name": "echo" })).await;
    assert_eq!(called["result"]["isError"], true, "{called}");
    let said = called["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(said, "workspace_unusable: no project is open");
    let params = json!({ "name": "moss_tool", "arguments": { "name": "echo" } });
    let prompt = client.request(json!(2), "prompts/get", params).await;
    assert!(prompt.get("error").is_none(), "{prompt}");
    *opener.1.lock().unwrap() = true;
    let params = json!({ "name": "fail" });
    client
        .send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params }))
        .await;
    // The list is another one now; what comes first is left open.
    let methods = [client.next().await, client.next().await].map(|seen| seen["method"].clone());
    assert!(methods.contains(&json!("notifications/tools/list_changed")), "{methods:?}");
    assert_eq!(client.tool_names().await, ["echo", "fail", "hang", "read_file"]);
}

/// A client that says that it has roots.
async fn with_roots() -> Client {
    let mut client = Client::new(ToolSet::All);
    let mut hello = initialize("2025-06-18");
    hello["params"]["capabilities"] = json!({ "roots": {} });
    client.send(&hello).await;
    client.next().await;
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client
}

#[tokio::test]
async fn the_roots_of_a_client_are_asked_for_once() {
    let mut client = with_roots().await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "roots/list");
    let roots = json!({ "roots": [{ "uri": "file:///a" }, { "uri": "file:///b", "name": "b" }] });
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots })).await;
    client.tool_names().await;
    client.tool_names().await;
    let seen = client.backend.roots.lock().unwrap().clone();
    assert_eq!(seen, [["file:///a".to_owned(), "file:///b".to_owned()]]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_names_its_roots_too_late_gets_no_other_directory() {
    let mut client = with_roots().await;
    let call = |id: u64| {
        let params = json!({ "name": "echo" });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    client.send(&call(1)).await;
    let refused = loop {
        let message = client.next().await;
        if message["method"] != "roots/list" {
            break message;
        }
    };
    let text = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("roots_missing: ") && text.contains("send the call again"), "{text}");
    client.send(&call(2)).await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "roots/list");
    let roots = json!({ "roots": [{ "uri": "file:///a" }] });
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots })).await;
    // That there are tools now may be announced before it.
    let called = loop {
        let message = client.next().await;
        if message["id"] == 2 && message.get("method").is_none() {
            break message;
        }
    };
    assert_eq!(called["result"]["structuredContent"], json!({}), "{called}");
    assert_eq!(*client.backend.roots.lock().unwrap(), [["file:///a".to_owned()]]);
}
