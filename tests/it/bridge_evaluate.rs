//! `moss bridge evaluate --ask`: a model behind a server is asked for the answers that are missing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Ended, Site};

/// What the server was asked: the head and the body.
struct Asked {
    head: String,
    body: Value,
}

/// A server that answers what it is told to, in order, and then no more.
struct Server {
    url: String,
    asked: Receiver<Asked>,
}

// === impl Server ===

impl Server {
    /// Answers with a status, further lines of the head, and a body each. Without answers left it
    /// takes requests and stays silent.
    fn start(answers: Vec<(&'static str, String)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, asked) = channel();
        std::thread::spawn(move || {
            let mut answers = answers.into_iter();
            let mut silent = Vec::new();
            for stream in listener.incoming().flatten() {
                if let Some(stream) = answer(stream, &sender, &mut answers) {
                    silent.push(stream);
                }
            }
        });
        Self { url, asked }
    }

    fn next(&self) -> Asked {
        self.asked.recv_timeout(std::time::Duration::from_secs(60)).expect("moss asks")
    }
}

fn answer(
    stream: TcpStream,
    sender: &Sender<Asked>,
    answers: &mut impl Iterator<Item = (&'static str, String)>,
) -> Option<TcpStream> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap() == 0 {
            return None;
        }
    }
    // Another test's client may still try the port that its server had before.
    if !head.starts_with("POST /v1/") {
        return None;
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    sender.send(Asked { head, body }).ok()?;
    let mut stream = reader.into_inner();
    let Some((status, text)) = answers.next() else { return Some(stream) };
    let length = text.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(format!("{head}{text}").as_bytes()).unwrap();
    None
}

fn said(text: &str) -> (&'static str, String) {
    let message = json!({ "role": "assistant", "content": text });
    let body = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] });
    ("200 OK", body.to_string())
}

const TOOLS: &str = r#"[{"name":"read_file","parameters":{"type":"object","required":["path"],
    "properties":{"path":{"type":"string"}},"additionalProperties":false}}]"#;

/// A site with a set of two cases, and what names the set.
fn set() -> (Site, Vec<String>) {
    let site = Site::new();
    let read = json!({ "id": "read", "messages": [{ "role": "user", "content": "Show a.txt." }],
        "expect": { "calls": [{ "name": "read_file", "arguments": { "path": "a.txt" } }] } });
    let chat = json!({ "id": "chat", "messages": [{ "role": "user", "content": "2 + 2?" }],
        "expect": { "text_has": ["four"] } });
    let file = site.write("set.jsonl", format!("{read}\n{chat}\n"));
    let tools = site.write("tools.json", TOOLS);
    let words = ["evaluate", file.to_str().unwrap(), "--registry", tools.to_str().unwrap()];
    (site, words.map(str::to_owned).to_vec())
}

fn evaluate(site: &Site, set: &[String], further: &[&str]) -> (Ended, Value) {
    let mut words = vec!["bridge"];
    words.extend(set.iter().map(String::as_str));
    words.extend(further);
    words.push("--json");
    let ended = site.run(&words);
    let report = serde_json::from_str(&ended.stdout).unwrap_or(Value::Null);
    (ended, report)
}

const CALL: &str =
    "```json action\n{\"tool\": \"read_file\", \"parameters\": {\"path\": \"a.txt\"}}\n```";

