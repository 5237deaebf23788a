//! The text that every match of a pattern holds, and a quick look for it in either case.
//!
//! Where a line does not have it, the line has no match: most of a text is passed over without the regular expression.
//! It is distinguished by its three rarest bytes, looked for in many places at once.

use std::ops::Range;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};
use grep_regex::RegexMatcher;
use moss_sdk::context::{ScanPace, ScanWindows};
use regex_syntax::hir::{Class, Hir, HirKind};

/// Shorter texts are in too many lines.
const BYTES_MIN: usize = 3;
/// So many places are looked at at once.
const BLOCK: usize = 64;
/// Bytes of a word of the processor, and bits of a byte.
const WORD: usize = 8;
/// What is found counts for at least so many bytes that were looked at.
const FOUND_BYTES: usize = 256;
/// Bytes of source code, those that occur most first; letters in either case.
const COMMON: &[u8] = b" etrnsoiacldup_m,.f(gh)b:;v\"ywx=0/k1>&<-*{}2|'q[]3z4j\t#!8659+7`\\@$%?^~";
/// What `s` and `k` also match where case does not count, though they are no letters of ASCII.
const LONG_S: char = '\u{17f}';
const KELVIN: char = '\u{212a}';

/// A text of ASCII letters in either case and of other bytes that every match of a pattern holds.
#[derive(Debug, Clone)]
pub(super) struct RequiredText {
    needle: CaselessNeedle,
    /// Whether it is all of the pattern: each place where it stands is a match.
    is_whole: bool,
    /// Characters that stand for letters of it: a text with one of them has to be searched otherwise.
    strangers: Vec<CaselessNeedle>,
}

/// A pattern that is searched for in the lines of a text: by what its matches hold, where that is known, and in steps.
#[derive(Clone, Copy)]
pub(super) struct LineMatcher<'a> {
    pub(super) matcher: &'a RegexMatcher,
    /// Whether it matters where the text starts or ends.
    pub(super) is_anchored: bool,
    pub(super) required: Option<&'a RequiredText>,
    pub(super) windows: ScanWindows,
    pub(super) pace: &'a ScanPace<'a>,
}

/// Finds a sequence of bytes, ASCII letters in either case.
#[derive(Debug, Clone)]
struct CaselessNeedle {
    /// Letters in lower case.
    bytes: Box<[u8]>,
    rare: [RareByte; 3],
}

/// A byte of a sequence that occurs rarely elsewhere.
#[derive(Debug, Clone, Copy)]
struct RareByte {
    at: usize,
    byte: u8,
    /// What is set in it before it is compared: letters differ by one bit.
    mask: u8,
}

/// Goes over an expression for sequences that all its matches hold.
#[derive(Default)]
struct RequiredRuns {
    current: Vec<u8>,
    longest: Vec<u8>,
    /// Whether there is more to the expression than one sequence in either case.
    is_part: bool,
}

/// The only letter of ASCII that a class stands for, in lower case, and whether it does so in both cases.
fn letter_of(characters: impl Iterator<Item = char>) -> Option<(u8, bool)> {
    let (mut letter, mut cases) = (None, [false; 2]);
    for character in characters {
        let plain = match character {
            LONG_S => 's',
            KELVIN => 'k',
            other if other.is_ascii() => {
                cases[usize::from(other.is_ascii_uppercase())] = true;
                other.to_ascii_lowercase()
            }
            _ => return None,
        };
        let byte = u8::try_from(plain).ok()?;
        if *letter.get_or_insert(byte) != byte {
            return None;
        }
    }
    let letter = letter?;
    Some((letter, cases == [true; 2] || !letter.is_ascii_alphabetic()))
}

/// How rare a byte is in source code.
fn rarity(byte: u8) -> usize {
    COMMON.iter().position(|common| *common == byte).unwrap_or(COMMON.len())
}

// === impl RequiredText ===

impl RequiredText {
    /// Finds the longest text that every match of an expression holds, where there is one that is worth it. It is
    /// of use where no match spans lines.
    pub(super) fn of(hir: &Hir) -> Option<Self> {
        let mut runs = RequiredRuns::default();
        runs.go_over(hir);
        let is_whole = !runs.is_part;
        runs.end_run();
        let bytes = runs.longest;
        if bytes.len() < BYTES_MIN {
            return None;
        }
        let stranger = |(letter, stranger): (u8, char)| {
            let of_it = || CaselessNeedle::new(stranger.to_string().as_bytes());
            bytes.contains(&letter).then(of_it)
        };
        let strangers = [(b's', LONG_S), (b'k', KELVIN)].into_iter().filter_map(stranger).collect();
        Some(Self { needle: CaselessNeedle::new(&bytes), is_whole, strangers })
    }

