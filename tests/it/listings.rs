//! The same files by moss, by git and by fd: on the sources of this repository as a repository of
//! their own, with ignore files of every kind and odd names.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Client, Daemon, Site};
use crate::live_tree;
use crate::ripgrep::copy_sources;

/// Files, with those that hold rules; what git tracks is committed before the rules come.
const FILES: &[(&str, &str)] = &[
    (
        "odd/.gitignore",
        "*.log\n!keep.log\n/deep/\nwild?\n[ab].c\n**/gen/*.h\ntail\\ \n# x\n\\#y\n\\!z\n",
    ),
    ("odd/a.log", ""),
    ("odd/keep.log", ""),
    ("odd/deep/x.txt", ""),
    ("odd/more/deep/x.txt", ""),
    ("odd/more/.gitignore", "!a.log\nonly/**/leaf\n!/only/x/leaf\n"),
    ("odd/more/a.log", ""),
    ("odd/more/only/x/leaf", ""),
    ("odd/more/only/x/y/leaf", ""),
    ("odd/more/only/stem", ""),
    ("odd/wild1", ""),
    ("odd/wild12", ""),
    ("odd/a.c", ""),
    ("odd/c.c", ""),
    ("odd/p/gen/q.h", ""),
    ("odd/gen/q.h", ""),
    ("odd/tail ", ""),
    ("odd/tail", ""),
    ("odd/#y", ""),
    ("odd/!z", ""),
    ("odd/closed/.gitignore", "!seen\n"),
    ("odd/closed/seen", ""),
    ("odd/reopened/a/b", ""),
    ("odd/reopened/c", ""),
    ("odd/excluded.me", ""),
    ("odd/kept.me", ""),
    ("odd/more/excluded.me", ""),
    ("names/with space.rs", ""),
    ("names/ leading", ""),
    ("names/quo\"te'.rs", ""),
    ("names/back\\slash", ""),
    ("names/ünïcödé.RS", ""),
    ("names/中文/文件.rs", ""),
    ("names/e\u{301}.txt", ""),
    ("names/-dash", ""),
    ("names/...", ""),
    ("names/~", ""),
    ("names/$HOME", ""),
    ("names/*.star", ""),
    ("names/[x]", ""),
    ("names/{a,b}", ""),
    ("names/.hidden/.deeper/x", ""),
    ("names/new\nline", ""),
    ("names/tab\t", ""),
];
/// Rules of the root beside those that this repository has.
const ROOT_RULES: &str = "\nodd/closed/\nodd/reopened/*\n!odd/reopened/a/\n!kept.me\n";
/// Rules of the repository that are not shared.
const EXCLUDE: &str = "# private\n*.me\n";
/// Names with wildcards. A slash at the start means the root in both.
const GLOBS: &[&str] = &[
    "*.rs",
    "*.RS",
    "*.{toml,md}",
    "?ib.rs",
    "[a-d]*.rs",
    "[!a-d]*.md",
    "*_*",
    "*.*.*",
    ".*",
    "**/*.wat",
    "it/*.rs",
    "src/**/*.rs",
    "**/tests/**",
    "/*",
    "/*/src/*.rs",
    "/docs/*",
    "/**/it/**/*.rs",
    "* *",
    "*文*",
    "\\*.star",
    "\\[x\\]",
    "\\{a,b\\}",
    "*é*",
    "l?af",
    "names/**/x",
];

/// Whether a program is there; says aloud where it is not.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output();
    let works = found.is_ok_and(|output| output.status.success());
    if !works {
        // Written past the test runner, which shows nothing of a test that passes.
        let note = format!("\nNOT TESTED: what needs {program}: there is none here\n");
        std::io::stderr().write_all(note.as_bytes()).unwrap();
    }
    works
}

/// Debian calls it `fdfind`.
fn fd() -> Option<&'static str> {
    let debian = Command::new("fdfind").arg("--version").output();
    if debian.is_ok_and(|output| output.status.success()) {
        return Some("fdfind");
    }
    has("fd").then_some("fd")
}

