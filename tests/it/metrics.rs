//! What the daemon tells Prometheus, and what it does not tell.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use crate::harness::guests::{install, zoo};
use crate::harness::{BOUND, Daemon, Site, call, refusing, until, waiting};

/// A machine whose daemon tells its numbers on a free port.
fn counting() -> Site {
    let mut site = Site::new();
    site.write("a.txt", "x\n");
    site.argument("--metrics").argument("127.0.0.1:0");
    site
}

fn connect(daemon: &Daemon) -> TcpStream {
    let log = daemon.log();
    let (_, rest) = log.split_once("metrics on 127.0.0.1:").expect("it tells its numbers");
    let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    stream.set_read_timeout(Some(BOUND)).unwrap();
    stream
}

/// Returns status line and body of the answer to a request.
fn ask(daemon: &Daemon, request: &str) -> (String, String) {
    let mut stream = connect(daemon);
    stream.write_all(format!("{request}\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

pub(crate) fn scrape(daemon: &Daemon) -> String {
    let (status, body) = ask(daemon, "GET /metrics HTTP/1.1");
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(body.ends_with("# EOF\n"), "{body}");
    body
}

/// The number in the line with this name and these labels.
pub(crate) fn number(text: &str, line: &str) -> Option<f64> {
    let found = text.lines().find_map(|other| other.strip_prefix(line)?.strip_prefix(' '));
    found.map(|number| number.parse().unwrap())
}

#[tokio::test]
async fn calls_decisions_commits_and_connections_are_counted() {
    let site = counting();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    caller.done("read_file", json!({"path": "a.txt"})).await;
    caller.done("read_file", json!({"path": "a.txt"})).await;
    caller.ran("read_file", json!({"path": "canary.txt"})).await;
    caller.call(call("canary_tool", json!({}))).await.unwrap_err();
    caller
        .call(refusing("create_file", json!({"path": "b.txt", "content": ""})))
        .await
        .unwrap_err();
    let nobody = daemon.connect(Some("x")).await;
    nobody.call(call("read_file", json!({"path": "a.txt"}))).await.unwrap_err();
    drop(nobody);
    let create = waiting("create_file", json!({"path": "c.txt", "content": "x\n"}));
    let mut events = caller.stream(create).await.unwrap();
    let question = events.question().await;
    assert_eq!(number(&scrape(&daemon), "moss_confirmations_pending"), Some(1.0));
    approver.approve(&question).await.unwrap();
    events.end().await.unwrap();

    let text = scrape(&daemon);
    for (line, expected) in [
        ("moss_calls_total{tool=\"read_file\",outcome=\"ok\"}", 2.0),
        ("moss_calls_total{tool=\"read_file\",outcome=\"failed\"}", 1.0),
        ("moss_calls_total{tool=\"unknown\",outcome=\"invalid\"}", 1.0),
        ("moss_calls_total{tool=\"create_file\",outcome=\"unconfirmed\"}", 1.0),
        ("moss_calls_total{tool=\"create_file\",outcome=\"ok\"}", 1.0),
        ("moss_call_duration_seconds_count{tool=\"read_file\"}", 3.0),
        ("moss_call_duration_seconds_bucket{le=\"+Inf\",tool=\"read_file\"}", 3.0),
        ("moss_calls_running", 0.0),
        ("moss_calls_queued", 0.0),
        ("moss_confirmations_pending", 0.0),
        ("moss_confirmations_total{outcome=\"approved\"}", 1.0),
        ("moss_commits_total", 1.0),
        ("moss_unauthenticated_requests_total", 1.0),
        ("moss_plugins{state=\"ready\"}", 0.0),
        ("moss_index_workspaces{part=\"files\",state=\"off\"}", 0.0),
        ("moss_index_workspaces{part=\"texts\",state=\"off\"}", 0.0),
        ("moss_build_info{version=\"0.1.0\"}", 1.0),
    ] {
        assert_eq!(number(&text, line), Some(expected), "{line} in {text}");
    }
    assert!(!text.contains("canary") && !text.contains(".txt"), "{text}");
    let connections = || number(&scrape(&daemon), "moss_connections{transport=\"unix\"}");
    until("theirs are left", async || connections() == Some(2.0)).await;
    drop((caller, approver));
    until("the connections are gone", async || connections() == Some(0.0)).await;
    daemon.stop();
}

#[tokio::test]
async fn a_durable_edit_waits_three_times_for_the_disk() {
    let site = counting();
    site.user_policy("version = 1\n[[rule]]\neffects = [\"write\"]\ndecision = \"allow\"\n");
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let edit = async |text: &str| {
        let lines = json!({"path": "a.txt", "startLine": 1, "endLine": 1, "newText": text});
        caller.done("replace_lines", lines).await;
    };
    let syncs = || {
        let text = scrape(&daemon);
        ["files", "history", "audit"].map(|of| {
            let line = format!("moss_disk_syncs_total{{of=\"{of}\"}}");
            number(&text, &line).unwrap_or_else(|| panic!("{line} in {text}"))
        })
    };
    // The first one makes the name of the history's log durable, too.
    edit("first").await;
    let before = syncs();
    edit("second").await;
    let after = syncs();
    // The log of the history goes to disk while the file does, and then while its directory does; what the
    // audit journal waits for is the third.
    assert_eq!([0, 1, 2].map(|at| after[at] - before[at]), [2.0, 2.0, 1.0], "{before:?}");
    daemon.stop();
}

#[tokio::test]
async fn a_large_file_that_is_read_is_parsed_before_anything_is_proposed() {
    let site = counting();
    let function = "fn f(a: u32) -> u32 {\n    a + 1\n}\n";
    for (path, times) in
        [("large.rs", 2_000), ("other.rs", 1_000), ("small.rs", 100), ("large.txt", 2_000)]
    {
        site.write(path, function.repeat(times));
    }
    site.write("secret/large.rs", function.repeat(2_000));
    site.user_policy(
        "version = 1\n[[rule]]\nname = \"r\"\npaths = [\"secret/**\"]\ndecision = \"deny\"\n",
    );
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let nodes = || number(&scrape(&daemon), "moss_syntax_tree_nodes").unwrap();
    caller.done("read_file", json!({"path": "small.rs"})).await;
    caller.done("read_file", json!({"path": "large.txt"})).await;
    caller.call(call("read_file", json!({"path": "secret/large.rs"}))).await.unwrap_err();
    assert_eq!(nodes(), 0.0);
    // A part of it is enough.
    caller.done("read_file", json!({"path": "large.rs", "endLine": 10})).await;
    until("it is parsed", async || nodes() > 2_000.0 * 10.0).await;
    let parsed = nodes();
    let edit = json!({"path": "large.rs", "startLine": 2, "endLine": 2, "newText": "    a + 2"});
    let dry = moss_proto::v1::Call { dry_run: true, ..call("replace_lines", edit) };
    let proposed = caller.call(dry).await.unwrap();
    assert_eq!(proposed.changes[0].diagnostics, []);
    assert_eq!(nodes(), parsed, "of each file one tree is kept");
    // What ends a stream cancels its call.
    let read = call("read_file", json!({"path": "other.rs"}));
    caller.stream(read).await.unwrap().end().await.unwrap();
    until("the other one is parsed", async || nodes() > parsed).await;
    daemon.stop();
}

#[tokio::test]
async fn what_is_known_of_files_is_counted() {
    let site = counting();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    crate::text_index::ready(&caller).await;
    let text = scrape(&daemon);
    for part in ["files", "texts"] {
        for (state, count) in [("building", 0.0), ("ready", 1.0), ("off", 0.0)] {
            let line = format!("moss_index_workspaces{{part=\"{part}\",state=\"{state}\"}}");
            assert_eq!(number(&text, &line), Some(count), "{line} in {text}");
        }
    }
    for line in ["moss_index_texts", "moss_index_texts_known"] {
        assert_eq!(number(&text, line), Some(1.0), "{line} in {text}");
    }
    assert!(number(&text, "moss_index_entries") > Some(0.0), "{text}");
    assert!(number(&text, "moss_index_memory_bytes") > Some(0.0), "{text}");
    assert!(number(&text, "moss_index_text_memory_bytes") > Some(0.0), "{text}");
    assert!(number(&text, "moss_index_disk_bytes").is_some(), "{text}");

    site.config("[index]\nenabled = false\n");
    daemon.stop();
    let text = scrape(&site.serve());
    for part in ["files", "texts"] {
        let line = format!("moss_index_workspaces{{part=\"{part}\",state=\"off\"}}");
        assert_eq!(number(&text, &line), Some(1.0), "{line} in {text}");
    }
}

#[tokio::test]
async fn plugins_are_counted_by_state() {
    let site = counting();
    let nonsense = b"no component".to_vec();
    install(&site, &[("zoo", &zoo("polite"), json!({})), ("broken", &nonsense, json!({}))]);
    let daemon = site.serve();
    until("they are settled", async || {
        let text = scrape(&daemon);
        let count = |state| number(&text, &format!("moss_plugins{{state=\"{state}\"}}"));
        [count("loading"), count("ready"), count("failed")] == [Some(0.0), Some(1.0), Some(1.0)]
    })
    .await;
}

#[tokio::test]
async fn metrics_are_exposed_to_valid_requests() {
    let site = counting();
    let daemon = site.serve();
    // Who sends nothing, or too much, holds up nobody.
    let silent: Vec<TcpStream> = (0..7).map(|_| connect(&daemon)).collect();
    for (request, status) in [
        ("POST /metrics HTTP/1.1", "HTTP/1.1 405 Method Not Allowed"),
        ("GET / HTTP/1.1", "HTTP/1.1 404 Not Found"),
        ("GET /metrics/../secret HTTP/1.1", "HTTP/1.1 404 Not Found"),
        ("nonsense", "HTTP/1.1 400 Bad Request"),
    ] {
        assert_eq!(ask(&daemon, request).0, status, "{request}");
    }
    let mut flood = connect(&daemon);
    let header = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n", "x".repeat(100_000));
    // The daemon may hang up before it has read everything.
    let _ = flood.write_all(header.as_bytes());
    let _ = flood.read_to_end(&mut Vec::new());
    scrape(&daemon);
    drop(silent);
    daemon.stop();
}

#[test]
fn numbers_are_off_by_default_and_never_leave_the_machine() {
    let mut site = Site::new();
    let daemon = site.serve();
    assert!(!daemon.log().contains("metrics"), "{}", daemon.log());
    daemon.stop();
    for (host, word) in
        [("0.0.0.0:0", "loopback"), ("[::]:0", "loopback"), ("localhost", "HOST:PORT")]
    {
        site = Site::new();
        site.argument("--metrics").argument(host);
        let ended = site.serve_refused();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(word), "{}", ended.stderr);
    }
}
