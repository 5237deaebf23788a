//! Cuts a text into chunks: one for each function, type or section, others for what lies between.

use std::ops::Range;

use moss_symbols::{Declaration, DeclarationKind, Outline, TextRange};

/// Longest chunk, in lines: longer functions are several.
const LINES_MAX: usize = 60;
/// A function of more lines is cut.
const UNCUT_LINES_MAX: usize = 90;
/// What a function in another one has to have that is itself longer than [`LINES_MAX`], in lines.
const INNER_LINES_MIN: u32 = 4;
/// Most chunks of a text.
const CHUNKS_MAX: usize = 20_000;
/// Most containers that are named of a chunk.
const CONTAINERS_MAX: usize = 8;

/// A part of a text that is found as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextChunk {
    /// What it declares: its place in the outline.
    pub(crate) declaration: Option<usize>,
    /// What that lies in, the innermost first.
    pub(crate) containers: Vec<TextRange>,
    pub(crate) documentation: Option<TextRange>,
    /// The rest of it, without chunks that lie in it.
    pub(crate) pieces: Vec<Range<usize>>,
    /// Its first and its last line, from 1.
    pub(crate) lines: (u32, u32),
    /// Whether it belongs to tests.
    pub(crate) is_test: bool,
    /// Whether it is a further part of the declaration that the chunk before it begins.
    pub(crate) is_continued: bool,
}

/// Where the lines of a text begin.
#[derive(Debug)]
pub(crate) struct LineStarts(Vec<usize>);

/// A chunk that is being cut out.
struct OwnChunk {
    declaration: Option<usize>,
    extent: Range<usize>,
    pieces: Vec<Range<usize>>,
}

/// Cuts a text at its declarations, or into windows where it has no outline. Also says whether it has more chunks than
/// those.
pub(crate) fn chunks(text: &str, outline: Option<&Outline>) -> (Vec<TextChunk>, bool) {
    let starts = LineStarts::new(text);
    let own = outline.map(|outline| (outline, own_declarations(text, outline, &starts)));
    let mut chunks = Vec::new();
    match own {
        Some((outline, own)) if !own.is_empty() => {
            for own in cut(text.len(), outline, &own) {
                match own.declaration {
                    None => between(text, &starts, &own.pieces, &mut chunks),
                    Some(_) => declared(text, outline, &starts, own, &mut chunks),
                }
                if chunks.len() > CHUNKS_MAX {
                    break;
                }
            }
        }
        _ => between(text, &starts, std::slice::from_ref(&(0..text.len())), &mut chunks),
    }
    let is_cut = chunks.len() > CHUNKS_MAX;
    chunks.truncate(CHUNKS_MAX);
    (chunks, is_cut)
}

/// Which declarations have chunks of their own.
fn own_declarations(text: &str, outline: &Outline, starts: &LineStarts) -> Vec<usize> {
    let mut own = Vec::new();
    for (at, declaration) in outline.declarations.iter().enumerate() {
        let lines = lines_of(declaration, starts, text);
        let around = functions_around(outline, declaration);
        let is_own = match declaration.kind {
            DeclarationKind::Function | DeclarationKind::Method => match around {
                None => true,
                Some(outer) => {
                    let outer = lines_of(&outline.declarations[outer], starts, text);
                    let is_long = |lines: (u32, u32)| (lines.1 - lines.0) as usize > LINES_MAX;
                    is_long(outer) && lines.1 - lines.0 >= INNER_LINES_MIN
                }
            },
            DeclarationKind::Class
            | DeclarationKind::Struct
            | DeclarationKind::Enum
            | DeclarationKind::Interface
            | DeclarationKind::Trait
            | DeclarationKind::Type
            | DeclarationKind::Macro
            | DeclarationKind::Test
            | DeclarationKind::Heading => true,
            DeclarationKind::Constant | DeclarationKind::Variable => {
                let is_top = declaration.container.is_none_or(|container| {
                    outline.declarations[container as usize].kind == DeclarationKind::Module
                });
                is_top && around.is_none()
            }
            DeclarationKind::Module
            | DeclarationKind::Field
            | DeclarationKind::Variant
            | DeclarationKind::Key => false,
        };
        if is_own {
            own.push(at);
        }
    }
    own
}

/// The innermost function that a declaration lies in.
fn functions_around(outline: &Outline, declaration: &Declaration) -> Option<usize> {
    let mut container = declaration.container;
    for _ in 0..CONTAINERS_MAX * 4 {
        let at = container? as usize;
        let around = &outline.declarations[at];
        if matches!(around.kind, DeclarationKind::Function | DeclarationKind::Method) {
            return Some(at);
        }
        container = around.container;
    }
    None
}

fn lines_of(declaration: &Declaration, starts: &LineStarts, text: &str) -> (u32, u32) {
    let extent = extent(declaration, text.len());
    (starts.line(extent.start), starts.line(extent.end.saturating_sub(1).max(extent.start)))
}

