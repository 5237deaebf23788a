//! A YAML text as a whole: its one document, from the tree that the grammar of YAML makes. A text that does not
//! parse, or has a key twice, is refused.

use std::collections::HashSet;
use std::ops::Range;

use moss_symbols::{Language, Outliner, SyntaxTree};

use super::super::NotEdited;
use super::scalar;

/// How deep values may be nested.
const DEPTH_MAX: usize = 64;

/// The document of a text.
#[derive(Debug)]
pub(super) struct YamlDocument {
    /// Its value; none where there are only comments.
    pub(super) root: Option<YamlNode>,
    /// Where what is added to it goes: before the mark of its end, or else at the end of the text.
    pub(super) end: usize,
}

/// A value or a key.
#[derive(Debug)]
pub(super) struct YamlNode {
    /// Its bytes, without anchor and tag.
    pub(super) range: Range<usize>,
    pub(super) content: YamlContent,
    /// Its anchor and its tag, as they are written.
    pub(super) mark: String,
}

/// What a node holds.
#[derive(Debug)]
pub(super) enum YamlContent {
    /// Nothing is written there.
    Empty,
    Scalar,
    /// A reference to an anchor.
    Alias,
    Mapping {
        pairs: Vec<YamlPair>,
        is_block: bool,
    },
    Sequence {
        items: Vec<YamlNode>,
        is_block: bool,
    },
}

/// A key with its value.
#[derive(Debug)]
pub(super) struct YamlPair {
    pub(super) key: YamlNode,
    pub(super) value: YamlNode,
    /// Its bytes, without those that separate it from others.
    pub(super) range: Range<usize>,
    /// Where its colon ends.
    pub(super) colon_end: usize,
}

/// A walk over the nodes of the grammar.
struct YamlReader<'a> {
    text: &'a str,
    tree: &'a SyntaxTree,
}

// === impl YamlDocument ===

impl YamlDocument {
    /// Reads a text as a whole.
    ///
    /// # Errors
    ///
    /// Where it is no YAML, has several documents or a key twice, or is nested too deep.
    pub(super) fn read(text: &str) -> Result<Self, NotEdited> {
        let tree = Outliner::default().syntax_tree(Language::Yaml, text);
        let tree = tree.map_err(|problem| {
            NotEdited::new(format!("the file could not be read as YAML: {problem}"))
        })?;
        if let Some(error) = tree.errors.first() {
            let before = text.get(..error.range.start as usize).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let why = format!("the file is not YAML: there is an error in line {line} or after it");
            return Err(NotEdited::new(why));
        }
        YamlReader { text, tree: &tree }.document()
    }
}

// === impl YamlNode ===

impl YamlNode {
    /// The text of a scalar; none of what is something else or carries a mark.
    pub(super) fn text(&self, text: &str) -> Option<String> {
        match self.content {
            YamlContent::Scalar if self.mark.is_empty() => scalar::text(&text[self.range.clone()]),
            _ => None,
        }
    }

    fn empty(at: usize) -> Self {
        Self { range: at..at, content: YamlContent::Empty, mark: String::new() }
    }
}

// === impl YamlPair ===

impl YamlPair {
    /// The text of its key, where that is written before the colon and nothing else is.
    pub(super) fn name(&self, text: &str) -> Option<String> {
        self.key.text(text).filter(|_| self.key.range.start == self.range.start)
    }
}

// === impl YamlReader ===

