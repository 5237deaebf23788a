//! A repository that is asked: its indexes, its questions, and what becomes of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use moss_ranking::{
    CodeQuestion, CommitSubjects, RankedIndex, RankedSearch, TextAnalyzer, Weights,
};
use moss_sdk::RelPath;
use moss_sdk::code_search::CodeHit;

use crate::baselines::PlainTexts;
use crate::chinese::BothLanguages;
use crate::git::FrozenRepository;
use crate::measure::{DEPTH, score};
use crate::suites::{self, DeclaredLocation, FileQuestion, PlaceQuestion};

/// Hits of which ten files are taken.
const FILE_HITS: usize = 40;
/// As the tool has it.
const HITS_OF_FILE_MAX: usize = 3;

/// A repository, ready to be asked.
pub(crate) struct Repository {
    pub(crate) name: String,
    pub(crate) index: RankedIndex,
    pub(crate) plain: PlainTexts,
    pub(crate) code: Vec<FileQuestion>,
    pub(crate) all: Vec<FileQuestion>,
    /// Without the documentation that is asked by.
    pub(crate) undocumented: RankedIndex,
    pub(crate) places: Vec<PlaceQuestion>,
    /// Each declaration that is asked for and its like, as a text of its own.
    pub(crate) units: PlainTexts,
    pub(crate) languages: BothLanguages,
}

/// The name of a declaration in a ranking.
pub(crate) fn unit(place: &DeclaredLocation) -> String {
    format!("{}:{}:{}", place.path, place.lines.0, place.name)
}

fn index(
    texts: &BTreeMap<String, String>,
    commits: &Arc<CommitSubjects>,
) -> (RankedIndex, Duration) {
    let started = Instant::now();
    let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    for (path, text) in texts {
        if let Ok(path) = RelPath::parse(path) {
            index.put(&analyzer.analyze(&path, text));
        }
    }
    index.settle();
    index.set_commits(Some(Arc::clone(commits)));
    (index, started.elapsed())
}

/// Puts a question to an index, as the tool does.
pub(crate) fn ask(
    index: &RankedIndex,
    text: &str,
    hits_max: usize,
    weights: &Weights,
) -> Vec<CodeHit> {
    let view = index.view(&Default::default(), &mut |_| true);
    let search = RankedSearch {
        view: &view,
        wants: &|_| true,
        leaves_out: None,
        hits_max,
        hits_of_file_max: HITS_OF_FILE_MAX,
        uses_commits: true,
        weights,
    };
    index.search(&CodeQuestion::parse(text), &search)
}

// === impl Repository ===

impl Repository {
    pub(crate) fn read(directory: &Path) -> Result<Self> {
        let named = || format!("{}", directory.display());
        let snapshot = FrozenRepository::read(directory).with_context(named)?;
        let commits = Arc::new(CommitSubjects::of_log(&snapshot.log));
        let (built, took) = index(&snapshot.texts, &commits);
        let lines: usize = snapshot.texts.values().map(|text| text.lines().count()).sum();
        let per_second = lines as f64 / took.as_secs_f64();
        eprintln!(
            "{}: {lines} lines, {per_second:.0} indexed per second, commits of {} files",
            snapshot.name,
            commits.files()
        );
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
            undocumented: index(&asked.texts, &commits).0,
            units: PlainTexts::new(&cut),
            places: asked.questions,
            languages: BothLanguages::of(&snapshot.name)?,
            name: snapshot.name,
        })
    }

    /// What a question about files finds.
    pub(crate) fn found_files(&self, question: &FileQuestion, weights: &Weights) -> Vec<CodeHit> {
        ask(&self.index, &question.text, FILE_HITS, weights)
    }

    /// What a question about a declaration finds.
    pub(crate) fn found_places(&self, question: &PlaceQuestion, weights: &Weights) -> Vec<CodeHit> {
        ask(&self.undocumented, &question.text, DEPTH, weights)
    }

    /// All that a question about a declaration finds, however bad.
    pub(crate) fn all_places(&self, question: &PlaceQuestion, weights: &Weights) -> Vec<CodeHit> {
        let view = self.undocumented.view(&Default::default(), &mut |_| true);
        let search = RankedSearch {
            view: &view,
            wants: &|_| true,
            leaves_out: None,
            hits_max: usize::MAX,
            hits_of_file_max: usize::MAX,
            uses_commits: true,
            weights,
        };
        self.undocumented.search(&CodeQuestion::parse(&question.text), &search)
    }

    /// The scores of questions about files.
    pub(crate) fn files(&self, questions: &[FileQuestion], weights: &Weights) -> Vec<(f64, f64)> {
        let one = |question: &FileQuestion| {
            let hits = self.found_files(question, weights);
            score(hits.iter().map(|hit| hit.path.as_str()), &question.files)
        };
        questions.iter().map(one).collect()
    }

    /// The scores of questions about files where no more hits are asked for than the tool shows of itself:
    /// those of one file take room from others.
    pub(crate) fn files_at_once(&self, weights: &Weights) -> Vec<(f64, f64)> {
        let one = |question: &FileQuestion| {
            let hits = ask(&self.index, &question.text, DEPTH, weights);
            score(hits.iter().map(|hit| hit.path.as_str()), &question.files)
        };
        self.code.iter().map(one).collect()
    }

    /// The scores of the questions about declarations.
    pub(crate) fn places(&self, weights: &Weights) -> Vec<(f64, f64)> {
        let one = |question: &PlaceQuestion| {
            let place = &question.place;
            let hits = self.found_places(question, weights);
            let name = |hit: &CodeHit| match is_place(hit, place) {
                true => unit(place),
                false => format!("{}:{}", hit.path, hit.lines.0),
            };
            let names: Vec<String> = hits.iter().map(name).collect();
            score(names.iter().map(String::as_str), &[unit(place)].into())
        };
        self.places.iter().map(one).collect()
    }
}

/// Whether a hit is the declaration that was asked for.
pub(crate) fn is_place(hit: &CodeHit, place: &DeclaredLocation) -> bool {
    let (first, last) = hit.lines;
    hit.path.as_str() == place.path
        && hit.name.as_deref() == Some(place.name.as_str())
        && first <= place.lines.1
        && place.lines.0 <= last
}
