//! Lines of a client that errs or means harm.

use super::*;

/// Lines that are no messages, each with the code of its error and what that says.
const REFUSED: &[(&str, i32, &str)] = &[
    ("{", -32700, "not JSON"),
    ("hello", -32700, "not JSON"),
    ("1", -32600, "not a JSON-RPC message: invalid type: integer `1`, expected an object"),
    ("null", -32600, "not a JSON-RPC message: invalid type: null, expected an object"),
    ("[]", -32600, "batches"),
    ("[1]", -32600, "send each message by itself, on a line of its own"),
    (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, "batches"),
    ("{}", -32600, "`jsonrpc`"),
    (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, "`jsonrpc`"),
    (r#"{"jsonrpc":"2.0"}"#, -32600, "a `method`, a `result`"),
    (r#"{"jsonrpc":"2.0","id":1}"#, -32600, "a `method`, a `result`"),
    (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, -32600, "`id` must be"),
    (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600, "duplicate field `id`"),
    (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600, "not a JSON-RPC message"),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}"#,
        -32602,
        "`params` of tools/list",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":1,"a":2}}"#,
        -32602,
        "the key `a` twice",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}"#,
        -32602,
        "`cursor` must be a text, the `nextCursor`",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
        -32602,
        "as tools/list has it",
    ),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602, "`name` must be"),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#,
        -32602,
        "`name` must be",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":5}}"#,
        -32602,
        "`params` of tools/call",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#,
        -32602,
        "it takes `uri`, a text",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":5}}"#,
        -32602,
        "it takes `name`, a text",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":"a"}}"#,
        -32602,
        "it takes `ref`, an object",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"a://b"},"argument":{"name":"c","value":""}}}"#,
        -32602,
        "there are moss://files/{+path} and moss://history/{number}",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"moss_tool"}}"#,
        -32602,
        "give the name of a tool",
    ),
    (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32601, "there is no method `no/such`"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe"}"#, -32601, "there is no method"),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"moss://files/a"}}"#,
        -32601,
        "there is no method `resources/subscribe` here: this server has initialize, ping, tools/list",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}"#,
        -32601,
        "there is no method `logging/setLevel`",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"1"}}"#,
        -32601,
        "there is no method `tasks/get`",
    ),
];

#[tokio::test]
async fn lines_that_are_no_messages_get_an_error_and_the_connection_stays() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    for (line, code, why) in REFUSED {
        client.line(line.as_bytes()).await;
        let response = client.next().await;
        assert_eq!(response["error"]["code"], *code, "{line}: {response}");
        let message = response["error"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{line}: {message}");
    }
    client.line(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}").await;
    let response = client.next().await;
    assert_eq!(response["error"]["code"], -32700);
    assert!(
        response["error"]["message"]
            .as_str()
            .unwrap()
            .contains("not UTF-8 at byte 23: write it in UTF-8")
    );
    for nothing in ["", "   ", "\r", r#"{"jsonrpc":"2.0","id":77,"result":{}}"#] {
        client.line(nothing.as_bytes()).await;
    }
    assert_eq!(client.request(json!(1), "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn names_with_control_characters_come_back_as_escapes_and_short() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let deceptive = format!("a\u{1b}[31m\u{202e}\u{7}{}", "x".repeat(5_000));
    for (method, params) in [
        (deceptive.as_str(), json!({})),
        ("tools/list", json!({ &deceptive: 1, "cursor": 5 })),
        (
            "tools/call",
            json!({ "name": "find_tools", "_meta": { "progressToken": &deceptive, "x": [] }, "arguments": {} }),
        ),
        ("prompts/get", json!({ "name": &deceptive })),
        ("prompts/get", json!({ "name": "moss_tool", "arguments": { "name": &deceptive } })),
        ("resources/read", json!({ "uri": &deceptive })),
        ("resources/read", json!({ "uri": format!("moss://files/{deceptive}") })),
    ] {
        let response = client.request(json!(1), method, params).await;
        let message = response["error"]["message"].as_str().unwrap_or_default();
        assert!(!message.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{method}: {message:?}");
        assert!(message.len() < 5_000, "{method}: {}", message.len());
    }
}

#[tokio::test]
async fn deep_nesting_is_an_error_wherever_it_is() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"x":{deep}}}}}"#);
    client.line(line.as_bytes()).await;
    assert_eq!(client.next().await["error"]["code"], -32602);
    // The arguments of a call are for the daemon to read.
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"fail","arguments":{deep}}}}}"#
    );
    client.line(line.as_bytes()).await;
    assert_eq!(client.next().await["result"]["isError"], true);
    assert_eq!(client.uses(), [("fail".to_owned(), deep)]);
}

#[tokio::test]
async fn nothing_but_the_arguments_of_a_call_is_long() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let long = format!("[{}0]", "0,".repeat(150_000));
    for message in [
        format!(r#"{{"jsonrpc":"2.0","id":"a","method":"x","params":{{"a":{long}}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"a","method":"x","params":{{"arguments":{long}}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"a","method":"x","params":{long}}}"#),
        format!(
            r#"{{"id":"a","jsonrpc":"2.0","method":"tools/call","params":{{"name":"echo","_meta":{long}}}}}"#
        ),
    ] {
        client.line(message.as_bytes()).await;
        let refused = client.next().await;
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!("a")));
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("beside the `arguments` of a call"), "{message}");
    }
    client.line(format!(r#"{{"jsonrpc":"2.0","id":{long},"method":"ping"}}"#).as_bytes()).await;
    assert_eq!(client.next().await["id"], Value::Null);
    // Nobody waits for a response to a response.
    client.line(format!(r#"{{"jsonrpc":"2.0","id":0,"result":{long}}}"#).as_bytes()).await;
    assert_eq!(client.request(json!(2), "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_client_that_closes_what_it_reads_from_is_gone() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let mut input = client.input.take().unwrap();
    drop(client.output);
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
    tokio::time::timeout(WAIT_MAX, client.served).await.unwrap().unwrap();
    drop(input);
}

#[tokio::test]
async fn a_client_that_reads_nothing_holds_nothing_up_but_itself() {
    let mut client = Client::initialized(ToolSet::All, "2025-06-18").await;
    let mut input = client.input.take().unwrap();
    // Both pipes are full long before that: nothing more is taken, and nothing grows.
    let lines = vec![b'\n'; 1 << 20].into_iter().flat_map(|end| [b'x', end]).collect::<Vec<u8>>();
    let stuck = tokio::time::timeout(Duration::from_secs(2), input.write_all(&lines)).await;
    assert!(stuck.is_err(), "a million lines were taken, and their errors read by nobody");
    drop(input);
    drop(client.output);
    tokio::time::timeout(WAIT_MAX, client.served).await.unwrap().unwrap();
}
