//! Which letters the paths of a listing have: found out once for all files, so that those that lack one are passed
//! over without their path being put together. Pure.

use moss_sdk::tree_listing::{EntryNumber, TreeNames};

/// What stands for every character that is not ASCII: it may have a lower case that is.
const FOREIGN: u32 = 1 << 31;
/// Letters in either case have a bit of their own, and so do some others; the rest share one.
const DIGIT: u32 = 1 << 26;
const LOW_LINE: u32 = 1 << 27;
const DOT: u32 = 1 << 28;
const SLASH: u32 = 1 << 29;
const OTHER: u32 = 1 << 30;

/// The letters of all paths of a listing, a bit for each.
#[derive(Debug)]
pub struct LetterSets {
    /// By the number of the entry, of its name; by that of the directory, of its path.
    names: Box<[u32]>,
    directories: Box<[u32]>,
}

/// The letters of a text.
pub fn letters_of(text: &[u8]) -> u32 {
    text.iter().fold(0, |letters, byte| letters | letter(*byte))
}

fn letter(byte: u8) -> u32 {
    match byte {
        b'a'..=b'z' => 1 << (byte - b'a'),
        b'A'..=b'Z' => 1 << (byte - b'A'),
        b'0'..=b'9' => DIGIT,
        b'_' => LOW_LINE,
        b'.' => DOT,
        b'/' => SLASH,
        0..=127 => OTHER,
        _ => FOREIGN,
    }
}

// === impl LetterSets ===

impl LetterSets {
    /// Looks at all paths, as seen from the directory that was listed.
    pub fn of(names: &TreeNames) -> Self {
        let entries = 0..EntryNumber::try_from(names.len()).unwrap_or(EntryNumber::MAX);
        let of_directory = |seen: &str| match seen {
            "" => 0,
            seen => letters_of(seen.as_bytes()) | SLASH,
        };
        Self {
            names: entries.map(|number| letters_of(names.name(number).as_bytes())).collect(),
            directories: names
                .directories()
                .iter()
                .map(|at| of_directory(names.seen(at)))
                .collect(),
        }
    }

    /// Whether a file in a directory may have some letters: surely not where this says no.
    pub fn may_hold(&self, file: EntryNumber, directory: usize, letters: u32) -> bool {
        let found = self.names[file as usize] | self.directories[directory];
        letters & !found == 0 || found & FOREIGN != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_told_apart_whatever_their_case() {
        assert_eq!(letters_of(b"ReadMe"), letters_of(b"redam"));
        let all = letters_of(b"src/a_1-b.rs");
        for (text, is_held) in [("bras", true), ("_.-9/", true), ("x", false), ("", true)] {
            assert_eq!(letters_of(text.as_bytes()) & !all == 0, is_held, "{text}");
        }
        assert_ne!(letters_of("é".as_bytes()) & FOREIGN, 0);
    }
}