impl YamlReader<'_> {
    fn document(&self) -> Result<YamlDocument, NotEdited> {
        let documents: Vec<usize> =
            self.children(0).filter(|&index| self.kind(index) == "document").collect();
        let document = match documents[..] {
            [] => return Ok(YamlDocument { root: None, end: self.text.len() }),
            [document] => document,
            _ => return Err(NotEdited::new("the file has several documents: change it by hand")),
        };
        let mark = self.children(document).find(|&index| self.kind(index) == "...");
        let end = mark.map_or(self.text.len(), |index| self.range(index).start);
        let root = self.children(document).find(|&index| self.is_value(index));
        Ok(YamlDocument { root: root.map(|index| self.node(index, 0)).transpose()?, end })
    }

    fn node(&self, index: usize, depth: usize) -> Result<YamlNode, NotEdited> {
        if depth > DEPTH_MAX {
            return Err(NotEdited::new("the file is nested too deep: change it by hand"));
        }
        if self.kind(index) == "flow_pair" {
            let pairs = vec![self.pair(index, depth)?];
            let content = YamlContent::Mapping { pairs, is_block: false };
            return Ok(YamlNode { range: self.range(index), content, mark: String::new() });
        }
        let is_mark = |index: &usize| matches!(self.kind(*index), "anchor" | "tag");
        let marks: Vec<&str> =
            self.children(index).filter(is_mark).map(|mark| &self.text[self.range(mark)]).collect();
        let mark = marks.join(" ");
        let held = self
            .children(index)
            .find(|held| !is_mark(held) && !matches!(self.kind(*held), "comment"));
        let Some(held) = held else {
            return Ok(YamlNode { mark, ..YamlNode::empty(self.range(index).end) });
        };
        let content = match self.kind(held) {
            "alias" => YamlContent::Alias,
            "block_mapping" => self.mapping(held, depth, true)?,
            "flow_mapping" => self.mapping(held, depth, false)?,
            "block_sequence" => self.sequence(held, depth, true)?,
            "flow_sequence" => self.sequence(held, depth, false)?,
            _ => YamlContent::Scalar,
        };
        // The grammar counts comments behind the last line as part of what is in block style.
        let last = match &content {
            YamlContent::Mapping { pairs, is_block: true } => pairs.last().map(|pair| &pair.range),
            YamlContent::Sequence { items, is_block: true } => items.last().map(|item| &item.range),
            _ => None,
        };
        let whole = self.range(held);
        let end = last.map_or(whole.end, |last| last.end);
        let length = self.text[whole.start..end].trim_end_matches([' ', '\t', '\r', '\n']).len();
        Ok(YamlNode { range: whole.start..whole.start + length, content, mark })
    }

    fn mapping(
        &self,
        index: usize,
        depth: usize,
        is_block: bool,
    ) -> Result<YamlContent, NotEdited> {
        let mut pairs = Vec::new();
        for held in self.children(index) {
            match self.kind(held) {
                "block_mapping_pair" | "flow_pair" => pairs.push(self.pair(held, depth)?),
                _ if self.is_value(held) => {
                    let key = self.node(held, depth + 1)?;
                    let range = self.range(held);
                    let value = YamlNode::empty(range.end);
                    pairs.push(YamlPair { key, value, colon_end: range.end, range });
                }
                _ => {}
            }
        }
        let mut seen = HashSet::new();
        for name in pairs.iter().filter_map(|pair| pair.key.text(self.text)) {
            if seen.contains(&name) {
                let why =
                    format!("the file has the key `{}` twice in one place", name.escape_debug());
                return Err(NotEdited::new(why));
            }
            seen.insert(name);
        }
        Ok(YamlContent::Mapping { pairs, is_block })
    }

    fn pair(&self, index: usize, depth: usize) -> Result<YamlPair, NotEdited> {
        let whole = self.range(index);
        let colon = self.children(index).find(|&held| self.kind(held) == ":");
        let colon_end = colon.map_or(whole.start, |colon| self.range(colon).end);
        let (mut key, mut value) = (YamlNode::empty(whole.start), YamlNode::empty(colon_end));
        for held in self.children(index).filter(|&held| self.is_value(held)) {
            let is_key = colon.is_none() || self.range(held).start < colon_end;
            let place = if is_key { &mut key } else { &mut value };
            *place = self.node(held, depth + 1)?;
        }
        let end = value.range.end.max(key.range.end).max(colon_end);
        Ok(YamlPair { range: whole.start..end, key, value, colon_end })
    }

    fn sequence(
        &self,
        index: usize,
        depth: usize,
        is_block: bool,
    ) -> Result<YamlContent, NotEdited> {
        let mut items = Vec::new();
        for held in self.children(index) {
            match self.kind(held) {
                "block_sequence_item" => {
                    let value = self.children(held).find(|&value| self.is_value(value));
                    let nothing = || Ok(YamlNode::empty(self.range(held).start + 1));
                    items.push(value.map_or_else(nothing, |value| self.node(value, depth + 1))?);
                }
                "flow_pair" | "flow_node" => items.push(self.node(held, depth + 1)?),
                _ => {}
            }
        }
        Ok(YamlContent::Sequence { items, is_block })
    }

    fn kind(&self, index: usize) -> &str {
        &self.tree.nodes[index].kind
    }

    fn is_value(&self, index: usize) -> bool {
        matches!(self.kind(index), "block_node" | "flow_node")
    }

    fn range(&self, index: usize) -> Range<usize> {
        let range = &self.tree.nodes[index].range;
        range.start as usize..range.end as usize
    }

    /// The nodes that lie in one, and in no other in it.
    fn children(&self, index: usize) -> impl Iterator<Item = usize> {
        let nodes = &self.tree.nodes;
        let depth = nodes.get(index).map_or(0, |node| node.depth);
        let beneath = nodes.iter().enumerate().skip(index + 1);
        beneath
            .take_while(move |(_, node)| node.depth > depth)
            .filter(move |(_, node)| node.depth == depth + 1)
            .map(|(index, _)| index)
    }
}
