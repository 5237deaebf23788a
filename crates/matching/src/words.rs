//! The three-way merge of one line: what the edit changes of the line that was searched for,
//! changed in the line that the file has. Everything else stays as the file has it.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::fold::{Fold, FoldedToken, tokens};

/// Most words of a line that are merged one by one; a longer line is taken over whole.
const WORDS_MAX: usize = 2_000;

/// Characters that the search has in a typographic form and the file in a plain one: so new lines
/// get them in the plain form too.
#[derive(Debug, Default)]
pub(super) struct PlainForms(HashMap<String, String>);

/// Where a word of the merged line comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MergedWord {
    Found(usize),
    New(usize),
}

/// A line and its words.
struct WordLine<'a> {
    line: &'a str,
    tokens: Vec<FoldedToken<'a>>,
}

/// Words of the search, and the new words in their place.
struct WordHunk {
    search: Range<usize>,
    new: Range<usize>,
}

struct Merge<'a> {
    search: WordLine<'a>,
    found: WordLine<'a>,
    new: WordLine<'a>,
    hunks: Vec<WordHunk>,
    /// For every word of the search, which one of the file it is.
    held: Vec<Option<usize>>,
}

/// Merges three lines without the white space around them: `search` was looked for, `found` stands
/// in the file, `new` is wanted in its place. Where the file differs from the search at the very
/// words that the edit changes, the new line is taken as it is.
pub(super) fn merged(
    search: &str,
    found: &str,
    new: &str,
    fold: Fold,
    plain: &PlainForms,
) -> String {
    if search == found {
        return new.to_owned();
    }
    let [search, found, new] = [search, found, new].map(|line| WordLine::of(line, fold));
    if [&search, &found, &new].iter().any(|side| side.tokens.len() > WORDS_MAX) {
        return new.line.to_owned();
    }
    let (hunks, held) = (hunks(&search, &new), held(&search, &found));
    let merge = Merge { search, found, new, hunks, held };
    let line = merge.pieces().map(|pieces| (merge.written(&pieces, plain), pieces));
    match line {
        Some((line, pieces)) if merge.keeps_words_apart(&line, &pieces, plain, fold) => line,
        _ => plain.applied(merge.new.line, fold),
    }
}

/// The words that the edit changes: compared as they are written.
fn hunks(search: &WordLine<'_>, new: &WordLine<'_>) -> Vec<WordHunk> {
    let (search, new) = (search.words(), new.words());
    capture_diff_slices(Algorithm::Myers, &search, &new)
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| WordHunk { search: op.old_range(), new: op.new_range() })
        .collect()
}

/// Finds the words of the search in the file: compared as they count.
fn held(search: &WordLine<'_>, found: &WordLine<'_>) -> Vec<Option<usize>> {
    let mut held = vec![None; search.tokens.len()];
    let folded = |side: &WordLine<'_>| -> Vec<String> {
        side.tokens.iter().map(|token| token.folded.clone().into_owned()).collect()
    };
    for op in capture_diff_slices(Algorithm::Myers, &folded(search), &folded(found)) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            (0..len).for_each(|at| held[old_index + at] = Some(new_index + at));
        }
    }
    held
}

// === impl WordLine ===

impl<'a> WordLine<'a> {
    fn of(line: &'a str, fold: Fold) -> Self {
        Self { line, tokens: tokens(line, fold) }
    }

    fn word(&self, at: usize) -> &'a str {
        &self.line[self.tokens[at].range.clone()]
    }

    fn words(&self) -> Vec<&'a str> {
        (0..self.tokens.len()).map(|at| self.word(at)).collect()
    }

    /// What stands before a word; before the one past the last, what stands at the end.
    fn gap_before(&self, at: usize) -> &'a str {
        let start = at.checked_sub(1).map_or(0, |before| self.tokens[before].range.end);
        let end = self.tokens.get(at).map_or(self.line.len(), |token| token.range.start);
        &self.line[start..end]
    }
}

// === impl Merge ===

