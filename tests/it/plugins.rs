//! Plugins in the real daemon: the example plugins do their work, hostile ones do no harm.

use moss_proto::v1;
use moss_proto::v1::stream_call_tool_response::Event;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::calls::TOOLS;
use crate::harness::guests::{install, spread, zoo, zoo_named};
use crate::harness::{
    Client, Daemon, Site, call, failure, output, plugin, reason, until, waiting, within,
};

/// Waits until no plugin is being loaded, and returns them.
pub(crate) async fn settled(client: &Client) -> Vec<v1::Plugin> {
    let mut plugins = Vec::new();
    until("the plugins are loaded", async || {
        let request = v1::ListPluginsRequest::default();
        plugins = client.plugins().list_plugins(request).await.unwrap().into_inner().plugins;
        let loading = |plugin: &v1::Plugin| plugin.state() == v1::PluginState::Loading;
        !plugins.is_empty() && !plugins.iter().any(loading)
    })
    .await;
    plugins
}

async fn tool_names(client: &Client) -> Vec<String> {
    let listed = client.tools().list_tools(v1::ListToolsRequest::default()).await.unwrap();
    listed.into_inner().tools.into_iter().map(|tool| tool.name).collect()
}

/// A machine with the example plugins in the user's list.
fn with_examples() -> Site {
    let site = Site::new();
    let word_count = std::fs::read(plugin("word_count")).unwrap();
    let license_header = std::fs::read(plugin("license_header")).unwrap();
    let sha256: String = Sha256::digest(&word_count).iter().map(|b| format!("{b:02x}")).collect();
    let grant = |path: &str| json!({ "fs": [{ "path": path, "access": "read" }] });
    install(
        &site,
        &[
            ("word-count", &word_count, json!({ "sha256": sha256, "grant": grant("docs") })),
            (
                "license-header",
                &license_header,
                json!({ "grant": grant("src"), "config": { "header": "SPDX-License-Identifier: MIT" } }),
            ),
        ],
    );
    site
}

#[tokio::test]
async fn the_example_plugins_work() {
    let site = with_examples();
    site.write("docs/a.md", "one two three\n");
    site.write("docs/sub/b.md", "four\n");
    site.write("outside.md", "not granted\n");
    for path in ["src/a.rs", "src/b.py", "src/c.txt"] {
        site.write(path, "content\n");
    }
    let before = site.snapshot();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let plugins = settled(&caller).await;
    for (plugin, name) in plugins.iter().zip(["word-count", "license-header"]) {
        assert_eq!((plugin.name.as_str(), plugin.error.as_str()), (name, ""));
        assert_eq!(plugin.state(), v1::PluginState::Ready);
        assert_eq!((plugin.sha256.len(), plugin.tools.len()), (64, 1));
        assert!(plugin.listed_in.contains("moss-tools.json"), "{}", plugin.listed_in);
    }
    assert_eq!(plugins[0].readable_paths, ["docs"]);
    assert!(tool_names(&caller).await.contains(&"word_count".to_owned()));

    let counted = caller.done("word_count", json!({"path": "docs"})).await;
    assert_eq!(counted["total"]["words"], 4);
    assert_eq!(counted["files"][1]["path"], "docs/sub/b.md");
    let outside = caller.ran("word_count", json!({"path": "outside.md"})).await;
    assert!(!format!("{outside:?}").contains("Ok"), "{outside:?}");
    let status = caller.call(call("word_count", json!({"pth": "docs"}))).await.unwrap_err();
    assert_eq!(reason(&status), "ARGUMENTS_INVALID");

    headers_are_added_and_undone(&site, &caller, &approver).await;
    assert_eq!(site.snapshot(), before);
}

