//! `moss compile-plugin`: what the daemon runs to compile a plugin. It is hidden: nobody types it.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use moss_plugins::compiler;

/// Compile a plugin, for a daemon that asks for it
#[derive(Debug, clap::Args)]
pub(super) struct CompilePluginArgs {
    /// Address space in bytes
    memory_bytes: u64,

    /// CPU time in seconds
    cpu_seconds: u64,
}

/// Runs before there is a thread besides this one, and before anything is read.
pub(super) fn run(args: &CompilePluginArgs) -> ExitCode {
    let limits = compiler::limits(args.memory_bytes, args.cpu_seconds);
    if let Err(error) = limits.enter() {
        return fail(1, &format!("a limit cannot be set: {error}"));
    }
    let mut input = Vec::new();
    if let Err(error) = std::io::stdin().read_to_end(&mut input) {
        return fail(1, &error.to_string());
    }
    let code = match compiler::compile(&input) {
        Ok(code) => code,
        Err(reason) => return fail(compiler::BROKEN_COMPONENT, &reason),
    };
    match std::io::stdout().write_all(&code).and_then(|()| std::io::stdout().flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, &error.to_string()),
    }
}

fn fail(code: u8, reason: &str) -> ExitCode {
    // Whoever started it reads this; where nobody does, nobody is there.
    let _ = std::io::stderr().write_all(reason.as_bytes());
    ExitCode::from(code)
}
