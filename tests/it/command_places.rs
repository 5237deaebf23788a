//! Commands where the daemon lacks something: room for what they write, or a clock that only goes
//! forward. What the sandbox lacks is tested beside it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Client, Daemon, Ended, Site, until};
use crate::run_terminal_cmd::ALLOWING;

/// Makes the clock of a program go back once a file is there: `BACK_FILE`, by a year.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    char *file = getenv("BACK_FILE");
    if (!failed && clock == CLOCK_REALTIME && file && access(file, F_OK) == 0)
        now->tv_sec -= 365 * 24 * 3600;
    return failed;
}
"#;

/// Runs a moss command in a user namespace, with what a script mounts there.
fn run_in(site: &Site, prepare: &str, arguments: &[&str]) -> Ended {
    let moss = site.command(arguments);
    let script = format!("{prepare}\ncd \"$WORK\"\nexec \"$@\"");
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-ec", &script, "sh"])
        .arg(moss.get_program())
        .args(moss.get_args())
        .env_clear()
        .envs(moss.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("WORK", site.workspace())
        .env("STATE", site.outside("state"))
        .current_dir("/")
        .stdin(Stdio::null());
    Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

fn result(ended: &Ended) -> Value {
    assert_eq!(ended.code, Some(0), "a user namespace that may mount is needed: {ended:?}");
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn a_command_on_a_full_disk_has_a_result_that_says_what_it_could_not_write() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let fill = "mount -t tmpfs -o size=64k none \"$WORK\"\n\
                head -c 100k /dev/zero > \"$WORK/ballast\" 2>/dev/null || :";
    let text = "command=touch empty.txt; head -c 9000 /dev/zero | tee -a copy.txt | wc -c; mkdir .vscode; touch .vscode/tasks.json";
    let found = result(&run_in(&site, fill, &["call", "run_terminal_cmd", text]));
    assert!(found["stderr"].as_str().unwrap().contains("No space left on device"), "{found}");
    assert_eq!(found["stdout"], "9000\n", "{found}");
    assert!(found["changed"].to_string().contains("empty.txt"), "{found}");
    assert!(found["sandbox"]["restored"].to_string().contains(".vscode"), "{found}");
}

#[test]
fn output_that_a_full_disk_has_no_room_for_is_shown_as_far_as_it_is_and_the_result_says_so() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let small = "mount -t tmpfs -o size=8m none \"$STATE\"";
    let text = "command=head -c 20000000 /dev/zero | tr '\\0' x; echo; echo the end";
    let found = result(&run_in(&site, small, &["call", "run_terminal_cmd", text]));
    let stdout = found["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("xxx") && stdout.ends_with("the end\n"), "{} bytes", stdout.len());
    assert_eq!((&found["exit_code"], &found["truncated"]), (&json!(0), &json!(true)));
    let notes = found["notes"].to_string();
    assert!(notes.contains("the artifact has only the first part of the output"), "{notes}");
}

/// Takes namespaces from this machine: the tier is `landlock`.
const NO_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_user_namespaces";
/// Lets commands run that need no full isolation.
fn accepting(min: &str) -> String {
    ALLOWING.replace("version = 1", &format!("version = 1\nsandbox_min = \"{min}\""))
}

/// Runs a program of which the kernel has no Landlock.
const WITHOUT_LANDLOCK: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { 4, steps };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 9;
    execv(words[1], words + 1);
    return 8;
}
"#;

/// What `moss doctor` says of one thing on a machine that lacks something.
fn doctor(site: &Site, prepare: &str, name: &str) -> Value {
    let ended = run_in(site, prepare, &["doctor", "--json"]);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    let checks = found["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{found}")).clone()
}

#[test]
fn doctor_says_which_tier_there_is_what_keeps_a_better_one_away_and_what_raises_it() {
    let site = Site::new();
    let full = doctor(&site, ":", "command sandbox");
    assert!(full["state"] == "ok" && full["hint"].is_null(), "{full}");
    let detail = full["detail"].as_str().unwrap();
    assert!(detail.starts_with("tier full (moss's own launcher, seccomp, Landlock ABI"), "{full}");
    let less = doctor(&site, NO_NAMESPACES, "command sandbox");
    assert_eq!(less["state"], "warn", "{less}");
    let detail = less["detail"].as_str().unwrap();
    assert!(detail.starts_with("tier landlock (seccomp, Landlock ABI "), "{less}");
    assert!(detail.contains("; no tier full: moss's own launcher: a user namespace"), "{less}");
    assert!(less["hint"].as_str().unwrap().contains("max_user_namespaces=15000"), "{less}");
}

