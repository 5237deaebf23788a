//! The same searches by moss and by ripgrep, on the sources of this repository and some odd files.

mod generated;

use std::collections::HashMap;
use std::fs::DirEntry;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use moss_sdk::RelPath;
use moss_sdk::ranking::PathRank;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::harness::{Client, Daemon, Editor, Site, until};
use crate::text_index;

/// What is searched for: words, classes, anchors, alternatives, repetitions, Unicode.
const PATTERNS: &[&str] = &[
    "fn",
    "struct",
    "impl",
    "async fn",
    "unwrap",
    "workspace",
    "Workspace",
    "TODO",
    "the",
    "zzzqqq",
    "RelPath",
    "self",
    "tokio::test",
    "policy",
    "grep_search",
    r"Err\(",
    "0",
    "é",
    "中文",
    "工作区",
    "straße",
    "ſ",
    "K",
    "a",
    "needle",
    "::new",
    "moss-sdk",
    "version = \"1\"",
    "€",
    "\t",
    r"fn \w+",
    r"fn \w+\(",
    r"^use ",
    r"^\s*pub fn",
    r"\bmut\b",
    r"\bfn\b.*\bself\b",
    r";$",
    r"^$",
    r"^\s*$",
    r"\{$",
    r"^}",
    r"^}$",
    r"[A-Z]{3,}",
    r"[A-Z][a-z]+[A-Z]",
    r"\d+",
    r"\b\d{3}\b",
    r"0x[0-9a-f]+",
    r"[^\x00-\x7f]",
    r"\p{Han}",
    r"\p{Greek}",
    r"\p{Lu}\p{Lu}",
    r"\w+@\w+",
    r"https?://[^\s)]+",
    r"(read|write)_file",
    r"foo|bar|baz",
    r"(?i)ERROR",
    r"(?-i)Error",
    r"Error.*(Denied|NotFound)",
    r"let (mut )?\w+ =",
    r"\(\)",
    r"\[\w+\]",
    r"\{\}",
    r"->",
    r"=> \{",
    r"&&|\|\|",
    r"//[/!]",
    r"^//!",
    r"///.*\.$",
    r"#\[test\]",
    r"#\[tokio::test\]",
    r"\.await\?",
    r"\.unwrap\(\)",
    r"Option<[^>]+>",
    r"Vec<\w+>",
    r"Result<.*, .*>",
    r"'[a-z]\b",
    r"\w{20,}",
    r".{99,}",
    r"^.{0,3}$",
    r"(\w)(\w)(\w)\d",
    r"a.c",
    r"a.*?c",
    r"(ab)+",
    r"x{2,3}",
    r"[[:upper:]]{4}",
    r"[\w--\d]+_max",
    r"[a-z&&[^aeiou]]{6}",
    r"\Ause",
    r"\bmod\b;?$",
    r"^mod ",
    r"test(s|ing)?\b",
    r"\s{8}\S",
    r"\S+\s\S+\s\S+",
    r"^\S",
    r"\r",
    r"\.$",
    r",$",
    r"\x41",
    r"\u{e9}",
    r"(?x) fn \s+ main",
    r"colou?r",
    r"needle.*end$",
    r"end$",
    r"z*",
    r"$",
    r"^",
    r".",
    r"one\ntwo",
    r"\{\n\s*let",
    r"fn main\(\) \{\n",
    r";\n\n",
    r"use std::.*;\nuse",
    r"\)\n\}",
    r"needle\r?\n",
];
/// Most matches that grep_search counts.
const COUNTED_MAX: usize = 100_000;
/// Names with wildcards. A slash at the start means the root in both.
const GLOBS: &[&str] = &[
    "*.rs",
    "*.toml",
    "*.MD",
    "mai?.rs",
    "?ib.rs",
    "*_*.rs",
    "[a-d]*.rs",
    "*.{toml,md}",
    "t*s.rs",
    "/tests/**/*.rs",
    "/*/src/*.rs",
    "/docs/*",
    "/**/it/*.rs",
    "*[!s].rs",
    ".gitignore",
];
/// What makes ripgrep apply the same ignore files as moss.
const SETTINGS: &[&str] = &[
    "--no-config",
    "--hidden",
    "--no-ignore-global",
    "--no-ignore-parent",
    "--no-require-git",
    "--glob=!.git",
    "--crlf",
];

