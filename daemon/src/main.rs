//! The `moss` binary: arguments in, exit code out. Everything else is in [`cli`].

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os().collect())
}
