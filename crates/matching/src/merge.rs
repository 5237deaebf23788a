//! The three-way merge of lines: base is what was searched for, theirs the replacement, ours the
//! lines in the file. Lines that the edit leaves alone stay as they are in the file, to the byte.

mod depth;
mod shape;
mod steps;

use std::collections::HashSet;

use moss_sdk::edit::Drift;

use self::shape::IndentShape;
use self::steps::{LineOp, steps};
use super::fold::{is_full_width, key};
use super::indent::{IndentMap, head, indent, opens_block};
use super::likeness::SearchBudget;
use super::sides::MergeSides;
use super::words::{PlainForms, merged};

/// What happens to the lines of the file, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Op {
    /// The next line of the file stays; its number within those found, from 0.
    Keep(usize),
    /// The line is another one now.
    Change(usize, String),
    /// The line is removed.
    Delete(usize),
    /// A new line, before the next one of the file.
    Insert(String),
}

/// What becomes of the lines that were found.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) ops: Vec<Op>,
    /// Lines that are changed or removed and were not as the search claimed; `line` counts from 0
    /// within the lines of the file.
    pub(super) drift: Vec<Drift>,
}

/// Lines that cannot be changed: they are not what the search claimed, or it did not show them.
#[derive(Debug)]
pub(super) struct MergeRefusal(pub(super) Vec<Drift>);

struct Merger<'a> {
    sides: &'a MergeSides<'a>,
    indents: &'a IndentMap<'a>,
    plain: PlainForms,
    /// Whether the replacement writes punctuation of full width though the search has none: then its
    /// plain one is meant too.
    tells_widths: bool,
    /// Lines that only the search has, or only the file: which of several equal ones it is that
    /// the other side does not have, nobody knows.
    unpaired: HashSet<String>,
    /// Whether the file has the lines of the search as they are.
    is_exact: bool,
    /// What all lines of the search end with, though those of the file do not.
    stray_end: Option<&'a str>,
    /// The next line of the file.
    next: usize,
    /// The line of the search that was removed right before.
    removed: Option<usize>,
    /// Whether the edit changed something since the last line that it left alone.
    changed: bool,
    /// The first line of the replacement that is not blank.
    head: Option<usize>,
    /// How deep the lines are that are written.
    shape: IndentShape,
    ops: Vec<Op>,
    drift: Vec<Drift>,
    refused: Vec<Drift>,
}

// === impl MergeRefusal ===

impl MergeRefusal {
    /// Counts lines from 1, in the file.
    pub(super) fn below(mut self, first: usize) -> Self {
        self.0.iter_mut().for_each(|drift| drift.line += first as u64);
        self
    }
}

/// Decides for each line that was found what becomes of it.
pub(super) fn merge(
    sides: &MergeSides<'_>,
    indents: &IndentMap<'_>,
) -> Result<Merged, MergeRefusal> {
    let mut plain = PlainForms::default();
    for (search, found) in pairs(sides) {
        plain.learn(search.trim(), found.trim(), sides.fold);
    }
    let (ops, drift, refused) = (Vec::new(), Vec::new(), Vec::new());
    let unpaired = unpaired(sides);
    let (next, removed, changed) = (0, None, false);
    let (head, shape) = (head(sides.replace), IndentShape::default());
    let has_wide = |lines: &[&str]| lines.iter().any(|line| line.contains(is_full_width));
    let tells_widths = has_wide(sides.replace) && !has_wide(sides.search);
    let mut merger = Merger {
        sides,
        indents,
        plain,
        tells_widths,
        unpaired,
        is_exact: pairs(sides).all(|(search, found)| search == found),
        stray_end: stray_end(sides),
        next,
        removed,
        changed,
        head,
        shape,
        ops,
        drift,
        refused,
    };
    let steps = steps(sides);
    for (at, step) in steps.iter().enumerate() {
        merger.step(*step, steps.get(at + 1));
    }
    merger.keep_until(sides.found.len());
    merger.check_depth();
    match merger.refused.is_empty() {
        true => Ok(Merged { ops: merger.ops, drift: merger.drift }),
        false => Err(MergeRefusal(merger.refused)),
    }
}

/// The lines of search and file that stand for each other.
fn pairs<'a>(sides: &MergeSides<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let aligned = sides.search.iter().zip(sides.align);
    aligned.filter_map(|(search, found)| Some((*search, sides.found[(*found)?])))
}

