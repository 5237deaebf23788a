//! Control groups (version 2), by which the kernel itself bounds the memory and the processes of each command. They
//! are used where a part of the hierarchy was delegated to moss; elsewhere the keeper counts alone.
//!
//! A group whose children have controllers holds no process itself. So moss first moves itself, with all that it
//! started, into a group of its own beneath the delegated one; beside that lies one for each command. The keeper
//! stays with moss: it has to outlive what the kernel ends.

mod place;
mod unit;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use self::place::group_hindrance;
use self::place::{CONTROLLERS, GroupPlace, OWN, PROCESSES, processes};
use crate::command::CommandLimits;

/// How the names of commands' groups begin; the id of their moss follows.
const COMMAND: &str = "command-";
/// Which controllers children of a group have.
const CHILDREN: &str = "cgroup.subtree_control";
/// What ends all in a group, since Linux 5.14.
const KILL: &str = "cgroup.kill";
/// How often moss looks whether all that it started has moved: it may start more meanwhile.
const MOVES_MAX: usize = 16;
/// How often a group is removed before it is left to the next moss: what was killed in it is dying.
const REMOVALS_MAX: usize = 20;
/// Between two of these.
const REMOVE_EVERY: Duration = Duration::from_millis(5);

/// Where groups of commands are made.
#[derive(Debug)]
pub(crate) struct CommandGroups {
    root: PathBuf,
}

/// The group of one command. Dropping it ends what is in it, and removes it.
#[derive(Debug)]
pub(crate) struct CommandGroup {
    path: PathBuf,
}

/// Writes to a file that the kernel made.
fn set(group: &Path, name: &str, value: &str) -> io::Result<()> {
    let path = group.join(name);
    let written = File::options().write(true).open(&path);
    let written = written.and_then(|mut file| file.write_all(value.as_bytes()));
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// The same where not every kernel has the file.
fn set_if_there(group: &Path, name: &str, value: &str) -> io::Result<()> {
    match set(group, name, value) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}

// === impl CommandGroups ===

impl CommandGroups {
    /// Makes the groups of commands possible for this process.
    pub(crate) fn prepare() -> Result<Self, String> {
        let GroupPlace { own, root } = GroupPlace::of(std::process::id())?;
        let failed = |error: io::Error| error.to_string();
        if own == root {
            let own = root.join(OWN);
            move_all(&root, &own).and_then(|()| enable(&root)).map_err(|error| {
                // As it was before.
                let _ = move_all(&own, &root);
                let _ = fs::remove_dir(&own);
                error.to_string()
            })?;
        } else {
            enable(&root).map_err(failed)?;
        }
        let groups = Self { root };
        groups.sweep().map_err(failed)?;
        Ok(groups)
    }

    /// Makes the group of a command.
    pub(crate) fn make(&self, limits: &CommandLimits) -> io::Result<CommandGroup> {
        let prefix = format!("{COMMAND}{}-", std::process::id());
        let path = tempfile::Builder::new().prefix(&prefix).tempdir_in(&self.root)?.keep();
        let group = CommandGroup { path };
        set(&group.path, "memory.max", &limits.memory_bytes_max.to_string())?;
        set_if_there(&group.path, "memory.swap.max", "0")?;
        // One of them ended alone would leave the others at work on half of something.
        set_if_there(&group.path, "memory.oom.group", "1")?;
        set(&group.path, "pids.max", &limits.processes_max.to_string())?;
        Ok(group)
    }

    /// Removes what a moss left that was killed.
    fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            let name = entry.file_name();
            let maker =
                name.to_str().and_then(|name| name.strip_prefix(COMMAND)?.split('-').next());
            if maker.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                // One in which something is still alive stays.
                let _ = fs::remove_dir(entry.path());
            }
        }
        Ok(())
    }
}

/// Moves all processes of a group to another one, which is made if it is not there.
fn move_all(from: &Path, to: &Path) -> io::Result<()> {
    match fs::create_dir(to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    for _ in 0..MOVES_MAX {
        let all = processes(from)?;
        if all.is_empty() {
            return Ok(());
        }
        for process in all {
            match set(to, PROCESSES, &process.to_string()) {
                // It has ended meanwhile.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                moved => moved?,
            }
        }
    }
    Err(io::Error::other("there are always new processes in its control group"))
}

/// Gives the children of a group the controllers that bound commands.
fn enable(root: &Path) -> io::Result<()> {
    let words: Vec<String> = CONTROLLERS.iter().map(|name| format!("+{name}")).collect();
    set(root, CHILDREN, &words.join(" "))
}

// === impl CommandGroup ===

impl CommandGroup {
    /// What the keeper works with, opened by who may: see `keeper/group.rs`.
    pub(crate) fn open(&self) -> io::Result<[OwnedFd; 4]> {
        let write = |name: &str| File::options().write(true).open(self.path.join(name));
        let read = |name: &str| File::open(self.path.join(name));
        let events = (read("memory.events")?, read("pids.events")?);
        Ok([write(PROCESSES)?.into(), events.0.into(), events.1.into(), write(KILL)?.into()])
    }
}

impl Drop for CommandGroup {
    fn drop(&mut self) {
        // Nearly always all of it is dead, and the first attempt succeeds.
        let _ = set(&self.path, KILL, "1");
        for _ in 0..REMOVALS_MAX {
            if fs::remove_dir(&self.path).is_ok() {
                return;
            }
            std::thread::sleep(REMOVE_EVERY);
        }
    }
}
