//! Repositories that are recognized by what they hold: whoever writes into one decides what git
//! runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Barrier;

use moss_sdk::edit::{Change, ChangeSet, Retention};
use moss_workspace::{Error, Protection};

use crate::fixture::{Fixture, RESOLVERS, create, delete, origin, rel, write};

const HEAD: &str = "ref: refs/heads/main\n";

/// Why each file of a change is protected by what is around it.
fn around(fixture: &Fixture, changes: Vec<Change>) -> Vec<Option<Protection>> {
    let plan = fixture.workspace.plan(&ChangeSet { changes }).unwrap();
    plan.files().iter().map(|file| file.around).collect()
}

fn is_protected(fixture: &Fixture, path: &str) -> bool {
    let now = fs::read(fixture.root().join(path)).ok();
    let change = match &now {
        Some(now) => write(path, now, "other\n"),
        None => create(path, "other\n"),
    };
    around(fixture, vec![change]) == [Some(Protection::Metadata)]
}

fn lay_bare(fixture: &Fixture, directory: &str) {
    for (file, text) in [
        ("HEAD", HEAD),
        ("config", "[core]\n"),
        ("objects/info/packs", ""),
        ("refs/heads/main", "0\n"),
    ] {
        fixture.put(&format!("{directory}/{file}"), text);
    }
}

#[test]
fn a_bare_repository_is_protected_under_any_name() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        lay_bare(&fixture, "deep/store");
        symlink("deep/store", fixture.root().join("way")).unwrap();
        for path in ["config", "HEAD", "hooks/post-receive", "objects/new", "a/b/c"] {
            assert!(is_protected(&fixture, &format!("deep/store/{path}")), "{path}");
            assert!(is_protected(&fixture, &format!("way/{path}")), "{path}");
        }
        for path in ["deep/x", "deep/store.txt", "store/config"] {
            assert!(!is_protected(&fixture, path), "{path}");
        }
        let gone = delete("deep/store/config", b"[core]\n", Retention::Recoverable);
        assert_eq!(around(&fixture, vec![gone]), [Some(Protection::Metadata)]);
        let resolved = fixture.workspace.protection_resolved(&rel("way/hooks/update")).unwrap();
        assert_eq!(resolved, Some(Protection::Metadata));
    }
}

#[test]
fn the_file_that_completes_a_repository_is_protected() {
    let parts = ["HEAD", "objects/info/packs", "refs/heads/main"];
    for last in parts {
        let fixture = Fixture::new();
        for part in parts.iter().filter(|part| **part != last) {
            let path = format!("x/{part}");
            assert!(!is_protected(&fixture, &path), "{path}");
            fixture.put(&path, HEAD);
        }
        assert!(is_protected(&fixture, &format!("x/{last}")), "{last}");
    }
    // All at once, and as a linked worktree has it.
    let fixture = Fixture::new();
    let all =
        ["HEAD", "objects/a", "refs/a", "config"].map(|part| create(&format!("x/{part}"), "x"));
    let protected = Some(Protection::Metadata);
    assert_eq!(around(&fixture, all.to_vec()), [protected; 4]);
    let all = ["y/HEAD", "y/commondir", "z"].map(|path| create(path, "x"));
    assert_eq!(around(&fixture, all.to_vec()), [protected, protected, None]);
}

#[test]
fn what_a_git_file_or_link_leads_to_is_protected() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        let absolute = fixture.root().join("absolute").display().to_string();
        fixture.put(".git", "gitdir: meta/data\n");
        fixture.put("sub/.git", "gitdir: ./../sub/inner/../kept\r\n");
        fixture.put("abs/.git", format!("gitdir: {absolute}/abs"));
        fixture.put("out/.git", "gitdir: ../../elsewhere");
        fixture.put("linked/own/config", "[core]\n");
        symlink("own", fixture.root().join("linked/.git")).unwrap();
        symlink("meta", fixture.root().join("alias")).unwrap();
        fixture.put("meta/data/config", "[core]\n");
        for path in [
            "meta/data/config",
            "meta/data/hooks/pre-commit",
            "alias/data/hooks/pre-commit",
            "META/data/new",
            "sub/kept/config",
            "linked/own/config",
            "linked/own/hooks/x",
        ] {
            assert!(is_protected(&fixture, path), "{resolver:?} {path}");
        }
        for path in ["meta/x", "sub/inner/x", "abs/x", "out/x", "linked/x", "data/config"] {
            assert!(!is_protected(&fixture, path), "{resolver:?} {path}");
        }
    }
}

