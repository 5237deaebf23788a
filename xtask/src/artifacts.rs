//! What the other commands need to have built: the WASM target, the daemon, the example plugins, those of
//! the tests.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::child;
use crate::layout::{BuildProfile, Layout, WASM_TARGET};
use crate::test_build::TestBuild;

/// The manifest of the example plugins.
const PLUGINS: &str = "plugins-example/Cargo.toml";
/// That of the plugins that only tests call.
const GUESTS: &str = "tests/guests/Cargo.toml";

/// Adds the target of plugins to the toolchain where it is missing.
pub(crate) fn wasm_target() -> Result<()> {
    if has_wasm_target()? {
        return Ok(());
    }
    if Command::new("rustup").arg("--version").output().is_err() {
        bail!(
            "this toolchain cannot build plugins: its standard library for {WASM_TARGET} is \
             missing, and so is rustup, which would add it; install Rust from https://rustup.rs, \
             or the package of your system that has the {WASM_TARGET} target"
        );
    }
    child::run(Command::new("rustup").args(["target", "add", WASM_TARGET]))
}

pub(crate) fn daemon(layout: &Layout, profile: BuildProfile) -> Result<()> {
    child::run(&mut daemon_build(layout, profile))
}

/// Builds the daemon and example plugins at the same time: where one waits for a single large crate, the other
/// has work for the cores that are left. Without names of packages all plugins.
pub(crate) fn daemon_and_plugins(
    layout: &Layout,
    profile: BuildProfile,
    packages: &[&str],
) -> Result<()> {
    wasm_target()?;
    let mut plugins = components_build(layout, PLUGINS);
    // Two displays of progress would write over each other; what fails is printed all the same.
    plugins.arg("--quiet").args(packages.iter().flat_map(|package| ["--package", package]));
    child::run_beside(&mut daemon_build(layout, profile), &mut plugins)
}

fn daemon_build(layout: &Layout, profile: BuildProfile) -> Command {
    let mut build = child::cargo();
    build.current_dir(&layout.root).args(["build", "--package", "moss", "--bin", "moss"]);
    build.args(profile.arguments()).args(profile.features());
    build
}

/// Builds the daemon and all tests at once: with the features of the whole workspace, so that what both need is
/// compiled once. That moss also compiles with its own features alone is seen by `cargo xtask test all`.
pub(crate) fn daemon_beside_tests(layout: &Layout, how: &TestBuild) -> Result<()> {
    let mut build = how.cargo(layout, "build");
    child::run(build.args(["--workspace", "--features", how.features, "--bin", "moss", "--tests"]))
}

/// Builds the daemon as it is released, but with the names of its functions, and returns where it is.
/// It differs from the released one in its last step only, and does not stay in its place.
pub(crate) fn with_symbols(layout: &Layout) -> Result<PathBuf> {
    let mut build = child::cargo();
    build.current_dir(&layout.root).args(["rustc", "--package", "moss", "--bin", "moss"]);
    build.args(BuildProfile::Release.arguments()).args(BuildProfile::Release.features());
    child::run(build.args(["--", "-C", "strip=none"]))?;
    let (built, kept) = (layout.moss(BuildProfile::Release), layout.target.join("bench/moss"));
    std::fs::copy(&built, &kept).with_context(|| format!("cannot write {}", kept.display()))?;
    Ok(kept)
}

/// Builds the example plugins.
pub(crate) fn plugins(layout: &Layout) -> Result<()> {
    wasm_target()?;
    child::run(&mut components_build(layout, PLUGINS))
}

/// Builds the example plugins, those that only tests call, and the tests of the former. Something else may be built
/// beside it: as in [`daemon_and_plugins`] only what fails is printed.
pub(crate) fn plugins_and_their_tests(layout: &Layout, how: &TestBuild) -> Result<()> {
    for manifest in [PLUGINS, GUESTS] {
        child::run(components_build(layout, manifest).arg("--quiet"))?;
    }
    child::run(plugin_tests(layout, how).args(["--no-run", "--quiet"]))
}

/// `cargo test` of the example plugins, which builds them for this machine.
pub(crate) fn plugin_tests(layout: &Layout, how: &TestBuild) -> Command {
    let mut test = how.cargo(layout, "test");
    test.args(["--no-fail-fast", "--manifest-path", PLUGINS, "--target-dir"]);
    test.arg(layout.plugin_target());
    test
}

fn components_build(layout: &Layout, manifest: &str) -> Command {
    let mut build = child::cargo();
    build
        .current_dir(&layout.root)
        .args(["build", "--release", "--target", WASM_TARGET])
        .args(["--manifest-path", manifest, "--target-dir"])
        .arg(layout.plugin_target());
    build
}

fn has_wasm_target() -> Result<bool> {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let output = rustc
        .args(["--print", "target-libdir", "--target", WASM_TARGET])
        .output()
        .context("cannot start rustc: install Rust from https://rustup.rs")?;
    if !output.status.success() {
        bail!("this Rust does not know the target {WASM_TARGET}: moss needs Rust 1.95 or newer");
    }
    let directory = String::from_utf8(output.stdout).context("rustc printed a strange path")?;
    Ok(std::path::Path::new(directory.trim()).is_dir())
}
