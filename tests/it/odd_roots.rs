//! Workspaces whose root is not UTF-8: every front finds them, and each has a name of its own. Other systems
//! than Linux refuse such names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use moss_proto::v1;
use serde_json::json;

use crate::harness::{Daemon, Ended, Site, call, output, reason};
use crate::mcp::client::{McpClient, text};
use crate::mcp::over_http::{HttpClient, NEWEST};
use crate::tokens;

/// A directory whose name is not UTF-8, with one file.
fn odd(site: &Site, name: &[u8]) -> PathBuf {
    let root = site.outside("").join(OsStr::from_bytes(name));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("b.txt"), "three\n").unwrap();
    root
}

/// Its name, as clients write it.
fn name(site: &Site, escaped: &str) -> String {
    format!("file://{}/{escaped}", site.outside("").display().to_string().trim_end_matches('/'))
}

fn serve(site: &Site, roots: &[&PathBuf]) -> Daemon {
    let listen = format!("unix:{}", site.socket().display());
    let mut command = site.command(["serve", "--mcp", "127.0.0.1:0", "--listen", &listen]);
    command.arg("--workspace").arg(roots[0]);
    for root in &roots[1..] {
        command.arg("--also").arg(root);
    }
    Daemon::start(command, &site.socket(), &site.state())
}

fn http(daemon: &Daemon, token: &str, revision: &str, workspace: Option<&str>) -> HttpClient {
    match revision {
        NEWEST => HttpClient::alone(daemon, token).in_workspace(workspace),
        _ => HttpClient::session_in(daemon, token, revision, workspace),
    }
}

#[test]
fn the_only_workspace_needs_no_name_on_any_front() {
    let site = Site::new();
    let token = tokens::create(&site, "editor");
    let root = odd(&site, b"odd \xff");
    let daemon = serve(&site, &[&root]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = daemon.caller().await;
        let named = v1::Call {
            workspace: name(&site, "odd%20%FF"),
            ..call("read_file", json!({ "path": "b.txt" }))
        };
        for call in [call("read_file", json!({ "path": "b.txt" })), named] {
            let read = output(&client.call(call).await.unwrap());
            assert!(read.to_string().contains("three"), "{read}");
        }
    });
    for revision in ["2025-06-18", NEWEST] {
        let mut client = http(&daemon, &token, revision, None);
        let read = client.call("read_file", json!({ "path": "b.txt" }));
        assert!(text(&read).contains("three"), "{read}");
    }
    // What runs in the directory finds the daemon, and says whom it asked.
    let mut status = site.command(["index", "status"]);
    let ended = Ended::of(status.current_dir(&root).stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut client = over_stdio(&site, &root);
    assert!(text(&client.call("read_file", json!({ "path": "b.txt" }))).contains("three"));
    let edited = client.call("create_file", json!({ "path": "c.txt", "content": "x\n" }));
    // A daemon that others reach: somebody may approve there.
    assert!(text(&edited).starts_with("confirmation_required"), "{edited}");
    assert!(!text(&edited).contains("moss serve"), "{edited}");
    daemon.stop();
}

#[test]
fn standard_input_and_output_need_no_daemon_for_it() {
    let site = Site::new();
    let root = odd(&site, b"odd \xff");
    let mut client = over_stdio(&site, &root);
    assert!(text(&client.call("read_file", json!({ "path": "b.txt" }))).contains("three"));
    // A root that the client names is a URI.
    let mut command = site.command(["mcp"]);
    command.current_dir("/");
    let mut client = McpClient::spawn(command);
    client.initialize("2025-06-18", json!({ "roots": {} }));
    let id =
        client.send("tools/call", json!({ "name": "read_file", "arguments": { "path": "b.txt" } }));
    let asked = client.next();
    assert_eq!(asked["method"], "roots/list", "{asked}");
    let roots = json!({ "roots": [{ "uri": name(&site, "odd%20%ff") }] });
    client.line(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots }).to_string());
    assert!(text(&client.response(id)["result"]).contains("three"));
}

#[test]
fn several_are_told_apart_by_their_names() {
    let site = Site::new();
    let token = tokens::create(&site, "editor");
    // As text both are the same.
    let (first, second) = (odd(&site, b"odd \xff"), odd(&site, b"odd \xfe"));
    std::fs::write(second.join("b.txt"), "four\n").unwrap();
    let daemon = serve(&site, &[&first, &second]);
    let names = [(name(&site, "odd%20%FF"), "three"), (name(&site, "odd%20%FE"), "four")];
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = daemon.caller().await;
        let status =
            client.status().get_status(v1::GetStatusRequest {}).await.unwrap().into_inner();
        let mut served: Vec<_> = status.workspaces.into_iter().map(|one| one.root).collect();
        served.sort();
        let mut expected: Vec<_> = names.iter().map(|(name, _)| name.clone()).collect();
        expected.sort();
        assert_eq!(served, expected);
        let read = |workspace: &str| v1::Call {
            workspace: workspace.to_owned(),
            ..call("read_file", json!({ "path": "b.txt" }))
        };
        for (name, content) in &names {
            let found = output(&client.call(read(name)).await.unwrap());
            assert!(found.to_string().contains(content), "{found}");
        }
        let lossy = client.call(read(&first.display().to_string())).await.unwrap_err();
        assert_eq!(reason(&lossy), "WORKSPACE_UNKNOWN");
        assert!(lossy.message().contains(&names[0].0), "{lossy}");
        let everywhere = v1::Call {
            workspace: names[0].0.clone(),
            further_workspaces: vec!["*".to_owned()],
            ..call("grep_search", json!({ "pattern": "three|four" }))
        };
        let found = output(&client.call(everywhere).await.unwrap());
        assert_eq!(found["total_matches"], 2, "{found}");
    });
    for revision in ["2025-06-18", NEWEST] {
        let read = |workspace: Option<&str>| {
            let mut client = http(&daemon, &token, revision, workspace);
            text(&client.call("read_file", json!({ "path": "b.txt" }))).to_owned()
        };
        assert!(read(None).contains("three"));
        for (name, content) in &names {
            assert!(read(Some(name)).contains(content), "{name}");
        }
    }
    for (root, content) in [(&first, "three"), (&second, "four")] {
        let mut client = over_stdio(&site, root);
        assert!(text(&client.call("read_file", json!({ "path": "b.txt" }))).contains(content));
    }
    daemon.stop();
}

/// A client on standard input and output, of the workspace in which it starts.
fn over_stdio(site: &Site, root: &PathBuf) -> McpClient {
    let mut command = site.command(["mcp"]);
    command.arg("--workspace").arg(root);
    let mut client = McpClient::spawn(command);
    client.initialize("2025-06-18", json!({}));
    client
}
