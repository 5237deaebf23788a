//! The processes of a command, as `/proc` shows them.

use std::collections::HashSet;
use std::fs;
use std::io;

use rustix::process::{Pid, Signal};

use crate::ending::{LEFT_COMMAND_BYTES_MAX, LeftProcess};
use crate::system;

/// Which processes are a command's.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProcessTree {
    /// All of this PID namespace, whose first process the keeper is.
    Namespace,
    /// All descendants of the keeper: those whose parent has ended become its children. Signals of the keeper reach
    /// nobody else.
    Enclosed,
    /// The same, and signals reach others, too.
    Descendants,
}

/// A process that has not ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeProcess {
    pub(super) pid: i32,
    parent: i32,
    /// One of its threads that runs. Once the first one has ended, `/proc` shows what the process has there alone.
    thread: i32,
    /// Whether a signal has stopped it.
    is_stopped: bool,
    /// All of its memory, that of files among it.
    pub(super) resident_bytes: u64,
}

/// Fields of `/proc/PID/stat` after the name, which is in parentheses.
const STATE: usize = 0;
const TERMINAL: usize = 4;
const PARENT: usize = 1;

// === impl ProcessTree ===

impl ProcessTree {
    /// Those of a command whose keeper is the first process of a namespace, or signals nobody else, or neither.
    pub(super) fn seen_by(is_init: bool, is_enclosed: bool) -> Self {
        match (is_init, is_enclosed) {
            (true, _) => Self::Namespace,
            (false, true) => Self::Enclosed,
            (false, false) => Self::Descendants,
        }
    }

    /// Returns all that have not ended, but for the keeper.
    pub(super) fn processes(self) -> io::Result<Vec<TreeProcess>> {
        let own = i32::try_from(std::process::id()).map_err(io::Error::other)?;
        let mut all = Vec::new();
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let pid = name.to_str().and_then(|name| name.parse().ok());
            all.extend(pid.filter(|&pid| pid != own).and_then(TreeProcess::read));
        }
        Ok(match self {
            Self::Namespace => all,
            Self::Enclosed | Self::Descendants => descendants(own, all),
        })
    }

    /// Whether one of them has a terminal. Those that moss starts have none but what it gives them: otherwise it is one
    /// that the command made.
    pub(super) fn has_terminal(self) -> io::Result<bool> {
        let is_at_terminal = |process: TreeProcess| {
            let fields = fields(&format!("/proc/{}/stat", process.pid)).unwrap_or_default();
            fields.get(TERMINAL).is_some_and(|number| number != "0")
        };
        Ok(self.processes()?.into_iter().any(is_at_terminal))
    }

    /// Whether a process has been stopped by a signal, and with it all others: none is there to continue them.
    pub(super) fn stands_still(self, leader: Pid) -> io::Result<bool> {
        let is_stopped = |one: TreeProcess| one.is_stopped;
        let leader = TreeProcess::read(leader.as_raw_nonzero().get());
        Ok(leader.is_some_and(is_stopped) && self.processes()?.into_iter().all(is_stopped))
    }

    /// Sends a signal to all.
    pub(super) fn signal(self, signal: Signal) -> io::Result<()> {
        if matches!(self, Self::Namespace | Self::Enclosed) {
            // "The group 1" is how all processes are named that can be signalled; the sender is not among them. The kernel
            // lets nobody start another one meanwhile, which those that are found one by one may. Where there are
            // none it fails.
            let _ = rustix::process::kill_process_group(Pid::INIT, signal);
            return Ok(());
        }
        for process in self.processes()? {
            if let Some(pid) = Pid::from_raw(process.pid) {
                // It may have ended meanwhile.
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
        Ok(())
    }
}

/// Whether processes can be found at all.
pub(super) fn is_visible() -> bool {
    i32::try_from(std::process::id()).is_ok_and(|own| TreeProcess::read(own).is_some())
}

/// How many processes and threads there are on the machine; none where the kernel does not say.
pub(super) fn machine_tasks() -> Option<u64> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    let (_, tasks) = load.split(' ').nth(3)?.split_once('/')?;
    tasks.parse().ok()
}

