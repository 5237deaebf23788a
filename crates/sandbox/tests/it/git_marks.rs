//! git in workspace-write where it tracks files that are hidden: it leaves them alone, and nothing of them is lost,
//! committed or shown.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use moss_sandbox::{CommandRecord, ProcessExit, SandboxedCommand, clear_left_marks};
use tempfile::TempDir;

use crate::git::{AUTHOR, git, with_secrets};
use crate::harness::{
    FULL, KEEPER, Place, Ran, WAYS, Way, alive, dead, eventually, marker, run, side_by_side, start,
};

/// What the person has not committed of a hidden file.
const UNCOMMITTED: &str = "uncommitted-4711\n";
/// All that is hidden of the files that git tracks.
const HIDDEN: [&str; 4] = [".env", ".npmrc", "deep/.env", "keys/private"];
const ALL_MARKED: &str = ".env .npmrc deep/.env keys/private";

/// A repository with hidden files.
struct Hidden {
    place: Place,
    masked: Vec<PathBuf>,
    records: TempDir,
}

impl Hidden {
    /// One in which the person has changed one of them.
    fn new(format: &str, version: &str) -> Self {
        let (place, masked) = with_secrets(format, version);
        place.write(".npmrc", UNCOMMITTED);
        Self { place, masked, records: tempfile::tempdir().unwrap() }
    }

    /// One in which all is committed, twice.
    fn committed() -> Self {
        let (place, masked) = with_secrets("sha1", "2");
        git(&place.root, &["commit", "-q", "-a", "-m", "second"]);
        Self { place, masked, records: tempfile::tempdir().unwrap() }
    }

    /// A command that runs git and may write.
    fn command(&self, root: &Path, text: &str) -> SandboxedCommand {
        let mut command = SandboxedCommand::shell(root, format!("set -e\n{text}"));
        command.files.masked = self.masked.clone();
        command.files.repositories = vec![root.join(".git"), root.join("sub/.git")];
        command.runs_git = true;
        command.record = Some(CommandRecord::new(self.records.path().to_owned(), None));
        let author = AUTHOR.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        command.environment.set.extend(author);
        command.environment.set.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
        command
    }

    async fn run(&self, way: Way, text: &str) -> Ran {
        let ran = run(way, self.command(&self.place.root, text)).await;
        assert_eq!(ran.end.restored, self.paths(&[]), "{way}, {text}");
        // What a command changed is settled by others.
        for record in fs::read_dir(self.records.path()).unwrap() {
            let path = record.unwrap().path();
            if path.extension().is_some_and(|kind| kind == "command") {
                fs::remove_file(path).unwrap();
            }
        }
        ran
    }

    async fn works(&self, way: Way, text: &str) -> Ran {
        let ran = self.run(way, text).await;
        assert_eq!(ran.end.exit, ProcessExit::Exited(0), "{way}: {}{}", ran.stdout, ran.stderr);
        self.assert_as_before(way, &self.place.root, "");
        ran
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.place.root, arguments)
    }

    /// Whether the hidden files are as before, in the worktree and in what is committed; those of the person's own choice
    /// have their bit.
    fn assert_as_before(&self, way: Way, root: &Path, skipped: &str) {
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
        let others = [".env", "deep/.env", "keys/private"].map(read);
        assert!(others.iter().all(|text| text == "hidden-4711\n"), "{way}: {others:?}");
        assert_eq!(read(".npmrc"), UNCOMMITTED, "{way}");
        assert_eq!(self.marked(root), skipped, "{way}: what is marked");
        let all = git(root, &["cat-file", "--batch-all-objects", "--batch"]);
        assert!(!all.contains(UNCOMMITTED.trim()), "{way}: it is in an object");
        git(root, &["fsck", "--strict"]);
        assert_eq!(
            fs::read_dir(self.records.path()).unwrap().count(),
            0,
            "{way}: a record is left"
        );
    }

    /// The files whose bit is set.
    fn marked(&self, root: &Path) -> String {
        let listed = git(root, &["ls-files", "-v"]);
        let marked = listed.lines().filter_map(|line| line.strip_prefix("S "));
        marked.collect::<Vec<_>>().join(" ")
    }

    /// The records of what is marked.
    fn mark_records(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.records.path()).unwrap();
        let all = all.map(|entry| entry.unwrap().path());
        all.filter(|path| path.extension().is_some_and(|kind| kind == "marks")).collect()
    }

    fn paths(&self, names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(|name| self.place.root.join(name)).collect()
    }
}

