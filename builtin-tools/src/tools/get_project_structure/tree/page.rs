//! A page of a drawn tree: some of its lines, and the directories that the first of them is in.

use super::{Drawn, INDENT};
use crate::extent;

/// Most bytes of a tree.
const BYTES_MAX: usize = 16 << 10;
/// Most bytes of a tree for each line that it may have, where that is more.
const LINE_BYTES: usize = 54;

/// Which lines of a tree are shown.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct TreePage {
    /// How many are passed over.
    pub(in super::super) offset: usize,
    /// Most that are shown.
    pub(in super::super) lines_max: usize,
}

/// Most bytes of a tree, or of a page of one, that may have so many lines.
pub(super) fn bytes_max(lines_max: usize) -> usize {
    BYTES_MAX.max(lines_max.saturating_mul(LINE_BYTES))
}

fn depth(line: &str) -> usize {
    let mut rest = line;
    let mut depth = 0;
    while let Some(inner) = rest.strip_prefix(INDENT) {
        (rest, depth) = (inner, depth + 1);
    }
    depth
}

/// The lines of the directories that a line is in, the outermost first.
fn above<'a>(lines: &[&'a str], at: usize) -> Vec<&'a str> {
    let mut wanted = depth(lines[at]);
    let mut above = Vec::new();
    for line in lines[..at].iter().rev() {
        if depth(line) < wanted {
            wanted = depth(line);
            above.push(*line);
        }
    }
    above.reverse();
    above
}

// === impl Drawn ===

impl Drawn {
    /// Returns a page of it, and which that is. It has one line at least, however long that is.
    pub(in super::super) fn page(&self, page: TreePage) -> (String, String) {
        let lines: Vec<&str> = self.text.lines().collect();
        let (total, first) = (lines.len(), page.offset);
        if first >= total || page.lines_max == 0 {
            let note = format!("the tree has {total} lines: `offset` passes over all of them");
            return (String::new(), note);
        }
        let above = above(&lines, first);
        let mut bytes = above.iter().map(|line| line.len() + 1).sum::<usize>();
        let has_room = |line: &&&str| {
            bytes += line.len() + 1;
            bytes <= bytes_max(page.lines_max)
        };
        let shown = lines[first..].iter().take(page.lines_max).take_while(has_room).count();
        let end = first + shown.max(1);
        let mut note = format!("lines {} to {end} of {total} of the tree", first + 1);
        if end < total {
            note.push_str(&extent::continued(end));
        }
        let shown = above.into_iter().chain(lines[first..end].iter().copied());
        let text = shown.map(|line| format!("{line}\n")).collect();
        (text, note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str, offset: usize, lines_max: usize) -> (String, String) {
        let drawn = Drawn { text: text.to_owned(), files: 0, directories: 0, folded: 0 };
        drawn.page(TreePage { offset, lines_max })
    }

    #[test]
    fn pages_follow_one_another_each_with_the_directories_around_it() {
        let tree = "a/\n  b/\n    c\n    d\n  e\nf\n";
        for (offset, text, note) in [
            (0, "a/\n  b/\n", "lines 1 to 2 of 6 of the tree: continue with `offset` 2"),
            (
                2,
                "a/\n  b/\n    c\n    d\n",
                "lines 3 to 4 of 6 of the tree: continue with `offset` 4",
            ),
            (4, "a/\n  e\nf\n", "lines 5 to 6 of 6 of the tree"),
            (6, "", "the tree has 6 lines: `offset` passes over all of them"),
            (usize::MAX, "", "the tree has 6 lines: `offset` passes over all of them"),
        ] {
            assert_eq!(page(tree, offset, 2), (text.to_owned(), note.to_owned()));
        }
        assert_eq!(page(tree, 0, usize::MAX).0, tree);
        assert_eq!(page("", 0, 1).0, "");
    }
}
