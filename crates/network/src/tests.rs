//! Tests of the module `network`: against servers of this machine.

use http_body_util::{Empty, Full};
use rcgen::{CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::download::Download;
use super::*;

const BOUNDS: RequestBounds = RequestBounds {
    connect: Duration::from_secs(20),
    head: Duration::from_secs(20),
    read_timeout: Duration::from_secs(20),
    request_bytes_max: 1000,
    response_bytes_max: 1000,
};

/// Parts of one byte in a response: two blocks and a little.
const CRUMBS: usize = (128 << 10) + 1;

/// What a server responds on a path: everything, its head included. It then waits for the client to
/// go.
type Answers = fn(&str, u16) -> String;

fn answers(path: &str, port: u16) -> String {
    let found =
        |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let moved =
        |to: &str| format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    match path {
        "/large" => found(&"x".repeat(2000)),
        "/endless" => format!("{chunked}{}", format!("100\r\n{}\r\n", "x".repeat(256)).repeat(8)),
        "/crumbs" => format!("{chunked}{}0\r\n\r\n", "1\r\nx\r\n".repeat(CRUMBS)),
        "/silent" => String::new(),
        "/stuck" => format!("{chunked}1\r\nx\r\n"),
        "/moved" => moved("found"),
        "/away" => moved(&format!("https://localhost:{port}/found")),
        "/plain" => moved("http://127.0.0.1/found"),
        "/round" => moved("/round"),
        "/nowhere" => moved("https://"),
        "/far" => moved(&format!("https://{}.example/", "x".repeat(9000))),
        "/missing" => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
        "/garbage" => "what?\r\n\r\n".to_owned(),
        path => found(path),
    }
}

async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, port: u16, answers: Answers) {
    let (mut asked, mut buffer) = (Vec::new(), [0; 1024]);
    while !asked.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => asked.extend_from_slice(&buffer[..count]),
        }
    }
    let asked = String::from_utf8_lossy(&asked).into_owned();
    let path = asked.split(' ').nth(1).unwrap_or_default();
    let text = if path == "/echo" {
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{asked}", asked.len())
    } else {
        answers(path, port)
    };
    if stream.write_all(text.as_bytes()).await.is_ok() {
        // Until the client goes.
        while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
    }
}

/// Serves as long as the test runs. With an authority, by TLS.
async fn serve(tls: Option<Arc<ServerConfig>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            match tls.clone() {
                None => drop(tokio::spawn(answer(stream, port, answers))),
                Some(tls) => drop(tokio::spawn(async move {
                    if let Ok(stream) = TlsAcceptor::from(tls).accept(stream).await {
                        answer(stream, port, answers).await;
                    }
                })),
            }
        }
    });
    port
}

async fn get(
    network: &Network,
    uri: &str,
    may_be_private: bool,
    bounds: RequestBounds,
) -> Result<String, HttpError> {
    let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
    let response =
        network.send(http::Request::get(uri).body(body).unwrap(), may_be_private, bounds).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    Ok(format!("{} {}", status.as_u16(), String::from_utf8_lossy(&body)))
}

#[tokio::test]
async fn a_near_host_is_reached_only_by_who_names_it() {
    let (network, port) = (Network::default(), serve(None).await);
    for host in ["127.0.0.1", "localhost"] {
        let uri = format!("http://{host}:{port}/here");
        assert_eq!(get(&network, &uri, true, BOUNDS).await, Ok("200 /here".to_owned()));
        let error = get(&network, &uri, false, BOUNDS).await.unwrap_err();
        let HttpError::Denied(message) = error else { panic!("{error}") };
        assert!(message.starts_with(&format!("{host} has the address ")), "{message}");
        assert!(message.ends_with(&format!("its grant says `private:{host}`")), "{message}");
    }
}

