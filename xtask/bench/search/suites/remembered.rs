//! What people type to find a file that they remember badly, made of the paths of a tree.

use std::collections::{BTreeSet, HashMap};

use super::drawing::Drawing;

/// Where the numbers start.
const SEED: u64 = 0x5eed_9a78;
/// Most names of a path that are typed.
const NAMES_MAX: usize = 3;
/// How often a path is drawn for each file that is wanted.
const ATTEMPTS: usize = 20;
/// Shorter texts are not made worse: too little of them would be left.
const CHARS_MIN: usize = 6;
/// How much of each word is kept of an abbreviation, in characters.
const ABBREVIATED: usize = 3;

/// In which way a file is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Remembering {
    Whole,
    LeftOut,
    Swapped,
    Wrong,
    Abbreviated,
    Initials,
    Glob,
}

/// What is typed, and the file that is meant.
pub(super) struct RememberedFile {
    pub(super) how: Remembering,
    pub(super) typed: String,
    pub(super) path: String,
}

/// Makes so many, as many of each kind as the paths allow.
pub(super) fn files(paths: &[String], count: usize) -> Vec<RememberedFile> {
    let endings = endings(paths);
    let mut drawing = Drawing::new(SEED);
    let (mut made, mut known) = (Vec::new(), BTreeSet::new());
    // Some paths are like no other in nothing short, or too short.
    for _ in 0..count * ATTEMPTS {
        if made.len() == count {
            break;
        }
        let path = drawing.of(paths);
        let how = Remembering::ALL[made.len() % Remembering::ALL.len()];
        let Some(ending) = ending(path, &endings) else { continue };
        // What is typed as it was is another kind.
        let is_kind = |typed: &String| how == Remembering::Whole || typed != ending;
        let typed = how.typed(path, ending, &mut drawing).filter(is_kind);
        if let Some(typed) = typed.filter(|typed| known.insert((how, typed.clone()))) {
            made.push(RememberedFile { how, typed, path: path.clone() });
        }
    }
    made
}

/// How many paths end with the same last names, with and without the extension.
fn endings(paths: &[String]) -> HashMap<String, usize> {
    let mut counted = HashMap::new();
    for path in paths {
        for ending in possible(path) {
            *counted.entry(ending.to_lowercase()).or_default() += 1;
        }
    }
    counted
}

/// The shortest end of a path that no other has.
fn ending<'a>(path: &'a str, counted: &HashMap<String, usize>) -> Option<&'a str> {
    possible(path).into_iter().find(|ending| counted.get(&ending.to_lowercase()) == Some(&1))
}

/// The ends of a path, the short ones first, each without and with the extension.
fn possible(path: &str) -> Vec<&str> {
    let stem = match path.rsplit_once('.') {
        Some((stem, extension)) if !extension.contains('/') && !stem.ends_with('/') => stem,
        _ => path,
    };
    let starts = path.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]);
    let mut all = Vec::new();
    for start in starts.take(NAMES_MAX) {
        if stem.len() < path.len() && stem.len() > start {
            all.push(&stem[start..]);
        }
        all.push(&path[start..]);
    }
    all
}

/// Where the words of a text start: after what is no letter, and at upper case after lower case.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        let is_start = !before.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase());
        if c.is_alphanumeric() {
            match words.last_mut().filter(|_| !is_start) {
                Some(word) => word.push(c),
                None => words.push(c.to_string()),
            }
        }
        before = c;
    }
    words
}

// === impl Remembering ===

impl Remembering {
    pub(super) const ALL: [Self; 7] = [
        Self::Whole,
        Self::LeftOut,
        Self::Swapped,
        Self::Wrong,
        Self::Abbreviated,
        Self::Initials,
        Self::Glob,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Whole => "the end of the path",
            Self::LeftOut => "letters left out",
            Self::Swapped => "two letters swapped",
            Self::Wrong => "a wrong letter",
            Self::Abbreviated => "words abbreviated",
            Self::Initials => "initials and a word",
            Self::Glob => "wildcards",
        }
    }

    /// What is typed of the end of a path; none where it is too short for it.
    fn typed(self, path: &str, ending: &str, drawing: &mut Drawing) -> Option<String> {
        let mut chars: Vec<char> = ending.chars().collect();
        let letters: Vec<usize> =
            (1..chars.len()).filter(|at| chars[*at].is_alphanumeric()).collect();
        let is_long = letters.len() >= CHARS_MIN;
        match self {
            Self::Whole => Some(ending.to_owned()),
            Self::LeftOut => {
                // One of eight letters, and two at most.
                let left_out = (letters.len() / 8).clamp(1, 2);
                for _ in 0..left_out {
                    chars.remove((*drawing.of(&letters)).min(chars.len() - 1));
                }
                is_long.then(|| chars.into_iter().collect())
            }
            Self::Swapped => {
                let pairs: Vec<usize> = letters
                    .windows(2)
                    .filter(|two| two[1] == two[0] + 1 && chars[two[0]] != chars[two[1]])
                    .map(|two| two[0])
                    .collect();
                if !is_long || pairs.is_empty() {
                    return None;
                }
                let at = *drawing.of(&pairs);
                chars.swap(at, at + 1);
                Some(chars.into_iter().collect())
            }
            Self::Wrong => {
                let at = *drawing.of(&letters);
                let other = char::from(b'a' + drawing.below(26) as u8);
                chars[at] = other;
                is_long.then(|| chars.into_iter().collect())
            }
            Self::Abbreviated => {
                let words = words(ending);
                let short = words.iter().map(|word| word.chars().take(ABBREVIATED));
                let typed: String = short.flatten().collect::<String>().to_lowercase();
                (words.len() >= 2 && typed.chars().count() >= CHARS_MIN).then_some(typed)
            }
            Self::Initials => {
                let words = words(ending);
                let (last, first) = words.split_last()?;
                let initials: String =
                    first.iter().filter_map(|word| word.chars().next()).collect();
                let is_enough = first.len() >= 2 && last.chars().count() >= 4;
                is_enough.then(|| format!("{initials}{last}").to_lowercase())
            }
            Self::Glob => glob(path, drawing),
        }
    }
}

/// Wildcards that a path fits.
fn glob(path: &str, drawing: &mut Drawing) -> Option<String> {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
    let is_plain =
        |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    if stem.len() < 3 || !is_plain(path) {
        return None;
    }
    let top = directory.split('/').next().unwrap_or_default();
    let middle = &stem[1..stem.len() - 1];
    let glob = match drawing.below(8) {
        0 => format!("*.{extension}"),
        1 => format!("{}*.{extension}", &stem[..2]),
        2 => format!("*{middle}*"),
        3 => format!("?{middle}?.{extension}"),
        4 => format!("[{}x]*.{{{extension},zz}}", &stem[..1]),
        5 if !top.is_empty() => format!("{top}/**/*.{extension}"),
        6 if !directory.is_empty() => format!("{directory}/*"),
        7 if !directory.is_empty() => {
            format!("**/{}/{}*", directory.rsplit('/').next()?, &stem[..1])
        }
        _ => format!("{stem}.*"),
    };
    Some(glob)
}
