//! Measures how well questions are answered, over repositories of other people: subjects of later commits
//! against the files that they change, documentation against what it documents.
//!
//! It reports and never judges. Everything is the same on each run.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the output of this program is for the person at the terminal"
)]

mod baselines;
mod git;
mod measure;
mod suites;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use moss_ranking::{CodeQuestion, RankedIndex, RankedSearch, TextAnalyzer, Weights};
use moss_sdk::RelPath;

use self::baselines::PlainTexts;
use self::git::FrozenRepository;
use self::measure::{DEPTH, RankingScores, score};
use self::suites::{DeclaredPlace, FileQuestion, PlaceQuestion};

const USAGE: &str = "usage: bench-search-quality [--try NAME=V1,V2,…]… DIR…";
/// Hits of which ten files are taken.
const FILE_HITS: usize = 40;
/// As the tool has it.
const HITS_OF_FILE_MAX: usize = 3;

/// A repository, ready to be asked.
struct Repository {
    name: String,
    index: RankedIndex,
    plain: PlainTexts,
    code: Vec<FileQuestion>,
    all: Vec<FileQuestion>,
    /// Without the documentation that is asked by.
    undocumented: RankedIndex,
    places: Vec<PlaceQuestion>,
    /// Each declaration that is asked for and its like, as a text of its own.
    units: PlainTexts,
}

fn main() -> Result<()> {
    let (mut tries, mut directories) = (Vec::new(), Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--try" => tries.push(words.next().context(USAGE)?),
            option if option.starts_with("--") => bail!(USAGE),
            _ => directories.push(PathBuf::from(word)),
        }
    }
    ensure!(!directories.is_empty(), USAGE);
    let read = directories.iter().map(|directory| Repository::read(directory));
    let repositories = read.collect::<Result<Vec<_>>>()?;
    let weights = Weights::default();
    report(&repositories, &weights);
    for attempt in tries {
        let (name, values) = attempt.split_once('=').context(USAGE)?;
        for value in values.split(',') {
            let mut other = weights.clone();
            set(&mut other, name, value.parse().context(USAGE)?)?;
            let [code, all, places] = suites(&repositories, &other);
            println!(
                "{name}={value}: A {:.4} (with tests {:.4}), B {:.4}",
                code.figures().ndcg,
                all.figures().ndcg,
                places.figures().ndcg
            );
        }
    }
    Ok(())
}

/// Sets one weight by its name.
fn set(weights: &mut Weights, name: &str, value: f32) -> Result<()> {
    let fields = ["symbol", "container", "path", "documentation", "body"];
    let field = |name: &str| fields.iter().position(|known| *known == name);
    match name {
        "k1" => weights.k1 = value,
        "joined" => weights.joined = value,
        "test" => weights.test = value,
        "document" => weights.document = value,
        "vendored" => weights.vendored = value,
        "data" => weights.data = value,
        "barrel" => weights.barrel = value,
        "next" => weights.next_chunks = value,
        "definition" => weights.definition = value,
        "centrality" => weights.centrality = value,
        "repeated" => weights.repeated = value,
        _ => match (field(name), name.strip_prefix("b.").and_then(field)) {
            (Some(field), _) => weights.fields[field] = value,
            (_, Some(field)) => weights.lengths[field] = value,
            _ => bail!("there is no weight `{name}`"),
        },
    }
    Ok(())
}

fn report(repositories: &[Repository], weights: &Weights) {
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
    }
    let started = Instant::now();
    let [code, all, places] = suites(repositories, weights);
    let asked = code.questions() + all.questions() + places.questions();
    let each = started.elapsed() / u32::try_from(asked.max(1)).unwrap_or(u32::MAX);
    let grep = |texts: &PlainTexts, question: &str| owned(texts.by_words(question, DEPTH));
    let bm25 = |texts: &PlainTexts, question: &str| owned(texts.by_bm25(question, DEPTH));
    println!("{:<34} {:>9} {:>7} {:>17} {:>7}", "", "questions", "NDCG@10", "95 %", "hit@1");
    let files = |pick: fn(&Repository) -> &Vec<FileQuestion>,
                 rank: &dyn Fn(&PlainTexts, &str) -> Vec<String>| {
        over(repositories, &|repository: &Repository| {
            let score_one = |question: &FileQuestion| {
                let ranking = rank(&repository.plain, &question.text);
                score(ranking.iter().map(String::as_str), &question.files)
            };
            pick(repository).iter().map(score_one).collect()
        })
    };
    let units = |rank: &dyn Fn(&PlainTexts, &str) -> Vec<String>| {
        over(repositories, &|repository: &Repository| {
            let score_one = |question: &PlaceQuestion| {
                let ranking = rank(&repository.units, &question.text);
                score(ranking.iter().map(String::as_str), &[unit(&question.place)].into())
            };
            repository.places.iter().map(score_one).collect()
        })
    };
    line("A subject → files: words counted", &files(|one| &one.code, &grep));
    line("A plain BM25 over files", &files(|one| &one.code, &bm25));
    line("A codebase_search", &code);
    line("A with tests: words counted", &files(|one| &one.all, &grep));
    line("A with tests: plain BM25", &files(|one| &one.all, &bm25));
    line("A with tests: codebase_search", &all);
    line("B documentation → it: words", &units(&grep));
    line("B plain BM25 over declarations", &units(&bm25));
    line("B codebase_search", &places);
    println!("a question takes {:.2} ms", each.as_secs_f64() * 1e3);
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

