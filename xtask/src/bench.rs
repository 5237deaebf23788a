//! `cargo xtask bench calls`, `bench plugins`, `bench load`, `bench edits`, `bench bridge` and
//! `bench zoo`: build what is measured and what measures, then run it.

use std::process::Command;

use anyhow::Result;

use crate::layout::{Layout, Profile};
use crate::{artifacts, child};

/// How long the load lasts on either side, in seconds.
const LOAD_SECONDS: &str = "60";

/// Measures single calls.
pub(crate) fn calls(layout: &Layout) -> Result<()> {
    measure(layout, "calls", &[])
}

/// Measures plugins: calls, many clients, starts.
pub(crate) fn plugins(layout: &Layout) -> Result<()> {
    measure(layout, "plugins", &[])
}

/// Measures many clients at once.
pub(crate) fn load(layout: &Layout) -> Result<()> {
    measure(layout, "load", &[LOAD_SECONDS])
}

/// Measures finding the places of edits, and committing them.
pub(crate) fn edits(layout: &Layout) -> Result<()> {
    build(layout)?;
    child::run(Command::new(layout.bench_calls()).arg("edits").arg(&layout.target))
}

/// Measures reading the replies of models.
pub(crate) fn bridge(layout: &Layout) -> Result<()> {
    build(layout)?;
    child::run(Command::new(layout.bench_calls()).arg("bridge"))
}

/// Shows how every hostile plugin ends, and when: the test that holds them to it, with what it prints.
pub(crate) fn zoo(layout: &Layout) -> Result<()> {
    artifacts::daemon(layout, Profile::Release)?;
    let mut test = child::cargo();
    test.current_dir(&layout.root)
        .args([
            "test",
            "--package",
            "moss-tests",
            "--test",
            "it",
            "plugin_zoo",
            "--",
            "--nocapture",
        ])
        .env("MOSS_TEST_BINARY", layout.moss(Profile::Release));
    child::run(&mut test)
}

fn measure(layout: &Layout, what: &str, arguments: &[&str]) -> Result<()> {
    artifacts::plugins(layout)?;
    artifacts::daemon(layout, Profile::Release)?;
    build(layout)?;
    let mut measure = Command::new(layout.bench_calls());
    measure.arg(what).arg(layout.moss(Profile::Release)).arg(layout.components());
    measure.arg(&layout.target).args(arguments);
    child::run(&mut measure)
}

/// Builds the program that measures.
fn build(layout: &Layout) -> Result<()> {
    let mut build = child::cargo();
    build.current_dir(&layout.root).args(["build", "--release", "--package", "moss-xtask"]);
    child::run(build.args(["--features", "bench", "--bin", "bench-calls"]))
}
