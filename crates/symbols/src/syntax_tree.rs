//! The nodes of a parsed text with their places, for who edits a text and leaves the rest of it as it is.

use crate::errors::syntax_errors;
use crate::language::Language;
use crate::outline::{SyntaxError, TextRange};
use crate::outliner::{OutlineProblem, Outliner};
use crate::walk::{each_node, range};

/// All nodes of a text, as its grammar names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxTree {
    /// Each node before those in it, in the order of the text.
    pub nodes: Vec<SyntaxNode>,
    /// Where the text does not parse; with an error the nodes are a guess.
    pub errors: Vec<SyntaxError>,
}

/// A node of a [`SyntaxTree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxNode {
    /// Its name in the grammar; of a sign such as `:`, the sign.
    pub kind: String,
    /// Its bytes in the text.
    pub range: TextRange,
    /// In how many others it lies. Nodes in more than 999 are left out.
    pub depth: usize,
}

// === impl Outliner ===

impl Outliner {
    /// Parses a text and lists its nodes.
    ///
    /// # Errors
    ///
    /// Where the text passes a bound.
    pub fn syntax_tree(
        &mut self,
        language: Language,
        text: &str,
    ) -> Result<SyntaxTree, OutlineProblem> {
        let tree = self.parse(language, text)?;
        let mut nodes = Vec::new();
        each_node(&tree, |_| true, &mut |path| {
            let node = path[path.len() - 1].node;
            let (range, depth) = (range(node), path.len() - 1);
            nodes.push(SyntaxNode { kind: node.kind().to_owned(), range, depth });
        });
        Ok(SyntaxTree { nodes, errors: syntax_errors(language, &tree, text) })
    }
}