/// Most matches that are compared by their location; all are counted.
const LIMIT: usize = 1_000;

/// How many patterns are generated, where [`ASKED`] does not say otherwise.
const GENERATED: usize = 240;
/// The variable that says so.
const ASKED: &str = "MOSS_TEST_PATTERNS";
/// The folders that are searched where nobody asks for more: of every kind of file, with more lines than are counted.
const PARTS: [&str; 6] = ["builtin-tools", "docs", "plugins-example", "proto", "sdk", "tests"];

/// How a daemon searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchWay {
    /// It reads what the index does not rule out.
    Index,
    /// It reads every file, as if there were no index.
    Scan,
}

const WAYS: [SearchWay; 2] = [SearchWay::Index, SearchWay::Scan];

/// What ripgrep finds: how many lines in how many files, and where the first are.
struct FoundByRipgrep {
    lines: usize,
    files: usize,
    first: Vec<MatchedLine>,
}

/// A match: the names of the path, the line, and the column, where it is reported.
type MatchedLine = (Vec<String>, u64, Option<u64>);

/// Patterns whose matches may lie on several lines.
const ACROSS_LINES: &[&str] = &[
    r"use crate::[^;]*\{[^}]*Site[^}]*\};",
    r"#\[test\]\n",
    r"fn main\(\)[^}]*\}",
    r"\}\n\nimpl ",
    "needle first",
    r"one.{1,4}two",
];

fn names(path: &str) -> Vec<String> {
    path.trim_start_matches("./").split('/').map(str::to_owned).collect()
}

fn has_ripgrep() -> bool {
    let found = Command::new("rg").arg("--version").output();
    let works = found.is_ok_and(|output| output.status.success());
    if !works {
        // Written past the test runner, which shows nothing of a test that passes.
        let note = "\nNOT TESTED: the same results as ripgrep: there is no `rg` here\n";
        std::io::stderr().write_all(note.as_bytes()).unwrap();
    }
    works
}

/// Copies the sources of this repository into the workspace.
pub(crate) fn copy_sources(site: &Site) {
    copy(repository(), &site.workspace());
}

/// Copies the files beside its folders, and those in [`PARTS`].
fn copy_parts(site: &Site) {
    copy_files(repository(), &site.workspace());
    for part in PARTS {
        let to = site.workspace().join(part);
        std::fs::create_dir(&to).unwrap();
        copy(&repository().join(part), &to);
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The sources of this repository, all of them where [`ASKED`] asks for more, and what they lack.
fn sources() -> Site {
    let site = Site::new();
    match std::env::var_os(ASKED) {
        Some(_) => copy_sources(&site),
        None => copy_parts(&site),
    }
    let utf_16: Vec<u8> = std::iter::once(0xfeff)
        .chain("one\r\ntwo needle\r\nend\r\n".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    site.write("odd/utf16.txt", utf_16);
    site.write("odd/crlf.txt", "one\r\ntwo\r\nneedle to the end\r\nstraße STRASSE\r\nΑθήνα\r\n");
    site.write("odd/open.txt", "one\ntwo\nno line feed at the end");
    site.write("odd/binary", b"\0needle\nneedle\n");
    site.write("odd/long.txt", format!("{}needle{}\n", "é".repeat(3_000), "x".repeat(3_000)));
    site.write("odd/empty.txt", "");
    let line = |number: usize| match number % 997 {
        0 => format!("{number} fn Needle_{number}(te\u{17f}t) -> Result\r\n"),
        _ => format!("{number} and nothing else\n"),
    };
    site.write("odd/large.txt", (0..30_000).map(line).collect::<String>());
    site.write("odd/bom.txt", "\u{feff}needle first\n");
    site.write("odd/.gitignore", "*.log\n!keep.log\n/deep/\n");
    site.write("odd/more/.ignore", "!seen.log\n");
    for path in ["a.log", "keep.log", "deep/x.txt", "more/deep/x.txt", "more/seen.log"] {
        site.write(&format!("odd/{path}"), "needle\n");
    }
    site
}

fn copy(from: &Path, to: &Path) {
    copy_files(from, to);
    for (entry, name) in entries(from) {
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(to.join(&name)).unwrap();
            copy(&entry.path(), &to.join(&name));
        }
    }
}

/// Copies the files of a directory, and none beneath it.
fn copy_files(from: &Path, to: &Path) {
    for (entry, name) in entries(from) {
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(&name)).unwrap();
        }
    }
}

