//! What was found where the right answer is not the first: to look at, class by class.
#![allow(clippy::print_stdout, reason = "the output is for the person at the terminal")]

use std::collections::BTreeMap;

use moss_ranking::Weights;
use moss_sdk::code_search::{CodeHit, MatchField};

use crate::repository::{Repository, is_place};
use crate::suites::PlaceQuestion;

/// How many of the found ones are shown.
const SHOWN: usize = 4;

/// Shows so many questions about files of each repository that have another first answer.
pub(crate) fn show_files(repositories: &[Repository], weights: &Weights, count: usize) {
    for repository in repositories {
        let mut shown = 0;
        for question in &repository.code {
            let mut hits = repository.found_files(question, weights);
            let mut seen = Vec::new();
            hits.retain(|hit| {
                let is_new = !seen.contains(&hit.path);
                seen.push(hit.path.clone());
                is_new
            });
            let at = hits.iter().position(|hit| question.files.contains(hit.path.as_str()));
            if at == Some(0) || shown == count {
                continue;
            }
            shown += 1;
            println!(
                "\n{}: {}\n  is {:?}, {}",
                repository.name,
                question.text,
                question.files,
                rank(at)
            );
            show(&hits, at);
        }
    }
}

/// The same of questions about declarations.
pub(crate) fn show_places(repositories: &[Repository], weights: &Weights, count: usize) {
    for repository in repositories {
        let mut shown = 0;
        for question in &repository.places {
            let hits = repository.found_places(question, weights);
            let at = hits.iter().position(|hit| is_place(hit, &question.place));
            if at == Some(0) || shown == count {
                continue;
            }
            shown += 1;
            let place = &question.place;
            println!("\n{}: {}", repository.name, question.text);
            println!("  is {}:{} {}, {}", place.path, place.lines.0, place.name, rank(at));
            show(&hits, at);
        }
    }
}

/// Says of what classes the questions are whose answer is not the first.
pub(crate) fn show_classes(repositories: &[Repository], weights: &Weights) {
    for repository in repositories {
        let mut classes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for question in &repository.places {
            let hits = repository.found_places(question, weights);
            let at = hits.iter().position(|hit| is_place(hit, &question.place));
            if at == Some(0) {
                continue;
            }
            let all = repository.all_places(question, weights);
            let answer = all.iter().find(|hit| is_place(hit, &question.place));
            let known = classes.entry(class(question, all.first(), answer)).or_default();
            known.0 += 1;
            known.1 += usize::from(at.is_none());
        }
        println!("\n{}: {} questions", repository.name, repository.places.len());
        for (class, (count, missing)) in classes {
            println!("  {count:>4} not first, {missing:>4} not among the first ten: {class}");
        }
    }
}

/// Why something else comes first, as far as a program can tell.
fn class(
    question: &PlaceQuestion,
    first: Option<&CodeHit>,
    answer: Option<&CodeHit>,
) -> &'static str {
    let (Some(first), Some(answer)) = (first, answer) else { return "no word in common" };
    let has = |hit: &CodeHit, place: MatchField| hit.matched.iter().any(|one| one.place == place);
    let of_text =
        |hit: &CodeHit| hit.matched.iter().filter(|one| one.place != MatchField::Commits).count();
    if first.name.as_deref() == Some(question.place.name.as_str()) {
        "another of the same name is first"
    } else if of_text(answer) * 2 <= of_text(first) {
        "the expected result has at most half of the words that the first has"
    } else if !has(answer, MatchField::Name) {
        "the name of the expected result has no word of the question"
    } else if first.path.as_str() == question.place.path {
        "another one of the same file is first"
    } else {
        "other"
    }
}

fn rank(at: Option<usize>) -> String {
    at.map_or_else(|| "not found".to_owned(), |at| format!("found as {}", at + 1))
}

fn show(hits: &[CodeHit], right: Option<usize>) {
    for (number, hit) in hits.iter().enumerate() {
        if number >= SHOWN && Some(number) != right {
            continue;
        }
        let words = hit.matched.iter().map(|one| format!("{}:{:?}", one.word, one.place));
        let words: Vec<String> = words.collect();
        let name = hit.name.as_deref().unwrap_or("-");
        let (kind, line) = (hit.kind.unwrap_or("-"), hit.lines.0);
        let mark = if Some(number) == right { '*' } else { ' ' };
        println!(
            "  {mark} {:.2} {}:{line} {kind} {name} [{}]",
            hit.score,
            hit.path,
            words.join(" ")
        );
    }
}
