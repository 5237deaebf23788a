//! Tests of `get_project_structure`.

use moss_sdk::RelPath;
use moss_sdk::code_map::{CentralFile, CodeMap, UsingModule};
use moss_sdk::testing::MemoryHost;
use serde_json::{Value, json};

use crate::check::call;

fn structure(host: &MemoryHost) -> Value {
    call(host, "get_project_structure", json!({})).unwrap()
}

/// The lines of a tree without their indentation.
fn lines(output: &Value) -> Vec<&str> {
    output["tree"].as_str().unwrap().lines().map(str::trim_start).collect()
}

fn project() -> MemoryHost {
    let host = MemoryHost::new([
        (".github/workflows/ci.yml", "on: push\n"),
        ("Cargo.toml", "[package]\nname = \"cat\"\n[[bin]]\nname = \"x\"\npath = \"tools/x.rs\"\n"),
        ("LICENSE", "free\n"),
        ("README.md", "# Cat\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/tests.rs", "//! Tests.\n"),
        ("target/debug/cat", "0"),
        ("tests/it/main.rs", "//! More tests.\n"),
        ("tools/x.rs", "fn main() {}\n"),
        ("vendor/other/Cargo.toml", "[package]\nname = \"other\"\n"),
        ("web/package.json", r#"{"name": "cat-web", "main": "dist/index.js"}"#),
        ("web/src/index.ts", "export {};\n"),
    ]);
    host.ignore("target");
    host
}

#[test]
fn files_and_directories_that_others_use_are_named_where_the_code_is_known() {
    let host = project();
    let unknown = structure(&host);
    assert_eq!((unknown.get("central_files"), unknown.get("modules")), (None, None));
    let path = |text: &str| RelPath::parse(text).unwrap();
    let central = |file: &str| CentralFile {
        path: path(file),
        used_by: 2,
        names: vec!["Cat".to_owned(), "feed".to_owned()],
    };
    let module = |of: RelPath, uses: &[&str], used_by| UsingModule {
        path: of,
        uses: uses.iter().map(|used| path(used)).collect(),
        used_by,
    };
    host.set_code_map(CodeMap {
        files: vec![central("src/tests.rs"), central("tools/x.rs")],
        modules: vec![
            module(path("tools"), &["src", "web/src"], 1),
            module(RelPath::root(), &["tools"], 0),
        ],
    });
    let known = structure(&host);
    assert_eq!(
        known["central_files"],
        json!([
            { "path": "src/tests.rs", "used_by": 2, "names": ["Cat", "feed"] },
            { "path": "tools/x.rs", "used_by": 2, "names": ["Cat", "feed"] },
        ])
    );
    assert_eq!(
        known["modules"],
        json!([
            { "path": "tools", "uses": ["src", "web/src"], "used_by": 1 },
            { "path": ".", "uses": ["tools"], "used_by": 0 },
        ])
    );
}

#[test]
fn a_project_is_shown_at_a_glance() {
    let output = structure(&project());
    let tree = "\
.github/workflows/
  ci.yml
src/
  main.rs
  tests.rs
tests/it/
  main.rs
tools/
  x.rs
vendor/other/
  Cargo.toml
web/
  src/
    index.ts
  package.json
Cargo.toml
LICENSE
README.md
";
    assert_eq!(output["tree"], tree);
    assert_eq!((&output["files"], &output["directories"]), (&json!(11), &json!(10)));
    assert_eq!(
        output["languages"],
        json!([
            { "language": "Rust", "files": 4, "bytes": 53 },
            { "language": "TypeScript", "files": 1, "bytes": 11 },
            { "language": "Markdown", "files": 1, "bytes": 6 },
            { "language": "TOML", "files": 1, "bytes": 62 },
            { "language": "JSON", "files": 1, "bytes": 44 },
            { "language": "YAML", "files": 1, "bytes": 9 }
        ])
    );
    assert_eq!(
        output["manifests"],
        json!([
            {
                "path": "Cargo.toml",
                "kind": "cargo",
                "name": "cat",
                "commands": [
                    { "purpose": "build", "command": "cargo build" },
                    { "purpose": "run", "command": "cargo run" },
                    { "purpose": "test", "command": "cargo test" },
                    { "purpose": "lint", "command": "cargo clippy" },
                ],
            },
            { "path": "web/package.json", "kind": "npm", "name": "cat-web" }
        ])
    );
    assert_eq!(output["entry_points"], json!(["src/main.rs", "tools/x.rs", "web/src/index.ts"]));
    assert_eq!(
        output["tests"],
        json!({
            "files": 2,
            "directories": [{ "path": "tests", "files": 1 }],
            "names": [{ "pattern": "tests.rs", "files": 1 }]
        })
    );
    assert_eq!(output["ci"], json!([".github/workflows/ci.yml"]));
    assert_eq!(output["documents"], json!(["LICENSE", "README.md"]));
    assert_eq!(output["skipped"], json!({ "ignored": 1, "denied": 0, "unreadable": 0 }));
    assert_eq!((&output["folded"], &output["truncated"]), (&json!(0), &json!(false)));
    assert_eq!(output.get("note"), None);
}

#[test]
fn an_empty_workspace_has_an_empty_tree() {
    let output = structure(&MemoryHost::default());
    assert_eq!((&output["tree"], &output["files"]), (&json!(""), &json!(0)));
    for list in ["languages", "manifests", "entry_points", "ci", "documents"] {
        assert_eq!(output[list], json!([]), "{list}");
    }
}

#[test]
fn a_manifest_that_may_not_be_read_or_is_broken_is_listed_without_a_name() {
    let host = MemoryHost::new([
        ("a/Cargo.toml", "[package]\nname = \"secret\"\n"),
        ("b/Cargo.toml", "[package\n"),
        ("c/package.json", "{"),
        ("d/go.mod", "module d\n"),
        ("f/My.csproj", "\0"),
    ]);
    host.deny("a/Cargo.toml");
    host.write("e/Cargo.toml", b"[package]\nname = \"\xff\"\n");
    host.write("g/pyproject.toml", format!("[project]\nname = 'g'\n#{}", "x".repeat(300 << 10)));
    let output = structure(&host);
    let named: Vec<(&str, Option<&str>)> = output["manifests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|manifest| (manifest["path"].as_str().unwrap(), manifest["name"].as_str()))
        .collect();
    let expected = [
        ("a/Cargo.toml", None),
        ("b/Cargo.toml", None),
        ("c/package.json", None),
        ("d/go.mod", Some("d")),
        ("e/Cargo.toml", None),
        ("f/My.csproj", Some("My")),
        ("g/pyproject.toml", None),
    ];
    assert_eq!(named, expected);
}

#[test]
fn a_manifest_names_no_file_outside_its_workspace() {
    let package =
        r#"{"main": "../../etc/passwd", "bin": {"x": "/etc/passwd", "y": "", "z": "./../a.js"}}"#;
    let host = MemoryHost::new([("w/package.json", package), ("a.js", "")]);
    assert_eq!(structure(&host)["entry_points"], json!([]));
}

#[test]
fn a_directory_of_many_files_is_counted_by_their_ends() {
    let names: Vec<String> = (0..100)
        .map(|n| format!("assets/{n:03}.{}", if n % 10 == 0 { "svg" } else { "png" }))
        .chain(["assets/Makefile".to_owned(), "assets/more/a.txt".to_owned()])
        .collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let output = structure(&host);
    let expected = ["assets/", "more/", "a.txt", "(101 files: 90 .png, 10 .svg, 1 other)"];
    assert_eq!(lines(&output), expected);
    assert_eq!(output["folded"], 101);
    assert!(output["note"].as_str().unwrap().contains("101 entries"), "{output}");
}

#[test]
fn the_top_of_a_huge_project_is_whole_and_the_rest_is_counted() {
    let names: Vec<String> = (0..20_000)
        .map(|n| format!("d{:02}/e{:02}/f{:02}/g{n}.rs", n % 40, n % 23, n % 31))
        .chain((0..30).map(|n| format!("top{n:02}.md")))
        .collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let output = structure(&host);
    let tree = output["tree"].as_str().unwrap();
    let top: Vec<&str> = tree.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(top.len(), 40 + 30, "{tree}");
    assert!(top[0].starts_with("d00/") && top[69] == "top29.md", "{tree}");
    assert!(tree.lines().count() <= 300 && tree.len() <= 16 << 10, "{tree}");
    assert!(tree.lines().count() > 200, "the budget is spent: {tree}");
    assert_eq!(output["files"], 20_030);
    let directories = output["directories"].as_u64().unwrap();
    // What is shown and what is counted is everything.
    let shown = tree.lines().count() as u64;
    assert_eq!(output["folded"], 20_030 + directories - shown);
    assert_eq!(structure(&host), output);
}

#[test]
fn more_directories_than_fit_are_counted() {
    let names: Vec<String> = (0..1_000).map(|n| format!("{n:04}/a.rs")).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let output = structure(&host);
    let lines = lines(&output);
    assert_eq!(lines[0], "0000/");
    assert_eq!(lines[lines.len() - 1], "(900 more directories with 900 files)");
}

#[test]
fn a_directory_of_a_project_is_shown_by_itself() {
    let output = call(&project(), "get_project_structure", json!({ "path": "web/" })).unwrap();
    assert_eq!(output["tree"], "src/\n  index.ts\npackage.json\n");
    assert_eq!((&output["files"], &output["directories"]), (&json!(2), &json!(1)));
    let manifest = json!([{ "path": "web/package.json", "kind": "npm", "name": "cat-web" }]);
    assert_eq!(output["manifests"], manifest);
    let tests = call(&project(), "get_project_structure", json!({ "path": "tests" })).unwrap();
    assert_eq!(tests["tree"], "it/\n  main.rs\n");
}

#[test]
fn a_tree_has_as_many_lines_as_asked_for() {
    let names: Vec<String> = (0..40).map(|number| format!("d/e{number:02}/f.rs")).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let tree = |limit: u64| {
        let output = call(&host, "get_project_structure", json!({ "limit": limit })).unwrap();
        output["tree"].as_str().unwrap().lines().count()
    };
    assert_eq!((tree(1), tree(50), tree(200)), (1, 50, 81));
}

#[test]
fn a_longer_tree_comes_by_pages_that_together_are_all_of_it() {
    let names: Vec<String> = (0..40).map(|number| format!("d/e{number:02}/f.rs")).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let asked = |arguments: Value| {
        let output = call(&host, "get_project_structure", arguments).unwrap();
        let lines = lines(&output).into_iter().map(ToOwned::to_owned).collect::<Vec<_>>();
        (lines, output["note"].as_str().unwrap_or_default().to_owned())
    };
    let (whole, _) = asked(json!({ "limit": 200 }));
    assert_eq!(whole.len(), 81);
    let (first, note) = asked(json!({ "limit": 30, "offset": 0 }));
    assert_eq!(first, whole[..30]);
    assert_eq!(note, "lines 1 to 30 of 81 of the tree: continue with `offset` 30");
    let (second, _) = asked(json!({ "limit": 30, "offset": 30 }));
    // Where the first of them is.
    assert_eq!(second[..2], ["d/", "e14/"]);
    assert_eq!(second[2..], whole[30..60]);
    let (last, note) = asked(json!({ "limit": 30, "offset": 60 }));
    assert_eq!(last[2..], whole[60..]);
    assert_eq!(note, "lines 61 to 81 of 81 of the tree");
    let (none, note) = asked(json!({ "offset": 81 }));
    assert_eq!(none, Vec::<String>::new());
    assert!(note.contains("passes over all of them"), "{note}");
    // Without pages, what there is no room for is only counted, and the note says how to see more.
    let (_, note) = asked(json!({ "limit": 50 }));
    assert!(note.contains("only counted") && note.contains("`offset` 0"), "{note}");
}

#[test]
fn commands_come_from_manifests_and_what_stands_around_them() {
    let host = MemoryHost::new([
        ("Makefile", "lint:\n\tx\n"),
        ("pnpm-lock.yaml", ""),
        ("a/package.json", r#"{"scripts": {"test": "vitest"}}"#),
        ("b/Cargo.toml", "[package]\nname = \"b\"\n"),
        ("b/c/Cargo.toml", "[package]\nname = \"c\"\n"),
        ("b/c/src/main.rs", "fn main() {}\n"),
        ("go.work", "go 1.22\nuse ./d\n"),
        ("d/go.mod", "module d\n"),
        ("e/Makefile", "test:\n"),
    ]);
    host.deny("e/Makefile");
    let commands = |manifest: &Value| {
        let commands = manifest["commands"].as_array().cloned().unwrap_or_default();
        let lines = commands.iter().map(|it| it["command"].as_str().unwrap().to_owned());
        (manifest["path"].as_str().unwrap().to_owned(), lines.collect::<Vec<_>>().join(", "))
    };
    let output = structure(&host);
    let given: Vec<_> = output["manifests"].as_array().unwrap().iter().map(commands).collect();
    let expected = [
        ("Makefile", "make lint"),
        ("go.work", ""),
        ("a/package.json", "pnpm run test"),
        ("b/Cargo.toml", "cargo build, cargo test, cargo clippy"),
        ("d/go.mod", "go build ./..., go test ./..., go vet ./..."),
        ("e/Makefile", ""),
        ("b/c/Cargo.toml", "cargo run"),
    ];
    assert_eq!(given, expected.map(|(path, line)| (path.to_owned(), line.to_owned())));
}

#[test]
fn a_result_keeps_to_its_bound_and_says_what_had_no_room() {
    let long = "x".repeat(200);
    let targets = "build:\ndist:\ntest:\nunit:\nlint:\nfmt:\nrun:\ndev:\n";
    let files: Vec<(String, &str)> = (0..60)
        .flat_map(|n| {
            let directory = format!("{n:02}-{long}/{long}");
            [
                (format!("{directory}/Makefile"), targets),
                (format!("{directory}/src/main.rs"), ""),
                (format!("{directory}/tests/a_test.rs"), ""),
                (format!("{directory}/other/data.json"), ""),
            ]
        })
        .chain((0..70).map(|n| (format!("{n:02}{long}.txt"), "")))
        .collect();
    let host = MemoryHost::new(files.iter().map(|(path, text)| (path.as_str(), *text)));
    let output = structure(&host);
    assert!(output.to_string().len() <= 25_000, "{}", output.to_string().len());
    for list in ["manifests", "entry_points"] {
        let shown = output[list].as_array().unwrap().len();
        assert!((1..30).contains(&shown), "{list}: {shown}");
        assert_eq!(output[format!("{list}_total")], 60);
    }
    let note = output["note"].as_str().unwrap();
    assert!(note.contains("no room for") && note.contains(" of manifests"), "{note}");
    // What is shown of the tree and what is counted is everything.
    assert_eq!(output["files"], 60 * 4 + 70);
    let named = output["files"].as_u64().unwrap() + output["directories"].as_u64().unwrap()
        - output["folded"].as_u64().unwrap();
    let tree = output["tree"].as_str().unwrap();
    let names = tree.lines().filter(|line| !line.trim_start().starts_with('('));
    let parts = names.map(|line| line.split(" (").next().unwrap());
    let parts = parts.flat_map(|line| line.trim().split('/').filter(|part| !part.is_empty()));
    assert_eq!(named, parts.count() as u64, "{tree}");
}

#[test]
fn manifests_say_which_other_directories_have_tests() {
    let host = MemoryHost::new([
        ("Cargo.toml", "[[test]]\npath = \"checks/it/main.rs\"\n"),
        ("checks/it/main.rs", ""),
        ("tests/a.rs", ""),
        ("py/pytest.ini", "[pytest]\ntestpaths = probes tests gone\n"),
        ("py/probes/deep/a.py", ""),
        ("py/probes/b.py", ""),
        ("py/probes/data.txt", ""),
        ("py/probes2/c.py", ""),
        ("py/tests/d.py", ""),
        ("java/pom.xml", "<project><testSourceDirectory>trials</testSourceDirectory></project>"),
        ("java/trials/A.java", ""),
    ]);
    // Beneath another directory paths are the same.
    for (path, expected) in [
        (
            ".",
            json!([
                { "path": "py/probes", "files": 2 },
                { "path": "py/tests", "files": 1 },
                { "path": "tests", "files": 1 },
                { "path": "checks/it", "files": 1 },
                { "path": "java/trials", "files": 1 },
            ]),
        ),
        ("py", json!([{ "path": "py/probes", "files": 2 }, { "path": "py/tests", "files": 1 }])),
    ] {
        let output = call(&host, "get_project_structure", json!({ "path": path })).unwrap();
        assert_eq!(output["tests"]["directories"], expected);
    }
}

#[test]
fn pages_of_a_tree_of_long_names_are_small_and_together_all_of_it() {
    let name = |n: usize| format!("d{:02}/e{:02}{}/f.rs", n / 20, n % 20, "é".repeat(70 + n % 30));
    let names: Vec<String> = (0..400).map(name).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let page = |arguments: Value| {
        let output = call(&host, "get_project_structure", arguments).unwrap();
        let bytes = output.to_string().len();
        let lines = lines(&output).into_iter().map(ToOwned::to_owned).collect::<Vec<_>>();
        (lines, output["note"].as_str().unwrap_or_default().to_owned(), bytes)
    };
    let (whole, ..) = page(json!({ "limit": 2000, "offset": 0 }));
    assert_eq!(whole.len(), 820);
    let mut seen: Vec<String> = Vec::new();
    while seen.len() < whole.len() {
        let (lines, note, bytes) = page(json!({ "offset": seen.len() }));
        assert!(bytes <= 24_000, "{bytes}");
        let first = seen.len() + 1;
        let (from, rest) = note.strip_prefix("lines ").unwrap().split_once(" to ").unwrap();
        let end: usize = rest.split_once(' ').unwrap().0.parse().unwrap();
        assert_eq!((from.parse::<usize>().unwrap(), end >= first), (first, true), "{note}");
        let shown = end - seen.len();
        // Before them stands where the first of them is.
        seen.extend(lines[lines.len() - shown..].iter().cloned());
        let continued = note.contains(&format!("continue with `offset` {end}"));
        assert_eq!(continued, end < whole.len(), "{note}");
    }
    assert_eq!(seen, whole);
}
