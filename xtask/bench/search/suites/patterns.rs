//! Regular expressions made of what the files of a tree hold: words and lines of them, escaped, joined, put into
//! classes, spanned over line ends.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};

use super::drawing::Drawing;

/// Where the numbers start.
const SEED: u64 = 0x5eed_f00d;
/// How long a line is that a pattern is made of, in characters.
const LINE_CHARS: std::ops::RangeInclusive<usize> = 6..=100;
/// Every so many lines of a file are taken.
const LINE_STEP: usize = 7;
/// Most lines that patterns are made of.
const LINES_MAX: usize = 200_000;
/// Longest piece of a line, in characters.
const PIECE_MAX: usize = 24;

/// A kind of pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PatternKind {
    Literal,
    Word,
    Class,
    Alternation,
    AnyCase,
    Unicode,
    Multiline,
}

/// A pattern, and how it is searched for.
pub(super) struct SuitePattern {
    pub(super) kind: PatternKind,
    pub(super) text: String,
    pub(super) case_sensitive: bool,
    /// Whether `.` is a line end, too.
    pub(super) spans_lines: bool,
}

/// Lines of the tree, each with the one after it.
struct PatternSource {
    pairs: Vec<(String, String)>,
    /// Words that are not of ASCII.
    foreign: Vec<String>,
}

/// Makes so many patterns, as many of each kind.
pub(super) fn patterns(files: &[PathBuf], count: usize) -> Result<Vec<SuitePattern>> {
    let source = PatternSource::of(files)?;
    let mut drawing = Drawing::new(SEED);
    let kinds = PatternKind::ALL.iter().cycle().take(count);
    Ok(kinds.map(|kind| source.pattern(*kind, &mut drawing)).collect())
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut text, c| {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            text.push('\\');
        }
        text.push(c);
        text
    })
}

fn words(line: &str) -> Vec<&str> {
    let all = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    all.filter(|word| word.chars().count() >= 3).collect()
}

// === impl PatternKind ===

impl PatternKind {
    pub(super) const ALL: [Self; 7] = [
        Self::Literal,
        Self::Word,
        Self::Class,
        Self::Alternation,
        Self::AnyCase,
        Self::Unicode,
        Self::Multiline,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Literal => "a piece of a line",
            Self::Word => "a whole word",
            Self::Class => "classes",
            Self::Alternation => "alternatives",
            Self::AnyCase => "(?i)",
            Self::Unicode => "Unicode",
            Self::Multiline => "over line ends",
        }
    }
}

// === impl PatternSource ===

impl PatternSource {
    fn of(files: &[PathBuf]) -> Result<Self> {
        let (mut pairs, mut foreign) = (Vec::new(), Vec::new());
        let fits = |line: &str| {
            LINE_CHARS.contains(&line.chars().count())
                && !line.contains(char::is_control)
                && !words(line).is_empty()
        };
        for file in files {
            let Ok(text) = fs::read_to_string(file) else { continue };
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let two = lines.windows(2).step_by(LINE_STEP).filter(|two| two.iter().all(|l| fits(l)));
            pairs.extend(two.map(|two| (two[0].to_owned(), two[1].to_owned())));
            let others = lines.iter().filter(|line| !line.is_ascii()).flat_map(|line| words(line));
            foreign.extend(others.filter(|word| !word.is_ascii()).map(str::to_owned));
            if pairs.len() > LINES_MAX {
                break;
            }
        }
        if pairs.is_empty() {
            bail!("the files of the tree have no lines that patterns could be made of");
        }
        Ok(Self { pairs, foreign })
    }

    fn pattern(&self, kind: PatternKind, drawing: &mut Drawing) -> SuitePattern {
        let case_sensitive = drawing.below(2) == 0;
        let spans_lines = kind == PatternKind::Multiline && drawing.below(2) == 0;
        let text = match kind {
            PatternKind::Literal => self.piece(drawing),
            PatternKind::Word => format!(r"\b{}\b", self.word(drawing)),
            PatternKind::Class => self.class(drawing),
            PatternKind::Alternation => self.alternation(drawing),
            PatternKind::AnyCase => self.any_case(drawing),
            PatternKind::Unicode => self.unicode(drawing),
            PatternKind::Multiline => self.multiline(drawing, spans_lines),
        };
        SuitePattern { kind, text, case_sensitive, spans_lines }
    }

