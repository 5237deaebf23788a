//! Plugins from the network: by HTTPS, with the digest that somebody named, kept for later.

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::guests::zoo;
use crate::harness::https::{HttpsServer, kept_download, response, sha256};
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
        let file = kept_download(&site, name, &url, "wasm");
        let file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        file.set_modified(old).unwrap();
    }
    assert_eq!(site.run(&["call", "act"]).code, Some(0));
    let kept: Vec<_> = std::fs::read_dir(&downloads).unwrap().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    // What is kept is looked at again.
    let kept = kept_download(&site, &digest, &url, "wasm");
    std::fs::write(&kept, zoo("spin")).unwrap();
    let listed = site.run(&["plugin", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let error = listed["plugins"][0]["error"].as_str().unwrap();
    assert!(error.contains("does not match the pin"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_and_was_changed_is_fetched_again_and_nobody_is_asked_to_accept_it() {
    let site = Site::new();
    let bytes = zoo("polite");
    let (server, url) = serve(&site, &bytes).await;
    let digest = sha256(&bytes);
    let added = server.run(&site, &["plugin", "add", &url, "--sha256", &digest, "--yes"]).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    let kept = kept_download(&site, &digest, &url, "wasm");
    for command in [&["call", "act"][..], &["plugin", "accept", "zoo", "--yes"]] {
        std::fs::write(&kept, zoo("spin")).unwrap();
        let refused = server.run(&site, command).await;
        assert!(refused.stderr.contains("does not match the pin"), "{refused:?}");
        assert!(!refused.stderr.contains("pins it"), "{refused:?}");
        let called = server.run(&site, &["call", "act", "--json"]).await;
        assert_eq!(called.code, Some(0), "{called:?}");
        assert_eq!(std::fs::read(&kept).unwrap(), bytes);
    }
    let text = std::fs::read_to_string(site.outside("config/moss/moss-tools.json")).unwrap();
    assert!(text.contains(&digest), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_from_another_source_is_fetched_from_the_one_that_is_named() {
    let site = Site::new();
    let bytes = zoo("polite");
    let (server, url) = serve(&site, &bytes).await;
    let digest = sha256(&bytes);
    let elsewhere = ["a.wasm", "b.wasm"].map(|file| url.replace("zoo.wasm", file));
    let add = |url| ["plugin", "add", url, "--sha256", &digest, "--yes"];
    let mut asked = 0;
    for url in [&url, &elsewhere[0], &url] {
        let added = server.run(&site, &add(url)).await;
        assert_eq!(added.code, Some(0), "{added:?}");
        let shown = server.run(&site, &["plugin", "show", "zoo"]).await;
        assert!(shown.stdout.contains(url), "{shown:?}");
        let removed = server.run(&site, &["plugin", "remove", "zoo", "--yes"]).await;
        assert_eq!(removed.code, Some(0), "{removed:?}");
        asked += 1;
        assert_eq!(server.asked().len(), asked.min(2), "{url}");
    }
    server.stop();
    let refused = site.run(&add(&elsewhere[1]));
    assert_eq!(refused.code, Some(1), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_to_have_fetched_what_is_refused_whatever_it_is() {
    let site = Site::new();
    let (server, url) = serve(&site, &zoo("polite")).await;
    site.config("[plugins]\nremote_unsigned = false\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let digest = "0".repeat(64);
    let [no_digest, unsigned] = [
        json!({ "name": "zoo", "source": url, "reason": "a test" }),
        json!({ "name": "zoo", "source": url, "reason": "a test", "sha256": digest }),
    ];
    for (arguments, why) in [(no_digest, "sha256"), (unsigned, "has no signature")] {
        let ended = client.call(refusing("moss_register_plugin_tool", arguments)).await;
        let said = match ended {
            Ok(result) => format!("{result:?}"),
            Err(status) => format!("{status:?}"),
        };
        assert!(said.contains(why) && !said.contains("CONFIRMATION_REQUIRED"), "{said}");
    }
    assert!(server.asked().is_empty());
    daemon.stop();
}

/// What a server answers on its own port.
type Answers = fn(u16) -> Vec<u8>;

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_leads_elsewhere_or_is_not_what_it_says_is_refused_with_a_reason() {
    fn moved(to: &str) -> Vec<u8> {
        response("302 Found", &[("location", to)], b"")
    }
    let cases: [(Answers, &str); 10] = [
        (|port| moved(&format!("http://localhost:{port}/")), "does not lead to https"),
        (|_| moved("file:///etc/passwd"), "does not lead to https"),
        (|port| moved(&format!("https://127.0.0.1:{port}/")), "which is private; a download goes"),
        (|port| moved(&format!("//0x7f.1:{port}/")), "which is private; a download goes"),
        (|_| moved("https://169.254.169.254/"), "which is never asked"),
        (|port| moved(&format!("https://a:b@localhost:{port}/")), "it holds credentials"),
        (|_| moved("/zoo.wasm"), "more than 5 redirects in a row"),
        (|_| response("206 Partial Content", &[], b"x"), "the server responded with 206"),
        (|_| b"HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\nx".to_vec(), "it has more"),
        (|_| b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx".to_vec(), "end of file before"),
    ];
    for (answer, expected) in cases {
        let site = Site::new();
        let server = HttpsServer::start(&site, move |_, _, port| answer(port)).await;
        let url = format!("https://localhost:{}/zoo.wasm", server.port);
        let arguments = ["plugin", "add", &url, "--sha256", &"0".repeat(64), "--yes"];
        let refused = server.run(&site, &arguments).await;
        assert_eq!(refused.code, Some(1), "{expected}: {refused:?}");
        assert!(refused.stderr.contains(expected), "{expected}: {refused:?}");
        assert!(!site.outside("config/moss/moss-tools.json").exists());
        assert!(!site.state().join("downloads").exists(), "nothing is kept");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_stands_for_another_is_not_asked() {
    let site = Site::new();
    let (server, _) = serve(&site, b"").await;
    let digest = "0".repeat(64);
    for host in ["0x7f.1", "2130706433", "127.0.0.1."] {
        let place = format!("{host}:{}", server.port);
        let (url, reference) =
            (format!("https://{place}/a.wasm"), format!("oci://{place}/a@sha256:{digest}"));
        for arguments in [
            vec!["plugin", "add", &url, "--sha256", &digest, "--yes"],
            vec!["plugin", "add", &reference, "--yes"],
        ] {
            let refused = server.run(&site, &arguments).await;
            assert_eq!(refused.code, Some(2), "{refused:?}");
            assert!(refused.stderr.contains("written in an ambiguous way"), "{refused:?}");
        }
    }
    assert!(server.asked().is_empty());
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
    // It accepts connections and sends nothing.
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

#[tokio::test]
async fn a_component_in_a_file_does_not_wait_for_downloads_that_do_not_end() {
    let site = Site::new();
    site.config("[network]\nconnect_ms = 60000\n");
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let entry = |name: &str, source: String| json!({ "name": name, "source": source });
    let probe = entry("probe", plugin("probe").display().to_string());
    let list = |plugins: Vec<Value>| {
        site.plugin_list(&json!({ "version": 1, "plugins": plugins }).to_string());
    };
    list(vec![probe.clone()]);
    let daemon = site.serve();
    let caller = daemon.caller().await;
    settled(&caller).await;
    // More than are fetched at once.
    let slow = (0..8u8).map(|number| {
        let mut slow = entry(&format!("slow-{number}"), format!("https://localhost:{port}/"));
        slow["sha256"] = json!(sha256(&[number]));
        slow
    });
    let file = site.write("zoo.wasm", zoo("polite"));
    let zoo = entry("zoo", file.display().to_string());
    list(slow.chain([probe, zoo]).collect());
    until("the other one serves", async || {
        let plugins = caller.plugin_list().await;
        plugins
            .iter()
            .any(|plugin| plugin.name == "zoo" && plugin.state() == v1::PluginState::Ready)
    })
    .await;
    output(&caller.call(crate::harness::call("act", json!({}))).await.unwrap());
    let slow = caller.plugin_list().await.into_iter().filter(|plugin| plugin.name != "probe");
    let slow = slow.filter(|plugin| plugin.state() == v1::PluginState::Loading).count();
    assert_eq!(slow, 8);
}
