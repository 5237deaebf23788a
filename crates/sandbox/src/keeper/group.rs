//! The control group of a command, from the keeper's side: by descriptors that moss opened, as the group is not
//! visible where the keeper is.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use crate::ending::CommandLimit;
use crate::system;

/// What a process writes to enter a group.
const ITSELF: &[u8] = b"0";
/// Most bytes of what the kernel says about a group.
const EVENTS_BYTES_MAX: usize = 512;

/// What a process writes to, to enter a group.
pub(super) type GroupEntry = File;

/// The group that a command is in.
pub(super) struct KeptGroup {
    memory: File,
    processes: File,
    kill: File,
}

/// Takes the descriptors over from the number of the first on: what enters the group is of the command, the rest of
/// the keeper.
pub(super) fn adopt(first: u32) -> io::Result<(GroupEntry, KeptGroup)> {
    let take = |place: u32| -> io::Result<File> { Ok(system::adopt(first + place)?.into()) };
    Ok((take(0)?, KeptGroup { memory: take(1)?, processes: take(2)?, kill: take(3)? }))
}

/// Has this process, and all that it starts, be in the group.
pub(super) fn enter(mut group: &GroupEntry) -> io::Result<()> {
    group.write_all(ITSELF)
}

// === impl KeptGroup ===

impl KeptGroup {
    /// Which limit the kernel has held the command to. Where its memory was over it has ended all of it.
    pub(super) fn reached(&self) -> Option<CommandLimit> {
        if happened(&self.memory, "oom_kill") {
            return Some(CommandLimit::Memory);
        }
        happened(&self.processes, "max").then_some(CommandLimit::Processes)
    }

    /// Ends all that is in it.
    pub(super) fn kill(&self) {
        // Whatever happens, the processes are killed one by one as well.
        let _ = (&self.kill).write_all(b"1");
    }
}

/// Whether the kernel has counted an event.
fn happened(events: &File, name: &str) -> bool {
    let mut text = [0; EVENTS_BYTES_MAX];
    let Ok(length) = events.read_at(&mut text, 0) else { return false };
    has_counted(&String::from_utf8_lossy(&text[..length]), name)
}

fn has_counted(events: &str, name: &str) -> bool {
    let counts = events.lines().filter_map(|line| line.split_once(' '));
    let mut counts = counts.filter(|(event, _)| *event == name);
    counts.any(|(_, count)| count.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_by_their_whole_name() {
        let events = "low 0\nhigh 0\nmax 31\noom 1\noom_kill 0\noom_group_kill 2\n";
        assert!(has_counted(events, "max") && has_counted(events, "oom_group_kill"));
        assert!(!has_counted(events, "oom_kill") && !has_counted(events, "kill"));
        assert!(!has_counted("", "max"));
    }
}
