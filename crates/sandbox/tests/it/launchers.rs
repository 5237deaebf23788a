//! What makes namespaces: moss itself, or the system's bubblewrap where moss may not.

use std::process::Command;

use moss_sandbox::{NetworkMode, Profile};

use crate::harness::{FULL, KEEPER, Place, Way, run, sandbox};

/// What a command can find out about directories that are its own.
const LOOK_AT_FILES: &str = r#"
ls -A / /dev /dev/shm /run /tmp /var/tmp
stat -c '%n %F %a %t:%T' /dev/* /tmp /var/tmp /run
readlink /bin /lib /dev/*
"#;
/// What any command can find out about where it runs.
const LOOK_AROUND: &str = r#"
ls /proc | grep -v '[0-9]'
grep -E '^(Uid|Gid|Cap...|NoNewPrivs|Seccomp):' /proc/self/status
cut -d ' ' -f 2,4,6 /proc/self/mounts | grep -o '^[^ ]* [a-z]*' | grep -v ^/proc/ | sort
id; ulimit -a; hostname
ls -l /proc/self/fd | wc -l
echo $(< /proc/self/sessionid) $$ $PPID
"#;

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
