//! Texts by way of a live tree: what a walk hands over, whatever is known, and nothing that is known
//! to be of no interest.

use std::fs;
use std::sync::Arc;

use moss_sdk::file::VisitOptions;
use moss_workspace::{
    KnownText, LiveOptions, LiveTree, MayRead, NoBuffers, Resolver, VisitGate, Workspace,
};

use crate::fixture::{memory, open, rel};
use crate::visiting::Texts;

/// Denies and asks by name, as a policy might.
const GATE: VisitGate<'_> = VisitGate {
    lists: &|path| !path.as_str().ends_with("closed"),
    reads: &|real, shown| match (real.as_str(), shown.as_str()) {
        (real, _) if real.ends_with('i') => MayRead::No,
        (_, shown) if shown.ends_with('f') => MayRead::Unapproved,
        _ => MayRead::Yes,
    },
    buffers: &NoBuffers,
    cancelled: &|| false,
};

/// Asserts that a live tree hands over the texts beneath a directory that a walk does; returns whether
/// it knew the directory.
#[track_caller]
pub(crate) fn visits_agree(workspace: &Workspace, tree: &LiveTree, path: &str) -> bool {
    let mut is_known = false;
    for entries_max in [3, 100_000] {
        let options = VisitOptions { entries_max, bytes_max: u64::MAX };
        let texts = || Texts { unwanted: Some(".log"), ..Texts::default() };
        let (mut known, mut walked) = (texts(), texts());
        let by_tree = tree.visit_texts(&rel(path), options, GATE, &mut known, &|_| Vec::new());
        let by_walk = workspace.visit_texts(&rel(path), options, GATE, &mut walked);
        match (by_tree, by_walk) {
            (Ok(Some(by_tree)), by_walk) => {
                assert_eq!(by_tree, by_walk.unwrap(), "{path} {options:?}");
                assert_eq!(known.texts, walked.texts, "{path} {options:?}");
                is_known = true;
            }
            (Ok(None), _) => {}
            (Err(by_tree), by_walk) => {
                assert_eq!(by_tree.to_string(), by_walk.unwrap_err().to_string(), "{path}");
            }
        }
    }
    is_known
}

#[test]
fn what_is_known_is_not_read_and_counts_all_the_same() {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir(&root).unwrap();
    for name in ["a", "b", "c", "d", "e"] {
        fs::write(root.join(name), name).unwrap();
    }
    fs::write(root.join("binary"), b"\0").unwrap();
    let workspace = Arc::new(open(&root, Resolver::Kernel));
    let tree = LiveTree::new(Arc::clone(&workspace), LiveOptions::default());
    tree.build(&|| false);
    let options = VisitOptions { entries_max: 100, bytes_max: 3 };
    let mut texts = Texts::default();
    let visited = tree.visit_texts(&rel("."), options, GATE, &mut texts, &|paths| {
        let known = |name: &str| match name {
            "a" | "c" => KnownText::Uninteresting,
            "binary" => KnownText::Binary,
            _ => KnownText::Unknown,
        };
        let paths: Vec<_> = paths.collect();
        // Of the last one nothing is said.
        let named = paths.iter().take(5).map(|path| known(path.as_str()));
        named.collect()
    });
    let visited = visited.unwrap().unwrap();
    assert_eq!(texts.paths(), ["b", "d", "e"]);
    assert_eq!((visited.files, visited.skipped.binary, visited.truncated), (5, 1, false));
}
