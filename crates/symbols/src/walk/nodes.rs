//! Shows the nodes of a tree one after the other, without recursion.

use tree_sitter::{Node, Tree, TreeCursor};

/// Deepest nodes that are looked at.
pub(super) const DEPTH_MAX: usize = 1_000;

/// A node on the way to the one that is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step<'t> {
    pub(crate) node: Node<'t>,
    /// The field that it is in.
    pub(super) field: Option<&'t str>,
}

/// Shows each node with those that it lies in, in the order of the text. The nodes beneath one are
/// left out where `enters` says so, or where they lie too deep; returns whether none lies so deep.
pub(crate) fn each_node<'t>(
    tree: &'t Tree,
    enters: impl Fn(&Node<'t>) -> bool,
    see: &mut dyn FnMut(&[Step<'t>]),
) -> bool {
    let mut cursor = tree.walk();
    let mut path = vec![step(&cursor)];
    let mut is_whole = true;
    loop {
        see(&path);
        let goes_in = enters(&cursor.node());
        is_whole &= !goes_in || path.len() < DEPTH_MAX || cursor.node().child_count() == 0;
        if goes_in && path.len() < DEPTH_MAX && cursor.goto_first_child() {
            path.push(step(&cursor));
            continue;
        }
        while !cursor.goto_next_sibling() {
            path.pop();
            if path.is_empty() || !cursor.goto_parent() {
                return is_whole;
            }
        }
        path.pop();
        path.push(step(&cursor));
    }
}

fn step<'t>(cursor: &TreeCursor<'t>) -> Step<'t> {
    Step { node: cursor.node(), field: cursor.field_name() }
}
