//! Commands that write what commands should not: much, without an end of lines, no text, their own
//! artifact; and repositories that try to run something when a command only reads.

use serde_json::{Value, json};

use crate::harness::{Client, Daemon, Site, output, refusing};

const ALLOWING: &str = "version = 1\n[[rule]]\neffects = [\"exec\"]\ndecision = \"allow\"\n";
/// Megabytes of output, where [`ASKED`] does not say otherwise. `MOSS_TEST_OUTPUT_MB=1024` is a gigabyte.
const OUTPUT_MB: u64 = 160;
/// The variable that says so.
const ASKED: &str = "MOSS_TEST_OUTPUT_MB";
/// How much more memory the daemon may have than after a command with little output, in bytes.
const GROWTH_MAX: u64 = 16 << 20;

async fn ran(client: &Client, text: &str) -> Value {
    client.done("run_terminal_cmd", json!({ "command": text })).await
}

/// The most memory that the daemon ever had, in bytes.
fn peak_bytes(daemon: &Daemon) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[tokio::test]
async fn much_output_leaves_the_daemon_small_and_the_artifact_bounded() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let megabytes = match std::env::var(ASKED) {
        Ok(asked) => asked.parse().unwrap_or_else(|_| panic!("{ASKED}={asked} is no number")),
        Err(_) => OUTPUT_MB,
    };
    let writing = |megabytes: u64| {
        format!("head -c {} /dev/zero | tr '\\0' x; echo; echo the end", megabytes << 20)
    };
    // Whatever a command with an artifact needs is there from then on.
    ran(&client, "seq 1 20000").await;
    let before = peak_bytes(&daemon);
    let found = ran(&client, &writing(megabytes)).await;
    assert_eq!(found["exit_code"], 0, "{found}");
    let growth = peak_bytes(&daemon).saturating_sub(before);
    assert!(growth <= GROWTH_MAX, "{growth} bytes more");
    // Who follows the call makes the daemon hold no more.
    let call = refusing("run_terminal_cmd", json!({ "command": writing(megabytes) }));
    let ended = output(&client.stream(call).await.unwrap().end().await.unwrap());
    assert_eq!(ended["exit_code"], 0, "{ended}");
    let growth = peak_bytes(&daemon).saturating_sub(before);
    assert!(growth <= GROWTH_MAX, "{growth} bytes more with a follower");
    let stdout = found["stdout"].as_str().unwrap();
    assert!(stdout.ends_with("the end\n") && stdout.len() < 40_000, "{} bytes", stdout.len());
    assert_eq!(found["truncated"], true);
    let artifacts = size_of(&site.state());
    assert!(artifacts < 140 << 20, "{artifacts} bytes are kept");
}

#[tokio::test]
async fn lines_of_a_long_artifact_are_read_in_little_memory_by_many_at_once() {
    let site = Site::new();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = ran(&client, "head -c 6000000 /dev/urandom").await;
    let artifact = found["artifact"].as_str().unwrap();
    let path = json!({ "path": artifact, "startLine": 2, "endLine": 3 });
    let small = ran(&client, "seq 1 20000").await;
    client.done("read_file", json!({ "path": small["artifact"] })).await;
    let before = peak_bytes(&daemon);
    let mut reads = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (client, path) = (client.clone(), path.clone());
        reads.spawn(async move { client.done("read_file", path).await });
    }
    for read in reads.join_all().await {
        assert_eq!((&read["start_line"], &read["end_line"]), (&json!(2), &json!(3)), "{read}");
        assert_eq!(read["size_bytes"], 6_000_000, "{read}");
    }
    let growth = peak_bytes(&daemon).saturating_sub(before);
    assert!(growth <= GROWTH_MAX, "{growth} bytes more");
}

/// The size of all files beneath a directory.
fn size_of(directory: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { size_of(&path) } else { path.metadata().unwrap().len() })
        .sum()
}

#[tokio::test]
async fn bytes_that_are_no_text_and_lines_without_an_end_are_shown_as_far_as_they_can_be() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = ran(&client, r"printf 'a\377\376b\000c\033[31mred\033[0m\n'").await;
    let stdout = found["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("a\u{fffd}\u{fffd}b") && stdout.contains("red"), "{stdout:?}");
    assert!(!stdout.contains('\u{1b}') && !stdout.contains('\0'), "{stdout:?}");
    let found = ran(&client, "head -c 3000000 /dev/zero | tr '\\0' y").await;
    let stdout = found["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("yyy") && stdout.ends_with("yyy"), "{} bytes", stdout.len());
    assert!(stdout.len() < 30_000, "{} bytes", stdout.len());
    // A line of the artifact is as long as it is: it is read in part, and says so.
    let artifact = found["artifact"].as_str().unwrap();
    let read = client.done("read_file", json!({ "path": artifact })).await;
    assert!(read["content"].as_str().unwrap().len() < 200_000);
}

#[tokio::test]
async fn no_command_reads_the_artifact_of_another_or_its_own() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let first = ran(&client, "seq 1 20000 | sed s/^/canary/").await;
    assert!(first["artifact"].is_string(), "{first}");
    let state = site.state();
    let script = format!(
        "seq 1 20000; find {0} / -xdev -type f -newermt '-1 hour' -size +64k 2>/dev/null | \
         xargs -r grep -l canary19999 2>/dev/null; ls -la {0} >&2",
        state.display()
    );
    let found = ran(&client, &script).await;
    assert!(!found["stdout"].as_str().unwrap().contains("canary"), "{found}");
    assert!(found["stderr"].as_str().unwrap().contains("No such file"), "{found}");
}

