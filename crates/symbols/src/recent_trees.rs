//! Trees of large texts that parsed, so that of the next version of a text only what changed is parsed.
//!
//! A kept tree only ever shows that a text parses: a tree without an error is one by the grammar, whatever it was
//! made from. How a parser goes on behind an error does depend on that, so a text with an error is parsed
//! whole. What is kept changes how long a result takes, and never the result. No text is ever returned.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tree_sitter::{InputEdit, Point, Tree};

use crate::language::Language;
use crate::outline::SyntaxError;
use crate::outliner::{OutlineProblem, Outliner};

/// Smallest text whose tree is kept, in bytes: a smaller one is parsed within a millisecond.
const TEXT_BYTES_MIN: usize = 4 << 10;
/// Most nodes that all kept trees have together. Each takes about 110 bytes: the trees take up to 13 MiB.
const NODES_MAX: usize = 120_000;
/// Most trees that are kept.
const TREES_MAX: usize = 24;

/// The trees of the texts that were parsed last: of each name one.
#[derive(Debug, Default)]
pub struct RecentTrees {
    /// The one used last at the end.
    trees: Mutex<VecDeque<Arc<RecentTree>>>,
}

/// A text that parses.
#[derive(Debug)]
struct RecentTree {
    name: String,
    language: Language,
    text: String,
    tree: Tree,
    nodes: usize,
}

/// How one text became another: the bytes from `start` on were replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReplacedPart {
    start: usize,
    old_end: usize,
    new_end: usize,
}

// === impl RecentTrees ===

impl RecentTrees {
    /// Finds where a text does not parse, as [`Outliner::syntax_errors`] does, sooner where a version of it
    /// parsed before. All its versions have the same name, such as its path.
    ///
    /// # Errors
    ///
    /// Where the text passes a bound.
    pub fn syntax_errors(
        &self,
        outliner: &mut Outliner,
        name: &str,
        language: Language,
        text: &str,
    ) -> Result<Vec<SyntaxError>, OutlineProblem> {
        if text.len() < TEXT_BYTES_MIN {
            return outliner.syntax_errors(language, text);
        }
        let known = self.find(name, language);
        if known.as_ref().is_some_and(|known| known.text == text) {
            return Ok(Vec::new());
        }
        let changed = known.map(|known| known.edited_to(text));
        let changed = changed.map(|tree| outliner.parse_changed(language, text, &tree));
        let tree = match changed.transpose()?.flatten() {
            Some(tree) => tree,
            None => outliner.parse(language, text)?,
        };
        let found = outliner.errors_of(language, text, &tree)?;
        if !tree.root_node().has_error() {
            self.keep(RecentTree::new(name, language, text, tree));
        }
        Ok(found)
    }

    /// Whether a version of a text is kept.
    pub fn has(&self, name: &str) -> bool {
        self.lock().iter().any(|kept| kept.name == name)
    }

    /// How many nodes the kept trees have together.
    pub fn nodes(&self) -> usize {
        nodes(&self.lock())
    }

    fn find(&self, name: &str, language: Language) -> Option<Arc<RecentTree>> {
        let mut trees = self.lock();
        let is_it = |kept: &Arc<RecentTree>| kept.name == name && kept.language == language;
        let at = trees.iter().position(is_it)?;
        let found = trees.remove(at)?;
        trees.push_back(Arc::clone(&found));
        Some(found)
    }

