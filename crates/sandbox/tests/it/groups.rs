//! Control groups of commands, where a part of the hierarchy can be delegated: to the root user of a machine that
//! gives memory and processes to version 2, or by the systemd of a user.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::harness::{KEEPER, Place, WAYS, alive, dead, eventually, marker};

/// With it, what a machine needs to try control groups has to be there.
const ASKED: &str = "MOSS_TEST_CONTROL_GROUPS";
/// How systemd marks what it leaves to others.
const MARK: &str = "user.delegate";
/// Has a process be in the group that is named first, or where moss is in it, and become another program.
const ENTER: &str = "g=$1; [ ! -d \"$g/moss-itself\" ] || g=$g/moss-itself
echo $$ > \"$g/cgroup.procs\" && shift && exec \"$@\"";
/// The same, and it stays there beside that program.
const ENTER_BESIDE: &str = "echo $$ > \"$1/cgroup.procs\" && shift && \"$@\"; exit $?";
/// Takes more than it may, and would end before anybody has counted it.
const SPIKE: &str =
    "cat /proc/self/cgroup; python3 -c 'len(b\"x\" * (400 << 20)); print(\"through\")'";
/// Starts more than it may.
const BOMB: &str = "for i in $(seq 80); do sleep MARKER & done; wait";
/// The same, and it ends with the first that is refused, mostly before anybody has counted.
const FORKS: &str = "exec python3 -c '
import os, time
while os.fork() != 0: pass
time.sleep(60)'";

/// A group that was given to whoever is put there. Removed at the end.
struct Delegated(PathBuf);

/// Where groups of version 2 are mounted.
fn mount() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    line.split(' ').nth(4).map(PathBuf::from)
}

// === impl Delegated ===

impl Delegated {
    /// Makes one; says past the test runner where this machine has none to give, and fails where everything is tested.
    fn make() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let made = mount().and_then(|mount| {
            // A systemd has done so already.
            let _ = fs::write(mount.join("cgroup.subtree_control"), "+memory +pids");
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = mount.join(format!("moss-test-{}-{number}", std::process::id()));
            fs::create_dir(&path).ok()?;
            let group = Self(path);
            let has_all = group.0.join("memory.max").exists() && group.0.join("pids.max").exists();
            let flags = rustix::fs::XattrFlags::empty();
            let marked = rustix::fs::setxattr(&group.0, MARK, b"1", flags);
            (has_all && marked.is_ok()).then_some(group)
        });
        if made.is_none() {
            let note = "\nNOT TESTED: control groups of commands: no group with memory and processes can be made here \
                        (they need the root user, and control groups of version 2 that have both)\n";
            assert!(std::env::var_os(ASKED).is_none(), "{note}");
            std::io::stderr().write_all(note.as_bytes()).unwrap();
        }
        made
    }

    /// Starts the stand-in for moss in it.
    fn command(&self, how: &str, limits: &str, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", how, "sh"]).arg(&self.0).arg(KEEPER).args(words).env("LIMITS", limits);
        command
    }

    fn run(&self, how: &str, limits: &str, words: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(how, limits, words).output().unwrap();
        let said = String::from_utf8_lossy(&stdout).into_owned();
        assert!(status.success(), "{said}{}", String::from_utf8_lossy(&stderr));
        said
    }

    /// The groups of commands that are there.
    fn commands(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("command-"))
            .collect()
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
        for _ in 0..1_000 {
            for entry in fs::read_dir(&self.0).unwrap().flatten() {
                if entry.path().is_dir() {
                    let _ = fs::remove_dir(entry.path());
                }
            }
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::yield_now();
        }
    }
}

