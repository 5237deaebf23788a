//! Language servers: what they know that names do not say, who lets them run, and what becomes of calls when they do not.
//!
//! pyright, which npm brings, is asked always; `MOSS_TEST_LANGUAGE_SERVERS=all` also asks rust-analyzer, gopls and clangd of the
//! system, which have to be installed.

use std::path::PathBuf;

use moss_proto::v1;
use serde_json::{Value, json};
use tonic::Request;

use crate::frameworks::is_installed;
use crate::harness::{Client, Daemon, Site, call, output, refusing, until, waiting};

/// What asks all of them.
const ALL: &str = "MOSS_TEST_LANGUAGE_SERVERS";
/// A policy that lets language servers run.
const ALLOWING: &str = "version = 1\n[[rule]]\ntools = [\"language_server\"]\neffects = [\"exec\"]\ndecision = \"allow\"\n";
/// Two things with one name.
const READER: &str = "class Reader:\n    def load(self):\n        return 1\n";
const WRITER: &str = "class Writer:\n    def load(self):\n        return 2\n";
const USES: &str = "from reader import Reader\nfrom writer import Writer\n\n\ndef read():\n    return Reader().load()\n\n\n\
                    def write():\n    return Writer().load()\n";

fn python_site() -> Site {
    let site = Site::new();
    site.write("reader.py", READER);
    site.write("writer.py", WRITER);
    site.write("uses.py", USES);
    site
}

/// Starts a daemon whose commands find pyright.
pub(crate) fn serve(site: &Site) -> Daemon {
    let modules = std::env::var_os("MOSS_TEST_CHECK_MODULES").expect(crate::frameworks::NO_MODULES);
    let programs = PathBuf::from(modules).join(".bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(programs).chain(std::env::split_paths(&path));
    let mut command = site.serve_command();
    command.env("PATH", std::env::join_paths(all).unwrap());
    for (variable, directory) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        command.env(variable, crate::run_tests::toolchain(variable, directory));
    }
    Daemon::start(command, &site.socket(), &site.state())
}

fn load() -> Value {
    json!({"search": "Reader.load", "findReferences": true, "findDefinition": true})
}

