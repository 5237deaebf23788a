//! Plugins in TypeScript and Python have all that moss offers: the guests `probe-ts` and
//! `probe-python` do what a test tells them.

use moss_proto::v1;
use moss_proto::v1::content_part::Part;
use moss_proto::v1::editor_answer::Answer;
use moss_proto::v1::editor_question::Question;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{Project, patient, repository, shown};
use crate::editor::PATIENT;
use crate::harness::guests::install;
use crate::harness::{Client, Daemon, Editor, Site, call, failure, output, range};
use crate::plugins::settled;

/// Who is tested: the language, the guest, its tools.
struct Guest {
    language: &'static str,
    name: &'static str,
    probe: &'static str,
    edit: &'static str,
}

const TYPESCRIPT: Guest =
    Guest { language: "ts", name: "probe-ts", probe: "probe_ts", edit: "edit_ts" };
const PYTHON: Guest =
    Guest { language: "python", name: "probe-python", probe: "probe_python", edit: "edit_python" };

impl Guest {
    /// Builds it with the SDK of this moss, and has it compiled, however long that takes: the daemon
    /// finds it done.
    fn build(&self, site: &Site) -> Vec<u8> {
        let project = Project::of(self.language, &repository("tests/guests").join(self.name));
        shown(site, &["plugin", "vendor", "--json", project.path()]);
        let settings = ["--config", r#"{"name": "you"}"#];
        let checked =
            shown(site, &[&["plugin", "check", "--json", project.path()], &settings[..]].concat());
        assert_eq!(checked["errors"], 0, "{checked}");
        std::fs::read(checked["component"].as_str().unwrap()).unwrap()
    }

    async fn took(&self, caller: &Client, steps: Value) -> Vec<Value> {
        let done = caller.done(self.probe, json!({ "steps": steps })).await;
        done["result"].as_array().unwrap().clone()
    }
}

/// A server of this machine that answers what it was asked, and sends `/away` elsewhere.
async fn echoing() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    port
}

async fn answer(mut stream: TcpStream) {
    let mut asked = Vec::new();
    let mut buffer = [0; 1024];
    // The bodies that are sent here end with a full stop.
    while !asked.ends_with(b"\r\n\r\n") && !asked.ends_with(b".") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => asked.extend_from_slice(&buffer[..count]),
        }
    }
    let asked = String::from_utf8_lossy(&asked).into_owned();
    let (head, body) = asked.split_once("\r\n\r\n").unwrap_or((&asked, ""));
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let told = json!({ "method": method, "path": path, "body": body,
        "probe": head.to_lowercase().contains("\r\nx-probe: ") })
    .to_string();
    let (status, location) = match path {
        "/away" => ("302 Found", "location: http://127.0.0.2:1/\r\n"),
        "/near" => ("302 Found", "location: /here\r\n"),
        "/missing" => ("404 Not Found", ""),
        _ => ("200 OK", ""),
    };
    let length = told.len();
    let text = format!("HTTP/1.1 {status}\r\n{location}content-length: {length}\r\n\r\n{told}");
    let _ = stream.write_all(text.as_bytes()).await;
    while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
}

/// The guest in a daemon with all that it asks for, and a caller.
async fn served(site: &Site, guest: &Guest, component: &[u8], port: u16) -> (Daemon, Client) {
    let grant = json!({
        "fs": [{ "path": ".", "access": "read", "except": ["hidden/**"] }],
        "http": [format!("http://127.0.0.1:{port}")],
        "env": ["GREETING"],
        "store": "60B",
        "tools": ["read_file"],
        "editor": true,
        "index": true,
        "commands": ["cat *"],
    });
    let entry = json!({ "grant": grant, "config": { "name": "you" },
        "limits": { "timeout": "2m", "memory": "256MiB" } });
    install(site, &[(guest.name, component, entry)]);
    let mut command = site.serve_command();
    command.env("GREETING", "hello").env("SECRET", "canary");
    let daemon = Daemon::start(command, &site.socket(), &site.state());
    let caller = daemon.caller().await;
    for plugin in settled(&caller).await {
        assert_eq!(plugin.error, "");
    }
    (daemon, caller)
}

/// Everything, one capability after the other: building the guest takes longer than all of it.
async fn has_all(guest: Guest) {
    let site = patient();
    let component = guest.build(&site);
    site.config(&format!("{PATIENT}[plugins]\ncompile_timeout_ms = 600_000\n"));
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"write\", \"delete\"]\ndecision = \"allow\"\n",
    );
    for (path, text) in
        [("a.txt", "one\n"), ("dir/b.txt", "two\n"), ("hidden/c.txt", "canary\n"), (".env", "s\n")]
    {
        site.write(path, text);
    }
    let port = echoing().await;
    let (daemon, caller) = served(&site, &guest, &component, port).await;
    reads(&guest, &caller).await;
    reaches(&guest, &caller, port).await;
    keeps(&guest, &caller).await;
    is_told(&guest, &caller).await;
    shows(&guest, &caller).await;
    asks(&guest, &caller, &daemon).await;
    proposes(&guest, &site, &caller).await;
    fails(&guest, &caller).await;
    daemon.stop();
}

