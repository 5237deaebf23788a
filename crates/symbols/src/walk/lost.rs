//! Functions of shell scripts that the grammar loses: it reads patterns, nested quotes and regular expressions of
//! Bash in part only, and what comes after one that it does not read may become words, or one long text.
//!
//! The first line of a function says that it is one, so lines are read where the tree has an error. What the tree
//! has remains; the functions that it does not have are added, with the line that closes them by its indentation.

use std::collections::{HashMap, HashSet};

use tree_sitter::Tree;

use super::{DECLARATIONS_MAX, bytes};
use crate::language::Language;
use crate::outline::{Declaration, DeclarationKind, Outline, TextRange};
use crate::rules::pragmas::is_pragma;

/// What no name of a function has in it.
const NO_NAME: [char; 17] =
    ['$', '(', ')', '{', '}', '<', '>', '|', '&', ';', '=', '\'', '"', '`', '\\', '#', '!'];

/// The first line of a function.
struct FunctionHead {
    name: TextRange,
    indent: usize,
    /// Where the function begins and ends; at its first line until the one that closes it is read.
    range: TextRange,
    signature: TextRange,
    documentation: Option<TextRange>,
}

/// Reads a script line by line.
struct ScriptLines<'t> {
    text: &'t str,
    /// Which line is the last with this text, without blanks before it: where here-documents may end.
    last: HashMap<&'t str, usize>,
    heads: Vec<FunctionHead>,
    /// Those of them that are not closed, the innermost last.
    open: Vec<usize>,
    comment: Option<TextRange>,
}

/// Adds the functions that a tree with an error does not have.
pub(super) fn recover(outline: &mut Outline, tree: &Tree, text: &str) {
    if outline.language != Language::Bash || !tree.root_node().has_error() {
        return;
    }
    let is_function = |one: &&Declaration| one.kind == DeclarationKind::Function;
    let functions = outline.declarations.iter().filter(is_function);
    let known: HashSet<u32> = functions.map(|one| one.name.start).collect();
    let mut lost = heads(text);
    lost.retain(|head| !known.contains(&head.name.start));
    let room = DECLARATIONS_MAX.saturating_sub(outline.declarations.len());
    outline.is_cut |= lost.len() > room;
    lost.truncate(room);
    if lost.is_empty() {
        return;
    }
    let starts: HashSet<u32> = lost.iter().map(|head| head.name.start).collect();
    outline.uses.retain(|used| !starts.contains(&used.name.start));
    without_locals(&mut outline.declarations, &lost);
    outline.declarations.extend(lost.into_iter().map(Declaration::from));
    outline.declarations.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end)));
    contain(outline);
}

/// Leaves out variables that the functions set: their declarations were thought to be in none.
fn without_locals(declarations: &mut Vec<Declaration>, lost: &[FunctionHead]) {
    let (mut next, mut end) = (lost.iter().peekable(), 0);
    declarations.retain(|one| {
        while let Some(head) = next.next_if(|head| head.range.start <= one.range.start) {
            end = end.max(head.range.end);
        }
        one.kind != DeclarationKind::Variable || one.range.start >= end
    });
}

/// Says anew what each declaration and each use lies in.
fn contain(outline: &mut Outline) {
    let ranges: Vec<TextRange> = outline.declarations.iter().map(|one| one.range.clone()).collect();
    let mut around = Vec::new();
    for (place, declared) in outline.declarations.iter_mut().enumerate() {
        declared.container = innermost(&mut around, &ranges, declared.range.start);
        around.push(place);
    }
    let mut next = 0;
    around.clear();
    for used in &mut outline.uses {
        let at = used.name.start;
        while let Some(range) = ranges.get(next).filter(|range| range.start <= at) {
            innermost(&mut around, &ranges, range.start);
            around.push(next);
            next += 1;
        }
        used.container = innermost(&mut around, &ranges, at);
    }
}

/// Leaves what ends before a byte. Returns the innermost of the rest.
pub(super) fn innermost(around: &mut Vec<usize>, ranges: &[TextRange], at: u32) -> Option<u32> {
    while around.pop_if(|place| ranges[*place].end <= at).is_some() {}
    around.last().and_then(|place| u32::try_from(*place).ok())
}

