//! Commands that run at the same time: what one of them changed of protected names is before no other one.

use std::fs;
use std::process::{Command, Stdio};

use moss_sandbox::{CommandEnd, CoverChange, EndCause, LeftCommand, ProcessExit, RunningCommand};

use crate::harness::{
    FULL, KEEPER, Place, Ran, WAYS, Way, alive, dead, eventually, marker, run, start,
};

/// What a command writes that no command may write.
const EVIL: &str = "echo evil > .git/hooks/pre-commit";
/// Where that is.
const HOOK: &str = ".git/hooks/pre-commit";

/// A place with what belongs to git.
fn repository() -> Place {
    let place = Place::new();
    place.write(".git/config", "old\n");
    place.write(".git/hooks/sample", "old\n");
    place
}

/// Starts a command, and waits until it has done the first part of what it does. The rest follows once `end` lets it.
async fn begin(place: &Place, name: &str, first: &str, rest: &str) -> RunningCommand {
    let script = format!(
        "{first}; touch {name}-begun; until [ -e {name}-may-end ]; do sleep 0.02; done; {rest}"
    );
    let mut command = place.shell(&script);
    command.files.protected = vec![place.root.join("tasks.json")];
    let running = start(Way::Landlock, command).await;
    eventually("it runs", || place.root.join(format!("{name}-begun")).exists()).await;
    running
}

async fn end(place: &Place, name: &str, running: RunningCommand) -> CommandEnd {
    place.write(&format!("{name}-may-end"), "");
    running.wait().await.unwrap()
}

fn hook(place: &Place) -> Option<String> {
    fs::read_to_string(place.root.join(HOOK)).ok()
}

#[tokio::test]
async fn what_a_command_changed_is_restored_by_no_other_one_that_began_meanwhile() {
    // By itself, or by moss at its end; with another change by the one that runs on.
    for (by_first, by_second) in
        [("true", "true"), ("rm .git/hooks/pre-commit", "true"), ("true", EVIL)]
    {
        let place = repository();
        let first = begin(&place, "a", EVIL, by_first).await;
        let second = begin(&place, "b", "true", by_second).await;
        let is_left = by_first == "true";
        let ended = end(&place, "a", first).await;
        assert_eq!(ended.restored.is_empty(), !is_left, "{by_first}: {ended:?}");
        assert_eq!(hook(&place), None, "{by_first}, {by_second}");
        let ended = end(&place, "b", second).await;
        assert_eq!(hook(&place), None, "{by_first}, {by_second}: {ended:?}");
        assert_eq!(ended.restored.is_empty(), by_second == "true", "{by_second}: {ended:?}");
        assert_eq!(place.read(".git/hooks/sample"), "old\n");
    }
}

#[tokio::test]
async fn what_a_command_changed_is_restored_by_none_of_a_chain() {
    let place = repository();
    let first = begin(&place, "a", EVIL, "true").await;
    let second = begin(&place, "b", "true", "true").await;
    end(&place, "a", first).await;
    let third = begin(&place, "c", EVIL, "true").await;
    let fourth = begin(&place, "d", "true", "true").await;
    for (name, running) in [("b", second), ("c", third), ("d", fourth)] {
        end(&place, name, running).await;
        assert_eq!(hook(&place), None, "{name}");
    }
}

#[tokio::test]
async fn what_was_made_and_is_gone_again_is_made_by_no_other_command() {
    let place = repository();
    let first = begin(&place, "a", "echo evil > made.json", "rm made.json").await;
    // To the second it is a protected name that is there.
    let mut command = place.shell("touch b-begun; until [ -e b-may-end ]; do sleep 0.02; done");
    command.files.protected = vec![place.root.join("made.json")];
    let second = start(Way::Landlock, command).await;
    eventually("it runs", || place.root.join("b-begun").exists()).await;
    end(&place, "a", first).await;
    let ended = end(&place, "b", second).await;
    assert!(!place.root.join("made.json").exists(), "{ended:?}");
}

#[tokio::test]
async fn what_was_moved_away_when_a_command_began_is_changed_by_that_no_more_than_by_others() {
    for by_first in ["mv g .git", "true"] {
        let place = repository();
        let first = begin(&place, "a", "mv .git g", by_first).await;
        let second = begin(&place, "b", "true", &format!("{EVIL}; echo evil > .git/config")).await;
        end(&place, "a", first).await;
        let ended = end(&place, "b", second).await;
        assert_eq!(hook(&place), None, "{by_first}: {ended:?}");
        let restored = [".git/config", ".git/hooks"].map(|name| place.root.join(name));
        assert_eq!(ended.restored, restored, "{by_first}");
        assert_eq!(place.read(".git/config"), "old\n");
    }
}

#[tokio::test]
async fn a_command_undoes_nothing_that_a_person_changed_before_it_while_another_one_runs() {
    let place = repository();
    let first = begin(&place, "a", "true", "true").await;
    place.write(".git/config", "of the person\n");
    let second = begin(&place, "b", "true", "true").await;
    let ended = end(&place, "b", second).await;
    assert!(ended.restored.is_empty() && ended.changed.is_empty(), "{ended:?}");
    assert_eq!(place.read(".git/config"), "of the person\n");
    drop(first);
}