#[test]
fn what_a_linked_worktree_belongs_to_is_protected() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        let absolute = fixture.root().join("absolute").display().to_string();
        // By a `.git` file, by a link to one, by a link to a directory, and in `.git` itself.
        fixture.put(".git", "gitdir: meta/worktrees/main\n");
        fixture.put("meta/worktrees/main/commondir", "../../../shared/./store\n");
        fixture.put("sub/pointer", "gitdir: own\n");
        symlink("pointer", fixture.root().join("sub/.git")).unwrap();
        fixture.put("sub/own/commondir", absolute.replace("absolute", "sub/absolute") + "\r\n");
        fixture.put("linked/own/commondir", "../common");
        symlink("own", fixture.root().join("linked/.git")).unwrap();
        fixture.put("plain/.git/commondir", "../common\n");
        fixture.put("out/.git/commondir", "../../../elsewhere\n");
        fixture.put("odd/.git/commondir/x", "");
        fixture.put("shared/store/config", "[core]\n");
        symlink("shared/store", fixture.root().join("alias")).unwrap();
        for path in [
            "meta/worktrees/main/HEAD",
            "shared/store/config",
            "shared/store/hooks/post-checkout",
            "Shared/Store/new",
            "alias/hooks/x",
            "sub/pointer",
            "sub/own/x",
            "sub/absolute/config",
            "linked/common/hooks/x",
            "plain/common/hooks/x",
        ] {
            assert!(is_protected(&fixture, path), "{resolver:?} {path}");
        }
        for path in [
            "shared/x",
            "meta/x",
            "meta/worktrees/x",
            "sub/x",
            "absolute/x",
            "linked/x",
            "plain/x",
            "common/x",
            "out/x",
            "elsewhere/x",
            "odd/x",
        ] {
            assert!(!is_protected(&fixture, path), "{resolver:?} {path}");
        }
    }
}

#[test]
fn an_ordinary_file_is_free() {
    let fixture = Fixture::new();
    fixture.put("a/b.rs", "x\n");
    let edit = write("a/b.rs", b"x\n", "y\n");
    assert_eq!(around(&fixture, vec![edit, create("HEAD", "x")]), [None, None]);
}

/// The parts that make a repository together where `objects` is there, each a change by itself.
fn parts(directory: &str) -> [Change; 2] {
    ["refs/x", "HEAD"].map(|part| create(&format!("{directory}/{part}"), HEAD))
}

#[test]
fn what_became_a_part_of_a_repository_since_it_was_planned_is_not_written() {
    let fixture = Fixture::new();
    fixture.put("x/objects/a", "");
    let plan = |change| fixture.workspace.plan(&ChangeSet { changes: vec![change] }).unwrap();
    let [first, second] = parts("x").map(plan);
    fixture.workspace.commit(&first, &fixture.history, &origin("a test")).unwrap();
    let refused = fixture.workspace.commit(&second, &fixture.history, &origin("a test"));
    assert!(matches!(refused, Err(Error::Changed { .. })), "{refused:?}");
    assert!(!fixture.root().join("x/HEAD").exists());
}

#[test]
fn parts_that_are_written_at_once_make_no_repository() {
    let fixture = Fixture::new();
    for number in 0..50 {
        let directory = format!("r{number}");
        fixture.put(&format!("{directory}/objects/a"), "");
        let plan = |change| fixture.workspace.plan(&ChangeSet { changes: vec![change] }).unwrap();
        let plans = parts(&directory).map(plan);
        let together = Barrier::new(plans.len());
        std::thread::scope(|scope| {
            for plan in &plans {
                scope.spawn(|| {
                    together.wait();
                    fixture.workspace.commit(plan, &fixture.history, &origin("a test"))
                });
            }
        });
        let both = plans
            .each_ref()
            .map(|plan| fixture.root().join(plan.files()[0].real.as_str()).exists());
        assert_ne!(both, [true, true], "{directory}");
    }
}
