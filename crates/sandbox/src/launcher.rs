//! moss's own launcher of the full tier, where the system has no bubblewrap that works: moss's own
//! program again, which makes the namespaces of a command, builds what the command sees, and becomes
//! its keeper.
//!
//! Two processes come of it. The first makes a user namespace and a PID namespace, and waits for the
//! second, which is the first process in them: it builds the new root, gives up every right that the
//! namespaces gave it, and keeps the command.
//!
//! It has one thread and keeps no memory of moss's: it was started anew, as a keeper is.

mod namespaces;
mod root;

use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::process::{Signal, WaitOptions, waitpid};

use crate::keeper::{self, KEEPER};
use crate::launch_order::LaunchOrder;
use crate::order::KeeperReport;
use crate::system;

/// The argument by which moss's program knows that it is a launcher.
pub(crate) const LAUNCHER: &str = "launch-command";

/// Runs this process as the keeper of a command, or as its launcher, if it was started as one; returns
/// none at once otherwise. To be called first of all in `main`, before there is another thread.
pub fn keeper(arguments: &[OsString]) -> Option<ExitCode> {
    let word = arguments.get(1)?;
    let ended = if word == KEEPER {
        keeper::run()
    } else if word == LAUNCHER {
        launch()
    } else {
        return None;
    };
    // Whoever reads its streams is told on the socket; there is nobody else to tell.
    Some(if ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn launch() -> io::Result<()> {
    let mut control = keeper::control()?;
    let order = LaunchOrder::decode(&keeper::read_message(&mut control)?)?;
    if let Err(reason) = namespaces::enter_first() {
        return fail(control, reason);
    }
    let Some(first) = system::fork()? else {
        return match set_up(&order) {
            Ok(()) => keeper::run(),
            Err(reason) => fail(control, reason),
        };
    };
    // What the command is to read and write is held by nobody else: it ends when the command ends it.
    drop(control);
    keeper::release_streams()?;
    system::close_inherited()?;
    while let Err(rustix::io::Errno::INTR) = waitpid(Some(first), WaitOptions::empty()) {}
    Ok(())
}

/// Sets up all that keeps a command in but for what its keeper does.
fn set_up(order: &LaunchOrder) -> Result<(), String> {
    let failed = |step: &str, error: &dyn std::fmt::Display| format!("{step}: {error}");
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| failed("the end with its launcher", &error))?;
    rustix::process::setsid().map_err(|error| failed("a session", &error))?;
    namespaces::enter_second(order.network)?;
    root::build(order)?;
    keeper::drop_rights().map_err(|error| failed("capabilities", &error))
}

/// Says why the command is not run.
fn fail(mut control: UnixStream, reason: String) -> io::Result<()> {
    // The order of the keeper is read first: moss writes all of it before it listens.
    keeper::read_message(&mut control)?;
    keeper::send(&mut control, &KeeperReport::Failed(reason))
}