/// Finds the first lines of functions, by where they stand.
fn heads(text: &str) -> Vec<FunctionHead> {
    let lines = text.split_inclusive('\n').enumerate();
    let last = lines.map(|(at, line)| (line.trim(), at)).collect();
    let mut script = ScriptLines { text, last, heads: Vec::new(), open: Vec::new(), comment: None };
    script.read();
    script.heads
}

/// The name of a function in its first line, and whether its body may begin in the next.
fn head(line: &str) -> Option<(&str, bool)> {
    let (rest, is_said) = match line.strip_prefix("function") {
        Some(rest) if rest.starts_with([' ', '\t']) => (rest.trim_start(), true),
        _ => (line, false),
    };
    let end = rest.find(|c: char| c.is_whitespace() || NO_NAME.contains(&c)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let rest = rest.trim_start();
    let parentheses = rest.strip_prefix('(').and_then(|rest| rest.trim_start().strip_prefix(')'));
    let body = match parentheses {
        Some(body) => body.trim_start(),
        None if is_said => rest,
        None => return None,
    };
    let is_below = body.is_empty() || body.starts_with('#');
    let is_head = !name.is_empty() && (is_below || body.starts_with(['{', '(']));
    is_head.then_some((name, is_below))
}

/// The word that ends a here-document which begins in a line.
fn here_document(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("<<")?;
    let word = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\t']);
    let word = word.trim_start_matches(['\'', '"', '\\']);
    let end = word.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(word.len());
    (end > 0).then(|| &word[..end])
}

// === impl ScriptLines ===

impl ScriptLines<'_> {
    fn read(&mut self) {
        let (mut start, mut ending) = (0, None);
        for (at, line) in self.text.split_inclusive('\n').enumerate() {
            let bare = line.trim();
            match ending {
                Some(word) if bare == word => ending = None,
                Some(_) => {}
                None => {
                    self.line(start, line);
                    let word = here_document(bare).filter(|_| !bare.starts_with('#'));
                    // Numbers are shifted with the same sign.
                    ending = word.filter(|word| self.last.get(word).is_some_and(|end| *end > at));
                }
            }
            start += line.len();
        }
    }

    fn line(&mut self, start: usize, line: &str) {
        let (indented, bare) = (line.trim_start(), line.trim());
        let indent = line.len() - indented.len();
        let (first, end) = (start + indent, start + indent + bare.len());
        if bare.starts_with('#') {
            if !is_pragma(bare) {
                let begun = self.comment.take().map_or(first, |range| range.start as usize);
                self.comment = Some(bytes(begun, end));
            }
            return;
        }
        let documentation = self.comment.take();
        if bare.starts_with(['}', ')']) {
            let is_closed = |at: &mut usize| self.heads[*at].indent == indent;
            if let Some(closed) = self.open.pop_if(is_closed) {
                self.heads[closed].range.end = bytes(first, first + 1).end;
            }
            return;
        }
        let Some((name, is_below)) = head(bare) else { return };
        let next = self.text.get(start + line.len()..).unwrap_or_default().trim_start();
        if is_below && !next.starts_with(['{', '(']) {
            return;
        }
        while self.open.pop_if(|at| self.heads[*at].indent >= indent).is_some() {}
        let begin = first + bare.find(name).unwrap_or_default();
        let signature = bare.split(['{', '#']).next().unwrap_or(bare).trim_end();
        self.heads.push(FunctionHead {
            name: bytes(begin, begin + name.len()),
            indent,
            range: bytes(first, end),
            signature: bytes(first, first + signature.len()),
            documentation,
        });
        if !bare.ends_with(['}', ')']) || is_below {
            self.open.push(self.heads.len() - 1);
        }
    }
}

// === impl FunctionHead ===

impl From<FunctionHead> for Declaration {
    fn from(head: FunctionHead) -> Self {
        Self {
            name: head.name,
            kind: DeclarationKind::Function,
            begin: head.documentation.as_ref().unwrap_or(&head.range).start,
            range: head.range,
            signature: head.signature,
            documentation: head.documentation,
            container: None,
            owner: None,
        }
    }
}
