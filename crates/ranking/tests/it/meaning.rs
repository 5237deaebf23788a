//! Questions with the vectors of a model: what they add, whom they add nothing for, and what stays as it was.

use moss_ranking::{
    CodeQuestion, Meaning, MeaningVector, RankedIndex, RankedSearch, RankedView, TextAnalyzer,
    VectorTable, Weights,
};
use moss_sdk::RelPath;
use moss_sdk::code_search::CodeHit;

/// Files, and how near each of their chunks is to the question.
const FILES: &[(&str, &str, f32)] = &[
    ("src/retry.rs", "fn attempt_anew() {}\n", 1.0),
    ("src/pause.rs", "fn pause() {}\nfn wait_for_pause() {}\n", 0.1),
    ("tests/retry.rs", "fn attempts() {}\n", 1.0),
    ("secret/retry.rs", "fn hidden_attempt() {}\n", 1.0),
];

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn question_vector() -> MeaningVector {
    MeaningVector::of(&[1.0, 0.0]).unwrap()
}

/// The index and the vectors of all files.
fn known() -> (RankedIndex, VectorTable) {
    let (mut index, mut vectors) = (RankedIndex::default(), VectorTable::default());
    let mut analyzer = TextAnalyzer::default();
    for (number, (name, text, near)) in (0_u8..).zip(FILES) {
        index.put(&analyzer.analyze(&path(name), text));
        let passages = analyzer.passages(&path(name), text).unwrap();
        let placed: Vec<_> = (0_u8..)
            .zip(&passages)
            .map(|(chunk, passage)| {
                let mut key = [number; 32];
                key[0] = chunk;
                let vector = MeaningVector::of(&[*near, 1.0 - near]).unwrap();
                assert!(vectors.insert(key, &vector));
                (passage.lines, key)
            })
            .collect();
        assert!(vectors.set_file(&path(name), &placed));
    }
    index.freeze();
    (index, vectors)
}

fn search(
    (index, vectors): (&RankedIndex, Option<&VectorTable>),
    text: &str,
    wants: &dyn Fn(&RelPath) -> bool,
) -> Vec<CodeHit> {
    let view = index
        .view(&RankedView::default(), &mut |path: &RelPath| !path.as_str().starts_with("secret/"));
    let search = RankedSearch {
        view: &view,
        wants,
        leaves_out: None,
        hits_max: 10,
        hits_of_file_max: 3,
        uses_commits: false,
        weights: &Weights::default(),
    };
    let question = question_vector();
    let meaning = vectors.map(|vectors| Meaning { question: &question, vectors });
    index.search_with(&CodeQuestion::parse(text), &search, meaning)
}

fn names(hits: &[CodeHit]) -> Vec<&str> {
    hits.iter().filter_map(|hit| hit.name.as_deref()).collect()
}

#[test]
fn what_no_word_finds_is_found_and_source_comes_before_tests() {
    let (index, vectors) = known();
    assert_eq!(search((&index, None), "perseverance", &|_| true), []);
    let found = search((&index, Some(&vectors)), "perseverance", &|_| true);
    assert_eq!(names(&found)[0], "attempt_anew");
    // As near, and of tests.
    assert_eq!(names(&found).last(), Some(&"attempts"));
    assert!(found.iter().all(|hit| hit.is_near && hit.matched.is_empty()));
    assert!(found.is_sorted_by(|one, other| one.score >= other.score));
}

#[test]
fn what_may_not_be_seen_or_is_not_wanted_is_not_found_by_its_vector_either() {
    let (index, vectors) = known();
    let found = search((&index, Some(&vectors)), "perseverance", &|_| true);
    assert!(!names(&found).contains(&"hidden_attempt"), "{found:?}");
    let only_tests = |path: &RelPath| path.as_str().starts_with("tests/");
    let found = search((&index, Some(&vectors)), "perseverance", &only_tests);
    assert_eq!(names(&found), ["attempts"]);
}

#[test]
fn what_both_find_comes_first_and_a_name_is_its_declaration() {
    let (index, vectors) = known();
    let found = search((&index, Some(&vectors)), "how is it attempted anew", &|_| true);
    assert_eq!(names(&found)[0], "attempt_anew");
    assert!(found[0].is_near && !found[0].matched.is_empty());
    let named = search((&index, Some(&vectors)), "pause", &|_| true);
    assert_eq!(names(&named)[0], "pause");
}

#[test]
fn vectors_of_other_chunks_or_of_nothing_change_no_answer() {
    let (mut index, vectors) = known();
    for text in ["pause", "how is it attempted anew", "wait for a pause"] {
        let words = search((&index, None), text, &|_| true);
        let order = |hits: &[CodeHit]| {
            hits.iter().map(|hit| (hit.path.clone(), hit.lines)).collect::<Vec<_>>()
        };
        let none = search((&index, Some(&VectorTable::default())), text, &|_| true);
        assert_eq!(order(&words), order(&none), "{text}");
        assert!(none.iter().all(|hit| !hit.is_near));
    }
    // The file has changed since: its vectors are of other lines.
    let changed = "\n\nfn attempt_anew() {}\n";
    index.put(&TextAnalyzer::default().analyze(&path("src/retry.rs"), changed));
    index.freeze();
    let found = search((&index, Some(&vectors)), "perseverance", &|_| true);
    assert!(!names(&found).contains(&"attempt_anew"), "{found:?}");
}
