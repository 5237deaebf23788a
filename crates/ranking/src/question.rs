//! What a question asks for: its words, the names it spells out, what kind of file it wants.

use crate::analysis::head;
use crate::glossary::Glossary;
use crate::qualified::QualifiedName;
use crate::shape::{QuestionShape, subject};
use crate::weights::Weights;
use crate::words::{WordReader, is_stop_word, pair, parts, runs};

/// Longest question that is read; what is beyond it is not.
const QUESTION_BYTES_MAX: usize = 32 << 10;
/// Most groups of terms of a question.
pub(crate) const GROUPS_MAX: usize = 400;
/// Most names that are looked up.
const SYMBOLS_MAX: usize = 16;
/// How much a name counts that is spelled out, against its words.
const WHOLE_WEIGHT: f32 = 1.5;
/// How much a word counts that only says what is to be done.
const VERB_WEIGHT: f32 = 0.4;
/// Words of requests and of the subjects of commits that say what is to be done, not to what.
const VERBS: &[&str] = &[
    "add",
    "allow",
    "change",
    "code",
    "find",
    "fix",
    "function",
    "handle",
    "implement",
    "implemented",
    "improve",
    "make",
    "remove",
    "show",
    "support",
    "update",
    "use",
    "used",
    "using",
];
const TEST_WORDS: &[&str] = &[
    "bench", "fixture", "fixtures", "mock", "mocks", "spec", "test", "tested", "testing", "tests",
];
const DOCUMENT_WORDS: &[&str] = &[
    "changelog",
    "doc",
    "docs",
    "documentation",
    "documented",
    "guide",
    "manual",
    "readme",
    "tutorial",
];

/// What a question looks for: groups of words, names, and whether it means tests or documents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CodeQuestion {
    pub(crate) groups: Vec<TermGroup>,
    pub(crate) symbols: Vec<SymbolWord>,
    /// Whether it is nothing but a name.
    pub(crate) is_symbol: bool,
    /// That name, with what it is said to belong to.
    pub(crate) wanted: Option<QualifiedName>,
    pub(crate) asks_tests: bool,
    pub(crate) asks_documents: bool,
    pub(crate) shape: QuestionShape,
}

/// Terms of which one is as good as the other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TermGroup {
    /// How the question says it.
    pub(crate) shown: String,
    pub(crate) terms: Vec<String>,
    pub(crate) weight: f32,
    pub(crate) kind: TermKind,
}

/// How terms come from a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TermKind {
    /// As it has them.
    Word,
    /// An identifier whose parts are words of it, too.
    Whole,
    /// Two words of it, put together.
    Joined,
}

/// A name that a question spells out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SymbolWord {
    pub(crate) name: String,
    /// What it belongs to, where the question says that.
    pub(crate) container: Option<String>,
}

/// Collects what a question says, word by word.
#[derive(Default)]
struct QuestionReading {
    words: WordReader,
    question: CodeQuestion,
    /// The plain word right before, and its stem.
    before: Option<(String, String)>,
}

// === impl CodeQuestion ===

impl CodeQuestion {
    /// Reads a question: words, names, Chinese.
    pub fn parse(text: &str) -> Self {
        let text = head(text, QUESTION_BYTES_MAX);
        let mut reading = QuestionReading::default();
        let trimmed = text.trim().trim_matches(['`', '"', '\'']);
        let trimmed = trimmed.trim_end_matches("()");
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '#' | '$');
        let is_plain = trimmed.chars().all(is_name);
        // Paths and words with hyphens are no names here.
        let is_word = |c: char| !(c.is_whitespace() || matches!(c, '/' | '-' | '?' | '@' | '~'));
        let is_written = trimmed.replace("->", "").chars().all(is_word);
        let wanted = QualifiedName::parse(trimmed).filter(|_| is_written && trimmed.is_ascii());
        let is_one = wanted.is_some() || is_plain && trimmed.is_ascii() && !trimmed.is_empty();
        reading.question.is_symbol = is_one;
        match wanted {
            Some(wanted) => reading.wanted(wanted),
            None => reading.names(text, is_one),
        }
        if !is_one {
            reading.shape(text);
        }
        for (is_wide, run) in runs(text) {
            match is_wide {
                true => reading.wide(run),
                false => reading.run(run),
            }
        }
        reading.question.groups.truncate(GROUPS_MAX);
        reading.question
    }

    /// Whether it has no word that can be searched for.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.symbols.is_empty()
    }
}

