//! The system's bubblewrap: finds it, and says in its arguments what a command sees.

use std::ffi::{OsStr, OsString};
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::command::NetworkMode;
use crate::lookup::find_of_system;
use crate::mounts::PlannedMount;
use crate::visible::SHARED_MEMORY;

/// Where it is looked for.
const PATHS: &[&str] =
    &["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];
/// The permission bits of a private temporary directory.
const SCRATCH_MODE: &str = "1777";

/// The program, and what it can.
#[derive(Debug, Clone)]
pub(crate) struct Bubblewrap {
    pub(crate) path: PathBuf,
    /// As it says itself: "bubblewrap 0.8.0".
    pub(crate) version: String,
    has_size: bool,
    has_disable_userns: bool,
    /// Whether it mounts what was opened before, and looks whether it did.
    pub(crate) has_descriptors: bool,
}

// === impl Bubblewrap ===

impl Bubblewrap {
    /// Finds it, and what it can.
    pub(crate) fn find() -> Option<Self> {
        let path = find_of_system(PATHS)?;
        let said = |argument: &str| {
            let output =
                Command::new(&path).arg(argument).env_clear().stdin(Stdio::null()).output();
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let help = said("--help").ok()?;
        Some(Self {
            version: said("--version").ok()?.trim().to_owned(),
            path,
            has_size: help.contains("--size"),
            has_disable_userns: help.contains("--disable-userns"),
            has_descriptors: help.contains("--ro-bind-fd"),
        })
    }

    /// Its arguments up to the program that it runs. `opened` are the descriptors by which it
    /// inherits what mounts show, as far as there are any; `scratch_bytes` bounds each private
    /// directory.
    pub(crate) fn arguments(
        &self,
        mounts: &[PlannedMount],
        opened: &[Option<RawFd>],
        network: NetworkMode,
        scratch_bytes: u64,
    ) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |words: &[&OsStr]| arguments.extend(words.iter().map(Into::into));
        let word = OsStr::new;
        add(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"].map(word));
        add(&["--unshare-cgroup-try", "--as-pid-1", "--new-session", "--cap-drop", "ALL"].map(word));
        if network == NetworkMode::Off {
            add(&[word("--unshare-net")]);
        }
        if self.has_disable_userns {
            add(&[word("--disable-userns")]);
        }
        let size = scratch_bytes.to_string();
        let scratch = |at| {
            let bound = if self.has_size { &["--size", size.as_str()][..] } else { &[] };
            let words = ["--perms", SCRATCH_MODE].iter().chain(bound).chain(&["--tmpfs"]);
            words.map(|text| word(text)).chain([at]).collect::<Vec<_>>()
        };
        let is_whole = mounts.contains(&PlannedMount::Everything);
        if is_whole {
            add(&[word("--dev-bind"), word("/"), word("/")]);
        } else {
            add(&[word("--dev"), word("/dev")]);
            add(&scratch(word(SHARED_MEMORY)));
        }
        add(&[word("--proc"), word("/proc")]);
        let opened = opened.iter().copied().chain(std::iter::repeat(None));
        for (mount, opened) in mounts.iter().zip(opened) {
            let opened = opened.map(|fd| OsString::from(fd.to_string()));
            let at = mount.at().as_os_str();
            match mount {
                PlannedMount::Everything => {}
                PlannedMount::Link { target, .. } => {
                    add(&[word("--symlink"), target.as_os_str(), at]);
                }
                PlannedMount::Readable(from)
                | PlannedMount::Cache { real: from, is_writable: false, .. } => match opened {
                    Some(fd) => add(&[word("--ro-bind-fd"), &fd, at]),
                    None => add(&[word("--ro-bind"), from.as_os_str(), at]),
                },
                PlannedMount::Writable(from) | PlannedMount::Cache { real: from, .. } => {
                    match opened {
                        Some(fd) => add(&[word("--bind-fd"), &fd, at]),
                        None => add(&[word("--bind"), from.as_os_str(), at]),
                    }
                }
                PlannedMount::Scratch(_) => add(&scratch(at)),
                PlannedMount::Copy { from, .. } => add(&[word("--ro-bind"), from.as_os_str(), at]),
                // A device that a mount without devices does not open.
                PlannedMount::MaskedFile(_) | PlannedMount::MaskedSocket(_) => {
                    add(&[word("--ro-bind"), word("/dev/null"), at]);
                }
                PlannedMount::MaskedDirectory(_) => {
                    add(&[word("--perms"), word("0000"), word("--tmpfs"), at]);
                    add(&[word("--remount-ro"), at]);
                }
            }
        }
        if !is_whole {
            add(&[word("--remount-ro"), word("/dev"), word("--remount-ro"), word("/")]);
        }
        add(&[word("--chdir"), word("/"), word("--")]);
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_become_arguments_in_their_order() {
        let bubblewrap = Bubblewrap {
            path: "/usr/bin/bwrap".into(),
            version: String::new(),
            has_size: true,
            has_disable_userns: false,
            has_descriptors: true,
        };
        let mounts = [
            PlannedMount::Link { target: "usr/bin".into(), at: "/bin".into() },
            PlannedMount::Scratch("/tmp".into()),
            PlannedMount::Writable("/w".into()),
            PlannedMount::Readable("/w/.git/hooks".into()),
            PlannedMount::Copy { from: "/t/i".into(), at: "/w/.git/index".into() },
            PlannedMount::MaskedFile("/w/.env".into()),
            PlannedMount::MaskedDirectory("/w/keys".into()),
            PlannedMount::Cache { real: "/v/c".into(), at: "/c".into(), is_writable: true },
        ];
        let arguments = bubblewrap.arguments(&mounts, &[None, None, Some(9)], NetworkMode::Off, 7);
        let line: Vec<_> = arguments.iter().map(|word| word.to_str().unwrap()).collect();
        let line = line.join(" ");
        assert!(line.contains("--unshare-net"), "{line}");
        let (_, mounts) = line.split_once("--proc /proc ").unwrap();
        assert_eq!(
            mounts,
            "--symlink usr/bin /bin --perms 1777 --size 7 --tmpfs /tmp --bind-fd 9 /w \
             --ro-bind /w/.git/hooks /w/.git/hooks --ro-bind /t/i /w/.git/index --ro-bind /dev/null /w/.env \
             --perms 0000 --tmpfs /w/keys --remount-ro /w/keys --bind /v/c /c --remount-ro /dev --remount-ro / \
             --chdir / --",
        );
        let shared = bubblewrap.arguments(&[PlannedMount::Everything], &[], NetworkMode::On, 7);
        assert!(!shared.iter().any(|word| word == "--unshare-net" || word == "--remount-ro"));
    }
}
