//! What developers and newcomers run: `cargo xtask demo`, `serve`, `test`, `lint`, `ci`,
//! `bench calls`, `bench load`, `bench edits`, `bench bridge`, `bench zoo`, `fuzz`.
//!
//! Each command does its own set-up, says what it runs, and stops at the first failure. Nothing is
//! written outside the repository and its target directory, apart from the WASM target that rustup
//! installs, and from temporary directories that are removed.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the output of these commands is for the person at the terminal"
)]

mod artifacts;
mod bench;
mod child;
mod demo;
mod fuzz;
mod layout;
mod lint;
mod node;
mod python;
mod serve;
mod test;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::layout::Layout;

const USAGE: &str = "\
usage:
  cargo xtask demo [--yes]
      a guided tour on a copy of these sources: read, edit, refuse, undo, plugins, escapes, audit;
      pauses between its steps on a terminal, unless --yes is given
  cargo xtask serve [--workspace DIR] [--release] [-- ARGS]
      build everything, then serve DIR (default: the repository around the current directory);
      ARGS go to `moss serve`
  cargo xtask test [-- ARGS]
      set everything up and run all tests; ARGS go to `cargo test`
  cargo xtask lint
      formatting, clippy and documentation, warnings as errors
  cargo xtask ci
      lint, then test
  cargo xtask bench calls
      measure calls, edits, memory and start against bare baselines, in a release build
  cargo xtask bench plugins
      calls of plugins in process against the bare engine, 64 clients, a start with 50 plugins
  cargo xtask bench load
      64 clients that read, edit and call a plugin for a minute, then the same without moss
  cargo xtask bench bridge
      read replies of models: prose, calls, braces, against serde_json on the same bytes
  cargo xtask bench edits
      find places of edits at every level, and commit edits, against bare baselines
  cargo xtask bench zoo
      let hostile plugins end, beside one that is called all the time, in a release build
  cargo xtask fuzz TARGET [SECONDS]
      throw inputs at a target of fuzz/ for SECONDS (60); needs a nightly toolchain and
      cargo-fuzz";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let layout = Layout::find()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["demo"] => demo::run(&layout, true),
        ["demo", "--yes"] => demo::run(&layout, false),
        ["serve", rest @ ..] => serve::run(&layout, rest),
        ["test"] => test::run(&layout, &[]),
        ["test", "--", rest @ ..] => test::run(&layout, rest),
        ["lint"] => lint::run(&layout),
        ["ci"] => {
            lint::run(&layout)?;
            test::run(&layout, &[])
        }
        ["bench", "calls"] => bench::calls(&layout),
        ["bench", "plugins"] => bench::plugins(&layout),
        ["bench", "load"] => bench::load(&layout),
        ["bench", "bridge"] => bench::bridge(&layout),
        ["bench", "edits"] => bench::edits(&layout),
        ["bench", "zoo"] => bench::zoo(&layout),
        ["fuzz", target] => fuzz::run(&layout, target, fuzz::SECONDS_DEFAULT),
        ["fuzz", target, seconds] => fuzz::run(&layout, target, seconds),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!("cannot make sense of `{}`\n\n{USAGE}", arguments.join(" ")),
    }
}