#[tokio::test]
async fn git_leaves_hidden_files_alone_however_it_keeps_its_index() {
    let kinds = [("sha1", "2"), ("sha1", "3"), ("sha1", "4"), ("sha256", "2"), ("sha256", "4")];
    for (way, (format, version)) in WAYS.iter().flat_map(|&way| kinds.map(|kind| (way, kind))) {
        let hidden = Hidden::new(format, version);
        let text = "
            git switch -q -c topic; echo x > new; git add -A; git commit -q -m second
            echo y >> many; git commit -q -a -m third
            echo z >> many; echo u > untracked; git stash -q -u
            git stash pop -q; tail -n 1 many; cat untracked; git checkout -q -- many; rm untracked
            git switch -q -c other HEAD~1; echo o > o; git add -A; git commit -q -m fourth; git rebase -q topic
            git switch -q main; git merge -q --no-edit other; git commit -q --allow-empty -m fifth
            git reset -q --hard HEAD~1; git status --porcelain; git diff; git log --format=%s";
        let ran = hidden.works(way, text).await;
        let expected = "z\nu\nfourth\nthird\nsecond\nfirst\n";
        assert_eq!(ran.stdout, expected, "{way}, {format}, {version}: {}", ran.stderr);
        let facts = &ran.end.facts;
        assert_eq!(facts.left_alone, hidden.paths(&HIDDEN), "{way}");
        assert!(
            facts.tracked_masks.is_empty() && ran.end.still_marked.is_empty(),
            "{way}: {facts:?}"
        );
        let first = hidden.git(&["rev-list", "--max-parents=0", "HEAD"]);
        let mut differs = vec!["diff", "--exit-code", first.trim(), "HEAD", "--"];
        differs.extend(HIDDEN);
        hidden.git(&differs);
        assert_eq!(hidden.git(&["status", "--porcelain"]), " M .npmrc\n", "{way}");
    }
}

#[tokio::test]
async fn an_index_is_as_before_where_git_does_not_write_it() {
    for (way, version) in FULL.iter().flat_map(|&way| ["2", "4"].map(|version| (way, version))) {
        let hidden = Hidden::new("sha1", version);
        // So that git has nothing to write about it.
        hidden.git(&["status"]);
        let index = hidden.place.root.join(".git/index");
        let look =
            || (fs::read(&index).unwrap(), fs::metadata(&index).unwrap().modified().unwrap());
        let before = look();
        let ran = hidden.works(way, "git ls-files -v").await;
        assert_eq!(ran.stdout.matches("S ").count(), HIDDEN.len(), "{way}: {}", ran.stdout);
        assert!(look() == before, "{way}, {version}");
    }
}

#[tokio::test]
async fn what_needs_a_hidden_file_is_refused_and_nothing_is_lost() {
    for way in FULL {
        let hidden = Hidden::committed();
        hidden.git(&["switch", "-q", "-c", "changed"]);
        hidden.place.write(".npmrc", "of another commit\n");
        hidden.git(&["commit", "-q", "-a", "-m", "changed"]);
        hidden.git(&["switch", "-q", "-c", "gone", "main"]);
        hidden.git(&["rm", "-q", ".npmrc"]);
        hidden.git(&["commit", "-q", "-m", "gone"]);
        hidden.git(&["switch", "-q", "main"]);
        hidden.place.write("b", "of main\n");
        hidden.git(&["add", "b"]);
        hidden.git(&["commit", "-q", "-m", "third"]);
        hidden.place.write(".npmrc", UNCOMMITTED);
        let head = hidden.git(&["rev-parse", "HEAD"]);
        let refused = |ran: &Ran, text: &str| {
            assert_ne!(ran.end.exit, ProcessExit::Exited(0), "{way}, {text}: {}", ran.stdout);
            assert!(ran.stderr.contains(".npmrc"), "{way}, {text}: {}", ran.stderr);
            let note = ran.end.facts.what_git_left(["", &ran.stderr]).unwrap();
            assert!(note.contains("a rule with their `paths`"), "{way}, {text}: {note}");
        };
        for commit in ["changed", "gone"] {
            for command in ["switch", "merge", "rebase", "cherry-pick", "reset --hard"] {
                let text = format!("git {command} {commit}");
                refused(&hidden.run(way, &text).await, &text);
                hidden.assert_as_before(way, &hidden.place.root, "");
                assert_eq!(hidden.git(&["rev-parse", "HEAD"]), head, "{way}, {text}");
                assert_eq!(hidden.git(&["status", "--porcelain"]), " M .npmrc\n", "{way}, {text}");
            }
        }
        for text in [
            "git add .npmrc",
            "git add -f .npmrc",
            "git rm -q .npmrc",
            "git rm -q --cached .npmrc",
            "git mv .npmrc moved",
            "git diff main changed > /tmp/p; git apply --index /tmp/p",
        ] {
            refused(&hidden.run(way, text).await, text);
            hidden.assert_as_before(way, &hidden.place.root, "");
        }
        // These do what they can without it.
        for text in [
            "git add --sparse .npmrc",
            "git checkout -q -- .",
            "git restore .",
            "git rm -q -r --cached . && git add -A",
            "git clean -q -d -f",
            "git checkout -q -f main",
            "git update-index .npmrc",
        ] {
            hidden.works(way, text).await;
            assert_eq!(hidden.git(&["rev-parse", "HEAD"]), head, "{way}, {text}");
            assert_eq!(hidden.git(&["status", "--porcelain"]), " M .npmrc\n", "{way}, {text}");
        }
    }
}

