//! Plugins from the network: by HTTPS, with the digest that somebody named, kept for later.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use moss_proto::v1;
use rcgen::{CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::harness::guests::zoo;
use crate::harness::{Ended, Site, plugin, refusing, until};
use crate::plugins::settled;

/// A server of one file, on this machine.
struct Server {
    port: u16,
    /// The certificate of the authority that vouches for it.
    authority: PathBuf,
    served: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn certificates(directory: &Path) -> (PathBuf, ServerConfig) {
    let (authority_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let file = directory.join("authority.pem");
    std::fs::write(&file, authority.self_signed(&authority_key).unwrap().pem()).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let server = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = server.signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (file, config)
}

impl Server {
    async fn of(site: &Site, bytes: Vec<u8>) -> Self {
        let (authority, config) = certificates(&site.outside(""));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tls, served) = (TlsAcceptor::from(Arc::new(config)), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&served);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = tls.accept(stream).await else { continue };
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer).await;
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", bytes.len());
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { port, authority, served, task }
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/zoo.wasm", self.port)
    }

    /// Runs a command that trusts the authority of this server.
    async fn run(&self, site: &Site, arguments: &[&str]) -> Ended {
        let mut command = site.command(arguments);
        command.env("SSL_CERT_FILE", &self.authority);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        tokio::task::spawn_blocking(move || Ended::of(&mut command)).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_fetched_once_with_its_digest_is_there_without_the_network() {
    let site = Site::new();
    let bytes = zoo("polite");
    let server = Server::of(&site, bytes.clone()).await;
    let (url, digest) = (server.url(), sha256(&bytes));
    let open = server.run(&site, &["plugin", "add", &url, "--yes"]).await;
    assert_eq!(open.code, Some(2), "{open:?}");
    assert!(open.stderr.contains("needs the key `sha256`"), "{open:?}");
    let other = "0".repeat(64);
    let wrong = server.run(&site, &["plugin", "add", &url, "--sha256", &other, "--yes"]).await;
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
    assert!(wrong.stderr.contains(&format!("has the sha256 {digest}")), "{wrong:?}");
    let added = server.run(&site, &["plugin", "add", &url, "--sha256", &digest, "--yes"]).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    assert_eq!(server.served.load(Ordering::Relaxed), 2, "the digest was fetched once");
    let text = std::fs::read_to_string(site.outside("config/moss/moss-tools.json")).unwrap();
    assert!(text.contains(&url) && text.contains(&digest), "{text}");

    server.task.abort();
    let called = site.run(&["call", "act", "--json"]);
    assert_eq!(called.code, Some(0), "{called:?}");
    // What is kept is looked at again.
    let kept = site.state().join("downloads").join(format!("{digest}.wasm"));
    std::fs::write(&kept, zoo("spin")).unwrap();
    let listed = site.run(&["plugin", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let error = listed["plugins"][0]["error"].as_str().unwrap();
    assert!(error.contains("does not match the pin"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_a_plugin_from_the_network_is_asked_before_it_is_fetched() {
    let site = Site::new();
    let bytes = zoo("polite");
    let server = Server::of(&site, bytes.clone()).await;
    let mut command = site.serve_command();
    command.env("SSL_CERT_FILE", &server.authority);
    let daemon = crate::harness::Daemon::start(command, &site.socket(), &site.state());
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let arguments = json!({
        "name": "zoo", "source": server.url(), "sha256": sha256(&bytes), "reason": "to try it",
    });
    let status =
        caller.call(refusing("moss_register_plugin_tool", arguments.clone())).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition);
    assert_eq!(server.served.load(Ordering::Relaxed), 0);
    let mut watcher = approver.watch().await;
    let waits = {
        let caller = caller.clone();
        let call = crate::harness::waiting("moss_register_plugin_tool", arguments);
        tokio::spawn(async move { caller.call(call).await })
    };
    let fetching = watcher.question().await;
    assert!(fetching.arguments_json.contains("\"download\"") && !fetching.registers);
    approver.approve(&fetching).await.unwrap();
    let registering = watcher.question().await;
    assert!(registering.registers, "{registering:?}");
    approver.approve(&registering).await.unwrap();
    crate::harness::output(&waits.await.unwrap().unwrap());
    until("it serves", async || {
        caller.plugin_list().await.iter().any(|plugin| plugin.sha256 == sha256(&bytes))
    })
    .await;
}

#[tokio::test]
async fn what_is_taken_away_does_not_wait_for_a_download() {
    let site = Site::new();
    site.config("[network]\nconnect_ms = 60000\n");
    // It takes connections and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/slow.wasm", silent.local_addr().unwrap().port());
    let probe = plugin("probe");
    let granted = json!({ "store": "1KiB" });
    let list = |grant: &Value, more: &[Value]| {
        let mut plugins = vec![json!({ "name": "probe", "source": probe, "grant": grant })];
        plugins.extend_from_slice(more);
        site.plugin_list(&json!({ "version": 1, "plugins": plugins }).to_string());
    };
    let slow = json!({ "name": "slow", "source": url, "sha256": sha256(b"never") });
    list(&granted, &[]);
    let daemon = site.serve();
    let caller = daemon.caller().await;
    settled(&caller).await;
    let load = json!({ "steps": [{ "do": "load", "key": "k" }] });
    let loaded = async || caller.done("probe", load.clone()).await["result"][0].clone();
    assert_eq!(loaded().await, Value::Null);
    list(&granted, std::slice::from_ref(&slow));
    until("the download has begun", async || caller.plugin_list().await.len() == 2).await;
    list(&json!({}), &[slow]);
    until("nothing is granted any more", async || loaded().await["error"] == "denied").await;
    let states: Vec<_> = caller.plugin_list().await.iter().map(v1::Plugin::state).collect();
    assert_eq!(states, [v1::PluginState::Ready, v1::PluginState::Loading]);
}
