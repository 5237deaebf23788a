//! Chinese words of programming and the English words that code has for them: one table.

use std::sync::LazyLock;

use hashbrown::HashMap;
use serde::Deserialize;

const ZH: &str = include_str!("glossary/zh.toml");
/// How much a word counts that stands for several.
const SHARED_WEIGHT: f32 = 0.8;

static ZH_GLOSSARY: LazyLock<Glossary> = LazyLock::new(|| Glossary::read(ZH));

/// Words of another language.
#[derive(Debug)]
pub(crate) struct Glossary {
    entries: HashMap<String, GlossaryEntry>,
    /// The characters of the longest word.
    chars_max: usize,
}

/// What a word means: groups of which each counts, with words of which one is as good as the other. None
/// where it has no meaning of its own.
#[derive(Debug)]
pub(crate) struct GlossaryEntry(Vec<Vec<&'static str>>);

#[derive(Deserialize)]
struct GlossaryFile {
    /// The words of a group are separated by `|`, groups by blanks.
    words: HashMap<String, String>,
}

// === impl Glossary ===

impl Glossary {
    pub(crate) fn zh() -> &'static Self {
        &ZH_GLOSSARY
    }

    fn read(text: &'static str) -> Self {
        let file: GlossaryFile = toml::from_str(text).expect("a test reads the table");
        let entry = |meaning: String| {
            // The table is read once and kept.
            let meaning: &'static str = meaning.leak();
            let groups = meaning.split_whitespace();
            GlossaryEntry(groups.map(|group| group.split('|').collect()).collect())
        };
        let entries: HashMap<String, GlossaryEntry> =
            file.words.into_iter().map(|(word, meaning)| (word, entry(meaning))).collect();
        let chars_max = entries.keys().map(|word| word.chars().count()).max().unwrap_or(0);
        Self { entries, chars_max }
    }

    /// The longest word that a text begins with.
    pub(crate) fn longest<'t>(&self, text: &'t str) -> Option<(&'t str, &GlossaryEntry)> {
        let ends: Vec<usize> =
            text.char_indices().map(|(at, c)| at + c.len_utf8()).take(self.chars_max).collect();
        ends.iter().rev().find_map(|end| {
            let word = &text[..*end];
            self.entries.get(word).map(|entry| (word, entry))
        })
    }
}

// === impl GlossaryEntry ===

impl GlossaryEntry {
    pub(crate) fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = &'static str>> {
        self.0.iter().map(|group| group.iter().copied())
    }

    /// Whether it has no meaning of its own, as a word for `where` does.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn weight(&self) -> f32 {
        if self.0.len() > 1 { SHARED_WEIGHT } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::is_wide;

    #[test]
    fn the_table_is_well_formed() {
        let glossary = Glossary::zh();
        assert!(glossary.entries.len() > 500, "{}", glossary.entries.len());
        for (word, entry) in &glossary.entries {
            assert!(word.chars().all(is_wide), "{word}");
            for english in entry.groups().flatten() {
                let is_word = english.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
                assert!(is_word && english.len() > 1, "{word}: {english}");
            }
        }
    }

    #[test]
    fn the_longest_word_is_found() {
        let glossary = Glossary::zh();
        assert_eq!(glossary.longest("文件系统的").map(|(word, _)| word), Some("文件系统"));
        assert_eq!(glossary.longest("文件的").map(|(word, _)| word), Some("文件"));
        assert!(glossary.longest("龘").is_none() && glossary.longest("").is_none());
    }
}
