//! Detached signatures of components, made with keys of these tests.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use minisign::KeyPair;
use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::guests::{install, zoo, zoo_version};
use crate::harness::https::{HttpsServer, kept_download, response, sha256};
use crate::harness::{Client, Site, call, output, until};
use crate::plugins::settled;

/// Somebody who signs components, with a key pair of minisign.
struct Signer(KeyPair);

// === impl Signer ===

impl Signer {
    fn new() -> Self {
        Self(KeyPair::generate_unencrypted_keypair().unwrap())
    }

    fn sign(&self, bytes: &[u8]) -> String {
        let KeyPair { pk, sk } = &self.0;
        minisign::sign(Some(pk), sk, bytes, Some("of a test"), None).unwrap().into_string()
    }

    /// Lets its signatures count.
    fn trusted_in(&self, site: &Site) {
        site.config(&format!("[plugins]\nsigners = [\"{}\"]\n", self.0.pk.to_base64()));
    }
}

fn signature_of(site: &Site) -> PathBuf {
    site.outside("config/moss/zoo.minisig")
}

fn install_signed(site: &Site, bytes: &[u8], signature: &str) {
    std::fs::write(signature_of(site), signature).unwrap();
    install(site, &[("zoo", bytes, json!({ "signature": "zoo.minisig" }))]);
}

async fn is(client: &Client, what: &str, is_meant: impl Fn(&v1::Plugin) -> bool) {
    let mut last = None;
    until(what, async || {
        last = client.plugin_list().await.into_iter().next();
        last.as_ref().is_some_and(&is_meant)
    })
    .await;
}

#[test]
fn what_a_signer_signed_is_added_and_what_was_changed_since_is_not() {
    let site = Site::new();
    let (signer, stranger, bytes) = (Signer::new(), Signer::new(), zoo("polite"));
    signer.trusted_in(&site);
    let file = site.write("zoo.wasm", &bytes);
    let signature = site.write("zoo.minisig", signer.sign(&bytes));
    let (file, signature) = (file.to_str().unwrap(), signature.to_str().unwrap());
    let add = ["plugin", "add", file, "--signature", signature, "--yes", "--json"];

    site.write("zoo.minisig", stranger.sign(&bytes));
    let refused = site.run(&add);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stdout.contains("which is not a signer"), "{refused:?}");
    // A comment that is vouched for, and another one in its place.
    site.write("zoo.minisig", signer.sign(&bytes).replace("of a test", "of a feat"));
    let refused = site.run(&add);
    assert!(refused.stdout.contains("is not of this file"), "{refused:?}");
    site.write("zoo.minisig", signer.sign(&bytes));
    site.write("zoo.wasm", zoo_version(2, "Does it."));
    let refused = site.run(&add);
    assert!(refused.stdout.contains("is not of this file"), "{refused:?}");

    site.write("zoo.wasm", &bytes);
    let added = site.run(&add);
    assert_eq!(added.code, Some(0), "{added:?}");
    let shown: Value = serde_json::from_str(&added.stdout).unwrap();
    assert_eq!(shown["output"]["signed_by"].as_str().unwrap().len(), 16, "{shown}");
    assert_eq!(site.run(&["call", "act", "--json"]).code, Some(0));
}

#[tokio::test]
async fn a_signature_that_is_replaced_beside_the_same_component_is_looked_at() {
    let site = Site::new();
    let (signer, bytes) = (Signer::new(), zoo_version(1, "Does it."));
    let next = zoo_version(2, "Does it.");
    signer.trusted_in(&site);
    install_signed(&site, &bytes, &signer.sign(&bytes));
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(settled(&client).await[0].state(), v1::PluginState::Ready);

    // The signature of the next version comes first: what serves keeps serving, and that is
    // reported.
    std::fs::write(signature_of(&site), signer.sign(&next)).unwrap();
    let told = |plugin: &v1::Plugin| plugin.notice.contains("is not of this file");
    is(&client, "the other signature is told", told).await;
    output(&client.call(call("act", json!({}))).await.unwrap());
    std::fs::write(signature_of(&site), signer.sign(&bytes)).unwrap();
    is(&client, "the first one counts again", |plugin| plugin.notice.is_empty()).await;
    std::fs::write(signature_of(&site), signer.sign(&next)).unwrap();
    is(&client, "the other signature is reported again", told).await;
    std::fs::write(site.outside("config/moss/zoo.wasm"), &next).unwrap();
    let serves = |plugin: &v1::Plugin| plugin.sha256 == sha256(&next) && plugin.notice.is_empty();
    is(&client, "the next version serves", serves).await;
    // No signature at all.
    std::fs::remove_file(signature_of(&site)).unwrap();
    is(&client, "a signature that is gone is told", |plugin| !plugin.notice.is_empty()).await;
    // Who is no signer any more has signed nothing that serves.
    Signer::new().trusted_in(&site);
    is(&client, "it does not serve", |plugin| plugin.state() == v1::PluginState::Failed).await;
}

