//! Patterns made of what the files hold, the same in every run: words and lines of them, cut,
//! joined, anchored, repeated and put into classes.

use std::path::{Path, PathBuf};

/// Where the numbers start.
const SEED: u64 = 0x5eed_0f5e_a2c4;
/// Longest line that a pattern is made of.
const LINE_CHARS_MAX: usize = 60;
/// Classes and their like.
const CLASSES: [&str; 16] = [
    r"\w",
    r"\W",
    r"\d",
    r"\s",
    r"\S",
    "[a-z]",
    "[A-Z]",
    "[^a-z]",
    "[[:alpha:]]",
    r"\p{L}",
    r"\p{Lu}",
    r"\p{Greek}",
    ".",
    "[0-9a-f]",
    r"[^\x00-\x7f]",
    r"[\w.]",
];
const REPETITIONS: [&str; 8] = ["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?"];
/// What no file of the tree needs to hold.
const WHOLE: [&str; 8] = ["", ".", "^", "$", r"\b", "(|x)", r"(?s).", r"^\s*$"];

/// SeededNumbers that look random and are the same every time (splitmix64).
struct SeededNumbers(u64);

/// Makes patterns; with each, whether upper and lower case differ.
pub(super) fn patterns(tree: &Path, count: usize) -> Vec<(String, bool)> {
    let lines = lines(tree);
    let mut numbers = SeededNumbers(SEED);
    let mut made: Vec<(String, bool)> = Vec::new();
    // An empty pattern is refused: what it would find is what `(?:)` finds.
    made.extend(WHOLE.map(|text| (if text.is_empty() { "(?:)" } else { text }.to_owned(), true)));
    while made.len() < count {
        let case_sensitive = numbers.below(2) == 0;
        let pattern = pattern(&mut numbers, &lines);
        if !pattern.contains('\n') && !made.iter().any(|(other, _)| *other == pattern) {
            made.push((pattern, case_sensitive));
        }
    }
    made
}

fn pattern(numbers: &mut SeededNumbers, lines: &[String]) -> String {
    match numbers.below(14) {
        0 => word(numbers, lines),
        1 => piece(numbers, lines),
        2 => format!("{}|{}", word(numbers, lines), word(numbers, lines)),
        3 => format!("({}|{}|{})", word(numbers, lines), piece(numbers, lines), class(numbers)),
        4 => format!(r"\b{}\b", word(numbers, lines)),
        5 => format!("^{}", piece(numbers, lines)),
        6 => format!("{}$", piece(numbers, lines)),
        7 => format!("{}{}{}", word(numbers, lines), class(numbers), repetition(numbers)),
        8 => format!("{}{}{}", class(numbers), repetition(numbers), word(numbers, lines)),
        9 => format!("{}.*{}", word(numbers, lines), word(numbers, lines)),
        10 => format!("(?i){}", piece(numbers, lines)),
        11 => format!("{}{}{}", class(numbers), class(numbers), repetition(numbers)),
        12 => format!(r"^\s*{}\b.*{}$", word(numbers, lines), class(numbers)),
        _ => changed(numbers, lines),
    }
}

/// A word of a line, or a part of it.
fn word(numbers: &mut SeededNumbers, lines: &[String]) -> String {
    loop {
        let line = numbers.of(lines);
        let words: Vec<&str> = line
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|w| !w.is_empty())
            .collect();
        if words.is_empty() {
            continue;
        }
        let chars: Vec<char> = numbers.of(&words).chars().collect();
        let start = numbers.below(2) * numbers.below(chars.len());
        return chars[start..].iter().collect();
    }
}

/// A part of a line as it stands.
fn piece(numbers: &mut SeededNumbers, lines: &[String]) -> String {
    let chars: Vec<char> = numbers.of(lines).chars().collect();
    let start = numbers.below(chars.len());
    let end = start + 1 + numbers.below((chars.len() - start).min(24));
    escaped(chars[start..end].iter())
}

/// A word of which one character may be any.
fn changed(numbers: &mut SeededNumbers, lines: &[String]) -> String {
    let mut chars: Vec<char> = word(numbers, lines).chars().collect();
    let at = numbers.below(chars.len());
    chars[at] = '.';
    chars.into_iter().collect()
}

fn escaped<'a>(chars: impl Iterator<Item = &'a char>) -> String {
    chars.fold(String::new(), |mut text, c| {
        if r"\.+*?()|[]{}^$#&-~".contains(*c) {
            text.push('\\');
        }
        text.push(*c);
        text
    })
}

fn class(numbers: &mut SeededNumbers) -> &'static str {
    CLASSES[numbers.below(CLASSES.len())]
}

fn repetition(numbers: &mut SeededNumbers) -> &'static str {
    REPETITIONS[numbers.below(REPETITIONS.len())]
}

/// Some lines of the texts of a tree, always the same.
fn lines(tree: &Path) -> Vec<String> {
    let mut files = Vec::new();
    add_files(tree, &mut files);
    files.sort();
    let texts = files.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        let fits = |line: &&str| !line.trim().is_empty() && line.chars().count() <= LINE_CHARS_MAX;
        let is_plain = |line: &&str| !line.contains(|c: char| c.is_control());
        let own = text.lines().filter(fits).filter(is_plain).step_by(23).map(str::to_owned);
        lines.extend(own);
    }
    lines
}

fn add_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => add_files(&entry.path(), files),
            false => files.push(entry.path()),
        }
    }
}

// === impl SeededNumbers ===

impl SeededNumbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("it is below the bound")
    }

    fn of<'a, T: AsRef<str>>(&mut self, all: &'a [T]) -> &'a str {
        all[self.below(all.len())].as_ref()
    }
}
