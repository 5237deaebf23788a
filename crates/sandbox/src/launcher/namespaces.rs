//! The namespaces of a command. None needs a right outside: a user namespace comes first, in which the
//! process may make the others.

use std::fs;
use std::io;

use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;

use crate::command::NetworkMode;
use crate::system;

/// Makes a user namespace in which the user is the same as outside, and nobody else is there; and a PID
/// namespace, whose first process is the next child.
pub(super) fn enter_first() -> Result<(), String> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let failed = |error: io::Error| format!("a user namespace cannot be made: {error}");
    system::unshare(UnshareFlags::NEWUSER).map_err(failed)?;
    for (name, text) in [
        // Without it nobody may say which groups there are.
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ] {
        let file = format!("/proc/self/{name}");
        fs::write(&file, text)
            .map_err(|error| failed(io::Error::new(error.kind(), format!("{file}: {error}"))))?;
    }
    system::unshare(UnshareFlags::NEWPID)
        .map_err(|error| format!("a PID namespace cannot be made: {error}"))
}

/// Makes the others for this process: mounts, System V objects, the name of the machine, control
/// groups, and with the network off one that has a loopback interface alone.
pub(super) fn enter_second(network: NetworkMode) -> Result<(), String> {
    let failed = |error: io::Error| format!("namespaces cannot be made: {error}");
    let all = UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    system::unshare(all).map_err(failed)?;
    // It hides names alone: some kernels are built without it.
    let _ = system::unshare(UnshareFlags::NEWCGROUP);
    if network == NetworkMode::Off {
        system::unshare(UnshareFlags::NEWNET).map_err(failed)?;
        system::start_loopback()
            .map_err(|error| format!("the loopback interface cannot be started: {error}"))?;
    }
    Ok(())
}