impl Merge<'_> {
    /// The words of the merged line; none where the file has other words around a change.
    fn pieces(&self) -> Option<Vec<MergedWord>> {
        let mut pieces = Vec::new();
        let mut next = 0;
        for WordHunk { search, new } in &self.hunks {
            let start = match search.start.checked_sub(1) {
                Some(before) => self.held[before]? + 1,
                None => 0,
            };
            let end = match self.held.get(search.end) {
                Some(after) => (*after)?,
                None => self.found.tokens.len(),
            };
            pieces.extend((next..start).map(MergedWord::Found));
            pieces.extend(new.clone().map(MergedWord::New));
            next = end;
        }
        pieces.extend((next..self.found.tokens.len()).map(MergedWord::Found));
        Some(pieces)
    }

    fn written(&self, pieces: &[MergedWord], plain: &PlainForms) -> String {
        let mut line = String::with_capacity(self.found.line.len() + self.new.line.len());
        let mut before = None;
        for piece in pieces {
            line.push_str(match (before, *piece) {
                (None, MergedWord::Found(0)) => self.found.gap_before(0),
                (None, _) => "",
                (Some(before), piece) => plain.of(self.gap(before, piece)),
            });
            line.push_str(match *piece {
                MergedWord::Found(at) => self.found.word(at),
                MergedWord::New(at) => plain.of(self.new.word(at)),
            });
            before = Some(*piece);
        }
        if before == self.found.tokens.len().checked_sub(1).map(MergedWord::Found) {
            line.push_str(self.found.gap_before(self.found.tokens.len()));
        }
        line
    }

    /// What stands between two words of the merged line: what the file has between those that they
    /// are or stand for, unless the edit has something else there than the search; or else what the
    /// edit has.
    fn gap(&self, before: MergedWord, after: MergedWord) -> &str {
        let place = |piece| match piece {
            MergedWord::Found(at) => (self.of_search(at), Some(at)),
            MergedWord::New(at) => match self.stands_for(at) {
                Some((old, found)) => (Some(old), Some(found)),
                None => (None, None),
            },
        };
        let ((_, found_before), (old, found)) = (place(before), place(after));
        let new = match after {
            MergedWord::New(at) => Some(at),
            MergedWord::Found(_) => old.and_then(|old| self.kept(old)),
        };
        let neighbours = found.filter(|at| found_before.map(|before| before + 1) == Some(*at));
        match (neighbours, old, new) {
            (Some(found), Some(old), Some(new))
                if self.search.gap_before(old) == self.new.gap_before(new) =>
            {
                self.found.gap_before(found)
            }
            (Some(found), None, _) => self.found.gap_before(found),
            (_, _, Some(new)) => self.new.gap_before(new),
            (_, _, None) => found.map_or("", |at| self.found.gap_before(at)),
        }
    }

    /// Which word of the search a word of the file is.
    fn of_search(&self, found: usize) -> Option<usize> {
        self.held.iter().position(|held| *held == Some(found))
    }

    /// Whether a line has the words that it is made of, and no others.
    fn keeps_words_apart(
        &self,
        line: &str,
        pieces: &[MergedWord],
        plain: &PlainForms,
        fold: Fold,
    ) -> bool {
        let wanted = pieces.iter().map(|piece| match *piece {
            MergedWord::Found(at) => self.found.word(at),
            MergedWord::New(at) => plain.of(self.new.word(at)),
        });
        let written = WordLine::of(line, fold);
        written.words().into_iter().eq(wanted)
    }

    /// Which new word a word of the search is, that the edit leaves alone.
    fn kept(&self, old: usize) -> Option<usize> {
        let before = self.hunks.iter().rev().find(|hunk| hunk.search.end <= old);
        before.map_or(Some(old), |hunk| Some(old - hunk.search.end + hunk.new.end))
    }

    /// Which words of search and file a new word replaces, where it is one for one.
    fn stands_for(&self, new: usize) -> Option<(usize, usize)> {
        let hunk = self.hunks.iter().find(|hunk| hunk.new.contains(&new))?;
        let old = hunk.search.start + (new - hunk.new.start);
        (hunk.search.len() == hunk.new.len()).then_some(())?;
        let found = self.held[old];
        let before =
            hunk.search.start.checked_sub(1).map_or(Some(0), |b| Some(self.held[b]? + 1))?;
        Some((old, found.unwrap_or(before + (new - hunk.new.start))))
            .filter(|(_, found)| *found < self.found.tokens.len())
    }
}

