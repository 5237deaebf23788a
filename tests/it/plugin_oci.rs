//! Plugins from registries of OCI images: by the digest of the manifest, which pins all else.

use serde_json::{Value, json};

use crate::harness::guests::zoo;
use crate::harness::https::{HttpsServer, kept_download, response, sha256};
use crate::harness::{Ended, Site, failure, refusing};

const TOKEN: &str = "a-token-for-anybody";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A registry of this machine: `owner/zoo` with some manifests, and one blob.
struct Registry {
    server: HttpsServer,
    /// The digest of the manifest that is asked for.
    manifest: String,
    component: String,
}

/// What a registry does.
#[derive(Clone, Copy, PartialEq)]
enum Conduct {
    Open,
    /// Nobody gets anything without a token.
    Token,
    /// It takes its own tokens for none.
    Unwilling,
    /// It wants a password.
    Password,
    /// It sends for tokens to plain HTTP.
    PlainRealm,
    /// It sends for tokens to another host, which is near.
    NearRealm,
    OtherManifest,
    OtherBlob,
    /// Its blobs are elsewhere on the same host.
    Moved,
    /// Its blobs are on another host, which is near.
    MovedAway,
}

fn manifest(layers: &[(&str, &[u8])]) -> Vec<u8> {
    let layer = |(kind, bytes): &(&str, &[u8])| {
        json!({
            "mediaType": kind,
            "digest": format!("sha256:{}", sha256(bytes)),
            "size": bytes.len(),
        })
    };
    let layers: Vec<_> = layers.iter().map(layer).collect();
    let manifest = json!({ "schemaVersion": 2, "mediaType": MANIFEST, "layers": layers });
    manifest.to_string().into_bytes()
}

fn answer(
    conduct: Conduct,
    manifest: &[u8],
    blob: &[u8],
    (path, head, port): (&str, &str, u16),
) -> Vec<u8> {
    let demand = |realm: &str| {
        let bearer = format!(
            "Bearer realm=\"{realm}\",service=\"here\",scope=\"repository:owner/zoo:pull\""
        );
        let value = if conduct == Conduct::Password { "Basic realm=\"here\"" } else { &bearer };
        response("401 Unauthorized", &[("www-authenticate", value)], b"")
    };
    let head = head.to_ascii_lowercase();
    let is_known = head.contains(&format!("authorization: bearer {TOKEN}"));
    let refuses = match conduct {
        Conduct::Token | Conduct::PlainRealm | Conduct::NearRealm => !is_known,
        Conduct::Unwilling | Conduct::Password => true,
        _ => false,
    };
    if path == "/token?service=here&scope=repository%3Aowner%2Fzoo%3Apull" {
        assert!(!head.contains("authorization"), "{head}");
        return response("200 OK", &[], json!({ "token": TOKEN }).to_string().as_bytes());
    }
    if refuses {
        return match conduct {
            Conduct::PlainRealm => demand(&format!("http://localhost:{port}/token")),
            Conduct::NearRealm => demand(&format!("https://127.0.0.1:{port}/token")),
            _ => demand(&format!("https://localhost:{port}/token")),
        };
    }
    let digests = (sha256(manifest), sha256(blob));
    let moved = |to: String| response("307 Temporary Redirect", &[("location", &to)], b"");
    match path.strip_prefix("/v2/owner/zoo/") {
        Some(path) if path == format!("manifests/sha256:{}", digests.0) => {
            for kind in [MANIFEST, INDEX] {
                assert!(head.contains(kind), "{head}");
            }
            match conduct {
                Conduct::OtherManifest => response("200 OK", &[], &[manifest, b"\n"].concat()),
                _ => response("200 OK", &[], manifest),
            }
        }
        Some(path) if path == format!("blobs/sha256:{}", digests.1) => match conduct {
            Conduct::OtherBlob => response("200 OK", &[], &zoo("spin")),
            Conduct::Moved => moved("/elsewhere".to_owned()),
            Conduct::MovedAway => moved(format!("https://127.0.0.1:{port}/elsewhere")),
            _ => response("200 OK", &[], blob),
        },
        None if path == "/elsewhere" => response("200 OK", &[], blob),
        _ => response("404 Not Found", &[], b""),
    }
}

impl Registry {
    /// Serves a component as the one layer that there is.
    async fn start(site: &Site, conduct: Conduct) -> Self {
        let blob = zoo("polite");
        let manifest = manifest(&[("text/plain", b"notes"), ("application/wasm", &blob)]);
        Self::of(site, conduct, manifest, blob).await
    }

    async fn of(site: &Site, conduct: Conduct, manifest: Vec<u8>, blob: Vec<u8>) -> Self {
        let digests = (sha256(&manifest), sha256(&blob));
        let server = HttpsServer::start(site, move |path, head, port| {
            answer(conduct, &manifest, &blob, (path, head, port))
        });
        Self { server: server.await, manifest: digests.0, component: digests.1 }
    }

    fn reference(&self) -> String {
        format!("oci://localhost:{}/owner/zoo@sha256:{}", self.server.port, self.manifest)
    }

