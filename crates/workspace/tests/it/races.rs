//! Links that are swapped while changes are planned and committed: what is written is what was
//! decided on.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use moss_sdk::edit::ChangeSet;
use moss_workspace::{Error, Plan};
use rustix::fs::{CWD, RenameFlags};

use crate::fixture::{Fixture, RESOLVERS, SetOnDrop, create, eventually, origin, rel, tree, write};

const COMMITS: usize = 150;
const OLD: &str = "old\n";
const NEW: &str = "new\n";

/// Exchanges a link with another one until the end; returns how often.
fn swap(root: &Path, done: &AtomicBool) -> usize {
    let (one, other) = (root.join("sw"), root.join("ws"));
    let mut swaps = 0;
    while !done.load(Ordering::Relaxed) {
        rustix::fs::renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
        swaps += 1;
    }
    swaps
}

/// A plan whose file lies in `a` at the moment.
fn plan_for_a(fixture: &Fixture, changes: &ChangeSet) -> Plan {
    eventually("the link leads to `a`", || match fixture.workspace.plan(changes) {
        Ok(plan) => Some(plan).filter(|p| p.files()[0].real.components().next() == Some("a")),
        Err(Error::Busy { .. }) => None,
        Err(error) => panic!("{error:?}"),
    })
}

/// Commits one change through the link; whether it went through. Either way only the planned file
/// may differ afterwards.
fn commit(fixture: &Fixture, number: usize) -> bool {
    let root = fixture.root();
    for directory in ["a", "b"] {
        fs::write(root.join(directory).join("f"), OLD).unwrap();
    }
    let is_new = number.is_multiple_of(3);
    let name = if is_new { format!("new-{number}") } else { "f".to_owned() };
    let path = format!("sw/{name}");
    let change = if is_new { create(&path, NEW) } else { write(&path, OLD.as_bytes(), NEW) };
    let plan = plan_for_a(fixture, &ChangeSet { changes: vec![change] });
    let before = tree(&root.join("b"));
    let outcome = fixture.workspace.commit(&plan, &fixture.history, &origin("race"));
    assert_eq!(tree(&root.join("b")), before, "{outcome:?}");
    let present = fs::read(root.join("a").join(&name)).ok();
    match outcome {
        Ok(committed) => {
            assert_eq!(present.as_deref(), Some(NEW.as_bytes()));
            let entry = fixture.history.get(committed.number).unwrap();
            assert_eq!(entry.files[0].real, rel(&format!("a/{name}")));
            true
        }
        Err(Error::Changed { .. } | Error::Exists { .. } | Error::Busy { .. }) => {
            assert_eq!(present.as_deref(), (!is_new).then_some(OLD.as_bytes()));
            false
        }
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn a_link_that_is_swapped_leads_no_write_to_a_file_that_was_not_planned() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        let root = fixture.root();
        fixture.put("a/f", OLD);
        fixture.put("b/f", OLD);
        symlink("a", root.join("sw")).unwrap();
        symlink("b", root.join("ws")).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let swappers = [(); 2].map(|()| scope.spawn(|| swap(&root, &done)));
            let end = SetOnDrop(&done);
            let committed = (0..COMMITS).filter(|number| commit(&fixture, *number)).count();
            drop(end);
            let swaps: usize = swappers.map(|swapper| swapper.join().unwrap()).iter().sum();
            println!("{resolver:?}: {committed} of {COMMITS} went through, {swaps} swaps");
            assert!(committed > 0 && swaps > COMMITS);
        });
    }
}