#[test]
fn a_model_without_tools_is_prompted_how_to_call_them_and_its_answers_are_kept() {
    let (site, set) = set();
    let server = Server::start(vec![said(CALL), said("It is four.")]);
    let kept = site.outside("answers.jsonl");
    let kept = kept.to_str().unwrap();
    let asked = ["--ask", &server.url, "--model", "tiny", "--save-responses", kept];
    let (ended, report) = evaluate(&site, &set, &asked);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(report["rates"]["task_completion"], json!({"count": 2, "of": 2, "rate": 1.0}));
    let first = server.next();
    assert!(first.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", first.head);
    assert!(!first.head.to_lowercase().contains("authorization"), "{}", first.head);
    assert_eq!((&first.body["model"], first.body.get("tools")), (&json!("tiny"), None));
    let prompt = first.body["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("read_file") && prompt.contains("```json action"), "{prompt}");
    assert_eq!(first.body["messages"][1], json!({ "role": "user", "content": "Show a.txt." }));
    // The kept responses do as well, also by the earlier name of the option, and nobody is asked.
    let (ended, again) = evaluate(&site, &set, &["--answers", kept]);
    assert_eq!((ended.code, again), (Some(0), report), "{ended:?}");
    let (ended, _) =
        evaluate(&site, &set, &["--responses", kept, "--ask", &server.url, "--model", "m"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    server.next();
    assert!(server.asked.try_recv().is_err());
}

#[test]
fn a_model_with_tools_gets_them_and_the_key_is_shown() {
    let (site, set) = set();
    let calls = json!([{ "id": "call_1", "type": "function",
        "function": { "name": "read_file", "arguments": "{\"path\":\"a.txt\"}" } }]);
    let called = json!({ "choices": [{ "message": { "content": null, "tool_calls": calls },
        "finish_reason": "tool_calls" }] });
    let server = Server::start(vec![("200 OK", called.to_string()), said("Four.")]);
    let key = site.outside("key");
    std::fs::write(&key, "sk-test\n").unwrap();
    let arguments = [
        "--ask",
        &server.url,
        "--model",
        "large",
        "--native-calling",
        "yes",
        "--api-key-file",
        key.to_str().unwrap(),
    ];
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (ended, _) = evaluate(&site, &set, &arguments);
    assert_eq!(ended.code, Some(2), "others may read the key: {ended:?}");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (ended, report) = evaluate(&site, &set, &arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(report["rates"]["task_completion"]["count"], 2);
    let first = server.next();
    assert!(first.head.contains("Bearer sk-test"), "{}", first.head);
    assert_eq!(first.body["tools"][0]["function"]["name"], "read_file");
    assert_eq!(first.body["messages"].as_array().map(Vec::len), Some(1));
    assert!(!format!("{ended:?}").contains("sk-test"));
    let mut exposed = arguments;
    exposed[1] = "http://models.example/v1";
    let (ended, told) = evaluate(&site, &set, &exposed);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(told["error"]["message"].as_str().unwrap().contains("unencrypted"), "{told}");
}

#[test]
fn a_busy_server_is_asked_again_and_a_failure_loses_nothing() {
    let (site, set) = set();
    let server = Server::start(vec![
        ("503 Service Unavailable\r\nretry-after: 0", "loading".to_owned()),
        said(CALL),
        ("404 Not Found", "{\"error\":\"no model `tiny`\"}".to_owned()),
    ]);
    let kept = site.outside("answers.jsonl");
    let asked =
        ["--ask", &server.url, "--model", "tiny", "--save-responses", kept.to_str().unwrap()];
    let (ended, told) = evaluate(&site, &set, &asked);
    assert_eq!(
        (ended.code, &told["error"]["code"]),
        (Some(1), &json!("model_failed")),
        "{ended:?}"
    );
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("`chat`") && message.contains("404"), "{message}");
    assert!(message.contains("no model `tiny`"), "{message}");
    assert!(told["error"]["hint"].as_str().unwrap().contains("1 of 2 responses"), "{told}");
    let kept = std::fs::read_to_string(kept).unwrap();
    let kept: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (kept.len(), &kept[0]["id"], &kept[0]["answer"]["content"]),
        (1, &json!("read"), &json!(CALL))
    );
}

#[test]
fn who_interrupts_keeps_what_was_answered() {
    let (site, set) = set();
    let server = Server::start(vec![said(CALL)]);
    let kept = site.outside("answers.jsonl");
    let mut words = vec!["bridge".to_owned()];
    words.extend(set);
    let further = ["--ask", &server.url, "--model", "tiny", "--save-responses"];
    words.extend(further.map(str::to_owned));
    let mut command = site.command(&words);
    command.arg(&kept).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut asking = command.spawn().unwrap();
    server.next();
    server.next();
    kill_process(Pid::from_child(&asking), Signal::INT).unwrap();
    assert!(!asking.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(kept).unwrap().lines().count(), 1);
}

#[test]
fn what_cannot_be_asked_is_reported() {
    let (site, set) = set();
    // Where nobody listens, also while other tests take ports.
    let nobody = "http://127.0.0.1:1/v1";
    let (ended, told) = evaluate(&site, &set, &["--ask", nobody, "--model", "tiny"]);
    assert_eq!(
        (ended.code, &told["error"]["code"]),
        (Some(1), &json!("model_failed")),
        "{ended:?}"
    );
    assert!(told["error"]["message"].as_str().unwrap().contains("cannot connect"), "{told}");
    for wrong in ["127.0.0.1:1", "localhost", "http://127.0.0.1/v1?key=x"] {
        let (ended, _) = evaluate(&site, &set, &["--ask", wrong, "--model", "tiny"]);
        assert_eq!(ended.code, Some(2), "{wrong}: {ended:?}");
    }
    let (ended, _) = evaluate(&site, &set, &["--ask", nobody]);
    assert_eq!(ended.code, Some(2), "without a model: {ended:?}");
    for page in ["no json", "{}"] {
        let server = Server::start(vec![("200 OK", page.to_owned())]);
        let (ended, _) = evaluate(&site, &set, &["--ask", &server.url, "--model", "tiny"]);
        assert_eq!(ended.code, Some(1), "{page}: {ended:?}");
    }
    let twice = site.write(
        "twice.jsonl",
        "{\"id\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n".repeat(2),
    );
    let set = ["evaluate".to_owned(), twice.to_str().unwrap().to_owned()];
    let (ended, told) = evaluate(&site, &set, &["--ask", nobody, "--model", "tiny"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(told["error"]["message"].as_str().unwrap().contains("two cases"), "{told}");
}

#[test]
fn asking_resumes_from_the_answers_that_are_kept() {
    let (site, set) = set();
    let kept = site.write(
        "kept.jsonl",
        format!("{}\n", json!({ "id": "read", "answer": { "content": CALL } })),
    );
    let kept = kept.to_str().unwrap();
    let server = Server::start(vec![said("Four.")]);
    let asked =
        ["--responses", kept, "--ask", &server.url, "--model", "tiny", "--save-responses", kept];
    let (ended, report) = evaluate(&site, &set, &asked);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(report["rates"]["task_completion"]["count"], 2);
    let ids: Vec<Value> = site
        .read("kept.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids, ["read", "chat"]);
    let (ended, _) = evaluate(&site, &set, &asked);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("is not asked"), "{ended:?}");
    assert_eq!(site.read("kept.jsonl").lines().count(), 2);
}

#[test]
fn a_case_that_cannot_be_answered_is_left_out() {
    let (site, mut set) = set();
    let more = |id: &str| {
        json!({ "id": id, "messages": [{ "role": "user", "content": "x" }],
        "expect": { "text_has": ["four"] } })
    };
    let cases = format!("{}{}\n{}\n", site.read("set.jsonl"), more("long"), more("last"));
    set[1] = site.write("more.jsonl", cases).to_str().unwrap().to_owned();
    let server = Server::start(vec![
        said(CALL),
        said("Four."),
        ("400 Bad Request", "{\"error\":\"too long\"}".to_owned()),
        said("Four."),
    ]);
    let (ended, report) = evaluate(&site, &set, &["--ask", &server.url, "--model", "tiny"]);
    assert_eq!((ended.code, &report["unanswered"]), (Some(0), &json!(1)), "{ended:?}");
    assert_eq!(report["rates"]["task_completion"]["count"], 3);
    assert!(ended.stderr.contains("no response for `long`"), "{ended:?}");
}

#[test]
fn nothing_is_written_over_and_what_cannot_be_written_is_reported_first() {
    let (site, set) = set();
    let server = Server::start(Vec::new());
    let other = site.write("other.jsonl", "{}\n");
    for file in [set[1].as_str(), other.to_str().unwrap(), "/nonexistent/x"] {
        let asked = ["--ask", &server.url, "--model", "tiny", "--save-responses", file];
        let (ended, told) = evaluate(&site, &set, &asked);
        assert_eq!(
            (ended.code, &told["error"]["code"]),
            (Some(2), &json!("file_unusable")),
            "{file}: {ended:?}"
        );
    }
    assert!(server.asked.try_recv().is_err());
    assert_eq!(site.read("other.jsonl"), "{}\n");
}
