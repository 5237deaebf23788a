//! The questions, with what answers them.

use std::collections::{BTreeMap, BTreeSet};

use moss_sdk::RelPath;
use moss_sdk::ranking::PathRank;
use moss_symbols::{Declaration, DeclarationKind, Language, Outliner};

use crate::git::FrozenRepository;

/// Most questions of a suite of one repository.
const QUESTIONS_MAX: usize = 200;
/// A commit of more files says too little of each.
const FILES_MAX: usize = 5;
/// How many words a question has.
const SUBJECT_WORDS_MIN: usize = 4;
const SENTENCE_WORDS: std::ops::RangeInclusive<usize> = 5..=30;
/// How subjects begin that say nothing of code.
const CHORES: [&str; 16] = [
    "bump",
    "merge",
    "revert",
    "release",
    "chore",
    "ci",
    "docs",
    "doc",
    "style",
    "build",
    "typo",
    "format",
    "changelog",
    "version",
    "prepare",
    "upgrade",
];

/// A question and the files that answer it.
pub(crate) struct FileQuestion {
    pub(crate) text: String,
    pub(crate) files: BTreeSet<String>,
}

/// A question and the declaration that answers it.
pub(crate) struct PlaceQuestion {
    pub(crate) text: String,
    pub(crate) place: DeclaredLocation,
}

/// Where something is declared.
#[derive(Clone)]
pub(crate) struct DeclaredLocation {
    pub(crate) path: String,
    pub(crate) name: String,
    /// The first and the last line of the declaration.
    pub(crate) lines: (u32, u32),
}

/// Questions from documentation, and what they are asked of.
pub(crate) struct DocumentedPlaces {
    pub(crate) questions: Vec<PlaceQuestion>,
    /// Everything of the kinds that are asked for, documented or not.
    pub(crate) candidates: Vec<DeclaredLocation>,
    /// The texts without the documentation that is asked by.
    pub(crate) texts: BTreeMap<String, String>,
}

fn rank(path: &str) -> Option<PathRank> {
    RelPath::parse(path).ok().map(|path| PathRank::of(&path))
}

/// Whether a file is code: tests among it, documents and data not.
fn is_code(path: &str) -> bool {
    let is_data = matches!(
        Language::of_path(path),
        None | Some(Language::Json | Language::Toml | Language::Yaml | Language::Markdown)
    );
    !is_data && matches!(rank(path), Some(PathRank::Source | PathRank::Test))
}

fn is_test(path: &str) -> bool {
    rank(path) == Some(PathRank::Test)
}

/// Questions from subjects of later commits. The first has the files that are no tests, the second all.
pub(crate) fn of_commits(snapshot: &FrozenRepository) -> [Vec<FileQuestion>; 2] {
    let (mut code, mut all) = (Vec::new(), Vec::new());
    for commit in &snapshot.later {
        let Some(text) = subject(&commit.subject) else { continue };
        let files = commit.files.iter().filter(|path| snapshot.texts.contains_key(*path));
        let files: BTreeSet<String> = files.filter(|path| is_code(path)).cloned().collect();
        let (tests, sources): (BTreeSet<String>, BTreeSet<String>) =
            files.iter().cloned().partition(|path| is_test(path));
        drop(tests);
        if sources.is_empty() || sources.len() > FILES_MAX {
            continue;
        }
        code.push(FileQuestion { text: text.clone(), files: sources });
        all.push(FileQuestion { text, files });
        if code.len() == QUESTIONS_MAX {
            break;
        }
    }
    [code, all]
}

/// A subject without its prefix and its number; none where it is no question.
fn subject(subject: &str) -> Option<String> {
    let mut text = subject.trim();
    if let Some(at) = text.rfind(" (#") {
        text = &text[..at];
    }
    let lower = text.to_lowercase();
    let first = lower.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if CHORES.contains(&first) {
        return None;
    }
    if let Some((prefix, rest)) = text.split_once(": ")
        && !prefix.contains(' ')
    {
        text = rest;
    }
    let is_question = text.split_whitespace().count() >= SUBJECT_WORDS_MIN;
    is_question.then(|| text.trim().to_owned())
}

