//! The words of texts: identifiers as a whole and in parts, stems of words, pairs of Chinese
//! characters.

use hashbrown::HashMap;

use crate::forms::stem;

/// Longer words are of no use to anybody: keys, hashes, encoded data.
const WORD_BYTES_MAX: usize = 64;
/// Longest numbers that are words.
const DIGITS_MAX: usize = 6;
/// Most stems that are kept.
const KEPT_MAX: usize = 200_000;
/// Words that stand in every text and say nothing of it.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "did", "do", "does", "for",
    "from", "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "no",
    "not", "of", "on", "or", "our", "should", "so", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "us", "was", "we", "were", "what",
    "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// Whether a word has no meaning by itself.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Takes the words of texts one after the other.
#[derive(Debug, Default)]
pub(crate) struct WordReader {
    /// The stems of words that came before.
    stems: HashMap<Box<str>, Box<str>>,
    whole: String,
}

/// What a run of characters is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunKind {
    Word,
    Wide,
    Nothing,
}

/// Whether a character is of a script that writes no blanks between words.
pub(crate) fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ac00}'..='\u{d7af}')
}

fn run_kind(c: char) -> RunKind {
    if c.is_ascii_alphanumeric() || c == '_' {
        RunKind::Word
    } else if c.is_ascii() {
        RunKind::Nothing
    } else if is_wide(c) {
        RunKind::Wide
    } else if c.is_alphanumeric() {
        RunKind::Word
    } else {
        RunKind::Nothing
    }
}

/// Splits a text into identifiers and runs of wide characters.
pub(crate) fn runs(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            let kind = run_kind(first);
            let end = rest.find(|c| run_kind(c) != kind).unwrap_or(rest.len());
            let (run, behind) = rest.split_at(end);
            rest = behind;
            if kind != RunKind::Nothing {
                return Some((kind == RunKind::Wide, run));
            }
        }
    })
}

/// Finds the first word of a text that a term stands for, as it is written there.
pub(crate) fn spelled<'t>(text: &'t str, term: &str) -> Option<&'t str> {
    let mut reader = WordReader::default();
    for (is_wide, run) in runs(text) {
        if is_wide {
            let found = run.find(term).map(|at| &run[at..at + term.len()]);
            if found.is_some() {
                return found;
            }
            continue;
        }
        let has =
            |reader: &mut WordReader, word: &str| reader.words(word).iter().any(|own| own == term);
        if has(&mut reader, run) {
            let part = parts(run).find(|part| has(&mut reader, part));
            return Some(part.unwrap_or(run));
        }
    }
    None
}

/// The term for two stems beside each other in a name, whichever is first.
pub(crate) fn pair(one: &str, other: &str) -> String {
    let (first, last) = if one <= other { (one, other) } else { (other, one) };
    format!("{first}|{last}")
}

/// Splits an identifier at underscores, humps and digits.
pub(crate) fn parts(identifier: &str) -> impl Iterator<Item = &str> {
    let mut rest = identifier.trim_matches('_');
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches('_');
        if rest.is_empty() {
            return None;
        }
        let (part, behind) = rest.split_at(part_end(rest));
        rest = behind;
        Some(part)
    })
}

/// Where the first part of an identifier ends.
fn part_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    let Some((_, first)) = chars.next() else { return 0 };
    let mut before = first;
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        if c == '_' || c.is_ascii_digit() != before.is_ascii_digit() {
            return at;
        }
        if c.is_uppercase() && !before.is_uppercase() {
            return at;
        }
        // The last letter of an acronym begins the next word: `HTTPServer`.
        let begins_word = before.is_uppercase()
            && c.is_uppercase()
            && next.is_some_and(|next| next.is_lowercase() && next != 's');
        if begins_word {
            return at;
        }
        before = c;
    }
    text.len()
}

// === impl WordReader ===

