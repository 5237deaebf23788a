//! A project at a glance, on real directories: what it shows, and what it keeps to itself.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::harness::{Client, Site};

async fn structure(client: &Client) -> Value {
    client.done("get_project_structure", json!({})).await
}

fn tree(output: &Value) -> &str {
    output["tree"].as_str().unwrap()
}

#[tokio::test]
async fn a_project_is_shown_without_what_the_policy_closes() {
    let site = Site::new();
    site.write("go.mod", "module example.org/open\n");
    site.write("cmd/x/main.go", "package main\n");
    site.write("private/Cargo.toml", "[package]\nname = \"closed\"\n");
    site.write("asked/Cargo.toml", "[package]\nname = \"asked\"\n");
    site.write(".env", "TOKEN=1\n");
    site.write("out/x.go", "package out\n");
    site.write(".gitignore", "out/\n");
    site.write(".git/config", "[core]\n");
    std::fs::write(site.outside("Cargo.toml"), "[package]\nname = \"outside\"\n").unwrap();
    std::fs::create_dir(site.workspace().join("linked")).unwrap();
    symlink("../../Cargo.toml", site.workspace().join("linked/Cargo.toml")).unwrap();
    std::fs::write(site.workspace().join(OsStr::from_bytes(b"\xff.go")), "").unwrap();
    let pipe = site.workspace().join("Makefile");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"private/**\"]\ndecision = \"deny\"\n\
         [[rule]]\neffects = [\"read\"]\npaths = [\"asked/**\"]\ndecision = \"ask\"\n",
    );
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut watcher = approver.watch().await;
    let output = structure(&caller).await;
    let expected = "asked/\n  Cargo.toml\ncmd/x/\n  main.go\nlinked/\n  Cargo.toml (link)\n\
                    private/ (0 files)\n.env\n.gitignore\nMakefile (special)\ngo.mod\n";
    assert_eq!(tree(&output), expected);
    assert_eq!(
        output["manifests"],
        json!([
            {
                "path": "go.mod",
                "kind": "go",
                "name": "example.org/open",
                "commands": [
                    { "purpose": "build", "command": "go build ./..." },
                    { "purpose": "test", "command": "go test ./..." },
                    { "purpose": "lint", "command": "go vet ./..." },
                ],
            },
            { "path": "asked/Cargo.toml", "kind": "cargo" }
        ])
    );
    assert_eq!(output["entry_points"], json!(["cmd/x/main.go"]));
    assert_eq!(output["skipped"], json!({ "ignored": 2, "denied": 1, "unreadable": 1 }));
    for secret in ["closed", "outside", "TOKEN"] {
        assert!(!output.to_string().contains(secret), "{output}");
    }

    // Nobody was asked, though somebody watches; a person who wants to be asked reads the file.
    let read = crate::harness::waiting("read_file", json!({"path": "asked/Cargo.toml"}));
    let waits = tokio::spawn(async move { caller.call(read).await });
    assert_eq!(watcher.question().await.tool, "read_file");
    waits.abort();
}
