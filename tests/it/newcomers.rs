//! What somebody meets who has never used moss: one tool's parameters, words of other programs, a history
//! that is longer than the screen, a machine on which moss cannot write.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::Value;

use crate::calls::TOOLS;
use crate::harness::{Ended, Site};

fn parsed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Tools whose example needs an editor, a person, a change before it or a component.
const NEEDY: &[&str] =
    &["get_cursor_context", "clarify", "reapply", "run_tests", "moss_register_plugin_tool"];

#[test]
fn example_of_every_tool_runs_as_it_is_shown_and_changes_nothing() {
    let site = Site::new();
    site.write("README.md", "# Title\n\nit's here\n");
    site.write("src/greeting.py", "def greet(name):\n    return 'hello ' + name\n");
    let _daemon = site.serve();
    site.run(&["call", "create_file", "path=a.txt", "content=x", "--confirm", "allow"]);
    let before = site.snapshot();
    for tool in TOOLS.iter().filter(|tool| !NEEDY.contains(tool)) {
        let shown = site.run(&["tools", tool, "--json"]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        let example = parsed(&shown)["example"].as_str().unwrap().to_owned();
        let words = example.strip_prefix("moss ").unwrap();
        let mut command = site.command::<&str>([]);
        let program = command.get_program().to_owned();
        let line = format!("'{}' {words}", program.to_str().unwrap());
        let mut shell = std::process::Command::new("sh");
        for (name, value) in command.get_envs() {
            shell.env(name, value.unwrap());
        }
        command = shell;
        command.args(["-c", &line]).current_dir(site.workspace()).stdin(Stdio::null());
        let ended = Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        assert_eq!(ended.code, Some(0), "{example}: {ended:?}");
        assert!(!ended.stdout.trim().is_empty(), "{example}");
        let lists = ["results", "files", "matches", "locations", "entries", "changes", "tree"];
        let shown: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        for list in lists.iter().filter_map(|key| shown[key].as_array()) {
            assert!(!list.is_empty(), "{example} finds nothing: {ended:?}");
        }
    }
    assert_eq!(site.snapshot(), before);
}

#[test]
fn tool_is_shown_with_its_parameters_by_tools_and_by_help() {
    let site = Site::new();
    let shown = site.run(&["tools", "grep_search"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    for part in ["pattern  text, required", "limit  number, default: 50", "moss call grep_search"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let help = site.run(&["call", "grep_search", "--help"]);
    assert_eq!((help.code, &help.stdout), (Some(0), &shown.stdout));
    assert!(help.stderr.contains("moss call --help"), "{help:?}");
    let unknown = site.run(&["tools", "grep_serch"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("grep_search"), "{unknown:?}");
    let form = parsed(&site.run(&["tools", "read_file", "--format", "openai"]));
    assert_eq!(form["function"]["name"], "read_file");
}

#[test]
fn what_was_meant_is_named() {
    let site = Site::new();
    site.write("greeting.txt", "hello\n");
    for (words, meant) in [
        (&["call", "read_file", "greeting.txt"][..], "did you mean path=greeting.txt?"),
        (&["call", "grep_search", "query=foo"], "did you mean pattern=foo?"),
        (&["call", "file_search", "pattern=a", "searchPath=src"], "did you mean path=src?"),
        (
            &["call", "file_search", "pattern=a", "searchPath=src", "path=lib"],
            "did you mean path=src?",
        ),
        (&["call", "grep_search", "query=foo"], "moss tools grep_search"),
        (&["undo"], "moss history undo N"),
        (&["shutdown"], "moss stop"),
        (&["call", "read_file", "path=greeting.txt", "--yes"], "--confirm allow"),
    ] {
        let ended = site.run(words);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(meant), "{words:?}: {}", ended.stderr);
        let as_json = parsed(&site.run(&[words, &["--json"]].concat()));
        assert!(as_json["error"]["hint"].as_str().unwrap().contains(meant), "{as_json}");
    }
    let unknown = site.run(&["call", "nosuch"]);
    assert!(unknown.stderr.contains("there is no tool `nosuch`"), "{unknown:?}");
    assert!(unknown.stderr.contains("hint: see what there is with `moss tools`"), "{unknown:?}");
}

#[test]
fn history_says_how_much_of_it_is_not_shown() {
    let site = Site::allowing();
    let _daemon = site.serve();
    for number in 0..5 {
        let path = format!("path={}.txt", number % 2);
        let content = format!("content={number}");
        let words = ["call", "create_file", &path, &content, "overwrite=true"];
        assert_eq!(site.run(&words).code, Some(0));
    }
    let some = site.run(&["history", "list", "-n", "3"]);
    assert!(some.stderr.contains("2 more: `-n 5` lists all"), "{some:?}");
    let of_file = parsed(&site.run(&["history", "list", "1.txt", "-n", "1", "--json"]));
    assert_eq!((&of_file["total"], of_file["entries"].as_array().unwrap().len()), (&2.into(), 1));
    let all = site.run(&["history", "list"]);
    assert_eq!((all.code, all.stderr.as_str()), (Some(0), ""));
}

#[test]
fn doctor_tries_to_write_where_moss_keeps_its_state() {
    let site = Site::new();
    let checks = |site: &Site| parsed(&site.run(&["doctor", "--json"]))["checks"].take();
    let state = |checks: &Value| {
        let all = checks.as_array().unwrap().iter();
        all.clone().find(|check| check["name"] == "state directory").unwrap().clone()
    };
    site.run(&["tools"]);
    let fine = state(&checks(&site));
    assert_eq!(fine["state"], "ok", "{fine}");
    assert!(fine["detail"].as_str().unwrap().ends_with("free)"), "{fine}");
    let mut command = site.command(["doctor", "--json"]);
    command.env("XDG_STATE_HOME", "/proc/none");
    let ended = Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let broken = state(&parsed(&ended)["checks"]);
    assert_eq!(broken["state"], "fail", "{broken}");
    assert!(!broken["hint"].as_str().unwrap().is_empty(), "{broken}");
}

#[test]
fn socket_path_that_is_too_long_keeps_no_command_from_working() {
    let site = Site::new();
    let long = site.outside(&"long/".repeat(30));
    let run = |words: &[&str]| {
        let mut command = site.command(words);
        command.env("XDG_RUNTIME_DIR", &long);
        Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
    };
    let tools = run(&["tools"]);
    assert_eq!(tools.code, Some(0), "{tools:?}");
    assert!(tools.stderr.contains("export XDG_RUNTIME_DIR="), "{tools:?}");
    let doctor = run(&["doctor"]);
    assert!(doctor.stdout.contains("longer than the system allows"), "{doctor:?}");
    let serve = run(&["serve"]);
    assert_eq!(serve.code, Some(1), "{serve:?}");
    assert!(serve.stderr.contains("XDG_RUNTIME_DIR"), "{serve:?}");
}

#[test]
fn relative_home_is_refused() {
    let site = Site::new();
    let mut command = site.command(["tools"]);
    command.env("HOME", "home").env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME");
    let ended = Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("set HOME"), "{ended:?}");
    assert!(!site.has("home"));
}

#[test]
fn path_given_from_a_subdirectory_is_corrected_to_one_from_the_root() {
    let site = Site::new();
    site.write("sub/here.txt", "x\n");
    let mut command = site.command(["call", "read_file", "path=here.txt"]);
    command.current_dir(site.workspace().join("sub"));
    std::fs::create_dir(site.workspace().join(".git")).unwrap();
    let ended = Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("did you mean path=sub/here.txt?"), "{ended:?}");
    assert!(ended.stderr.contains("begin at the root"), "{ended:?}");
}

#[test]
fn directory_that_is_gone_is_named_as_the_trouble() {
    let site = Site::new();
    site.write("a.txt", "x\n");
    let moss = site.command::<&str>([]);
    let gone = site.outside("gone");
    let script = "mkdir \"$0\" && cd \"$0\" && rmdir \"$0\" && exec \"$@\"";
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new("sh");
        command.env_clear().envs(moss.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args(["-c", script]).arg(&gone).arg(moss.get_program()).args(words);
        Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
    };
    for words in [&["call", "read_file", "path=a.txt"][..], &["tools"], &["doctor"]] {
        let ended = run(words);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("the current directory cannot be used"), "{ended:?}");
        assert!(ended.stderr.contains("hint: change to a directory"), "{ended:?}");
    }
    let workspace = site.workspace();
    let read =
        run(&["--workspace", workspace.to_str().unwrap(), "call", "read_file", "path=a.txt"]);
    assert_eq!(read.code, Some(0), "{read:?}");
}

#[test]
fn absolute_path_through_a_link_into_the_workspace_is_taken() {
    let site = Site::allowing();
    site.write("sub/a.txt", "x\n");
    std::os::unix::fs::symlink(site.workspace(), site.outside("link")).unwrap();
    let path = format!("path={}", site.outside("link/sub/a.txt").display());
    let read = parsed(&site.run(&["call", "read_file", &path, "--json"]));
    assert_eq!(read["output"]["path"], "sub/a.txt", "{read}");
    std::fs::write(site.outside("secret.txt"), "x").unwrap();
    let path = format!("path={}", site.outside("link/../secret.txt").display());
    let refused = parsed(&site.run(&["call", "read_file", &path, "--json"]));
    assert_eq!(refused["error"]["code"], "outside_workspace", "{refused}");
}

#[test]
fn undo_of_a_creation_leaves_no_directories_and_read_only_is_a_failure() {
    let site = Site::allowing();
    site.run(&["call", "create_file", "path=new/deep/a.txt", "content=x"]);
    assert!(site.has("new/deep/a.txt"));
    let undone = site.run(&["history", "undo", "1"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    assert!(!site.has("new"));
    site.write("closed/a.txt", "x\n");
    let closed = site.workspace().join("closed");
    let chmod = |mode| std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode));
    chmod(0o555).unwrap();
    let words = ["call", "create_file", "path=closed/b.txt", "content=x", "--json"];
    let ended = site.run(&words);
    chmod(0o755).unwrap();
    assert_eq!((ended.code, &parsed(&ended)["outcome"]), (Some(1), &"failed".into()));
}

#[test]
fn conflict_names_contents_by_their_first_digits() {
    let site = Site::allowing();
    site.write("a.txt", "1\n");
    let hash = format!("a.txt={}", "0".repeat(64));
    let words = ["call", "delete_file", "path=a.txt", "--expect", &hash];
    let ended = site.run(&words);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let is_long = |word: &str| word.len() >= 64 && word.chars().all(|c| c.is_ascii_hexdigit());
    assert!(!ended.stderr.split_whitespace().any(is_long), "{ended:?}");
}

#[test]
fn training_data_is_read_from_standard_input() {
    let site = Site::new();
    let mut command = site.command(["bridge", "check-data", "-", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{}\n{}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["lines"], 2, "{report}");
}

#[test]
fn files_that_cannot_be_edited_are_deleted_nonetheless() {
    let site = Site::allowing();
    let large = site.workspace().join("large.bin");
    File::create(&large).unwrap().set_len(11 << 20).unwrap();
    let refused = parsed(&site.run(&["call", "delete_file", "path=large.bin", "--json"]));
    assert_eq!(refused["error"]["code"], "too_large", "{refused}");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("permanent"), "{refused}");
    assert!(large.exists());
    let call = ["call", "delete_file", "path=large.bin", "permanent=true", "--json"];
    let deleted = parsed(&site.run(&call));
    assert_eq!(deleted["output"]["size_bytes"], 11 << 20, "{deleted}");
    assert!(!large.exists());
    // Text of no encoding that can be written back.
    std::fs::write(site.workspace().join("odd.txt"), b"a\xff\xfeb \x81\x8d\n").unwrap();
    let deleted = parsed(&site.run(&["call", "delete_file", "path=odd.txt", "--json"]));
    assert_eq!(deleted["outcome"], "ok", "{deleted}");
}
