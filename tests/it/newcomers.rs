//! What somebody meets who has never used moss: one tool's parameters, words of other programs, a history
//! that is longer than the screen, a machine on which moss cannot write.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Ended, Site};

fn parsed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
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
    assert!(!broken["next"].as_str().unwrap().is_empty(), "{broken}");
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
