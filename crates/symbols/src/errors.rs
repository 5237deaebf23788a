//! Where a text does not parse, as closely as a tree says it.
//!
//! A grammar that meets an open bracket gives up on all that is around it. So in what it gave up on brackets
//! are matched first: one without its other half is the error, and what else is in there is not.
//!
//! No grammar knows all of its language. What it does not know is an error for sure only where a bracket lacks its
//! other half in the text itself, and in JSON, which has not changed.

mod brackets;

use tree_sitter::{Node, Tree};

use self::brackets::TextBrackets;
use crate::language::Language;
use crate::outline::{SyntaxError, TextRange};
use crate::walk::{each_node, range};

/// Most errors of one text.
const ERRORS_MAX: usize = 100;
/// Most nodes that are looked at for brackets, over all errors of a text.
const LOOKED_AT_MAX: usize = 200_000;
/// The brackets of programming languages.
const BRACKETS: [(&str, &str); 3] = [("(", ")"), ("[", "]"), ("{", "}")];

/// Finds where a text does not parse.
pub(crate) fn syntax_errors(language: Language, tree: &Tree, text: &str) -> Vec<SyntaxError> {
    let mut found: Vec<SyntaxError> = Vec::new();
    let brackets = TextBrackets::new(language, text);
    // What lies before this is explained already.
    let mut explained = 0;
    let mut looks_left = LOOKED_AT_MAX;
    each_node(tree, |node| node.has_error(), &mut |path| {
        let node = path[path.len() - 1].node;
        let is_inside = node.start_byte() < explained;
        if is_inside || found.len() >= ERRORS_MAX || !(node.is_error() || node.is_missing()) {
            return;
        }
        if node.is_missing() {
            found.push(SyntaxError {
                range: range(node),
                missing: Some(node.kind().to_owned()),
                is_sure: brackets.is_sure(opening_of(node)),
            });
            return;
        }
        let unmatched = unmatched_bracket(node, &mut looks_left);
        if unmatched.is_some() {
            explained = node.end_byte();
        }
        let holds_errors = || {
            let mut cursor = node.walk();
            node.children(&mut cursor).any(|child| child.has_error())
        };
        match unmatched {
            Some(error) => {
                let is_sure = brackets.is_sure(Some(error.range.start as usize));
                found.push(SyntaxError { is_sure, ..error });
            }
            None if holds_errors() => {}
            None => {
                let range = first_line(text, node);
                found.push(SyntaxError { range, missing: None, is_sure: brackets.is_sure(None) });
            }
        }
    });
    found
}

/// The innermost bracket in a node that nothing closes, or the first that closes nothing.
fn unmatched_bracket(node: Node<'_>, looks_left: &mut usize) -> Option<SyntaxError> {
    let mut open: Vec<(Node<'_>, &str)> = Vec::new();
    let mut cursor = node.walk();
    loop {
        *looks_left = looks_left.checked_sub(1)?;
        let here = cursor.node();
        let kind = here.kind();
        if let Some((_, closing)) = BRACKETS.iter().find(|(opening, _)| *opening == kind) {
            open.push((here, closing));
        } else if BRACKETS.iter().any(|(_, closing)| *closing == kind) && !here.is_missing() {
            match open.pop() {
                Some((_, closing)) if closing == kind => {}
                Some((opening, closing)) => return Some(unclosed(opening, closing)),
                None => {
                    return Some(SyntaxError { range: range(here), missing: None, is_sure: false });
                }
            }
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node() == node {
                return open.pop().map(|(opening, closing)| unclosed(opening, closing));
            }
        }
    }
}

fn unclosed(opening: Node<'_>, closing: &str) -> SyntaxError {
    SyntaxError { range: range(opening), missing: Some(closing.to_owned()), is_sure: false }
}

/// Where the bracket is that a missing one would close.
fn opening_of(missing: Node<'_>) -> Option<usize> {
    let (opening, _) = BRACKETS.iter().find(|(_, closing)| *closing == missing.kind())?;
    let parent = missing.parent()?;
    let mut cursor = parent.walk();
    let mut children = parent.children(&mut cursor);
    children.find(|child| child.kind() == *opening).map(|child| child.start_byte())
}

/// The part of a node in its first line that is not blank.
fn first_line(text: &str, node: Node<'_>) -> TextRange {
    let whole = range(node);
    let inside = &text[node.byte_range()];
    let blank = inside.len() - inside.trim_start().len();
    let line = inside[blank..].find('\n').unwrap_or(inside.len() - blank);
    let add = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
    whole.start + add(blank)..whole.start + add(blank + line)
}
