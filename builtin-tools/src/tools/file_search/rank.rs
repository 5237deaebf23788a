//! How well the name of a file fits what somebody remembers of it. Pure.

use moss_ranking::typo;

/// Scattered letters fit where what stands between them costs at most so much for each of them.
const LETTER_COST_MAX: usize = 4;
/// What a letter costs that neither starts a word nor follows the letter before it.
const LOOSE_LETTER_COST: usize = 3;
/// What stands between two letters costs at most so much where fitting files are compared: words that are left out
/// say little about which one is meant.
const GAP_COST_MAX: usize = 3;
/// One more typo is forgiven for so many characters, where other names have all the letters.
const CHARS_PER_TYPO: usize = 12;
/// Shortest name that is compared for likeness, and the longest, in characters.
const LIKE_CHARS: std::ops::RangeInclusive<usize> = 3..=100;
/// One wrong character is forgiven for so many right ones.
const CHARS_PER_ERROR: usize = 4;

/// How a file fits; the better, the smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    class: MatchClass,
    /// Where it comes among the files that the caller is busy with.
    place: u32,
    cost: usize,
    has_other_case: bool,
    path_bytes: usize,
}

/// In which way a file fits, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MatchClass {
    /// It is the name, or the last names of the path.
    Name,
    /// It is the name without its extension.
    Stem,
    /// The name starts so.
    NameStart,
    /// A word of the name starts so.
    NameWord,
    /// It occurs in the name.
    NamePart,
    /// It is a directory of the path.
    Directory,
    /// A word of the path starts so.
    PathWord,
    /// It occurs in the path.
    PathPart,
    /// The name, or the last names of the path, are a typo away.
    Typo,
    /// Its letters occur in the name in this order, close together or at the start of words.
    NameLetters,
    /// A directory of the path is a typo away.
    DirectoryTypo,
    /// Its letters occur in the path in this order.
    PathLetters,
    /// The name looks like it.
    Similar,
    /// A part of the name looks like it.
    SimilarPart,
    /// A part of the path looks like it.
    SimilarPath,
}

/// A character of a path: one of any alphabet, or the byte of an ASCII one.
pub(super) trait PathChar: Copy + Eq {
    /// Returns it as a character.
    fn as_char(self) -> char;
}

/// A path as names are compared.
#[derive(Clone, Copy)]
pub(super) struct PathText<'a, C> {
    /// As it was given.
    pub(super) given: &'a [C],
    /// In lower case, one for each character of the path.
    pub(super) chars: &'a [C],
    /// Where the file name starts.
    pub(super) name: usize,
}

/// The characters of a path of any alphabet.
pub(super) struct PathChars {
    given: Vec<char>,
    chars: Vec<char>,
}

/// Brings a text into the form in which names are compared.
pub(super) fn folded(text: &str) -> Vec<char> {
    text.chars().map(fold).collect()
}

/// Leaves out what separates words.
pub(super) fn letters(folded: &[char]) -> Vec<char> {
    folded.iter().copied().filter(|c| !c.is_whitespace() && !['_', '-'].contains(c)).collect()
}

/// Lower case, where that is one character.
fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).unwrap_or(c)
}

/// Whether letters may occur in a text in this order, whatever their case: surely not where this says
/// no, at little cost.
pub(super) fn may_hold(text: &str, letters: &[char]) -> bool {
    if !text.is_ascii() {
        // Characters that are not ASCII may have a lower case that is.
        return true;
    }
    let mut wanted = letters.iter();
    let mut next = wanted.next();
    for byte in text.bytes() {
        if next.is_some_and(|letter| char::from(byte.to_ascii_lowercase()) == *letter) {
            next = wanted.next();
        }
    }
    next.is_none()
}

/// How many wrong characters are forgiven in a whole name.
pub(super) fn errors_max(wanted: &[char]) -> usize {
    (wanted.len() / CHARS_PER_ERROR).max(1)
}

/// How many wrong characters make a typo of a whole name.
pub(super) fn typos_max(wanted: &[char]) -> usize {
    1 + wanted.len() / CHARS_PER_TYPO
}