    /// Whether a text can be searched by it.
    pub(super) fn fits(&self, text: &str) -> bool {
        let has = |stranger: &CaselessNeedle| stranger.find(text.as_bytes()).is_some();
        // Most texts have nothing but ASCII, which is quicker to see.
        self.strangers.is_empty() || text.is_ascii() || !self.strangers.iter().any(has)
    }
}

// === impl RequiredRuns ===

impl RequiredRuns {
    fn go_over(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Empty => {}
            // It takes nothing of the text.
            HirKind::Look(_) => self.is_part = true,
            HirKind::Literal(literal) => {
                self.is_part |= literal.0.iter().any(u8::is_ascii_alphabetic);
                self.current.extend(literal.0.iter().map(u8::to_ascii_lowercase));
            }
            HirKind::Class(class) => match Self::class_letter(class) {
                Some((letter, in_both_cases)) => {
                    self.is_part |= !in_both_cases;
                    self.current.push(letter);
                }
                None => self.end_run(),
            },
            HirKind::Capture(capture) => self.go_over(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.go_over(part)),
            HirKind::Repetition(repetition) if repetition.min > 0 => {
                self.end_run();
                self.go_over(&repetition.sub);
                self.end_run();
            }
            HirKind::Repetition(_) | HirKind::Alternation(_) => self.end_run(),
        }
    }

    fn class_letter(class: &Class) -> Option<(u8, bool)> {
        match class {
            Class::Unicode(class) => {
                // Three at most, where two of ASCII are one letter.
                let few = class.ranges().iter().map(|range| range.len()).sum::<usize>() <= 3;
                let all = class.ranges().iter().flat_map(|range| range.start()..=range.end());
                few.then(|| letter_of(all)).flatten()
            }
            Class::Bytes(class) => {
                let all = class.ranges().iter().flat_map(|range| range.start()..=range.end());
                // Above, a byte is no character.
                let are_ascii = class.is_ascii();
                are_ascii.then(|| letter_of(all.map(char::from))).flatten()
            }
        }
    }

    fn end_run(&mut self) {
        self.is_part = true;
        let run = std::mem::take(&mut self.current);
        if run.len() > self.longest.len() {
            self.longest = run;
        }
    }
}

// === impl CaselessNeedle ===

impl CaselessNeedle {
    /// Makes one of at least one byte.
    fn new(bytes: &[u8]) -> Self {
        let bytes = bytes.to_ascii_lowercase().into_boxed_slice();
        let mut places: Vec<usize> = (0..bytes.len()).collect();
        places.sort_by_key(|at| std::cmp::Reverse(rarity(bytes[*at])));
        let rare = |nth: usize| {
            let at = places[nth.min(places.len() - 1)];
            let byte = bytes[at];
            RareByte { at, byte, mask: if byte.is_ascii_alphabetic() { 0x20 } else { 0 } }
        };
        Self { rare: [rare(0), rare(1), rare(2)], bytes }
    }

    /// Finds the first place of it.
    fn find(&self, text: &[u8]) -> Option<usize> {
        let starts = (text.len() + 1).checked_sub(self.bytes.len())?;
        // What stands where each of the rare bytes would, by the start of the whole.
        let seen = self.rare.map(|rare| &text[rare.at..rare.at + starts]);
        let mut blocks = seen.map(|seen| seen.as_chunks::<BLOCK>().0.iter());
        let mut start = 0;
        while let [Some(first), Some(second), Some(third)] = blocks.each_mut().map(Iterator::next) {
            let starts = self.starts_in([first, second, third]);
            if starts.iter().fold(0, |any, start| any | start) != 0
                && let Some(at) = self.find_in_block(text, &starts, start)
            {
                return Some(at);
            }
            start += BLOCK;
        }
        self.find_in(text, start..starts)
    }

    /// Which starts all of the rare bytes stand where they would for: a byte for each, which is 0 or 1.
    #[inline]
    fn starts_in(&self, seen: [&[u8; BLOCK]; 3]) -> [u8; BLOCK] {
        let [a, b, c] = self.rare;
        let mut starts = [0; BLOCK];
        // All of them each time: the compiler makes this comparisons of many bytes at once.
        for at in 0..BLOCK {
            let is_a = (seen[0][at] | a.mask) == a.byte;
            let is_b = (seen[1][at] | b.mask) == b.byte;
            let is_c = (seen[2][at] | c.mask) == c.byte;
            starts[at] = u8::from(is_a & is_b & is_c);
        }
        starts
    }