/// Runs a program in the workspace, without settings of the user; returns the paths that it
/// prints, each ended by NUL.
pub(crate) fn printed(site: &Site, program: &str, arguments: &[&str]) -> BTreeSet<Vec<u8>> {
    let home = site.outside("home");
    let output = Command::new(program)
        .args(arguments)
        .current_dir(site.workspace())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", &home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    // 1: fd found nothing.
    let is_well = matches!(output.status.code(), Some(0 | 1));
    assert!(is_well, "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let paths = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.map(|path| path.strip_prefix(b"./").unwrap_or(path)).map(<[u8]>::to_vec).collect()
}

/// Makes a repository of the sources, with odd files and rules; one more repository lies in it.
fn repository() -> Site {
    let site = Site::new();
    copy_sources(&site);
    for (path, content) in FILES {
        site.write(path, content);
    }
    std::fs::write(site.workspace().join(OsStr::from_bytes(b"names/\xff\xfe")), "").unwrap();
    symlink("with space.rs", site.workspace().join("names/link.rs")).unwrap();
    symlink("../odd", site.workspace().join("names/door")).unwrap();
    symlink("nowhere", site.workspace().join("names/dangling")).unwrap();
    std::fs::create_dir_all(site.workspace().join("names/empty")).unwrap();
    let rules = site.read(".gitignore") + ROOT_RULES;
    site.write(".gitignore", rules);
    printed(&site, "git", &["init", "--quiet"]);
    site.write(".git/info/exclude", EXCLUDE);
    printed(&site, "git", &["add", "names", "docs", "Cargo.toml"]);
    site
}

/// Lists the workspace, directory by directory of the root and page by page: one result has a bound.
async fn listed(client: &Client) -> (BTreeSet<Vec<u8>>, BTreeSet<Vec<u8>>, u64) {
    let (mut all, mut directories, mut unreadable) = (BTreeSet::new(), BTreeSet::new(), 0);
    let mut take = |output: &Value, is_first: bool| {
        if is_first {
            unreadable += output["skipped"]["unreadable"].as_u64().unwrap();
        }
        for entry in output["entries"].as_array().unwrap() {
            let path = entry["path"].as_str().unwrap().as_bytes().to_vec();
            if entry["kind"] == "directory" {
                directories.insert(path.clone());
            }
            all.insert(path);
        }
    };
    let root = client.done("list_directory", json!({"path": ".", "limit": 1_000})).await;
    assert_eq!(root["truncated"], false, "{root}");
    take(&root, true);
    let entries = root["entries"].as_array().unwrap().iter();
    for entry in entries.filter(|entry| entry["kind"] == "directory") {
        let mut seen = 0;
        loop {
            let arguments = json!({"path": entry["path"], "recursive": true, "offset": seen});
            let page = client.done("list_directory", arguments).await;
            take(&page, seen == 0);
            let shown = page["entries"].as_array().unwrap().len() as u64;
            seen += shown;
            if shown == 0 || seen >= page["total"].as_u64().unwrap() {
                break;
            }
        }
    }
    (all, directories, unreadable)
}

/// Whether a path can be named to moss: as UTF-8, without control characters.
fn can_be_named(path: &[u8]) -> bool {
    std::str::from_utf8(path).is_ok_and(|path| !path.chars().any(char::is_control))
}

/// Shows in what two sets differ.
fn assert_same(found: &BTreeSet<Vec<u8>>, expected: &BTreeSet<Vec<u8>>, what: &str) {
    let shown = |paths: Vec<&Vec<u8>>| -> Vec<String> {
        paths.into_iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
    };
    let more = shown(found.difference(expected).collect());
    let fewer = shown(expected.difference(found).collect());
    assert!(more.is_empty() && fewer.is_empty(), "{what}: only moss {more:?}, only it {fewer:?}");
}

/// Serves a repository, listed from what is known or walked each time.
async fn served(site: &Site, is_indexed: bool) -> (Daemon, Client) {
    site.config(if is_indexed { "" } else { "[index]\nenabled = false\n" });
    let daemon = site.serve();
    let client = daemon.caller().await;
    if is_indexed {
        live_tree::ready(&client).await;
    }
    (daemon, client)
}

#[tokio::test]
async fn a_listing_has_the_files_that_git_knows_or_would_add() {
    if !has("git") {
        return;
    }
    let site = repository();
    for is_indexed in [true, false] {
        let (_daemon, client) = served(&site, is_indexed).await;
        compare_with_git(&site, &client).await;
    }
}

async fn compare_with_git(site: &Site, client: &Client) {
    let (all, directories, unreadable) = listed(client).await;
    let files: BTreeSet<_> = all.difference(&directories).cloned().collect();
    let known = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let known = printed(site, "git", &known);
    let (named, odd): (BTreeSet<_>, BTreeSet<_>) =
        known.into_iter().partition(|path| can_be_named(path));
    assert!(named.len() > 300, "{}", named.len());
    assert_same(&files, &named, "git");
    assert_eq!((odd.len(), unreadable), (3, 3));
}

#[tokio::test]
async fn a_listing_has_the_entries_that_fd_finds() {
    let Some(fd) = fd().filter(|_| has("git")) else { return };
    let site = repository();
    // A repository in the repository, whose rules are its own.
    for (path, content) in [
        ("odd/clone/.gitignore", "x\n"),
        ("odd/clone/x", ""),
        ("odd/clone/a.log", ""),
        ("odd/clone/b.me", ""),
        ("odd/clone/.git/HEAD", ""),
        ("odd/.ignore", "*.skip\n!seen.log\n"),
        ("odd/a.skip", ""),
        ("odd/more/seen.log", ""),
        ("odd/clone/a.skip", ""),
    ] {
        site.write(path, content);
    }
    for is_indexed in [true, false] {
        let (_daemon, client) = served(&site, is_indexed).await;
        compare_with_fd(fd, &site, &client).await;
    }
}

async fn compare_with_fd(fd: &str, site: &Site, client: &Client) {
    let (all, _, unreadable) = listed(client).await;
    let everything = ["--hidden", "--exclude=.git", "--print0", "--color=never"];
    let found = printed(site, fd, &[&everything[..], &[""]].concat());
    let (named, odd): (BTreeSet<_>, BTreeSet<_>) = found
        .into_iter()
        .map(|path| path.strip_suffix(b"/").map(<[u8]>::to_vec).unwrap_or(path))
        .partition(|path| can_be_named(path));
    assert_same(&all, &named, "fd");
    assert_eq!((odd.len(), unreadable), (3, 3));

    let root = site.workspace();
    let root = root.to_str().unwrap();
    for glob in GLOBS {
        let pattern = match glob.strip_prefix('/') {
            Some(rest) => format!("{root}/{rest}"),
            None if glob.contains('/') => format!("{root}/**/{glob}"),
            None => (*glob).to_owned(),
        };
        let mut arguments = everything.to_vec();
        arguments.extend(["--type=f", "--ignore-case", "--glob"]);
        arguments.extend(glob.contains('/').then_some("--full-path"));
        arguments.extend(["--", &pattern]);
        let expected: BTreeSet<_> =
            printed(site, fd, &arguments).into_iter().filter(|path| can_be_named(path)).collect();
        let output = client.done("file_search", json!({"pattern": glob})).await;
        let files = output["files"].as_array().unwrap();
        let files: BTreeSet<_> =
            files.iter().map(|file| file["path"].as_str().unwrap().as_bytes().to_vec()).collect();
        assert_eq!(output["total"], expected.len(), "{glob}: {files:?} {expected:?}");
        assert!(!files.is_empty() && files.is_subset(&expected), "{glob}: {files:?}");
        if output["truncated"] == false {
            assert_same(&files, &expected, glob);
        }
    }
}
