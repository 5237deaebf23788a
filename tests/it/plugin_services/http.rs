//! Requests of plugins, against a server of this machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{install_probe, probe, probed, served};
use crate::harness::{Site, call, failure, until};

/// A server that answers on a path what its name says, and counts who waits.
struct Server {
    port: u16,
    waiting: Arc<AtomicUsize>,
}

// === impl Server ===

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let waiting = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&waiting);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, port, Arc::clone(&counted)));
            }
        });
        Self { port, waiting }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    fn grant(&self) -> Value {
        json!({ "http": [format!("http://127.0.0.1:{}", self.port)] })
    }
}

async fn answer(mut stream: TcpStream, port: u16, waiting: Arc<AtomicUsize>) {
    let (mut asked, mut buffer) = (Vec::new(), [0; 1024]);
    while !asked.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => asked.extend_from_slice(&buffer[..count]),
        }
    }
    let asked = String::from_utf8_lossy(&asked).into_owned();
    let found =
        |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let text = match asked.split(' ').nth(1).unwrap_or_default() {
        "/large" => found(&"x".repeat(5000)),
        "/away" => format!(
            "HTTP/1.1 302 Found\r\nlocation: http://localhost:{port}/\r\ncontent-length: 0\r\n\r\n"
        ),
        "/metadata" => "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\n\
                        content-length: 0\r\n\r\n"
            .to_owned(),
        "/silent" => String::new(),
        "/stuck" => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n".to_owned(),
        path => found(path),
    };
    if stream.write_all(text.as_bytes()).await.is_ok() {
        waiting.fetch_add(1, Ordering::SeqCst);
        while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
        waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

fn get(url: impl Into<String>) -> Value {
    json!({ "do": "get", "url": url.into() })
}

#[tokio::test]
async fn a_plugin_reaches_the_hosts_that_it_was_granted() {
    let (site, server) = (Site::new(), Server::start().await);
    let (_daemon, caller) = probed(&site, server.grant()).await;
    let steps = json!([
        get(server.url("here")),
        get(server.url("away")),
        { "do": "get", "url": server.url("away"), "follow": true },
        { "do": "get", "url": server.url("metadata"), "follow": true },
        get(format!("http://localhost:{}/", server.port)),
        get(format!("https://127.0.0.1:{}/", server.port)),
        get(format!("http://127.0.0.1:{}/", server.port.wrapping_add(1))),
        get(format!("http://user:word@127.0.0.1:{}/", server.port)),
    ]);
    let came = probe(&caller, steps).await;
    assert_eq!(came[0], json!({ "status": 200, "body": "/here" }));
    // A redirect is the guest's to follow, and then a request like any other.
    assert_eq!(came[1], json!({ "status": 302, "body": "" }));
    for came in &came[2..7] {
        assert_eq!(came["error"], "denied", "{came}");
    }
    assert!(came[7]["error"].is_string(), "{}", came[7]);
}

#[tokio::test]
async fn a_pattern_does_not_reach_what_is_near() {
    let (site, server) = (Site::new(), Server::start().await);
    let grant = json!({ "http": [format!("http://*:{}", server.port), "http://169.254.169.254"] });
    let (_daemon, caller) = probed(&site, grant).await;
    let near = ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]", "0.0.0.0"];
    let mut steps: Vec<Value> =
        near.iter().map(|host| get(format!("http://{host}:{}/", server.port))).collect();
    steps.push(get("http://169.254.169.254/latest/meta-data/"));
    for came in probe(&caller, steps.into()).await {
        assert_eq!(came["error"], "denied", "{came}");
    }
    let steps = json!([get(format!("http://localhost:{}/", server.port))]);
    let result = caller.call(call("probe", json!({ "steps": steps, "fail": true }))).await.unwrap();
    let hint = failure(&result).hint.clone();
    assert!(
        hint.contains(
            "which is private; a plugin reaches it where its grant says `private:localhost`"
        ),
        "{hint}"
    );
}