    /// Finds the first start in a block that is one of the whole.
    fn find_in_block(&self, text: &[u8], starts: &[u8; BLOCK], block: usize) -> Option<usize> {
        for (at, word) in starts.as_chunks::<WORD>().0.iter().enumerate() {
            let mut left = u64::from_le_bytes(*word);
            while left != 0 {
                let start = block + at * WORD + left.trailing_zeros() as usize / WORD;
                if self.is_at(text, start) {
                    return Some(start);
                }
                left &= left - 1;
            }
        }
        None
    }

    fn find_in(&self, text: &[u8], mut starts: Range<usize>) -> Option<usize> {
        let [rare, ..] = self.rare;
        starts.find(|start| {
            (text[start + rare.at] | rare.mask) == rare.byte && self.is_at(text, *start)
        })
    }

    fn is_at(&self, text: &[u8], start: usize) -> bool {
        text[start..start + self.bytes.len()].eq_ignore_ascii_case(&self.bytes)
    }
}

// === impl LineMatcher ===

impl LineMatcher<'_> {
    /// Counts the lines of a text that match, up to so many, as a search in them does; none where it is not known what
    /// a match holds.
    pub(super) fn count_lines(self, text: &[u8], max: u64) -> Option<u64> {
        let required = self.required?;
        let (mut found, mut done) = (0, 0);
        while found < max
            && let Some(at) = required.needle.find(&text[done..])
        {
            let at = done + at;
            let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1);
            let is_match = required.is_whole || {
                let start = memchr::memrchr(b'\n', &text[done..at]);
                let line = &text[start.map_or(done, |start| done + start + 1)..end];
                // What ends a line is no part of it, as far as the search in lines takes it for that.
                let line = line.strip_suffix(b"\r\n").unwrap_or(line);
                self.is_match(line).unwrap_or_default()
            };
            found += u64::from(is_match);
            done = end;
        }
        Some(found)
    }

    /// Where the step ends that begins here: behind a line.
    fn step_end(self, text: &[u8], start: usize) -> usize {
        let Some(step) = text[start..].get(..self.pace.step_bytes()) else { return text.len() };
        if let Some(last) = memchr::memrchr(b'\n', step) {
            return start + last + 1;
        }
        let rest = start + step.len();
        memchr::memchr(b'\n', &text[rest..]).map_or(text.len(), |at| rest + at + 1)
    }

    /// Looks for a line in one step, which ends where the text does.
    fn find_in_step(self, text: &[u8], start: usize) -> Result<Option<LineMatchKind>, NoError> {
        use LineMatchKind::{Candidate, Confirmed};
        if let Some(required) = self.required {
            let found = required.needle.find(&text[start..]).map(|at| start + at);
            return Ok(found.map(if required.is_whole { Confirmed } else { Candidate }));
        }
        if text.len() - start > self.windows.bytes() {
            // It is one line.
            return Ok(self.shortest_match_at(text, start)?.map(Confirmed));
        }
        Ok(match self.matcher.find_candidate_line(&text[start..])? {
            Some(Candidate(at)) => Some(Candidate(start + at)),
            // A line that only may have a match is looked at alone, as ripgrep does.
            _ if self.is_anchored => self.matcher.shortest_match_at(text, start)?.map(Confirmed),
            Some(Confirmed(at)) => Some(Confirmed(start + at)),
            None => None,
        })
    }
}

