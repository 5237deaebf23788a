//! `cargo xtask bench calls`: builds what is measured and the program that measures, then runs it.

use std::process::Command;

use anyhow::Result;

use crate::layout::{Layout, Profile};
use crate::{artifacts, child};

pub(crate) fn calls(layout: &Layout) -> Result<()> {
    artifacts::plugins(layout)?;
    artifacts::daemon(layout, Profile::Release)?;
    let mut build = child::cargo();
    build.current_dir(&layout.root).args(["build", "--release", "--package", "moss-xtask"]);
    child::run(build.args(["--features", "bench", "--bin", "bench-calls"]))?;
    let mut measure = Command::new(layout.bench_calls());
    measure.arg(layout.moss(Profile::Release)).arg(layout.components()).arg(&layout.target);
    child::run(&mut measure)
}
