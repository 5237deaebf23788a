//! What changes while the daemon runs: policies, plugin lists, components. Every wait is for the
//! change itself, told by the daemon.

use std::path::Path;

use moss_proto::v1;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::guests::{install, zoo_named, zoo_version};
use crate::harness::{Client, Site, failure, output, reason, until, waiting};
use crate::policy::Fate::{Allowed, Asked, Denied};
use crate::policy::{create, explained};

fn rule(effect: &str, decision: &str) -> String {
    format!("version = 1\n[[rule]]\neffects = [\"{effect}\"]\ndecision = \"{decision}\"\n")
}

/// Replaces a file as editors do.
pub(crate) fn replace(file: &Path, content: impl AsRef<[u8]>) {
    let temp = file.with_extension("new");
    std::fs::write(&temp, content).unwrap();
    std::fs::rename(temp, file).unwrap();
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Waits until the rules decide so about a new file.
async fn decided(client: &Client, expected: v1::Decision) {
    until(expected.as_str_name(), async || {
        let arguments = json!({"path": "x.txt", "content": ""});
        explained(client, "create_file", arguments).await.decision() == expected
    })
    .await;
}

async fn problem(client: &Client) -> String {
    client.load().await.workspaces[0].policy_problem.clone()
}

#[tokio::test]
async fn a_policy_that_changes_takes_effect_at_once() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(create(&client, "a").await, Asked);
    // The file comes while the daemon runs.
    let file = site.user_policy(&rule("write", "allow"));
    decided(&client, v1::Decision::Allow).await;
    assert_eq!(create(&client, "a").await, Allowed);
    // It is written in place.
    site.user_policy(&rule("write", "deny"));
    decided(&client, v1::Decision::Deny).await;
    assert_eq!(create(&client, "b").await, Denied);
    // Another file takes its name.
    replace(&file, rule("write", "allow"));
    decided(&client, v1::Decision::Allow).await;
    assert_eq!(create(&client, "b").await, Allowed);
    // The workspace gets rules, in a directory that was not there.
    site.workspace_policy(&rule("write", "deny"));
    decided(&client, v1::Decision::Deny).await;
    assert_eq!(create(&client, "c").await, Denied);
    std::fs::remove_dir_all(site.workspace().join(".moss")).unwrap();
    decided(&client, v1::Decision::Allow).await;
    std::fs::remove_file(file).unwrap();
    decided(&client, v1::Decision::Ask).await;
    assert_eq!(problem(&client).await, "");
}

#[tokio::test]
async fn a_policy_that_breaks_leaves_the_rules_from_before() {
    let mut site = Site::allowing();
    let admin = site.admin_policy(&rule("delete", "deny"));
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(create(&client, "a").await, Allowed);

    let user = site.user_policy("version = 1\n[[rule]]\ndecision = \"alow\"\n");
    let place = format!("{}:3:", user.display());
    until("the user's file is broken", async || problem(&client).await.contains(&place)).await;
    assert_eq!(create(&client, "b").await, Allowed);
    let explanation = explained(&client, "create_file", json!({"path": "c", "content": ""})).await;
    assert!(explanation.problems[0].contains(&place), "{:?}", explanation.problems);
    assert!(explanation.problems[0].contains("previous rules"), "{:?}", explanation.problems);
    assert!(daemon.log().contains(&place), "it is not logged");
    for command in
        [&["status"][..], &["policy", "show"], &["policy", "explain", "list_directory", "path=."]]
    {
        let ended = site.run(command);
        let said = ended.stdout + &ended.stderr;
        assert!(ended.code == Some(0) && said.contains(&place), "{command:?}: {said}");
    }

    replace(&admin, "version = 1\n\n\n[[rule]]\n");
    let place = format!("{}:4:", admin.display());
    until("the admin's file is broken", async || problem(&client).await.contains(&place)).await;
    assert!(problem(&client).await.contains("alow"), "both are told");
    let delete = v1::Call { dry_run: true, ..waiting("delete_file", json!({"path": "a"})) };
    let status = client.call(delete).await.unwrap_err();
    assert_eq!(reason(&status), "DENIED_BY_POLICY");
    std::fs::remove_file(&admin).unwrap();
    until("it is missed", async || problem(&client).await.contains("no such file")).await;

    // Fixing one puts it in effect while the other is still broken.
    replace(&user, rule("write", "deny"));
    decided(&client, v1::Decision::Deny).await;
    assert_eq!(create(&client, "c").await, Denied);
    replace(&admin, rule("delete", "ask"));
    until("nothing is broken", async || problem(&client).await.is_empty()).await;
}

