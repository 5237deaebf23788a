//! What the tests of this crate start: the keeper of a command without the rest of moss, and a
//! stand-in for moss itself.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use moss_sandbox::{
    CommandLimits, CommandRecord, EndCause, LauncherKind, NetworkMode, ProtectedKind, Sandbox,
    SandboxOptions, SandboxedCommand, Tier, find_protected,
};
use tokio::sync::mpsc;

/// The argument by which it has commands running until it is killed; then follow a workspace, a way of
/// keeping in, a script and how often it is run.
const HOST: &str = "host";
/// The argument by which it runs one command and says how that ended; then follow a workspace, a way of
/// keeping in and a script.
const RUN: &str = "run";
/// The argument by which it says how well commands are isolated where it runs.
const REPORT: &str = "report";
/// The variable that names where records of these are written.
const RECORDS: &str = "RECORDS";
/// The variable that says how much memory, in bytes, and how many processes a command may have.
const LIMITS: &str = "LIMITS";
/// The variable that gives a command a network where it is there.
const NETWORK: &str = "NETWORK";
/// What no command may change.
const PROTECTED: &str = ".vscode/tasks.json";
/// What no command may read.
const MASKED: &str = ".env";
/// Most entries among which that is looked for.
const ENTRIES_MAX: usize = 10_000;
/// Pieces of output that are held for each command.
const CHUNKS_MAX: usize = 4;

/// Why it did not do what it was asked.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(code) = moss_sandbox::keeper(&arguments) {
        return code;
    }
    let words: Vec<_> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let Err(error) = work(&words) else { return ExitCode::SUCCESS };
    // There is nobody else to report to.
    let _ = writeln!(std::io::stderr(), "{error}");
    ExitCode::FAILURE
}

fn work(words: &[&str]) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match words[..] {
        [_, REPORT] => runtime.block_on(report()),
        [_, RUN, workspace, way, script] => runtime.block_on(run(workspace, way, script)),
        [_, HOST, workspace, way, script, count] => {
            runtime.block_on(host(workspace, way, script, count.parse()?))
        }
        _ => Err("the arguments are none of its own".into()),
    }
}

/// The sandbox of a way, which has to be there.
async fn sandbox(way: &str) -> Result<Sandbox, Failure> {
    let (tier_max, launchers): (_, &[_]) = match way {
        "bubblewrap" => (Tier::Full, &[LauncherKind::Bubblewrap]),
        "own" => (Tier::Full, &[LauncherKind::Own]),
        "landlock" => (Tier::Landlock, &[]),
        _ => return Err(format!("`{way}` is no way of keeping in").into()),
    };
    let program = "/proc/self/exe".into();
    let sandbox = Sandbox::detect(SandboxOptions { program, tier_max, launchers }).await;
    if sandbox.tier() < tier_max {
        return Err(sandbox.report().to_string().into());
    }
    Ok(sandbox)
}

async fn report() -> Result<(), Failure> {
    let options = SandboxOptions {
        program: "/proc/self/exe".into(),
        tier_max: Tier::Full,
        launchers: LauncherKind::ALL,
    };
    let sandbox = Sandbox::detect(options).await;
    Ok(writeln!(std::io::stdout(), "{}", sandbox.report())?)
}

async fn run(workspace: &str, way: &str, script: &str) -> Result<(), Failure> {
    let sandbox = sandbox(way).await?;
    let mut command = SandboxedCommand::shell(workspace, script);
    command.tier_min = sandbox.tier();
    if std::env::var_os(NETWORK).is_some() {
        command.network = NetworkMode::On;
    }
    limit(&mut command.limits)?;
    command.files.protected = vec![Path::new(workspace).join(PROTECTED)];
    command.files.masked = masked(workspace);
    let (sender, mut chunks) = mpsc::channel(CHUNKS_MAX);
    let running = sandbox.start(command, sender).await?;
    let mut out = std::io::stdout();
    let show = async {
        while let Some(chunk) = chunks.recv().await {
            out.write_all(&chunk.bytes)?;
        }
        Ok::<_, std::io::Error>(())
    };
    let (shown, end) = tokio::join!(show, running.wait());
    let end = (shown?, end?).1;
    if let EndCause::Limit(limit) = end.cause {
        writeln!(out, "it reached its limit: {limit}")?;
    }
    for path in end.restored {
        writeln!(out, "restored {}", path.display())?;
    }
    for path in end.changed {
        writeln!(out, "changed {}", path.display())?;
    }
    if let Some(warning) = end.facts.warning() {
        writeln!(out, "{warning}")?;
    }
    Ok(writeln!(out, "it {}", end.exit)?)
}

/// What of a workspace no command may read.
fn masked(workspace: &str) -> Vec<PathBuf> {
    let found = find_protected(Path::new(workspace), ENTRIES_MAX, &|path| {
        path.ends_with(MASKED).then_some(ProtectedKind::Masked)
    });
    found.masked.into_iter().chain(found.closed).collect()
}

/// What the environment says that a command may use.
fn limit(limits: &mut CommandLimits) -> Result<(), Failure> {
    let Some(wanted) = std::env::var_os(LIMITS) else { return Ok(()) };
    let wanted = wanted.into_string().map_err(|_| "the limits are no text")?;
    let (memory, processes) = wanted.split_once(' ').ok_or("there are two limits")?;
    (limits.memory_bytes_max, limits.processes_max) = (memory.parse()?, processes.parse()?);
    Ok(())
}

async fn host(workspace: &str, way: &str, script: &str, count: usize) -> Result<(), Failure> {
    let sandbox = sandbox(way).await?;
    let mut running = Vec::new();
    for _ in 0..count {
        let (sender, chunks) = mpsc::channel(CHUNKS_MAX);
        let mut command = SandboxedCommand::shell(workspace, script);
        command.tier_min = sandbox.tier();
        let records = std::env::var_os(RECORDS).map(PathBuf::from);
        command.files.masked = masked(workspace);
        command.runs_git = records.is_some();
        command.record = records.map(|records| CommandRecord::new(records, Some(BTreeSet::new())));
        let record = command.record.clone();
        running.push((sandbox.start(command, sender).await?, chunks, record));
    }
    std::future::pending().await
}