/// The uses as path and line.
fn uses(found: &Value) -> Vec<(String, u64)> {
    let files = found["references"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_file = |file: &Value| {
        let path = file["path"].as_str().unwrap().to_owned();
        let uses = file["uses"].as_array().unwrap().clone();
        uses.into_iter().map(move |used| (path.clone(), used["line"].as_u64().unwrap()))
    };
    files.iter().flat_map(of_file).collect()
}

/// Asks until a language server has loaded the project.
async fn learned(client: &Client, arguments: &Value) -> Value {
    let mut found = Value::Null;
    until("the language server knows", async || {
        found = client.done("find_code_location", arguments.clone()).await;
        found["references_source"] == "language_server"
    })
    .await;
    found
}

async fn servers(client: &Client) -> Vec<v1::LanguageServerStatus> {
    client.load().await.workspaces.remove(0).language_servers
}

#[tokio::test]
async fn uses_are_those_of_what_is_meant_as_the_texts_are_now() {
    let site = python_site();
    site.user_policy(ALLOWING);
    let daemon = serve(&site);
    let client = daemon.caller().await;
    let found = learned(&client, &load()).await;
    assert_eq!(uses(&found), [("uses.py".to_owned(), 6)], "{found}");
    assert_eq!(
        (&found["source"], &found["language_server"]),
        (&json!("language_server"), &json!("pyright"))
    );
    assert_eq!(found["locations"][0]["path"], "reader.py");
    let used = &found["references"][0]["uses"][0];
    assert_eq!((&used["kind"], &used["container"]), (&json!("call"), &json!("read")));
    assert!(found["note"].as_str().unwrap().contains("1 other uses of the name"), "{found}");

    // What another program writes counts at once, also in a new file.
    site.write("more.py", "from reader import Reader\n\nReader().load()\n");
    site.write("uses.py", format!("# A line more.\n{USES}"));
    let found = client.done("find_code_location", load()).await;
    assert_eq!(uses(&found), [("more.py".to_owned(), 3), ("uses.py".to_owned(), 7)], "{found}");
    std::fs::remove_file(site.workspace().join("more.py")).unwrap();
    // So does what an editor has not saved.
    let approver = daemon.approver().await;
    let mut editor = crate::harness::Editor::attach(&approver, "ed").await;
    let unsaved = format!("{USES}\n\ndef again():\n    return Reader().load()\n");
    editor.hold("uses.py", 1, Some(&unsaved)).await;
    let found =
        client.done("find_code_location", json!({"search": "Reader.load", "findReferences": true}));
    let found = found.await;
    assert_eq!(uses(&found), [("uses.py".to_owned(), 6), ("uses.py".to_owned(), 14)], "{found}");
    assert_eq!(found["references_source"], "language_server");

    let running = servers(&client).await;
    assert_eq!((running.len(), running[0].name.as_str()), (1, "pyright"));
    assert!(running[0].running);
}

#[tokio::test]
async fn a_server_learns_what_changes_in_a_project_of_more_files_than_are_listed() {
    let site = python_site();
    site.user_policy(ALLOWING);
    for number in 0..510 {
        let directory = site.workspace().join(format!("data/{number}"));
        std::fs::create_dir_all(&directory).unwrap();
        (0..100).for_each(|file| std::fs::write(directory.join(file.to_string()), "").unwrap());
    }
    let daemon = serve(&site);
    let client = daemon.caller().await;
    let known = crate::live_tree::ready(&client).await;
    assert!(known.entries > 50_000, "{known:?}");
    let found = learned(&client, &load()).await;
    assert_eq!(uses(&found), [("uses.py".to_owned(), 6)], "{found}");

    let more = "from reader import Reader\n\nReader().load()\n";
    site.write("more.py", more);
    site.write("data/made/later.py", more);
    let found = client.done("find_code_location", load()).await;
    let expected = [("data/made/later.py", 3), ("more.py", 3), ("uses.py", 6)];
    assert_eq!(uses(&found), expected.map(|(path, line)| (path.to_owned(), line)), "{found}");
    std::fs::remove_dir_all(site.workspace().join("data/made")).unwrap();
    let found = client.done("find_code_location", load()).await;
    assert_eq!(uses(&found), [("more.py".to_owned(), 3), ("uses.py".to_owned(), 6)], "{found}");
}

#[tokio::test]
async fn a_person_is_asked_once_and_a_call_that_cannot_ask_does_without() {
    let site = python_site();
    let daemon = serve(&site);
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    // Nobody can be asked: names have to do.
    let result = client.call(refusing("find_code_location", load())).await.unwrap();
    let found = output(&result);
    assert_eq!((&found["references_source"], &found["source"]), (&json!("files"), &json!("files")));
    assert_eq!(uses(&found).len(), 2, "{found}");
    assert!(found["note"].as_str().unwrap().contains("needs a confirmation"), "{found}");
    assert!(servers(&client).await.iter().all(|server| !server.running));

    let ask = |arguments: Value| {
        let client = client.clone();
        tokio::spawn(async move { client.call(waiting("find_code_location", arguments)).await })
    };
    let mut watcher = approver.watch().await;
    let waits = ask(load());
    let question = watcher.question().await;
    let asked = question.command.clone().unwrap();
    assert_eq!(asked.command, "pyright-langserver --stdio");
    assert_eq!((asked.profile.as_str(), asked.network), ("read-only", false));
    approver.deny(&question, "not now").await.unwrap();
    let found = output(&waits.await.unwrap().unwrap());
    assert!(found["note"].as_str().unwrap().contains("a person denied"), "{found}");
    // Who said no is not asked again.
    let found = output(&ask(load()).await.unwrap().unwrap());
    assert!(found["note"].as_str().unwrap().contains("a person denied"), "{found}");
    assert!(approver.pending().await.is_empty());
    // A rule says otherwise.
    site.user_policy(ALLOWING);
    let found = learned(&client, &load()).await;
    assert_eq!(uses(&found), [("uses.py".to_owned(), 6)], "{found}");
}

#[tokio::test]
async fn who_is_approved_runs_until_nobody_asks_it() {
    let site = python_site();
    site.config("[language_servers]\nidle_ms = 1_000\nready_ms = 60_000\n");
    let daemon = serve(&site);
    let (client, approver) = (daemon.caller().await, daemon.approver().await);
    let mut watcher = approver.watch().await;
    let asking = client.clone();
    let waits =
        tokio::spawn(async move { asking.call(waiting("find_code_location", load())).await });
    let question = watcher.question().await;
    approver.approve(&question).await.unwrap();
    let found = output(&waits.await.unwrap().unwrap());
    assert_eq!(found["references_source"], "language_server", "{found}");
    // It runs: nobody is asked.
    let found = client.done("find_code_location", load()).await;
    assert_eq!(found["references_source"], "language_server", "{found}");
    until("nobody asks it", async || servers(&client).await.iter().all(|one| !one.running)).await;
    // It starts again for the same: that was approved.
    let found = client.done("find_code_location", load()).await;
    assert_eq!(found["references_source"], "language_server", "{found}");
    assert!(approver.pending().await.is_empty());
}

#[tokio::test]
async fn who_fails_hangs_or_is_off_costs_an_answer_nothing() {
    let site = python_site();
    site.user_policy(ALLOWING);
    site.config(
        "[language_servers]\nready_ms = 300\n[added_language_servers]\n\
         dies = { command = [\"sh\", \"dies.sh\"], files = [\"*.rs\"], language = \"rust\" }\n\
         hangs = { command = [\"sleep\", \"1000\"], files = [\"*.py\"], language = \"python\" }\n\
         chats = { command = [\"yes\"], files = [\"*.go\"], language = \"go\" }\n",
    );
    site.write("dies.sh", "echo no toolchain >&2\nexit 3\n");
    site.write("a.rs", "fn only() {}\nfn main() { only() }\n");
    site.write("a.go", "package a\n\nfunc Only() {}\n\nfunc main() { Only() }\n");
    let daemon = serve(&site);
    let client = daemon.caller().await;
    let note = async |search: &str, file_type: &str| {
        let arguments = json!({"search": search, "fileType": file_type, "findReferences": true});
        let found = client.done("find_code_location", arguments).await;
        assert_eq!(found["references_source"], "files", "{found}");
        assert!(!uses(&found).is_empty(), "{found}");
        found["note"].as_str().unwrap().to_owned()
    };
    let died = note("only", "rust").await;
    assert!(died.contains("dies") && died.contains("no toolchain"), "{died}");
    let hung = note("load", "py").await;
    assert!(hung.contains("hangs") && hung.contains("did not respond to `initialize`"), "{hung}");
    let chatted = note("Only", "go").await;
    assert!(chatted.contains("chats") && chatted.contains("no message"), "{chatted}");
    // Twice is enough.
    note("only", "rust").await;
    let left_alone = note("only", "rust").await;
    assert!(left_alone.contains("failed 2 times"), "{left_alone}");
    site.config("[language_servers]\nenabled = false\n");
    until("they are off", async || {
        let found = client.done("find_code_location", load()).await;
        found["note"].is_null()
    })
    .await;
}

/// Says what it can do once there is a file, and nothing after that.
const SLOW: &str = "until test -e go; do sleep 0.1; done\n\
                    body='{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"capabilities\":{}}}'\n\
                    printf 'Content-Length: %s\\r\\n\\r\\n%s' ${#body} \"$body\"\n\
                    exec sleep 1000\n";

#[tokio::test]
async fn a_start_outlives_a_call_that_has_less_time_and_ends_with_its_policy() {
    let site = python_site();
    site.user_policy(ALLOWING);
    site.config(
        "[language_servers]\nready_ms = 60_000\n[added_language_servers]\n\
         slow = { command = [\"sh\", \"slow.sh\"], files = [\"*.py\"], language = \"python\" }\n",
    );
    site.write("slow.sh", SLOW);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let asked = call("find_code_location", json!({"search": "load", "findReferences": true}));
    let mut request = Request::new(v1::CallToolRequest { call: Some(asked) });
    request.set_timeout(std::time::Duration::from_secs(8));
    let result = client.tools().call_tool(request).await.unwrap().into_inner().result.unwrap();
    let found = output(&result);
    assert!(found["note"].as_str().unwrap().contains("still starting"), "{found}");
    assert!(!uses(&found).is_empty(), "{found}");
    site.write("go", "");
    until("it runs", async || servers(&client).await.iter().any(|one| one.running)).await;
    // Nobody asks it anything.
    site.user_policy(&format!("{ALLOWING}# Another one.\n"));
    until("its policy ends it", async || servers(&client).await.iter().all(|one| !one.running))
        .await;
}

/// Reads what it is sent once there is a file, and says that a function is used in each file that it was notified of.
const NOTICING: &str = r#"
import json, os, sys, time

while not os.path.exists("go"):
    time.sleep(0.1)
noticed = []
while True:
    length = 0
    while (line := sys.stdin.buffer.readline()) != b"\r\n":
        if not line:
            sys.exit()
        name, value = line.split(b":")
        length = int(value) if name == b"Content-Length" else length
    said = json.loads(sys.stdin.buffer.read(length))
    method = said.get("method")
    if method == "workspace/didChangeWatchedFiles":
        noticed += [change["uri"] for change in said["params"]["changes"]]
    if "id" not in said:
        continue
    result = {"capabilities": {}} if method == "initialize" else []
    if method == "textDocument/references":
        span = {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 9}}
        result = [{"uri": uri, "range": span} for uri in noticed]
    body = json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": result}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()
