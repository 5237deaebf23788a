//! What a person is asked to agree to of a plugin, whole: each screen and each `--json` as it is
//! committed beside this file. A field that gets another name, or is shown no more, differs here.

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::{Ended, Site, output, plugin, waiting};
use crate::reload::sha256;

const QUESTION: &str = include_str!("consent_screen/question.txt");
const QUESTION_JSON: &str = include_str!("consent_screen/question.json");
const REPLACEMENT: &str = include_str!("consent_screen/replacement.txt");
const REPLACEMENT_JSON: &str = include_str!("consent_screen/replacement.json");

/// The next version of an example plugin: other texts, as long as those before.
fn next_version(bytes: &[u8]) -> Vec<u8> {
    let mut next = bytes.to_vec();
    for (before, now) in [
        ("license-header0.1.0looks for files", "license-header0.2.0reads all files"),
        ("Adds a licence header to the source files", "Puts a licence header in the source files"),
    ] {
        assert_eq!(before.len(), now.len(), "one replaces the other");
        let fits = |window: &[u8]| window == before.as_bytes();
        let at = next.windows(before.len()).position(fits).expect("the example says so");
        next[at..at + now.len()].copy_from_slice(now.as_bytes());
    }
    next
}

/// What is shown, with names in place of what is another one each time.
fn named(site: &Site, shown: &str, names: &[(&str, &str)]) -> String {
    let root = site.outside("");
    let root = root.to_str().unwrap().trim_end_matches('/');
    let shown = shown.replace(root, "ROOT");
    names.iter().fold(shown, |shown, (value, name)| {
        assert!(shown.contains(value), "no {name}: {shown}");
        shown.replace(value, name)
    })
}

fn assert_same(shown: &str, committed: &str) {
    assert_eq!(shown.trim_end(), committed.trim_end(), "shown is:\n{shown}\n");
}

fn parsed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// The example plugin in the workspace, and what of it the administrator allows.
fn prepared() -> (Site, Vec<u8>) {
    let site = Site::new();
    site.config("[plugin_maximum]\nfiles = [\"docs\"]\n");
    let first = std::fs::read(plugin("license_header")).unwrap();
    site.write("build/license_header.wasm", &first);
    (site, first)
}

#[tokio::test]
async fn a_question_about_a_plugin_is_shown_whole_as_it_is_committed() {
    let (site, first) = prepared();
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    // A part of what it asks for is granted, of that a part is capped, and something does nothing.
    let grant = json!({
        "fs": [{ "path": "docs", "access": "read" }, { "path": "src", "access": "read" }],
        "env": ["HOME"],
    });
    let request = json!({
        "name": "license-header", "source": "build/license_header.wasm", "grant": grant,
        "reason": "every file is to name its licence",
    });
    let mut watcher = approver.watch().await;
    let waits = {
        let (caller, call) = (caller.clone(), waiting("moss_register_plugin_tool", request));
        tokio::spawn(async move { caller.call(call).await })
    };
    let question = watcher.question().await;
    let screen = site.run(&["confirm", "show", &question.id]);
    let programs = site.run(&["confirm", "show", &question.id, "--json"]);
    let shown = parsed(&programs);
    let digest_of_first = sha256(&first);
    let names = [
        (question.id.as_str(), "CONFIRMATION"),
        (shown["expires_at"].as_str().unwrap(), "EXPIRY"),
        (question.digest.as_str(), "DIGEST"),
        (digest_of_first.as_str(), "SHA256"),
    ];
    let of_programs = [
        (shown["created_at"].as_str().unwrap(), "ASKED_AT"),
        (question.call_id.as_str(), "CALL"),
        (question.changes[0].hash_after.as_str(), "HASH_AFTER"),
    ];
    let of_programs = [&names[..], &of_programs].concat();
    assert_same(&named(&site, &screen.stdout, &names), QUESTION);
    assert_same(&named(&site, &programs.stdout, &of_programs), QUESTION_JSON);

    // Editors have it in fields.
    let consent = question.consent.clone().unwrap();
    assert_eq!(consent.kind(), v1::ConsentKind::Add);
    let component = consent.plugins[0].component.clone().unwrap();
    let (may, capped): (Vec<String>, Vec<String>) =
        (vec!["read docs".into()], vec!["read src".into()]);
    assert_eq!((component.may, component.capped), (may, capped));
    approver.approve(&question).await.unwrap();
    let done = waits.await.unwrap().unwrap();
    assert_eq!(output(&done)["loaded"], true, "{done:?}");
    assert!(done.plugins_changed.is_none(), "a tool returns what its schema says");
}

#[test]
fn a_version_in_place_of_another_is_shown_whole_as_it_is_committed() {
    let (site, first) = prepared();
    let next = next_version(&first);
    let next_file = site.write("build/next.wasm", &next);
    let first_file = site.workspace().join("build/license_header.wasm");
    let granted = ["--fs", "docs", "--fs", "src", "--env", "HOME", "--yes"];
    let add = ["plugin", "add", first_file.to_str().unwrap()];
    let added = site.run(&[&add[..], &granted].concat());
    assert_eq!(added.code, Some(0), "{added:?}");
    let dry_run = [
        "plugin",
        "add",
        next_file.to_str().unwrap(),
        "--replace",
        "--grant-requested",
        "--config",
        "{\"header\": \"Mine.\"}",
        "--dry-run",
    ];
    let programs = site.run(&[&dry_run[..], &["--json"]].concat());
    // It is compiled by now: nothing else is said.
    let screen = site.run(&dry_run);
    let shown = parsed(&programs);
    let (digest_of_first, digest_of_next) = (sha256(&first), sha256(&next));
    let names = [
        (shown["digest"].as_str().unwrap(), "DIGEST"),
        (digest_of_first.as_str(), "SHA256_BEFORE"),
        (digest_of_next.as_str(), "SHA256"),
    ];
    let of_programs = [&names[..], &[(shown["call_id"].as_str().unwrap(), "CALL")]].concat();
    let whole = screen.stderr + &screen.stdout;
    assert_same(&named(&site, &whole, &names), REPLACEMENT);
    assert_same(&named(&site, &programs.stdout, &of_programs), REPLACEMENT_JSON);
}
