//! Backslashes in strings of models: most forget to double them in paths and patterns.

/// How the backslashes of a string are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backslashes {
    /// As JSON has them.
    Escapes,
    /// Those of a pattern: one of them escapes nothing, so that `\b` is no backspace either.
    Pattern,
    /// Those of a path: none of them escapes anything, unless it is doubled.
    Path,
}

// === impl Backslashes ===

impl Backslashes {
    /// Looks at a string, `text` from its first character on, up to `quote`.
    pub(super) fn of(text: &str, is_end: impl Fn(char) -> bool) -> Self {
        let mut chars = text.char_indices();
        let mut invalid = false;
        let mut end = text.len();
        while let Some((place, c)) = chars.next() {
            if c == '\\' {
                let next = chars.next().map(|(_, c)| c);
                invalid |= next.is_some_and(|c| !"\"\\/bfnrtu'".contains(c));
            } else if is_end(c) {
                end = place;
                break;
            }
        }
        let string = &text[..end];
        match invalid {
            false => Self::Escapes,
            true if is_path(string) => Self::Path,
            true => Self::Pattern,
        }
    }
}

/// Whether a string with backslashes holds a path of Windows: a drive in it, a server at its
/// beginning, or nothing but characters of paths.
fn is_path(string: &str) -> bool {
    let drive = string
        .as_bytes()
        .windows(3)
        .any(|three| three[0].is_ascii_alphabetic() && three[1] == b':' && three[2] == b'\\');
    let of_path = |c: char| c.is_alphanumeric() || matches!(c, '\\' | '.' | '_' | '-' | ' ' | ':');
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_');
    drive
        || string.starts_with("\\\\")
        || (string.starts_with(begins) && string.chars().all(of_path) && !string.contains(' '))
}
