//! What was found where the right answer is not the first: to look at, class by class.
#![allow(clippy::print_stdout, reason = "the output is for the person at the terminal")]

use moss_ranking::Weights;
use moss_sdk::code_search::CodeHit;

use crate::repository::{Repository, is_place};

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