impl WordReader {
    /// Shows every word of a text.
    pub(crate) fn read(&mut self, text: &str, see: &mut dyn FnMut(&str)) {
        for (is_wide, run) in runs(text) {
            match is_wide {
                true => pairs(run, see),
                false => self.identifier(run, see),
            }
        }
    }

    /// Shows the parts of an identifier and, where there are several, all of it.
    pub(crate) fn identifier(&mut self, identifier: &str, see: &mut dyn FnMut(&str)) {
        if identifier.len() > WORD_BYTES_MAX {
            return;
        }
        let mut whole = std::mem::take(&mut self.whole);
        whole.clear();
        let mut count = 0;
        for part in parts(identifier) {
            count += 1;
            let start = whole.len();
            if part.is_ascii() {
                whole.push_str(part);
                whole[start..].make_ascii_lowercase();
            } else {
                whole.extend(part.chars().flat_map(char::to_lowercase));
            }
            self.part(&whole[start..], see);
        }
        if count > 1 && whole.len() > 3 && !whole.starts_with(|c: char| c.is_ascii_digit()) {
            see(&whole);
        }
        self.whole = whole;
    }

    /// Shows the stem of one lower-case word.
    fn part(&mut self, part: &str, see: &mut dyn FnMut(&str)) {
        let digits = part.starts_with(|c: char| c.is_ascii_digit());
        if part.len() < 2 || digits && part.len() > DIGITS_MAX || is_stop_word(part) {
            return;
        }
        if let Some(known) = self.stems.get(part) {
            return see(known);
        }
        let stem = stem(part);
        see(&stem);
        if self.stems.len() < KEPT_MAX {
            self.stems.insert(part.into(), stem.into());
        }
    }

    /// Returns all words of a text.
    pub(crate) fn words(&mut self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.read(text, &mut |word| words.push(word.to_owned()));
        words
    }
}

/// Shows each pair of neighbours, or the only character.
fn pairs(run: &str, see: &mut dyn FnMut(&str)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    if starts.len() == 2 {
        return see(run);
    }
    for pair in starts.windows(3) {
        see(&run[pair[0]..pair[2]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_split_as_people_read_them() {
        for (identifier, expected) in [
            ("parse_expression", &["parse", "expression"][..]),
            ("parseExpression", &["parse", "Expression"]),
            ("HTTPServer", &["HTTP", "Server"]),
            ("XMLHttpRequest2", &["XML", "Http", "Request", "2"]),
            ("__init__", &["init"]),
            ("utf8_decode", &["utf", "8", "decode"]),
            ("MAX_SIZE", &["MAX", "SIZE"]),
            ("URLs", &["URLs"]),
            ("é_Été", &["é", "Été"]),
            ("_", &[]),
            ("", &[]),
        ] {
            assert_eq!(parts(identifier).collect::<Vec<_>>(), expected, "{identifier}");
        }
    }

    #[test]
    fn words_are_found_as_they_are_written() {
        for (text, word, expected) in [
            ("fn loadConfigs(path)", "config", Some("Configs")),
            ("fn parse_files(x)", "file", Some("files")),
            ("lock", "file", None),
        ] {
            let term = WordReader::default().words(word)[0].to_string();
            assert_eq!(spelled(text, &term), expected, "{text}");
        }
        assert_eq!(spelled("// 读取文件", "文件"), Some("文件"));
    }

    #[test]
    fn texts_have_stems_wholes_and_pairs() {
        let mut reader = WordReader::default();
        for (text, expected) in [
            ("fn parseFiles(x)", &["function", "pars", "file", "parsefiles"][..]),
            ("the cat is", &["cat"]),
            ("读取文件", &["读取", "取文", "文件"]),
            ("锁 lock", &["锁", "lock"]),
            ("deadbeef1234567890", &["deadbeef", "deadbeef1234567890"]),
            ("!!!", &[]),
        ] {
            assert_eq!(reader.words(text), expected, "{text}");
        }
        assert!(STOP_WORDS.is_sorted());
    }
}
