//! Tests of endpoints that do what they should not: against servers of this machine.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

use EmbeddingApi::{Ollama, OpenAi};

const TIMES: RequestTimes =
    RequestTimes { connect: Duration::from_secs(20), whole: Duration::from_secs(20) };

/// What a server does once a whole request has come.
#[derive(Clone)]
enum Does {
    /// Sends this and closes.
    Sends(Vec<u8>),
    /// Sends this, and never goes on.
    Hangs(Vec<u8>),
    /// Sends the head, then bytes for as long as somebody takes them.
    Floods(Vec<u8>),
    /// Closes without a word.
    Closes,
    /// Sends the second where the request has this in it, else the first.
    Depends(&'static str, Vec<u8>, Vec<u8>),
}

/// What an endpoint does, and which fault that is.
type FaultCase = (&'static str, Does, fn(&EndpointFault) -> bool);

/// A server that does one thing, and what it was asked.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(does: Does) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (does, heard) = (does.clone(), Arc::clone(&heard));
                tokio::spawn(async move {
                    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
                    while !is_whole(&request) {
                        match stream.read(&mut buffer).await {
                            Ok(0) | Err(_) => return,
                            Ok(count) => request.extend_from_slice(&buffer[..count]),
                        }
                    }
                    let request = String::from_utf8(request).unwrap();
                    heard.lock().unwrap().push(request.clone());
                    let (sent, then) = match &does {
                        Does::Sends(bytes) | Does::Hangs(bytes) | Does::Floods(bytes) => {
                            (bytes.clone(), &does)
                        }
                        Does::Closes => return,
                        Does::Depends(part, without, with) => {
                            let sent = if request.contains(part) { with } else { without };
                            (sent.clone(), &does)
                        }
                    };
                    let _ = stream.write_all(&sent).await;
                    match then {
                        Does::Hangs(_) => {
                            while stream.read(&mut buffer).await.is_ok_and(|n| n > 0) {}
                        }
                        Does::Floods(_) => {
                            let noise = [b' '; 65536];
                            while stream.write_all(&noise).await.is_ok() {}
                        }
                        Does::Sends(_) | Does::Closes | Does::Depends(..) => {}
                    }
                });
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_some_and(|length| body.len() >= length.trim().parse::<usize>().unwrap())
}

fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes()
}

fn found(body: &str) -> Does {
    Does::Sends(response("200 OK", "", body))
}

async fn ask(
    server: &Server,
    api: EmbeddingApi,
    times: RequestTimes,
) -> Result<usize, EndpointFault> {
    let endpoint = EmbeddingEndpoint::new(api, &server.url, "m", None).unwrap();
    let texts = ["a".to_owned(), "b".to_owned()];
    let made = endpoint.embed(&Network::default(), &texts, Some(2), times).await;
    made.map(|vectors| vectors.len())
}