impl Matcher for LineMatcher<'_> {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        let look = |text: &[u8], at| self.matcher.find_at(text, at).unwrap_or_default();
        let is_sure = |found: &Match, next, _| found.start() < next;
        let (found, start) = self.windows.find((text, at), self.pace, look, is_sure);
        let passed = found.map_or(text.len(), |found| found.end()) - start;
        let continues = self.pace.passed(passed.max(FOUND_BYTES));
        Ok(found.filter(|_| continues))
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        let look = |text: &[u8], at| {
            let continues = self.pace.passed(text.len() - at);
            continues.then(|| self.matcher.shortest_match_at(text, at).unwrap_or_default())?
        };
        let is_sure = |found: &usize, _, end| found + ScanWindows::BEHIND_BYTES <= end;
        Ok(self.windows.find((text, at), self.pace, look, is_sure).0)
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        let mut start = 0;
        while start < text.len() {
            let end = self.step_end(text, start);
            let found = self.find_in_step(&text[..end], start)?;
            let at = found.map_or(end, |found| {
                let (LineMatchKind::Candidate(at) | LineMatchKind::Confirmed(at)) = found;
                at
            });
            if !self.pace.passed((at - start).max(FOUND_BYTES)) {
                return Ok(None);
            }
            // What is empty and stands behind the last line of a step is looked for in the next one.
            if at < end || end == text.len() {
                return Ok(found);
            }
            start = end;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use grep_searcher::sinks::Lossy;
    use proptest::prelude::*;

    use super::*;
    use crate::tools::grep_search::pattern::Pattern;

    /// What every match of a pattern holds, and whether that is all of it.
    fn required(pattern: &str) -> Option<(String, bool)> {
        let mut parser = regex_syntax::ParserBuilder::new();
        parser.utf8(false).multi_line(true).crlf(true).case_insensitive(true);
        let found = RequiredText::of(&parser.build().parse(pattern).unwrap())?;
        Some((String::from_utf8_lossy(&found.needle.bytes).into_owned(), found.is_whole))
    }

    #[test]
    fn what_every_match_holds_is_the_longest_sequence() {
        let cases = [
            ("Word", Some(("word", true))),
            ("(tasks)", Some(("tasks", true))),
            ("a.b_c", Some(("b_c", false))),
            (r"\bword\w*\s*\(", Some(("word", false))),
            ("[a-z_]+half[A-Z0-9_]*", Some(("half", false))),
            ("(?-i)Word", Some(("word", false))),
            ("x(abc)+y?defg", Some(("defg", false))),
            ("(abc){2,}", Some(("abc", false))),
            ("grüße", None),
            ("日本", Some(("日本", true))),
            ("ab", None),
            ("one|two", None),
            ("(word)?", None),
            (r"\b\w{20}\b", None),
        ];
        for (pattern, expected) in cases {
            let expected = expected.map(|(text, is_whole)| (text.to_owned(), is_whole));
            assert_eq!(required(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn sequences_are_found_wherever_they_stand() {
        for needle in ["abc", "task_of", "(z)", "éa", "aaaaaaaaaaaaaaaaaaaaaaaa"] {
            let found = CaselessNeedle::new(needle.as_bytes());
            for before in 0..2 * BLOCK + 3 {
                for after in [0, 1, BLOCK] {
                    let text = ["a".repeat(before), needle.to_uppercase(), "b".repeat(after)];
                    let text = text.concat().replace('É', "é");
                    let lowered = text.to_ascii_lowercase();
                    assert_eq!(found.find(text.as_bytes()), lowered.find(needle), "{text}");
                }
            }
            let short = &needle.as_bytes()[..needle.len() - 1];
            assert_eq!(found.find(short), None);
        }
    }

    fn lines(pattern: &str, text: &str, by_required: bool) -> Vec<u64> {
        let pattern = Pattern::compile(pattern, false, false).unwrap();
        let mut lines = Vec::new();
        let sink = Lossy(|line, _| {
            lines.push(line);
            Ok(true)
        });
        let mut searcher = pattern.searcher(Some(0));
        let pace = ScanPace::free();
        let searched = match by_required {
            true => searcher.search_slice(pattern.in_lines(text, &pace), text.as_bytes(), sink),
            false => searcher.search_slice(&pattern.matcher, text.as_bytes(), sink),
        };
        searched.unwrap();
        lines
    }

    #[test]
    fn a_search_that_is_cancelled_ends_within_a_text() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let text = "a task of some words\n".repeat(100_000);
        for (pattern, finds_lines) in [("xyz", false), ("[x-z]q", false), ("[a-c] task", true)] {
            let pattern = Pattern::compile(pattern, false, false).unwrap();
            let looks = AtomicUsize::new(0);
            let cancelled = || looks.fetch_add(1, Ordering::Relaxed) == 2;
            let pace = ScanPace::new(&cancelled);
            let mut last = 0;
            let sink = Lossy(|line, _| {
                last = line;
                Ok(true)
            });
            let matcher = pattern.in_lines(&text, &pace);
            pattern.searcher(Some(0)).search_slice(matcher, text.as_bytes(), sink).unwrap();
            assert_eq!((pace.is_stopped(), looks.load(Ordering::Relaxed)), (true, 3));
            assert!(last < 20_000 && (last > 0) == finds_lines, "{last}");
        }
    }

    #[test]
    fn a_search_that_is_cancelled_ends_within_a_line_and_over_lines() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let line = "a task of some words ".repeat(200_000);
        let lines = line.replace("words ", "words\n");
        for (pattern, text) in
            [("[x-z]q", &line), ("q{1,9}$", &line), (r"[x-z]\n", &lines), (r"(?s)x.{1,9}q", &lines)]
        {
            let pattern = Pattern::compile(pattern, true, false).unwrap();
            let looks = AtomicUsize::new(0);
            let cancelled = || looks.fetch_add(1, Ordering::Relaxed) == 1;
            let pace = ScanPace::new(&cancelled);
            let matcher = pattern.in_lines(text, &pace);
            let found = pattern.searcher(Some(0)).search_slice(
                matcher,
                text.as_bytes(),
                Lossy(|_, _| Ok(true)),
            );
            found.unwrap();
            assert_eq!(
                (pace.is_stopped(), looks.load(Ordering::Relaxed)),
                (true, 2),
                "{:?}",
                pattern.source
            );
        }
    }

    #[test]
    fn matches_are_found_where_windows_meet() {
        for expression in
            [r"\bneedle\b", "needle$", r"[-\s]needle\s{1,3}-", r"n\w{4}e\b", "^needle"]
        {
            let pattern = Pattern::compile(expression, true, false).unwrap();
            let pace = ScanPace::free();
            let window = pattern.in_lines("", &pace).windows.bytes();
            for at in (window - 12..window + 6).chain([0, window / 2, 2 * window - 8]) {
                let mut text = "-".repeat(2 * window);
                text.replace_range(at..at + 7, "needle\n");
                let (matcher, text) = (pattern.in_lines(&text, &pace), text.as_bytes());
                let raw = &pattern.matcher;
                assert_eq!(matcher.find_at(text, 0), raw.find_at(text, 0), "{expression} {at}");
                let shortest = matcher.shortest_match_at(text, 0);
                assert_eq!(shortest, raw.shortest_match_at(text, 0), "{expression} {at}");
            }
        }
    }

    #[test]
    fn matches_without_a_longest_length_are_found_in_long_lines() {
        let line = format!("{{needle{}}}", "-".repeat(3 << 20));
        for expression in [r"^\{.*\}$", "needle.*$", r"\{[^\n]*\}", r"(?s)needle.*\z"] {
            let pattern = Pattern::compile(expression, true, expression.contains("(?s)")).unwrap();
            let pace = ScanPace::free();
            let (matcher, text) = (pattern.in_lines(&line, &pace), line.as_bytes());
            let (found, raw) = (matcher.find_at(text, 0), pattern.matcher.find_at(text, 0));
            assert!(found == raw && raw.unwrap().is_some(), "{expression}");
            let by_line = lines(expression.trim_start_matches("(?s)"), &line, true);
            assert_eq!(by_line, [1], "{expression}");
        }
    }

    #[test]
    fn letters_that_only_unicode_takes_for_others_are_found() {
        for (pattern, text) in [
            ("task", "TA\u{17f}\u{212a}\nnone\ntask\n"),
            ("task", "none\nta\u{17f}k"),
            ("bookkeeper", "book\u{212a}eeper\nBOOKKEEPER\n"),
        ] {
            let found = lines(pattern, text, true);
            assert_eq!(found, lines(pattern, text, false), "{pattern} in {text}");
            assert!(!found.is_empty());
        }
    }

    proptest! {
        #[test]
        fn a_search_in_steps_finds_the_same_lines(
            text in "([a-c\\x{e9} .]{0,60}(\r?\n|\n\n|)){0,40}",
            at in 0..12_usize,
        ) {
            let patterns = [
                "a[bc]", "^", "$", "^$", r"a*", r"\b", r"\B", "[ab]{2}$", r"\Aa?", r"\z", r"a\z|b", r"c|\s*$",
            ];
            // Longer than some steps.
            let text = text.repeat(8);
            prop_assert_eq!(lines(patterns[at], &text, true), lines(patterns[at], &text, false));
        }

        #[test]
        fn a_search_by_what_is_required_finds_the_same_lines(
            text in "([a-cA-Cskſ\u{212a}_ .(]{0,12}(\r?\n|)){0,60}",
            at in 0..8_usize,
        ) {
            let patterns = [
                "abc", r"\babc", "a.bc_", "[ab]+cab", "s_ka", "(abc|a)bca", r"abc\s*\(", "^ab[c]$",
            ];
            let found = lines(patterns[at], &text, false);
            prop_assert_eq!(&lines(patterns[at], &text, true), &found);
            let pattern = Pattern::compile(patterns[at], false, false).unwrap();
            let pace = ScanPace::free();
            let matcher = pattern.in_lines(&text, &pace);
            if matcher.required.is_some() {
                let counted = [1, 3, u64::MAX].map(|max| matcher.count_lines(text.as_bytes(), max));
                let total = found.len() as u64;
                prop_assert_eq!(counted, [total.min(1), total.min(3), total].map(Some));
            }
        }
    }
}