#[test]
fn doctor_says_who_bounds_the_memory_and_the_processes_of_commands() {
    let site = Site::new();
    let limits = doctor(&site, ":", "limits of commands");
    assert_eq!(limits["state"], "ok", "{limits}");
    // Whoever runs the tests is in the same group.
    let detail = limits["detail"].as_str().unwrap();
    let counted = "memory and processes counted five times a second, since ";
    assert!(detail.starts_with(counted) && detail.contains("control group"), "{limits}");
}

#[test]
fn without_namespaces_what_only_reads_asks_and_what_writes_needs_a_policy_that_says_so() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let run = |arguments: &[&str]| run_in(&site, NO_NAMESPACES, arguments);
    let read = ["call", "run_terminal_cmd", "command=cat a.txt"];
    let asked = run(&read);
    assert!(asked.code != Some(0) && asked.stderr.contains("confirm"), "{asked:?}");
    let found = result(&run(&[&read[..], &["--confirm", "allow"]].concat()));
    assert_eq!(found["stdout"], "one\n", "{found}");
    let sandbox = &found["sandbox"];
    assert_eq!((&sandbox["tier"], &sandbox["profile"]), (&json!("landlock"), &json!("read-only")));
    let write = ["call", "run_terminal_cmd", "command=touch b.txt", "--confirm", "allow"];
    let refused = run(&write);
    assert!(refused.code != Some(0) && refused.stderr.contains("moss doctor"), "{refused:?}");
    site.user_policy("version = 1\nsandbox_min = \"full\"\n");
    let refused = run(&[&read[..], &["--confirm", "allow"]].concat());
    assert!(refused.code != Some(0) && refused.stderr.contains("moss doctor"), "{refused:?}");
    assert!(!site.has("b.txt"));
}

#[test]
fn on_the_tier_landlock_protected_files_are_restored_and_the_result_says_what_was_not_kept_in() {
    let site = Site::new();
    site.user_policy(&accepting("landlock"));
    site.write(".vscode/tasks.json", "before\n");
    site.write(".env", "secret\n");
    // A name in the command itself would ask.
    site.write("work.sh", "echo after >> .vscode/tasks.json; touch plain.txt\n");
    let text = "command=sh work.sh";
    let found = result(&run_in(&site, NO_NAMESPACES, &["call", "run_terminal_cmd", text]));
    let sandbox = &found["sandbox"];
    assert_eq!(
        (&sandbox["tier"], &sandbox["profile"]),
        (&json!("landlock"), &json!("workspace-write"))
    );
    assert!(sandbox["restored"].to_string().contains(".vscode/tasks.json"), "{found}");
    assert_eq!(site.read(".vscode/tasks.json"), "before\n");
    assert!(
        site.has("plain.txt") && found["notes"].to_string().contains("could not hide"),
        "{found}"
    );
}

#[tokio::test]
async fn on_the_tier_landlock_what_one_command_makes_is_restored_by_no_other_one() {
    let site = Site::new();
    site.user_policy(&accepting("landlock"));
    let wait = |name: &str| format!("until [ -e {name} ]; do sleep 0.02; done\n");
    let make = "mkdir .vscode; echo evil > .vscode/tasks.json; touch made; ";
    site.write("make.sh", format!("{make}{}", wait("made-seen")));
    site.write("wait.sh", format!("touch begun; {}", wait("may-end")));
    let plain = site.serve_command();
    let mut serve = Command::new("unshare");
    serve.args(["--user", "--map-root-user", "sh", "-ec"]);
    serve.arg(format!("{NO_NAMESPACES}\nexec \"$0\" \"$@\""));
    serve.arg(plain.get_program()).args(plain.get_args()).env_clear().stdin(Stdio::null());
    serve.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    serve.current_dir(plain.get_current_dir().unwrap());
    let daemon = Daemon::start(serve, &site.socket(), &site.state());
    let (one, other) = (daemon.caller().await, daemon.caller().await);
    let second = async {
        until("it is made", async || site.has("made")).await;
        ran(&other, "sh wait.sh").await
    };
    let end = async {
        until("both run", async || site.has("begun")).await;
        site.write("made-seen", "");
        until("it is moved aside", async || !site.has(".vscode/tasks.json")).await;
        site.write("may-end", "");
    };
    let (first, second, ()) = tokio::join!(ran(&one, "sh make.sh"), second, end);
    assert_eq!(first["sandbox"]["tier"], "landlock", "{first}");
    assert!(first["sandbox"]["restored"].to_string().contains("tasks.json"), "{first}");
    assert!(!site.has(".vscode/tasks.json"), "{second}");
}

