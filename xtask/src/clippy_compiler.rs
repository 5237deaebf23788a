//! Clippy as the compiler of what is tested.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Warnings are errors, as `cargo clippy -- -D warnings` hands it over: with what it puts between arguments.
const DENY_WARNINGS: &str = "-D__CLIPPY_HACKERY__warnings";

/// Clippy in place of the compiler: it compiles as that does, and lints what it compiles.
#[derive(Debug)]
pub(crate) struct ClippyCompiler {
    program: PathBuf,
}

// === impl ClippyCompiler ===

impl ClippyCompiler {
    /// Finds that of the toolchain.
    ///
    /// # Errors
    ///
    /// Where the toolchain has none.
    pub(crate) fn find() -> Result<Self> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc)
            .args(["--print", "sysroot"])
            .output()
            .context("cannot start rustc: install Rust from https://rustup.rs")?;
        if !output.status.success() {
            bail!("rustc does not run: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let sysroot = String::from_utf8(output.stdout).context("rustc printed a strange path")?;
        let program = Path::new(sysroot.trim()).join("bin/clippy-driver");
        if !program.exists() {
            bail!("there is no {}: run `rustup component add clippy`", program.display());
        }
        Ok(Self { program })
    }

    /// Lets clippy compile the workspace's own crates in this command of cargo, warnings as errors. Its program is named
    /// in an argument: what the command starts (tests that run cargo) compiles as ever.
    pub(crate) fn compile(&self, cargo: &mut Command) {
        // Quoted as TOML quotes, too: no toolchain lies in a path of other characters than those that print.
        cargo.arg("--config").arg(format!("build.rustc-workspace-wrapper={:?}", self.program));
        // RUSTFLAGS would compile all other crates anew.
        cargo.env("CLIPPY_ARGS", DENY_WARNINGS);
    }
}
