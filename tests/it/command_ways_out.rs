//! What one command writes and the next one is given: nothing of it widens what that sees, and moss itself follows
//! none of it out of the workspace.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::harness::{Client, Site, until};
use crate::run_terminal_cmd::ALLOWING;

/// Runs a script of the workspace, as a build or a test is one.
async fn ran(site: &Site, client: &Client, text: &str) -> Value {
    site.write("step.sh", text);
    client.done("run_terminal_cmd", json!({ "command": "sh step.sh" })).await
}

#[tokio::test]
async fn a_git_file_of_a_command_opens_nothing_to_the_next() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let outside = site.outside("other");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "outside").unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let above = site.workspace().canonicalize().unwrap().parent().unwrap().to_owned();
    let shown = (above.display(), outside.display());
    let made = format!(
        "mkdir -p x/g y && echo 'gitdir: g' > x/.git && echo '{0}' > x/g/commondir && touch x/g/HEAD && \
         mkdir x/g/objects && echo 'gitdir: {1}' > y/.git",
        shown.0, shown.1
    );
    let found = ran(&site, &client, &made).await;
    assert_eq!(found["exit_code"], 0, "{found}");
    // In its own `/tmp` it may write there.
    ran(&site, &client, &format!("echo out > '{}/made-outside'", shown.0)).await;
    assert!(!above.join("made-outside").exists());
    let found = ran(&site, &client, &format!("cat '{}/secret.txt'", shown.1)).await;
    assert!(!found["stdout"].as_str().unwrap().contains("outside"), "{found}");
    // A pipe in its place is waited for by nobody.
    assert_eq!(ran(&site, &client, "mkdir z && mkfifo z/.git").await["exit_code"], 0);
    assert_eq!(ran(&site, &client, "ls z").await["exit_code"], 0);
}

#[tokio::test]
async fn a_link_among_worktrees_has_nothing_restored_where_it_leads() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let other = site.outside("other");
    std::fs::create_dir_all(&other).unwrap();
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(
        ran(&site, &client, "git init -q . && mkdir -p .git/worktrees").await["exit_code"],
        0
    );
    let made = "mkdir w1 && echo /elsewhere > w1/commondir && ln -s ../../w1 .git/worktrees/evil";
    assert_eq!(ran(&site, &client, made).await["exit_code"], 0);
    let led = format!("ln -sfn '{}' .git/worktrees/evil", other.display());
    let found = ran(&site, &client, &led).await;
    assert_eq!((&found["exit_code"], &found["sandbox"]["restored"]), (&json!(0), &Value::Null));
    assert_eq!(std::fs::read_dir(&other).unwrap().count(), 0);
}

#[tokio::test]
async fn a_link_under_the_beginning_of_a_protected_name_is_moved_aside() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text =
        "mkdir vs plain && touch vs/tasks.json plain/x && ln -s vs .vscode && ln -s plain .plain";
    let found = ran(&site, &client, text).await;
    assert!(found["sandbox"]["restored"].to_string().contains(".vscode"), "{found}");
    assert!(!site.has(".vscode") && site.has("vs/tasks.json") && site.has(".plain/x"));
    // One that was there is the person's: what it leads to stays as it is.
    std::os::unix::fs::symlink("vs", site.workspace().join(".vscode")).unwrap();
    let found = ran(&site, &client, "echo '{}' > vs/tasks.json").await;
    assert_ne!(found["exit_code"], 0, "{found}");
    assert_eq!(site.read("vs/tasks.json"), "");
}

#[tokio::test]
async fn the_hooks_that_a_repository_names_stay_as_they_are() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write(".githooks/pre-commit", "#!/bin/sh\n");
    site.write(".git/HEAD", "ref: refs/heads/main\n");
    site.write(".git/objects/info/x", "");
    site.write(".git/config", "[core]\n\thooksPath = ./.githooks\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = ran(&site, &client, "echo evil >> .githooks/pre-commit").await;
    assert_ne!(found["exit_code"], 0, "{found}");
    assert_eq!(site.read(".githooks/pre-commit"), "#!/bin/sh\n");
}

