//! Paths that lead astray, over the wire, for every tool that takes one: nothing outside of the
//! workspace is read, written, listed or removed, and nothing hangs.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;

use moss_proto::v1;
use rustix::fs::{CWD, FileType, Mode};
use serde_json::{Value, json};

use crate::harness::{Site, failure};

/// What calls of [`path_calls`] search for and replace: of a file that is this line they find it.
pub(crate) const SOUGHT: &str = "old line";
const SECRET: &str = "the old line is the secret of the machine";
/// Parameters that hold no path, whatever tool has them; numbers and switches never do.
const PATHLESS_PARAMETERS: &[&str] = &[
    "action",
    "choices",
    "command",
    "content",
    "diffContent",
    "fileType",
    "framework",
    "grant",
    "items",
    "job",
    "mode",
    "modifiedAfter",
    "name",
    "newText",
    "new_string",
    "oldText",
    "old_string",
    "output",
    "pattern",
    "question",
    "reason",
    "scope",
    "searchType",
    "sha256",
    "sortBy",
    "sortOrder",
    "testPattern",
    "text",
];
/// Blocks that replace what is sought, and those that make a file.
const REPLACING: &str = "------- SEARCH\nold line\n=======\nnew\n+++++++ REPLACE\n";
const MAKING: &str = "------- SEARCH\n=======\nnew\n+++++++ REPLACE\n";

/// A call of every tool with a path in each parameter that may hold one. The first one of a tool works on a file that
/// is there and holds [`SOUGHT`], or on a directory.
pub(crate) fn path_calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("codebase_search", json!({"query": format!("{path}:1")})),
        ("codebase_search", json!({"query": "", "related_to": format!("{path}:1")})),
        ("read_file", json!({"path": path})),
        ("list_directory", json!({"path": path})),
        ("list_directory", json!({"path": path, "recursive": true})),
        ("lint_check", json!({"path": path})),
        ("replace_lines", json!({"path": path, "startLine": 1, "endLine": 1, "newText": "x"})),
        ("insert_line", json!({"path": path, "line": 1, "text": "x"})),
        ("delete_lines", json!({"path": path, "startLine": 1, "endLine": 1})),
        ("replace_text", json!({"path": path, "oldText": SOUGHT, "newText": "new"})),
        ("create_file", json!({"path": path, "content": "x\n", "overwrite": true})),
        ("create_file", json!({"path": path, "content": "x\n"})),
        ("delete_file", json!({"path": path})),
        ("delete_file", json!({"path": path, "permanent": true})),
        ("grep_search", json!({"path": path, "pattern": SOUGHT})),
        ("file_search", json!({"path": path, "pattern": "secret"})),
        ("get_project_structure", json!({"path": path})),
        ("find_code_location", json!({"path": path, "search": SOUGHT})),
        ("find_code_location", json!({"search": format!("{path}:1")})),
        ("run_terminal_cmd", json!({"command": "ls", "cwd": path})),
        ("terminal_job", json!({"action": "start", "command": "ls", "cwd": path})),
        ("diff_history", json!({"path": path})),
        ("run_tests", json!({"path": path})),
        ("run_tests", json!({"testFile": path})),
        ("patch", json!({"path": path, "old_string": SOUGHT, "new_string": "new"})),
        ("editTool", json!({"filePath": path, "diffContent": REPLACING})),
        ("editTool", json!({"filePath": path, "diffContent": MAKING})),
        ("moss_register_plugin_tool", json!({"name": "a", "source": path, "reason": "to try"})),
    ]
}

/// Whether a call with this path is one of the workspace after all, or of no path.
fn may_succeed(tool: &str, arguments: &Value, path: &str) -> bool {
    match tool {
        // What is no path is a question, or a piece of code.
        "codebase_search" => true,
        // What is no regular file has no code, and is not opened.
        "find_code_location" => {
            arguments.get("path").is_none() || ["", "fifo", "socket"].contains(&path)
        }
        // Names are looked up in the history, and no file is opened.
        "diff_history" => true,
        // A slash behind a file is none.
        "grep_search" => path.is_empty() || path == "dir/file.txt/",
        // Without a directory it is the root.
        "file_search" | "get_project_structure" | "run_terminal_cmd" | "terminal_job" => {
            path.is_empty()
        }
        _ => false,
    }
}

