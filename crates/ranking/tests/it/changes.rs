//! An index that is told of changes is as one that is made anew; what nobody may see changes nothing.

use moss_ranking::{RankedIndex, RankedView, TextAnalyzer};
use moss_sdk::RelPath;
use moss_sdk::code_search::CodeHit;
use proptest::prelude::*;

use crate::commits::search;
use crate::quality::{answers, corpus, index};

const QUESTIONS: [&str; 4] = ["failed requests", "login password", "cache", "read settings"];

/// Whether two answers are the same, apart from the last digits of scores.
fn is_same(one: &[CodeHit], other: &[CodeHit]) -> bool {
    let alike = |(one, other): (&CodeHit, &CodeHit)| {
        let score = (one.score - other.score).abs() <= other.score.abs() * 1e-3;
        score && (&one.path, one.lines) == (&other.path, other.lines)
    };
    one.len() == other.len() && one.iter().zip(other).all(alike)
}

#[test]
fn what_is_hidden_changes_no_score() {
    let whole = index();
    let hides = |path: &RelPath| !path.as_str().starts_with("src/");
    let view = whole.view(&RankedView::default(), &mut |path| hides(path));
    let (mut open, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    for (path, text) in corpus().filter(|(path, _)| hides(path)) {
        open.put(&analyzer.analyze(&path, text));
    }
    open.freeze();
    let all = open.view(&RankedView::default(), &mut |_| true);
    for question in QUESTIONS {
        let (hidden, expected) =
            (search(&whole, &view, question, true), search(&open, &all, question, true));
        assert!(is_same(&hidden, &expected), "{question}: {hidden:?} {expected:?}");
    }
}

#[test]
fn texts_are_counted_that_may_be_seen_and_are_wanted() {
    let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    let path = |name: &str| RelPath::parse(name).unwrap();
    for name in ["a.rs", "b.rs", "c.py", "secret/d.rs", "gone.rs"] {
        index.put(&analyzer.analyze(&path(name), "fn zebra() {}\n"));
    }
    index.freeze();
    index.remove(&path("gone.rs"));
    let all = index.view(&RankedView::default(), &mut |_| true);
    let open = index.view(&RankedView::default(), &mut |path| !path.as_str().contains("secret"));
    let is_rust = |path: &RelPath| path.as_str().ends_with(".rs");
    let counts =
        [&all, &open].map(|view| (index.count(view, &|_| true), index.count(view, &is_rust)));
    assert_eq!(counts, [(4, 3), (3, 2)]);
    assert_eq!(index.count(&RankedView::default(), &|_| true), 0);
}

#[test]
fn a_view_and_a_merge_of_before_fit_nothing_that_comes_after_all_is_forgotten() {
    let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    let path = |name: &str| RelPath::parse(name).unwrap();
    index.put(&analyzer.analyze(&path("a.rs"), "fn zebra() {}\n"));
    index.put(&analyzer.analyze(&path("b.rs"), "fn zebra() {}\n"));
    index.freeze();
    index.remove(&path("b.rs"));
    let open = index.view(&RankedView::default(), &mut |_| true);
    let (merge, changes) = (index.plan_merge().unwrap(), index.changes());
    index.clear();
    assert!(index.is_empty() && index.changes() > changes);
    index.put(&analyzer.analyze(&path("secret.rs"), "fn zebra() {}\n"));
    index.put(&analyzer.analyze(&path("a.rs"), "fn giraffe() {}\n"));
    index.freeze();
    index.install(merge.run());
    let view = index.view(&open, &mut |path| path.as_str() != "secret.rs");
    assert_eq!(index.count(&view, &|_| true), 1);
    assert!(search(&index, &view, "zebra", true).is_empty());
    assert_eq!(search(&index, &view, "giraffe", true).len(), 1);
}

#[test]
fn what_was_put_last_is_found_and_what_was_removed_is_not() {
    let (mut index, mut analyzer) = (index(), TextAnalyzer::default());
    let path = RelPath::parse("src/new.rs").unwrap();
    for turn in 0..50 {
        index.put(&analyzer.analyze(&path, &format!("fn zebra_{turn}() {{}}\n")));
        index.freeze();
        assert_eq!(
            answers(&index, &format!("zebra_{turn}"))[0],
            format!("src/new.rs zebra_{turn}")
        );
        let before = format!("=zebra_{}", turn - 1);
        assert!(!answers(&index, &before).iter().any(|found| found.ends_with(&before[1..])));
    }
    index.settle();
    assert_eq!(answers(&index, "zebra")[0], "src/new.rs zebra_49");
    assert!(index.remove(&path) && !index.remove(&path));
    assert_eq!(answers(&index, "zebra"), [""; 0]);
}

#[test]
fn what_did_not_parse_is_counted_as_long_as_it_is_there() {
    let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    let path = |name: &str| RelPath::parse(name).unwrap();
    let minified = format!("let x = \"{}\";\n", "y".repeat(30_000));
    let mut put = |index: &mut RankedIndex, name: &str, text: &str| {
        index.put(&analyzer.analyze(&path(name), text));
    };
    for _ in 0..3 {
        put(&mut index, "a.js", &minified);
        put(&mut index, "b.js", &minified);
        assert_eq!(index.size().incomplete, 2, "one that is read again is one");
    }
    put(&mut index, "a.js", "let x = 1;\n");
    assert_eq!(index.size().incomplete, 1);
    index.freeze();
    let counted = |index: &RankedIndex, sees: bool, wants: bool| {
        let view = index.view(&RankedView::default(), &mut |_| sees);
        index.count_incomplete(&view, &|_| wants)
    };
    assert_eq!(counted(&index, true, true), 1);
    assert_eq!((counted(&index, false, true), counted(&index, true, false)), (0, 0));
    // More than is kept of one.
    put(&mut index, "long.h", &"#define A 1\n".repeat(20_001));
    assert_eq!(index.size().incomplete, 2);
    assert!(index.remove(&path("long.h")));
    index.settle();
    assert!(index.remove(&path("b.js")));
    assert_eq!(index.size().incomplete, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn changes_lead_to_what_a_new_index_says(
        steps in prop::collection::vec((0_usize..15, 0_u8..5), 1..60),
    ) {
        let files: Vec<_> = corpus().collect();
        let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
        let mut present = std::collections::BTreeMap::new();
        for (file, step) in steps {
            let (path, text) = &files[file % files.len()];
            match step {
                0 => {
                    index.remove(path);
                    present.remove(path);
                }
                1 => index.freeze(),
                2 => index.settle(),
                3 => {
                    let other = files[(file + 1) % files.len()].1;
                    index.put(&analyzer.analyze(path, other));
                    present.insert(path.clone(), other);
                }
                _ => {
                    index.put(&analyzer.analyze(path, text));
                    present.insert(path.clone(), *text);
                }
            }
        }
        index.freeze();
        let mut anew = RankedIndex::default();
        present.iter().for_each(|(path, text)| anew.put(&analyzer.analyze(path, text)));
        anew.freeze();
        let (view, all) = (
            index.view(&RankedView::default(), &mut |_| true),
            anew.view(&RankedView::default(), &mut |_| true),
        );
        for question in QUESTIONS {
            let (changed, new) = (search(&index, &view, question, true), search(&anew, &all, question, true));
            prop_assert!(is_same(&changed, &new), "{question}: {changed:?} {new:?}");
        }
    }
}
