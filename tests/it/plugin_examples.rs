//! The example plugins do their work in the real daemon, with the grants of their own list.

use std::path::Path;

use moss_proto::v1::content_part::Part;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::guests::install_compiled;
use crate::harness::{Client, Daemon, Site, failure, keep_code, output, plugin};
use crate::plugins::settled;

/// Where the list has the components, relative to itself.
const BUILT: &str = "target/wasm32-wasip2/release";

fn component(name: &str) -> Vec<u8> {
    std::fs::read(plugin(&name.replace('-', "_"))).unwrap()
}

/// A daemon with one example plugin, and a caller.
async fn with(site: &Site, name: &str, entry: Value) -> (Daemon, Client) {
    let bytes = component(name);
    install_compiled(site, &[(name, &bytes, entry)]);
    let daemon = site.serve();
    let caller = daemon.caller().await;
    for plugin in settled(&caller).await {
        assert_eq!(plugin.error, "", "{}", plugin.name);
    }
    (daemon, caller)
}

fn reading(path: &str) -> Value {
    json!({ "grant": { "fs": [{ "path": path, "access": "read" }] } })
}

#[tokio::test]
async fn the_list_of_the_examples_is_one_that_works() {
    let site = Site::new();
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins-example/moss-tools.json");
    let built = plugin("memory").parent().unwrap().to_str().unwrap().to_owned();
    site.plugin_list(&std::fs::read_to_string(list).unwrap().replace(BUILT, &built));
    for name in example_names() {
        keep_code(&site, &component(&name));
    }
    site.write("docs/a.md", "one two\n");
    site.write("src/a.rs", "// TODO(ann): this\n");
    site.write("data/a.csv", "id,name\n1,x\n2,\n");
    site.write("Cargo.toml", "[package]\nname = \"a\"\n");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let plugins = settled(&caller).await;
    let names: Vec<_> = plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    assert_eq!(names, example_names());
    for plugin in &plugins {
        assert_eq!(plugin.error, "", "{}", plugin.name);
    }
    for (tool, arguments, pointer, expected) in [
        ("word_count", json!({"path": "docs"}), "/total/words", json!(2)),
        ("todo_report", json!({"group_by": "author"}), "/groups/0/name", json!("ann")),
        ("csv_profile", json!({"path": "data/a.csv"}), "/columns/1/empty", json!(1)),
        (
            "data_query",
            json!({"path": "Cargo.toml", "query": "$.package.name"}),
            "/results/0/value",
            json!("a"),
        ),
        ("memory_save", json!({"text": "remember"}), "/notes", json!(1)),
        ("memory_recall", json!({}), "/notes/0/text", json!("remember")),
    ] {
        let done = caller.done(tool, arguments).await;
        assert_eq!(done.pointer(pointer), Some(&expected), "{tool}: {done}");
    }
    let elsewhere = caller.ran("fetch", json!({"url": "https://elsewhere.example/"})).await;
    assert_eq!(failure(&elsewhere).code, "denied");
    daemon.stop();
}

