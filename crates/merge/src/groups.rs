//! Edits of two sides that touch each other, in one walk over both.

use std::ops::Range;

use crate::pace::{Cancelled, Pace};

/// Lines that one side replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineEdit {
    pub(crate) base: Range<usize>,
    pub(crate) side: Range<usize>,
}

/// Edits that touch each other: the lines that they are about, and what either side made of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditGroup {
    pub(crate) base: Range<usize>,
    pub(crate) ours: Range<usize>,
    pub(crate) theirs: Range<usize>,
    /// Whether our side made one of them.
    pub(crate) is_of_ours: bool,
    /// Whether their side did.
    pub(crate) is_of_theirs: bool,
}

/// Edits of one side that no group has yet. Two of them never touch.
struct SideWalk<'a> {
    left: &'a [LineEdit],
    /// Where the last one that has a group ends, in the base and on the side.
    passed: (usize, usize),
}

/// Groups the edits of both sides, ascending. Those that only meet at their ends are together: no
/// unchanged line is between them.
pub(crate) fn groups(
    ours: &[LineEdit],
    theirs: &[LineEdit],
    pace: &mut Pace<'_>,
) -> Result<Vec<EditGroup>, Cancelled> {
    let (mut ours, mut theirs) = (SideWalk::new(ours), SideWalk::new(theirs));
    let mut groups = Vec::new();
    while let Some(start) = [ours.next(), theirs.next()].into_iter().flatten().min() {
        let (our_start, their_start) = (ours.place(start), theirs.place(start));
        let (mut end, mut is_of_ours, mut is_of_theirs) = (start, false, false);
        loop {
            pace.take(1)?;
            let taken = (ours.take_touching(&mut end), theirs.take_touching(&mut end));
            is_of_ours |= taken.0;
            is_of_theirs |= taken.1;
            if taken == (false, false) {
                break;
            }
        }
        groups.push(EditGroup {
            base: start..end,
            ours: our_start..ours.place(end),
            theirs: their_start..theirs.place(end),
            is_of_ours,
            is_of_theirs,
        });
    }
    Ok(groups)
}

// === impl SideWalk ===

impl<'a> SideWalk<'a> {
    fn new(edits: &'a [LineEdit]) -> Self {
        Self { left: edits, passed: (0, 0) }
    }

    /// Where the next edit begins in the base.
    fn next(&self) -> Option<usize> {
        self.left.first().map(|edit| edit.base.start)
    }

    /// Where a line of the base that is in no edit, and not before the last one that was taken, is on the
    /// side.
    fn place(&self, base: usize) -> usize {
        self.passed.1 + (base - self.passed.0)
    }

    /// Takes the next edit if it touches what ends there, which then reaches as far as the edit does.
    fn take_touching(&mut self, end: &mut usize) -> bool {
        let Some((edit, left)) = self.left.split_first() else { return false };
        if edit.base.start > *end {
            return false;
        }
        *end = edit.base.end.max(*end);
        self.left = left;
        self.passed = (edit.base.end, edit.side.end);
        true
    }
}

// === impl EditGroup ===

impl EditGroup {
    /// Whether both sides made something of the lines, and not the same.
    pub(crate) fn is_conflict(&self, ours: &[u32], theirs: &[u32]) -> bool {
        self.is_of_ours
            && self.is_of_theirs
            && ours[self.ours.clone()] != theirs[self.theirs.clone()]
    }
}