/// A declaration with what documents it.
fn extent(declaration: &Declaration, length: usize) -> Range<usize> {
    let documentation = declaration.documentation.as_ref();
    let start = documentation.map_or(declaration.range.start, |doc| doc.start);
    let start = start.min(declaration.range.start) as usize;
    start.min(length)..(declaration.range.end as usize).min(length)
}

/// Gives each byte of a text to the innermost chunk that it lies in; the last is what lies in none.
fn cut(length: usize, outline: &Outline, own: &[usize]) -> Vec<OwnChunk> {
    let chunk = |at: &usize| OwnChunk {
        declaration: Some(*at),
        extent: extent(&outline.declarations[*at], length),
        pieces: Vec::new(),
    };
    let mut chunks: Vec<OwnChunk> = own.iter().map(chunk).collect();
    chunks.sort_by_key(|chunk| (chunk.extent.start, std::cmp::Reverse(chunk.extent.end)));
    let rest = chunks.len();
    chunks.push(OwnChunk { declaration: None, extent: 0..length, pieces: Vec::new() });
    let (mut open, mut at) = (vec![rest], 0);
    for next in 0..=rest {
        let start = if next == rest { length } else { chunks[next].extent.start };
        while let Some(&top) = open.last()
            && chunks[top].extent.end <= start
        {
            let end = chunks[top].extent.end.max(at);
            chunks[top].pieces.push(at..end);
            at = end;
            open.pop();
        }
        if next < rest {
            if let Some(&top) = open.last()
                && start > at
            {
                chunks[top].pieces.push(at..start);
                at = start;
            }
            open.push(next);
        }
    }
    chunks
}

/// A chunk for a declaration, or several where it is long.
fn declared(
    text: &str,
    outline: &Outline,
    starts: &LineStarts,
    own: OwnChunk,
    chunks: &mut Vec<TextChunk>,
) {
    let Some(at) = own.declaration else { return };
    let declaration = &outline.declarations[at];
    let mut containers = Vec::new();
    containers.extend(declaration.owner.clone());
    let mut container = declaration.container;
    while let Some(around) = container
        && containers.len() < CONTAINERS_MAX
    {
        let around = &outline.declarations[around as usize];
        containers.push(around.name.clone());
        container = around.container;
    }
    let documentation = declaration.documentation.clone();
    let pieces: Vec<Range<usize>> =
        own.pieces.iter().flat_map(|piece| without(piece, documentation.as_ref())).collect();
    let lines = (starts.line(own.extent.start), starts.line(last(&own.extent)));
    let whole = TextChunk {
        declaration: Some(at),
        is_test: declaration.kind == DeclarationKind::Test || is_in_tests(text, &containers),
        containers,
        documentation,
        pieces,
        lines,
        is_continued: false,
    };
    let body_lines: usize = whole.pieces.iter().map(|piece| lines_in(text, piece)).sum();
    if body_lines <= UNCUT_LINES_MAX {
        chunks.push(whole);
        return;
    }
    let parts = in_windows(text, starts, &whole.pieces);
    let count = parts.len();
    for (number, (pieces, mut lines)) in parts.into_iter().enumerate() {
        let is_continued = number > 0;
        let documentation = whole.documentation.clone().filter(|_| !is_continued);
        if !is_continued {
            lines.0 = whole.lines.0;
        }
        if number + 1 == count {
            lines.1 = whole.lines.1;
        }
        chunks.push(TextChunk { documentation, pieces, lines, is_continued, ..whole.clone() });
    }
}

fn is_in_tests(text: &str, containers: &[TextRange]) -> bool {
    let names = containers.iter();
    names
        .filter_map(|name| text.get(name.start as usize..name.end as usize))
        .any(|name| matches!(name, "tests" | "test"))
}

/// Chunks of what lies between declarations, or of a text without any.
fn between(text: &str, starts: &LineStarts, pieces: &[Range<usize>], chunks: &mut Vec<TextChunk>) {
    let says_something =
        |piece: &&Range<usize>| text[(*piece).clone()].contains(char::is_alphanumeric);
    let pieces: Vec<Range<usize>> = pieces.iter().filter(says_something).cloned().collect();
    for (pieces, lines) in in_windows(text, starts, &pieces) {
        chunks.push(TextChunk {
            declaration: None,
            containers: Vec::new(),
            documentation: None,
            pieces,
            lines,
            is_test: false,
            is_continued: false,
        });
    }
}

/// Pieces that make one chunk, and the first and last line of the longest.
type ChunkWindow = (Vec<Range<usize>>, (u32, u32));

