//! What is searched for: words of the tree's own files, and patterns made of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};

/// How many words are taken, each from another file.
const WORDS_MAX: usize = 2_000;
/// How long they are.
const LENGTH: std::ops::RangeInclusive<usize> = 6..=24;

/// A kind of search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchKind {
    Word,
    Call,
    Absent,
    Class,
    Unaided,
}

/// Takes words from files, far apart; the same ones each time.
pub(super) fn words(files: &[PathBuf]) -> Result<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut words = Vec::new();
    let step = files.len().div_ceil(WORDS_MAX).max(1);
    // From all over the tree: the first words are those that most is measured with.
    let strides = [97, 89, 83].into_iter().find(|stride| !files.len().is_multiple_of(*stride));
    let stride = strides.unwrap_or(1) * step;
    for at in 0..files.len().min(WORDS_MAX) {
        let file = &files[at * stride % files.len()];
        let Ok(text) = fs::read_to_string(file) else { continue };
        let all = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let mut long: Vec<&str> = all.filter(|word| is_word(word)).collect();
        if long.is_empty() {
            continue;
        }
        let word = long.swap_remove(long.len() / 2);
        if found.insert(word.to_lowercase()) {
            words.push(word.to_owned());
        }
    }
    if words.is_empty() {
        bail!("the files of the tree have no words");
    }
    Ok(words)
}

fn is_word(word: &str) -> bool {
    LENGTH.contains(&word.len()) && word.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// A pattern of a word, of another kind for each number.
pub(super) fn varied(number: usize, word: &str) -> String {
    let (head, tail) = word.split_at(word.len() / 2);
    match number % 8 {
        0 => word.to_owned(),
        1 => format!(r"\b{word}\b"),
        2 => format!(r"(?-i){word}"),
        3 => format!(r"{head}\w*{tail}"),
        4 => format!(r"{word}\s*[(<:]"),
        5 => format!(r"({head}|{tail})_\w+"),
        6 => format!(r"^\s*(pub )?\w+ {word}"),
        _ => format!(r"[{head}]{{3}}{tail}"),
    }
}

// === impl SearchKind ===

impl SearchKind {
    pub(super) const ALL: [Self; 5] =
        [Self::Word, Self::Call, Self::Absent, Self::Class, Self::Unaided];

    /// What a row calls it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Word => "a word",
            Self::Call => "a word and a bracket",
            Self::Absent => "nothing found",
            Self::Class => "a class and half a word",
            Self::Unaided => "no usable literal",
        }
    }

    /// Whether all that it finds holds a text that an index can be asked for.
    pub(super) fn has_literal(self) -> bool {
        self != Self::Unaided
    }

    /// What it is to be of ripgrep's time.
    pub(super) fn wanted(self) -> &'static str {
        match self {
            Self::Word | Self::Call | Self::Absent | Self::Class => "ratio ≤ 0.083",
            Self::Unaided => "ratio ≤ 1.1",
        }
    }

    /// Makes a pattern of a word.
    pub(super) fn pattern(self, word: &str) -> String {
        let (head, tail) = word.split_at(word.len() / 2);
        match self {
            Self::Word => word.to_owned(),
            Self::Call => format!(r"\b{word}\w*\s*\("),
            Self::Absent => format!("{tail}{word}{head}"),
            Self::Class => format!(r"[a-z_]+{tail}[A-Z0-9_]*\b"),
            Self::Unaided => {
                let [first, last] = [&head[..1], &tail[tail.len() - 1..]];
                format!(r"\b{first}\w{{20,24}}{last}\b")
            }
        }
    }
}
