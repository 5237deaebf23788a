//! What no tool reads or writes without a rule that opens it, and what rules say about reading.

use std::os::unix::fs::symlink;

use moss_proto::v1;
use serde_json::json;

use crate::harness::{Site, call, output, reason, waiting};
use crate::paths::path_calls;
use crate::policy::Fate::{Allowed, Asked, Denied};
use crate::policy::{create, explained, fate};

#[tokio::test]
async fn reads_are_denied_and_asked_about_by_the_real_name() {
    let site = Site::new();
    site.write("private/a.txt", "the private text\n");
    site.write("shared/b.txt", "the shared text\n");
    symlink("private/a.txt", site.workspace().join("alias")).unwrap();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"private/**\"]\ndecision = \"deny\"\n\
         [[rule]]\neffects = [\"read\"]\npaths = [\"shared/**\"]\ndecision = \"ask\"\n",
    );
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    for path in ["private/a.txt", "alias"] {
        assert_eq!(fate(&caller, "read_file", json!({"path": path})).await, Denied, "{path}");
        // An error of an edit would show lines of the file.
        let edit = json!({"path": path, "oldText": "nothing like it", "newText": "x"});
        let status = caller.call(waiting("replace_text", edit)).await.unwrap_err();
        assert_eq!(reason(&status), "DENIED_BY_POLICY");
        assert!(!format!("{status:?}").contains("the private"), "{status:?}");
    }
    let listed = caller.done("list_directory", json!({"path": ".", "recursive": true})).await;
    assert!(!listed.to_string().contains("private/a.txt"), "{listed}");

    let mut watcher = approver.watch().await;
    let read = waiting("read_file", json!({"path": "shared/b.txt"}));
    let waits = tokio::spawn({
        let caller = caller.clone();
        async move { caller.call(read).await }
    });
    let question = watcher.question().await;
    assert!(question.arguments_json.contains("shared/b.txt"), "{question:?}");
    approver.approve(&question).await.unwrap();
    let read = output(&waits.await.unwrap().unwrap());
    assert!(read["content"].as_str().unwrap().ends_with("the shared text"));
}

#[tokio::test]
async fn no_error_says_whether_a_denied_file_is_there() {
    let site = Site::new();
    site.write("secret/there.rs", "fn there() {}\n");
    site.write("secret/there/inner.rs", "fn inner() {}\n");
    site.write("open.rs", "fn open() {}\n");
    symlink("secret/there.rs", site.workspace().join("secret/link.rs")).unwrap();
    symlink("gone", site.workspace().join("secret/dangling")).unwrap();
    site.user_policy(
        "version = 1\n[[rule]]\npaths = [\"secret/**\"]\ndecision = \"deny\"\n\
         [[rule]]\neffects = [\"write\", \"delete\", \"exec\"]\ndecision = \"allow\"\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    let ended = async |tool: &str, arguments: serde_json::Value, path: &str| {
        let said = match client.call(crate::harness::refusing(tool, arguments)).await {
            Ok(result) => format!("{:?} {}", result.error, result.output_json),
            Err(status) => format!("{:?} {}", status.code(), status.message()),
        };
        said.replace(path, "PATH")
    };
    let gone = "secret/gone.rs";
    for (at, (tool, arguments)) in path_calls(gone).into_iter().enumerate() {
        let missing = ended(tool, arguments.clone(), gone).await;
        for path in ["secret/there.rs", "secret/there", "secret/link.rs", "secret/dangling"] {
            let (of_tool, arguments) = path_calls(path).swap_remove(at);
            let there = ended(of_tool, arguments.clone(), path).await;
            // A question, whose answer has numbers of its own.
            if tool != "moss_register_plugin_tool" {
                assert_eq!(there, missing, "{tool} {arguments}");
            }
        }
    }
    // Nor does an explanation, which says what the call does.
    for (tool, parameter, more) in [
        ("create_file", "path", json!({"content": ""})),
        ("delete_file", "path", json!({})),
        ("replace_text", "path", json!({"oldText": "x", "newText": "y"})),
        ("read_file", "path", json!({})),
        ("lint_check", "path", json!({})),
        ("run_terminal_cmd", "cwd", json!({"command": "ls"})),
    ] {
        let of = async |path: &str| {
            let mut arguments = more.clone();
            arguments[parameter] = json!(path);
            let explained = explained(&client, tool, arguments).await;
            assert_eq!(explained.decision(), v1::Decision::Deny, "{tool} {path}");
            format!("{:?}", explained.steps).replace(path, "PATH")
        };
        let missing = of(gone).await;
        for path in ["there.rs", "there", "link.rs", "dangling", "there.rs/x", "dangling/x"] {
            assert_eq!(of(&format!("secret/{path}")).await, missing, "{tool} {path}");
        }
    }
    // What is not hidden is told apart.
    let open = ended("read_file", json!({"path": "open.rs"}), "open.rs").await;
    assert_ne!(open, ended("read_file", json!({"path": "gone.rs"}), "gone.rs").await);
}