/// Puts pieces together up to [`LINES_MAX`] lines, cutting those that are longer. The lines are those
/// of the longest piece.
fn in_windows(text: &str, starts: &LineStarts, pieces: &[Range<usize>]) -> Vec<ChunkWindow> {
    let mut all = Vec::new();
    let (mut current, mut count) = (Vec::new(), 0);
    for piece in pieces {
        let mut rest = piece.clone();
        while !rest.is_empty() {
            let room = LINES_MAX - count;
            let ends = text[rest.clone()].match_indices('\n').map(|(at, _)| rest.start + at + 1);
            let (mut end, mut taken) = (rest.end, 0);
            for line_end in ends {
                taken += 1;
                if taken == room {
                    end = line_end;
                    break;
                }
            }
            count += taken.max(1);
            current.push(rest.start..end);
            rest.start = end;
            if count >= LINES_MAX {
                all.push(std::mem::take(&mut current));
                count = 0;
            }
        }
    }
    if !current.is_empty() {
        all.push(current);
    }
    let shown = |pieces: Vec<Range<usize>>| {
        let longest = pieces.iter().max_by_key(|piece| piece.len()).cloned().unwrap_or(0..0);
        let blank = text[longest.clone()].len() - text[longest.clone()].trim_start().len();
        let lines = (starts.line(longest.start + blank), starts.line(last(&longest)));
        (pieces, (lines.0, lines.1.max(lines.0)))
    };
    all.into_iter().map(shown).collect()
}

fn lines_in(text: &str, piece: &Range<usize>) -> usize {
    text[piece.clone()].matches('\n').count()
}

fn last(range: &Range<usize>) -> usize {
    range.end.saturating_sub(1).max(range.start)
}

/// A piece without what documents it.
fn without(piece: &Range<usize>, left_out: Option<&TextRange>) -> Vec<Range<usize>> {
    let Some(out) = left_out else { return vec![piece.clone()] };
    let (start, end) = (out.start as usize, out.end as usize);
    let before = piece.start..start.clamp(piece.start, piece.end);
    let behind = end.clamp(piece.start, piece.end)..piece.end;
    [before, behind].into_iter().filter(|part| !part.is_empty()).collect()
}

// === impl LineStarts ===

impl LineStarts {
    pub(crate) fn new(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// The line that a byte lies in, from 1.
    pub(crate) fn line(&self, at: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use moss_symbols::{Language, Outliner};
    use proptest::prelude::*;

    use super::*;

    fn cut_up(language: Language, text: &str) -> Vec<(Option<String>, (u32, u32))> {
        let outline = Outliner::default().outline(language, text).unwrap();
        let name = |chunk: &TextChunk| {
            let declaration = &outline.declarations[chunk.declaration?];
            let name = &declaration.name;
            Some(text[name.start as usize..name.end as usize].to_owned())
        };
        let (all, _) = chunks(text, Some(&outline));
        all.iter().map(|chunk| (name(chunk), chunk.lines)).collect()
    }

    #[test]
    fn methods_are_chunks_and_types_the_rest() {
        let text = "import os\n\nclass A:\n    \"\"\"Doc.\"\"\"\n    size = 1\n    def b(self):\n        pass\n\n    def c(self):\n        pass\n\ndef d():\n    pass\n";
        let expected = [("A", (3, 10)), ("b", (6, 7)), ("c", (9, 10)), ("d", (12, 13))];
        let mut expected: Vec<_> =
            expected.map(|(name, lines)| (Some(name.to_owned()), lines)).to_vec();
        expected.push((None, (1, 2)));
        assert_eq!(cut_up(Language::Python, text), expected);
    }

    #[test]
    fn long_functions_are_several_chunks_of_one_name() {
        let body = "    let x = step(x);\n".repeat(150);
        let text = format!("/// Doc.\nfn long() {{\n{body}}}\n");
        let found = cut_up(Language::Rust, &text);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().all(|(name, _)| name.as_deref() == Some("long")));
        assert_eq!((found[0].1.0, found[2].1.1), (1, 153));
    }

    #[test]
    fn texts_without_declarations_are_cut_into_windows() {
        let text = "a line\n".repeat(130);
        let (all, _) = chunks(&text, None);
        let lines: Vec<_> = all.iter().map(|chunk| chunk.lines).collect();
        assert_eq!(lines, [(1, 60), (61, 120), (121, 130)]);
        assert_eq!(chunks("", None), (vec![], false));
        assert_eq!(chunks("\n \n", None), (vec![], false));
    }

    #[test]
    fn a_text_with_more_chunks_than_are_kept_says_so() {
        let lines = |windows: usize| "a line\n".repeat(windows * LINES_MAX);
        let kept = |text: &str| {
            let (chunks, is_cut) = chunks(text, None);
            (chunks.len(), is_cut)
        };
        assert_eq!(kept(&lines(CHUNKS_MAX)), (CHUNKS_MAX, false));
        assert_eq!(kept(&lines(CHUNKS_MAX + 1)), (CHUNKS_MAX, true));
    }

    proptest! {
        #[test]
        fn pieces_never_overlap(text in "(fn [a-c]\\(\\) \\{|\\}|struct S;|mod m \\{|// x|\n| |x){0,60}") {
            let outline = Outliner::default().outline(Language::Rust, &text).unwrap();
            let mut pieces: Vec<_> =
                chunks(&text, Some(&outline)).0.into_iter().flat_map(|chunk| chunk.pieces).collect();
            pieces.sort_by_key(|piece| piece.start);
            for pair in pieces.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start);
            }
        }
    }
}