/// Where a text occurs in another.
fn places<C: PathChar>(text: &[C], wanted: &[C]) -> impl Iterator<Item = usize> {
    let first = wanted.first().copied();
    text.windows(wanted.len().max(1))
        .enumerate()
        .filter(move |(_, w)| w.first().copied() == first && *w == wanted)
        .map(|(at, _)| at)
}

/// Whether a word starts at a character, given its neighbours.
fn starts_word(before: Option<char>, c: char, after: Option<char>) -> bool {
    let Some(before) = before else { return true };
    let is_hump =
        c.is_uppercase() && (!before.is_uppercase() || after.is_some_and(char::is_lowercase));
    !before.is_alphanumeric() || is_hump || c.is_numeric() != before.is_numeric()
}

// === impl Rank ===

impl Rank {
    /// The rank of files among which there is no better one.
    pub(super) fn equal() -> Self {
        Self { class: MatchClass::Name, place: 0, cost: 0, has_other_case: false, path_bytes: 0 }
    }

    pub(super) fn new(class: MatchClass, cost: usize, has_case: bool, path: &str) -> Self {
        let path_bytes = path.len();
        Self { class, place: u32::MAX, cost, has_other_case: !has_case, path_bytes }
    }

    pub(super) fn class(self) -> MatchClass {
        self.class
    }

    /// The same among files that the caller is busy with.
    #[must_use]
    pub(super) fn at(self, place: u32) -> Self {
        Self { place, ..self }
    }
}

// === impl PathChar ===

impl PathChar for char {
    fn as_char(self) -> char {
        self
    }
}

impl PathChar for u8 {
    fn as_char(self) -> char {
        self.into()
    }
}

// === impl PathChars ===

impl PathChars {
    pub(super) fn new(path: &str) -> Self {
        let given: Vec<char> = path.chars().collect();
        Self { chars: given.iter().copied().map(fold).collect(), given }
    }

    pub(super) fn text(&self) -> PathText<'_, char> {
        let name = self.given.iter().rposition(|c| *c == '/').map_or(0, |at| at + 1);
        PathText { given: &self.given, chars: &self.chars, name }
    }
}

// === impl PathText ===

impl<C: PathChar> PathText<'_, C> {
    /// Whether a word starts at a character.
    fn starts(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|at| self.given[at].as_char());
        let after = self.given.get(at + 1).map(|c| c.as_char());
        starts_word(before, self.given[at].as_char(), after)
    }

    /// Whether a text occurs in the path, or only in the name.
    pub(super) fn holds(&self, wanted: &[C], only_name: bool) -> bool {
        let from = if only_name { self.name } else { 0 };
        places(&self.chars[from..], wanted).next().is_some()
    }

    /// How a text without slashes fits the name.
    pub(super) fn class_of_name(&self, wanted: &[C]) -> Option<MatchClass> {
        let name = &self.chars[self.name..];
        if name == wanted {
            return Some(MatchClass::Name);
        }
        if self.stem(self.name) == wanted {
            return Some(MatchClass::Stem);
        }
        if name.starts_with(wanted) {
            return Some(MatchClass::NameStart);
        }
        let class = |at| {
            if self.starts(self.name + at) { MatchClass::NameWord } else { MatchClass::NamePart }
        };
        places(name, wanted).map(class).min()
    }

    /// How a text without slashes fits the directories.
    pub(super) fn class_in_directories(&self, wanted: &[C]) -> Option<MatchClass> {
        let directories = &self.chars[..self.name];
        if directories.split(|c| c.as_char() == '/').any(|directory| directory == wanted) {
            return Some(MatchClass::Directory);
        }
        let class = |at| if self.starts(at) { MatchClass::PathWord } else { MatchClass::PathPart };
        places(directories, wanted).map(class).min()
    }

    /// How a text with slashes fits the path.
    pub(super) fn class_of_path(&self, wanted: &[C]) -> Option<MatchClass> {
        let ends_so = |path: &[C]| {
            let rest = path.strip_suffix(wanted);
            rest.is_some_and(|rest| rest.last().is_none_or(|c| c.as_char() == '/'))
        };
        if ends_so(self.chars) {
            return Some(MatchClass::Name);
        }
        if ends_so(self.stem(0)) {
            return Some(MatchClass::Stem);
        }
        let class = |at| if self.starts(at) { MatchClass::PathWord } else { MatchClass::PathPart };
        places(self.chars, wanted).map(class).min()
    }

    pub(super) fn scatter_in_name(&self, letters: &[C]) -> Option<usize> {
        self.scatter(self.name, letters)
    }

    pub(super) fn scatter_in_path(&self, letters: &[C]) -> Option<usize> {
        self.scatter(0, letters)
    }

    /// The path from somewhere on, without the extension of the name.
    fn stem(&self, from: usize) -> &[C] {
        let dot = self.chars[self.name..].iter().rposition(|c| c.as_char() == '.');
        let dot = dot.filter(|at| *at > 0);
        &self.chars[from..dot.map_or(self.chars.len(), |at| self.name + at)]
    }

    /// What it costs to find letters in this order from somewhere on: what stands between them, and
    /// letters that are neither at the start of a word nor beside the one before.
    fn scatter(&self, from: usize, letters: &[C]) -> Option<usize> {
        let mut wanted = letters.iter();
        let mut next = *wanted.next()?;
        // The shortest stretch that ends where the letters are first complete.
        let mut last = None;
        for (at, c) in self.chars.iter().enumerate().skip(from) {
            if *c != next {
                continue;
            }
            match wanted.next() {
                Some(letter) => next = *letter,
                None => {
                    last = Some(at);
                    break;
                }
            }
        }
        let last = last?;
        let mut at = last + 1;
        let (mut loose, mut gaps) = (0, 0);
        let mut after: Option<usize> = None;
        for letter in letters.iter().rev() {
            at = self.chars[..at].iter().rposition(|c| c == letter)?;
            // Whether the letter after this one follows it directly.
            if let Some(after) = after {
                loose += usize::from(after != at + 1 && !self.starts(after));
                gaps += GAP_COST_MAX.min(after - at - 1);
            }
            after = Some(at);
        }
        loose += usize::from(!self.starts(at));
        let between = last + 1 - at - letters.len();
        let is_close = between + LOOSE_LETTER_COST * loose <= LETTER_COST_MAX * letters.len();
        is_close.then_some(gaps + LOOSE_LETTER_COST * loose)
    }
}