async fn reads(guest: &Guest, caller: &Client) {
    let steps = json!([
        { "do": "read", "path": "a.txt" },
        { "do": "list", "path": "." },
        { "do": "list", "path": "dir" },
        { "do": "list", "path": "hidden" },
        { "do": "find", "path": "." },
        { "do": "call", "tool": "read_file", "arguments": { "path": "a.txt" } },
        { "do": "call", "tool": "read_file", "arguments": { "path": "none.txt" } },
        { "do": "call", "tool": "list_directory", "arguments": {} },
    ]);
    let came = guest.took(caller, steps).await;
    assert_eq!(came[0], "one\n");
    assert_eq!(came[1], json!(["file a.txt", "directory dir", "directory hidden"]));
    assert_eq!(came[2..4], [json!(["file b.txt"]), json!([])]);
    assert_eq!(came[4], json!(["a.txt", "dir/b.txt"]));
    assert_eq!(came[5]["content"], "     1\tone");
    assert_eq!((&came[6]["error"], &came[7]["error"]), (&json!("not-found"), &json!("denied")));
}

async fn reaches(guest: &Guest, caller: &Client, port: u16) {
    let url = |path: &str| format!("http://127.0.0.1:{port}/{path}");
    let steps = json!([
        { "do": "get", "url": url("here?a=b") },
        { "do": "post", "url": url("sent"), "body": "A text." },
        { "do": "get", "url": url("missing") },
        { "do": "get", "url": url("near") },
    ]);
    let came = guest.took(caller, steps).await;
    let told = |index: usize| -> Value {
        let body = came[index]["body"].as_str();
        serde_json::from_str(body.unwrap_or_else(|| panic!("{came:?}"))).unwrap()
    };
    assert_eq!((&came[0]["status"], &told(0)["path"]), (&json!(200), &json!("/here?a=b")));
    let sent = json!({ "method": "POST", "path": "/sent", "body": "A text.", "probe": true });
    assert_eq!(came[1]["body"], sent);
    assert_eq!((&came[2]["status"], &told(2)["method"]), (&json!(404), &json!("GET")));
    assert_eq!((&came[3]["status"], &told(3)["path"]), (&json!(200), &json!("/here")));
    for denied in [url("away"), "https://elsewhere.example/".to_owned()] {
        let steps = json!([{ "do": "get", "url": denied }]);
        let arguments = json!({ "steps": steps, "fail": true });
        let result = caller.call(call(guest.probe, arguments)).await.unwrap();
        let failure = failure(&result);
        assert!(failure.hint.contains("\"http\": ["), "{denied}: {failure:?}");
    }
}

async fn keeps(guest: &Guest, caller: &Client) {
    let set = |value: &str| json!({ "do": "set", "key": "k", "value": value });
    let came = guest.took(caller, json!([set("é"), set(&"x".repeat(60))])).await;
    assert_eq!((&came[0], &came[1]["error"]), (&Value::Null, &json!("too-large")));
    let steps = json!([
        { "do": "load", "key": "k" },
        { "do": "load", "key": "none" },
        { "do": "keys", "prefix": "" },
        { "do": "delete", "key": "k" },
        { "do": "delete", "key": "k" },
    ]);
    let came = guest.took(caller, steps).await;
    assert_eq!(came, [json!("é"), Value::Null, json!(["k"]), json!(true), json!(false)]);
}

async fn is_told(guest: &Guest, caller: &Client) {
    let steps = json!([
        { "do": "settings" },
        { "do": "env", "name": "GREETING" },
        { "do": "env", "name": "SECRET" },
        { "do": "cancelled" },
        { "do": "log", "message": "hm" },
    ]);
    let came = guest.took(caller, steps).await;
    assert_eq!(came[0], json!({ "greeting": "hello", "name": "you" }));
    assert_eq!(came[1..], [json!("hello"), Value::Null, json!(false), Value::Null]);
}