async fn headers_are_added_and_undone(site: &Site, caller: &Client, approver: &Client) {
    let mut watcher = approver.watch().await;
    let waits = tokio::spawn({
        let caller = caller.clone();
        async move { caller.call(waiting("license_header", json!({"path": "src"}))).await }
    });
    let question = watcher.question().await;
    assert_eq!(question.plugin, "license-header");
    let paths: Vec<_> = question.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["src/a.rs", "src/b.py"]);
    assert!(question.changes[0].diff.contains("+// SPDX-License-Identifier: MIT"));
    assert_eq!(site.read("src/a.rs"), "content\n");
    approver.approve(&question).await.unwrap();
    let result = waits.await.unwrap().unwrap();
    assert_eq!(output(&result)["added"], json!(["src/a.rs", "src/b.py"]));
    assert!(site.read("src/a.rs").starts_with("// SPDX-License-Identifier: MIT\n"));
    assert!(site.read("src/b.py").starts_with("# SPDX-License-Identifier: MIT\n"));

    // Both files are one change in the history, and one undo.
    assert_eq!(caller.numbers().await, [1]);
    let undo = tokio::spawn({
        let caller = caller.clone();
        async move { caller.undo(1).await }
    });
    let question = watcher.question().await;
    assert_eq!(question.changes.len(), 2);
    approver.approve(&question).await.unwrap();
    output(&undo.await.unwrap().unwrap());
}

#[tokio::test]
async fn a_denied_edit_of_a_plugin_changes_nothing() {
    let site = Site::new();
    for file in ["f0.txt", "f1.txt", "f2.txt"] {
        site.write(file, "old\n");
    }
    install(&site, &[("spread", &spread(), json!({}))]);
    let before = site.snapshot();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    settled(&caller).await;
    let mut events = caller.stream(waiting("spread", json!({"n": 1}))).await.unwrap();
    let question = events.question().await;
    assert_eq!(question.changes.len(), 3);
    approver.deny(&question, "not like this").await.unwrap();
    let status = events.end().await.unwrap_err();
    assert_eq!(reason(&status), "DENIED_BY_PERSON");
    assert_eq!(site.snapshot(), before);
    // One of its files may not be written: then none is.
    drop((caller, approver));
    daemon.stop();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"write\"]\ndecision = \"allow\"\n\
         [[rule]]\neffects = [\"write\"]\npaths = [\"f2.txt\"]\ndecision = \"deny\"\n",
    );
    let daemon = site.serve();
    let caller = daemon.caller().await;
    settled(&caller).await;
    let status = caller.call(call("spread", json!({"n": 1}))).await.unwrap_err();
    assert_eq!(reason(&status), "DENIED_BY_POLICY");
    assert_eq!(site.snapshot(), before);
}

