//! Conversations with servers that behave badly: each is a script over a stream in memory.

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::*;
use crate::framing::{frame, read_message};
use crate::servers::KNOWN;

/// The server's side of a conversation.
struct ScriptedServer {
    from: BufReader<ReadHalf<DuplexStream>>,
    to: WriteHalf<DuplexStream>,
}

impl ScriptedServer {
    /// Reads the next message of the client.
    async fn hear(&mut self) -> Value {
        let message = read_message(&mut self.from, 1 << 20).await.unwrap();
        serde_json::from_slice(&message.expect("the client says something")).unwrap()
    }

    /// The next message of that method.
    async fn await_method(&mut self, method: &str) -> Value {
        loop {
            let message = self.hear().await;
            if message["method"] == method {
                return message;
            }
        }
    }

    async fn say(&mut self, message: Value) {
        self.to.write_all(&frame(message.to_string().as_bytes())).await.unwrap();
    }

    async fn reply(&mut self, request: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }
}

fn rust() -> ServerSpec {
    KNOWN[0].spec()
}

fn options() -> ClientOptions {
    ClientOptions {
        root: "/w".into(),
        start_max: Duration::from_secs(20),
        response_max: Duration::from_secs(5),
    }
}

/// A client of a server that has said what it can do.
async fn started() -> (ServerClient, ScriptedServer) {
    started_as(rust()).await
}

async fn started_as(spec: ServerSpec) -> (ServerClient, ScriptedServer) {
    let (client, mut server) = connected_as(spec);
    let greet = async {
        let first = server.await_method("initialize").await;
        server.reply(&first, json!({"capabilities": {"positionEncoding": "utf-16"}})).await;
        server.await_method("initialized").await;
        server
    };
    let (client, server) = tokio::join!(client, greet);
    (client.unwrap(), server)
}

fn connected() -> (impl Future<Output = Result<ServerClient, ServerFault>>, ScriptedServer) {
    connected_as(rust())
}

fn connected_as(
    spec: ServerSpec,
) -> (impl Future<Output = Result<ServerClient, ServerFault>>, ScriptedServer) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (from, to) = tokio::io::split(theirs);
    let server = ScriptedServer { from: BufReader::new(from), to };
    let client = async move {
        let (from, to) = tokio::io::split(ours);
        ServerClient::start(from, to, &spec, &options()).await
    };
    (client, server)
}

const AT: Position = Position { line: 0, character: 3 };

fn text(text: &str) -> Arc<str> {
    text.into()
}

#[tokio::test(start_paused = true)]
async fn a_text_is_shown_before_it_is_asked_about_and_again_when_it_changed() {
    let (client, mut server) = started().await;
    let path = Path::new("/w/a b.rs");
    client.show(path, "rust", &text("fn a() {}")).unwrap();
    client.show(path, "rust", &text("fn a() {}")).unwrap();
    client.show(path, "rust", &text("fn b() {}")).unwrap();
    let ask = client.references(path, AT);
    let serve = async {
        let opened = server.await_method("textDocument/didOpen").await;
        let document = &opened["params"]["textDocument"];
        assert_eq!(document["uri"], "file:///w/a%20b.rs");
        assert_eq!(
            (&document["languageId"], &document["text"]),
            (&json!("rust"), &json!("fn a() {}"))
        );
        let changed = server.hear().await;
        assert_eq!(changed["method"], "textDocument/didChange");
        assert_eq!(changed["params"]["textDocument"]["version"], 2);
        assert_eq!(changed["params"]["contentChanges"][0]["text"], "fn b() {}");
        let asked = server.hear().await;
        assert_eq!(asked["method"], "textDocument/references");
        assert_eq!(asked["params"]["context"]["includeDeclaration"], false);
        let range =
            json!({"start": {"line": 4, "character": 1}, "end": {"line": 4, "character": 2}});
        server.reply(&asked, json!([{"uri": "file:///w/c.rs", "range": range}])).await;
    };
    let (found, ()) = tokio::join!(ask, serve);
    let found = found.unwrap();
    assert_eq!((found.len(), &found[0].path), (1, &PathBuf::from("/w/c.rs")));
    assert_eq!(found[0].span.start.line, 4);
}

#[tokio::test(start_paused = true)]
async fn what_changed_while_it_looked_is_asked_again_a_few_times() {
    let (client, mut server) = started().await;
    let serve = async {
        for _ in 0..3 {
            let asked = server.await_method("textDocument/definition").await;
            let error = json!({"code": -32_801, "message": "content modified"});
            server.say(json!({"id": asked["id"], "error": error})).await;
        }
        let asked = server.await_method("textDocument/definition").await;
        server.reply(&asked, Value::Null).await;
        server
    };
    let (found, mut server) = tokio::join!(client.definitions(Path::new("/w/a.rs"), AT), serve);
    assert_eq!(found.unwrap(), []);
    let refuse = async {
        let asked = server.await_method("textDocument/definition").await;
        server.say(json!({"id": asked["id"], "error": {"code": -32_603, "message": "no"}})).await;
    };
    let (found, ()) = tokio::join!(client.definitions(Path::new("/w/a.rs"), AT), refuse);
    assert_eq!(found.unwrap_err().to_string(), "it refused `textDocument/definition`: no");
    assert_eq!(client.over(), None);
}

