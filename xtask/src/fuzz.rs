//! `cargo xtask fuzz TARGET [SECONDS]`: a fuzz target, from its committed inputs on. What it learns
//! stays in `fuzz/target`, a finding too.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::child;
use crate::layout::Layout;

/// How long a target runs by default.
pub(crate) const SECONDS_DEFAULT: &str = "60";

pub(crate) fn run(layout: &Layout, target: &str, seconds: &str) -> Result<()> {
    let fuzz = layout.root.join("fuzz");
    let seeds = fuzz.join("fixtures").join(target);
    if target.contains('/') || !seeds.is_dir() {
        bail!("there is no fuzz target `{target}`: see fuzz/fixtures");
    }
    let seconds: u64 = seconds.parse().context("the seconds must be a number")?;
    let [corpus, findings] =
        ["corpus", "findings"].map(|name| fuzz.join("target").join(name).join(target));
    for directory in [&corpus, &findings] {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
    }
    let mut run = Command::new("rustup");
    run.current_dir(&layout.root).args(["run", "nightly", "cargo", "fuzz", "run", target]);
    // New inputs go into the first directory.
    run.args([&corpus, &seeds]).arg("--").arg(format!("-max_total_time={seconds}"));
    run.arg(format!("-artifact_prefix={}/", findings.display()));
    child::run(&mut run).context(
        "a finding is shown above; without one, `rustup toolchain install nightly` and \
         `cargo install cargo-fuzz` may be missing",
    )
}