#[tokio::test]
async fn an_entry_that_git_changes_is_another_than_the_file_afterwards() {
    for way in FULL {
        let hidden = Hidden::committed();
        hidden.place.write(".env", "of the third commit\n");
        hidden.git(&["commit", "-q", "-a", "-m", "third"]);
        let text = "git reset -q HEAD~1; git ls-files -v .env; git status --porcelain";
        let ran = hidden.run(way, text).await;
        assert_eq!(ran.stdout, "S .env\n", "{way}: {}", ran.stderr);
        assert_eq!(hidden.place.read(".env"), "of the third commit\n", "{way}");
        assert_eq!(hidden.git(&["status", "--porcelain"]), " M .env\n", "{way}");
        assert_eq!(hidden.marked(&hidden.place.root), "", "{way}");
        // Where git takes the bit from an entry itself it is a change again, and the result says so.
        let ran = hidden.run(way, "git checkout ORIG_HEAD -- . || true").await;
        assert!(ran.stderr.contains("unable to unlink"), "{way}: {}", ran.stderr);
        let facts = &ran.end.facts;
        assert_eq!(facts.tracked_masks, hidden.paths(&[".env"]), "{way}");
        assert_eq!(facts.left_alone, hidden.paths(&HIDDEN[1..]), "{way}");
        assert_eq!(hidden.place.read(".env"), "of the third commit\n", "{way}");
    }
}

#[tokio::test]
async fn a_bit_that_the_person_has_set_stays() {
    for way in FULL {
        let hidden = Hidden::new("sha1", "2");
        hidden.git(&["update-index", "--skip-worktree", ".env", "a"]);
        let ran = hidden
            .run(way, "git add -A; git commit -q -m second; git ls-files -v | grep -c '^S'")
            .await;
        assert_eq!(ran.stdout, "5\n", "{way}: {}", ran.stderr);
        hidden.assert_as_before(way, &hidden.place.root, ".env a");
        assert_eq!(ran.end.facts.left_alone, hidden.paths(&HIDDEN[1..]), "{way}");
        // All that is hidden is marked already.
        hidden.git(&["update-index", "--skip-worktree", ".npmrc", "deep/.env", "keys/private"]);
        hidden.run(way, "echo x >> many; git commit -q -a -m third").await;
        let all = [ALL_MARKED, "a"].join(" ");
        let mut all: Vec<_> = all.split(' ').collect();
        all.sort_unstable();
        hidden.assert_as_before(way, &hidden.place.root, &all.join(" "));
    }
}

#[tokio::test]
async fn worktrees_and_submodules_commit_beside_hidden_files() {
    for way in FULL {
        let (other, mut hidden) = (Hidden::committed(), Hidden::committed());
        let url = other.place.root.to_str().unwrap();
        hidden.git(&["submodule", "add", "-q", url, "sub"]);
        hidden.git(&["commit", "-q", "-a", "-m", "with a submodule"]);
        let tree = hidden.place.root.with_file_name("tree");
        hidden.git(&["worktree", "add", "-q", tree.to_str().unwrap()]);
        git(&tree, &["submodule", "update", "-q", "--init"]);
        let roots = [hidden.place.root.clone(), tree];
        for root in &roots {
            let directories = [root.clone(), root.join("sub")];
            for directory in &directories {
                fs::write(directory.join(".npmrc"), UNCOMMITTED).unwrap();
            }
            let names = [".env", ".npmrc", "deep/.env", "keys"];
            let masked = directories.iter().flat_map(|at| names.map(|name| at.join(name)));
            hidden.masked = masked.collect();
            let text = "
                cd sub; git switch -q -c topic-$$; echo x > new; git add -A; git commit -q -m inner
                echo y >> many; git stash -q; git stash pop -q; git commit -q -a -m 'inner too'
                cd ..; git status --porcelain; echo x > new; git add -A; git commit -q -m outer
                echo y >> many; git commit -q -a -m 'outer too'; git stash list; git rebase -q HEAD~1
                git status --porcelain; git -C sub status --porcelain; git log --format=%s -2; git -C sub log --format=%s -2";
            let ran = run(way, hidden.command(root, text)).await;
            let expected = " M sub\nouter too\nouter\ninner too\ninner\n";
            assert_eq!(ran.stdout, expected, "{way}, {}: {}", root.display(), ran.stderr);
            assert_eq!(ran.end.facts.left_alone.len(), 2 * HIDDEN.len(), "{way}");
            let commands = fs::read_dir(hidden.records.path()).unwrap();
            commands.for_each(|command| fs::remove_file(command.unwrap().path()).unwrap());
            hidden.assert_as_before(way, root, "");
            hidden.assert_as_before(way, &root.join("sub"), "");
        }
    }
}