#[tokio::test]
async fn protected_names_need_a_rule_that_opens_them() {
    let site = Site::allowing();
    for path in [".git/config", "sub/.git/hooks/pre-commit", "moss-tools.json"] {
        site.write(path, "old\n");
    }
    for path in [".env", "id_rsa", "keys/server.pem"] {
        site.write(path, "the key of the machine\n");
    }
    let before = site.snapshot();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for path in [".git/config", "sub/.git/hooks/pre-commit", "moss-tools.json"] {
        client.done("read_file", json!({"path": path})).await;
        let edit = json!({"path": path, "oldText": "old", "newText": "new"});
        assert_eq!(fate(&client, "replace_text", edit).await, Denied, "{path}");
        assert_eq!(fate(&client, "delete_file", json!({"path": path})).await, Denied, "{path}");
    }
    for path in [".git/hooks/new", ".GIT/hooks/new", ".moss/policy.toml", "new/.git/config"] {
        assert_eq!(create(&client, path).await, Denied, "{path}");
    }
    for path in [".env", "id_rsa", "keys/server.pem"] {
        let status = client.call(call("read_file", json!({"path": path}))).await.unwrap_err();
        assert_eq!(reason(&status), "DENIED_BY_POLICY", "{path}");
        assert!(!format!("{status:?}").contains("the key"), "{status:?}");
        let edit = json!({"path": path, "oldText": "key", "newText": "x"});
        assert_eq!(fate(&client, "replace_text", edit).await, Denied, "{path}");
    }
    assert_eq!(site.snapshot(), before);
}

#[tokio::test]
async fn an_opened_protected_name_is_asked_about_as_protected() {
    let site = Site::new();
    site.write(".env.local", "A=1\n");
    site.write(".env", "B=2\n");
    site.user_policy(
        "version = 1\n[[rule]]\npaths = [\".env.local\"]\nprotected = true\ndecision = \"ask\"\n",
    );
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let edit = json!({"path": ".env.local", "content": "A=2\n", "overwrite": true});
    let mut events = caller.stream(waiting("create_file", edit)).await.unwrap();
    // Reading the file and changing it are two effects.
    for changes in [0, 1] {
        let question = events.question().await;
        assert!(question.protected, "{question:?}");
        assert_eq!(question.changes.len(), changes);
        approver.approve(&question).await.unwrap();
    }
    events.end().await.unwrap();
    assert_eq!(site.read(".env.local"), "A=2\n");
    assert_eq!(fate(&caller, "read_file", json!({"path": ".env"})).await, Denied);
}

#[tokio::test]
async fn own_files_of_moss_are_protected_where_they_lie_in_the_workspace() {
    let mut site = Site::allowing();
    let everything = site.outside("").display().to_string();
    site.argument("--workspace").argument(&everything);
    assert_eq!(site.run(&["token", "create", "ci"]).code, Some(0));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let paths = [
        "state/moss/tokens.json",
        "state/moss/approver.token",
        "state/moss/caller.token",
        "config/moss/policy.toml",
        "run/moss/moss.sock.lock",
    ];
    for path in paths {
        let status = client.call(call("read_file", json!({"path": path}))).await.unwrap_err();
        assert_eq!(reason(&status), "DENIED_BY_POLICY", "{path}");
        assert!(!format!("{status:?}").contains(&daemon.token("approver")));
        let explained = explained(&client, "read_file", json!({"path": path})).await;
        assert_eq!(explained.decision(), v1::Decision::Deny, "{path}");
        assert_eq!(fate(&client, "delete_file", json!({"path": path})).await, Denied, "{path}");
    }
    for path in ["state/moss/new", "config/moss/moss-tools.json", "config/moss/config.toml"] {
        assert_eq!(create(&client, path).await, Denied, "{path}");
    }
}

