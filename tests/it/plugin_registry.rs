//! Plugins that come, go and are pinned by moss: shown first, asked about whatever the rules say,
//! written without touching the rest of the list.

use std::path::PathBuf;

use moss_proto::v1;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tonic::Code;

use crate::harness::guests::{install, zoo, zoo_named, zoo_version};
use crate::harness::{
    Client, Ended, Site, call, failure, output, plugin, reason, refusing, until, waiting,
};

const TOOL: &str = "moss_register_plugin_tool";
/// A list with one plugin, written by a person.
const LIST: &str = "// Mine.\n{\n  \"version\": 1,\n  \"plugins\": [\n    { \"name\": \"fit\", \
    \"source\": \"fit.wasm\" } // it fits\n  ]\n}\n";

fn list(site: &Site) -> PathBuf {
    site.outside("config/moss/moss-tools.json")
}

fn listed(site: &Site) -> String {
    std::fs::read_to_string(list(site)).unwrap_or_default()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parsed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

async fn ready(client: &Client, name: &str, digest: &str) {
    until("the version serves", async || {
        let plugins = client.plugin_list().await;
        plugins.iter().any(|plugin| plugin.name == name && plugin.sha256 == digest)
    })
    .await;
}

/// A request for the plugin `zoo` in the workspace.
fn request() -> Value {
    json!({ "name": "zoo", "source": "build/zoo.wasm", "reason": "to try it" })
}

#[test]
fn a_plugin_is_added_after_it_was_shown() {
    let site = Site::new();
    let list_before = LIST.to_owned();
    site.plugin_list(&list_before);
    let file = plugin("word_count");
    let file = file.to_str().unwrap();
    let digest = sha256(&std::fs::read(file).unwrap());

    let refused = site.run(&["plugin", "add", file, "--json"]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    let blanket = site.run(&["plugin", "add", file, "--confirm", "allow"]);
    assert_eq!(blanket.code, Some(4), "{blanket:?}");
    let denied = site.run(&["plugin", "add", file, "--confirm", "deny"]);
    assert_eq!(denied.code, Some(3), "{denied:?}");
    let dry = site.run(&["plugin", "add", file, "--fs", "docs", "--dry-run", "--json"]);
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert_eq!(listed(&site), list_before);
    let shown = parsed(&dry);
    let output = &shown["output"];
    assert_eq!((&output["name"], &output["sha256"]), (&json!("word-count"), &json!(digest)));
    assert_eq!(output["tools"][0]["name"], "word_count");
    assert_eq!((&output["may"], &output["applied"]), (&json!(["read docs"]), &json!(false)));
    assert!(output["requested"][0]["reason"].as_str().unwrap().len() > 3, "{output}");

    let other = site.run(&["plugin", "add", file, "--confirm", shown["digest"].as_str().unwrap()]);
    assert_eq!(other.code, Some(4), "another grant is another effect: {other:?}");
    let with = ["--fs", "docs", "--confirm", shown["digest"].as_str().unwrap()];
    let added = site.run(&[&["plugin", "add", file], &with[..]].concat());
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(added.stderr.contains("moss call word_count"), "{added:?}");
    let (before, after) = list_before.split_at(list_before.rfind("\n  ]").unwrap());
    let text = listed(&site);
    assert!(text.starts_with(&before.replace(" // it fits", ",")) || text.contains("// it fits"));
    assert!(text.ends_with(after) && text.contains(&digest), "{text}");

    let again = site.run(&["plugin", "add", file, "--yes", "--json"]);
    assert_eq!((again.code, &parsed(&again)["error"]["code"]), (Some(1), &json!("already_exists")));
    let bare = site.run(&["plugin", "add", file, "--replace", "--grant", "{}", "--yes"]);
    assert_eq!(bare.code, Some(0), "{bare:?}");
    for part in ["is granted nothing; it requests: read", "--replace --grant-requested /"] {
        assert!(bare.stderr.contains(part), "{part}: {}", bare.stderr);
    }
    assert!(!bare.stderr.contains("try `moss call"), "{}", bare.stderr);
    let replaced = site.run(&["plugin", "add", file, "--replace", "--grant-requested", "--yes"]);
    assert!(replaced.stderr.contains("try `moss call"), "{}", replaced.stderr);
    assert_eq!(replaced.code, Some(0), "{replaced:?}");
    let shown = parsed(&site.run(&["plugin", "show", "word-count", "--json"]));
    let shown = &shown["plugins"][0];
    assert_eq!(
        (&shown["state"], &shown["requests"][0]["allowed"]),
        (&json!("ready"), &json!(true))
    );
    let told = site.run(&["plugin", "show", "word-count"]).stdout;
    assert!(told.contains("word_count(") && told.contains("pinned"), "{told}");

    let removed = site.run(&["plugin", "remove", "word-count", "--yes"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(listed(&site).contains("// it fits") && !listed(&site).contains("word-count"));
    let unknown = site.run(&["plugin", "remove", "word-count", "--yes"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    assert!(unknown.stderr.contains("listed are: fit"), "{unknown:?}");
}

#[test]
fn what_is_no_plugin_and_what_takes_a_name_is_not_added() {
    let site = Site::new();
    for (name, bytes, word) in [
        ("text", b"this is no component".to_vec(), "not WebAssembly"),
        ("module", zoo("module"), "core WebAssembly module"),
        ("spin", zoo("spin_in_start"), "longer than"),
    ] {
        let file = site.write(&format!("{name}.wasm"), bytes);
        let refused = site.run(&["plugin", "add", file.to_str().unwrap(), "--yes"]);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(word), "{word}: {refused:?}");
    }
    let file = site.write("zoo.wasm", zoo("polite"));
    let file = file.to_str().unwrap();
    for arguments in [&["--name", "other"][..], &["--sha256", &"0".repeat(64)]] {
        let refused = site.run(&[&["plugin", "add", file, "--yes"], arguments].concat());
        assert_eq!(refused.code, Some(1), "{refused:?}");
    }
    let refused = site.run(&["plugin", "add", file, "--grant", "{\"fss\": []}", "--yes"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("did you mean `fs`?"), "{refused:?}");
    assert_eq!(listed(&site), "");
    site.plugin_list("{\n oops");
    let refused = site.run(&["plugin", "add", file, "--yes"]);
    assert!(refused.stderr.contains("moss-tools.json:2:2: not JSON"), "{refused:?}");
    assert_eq!(listed(&site), "{\n oops");
}

#[tokio::test]
async fn a_tool_files_a_request_that_only_a_person_grants() {
    let site = Site::new();
    // What allows everything does not allow this.
    site.user_policy("version = 1\n[[rule]]\ndecision = \"allow\"\n");
    let bytes = zoo("polite");
    site.write("build/zoo.wasm", &bytes);
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let status = caller.call(refusing(TOOL, request())).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert_eq!(listed(&site), "");

    let mut watcher = approver.watch().await;
    let waits = {
        let caller = caller.clone();
        let call = v1::Call { session_id: "s".into(), ..waiting(TOOL, request()) };
        tokio::spawn(async move { caller.call(call).await })
    };
    let question = watcher.question().await;
    assert!(question.registers && question.offers.is_empty(), "{question:?}");
    let asked: Value = serde_json::from_str(&question.arguments_json).unwrap();
    assert_eq!((&asked["name"], &asked["reason"]), (&json!("zoo"), &json!("to try it")));
    assert_eq!((&asked["sha256"], &asked["may"]), (&json!(sha256(&bytes)), &json!([])));
    assert_eq!(asked["tools"][0]["name"], "act");
    assert!(question.changes[0].diff.contains("+      \"name\": \"zoo\""));
    // Who asks cannot answer.
    let status = caller.approve(&question).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);
    approver.approve(&question).await.unwrap();
    let done = output(&waits.await.unwrap().unwrap());
    assert_eq!((&done["applied"], &done["loaded"]), (&json!(true), &json!(true)), "{done}");
    assert_eq!(done["tools"], json!(["act"]));
    assert_eq!(caller.done("act", json!({})).await, json!({}));
    let journal = site.run(&["audit", "tail", "--tool", TOOL, "--json"]).stdout;
    for word in ["\"register\"", "\"approved\""] {
        assert!(journal.contains(word), "{word}: {journal}");
    }
}

#[tokio::test]
async fn a_request_is_held_to_rules_names_and_the_workspace() {
    let site = Site::new();
    site.write("build/zoo.wasm", zoo("polite"));
    site.write("build/act.wasm", zoo_named("polite", "abc"));
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let asked = |name: &str, source: &str| json!({ "name": name, "source": source, "reason": "x" });
    for (arguments, code) in [
        (asked("zoo", "build/none.wasm"), "io"),
        (asked("zoo", "../x.wasm"), "outside_workspace"),
        (asked("other", "build/zoo.wasm"), "plugin_failed"),
        (
            json!({ "name": "zoo", "source": "build/zoo.wasm", "reason": "x", "sha256": "0".repeat(64) }),
            "conflict",
        ),
        (
            json!({ "name": "zoo", "source": "build/zoo.wasm", "reason": "x", "grant": { "http": ["a/b"] } }),
            "invalid_arguments",
        ),
    ] {
        let failed = caller.ran(TOOL, arguments.clone()).await;
        assert_eq!(failure(&failed).code, code, "{arguments}: {failed:?}");
    }
    let dry = v1::Call { dry_run: true, ..call(TOOL, request()) };
    let shown = caller.call(dry).await.unwrap();
    assert_eq!(output(&shown)["applied"], false);
    let allow = site.run(&[
        "call",
        TOOL,
        "name=zoo",
        "source=build/zoo.wasm",
        "reason=x",
        "--confirm",
        "allow",
    ]);
    assert_eq!(allow.code, Some(4), "{allow:?}");
    assert_eq!(listed(&site), "");
    let approved = v1::Call { approved_digests: vec![shown.digest], ..refusing(TOOL, request()) };
    output(&daemon.approver().await.call(approved).await.unwrap());
    assert!(listed(&site).contains("\"zoo\""));

    let mut closed = Site::new();
    closed.write("build/zoo.wasm", zoo("polite"));
    closed.admin_policy("version = 1\n[[rule]]\neffects = [\"register\"]\ndecision = \"deny\"\n");
    let status = closed.serve().caller().await.call(call(TOOL, request())).await.unwrap_err();
    assert_eq!(reason(&status), "DENIED_BY_POLICY");
}

#[tokio::test]
async fn a_staged_version_serves_once_it_is_accepted_and_watchers_are_notified() {
    let site = Site::new();
    let (one, two) = (zoo_version(1, "Does it."), zoo_version(2, "Does it!"));
    install(&site, &[("zoo", &one, json!({ "sha256": sha256(&one) }))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    ready(&client, "zoo", &sha256(&one)).await;
    let watch = v1::WatchPluginsRequest::default();
    let mut watch = client.plugins().watch_plugins(watch).await.unwrap().into_inner();
    std::fs::write(site.outside("config/moss/zoo.wasm"), &two).unwrap();
    loop {
        let told = watch.message().await.unwrap().unwrap();
        let zoo = &told.plugins[0];
        if zoo.staged_sha256 == sha256(&two) {
            assert!(zoo.notice.contains("moss plugin accept zoo"), "{}", zoo.notice);
            assert_eq!((&zoo.sha256, &zoo.pinned_sha256), (&sha256(&one), &sha256(&one)));
            break;
        }
    }
    assert_eq!(client.done("act", json!({})).await, json!({ "v": 1 }));
    let unasked = site.run(&["plugin", "accept", "zoo"]);
    assert_eq!(unasked.code, Some(4), "{unasked:?}");
    assert!(unasked.stderr.contains("has another description"), "{unasked:?}");
    let accepted = site.run(&["plugin", "accept", "zoo", "--yes"]);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    ready(&client, "zoo", &sha256(&two)).await;
    assert_eq!(client.done("act", json!({})).await, json!({ "v": 2 }));
    let again = site.run(&["plugin", "accept", "zoo", "--yes", "--json"]);
    let again = (again.code, parsed(&again));
    assert_eq!((again.0, &again.1["applied"]), (Some(0), &json!(false)), "{again:?}");
    let told = site.run(&["plugin", "accept", "zoo"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.stdout.starts_with("nothing to accept: `zoo` is pinned"), "{told:?}");
    for arguments in [["plugin", "remove", "zoo", "--json"], ["plugin", "accept", "zoo", "--json"]]
    {
        if arguments[1] == "accept" {
            std::fs::write(site.outside("config/moss/zoo.wasm"), &one).unwrap();
        }
        let unasked = site.run(&arguments);
        let digest = if arguments[1] == "accept" { sha256(&one) } else { sha256(&two) };
        let shown = parsed(&unasked);
        assert_eq!(
            (unasked.code, &shown["output"]["sha256"]),
            (Some(4), &digest.into()),
            "{shown}"
        );
        assert_eq!(shown["digest"].as_str().map(str::len), Some(64), "{shown}");
        assert_eq!(shown["error"]["code"], "confirmation_required", "{shown}");
    }
}

#[tokio::test]
async fn a_change_is_in_effect_when_the_command_returns() {
    let site = Site::new();
    let bytes = zoo("polite");
    let wide = json!({ "grant": { "env": ["LANG"] } });
    install(&site, &[("zoo", &bytes, wide)]);
    let file = site.outside("config/moss/zoo.wasm").display().to_string();
    let daemon = site.serve();
    let client = daemon.caller().await;
    ready(&client, "zoo", &sha256(&bytes)).await;
    let granted = async || client.plugin_list().await[0].granted.clone();
    for grant in ["{\"env\": [\"HOME\", \"LANG\"]}", "{\"env\": [\"HOME\"]}", "{}"] {
        let before = granted().await;
        let add = ["plugin", "add", &file, "--replace", "--grant", grant, "--yes"];
        let narrowed = site.run(&add);
        assert_eq!(narrowed.code, Some(0), "{narrowed:?}");
        let now = granted().await;
        assert_ne!(now, before, "{grant}");
        assert_eq!(now.is_empty(), grant == "{}", "{now:?}");
    }
    client.done("act", json!({})).await;
    let removed = site.run(&["plugin", "remove", "zoo", "--yes"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    let gone = client.call(call("act", json!({}))).await.unwrap_err();
    assert_eq!(reason(&gone), "TOOL_UNKNOWN");
}

/// Puts the plugin `zoo` and a list that names it into the workspace.
fn bring_along(site: &Site) -> Vec<u8> {
    let bytes = zoo("polite");
    site.write("build/zoo.wasm", &bytes);
    let entry = json!({ "name": "zoo", "source": "build/zoo.wasm" });
    site.write("moss-tools.json", json!({ "version": 1, "plugins": [entry] }).to_string());
    bytes
}

#[tokio::test]
async fn a_list_of_the_workspace_serves_it_once_it_is_trusted_and_until_it_changes() {
    let site = Site::new();
    let bytes = bring_along(&site);
    let root = site.workspace().display().to_string();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let plugins = async |root: &str| {
        let request = v1::ListPluginsRequest { workspace: root.to_owned() };
        client.plugins().list_plugins(request).await.unwrap().into_inner().plugins
    };
    until("the list is read", async || {
        let plugins = plugins(&root).await;
        plugins.first().is_some_and(|list| list.error.contains("moss plugin trust --workspace"))
    })
    .await;

    assert_eq!(plugins(&root).await[0].state(), v1::PluginState::Untrusted);
    let status = client.load().await;
    let here = status.workspaces.iter().find(|workspace| workspace.root == root).unwrap();
    assert_eq!((here.plugins_failed, here.plugin_problems.len()), (0, 0), "nothing is broken");
    assert!(here.untrusted_list.contains("moss plugin trust --workspace"), "{here:?}");
    let status = site.run(&["status"]).stdout;
    assert!(status.contains("0 failed\n") && status.contains("\n  not trusted: "), "{status}");
    let shown = site.run(&["plugin", "trust", "--dry-run"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let told = &shown.stderr;
    assert!(told.contains("act [write]") && told.contains("may:\n  nothing"), "{told}");
    let unasked = site.run(&["plugin", "trust"]);
    assert_eq!(unasked.code, Some(4), "{unasked:?}");
    let trusted = site.run(&["plugin", "trust", "--yes"]);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    until("the plugin serves", async || {
        plugins(&root).await.iter().any(|plugin| plugin.sha256 == sha256(&bytes))
    })
    .await;
    let here = v1::Call { workspace: root.clone(), ..call("act", json!({})) };
    output(&client.call(here).await.unwrap());

    let text = site.read("moss-tools.json");
    site.write("moss-tools.json", text + " // more\n");
    until("the list is no longer trusted", async || {
        let plugins = plugins(&root).await;
        plugins.len() == 1 && plugins[0].error.contains("is not trusted as it is")
    })
    .await;
}

#[test]
fn a_list_of_the_workspace_cannot_name_what_lies_outside() {
    let site = Site::new();
    let entry = json!({ "name": "zoo", "source": "../zoo.wasm" });
    site.write("moss-tools.json", json!({ "version": 1, "plugins": [entry] }).to_string());
    let refused = site.run(&["plugin", "trust", "--yes"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("names only files of the workspace"), "{refused:?}");
    let none = Site::new().run(&["plugin", "trust", "--yes", "--json"]);
    assert_eq!((none.code, &parsed(&none)["error"]["code"]), (Some(1), &json!("not_found")));
}

#[tokio::test]
async fn no_plugin_has_more_than_the_configuration_allows_and_that_takes_effect_at_once() {
    let site = Site::new();
    let bytes = std::fs::read(plugin("word_count")).unwrap();
    let everywhere = json!({ "fs": [{ "path": ".", "access": "read" }] });
    let entry = json!({ "grant": everywhere, "limits": { "timeout": "5m" } });
    install(&site, &[("word-count", &bytes, entry)]);
    site.config("[plugin_maximum]\nfiles = [\"docs\"]\ntimeout_ms = 2000\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    ready(&client, "word-count", &sha256(&bytes)).await;
    let plugin = client.plugin_list().await.remove(0);
    assert_eq!(
        (plugin.may, plugin.granted),
        (vec!["read docs".into()], vec!["read the workspace".into()])
    );
    assert_eq!(plugin.requests[0].withheld_by, "configuration");
    assert_eq!(plugin.limits.unwrap().timeout_ms, 2000);
    let told = site.run(&["plugin", "show", "word-count"]).stdout;
    assert!(told.contains("`[plugin_maximum]` withholds: read the workspace"), "{told}");

    site.config("[plugins]\nunpinned = false\n");
    until("the plugin serves no more", async || {
        let plugins = client.plugin_list().await;
        plugins[0].error.contains("plugins.unpinned")
    })
    .await;
    let status = client.call(call("word_count", json!({ "path": "." }))).await.unwrap_err();
    assert_eq!(reason(&status), "TOOL_UNKNOWN");
    let accepted = site.run(&["plugin", "accept", "word-count", "--yes"]);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    ready(&client, "word-count", &sha256(&bytes)).await;
}

/// A signature of the text `test`, from the documentation of minisign's verifier, and its key.
const SIGNATURE: &str = "untrusted comment: signature from minisign secret key\n\
    RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/\
    z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=\n\
    trusted comment: timestamp:1633700835\tfile:test\tprehashed\n\
    wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==\n";
const SIGNER: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

#[tokio::test]
async fn a_signature_counts_only_by_a_signer_and_of_the_file() {
    let site = Site::new();
    let bytes = zoo("polite");
    install(&site, &[("zoo", &bytes, json!({ "signature": "zoo.minisig" }))]);
    std::fs::write(site.outside("config/moss/zoo.minisig"), SIGNATURE).unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let says = async |word: &str| {
        until(word, async || {
            let plugins = client.plugin_list().await;
            plugins.first().is_some_and(|plugin| plugin.error.contains(word))
        })
        .await;
    };
    says("by the key E7620F1842B4E81F, which is not a signer; signers are: none").await;
    site.config(&format!("[plugins]\nsigners = [\"{SIGNER}\"]\n"));
    says("the signature by the key E7620F1842B4E81F is not of this file").await;
    let file = site.write("zoo.wasm", &bytes);
    let signature = site.write("zoo.minisig", SIGNATURE);
    let (file, signature) = (file.to_str().unwrap(), signature.to_str().unwrap());
    let refused = site.run(&["plugin", "add", file, "--signature", signature, "--yes"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stderr.contains("is not of this file"), "{refused:?}");
}
