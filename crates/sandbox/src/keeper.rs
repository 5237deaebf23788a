//! The keeper of a command: moss's own program again, between moss and the command. It starts the
//! command with its restrictions, watches over all that it starts, and ends all of it when the
//! leader has ended, when moss says so, and when moss is gone.
//!
//! On the full tier it is the first process of the command's PID namespace: the kernel ends all
//! others with it. Elsewhere whatever loses its parent becomes its child, so that nothing of the
//! tree gets out of its sight.
//!
//! It has one thread and keeps no memory of moss's: it was started anew, or forked from what was.

mod asking;
mod covers;
mod exits;
mod filter;
mod group;
mod leader;
mod memory;
mod restrict;
mod socket;
mod standstill;
mod streams;
mod temporary;
mod tree;

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions};

use self::asking::AskingEnd;
use self::covers::CoverWatch;
use self::group::KeptGroup;
pub(crate) use self::restrict::{GivenUp, NEWEST, drop_rights, opened_for_rule};
pub(crate) use self::socket::{control, read_message, send};
use self::standstill::Standstill;
pub(crate) use self::streams::release_output;
use self::streams::release_streams;
use self::temporary::TemporaryFiles;
use self::tree::ProcessTree;
use crate::ending::{CommandLimit, CoverChange, Disturbance, LEFT_RUNNING_MAX};
use crate::order::{KILL, KeeperOrder, KeeperReport, KeptEnd, TERMINATE, TERMINATE_AT_TERMINAL};
use crate::start::ForkBounds;
use crate::worker::ProcessExit;

/// The argument by which moss's program knows that it is a keeper.
pub(crate) const KEEPER: &str = "keep-command";

/// How often memory and processes are counted.
const COUNT_EVERY: Duration = Duration::from_millis(200);
/// How long what the leader left running has to end by itself: a pipe's end, a last log line.
const LEFT_GRACE: Duration = Duration::from_millis(100);
/// How often it is looked at meanwhile.
const LEFT_EVERY: Duration = Duration::from_millis(5);
/// How often all that is left is killed before the keeper gives up: each time what was started meanwhile is found.
const KILL_ROUNDS_MAX: usize = 200;

/// A command that runs.
struct CommandKeeper {
    control: UnixStream,
    tree: ProcessTree,
    memory_bytes_max: u64,
    processes_max: u64,
    leader: Pid,
    exit: Option<ProcessExit>,
    limit: Option<CommandLimit>,
    group: Option<KeptGroup>,
    covers: CoverWatch,
    temporary: Option<TemporaryFiles>,
    disturbance: Option<Disturbance>,
    counted: Instant,
    standstill: Standstill,
    asking: AskingEnd,
}

/// Whether the keeper has any child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Children {
    Some,
    None,
}

/// Whether moss is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moss {
    Present,
    Gone,
}

/// Keeps the command that moss orders on the socket that is the standard input, in a process that may have given up already
/// what the command is to be without.
pub(crate) fn run(given_up: Option<GivenUp>) -> io::Result<()> {
    // Nobody of the same user looks into it, the command least of all.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let control = control()?;
    socket::report_panics(&control)?;
    let mut reports = control.try_clone()?;
    follow_order(control, given_up).inspect_err(|error| {
        // Where moss is gone nobody has to know.
        let why = format!("its keeper cannot go on: {error}");
        let _ = send(&mut reports, &KeeperReport::Failed(why));
    })
}

fn follow_order(mut control: UnixStream, given_up: Option<GivenUp>) -> io::Result<()> {
    // moss works out meanwhile what the command sees. Who has given up something is in no namespace, and keeps it in by
    // Landlock.
    let early = given_up.map(|_| (begin_outside(), restrict::enclose_signals()));
    let (message, mut fds) = socket::read_with_descriptors(&mut control)?;
    let order = KeeperOrder::decode(&message)?;
    let layer = fds.pop();
    if order.has_layer && layer.is_none() {
        let why = "the rules for the system did not arrive".to_owned();
        return send(&mut control, &KeeperReport::Failed(why));
    }
    // A command that Landlock keeps in signals nobody else either.
    let (begun, is_enclosed) = match early {
        Some(early) => early,
        None if order.is_init => (Ok(()), false),
        None => (begin_outside(), order.landlock.is_some() && restrict::enclose_signals()),
    };
    if let Err(error) = begun {
        return send(&mut control, &KeeperReport::Failed(error.to_string()));
    }
    let tree = ProcessTree::seen_by(order.is_init, is_enclosed);
    if let Some(other) = order.identities.iter().find(|one| !one.is_seen()) {
        let why = format!("{} was replaced while it was set up", other.at.display());
        return send(&mut control, &KeeperReport::Failed(why));
    }
    let covers = match CoverWatch::begin(&order.covers) {
        Ok(covers) => covers,
        Err(error) => {
            let why = format!("what it keeps from the command cannot be watched: {error}");
            return send(&mut control, &KeeperReport::Failed(why));
        }
    };
    match leader::start(&order, layer, given_up) {
        Ok((leader, group)) => {
            release_streams()?;
            send(&mut control, &KeeperReport::Started)?;
            let kept = CommandKeeper::new(control, &order, tree, (leader, group, covers)).keep();
            // Where it could not be watched to its end: all that is known is ended.
            kept.inspect_err(|_| {
                let _ = rustix::process::kill_process_group(leader, Signal::KILL);
                let _ = tree.signal(Signal::KILL);
            })
        }
        Err(report) => send(&mut control, &report),
    }
}

