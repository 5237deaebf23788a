//! What the tests of this crate start: the keeper of a command without the rest of moss, and a
//! stand-in for moss itself that has commands running until it is killed.

use std::process::ExitCode;

use moss_sandbox::{Sandbox, SandboxOptions, SandboxedCommand, Tier};

/// The argument by which it is the stand-in; then follow a workspace, a tier, a script and how often
/// it is run.
const HOST: &str = "host";
/// Pieces of output that are held for each command.
const CHUNKS_MAX: usize = 4;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(code) = moss_sandbox::keeper(&arguments) {
        return code;
    }
    let words: Vec<_> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let [_, HOST, workspace, tier, script, count] = words[..] else { return ExitCode::FAILURE };
    let (Ok(tier), Ok(count)) = (tier.parse(), count.parse()) else { return ExitCode::FAILURE };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return ExitCode::FAILURE };
    runtime.block_on(host(workspace, tier, script, count))
}

async fn host(workspace: &str, tier_max: Tier, script: &str, count: usize) -> ExitCode {
    let program = "/proc/self/exe".into();
    let sandbox = Sandbox::detect(SandboxOptions { program, tier_max }).await;
    let mut running = Vec::new();
    for _ in 0..count {
        let (sender, chunks) = tokio::sync::mpsc::channel(CHUNKS_MAX);
        let mut command = SandboxedCommand::shell(workspace, script);
        command.tier_min = tier_max;
        match sandbox.start(command, sender).await {
            Ok(started) => running.push((started, chunks)),
            Err(_) => return ExitCode::FAILURE,
        }
    }
    std::future::pending().await
}
