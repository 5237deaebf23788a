//! `lint_check` with real linters: of each a project that is clean, one with findings, one that does not parse, one
//! without any file for it, and where it has one that can be broken a configuration with which it cannot check. Rules and lines
//! are those that the linter itself prints.
//!
//! Those that cargo, pip and npm bring run always; `MOSS_TEST_LINTERS=all` runs those of the system, too.

use serde_json::{Value, json};

use crate::frameworks::samples::SampleOrigin;
use crate::frameworks::{is_installed, serve_with_tools, share_modules};
use crate::harness::{Client, Site};
use crate::run_terminal_cmd::ALLOWING;

/// What runs all of them.
const ALL: &str = "MOSS_TEST_LINTERS";

/// A project with one linter.
struct LintSample {
    /// As results name it.
    linter: &'static str,
    directory: &'static str,
    origin: SampleOrigin,
    files: &'static [(&'static str, &'static str)],
    /// The file that is checked, without and with something wrong.
    file: &'static str,
    clean: &'static str,
    wrong: &'static str,
    /// The line, the rule and the severity of what is wrong.
    found: &'static [(u64, &'static str, &'static str)],
    /// What of its configuration cannot be read.
    broken: Option<(&'static str, &'static str)>,
    /// What does not parse, where anything does not, and the rule by which the linter says so; empty where a grammar of
    /// moss does.
    unparsable: Option<(&'static str, &'static str)>,
    /// What is said of a project without any file for it: `clean` where its configuration is one that a grammar or the
    /// linter itself checks.
    empty: &'static str,
}

const CLIPPY: &str = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                      [lints.clippy]\nall = \"warn\"\n";
const CHECK: &str =
    "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
const NO_MANIFEST: &str = "[package]\nname = 3\n";

