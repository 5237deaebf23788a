//! The simple ways: plan, commit, history, undo.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use moss_sdk::edit::{ChangeSet, Retention, Splice};
use moss_workspace::{Error, FileAction, HistoryFilter, Resolver, hash, recover};

use crate::fixture::{Fixture, RESOLVERS, create, delete, edit, rel, tree, write};

#[test]
fn a_change_set_is_committed_recorded_and_undone() {
    for resolver in RESOLVERS {
        let fixture = Fixture::on_disk(resolver);
        fixture.put("a.txt", "one\r\ntwo\r\n");
        fixture.put("old.txt", "old\n");
        let before = tree(&fixture.root());
        let splice = Splice { range: 5..8, text: "zwei\ndrei".to_owned() };
        let changes = vec![
            edit("a.txt", hash(b"one\r\ntwo\r\n"), vec![splice]),
            create("new/dir/b.txt", "b\n"),
            create("new/dir/c.txt", ""),
            delete("old.txt", b"old\n", Retention::Recoverable),
        ];
        let plan = fixture.workspace.plan(&ChangeSet { changes: changes.clone() }).unwrap();
        assert_eq!(tree(&fixture.root()), before, "planning writes nothing");
        assert!(plan.files()[0].diff.contains("-two\r\n+zwei\r\n+drei\r\n"), "{:?}", plan.files());
        assert_eq!((plan.files()[0].added, plan.files()[0].removed), (2, 1));

        let committed = fixture.commit(changes).unwrap();
        assert!(committed.exchanged);
        assert_eq!(fixture.get("a.txt"), b"one\r\nzwei\r\ndrei\r\n");
        assert_eq!(fixture.get("new/dir/b.txt"), b"b\n");
        assert!(!fixture.root().join("old.txt").exists());
        let names: Vec<_> = tree(&fixture.root()).into_iter().map(|(path, _)| path).collect();
        assert_eq!(names.len(), 5, "{names:?}");

        let entry = fixture.history.get(committed.number).unwrap();
        assert_eq!(entry.files.len(), 4);
        assert_eq!(entry.files[3].action, FileAction::Delete);
        assert_eq!(
            fixture.history.diff(&entry.files[3]).unwrap().unwrap(),
            "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
        );

        let undone = fixture.undo(committed.number).unwrap();
        assert_eq!(fixture.get("a.txt"), b"one\r\ntwo\r\n");
        assert_eq!(fixture.get("old.txt"), b"old\n");
        assert!(!fixture.root().join("new/dir/b.txt").exists());
        assert!(matches!(fixture.undo(committed.number), Err(Error::NothingToUndo { .. })));
        fixture.undo(undone.number).unwrap();
        assert_eq!(fixture.get("a.txt"), b"one\r\nzwei\r\ndrei\r\n");
        let listed = fixture.history.list(&HistoryFilter::default()).unwrap();
        let numbers: Vec<u64> = listed.iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, [3, 2, 1]);
        assert_eq!((&listed[0].undo_of[..], &listed[1].undone_by[..]), (&[2][..], &[3][..]));
        assert_eq!(recover(&fixture.workspace, &fixture.history).unwrap().rolled_back, 0);
    }
}

#[test]
fn mode_owner_and_attributes_are_kept() {
    let fixture = Fixture::on_disk(Resolver::Kernel);
    fixture.put("a.sh", "one\n");
    let path = fixture.root().join("a.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).unwrap();
    rustix::fs::setxattr(&path, "user.note", b"kept", rustix::fs::XattrFlags::empty()).unwrap();
    fixture.commit(vec![write("a.sh", b"one\n", "two\n")]).unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o750, "set-id bits are dropped");
    let mut value = [0; 16];
    let length = rustix::fs::getxattr(&path, "user.note", &mut value[..]).unwrap();
    assert_eq!(&value[..length], b"kept");
}

#[test]
fn links_are_written_through_and_never_removed() {
    for resolver in RESOLVERS {
        let fixture = Fixture::on_disk(resolver);
        fixture.put("real/a.txt", "one\n");
        symlink("real/a.txt", fixture.root().join("link")).unwrap();
        fixture.commit(vec![write("link", b"one\n", "two\n")]).unwrap();
        assert_eq!(fixture.get("real/a.txt"), b"two\n");
        assert!(fs::symlink_metadata(fixture.root().join("link")).unwrap().is_symlink());
        let refused = fixture.commit(vec![delete("link", b"two\n", Retention::Recoverable)]);
        assert!(matches!(refused, Err(Error::IsLink { .. })), "{refused:?}");
        let both = vec![write("link", b"two\n", "x"), write("real/a.txt", b"two\n", "y")];
        assert!(matches!(fixture.commit(both), Err(Error::Clash { .. })));
        assert_eq!(fixture.workspace.resolve(&rel("link")).unwrap().path, rel("real/a.txt"));
    }
}
