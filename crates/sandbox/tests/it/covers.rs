//! What covers protected and masked files: all of them, or the command does not run.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use moss_sandbox::{
    CommandEnd, CommandRecord, CoverChange, EndCause, LeftCommand, ProtectedKind, SandboxError,
    find_protected,
};

use crate::harness::{
    FULL, KEEPER, Place, WAYS, Way, dead, eventually, marker, run, start, try_run,
};

/// More than bubblewrap can have, and fewer than moss's own launcher can.
const MANY: usize = 1_000;
/// More than any can have.
const TOO_MANY: usize = 5_000;

/// Files of one name in directories that come before others.
fn fill(place: &Place, count: usize, name: &str) -> Vec<PathBuf> {
    (0..count).map(|n| place.write(&format!("+n/a{n:04}/{name}"), "old\n")).collect()
}

/// A place with what belongs to git.
fn repository() -> Place {
    let place = Place::new();
    place.write(".git/config", "old\n");
    place.write(".git/hooks/sample", "old\n");
    place
}

const CHANGE: &str = "echo new >> .git/config; echo new > .git/hooks/pre-commit; echo done";

fn is_as_before(place: &Place) -> bool {
    place.read(".git/config") == "old\n" && !place.root.join(".git/hooks/pre-commit").exists()
}

#[tokio::test]
async fn what_is_protected_last_leaves_room_for_git() {
    for way in FULL {
        let place = repository();
        // What a command changes and does not end by itself is not restored: only mounts keep it as it was.
        let mut command = place.shell(&format!("{CHANGE}; cat .git/config > seen"));
        command.files.protected_last = fill(&place, TOO_MANY, "settings.json");
        let ran = run(way, command).await;
        assert_eq!(ran.stdout, "done\n", "{way}: {ran:?}");
        assert_eq!(place.read("seen"), "old\n", "{way}");
        assert!(is_as_before(&place) && ran.end.restored.is_empty(), "{way}");
        let compared = &ran.end.facts.compared_afterwards;
        assert!(compared.iter().any(|path| path.ends_with("a4999/settings.json")), "{way}");
    }
}

#[tokio::test]
async fn on_the_landlock_tier_git_is_restored_however_much_else_there_is() {
    let place = repository();
    let mut command = place.shell(CHANGE);
    command.files.protected = fill(&place, 3_000, "settings.json");
    let ran = run(Way::Landlock, command).await;
    assert_eq!(ran.stdout, "done\n", "{ran:?}");
    assert!(is_as_before(&place), "{:?}", ran.end.changed);
}

#[tokio::test]
async fn on_the_landlock_tier_repositories_that_a_command_made_leave_room_for_others() {
    let place = repository();
    let large = "x".repeat(1 << 20);
    for number in 0..2_001 {
        place.write(&format!(".a/.git/hooks/{number}"), "");
    }
    for number in 0..17 {
        place.write(&format!(".b/.git/hooks/{number}"), &large);
    }
    place.write("sub/.git/hooks/sample", "old\n");
    let made = [".a", ".b"].map(|made| place.root.join(made).join(".git"));
    let script = |script: &str| {
        let mut command = place.shell(script);
        command.files.repositories = made.to_vec();
        command.files.repositories.push(place.root.join("sub/.git"));
        command
    };
    let ran =
        run(Way::Landlock, script(&format!("{CHANGE}; echo new > sub/.git/hooks/sample"))).await;
    assert!(is_as_before(&place) && ran.end.changed.is_empty(), "{:?}", ran.end);
    assert_eq!(place.read("sub/.git/hooks/sample"), "old\n");
    // What is too large to be kept is reported where it changed, and only there.
    let ran = run(Way::Landlock, script("true")).await;
    assert!(ran.end.changed.is_empty() && ran.end.restored.is_empty(), "{:?}", ran.end);
    for change in
        ["echo new > .a/.git/hooks/7", "touch .a/.git/hooks/new", "chmod 700 .a/.git/hooks/7"]
    {
        let ran = run(Way::Landlock, script(change)).await;
        assert_eq!(ran.end.changed, [made[0].join("hooks")], "{change}");
    }
}

#[tokio::test]
async fn a_command_for_which_not_everything_can_be_covered_is_refused() {
    for (way, count) in [(Way::Bubblewrap, MANY), (Way::Own, TOO_MANY)] {
        for is_masked in [false, true] {
            let place = repository();
            let mut command = place.shell("echo ran > ran");
            let files = fill(&place, count, ".env");
            let list = match is_masked {
                true => &mut command.files.masked,
                false => &mut command.files.protected,
            };
            *list = files;
            command.tier_min = way.tier();
            let error = try_run(way, command).await.unwrap_err();
            let SandboxError::TooManyMounts(too_many) = error else { panic!("{way}: {error}") };
            assert_eq!(too_many.beneath, place.root.join("+n"), "{way}");
            assert!(too_many.to_string().contains("`a0000/.env`"), "{way}: {too_many}");
            assert!(!place.root.join("ran").exists(), "{way}");
        }
    }
}