    fn line(&self, drawing: &mut Drawing) -> &str {
        &drawing.of(&self.pairs).0
    }

    fn word(&self, drawing: &mut Drawing) -> &str {
        let words = words(self.line(drawing));
        words[drawing.below(words.len())]
    }

    /// A word in two parts, each of one character at least.
    fn parts(&self, drawing: &mut Drawing) -> (&str, &str) {
        let word = self.word(drawing);
        let at = word.char_indices().nth(word.chars().count() / 2).map_or(0, |(at, _)| at);
        word.split_at(at)
    }

    fn piece(&self, drawing: &mut Drawing) -> String {
        let chars: Vec<char> = self.line(drawing).chars().collect();
        let start = drawing.below(chars.len() - 4);
        let length = 4 + drawing.below((chars.len() - start - 3).min(PIECE_MAX));
        escaped(&chars[start..chars.len().min(start + length)].iter().collect::<String>())
    }

    fn class(&self, drawing: &mut Drawing) -> String {
        let (head, tail) = self.parts(drawing);
        match drawing.below(7) {
            0 => format!(r"{head}\w+"),
            1 => format!(r"[{head}]\w{{1,8}}{tail}"),
            2 => format!(r"{head}{tail}\s*[(\[{{<]"),
            3 => format!(r"[A-Z][a-z]+{tail}"),
            4 => format!(r"^\s+{head}[^\s(]*\W"),
            5 => format!(r"[[:alpha:]_]+{tail}\d"),
            _ => format!(r"{head}.{tail}"),
        }
    }

    fn alternation(&self, drawing: &mut Drawing) -> String {
        let [one, two, three] = [0; 3].map(|_| self.word(drawing).to_owned());
        match drawing.below(4) {
            0 => format!("{one}|{two}|{three}"),
            1 => format!(r"({one}|{two})\w*"),
            2 => format!(r"\b(?:{one}|{two}|{three})\s+\w"),
            _ => format!(r"({one}|{}).*({two}|{three})", self.piece(drawing)),
        }
    }

    fn any_case(&self, drawing: &mut Drawing) -> String {
        let (head, tail) = self.parts(drawing);
        match drawing.below(4) {
            0 => format!("(?i){}", self.piece(drawing)),
            1 => format!("(?i){}", self.word(drawing).to_uppercase()),
            2 => format!("(?i:{}){tail}", head.to_uppercase()),
            _ => format!("(?-i){head}{tail}"),
        }
    }

    fn unicode(&self, drawing: &mut Drawing) -> String {
        let (head, tail) = self.parts(drawing);
        let known = match self.foreign.len() {
            0 => "é",
            count => &self.foreign[drawing.below(count)],
        };
        match drawing.below(8) {
            0 => known.to_owned(),
            1 => format!("(?i){}", known.to_uppercase()),
            2 => format!(r"\p{{Lu}}\p{{Ll}}*{tail}"),
            3 => format!(r"[^\x00-\x7f]+\s*\w*{}", &tail[tail.len().min(1)..]),
            4 => r"\p{Han}+|\p{Greek}{2,}".to_owned(),
            5 => format!(r"{head}{tail}\p{{P}}"),
            6 => format!(r"\b\w*{known}\w*\b"),
            _ => format!(r"{}.?", known.chars().next().unwrap_or('ß')),
        }
    }

    fn multiline(&self, drawing: &mut Drawing, spans_lines: bool) -> String {
        let (one, two) = drawing.of(&self.pairs);
        let (of_one, of_two) = (words(one), words(two));
        let (last, first) = (of_one[of_one.len() - 1], of_two[0]);
        match (spans_lines, drawing.below(2)) {
            (true, 0) => format!(r"{last}.{{0,40}}?{first}"),
            (true, _) => format!(r"{}.+?\b{first}\b", escaped(one)),
            (false, 0) => format!(r"{last}\W*\n\s*{}", escaped(two)),
            (false, _) => format!(r"{}\r?\n\s*\W*{first}", escaped(one)),
        }
    }
}