// === impl QuestionReading ===

impl QuestionReading {
    /// Takes the only name that there is.
    fn wanted(&mut self, wanted: QualifiedName) {
        let name = wanted.name.trim_start_matches('$').to_lowercase();
        let container = wanted.owner().map(str::to_lowercase);
        self.question.symbols.push(SymbolWord { name, container });
        self.question.wanted = Some(wanted);
    }

    /// Finds the names that are spelled out, with what they belong to.
    fn names(&mut self, text: &str, is_one: bool) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '#');
        for token in text.split(|c: char| !is_part(c)) {
            let segments = token.split([':', '.', '#']).filter(|segment| !segment.is_empty());
            let segments: Vec<&str> = segments.collect();
            let Some((name, around)) = segments.split_last() else { continue };
            let is_qualified =
                !around.is_empty() && (token.contains("::") || token.contains('#') || is_one);
            if !(is_one || is_qualified || is_spelled_out(name)) {
                continue;
            }
            let symbol = SymbolWord {
                name: name.to_lowercase(),
                container: around.last().map(|around| around.to_lowercase()),
            };
            let symbols = &mut self.question.symbols;
            if symbols.len() < SYMBOLS_MAX && !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        }
    }

    /// Finds out what is described, and under which name.
    fn shape(&mut self, text: &str) {
        self.question.shape = QuestionShape::of(text);
        let Some(subject) = subject(text) else { return };
        let symbol = SymbolWord { name: subject.to_lowercase(), container: None };
        let symbols = &mut self.question.symbols;
        if symbols.len() < SYMBOLS_MAX && !symbols.contains(&symbol) {
            symbols.push(symbol);
        }
    }

    fn run(&mut self, run: &str) {
        let lower = run.to_lowercase();
        self.question.asks_tests |= TEST_WORDS.contains(&lower.as_str());
        self.question.asks_documents |= DOCUMENT_WORDS.contains(&lower.as_str());
        let mut terms = Vec::new();
        self.words.identifier(run, &mut |term| terms.push(term.to_owned()));
        let count = parts(run).count();
        if count > 1 {
            let whole = terms.pop_if(|term| term.len() > 3);
            terms.into_iter().for_each(|term| self.add(run, vec![term], 1.0, TermKind::Word));
            if let Some(whole) = whole {
                self.add(run, vec![whole], WHOLE_WEIGHT, TermKind::Whole);
            }
            self.before = None;
            return;
        }
        let Some(term) = terms.pop() else {
            if is_stop_word(&lower) {
                self.before = None;
            }
            return;
        };
        let is_verb = VERBS.contains(&lower.as_str()) && !self.question.is_symbol;
        let weight = if is_verb { VERB_WEIGHT } else { 1.0 };
        self.add(run, vec![term.clone()], weight, TermKind::Word);
        if let Some((before, stem)) = self.before.take() {
            let joined = vec![format!("{before}{lower}"), pair(&stem, &term)];
            self.add(&format!("{before} {run}"), joined, 1.0, TermKind::Joined);
        }
        self.before = Some((lower, term));
    }

    /// A run of Chinese: words of the glossary, pairs of characters of what is left.
    fn wide(&mut self, run: &str) {
        self.before = None;
        let glossary = Glossary::zh();
        let mut rest = run;
        let mut unknown = String::new();
        while let Some(first) = rest.chars().next() {
            let Some((word, entry)) = glossary.longest(rest) else {
                unknown.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            };
            self.unknown(&mut unknown);
            for alternatives in entry.groups() {
                let mut terms = Vec::new();
                for word in alternatives {
                    self.question.asks_tests |= TEST_WORDS.contains(&word);
                    self.question.asks_documents |= DOCUMENT_WORDS.contains(&word);
                    terms.extend(self.words.words(word));
                }
                if !terms.is_empty() {
                    self.add(word, terms, entry.weight(), TermKind::Word);
                }
            }
            // The characters themselves may stand in comments, too.
            if word.chars().count() > 1 && !entry.is_empty() {
                let pairs = self.words.words(word);
                pairs.into_iter().for_each(|pair| self.add(word, vec![pair], 0.5, TermKind::Word));
            }
            rest = &rest[word.len()..];
        }
        self.unknown(&mut unknown);
    }

    fn unknown(&mut self, unknown: &mut String) {
        if unknown.chars().count() > 1 {
            for pair in self.words.words(unknown) {
                let shown = pair.clone();
                self.add(&shown, vec![pair], 1.0, TermKind::Word);
            }
        }
        unknown.clear();
    }

    fn add(&mut self, shown: &str, terms: Vec<String>, weight: f32, kind: TermKind) {
        let groups = &mut self.question.groups;
        if let Some(known) = groups.iter_mut().find(|group| group.terms == terms) {
            known.weight = known.weight.max(weight);
            known.kind = known.kind.min(kind);
            return;
        }
        // Much more is cut to the rarest words later on.
        if groups.len() < 4 * GROUPS_MAX {
            groups.push(TermGroup { shown: shown.to_owned(), terms, weight, kind });
        }
    }
}