#[tokio::test]
async fn of_two_commands_at_once_the_last_one_clears_the_marks() {
    for way in FULL {
        let hidden = Hidden::new("sha1", "2");
        let root = &hidden.place.root;
        let text = "touch begun; until [ -e go ]; do sleep 0.01; done; rm begun go; git add -A; git commit -q -m first";
        let running = start(way, hidden.command(root, text)).await;
        eventually("it runs", || root.join("begun").exists()).await;
        assert_eq!(hidden.marked(root), ALL_MARKED, "{way}");
        let ran = hidden.run(way, "echo x > new; git add new; git commit -q -m second").await;
        assert_eq!(ran.end.exit, ProcessExit::Exited(0), "{way}: {}", ran.stderr);
        assert_eq!(ran.end.facts.left_alone, hidden.paths(&HIDDEN), "{way}");
        assert_eq!(hidden.marked(root), ALL_MARKED, "{way}: the other one needs them");
        fs::write(root.join("go"), "").unwrap();
        let end = running.wait().await.unwrap();
        assert_eq!(end.exit, ProcessExit::Exited(0), "{way}");
        hidden.assert_as_before(way, root, "");
        assert_eq!(hidden.git(&["status", "--porcelain"]), " M .npmrc\n", "{way}");
    }
}

#[tokio::test]
async fn marks_that_are_cleared_while_a_command_of_another_worktree_runs_stay_cleared() {
    for way in WAYS {
        let hidden = Hidden::new("sha1", "2");
        let root = &hidden.place.root;
        let tree = root.with_file_name("tree");
        hidden.git(&["worktree", "add", "-q", tree.to_str().unwrap()]);
        let text = "touch begun; until [ -e go ]; do sleep 0.01; done; rm begun go";
        let own = start(way, hidden.command(root, text)).await;
        eventually("it runs", || root.join("begun").exists()).await;
        assert_eq!(hidden.marked(root), ALL_MARKED, "{way}");
        let other = start(way, SandboxedCommand::shell(&tree, text)).await;
        eventually("it runs", || tree.join("begun").exists()).await;
        for (root, running) in [(root, own), (&tree, other)] {
            fs::write(root.join("go"), "").unwrap();
            let end = running.wait().await.unwrap();
            assert_eq!((end.exit, end.restored), (ProcessExit::Exited(0), Vec::new()), "{way}");
        }
        assert_eq!(hidden.marked(root), "", "{way}");
    }
}

/// Renamings of a hidden file, or of a directory with one, that a tier lets through, and the name that has the bit then.
const RENAMED: [(Way, &str, &str); 4] = [
    (Way::Landlock, "git mv .env moved", "moved"),
    (Way::Landlock, "git mv deep other", "other/.env"),
    // There the file itself cannot be renamed.
    (Way::Bubblewrap, "git mv --sparse keys/private moved", "moved"),
    (Way::Own, "git mv --sparse keys/private moved", "moved"),
];

