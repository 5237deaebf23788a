//! git in workspace-write: what commits need works, in worktrees and submodules too, and what runs
//! code stays as it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use moss_sandbox::{CommandEnd, ProcessExit, Profile, SandboxedCommand, Tier};

use crate::harness::{FULL, Place, Ran, WAYS, Way, eventually, run, start, write};

/// Who commits, without a setting of the person's.
pub(crate) const AUTHOR: &[(&str, &str)] = &[
    ("GIT_AUTHOR_NAME", "A"),
    ("GIT_AUTHOR_EMAIL", "a@example.org"),
    ("GIT_COMMITTER_NAME", "A"),
    ("GIT_COMMITTER_EMAIL", "a@example.org"),
];

/// Runs git as the person does.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "protocol.file.allow=always"]).args(arguments).current_dir(directory);
    command.envs(AUTHOR.iter().copied()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn repository() -> Place {
    let place = Place::new();
    git(&place.root, &["init", "-q", "-b", "main"]);
    place.write("file", "one\n");
    git(&place.root, &["add", "."]);
    git(&place.root, &["commit", "-q", "-m", "first"]);
    place
}

/// Runs a script that ends at the first failure.
async fn script(way: Way, root: &Path, script: &str) -> Ran {
    let mut command = SandboxedCommand::shell(root, format!("set -e\n{script}"));
    command.runs_git = true;
    let author = AUTHOR.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    command.environment.set.extend(author);
    command.environment.set.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
    run(way, command).await
}

async fn works(way: Way, root: &Path, text: &str) -> Ran {
    let ran = script(way, root, text).await;
    assert_eq!(ran.end.exit, ProcessExit::Exited(0), "{way}: {}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.end.restored, [""; 0].map(std::path::PathBuf::from), "{way}");
    ran
}

#[tokio::test]
async fn commits_stashes_switches_and_rebases_work() {
    for way in WAYS {
        let place = repository();
        let text = "
            echo two >> file; git add file; git commit -q -m second
            git commit -q --amend -m 'second, amended'
            echo three >> file; git stash -q; git stash pop -q; git checkout -q -- file
            git switch -q -c topic HEAD~1; echo x > other; git add other; git commit -q -m topic
            git rebase -q main; git switch -q main; git merge -q --no-edit topic
            git tag v1; git branch -d topic; git gc -q; git status --short
            git log --format=%s";
        let ran = works(way, &place.root, text).await;
        assert!(ran.stdout.ends_with("topic\nsecond, amended\nfirst\n"), "{way}: {}", ran.stdout);
        git(&place.root, &["fsck", "--strict"]);
    }
}

#[tokio::test]
async fn a_commit_begins_nothing_in_the_background_that_would_be_killed() {
    for way in WAYS {
        let place = repository();
        for number in 0..400 {
            place.write(&format!("many/{number}"), &number.to_string());
        }
        git(&place.root, &["-c", "gc.auto=0", "add", "."]);
        git(&place.root, &["config", "gc.auto", "10"]);
        let ran = works(way, &place.root, "git commit -q -m many; git count-objects -v").await;
        assert!(ran.stdout.contains("\npacks: 0\n"), "{way}: {}", ran.stdout);
        assert_eq!(ran.end.left_running, [], "{way}");
        let objects = place.root.join(".git/objects");
        let packs = fs::read_dir(objects.join("pack")).unwrap().count();
        assert_eq!(packs, 0, "{way}: something was begun");
        for left in [place.root.join(".git/gc.pid"), objects.join("maintenance.lock")] {
            assert!(!left.exists(), "{way}: {}", left.display());
        }
        // What is meant to run does.
        works(way, &place.root, "git gc -q; test -e .git/objects/pack/*.pack").await;
    }
}

#[tokio::test]
async fn a_worktree_commits_and_leaves_the_main_one_alone() {
    for way in WAYS {
        let place = repository();
        let tree = place.root.with_file_name("tree");
        git(&place.root, &["worktree", "add", "-q", tree.to_str().unwrap()]);
        let text = "
            echo two >> file; git add file; git commit -q -m second; git commit -q --amend --no-edit
            git stash list; git rebase -q HEAD~1; git log --format=%s";
        let ran = works(way, &tree, text).await;
        assert_eq!(ran.stdout, "second\nfirst\n", "{way}");
        assert_eq!(place.read("file"), "one\n", "{way}");
        git(&place.root, &["fsck", "--strict"]);

        let common = place.root.join(".git");
        let config = fs::read_to_string(common.join("config")).unwrap();
        let text = format!(
            "set +e; cd {0}; echo x >> config; echo x > hooks/pre-commit; \
             echo x > worktrees/tree/commondir; echo x > worktrees/tree/config.worktree; true",
            common.display(),
        );
        script(way, &tree, &text).await;
        assert_eq!(fs::read_to_string(common.join("config")).unwrap(), config, "{way}");
        assert!(!common.join("hooks/pre-commit").exists(), "{way}");
        assert!(!common.join("worktrees/tree/config.worktree").exists(), "{way}");
        git(&place.root, &["status"]);
        git(&tree, &["status"]);
    }
}

#[tokio::test]
async fn a_worktree_outside_is_thrown_away_with_its_command_and_named_once() {
    for way in FULL {
        let place = repository();
        let text = "git worktree add -q ../beside; git worktree add -q inner";
        let ran = works(way, &place.root, text).await;
        assert_eq!(ran.end.lost_worktrees, [place.root.with_file_name("beside")], "{way}");
        assert!(ran.end.what_git_lost().unwrap().contains("git worktree prune"), "{way}");
        let next = works(way, &place.root, "git worktree list").await;
        assert_eq!(next.end.what_git_lost(), None, "{way}");
        git(&place.root, &["worktree", "prune"]);
        assert!(!place.root.join(".git/worktrees/beside").exists(), "{way}");
    }
}

#[tokio::test]
async fn a_workspace_that_is_a_submodule_reads_its_repository_and_says_why_it_does_not_commit() {
    for way in WAYS {
        let place = repository();
        let add = ["submodule", "--quiet", "add", place.root.to_str().unwrap(), "sub"];
        git(&place.root, &add);
        let workspace = place.root.join("sub");
        let text = "git log --format=%s; git commit -q --allow-empty -m no || true";
        let ran = works(way, &workspace, text).await;
        assert_eq!(ran.stdout, "first\n", "{way}");
        let why = ran.end.facts.what_git_misses([&ran.stdout, &ran.stderr]);
        let module = place.root.join(".git/modules/sub");
        assert!(why.unwrap().contains(module.to_str().unwrap()), "{way}: {}", ran.stderr);
    }
}

/// Adds linked worktrees inside a workspace, and returns a command in it that knows of them.
fn with_inner_trees(root: &Path, text: &str) -> SandboxedCommand {
    for name in ["f", "g"] {
        git(root, &["worktree", "add", "-q", &format!(".worktrees/{name}"), "-b", name]);
    }
    let mut command = SandboxedCommand::shell(root, format!("set -e\n{text}"));
    let repositories = [".git", ".worktrees/f/.git", ".worktrees/g/.git"];
    command.files.repositories = repositories.map(|path| root.join(path)).to_vec();
    let author = AUTHOR.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    command.environment.set.extend(author);
    command.environment.set.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
    command
}

#[tokio::test]
async fn worktrees_of_one_workspace_all_commit() {
    let text = "
        for tree in . .worktrees/f .worktrees/g; do
            (cd $tree; echo two >> file; git add file; git commit -q -m \"in $tree\"
            git switch -q -c topic-$(basename $(pwd)); git log --format=%s -1)
        done";
    let expected = "in .\nin .worktrees/f\nin .worktrees/g\n";
    for way in WAYS {
        let place = repository();
        let ran = run(way, with_inner_trees(&place.root, text)).await;
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (expected, ""), "{way}");
        assert_eq!(ran.end.restored, [""; 0].map(PathBuf::from), "{way}");

        // The workspace is a linked worktree itself, beside another one: these two are not its own.
        let place = repository();
        let beside = |name: &str| place.root.with_file_name(name);
        for name in ["tree", "other"] {
            git(&place.root, &["worktree", "add", "-q", beside(name).to_str().unwrap()]);
        }
        let ran = run(way, with_inner_trees(&beside("tree"), text)).await;
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (expected, ""), "{way}");
        let of_others = ["HEAD", "worktrees/other/HEAD"];
        let leading = ["worktrees/f/gitdir", "worktrees/tree/gitdir", "worktrees/other/commondir"];
        let [of_others, leading] = [&of_others[..], &leading].map(|paths| {
            paths.iter().map(|path| place.root.join(".git").join(path)).collect::<Vec<_>>()
        });
        let read = |paths: &[PathBuf]| paths.iter().map(|path| content(path)).collect::<Vec<_>>();
        let before = [read(&of_others), read(&leading)];
        let all = of_others.iter().chain(&leading);
        let text: Vec<_> = all.map(|path| format!("echo evil > {}", path.display())).collect();
        let mut command = SandboxedCommand::shell(beside("tree"), text.join("\n"));
        // A file that claims to be the other worktree does not make that one the workspace's.
        let forged = beside("tree").join("forged/.git");
        let other = place.root.join(".git/worktrees/other");
        write(&forged, &format!("gitdir: {}\n", other.display()));
        let inner =
            ["f", "g"].map(|name| beside("tree").join(".worktrees").join(name).join(".git"));
        command.files.repositories = inner.into_iter().chain([forged]).collect();
        let ran = run(way, command).await;
        assert_eq!(read(&leading), before[1], "{way}");
        // What git itself rewrites is not restored, whoever changed it.
        let is_kept = way.tier() == Tier::Full;
        assert_eq!(read(&of_others) == before[0], is_kept, "{way}");
        let other = of_others[1].parent().unwrap().to_owned();
        let seen = if is_kept { Vec::new() } else { vec![of_others[0].clone(), other] };
        assert_eq!(ran.end.unattributed, seen, "{way}");
    }
}

