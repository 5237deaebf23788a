//! Text as sentences of plain words: lower case, contractions written out, code and quotes gone.

use std::sync::LazyLock;

use regex::Regex;

use super::folding::one_writing;
use crate::language::is_han;

/// Stands for code in a line and for paths.
pub(super) const CODE: char = '§';
/// Stands for what is quoted.
const QUOTE: char = '†';
/// How much of a text is read, from its beginning and from its end, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// How many sentences are read.
const SENTENCES_MAX: usize = 400;
/// The longest quote that stands in a sentence, in characters.
const QUOTE_CHARS_MAX: usize = 400;

/// What a sentence may begin with that is no word.
const OPENERS: &[char] = &[CODE, QUOTE, '[', '(', '（', '【', '<', '-', '_', '.', '…', '~'];

/// English contractions and what they stand for, so that phrases need only one form.
const CONTRACTIONS: &[(&str, &str)] = &[
    ("can't", "cannot"),
    ("won't", "will not"),
    ("shan't", "shall not"),
    ("let's", "let us"),
    ("n't", " not"),
    ("'ll", " will"),
    ("i'm", "i am"),
    ("'ve", " have"),
    ("'re", " are"),
    ("i'd", "i would"),
    ("you'd", "you would"),
    ("we'd", "we would"),
    ("what's", "what is"),
    ("where's", "where is"),
    ("here's", "here is"),
    ("there's", "there is"),
    ("it's", "it is"),
    ("that's", "that is"),
];

/// A sentence, or a block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    /// Its words, with what ends it: `.`, `?`, `…` or `:`. Empty for a block of code.
    pub(super) text: String,
    /// Whether it begins an item of a list.
    pub(super) is_item: bool,
    /// Whether it stands for a block of code.
    pub(super) is_code: bool,
}

static PATH: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"(?:https?://[^\s\p{Han}]+)",
        r"|(?:~|\.{1,2})?/[A-Za-z_.][\w.\-]*(?:/[\w.\-]*)*",
        r"|(?:[A-Za-z0-9_.\-]+/)+[A-Za-z0-9_.\-]*\.[A-Za-z0-9]{1,8}",
        r"|\b(?:src|tests?|lib|docs|app|bin|config|build|dist|target|public|crates|scripts)",
        r"/[A-Za-z0-9_./\-]*",
        r"|[A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]+)*\.(?:rs|py|tsx?|jsx?|mjs|go|java|kt|c|h|cc|cpp|hpp",
        r"|cs|rb|php|swift|scala|sh|bash|ps1|toml|json|ya?ml|xml|html?|css|scss|vue|svelte|md|txt",
        r"|lock|log|ini|cfg|conf|env|sql|proto|csv|gradle|bin|bak|tmp|out|dat|db|sqlite|pdf|docx?|xlsx?|png|jpe?g|svg|zip|tar|gz|diff|patch|ipynb",
        r"|dart|hs|lua|zig|wasm|graphql|prisma|tf|bat|cmake|properties|plist|rst|tex|pid|sock|pem|crt)\b",
        r"|(?-u:\B)\.(?:env|gitignore|gitattributes|bashrc|zshrc|profile|npmrc|editorconfig)\b",
        r"|\b(?:README|Makefile|Dockerfile|LICENSE|CHANGELOG)\b",
    );
    Regex::new(&pattern.replace(r"[\w.\-]", r"[A-Za-z0-9_.\-]")).expect("a pattern of ours")
});

/// Names that look like files and are none.
const NO_FILES: &[&str] =
    &["node.js", "next.js", "vue.js", "react.js", "express.js", "three.js", "d3.js", "nuxt.js"];

/// Takes a text apart.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut fence: Option<&str> = None;
    for line in ends(text).lines() {
        let start = line.trim_start();
        let mark = fence_mark(start);
        match (fence, mark) {
            (Some(open), Some(mark)) if mark.starts_with(open) => fence = None,
            (Some(_), _) => {}
            (None, Some(mark)) => {
                fence = Some(mark);
                sentences.push(Sentence { text: String::new(), is_item: false, is_code: true });
            }
            (None, None) if start.starts_with('>') => {}
            (None, None) => split(start, &mut sentences),
        }
        if sentences.len() >= SENTENCES_MAX {
            break;
        }
    }
    sentences
}

/// The text as one line of plain words, for requests, and whether it has a block of code. Code in
/// a line counts only where it names a file.
pub(super) fn flat(text: &str) -> (String, bool) {
    let sentences =
        sentences(&without_code(text, |code| if PATH.is_match(code) { CODE } else { QUOTE }));
    let words: Vec<&str> = sentences.iter().map(|sentence| sentence.text.as_str()).collect();
    (words.join(" ").trim().to_owned(), sentences.iter().any(|sentence| sentence.is_code))
}

/// Beginning and end of a long text.
fn ends(text: &str) -> String {
    if text.len() <= 2 * TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(TEXT_BYTES_MAX);
    let tail = text.ceil_char_boundary(text.len() - TEXT_BYTES_MAX);
    format!("{}\n{}", &text[..head], &text[tail..])
}