#[test]
fn an_edit_of_an_opened_protected_file_takes_the_digests_of_both_questions() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\npaths = [\".env\"]\nprotected = true\ndecision = \"ask\"\n",
    );
    site.write(".env", "A=1\n");
    let edit = ["call", "replace_text", "path=.env", "oldText=A=1", "newText=A=2"];
    let run = |confirm: &[&str]| {
        let answers = confirm.iter().flat_map(|digest| ["--confirm", digest]);
        let words: Vec<_> = edit.into_iter().chain(answers).collect();
        site.run(&words)
    };
    let digest = |ended: &crate::harness::Ended| {
        let line = ended.stderr.lines().find_map(|line| line.strip_prefix("digest: "));
        line.unwrap_or_else(|| panic!("no digest in {}", ended.stderr)).to_owned()
    };
    let asked = run(&[]);
    assert_eq!(asked.code, Some(4), "{}", asked.stderr);
    let read = digest(&asked);
    let asked = run(&[&read]);
    assert_eq!(asked.code, Some(4), "{}", asked.stderr);
    let write = digest(&asked);
    assert_ne!(read, write);
    assert_eq!(run(&[&write]).code, Some(4));
    assert_eq!(site.read(".env"), "A=1\n");
    let done = run(&[&read, &write]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(site.read(".env"), "A=2\n");
    let mixed = run(&[&read, "allow"]);
    assert_eq!(mixed.code, Some(2), "{}", mixed.stderr);
    assert!(mixed.stderr.contains("stand alone"), "{}", mixed.stderr);
}

#[tokio::test]
async fn configuration_that_runs_code_is_asked_about_whatever_a_plain_rule_allows() {
    let site = Site::allowing();
    let guarded = [
        ".vscode/mcp.json",
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".github/workflows/ci.yml",
        ".cargo/config.toml",
        ".husky/pre-commit",
        ".devcontainer/devcontainer.json",
        ".cursor/rules/a.mdc",
    ];
    for path in guarded {
        site.write(path, "old\n");
    }
    symlink(".github/workflows", site.workspace().join("flows")).unwrap();
    symlink(".husky/pre-commit", site.workspace().join("notes.md")).unwrap();
    let before = site.snapshot();
    let daemon = site.serve();
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    for path in guarded.into_iter().chain(["flows/ci.yml", "notes.md"]) {
        client.done("read_file", json!({"path": path})).await;
        let edit = json!({"path": path, "oldText": "old", "newText": "new"});
        assert_eq!(fate(&client, "replace_text", edit).await, Asked, "{path}");
    }
    assert_eq!(fate(&client, "delete_file", json!({"path": ".husky/pre-commit"})).await, Asked);
    for path in ["flows/new.yml", ".GitHub/Workflows/new.yml", "sub/.husky/new", ".Idea/x"] {
        assert_eq!(create(&client, path).await, Asked, "{path}");
    }
    assert_eq!(site.snapshot(), before);
    assert_eq!(create(&client, ".github/dependabot.yml").await, Allowed);

    // A blanket yes is not the answer; a person's is.
    let edit = ["call", "replace_text", "path=notes.md", "oldText=old", "newText=new"];
    let blanket = site.run(&[&edit[..], &["--confirm", "allow"]].concat());
    assert_eq!(blanket.code, Some(4), "{}", blanket.stderr);
    let edit = json!({"path": "notes.md", "oldText": "old", "newText": "new"});
    let mut events = client.stream(waiting("replace_text", edit)).await.unwrap();
    let question = events.question().await;
    assert!(question.protected && question.offers.is_empty(), "{question:?}");
    approver.approve(&question).await.unwrap();
    events.end().await.unwrap();
    assert_eq!(site.read(".husky/pre-commit"), "new\n");
}

#[tokio::test]
async fn a_rule_that_names_configuration_allows_it_unasked() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\npaths = [\".vscode/settings.json\"]\nprotected = true\n\
         decision = \"allow\"\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(create(&client, ".vscode/settings.json").await, Allowed);
    assert_eq!(create(&client, ".vscode/tasks.json").await, Asked);
}