const SAMPLES: &[LintSample] = &[
    LintSample {
        linter: "clippy",
        directory: "clippy",
        origin: SampleOrigin::Packages,
        files: &[("Cargo.toml", CLIPPY)],
        file: "src/lib.rs",
        clean: "pub fn empty(v: &[u8]) -> bool {\n    v.is_empty()\n}\n",
        wrong: "pub fn empty(v: &[u8]) -> bool {\n    v.len() == 0\n}\n",
        found: &[(2, "clippy::len_zero", "warning")],
        broken: Some(("Cargo.toml", NO_MANIFEST)),
        unparsable: Some(("pub fn (\n", "")),
        empty: "incomplete",
    },
    LintSample {
        linter: "cargo check",
        directory: "check",
        origin: SampleOrigin::Packages,
        files: &[("Cargo.toml", CHECK)],
        file: "src/lib.rs",
        clean: "pub fn used() {}\n",
        wrong: "pub fn used() -> u32 {\n    \"no\"\n}\n",
        found: &[(2, "E0308", "error")],
        broken: Some(("Cargo.toml", NO_MANIFEST)),
        unparsable: Some(("pub fn (\n", "")),
        empty: "incomplete",
    },
    LintSample {
        linter: "ruff",
        directory: "ruff",
        origin: SampleOrigin::Packages,
        files: &[("ruff.toml", "lint.select = [\"F\"]\n")],
        file: "a.py",
        clean: "x = 1\n",
        wrong: "x = 1\nimport os\n",
        found: &[(2, "F401", "error")],
        broken: Some(("ruff.toml", "lint.select = 3\n")),
        unparsable: Some(("def (\n", "")),
        empty: "clean",
    },
    LintSample {
        linter: "mypy",
        directory: "mypy",
        origin: SampleOrigin::Packages,
        files: &[("mypy.ini", "[mypy]\nstrict = true\n")],
        file: "a.py",
        clean: "def f(x: int) -> int:\n    return x\n",
        wrong: "def f(x: int) -> str:\n    return x\n",
        found: &[(2, "return-value", "error")],
        broken: Some(("mypy.ini", "[mypy]\nplugins = missing_plugin\n")),
        unparsable: Some(("def (\n", "")),
        empty: "unchecked",
    },
    LintSample {
        linter: "pyright",
        directory: "pyright",
        origin: SampleOrigin::Npm,
        files: &[("pyrightconfig.json", "{}\n")],
        file: "a.py",
        clean: "def f(x: int) -> int:\n    return x\n",
        wrong: "def f(x: int) -> str:\n    return x\n",
        found: &[(2, "reportReturnType", "error")],
        broken: Some(("pyrightconfig.json", "{\n")),
        unparsable: Some(("def (\n", "")),
        empty: "clean",
    },
    LintSample {
        linter: "eslint",
        directory: "eslint",
        origin: SampleOrigin::Npm,
        files: &[(
            "eslint.config.mjs",
            "export default [{ rules: { 'no-unused-vars': 'error' } }];\n",
        )],
        file: "a.js",
        clean: "export const x = 1;\n",
        wrong: "export const x = 1;\nlet unused = 2;\n",
        found: &[(2, "no-unused-vars", "error")],
        broken: Some(("eslint.config.mjs", "throw new Error('no configuration');\n")),
        unparsable: Some(("let = ;\n", "")),
        empty: "clean",
    },
    LintSample {
        linter: "tsc",
        directory: "tsc",
        origin: SampleOrigin::Npm,
        files: &[("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"types\": []}}\n")],
        file: "a.ts",
        clean: "export const x: number = 1;\n",
        wrong: "\nexport const x: number = \"no\";\n",
        found: &[(2, "TS2322", "error")],
        broken: None,
        unparsable: Some(("let = ;\n", "")),
        empty: "clean",
    },
    LintSample {
        linter: "biome",
        directory: "biome",
        origin: SampleOrigin::Npm,
        files: &[("biome.json", "{}\n")],
        file: "a.js",
        clean: "export const x = 1;\n",
        wrong: "export const x = 1;\ndebugger;\n",
        found: &[(2, "lint/suspicious/noDebugger", "error")],
        broken: Some(("biome.json", "{ \"linter\": 3 }\n")),
        unparsable: Some(("let = ;\n", "")),
        empty: "clean",
    },
    LintSample {
        linter: "oxlint",
        directory: "oxlint",
        origin: SampleOrigin::Npm,
        files: &[(".oxlintrc.json", "{ \"rules\": { \"no-debugger\": \"error\" } }\n")],
        file: "a.js",
        clean: "export const x = 1;\n",
        wrong: "export const x = 1;\ndebugger;\n",
        found: &[(2, "eslint(no-debugger)", "error")],
        broken: Some((".oxlintrc.json", "{ \"rules\": 3 }\n")),
        unparsable: Some(("let = ;\n", "")),
        empty: "clean",
    },
    LintSample {
        linter: "yamllint",
        directory: "yamllint",
        origin: SampleOrigin::Packages,
        files: &[(".yamllint", "rules:\n  key-duplicates: enable\n")],
        file: "a.yaml",
        clean: "a: 1\nb: 2\n",
        wrong: "a: 1\na: 2\n",
        found: &[(2, "key-duplicates", "error")],
        broken: Some((".yamllint", "rules: 3\n")),
        unparsable: Some(("a: [1\n", "")),
        empty: "unchecked",
    },
    LintSample {
        linter: "shellcheck",
        directory: "shellcheck",
        origin: SampleOrigin::Packages,
        files: &[(".shellcheckrc", "")],
        file: "a.sh",
        clean: "#!/bin/sh\necho \"$1\"\n",
        wrong: "#!/bin/sh\necho $1\n",
        found: &[(2, "SC2086", "info")],
        broken: None,
        unparsable: Some(("if true; then\n", "SC1073")),
        empty: "unchecked",
    },
    LintSample {
        linter: "markdownlint",
        directory: "markdownlint",
        origin: SampleOrigin::Npm,
        files: &[(".markdownlint.json", "{ \"default\": false, \"MD009\": true }\n")],
        file: "a.md",
        clean: "# A\n",
        wrong: "# A\n\nend \n",
        found: &[(3, "MD009", "error")],
        // It passes over a configuration that it cannot read.
        broken: None,
        unparsable: None,
        empty: "clean",
    },
    LintSample {
        linter: "markdownlint-cli2",
        directory: "markdownlint-cli2",
        origin: SampleOrigin::Npm,
        files: &[(
            ".markdownlint-cli2.jsonc",
            "{ \"config\": { \"default\": false, \"MD009\": true } }\n",
        )],
        file: "a.md",
        clean: "# A\n",
        wrong: "# A\n\nend \n",
        found: &[(3, "MD009", "error")],
        broken: Some((".markdownlint-cli2.jsonc", "{\n")),
        unparsable: None,
        empty: "unchecked",
    },
    LintSample {
        linter: "hadolint",
        directory: "hadolint",
        origin: SampleOrigin::Packages,
        files: &[(".hadolint.yaml", "ignored: [DL3008]\n")],
        file: "Dockerfile",
        clean: "FROM debian:12.1\n",
        wrong: "FROM debian\n",
        found: &[(1, "DL3006", "warning")],
        broken: Some((".hadolint.yaml", "ignored: 3\n")),
        unparsable: Some(("FROM debian:12.1\nRUNN x\n", "DL1000")),
        empty: "clean",
    },
    LintSample {
        linter: "go vet",
        directory: "vet",
        origin: SampleOrigin::System { program: "go", install: "`apt install golang`" },
        files: &[("go.mod", "module example.com/a\n\ngo 1.19\n")],
        file: "a.go",
        clean: "package a\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\\n\", 1) }\n",
        wrong: "package a\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\\n\", \"no\") }\n",
        found: &[(5, "", "warning")],
        // What is wrong with `go.mod` has a place in it, and is a finding.
        broken: None,
        unparsable: Some(("package a\n\nfunc (\n", "")),
        empty: "unchecked",
    },
    LintSample {
        linter: "cppcheck",
        directory: "cppcheck",
        origin: SampleOrigin::System { program: "cppcheck", install: "`apt install cppcheck`" },
        files: &[("CMakeLists.txt", "set(CMAKE_C_CPPCHECK cppcheck)\n")],
        file: "a.c",
        clean: "int main(void) { return 0; }\n",
        wrong: "int main(void) {\n    int *p = 0;\n    return *p;\n}\n",
        found: &[(3, "nullPointer", "error")],
        broken: None,
        unparsable: Some(("int main( {\n", "syntaxError")),
        empty: "unchecked",
    },
    LintSample {
        linter: "clang-tidy",
        directory: "clang-tidy",
        origin: SampleOrigin::System { program: "clang-tidy", install: "`apt install clang-tidy`" },
        files: &[(".clang-tidy", "Checks: '-*,readability-braces-around-statements'\n")],
        file: "a.c",
        clean: "int main(void) { return 0; }\n",
        wrong: "int f(int a) {\n  if (a) return 1;\n  return 0;\n}\n",
        found: &[(2, "readability-braces-around-statements", "warning")],
        broken: None,
        unparsable: Some(("int main( {\n", "clang-diagnostic-error")),
        empty: "unchecked",
    },
    LintSample {
        linter: "rubocop",
        directory: "rubocop",
        origin: SampleOrigin::System { program: "rubocop", install: "`apt install rubocop`" },
        files: &[(
            ".rubocop.yml",
            "AllCops:\n  DisabledByDefault: true\nLint/UselessAssignment:\n  Enabled: true\n",
        )],
        file: "a.rb",
        clean: "puts 1\n",
        wrong: "def f\n  x = 1\nend\n",
        found: &[(2, "Lint/UselessAssignment", "warning")],
        broken: Some((".rubocop.yml", "inherit_from: missing.yml\n")),
        unparsable: Some(("def (\n", "")),
        empty: "clean",
    },
];

