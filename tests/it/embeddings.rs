//! Embeddings: who lets texts be sent, which texts, what questions gain by it, and what becomes of answers when the
//! endpoint does what it should not.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use moss_proto::v1;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{Client, Editor, Site, output, refusing, until, waiting};

/// Lets texts be sent.
const ALLOWING: &str = "version = 1\n[[rule]]\ntools = [\"embeddings\"]\neffects = [\"network\"]\ndecision = \"allow\"\n";
/// Keeps some files from everybody.
const PRIVATE: &str = "[[rule]]\neffects = [\"read\"]\npaths = [\"private/**\"]\ndecision = \"deny\"\n\
                       [[rule]]\neffects = [\"read\"]\npaths = [\"shared/**\"]\ndecision = \"ask\"\n";
const RETRY: &str = "/// Tries again after a pause.\npub fn attempt_anew() {\n    pause();\n}\n";
const CONFIG: &str = "/// Reads settings.\npub fn load_settings() {\n    open();\n}\n";
/// Has no word of the files, and means one of them.
const QUESTION: &str = "perseverance with obstacles";

/// Texts and questions that are alike have words of one row.
const MEANINGS: [&[&str]; 3] = [
    &["pause", "perseverance", "obstacles"],
    &["settings", "preferences"],
    &["needle", "haystack"],
];

/// How an endpoint behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Good,
    Refuses,
    Hangs,
    OtherLength,
    Garbage,
    Redirects,
}

/// An endpoint that speaks as Ollama does, and what it was sent.
struct Endpoint {
    url: String,
    mood: Arc<Mutex<Mood>>,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (mood, bodies) = (Arc::new(Mutex::new(Mood::Good)), Arc::new(Mutex::new(Vec::new())));
        let (now, heard) = (Arc::clone(&mood), Arc::clone(&bodies));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (now, heard) = (Arc::clone(&now), Arc::clone(&heard));
                tokio::spawn(async move { serve(stream, &now, &heard).await });
            }
        });
        Self { url, mood, bodies }
    }

    fn is(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// All that it was sent, one text behind the other.
    fn sent(&self) -> String {
        self.bodies.lock().unwrap().join("\n")
    }

    fn config(&self, more: &str) -> String {
        format!("[embeddings]\nurl = \"{}\"\nmodel = \"m\"\nquery_ms = 10_000\n{more}", self.url)
    }
}

async fn serve(
    mut stream: TcpStream,
    mood: &Mutex<Mood>,
    heard: &Mutex<Vec<String>>,
) -> Option<()> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    let body = loop {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        request.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
        if body.len() >= length.parse().ok()? {
            break body.to_owned();
        }
    };
    heard.lock().unwrap().push(body.clone());
    let asked: Value = serde_json::from_str(&body).ok()?;
    let texts = asked["input"].as_array()?;
    let mood = *mood.lock().unwrap();
    let vector = |text: &Value| {
        let text = text.as_str().unwrap().to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let mut numbers: Vec<f64> = MEANINGS.iter().map(|words| f64::from(has(words))).collect();
        numbers.push(0.1);
        if mood == Mood::OtherLength {
            numbers.push(1.0);
        }
        numbers
    };
    let vectors: Vec<_> = texts.iter().map(vector).collect();
    let (status, body) = match mood {
        _ if body.contains("indigestible") => ("500 Internal Server Error", "NaN".to_owned()),
        Mood::Good | Mood::OtherLength => ("200 OK", json!({ "embeddings": vectors }).to_string()),
        Mood::Refuses => ("503 Service Unavailable", "busy".to_owned()),
        Mood::Garbage => ("200 OK", "<html>".to_owned()),
        Mood::Redirects => {
            ("307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/", String::new())
        }
        Mood::Hangs => {
            while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
            return None;
        }
    };
    let length = body.len();
    let response = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(response.as_bytes()).await.ok()
}

async fn ask(client: &Client, query: &str) -> Value {
    client.done("codebase_search", json!({"query": query})).await
}

fn first(found: &Value) -> &str {
    found["results"][0]["symbol"].as_str().unwrap_or_default()
}

async fn status(client: &Client) -> v1::EmbeddingStatus {
    client.load().await.workspaces.remove(0).index.unwrap().embeddings.unwrap()
}

async fn ready(client: &Client) -> v1::EmbeddingStatus {
    until("vectors are there", async || {
        let status = status(client).await;
        status.state() == v1::IndexState::Ready && status.files == status.files_embedded
    })
    .await;
    status(client).await
}

