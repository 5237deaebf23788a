//! Notices a command that has stopped itself (SIGSTOP): nobody continues it, and it would wait for its time to end.

use std::io;

use rustix::process::Pid;

use super::tree::ProcessTree;
use crate::ending::CommandLimit;

/// How often in a row all processes are found stopped before they are ended: a person may stop them for a moment.
const FOUND_MAX: u32 = 10;

/// How often in a row all processes of a command were found stopped.
#[derive(Debug, Default)]
pub(super) struct Standstill(u32);

// === impl Standstill ===

impl Standstill {
    /// Looks once more, and says whether that was too often.
    pub(super) fn limit_reached(
        &mut self,
        tree: ProcessTree,
        leader: Pid,
    ) -> io::Result<Option<CommandLimit>> {
        self.0 = if tree.stands_still(leader)? { self.0 + 1 } else { 0 };
        Ok((self.0 >= FOUND_MAX).then_some(CommandLimit::Standstill))
    }
}
