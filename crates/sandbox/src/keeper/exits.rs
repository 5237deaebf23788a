//! How the first process of a command ended.

use rustix::process::{Signal, WaitStatus};

use crate::ending::CommandLimit;
use crate::worker::ProcessExit;

/// How a process ended; none where it only stopped or went on.
pub(super) fn of(status: WaitStatus) -> Option<ProcessExit> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(ProcessExit::Exited(code)),
        (None, Some(signal)) => Some(ProcessExit::Killed(signal)),
        (None, None) => None,
    }
}

/// The limit at which the kernel ends a process in that way.
pub(super) fn limit_of(exit: ProcessExit) -> Option<CommandLimit> {
    match exit {
        ProcessExit::Killed(signal) if signal == Signal::XCPU.as_raw() => Some(CommandLimit::Cpu),
        ProcessExit::Killed(signal) if signal == Signal::XFSZ.as_raw() => {
            Some(CommandLimit::FileSize)
        }
        _ => None,
    }
}
