//! What checks cost: tests of a project through moss in turns with the bare runner, the syntax of a thousand
//! files and of one in each language, and what a proposal pays for being parsed.

mod languages;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use moss_xtask::rows::{Row, Spread};
use serde_json::{Value, json};

use crate::caller::{BenchClient, done};
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// How many tests each project has, and over how many files those of Python lie.
const TESTS: usize = 500;
const TEST_FILES: usize = 10;
/// How often tests are run on either side, and how often before that, unmeasured.
const TEST_ROUNDS: usize = 10;
const TEST_WARM: usize = 2;
/// How many files are parsed, how many functions each has, and how often all are.
const FILES: usize = 1_000;
const FUNCTIONS: usize = 20;
const SYNTAX_ROUNDS: usize = 20;
/// How many functions of five lines the large file has.
const LARGE_FUNCTIONS: usize = 1_000;
/// How often a proposal is made, and how often before that, unmeasured.
const PROPOSALS: usize = 100;
const PROPOSALS_WARM: usize = 5;
/// How long it takes a model to come up with an edit, at the least.
const THOUGHT: Duration = Duration::from_millis(200);
/// What of the large file is edited: in its middle.
const EDITED: &str = "let b = a + 500;";
const FINE: &str = "let b = a - 500;";
const BROKEN: &str = "let b = (a - 500;";
/// The policy under which tests run without a question.
const POLICY: &str =
    "version = 1\n[[rule]]\nname = \"tests\"\ntools = [\"run_tests\"]\ndecision = \"allow\"\n";
const WANTED: &str = "≤ 5 % or 100 ms more";

/// A project with tests.
struct TestedProject {
    name: &'static str,
    directory: &'static str,
    /// How its tests are run without moss.
    bare: &'static [&'static str],
}

const PROJECTS: [TestedProject; 2] = [
    TestedProject {
        name: "pytest, 500 tests, against pytest alone",
        directory: "py",
        bare: &["python3", "-m", "pytest"],
    },
    TestedProject {
        name: "cargo test, 500 tests, against cargo alone",
        directory: "rs",
        bare: &["cargo", "test", "--offline"],
    },
];

/// Measures checks with a Python that has pytest.
pub(crate) async fn measure(moss: PathBuf, directory: &Path, python: &Path) -> Result<Vec<Row>> {
    let tree = tempfile::Builder::new().prefix("bench-tree-").tempdir_in(directory)?;
    let workspace = tree.path().canonicalize()?;
    lay_out(&workspace).context("cannot lay out what is checked")?;
    let environment = environment(python)?;
    let place = Testbed::of_tree(moss, directory, &workspace)?.with_environment(environment);
    place.configure_policy(POLICY)?;
    let (daemon, caller) = ServerProcess::daemon(&place).await?;
    let mut rows = Vec::new();
    for project in PROJECTS {
        rows.push(project.measure(&place, &caller).await?);
    }
    rows.extend(syntax(&caller, &workspace).await?);
    rows.extend(languages::measure(&caller).await?);
    rows.extend(proposals(&caller).await?);
    drop(caller);
    daemon.stop().await?;
    Ok(rows)
}

/// What finds the programs: the toolchains of who measures.
fn environment(python: &Path) -> Result<Vec<(String, OsString)>> {
    let programs = python.parent().context("the interpreter lies in no directory")?.to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(programs).chain(std::env::split_paths(&path));
    let mut environment = vec![("PATH".to_owned(), std::env::join_paths(all)?)];
    for (name, directory) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let own = std::env::home_dir().map(|home| home.join(directory).into_os_string());
        if let Some(found) = std::env::var_os(name).or(own) {
            environment.push((name.to_owned(), found));
        }
    }
    Ok(environment)
}

fn lay_out(workspace: &Path) -> Result<()> {
    for directory in ["py", "rs/src", "syntax"] {
        fs::create_dir_all(workspace.join(directory))?;
    }
    fs::write(workspace.join(".gitignore"), "target\n__pycache__\n.pytest_cache\n")?;
    fs::write(workspace.join("py/pytest.ini"), "[pytest]\n")?;
    let each = TESTS / TEST_FILES;
    for file in 0..TEST_FILES {
        let test =
            |number| format!("def test_{number}():\n    assert {number} + 1 > {number}\n\n\n");
        let text: String = (0..each).map(test).collect();
        fs::write(workspace.join(format!("py/test_{file}.py")), text)?;
    }
    let manifest =
        "[package]\nname = \"many\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(workspace.join("rs/Cargo.toml"), manifest)?;
    let test = |number| {
        format!("#[test]\nfn test_{number}() {{\n    assert!({number} + 1 > {number});\n}}\n\n")
    };
    let tests: String = (0..TESTS).map(test).collect();
    fs::write(workspace.join("rs/src/lib.rs"), tests)?;
    for file in 0..FILES {
        fs::write(workspace.join(format!("syntax/{file}.rs")), functions(FUNCTIONS))?;
    }
    fs::create_dir_all(workspace.join("new"))?;
    fs::create_dir_all(workspace.join("read"))?;
    let once =
        (0..PROPOSALS_WARM + PROPOSALS).flat_map(|round| [new_file(round), read_file(round)]);
    for name in once.chain(["large.rs".to_owned(), "large.txt".to_owned()]) {
        fs::write(workspace.join(name), functions(LARGE_FUNCTIONS))?;
    }
    languages::lay_out(workspace)
}

/// A large file that is proposed once.
fn new_file(round: usize) -> String {
    format!("new/{round}.rs")
}

/// A large file that is read, and then proposed once.
fn read_file(round: usize) -> String {
    format!("read/{round}.rs")
}

