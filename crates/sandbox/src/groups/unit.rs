//! Which unit of a user's systemd a group is of, and what that systemd says of it: it does not mark the groups that
//! it delegates, as the systemd of the system does.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::lookup::find_of_system;

/// Where the program is that asks.
const PATHS: &[&str] =
    &["/usr/bin/systemctl", "/bin/systemctl", "/run/current-system/sw/bin/systemctl"];
/// Which units can have a group delegated.
const KINDS: [&str; 2] = [".service", ".scope"];
/// Longest wait for a systemd that does not respond, and how often it is looked for.
const TIMEOUT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);

/// A unit of a user's systemd.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UserUnit<'a> {
    /// The user by number.
    user: &'a str,
    name: &'a str,
}

// === impl UserUnit ===

impl<'a> UserUnit<'a> {
    /// The unit by the path of its group; none where no systemd of a user made that.
    pub(super) fn of(group: &'a Path) -> Option<Self> {
        let name = group.file_name()?.to_str()?;
        if !KINDS.iter().any(|kind| name.ends_with(kind)) {
            return None;
        }
        let above = group.parent()?.iter().filter_map(OsStr::to_str);
        let mut users =
            above.filter_map(|name| name.strip_prefix("user@")?.strip_suffix(".service"));
        let user =
            users.next_back().filter(|user| user.bytes().all(|byte| byte.is_ascii_digit()))?;
        // What it puts before names that the kernel could take for its own.
        Some(Self { user, name: name.strip_prefix('_').unwrap_or(name) })
    }

    /// Whether its group is left to it.
    pub(super) fn is_delegated(&self) -> bool {
        let Some(program) = find_of_system(PATHS) else { return false };
        let mut command = Command::new(program);
        command.args(["--user", "show", "--property=Delegate", "--value", "--", self.name]);
        command.env_clear().env("XDG_RUNTIME_DIR", format!("/run/user/{}", self.user));
        said(&mut command, TIMEOUT).is_some_and(|said| said.trim_ascii() == b"yes")
    }
}

/// What a program writes that ends in time; little enough for a pipe.
fn said(command: &mut Command, within: Duration) -> Option<Vec<u8>> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let (mut child, started) = (command.spawn().ok()?, Instant::now());
    // Its own bound on waiting counts from the first message on, which a systemd that hangs does not send.
    while child.try_wait().ok()?.is_none() {
        if started.elapsed() >= within {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(POLL);
    }
    let mut said = Vec::new();
    child.stdout?.read_to_end(&mut said).ok()?;
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_services_and_scopes_of_a_user_are_asked_about() {
        let found = |group: &str| {
            let unit = UserUnit::of(Path::new(group))?;
            Some(format!("{} {}", unit.user, unit.name))
        };
        let above = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service";
        let unit = |name: &str| format!("{above}/app.slice/{name}");
        for (name, expected) in [
            (r"app-moss.slice/moss@home-a\x2db.service", r"1000 moss@home-a\x2db.service"),
            ("run-r1.scope", "1000 run-r1.scope"),
            ("_memory.service", "1000 memory.service"),
        ] {
            assert_eq!(found(&unit(name)).as_deref(), Some(expected));
        }
        for other in [
            above,
            "/sys/fs/cgroup/system.slice/moss.service",
            "/sys/fs/cgroup/user@x.service/moss.service",
            "/",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
        for other in ["moss.slice", "moss.service/inner", "moss"] {
            assert_eq!(found(&unit(other)), None, "{other}");
        }
    }

    #[test]
    fn a_program_that_does_not_end_says_nothing() {
        let in_time = Duration::from_secs(60);
        let said = |line: &str, within| said(Command::new("/bin/sh").args(["-c", line]), within);
        assert_eq!(said("echo yes", in_time).as_deref(), Some(&b"yes\n"[..]));
        assert_eq!(said("exec sleep 60", Duration::from_millis(50)), None);
        assert_eq!(said("exit 1", in_time).as_deref(), Some(&b""[..]));
    }
}
