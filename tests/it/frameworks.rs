//! `run_tests` with real frameworks: of each a project whose tests pass, fail, cannot run to their end, are not
//! there and cannot be built. The counts are those that the framework itself prints.
//!
//! Those that cargo, pip and npm bring run always; `MOSS_TEST_FRAMEWORKS=all` runs those of the system, too.

pub(crate) mod samples;

use std::path::PathBuf;
use std::process::Command;

use moss_proto::v1;
use moss_proto::v1::stream_call_tool_response::Event;
use serde_json::{Value, json};

use self::samples::{FrameworkSample, SAMPLES, SampleEnd, SampleOrigin};
use crate::harness::{Client, Daemon, Site, failure, output, refusing};
use crate::run_terminal_cmd::ALLOWING;
use crate::run_tests::toolchain;

/// What runs all of them.
const ALL: &str = "MOSS_TEST_FRAMEWORKS";
pub(crate) const NO_MODULES: &str = "MOSS_TEST_CHECK_MODULES is not set: it names the packages of tests/clients/checks; run \
                          `cargo xtask test`, which installs them";

/// Whether what a machine may lack has to be there.
fn runs_all() -> bool {
    std::env::var_os(ALL).is_some_and(|value| value == "all")
}

/// Gives a workspace the packages of npm: what leads out of it is not its own. The files are shared, not copied, where one
/// file system has both: they are 310 MB, and nothing writes into them.
pub(crate) fn share_modules(site: &Site) {
    let modules = std::env::var_os("MOSS_TEST_CHECK_MODULES").expect(NO_MODULES);
    let own = site.workspace().join("node_modules");
    let copied = |how: &str| {
        let mut copy = Command::new("cp");
        copy.arg(how).arg(&modules).arg(&own);
        copy.output().expect("cp starts")
    };
    if !copied("-al").status.success() {
        drop(std::fs::remove_dir_all(&own));
        let copy = copied("-a");
        assert!(copy.status.success(), "{copy:?}");
    }
}

/// Starts a daemon whose commands find the Python of the client tests, Rust, and what the machine has.
pub(crate) fn serve_with_tools(site: &Site) -> Daemon {
    let python = std::env::var_os("MOSS_TEST_PYTHON").expect(crate::python::NO_PYTHON);
    let programs = PathBuf::from(python).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(programs).chain(std::env::split_paths(&path));
    let mut command = site.serve_command();
    command.env("PATH", std::env::join_paths(all).unwrap());
    command.env("CARGO_HOME", toolchain("CARGO_HOME", ".cargo"));
    command.env("RUSTUP_HOME", toolchain("RUSTUP_HOME", ".rustup"));
    Daemon::start(command, &site.socket(), &site.state())
}

/// Whether a program is on the path.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// What came of a call, as the table of samples has it, and how far it was said to be meanwhile.
async fn came_of(client: &Client, directory: &str) -> (SampleEnd<String>, Value, Vec<String>) {
    let call = refusing("run_tests", json!({"path": directory}));
    let mut events = client.stream(call).await.unwrap();
    let mut progress = Vec::new();
    let result = loop {
        match events.next().await.unwrap().expect("an end") {
            Event::Progress(said) => progress.push(said.message),
            Event::Result(result) => break result,
            _ => {}
        }
    };
    if result.outcome() != v1::Outcome::Ok {
        let error = failure(&result);
        return (SampleEnd::Refused(error.code.clone()), json!(error.message), progress);
    }
    let output = output(&result);
    let count = |key: &str| output["totals"][key].as_u64().unwrap();
    let totals = ["passed", "failed", "skipped", "errored"].map(count);
    let status = output["status"].as_str().unwrap().to_owned();
    (SampleEnd::Ended(status, totals), output, progress)
}

/// Lays a sample out with a test file of its own, or without one.
fn lay_out(site: &Site, sample: &FrameworkSample, test: Option<&str>) {
    let inside = |path: &str| format!("{}/{path}", sample.framework);
    for (path, text) in sample.files {
        site.write(&inside(path), text);
    }
    let file = inside(sample.test_file);
    match test {
        Some(text) => drop(site.write(&file, text)),
        None => {
            let removed = std::fs::remove_file(site.workspace().join(file));
            assert!(removed.is_ok(), "an earlier variant wrote it");
        }
    }
    if let [program, arguments @ ..] = sample.prepared_by {
        let mut prepare = Command::new(program);
        prepare.args(arguments).current_dir(site.workspace().join(sample.framework));
        let done = prepare.output().expect("it is installed");
        assert!(done.status.success(), "{prepare:?}: {done:?}");
    }
}

/// Whether a message says how many tests have ended: `1 of 2`, or `2 tests` where nobody knows how many there are.
fn counts_tests(message: &str) -> bool {
    let words: Vec<&str> = message.split([' ', ',']).collect();
    matches!(words[..], [done, "of", total, ..] if [done, total].iter().all(|word| word.parse::<u64>().is_ok()))
        || matches!(words[..], [done, "tests", ..] if done.parse::<u64>().is_ok())
}

async fn check(site: &Site, client: &Client, sample: &FrameworkSample) -> Vec<String> {
    let mut wrong = Vec::new();
    for (variant, text, expected) in &sample.variants {
        lay_out(site, sample, *text);
        let (found, said, progress) = came_of(client, sample.framework).await;
        let framework = sample.framework;
        if found != expected.owned() {
            wrong.push(format!("{framework}, {variant}: {found:?} for {expected:?}: {said}"));
        } else if *variant == "passing" && !progress.iter().any(|said| counts_tests(said)) {
            wrong.push(format!(
                "{framework}, {variant}: it is not said how far it is: {progress:?}"
            ));
        } else if let SampleEnd::Ended(..) = found {
            let is_named = said["framework"] == sample.framework;
            let files = || said["failures"].as_array().unwrap().iter();
            let is_located = files().all(|failure| {
                sample.names_no_file || failure["file"] == sample.path_of_tests().as_str()
            });
            if !is_named || !is_located {
                wrong.push(format!("{}, {variant}: {said}", sample.framework));
            }
        }
    }
    wrong
}

/// Checks the samples whose frameworks npm brings, or all others: those need not lie beside so many files.
async fn check_samples(of_npm: bool) {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write(".gitignore", "node_modules\ntarget\nbuild\n__pycache__\n.pytest_cache\n");
    if of_npm {
        share_modules(&site);
    }
    let daemon = serve_with_tools(&site);
    let client = daemon.caller().await;
    let mut wrong = Vec::new();
    for sample in SAMPLES.iter().filter(|sample| sample.origin.is_npm() == of_npm) {
        match sample.origin {
            SampleOrigin::System { .. } if !runs_all() => continue,
            SampleOrigin::System { program, install } if !is_installed(program) => {
                wrong.push(format!("{ALL}=all needs `{program}`: {install}"));
            }
            _ => wrong.extend(check(&site, &client, sample).await),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn what_each_framework_counts_is_what_a_result_says() {
    check_samples(false).await;
}

#[tokio::test]
async fn what_each_framework_of_npm_counts_is_what_a_result_says() {
    check_samples(true).await;
}