async fn lint(client: &Client, path: &str) -> Value {
    client.done("lint_check", json!({ "path": path })).await
}

/// The line, the rule and the severity of each diagnostic of a linter.
fn found(output: &Value) -> Vec<(u64, &str, &str)> {
    let all = output["diagnostics"].as_array().unwrap().iter();
    all.map(|one| {
        let word = |key: &str| one[key].as_str().unwrap_or_default();
        (one["line"].as_u64().unwrap(), word("code"), word("severity"))
    })
    .collect()
}

async fn check(site: &Site, client: &Client, sample: &LintSample) -> Vec<String> {
    let LintSample { linter, directory, files, file, .. } = sample;
    let inside = |path: &str| format!("{directory}/{path}");
    let mut wrong = Vec::new();
    let mut hold = |what: &str, holds: bool, said: &Value| {
        if !holds {
            wrong.push(format!("{linter}, {what}: {said}"));
        }
    };
    for (path, text) in *files {
        site.write(&inside(path), text);
    }
    site.write(&inside(file), sample.clean);
    let clean = lint(client, directory).await;
    let ran =
        |said: &Value| said["tools"][0]["name"] == *linter && said["tools"][0]["status"] == "ran";
    hold("clean", clean["status"] == "clean" && ran(&clean), &clean);
    site.write(&inside(file), sample.wrong);
    let bad = lint(client, &inside(file)).await;
    let is_located =
        bad["diagnostics"].as_array().unwrap().iter().all(|one| one["path"] == inside(file));
    hold("wrong", ran(&bad) && found(&bad) == sample.found && is_located, &bad);
    if let Some((text, rule)) = sample.unparsable {
        site.write(&inside(file), text);
        let said = lint(client, &inside(file)).await;
        // Where a grammar of moss reads it as well, both say so.
        let source = if rule.is_empty() { "syntax" } else { *linter };
        let mut all = said["diagnostics"].as_array().unwrap().iter();
        let is_said =
            all.any(|one| one["source"] == source && (rule.is_empty() || one["code"] == rule));
        // mypy checks nothing else where something does not parse, and says so.
        let is_run = match *linter {
            "mypy" => said["tools"][0]["status"] == "incomplete",
            _ => ran(&said),
        };
        hold("unparsable", said["status"] == "findings" && is_said && is_run, &said);
    }
    std::fs::remove_file(site.workspace().join(inside(file))).unwrap();
    let empty = lint(client, directory).await;
    let is_none = empty["diagnostics"] == json!([]);
    hold("empty", empty["status"] == sample.empty && is_none, &empty);
    if let Some((path, text)) = sample.broken {
        site.write(&inside(file), sample.clean);
        site.write(&inside(path), text);
        let broken = lint(client, directory).await;
        // That a configuration is no JSON is a finding of its grammar.
        let is_alone =
            broken["diagnostics"].as_array().unwrap().iter().all(|one| one["source"] == "syntax");
        hold("broken", broken["tools"][0]["status"] == "failed" && is_alone, &broken);
    }
    wrong
}

/// Checks the samples whose linters npm brings, or all others.
async fn check_samples(of_npm: bool) {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write(".gitignore", "node_modules\ntarget\n.mypy_cache\n");
    if of_npm {
        share_modules(&site);
    }
    let daemon = serve_with_tools(&site);
    let client = daemon.caller().await;
    let runs_all = std::env::var_os(ALL).is_some_and(|value| value == "all");
    let mut wrong = Vec::new();
    for sample in SAMPLES.iter().filter(|sample| sample.origin.is_npm() == of_npm) {
        match sample.origin {
            SampleOrigin::System { .. } if !runs_all => continue,
            SampleOrigin::System { program, install } if !is_installed(program) => {
                wrong.push(format!("{ALL}=all needs `{program}`: {install}"));
            }
            _ => wrong.extend(check(&site, &client, sample).await),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn what_each_linter_finds_is_what_a_result_says() {
    check_samples(false).await;
}

#[tokio::test]
async fn what_each_linter_of_npm_finds_is_what_a_result_says() {
    check_samples(true).await;
}
