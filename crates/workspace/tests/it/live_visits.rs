//! Texts by way of a live tree: what a walk hands over, whatever is known, and nothing that is known
//! to be of no interest.

use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use moss_sdk::RelPath;
use moss_sdk::file::VisitOptions;
use moss_workspace::{
    Buffers, GateKey, KnownParts, KnownText, KnownTexts, LiveOptions, LiveTree, MayRead, NoBuffers,
    Resolver, ScannedPaths, VisitGate, Workspace,
};

use crate::fixture::{memory, open, rel};
use crate::visiting::{Letters, Texts};

/// Denies and asks by name, as a policy might.
const GATE: VisitGate<'_> = VisitGate {
    lists: &|path| !path.as_str().ends_with("closed"),
    reads: &|real, shown| match (real.as_str(), shown.as_str()) {
        (real, _) if real.ends_with('i') => MayRead::No,
        (_, shown) if shown.ends_with('f') => MayRead::Unapproved,
        _ => MayRead::Yes,
    },
    one_name: false,
    is_apart: false,
    buffers: &NoBuffers,
    cancelled: &|| false,
    name: None,
};

/// The rules of that gate, by name.
static NAME: LazyLock<GateKey> =
    LazyLock::new(|| GateKey { rules: Arc::new("by name"), facts: String::new() });