    /// Keeps a tree in the place of the one of its name; those that have no room any more are dropped.
    fn keep(&self, tree: RecentTree) {
        if tree.nodes > NODES_MAX {
            return;
        }
        let mut dropped = Vec::new();
        let mut trees = self.lock();
        if let Some(at) = trees.iter().position(|kept| kept.name == tree.name) {
            dropped.extend(trees.remove(at));
        }
        trees.push_back(Arc::new(tree));
        while trees.len() > TREES_MAX || nodes(&trees) > NODES_MAX {
            dropped.extend(trees.pop_front());
        }
        // To drop a tree takes a while: nobody waits for that.
        drop(trees);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<RecentTree>>> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn nodes(trees: &VecDeque<Arc<RecentTree>>) -> usize {
    trees.iter().map(|kept| kept.nodes).sum()
}

// === impl RecentTree ===

impl RecentTree {
    fn new(name: &str, language: Language, text: &str, tree: Tree) -> Self {
        let nodes = tree.root_node().descendant_count();
        Self { name: name.to_owned(), language, text: text.to_owned(), tree, nodes }
    }

    /// Its tree, with what another text has elsewhere marked as changed.
    fn edited_to(&self, text: &str) -> Tree {
        let ReplacedPart { start, old_end, new_end } = ReplacedPart::between(&self.text, text);
        let start_position = behind(Point::default(), &text[..start]);
        let mut tree = self.tree.clone();
        tree.edit(&InputEdit {
            start_byte: start,
            old_end_byte: old_end,
            new_end_byte: new_end,
            start_position,
            old_end_position: behind(start_position, &self.text[start..old_end]),
            new_end_position: behind(start_position, &text[start..new_end]),
        });
        tree
    }
}

/// The position behind a piece of text that begins at a position.
fn behind(start: Point, text: &str) -> Point {
    match text.rfind('\n') {
        None => Point::new(start.row, start.column + text.len()),
        Some(last) => {
            let lines = text.bytes().filter(|byte| *byte == b'\n').count();
            Point::new(start.row + lines, text.len() - last - 1)
        }
    }
}

// === impl ReplacedPart ===

impl ReplacedPart {
    /// The smallest part of whole characters outside of which two texts are the same.
    fn between(old: &str, new: &str) -> Self {
        let same = |one: &(u8, u8)| one.0 == one.1;
        let start = old.bytes().zip(new.bytes()).take_while(same).count();
        let start = old.floor_char_boundary(start);
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let pairs = old_rest.bytes().rev().zip(new_rest.bytes().rev());
        let end = pairs.take_while(same).count();
        let old_end = old.ceil_char_boundary(old.len() - end);
        Self { start, old_end, new_end: new.len() - (old.len() - old_end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_replaced_part_is_of_whole_characters() {
        for (old, new, start, old_end, new_end) in [
            ("", "", 0, 0, 0),
            ("same", "same", 4, 4, 4),
            ("", "ab", 0, 0, 2),
            ("ab", "", 0, 2, 0),
            ("abc", "abbc", 2, 2, 3),
            ("aaaa", "aa", 2, 4, 2),
            // Both begin with the same byte.
            ("x\u{e9}y", "x\u{e8}y", 1, 3, 3),
            // Both end with the same byte.
            ("x\u{e9}y", "x\u{1e9}y", 1, 3, 3),
            ("\u{e9}", "\u{e9}\u{e9}", 2, 2, 4),
        ] {
            let part = ReplacedPart::between(old, new);
            assert_eq!(part, ReplacedPart { start, old_end, new_end }, "{old} {new}");
            assert_eq!(old[..part.start], new[..part.start]);
            assert_eq!(old[part.old_end..], new[part.new_end..]);
        }
    }

    #[test]
    fn a_position_counts_lines_and_bytes_of_the_last() {
        let start = Point::new(3, 5);
        assert_eq!(behind(start, "ab"), Point::new(3, 7));
        assert_eq!(behind(start, "ab\n"), Point::new(4, 0));
        assert_eq!(behind(start, "a\n\nb\u{e9}"), Point::new(5, 3));
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let (trees, mut outliner) = (RecentTrees::default(), Outliner::default());
        assert!(!trees.has("0"));
        let mut parse = |name: &str, bytes: usize| {
            let text = "fn a() {}\n".repeat(bytes / 10);
            trees.syntax_errors(&mut outliner, name, Language::Rust, &text).unwrap();
            let names: Vec<_> = trees.lock().iter().map(|kept| kept.name.clone()).collect();
            assert!(trees.nodes() <= NODES_MAX && names.len() <= TREES_MAX, "{names:?}");
            names
        };
        assert!(parse("small", TEXT_BYTES_MIN - 100).is_empty());
        for number in 0..TREES_MAX {
            parse(&number.to_string(), TEXT_BYTES_MIN + 100);
        }
        assert_eq!(parse("0", TEXT_BYTES_MIN + 200).len(), TREES_MAX);
        let names = parse("one more", TEXT_BYTES_MIN + 100);
        assert!(names.contains(&"0".to_owned()) && !names.contains(&"1".to_owned()), "{names:?}");
        // Each function has nine nodes.
        assert_eq!(parse("large", 10 * (NODES_MAX / 9 - 1)), ["large"]);
        assert_eq!(parse("huge", 10 * (NODES_MAX / 8)), ["large"]);
        assert!(trees.has("large") && !trees.has("huge"));
    }
}
