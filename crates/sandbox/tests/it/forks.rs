//! The server that keepers are forked from: nothing depends on it but the start of the next command.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use moss_sandbox::{NetworkMode, Profile, Sandbox, SandboxError, SandboxOptions, SandboxedCommand};
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc;

use crate::harness::{KEEPER, Place, WAYS, Way, alive, dead, eventually, marker, run, try_run};

/// How many descriptors more a command may have than it should, before a test fails.
const FDS: &str = "ls /proc/self/fd | wc -l";

/// The servers among the children of a process.
fn servers(parent: u32) -> Vec<i32> {
    let is_child = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent_of = stat.rsplit_once(')').and_then(|(_, rest)| rest.split(' ').nth(2));
        parent_of == Some(&parent.to_string())
    };
    alive("fork-keepers").into_iter().filter(is_child).collect()
}

/// A sandbox whose program has a name of its own, by which its servers are known among those of other tests.
async fn sandbox_of_its_own(place: &Place, way: Way) -> (Sandbox, String) {
    let program = place.root.with_file_name("keeper");
    fs::hard_link(KEEPER, &program).or_else(|_| fs::copy(KEEPER, &program).map(drop)).unwrap();
    let name = program.to_str().unwrap().to_owned();
    let (tier_max, launchers) = (way.tier(), way.launchers());
    (Sandbox::detect(SandboxOptions { program, tier_max, launchers }).await, name)
}

