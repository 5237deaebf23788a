//! The languages that texts for models and people are in.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// How much of a text is read to detect its language, in characters.
const SAMPLE_CHARS_MAX: usize = 4000;
/// One Chinese character says about as much as this many Latin letters.
const LETTERS_PER_HAN: usize = 8;

/// The language of what models and people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English, where nothing says otherwise.
    #[default]
    En,
    /// Chinese; what moss writes is in simplified characters.
    Zh,
}

/// What is written once for every language.
#[derive(Debug)]
pub(crate) struct InLanguages<T> {
    en: T,
    zh: T,
}

// === impl InLanguages ===

impl<T: DeserializeOwned> InLanguages<T> {
    /// Reads the committed tables of a part of the crate.
    pub(crate) fn read(en: &str, zh: &str) -> Self {
        let read = |text| toml::from_str(text).expect("the committed texts read");
        Self { en: read(en), zh: read(zh) }
    }

    pub(crate) fn of(&self, language: Language) -> &T {
        match language {
            Language::En => &self.en,
            Language::Zh => &self.zh,
        }
    }
}

// === impl Language ===

impl Language {
    /// Reports the language of a text: Chinese where Chinese characters say more than Latin
    /// letters, English for anything else.
    pub fn of(text: &str) -> Self {
        let (mut han, mut letters) = (0, 0);
        for c in text.chars().take(SAMPLE_CHARS_MAX) {
            if is_han(c) {
                han += 1;
            } else if c.is_ascii_alphabetic() {
                letters += 1;
            }
        }
        if han * LETTERS_PER_HAN > letters { Self::Zh } else { Self::En }
    }
}

/// Whether a character is a Chinese one: those of the unified blocks that texts of today use.
pub(crate) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_the_one_that_says_more() {
        for (text, language) in [
            ("", Language::En),
            ("Read the file", Language::En),
            ("读取 src/main.rs", Language::Zh),
            ("Rename 用户 to account everywhere in the project", Language::En),
            ("运行 cargo test --workspace 并修复所有错误", Language::Zh),
        ] {
            assert_eq!(Language::of(text), language, "{text}");
        }
    }
}
