//! What makes namespaces: moss itself, or the system's bubblewrap where moss may not.

use std::fs::{self, Permissions};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};

use moss_sandbox::{NetworkMode, Profile};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use crate::harness::{FULL, KEEPER, Place, WAYS, Way, run, sandbox};

/// What a command can find out about directories that are its own.
const LOOK_AT_FILES: &str = r#"
ls -A / /dev /dev/shm /run /tmp /var/tmp
stat -c '%n %F %a %t:%T' /dev/* /tmp /var/tmp /run
readlink /bin /lib /dev/*
"#;
/// What any command can find out about where it runs, less what is mounted over sockets of other tests.
const LOOK_AROUND: &str = r#"
ls /proc | grep -v '[0-9]'
grep -E '^(Uid|Gid|Cap...|NoNewPrivs|Seccomp):' /proc/self/status
cut -d ' ' -f 2,4,6 /proc/self/mounts | grep -o '^[^ ]* [a-z]*' | grep -v -e ^/proc/ -e '[.]sock ' | sort
id; ulimit -a; hostname
ls -l /proc/self/fd | wc -l
echo $(< /proc/self/sessionid) $$ $PPID
"#;

/// Asks for what a program is told at its start, such as the size of pages: `prctl` knows it since Linux 6.4.
const PR_GET_AUXV: u64 = 0x4155_5856;
/// A user and a group that every system has, without rights.
const ORDINARY: u32 = 1;

/// Runs a program for which, and for all that it starts, the kernel refuses a system call: each, or those whose first
/// argument is this.
fn run_without(
    call: libc::c_long,
    first: Option<u64>,
    errno: libc::c_int,
    command: &mut Command,
) -> Output {
    let equals = |value| {
        let length = SeccompCmpArgLen::Dword;
        let condition = SeccompCondition::new(0, length, SeccompCmpOp::Eq, value).unwrap();
        SeccompRule::new(vec![condition]).unwrap()
    };
    let rules = [(call, first.into_iter().map(equals).collect())].into();
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).unwrap();
    let program = BpfProgram::try_from(filter).unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A thread of its own: nothing takes the filter off again.
    let child = std::thread::scope(|scope| {
        let start = || {
            seccompiler::apply_filter(&program).unwrap();
            command.spawn().unwrap()
        };
        scope.spawn(start).join().unwrap()
    });
    child.wait_with_output().unwrap()
}

#[tokio::test]
async fn each_says_which_it_is() {
    let named = async |way| sandbox(way).await.report().to_string();
    assert!(named(Way::Bubblewrap).await.starts_with("tier full (bubblewrap "));
    assert!(named(Way::Own).await.starts_with("tier full (moss's own launcher, seccomp"));
}

#[tokio::test]
async fn a_command_finds_the_same_with_both() {
    for profile in [Profile::ReadOnly, Profile::WorkspaceWrite, Profile::DangerFull] {
        for network in [NetworkMode::Off, NetworkMode::On] {
            let place = Place::new();
            let files = if profile == Profile::DangerFull { "" } else { LOOK_AT_FILES };
            let mut command = place.shell(&format!("{files}{LOOK_AROUND}"));
            (command.profile, command.network) = (profile, network);
            let [bubblewrap, own] = FULL;
            let expected = run(bubblewrap, command.clone()).await;
            let found = run(own, command).await;
            assert!(expected.stdout.lines().count() > 40, "{expected:?}");
            assert_eq!(found.stdout, expected.stdout, "{profile:?}, {network:?}");
        }
    }
}

#[tokio::test]
async fn without_user_namespaces_the_tier_is_landlock_and_the_report_says_what_would_raise_it() {
    // In a user namespace of its own, so that the machine stays as it is.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" report";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", script, KEEPER])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("tier landlock (seccomp, Landlock ABI "), "{said}");
    for part in [
        "; full: moss's own launcher: a user namespace cannot be made: No space left on device",
        "; bubblewrap ",
        "; run `sudo sysctl -w user.max_user_namespaces=15000`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn an_ordinary_user_runs_commands_on_kernels_that_tell_little() {
    for way in WAYS {
        let place = Place::new();
        let around = place.root.parent().unwrap();
        let program = around.join("keeper");
        fs::copy(KEEPER, &program).unwrap();
        let mut command = Command::new(&program);
        // It leaves something running, so that its keeper looks for that.
        let script = "sleep 60 & echo ok; cat /proc/self/oom_score_adj";
        command.args(["run", place.root.to_str().unwrap(), &way.to_string(), script]);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", &place.root);
        if rustix::process::getuid().is_root() {
            // Whom nothing is hidden from finds it elsewhere.
            command.uid(ORDINARY).gid(ORDINARY);
            std::os::unix::fs::chown(&place.root, Some(ORDINARY), Some(ORDINARY)).unwrap();
            fs::set_permissions(around, Permissions::from_mode(0o755)).unwrap();
        }
        let call = libc::SYS_prctl;
        let Output { status, stdout, stderr } =
            run_without(call, Some(PR_GET_AUXV), libc::EINVAL, &mut command);
        let said = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "{way}: {said}");
        let expected = "ok\n1000\nit ended with status 0\n";
        assert_eq!(String::from_utf8_lossy(&stdout), expected, "{way}: {said}");
    }
}

#[test]
fn commands_inherit_nothing_where_the_kernel_does_not_close_descriptors_by_itself() {
    for way in WAYS {
        let place = Place::new();
        let script = "sleep 60 & ls /proc/self/fd";
        // Without the call, and without its flag.
        for errno in [libc::ENOSYS, libc::EINVAL] {
            let mut command = Command::new(KEEPER);
            command.args(["run", place.root.to_str().unwrap(), &way.to_string(), script]);
            let call = libc::SYS_close_range;
            let Output { status, stdout, stderr } = run_without(call, None, errno, &mut command);
            let said = String::from_utf8_lossy(&stderr);
            assert!(status.success(), "{way}: {said}");
            // The last one is that of the directory.
            let expected = "0\n1\n2\n3\nit ended with status 0\n";
            assert_eq!(String::from_utf8_lossy(&stdout), expected, "{way}: {said}");
        }
    }
}

#[test]
fn where_the_kernel_keeps_abstract_sockets_from_nobody_the_result_and_the_report_say_so() {
    let name = format!("moss-sandbox-launchers-{}", std::process::id());
    let _listener =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let script = format!(
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{name}\")' 2>/dev/null && echo reached"
    );
    let landlock = libc::SYS_landlock_create_ruleset;
    for way in FULL {
        for network in [false, true] {
            let place = Place::new();
            let mut command = Command::new(KEEPER);
            command.args(["run", place.root.to_str().unwrap(), &way.to_string(), &script]);
            command.envs(network.then_some(("NETWORK", "on")));
            let with = String::from_utf8(command.output().unwrap().stdout).unwrap();
            assert!(!with.contains("reached") && !with.contains("abstract"), "{way}: {with}");
            let without = run_without(landlock, None, libc::ENOSYS, &mut command).stdout;
            let without = String::from_utf8(without).unwrap();
            assert_eq!(without.contains("reached\n"), network, "{way}: {without}");
            assert_eq!(without.contains("abstract Unix sockets"), network, "{way}: {without}");
        }
    }
    let report = run_without(landlock, None, libc::ENOSYS, Command::new(KEEPER).arg("report"));
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.starts_with("tier full") && report.contains("abstract Unix"), "{report}");
}

#[test]
fn a_keeper_that_cannot_go_on_says_why() {
    let mut command = Command::new(KEEPER);
    let output = run_without(libc::SYS_wait4, None, libc::EIO, command.arg("report"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let why = "; landlock: its keeper cannot go on: Input/output error";
    assert!(said.starts_with("tier none ") && said.contains(why), "{said}");
}

#[test]
fn a_workspace_of_many_protected_paths_needs_no_more_open_files_than_usual() {
    let place = Place::new();
    for number in 0..258 {
        let directory = place.root.join(format!("d{number}/e"));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(".env"), "secret\n").unwrap();
    }
    let script = "ulimit -Sn 1024 && exec \"$0\" run \"$1\" bubblewrap 'ls | wc -l'";
    let root = place.root.to_str().unwrap();
    let output = Command::new("sh").args(["-c", script, KEEPER, root]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "258\nit ended with status 0\n", "{said}");
}