/// A server of a component, and of a signature that can be replaced.
async fn serve(site: &Site, bytes: &[u8]) -> (HttpsServer, Arc<Mutex<String>>) {
    let (component, signature) = (response("200 OK", &[], bytes), Arc::new(Mutex::default()));
    let signed: Arc<Mutex<String>> = Arc::clone(&signature);
    let server = HttpsServer::start(site, move |path, _, _| match path {
        "/zoo.minisig" => response("200 OK", &[], signed.lock().unwrap().as_bytes()),
        _ => component.clone(),
    });
    (server.await, signature)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_from_the_network_that_does_not_vouch_is_not_kept() {
    let site = Site::new();
    let (first, second, bytes) = (Signer::new(), Signer::new(), zoo("polite"));
    let (server, signature) = serve(&site, &bytes).await;
    let at = |file: &str| format!("https://localhost:{}/{file}", server.port);
    let (url, signed, digest) = (at("zoo.wasm"), at("zoo.minisig"), sha256(&bytes));
    let add = ["plugin", "add", &url, "--sha256", &digest, "--signature", &signed, "--yes"];
    let kept = kept_download(&site, &digest, &signed, "minisig");
    first.trusted_in(&site);
    for (answer, expected) in [
        ("<html>back soon</html>".to_owned(), "not a valid signature"),
        (second.sign(&bytes), "which is not a signer"),
        (first.sign(b"other"), "is not of this file"),
        ("x".repeat(5000), "it has more than 4096 bytes"),
    ] {
        *signature.lock().unwrap() = answer;
        let refused = server.run(&site, &add).await;
        assert_eq!(refused.code, Some(3), "{refused:?}");
        assert!(refused.stderr.contains(expected), "{expected}: {refused:?}");
        assert!(!kept.exists(), "{expected}");
    }
    *signature.lock().unwrap() = first.sign(&bytes);
    let added = server.run(&site, &add).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    let asked = server.asked().len();
    assert_eq!(server.run(&site, &["call", "act"]).await.code, Some(0));
    assert_eq!(server.asked().len(), asked, "what vouches is there without the network");

    // Another key counts, and the same component is signed with it.
    second.trusted_in(&site);
    let refused = server.run(&site, &["call", "act"]).await;
    assert!(refused.stderr.contains("which is not a signer"), "{refused:?}");
    *signature.lock().unwrap() = second.sign(&bytes);
    let called = server.run(&site, &["call", "act"]).await;
    assert_eq!(called.code, Some(0), "{called:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_a_workspace_reaches_no_network_before_it_is_trusted() {
    let site = Site::new();
    let (signer, bytes) = (Signer::new(), zoo("polite"));
    let (server, signature) = serve(&site, &bytes).await;
    *signature.lock().unwrap() = signer.sign(&bytes);
    signer.trusted_in(&site);
    site.write("zoo.wasm", &bytes);
    let at = |file: &str| format!("https://localhost:{}/{file}", server.port);
    for source in ["zoo.wasm".to_owned(), at("zoo.wasm")] {
        let entry = json!({
            "name": "zoo", "source": source, "sha256": sha256(&bytes),
            "signature": at("zoo.minisig"),
        });
        let list = json!({ "version": 1, "plugins": [entry] }).to_string();
        site.write("moss-tools.json", list);
        let shown = server.run(&site, &["plugin", "trust", "--dry-run"]).await;
        assert_eq!(shown.code, Some(0), "{shown:?}");
        assert!(shown.stderr.contains("problem: it"), "{shown:?}");
        assert!(server.asked().is_empty(), "{:?}", server.asked());
    }
    let trusted = server.run(&site, &["plugin", "trust", "--yes"]).await;
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    let called = server.run(&site, &["call", "act"]).await;
    assert_eq!(called.code, Some(0), "{called:?}");
}
