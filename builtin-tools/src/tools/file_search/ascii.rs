//! Ranking paths of ASCII by their bytes, for many files: what the directories of a path say is found out
//! once for all files in them. The result is that of a path for itself. Pure.

use super::rank::{MatchClass, PathText, Rank};

/// A pattern that is a part of a name or path, by its bytes.
pub(super) struct AsciiPattern {
    /// As it was given.
    given: Vec<u8>,
    wanted: Vec<u8>,
    /// Those of its letters that any file has that fits, in this order.
    letters: Vec<u8>,
    /// Whether others may stand between them.
    is_fuzzy: bool,
    /// Whether whole paths are looked at.
    in_path: bool,
    has_slash: bool,
}

/// How a pattern fits the directories of a path.
#[derive(Debug, Default)]
pub(super) struct DirectoriesFit {
    class: Option<MatchClass>,
    /// Whether they hold the pattern as it was given.
    has_case: bool,
    /// How many of the letters are in them, in order.
    letters: usize,
    /// What it costs that these are all of them.
    cost: Option<usize>,
}

/// How many letters occur in a text, in this order, whatever stands between them.
fn reached(text: &[u8], letters: &[u8]) -> usize {
    let mut next = 0;
    for byte in text {
        if letters.get(next) == Some(byte) {
            next += 1;
        }
    }
    next
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len().max(1)).any(|window| window == part)
}

// === impl AsciiPattern ===

impl AsciiPattern {
    /// None where the pattern as it is compared has other characters.
    pub(super) fn new(
        given: &str,
        (wanted, letters): (&[char], &[char]),
        is_fuzzy: bool,
        in_path: bool,
    ) -> Option<Self> {
        let bytes = |chars: &[char]| -> Option<Vec<u8>> {
            chars.iter().map(|c| u8::try_from(*c).ok().filter(u8::is_ascii)).collect()
        };
        Some(Self {
            given: given.as_bytes().to_vec(),
            wanted: bytes(wanted)?,
            letters: bytes(letters)?,
            is_fuzzy,
            in_path,
            has_slash: wanted.contains(&'/'),
        })
    }

    /// The letters that the path of any file has that fits.
    pub(super) fn letters(&self) -> &[u8] {
        &self.letters
    }

    /// Compares the directories of a path, up to the slash before the name.
    pub(super) fn fit_directories(&self, text: &PathText<'_, u8>) -> DirectoriesFit {
        let has_case = holds(text.given, &self.given);
        if !self.in_path {
            return DirectoriesFit { has_case, ..DirectoriesFit::default() };
        }
        let letters = reached(text.chars, &self.letters);
        let is_all = letters == self.letters.len();
        DirectoriesFit {
            class: if self.has_slash { None } else { text.class_in_directories(&self.wanted) },
            has_case,
            letters,
            cost: if is_all { text.scatter_in_path(&self.letters) } else { None },
        }
    }

    /// Says how well a path fits whose directories were compared; none where it does not.
    pub(super) fn rank(
        &self,
        path: &str,
        text: &PathText<'_, u8>,
        directories: &DirectoriesFit,
    ) -> Option<Rank> {
        let DirectoriesFit { letters, .. } = *directories;
        let left = &self.letters[letters..];
        if reached(&text.chars[text.name..], left) < left.len() {
            return None;
        }
        let (class, cost) = self.class(text, directories)?;
        // A part without a slash is in the name or in the directories.
        let from = if self.has_slash { 0 } else { text.name };
        let has_case = directories.has_case || holds(&text.given[from..], &self.given);
        Some(Rank::new(class, cost, has_case, path))
    }

    fn class(
        &self,
        text: &PathText<'_, u8>,
        directories: &DirectoriesFit,
    ) -> Option<(MatchClass, usize)> {
        let fits = match self.has_slash {
            true => text.class_of_path(&self.wanted),
            false => text.class_of_name(&self.wanted).or(directories.class),
        };
        if let Some(class) = fits {
            return Some((class, 0));
        }
        if !self.is_fuzzy {
            return None;
        }
        let in_name = text.scatter_in_name(&self.letters);
        if let Some(cost) = in_name.filter(|cost| *cost <= self.letters.len()) {
            return Some((MatchClass::NameLetters, cost));
        }
        let in_path = match self.in_path {
            true if directories.letters == self.letters.len() => directories.cost,
            true => text.scatter_in_path(&self.letters),
            false => None,
        };
        let cost = in_name.into_iter().chain(in_path).min()?;
        Some((MatchClass::PathLetters, cost))
    }
}
