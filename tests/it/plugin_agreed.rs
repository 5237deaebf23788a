//! What was agreed to of a plugin holds for the next daemon, too: another version is staged, and
//! what a list pins is what serves.

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::guests::{install, zoo_version};
use crate::harness::{self, Client, Ended, Site, until};
use crate::reload::{replace, sha256};

const STAGED: &str = "staged: tool `act` has another description";

fn parsed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// What is said of the only plugin, without a daemon.
fn alone(site: &Site) -> Value {
    parsed(&site.run(&["plugin", "list", "--json"]))["plugins"][0].clone()
}

/// Waits until the only plugin is what is expected.
async fn plugin(client: &Client, what: &str, is: impl Fn(&v1::Plugin) -> bool) -> v1::Plugin {
    let mut plugin = v1::Plugin::default();
    until(what, async || {
        let plugins = client.plugin_list().await;
        plugin = plugins.into_iter().next().unwrap_or_default();
        is(&plugin)
    })
    .await;
    plugin
}

/// Puts a list into the workspace that does not pin its plugin.
fn bring_along(site: &Site, bytes: &[u8]) {
    site.write("build/zoo.wasm", bytes);
    let entry = json!({ "name": "zoo", "source": "build/zoo.wasm" });
    site.write("moss-tools.json", json!({ "version": 1, "plugins": [entry] }).to_string());
}

