//! What clients that speak MCP read beside tools: files and changes as resources, prompts, completions, and
//! the span that a call is a part of.

use serde_json::{Value, json};

use crate::harness::Site;
use crate::journal::records;
use crate::mcp::client::McpClient;

fn site() -> Site {
    let site = Site::allowing();
    site.write("a.txt", "one\n\n  two\tx");
    site.write("src/with space.rs", "fn main() {}\n");
    site.write("crlf.txt", "one\r\ntwo\r\n");
    site.write(".env", "KEY=canary\n");
    site.write("blob.bin", b"\0\x01\x02");
    site
}

fn uris(page: &Value) -> Vec<&str> {
    let all = page["result"]["resources"].as_array().unwrap_or_else(|| panic!("{page}"));
    all.iter().map(|one| one["uri"].as_str().unwrap()).collect()
}

fn read(client: &mut McpClient, uri: &str) -> Value {
    client.request("resources/read", json!({ "uri": uri }))
}

#[test]
fn files_are_resources_by_the_policy_of_every_call() {
    let site = site();
    let mut client = McpClient::connect(&site, &[]);
    let listed = client.request("resources/list", json!({}));
    assert!(uris(&listed).contains(&"moss://files/src/with%20space.rs"), "{listed}");
    assert!(uris(&listed).contains(&"moss://files/a.txt"), "{listed}");
    for (uri, text) in [
        ("moss://files/a.txt", "one\n\n  two\tx"),
        ("moss://files/src/with%20space.rs", "fn main() {}\n"),
        ("moss://files/crlf.txt", "one\r\ntwo\r\n"),
    ] {
        let contents = read(&mut client, uri)["result"]["contents"].clone();
        assert_eq!(contents, json!([{ "uri": uri, "mimeType": "text/plain", "text": text }]));
    }
    for (uri, part) in [
        ("moss://files/missing.txt", "missing.txt"),
        ("moss://files/../outside.txt", "outside_workspace"),
        ("moss://files/%2e%2e/outside.txt", "outside_workspace"),
        ("moss://files/.env", "denied_by_policy"),
        ("moss://files/blob.bin", "binary"),
        ("moss://files/src", "src"),
        ("file:///etc/passwd", "moss://files/{+path}"),
        ("moss://history/1", "no change 1"),
    ] {
        let refused = read(&mut client, uri);
        let message = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
        assert!(message.contains(part), "{uri}: {message}");
        assert!(!refused.to_string().contains("canary"), "{refused}");
    }
    let missing = read(&mut client, "moss://files/missing.txt");
    assert_eq!(missing["error"]["code"], -32002, "{missing}");
    assert_eq!(client.close().code(), Some(0));
    let tools: Vec<_> = records(&site).iter().map(|one| one["tool"].clone()).collect();
    assert!(tools.contains(&json!("read_file")), "reads are calls: {tools:?}");
}