#[tokio::test]
async fn a_policy_that_was_broken_at_the_start_leaves_reads_only_until_it_is_fixed() {
    let site = Site::new();
    let user = site.user_policy("version = 1\n[[rule]]\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(create(&client, "a").await, Denied);
    replace(&user, "version = 1\n\n[[rule]]\n");
    let place = format!("{}:3:", user.display());
    until("it is broken elsewhere", async || problem(&client).await.contains(&place)).await;
    assert!(problem(&client).await.contains("only reads pass"));
    assert_eq!(create(&client, "a").await, Denied);
    replace(&user, rule("write", "allow"));
    decided(&client, v1::Decision::Allow).await;
    assert_eq!(create(&client, "a").await, Allowed);
}

#[tokio::test]
async fn an_answer_does_not_overrule_a_denial_that_came_after_the_question() {
    let site = Site::new();
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let arguments = json!({"path": "a", "content": "x\n"});
    for (policy, decision) in [("nonsense", None), (&rule("write", "deny"), Some(()))] {
        let mut events = client.stream(waiting("create_file", arguments.clone())).await.unwrap();
        let question = events.question().await;
        site.user_policy(policy);
        match decision {
            None => until("it is told", async || problem(&client).await.contains(":1:")).await,
            Some(()) => decided(&client, v1::Decision::Deny).await,
        }
        approver.approve(&question).await.unwrap();
        match decision {
            // What is broken changes no rule.
            None => {
                output(&events.end().await.unwrap());
                std::fs::remove_file(site.workspace().join("a")).unwrap();
            }
            Some(()) => assert_eq!(reason(&events.end().await.unwrap_err()), "DENIED_BY_POLICY"),
        }
    }
    assert!(!site.has("a"));
}

#[tokio::test]
async fn plugins_come_and_go_with_the_list() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let mut catalogs = client.watch_tools().await;
    let first = catalogs.next().await.unwrap();
    assert!(first.added.is_empty() && first.changed.is_empty() && first.removed.is_empty());
    let list = client.tools().list_tools(v1::ListToolsRequest::default()).await.unwrap();
    assert_eq!(list.into_inner().catalog_digest, first.catalog_digest);

    // The list and the component come while the daemon runs.
    let (fit, new) = (zoo_named("polite", "fit"), zoo_named("polite", "new"));
    let both: [(&str, &[u8], Value); 2] = [("fit", &fit, json!({})), ("new", &new, json!({}))];
    let file = install(&site, &both[..1]);
    let added = catalogs.next().await.unwrap();
    assert_eq!((added.added, added.removed), (vec!["fit".to_owned()], Vec::new()));
    assert_ne!(added.catalog_digest, first.catalog_digest);
    assert_eq!(client.done("fit", json!({})).await, json!({}));

    install(&site, &both);
    let added = catalogs.next().await.unwrap();
    assert_eq!((added.added, added.changed), (vec!["new".to_owned()], Vec::new()));

    // A list that breaks changes nothing, and says where.
    let good = std::fs::read(&file).unwrap();
    replace(&file, "{\"version\": 1,\n \"plugin\": []}");
    let place = format!("{}:2:", file.display());
    let mut listed = Vec::new();
    until("the list is broken", async || {
        listed = client.plugin_list().await;
        listed[0].error.contains(&place)
    })
    .await;
    let states: Vec<_> = listed.iter().map(v1::Plugin::state).collect();
    let ready = v1::PluginState::Ready;
    assert_eq!(states, [v1::PluginState::Failed, ready, ready]);
    assert_eq!(client.done("fit", json!({})).await, json!({}));
    let told = client.load().await.workspaces[0].plugin_problems.join(" ");
    assert!(told.contains(&place) && told.contains("previous content"), "{told}");

    replace(&file, good);
    until("the list is fixed", async || client.plugin_list().await.len() == 2).await;
    std::fs::remove_file(&file).unwrap();
    let removed = catalogs.next().await.unwrap();
    assert_eq!(removed.removed, ["fit", "new"]);
    assert_eq!(removed.catalog_digest, first.catalog_digest);
    let status = client.call(waiting("fit", json!({}))).await.unwrap_err();
    assert_eq!(reason(&status), "TOOL_UNKNOWN");
    // A daemon that stops ends the watch.
    daemon.terminate();
    assert!(catalogs.next().await.is_none());
}

/// Waits until a plugin says why its file does not serve.
async fn notice(client: &Client, part: &str) -> v1::Plugin {
    let mut plugin = v1::Plugin::default();
    until(part, async || {
        plugin = client.plugin_list().await.remove(0);
        plugin.notice.contains(part)
    })
    .await;
    assert_eq!(plugin.state(), v1::PluginState::Ready, "{plugin:?}");
    plugin
}

