//! The example plugins on real files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use moss_plugin_host::services::{NoServices, Services};
use moss_plugin_host::{CallRequest, Example, Plugin, PluginCallError, PluginEdit, PluginOutcome};
use moss_sdk::{Effect, ErrorCode};
use serde_json::{Value, json};

use crate::disk::disk;
use crate::harness::{Heard, bounded, entry, example, load, request};

async fn word_count() -> Plugin {
    let grant = json!({ "fs": [{ "path": "docs", "access": "read" }] });
    let entry = entry(json!({ "name": "word-count", "grant": grant }));
    load(&entry, example("word_count.wasm")).await.unwrap()
}

async fn license_header() -> Plugin {
    let entry = entry(json!({
        "name": "license-header",
        "grant": { "fs": [{ "path": "src", "access": "read" }] },
        "config": { "header": "SPDX-License-Identifier: MIT" }
    }));
    load(&entry, example("license_header.wasm")).await.unwrap()
}

async fn run(
    plugin: &Plugin,
    arguments: Value,
    services: Arc<dyn Services>,
) -> Result<PluginOutcome, PluginCallError> {
    let tool = plugin.specs()[0].name.clone();
    bounded(plugin.call(CallRequest { arguments, services, ..request(&tool) })).await
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[tokio::test]
async fn word_count_describes_itself() {
    let plugin = word_count().await;
    let [spec] = plugin.specs() else { panic!("one tool") };
    assert_eq!((spec.name.as_str(), spec.effect), ("word_count", Effect::Read));
    assert_eq!(spec.text.title, "Count words");
    assert!(spec.text.description.starts_with("Counts words, lines and characters"));
    assert_eq!(
        spec.parameters,
        json!({
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file or directory, relative to the workspace."
                },
                "extensions": {
                    "type": "array",
                    "items": { "type": "string" },
                    "default": [],
                    "description": "Only files with one of these extensions, such as \
                                    `[\"md\", \"txt\"]`; without it every file."
                }
            },
            "required": ["path"],
            "additionalProperties": false
        })
    );
    assert_eq!(plugin.grant().files.len(), 1);
    assert_eq!(plugin.requests()[0].reason, "reads the files that it counts");
}

#[tokio::test]
async fn word_count_counts_the_files_beneath_a_grant() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "docs/b.md", "one two\n");
    write(root.path(), "docs/a/a.md", "naïve\nthree\n");
    write(root.path(), "docs/c.txt", "not counted");
    fs::write(root.path().join("docs/d.md"), [0xff, 0xfe]).unwrap();
    let heard = Arc::new(Heard::default());
    let plugin = word_count().await;
    let outcome = bounded(plugin.call(CallRequest {
        arguments: json!({ "path": "docs", "extensions": ["md"] }),
        services: disk(root.path()),
        events: heard.clone(),
        ..request("word_count")
    }))
    .await
    .unwrap();
    assert_eq!(
        outcome.output,
        json!({
            "files": [
                { "path": "docs/a/a.md", "words": 2, "lines": 2, "characters": 12 },
                { "path": "docs/b.md", "words": 2, "lines": 1, "characters": 8 }
            ],
            "total": { "words": 4, "lines": 3, "characters": 20 },
            "skipped": ["docs/d.md: not UTF-8 text"],
            "truncated": false
        })
    );
    assert!(outcome.usage.peak_memory_bytes > 0);
    let progress = heard.progress.lock().unwrap();
    assert_eq!(progress.len(), 3);
    assert_eq!((progress[1].message.as_str(), progress[1].done), ("docs/b.md", 1));
}

#[tokio::test]
async fn a_guest_sees_nothing_outside_its_grants() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "secret.txt", "secret");
    write(root.path(), "docs/a.txt", "a");
    std::os::unix::fs::symlink("../secret.txt", root.path().join("docs/link")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", root.path().join("docs/absolute")).unwrap();
    std::os::unix::fs::symlink("/proc/self/environ", root.path().join("docs/proc")).unwrap();
    let plugin = word_count().await;
    for path in [
        "secret.txt",
        "docs/../secret.txt",
        "docs/link",
        "docs/absolute",
        "docs/proc",
        "/etc/passwd",
        "../",
        "/proc/self/environ",
    ] {
        match run(&plugin, json!({ "path": path }), disk(root.path())).await {
            Err(PluginCallError::Failed(error)) => {
                assert!(
                    matches!(
                        error.code,
                        ErrorCode::NotFound
                            | ErrorCode::Denied
                            | ErrorCode::Io
                            | ErrorCode::InvalidPath
                            | ErrorCode::OutsideWorkspace
                    ),
                    "{path}: {error:?}"
                );
            }
            Ok(outcome) => panic!("{path}: {:?}", outcome.output),
            Err(other) => panic!("{path}: {other:?}"),
        }
    }
    // The workspace itself is there, with nothing in it but what was granted.
    for path in [".", "", "docs/.."] {
        let outcome = run(&plugin, json!({ "path": path }), disk(root.path())).await.unwrap();
        assert_eq!(outcome.output["total"]["words"], json!(1), "{path}");
    }
    let entry = entry(json!({ "name": "word-count" }));
    let plugin = load(&entry, example("word_count.wasm")).await.unwrap();
    let no_grant = run(&plugin, json!({ "path": "docs/a.txt" }), disk(root.path())).await;
    let no_grant = no_grant.unwrap_err();
    assert!(
        matches!(no_grant, PluginCallError::Failed(error) if error.code == ErrorCode::NotFound)
    );
}

