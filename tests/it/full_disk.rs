//! A full disk under the state directory, or files that may not grow: an edit is refused before anything changes, or it
//! is in its file, in the history and in the audit journal. A full disk under the cache: searches read, and say so.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::{Client, Daemon, Ended, Site, call, output, refusing, until};
use crate::journal::records;
use crate::kill::entries_of;

/// Says that a test continues in a process with mounts of its own.
const INSIDE: &str = "MOSS_TEST_INSIDE_MOUNTS";
/// The size of the disk.
const DISK: &str = "size=12m";
/// How much is left of it for an edit: from nothing on, and enough.
const ROOM_STEP: u64 = 4 << 10;
const ROOMS: u64 = 64;
const ENOUGH: u64 = 4 << 20;

/// How to start a process with mounts of its own; none, with a note, where this is not permitted.
fn mounts() -> Option<&'static [&'static str]> {
    let launchers: [&[&str]; 2] = [&["unshare", "-m"], &["unshare", "-rm"]];
    let works = |launcher: &&&[&str]| {
        let mut command = Command::new(launcher[0]);
        command.args(&launcher[1..]).args(["sh", "-c", "mount -t tmpfs none /mnt"]);
        command.output().is_ok_and(|output| output.status.success())
    };
    let found = launchers.iter().find(works).copied();
    if found.is_none() {
        // Written past the test runner, which shows nothing of a test that passes.
        let note = "\nNOT TESTED: a full state disk: this system permits no mounts\n";
        std::io::stderr().write_all(note.as_bytes()).unwrap();
    }
    found
}

/// Leaves so much of a disk free. What the daemon writes meanwhile takes of it: then it is filled again.
fn leave(disk: &Path, room: u64) {
    let ballast = disk.join("ballast");
    loop {
        let _ = std::fs::remove_file(&ballast);
        let free = rustix::fs::statvfs(disk).map(|disk| disk.f_bavail * disk.f_frsize).unwrap();
        match std::fs::write(&ballast, vec![0; free.saturating_sub(room) as usize]) {
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {}
            filled => return filled.unwrap(),
        }
    }
}

/// Frees the disk and waits until the journal takes records again.
async fn free(disk: &Path, client: &Client) {
    std::fs::remove_file(disk.join("ballast")).unwrap();
    until("the journal takes records again", async || {
        client.call(call("list_directory", json!({ "path": "." }))).await.is_ok()
    })
    .await;
}

/// The numbers in the history of what was changed, as the audit journal has them.
fn recorded(site: &Site) -> Vec<Value> {
    let committed = records(site).into_iter().filter(|record| record["kind"] == "committed");
    committed.map(|mut record| record["history"].take()).collect()
}

/// Whether this process has mounts of its own. Where it has not, the test runs in one that has.
fn is_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    if let Some((program, arguments)) = mounts().and_then(|launcher| launcher.split_first()) {
        let mut command = Command::new(program);
        command.args(arguments).arg(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("full_disk::{test}"), "--nocapture"]).env(INSIDE, "1");
        let ended = Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        assert!(ended.code == Some(0) && ended.stdout.contains("1 passed"), "{ended:?}");
    }
    false
}

/// Gives a site a disk of its own for its state.
fn mount(site: &Site, size: &str) -> PathBuf {
    mount_at(site.outside("state"), size)
}

fn mount_at(disk: PathBuf, size: &str) -> PathBuf {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", size, "none"]).arg(&disk);
    assert!(mount.status().unwrap().success());
    disk
}

#[tokio::test]
async fn edits_on_a_full_state_disk_are_recorded_or_change_nothing() {
    if !is_inside("edits_on_a_full_state_disk_are_recorded_or_change_nothing") {
        return;
    }
    let site = Site::allowing();
    let disk = mount(&site, DISK);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let (mut written, mut refused) = (0, 0);
    for room in (0..ROOMS).map(|step| step * ROOM_STEP).chain([ENOUGH; 4]) {
        let path = format!("{}.txt", written + refused);
        leave(&disk, room);
        let edit = refusing("create_file", json!({ "path": path, "content": "x\n".repeat(4096) }));
        let answer = client.call(edit).await;
        free(&disk, &client).await;
        let is_done = match &answer {
            Ok(result) => result.history > 0,
            Err(status) => {
                assert!(!status.message().contains("is committed"), "{}", status.message());
                false
            }
        };
        assert_eq!(site.has(&path), is_done, "room {room}: {answer:?}");
        if is_done {
            written += 1;
        } else {
            refused += 1;
        }
    }
    assert!(written > 3 && refused > 3, "{written} written, {refused} refused");
    let mut entries: Vec<_> = entries_of(&client).await.iter().map(|e| json!(e.number)).collect();
    entries.reverse();
    // Once it is free the next edit goes through.
    let last = client.call(refusing("create_file", json!({ "path": "a", "content": "" }))).await;
    output(last.as_ref().unwrap());
    entries.push(json!(last.unwrap().history));
    assert_eq!(recorded(&site), entries);
    daemon.stop();
}

