//! What commits say of files adds to what these say.

use std::sync::Arc;

use moss_ranking::{CodeQuestion, CommitSubjects, RankedIndex, RankedSearch, RankedView, Weights};
use moss_sdk::RelPath;
use moss_sdk::code_search::{CodeHit, MatchField};

use crate::quality::index;

const LOG: &str = "\u{1}Zebra crossing\0\nserver/router.go\0\u{1}Unrelated\0\nweb/src/cache.ts\0gone.rs\0\
                   \u{1}Zebra again\0\nsrc/auth/token.rs\0server/router.go\0";

/// Answers a question; whether commits count in it is said last.
pub(crate) fn search(
    index: &RankedIndex,
    view: &RankedView,
    question: &str,
    counts: bool,
) -> Vec<CodeHit> {
    let weights = Weights::default();
    let search = RankedSearch {
        view,
        wants: &|_| true,
        leaves_out: None,
        hits_max: 10,
        hits_of_file_max: 3,
        uses_commits: counts,
        weights: &weights,
    };
    index.search(&CodeQuestion::parse(question), &search)
}

fn paths(hits: &[CodeHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.path.as_str()).collect()
}

#[test]
fn a_file_is_found_by_what_was_committed_to_it() {
    let mut index = index();
    let view = index.view(&RankedView::default(), &mut |_| true);
    index.set_commits(Some(Arc::new(CommitSubjects::of_log(LOG))));
    let hits = search(&index, &view, "zebra", true);
    assert_eq!(paths(&hits), ["server/router.go", "src/auth/token.rs"]);
    assert_eq!(
        (hits[0].matched[0].word.as_str(), hits[0].matched[0].place),
        ("zebra", MatchField::Commits)
    );
    assert_eq!(paths(&search(&index, &view, "zebra", false)), [""; 0]);
    // A name is looked for where it is declared.
    assert_eq!(search(&index, &view, "zebra", true).len(), 2);
    let named = search(&index, &view, "verify_token", true);
    assert_eq!(named[0].path.as_str(), "src/auth/token.rs");
}

#[test]
fn it_follows_files_that_change_and_says_nothing_of_hidden_ones() {
    let mut index = index();
    index.set_commits(Some(Arc::new(CommitSubjects::of_log(LOG))));
    let router = RelPath::parse("server/router.go").unwrap();
    let mut analyzer = moss_ranking::TextAnalyzer::default();
    for turn in 0..5 {
        let text = format!("package server\n\nfunc Turn{turn}() {{}}\n");
        index.put(&analyzer.analyze(&router, &text));
        index.settle();
        let view = index.view(&RankedView::default(), &mut |_| true);
        let hits = search(&index, &view, "zebra crossing", true);
        assert_eq!(hits[0].name.as_deref(), Some(format!("Turn{turn}").as_str()));
    }
    let view = index.view(&RankedView::default(), &mut |path| *path != router);
    assert_eq!(paths(&search(&index, &view, "zebra crossing", true)), ["src/auth/token.rs"]);
    index.remove(&router);
    let view = index.view(&RankedView::default(), &mut |_| true);
    assert_eq!(paths(&search(&index, &view, "zebra crossing", true)), ["src/auth/token.rs"]);
    index.set_commits(None);
    assert_eq!(paths(&search(&index, &view, "zebra crossing", true)), [""; 0]);
}

#[test]
fn one_commit_that_says_it_all_counts_more_than_many_that_say_a_part() {
    let mut index = index();
    let router = ["Zebra one", "Crossing two", "Okapi three", "Zebra crossing", "Crossing okapi"];
    let router = router.map(|subject| format!("\u{1}{subject}\0\nserver/router.go\0")).concat();
    let token = "\u{1}Move zebra crossing okapi\0\nsrc/auth/token.rs\0";
    index.set_commits(Some(Arc::new(CommitSubjects::of_log(&format!("{router}{token}")))));
    let view = index.view(&RankedView::default(), &mut |_| true);
    let hits = search(&index, &view, "fix zebra crossing okapi", true);
    assert_eq!(paths(&hits), ["src/auth/token.rs", "server/router.go"]);
    // Of those who may not see the file, its commit changes nothing.
    let token = RelPath::parse("src/auth/token.rs").unwrap();
    let hidden = index.view(&RankedView::default(), &mut |path| *path != token);
    let with = search(&index, &hidden, "fix zebra crossing okapi", true);
    index.set_commits(Some(Arc::new(CommitSubjects::of_log(&router))));
    let without = search(&index, &hidden, "fix zebra crossing okapi", true);
    assert_eq!(with, without);
    assert_eq!(paths(&with), ["server/router.go"]);
}
