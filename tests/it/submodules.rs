//! A repository whose submodules want to run something, when git only reads.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::harness::{Client, Site, refusing};
use crate::live_tree;

/// What a repository names programs by.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "ending"),
    ("core.pager", "pager"),
    ("pager.status", "pager"),
    ("core.hooksPath", "hooks"),
    ("core.sshCommand", "ssh"),
    ("diff.external", "external"),
    ("diff.evil.textconv", "textconv"),
    ("diff.evil.command", "diff"),
    ("filter.evil.clean", "clean"),
    ("filter.evil.smudge", "smudge"),
    ("filter.evil.process", "process"),
    ("gpg.program", "gpg"),
    ("alias.st", "alias"),
];
/// Those that moss sets others for while git only reads.
const REPLACED: &[&str] =
    &["core.fsmonitor", "core.pager", "core.hooksPath", "core.sshCommand", "gpg.program"];
/// What git runs by itself.
const HOOKS: &[&str] = &[
    "post-checkout",
    "post-index-change",
    "pre-commit",
    "reference-transaction",
    "fsmonitor-watchman",
];
/// What only reads and looks into submodules, the questions of moss itself among it.
const READING: &[&str] = &[
    "git status",
    "git status --porcelain=v2",
    "git diff",
    "git diff --submodule=log",
    "git diff --submodule=diff HEAD",
    "git log -p",
    "git show HEAD",
    "git submodule status",
    "git submodule status --recursive",
    "git ls-files --recurse-submodules",
    "git -C sub status",
    "git -C sub diff",
    "git -C sub log -p",
    "git -C led status",
    "git -C led log",
    "git stash list",
    "git ls-files --others --exclude-standard && git diff --no-color --no-ext-diff -U0 --relative --src-prefix=a/ --dst-prefix=b/ HEAD",
];

/// A repository with hostile submodules, and where a program leaves its mark.
struct HostileSite {
    site: Site,
    marks: PathBuf,
}