/// The directories of vectors on the machine, with what is in them.
fn stored(site: &Site) -> Vec<PathBuf> {
    let all = site.outside("cache/moss/embeddings");
    let Ok(workspaces) = std::fs::read_dir(all) else { return Vec::new() };
    let files = |directory: PathBuf| std::fs::read_dir(directory).unwrap();
    let all = workspaces.flat_map(|one| files(one.unwrap().path()));
    all.map(|one| one.unwrap().path()).filter(|file| file.ends_with("vectors")).collect()
}

fn site() -> Site {
    let site = Site::new();
    site.write("src/net.rs", RETRY);
    site.write("src/config.rs", CONFIG);
    for closed in
        ["private/a.rs", "shared/b.rs", "keys/server.pem", ".env", "out/c.rs", "vendor/d.rs"]
    {
        site.write(closed, "fn forbidden_needle() {}\n");
    }
    site.write(".gitignore", "out/\n");
    site
}

#[tokio::test]
async fn a_question_finds_what_is_near_and_nothing_closed_is_ever_sent() {
    let (site, endpoint) = (site(), Endpoint::start().await);
    site.user_policy(&format!("{ALLOWING}{PRIVATE}"));
    site.config(&endpoint.config(""));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let known = ready(&client).await;
    assert_eq!((known.model.as_str(), known.chunks_embedded > 0), ("m", true), "{known:?}");
    let found = ask(&client, QUESTION).await;
    assert_eq!((first(&found), &found["ranking"]), ("attempt_anew", &json!("hybrid")), "{found}");
    assert_eq!(found["results"][0]["why"], "meaning");
    // A name gives its declaration first, whatever is near.
    let named = ask(&client, "load_settings").await;
    assert_eq!((first(&named), &named["ranking"]), ("load_settings", &json!("hybrid")), "{named}");
    // What belongs to a place needs no vector.
    assert_eq!(ask(&client, "src/net.rs:2").await["ranking"], Value::Null);
    // What an editor has not saved is the person's.
    let mut editor = Editor::attach(&daemon.approver().await, "Code").await;
    editor.hold("src/config.rs", 1, Some("fn forbidden_draft() {}\n")).await;
    // Texts of later are sent once somebody asks; those that come closed are not.
    site.write("src/late.rs", "fn late_haystack() {}\n");
    site.write("private/late.rs", "fn forbidden_needle_of_later() {}\n");
    ask(&client, QUESTION).await;
    until("the new file is sent", async || endpoint.sent().contains("late_haystack")).await;
    ready(&client).await;
    let sent = endpoint.sent();
    assert!(sent.contains("attempt_anew") && sent.contains(QUESTION), "{sent}");
    assert!(!sent.contains("forbidden"), "{sent}");

    // A rule of later removes the vectors, and what it closes is not sent again.
    let before = status(&client).await;
    let closing = "[[rule]]\ntools = [\"embeddings\"]\neffects = [\"read\"]\npaths = [\"src/late.rs\"]\ndecision = \"deny\"\n";
    site.user_policy(&format!("{ALLOWING}{PRIVATE}{closing}"));
    until("its vectors are gone", async || status(&client).await.files + 1 == before.files).await;
    let after = ready(&client).await;
    assert_eq!(after.chunks_embedded + 1, before.chunks_embedded);
    until("also on disk", async || status(&client).await.disk_bytes < before.disk_bytes).await;
    site.write("src/late.rs", "fn late_haystack() {}\nfn forbidden_addition() {}\n");
    site.write("src/sign.rs", "fn sign_that_all_was_seen() {}\n");
    ask(&client, QUESTION).await;
    until("later texts are sent", async || endpoint.sent().contains("sign_that_all")).await;
    assert!(!endpoint.sent().contains("forbidden"), "{}", endpoint.sent());

    // Nobody is allowed to any more: memory and disk are empty.
    assert_eq!(stored(&site).len(), 1);
    site.user_policy(PRIVATE.replacen("[[rule]]", "version = 1\n[[rule]]", 1).as_str());
    until("they are off", async || status(&client).await.state() == v1::IndexState::Off).await;
    let off = status(&client).await;
    assert!(off.reason.contains("no rule allows it"), "{off:?}");
    assert_eq!((off.chunks_embedded, stored(&site)), (0, vec![]));
    let count = endpoint.bodies.lock().unwrap().len();
    let found = output(
        &client.call(refusing("codebase_search", json!({"query": QUESTION}))).await.unwrap(),
    );
    assert_eq!((&found["results"], &found["ranking"]), (&json!([]), &json!("lexical")));
    assert_eq!(endpoint.bodies.lock().unwrap().len(), count);
}

