//! The memory of a command's processes, files left out. What several of them have counts once: what they share on purpose,
//! and what a forked process has of its parent until one of them writes it.

use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::DumpableBehavior;

use super::tree::{self, ProcessTree, TreeProcess};
use crate::ending::CommandLimit;

/// What a file `status` calls memory that is no file's.
const ALL: [&str; 3] = ["RssAnon:", "RssShmem:", "VmSwap:"];
/// What a file `smaps_rollup` calls it, each divided by those who have it.
const PART: [&str; 3] = ["Pss_Anon:", "Pss_Shmem:", "SwapPss:"];
/// How long parts are looked at. The kernel walks through all pages for them, and the command starts others meanwhile.
const PARTS_MAX: Duration = Duration::from_millis(50);

/// How long after the first look the second one follows.
const SECOND_LOOK: Duration = Duration::from_millis(20);

/// What the kernel adds to the memory of a process when it looks for one to end.
const KERNEL_PREFERENCE: &str = "/proc/self/oom_score_adj";
/// The most that can be added: of all others none is ended before.
const FIRST: &str = "1000";

/// Has the kernel end this process, and what it starts, before all others where the machine has no memory left: nobody
/// counts what they have of the kernel's own.
pub(super) fn offer_first() {
    let look = rustix::process::set_dumpable_behavior;
    // These files are root's where nobody may look into a process.
    let _ = look(DumpableBehavior::Dumpable);
    // Without it the kernel chooses as among all others.
    let _ = std::fs::write(KERNEL_PREFERENCE, FIRST);
    let _ = look(DumpableBehavior::NotDumpable);
}

/// The limit that the processes of a command are above, at two looks in a row: a process that is about to run another
/// program has the memory of its parent until then, and that counts twice.
pub(super) fn limit_reached(
    tree: ProcessTree,
    memory_bytes_max: u64,
    processes_max: u64,
) -> io::Result<Option<CommandLimit>> {
    let look = || {
        let processes = tree.processes()?;
        Ok::<_, io::Error>(if is_above(&processes, memory_bytes_max) {
            Some(CommandLimit::Memory)
        } else if processes.len() as u64 > processes_max {
            Some(CommandLimit::Processes)
        } else {
            None
        })
    };
    if look()?.is_none() {
        return Ok(None);
    }
    std::thread::sleep(SECOND_LOOK);
    look()
}

/// Whether processes have more memory than a bound. Each look takes longer than the one before, and decides where that
/// one cannot.
fn is_above(processes: &[TreeProcess], bound: u64) -> bool {
    let resident: u64 = processes.iter().map(|one| one.resident_bytes).sum();
    if resident <= bound && !tree::has_swap() {
        return false;
    }
    let all: u64 = processes.iter().map(|one| bytes_of(*one, "status", ALL)).sum();
    if all <= bound {
        return false;
    }
    let until = Instant::now() + PARTS_MAX;
    let mut total = 0;
    for one in processes {
        let is_late = Instant::now() > until;
        let file = if is_late { ("status", ALL) } else { ("smaps_rollup", PART) };
        total += bytes_of(*one, file.0, file.1);
        if total > bound {
            return true;
        }
    }
    false
}

/// The sum of lines like `RssAnon:  12 kB` in a file of a process: nothing where that has ended. Where nobody may look
/// at its parts, or there are none, all of it counts.
fn bytes_of(process: TreeProcess, file: &str, names: [&str; 3]) -> u64 {
    let found = match &process.read_file(file) {
        Ok(text) => sum(text, names),
        Err(error) if has_ended(error) => return 0,
        Err(_) => None,
    };
    match found {
        Some(bytes) => bytes,
        None if names == PART => bytes_of(process, "status", ALL),
        None => process.resident_bytes,
    }
}

fn has_ended(error: &io::Error) -> bool {
    [Errno::NOENT, Errno::SRCH]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// None where a file has none of the lines.
fn sum(text: &str, names: [&str; 3]) -> Option<u64> {
    let kibibytes = text.lines().filter_map(|line| {
        let number = names.iter().find_map(|name| line.strip_prefix(name))?;
        number.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    kibibytes.fold(None, |total, more| Some(total.unwrap_or(0) + more)).map(|total| total << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_summed_and_a_file_without_them_says_nothing() {
        let text = "VmRSS:\t  90 kB\nRssAnon:\t  12 kB\nRssFile:\t 70 kB\nRssShmem:\t  3 kB\nVmSwap:\t 1 kB\n";
        assert_eq!(sum(text, ALL), Some(16 << 10));
        assert_eq!(sum("Rss: 1 kB\nPss_Anon:  2 kB\nPss_File: 4 kB\n", PART), Some(2 << 10));
        assert_eq!(sum("Name:\tx\n", ALL), None);
    }

    #[test]
    fn a_process_has_parts_of_its_memory_and_none_when_it_has_ended() {
        let own = TreeProcess::read(std::process::id().cast_signed()).unwrap();
        assert!(bytes_of(own, "smaps_rollup", PART) > 0 && bytes_of(own, "status", ALL) > 0);
        assert!(is_above(&[own], 1) && !is_above(&[own], u64::MAX));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = TreeProcess::read(child.id().cast_signed());
        child.wait().unwrap();
        assert!(gone.is_none_or(|gone| bytes_of(gone, "status", ALL) == 0));
    }
}
