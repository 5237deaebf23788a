//! Searching in files and for files: what is found, and what no search shows.

use std::os::unix::fs::symlink;

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::{Client, Daemon, Site, call, failure, output, reason};

/// The matches of a search as path and line.
fn places(output: &Value) -> Vec<(String, u64)> {
    let matches = output["matches"].as_array().unwrap();
    let place =
        |hit: &Value| (hit["path"].as_str().unwrap().to_owned(), hit["line"].as_u64().unwrap());
    matches.iter().map(place).collect()
}

fn paths(output: &Value) -> Vec<&str> {
    let files = output["files"].as_array().unwrap();
    files.iter().map(|file| file["path"].as_str().unwrap()).collect()
}

async fn grep(client: &Client, arguments: Value) -> Value {
    client.done("grep_search", arguments).await
}

#[tokio::test]
async fn a_search_finds_lines_in_every_encoding_with_their_context() {
    let site = Site::new();
    let utf_16: Vec<u8> = std::iter::once(0xfeff)
        .chain("wide needle\r\n".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    site.write("b.txt", "one\ntwo\nthe Needle\nfour\n");
    site.write("a/legacy.txt", b"un caf\xe9, needle, d\xe9j\xe0 vu\n");
    site.write("a/wide.txt", utf_16);
    site.write("a/bom.txt", b"\xef\xbb\xbfneedle\n");
    site.write("a/binary", b"needle\0");
    site.write("out/ignored.txt", "needle\n");
    site.write(".gitignore", "out/\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = grep(&client, json!({"pattern": "needle"})).await;
    let at = |path: &str, line| (path.to_owned(), line);
    let expected = [at("a/bom.txt", 1), at("a/legacy.txt", 1), at("a/wide.txt", 1), at("b.txt", 3)];
    assert_eq!(places(&found), expected);
    let matches = &found["matches"];
    assert_eq!(matches[0]["column"], 1);
    assert_eq!(matches[1]["text"], "un café, needle, déjà vu");
    assert_eq!(matches[1]["column"], 10);
    assert_eq!(matches[2]["text"], "wide needle");
    assert_eq!(matches[3]["before"], json!(["one", "two"]));
    assert_eq!(matches[3]["after"], json!(["four"]));
    assert_eq!((&found["skipped"]["binary"], &found["skipped"]["ignored"]), (&json!(1), &json!(1)));
    assert_eq!(found["files_searched"], 5);
    let exact = grep(&client, json!({"pattern": "Needle", "caseSensitive": true})).await;
    assert_eq!(places(&exact), [at("b.txt", 3)]);

    drop(daemon);
    let ended = site.run(&["call", "grep_search", "pattern=n.{4}e", "limit=1", "--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(printed["output"]["total_matches"], 4, "{printed}");
    assert_eq!(printed["output"]["truncated"], true);
}

#[tokio::test]
async fn a_search_shows_nothing_that_a_read_would_not() {
    let site = Site::new();
    for path in [
        "open.txt",
        "private/a.txt",
        "shared/b.txt",
        ".env",
        "keys/server.pem",
        "sub/.git/config",
        ".ssh/config",
    ] {
        site.write(path, format!("needle in {path}\n"));
    }
    std::fs::write(site.outside("outside.txt"), "needle outside\n").unwrap();
    symlink("../outside.txt", site.workspace().join("link_out")).unwrap();
    symlink("private/a.txt", site.workspace().join("alias")).unwrap();
    symlink("private", site.workspace().join("door")).unwrap();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"private/**\"]\ndecision = \"deny\"\n\
         [[rule]]\neffects = [\"read\"]\npaths = [\"shared/**\"]\ndecision = \"ask\"\n",
    );
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let waits = v1::Call {
        confirm: v1::ConfirmMode::Wait.into(),
        ..call("grep_search", json!({"pattern": "needle|outside"}))
    };
    // A search asks nobody, even where somebody would answer.
    let mut watcher = approver.watch().await;
    let result = caller.call(waits).await.unwrap();
    let found = crate::harness::output(&result);
    assert_eq!(places(&found), [("open.txt".to_owned(), 1)]);
    for text in ["private", "shared", ".env", "server.pem", "config", "outside"] {
        assert!(!found["matches"].to_string().contains(text), "{found}");
    }
    let skipped = &found["skipped"];
    assert_eq!((&skipped["denied"], &skipped["unapproved"]), (&json!(4), &json!(1)), "{found}");
    assert!(found["note"].as_str().unwrap().contains("read_file"), "{found}");
    assert!(approver.pending().await.is_empty());

    // What a person allows is read as ever: the search asked for nothing and left nothing behind.
    let read = tokio::spawn({
        let caller = caller.clone();
        let read = crate::harness::waiting("read_file", json!({"path": "shared/b.txt"}));
        async move { caller.call(read).await }
    });
    let question = watcher.question().await;
    assert!(question.arguments_json.contains("shared/b.txt"), "{question:?}");
    approver.approve(&question).await.unwrap();
    read.await.unwrap().unwrap();

    let listed = caller.done("file_search", json!({"pattern": "*.txt"})).await;
    assert_eq!(paths(&listed), ["open.txt", "shared/b.txt"]);
    assert_eq!(caller.done("file_search", json!({"pattern": "private/a"})).await["total"], 0);
}

#[tokio::test]
async fn files_past_the_configured_size_are_counted_as_too_large() {
    let site = Site::new();
    site.config("[files]\nsearch_bytes_max = 100\n");
    site.write("small.txt", "needle\n");
    site.write("large.txt", "needle\n".repeat(100));
    let daemon = site.serve();
    let found = grep(&daemon.caller().await, json!({"pattern": "needle"})).await;
    assert_eq!(places(&found), [("small.txt".to_owned(), 1)]);
    assert_eq!(found["skipped"]["too_large"], 1);
}

#[tokio::test]
async fn thousands_of_files_are_searched_in_path_order() {
    let site = Site::new();
    for number in 0..3_000 {
        let path = format!("d{}/e{}/f{number}.rs", number % 7, number % 11);
        site.write(&path, format!("fn f{number}() {{}}\n"));
    }
    let daemon = site.serve();
    let client = daemon.caller().await;
    let first = grep(&client, json!({"pattern": "^fn f", "limit": 1000})).await;
    assert_eq!((&first["total_matches"], &first["files_searched"]), (&json!(3_000), &json!(3_000)));
    let found = places(&first);
    assert_eq!(found.len(), 1_000);
    let by_component =
        |(path, _): &(String, u64)| path.split('/').map(str::to_owned).collect::<Vec<String>>();
    assert!(found.is_sorted_by_key(by_component));
    assert_eq!(grep(&client, json!({"pattern": "^fn f", "limit": 1000})).await, first);
    let named = client.done("file_search", json!({"pattern": "f2999"})).await;
    assert_eq!(paths(&named)[0], "d3/e7/f2999.rs");
    let all = client.done("file_search", json!({"pattern": "*.rs"})).await;
    assert_eq!((&all["total"], paths(&all).len()), (&json!(3_000), 100));
}

#[tokio::test]
async fn searches_that_make_no_sense_say_how_to_fix_them() {
    let site = Site::new();
    site.write("a.txt", "x\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (tool, arguments, hint) in [
        ("grep_search", json!({"pattern": "f("}), r"escape it: `f\(`"),
        ("grep_search", json!({"pattern": ""}), "file_search"),
        ("grep_search", json!({"pattern": "x", "fileType": "rsut"}), "`rust`"),
        ("file_search", json!({"pattern": "[x"}), "backslash"),
        ("file_search", json!({"pattern": "a/b", "searchPath": false}), "searchPath"),
        ("file_search", json!({"pattern": "x", "fileType": "pyton"}), "`python`"),
    ] {
        let result = client.ran(tool, arguments.clone()).await;
        let error = failure(&result);
        assert_eq!(error.code, "invalid_arguments", "{arguments}: {error:?}");
        assert!(error.hint.contains(hint), "{arguments}: {error:?}");
    }
    for arguments in [
        json!({"pattern": "x", "limit": 0}),
        json!({"pattern": "x", "limit": 1001}),
        json!({"pattern": "x", "limit": 1.5}),
        json!({"pattern": "x", "paths": "src"}),
        json!({}),
    ] {
        let status = client.call(call("grep_search", arguments.clone())).await.unwrap_err();
        assert_eq!(reason(&status), "ARGUMENTS_INVALID", "{arguments}");
    }
}

#[tokio::test]
async fn several_workspaces_are_searched_as_one_where_the_caller_asks() {
    let site = Site::new();
    let other = site.outside("other");
    std::fs::create_dir_all(other.join("src")).unwrap();
    std::fs::create_dir_all(other.join(".moss")).unwrap();
    let deny = "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"closed.rs\"]\ndecision = \"deny\"\n";
    std::fs::write(other.join(".moss/policy.toml"), deny).unwrap();
    for (path, text) in [("src/b.rs", "fn needle() {}\n"), ("closed.rs", "needle canary\n")] {
        std::fs::write(other.join(path), text).unwrap();
    }
    site.write("src/a.rs", "// needle\n");
    site.write("tests/a.rs", "// needle\n");
    let mut command = site.serve_command();
    command.arg("--also").arg(&other);
    let daemon = Daemon::start(command, &site.socket(), &site.state());
    let client = daemon.caller().await;
    let root = site.workspace().display().to_string();
    let asked = |tool: &str, arguments: Value, further: &[&str]| v1::Call {
        workspace: root.clone(),
        further_workspaces: further.iter().map(ToString::to_string).collect(),
        ..call(tool, arguments)
    };
    let own = site.workspace();
    let at = |root: &std::path::Path, path: &str| root.join(path).display().to_string();
    let both = at(&other, "");
    for further in ["*", both.trim_end_matches('/')] {
        let found =
            client.call(asked("grep_search", json!({"pattern": "needle"}), &[further])).await;
        let found = output(&found.unwrap());
        let expected = [at(&own, "src/a.rs"), at(&other, "src/b.rs"), at(&own, "tests/a.rs")];
        let found_at: Vec<_> = places(&found).into_iter().map(|(path, _)| path).collect();
        assert_eq!(found_at, expected, "{further}");
        assert_eq!((&found["total_matches"], &found["skipped"]["denied"]), (&json!(3), &json!(1)));
        assert!(!found.to_string().contains("canary"), "{found}");
    }
    let few = asked("grep_search", json!({"pattern": "needle", "limit": 1}), &["*"]);
    let few = output(&client.call(few).await.unwrap());
    assert_eq!((places(&few).len(), &few["total_matches"]), (1, &json!(3)));
    assert_eq!(few["truncated"], true);
    let files = asked("file_search", json!({"pattern": "b.rs"}), &["*"]);
    assert_eq!(paths(&output(&client.call(files).await.unwrap())), [at(&other, "src/b.rs")]);

    // Only searches, only of what is served, and each with the policy and the record of its own.
    let read = asked("read_file", json!({"path": "src/a.rs"}), &["*"]);
    let refused = client.call(read).await.unwrap_err();
    assert!(refused.message().contains("further_workspaces"), "{refused}");
    for extra in [json!({"pattern": "needle", "offset": 1}), json!({"pattern": "x", "path": "src"})]
    {
        let refused = client.call(asked("grep_search", extra, &["*"])).await.unwrap_err();
        assert_eq!(reason(&refused), "ARGUMENTS_INVALID");
    }
    let elsewhere = asked("grep_search", json!({"pattern": "needle"}), &["/elsewhere"]);
    let refused = client.call(elsewhere).await.unwrap_err();
    assert_eq!(reason(&refused), "WORKSPACE_UNKNOWN");
    let broken = asked("grep_search", json!({"pattern": "("}), &["*"]);
    let failed = failure(&client.call(broken).await.unwrap()).message.clone();
    assert!(failed.starts_with(&root), "{failed}");
    let ended = site.run(&["call", "grep_search", "pattern=needle", "--all-workspaces", "--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(printed["output"]["total_matches"], 3, "{printed}");
}

#[tokio::test]
async fn parameters_beyond_the_specification_are_accepted_and_shown_on_request() {
    let site = Site::new();
    site.write("a.txt", "needle\n");
    site.write("src/b.rs", "needle\nneedle\n");
    site.write("out/c.rs", "needle\n");
    site.write("closed/.env", "needle=1\n");
    site.write(".gitignore", "out/\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let listed = async |schema: v1::ListedSchema| {
        let schema = schema.into();
        let request = v1::ListToolsRequest { schema, ..Default::default() };
        let listed = client.tools().list_tools(request).await.unwrap().into_inner();
        let tool = listed.tools.into_iter().find(|tool| tool.name == "grep_search").unwrap();
        serde_json::from_str::<Value>(&tool.parameters_json).unwrap()
    };
    let keys = |schema: &Value| {
        let all = schema["properties"].as_object().unwrap();
        all.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let asi = listed(v1::ListedSchema::Unspecified).await;
    assert_eq!(keys(&asi), "pattern fileType caseSensitive limit");
    assert_eq!(asi, listed(v1::ListedSchema::Asi).await);
    let full = listed(v1::ListedSchema::Full).await;
    let extras = "path context output multiline offset";
    assert_eq!(keys(&full), format!("{} {extras}", keys(&asi)));
    assert_eq!(full["required"], json!(["pattern"]));
    let shown = |arguments: &[&str]| site.run(&[&["tools", "grep_search"], arguments].concat());
    for (arguments, has_extras) in [
        (&["--json"][..], false),
        (&["--format", "mcp"], false),
        (&["--schema", "asi"], false),
        (&["--json", "--schema", "full"], true),
        (&["--format", "mcp", "--schema", "full"], true),
        (&[], true),
    ] {
        assert_eq!(shown(arguments).stdout.contains("multiline"), has_extras, "{arguments:?}");
    }
    assert!(site.run(&["call", "grep_search", "--help"]).stdout.contains("multiline"));

    let search =
        ["call", "grep_search", "pattern=needle", "output=counts", "context=0", "path=src"];
    let ended = site.run(&[&search[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        report["output"]["counts"],
        json!([{ "path": "src/b.rs", "matches": 2 }]),
        "{ended:?}"
    );
    // An ignored file that is named is searched; a closed one is not.
    let named = |path: &str| json!({ "pattern": "needle", "path": path, "output": "files" });
    assert_eq!(grep(&client, named("out/c.rs")).await["files"], json!(["out/c.rs"]));
    let closed = client.call(call("grep_search", named("closed/.env"))).await;
    let is_shown = closed.is_ok_and(|result| result.output_json.contains("closed/.env"));
    assert!(!is_shown, "a closed file is searched");
    let below = json!({ "pattern": "*.rs", "path": "src" });
    assert_eq!(paths(&client.done("file_search", below).await), ["src/b.rs"]);
    let unknown = json!({ "pattern": "x", "paths": "src" });
    let status = client.call(call("grep_search", unknown)).await.unwrap_err();
    assert_eq!(reason(&status), "ARGUMENTS_INVALID");
}
