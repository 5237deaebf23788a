//! The units in which tools count columns.

use crate::diagnostic::{CheckDiagnostic, FixEdit};

/// In which unit a tool counts columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Characters, as diagnostics have them.
    #[default]
    Characters,
    /// Units of UTF-16, as JavaScript and the language server protocol count.
    Utf16,
    /// Bytes of UTF-8, as go vet, clang-tidy and oxlint count.
    Bytes,
}

/// A column of an edit that means the end of its line, wherever that is: only a text says it.
pub(crate) const LINE_END: u64 = u64::MAX;

/// A text with the beginnings of its lines.
#[derive(Debug, Clone)]
pub struct CheckedText<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

/// An edit by bytes of its file, counted from 0. Until [`ColumnUnit::to_characters`] finds out where that is, it stands in
/// line 0.
pub(crate) fn edit_of_bytes(path: &str, start: u64, end: u64, new_text: String) -> FixEdit {
    let path = path.to_owned();
    FixEdit { path, line: 0, column: start, end_line: 0, end_column: end, new_text }
}

/// Drops the fixes of which only a text says where they are: it is missing.
pub fn drop_unplaced_fixes(found: &mut CheckDiagnostic) {
    found.fixes.retain(|fix| fix.edits.iter().all(is_placed));
}

/// Whether an edit says by itself where it is.
fn is_placed(edit: &FixEdit) -> bool {
    edit.line > 0 && edit.end_column != LINE_END
}

// === impl CheckedText ===

impl<'t> CheckedText<'t> {
    /// Finds the lines of a text, without its byte-order mark.
    pub fn new(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(ends).collect() }
    }

    /// A line, counted from 1, without its end.
    fn line(&self, number: u64) -> Option<&'t str> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        let start = *self.starts.get(at)?;
        let end = self.starts.get(at + 1).copied().unwrap_or(self.text.len());
        let line = &self.text[start..end];
        let bare = line.strip_suffix('\n').unwrap_or(line);
        Some(bare.strip_suffix('\r').unwrap_or(bare))
    }

    /// The line and the character, from 1, of a byte, from 0; none where no character begins there.
    fn location(&self, byte: u64) -> Option<(u64, u64)> {
        let byte = usize::try_from(byte).ok()?;
        let line = self.starts.partition_point(|start| *start <= byte);
        let before = self.text.get(*self.starts.get(line.checked_sub(1)?)?..byte)?;
        Some((line as u64, before.chars().count() as u64 + 1))
    }
}

// === impl ColumnUnit ===

impl ColumnUnit {
    /// Makes the columns of a diagnostic characters, by the text of its file. An end behind the end of its
    /// line is that end. Fixes that cannot be placed are dropped: other files have no text here.
    pub fn to_characters(self, found: &mut CheckDiagnostic, text: &CheckedText<'_>) {
        found.column = self.column(text, found.line, found.column);
        found.end_column = self.column(text, found.end_line, found.end_column);
        let path = &found.path;
        found.fixes.retain_mut(|fix| {
            fix.edits.iter_mut().all(|edit| match edit.path == *path {
                true => self.place(edit, text),
                false => self == Self::Characters && is_placed(edit),
            })
        });
    }

    /// Makes the columns of an edit characters; returns whether it lies in the text.
    fn place(self, edit: &mut FixEdit, text: &CheckedText<'_>) -> bool {
        if edit.line > 0 {
            edit.column = self.column(text, edit.line, edit.column);
            edit.end_column = self.column(text, edit.end_line, edit.end_column);
            return is_placed(edit);
        }
        let is_ordered = edit.column <= edit.end_column;
        let (start, end) = (text.location(edit.column), text.location(edit.end_column));
        let (Some(start), Some(end), true) = (start, end, is_ordered) else { return false };
        ((edit.line, edit.column), (edit.end_line, edit.end_column)) = (start, end);
        true
    }

    fn column(self, text: &CheckedText<'_>, line: u64, column: u64) -> u64 {
        text.line(line).map_or(column, |line| self.characters(line, column))
    }

    /// The character that a column of a line names, both from 1.
    pub(crate) fn characters(self, line: &str, column: u64) -> u64 {
        let mut units = 1_u64;
        let mut characters = 1_u64;
        for c in line.chars() {
            if units >= column {
                return characters;
            }
            units += match self {
                Self::Characters => 1,
                Self::Utf16 => c.len_utf16() as u64,
                Self::Bytes => c.len_utf8() as u64,
            };
            characters += 1;
        }
        characters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_every_unit_are_those_of_characters() {
        let line = "é😀x";
        for (unit, columns) in [
            (ColumnUnit::Characters, [1, 2, 3, 4]),
            (ColumnUnit::Utf16, [1, 2, 4, 5]),
            (ColumnUnit::Bytes, [1, 3, 7, 8]),
        ] {
            for (expected, column) in (1..).zip(columns) {
                assert_eq!(unit.characters(line, column), expected, "{unit:?} {column}");
            }
            assert_eq!(unit.characters(line, 100), 4, "the end of the line");
        }
    }

    #[test]
    fn bytes_of_a_file_are_lines_and_characters() {
        let text = CheckedText::new("é😀\r\nx\n");
        for (byte, location) in [
            (0, Some((1, 1))),
            (1, None),
            (2, Some((1, 2))),
            (6, Some((1, 3))),
            (8, Some((2, 1))),
            (9, Some((2, 2))),
            (10, Some((3, 1))),
            (11, None),
            (u64::MAX, None),
        ] {
            assert_eq!(text.location(byte), location, "{byte}");
        }
        let lines = [1, 2, 3, 4].map(|number| text.line(number));
        assert_eq!(lines, [Some("é😀"), Some("x"), Some(""), None]);
        assert_eq!(text.line(0), None);
    }
}
