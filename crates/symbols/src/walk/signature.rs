//! What of a declaration stands before its body.

use tree_sitter::Node;

use super::bytes;
use crate::outline::TextRange;

/// Most bytes of a declaration before its name that are part of its signature.
const BEFORE_NAME_BYTES_MAX: usize = 200;

/// The part of a declaration before its body, and before comments that stand there; of what has none, up to the end of
/// the line that its name is in.
pub(super) fn signature(
    (node, body): (Node<'_>, Option<Node<'_>>),
    name: &TextRange,
    comments: &[&str],
    text: &str,
) -> TextRange {
    let (start, before) = match body {
        Some(body) if body.start_byte() > node.start_byte() => {
            (node.start_byte(), before_comments(node, body, comments))
        }
        _ => line_of_name(node, name, comments, text),
    };
    let signature = text.get(start..before).unwrap_or_default();
    let is_end = |c: char| c.is_whitespace() || matches!(c, '{' | ':' | ',');
    bytes(start, start + signature.trim_end_matches(is_end).len())
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

/// The line of a name, from where its declaration begins: from where the line begins, if much stands before, or
/// other names of a pattern.
fn line_of_name(node: Node<'_>, name: &TextRange, comments: &[&str], text: &str) -> (usize, usize) {
    let (mut start, at) = (node.start_byte(), name.start as usize);
    let before = text.get(start..at).unwrap_or_default();
    let is_pattern = before.starts_with(['{', '[', '(']);
    if is_pattern || before.len() > BEFORE_NAME_BYTES_MAX {
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        start += line + (before[line..].len() - before[line..].trim_start().len());
    }
    let rest = text.get(at..node.end_byte()).unwrap_or_default();
    let end = at + rest.find('\n').unwrap_or(rest.len());
    let last = at + text.get(at..end).unwrap_or_default().trim_end().len().saturating_sub(1);
    (start, comment_around(node, last, comments).filter(|begin| *begin >= at).unwrap_or(end))
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