/// What is in a directory, with names, but for what was built.
fn entries(directory: &Path) -> impl Iterator<Item = (DirEntry, String)> {
    let all = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let named = all.map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        (entry, name)
    });
    named.filter(|(_, name)| {
        !name.starts_with("target") && ![".git", ".venv"].contains(&name.as_str())
    })
}

/// A daemon that searches these sources in one of the ways.
async fn served(way: SearchWay) -> (Site, Daemon, Client) {
    let site = sources();
    if way == SearchWay::Scan {
        site.config("[index]\nenabled = false\n");
    }
    let daemon = site.serve();
    let client = daemon.caller().await;
    if way == SearchWay::Index {
        text_index::ready(&client).await;
    }
    (site, daemon, client)
}

/// A daemon for each way, over the same files.
async fn served_both() -> [(Site, Daemon, Client); 2] {
    [served(SearchWay::Index).await, served(SearchWay::Scan).await]
}

fn run_ripgrep(tree: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("rg");
    command.args(SETTINGS).args(arguments).current_dir(tree);
    let output = command.output().unwrap();
    // 1: nothing was found.
    let is_well = matches!(output.status.code(), Some(0 | 1));
    assert!(is_well, "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Searches with ripgrep.
fn by_ripgrep(tree: &Path, pattern: &str, case_sensitive: bool) -> FoundByRipgrep {
    let case = if case_sensitive { "--case-sensitive" } else { "--ignore-case" };
    if pattern.contains(r"\n") || pattern == r"\r" {
        return across_lines(
            tree,
            &["--json", "--sort=path", case, "--multiline", "-e", pattern, "./"],
        );
    }
    // Every match of a line is in what it prints as JSON, of `.` 760 MB: only the first files are asked for that.
    let counted = run_ripgrep(tree, &["--count", "--sort=path", case, "-e", pattern, "./"]);
    let counts: Vec<(&str, usize)> = counted.lines().map(count).collect();
    FoundByRipgrep {
        lines: counts.iter().map(|(_, lines)| lines).sum(),
        files: counts.len(),
        first: first_lines(tree, &[case, "-e", pattern], &counts),
    }
}

/// Searches where a match may be of several lines, which are counted as one.
fn across_lines(tree: &Path, arguments: &[&str]) -> FoundByRipgrep {
    let printed = run_ripgrep(tree, arguments);
    let of_type = |kind: &str| {
        let start = format!(r#"{{"type":"{kind}","#);
        printed.lines().filter(move |line| line.starts_with(&start))
    };
    FoundByRipgrep {
        lines: of_type("match").count(),
        files: of_type("begin").count(),
        first: first_places(&printed),
    }
}

/// Reads how many lines of a file match: `PATH:COUNT`.
fn count(printed: &str) -> (&str, usize) {
    let (path, lines) = printed.rsplit_once(':').unwrap();
    (path, lines.parse().unwrap())
}

/// Searches the files that have the first matches in moss's order, of which ripgrep has the last part, once more:
/// for their locations.
fn first_lines(tree: &Path, searched: &[&str], counts: &[(&str, usize)]) -> Vec<MatchedLine> {
    let mut ranked = counts.to_vec();
    ranked.sort_by_key(|(path, _)| PathRank::of(&RelPath::parse(path).unwrap()));
    let mut lines = 0;
    let has_first = |&(_, count): &(&str, usize)| {
        let before = lines;
        lines += count;
        before < LIMIT
    };
    let files: Vec<&str> = ranked.into_iter().take_while(has_first).map(|(path, _)| path).collect();
    // Without any it would search everything.
    if files.is_empty() {
        return Vec::new();
    }
    let most = format!("--max-count={LIMIT}");
    // It maps files that are named into memory, but not those of a directory.
    let settings = ["--json", "--sort=path", "--no-mmap", most.as_str()];
    first_places(&run_ripgrep(tree, &[&settings[..], searched, &files[..]].concat()))
}

/// Where the first matches are in moss's order, of which ripgrep has the last part: by path and line.
fn first_places(printed: &str) -> Vec<MatchedLine> {
    let mut ranked: HashMap<PathRank, Vec<&str>> = HashMap::new();
    let mut rank = PathRank::Source;
    for event in printed.lines() {
        if event.starts_with(r#"{"type":"begin","#) {
            let event: Value = serde_json::from_str(event).unwrap();
            let path = event["data"]["path"]["text"].as_str().unwrap();
            rank = PathRank::of(&RelPath::parse(path).unwrap());
        } else if event.starts_with(r#"{"type":"match","#) {
            ranked.entry(rank).or_default().push(event);
        }
    }
    let mut ranked: Vec<_> = ranked.into_iter().collect();
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    ranked.into_iter().flat_map(|(_, events)| events).take(LIMIT).map(place).collect()
}

/// Reads where a match of ripgrep is.
fn place(event: &str) -> MatchedLine {
    let event: Value = serde_json::from_str(event).unwrap();
    let data = &event["data"];
    let text = data["lines"]["text"].as_str().unwrap_or_else(|| panic!("{data}"));
    let column = data["submatches"][0]["start"].as_u64().map(|start| {
        let before = &text[..usize::try_from(start).unwrap()];
        before.rsplit('\n').next().unwrap().chars().count() as u64 + 1
    });
    let path = names(data["path"]["text"].as_str().unwrap());
    (path, data["line_number"].as_u64().unwrap(), column)
}

/// Compares what each way finds with what ripgrep finds, which searches meanwhile. Returns how many lines that is.
async fn compare(served: &[(Site, Daemon, Client)], pattern: &str, case_sensitive: bool) -> usize {
    let (tree, asked) = (served[0].0.workspace(), pattern.to_owned());
    let expected = spawn_blocking(move || by_ripgrep(&tree, &asked, case_sensitive));
    let arguments = json!({"pattern": pattern, "caseSensitive": case_sensitive, "limit": LIMIT});
    let mut found = Vec::new();
    for (_, _, client) in served {
        found.push(client.done("grep_search", arguments.clone()).await);
    }
    let expected = expected.await.unwrap();
    for (found, way) in found.iter().zip(WAYS) {
        hold(found, &expected, &format!("{way:?}: {pattern}"));
    }
    expected.lines
}

/// Fails unless moss found what ripgrep found.
fn hold(found: &Value, expected: &FoundByRipgrep, pattern: &str) {
    let total = expected.lines;
    assert_eq!(found["total_matches"], total.min(COUNTED_MAX), "{pattern}");
    if total <= COUNTED_MAX {
        assert_eq!(found["files_matched"], expected.files, "{pattern}");
    }
    let matches = found["matches"].as_array().unwrap();
    assert_eq!(matches.len() < total, found["truncated"] == true, "{pattern}");
    // Long lines can fill a result before its limit.
    assert!(matches.len() >= total.min(100), "{pattern}");
    for (hit, (path, line, column)) in matches.iter().zip(&expected.first) {
        assert_eq!(names(hit["path"].as_str().unwrap()), *path, "{pattern}");
        assert_eq!(hit["line"], *line, "{pattern} in {path:?}");
        assert!(column.is_none_or(|column| hit["column"] == column), "{pattern}: {hit} {column:?}");
    }
}

#[tokio::test]
async fn lines_are_those_that_ripgrep_finds() {
    if !has_ripgrep() {
        return;
    }
    let served = served_both().await;
    let mut matched = 0;
    for (number, pattern) in PATTERNS.iter().enumerate() {
        matched += usize::from(compare(&served, pattern, number % 2 == 0).await > 0);
    }
    assert!(PATTERNS.len() >= 100 && matched >= 90, "{matched} of {}", PATTERNS.len());
}

#[tokio::test]
async fn generated_patterns_find_what_ripgrep_finds() {
    if !has_ripgrep() {
        return;
    }
    let wanted = match std::env::var(ASKED) {
        Ok(asked) => asked.parse().unwrap_or_else(|_| panic!("{ASKED}={asked} is no number")),
        Err(_) => GENERATED,
    };
    let served = served_both().await;
    let patterns = generated::patterns(&served[0].0.workspace(), wanted);
    let mut matched = 0;
    for (pattern, case_sensitive) in &patterns {
        matched += usize::from(compare(&served, pattern, *case_sensitive).await > 0);
    }
    assert!(patterns.len() == wanted && matched >= wanted / 2, "{matched} match");
}

#[tokio::test]
async fn types_and_names_are_those_that_ripgrep_finds() {
    if !has_ripgrep() {
        return;
    }
    for way in WAYS {
        let (site, _daemon, client) = served(way).await;
        for (kind, setting) in
            [("rust", "--type=rust"), (".py", "--glob=*.py"), ("md", "--type=md")]
        {
            // In every kind, and in fewer lines than are counted.
            let counted =
                run_ripgrep(&site.workspace(), &[setting, "--count", "-i", "-e", "the", "./"]);
            let lines = counted.lines().map(|line| line.rsplit(':').next().unwrap());
            let total: usize = lines.map(|count| count.parse::<usize>().unwrap()).sum();
            assert!(0 < total && total < COUNTED_MAX, "{kind} proves nothing");
            let arguments = json!({"pattern": "the", "fileType": kind});
            let found = client.done("grep_search", arguments).await;
            assert_eq!(found["total_matches"], total, "{kind}");
            assert_eq!(found["files_matched"], counted.lines().count(), "{kind}");
        }
        for glob in GLOBS {
            let printed =
                run_ripgrep(&site.workspace(), &["--files", &format!("--iglob={glob}"), "./"]);
            let mut expected: Vec<_> = printed.lines().map(names).collect();
            expected.sort();
            let found = client.done("file_search", json!({"pattern": glob})).await;
            assert_eq!(found["total"], expected.len(), "{glob}");
            let files = found["files"].as_array().unwrap().iter();
            let found: Vec<_> = files.map(|file| names(file["path"].as_str().unwrap())).collect();
            assert_eq!(found, expected[..found.len()], "{glob}");
            assert!(!found.is_empty(), "{glob} proves nothing");
        }
    }
}

#[tokio::test]
async fn patterns_across_lines_are_those_that_ripgrep_finds() {
    if !has_ripgrep() {
        return;
    }
    for way in WAYS {
        let (site, _daemon, client) = served(way).await;
        for pattern in ACROSS_LINES {
            let mut settings = vec!["--multiline", "--multiline-dotall", "--case-sensitive"];
            settings.extend(["--json", "--sort=path", "-e", pattern, "./"]);
            let printed = run_ripgrep(&site.workspace(), &settings);
            let start = r#"{"type":"match","#;
            let total = printed.lines().filter(|line| line.starts_with(start)).count();
            assert!(total > 0, "{pattern} proves nothing");
            let arguments = json!({
                "pattern": pattern, "caseSensitive": true, "multiline": true, "limit": LIMIT
            });
            let found = client.done("grep_search", arguments).await;
            assert_eq!(found["total_matches"], total, "{way:?} {pattern}");
            let matches = found["matches"].as_array().unwrap();
            for (hit, (path, line, _)) in matches.iter().zip(first_places(&printed)) {
                assert_eq!(names(hit["path"].as_str().unwrap()), path, "{way:?} {pattern}");
                assert_eq!(hit["line"], line, "{way:?} {pattern} in {path:?}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_unsaved_or_denied_is_all_that_differs_from_ripgrep() {
    if !has_ripgrep() {
        return;
    }
    for way in WAYS {
        let (site, daemon, client) = served(way).await;
        let arguments = json!({"pattern": "needle", "caseSensitive": true, "limit": LIMIT});
        let denied = async || {
            let found = client.done("grep_search", arguments.clone()).await;
            found["skipped"]["denied"].as_u64().unwrap()
        };
        let before = denied().await;
        site.write("odd/unsaved.txt", "nothing of note\n");
        site.write("odd/denied.txt", "needle\n");
        site.user_policy(
            "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"odd/denied.txt\"]\n\
             decision = \"deny\"\n",
        );
        let mut editor = Editor::attach(&daemon.approver().await, "Code").await;
        editor.hold("odd/unsaved.txt", 1, Some("needle and\nneedle again\n")).await;
        let expected = by_ripgrep(&site.workspace(), "needle", true);
        until("the rules are read", async || denied().await == before + 1).await;
        let found = client.done("grep_search", arguments.clone()).await;
        // The one file has two lines, the other had one.
        assert_eq!(found["total_matches"], expected.lines + 1, "{way:?}");
        assert_eq!(found["files_matched"], expected.files, "{way:?}");
    }
}