#[test]
fn without_isolation_a_command_runs_only_where_the_policy_says_none() {
    let site = Site::new();
    let (source, without) = (site.outside("without.c"), site.outside("without"));
    std::fs::write(&source, WITHOUT_LANDLOCK).unwrap();
    let status = Command::new("cc").arg("-o").arg(&without).arg(&source).status();
    assert!(status.is_ok_and(|status| status.success()), "a C compiler is needed: `cc`");
    let prepare = format!("{NO_NAMESPACES}\nset -- '{}' \"$@\"", without.display());
    let run = |text: &str| {
        run_in(&site, &prepare, &["call", "run_terminal_cmd", text, "--confirm", "allow"])
    };
    for policy in ["version = 1\n".to_owned(), accepting("landlock")] {
        site.user_policy(&policy);
        for text in ["command=ls", "command=touch a.txt"] {
            let refused = run(text);
            let says = refused.stderr.contains("moss doctor");
            assert!(refused.code != Some(0) && says, "{policy}{text}: {refused:?}");
        }
    }
    site.user_policy(&accepting("none"));
    let found = result(&run("command=touch a.txt"));
    assert_eq!(
        (&found["exit_code"], &found["sandbox"]["tier"]),
        (&json!(0), &json!("none")),
        "{found}"
    );
    assert!(site.has("a.txt"));
}

/// Builds what makes a clock go back.
fn clock(site: &Site) -> PathBuf {
    let (source, library) = (site.outside("clock.c"), site.outside("clock.so"));
    std::fs::write(&source, CLOCK).unwrap();
    let mut compiler = Command::new("cc");
    let status = compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(status.is_ok_and(|status| status.success()), "a C compiler is needed: `cc`");
    library
}

async fn ran(client: &Client, text: &str) -> Value {
    client.done("run_terminal_cmd", json!({ "command": text })).await
}

#[tokio::test]
async fn a_clock_that_is_set_back_changes_neither_times_nor_what_is_listed_nor_what_is_kept() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write("old.txt", "one\n");
    let mut serve = site.serve_command();
    let back = site.workspace().join("back");
    serve.env("LD_PRELOAD", clock(&site)).env("BACK_FILE", &back);
    let daemon = Daemon::start(serve, &site.socket(), &site.state());
    let client = daemon.caller().await;
    let long = "seq 1 20000";
    let first = ran(&client, long).await["artifact"].as_str().unwrap().to_owned();
    let waiting = json!({ "command": "until [ -e go ]; do sleep 0.02; done; echo went", "is_background": true });
    let job = client.done("run_terminal_cmd", waiting).await["job"].as_str().unwrap().to_owned();

    // It goes back while the command runs, and so does the time of a file that the command writes.
    let found = ran(
        &client,
        "touch back; echo two | tee -a old.txt | wc -l; touch -d '2 years ago' old.txt new.txt; echo ok",
    )
    .await;
    assert_eq!((&found["exit_code"], &found["stdout"]), (&json!(0), &json!("1\nok\n")), "{found}");
    assert!(found["duration_ms"].as_u64().unwrap() < 600_000, "{found}");
    let changed = json!([{"path": "back", "what": "created"}, {"path": "new.txt", "what": "created"},
        {"path": "old.txt", "what": "modified"}]);
    assert_eq!(found["changed"], changed, "{found}");

    // What ran before goes on, what was kept before is read, and what comes after is kept as well.
    site.write("go", "");
    let waited = json!({ "action": "wait", "job": job });
    let ended = client.done("terminal_job", waited).await;
    assert!(ended.to_string().contains("went"), "{ended}");
    let second = ran(&client, long).await["artifact"].as_str().unwrap().to_owned();
    for artifact in [&first, &second] {
        let read = client.done("read_file", json!({ "path": artifact, "startLine": 20_000 })).await;
        assert!(read["content"].as_str().unwrap().contains("20000"), "{read}");
    }
    let jobs = client.done("terminal_job", json!({ "action": "list" })).await;
    assert!(jobs.to_string().contains("until [ -e go ]"), "{jobs}");

    // It may be set forward again as well.
    std::fs::remove_file(&back).unwrap();
    assert_eq!(ran(&client, "echo on").await["stdout"], "on\n");
    daemon.stop();
}