fn git(directory: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "protocol.file.allow=always", "-c", "user.name=A", "-c", "user.email=a@b"]);
    let output = command.args(arguments).current_dir(directory);
    let output = output.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn executable(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn repository(root: &Path) {
    std::fs::create_dir_all(root).unwrap();
    git(root, &["init", "-q", "-b", "main"]);
    std::fs::write(root.join("a.txt"), "one\n").unwrap();
    std::fs::write(root.join(".gitattributes"), "*.txt filter=evil diff=evil\n").unwrap();
    git(root, &["add", "."]);
    git(root, &["commit", "-q", "-m", "first"]);
}

// === impl HostileSite ===

impl HostileSite {
    fn new() -> Self {
        let site = Site::new();
        let (root, other, marks) = (site.workspace(), site.outside("other"), site.outside("marks"));
        std::fs::create_dir(&marks).unwrap();
        repository(&other);
        repository(&root);
        git(&root, &["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
        // One that leads to a directory of the workspace, which says that its files are elsewhere.
        git(&root, &["clone", "-q", "--bare", other.to_str().unwrap(), "fake.git"]);
        std::fs::create_dir(root.join("led")).unwrap();
        std::fs::write(root.join("led/.git"), "gitdir: ../fake.git\n").unwrap();
        let this = Self { site, marks };
        let outside = this.site.outside("home");
        let elsewhere = outside.to_str().unwrap();
        git(&root, &["--git-dir", "fake.git", "config", "core.bare", "false"]);
        git(&root, &["--git-dir", "fake.git", "config", "core.worktree", elsewhere]);
        let head = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(&other).output();
        let head = String::from_utf8(head.unwrap().stdout).unwrap();
        let link = format!("160000,{},led", head.trim());
        git(&root, &["update-index", "--add", "--cacheinfo", &link]);
        git(&root, &["add", ".gitmodules", "sub"]);
        git(&root, &["commit", "-q", "-m", "with submodules"]);
        // From here on git that looks into them does not end well.
        this.arm(&root.join(".git/modules/sub"));
        this.arm(&root.join("fake.git"));
        let update = format!("!{}", this.program("update", "").display());
        git(&root, &["config", "submodule.sub.update", &update]);
        git(&root, &["config", "submodule.recurse", "true"]);
        let named = std::fs::read_to_string(root.join(".gitmodules")).unwrap();
        std::fs::write(
            root.join(".gitmodules"),
            format!("{named}\tupdate = {update}\n[submodule \"../../led\"]\n\tpath = led\n\turl = {update}\n"),
        )
        .unwrap();
        std::fs::write(root.join("sub/a.txt"), "two\n").unwrap();
        this
    }

    /// A program that leaves a mark, here and in the workspace.
    fn program(&self, what: &str, last: &str) -> PathBuf {
        let path = self.site.outside(&format!("evil/{what}"));
        let (marks, root) = (self.marks.display(), self.site.workspace());
        let text =
            format!("#!/bin/sh\ntouch {marks}/{what} {}/{what}.mark\n{last}", root.display());
        // In the workspace: a command sees it.
        let seen = self.site.workspace().join(format!("evil-{what}"));
        executable(&seen, &text);
        executable(&path, &text);
        seen
    }

    /// Has a repository name programs wherever it can.
    fn arm(&self, repository: &Path) {
        for (key, what) in SETTINGS {
            // Whoever runs it is killed: a result shows whether it ran.
            let last = if *what == "ending" { "kill -9 $PPID\n" } else { "cat\n" };
            let program = self.program(what, last);
            let repository = repository.to_str().unwrap();
            git(
                &self.site.workspace(),
                &["--git-dir", repository, "config", key, program.to_str().unwrap()],
            );
        }
        for hook in HOOKS {
            let program = std::fs::read(self.program(hook, "")).unwrap();
            executable(&repository.join("hooks").join(hook), &String::from_utf8(program).unwrap());
        }
    }

    /// Takes away what no setting of moss's stands in for.
    fn disarm(&self, repository: &str) {
        let others = SETTINGS.iter().map(|(key, _)| *key).filter(|key| !REPLACED.contains(key));
        for key in others {
            git(&self.site.workspace(), &["--git-dir", repository, "config", "--unset", key]);
        }
    }

    /// What ran and could write.
    fn marks(&self) -> Vec<PathBuf> {
        let listed =
            |path: &Path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let here = self.site.workspace();
        let here = listed(&here).filter(|path| path.extension().is_some_and(|end| end == "mark"));
        listed(&self.marks).chain(here).collect()
    }
}

async fn reads(client: &Client, text: &str) -> Option<serde_json::Value> {
    let called = client.call(refusing("run_terminal_cmd", json!({ "command": text }))).await;
    // Some ask, and do not run then.
    called.ok().map(|ended| crate::harness::output(&ended))
}

#[tokio::test]
async fn submodules_that_want_to_run_something_do_not_when_git_only_reads() {
    let hostile = HostileSite::new();
    let daemon = hostile.site.serve();
    let client = daemon.caller().await;
    for text in READING {
        let found = reads(&client, text).await;
        assert!(found.is_none(), "{text}: {found:?}");
    }
    hostile.disarm(".git/modules/sub");
    hostile.disarm("fake.git");
    for text in READING {
        let found = reads(&client, text).await;
        assert!(found.is_none(), "{text} looks at files that are elsewhere: {found:?}");
    }
    let root = hostile.site.workspace();
    git(&root, &["--git-dir", "fake.git", "config", "--unset", "core.worktree"]);
    let mut ran = 0;
    for text in READING {
        let found = reads(&client, text).await;
        assert_eq!(hostile.marks(), [""; 0].map(PathBuf::from), "{text}: {found:?}");
        ran += usize::from(found.is_some());
    }
    assert!(ran >= 12, "only {ran} of them ran");
    // Their monitor of files is not even started, so that git ends by itself.
    let found = reads(&client, "git -C sub status --short").await.unwrap();
    assert_eq!(
        (&found["exit_code"], &found["stdout"]),
        (&json!(0), &json!(" M a.txt\n")),
        "{found}"
    );
    // Commands in `.gitmodules` are refused by git itself, before it looks any further.
    let modules = hostile.site.workspace().join(".gitmodules");
    let named = std::fs::read_to_string(&modules).unwrap();
    let others = named.lines().filter(|line| !line.contains("update = ")).collect::<Vec<_>>();
    std::fs::write(&modules, others.join("\n") + "\n").unwrap();
    let found = reads(&client, "git status --short").await.unwrap();
    assert_eq!(found["exit_code"], 0, "{found}");
    // What moss itself asks git.
    live_tree::ready(&client).await;
    client.done("codebase_search", json!({ "query": "who wrote this first" })).await;
    assert_eq!(hostile.marks(), [""; 0].map(PathBuf::from));
    // Without moss they run.
    let bare = Command::new("git").arg("status").current_dir(hostile.site.workspace()).output();
    assert!(!bare.unwrap().status.success(), "it proves nothing");
    assert!(!hostile.marks().is_empty(), "it proves nothing");
}
