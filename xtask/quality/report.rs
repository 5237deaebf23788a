//! Prints the tables of scores and times.
#![allow(clippy::print_stdout, reason = "the output is for the person at the terminal")]

use std::time::Instant;

use moss_ranking::Weights;

use crate::baselines::PlainTexts;
use crate::measure::{DEPTH, RankingScores, score};
use crate::repository::{Repository, unit};
use crate::suites::{FileQuestion, PlaceQuestion};

/// What becomes of the questions of one repository.
type Scores = Vec<(f64, f64)>;

/// The suites by the ranking.
pub(crate) struct SuiteScores {
    pub(crate) code: RankingScores,
    pub(crate) all: RankingScores,
    pub(crate) places: RankingScores,
}

/// Puts all questions to the ranking.
pub(crate) fn suites(repositories: &[Repository], weights: &Weights) -> SuiteScores {
    SuiteScores {
        code: over(repositories, &|one| one.files(&one.code, weights)),
        all: over(repositories, &|one| one.files(&one.all, weights)),
        places: over(repositories, &|one| one.places(weights)),
    }
}

/// What the weights are worth: both suites alike.
pub(crate) fn worth(repositories: &[Repository], weights: &Weights) -> f64 {
    let code = over(repositories, &|one| one.files(&one.code, weights));
    let places = over(repositories, &|one| one.places(weights));
    f64::midpoint(code.mean(), places.mean())
}

/// The scores of each repository, each on a thread of its own.
fn over(
    repositories: &[Repository],
    scores: &(dyn Fn(&Repository) -> Scores + Sync),
) -> RankingScores {
    let mut all = RankingScores::default();
    std::thread::scope(|scope| {
        let each = repositories.iter().map(|repository| scope.spawn(|| scores(repository)));
        for one in each.collect::<Vec<_>>() {
            all.add_repository(one.join().expect("scoring does not panic"));
        }
    });
    all
}

/// Prints how large the repositories are and how well everybody answers.
pub(crate) fn report(repositories: &[Repository], weights: &Weights) {
    for repository in repositories {
        let size = repository.index.size();
        println!(
            "{}: {} files, {} chunks, {:.1} MiB in memory; {} questions A, {} B",
            repository.name,
            size.texts,
            size.chunks,
            size.memory_bytes as f64 / f64::from(1 << 20),
            repository.code.len(),
            repository.places.len(),
        );
        // Parsing has a bound in seconds: a machine that does much else measures something else.
        match size.incomplete {
            0 => {}
            count => println!("{}: of {count} files only a part is known", repository.name),
        }
    }
    let grep = |texts: &PlainTexts, question: &str| owned(texts.by_words(question, DEPTH));
    let bm25 = |texts: &PlainTexts, question: &str| owned(texts.by_bm25(question, DEPTH));
    println!("{:<34} {:>9} {:>7} {:>17} {:>7}", "", "questions", "NDCG@10", "95 %", "hit@1");
    let files = |pick: fn(&Repository) -> &Vec<FileQuestion>,
                 rank: &(dyn Fn(&PlainTexts, &str) -> Vec<String> + Sync)| {
        over(repositories, &|repository: &Repository| {
            let score_one = |question: &FileQuestion| {
                let ranking = rank(&repository.plain, &question.text);
                score(ranking.iter().map(String::as_str), &question.files)
            };
            pick(repository).iter().map(score_one).collect()
        })
    };
    let units = |rank: &(dyn Fn(&PlainTexts, &str) -> Vec<String> + Sync)| {
        over(repositories, &|repository: &Repository| {
            let score_one = |question: &PlaceQuestion| {
                let ranking = rank(&repository.units, &question.text);
                score(ranking.iter().map(String::as_str), &[unit(&question.place)].into())
            };
            repository.places.iter().map(score_one).collect()
        })
    };
    let without = Weights { commits: 0.0, ..weights.clone() };
    let (scores, alone) = (suites(repositories, weights), suites(repositories, &without));
    line("A subject → files: words counted", &files(|one| &one.code, &grep));
    line("A plain BM25 over files", &files(|one| &one.code, &bm25));
    line("A without commits", &alone.code);
    line("A codebase_search", &scores.code);
    line("A in the first ten hits alone", &over(repositories, &|one| one.files_at_once(weights)));
    line("A with tests: words counted", &files(|one| &one.all, &grep));
    line("A with tests: plain BM25", &files(|one| &one.all, &bm25));
    line("A with tests: without commits", &alone.all);
    line("A with tests: codebase_search", &scores.all);
    line("B documentation → it: words", &units(&grep));
    line("B plain BM25 over declarations", &units(&bm25));
    line("B without commits", &alone.places);
    line("B codebase_search", &scores.places);
    report_each(repositories, weights);
    report_languages(repositories, weights);
    report_time(repositories, weights);
}

/// Prints how well the questions of each repository are answered.
fn report_each(repositories: &[Repository], weights: &Weights) {
    for repository in repositories {
        let scores = suites(std::slice::from_ref(repository), weights);
        println!(
            "{}: A {:.3} of {} questions, with tests {:.3}, B {:.3} of {}",
            repository.name,
            scores.code.mean(),
            scores.code.questions(),
            scores.all.mean(),
            scores.places.mean(),
            scores.places.questions(),
        );
    }
}

/// Prints what a question in Chinese finds of what the same in English does.
fn report_languages(repositories: &[Repository], weights: &Weights) {
    let chinese = over(repositories, &|one| one.files(&one.languages.chinese, weights));
    let english = over(repositories, &|one| one.files(&one.languages.english, weights));
    if english.questions() > 0 {
        line("questions in Chinese → files", &chinese);
        line("the same in English", &english);
        println!("Chinese against English: {:.3}", chinese.mean() / english.mean());
    }
}

/// Prints how long questions take, one after the other.
fn report_time(repositories: &[Repository], weights: &Weights) {
    let mut took = Vec::new();
    for repository in repositories {
        for question in &repository.code {
            let started = Instant::now();
            drop(repository.found_files(question, weights));
            took.push(started.elapsed().as_secs_f64() * 1e3);
        }
    }
    took.sort_by(f64::total_cmp);
    let at = |share: f64| took.get((took.len() as f64 * share) as usize).copied();
    if let (Some(median), Some(late)) = (at(0.5), at(0.99)) {
        println!("a question takes {median:.2} ms in the middle, {late:.2} ms one in a hundred");
    }
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

fn line(name: &str, scores: &RankingScores) {
    let figures = scores.figures();
    let (low, high) = figures.interval;
    println!(
        "{name:<34} {:>9} {:>7.3}   {low:.3} to {high:.3} {:>7.3}",
        scores.questions(),
        figures.ndcg,
        figures.first
    );
}