// === impl PlainForms ===

impl PlainForms {
    /// Learns from a line of the search and the line of the file that it stands for.
    pub(super) fn learn(&mut self, search: &str, found: &str, fold: Fold) {
        if search.is_ascii() || fold == Fold::Blanks {
            return;
        }
        let (search, found) = (WordLine::of(search, fold), WordLine::of(found, fold));
        if search.tokens.len() != found.tokens.len() {
            return;
        }
        for at in 0..search.tokens.len() {
            self.add(search.word(at), found.word(at));
            self.add(search.gap_before(at), found.gap_before(at));
        }
    }

    fn add(&mut self, search: &str, found: &str) {
        if !search.is_ascii() && found.is_ascii() && !found.is_empty() {
            self.0.insert(search.to_owned(), found.to_owned());
        }
    }

    /// Returns a word or gap in its plain form.
    fn of<'a>(&'a self, text: &'a str) -> &'a str {
        self.0.get(text).map_or(text, String::as_str)
    }

    /// Writes a whole line in plain forms.
    pub(super) fn applied(&self, line: &str, fold: Fold) -> String {
        if self.0.is_empty() {
            return line.to_owned();
        }
        let side = WordLine::of(line, fold);
        let mut written = String::with_capacity(line.len());
        for at in 0..side.tokens.len() {
            written.push_str(self.of(side.gap_before(at)));
            written.push_str(self.of(side.word(at)));
        }
        written + side.gap_before(side.tokens.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_keeps_what_the_edit_leaves_alone() {
        // search, file, new, merged
        let cases = [
            ("x = foo(a, b)", "x = foo( a, b )", "x = foo(a, c)", "x = foo( a, c )"),
            ("foo(a, b)", "foo(a,  b)", "foo(a, z)", "foo(a,  z)"),
            ("s = \"a b\"", "s = \"a  b\"", "s = \"a b\"  # id", "s = \"a  b\"  # id"),
            ("say \"hi\" Bob", "say “hi” Bob", "say \"hi\" Ann", "say “hi” Ann"),
            ("wait -- what", "wait — what", "wait -- why", "wait — why"),
            (
                "acc += it.price",
                "result += it.price",
                "acc += it.price * it.qty",
                "result += it.price * it.qty",
            ),
            ("y := 99", "y := 2", "y := 100", "y := 100"),
            ("f(a)", "f( a )", "f()", "f()"),
            (
                "import { a } from x",
                "import {a} from x",
                "import { a as b } from x",
                "import {a as b } from x",
            ),
            ("a = b", "a=b", "a = not b", "a= not b"),
            ("x + y;", "x+y;", "x + +y;", "x+ +y;"),
            ("a / b", "a/b", "a / *b", "a/ *b"),
            ("if (x) { return }", "if(x){return}", "if (x) { return null }", "if(x){return null }"),
            ("x = 1", "x   = 1", "x = 1 + 2", "x   = 1 + 2"),
            ("a b", "a  b", "", ""),
            ("a b", "a  b", "b", "b"),
            ("a b", "a  b", "a", "a"),
            ("", "", "a", "a"),
            ("return 1", "return 2", "x = 3; return 1", "x = 3; return 2"),
            ("one two three", "one TWO three", "one 2 3", "one 2 3"),
        ];
        for (search, found, new, expected) in cases {
            let result = merged(search, found, new, Fold::Unicode, &PlainForms::default());
            assert_eq!(result, expected, "{search:?} {found:?} {new:?}");
        }
    }

    #[test]
    fn typographic_characters_of_the_edit_become_those_of_the_file() {
        let mut plain = PlainForms::default();
        plain.learn("print(“hi”)", "print(\"hi\")", Fold::Unicode);
        let line =
            merged("print(“hi”)", "print(\"hi\")", "print(“hello”, “x”)", Fold::Unicode, &plain);
        assert_eq!(line, "print(\"hello\", \"x\")");
        assert_eq!(plain.applied("log(“a”)", Fold::Unicode), "log(\"a\")");
    }
}