#[test]
fn a_long_list_comes_in_pages() {
    let site = Site::new();
    let names: Vec<String> = (0..1_200).map(|number| format!("d/f{number:04}")).collect();
    for name in &names {
        site.write(name, "");
    }
    let mut client = McpClient::connect(&site, &[]);
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = client.request("resources/list", params);
        seen.extend(uris(&page).into_iter().map(ToOwned::to_owned));
        cursor = page["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    // The directory is one of the thousand entries that are listed; a template reaches the others.
    let listed = &names[..999];
    let expected: Vec<_> = listed.iter().map(|name| format!("moss://files/{name}")).collect();
    assert_eq!(seen, expected);
    for wrong in ["0", "x", "-1"] {
        let refused = client.request("resources/list", json!({ "cursor": wrong }));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[test]
fn secrets_are_listed_where_a_rule_opens_them_and_pages_stay_the_same() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\npaths = [\"open/.env\"]\nprotected = true\ndecision = \"ask\"\n",
    );
    let names: Vec<String> = (0..200).map(|number| format!("f{number:03}")).collect();
    for name in names.iter().map(String::as_str).chain([".env", "id_rsa", "open/.env"]) {
        site.write(name, "");
    }
    let mut client = McpClient::connect(&site, &[]);
    let first = client.request("resources/list", json!({}));
    let uri = |name: &str| format!("moss://files/{name}");
    let expected: Vec<_> = names[..199].iter().map(|name| uri(name)).collect();
    assert_eq!(uris(&first), expected);
    assert_eq!(first["result"]["nextCursor"], "200", "{first}");
    let second = client.request("resources/list", json!({ "cursor": "200" }));
    assert_eq!(uris(&second), [uri("f199"), uri("open/.env")], "{second}");
    assert_eq!(client.close().code(), Some(0));
}

#[test]
fn changes_are_resources_with_their_diffs() {
    let site = site();
    let daemon = site.serve();
    let mut client = McpClient::connect(&site, &[]);
    let edit = json!({ "path": "a.txt", "oldText": "one", "newText": "1" });
    assert_ne!(client.call("replace_text", edit)["isError"], true);
    let change = read(&mut client, "moss://history/1")["result"]["contents"][0].clone();
    assert_eq!(change["mimeType"], "application/json");
    assert!(change["text"].as_str().unwrap().contains("+1"), "{change}");
    let template = json!({ "type": "ref/resource", "uri": "moss://history/{number}" });
    let argument = json!({ "name": "number", "value": "" });
    let completed =
        client.request("completion/complete", json!({ "ref": template, "argument": argument }));
    assert_eq!(completed["result"]["completion"]["values"], json!(["1"]), "{completed}");
    // Changes after it take nothing from it, however large and however many they are.
    let large = "a line of a text\n".repeat(4_000);
    for number in 0..101 {
        let content = if number == 0 { large.as_str() } else { "" };
        let made = json!({ "path": format!("new/{number}.txt"), "content": content });
        assert_ne!(client.call("create_file", made)["isError"], true);
    }
    let again = read(&mut client, "moss://history/1")["result"]["contents"][0].clone();
    assert_eq!(again, change);
    daemon.stop();
}

#[test]
fn long_outputs_of_commands_are_resources_before_the_files() {
    let site = site();
    let daemon = site.serve();
    let mut client = McpClient::connect(&site, &[]);
    let ran = client.call("run_terminal_cmd", json!({ "command": "seq 1 20000" }));
    let artifact = ran["structuredContent"]["artifact"].as_str().unwrap_or_else(|| panic!("{ran}"));
    let uri = artifact.replace("artifact:", "moss://artifacts/");
    let listed = client.request("resources/list", json!({}));
    assert_eq!(uris(&listed)[0], uri, "{listed}");
    let written = &listed["result"]["resources"][0];
    assert_eq!((&written["mimeType"], &written["size"]), (&json!("text/plain"), &json!(108_894)));
    let contents = read(&mut client, &uri)["result"]["contents"].clone();
    let text = contents[0]["text"].as_str().unwrap();
    assert!(text.starts_with("1\n2\n") && text.ends_with("\n20000\n"), "{}", text.len());
    assert_eq!(client.close().code(), Some(0));
    // A set without the tool that reads them is without them.
    site.config("[tool_sets]\nsearch = [\"list_directory\"]\n");
    let mut client = McpClient::connect(&site, &["--set", "search"]);
    assert!(!uris(&client.request("resources/list", json!({}))).contains(&uri.as_str()));
    let refused = read(&mut client, &uri);
    assert!(refused["error"]["message"].as_str().unwrap().contains("search"), "{refused}");
    daemon.stop();
}

#[test]
fn prompts_and_completions_know_paths_and_tools() {
    let site = site();
    let mut client = McpClient::connect(&site, &[]);
    let listed = client.request("prompts/list", json!({}));
    assert_eq!(listed["result"]["prompts"][0]["name"], "moss_notes", "{listed}");
    let notes = client.request("prompts/get", json!({ "name": "moss_notes" }));
    let text = &notes["result"]["messages"][0]["content"]["text"];
    assert!(text.as_str().unwrap().contains("read_file"), "{notes}");
    let named = json!({ "name": "moss_tool", "arguments": { "name": "grep_search" } });
    let tool = client.request("prompts/get", named);
    let text = &tool["result"]["messages"][0]["content"]["text"];
    assert!(text.as_str().unwrap().contains("multiline"), "{tool}");
    for (params, part) in [
        (json!({ "name": "none" }), "moss_notes"),
        (json!({ "name": "moss_tool" }), "have no `name`"),
        (json!({ "name": "moss_tool", "arguments": { "name": "x" } }), "grep_search"),
    ] {
        let refused = client.request("prompts/get", params);
        let message = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
        assert!(message.contains(part), "{message}");
    }
    let mut complete = |reference: Value, name: &str, value: &str| {
        let argument = json!({ "name": name, "value": value });
        let params = json!({ "ref": reference, "argument": argument });
        client.request("completion/complete", params)["result"]["completion"]["values"].clone()
    };
    let file = || json!({ "type": "ref/resource", "uri": "moss://files/{+path}" });
    assert_eq!(complete(file(), "path", "space"), json!(["src/with space.rs"]));
    assert!(complete(file(), "path", "").as_array().unwrap().contains(&json!("a.txt")));
    assert_eq!(complete(file(), "path", "*"), json!([]));
    let tool = json!({ "type": "ref/prompt", "name": "moss_tool" });
    assert_eq!(complete(tool.clone(), "name", "grep"), json!(["grep_search"]));
    let notes = json!({ "type": "ref/prompt", "name": "moss_notes" });
    for (reference, why) in [
        (tool, "moss_tool has no argument `nope`: it has `name`"),
        (file(), "moss://files/{+path} has no argument `nope`: it has `path`"),
        (notes, "moss_notes has no arguments"),
    ] {
        let argument = json!({ "name": "nope", "value": "" });
        let params = json!({ "ref": reference, "argument": argument });
        let refused = client.request("completion/complete", params);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert_eq!(refused["error"]["message"], why);
    }
}

#[test]
fn a_set_without_reading_has_no_resources() {
    let site = site();
    site.config(
        "[tool_sets]\nplan = [\"todo\"]\nlist = [\"list_directory\"]\nreview = [\"read_file\", \
         \"grep_search\", \"diff_history\"]\n",
    );
    for (set, templates) in [
        ("plan", &[][..]),
        // What cannot be read is not listed.
        ("list", &[]),
        ("review", &["moss://files/{+path}", "moss://history/{number}"]),
    ] {
        let mut client = McpClient::connect(&site, &["--set", set]);
        let listed = client.request("resources/list", json!({}));
        assert_eq!(listed["result"]["resources"], json!([]), "{set}: {listed}");
        let listed = client.request("resources/templates/list", json!({}));
        let all = listed["result"]["resourceTemplates"].as_array().unwrap();
        let all: Vec<&str> = all.iter().map(|one| one["uriTemplate"].as_str().unwrap()).collect();
        assert_eq!(all, templates, "{set}");
        let file = read(&mut client, "moss://files/a.txt");
        match templates.is_empty() {
            true => {
                let message = file["error"]["message"].as_str().unwrap();
                assert!(message.contains(&format!("the tool set `{set}`")), "{message}");
            }
            false => assert_eq!(file["result"]["contents"][0]["text"], "one\n\n  two\tx"),
        }
        for (uri, name) in [("moss://files/{+path}", "path"), ("moss://history/{number}", "number")]
        {
            for value in ["", "a"] {
                let completed = client.request(
                    "completion/complete",
                    json!({
                        "ref": { "type": "ref/resource", "uri": uri },
                        "argument": { "name": name, "value": value },
                    }),
                );
                let values = &completed["result"]["completion"]["values"];
                assert_eq!(*values, json!([]), "{set} {uri}: {completed}");
            }
        }
    }
}

#[test]
fn notes_speak_of_the_tools_of_the_set_alone() {
    let site = site();
    site.config(
        "[tool_sets]\nreview = [\"read_file\", \"grep_search\"]\nhistory = [\"diff_history\"]\n",
    );
    for (set, named, others) in [
        ("default", &["read_file", "create_file", "run_terminal_cmd"][..], &["todo"][..]),
        ("read-only", &["read_file"], &["create_file", "run_terminal_cmd", "patch"]),
        ("review", &["read_file"], &["list_directory", "clarify", "todo", "create_file"]),
        ("history", &["no notes on the tools of the set `history`"], &["read_file"]),
    ] {
        let mut client = McpClient::connect(&site, &["--set", set]);
        let notes = client.request("prompts/get", json!({ "name": "moss_notes" }));
        let text = notes["result"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(named.iter().all(|name| text.contains(name)), "{set}: {text}");
        assert!(!others.iter().any(|name| text.contains(name)), "{set}: {text}");
    }
}