#[tokio::test]
async fn the_own_launcher_covers_a_thousand_secrets_and_what_is_above_them() {
    let place = Place::new();
    let mut command = place
        .shell("cat +n/*/.env; mv +n/a0999 x; cat x/.env; mv +n y; cat y/*/.env; ls +n | wc -l");
    command.files.masked = fill(&place, MANY, ".env");
    let ran = run(Way::Own, command).await;
    assert_eq!(ran.stdout, "1000\n", "{:.300}", ran.stderr);
}

#[tokio::test]
async fn what_is_masked_is_so_in_what_is_protected_and_in_git() {
    for way in WAYS {
        let place = repository();
        for path in [".git/.env", ".git/info/.env", ".tool/.env", ".tool/sub/.env"] {
            place.write(path, "canary\n");
        }
        let kind = |path: &std::path::Path| {
            let is_tool = path == std::path::Path::new(".tool");
            let is_secret = path.ends_with(".env").then_some(ProtectedKind::Masked);
            is_secret.or(is_tool.then_some(ProtectedKind::Protected))
        };
        let found = find_protected(&place.root, 1_000, &kind);
        let mut command = place.shell("grep -rh canary . .git; mv .git/info i; cat i/.env; true");
        command.files.protected = found.protected;
        command.files.masked = found.masked;
        let ran = run(way, command).await;
        if FULL.contains(&way) {
            assert_eq!(ran.stdout, "", "{way}: {ran:?}");
        } else {
            assert_eq!(ran.end.facts.unmasked.len(), 4, "{way}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn what_is_masked_is_as_before_whatever_a_command_wrote_there() {
    for way in WAYS {
        let place = repository();
        let records = place.root.with_file_name("records");
        fs::create_dir(&records).unwrap();
        let masked = [".env", "sub/gone", "sub/key"].map(|path| place.write(path, "canary\n"));
        let script =
            "echo evil > .env; rm -f sub/gone; mv sub/key other; grep -rl canary ../records; true";
        let mut command = place.shell(script);
        command.files.masked = masked.to_vec();
        let record = CommandRecord::new(records.clone(), None);
        command.record = Some(record.clone());
        let ran = run(way, command).await;
        record.settled();
        for path in [".env", "sub/key", "sub/gone"] {
            assert_eq!(place.read(path), "canary\n", "{way}: {path}");
        }
        assert_eq!(ran.stdout, "", "{way}: a secret is written down");
        if way.restores_afterwards() {
            assert_eq!(ran.end.restored, masked, "{ran:?}");
            // What is written while a job runs may be a person's.
            let mut job = place.shell("echo new > .env");
            job.files.masked = masked.to_vec();
            job.limits.timeout = None;
            assert!(run(way, job).await.end.restored.is_empty());
            assert_eq!(place.read(".env"), "new\n");
        }
    }
}

/// What a command does that reads and writes what it may not, for as long as it runs.
const PRYING: &str = "touch begun; while :; do cat .env; echo new >> .git/config; echo new >> tasks.json; \
                      sleep 0.01; done >> seen 2>/dev/null";

/// Runs that until something from outside ends it.
async fn pried(way: Way, change: impl Fn(&Place)) -> (Place, CommandEnd) {
    let place = repository();
    let mut command = place.shell(PRYING);
    command.files.masked = vec![place.write(".env", "old\n")];
    command.files.protected = vec![place.write("tasks.json", "old\n")];
    let running = start(way, command).await;
    eventually("it runs", || place.root.join("begun").exists()).await;
    change(&place);
    let end = tokio::time::timeout(crate::harness::PATIENCE, running.wait()).await;
    let end = end.unwrap_or_else(|_| panic!("{way}: it is not ended")).unwrap();
    (place, end)
}

/// Writes a new file and gives it the name of another, as git and most editors do.
fn replace(place: &Place, path: &str) {
    let new = place.write("new", "new\n");
    fs::rename(new, place.root.join(path)).unwrap();
}

#[tokio::test]
async fn a_command_ends_when_what_covers_a_file_is_gone_and_the_reason_names_it() {
    for way in FULL {
        for (path, change) in [
            (".env", CoverChange::Unmasked),
            (".git/config", CoverChange::Unprotected),
            ("tasks.json", CoverChange::Unprotected),
        ] {
            let (place, end) = pried(way, |place| replace(place, path)).await;
            let found = end.disturbance.unwrap_or_else(|| panic!("{way}, {path}: no reason"));
            assert_eq!((end.cause, found.change), (EndCause::Disturbed, change), "{way}, {path}");
            assert_eq!(found.path, place.root.join(path), "{way}");
            assert!(found.to_string().contains("from outside"), "{way}: {found}");
        }
        // The old file keeps its mount under another name, and no mount is gone.
        let (_, end) = pried(way, |place| {
            fs::rename(place.root.join(".env"), place.root.join("env.old")).unwrap();
            place.write(".env", "new\n");
        })
        .await;
        assert_eq!(end.disturbance.unwrap().change, CoverChange::Unmasked, "{way}");
    }
}

#[tokio::test]
async fn a_file_that_is_written_in_its_place_ends_no_command() {
    for way in FULL {
        let place = repository();
        let mut command =
            place.shell("touch begun; until [ -e go ]; do sleep 0.01; done; cat .env");
        command.files.masked = vec![place.write(".env", "old\n")];
        let running = start(way, command).await;
        eventually("it runs", || place.root.join("begun").exists()).await;
        place.write(".env", "new\n");
        place.write(".git/config", "new\n");
        place.write("go", "");
        let end = running.wait().await.unwrap();
        assert_eq!((end.cause, end.disturbance), (EndCause::Ended, None), "{way}");
    }
}

#[tokio::test]
async fn a_hidden_socket_that_is_made_anew_ends_no_command() {
    for way in FULL {
        let place = Place::new();
        let home = place.root.with_file_name("home");
        let socket = home.join(".cargo/server");
        fs::create_dir_all(home.join(".cargo")).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        // The keeper looks at all that is covered five times a second.
        let mut command = place.shell(
            "touch begun; until [ -e go ]; do sleep 0.01; done; sleep 1; ls ~/.cargo > seen",
        );
        command.environment.from =
            vec![("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), home.into())];
        let running = start(way, command).await;
        eventually("it runs", || place.root.join("begun").exists()).await;
        drop(listener);
        fs::remove_file(&socket).unwrap();
        let _again = UnixListener::bind(&socket).unwrap();
        place.write("go", "");
        let end = running.wait().await.unwrap();
        assert_eq!((end.cause, end.disturbance), (EndCause::Ended, None), "{way}");
        assert_eq!(place.read("seen"), "server\n", "{way}");
    }
}

#[tokio::test]
async fn a_command_that_makes_what_leads_git_elsewhere_is_ended() {
    for way in FULL {
        let place = repository();
        let script = "mkdir .git/info; echo '* x' > .git/info/attributes; sleep 600";
        let end = run(way, place.shell(script)).await.end;
        let found = end.disturbance.unwrap_or_else(|| panic!("{way}: no reason"));
        assert_eq!(found.change, CoverChange::Made, "{way}");
        assert_eq!(end.restored, [place.root.join(".git/info/attributes")], "{way}");
        assert!(!place.root.join(".git/info/attributes").exists(), "{way}");
    }
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_is_killed_and_restored() {
    for way in WAYS {
        let (place, marker) = (repository(), marker());
        let script = format!("echo evil > .git/commondir; touch begun; exec sleep {marker}");
        let running = start(way, place.shell(&script)).await;
        eventually("it runs", || place.root.join("begun").exists()).await;
        drop(running);
        dead(&marker).await;
        let made = place.root.join(".git/commondir");
        eventually("it is restored", || !made.exists()).await;
    }
}

#[tokio::test]
async fn what_a_command_changed_with_which_moss_was_killed_is_restored_from_its_record() {
    for way in WAYS {
        let (place, marker) = (repository(), marker());
        let records = place.root.with_file_name("records");
        fs::create_dir(&records).unwrap();
        let script =
            format!("echo evil > .git/commondir; {CHANGE}; touch begun; exec sleep {marker}");
        let mut host = Command::new(KEEPER)
            .args(["host", place.root.to_str().unwrap(), &way.to_string(), &script, "1"])
            .env("RECORDS", &records)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        eventually("it runs", || place.root.join("begun").exists()).await;
        assert!(LeftCommand::find(&records).unwrap().is_empty(), "{way}: its moss lives");
        host.kill().unwrap();
        host.wait().unwrap();
        dead(&marker).await;
        let left = LeftCommand::find(&records).unwrap().pop().unwrap();
        assert_eq!(left.known, Some(BTreeSet::new()), "{way}");
        let restored = left.restore();
        left.settled();
        assert!(restored.changed.is_empty(), "{way}: {restored:?}");
        assert!(!place.root.join(".git/commondir").exists() && is_as_before(&place), "{way}");
        assert!(LeftCommand::find(&records).unwrap().is_empty(), "{way}");

        // One that ends by itself leaves none.
        let mut command = place.shell("true");
        let record = CommandRecord::new(records.clone(), None);
        command.record = Some(record.clone());
        run(way, command).await;
        record.settled();
        assert_eq!(fs::read_dir(&records).unwrap().count(), 0, "{way}");
    }
}