async fn shows(guest: &Guest, caller: &Client) {
    let gif = b"GIF89a\x03\0\x02\0\0\0\0";
    let steps = json!([{ "do": "show", "text": "a page" }, { "do": "show", "image": gif }]);
    let arguments = json!({ "steps": steps, "fail": true });
    let result = caller.call(call(guest.probe, arguments.clone())).await.unwrap();
    let parts: Vec<_> = result.content.into_iter().map(|part| part.part.unwrap()).collect();
    let link = v1::ContentLink { uri: "https://a.example/".into(), name: "a page".into() };
    let (media_type, data) = ("image/gif".to_owned(), gif.to_vec());
    let image = v1::ContentImage { media_type, width: 3, height: 2, data };
    let all = [
        Part::Text("a page".into()),
        Part::Json("{\"shown\":\"a page\"}".into()),
        Part::Link(link),
        Part::Image(image),
    ];
    assert_eq!(parts, all);
    let came = guest.took(caller, json!([{ "do": "show", "image": [1, 2] }])).await;
    assert_eq!(came[0]["error"], "invalid-arguments", "{came:?}");
}

async fn asks(guest: &Guest, caller: &Client, daemon: &Daemon) {
    let found = guest.took(caller, json!([{ "do": "search", "pattern": "t.o|^s" }])).await;
    assert_eq!(found, [json!(["dir/b.txt:1:1:two", 1])]);
    let declared = guest.took(caller, json!([{ "do": "declared", "names": ["nobody"] }])).await;
    assert_eq!(declared, [json!([])]);
    let ran = guest.took(caller, json!([{ "do": "run", "words": ["cat", "a.txt"] }])).await;
    assert_eq!(ran, [json!([0, "one\n"])]);
    let steps = json!([{ "do": "symbols", "path": "a.txt" }, { "do": "symbols", "path": ".env" }]);
    let none = guest.took(caller, steps.clone()).await;
    assert_eq!((&none[0], &none[1]["error"]), (&Value::Null, &json!("denied")));
    let mut editor = Editor::attach(&daemon.approver().await, "Code").await;
    editor.hold("a.txt", 1, None).await;
    let steps =
        json!([{ "do": "symbols", "path": "a.txt" }, { "do": "definitions", "path": "a.txt" }]);
    let asking = guest.took(caller, steps);
    let answering = async {
        let (id, question) = editor.question().await;
        assert!(matches!(question, Question::DocumentSymbols(asked) if asked.path == "a.txt"));
        let symbol = v1::DocumentSymbol {
            name: "one".into(),
            kind: "function".into(),
            range: Some(range((0, 0), (0, 3))),
            name_range: Some(range((0, 0), (0, 3))),
            children: Vec::new(),
        };
        let symbols = v1::DocumentSymbols { symbols: vec![symbol] };
        editor.answer(&id, Answer::DocumentSymbols(symbols)).await;
        let (id, question) = editor.question().await;
        assert!(matches!(question, Question::Definitions(_)), "{question:?}");
        let place = v1::Location { path: "dir/b.txt".into(), range: Some(range((0, 0), (0, 3))) };
        let found = v1::Locations { locations: vec![place] };
        editor.answer(&id, Answer::Locations(found)).await;
    };
    let (came, ()) = tokio::join!(asking, answering);
    assert_eq!(came, [json!(["one"]), json!(["dir/b.txt"])]);
}

async fn proposes(guest: &Guest, site: &Site, caller: &Client) {
    for (path, text) in [("part.txt", "a b c\n"), ("whole.txt", "w\n"), ("gone.txt", "g\n")] {
        site.write(path, text);
    }
    let done = caller.done(guest.edit, json!({ "before": "b", "after": "B" })).await;
    assert_eq!(done, json!({ "edits": 4 }));
    assert_eq!(
        (site.read("part.txt"), site.read("whole.txt")),
        ("a B c\n".into(), "w\nB\n".into())
    );
    assert_eq!((site.read("made/new.txt"), site.has("gone.txt")), ("B".into(), false));
}

async fn fails(guest: &Guest, caller: &Client) {
    let steps = json!([{ "do": "nothing" }]);
    let came = guest.took(caller, steps.clone()).await;
    let told = json!({ "error": "invalid-arguments", "message": "no step `nothing`",
        "hint": "see the source" });
    assert_eq!(came, [told]);
    let ran = |steps: Value| {
        let arguments = json!({ "steps": steps, "fail": true });
        async { caller.call(call(guest.probe, arguments)).await.unwrap() }
    };
    let result = ran(steps).await;
    assert_eq!(failure(&result).code, "invalid_arguments");
    let result = ran(json!([{ "do": "throw" }])).await;
    let failure = failure(&result);
    assert_eq!((&*failure.code, &*failure.message), ("plugin_failed", "TypeError: as told"));
    assert_eq!(output(&ran(json!([])).await)["result"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_in_typescript_has_all_that_moss_offers() {
    has_all(TYPESCRIPT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_in_python_has_all_that_moss_offers() {
    has_all(PYTHON).await;
}
