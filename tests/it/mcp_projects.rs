//! Which project a client of `moss mcp` and of `moss serve --mcp` works in, by what it says and where it was started.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::Site;
use crate::mcp::client::{McpClient, text};
use crate::mcp::over_http::{HttpClient, NEWEST};
use crate::tokens;

/// What is in the way where no project is found.
const NO_PROJECT: &str = "no project is open";
const HOME_ITSELF: &str = "it is the home directory itself";
const ROOT_ITSELF: &str = "it is the root of the file system";

/// What a client says and where it starts: names of directories of the machine.
#[derive(Debug, Clone, Copy, Default)]
struct ClientStart<'a> {
    flag: Option<&'a str>,
    roots: Option<&'a [&'a str]>,
    /// CLAUDE_PROJECT_DIR.
    project: Option<&'a str>,
    /// WORKSPACE_FOLDER_PATHS.
    folders: Option<&'a str>,
    /// Where it starts; the root of the file system for none.
    directory: Option<&'a str>,
}

/// A machine with directories in each of which a file has its name.
fn machine() -> Site {
    let site = Site::new();
    for name in
        ["home", "home/project", "home/plain", "flag", "root", "variable", "folder", "folder/deep"]
    {
        std::fs::create_dir_all(site.outside(name)).unwrap();
        std::fs::write(site.outside(name).join("here.txt"), format!("this is {name}\n")).unwrap();
    }
    std::fs::write(site.outside("here.txt"), "this is all\n").unwrap();
    for marked in ["home/project/.git", "folder/.git"] {
        std::fs::create_dir(site.outside(marked)).unwrap();
    }
    site
}

// === impl ClientStart ===

impl ClientStart<'_> {
    fn command(&self, site: &Site) -> Command {
        let mut command = site.command(["mcp"]);
        let at = |name: &str| if name == "/" { "/".into() } else { site.outside(name) };
        command.current_dir(at(self.directory.unwrap_or("/")));
        if let Some(flag) = self.flag {
            command.arg("--workspace").arg(at(flag));
        }
        for (name, value) in
            [("CLAUDE_PROJECT_DIR", self.project), ("WORKSPACE_FOLDER_PATHS", self.folders)]
        {
            if let Some(value) = value {
                command.env(name, at(value));
            }
        }
        command
    }

    /// Reads the file that is in each directory, and returns what came back.
    fn read(&self, site: &Site, revision: &str) -> String {
        let mut client = McpClient::spawn(self.command(site));
        let has_roots = if self.roots.is_some() { json!({ "roots": {} }) } else { json!({}) };
        let mut params = json!({ "name": "read_file", "arguments": { "path": "here.txt" } });
        if revision == NEWEST {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": NEWEST,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": has_roots,
            });
        } else {
            client.initialize(revision, has_roots);
        }
        let id = client.send("tools/call", params);
        loop {
            let message = client.next();
            if message["method"] == "roots/list" {
                assert_ne!(revision, NEWEST, "nobody is asked who has no session");
                let uri = |name: &&str| format!("file://{}", site.outside(name).display());
                let roots = self.roots.expect("it has roots").iter();
                let roots: Vec<Value> = roots.map(|name| json!({ "uri": uri(name) })).collect();
                let result = json!({ "roots": roots });
                let said = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                client.line(&said.to_string());
            } else if message["id"] == id {
                return text(&message["result"]).to_owned();
            }
        }
    }
}

#[test]
fn who_names_the_project_best_is_heard_first_over_standard_input() {
    let site = machine();
    let all = ClientStart {
        flag: Some("flag"),
        roots: Some(&["root"]),
        project: Some("variable"),
        folders: Some("variable"),
        directory: Some("folder/deep"),
    };
    let none = ClientStart::default();
    // What is expected with a session, and of a client that has none and so cannot be asked for roots.
    for (start, expected, alone) in [
        (all, "this is flag", "this is flag"),
        (ClientStart { flag: None, ..all }, "this is root", "this is variable"),
        (ClientStart { roots: None, flag: None, ..all }, "this is variable", "this is variable"),
        (ClientStart { project: Some("variable"), ..none }, "this is variable", "this is variable"),
        (ClientStart { folders: Some("variable"), ..none }, "this is variable", "this is variable"),
        (
            ClientStart { directory: Some("folder/deep"), ..none },
            "this is folder",
            "this is folder",
        ),
        // The home directory and what it lies in are no project, and what is next counts.
        (ClientStart { roots: Some(&["home", "root"]), ..none }, "this is root", NO_PROJECT),
        (
            ClientStart { roots: Some(&[]), project: Some("/"), folders: Some("variable"), ..none },
            "this is variable",
            "this is variable",
        ),
        (
            ClientStart { project: Some("home"), directory: Some("home/project"), ..none },
            "this is home/project",
            "this is home/project",
        ),
        (
            ClientStart { directory: Some("home/plain"), ..none },
            "this is home/plain",
            "this is home/plain",
        ),
        (ClientStart { directory: Some("home"), ..none }, NO_PROJECT, NO_PROJECT),
        (ClientStart { directory: Some(""), ..none }, NO_PROJECT, NO_PROJECT),
        (none, NO_PROJECT, NO_PROJECT),
        // Neither is one for who asks for it by name; what else has the home directory in it is.
        (ClientStart { flag: Some("home"), ..none }, HOME_ITSELF, HOME_ITSELF),
        (ClientStart { flag: Some("/"), ..none }, ROOT_ITSELF, ROOT_ITSELF),
        (ClientStart { flag: Some(""), ..none }, "this is all", "this is all"),
        (ClientStart { flag: Some("missing"), ..all }, "No such file", "No such file"),
    ] {
        for (revision, expected) in [("2025-06-18", expected), (NEWEST, alone)] {
            let read = start.read(&site, revision);
            assert!(read.contains(expected), "{revision} {start:?}: {read}");
            let is_refused = !expected.starts_with("this is ");
            assert_eq!(read.starts_with("workspace_unusable: "), is_refused, "{start:?}: {read}");
            assert_eq!(read.contains("--workspace"), is_refused, "{start:?}: {read}");
        }
    }
}

#[test]
fn over_http_the_daemon_knows_the_project_and_the_header_names_another() {
    let site = machine();
    let token = tokens::create(&site, "editor");
    let listen = format!("unix:{}", site.socket().display());
    let mut command = site.command(["serve", "--mcp", "127.0.0.1:0", "--listen", &listen]);
    command.arg("--workspace").arg(site.outside("folder"));
    command.arg("--also").arg(site.outside("root"));
    command.current_dir("/").env("CLAUDE_PROJECT_DIR", site.outside("variable"));
    let daemon = crate::harness::Daemon::start(command, &site.socket(), &site.state());
    let root = site.outside("root").display().to_string();
    for revision in ["2025-06-18", NEWEST] {
        for (header, expected) in [(None, "this is folder"), (Some(&*root), "this is root")] {
            let mut client = match revision {
                NEWEST => HttpClient::alone(&daemon, &token).in_workspace(header),
                _ => HttpClient::session_in(&daemon, &token, revision, header),
            };
            let read = client.call("read_file", json!({ "path": "here.txt" }));
            assert!(text(&read).contains(expected), "{revision} {header:?}: {read}");
        }
        let home = site.outside("home").display().to_string();
        let mut client = HttpClient::alone(&daemon, &token).in_workspace(Some(&home));
        assert_eq!(client.ask("tools/list", json!({})).status, 400);
    }
    daemon.stop();
}
