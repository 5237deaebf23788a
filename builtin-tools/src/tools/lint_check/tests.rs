//! What is run, what a result says of it, what is never shown: with checks that leave behind what a test sets.

use moss_sdk::ErrorCode;
use moss_sdk::command::{
    CheckReport, CommandReport, ConfiguredFormat, ConfiguredLinter, ReportedSandbox,
};
use moss_sdk::testing::MemoryHost;
use serde_json::{Value, json};

use crate::check::{call, refused};

fn report(exit_code: i32, stdout: &str, stderr: &str) -> CheckReport {
    CheckReport {
        command: CommandReport {
            ran: true,
            job: None,
            exit_code: Some(exit_code),
            signal: None,
            duration_ms: 12,
            stdout: String::new(),
            stderr: String::new(),
            truncated: false,
            artifact: None,
            left_running: Vec::new(),
            sandbox: ReportedSandbox {
                tier: "full".to_owned(),
                profile: "workspace-write".to_owned(),
                ..ReportedSandbox::default()
            },
            changed: Vec::new(),
            notes: Vec::new(),
        },
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
        files: Vec::new(),
        left_out: None,
        is_cut: false,
        root: "/work".to_owned(),
    }
}

/// A finding of ruff.
fn ruff(path: &str, line: u64, code: &str, message: &str) -> String {
    let finding = json!({
        "code": code, "filename": path, "message": message, "severity": "error",
        "location": {"row": line, "column": 1}, "end_location": {"row": line, "column": 4},
        "fix": null,
    });
    format!("{finding}\n")
}

fn python() -> MemoryHost {
    MemoryHost::new([
        ("pyproject.toml", "[tool.ruff]\n"),
        ("src/a.py", "import os\nx = 1\ny = z\n"),
        ("src/b.py", "import os\n"),
        ("notes.txt", "plain\n"),
    ])
}

/// The commands of a call, each with its directory.
fn commands(host: &MemoryHost) -> Vec<(String, String)> {
    let all = host.commands().into_iter();
    all.map(|one| (one.command, one.directory.to_string())).collect()
}

fn lint(host: &MemoryHost, path: &str) -> Value {
    call(host, "lint_check", json!({ "path": path })).unwrap()
}