#[tokio::test]
async fn the_kernel_bounds_the_memory_and_the_processes_of_a_command() {
    for way in WAYS {
        let Some(group) = Delegated::make() else { return };
        let (place, way) = (Place::new(), way.to_string());
        let workspace = place.root.to_str().unwrap();
        let found = group.run(ENTER, "100000000 500", &["run", workspace, &way, SPIKE]);
        assert!(found.contains("/command-"), "{way}: {found}");
        assert!(found.contains("it reached its limit: memory\n"), "{way}: {found}");
        assert!(!found.contains("through"), "{way}: {found}");
        assert_eq!(group.commands(), [""; 0].map(PathBuf::from), "{way}");

        let marker = marker();
        let bomb = BOMB.replace("MARKER", &marker);
        let found = group.run(ENTER, "1000000000 40", &["run", workspace, &way, &bomb]);
        assert!(found.contains("it reached its limit: number of processes\n"), "{way}: {found}");
        assert_eq!(group.commands(), [""; 0].map(PathBuf::from), "{way}");
        dead(&marker).await;
        let found = group.run(ENTER, "1000000000 40", &["run", workspace, &way, FORKS]);
        assert!(found.contains("it reached its limit: number of processes\n"), "{way}: {found}");

        let fits = "python3 -c 'len(b\"x\" * (400 << 20)); print(\"through\")'; echo ended";
        let found = group.run(ENTER, "1000000000 500", &["run", workspace, &way, fits]);
        assert_eq!(found, "through\nended\nit ended with status 0\n", "{way}");
    }
}

#[tokio::test]
async fn beside_others_in_its_group_moss_counts_alone_and_moves_nobody() {
    let Some(group) = Delegated::make() else { return };
    let place = Place::new();
    let script = "cat /proc/self/cgroup; echo ended";
    let words = ["run", place.root.to_str().unwrap(), "own", script];
    let found = group.run(ENTER_BESIDE, "1000000000 500", &words);
    assert!(found.ends_with("ended\nit ended with status 0\n"), "{found}");
    assert!(!found.contains("command-"), "{found}");
    let groups = fs::read_dir(&group.0).unwrap().flatten().filter(|entry| entry.path().is_dir());
    assert_eq!(groups.count(), 0);
}

#[tokio::test]
async fn what_a_killed_moss_leaves_of_groups_is_removed_by_the_next_one() {
    let Some(group) = Delegated::make() else { return };
    let (place, marker) = (Place::new(), marker());
    let workspace = place.root.to_str().unwrap();
    let script = format!("sleep {marker}");
    let words = ["host", workspace, "own", &script, "1"];
    let mut host = group.command(ENTER, "1000000000 500", &words).spawn().unwrap();
    eventually("it runs", || !alive(&marker).is_empty()).await;
    assert_eq!(group.commands().len(), 1);
    let inside = fs::read_to_string(group.commands()[0].join("cgroup.procs")).unwrap();
    assert!(!inside.is_empty());
    host.kill().unwrap();
    host.wait().unwrap();
    dead(&marker).await;
    eventually("nothing is in its group", || group.commands().iter().all(|path| is_empty(path)))
        .await;
    group.run(ENTER, "1000000000 500", &["run", workspace, "own", "true"]);
    assert_eq!(group.commands(), [""; 0].map(PathBuf::from));
}

/// What asks the systemd of this user for a group, and what then runs in it.
fn of_user(delegate: &str, words: &[&str]) -> Command {
    let mut command = Command::new("systemd-run");
    command.args(["--user", "--scope", "--quiet", "--collect"]).args(["-p", delegate]);
    command.arg(KEEPER).args(words).env("LIMITS", "100000000 500");
    command
}

#[tokio::test]
async fn a_group_that_the_systemd_of_a_user_delegates_is_used_and_no_other() {
    let place = Place::new();
    let words = ["run", place.root.to_str().unwrap(), "own", SPIKE];
    let is_there = Command::new("systemctl").args(["--user", "show-environment"]).output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        let note = "\nNOT TESTED: control groups by the systemd of a user: none manages units of this user\n";
        std::io::stderr().write_all(note.as_bytes()).unwrap();
        return;
    }
    let found = |delegate: &str| {
        let Output { status, stdout, stderr } = of_user(delegate, &words).output().unwrap();
        let said = String::from_utf8_lossy(&stdout).into_owned();
        assert!(status.success(), "{delegate}: {said}{}", String::from_utf8_lossy(&stderr));
        said
    };
    let bounded = found("Delegate=yes");
    assert!(bounded.contains("/command-"), "{bounded}");
    assert!(bounded.contains("it reached its limit: memory\n"), "{bounded}");
    let counted = found("Delegate=no");
    assert!(!counted.contains("/command-"), "{counted}");
}

fn is_empty(group: &Path) -> bool {
    fs::read_to_string(group.join("cgroup.procs")).is_ok_and(|text| text.is_empty())
}
