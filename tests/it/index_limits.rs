//! The index of texts where something limits it: files that a person excludes, another daemon, a full disk, a system
//! that reports no changes. Answers are the same; what is kept is less.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::{Client, Daemon, Site, until};
use crate::text_index::{DENY, NEEDLE, holds, ready, stored};

/// How many directories are watched where that is limited: enough for what moss watches of its own.
const WATCHES: usize = 40;

async fn index(client: &Client) -> v1::IndexStatus {
    client.load().await.workspaces[0].index.clone().unwrap()
}

async fn texts(client: &Client) -> v1::TextIndexStatus {
    index(client).await.texts.unwrap_or_default()
}

async fn search(client: &Client, pattern: &str) -> Value {
    client.done("grep_search", json!({ "pattern": pattern, "limit": 1000 })).await
}

#[tokio::test]
async fn excluded_files_are_found_and_not_in_the_files_of_the_index() {
    let site = Site::new();
    site.config("[index]\nexclude = [\"vendor\", \"**/*.min.js\"]\n");
    site.write("src/plain_name.txt", format!("{NEEDLE}\n"));
    site.write("vendor/deep/excluded_name.txt", format!("{NEEDLE}\n"));
    site.write("web/small.min.js", format!("{NEEDLE}\n"));
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let known = ready(&caller).await;
    assert_eq!((known.files, known.files_indexed), (1, 1), "{known:?}");
    let found = search(&caller, NEEDLE).await;
    assert_eq!((&found["files_matched"], &found["files_searched"]), (&json!(3), &json!(3)));
    let listing = caller.done("file_search", json!({ "pattern": "excluded_name" })).await;
    assert_eq!(listing["total"], 1, "{listing}");
    site.write("vendor/deep/excluded_name.txt", "another text\n");
    assert_eq!(search(&caller, NEEDLE).await["files_matched"], 2);
    daemon.stop();
    let bytes = stored(&site);
    assert!(holds(&bytes, "plain_name"), "it proves nothing");
    for excluded in ["excluded_name", "small.min"] {
        assert!(!holds(&bytes, excluded), "{excluded}");
    }

    // What is excluded later leaves the files, what is no longer excluded comes to them.
    site.config("[index]\nexclude = [\"src\"]\n");
    let daemon = site.serve();
    assert_eq!(ready(&daemon.caller().await).await.files, 2);
    daemon.stop();
    let bytes = stored(&site);
    assert!(!holds(&bytes, "plain_name") && holds(&bytes, "small.min"));

    site.config("[index]\nexclude = [\"a[\"]\n");
    let refused = site.serve_refused();
    assert!(refused.stderr.contains("`a[` is no glob"), "{refused:?}");
}

/// A second machine that serves the workspace of another and shares its cache.
fn sharing(site: &Site) -> (Site, Daemon) {
    let mut other = Site::new();
    other.argument("--workspace").argument(site.workspace().to_str().unwrap());
    let mut command = other.serve_command();
    command.env("XDG_CACHE_HOME", site.outside("cache"));
    let daemon = Daemon::start(command, &other.socket(), &other.state());
    (other, daemon)
}

#[tokio::test]
async fn a_second_daemon_stands_aside_and_takes_over_once_the_first_has_ended() {
    let site = Site::new();
    (0..50).for_each(|number| drop(site.write(&format!("f{number}.txt"), format!("w{number}x\n"))));
    let first = site.serve();
    ready(&first.caller().await).await;
    let (_other, second) = sharing(&site);
    let caller = second.caller().await;
    until("it stands aside", async || texts(&caller).await.reason.contains("keeps the index"))
        .await;
    assert_eq!(texts(&caller).await.state(), v1::IndexState::Off);
    assert_eq!(search(&caller, "w7x").await["files_matched"], 1);
    first.stop();
    let known = ready(&caller).await;
    assert_eq!((known.files_indexed, known.reason.as_str()), (50, ""), "{known:?}");
    assert_eq!(search(&caller, "w7x").await["files_matched"], 1);
}