/// Whether an error says that a path leads nowhere, or that there is nothing to do at the root.
fn is_refusal(tool: &str, code: &str) -> bool {
    let is_of_path = matches!(
        code,
        "outside_workspace"
            | "invalid_path"
            | "not_found"
            | "not_a_file"
            | "not_a_directory"
            | "already_exists"
    );
    let is_of_tool = match tool {
        "codebase_search" | "find_code_location" => code == "invalid_arguments",
        "run_tests" => code == "no_tests",
        // Of a file that is missing or not regular.
        "moss_register_plugin_tool" => code == "io",
        _ => false,
    };
    is_of_path || is_of_tool
}

#[tokio::test]
async fn every_parameter_that_may_hold_a_path_has_a_call() {
    const PATH: &str = "the/path";
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let schema = v1::ListedSchema::Full.into();
    let request = v1::ListToolsRequest { schema, ..Default::default() };
    let listed = client.tools().list_tools(request).await.unwrap().into_inner();
    let mut parameters = BTreeSet::new();
    for tool in listed.tools {
        let schema: Value = serde_json::from_str(&tool.parameters_json).unwrap();
        for (name, of_parameter) in schema["properties"].as_object().unwrap() {
            if !["boolean", "integer", "number"].iter().any(|kind| of_parameter["type"] == *kind) {
                parameters.insert((tool.name.clone(), name.clone()));
            }
        }
    }
    let known: BTreeSet<&str> = parameters.iter().map(|(_, name)| name.as_str()).collect();
    for name in PATHLESS_PARAMETERS {
        assert!(known.contains(name), "no tool has `{name}`: unlist it");
    }
    parameters.retain(|(_, name)| !PATHLESS_PARAMETERS.contains(&name.as_str()));
    let mut called = BTreeSet::new();
    for (tool, arguments) in path_calls(PATH) {
        for (name, value) in arguments.as_object().unwrap() {
            if value.as_str().is_some_and(|value| value.contains(PATH)) {
                called.insert((tool.to_owned(), name.clone()));
            }
        }
    }
    assert_eq!(
        called, parameters,
        "`path_calls`, and what tools take besides `PATHLESS_PARAMETERS`"
    );
}

