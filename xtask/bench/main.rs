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
mod checks;
mod commands;
mod crowd;
mod edits;
mod figures;
mod load;
mod mcp;
mod plugins;
mod process;
mod report;
mod scale;
mod search;
mod testbed;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use moss_xtask::search_part::SearchPart;

const USAGE: &str = "\
usage: bench-calls [--json FILE] calls|plugins|load|scale MOSS COMPONENTS DIRECTORY [SECONDS], or
       bench-calls [--json FILE] search MOSS DIRECTORY TREE [PARTS], or
       bench-calls search-suites MOSS DIRECTORY TREE, or
       bench-calls [--json FILE] commands MOSS DIRECTORY, or
       bench-calls [--json FILE] mcp MOSS DIRECTORY MODULES, or
       bench-calls [--json FILE] checks MOSS DIRECTORY PYTHON, or
       bench-calls [--json FILE] edits DIRECTORY, or bench-calls [--json FILE] bridge;
see `cargo xtask bench`";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The same runtime for the measuring side, the bare side and, by its own choice, the daemon.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(&arguments))
}

async fn run(arguments: &[String]) -> Result<()> {
    let (json, arguments) = match arguments {
        [option, file, rest @ ..] if option == "--json" => (Some(Path::new(file)), rest),
        all => (None, all),
    };
    match arguments {
        [bare, socket, workspace, component, answers @ ..] if bare == "bare" => {
            let answers = answers.iter().map(|text| bare::ResponseSize::parse(text));
            let answers = answers.collect::<Result<_>>()?;
            bare::serve(socket.as_ref(), workspace.as_ref(), component.as_ref(), answers).await
        }
        [bridge] if bridge == "bridge" => report::publish(&bridge::measure()?, json),
        [edits, directory] if edits == "edits" => {
            report::publish(&edits::measure(directory.as_ref())?, json)
        }
        [search, moss, directory, tree, parts @ ..] if search == "search" => {
            let (directory, tree) = (directory.as_ref(), tree.as_ref());
            let parts = match parts {
                [] => SearchPart::ALL.to_vec(),
                [names] => SearchPart::parse_list(names)?,
                _ => bail!(USAGE),
            };
            let rows = search::measure(moss.into(), directory, tree, &parts).await?;
            report::publish(&rows, json)
        }
        [suites, moss, directory, tree] if suites == "search-suites" => {
            search::suites::measure(moss.into(), directory.as_ref(), tree.as_ref()).await
        }
        [echo] if echo == "mcp-echo" => mcp::serve().await,
        [mcp, moss, directory, modules] if mcp == "mcp" => {
            let rows = mcp::measure(moss.into(), directory.as_ref(), modules.as_ref()).await?;
            report::publish(&rows, json)
        }
        [commands, moss, directory] if commands == "commands" => {
            report::publish(&commands::measure(moss.into(), directory.as_ref()).await?, json)
        }
        [checks, moss, directory, python] if checks == "checks" => {
            let (directory, python) = (directory.as_ref(), python.as_ref());
            report::publish(&checks::measure(moss.into(), directory, python).await?, json)
        }
        [what, moss, components, directory, seconds @ ..] => {
            let place = testbed::Testbed::new(moss.into(), components.into(), directory.as_ref())?;
            let rows = match (what.as_str(), seconds) {
                ("calls", []) => figures::measure(&place).await?,
                ("plugins", []) => plugins::measure(&place).await?,
                ("load", [seconds]) => load::measure(&place, seconds.parse()?).await?,
                ("scale", []) => scale::measure(&place).await?,
                _ => bail!(USAGE),
            };
            report::publish(&rows, json)
        }
        _ => bail!(USAGE),
    }
}

fn this_program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find this program")
}