#[tokio::test]
async fn a_bit_that_git_carries_to_another_name_is_cleared_and_those_of_the_person_stay() {
    for (way, text, moved) in RENAMED {
        let hidden = Hidden::new("sha1", "2");
        let root = &hidden.place.root;
        hidden.git(&["update-index", "--skip-worktree", "a", ".npmrc"]);
        let text = format!("{text}; git commit -q -m second; git ls-files -v");
        let ran = run(way, hidden.command(root, &text)).await;
        let carried = format!("S {moved}\n");
        assert!(ran.stdout.contains(&carried), "{way}, {text}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(hidden.marked(root), ".npmrc a", "{way}, {text}");
        assert!(hidden.git(&["ls-files"]).contains(moved), "{way}, {text}");
        assert!(hidden.mark_records().is_empty(), "{way}, {text}");
    }
}

#[tokio::test]
async fn of_two_commands_at_once_the_last_one_clears_what_either_has_carried() {
    // The other one begins before the renaming or after it, and ends after that command or before it.
    let orders = [(false, true), (false, false), (true, true), (true, false)];
    for ((way, text, moved), (is_late, is_last)) in
        RENAMED.iter().flat_map(|one| orders.map(|order| (one, order)))
    {
        let hidden = Hidden::new("sha1", "2");
        let root = &hidden.place.root;
        hidden.git(&["update-index", "--skip-worktree", "a"]);
        let wait =
            |name: &str| format!("touch {name}; until [ -e {name}-go ]; do sleep 0.01; done");
        let reached = async |name: &str| eventually(name, || root.join(name).exists()).await;
        let go = |name: &str| fs::write(root.join(format!("{name}-go")), "").unwrap();
        let begin = || start(*way, hidden.command(root, &wait("second")));

        let renaming = format!("{}\n{text}\n{}", wait("begun"), wait("renamed"));
        let renaming = start(*way, hidden.command(root, &renaming)).await;
        reached("begun").await;
        let early = if is_late { None } else { Some(begin().await) };
        go("begun");
        reached("renamed").await;
        let other = match early {
            Some(other) => other,
            None => begin().await,
        };
        reached("second").await;
        let (first, last) = (("renamed", renaming), ("second", other));
        let ends = if is_last { [first, last] } else { [last, first] };
        for (name, running) in ends {
            go(name);
            let end = running.wait().await.unwrap();
            assert_eq!(end.exit, ProcessExit::Exited(0), "{way}, {text}, {name}");
        }
        assert_eq!(hidden.marked(root), "a", "{way}, {text}, {is_late}, {is_last}");
        assert!(hidden.git(&["ls-files"]).contains(moved), "{way}, {text}");
        assert!(hidden.mark_records().is_empty(), "{way}, {text}");
    }
}

#[tokio::test]
async fn bits_that_are_set_meanwhile_stay_where_no_hidden_file_has_lost_its_own() {
    for way in FULL {
        let hidden = Hidden::new("sha1", "2");
        let root = &hidden.place.root;
        hidden.run(way, "git update-index --skip-worktree a").await;
        assert_eq!(hidden.marked(root), "a", "{way}");
        hidden.git(&["update-index", "--no-skip-worktree", "a"]);

        // In a sparse checkout git itself clears and sets them.
        hidden.place.write("out/of", "sight\n");
        hidden.git(&["add", "out"]);
        hidden.git(&["commit", "-q", "-m", "second"]);
        let text = "touch begun; until [ -e go ]; do sleep 0.01; done";
        let running = start(way, hidden.command(root, text)).await;
        eventually("it runs", || root.join("begun").exists()).await;
        hidden.git(&["sparse-checkout", "set", "--cone", "deep", "keys"]);
        fs::write(root.join("go"), "").unwrap();
        running.wait().await.unwrap();
        assert_eq!(hidden.marked(root), "out/of", "{way}");
    }
}

#[tokio::test]
async fn a_bit_that_was_carried_is_cleared_after_moss_was_killed() {
    let (hidden, marker) = (Hidden::new("sha1", "2"), marker());
    let root = &hidden.place.root;
    hidden.git(&["update-index", "--skip-worktree", "a"]);
    let text = format!("GIT_CONFIG_GLOBAL=/dev/null git mv .env moved; exec sleep {marker}");
    let mut host = Command::new(KEEPER)
        .args(["host", root.to_str().unwrap(), "landlock", &text, "1"])
        .env("RECORDS", hidden.records.path())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    eventually("it runs", || !alive(&marker).is_empty()).await;
    assert_eq!(hidden.marked(root), "a deep/.env moved");
    host.kill().unwrap();
    host.wait().unwrap();
    dead(&marker).await;
    clear_left_marks(hidden.records.path()).unwrap();
    assert_eq!(hidden.marked(root), "a");
    assert!(hidden.mark_records().is_empty());
}

#[tokio::test]
async fn whoever_waits_for_a_writer_of_the_index_keeps_no_other_command_waiting() {
    for way in WAYS {
        let hidden = Hidden::new("sha1", "2");
        let root = &hidden.place.root;
        let text = "touch begun; until [ -e go ]; do sleep 0.01; done; touch over";
        let running = start(way, hidden.command(root, text)).await;
        eventually("it runs", || root.join("begun").exists()).await;
        let lock = hidden.place.write(".git/index.lock", "");
        fs::write(root.join("go"), "").unwrap();
        eventually("it is over", || root.join("over").exists()).await;
        // One that needs nothing of the index, and one that has the same marks.
        let ran = run(way, SandboxedCommand::shell(root, "true")).await;
        assert_eq!(ran.end.exit, ProcessExit::Exited(0), "{way}");
        let ran = run(way, hidden.command(root, "true")).await;
        assert_eq!(ran.end.facts.left_alone, hidden.paths(&HIDDEN), "{way}");
        fs::remove_file(&lock).unwrap();
        // On a slow machine it may have given up before.
        if !running.wait().await.unwrap().still_marked.is_empty() {
            clear_left_marks(hidden.records.path()).unwrap();
        }
        assert_eq!(hidden.marked(root), "", "{way}");
    }
}

#[tokio::test]
async fn marks_of_commands_that_were_stopped_or_dropped_are_cleared() {
    for way in FULL {
        let hidden = Hidden::new("sha1", "2");
        let root = &hidden.place.root;
        for is_dropped in [false, true] {
            let running = start(way, hidden.command(root, "touch begun; sleep 600")).await;
            eventually("it runs", || root.join("begun").exists()).await;
            assert_eq!(hidden.marked(root), ALL_MARKED, "{way}");
            fs::remove_file(root.join("begun")).unwrap();
            if is_dropped {
                drop(running);
            } else {
                running.stopper().kill();
                running.wait().await.unwrap();
                assert_eq!(hidden.marked(root), "", "{way}");
            }
            eventually("they are cleared", || hidden.marked(root).is_empty()).await;
        }
    }
}

#[tokio::test]
async fn marks_are_cleared_after_moss_was_killed_and_no_others() {
    for way in FULL {
        let (hidden, marker) = (Hidden::new("sha1", "2"), marker());
        let root = &hidden.place.root;
        hidden.git(&["update-index", "--skip-worktree", "a"]);
        let mut host = Command::new(KEEPER)
            .args(["host", root.to_str().unwrap(), &way.to_string()])
            .args([&format!("exec sleep {marker}"), "1"])
            .env("RECORDS", hidden.records.path())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        eventually("it runs", || !alive(&marker).is_empty()).await;
        clear_left_marks(hidden.records.path()).unwrap();
        assert_eq!(hidden.marked(root), ".env a deep/.env", "{way}: its moss lives");
        host.kill().unwrap();
        host.wait().unwrap();
        dead(&marker).await;
        // The person has chosen one since.
        hidden.git(&["update-index", "--skip-worktree", "z"]);
        clear_left_marks(hidden.records.path()).unwrap();
        assert_eq!(hidden.marked(root), "a z", "{way}");
        let left = fs::read_dir(hidden.records.path()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().path()).collect();
        assert!(left.iter().all(|path| path.extension().is_some_and(|kind| kind == "command")));
    }
}

#[test]
fn where_somebody_else_writes_the_index_git_refuses_or_it_is_marked_until_later() {
    side_by_side(&FULL, are_left_to_who_writes);
}

async fn are_left_to_who_writes(way: Way) {
    let hidden = Hidden::new("sha1", "2");
    let lock = hidden.place.write(".git/index.lock", "");
    let ran = hidden.run(way, "git status --porcelain").await;
    assert_eq!(ran.end.facts.tracked_masks, hidden.paths(&HIDDEN), "{way}");
    assert!(ran.stdout.contains(" M .env\n"), "{way}: {}", ran.stdout);
    fs::remove_file(&lock).unwrap();
    hidden.assert_as_before(way, &hidden.place.root, "");

    let ran = hidden.run(way, "git add -A; git commit -q -m second; touch .git/index.lock").await;
    assert_eq!(ran.end.exit, ProcessExit::Exited(0), "{way}: {}", ran.stderr);
    assert_eq!(ran.end.still_marked, hidden.paths(&HIDDEN), "{way}");
    let note = ran.end.what_git_still_leaves().unwrap();
    assert!(note.contains(".npmrc") && note.contains("index.lock"), "{way}: {note}");
    assert!(clear_left_marks(hidden.records.path()).is_err(), "{way}");
    fs::remove_file(&lock).unwrap();
    assert_eq!(hidden.marked(&hidden.place.root), ALL_MARKED, "{way}");
    clear_left_marks(hidden.records.path()).unwrap();
    hidden.assert_as_before(way, &hidden.place.root, "");
}

#[tokio::test]
async fn nobody_is_kept_from_an_index_that_another_command_has_marked() {
    for way in FULL {
        let hidden = Hidden::new("sha1", "2");
        let root = &hidden.place.root;
        let text = "touch begun; until [ -e go ]; do echo x >> new; git add -A; done";
        let running = start(way, hidden.command(root, text)).await;
        eventually("it runs", || root.join("begun").exists()).await;
        for _ in 0..8 {
            let ran = hidden.run(way, "true").await;
            assert_eq!(ran.end.facts.left_alone, hidden.paths(&HIDDEN), "{way}");
        }
        fs::write(root.join("go"), "").unwrap();
        let end = running.wait().await.unwrap();
        assert_eq!(end.exit, ProcessExit::Exited(0), "{way}: no git of it failed");
        hidden.assert_as_before(way, root, "");

        // Also where somebody writes the index as long as the second command runs.
        fs::remove_file(root.join("begun")).unwrap();
        fs::remove_file(root.join("go")).unwrap();
        let text = "touch begun; until [ -e go ]; do sleep 0.01; done";
        let running = start(way, hidden.command(root, text)).await;
        eventually("it runs", || root.join("begun").exists()).await;
        let lock = hidden.place.write(".git/index.lock", "");
        let ran = hidden.run(way, "true").await;
        assert_eq!(ran.end.facts.left_alone, hidden.paths(&HIDDEN), "{way}");
        assert!(ran.end.still_marked.is_empty(), "{way}: {:?}", ran.end.still_marked);
        fs::remove_file(&lock).unwrap();
        fs::write(root.join("go"), "").unwrap();
        running.wait().await.unwrap();
        hidden.assert_as_before(way, root, "");
    }
}

#[tokio::test]
async fn a_command_waits_a_moment_for_whoever_writes_the_index() {
    for way in FULL {
        let hidden = Hidden::new("sha1", "2");
        let lock = hidden.place.write(".git/index.lock", "");
        let over = async {
            eventually("it waits", || !hidden.mark_records().is_empty()).await;
            fs::remove_file(&lock).unwrap();
        };
        let command = hidden.command(&hidden.place.root, "git add -A; git commit -q -m second");
        let (ran, ()) = tokio::join!(run(way, command), over);
        assert_eq!(ran.end.exit, ProcessExit::Exited(0), "{way}: {}", ran.stderr);
        assert_eq!(hidden.marked(&hidden.place.root), "", "{way}");
    }
}

#[tokio::test]
async fn marks_are_cleared_wherever_the_repository_is_moved_meanwhile() {
    for way in WAYS {
        let hidden = Hidden::new("sha1", "2");
        let root = &hidden.place.root;
        let moved = root.with_file_name("moved");
        let text = "touch begun; until [ -e go ]; do sleep 0.01; done";
        let running = start(way, hidden.command(root, text)).await;
        eventually("it runs", || root.join("begun").exists()).await;
        assert_eq!(hidden.marked(root), ALL_MARKED, "{way}");
        fs::rename(root, &moved).unwrap();
        fs::write(moved.join("go"), "").unwrap();
        let end = running.wait().await;
        // On some tiers what is protected is restored where it was.
        let _ = fs::remove_dir_all(root);
        fs::rename(&moved, root).unwrap();
        assert_eq!(hidden.marked(root), "", "{way}: {end:?}");
        assert!(hidden.mark_records().is_empty(), "{way}");

        let ran = run(way, hidden.command(root, "mv .git .git2 || true")).await;
        if root.join(".git2").exists() {
            let _ = fs::remove_dir_all(root.join(".git"));
            fs::rename(root.join(".git2"), root.join(".git")).unwrap();
        }
        assert_eq!(hidden.marked(root), "", "{way}: {}", ran.stderr);
        assert!(hidden.mark_records().is_empty(), "{way}");
    }
}

#[test]
fn what_is_still_marked_stays_written_down_until_its_index_is_there_or_gone() {
    side_by_side(&FULL, stay_written_down);
}

async fn stay_written_down(way: Way) {
    let hidden = Hidden::new("sha1", "2");
    let root = &hidden.place.root;
    let (git, moved) = (root.join(".git"), root.with_file_name("moved"));
    let leave = || hidden.run(way, "touch .git/index.lock");
    assert_eq!(leave().await.end.still_marked, hidden.paths(&HIDDEN), "{way}");
    fs::rename(&git, &moved).unwrap();
    clear_left_marks(hidden.records.path()).unwrap();
    assert_eq!(hidden.mark_records().len(), 1, "{way}");
    fs::rename(&moved, &git).unwrap();
    assert!(clear_left_marks(hidden.records.path()).is_err(), "{way}");
    // As it is where moss was killed while it wrote the index.
    let name = hidden.mark_records()[0].file_stem().unwrap().to_string_lossy().into_owned();
    let new = git.join(format!("index.moss-{}", name.trim_start_matches("unfinished-")));
    fs::write(&new, "half of it").unwrap();
    fs::remove_file(git.join("index.lock")).unwrap();
    fs::hard_link(&new, git.join("index.lock")).unwrap();
    clear_left_marks(hidden.records.path()).unwrap();
    assert!(!new.exists(), "{way}");
    hidden.assert_as_before(way, root, "");

    assert_eq!(leave().await.end.still_marked, hidden.paths(&HIDDEN), "{way}");
    fs::remove_file(git.join("index")).unwrap();
    clear_left_marks(hidden.records.path()).unwrap();
    assert!(hidden.mark_records().is_empty(), "{way}");
}

#[tokio::test]
async fn settings_that_a_command_has_from_variables_stay() {
    for way in FULL {
        let hidden = Hidden::new("sha1", "2");
        let text = "git config a.b; git config core.splitIndex";
        let mut command = hidden.command(&hidden.place.root, text);
        let given = [("COUNT", "1"), ("KEY_0", "a.b"), ("VALUE_0", "given")];
        let given = given.map(|(name, value)| (format!("GIT_CONFIG_{name}").into(), value.into()));
        command.environment.set.extend(given);
        let ran = run(way, command).await;
        assert_eq!(ran.stdout, "given\nfalse\n", "{way}: {}", ran.stderr);
    }
}

#[tokio::test]
async fn an_index_that_was_split_meanwhile_is_marked_until_it_is_whole() {
    for way in FULL {
        let hidden = Hidden::new("sha1", "2");
        let root = &hidden.place.root;
        let text = "touch begun; until [ -e go ]; do sleep 0.01; done; rm begun go";
        let running = start(way, hidden.command(root, text)).await;
        eventually("it runs", || root.join("begun").exists()).await;
        hidden.git(&["update-index", "--split-index"]);
        fs::write(root.join("go"), "").unwrap();
        let end = running.wait().await.unwrap();
        assert_eq!(end.still_marked, hidden.paths(&HIDDEN), "{way}");
        let note = end.what_git_still_leaves().unwrap();
        assert!(note.contains("--no-split-index"), "{way}: {note}");
        hidden.git(&["update-index", "--no-split-index"]);
        clear_left_marks(hidden.records.path()).unwrap();
        assert_eq!(hidden.marked(root), "", "{way}");
        assert!(hidden.mark_records().is_empty(), "{way}");
    }
}

#[tokio::test]
async fn an_index_in_parts_and_a_sparse_checkout_are_as_they_were() {
    for way in FULL {
        let split = Hidden::new("sha1", "2");
        split.git(&["update-index", "--split-index"]);
        let sparse = Hidden::new("sha1", "2");
        sparse.place.write("out/of", "sight\n");
        sparse.git(&["add", "out"]);
        sparse.git(&["commit", "-q", "-m", "second"]);
        sparse.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "deep", "keys"]);
        assert!(sparse.git(&["ls-files", "--sparse"]).contains("out/\n"));
        for (hidden, marked) in [(&split, ""), (&sparse, "out/of")] {
            let ran = hidden.run(way, "git add many; git commit -q -m third; git add -A").await;
            assert_ne!(ran.end.exit, ProcessExit::Exited(0), "{way}");
            assert!(ran.stderr.contains("can only add regular files"), "{way}: {}", ran.stderr);
            assert!(ran.end.facts.left_alone.is_empty(), "{way}: {:?}", ran.end.facts);
            hidden.assert_as_before(way, &hidden.place.root, marked);
            assert_eq!(hidden.git(&["status", "--porcelain"]), " M .npmrc\n", "{way}");
        }
        assert_eq!(
            sparse.run(way, "git status").await.end.facts.tracked_masks,
            sparse.paths(&HIDDEN)
        );
        // One that the person's git would write in parts from now on.
        let whole = Hidden::new("sha1", "2");
        whole.git(&["config", "core.splitIndex", "true"]);
        let ran = whole.run(way, "git add -A").await;
        assert!(ran.stderr.contains("can only add regular files"), "{way}: {}", ran.stderr);
        whole.git(&["config", "core.splitIndex", "false"]);
        whole.works(way, "git add -A; git commit -q -m second").await;
    }
}

#[tokio::test]
async fn a_change_in_the_second_in_which_the_index_was_written_is_seen_afterwards() {
    for way in FULL {
        let hidden = Hidden::new("sha1", "2");
        hidden.git(&["config", "core.trustctime", "false"]);
        let index = hidden.place.root.join(".git/index");
        let then = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let date = |path: &Path| {
            fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
        };
        let env = hidden.place.root.join(".env");
        date(&env);
        hidden.git(&["add", ".env"]);
        date(&index);
        // The same size and time, and other content.
        hidden.place.write(".env", "changed-471\n");
        date(&env);
        let seen = || git(&hidden.place.root, &["--no-optional-locks", "status", "--porcelain"]);
        assert!(seen().contains(" M .env\n"), "{way}");
        let ran = hidden.run(way, "echo x > new; git add -A; git commit -q -m second").await;
        assert_eq!(ran.end.exit, ProcessExit::Exited(0), "{way}: {}", ran.stderr);
        assert!(seen().contains(" M .env\n"), "{way}: {}", seen());
    }
}
