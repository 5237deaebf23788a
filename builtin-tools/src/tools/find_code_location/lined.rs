//! A text with its lines: where in them something is declared, used or written.

use moss_ranking::{DeclaredPlace, is_name_part};
use moss_sdk::RelPath;
use moss_sdk::editor::Position;
use moss_symbols::{Declaration, NameUse, Outline, TextRange, one_line, plain_documentation};

use super::found::{FileCode, LOCATIONS_MAX};
use super::location::{CodeLocation, CodeUse, LocationKind};

/// Most bytes of a signature or a line.
const LINE_BYTES_MAX: usize = 300;
/// Most bytes of what documents a declaration.
const DOCUMENTATION_BYTES_MAX: usize = 600;

/// A text with where its lines begin.
pub(super) struct LinedText<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

pub(super) fn slice<'t>(text: &'t str, range: &TextRange) -> &'t str {
    text.get(range.start as usize..range.end as usize).unwrap_or_default()
}

/// A signature or a line, as it is shown.
fn shown(text: &str) -> Option<String> {
    Some(one_line(text, LINE_BYTES_MAX))
}

// === impl LinedText ===

impl<'a> LinedText<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The line of a byte, from 1.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).max(1)
    }

    /// A line, from 1, without its end.
    fn line(&self, number: usize) -> &'a str {
        let start = self.starts[number - 1];
        let end = self.starts.get(number).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// What stands in a line before a byte of it.
    fn before(&self, at: usize) -> &'a str {
        &self.text[self.starts[self.line_of(at) - 1]..at]
    }

    /// The last line of what ends before a byte.
    fn last_line(&self, range: &TextRange) -> usize {
        self.line_of((range.end as usize).saturating_sub(1).max(range.start as usize))
    }

    /// The innermost declaration around a line, by its place.
    pub(super) fn innermost(&self, outline: &Outline, line: u32) -> Option<usize> {
        let line = line as usize;
        let holds = |declaration: &Declaration| {
            let first = self.line_of(declaration.begin as usize);
            (first..=self.last_line(&declaration.range)).contains(&line)
        };
        outline.declarations.iter().rposition(holds)
    }

    pub(super) fn declared(&self, path: &RelPath, outline: &Outline, place: usize) -> CodeLocation {
        let declaration = &outline.declarations[place];
        let at = declaration.name.start as usize;
        let documentation = declaration.documentation.as_ref();
        let (line, begun) = (self.line_of(at), self.line_of(declaration.begin as usize));
        let around = DeclaredPlace::of(path, self.text, outline, declaration).containers;
        CodeLocation {
            path: path.to_string(),
            line: line as u64,
            column: self.before(at).chars().count() as u64 + 1,
            start_line: (begun < line).then_some(begun as u64),
            end_line: self.last_line(&declaration.range) as u64,
            name: Some(slice(self.text, &declaration.name).to_owned()),
            kind: LocationKind::from(declaration.kind),
            container: around.first().map(|&own| own.to_owned()),
            text: shown(slice(self.text, &declaration.signature)),
            documentation: documentation
                .map(|range| plain_documentation(slice(self.text, range), DOCUMENTATION_BYTES_MAX))
                .filter(|text| !text.is_empty()),
            utf16_column: self.before(at).encode_utf16().count(),
        }
    }

    pub(super) fn used(&self, outline: &Outline, used: &NameUse) -> CodeUse {
        let at = used.name.start as usize;
        let line = self.line_of(at);
        let container = used.container.and_then(|place| outline.declarations.get(place as usize));
        CodeUse {
            line: line as u64,
            column: self.before(at).chars().count() as u64 + 1,
            kind: Some(used.kind.into()),
            text: shown(self.line(line)),
            container: container.map(|one| slice(self.text, &one.name).to_owned()),
        }
    }

    /// The byte at which a name begins that somebody else gave the position of; `None` if the position does not exist.
    pub(super) fn name_at(&self, position: Position) -> Option<usize> {
        let number = usize::try_from(position.line).ok()? + 1;
        let (start, line) = (*self.starts.get(number - 1)?, self.line(number));
        let mut units = 0;
        let mut within = line.char_indices();
        let at = loop {
            if units >= position.character as usize {
                break within.next()?.0;
            }
            units += within.next()?.1.len_utf16();
        };
        let next = line[at..].chars().next();
        let begins = next.is_some_and(|c| is_name_part(c) || "$@#\"'`".contains(c));
        let is_within = line[..at].chars().next_back().is_some_and(is_name_part)
            && next.is_some_and(is_name_part);
        (begins && !is_within).then_some(start + at)
    }

    /// The use that begins at a byte.
    pub(super) fn used_at(&self, outline: Option<&Outline>, at: usize) -> CodeUse {
        let is_it = |used: &&NameUse| used.name.start as usize == at;
        if let Some((outline, used)) =
            outline.and_then(|known| Some((known, known.uses.iter().find(is_it)?)))
        {
            return self.used(outline, used);
        }
        CodeUse {
            line: self.line_of(at) as u64,
            column: self.before(at).chars().count() as u64 + 1,
            kind: None,
            text: shown(self.line(self.line_of(at))),
            container: self.around(outline, self.line_of(at)),
        }
    }

    /// The declaration whose name begins at a byte, or else the line.
    pub(super) fn declared_at(
        &self,
        path: &RelPath,
        outline: Option<&Outline>,
        at: usize,
    ) -> CodeLocation {
        let is_it = |declaration: &Declaration| declaration.name.start as usize == at;
        let place = outline.and_then(|known| known.declarations.iter().position(is_it));
        if let (Some(outline), Some(place)) = (outline, place) {
            return self.declared(path, outline, place);
        }
        let line = self.line_of(at);
        CodeLocation {
            kind: LocationKind::Definition,
            container: self.around(outline, line),
            ..self.of_line(path, at)
        }
    }

    /// The name of what is declared around a line.
    fn around(&self, outline: Option<&Outline>, line: usize) -> Option<String> {
        let outline = outline?;
        let place = self.innermost(outline, u32::try_from(line).ok()?)?;
        Some(slice(self.text, &outline.declarations[place].name).to_owned())
    }

    /// The line that a byte lies in.
    fn of_line(&self, path: &RelPath, at: usize) -> CodeLocation {
        let line = self.line_of(at);
        CodeLocation {
            path: path.to_string(),
            line: line as u64,
            column: self.before(at).chars().count() as u64 + 1,
            start_line: None,
            end_line: line as u64,
            name: None,
            kind: LocationKind::Line,
            container: None,
            text: shown(self.line(line)),
            documentation: None,
            utf16_column: self.before(at).encode_utf16().count(),
        }
    }

    /// The lines that match, each with what is declared around it.
    pub(super) fn code(
        &self,
        path: &RelPath,
        expression: &regex::Regex,
        outline: Option<&Outline>,
        found: &mut FileCode,
    ) {
        let mut last = 0;
        for matched in expression.find_iter(self.text) {
            let line = self.line_of(matched.start());
            if line == last {
                continue;
            }
            last = line;
            found.total_locations += 1;
            if found.locations.len() == LOCATIONS_MAX {
                continue;
            }
            let container = self.around(outline, line);
            found.locations.push(CodeLocation { container, ..self.of_line(path, matched.start()) });
        }
    }
}
