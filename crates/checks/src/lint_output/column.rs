//! The units in which tools count columns.

use crate::diagnostic::CheckDiagnostic;

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

// === impl ColumnUnit ===

impl ColumnUnit {
    /// Makes the columns of a diagnostic characters, by the lines of its file. An end behind the end of its
    /// line is that end. Fixes of other files have no text here and are dropped.
    pub fn to_characters(self, found: &mut CheckDiagnostic, lines: &[&str]) {
        let column = |line: u64, column: u64| self.column(lines, line, column);
        found.column = column(found.line, found.column);
        found.end_column = column(found.end_line, found.end_column);
        if self != Self::Characters {
            let path = &found.path;
            found.fixes.retain(|fix| fix.edits.iter().all(|edit| edit.path == *path));
        }
        for edit in found.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
            if edit.path == found.path {
                edit.column = column(edit.line, edit.column);
                edit.end_column = column(edit.end_line, edit.end_column);
            }
        }
    }

    fn column(self, lines: &[&str], line: u64, column: u64) -> u64 {
        let at = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        let Some(text) = at.and_then(|at| lines.get(at)) else { return column };
        self.characters(text, column)
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
}