#[tokio::test]
async fn a_submodule_commits() {
    for way in WAYS {
        let (other, place) = (repository(), repository());
        let url = other.root.to_str().unwrap();
        git(&place.root, &["submodule", "add", "-q", url, "sub"]);
        git(&place.root, &["commit", "-q", "-m", "with a submodule"]);
        let text = "
            cd sub; git switch -q -c topic; echo two >> file; git commit -q -a -m inner
            cd ..; git add sub; git commit -q -m outer; git log --format=%s -1; git -C sub log --format=%s -1";
        let ran = works(way, &place.root, text).await;
        assert_eq!(ran.stdout, "outer\ninner\n", "{way}");
        script(way, &place.root, "echo x > .git/modules/sub/hooks/pre-commit").await;
        assert!(!place.root.join(".git/modules/sub/hooks/pre-commit").exists(), "{way}");
    }
}

/// What of a repository decides about code that git runs, what is mostly there first: a command that makes what may not
/// be is ended.
const OF_REPOSITORY: &[&str] =
    &["config", "hooks/pre-commit", "config.worktree", "info/attributes", "commondir"];
/// What of a linked worktree's directory does.
const OF_WORKTREE: &[&str] = &["commondir", "gitdir", "config.worktree"];

/// A repository with a submodule whose name has slashes, which has one itself; a worktree of it, with a submodule of
/// its own; and a worktree of the submodule. Returns it with the workspaces, and the directories of git that are in it.
fn repository_with_submodules() -> (Place, Vec<Place>, [PathBuf; 2], Vec<PathBuf>) {
    let (inner, other, place) = (repository(), repository(), repository());
    let add = |place: &Place, from: &Place, name: &str| {
        let url = from.root.to_str().unwrap();
        git(&place.root, &["submodule", "add", "-q", "--name", name, url, "sub"]);
        git(&place.root, &["commit", "-q", "-m", "with a submodule"]);
    };
    add(&other, &inner, "inner");
    add(&place, &other, "libs/deep/sub");
    git(&place.root, &["submodule", "update", "-q", "--init", "--recursive"]);
    let beside = |name: &str| place.root.with_file_name(name);
    let (tree, of_sub) = (beside("tree"), beside("tree-of-sub"));
    git(&place.root, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    git(&tree, &["submodule", "update", "-q", "--init", "--recursive"]);
    git(&place.root.join("sub"), &["worktree", "add", "-q", of_sub.to_str().unwrap()]);
    let own = place.root.join(".git");
    let directories = [
        "modules/libs/deep/sub",
        "modules/libs/deep/sub/modules/inner",
        "modules/libs/deep/sub/worktrees/tree-of-sub",
        "worktrees/tree",
        "worktrees/tree/modules/libs/deep/sub",
        "worktrees/tree/modules/libs/deep/sub/modules/inner",
    ];
    let directories = directories.map(|path| own.join(path)).to_vec();
    for directory in &directories {
        assert!(directory.join("HEAD").exists(), "{}", directory.display());
    }
    let workspaces = [place.root.clone(), tree];
    (place, vec![inner, other], workspaces, directories)
}

/// The content of a file; none where it is not there.
fn content(path: &Path) -> Option<Vec<u8>> {
    fs::read(path).ok()
}

/// What of these directories decides about code.
fn deciding(directories: &[PathBuf]) -> Vec<PathBuf> {
    let all = directories.iter().flat_map(|directory| {
        let is_worktree = directory.parent().unwrap().ends_with("worktrees");
        let names = if is_worktree { OF_WORKTREE } else { OF_REPOSITORY };
        names.iter().enumerate().map(move |(place, name)| (place, directory.join(name)))
    });
    let mut all: Vec<_> = all.collect();
    all.sort();
    all.into_iter().map(|(_, path)| path).collect()
}

#[tokio::test]
async fn what_runs_code_in_any_repository_of_a_submodule_stays_as_it_is() {
    for (way, place) in WAYS.iter().flat_map(|&way| [(way, 0), (way, 1)]) {
        let (_place, _others, workspaces, directories) = repository_with_submodules();
        let deciding = deciding(&directories);
        let before: Vec<_> = deciding.iter().map(|path| content(path)).collect();
        let moved = directories.iter().map(|directory| {
            let directory = directory.display();
            format!("mv {directory} {directory}-moved && mkdir {directory} && echo x > {directory}/config")
        });
        let written = deciding.iter().map(|path| {
            let path = path.display();
            format!("echo evil >> {path}; rm -f {path}; echo evil > {path}")
        });
        let lines: Vec<_> = ["set +e".to_owned()].into_iter().chain(moved).chain(written).collect();
        let workspace = &workspaces[place];
        script(way, workspace, &format!("{}\ntrue", lines.join("\n"))).await;
        for (path, before) in deciding.iter().zip(&before) {
            let shown = path.display();
            assert_eq!(content(path), *before, "{way}, {}: {shown}", workspace.display());
        }
    }
}

#[tokio::test]
async fn submodules_of_submodules_and_of_worktrees_commit() {
    for way in WAYS {
        let (_place, _others, workspaces, _) = repository_with_submodules();
        for workspace in &workspaces {
            let text = "
                cd sub/sub; git switch -q -c topic-$$; echo two >> file; git commit -q -a -m innermost
                cd ..; git add sub; git commit -q -m inner
                cd ..; git add sub; git commit -q -m outer
                git log --format=%s -1; git -C sub log --format=%s -1; git -C sub/sub log --format=%s -1
                git status --porcelain";
            let ran = works(way, workspace, text).await;
            assert_eq!(ran.stdout, "outer\ninner\ninnermost\n", "{way}, {}", workspace.display());
        }
    }
}

/// Runs a script that only reads, with these files hidden.
async fn reads(way: Way, root: &Path, masked: &[PathBuf], text: &str) -> Ran {
    let mut command = SandboxedCommand::shell(root, text);
    command.profile = Profile::ReadOnly;
    command.files.masked = masked.to_vec();
    command.files.repositories = vec![root.join(".git"), root.join("sub/.git")];
    command.environment.set.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
    run(way, command).await
}

/// A repository with files that are hidden and one that is changed, which git keeps in another way.
pub(crate) fn with_secrets(format: &str, version: &str) -> (Place, Vec<PathBuf>) {
    let place = Place::new();
    git(&place.root, &["init", "-q", "-b", "main", &format!("--object-format={format}")]);
    for file in [".env", ".npmrc", "a", "deep/.env", "deep/b", "keys/private", "z"] {
        let path = place.write(file, "hidden-4711\n");
        // Git compares by its content what is as new as its index.
        let long_ago = UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    place.write("many", "one\n");
    git(&place.root, &["update-index", "--force-write-index", "--index-version", version]);
    git(&place.root, &["add", "."]);
    git(&place.root, &["commit", "-q", "-m", "first"]);
    place.write("many", "two\n");
    let masked = [".env", ".npmrc", "deep/.env", "keys"].map(|path| place.root.join(path));
    (place, masked.to_vec())
}

#[tokio::test]
async fn for_git_that_reads_hidden_files_are_unchanged_however_it_keeps_its_index() {
    let kinds = [("sha1", "2"), ("sha1", "3"), ("sha1", "4"), ("sha256", "2"), ("sha256", "4")];
    for (way, (format, version)) in FULL.iter().flat_map(|&way| kinds.map(|kind| (way, kind))) {
        let (place, masked) = with_secrets(format, version);
        let index = fs::read(place.root.join(".git/index")).unwrap();
        let text = "
            git status --porcelain; echo \"= $?\"
            git diff --stat; echo \"= $?\"
            git diff --name-only HEAD; echo \"= $?\"
            git ls-files; echo \"= $?\"
            git grep -c one HEAD -- many; echo \"= $?\"
            git grep -l hidden; echo \"= $?\"
            cat .npmrc keys/private";
        let ran = reads(way, &place.root, &masked, text).await;
        let expected = " M many\n= 0\n many | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n= 0\nmany\n= 0\n\
                        .env\n.npmrc\na\ndeep/.env\ndeep/b\nkeys/private\nmany\nz\n= 0\nHEAD:many:1\n= 0\n\
                        a\ndeep/b\nz\n= 0\n";
        assert_eq!(ran.stdout, expected, "{way}, {format}, {version}: {}", ran.stderr);
        assert!(ran.stderr.contains(".npmrc: Permission denied"), "{way}: {}", ran.stderr);
        assert_eq!(ran.end.facts.tracked_masks, [""; 0].map(PathBuf::from), "{way}");
        assert_eq!(fs::read(place.root.join(".git/index")).unwrap(), index, "{way}");
    }
}

#[tokio::test]
async fn hidden_files_of_worktrees_and_submodules_are_unchanged_for_git_that_reads() {
    for way in FULL {
        let (other, _) = with_secrets("sha1", "2");
        let (place, masked) = with_secrets("sha1", "2");
        let url = other.root.to_str().unwrap();
        git(&place.root, &["submodule", "add", "-q", url, "sub"]);
        git(&place.root, &["commit", "-q", "-a", "-m", "with a submodule"]);
        let tree = place.root.with_file_name("tree");
        git(&place.root, &["worktree", "add", "-q", tree.to_str().unwrap()]);
        git(&tree, &["submodule", "update", "-q", "--init"]);
        for root in [&place.root, &tree] {
            let beneath = |path: &PathBuf| path.strip_prefix(&place.root).unwrap().to_owned();
            let own = masked.iter().map(|path| root.join(beneath(path)));
            let inner = masked.iter().map(|path| root.join("sub").join(beneath(path)));
            let masked: Vec<_> = own.chain(inner).collect();
            let text = "set -e; git status --porcelain; git diff; git -C sub status --porcelain
                        git -C sub diff; git diff --submodule=diff; echo read";
            let ran = reads(way, root, &masked, text).await;
            assert_eq!(ran.stdout, "read\n", "{way}, {}: {}", root.display(), ran.stderr);
        }
    }
}

#[tokio::test]
async fn a_copy_of_an_index_has_a_checksum_and_is_as_old() {
    let text = "
        index=.git/index; bytes=$(stat -c %s $index)
        head -c $((bytes - $1)) $index | $2 | cut -d ' ' -f 1; tail -c $1 $index | od -An -v -tx1 | tr -d ' \\n'
        echo; stat -c %y $index";
    for (way, (format, length, program)) in FULL
        .iter()
        .flat_map(|&way| [(way, ("sha1", 20, "sha1sum")), (way, ("sha256", 32, "sha256sum"))])
    {
        let (place, masked) = with_secrets(format, "2");
        let text = format!("set -- {length} {program}; {text}");
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let copy = lines(&reads(way, &place.root, &masked, &text).await.stdout);
        let own = lines(&reads(way, &place.root, &masked[..0], &text).await.stdout);
        assert!(copy[0] == copy[1] && own[0] == own[1], "{way}, {format}: {copy:?}, {own:?}");
        assert!(copy[0] != own[0] && copy[2] == own[2], "{way}, {format}: {copy:?}, {own:?}");
        git(&place.root, &["config", "index.skipHash", "true"]);
        git(&place.root, &["update-index", "--force-write-index"]);
        let unchecked = lines(&reads(way, &place.root, &masked, &text).await.stdout);
        assert_eq!(unchecked[1], "0".repeat(2 * length), "{way}, {format}");
    }
}

/// Runs a script that may write, with these files hidden.
async fn writes(way: Way, root: &Path, masked: &[PathBuf], text: &str) -> Ran {
    let mut command = SandboxedCommand::shell(root, format!("set -e\n{text}"));
    command.files.masked = masked.to_vec();
    let author = AUTHOR.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    command.environment.set.extend(author);
    command.environment.set.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
    run(way, command).await
}

#[tokio::test]
async fn git_that_another_program_runs_refuses_to_touch_hidden_files_and_their_index_is_the_own() {
    for way in FULL {
        let (place, masked) = with_secrets("sha1", "2");
        // What the person has not committed, of the size and time of what is.
        let before = fs::metadata(place.root.join("a")).unwrap().modified().unwrap();
        let changed = place.write("a", "changed-471\n");
        fs::File::options().write(true).open(changed).unwrap().set_modified(before).unwrap();
        let text = "
            git switch -q -c topic; git add many; git commit -q -m second; git log --format=%s
            if git add -A || git commit -q -a -m third || git stash -q; then exit 9; fi
            git ls-files -v";
        let ran = writes(way, &place.root, &masked[..3], text).await;
        let expected = "second\nfirst\n\
                        H .env\nH .npmrc\nH a\nH deep/.env\nH deep/b\nH keys/private\nH many\nH z\n";
        assert_eq!(
            (ran.stdout.as_str(), ran.end.exit),
            (expected, ProcessExit::Exited(0)),
            "{way}: {}",
            ran.stderr
        );
        assert_eq!(place.read("a"), "changed-471\n", "{way}");
        git(&place.root, &["diff", "--exit-code", "HEAD~1", "--", ".npmrc", ".env", "deep"]);
        git(&place.root, &["fsck", "--strict"]);
    }
}

#[tokio::test]
async fn what_git_that_writes_takes_for_changed_is_known() {
    for way in FULL {
        let (place, masked) = with_secrets("sha1", "2");
        let ran = writes(way, &place.root, &masked, "git status --porcelain").await;
        let facts = &ran.end.facts;
        let noticed = [".env", ".npmrc", "deep/.env", "keys/private"];
        assert_eq!(facts.tracked_masks, noticed.map(|path| place.root.join(path)), "{way}");
        let why = facts.why_changed_for_git(["", "fatal: cannot hash .npmrc"]).unwrap();
        assert!(why.contains(masked[1].to_str().unwrap()) && !why.contains("keys"), "{why}");
        assert_eq!(facts.why_changed_for_git(["", "fine"]), None, "{way}");
        assert!(ran.stdout.contains(" M .npmrc\n"), "{way}: {}{}", ran.stdout, ran.stderr);
    }
}

#[tokio::test]
async fn hooks_and_settings_cannot_be_changed() {
    for way in WAYS {
        let place = repository();
        let config = place.read(".git/config");
        for text in [
            "git config core.fsmonitor ./evil",
            "git config core.hooksPath evil",
            "echo x > .git/hooks/pre-commit",
            "git config --worktree core.fsmonitor ./evil",
        ] {
            let ran = script(way, &place.root, text).await;
            if way.tier() == Tier::Full {
                assert_ne!(ran.end.exit, ProcessExit::Exited(0), "{text}: {}", ran.stderr);
            } else {
                assert!(!ran.end.restored.is_empty(), "{text}: {ran:?}");
            }
            assert_eq!(place.read(".git/config"), config, "{way}, {text}");
            assert!(!place.root.join(".git/hooks/pre-commit").exists(), "{way}, {text}");
            assert!(!place.root.join(".git/config.worktree").exists(), "{way}, {text}");
        }
    }
}

#[tokio::test]
async fn what_git_leaves_undone_for_the_sake_of_a_protected_file_is_said() {
    const KEY: &str = "node_modules/a/test/key.pem";
    let (by_rule, by_person) = ("adds a rule", "only a person");
    for (way, (text, path, help)) in FULL.iter().flat_map(|&way| {
        [
            ("git switch -q topic", ".github/workflows/ci.yml", by_rule),
            ("cd sub; git merge -q topic", ".github/workflows/ci.yml", by_rule),
            ("git config a.b c", ".git/config", by_person),
            ("git remote add origin . 2>&1", ".git/config", by_person),
            ("rm -rf cl", "cl/.git/config", by_person),
            ("git worktree remove --force tree", "tree/.git", by_person),
            ("cd cl && git config a.b c", "cl/.git/config", by_person),
            ("rm -rf node_modules", KEY, by_rule),
            ("cd node_modules; python3 -c 'import shutil; shutil.rmtree(\"a\")'", KEY, by_rule),
        ]
        .map(|case| (way, case))
    }) {
        let place = repository();
        let file = place.write(".github/workflows/ci.yml", "one\n");
        place.write("sub/file", "one\n");
        git(&place.root, &["add", "."]);
        git(&place.root, &["commit", "-q", "-m", "second"]);
        git(&place.root, &["switch", "-q", "-c", "topic"]);
        place.write(".github/workflows/ci.yml", "two\n");
        git(&place.root, &["commit", "-q", "-a", "-m", "third"]);
        git(&place.root, &["switch", "-q", "main"]);
        git(&place.root, &["worktree", "add", "-q", "tree", "-b", "tree"]);
        git(&place.root, &["clone", "-q", ".", "cl"]);
        let mut command = place.shell(text);
        command.files.protected = vec![file];
        command.files.masked = vec![place.write(KEY, "secret\n")];
        command.files.repositories = vec![place.root.join("cl/.git"), place.root.join("tree/.git")];
        command.runs_git = true;
        let ran = run(way, command).await;
        let said = ran.end.facts.why_incomplete([&ran.stdout, &ran.stderr]);
        let said = said.unwrap_or_else(|| panic!("{way}, {text}: {}{}", ran.stdout, ran.stderr));
        let path = place.root.join(path);
        let named = format!(": {}", path.display());
        assert!(said.contains(&named) && said.contains(help), "{way}, {text}: {said}");
        let written = ["fine", "error: file: Device or resource busy"];
        assert_eq!(ran.end.facts.why_incomplete(written), None, "{way}, {text}");
    }
}

#[tokio::test]
async fn a_pointer_to_a_repository_that_does_not_point_back_opens_nothing() {
    for way in WAYS {
        let (theirs, place) = (repository(), Place::new());
        let target = theirs.root.join(".git");
        place.write(".git", &format!("gitdir: {}\n", target.display()));
        let text =
            format!("echo x > {0}/HEAD; echo x > {0}/hooks/pre-commit; true", target.display());
        script(way, &place.root, &text).await;
        assert_eq!(theirs.read(".git/HEAD"), "ref: refs/heads/main\n", "{way}");
        assert!(!target.join("hooks/pre-commit").exists(), "{way}");
    }
}

/// A repository with two linked worktrees beside it: the first is the workspace.
fn with_trees_beside() -> (Place, [PathBuf; 2]) {
    let place = repository();
    let trees = ["tree", "other"].map(|name| place.root.with_file_name(name));
    for tree in &trees {
        git(&place.root, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    }
    (place, trees)
}

/// Lets a command run in a worktree while something is done elsewhere.
async fn meanwhile(way: Way, tree: &Path, work: impl FnOnce()) -> CommandEnd {
    let script = "touch begun; until [ -e go ]; do sleep 0.01; done";
    let running = start(way, SandboxedCommand::shell(tree, script)).await;
    eventually("it runs", || tree.join("begun").exists()).await;
    work();
    fs::write(tree.join("go"), "").unwrap();
    running.wait().await.unwrap()
}

/// Whether something was moved aside in a directory.
fn has_set_aside(directory: &Path) -> bool {
    let mut listed = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    listed.any(|entry| {
        let is_aside = entry.file_name().to_string_lossy().contains("set-aside");
        is_aside || entry.file_type().unwrap().is_dir() && has_set_aside(&entry.path())
    })
}

#[tokio::test]
async fn work_in_the_main_worktree_and_in_others_stays_as_it_is_and_ends_no_command() {
    for way in WAYS {
        let (place, [tree, other]) = with_trees_beside();
        let own = place.root.join(".git");
        let end = meanwhile(way, &tree, || {
            for root in [&place.root, &other] {
                fs::write(root.join("file"), "two\n").unwrap();
                git(root, &["commit", "-q", "-a", "-m", "second"]);
                git(root, &["switch", "-q", "-c", &format!("of-{}", root.ends_with("other"))]);
                fs::write(root.join("new"), "staged\n").unwrap();
                git(root, &["add", "new"]);
            }
            git(&other, &["bisect", "start"]);
        })
        .await;
        assert_eq!((end.exit, end.disturbance.clone()), (ProcessExit::Exited(0), None), "{way}");
        for (root, branch) in [(&place.root, "of-false"), (&other, "of-true")] {
            assert_eq!(git(root, &["symbolic-ref", "--short", "HEAD"]).trim(), branch, "{way}");
            assert_eq!(git(root, &["log", "--format=%s", "-1"]), "second\n", "{way}");
            assert_eq!(git(root, &["status", "--porcelain"]), "A  new\n", "{way}");
        }
        git(&other, &["bisect", "log"]);
        assert!(end.restored.is_empty() && end.changed.is_empty(), "{way}: {end:?}");
        assert!(!has_set_aside(&own), "{way}");
        let changed = ["HEAD", "index", "worktrees/other"].map(|path| own.join(path));
        let changed = if way.tier() == Tier::Full { Vec::new() } else { changed.to_vec() };
        assert_eq!(end.unattributed, changed, "{way}");
        let note = end.what_changed_elsewhere();
        assert_eq!(note.is_some_and(|note| note.contains("/index")), !changed.is_empty(), "{way}");
    }
}

#[tokio::test]
async fn an_index_that_the_main_worktree_is_given_meanwhile_stays() {
    for way in WAYS {
        let (place, [tree, _]) = with_trees_beside();
        let index = place.root.join(".git/index");
        fs::remove_file(&index).unwrap();
        let end = meanwhile(way, &tree, || drop(git(&place.root, &["reset", "-q"]))).await;
        assert_eq!(git(&place.root, &["ls-files"]), "file\n", "{way}");
        assert_eq!((end.restored, end.unattributed), (Vec::new(), vec![index]), "{way}");
        assert!(!has_set_aside(&place.root.join(".git")), "{way}");
    }
}

#[tokio::test]
async fn a_worktree_that_is_removed_meanwhile_stays_so_unless_a_command_removed_its_directory() {
    for way in WAYS {
        let (place, [tree, other]) = with_trees_beside();
        let own = place.root.join(".git/worktrees/other");
        let remove = ["worktree", "remove", "--force", other.to_str().unwrap()];
        let end = meanwhile(way, &tree, || drop(git(&place.root, &remove))).await;
        assert!(!own.exists() && end.restored.is_empty(), "{way}: {end:?}");
        let seen = if way.tier() == Tier::Full { Vec::new() } else { vec![own.clone()] };
        assert_eq!(end.unattributed, seen, "{way}");

        // Where nothing leads a worktree elsewhere, the next command could.
        let (place, [tree, _]) = with_trees_beside();
        let own = place.root.join(".git/worktrees/other");
        let leading = ["commondir", "gitdir"].map(|name| own.join(name));
        let before = leading.each_ref().map(|path| content(path));
        let ran = script(way, &tree, &format!("set +e; rm -rf {}; true", own.display())).await;
        assert_eq!(leading.each_ref().map(|path| content(path)), before, "{way}: {:?}", ran.end);
    }
}