/// Has a keeper without a namespace of its own find whatever its command will leave running.
fn begin_outside() -> io::Result<()> {
    if !tree::is_visible() {
        let why = "`/proc` is not mounted: what a command leaves running would not be found";
        return Err(io::Error::other(why));
    }
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // It may be the leader of a session already.
    let _ = rustix::process::setsid();
    Ok(())
}

/// Works out what is the same for all commands, before there is one, and gives up what keepers within these bounds do
/// without. Where that cannot be done each command tries it by itself, and says why it is not run.
pub(crate) fn prepare(bounds: ForkBounds) -> Option<GivenUp> {
    match bounds {
        ForkBounds::Unbounded => {
            filter::prepare();
            None
        }
        ForkBounds::Commands(network) => restrict::give_up(network).ok(),
    }
}

// === impl CommandKeeper ===

impl CommandKeeper {
    fn new(
        control: UnixStream,
        order: &KeeperOrder,
        tree: ProcessTree,
        (leader, group, covers): (Pid, Option<KeptGroup>, CoverWatch),
    ) -> Self {
        Self {
            control,
            tree,
            memory_bytes_max: order.memory_bytes_max,
            processes_max: order.processes_max,
            leader,
            exit: None,
            limit: None,
            group,
            covers,
            temporary: TemporaryFiles::of(order),
            disturbance: None,
            counted: Instant::now(),
            standstill: Standstill::default(),
            asking: AskingEnd::of(order),
        }
    }

    /// Watches until the leader has ended, then ends the others and reports.
    fn keep(mut self) -> io::Result<()> {
        let leader = rustix::process::pidfd_open(self.leader, PidfdFlags::empty())?;
        while self.exit.is_none() {
            let moss = self.wait(Some(&leader), COUNT_EVERY)?;
            self.reap()?;
            if moss == Moss::Gone {
                return self.end_all().map(drop);
            }
            self.count()?;
        }
        let left = self.settle()?;
        let exit = self.exit.unwrap_or(ProcessExit::Killed(0));
        // One that was refused a process and has ended well did without.
        let reached = self.group.as_ref().and_then(KeptGroup::reached);
        let reached = reached.filter(|at| *at == CommandLimit::Memory || !exit.is_success());
        let limit = self.limit.or(reached).or_else(|| exits::limit_of(exit));
        let left_running = left.iter().take(LEFT_RUNNING_MAX).map(|one| one.describe()).collect();
        let is_all_dead = self.end_all()? == Children::None;
        let left_running_count = left.len();
        let disturbance = self.disturbance.take();
        let end =
            KeptEnd { exit, limit, disturbance, left_running, left_running_count, is_all_dead };
        send(&mut self.control, &KeeperReport::Ended(end))
    }

    /// Waits for moss, the leader or the time, and does what moss says.
    fn wait(&mut self, leader: Option<&OwnedFd>, at_most: Duration) -> io::Result<Moss> {
        let timeout = Timespec::try_from(at_most).map_err(io::Error::other)?;
        let (is_told, is_remounted) = {
            let mut fds = vec![PollFd::from_borrowed_fd(self.control.as_fd(), PollFlags::IN)];
            fds.extend(leader.map(|leader| PollFd::new(leader, PollFlags::IN)));
            // What the mounts are matters as long as the command runs.
            let mounts = leader.and_then(|_| self.covers.mounts()).map(covers::poll_of);
            let mounts = mounts.map(|mounts| (fds.len(), fds.push(mounts)).0);
            match poll(&mut fds, Some(&timeout)) {
                Ok(_) => {
                    let is_ready = |place: usize| !fds[place].revents().is_empty();
                    (is_ready(0), mounts.is_some_and(is_ready))
                }
                Err(rustix::io::Errno::INTR) => (false, false),
                Err(error) => return Err(error.into()),
            }
        };
        if is_remounted {
            self.look_at_covers(true)?;
        }
        if !is_told {
            return Ok(Moss::Present);
        }
        let mut word = [0];
        match self.control.read(&mut word) {
            Ok(1) if word[0] == TERMINATE => self.tree.signal(Signal::TERM)?,
            Ok(1) if word[0] == TERMINATE_AT_TERMINAL => {
                self.limit = self.limit.or(self.asking.begin(self.tree)?);
            }
            Ok(1) if word[0] == KILL => self.kill()?,
            Ok(1) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => return Ok(Moss::Gone),
        }
        Ok(Moss::Present)
    }