"#;

#[tokio::test]
async fn a_server_learns_what_changes_while_it_starts() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.config(
        "[language_servers]\nready_ms = 60_000\n[added_language_servers]\n\
         notices = { command = [\"python3\", \"notices.txt\"], files = [\"*.py\"], language = \"python\" }\n",
    );
    site.write("notices.txt", NOTICING);
    site.write("lib.py", "def load_once():\n    return 1\n");
    site.write("user.py", "print(1)\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let arguments = json!({"search": "load_once", "findReferences": true});
    let mut request = Request::new(v1::CallToolRequest {
        call: Some(call("find_code_location", arguments.clone())),
    });
    request.set_timeout(std::time::Duration::from_secs(8));
    let result = client.tools().call_tool(request).await.unwrap().into_inner().result.unwrap();
    let found = output(&result);
    assert!(found["note"].as_str().unwrap().contains("still starting"), "{found}");
    site.write("user.py", "from lib import load_once\n\nload_once()\n");
    site.write("go", "");
    let found = learned(&client, &arguments).await;
    assert_eq!(uses(&found), [("user.py".to_owned(), 3)], "{found}");
}

#[tokio::test]
async fn what_a_caller_may_not_read_a_server_does_not_know() {
    let site = python_site();
    site.write("hidden/secret.py", "from reader import Reader\n\nReader().load()\n");
    site.user_policy(&format!(
        "{ALLOWING}[[rule]]\neffects = [\"read\"]\npaths = [\"hidden/**\"]\ndecision = \"deny\"\n"
    ));
    let daemon = serve(&site);
    let client = daemon.caller().await;
    let found = learned(&client, &load()).await;
    assert!(!found.to_string().contains("hidden"), "{found}");
    assert_eq!(uses(&found), [("uses.py".to_owned(), 6)], "{found}");
    // The policy under which it was started is another one now.
    site.user_policy("version = 1\n[[rule]]\ntools = [\"language_server\"]\neffects = [\"exec\"]\ndecision = \"deny\"\n");
    until("it is denied", async || {
        let found = output(&client.call(call("find_code_location", load())).await.unwrap());
        found["references_source"] == "files"
            && found["note"].as_str().is_some_and(|note| note.contains("denied"))
    })
    .await;
    assert!(servers(&client).await.iter().all(|server| !server.running));
}

