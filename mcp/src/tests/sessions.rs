//! How a session begins, with which revision, and requests without one.

use super::*;

#[tokio::test]
async fn every_revision_with_a_session_is_answered_with_itself() {
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::initialized(ToolSet::All, revision).await;
        let names = client.tool_names().await;
        assert_eq!(names, ["echo", "fail", "hang", "read_file"], "{revision}");
    }
}

#[tokio::test]
async fn revisions_of_past_and_future_are_answered_with_the_newest_that_has_sessions() {
    for revision in ["2024-11-05", "2031-01-01", "2026-07-28", "x"] {
        let mut client = Client::new(ToolSet::All);
        client.send(&initialize(revision)).await;
        assert_eq!(client.next().await["result"]["protocolVersion"], "2025-11-25", "{revision}");
    }
}

#[tokio::test]
async fn requests_without_a_session_name_their_revision_themselves() {
    let mut client = Client::new(ToolSet::All);
    let discovered = client.request(json!(1), "server/discover", stateless(json!({}))).await;
    let versions = &discovered["result"]["supportedVersions"];
    let expected = json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(*versions, expected, "{discovered}");
    let listed = client.request(json!(2), "tools/list", stateless(json!({}))).await;
    let result = &listed["result"];
    assert_eq!(result["tools"].as_array().unwrap().len(), 4);
    assert_eq!((&result["resultType"], &result["ttlMs"]), (&json!("complete"), &json!(60_000)));
    let call = stateless(json!({ "name": "echo", "arguments": { "a": 1 } }));
    let called = client.request(json!(3), "tools/call", call).await;
    assert_eq!(called["result"]["structuredContent"], json!({ "a": 1 }), "{called}");
    let mut future = stateless(json!({}));
    future["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let refused = client.request(json!(4), "tools/list", future).await;
    assert_eq!(refused["error"]["code"], -32022, "{refused}");
}

#[tokio::test]
async fn what_the_newest_revision_has_no_more_is_told_with_what_it_has() {
    let mut client = Client::new(ToolSet::All);
    // Before anything else a ping is only a probe.
    client.request(json!(0), "tools/list", stateless(json!({}))).await;
    for method in ["ping", "resources/subscribe", "no/such"] {
        let params = stateless(json!({ "uri": "moss://files/a" }));
        let refused = client.request(json!(1), method, params).await;
        assert_eq!(refused["error"]["code"], -32601, "{method}: {refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        let expected =
            format!("there is no method `{method}` here: this server has server/discover,");
        assert!(message.starts_with(&expected), "{message}");
        assert!(!message.contains("initialize"), "{message}");
    }
}

#[tokio::test]
async fn a_probe_may_be_followed_by_a_session() {
    let mut client = Client::new(ToolSet::All);
    client.request(json!(1), "server/discover", stateless(json!({}))).await;
    client.send(&initialize("2025-11-25")).await;
    assert_eq!(client.next().await["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn a_session_begins_once_and_before_anything_else() {
    let mut client = Client::new(ToolSet::All);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} })).await;
    assert_eq!(client.request(json!("é"), "ping", json!({})).await["result"], json!({}));
    for method in ["tools/list", "tools/call", "no/such"] {
        let refused = client.request(json!(1), method, json!({ "name": "echo" })).await;
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("comes before `initialize`"), "{message}");
    }
    for broken in
        [json!({}), json!({ "protocolVersion": 5 }), json!({ "protocolVersion": "2025-06-18" })]
    {
        let refused = client.request(json!(2), "initialize", broken).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    client.send(&initialize("2025-06-18")).await;
    assert_eq!(client.next().await["result"]["serverInfo"]["name"], "moss");
    client.send(&initialize("2025-06-18")).await;
    let second = client.next().await;
    assert!(
        second["error"]["message"].as_str().unwrap().contains("initialized already"),
        "{second}"
    );
    assert_eq!(client.tool_names().await.len(), 4);
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let long = "x".repeat(256);
    for id in
        [json!(0), json!(-1), json!(i64::MAX), json!(""), json!("1"), json!("\u{0}\n"), json!(long)]
    {
        assert_eq!(client.request(id.clone(), "ping", json!({})).await["id"], id);
    }
}