#[tokio::test]
async fn an_index_beyond_its_bound_is_off_and_takes_nothing() {
    let site = Site::new();
    site.config("[index]\ndisk_bytes_max = 1000\n");
    for number in 0..300 {
        site.write(&format!("f{number}.txt"), words(number, 400));
    }
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let off = async || texts(&caller).await.state() == v1::IndexState::Off;
    until("it is too large", off).await;
    let reason = texts(&caller).await.reason;
    assert!(reason.contains("more than 1000 bytes"), "{reason}");
    assert_eq!(search(&caller, "zzqqzzqq").await["files_searched"], 300);
    let shown = site.run(&["status"]).stdout;
    assert!(shown.contains("texts: off, the index would take more"), "{shown}");
    daemon.stop();
    assert!(!holds(&stored(&site), "f7.txt"));
}

/// Words that no other file has: many trigrams.
fn words(seed: u64, count: u64) -> String {
    let word = |number: u64| {
        let mixed = (seed * count + number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{mixed:x} ")
    };
    (0..count).map(word).collect()
}

#[tokio::test]
async fn the_index_of_the_workspace_used_longest_ago_makes_room() {
    let site = Site::new();
    site.config("[index]\ndisk_bytes_max = 300000\n");
    for number in 0..20 {
        site.write(&format!("f{number}.txt"), words(number, 400));
    }
    let beside = |name: &str| {
        let directory = site.outside("cache/moss/index").join(name);
        fs::create_dir_all(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(directory.join("manifest-1"), "").unwrap();
        fs::write(directory.join("1-00000000.segment"), vec![0; 299_999]).unwrap();
        directory
    };
    let (old, no_index) = (beside("old-0123456789abcdef"), beside("photos"));
    fs::write(old.join("letter.txt"), "dear").unwrap();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    ready(&caller).await;
    daemon.stop();
    // What was in memory alone is stored at the end; the next daemon finds that both take too much.
    let daemon = site.serve();
    let known = ready(&daemon.caller().await).await;
    assert!(known.disk_bytes > 0, "{known:?}");
    until("the other is gone", async || !old.join("1-00000000.segment").exists()).await;
    assert!(old.join("letter.txt").exists() && no_index.join("1-00000000.segment").exists());
    assert_eq!(search(&daemon.caller().await, "zzqqzzqq").await["files_searched"], 20);
}

/// Prepares a daemon that may watch few directories; none where this system does not let us.
fn limited(site: &Site) -> Option<Command> {
    let limit = format!("echo {WATCHES} > /proc/sys/user/max_inotify_watches");
    let launcher = ["unshare", "-Ur", "sh", "-c"];
    let works = Command::new(launcher[0]).args(&launcher[1..]).arg(&limit).output();
    if !works.is_ok_and(|output| output.status.success()) {
        // Written past the test runner, which shows nothing of a test that passes.
        use std::io::Write as _;
        let note = "\nNOT TESTED: a workspace without events: this system limits no watches\n";
        std::io::stderr().write_all(note.as_bytes()).unwrap();
        return None;
    }
    let plain = site.serve_command();
    let mut command = Command::new(launcher[0]);
    command.args(&launcher[1..]).arg(format!("{limit} && exec \"$0\" \"$@\""));
    command.arg(plain.get_program()).args(plain.get_args()).env_clear();
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap());
    }
    command.current_dir(plain.get_current_dir().unwrap()).stdin(Stdio::null());
    Some(command)
}

