//! Node.js packages of tests: installed in the target directory, kept until their lock file changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::child;
use crate::layout::Layout;

/// Oldest major version of Node.js that the packages support.
const NODE_MIN: u32 = 20;
/// What npm installs from. Renewed with `npm install --omit-lockfile-registry-resolved`: it must work
/// with any registry.
const LOCK: &str = "package-lock.json";
const FILES: [&str; 2] = ["package.json", LOCK];

/// Installs the packages of the client tests and returns their `node_modules`.
pub(crate) fn modules(layout: &Layout) -> Result<PathBuf> {
    install(&layout.typescript_client(), &layout.node_environment())
}

/// Installs what the lock file in one directory names into another, and returns its `node_modules`.
pub(crate) fn install(source: &Path, target: &Path) -> Result<PathBuf> {
    let lock = fs::read_to_string(source.join(LOCK))
        .with_context(|| format!("cannot read {LOCK} in {}", source.display()))?;
    let modules = target.join("node_modules");
    let installed = target.join("installed.json");
    if modules.exists() && fs::read_to_string(&installed).is_ok_and(|text| text == lock) {
        return Ok(modules);
    }
    check_node()?;
    let written = || -> std::io::Result<()> {
        fs::create_dir_all(target)?;
        for file in FILES {
            fs::copy(source.join(file), target.join(file))?;
        }
        Ok(())
    };
    written().with_context(|| format!("cannot write {}", target.display()))?;
    let mut install = Command::new("npm");
    install
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(target);
    child::run(&mut install).context("the tests need these packages, once, from npm")?;
    fs::write(&installed, lock).with_context(|| format!("cannot write {}", installed.display()))?;
    Ok(modules)
}

fn check_node() -> Result<()> {
    let major = version(Path::new("node"));
    let npm = Command::new("npm").arg("--version").output();
    let has_npm = npm.is_ok_and(|output| output.status.success());
    if major.is_none_or(|major| major < NODE_MIN) || !has_npm {
        bail!(
            "the tests of other languages' clients need Node.js {NODE_MIN} or newer with npm: \
             install them (Debian and Ubuntu: `apt install nodejs npm`; Fedora: `dnf install \
             nodejs`; macOS: `brew install node`), then try again"
        );
    }
    Ok(())
}

/// The major version of a Node.js; none where there is none.
pub(crate) fn version(node: &Path) -> Option<u32> {
    let output = Command::new(node).arg("--version").output().ok()?;
    major(&String::from_utf8_lossy(&output.stdout))
}

/// The major version in a text like `v20.1.0`.
fn major(version: &str) -> Option<u32> {
    version.trim().trim_start_matches('v').split('.').next()?.parse().ok()
}
