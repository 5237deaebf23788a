//! Texts of others in error messages.

/// Most bytes of such a text that go into an error message.
const QUOTED_BYTES_MAX: usize = 1000;

/// Cuts a text of somebody else to what an error message may hold, and escapes control characters.
pub fn quoted(text: &str) -> String {
    let end = text.floor_char_boundary(QUOTED_BYTES_MAX);
    let mut quoted = String::with_capacity(end);
    for char in text[..end].chars() {
        match char {
            '\n' => quoted.push('\n'),
            char if char.is_control() => quoted.extend(char.escape_default()),
            char => quoted.push(char),
        }
    }
    if end < text.len() {
        quoted.push('…');
    }
    quoted
}