// === impl TermKind ===

impl TermKind {
    /// How much terms count by how they come from a question.
    pub(crate) fn share(self, weights: &Weights) -> f32 {
        match self {
            Self::Word | Self::Whole => 1.0,
            Self::Joined => weights.joined,
        }
    }
}

/// Whether a word can only be a name: it has a hump, or an underscore within.
fn is_spelled_out(word: &str) -> bool {
    let inner = word.trim_matches('_');
    let has_hump = inner
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    inner.len() > 2 && (has_hump || inner.contains('_')) || word.starts_with("__")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let question = CodeQuestion::parse(text);
        question.groups.into_iter().map(|group| group.terms.join(" ")).collect()
    }

    #[test]
    fn questions_are_read_as_they_are_meant() {
        for (text, expected) in [
            ("how are files parsed", &["file", "pars", "filesparsed file|pars"][..]),
            ("rate limiter", &["rate", "limit", "ratelimiter limit|rate"]),
            ("rate of the limit", &["rate", "limit"]),
            ("parseFile", &["pars", "file", "parsefile"]),
            ("the", &[]),
            ("", &[]),
            ("!?", &[]),
            ("重试", &["retri", "重试"]),
            ("在哪里 parseFile", &["pars", "file", "parsefile"]),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn names_are_told_from_words() {
        for (text, names, is_symbol) in [
            ("Store::open", &[("open", Some("store"))][..], true),
            ("router", &[("router", None)], true),
            ("where is open_file used", &[("open_file", None)], false),
            ("how are files read", &[], false),
            ("Walk is a recursive iterator", &[("walk", None)], false),
            ("`Vec::push`", &[("push", Some("vec"))], true),
            ("Client.get", &[("get", Some("client"))], true),
            ("(*Engine).Run", &[("run", Some("engine"))], true),
            ("App\\Models\\User", &[("user", Some("models"))], true),
            ("Vec<T>::push", &[("push", Some("vec"))], true),
            ("Axios.prototype.request", &[("request", Some("axios"))], true),
            ("Store->add", &[("add", Some("store"))], true),
            ("say_hello!", &[("say_hello!", None)], true),
            ("src/store.rs", &[], false),
            ("retry-after", &[], false),
        ] {
            let question = CodeQuestion::parse(text);
            let found: Vec<_> = question
                .symbols
                .iter()
                .map(|symbol| (symbol.name.as_str(), symbol.container.as_deref()))
                .collect();
            assert_eq!((found.as_slice(), question.is_symbol), (names, is_symbol), "{text}");
        }
    }

    #[test]
    fn endless_questions_are_cut() {
        let text = "word_number one two ".repeat(10_000);
        assert!(CodeQuestion::parse(&text).groups.len() <= GROUPS_MAX);
        let text: String = (0..5_000).map(|number| format!("w{number}x ")).collect();
        assert_eq!(CodeQuestion::parse(&text).groups.len(), GROUPS_MAX);
        assert!(CodeQuestion::parse(&"中文".repeat(20_000)).groups.len() <= GROUPS_MAX);
    }
}