#[tokio::test]
async fn without_an_endpoint_answers_are_what_they_were_and_with_one_unless_it_is_allowed() {
    let (plain, asking, denying) = (site(), site(), site());
    let endpoint = Endpoint::start().await;
    let deny = ALLOWING.replace("allow", "deny");
    for site in [&asking, &denying] {
        site.config(&endpoint.config(""));
    }
    denying.user_policy(&deny);
    let daemons = [plain.serve(), asking.serve(), denying.serve()];
    let mut answers = Vec::new();
    for daemon in &daemons {
        let client = daemon.caller().await;
        crate::live_tree::ready(&client).await;
        let mut own = Vec::new();
        for query in ["tries again after a pause", "load_settings", "forbidden needle", QUESTION] {
            let call = refusing("codebase_search", json!({"query": query}));
            own.push(client.call(call).await.unwrap().output_json);
        }
        answers.push(own);
    }
    for words in &answers[1..] {
        let without = |text: &String| text.replace(",\"ranking\":\"lexical\"", "");
        assert!(words.iter().all(|text| text.contains("\"ranking\":\"lexical\"")), "{words:?}");
        assert_eq!(words.iter().map(without).collect::<Vec<_>>(), answers[0]);
    }
    assert!(answers[0].iter().all(|text| !text.contains("ranking")));
    let client = daemons[0].caller().await;
    assert_eq!(client.load().await.workspaces.remove(0).index.unwrap().embeddings, None);
    assert!(status(&daemons[1].caller().await).await.reason.contains("no rule allows it"));
    assert!(status(&daemons[2].caller().await).await.reason.contains("denied"));
    assert_eq!(endpoint.sent(), "");
    assert!(stored(&plain).is_empty() && stored(&asking).is_empty() && stored(&denying).is_empty());
}

#[tokio::test]
async fn a_person_is_asked_once_for_a_workspace_and_an_endpoint() {
    let (site, endpoint) = (site(), Endpoint::start().await);
    site.config(&endpoint.config(""));
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    crate::live_tree::ready(&client).await;
    let mut watcher = approver.watch().await;
    let asked = |query: &'static str| {
        let client = client.clone();
        tokio::spawn(async move {
            let call = waiting("codebase_search", json!({"query": query}));
            output(&client.call(call).await.unwrap())
        })
    };
    let waits = asked(QUESTION);
    let question = watcher.question().await;
    let about = question.embedding.clone().unwrap();
    assert_eq!((about.url.as_str(), about.model.as_str()), (endpoint.url.as_str(), "m"));
    assert!(about.this_machine && question.offers.is_empty());
    approver.deny(&question, "not now").await.unwrap();
    assert_eq!(waits.await.unwrap()["ranking"], "lexical");
    // Who said no is not asked again, and nothing was sent.
    assert_eq!(asked(QUESTION).await.unwrap()["ranking"], "lexical");
    assert!(approver.pending().await.is_empty());
    assert_eq!(endpoint.sent(), "");

    // Another endpoint is another question.
    let other = Endpoint::start().await;
    site.config(&other.config(""));
    until("it is configured", async || status(&client).await.url == other.url).await;
    let waits = asked(QUESTION);
    let question = watcher.question().await;
    approver.approve(&question).await.unwrap();
    waits.await.unwrap();
    ready(&client).await;
    let found = asked(QUESTION).await.unwrap();
    assert_eq!((first(&found), &found["ranking"]), ("attempt_anew", &json!("hybrid")), "{found}");
    assert!(approver.pending().await.is_empty());
    assert_eq!(endpoint.sent(), "");

    // A rule that denies it counts more.
    site.user_policy(&ALLOWING.replace("allow", "deny"));
    until("it is denied", async || status(&client).await.reason.contains("denied")).await;
    assert_eq!(asked(QUESTION).await.unwrap()["ranking"], "lexical");
    assert!(stored(&site).is_empty());
}

