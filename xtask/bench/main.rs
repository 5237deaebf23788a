//! Measures moss against bare baselines: the same protocol and the same work, without moss.
//!
//! For calls, two servers run side by side, each in a process of its own behind a Unix socket of its own: the
//! real daemon, and this program as `bare`. Calls are measured in pairs, one to each, in turns. It
//! reports and never judges: the exit code says only whether measuring worked.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the output of this program is for the person at the terminal"
)]

mod bare;
mod bridge;
mod caller;
mod edits;
mod figures;
mod load;
mod place;
mod plugins;
mod process;
mod report;
mod timing;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

const USAGE: &str = "usage: bench-calls calls|plugins|load MOSS COMPONENTS DIRECTORY [SECONDS], or \
                     bench-calls edits DIRECTORY, or bench-calls bridge; see `cargo xtask bench`";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The same runtime for the measuring side, the bare side and, by its own choice, the daemon.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(&arguments))
}

async fn run(arguments: &[String]) -> Result<()> {
    match arguments {
        [bare, socket, workspace, component, answers @ ..] if bare == "bare" => {
            let answers = answers.iter().map(|text| bare::Answer::parse(text));
            let answers = answers.collect::<Result<_>>()?;
            bare::serve(socket.as_ref(), workspace.as_ref(), component.as_ref(), answers).await
        }
        [bridge] if bridge == "bridge" => {
            report::print(&bridge::measure()?);
            Ok(())
        }
        [edits, directory] if edits == "edits" => {
            report::print(&edits::measure(directory.as_ref())?);
            Ok(())
        }
        [what, moss, components, directory, seconds @ ..] => {
            let place = place::Place::new(moss.into(), components.into(), directory.as_ref())?;
            let figures = match (what.as_str(), seconds) {
                ("calls", []) => figures::measure(&place).await?,
                ("plugins", []) => plugins::measure(&place).await?,
                ("load", [seconds]) => load::measure(&place, seconds.parse()?).await?,
                _ => bail!(USAGE),
            };
            report::print(&figures);
            Ok(())
        }
        _ => bail!(USAGE),
    }
}

/// This program's file.
fn this_program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find this program")
}
