//! `cargo xtask dist`: builds the release and the program that packs it, and runs that.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::layout::{BuildProfile, Layout};
use crate::{artifacts, child};

pub(crate) fn run(layout: &Layout, arguments: &[&str]) -> Result<()> {
    let (mut output, mut binary) = (layout.target.join("dist"), None);
    let mut rest = arguments;
    loop {
        rest = match rest {
            [] => break,
            ["--output", directory, rest @ ..] => {
                output = PathBuf::from(directory);
                rest
            }
            ["--binary", file, rest @ ..] => {
                binary = Some(PathBuf::from(file));
                rest
            }
            [other, ..] => bail!("dist does not know `{other}`"),
        };
    }
    let binary = match binary {
        Some(binary) => binary.canonicalize().context("there is no such binary")?,
        None => {
            artifacts::daemon(layout, BuildProfile::Release)?;
            layout.moss(BuildProfile::Release)
        }
    };
    let mut build = child::cargo();
    build.current_dir(&layout.root).args(["build", "--quiet", "--package", "moss-xtask"]);
    child::run(build.args(["--features", "dist", "--bin", "make-dist"]))?;
    let mut pack = Command::new(layout.make_dist());
    child::run(pack.arg(&layout.root).arg(binary).arg(output))
}