/// The directories with a manifest, in order.
fn example_names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins-example");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn what_the_policy_hides_is_in_no_report() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"src/secret/**\"]\n\
         decision = \"deny\"\n",
    );
    site.write("src/a.rs", "// TODO: shown\n");
    site.write("src/secret/b.rs", "// TODO: hidden\n");
    let (daemon, caller) = with(&site, "todo-report", reading(".")).await;
    let report = caller.done("todo_report", json!({"path": "src"})).await;
    assert_eq!((&report["total"], &report["groups"][0]["name"]), (&json!(1), &json!("src/a.rs")));
    assert!(!report.to_string().contains("hidden"), "{report}");
    let denied = caller.ran("todo_report", json!({"path": "src/secret/b.rs"})).await;
    assert!(!denied.output_json.contains("hidden"), "{denied:?}");
    daemon.stop();
}

#[tokio::test]
async fn notes_are_found_again_by_the_next_daemon() {
    let site = Site::new();
    let entry = json!({ "grant": { "store": "64KiB" } });
    let (daemon, caller) = with(&site, "memory", entry).await;
    let save = |text: &str, tags: Value| json!({ "text": text, "tags": tags });
    let first = caller.done("memory_save", save("CI runs the tests", json!(["ci"]))).await;
    caller.done("memory_save", save("the database is PostgreSQL", json!(["ops"]))).await;
    drop(caller);
    daemon.stop();

    let daemon = site.serve();
    let caller = daemon.caller().await;
    settled(&caller).await;
    let recalled = caller.done("memory_recall", json!({"query": "which DATABASE?"})).await;
    assert_eq!((&recalled["matches"], &recalled["total"]), (&json!(1), &json!(2)));
    assert_eq!(recalled["notes"][0]["text"], "the database is PostgreSQL");

    let mut corrected = save("CI runs nothing", json!([]));
    corrected["id"] = first["id"].clone();
    assert_eq!(caller.done("memory_save", corrected).await, first_of(&first, 2));
    let id = json!({ "id": first["id"] });
    assert_eq!(caller.done("memory_forget", id.clone()).await["forgotten"], json!(true));
    let gone = caller.done("memory_forget", id).await;
    assert_eq!(gone, json!({ "forgotten": false, "notes": 1 }));

    let full = caller.ran("memory_save", save(&"x".repeat(8 << 10), json!([]))).await;
    assert_eq!(full.error, None);
    for _ in 0..8 {
        let saved = caller.ran("memory_save", save(&"x".repeat(8 << 10), json!([]))).await;
        if let Some(error) = saved.error {
            assert_eq!(error.code, "too_large", "{}", error.message);
            daemon.stop();
            return;
        }
    }
    panic!("the store has no bound");
}

#[tokio::test]
async fn a_file_that_is_withheld_is_distinguished_from_one_that_is_not_there() {
    let site = Site::new();
    site.write("data/a.csv", "id\n1\n");
    site.write("data/b.csv", "id\n1\n");
    site.write("c.csv", "id\n1\n");
    site.config("[plugin_maximum]\nfiles = [\"data/a.csv\", \"c.csv\"]\n");
    let (_daemon, caller) = with(&site, "csv-profile", reading("data")).await;
    let hint = async |path: &str| {
        let result = caller.ran("csv_profile", json!({ "path": path })).await;
        let failed = failure(&result);
        (failed.message.clone(), failed.hint.clone())
    };
    let (message, listed) = hint("c.csv").await;
    assert_eq!(
        message,
        "the plugin csv-profile may not read c.csv: the grant `fs` for it is missing"
    );
    assert!(listed.contains("\"fs\": [{ \"path\": \"c.csv\", \"access\": \"read\" }]"), "{listed}");
    let command = listed.split('`').nth(1).unwrap();
    assert!(
        command.starts_with("moss plugin add '") && command.contains(" --replace "),
        "{command}"
    );
    let (message, bound) = hint("data/b.csv").await;
    assert!(
        message.ends_with("may not read data/b.csv: `plugin_maximum.files` does not allow it"),
        "{message}"
    );
    assert!(bound.contains("`plugin_maximum.files` in config.toml does not allow it"), "{bound}");
    assert!(!hint("data/a.csv/x").await.0.contains("may not read"));
    // The command is one that can be typed, and what was granted before stays granted.
    let words = format!("{command} --yes");
    let words = words.strip_prefix("moss ").unwrap();
    let mut shell = std::process::Command::new("sh");
    let moss = site.command::<&str>([]);
    for (name, value) in moss.get_envs() {
        shell.env(name, value.unwrap());
    }
    let line = format!("'{}' {words}", moss.get_program().to_str().unwrap());
    let added = shell.args(["-c", &line]).current_dir(site.workspace()).output().unwrap();
    assert!(added.status.success(), "{line}: {added:?}");
    settled(&caller).await;
    for path in ["c.csv", "data/a.csv"] {
        assert_eq!(caller.ran("csv_profile", json!({ "path": path })).await.error, None, "{path}");
    }
}

#[tokio::test]
async fn plugin_without_any_files_learns_what_would_give_it_some() {
    let site = Site::new();
    site.write("data/a.csv", "id\n1\n");
    let (_daemon, caller) = with(&site, "csv-profile", json!({})).await;
    let result = caller.ran("csv_profile", json!({ "path": "data/a.csv" })).await;
    let hint = &failure(&result).hint;
    let written = "\"fs\": [{ \"path\": \"data/a.csv\", \"access\": \"read\" }]";
    assert!(hint.contains(written), "{hint}");
}

fn first_of(saved: &Value, notes: u64) -> Value {
    json!({ "id": saved["id"], "notes": notes })
}

#[tokio::test]
async fn pages_come_from_granted_hosts_and_from_no_others() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, port));
        }
    });
    let site = Site::new();
    let here = format!("http://127.0.0.1:{port}");
    let entry = json!({ "grant": { "http": [here] } });
    site.config(&format!("[plugin_maximum]\nhttp = [\"{here}\"]\n"));
    let (daemon, caller) = with(&site, "fetch", entry).await;
    let get = |path: &str| json!({ "url": format!("{here}{path}") });
    let page = caller.done("fetch", get("/page")).await;
    assert_eq!((&page["status"], &page["truncated"]), (&json!(200), &json!(false)));
    assert_eq!(page["text"], "# Title\n\nText & more");
    let moved = caller.done("fetch", get("/moved")).await;
    assert_eq!(moved["url"], format!("{here}/page"));
    let missing = caller.done("fetch", get("/missing")).await;
    assert_eq!((&missing["status"], &missing["text"]), (&json!(404), &json!("nothing here")));
    let dot = caller.ran("fetch", get("/dot")).await;
    assert_eq!(output(&dot)["text"], "");
    let Some(Part::Image(image)) = &dot.content[0].part else { panic!("{dot:?}") };
    assert_eq!((&*image.media_type, image.width), ("image/gif", 1));
    let part = json!({ "url": format!("{here}/page"), "form": "raw", "offset": 4, "limit": 5 });
    assert_eq!(caller.done("fetch", part).await["text"], "Title");
    for (path, code) in [
        ("/picture", "binary"),
        ("/away", "denied"),
        ("/near", "denied"),
        ("/round", "limit_exceeded"),
        ("/cut", "io"),
    ] {
        let failed = caller.ran("fetch", get(path)).await;
        let error = failure(&failed);
        assert_eq!(error.code, code, "{path}: {}", error.message);
        assert!(error.message.contains("://"), "{path}: {}", error.message);
    }
    daemon.stop();
}

/// Answers one request, by its path.
async fn answer(mut stream: TcpStream, port: u16) {
    let (mut asked, mut buffer) = (Vec::new(), [0; 1024]);
    while !asked.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => asked.extend_from_slice(&buffer[..count]),
        }
    }
    let asked = String::from_utf8_lossy(&asked).into_owned();
    let found = |status: &str, kind: &str, body: &str| {
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n{body}"
        )
    };
    let moved = |location: &str| {
        format!(
            "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\
             connection: close\r\n\r\n"
        )
    };
    let text = match asked.split(' ').nth(1).unwrap_or_default() {
        "/page" => found("200 OK", "text/html", "<h1>Title</h1><p>Text &amp; more</p>"),
        "/moved" => moved("page"),
        "/away" => moved("https://elsewhere.example/"),
        "/near" => moved(&format!("http://localhost:{port}/page")),
        "/round" => moved("/round"),
        "/dot" => found("200 OK", "image/gif", "GIF89a\u{1}\0\u{1}\0\0\0\0"),
        "/picture" => found("200 OK", "image/png", "\u{0}"),
        "/cut" => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort".to_owned(),
        _ => found("404 Not Found", "text/plain", "nothing here"),
    };
    // Who asked may be gone.
    let _ = stream.write_all(text.as_bytes()).await;
}
