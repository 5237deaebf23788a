//! Ports: who gets in, by which credential and which certificate, from this machine and from others.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use moss_proto::v1;
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, date_time_ymd};
use serde_json::json;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::harness::{
    BOUND, Client, Daemon, Ended, Site, binary, call, reason, until, waiting, within,
};

const TOKEN: &str = "c0ffee1234567890c0ffee1234567890";
const APPROVER_TOKEN: &str = "deadbeef1234567890deadbeef123456";

/// Writes a file that only its owner may read.
fn secret(site: &Site, name: &str, text: &str) -> String {
    let path = site.outside(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path.display().to_string()
}

/// A machine whose daemon listens on a free port of it.
fn on_loopback() -> Site {
    let mut site = Site::allowing();
    site.write("a.txt", "x\n");
    let token = secret(&site, "token", TOKEN);
    site.argument("--listen").argument("tcp:127.0.0.1:0").argument("--token-file").argument(&token);
    site
}

/// Certificates that `moss certificate new` made.
pub(crate) struct Certificates(PathBuf);

impl Certificates {
    pub(crate) fn new(site: &Site, name: &str, hosts: &[&str]) -> Self {
        let directory = site.outside(name);
        let mut command = vec!["certificate", "new", "--dir", directory.to_str().unwrap()];
        hosts.iter().for_each(|host| command.extend(["--host", host]));
        let ended = site.run(&command);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        Self(directory)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// The arguments of a daemon that shows them, and asks clients for theirs.
    fn server(&self, is_mutual: bool) -> Vec<String> {
        let mut arguments = self.client(Some("server"));
        if !is_mutual {
            arguments.drain(2..4);
        }
        arguments
    }

    /// The arguments of a client that trusts them, and shows one where it is named.
    pub(crate) fn client(&self, identity: Option<&str>) -> Vec<String> {
        let mut arguments = vec!["--token-file".to_owned(), self.path("caller.token")];
        arguments.extend(["--tls-ca".to_owned(), self.path("ca.crt")]);
        if let Some(name) = identity {
            arguments.extend(["--tls-cert".to_owned(), self.path(&format!("{name}.crt"))]);
            arguments.extend(["--tls-key".to_owned(), self.path(&format!("{name}.key"))]);
        }
        arguments
    }
}

/// A machine whose daemon listens on a port with TLS, with the certificates and how to say so.
pub(crate) fn encrypted(is_mutual: bool) -> (Site, Certificates) {
    let mut site = Site::allowing();
    site.write("a.txt", "x\n");
    let certificates = Certificates::new(&site, "certificates", &[]);
    site.argument("--listen").argument("tcp:127.0.0.1:0");
    for argument in certificates.server(is_mutual) {
        site.argument(&argument);
    }
    (site, certificates)
}

/// Runs a command against the port of a daemon.
pub(crate) fn run(site: &Site, daemon: &Daemon, remote: &[String], arguments: &[&str]) -> Ended {
    let server = format!("tcp:127.0.0.1:{}", daemon.port());
    let mut command = vec!["--server", &server];
    command.extend(remote.iter().map(String::as_str));
    command.extend(arguments);
    site.run(&command)
}

pub(crate) const READ: [&str; 3] = ["call", "read_file", "path=a.txt"];

#[track_caller]
pub(crate) fn assert_refused(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    for word in words {
        assert!(ended.stderr.contains(word), "`{word}` is not in {}", ended.stderr);
    }
}

#[test]
fn without_a_token_no_port_is_opened() {
    let mut site = Site::new();
    site.argument("--listen").argument("tcp:127.0.0.1:0");
    assert_refused(&site.serve_refused(), 2, &["--token-file", "moss token create"]);
    assert!(!site.socket().exists(), "the Unix socket is left behind");
}

#[test]
fn a_token_that_is_no_secret_opens_no_port() {
    for (text, mode, word) in [
        (TOKEN, 0o644, "chmod 600"),
        (TOKEN, 0o640, "chmod 600"),
        ("", 0o600, "openssl rand"),
        ("short", 0o600, "openssl rand"),
        (&"a".repeat(64), 0o600, "openssl rand"),
        ("c0ffee1234567890 c0ffee1234567890", 0o600, "one word"),
    ] {
        let site = on_loopback();
        let path = secret(&site, "token", text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_refused(&site.serve_refused(), 1, &[&path, word]);
    }
    let site = on_loopback();
    std::fs::remove_file(site.outside("token")).unwrap();
    assert_refused(&site.serve_refused(), 1, &[site.outside("token").to_str().unwrap()]);
    std::fs::create_dir(site.outside("token")).unwrap();
    assert_refused(&site.serve_refused(), 1, &["not a regular file"]);
}

#[test]
fn the_approvers_credential_is_not_handed_to_callers() {
    let mut site = on_loopback();
    drop(site.serve());
    let token = site.outside("token");
    site.argument("--approver-token-file").argument(token.to_str().unwrap());
    assert_refused(&site.serve_refused(), 1, &["the same"]);
    let site = on_loopback();
    drop(site.serve());
    std::fs::copy(site.state().join("approver.token"), site.outside("token")).unwrap();
    assert_refused(&site.serve_refused(), 1, &["approver's credential"]);
}

#[test]
fn other_machines_are_not_served_in_the_clear() {
    for address in ["tcp:0.0.0.0:0", "tcp:[::]:0", "tcp:[::ffff:0.0.0.0]:0"] {
        let mut site = Site::new();
        let token = secret(&site, "token", TOKEN);
        site.argument("--listen").argument(address).argument("--token-file").argument(&token);
        assert_refused(&site.serve_refused(), 2, &["--tls-cert", "moss certificate new"]);
    }
}

#[tokio::test]
async fn a_port_is_open_to_its_own_token_and_to_no_other() {
    let site = on_loopback();
    let daemon = site.serve();
    let (caller, approver) = (daemon.token("caller"), daemon.token("approver"));
    for token in [None, Some(""), Some(&TOKEN[1..]), Some(&caller), Some(&approver)] {
        let client = daemon.dial(token).await;
        let status = client.call(call("read_file", json!({"path": "a.txt"}))).await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{token:?}");
        assert_eq!(reason(&status), "CREDENTIAL_INVALID");
        let health = HealthClient::new(client.channel()).check(HealthCheckRequest::default()).await;
        assert_eq!(health.unwrap_err().code(), Code::Unauthenticated, "health, {token:?}");
    }
    let client = daemon.dial(Some(TOKEN)).await;
    client.done("read_file", json!({"path": "a.txt"})).await;
    let request = v1::ListConfirmationsRequest::default();
    let refused = client.confirmations().list_confirmations(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    // What opens the port opens nothing else.
    let local = daemon.connect(Some(TOKEN)).await;
    let status = local.call(call("read_file", json!({"path": "a.txt"}))).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
}

#[tokio::test]
async fn answers_are_taken_over_a_port_only_where_that_was_said() {
    let mut site = Site::new();
    let caller = secret(&site, "token", TOKEN);
    let approver = secret(&site, "approver", APPROVER_TOKEN);
    site.argument("--listen")
        .argument("tcp:127.0.0.1:0")
        .argument("--token-file")
        .argument(&caller);
    site.argument("--approver-token-file").argument(&approver);
    let daemon = site.serve();
    let mut events = daemon
        .dial(Some(TOKEN))
        .await
        .stream(waiting("create_file", json!({"path": "a.txt", "content": "x\n"})))
        .await
        .unwrap();
    let question = events.question().await;
    daemon.dial(Some(APPROVER_TOKEN)).await.approve(&question).await.unwrap();
    events.end().await.unwrap();
    assert!(site.has("a.txt"));
    let tokens = ["--token-file".to_owned(), caller];
    let create = ["call", "create_file", "path=b.txt", "content=x", "--confirm", "allow"];
    let ended = run(&site, &daemon, &tokens, &create);
    assert_refused(&ended, 3, &["--approver-token-file"]);
    let both = [tokens.as_slice(), &["--approver-token-file".to_owned(), approver]].concat();
    assert_eq!(run(&site, &daemon, &both, &create).code, Some(0));
    assert!(site.has("b.txt"));
}

#[test]
fn a_command_works_with_the_daemon_that_it_names() {
    let site = on_loopback();
    let daemon = site.serve();
    let token = ["--token-file".to_owned(), site.outside("token").display().to_string()];
    let ended = run(&site, &daemon, &token, &READ);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("1\\tx"), "{}", ended.stdout);
    for command in [&["tools"][..], &["status"], &["history", "list"], &["policy", "show"]] {
        assert_eq!(run(&site, &daemon, &token, command).code, Some(0), "{command:?}");
    }
    // On a machine where the workspace is not.
    let workspace = site.workspace().display().to_string();
    let elsewhere = Site::new();
    let named = ["--workspace", &workspace, "call", "read_file", "path=a.txt"];
    assert_eq!(run(&elsewhere, &daemon, &token, &named).code, Some(0));
    assert_eq!(run(&elsewhere, &daemon, &token, &READ).code, Some(0));
    let wrong = ["--workspace", "/nowhere", "call", "read_file", "path=a.txt"];
    assert_refused(&run(&elsewhere, &daemon, &token, &wrong), 2, &["/nowhere"]);
    assert_refused(&run(&site, &daemon, &token, &["audit", "tail"]), 2, &["daemon's machine"]);
    assert_refused(&run(&site, &daemon, &token, &["serve"]), 2, &["--server"]);
}

#[test]
fn a_daemon_on_another_unix_socket_can_be_named() {
    let site = Site::new();
    site.write("a.txt", "x\n");
    let socket = site.outside("elsewhere/moss.sock");
    let address = format!("unix:{}", socket.display());
    let mut command = site.command(["serve", "--listen", &address, "--workspace"]);
    command.arg(site.workspace());
    let _daemon = Daemon::start(command, &socket, &site.state());
    let ended = site.run(&["--server", &address, "status"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(site.run(&[["--server", &address].as_slice(), &READ].concat()).code, Some(0));
    let nobody = format!("unix:{}", site.socket().display());
    let ended = site.run(&[["--server", &nobody].as_slice(), &READ].concat());
    assert_refused(&ended, 5, &["no daemon listens", "moss serve"]);
}

#[test]
fn a_daemon_that_cannot_be_reached_is_reported_with_what_to_do() {
    let site = on_loopback();
    let daemon = site.serve();
    let file = |name: &str| ["--token-file".to_owned(), site.outside(name).display().to_string()];
    secret(&site, "other", APPROVER_TOKEN);
    assert_refused(&run(&site, &daemon, &file("other"), &READ), 5, &["credential is not known"]);
    assert_refused(&run(&site, &daemon, &file("none"), &READ), 5, &["none"]);
    assert_refused(&run(&site, &daemon, &[], &READ), 2, &["--token-file"]);
    let certificates = Certificates::new(&site, "certificates", &[]);
    let trusting = certificates.client(None);
    assert_refused(&run(&site, &daemon, &trusting, &READ), 5, &["leave out --tls-ca"]);
    let port = daemon.port();
    daemon.stop();
    let server = format!("tcp:127.0.0.1:{port}");
    let token = site.outside("token").display().to_string();
    let ended = site.run(&["--server", &server, "--token-file", &token, "status"]);
    assert_refused(&ended, 5, &["no daemon listens", "moss serve"]);
    // 192.0.2.0/24 is nobody's: the command must not even try.
    let ended = site.run(&["--server", "tcp:192.0.2.1:1", "--token-file", &token, "status"]);
    assert_refused(&ended, 2, &["in the clear", "--tls-ca"]);
    let json = site.run(&["--json", "--server", &server, "--token-file", &token, "status"]);
    let told: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&told["outcome"], &told["error"]["code"]),
        (&json!("unavailable"), &json!("no_daemon"))
    );
}

#[test]
fn an_encrypted_port_serves_who_trusts_it_and_has_the_token() {
    let (site, certificates) = encrypted(false);
    let daemon = site.serve();
    assert!(daemon.log().contains("(TLS)"), "{}", daemon.log());
    let ended = run(&site, &daemon, &certificates.client(None), &READ);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let create = ["call", "create_file", "path=b.txt", "content=x"];
    assert_eq!(run(&site, &daemon, &certificates.client(None), &create).code, Some(0));
    assert!(site.has("b.txt"));
    // By a name that the certificate has, too.
    let server = format!("tcp:localhost:{}", daemon.port());
    let mut named = vec!["--server".to_owned(), server];
    named.extend(certificates.client(None));
    let words: Vec<&str> = named.iter().map(String::as_str).chain(READ).collect();
    assert_eq!(site.run(&words).code, Some(0));
    let other = Certificates::new(&site, "other", &[]);
    let ended = run(&site, &daemon, &other.client(None), &READ);
    assert_refused(&ended, 5, &["not of the authority", "--tls-ca"]);
    let mut wrong = certificates.client(None);
    wrong[1] = other.path("caller.token");
    assert_refused(&run(&site, &daemon, &wrong, &READ), 5, &["credential is not known"]);
    let plain = certificates.client(None)[..2].to_vec();
    assert_refused(&run(&site, &daemon, &plain, &READ), 5, &["--tls-ca"]);
    daemon.stop();
}

#[test]
fn with_an_authority_for_clients_only_its_clients_get_in() {
    let (site, certificates) = encrypted(true);
    let daemon = site.serve();
    let ended = run(&site, &daemon, &certificates.client(Some("client")), &READ);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let ended = run(&site, &daemon, &certificates.client(None), &READ);
    assert_refused(&ended, 5, &["--tls-cert and --tls-key"]);
    // A certificate of the authority that is not for clients.
    let ended = run(&site, &daemon, &certificates.client(Some("server")), &READ);
    assert_refused(&ended, 5, &["refused the certificate"]);
    let other = Certificates::new(&site, "other", &[]);
    let mut foreign = certificates.client(Some("client"));
    foreign[5] = other.path("client.crt");
    foreign[7] = other.path("client.key");
    assert_refused(&run(&site, &daemon, &foreign, &READ), 5, &["refused the certificate"]);
    assert!(daemon.log().contains("a TLS handshake failed"), "{}", daemon.log());
    assert_eq!(run(&site, &daemon, &certificates.client(Some("client")), &READ).code, Some(0));
}

#[test]
fn every_address_can_be_served_encrypted() {
    let mut site = Site::new();
    site.write("a.txt", "x\n");
    let certificates = Certificates::new(&site, "certificates", &["build.example", "10.0.0.7"]);
    site.argument("--listen").argument("tcp:0.0.0.0:0");
    for argument in certificates.server(true) {
        site.argument(&argument);
    }
    let daemon = site.serve();
    let log = daemon.log();
    let (_, port) = log.split_once("tcp:0.0.0.0:").unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    let server = format!("tcp:127.0.0.1:{port}");
    let client = certificates.client(Some("client"));
    let words = ["--server", &server].into_iter().chain(client.iter().map(String::as_str));
    let words: Vec<&str> = words.chain(READ).collect();
    assert_eq!(site.run(&words).code, Some(0));
}

/// Makes an authority and certificates of it that ended years ago, beside good ones.
fn outdated(site: &Site) -> Certificates {
    let directory = site.outside("outdated");
    std::fs::create_dir(&directory).unwrap();
    let write = |name: &str, text: String| secret(site, &format!("outdated/{name}"), &text);
    let (key, mut authority) = (KeyPair::generate().unwrap(), CertificateParams::default());
    authority.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    write("ca.crt", authority.self_signed(&key).unwrap().pem());
    let issuer = Issuer::new(authority, key);
    for (name, purpose) in [
        ("server", ExtendedKeyUsagePurpose::ServerAuth),
        ("client", ExtendedKeyUsagePurpose::ClientAuth),
    ] {
        let names = ["127.0.0.1".to_owned()];
        for (name, year) in [(name.to_owned(), 2001), (format!("good-{name}"), 4000)] {
            let mut params = CertificateParams::new(names.clone()).unwrap();
            params.not_before = date_time_ymd(2000, 1, 1);
            params.not_after = date_time_ymd(year, 1, 1);
            params.extended_key_usages = vec![purpose.clone()];
            let key = KeyPair::generate().unwrap();
            write(&format!("{name}.crt"), params.signed_by(&key, &issuer).unwrap().pem());
            write(&format!("{name}.key"), key.serialize_pem());
        }
    }
    write("caller.token", TOKEN.to_owned());
    Certificates(directory)
}

#[test]
fn certificates_that_expired_are_refused_on_both_sides() {
    let mut site = Site::new();
    site.write("a.txt", "x\n");
    let outdated = outdated(&site);
    site.argument("--listen").argument("tcp:127.0.0.1:0");
    let mut refused = site.serve_command();
    refused.args(outdated.server(false)).stderr(Stdio::piped());
    let ended = Ended::of(&mut refused);
    assert_refused(&ended, 1, &["server.crt", "expired at 2001-01-01", "moss certificate new"]);

    let mut serving = site.serve_command();
    let good = outdated.client(Some("good-server"));
    serving.args(&good);
    let daemon = Daemon::start(serving, &site.socket(), &site.state());
    let ended = run(&site, &daemon, &outdated.client(Some("good-client")), &READ);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    // Our own client does not even show it.
    let ended = run(&site, &daemon, &outdated.client(Some("client")), &READ);
    assert_refused(&ended, 5, &["client.crt", "expired at 2001-01-01"]);
}

#[test]
fn keys_and_certificates_that_do_not_serve_are_named() {
    let site = Site::new();
    let certificates = Certificates::new(&site, "certificates", &[]);
    let open = site.outside("open.key");
    std::fs::copy(certificates.path("server.key"), &open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (open, nonsense) = (open.display().to_string(), secret(&site, "nonsense", "nonsense\n"));
    let (cert, key) = (certificates.path("server.crt"), certificates.path("server.key"));
    let missing = site.outside("missing").display().to_string();
    for (cert, key, word) in [
        (&cert, &certificates.path("client.key"), "is not the key of the certificate"),
        (&cert, &open, "chmod 600"),
        (&cert, &missing, "missing"),
        (&missing, &key, "no such file"),
        (&nonsense, &key, "has no certificate"),
        (&cert, &nonsense, "has no private key"),
    ] {
        let token = certificates.path("caller.token");
        let mut command = site.serve_command();
        command.args(["--listen", "tcp:127.0.0.1:0", "--token-file", &token]);
        command.args(["--tls-cert", cert, "--tls-key", key]);
        let ended = Ended::of(command.stderr(Stdio::piped()));
        assert_refused(&ended, 1, &[word]);
    }
    let again =
        site.run(&["certificate", "new", "--dir", site.outside("certificates").to_str().unwrap()]);
    assert_refused(&again, 1, &["nothing is overwritten"]);
}

#[test]
fn what_certificate_new_prints_is_all_that_is_needed() {
    let site = Site::new();
    let directory = site.outside("somebody's certificates");
    let made = site.run(&["certificate", "new", "--dir", directory.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{made:?}");
    // As somebody copies them, with the program and a port that is free.
    let printed = |word: &str, port: &str| {
        let (_, rest) = made.stdout.split_once(&format!("\n  moss {word} ")).unwrap();
        let lines = rest.split("\n\n").next().unwrap().replace(":4333", &format!(":{port}"));
        let mut command = Command::new("sh");
        let moss = site.command(std::iter::empty::<&str>());
        command.env_clear().envs(moss.get_envs().filter_map(|(key, value)| Some((key, value?))));
        command.current_dir(site.workspace()).args(["-c", &format!("exec \"$0\" {word} {lines}")]);
        command.arg(binary()).stdin(Stdio::null());
        command
    };
    let daemon = Daemon::start(printed("serve", "0"), &site.socket(), &site.state());
    let mut tools = printed("tools", &daemon.port().to_string());
    let ended = Ended::of(tools.stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("read_file"), "{ended:?}");
    daemon.stop();
}

#[test]
fn what_is_for_ports_only_is_noted_without_one() {
    let mut site = Site::new();
    let token = secret(&site, "token", TOKEN);
    site.argument("--token-file").argument(&token);
    let daemon = site.serve();
    assert!(daemon.log().contains("no port is opened"), "{}", daemon.log());
    daemon.stop();
}

#[tokio::test]
async fn who_sends_nothing_keeps_nobody_out() {
    for is_encrypted in [false, true] {
        let (site, remote) = if is_encrypted {
            let (site, certificates) = encrypted(true);
            (site, certificates.client(Some("client")))
        } else {
            let site = on_loopback();
            let token = site.outside("token").display().to_string();
            (site, vec!["--token-file".to_owned(), token])
        };
        site.config("[grpc]\nconnections_max = 8\n");
        let daemon = site.serve();
        let connect = || TcpStream::connect(("127.0.0.1", daemon.port())).unwrap();
        let mut silent: Vec<TcpStream> = (0..4).map(|_| connect()).collect();
        for (number, stream) in silent.iter_mut().enumerate() {
            // Some say a little, which is no more than nothing.
            stream.write_all(&b"\x16\x03\x01"[..number.min(3)]).unwrap();
        }
        // They hold up nobody while there is a slot.
        let ended = run(&site, &daemon, &remote, &READ);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        silent.extend((0..8).map(|_| connect()));
        until("it is full", async || daemon.log().contains("grpc.connections_max")).await;
        // Not on the other socket.
        daemon.caller().await.done("read_file", json!({"path": "a.txt"})).await;
        until("they have lost their slots", async || {
            run(&site, &daemon, &remote, &READ).code == Some(0)
        })
        .await;
        for mut stream in silent {
            stream.set_read_timeout(Some(BOUND)).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        }
        daemon.stop();
    }
}

#[test]
fn what_is_neither_tls_nor_grpc_does_no_harm() {
    let garbage: Vec<u8> =
        (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let hello = b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03".as_slice();
    for is_encrypted in [false, true] {
        let (site, certificates) = encrypted(false);
        let site = if is_encrypted { site } else { on_loopback() };
        let daemon = site.serve();
        for bytes in
            [b"GET / HTTP/1.1\r\nHost: moss\r\n\r\n".as_slice(), b"", b"\0", hello, &garbage]
        {
            let mut stream = TcpStream::connect(("127.0.0.1", daemon.port())).unwrap();
            stream.set_read_timeout(Some(BOUND)).unwrap();
            // The daemon may hang up before it has read everything.
            let _ = stream.write_all(bytes);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
        let token = vec!["--token-file".to_owned(), site.outside("token").display().to_string()];
        let remote = if is_encrypted { certificates.client(None) } else { token };
        assert_eq!(run(&site, &daemon, &remote, &READ).code, Some(0));
        daemon.stop();
    }
}

#[test]
fn a_name_that_means_this_machine_is_loopback() {
    let mut site = Site::new();
    let token = secret(&site, "token", TOKEN);
    site.argument("--listen").argument("tcp:localhost:0").argument("--token-file").argument(&token);
    site.serve().stop();
}

#[tokio::test]
async fn who_shows_no_credential_does_not_stay() {
    let site = on_loopback();
    let daemon = site.serve();
    let mut stream = TcpStream::connect(("127.0.0.1", daemon.port())).unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
    stream.set_read_timeout(Some(BOUND)).unwrap();
    let closed = tokio::task::spawn_blocking(move || stream.read_to_end(&mut Vec::new()));
    within("the end of the connection", closed).await.unwrap().unwrap();
    // Who has shown one stays.
    let client = daemon.dial(Some(TOKEN)).await;
    client.done("read_file", json!({"path": "a.txt"})).await;
}

#[tokio::test]
async fn many_clients_on_a_port_are_served_at_once() {
    const CLIENTS: usize = 100;
    let site = on_loopback();
    let daemon = site.serve();
    let port = daemon.port();
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn(async move {
            let client = Client::dial(port, Some(TOKEN)).await;
            for _ in 0..5 {
                client.done("read_file", json!({"path": "a.txt"})).await;
            }
        });
    }
    assert_eq!(within("all of them", clients.join_all()).await.len(), CLIENTS);
    daemon.stop();
}

#[tokio::test]
async fn what_opens_a_port_is_not_for_tools() {
    let mut site = Site::allowing();
    let token = site.write("token", TOKEN);
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    site.argument("--listen").argument("tcp:127.0.0.1:0");
    site.argument("--token-file").argument(token.to_str().unwrap());
    let daemon = site.serve();
    let client = daemon.dial(Some(TOKEN)).await;
    let result = client.call(call("read_file", json!({"path": "token"}))).await;
    let text = format!("{result:?}");
    assert!(!text.contains(TOKEN), "{text}");
}

#[tokio::test]
async fn what_opens_a_port_is_not_for_tools_under_any_name() {
    let site = on_loopback();
    let daemon = site.serve();
    let link = |from: PathBuf, name: &str| {
        std::fs::hard_link(from, site.workspace().join(name)).unwrap();
    };
    link(site.outside("token"), "linked");
    link(site.state().join("approver.token"), "approver");
    link(site.outside("token"), ".ignore");
    site.write("c0ffee1234567890c0ffee1234567890", "named as the token\n");
    std::fs::rename(site.outside("token"), site.workspace().join("moved")).unwrap();
    let client = daemon.dial(Some(TOKEN)).await;
    let approver = daemon.token("approver");
    let permanent = json!({"path": "moved", "permanent": true});
    for (tool, arguments) in [
        ("read_file", json!({"path": "linked"})),
        ("read_file", json!({"path": "approver"})),
        ("read_file", json!({"path": "moved"})),
        ("replace_lines", json!({"path": "moved", "startLine": 1, "endLine": 1, "newText": "x"})),
        ("delete_file", json!({"path": "moved"})),
        ("delete_file", permanent),
        ("grep_search", json!({"pattern": "c0ffee|[0-9a-f]{64}"})),
    ] {
        let text = format!("{:?}", client.call(call(tool, arguments.clone())).await);
        assert!(!text.contains(&TOKEN[8..]), "{tool} {arguments}: {text}");
        assert!(!text.contains(&approver), "{tool} {arguments}: {text}");
        let refused = text.contains("credential or a key of moss");
        assert!(refused || tool == "grep_search", "{tool} {arguments}: {text}");
    }
    // Nor does it tell what to leave out.
    let listed = client.done("list_directory", json!({"path": "."})).await.to_string();
    assert!(listed.contains(TOKEN), "{listed}");
    assert_eq!(site.read("moved"), TOKEN);
}