/// How many filters of system calls a process has, by what `/proc` says of it.
fn filters(status: &str) -> u32 {
    let line = status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"));
    line.unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn what_its_server_has_given_up_a_command_does_not_give_up_anew() {
    let place = Place::new();
    let (sandbox, name) = sandbox_of_its_own(&place, Way::Landlock).await;
    let own = filters(&fs::read_to_string("/proc/self/status").unwrap());
    for (profile, network, more) in [
        (Profile::WorkspaceWrite, NetworkMode::Off, 3),
        (Profile::ReadOnly, NetworkMode::On, 3),
        (Profile::DangerFull, NetworkMode::On, 0),
        (Profile::ReadOnly, NetworkMode::Off, 3),
        (Profile::WorkspaceWrite, NetworkMode::On, 3),
    ] {
        let mut command = place.shell("cat /proc/self/status");
        (command.profile, command.network) = (profile, network);
        command.tier_min = Way::Landlock.tier();
        let (sender, mut chunks) = mpsc::channel(4);
        let running = sandbox.start(command, sender).await.unwrap();
        let mut said = Vec::new();
        let listen = async {
            while let Some(chunk) = chunks.recv().await {
                said.extend(chunk.bytes);
            }
        };
        let ((), end) = tokio::join!(listen, running.wait());
        let said = String::from_utf8(said).unwrap();
        assert!(end.unwrap().exit.is_success(), "{said}");
        assert_eq!(filters(&said), own + more, "{profile}, {network}: {said}");
        assert!(said.contains("CapEff:\t0000000000000000\n"), "{profile}, {network}: {said}");
    }
    let own_servers = servers(std::process::id());
    let of = |word: &str| {
        let here = alive(&name).into_iter().filter(|pid| own_servers.contains(pid));
        let bounded = here.filter(|pid| alive(word).contains(pid));
        let statuses = bounded.map(|pid| fs::read_to_string(format!("/proc/{pid}/status")));
        statuses.map(|status| filters(&status.unwrap())).collect::<Vec<_>>()
    };
    // The last filter refuses what keepers open files with: it binds their commands alone.
    let found = ["unbounded", "offline", "online"].map(of);
    assert_eq!(found, [vec![own], vec![own + 2], vec![own + 2]]);
}

#[tokio::test]
async fn a_program_begins_with_its_own_signals_streams_and_variables_wherever_it_is_found() {
    for way in WAYS {
        let place = Place::new();
        // Without a first line that names its shell.
        let script = place.write(
            "bin/found",
            "cat /proc/self/status; (echo x >&0) 2>/dev/null && echo written; echo $OWN; pwd\n",
        );
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(place.root.join("here")).unwrap();
        let mut command = SandboxedCommand::new(place.root.clone(), ["found"]);
        command.tier_min = way.tier();
        command.directory = place.root.join("here");
        let path = format!("/missing:{}:/usr/bin:/bin", place.root.join("bin").display());
        command.environment.set =
            vec![("PATH".into(), path.into()), ("OWN".into(), "of its own".into())];
        let ran = run(way, command.clone()).await;
        let signals = |name: &str| {
            let line = ran.stdout.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        };
        let pipe = 1 << (Signal::PIPE.as_raw() - 1);
        assert_eq!((signals("SigBlk:"), signals("SigIgn:") & pipe), (0, 0), "{way}: {ran:?}");
        let end = format!("of its own\n{}\n", command.directory.display());
        assert!(ran.stdout.ends_with(&end), "{way}: {ran:?}");
        assert!(!ran.stdout.contains("written"), "{way}: {ran:?}");
        command.arguments = vec!["missing".into()];
        let error = try_run(way, command).await.unwrap_err();
        assert!(matches!(error, SandboxError::Program { .. }), "{way}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_was_killed_is_replaced_and_its_commands_go_on() {
    for way in WAYS {
        let place = Place::new();
        let (sandbox, name) = sandbox_of_its_own(&place, way).await;
        let own = servers(std::process::id());
        let server = alive(&name).into_iter().find(|pid| own.contains(pid)).unwrap();
        let start = async |script: &str| {
            let mut command = place.shell(script);
            command.tier_min = way.tier();
            let (sender, _) = mpsc::channel(1);
            sandbox.start(command, sender).await.unwrap()
        };
        let first = start("until [ -e go ]; do sleep 0.01; done").await;
        kill_process(Pid::from_raw(server).unwrap(), Signal::KILL).unwrap();
        // What is asked of one that is about to end is lost with it.
        eventually("the server ends", || !alive(&name).contains(&server)).await;
        let second = start("touch go").await.wait().await.unwrap();
        assert!(second.exit.is_success(), "{way}: {second:?}");
        let first = first.wait().await.unwrap();
        assert!(first.exit.is_success(), "{way}: {first:?}");
        drop(sandbox);
        dead(&name).await;
    }
}

#[tokio::test]
async fn a_server_ends_with_what_started_it() {
    for way in WAYS {
        let (place, marker) = (Place::new(), marker());
        let mut host = Command::new(KEEPER)
            .args(["host", place.root.to_str().unwrap(), &way.to_string()])
            .args([&format!("exec sleep {marker}"), "1"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        eventually("a command runs", || alive(&marker).len() == 1).await;
        let server = servers(host.id());
        assert_eq!(server.len(), 1, "{way}");
        host.kill().unwrap();
        host.wait().unwrap();
        eventually("the server ends", || !alive("fork-keepers").contains(&server[0])).await;
        dead(&marker).await;
    }
}

#[tokio::test]
async fn commands_that_are_started_at_once_have_nothing_of_each_other() {
    for way in WAYS {
        let place = Place::new();
        let alone = run(way, place.shell(FDS)).await.stdout;
        let all: Vec<_> = (0..16)
            .map(|number: u32| {
                let mut command = place.shell(&format!("{FDS}; echo {number}; env | grep ^OWN_"));
                command.has_input = number.is_multiple_of(2);
                command.environment.set.push((format!("OWN_{number}").into(), "1".into()));
                tokio::spawn(async move { run(way, command).await })
            })
            .collect();
        for (number, ran) in all.into_iter().enumerate() {
            let ran = ran.await.unwrap();
            assert_eq!(ran.stdout, format!("{alone}{number}\nOWN_{number}=1\n"), "{way}");
        }
    }
}