/// Has the repository of a workspace name programs wherever it can, which leave marks.
fn arm(site: &Site, git: &dyn Fn(&[&str])) {
    let root = site.workspace();
    let evil = |what: &str| {
        let marks = site.outside("marks");
        std::fs::create_dir_all(&marks).unwrap();
        let script =
            format!("#!/bin/sh\ntouch {}/{what} {}/{what}\ncat\n", marks.display(), root.display());
        let path = root.join(format!("evil-{what}"));
        std::fs::write(&path, script).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    git(&["init", "-q"]);
    site.write("a.txt", "one\n");
    site.write(".gitattributes", "*.txt filter=evil diff=evil\n");
    git(&["add", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one"]);
    for (key, what) in [
        ("core.fsmonitor", "fsmonitor"),
        ("core.pager", "pager"),
        ("core.hooksPath", "hooks"),
        ("core.sshCommand", "ssh"),
        ("core.editor", "editor"),
        ("diff.external", "external"),
        ("diff.evil.textconv", "textconv"),
        ("diff.evil.command", "diff"),
        ("filter.evil.clean", "clean"),
        ("filter.evil.smudge", "smudge"),
        ("filter.evil.process", "process"),
        ("gpg.program", "gpg"),
        ("credential.helper", "credential"),
        ("alias.st", "alias"),
    ] {
        git(&["config", key, &evil(what)]);
    }
    site.write("a.txt", "two\n");
}

#[tokio::test]
async fn a_repository_that_wants_to_run_something_does_not_when_git_only_reads() {
    let site = Site::new();
    let root = site.workspace();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(arguments).current_dir(&root).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.status().unwrap().success(), "{arguments:?}");
    };
    arm(&site, &git);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let texts = [
        "git status",
        "git diff",
        "git log -p",
        "git show HEAD",
        "git branch",
        "git stash list",
        "sh -c 'git status'",
        "git add b.txt; git status",
        "touch allowed; git status",
    ];
    let refused = |text: &str| {
        client.call(crate::harness::refusing("run_terminal_cmd", json!({ "command": text })))
    };
    for text in texts {
        assert!(refused(text).await.is_err(), "{text} ran");
    }
    for key in
        ["diff.external", "diff.evil.textconv", "diff.evil.command", "core.editor", "alias.st"]
    {
        git(&["config", "--unset", key]);
    }
    assert!(refused("git status").await.is_err(), "with a filter");
    for key in ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process"] {
        git(&["config", "--unset", key]);
    }
    // Nothing of what is left runs, and git needs no question.
    for text in &texts[..7] {
        ran(&client, text).await;
    }
    assert!(refused("touch allowed; git status").await.is_err());
    let marks: Vec<_> = std::fs::read_dir(site.outside("marks")).unwrap().collect();
    assert!(marks.is_empty(), "{marks:?}");
    for entry in std::fs::read_dir(&root).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_known = name.starts_with("evil-") || name.starts_with('.') || name == "a.txt";
        assert!(is_known, "{name} was made");
    }
    // Without moss they do run.
    git(&["status"]);
    assert!(
        std::fs::read_dir(site.outside("marks")).unwrap().next().is_some(),
        "it proves nothing"
    );
    let status = ran(&client, "git status --short").await;
    assert!(status["stdout"].as_str().unwrap().contains("a.txt"), "{status}");
}

/// A commit that git takes for signed, by how its signature begins.
fn signed(site: &Site, tree: &str, signature: &str) -> String {
    let text = format!(
        "tree {tree}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\
         gpgsig -----BEGIN {signature}-----\n \n AAAA\n -----END {signature}-----\n\nsubject\n"
    );
    site.write("commit.txt", &text);
    line(site, &["hash-object", "-t", "commit", "-w", "commit.txt"])
}

/// The line that git prints.
fn line(site: &Site, arguments: &[&str]) -> String {
    let printed = crate::listings::printed(site, "git", arguments);
    let first = printed.into_iter().next().unwrap_or_default();
    String::from_utf8(first).unwrap().trim().to_owned()
}

#[tokio::test]
async fn git_that_only_reads_lets_no_program_of_the_repository_check_signatures() {
    let site = Site::new();
    crate::listings::printed(&site, "git", &["init", "-q"]);
    let tree = line(&site, &["write-tree"]);
    let signatures = ["PGP SIGNATURE", "SIGNED MESSAGE", "SSH SIGNATURE"];
    let commits = signatures.map(|signature| signed(&site, &tree, signature));
    // The git that runs it ends by a signal.
    let ending = site.write("ending", "#!/bin/sh\nkill -9 $PPID\n");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&ending, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ending = ending.display().to_string();
    for key in ["gpg.program", "gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.program"] {
        crate::listings::printed(&site, "git", &["config", key, &ending]);
    }
    for (key, value) in [
        ("gpg.ssh.allowedSignersFile", ending.as_str()),
        ("format.pretty", "%s %G?"),
        ("log.showSignature", "true"),
    ] {
        crate::listings::printed(&site, "git", &["config", key, value]);
    }
    let daemon = site.serve();
    let client = daemon.caller().await;
    for commit in &commits {
        // Without moss it runs.
        let mut bare = std::process::Command::new("git");
        bare.args(["log", "-1", commit]).current_dir(site.workspace());
        assert_eq!(bare.output().unwrap().status.code(), None, "it proves nothing");
        for text in ["git log -1", "git log -1 --format='%G?'", "git show"] {
            let shown = ran(&client, &format!("{text} {commit}")).await;
            assert_eq!(shown["exit_code"], 0, "{text}: {shown}");
        }
    }
}
