//! A command that runs, from moss's side: its output is handed on, its time is kept, and its keeper
//! learns when it is over.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::io::Errno;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf, pipe};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio::time::{Instant, timeout};

use crate::descriptors;
#[cfg(not(target_os = "linux"))]
use crate::elsewhere::CommandGroup;
use crate::ending::{CommandEnd, EndCause, SandboxFacts};
use crate::error::SandboxError;
#[cfg(target_os = "linux")]
use crate::groups::CommandGroup;
use crate::input::CommandInput;
use crate::launch_order::LaunchOrder;
use crate::order::{KILL, KeeperOrder, KeeperReport, KeptEnd, TERMINATE, TERMINATE_AT_TERMINAL};
use crate::output::{OutputChunk, OutputCounts, OutputPump, OutputStream};
use crate::private::PrivateDirectory;
use crate::reports::{last_report, read_report, unheard};
use crate::running_snapshots::{HeldSnapshot, MadeMeanwhile};
use crate::start::ProgramOrder;
use crate::stopping::{StopLevel, Stopper, WantedEnd, next_at_terminal, next_level};
use crate::tracked_masks::CommandIndexes;

/// Longest wait for a sandbox to be set up.
const START_MAX: Duration = Duration::from_secs(30);
/// Longest wait for the keeper once everything was killed.
const KILL_MAX: Duration = Duration::from_secs(10);
/// Longest wait for the rest of the output once everything has ended.
const DRAIN_MAX: Duration = Duration::from_secs(2);
/// How much of what a failed sandbox said is shown, in bytes.
const SAID_BYTES_MAX: u64 = 4 << 10;

/// A command that runs. Dropping it kills the command with all that it started.
#[derive(Debug)]
pub struct RunningCommand {
    facts: SandboxFacts,
    stop: Stopper,
    input: Option<CommandInput>,
    driver: Driver,
}

/// The task that watches over a command. Dropping it kills the command; the task goes on until that is dead
/// and what it changed is restored.
#[derive(Debug)]
struct Driver {
    task: JoinHandle<Result<CommandEnd, SandboxError>>,
    stop: Stopper,
}

/// A keeper that was started, before it got its orders.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) control: UnixStream,
    pub(crate) stdout: pipe::Receiver,
    pub(crate) stderr: pipe::Receiver,
    pub(crate) input: Option<CommandInput>,
    /// What it writes to its terminal, where it has one.
    pub(crate) terminal: Option<pipe::Receiver>,
    /// What it was not sent yet of its orders, and of what else it is to have open.
    pub(crate) orders: Vec<u8>,
    pub(crate) enclosed: Option<OwnedFd>,
}

/// What is to start the keeper, as it receives it.
#[derive(Debug)]
pub(crate) enum LaunchMessage {
    Own(LaunchOrder),
    Program(ProgramOrder),
}

/// What is known about a command before it runs.
#[derive(Debug)]
pub(crate) struct Preparation {
    /// What starts the keeper receives first, where that is not the keeper itself.
    pub(crate) launch: Option<LaunchMessage>,
    pub(crate) order: KeeperOrder,
    /// Rules of Landlock that apply besides its own, until the keeper has them.
    pub(crate) layer: Option<OwnedFd>,
    pub(crate) facts: SandboxFacts,
    /// What it may not change, until it has ended.
    pub(crate) snapshot: Option<HeldSnapshot>,
    /// Sockets that are hidden from it.
    pub(crate) hidden_sockets: Vec<PathBuf>,
    /// Its temporary directory, where it is not in memory; removed at the end.
    pub(crate) private: Option<PrivateDirectory>,
    /// What it sees of indexes, and what is marked in them until it has ended.
    pub(crate) indexes: CommandIndexes,
    /// Its control group, where it has one; removed at the end.
    pub(crate) group: Option<CommandGroup>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) grace: Duration,
}

/// What a driver works with.
struct CommandRun {
    reports: OwnedReadHalf,
    control: OwnedWriteHalf,
    readers: JoinSet<()>,
    counts: OutputCounts,
    /// Says to the readers that the command has ended.
    ended: watch::Sender<bool>,
    stopped: watch::Receiver<WantedEnd>,
    made: watch::Sender<MadeMeanwhile>,
    preparation: Preparation,
    started: Instant,
}