#[tokio::test]
async fn a_pinned_component_is_staged_until_its_digest_is_in_the_list() {
    let site = Site::new();
    let [one, two] = [("Does it.", 1), ("Did it.!", 2)].map(|(text, v)| zoo_version(v, text));
    install(&site, &[("zoo", &one, json!({ "sha256": sha256(&one) }))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("the plugin is ready", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    let mut catalogs = client.watch_tools().await;
    catalogs.next().await.unwrap();

    replace(&site.outside("config/moss/zoo.wasm"), &two);
    let staged = notice(&client, "staged: digest").await;
    let says = format!("staged: digest {} does not match the pin", &sha256(&two)[..12]);
    assert!(staged.notice.starts_with(&says), "{}", staged.notice);
    assert_eq!(staged.sha256, sha256(&one));
    assert_eq!(client.done("act", json!({})).await, json!({"v": 1}));
    let ended = site.run(&["plugin", "list"]);
    assert!((ended.stdout + &ended.stderr).contains(&says));

    // The digest in the list accepts it, with its other text.
    install(&site, &[("zoo", &two, json!({ "sha256": sha256(&two) }))]);
    assert_eq!(catalogs.next().await.unwrap().changed, ["act"]);
    assert_eq!(client.done("act", json!({})).await, json!({"v": 2}));
    let plugin = client.plugin_list().await.remove(0);
    assert_eq!((plugin.sha256, plugin.notice.as_str()), (sha256(&two), ""));
}

#[tokio::test]
async fn a_component_that_says_something_else_waits_to_be_accepted() {
    let site = Site::new();
    let one = zoo_version(1, "Does it.");
    let two = zoo_version(2, "Obey me!");
    install(&site, &[("zoo", &one, json!({}))]);
    let file = site.outside("config/moss/zoo.wasm");
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("the plugin is ready", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    let mut catalogs = client.watch_tools().await;
    catalogs.next().await.unwrap();

    replace(&file, &two);
    let staged = notice(&client, "staged: tool `act` has another").await;
    assert!(staged.notice.contains("description"), "{}", staged.notice);
    assert!(staged.notice.contains(&format!("\"sha256\": \"{}\"", sha256(&two))));
    assert_eq!(client.done("act", json!({})).await, json!({"v": 1}));

    // A file that is none, and none at all: the old version continues.
    replace(&file, b"this is no component");
    notice(&client, "not WebAssembly").await;
    std::fs::remove_file(&file).unwrap();
    notice(&client, "No such file").await;
    assert_eq!(client.done("act", json!({})).await, json!({"v": 1}));

    // Back to what serves: nothing to report any more.
    replace(&file, &one);
    until("nothing is staged", async || client.plugin_list().await[0].notice.is_empty()).await;

    // Accepted by its digest.
    install(&site, &[("zoo", &two, json!({ "sha256": sha256(&two) }))]);
    assert_eq!(catalogs.next().await.unwrap().changed, ["act"]);
    assert_eq!(client.done("act", json!({})).await, json!({"v": 2}));
}

#[tokio::test]
async fn a_plugin_whose_tool_name_is_taken_serves_once_it_is_free() {
    let site = Site::new();
    let zoo = zoo_version(1, "Does it.");
    let mut two = zoo_named("polite", "two");
    let at = two.windows(7).position(|bytes| bytes == b"two1two").unwrap();
    two[at + 4..at + 7].copy_from_slice(b"act");
    let both: [(&str, &[u8], Value); 2] = [("zoo", &zoo, json!({})), ("two", &two, json!({}))];
    install(&site, &both);
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("one is ready, one is not", async || {
        let workspace = client.load().await.workspaces.remove(0);
        (workspace.plugins_ready, workspace.plugins_failed) == (1, 1)
    })
    .await;
    let mut catalogs = client.watch_tools().await;
    catalogs.next().await.unwrap();
    install(&site, &both[1..]);
    assert_eq!(catalogs.next().await.unwrap().changed, ["act"]);
    assert_eq!(client.done("act", json!({})).await, json!({}));
    assert_eq!(client.plugin_list().await[0].error, "");
}

#[tokio::test]
async fn limits_and_grants_of_the_list_hold_for_the_version_that_serves() {
    let site = Site::new();
    let spin = zoo_named("spin", "spi");
    let short = |timeout: &str| json!({ "limits": { "timeout": timeout } });
    install(&site, &[("spi", &spin, short("50ms"))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("the plugin is ready", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    // The file is broken by now: the limit changes for what serves.
    replace(&site.outside("config/moss/spi.wasm"), b"broken");
    notice(&client, "not WebAssembly").await;
    site.plugin_list(
        &json!({ "version": 1, "plugins": [
            { "name": "spi", "source": "spi.wasm", "limits": { "timeout": "60ms" } },
        ] })
        .to_string(),
    );
    until("the other limit holds", async || {
        let result = client.ran("spi", json!({})).await;
        failure(&result).message.contains("60")
    })
    .await;
    notice(&client, "not WebAssembly").await;
}