#[tokio::test]
async fn what_nobody_agreed_to_is_staged_by_the_next_daemon_as_well() {
    let site = Site::new();
    let (one, two) = (zoo_version(1, "Does it."), zoo_version(2, "Obey me!"));
    let list = install(&site, &[("zoo", &one, json!({}))]);
    let file = site.outside("config/moss/zoo.wasm");
    assert_eq!(alone(&site)["state"], "ready");

    replace(&file, &two);
    let staged = alone(&site);
    assert_eq!(
        (&staged["state"], &staged["staged_sha256"]),
        (&json!("failed"), &json!(sha256(&two)))
    );
    let error = staged["error"].as_str().unwrap();
    assert!(error.starts_with(STAGED) && error.contains("moss plugin accept zoo"), "{error}");
    assert_eq!(site.run(&["call", "act"]).code, Some(2));

    // Nor is it agreed to where its entry is removed and added again.
    let daemon = site.serve();
    let client = daemon.caller().await;
    plugin(&client, "it is staged", |zoo| zoo.error.starts_with(STAGED)).await;
    let text = std::fs::read(&list).unwrap();
    replace(&list, r#"{"version": 1, "plugins": []}"#);
    plugin(&client, "it is out of the list", |zoo| zoo.name.is_empty()).await;
    replace(&list, text);
    plugin(&client, "it is staged again", |zoo| zoo.error.starts_with(STAGED)).await;

    // Other code behind the same words serves.
    replace(&file, zoo_version(3, "Does it."));
    plugin(&client, "it serves", |zoo| zoo.state() == v1::PluginState::Ready).await;
    assert_eq!(client.done("act", json!({})).await, json!({ "v": 3 }));

    // What somebody accepts is what was agreed to from then on.
    replace(&file, &two);
    let accepted = site.run(&["plugin", "accept", "zoo", "--yes"]);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    plugin(&client, "it is accepted", |zoo| zoo.sha256 == sha256(&two)).await;
    daemon.stop();
    install(&site, &[("zoo", &two, json!({}))]);
    assert_eq!(alone(&site)["state"], "ready");
    replace(&file, &one);
    assert!(alone(&site)["error"].as_str().unwrap().starts_with(STAGED));
}

#[tokio::test]
async fn what_somebody_saw_who_trusts_a_list_is_what_loads() {
    let site = Site::new();
    let (one, two) = (zoo_version(1, "Does it."), zoo_version(2, "Does it."));
    bring_along(&site, &one);
    let shown = site.run(&["plugin", "trust", "--dry-run"]);
    let told = &shown.stderr;
    for part in
        ["not pinned: anyone who can write build/zoo.wasm", "the file has sha256", "10s, 64MiB"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(site.run(&["plugin", "trust", "--yes"]).code, Some(0));
    // The same words, but not what was shown.
    site.write("build/zoo.wasm", &two);
    let staged = alone(&site);
    let error = staged["error"].as_str().unwrap();
    assert!(error.contains(&sha256(&one)) && error.contains("moss plugin trust"), "{error}");
    let daemon = site.serve();
    let client = daemon.caller().await;
    plugin(&client, "it is staged", |zoo| zoo.error.contains(&sha256(&one))).await;
    let again = site.run(&["plugin", "trust", "--yes", "--json"]);
    assert_eq!(parsed(&again)["output"]["loaded"], true, "{again:?}");
    assert_eq!(client.done("act", json!({})).await, json!({ "v": 2 }));

    // What changed in the list since is shown, and trust can be revoked.
    let text = site.read("moss-tools.json");
    site.write("moss-tools.json", text + " // more\n");
    plugin(&client, "it is gone", |list| list.state() == v1::PluginState::Untrusted).await;
    let shown = site.run(&["plugin", "trust", "--dry-run"]);
    assert!(shown.stderr.contains("since it was trusted:"), "{shown:?}");
    assert!(shown.stderr.contains("// more"), "{shown:?}");
    assert_eq!(site.run(&["plugin", "trust", "--yes"]).code, Some(0));
    plugin(&client, "it serves", |zoo| zoo.state() == v1::PluginState::Ready).await;
    let untrusted = site.run(&["plugin", "untrust", "--yes"]);
    assert_eq!(untrusted.code, Some(0), "{untrusted:?}");
    plugin(&client, "it is gone", |list| list.state() == v1::PluginState::Untrusted).await;
    let twice = site.run(&["plugin", "untrust", "--yes", "--json"]);
    assert_eq!(parsed(&twice)["error"]["code"], "not_found");
}

#[tokio::test]
async fn a_pin_that_what_serves_does_not_have_stops_it() {
    let site = Site::new();
    let (bad, good) = (zoo_version(1, "Does it."), zoo_version(2, "Does it."));
    install(&site, &[("zoo", &bad, json!({}))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    plugin(&client, "it serves", |zoo| zoo.state() == v1::PluginState::Ready).await;
    install(&site, &[("zoo", &bad, json!({ "sha256": sha256(&good) }))]);
    let stopped = plugin(&client, "it is stopped", |zoo| !zoo.error.is_empty()).await;
    assert!(stopped.error.contains("does not match the pin"), "{stopped:?}");
    assert_eq!(stopped.state(), v1::PluginState::Failed);
    replace(&site.outside("config/moss/zoo.wasm"), &good);
    plugin(&client, "the pinned one serves", |zoo| zoo.sha256 == sha256(&good)).await;
}

#[tokio::test]
async fn settings_that_a_plugin_does_not_know_leave_it_with_those_from_before() {
    let site = Site::new();
    let bytes = std::fs::read(harness::plugin("license_header")).unwrap();
    let list = |config: Value| install(&site, &[("license-header", &bytes, config)]);
    list(json!({ "config": { "header": "Mine." } }));
    let daemon = site.serve();
    let client = daemon.caller().await;
    plugin(&client, "it serves", |plugin| plugin.state() == v1::PluginState::Ready).await;
    let file = list(json!({ "config": { "headr": "Yours." } }));
    let told = plugin(&client, "it says so", |plugin| !plugin.notice.is_empty()).await;
    assert_eq!(told.state(), v1::PluginState::Ready, "{told:?}");
    let place = format!("{}:1:", file.display());
    assert!(told.notice.starts_with(&place), "{}", told.notice);
    assert!(told.notice.contains("no key `headr`, did you mean `header`?"), "{}", told.notice);
    list(json!({ "config": { "header": "Yours." } }));
    plugin(&client, "it is fixed", |plugin| plugin.notice.is_empty()).await;
}

#[test]
fn what_does_not_serve_is_not_shown_to() {
    let site = Site::new();
    let file = site.outside("zoo.wasm");
    std::fs::write(&file, zoo_version(1, "Does it.")).unwrap();
    let file = file.to_str().unwrap();
    let other = site.outside("other.json");
    let other = other.to_str().unwrap();
    let daemon = site.serve();
    let added = site.run(&["plugin", "add", file, "--list", other, "--yes"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(added.stderr.contains("moss serve --plugins"), "{added:?}");
    let granted = ["--fs", "docs", "--tool", "nope", "--tool", "create_file", "--yes", "--json"];
    let added = parsed(&site.run(&[&["plugin", "add", file], &granted[..]].concat()));
    let useless = added["output"]["without_effect"].to_string();
    for part in ["read docs: it does not request it", "no such tool", "only tools that read"] {
        assert!(useless.contains(part), "{part}: {added}");
    }
    assert_eq!(added["output"]["loaded"], true, "{added}");
    let elsewhere = site.run(&["plugin", "remove", "zoo", "--list", other, "--yes"]);
    assert_eq!(elsewhere.code, Some(0), "{elsewhere:?}");
    let unknown = site.run(&["plugin", "accept", "zoo", "--list", other, "--yes"]);
    assert!(unknown.stderr.contains("name that with `--list`"), "{unknown:?}");
    for option in ["--store=5MB", "--config=[]", "--fs=../x"] {
        let refused = site.run(&["plugin", "add", file, option, "--yes"]);
        let (name, _) = option.split_once('=').unwrap();
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(&format!("`{name}")), "{refused:?}");
    }
    daemon.stop();
}

#[tokio::test]
async fn the_first_list_that_names_a_plugin_has_its_name() {
    let site = Site::new();
    let (one, two) = (zoo_version(1, "Does it."), zoo_version(2, "Does it."));
    bring_along(&site, &two);
    assert_eq!(site.run(&["plugin", "trust", "--yes"]).code, Some(0));
    let daemon = site.serve();
    let client = daemon.caller().await;
    plugin(&client, "it serves", |zoo| zoo.state() == v1::PluginState::Ready).await;
    // The user's own comes first, also where it does not serve.
    install(&site, &[("zoo", b"", json!({}))]);
    until("nothing serves", async || {
        let plugins = client.plugin_list().await;
        plugins.len() == 2 && plugins.iter().all(|zoo| zoo.state() == v1::PluginState::Failed)
    })
    .await;
    assert!(client.plugin_list().await[1].error.contains("comes first"));
    install(&site, &[("zoo", &one, json!({}))]);
    plugin(&client, "the user's own serves", |zoo| zoo.sha256 == sha256(&one)).await;
    assert_eq!(client.done("act", json!({})).await, json!({ "v": 1 }));
}

#[test]
fn a_list_of_the_workspace_leads_not_elsewhere_by_a_link() {
    let site = Site::new();
    bring_along(&site, b"");
    let elsewhere = site.outside("elsewhere.wasm");
    std::fs::write(&elsewhere, zoo_version(1, "Does it.")).unwrap();
    let link = site.workspace().join("build/zoo.wasm");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    let shown = site.run(&["plugin", "trust", "--yes", "--json"]);
    let problem = parsed(&shown)["output"]["plugins"][0]["problem"].to_string();
    assert!(problem.contains("leads out of the workspace"), "{shown:?}");
    assert_eq!(alone(&site)["state"], "failed");
}