/// Sends a keeper its orders, and waits until the command runs.
pub(crate) async fn start(
    mut kept: Kept,
    preparation: Preparation,
    output: mpsc::Sender<OutputChunk>,
) -> Result<RunningCommand, SandboxError> {
    let started = Instant::now();
    kept.send()?;
    let tell = async {
        kept.control.write_all(&kept.orders).await?;
        read_report(&mut kept.control).await
    };
    let report = timeout(START_MAX, tell).await;
    let report = report.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    match report {
        Ok(KeeperReport::Started) => {}
        Ok(KeeperReport::NoProgram(reason)) => {
            let program = preparation.order.arguments.first().map(OsString::as_os_str);
            let program = program.unwrap_or_default().to_string_lossy().into_owned();
            return Err(SandboxError::Program { program, reason });
        }
        Ok(KeeperReport::Failed(reason)) => return Err(SandboxError::Setup(reason)),
        Ok(KeeperReport::Ended(_) | KeeperReport::Made(_)) => {
            return Err(unexpected("an end before a start"));
        }
        Err(error) => return Err(failed_start(kept, error).await),
    }
    let mut readers = JoinSet::new();
    let (counts, ended) = (OutputCounts::default(), watch::Sender::new(false));
    let is_dialogue = kept.input.is_some();
    for stdout in [Some(kept.stdout), kept.terminal].into_iter().flatten() {
        let pump = OutputPump::new(OutputStream::Stdout, output.clone(), &counts, &ended);
        readers.spawn(pump.of_dialogue(is_dialogue).run(stdout));
    }
    let pump = OutputPump::new(OutputStream::Stderr, output, &counts, &ended);
    readers.spawn(pump.of_dialogue(is_dialogue).run(kept.stderr));
    let (stop, stopped) = Stopper::new();
    let facts = preparation.facts.clone();
    let (reports, control) = kept.control.into_split();
    let made = preparation.snapshot.as_ref().map(HeldSnapshot::made).unwrap_or_default();
    let run = CommandRun {
        reports,
        control,
        readers,
        counts,
        ended,
        stopped,
        made,
        preparation,
        started,
    };
    let driver = Driver { task: tokio::spawn(run.drive()), stop: stop.clone() };
    Ok(RunningCommand { facts, stop, input: kept.input, driver })
}

fn unexpected(what: &str) -> SandboxError {
    SandboxError::Setup(format!("its keeper reported {what}"))
}

/// What bubblewrap or the keeper said on its standard error before it ended.
async fn failed_start(kept: Kept, error: io::Error) -> SandboxError {
    let mut said = Vec::new();
    // A keeper that is still being set up ends by this when it is.
    drop(kept.control);
    let mut stderr = kept.stderr.take(SAID_BYTES_MAX);
    let _ = timeout(DRAIN_MAX, stderr.read_to_end(&mut said)).await;
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    SandboxError::Setup(if said.is_empty() { unheard(&error) } else { said })
}

// === impl Kept ===

