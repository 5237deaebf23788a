//! Calls of tools: what goes to the daemon, what comes back, progress and cancelling.

use super::*;

#[tokio::test]
async fn a_result_is_structured_and_the_same_as_text() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let params = json!({ "name": "echo", "arguments": { "b": [1, 2.5, null], "a": "ü" } });
    let called = client.request(json!(7), "tools/call", params).await;
    let result = &called["result"];
    assert_eq!(result["structuredContent"], json!({ "b": [1, 2.5, null], "a": "ü" }));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    assert_eq!(result["_meta"]["moss/call"]["id"], "c1");
    assert!(result.get("resultType").is_none(), "{result}");
}

#[tokio::test]
async fn a_failed_tool_is_a_result_that_says_what_to_do() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let called = client.request(json!(1), "tools/call", json!({ "name": "fail" })).await;
    let result = &called["result"];
    assert_eq!(result["isError"], true);
    assert_eq!(
        result["content"][0]["text"],
        "not_found: there is no a.txt\nhint: list_directory shows what there is"
    );
    assert_eq!(result["_meta"]["moss/call"]["error"]["code"], "not_found");
    let unknown = client.request(json!(2), "tools/call", json!({ "name": "nope" })).await;
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("there is no tool `nope`"));
}

#[tokio::test]
async fn a_name_that_no_tool_has_is_an_error_that_says_where_the_names_are() {
    let named = ToolSet::Named { name: "mine".into(), tools: vec!["read_file".into()] };
    for (set, tool, hint) in [
        (ToolSet::Default, "nope", "find_tools without arguments the others"),
        (ToolSet::All, "nope", "the tools that there are here"),
        (named, "echo", "the tools that there are here"),
    ] {
        let mut client = Client::initialized(set, "2025-06-18").await;
        let unknown = client.request(json!(1), "tools/call", json!({ "name": tool })).await;
        let message = unknown["error"]["message"].as_str().unwrap();
        assert!(message.contains("\nhint: tools/list has") && message.contains(hint), "{message}");
    }
}

#[tokio::test]
async fn progress_is_sent_to_who_asks_for_it_and_only_grows() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let params = json!({ "name": "echo", "_meta": { "progressToken": "p" } });
    client
        .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
        .await;
    let mut seen = Vec::new();
    loop {
        let message = client.next().await;
        if message["id"] == 1 {
            break;
        }
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "p");
        seen.push((
            message["params"]["progress"].as_f64().unwrap(),
            message["params"]["message"].clone(),
        ));
    }
    assert_eq!(seen, [(1.0, json!("step 1")), (2.0, json!("step 2"))]);
    client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "echo" } })).await;
    assert_eq!(client.next().await["id"], 2, "nobody asked for progress");
}

#[tokio::test]
async fn a_cancelled_call_ends_and_frees_its_id() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let (sender, dropped) = oneshot::channel();
    *client.backend.hung.lock().unwrap() = Some(sender);
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "hang" } })).await;
    // It has begun once a second request with its id is refused.
    let refused = client.request(json!(5), "ping", json!({})).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("still runs"), "{refused}");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5, "reason": "no" } })).await;
    tokio::time::timeout(WAIT_MAX, dropped).await.unwrap().unwrap();
    let again = client.request(json!(5), "ping", json!({})).await;
    assert_eq!(again["result"], json!({}));
}

#[tokio::test]
async fn a_client_that_vanishes_cancels_its_calls() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let (sender, dropped) = oneshot::channel();
    *client.backend.hung.lock().unwrap() = Some(sender);
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "hang" } })).await;
    drop(client.input.take());
    tokio::time::timeout(WAIT_MAX, dropped).await.unwrap().unwrap();
    tokio::time::timeout(WAIT_MAX, client.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn arguments_reach_the_daemon_as_they_came() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    for text in [r#"{"a":1,"a":2}"#, r#"{ "n" : 1.0e2 , "b":9007199254740993 }"#, "[1]", r#""x""#] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"arguments":{text},"name":"fail"}}}}"#
        );
        client.line(line.as_bytes()).await;
        client.next().await;
        assert_eq!(client.uses().last().unwrap().1, text);
    }
    for none in [r#"{"name":"fail","arguments":null}"#, r#"{"name":"fail"}"#] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{none}}}"#);
        client.line(line.as_bytes()).await;
        client.next().await;
        assert_eq!(client.uses().last().unwrap().1, "{}");
    }
}

#[tokio::test]
async fn large_arguments_are_taken_and_larger_lines_refused() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let large = "x".repeat(10 << 20);
    let params = json!({ "name": "fail", "arguments": { "a": large } });
    let called = client.request(json!(1), "tools/call", params).await;
    assert_eq!(called["result"]["isError"], true);
    assert_eq!(client.uses()[0].1.len(), large.len() + r#"{"a":""}"#.len());
    client.line(&vec![b'x'; LINE_BYTES_MAX + 1]).await;
    let refused = client.next().await;
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &Value::Null));
    // Who waits for the response to a request hears of it, wherever its id is.
    let large = "x".repeat(LINE_BYTES_MAX);
    let params = format!(r#""method":"tools/call","params":{{"a":"{large}"}}"#);
    for line in [
        format!(r#"{{"jsonrpc":"2.0","id":"a",{params}}}"#),
        format!(r#"{{{params},"jsonrpc":"2.0","id":"a"}}"#),
    ] {
        client.line(line.as_bytes()).await;
        let refused = client.next().await;
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!("a")));
    }
    assert_eq!(client.request(json!(2), "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn so_many_requests_run_at_once_and_no_more() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    for id in 0..crate::in_flight::REQUESTS_MAX {
        let params = json!({ "name": "hang" });
        client
            .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
            .await;
    }
    let refused = client.request(json!("one more"), "ping", json!({})).await;
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("requests run already"),
        "{refused}"
    );
}
