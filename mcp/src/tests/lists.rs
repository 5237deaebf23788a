//! What a client sees: tools of its set, resources, prompts and completions, and how it learns of changes.

use super::*;

#[tokio::test]
async fn tools_have_a_picture_of_what_they_do_where_the_revision_has_them() {
    for (revision, has_icons) in [("2025-06-18", false), ("2025-11-25", true)] {
        let mut client = Client::initialized(ToolSet::Default, revision).await;
        let listed = client.request(json!(1), "tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        for tool in tools {
            let source = tool["icons"][0]["src"].as_str().unwrap_or_default();
            assert_eq!(source.starts_with("data:image/svg+xml,"), has_icons, "{tool}");
        }
    }
    let mut client = Client::new(ToolSet::All);
    let listed = client.request(json!(2), "tools/list", stateless(json!({}))).await;
    let icon = |name: &str| {
        let mut tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["name"] == name).unwrap()["icons"][0].clone()
    };
    assert_ne!(icon("echo"), icon("fail"), "one reads, one changes");
    assert_eq!(icon("echo")["mimeType"], "image/svg+xml");
}

#[tokio::test]
async fn what_a_set_cannot_read_is_no_resource_of_it() {
    let set = |tools: &[&str]| ToolSet::Named {
        name: "mine".into(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
    };
    for (tools, templates) in [
        (&["fail"][..], &[][..]),
        (&["list_directory"], &[]),
        (&["read_file"], &["moss://files/{+path}"]),
        (&["diff_history"], &["moss://history/{number}"]),
    ] {
        let mut client = Client::initialized(set(tools), "2025-06-18").await;
        let listed = client.request(json!(1), "resources/list", json!({})).await;
        assert_eq!(listed["result"]["resources"], json!([]), "{tools:?}: {listed}");
        let listed = client.request(json!(2), "resources/templates/list", json!({})).await;
        let all = listed["result"]["resourceTemplates"].as_array().unwrap();
        let all: Vec<_> = all.iter().map(|one| one["uriTemplate"].as_str().unwrap()).collect();
        assert_eq!(all, templates, "{tools:?}");
        let params = json!({
            "ref": { "type": "ref/resource", "uri": "moss://files/{+path}" },
            "argument": { "name": "path", "value": "" },
        });
        let completed = client.request(json!(3), "completion/complete", params).await;
        assert_eq!(completed["result"]["completion"]["values"], json!([]), "{completed}");
        assert_eq!(client.uses(), []);
    }
}

#[tokio::test]
async fn notes_are_those_on_the_tools_that_the_client_sees() {
    let named = ToolSet::Named { name: "mine".into(), tools: vec!["gone".into()] };
    for (set, notes) in [
        (ToolSet::Default, "Use read_file."),
        (ToolSet::ReadOnly, "Use echo. Use read_file."),
        (ToolSet::All, "Use echo. Use fail. Use hang. Use read_file."),
        (named, "There are no notes on the tools of the set `mine`"),
    ] {
        let mut client = Client::initialized(set, "2025-06-18").await;
        let prompt = client.request(json!(1), "prompts/get", json!({ "name": "moss_notes" })).await;
        let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.starts_with(notes) && (text == notes || text.ends_with("used.")), "{text}");
    }
}

#[tokio::test]
async fn only_arguments_that_there_are_are_completed() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let tool = json!({ "type": "ref/prompt", "name": "moss_tool" });
    let mut complete = async |reference: &Value, name: &str| {
        let argument = json!({ "name": name, "value": "ec" });
        let params = json!({ "ref": reference, "argument": argument });
        client.request(json!(1), "completion/complete", params).await
    };
    let completed = complete(&tool, "name").await;
    assert_eq!(completed["result"]["completion"]["values"], json!(["echo"]), "{completed}");
    let notes = json!({ "type": "ref/prompt", "name": "moss_notes" });
    let change = json!({ "type": "ref/resource", "uri": "moss://history/{number}" });
    for (reference, why) in [
        (&tool, "moss_tool has no argument `tool`: it has `name`"),
        (&change, "moss://history/{number} has no argument `tool`: it has `number`"),
        (&notes, "moss_notes has no arguments"),
    ] {
        let refused = complete(reference, "tool").await;
        assert_eq!(refused["error"]["message"], why, "{refused}");
        assert_eq!(refused["error"]["code"], -32602);
    }
}

#[tokio::test]
async fn the_list_is_announced_when_it_changed_and_only_then() {
    let mut client = Client::initialized(ToolSet::Default, "2025-06-18").await;
    assert_eq!(client.tool_names().await, ["read_file", "find_tools"]);
    while client.backend.changes.receiver_count() == 0 {
        tokio::task::yield_now().await;
    }
    // A tool that the set does not list changes nothing for this client.
    client.backend.tools.lock().unwrap().push(definition("other", true));
    client.backend.changes.send_modify(|count| *count += 1);
    while client.request(json!("p"), "ping", json!({})).await["result"] != json!({}) {}
    client.backend.tools.lock().unwrap().push(definition("patch", false));
    client.backend.changes.send_modify(|count| *count += 1);
    let announced = client.next().await;
    assert_eq!(announced["method"], "notifications/tools/list_changed");
    assert_eq!(client.tool_names().await, ["read_file", "patch", "find_tools"]);
}

