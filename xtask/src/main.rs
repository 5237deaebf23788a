//! What developers and newcomers run: `cargo xtask demo`, `serve`, `install`, `dist`, `test`, `conformance`,
//! `lint`, `ci`, `bench`, `fuzz`.
//!
//! Each command does its own set-up, says what it runs, and stops at the first failure. Nothing is
//! written outside the repository and its target directory, apart from what `install` installs, from the
//! WASM target that rustup adds, and from temporary directories that are removed.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the output of these commands is for the person at the terminal"
)]

mod artifacts;
mod bench;
mod child;
mod clippy_compiler;
mod conformance;
mod demo;
mod dist;
mod fuzz;
mod install;
mod layout;
mod lint;
mod node;
mod python;
mod serve;
mod test;
mod test_build;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::layout::Layout;
use crate::test_build::{TestBuild, TestExtent};

const USAGE: &str = "\
usage:
  cargo xtask demo [--yes] [--svg] [--compare] [--binary FILE] [--components DIR]
      a guided tour on a copy of these sources: read, edit, refuse, undo, plugins, escapes, audit;
      pauses between its steps on a terminal, unless --yes is given; --svg draws a part of it into
      docs/session.svg, --compare fails where that shows other commands or sentences;
      --binary and --components take what is built already
  cargo xtask serve [--workspace DIR] [--release] [-- ARGS]
      build everything, then serve DIR (default: the repository around the current directory);
      ARGS go to `moss serve`
  cargo xtask install [--prefix DIR] [--binary FILE] [--uninstall]
      put the release binary, its manual pages, completions and a systemd unit into ~/.local, or into
      DIR; --uninstall removes exactly what was put there
  cargo xtask dist [--output DIR] [--binary FILE]
      make an archive, a Debian package, an SBOM and checksums in target/dist, or in DIR
  cargo xtask test [-- ARGS]
      set everything up and run all tests, the conformance suite included; ARGS go to `cargo test`, which
      runs without that suite then
  cargo xtask test all [-- ARGS]
      the same with more of what takes long: 10,000 searches, 2,000 patterns, 100 kills, 500 reloads,
      1,000,000 files, a gigabyte of output; lint before, and a check that moss compiles with its own
      features alone
  cargo xtask conformance
      run the official suite of the Model Context Protocol against the HTTP front; tests/conformance
      has what it does not pass, with reasons
  cargo xtask lint
      formatting, clippy and documentation, warnings as errors
  cargo xtask ci
      lint, then test
  cargo xtask bench all [--only TABLE,TABLE]
      measure all that docs/performance.md shows, or some of it, and write the page again and what
      the READMEs quote of it; its tables, each of which `cargo xtask bench TABLE` measures alone and writes no file:
        calls     single calls, memory and start, against bare baselines
        load      64 clients that read, edit and call a plugin for a minute
        scale     reads against clients and files, calls of plugins against plugins
        plugins   plugins in process, many clients, a changed file, a start with 50
        edits     find the locations of edits at every level, and commit them
        search    searches and listings of a large tree, against ripgrep and fd (DIR…: of those,
                  default: the sources that Cargo keeps; --part NAME[,NAME] before them: of patterns,
                  listings, no-index, lines, growth those alone)
        commands  commands in the sandbox, against bwrap alone and bare processes
        mcp       calls of MCP clients, against the reference file server and a bare server (Node.js)
        bridge    read replies of models, against serde_json on the same bytes
        size      what the release binary holds
        build     clean builds, and builds after a change (--package NAME: of that one)
  cargo xtask bench search-quality [--set NAME=V]… [--try NAME=V1,V2]… [--tune] [--show A|B=COUNT]…
                                 [--classes] [--speed TREE]… [--definitions TREE]…
                                 [--server-definitions TREE]… [--misses COUNT] DIR…
      how well codebase_search answers questions made of the history and the documentation of the git
      repositories DIR…, against counting words and plain BM25; with other weights (--set), each of
      several as well (--try) or those that are found to be best (--tune); --show what ranked wrongly, --classes why;
      --speed how long questions take over a tree, and how much memory; --definitions whether what is found first
      for a name is what universal-ctags has, --server-definitions what pyright and typescript-language-server
      have (npm installs them), --misses so many that are not
  cargo xtask bench page
      write the page from the results that are kept
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
        ["demo", rest @ ..] => demo::run(&layout, rest),
        ["serve", rest @ ..] => serve::run(&layout, rest),
        ["install", rest @ ..] => install::run(&layout, rest),
        ["dist", rest @ ..] => dist::run(&layout, rest),
        ["test"] => test::run(&layout, TestExtent::Usual, &[]),
        ["test", "--", rest @ ..] => test::run(&layout, TestExtent::Usual, rest),
        ["test", "all"] => test::run(&layout, TestExtent::Everything, &[]),
        ["test", "all", "--", rest @ ..] => test::run(&layout, TestExtent::Everything, rest),
        ["conformance"] => {
            let packages = conformance::install(&layout)?;
            conformance::run(&layout, &TestBuild::new(TestExtent::Usual)?, &packages)
        }
        ["lint"] => lint::run(&layout),
        ["ci"] => {
            lint::run(&layout)?;
            test::run(&layout, TestExtent::Usual, &[])
        }
        ["bench", rest @ ..] if !rest.is_empty() => bench::run(&layout, rest),
        ["fuzz", target] => fuzz::run(&layout, target, fuzz::SECONDS_DEFAULT),
        ["fuzz", target, seconds] => fuzz::run(&layout, target, seconds),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!("cannot make sense of `{}`\n\n{USAGE}", arguments.join(" ")),
    }
}
