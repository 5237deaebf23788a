//! `cargo xtask lint`: formatting, clippy and documentation, warnings as errors, of the workspace and of all plugins.

use std::process::Command;

use anyhow::Result;

use crate::layout::{Layout, WASM_TARGET};
use crate::{artifacts, child};

/// Workspaces of their own, formatted alike; to build the last one takes a nightly toolchain.
const BESIDE: [&str; 3] = ["plugins-example", "tests/guests", "fuzz"];
const PLUGINS: [[&str; 2]; 2] = [
    ["--manifest-path", "plugins-example/Cargo.toml"],
    ["--manifest-path", "tests/guests/Cargo.toml"],
];
/// Everything, what is behind features too.
const WORKSPACE: [&str; 3] = [
    "--workspace",
    "--features",
    "moss/lang-extra,moss-xtask/bench,moss-xtask/quality,moss-xtask/dist,moss-sdk/http,moss-tests/conformance",
];
const DENY_WARNINGS: [&str; 3] = ["--", "-D", "warnings"];

pub(crate) fn run(layout: &Layout) -> Result<()> {
    artifacts::wasm_target()?;
    formatting(layout)?;
    child::run(cargo(layout, &["clippy", "--all-targets"]).args(WORKSPACE).args(DENY_WARNINGS))?;
    for plugins in PLUGINS {
        child::run(
            cargo(layout, &["clippy", "--target", WASM_TARGET])
                .args(plugins)
                .arg("--target-dir")
                .arg(layout.plugin_target())
                .args(DENY_WARNINGS),
        )?;
    }
    // With the same features, and with the libraries of tests, which `--examples` asks for: nothing that clippy has
    // looked at before is checked a second time.
    let mut doc = cargo(layout, &["doc", "--no-deps", "--document-private-items"]);
    doc.args(["--lib", "--bins", "--examples"]).args(WORKSPACE);
    child::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Fails where a file is not formatted.
pub(crate) fn formatting(layout: &Layout) -> Result<()> {
    child::run(&mut cargo(layout, &["fmt", "--all", "--check"]))?;
    // In their directories: by the names of their manifests only `--all` finds their packages, and formats with them
    // those of this workspace that they use.
    for workspace in BESIDE {
        let mut formatting = cargo(layout, &["fmt", "--check"]);
        child::run(formatting.current_dir(layout.root.join(workspace)))?;
    }
    Ok(())
}

/// Checks moss with its own features alone: what compiles only because something else in the workspace, or a test, asked
/// for a feature fails here.
pub(crate) fn check_alone(layout: &Layout) -> Result<()> {
    child::run(&mut cargo(layout, &["check", "--package", "moss"]))
}

fn cargo(layout: &Layout, subcommand: &[&str]) -> Command {
    let mut cargo = child::cargo();
    cargo.current_dir(&layout.root).args(subcommand);
    cargo
}