#[tokio::test]
async fn a_job_says_what_is_new_under_protected_names() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = "mkdir .vscode && touch .vscode/tasks.json plain; sleep 0.6";
    site.write("step.sh", text);
    let arguments = json!({ "command": "sh step.sh", "is_background": true });
    let found = client.done("run_terminal_cmd", arguments).await;
    let id = found["job"].as_str().unwrap_or_else(|| panic!("no job: {found}")).to_owned();
    let mut status = Value::Null;
    until("the job has ended", async || {
        let arguments = json!({ "action": "output", "job": id });
        status = client.done("terminal_job", arguments).await;
        status.to_string().contains("exit_code\":0")
    })
    .await;
    let notes = status.to_string();
    assert!(notes.contains(".vscode/tasks.json") && notes.contains("look at it"), "{status}");
    assert!(!notes.contains("plain,"), "{status}");
}

#[tokio::test]
async fn directories_as_deep_as_one_likes_keep_no_command_from_running() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let text = format!("mkdir -p '{}' && touch '{}/.env'", "d/".repeat(200), "d/".repeat(200));
    assert_eq!(ran(&site, &client, &text).await["exit_code"], 0);
    let found = ran(&site, &client, "ls").await;
    assert_eq!(
        (&found["exit_code"], &found["stdout"]),
        (&json!(0), &json!("d\nstep.sh\n")),
        "{found}"
    );
    let found = ran(&site, &client, &format!("cat '{}/.env'", "d/".repeat(200))).await;
    assert_ne!(found["exit_code"], 0, "a secret is hidden however deep it lies: {found}");
}

#[tokio::test]
async fn a_file_that_is_ignored_from_now_on_is_not_called_deleted() {
    let site = Site::new();
    site.user_policy(ALLOWING);
    site.write("src/main.rs", "fn main() {}\n");
    site.write("src/other.rs", "\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let found = ran(&site, &client, "echo src/ > .gitignore; echo more >> src/main.rs").await;
    let changed = found["changed"].as_array().unwrap();
    let of = |path: &str| changed.iter().find(|one| one["path"] == path).cloned();
    assert_eq!(of("src/main.rs").unwrap()["what"], "modified", "{found}");
    assert_eq!(of("src/other.rs"), None, "{found}");
    assert!(found["notes"].to_string().contains("names 1 more files"), "{found}");
}

#[tokio::test]
async fn tokens_and_settings_that_were_named_to_the_daemon_are_read_under_no_name() {
    let mut site = Site::new();
    site.user_policy(ALLOWING);
    let settings = site.outside("home/.cargo/moss.toml");
    let [token, moved] = ["home/.cargo/caller.token", "moved.token"].map(|path| site.outside(path));
    std::fs::create_dir_all(site.outside("home/.cargo")).unwrap();
    std::fs::write(&settings, "# canary\n").unwrap();
    let texts = [
        "canary9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "canary5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
    ];
    for (path, text) in [&token, &moved].into_iter().zip(texts) {
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    for argument in ["--listen", "tcp:127.0.0.1:0", "--token-file"] {
        site.argument(argument);
    }
    site.argument(token.to_str().unwrap());
    site.argument("--approver-token-file").argument(moved.to_str().unwrap());
    site.argument("--config").argument(settings.to_str().unwrap());
    let daemon = site.serve();
    let client = daemon.caller().await;
    std::fs::hard_link(&token, site.workspace().join("linked.txt")).unwrap();
    std::fs::rename(&moved, site.workspace().join("moved.txt")).unwrap();
    let text = "cat ~/.cargo/caller.token ~/.cargo/moss.toml linked.txt moved.txt; echo end";
    let found = ran(&site, &client, text).await;
    assert_eq!(found["stdout"], "end\n", "{found}");
}
