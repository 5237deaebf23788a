//! Plugins from the network: by HTTPS, with the digest that somebody named, kept for later.

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::guests::zoo;
use crate::harness::https::{HttpsServer, response, sha256};
use crate::harness::{Site, failure, output, plugin, refusing, until};
use crate::plugins::settled;

/// A server of one file, and its URL.
async fn serve(site: &Site, bytes: &[u8]) -> (HttpsServer, String) {
    let served = response("200 OK", &[], bytes);
    let server = HttpsServer::start(site, move |_, _, _| served.clone()).await;
    let url = format!("https://localhost:{}/zoo.wasm", server.port);
    (server, url)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_fetched_once_with_its_digest_is_there_without_the_network() {
    let site = Site::new();
    let bytes = zoo("polite");
    let (server, url) = serve(&site, &bytes).await;
    let digest = sha256(&bytes);
    let open = server.run(&site, &["plugin", "add", &url, "--yes"]).await;
    assert_eq!(open.code, Some(2), "{open:?}");
    assert!(open.stderr.contains("needs `--sha256 HEX`"), "{open:?}");
    let other = "0".repeat(64);
    let wrong = server.run(&site, &["plugin", "add", &url, "--sha256", &other, "--yes"]).await;
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
    assert!(wrong.stderr.contains(&format!("has the sha256 {digest}")), "{wrong:?}");
    let added = server.run(&site, &["plugin", "add", &url, "--sha256", &digest, "--yes"]).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    assert_eq!(server.asked().len(), 2, "the digest was fetched once");
    let text = std::fs::read_to_string(site.outside("config/moss/moss-tools.json")).unwrap();
    assert!(text.contains(&url) && text.contains(&digest), "{text}");

    server.stop();
    let called = site.run(&["call", "act", "--json"]);
    assert_eq!(called.code, Some(0), "{called:?}");
    // What nobody names for long is removed, and what somebody names is not.
    let downloads = site.state().join("downloads");
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(24 * 30);
    for name in [&other, &digest] {
        let file = downloads.join(format!("{name}.wasm"));
        let file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        file.set_modified(old).unwrap();
    }
    assert_eq!(site.run(&["call", "act"]).code, Some(0));
    let kept: Vec<_> = std::fs::read_dir(&downloads).unwrap().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
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
    let (server, url) = serve(&site, &bytes).await;
    let mut command = site.serve_command();
    command.env("SSL_CERT_FILE", &server.authority);
    let daemon = crate::harness::Daemon::start(command, &site.socket(), &site.state());
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let arguments = json!({
        "name": "zoo", "source": url, "sha256": sha256(&bytes), "reason": "to try it",
    });
    let status =
        caller.call(refusing("moss_register_plugin_tool", arguments.clone())).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition);
    assert_eq!(server.asked().len(), 0);
    let mut watcher = approver.watch().await;
    let waits = {
        let caller = caller.clone();
        let call = crate::harness::waiting("moss_register_plugin_tool", arguments);
        tokio::spawn(async move { caller.call(call).await })
    };
    let fetching = watcher.question().await;
    let shown: Value = serde_json::from_str(&fetching.arguments_json).unwrap();
    assert_eq!((&shown["action"], &shown["source"]), (&json!("fetch"), &json!(url)));
    assert!(shown["host"].as_str().unwrap().starts_with("localhost:") && fetching.registers);
    let consent = fetching.consent.clone().unwrap();
    assert_eq!(consent.kind(), v1::ConsentKind::Fetch);
    assert_eq!((&consent.plugins[0].source, &consent.plugins[0].sha256), (&url, &sha256(&bytes)));
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
    until("nothing is granted any more", async || {
        let result = caller.ran("probe", load.clone()).await;
        match result.outcome() {
            v1::Outcome::Ok => output(&result)["result"][0]["error"] == "denied",
            // It ran just then.
            _ => failure(&result).code == "denied",
        }
    })
    .await;
    let states: Vec<_> = caller.plugin_list().await.iter().map(v1::Plugin::state).collect();
    assert_eq!(states, [v1::PluginState::Ready, v1::PluginState::Loading]);
}