/// Whether the machine has a swap: what is there is not resident.
pub(super) fn has_swap() -> bool {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    swaps.lines().count() > 1
}

/// The fields of a file `stat` after the name.
fn fields(file: &str) -> Option<Vec<String>> {
    let stat = fs::read(file).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_ascii_whitespace().map(str::to_owned).collect())
}

fn has_ended(fields: &[String]) -> bool {
    fields.get(STATE).is_none_or(|state| matches!(state.as_str(), "Z" | "X"))
}

/// Finds a thread that runs of a process whose first one has ended: a process has ended with the last of them.
fn other_thread(pid: i32) -> Option<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let mut threads = threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let runs = |thread: &i32| {
        fields(&format!("/proc/{pid}/task/{thread}/stat")).is_some_and(|one| !has_ended(&one))
    };
    threads.find(runs)
}

/// Those of all processes that descend from one; the dead between them are no longer there.
fn descendants(root: i32, all: Vec<TreeProcess>) -> Vec<TreeProcess> {
    let mut known = HashSet::from([root]);
    // Parents may come after their children: repeated until nobody is new.
    loop {
        let before = known.len();
        known.extend(
            all.iter()
                .filter(|one| known.contains(&one.parent))
                .map(|one| one.pid)
                .collect::<Vec<_>>(),
        );
        if known.len() == before {
            break;
        }
    }
    all.into_iter().filter(|one| known.contains(&one.pid)).collect()
}

// === impl TreeProcess ===

impl TreeProcess {
    pub(super) fn read(pid: i32) -> Option<Self> {
        let fields = fields(&format!("/proc/{pid}/stat"))?;
        let parent = fields.get(PARENT)?.parse().ok()?;
        let is_stopped = fields.get(STATE).is_some_and(|state| state == "T");
        let thread = if has_ended(&fields) { other_thread(pid)? } else { pid };
        let pages = fs::read_to_string(format!("/proc/{pid}/task/{thread}/statm"));
        let pages = pages.unwrap_or_default();
        let resident: u64 =
            pages.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
        let resident_bytes = resident * system::page_bytes();
        Some(Self { pid, parent, thread, is_stopped, resident_bytes })
    }

    /// Reads a file of `/proc` with what the process has.
    pub(super) fn read_file(self, name: &str) -> io::Result<String> {
        fs::read_to_string(format!("/proc/{}/task/{}/{name}", self.pid, self.thread))
    }

    /// What a person recognizes it by.
    pub(super) fn describe(self) -> LeftProcess {
        let line = format!("/proc/{}/task/{}/cmdline", self.pid, self.thread);
        let line = fs::read(line).unwrap_or_default();
        let line = line.strip_suffix(b"\0").unwrap_or(&line);
        let line: Vec<u8> = line.iter().map(|&byte| if byte == 0 { b' ' } else { byte }).collect();
        let line = &line[..line.len().min(LEFT_COMMAND_BYTES_MAX)];
        let command = String::from_utf8_lossy(line).into_owned();
        LeftProcess { pid: self.pid.cast_unsigned(), command }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_in_any_order() {
        let process = |pid, parent| TreeProcess {
            pid,
            parent,
            thread: pid,
            is_stopped: false,
            resident_bytes: 0,
        };
        let all = vec![process(9, 8), process(8, 5), process(5, 1), process(7, 2)];
        let found: Vec<_> = descendants(5, all).iter().map(|one| one.pid).collect();
        assert_eq!(found, [9, 8, 5]);
    }

    #[test]
    fn a_process_is_read_as_it_is() {
        let own = std::process::id().cast_signed();
        let process = TreeProcess::read(own).unwrap();
        assert!(process.resident_bytes > 0 && process.parent > 0);
        assert!(!process.describe().command.is_empty());
    }

    #[test]
    fn the_tasks_of_the_machine_are_at_least_those_that_are_seen() {
        let seen = fs::read_dir("/proc/self/task").unwrap().count();
        assert!(machine_tasks().unwrap() >= seen as u64);
    }
}