#[tokio::test]
async fn a_grant_of_the_workspace_shows_it_at_its_own_paths() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "docs/a.txt", "one");
    let grant = json!({ "fs": [{ "path": ".", "access": "read" }] });
    let entry = entry(json!({ "name": "word-count", "grant": grant }));
    let plugin = load(&entry, example("word_count.wasm")).await.unwrap();
    for path in [".", "docs", "./docs/", "docs/a.txt"] {
        let outcome = run(&plugin, json!({ "path": path }), disk(root.path())).await.unwrap();
        assert_eq!(outcome.output["files"][0]["path"], json!("docs/a.txt"), "{path}");
    }
}

#[tokio::test]
async fn license_header_proposes_edits_and_then_finds_nothing_to_do() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "src/run.sh", "#!/bin/sh\necho\n");
    write(root.path(), "src/lib.rs", "fn a() {}\n");
    write(root.path(), "src/theirs.rs", "// Copyright them\nfn b() {}\n");
    write(root.path(), "src/notes.md", "notes\n");
    let plugin = license_header().await;
    assert_eq!(plugin.specs()[0].effect, Effect::Write);
    let run_it = || run(&plugin, json!({ "path": "src" }), disk(root.path()));
    let outcome = run_it().await.unwrap();
    assert_eq!(
        outcome.output,
        json!({
            "added": ["src/lib.rs", "src/run.sh"], "present": 0, "other": ["src/theirs.rs"],
            "skipped": [], "truncated": false
        })
    );
    for edit in &outcome.edits {
        let PluginEdit::ReplaceText { path, old_text, new_text } = edit else {
            panic!("{edit:?}");
        };
        let path = root.path().join(path.as_str());
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(old_text).count(), 1);
        fs::write(path, text.replacen(old_text, new_text, 1)).unwrap();
    }
    assert_eq!(
        fs::read_to_string(root.path().join("src/run.sh")).unwrap(),
        "#!/bin/sh\n# SPDX-License-Identifier: MIT\n\necho\n"
    );
    let again = run_it().await.unwrap();
    assert_eq!(again.edits, []);
    assert_eq!(again.output["present"], json!(2));
}

#[tokio::test]
async fn arguments_and_config_that_do_not_fit_are_explained() {
    let plugin = license_header().await;
    let error = run(&plugin, json!({ "path": "src", "header": " \n" }), Arc::new(NoServices)).await;
    let Err(PluginCallError::Failed(error)) = error else { panic!("{error:?}") };
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::InvalidArguments, "the header is empty")
    );
    let entry = entry(json!({ "name": "license-header", "config": { "haeder": "x" } }));
    let error = load(&entry, example("license_header.wasm")).await.unwrap_err().to_string();
    assert!(error.contains("haeder"), "{error}");
}

#[tokio::test]
async fn a_fifo_in_a_grant_does_not_hold_a_call_up() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "docs/a.txt", "one");
    let fifo = root.path().join("docs/fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let plugin = word_count().await;
    let outcome = run(&plugin, json!({ "path": "docs" }), disk(root.path())).await.unwrap();
    assert_eq!(outcome.output["total"]["words"], json!(1));
    let error = run(&plugin, json!({ "path": "docs/fifo" }), disk(root.path())).await;
    let Err(PluginCallError::Failed(error)) = error else { panic!("{error:?}") };
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::Denied, "docs/fifo: not permitted")
    );
}

#[tokio::test]
async fn plugins_do_what_their_examples_say() {
    for name in ["csv-profile", "data-query", "license-header", "todo-report", "word-count"] {
        let grant = json!({ "fs": [{ "path": ".", "access": "read" }] });
        let entry = entry(json!({ "name": name, "grant": grant }));
        let file = format!("{}.wasm", name.replace('-', "_"));
        let plugin = load(&entry, example(&file)).await.unwrap();
        for spec in plugin.specs() {
            let examples = plugin.examples(&spec.name);
            assert!(!examples.is_empty(), "{} shows nothing", spec.name);
            for shown in examples {
                check(&plugin, &spec.name, shown).await;
            }
        }
    }
}

/// Runs an example in a workspace of its own.
async fn check(plugin: &Plugin, tool: &str, shown: &Example) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in &shown.files {
        write(root.path(), path.as_str(), text);
    }
    let outcome = bounded(plugin.call(CallRequest {
        arguments: shown.arguments.clone(),
        services: disk(root.path()),
        ..request(tool)
    }))
    .await
    .unwrap();
    if let Some(output) = &shown.output {
        assert_eq!(&outcome.output, output, "{tool}: {}", shown.title);
    }
    for edit in &outcome.edits {
        let PluginEdit::ReplaceText { path, old_text, new_text } = edit else {
            panic!("{edit:?}");
        };
        let path = root.path().join(path.as_str());
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replacen(old_text, new_text, 1)).unwrap();
    }
    assert_eq!(outcome.edits.len(), shown.changed.len(), "{tool}: {}", shown.title);
    for (path, text) in &shown.changed {
        assert_eq!(&fs::read_to_string(root.path().join(path.as_str())).unwrap(), text);
    }
}

#[tokio::test]
async fn plugins_without_a_capability_say_so() {
    let memory = entry(json!({ "name": "memory", "grant": {} }));
    let memory = load(&memory, example("memory.wasm")).await.unwrap();
    let arguments = json!({ "query": "x" });
    let error = bounded(memory.call(CallRequest { arguments, ..request("memory_recall") })).await;
    let Err(PluginCallError::Failed(error)) = error else { panic!("{error:?}") };
    assert_eq!(error.code, ErrorCode::Denied);
    assert!(error.hint.unwrap().contains(r#""store": "1MiB""#));
}