/// Functions of five lines each, with the one between them.
fn functions(count: usize) -> String {
    let function = |number| {
        format!("fn f_{number}(a: u32) -> u32 {{\n    let b = a + {number};\n    b * 2\n}}\n\n")
    };
    (0..count).map(function).collect()
}

/// Checks the syntax of all files, and again after one of them changed.
async fn syntax(caller: &BenchClient, workspace: &Path) -> Result<Vec<Row>> {
    let (mut whole, mut again) = (Vec::new(), Vec::new());
    for round in 0..SYNTAX_ROUNDS {
        whole.push(parsed(caller).await?);
        let text = format!("{}// {round}\n", functions(FUNCTIONS));
        fs::write(workspace.join("syntax/500.rs"), text)?;
        again.push(parsed(caller).await?);
    }
    let name = format!("syntax of {FILES} files");
    Ok(vec![Row::timed(name.clone(), whole), Row::timed(format!("{name}, after an edit"), again)])
}

async fn parsed(caller: &BenchClient) -> Result<Duration> {
    let (duration, output) = called(caller, "lint_check", json!({ "path": "syntax" })).await?;
    if output["files_parsed"] != FILES || output["status"] != "clean" {
        bail!("lint_check did not parse {FILES} files: {output}");
    }
    Ok(duration)
}

/// Proposes edits of a large file, in turns with the first one of another and with those of a text that no
/// grammar is for.
async fn proposals(caller: &BenchClient) -> Result<Vec<Row>> {
    let (mut fine, mut broken) = (Vec::new(), Vec::new());
    let (mut read, mut first, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..PROPOSALS_WARM + PROPOSALS {
        let times = [
            proposed(caller, "large.rs", FINE, 0).await?,
            proposed(caller, "large.rs", BROKEN, 1).await?,
            first_after_reading(caller, &read_file(round)).await?,
            proposed(caller, &new_file(round), FINE, 0).await?,
            proposed(caller, "large.txt", BROKEN, 0).await?,
        ];
        if round >= PROPOSALS_WARM {
            for (all, time) in
                [&mut fine, &mut broken, &mut read, &mut first, &mut plain].into_iter().zip(times)
            {
                all.push(time);
            }
        }
    }
    let plain = Spread::of(plain);
    let row = |name: &str, times| Row::timed(name, times).against(plain);
    Ok(vec![
        row("proposal, 5,000 lines that parse, against plain text", fine).wanted("≤ 5 ms more"),
        row("proposal, the first of such a file that was read, against plain text", read)
            .wanted("≤ 5 ms more"),
        row("proposal, the first of one that was not, against plain text", first),
        row("proposal, 5,000 lines that do not, against plain text", broken).wanted("< 50 ms more"),
    ])
}

/// Proposes an edit after which so many things are wrong.
async fn proposed(caller: &BenchClient, path: &str, new: &str, wrong: usize) -> Result<Duration> {
    let edit = json!({ "path": path, "oldText": EDITED, "newText": new });
    let started = Instant::now();
    let response = caller.dry_run("replace_text", edit.to_string()).await?;
    let duration = started.elapsed();
    let result = done(response)?.result.context("it is done")?;
    let found = result.changes.first().map_or(0, |change| change.diagnostics.len());
    if found != wrong {
        bail!("{found} things are wrong in {path} after `{new}`, not {wrong}");
    }
    Ok(duration)
}

/// Proposes an edit of a file that was read a little before, as models do.
async fn first_after_reading(caller: &BenchClient, path: &str) -> Result<Duration> {
    called(caller, "read_file", json!({ "path": path })).await?;
    tokio::time::sleep(THOUGHT).await;
    proposed(caller, path, FINE, 0).await
}

/// Calls a tool; returns how long that took, and its output.
async fn called(caller: &BenchClient, tool: &str, arguments: Value) -> Result<(Duration, Value)> {
    let started = Instant::now();
    let response = caller.call(tool, arguments.to_string()).await?;
    let duration = started.elapsed();
    let result = done(response)?.result.context("it is done")?;
    Ok((duration, serde_json::from_str(&result.output_json)?))
}

// === impl TestedProject ===

impl TestedProject {
    async fn measure(&self, place: &Testbed, caller: &BenchClient) -> Result<Row> {
        let (mut own, mut bare) = (Vec::new(), Vec::new());
        for round in 0..TEST_WARM + TEST_ROUNDS {
            let times = (self.through_moss(caller).await?, self.alone(place)?);
            if round >= TEST_WARM {
                own.push(times.0);
                bare.push(times.1);
            }
        }
        Ok(Row::timed(self.name, own).against(Spread::of(bare)).wanted(WANTED))
    }

    async fn through_moss(&self, caller: &BenchClient) -> Result<Duration> {
        let arguments = json!({ "path": self.directory });
        let (duration, output) = called(caller, "run_tests", arguments).await?;
        if output["totals"]["passed"] != TESTS || output["status"] != "passed" {
            bail!("{TESTS} tests did not pass: {output}");
        }
        Ok(duration)
    }

    fn alone(&self, place: &Testbed) -> Result<Duration> {
        let (program, arguments) = self.bare.split_first().context("a command has a program")?;
        let found = place.program(program).with_context(|| format!("there is no {program}"))?;
        let mut command = Command::new(found);
        command.args(arguments).env_clear().envs(place.environment());
        command.current_dir(place.workspace().join(self.directory));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let output = command.output().with_context(|| format!("cannot start {program}"))?;
        let duration = started.elapsed();
        if !output.status.success() {
            bail!("{:?} failed: {}", self.bare, String::from_utf8_lossy(&output.stdout));
        }
        Ok(duration)
    }
}