/// Questions from the documentation of functions and types, and the texts without it.
pub(crate) fn of_documentation(snapshot: &FrozenRepository) -> DocumentedPlaces {
    let mut outliner = Outliner::default();
    let (mut found, mut candidates) = (Vec::new(), Vec::new());
    for (path, text) in &snapshot.texts {
        let Some(language) =
            Language::of_text(path, text).filter(|_| is_code(path) && !is_test(path))
        else {
            continue;
        };
        let Ok(outline) = outliner.outline(language, text) else { continue };
        for declaration in outline.declarations.iter().filter(|one| is_asked_for(one.kind)) {
            let Some(place) = declared(path, text, declaration) else { continue };
            if let Some((text, removed)) = question(text, declaration) {
                found.push((PlaceQuestion { text, place: place.clone() }, removed));
            }
            candidates.push(place);
        }
    }
    // The same each time, and from all over the repository.
    found.sort_by_key(|(question, _)| mixed(&format!("{}{}", question.place.path, question.text)));
    found.truncate(QUESTIONS_MAX);
    let mut texts = snapshot.texts.clone();
    for (question, removed) in &found {
        let Some(text) = texts.get_mut(&question.place.path) else { continue };
        let blank: String =
            text[removed.clone()].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
        // What follows stays where it is: each character becomes as many blanks as it has bytes.
        let missing = removed.len() - blank.len();
        text.replace_range(removed.clone(), &format!("{}{blank}", " ".repeat(missing)));
    }
    let questions = found.into_iter().map(|(question, _)| question).collect();
    DocumentedPlaces { questions, candidates, texts }
}

fn is_asked_for(kind: DeclarationKind) -> bool {
    matches!(
        kind,
        DeclarationKind::Function
            | DeclarationKind::Method
            | DeclarationKind::Class
            | DeclarationKind::Struct
            | DeclarationKind::Enum
            | DeclarationKind::Interface
            | DeclarationKind::Trait
    )
}

fn declared(path: &str, text: &str, declaration: &Declaration) -> Option<DeclaredLocation> {
    let line = |at: u32| {
        let before = text[..at as usize].matches('\n').count();
        u32::try_from(before).unwrap_or(u32::MAX) + 1
    };
    let lines = (line(declaration.name.start), line(declaration.range.end.saturating_sub(1)));
    let name = text.get(declaration.name.start as usize..declaration.name.end as usize)?;
    Some(DeclaredLocation { path: path.to_owned(), name: name.to_owned(), lines })
}

/// The first sentence of what documents something, and where all of that is.
fn question(text: &str, declaration: &Declaration) -> Option<(String, std::ops::Range<usize>)> {
    let documentation = declaration.documentation.clone()?;
    let removed = documentation.start as usize..documentation.end as usize;
    Some((sentence(text.get(removed.clone())?)?, removed))
}

/// The first sentence of a comment.
fn sentence(comment: &str) -> Option<String> {
    let is_sign = |c: char| matches!(c, '/' | '*' | '#' | '!' | '"' | '\'') || c.is_whitespace();
    let lines = comment.lines().map(|line| line.trim_matches(is_sign));
    let lines: Vec<&str> = lines.skip_while(|line| line.is_empty()).collect();
    let paragraph: Vec<&str> =
        lines.into_iter().take_while(|line| !line.is_empty() && !line.starts_with('@')).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").unwrap_or(paragraph.len());
    let sentence = paragraph[..end].trim_end_matches('.').trim();
    let is_question = SENTENCE_WORDS.contains(&sentence.split_whitespace().count());
    is_question.then(|| sentence.to_owned())
}

/// A number that looks like chance and is none.
pub(crate) fn mixed(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