#[tokio::test]
async fn a_daemon_whose_files_may_not_grow_refuses_edits_and_goes_on() {
    let site = Site::allowing();
    let serve = site.serve_command();
    let mut limited = Command::new("sh");
    limited.arg("-c").arg("ulimit -f 2048 && exec \"$0\" \"$@\"");
    limited.arg(serve.get_program()).args(serve.get_args());
    let environment = serve.get_envs().filter_map(|(name, value)| Some((name, value?)));
    limited.env_clear().envs(environment).current_dir(site.workspace());
    let daemon = Daemon::start(limited, &site.socket(), &site.state());
    let client = daemon.caller().await;
    let edit = |path: &str, lines: usize| {
        refusing("create_file", json!({ "path": path, "content": "x\n".repeat(lines) }))
    };
    let refused = client.call(edit("large.txt", 2 << 20)).await;
    let is_done = refused.is_ok_and(|result| result.history > 0);
    assert!(!is_done && !site.has("large.txt"));
    let written = client.call(edit("small.txt", 8)).await.unwrap();
    assert!(written.history > 0 && site.has("small.txt"));
    daemon.stop();
}

#[tokio::test]
async fn the_output_of_a_command_leaves_room_on_the_state_disk_for_edits() {
    if !is_inside("the_output_of_a_command_leaves_room_on_the_state_disk_for_edits") {
        return;
    }
    let site = Site::allowing();
    mount(&site, "size=48m");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let printing = json!({ "command": "head -c 60000000 /dev/zero | tr '\\0' 'x'" });
    let ended = client.call(call("run_terminal_cmd", printing)).await.unwrap();
    let ended = output(&ended);
    assert!(ended["artifact"].is_string(), "{ended}");
    assert!(ended.to_string().contains("has less than 32 MiB left"), "{ended}");
    let edit = refusing("create_file", json!({ "path": "a.txt", "content": "x\n".repeat(4096) }));
    let written = client.call(edit).await.unwrap();
    assert!(written.history > 0 && site.has("a.txt"));
    daemon.stop();
}

#[tokio::test]
async fn doctor_on_a_full_state_disk_fails_and_says_how_to_look_at_it() {
    if !is_inside("doctor_on_a_full_state_disk_fails_and_says_how_to_look_at_it") {
        return;
    }
    let site = Site::new();
    let disk = mount(&site, DISK);
    // Its own files are there, as after any command.
    assert_eq!(site.run(&["tools"]).code, Some(0));
    leave(&disk, 0);
    let doctor = site.run(&["doctor", "--json"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    let checks: Value = serde_json::from_str(&doctor.stdout).unwrap();
    let failed = checks["checks"].as_array().unwrap().iter().filter(|check| {
        let hint = check["hint"].as_str().unwrap_or_default();
        check["state"] == "fail" && hint.contains("df -h")
    });
    let failed: Vec<_> = failed.map(|check| &check["name"]).collect();
    assert_eq!(failed, ["state directory", "workspace state"], "{checks}");
    std::fs::remove_file(disk.join("ballast")).unwrap();
    let doctor = site.run(&["doctor", "--json"]);
    let checks: Value = serde_json::from_str(&doctor.stdout).unwrap();
    let mut states = checks["checks"].as_array().unwrap().iter().map(|check| &check["state"]);
    assert!(states.all(|state| state != "fail"), "{checks}");
}

#[tokio::test]
async fn without_space_in_the_cache_searches_read_every_file_and_the_status_says_why() {
    if !is_inside("without_space_in_the_cache_searches_read_every_file_and_the_status_says_why") {
        return;
    }
    let site = Site::new();
    // Their index takes 220 KiB, whether it is written at once or bit by bit.
    for file in 0..400_u64 {
        let word = |number: u64| {
            format!("{:x} ", (file * 1_000 + number).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        };
        site.write(&format!("f{file}.txt"), (0..1_000).map(word).collect::<String>());
    }
    site.write("needle.txt", "needle_in_text\n");
    std::fs::create_dir_all(site.outside("cache")).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    let disk = mount_at(site.outside("cache"), "size=128k,mode=700");
    std::fs::set_permissions(&disk, private).unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let texts = async || {
        let index = client.load().await.workspaces[0].index.clone().unwrap();
        index.texts.unwrap_or_default()
    };
    until("there is no space", async || texts().await.state() == v1::IndexState::Off).await;
    let reason = texts().await.reason;
    assert!(reason.contains("no space for the index"), "{reason}");
    let searched = json!({ "pattern": "needle_in_text" });
    let found = client.done("grep_search", searched).await;
    assert_eq!((&found["files_matched"], &found["files_searched"]), (&json!(1), &json!(401)));
    let shown = site.run(&["status"]).stdout;
    assert!(shown.contains("texts: off, there is no space for the index"), "{shown}");
    daemon.stop();
}
