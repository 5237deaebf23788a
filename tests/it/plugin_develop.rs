//! What authors of plugins do: make a project, build it, check it, run its examples.
//!
//! What cargo, npm and pip install stays in the directory that `MOSS_TEST_PLUGIN_PROJECTS` names.

mod languages;

use std::io::{BufRead as _, BufReader, Lines};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::guests::zoo;
use crate::harness::{Ended, Site, keep_code, plugin, until};

/// Longest wait for a build that begins with nothing, on a machine with much else to do.
const BUILD_BOUND: Duration = Duration::from_secs(600);
const NO_PROJECTS: &str = "MOSS_TEST_PLUGIN_PROJECTS is not set: it names where projects of plugins \
                           are built; run `cargo xtask test`";

/// A project of a language, in whose directory no other test works meanwhile.
struct Project {
    directory: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Project {
    /// Lays files over a project of an earlier run: what was installed is used again.
    fn of(language: &'static str, files: &Path) -> Self {
        static TURNS: [Mutex<()>; 3] = [const { Mutex::new(()) }; 3];
        let index = ["rust", "ts", "python"].iter().position(|one| *one == language).unwrap();
        let turn = TURNS[index].lock().unwrap_or_else(PoisonError::into_inner);
        let directory = projects().join(language);
        for owned in ["src", "vendor"] {
            let _ = std::fs::remove_dir_all(directory.join(owned));
        }
        copy(files, &directory);
        Self { directory, _turn: turn }
    }

    fn path(&self) -> &str {
        self.directory.to_str().unwrap()
    }
}

fn projects() -> PathBuf {
    PathBuf::from(std::env::var_os("MOSS_TEST_PLUGIN_PROJECTS").expect(NO_PROJECTS))
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// A machine on which a component of 20 MB is compiled however long that takes.
fn patient() -> Site {
    let site = Site::new();
    site.config("[plugins]\ncompile_timeout_ms = 600_000\n");
    site
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

/// Prepares moss with the environment that cargo, npm and pip need.
fn building(site: &Site, arguments: &[&str]) -> Command {
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
    command
}

fn moss(site: &Site, arguments: &[&str]) -> Ended {
    let mut command = building(site, arguments);
    Ended::of_slow(command.stdout(Stdio::piped()).stderr(Stdio::piped()), BUILD_BOUND)
}

/// Makes a project of a language.
fn new(site: &Site, language: &'static str, name: &str) -> Project {
    let fresh = site.outside(name);
    let made = moss(site, &["plugin", "new", "--lang", language, name, fresh.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    Project::of(language, &fresh)
}

/// Runs a command of moss that prints an object.
fn shown(site: &Site, arguments: &[&str]) -> Value {
    let ended = moss(site, arguments);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Builds a project and holds it to its examples; nothing could be better about it.
fn holds(site: &Site, project: &Project, passed: u64) {
    let tested = shown(site, &["plugin", "test", "--json", project.path()]);
    assert_eq!((&tested["passed"], &tested["failed"]), (&passed.into(), &0.into()), "{tested}");
    let checked = shown(site, &["plugin", "check", "--json", project.path()]);
    assert_eq!(checked["findings"], Value::Array(Vec::new()), "{checked}");
    assert_eq!(checked["sha256"], tested["sha256"], "it was not built again");
}

/// Makes a project of a language, builds it, then an example in that language with the SDK of this
/// moss in its place, and runs what its tool says that it does.
fn builds(language: &'static str, example: &str, passed: u64) {
    let site = patient();
    let project = new(&site, language, "shout");
    let built = shown(&site, &["plugin", "build", "--json", project.path()]);
    assert_eq!(built["name"], "shout", "{built}");
    drop(project);
    let example = Project::of(language, &repository("plugins-example").join(example));
    shown(&site, &["plugin", "vendor", "--json", example.path()]);
    holds(&site, &example, passed);
}

#[test]
fn a_project_and_an_example_in_typescript_build_and_the_example_passes() {
    builds("ts", "json-diff", 2);
}

#[test]
fn a_project_and_an_example_in_python_build_and_the_example_passes() {
    builds("python", "requirements-report", 1);
}

/// What `moss plugin dev` says, one object a round.
struct Rounds {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Rounds {
    fn begin(site: &Site, project: &Project) -> Self {
        let mut command = building(site, &["plugin", "dev", "--json", project.path()]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_in_rust_holds_as_it_is_and_is_tried_again_after_every_change() {
    let site = patient();
    let project = new(&site, "rust", "shout");
    // What the examples in Rust were built with is there already.
    let lock = repository("plugins-example/Cargo.lock");
    std::fs::copy(lock, project.directory.join("Cargo.lock")).unwrap();
    holds(&site, &project, 1);
    let add = ["plugin", "add", project.path(), "--grant-requested", "--yes"];
    let added = moss(&site, &[&add[..], &["--rename", "shout=yell"]].concat());
    assert_eq!(added.code, Some(0), "{added:?}");

    // Tools keep the names that the list gives them.
    let mut rounds = Rounds::begin(&site, &project);
    let first = rounds.next();
    assert_eq!(first["examples"][0]["passed"], true, "{first}");
    let call = || site.run(&["call", "yell", "text=hello", "--json"]).stdout;
    until("it serves", async || call().contains("\"HELLO\"")).await;
    let source = project.directory.join("src/lib.rs");
    let text = std::fs::read_to_string(&source).unwrap();
    let louder = text.replace("to_uppercase()", "to_uppercase() + \"!\"");
    std::fs::write(&source, louder.replace("in capitals", "in capitals, loudly")).unwrap();
    let second = rounds.next();
    assert_eq!(second["examples"][0]["passed"], false, "{second}");
    let difference = &second["examples"][0]["differences"][0];
    assert_eq!(
        (&difference["kind"], &difference["expected"]),
        (&"output".into(), &"\"HO\"".into())
    );
    let changes = Value::from(vec!["tool `shout` has another description"]);
    assert_eq!(second["changes"], changes, "{second}");
    until("the newest version serves", async || call().contains("\"HELLO!\"")).await;
    drop(rounds);

    let tested = moss(&site, &["plugin", "test", project.path()]);
    assert_eq!(tested.code, Some(1), "{}{}", tested.stdout, tested.stderr);
    for part in ["0 passed, 1 failed", "-\"HO\"", "+\"HO!\""] {
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
fn the_examples_in_rust_are_in_order_and_do_what_they_show() {
    let site = Site::new();
    for (name, passed, skipped) in [
        ("csv_profile", 1, 0),
        ("data_query", 2, 0),
        // It is in need of the network.
        ("fetch", 0, 1),
        ("license_header", 1, 0),
        ("memory", 3, 0),
        ("todo_report", 1, 0),
        ("word_count", 1, 0),
    ] {
        let component = plugin(name);
        keep_code(&site, &std::fs::read(&component).unwrap());
        let component = component.display().to_string();
        let checked = shown(&site, &["plugin", "check", "--json", &component]);
        assert_eq!(checked["findings"], Value::Array(Vec::new()), "{name}: {checked}");
        let tested = shown(&site, &["plugin", "test", "--json", &component]);
        let counts = [&tested["passed"], &tested["failed"], &tested["skipped"]];
        assert_eq!(counts, [&json!(passed), &json!(0), &json!(skipped)], "{name}: {tested}");
    }
}

#[test]
fn settings_that_do_not_fit_are_reported_once_with_what_would() {
    let site = Site::new();
    let component = plugin("license_header").display().to_string();
    for command in ["check", "test"] {
        let refused = site.run(&["plugin", command, &component, "--config", r#"{"heading": "x"}"#]);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        let told = "the settings do not match the schema of the plugin: no key `heading`";
        assert_eq!(refused.stderr.matches(told).count(), 1, "{refused:?}");
        let told = "hint: give its settings, such as --config '{\"header\":\"";
        assert!(refused.stderr.contains(told), "{refused:?}");
        assert!(!refused.stderr.contains("WARN") && !refused.stderr.contains("moss-tools.json"));
    }
}

#[test]
fn a_component_is_checked_and_what_is_no_plugin_is_refused() {
    let site = Site::new();
    let examples = ["memory", "fetch", "probe", "word_count"].map(plugin);
    for component in &examples {
        keep_code(&site, &std::fs::read(component).unwrap());
    }
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
    // They import what they request, of HTTP, the store and the rest.
    for component in examples {
        let checked = shown(&site, &["plugin", "check", "--json", component.to_str().unwrap()]);
        let findings = checked["findings"].to_string();
        assert!(!findings.contains("unrequested") && !findings.contains("unused"), "{findings}");
    }
    let text = file("text.wasm", b"not one");
    for command in ["check", "test"] {
        let refused = moss(&site, &["plugin", command, &text]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains("not WebAssembly"), "{}", refused.stderr);
    }
    assert_eq!(moss(&site, &["plugin", "test", "nowhere.wasm"]).code, Some(1));
}

#[test]
fn a_build_without_the_target_of_plugins_names_it() {
    let site = Site::new();
    let project = site.outside("counter");
    let project = project.to_str().unwrap();
    let made = site.run(&["plugin", "new", "--lang", "rust", "counter", project]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    // A compiler that says where the libraries of the target would be.
    let programs = site.outside("programs");
    std::fs::create_dir(&programs).unwrap();
    let compiler = programs.join("rustc");
    std::fs::write(&compiler, "#!/bin/sh\necho \"$0.libraries\"\n").unwrap();
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&path)));
    let mut build = site.command(["plugin", "build", project, "--json"]);
    build.env("PATH", path.unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = Ended::of(&mut build);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let error: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(error["error"]["code"], "target_missing", "{error}");
    let hint = error["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("rustup target add wasm32-wasip2"), "{error}");
}