#[tokio::test]
async fn of_commands_with_which_moss_was_killed_the_one_that_began_first_has_what_was_before() {
    let (place, marker) = (repository(), marker());
    let records = place.root.with_file_name("records");
    fs::create_dir(&records).unwrap();
    // The second begins when the first has changed something.
    let script = format!("[ -e begun ] || {EVIL}; touch begun; exec sleep {marker}");
    let host = |count: &str| {
        Command::new(KEEPER)
            .args(["host", place.root.to_str().unwrap(), "landlock", &script, count])
            .env("RECORDS", &records)
            .stdin(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut hosts = Vec::new();
    for count in 1..=2 {
        hosts.push(host("1"));
        eventually("it runs", || alive(&marker).len() >= count).await;
    }
    for mut host in hosts {
        host.kill().unwrap();
        host.wait().unwrap();
    }
    dead(&marker).await;
    let left = LeftCommand::find(&records).unwrap();
    assert_eq!(left.len(), 2);
    for left in left {
        left.restore();
        left.settled();
    }
    assert_eq!(hook(&place), None);
}

#[tokio::test]
async fn a_job_ends_no_other_command_by_what_it_makes_and_replaces() {
    for way in FULL {
        let place = repository();
        let script = "
            mkdir -p nest/.git/objects; echo x > nest/.git/HEAD; echo old > nest/.git/config; touch job-begun
            until [ -e go ]; do sleep 0.02; done
            echo evil > .git/commondir
            for i in $(seq 60); do
                echo $i > nest/.git/new; mv nest/.git/new nest/.git/config; sleep 0.02
            done
            until [ ! -e .git/commondir ]; do sleep 0.02; done
            touch toggled; sleep 600";
        let job = start(way, place.shell(script)).await;
        eventually("the job runs", || place.root.join("job-begun").exists()).await;
        let mut command = place.shell("touch go; until [ -e toggled ]; do sleep 0.02; done");
        command.files.repositories = vec![place.root.join("nest/.git")];
        let end = start(way, command).await.wait().await.unwrap();
        assert_eq!((end.cause, &end.disturbance), (EndCause::Ended, &None), "{way}: {end:?}");
        // What it began with is there, and what was made is not.
        assert_eq!(place.read("nest/.git/config"), "old\n", "{way}");
        assert!(!place.root.join(".git/commondir").exists(), "{way}");
        assert!(end.restored.contains(&place.root.join(".git/commondir")), "{way}: {end:?}");
        drop(job);
    }
}

#[tokio::test]
async fn what_is_made_again_beside_another_command_stays_no_longer_than_they_run() {
    for way in FULL {
        let place = repository();
        let made = place.root.join(".git/commondir");
        let script = "
            touch job-begun; until [ -e go ]; do sleep 0.02; done
            while :; do [ -e .git/commondir ] || echo evil > .git/commondir; sleep 0.02; done";
        let job = start(way, place.shell(script)).await;
        eventually("the job runs", || place.root.join("job-begun").exists()).await;
        let other = start(way, place.shell("touch go; sleep 600")).await;
        for running in [job, other] {
            let end = running.wait().await.unwrap();
            let found = end.disturbance.unwrap_or_else(|| panic!("{way}: no reason"));
            assert_eq!((found.path, found.change), (made.clone(), CoverChange::Made), "{way}");
            assert!(end.restored.contains(&made), "{way}: {:?}", end.restored);
        }
        assert!(!made.exists(), "{way}");
    }
}

#[tokio::test]
async fn a_job_that_makes_repositories_refuses_no_other_command() {
    for way in WAYS {
        let place = repository();
        let script = "
            mkdir -p nest/.git/objects; echo x > nest/.git/HEAD; echo x > nest/.git/config
            while :; do mv nest moved; mv moved nest; touch begun; done";
        let job = start(way, place.shell(script)).await;
        eventually("the job runs", || place.root.join("begun").exists()).await;
        for _ in 0..20 {
            let mut command = place.shell("true");
            command.files.repositories = vec![place.root.join("nest/.git")];
            let end = start(way, command).await.wait().await.unwrap();
            assert_eq!(end.exit, ProcessExit::Exited(0), "{way}: {end:?}");
        }
        drop(job);
    }
}

#[tokio::test]
async fn a_job_that_makes_more_repositories_than_can_be_covered_refuses_no_other_command() {
    for way in FULL {
        let place = repository();
        let script = "
            mkdir -p r{1..1400}/.git/objects; for i in {1..1400}; do echo x > r$i/.git/config; done
            touch begun; sleep 600";
        let job = start(way, place.shell(script)).await;
        eventually("the job runs", || place.root.join("begun").exists()).await;
        // What is new may be a person's.
        let secrets = [place.write(".env.local", "canary\n"), place.write("r8/.env", "canary\n")];
        let mut command = place
            .shell("echo evil > r7/.git/config; echo evil > .git/config; cat .env.local r8/.env");
        command.files.masked = secrets.to_vec();
        let made = |number| place.root.join(format!("r{number}/.git"));
        command.files.repositories = (1..=1400).map(made).collect();
        let Ran { stdout, end, .. } = run(way, command).await;
        assert_eq!(stdout, "", "{way}");
        assert_eq!(end.restored, [place.root.join("r7/.git/config")], "{way}: {end:?}");
        assert_eq!(place.read("r7/.git/config"), "x\n", "{way}");
        assert_eq!(place.read(".git/config"), "old\n", "{way}");
        drop(job);
    }
}
