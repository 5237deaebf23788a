//! What a worker allows itself. A process sets it itself, as the first thing that it does: nothing
//! has to run between fork and exec for that, and no input was read yet.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// How far a worker stands back behind other processes.
const NICE: i32 = 10;

/// What a worker may use at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Address space, in bytes.
    pub memory_bytes: u64,
    /// CPU time over all threads, in seconds.
    pub cpu_seconds: u64,
    /// Maximum number of open files.
    pub files: u64,
}

// === impl WorkerLimits ===

impl WorkerLimits {
    /// Applies the limits for this process, without a way back: nor can it leave a core
    /// dump, grow a file, gain rights, or outlive the process that started it.
    ///
    /// # Errors
    ///
    /// Where the system refuses one. Elsewhere than on Linux one on the address space may be
    /// refused; it is then left out.
    pub fn enter(self) -> io::Result<()> {
        // What calls wait for goes first.
        let _ = rustix::process::nice(NICE);
        bound(Resource::Core, 0)?;
        bound(Resource::Fsize, 0)?;
        bound(Resource::Nofile, self.files)?;
        bound(Resource::Cpu, self.cpu_seconds)?;
        match bound(Resource::As, self.memory_bytes) {
            Err(error) if cfg!(target_os = "linux") => return Err(error),
            _ => {}
        }
        #[cfg(target_os = "linux")]
        {
            rustix::thread::set_no_new_privs(true)?;
            let end = rustix::process::Signal::KILL;
            rustix::process::set_parent_process_death_signal(Some(end))?;
        }
        Ok(())
    }
}

fn bound(resource: Resource, most: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}