/// Asserts that a live tree hands over the texts beneath a directory that a walk does; returns whether
/// it knew the directory.
#[track_caller]
pub(crate) fn visits_agree(workspace: &Workspace, tree: &LiveTree, path: &str) -> bool {
    let mut is_known = false;
    for entries_max in [3, 100_000] {
        let options = VisitOptions { entries_max, bytes_max: u64::MAX };
        let texts = || Texts { unwanted: Some(".log"), ..Texts::default() };
        let (mut known, mut walked) = (texts(), texts());
        // By its name, so that what an earlier step came to is used again where it may be.
        let named = VisitGate { name: Some(&NAME), ..GATE };
        let by_tree =
            tree.visit_texts(&rel(path), options, named, &mut known, &|_| KnownTexts::default());
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
    let visited = tree.visit_texts(&rel("."), options, GATE, &mut texts, &|scanned| {
        let known = |name: &str| match name {
            "a" | "c" => KnownText::Uninteresting,
            "binary" => KnownText::Binary,
            _ => KnownText::Unknown,
        };
        let paths: Vec<_> = scanned.real_paths().collect();
        // Of the last one nothing is said.
        let named = paths.iter().take(5).map(|path| known(path.as_str()));
        named.collect::<Vec<_>>().into()
    });
    let visited = visited.unwrap().unwrap();
    assert_eq!(texts.paths(), ["b", "d", "e"]);
    assert_eq!((visited.files, visited.skipped.binary, visited.truncated), (5, 1, false));
}

#[test]
fn files_are_asked_about_again_where_names_rules_or_wishes_are_others() {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir(&root).unwrap();
    for name in ["a", "b", "c.log"] {
        fs::write(root.join(name), name).unwrap();
    }
    let workspace = Arc::new(open(&root, Resolver::Kernel));
    let tree = LiveTree::new(Arc::clone(&workspace), LiveOptions::default());
    tree.build(&|| false);
    let options = VisitOptions { entries_max: 100, bytes_max: u64::MAX };
    let asked = AtomicUsize::new(0);
    let number = Cell::new(None);
    let visit = |name: &GateKey, unwanted| {
        asked.store(0, Ordering::Relaxed);
        let reads = |_: &_, _: &_| {
            asked.fetch_add(1, Ordering::Relaxed);
            MayRead::Yes
        };
        let gate = VisitGate { reads: &reads, name: Some(name), ..GATE };
        let mut texts = Texts { unwanted, ..Texts::default() };
        let visited = tree.visit_texts(&rel("."), options, gate, &mut texts, &|scanned| {
            number.set(scanned.number());
            KnownTexts::default()
        });
        assert_eq!(visited.unwrap().unwrap().files as usize, texts.texts.len());
        (texts.texts.len(), asked.load(Ordering::Relaxed))
    };
    assert_eq!(visit(&NAME, None), (3, 3));
    let first = number.get();
    assert_eq!(visit(&NAME, None), (3, 0));
    assert_eq!((number.get(), first.is_some()), (first, true));
    fs::write(root.join("a"), "other text").unwrap();
    assert_eq!(visit(&NAME, None), (3, 0));
    assert_eq!(visit(&NAME, Some(".log")), (2, 2));
    let others = [("by name", "facts"), ("by name", "")]
        .map(|(rules, facts)| GateKey { rules: Arc::new(rules), facts: facts.to_owned() });
    let facts = GateKey { facts: "facts".to_owned(), ..NAME.clone() };
    for other in others.iter().chain([&facts]) {
        assert_eq!(visit(other, None), (3, 3), "{other:?}");
    }
    fs::write(root.join("d"), "d").unwrap();
    assert_eq!(visit(&NAME, None), (4, 4));
    assert_ne!(number.get(), first);
    fs::rename(root.join("d"), root.join("e")).unwrap();
    assert_eq!(visit(&NAME, None), (4, 4));
    fs::remove_file(root.join("e")).unwrap();
    assert_eq!(visit(&NAME, None), (3, 3));
    fs::write(root.join(".gitignore"), "*.log\n").unwrap();
    assert_eq!(visit(&NAME, None), (3, 3));
}

/// An editor with unsaved text of one file.
struct OneUnsaved(&'static str);

impl Buffers for OneUnsaved {
    fn unsaved(&self, real: &RelPath) -> Option<Arc<str>> {
        (real.as_str() == self.0).then(|| Arc::from("unsaved"))
    }

    fn unsaved_paths(&self) -> Vec<RelPath> {
        vec![rel(self.0), rel("elsewhere/none")]
    }
}

#[test]
fn what_is_not_saved_is_looked_at_whatever_is_known_of_the_file() {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir_all(root.join("dir")).unwrap();
    for name in ["a", "dir/a", "dir/b"] {
        fs::write(root.join(name), "saved").unwrap();
    }
    let workspace = Arc::new(open(&root, Resolver::Kernel));
    let tree = LiveTree::new(Arc::clone(&workspace), LiveOptions::default());
    tree.build(&|| false);
    let options = VisitOptions { entries_max: 100, bytes_max: u64::MAX };
    for unsaved in ["a", "dir/a", "dir/b"] {
        let buffers = OneUnsaved(unsaved);
        let gate = VisitGate { buffers: &buffers, ..GATE };
        let mut texts = Texts::default();
        let known = |scanned: &ScannedPaths<'_>| {
            let paths = scanned.real_paths();
            paths.map(|_| KnownText::Uninteresting).collect::<Vec<_>>().into()
        };
        let visited = tree.visit_texts(&rel("."), options, gate, &mut texts, &known);
        assert_eq!(texts.texts, [(unsaved.to_owned(), "unsaved".to_owned())]);
        assert_eq!(visited.unwrap().unwrap().files, 3);
    }
}

#[test]
fn of_a_text_that_is_known_only_parts_of_interest_are_looked_at() {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir(&root).unwrap();
    // Ten parts, of about ten lines each: a line that begins with a step is of the part before. Each has a letter that
    // counts.
    let text = |line: &str| format!("{line}\n").repeat(100);
    for name in ["a", "b", "c", "d", "e"] {
        fs::write(root.join(name), text("x and some")).unwrap();
    }
    fs::write(root.join("c"), text("x, a whole")).unwrap();
    let workspace = Arc::new(open(&root, Resolver::Kernel));
    let tree = LiveTree::new(Arc::clone(&workspace), LiveOptions::default());
    tree.build(&|| false);
    let visit = |buffers: &dyn Buffers| {
        let mut letters = Letters::default();
        let parts = |numbers: &[u32], is_same| KnownParts {
            count: 10,
            numbers: numbers.into(),
            are_of: Box::new(move |mark| is_same && mark.size_bytes == 1_100),
        };
        let known = |_: &ScannedPaths<'_>| KnownTexts {
            files: [[KnownText::InParts; 4].as_slice(), &[KnownText::Uninteresting]].concat(),
            parts: vec![
                parts(&[0, 1, 5], true),
                parts(&[3], false),
                parts(&[2], true),
                parts(&[9], true),
            ],
        };
        let gate = VisitGate { buffers, ..GATE };
        let options = VisitOptions { entries_max: 100, bytes_max: u64::MAX };
        let visited = tree.visit_texts(&rel("."), options, gate, &mut letters, &known);
        assert_eq!(visited.unwrap().unwrap().files, 5);
        letters.0.texts
    };
    let expected = |found: [&str; 4]| -> Vec<(String, String)> {
        ["a", "b", "c", "d"].map(str::to_owned).into_iter().zip(found.map(str::to_owned)).collect()
    };
    let found = ["31 in parts", "100 at once", "100 at once", "9 in parts"];
    assert_eq!(visit(&NoBuffers), expected(found));
    let unsaved = ["31 in parts", "100 at once", "100 at once", "0 at once"];
    assert_eq!(visit(&OneUnsaved("d")), expected(unsaved));
}