#[tokio::test]
async fn without_events_searches_use_the_index_and_find_what_was_just_written() {
    let site = Site::allowing();
    let Some(command) = limited(&site) else { return };
    let name = |number: usize| format!("d{}/e/f{number}.txt", number % 100);
    for number in 0..300 {
        site.write(&name(number), format!("word{number} of many\n"));
    }
    let daemon = Daemon::start(command, &site.socket(), &site.state());
    let caller = daemon.caller().await;
    until("the texts are known", async || texts(&caller).await.state() == v1::IndexState::Ready)
        .await;
    let known = index(&caller).await;
    assert_eq!(known.state(), v1::IndexState::Off, "it proves nothing: {known:?}");
    assert!(known.reason.contains("max_user_watches"), "{known:?}");
    let shown = site.run(&["index", "status"]).stdout;
    assert!(shown.contains("texts: ready, 300 files"), "{shown}");
    assert!(shown.contains("each search looks at the sizes and times of all files"), "{shown}");
    for round in 0..60 {
        let (file, word) = (name(round), format!("w0rd{round} of many\n"));
        match round % 4 {
            // Of the same size and at once.
            0 => fs::write(site.workspace().join(&file), &word).unwrap(),
            1 => {
                fs::remove_file(site.workspace().join(&file)).unwrap();
                site.write(&format!("new/{round}/x.txt"), &word);
            }
            2 => {
                fs::rename(site.workspace().join(&file), site.workspace().join("moved")).unwrap();
                fs::write(site.workspace().join("moved"), &word).unwrap();
            }
            _ => {
                let write = json!({ "path": format!("own{round}.txt"), "content": word });
                caller.done("create_file", write).await;
            }
        }
        let found = search(&caller, &format!("w0rd{round} ")).await;
        assert_eq!(found["files_matched"], 1, "round {round}: {found}");
        let gone = search(&caller, &format!("word{round} ")).await;
        assert_eq!(gone["files_matched"], u64::from(round % 4 == 3), "round {round}: {gone}");
    }
    let text = site.run(&["status"]).stdout;
    assert!(text.contains("texts: "), "{text}");
}

#[tokio::test]
async fn what_was_denied_while_no_daemon_ran_leaves_the_files_of_the_index() {
    let site = Site::new();
    site.user_policy(DENY);
    for name in ["open/plain_name.txt", "late/closed_later.txt"] {
        site.write(name, format!("{NEEDLE}\n"));
    }
    let daemon = site.serve();
    ready(&daemon.caller().await).await;
    daemon.stop();
    assert!(holds(&stored(&site), "closed_later"), "it proves nothing");
    site.user_policy(&DENY.replace("\"secret/**\"", "\"secret/**\", \"late/**\""));
    let daemon = site.serve();
    let caller = daemon.caller().await;
    assert_eq!(ready(&caller).await.files, 1);
    let found = search(&caller, NEEDLE).await;
    assert_eq!((&found["files_matched"], &found["skipped"]["denied"]), (&json!(1), &json!(1)));
    daemon.stop();
    let bytes = stored(&site);
    assert!(holds(&bytes, "plain_name") && !holds(&bytes, "closed_later"));
}

#[tokio::test]
async fn the_files_of_the_index_are_of_the_user_alone_and_the_status_says_what_it_takes() {
    let site = Site::new();
    site.write("a.txt", "some text\n");
    let daemon = site.serve();
    ready(&daemon.caller().await).await;
    daemon.stop();
    let daemon = site.serve();
    ready(&daemon.caller().await).await;
    let shown = site.run(&["index", "status", "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    for bytes in ["disk_bytes", "memory_bytes"] {
        assert!(shown["texts"][bytes].as_u64() > Some(0), "{bytes}: {shown}");
    }
    let status = site.run(&["status"]).stdout;
    assert!(
        status.contains("texts: ready, 1 files, ") && status.contains("MB in memory"),
        "{status}"
    );
    let mut left = vec![site.outside("cache/moss/index")];
    let mut files = 0;
    while let Some(at) = left.pop() {
        assert_eq!(mode(&at), 0o700, "{at:?}");
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false => {
                    files += 1;
                    assert_eq!(mode(&path) & 0o077, 0, "{path:?}");
                }
            }
        }
    }
    assert!(files >= 2, "{files}");
}

fn mode(path: &PathBuf) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