impl PathText<'_, char> {
    /// How many characters the name is away from a text, where that is few. Of a text with slashes as many of the last
    /// names of the path are compared, and where they are too far away, the name alone, after all others.
    pub(super) fn distance(&self, wanted: &[char]) -> Option<usize> {
        let names = wanted.iter().filter(|c| **c == '/').count();
        if names == 0 {
            return self.distance_from(self.name, wanted);
        }
        let slashes = self.chars[..self.name].iter().enumerate().rev().filter(|(_, c)| **c == '/');
        let from = slashes.map(|(at, _)| at + 1).nth(names).unwrap_or(0);
        let name = wanted.rsplit(|c| *c == '/').next()?;
        let of_name = || Some(self.distance_from(self.name, name)? + errors_max(wanted));
        self.distance_from(from, wanted).or_else(of_name)
    }

    fn distance_from(&self, from: usize, wanted: &[char]) -> Option<usize> {
        let name = &self.chars[from..];
        if !LIKE_CHARS.contains(&wanted.len()) || !LIKE_CHARS.contains(&name.len()) {
            return None;
        }
        let errors_max = errors_max(wanted);
        let wanted: String = wanted.iter().collect();
        let distance =
            |name: &[char]| strsim::osa_distance(&wanted, &name.iter().collect::<String>());
        let distance = distance(name).min(distance(self.stem(from)));
        (distance <= errors_max).then_some(distance)
    }

    /// How a part of the name or the path fits with a typo, and how many characters are wrong.
    pub(super) fn part_with_typo(
        &self,
        wanted: &[char],
        only_name: bool,
    ) -> Option<(MatchClass, usize)> {
        let errors_max = typo::part_errors_max(wanted)?;
        let errors = |text| typo::errors_in_stretch(text, wanted, errors_max);
        let of_name = errors(&self.chars[self.name..]);
        let of_name = of_name.map(|errors| (MatchClass::SimilarPart, errors));
        let in_path = || errors(self.chars).map(|errors| (MatchClass::SimilarPath, errors));
        of_name.or_else(|| if only_name { None } else { in_path() })
    }
}