#[tokio::test]
async fn both_apis_are_asked_as_they_are_written_down() {
    for (api, path, body, said) in [
        (Ollama, "/api/embed", r#"{"embeddings":[[1,0],[0,1]]}"#, r#""truncate":true"#),
        (
            OpenAi,
            "/embeddings",
            r#"{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,1]}]}"#,
            r#""encoding_format":"float""#,
        ),
    ] {
        let server = Server::start(found(body)).await;
        let endpoint = EmbeddingEndpoint::new(api, &format!("{}/", server.url), "m", Some(2));
        let endpoint = endpoint.unwrap().with_token(" secret\n").unwrap();
        let texts = ["a".to_owned(), "b".to_owned()];
        let vectors = endpoint.embed(&Network::default(), &texts, None, TIMES).await.unwrap();
        assert_eq!(vectors.len(), 2);
        let asked = server.asked().remove(0);
        assert!(asked.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{asked}");
        let (head, body) = asked.split_once("\r\n\r\n").unwrap();
        assert!(head.to_lowercase().contains("authorization: bearer secret"), "{head}");
        for part in [r#""input":["a","b"]"#, r#""model":"m""#, r#""dimensions":2"#, said] {
            assert!(body.contains(part), "{part} in {body}");
        }
        assert!(!format!("{endpoint:?}").contains("secret"));
    }
}

#[tokio::test]
async fn what_an_endpoint_does_wrong_is_a_fault_and_never_a_vector() {
    let elsewhere = Server::start(found(r#"{"embeddings":[[1,0],[0,1]]}"#)).await;
    let moved = format!("location: {}/api/embed\r\n", elsewhere.url);
    let cases: [FaultCase; 17] = [
        ("closes", Does::Closes, |fault| matches!(fault, EndpointFault::Unreachable(_))),
        ("no HTTP", Does::Sends(b"what?\r\n\r\n".to_vec()), |fault| {
            matches!(fault, EndpointFault::Unreachable(_))
        }),
        ("refuses", Does::Sends(response("401 Unauthorized", "", "no key")), |fault| {
            fault.to_string().ends_with("401 Unauthorized: no key")
        }),
        ("no model", Does::Sends(response("404 Not Found", "", "")), |fault| {
            matches!(fault, EndpointFault::Status { .. })
        }),
        ("busy", Does::Sends(response("429 Too Many Requests", "", "")), |fault| {
            matches!(fault, EndpointFault::Status { .. })
        }),
        ("nothing", Does::Sends(response("204 No Content", "", "")), |fault| {
            matches!(fault, EndpointFault::Status { .. })
        }),
        ("redirects", Does::Sends(response("307 Temporary Redirect", &moved, "")), |fault| {
            matches!(fault, EndpointFault::Redirect(_))
        }),
        ("garbage", found("<html>"), |fault| matches!(fault, EndpointFault::NotVectors(_))),
        ("NaN", found(r#"{"embeddings":[[NaN,0],[0,1]]}"#), |fault| {
            matches!(fault, EndpointFault::NotVectors(_))
        }),
        ("null", found(r#"{"embeddings":[[null,0],[0,1]]}"#), |fault| {
            matches!(fault, EndpointFault::NotVectors(_))
        }),
        ("zeros", found(r#"{"embeddings":[[0,0],[0,1]]}"#), |fault| {
            *fault == EndpointFault::NoDirection
        }),
        ("too many", found(r#"{"embeddings":[[1,0],[0,1],[1,1]]}"#), |fault| {
            *fault == EndpointFault::OtherNumber { made: 3, texts: 2 }
        }),
        ("none", found(r#"{"embeddings":[]}"#), |fault| {
            *fault == EndpointFault::OtherNumber { made: 0, texts: 2 }
        }),
        ("other length", found(r#"{"embeddings":[[1,0,0],[0,1,0]]}"#), |fault| {
            *fault == EndpointFault::OtherLength { made: 3, expected: 2 }
        }),
        ("two lengths", found(r#"{"embeddings":[[1,0],[0,1,0]]}"#), |fault| {
            *fault == EndpointFault::OtherLength { made: 3, expected: 2 }
        }),
        (
            "says that it floods",
            Does::Hangs(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n".to_vec()),
            |fault| matches!(fault, EndpointFault::TooLarge(_)),
        ),
        ("floods", Does::Floods(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), |fault| {
            matches!(fault, EndpointFault::TooLarge(_))
        }),
    ];
    for (name, does, is_expected) in cases {
        let server = Server::start(does).await;
        let fault = ask(&server, Ollama, TIMES).await.unwrap_err();
        assert!(is_expected(&fault), "{name}: {fault:?}");
    }
    assert!(elsewhere.asked().is_empty(), "a redirect was followed");
}

#[tokio::test]
async fn a_fault_of_one_text_is_not_that_of_the_endpoint() {
    let ask = async |server: &Server, text: &str| {
        let endpoint = EmbeddingEndpoint::new(Ollama, &server.url, "m", None).unwrap();
        let (network, texts) = (Network::default(), [text.to_owned()]);
        let made = endpoint.embed_if_it_can(&network, &texts, Some(2), TIMES).await;
        made.map(|vectors| vectors.is_some())
    };
    let vector = response("200 OK", "", r#"{"embeddings":[[1,0]]}"#);
    for (fault, is_of_text) in [
        (response("500 Internal Server Error", "", "unsupported value: NaN"), true),
        (response("400 Bad Request", "", "too long"), true),
        (response("200 OK", "", r#"{"embeddings":[[0,0]]}"#), true),
        (response("200 OK", "", r#"{"embeddings":[[null,0]]}"#), true),
        (response("200 OK", "", r#"{"embeddings":[]}"#), true),
        (response("429 Too Many Requests", "", ""), false),
        (response("503 Service Unavailable", "", ""), false),
    ] {
        let server = Server::start(Does::Depends("odd", vector.clone(), fault.clone())).await;
        assert_eq!(ask(&server, "a").await, Ok(true));
        let said = String::from_utf8_lossy(&fault).into_owned();
        assert_eq!(ask(&server, "odd").await.ok(), is_of_text.then_some(false), "{said}");
        // What it does to every text is its own fault.
        let server = Server::start(Does::Sends(fault)).await;
        assert!(ask(&server, "a").await.is_err(), "{said}");
    }
}

#[tokio::test]
async fn who_hangs_is_left_alone_in_time() {
    let short = RequestTimes { whole: Duration::from_millis(50), ..TIMES };
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n";
    for sent in [b"".to_vec(), b"HTTP/1.1 200".to_vec(), chunked.to_vec()] {
        let server = Server::start(Does::Hangs(sent)).await;
        let fault = ask(&server, Ollama, short).await;
        assert_eq!(fault, Err(EndpointFault::Timeout(short.whole)));
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let closed = Server { url, asked: Arc::default() };
    let fault = ask(&closed, OpenAi, TIMES).await.unwrap_err();
    assert!(matches!(fault, EndpointFault::Unreachable(_)), "{fault:?}");
}

#[tokio::test]
async fn what_is_never_asked_is_no_endpoint() {
    let texts = ["a".to_owned()];
    for url in ["http://169.254.169.254", "http://0.0.0.0:1", "http://[fd00:ec2::254]"] {
        let endpoint = EmbeddingEndpoint::new(Ollama, url, "m", None).unwrap();
        let fault = endpoint.embed(&Network::default(), &texts, None, TIMES).await.unwrap_err();
        assert!(fault.to_string().contains("which is never asked"), "{url}: {fault}");
    }
}

#[test]
fn what_is_no_endpoint_is_refused_when_it_is_read() {
    for url in [
        "",
        "localhost:11434",
        "ftp://a",
        "http://",
        "http://a b",
        "http://u:p@a/",
        "http://127.1",
        "http://2130706433",
        "http://a/?x=1",
        "http://a\n",
    ] {
        assert!(EmbeddingEndpoint::new(Ollama, url, "m", None).is_err(), "{url:?}");
    }
    for model in ["", "a\nb"] {
        assert!(EmbeddingEndpoint::new(Ollama, "http://a", model, None).is_err(), "{model:?}");
    }
    for count in [0, DIMENSIONS_MAX + 1] {
        assert!(EmbeddingEndpoint::new(Ollama, "http://a", "m", Some(count)).is_err());
    }
    let token = |url: &str, token: &str| {
        EmbeddingEndpoint::new(OpenAi, url, "m", None).unwrap().with_token(token).is_ok()
    };
    assert!(token("https://a.example/v1", "x") && token("http://[::1]:1", "x"));
    assert!(!token("http://a.example/v1", "x"), "it would be sent unencrypted");
    assert!(!token("https://a.example/v1", " \n") && !token("https://a.example/v1", "a b"));
}

#[test]
fn what_makes_other_vectors_has_another_name() {
    let id = |api, url: &str, model: &str, dimensions| {
        EmbeddingEndpoint::new(api, url, model, dimensions).unwrap().id()
    };
    let one = id(Ollama, "http://a", "m", None);
    assert_eq!(one, id(Ollama, "http://a/", "m", None));
    for other in [
        id(OpenAi, "http://a", "m", None),
        id(Ollama, "http://b", "m", None),
        id(Ollama, "http://a", "n", None),
        id(Ollama, "http://a", "m", Some(3)),
    ] {
        assert_ne!(one, other);
    }
}
