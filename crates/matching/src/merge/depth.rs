//! How deep lines are written, and where that is left open.

use std::collections::HashSet;

use moss_sdk::edit::Drift;

use super::shape::width;
use super::{Merger, Op};
use crate::indent::{Mapped, head, indent, opens_block};

// === impl Merger ===

impl Merger<'_> {
    /// The indentation of a line that replaces one.
    pub(super) fn changed_indent(
        &mut self,
        (old, new): (usize, usize),
        search: &str,
        found: &str,
    ) -> String {
        let wanted = indent(self.sides.replace[new]);
        // A line in place of a blank one is as deep as one that is added.
        let is_kept = wanted == search && !self.sides.search[old].trim().is_empty();
        let is_first = self.head == Some(new);
        let mapped = match is_kept {
            // Though the others have the file's.
            true if self.indents.has_files() && search != found => {
                Mapped { indent: found.to_owned(), is_certain: false }
            }
            true => Mapped::certain(found),
            false if is_first => self.indents.map_first(wanted),
            false => self.indents.map(wanted, old),
        };
        // Lines that alone have the file's indentation: unless they are in a block that is new.
        let is_odd = !is_kept && search != found && wanted == found && !self.is_in_new_block(new);
        let is_odd = is_odd && !self.indents.has_files();
        // Next to a first line without indentation, nobody knows what it is deeper than.
        let is_exact_but_first =
            self.indents.lacks_first() || (self.indents.has_files() && is_first);
        let is_odd = is_odd || !is_kept && is_exact_but_first && search == found;
        // Blocks that only the file shows come or go with the lines that open them.
        let [old, new_line] = [self.sides.search[old], self.sides.replace[new]];
        let is_odd = is_odd || self.indents.is_flat() && opens_block(old) != opens_block(new_line);
        self.shape.is_doubtful |= !mapped.is_certain || is_odd;
        self.note_depth(new, &mapped.indent, !is_kept);
        mapped.indent
    }

    /// Whether the nearest line before, that is less deep, opens a block.
    fn is_in_new_block(&self, new: usize) -> bool {
        let depth = indent(self.sides.replace[new]).len();
        let before = self.sides.replace[..new].iter().rev().filter(|line| !line.trim().is_empty());
        let mut shallower = before.filter(|line| indent(line).len() < depth);
        shallower.next().is_some_and(|line| opens_block(line))
    }

    pub(super) fn note_depth(&mut self, new: usize, got: &str, is_new: bool) {
        let line = self.sides.replace[new];
        if line.trim().is_empty() || self.indents.is_same() {
            return;
        }
        let is_first = self.head == Some(new) && self.indents.lacks_first();
        let wanted = if is_first { got } else { indent(line) };
        let needs_block = line.trim_end().ends_with(':') && !self.was_searched(line);
        self.shape.line(wanted, got, is_new, needs_block);
        self.shape.is_doubtful |= !is_first && self.leaves_first_block(new);
    }

    fn was_searched(&self, line: &str) -> bool {
        self.sides.search.iter().any(|search| search.trim() == line.trim())
    }

    /// Whether a line follows the first one, which lacks its indentation, and lies in a block that
    /// the first one does not open, or not in the one that it opens.
    fn leaves_first_block(&self, new: usize) -> bool {
        let Some(at) = self.head.filter(|_| self.indents.lacks_first()) else { return false };
        let lines = self.sides.replace;
        let is_next = lines[at + 1..new].iter().all(|line| line.trim().is_empty());
        let first = self.indents.map_first(indent(lines[at])).indent;
        let is_deeper = indent(lines[new]).len() > first.len();
        let opened = head(self.sides.search).is_some_and(|at| opens_block(self.sides.search[at]));
        is_next
            && match opens_block(lines[at]) {
                true => !is_deeper,
                false => is_deeper && opened,
            }
    }

    /// Notes the lines of the file that are not as deep as the search says, where they leave open
    /// how deep another line is meant.
    pub(super) fn check_depth(&mut self) {
        if !self.shape.is_doubtful && !self.breaks_blocks() {
            return;
        }
        let sides = self.sides;
        let noted: HashSet<u64> = self.drift.iter().map(|drift| drift.line).collect();
        let aligned = sides.search.iter().zip(sides.align);
        for (search, at) in aligned.filter_map(|(search, at)| Some((*search, (*at)?))) {
            let found = sides.found[at];
            let is_blank = search.trim().is_empty() || found.trim().is_empty();
            if is_blank || indent(search) == indent(found) {
                continue;
            }
            let (line, expected, found) = (at as u64, search.to_owned(), found.to_owned());
            if !noted.contains(&line) {
                self.drift.push(Drift { line, expected, found });
            }
        }
        self.drift.sort_by_key(|drift| drift.line);
    }

    /// Whether the lines around do not fit any more: a block continues below that lines were moved
    /// out of, or the first line lies deeper without a block.
    fn breaks_blocks(&self) -> bool {
        if self.indents.is_same() {
            return false;
        }
        let found = self.sides.found;
        let text = |op: &'_ Op| match op {
            Op::Keep(at) => Some(found[*at].to_owned()),
            Op::Change(_, line) | Op::Insert(line) => Some(line.clone()),
            Op::Delete(_) => None,
        };
        let written: Vec<String> =
            self.ops.iter().filter_map(text).filter(|line| !line.trim().is_empty()).collect();
        let old = || found.iter().filter(|line| !line.trim().is_empty());
        let (Some(first), Some(last)) = (written.first(), written.last()) else { return false };
        let (Some(old_first), Some(old_last)) = (old().next(), old().next_back()) else {
            return false;
        };
        let depth = |line: &str| width(indent(line));
        let is_deeper = depth(first) > depth(old_first)
            && self
                .sides
                .before
                .is_some_and(|line| !opens_block(line) && depth(line) < depth(first));
        let mut below = self.sides.after.iter().filter(|line| !line.trim().is_empty());
        let next = below.find(|line| depth(line) <= depth(old_last));
        is_deeper || next.is_some_and(|line| depth(line) > depth(last))
    }
}