#[tokio::test]
async fn an_endpoint_that_fails_costs_answers_nothing_and_is_asked_again_later() {
    let (site, endpoint) = (site(), Endpoint::start().await);
    site.user_policy(ALLOWING);
    site.config(&endpoint.config(""));
    let daemon = site.serve();
    let client = daemon.caller().await;
    ready(&client).await;
    let words = ask(&client, "src/net.rs").await["results"][0]["path"].clone();
    for (number, mood) in
        [Mood::Refuses, Mood::OtherLength, Mood::Garbage, Mood::Redirects].into_iter().enumerate()
    {
        endpoint.is(mood);
        let query = format!("tries again after a pause {number}");
        let found = ask(&client, &query).await;
        assert_eq!(
            (first(&found), &found["ranking"]),
            ("attempt_anew", &json!("lexical")),
            "{found}"
        );
        let known = status(&client).await;
        assert!(!known.problem.is_empty() && known.chunks_embedded > 0, "{mood:?}: {known:?}");
        // It is left alone meanwhile.
        let count = endpoint.bodies.lock().unwrap().len();
        assert_eq!(ask(&client, "another question").await["ranking"], "lexical");
        assert_eq!(endpoint.bodies.lock().unwrap().len(), count, "{mood:?}");
        endpoint.is(Mood::Good);
        let mut turn = 0;
        until("it is asked again", async || {
            turn += 1;
            ask(&client, &format!("pause {number} {turn}")).await["ranking"] == "hybrid"
        })
        .await;
        assert_eq!(status(&client).await.problem, "");
    }
    assert_eq!(ask(&client, "src/net.rs").await["results"][0]["path"], words);
    assert!(daemon.log().contains("the endpoint of embeddings fails"));

    // Who hangs is waited for as long as is configured.
    site.config(&endpoint.config("").replace("10_000", "50"));
    endpoint.is(Mood::Hangs);
    until("a question is too late", async || {
        ask(&client, "tries again later").await["ranking"] == "lexical"
    })
    .await;
    let found = ask(&client, "tries again after a pause once more").await;
    assert_eq!((first(&found), &found["ranking"]), ("attempt_anew", &json!("lexical")), "{found}");
}

#[tokio::test]
async fn a_text_that_the_model_cannot_embed_goes_without_and_nothing_else_does() {
    let (site, endpoint) = (site(), Endpoint::start().await);
    site.user_policy(ALLOWING);
    site.config(&endpoint.config(""));
    site.write(
        "src/a.rs",
        "/// Is indigestible.\npub fn odd() {\n    open();\n}\n\npub fn even() {}\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    let known = ready(&client).await;
    assert!(known.problem.is_empty() && known.chunks_embedded >= 2, "{known:?}");
    // So is a question of which it makes none.
    assert_eq!(ask(&client, "indigestible settings").await["ranking"], "lexical");
    let found = ask(&client, QUESTION).await;
    assert_eq!((first(&found), &found["ranking"]), ("attempt_anew", &json!("hybrid")), "{found}");
    // It is not sent again and again.
    let sent = || endpoint.sent().matches("Is indigestible").count();
    let before = sent();
    site.write("src/late.rs", "fn late_haystack() {}\n");
    ask(&client, QUESTION).await;
    until("it is embedded", async || endpoint.sent().contains("late_haystack")).await;
    ready(&client).await;
    assert_eq!((sent(), status(&client).await.problem.as_str()), (before, ""));
}

#[tokio::test]
async fn vectors_are_kept_for_the_next_daemon_and_made_anew_on_request() {
    let (site, endpoint) = (site(), Endpoint::start().await);
    site.user_policy(ALLOWING);
    site.config(&endpoint.config(""));
    let daemon = site.serve();
    let known = ready(&daemon.caller().await).await;
    daemon.stop();
    let sent = endpoint.bodies.lock().unwrap().len();
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(ready(&client).await.chunks_embedded, known.chunks_embedded);
    assert_eq!(endpoint.bodies.lock().unwrap().len(), sent, "nothing is sent twice");
    let ended = site.run(&["index", "status"]);
    assert!(ended.stdout.contains("embeddings: ready, "), "{}", ended.stdout);
    let ended = site.run(&["index", "rebuild"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    until("they are made anew", async || endpoint.bodies.lock().unwrap().len() > sent).await;
    ready(&client).await;
    // Another model makes other vectors.
    site.config(&endpoint.config("").replace("\"m\"", "\"other\""));
    until("it is asked", async || endpoint.sent().contains("\"model\":\"other\"")).await;
    assert_eq!(ready(&client).await.model, "other");
    daemon.stop();
    assert_eq!(stored(&site).len(), 1);
    assert_eq!(site.run(&["index", "clear"]).code, Some(0));
    assert!(stored(&site).is_empty());
}