    /// Takes note of all that has ended.
    fn reap(&mut self) -> io::Result<Children> {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.leader => self.exit = exits::of(status),
                Ok(Some(_)) => {}
                Ok(None) => return Ok(Children::Some),
                Err(rustix::io::Errno::CHILD) => return Ok(Children::None),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Counts what no limit of the kernel bounds for all processes together.
    fn count(&mut self) -> io::Result<()> {
        if self.exit.is_some() || self.counted.elapsed() < COUNT_EVERY {
            return Ok(());
        }
        self.look_at_covers(false)?;
        let counted = memory::limit_reached(self.tree, self.memory_bytes_max, self.processes_max)?;
        self.counted = Instant::now();
        // A command that nothing keeps in can leave its group.
        let reached = self.group.as_ref().and_then(KeptGroup::reached).or(counted);
        let reached = reached.or_else(|| self.temporary.as_mut()?.limit_reached(self.tree));
        let reached = reached.or(self.standstill.limit_reached(self.tree, self.leader)?);
        if reached.is_some() || self.asking.is_over() {
            self.limit = self.limit.or(reached);
            self.kill()?;
        }
        Ok(())
    }

    fn kill(&self) -> io::Result<()> {
        if let Some(group) = &self.group {
            group.kill();
        }
        self.tree.signal(Signal::KILL)
    }

    /// Ends a command from which something is no more kept that has to be. Who made what there was not is for moss to
    /// say: others of its commands may have.
    fn look_at_covers(&mut self, is_all: bool) -> io::Result<()> {
        if self.exit.is_some() || self.disturbance.is_some() {
            return Ok(());
        }
        let found = self.covers.look(is_all);
        let (made, lost): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|one| one.change == CoverChange::Made);
        self.disturbance = lost.into_iter().next();
        if self.disturbance.is_some() {
            return self.kill();
        }
        match made.into_iter().next() {
            Some(made) => send(&mut self.control, &KeeperReport::Made(made.path)),
            None => Ok(()),
        }
    }

    /// Takes note of what has ended, and returns what has not.
    ///
    /// Whoever loses its parent becomes a child of the keeper: where it has no child nothing is left,
    /// and `/proc` with the processes of everybody, which takes milliseconds to read, need not be. That
    /// holds for one cloned without a signal for its end, too, which no wait of its first parent sees:
    /// Linux gives it that signal when it hands it on.
    fn reap_and_list(&mut self) -> io::Result<Vec<tree::TreeProcess>> {
        match self.reap()? {
            Children::None => Ok(Vec::new()),
            Children::Some => self.tree.processes(),
        }
    }

    /// Waits a moment for what is about to end anyway, and returns what is left.
    fn settle(&mut self) -> io::Result<Vec<tree::TreeProcess>> {
        let since = Instant::now();
        loop {
            let left = self.reap_and_list()?;
            let is_over = since.elapsed() >= LEFT_GRACE || self.limit.is_some();
            if left.is_empty() || is_over || self.wait(None, LEFT_EVERY)? == Moss::Gone {
                return Ok(left);
            }
        }
    }

    /// Ends all that is left. Returns whether any child is there all the same.
    fn end_all(&mut self) -> io::Result<Children> {
        for _ in 0..KILL_ROUNDS_MAX {
            // One that `/proc` did not show may be there all the same.
            if self.reap()? == Children::None {
                return Ok(Children::None);
            }
            // What is stopped starts nothing new while the others are found.
            self.tree.signal(Signal::STOP)?;
            self.kill()?;
            let pause = Timespec::try_from(LEFT_EVERY).map_err(io::Error::other)?;
            let _ = poll(&mut [], Some(&pause));
        }
        Ok(Children::Some)
    }
}