#[tokio::test(start_paused = true)]
async fn who_hangs_is_waited_for_in_bounds_and_a_late_reply_is_nobodys() {
    let (client, mut server) = started().await;
    let fault = client.references(Path::new("/w/a.rs"), AT).await.unwrap_err();
    assert!(matches!(fault, ServerFault::Timeout { .. }) && !fault.is_final(), "{fault}");
    let late = server.await_method("textDocument/references").await;
    let cancelled = server.hear().await;
    assert_eq!(cancelled["method"], "$/cancelRequest");
    assert_eq!(cancelled["params"]["id"], late["id"]);
    server.reply(&late, json!([{"uri": 3}])).await;
    let serve = async {
        let asked = server.await_method("textDocument/references").await;
        server.reply(&asked, Value::Null).await;
    };
    let (found, ()) = tokio::join!(client.references(Path::new("/w/a.rs"), AT), serve);
    assert_eq!(found.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn what_a_call_leaves_unanswered_as_it_ends_is_cancelled() {
    let (client, mut server) = started().await;
    let path = Path::new("/w/a.rs");
    let mut left = Box::pin(client.references(path, AT));
    assert!(tokio::time::timeout(Duration::ZERO, &mut left).await.is_err());
    let asked = server.await_method("textDocument/references").await;
    drop(left);
    let serve = async {
        let cancelled = server.hear().await;
        assert_eq!(cancelled["method"], "$/cancelRequest");
        assert_eq!(cancelled["params"]["id"], asked["id"]);
        let again = server.await_method("textDocument/references").await;
        server.reply(&again, Value::Null).await;
        // What was replied to is not.
        client.close(path).unwrap();
        client.show(path, "rust", &text("")).unwrap();
        assert_eq!(server.hear().await["method"], "textDocument/didOpen");
    };
    let (found, ()) = tokio::join!(client.references(path, AT), serve);
    assert_eq!(found.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn who_never_says_hello_or_counts_otherwise_is_not_talked_to() {
    let (client, server) = connected();
    let fault = client.await.unwrap_err();
    assert_eq!(fault.to_string(), "it did not respond to `initialize` within 20000 ms");
    drop(server);
    let (client, mut server) = connected();
    let greet = async {
        let first = server.await_method("initialize").await;
        server.reply(&first, json!({"capabilities": {"positionEncoding": "utf-8"}})).await;
    };
    let (client, ()) = tokio::join!(client, greet);
    assert!(client.unwrap_err().to_string().contains("utf-8"));
}

#[tokio::test(start_paused = true)]
async fn who_dies_ends_all_that_wait() {
    let (client, mut server) = started().await;
    let die = async {
        server.await_method("textDocument/definition").await;
        drop(server);
    };
    let (found, ()) = tokio::join!(client.definitions(Path::new("/w/a.rs"), AT), die);
    assert_eq!(found.unwrap_err(), ServerFault::Ended);
    assert_eq!(client.until_over().await, ServerFault::Ended);
    let again = client.definitions(Path::new("/w/a.rs"), AT).await;
    assert_eq!(again.unwrap_err(), ServerFault::Ended);
    assert_eq!(client.wait_ready(Duration::from_secs(1)).await.unwrap_err(), ServerFault::Ended);
}

#[tokio::test(start_paused = true)]
async fn who_knows_nothing_any_more_and_goes_on_replying_is_left() {
    let spec =
        KNOWN.iter().find(|known| known.name == "typescript-language-server").unwrap().spec();
    let (client, mut server) = started_as(spec).await;
    let log = |message: &str| {
        let said = json!({"type": 1, "message": message});
        json!({"jsonrpc": "2.0", "method": "window/logMessage", "params": said})
    };
    let exit = async {
        server.say(log("[lspserver] [tsclient] [tsserver] Started")).await;
        let asked = server.await_method("textDocument/references").await;
        server
            .say(log("[lspserver] [tsclient] [tsserver] Exited. Code: null. Signal: SIGKILL"))
            .await;
        server.reply(&asked, json!([])).await;
    };
    let (found, ()) = tokio::join!(client.references(Path::new("/w/a.ts"), AT), exit);
    assert_eq!(found.unwrap_err(), ServerFault::Ended, "it did not find that there are none");
    assert_eq!(client.over(), Some(ServerFault::Ended));
    // Of another server that says nothing.
    let (client, mut server) = started().await;
    let reply = async {
        let asked = server.await_method("textDocument/references").await;
        server.say(log("[tsserver] Exited. Code: 1")).await;
        server.reply(&asked, json!([])).await;
    };
    let (found, ()) = tokio::join!(client.references(Path::new("/w/a.rs"), AT), reply);
    assert_eq!(found.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn who_floods_is_left() {
    let (client, mut server) = started().await;
    let flood = async {
        let message = frame(br#"{"jsonrpc":"2.0","method":"window/logMessage","params":{}}"#);
        while server.to.write_all(&message).await.is_ok() && client.over().is_none() {}
    };
    let (fault, ()) = tokio::join!(client.until_over(), flood);
    assert!(fault.is_final() && fault.to_string().contains("within a minute"), "{fault}");
    let (client, mut server) = started().await;
    server.to.write_all(b"Content-Length: 99999999999\r\n\r\n").await.unwrap();
    assert!(client.until_over().await.to_string().contains("99999999999 bytes"));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_message_ends_the_conversation() {
    for said in ["[]", "{", "{\"jsonrpc\":\"2.0\"}", "\u{0}"] {
        let (client, mut server) = started().await;
        server.to.write_all(&frame(said.as_bytes())).await.unwrap();
        assert!(client.until_over().await.is_final(), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_asks_for_its_settings_and_edits_nothing() {
    let (_client, mut server) = started().await;
    let item = json!({"items": [{"section": "rust-analyzer"}]});
    server.say(json!({"id": "s", "method": "workspace/configuration", "params": item})).await;
    let edit = json!({"edit": {"changes": {"file:///w/a.rs": []}}});
    server.say(json!({"id": 7, "method": "workspace/applyEdit", "params": edit})).await;
    let told = loop {
        let message = server.hear().await;
        if message["id"] == "s" {
            break message;
        }
    };
    assert_eq!(told["result"][0]["procMacro"]["enable"], false);
    let refused = server.hear().await;
    assert_eq!((&refused["id"], &refused["result"]["applied"]), (&json!(7), &json!(false)));
}

#[tokio::test(start_paused = true)]
async fn readiness_is_waited_for_in_bounds() {
    let (client, mut server) = started().await;
    assert!(!client.wait_ready(Duration::from_secs(3)).await.unwrap());
    let status = json!({"health": "ok", "quiescent": true});
    let say = async {
        tokio::time::advance(Duration::from_secs(1)).await;
        server.say(json!({"method": "experimental/serverStatus", "params": status})).await;
    };
    let (is_ready, ()) = tokio::join!(client.wait_ready(Duration::from_secs(3)), say);
    assert!(is_ready.unwrap());
}

#[tokio::test(start_paused = true)]
async fn texts_and_requests_are_bounded() {
    let (client, mut server) = started().await;
    for number in 0..OPEN_MAX + 1 {
        client.show(Path::new(&format!("/w/{number}.rs")), "rust", &text("")).unwrap();
    }
    let closed = server.await_method("textDocument/didClose").await;
    assert_eq!(closed["params"]["textDocument"]["uri"], "file:///w/0.rs");
    assert_eq!(client.shown().len(), OPEN_MAX);
    client.close(Path::new("/w/1.rs")).unwrap();
    assert_eq!(client.shown().len(), OPEN_MAX - 1);
    let path = Path::new("/w/2.rs");
    let mut asked: Vec<_> = (0..65).map(|_| Box::pin(client.definitions(path, AT))).collect();
    let last = asked.pop().unwrap();
    let busy = async {
        // Each is put once before the last one.
        for one in &mut asked {
            assert!(tokio::time::timeout(Duration::ZERO, one).await.is_err());
        }
        last.await
    };
    assert_eq!(busy.await.unwrap_err(), ServerFault::Busy(64));
}

#[tokio::test(start_paused = true)]
async fn a_notification_has_a_bounded_number_of_files() {
    let (client, mut server) = started().await;
    let many = |what: &str, count: usize| -> Vec<PathBuf> {
        (0..count).map(|number| format!("/w/{what}{number}.rs").into()).collect()
    };
    let (created, deleted) = (many("a", NOTICE_FILES_MAX + 1), many("b", NOTICE_FILES_MAX));
    client.notice(&[], &[], &[]).unwrap();
    client.notice(&created, &[], &deleted).unwrap();
    let (mut sizes, mut kinds) = (Vec::new(), BTreeMap::new());
    for _ in 0..3 {
        let noticed = server.await_method("workspace/didChangeWatchedFiles");
        let noticed = tokio::time::timeout(Duration::from_secs(60), noticed).await;
        let noticed = noticed.expect("there are three of them");
        let changes = noticed["params"]["changes"].as_array().unwrap();
        sizes.push(changes.len());
        for change in changes {
            *kinds.entry(change["type"].as_u64().unwrap()).or_insert(0) += 1;
        }
    }
    assert_eq!(sizes, [NOTICE_FILES_MAX, NOTICE_FILES_MAX, 1]);
    assert_eq!(kinds, [(1, created.len()), (3, deleted.len())].into());
}
