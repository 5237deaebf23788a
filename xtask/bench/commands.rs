//! What it costs to run a command in isolation: `true` through the sandbox on each tier, in turns with a
//! process that nobody isolates and with bubblewrap alone; whole calls beside them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use moss_sandbox::{LauncherKind, Sandbox, SandboxOptions, SandboxedCommand, Tier};
use moss_xtask::rows::{Row, Spread};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::caller::{BenchClient, done};
use crate::process::ServerProcess;
use crate::testbed::Testbed;

/// How often each is run.
const ROUNDS: usize = 1_000;
/// How often each is run before that, unmeasured.
const WARM: usize = 20;
/// Files of the workspace: what may be written is compared before and after a command.
const FILES: usize = 500;
/// The command that does nothing.
const NOTHING: &str = "/bin/true";
/// Where bubblewrap is, as the sandbox looks for it.
const BUBBLEWRAP: &str = "/usr/bin/bwrap";
/// The namespaces that the sandbox makes as well, and the least that a program needs in them.
const BARE: [&str; 15] = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-net",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
];
/// The policy under which what writes runs without a question.
const POLICY: &str =
    "version = 1\n[[rule]]\nname = \"writes\"\nargv = [\"touch\"]\ndecision = \"allow\"\n";

/// What is measured, and how long each run of it took.
#[derive(Debug, Default)]
struct CommandTimes {
    spawned: Vec<Duration>,
    bubblewrap: Vec<Duration>,
    own: Vec<Duration>,
    wrapped: Vec<Duration>,
    landlock: Vec<Duration>,
    reading: Vec<Duration>,
    writing: Vec<Duration>,
}

/// Measures `true` in each tier, in turns with what else could have started it.
pub(crate) async fn measure(moss: PathBuf, directory: &Path) -> Result<Vec<Row>> {
    let tree = tempfile::Builder::new().prefix("bench-tree-").tempdir_in(directory)?;
    let workspace = tree.path().canonicalize()?;
    for number in 0..FILES {
        std::fs::write(workspace.join(format!("{number}.txt")), "some text\n")?;
    }
    let place = Testbed::of_tree(moss.clone(), directory, &workspace)?;
    place.configure_policy(POLICY)?;
    let own = sandbox(&moss, Tier::Full, &[LauncherKind::Own]).await?;
    let wrapped = sandbox(&moss, Tier::Full, &[LauncherKind::Bubblewrap]).await?;
    let landlock = sandbox(&moss, Tier::Landlock, &[]).await?;
    eprintln!("{}; {}", own.report().detail, wrapped.report().detail);
    let (daemon, caller) = ServerProcess::daemon(&place).await?;
    let mut times = CommandTimes::default();
    for round in 0..WARM + ROUNDS {
        let one = CommandTimes {
            spawned: vec![plain(Command::new(NOTHING))?],
            bubblewrap: vec![bubblewrap()?],
            own: vec![isolated(&own, &workspace).await?],
            wrapped: vec![isolated(&wrapped, &workspace).await?],
            landlock: vec![isolated(&landlock, &workspace).await?],
            reading: vec![whole(&caller, "true").await?],
            writing: vec![whole(&caller, "touch made.txt").await?],
        };
        if round >= WARM {
            times.extend(one);
        }
    }
    drop(caller);
    daemon.stop().await?;
    Ok(times.rows())
}

/// The sandbox of a tier, which the machine must have.
async fn sandbox(
    moss: &Path,
    tier_max: Tier,
    launchers: &'static [LauncherKind],
) -> Result<Sandbox> {
    let program = moss.canonicalize().context("there is no moss to measure")?;
    let sandbox = Sandbox::detect(SandboxOptions { program, tier_max, launchers }).await;
    if sandbox.tier() != tier_max {
        bail!("this machine has no tier `{tier_max}`: {}", sandbox.report());
    }
    Ok(sandbox)
}

/// Starts a process and waits for its end.
fn plain(mut command: Command) -> Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let started = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    let duration = started.elapsed();
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(duration)
}

fn bubblewrap() -> Result<Duration> {
    let mut command = Command::new(BUBBLEWRAP);
    command.args(BARE).arg("--").arg(NOTHING);
    plain(command)
}

/// Runs nothing in the sandbox, with everything that it does for a command.
async fn isolated(sandbox: &Sandbox, workspace: &Path) -> Result<Duration> {
    let command = SandboxedCommand {
        tier_min: sandbox.tier(),
        ..SandboxedCommand::new(workspace, [NOTHING])
    };
    // Nobody listens: what it writes is discarded.
    let (sender, _) = mpsc::channel(1);
    let started = Instant::now();
    let end = sandbox.start(command, sender).await?.wait().await?;
    let duration = started.elapsed();
    if !end.exit.is_success() {
        bail!("{NOTHING} failed in the sandbox: {end:?}");
    }
    Ok(duration)
}

/// Runs a command as a client does.
async fn whole(caller: &BenchClient, command: &str) -> Result<Duration> {
    let arguments = json!({ "command": command });
    let started = Instant::now();
    let answer = caller.call("run_terminal_cmd", arguments.to_string()).await?;
    let duration = started.elapsed();
    let result = done(answer)?.result.context("it is done")?;
    let output: Value = serde_json::from_str(&result.output_json)?;
    if output["exit_code"] != 0 {
        bail!("`{command}` failed: {output}");
    }
    Ok(duration)
}

// === impl CommandTimes ===

impl CommandTimes {
    fn extend(&mut self, more: Self) {
        self.spawned.extend(more.spawned);
        self.bubblewrap.extend(more.bubblewrap);
        self.own.extend(more.own);
        self.wrapped.extend(more.wrapped);
        self.landlock.extend(more.landlock);
        self.reading.extend(more.reading);
        self.writing.extend(more.writing);
    }

    fn rows(self) -> Vec<Row> {
        let (spawned, bubblewrap) = (Spread::of(self.spawned), Spread::of(self.bubblewrap));
        let row = |name: &str, durations, baseline| Row::timed(name, durations).against(baseline);
        vec![
            row("tier full, against bwrap alone", self.own, bubblewrap).wanted("ratio ≤ 1.6"),
            row("tier full by bubblewrap, against bwrap alone", self.wrapped, bubblewrap),
            row("tier landlock, against a bare process", self.landlock, spawned)
                .wanted("≤ 3 ms more"),
            row("whole call, only reads, against bwrap alone", self.reading, bubblewrap),
            row("whole call, may write, against bwrap alone", self.writing, bubblewrap),
        ]
    }
}