#[tokio::test]
async fn each_server_knows_what_is_meant() {
    let site = Site::new();
    site.config("[language_servers]\nready_ms = 120_000\nresponse_ms = 60_000\n");
    site.user_policy(ALLOWING);
    site.write(
        "r/Cargo.toml",
        "[package]\nname = \"r\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    let rust = "pub struct A;\npub struct B;\nimpl A {\n    pub fn load(&self) {}\n}\nimpl B {\n    pub fn load(&self) {}\n}\n\
                pub fn both(a: A, b: B) {\n    a.load();\n    b.load();\n}\n";
    site.write("r/src/lib.rs", rust);
    site.write("g/go.mod", "module example.test/g\n\ngo 1.20\n");
    let go = "package g\n\ntype A struct{}\ntype B struct{}\n\nfunc (a A) Load() {}\nfunc (b B) Load() {}\n\n\
              func both(a A, b B) {\n\ta.Load()\n\tb.Load()\n}\n";
    site.write("g/g.go", go);
    let cpp = "struct A { void load(); };\nstruct B { void load(); };\nvoid A::load() {}\nvoid B::load() {}\n\
               void both(A a, B b) {\n  a.load();\n  b.load();\n}\n";
    site.write("c/c.cpp", cpp);
    let python = "class A:\n    def load(self):\n        pass\n\n\nclass B:\n    def load(self):\n        pass\n\n\n\
                  def both(a: A, b: B):\n    a.load()\n    b.load()\n";
    site.write("p/p.py", python);
    let daemon = serve(&site);
    let client = daemon.caller().await;
    let mut asked = vec![("pyright", "p/p.py", "A.load", 12)];
    if std::env::var_os(ALL).is_some_and(|value| value == "all") {
        let of_the_system = [
            ("rust-analyzer", "r/src/lib.rs", "A::load", 10),
            ("gopls", "g/g.go", "A.Load", 10),
            ("clangd", "c/c.cpp", "A::load", 6),
        ];
        for (program, ..) in of_the_system {
            assert!(is_installed(program), "{program} is not installed");
        }
        asked.extend(of_the_system);
    }
    for (program, path, search, line) in asked {
        let arguments = json!({"search": search, "path": path, "findReferences": true});
        let found = learned(&client, &arguments).await;
        let lines: Vec<_> = uses(&found).into_iter().map(|(_, line)| line).collect();
        assert!(lines.contains(&line) && !lines.contains(&(line + 1)), "{program}: {found}");
    }
}