#[tokio::test]
async fn repositories_are_not_written_whatever_they_are_called() {
    let site = Site::allowing();
    for path in ["store/HEAD", "store/objects/a", "store/refs/heads/main", "meta/config"] {
        site.write(path, "x\n");
    }
    site.write("sub/.git", "gitdir: data\n");
    site.write(".git", "gitdir: meta\n");
    symlink("store", site.workspace().join("way")).unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for path in ["store/config", "way/hooks/post-receive", "meta/hooks/pre-commit", "sub/data/x"] {
        assert_eq!(create(&client, path).await, Denied, "{path}");
        let explained = explained(&client, "create_file", json!({"path": path, "content": ""}));
        assert_eq!(explained.await.decision(), v1::Decision::Deny, "{path}");
    }
    // Piece by piece, up to the one that would make it a repository.
    for path in ["new/objects/a", "new/refs/a", "new/config"] {
        assert_eq!(create(&client, path).await, Allowed, "{path}");
    }
    assert_eq!(create(&client, "new/HEAD").await, Denied);
    client.done("read_file", json!({"path": "store/HEAD"})).await;
}

#[tokio::test]
async fn secrets_are_not_read_and_what_is_public_is() {
    let site = Site::allowing();
    let block = |label| format!("-----BEGIN {label}-----\nMIIB\n-----END {label}-----\n");
    let secret = [
        "id_rsa.bak",
        "deploy/id_ed25519_work",
        "id_ecdsa-2024.old",
        "id_dsa.txt",
        ".envrc",
        ".kube/config",
        "home/.docker/config.json",
    ];
    for path in secret {
        site.write(path, "the key of the machine\n");
    }
    site.write("private.pem", block("CERTIFICATE") + &block("PRIVATE KEY"));
    site.write("raw.key", "c2VjcmV0IGtleQ==\n");
    site.write("ca.pem", block("CERTIFICATE"));
    site.write("public.key", block("PUBLIC KEY"));
    site.write(".ssh/ca.pem", block("CERTIFICATE"));
    for path in ["id_rsa.pub", "id_token.py", ".docker/daemon.json"] {
        site.write(path, "plain\n");
    }
    symlink("private.pem", site.workspace().join("notes.txt")).unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let hidden = ["private.pem", "raw.key", ".ssh/ca.pem", "notes.txt"];
    for path in secret.into_iter().chain(hidden) {
        let arguments = json!({"path": path});
        assert_eq!(fate(&client, "read_file", arguments.clone()).await, Denied, "{path}");
        let explained = explained(&client, "read_file", arguments).await;
        assert_eq!(explained.decision(), v1::Decision::Deny, "{path}");
    }
    for path in ["ca.pem", "public.key", "id_rsa.pub", "id_token.py", ".docker/daemon.json"] {
        client.done("read_file", json!({"path": path})).await;
        let explained = explained(&client, "read_file", json!({"path": path})).await;
        assert_eq!(explained.decision(), v1::Decision::Allow, "{path}");
    }
    let edit = json!({"path": "ca.pem", "oldText": "MIIB", "newText": "MIIC"});
    assert_eq!(fate(&client, "replace_text", edit).await, Denied);
}

#[tokio::test]
async fn a_deny_applies_to_every_spelling_of_a_name() {
    let site = Site::allowing();
    let names =
        ["straße", "strasse", "STRASSE", "a\u{308}rger", "ärger", "se\u{ad}cret", "secret."];
    for name in names {
        site.write(&format!("{name}/a.txt"), "hidden\n");
    }
    site.write("secrets/a.txt", "shown\n");
    site.workspace_policy(
        "version = 1\n[[rule]]\npaths = [\"straße/**\", \"ärger/**\", \"secret/**\"]\n\
         decision = \"deny\"\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    for name in names {
        let path = format!("{name}/a.txt");
        assert_eq!(fate(&client, "read_file", json!({"path": path})).await, Denied, "{name}");
        assert_eq!(create(&client, &format!("{name}/b.txt")).await, Denied, "{name}");
    }
    client.done("read_file", json!({"path": "secrets/a.txt"})).await;
}