/// Path, line and rule of each diagnostic.
fn places(output: &Value) -> Vec<String> {
    let all = output["diagnostics"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    all.map(|one| format!("{}:{} {}", text(&one["path"]), one["line"], text(&one["code"])))
        .collect()
}

#[test]
fn a_linter_runs_whatever_a_grammar_says_and_what_it_parsed_parses() {
    let sources = |output: &Value| {
        let all = output["diagnostics"].as_array().unwrap().iter();
        all.map(|one| one["source"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let unused = ruff("/work/src/a.py", 1, "F401", "`os` imported but unused");
    let unread = ruff("/work/src/a.py", 1, "invalid-syntax", "Expected a parameter");
    for (text, stdout, expected) in [
        ("def f(:\n    pass\n", unread.as_str(), vec!["ruff", "syntax"]),
        // It may have left the file out.
        ("def f(:\n    pass\n", "", vec!["syntax"]),
        // Whatever the grammar thinks of it.
        ("def f(:\n    pass\n", &unused, vec!["ruff"]),
    ] {
        let host = python();
        host.write("src/a.py", text);
        host.answer_checks([report(i32::from(!stdout.is_empty()), stdout, "")]);
        let output = lint(&host, "src/a.py");
        assert_eq!((&output["tools"][0]["status"], commands(&host).len()), (&json!("ran"), 1));
        assert_eq!(sources(&output), expected, "{output}");
        assert_eq!(output["status"], "findings");
    }
}

#[test]
fn a_linter_of_the_project_reports_in_the_one_shape() {
    let host = python();
    let stdout = ruff("/work/src/b.py", 1, "F401", "`os` imported but unused")
        + &ruff("/work/src/a.py", 3, "F821", "Undefined name `z`")
        + &ruff("/usr/lib/python3/x.py", 3, "F401", "elsewhere");
    host.answer_checks([report(1, &stdout, "")]);
    let output = lint(&host, "src/a.py");
    let ran = "ruff check --no-fix --no-cache --output-format=json-lines .";
    assert_eq!(commands(&host), [(ran.to_owned(), ".".to_owned())]);
    // Errors of other files are shown behind those that were asked about.
    assert_eq!(places(&output), ["src/a.py:3 F821", "src/b.py:1 F401"]);
    assert_eq!(output["totals"], json!({"error": 1, "warning": 0, "info": 0, "hint": 0}));
    assert_eq!((&output["sources"], &output["elsewhere"]), (&json!({"ruff": 1}), &json!(1)));
    assert!(output["notes"][0].as_str().unwrap().contains("outside of the workspace"), "{output}");
    assert_eq!(output["diagnostics"][0].get("new"), None);
    assert_eq!(output["tools"][0]["reason"], "`[tool.ruff` in pyproject.toml");
}

#[test]
fn columns_are_characters_whatever_the_tool_counts() {
    let host = MemoryHost::new([
        ("web/eslint.config.js", ""),
        ("web/package.json", "{}"),
        ("web/a.js", "let x = \"\u{1f600}\"; let unused = 1;\n"),
    ]);
    let stdout = json!([{
        "filePath": "/work/web/a.js",
        "messages": [{
            "ruleId": "no-unused-vars", "severity": 2, "message": "unused", "line": 1, "column": 19,
            "endLine": 1, "endColumn": 25, "fix": {"range": [14, 29], "text": ""},
        }],
        "source": "let x = \"\u{1f600}\"; let unused = 1;\n",
    }]);
    host.answer_checks([report(1, &stdout.to_string(), "")]);
    let output = lint(&host, "web/a.js");
    assert_eq!(commands(&host), [("eslint -f json -- a.js".to_owned(), "web".to_owned())]);
    let found = &output["diagnostics"][0];
    assert_eq!((&found["column"], &found["end_column"]), (&json!(18), &json!(24)));
    let edit = &found["fixes"][0]["edits"][0];
    assert_eq!((&edit["column"], &edit["end_column"]), (&json!(14), &json!(29)));
    assert_eq!(found["fixes"][0]["safety"], "safe");
}

#[test]
fn what_is_new_and_what_went_away_is_known_from_the_last_check() {
    let host = python();
    let before = ruff("/work/src/a.py", 1, "F401", "`os` imported but unused")
        + &ruff("/work/src/a.py", 3, "F821", "Undefined name `z`");
    host.answer_checks([report(1, &before, "")]);
    assert_eq!(lint(&host, "src/a.py")["tools"][0]["compared"], false);
    // Lines are inserted above, the import is gone, something else came.
    host.write("src/a.py", "\n\n\nx = 1\ny = z\nw = v\n");
    let now = ruff("/work/src/a.py", 5, "F821", "Undefined name `z`")
        + &ruff("/work/src/a.py", 6, "F821", "Undefined name `v`");
    host.answer_checks([report(1, &now, ""), report(0, "", ""), report(2, "", "ruff crashed")]);
    let output = lint(&host, "src/a.py");
    assert_eq!(places(&output), ["src/a.py:6 F821", "src/a.py:5 F821"], "new ones first");
    assert_eq!(output["diagnostics"][0]["new"], true);
    assert_eq!(output["diagnostics"][1]["new"], false);
    assert_eq!((&output["new_total"], &output["resolved_total"]), (&json!(1), &json!(1)));
    assert_eq!(output["resolved"][0]["code"], "F401");
    assert_eq!(output["tools"][0]["compared"], true);
    // All of it is fixed; then the linter fails, and what it found before is not called resolved.
    assert_eq!(lint(&host, "src/a.py")["resolved_total"], 2);
    let failed = lint(&host, "src/a.py");
    assert_eq!((&failed["status"], &failed["resolved_total"]), (&json!("incomplete"), &json!(0)));
    assert_eq!(failed["tools"][0]["compared"], false);
}

#[test]
fn a_linter_that_fails_is_no_finding_and_never_clean() {
    let network = "error: failed to download `serde`: Could not resolve host: example";
    for (ended, status, says, hint) in [
        (
            report(127, "", "bash: line 1: ruff: command not found"),
            "not_installed",
            "`ruff` is not",
            "pip install ruff",
        ),
        (
            report(2, "", "\u{1b}[31mruff failed\u{1b}[0m\n  Cause: bad config"),
            "failed",
            "2, and it found nothing",
            "run_terminal_cmd",
        ),
        (report(101, "", "thread 'main' panicked"), "failed", "panicked", "run_terminal_cmd"),
        (report(1, "", network), "failed", "resolve host", "network"),
        (report(1, "{\"code\":\"F4", ""), "failed", "not whole JSON", "run_terminal_cmd"),
        (report(1, "", ""), "failed", "1, and it found nothing", "run_terminal_cmd"),
        (CheckReport { is_cut: true, ..report(1, "", "") }, "failed", "16 MiB", "run_terminal_cmd"),
    ] {
        let host = python();
        host.answer_checks([ended]);
        let output = lint(&host, "src/a.py");
        let tool = &output["tools"][0];
        assert_eq!(
            (&output["status"], &tool["status"]),
            (&json!("incomplete"), &json!(status)),
            "{output}"
        );
        assert!(tool["message"].as_str().unwrap().contains(says), "{output}");
        assert!(!tool["message"].as_str().unwrap().contains('\u{1b}'), "{output}");
        assert!(tool["hint"].as_str().unwrap().contains(hint), "{output}");
        assert_eq!(output["diagnostics"], json!([]));
    }
    let host = python();
    host.answer_checks([report(0, "", "")]);
    assert_eq!(lint(&host, "src/a.py")["status"], "clean");
    // What is found although not everything could be checked stays found.
    let host = python();
    host.answer_checks([report(
        2,
        &ruff("/work/src/a.py", 1, "F401", "unused"),
        "and then it crashed",
    )]);
    let output = lint(&host, "src/a.py");
    assert_eq!(
        (&output["status"], &output["tools"][0]["status"]),
        (&json!("findings"), &json!("incomplete"))
    );
}

#[test]
fn fifty_thousand_findings_are_counted_and_a_hundred_shown() {
    let host = python();
    let stdout: String = (1..=50_000)
        .map(|line| ruff("src/a.py", line, "E501", &"x".repeat(line as usize % 7)))
        .collect();
    host.answer_checks([report(1, &stdout, "")]);
    let output = lint(&host, "src/a.py");
    assert_eq!(output["totals"]["error"], 50_000);
    assert_eq!(output["diagnostics"].as_array().unwrap().len(), 100);
    assert_eq!(output["not_shown"], 49_900);
    assert_eq!(places(&output)[0], "src/a.py:1 E501");
    assert!(output.to_string().len() < 100_000, "{}", output.to_string().len());
    // Long texts show fewer.
    let host = python();
    let long: String =
        (1..=200).map(|line| ruff("src/a.py", line, "E501", &"x".repeat(9_000))).collect();
    host.answer_checks([report(1, &long, "")]);
    let output = lint(&host, "src/a.py");
    assert!(output.to_string().len() < 100_000, "{}", output.to_string().len());
    assert_eq!(output["totals"]["error"], 200);
}

#[test]
fn files_that_may_not_be_read_are_not_in_the_result() {
    let host = python();
    host.write("src/secret.py", "key = 'abc'\n");
    host.deny("src/secret.py");
    let stdout = ruff("src/secret.py", 1, "S105", "hardcoded password: 'abc'")
        + &ruff("src/a.py", 1, "F401", "unused");
    host.answer_checks([report(1, &stdout, "")]);
    let output = lint(&host, "src");
    assert_eq!(places(&output), ["src/a.py:1 F401"]);
    assert!(!output.to_string().contains("abc"), "{output}");
    assert!(
        output.to_string().contains("1 findings are in files that may not be read"),
        "{output}"
    );
    assert_eq!(output["tools"][0]["findings"], 1);
}

#[test]
fn names_with_blanks_quotes_and_line_breaks_stay_one_word() {
    for (name, word) in [
        ("it's a.sh", "'it'\\''s a.sh'"),
        ("-rf.sh", "./-rf.sh"),
        ("a$(id).sh", "'a$(id).sh'"),
        ("a;b.sh", "'a;b.sh'"),
    ] {
        let host = MemoryHost::new([(".shellcheckrc", ""), ("ok.sh", "true\n")]);
        host.write(name, "true\n");
        host.answer_checks([report(0, "{\"comments\":[]}", "")]);
        let output = lint(&host, name);
        assert_eq!(commands(&host), [(format!("shellcheck -f json1 -- {word}"), ".".to_owned())]);
        assert_eq!(output["status"], "clean");
    }
}

#[test]
fn linters_are_those_of_the_nearest_configuration_and_of_the_files() {
    let files = [
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"core\"]\n[workspace.lints.clippy]\nall = \"warn\"\n",
        ),
        ("core/Cargo.toml", "[package]\nname = \"core\"\n"),
        ("core/src/lib.rs", "fn a() {}\n"),
        ("web/package.json", "{\"devDependencies\": {\"oxlint\": \"1\"}}"),
        ("web/tsconfig.json", "{}"),
        ("web/node_modules/.bin/tsc", ""),
        ("web/app/a.ts", "export const a = 1;\n"),
        ("api/go.mod", "module m\n"),
        ("api/a.go", "package m\n"),
        ("api/.golangci.yml", "version: \"2\"\n"),
        ("docs/a.md", "# A\n"),
        ("docs/.markdownlint.json", "{}"),
        ("docs/Dockerfile", "FROM a\n"),
        ("docs/.hadolint.yaml", ""),
    ];
    let clippy = "cargo clippy --offline --quiet --all-targets --message-format=json";
    let clippy_of_all =
        "cargo clippy --workspace --offline --quiet --all-targets --message-format=json";
    for (path, expected) in [
        ("core/src/lib.rs", vec![(clippy, "core")]),
        ("core/Cargo.toml", vec![(clippy, "core")]),
        (
            "web/app/a.ts",
            vec![
                ("node_modules/.bin/tsc --noEmit --pretty false -p .", "web"),
                ("oxlint --format=json .", "web"),
            ],
        ),
        (
            "api/a.go",
            vec![("golangci-lint run --output.json.path=stdout --show-stats=false ./...", "api")],
        ),
        ("docs/a.md", vec![("markdownlint --json -- a.md", "docs")]),
        ("docs/Dockerfile", vec![("hadolint -f json -- Dockerfile", "docs")]),
        ("web/package.json", vec![]),
        (
            ".",
            vec![
                (clippy_of_all, "."),
                ("node_modules/.bin/tsc --noEmit --pretty false -p .", "web"),
                ("oxlint --format=json .", "web"),
                ("golangci-lint run --output.json.path=stdout --show-stats=false ./...", "api"),
                ("markdownlint --json -- a.md", "docs"),
                ("hadolint -f json -- Dockerfile", "docs"),
            ],
        ),
    ] {
        let host = MemoryHost::new(files);
        lint(&host, path);
        let expected: Vec<_> =
            expected.into_iter().map(|(text, at)| (text.to_owned(), at.to_owned())).collect();
        assert_eq!(commands(&host), expected, "{path}");
    }
}

#[test]
fn messages_of_cargo_are_in_the_workspace_of_the_package() {
    let host = MemoryHost::new([
        ("Cargo.toml", "[workspace]\nmembers = [\"core\"]\n"),
        ("core/Cargo.toml", "[package]\nname = \"core\"\n"),
        ("core/src/lib.rs", "fn a() {}\n"),
    ]);
    let message = json!({"reason": "compiler-message", "message": {
        "level": "warning", "message": "unused", "code": {"code": "dead_code"}, "children": [],
        "spans": [{"file_name": "core/src/lib.rs", "is_primary": true, "line_start": 1, "line_end": 1,
            "column_start": 4, "column_end": 5}],
    }});
    host.answer_checks([report(0, &format!("{message}\n"), "")]);
    let output = lint(&host, "core/src/lib.rs");
    assert_eq!(places(&output), ["core/src/lib.rs:1 dead_code"]);
}

#[test]
fn linters_of_the_configuration_run_where_it_says() {
    let linter = |format, files: &[&str], when: &[&str]| ConfiguredLinter {
        name: "own".to_owned(),
        command: "own-lint --out=x {path}".to_owned(),
        format,
        files: files.iter().map(|name| (*name).to_owned()).collect(),
        when: when.iter().map(|name| (*name).to_owned()).collect(),
        codes: vec![1, 4],
    };
    let host = MemoryHost::new([("app/own.yml", ""), ("app/src/A.kt", "val a = 1\n")]);
    host.configure_linters([linter(ConfiguredFormat::Checkstyle, &["*.kt"], &["own.yml"])]);
    let xml = "<?xml version=\"1.0\"?><checkstyle><file name=\"src/A.kt\">\
               <error line=\"1\" column=\"5\" severity=\"warning\" message=\"a &lt; b\" source=\"naming\"/></file></checkstyle>";
    host.answer_checks([report(1, xml, "")]);
    let output = lint(&host, "app/src/A.kt");
    assert_eq!(commands(&host), [("own-lint --out=x src/A.kt".to_owned(), "app".to_owned())]);
    assert_eq!(places(&output), ["app/src/A.kt:1 naming"]);
    assert_eq!(output["diagnostics"][0]["message"], "a < b");
    assert_eq!(output["diagnostics"][0]["source"], "own");
    // Its exit statuses are those of its configuration.
    for (code, status) in [(4, "ran"), (2, "incomplete")] {
        host.answer_checks([report(code, xml, "")]);
        assert_eq!(lint(&host, "app/src/A.kt")["tools"][0]["status"], status);
    }
    let host = MemoryHost::new([("a.txt", "x\n")]);
    host.configure_linters([
        linter(ConfiguredFormat::Gnu, &[], &[]),
        linter(ConfiguredFormat::Sarif, &["*.kt"], &[]),
    ]);
    host.answer_checks([report(1, "", "a.txt:1:1: warning: bad word [words]\n")]);
    let output = lint(&host, "a.txt");
    assert_eq!(places(&output), ["a.txt:1 words"]);
    assert_eq!(commands(&host).len(), 1);
}

#[test]
fn what_nothing_checks_is_not_called_clean() {
    let output = lint(&python(), "notes.txt");
    assert_eq!((&output["status"], &output["tools"]), (&json!("unchecked"), &json!([])));
    assert!(output["notes"][0].as_str().unwrap().contains("[linters]"), "{output}");
    let host = python();
    host.set_dry_run();
    let output = lint(&host, "src");
    assert_eq!(
        (&output["status"], &output["tools"][0]["status"]),
        (&json!("incomplete"), &json!("not_run"))
    );
    for (path, code) in [
        ("missing.py", ErrorCode::NotFound),
        ("../x.py", ErrorCode::OutsideWorkspace),
        ("", ErrorCode::InvalidPath),
    ] {
        assert_eq!(refused(&python(), "lint_check", json!({ "path": path })).code, code, "{path}");
    }
}

/// What runs for a path, of which linters find nothing.
fn planned(files: &[(&str, &str)], path: &str) -> Vec<String> {
    let host = MemoryHost::new(files.iter().copied());
    let output = lint(&host, path);
    let tools = output["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| format!("{}: {}", tool["directory"], tool["command"]).replace('"', ""))
        .collect()
}

#[test]
fn a_configuration_of_tsc_that_only_refers_to_others_is_not_called_clean() {
    let refers = "// By Vite.\n{ \"files\": [], \"references\": [{ \"path\": \"./tsconfig.app.json\" }, \
                  { \"path\": \"./tsconfig.node.json\" },] }";
    let tsc = |project: &str| format!("web: tsc --noEmit --pretty false -p {project}");
    let files = |text| [("web/tsconfig.json", text), ("web/src/a.ts", "export const a = 1;\n")];
    let both = [tsc("tsconfig.app.json"), tsc("tsconfig.node.json")];
    assert_eq!(planned(&files(refers), "web/src/a.ts"), both);
    assert_eq!(planned(&files(refers), "."), both);
    // Beside files of its own those of its directory count, and no dependencies.
    let own = "{ \"include\": [\"src\"], \"references\": [{ \"path\": \"./tsconfig.node.json\" }, \
               { \"path\": \"../core\" }] }";
    assert_eq!(planned(&files(own), "web"), [tsc("."), tsc("tsconfig.node.json")]);
    for plain in ["{}", "{ broken", "{ \"files\": [] }"] {
        assert_eq!(planned(&files(plain), "web"), [tsc(".")], "{plain}");
    }
    // What it refers to and lies in the path is planned by its own configuration, once.
    let around = "{ \"files\": [], \"references\": [{ \"path\": \"packages/core/\" }] }";
    let nested = [
        ("tsconfig.json", around),
        ("packages/core/tsconfig.json", "{}"),
        ("packages/core/a.ts", ""),
    ];
    let core = "packages/core: tsc --noEmit --pretty false -p .";
    assert_eq!(planned(&nested, "."), [core]);
}

#[test]
fn linters_are_looked_for_however_deep_their_configuration_lies() {
    let ts = "export const a = 1;\n";
    let files = [
        ("package.json", "{}"),
        ("node_modules/.bin/tsc", ""),
        ("node_modules/x/tsconfig.json", "{}"),
        ("packages/web/tsconfig.json", "{}"),
        ("packages/web/a.ts", ts),
    ];
    let deep = "packages/web: ../../node_modules/.bin/tsc --noEmit --pretty false -p .";
    assert_eq!(planned(&files, "."), [deep]);
    assert_eq!(planned(&files, "packages"), [deep]);
    // One found around does not stop the search, but where it checks that, too.
    let files = [
        ("tsconfig.json", "{}"),
        (".yamllint", ""),
        ("a.ts", ts),
        ("b/c/tsconfig.json", "{}"),
        ("b/c/.yamllint", ""),
        ("b/c/a.ts", ts),
        ("b/c/a.yaml", "a: 1\n"),
    ];
    let all = [
        ".: tsc --noEmit --pretty false -p .",
        "b/c: tsc --noEmit --pretty false -p .",
        ".: yamllint -f parsable -- .",
    ];
    assert_eq!(planned(&files, "."), all);
}

#[test]
fn packages_of_cargo_are_checked_once_and_all_of_them() {
    let words = "--offline --quiet --all-targets --message-format=json";
    let workspace =
        "[package]\nname = \"a\"\n[workspace]\nmembers = [\"b\"]\nexclude = [\n  \"fuzz\",\n]\n";
    let files = [
        ("Cargo.toml", workspace),
        ("src/lib.rs", ""),
        ("b/Cargo.toml", "[package]\nname = \"b\"\n"),
        ("b/src/lib.rs", ""),
        ("fuzz/Cargo.toml", "[package]\nname = \"f\"\n"),
        ("fuzz/src/main.rs", ""),
    ];
    let all = [format!(".: cargo check --workspace {words}"), format!("fuzz: cargo check {words}")];
    assert_eq!(planned(&files, "."), all);
    assert_eq!(planned(&files, "b"), [format!("b: cargo check {words}")]);
}

#[test]
fn what_is_left_out_of_a_check_makes_it_incomplete() {
    let scripts: Vec<String> = (0..61).map(|number| format!("s/{number:02}.sh")).collect();
    let host = MemoryHost::new([(".shellcheckrc", "")]);
    scripts.iter().for_each(|script| host.write(script, "true\n"));
    host.answer_checks([report(0, "{\"comments\":[]}", "")]);
    let output = lint(&host, "s");
    assert_eq!(
        (&output["status"], &output["tools"][0]["status"]),
        (&json!("incomplete"), &json!("incomplete"))
    );
    assert!(output["tools"][0]["message"].as_str().unwrap().contains("50 of 61"), "{output}");

    let host = MemoryHost::new([("a.md", "# A\n")]);
    for number in 0..22 {
        host.write(&format!("p{number:02}/tsconfig.json"), "{}");
        host.write(&format!("p{number:02}/a.ts"), "export const a = 1;\n");
    }
    host.answer_checks((0..20).map(|_| report(0, "", "")));
    let output = lint(&host, ".");
    assert_eq!(output["status"], "incomplete", "{output}");
    assert_eq!(output["tools"].as_array().unwrap().len(), 20);
    assert!(output["notes"].to_string().contains("tsc in p20, tsc in p21"), "{output}");
}

#[test]
fn what_two_projects_find_in_one_file_is_one_finding() {
    let host = MemoryHost::new([
        ("tsconfig.json", "{}"),
        ("b/tsconfig.json", "{}"),
        ("b/a.ts", "export const a = 1;\n"),
    ]);
    host.answer_checks([
        report(2, "b/a.ts(1,1): error TS1: no\n", ""),
        report(2, "a.ts(1,1): error TS1: no\na.ts(1,2): error TS1: no\n", ""),
    ]);
    let output = lint(&host, ".");
    assert_eq!(output["totals"]["error"], 2, "{output}");
}

#[test]
fn a_file_that_eslint_ignores_is_not_its_to_check() {
    // What no grammar parses either is not clean.
    for (name, status) in [("dist/a.js", "clean"), ("dist/a.vue", "unchecked")] {
        let host = MemoryHost::new([("eslint.config.js", ""), (name, "let a = 1;\n")]);
        let ignored =
            "File ignored because of a matching ignore pattern. Use \"--no-ignore\" to override.";
        let stdout = json!([{
            "filePath": format!("/work/{name}"),
            "messages": [{ "ruleId": null, "fatal": false, "severity": 1, "message": ignored }],
        }]);
        host.answer_checks([report(0, &stdout.to_string(), "")]);
        let output = lint(&host, name);
        assert_eq!((&output["status"], &output["diagnostics"]), (&json!(status), &json!([])));
        assert_eq!(output["tools"][0]["status"], "ran", "{output}");
        let note = format!("eslint does not check {name}: File ignored because of a matching");
        assert!(output["notes"].to_string().contains(&note), "{output}");
    }
}