/// The white space that all lines of the search end with, though those of the file end with none.
fn stray_end<'a>(sides: &MergeSides<'a>) -> Option<&'a str> {
    let mut filled = pairs(sides).filter(|(search, _)| !search.trim().is_empty()).peekable();
    let end = trailing(filled.peek()?.0);
    let all = filled.all(|(search, found)| trailing(search) == end && trailing(found).is_empty());
    all.then_some(end)
}

/// The lines with text that have no counterpart.
fn unpaired(sides: &MergeSides<'_>) -> HashSet<String> {
    let missing = sides.search.iter().zip(sides.align).filter(|(_, at)| at.is_none());
    let paired: HashSet<usize> = sides.align.iter().flatten().copied().collect();
    let extra = sides.found.iter().enumerate().filter(|(at, _)| !paired.contains(at));
    let lines = missing.map(|(line, _)| line).chain(extra.map(|(_, line)| line));
    lines.filter(|line| !line.trim().is_empty()).map(|line| key(line, sides.fold)).collect()
}

// === impl Merger ===

impl Merger<'_> {
    fn step(&mut self, step: LineOp, following: Option<&LineOp>) {
        self.removed = match step {
            LineOp::Pair(..) => None,
            LineOp::Delete(old) => Some(old),
            LineOp::Insert(_) => self.removed,
        };
        match step {
            LineOp::Pair(old, new) => self.pair(old, new),
            LineOp::Delete(old) => self.delete(old),
            LineOp::Insert(new) => {
                let near = match following {
                    Some(LineOp::Pair(old, _) | LineOp::Delete(old)) => *old,
                    _ => self.sides.search.len(),
                };
                self.insert(new, near);
            }
        }
    }

    fn pair(&mut self, old: usize, new: usize) {
        let sides = self.sides;
        let (search, replace) = (sides.search[old], sides.replace[new]);
        let is_same = search.trim() == replace.trim();
        let Some(at) = sides.align[old] else {
            // The file does not have the line. What the edit leaves alone stays away.
            match (is_same, search.trim().is_empty()) {
                (true, _) => {}
                (false, true) => self.insert(new, old),
                (false, false) => self.refuse_missing(old),
            }
            return;
        };
        let found = sides.found[at];
        self.reach(at, search != replace);
        self.next = at + 1;
        self.changed = search != replace;
        if search == replace {
            self.note_depth(new, indent(found), false);
            return self.ops.push(Op::Keep(at));
        }
        if !is_same {
            self.check(at, search, found);
        }
        let line = self.changed_line((old, new), found);
        self.ops.push(if line == found { Op::Keep(at) } else { Op::Change(at, line) });
    }

    fn changed_line(&mut self, (old, new): (usize, usize), found: &str) -> String {
        let (search, replace) = (self.sides.search[old], self.sides.replace[new]);
        let is_as_found = search == found && indent(search) == indent(replace);
        let comes = search.trim().is_empty() && !self.indents.is_same();
        if (is_as_found && !comes) || replace.trim().is_empty() {
            return if search == found { replace.to_owned() } else { String::new() };
        }
        let indent = self.changed_indent((old, new), indent(search), indent(found));
        let is_left = trailing(search) == trailing(replace);
        let (content, is_left) = if search.trim() == replace.trim() {
            (found.trim().to_owned(), is_left)
        } else {
            // White space at the end of a line that is changed anyway is as the edit has it, but
            // none comes that only the search took to be there.
            let (fold, plain) = (self.sides.fold, &self.plain);
            let content = match self.tells_widths && found.contains(is_full_width) {
                true => replace.trim().to_owned(),
                false => merged(search.trim(), found.trim(), replace.trim(), fold, plain),
            };
            (content, is_left && trailing(found).is_empty())
        };
        let end = trailing(if is_left { found } else { replace });
        indent + &content + end
    }

    fn delete(&mut self, old: usize) {
        let sides = self.sides;
        self.shape.is_doubtful |= self.indents.is_flat() && opens_block(sides.search[old]);
        match sides.align[old] {
            Some(at) => {
                self.reach(at, true);
                self.check(at, sides.search[old], sides.found[at]);
                self.next = at + 1;
                self.ops.push(Op::Delete(at));
            }
            None if sides.search[old].trim().is_empty() => {}
            None => self.refuse_missing(old),
        }
        self.changed = true;
    }

    fn insert(&mut self, new: usize, near: usize) {
        let sides = self.sides;
        // A line that comes after a blank one comes after all blank ones that the file has there.
        let after_blank =
            near.checked_sub(1).is_some_and(|old| sides.search[old].trim().is_empty());
        let until = sides.align.get(near).copied().flatten().unwrap_or(self.next);
        while !self.changed && after_blank && self.next < until && self.is_blank(self.next) {
            self.ops.push(Op::Keep(self.next));
            self.next += 1;
        }
        // Where a line comes is determined by the lines around it: they must be there.
        for old in near.checked_sub(1).into_iter().chain([near]) {
            match sides.align.get(old) {
                Some(Some(at)) => self.check(*at, sides.search[old], sides.found[*at]),
                Some(None) if !sides.search[old].trim().is_empty() => self.refuse_missing(old),
                _ => {}
            }
        }
        let line = sides.replace[new];
        if self.unpaired.contains(&key(line, sides.fold)) {
            let (line, expected) = (self.next as u64, String::new());
            self.refused.push(Drift { line, expected, found: sides.replace[new].to_owned() });
        }
        let line = match (self.is_exact, line.trim()) {
            (true, _) => line.to_owned(),
            (false, "") => String::new(),
            (false, content) => {
                let content = self.plain.applied(content, sides.fold);
                let near = self.removed.unwrap_or(near);
                let is_first = self.head == Some(new);
                let mapped = match is_first {
                    true => self.indents.map_first(indent(line)),
                    false => self.indents.map(indent(line), near),
                };
                self.shape.is_doubtful |= !mapped.is_certain;
                self.note_depth(new, &mapped.indent, true);
                // A line ends with white space only because all lines of the edit do.
                let is_stray = self.stray_end == Some(trailing(line));
                let end = if is_stray { "" } else { trailing(line) };
                mapped.indent + &content + end
            }
        };
        self.ops.push(Op::Insert(line));
        self.changed = true;
    }

    /// Goes over the lines before one that stands for a line of the search. The search does not
    /// show them: amid what is changed, only blank ones may lie there.
    fn reach(&mut self, at: usize, changes: bool) {
        let amid = self.changed || changes;
        let goes = self.changed && changes && matches!(self.ops.last(), Some(Op::Delete(_)));
        for line in self.next..at {
            if amid && !self.is_blank(line) {
                let found = self.sides.found[line].to_owned();
                self.refused.push(Drift { line: line as u64, expected: String::new(), found });
            }
            self.ops.push(if goes && self.is_blank(line) {
                Op::Delete(line)
            } else {
                Op::Keep(line)
            });
        }
        self.next = self.next.max(at);
    }

    fn keep_until(&mut self, end: usize) {
        self.ops.extend((self.next..end).map(Op::Keep));
        self.next = end;
    }

    /// Notes where a line that goes is not the line that was searched for.
    fn check(&mut self, at: usize, search: &str, found: &str) {
        let sides = self.sides;
        let is_certain = self.unpaired.is_empty() || {
            let wanted = key(search, sides.fold);
            !self.unpaired.contains(&wanted)
        };
        let is_same = || key(search, sides.fold) == key(found, sides.fold);
        if is_certain && (search.trim() == found.trim() || is_same()) {
            return;
        }
        let (expected, found) = (search.to_owned(), found.to_owned());
        let alike = SearchBudget::new().likeness(&expected, &found).unwrap_or(0.0);
        let drift = Drift { line: at as u64, expected, found };
        let is_refused = !is_certain || alike < sides.likeness_min;
        let list = if is_refused { &mut self.refused } else { &mut self.drift };
        if !list.contains(&drift) {
            list.push(drift);
        }
    }

    fn refuse_missing(&mut self, old: usize) {
        let expected = self.sides.search[old].to_owned();
        self.refused.push(Drift { line: self.next as u64, expected, found: String::new() });
    }

    fn is_blank(&self, line: usize) -> bool {
        self.sides.found[line].trim().is_empty()
    }
}

fn trailing(line: &str) -> &str {
    &line[line.trim_end().len()..]
}
