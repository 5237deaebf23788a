//! What authors of plugins do: make a project, build it, check it, run its examples.
//!
//! What cargo, npm and pip install stays in the directory that `MOSS_TEST_PLUGIN_PROJECTS` names.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::harness::guests::zoo;
use crate::harness::{Ended, Site};

/// Longest wait for a build that begins with nothing, on a machine with much else to do.
const BUILD_BOUND: Duration = Duration::from_secs(600);
const NO_PROJECTS: &str = "MOSS_TEST_PLUGIN_PROJECTS is not set: it names where projects of plugins \
                           are built; run `cargo xtask test`";

/// A project that is laid over one of an earlier run: what was installed is used again.
fn project(name: &str, files: &Path) -> PathBuf {
    let projects = PathBuf::from(std::env::var_os("MOSS_TEST_PLUGIN_PROJECTS").expect(NO_PROJECTS));
    let project = projects.join(name);
    for directory in ["src", "vendor"] {
        let _ = std::fs::remove_dir_all(project.join(directory));
    }
    copy(files, &project);
    project
}

fn copy(from: &Path, to: &Path) {
    const INSTALLED: &[&str] = &["node_modules", ".venv", "dist", "target", "__pycache__"];
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(&name)).unwrap();
        } else if !INSTALLED.iter().any(|installed| name == *installed) {
            copy(&entry.path(), &to.join(&name));
        }
    }
}

/// Runs moss with the environment that cargo, npm and pip need.
fn moss(site: &Site, arguments: &[&str]) -> Ended {
    let mut command = site.command(arguments);
    let kept = ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "HOME"];
    let other = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["npm_config_", "pip_", "uv_", "http_proxy", "https_proxy", "ssl_cert", "cargo_registr"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    for (name, value) in std::env::vars_os() {
        let is_needed = name.to_str().is_some_and(|name| kept.contains(&name) || other(name));
        if is_needed {
            command.env(name, value);
        }
    }
    if let Some(target) = std::env::var_os("MOSS_TEST_PLUGIN_TARGET") {
        command.env("CARGO_TARGET_DIR", target);
    }
    Ended::of_slow(command.stdout(Stdio::piped()).stderr(Stdio::piped()), BUILD_BOUND)
}

/// Makes a project of a language.
fn new(site: &Site, language: &str, name: &str) -> PathBuf {
    let fresh = site.outside(name);
    let made = moss(site, &["plugin", "new", "--lang", language, name, fresh.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    project(language, &fresh)
}

/// Makes a project of a language, builds it, then an example in that language with the SDK of this
/// moss in its place, and runs what its tool says that it does.
fn builds(language: &str, example: &str, passed: u64) {
    let site = Site::new();
    let project = new(&site, language, "shout");
    let directory = project.to_str().unwrap();
    let built = moss(&site, &["plugin", "build", "--json", directory]);
    assert_eq!(built.code, Some(0), "{}{}", built.stdout, built.stderr);
    let built: Value = serde_json::from_str(&built.stdout).unwrap();
    assert_eq!(built["name"], "shout", "{built}");

    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins-example");
    self::project(language, &examples.join(example));
    let vendored = moss(&site, &["plugin", "vendor", directory]);
    assert_eq!(vendored.code, Some(0), "{}", vendored.stderr);
    let tested = moss(&site, &["plugin", "test", "--json", directory]);
    assert_eq!(tested.code, Some(0), "{}{}", tested.stdout, tested.stderr);
    let tested: Value = serde_json::from_str(&tested.stdout).unwrap();
    assert_eq!((&tested["passed"], &tested["failed"]), (&passed.into(), &0.into()), "{tested}");
    let component = tested["component"].as_str().unwrap();
    let checked = moss(&site, &["plugin", "check", "--json", component]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(checked["findings"], Value::Array(Vec::new()), "{checked}");
}

#[test]
fn a_project_in_rust_builds_as_it_is_and_its_example_holds() {
    let site = Site::new();
    let project = new(&site, "rust", "shout");
    // What the examples in Rust were built with is there already.
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins-example/Cargo.lock");
    std::fs::copy(lock, project.join("Cargo.lock")).unwrap();
    let directory = project.to_str().unwrap();
    let tested = moss(&site, &["plugin", "test", "--json", directory]);
    assert_eq!(tested.code, Some(0), "{}{}", tested.stdout, tested.stderr);
    let tested: Value = serde_json::from_str(&tested.stdout).unwrap();
    assert_eq!((&tested["passed"], &tested["failed"]), (&1.into(), &0.into()), "{tested}");
    let component = tested["component"].as_str().unwrap();
    let checked = moss(&site, &["plugin", "check", "--json", component]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(checked["findings"], Value::Array(Vec::new()), "{checked}");
}

#[test]
fn a_project_and_an_example_in_typescript_build_and_the_example_holds() {
    builds("ts", "json-diff", 2);
}

#[test]
fn a_project_and_an_example_in_python_build_and_the_example_holds() {
    builds("python", "requirements-report", 1);
}

#[test]
fn an_example_that_does_not_hold_is_told_with_what_differs() {
    let site = Site::new();
    let project = new(&site, "rust", "shout-wrongly");
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins-example/Cargo.lock");
    std::fs::copy(lock, project.join("Cargo.lock")).unwrap();
    let source = project.join("src/lib.rs");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, text.replace("json!(\"HO\")", "json!(\"HA\")")).unwrap();
    let tested = moss(&site, &["plugin", "test", project.to_str().unwrap()]);
    assert_eq!(tested.code, Some(1), "{}{}", tested.stdout, tested.stderr);
    for part in ["0 passed, 1 failed", "-\"HA\"", "+  \"result\": \"HO\""] {
        assert!(tested.stdout.contains(part), "{part}: {}", tested.stdout);
    }
}

#[test]
fn a_project_is_made_only_where_nothing_is_and_with_a_name_that_can_be_one() {
    let site = Site::new();
    let new = |name: &str| moss(&site, &["plugin", "new", "--lang", "python", name]);
    let bad = new("Word Count");
    assert_eq!(bad.code, Some(2));
    assert!(bad.stderr.contains("call it `word-count`"), "{}", bad.stderr);
    assert_eq!(new("word-count").code, Some(0));
    assert!(site.workspace().join("word-count/vendor/moss/moss/__init__.py").exists());
    let again = new("word-count");
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("is there already"), "{}", again.stderr);
    let unknown = moss(&site, &["plugin", "build", "."]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("neither Cargo.toml"), "{}", unknown.stderr);
}

#[test]
fn a_component_is_checked_and_what_is_no_plugin_is_refused() {
    let site = Site::new();
    let file = |name: &str, bytes: &[u8]| {
        let file = site.outside(name);
        std::fs::write(&file, bytes).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let checked = moss(&site, &["plugin", "check", "--json", &file("zoo.wasm", &zoo("polite"))]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    let codes: Vec<_> =
        checked["findings"].as_array().unwrap().iter().map(|finding| &finding["code"]).collect();
    assert!(codes.contains(&&Value::from("examples-missing")), "{codes:?}");
    let text = file("text.wasm", b"not one");
    for command in ["check", "test"] {
        let refused = moss(&site, &["plugin", command, &text]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains("not WebAssembly"), "{}", refused.stderr);
    }
    assert_eq!(moss(&site, &["plugin", "test", "nowhere.wasm"]).code, Some(1));
}