#[tokio::test]
async fn what_comes_back_is_bounded() {
    let (site, server) = (Site::new(), Server::start().await);
    site.config("[network]\nresponse_bytes_max = 1000\nsilence_ms = 100\n");
    let (_daemon, caller) = probed(&site, server.grant()).await;
    let came = probe(&caller, json!([get(server.url("large")), get(server.url("stuck"))])).await;
    assert_eq!(came[0]["error"], "too_large", "{}", came[0]);
    assert_eq!(came[1]["error"], "timeout", "{}", came[1]);
    let steps: Vec<Value> = (0..65).map(|_| get(server.url("here"))).collect();
    let came = probe(&caller, steps.into()).await;
    assert!(came[..64].iter().all(|came| came["status"] == 200), "{came:?}");
    assert!(came[64]["error"].is_string(), "{}", came[64]);
}

#[tokio::test]
async fn who_waits_for_an_unresponsive_host_is_stopped() {
    let (site, server) = (Site::new(), Server::start().await);
    install_probe(&site, server.grant(), json!({ "limits": { "timeout": "300ms" } }));
    let (_daemon, caller) = served(&site).await;
    for path in ["silent", "stuck"] {
        let steps = json!([get(server.url(path))]);
        let result = caller.call(call("probe", json!({ "steps": steps }))).await.unwrap();
        assert_eq!(failure(&result).code, "timeout", "{path}");
        // The connection does not outlive the call.
        until("nobody waits", async || server.waiting.load(Ordering::SeqCst) == 0).await;
    }
}

#[tokio::test]
async fn a_cancelled_call_leaves_no_request_behind() {
    let (site, server) = (Site::new(), Server::start().await);
    install_probe(&site, server.grant(), json!({ "limits": { "timeout": "1m" } }));
    let (_daemon, caller) = served(&site).await;
    let steps = json!([get(server.url("silent"))]);
    let events = caller.stream(call("probe", json!({ "steps": steps }))).await.unwrap();
    until("the server is asked", async || server.waiting.load(Ordering::SeqCst) == 1).await;
    drop(events);
    until("nobody waits", async || server.waiting.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn the_end_of_a_call_is_the_end_of_what_it_called() {
    let (site, server) = (Site::new(), Server::start().await);
    let mut grant = server.grant();
    grant["tools"] = json!(["probe"]);
    install_probe(&site, grant, json!({ "limits": { "timeout": "1m" } }));
    let (daemon, caller) = served(&site).await;
    let inner = json!({ "steps": [get(server.url("silent"))] });
    let steps = json!([{ "do": "call", "tool": "probe", "arguments": inner }]);
    let events = caller.stream(call("probe", json!({ "steps": steps }))).await.unwrap();
    until("the server is asked", async || server.waiting.load(Ordering::SeqCst) == 1).await;
    drop(events);
    until("nobody waits", async || server.waiting.load(Ordering::SeqCst) == 0).await;
    daemon.stop();
    // Both calls have their ends in the journal.
    let audit = site.run(&["audit", "tail", "--json"]).stdout;
    assert_eq!(audit.matches("\"call_started\"").count(), 2, "{audit}");
    assert_eq!(audit.matches("\"error_code\": \"cancelled\"").count(), 2, "{audit}");
}

#[tokio::test]
async fn a_rule_that_asks_or_denies_keeps_requests_in() {
    for decision in ["ask", "deny"] {
        let (mut site, server) = (Site::new(), Server::start().await);
        site.admin_policy(&format!(
            "version = 1\n[[rule]]\nname = \"offline\"\neffects = [\"network\"]\n\
             decision = \"{decision}\"\n"
        ));
        let (_daemon, caller) = probed(&site, server.grant()).await;
        let came = probe(&caller, json!([get(server.url("here"))])).await;
        assert_eq!(came[0]["error"], "denied", "{decision}: {}", came[0]);
        let steps = json!([get(server.url("here"))]);
        let told = caller.call(call("probe", json!({ "steps": steps, "fail": true }))).await;
        let hint = failure(&told.unwrap()).hint.clone();
        assert!(hint.contains("offline"), "{decision}: {hint}");
        assert!(hint.contains("the policy keeps requests back"), "{decision}: {hint}");
    }
}