/// A workspace full of traps where everything is allowed, beside a directory with a secret.
fn trapped() -> Site {
    let site = Site::new();
    site.user_policy("version = 1\n[[rule]]\ndecision = \"allow\"\n");
    std::fs::create_dir(site.outside("out")).unwrap();
    std::fs::create_dir(site.outside("work-evil")).unwrap();
    for file in ["out/secret.txt", "work-evil/secret.txt", "secret.txt"] {
        std::fs::write(site.outside(file), SECRET).unwrap();
    }
    site.write("dir/file.txt", "plain\n");
    let work = site.workspace();
    symlink("../out", work.join("link_out")).unwrap();
    symlink(site.outside("out"), work.join("link_absolute")).unwrap();
    symlink("../out/secret.txt", work.join("link_file")).unwrap();
    symlink("../out/missing.txt", work.join("link_dangling")).unwrap();
    symlink("../../secret.txt", work.join("dir/link_up")).unwrap();
    symlink("loop_b", work.join("loop_a")).unwrap();
    symlink("loop_a", work.join("loop_b")).unwrap();
    symlink("itself", work.join("itself")).unwrap();
    symlink("/proc/self/cwd", work.join("link_magic")).unwrap();
    symlink("/proc/self/environ", work.join("link_environ")).unwrap();
    symlink("/dev/zero", work.join("link_zero")).unwrap();
    rustix::fs::mknodat(CWD, work.join("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
        .unwrap();
    let socket = std::os::unix::net::UnixListener::bind(work.join("socket")).unwrap();
    drop(socket);
    site
}

/// Paths that no tool may follow.
fn astray(site: &Site) -> Vec<String> {
    let fixed = [
        "..",
        "../secret.txt",
        "../out/secret.txt",
        "dir/../../secret.txt",
        "./../secret.txt",
        "dir/..",
        "/etc/passwd",
        "/",
        "link_out",
        "link_out/secret.txt",
        "link_out/new.txt",
        "link_absolute/secret.txt",
        "link_file",
        "link_dangling",
        "dir/link_up",
        "link_magic/secret.txt",
        "link_environ",
        "link_zero",
        "loop_a",
        "loop_a/x",
        "itself",
        "fifo",
        "socket",
        "",
        "dir//file.txt",
        "dir/file.txt/",
        "dir\0file.txt",
        "dir/fi\nle.txt",
        "~/secret.txt",
        "file:///etc/passwd",
        "%2e%2e/secret.txt",
        "..\\secret.txt",
    ];
    let made = [
        site.outside("out/secret.txt").display().to_string(),
        site.outside("work-evil/secret.txt").display().to_string(),
        format!("{}/../out/secret.txt", site.workspace().display()),
        format!("{}secret.txt", "dir/".repeat(200)),
    ];
    fixed.map(str::to_owned).into_iter().chain(made).collect()
}

#[tokio::test]
async fn no_path_leads_out_of_the_workspace() {
    let site = trapped();
    let before = site.snapshot();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let mut followed = Vec::new();
    for path in astray(&site) {
        let is_odd_name = ["~/", "file:", "%2e", "..\\"].iter().any(|odd| path.starts_with(odd));
        for (tool, arguments) in path_calls(&path) {
            let makes = tool == "create_file" || arguments["diffContent"] == MAKING;
            if makes && is_odd_name {
                // An ordinary name inside the workspace, however odd it looks.
                continue;
            }
            let result = client.ran(tool, arguments.clone()).await;
            assert!(!format!("{result:?}").contains(SECRET), "{tool} {path:?}: {result:?}");
            match &result.error {
                Some(error) if is_refusal(tool, &error.code) => {}
                None if may_succeed(tool, &arguments, &path) => {}
                error => followed.push(format!("{tool} {path:?}: {error:?}")),
            }
        }
    }
    assert!(followed.is_empty(), "{}", followed.join("\n"));
    assert_eq!(site.snapshot(), before);
    for file in ["out/secret.txt", "work-evil/secret.txt", "secret.txt"] {
        assert_eq!(std::fs::read_to_string(site.outside(file)).unwrap(), SECRET);
    }
    assert_eq!(std::fs::read_dir(site.outside("out")).unwrap().count(), 1);
    assert!(client.numbers().await.is_empty(), "something was written");
}

#[tokio::test]
async fn what_leads_out_is_distinguished_from_what_is_not_there() {
    let site = trapped();
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (path, code) in [
        ("../secret.txt", "outside_workspace"),
        ("/etc/passwd", "outside_workspace"),
        ("link_out/secret.txt", "outside_workspace"),
        ("link_absolute/secret.txt", "outside_workspace"),
        ("link_file", "outside_workspace"),
        ("loop_a", "invalid_path"),
        ("dir//file.txt", "invalid_path"),
        ("dir\0file.txt", "invalid_path"),
        ("", "invalid_path"),
        ("fifo", "not_a_file"),
        ("socket", "not_a_file"),
        ("missing.txt", "not_found"),
    ] {
        let result = client.ran("read_file", json!({"path": path})).await;
        assert_eq!(failure(&result).code, code, "{path:?}: {:?}", result.error);
        assert!(!failure(&result).hint.is_empty(), "{path:?} has no hint");
    }
}

#[tokio::test]
async fn listings_show_links_and_follow_none() {
    let site = trapped();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let listed = client.done("list_directory", json!({"path": ".", "recursive": true})).await;
    let text = listed.to_string();
    assert!(text.contains("dir/file.txt") && text.contains("link_out"), "{text}");
    assert!(!text.contains("secret.txt"), "{text}");
}

#[tokio::test]
async fn searches_follow_no_links_and_open_no_devices() {
    let site = trapped();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = client.done("grep_search", json!({"pattern": "secret|plain|PATH"})).await;
    assert_eq!((&found["total_matches"], &found["files_searched"]), (&json!(1), &json!(1)));
    assert_eq!(found["matches"][0]["path"], "dir/file.txt");
    let found = client.done("file_search", json!({"pattern": "**"})).await;
    assert_eq!((&found["total"], &found["files"][0]["path"]), (&json!(1), &json!("dir/file.txt")));
}

#[tokio::test]
async fn absolute_paths_and_links_inside_are_taken() {
    let site = Site::allowing();
    site.write("dir/file.txt", "plain\n");
    symlink("dir", site.workspace().join("alias")).unwrap();
    symlink("dir/file.txt", site.workspace().join("name")).unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let absolute = site.workspace().join("dir/file.txt").display().to_string();
    for path in [absolute.as_str(), "./dir/./file.txt", "alias/file.txt", "name"] {
        let read = client.done("read_file", json!({"path": path})).await;
        assert!(read["content"].as_str().unwrap().ends_with("plain"), "{path}: {read}");
    }
    let edit = json!({"path": "name", "oldText": "plain", "newText": "changed"});
    client.done("replace_text", edit).await;
    assert_eq!(site.read("dir/file.txt"), "changed\n");
    let link = site.workspace().join("name").symlink_metadata().unwrap();
    assert!(link.file_type().is_symlink(), "the link was replaced");
}

#[tokio::test]
async fn a_hard_link_is_read_and_not_written() {
    let site = Site::allowing();
    std::fs::write(site.outside("other.txt"), "shared\n").unwrap();
    std::fs::hard_link(site.outside("other.txt"), site.workspace().join("a.txt")).unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    client.done("read_file", json!({"path": "a.txt"})).await;
    let edit = json!({"path": "a.txt", "oldText": "shared", "newText": "split"});
    let result = client.ran("replace_text", edit).await;
    assert_eq!(failure(&result).code, "denied");
    assert_eq!(std::fs::read_to_string(site.outside("other.txt")).unwrap(), "shared\n");
    assert_eq!(site.read("a.txt"), "shared\n");
}

#[tokio::test]
async fn a_wrong_name_is_answered_with_the_one_that_was_meant() {
    let site = Site::allowing();
    site.write("src/config.rs", "x\n");
    site.write("src/secrets.txt", "x\n");
    site.write(".gitignore", "generated.rs\n");
    site.write("src/generated.rs", "x\n");
    std::fs::create_dir(site.workspace().join(".git")).unwrap();
    site.workspace_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"**/secrets.txt\"]\ndecision = \"deny\"\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    let hint = async |tool: &str, arguments: Value| {
        let result = client.ran(tool, arguments).await;
        assert_eq!(failure(&result).code, "not_found", "{result:?}");
        failure(&result).hint.clone()
    };
    let meant = "did you mean `src/config.rs`?";
    let edit = json!({"path": "src/Config.rs", "oldText": "x", "newText": "y"});
    assert_eq!(hint("read_file", json!({"path": "src/confg.rs"})).await, meant);
    assert_eq!(hint("replace_text", edit).await, meant);
    assert_eq!(hint("delete_file", json!({"path": "src/config.r"})).await, meant);
    let directory = json!({"path": "scr"});
    assert_eq!(hint("list_directory", directory).await, "did you mean `src`?");
    // No name that a listing would not show, and none that is like nothing there.
    for path in ["src/secret.txt", "src/generatd.rs", "src/zzz", "none/config.rs"] {
        let hint = hint("read_file", json!({"path": path})).await;
        assert!(!hint.contains("did you mean"), "{path}: {hint}");
    }
}