fn fence_mark(line: &str) -> Option<&str> {
    ["```", "~~~"].iter().find(|mark| line.starts_with(**mark)).map(|mark| {
        let run = line.len() - line.trim_start_matches(&mark[..1]).len();
        &line[..run]
    })
}

fn split(line: &str, sentences: &mut Vec<Sentence>) {
    let (line, mut is_item) = without_list_mark(line);
    let plain = plain(line);
    let mut text = String::new();
    let mut rest = plain.chars().peekable();
    while let Some(c) = rest.next() {
        text.push(c);
        let ends_here = match c {
            '?' | '…' | ';' => true,
            '.' | ':' => rest.peek().is_none_or(|next| next.is_whitespace() || is_han(*next)),
            _ => false,
        };
        if ends_here {
            finish(&mut text, &mut is_item, sentences);
        }
    }
    finish(&mut text, &mut is_item, sentences);
}

fn finish(text: &mut String, is_item: &mut bool, sentences: &mut Vec<Sentence>) {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.clear();
    // Pictures before the words are none of them.
    let words = words.trim_start_matches(|c: char| !c.is_alphanumeric() && !OPENERS.contains(&c));
    if words.chars().any(|c| c.is_alphanumeric() || c == CODE || c == QUOTE) {
        let ended = words.ends_with(['.', '?', '…', ':', ';']);
        let text = if ended { words.to_owned() } else { format!("{words}.") };
        sentences.push(Sentence { text, is_item: std::mem::take(is_item), is_code: false });
    }
}

fn without_list_mark(line: &str) -> (&str, bool) {
    let line = line.trim_start_matches(['#', ' ']);
    if let Some(rest) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return (rest, true);
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if (1..=3).contains(&digits) {
        for mark in [". ", ") ", "、", "．"] {
            if let Some(rest) = line[digits..].strip_prefix(mark) {
                return (rest, true);
            }
        }
    }
    (line, false)
}

/// Plain words of a line.
fn plain(line: &str) -> String {
    let line = without_code(line, |_| CODE);
    let line = without_quotes(&line);
    let line = without_paths(&line);
    let mut words = String::with_capacity(line.len());
    for c in line.chars().flat_map(char::to_lowercase) {
        match c {
            '’' | '‘' => words.push('\''),
            '，' | '、' => words.push(','),
            '。' | '！' => words.push_str(". "),
            '!' => words.push('.'),
            '？' => words.push_str("? "),
            '：' => words.push_str(": "),
            '；' => words.push_str("; "),
            '—' | '–' => words.push_str(", "),
            '*' => {}
            _ => words.push(c),
        }
    }
    let words = words.replace("...", "…").replace("……", "…");
    let words = CONTRACTIONS.iter().fold(words, |words, (short, long)| words.replace(short, long));
    one_writing(&words)
}

/// Puts [`CODE`] in the place of paths.
fn without_paths(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut end = 0;
    for found in PATH.find_iter(line) {
        let path = found.as_str();
        let before = line[..found.start()].chars().next_back();
        // A slash between words is no root, and some names only look like files.
        let is_joined = path.starts_with('/') && before.is_some_and(|c| c.is_ascii_alphanumeric());
        if is_joined || NO_FILES.contains(&path.to_lowercase().as_str()) {
            continue;
        }
        out.push_str(&line[end..found.start()]);
        out.push(CODE);
        // A dot that ends the sentence is no part of the path.
        end = found.end() - usize::from(path.ends_with('.'));
    }
    out.push_str(&line[end..]);
    out
}

/// Puts a mark in the place of `code`. Fences stay.
fn without_code(line: &str, mark: impl Fn(&str) -> char) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('`') {
        if let Some(fence) = after.strip_prefix("``") {
            out.push_str(before);
            out.push_str("```");
            rest = fence;
            continue;
        }
        let Some((code, after)) = after.split_once('`') else { break };
        out.push_str(before);
        out.push(mark(code));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Puts [`QUOTE`] in the place of what is quoted, [`CODE`] where that is a single word of ASCII.
fn without_quotes(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['"', '“', '「', '『', '«']) {
        let open = rest[at..].chars().next().unwrap_or('"');
        let close = match open {
            '“' => '”',
            '「' => '」',
            '『' => '』',
            '«' => '»',
            _ => '"',
        };
        let inside = &rest[at + open.len_utf8()..];
        let Some(end) = inside.find(close) else { break };
        let quoted = &inside[..end];
        if quoted.chars().count() > QUOTE_CHARS_MAX {
            break;
        }
        let is_word =
            quoted.is_ascii() && !quoted.contains(' ') && quoted.contains(['.', '/', '_']);
        out.push_str(&rest[..at]);
        out.push(if is_word { CODE } else { QUOTE });
        rest = &inside[end + close.len_utf8()..];
    }
    out.push_str(rest);
    out
}