fn over(
    repositories: &[Repository],
    scores: &dyn Fn(&Repository) -> Vec<(f64, f64)>,
) -> RankingScores {
    let mut all = RankingScores::default();
    repositories.iter().for_each(|repository| all.add_repository(scores(repository)));
    all
}

fn unit(place: &DeclaredPlace) -> String {
    format!("{}:{}:{}", place.path, place.lines.0, place.name)
}

/// All suites by the ranking: files without tests, with tests, declarations.
fn suites(repositories: &[Repository], weights: &Weights) -> [RankingScores; 3] {
    let files = |questions: fn(&Repository) -> &Vec<FileQuestion>| {
        over(repositories, &|repository| repository.files(questions(repository), weights))
    };
    let places = over(repositories, &|repository| repository.places(weights));
    [files(|repository| &repository.code), files(|repository| &repository.all), places]
}

fn index(texts: &BTreeMap<String, String>) -> (RankedIndex, Duration) {
    let started = Instant::now();
    let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    for (path, text) in texts {
        if let Ok(path) = RelPath::parse(path) {
            index.put(&analyzer.analyze(&path, text));
        }
    }
    index.settle();
    (index, started.elapsed())
}

// === impl Repository ===

impl Repository {
    fn read(directory: &Path) -> Result<Self> {
        let named = || format!("{}", directory.display());
        let snapshot = FrozenRepository::read(directory).with_context(named)?;
        let (built, took) = index(&snapshot.texts);
        let lines: usize = snapshot.texts.values().map(|text| text.lines().count()).sum();
        let per_second = lines as f64 / took.as_secs_f64();
        eprintln!("{}: {lines} lines, {per_second:.0} indexed per second", snapshot.name);
        let [code, all] = suites::of_commits(&snapshot);
        let asked = suites::of_documentation(&snapshot);
        let mut cut = BTreeMap::new();
        for place in &asked.candidates {
            let (first, last) = place.lines;
            let lines = asked.texts[&place.path].lines().skip(first as usize - 1);
            let text: Vec<&str> = lines.take((last + 1).saturating_sub(first) as usize).collect();
            cut.insert(unit(place), text.join("\n"));
        }
        Ok(Self {
            index: built,
            plain: PlainTexts::new(&snapshot.texts),
            code,
            all,
            undocumented: index(&asked.texts).0,
            units: PlainTexts::new(&cut),
            places: asked.questions,
            name: snapshot.name,
        })
    }

    fn files(&self, questions: &[FileQuestion], weights: &Weights) -> Vec<(f64, f64)> {
        let view = self.index.view(&Default::default(), &mut |_| true);
        let wants = |_: &RelPath| true;
        let search = RankedSearch {
            view: &view,
            wants: &wants,
            leaves_out: None,
            hits_max: FILE_HITS,
            hits_of_file_max: HITS_OF_FILE_MAX,
            weights,
        };
        let one = |question: &FileQuestion| {
            let hits = self.index.search(&CodeQuestion::parse(&question.text), &search);
            score(hits.iter().map(|hit| hit.path.as_str()), &question.files)
        };
        questions.iter().map(one).collect()
    }

    fn places(&self, weights: &Weights) -> Vec<(f64, f64)> {
        let view = self.undocumented.view(&Default::default(), &mut |_| true);
        let wants = |_: &RelPath| true;
        let search = RankedSearch {
            view: &view,
            wants: &wants,
            leaves_out: None,
            hits_max: DEPTH,
            hits_of_file_max: HITS_OF_FILE_MAX,
            weights,
        };
        let one = |question: &PlaceQuestion| {
            let hits = self.undocumented.search(&CodeQuestion::parse(&question.text), &search);
            let place = &question.place;
            let names: Vec<String> = hits
                .iter()
                .map(|hit| {
                    let (first, last) = hit.lines;
                    let is_it = hit.path.as_str() == place.path
                        && hit.name.as_deref() == Some(place.name.as_str())
                        && first <= place.lines.1
                        && place.lines.0 <= last;
                    if is_it { unit(place) } else { format!("{}:{first}", hit.path) }
                })
                .collect();
            score(names.iter().map(String::as_str), &[unit(&question.place)].into())
        };
        self.places.iter().map(one).collect()
    }
}
