//! What of a declaration stands before its body.

use std::ops::Range;

use tree_sitter::Node;

use super::bytes;
use crate::outline::TextRange;

/// Most bytes of a declaration before its name that are part of its signature.
const BEFORE_NAME_BYTES_MAX: usize = 200;

/// The line of a name, and how its signature ends there. It is looked up once for all names of a declaration that are in
/// it: they may be very many.
#[derive(Debug, Default)]
pub(super) struct NameLine {
    /// The declaration that was looked at last.
    node: usize,
    /// The part of it that is in the line.
    bounds: Range<usize>,
    /// Where that ends without what ends a signature.
    end: usize,
    /// Where the comment begins that the line ends with, and where what is before that ends.
    comment: Option<(usize, usize)>,
}

// === impl NameLine ===

impl NameLine {
    /// The part of a declaration before its body, and before comments that stand there; of what has none, up to the end of
    /// the line that its name is in.
    pub(super) fn signature(
        &mut self,
        (node, body): (Node<'_>, Option<Node<'_>>),
        name: &TextRange,
        comments: &[&str],
        text: &str,
    ) -> TextRange {
        let start = node.start_byte();
        match body {
            Some(body) if body.start_byte() > start => {
                bytes(start, trimmed(text, start..before_comments(node, body, comments)))
            }
            _ => {
                let at = name.start as usize;
                self.look_at(node, at, comments, text);
                let start = self.start(start, at, text);
                let comment = self.comment.filter(|(begin, _)| *begin >= at);
                bytes(start, comment.map_or(self.end, |(_, end)| end).max(start))
            }
        }
    }

    /// Looks up the line that a byte of a declaration is in, unless it is that of the one before.
    fn look_at(&mut self, node: Node<'_>, at: usize, comments: &[&str], text: &str) {
        if self.node == node.id() && self.bounds.contains(&at) {
            return;
        }
        let (first, last) = (node.start_byte(), node.end_byte());
        let before = text.get(first..at).and_then(|before| before.rfind('\n'));
        let behind = text.get(at..last).and_then(|behind| behind.find('\n'));
        let bounds =
            before.map_or(first, |end| first + end + 1)..behind.map_or(last, |end| at + end);
        let written = text.get(bounds.clone()).unwrap_or_default().trim_end();
        let byte = bounds.start + written.len().saturating_sub(1);
        let comment = comment_around(node, byte.max(at), comments);
        self.comment = comment.map(|begin| (begin, trimmed(text, bounds.start..begin)));
        (self.node, self.end) = (node.id(), trimmed(text, bounds.clone()));
        self.bounds = bounds;
    }

    /// Where the signature begins: with the declaration, or with the line, if much stands before, or other names of a
    /// pattern.
    fn start(&self, start: usize, at: usize, text: &str) -> usize {
        let before = text.get(start..at).unwrap_or_default();
        let is_pattern = before.starts_with(['{', '[', '(']);
        if !is_pattern && before.len() <= BEFORE_NAME_BYTES_MAX {
            return start;
        }
        let line = text.get(self.bounds.start..at).unwrap_or_default();
        self.bounds.start + (line.len() - line.trim_start().len())
    }
}

/// Where a part of a text ends without what ends a signature.
fn trimmed(text: &str, part: Range<usize>) -> usize {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '{' | ':' | ',');
    let written = text.get(part.clone()).unwrap_or_default();
    part.start + written.trim_end_matches(is_end).len()
}

/// Where the comments begin that stand right before a body; where that begins, if none do.
fn before_comments(node: Node<'_>, body: Node<'_>, comments: &[&str]) -> usize {
    // A function or type that is a value has its body itself.
    let value = node.child_by_field_name("value").or_else(|| node.child_by_field_name("type"));
    let first = [Some(node), value].into_iter().flatten().find_map(|holder| {
        let mut first = None;
        let mut cursor = holder.walk();
        for child in holder.children(&mut cursor) {
            if child.start_byte() >= body.start_byte() {
                break;
            }
            match comments.contains(&child.kind()) {
                true => first = first.or(Some(child.start_byte())),
                false => first = None,
            }
        }
        first
    });
    first.unwrap_or(body.start_byte())
}

/// Where the comment begins that a byte of a node lies in. Only what is around the byte is looked at: a declaration
/// may have very many names.
fn comment_around(node: Node<'_>, at: usize, comments: &[&str]) -> Option<usize> {
    let mut cursor = node.walk();
    loop {
        let around = cursor.node();
        if around.start_byte() > at {
            return None;
        }
        if comments.contains(&around.kind()) {
            return Some(around.start_byte());
        }
        cursor.goto_first_child_for_byte(at)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;
    use crate::outliner::Outliner;

    #[test]
    fn a_line_is_looked_up_once_for_all_names_in_it() {
        let text = "const {\n  a, b, // of them\n  c } = x;\n";
        let tree = Outliner::default().parse(Language::JavaScript, text).unwrap();
        let pattern = tree.root_node().child(0).unwrap().named_child(0).unwrap();
        let mut line = NameLine::default();
        let mut signature = |name: &str, text: &str, at: usize| {
            let range = bytes(at, at + name.len());
            line.signature((pattern, None), &range, &["comment"], text)
        };
        let at = |name: &str| text.find(name).unwrap();
        let of = |range: TextRange| &text[range.start as usize..range.end as usize];
        assert_eq!(of(signature("a", text, at("a,"))), "a, b");
        // Where its line is looked for again, a text that has none gives another one.
        let blank = " ".repeat(text.len());
        let other = signature("b", &blank, at("b,"));
        assert_eq!(other.end as usize, at("b,") + 1);
        assert_eq!(of(signature("c", text, at("c }"))), "c } = x");
    }
}