#[tokio::test]
async fn what_is_never_asked_is_not_asked_by_name_either() {
    let network = Network::default();
    for host in [
        "169.254.169.254",
        "[fd00:ec2::254]",
        "0.0.0.0",
        "[::]",
        "[::ffff:169.254.169.254]",
        "224.0.0.1",
    ] {
        let error = get(&network, &format!("http://{host}/"), true, BOUNDS).await.unwrap_err();
        let HttpError::Denied(message) = error else { panic!("{host}: {error}") };
        assert!(message.ends_with("which is never asked"), "{message}");
    }
}

#[tokio::test]
async fn a_host_that_can_be_understood_in_two_ways_is_refused() {
    let network = Network::default();
    for host in ["2130706433", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.1.", "user:word@localhost"]
    {
        let error = get(&network, &format!("http://{host}/"), true, BOUNDS).await.unwrap_err();
        let HttpError::Denied(message) = error else { panic!("{host}: {error}") };
        assert!(message.starts_with("the URL is refused"), "{message}");
    }
    let error = get(&network, "http://nobody.invalid/", false, BOUNDS).await.unwrap_err();
    assert!(matches!(error, HttpError::Name(_)), "{error}");
}

#[tokio::test]
async fn a_request_is_sent_as_it_is_to_its_own_host() {
    let (network, port) = (Network::default(), serve(None).await);
    let body = Full::from("hello").map_err(|never| match never {}).boxed_unsync();
    let request = http::Request::post(format!("http://127.0.0.1:{port}/echo"))
        .header("x-mine", "1")
        .header("host", "elsewhere.example")
        .body(body)
        .unwrap();
    let response = network.send(request, true, BOUNDS).await.unwrap();
    let echo = response.into_body().collect().await.unwrap().to_bytes();
    let echo = String::from_utf8_lossy(&echo).to_lowercase();
    for expected in
        [&format!("host: 127.0.0.1:{port}"), "x-mine: 1", "content-length: 5", "user-agent: moss/"]
    {
        assert!(echo.contains(expected), "{expected} in {echo}");
    }
    assert!(!echo.contains("elsewhere"), "{echo}");
}

#[tokio::test]
async fn bodies_and_waits_are_bounded() {
    let (network, port) = (Network::default(), serve(None).await);
    let get = async |path: &str, bounds| {
        get(&network, &format!("http://127.0.0.1:{port}/{path}"), true, bounds).await
    };
    let too_large = Err(HttpError::ResponseTooLarge(1000));
    assert_eq!(get("large", BOUNDS).await, too_large);
    assert_eq!(get("endless", BOUNDS).await, too_large);
    let short = Duration::from_millis(50);
    let impatient = RequestBounds { connect: short, head: short, ..BOUNDS };
    assert_eq!(get("silent", impatient).await, Err(HttpError::Timeout(Wait::Response)));
    let impatient = RequestBounds { read_timeout: short, ..BOUNDS };
    let stuck = HttpError::Timeout(Wait::Body);
    assert_eq!(get("stuck", impatient).await, Err(stuck));
    assert!(matches!(get("garbage", BOUNDS).await, Err(HttpError::Failed(_))));

    let body = Full::from("x".repeat(1001)).map_err(|never| match never {}).boxed_unsync();
    let uri = format!("http://127.0.0.1:{port}/silent");
    let sent = network.send(http::Request::post(uri).body(body).unwrap(), true, BOUNDS).await;
    let too_large = HttpError::RequestTooLarge(1000);
    assert_eq!(sent.unwrap_err(), too_large);
}

#[tokio::test]
async fn a_redirect_is_handed_on_and_a_closed_port_is_reported() {
    let (network, port) = (Network::default(), serve(None).await);
    let uri = format!("http://127.0.0.1:{port}/moved");
    assert_eq!(get(&network, &uri, true, BOUNDS).await, Ok("302 ".to_owned()));
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = get(&network, &format!("http://{closed}/"), true, BOUNDS).await.unwrap_err();
    assert!(matches!(error, HttpError::Connect(_)), "{error}");
}

/// A server for `127.0.0.1` and `localhost`, and who trusts it.
async fn trusted() -> (Network, u16) {
    let (key, mut authority) = (KeyPair::generate().unwrap(), CertificateParams::default());
    authority.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let mut roots = RootCertStore::empty();
    roots.add(authority.self_signed(&key).unwrap().der().clone()).unwrap();
    let issuer = Issuer::new(authority, key);
    let names = ["127.0.0.1", "localhost"].map(str::to_owned);
    let (key, params) = (KeyPair::generate().unwrap(), CertificateParams::new(names).unwrap());
    let certificate = params.signed_by(&key, &issuer).unwrap().der().clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    (Network::trusting(roots), serve(Some(Arc::new(config))).await)
}

#[tokio::test]
async fn a_download_follows_redirects_as_far_as_it_may() {
    let (network, port) = trusted().await;
    let fetch = async |url: String, may_be_private| {
        let heard = std::sync::Mutex::new(Vec::new());
        let on_bytes = |bytes, of| heard.lock().unwrap().push((bytes, of));
        let download =
            Download { url: &url, may_be_private, bounds: BOUNDS, accept: None, token: None };
        let fetched = network.download(download, &on_bytes).await;
        fetched.map(|bytes| {
            assert_eq!(
                heard.into_inner().unwrap().last(),
                Some(&(bytes.len() as u64, Some(bytes.len() as u64)))
            );
            String::from_utf8(bytes).unwrap()
        })
    };
    let at = |path: &str| format!("https://127.0.0.1:{port}/{path}");
    assert_eq!(fetch(at("here"), true).await, Ok("/here".to_owned()));
    assert_eq!(fetch(at("moved"), true).await, Ok("/found".to_owned()));
    for (url, may_be_private, expected) in [
        (at("here"), false, "which is private; a download goes to such a host only where a person"),
        (at("away"), true, "which is private; a download goes to such a host only where a person"),
        (at("plain"), true, "a redirect is refused: it does not lead to https"),
        (at("nowhere"), true, "a redirect is refused: it has no valid target"),
        (at("far"), true, "a redirect is refused: it is longer than 8192 bytes"),
        (at("round"), true, "more than 5 redirects in a row"),
        (at("missing"), true, "the server responded with 404 Not Found"),
        (at("large"), true, "it has more than 1000 bytes"),
        (
            format!("http://127.0.0.1:{port}/"),
            true,
            "the URL is refused: it does not lead to https",
        ),
        ("here".to_owned(), true, "the URL is refused: relative URL without a base"),
        ("https://a b/".to_owned(), true, "the URL is refused: it is not one"),
        (format!("https://2130706433:{port}/"), true, "its host is written in an ambiguous way"),
        (format!("https://0x7f.1:{port}/"), true, "its host is written in an ambiguous way"),
        (format!("https://a:b@localhost:{port}/"), true, "it holds credentials"),
    ] {
        let error = fetch(url, may_be_private).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_download_in_single_bytes_is_reported_in_blocks() {
    let (network, port) = trusted().await;
    let heard = std::sync::Mutex::new(Vec::new());
    let on_bytes = |bytes, of| heard.lock().unwrap().push((bytes, of));
    let url = format!("https://127.0.0.1:{port}/crumbs");
    let bounds = RequestBounds { response_bytes_max: 1 << 20, ..BOUNDS };
    let download = Download { url: &url, may_be_private: true, bounds, accept: None, token: None };
    let bytes = network.download(download, &on_bytes).await.unwrap();
    assert!(bytes.len() == CRUMBS && bytes.iter().all(|byte| *byte == b'x'), "{}", bytes.len());
    let heard = heard.into_inner().unwrap();
    assert_eq!(heard, [(65_536, None), (131_072, None), (131_073, None)]);
}

#[tokio::test]
async fn who_shows_no_certificate_of_a_known_authority_is_not_spoken_to() {
    let (_, port) = trusted().await;
    let stranger = Network::trusting(RootCertStore::empty());
    let uri = format!("https://127.0.0.1:{port}/");
    let error = get(&stranger, &uri, true, BOUNDS).await.unwrap_err();
    assert!(matches!(error, HttpError::Tls(_)), "{error}");
}
