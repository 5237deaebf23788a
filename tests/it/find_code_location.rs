//! Where something is declared and used: fresh, and nothing that a read would not show.

use serde_json::{Value, json};

use crate::harness::{Client, Site, failure};

/// The locations as path, line and name.
fn places(output: &Value) -> Vec<(String, u64, String)> {
    let locations = output["locations"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    locations
        .iter()
        .map(|one| (text(&one["path"]), one["line"].as_u64().unwrap(), text(&one["name"])))
        .collect()
}

fn at(path: &str, line: u64, name: &str) -> (String, u64, String) {
    (path.to_owned(), line, name.to_owned())
}

async fn find(client: &Client, arguments: Value) -> Value {
    client.done("find_code_location", arguments).await
}

const STORE: &str = "//! Keeps things.\n\n/// Keeps them in memory.\npub struct Store;\n\nimpl Store {\n    /// Opens it.\n    pub fn open() -> Self {\n        Store\n    }\n}\n";

#[tokio::test]
async fn declarations_are_found_at_once_wherever_they_move() {
    let site = Site::new();
    site.write("src/store.rs", STORE);
    site.write("src/main.rs", "mod store;\n\nfn main() {\n    store::Store::open();\n}\n");
    site.write("web/store.ts", "export class StoreView {\n  open(): void {}\n}\n");
    site.user_policy("version = 1\n[[rule]]\ndecision = \"allow\"\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = find(&client, json!({"search": "Store::open", "findReferences": true})).await;
    assert_eq!(
        found["locations"],
        json!([{
            "path": "src/store.rs", "line": 8, "column": 12, "start_line": 7, "end_line": 10, "name": "open",
            "kind": "method", "container": "Store", "text": "pub fn open() -> Self",
            "documentation": "Opens it."
        }])
    );
    let uses = &found["references"];
    assert_eq!(uses[0]["path"], "src/main.rs", "{found}");
    assert_eq!(uses[0]["uses"][0]["line"], 4);
    assert_eq!(uses[0]["uses"][0]["kind"], "call");
    assert_eq!(uses[0]["uses"][0]["container"], "main");
    let both = find(&client, json!({"search": "store", "searchType": "class"})).await;
    assert_eq!(places(&both), [at("src/store.rs", 4, "Store"), at("web/store.ts", 1, "StoreView")]);

    // What is edited, created, moved and deleted is found as it is now.
    let edit = json!({"path": "src/store.rs", "oldText": "pub struct Store;", "newText": "\n\npub struct Store;"});
    client.done("replace_text", edit).await;
    let moved = find(&client, json!({"search": "Store", "searchType": "exact"})).await;
    assert_eq!(places(&moved), [at("src/store.rs", 6, "Store")]);
    for turn in 0..20 {
        let name = format!("made_{turn}");
        site.write(&format!("src/{name}.py"), format!("def {name}():\n    pass\n"));
        let made = find(&client, json!({"search": name, "findDefinition": true})).await;
        assert_eq!(places(&made), [at(&format!("src/{name}.py"), 1, &name)], "{made}");
        std::fs::remove_file(site.workspace().join(format!("src/{name}.py"))).unwrap();
        let gone = find(&client, json!({"search": name, "findDefinition": true})).await;
        assert_eq!(places(&gone), [], "{gone}");
        assert!(gone["note"].as_str().unwrap().contains("grep_search"), "{gone}");
    }

    drop(daemon);
    let ended = site.run(&["call", "find_code_location", "search=src/main.rs:4", "--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(places(&printed["output"]), [at("src/main.rs", 3, "main")]);
}

#[tokio::test]
async fn nothing_that_may_not_be_read_is_found_or_counted() {
    let site = Site::new();
    for path in ["open.rs", "private/a.rs", "shared/b.rs", "out/c.rs", "keys/server.pem"] {
        site.write(path, "/// Secret.\npub fn needle() {}\nfn other() {\n    needle();\n}\n");
    }
    site.write(".gitignore", "out/\n");
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"private/**\"]\ndecision = \"deny\"\n\
         [[rule]]\neffects = [\"read\"]\npaths = [\"shared/**\"]\ndecision = \"ask\"\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    for search in ["needle", "needl", "Secret", "needle()"] {
        let found = find(&client, json!({"search": search, "findReferences": true})).await;
        let shown = [&found["locations"], &found["references"]].map(Value::to_string).concat();
        for closed in ["private", "shared", "out/", "pem"] {
            assert!(!shown.contains(closed), "{search}: {found}");
        }
        assert_eq!(found["skipped"]["unapproved"], 1, "{found}");
    }
    let found = find(&client, json!({"search": "needle", "findReferences": true})).await;
    assert_eq!((&found["total_locations"], &found["total_references"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn what_cannot_be_meant_says_what_to_do() {
    let site = Site::new();
    site.write("a.rs", "fn a() {}\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (arguments, expected) in [
        (json!({"search": ""}), "name"),
        (json!({"search": "[a", "searchType": "regex"}), "regex"),
        (json!({"search": "a", "path": "missing"}), "missing"),
        (json!({"search": "a", "fileType": "pyton"}), "pyton"),
        (json!({"search": "a", "path": "../outside"}), "workspace"),
    ] {
        let result = client.ran("find_code_location", arguments.clone()).await;
        let error = failure(&result);
        assert!(format!("{error:?}").contains(expected), "{arguments}: {error:?}");
    }
}
