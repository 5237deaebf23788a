//! Lines and positions of a text, as editors count them.

use crate::editor::Position;

/// The lines of a text as editors count them: a lone carriage return ends a line too, and a line
/// end at the end of the text begins an empty line.
#[derive(Debug)]
pub struct EditorLines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

/// Where a character of a line, in UTF-16 code units, begins in bytes; the end where it has fewer.
pub fn byte_of(line: &str, character: u32) -> usize {
    let mut units = 0;
    for (at, c) in line.char_indices() {
        if units >= character {
            return at;
        }
        units += c.len_utf16() as u32;
    }
    line.len()
}

/// Where a byte of a line begins in UTF-16 code units.
pub fn character_of(line: &str, byte: usize) -> u32 {
    u32::try_from(line[..byte].encode_utf16().count()).unwrap_or(u32::MAX)
}

// === impl EditorLines ===

impl<'a> EditorLines<'a> {
    /// Finds the lines of a text.
    pub fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// How many lines there are; the empty one after the last line end is not counted.
    pub fn count(&self) -> u32 {
        let is_empty = self.starts.last() == Some(&self.text.len());
        u32::try_from(self.starts.len() - usize::from(is_empty)).unwrap_or(u32::MAX)
    }

    /// A line without its end, counted from 0; empty after the last one.
    pub fn line(&self, number: u32) -> &'a str {
        let number = number as usize;
        let Some(&start) = self.starts.get(number) else { return "" };
        let end = self.starts.get(number + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// A position that the text has: what an editor reports may be older or newer than the text.
    pub fn clamped(&self, position: Position) -> Position {
        let line = position.line.min(self.starts.len() as u32 - 1);
        let length = self.line(line).encode_utf16().count();
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Position { line, character: position.character.min(length) }
    }

    /// The text between two positions that it has.
    pub fn between(&self, start: Position, end: Position) -> &'a str {
        &self.text[self.offset(start)..self.offset(end)]
    }

    /// The position of a byte of the text.
    pub fn position(&self, at: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        let before = self.text.get(self.starts[line]..at).unwrap_or_default();
        let character = u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX);
        Position { line: u32::try_from(line).unwrap_or(u32::MAX), character }
    }

    /// Where a position of the text lies in it, in bytes.
    pub fn offset(&self, position: Position) -> usize {
        let start = self.starts[position.line as usize];
        start + byte_of(self.line(position.line), position.character)
    }
}
