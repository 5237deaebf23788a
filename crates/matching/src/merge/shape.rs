//! Whether the lines that are written lie as deep to each other as those of the replacement.

/// Columns of a tab, where it is compared with blanks.
const TAB_COLUMNS: usize = 4;

/// How deep the lines are that are written, from the first on.
#[derive(Debug, Default)]
pub(super) struct IndentShape {
    last: Option<LineDepth>,
    /// Whether it is open how deep some line is meant.
    pub(super) is_doubtful: bool,
}

#[derive(Debug, Clone, Copy)]
struct LineDepth {
    wanted: usize,
    got: usize,
    /// Whether it is as deep as no line that was found.
    is_new: bool,
    /// Whether it is new and the next line must be deeper, as in Python.
    needs_block: bool,
}

// === impl IndentShape ===

impl IndentShape {
    /// Takes the next line: the indentation that the replacement has, and the one that it gets.
    /// Where one of two neighbours is new, they must lie to each other as they do in the
    /// replacement, and a block must be one there.
    pub(super) fn line(&mut self, wanted: &str, got: &str, is_new: bool, needs_block: bool) {
        let line = LineDepth { wanted: width(wanted), got: width(got), is_new, needs_block };
        if let Some(before) = self.last.replace(line) {
            let (meant, written) = (line.wanted.cmp(&before.wanted), line.got.cmp(&before.got));
            let is_flat = before.needs_block && line.wanted <= before.wanted;
            self.is_doubtful |= is_flat || ((before.is_new || is_new) && meant != written);
        }
    }
}

/// The columns of an indentation.
pub(super) fn width(indent: &str) -> usize {
    indent.chars().map(|c| if c == '\t' { TAB_COLUMNS } else { 1 }).sum()
}
