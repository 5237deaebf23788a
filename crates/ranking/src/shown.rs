//! What is shown of a hit: why it was found, and the lines of it that say most about that.

use moss_sdk::code_search::{CodeHit, MatchField, MatchedWord};

use crate::words::spelled;

/// Most bytes of why a result was found.
const WHY_BYTES_MAX: usize = 240;
/// Most words of a question that are named of a result.
const WORDS_MAX: usize = 8;
/// Most lines of a snippet.
const LINES_MAX: usize = 12;
/// Most bytes of one line.
const LINE_BYTES_MAX: usize = 160;

/// How lines begin that are comments.
const COMMENT_SIGNS: [&str; 6] = ["//", "/*", "*", "# ", "--", "\"\"\""];

/// What is shown of a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownHit {
    /// Which words of the question it has, and where, in at most 240 bytes.
    pub why: String,
    /// The number of the first of `lines`.
    pub line: u32,
    /// Its lines that have most of those words, or that declare the name that is asked for.
    pub lines: String,
}

/// A word that a place has.
struct FoundWord<'a> {
    place: MatchField,
    /// As the question has it, or, where that is of another language, as the place has it.
    written: &'a str,
    /// The word of the question that this translates.
    translated: Option<&'a str>,
}

/// Says which words of a question a place has, by where it has them.
fn why(hit: &CodeHit, found: &[FoundWord<'_>], is_related: bool) -> String {
    const PLACES: [(MatchField, &str); 6] = [
        (MatchField::Name, "name"),
        (MatchField::Container, "container"),
        (MatchField::Path, "path"),
        (MatchField::Documentation, "documentation"),
        (MatchField::Text, "text"),
        (MatchField::Commits, "commits"),
    ];
    let mut reasons = Vec::new();
    if hit.is_named {
        let named = if is_related { "used there" } else { "declares the name in the query" };
        reasons.push(named.to_owned());
    }
    let mut left = WORDS_MAX;
    for (place, name) in PLACES {
        let here = found.iter().filter(|word| word.place == place);
        let words: Vec<String> = here.map(FoundWord::shown).take(left).collect();
        left -= words.len();
        if !words.is_empty() {
            reasons.push(format!("{name}: {}", words.join(", ")));
        }
    }
    if hit.is_near {
        reasons.push("meaning".to_owned());
    }
    reasons.join("; ")
}

// === impl ShownHit ===

impl ShownHit {
    /// Reads what to show of a hit in the text of its file; `is_related` where a place is asked about, and no question put.
    pub fn of(hit: &CodeHit, text: &str, is_related: bool) -> Self {
        let found: Vec<FoundWord<'_>> =
            hit.matched.iter().map(|matched| FoundWord::of(matched, hit, text)).collect();
        let words: Vec<&str> = found.iter().map(|word| word.written).collect();
        let name = hit.name.as_deref().filter(|_| hit.is_named && hit.kind != Some("section"));
        let (line, lines) = snippet(text, hit.lines, &words, name);
        Self { why: short(why(hit, &found, is_related)), line, lines }
    }
}

// === impl FoundWord ===

impl<'a> FoundWord<'a> {
    fn of(matched: &'a MatchedWord, hit: &'a CodeHit, text: &'a str) -> Self {
        let MatchedWord { word, term, place } = matched;
        if word.is_ascii() || word == term {
            return Self { place: *place, written: word, translated: None };
        }
        let written = match place {
            MatchField::Name => hit.name.as_deref().and_then(|name| spelled(name, term)),
            MatchField::Container => hit.container.as_deref().and_then(|own| spelled(own, term)),
            MatchField::Path => spelled(hit.path.as_str(), term),
            // Documentation stands right before what it is of.
            MatchField::Documentation | MatchField::Text => {
                spelled(lines_of(text, hit.lines), term).or_else(|| spelled(text, term))
            }
            MatchField::Commits => None,
        };
        Self { place: *place, written: written.unwrap_or(term), translated: Some(word) }
    }

    fn shown(&self) -> String {
        match self.translated {
            Some(word) => format!("{} ({word})", self.written),
            None => self.written.to_owned(),
        }
    }
}

fn lines_of(text: &str, (first, last): (u32, u32)) -> &str {
    let lines = text.split_inclusive('\n').map(str::len);
    let bytes = |count: u32| lines.clone().take(count as usize).sum::<usize>();
    &text[bytes(first.saturating_sub(1))..bytes(last)]
}

fn short(mut text: String) -> String {
    if text.len() > WHY_BYTES_MAX {
        text.truncate(text.floor_char_boundary(WHY_BYTES_MAX));
        text.push('…');
    }
    text
}

/// Returns the lines of a place, or, of many, those that begin where a name is declared or else have most of some words,
/// and the number of the first.
fn snippet(
    text: &str,
    (first, last): (u32, u32),
    words: &[&str],
    name: Option<&str>,
) -> (u32, String) {
    let count = (last + 1).saturating_sub(first) as usize;
    let lines: Vec<&str> =
        text.lines().skip(first.saturating_sub(1) as usize).take(count).collect();
    let declared = name.and_then(|name| declared_start(&lines, name));
    let start = declared.unwrap_or_else(|| best_start(&lines, words));
    let shown = lines.iter().skip(start).take(LINES_MAX).map(|line| cut(line));
    let shown: Vec<String> = shown.collect();
    (first + u32::try_from(start).unwrap_or_default(), shown.join("\n"))
}

/// Where the window begins that has the line of a declaration, and all lines behind it that it has room for.
fn declared_start(lines: &[&str], name: &str) -> Option<usize> {
    let is_comment = |line: &str| COMMENT_SIGNS.iter().any(|sign| line.starts_with(sign));
    let declares = |line: &&str| line.contains(name) && !is_comment(line.trim_start());
    let at = lines.iter().position(declares)?;
    Some(at.min(lines.len().saturating_sub(LINES_MAX)))
}

/// Where the window begins that has most words; the first of several.
fn best_start(lines: &[&str], words: &[&str]) -> usize {
    if lines.len() <= LINES_MAX {
        return 0;
    }
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let has = |line: &&str| {
        let line = line.to_lowercase();
        words.iter().filter(|word| line.contains(word.as_str())).count()
    };
    let counts: Vec<usize> = lines.iter().map(has).collect();
    let windows = counts.windows(LINES_MAX).map(|window| window.iter().sum::<usize>());
    let best = windows.enumerate().max_by_key(|(at, sum)| (*sum, std::cmp::Reverse(*at)));
    best.map_or(0, |(at, _)| at)
}

fn cut(line: &str) -> String {
    let line = line.trim_end();
    if line.len() <= LINE_BYTES_MAX {
        return line.to_owned();
    }
    format!("{}…", &line[..line.floor_char_boundary(LINE_BYTES_MAX)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_with_most_words_are_shown() {
        let text: String = (1..=100).map(|n| format!("line {n}\n")).collect();
        let (start, shown) = snippet(&text, (10, 80), &["40", "42"], None);
        assert!((30..=40).contains(&start), "{start}");
        assert!(shown.contains("line 40\n") && shown.contains("line 42"), "{shown}");
        assert_eq!(snippet(&text, (5, 6), &["x"], None), (5, "line 5\nline 6".to_owned()));
        assert_eq!(snippet(&text, (200, 300), &[], None), (200, String::new()));
        let long = "é".repeat(500);
        assert!(snippet(&long, (1, 1), &[], None).1.len() < 200);
    }

    #[test]
    fn where_a_name_is_asked_for_its_declaration_is_shown() {
        let comment = "/// Opens a store, open.\n".repeat(20);
        let body = "    open open open\n".repeat(20);
        let text = format!("{comment}fn open() {{\n{body}}}\n");
        assert_eq!(snippet(&text, (1, 42), &["open"], Some("open")).0, 21);
        assert_eq!(snippet(&text, (1, 22), &["open"], Some("open")).0, 11);
        assert_eq!(snippet(&text, (1, 42), &["fn"], Some("close")).0, 10);
    }
}