/// Starts a daemon whose plugins are all broken in some way, and holds it to be of use.
async fn broken(site: &Site) -> (Daemon, Vec<v1::Plugin>) {
    site.write("a.txt", "x\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let plugins = settled(&client).await;
    client.done("read_file", json!({"path": "a.txt"})).await;
    assert_eq!(tool_names(&client).await.len(), TOOLS.len());
    (daemon, plugins)
}

#[tokio::test]
async fn a_broken_plugin_list_is_reported_with_its_location() {
    let entry = r#"{"name": "a", "source": "a.wasm""#;
    for (text, line, word) in [
        ("{".to_owned(), 1, "not JSON"),
        ("{\"version\": 1,\n \"plugin\": []}".to_owned(), 2, "plugins"),
        ("{\"version\": 2,\n \"plugins\": []}".to_owned(), 1, "version"),
        (format!("{{\"version\": 1, \"plugins\": [\n{entry}, \"grants\": {{}}}}]}}"), 2, "grant"),
        (
            format!(
                "{{\"version\": 1, \"plugins\": [\n{entry},\n\"grant\": {{\"http\": [\"x/y\"]}}}}]}}"
            ),
            3,
            "is not a host",
        ),
        (
            format!(
                "{{\"version\": 1, \"plugins\": [\n{entry}, \"grant\": {{\"fs\": [{{\"path\": \"a\", \
                 \"access\": \"write\"}}]}}}}]}}"
            ),
            2,
            "never write",
        ),
        (format!("{{\"version\": 1, \"plugins\": [\n{entry}}},\n{entry}}}]}}"), 3, "twice"),
        (
            format!("{{\"version\": 1, \"plugins\": [\n{entry}, \"sha256\": \"12\"}}]}}"),
            2,
            "SHA-256",
        ),
    ] {
        let site = Site::new();
        let list = site.plugin_list(&text);
        let (daemon, plugins) = broken(&site).await;
        assert_eq!(plugins.len(), 1, "{text}");
        assert_eq!(plugins[0].state(), v1::PluginState::Failed);
        let error = &plugins[0].error;
        assert!(error.contains(&format!("{}:{line}:", list.display())), "{text}: {error}");
        assert!(error.contains(word), "{text}: `{word}` is not in {error}");
        assert!(daemon.log().contains(word), "it is not logged");
    }
}

#[tokio::test]
async fn a_plugin_that_is_none_is_reported_and_leaves_the_rest_alone() {
    let site = Site::new();
    let polite = zoo_named("polite", "fit");
    let plugins: &[(&str, &[u8], Value)] = &[
        ("txt", b"this is no component", json!({})),
        ("nil", b"", json!({})),
        ("mod", &zoo("module"), json!({})),
        ("oth", &zoo("no_plugin"), json!({})),
        ("old", &zoo("old_plugin"), json!({})),
        ("net", &zoo("network"), json!({})),
        ("cut", &polite[..polite.len() / 2], json!({})),
        ("nam", &zoo("polite"), json!({})),
        ("pin", &zoo_named("polite", "pin"), json!({ "sha256": "0".repeat(64) })),
        ("run", &zoo_named("spin_in_start", "run"), json!({})),
        ("fit", &polite, json!({})),
    ];
    install(&site, plugins);
    let list = std::fs::read_to_string(site.outside("config/moss/moss-tools.json")).unwrap();
    let mut list: Value = serde_json::from_str(&list).unwrap();
    let missing = json!({ "name": "gon", "source": "nowhere.wasm" });
    list["plugins"].as_array_mut().unwrap().push(missing);
    site.plugin_list(&list.to_string());
    let daemon = site.serve();
    let client = daemon.caller().await;
    let listed = settled(&client).await;
    for (plugin, word) in listed.iter().zip([
        "not WebAssembly",
        "not WebAssembly",
        "module",
        "does not export",
        "exports",
        "wasi:sockets",
        "not valid",
        "called `zoo`",
        "sha256",
        "longer than",
        "",
        "nowhere.wasm",
    ]) {
        assert!(
            plugin.error.contains(word),
            "{}: `{word}` is not in {}",
            plugin.name,
            plugin.error
        );
        let expected =
            if plugin.name == "fit" { v1::PluginState::Ready } else { v1::PluginState::Failed };
        assert_eq!(plugin.state(), expected, "{}: {}", plugin.name, plugin.error);
    }
    assert_eq!(listed.len(), plugins.len() + 1);
    assert_eq!(client.done("fit", json!({})).await, json!({}));
    let load = client.load().await;
    assert_eq!((load.workspaces[0].plugins_ready, load.workspaces[0].plugins_failed), (1, 11));
}

#[tokio::test]
async fn a_tool_name_that_is_taken_is_not_taken_again() {
    let site = Site::new();
    let polite = zoo("polite");
    let same = zoo_named("polite", "two");
    let at = same.windows(7).position(|bytes| bytes == b"two1two").unwrap();
    let mut clash = same.clone();
    clash[at + 4..at + 7].copy_from_slice(b"act");
    install(&site, &[("zoo", &polite, json!({})), ("two", &clash, json!({}))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let listed = settled(&client).await;
    assert_eq!(listed[0].state(), v1::PluginState::Ready);
    assert_eq!(listed[1].state(), v1::PluginState::Failed);
    assert!(
        listed[1].error.contains("`act`") && listed[1].error.contains("zoo"),
        "{}",
        listed[1].error
    );
}

#[tokio::test]
async fn hostile_plugins_end_in_an_error_and_the_daemon_continues() {
    let site = Site::allowing();
    site.write("a.txt", "x\n");
    let before = site.snapshot();
    let cases = [
        ("trap", "tra", "plugin_failed"),
        ("spin", "spi", "timeout"),
        ("sleeper", "sle", "timeout"),
        ("spin_in_realloc", "rea", "timeout"),
        ("memory_hog", "mem", "limit_exceeded"),
        ("table_hog", "tab", "limit_exceeded"),
        ("recursion", "rec", "limit_exceeded"),
        ("huge_output", "hug", "limit_exceeded"),
        ("garbage", "gar", "plugin_failed"),
        ("not_an_object", "not", "plugin_failed"),
        ("invalid_text", "inv", "plugin_failed"),
        ("out_of_bounds", "oob", "plugin_failed"),
        ("outside", "out", "plugin_failed"),
        ("refuses", "ref", "not_found"),
    ];
    let short = json!({ "limits": { "timeout": "300ms" } });
    let bytes: Vec<_> = cases.iter().map(|(name, called, _)| zoo_named(name, called)).collect();
    let plugins: Vec<_> = cases
        .iter()
        .zip(&bytes)
        .map(|((_, called, _), bytes)| (*called, bytes.as_slice(), short.clone()))
        .collect();
    install(&site, &plugins);
    let daemon = site.serve();
    let client = daemon.caller().await;
    for plugin in settled(&client).await {
        assert_eq!(plugin.state(), v1::PluginState::Ready, "{}: {}", plugin.name, plugin.error);
    }
    // All at once, twice, and an honest call beside them.
    for _ in 0..2 {
        let calls: Vec<_> = cases
            .iter()
            .map(|(_, called, _)| {
                let (client, called) = (client.clone(), *called);
                tokio::spawn(async move { client.ran(called, json!({})).await })
            })
            .collect();
        client.done("read_file", json!({"path": "a.txt"})).await;
        for (call, (name, _, code)) in calls.into_iter().zip(&cases) {
            let result = call.await.unwrap();
            assert_eq!(failure(&result).code, *code, "{name}: {:?}", result.error);
            assert!(!failure(&result).message.is_empty());
        }
    }
    assert_eq!(site.snapshot(), before);
    assert_eq!(client.load().await.calls_running, 0);
    drop(client);
    daemon.stop();
}

#[tokio::test]
async fn a_plugin_that_loops_is_cancelled_with_its_call() {
    let site = Site::new();
    install(&site, &[("zoo", &zoo("spin"), json!({ "limits": { "timeout": "10m" } }))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    let mut events = client.stream(call("act", json!({}))).await.unwrap();
    assert!(matches!(events.next().await.unwrap(), Some(Event::Started(_))));
    until("the plugin runs", async || client.load().await.calls_running == 1).await;
    drop(events);
    until("the plugin is stopped", async || client.load().await.calls_running == 0).await;
    let request = v1::StreamCallToolRequest { call: Some(call("act", json!({}))) };
    let mut request = tonic::Request::new(request);
    request.set_timeout(std::time::Duration::from_secs(3));
    let mut events = client.tools().stream_call_tool(request).await.unwrap().into_inner();
    let end = within("the deadline", async {
        loop {
            match events.message().await.map(|message| message.unwrap().event.unwrap()) {
                Ok(Event::Result(result)) => return failure(&result).code.clone(),
                Ok(_) => {}
                Err(status) => return reason(&status),
            }
        }
    });
    assert_eq!(end.await, "CALL_TIMEOUT");
    until("the plugin is stopped", async || client.load().await.calls_running == 0).await;
}

#[tokio::test]
async fn what_a_plugin_says_reaches_who_follows_the_call() {
    let site = Site::new();
    let short = json!({ "limits": { "timeout": "200ms" } });
    install(&site, &[("zoo", &zoo("chatter"), short)]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    let mut events = client.stream(call("act", json!({}))).await.unwrap();
    let mut heard = String::new();
    loop {
        match events.next().await.unwrap().expect("a result comes last") {
            Event::Output(output) => {
                assert_eq!(output.stream, "log");
                heard.push_str(&output.text);
            }
            Event::Result(result) => {
                assert_eq!(failure(&result).code, "timeout");
                break;
            }
            Event::Started(_) | Event::Progress(_) => {}
            Event::ConfirmationNeeded(question) => panic!("{question:?}"),
        }
    }
    assert!(heard.contains("Does it."), "{heard:.100}");
    assert!(heard.len() <= 256 << 10, "{}", heard.len());
}

#[tokio::test]
async fn a_call_that_comes_while_plugins_are_loaded_waits_for_them() {
    let site = with_examples();
    site.write("docs/a.md", "one two three\n");
    let daemon = site.serve();
    // At once: nobody waits until the plugins are there.
    let client = daemon.caller().await;
    client.done("word_count", json!({"path": "docs"})).await;
    let status = client.call(call("word_counts", json!({}))).await.unwrap_err();
    assert_eq!(reason(&status), "TOOL_UNKNOWN");
    assert!(status.message().contains("did you mean `word_count`"), "{}", status.message());
}