    async fn add(&self, site: &Site) -> Ended {
        self.server.run(site, &["plugin", "add", &self.reference(), "--yes"]).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_registry_holds_is_pulled_by_the_digest_of_its_manifest_and_kept() {
    let site = Site::new();
    let registry = Registry::start(&site, Conduct::Token).await;
    let added = registry.add(&site).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    let text = std::fs::read_to_string(site.outside("config/moss/moss-tools.json")).unwrap();
    for part in [registry.reference(), format!("\"sha256\": \"{}\"", registry.component)] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    let asked = registry.server.asked();
    let blobs = asked.iter().filter(|head| head.contains("/blobs/"));
    assert_eq!(blobs.count(), 1, "the component was fetched once: {asked:?}");

    registry.server.stop();
    let called = site.run(&["call", "act", "--json"]);
    assert_eq!(called.code, Some(0), "{called:?}");
    // What is kept is looked at again.
    let kept = kept_download(&site, &registry.component, &registry.reference(), "wasm");
    std::fs::write(&kept, zoo("spin")).unwrap();
    let listed = site.run(&["plugin", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let error = listed["plugins"][0]["error"].as_str().unwrap();
    assert!(error.contains("does not match the pin"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn blobs_may_lie_elsewhere_on_the_same_host_and_registries_may_be_open() {
    for conduct in [Conduct::Open, Conduct::Moved] {
        let site = Site::new();
        let registry = Registry::start(&site, conduct).await;
        let added = registry.add(&site).await;
        assert_eq!(added.code, Some(0), "{added:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_does_not_hold_what_is_asked_for_is_refused_with_a_reason() {
    for (conduct, expected) in [
        (Conduct::Unwilling, "the registry does not give it to anonymous clients"),
        (Conduct::Password, "the registry demands something else than a token"),
        (Conduct::PlainRealm, "for a token: that is not https"),
        (Conduct::NearRealm, "which is private; a download goes"),
        (Conduct::OtherManifest, "the registry responded with a manifest of the digest"),
        (Conduct::OtherBlob, "the registry responded with a component of the sha256"),
        (Conduct::MovedAway, "which is private; a download goes"),
    ] {
        let site = Site::new();
        let registry = Registry::start(&site, conduct).await;
        let added = registry.add(&site).await;
        assert_eq!(added.code, Some(1), "{expected}: {added:?}");
        assert!(added.stderr.contains(expected), "{expected}: {added:?}");
        assert!(!site.outside("config/moss/moss-tools.json").exists());
        assert!(!site.state().join("downloads").exists(), "nothing is kept");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_names_exactly_one_component_of_a_bearable_size() {
    let (one, other) = (zoo("polite"), zoo("spin"));
    let wasm = "application/wasm";
    let huge = String::from_utf8(manifest(&[(wasm, &one)])).unwrap();
    let size = format!("\"size\":{}", one.len());
    let huge = huge.replace(&size, "\"size\":99999999999");
    let digest = format!("sha256:{}", "1".repeat(64));
    let named = json!({ "mediaType": MANIFEST, "digest": &digest, "size": 1 });
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [named] });
    let of_index = format!(
        "the digest is that of an index ({INDEX}), and that of a manifest ({MANIFEST}) is \
         expected: name the one manifest in it, @{digest}"
    );
    let of_text = format!("it is a manifest ({MANIFEST}) with text/plain; name that of");
    for (manifest, expected) in [
        (manifest(&[("text/plain", &one)]), of_text.as_str()),
        (manifest(&[(wasm, &one), (wasm, &other)]), "2 of its layers are components"),
        (index.to_string().into_bytes(), of_index.as_str()),
        (huge.into_bytes(), "99999999999 bytes, at most"),
    ] {
        let site = Site::new();
        let registry = Registry::of(&site, Conduct::Open, manifest, one.clone()).await;
        let added = registry.add(&site).await;
        assert_eq!(added.code, Some(1), "{added:?}");
        assert!(added.stderr.contains(expected), "{added:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_is_not_enough_and_another_component_is_not_taken() {
    let site = Site::new();
    let registry = Registry::start(&site, Conduct::Open).await;
    let tag = format!("oci://localhost:{}/owner/zoo:latest", registry.server.port);
    let refused = registry.server.run(&site, &["plugin", "add", &tag, "--yes"]).await;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("expected `oci://HOST/NAME@sha256:`"), "{refused:?}");
    let zeros = "0".repeat(64);
    let arguments = ["plugin", "add", &registry.reference(), "--yes", "--sha256", &zeros];
    let refused = registry.server.run(&site, &arguments).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains(&format!("but {zeros} is asked for")), "{refused:?}");

    // A list that somebody wrote by hand.
    let list = |more: Value| {
        let mut entry = json!({ "name": "zoo", "source": registry.reference() });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        site.plugin_list(&json!({ "version": 1, "plugins": [entry] }).to_string());
    };
    list(json!({ "sha256": zeros }));
    let listed = registry.server.run(&site, &["plugin", "list", "--json"]).await;
    let expected = format!("its component has the sha256 {}", registry.component);
    assert!(listed.stdout.contains(&expected), "{listed:?}");
    list(json!({ "sha256": registry.component }));
    let called = registry.server.run(&site, &["call", "act", "--json"]).await;
    assert_eq!(called.code, Some(0), "{called:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_a_plugin_of_a_registry_is_asked_before_anything_is() {
    let site = Site::new();
    let registry = Registry::start(&site, Conduct::Open).await;
    let mut command = site.serve_command();
    command.env("SSL_CERT_FILE", &registry.server.authority);
    let daemon = crate::harness::Daemon::start(command, &site.socket(), &site.state());
    let caller = daemon.caller().await;
    let ask = |source: String| {
        let arguments = json!({ "name": "zoo", "source": source, "reason": "to try it" });
        refusing("moss_register_plugin_tool", arguments)
    };
    let status = caller.call(ask(registry.reference())).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition, "{status}");
    let tag = format!("oci://localhost:{}/owner/zoo", registry.server.port);
    let result = caller.call(ask(tag)).await.unwrap();
    let error = failure(&result);
    assert!(error.message.contains("names no digest"), "{error:?}");
    assert!(registry.server.asked().is_empty());
}
