//! moss's own launcher of the full tier: a process of moss's own program, which makes the namespaces of a
//! command, builds what the command sees, and becomes its keeper.
//!
//! Two processes come of it. The first makes a user namespace and a PID namespace, and waits for the
//! second, which is the first process in them: it builds the new root, gives up every right that the
//! namespaces gave it, and keeps the command.
//!
//! It has one thread and keeps no memory of moss's, as a keeper.

mod namespaces;
mod root;

use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use rustix::process::{DumpableBehavior, Signal, WaitOptions, waitpid};

use crate::command::NetworkMode;
use crate::fork_server::{FORK_SERVER, server};
use crate::keeper::{self, KEEPER};
use crate::launch_order::LaunchOrder;
use crate::order::KeeperReport;
use crate::start::{ProgramOrder, StartKind};
use crate::system;

/// Runs this process as the keeper of a command, or as what forks keepers, if it was started as one;
/// returns none at once otherwise. To be called first of all in `main`, before there is another thread.
pub fn keeper(arguments: &[OsString]) -> Option<ExitCode> {
    let word = arguments.get(1)?;
    let ended = if word == KEEPER {
        keeper::run(None)
    } else if word == FORK_SERVER {
        server::serve(arguments.get(2)?).and_then(|forked| match forked {
            None => Ok(()),
            Some((StartKind::Keeper, given_up)) => keeper::run(given_up),
            Some((StartKind::Launcher(network), _)) => launch(network),
            Some((StartKind::Program, _)) => replace(),
        })
    } else {
        return None;
    };
    // Whoever reads its streams hears of it on the socket; there is nobody else to report to.
    Some(if ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How many orders there are: its own, and that of the keeper.
const ORDERS: usize = 2;

fn launch(network: NetworkMode) -> io::Result<()> {
    let mut control = keeper::control()?;
    // Who may be looked into alone says which users there are in its namespace.
    rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    if let Err(reason) = namespaces::enter_first() {
        return fail(&mut control, ORDERS, reason);
    }
    let Some(first) = system::fork()? else {
        if let Err(reason) = enter(network) {
            return fail(&mut control, ORDERS, reason);
        }
        let order = LaunchOrder::decode(&keeper::read_message(&mut control)?)?;
        if let Err(reason) = set_up(&order) {
            return fail(&mut control, ORDERS - 1, reason);
        }
        return keeper::run(None);
    };
    drop(control);
    // What the command is to read and write is held by nobody else: it ends when the command ends it. The
    // socket of the keeper stays, at the standard input: moss sees by it when all is dead.
    keeper::release_output()?;
    system::close_inherited()?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    while let Err(rustix::io::Errno::INTR) = waitpid(Some(first), WaitOptions::empty()) {}
    Ok(())
}

/// Becomes the program that starts the keeper.
fn replace() -> io::Result<()> {
    let mut control = keeper::control()?;
    let order = ProgramOrder::decode(&keeper::read_message(&mut control)?)?;
    let error = Command::new(&order.program).args(&order.arguments).env_clear().exec();
    fail(&mut control, ORDERS - 1, format!("{} cannot be run: {error}", order.program.display()))
}

/// Makes the namespaces in which this process is the first.
fn enter(network: NetworkMode) -> Result<(), String> {
    let failed = |step: &str, error: &dyn std::fmt::Display| format!("{step}: {error}");
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| failed("the end with its launcher", &error))?;
    rustix::process::setsid().map_err(|error| failed("a session", &error))?;
    namespaces::enter_second(network)
}

/// Sets up all else that keeps a command in but for what its keeper does.
fn set_up(order: &LaunchOrder) -> Result<(), String> {
    root::build(order)?;
    keeper::drop_rights().map_err(|error| format!("capabilities: {error}"))
}

/// Says why the command is not run, once the orders are read that were not yet: moss writes all of them
/// before it listens.
fn fail(control: &mut UnixStream, unread: usize, reason: String) -> io::Result<()> {
    for _ in 0..unread {
        keeper::read_message(control)?;
    }
    keeper::send(control, &KeeperReport::Failed(reason))
}
