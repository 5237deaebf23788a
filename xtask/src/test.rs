//! `cargo xtask test`: every test there is, with all that they need; `cargo xtask test all`: the same, and
//! those that do more when asked do as much as is asked of them.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};

use crate::conformance::SuitePackages;
use crate::layout::{BuildProfile, Layout};
use crate::test_build::{TestBuild, TestExtent};
use crate::{artifacts, child, conformance, demo, lint, node, python};

/// What tests do more of when everything is tested: how often they search, kill, reload, and over how much.
const MORE: [(&str, &str); 10] = [
    ("MOSS_TEST_SEARCHES", "10000"),
    ("MOSS_TEST_PATTERNS", "2000"),
    ("MOSS_TEST_KILLS", "100"),
    ("MOSS_TEST_RELOADS", "500"),
    ("MOSS_TEST_FILES", "1000000"),
    ("MOSS_TEST_OUTPUT_MB", "1024"),
    ("MOSS_TEST_FRAMEWORKS", "all"),
    ("MOSS_TEST_LINTERS", "all"),
    ("MOSS_TEST_LANGUAGE_SERVERS", "all"),
    ("MOSS_TEST_CONTROL_GROUPS", "all"),
];

/// What tests need of other languages, and where it is.
#[derive(Debug)]
struct TestPackages {
    python: PathBuf,
    node_modules: PathBuf,
    mcp_modules: PathBuf,
    check_modules: PathBuf,
    suite: Option<SuitePackages>,
}

/// What the test programs said at their ends.
#[derive(Debug, Default, PartialEq, Eq)]
struct TestTally {
    programs: usize,
    passed: usize,
    failed: usize,
    ignored: usize,
    /// The names of those that failed.
    broken: Vec<String>,
}

pub(crate) fn run(layout: &Layout, extent: TestExtent, arguments: &[&str]) -> Result<()> {
    let started = Instant::now();
    let how = TestBuild::new(extent)?;
    if how.lints() {
        lint::formatting(layout)?;
    }
    let (packages, built) = std::thread::scope(|scope| {
        // Installing waits for the network most of the time: the compiler has the processors meanwhile.
        let packages = scope.spawn(|| TestPackages::install(layout, arguments.is_empty()));
        let built = build(layout, extent, &how);
        (packages.join(), built)
    });
    built?;
    let packages = packages.map_err(|_| anyhow!("the packages of the tests were not installed"))?;
    let packages = packages?;

    let mut tally = TestTally::default();
    let mut workspace = how.cargo(layout, "test");
    workspace
        .args(["--workspace", "--features", how.features, "--no-fail-fast"])
        .args(arguments)
        .env("MOSS_TEST_BINARY", layout.moss(BuildProfile::Debug))
        .env("MOSS_TEST_PLUGINS", layout.components())
        .env("MOSS_TEST_PLUGIN_TARGET", layout.plugin_target())
        .env("MOSS_TEST_PLUGIN_PROJECTS", layout.plugin_projects())
        .env("MOSS_TEST_PYTHON", packages.python)
        .env("MOSS_TEST_NODE_MODULES", packages.node_modules)
        .env("MOSS_TEST_MCP_MODULES", packages.mcp_modules)
        .env("MOSS_TEST_CHECK_MODULES", packages.check_modules);
    if extent == TestExtent::Everything {
        workspace.envs(MORE);
    }
    let mut plugins = artifacts::plugin_tests(layout, &how);
    plugins.args(arguments);
    let mut all_passed = true;
    for test in [&mut workspace, &mut plugins] {
        all_passed &= tally.follow(test)?;
    }
    // A tour that ends early hides no test that failed: what failed is reported last.
    let (tour, suite) = std::thread::scope(|scope| {
        let tour = scope.spawn(|| if arguments.is_empty() { demo::check(layout) } else { Ok(()) });
        let suite = packages.suite.as_ref();
        let suite = suite.map_or(Ok(()), |packages| conformance::run(layout, &how, packages));
        (tour.join(), suite)
    });
    let TestTally { programs, passed, failed, ignored, broken } = tally;
    println!(
        "\nmoss: {passed} passed, {failed} failed, {ignored} ignored \
         in {programs} test programs, {} s in all",
        started.elapsed().as_secs()
    );
    for name in broken {
        println!("failed: {name}");
    }
    tour.map_err(|_| anyhow!("the tour was not made"))??;
    suite?;
    if !all_passed {
        bail!("some tests failed; run one again with `cargo xtask test -- NAME`");
    }
    Ok(())
}

/// Builds what is tested, and beside it the plugins that tests call: where the one waits for a single large crate, the
/// other has work for the processors that are left.
fn build(layout: &Layout, extent: TestExtent, how: &TestBuild) -> Result<()> {
    if extent == TestExtent::Everything {
        lint::run(layout)?;
        lint::check_alone(layout)?;
    }
    artifacts::wasm_target()?;
    std::thread::scope(|scope| {
        let plugins = scope.spawn(|| artifacts::plugins_and_their_tests(layout, how));
        artifacts::daemon_beside_tests(layout, how)?;
        plugins.join().map_err(|_| anyhow!("the plugins were not built"))?
    })
}

// === impl TestPackages ===

impl TestPackages {
    /// Installs them, those of the suite only where it runs: it has no part of the tests that arguments pick.
    fn install(layout: &Layout, with_suite: bool) -> Result<Self> {
        Ok(Self {
            python: python::environment(layout)?,
            node_modules: node::modules(layout)?,
            mcp_modules: node::install(&layout.mcp_clients(), &layout.mcp_environment())?,
            check_modules: node::install(&layout.check_packages(), &layout.check_environment())?,
            suite: with_suite.then(|| conformance::install(layout)).transpose()?,
        })
    }
}

// === impl TestTally ===

impl TestTally {
    /// Runs tests, shows what they say and counts. Returns whether all passed.
    fn follow(&mut self, test: &mut Command) -> Result<bool> {
        let text = child::announce(test);
        let mut running = test
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{text}`"))?;
        for line in BufReader::new(running.stdout.take().context("no output")?).lines() {
            let line = line.context("cannot read the output of the tests")?;
            println!("{line}");
            self.count(&line);
        }
        Ok(running.wait().context("cannot wait for the tests")?.success())
    }

    /// Adds a line like `test result: ok. 12 passed; 0 failed; 1 ignored; …`, and keeps the name
    /// in one like `test NAME ... FAILED`.
    fn count(&mut self, line: &str) {
        if let Some(name) =
            line.strip_prefix("test ").and_then(|test| test.strip_suffix(" ... FAILED"))
        {
            self.broken.push(name.to_owned());
        }
        let Some((_, counts)) =
            line.strip_prefix("test result: ").and_then(|result| result.split_once(". "))
        else {
            return;
        };
        self.programs += 1;
        for count in counts.split("; ") {
            if let Some((number, kind)) = count.split_once(' ') {
                let number = number.parse().unwrap_or(0);
                match kind {
                    "passed" => self.passed += number,
                    "failed" => self.failed += number,
                    "ignored" => self.ignored += number,
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_test_programs_add_up() {
        let mut tally = TestTally::default();
        for line in [
            "running 3 tests",
            "test reads::a_file_is_read ... FAILED",
            "test reads::a_folder_is_not ... ok",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; 0.1s",
            "test result: FAILED. 1 passed; 2 failed; 4 ignored; 0 measured; 0 filtered out",
        ] {
            tally.count(line);
        }
        let broken = vec!["reads::a_file_is_read".to_owned()];
        assert_eq!(tally, TestTally { programs: 2, passed: 4, failed: 2, ignored: 4, broken });
    }
}