#[tokio::test]
async fn subscriptions_hear_of_changes_without_a_session() {
    let mut client = Client::new(ToolSet::All);
    let params = stateless(json!({ "notifications": { "toolsListChanged": true } }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": params })).await;
    let acknowledged = client.next().await;
    assert_eq!(
        acknowledged["method"], "notifications/subscriptions/acknowledged",
        "{acknowledged}"
    );
    while client.backend.changes.receiver_count() == 0 {
        tokio::task::yield_now().await;
    }
    // The first list was made after the receiver.
    client.request(json!(1), "tools/list", stateless(json!({}))).await;
    client.backend.tools.lock().unwrap().clear();
    client.backend.changes.send_modify(|count| *count += 1);
    assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn sets_bound_what_is_seen_and_what_is_called() {
    let mut client = Client::initialized(ToolSet::ReadOnly, "2025-06-18").await;
    assert_eq!(client.tool_names().await, ["echo", "read_file"]);
    let refused = client.request(json!(1), "tools/call", json!({ "name": "fail" })).await;
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("the tool set `read-only` has no tool `fail`"), "{message}");
    assert_eq!(client.uses(), []);
    let named = ToolSet::Named { name: "mine".into(), tools: vec!["fail".into(), "gone".into()] };
    let mut client = Client::initialized(named, "2025-06-18").await;
    assert_eq!(client.tool_names().await, ["fail"]);
}

#[tokio::test]
async fn tools_that_are_not_listed_are_found_and_called() {
    let mut client = Client::initialized(ToolSet::Default, "2025-06-18").await;
    let find = async |client: &mut Client, arguments: Value| {
        let params = json!({ "name": "find_tools", "arguments": arguments });
        client.request(json!(1), "tools/call", params).await["result"].clone()
    };
    let all = find(&mut client, json!({})).await;
    assert_eq!(
        all["structuredContent"],
        json!({ "omitted": 0, "tools": [
            { "name": "echo", "description": "Does echo" },
            { "name": "fail", "description": "Does fail" },
            { "name": "hang", "description": "Does hang" },
        ]})
    );
    let found = find(&mut client, json!({ "query": "DOES hang" })).await;
    assert_eq!(found["structuredContent"]["tools"][0]["name"], "hang");
    assert_eq!(found["structuredContent"]["note"], Value::Null);
    for (query, name, note) in [
        ("hang for the languages", "hang", json!("no tool has most of these words: ")),
        ("echoes", "echo", Value::Null),
        ("language server", "", json!("no tool has any of these words: ")),
    ] {
        let found = find(&mut client, json!({ "query": query })).await["structuredContent"].clone();
        assert_eq!(found["tools"][0]["name"].as_str().unwrap_or_default(), name, "{found}");
        let noted = found["note"].as_str().unwrap_or_default();
        assert!(noted.starts_with(note.as_str().unwrap_or_default()), "{found}");
        assert_eq!(noted.contains("without `query` all are returned"), note != Value::Null);
    }
    let all_again = find(&mut client, json!({ "query": "the" })).await;
    assert_eq!(all_again["structuredContent"], all["structuredContent"]);
    let one = find(&mut client, json!({ "name": "echo" })).await;
    assert_eq!(one["structuredContent"]["tools"][0]["inputSchema"], json!({ "type": "object" }));
    for (wrong, why) in [
        (json!({ "name": "nope" }), "there is no tool `nope`"),
        (json!({ "name": 1 }), "/name: expected a text"),
        (json!({ "nane": "echo" }), "there is no parameter `nane`"),
        (json!({ "name": "echo", "arguments": "{}" }), "/arguments: expected an object"),
        (json!({ "arguments": {} }), "/arguments are those of the tool in `name`"),
        (json!({ "name": "nope", "arguments": {} }), "there is no tool `nope`"),
        (json!({ "name": "find_tools", "arguments": {} }), "there is no tool `find_tools`"),
        (json!([1]), "not an object"),
    ] {
        let result = find(&mut client, wrong).await;
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains(why), "{result}");
    }
    let called = client.request(json!(2), "tools/call", json!({ "name": "echo" })).await;
    assert_eq!(called["result"]["structuredContent"], json!({}));
}

#[tokio::test]
async fn a_tool_that_is_not_listed_is_called_through_the_one_that_finds_it() {
    let mut client = Client::initialized(ToolSet::Default, "2025-06-18").await;
    // Its arguments stay the text that came.
    client
        .line(
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_tools","arguments":{"name":"echo","arguments":{"a":1.0, "a":2}}}}"#,
        )
        .await;
    let called = client.next().await;
    assert_eq!(called["result"]["isError"], false, "{called}");
    assert_eq!(client.uses(), [("echo".to_owned(), r#"{"a":1.0, "a":2}"#.to_owned())]);
    let through = json!({ "name": "find_tools", "arguments": { "name": "fail", "arguments": {} } });
    let through = client.request(json!(2), "tools/call", through).await["result"].clone();
    let direct = client.request(json!(3), "tools/call", json!({ "name": "fail" })).await;
    assert_eq!(through, direct["result"]);
    // It may do what any tool may.
    let listed = client.request(json!(4), "tools/list", json!({})).await["result"].clone();
    let find = listed["tools"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        find["annotations"],
        json!({
            "title": "Find tools", "readOnlyHint": false, "destructiveHint": true,
            "idempotentHint": false, "openWorldHint": true,
        })
    );
}

#[tokio::test]
async fn a_cursor_that_no_list_gave_is_refused_by_every_list() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        for (cursor, why) in
            [(json!(5), "`cursor` must be a text"), (json!("x"), "leave `cursor` out")]
        {
            let refused = client.request(json!(1), method, json!({ "cursor": cursor })).await;
            assert_eq!(refused["error"]["code"], -32602, "{method} {cursor}: {refused}");
            let message = refused["error"]["message"].as_str().unwrap();
            assert!(message.contains(why), "{method} {cursor}: {message}");
        }
    }
}
