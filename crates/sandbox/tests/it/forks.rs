//! The server that keepers are forked from: nothing depends on it but the start of the next command.

use std::fs;
use std::process::{Command, Stdio};

use moss_sandbox::{Sandbox, SandboxOptions};
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc;

use crate::harness::{KEEPER, Place, WAYS, alive, dead, eventually, marker, run};

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

#[tokio::test]
async fn a_server_that_was_killed_is_replaced_and_its_commands_go_on() {
    for way in WAYS {
        let place = Place::new();
        // A name of its own, by which its server is known among those of other tests.
        let program = place.root.with_file_name("keeper");
        fs::hard_link(KEEPER, &program).or_else(|_| fs::copy(KEEPER, &program).map(drop)).unwrap();
        let name = program.to_str().unwrap().to_owned();
        let sandbox = Sandbox::detect(SandboxOptions {
            program,
            tier_max: way.tier(),
            launchers: way.launchers(),
        });
        let sandbox = sandbox.await;
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
