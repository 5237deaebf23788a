//! Builds that fetch what they need, where the policy lets their words reach the network and nothing else.

use std::io::Write as _;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Client, Daemon, Site, output, refusing};
use crate::run_tests::toolchain;

/// How long a registry has to take a connection before it counts as out of reach.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// Lets the words of a build run, with the network, and other words run without it.
fn site(argv: &str) -> Site {
    let site = Site::new();
    site.user_policy(&format!(
        "version = 1\n[[rule]]\neffects = [\"exec\"]\ndecision = \"allow\"\n\
         [[rule]]\nargv = {argv}\ndecision = \"allow\"\nnetwork = true\n"
    ));
    site
}

/// Whether a program and a registry are there; says so past the test runner where one is not.
fn has(program: &str, registry: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    let works = output.is_ok_and(|output| output.status.success());
    let found = (registry, 443).to_socket_addrs().ok().and_then(|mut all| all.next());
    let is_reached = found.is_some_and(|at| TcpStream::connect_timeout(&at, CONNECT_MAX).is_ok());
    if !works || !is_reached {
        let what = if works { registry } else { program };
        let note = format!("\nNOT TESTED: builds by {program} that fetch: {what} is not there\n");
        std::io::stderr().write_all(note.as_bytes()).unwrap();
    }
    works && is_reached
}

/// A daemon with the person's toolchains and what leads to registries.
fn serve(site: &Site) -> Daemon {
    let mut command = site.serve_command();
    let cargo = site.outside("cargo");
    std::fs::create_dir_all(cargo.join("registry")).unwrap();
    std::fs::create_dir_all(site.outside("home/.npm/_cacache")).unwrap();
    command.env("CARGO_HOME", cargo).env("RUSTUP_HOME", toolchain("RUSTUP_HOME", ".rustup"));
    let leading = ["ssl_cert_file"];
    let leads = |name: &str| leading.contains(&name.to_ascii_lowercase().as_str());
    command.envs(std::env::vars().filter(|(name, _)| leads(name)));
    Daemon::start(command, &site.socket(), &site.state())
}

async fn run(client: &Client, text: &str) -> Value {
    output(&client.call(refusing("run_terminal_cmd", json!({ "command": text }))).await.unwrap())
}

/// Runs words that may reach the network, then others that may not.
async fn fetches(site: &Site, fetch: &str, after: &str) -> Daemon {
    let daemon = serve(site);
    let client = daemon.caller().await;
    let alone = run(&client, &format!("env X=1 {fetch}")).await;
    assert_eq!(alone["sandbox"]["network"], false, "{alone}");
    assert_ne!(alone["exit_code"], 0, "it needs no network, and proves nothing: {alone}");
    let says_why = |ran: &Value| ran["notes"].to_string().contains("the network is off");
    assert!(says_why(&alone), "{alone}");
    let found = run(&client, fetch).await;
    assert_eq!(
        (&found["exit_code"], &found["sandbox"]["network"]),
        (&json!(0), &json!(true)),
        "{found}"
    );
    assert!(!says_why(&found), "{found}");
    let built = run(&client, after).await;
    assert_eq!(
        (&built["stdout"], &built["sandbox"]["network"]),
        (&json!("built\n"), &json!(false)),
        "{built}"
    );
    daemon
}

#[tokio::test]
async fn cargo_fetches_and_builds_offline_afterwards() {
    if !has("cargo", "index.crates.io") {
        return;
    }
    let site = site("[\"cargo\", \"fetch\"]");
    site.write(
        "Cargo.toml",
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nitoa = \"=1.0.15\"\n",
    );
    site.write(
        "src/main.rs",
        "fn main() { itoa::Buffer::new().format(1); println!(\"built\"); }\n",
    );
    fetches(&site, "cargo fetch", "cargo build --offline --quiet && ./target/debug/tiny").await;
}

#[tokio::test]
async fn npm_fetches_and_installs_offline_afterwards() {
    if !has("npm", "registry.npmjs.org") {
        return;
    }
    let site = site("[\"npm\", [\"ci\", \"config\"]]");
    site.write(
        "package.json",
        r#"{"name": "tiny", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}}"#,
    );
    site.write(
        "package-lock.json",
        r#"{"name": "tiny", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
            "": {"name": "tiny", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}},
            "node_modules/is-number": {
                "version": "7.0.0",
                "resolved": "https://registry.npmjs.org/is-number/-/is-number-7.0.0.tgz",
                "integrity": "sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng=="
            }}}"#,
    );
    let after = "env X=1 npm ci --offline --silent && \
                 node -e 'console.log(require(\"is-number\")(7) && \"built\")'";
    let daemon = fetches(&site, "npm ci", after).await;
    // By itself npm waits for longer than a minute before it tries again, also where no name is found.
    let client = daemon.caller().await;
    let retries = run(&client, "env X=1 npm config get fetch-retries").await;
    assert_eq!(retries["stdout"], "0\n", "{retries}");
    let retries = run(&client, "npm config get fetch-retries").await;
    assert_ne!(retries["stdout"], "0\n", "{retries}");
}

#[tokio::test]
async fn pip_fetches_what_builds_a_project() {
    if !has("pip", "pypi.org") {
        return;
    }
    let site = site("[\".venv/bin/pip\", \"install\", \"-e\", \".\"]");
    site.write(
        "pyproject.toml",
        "[build-system]\nrequires = [\"flit_core==3.12.0\"]\nbuild-backend = \"flit_core.buildapi\"\n\
         [project]\nname = \"tiny\"\nversion = \"1.0\"\ndescription = \"small\"\n",
    );
    site.write("tiny.py", "\"\"\"Small.\"\"\"\nWORD = \"built\"\n");
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv", ".venv"]).current_dir(site.workspace());
    assert!(environment.status().unwrap().success());
    let after = ".venv/bin/python -c 'import tiny; print(tiny.WORD)'";
    fetches(&site, ".venv/bin/pip install -e .", after).await;
}