impl Kept {
    /// Sends as much of its orders as there is room for, without waiting for anything; and with their first byte, so that
    /// whoever reads that has to take it, what else it is to have open.
    fn send(&mut self) -> io::Result<()> {
        let enclosed = self.enclosed.take();
        let enclosed: Vec<_> = enclosed.iter().map(|fd| fd.as_fd()).collect();
        match descriptors::send(self.control.as_fd(), &self.orders, &enclosed) {
            Ok(sent) => drop(self.orders.drain(..sent)),
            // It has ended: why, it has said before, or nobody knows.
            Err(Errno::PIPE | Errno::CONNRESET) => self.orders.clear(),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

// === impl Preparation ===

impl Preparation {
    /// All that the keeper receives, and before it what is to start that.
    pub(crate) fn orders(&self) -> io::Result<Vec<u8>> {
        let mut orders = match &self.launch {
            Some(LaunchMessage::Own(order)) => order.encode()?,
            Some(LaunchMessage::Program(order)) => order.encode()?,
            None => Vec::new(),
        };
        orders.extend(self.order.encode()?);
        Ok(orders)
    }
}

// === impl RunningCommand ===

impl RunningCommand {
    /// What is known about its sandbox.
    pub fn facts(&self) -> &SandboxFacts {
        &self.facts
    }

    /// Returns what stops it from elsewhere.
    pub fn stopper(&self) -> Stopper {
        self.stop.clone()
    }

    /// Takes what its standard input is written to; none where it was given none, or that was taken.
    pub fn take_input(&mut self) -> Option<CommandInput> {
        self.input.take()
    }

    /// Waits until its leader has ended, all that it left running is dead, and the output was handed
    /// on. Dropping the future kills all.
    ///
    /// # Errors
    ///
    /// Where its keeper fails, is killed, or does not end.
    pub async fn wait(mut self) -> Result<CommandEnd, SandboxError> {
        let ended = (&mut self.driver.task).await;
        ended.map_err(|error| SandboxError::Setup(error.to_string()))?
    }
}

// === impl Driver ===

impl Drop for Driver {
    fn drop(&mut self) {
        self.stop.kill();
    }
}

// === impl CommandRun ===

impl CommandRun {
    async fn drive(mut self) -> Result<CommandEnd, SandboxError> {
        let watched = self.watch().await;
        let duration = self.started.elapsed();
        if !watched.as_ref().is_ok_and(|(end, _)| end.is_all_dead) {
            // Whoever holds the other end has ended then: with a launcher, all of the namespace is dead.
            let _ = timeout(KILL_MAX, self.reports.read(&mut [0])).await;
        }
        let is_output_cut = self.drain().await;
        let snapshot = self.preparation.snapshot.take();
        let preparation = &mut self.preparation;
        let own = (preparation.private.take(), preparation.group.take());
        let indexes = std::mem::take(&mut preparation.indexes);
        let mut facts = preparation.facts.clone();
        let settled = spawn_blocking(move || {
            drop(own);
            let still_marked = indexes.settle(&mut facts);
            let lost_worktrees = facts.git_outside.lost_worktrees();
            let compared = snapshot.map(HeldSnapshot::restore).unwrap_or_default();
            (compared, facts, (still_marked, lost_worktrees))
        });
        let settled = settled.await;
        let (mut compared, facts, (still_marked, lost_worktrees)) =
            settled.map_err(|error| SandboxError::Setup(error.to_string()))?;
        let MadeMeanwhile { ended, moved } = self.made.send_replace(MadeMeanwhile::default());
        let moved = moved.into_keys().filter(|path| !compared.restored.contains(path));
        let moved: Vec<_> = moved.collect();
        compared.restored.extend(moved);
        let (mut end, cause) = watched?;
        end.disturbance = end.disturbance.or(ended);
        Ok(CommandEnd {
            exit: end.exit,
            cause: match (end.limit, &end.disturbance) {
                (Some(limit), _) => EndCause::Limit(limit),
                (None, Some(_)) => EndCause::Disturbed,
                (None, None) => cause,
            },
            duration,
            left_running: end.left_running,
            left_running_count: end.left_running_count,
            // Elsewhere the kernel has ended them with their keeper.
            may_run_on: !end.is_all_dead && !facts.tier.ends_with_its_keeper(),
            stdout_bytes: self.counts[0].load(Ordering::Relaxed),
            stderr_bytes: self.counts[1].load(Ordering::Relaxed),
            is_output_cut,
            restored: compared.restored,
            changed: compared.changed,
            unattributed: compared.unattributed,
            disturbance: end.disturbance,
            still_marked,
            lost_worktrees,
            facts,
        })
    }

    /// Waits for the report of the end, and sees to it that it comes.
    async fn watch(&mut self) -> Result<(KeptEnd, EndCause), SandboxError> {
        let mut cause = EndCause::Ended;
        let mut told = StopLevel::Not;
        let mut deadline = self.preparation.timeout.map(|timeout| self.started + timeout);
        // One read goes on through all of it: a report that has half come is not lost.
        let mut report = std::pin::pin!(last_report(&mut self.reports));
        let mut made = self.made.subscribe();
        let (mut asked, mut asked_seen) = (self.stopped.clone(), 0);
        loop {
            let is_due = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            // What is held of it is let go at once.
            let is_disturbed = async { made.wait_for(|made| made.ended.is_some()).await.map(drop) };
            let wanted = tokio::select! {
                report = &mut report => return match report {
                    Ok(KeeperReport::Ended(end)) => Ok((end, cause)),
                    Ok(KeeperReport::Failed(reason)) => Err(SandboxError::Setup(reason)),
                    Ok(_) => Err(unexpected("no end")),
                    Err(error) => Err(SandboxError::Setup(unheard(&error))),
                },
                Ok(count) = next_at_terminal(&mut asked, asked_seen) => {
                    asked_seen = count;
                    let _ = self.control.write_all(&[TERMINATE_AT_TERMINAL]).await;
                    continue;
                }
                Ok(level) = next_level(&mut self.stopped, told) => {
                    if cause == EndCause::Ended {
                        cause = EndCause::Stopped;
                    }
                    level
                }
                Ok(()) = is_disturbed, if told < StopLevel::Kill => {
                    StopLevel::Kill
                }
                () = is_due => match told {
                    StopLevel::Not => {
                        cause = EndCause::Timeout;
                        StopLevel::Terminate
                    }
                    StopLevel::Terminate => StopLevel::Kill,
                    StopLevel::Kill => {
                        let reason = "its processes do not end, though they were killed";
                        return Err(SandboxError::Setup(reason.to_owned()));
                    }
                },
            };
            let (word, wait) = match wanted {
                StopLevel::Kill => (KILL, KILL_MAX),
                StopLevel::Not | StopLevel::Terminate => (TERMINATE, self.preparation.grace),
            };
            told = wanted;
            deadline = Some(Instant::now() + wait);
            // A keeper that is gone is noticed by its report.
            let _ = self.control.write_all(&[word]).await;
        }
    }

    /// Waits for the rest of the output. Returns whether its end is missing.
    async fn drain(&mut self) -> bool {
        self.ended.send_replace(true);
        let drained =
            timeout(DRAIN_MAX, async { while self.readers.join_next().await.is_some() {} });
        let is_cut = drained.await.is_err();
        self.readers.shutdown().await;
        is_cut
    }
}
