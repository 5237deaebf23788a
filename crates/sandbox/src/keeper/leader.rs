//! Starts the first process of a command, in its restrictions.
//!
//! Until it is the command's own program it works in the memory of its keeper, which waits: so nothing is copied for it, and
//! what fails there is known here. It frees nothing of the keeper's, and leaves there what it reports.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::process::{DumpableBehavior, Pid, WaitOptions, waitpid};

use super::group::{self, GroupEntry, KeptGroup};
use super::memory;
use super::restrict::{GivenUp, Restrictions};
use super::streams;
use crate::order::{KeeperOrder, KeeperReport};
use crate::system::{self, SystemWords};

/// How many standard streams a program has.
const STREAMS: i32 = 3;

/// All that the process needs until it is another program.
struct CommandStart<'a> {
    arguments: SystemWords,
    variables: SystemWords,
    directory: &'a Path,
    input: OwnedFd,
    /// Whether that is its terminal, and all of its standard streams.
    has_terminal: bool,
    /// By what it enters its control group.
    entry: Option<GroupEntry>,
    restrictions: Restrictions,
}

/// Starts it as an order says. Rules of `layer` apply besides; what the keeper has given up need not be given up anew.
pub(super) fn start(
    order: &KeeperOrder,
    layer: Option<OwnedFd>,
    given_up: Option<GivenUp>,
) -> Result<(Pid, Option<KeptGroup>), KeeperReport> {
    let failed = |error: io::Error| KeeperReport::Failed(error.to_string());
    if order.arguments.is_empty() {
        return Err(KeeperReport::Failed("there is no program".to_owned()));
    }
    let input = order.input.map(system::adopt).transpose().map_err(failed)?;
    let group = order.group.map(group::adopt).transpose().map_err(failed)?;
    let (entry, group) = group.unzip();
    let terminal = input.as_ref().filter(|_| order.has_terminal);
    let restrictions = Restrictions::prepare(order, (terminal, layer), given_up);
    let restrictions = restrictions.map_err(KeeperReport::Failed)?;
    let input = input.map_or_else(streams::empty, Ok).map_err(failed)?;
    let arguments = order.arguments.iter().map(|word| word.as_bytes().to_vec());
    let pairs = order.environment.chunks_exact(2);
    let variables = pairs.map(|pair| [pair[0].as_bytes(), b"=", pair[1].as_bytes()].concat());
    let words = |words: Result<SystemWords, _>| words.map_err(not_run);
    let start = CommandStart {
        arguments: words(SystemWords::new(arguments))?,
        variables: words(SystemWords::new(variables))?,
        directory: &order.directory,
        input,
        has_terminal: order.has_terminal,
        entry,
        restrictions,
    };
    let mut report = None;
    let mut work = || report = Some(start.carry_out());
    let child = system::start_child(&start.arguments, &mut work).map_err(not_run)?;
    // What the child offers first it shares with its keeper, and it may have been killed in the midst of that.
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // Where it became its program there was nobody left to say more.
    match report {
        None => Ok((child, group)),
        Some(report) => {
            while let Err(rustix::io::Errno::INTR) = waitpid(Some(child), WaitOptions::empty()) {}
            Err(report)
        }
    }
}

fn not_run(error: impl Into<io::Error>) -> KeeperReport {
    KeeperReport::NoProgram(error.into().to_string())
}

// === impl CommandStart ===

impl CommandStart<'_> {
    /// Makes this process the command. Returns why that cannot be.
    fn carry_out(&self) -> KeeperReport {
        if let Err(error) = self.set_up() {
            return not_run(error);
        }
        memory::offer_first();
        let entered = self.entry.as_ref().map_or(Ok(()), group::enter);
        let entered = entered.map_err(|error| ("its control group", error.to_string()));
        if let Err((step, why)) = entered.and_then(|()| self.restrictions.enter()) {
            return KeeperReport::Failed(format!("{step} cannot be applied: {why}"));
        }
        not_run(system::become_program(&self.arguments, &self.variables))
    }

    /// Gives this process what is its own from the beginning, and leaves it the standard streams alone.
    fn set_up(&self) -> io::Result<()> {
        let streams = if self.has_terminal { STREAMS } else { 1 };
        for stream in 0..streams {
            system::replace_stream(self.input.as_fd(), stream)?;
        }
        rustix::process::chdir(self.directory)?;
        system::reset_signals()?;
        system::close_others()?;
        rustix::process::setsid()?;
        if self.has_terminal {
            rustix::process::ioctl_tiocsctty(io::stdin())?;
        }
        Ok(())
    }
}
